//! The server that is simply there, the commands that look after it, and strangers on its port.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::sync::mpsc;
use std::thread;

use serde_json::Value;

use super::aw::Aw;
use crate::world::{ServerProcess, free_listener, text};

fn a_server_is_looked_after(format: &str, commands: &[&[&str]]) {
    let aw = Aw::new();
    for typed in commands {
        let ran = aw.run(&[&["server"], *typed, &["--format", format]].concat());
        // Only a failure in words is for stderr.
        if ran.code == 0 || format == "json" {
            assert_eq!(ran.stderr, "", "{ran:?}");
        }
    }
    aw.transcript(&format!("server_{format}"));
    let logs = aw.quietly(&["server", "logs", "-n", "2"]).data();
    let lines = logs["lines"].as_array().unwrap();
    assert_eq!(lines.len(), 2);
    assert!(lines[1].as_str().unwrap().contains("stopped"), "{lines:?}");
    let page = aw.quietly(&["server", "logs", "--format", "markdown"]).stdout;
    assert!(page.lines().last().unwrap().contains("stopped"), "{page}");
}

#[test]
fn a_server_is_looked_after_in_json() {
    let (backup, start, stop) = (&["backup", "copy.db"][..], &["start"][..], &["stop"][..]);
    let (status, logs, restart) = (&["status"][..], &["logs"][..], &["restart"][..]);
    let before = [status, stop, logs, backup, start, start];
    let after = [status, restart, backup, backup, stop, stop];
    a_server_is_looked_after("json", &[before, after].concat());
}

#[test]
fn a_server_is_looked_after_in_markdown() {
    let commands = [&["status"][..], &["logs"], &["start"], &["backup", "copy.db"], &["stop"]];
    a_server_is_looked_after("markdown", &commands);
}

#[test]
fn a_record_is_moved_once_no_server_writes_to_it_and_never_onto_something() {
    let aw = Aw::new();
    aw.opens("Move me?", "We should.", &[]);
    let file = aw.home().join("db/debate.db");
    let file = file.to_str().unwrap();
    let migrate = |to: &str| aw.quietly(&["server", "migrate", "--from", file, "--to", to]);
    let refused = migrate("moved.db").refused(4, "INVALID_INPUT");
    assert_eq!(refused["error"]["suggestion"], "Stop every server on it first: aw server stop");
    aw.quietly(&["server", "stop"]);
    let moved = migrate("moved.db").data();
    assert_eq!((&moved["debates"], &moved["arguments"]), (&1.into(), &1.into()), "{moved}");
    migrate("moved.db").refused(4, "INVALID_INPUT");
    migrate(file).refused(4, "INVALID_INPUT");
    let refused = migrate("postgres://an:s3cret@127.0.0.1:many/x").refused(4, "INVALID_INPUT");
    assert!(!refused.to_string().contains("s3cret"), "{refused}");
}

/// A PostgreSQL that asks for a password and refuses it: the passwords that it got.
fn refusing_postgres() -> (String, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://an@{}/x?sslmode=disable", listener.local_addr().unwrap());
    let (passwords, got) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut message = [0; 1024];
            let _ = stream.read(&mut message);
            stream.write_all(b"R\0\0\0\x08\0\0\0\x03").unwrap();
            let read = stream.read(&mut message).unwrap_or(0);
            let password = message.get(5..read.saturating_sub(1)).unwrap_or_default();
            let _ = passwords.send(String::from_utf8_lossy(password).into_owned());
            let _ = stream.write_all(b"E\0\0\0\x1aSFATAL\0C28P01\0Mwrong\0\0");
        }
    });
    (url, got)
}

