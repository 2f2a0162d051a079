//! Settings: a flag beats the environment, which beats `config.toml`, which beats the default.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::time::Instant;

use super::aw::{Aw, Ran};
use crate::world::{ServerProcess, free_listener, text};

/// Creates a debate; its id and its motion's.
fn created(aw: &Aw, more: &[&str]) -> (String, String) {
    aw.opens("T", "c", more)
}

#[test]
fn the_author() {
    let aw = Aw::new();
    let author = |aw: &Aw, more: &[&str]| {
        let (debate, _) = created(aw, more);
        aw.quietly(&["debate", "get-context", "--debate-id", &debate, "--full"]).data()["motion"]["author"]
            .take()
    };
    assert!(author(&aw, &[]).is_null());
    aw.config("author = 'from the file'");
    assert_eq!(author(&aw, &[]), "from the file");
    let aw = aw.set("AW_AUTHOR", "from the environment");
    assert_eq!(author(&aw, &[]), "from the environment");
    assert_eq!(author(&aw, &["--author", "from the flag"]), "from the flag");
    let kept = aw.quietly(&["docs", "create", "--summary", "s", "--content", "c"]);
    assert_eq!(kept.data()["author"], "from the environment");
}

#[test]
fn the_deadline_of_a_wait() {
    let aw = Aw::new();
    let (debate, motion) = created(&aw, &[]);
    let wait = |aw: &Aw, more: &[&str]| -> Ran {
        let typed = [
            "debate",
            "wait",
            "--debate-id",
            &debate,
            "--role",
            "proposer",
            "--argument-id",
            &motion,
        ];
        aw.quietly(&[&typed[..], more].concat())
    };
    aw.config("wait_deadline = 0");
    let began = Instant::now();
    let asked = wait(&aw, &[]).data();
    assert!(began.elapsed().as_secs() < 10, "it asks once");
    assert!(text(&asked["message"]).starts_with("No response after 0s"), "{asked}");
    let aw = aw.set("DEBATE_WAIT_DEADLINE", "1");
    assert!(text(&wait(&aw, &[]).data()["message"]).starts_with("No response after 1s"));
    let flagged = wait(&aw, &["--deadline", "0"]).data();
    assert!(text(&flagged["message"]).starts_with("No response after 0s"), "{flagged}");
    // What the environment says it says again next time; only the flag is repeated.
    assert!(!text(&wait(&aw, &[]).data()["retry_command"]).contains("--deadline"));
    let aw = aw.set("DEBATE_WAIT_DEADLINE", "soon");
    wait(&aw, &[]).refused(4, "INVALID_INPUT");
}

#[test]
fn a_token_or_a_url_that_no_request_can_carry_is_refused_by_name() {
    let list = ["debate", "list"];
    for (name, value, part) in [
        ("DEBATE_AUTH_TOKEN", "secret\n", "no line break"),
        ("AW_AUTH_TOKEN", "se\tcret", "no line break"),
        ("DEBATE_AUTH_TOKEN", "bí-mật", "visible ASCII"),
        ("DEBATE_SERVER_URL", "http://an:secret@127.0.0.1:1", "set DEBATE_AUTH_TOKEN"),
        ("DEBATE_SERVER_URL", "http://127.0.0.1:1?token=secret", "a query or a fragment"),
        ("DEBATE_SERVER_URL", "http://127.0.0.1:1/#secret", "a query or a fragment"),
    ] {
        let aw = Aw::new().set(name, value);
        let refused = aw.quietly(&list).refused(4, "INVALID_INPUT");
        let message = text(&refused["error"]["message"]);
        assert!(message.starts_with(name) && message.contains(part), "{message}");
        assert!(!message.contains("secret"), "it may be read by others: {message}");
    }
    let aw = Aw::new();
    aw.config("auth_token = \"secret\\n\"");
    let message = text(&aw.quietly(&list).refused(4, "INVALID_INPUT")["error"]["message"]);
    assert!(message.starts_with("auth_token") && !message.contains("secret"), "{message}");
}

