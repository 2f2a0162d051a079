//! Databases of the older system with any values.

use std::fs;
use std::path::Path;

use aw_core::Time;
use aw_record::{Clock, Engine, Filter, OpenError, Store, StoreOptions};
use rusqlite::Connection;
use rusqlite::types::Value;
use tokio::runtime::Builder;

use crate::scene::folder;

/// The tables of the older system without their constraints.
const DEBATES: &str = "
    create table debates (
        id text not null primary key, title text not null, debate_type text not null,
        state text not null, created_at text not null, updated_at text not null
    );
    create table arguments (
        id text not null primary key, debate_id text not null, parent_id text, type text not null,
        role text not null, content text not null, client_request_id text, seq integer not null,
        created_at text not null
    );
    create unique index places on arguments (debate_id, seq);
    create unique index requests on arguments (debate_id, client_request_id);
";

const DOCUMENTS: &str = "
    create table document_versions (
        id text primary key, document_id text not null, summary text not null,
        content text not null, version integer not null, metadata text, created_at text not null,
        deleted_at text, unique (document_id, version)
    );
";

/// Any values in the tables of the older system: each line is a row, its first letter the table, its
/// columns separated by tabs. The column `-` is null, and digits are a number.
///
/// - It is imported completely and passes verification; or it is refused with a message, and the files
///   are unchanged.
pub fn legacy(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let folder = folder();
    let path = folder.path().join("debate.db");
    let documents = folder.path().join("docstore.db");
    let mut debates = 0;
    {
        let db = made(&path, DEBATES);
        let beside = made(&documents, DOCUMENTS);
        for line in text.lines().take(40) {
            let Some((table, columns)) = line.split_once('\t') else { continue };
            let row: Vec<Value> = columns.split('\t').map(column).collect();
            let (db, sql) = match (table, row.len()) {
                ("d", 6) => (&db, "insert into debates values (?,?,?,?,?,?)"),
                ("a", 9) => (&db, "insert into arguments values (?,?,?,?,?,?,?,?,?)"),
                ("v", 8) => (&beside, "insert into document_versions values (?,?,?,?,?,?,?,?)"),
                _ => continue,
            };
            // Rows that the tables refuse are skipped.
            let taken = db.execute(sql, rusqlite::params_from_iter(row)).is_ok();
            debates += u64::from(taken && table == "d");
        }
    }
    let bytes = || [&path, &documents].map(|path| fs::read(path).expect("it was made"));
    let before = (bytes(), rows(&path, &documents));
    match Store::open(&StoreOptions::at(&path)) {
        Err(refused @ OpenError::Unreadable { .. }) => {
            assert_eq!(bytes(), before.0, "{refused}");
        }
        Err(refused @ OpenError::Unfinished { .. }) => {
            assert_eq!(rows(&path, &documents), before.1, "{refused}");
        }
        Err(other) => panic!("it is neither taken nor refused: {other}"),
        Ok(store) => {
            let runtime = Builder::new_current_thread().enable_all().build().expect("it is made");
            runtime.block_on(async {
                let engine = Engine::new(store, Clock::new(|| Time(1_767_225_600_000)));
                let all = Filter { limit: 1, ..Filter::default() };
                let listed = engine.list(&all).await.expect("they are listed");
                assert_eq!(listed.total, debates);
                let mut mark = None;
                loop {
                    let piece = engine.verify_on(mark).await.expect("the record can be read");
                    assert!(piece.damages.is_empty(), "{piece:?}");
                    mark = piece.next;
                    if mark.is_none() {
                        break;
                    }
                }
                engine.close().await;
            });
        }
    }
}

/// All rows of the tables.
fn rows(path: &Path, documents: &Path) -> Vec<Vec<Value>> {
    let mut all = Vec::new();
    for (path, table) in [(path, "debates"), (path, "arguments"), (documents, "document_versions")]
    {
        let db = Connection::open(path).expect("it can be opened");
        let mut select = db.prepare(&format!("select * from {table}")).expect("it has its tables");
        let columns = select.column_count();
        let mut rows = select.query([]).expect("it can be read");
        while let Some(row) = rows.next().expect("it can be read") {
            all.push((0..columns).map(|at| row.get(at).expect("any value will do")).collect());
        }
    }
    all
}

fn made(path: &Path, tables: &str) -> Connection {
    let db = Connection::open(path).expect("a database is made");
    db.pragma_update(None, "foreign_keys", false).expect("SQLite takes it");
    db.execute_batch(tables).expect("its tables are made");
    db
}

fn column(text: &str) -> Value {
    match text {
        "-" => Value::Null,
        text => match text.parse() {
            Ok(number) => Value::Integer(number),
            Err(_) => Value::Text(text.replace("\\n", "\n")),
        },
    }
}
