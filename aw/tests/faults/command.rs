//! `aw serve` itself: what it prints, what it refuses, and how it leaves the files.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use rusqlite::Connection;
use serde_json::Value;

use super::{Caller, ended, signal};
use crate::world::driver::opening;
use crate::world::{Answer, CEILING, ServerProcess, free_listener};

#[tokio::test]
async fn port_zero_takes_a_free_one_and_says_which() {
    let home = tempfile::tempdir().unwrap();
    let server = start(serve(home.path(), &["--listen", "127.0.0.1:0"]));
    let port = server.url.strip_prefix("http://127.0.0.1:").expect("it prints its address");
    assert_ne!(port.parse::<u16>().unwrap(), 0);
    assert_eq!(Caller::of(&server).get("/health").await.ok()["status"], "ok");
}

#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn the_server_executes_itself_once_with_its_malloc_settings() {
    let names = ["MALLOC_ARENA_MAX", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"];
    let variables = |set: &[(&str, &str)]| {
        let home = tempfile::tempdir().unwrap();
        let server = ServerProcess::start_with(home.path(), |command| {
            for name in names {
                command.env_remove(name);
            }
            command.envs(set.iter().copied());
        });
        let running = fs::read_to_string(home.path().join("server.json")).unwrap();
        let running: Value = serde_json::from_str(&running).unwrap();
        assert_eq!(running["pid"], server.child.id(), "it is the process that was started");
        let environment = fs::read(format!("/proc/{}/environ", server.child.id())).unwrap();
        let environment = String::from_utf8_lossy(&environment).into_owned();
        let malloc = environment.split('\0').filter(|variable| variable.starts_with("MALLOC_"));
        malloc.map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let settings =
        ["MALLOC_ARENA_MAX=4", "MALLOC_MMAP_THRESHOLD_=1048576", "MALLOC_TRIM_THRESHOLD_=1048576"];
    assert_eq!(variables(&[]), settings.map(str::to_owned).into());
    // A server that finds one of them does not execute itself: neither again, nor over a user's setting.
    assert_eq!(variables(&[(names[0], "2")]), ["MALLOC_ARENA_MAX=2".to_owned()].into());
}

#[test]
fn a_taken_port_is_a_clear_error_and_the_database_is_not_touched() {
    let taken = free_listener();
    let address = taken.local_addr().unwrap().to_string();
    let home = tempfile::tempdir().unwrap();
    let refused = refused(serve(home.path(), &["--listen", &address]), 3);
    assert!(refused.contains(&address) && refused.contains("taken"), "{refused}");
    assert!(refused.contains("--listen"), "{refused}");
    assert!(!home.path().join("db").exists(), "a database was made");
}

#[tokio::test]
async fn a_second_server_on_the_same_file_is_refused_and_the_first_goes_on() {
    let home = tempfile::tempdir().unwrap();
    let server = ServerProcess::start(home.path());
    let caller = Caller::of(&server);
    caller.post("/debates", &opening("Mine.")).await.created();
    let here = refused(serve(home.path(), &["--listen", "127.0.0.1:0"]), 3);
    assert!(here.contains(home.path().to_str().unwrap()), "{here}");
    // From another home, where nothing tells that the file has a server but the file's own lock.
    let elsewhere = tempfile::tempdir().unwrap();
    let database = home.path().join("db").join("debate.db");
    let there = ["--listen", "127.0.0.1:0", "--database", database.to_str().unwrap()];
    let there = refused(serve(elsewhere.path(), &there), 3);
    assert!(there.contains("debate.db") && there.contains("in use"), "{there}");
    caller.post("/debates", &opening("Still mine.")).await.created();
    assert_eq!(caller.get("/debates").await.ok()["total"], 2);
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_refused_and_left_as_it_was() {
    let home = tempfile::tempdir().unwrap();
    let mut server = ServerProcess::start(home.path());
    Caller::of(&server).post("/debates", &opening("Old.")).await.created();
    signal(&server, Signal::SIGTERM);
    ended(&mut server).await;
    let database = home.path().join("db").join("debate.db");
    Connection::open(&database).unwrap().pragma_update(None, "user_version", 999).unwrap();
    let refused = refused_and_untouched(home.path(), &database);
    assert!(refused.contains("newer") && refused.contains("999"), "{refused}");
}

#[test]
fn a_foreign_database_is_refused_and_left_as_it_was() {
    let home = tempfile::tempdir().unwrap();
    let database = home.path().join("recipes.db");
    let db = Connection::open(&database).unwrap();
    db.execute_batch("create table recipes (name text); insert into recipes values ('Phở')")
        .unwrap();
    drop(db);
    let refused = refused_and_untouched(home.path(), &database);
    assert!(refused.contains("not a database of aw"), "{refused}");
}

#[test]
fn a_file_that_is_no_database_is_refused_and_left_as_it_was() {
    let home = tempfile::tempdir().unwrap();
    for text in ["Dear diary", &"Dear diary, ".repeat(1_000)] {
        let database = home.path().join("diary.txt");
        fs::write(&database, text).unwrap();
        let refused = refused_and_untouched(home.path(), &database);
        assert!(refused.contains("not a database of aw"), "{refused}");
    }
}

#[tokio::test]
async fn listening_to_the_network_wants_tokens_and_makes_the_administrators() {
    let home = tempfile::tempdir().unwrap();
    let port = free_listener().local_addr().unwrap().port();
    let mut server = start(serve(home.path(), &["--listen", &format!("0.0.0.0:{port}")]));
    server.url = format!("http://127.0.0.1:{port}");
    let caller = Caller::of(&server);
    assert_eq!(caller.get("/health").await.ok()["status"], "ok");
    for path in ["/debates", "/metrics", "/openapi.json", "/tokens"] {
        let asked = caller.get(path).await;
        let code = &asked.body["error"]["code"];
        assert_eq!((asked.status.as_u16(), code), (401, &"AUTH_FAILED".into()), "{path}");
    }
    let file = home.path().join("admin_token");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let token = fs::read_to_string(file).unwrap();
    let request = caller.client.get(format!("{}/debates", server.url)).bearer_auth(token);
    assert_eq!(Answer::to(request).await.ok()["total"], 0);
}

#[tokio::test]
async fn files_are_private_with_any_umask() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    let mut command = Command::new("sh");
    let program = env!("CARGO_BIN_EXE_aw");
    command.args(["-c", "umask 0; exec \"$0\" serve --listen 127.0.0.1:0", program]);
    let server = start(settle(command, &home));
    Caller::of(&server).post("/debates", &opening("Private.")).await.created();
    private(&home);
}

#[tokio::test]
async fn a_readable_data_folder_is_made_private() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    fs::create_dir_all(home.join("db")).unwrap();
    fs::set_permissions(&home, fs::Permissions::from_mode(0o755)).unwrap();
    let server = start(serve(&home, &["--listen", "127.0.0.1:0"]));
    Caller::of(&server).post("/debates", &opening("Private.")).await.created();
    private(&home);
}

