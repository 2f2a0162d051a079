//! Files that several hosts read, and files with several names.

use std::collections::BTreeSet;
use std::fs;

use super::super::home::{HOSTS, Home, files_of, files_of_all, same};
use crate::world::Dice;

/// Asserts that these hosts have all that is theirs.
#[track_caller]
fn have_theirs(home: &Home, hosts: &[&str], user: bool) {
    for name in files_of_all(hosts, user) {
        let written = home.read(&name);
        let ours = ["aw agent show", "aw debate", "[mcp_servers.aw]", "\"aw\": {"];
        assert!(ours.iter().any(|word| written.contains(word)), "{name} for {hosts:?}: {written}");
    }
}

#[test]
fn a_file_stays_while_another_host_uses_it() {
    let mut dice = Dice::new();
    for user in [false, true, false, true, false, true] {
        let home = Home::lived_in();
        let before = home.tree();
        let scope = super::flag(user);
        let shuffled = |dice: &mut Dice| {
            let mut hosts = HOSTS.to_vec();
            for last in (1..hosts.len()).rev() {
                hosts.swap(last, usize::try_from(dice.below(last as u64 + 1)).unwrap());
            }
            hosts
        };
        for (nth, host) in shuffled(&mut dice).into_iter().enumerate() {
            home.does(&format!("install {host} {scope}"));
            assert!(nth > 0 || home.tree() != before);
        }
        have_theirs(&home, &HOSTS, user);
        let order = shuffled(&mut dice);
        for (nth, host) in order.iter().enumerate() {
            let files = home.does(&format!("uninstall {host} {scope}"));
            assert_eq!(files.keys().cloned().collect::<BTreeSet<_>>(), files_of(host, user));
            let left = &order[nth + 1..];
            have_theirs(&home, left, user);
            for (name, fate) in files {
                let used = files_of_all(left, user).contains(&name);
                assert_eq!(fate == "shared", used, "{name} is {fate}, with {left:?} left");
            }
        }
        same(&home.tree(), &before);
    }
}

#[test]
fn user_and_project_are_installed_independently() {
    let home = Home::lived_in();
    let before = home.tree();
    home.does("install all");
    home.does("install all --user");
    home.does("uninstall all");
    have_theirs(&home, &HOSTS, true);
    home.does("install codex");
    home.does("uninstall all --user");
    have_theirs(&home, &["codex"], false);
    home.does("uninstall codex");
    same(&home.tree(), &before);
}

#[test]
fn a_home_that_is_also_the_project_is_restored() {
    let home = Home::lived_in();
    let before = home.tree();
    for line in [
        "aw agent install all --user",
        "aw agent install all",
        "aw agent uninstall --user",
        "aw agent uninstall",
    ] {
        home.aw().sh(&format!("cd && {line}")).ok();
    }
    same(&home.tree(), &before);
}

#[test]
fn one_file_with_two_names_gets_one_block_and_keeps_it_while_either_is_used() {
    for (file, link) in [("AGENTS.md", "GEMINI.md"), ("GEMINI.md", "AGENTS.md")] {
        let home = Home::bare();
        home.write(file, "# Mine\n");
        home.link(file, link);
        home.link(file, "CLAUDE.md");
        let before = home.tree();
        home.does("install all");
        assert_eq!(home.read("AGENTS.md").matches("aw:begin").count(), 1);
        assert!(home.at(link).is_symlink());
        let (tree, stamps) = (home.tree(), home.stamps());
        home.does("install all");
        same(&home.tree(), &tree);
        assert_eq!(home.stamps(), stamps);
        super::all_are(&home.changes(&home.agent("list").data()), "current");
        for host in ["codex", "cursor", "opencode", "agents", "claude"] {
            home.does(&format!("uninstall {host}"));
            assert_eq!(home.read("GEMINI.md").matches("aw:begin").count(), 1, "{host}");
            super::all_are(&home.changes(&home.agent("list").data()), "current");
        }
        home.does("uninstall gemini");
        same(&home.tree(), &before);
        // And the other way round, one after the other.
        home.does("install gemini");
        home.does("install codex");
        assert_eq!(home.read("AGENTS.md").matches("aw:begin").count(), 1);
        home.does("uninstall gemini");
        assert_eq!(home.read("AGENTS.md").matches("aw:begin").count(), 1);
        home.does("uninstall codex");
        same(&home.tree(), &before);
    }
}

#[test]
fn one_folder_of_skills_with_two_names_is_written_once() {
    for existing in [true, false] {
        let home = Home::bare();
        if existing {
            home.write(".agents/skills/other/SKILL.md", "Be other.\n");
        } else {
            fs::create_dir_all(home.at(".agents/skills")).unwrap();
        }
        home.link("../.agents/skills", ".claude/skills");
        let before = home.tree();
        home.does("install all");
        have_theirs(&home, &HOSTS, false);
        super::all_are(&home.changes(&home.agent("list").data()), "current");
        home.does("uninstall claude");
        have_theirs(&home, &["codex", "cursor", "gemini", "opencode", "agents"], false);
        home.does("install claude");
        for host in ["codex", "cursor", "gemini", "opencode", "agents"] {
            home.does(&format!("uninstall {host}"));
            have_theirs(&home, &["claude"], false);
        }
        home.does("uninstall claude");
        same(&home.tree(), &before);
    }
}

#[test]
fn a_hard_linked_file_gets_one_block_under_each_name() {
    let home = Home::bare();
    home.write("AGENTS.md", "# Mine\n");
    fs::hard_link(home.at("AGENTS.md"), home.at("GEMINI.md")).unwrap();
    let before = home.tree();
    home.does("install all");
    assert_eq!(home.read("AGENTS.md").matches("aw:begin").count(), 1);
    assert_eq!(home.read("GEMINI.md"), home.read("AGENTS.md"));
    super::all_are(&home.does("install all"), "unchanged");
    home.does("uninstall");
    same(&home.tree(), &before);
}

#[test]
fn a_link_that_became_a_file_loses_its_block_too() {
    let home = Home::bare();
    home.write("AGENTS.md", "# Mine\n");
    home.link("AGENTS.md", "GEMINI.md");
    home.does("install all");
    // As an editor does that writes a new file over the old name.
    let copy = home.read("GEMINI.md");
    home.remove("GEMINI.md");
    home.write("GEMINI.md", &copy);
    home.does("uninstall");
    assert_eq!(home.read("AGENTS.md"), "# Mine\n");
    assert_eq!(home.read("GEMINI.md"), "# Mine\n");
}
