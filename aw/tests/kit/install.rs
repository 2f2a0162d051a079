//! `aw agent install`, `uninstall` and `list`: which files are written, and that uninstalling restores
//! them.

mod allow;
mod dry_run;
mod edited;
mod failures;
mod generated;
mod links_and_modes;
mod list;
mod mcp_entries;
mod shared_files;
mod unknown_kit;
mod wake;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::{Value, json};

use super::home::{HOSTS, Home, Thing, files_of, files_of_all, same};
use crate::world::text;

/// As it is typed.
fn flag(user: bool) -> &'static str {
    if user { "--user" } else { "--project" }
}

fn all_are(files: &BTreeMap<String, String>, fate: &str) {
    assert!(!files.is_empty());
    assert!(files.values().all(|known| known == fate), "all are to be {fate}: {files:?}");
}

#[test]
fn every_host_gets_the_files_that_it_reads() {
    for user in [false, true] {
        for host in HOSTS {
            let home = Home::bare();
            let before = home.tree();
            let files = home.does(&format!("install {host} {}", flag(user)));
            all_are(&files, "created");
            assert_eq!(files.into_keys().collect::<BTreeSet<_>>(), files_of(host, user), "{host}");
            let made: BTreeSet<String> = home
                .tree()
                .into_keys()
                .filter(|name| !before.contains_key(name) && home.root().join(name).is_file())
                .map(|name| home.name(home.root().join(name).to_str().unwrap()))
                .collect();
            assert_eq!(made, files_of(host, user), "nothing else is made for {host}");
        }
    }
}

#[test]
fn skills_commands_and_settings_are_in_the_hosts_own_form() {
    for lang in ["en", "vi"] {
        let home = Home::bare();
        home.does(&format!("install all --lang {lang}"));
        for name in files_of_all(&HOSTS, false) {
            let written = home.read(&name);
            if name.ends_with("SKILL.md") {
                let folder = name.rsplit('/').nth(1).unwrap();
                let (front, _) =
                    written.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
                let keys: Vec<&str> = front.lines().collect();
                assert_eq!(keys[0], format!("name: {folder}"), "{name}");
                let description = keys[1].strip_prefix("description: ").unwrap();
                assert!((1..=1_024).contains(&description.chars().count()), "{name}");
                // A plain scalar of YAML ends at these.
                assert!(!description.contains(": ") && !description.contains(" #"), "{name}");
                assert_eq!(keys.len(), 2, "nothing that only one host knows: {front}");
            } else if name.ends_with(".toml") && name.contains("commands") {
                let command: toml::Table = toml::from_str(&written).unwrap();
                let prompt = command["prompt"].as_str().unwrap();
                assert!(prompt.contains("{{args}}"), "{written}");
                // The user asks for it: Gemini CLI calls everything else data.
                assert!(prompt.contains("I ask you to run") && prompt.contains("next_command"));
                assert!(command["description"].is_str(), "{written}");
            } else if name.ends_with(".toml") {
                let settings: toml::Table = toml::from_str(&written).unwrap();
                let set = &settings["shell_environment_policy"]["set"];
                assert_eq!(set["DEBATE_WAIT_DEADLINE"].as_str(), Some("25"), "{written}");
                let entry = &settings["mcp_servers"]["aw"];
                assert_eq!(entry["command"].as_str(), Some("aw"), "{written}");
                assert_eq!(entry["args"][0].as_str(), Some("mcp"), "{written}");
                // A wait lasts 110 s.
                assert!(entry["tool_timeout_sec"].as_integer() > Some(110), "{written}");
                let passed = entry["env_vars"].as_array().unwrap();
                assert!(passed.iter().any(|name| name.as_str() == Some("AWEAVE_HOME")));
            } else if name == "opencode.json" {
                let settings: Value = serde_json::from_str(&written).unwrap();
                let entry = &settings["mcp"]["aw"];
                assert_eq!(entry["type"], "local", "{written}");
                assert_eq!(entry["command"], json!(["aw", "mcp"]), "{written}");
                assert_eq!(entry["enabled"], true, "{written}");
                assert!(entry["timeout"].as_u64() > Some(110_000), "{written}");
            } else if name.ends_with(".json") {
                let settings: Value = serde_json::from_str(&written).unwrap();
                let wanted = json!({"mcpServers": {"aw": {"command": "aw", "args": ["mcp"]}}});
                assert_eq!(settings, wanted, "{name}: {written}");
            } else {
                assert!(written.contains("aw agent show"), "{written}");
            }
        }
    }
}

