//! Help, version, completions, manual: what the program says about itself.

use std::process::Command;

use super::aw::Aw;

/// Every command that there is.
const COMMANDS: &[&str] = &[
    "debate run",
    "debate watch",
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
    "debate archive",
    "debate delete",
    "debate purge",
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
    "server install",
    "server uninstall",
    "token create",
    "token list",
    "token revoke",
    "search",
    "serve",
    "mcp",
    "doctor",
    "demo",
    "completions",
    "man",
];

/// A page of help fits the narrowest usual terminal.
#[track_caller]
fn fits(page: &str) {
    // The line of usage is a command.
    for line in page.lines().filter(|line| !line.starts_with("Usage: ")) {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

/// Every flag and argument says what it does, beside it or beneath it.
#[track_caller]
fn explains_its_flags(page: &str) {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let lines: Vec<&str> = page.lines().collect();
    for pair in lines.windows(2) {
        let [line, below] = pair else { unreachable!("windows of two") };
        let flag = line.trim_start();
        let is_argument = flag.starts_with(['<', '[']) && flag[1..].starts_with(char::is_uppercase);
        // What is indented more goes on with the words of the flag above.
        if (1..=6).contains(&indent(line)) && (flag.starts_with('-') || is_argument) {
            assert!(flag.contains("  ") || indent(below) > indent(line), "{line}");
        }
    }
}

#[test]
fn the_pages_of_help_that_come_first() {
    let aw = Aw::new();
    for family in [&[][..], &["debate"], &["docs"], &["agent"], &["server"], &["token"]] {
        let mut typed = family.to_vec();
        typed.push("--help");
        let long = aw.run(&typed);
        assert_eq!((long.code, long.stderr.as_str()), (0, ""));
        fits(&long.stdout);
        typed.pop();
        typed.push("-h");
        assert_eq!(aw.quietly(&typed).stdout, long.stdout, "-h is the same page");
    }
    aw.run(&["--version"]);
    aw.transcript("help");
}

#[test]
fn every_command_and_flag_has_help_and_every_command_an_example() {
    let aw = Aw::new();
    for command in COMMANDS {
        let mut typed: Vec<&str> = command.split(' ').collect();
        typed.push("--help");
        let help = aw.quietly(&typed);
        assert_eq!(help.code, 0, "{help:?}");
        assert!(help.stdout.contains(&format!("Usage: aw {command}")), "{}", help.stdout);
        let example = format!("\n  aw {command}");
        let (_, examples) = help.stdout.split_once("Example:").expect("there is an example");
        assert!(examples.starts_with(&example), "{}", help.stdout);
        assert_eq!(examples.trim().lines().count(), 1, "it is a line: {examples}");
        fits(&help.stdout);
        explains_its_flags(&help.stdout);
    }
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
        // Where a name is typed, names are offered.
        let files = |line: &&str| line.contains(" -- The ") && line.contains(":_default");
        assert_eq!(script.stdout.lines().find(files), None, "{shell}");
        aw.file(shell, &script.stdout);
        let checked = Command::new(shell).arg("-n").arg(aw.desk().join(shell)).output();
        // Not every machine has every shell.
        if let Ok(checked) = checked {
            assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
        }
    }
}

#[test]
fn a_shell_offers_words_and_debates_with_their_names() {
    let aw = Aw::new();
    let script = aw.quietly(&["completions", "bash"]).stdout;
    aw.file("aw.bash", script);
    let offered = |words: &[&str]| {
        let before = words[words.len() - 2];
        let line = format!(
            "source ./aw.bash; COMP_WORDS=({}); COMP_CWORD={}; _aw_with_ids aw {:?} {before}; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            words.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(" "),
            words.len() - 1,
            words[words.len() - 1],
        );
        let shown = aw.settled("bash").args(["-c", &line]).output().unwrap();
        assert!(shown.stderr.is_empty(), "{shown:?}");
        String::from_utf8(shown.stdout).unwrap()
    };
    assert_eq!(offered(&["aw", "debate", "wait", "--role", "o"]), "opponent\n");
    assert!(offered(&["aw", "debate", "list", "--state", ""]).contains("AWAITING_OPPONENT\n"));
    assert!(offered(&["aw", "debate", "create", "--type", ""]).contains("general_debate\n"));
    assert_eq!(offered(&["aw", "debate", "list", "--outcome", "a"]), "agreed\n");
    // A person runs these.
    let commands = offered(&["aw", ""]);
    assert!(commands.contains("debate\n") && commands.contains("--help\n"), "{commands}");
    for hidden in ["wake", "complete", "lead-group"] {
        assert!(!commands.lines().any(|offered| offered == hidden), "{commands}");
    }
    // Nothing runs yet, and a key starts nothing.
    assert_eq!(offered(&["aw", "debate", "wait", "--debate-id", ""]), "\n");
    assert!(!aw.home().exists());
    let (one, _) = aw.opens("The first: one", "C", &[]);
    assert_eq!(offered(&["aw", "debate", "wait", "--debate-id", ""]), format!("{one}\n"));
    let (other, _) = aw.opens("The second", "C", &[]);
    let both = offered(&["aw", "debate", "wait", "--debate-id", ""]);
    assert_eq!(
        both,
        format!("{other}  the-second: The second\n{one}  the-first-one: The first: one\n")
    );
    assert_eq!(offered(&["aw", "debate", "wait", "--debate-id", &one[..20]]), format!("{one}\n"));
    for command in ["get-context", "submit", "ruling", "result", "purge"] {
        assert_eq!(offered(&["aw", "debate", command, ""]), both, "{command}");
    }
    assert!(offered(&["aw", "debate", "result", "--"]).contains("--wait\n"));
    let kept = aw.quietly(&["docs", "create", "--summary", "Plan", "--content", "C"]).data();
    let document = crate::world::text(&kept["document_id"]);
    assert_eq!(offered(&["aw", "docs", "get", ""]), format!("{document}\n"));
    assert_eq!(aw.quietly(&["complete", "nonsense"]).stdout, "");
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
