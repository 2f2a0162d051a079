//! Failures and kills: each file stays whole, and everything can still be undone.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::thread;
use std::time::{Duration, Instant};

use super::super::home::{HOSTS, Home, Thing, Tree, files_of_all, same};
use crate::world::Dice;

#[test]
fn nothing_is_written_through_a_link_out_of_the_project() {
    // A file and a folder of each host, led to a file or a folder that is not the project's.
    let files = ["AGENTS.md", "GEMINI.md", ".mcp.json", ".cursor/mcp.json", "opencode.json"];
    let folders = [".claude", ".agents", ".agents/skills", ".codex", ".gemini/commands"];
    for name in files.into_iter().chain(folders) {
        let home = Home::bare();
        let is_file = files.contains(&name);
        let to = if is_file { "~/.bashrc" } else { "~/own" };
        if is_file {
            home.write(to, "{}\n");
        } else {
            fs::create_dir_all(home.at(to)).unwrap();
        }
        home.link(home.at(to).to_str().unwrap(), name);
        let said = home.refuses("install all");
        for part in [name, to.trim_start_matches("~/"), "not in the project"] {
            assert!(said.contains(part), "{name}: {said}");
        }
        home.refuses("install all --dry-run");
        // What was put in place before the link came is not taken away through it either.
        home.remove(name);
        home.does("install all");
        let moved = home.at("~/moved");
        fs::rename(home.at(name), &moved).unwrap();
        home.link(moved.to_str().unwrap(), name);
        let said = home.refuses("uninstall all");
        assert!(said.contains(name) && said.contains("moved"), "{name}: {said}");
        home.remove(name);
        fs::rename(moved, home.at(name)).unwrap();
        home.does("uninstall all");
    }
    // What Git keeps in the project's folder would be run or obeyed.
    let home = Home::bare();
    home.write(".git/config", "[core]\n");
    home.link(".git/config", "AGENTS.md");
    assert!(home.refuses("install codex").contains(".git/config"));
}

#[test]
fn a_file_that_cannot_be_changed_is_named_and_nothing_changes() {
    type Spoil = fn(&Home, &str);
    let read_only: Spoil = |home, name| home.mode(name, 0o444);
    let dead: Spoil = |home, name| {
        home.remove(name);
        home.link("nowhere/at/all", name);
    };
    let not_text: Spoil = |home, name| home.write(name, b"caf\xe9\n");
    let folder: Spoil = |home, name| {
        home.remove(name);
        fs::create_dir(home.at(name)).unwrap();
    };
    let pipe: Spoil = |home, name| {
        home.remove(name);
        let made = home.aw().sh(&format!("mkfifo {name}"));
        assert_eq!(made.code, 0, "{made:?}");
    };
    let circle: Spoil = |home, name| {
        home.remove(name);
        home.link(name, name);
    };
    let broken: Spoil = |home, name| home.write(name, "model = \n");
    let begun: Spoil = |home, name| home.write(name, "x\n<!-- aw:begin: once -->\n");
    let ended: Spoil = |home, name| home.write(name, "x\n<!-- aw:end -->\n");
    let odd: Spoil = |home, name| home.write(name, "shell_environment_policy = 3\n");
    let no_table: Spoil = |home, name| home.write(name, "mcp_servers = 3\n");
    let unclosed: Spoil = |home, name| home.write(name, "{\n\"a\": 1");
    let no_list: Spoil = |home, name| home.write(name, "{\"mcpServers\": [], \"mcp\": 1}");
    let no_object: Spoil = |home, name| home.write(name, "[]\n");
    for (name, spoil, word) in [
        ("AGENTS.md", read_only, "read-only"),
        (".codex/config.toml", read_only, "read-only"),
        ("GEMINI.md", dead, "link"),
        (".codex/config.toml", dead, "link"),
        ("GEMINI.md", not_text, "UTF-8"),
        (".codex/config.toml", not_text, "UTF-8"),
        ("AGENTS.md", folder, "regular file"),
        ("AGENTS.md", pipe, "regular file"),
        (".codex/config.toml", pipe, "regular file"),
        ("GEMINI.md", circle, "link"),
        (".codex/config.toml", broken, "not valid TOML"),
        ("GEMINI.md", begun, "aw:begin"),
        ("GEMINI.md", ended, "aw:end"),
        (".codex/config.toml", odd, "shell_environment_policy"),
        (".codex/config.toml", no_table, "mcp_servers"),
        (".mcp.json", read_only, "read-only"),
        (".mcp.json", not_text, "UTF-8"),
        (".mcp.json", pipe, "regular file"),
        (".gemini/settings.json", unclosed, "at line 2 column"),
        ("opencode.json", unclosed, "not valid JSON"),
        (".mcp.json", no_list, "mcpServers yourself"),
        ("opencode.json", no_list, "to mcp yourself"),
        (".gemini/settings.json", no_object, "mcpServers yourself"),
    ] {
        let home = Home::lived_in();
        spoil(&home, name);
        for command in ["install all --dry-run", "install all"] {
            let refused = home.refuses(command);
            assert!(refused.contains(home.at(name).to_str().unwrap()), "{name}: {refused}");
            assert!(refused.contains(word), "{name}: {refused}");
        }
        assert!(home.does("uninstall").is_empty(), "nothing was remembered");
    }
}

