//! An open SQLite file: its lock, its readers and its writer.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;

use super::condition::Condition;
use super::db::Db;
use super::legacy::Docstore;
use super::writer::Writer;
use super::{
    OpenError, StoreOptions, beside, connection, left_log, migrate, purge, restore, transfer,
};
use crate::Failure;

/// How many idle connections are kept.
const READERS: usize = 8;

/// An open SQLite file.
#[derive(Debug)]
pub(super) struct SqliteFile {
    path: PathBuf,
    pub(super) docstores: Vec<Docstore>,
    readers: Mutex<Vec<Connection>>,
    pub(super) writer: Writer,
    /// Held while the store is open: a second server would not hear this one's bell.
    _lock: fs::File,
}

impl SqliteFile {
    /// Opens the file. A damaged file is opened read-only, so that a user without a backup can still
    /// export the readable rest.
    pub(super) fn open(
        path: &Path,
        options: &StoreOptions,
    ) -> Result<(Self, Condition), OpenError> {
        let io = |source| OpenError::Io { path: path.to_owned(), source };
        let sqlite = |source| OpenError::of_sqlite(path, source);
        let lock = make(path).map_err(io)?;
        if lock.try_lock().is_err() {
            return Err(OpenError::InUse { path: path.to_owned() });
        }
        restore::finish(path).map_err(io)?;
        let condition = Condition::found(left_log::damage(path, &lock));
        let docstores: Vec<Docstore> =
            options.docstores.iter().cloned().map(Docstore::at).collect();
        match condition.check() {
            Ok(()) => migrate::bring_up_to_date(path, &docstores)?,
            // A damaged file that needs a migration is not opened.
            Err(damage) => migrate::must_be_up_to_date(path).map_err(|error| match error {
                OpenError::Older { .. } => {
                    OpenError::Damaged { path: path.to_owned(), what: damage.to_string() }
                }
                other => other,
            })?,
        }
        close_to_others(path).map_err(io)?;
        let reader = connection::reader(path).map_err(sqlite)?;
        if !options.half_moved && transfer::is_half_moved(&Db::Sqlite(&reader)).unwrap_or(false) {
            return Err(OpenError::HalfMoved { place: path.display().to_string() });
        }
        if condition.check().is_ok() {
            left_log::note(path, &lock).map_err(sqlite)?;
        }
        let file = fs::File::open(path).map_err(io)?;
        let writer = Writer::start(path, file, options.queue, condition.clone()).map_err(sqlite)?;
        let readers = Mutex::new(vec![reader]);
        Ok((
            SqliteFile { path: path.to_owned(), docstores, readers, writer, _lock: lock },
            condition,
        ))
    }

    /// Writes the file anew, without the bytes of removed rows; other writes wait meanwhile. Returns
    /// whether it could.
    pub(super) async fn scrub(&self) -> bool {
        // An idle reader may hold an old part of the log.
        self.readers().clear();
        let path = self.path.clone();
        match self.writer.alone(move || purge::scrub(&path)).await {
            Ok(()) => true,
            Err(fault) => {
                tracing::warn!(%fault, "purged texts are still in free parts of the database file");
                false
            }
        }
    }

    /// Finishes the queued writes and checkpoints the log.
    pub(super) async fn close(&self) {
        // SQLite removes its log when the last connection closes, which should be the writer's.
        self.readers().clear();
        self.writer.close().await;
    }

    fn readers(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads on the calling thread.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Db<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let idle = self.readers().pop();
        let reader = match idle {
            Some(reader) => reader,
            None => connection::reader(&self.path)?,
        };
        let result = {
            let snapshot = reader.unchecked_transaction()?;
            work(&Db::Sqlite(&snapshot))
        };
        let mut readers = self.readers();
        if readers.len() < READERS {
            readers.push(reader);
        }
        result
    }
}

/// Creates the folder, the database and its lock file if they are missing, readable only by their
/// owner. Returns the lock file.
pub(super) fn make(path: &Path) -> std::io::Result<fs::File> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut private = fs::OpenOptions::new();
    private.read(true).write(true).create(true).truncate(false).mode(0o600);
    if !path.try_exists()? {
        private.open(path)?;
        // A synced file is lost if a power cut loses its folder, so the folders are synced too. Some
        // file systems cannot do that, and some parent folders cannot be opened.
        for folder in std::path::absolute(path)?.ancestors().skip(1) {
            let _ = fs::File::open(folder).and_then(|folder| folder.sync_all());
        }
    }
    private.open(beside(path, ".lock"))
}

/// Removes the access of other users to the database and to SQLite's files beside it, which inherit
/// its mode.
fn close_to_others(path: &Path) -> std::io::Result<()> {
    for file in [path.to_owned(), beside(path, "-wal"), beside(path, "-shm")] {
        let open_to_others = |file: &fs::Metadata| file.permissions().mode() & 0o077 != 0;
        if fs::metadata(&file).is_ok_and(|file| open_to_others(&file)) {
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bounded_number_of_idle_connections_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("debate.db");
        let (file, _) = SqliteFile::open(&path, &StoreOptions::at(&path)).unwrap();
        let idle = || file.readers.lock().unwrap().len();
        assert_eq!(file.read(|_| Ok(idle())).unwrap(), 0, "the only connection is in use");
        assert_eq!(idle(), 1);

        fn at_once(file: &SqliteFile, reads: usize) -> Result<(), Failure> {
            if reads == 0 { Ok(()) } else { file.read(|_| at_once(file, reads - 1)) }
        }
        at_once(&file, READERS + 2).unwrap();
        assert_eq!(idle(), READERS);
    }
}
