//! `aw agent install --allow`: the permissions of each host.

use serde_json::{Value, json};

use super::super::home::{Home, WITH_TOOLS, same};
use super::all_are;

/// Where a host keeps its rules in JSON, for the project and for the user, what leads to them, and one of them.
const PLACES: [(&str, &str, &str, [&str; 2], &str); 4] = [
    (
        "claude",
        ".claude/settings.json",
        "~/.claude/settings.json",
        ["permissions", "allow"],
        "Bash(aw debate wait *)",
    ),
    (
        "cursor",
        ".cursor/cli.json",
        "~/.cursor/cli-config.json",
        ["permissions", "allow"],
        "Shell(aw:debate wait*)",
    ),
    (
        "gemini",
        ".gemini/settings.json",
        "~/.gemini/settings.json",
        ["tools", "allowed"],
        "run_shell_command(aw debate wait)",
    ),
    (
        "opencode",
        "opencode.json",
        "~/.config/opencode/opencode.json",
        ["permission", "bash"],
        "aw debate wait*",
    ),
];

/// The rules of a host, in the order of its file.
fn rules(home: &Home, name: &str, [outer, inner]: [&str; 2]) -> Vec<String> {
    match &aw::kit::json::value(&home.read(name))[outer][inner] {
        Value::Array(list) => list.iter().map(|rule| rule.as_str().unwrap().to_owned()).collect(),
        Value::Object(map) => map.keys().cloned().collect(),
        other => panic!("{name}: {other}"),
    }
}

#[test]
fn permissions_are_installed_kept_and_removed_without_a_trace() {
    for scope in ["--project", "--user"] {
        for home in [Home::bare(), Home::lived_in()] {
            let before = home.tree();
            home.does(&format!("install all {scope}"));
            for (host, project, user, _, rule) in PLACES {
                let name = if scope == "--user" { user } else { project };
                assert!(!home.has(name) || !home.read(name).contains(rule), "{host}");
            }
            home.does(&format!("install all {scope} --allow"));
            for (host, project, user, place, rule) in PLACES {
                let name = if scope == "--user" { user } else { project };
                let all = rules(&home, name, place);
                assert!(all.contains(&rule.to_owned()), "{host}: {all:?}");
                let is_of_person = |rule: &String| {
                    ["delete", "purge", "server", "token", "install", "export", "result"]
                        .iter()
                        .any(|word| rule.contains(word))
                };
                assert!(!all.iter().any(is_of_person), "{host}: {all:?}");
            }
            let codex = if scope == "--user" { "~/.codex" } else { ".codex" };
            let text = home.read(&format!("{codex}/rules/aw.rules"));
            assert!(text.starts_with("prefix_rule(pattern=[\"aw\", \"debate\", ["), "{text}");
            let entry: Value = toml::from_str(&home.read(&format!("{codex}/config.toml"))).unwrap();
            let mode = &entry["mcp_servers"]["aw"]["default_tools_approval_mode"];
            assert_eq!(mode, "approve");
            // An installation without the flag keeps them.
            let with = home.tree();
            all_are(&home.does(&format!("install all {scope}")), "unchanged");
            same(&home.tree(), &with);
            all_are(&home.changes(&home.agent("list").data()), "current");
            home.does(&format!("uninstall {scope}"));
            same(&home.tree(), &before);
        }
    }
}

#[test]
fn a_dry_run_shows_the_permissions_and_writes_nothing() {
    for (host, project, _, _, rule) in PLACES {
        let home = Home::lived_in();
        let before = home.tree();
        let shown = home.agent(&format!("install {host} --allow --dry-run"));
        let diff = shown.data()["diff"].as_str().unwrap().to_owned();
        assert!(diff.contains(project) && diff.contains(rule), "{diff}");
        let next = shown.ok()["metadata"]["next_command"].as_str().unwrap().to_owned();
        assert!(next.ends_with("--tools --allow"), "{next}");
        same(&home.tree(), &before);
    }
}

#[test]
fn permissions_are_those_of_the_role_of_the_installation() {
    let home = Home::lived_in();
    let before = home.tree();
    for (flag, ruling, create) in [
        ("--allow", true, true),
        ("--role opponent", false, false),
        ("--role arbitrator", true, false),
    ] {
        home.does(&format!("install all {flag}"));
        for (host, project, _, place, _) in PLACES {
            let all = rules(&home, project, place).join(" ");
            assert_eq!(all.contains("aw debate ruling"), ruling && host != "cursor", "{all}");
            assert_eq!(all.contains("debate ruling"), ruling, "{host} {flag}: {all}");
            assert_eq!(all.contains("debate create"), create, "{host} {flag}: {all}");
        }
        let text = home.read(".codex/rules/aw.rules");
        assert_eq!((text.contains("ruling"), text.contains("create")), (ruling, create), "{text}");
        all_are(&home.changes(&home.agent("list").data()), "current");
    }
    home.does("uninstall");
    same(&home.tree(), &before);
}

