//! The store: the record in a SQLite file or in PostgreSQL.
//!
//! It contains no rules: [`Store::play`] gets the rule as an argument. It reads no clock, and notifies
//! only other servers on the same record. Threads write ([`writer`]), any number of connections read.
//! All SQL is in this folder: [`debates`], [`read`], [`list`] and [`documents`] hold the statements,
//! and [`db`] runs them in either database. [`migrate`] holds SQLite's schema, [`postgres`] everything
//! specific to PostgreSQL, [`legacy`] the import from the older system.

mod backup;
mod checksums;
mod condition;
mod connection;
#[cfg(test)]
mod costs;
mod counts;
mod db;
mod debates;
mod documents;
mod find;
mod left_log;
mod legacy;
mod list;
mod migrate;
mod page_data;
mod points;
mod postgres;
mod projects;
mod purge;
mod quotes;
mod read;
mod report;
mod resolve;
mod restore;
mod rows;
mod search;
mod seats;
mod seen;
mod slugs;
mod transfer;
mod verify;
mod writer;

use std::collections::HashSet;
use std::fmt;
use std::fs;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aw_core::{
    Argument, ArgumentId, Content, Debate, DebateId, DebateType, DocumentId, Hash, PointId,
    RequestId, Role, Seq, Standing, Time, mentions,
};
use rusqlite::Connection;
use tokio::sync::Semaphore;
use uuid::Uuid;

pub use backup::backup;
use condition::Condition;
use db::Db;
use debates::{Examination, Patience};
pub(crate) use debates::{Examined, NewArgument, NewDebate, NewMove, Rule, WriteOutcome};
use legacy::Docstore;
pub use legacy::{Rehearsal, rehearse};
pub use postgres::PostgresUrl;
pub(crate) use postgres::{Notice, PeerListener};
pub(crate) use read::WaitLook;
pub use restore::{RestoreError, Restored, restore};
pub use transfer::{TransferError, Transferred, transfer};
pub(crate) use verify::VerifyWalk;

use crate::long_work::spawn_long_work;
use crate::{
    ArgumentName, CitedMark, CitedPage, CitingDebate, Context, Damage, DebateHead, DebateList,
    DebateListed, DebateName, Document, DocumentList, DocumentName, DocumentVersion, Failure,
    Fault, Filter, KeptVersion, NameScope, NamedArgument, NamedDebate, NamedDocument, NewDocument,
    NewSeat, NewVersion, PageData, Pass, PointRecord, ProjectListed, PurgePreview, Rehearsed,
    ReportData, Search, SearchPage, Seat, Selection, Stretch, Surroundings, Tombstone, TypeTexts,
    Verified, VersionList,
};
use postgres::Postgres;
use quotes::NormalForms;
use search::IndexPiece;
use verify::{Budget, DebateWalk};
use writer::{LockKey, Writer};

/// The location of a record.
#[derive(Debug, Clone)]
pub enum Place {
    /// This SQLite file. It is created, with its folder, if it does not exist.
    File(PathBuf),
    /// A PostgreSQL database, which several servers may share.
    Postgres(PostgresUrl),
}

impl fmt::Display for Place {
    /// Without a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File(path) => path.display().fmt(f),
            Place::Postgres(url) => url.fmt(f),
        }
    }
}

impl FromStr for Place {
    type Err = String;

    /// Parses a `postgres://` URL; any other text is the path of a file.
    fn from_str(text: &str) -> Result<Self, String> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return text.parse().map(Place::Postgres);
        }
        Ok(Place::File(text.strip_prefix("sqlite:").unwrap_or(text).into()))
    }
}

impl<P: Into<PathBuf>> From<P> for Place {
    fn from(path: P) -> Self {
        Place::File(path.into())
    }
}

/// Options for opening a [`Store`].
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// The location.
    pub place: Place,
    /// How many writes may be queued before the next one is refused.
    pub queue: usize,
    /// The most debates, not counting deleted ones.
    pub most_debates: u64,
    /// The most documents, not counting deleted ones.
    pub most_documents: u64,
    /// Whether a half-moved record may be opened: only to move the rest.
    pub half_moved: bool,
    /// The document files of the older system, which a SQLite record keeps importing.
    pub docstores: Vec<PathBuf>,
}

impl StoreOptions {
    /// The default options for this location.
    pub fn at(place: impl Into<Place>) -> Self {
        let most = i64::MAX as u64;
        let place = place.into();
        let docstores = match &place {
            Place::File(path) => vec![path.with_file_name("docstore.db")],
            Place::Postgres(_) => Vec::new(),
        };
        StoreOptions {
            place,
            queue: 4096,
            most_debates: most,
            most_documents: most,
            half_moved: false,
            docstores,
        }
    }
}

