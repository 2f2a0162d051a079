//! A person at a terminal reads text; an agent, a pipe and a file get JSON.

use super::aw::{Aw, Ran};
use crate::world::text;

/// The variables by which agent programs tell that a command is theirs.
const AGENTS: [&str; 12] = [
    "CLAUDECODE",
    "CODEX_CI",
    "CODEX_THREAD_ID",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "COPILOT_CLI",
    "CURSOR_AGENT",
    "GEMINI_CLI",
    "OPENCODE",
    "PI_CODING_AGENT",
    "QWEN_CODE",
    "CLINE_ACTIVE",
];

fn is_json(ran: &Ran) -> bool {
    ran.stdout.starts_with("{\"success\":")
}

#[test]
fn a_person_at_a_terminal_gets_text_and_an_agent_json() {
    let aw = Aw::new();
    let on_terminal = |line: &str| aw.terminal(80, line);
    assert!(!is_json(&on_terminal("aw debate generate-id")));
    assert!(is_json(&aw.quietly(&["debate", "generate-id"])), "in a pipe");
    assert!(is_json(&on_terminal("aw debate generate-id | cat")), "in a pipe on a terminal");
    for name in AGENTS.into_iter().chain(["AW_RUN"]) {
        let ran = on_terminal(&format!("{name}=1 aw debate generate-id"));
        assert!(is_json(&ran), "{name}: {}", ran.stdout);
        let usage = on_terminal(&format!("{name}=1 aw debate lst"));
        assert!(is_json(&usage), "{name}: {}", usage.stdout);
    }
    // An empty variable is none, and people set this one for themselves.
    for line in ["CLAUDECODE=", "CODEX_HOME=/tmp/x", "CURSOR_TRACE_ID=1"] {
        assert!(!is_json(&on_terminal(&format!("{line} aw debate generate-id"))), "{line}");
    }
}

