//! `aw server restore` and damaged records.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

use aw::api::client::Request;
use aw::api::http::{Client, Trouble};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rusqlite::Connection;
use serde_json::{Value, json};

use super::machine::{Going, Machine, is_gone, until};
use crate::world::{Dice, new_id, text};

/// A machine with one debate in `copy.db` and another one besides in its record.
fn with_backup() -> (Machine, String, String) {
    let machine = Machine::fresh();
    let before = machine.debate().0;
    machine.aw(&["server", "backup", "copy.db"]).data();
    let after = machine.debate().0;
    (machine, before, after)
}

fn kill_server(machine: &Machine) {
    let pid = machine.server();
    kill(Pid::from_raw(pid), Signal::SIGKILL).unwrap();
    until("it is gone", || is_gone(pid));
}

fn listed(machine: &Machine) -> Vec<String> {
    let list = machine.aw(&["debate", "list"]).data();
    let all = list["debates"].as_array().unwrap().iter();
    let mut ids: Vec<String> = all.map(|debate| text(&debate["id"])).collect();
    ids.sort();
    ids
}

fn health(machine: &Machine) -> Result<Value, Value> {
    match Client::new(&machine.url(), None).once(&Request::<Value>::get("/health"), Duration::ZERO)
    {
        Ok(health) => Ok(health.json),
        Err(Trouble::Refused(refused)) => Err(refused.json),
        Err(other) => panic!("{other:?}"),
    }
}

/// Every file beside the database, except SQLite's `-shm`, which it rebuilds.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let all = entries.map(|path| (name(&path), fs::read(&path).unwrap()));
    all.filter(|(name, _)| !name.ends_with("-shm")).collect()
}

#[test]
fn a_backup_is_restored_by_the_command_that_backup_prints_and_the_old_files_are_kept() {
    let machine = Machine::fresh();
    let before = machine.debate().0;
    let backup = machine.aw(&["server", "backup", "copy.db"]).answer();
    let line = text(&backup["metadata"]["next_command"]);
    let copy = machine.path("work").join("copy.db");
    assert_eq!(line, format!("aw server restore {}", copy.display()));
    let bytes = fs::read(&copy).unwrap();
    let after = machine.debate().0;

    let refused = machine.sh(&line).refused("INVALID_INPUT", 4);
    assert_eq!(refused["suggestion"], "aw server stop");
    assert_eq!(listed(&machine).len(), 2, "nothing was changed");

    kill_server(&machine);
    let old = files(&machine.data().join("db"));
    assert!(!old["debate.db-wal"].is_empty(), "it left a log behind");
    let restored = machine.sh(&line).answer();
    let data = &restored["content"][0]["data"];
    assert_eq!((&data["debates"], &data["arguments"]), (&json!(1), &json!(1)), "{data}");
    assert_eq!(restored["metadata"]["next_command"], "aw server start");
    assert!(fs::read(&copy).unwrap() == bytes, "the backup was touched");
    assert_eq!(listed(&machine), [before.as_str()]);
    assert_eq!(health(&machine).unwrap()["status"], "ok");

    // The old record is where the answer says, log and all, and can be restored as well.
    let kept = text(&data["kept"]);
    assert!(text(&restored["metadata"]["message"]).contains(&kept), "{restored}");
    assert!(fs::read(&kept).unwrap() == old["debate.db"]);
    assert!(fs::read(format!("{kept}-wal")).unwrap() == old["debate.db-wal"]);
    machine.aw(&["server", "stop"]).data();
    machine.aw(&["server", "restore", &kept]).data();
    let mut both = vec![before, after];
    both.sort();
    assert_eq!(listed(&machine), both);
}