/// Why a database was not opened. The database is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another server has it open.
    #[error("{path} is in use by another aw server")]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// A newer `aw` wrote it.
    #[error(
        "{path} was written by a newer aw (schema {found}, this one supports up to {known}): \
         install that version or a later one; the file was left untouched"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The newest schema that this version supports.
        known: i64,
    },
    /// It is not a database of `aw`.
    #[error("{path} is not a database of aw: choose another file; this one was left untouched")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// It is a database of the older system, and another program has it open.
    #[error(
        "{path} is a database of the older system, and {by} has it open: stop the older server, then \
         run this again; the file was left untouched"
    )]
    OlderServer {
        /// The file.
        path: PathBuf,
        /// The program that has it open, if known.
        by: String,
    },
    /// It is too damaged to be read.
    #[error(
        "{path} is damaged: {what}; restore the newest backup with aw server restore PATH; this file was \
         left untouched"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// SQLite's message.
        what: String,
    },
    /// A restore was interrupted.
    #[error("restoring a backup to {path} was interrupted: aw server start finishes it")]
    HalfRestored {
        /// The file.
        path: PathBuf,
    },
    /// It is a database of the older system that cannot be read completely.
    #[error("{path} cannot be imported and was left untouched: {}", .problems.join("; "))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The rows that could not be read.
        problems: Vec<String>,
    },
    /// Moving the record here was interrupted.
    #[error(
        "{place} holds only a part of a record, because moving it there was interrupted: run the same \
         aw server migrate again"
    )]
    HalfMoved {
        /// The database, without a password.
        place: String,
    },
    /// An older `aw` wrote it, and this command may not migrate it.
    #[error(
        "{place} is of an older version: start a server on it once, which brings it up to date"
    )]
    Older {
        /// The database, without a password.
        place: String,
    },
    /// The migration or the import failed.
    #[error("{path} could not be brought up to date and is as it was: {source}")]
    Unfinished {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Box<Failure>,
    },
    /// The file system refused.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// PostgreSQL is unreachable or refused the connection.
    #[error("{place}: {why}")]
    Postgres {
        /// The database, without its password.
        place: String,
        /// Why.
        why: String,
    },
    /// SQLite refused.
    #[error("{path}: {source}")]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
}

impl OpenError {
    fn of_sqlite(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match left_log::is_damage(&source) {
            true => OpenError::Damaged { path, what: source.to_string() },
            false => OpenError::Sqlite { path, source },
        }
    }
}

/// A handle on the open database; clones share it.
#[derive(Debug, Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    backend: Backend,
    /// Limits long reads, which run on their own threads.
    long_reads: Arc<Semaphore>,
    /// Allows one search or deep list page at a time, because they scan many rows.
    searching: Arc<Semaphore>,
    /// Allows one write into the search index at a time.
    indexing: Arc<Semaphore>,
    /// Allows one verification step at a time.
    verifying: Arc<Semaphore>,
    /// The normal forms of documents in which quotes were looked up.
    forms: NormalForms,
    /// Debates that keep points.
    points_known: Mutex<HashSet<DebateId>>,
    condition: Condition,
    most_debates: u64,
    most_documents: u64,
}

/// The database behind a store.
#[derive(Debug)]
enum Backend {
    Sqlite(SqliteFile),
    Postgres(Postgres),
}

/// An open SQLite file.
#[derive(Debug)]
struct SqliteFile {
    path: PathBuf,
    docstores: Vec<Docstore>,
    readers: Mutex<Vec<Connection>>,
    writer: Writer,
    /// Held while the store is open: a second server would not hear this one's bell.
    _lock: fs::File,
}

/// Metrics of a store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Vitals {
    /// The kind of database.
    pub kind: &'static str,
    /// Of the session pool: how many sessions are in use, and the limit.
    pub sessions: Option<(usize, usize)>,
    /// Whether notifications from other servers arrive, if there may be other servers.
    pub listening: Option<bool>,
    /// How often the listening connection was opened again.
    pub reconnects: u64,
    /// How many batches were committed.
    pub batches: u64,
    /// How many requests were in them.
    pub writes: u64,
    /// How often writing waited for a database elsewhere.
    pub round_trips: u64,
}

/// How many idle connections are kept.
const READERS: usize = 8;

/// How many debates are known to keep points.
const POINTS_KNOWN: usize = 10_000;

/// How many long reads run at once.
const LONG_READS: usize = 2;

/// How many pieces a search adds to its index before it looks.
const CATCH_UP: usize = 4;

/// How deep a list page may be to count as a short read.
const QUICK_ROWS: u64 = 200;

