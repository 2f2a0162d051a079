//! Everything that the command line refuses or passes on as refused, in whole envelopes.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::time::Instant;

use serde_json::{Value, json};

use super::aw::{Aw, Ran};
use crate::world::{ServerProcess, free_listener, new_id, text};

/// A debate that waits for its opponent, on a new server.
struct Opened {
    aw: Aw,
    debate: String,
    motion: String,
}

impl Opened {
    fn new(aw: Aw) -> Self {
        let (debate, motion) = aw.opens("Is it so?", "It is.", &[]);
        let opened = Opened { aw, debate, motion };
        opened.aw.call_it("DEBATE", &opened.debate);
        opened.aw.call_it("MOTION", &opened.motion);
        opened
    }

    fn submit(&self, role: &str, target: &str, rest: &[&str]) -> Ran {
        let mut all = vec!["debate", "submit", "--debate-id", &self.debate, "--role", role];
        all.extend(["--target-id", target]);
        all.extend_from_slice(rest);
        self.aw.run(&all)
    }

    fn arguments(&self) -> usize {
        let context = self.aw.quietly(&["debate", "get-context", "--debate-id", &self.debate]);
        context.data()["arguments"].as_array().unwrap().len()
    }
}

#[test]
fn a_usage_error_is_printed_as_json() {
    let aw = Aw::new();
    for typed in [
        &["debat", "list"][..],
        &["debate", "lst"],
        &["debate", "submit", "--debate-id", "x"],
        &["debate", "list", "--colour"],
        &["debate", "submit", "x", "--role", "opponent", "--colour"],
        &["debate", "list", "--limit", "many"],
        &["debate", "list", "--format", "xml"],
        &["debate", "wait", "--debate-id", "x", "--role", "proposer", "--deadline", "soon"],
        &[
            "debate",
            "appeal",
            "--debate-id",
            "x",
            "--target-id",
            "y",
            "--deadline=-1",
            "--content",
            "c",
        ],
        &["docs", "get", "--id", "x"],
        &["docs", "restore", "x"],
        &["server", "backup"],
        &["completions", "cmd"],
    ] {
        aw.run(typed).refused(4, "INVALID_INPUT");
    }
    aw.transcript("errors_of_usage");
    assert!(!aw.home().exists(), "no server was started for it");
}

#[test]
fn an_unreadable_text_is_reported_before_a_server_starts() {
    let aw = Aw::new();
    aw.file("latin1.md", b"caf\xe9");
    fs::create_dir(aw.desk().join("folder.md")).unwrap();
    let (debate, target, request) = (new_id(), new_id(), new_id());
    aw.call_it("DEBATE", &debate);
    aw.call_it("TARGET", &target);
    aw.call_it("REQUEST", &request);
    let submit = |rest: &[&str], exit: i32, code: &str| {
        let mut all = vec!["debate", "submit", "--debate-id", &debate, "--role", "opponent"];
        all.extend(["--target-id", &target, "--client-request-id", &request]);
        all.extend_from_slice(rest);
        let refused = aw.run(&all).refused(exit, code);
        assert_eq!(refused["metadata"]["debate_id"], *debate);
        assert_eq!(refused["metadata"]["client_request_id"], *request);
    };
    submit(&[], 4, "INVALID_INPUT");
    submit(&["--content", "one", "--stdin"], 4, "INVALID_INPUT");
    submit(&["--content", "one", "--file", "latin1.md"], 4, "INVALID_INPUT");
    submit(&["--file", "missing.md"], 4, "FILE_NOT_FOUND");
    submit(&["--file", "folder.md"], 4, "FILE_NOT_FOUND");
    submit(&["--file", "latin1.md"], 4, "INVALID_INPUT");
    let not_text = aw.piped(b"\xff\xfe", &["docs", "create", "--summary", "s", "--stdin"]);
    not_text.refused(4, "INVALID_INPUT");
    for metadata in ["[1]", "{", "text"] {
        let typed = ["docs", "create", "--summary", "s", "--content", "c", "--metadata", metadata];
        aw.run(&typed).refused(4, "INVALID_INPUT");
    }
    for command in ["create", "appeal", "request-completion", "ruling"] {
        let mut typed = vec!["debate", command, "--debate-id", &debate];
        match command {
            "create" => typed.extend(["-t", "T", "--type", "general_debate"]),
            "ruling" => {}
            _ => typed.extend(["--target-id", &target]),
        }
        let refused = aw.quietly(&typed).refused(4, "INVALID_INPUT");
        assert_eq!(refused["metadata"]["debate_id"], *debate, "{command}");
    }
    aw.run(&["debate", "delete", "--debate-id", &debate]).refused(4, "INVALID_INPUT");
    aw.run(&["docs", "delete", &target]).refused(4, "INVALID_INPUT");
    aw.transcript("errors_of_texts");
    assert!(!aw.home().exists(), "no server was started for it");
}