/// Asserts that everything of a running server is its owner's alone.
fn private(home: &Path) {
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(home), 0o700, "the home is {:o}", mode(home));
    let db = home.join("db");
    for file in ["debate.db", "debate.db-wal", "debate.db-shm", "debate.db.lock"] {
        let mode = mode(&db.join(file));
        assert_eq!(mode, 0o600, "{file} is {mode:o}");
    }
    assert_eq!(mode(&home.join("home_id")), 0o600);
}

fn serve(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_aw"));
    command.arg("serve").args(arguments);
    settle(command, home)
}

fn settle(mut command: Command, home: &Path) -> Command {
    command.env("AWEAVE_HOME", home).stdin(Stdio::null()).stderr(Stdio::null());
    for name in ["AW_AUTH", "AW_AUTH_TOKEN", "AW_DATABASE_URL", "AW_LISTEN", "AW_PUBLIC_URL"] {
        command.env_remove(name);
    }
    command
}

fn start(mut command: Command) -> ServerProcess {
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let url = line.split_whitespace().next_back().expect("it says where it listens").to_owned();
    ServerProcess { url, child }
}

/// Runs a server that must not start; what it says about that.
#[track_caller]
fn refused(mut command: Command, code: i32) -> String {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if began.elapsed() > CEILING {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("the server started, or hangs");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let (mut out, mut err) = (String::new(), String::new());
    child.stdout.unwrap().read_to_string(&mut out).unwrap();
    child.stderr.unwrap().read_to_string(&mut err).unwrap();
    assert_eq!(status.code(), Some(code), "{err}");
    assert_eq!(out, "", "only data goes to stdout");
    assert!(err.starts_with("error: "), "{err}");
    assert!(!err.contains("panicked") && err.trim_end().lines().count() == 1, "{err}");
    err
}

/// The same for a server on this file, of which nothing may change.
#[track_caller]
fn refused_and_untouched(home: &Path, database: &Path) -> String {
    let look = || {
        let about = fs::metadata(database).unwrap();
        (fs::read(database).unwrap(), about.permissions().mode(), about.modified().unwrap())
    };
    let before = look();
    let database = database.to_str().unwrap();
    let said = refused(serve(home, &["--listen", "127.0.0.1:0", "--database", database]), 3);
    assert!(said.contains(database), "{said}");
    let after = look();
    assert!(before.0 == after.0, "its bytes have changed");
    assert_eq!((before.1, before.2), (after.1, after.2), "its mode or time has changed");
    // To look into a database SQLite may have made a log beside it.
    let log = fs::metadata(format!("{database}-wal")).map_or(0, |log| log.len());
    assert_eq!(log, 0, "something was written");
    said
}