impl Store {
    /// Opens the database, and migrates or imports it first if needed.
    ///
    /// This may take half a minute if PostgreSQL is not up yet.
    pub fn open(options: &StoreOptions) -> Result<Self, OpenError> {
        let (backend, condition) = match &options.place {
            Place::File(path) => {
                let (file, condition) = SqliteFile::open(path, options)?;
                (Backend::Sqlite(file), condition)
            }
            Place::Postgres(url) => {
                (Backend::Postgres(Postgres::open(url, options)?), Condition::default())
            }
        };
        Ok(Store {
            inner: Arc::new(Inner {
                backend,
                long_reads: Arc::new(Semaphore::new(LONG_READS)),
                searching: Arc::new(Semaphore::new(1)),
                indexing: Arc::new(Semaphore::new(1)),
                verifying: Arc::new(Semaphore::new(1)),
                forms: NormalForms::default(),
                points_known: Mutex::default(),
                condition,
                most_debates: options.most_debates,
                most_documents: options.most_documents,
            }),
        })
    }

    /// Sets the receiver of notices from other servers, if there may be other servers.
    pub(crate) fn listen(&self, peers: Arc<dyn PeerListener>) {
        match &self.inner.backend {
            Backend::Sqlite(_) => {}
            Backend::Postgres(postgres) => postgres.listen(peers),
        }
    }

