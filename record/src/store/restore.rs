//! Replaces the record with a backup.
//!
//! The backup is copied beside the record, and the copy is checked and verified. It loses its sessions
//! and the tokens that were revoked since: an old backup must not let anybody in again. Then a plan is
//! written, the files of the old record are renamed, and the copy gets the record's name. [`finish`]
//! carries out a plan; every opening of the database calls it first. So a kill at any moment leaves
//! the old record or the new one, and never the file of one with the log of the other.

use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use aw_core::Time;
use rusqlite::{Connection, OpenFlags};
use tokio::runtime::Handle;

use super::db::Db;
use super::seats::{RestoredTokens, Revocations};
use super::sqlite_file::make;
use super::{OpenError, Store, StoreOptions, beside, left_log, migrate, seats};
use crate::{Clock, Damage, Engine, Failure, Fault};

/// The copy that is being checked.
const DRAFT: &str = ".restoring";

/// The plan: holds the name under which the old record is kept.
const PLAN: &str = ".restore-plan";

/// The plan while it is written.
const NEW_PLAN: &str = ".restore-plan.new";

/// How many bytes are copied at a time.
const PIECE: usize = 1024 * 1024;

/// Why a backup was not restored. The record and the backup are unchanged.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// The record cannot be replaced now, or the backup is not a record of `aw`.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The backup cannot be used.
    #[error("{path}: {why}")]
    Unusable {
        /// The backup.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The backup is damaged.
    #[error("{path} is damaged: {}", .damages[0])]
    Damaged {
        /// The backup.
        path: PathBuf,
        /// All damage that was found.
        damages: Vec<Damage>,
    },
    /// Verifying the copy failed.
    #[error("the backup could not be verified: {0}")]
    Failed(#[from] Failure),
}

/// The result of a restore.
#[derive(Debug, Clone)]
pub struct Restored {
    /// The size of the new record.
    pub bytes: u64,
    /// The kept old record, if there was one; its log has the same name and `-wal`.
    pub kept: Option<PathBuf>,
    /// The old record of an earlier restore that was interrupted and is now finished.
    pub finished: Option<PathBuf>,
    /// How many debates the record has, including deleted ones.
    pub debates: u64,
    /// How many arguments.
    pub arguments: u64,
    /// The tokens of the backup.
    pub tokens: RestoredTokens,
    /// Its damage, if damage was accepted.
    pub damages: Vec<Damage>,
}

/// Replaces the database with a copy of the backup, and keeps the old files under a name with this
/// ending. A damaged backup is refused unless `accept_damage` is set. Tokens that the old record does
/// not show to be valid are revoked in the copy `now`.
///
/// It blocks, so it must not be called on an async thread.
pub fn restore(
    database: &Path,
    backup: &Path,
    ending: &str,
    accept_damage: bool,
    now: Time,
    progress: impl FnMut(u64, u64),
) -> Result<Restored, RestoreError> {
    let io = |source| OpenError::Io { path: database.to_owned(), source };
    let unusable = |why: String| RestoreError::Unusable { path: backup.to_owned(), why };
    let file = fs::metadata(backup).map_err(|error| unusable(error.to_string()))?;
    if !file.is_file() {
        return Err(unusable("this is not a file".to_owned()));
    }
    if fs::canonicalize(database).ok() == fs::canonicalize(backup).ok() {
        return Err(unusable("this is the record itself".to_owned()));
    }
    let used = fs::File::open(beside(backup, ".lock"));
    if used.is_ok_and(|lock| lock.try_lock_shared().is_err()) {
        return Err(unusable("a server runs on it; make a copy with aw server backup".to_owned()));
    }
    let lock = make(database).map_err(io)?;
    if lock.try_lock().is_err() {
        return Err(OpenError::InUse { path: database.to_owned() }.into());
    }
    let finished = finish(database).map_err(io)?;
    let draft = beside(database, DRAFT);
    let checked = copy(backup, &draft, progress)
        .map_err(|error| unusable(error.to_string()))
        .and_then(|()| check(backup, &draft))
        .and_then(|found| match found.damages.is_empty() || accept_damage {
            true => Ok(found),
            false => Err(RestoreError::Damaged { path: backup.to_owned(), damages: found.damages }),
        })
        .and_then(|found| {
            let tokens = restrict(&draft, revocations(database, &lock).as_ref(), now)?;
            Ok(Restored { tokens, ..found })
        });
    let found = checked.inspect_err(|_| discard(&draft))?;
    let bytes = fs::metadata(&draft).map_err(io)?.len();
    let there = is_something(database);
    plan(database, ending).map_err(io)?;
    let kept = finish(database).map_err(io)?.filter(|_| there);
    Ok(Restored { bytes, kept, finished, ..found })
}

/// Whether a restore was interrupted, so that the file and the log may belong to different records.
pub(super) fn is_unfinished(database: &Path) -> bool {
    beside(database, PLAN).exists()
}

/// Finishes a restore that has a plan, and removes the copy of one that has none. Returns the path of
/// the old record. The caller must hold the lock of the database.
pub(super) fn finish(database: &Path) -> io::Result<Option<PathBuf>> {
    let (draft, plan) = (beside(database, DRAFT), beside(database, PLAN));
    let old = match fs::read_to_string(&plan) {
        Ok(name) => database.with_file_name(name),
        Err(none) if none.kind() == ErrorKind::NotFound => {
            if draft.try_exists()? {
                tracing::warn!(
                    "removed the copy of an interrupted restore; the record is unchanged"
                );
                discard(&draft);
                if_there(fs::remove_file(beside(database, NEW_PLAN)))?;
            }
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    if draft.try_exists()? {
        // The log first: SQLite would apply it to the copy once the copy has the database's name.
        for suffix in ["-wal", "-shm", "-journal"] {
            if_there(fs::rename(beside(database, suffix), beside(&old, suffix)))?;
        }
        if is_something(database) {
            match fs::hard_link(database, &old) {
                Err(there) if there.kind() == ErrorKind::AlreadyExists => {}
                linked => linked?,
            }
        }
        sync_folder_of(database)?;
        fs::rename(&draft, database)?;
        sync_folder_of(database)?;
    }
    discard(&draft);
    fs::remove_file(&plan)?;
    sync_folder_of(database)?;
    tracing::info!(old = %old.display(), "restored a backup and kept the old files");
    Ok(Some(old))
}

/// Copies the backup and its log, if it has one.
fn copy(backup: &Path, draft: &Path, mut progress: impl FnMut(u64, u64)) -> io::Result<()> {
    for suffix in ["", "-wal", "-journal"] {
        let mut from = match fs::File::open(beside(backup, suffix)) {
            Err(none) if none.kind() == ErrorKind::NotFound && !suffix.is_empty() => continue,
            opened => opened?,
        };
        let all = from.metadata()?.len();
        let mut private = fs::OpenOptions::new();
        let mut to =
            private.write(true).create_new(true).mode(0o600).open(beside(draft, suffix))?;
        let (mut piece, mut done) = (vec![0; PIECE], 0);
        loop {
            let read = from.read(&mut piece)?;
            if read == 0 {
                break;
            }
            to.write_all(&piece[..read])?;
            done += read as u64;
            progress(done, all.max(done));
        }
        to.sync_all()?;
    }
    Ok(())
}

/// Checks, migrates and verifies the copy, and syncs it as a single file.
fn check(backup: &Path, draft: &Path) -> Result<Restored, RestoreError> {
    let unusable = |why: String| RestoreError::Unusable { path: backup.to_owned(), why };
    let of_backup = |error: OpenError| match error {
        OpenError::Foreign { .. } => OpenError::Foreign { path: backup.to_owned() }.into(),
        OpenError::Newer { found, known, .. } => {
            OpenError::Newer { path: backup.to_owned(), found, known }.into()
        }
        OpenError::Damaged { what, .. } => unusable(format!("it is damaged: {what}")),
        OpenError::HalfMoved { .. } => {
            OpenError::HalfMoved { place: backup.display().to_string() }.into()
        }
        other => RestoreError::Open(other),
    };
    migrate::must_be_ours(draft).map_err(of_backup)?;
    let verdict = open(draft)
        .and_then(|db| db.query_row("pragma integrity_check(1)", [], |row| row.get::<_, String>(0)))
        .unwrap_or_else(|error| error.to_string());
    if verdict != "ok" {
        return Err(unusable(format!("it is damaged: {verdict}")));
    }
    let engine =
        Engine::new(Store::open(&StoreOptions::at(draft)).map_err(of_backup)?, Clock::system());
    let found = Handle::current().block_on(async {
        let found = verify(&engine).await;
        engine.close().await;
        found
    })?;
    drop(engine);
    open(draft)
        .and_then(|db| db.pragma_update(None, "journal_mode", "delete"))
        .and_then(|()| open(draft)?.query_row("select count(*) from debates", [], |_| Ok(())))
        .map_err(|error| unusable(error.to_string()))?;
    fs::File::open(draft)
        .and_then(|file| file.sync_all())
        .map_err(|error| unusable(error.to_string()))?;
    Ok(found)
}

/// When the record that is replaced has revoked its seats; `None` if there is no such record. A record
/// that cannot be read shows no seat to be valid.
fn revocations(database: &Path, lock: &fs::File) -> Option<Revocations> {
    if !is_something(database) {
        return None;
    }
    let read = || {
        if let Some(what) = left_log::damage(database, lock) {
            return Err(Fault::Corrupt(what).into());
        }
        seats::revocations(&Db::Sqlite(&left_log::read(database)?))
    };
    read().unwrap_or_else(|error: Failure| {
        tracing::warn!(%error, "the tokens of the record that is replaced cannot be read");
        Some(Revocations::new())
    })
}

/// Takes from the copy what no longer lets anybody in.
fn restrict(
    draft: &Path,
    replaced: Option<&Revocations>,
    now: Time,
) -> Result<RestoredTokens, Failure> {
    let mut db = open(draft)?;
    let change = db.transaction()?;
    let tokens = seats::restrict(&Db::Sqlite(&change), replaced, now)?;
    change.commit()?;
    Ok(tokens)
}

fn open(draft: &Path) -> rusqlite::Result<Connection> {
    Connection::open_with_flags(draft, OpenFlags::SQLITE_OPEN_READ_WRITE)
}

/// Verifies the whole record.
async fn verify(engine: &Engine) -> Result<Restored, Failure> {
    let mut found = Restored {
        bytes: 0,
        kept: None,
        finished: None,
        debates: 0,
        arguments: 0,
        tokens: RestoredTokens::default(),
        damages: Vec::new(),
    };
    let mut after = None;
    loop {
        let piece = engine.verify_on(after).await?;
        found.debates += piece.debates;
        found.arguments += piece.arguments;
        found.damages.extend(piece.damages);
        match piece.next {
            Some(next) => after = Some(next),
            None => return Ok(found),
        }
    }
}

/// Writes the plan. From here on the copy replaces the database, even after a kill.
fn plan(database: &Path, ending: &str) -> io::Result<()> {
    let name = database.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let names = (1..).map(|number: u32| match number {
        1 => format!("{name}.before-restore-{ending}"),
        number => format!("{name}.before-restore-{ending}-{number}"),
    });
    let free = |name: &String| {
        let old = database.with_file_name(name);
        ["", "-wal"].iter().all(|suffix| !beside(&old, suffix).exists())
    };
    let name = names.into_iter().find(free).expect("one of them is free");
    let (new, plan) = (beside(database, NEW_PLAN), beside(database, PLAN));
    let mut private = fs::OpenOptions::new();
    let mut file = private.write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    file.write_all(name.as_bytes())?;
    file.sync_all()?;
    sync_folder_of(database)?;
    fs::rename(new, plan)?;
    sync_folder_of(database)
}

fn discard(draft: &Path) {
    for suffix in ["", "-wal", "-shm", "-journal", ".lock"] {
        if let Err(error) = if_there(fs::remove_file(beside(draft, suffix))) {
            tracing::warn!(%error, "a copy of a backup could not be removed");
        }
    }
}

/// Whether there is an old record: taking the lock creates an empty file.
fn is_something(database: &Path) -> bool {
    fs::metadata(database).is_ok_and(|old| old.len() > 0)
}

fn if_there(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(none) if none.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

fn sync_folder_of(file: &Path) -> io::Result<()> {
    let file = std::path::absolute(file)?;
    let folder = fs::File::open(file.parent().unwrap_or(Path::new("/")))?;
    // Some file systems cannot sync a folder.
    let _ = folder.sync_all();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files that a kill may leave, step by step: names and contents in the database's folder.
    const STEPS: [&[(&str, &str)]; 7] = [
        &[("d", "old"), ("d-wal", "log"), ("d.restoring", "ne")],
        &[("d", "old"), ("d-wal", "log"), ("d.restoring", "new"), ("d.restore-plan.new", "d.k")],
        &[("d", "old"), ("d-wal", "log"), ("d.restoring", "new"), ("d.restore-plan", "d.kept")],
        &[
            ("d", "old"),
            ("d.kept-wal", "log"),
            ("d.restoring", "new"),
            ("d.restore-plan", "d.kept"),
        ],
        &[
            ("d", "old"),
            ("d.kept", "old"),
            ("d.kept-wal", "log"),
            ("d.restoring", "new"),
            ("d.restore-plan", "d.kept"),
        ],
        &[("d", "new"), ("d.kept", "old"), ("d.kept-wal", "log"), ("d.restore-plan", "d.kept")],
        &[("d", "new"), ("d.kept", "old"), ("d.kept-wal", "log")],
    ];

    #[test]
    fn a_restore_killed_at_any_step_ends_with_the_old_or_the_new_record() {
        for (number, step) in STEPS.iter().enumerate() {
            let folder = tempfile::tempdir().unwrap();
            for (name, text) in *step {
                fs::write(folder.path().join(name), text).unwrap();
            }
            let finished = finish(&folder.path().join("d")).unwrap();
            let unfinished = (2..=5).contains(&number);
            assert_eq!(finished.is_some(), unfinished, "step {number}");
            let mut left: Vec<(String, String)> = fs::read_dir(folder.path())
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .map(|path| (path.file_name().unwrap().display().to_string(), path))
                .map(|(name, path)| (name, fs::read_to_string(path).unwrap()))
                .collect();
            left.sort();
            let expected: &[(&str, &str)] = match number {
                0 | 1 => &[("d", "old"), ("d-wal", "log")],
                _ => &[("d", "new"), ("d.kept", "old"), ("d.kept-wal", "log")],
            };
            let left: Vec<(&str, &str)> =
                left.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
            assert_eq!(left, expected, "step {number}");
        }
    }

    #[test]
    fn the_old_record_is_kept_under_a_free_name() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("d");
        for name in ["d.before-restore-now", "d.before-restore-now-2-wal"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        plan(&database, "now").unwrap();
        assert!(is_unfinished(&database));
        let planned = fs::read_to_string(beside(&database, PLAN)).unwrap();
        assert_eq!(planned, "d.before-restore-now-3");
    }
}