#[test]
fn uninstalling_leaves_every_byte_mode_and_link_as_it_was() {
    for user in [false, true] {
        let home = Home::lived_in();
        let before = home.tree();
        for host in HOSTS.into_iter().chain(["all"]) {
            let files = home.does(&format!("install {host} {}", flag(user)));
            assert!(files.values().all(|fate| fate == "created" || fate == "updated"), "{files:?}");
            assert_ne!(home.tree(), before);
            let gone = home.does(&format!("uninstall {host} {}", flag(user)));
            assert_eq!(gone.keys().collect::<Vec<_>>(), files.keys().collect::<Vec<_>>());
            same(&home.tree(), &before);
        }
    }
}

#[test]
fn the_host_agents_says_which_programs_it_has_found() {
    let home = Home::bare();
    let hint = || text(&home.agent("install agents").ok()["metadata"]["hint"]);
    assert!(hint().ends_with("Continue, Droid; none of them is in PATH"), "{}", hint());
    for program in ["pi", "qwen"] {
        home.aw().program(program, "#!/bin/sh\n");
    }
    assert!(hint().ends_with("found here: pi, Qwen Code"), "{}", hint());
    // One of them in PATH is enough for it to be chosen.
    assert_eq!(home.agent("install --dry-run").data()["hosts"], serde_json::json!(["agents"]));
    home.does("uninstall agents");
    assert!(!home.has(".agents") && !home.has("AGENTS.md"));
}

#[test]
fn a_person_sees_what_is_written_and_is_asked_once() {
    let home = Home::lived_in();
    let before = home.tree();
    let declined = home.aw().typing(100, "aw agent install codex", "n\n").stdout;
    assert!(declined.contains("updated") && declined.contains("AGENTS.md"), "{declined}");
    assert!(declined.contains("Write these files? [Y/n]"), "{declined}");
    assert!(declined.contains("nothing was installed"), "{declined}");
    same(&home.tree(), &before);
    let agreed = home.aw().typing(100, "aw agent install codex", "\n").stdout;
    assert!(agreed.contains("The kit is installed for Codex"), "{agreed}");
    assert_ne!(home.tree(), before);
    // Nothing is left to write, or nobody wants to be asked.
    for line in ["aw agent install codex", "aw agent install cursor --yes"] {
        let unasked = home.aw().typing(100, line, "").stdout;
        assert!(!unasked.contains("[Y/n]"), "{unasked}");
    }
    home.does("uninstall");
    same(&home.tree(), &before);
}

#[test]
fn both_scopes_are_removed_from_an_empty_home_without_a_trace() {
    let home = Home::bare();
    let before = home.tree();
    all_are(&home.does("install all --user"), "created");
    let for_user = home.tree();
    all_are(&home.does("install all"), "created");
    all_are(&home.does("uninstall"), "removed");
    same(&home.tree(), &for_user);
    all_are(&home.does("uninstall all --user"), "removed");
    same(&home.tree(), &before);
    let nothing = home.agent("uninstall");
    assert!(text(&nothing.ok()["metadata"]["message"]).contains("Nothing"), "{nothing:?}");
}

#[test]
fn files_and_text_of_others_stay_while_the_kit_is_installed() {
    let home = Home::lived_in();
    let before = home.tree();
    home.does("install all");
    home.does("install all --user");
    let ours: BTreeSet<String> =
        files_of_all(&HOSTS, false).into_iter().chain(files_of_all(&HOSTS, true)).collect();
    let now = home.tree();
    for (name, thing) in &before {
        let called = home.name(home.root().join(name).to_str().unwrap());
        if ours.contains(&called) || called == "~/dotfiles/codex.toml" {
            // A link is one still, and nobody else may read what was closed to them.
            assert_eq!(
                std::mem::discriminant(&now[name]),
                std::mem::discriminant(thing),
                "{name} is what it was"
            );
        } else {
            assert_eq!(&now[name], thing, "{name}");
        }
    }
    for name in ours {
        if let Some(Thing::File { bytes, .. }) = before.get(&in_tree(&home, &name)) {
            let was = std::str::from_utf8(bytes).unwrap();
            let is = home.read(&name);
            assert!(is_supersequence(&is, was), "{name}: {was:?} became {is:?}");
        }
    }
    let codex = fs::metadata(home.at("~/.codex/config.toml")).unwrap();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&codex.permissions()) & 0o777, 0o600);
}

fn in_tree(home: &Home, name: &str) -> String {
    home.at(name).strip_prefix(home.root()).unwrap().to_str().unwrap().to_owned()
}