    /// Whether other servers may write into the same record.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.inner.backend, Backend::Postgres(_))
    }

    /// Metrics of the store.
    pub(crate) fn vitals(&self) -> Vitals {
        match &self.inner.backend {
            Backend::Sqlite(file) => Vitals { kind: "sqlite", ..file.writer.vitals() },
            Backend::Postgres(postgres) => postgres.vitals(),
        }
    }

    /// Checks with a test write whether writing works.
    pub(crate) async fn pulse(&self) -> Result<(), Fault> {
        self.is_whole()?;
        self.inner.condition.noted(self.writer().pulse().await)
    }

    /// Fails once the database was found damaged: then nothing more is written.
    pub(crate) fn is_whole(&self) -> Result<(), Fault> {
        self.inner.condition.check()
    }

    /// Finishes the queued writes, ends the writer, and checkpoints the log.
    pub(crate) async fn close(&self) {
        match &self.inner.backend {
            Backend::Sqlite(file) => {
                // SQLite removes its log when the last connection closes, which should be the writer's.
                file.readers.lock().unwrap_or_else(PoisonError::into_inner).clear();
                file.writer.close().await;
            }
            Backend::Postgres(postgres) => postgres.close().await,
        }
    }

    fn writer(&self) -> &Writer {
        match &self.inner.backend {
            Backend::Sqlite(file) => &file.writer,
            Backend::Postgres(postgres) => &postgres.writer,
        }
    }

    pub(crate) async fn open_debate(&self, new: NewDebate) -> Result<WriteOutcome, Failure> {
        let most = self.inner.most_debates;
        if new.debate.ledger.is_some() {
            self.note_points(new.id);
        }
        self.write(LockKey::Debate(new.id), opened, move |db| {
            about(new.id, debates::open(db, &new, most))
        })
        .await
    }

    /// Makes a move: finds the debate and the target, calls the rule, and writes its entries.
    pub(crate) async fn play(
        &self,
        new: NewMove,
        examined: Option<Examined>,
        rule: impl Rule + Send + 'static,
    ) -> Result<WriteOutcome, Failure> {
        let debate = new.debate;
        let written = self
            .write(LockKey::Debate(debate), played, move |db| {
                about(debate, debates::play(db, &new, examined.as_ref(), &rule))
            })
            .await;
        if matches!(written, Err(Failure::Overtaken)) {
            self.note_points(debate);
        }
        written
    }

    /// Notes that a debate keeps points, so that its texts are examined before they are written.
    fn note_points(&self, debate: DebateId) {
        let mut known = self.points_known();
        if known.len() >= POINTS_KNOWN {
            known.clear();
        }
        known.insert(debate);
    }

    fn points_known(&self) -> MutexGuard<'_, HashSet<DebateId>> {
        self.inner.points_known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds the facts about a text that the rules of points use, if its debate is known to keep points.
    /// It reads none for a move that is not open. Whether a debate keeps points never changes; for one
    /// that is not known here, [`Store::play`] fails once.
    pub(crate) async fn examine(
        &self,
        new: &NewMove,
        is_open: impl Fn(&Debate) -> bool + Copy + Send + 'static,
    ) -> Result<Option<Examined>, Failure> {
        if !self.points_known().contains(&new.debate) {
            return Ok(None);
        }
        let examine = |patience| {
            let (store, new) = (self.clone(), new.clone());
            move |db: &Db<'_>| {
                let examined = debates::examine(db, &store.inner.forms, patience, &new, is_open);
                about(new.debate, examined)
            }
        };
        let examination = match self.read(examine(Patience::Short)).await? {
            // Documents may be long, so the search runs beside the serving threads.
            Examination::Long => self.read_long(examine(Patience::Long)).await?,
            done => done,
        };
        match examination {
            Examination::Done(examined) => Ok(Some(*examined)),
            Examination::NotNeeded | Examination::Long => Ok(None),
        }
    }

    /// Judges a move without making it.
    pub(crate) async fn rehearse(
        &self,
        new: NewMove,
        rule: impl Rule + Send + 'static,
    ) -> Result<Rehearsed, Failure> {
        let store = self.clone();
        self.read_long(move |db| {
            about(new.debate, debates::rehearse(db, &store.inner.forms, &new, &rule))
        })
        .await
    }

    /// The debate with all points and their quotes, or with one point and its history.
    pub(crate) async fn points(
        &self,
        debate: DebateId,
        only: Option<PointId>,
    ) -> Result<(DebateHead, Vec<PointRecord>), Failure> {
        self.read(move |db| {
            let known = find::live(db, debate)?;
            let points = about(debate, points::points(db, &known, only))?;
            Ok((known.head, points))
        })
        .await
    }

    /// Imports new documents of the older system, if this text may cite one.
    pub(crate) async fn bring_documents(&self, text: &Content) -> Result<(), Failure> {
        let Backend::Sqlite(file) = &self.inner.backend else { return Ok(()) };
        if !file.docstores.iter().any(Docstore::has_changed) || mentions(text.as_str()).is_empty() {
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
        self.write(LockKey::Nothing, unannounced, move |db| legacy::keep_documents(db, &new)).await
    }

    /// The imported debate that had this id in the older system.
    pub(crate) async fn debate_once_called(&self, id: &str) -> Result<Option<DebateId>, Failure> {
        // PostgreSQL cannot store this character, so no id contains it.
        if id.contains('\0') {
            return Ok(None);
        }
        let id = id.to_owned();
        self.read(move |db| find::by_former_id(db, &id)).await
    }

    pub(crate) async fn delete_debate(&self, debate: DebateId, at: Time) -> Result<(), Failure> {
        self.write(LockKey::Debate(debate), deleted, move |db| {
            about(debate, debates::delete(db, debate, at))
        })
        .await
    }

    /// Says what a purge would remove.
    pub(crate) async fn preview_purge(&self, debate: DebateId) -> Result<PurgePreview, Failure> {
        self.read_long(move |db| about(debate, purge::preview(db, debate))).await
    }

    /// Removes the texts of a debate for good.
    pub(crate) async fn purge_debate(
        &self,
        debate: DebateId,
        with_documents: bool,
        at: Time,
    ) -> Result<Tombstone, Failure> {
        self.write(LockKey::Debate(debate), deleted, move |db| {
            about(debate, purge::purge(db, debate, with_documents, at))
        })
        .await
    }

    /// Removes the bytes of removed rows from the files. Returns whether it could: PostgreSQL does it in
    /// its own time.
    pub(crate) async fn scrub(&self) -> bool {
        match &self.inner.backend {
            Backend::Sqlite(file) => file.scrub().await,
            Backend::Postgres(_) => false,
        }
    }

    /// Leaves a debate out of lists, or brings it back.
    pub(crate) async fn archive_debate(
        &self,
        debate: DebateId,
        at: Option<Time>,
    ) -> Result<(), Failure> {
        self.write(LockKey::Debate(debate), unannounced, move |db| {
            about(debate, debates::archive(db, debate, at))
        })
        .await
    }

    pub(crate) async fn create_document(
        &self,
        id: DocumentId,
        new: NewDocument,
        at: Time,
    ) -> Result<KeptVersion, Failure> {
        let most = self.inner.most_documents;
        self.write(LockKey::Nothing, unannounced, move |db| {
            documents::create(db, id, &new, at, most)
        })
        .await
    }

    pub(crate) async fn add_version(
        &self,
        document: DocumentId,
        request: RequestId,
        new: NewVersion,
        at: Time,
    ) -> Result<KeptVersion, Failure> {
        self.write(LockKey::Document(document), unannounced, move |db| {
            about_document(document, documents::add_version(db, document, request, &new, at))
        })
        .await
    }

    pub(crate) async fn delete_document(
        &self,
        document: DocumentId,
        at: Time,
    ) -> Result<(), Failure> {
        self.write(LockKey::Document(document), unannounced, move |db| {
            about_document(document, documents::delete(db, document, at))
        })
        .await
    }

    /// What a waiter sees now. `ends` decides whether its wait is over, from the standing and whether
    /// anything is unseen.
    pub(crate) async fn look(
        &self,
        debate: DebateId,
        role: Role,
        after: Option<ArgumentId>,
        ends: impl FnOnce(&Standing, bool) -> bool + Send + 'static,
    ) -> Result<WaitLook, Failure> {
        self.read(move |db| about(debate, read::look(db, debate, role, after, ends))).await
    }

    /// The debate with its newest arguments, or with all, as far as a short read allows.
    pub(crate) async fn context(
        &self,
        debate: DebateId,
        limit: Option<u64>,
    ) -> Result<Context, Failure> {
        self.read(move |db| about(debate, read::context(db, debate, limit))).await
    }

    /// A piece of an answer that is too long for a short read.
    pub(crate) async fn piece(
        &self,
        debate: DebateId,
        which: Selection,
        after: Seq,
        until: Seq,
    ) -> Result<Vec<Argument>, Failure> {
        self.read_long(move |db| about(debate, read::piece(db, debate, which, after, until))).await
    }

    /// A page of the documents that a debate cites.
    pub(crate) async fn cited(
        &self,
        debate: DebateId,
        after: CitedMark,
    ) -> Result<CitedPage, Failure> {
        self.read_long(move |db| {
            let known = find::live(db, debate)?;
            about(debate, read::cited_after(db, known.key, after))
        })
        .await
    }

    /// At most `limit` arguments after `after`, and at most one piece of text.
    pub(crate) async fn stretch(
        &self,
        debate: DebateId,
        after: Seq,
        limit: u64,
    ) -> Result<Stretch, Failure> {
        self.read(move |db| about(debate, read::stretch(db, debate, after, limit))).await
    }

    /// The data of a debate's web page.
    pub(crate) async fn page_data(
        &self,
        debate: DebateId,
        before: Option<Seq>,
        limit: u64,
    ) -> Result<PageData, Failure> {
        self.read_long(move |db| about(debate, page_data::read(db, debate, before, limit))).await
    }

    /// What the report of a debate shows.
    pub(crate) async fn report(&self, debate: DebateId) -> Result<ReportData, Failure> {
        self.read_long(move |db| about(debate, report::read(db, debate))).await
    }

    pub(crate) async fn place(
        &self,
        debate: DebateId,
        argument: ArgumentId,
    ) -> Result<Option<Seq>, Failure> {
        self.read(move |db| about(debate, find::seq_of(db, &find::live(db, debate)?, argument)))
            .await
    }

    /// What the page shows beside these arguments.
    pub(crate) async fn surroundings(
        &self,
        debate: DebateId,
        arguments: Arc<[Argument]>,
    ) -> Result<Surroundings, Failure> {
        self.read_long(move |db| about(debate, page_data::surroundings(db, debate, &arguments)))
            .await
    }

    pub(crate) async fn type_texts(
        &self,
        debate: DebateId,
    ) -> Result<(DebateType, Option<TypeTexts>), Failure> {
        self.read(move |db| about(debate, read::type_texts(db, debate))).await
    }

    pub(crate) async fn checksum(&self, debate: DebateId) -> Result<Option<Hash>, Failure> {
        self.read(move |db| {
            let known = find::live(db, debate)?;
            about(debate, checksums::Checksum::Opening(known.key).kept(db))
        })
        .await
    }

    pub(crate) async fn listed(&self, debate: DebateId) -> Result<DebateListed, Failure> {
        self.read(move |db| about(debate, read::listed(db, debate))).await
    }

    /// Finds texts and ids in the whole record, after the index has caught up with the writes.
    pub(crate) async fn search(&self, search: Search) -> Result<SearchPage, Failure> {
        let is_complete = self.catch_up().await;
        let work = move |db: &Db<'_>| search::page(db, &search);
        let (hits, next) = self.read_in_turn(&self.inner.searching, work).await?;
        Ok(SearchPage { hits, next, is_complete })
    }

    /// Adds the latest writes to the search index, unless there are too many. Returns whether it has
    /// them all.
    async fn catch_up(&self) -> bool {
        for _ in 0..CATCH_UP {
            match self.index_piece().await {
                Ok(true) => {}
                Ok(false) => return true,
                // A search that misses the latest texts is better than none.
                Err(error) => {
                    tracing::debug!(%error, "the search index did not catch up");
                    return false;
                }
            }
        }
        false
    }

    /// Adds a piece of what the search index lacks. Returns whether there was any.
    pub(crate) async fn index_piece(&self) -> Result<bool, Failure> {
        let turn = self.inner.indexing.acquire().await.expect("it is never closed");
        if !self.read(IndexPiece::is_needed).await? {
            return Ok(false);
        }
        let piece = self.read_long(IndexPiece::read).await?;
        let added = !piece.is_empty();
        self.write(LockKey::Nothing, unannounced, move |db| piece.write(db)).await?;
        drop(turn);
        Ok(added)
    }

    pub(crate) async fn list(&self, filter: &Filter) -> Result<DebateList, Failure> {
        if filter.search.is_some() {
            self.catch_up().await;
        }
        let is_quick = is_quick(filter.search.as_deref(), filter.limit, filter.offset)
            && filter.outcome.is_none();
        let filter = filter.clone();
        let work = move |db: &Db<'_>| list::debates(db, &filter);
        match is_quick {
            true => self.read(work).await,
            false => self.read_in_turn(&self.inner.searching, work).await,
        }
    }

    /// The debates that a name may mean.
    pub(crate) async fn named_debates(
        &self,
        name: &DebateName,
        scope: &NameScope,
    ) -> Result<Vec<NamedDebate>, Failure> {
        let (name, scope) = (name.clone(), scope.clone());
        self.read(move |db| resolve::debates(db, &name, &scope)).await
    }

    /// The arguments of a debate that a name may mean.
    pub(crate) async fn named_arguments(
        &self,
        debate: DebateId,
        name: &ArgumentName,
    ) -> Result<Vec<NamedArgument>, Failure> {
        let name = name.clone();
        self.read(move |db| about(debate, resolve::arguments(db, debate, &name))).await
    }

    /// The documents that a name may mean.
    pub(crate) async fn named_documents(
        &self,
        name: &DocumentName,
        seen_by: Option<&Seat>,
    ) -> Result<Vec<NamedDocument>, Failure> {
        let (name, seen_by) = (name.clone(), seen_by.cloned());
        self.read(move |db| resolve::documents(db, &name, seen_by.as_ref())).await
    }

    /// The projects with debates.
    pub(crate) async fn projects(&self) -> Result<Vec<ProjectListed>, Failure> {
        self.read(projects::all).await
    }

    pub(crate) async fn document(
        &self,
        id: DocumentId,
        version: Option<u64>,
        include_deleted: bool,
    ) -> Result<Document, Failure> {
        self.read_long(move |db| {
            about_document(id, documents::get(db, id, version, include_deleted))
        })
        .await
    }

    pub(crate) async fn document_in_pieces(
        &self,
        id: DocumentId,
        version: Option<u64>,
        include_deleted: bool,
    ) -> Result<(Document, Vec<String>), Failure> {
        self.read_long(move |db| {
            about_document(id, documents::get_in_pieces(db, id, version, include_deleted))
        })
        .await
    }

    pub(crate) async fn document_size(
        &self,
        id: DocumentId,
        version: Option<u64>,
        include_deleted: bool,
    ) -> Result<u64, Failure> {
        self.read(move |db| about_document(id, documents::size(db, id, version, include_deleted)))
            .await
    }

    pub(crate) async fn two_versions_size(
        &self,
        id: DocumentId,
        from: Option<u64>,
        to: Option<u64>,
    ) -> Result<u64, Failure> {
        self.read(move |db| about_document(id, documents::size_of_two(db, id, from, to))).await
    }

    pub(crate) async fn two_versions(
        &self,
        id: DocumentId,
        from: Option<u64>,
        to: Option<u64>,
    ) -> Result<(DocumentVersion, DocumentVersion), Failure> {
        self.read_long(move |db| about_document(id, documents::two_versions(db, id, from, to)))
            .await
    }

    pub(crate) async fn versions(
        &self,
        id: DocumentId,
        include_deleted: bool,
        limit: u64,
        offset: u64,
    ) -> Result<VersionList, Failure> {
        self.read(move |db| {
            about_document(id, documents::versions(db, id, include_deleted, limit, offset))
        })
        .await
    }

    pub(crate) async fn citing(
        &self,
        id: DocumentId,
        only: Option<DebateId>,
        limit: u64,
    ) -> Result<Vec<CitingDebate>, Failure> {
        self.read(move |db| about_document(id, documents::citing(db, id, only, limit))).await
    }

    pub(crate) async fn list_documents(
        &self,
        search: Option<&str>,
        include_deleted: bool,
        limit: u64,
        offset: u64,
        of_debate: Option<DebateId>,
        seen_by: Option<&Seat>,
    ) -> Result<DocumentList, Failure> {
        if search.is_some() {
            self.catch_up().await;
        }
        // For a seat of one debate, the total is counted row by row.
        let is_quick = is_quick(search, limit, offset) && seen_by.is_none() && of_debate.is_none();
        let (search, seen_by) = (search.map(str::to_owned), seen_by.cloned());
        let work = move |db: &Db<'_>| {
            let (search, seen_by) = (search.as_deref(), seen_by.as_ref());
            list::documents(db, search, include_deleted, limit, offset, of_debate, seen_by)
        };
        match is_quick {
            true => self.read(work).await,
            false => self.read_in_turn(&self.inner.searching, work).await,
        }
    }

    pub(crate) async fn make_seat(
        &self,
        id: Uuid,
        new: NewSeat,
        at: Time,
    ) -> Result<Seat, Failure> {
        self.write(LockKey::Nothing, unannounced, move |db| seats::make(db, id, &new, at)).await
    }

    pub(crate) async fn revoke_seat(&self, id: Uuid, at: Time) -> Result<Seat, Failure> {
        self.write(LockKey::Nothing, ended, move |db| seats::revoke(db, id, at)).await
    }

    pub(crate) async fn seats(&self) -> Result<Vec<Seat>, Failure> {
        self.read(seats::all).await
    }

    pub(crate) async fn seat_of(&self, token: Hash) -> Result<Option<Seat>, Failure> {
        self.read(move |db| seats::of_token(db, token)).await
    }

    pub(crate) async fn give_pass(&self, pass: Pass, now: Time) -> Result<(), Failure> {
        self.write(LockKey::Nothing, unannounced, move |db| seats::give(db, pass, now)).await
    }

    pub(crate) async fn holder(&self, session: Hash, now: Time) -> Result<Option<Hash>, Failure> {
        self.read(move |db| seats::holder(db, session, now)).await
    }

    pub(crate) async fn redeem(&self, link: Hash, now: Time) -> Result<Option<Hash>, Failure> {
        self.write(LockKey::Nothing, unannounced, move |db| seats::redeem(db, link, now)).await
    }

    pub(crate) async fn end_pass(&self, session: Hash) -> Result<(), Failure> {
        self.write(LockKey::Nothing, ended, move |db| seats::end(db, session)).await
    }

    pub(crate) async fn sees(&self, seat: &Seat, document: DocumentId) -> Result<bool, Failure> {
        let seat = seat.clone();
        self.read(move |db| seats::sees(db, &seat, document)).await
    }

    /// The newest argument of a debate that the holder of a token has seen; 0 for none.
    pub(crate) async fn seen(&self, debate: DebateId, holder: Hash) -> Result<u64, Failure> {
        self.read(move |db| about(debate, seen::get(db, debate, holder))).await
    }

    /// Notes what the holder of a token has seen. Returns the newest argument seen.
    pub(crate) async fn note_seen(
        &self,
        debate: DebateId,
        holder: Hash,
        seq: u64,
    ) -> Result<u64, Failure> {
        let known = self.seen(debate, holder).await?;
        if known >= seq {
            return Ok(known);
        }
        self.write(LockKey::Nothing, unannounced, move |db| {
            about(debate, seen::note(db, debate, holder, seq))
        })
        .await
    }

    /// Verifies a debate, in short reads.
    pub(crate) async fn verify(&self, debate: DebateId) -> Result<Verified, Failure> {
        let mut walk = self.read(move |db| DebateWalk::of(db, debate)).await?;
        loop {
            let (verified, gone_on) = self
                .verify_on(move |db| {
                    let verified = walk.go_on(db, &mut Budget::of_a_step())?;
                    Ok((verified, walk))
                })
                .await?;
            if let Some(verified) = verified {
                return Ok(verified);
            }
            walk = gone_on;
        }
    }

    /// Takes one step of a verification of the whole record.
    pub(crate) async fn walk(
        &self,
        mut walk: VerifyWalk,
        last: bool,
    ) -> Result<VerifyWalk, Failure> {
        self.verify_on(move |db| walk.step(db, last).map(|()| walk)).await
    }

    async fn verify_on<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Db<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let turn = self.inner.verifying.acquire().await.expect("it is never closed");
        let verified = self.read_long(work).await;
        drop(turn);
        verified
    }

    /// Writes in the next batch. The work may run more than once; the last run counts.
    async fn write<T: Send + 'static>(
        &self,
        about: LockKey,
        notice: fn(&T, LockKey) -> Option<Notice>,
        work: impl FnMut(&Db<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        self.is_whole()?;
        self.inner.condition.noted(self.writer().write(about, notice, work).await)
    }

    /// Reads from one snapshot. For reads of microseconds: SQLite is read on the calling thread,
    /// because handing the work to another thread would cost more than the read.
    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Db<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let read = match &self.inner.backend {
            Backend::Sqlite(file) => file.read(work),
            // Boxed, so that a future that reads SQLite does not reserve memory for this one.
            Backend::Postgres(postgres) => Box::pin(postgres.pool.clone().read(work)).await,
        };
        match read {
            Err(Failure::Fault(Fault::Corrupt(what))) => Err(Box::pin(self.confirm(what)).await),
            other => other,
        }
    }

    /// Checks a report of damage from a read, and returns the fault of that read.
    async fn confirm(&self, what: String) -> Failure {
        match &self.inner.backend {
            Backend::Sqlite(file) => {
                self.inner.condition.suspect();
                match file.writer.pulse().await {
                    Ok(()) => Fault::misread(&what).into(),
                    Err(fault) => fault.into(),
                }
            }
            // PostgreSQL distinguishes damage from a failed read.
            Backend::Postgres(_) => {
                self.inner.condition.note(&what);
                Fault::Corrupt(what).into()
            }
        }
    }

    async fn read_long<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Db<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        self.read_in_turn(&self.inner.long_reads, work).await
    }

    /// Reads on a thread for long work, once a permit is free.
    async fn read_in_turn<T: Send + 'static>(
        &self,
        turns: &Arc<Semaphore>,
        work: impl FnOnce(&Db<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let turn = turns.clone().acquire_owned().await.expect("it is never closed");
        let store = self.clone();
        let read = match &self.inner.backend {
            // The permit is held until the read ends, even if the caller is cancelled.
            Backend::Sqlite(_) => spawn_long_work(move || {
                let _turn = turn;
                match &store.inner.backend {
                    Backend::Sqlite(file) => file.read(work),
                    Backend::Postgres(_) => unreachable!("the backend never changes"),
                }
            })
            .await
            .map_err(|died| Fault::Storage(format!("a read died: {died}")))?,
            Backend::Postgres(postgres) => {
                let work = move |db: &Db<'_>| {
                    let _turn = turn;
                    work(db)
                };
                Box::pin(postgres.pool.clone().read(work)).await
            }
        };
        match read {
            Err(Failure::Fault(Fault::Corrupt(what))) => Err(Box::pin(self.confirm(what)).await),
            other => other,
        }
    }
}

