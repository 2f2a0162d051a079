//! The store: the record in a SQLite file or in PostgreSQL.
//!
//! It knows no rules: it is lent one ([`Store::play`]). It has no clock and tells nobody but other
//! servers on the same record. A thread writes ([`writer`]), any number of connections read. SQL lives
//! in this folder and nowhere else: [`debates`], [`read`], [`list`] and [`documents`] hold the
//! statements, which [`db`] runs in either database; [`migrate`] holds SQLite's schema, [`postgres`]
//! all that is PostgreSQL's own, [`legacy`] the import of what an older system left behind.

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
mod postgres;
mod read;
mod restore;
mod rows;
mod search;
mod seats;
mod transfer;
mod verify;
mod writer;

use std::fmt;
use std::fs;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use aw_core::{
    Argument, ArgumentId, Content, Debate, DebateId, DebateType, DocumentId, Entry, Hash, Move,
    Refusal, RequestId, Role, Seq, Standing, Target, Time, mentions,
};
use rusqlite::Connection;
use tokio::sync::Semaphore;
use uuid::Uuid;

pub use backup::backup;
use condition::Condition;
use db::Db;
pub(crate) use debates::{NewArgument, NewDebate, NewMove, WriteOutcome};
use legacy::Docstore;
pub use legacy::{Rehearsal, rehearse};
pub use postgres::PostgresUrl;
pub(crate) use postgres::{Notice, PeerListener};
pub(crate) use read::Look;
pub use restore::{RestoreError, Restored, restore};
pub use transfer::{TransferError, Transferred, transfer};
pub(crate) use verify::VerifyWalk;

use crate::{
    CitedMark, CitedPage, Context, Damage, DebateList, DebateListed, Document, DocumentList,
    DocumentVersion, Failure, Fault, Filter, KeptVersion, NewDocument, NewSeat, NewVersion,
    PageData, Pass, Seat, Selection, Stretch, Surroundings, TypeTexts, Verified, VersionList,
};
use postgres::Postgres;
use verify::{Budget, DebateWalk};
use writer::{LockKey, Writer};

/// Where a record is kept.
#[derive(Debug, Clone)]
pub enum Place {
    /// In this SQLite file; made, with its folder, when it is not there.
    File(PathBuf),
    /// In PostgreSQL, which may serve several servers.
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

    /// A `postgres://` URL, or otherwise the path of a file.
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

/// How to open a [`Store`].
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// Where it is.
    pub place: Place,
    /// How many writes may wait before the next one is turned away.
    pub queue: usize,
    /// How many debates are kept, besides deleted ones.
    pub most_debates: u64,
    /// How many documents are kept, besides deleted ones.
    pub most_documents: u64,
    /// Whether one that was only half moved here may be opened: by whoever moves the rest.
    pub half_moved: bool,
    /// Where the older system keeps documents, which a SQLite file takes over as they come.
    pub docstores: Vec<PathBuf>,
}

