//! The guards of the schema, and files that must not be opened.

use std::fs;

use aw_record::{OpenError, Store, StoreOptions};
use rusqlite::Connection;

use crate::old_schemas::MIGRATIONS;
use crate::world::World;

/// A closed record with one debate, and a connection to its file.
async fn with_a_debate() -> (World, Connection) {
    let world = World::in_file();
    world.opens("T").await;
    world.engine.close().await;
    let db = Connection::open(&world.path).unwrap();
    (world, db)
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
async fn the_schema_refuses_gaps_duplicates_and_broken_chains() {
    let (_world, db) = with_a_debate().await;
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
        ("a role that the protocol does not know", &[("role", "'judge'")]),
        ("a move that the protocol does not know", &[("type", "'OBJECTION'")]),
        ("a verdict on something that is not a ruling", &[("close", "1")]),
        ("a ruling without a verdict", &[("type", "'RULING'"), ("role", "'arbitrator'")]),
    ] {
        assert!(insert(&db, replaced).is_err(), "{what} was accepted");
    }
    assert_eq!(insert(&db, &[]).unwrap(), 1, "a correct row is accepted");
}

#[tokio::test]
async fn the_schema_refuses_changes_of_arguments() {
    let (_world, db) = with_a_debate().await;
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
    let (world, db) = with_a_debate().await;
    db.pragma_update(None, "journal_mode", "delete").unwrap();
    db.pragma_update(None, "user_version", 999).unwrap();
    drop(db);
    let path = world.path.clone();
    drop(world.engine);
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
fn only_one_server_at_a_time_opens_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions::at(folder.path().join("debate.db"));
    let first = Store::open(&options).unwrap();
    assert!(matches!(Store::open(&options).unwrap_err(), OpenError::InUse { .. }));
    drop(first);
    Store::open(&options).unwrap();
}

#[test]
fn an_interrupted_first_migration_starts_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("debate.db");
    let db = Connection::open(folder.path().join("half.db")).unwrap();
    // The cache is so small that the uncommitted change is on the disk with its journal.
    db.execute_batch(
        "pragma cache_size = 1; begin; pragma application_id = 0x61776462; create table half (x);
         insert into half with recursive n(x) as (select 1 union all select x + 1 from n limit 500)
         select randomblob(2000) from n;",
    )
    .unwrap();
    for (from, to) in [("half.db", "debate.db"), ("half.db-journal", "debate.db-journal")] {
        fs::copy(folder.path().join(from), folder.path().join(to)).unwrap();
    }
    assert!(fs::metadata(&path).unwrap().len() > 500_000, "the change is on the disk");
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