#[test]
fn a_revoked_token_stays_revoked_after_a_restore() {
    let machine = Machine::fresh();
    machine.aw(&["server", "start", "--auth"]).data();
    let token =
        |name| machine.aw(&["token", "create", "--role", "observer", "--name", name]).data();
    let (kept, lost) = (token("kept"), token("lost"));
    machine.aw(&["server", "backup", "copy.db"]).data();
    machine.aw(&["token", "revoke", &text(&lost["token_id"])]).data();
    let list = |machine: &Machine, token: &Value| {
        let mut command = machine.command(&["debate", "list"]);
        command.env("DEBATE_AUTH_TOKEN", text(&token["token"]));
        Going::start(command).end()
    };
    machine.aw(&["server", "stop"]).data();
    let restored = machine.aw(&["server", "restore", "copy.db"]).answer();
    let data = &restored["content"][0]["data"];
    assert_eq!((&data["tokens_valid"], &data["tokens_revoked"]), (&json!(1), &json!(1)), "{data}");
    machine.aw(&["server", "start", "--auth"]).data();
    list(&machine, &kept).data();
    list(&machine, &lost).refused("AUTH_FAILED", 6);

    // Another machine has no record that could have revoked a token.
    let other = Machine::fresh();
    let backup = machine.path("work").join("copy.db");
    let restored = other.aw(&["server", "restore", backup.to_str().unwrap()]).answer();
    assert_eq!(restored["content"][0]["data"]["tokens_valid"], 2);
    let message = text(&restored["metadata"]["message"]);
    for word in ["Valid tokens: 2", "aw token list", "aw token revoke"] {
        assert!(message.contains(word), "{message}");
    }
    other.aw(&["server", "start", "--auth"]).data();
    list(&other, &lost).data();
}

#[test]
fn a_backup_copied_over_the_record_beside_the_old_log_is_noticed_at_the_next_start() {
    let (machine, before, _) = with_backup();
    // A log that is whole, and one that holds only what came after another start.
    for restarted in [false, true] {
        if restarted {
            machine.aw(&["server", "restart"]).data();
            machine.debate();
        }
        kill_server(&machine);
        let database = machine.data().join("db").join("debate.db");
        fs::copy(machine.path("work").join("copy.db"), &database).unwrap();
        let found = files(&machine.data().join("db"));

        machine.aw(&["server", "start"]).data();
        let error = health(&machine).unwrap_err();
        assert_eq!(error["code"], "RECORD_DAMAGED", "{error}");
        assert!(text(&error["suggestion"]).contains("aw server restore"), "{error}");
        let status = machine.aw(&["server", "status"]).data();
        assert!(text(&status["health"]).contains("damaged"), "{status}");
        assert_eq!(machine.aw(&["doctor"]).json()["content"][0]["data"]["healthy"], false);
        let written = ["debate", "create", "--title", "T", "--type", "general_debate", "--content"];
        let refused = machine.aw(&[&written[..], &["hi"]].concat()).refused("RECORD_DAMAGED", 3);
        assert!(text(&refused["suggestion"]).contains("aw server restore"), "{refused}");
        machine.aw(&["server", "stop"]).data();
        assert!(files(&machine.data().join("db")) == found, "somebody wrote to it");

        machine.aw(&["server", "restore", "copy.db"]).data();
        assert_eq!(listed(&machine), [before.as_str()]);
        assert_eq!(health(&machine).unwrap()["status"], "ok");
        machine.debate();
    }
}

#[test]
fn damage_that_is_found_while_the_server_runs_ends_all_writing() {
    let machine = Machine::fresh();
    let (debate, motion) = machine.debate();
    for _ in 0..20 {
        machine.debate();
    }
    machine.aw(&["server", "restart"]).data();
    assert_eq!(health(&machine).unwrap()["status"], "ok");
    // Everything but the first page, behind the server's back.
    let database = machine.data().join("db").join("debate.db");
    let mut file = fs::OpenOptions::new().write(true).open(&database).unwrap();
    let size = usize::try_from(file.metadata().unwrap().len()).unwrap();
    file.seek(SeekFrom::Start(4096)).unwrap();
    file.write_all(&vec![0xa5; size - 4096]).unwrap();

    let read = machine.aw(&["debate", "get-context", "--debate-id", &debate]);
    let error = read.refused("RECORD_DAMAGED", 3);
    assert!(text(&error["suggestion"]).contains("aw server restore"), "{error}");
    let bytes = fs::read(&database).unwrap();
    assert_eq!(health(&machine).unwrap_err()["code"], "RECORD_DAMAGED");
    for _ in 0..2 {
        let written = machine.aw(&[
            "debate",
            "submit",
            "--debate-id",
            &debate,
            "--role",
            "opponent",
            "--target-id",
            &motion,
            "--content",
            "No.",
            "--client-request-id",
            &new_id(),
        ]);
        written.refused("RECORD_DAMAGED", 3);
        assert_eq!(health(&machine).unwrap_err()["code"], "RECORD_DAMAGED");
    }
    machine.aw(&["server", "stop"]).data();
    assert!(fs::read(&database).unwrap() == bytes, "somebody wrote to it");
}