#[test]
fn the_format_is_typed_before_or_after_the_command() {
    let aw = Aw::new();
    for typed in [
        &["--format", "markdown", "debate", "generate-id"][..],
        &["debate", "--format=markdown", "generate-id"],
        &["debate", "generate-id", "--format", "markdown"],
        &["--format", "markdown", "doctor"],
    ] {
        let ran = aw.quietly(typed);
        assert!(!is_json(&ran), "{typed:?}: {ran:?}");
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    // The formats of a command stay its own.
    for (typed, said) in [
        (&["--format", "plain", "debate", "list"][..], "invalid value 'plain'"),
        (&["debate", "list", "--format", "json", "--format", "json"], "cannot be used multiple"),
        (&["--format"], "needs a command"),
        (&["--format", "json"], "needs a command"),
        (&["debate", "--format", "json"], "needs a command"),
        (&["--format", "json", "serve"], "unexpected argument '--format'"),
    ] {
        let refused = aw.quietly(typed).refused(4, "INVALID_INPUT");
        assert!(text(&refused["error"]["message"]).contains(said), "{typed:?}: {refused}");
    }
}

#[test]
fn a_flag_beats_the_variable_which_beats_the_file() {
    let aw = Aw::new();
    let makes = |line: &str| is_json(&aw.sh(&format!("{line} debate generate-id")));
    aw.config("format = \"markdown\"");
    assert!(!makes("aw"));
    assert!(makes("AW_FORMAT=json aw"));
    assert!(!makes("AW_FORMAT=json aw --format markdown"));
    aw.config("format = \"json\"");
    assert!(is_json(&aw.terminal(80, "aw debate generate-id")));
    assert!(!is_json(&aw.terminal(80, "AW_FORMAT=markdown aw debate generate-id")));
    // Wrong values say what to write.
    aw.config("format = \"html\"");
    let refused = aw.quietly(&["debate", "list"]).refused(4, "INVALID_INPUT");
    let message = text(&refused["error"]["message"]);
    assert!(message.contains("(format)") && message.contains("`json` or `markdown`"), "{message}");
    let refused = aw.sh("AW_FORMAT=html aw debate generate-id").refused(4, "INVALID_INPUT");
    let message = text(&refused["error"]["message"]);
    assert_eq!(message, "AW_FORMAT: \"html\" is no format: write json or markdown");
}

#[test]
fn the_next_command_repeats_the_format_only_where_it_is_not_the_usual_one() {
    let aw = Aw::new();
    let create = "aw debate create -t T --type general_debate --content C";
    let next = |shown: &str| {
        let lines = shown.lines().filter(|line| line.contains("aw debate wait"));
        lines.map(str::to_owned).collect::<String>()
    };
    assert!(!next(&aw.terminal(80, create).stdout).contains("--format"));
    assert!(
        next(&aw.terminal(80, &format!("{create} --format json")).stdout).contains("--format json")
    );
    assert!(!aw.sh(&format!("{create} --format json")).next().contains("--format"));
}

#[test]
fn a_failure_for_people_goes_to_stderr() {
    let aw = Aw::new();
    for line in ["aw docs get nothing", "aw debate export --debate-id nothing", "aw debate lst"] {
        let ran = aw.terminal(80, &format!("{line} 2>problem"));
        assert_eq!(ran.stdout, "", "{line}");
        assert_ne!(ran.code, 0, "{line}");
        let problem = std::fs::read_to_string(aw.desk().join("problem")).unwrap();
        assert!(problem.starts_with("error: "), "{problem}");
    }
}

#[test]
fn people_read_no_json_in_any_answer() {
    let aw = Aw::new();
    aw.terminal(
        80,
        "aw docs create --title 'The plan' --summary S --content C --metadata '{\"by\": \"An\"}'",
    );
    let create = ["debate", "create", "-t", "T", "--type", "general_debate", "--content", "C"];
    let debate = text(&aw.quietly(&create).data()["debate_id"]);
    let listed = plain(&aw.terminal(120, "aw docs list").stdout);
    assert!(listed.starts_with("title     summary  version"), "{listed}");
    assert!(listed.contains("The plan  S "), "{listed}");
    let created =
        aw.terminal(80, "aw docs create --summary S --content D --metadata '{\"by\": \"An\"}'");
    assert!(plain(&created.stdout).contains("metadata:\n  by: An\n"), "{created:?}");
    for line in [
        "aw docs create --summary S --content E",
        "aw debate archive t",
        &format!("aw debate delete {debate} --confirm"),
        &format!("aw debate purge {debate} --confirm"),
        "aw server install",
        "aw server uninstall",
        "aw server status",
    ] {
        let ran = aw.terminal(80, line);
        assert_eq!(ran.code, 0, "{ran:?}");
        let shown = plain(&ran.stdout);
        assert!(!shown.contains(['{', '[', '"']), "{line}: {shown}");
    }
}

#[test]
fn colour_is_for_terminals_that_want_it() {
    let aw = Aw::new();
    let coloured = |line: &str| aw.terminal(80, line).stdout.contains('\u{1b}');
    assert!(coloured("aw doctor"));
    assert!(!coloured("NO_COLOR=1 aw doctor"));
    assert!(!coloured("TERM=dumb aw doctor"));
    assert!(coloured("NO_COLOR= aw doctor"), "an empty variable is none");
}

#[test]
fn every_page_fits_the_terminal() {
    let aw = Aw::new();
    let long = "Keep one SQLite file for all the events of all our customers, in every region?";
    let created = aw.quietly(&[
        "debate", "create", "-t", long, "--type", "general_debate", "--points", "--content",
        "We keep all the events of all our customers in one SQLite file, and copy it each night to another machine.",
    ]);
    let (debate, motion) =
        (text(&created.data()["debate_id"]), text(&created.data()["argument_id"]));
    aw.file(
        "claim.md",
        "### NEW [MAJOR] A second machine cannot write to the file of the first, whatever it does\n\n\
         > copy it each night to another machine\n\nSay what happens to the events of the day between two copies.\n",
    );
    let submit = ["debate", "submit", "--debate-id", &debate, "--role", "opponent"];
    aw.quietly(&[&submit[..], &["--target-id", &motion, "--file", "claim.md"]].concat()).ok();
    let document = aw.quietly(&["docs", "create", "--summary", long, "--content", long]);
    let document = text(&document.data()["document_id"]);
    aw.quietly(&["token", "create", "--role", "opponent", "--name", "A long name of somebody"])
        .ok();
    for columns in [80, 200] {
        for line in [
            "debate list".to_owned(),
            format!("debate get-context --debate-id {debate}"),
            format!("debate get-context --debate-id {debate} --role proposer"),
            format!("debate wait --debate-id {debate} --role proposer"),
            format!("debate points --debate-id {debate}"),
            format!("debate points --debate-id {debate} --point P1"),
            "debate types".to_owned(),
            format!("debate verify --debate-id {debate}"),
            "docs list".to_owned(),
            format!("docs get {document}"),
            format!("docs history {document}"),
            "token list".to_owned(),
            "server status".to_owned(),
            "doctor".to_owned(),
            "agent list".to_owned(),
        ] {
            let ran = aw.terminal(columns, &format!("aw {line}"));
            assert_eq!(ran.code, 0, "{ran:?}");
            for shown in plain(&ran.stdout).lines() {
                // A command is copied whole, and a path or a URL cannot be broken.
                let is_whole = shown.contains("aw debate") || shown.contains('/');
                let width = shown.chars().count();
                assert!(width <= columns || is_whole, "{line} at {columns}: {shown}");
            }
        }
    }
}

#[test]
fn the_first_command_says_that_it_started_a_server_and_how_to_stop_it() {
    let aw = Aw::new();
    let said = "To stop it: aw server stop";
    let first = aw.terminal(80, "aw debate list").stdout;
    assert!(first.contains(said), "{first}");
    assert!(first.lines().all(|line| line.chars().count() <= 80), "it fits: {first}");
    assert!(!aw.terminal(80, "aw debate list").stdout.contains(said), "only the first");
    aw.quietly(&["server", "stop"]).ok();
    let agents = aw.terminal(80, "CLAUDECODE=1 aw debate list").stdout;
    assert!(is_json(&aw.quietly(&["debate", "list"])) && !agents.contains(said), "{agents}");
}

#[test]
fn a_new_debate_says_what_to_tell_the_opponent() {
    let aw = Aw::new();
    let create = "aw debate create -t T --type general_debate --content C";
    let shown = aw.terminal(200, create).stdout;
    assert!(shown.contains("Tell the opponent"), "{shown}");
    assert!(shown.contains("run `aw agent show opponent --debate-id "), "{shown}");
}

const CREATE: &str = "aw debate create -t T --type general_debate";

#[test]
fn a_person_without_a_text_writes_it_in_the_editor() {
    let aw = Aw::new();
    aw.program("pen", "[ $# = 2 ] && printf 'We keep %s file.' \"$1\" > \"$2\"");
    let shown = aw.terminal(80, &format!("EDITOR='pen one' {CREATE}")).stdout;
    assert!(shown.contains("Debate created"), "{shown}");
    let debates = aw.quietly(&["debate", "list"]).data();
    let debate = text(&debates["debates"][0]["id"]);
    let context = aw.quietly(&["debate", "get-context", "--debate-id", &debate]).data();
    assert_eq!(context["motion"]["content"], "We keep one file.");
    // What was not sent is kept, and the next command names it.
    let submit = "aw debate submit --debate-id 93d81b1a-0e66-4510-abfd-aa33b26cb82e --role opponent \
                  --target-id 93d81b1a-0e66-4510-abfd-aa33b26cb82e";
    let shown = aw.terminal(200, &format!("VISUAL='pen two' EDITOR=false {submit}")).stdout;
    let (_, path) = shown.split_once("your text is in ").unwrap_or_else(|| panic!("{shown}"));
    let path = path.split_whitespace().next().unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap(), "We keep two file.");
    std::fs::remove_dir_all(std::path::Path::new(path).parent().unwrap()).unwrap();
}

