//! Opens connections to SQLite.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

/// The connection that writes.
pub(super) fn writer(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);
    let db = Connection::open_with_flags(path, flags)?;
    prepare(&db)?;
    // In WAL mode anything less than FULL loses acknowledged writes in a power cut.
    db.pragma_update(None, "journal_mode", "wal")?;
    db.pragma_update(None, "synchronous", "full")?;
    db.pragma_update(None, "foreign_keys", true)?;
    db.pragma_update(None, "wal_autocheckpoint", 10_000)?;
    db.pragma_update(None, "journal_size_limit", 64 * 1024 * 1024)?;
    db.pragma_update(None, "cache_size", -8_000)?;
    // What a request must undo if it is refused: in a file, it costs as much as the commit.
    db.pragma_update(None, "temp_store", "memory")?;
    Ok(db)
}

/// Keeps SQLite from checkpointing the log when this connection closes.
pub(super) fn keep_log(db: &Connection) -> rusqlite::Result<()> {
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map(drop)
}

/// A connection that can only read.
pub(super) fn reader(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);
    let db = Connection::open_with_flags(path, flags)?;
    prepare(&db)?;
    Ok(db)
}

/// A connection that checks the database and changes neither it nor its log. It is opened for writing,
/// because SQLite ignores `check` constraints on a read-only connection.
pub(super) fn examiner(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);
    let db = Connection::open_with_flags(path, flags)?;
    prepare(&db)?;
    keep_log(&db)?;
    db.pragma_update(None, "query_only", true)?;
    Ok(db)
}

/// Sets what every connection needs.
pub(super) fn prepare(db: &Connection) -> rusqlite::Result<()> {
    db.busy_timeout(Duration::from_secs(5))?;
    // Otherwise SQLite recompiles a statement whenever a range parameter is bound.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    db.set_prepared_statement_cache_capacity(64);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_syncs_commits_and_bounds_its_log_and_memory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("debate.db");
        std::fs::File::create(&path).unwrap();
        let db = writer(&path).unwrap();
        let pragma = |name| db.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap();
        let mode: String = db.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
        assert_eq!((mode.as_str(), pragma("synchronous")), ("wal", 2), "2 is FULL");
        assert_eq!(pragma("foreign_keys"), 1);
        // In pages, in bytes, and in KiB, which SQLite marks with a minus.
        assert_eq!(pragma("wal_autocheckpoint"), 10_000);
        assert_eq!(pragma("journal_size_limit"), 67_108_864);
        assert_eq!(pragma("cache_size"), -8_000);
        assert_eq!(pragma("temp_store"), 2, "2 is memory");
        assert!(reader(&path).unwrap().execute_batch("create table notes (x)").is_err());
    }
}
