//! `aw agent doctor`: its checks of each host, and the fix for each fault.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::home::{Home, WITH_TOOLS, same};
use crate::cli::aw::Ran;
use crate::world::text;

/// Runs what it is given, as Codex does without a sandbox.
const OPEN: &str = "[ \"$1 $2\" = 'sandbox --' ] || exit 64\nshift 2\nexec \"$@\"";

/// The same where nothing can be reached.
const CLOSED: &str = "shift 2\nDEBATE_SERVER_URL=http://127.0.0.1:9 exec \"$@\"";

/// Every host is on this machine and trusts the project, and a login shell finds `aw` too.
fn equipped() -> Home {
    let home = untrusting();
    let project = home.aw().desk().display().to_string();
    home.write(".claude/settings.local.json", r#"{"enabledMcpjsonServers": ["aw"]}"#);
    let trusted = format!("\n[projects.{project:?}]\ntrust_level = \"trusted\"\n");
    home.append("~/dotfiles/codex.toml", &trusted);
    home.write("~/.gemini/trustedFolders.json", json!({project: "TRUST_FOLDER"}).to_string());
    home
}

/// The same where no host trusts the project.
fn untrusting() -> Home {
    let home = Home::lived_in();
    for program in ["claude", "cursor-agent", "gemini", "opencode"] {
        home.program(program, "exit 0");
    }
    home.program("codex", OPEN);
    home.write("~/.profile", format!("PATH={}/bin:/usr/bin:/bin\n", home.root().display()));
    home
}

/// The checks of a run, by name.
#[derive(Debug)]
struct Checks(BTreeMap<String, Value>);

impl Checks {
    #[track_caller]
    fn of(ran: &Ran) -> Self {
        let whole: Value = serde_json::from_str(&ran.stdout).unwrap();
        let data = &whole["content"][0]["data"];
        let checks = data["checks"].as_array().unwrap();
        let failed = checks.iter().any(|check| check["status"] == "failed");
        assert_eq!(data["healthy"], !failed, "{data}");
        assert_eq!(ran.code, if failed { 3 } else { 0 }, "{ran:?}");
        for check in checks {
            assert_eq!(check["status"] == "ok", check["fix"].is_null(), "{check}");
        }
        let by_name = checks.iter().map(|check| (text(&check["name"]), check.clone()));
        let found = Checks(by_name.collect());
        assert_eq!(found.0.len(), checks.len(), "each is listed once: {data}");
        found
    }

    #[track_caller]
    fn is(&self, name: &str, status: &str) -> &Self {
        assert_eq!(self.0[name]["status"], status, "{name}: {self:?}");
        self
    }

    #[track_caller]
    fn says(&self, name: &str, words: &[&str]) -> &Self {
        let message = text(&self.0[name]["message"]);
        for word in words {
            assert!(message.contains(word), "{word:?} is not in {message:?}");
        }
        self
    }

    #[track_caller]
    fn fix(&self, name: &str) -> String {
        text(&self.0[name]["fix"])
    }
}

#[track_caller]
fn found(home: &Home, words: &str) -> Checks {
    Checks::of(&home.agent(&format!("doctor {words}")))
}

#[test]
fn where_everything_is_as_it_should_be_it_says_so_and_changes_nothing() {
    let home = equipped();
    home.does("install all");
    let (tree, stamps) = (home.tree(), home.stamps());
    let all = found(&home, "");
    for host in WITH_TOOLS {
        all.is(&format!("{host} program"), "ok").is(&format!("{host} kit"), "ok");
        all.is(&format!("{host} tools"), "ok").says(&format!("{host} tools"), &["aw mcp", "14"]);
        // Cursor's sandbox cannot be tried from outside.
        let server = if host == "cursor" { "warning" } else { "ok" };
        all.is(&format!("{host} server"), server);
    }
    assert_eq!(all.0.len(), 4 * WITH_TOOLS.len(), "{all:?}");
    assert!(all.fix("cursor server").contains("aw agent install cursor --allow"), "{all:?}");
    same(&home.tree(), &tree);
    assert_eq!(home.stamps(), stamps);
    let one = home.agent("doctor opencode");
    assert_eq!(one.ok()["metadata"]["message"], "Everything is as it should be");
    let page = home.agent("doctor --format markdown").stdout;
    assert!(page.contains("ok      codex server"), "{page}");
    assert!(page.contains("warning cursor server"), "{page}");
}

#[test]
fn a_host_that_is_not_installed_is_checked_only_when_named() {
    let home = Home::bare();
    let none = home.agent("doctor");
    assert!(text(&none.ok()["metadata"]["message"]).contains("None"), "{none:?}");
    assert!(Checks::of(&none).0.is_empty());
    let named = found(&home, "claude");
    named.is("claude program", "warning").says("claude program", &["not on this machine"]);
    named.is("claude kit", "failed");
    // Somebody has used it, but starts it from somewhere else.
    home.write("~/.gemini/settings.json", "{}");
    let used = found(&home, "");
    used.is("gemini program", "warning").says("gemini program", &["settings here", "PATH"]);
    assert!(!used.0.contains_key("claude program"), "{used:?}");
}

#[test]
fn the_printed_line_fixes_the_problem_with_the_kit() {
    let home = equipped();
    type Harm = fn(&Home);
    let harms: [(Harm, &str, &[&str]); 5] = [
        (|_| {}, "failed", &["not installed"]),
        (
            |home| home.remove(".gemini/commands/debate/proposer.toml"),
            "failed",
            &["debate/proposer.toml", "missing"],
        ),
        (|home| home.write("GEMINI.md", "Mine.\n"), "failed", &["GEMINI.md", "missing"]),
        (|home| home.aw().config("debate_language = 'German'"), "failed", &["another version"]),
        (
            |home| home.append(".agents/skills/debate-opponent/SKILL.md", "Be kind.\n"),
            "warning",
            &["debate-opponent", "edited"],
        ),
    ];
    for (harm, status, words) in harms {
        harm(&home);
        let ill = found(&home, "gemini");
        ill.is("gemini kit", status).says("gemini kit", words);
        let fix = ill.fix("gemini kit");
        if status == "failed" {
            home.aw().sh(&fix).ok();
        } else {
            home.remove(".agents/skills/debate-opponent/SKILL.md");
            home.aw().sh(fix.split_once("run ").unwrap().1).ok();
        }
        found(&home, "gemini").is("gemini kit", "ok");
    }
}

#[test]
fn the_kit_of_the_current_folder_counts() {
    let home = equipped();
    fs::create_dir_all(home.at("other/.git")).unwrap();
    fs::create_dir_all(home.at("src")).unwrap();
    home.does("install claude");
    let elsewhere = Checks::of(&home.aw().sh("cd other && aw agent doctor claude"));
    elsewhere.is("claude kit", "failed").says("claude kit", &["not here"]);
    Checks::of(&home.aw().sh("cd src && aw agent doctor claude")).is("claude kit", "ok");
    home.does("uninstall");
    home.does("install claude --user");
    Checks::of(&home.aw().sh("cd other && aw agent doctor claude")).is("claude kit", "ok");
    home.remove("~/.claude/skills/debate-opponent/SKILL.md");
    let ill = found(&home, "claude");
    assert_eq!(ill.is("claude kit", "failed").fix("claude kit"), "aw agent install claude --user");
}

#[test]
fn a_kit_that_came_with_the_project_counts_too() {
    let home = equipped();
    home.does("install all");
    fs::remove_file(home.aw().home().join("agent-kit.json")).unwrap();
    let all = found(&home, "");
    for host in WITH_TOOLS {
        all.is(&format!("{host} kit"), "ok");
    }
}

#[test]
fn skills_that_are_found_twice_are_reported() {
    let home = equipped();
    home.does("install all");
    home.does("install codex --user");
    let twice = found(&home, "");
    twice.is("codex skills", "warning").says("codex skills", &["twice"]);
    assert!(!twice.0.contains_key("claude skills"), "{twice:?}");
    home.aw().sh(twice.fix("codex skills").split(',').next().unwrap()).ok();
    assert!(!found(&home, "codex").0.contains_key("codex skills"));
}

#[test]
fn codex_needs_aw_in_the_path_of_a_login_shell() {
    let home = equipped();
    home.write("~/.profile", "PATH=/nowhere\n");
    let all = found(&home, "");
    all.is("codex server", "failed").says("codex server", &["aw", "not found"]);
    assert!(all.fix("codex server").contains("login shell"), "{all:?}");
    all.is("claude server", "ok").is("opencode server", "ok");
}

#[test]
fn the_sandbox_of_codex_is_tried_and_the_printed_rules_help() {
    let home = equipped();
    home.program("codex", CLOSED);
    let closed = found(&home, "codex");
    closed.is("codex server", "failed").says("codex server", &["do not reach"]);
    let fix = closed.fix("codex server");
    let rules = home.at("~/.codex/rules/aw.rules");
    assert!(fix.contains(rules.to_str().unwrap()), "{fix}");
    home.write("~/.codex/rules/aw.rules", fix.split_once(":\n").unwrap().1);
    found(&home, "codex").is("codex server", "ok");
}

#[test]
fn an_installation_with_allow_lets_the_commands_of_codex_out() {
    for scope in ["", " --user"] {
        let home = equipped();
        home.program("codex", CLOSED);
        home.does(&format!("install codex{scope}"));
        let closed = found(&home, "codex");
        closed.is("codex kit", "ok").is("codex server", "failed");
        assert!(
            closed.fix("codex server").contains("aw agent install codex --allow"),
            "{closed:?}"
        );
        home.does(&format!("install codex{scope} --allow"));
        found(&home, "codex")
            .is("codex kit", "ok")
            .is("codex server", "ok")
            .is("codex tools", "ok");
    }
    // Codex does not read the rules of a project that it does not trust.
    let home = untrusting();
    home.program("codex", CLOSED);
    home.does("install codex --allow");
    found(&home, "codex").is("codex server", "failed");
}

#[test]
fn only_a_rule_that_allows_debate_commands_counts() {
    let home = equipped();
    home.program("codex", CLOSED);
    for (rules, status) in [
        ("prefix_rule(pattern=[\"aw\"], decision=\"allow\")\n", "ok"),
        ("prefix_rule(\n    pattern = [\"aw\"],\n    decision = \"allow\",\n)\n", "ok"),
        ("prefix_rule(pattern = ['aw', 'debate'])\n", "ok"),
        ("# prefix_rule(pattern=[\"aw\"], decision=\"allow\")\n", "failed"),
        ("prefix_rule(pattern=[\"aw\"], decision=\"forbidden\")\n", "failed"),
        (
            "prefix_rule(pattern=[\"aw\"], decision=\"prompt\")\n\
             prefix_rule(pattern=[\"ls\"], decision=\"allow\")\n",
            "failed",
        ),
        ("prefix_rule(pattern=[\"awk\"], decision=\"allow\")\n", "failed"),
        ("prefix_rule(pattern=[\"aw\", \"agent\", \"show\"], decision=\"allow\")\n", "failed"),
    ] {
        home.write("~/.codex/rules/mine.rules", rules);
        home.write("~/.codex/rules/old.txt", "prefix_rule(pattern=[\"aw\"], decision=\"allow\")");
        let found = found(&home, "codex");
        assert_eq!(found.0["codex server"]["status"], status, "{rules}");
    }
}

#[test]
fn a_codex_that_cannot_run_a_command_is_reported() {
    let home = equipped();
    home.program("codex", "echo 'thread main panicked: no user namespaces' >&2\nexit 101");
    let broken = found(&home, "codex");
    broken.is("codex server", "failed").says("codex server", &["no user namespaces"]);
    fs::remove_file(home.root().join("bin/codex")).unwrap();
    let gone = found(&home, "codex");
    gone.is("codex program", "warning").is("codex server", "warning");
    gone.says("codex server", &["not tried"]);
}

#[test]
fn a_codex_that_leaves_something_running_is_not_waited_for() {
    let home = equipped();
    home.program("codex", &format!("sleep 20 &\n{OPEN}"));
    let began = Instant::now();
    found(&home, "codex").is("codex server", "ok");
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
}

#[test]
fn the_sandbox_of_claude_is_found_in_every_settings_file() {
    let on = "{\"sandbox\": {\"enabled\": true}}";
    let home = equipped();
    fs::create_dir_all(home.at("src")).unwrap();
    for name in ["~/.claude/settings.json", ".claude/settings.json", ".claude/settings.local.json"]
    {
        let before = fs::read(home.at(name)).unwrap_or_else(|_| b"{}".to_vec());
        home.write(name, on);
        for ran in [home.agent("doctor claude"), home.aw().sh("cd src && aw agent doctor claude")] {
            let closed = Checks::of(&ran);
            closed.is("claude server", "failed").says("claude server", &["settings", "sandbox"]);
            assert!(closed.fix("claude server").contains("\"aw *\""), "{closed:?}");
        }
        home.write(name, before);
    }
    home.write("~/.claude/settings.json", on);
    for (project, status) in [
        ("{\"sandbox\": {\"excludedCommands\": [\"aw *\"]}}", "ok"),
        ("{\"sandbox\": {\"excludedCommands\": [\"ls\", \"aw:*\"]}}", "ok"),
        ("{\"sandbox\": {\"enabled\": false}}", "ok"),
        ("{\"sandbox\": {\"excludedCommands\": [\"aw\"]}}", "failed"),
        ("{\"sandbox\": {}}", "failed"),
    ] {
        home.write(".claude/settings.json", project);
        assert_eq!(found(&home, "claude").0["claude server"]["status"], status, "{project}");
    }
}

#[test]
fn the_sandbox_of_gemini_is_found_in_every_settings_file() {
    let home = equipped();
    for (user, project, status) in [
        ("{}", "{\"tools\": {\"sandbox\": \"docker\"}}", "warning"),
        ("{\"tools\": {\"sandbox\": true}}", "{}", "warning"),
        ("{\"tools\": {\"sandbox\": true}}", "{\"tools\": {\"sandbox\": false}}", "ok"),
        (
            "{\n // mine: \"x\"\n \"a\": \"//\\\"\", /* b */ \"tools\": {\"sandbox\": true}}",
            "{}",
            "warning",
        ),
        ("{\n // \"tools\": {\"sandbox\": true}\n}", "{}", "ok"),
        ("not JSON at all", "", "ok"),
    ] {
        home.write("~/.gemini/settings.json", user);
        home.write(".gemini/settings.json", project);
        assert_eq!(found(&home, "gemini").0["gemini server"]["status"], status, "{user} {project}");
    }
    let home = home.set("GEMINI_SANDBOX", "podman");
    found(&home, "gemini").is("gemini server", "warning");
}

#[test]
fn an_aw_outside_the_path_of_the_shell_is_reported() {
    let home = equipped().set("PATH", "/usr/bin:/bin");
    let lost = found(&home, "opencode");
    lost.is("opencode server", "failed").says("opencode server", &["aw", "not found"]);
    assert!(lost.fix("opencode server").contains("PATH"), "{lost:?}");
}

#[test]
fn an_unreachable_server_is_reported_for_every_host() {
    let home = equipped().set("AW_AUTOSTART", "0");
    home.does("install all");
    let all = found(&home, "");
    for host in WITH_TOOLS {
        all.is(&format!("{host} server"), "failed").is(&format!("{host} kit"), "ok");
        assert!(all.fix(&format!("{host} server")).starts_with("aw "), "{all:?}");
    }
}

#[test]
fn a_missing_entry_is_fixed_by_the_printed_command() {
    let home = equipped();
    // The other hosts do without the tools.
    for host in ["codex", "cursor"] {
        let name = format!("{host} tools");
        let missing = found(&home, host);
        missing.is(&name, "failed").says(&name, &["no entry aw"]);
        home.aw().sh(&missing.fix(&name)).ok();
        found(&home, host).is(&name, "ok");
    }
    // What is there for the user serves every project.
    home.does("uninstall");
    home.does("install all --user");
    let all = found(&home, "");
    for host in WITH_TOOLS {
        all.is(&format!("{host} tools"), "ok");
    }
}

#[test]
fn the_consent_that_a_host_needs_is_reported() {
    let home = untrusting();
    home.does("install all");
    let all = found(&home, "");
    for (host, words) in [
        ("claude", "asks before it uses the servers of a project"),
        ("codex", "before it trusts the project"),
        ("gemini", "no skills of the project, in a folder that it does not trust"),
    ] {
        let name = format!("{host} tools");
        all.is(&name, "warning").says(&name, &["`aw mcp` offers", words]);
        assert!(all.fix(&name).contains(&format!("Start {host}")), "{all:?}");
    }
    all.is("cursor tools", "ok").is("opencode tools", "ok");
    // As the line says.
    let fix = all.fix("claude tools");
    home.write(".claude/settings.local.json", fix.split_once(": ").unwrap().1);
    found(&home, "claude").is("claude tools", "ok");
    // Claude Code and Codex look at their user's own entries without asking.
    home.remove(".claude/settings.local.json");
    home.does("install claude --user");
    home.does("install codex --user");
    let both = found(&home, "");
    both.is("claude tools", "ok").is("codex tools", "ok").is("gemini tools", "warning");
}

#[test]
fn the_nearest_rule_of_gemini_decides_the_trust_in_a_folder() {
    let home = untrusting();
    home.does("install gemini");
    let project = home.aw().desk().display().to_string();
    let above = home.root().display().to_string();
    for (known, status) in [
        (json!({&project: "TRUST_PARENT"}), "ok"),
        (json!({&above: "TRUST_FOLDER"}), "ok"),
        (json!({&above: "TRUST_FOLDER", &project: "DO_NOT_TRUST"}), "warning"),
        (json!({"/elsewhere": "TRUST_FOLDER"}), "warning"),
    ] {
        home.write("~/.gemini/trustedFolders.json", known.to_string());
        assert_eq!(found(&home, "gemini").0["gemini tools"]["status"], status, "{known}");
    }
    home.write("~/.gemini/settings.json", r#"{"security": {"folderTrust": {"enabled": false}}}"#);
    found(&home, "gemini").is("gemini tools", "ok");
}

/// Writes this as the entry `aw` of every host, into the project's own files.
fn plant(home: &Home, program: &str, arguments: &[&str], more: &Value) {
    let mut entry = json!({"command": program, "args": arguments});
    entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let named = json!({"mcpServers": {"aw": entry}}).to_string();
    for file in [".mcp.json", ".cursor/mcp.json", ".gemini/settings.json"] {
        home.write(file, &named);
    }
    let words: Vec<&str> = [program].iter().chain(arguments).copied().collect();
    let mut theirs = json!({"type": "local", "command": words});
    theirs.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    home.write("opencode.json", json!({"mcp": {"aw": theirs}}).to_string());
    // JSON strings and lists of them mean the same in TOML.
    let mut toml =
        format!("[mcp_servers.aw]\ncommand = {}\nargs = {}\n", json!(program), json!(arguments));
    for (key, value) in more.as_object().unwrap() {
        match value.as_object() {
            Some(set) => {
                for (name, value) in set {
                    toml.push_str(&format!("{key}.{name} = {value}\n"));
                }
            }
            None => toml.push_str(&format!("{key} = {value}\n")),
        }
    }
    home.write(".codex/config.toml", toml);
}

#[test]
fn a_program_that_a_project_names_is_shown_and_not_started() {
    let home = equipped();
    let trap = format!("echo ran >>{}/ran", home.root().display());
    home.program("trap", &trap);
    let trap = home.root().join("bin/trap").display().to_string();
    let with = |home: &Home, program: &str, arguments: &[&str], more: Value, shown: &str| {
        plant(home, program, arguments, &more);
        let all = found(home, "");
        for host in WITH_TOOLS {
            let name = format!("{host} tools");
            all.is(&name, "warning").says(&name, &["not started", shown]);
        }
        assert!(!home.root().join("ran").exists(), "{program} {arguments:?} {more} was started");
    };
    with(&home, "sh", &["-c", &trap], json!({}), "sh");
    with(&home, &trap, &["mcp"], json!({}), &trap);
    with(&home, "trap", &[], json!({}), "trap");
    with(&home, "aw", &["server", "stop"], json!({}), "stop");
    with(&home, "aw", &["mcp", "--role", "king"], json!({}), "king");
    with(&home, "aw", &["mcp"], json!({"cwd": "/"}), "cwd");
    with(&home, "aw", &["mcp"], json!({"url": "https://example.org"}), "example.org");
    for variable in ["PATH", "LD_PRELOAD", "AWEAVE_HOME", "DEBATE_SERVER_URL"] {
        with(&home, "aw", &["mcp"], json!({"env": {variable: "secret"}}), variable);
        with(&home, "aw", &["mcp"], json!({"environment": {variable: "secret"}}), variable);
    }
    let shown = home.agent("doctor").stdout;
    assert!(!shown.contains("secret"), "a variable may hold a token: {shown}");
}

#[test]
fn an_entry_for_one_role_is_started() {
    let home = equipped();
    for (arguments, more) in [
        (&["mcp", "--role", "opponent"][..], json!({})),
        (&["mcp"], json!({"env": {"AW_ROLE": "opponent", "AW_AUTHOR": "Ann"}, "timeout": 7})),
    ] {
        plant(&home, "aw", arguments, &more);
        let all = found(&home, "");
        for host in WITH_TOOLS {
            all.is(&format!("{host} tools"), "ok");
        }
    }
    plant(&home, env!("CARGO_BIN_EXE_aw"), &["mcp"], &json!({}));
    found(&home, "claude").is("claude tools", "ok");
    home.write(".mcp.json", r#"{"mcpServers": {"aw": {"url": "https://example.org/mcp"}}}"#);
    found(&home, "claude").is("claude tools", "warning").says("claude tools", &["not tried"]);
    let off = json!({"mcp": {"aw": {"type": "local", "command": ["aw", "mcp"], "enabled": false}}});
    home.write("opencode.json", off.to_string());
    found(&home, "opencode").is("opencode tools", "warning").says("opencode tools", &["disables"]);
}

#[test]
fn another_program_named_aw_is_not_started() {
    let trap = "#!/bin/sh\necho ran >>\"$HOME/ran\"\n";
    // By a folder of the PATH that leads into the checkout, or by one before ours.
    for (path, from) in [(".", "aw"), ("", "aw"), ("tools", "tools/aw"), ("~/traps", "~/traps/aw")]
    {
        let home = equipped();
        home.does("install all");
        // A folder of the user's own may have a shell of the user's own.
        let more: &[&str] = if path.starts_with('~') { &[] } else { &["sh", "bash", "codex"] };
        for program in more.iter().chain(&["aw"]) {
            let file = from.replace("aw", program);
            home.write(&file, trap);
            home.mode(&file, 0o755);
        }
        let path = path.replace('~', home.root().join("home").to_str().unwrap());
        let bin = home.root().join("bin").display().to_string();
        let home = home.set("PATH", &format!("{path}:{bin}:/usr/bin:/bin"));
        let all = found(&home, "");
        for host in WITH_TOOLS {
            let name = format!("{host} tools");
            all.is(&name, "warning").says(&name, &["not started", "not this aw"]);
        }
        assert!(!home.has("~/ran"), "{path:?}: {all:?}");
    }
}

#[test]
fn settings_that_are_pipes_do_not_hang_the_doctor() {
    let home = equipped();
    for file in [".mcp.json", ".claude/settings.json", ".gemini/settings.json", "opencode.json"] {
        let _ = fs::remove_file(home.at(file));
        let made = std::process::Command::new("mkfifo").arg(home.at(file)).status();
        assert!(made.unwrap().success());
    }
    home.remove(".codex/config.toml");
    home.link("/dev/zero", ".codex/config.toml");
    let all = found(&home, "");
    all.is("codex tools", "failed");
}

#[test]
fn tools_outside_the_path_are_reported() {
    let home = equipped();
    home.does("install all");
    let home = home.set("PATH", "/usr/bin:/bin");
    let lost = found(&home, "opencode");
    lost.is("opencode tools", "failed").says("opencode tools", &["aw mcp", "does not answer"]);
    assert!(lost.fix("opencode tools").contains("PATH that opencode"), "{lost:?}");
}

#[test]
fn waking_is_checked_where_it_is_set_up() {
    let home = equipped();
    home.does("install claude");
    home.does("install codex");
    let checks = Checks::of(&home.agent("doctor claude"));
    assert!(!checks.0.contains_key("claude wake"), "{checks:?}");
    home.does("install claude --wake");
    home.does("install codex --wake");
    // The stand-in knows no `codex queue`; the entry with --wake is started as one of ours.
    let checks = Checks::of(&home.agent("doctor codex"));
    assert_eq!(checks.0["codex wake"]["status"], "warning", "{checks:?}");
    assert_eq!(checks.0["codex tools"]["status"], "ok", "{checks:?}");
    home.program("codex", &format!("[ \"$1 $2\" = 'queue --help' ] && exit 0\n{OPEN}"));
    let checks = Checks::of(&home.agent("doctor codex"));
    assert_eq!(checks.0["codex wake"]["status"], "ok", "{checks:?}");
    let checks = Checks::of(&home.agent("doctor claude"));
    assert_eq!(checks.0["claude wake"]["status"], "ok", "{checks:?}");
    home.edit(".claude/settings.local.json", "{", "{\"disableAllHooks\": true, ");
    let checks = Checks::of(&home.agent("doctor claude"));
    assert_eq!(checks.0["claude wake"]["status"], "warning", "{checks:?}");
}