#[test]
fn an_editor_that_leaves_nothing_sends_nothing() {
    let aw = Aw::new();
    aw.file("evil", "#!/bin/sh\ntouch ran; echo owned > \"$1\"");
    aw.sh("chmod +x evil");
    for (set, said) in [
        ("EDITOR=true", "the text is empty"),
        ("EDITOR=false", "ended with exit status: 1"),
        ("EDITOR=no-such-editor", "EDITOR is \"no-such-editor\", but there is no such program"),
        ("PATH=.:$PATH EDITOR=evil", "no such program"),
        ("EDITOR=./evil", "no such program"),
        ("EDITOR=", "or set EDITOR to write it there"),
    ] {
        let ran = aw.terminal(200, &format!("{set} {CREATE}"));
        assert!(ran.stdout.contains(said), "{set}: {}", ran.stdout);
        assert_eq!(ran.code, 4, "{set}");
    }
    assert!(!aw.desk().join("ran").exists());
    assert!(!aw.home().exists(), "no server was started for it");
    // An agent on a terminal has no editor.
    let agent = aw.terminal(80, &format!("EDITOR=true CLAUDECODE=1 {CREATE}"));
    assert!(agent.stdout.contains("there is no content"), "{}", agent.stdout);
}

#[test]
fn the_file_called_minus_is_stdin() {
    let aw = Aw::new();
    let create = ["docs", "create", "--summary", "S", "--file", "-"];
    let id = text(&aw.piped("Từ ống".as_bytes(), &create).data()["document_id"]);
    assert_eq!(aw.quietly(&["docs", "get", &id]).data()["content"], "Từ ống");
    aw.piped(b"\xff", &create).refused(4, "INVALID_INPUT");
    aw.piped(b"x", &[&create[..], &["--stdin"]].concat()).refused(4, "INVALID_INPUT");
}

/// A text without colours.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut parts = text.split("\u{1b}[");
    plain.push_str(parts.next().unwrap_or_default());
    for part in parts {
        plain.push_str(part.split_once('m').map_or(part, |(_, rest)| rest));
    }
    plain
}
