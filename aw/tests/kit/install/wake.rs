//! `aw agent install --wake`: the Stop hook of Claude Code, and the entry of Codex.

use serde_json::{Value, json};

use super::super::home::{Home, same};
use super::all_are;

/// Settings with a Stop hook of somebody.
const OTHERS: &str = "{\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{ \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] }\n\t\t]\n\t}\n}";

fn stop_hooks(home: &Home, name: &str) -> Vec<Value> {
    let settings: Value = serde_json::from_str(&home.read(name)).unwrap();
    settings["hooks"]["Stop"].as_array().unwrap().clone()
}

#[test]
fn waking_is_installed_kept_and_removed_without_a_trace() {
    for (scope, hooks, codex) in [
        ("--project", ".claude/settings.json", ".codex/config.toml"),
        ("--user", "~/.claude/settings.json", "~/.codex/config.toml"),
    ] {
        for home in [Home::bare(), Home::lived_in()] {
            if home.has(hooks) && scope == "--user" {
                home.write(hooks, OTHERS);
            }
            let before = home.tree();
            for host in ["claude", "codex"] {
                home.does(&format!("install {host} {scope} --wake"));
            }
            let hook = json!({"type": "command", "command": "aw wake claude", "asyncRewake": true, "timeout": 28800});
            assert_eq!(stop_hooks(&home, hooks).last(), Some(&json!({"hooks": [hook]})));
            assert!(home.read(codex).contains("\"mcp\", \"--wake\"]"), "{}", home.read(codex));
            // An installation without the flag keeps it; so does one that adds a role.
            let with = home.tree();
            all_are(&home.does(&format!("install claude {scope}")), "unchanged");
            all_are(&home.does(&format!("install codex {scope}")), "unchanged");
            same(&home.tree(), &with);
            all_are(&home.changes(&home.agent("list").data()), "current");
            home.does(&format!("install codex {scope} --role opponent"));
            assert!(home.read(codex).contains("\"--role\", \"opponent\", \"--wake\"]"));
            home.does(&format!("uninstall {scope}"));
            same(&home.tree(), &before);
        }
    }
}

#[test]
fn waking_that_another_user_installed_is_known_without_a_manifest() {
    let home = Home::bare();
    let before = home.tree();
    for host in ["claude", "codex"] {
        home.does(&format!("install {host} --wake"));
    }
    home.remove("~/.aweave/agent-kit.json");
    all_are(&home.changes(&home.agent("list").data()), "current");
    home.does("uninstall");
    same(&home.tree(), &before);
}

#[test]
fn a_hook_that_somebody_edited_stays() {
    let home = Home::bare();
    home.does("install claude --wake");
    home.edit(".claude/settings.json", "28800", "60");
    assert_eq!(home.does("install claude --wake")[".claude/settings.json"], "edited");
    assert_eq!(home.does("uninstall claude")[".claude/settings.json"], "edited");
    assert_eq!(stop_hooks(&home, ".claude/settings.json").len(), 1);
}

#[test]
fn a_host_that_cannot_be_woken_is_refused() {
    let home = Home::bare();
    let refused = home.refuses("install gemini --wake");
    assert!(refused.contains("Gemini CLI cannot be woken"), "{refused}");
    // Of several hosts, those that can be are woken.
    home.does("install all --wake");
    assert!(!home.read(".gemini/settings.json").contains("wake"));
    assert!(!home.read(".mcp.json").contains("wake"));
}