impl SqliteFile {
    /// Opens the file. A damaged file is opened read-only, so that a user without a backup can still
    /// export the readable rest.
    fn open(path: &Path, options: &StoreOptions) -> Result<(Self, Condition), OpenError> {
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
    async fn scrub(&self) -> bool {
        // An idle reader may hold an old part of the log.
        self.readers.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let path = self.path.clone();
        match self.writer.alone(move || purge::scrub(&path)).await {
            Ok(()) => true,
            Err(fault) => {
                tracing::warn!(%fault, "purged texts are still in free parts of the database file");
                false
            }
        }
    }

    /// Reads on the calling thread.
    fn read<T>(&self, work: impl FnOnce(&Db<'_>) -> Result<T, Failure>) -> Result<T, Failure> {
        let readers = || self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = readers().pop();
        let reader = match idle {
            Some(reader) => reader,
            None => connection::reader(&self.path)?,
        };
        let result = {
            let snapshot = reader.unchecked_transaction()?;
            work(&Db::Sqlite(&snapshot))
        };
        let mut readers = readers();
        if readers.len() < READERS {
            readers.push(reader);
        }
        result
    }
}

/// The notice of a new debate.
fn opened(written: &WriteOutcome, about: LockKey) -> Option<Notice> {
    match about {
        LockKey::Debate(debate) if !written.replayed => Some(Notice::Opened(debate)),
        LockKey::Debate(_) | LockKey::Document(_) | LockKey::Nothing => None,
    }
}

/// The notice of a move.
fn played(written: &WriteOutcome, about: LockKey) -> Option<Notice> {
    match about {
        LockKey::Debate(debate) if !written.replayed => Some(Notice::Written(debate)),
        LockKey::Debate(_) | LockKey::Document(_) | LockKey::Nothing => None,
    }
}

/// The notice of a deleted debate.
fn deleted<T>(_: &T, about: LockKey) -> Option<Notice> {
    match about {
        LockKey::Debate(debate) => Some(Notice::Deleted(debate)),
        LockKey::Document(_) | LockKey::Nothing => None,
    }
}

/// The notice of a revoked token or an ended session.
fn ended<T>(_: &T, _: LockKey) -> Option<Notice> {
    Some(Notice::Seats)
}

/// No notice, for writes that no waiter waits for.
fn unannounced<T>(_: &T, _: LockKey) -> Option<Notice> {
    None
}

/// Creates the folder, the database and its lock file if they are missing, readable only by their
/// owner. Returns the lock file.
fn make(path: &Path) -> std::io::Result<fs::File> {
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

/// Whether a list page is a short read: without a search, and not deep.
fn is_quick(search: Option<&str>, limit: u64, offset: u64) -> bool {
    search.is_none() && offset.saturating_add(limit) <= QUICK_ROWS
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

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Adds the debate to a report of damage.
fn about<T>(debate: DebateId, outcome: Result<T, Failure>) -> Result<T, Failure> {
    outcome.map_err(|failure| failure.placed(|damage| damage.of_debate(debate)))
}

/// Adds the document to a report of damage.
fn about_document<T>(document: DocumentId, outcome: Result<T, Failure>) -> Result<T, Failure> {
    outcome.map_err(|failure| failure.placed(|damage| damage.of_document(document)))
}

/// A report of damage.
fn damaged(what: &str) -> Failure {
    Damage::new(what).into()
}

/// Reverses arguments that were read newest first.
fn in_order(mut newest_first: Vec<Argument>) -> Vec<Argument> {
    newest_first.reverse();
    newest_first
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