#[test]
fn permissions_join_what_was_installed_before_and_after_them() {
    for flags in [["--wake", "--allow"], ["--allow", "--wake"]] {
        for home in [Home::bare(), Home::lived_in()] {
            let before = home.tree();
            for flag in flags {
                home.does(&format!("install claude {flag}"));
                home.does(&format!("install codex {flag}"));
            }
            all_are(&home.changes(&home.agent("list").data()), "current");
            assert!(home.read(".claude/settings.json").contains("aw wake claude"));
            home.does("uninstall claude");
            home.does("uninstall codex");
            same(&home.tree(), &before);
        }
    }
    // The tools come after the permissions, into the same file.
    for host in ["gemini", "opencode"] {
        let home = Home::lived_in();
        let before = home.tree();
        home.aw().quietly(&["agent", "install", host, "--allow"]).ok();
        home.does(&format!("install {host}"));
        all_are(&home.changes(&home.agent("list").data()), "current");
        home.does("uninstall");
        same(&home.tree(), &before);
    }
}

#[test]
fn permissions_without_tools_allow_no_tools() {
    let home = Home::bare();
    for host in ["claude", "gemini"] {
        home.aw().quietly(&["agent", "install", host, "--allow"]).ok();
    }
    let all = rules(&home, ".claude/settings.json", ["permissions", "allow"]);
    assert!(!all.contains(&"mcp__aw".to_owned()), "a checkout could name any program aw");
    assert!(!home.read(".gemini/settings.json").contains("mcpServers"));
    assert!(!home.has(".mcp.json"));
    home.does("install claude");
    let all = rules(&home, ".claude/settings.json", ["permissions", "allow"]);
    assert!(all.contains(&"mcp__aw".to_owned()), "{all:?}");
}

#[test]
fn permissions_that_another_user_installed_are_known_without_a_manifest() {
    let home = Home::bare();
    let before = home.tree();
    home.does("install all --allow --wake");
    home.remove("~/.aweave/agent-kit.json");
    all_are(&home.changes(&home.agent("list").data()), "current");
    home.does("uninstall");
    same(&home.tree(), &before);
}

#[test]
fn permissions_that_somebody_has_changed_stay_as_they_are() {
    for (host, project, _, place, rule) in PLACES {
        let home = Home::bare();
        home.does(&format!("install {host} --allow"));
        home.edit(project, rule, "something else");
        let edited = home.read(project);
        assert_eq!(home.does(&format!("install {host}"))[project], "edited", "{host}");
        assert_eq!(home.read(project), edited);
        home.does("uninstall");
        assert_eq!(rules(&home, project, place), ["something else"], "{host}");
    }
}

#[test]
fn rules_of_codex_that_somebody_else_wrote_are_in_the_way() {
    let home = Home::bare();
    home.write("~/.codex/rules/aw.rules", "prefix_rule(pattern=[\"aw\"], decision=\"allow\")\n");
    let refused = home.refuses("install codex --user --allow");
    assert!(refused.contains("aw.rules is in the way"), "{refused}");
}

#[test]
fn an_opencode_that_allows_everything_gets_no_rules() {
    for settings in ["{\"permission\": \"allow\"}\n", "{\"permission\": {\"bash\": \"allow\"}}\n"] {
        let home = Home::bare();
        home.write("opencode.json", settings);
        let before = home.tree();
        home.does("install opencode --allow");
        assert!(!home.read("opencode.json").contains("aw debate"));
        home.does("uninstall");
        same(&home.tree(), &before);
    }
    let home = Home::bare();
    home.write("opencode.json", "{\"permission\": {\"bash\": \"ask\"}}\n");
    let refused = home.refuses("install opencode --allow");
    assert!(refused.contains("permission.bash yourself"), "{refused}");
}

#[test]
fn a_host_without_settings_for_permissions_is_refused() {
    let home = Home::bare();
    let refused = home.refuses("install agents --allow");
    assert!(refused.contains("no settings in common"), "{refused}");
    // Of several hosts, those that can be are allowed.
    home.does("install all --allow");
    for host in WITH_TOOLS {
        let any = home.does(&format!("install {host}"));
        all_are(&any, "unchanged");
    }
    let allowed = aw::kit::json::value(&home.read(".claude/settings.json"));
    assert_ne!(allowed["permissions"]["allow"], json!(null));
}
