//! The log (`-wal`) that a killed server left beside its database.
//!
//! SQLite applies the log to any file with the database's name, so it would ruin a file that replaced
//! the database meanwhile. Therefore each database has a number, which the lock file repeats: the log
//! belongs to the file with that number. A copy made by `backup` has none.

use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, OptionalExtension};
use uuid::Uuid;

use super::condition::{Depth, examine};
use super::{beside, connection};
use crate::Fault;

/// Checks a database with a left log and returns the damage, if any. Changes neither file.
pub(super) fn damage(path: &Path, lock: &fs::File) -> Option<String> {
    if !is_left(path) {
        return None;
    }
    // A file that cannot be read without its log proves nothing.
    if let (Some(of_log), Ok(of_file)) = (noted(lock), number_without_log(path))
        && of_file != Some(of_log)
    {
        return Some(
            "another file has replaced it, but the log (-wal) of the old file is still beside it"
                .to_owned(),
        );
    }
    tracing::info!("a log was left behind: checking the database");
    // Nobody has the database open yet, so this handle may be closed again.
    let Ok(file) = fs::File::open(path) else { return None };
    match examine(path, &file, Depth::Pages) {
        Err(Fault::Corrupt(what)) => Some(what),
        // Any other error shows when the database is opened.
        Ok(()) | Err(_) => None,
    }
}

/// A connection that reads a database which nobody has open, with its left log, and changes neither.
pub(super) fn read(path: &Path) -> rusqlite::Result<Connection> {
    if is_left(path) { connection::examiner(path) } else { without_log(path) }
}

fn is_left(path: &Path) -> bool {
    fs::metadata(beside(path, "-wal")).is_ok_and(|log| log.len() > 0)
}

/// Gives the database a number, if it has none, and writes it to the lock file.
pub(super) fn note(path: &Path, lock: &fs::File) -> Result<(), rusqlite::Error> {
    // A file that was cut off during a checkpoint cannot be read without its log.
    if !matches!(number_without_log(path), Ok(Some(_))) {
        let db = connection::writer(path)?;
        let number = Uuid::now_v7().as_u64_pair().1.cast_signed();
        db.execute("insert or ignore into meta (name, value) values ('file', ?1)", [number])?;
        // Into the file itself, where it is readable without the log.
        db.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(()))?;
    }
    // A reader may have prevented the checkpoint; then the next start writes it.
    let number = number_without_log(path).ok().flatten();
    if number != noted(lock) {
        let text = number.map_or_else(String::new, |number| number.to_string());
        if let Err(error) = write(lock, &text) {
            tracing::warn!(%error, "the lock file of the database could not be written");
        }
    }
    Ok(())
}

/// Removes the number from a copy.
pub(super) fn forget(copy: &Connection) -> rusqlite::Result<()> {
    copy.execute("delete from meta where name = 'file'", []).map(drop)
}

/// Whether SQLite says that the file is damaged.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    matches!(error.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
}

/// The number in the file itself, ignoring the log.
fn number_without_log(path: &Path) -> rusqlite::Result<Option<i64>> {
    let db = without_log(path)?;
    db.query_row("select value from meta where name = 'file'", [], |row| row.get(0)).optional()
}

/// A connection that reads the file itself, ignores the log, and makes no file. Nobody may write.
fn without_log(path: &Path) -> rusqlite::Result<Connection> {
    let mut uri = b"file:".to_vec();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'%' | b'?' | b'#' => uri.extend(format!("%{byte:02x}").bytes()),
            byte => uri.push(*byte),
        }
    }
    uri.extend(b"?immutable=1");
    let uri = PathBuf::from(std::ffi::OsString::from_vec(uri));
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_URI);
    Connection::open_with_flags(uri, flags)
}

/// The number that the lock file repeats.
fn noted(mut lock: &fs::File) -> Option<i64> {
    let mut text = String::new();
    lock.seek(SeekFrom::Start(0)).ok()?;
    lock.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

fn write(mut lock: &fs::File, text: &str) -> std::io::Result<()> {
    lock.set_len(0)?;
    lock.seek(SeekFrom::Start(0))?;
    lock.write_all(text.as_bytes())?;
    lock.sync_all()
}