/// Whether everything of the shorter text stands in the longer one, in its order.
fn is_supersequence(longer: &str, shorter: &str) -> bool {
    let mut rest = longer.chars();
    shorter.chars().all(|wanted| rest.any(|found| found == wanted))
}

#[test]
fn installing_twice_changes_nothing_and_touches_nothing() {
    for user in [false, true] {
        let home = Home::lived_in();
        home.does(&format!("install all {}", flag(user)));
        let (tree, stamps) = (home.tree(), home.stamps());
        let again = home.agent(&format!("install all {}", flag(user)));
        all_are(&home.changes(&again.data()), "unchanged");
        assert!(text(&again.ok()["metadata"]["message"]).contains("nothing has changed"));
        same(&home.tree(), &tree);
        assert_eq!(home.stamps(), stamps, "not even the time of a file changes");
    }
}

#[test]
fn uninstalling_twice_changes_nothing_and_touches_nothing() {
    let home = Home::lived_in();
    home.does("install all");
    home.does("uninstall");
    let (tree, stamps) = (home.tree(), home.stamps());
    assert!(home.does("uninstall").is_empty());
    same(&home.tree(), &tree);
    assert_eq!(home.stamps(), stamps);
}

#[test]
fn without_a_name_the_hosts_on_this_machine_are_installed() {
    let home = Home::bare();
    let refused = home.refuses("install");
    assert!(refused.contains("none of the known agent programs"), "{refused}");
    fs::create_dir(home.at("~/.codex")).unwrap();
    home.program("gemini", "exit 0");
    let done = home.agent("install").data();
    assert_eq!(done["hosts"], serde_json::json!(["codex", "gemini"]));
    assert_eq!(
        home.changes(&done).into_keys().collect::<BTreeSet<_>>(),
        files_of_all(&["codex", "gemini"], false)
    );
}

#[test]
fn an_unknown_host_is_refused_with_the_known_ones() {
    let home = Home::lived_in();
    for command in ["install emacs", "uninstall emacs", "doctor emacs"] {
        let refused = home.refuses(command);
        assert!(refused.contains("emacs") && refused.contains("opencode"), "{refused}");
    }
    home.refuses("install codex --user --project");
    home.refuses("install codex --lang fr");
}

#[test]
fn environment_variables_move_the_folder_of_a_host() {
    let claude = [("~/.claude/", "~/elsewhere/"), ("~/.claude.json", "~/elsewhere/.claude.json")];
    for (variable, value, host, moved) in [
        ("CODEX_HOME", "~/elsewhere", "codex", &[("~/.codex/", "~/elsewhere/")][..]),
        ("CLAUDE_CONFIG_DIR", "~/elsewhere", "claude", &claude),
        ("XDG_CONFIG_HOME", "~/else", "opencode", &[("~/.config/", "~/else/")]),
        ("OPENCODE_CONFIG_DIR", "~/else", "opencode", &[("~/.config/opencode/", "~/else/")]),
        // It moves what all agents share too, which Codex's does not.
        ("GEMINI_CLI_HOME", "~/else", "gemini", &[("~/", "~/else/")]),
    ] {
        let home = Home::lived_in().set(variable, value);
        let before = home.tree();
        let files = home.does(&format!("install {host} --user"));
        let wanted: BTreeSet<String> = files_of(host, true)
            .into_iter()
            .map(|name| moved.iter().fold(name, |name, (old, new)| name.replacen(old, new, 1)))
            .collect();
        assert_eq!(files.into_keys().collect::<BTreeSet<_>>(), wanted, "{variable}");
        // Who uninstalls from another shell may not have it set.
        let home = home.set(variable, "");
        home.does("uninstall --user");
        same(&home.tree(), &before);
    }
}

#[test]
fn a_relative_folder_in_the_environment_is_made_absolute() {
    let home = Home::bare().set("CODEX_HOME", "mine");
    fs::create_dir(home.at("sub")).unwrap();
    let before = home.tree();
    home.does("install codex --user");
    assert!(home.has("mine/AGENTS.md"));
    home.aw().sh("cd sub && aw agent uninstall --user").ok();
    same(&home.tree(), &before);
}

#[test]
fn the_project_is_found_from_a_folder_inside_it() {
    let home = Home::lived_in();
    fs::create_dir_all(home.at("src/deep")).unwrap();
    let before = home.tree();
    let done = home.aw().sh("cd src/deep && aw agent install all --tools").data();
    assert_eq!(done["project"], home.aw().desk().to_str().unwrap());
    all_are(&home.does("install all"), "unchanged");
    let gone = home.aw().sh("cd src && aw agent uninstall").data();
    assert_eq!(home.changes(&gone).len(), home.changes(&done).len());
    same(&home.tree(), &before);
}