#[test]
fn a_folder_whose_name_is_not_utf_8_is_refused() {
    let home = Home::bare();
    let folder = home.aw().desk().join(OsStr::from_bytes(b"caf\xe9"));
    // Not every file system has such names.
    if fs::create_dir(&folder).is_err() {
        return;
    }
    fs::create_dir(folder.join(".git")).unwrap();
    let there = "cd \"$(printf 'caf\\351')\" && aw agent";
    let refused = home.aw().sh(&format!("{there} install claude"));
    refused.refused(4, "INVALID_INPUT");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing was made");
    for other in ["install claude --dry-run", "uninstall", "list"] {
        home.aw().sh(&format!("{there} {other}")).ok();
    }
    let doctor = home.aw().sh(&format!("{there} doctor claude"));
    assert_eq!(doctor.code, 3, "it says that the kit is not there: {doctor:?}");
}

#[test]
fn a_file_in_the_place_of_a_folder_is_refused() {
    for name in [".agents", ".claude/skills", ".gemini/commands/", ".codex"] {
        let home = Home::bare();
        home.write(name.trim_end_matches('/'), "not a folder\n");
        let refused = home.refuses("install all");
        assert!(refused.contains(name), "{refused}");
        home.does("install all --user");
    }
}

#[test]
fn a_failure_halfway_leaves_everything_as_it_was() {
    // It is met only when the folder has to be made, after most has been prepared.
    let home = Home::lived_in();
    fs::remove_dir_all(home.at(".gemini")).unwrap();
    home.link("nowhere", ".gemini");
    let refused = home.refuses("install all");
    assert!(refused.contains(".gemini"), "{refused}");
    assert!(home.does("uninstall").is_empty(), "nothing was remembered");
    let home = Home::bare();
    home.link("nowhere", ".gemini");
    home.refuses("install all");
}

/// Runs this where no file may become larger than so many blocks of 512 bytes.
fn on_a_small_disk(home: &Home, blocks: u32, line: &str) -> crate::cli::aw::Ran {
    home.aw().sh(&format!("ulimit -c 0; ulimit -f {blocks}; {line}"))
}

#[test]
fn a_full_disk_leaves_everything_as_it_was() {
    let home = Home::lived_in();
    // Almost the last thing that is written, and larger than all that aw writes for itself.
    home.write("~/.config/opencode/AGENTS.md", "Mine. ".repeat(200_000));
    for blocks in [0, 1, 8, 20, 24, 28, 40, 100, 200, 400, 1_000] {
        let before = home.state();
        let line = "trap '' XFSZ; aw agent install all --user";
        home.refused(&before, &on_a_small_disk(&home, blocks, line));
        assert!(home.does("uninstall --user").is_empty(), "nothing is remembered");
    }
    home.does("install all --user");
    for blocks in [0, 1, 8, 100, 1_000] {
        let before = home.state();
        for line in ["install all --lang vi --user", "uninstall --user"] {
            let line = format!("trap '' XFSZ; aw agent {line}");
            home.refused(&before, &on_a_small_disk(&home, blocks, &line));
        }
    }
    super::all_are(&home.changes(&home.agent("list").data()), "current");
}

/// The trees before, with the English and with the Vietnamese kit, and then without it again.
fn stages(home: &Home) -> [Tree; 3] {
    let before = home.tree();
    home.does("install all --lang en");
    let english = home.tree();
    home.does("install all --lang vi");
    let vietnamese = home.tree();
    home.does("uninstall");
    same(&home.tree(), &before);
    [before, english, vietnamese]
}

