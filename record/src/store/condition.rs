//! Whether the database was found damaged.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::{beside, connection};
use crate::{Failure, Fault};

/// The first damage that a read or write found; clones share it. It stays until the database is
/// opened again, because other pages may be damaged as well.
#[derive(Debug, Clone, Default)]
pub(super) struct Condition(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    damage: OnceLock<String>,
    suspected: AtomicBool,
}

impl Condition {
    /// Starts with the damage that was found at opening, if any.
    pub(super) fn found(damage: Option<String>) -> Self {
        let condition = Condition::default();
        if let Some(what) = damage {
            condition.note(&what);
        }
        condition
    }

    /// Fails once the database was found damaged.
    pub(super) fn check(&self) -> Result<(), Fault> {
        match self.0.damage.get() {
            Some(what) => Err(Fault::Corrupt(what.clone())),
            None => Ok(()),
        }
    }

    /// Remembers the damage, if that is why the work failed.
    pub(super) fn noted<T, E: AsFault>(&self, done: Result<T, E>) -> Result<T, E> {
        if let Err(error) = &done
            && let Some(Fault::Corrupt(what)) = error.as_fault()
        {
            self.note(what);
        }
        done
    }

    /// Makes the writer examine the database before its next write.
    pub(super) fn suspect(&self) {
        self.0.suspected.store(true, Ordering::Release);
    }

    /// Whether the writer must examine the database. Returns true once for each suspicion.
    pub(super) fn take_suspicion(&self) -> bool {
        self.0.suspected.swap(false, Ordering::AcqRel)
    }

    /// Remembers the damage.
    pub(super) fn note(&self, what: &str) {
        self.0.damage.get_or_init(|| {
            tracing::error!(what, "the record is damaged: nothing more is written to it");
            what.to_owned()
        });
    }
}

/// How much of the database is examined.
#[derive(Debug, Clone, Copy)]
pub(super) enum Depth {
    /// Every page.
    Pages,
    /// Every page, and that each index agrees with its table.
    Indexes,
}

/// Examines a SQLite database, and fails with [`Fault::Corrupt`] if it is damaged. Takes an open handle
/// on its file, which must outlive all connections: closing it would drop SQLite's locks.
///
/// SQLite also calls a page malformed if the disk failed to read it. So damage counts only if both
/// files can be read completely and a second examination still finds it; otherwise the disk failed.
pub(super) fn examine(path: &Path, file: &File, depth: Depth) -> Result<(), Fault> {
    let first = look(path, depth);
    if !matches!(first, Err(Fault::Corrupt(_))) {
        return first;
    }
    let unreadable = |error| Fault::Storage(format!("{} cannot be read: {error}", path.display()));
    read_whole(file).map_err(unreadable)?;
    match File::open(beside(path, "-wal")) {
        Ok(log) => read_whole(&log).map_err(unreadable)?,
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(unreadable(error)),
    }
    look(path, depth)
}

fn look(path: &Path, depth: Depth) -> Result<(), Fault> {
    let pragma = match depth {
        Depth::Pages => "pragma quick_check(1)",
        Depth::Indexes => "pragma integrity_check(1)",
    };
    let verdict: String = connection::examiner(path)?.query_row(pragma, [], |row| row.get(0))?;
    if verdict == "ok" { Ok(()) } else { Err(Fault::Corrupt(verdict)) }
}

/// Reads a file to its end, in pieces of SQLite's page size.
fn read_whole(file: &File) -> io::Result<()> {
    let (mut piece, mut at) = ([0; 4096], 0);
    loop {
        match file.read_at(&mut piece, at)? {
            0 => return Ok(()),
            read => at += read as u64,
        }
    }
}

/// An error that may be a fault.
pub(super) trait AsFault {
    fn as_fault(&self) -> Option<&Fault>;
}

impl AsFault for Fault {
    fn as_fault(&self) -> Option<&Fault> {
        Some(self)
    }
}

impl AsFault for Failure {
    fn as_fault(&self) -> Option<&Fault> {
        match self {
            Failure::Fault(fault) => Some(fault),
            _ => None,
        }
    }
}
