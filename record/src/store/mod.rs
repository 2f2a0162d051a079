//! The store: the record in a SQLite file or in PostgreSQL.
//!
//! It contains no rules: a move brings them as [`DebateRules`]. It reads no clock, and notifies only other
//! servers on the same record. Threads write ([`writer`]), any number of connections read.
//! All SQL is in this folder, beneath the calls of the [`Store`] that run it: [`debate_writes`] calls
//! [`debates`]; [`read`], [`list`], [`documents`] and the others begin with their own calls. [`db`] runs
//! the statements in either database. [`sqlite_file`] and [`migrate`] are specific to SQLite,
//! [`postgres`] to PostgreSQL, [`legacy`] imports from the older system.

mod backup;
mod checksums;
mod condition;
mod connection;
#[cfg(test)]
mod costs;
mod counts;
mod db;
mod debate_writes;
mod debates;
mod documents;
mod find;
mod left_log;
mod legacy;
mod list;
mod migrate;
mod open;
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
mod sqlite_file;
mod transfer;
mod verify;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use aw_core::{Argument, DebateId, DocumentId};
use tokio::sync::Semaphore;

pub use backup::backup;
use condition::Condition;
use db::Db;
pub(crate) use debates::{DebateRules, NewArgument, NewDebate, NewMove, WriteOutcome};
pub use legacy::{Rehearsal, rehearse};
pub use open::{OpenError, Place, StoreOptions};
pub use postgres::PostgresUrl;
pub(crate) use postgres::{Notice, PeerListener};
pub(crate) use read::WaitLook;
pub use restore::{RestoreError, Restored, restore};
pub use seats::RestoredTokens;
pub use transfer::{TransferError, Transferred, transfer};
pub(crate) use verify::VerifyWalk;

use crate::long_work::spawn_long_work;
use crate::{Damage, Failure, Fault, Search, SearchPage};
use postgres::Postgres;
use quotes::NormalForms;
use search::IndexPiece;
use sqlite_file::SqliteFile;
use writer::{LockKey, Writer};

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

/// How many long reads run at once.
const LONG_READS: usize = 2;

/// How many pieces a search adds to its index before it looks.
const CATCH_UP: usize = 4;

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
            Backend::Sqlite(file) => file.close().await,
            Backend::Postgres(postgres) => postgres.close().await,
        }
    }

    fn writer(&self) -> &Writer {
        match &self.inner.backend {
            Backend::Sqlite(file) => &file.writer,
            Backend::Postgres(postgres) => &postgres.writer,
        }
    }

    /// Removes the bytes of removed rows from the files. Returns whether it could: PostgreSQL does it in
    /// its own time.
    pub(crate) async fn scrub(&self) -> bool {
        match &self.inner.backend {
            Backend::Sqlite(file) => file.scrub().await,
            Backend::Postgres(_) => false,
        }
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

/// No notice, for writes that no waiter waits for.
fn unannounced<T>(_: &T, _: LockKey) -> Option<Notice> {
    None
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