#[test]
fn an_incomplete_backup_is_refused_and_nothing_changes() {
    let (machine, before, after) = with_backup();
    machine.aw(&["server", "stop"]).data();
    let work = machine.path("work");
    fs::write(work.join("notes.db"), "Dear diary, ".repeat(1_000)).unwrap();
    fs::write(work.join("empty.db"), "").unwrap();
    Connection::open(work.join("recipes.db")).unwrap().execute_batch("create table r (x)").unwrap();
    let changed = |name: &str, change: &dyn Fn(&Connection)| {
        fs::copy(work.join("copy.db"), work.join(name)).unwrap();
        change(&Connection::open(work.join(name)).unwrap());
    };
    changed("newer.db", &|db| db.pragma_update(None, "user_version", 999).unwrap());
    let tampered = "drop trigger arguments_never_change; update arguments set content = 'no'";
    changed("tampered.db", &|db| db.execute_batch(tampered).unwrap());
    let mut torn = fs::read(work.join("copy.db")).unwrap();
    torn[8192..].fill(0xa5);
    fs::write(work.join("torn.db"), torn).unwrap();
    let record = machine.data().join("db").join("debate.db");
    let old = files(record.parent().unwrap());

    for (backup, code, word) in [
        ("missing.db", "INVALID_INPUT", "missing.db"),
        (".", "INVALID_INPUT", "not a file"),
        ("notes.db", "INVALID_INPUT", "not a database of aw"),
        ("empty.db", "INVALID_INPUT", "not a database of aw"),
        ("recipes.db", "INVALID_INPUT", "not a database of aw"),
        ("newer.db", "INVALID_INPUT", "newer"),
        ("torn.db", "INVALID_INPUT", "damaged"),
        ("tampered.db", "RECORD_DAMAGED", "damaged"),
        (record.to_str().unwrap(), "INVALID_INPUT", "the record itself"),
    ] {
        let bytes = fs::read(work.join(backup)).ok();
        let ran = machine.aw(&["server", "restore", backup]);
        let error = ran.refused(code, if code == "INVALID_INPUT" { 4 } else { 3 });
        assert!(text(&error["message"]).contains(word), "{backup}: {error}");
        assert!(files(record.parent().unwrap()) == old, "{backup} changed something");
        assert!(fs::read(work.join(backup)).ok() == bytes, "{backup} itself was changed");
    }
    let mut both = vec![before, after];
    both.sort();
    assert_eq!(listed(&machine), both);
    machine.aw(&["server", "stop"]).data();
    let accepted = ["server", "restore", "tampered.db", "--accept-damage"];
    let answer = machine.aw(&accepted).answer();
    assert!(text(&answer["metadata"]["warning"]).contains("damaged"), "{answer}");
}

#[test]
fn a_restore_that_is_killed_at_any_moment_leaves_the_old_record_or_the_new_one() {
    let (machine, before, after) = with_backup();
    let mut both = vec![before.clone(), after];
    both.sort();
    kill_server(&machine);
    let folder = machine.data().join("db");
    let old = files(&folder);
    let mut dice = Dice::new();
    for round in 0..25 {
        fs::remove_dir_all(&folder).unwrap();
        fs::create_dir(&folder).unwrap();
        for (name, bytes) in &old {
            fs::write(folder.join(name), bytes).unwrap();
        }
        let restoring = machine.start(&["server", "restore", "copy.db"]);
        if round == 0 {
            restoring.end().data();
        } else {
            thread::sleep(Duration::from_micros(dice.below(60_000)));
            restoring.signal(Signal::SIGKILL);
            drop(restoring);
        }
        let found = listed(&machine);
        assert!(round > 0 || found.len() == 1, "it was not killed, and restored nothing");
        assert_eq!(health(&machine).unwrap()["status"], "ok");
        assert!(found == both || found == [before.as_str()], "{found:?}");
        machine.aw(&["debate", "verify"]).data();
        machine.aw(&["server", "stop"]).data();
        let left: Vec<String> = files(&folder).into_keys().collect();
        assert!(
            left.iter().all(|name| !name.contains("restor") || name.contains("before")),
            "{left:?}"
        );
    }
}
