//! Verification: it finds every change of the file, and accepts an unchanged one.

mod cells;
mod shapes;
mod tampered;
mod whole;

use std::path::Path;

use aw_core::Time;
use aw_record::{Clock, Engine, Store, StoreOptions, VerifiedPiece};
use rusqlite::Connection;

/// Opens the record at this path.
fn open(path: &Path) -> Engine {
    let store = Store::open(&StoreOptions::at(path)).unwrap();
    Engine::new(store, Clock::new(|| Time(1_772_000_000_000)))
}

/// Verifies the whole record.
async fn walk(engine: &Engine) -> VerifiedPiece {
    let mut all = engine.verify_on(None).await.unwrap();
    while let Some(mark) = all.next {
        let mut piece = engine.verify_on(Some(mark)).await.unwrap();
        all.debates += piece.debates;
        all.arguments += piece.arguments;
        all.documents += piece.documents;
        all.versions += piece.versions;
        all.damages.append(&mut piece.damages);
        (all.left, all.next) = (piece.left, piece.next);
    }
    all
}

/// A connection without triggers, checks and foreign keys.
pub(crate) fn burglar(path: &Path) -> Connection {
    let db = Connection::open(path).unwrap();
    for pragma in ["foreign_keys = off", "ignore_check_constraints = on", "synchronous = off"] {
        db.execute_batch(&format!("pragma {pragma}")).unwrap();
    }
    let triggers: Vec<String> = db
        .prepare("select name from sqlite_schema where type = 'trigger'")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    for trigger in triggers {
        db.execute_batch(&format!("drop trigger {trigger}")).unwrap();
    }
    db
}