impl StoreOptions {
    /// The usual settings for this place.
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

/// Why a database was not opened. It is left as it was.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Somebody else has it open.
    #[error("{path} is in use by another aw server")]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// A newer version of aw wrote it.
    #[error(
        "{path} was written by a newer aw (schema {found}, this one knows {known}): \
         install that version or a later one; the file was left untouched"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The newest schema that is known here.
        known: i64,
    },
    /// It is a database, but not one of ours.
    #[error("{path} is not a database of aw: choose another file; this one was left untouched")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A database of the older system that somebody has open.
    #[error(
        "{path} is a database of the older system, and {by} has it open: stop the older server, then \
         run this again; the file was left untouched"
    )]
    OlderServer {
        /// The file.
        path: PathBuf,
        /// Who has it open, as far as that is known.
        by: String,
    },
    /// It is damaged beyond being read.
    #[error(
        "{path} is damaged: {what}; restore the newest backup with aw server restore PATH; this file was \
         left untouched"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        what: String,
    },
    /// Restoring a backup was interrupted.
    #[error("restoring a backup to {path} was interrupted: aw server start finishes it")]
    HalfRestored {
        /// The file.
        path: PathBuf,
    },
    /// A database of the older system that cannot be read to the end.
    #[error("{path} cannot be imported and was left untouched: {}", .problems.join("; "))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What could not be read.
        problems: Vec<String>,
    },
    /// It was moved here, but not to the end.
    #[error(
        "{place} holds only a part of a record, because moving it there was interrupted: run the same \
         aw server migrate again"
    )]
    HalfMoved {
        /// The database, without a password.
        place: String,
    },
    /// An older version of aw wrote it, and it may not be changed now.
    #[error(
        "{place} is of an older version: start a server on it once, which brings it up to date"
    )]
    Older {
        /// The database, without a password.
        place: String,
    },
    /// The migration or the import failed half way.
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
    /// PostgreSQL could not be reached, or refused.
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
    /// Reads that may take long are few at a time, and off the threads that serve everybody.
    long_reads: Arc<Semaphore>,
    /// One search at a time, and one list from far down: they look at many rows.
    searching: Arc<Semaphore>,
    /// However many ask for it, one at a time verifies.
    verifying: Arc<Semaphore>,
    condition: Condition,
    most_debates: u64,
    most_documents: u64,
}

/// Where the record is kept.
#[derive(Debug)]
enum Backend {
    Sqlite(SqliteFile),
    Postgres(Postgres),
}

/// A SQLite file that is open.
#[derive(Debug)]
struct SqliteFile {
    path: PathBuf,
    docstores: Vec<Docstore>,
    readers: Mutex<Vec<Connection>>,
    writer: Writer,
    /// Held for as long as the store is open: two writers would not hear each other's bell.
    _lock: fs::File,
}

/// How a store is, for whoever watches it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Vitals {
    /// The kind of database.
    pub kind: &'static str,
    /// Of a pool of sessions: how many are at work, and how many could be.
    pub sessions: Option<(usize, usize)>,
    /// Whether other servers are heard, where there may be others.
    pub listening: Option<bool>,
    /// How many times the listening connection was made anew.
    pub reconnects: u64,
    /// How many batches were committed.
    pub batches: u64,
    /// How many requests were in them.
    pub writes: u64,
}

/// How many idle connections are kept.
const READERS: usize = 8;

/// How many long reads run at once.
const LONG_READS: usize = 2;

/// How far down a list goes that is read in passing.
const QUICK_ROWS: u64 = 200;