#[test]
fn a_setting_that_cannot_be_used_is_named_where_it_was_set() {
    let list = ["debate", "list"];
    for (line, named) in [
        ("wait_deadline = -5", "wait_deadline in config.toml: it must be a number, 0 or more"),
        ("patience = -1", "patience in config.toml: it must be a number, 0 or more"),
        ("server_url = 'x.org'", "server_url in config.toml: \"x.org\" is not a URL such as"),
    ] {
        let aw = Aw::new();
        aw.config(line);
        let message = text(&aw.quietly(&list).refused(4, "INVALID_INPUT")["error"]["message"]);
        assert!(message.starts_with(named), "{message}");
    }
    let aw = Aw::new().set("DEBATE_SERVER_URL", "x.org");
    let message = text(&aw.quietly(&list).refused(4, "INVALID_INPUT")["error"]["message"]);
    assert!(message.starts_with("DEBATE_SERVER_URL: \"x.org\" is not a URL such as"), "{message}");
}

#[test]
fn a_checkout_sets_nothing() {
    let aw = Aw::new();
    let elsewhere = "http://127.0.0.1:1";
    fs::create_dir(aw.desk().join(".aweave")).unwrap();
    let settings =
        format!("server_url = \"{elsewhere}\"\nauth_token = \"theirs\"\nlisten = \"0.0.0.0:1\"\n");
    for name in ["config.toml", ".aweave/config.toml"] {
        aw.file(name, &settings);
    }
    let variables = format!(
        "DEBATE_SERVER_URL={elsewhere}\nAW_DATABASE_URL={elsewhere}\nAWEAVE_HOME=.aweave\nBROWSER=./aw\n"
    );
    aw.file(".env", variables);
    let status = aw.quietly(&["server", "start"]).data();
    assert!(text(&status["url"]).ends_with(&aw.listen.to_string()), "{status}");
    assert!(text(&status["database"]).starts_with(aw.home().to_str().unwrap()), "{status}");
    assert_eq!(aw.quietly(&["debate", "list"]).code, 0);
}

#[test]
fn a_wait_counts_down_patience_and_then_advises_to_stop() {
    let aw = Aw::new();
    let (debate, motion) = created(&aw, &[]);
    aw.call_it("DEBATE", &debate);
    aw.call_it("MOTION", &motion);
    let typed = [
        "debate",
        "wait",
        "--debate-id",
        &debate,
        "--role",
        "proposer",
        "--argument-id",
        &motion,
        "--deadline",
        "0",
    ];
    let left = |aw: &Aw| aw.quietly(&typed).data()["patience_left_s"].as_u64().unwrap();
    assert!((1_700..=1_800).contains(&left(&aw)), "half an hour by default");
    aw.config("patience = 60");
    assert!((3_500..=3_600).contains(&left(&aw)));
    let aw = aw.set("AW_PATIENCE", "10");
    assert!((500..=600).contains(&left(&aw)));
    let aw = aw.set("AW_PATIENCE", "0");
    let ran = aw.run(&typed);
    let over = ran.data();
    assert_eq!(over["patience_left_s"], 0);
    assert!(ran.ok()["metadata"]["next_command"].is_null(), "an agent would follow it for ever");
    let message = text(&over["message"]);
    let line = text(&over["retry_command"]);
    for part in ["the opponent", &text(&over["waiting_since"]), "retry_command", "stop"] {
        assert!(message.contains(part), "{part:?} is not in {message:?}");
    }
    aw.sh(&line).ok();
    aw.run(&[&typed[..], &["--format", "markdown"]].concat());
    aw.transcript("patience_is_over");
}

