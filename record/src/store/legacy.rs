//! Imports the files of the older system.
//!
//! Its users have `debate.db` (tables `debates` and `arguments`, `user_version` 0) where our file goes,
//! and `docstore.db` (table `document_versions`) near it. Debates are imported once ([`take_over`]):
//! all are read and checked under an exclusive lock before anything is written. A file that cannot be
//! read completely is left unchanged, and the error names the problems. Ids, order, times and texts are
//! kept, even beyond today's limits. New documents are imported whenever they appear ([`documents`]).

mod debates;
mod documents;
mod holders;

use std::fs;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use aw_core::{Content, DebateId, RequestId, Time, mentions};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use rusqlite::backup::Backup;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row, TransactionBehavior};
use uuid::Uuid;

use super::db::Db;
use super::writer::LockKey;
use super::{Backend, OpenError, Store, beside, connection, find, migrate, unannounced};
use crate::Failure;
use debates::OldDebate;
pub(super) use documents::{Docstore, keep as keep_documents};

/// The most problems that an error lists.
const PROBLEMS_NAMED: usize = 20;

/// How long a read waits for another program's lock.
const BRIEFLY: Duration = Duration::from_millis(500);

/// How long an import waits for another program's lock.
const PATIENCE: Duration = Duration::from_secs(2);

impl Store {
    /// Imports new documents of the older system, if this text may cite one.
    pub(crate) async fn bring_documents(&self, text: &Content) -> Result<(), Failure> {
        let Backend::Sqlite(file) = &self.inner.backend else { return Ok(()) };
        if mentions(text.as_str()).is_empty() || !file.docstores.iter().any(Docstore::has_changed) {
            return Ok(());
        }
        let store = self.clone();
        let new = self
            .read_long(move |db| match &store.inner.backend {
                Backend::Sqlite(file) => {
                    Ok(file.docstores.iter().flat_map(|docstore| docstore.new_in(db)).collect())
                }
                Backend::Postgres(_) => Ok(Vec::new()),
            })
            .await?;
        if new.is_empty() {
            return Ok(());
        }
        self.write(LockKey::Nothing, unannounced, move |db| keep_documents(db, &new)).await
    }

    /// The imported debate that had this id in the older system.
    pub(crate) async fn debate_of_former_id(&self, id: &str) -> Result<Option<DebateId>, Failure> {
        // PostgreSQL cannot store this character, so no id contains it.
        if id.contains('\0') {
            return Ok(None);
        }
        let id = id.to_owned();
        self.read(move |db| find::by_former_id(db, &id)).await
    }
}

/// Whether this database has the older system's tables.
pub(super) fn is_older_system(db: &Connection) -> rusqlite::Result<bool> {
    db.query_row(
        "select count(*) = 2 from sqlite_schema
         where type = 'table' and name in ('debates', 'arguments')",
        [],
        |row| row.get(0),
    )
}

/// Converts a database of the older system into ours, after copying it. An error leaves it unchanged
/// and removes the copy.
pub(super) fn take_over(path: &Path, docstores: &[Docstore]) -> Result<(), OpenError> {
    // From here to the end no other program can write, so the import misses nothing that the older
    // server acknowledges.
    let mut db = open_exclusively(path)?;
    let debates = read(path, &db)?;
    let copy = Copy::of(&db, path)?;
    import(&mut db, &debates, docstores).map_err(|source| OpenError::Unfinished {
        path: path.to_owned(),
        source: Box::new(source),
    })?;
    let (copy, debates) = (copy.keep(), debates.len());
    tracing::info!(copy = %copy.display(), debates, "imported the database of the older system");
    Ok(())
}

/// Imports new documents of the older system.
pub(super) fn catch_up(path: &Path, docstores: &[Docstore]) -> Result<(), OpenError> {
    let work = || -> Result<(), Failure> {
        let reader = connection::reader(path)?;
        let new: Vec<_> =
            docstores.iter().flat_map(|file| file.new_in(&Db::Sqlite(&reader))).collect();
        drop(reader);
        if new.is_empty() {
            return Ok(());
        }
        let mut db = connection::writer(path)?;
        let changes = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        keep_documents(&Db::Sqlite(&changes), &new)?;
        changes.commit()?;
        tracing::info!(documents = new.len(), "imported documents of the older system");
        Ok(())
    };
    work()
        .map_err(|source| OpenError::Unfinished { path: path.to_owned(), source: Box::new(source) })
}

/// The result that an import would have.
#[derive(Debug, Default)]
pub struct Rehearsal {
    /// How many debates the older system's database holds; `None` without such a database.
    pub debates: Option<usize>,
    /// The other processes that have the database open.
    pub open_in: Vec<String>,
    /// How many versions of documents are new.
    pub versions: usize,
    /// The documents that would be left out, and why.
    pub left_out: Vec<String>,
}