#[test]
fn a_refusal_of_the_server_is_printed_whole() {
    let open = Opened::new(Aw::new());
    let (aw, motion) = (&open.aw, open.motion.as_str());
    let nobody = new_id();
    aw.call_it("NOBODY", &nobody);

    aw.run(&["debate", "get-context", "--debate-id", &nobody]).refused(2, "DEBATE_NOT_FOUND");
    aw.run(&["debate", "wait", "--debate-id", &nobody, "--role", "proposer"])
        .refused(2, "DEBATE_NOT_FOUND");
    aw.run(&["debate", "export", "--debate-id", &nobody]).refused(2, "DEBATE_NOT_FOUND");
    aw.run(&["debate", "result", "--debate-id", &nobody]).refused(2, "DEBATE_NOT_FOUND");
    aw.run(&["debate", "open", "--debate-id", &nobody]).refused(2, "DEBATE_NOT_FOUND");
    aw.run(&["debate", "delete", "--debate-id", &nobody, "--confirm"])
        .refused(2, "DEBATE_NOT_FOUND");
    open.submit("opponent", &nobody, &["--content", "c"]).refused(2, "ARGUMENT_NOT_FOUND");
    aw.run(&["docs", "get", &nobody]).refused(2, "DOCUMENT_NOT_FOUND");
    let kept = aw.quietly(&["docs", "create", "--summary", "s", "--content", "c"]);
    let document = text(&kept.data()["document_id"]);
    aw.call_it("DOCUMENT", &document);
    aw.run(&["docs", "get", &document, "--version", "7"]).refused(2, "VERSION_NOT_FOUND");
    aw.run(&["docs", "restore", &document, "--version", "7"]).refused(2, "VERSION_NOT_FOUND");
    aw.run(&["docs", "submit", &nobody, "--summary", "s", "--content", "c"])
        .refused(2, "DOCUMENT_NOT_FOUND");
    aw.transcript("errors_not_found");

    open.submit("judge", motion, &["--content", "c"]).refused(4, "INVALID_INPUT");
    open.submit("opponent", "not-an-id", &["--content", "c"]).refused(4, "INVALID_INPUT");
    open.submit("opponent", motion, &["--content", " \n"]).refused(4, "INVALID_INPUT");
    open.submit("opponent", motion, &["--content", "c", "--client-request-id", "mine"])
        .refused(4, "INVALID_INPUT");
    aw.run(&["debate", "get-context", "--debate-id", "../health"]).refused(2, "DEBATE_NOT_FOUND");
    aw.run(&["debate", "wait", "--debate-id", &open.debate, "--role", "judge"])
        .refused(4, "INVALID_INPUT");
    aw.run(&["debate", "list", "--state", "ASLEEP"]).refused(4, "INVALID_INPUT");
    for (name, value) in
        [("--title", "two\nlines"), ("--type", "Not A Type"), ("--resolution-policy", "maybe")]
    {
        let mut typed = vec!["debate", "create", "--debate-id", &nobody];
        for (flag, usual) in [("--title", "T"), ("--type", "general_debate"), ("--content", "c")] {
            if flag != name {
                typed.extend([flag, usual]);
            }
        }
        typed.extend([name, value]);
        aw.run(&typed).refused(4, "INVALID_INPUT");
    }
    aw.file("long.md", "x".repeat(10_241));
    open.submit("opponent", motion, &["--file", "long.md"]).refused(4, "CONTENT_TOO_LARGE");
    aw.transcript("errors_of_input");

    assert_eq!(open.arguments(), 0, "nothing was written");
}

