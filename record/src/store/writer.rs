//! The one thread that writes, and its group commit.
//!
//! It takes every request that is waiting, does each inside one transaction, commits once, and
//! only then answers them all, refusals included: a refusal may rest on a write of the same batch.
//! When a commit fails nothing of its batch is acknowledged, and nothing more is accepted until
//! the database has been opened again and has taken a write.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::connection;
use crate::{Damage, Failure, Fault};

/// The most requests that share a commit.
const BATCH: usize = 512;

/// The handle on the writing thread.
#[derive(Debug)]
pub(super) struct Writer {
    jobs: Mutex<Option<mpsc::Sender<Box<dyn Job>>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Writer {
    /// Starts the thread on a database that is up to date.
    pub(super) fn start(path: &Path, queue: usize) -> rusqlite::Result<Self> {
        let (jobs, waiting) = mpsc::channel(queue);
        let desk =
            Desk { path: path.to_owned(), db: Some(connection::writer(path)?), trouble: None };
        let thread = thread::Builder::new()
            .name("aw-writer".to_owned())
            .spawn(move || desk.work(waiting))
            .expect("a thread can be started while the program starts");
        Ok(Writer { jobs: Mutex::new(Some(jobs)), thread: Mutex::new(Some(thread)) })
    }

    /// Does this work in the next batch and returns what came of it once that is committed.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(Request { work: Some(work), result: None, reply });
        let Some(jobs) = unpoisoned(&self.jobs).clone() else {
            return Err(Fault::Busy("the server is stopping").into());
        };
        jobs.try_send(job).map_err(|_| Fault::Busy("too many writes are waiting"))?;
        drop(jobs);
        answer.await.map_err(|_| Fault::Storage("the writer died".to_owned()))?
    }

    /// Finds out whether writing works, by writing.
    pub(super) async fn pulse(&self) -> Result<(), Fault> {
        match self.write(|db| Ok(pulse(db)?)).await {
            Ok(()) => Ok(()),
            Err(Failure::Fault(fault)) => Err(fault),
            Err(other) => Err(Fault::Storage(other.to_string())),
        }
    }

    /// Lets the thread finish what is queued, and waits for it.
    pub(super) async fn close(&self) {
        drop(unpoisoned(&self.jobs).take());
        let Some(thread) = unpoisoned(&self.thread).take() else { return };
        if !matches!(tokio::task::spawn_blocking(|| thread.join()).await, Ok(Ok(()))) {
            tracing::error!("the writer did not end well");
        }
    }
}

fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn pulse(db: &Connection) -> rusqlite::Result<()> {
    db.prepare_cached("update meta set value = value + 1 where name = 'pulse'")?.execute([])?;
    Ok(())
}

/// A request, whatever its answer is made of.
trait Job: Send {
    /// Does the work. A fault is the database's; everything else is an answer.
    fn run(&mut self, db: &Connection) -> Result<(), Fault>;

    /// Sends the answer, now that it is known whether the batch is on disk.
    fn answer(self: Box<Self>, committed: &Result<(), Fault>);
}

struct Request<T, F> {
    work: Option<F>,
    result: Option<Result<T, Failure>>,
    reply: oneshot::Sender<Result<T, Failure>>,
}

impl<T, F> Job for Request<T, F>
where
    T: Send,
    F: FnOnce(&Connection) -> Result<T, Failure> + Send,
{
    fn run(&mut self, db: &Connection) -> Result<(), Fault> {
        let work = self.work.take().expect("a job runs once");
        let result = catch_unwind(AssertUnwindSafe(|| work(db)))
            .unwrap_or_else(|_| Err(Fault::Refused("the request died".to_owned()).into()));
        let fault = match &result {
            Err(Failure::Fault(fault)) => Err(fault.clone()),
            Ok(_) | Err(_) => Ok(()),
        };
        self.result = Some(result);
        fault
    }

    fn answer(self: Box<Self>, committed: &Result<(), Fault>) {
        let answer = match (committed, self.result) {
            (Ok(()), Some(result)) => result,
            (Err(fault), _) => Err(fault.clone().into()),
            (Ok(()), None) => Err(Fault::Storage("the request was not run".to_owned()).into()),
        };
        if self.reply.send(answer).is_err() {
            tracing::debug!("nobody waits for this answer any more");
        }
    }
}

/// The thread's side.
struct Desk {
    path: PathBuf,
    db: Option<Connection>,
    /// Why the last batch failed, until the database has been mended.
    trouble: Option<Fault>,
}

impl Desk {
    fn work(mut self, mut waiting: mpsc::Receiver<Box<dyn Job>>) {
        let mut batch = Vec::with_capacity(BATCH);
        while waiting.blocking_recv_many(&mut batch, BATCH) > 0 {
            let committed = self.commit(&mut batch);
            if let Err(fault) = &committed
                && self.trouble.replace(fault.clone()).as_ref() != Some(fault)
            {
                tracing::error!(%fault, requests = batch.len(), "a batch was not written");
            }
            for job in batch.drain(..) {
                job.answer(&committed);
            }
        }
        if let Some(db) = self.db
            && let Err(error) = checkpoint(&db)
        {
            tracing::warn!(%error, "the log could not be folded into the database");
        }
    }

    /// Does the whole batch in one transaction. After an error nothing of it is in the record.
    fn commit(&mut self, batch: &mut [Box<dyn Job>]) -> Result<(), Fault> {
        if self.trouble.is_some() {
            self.mend()?;
        }
        let Some(db) = &self.db else { return Err(Fault::Busy("the database is closed")) };
        let done = run_all(db, batch);
        if done.is_err() && !db.is_autocommit() {
            db.execute_batch("rollback")?;
        }
        done
    }

    /// Opens the database again and accepts it only once it has taken a write.
    fn mend(&mut self) -> Result<(), Fault> {
        self.db = None;
        let db = connection::writer(&self.path)?;
        // After a failed sync, pages may look written that never reached the disk. Folding the
        // whole log into the file writes and syncs them anew, and starts an empty log.
        checkpoint(&db)?;
        if self.trouble != Some(Fault::StorageFull) {
            let verdict: String = db.query_row("pragma quick_check(1)", [], |row| row.get(0))?;
            if verdict != "ok" {
                return Err(Fault::Damaged(Damage::new(verdict)));
            }
        }
        pulse(&db)?;
        tracing::info!("the database takes writes again");
        self.db = Some(db);
        self.trouble = None;
        Ok(())
    }
}

fn run_all(db: &Connection, batch: &mut [Box<dyn Job>]) -> Result<(), Fault> {
    db.prepare_cached("begin immediate")?.execute([])?;
    for job in batch {
        db.prepare_cached("savepoint request")?.execute([])?;
        match job.run(db) {
            Ok(()) => {}
            // The fault is this request's alone: the others of the batch must not pay for it.
            Err(Fault::Refused(_) | Fault::Damaged(_)) => {
                db.prepare_cached("rollback to request")?.execute([])?;
            }
            Err(fault) => return Err(fault),
        }
        db.prepare_cached("release request")?.execute([])?;
    }
    db.prepare_cached("commit")?.execute([])?;
    Ok(())
}

fn checkpoint(db: &Connection) -> Result<(), Fault> {
    let busy: bool = db.query_row("pragma wal_checkpoint(truncate)", [], |row| row.get(0))?;
    if busy { Err(Fault::Busy("readers hold the log")) } else { Ok(()) }
}
