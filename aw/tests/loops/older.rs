//! The older system on the same machine: its data, settings and server.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use rusqlite::Connection;
use serde_json::{Value, json};

use super::fakes::{Fake, envelope};
use super::machine::{Machine, Ran};
use crate::world::text;

const MOTION: &str = "aaaaaaaa-aaaa-4aaa-8aaa-000000000001";

/// Its database, with one debate that waits for the opponent.
fn older_debate(path: &Path, id: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let db = Connection::open(path).unwrap();
    db.pragma_update(None, "journal_mode", "wal").unwrap();
    db.execute_batch(
        "create table if not exists debates (
             id text not null primary key, title text not null, debate_type text not null,
             state text not null, created_at text not null, updated_at text not null
         );
         create table if not exists arguments (
             id text not null primary key, debate_id text not null, parent_id text,
             type text not null, role text not null, content text not null,
             client_request_id text, seq integer not null, created_at text not null
         );",
    )
    .unwrap();
    let at = "2026-02-07 05:32:50";
    let sql = "insert into debates values (?1, 'An old one', 'general_debate', 'AWAITING_OPPONENT', ?2, ?2)";
    db.execute(sql, [id, at]).unwrap();
    let sql = "insert into arguments values (?1, ?2, null, 'MOTION', 'proposer', 'x', 'r', 1, ?3)";
    db.execute(sql, [MOTION, id, at]).unwrap();
}

/// A document as its `aw docs create` writes it.
fn older_document(path: &Path, id: &str) {
    let db = Connection::open(path).unwrap();
    db.execute_batch(
        "create table if not exists document_versions (
             id text primary key, document_id text not null, summary text not null,
             content text not null, version integer not null, metadata text default '{}',
             created_at text not null, deleted_at text default null, unique (document_id, version)
         );",
    )
    .unwrap();
    let sql =
        "insert into document_versions (id, document_id, summary, content, version, created_at)
         values (?1, ?1, 'Plan', 'Old words', 1, '2026-02-07T05:30:00.000Z')";
    db.execute(sql, [id]).unwrap();
}

fn database(machine: &Machine) -> std::path::PathBuf {
    machine.data().join("db").join("debate.db")
}

fn checks(doctor: &Ran, name: &str) -> Vec<Value> {
    let checks = doctor.json()["content"][0]["data"]["checks"].take();
    checks.as_array().unwrap().iter().filter(|check| check["name"] == name).cloned().collect()
}