#[test]
fn a_folder_outside_any_project_is_its_own_project() {
    let home = Home::bare();
    fs::remove_dir(home.at(".git")).unwrap();
    fs::create_dir(home.at("alone")).unwrap();
    home.aw().sh("cd alone && aw agent install claude").ok();
    assert!(home.has("alone/.claude/skills/debate-proposer/SKILL.md"));
}

#[test]
fn only_hosts_that_need_the_tools_get_them_unless_they_are_asked_for() {
    let home = Home::lived_in();
    let plain = ["agent", "install", "all"];
    let changed = home.changes(&home.aw().quietly(&plain).data());
    assert!(changed.contains_key(".codex/config.toml") && changed.contains_key(".cursor/mcp.json"));
    for settings in [".mcp.json", ".gemini/settings.json"] {
        assert!(!changed.contains_key(settings), "{settings}: {changed:?}");
    }
    let changed = home.does("install all");
    assert!(changed.contains_key(".mcp.json"), "--tools: {changed:?}");
    // An installation without the flag keeps what is there.
    home.aw().quietly(&plain).ok();
    assert!(home.has(".mcp.json"));
}

#[test]
fn another_language_replaces_the_first_and_is_kept() {
    let home = Home::lived_in();
    let before = home.tree();
    home.does("install all");
    let changed = home.does("install all --lang vi");
    assert_eq!(changed["AGENTS.md"], "updated");
    assert_eq!(changed[".agents/skills/debate-opponent/SKILL.md"], "updated");
    assert_eq!(home.read("AGENTS.md").matches("aw:begin").count(), 1);
    assert!(home.read("AGENTS.md").contains("Tôi, user"), "{}", home.read("AGENTS.md"));
    let again = home.agent("install all").data();
    assert_eq!(again["lang"], "vi", "who installs again says no language");
    all_are(&home.changes(&again), "unchanged");
    home.does("uninstall");
    same(&home.tree(), &before);
}

#[test]
fn an_outdated_kit_is_updated_and_removed_without_a_trace() {
    let home = Home::lived_in();
    let before = home.tree();
    home.does("install all");
    home.aw().config("debate_language = 'German'");
    let files = home.does("install all");
    assert_eq!(files[".claude/skills/debate-proposer/SKILL.md"], "updated");
    assert_eq!(files["AGENTS.md"], "unchanged");
    all_are(&home.changes(&home.agent("list").data()), "current");
    home.does("uninstall");
    same(&home.tree(), &before);
}

#[test]
fn no_agents_md_is_created_beside_a_claude_md() {
    let home = Home::bare();
    home.write("CLAUDE.md", "Always write tests.\n");
    let before = home.tree();
    let files = home.does("install opencode");
    assert_eq!(files["AGENTS.md"], "omitted");
    assert!(!home.has("AGENTS.md"));
    all_are(&home.does("uninstall"), "removed");
    same(&home.tree(), &before);
}

#[test]
fn a_file_that_only_an_earlier_aw_wrote_is_removed_by_the_next_install() {
    let home = Home::bare();
    let before = home.tree();
    home.does("install gemini");
    // As it was before: a command of the name of a skill, for which Gemini CLI renamed both.
    let old = ".gemini/commands/debate-opponent.toml";
    home.write(old, "prompt = 'old'\n");
    let manifest = home.aw().home().join("agent-kit.json");
    let mut kept: Value = serde_json::from_slice(&fs::read(&manifest).unwrap()).unwrap();
    let files = kept["files"].as_array_mut().unwrap();
    let new = home.at(".gemini/commands/debate/opponent.toml");
    let mut entry = files.iter().find(|file| file["path"] == json!(new)).unwrap().clone();
    entry["path"] = json!(home.at(old));
    entry["texts"] = json!(["prompt = 'old'\n"]);
    files.push(entry);
    fs::write(&manifest, kept.to_string()).unwrap();
    let listed = home.does("list");
    assert_eq!(listed[old], "outdated", "{listed:?}");
    let done = home.does("install gemini");
    assert_eq!(done[old], "removed", "{done:?}");
    assert!(!home.has(old) && home.has(".gemini/commands/debate/opponent.toml"));
    assert!(home.does("list").values().all(|state| state == "current"));
    home.does("uninstall");
    same(&home.tree(), &before);
}
