//! `aw server`: start, stop, status, logs and backup.

use std::collections::HashSet;
use std::fs;
use std::net::TcpListener;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use jiff::Timestamp;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rusqlite::Connection;
use serde_json::{Value, json};

use super::machine::{AtLast, Going, Machine, Paused, is_gone, until};
use crate::world::text;

#[test]
fn starting_twice_starts_one_server_and_stopping_ends_it() {
    let machine = Machine::fresh();
    let first = machine.aw(&["server", "start"]).answer();
    assert_eq!(first["metadata"]["message"], "Server started");
    let pid = machine.server();
    let second = machine.aw(&["server", "start"]).answer();
    assert_eq!(second["metadata"]["message"], "The server runs already");
    assert_eq!(second["content"][0]["data"]["pid"], pid);
    assert_eq!(machine.server(), pid);

    assert_eq!(machine.aw(&["server", "stop"]).data(), json!({"running": false, "pid": pid}));
    assert!(is_gone(pid), "{:?}", fs::read_to_string(format!("/proc/{pid}/stat")));
    TcpListener::bind(&machine.listen).expect("the port is free");
    assert!(!machine.data().join("server.json").exists());
    assert_eq!(machine.aw(&["server", "stop"]).data(), json!({"running": false}));
}

#[test]
fn status_shows_the_address_and_the_health() {
    let machine = Machine::fresh();
    let none = machine.aw(&["server", "status"]).answer();
    assert_eq!(none["content"][0]["data"]["running"], false);
    assert_eq!(none["metadata"]["next_command"], "aw server start");
    assert_eq!(machine.processes(), [], "who only asks starts nothing");

    machine.aw(&["server", "start"]).data();
    let status = machine.aw(&["server", "status"]).data();
    assert_eq!(status["running"], true);
    assert_eq!(status["pid"], machine.server());
    assert_eq!(status["url"], machine.url());
    assert_eq!(status["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(status["health"], "ok");
    assert!(status["uptime_s"].as_u64().unwrap() < 60, "{status}");
    let database = machine.data().join("db").join("debate.db");
    assert_eq!(status["database"], database.to_str().unwrap());
    assert!(database.exists());
}

/// It reads `pid`, `port`, `startedAt` and `version`, and ends a server that it cannot reach there.
#[test]
fn the_older_command_line_finds_our_server_healthy_in_server_json() {
    let machine = Machine::fresh();
    machine.aw(&["server", "start"]).data();
    let said = fs::read(machine.data().join("server.json")).unwrap();
    let said: Value = serde_json::from_slice(&said).unwrap();
    assert_eq!(said["pid"], machine.server());
    assert_eq!(machine.listen, format!("127.0.0.1:{}", said["port"]));
    assert!(text(&said["startedAt"]).parse::<Timestamp>().is_ok(), "{said}");
    assert!(said["version"].is_string(), "{said}");
    assert_eq!(machine.aw(&["server", "status"]).data()["pid"], said["pid"], "ours reads it too");
}

#[test]
fn a_server_that_hangs_is_still_described() {
    let machine = Machine::fresh();
    machine.aw(&["server", "start"]).data();
    let pid = machine.server();
    let _paused = Paused::new(Pid::from_raw(pid));
    let status = machine.aw(&["server", "status"]).data();
    assert_eq!((&status["pid"], &status["running"]), (&json!(pid), &json!(true)));
    assert_ne!(status["health"], "ok");
}

#[test]
fn a_restart_keeps_the_record_in_a_new_process() {
    let machine = Machine::fresh();
    let (debate, _) = machine.debate();
    let first = machine.server();
    let again = machine.aw(&["server", "restart"]).data();
    assert_ne!(machine.server(), first);
    assert_eq!(
        (&again["pid"], again["url"].as_str()),
        (&json!(machine.server()), Some(machine.url().as_str()))
    );
    assert_eq!(machine.get(&format!("/debates/{debate}"))["debate"]["id"], debate);
    let started = Machine::fresh();
    started.aw(&["server", "restart"]).data();
    started.server();
}

#[test]
fn the_servers_log_can_be_read() {
    let machine = Machine::fresh();
    let missing = machine.aw(&["server", "logs"]).refused("FILE_NOT_FOUND", 4);
    assert!(text(&missing["suggestion"]).contains("aw server start"), "{missing}");
    machine.aw(&["server", "start"]).data();
    let lines = machine.aw(&["server", "logs", "--lines", "1"]).data();
    assert_eq!(lines["lines"].as_array().unwrap().len(), 1, "{lines}");
    let all = machine.aw(&["server", "logs"]).data().to_string();
    assert!(all.contains(&format!("listening on {}", machine.url())), "{all}");
}

#[test]
fn stop_wins_against_agents_who_start_it_again() {
    let machine = Machine::fresh();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::SeqCst) {
                // It may hit a server that is just going.
                machine.aw(&["debate", "list"]);
            }
        });
        let _over = AtLast(&over);
        for _ in 0..8 {
            until("a server runs", || !machine.servers().is_empty());
            let stopped = machine.aw(&["server", "stop"]).data();
            if let Some(pid) = stopped["pid"].as_i64() {
                assert!(is_gone(i32::try_from(pid).unwrap()), "{stopped}");
            }
        }
    });
}