/// Asserts that every file is as it was at some stage, and that nothing of anybody's is gone.
#[track_caller]
fn whole(home: &Home, stages: &[Tree; 3]) {
    let now = home.tree();
    for (name, thing) in &now {
        let known = stages.iter().any(|stage| stage.get(name) == Some(thing));
        let ours = stages.iter().all(|stage| !stage.contains_key(name));
        let draft = ours && name.contains(".aw-");
        assert!(known || draft, "{name} is {thing:?}");
    }
    for name in stages[0].keys() {
        assert!(now.contains_key(name), "{name} is gone");
    }
}

/// Asserts that a new installation mends everything and can be undone.
#[track_caller]
fn mends(home: &Home, stages: &[Tree; 3], dice: &mut Dice) {
    if dice.below(2) == 0 {
        let files = home.does("install all --lang en");
        assert!(!files.values().any(|fate| fate == "edited"), "nobody has edited: {files:?}");
        same(&home.tree(), &stages[1]);
        super::all_are(&home.changes(&home.agent("list").data()), "current");
    }
    home.does("uninstall");
    same(&home.tree(), &stages[0]);
}

#[test]
fn a_kill_during_a_write_leaves_each_file_whole() {
    let mut dice = Dice::new();
    for bare in [true, false] {
        let home = if bare { Home::bare() } else { Home::lived_in() };
        let stages = stages(&home);
        for blocks in [0, 8, 20, 24, 28, 32, 60, 100, 150, 200] {
            for line in ["install all", "install all --lang vi", "uninstall"] {
                on_a_small_disk(&home, blocks, &format!("(aw agent {line}); true"));
                whole(&home, &stages);
            }
            mends(&home, &stages, &mut dice);
        }
    }
}

#[test]
fn a_kill_at_any_moment_leaves_each_file_whole() {
    let kills = std::env::var("AW_KILLS").map_or(50, |kills| kills.parse().unwrap());
    let mut dice = Dice::new();
    let home = Home::lived_in();
    let stages = stages(&home);
    let began = Instant::now();
    home.does("install all");
    let usual = u64::try_from(began.elapsed().as_micros()).unwrap();
    for _ in 0..kills {
        let words: &[&str] = match dice.below(3) {
            0 => &["agent", "install", "all", "--lang", "en"],
            1 => &["agent", "install", "all", "--lang", "vi"],
            _ => &["agent", "uninstall"],
        };
        let mut running = home.aw().spawn(&[], words);
        thread::sleep(Duration::from_micros(dice.below(usual)));
        running.kill().unwrap();
        running.wait().unwrap();
        whole(&home, &stages);
        if dice.below(3) == 0 {
            mends(&home, &stages, &mut dice);
        }
    }
    mends(&home, &stages, &mut dice);
}

#[test]
fn concurrent_installations_take_turns() {
    let home = Home::lived_in();
    let stages = stages(&home);
    let mut running = Vec::new();
    for turn in 0..12 {
        let host = HOSTS[turn % HOSTS.len()];
        let words: &[&str] = match turn % 4 {
            0 => &["agent", "install", "all", "--lang", "en"],
            1 => &["agent", "install", "all", "--lang", "vi"],
            2 => &["agent", "uninstall", host],
            _ => &["agent", "install", host],
        };
        running.push(home.aw().spawn(&[], words));
    }
    for child in running {
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
    }
    home.does("install all --lang en");
    same(&home.tree(), &stages[1]);
    home.does("uninstall");
    same(&home.tree(), &stages[0]);
}

#[test]
fn a_read_only_file_stops_the_removal() {
    let home = Home::lived_in();
    let before = home.tree();
    home.does("install all");
    for name in ["AGENTS.md", ".claude/skills/debate-proposer/SKILL.md"] {
        let Thing::File { mode, .. } = home.tree()[&super::in_tree(&home, name)].clone() else {
            panic!("{name} is a file")
        };
        home.mode(name, 0o444);
        let refused = home.refuses("uninstall");
        assert!(refused.contains(name) && refused.contains("read-only"), "{refused}");
        // What has to change in it is nothing, so it is in nobody's way.
        super::all_are(&home.does("install all"), "unchanged");
        home.mode(name, mode);
    }
    home.does("uninstall");
    same(&home.tree(), &before);
}

#[test]
fn a_file_in_the_place_of_our_folder_does_not_stop_the_removal() {
    let home = Home::bare();
    home.does("install all");
    fs::remove_dir_all(home.at(".agents")).unwrap();
    home.write(".agents", "a file now\n");
    home.does("uninstall");
    assert_eq!(home.read(".agents"), "a file now\n");
    for name in files_of_all(&["claude"], false) {
        assert!(!home.has(&name), "{name}");
    }
}