/// Tries the import in a temporary database. Only reads `database` and `docstores`.
pub fn rehearse(database: &Path, docstores: &[PathBuf]) -> Result<Rehearsal, OpenError> {
    let sqlite = |source| OpenError::Sqlite { path: database.to_owned(), source };
    let unfinished = |source: Failure| OpenError::Unfinished {
        path: database.to_owned(),
        source: Box::new(source),
    };
    let is_there = fs::metadata(database).is_ok_and(|file| file.len() > 0);
    let source = is_there.then(|| open_for_reading(database)).transpose().map_err(sqlite)?;
    let old = match &source {
        Some(db)
            if is_older_system(db).map_err(sqlite)?
                && migrate::marks(db).map_err(sqlite)? == (0, 0) =>
        {
            Some(read(database, db)?)
        }
        _ => None,
    };
    // A database without a name is temporary: SQLite removes it when it is closed.
    let mut copy = Connection::open("").map_err(sqlite)?;
    let files: Vec<Docstore> = docstores.iter().cloned().map(Docstore::at).collect();
    let mut rehearsal = Rehearsal {
        debates: old.as_ref().map(Vec::len),
        open_in: old.as_ref().map_or(Vec::new(), |_| holders::of(database)),
        ..Rehearsal::default()
    };
    let look = |db: &Db<'_>, rehearsal: &mut Rehearsal| {
        for file in docstores.iter().filter(|file| file.exists()) {
            let (new, problems) = documents::unknown(db, file);
            rehearsal.versions += new.iter().map(documents::OldDocument::versions).sum::<usize>();
            let named = problems.iter().map(|problem| format!("{}: {problem}", file.display()));
            rehearsal.left_out.extend(named);
        }
    };
    match (&old, &source) {
        (None, Some(ours)) => look(&Db::Sqlite(ours), &mut rehearsal),
        (old, _) => {
            let mut work = || -> Result<(), Failure> {
                let changes = copy.transaction()?;
                migrate::apply(&changes, 0)?;
                look(&Db::Sqlite(&changes), &mut rehearsal);
                write(&Db::Sqlite(&changes), old.as_deref().unwrap_or_default(), &files)
            };
            work().map_err(unfinished)?;
        }
    }
    Ok(rehearsal)
}

/// Opens a file of the older system for reading, without leaving new files beside it: a read-only
/// connection would leave a log.
fn open_for_reading(path: &Path) -> rusqlite::Result<Connection> {
    let flags = match beside(path, "-wal").exists() {
        true => OpenFlags::SQLITE_OPEN_READ_ONLY,
        false => OpenFlags::SQLITE_OPEN_READ_WRITE,
    };
    let db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(BRIEFLY)?;
    db.pragma_update(None, "query_only", true)?;
    Ok(db)
}

/// Opens the file with an exclusive lock that lasts between transactions, and checks that no other
/// process has it open.
fn open_exclusively(path: &Path) -> Result<Connection, OpenError> {
    let sqlite = |source| OpenError::Sqlite { path: path.to_owned(), source };
    let in_use = || {
        let by = holders::of(path);
        let by = if by.is_empty() { "another program".to_owned() } else { by.join(", ") };
        OpenError::OlderServer { path: path.to_owned(), by }
    };
    let db =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(sqlite)?;
    let lock = || -> rusqlite::Result<()> {
        db.busy_timeout(PATIENCE)?;
        db.pragma_update(None, "synchronous", "full")?;
        // The older tables refer to each other and are dropped in any order.
        db.pragma_update(None, "foreign_keys", false)?;
        db.pragma_update(None, "locking_mode", "exclusive")?;
        db.execute_batch("begin exclusive; commit")
    };
    match lock() {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Err(in_use()),
        Err(error) => Err(sqlite(error)),
        // An idle server may hold no lock now.
        Ok(()) if !holders::of(path).is_empty() => Err(in_use()),
        Ok(()) => Ok(db),
    }
}

/// Reads and checks all debates.
fn read(path: &Path, db: &Connection) -> Result<Vec<OldDebate>, OpenError> {
    let mut problems = Vec::new();
    let debates = debates::read(db, &mut problems)
        .map_err(|source| OpenError::Sqlite { path: path.to_owned(), source })?;
    refuse_with(path, problems)?;
    Ok(debates)
}

fn refuse_with(path: &Path, mut problems: Vec<String>) -> Result<(), OpenError> {
    if problems.is_empty() {
        return Ok(());
    }
    let unnamed = problems.len().saturating_sub(PROBLEMS_NAMED);
    problems.truncate(PROBLEMS_NAMED);
    if unnamed > 0 {
        problems.push(format!("and {unnamed} more"));
    }
    Err(OpenError::Unreadable { path: path.to_owned(), problems })
}