#[test]
fn the_password_of_a_database_need_not_stand_on_the_command_line() {
    let (url, got) = refusing_postgres();
    let aw = Aw::new().set("PGPASSWORD", "s3cret");
    let file = aw.home().join("debate.db");
    let file = file.to_str().unwrap();
    aw.quietly(&["server", "start"]).ok();
    aw.quietly(&["server", "backup", file]).ok();
    let own = url.replace("an@", "an:own@");
    for (command, password) in [
        (&["server", "migrate", "--from", file, "--to", &url][..], "s3cret"),
        (&["server", "migrate", "--from", &url, "--to", "moved.db"], "s3cret"),
        (&["server", "migrate", "--from", file, "--to", &own], "own"),
        (&["serve", "--listen", "127.0.0.1:0", "--database", &url], "s3cret"),
        (&["serve", "--listen", "127.0.0.1:0", "--database", &own], "own"),
    ] {
        let ran = aw.quietly(command);
        assert!(ran.code != 0 && !format!("{ran:?}").contains("s3cret"), "{ran:?}");
        assert_eq!(got.try_recv().as_deref(), Ok(password), "{command:?}: {ran:?}");
    }
}

#[test]
fn the_first_command_starts_a_server_and_the_next_one_finds_it() {
    let aw = Aw::new();
    let first = aw.quietly(&["debate", "list", "--verbose"]);
    assert!(first.stderr.contains("starting one"), "{}", first.stderr);
    let second = aw.quietly(&["debate", "list", "--verbose"]);
    assert!(!second.stderr.contains("starting one"), "{}", second.stderr);
    assert_eq!(aw.quietly(&["server", "status"]).data()["running"], true);
}

#[test]
fn without_autostart_the_line_that_starts_it_is_suggested() {
    let aw = Aw::new().set("AW_AUTOSTART", "0");
    let refused = aw.run(&["debate", "list"]).refused(3, "CONNECTION_ERROR");
    aw.transcript("no_autostart");
    assert!(aw.sh(refused["error"]["suggestion"].as_str().unwrap()).code == 0);
    aw.quietly(&["debate", "list"]).ok();
}

/// A program that is not ours: it answers HTTP, but not as we do.
fn another_program(listener: TcpListener) -> thread::JoinHandle<usize> {
    thread::spawn(move || {
        let mut served = 0;
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut asked = [0; 4096];
            let read = stream.read(&mut asked).unwrap_or(0);
            if asked[..read].starts_with(b"GET /the-end") {
                return served;
            }
            served += 1;
            let answer = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello";
            // Who only knocks does not stay for the answer.
            let _ = stream.write_all(answer.as_bytes());
        }
        served
    })
}

#[test]
fn another_program_on_the_port_is_named_and_left_alone() {
    let aw = Aw::new();
    let stranger = another_program(TcpListener::bind(aw.listen).unwrap());
    aw.run(&["debate", "list"]).refused(3, "CONNECTION_ERROR");
    aw.run(&["server", "start", "--format", "markdown"]);
    aw.run(&["server", "stop"]).ok();
    assert_eq!(aw.run(&["doctor"]).code, 3);
    let url = format!("http://{}", aw.listen);
    let aw = aw.set("DEBATE_SERVER_URL", &url);
    aw.run(&["debate", "list"]).refused(3, "CONNECTION_ERROR");
    aw.transcript("a_stranger_on_the_port");
    let mut alive = std::net::TcpStream::connect(aw.listen).expect("it still listens");
    alive.write_all(b"GET /the-end HTTP/1.1\r\n\r\n").unwrap();
    assert!(stranger.join().unwrap() > 0, "it was asked who it is, and went on");
    assert!(!aw.home().join("server.json").exists(), "no server was started");
}

#[test]
fn a_server_of_another_data_folder_is_a_stranger_too() {
    let theirs = tempfile::tempdir().unwrap();
    let mut server = ServerProcess::start(theirs.path());
    let address = server.url.strip_prefix("http://").unwrap().to_owned();
    let aw = Aw::new().set("AW_LISTEN", &address);
    aw.call_it("[taken]", &address);
    let refused = aw.run(&["debate", "list"]).refused(3, "CONNECTION_ERROR");
    aw.run(&["server", "status"]).ok();
    aw.run(&["server", "stop"]).ok();
    assert!(refused["error"]["message"].as_str().unwrap().contains("another data folder"));
    assert!(server.child.try_wait().unwrap().is_none(), "it is left alone");
    let aw = aw.set("DEBATE_SERVER_URL", &server.url);
    aw.quietly(&["debate", "list"]).ok();
}

