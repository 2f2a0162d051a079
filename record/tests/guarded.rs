//! What must always hold is held by the schema too, whatever the code does.

use std::fs;

use aw_core::{Content, DebateType, Time, Title, Via};
use aw_record::{Ask, Clock, Engine, OpenError, Request, Store, StoreOptions};
use rusqlite::Connection;
use tempfile::TempDir;
use uuid::Uuid;

use crate::schemas::MIGRATIONS;

async fn with_a_debate() -> (TempDir, Connection) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("debate.db");
    let store = Store::open(&StoreOptions::at(&path)).unwrap();
    let engine = Engine::new(store, Clock::new(|| Time(1)));
    let request = Request {
        debate: Uuid::from_u128(1).into(),
        id: Uuid::from_u128(2).into(),
        author: None,
        via: Via::Api,
        seat: None,
        ask: Ask::Open {
            title: Title::recorded("T".to_owned()),
            debate_type: DebateType::recorded("general_debate".to_owned()),
            texts: None,
            policy: aw_core::ResolutionPolicy::Auto,
            motion: Content::recorded("M".to_owned()),
        },
    };
    engine.execute(request).await.unwrap();
    engine.close().await;
    drop(engine);
    (folder, Connection::open(path).unwrap())
}

/// Copies the MOTION with some columns replaced.
fn insert(db: &Connection, replaced: &[(&str, &str)]) -> rusqlite::Result<usize> {
    let columns = [
        "debate_key",
        "seq",
        "id",
        "type",
        "role",
        "close",
        "automatic",
        "via",
        "client_request_id",
        "created_at",
        "proposer_count",
        "opponent_count",
        "previous_hash",
        "hash",
        "content",
    ];
    let usual = [
        ("seq", "2"),
        ("id", "randomblob(16)"),
        ("type", "'CLAIM'"),
        ("client_request_id", "randomblob(16)"),
        ("previous_hash", "hash"),
        ("hash", "randomblob(32)"),
    ];
    let values: Vec<&str> = columns
        .iter()
        .map(|column| {
            let mut all = replaced.iter().chain(&usual);
            all.find(|(name, _)| name == column).map_or(*column, |(_, value)| *value)
        })
        .collect();
    let (columns, values) = (columns.join(", "), values.join(", "));
    db.execute(
        &format!("insert into arguments ({columns}) select {values} from arguments where seq = 1"),
        [],
    )
}

#[tokio::test]
async fn the_schema_keeps_order_uniqueness_and_the_chain() {
    let (_folder, db) = with_a_debate().await;
    for (what, replaced) in [
        ("a gap", &[("seq", "3")][..]),
        (
            "a place taken twice",
            &[("seq", "1"), ("type", "'MOTION'"), ("previous_hash", "zeroblob(32)")],
        ),
        ("a request written twice", &[("client_request_id", "client_request_id")]),
        ("a chain that does not link", &[("previous_hash", "randomblob(32)")]),
        ("time that runs backwards", &[("created_at", "created_at - 1")]),
        ("a second motion", &[("type", "'MOTION'")]),
        ("a word that the protocol does not know", &[("role", "'judge'")]),
        ("a verdict on something that is not a ruling", &[("close", "1")]),
        ("a ruling without a verdict", &[("type", "'RULING'"), ("role", "'arbitrator'")]),
    ] {
        assert!(insert(&db, replaced).is_err(), "{what} was accepted");
    }
    assert_eq!(insert(&db, &[]).unwrap(), 1, "what is right is accepted");
}

#[tokio::test]
async fn history_is_only_ever_added_to() {
    let (_folder, db) = with_a_debate().await;
    for change in [
        "update arguments set content = 'x'",
        "update arguments set seq = 9",
        "delete from arguments",
    ] {
        let refused = db.execute_batch(change).unwrap_err();
        assert!(refused.to_string().contains("never"), "{change}: {refused}");
    }
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_refused_and_left_untouched() {
    let (folder, db) = with_a_debate().await;
    db.pragma_update(None, "journal_mode", "delete").unwrap();
    db.pragma_update(None, "user_version", 999).unwrap();
    drop(db);
    let path = folder.path().join("debate.db");
    let before = fs::read(&path).unwrap();
    let refused = Store::open(&StoreOptions::at(&path)).unwrap_err();
    let OpenError::Newer { found, known, .. } = refused else { panic!("{refused}") };
    assert_eq!((found, known), (999, MIGRATIONS.len() as i64));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_file_of_another_program_is_refused_and_left_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("other.db");
    Connection::open(&database).unwrap().execute_batch("create table notes (x)").unwrap();
    let text = folder.path().join("notes.txt");
    fs::write(&text, "Not a database, but long enough to look like one. ".repeat(30)).unwrap();
    for path in [database, text] {
        let before = fs::read(&path).unwrap();
        let refused = Store::open(&StoreOptions::at(&path)).unwrap_err();
        assert!(matches!(refused, OpenError::Foreign { .. }), "{refused}");
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}

#[test]
fn one_server_at_a_time_has_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions::at(folder.path().join("debate.db"));
    let first = Store::open(&options).unwrap();
    assert!(matches!(Store::open(&options).unwrap_err(), OpenError::InUse { .. }));
    drop(first);
    Store::open(&options).unwrap();
}

#[test]
fn a_database_whose_first_migration_was_cut_short_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("debate.db");
    let db = Connection::open(folder.path().join("half.db")).unwrap();
    // So small a cache that the change is on the disk, with its journal, before it is committed.
    db.execute_batch(
        "pragma cache_size = 1; begin; pragma application_id = 0x61776462; create table half (x);
         insert into half with recursive n(x) as (select 1 union all select x + 1 from n limit 500)
         select randomblob(2000) from n;",
    )
    .unwrap();
    for (from, to) in [("half.db", "debate.db"), ("half.db-journal", "debate.db-journal")] {
        fs::copy(folder.path().join(from), folder.path().join(to)).unwrap();
    }
    assert!(fs::metadata(&path).unwrap().len() > 500_000, "nothing was written yet");
    drop(Store::open(&StoreOptions::at(&path)).unwrap());
    let tables: Vec<String> = Connection::open(&path)
        .unwrap()
        .prepare("select name from sqlite_schema where name in ('half', 'debates')")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(tables, ["debates"]);
}