#[test]
fn a_text_of_any_excessive_length_is_content_too_large() {
    let opened = Opened::new(Aw::new());
    let Opened { aw, debate, motion } = &opened;
    aw.file("long.md", "long ".repeat(800_000));
    let document = text(
        &aw.quietly(&["docs", "create", "--summary", "s", "--content", "c"]).data()["document_id"],
    );
    let title = ["-t", "T", "--type", "general_debate"];
    let (to, role) = (["--target-id", motion.as_str()], ["--role", "opponent"]);
    for (command, flags) in [
        ("submit", [&to[..], &role[..]].concat()),
        ("appeal", to.to_vec()),
        ("request-completion", to.to_vec()),
        ("ruling", vec![]),
        ("intervention", vec![]),
        ("create", title.to_vec()),
    ] {
        let on = if command == "create" { vec![] } else { vec!["--debate-id", debate.as_str()] };
        let typed = [&["debate", command][..], &on, &flags, &["--file", "long.md"]].concat();
        let error = aw.quietly(&typed).refused(4, "CONTENT_TOO_LARGE")["error"].clone();
        assert!(text(&error["message"]).contains("10240"), "{command}: {error}");
    }
    aw.file("longer.md", "long ".repeat(8_000_000));
    for command in [&["docs", "create"][..], &["docs", "submit", &document]] {
        let flags = ["--summary", "s", "--file", "longer.md"];
        let whole = aw.quietly(&[command, &flags].concat()).refused(4, "CONTENT_TOO_LARGE");
        assert_eq!(whole["error"]["suggestion"], "Split it into several documents");
    }
    assert_eq!(opened.arguments(), 0, "nothing was written");
}

#[test]
fn a_file_without_an_end_is_content_too_large() {
    let aw = Aw::new();
    let endless = ["docs", "create", "--summary", "s", "--file", "/dev/zero"];
    let error = aw.quietly(&endless).refused(4, "CONTENT_TOO_LARGE")["error"].clone();
    assert_eq!(error["message"], "/dev/zero has more than 268435456 bytes");
    assert!(!aw.home().exists(), "no server was started for it");
}

#[test]
fn a_refusal_names_the_last_good_step() {
    let opened = Opened::new(Aw::new().set("DEBATE_WAIT_DEADLINE", "0"));
    let Opened { aw, debate, motion } = &opened;
    let document = text(
        &aw.quietly(&["docs", "create", "--summary", "s", "--content", "c"]).data()["document_id"],
    );
    aw.file("long.md", "long ".repeat(4_000));
    let (nobody, on) = (new_id(), format!("--debate-id {debate}"));
    let context = format!("aw debate get-context {on}");
    let submit = format!("aw debate submit {on} --role opponent --target-id {motion}");
    for (typed, next) in [
        // Something that is not there.
        (format!("aw debate get-context --debate-id {nobody}"), "aw debate list".to_owned()),
        (format!("aw debate wait --debate-id {nobody} --role proposer"), "aw debate list".into()),
        (format!("aw debate export --debate-id {nobody}"), "aw debate list".into()),
        (format!("aw debate result --debate-id {nobody}"), "aw debate list".into()),
        (format!("aw debate verify --debate-id {nobody}"), "aw debate list".into()),
        (format!("aw debate delete --debate-id {nobody} --confirm"), "aw debate list".into()),
        ("aw debate get-context --debate-id 93d8".into(), "aw debate list".into()),
        (
            format!("aw debate wait {on} --role proposer --argument-id {nobody} --deadline 0"),
            format!("aw debate wait {on} --role proposer --attempt 2 --deadline 0"),
        ),
        (
            format!("aw debate wait {on} --role proposer --argument-id x --attempt 7"),
            format!("aw debate wait {on} --role proposer --attempt 8"),
        ),
        (
            format!("aw debate submit {on} --role opponent --target-id {nobody} --content c"),
            format!("{context} --role opponent"),
        ),
        (format!("aw docs get {nobody}"), "aw docs list".into()),
        (format!("aw docs get {document} --version 7"), format!("aw docs history {document}")),
        // A role or a state that is none.
        (format!("aw debate wait {on} --role judge"), context.clone()),
        ("aw debate list --state OPEN".into(), "aw debate list".into()),
        // A text that is missing, empty, or too long.
        (format!("{submit} --file YOUR_TEXT.md"), format!("{submit} --file YOUR_TEXT.md")),
        (format!("{submit} --deadline 25"), format!("{submit} --file YOUR_TEXT.md --deadline 25")),
        (format!("{submit} --content ' '"), format!("{submit} --file YOUR_TEXT.md")),
        (format!("{submit} --file long.md"), format!("{submit} --file YOUR_TEXT.md")),
        (
            format!("aw debate appeal {on} --target-id {motion} --file long.md"),
            format!("aw docs create --summary 'Details for debate {debate}' --file long.md"),
        ),
        (
            "aw docs create --summary s --file nowhere.md".into(),
            "aw docs create --summary s --file YOUR_TEXT.md".into(),
        ),
        // A debate's id that is taken.
        (
            format!("aw debate create {on} -t T --type general_debate --content c"),
            "aw debate generate-id".into(),
        ),
    ] {
        let ran = aw.sh(&typed);
        let whole = ran.envelope();
        assert_eq!(whole["metadata"]["next_command"], *next, "{typed}: {whole}");
        assert_ne!(ran.code, 0, "{typed}");
        if !next.contains("YOUR_TEXT.md") {
            let led = aw.sh(&next);
            assert_eq!(led.code, 0, "{typed} leads to {led:?}");
        }
    }
    // In the format that was asked for.
    let ran = aw.sh(&format!("aw debate get-context --debate-id {nobody} --format markdown"));
    assert!(ran.stderr.contains("Next: aw debate list --format markdown\n"), "{ran:?}");
}