#[test]
fn the_doctor_says_how_to_fix_problems() {
    let aw = Aw::new();
    aw.run(&["doctor"]).ok();
    aw.run(&["doctor", "--format", "markdown"]);
    aw.opens("T", "c", &[]);
    aw.run(&["doctor", "--format", "markdown"]);
    let dead = free_listener().local_addr().unwrap().to_string();
    aw.call_it("[dead]", &dead);
    let aw = aw.set("DEBATE_SERVER_URL", &format!("http://{dead}"));
    assert_eq!(aw.run(&["doctor", "--format", "markdown"]).code, 3);
    let aw = aw.set("DEBATE_SERVER_URL", "");
    fs::write(aw.home().join("config.toml"), "patience = 'much'").unwrap();
    assert_eq!(aw.run(&["doctor", "--format", "markdown"]).code, 3);
    aw.run(&["debate", "list"]).refused(4, "INVALID_INPUT");
    aw.transcript("doctor");
}

#[test]
fn the_doctor_finds_each_setting_that_keeps_the_server_from_starting() {
    for (line, named) in [
        ("backup_every = 'daily'", "backup_every"),
        ("auth = 'yes'", "auth"),
        ("public_url = 'x'", "public URL"),
        ("[notify]\nwebhook = 'ftp://x'", "notify.webhook"),
        ("database = '/tmp'", "database: it is a folder"),
        ("database = 'mysql://an:s3cret@db.example/aw'", "database: it is the URL of another"),
    ] {
        let aw = Aw::new();
        aw.config(line);
        assert_ne!(aw.quietly(&["server", "start"]).code, 0, "{line}");
        let ran = aw.quietly(&["doctor"]);
        assert_eq!(ran.code, 3, "{line}: {ran:?}");
        let found: Value = serde_json::from_str(&ran.stdout).unwrap();
        let settings = &found["content"][0]["data"]["checks"][1];
        assert_eq!(
            (&settings["name"], &settings["status"]),
            (&"settings".into(), &"failed".into())
        );
        let message = text(&settings["message"]);
        assert!(message.starts_with(named) && !message.contains("s3cret"), "{line}: {message}");
    }
}

#[test]
fn a_failed_start_says_each_cause_once() {
    let aw = Aw::new().set("AW_DATABASE_URL", "/proc/self/no/debate.db");
    let failed = aw.quietly(&["server", "start"]).refused(3, "CONNECTION_ERROR");
    let message = text(&failed["error"]["message"]);
    assert_eq!(message.matches("(os error").count(), 1, "{message}");
}

#[test]
fn a_data_folder_that_cannot_be_used_is_named() {
    let (_listener, aw) = {
        let listener = free_listener();
        let taken = listener.local_addr().unwrap().to_string();
        (listener, Aw::new().set("AW_LISTEN", &taken).set("AWEAVE_HOME", "/proc/self/home"))
    };
    let failed = aw.quietly(&["debate", "list"]).refused(3, "CONNECTION_ERROR");
    let message = text(&failed["error"]["message"]);
    assert!(message.starts_with("/proc/self/home: "), "{message}");
    assert_eq!(failed["error"]["suggestion"], "aw doctor");
}

#[test]
fn the_doctor_tries_to_write_and_leaves_nothing_behind() {
    // The kernel lets nobody create a file here.
    for home in ["/proc/self", "/proc/self/not/there"] {
        let aw = Aw::new().set("AWEAVE_HOME", home);
        let ran = aw.quietly(&["doctor"]);
        assert_eq!(ran.code, 3, "{home}: {ran:?}");
        assert!(ran.stdout.contains("cannot be written"), "{home}: {ran:?}");
    }
    let aw = Aw::new();
    aw.quietly(&["doctor"]).ok();
    assert!(!aw.home().exists(), "the folder that it made for a moment is gone");
    fs::create_dir_all(aw.home().join("logs")).unwrap();
    fs::set_permissions(aw.home(), fs::Permissions::from_mode(0o700)).unwrap();
    aw.quietly(&["doctor"]).ok();
    assert_eq!(fs::read_dir(aw.home()).unwrap().count(), 1, "nothing was left");
    // A file where a folder has to be.
    fs::write(aw.home().join("db"), "").unwrap();
    let ran = aw.quietly(&["doctor"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.stdout.contains("db cannot be written"), "{ran:?}");
}
