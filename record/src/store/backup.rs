//! Copies the database while a server writes to it.

use std::fs;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use super::{OpenError, connection, left_log, restore};

/// How many pages are copied at a time.
const PAGES: i32 = 2_000;

/// Copies the database to a file that does not exist yet, checks the copy, and returns its size.
///
/// One transaction reads all of it, so the copy is one snapshot.
pub fn backup(
    database: &Path,
    copy: &Path,
    mut progress: impl FnMut(u64, u64),
) -> Result<u64, OpenError> {
    let io = |source| OpenError::Io { path: copy.to_owned(), source };
    let sqlite = |source| OpenError::Sqlite { path: copy.to_owned(), source };
    if restore::is_unfinished(database) {
        return Err(OpenError::HalfRestored { path: database.to_owned() });
    }
    let mut private = fs::OpenOptions::new();
    private.write(true).create_new(true).mode(0o600).open(copy).map_err(io)?;
    let mut copied = || -> rusqlite::Result<String> {
        let from = connection::reader(database)?;
        // With a snapshot, the copy does not start over after each write.
        let snapshot = from.unchecked_transaction()?;
        snapshot.query_row("select count(*) from meta", [], |row| row.get::<_, i64>(0))?;
        let mut to = Connection::open_with_flags(copy, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        {
            let backup = Backup::new(&snapshot, &mut to)?;
            while backup.step(PAGES)? != StepResult::Done {
                let at = backup.progress();
                let number = |pages: i32| u64::try_from(pages).unwrap_or(0);
                progress(number(at.pagecount - at.remaining), number(at.pagecount));
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        to.pragma_update(None, "journal_mode", "delete")?;
        left_log::forget(&to)?;
        to.query_row("pragma integrity_check(1)", [], |row| row.get(0))
    };
    let verdict = copied().inspect_err(|_| discard(copy)).map_err(sqlite)?;
    if verdict != "ok" {
        discard(copy);
        let problems = vec![verdict];
        return Err(OpenError::Unreadable { path: database.to_owned(), problems });
    }
    let file = fs::File::open(copy).map_err(io)?;
    file.sync_all().map_err(io)?;
    Ok(file.metadata().map_err(io)?.len())
}

fn discard(copy: &Path) {
    if let Err(error) = fs::remove_file(copy) {
        tracing::warn!(%error, copy = %copy.display(), "a broken copy could not be removed");
    }
}
