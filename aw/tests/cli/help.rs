//! Help, version, completions, manual: what the program says about itself.

use std::process::Command;

use super::aw::Aw;

/// Every command that there is.
const COMMANDS: &[&str] = &[
    "debate generate-id",
    "debate create",
    "debate get-context",
    "debate submit",
    "debate wait",
    "debate appeal",
    "debate request-completion",
    "debate ruling",
    "debate intervention",
    "debate list",
    "debate points",
    "debate types",
    "debate open",
    "debate invite",
    "debate result",
    "debate export",
    "debate verify",
    "debate delete",
    "docs create",
    "docs submit",
    "docs get",
    "docs list",
    "docs history",
    "docs diff",
    "docs export",
    "docs delete",
    "docs restore",
    "agent show",
    "agent install",
    "agent uninstall",
    "agent list",
    "agent doctor",
    "server start",
    "server stop",
    "server restart",
    "server status",
    "server logs",
    "server backup",
    "server restore",
    "server migrate",
    "token create",
    "token list",
    "token revoke",
    "serve",
    "mcp",
    "doctor",
    "demo",
    "completions",
    "man",
];

#[test]
fn the_pages_of_help_that_come_first() {
    let aw = Aw::new();
    for family in [&[][..], &["debate"], &["docs"], &["agent"], &["server"], &["token"]] {
        let mut typed = family.to_vec();
        typed.push("--help");
        let long = aw.run(&typed);
        assert_eq!((long.code, long.stderr.as_str()), (0, ""));
        typed.pop();
        typed.push("-h");
        assert_eq!(aw.quietly(&typed).stdout, long.stdout, "-h is the same page");
    }
    aw.run(&["--version"]);
    aw.transcript("help");
}

#[test]
fn every_command_has_help_with_an_example() {
    let aw = Aw::new();
    for command in COMMANDS {
        let mut typed: Vec<&str> = command.split(' ').collect();
        typed.push("--help");
        let help = aw.run(&typed);
        assert_eq!(help.code, 0, "{help:?}");
        assert!(help.stdout.contains(&format!("Usage: aw {command}")), "{}", help.stdout);
        assert!(help.stdout.contains(&format!("Example:\n  aw {command}")), "{}", help.stdout);
    }
    aw.transcript("help_of_commands");
}

#[test]
fn half_a_command_names_the_rest() {
    let aw = Aw::new();
    for typed in [&[][..], &["debate"], &["docs"], &["agent"], &["server"], &["token"]] {
        let refused = aw.run(typed).refused(4, "INVALID_INPUT");
        let suggestion = refused["error"]["suggestion"].as_str().unwrap();
        assert_eq!(aw.sh(suggestion).code, 0, "{suggestion}");
    }
    aw.transcript("half_a_command");
}

#[test]
fn completions_are_read_by_their_shells() {
    let aw = Aw::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = aw.run(&["completions", shell]);
        assert_eq!(script.code, 0);
        assert!(script.stdout.contains("request-completion"), "{shell} knows the commands");
        aw.file(shell, &script.stdout);
        let checked = Command::new(shell).arg("-n").arg(aw.desk().join(shell)).output();
        // Not every machine has every shell.
        if let Ok(checked) = checked {
            assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
        }
    }
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let aw = Aw::new();
    let first = aw.run(&["man"]);
    assert!(first.stdout.contains(".TH aw 1"), "{}", first.stdout);
    aw.quietly(&["man", "--output", "man1"]).ok();
    for command in COMMANDS {
        let page = aw.desk().join(format!("man1/aw-{}.1", command.replace(' ', "-")));
        assert!(page.exists(), "{}", page.display());
    }
}