#[test]
fn a_variable_that_is_not_utf_8_is_refused_and_no_server_is_started() {
    let odd = std::ffi::OsStr::from_bytes(b"tok\xff");
    for name in
        ["AW_AUTH_TOKEN", "AW_AUTH", "AW_LISTEN", "AW_DATABASE_URL", "AWEAVE_HOME", "AW_LOG"]
    {
        let aw = Aw::new();
        for typed in [&["debate", "list"][..], &["server", "start"], &["docs", "list"]] {
            let output = aw.settled(env!("CARGO_BIN_EXE_aw")).args(typed).env(name, odd).output();
            let refused = Ran::new(name, output.unwrap()).refused(4, "INVALID_INPUT");
            assert_eq!(refused["error"]["message"], format!("{name}: it is not UTF-8"));
        }
        let output = aw.settled(env!("CARGO_BIN_EXE_aw")).arg("serve").env(name, odd).output();
        let served = Ran::new("aw serve", output.unwrap());
        assert_eq!((served.code, served.stdout.as_str()), (4, ""), "{served:?}");
        assert_eq!(served.stderr, format!("error: {name}: it is not UTF-8\n"));
        assert!(!aw.home().join("db").exists(), "a server was started");
    }
    let aw = Aw::new().set("AW_LOG", "aw=loudly");
    let served = aw.quietly(&["serve"]);
    assert_eq!(served.code, 4, "{served:?}");
    assert!(served.stderr.contains("AW_LOG"), "{served:?}");
}

#[test]
fn a_switch_that_is_neither_on_nor_off_is_refused() {
    let aw = Aw::new().set("AW_AUTOSTART", "of");
    let refused = aw.quietly(&["debate", "list"]).refused(4, "INVALID_INPUT");
    let message = "AW_AUTOSTART: \"of\" is neither on nor off: write 1 or 0";
    assert_eq!(refused["error"]["message"], message);
    let aw = Aw::new().set("AW_NOTIFY_DESKTOP", "maybe");
    let served = aw.quietly(&["serve"]);
    assert_eq!(served.code, 4, "{served:?}");
    assert!(served.stderr.contains("AW_NOTIFY_DESKTOP"), "{served:?}");
    // In any case of letters, off is off.
    let aw = Aw::new().set("AW_AUTOSTART", "OFF");
    aw.quietly(&["debate", "list"]).refused(3, "CONNECTION_ERROR");
}

#[test]
fn the_data_folder() {
    let aw = Aw::new();
    let elsewhere = aw.desk().join("elsewhere");
    let there = aw.set("AWEAVE_HOME", elsewhere.to_str().unwrap());
    created(&there, &[]);
    assert!(elsewhere.join("db/debate.db").exists());
    assert!(!there.home().exists());
    there.quietly(&["server", "stop"]).ok();
    let usual = there.set("AWEAVE_HOME", "");
    assert_eq!(usual.quietly(&["debate", "list"]).ok()["total_count"], 0);
    assert!(usual.home().join("db/debate.db").exists());
}

#[test]
fn the_server_and_its_token() {
    let guarded = tempfile::tempdir().unwrap();
    let server = ServerProcess::start_with(guarded.path(), |command| {
        command.env("AW_AUTH_TOKEN", "sesame");
    });
    let dead = format!("http://{}", free_listener().local_addr().unwrap());
    let aw = Aw::new();
    aw.config(&format!("server_url = '{}/'\nauth_token = 'sesame'", server.url));
    let (debate, _) = created(&aw, &[]);
    let url = text(&aw.quietly(&["debate", "open", "--debate-id", &debate]).data()["url"]);
    assert!(url.starts_with(&format!("{}/sign-in/link?", server.url)), "{url}");
    assert!(url.ends_with(&debate) && !url.contains("sesame"), "{url}");
    let aw = aw.set("DEBATE_AUTH_TOKEN", "wrong");
    aw.quietly(&["debate", "list"]).refused(6, "AUTH_FAILED");
    let aw = aw.set("DEBATE_AUTH_TOKEN", "").set("DEBATE_SERVER_URL", &dead);
    aw.quietly(&["debate", "list"]).refused(3, "CONNECTION_ERROR");
    let aw = aw.set("DEBATE_SERVER_URL", "not a url");
    let refused = aw.quietly(&["debate", "list"]).refused(4, "INVALID_INPUT");
    assert!(text(&refused["error"]["message"]).contains("DEBATE_SERVER_URL"), "{refused}");
}