/// Replaces the older tables with ours and writes the debates, in one transaction.
fn import(
    db: &mut Connection,
    debates: &[OldDebate],
    docstores: &[Docstore],
) -> Result<(), Failure> {
    let changes = db.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    changes.execute_batch(
        "drop table arguments; drop table debates; drop table if exists _prisma_migrations;",
    )?;
    migrate::apply(&changes, 0)?;
    write(&Db::Sqlite(&changes), debates, docstores)?;
    changes.commit()?;
    Ok(())
}

/// Writes the documents first, so that arguments find those they cite.
fn write(db: &Db<'_>, debates: &[OldDebate], docstores: &[Docstore]) -> Result<(), Failure> {
    for file in docstores {
        keep_documents(db, &file.new_in(db))?;
    }
    debates.iter().try_for_each(|debate| debate.write(db))
}

/// The copy that is made before an import. It is removed if the import fails.
struct Copy {
    path: PathBuf,
    is_kept: bool,
}

impl Copy {
    /// Copies the database to `debate.db.before-aw`, or to the next free name of that kind.
    fn of(db: &Connection, path: &Path) -> Result<Self, OpenError> {
        // An incomplete copy must not have the name of a complete one.
        let mut draft = Copy { path: beside(path, ".before-aw.part"), is_kept: false };
        let mut private = fs::OpenOptions::new();
        private.write(true).mode(0o600);
        let io = |path: &Path| {
            let path = path.to_owned();
            |source| OpenError::Io { path, source }
        };
        private.clone().create(true).truncate(true).open(&draft.path).map_err(io(&draft.path))?;
        let copied = || -> rusqlite::Result<()> {
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
            let mut to = Connection::open_with_flags(&draft.path, flags)?;
            Backup::new(db, &mut to)?.run_to_completion(1_000, Duration::ZERO, None)
        };
        copied().map_err(|source| OpenError::Sqlite { path: draft.path.clone(), source })?;
        let mut number = 1;
        let free = loop {
            let number_of = if number == 1 { String::new() } else { format!(".{number}") };
            let name = beside(path, &format!(".before-aw{number_of}"));
            match private.clone().create_new(true).open(&name) {
                Ok(_) => break name,
                Err(taken) if taken.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
                Err(source) => return Err(OpenError::Io { path: name, source }),
            }
        };
        fs::rename(&draft.path, &free).map_err(io(&free))?;
        draft.path = free;
        Ok(draft)
    }

    fn keep(mut self) -> PathBuf {
        self.is_kept = true;
        self.path.clone()
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        if !self.is_kept {
            // Nothing depends on it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A UUID for an old request id. The older system accepted any text, and none from its page; the same
/// text always gives the same UUID.
fn request_id(text: Option<&str>, argument: Uuid) -> RequestId {
    match text {
        Some(text) => text
            .parse()
            .unwrap_or_else(|_| Uuid::new_v5(&Uuid::NAMESPACE_OID, text.as_bytes()).into()),
        None => Uuid::new_v5(&Uuid::NAMESPACE_OID, argument.as_bytes()).into(),
    }
}

fn field<T: rusqlite::types::FromSql>(row: &Row<'_>, column: &str) -> Result<T, String> {
    row.get(column).map_err(|error| format!("{column}: {error}"))
}

fn parsed<T: FromStr>(row: &Row<'_>, column: &str) -> Result<T, String> {
    let text: String = field(row, column)?;
    text.parse().map_err(|_| not_read(column, &text))
}

fn not_read(column: &str, text: &str) -> String {
    format!("{column} is {text:?}, which cannot be read")
}

/// Parses `2026-01-31 10:30:00` as UTC, or a time with its own zone.
fn time(row: &Row<'_>, column: &str) -> Result<Time, String> {
    let text: String = field(row, column)?;
    let at = text
        .parse::<Timestamp>()
        .or_else(|_| text.parse::<DateTime>().and_then(|local| TimeZone::UTC.to_timestamp(local)));
    at.map(|at| Time(at.as_millisecond())).map_err(|_| not_read(column, &text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_problems_are_named_and_the_rest_counted() {
        let path = Path::new("debate.db");
        let named = |many: usize| {
            let problems = (1..=many).map(|number| number.to_string()).collect();
            match refuse_with(path, problems) {
                Err(OpenError::Unreadable { problems, .. }) => problems,
                other => panic!("{other:?}"),
            }
        };
        assert!(refuse_with(path, Vec::new()).is_ok());
        assert_eq!(named(PROBLEMS_NAMED).last().unwrap(), "20");
        let (many, last) = (named(PROBLEMS_NAMED + 1), "and 1 more".to_owned());
        assert_eq!((many.len(), many.last()), (PROBLEMS_NAMED + 1, Some(&last)));
    }

    #[test]
    fn a_copy_that_cannot_be_created_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let db = Connection::open_in_memory().unwrap();
        let copied = Copy::of(&db, &folder.path().join("gone/debate.db")).map(Copy::keep);
        assert!(matches!(copied, Err(OpenError::Io { .. })), "{copied:?}");
    }
}
