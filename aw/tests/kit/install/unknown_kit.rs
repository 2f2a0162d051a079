//! Files that are not in the manifest: foreign files in the way, and a kit that somebody else
//! installed.

use std::fs;

use super::super::home::{HOSTS, Home, Thing, Tree, files_of_all, same};

/// The project as it comes to somebody who clones it: nothing is remembered.
fn forget(home: &Home) {
    fs::remove_dir_all(home.aw().home()).unwrap();
}

#[test]
fn a_foreign_file_in_the_way_is_named_and_nothing_is_written() {
    let home = Home::lived_in();
    for name in [
        ".claude/skills/debate-proposer/SKILL.md",
        ".agents/skills/debate-arbitrator/SKILL.md",
        ".gemini/commands/debate/opponent.toml",
    ] {
        home.write(name, "# Somebody's own\n");
        for command in ["install all", "install all --dry-run"] {
            let refused = home.refuses(command);
            assert!(refused.contains(name) && refused.contains("in the way"), "{refused}");
        }
        home.does("uninstall");
        assert_eq!(home.read(name), "# Somebody's own\n");
        home.remove(name);
    }
}

#[test]
fn a_kit_that_somebody_else_installed_is_added_to_the_manifest() {
    let home = Home::lived_in();
    let before = home.tree();
    for lang in ["en", "vi"] {
        home.does(&format!("install all --lang {lang}"));
        forget(&home);
        let (tree, stamps) = (home.tree(), home.stamps());
        let files = home.does(&format!("install all --lang {lang}"));
        super::all_are(&files, "unchanged");
        same(&home.tree(), &tree);
        assert_eq!(home.stamps(), stamps);
        home.does("uninstall");
        near(&home, &before);
    }
}

#[test]
fn a_kit_that_somebody_else_installed_can_be_uninstalled() {
    for lang in ["en", "vi"] {
        let home = Home::lived_in();
        let before = home.tree();
        home.does(&format!("install all --lang {lang}"));
        forget(&home);
        let gone = home.does("uninstall");
        assert_eq!(gone.into_keys().collect::<Vec<_>>(), {
            let files = files_of_all(&HOSTS, false);
            files.into_iter().collect::<Vec<_>>()
        });
        near(&home, &before);
    }
}

#[test]
fn such_a_kit_is_removed_from_an_empty_project_without_a_trace() {
    for again in [false, true] {
        let home = Home::bare();
        let before = home.tree();
        home.does("install all");
        forget(&home);
        if again {
            home.does("install all");
        }
        home.does("uninstall");
        same(&home.tree(), &before);
    }
}

#[test]
fn such_a_kit_is_removed_from_ordinary_files_without_a_trace() {
    let home = Home::bare();
    home.write("AGENTS.md", "# Mine\n");
    home.write("GEMINI.md", "# Mine\r\n");
    home.write(".codex/config.toml", "model = 'x'\n");
    let before = home.tree();
    home.does("install all");
    forget(&home);
    home.does("uninstall");
    same(&home.tree(), &before);
}

#[test]
fn one_host_of_such_a_kit_is_removed_and_the_others_keep_theirs() {
    let home = Home::lived_in();
    home.does("install all");
    forget(&home);
    home.does("uninstall codex");
    assert!(!home.read(".codex/config.toml").contains("DEBATE_WAIT_DEADLINE"));
    for name in files_of_all(&["claude", "cursor", "gemini", "opencode"], false) {
        assert!(home.has(&name), "{name} is used");
    }
    assert!(home.read("AGENTS.md").contains("aw:begin"));
    home.does("uninstall");
    for name in files_of_all(&HOSTS, false) {
        assert!(!home.has(&name) || !home.read(&name).contains("aw:begin"), "{name} is gone");
    }
}

#[test]
fn the_list_shows_a_kit_that_came_with_the_project() {
    let home = Home::lived_in();
    home.does("install all");
    let known = home.changes(&home.agent("list").data());
    forget(&home);
    assert_eq!(home.changes(&home.agent("list").data()), known);
}

#[test]
fn a_block_of_another_version_is_reported_and_left_alone() {
    let block = "<!-- aw:begin: from long ago -->\nOld words.\n<!-- aw:end -->\n";
    let home = Home::bare();
    home.write("AGENTS.md", format!("# Mine\n\n{block}"));
    let before = home.tree();
    assert_eq!(home.does("install codex")["AGENTS.md"], "edited");
    assert!(home.read("AGENTS.md").contains("Old words."));
    assert_eq!(home.does("uninstall")["AGENTS.md"], "edited");
    same(&home.tree(), &before);
}

#[test]
fn an_unreadable_manifest_stops_every_command_before_a_change() {
    let home = Home::lived_in();
    let before = home.tree();
    home.does("install all");
    let manifest = home.aw().home().join("agent-kit.json");
    let good = fs::read(&manifest).unwrap();
    for bad in [&b"{"[..], b"", b"\xff\xfe", b"[]", &good[..good.len() / 2]] {
        fs::write(&manifest, bad).unwrap();
        for command in ["install all", "uninstall", "list", "doctor"] {
            let refused = home.refuses(command);
            assert!(refused.contains("agent-kit.json") && refused.contains("move it"), "{refused}");
        }
        assert_eq!(fs::read(&manifest).unwrap(), bad, "it is left as it is");
    }
    // As the message says.
    fs::rename(&manifest, manifest.with_extension("bad")).unwrap();
    super::all_are(&home.does("install all"), "unchanged");
    home.does("uninstall");
    near(&home, &before);
}

/// As it was, but for white space where our lines stood, which nobody remembers.
#[track_caller]
fn near(home: &Home, before: &Tree) {
    let bare = |tree: &Tree| -> Tree {
        let mut tree = tree.clone();
        for thing in tree.values_mut() {
            if let Thing::File { bytes, .. } = thing {
                bytes.truncate(bytes.trim_ascii_end().len());
            }
        }
        tree
    };
    same(&bare(&home.tree()), &bare(before));
}