#[test]
fn stop_never_signals_a_process_that_does_not_hold_the_lock() {
    let machine = Machine::fresh();
    machine.aw(&["server", "start"]).data();
    machine.aw(&["server", "stop"]).data();
    // As a server of another container leaves it: its number means somebody else here.
    let mut stranger = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    let lock = fs::File::open(machine.data().join("server.lock")).unwrap();
    lock.lock().unwrap();
    let said = json!({
        "pid": stranger.id(), "url": machine.url(), "version": "1", "database": "x",
        "started_at": "2026-11-15T10:00:00Z",
    });
    fs::write(machine.data().join("server.json"), said.to_string()).unwrap();
    for command in ["stop", "restart"] {
        let error = machine.aw(&["server", command]).refused("CONNECTION_ERROR", 3);
        let holder = format!("process {}", std::process::id());
        assert!(text(&error["message"]).contains(&holder), "{error}");
        assert!(stranger.try_wait().unwrap().is_none(), "the stranger was killed");
    }
    drop(lock);
    assert_eq!(machine.aw(&["server", "stop"]).data(), json!({"running": false}));
    assert!(stranger.try_wait().unwrap().is_none(), "the stranger was killed");
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

#[test]
fn stop_never_signals_a_process_that_got_the_number_of_a_server() {
    let machine = Machine::fresh();
    machine.aw(&["server", "start"]).data();
    let pid = machine.server();
    // The same number and the same lock, but the process began at another time.
    let file = machine.data().join("server.json");
    let mut said: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert!(said["process_began"].is_string(), "{said}");
    said["process_began"] = json!("another time");
    fs::write(&file, said.to_string()).unwrap();
    let error = machine.aw(&["server", "stop"]).refused("CONNECTION_ERROR", 3);
    assert!(text(&error["message"]).contains("no server was stopped"), "{error}");
    assert!(!is_gone(pid));
}

/// Kills the server.
fn crash(machine: &Machine) {
    let pid = machine.server();
    kill(Pid::from_raw(pid), Signal::SIGKILL).unwrap();
    until("it is gone", || is_gone(pid));
}

#[test]
fn a_server_with_tokens_that_was_killed_comes_back_with_tokens() {
    for (start, set) in
        [(&["server", "start", "--auth"][..], None), (&["server", "start"], Some("required"))]
    {
        let machine = Machine::fresh();
        let mut command = machine.command(start);
        command.envs(set.map(|set| ("AW_AUTH", set)));
        assert_eq!(Going::start(command).end().data()["auth"], "required");
        let (debate, _) = machine.debate();
        for by_crash in [true, false] {
            if by_crash {
                crash(&machine);
            } else {
                machine.aw(&["server", "stop"]).data();
            }
            assert_eq!(machine.aw(&["debate", "list"]).data()["debates"][0]["id"], debate);
            assert_eq!(machine.aw(&["server", "status"]).data()["auth"], "required");
        }
        // Who wants less says so.
        machine.aw(&["server", "stop"]).data();
        let open = machine.aw(&["server", "start"]).answer();
        assert_eq!(open["content"][0]["data"]["auth"], "off");
        assert!(text(&open["metadata"]["warning"]).contains("the last server did"), "{open}");
        crash(&machine);
        machine.debate();
        assert_eq!(machine.aw(&["server", "status"]).data()["auth"], "off");
    }
}

#[test]
fn a_server_that_was_killed_comes_back_on_its_record_and_address_or_not_at_all() {
    let machine = Machine::fresh();
    let elsewhere = machine.path("work").join("elsewhere.db");
    let there = |arguments: &[&str]| {
        let mut command = machine.command(arguments);
        command.env("AW_DATABASE_URL", "elsewhere.db");
        Going::start(command).end()
    };
    let started = there(&["server", "start"]).data();
    assert_eq!(started["database"], elsewhere.to_str().unwrap());
    let (debate, _) = machine.debate();
    crash(&machine);
    // Somebody who has set nothing finds the same record.
    let mut unset = machine.command(&["debate", "list"]);
    unset.env_remove("AW_LISTEN");
    assert_eq!(Going::start(unset).end().data()["debates"][0]["id"], debate);
    let status = machine.aw(&["server", "status"]).data();
    assert_eq!(
        (&status["url"], &status["database"]),
        (&json!(machine.url()), &started["database"])
    );
    let restarted = machine.aw(&["server", "restart"]).data();
    assert_eq!(restarted["database"], started["database"]);
    crash(&machine);

    // Somebody who has set another one starts none.
    let other = Machine::fresh();
    for (name, value) in [("AW_DATABASE_URL", "other.db"), ("AW_LISTEN", other.listen.as_str())] {
        let mut command = machine.command(&["debate", "list"]);
        command.env(name, value);
        let error = Going::start(command).end().refused("CONNECTION_ERROR", 3);
        assert!(text(&error["message"]).contains("none was started"), "{error}");
        assert!(text(&error["suggestion"]).contains("aw server start"), "{error}");
        let mut doctor = machine.command(&["doctor"]);
        doctor.env(name, value);
        assert_eq!(Going::start(doctor).end().json()["content"][0]["data"]["healthy"], false);
    }
    assert!(machine.servers().is_empty());
    assert!(!machine.data().join("db").exists() && !machine.path("work").join("other.db").exists());
    // An explicit start works.
    let mut changed = machine.command(&["server", "start"]);
    changed.env("AW_DATABASE_URL", "other.db");
    let changed = Going::start(changed).end().answer();
    assert!(text(&changed["metadata"]["warning"]).contains("elsewhere.db"), "{changed}");
}

#[test]
fn after_a_server_on_postgresql_no_command_starts_one_on_a_file() {
    let machine = Machine::fresh();
    fs::create_dir_all(machine.data()).unwrap();
    let last = json!({
        "listen": machine.listen, "database": "postgres://aw@127.0.0.1:1/aw", "auth": true,
        "auth_flag": false,
    });
    fs::write(machine.data().join("started.json"), last.to_string()).unwrap();
    for typed in [&["debate", "list"][..], &["server", "restart"]] {
        let error = machine.aw(typed).refused("CONNECTION_ERROR", 3);
        let message = text(&error["message"]);
        assert!(message.contains("postgres://aw@127.0.0.1:1/aw"), "{error}");
        assert!(text(&error["suggestion"]).contains("AW_DATABASE_URL"), "{error}");
    }
    assert!(!machine.data().join("db").exists(), "a file was made");
    fs::write(machine.data().join("started.json"), "?").unwrap();
    machine.aw(&["debate", "list"]).refused("CONNECTION_ERROR", 3);
    machine.aw(&["server", "start"]).data();
}

#[test]
fn a_server_in_the_background_leaves_the_folder_it_was_started_in() {
    let machine =
        Machine::fresh().with("AWEAVE_HOME", "data").with("AW_DATABASE_URL", "some/debate.db");
    let (debate, _) = machine.debate();
    let folder = fs::read_link(format!("/proc/{}/cwd", machine.server())).unwrap();
    assert_eq!(folder, std::path::Path::new("/"));
    let work = machine.path("work");
    assert!(work.join("data/server.json").exists() && work.join("some/debate.db").exists());
    assert_eq!(machine.get(&format!("/debates/{debate}"))["debate"]["id"], debate);
}

#[test]
fn a_program_that_was_replaced_while_it_ran_starts_a_server_with_the_new_one() {
    let machine = Machine::fresh();
    let own = machine.path("tmp").join("aw-of-its-own");
    fs::copy(env!("CARGO_BIN_EXE_aw"), &own).unwrap();
    // It waits for its turn to start a server until the lock is free.
    fs::create_dir_all(machine.data()).unwrap();
    let turn = fs::File::create(machine.data().join("start.lock")).unwrap();
    turn.lock().unwrap();
    let mut command = machine.program(own.to_str().unwrap());
    command.args(["debate", "list"]);
    let going = Going::start(command);
    until("it waits", || {
        let waits = fs::read_to_string(format!("/proc/{}/wchan", going.pid())).unwrap_or_default();
        let open = fs::read_dir(format!("/proc/{}/fd", going.pid())).unwrap();
        let has_lock = open
            .flatten()
            .any(|file| fs::read_link(file.path()).is_ok_and(|file| file.ends_with("start.lock")));
        has_lock || waits.contains("flock")
    });
    let new = machine.path("tmp").join("new");
    fs::copy(env!("CARGO_BIN_EXE_aw"), &new).unwrap();
    fs::rename(new, &own).unwrap();
    drop(turn);
    assert_eq!(going.end().data()["debates"], json!([]));
    let program = fs::read_link(format!("/proc/{}/exe", machine.server())).unwrap();
    assert_eq!(program, own);
}

#[test]
fn a_backup_under_load_opens_and_has_everything_that_was_acknowledged_before() {
    let machine = Machine::fresh();
    machine.aw(&["server", "start"]).data();
    let (acknowledged, over) = (Mutex::new(HashSet::new()), AtomicBool::new(false));
    let copy = machine.path("work").join("copy.db");
    let before = thread::scope(|scope| {
        let _over = AtLast(&over);
        for _ in 0..2 {
            scope.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    let argument = machine.debate().1;
                    acknowledged.lock().unwrap().insert(argument);
                }
            });
        }
        until("there is something to lose", || acknowledged.lock().unwrap().len() >= 20);
        let before = acknowledged.lock().unwrap().clone();
        let backup = machine.aw(&["server", "backup", "copy.db"]);
        let size = backup.data()["bytes"].as_u64();
        assert_eq!(size, Some(fs::metadata(&copy).unwrap().len()));
        before
    });
    let db = Connection::open(&copy).unwrap();
    let check: String = db.query_row("pragma integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
    drop(db);

    // It serves as a record: another machine takes it for its own.
    let other = Machine::fresh();
    fs::create_dir_all(other.data().join("db")).unwrap();
    fs::copy(&copy, other.data().join("db").join("debate.db")).unwrap();
    let list = other.aw(&["debate", "list", "--limit", "1000"]).data();
    assert!(list["debates"].as_array().unwrap().len() >= before.len());
    let db = Connection::open(copy).unwrap();
    let mut ids = db.prepare("select id from arguments").unwrap();
    let ids: HashSet<String> = ids
        .query_map([], |row| row.get::<_, rusqlite::types::Value>(0))
        .unwrap()
        .map(|id| match id.unwrap() {
            rusqlite::types::Value::Text(id) => id,
            rusqlite::types::Value::Blob(id) => uuid::Uuid::from_slice(&id).unwrap().to_string(),
            other => panic!("an id is {other:?}"),
        })
        .collect();
    assert!(before.is_subset(&ids), "{} of {}", before.intersection(&ids).count(), before.len());
}

#[test]
fn a_backup_never_writes_over_anything() {
    let machine = Machine::fresh();
    machine.debate();
    let path = machine.path("work").join("precious");
    fs::write(&path, "dear diary").unwrap();
    let refused = machine.aw(&["server", "backup", "precious"]).refused("INVALID_INPUT", 4);
    assert!(text(&refused["message"]).contains("precious"), "{refused}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "dear diary");
}
