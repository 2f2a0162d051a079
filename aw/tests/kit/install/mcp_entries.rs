//! The entry for `aw mcp` in the settings of every host.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::super::home::{Home, same};
use crate::world::text;

/// Where a host keeps its servers in JSON, for the project and for the user.
const PLACES: [(&str, &str, &str, &str); 4] = [
    ("claude", ".mcp.json", "~/.claude.json", "mcpServers"),
    ("cursor", ".cursor/mcp.json", "~/.cursor/mcp.json", "mcpServers"),
    ("gemini", ".gemini/settings.json", "~/.gemini/settings.json", "mcpServers"),
    ("opencode", "opencode.json", "~/.config/opencode/opencode.json", "mcp"),
];

fn read_json(home: &Home, name: &str) -> Value {
    serde_json::from_str(&home.read(name)).unwrap_or_else(|bad| panic!("{name}: {bad}"))
}

/// Writes a file as a program does that keeps its settings as it likes them.
fn write_anew(home: &Home, name: &str, change: impl FnOnce(&mut Value)) {
    let mut settings = read_json(home, name);
    change(&mut settings);
    home.write(name, serde_json::to_string_pretty(&settings).unwrap());
}

#[test]
fn settings_that_a_host_has_reformatted_keep_the_entry() {
    for (host, project, user, list) in PLACES {
        for (name, scope) in [(project, ""), (user, "--user")] {
            let home = Home::bare();
            home.write(name, "{\"theme\":\"dark\",\"n\":1}");
            home.does(&format!("install {host} {scope}"));
            write_anew(&home, name, |settings| {
                settings["n"] = json!(2);
                settings[list]["other"] = json!({"command": "npx"});
            });
            let anew = home.read(name);
            let files = home.does(&format!("install {host} {scope}"));
            super::all_are(&files, "unchanged");
            assert_eq!(home.read(name), anew);
            super::all_are(&home.changes(&home.agent("list").data()), "current");
            assert_eq!(home.does(&format!("uninstall {host} {scope}"))[name], "kept");
            let left = json!({"theme": "dark", "n": 2, list: {"other": {"command": "npx"}}});
            assert_eq!(read_json(&home, name), left, "{name}");
        }
    }
}