#[test]
fn an_older_debate_is_found_by_its_older_id() {
    let machine = Machine::fresh();
    older_debate(&database(&machine), "my-debate-1");
    let found = machine.aw(&["debate", "list", "--search", "my-debate-1"]).data();
    let id = text(&found["debates"][0]["id"]);
    assert_eq!(found["debates"].as_array().unwrap().len(), 1, "{found}");
    for name in ["my-debate-1", &id] {
        let context = machine.aw(&["debate", "get-context", "--debate-id", name]).data();
        assert_eq!(context["debate"]["id"], id.as_str());
        let wait = ["debate", "wait", "--debate-id", name, "--role", "opponent"];
        assert_eq!(machine.aw(&wait).data()["argument"]["id"], MOTION);
        let page = ureq::get(format!("{}/debate/{name}", machine.url())).call().unwrap();
        assert_eq!(page.status(), 200);
    }
    let submit = |name: &str| {
        let line = ["debate", "submit", "--debate-id", name, "--role", "opponent"];
        machine.aw(&[&line[..], &["--target-id", MOTION, "--content", "No."]].concat()).data()
    };
    let first = submit("my-debate-1");
    assert_eq!(submit(&id)["argument_id"], first["argument_id"], "a retry under either name");
    let export = machine.aw(&["debate", "export", "--debate-id", "my-debate-1"]);
    assert!(export.out.contains("An old one"), "{export:?}");
    let verified = machine.aw(&["debate", "verify", "--debate-id", "my-debate-1"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
    let unknown = machine.aw(&["debate", "get-context", "--debate-id", "my-debate-2"]);
    unknown.refused("DEBATE_NOT_FOUND", 2);
    let invite = ["debate", "invite", "--debate-id", "my-debate-1", "--role", "opponent"];
    assert_eq!(machine.aw(&invite).code, Some(0));
}

#[test]
fn nothing_is_imported_while_somebody_has_its_database_open() {
    let machine = Machine::fresh();
    let path = database(&machine);
    older_debate(&path, MOTION);
    let mut older = Command::new("sleep")
        .arg("600")
        .stdin(File::open(&path).unwrap())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let refused = machine.aw(&["debate", "list"]).refused("CONNECTION_ERROR", 3);
    let doctor = machine.aw(&["doctor"]);
    older.kill().unwrap();
    older.wait().unwrap();
    assert!(
        text(&refused["message"]).contains("stop the older server, then run this again"),
        "{refused}"
    );
    let said = checks(&doctor, "older system");
    assert_eq!((said[0]["status"].as_str(), doctor.code), (Some("failed"), Some(3)), "{doctor:?}");
    assert!(text(&said[0]["message"]).contains("sleep (pid "), "{doctor:?}");
    assert_eq!(machine.aw(&["debate", "list"]).answer()["total_count"], 1);
}

#[test]
fn the_doctor_tries_the_import_and_leaves_nothing() {
    let machine = Machine::fresh();
    let path = database(&machine);
    older_debate(&path, MOTION);
    fs::set_permissions(machine.data(), std::os::unix::fs::PermissionsExt::from_mode(0o700))
        .unwrap();
    let all = || {
        let mut names: Vec<_> = fs::read_dir(path.parent().unwrap())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        (names, fs::read(&path).unwrap())
    };
    let before = all();
    let doctor = machine.aw(&["doctor"]);
    let said = checks(&doctor, "older system");
    assert_eq!(said[0]["status"], "ok", "{doctor:?}");
    assert!(text(&said[0]["message"]).contains("tried and works"), "{doctor:?}");
    assert!(all() == before);

    let db = Connection::open(&path).unwrap();
    db.execute("update arguments set type = 'SHOUT'", []).unwrap();
    drop(db);
    let doctor = machine.aw(&["doctor"]);
    let said = checks(&doctor, "older system");
    assert_eq!((said[0]["status"].as_str(), doctor.code), (Some("failed"), Some(3)), "{doctor:?}");
    assert!(text(&said[0]["message"]).contains("SHOUT"), "{doctor:?}");
    assert_eq!(machine.processes(), [], "the doctor starts nothing");
}

#[test]
fn the_doctor_tries_the_import_into_the_database_of_the_last_start() {
    let machine = Machine::fresh();
    let other = machine.path("work").join("other.db");
    let other = other.to_str().unwrap();
    let machine = machine.with("AW_DATABASE_URL", other);
    machine.aw(&["server", "start"]).data();
    machine.aw(&["server", "stop"]).data();
    let machine = machine.with("AW_DATABASE_URL", "");
    older_debate(&database(&machine), MOTION);
    assert_eq!(checks(&machine.aw(&["doctor"]), "older system"), Vec::<Value>::new());
    fs::remove_file(other).unwrap();
    older_debate(Path::new(other), MOTION);
    let said = checks(&machine.aw(&["doctor"]), "older system");
    assert!(text(&said[0]["message"]).starts_with(other), "{said:?}");
}

#[test]
fn older_documents_are_found_and_the_doctor_names_new_ones() {
    let machine = Machine::fresh();
    machine.aw(&["server", "start"]).data();
    let docstore = machine.data().join("docstore.db");
    let document = "0c5a44a3-42f6-4787-aa53-c5963099fa65";
    older_document(&docstore, document);
    let said = checks(&machine.aw(&["doctor"]), "older system");
    assert_eq!(said[0]["status"], "warning", "{said:?}");
    assert!(text(&said[0]["message"]).contains("1 version of a document"), "{said:?}");
    machine.aw(&["docs", "get", document]).refused("DOCUMENT_NOT_FOUND", 2);
    let content = format!("See document_id={document}.");
    let create = ["debate", "create", "--title", "T", "--type", "general_debate"];
    machine.aw(&[&create[..], &["--content", &content]].concat()).data();
    assert_eq!(machine.aw(&["docs", "get", document]).data()["content"], "Old words");
    assert_eq!(checks(&machine.aw(&["doctor"]), "older system"), Vec::<Value>::new());

    let later = "0c5a44a3-42f6-4787-aa53-c5963099fa66";
    older_document(&docstore, later);
    machine.aw(&["server", "restart"]).data();
    assert_eq!(machine.aw(&["docs", "get", later]).data()["content"], "Old words");
    // What cannot be read is named, and keeps nobody from anything.
    fs::write(&docstore, "not a database at all").unwrap();
    machine.aw(&["server", "restart"]).data();
    let said = checks(&machine.aw(&["doctor"]), "older system");
    assert_eq!(said[0]["status"], "warning", "{said:?}");
    assert!(text(&said[0]["message"]).contains("docstore.db"), "{said:?}");
}

#[test]
fn older_settings_are_applied_or_reported() {
    let machine = Machine::fresh();
    let elsewhere = machine.path("work").join("old.db");
    older_debate(&elsewhere, MOTION);
    let document = "0c5a44a3-42f6-4787-aa53-c5963099fa65";
    let docstore = machine.path("work").join("papers.db");
    older_document(&docstore, document);
    let machine = machine
        .with("DEBATE_DB_DIR", elsewhere.parent().unwrap().to_str().unwrap())
        .with("DEBATE_DB_NAME", "old.db")
        .with("AWEAVE_DB_PATH", docstore.to_str().unwrap())
        .with("SERVER_PORT", "1")
        .with("DEBATE_AUTO_START", "false");
    let refused = machine.aw(&["debate", "list"]).refused("CONNECTION_ERROR", 3);
    assert_eq!(refused["suggestion"], "aw server start");
    let started = machine.aw(&["server", "start"]).answer();
    let warning = text(&started["metadata"]["warning"]);
    assert!(warning.contains("SERVER_PORT=1") && warning.contains("AW_LISTEN"), "{started}");
    assert_eq!(machine.aw(&["debate", "list"]).answer()["total_count"], 1);
    assert_eq!(machine.aw(&["docs", "get", document]).data()["content"], "Old words");
    let said = checks(&machine.aw(&["doctor"]), "older system");
    assert!(text(&said[0]["message"]).contains("SERVER_PORT=1"), "{said:?}");
    assert!(machine.data().join("logs").join("server.log").exists());
    let log = fs::read_to_string(machine.data().join("logs").join("server.log")).unwrap();
    assert!(log.contains("SERVER_PORT=1"), "{log}");
}

#[test]
fn an_older_server_on_our_port_is_recognised_and_the_advice_works() {
    let machine = Machine::fresh();
    let health = envelope("200 OK", "", &json!({"success": true, "data": {"status": "ok"}}));
    let _older = Fake::at(TcpListener::bind(&machine.listen).unwrap(), move |_, _| health.clone());
    let refused = machine.aw(&["debate", "list"]).refused("CONNECTION_ERROR", 3);
    assert!(text(&refused["message"]).contains("the server of the older system"), "{refused}");
    let suggestion = text(&refused["suggestion"]);
    for words in ["Stop the older server", "DEBATE_SERVER_URL=http://", "AW_LISTEN", "AWEAVE_HOME"]
    {
        assert!(suggestion.contains(words), "{suggestion}");
    }
    let served = machine.aw(&["serve"]);
    assert_eq!(served.code, Some(3), "{served:?}");
    assert!(served.err.contains("the server of the older system: stop it"), "{served:?}");
    let said = checks(&machine.aw(&["doctor"]), "server");
    assert!(text(&said[0]["message"]).contains("older system"), "{said:?}");
}