#[test]
fn an_error_in_words_does_not_land_in_the_file_of_a_redirect() {
    let aw = Aw::new();
    let ran = aw.quietly(&["docs", "get", &new_id(), "--format", "markdown"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.starts_with("error: there is no document "), "{ran:?}");
}

#[test]
fn a_write_that_was_not_answered_comes_with_the_same_command() {
    let dead = free_listener().local_addr().unwrap();
    let aw = Aw::new().set("DEBATE_SERVER_URL", &format!("http://{dead}"));
    let on = format!("--debate-id {}", new_id());
    let target = format!("--target-id {}", new_id());
    for (typed, again) in [
        (format!("aw debate submit {on} --role opponent {target} --content 'It is.'"), None),
        (format!("aw debate ruling {on} {target} --close --content B"), None),
        // Their ids follow from nothing, so the same command has the one that was made.
        (format!("aw debate ruling {on} --content B"), Some(" --client-request-id ")),
        (format!("aw debate intervention {on}"), Some(" --client-request-id ")),
        ("aw docs create --summary s --content c".to_owned(), Some(" --client-request-id ")),
    ] {
        let whole = aw.sh(&typed).refused(3, "CONNECTION_ERROR");
        let line = text(&whole["metadata"]["retry_command"]);
        match again {
            None => assert_eq!(line, typed),
            Some(part) => {
                let request = text(&whole["metadata"]["client_request_id"]);
                assert!(line.contains(&format!("{part}{request}")), "{line}");
            }
        }
    }
}

#[test]
fn a_ruling_repeated_with_other_flags_differs_from_one_with_a_used_id() {
    let opened = Opened::new(Aw::new());
    let Opened { aw, debate, motion } = &opened;
    let claim = opened.submit("opponent", motion, &["--content", "No."]).argument();
    let on = ["--debate-id", debate.as_str()];
    let appeal = [&["debate", "appeal"], &on[..], &["--target-id", &claim, "--content", "?"]];
    let appeal = aw.quietly(&appeal.concat()).argument();
    let rule = [&["debate", "ruling"], &on[..], &["--target-id", &appeal, "--content", "B"]];
    aw.quietly(&rule.concat()).ok();
    let refused = aw.quietly(&[&rule.concat()[..], &["--close"]].concat());
    let whole = refused.refused(4, "INVALID_INPUT");
    let message = text(&whole["error"]["message"]);
    assert!(message.contains("--close") && !message.contains("client_request_id"), "{message}");
    let next = aw.sh(&text(&whole["metadata"]["next_command"]));
    assert_eq!(next.data()["action"], "wait", "{next:?}");
}

#[test]
fn a_repeated_intervention_advises_the_ruling_that_is_owed_now() {
    let opened = Opened::new(Aw::new());
    let Opened { aw, debate, .. } = &opened;
    let request = new_id();
    let stop = ["debate", "intervention", "--debate-id", debate, "--client-request-id", &request];
    let next = aw.quietly(&stop).next();
    assert!(next.starts_with("aw debate ruling "), "{next}");
    aw.quietly(&["debate", "ruling", "--debate-id", debate, "--content", "Go on."]).ok();
    let again = aw.quietly(&stop);
    assert_eq!(again.data()["replayed"], true);
    assert!(again.next().starts_with("aw debate wait "), "{}", again.next());
    assert!(again.ok()["metadata"]["alternatives"].is_null());
}

#[test]
fn a_page_of_nothing_does_not_lead_to_itself() {
    let opened = Opened::new(Aw::new());
    let Opened { aw, .. } = &opened;
    let kept = aw.quietly(&["docs", "create", "--summary", "s", "--content", "c"]).data();
    let document = text(&kept["document_id"]);
    for list in [&["debate", "list"][..], &["docs", "list"], &["docs", "history", &document]] {
        let whole = aw.quietly(&[list, &["--limit", "0"]].concat()).ok();
        assert_eq!(whole["total_count"], 1);
        assert!(whole["metadata"]["next_command"].is_null(), "{whole}");
    }
}

#[test]
fn an_export_does_not_write_over_a_file_that_holds_something_else() {
    let aw = Aw::new();
    let kept = aw.quietly(&["docs", "create", "--summary", "s", "--content", "One."]).data();
    let document = text(&kept["document_id"]);
    let export = ["docs", "export", &document, "--output", "plan.md"];
    aw.quietly(&export).ok();
    aw.quietly(&export).ok();
    aw.file("plan.md", "One, and what I changed since.");
    let refused = aw.quietly(&export).refused(4, "INVALID_INPUT");
    let there = || fs::read_to_string(aw.desk().join("plan.md")).unwrap();
    assert_eq!(there(), "One, and what I changed since.");
    let suggestion = text(&refused["error"]["suggestion"]);
    aw.sh(suggestion.rsplit_once(": ").unwrap().1).ok();
    assert_eq!(there(), "One.");
}

#[test]
fn a_move_out_of_turn_says_what_to_run_instead() {
    let open = Opened::new(Aw::new());
    let refused = open
        .submit(
            "proposer",
            &open.motion,
            &["--content", "I go on", "--deadline", "7", "--format", "json"],
        )
        .refused(5, "ACTION_NOT_ALLOWED");
    let server_error = &refused["content"][0]["data"]["server_error"];
    for name in ["current_state", "allowed_roles", "last_argument", "suggestion", "message"] {
        assert!(!server_error[name].is_null(), "{name}: {server_error}");
    }
    let next = text(&refused["metadata"]["next_command"]);
    assert_eq!(
        next,
        format!(
            "aw debate wait --debate-id {} --role proposer --argument-id {} --deadline 7",
            open.debate, open.motion
        )
    );
    let on = ["--debate-id", &open.debate];
    for (command, rest) in [
        ("appeal", &["--target-id", &open.motion, "--content", "c"][..]),
        ("request-completion", &["--target-id", &open.motion, "--content", "c"]),
        ("ruling", &["--content", "c"]),
        ("ruling", &["--content", "c", "--target-id", &open.motion, "--format", "markdown"]),
    ] {
        let mut all = vec!["debate", command];
        all.extend(on);
        all.extend_from_slice(rest);
        let ran = open.aw.run(&all);
        assert_eq!(ran.code, 5, "{ran:?}");
    }
    open.aw.transcript("errors_of_turn");
    assert_eq!(open.arguments(), 0, "nothing was written");
}

#[test]
fn a_closed_debate_refuses_every_move() {
    let open = Opened::new(Aw::new());
    let on = ["--debate-id", open.debate.as_str()];
    open.aw.quietly(&["debate", "intervention", on[0], on[1]]).ok();
    open.aw.quietly(&["debate", "ruling", on[0], on[1], "--close", "--content", "Enough."]).ok();
    let refused = open.submit("opponent", &open.motion, &["--content", "But"]);
    assert_eq!(refused.next(), format!("aw debate result --debate-id {}", open.debate));
    refused.refused(5, "ACTION_NOT_ALLOWED");
    open.aw.run(&["debate", "intervention", on[0], on[1]]).refused(5, "ACTION_NOT_ALLOWED");
    open.aw.transcript("errors_when_closed");
}

#[test]
fn a_wrong_token_is_refused_and_the_right_one_is_taken() {
    let guarded = tempfile::tempdir().unwrap();
    let server = ServerProcess::start_with(guarded.path(), |command| {
        command.env("AW_AUTH_TOKEN", "open sesame");
    });
    let aw = Aw::new().set("DEBATE_SERVER_URL", &server.url);
    aw.run(&["debate", "list"]).refused(6, "AUTH_FAILED");
    aw.run(&["debate", "list", "--format", "markdown"]);
    let aw = aw.set("DEBATE_AUTH_TOKEN", "open barley");
    aw.run(&["debate", "wait", "--debate-id", &new_id(), "--role", "opponent"])
        .refused(6, "AUTH_FAILED");
    aw.transcript("errors_of_tokens");
    let aw = aw.set("DEBATE_AUTH_TOKEN", "open sesame");
    assert_eq!(aw.quietly(&["debate", "list"]).ok()["total_count"], 0);
}

#[test]
fn a_dead_server_is_retried_three_times_and_never_started() {
    let dead = free_listener().local_addr().unwrap();
    let aw = Aw::new().set("DEBATE_SERVER_URL", &format!("http://{dead}"));
    let began = Instant::now();
    let (debate, target) = (new_id(), new_id());
    aw.call_it("[dead]", &dead.to_string());
    aw.call_it("DEBATE", &debate);
    aw.call_it("TARGET", &target);
    let submit = ["debate", "submit", "--debate-id", &debate, "--role", "opponent"];
    let text = ["--target-id", target.as_str(), "--content", "c"];
    let refused = aw.run(&[&submit[..], &text].concat()).refused(3, "CONNECTION_ERROR");
    assert!(began.elapsed().as_millis() >= 1_750, "each pause is twice as long as the last");
    assert_eq!(refused["metadata"]["debate_id"], *debate);
    assert!(refused["metadata"]["client_request_id"].is_string(), "{refused}");
    aw.run(&["debate", "wait", "--debate-id", &debate, "--role", "opponent"])
        .refused(3, "CONNECTION_ERROR");
    aw.run(&["debate", "list", "--format", "markdown"]);
    aw.run(&["docs", "create", "--summary", "s", "--content", "c"]).refused(3, "CONNECTION_ERROR");
    aw.transcript("errors_of_a_dead_server");
    assert!(!aw.home().join("server.lock").exists(), "no server was started");
}

#[test]
fn a_lost_connection_is_retried_three_times() {
    let listener = free_listener();
    let address = listener.local_addr().unwrap();
    let counting = std::thread::spawn(move || {
        // Each connection is closed at once.
        (0..4).filter(|_| listener.accept().is_ok()).count()
    });
    let aw = Aw::new().set("DEBATE_SERVER_URL", &format!("http://{address}"));
    aw.run(&["debate", "list"]).refused(3, "CONNECTION_ERROR");
    assert_eq!(counting.join().unwrap(), 4);
}

#[test]
fn a_busy_server_is_tried_again_with_the_same_request() {
    let listener = free_listener();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let busy = r#"{"success":false,"error":{"code":"SERVER_BUSY","message":"no time"}}"#;
    let done = json!({"success": true, "data": {
        "document_id": new_id(), "version": 1, "summary": "s", "author": null, "metadata": {},
        "created_at": "2026-11-16T12:00:00.000Z", "replayed": false, "of_a_newer_server": [1],
    }});
    let serving = std::thread::spawn(move || {
        let answers = [("503 Service Unavailable", busy), ("503 Service Unavailable", busy)];
        let done = done.to_string();
        let answers = answers.into_iter().chain([("201 Created", done.as_str())]);
        answers.map(|(status, body)| answer_one(&listener, status, body)).collect::<Vec<Value>>()
    });
    let aw = Aw::new().set("DEBATE_SERVER_URL", &url);
    let kept = aw.quietly(&["docs", "create", "--summary", "s", "--content", "c"]).ok();
    let warning = text(&kept["metadata"]["warning"]);
    assert!(warning.contains("9.9.9") && warning.contains("aw server restart"), "{warning}");
    let printed = &kept["content"][0]["data"]["of_a_newer_server"];
    assert_eq!(*printed, json!([1]), "a field that this version does not know is printed");
    let asked = serving.join().unwrap();
    let request = &asked[0]["client_request_id"];
    assert!(request.is_string(), "{asked:?}");
    assert!(asked.iter().all(|body| body["client_request_id"] == *request), "{asked:?}");
}

#[test]
fn a_create_for_which_the_server_has_no_time_suggests_itself_too() {
    let listener = free_listener();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let busy = r#"{"success":false,"error":{"code":"SERVER_BUSY","message":"no time"}}"#;
    let serving = std::thread::spawn(move || {
        for _ in 0..4 {
            answer_one(&listener, "503 Service Unavailable", busy);
        }
    });
    let aw = Aw::new().set("DEBATE_SERVER_URL", &url);
    let create = ["debate", "create", "-t", "T", "--type", "general_debate", "--content", "c"];
    let refused = aw.quietly(&create).refused(3, "SERVER_BUSY");
    serving.join().unwrap();
    let suggestion = text(&refused["error"]["suggestion"]);
    let aw = aw.set("DEBATE_SERVER_URL", "");
    assert_eq!(aw.sh(&suggestion).data()["debate_id"], refused["metadata"]["debate_id"]);
}

/// Serves one request, as a server of version 9.9.9; what was asked.
fn answer_one(listener: &TcpListener, status: &str, body: &str) -> Value {
    let (stream, _) = listener.accept().unwrap();
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let line = line.trim().to_ascii_lowercase();
        if let Some(bytes) = line.strip_prefix("content-length: ") {
            length = bytes.parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    let mut asked = vec![0; length];
    reader.read_exact(&mut asked).unwrap();
    let head = format!(
        "HTTP/1.1 {status}\r\naw-version: 9.9.9\r\nretry-after: 0\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    reader.get_mut().write_all(head.as_bytes()).unwrap();
    serde_json::from_slice(&asked).unwrap()
}

#[test]
fn a_create_that_fails_suggests_itself_with_the_ids_it_had_made() {
    let aw = Aw::new().set("AW_AUTOSTART", "0");
    let title = "-- It's \"$HOME\" & `more`";
    let motion = "Line one\nline 'two' $(three) \\ \u{1f642}\n";
    aw.file("my motion.md", motion);
    let titled = format!("--title={title}");
    let create = ["debate", "create", &titled, "--type", "general_debate"];
    let mut ways = Vec::new();
    for content in [&["--content", motion][..], &["--file", "my motion.md"]] {
        let all: Vec<&str> = create.iter().chain(content).copied().collect();
        ways.push(aw.quietly(&all));
    }
    let all: Vec<&str> =
        create.into_iter().chain(["--stdin", "--deadline", "9", "--author", "An"]).collect();
    ways.push(aw.piped(motion.as_bytes(), &all));

    let suggestions: Vec<(Value, String)> = ways
        .iter()
        .map(|ran| {
            let refused = ran.refused(3, "CONNECTION_ERROR");
            let suggestion = text(&refused["error"]["suggestion"]);
            assert!(suggestion.starts_with("aw debate create --debate-id "), "{suggestion}");
            (refused["metadata"].clone(), suggestion)
        })
        .collect();
    let aw = aw.set("AW_AUTOSTART", "1");
    for (metadata, suggestion) in &suggestions {
        let first = aw.sh(suggestion).data();
        assert_eq!(first["debate_id"], metadata["debate_id"], "{suggestion}");
        assert_eq!(first["client_request_id"], metadata["client_request_id"]);
        assert_eq!(first["debate"]["title"], title);
        let debate = text(&first["debate_id"]);
        let read = aw.quietly(&["debate", "get-context", "--debate-id", &debate]).data();
        assert_eq!(read["motion"]["content"], motion, "{suggestion}");
        assert_eq!(aw.sh(suggestion).data()["replayed"], true, "it makes one debate");
    }
    assert_eq!(aw.quietly(&["debate", "list"]).ok()["total_count"], 3);
}