impl Store {
    /// Opens the database, migrating or importing it first where needed.
    ///
    /// This may take a while: half a minute where a PostgreSQL is not up yet.
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
                verifying: Arc::new(Semaphore::new(1)),
                condition,
                most_debates: options.most_debates,
                most_documents: options.most_documents,
            }),
        })
    }

    /// Lends the store somebody who hears what other servers write, where there may be others.
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

    /// How it is.
    pub(crate) fn vitals(&self) -> Vitals {
        match &self.inner.backend {
            Backend::Sqlite(file) => Vitals { kind: "sqlite", ..file.writer.vitals() },
            Backend::Postgres(postgres) => postgres.vitals(),
        }
    }

    /// Whether it can write, found out by writing.
    pub(crate) async fn pulse(&self) -> Result<(), Fault> {
        self.is_whole()?;
        self.inner.condition.noted(self.writer().pulse().await)
    }

    /// Fails once the database was found to be damaged: then nothing more is written.
    pub(crate) fn is_whole(&self) -> Result<(), Fault> {
        self.inner.condition.check()
    }

    /// Ends the writer after everything that is queued, and folds the log into the file.
    pub(crate) async fn close(&self) {
        match &self.inner.backend {
            Backend::Sqlite(file) => {
                // SQLite removes its log when the last connection goes, which should be the writer's.
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
        self.write(LockKey::Debate(new.id), opened, move |db| {
            about(new.id, debates::open(db, &new, most))
        })
        .await
    }

    /// Makes a move: finds the debate and the target, asks the rule, and writes what it says.
    pub(crate) async fn play(
        &self,
        new: NewMove,
        rule: impl Fn(&Debate, Move<Target>) -> Result<Vec<Entry>, Refusal> + Send + 'static,
    ) -> Result<WriteOutcome, Failure> {
        self.write(LockKey::Debate(new.debate), played, move |db| {
            about(new.debate, debates::play(db, &new, &rule))
        })
        .await
    }

    /// Imports the documents that the older system has written since, if this text may cite one.
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
        self.write(LockKey::Nothing, untold, move |db| legacy::keep_documents(db, &new)).await
    }

    /// The debate that had this id in the older system, if it was imported from there.
    pub(crate) async fn debate_once_called(&self, id: &str) -> Result<Option<DebateId>, Failure> {
        // PostgreSQL takes no text with this character, so no id has it.
        if id.contains('\0') {
            return Ok(None);
        }
        let id = id.to_owned();
        self.read(move |db| find::once_called(db, &id)).await
    }

    pub(crate) async fn delete_debate(&self, debate: DebateId, at: Time) -> Result<(), Failure> {
        self.write(LockKey::Debate(debate), deleted, move |db| {
            about(debate, debates::delete(db, debate, at))
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
        self.write(LockKey::Nothing, untold, move |db| documents::create(db, id, &new, at, most))
            .await
    }

    pub(crate) async fn add_version(
        &self,
        document: DocumentId,
        request: RequestId,
        new: NewVersion,
        at: Time,
    ) -> Result<KeptVersion, Failure> {
        self.write(LockKey::Document(document), untold, move |db| {
            about_document(document, documents::add_version(db, document, request, &new, at))
        })
        .await
    }

    pub(crate) async fn delete_document(
        &self,
        document: DocumentId,
        at: Time,
    ) -> Result<(), Failure> {
        self.write(LockKey::Document(document), untold, move |db| {
            about_document(document, documents::delete(db, document, at))
        })
        .await
    }

    /// What a waiter would learn now. `ends` says whether its wait is over, given the standing and
    /// whether anything is unseen.
    pub(crate) async fn look(
        &self,
        debate: DebateId,
        role: Role,
        after: Option<ArgumentId>,
        ends: impl FnOnce(&Standing, bool) -> bool + Send + 'static,
    ) -> Result<Look, Failure> {
        self.read(move |db| about(debate, read::look(db, debate, role, after, ends))).await
    }

    /// The debate with its newest arguments, or with all, as far as that can be read in passing.
    pub(crate) async fn context(
        &self,
        debate: DebateId,
        limit: Option<u64>,
    ) -> Result<Context, Failure> {
        self.read(move |db| about(debate, read::context(db, debate, limit))).await
    }

    /// A piece of what is too long to be read in passing.
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

    /// At most `limit` arguments after `after`, and no more than can be read in passing.
    pub(crate) async fn stretch(
        &self,
        debate: DebateId,
        after: Seq,
        limit: u64,
    ) -> Result<Stretch, Failure> {
        self.read(move |db| about(debate, read::stretch(db, debate, after, limit))).await
    }

    /// What a page of a debate is drawn from.
    pub(crate) async fn page_data(
        &self,
        debate: DebateId,
        before: Option<Seq>,
        limit: u64,
    ) -> Result<PageData, Failure> {
        self.read_long(move |db| about(debate, page_data::read(db, debate, before, limit))).await
    }

    pub(crate) async fn place(
        &self,
        debate: DebateId,
        argument: ArgumentId,
    ) -> Result<Option<Seq>, Failure> {
        self.read(move |db| about(debate, find::seq_of(db, &find::live(db, debate)?, argument)))
            .await
    }

    /// What these arguments are drawn with.
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

    pub(crate) async fn list(&self, filter: &Filter) -> Result<DebateList, Failure> {
        let is_quick = is_quick(filter.search.as_deref(), filter.limit, filter.offset);
        let filter = filter.clone();
        let work = move |db: &Db<'_>| list::debates(db, &filter);
        match is_quick {
            true => self.read(work).await,
            false => self.read_in_turn(&self.inner.searching, work).await,
        }
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

    pub(crate) async fn list_documents(
        &self,
        search: Option<&str>,
        include_deleted: bool,
        limit: u64,
        offset: u64,
        seen_by: Option<&Seat>,
    ) -> Result<DocumentList, Failure> {
        // For a seat of one debate all that it may see is counted.
        let is_quick = is_quick(search, limit, offset) && seen_by.is_none();
        let (search, seen_by) = (search.map(str::to_owned), seen_by.cloned());
        let work = move |db: &Db<'_>| {
            let (search, seen_by) = (search.as_deref(), seen_by.as_ref());
            list::documents(db, search, include_deleted, limit, offset, seen_by)
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
        self.write(LockKey::Nothing, untold, move |db| seats::make(db, id, &new, at)).await
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
        self.write(LockKey::Nothing, untold, move |db| seats::give(db, pass, now)).await
    }

    pub(crate) async fn holder(&self, session: Hash, now: Time) -> Result<Option<Hash>, Failure> {
        self.read(move |db| seats::holder(db, session, now)).await
    }

    pub(crate) async fn redeem(&self, link: Hash, now: Time) -> Result<Option<Hash>, Failure> {
        self.write(LockKey::Nothing, untold, move |db| seats::redeem(db, link, now)).await
    }

    pub(crate) async fn end_pass(&self, session: Hash) -> Result<(), Failure> {
        self.write(LockKey::Nothing, ended, move |db| seats::end(db, session)).await
    }

    pub(crate) async fn sees(&self, seat: &Seat, document: DocumentId) -> Result<bool, Failure> {
        let seat = seat.clone();
        self.read(move |db| seats::sees(db, &seat, document)).await
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

    /// Goes a step on a walk over the whole record.
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

    /// Writes in the next batch. The work may be done more than once, of which the last time counts.
    async fn write<T: Send + 'static>(
        &self,
        about: LockKey,
        tells: fn(&T, LockKey) -> Option<Notice>,
        work: impl FnMut(&Db<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        self.is_whole()?;
        self.inner.condition.noted(self.writer().write(about, tells, work).await)
    }

    /// Reads, all from one snapshot. For reads that take microseconds: SQLite is read on the calling
    /// thread without a pause, because handing them to another one would cost more than they do.
    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Db<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let read = match &self.inner.backend {
            Backend::Sqlite(file) => file.read(work),
            // In a box of its own: whoever waits for SQLite keeps no room for it.
            Backend::Postgres(postgres) => Box::pin(postgres.pool.clone().read(work)).await,
        };
        match read {
            Err(Failure::Fault(Fault::Corrupt(what))) => Err(Box::pin(self.confirm(what)).await),
            other => other,
        }
    }

    /// Finds out whether the database is damaged, after a read that says so, and returns the fault of
    /// that read.
    async fn confirm(&self, what: String) -> Failure {
        match &self.inner.backend {
            Backend::Sqlite(file) => {
                self.inner.condition.suspect();
                match file.writer.pulse().await {
                    Ok(()) => Fault::misread(&what).into(),
                    Err(fault) => fault.into(),
                }
            }
            // PostgreSQL tells damage from a read that failed.
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

    /// Reads on a thread that may be busy for long, once it is this one's turn.
    async fn read_in_turn<T: Send + 'static>(
        &self,
        turns: &Arc<Semaphore>,
        work: impl FnOnce(&Db<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let turn = turns.clone().acquire_owned().await.expect("it is never closed");
        let store = self.clone();
        let read = match &self.inner.backend {
            // The turn lasts as long as the reading, also when whoever asked has left.
            Backend::Sqlite(_) => tokio::task::spawn_blocking(move || {
                let _turn = turn;
                match &store.inner.backend {
                    Backend::Sqlite(file) => file.read(work),
                    Backend::Postgres(_) => unreachable!("it is kept where it was kept"),
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
    /// Opens the file. One that is damaged is opened too, as far as it can be read: nobody writes to
    /// it, but somebody without a backup can still take the rest away.
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
            // One that would have to be changed first stays as it is.
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

/// What other servers are told of an opening.
fn opened(written: &WriteOutcome, about: LockKey) -> Option<Notice> {
    match about {
        LockKey::Debate(debate) if !written.replayed => Some(Notice::Opened(debate)),
        LockKey::Debate(_) | LockKey::Document(_) | LockKey::Nothing => None,
    }
}

/// Of a move.
fn played(written: &WriteOutcome, about: LockKey) -> Option<Notice> {
    match about {
        LockKey::Debate(debate) if !written.replayed => Some(Notice::Written(debate)),
        LockKey::Debate(_) | LockKey::Document(_) | LockKey::Nothing => None,
    }
}

/// Of the deletion of a debate.
fn deleted((): &(), about: LockKey) -> Option<Notice> {
    match about {
        LockKey::Debate(debate) => Some(Notice::Deleted(debate)),
        LockKey::Document(_) | LockKey::Nothing => None,
    }
}

/// Of a token that was taken back, or a session that ended.
fn ended<T>(_: &T, _: LockKey) -> Option<Notice> {
    Some(Notice::Seats)
}

/// Of what nobody waits for.
fn untold<T>(_: &T, _: LockKey) -> Option<Notice> {
    None
}

/// Makes the folder, the database and its lock file, as far as they are not there, readable by
/// their owner alone.
fn make(path: &Path) -> std::io::Result<fs::File> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut private = fs::OpenOptions::new();
    private.read(true).write(true).create(true).truncate(false).mode(0o600);
    if !path.try_exists()? {
        private.open(path)?;
        // What is synced in a folder is of no use when a power cut takes the folder. Some file
        // systems cannot sync one, and some folders above are not ours to open.
        for folder in std::path::absolute(path)?.ancestors().skip(1) {
            let _ = fs::File::open(folder).and_then(|folder| folder.sync_all());
        }
    }
    private.open(beside(path, ".lock"))
}

/// Whether a page of a list is read in passing: without a search, and not from far down.
fn is_quick(search: Option<&str>, limit: u64, offset: u64) -> bool {
    search.is_none() && offset.saturating_add(limit) <= QUICK_ROWS
}

/// Closes a database that is ours, and SQLite's files beside it, which take its mode when they are
/// made.
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

/// Says which debate it is about, should it turn out to be damaged.
fn about<T>(debate: DebateId, outcome: Result<T, Failure>) -> Result<T, Failure> {
    outcome.map_err(|failure| failure.placed(|damage| damage.of_debate(debate)))
}

/// The same of a document.
fn about_document<T>(document: DocumentId, outcome: Result<T, Failure>) -> Result<T, Failure> {
    outcome.map_err(|failure| failure.placed(|damage| damage.of_document(document)))
}

/// A missing argument where the record promises one.
fn damaged(what: &str) -> Failure {
    Damage::new(what).into()
}

/// Puts what was read newest first into the record's order.
fn in_order(mut newest_first: Vec<Argument>) -> Vec<Argument> {
    newest_first.reverse();
    newest_first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_kept_for_the_next_read_but_not_all_of_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("debate.db");
        let (file, _) = SqliteFile::open(&path, &StoreOptions::at(&path)).unwrap();
        let idle = || file.readers.lock().unwrap().len();
        assert_eq!(file.read(|_| Ok(idle())).unwrap(), 0, "the only one is at work");
        assert_eq!(idle(), 1);

        fn at_once(file: &SqliteFile, reads: usize) -> Result<(), Failure> {
            if reads == 0 { Ok(()) } else { file.read(|_| at_once(file, reads - 1)) }
        }
        at_once(&file, READERS + 2).unwrap();
        assert_eq!(idle(), READERS);
    }
}