#[test]
fn a_file_of_ours_that_a_host_has_filled_stays() {
    let home = Home::bare();
    home.does("install claude --user");
    let mode = fs::metadata(home.at("~/.claude.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "who is signed in will stand there");
    write_anew(&home, "~/.claude.json", |settings| settings["numStartups"] = json!(1));
    home.does("uninstall --user");
    assert_eq!(read_json(&home, "~/.claude.json"), json!({"numStartups": 1}));
    let home = Home::bare();
    let before = home.tree();
    home.does("install opencode");
    // opencode adds this to settings that do not say it.
    assert_eq!(read_json(&home, "opencode.json")["$schema"], "https://opencode.ai/config.json");
    home.does("uninstall");
    same(&home.tree(), &before);
    // Where it has only put ours into another form, the file goes as it came.
    let home = Home::bare();
    let before = home.tree();
    home.does("install claude");
    write_anew(&home, ".mcp.json", |_| {});
    home.does("uninstall");
    same(&home.tree(), &before);
}

#[test]
fn a_foreign_entry_is_reported_and_left_alone() {
    let own = json!({"url": "https://example.org/mcp"});
    for (host, project, user, list) in PLACES {
        for (name, scope) in [(project, ""), (user, "--user")] {
            let home = Home::bare();
            home.write(name, json!({list: {"aw": own}}).to_string());
            let before = home.tree();
            let ran = home.agent(&format!("install {host} {scope}"));
            assert_eq!(home.changes(&ran.data())[name], "edited", "{name}");
            let files = ran.data()["files"].clone();
            let notes: Vec<&Value> =
                files.as_array().unwrap().iter().filter(|file| !file["note"].is_null()).collect();
            assert_eq!(notes.len(), 1, "{files}");
            assert!(text(&notes[0]["note"]).contains("in the way"), "{files}");
            assert_eq!(read_json(&home, name)[list]["aw"], own);
            let gone = home.does(&format!("uninstall {host} {scope}"));
            assert_eq!(gone[name], "edited", "{gone:?}");
            same(&home.tree(), &before);
        }
    }
    let home = Home::bare();
    home.write(".codex/config.toml", "[mcp_servers.aw]\nurl = 'https://example.org/mcp'\n");
    let before = home.tree();
    let ran = home.agent("install codex").data();
    assert_eq!(home.changes(&ran)[".codex/config.toml"], "updated", "the variable is ours");
    assert!(ran.to_string().contains("in the way"), "{ran}");
    assert!(!home.read(".codex/config.toml").contains("args"));
    home.does("uninstall");
    same(&home.tree(), &before);
}

#[test]
fn an_entry_that_somebody_changed_stays() {
    for (host, project, _, list) in PLACES {
        let home = Home::bare();
        home.does(&format!("install {host}"));
        home.edit(project, "\"mcp\"]", "\"mcp\", \"--role\", \"opponent\"]");
        let edited = home.read(project);
        assert_eq!(home.does(&format!("install {host}"))[project], "edited");
        assert_eq!(home.does("uninstall")[project], "edited");
        assert_eq!(home.read(project), edited);
        assert!(read_json(&home, project)[list]["aw"].to_string().contains("opponent"));
    }
    let home = Home::bare();
    home.does("install codex");
    home.edit(".codex/config.toml", "tool_timeout_sec = 300", "tool_timeout_sec = 900");
    assert_eq!(home.does("install codex")[".codex/config.toml"], "edited");
    home.does("uninstall");
    let left: toml::Table = toml::from_str(&home.read(".codex/config.toml")).unwrap();
    assert_eq!(left["mcp_servers"]["aw"]["tool_timeout_sec"].as_integer(), Some(900));
    assert!(!home.read(".codex/config.toml").contains("aw:"), "our comments go");
}

#[test]
fn fields_that_somebody_added_to_our_entry_go_with_it() {
    for (host, project, _, _) in PLACES {
        let home = Home::bare();
        let before = home.tree();
        home.does(&format!("install {host}"));
        home.edit(project, "\"mcp\"]", "\"mcp\"],\n      \"trust\": true");
        super::all_are(&home.does(&format!("install {host}")), "unchanged");
        super::all_are(&home.changes(&home.agent("list").data()), "current");
        home.does("uninstall");
        same(&home.tree(), &before);
    }
}

#[test]
fn permissions_of_codex_go_with_the_entry() {
    let home = Home::bare();
    home.write("~/.codex/config.toml", "model = 'x'\n");
    home.does("install codex --user");
    // As Codex does when its user allows a tool for good.
    let allowed = "\n[mcp_servers.aw.tools.debate_wait]\napproval_mode = \"approve\"\n";
    home.append("~/.codex/config.toml", allowed);
    home.append("~/.codex/config.toml", "\n[projects.\"/srv/x\"]\ntrust_level = \"trusted\"\n");
    super::all_are(&home.does("install codex --user"), "unchanged");
    home.does("uninstall --user");
    let left = home.read("~/.codex/config.toml");
    // Codex refuses an entry without a command.
    assert_eq!(left, "model = 'x'\n\n[projects.\"/srv/x\"]\ntrust_level = \"trusted\"\n");
}

#[test]
fn the_edits_of_an_earlier_aw_are_completed_and_removed_without_a_trace() {
    let home = Home::lived_in();
    let before = home.tree();
    home.does("install codex");
    // It knew nothing of servers, and remembered one text a file.
    let with = home.read(".codex/config.toml");
    let at = with.find("\n# aw:mcp begin").unwrap();
    home.write(".codex/config.toml", &with[..at]);
    let manifest = home.aw().home().join("agent-kit.json");
    let mut known: Value = serde_json::from_slice(&fs::read(&manifest).unwrap()).unwrap();
    for file in known["files"].as_array_mut().unwrap() {
        let texts = file.as_object_mut().unwrap().remove("texts").unwrap();
        file["text"] = texts[0].clone();
    }
    fs::write(&manifest, known.to_string()).unwrap();
    let listed = home.changes(&home.agent("list").data());
    assert_eq!(listed[".codex/config.toml"], "missing", "{listed:?}");
    assert_eq!(home.does("install codex")[".codex/config.toml"], "updated");
    assert_eq!(home.read(".codex/config.toml"), with);
    super::all_are(&home.changes(&home.agent("list").data()), "current");
    home.does("uninstall");
    same(&home.tree(), &before);
}

#[test]
fn opencode_settings_have_either_name() {
    let home = Home::bare();
    home.write("opencode.jsonc", "{\n  // mine\n  \"theme\": \"x\", // this\n}\n");
    let before = home.tree();
    let files = home.does("install opencode");
    assert_eq!(files["opencode.jsonc"], "updated", "{files:?}");
    assert!(!home.has("opencode.json"));
    home.does("uninstall");
    same(&home.tree(), &before);
    // What was put into one of them stays there when the other comes.
    home.remove("opencode.jsonc");
    home.does("install opencode");
    home.write("opencode.jsonc", "{}\n");
    super::all_are(&home.does("install opencode"), "unchanged");
    assert_eq!(home.read("opencode.jsonc"), "{}\n");
    home.does("uninstall");
    assert!(!home.has("opencode.json") && home.has("opencode.jsonc"));
}

#[test]
fn one_file_that_two_hosts_read_gets_one_entry() {
    let home = Home::bare();
    home.write(".mcp.json", "{\n  \"mcpServers\": {}\n}\n");
    home.link("../.mcp.json", ".cursor/mcp.json");
    let before = home.tree();
    home.does("install all");
    assert_eq!(home.read(".mcp.json").matches("\"aw\": {").count(), 1);
    home.does("uninstall claude");
    assert_eq!(home.read(".cursor/mcp.json").matches("\"aw\": {").count(), 1);
    home.does("uninstall");
    same(&home.tree(), &before);
}

#[test]
fn no_token_and_no_path_of_this_machine_is_written() {
    let home = Home::bare().set("DEBATE_AUTH_TOKEN", "secret-7f").set("AW_AUTH_TOKEN", "secret-7f");
    home.does("install all");
    home.does("install all --user");
    for (name, thing) in home.tree() {
        let shown = format!("{thing:?}");
        assert!(!shown.contains("secret-7f"), "{name}: {shown}");
        let root = home.root().display().to_string();
        let is_ours = name.ends_with("json") || name.ends_with("toml");
        assert!(!is_ours || !shown.contains(&root), "{name}: {shown}");
    }
}

#[test]
fn a_host_that_writes_its_settings_all_the_time_loses_nothing() {
    let home = Home::bare();
    let name = "~/.claude.json";
    home.write(name, "{\"n\": 0}");
    let path = home.at(name);
    let (done, stopped) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            // As Claude Code does: it reads, changes and replaces its file.
            while !done.load(Ordering::Relaxed) {
                let mut now: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
                now["n"] = json!(now["n"].as_u64().unwrap() + 1);
                let draft = path.with_extension("tmp");
                fs::write(&draft, serde_json::to_string_pretty(&now).unwrap()).unwrap();
                fs::rename(&draft, &path).unwrap();
                thread::sleep(Duration::from_millis(3));
            }
            stopped.store(true, Ordering::Relaxed);
        });
        for _ in 0..10 {
            for command in ["install claude --user", "uninstall claude --user"] {
                let ran = home.agent(command);
                // At worst it says that somebody is at it.
                assert!(ran.code == 0 || ran.stdout.contains("just changing it"), "{ran:?}");
                assert!(!stopped.load(Ordering::Relaxed), "what it reads is always whole");
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    // It may have read our entry before we took it out, and written it back after: then it is its own.
    let mut now = read_json(&home, name);
    now.as_object_mut().unwrap().remove("mcpServers");
    home.write(name, now.to_string());
    home.does("install claude --user");
    assert_eq!(read_json(&home, name)["mcpServers"]["aw"]["command"], "aw");
    home.does("uninstall --user");
    let left = read_json(&home, name);
    assert!(left["n"].as_u64() > Some(10) && left.get("mcpServers").is_none(), "{left}");
}

#[test]
fn a_host_is_limited_to_the_role_of_its_installation() {
    for home in [Home::bare(), Home::lived_in()] {
        let before = home.tree();
        // As it was first, again without a word about it, and as it is changed.
        for (flag, role) in
            [(" --role opponent", "opponent"), ("", "opponent"), (" --role proposer", "proposer")]
        {
            home.does(&format!("install all{flag}"));
            for (host, file, _, list) in PLACES {
                let entry = aw::kit::json::value(&home.read(file))[list]["aw"].clone();
                let words = if host == "opencode" { &entry["command"] } else { &entry["args"] };
                let words = words.as_array().unwrap();
                let held = [json!("mcp"), json!("--role"), json!(role)];
                assert!(words.ends_with(&held), "{host} {flag}: {words:?}");
            }
            let codex: Value = toml::from_str(&home.read(".codex/config.toml")).unwrap();
            assert_eq!(codex["mcp_servers"]["aw"]["args"], json!(["mcp", "--role", role]));
            let set = &codex["shell_environment_policy"]["set"];
            assert_eq!(
                (&set["AW_ROLE"], &set["DEBATE_WAIT_DEADLINE"]),
                (&json!(role), &json!("25"))
            );
            let listed = home.does("list");
            assert!(listed.values().all(|state| state == "current"), "{flag}: {listed:?}");
        }
        home.does("uninstall");
        same(&home.tree(), &before);
    }
}
