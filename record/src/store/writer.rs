//! The writer threads and their group commit.
//!
//! SQLite has one writer, [`SqliteWriter`], and one thread; PostgreSQL has several, in
//! `postgres/writer.rs`. A caller that finds SQLite's writer idle uses it itself, because passing a
//! request to another thread and back takes longer than writing it.
//!
//! A writer takes all queued requests, runs them in one transaction, commits once, and only then
//! answers them all. That includes refusals, because a refusal may depend on a write of the same
//! batch. If a commit fails, none of its batch is acknowledged, and the writer accepts nothing more
//! until it has opened the database again and a test write succeeded. Once the database was found
//! damaged, it accepts nothing at all.

use std::fmt;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use aw_core::{DebateId, DocumentId};
use rusqlite::Connection;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{mpsc, oneshot};
use tokio::task::block_in_place;

use super::condition::{Condition, Depth, examine};
use super::db::{Db, values};
use super::postgres::{Notice, PeerListener, PostgresWriter};
use super::{Vitals, connection};
use crate::{Failure, Fault};

/// The most requests that share a commit.
const BATCH: usize = 512;

/// How long a writer collects requests while another writes.
const COLLECT: Duration = Duration::from_millis(1);

/// The handle on the writer threads and their queue.
pub(super) struct Writer {
    jobs: Mutex<Option<mpsc::Sender<Box<dyn Job>>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    written: Arc<Counts>,
    peers: Arc<OnceLock<Arc<dyn PeerListener>>>,
    /// The writer of a SQLite file.
    sqlite: Option<Arc<Mutex<SqliteWriter>>>,
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("written", &self.written).finish_non_exhaustive()
    }
}

/// How many batches and requests were committed.
#[derive(Debug, Default)]
struct Counts {
    batches: AtomicU64,
    requests: AtomicU64,
    round_trips: AtomicU64,
    /// Whether several requests shared the newest batch.
    shared: AtomicBool,
}

impl Counts {
    fn add(&self, requests: usize) {
        self.batches.fetch_add(1, Ordering::Relaxed);
        self.requests.fetch_add(requests as u64, Ordering::Relaxed);
        self.shared.store(requests > 1, Ordering::Relaxed);
    }
}

/// The debate or document that a request locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum LockKey {
    Debate(DebateId),
    Document(DocumentId),
    Nothing,
}

impl Writer {
    /// Starts the thread of an up-to-date database. A damaged one is not opened for writing.
    pub(super) fn start(
        path: &Path,
        file: File,
        queue: usize,
        condition: Condition,
    ) -> rusqlite::Result<Self> {
        let (jobs, waiting) = mpsc::channel(queue);
        let db = match condition.check() {
            Ok(()) => Some(connection::writer(path)?),
            Err(_) => None,
        };
        let writer = SqliteWriter { path: path.to_owned(), db, file, condition, trouble: None };
        let writer = Arc::new(Mutex::new(writer));
        let written = Arc::<Counts>::default();
        let (used, counts) = (writer.clone(), written.clone());
        let threads = vec![start(move || work(&used, waiting, &counts))];
        Ok(Writer {
            jobs: Mutex::new(Some(jobs)),
            threads: Mutex::new(threads),
            written,
            peers: Arc::default(),
            sqlite: Some(writer),
        })
    }

    /// Starts a thread for each of these writers. They share one queue.
    pub(super) fn of_postgres(writers: Vec<PostgresWriter>, queue: usize) -> Self {
        let (jobs, waiting) = mpsc::channel(queue);
        let waiting = Mutex::new(waiting);
        let queue =
            Arc::new(SharedQueue { waiting, under_way: Mutex::new(0), arrived: Condvar::new() });
        let (written, peers) =
            (Arc::<Counts>::default(), Arc::<OnceLock<Arc<dyn PeerListener>>>::default());
        let threads = writers.into_iter().map(|writer| {
            let (queue, counts, peers) = (queue.clone(), written.clone(), peers.clone());
            start(move || work_in_turn(writer, &queue, &counts, &peers))
        });
        let threads = Mutex::new(threads.collect());
        Writer { jobs: Mutex::new(Some(jobs)), threads, written, peers, sqlite: None }
    }

    /// Sets the receiver to notify when a commit may have gone unannounced.
    pub(super) fn set_peers(&self, peers: &Arc<dyn PeerListener>) {
        self.peers.get_or_init(|| peers.clone());
    }

    /// The counts of committed batches and requests.
    pub(super) fn vitals(&self) -> Vitals {
        Vitals {
            batches: self.written.batches.load(Ordering::Relaxed),
            writes: self.written.requests.load(Ordering::Relaxed),
            round_trips: self.written.round_trips.load(Ordering::Relaxed),
            ..Vitals::default()
        }
    }

    /// Runs this work in the next batch and returns its result after the commit.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        about: LockKey,
        notice: fn(&T, LockKey) -> Option<Notice>,
        work: impl FnMut(&Db<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(WriteJob { about, notice, work, result: None, reply });
        let Some(jobs) = unpoisoned(&self.jobs).clone() else {
            return Err(Fault::Busy("the server is stopping").into());
        };
        if let Some(job) = self.write_here(&jobs, job) {
            jobs.try_send(job).map_err(|_| Fault::Busy("too many writes are waiting"))?;
        }
        drop(jobs);
        answer.await.map_err(|_| Fault::Storage("the writer died".to_owned()))?
    }

    /// Writes a request on the calling thread, if the writer is idle; otherwise returns it. The runtime
    /// continues its other tasks on another thread meanwhile. While requests come from many callers,
    /// they wait for each other instead, so that they share commits.
    fn write_here(
        &self,
        jobs: &mpsc::Sender<Box<dyn Job>>,
        job: Box<dyn Job>,
    ) -> Option<Box<dyn Job>> {
        let alone =
            !self.written.shared.load(Ordering::Relaxed) && jobs.capacity() == jobs.max_capacity();
        let Some(Ok(mut writer)) =
            self.sqlite.as_ref().filter(|_| alone && may_block()).map(|writer| writer.try_lock())
        else {
            return Some(job);
        };
        block_in_place(|| writer.write(&mut vec![job], &self.written));
        None
    }

    /// Runs work on a SQLite file while nothing else writes to it.
    pub(super) async fn alone(
        &self,
        work: impl FnOnce() -> rusqlite::Result<()> + Send + 'static,
    ) -> Result<(), Fault> {
        let Some(writer) = self.sqlite.clone() else { return Ok(()) };
        let done = tokio::task::spawn_blocking(move || {
            let _writer = unpoisoned(&writer);
            work()
        });
        let done = done.await.map_err(|died| Fault::Storage(format!("the work died: {died}")))?;
        Ok(done?)
    }

    /// Checks with a test write whether writing works.
    pub(super) async fn pulse(&self) -> Result<(), Fault> {
        match self.write(LockKey::Nothing, |(), _| None, pulse).await {
            Ok(()) => Ok(()),
            Err(Failure::Fault(fault)) => Err(fault),
            Err(other) => Err(Fault::Storage(other.to_string())),
        }
    }

    /// Waits until the threads have finished the queue.
    pub(super) async fn close(&self) {
        drop(unpoisoned(&self.jobs).take());
        let threads = std::mem::take(&mut *unpoisoned(&self.threads));
        for thread in threads {
            if !matches!(tokio::task::spawn_blocking(|| thread.join()).await, Ok(Ok(()))) {
                tracing::error!("a writer thread panicked");
            }
        }
    }
}

fn start(work: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    thread::Builder::new()
        .name("aw-writer".to_owned())
        .spawn(work)
        .expect("a thread can be started while the program starts")
}

/// Whether the runtime of this thread can do without it for a while.
fn may_block() -> bool {
    let runtime = Handle::try_current();
    runtime.is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread)
}

/// Takes the queued requests and writes them, until there will be no more.
fn work(writer: &Mutex<SqliteWriter>, mut waiting: mpsc::Receiver<Box<dyn Job>>, written: &Counts) {
    let mut batch = Vec::with_capacity(BATCH);
    while let Some(first) = waiting.blocking_recv() {
        batch.push(first);
        // While a caller uses the writer, more requests arrive for this batch.
        let mut writer = unpoisoned(writer);
        while batch.len() < BATCH
            && let Ok(next) = waiting.try_recv()
        {
            batch.push(next);
        }
        writer.write(&mut batch, written);
    }
    unpoisoned(writer).finish();
}

/// The queue that several writers share.
struct SharedQueue {
    waiting: Mutex<mpsc::Receiver<Box<dyn Job>>>,
    /// How many batches are being written.
    under_way: Mutex<usize>,
    /// Signals that a batch was written.
    arrived: Condvar,
}

impl SharedQueue {
    /// Takes all queued requests; none if there will be no more. While other batches are under way it
    /// collects for a moment, because a batch of many costs little more than a batch of one.
    fn take(&self, batch: &mut Vec<Box<dyn Job>>) -> bool {
        let mut waiting = unpoisoned(&self.waiting);
        let Some(first) = waiting.blocking_recv() else { return false };
        batch.push(first);
        let mut under_way = unpoisoned(&self.under_way);
        if *under_way > 0 {
            let waited = self.arrived.wait_timeout(under_way, COLLECT);
            (under_way, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
        *under_way += 1;
        while batch.len() < BATCH
            && let Ok(next) = waiting.try_recv()
        {
            batch.push(next);
        }
        true
    }

    /// Notes that a batch was written.
    fn has_arrived(&self) {
        *unpoisoned(&self.under_way) -= 1;
        self.arrived.notify_one();
    }
}

/// Takes all queued requests and writes them. Meanwhile the next writer may take newer ones.
fn work_in_turn(
    mut writer: PostgresWriter,
    queue: &SharedQueue,
    written: &Counts,
    peers: &OnceLock<Arc<dyn PeerListener>>,
) {
    let mut batch = Vec::with_capacity(BATCH);
    let mut trouble = None;
    while queue.take(&mut batch) {
        let committed = writer.commit(&mut batch, peers);
        queue.has_arrived();
        written.round_trips.fetch_add(writer.round_trips(), Ordering::Relaxed);
        match &committed {
            Ok(()) => {
                written.add(batch.len());
                if trouble.take().is_some() {
                    tracing::info!("writing to the database works again");
                }
            }
            Err(fault) if trouble.as_ref() != Some(fault) => {
                tracing::error!(%fault, requests = batch.len(), "a batch was not written");
                trouble = Some(fault.clone());
            }
            Err(_) => {}
        }
        for job in batch.drain(..) {
            job.answer(&committed);
        }
    }
}

fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A write that changes only its own counter.
const PULSE: &str = "update meta set value = value + 1 where name = 'pulse'";

fn pulse(db: &Db<'_>) -> Result<(), Failure> {
    db.run(PULSE, values![])
}

/// A queued request with its result type erased.
pub(super) trait Job: Send {
    /// The rows that it locks.
    fn about(&self) -> LockKey;

    /// The notice for other servers.
    fn notice(&self) -> Option<Notice>;

    /// Runs the work. Returns a fault of the database; any other failure is an answer.
    fn run(&mut self, db: &Db<'_>) -> Result<(), Fault>;

    /// Sends the answer, once it is known whether the batch was committed.
    fn answer(self: Box<Self>, committed: &Result<(), Fault>);
}

struct WriteJob<T, F> {
    about: LockKey,
    notice: fn(&T, LockKey) -> Option<Notice>,
    work: F,
    result: Option<Result<T, Failure>>,
    reply: oneshot::Sender<Result<T, Failure>>,
}

impl<T, F> Job for WriteJob<T, F>
where
    T: Send,
    F: FnMut(&Db<'_>) -> Result<T, Failure> + Send,
{
    fn about(&self) -> LockKey {
        self.about
    }

    fn notice(&self) -> Option<Notice> {
        let done = self.result.as_ref()?.as_ref().ok()?;
        (self.notice)(done, self.about)
    }

    fn run(&mut self, db: &Db<'_>) -> Result<(), Fault> {
        let work = || {
            let done = (self.work)(db)?;
            db.settle()?;
            Ok(done)
        };
        let result = catch_unwind(AssertUnwindSafe(work))
            .unwrap_or_else(|_| Err(Fault::Refused("the request panicked".to_owned()).into()));
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
            tracing::debug!("the caller has left before the answer");
        }
    }
}

/// The writer of a SQLite file.
struct SqliteWriter {
    path: PathBuf,
    db: Option<Connection>,
    /// The handle with which examinations read the file.
    file: File,
    condition: Condition,
    /// Why the last batch failed, until the database works again.
    trouble: Option<Fault>,
}

impl SqliteWriter {
    /// Writes the batch and answers its requests.
    fn write(&mut self, batch: &mut Vec<Box<dyn Job>>, written: &Counts) {
        let committed = self.commit(batch);
        if let Err(fault) = &committed
            && self.trouble.replace(fault.clone()).as_ref() != Some(fault)
        {
            tracing::error!(%fault, requests = batch.len(), "a batch was not written");
        }
        if committed.is_ok() {
            written.add(batch.len());
        }
        for job in batch.drain(..) {
            job.answer(&committed);
        }
    }

    /// Closes the database.
    fn finish(&mut self) {
        let Some(db) = self.db.take() else { return };
        let folded = match self.condition.check() {
            Ok(()) => checkpoint(&db),
            // A damaged database keeps its log, so that both stay as they were found.
            Err(_) => connection::keep_log(&db).map_err(Fault::from),
        };
        if let Err(error) = folded {
            tracing::warn!(%error, "the log could not be checkpointed");
        }
    }

    /// Runs the batch in one transaction. After an error nothing of it is in the record.
    fn commit(&mut self, batch: &mut [Box<dyn Job>]) -> Result<(), Fault> {
        self.condition.check()?;
        if self.condition.take_suspicion() {
            self.condition.noted(examine(&self.path, &self.file, Depth::Indexes))?;
        }
        if self.trouble.is_some() {
            let reopened = self.reopen();
            self.condition.noted(reopened)?;
        }
        let Some(db) = &self.db else { return Err(Fault::Busy("the database is closed")) };
        let done = run_all(db, batch);
        let undone = match done.is_err() && !db.is_autocommit() {
            true => db.execute_batch("rollback").map_err(Fault::from),
            false => Ok(()),
        };
        match undone.and(done) {
            Err(Fault::Corrupt(what)) => {
                self.condition.noted(examine(&self.path, &self.file, Depth::Indexes))?;
                Err(Fault::misread(&what))
            }
            other => other,
        }
    }

    /// Opens the database again, and accepts it only after a test write.
    fn reopen(&mut self) -> Result<(), Fault> {
        self.db = None;
        if self.trouble != Some(Fault::StorageFull) {
            examine(&self.path, &self.file, Depth::Pages)?;
        }
        let db = connection::writer(&self.path)?;
        // After a failed sync, pages may seem written that never reached the disk. A checkpoint
        // writes and syncs them again, and starts an empty log.
        checkpoint(&db)?;
        db.execute(PULSE, [])?;
        tracing::info!("writing to the database works again");
        self.db = Some(db);
        self.trouble = None;
        Ok(())
    }
}

fn run_all(db: &Connection, batch: &mut [Box<dyn Job>]) -> Result<(), Fault> {
    db.prepare_cached("begin immediate")?.execute([])?;
    if let [job] = batch {
        return run_only(db, job.as_mut());
    }
    for job in batch {
        db.prepare_cached("savepoint request")?.execute([])?;
        match job.run(&Db::Sqlite(db)) {
            Ok(()) => {}
            // Only this request is at fault; the others of the batch are written.
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

/// Runs the only request of a batch. A savepoint would copy every page that it changes, and the
/// transaction can undo it as well.
fn run_only(db: &Connection, job: &mut dyn Job) -> Result<(), Fault> {
    let end = match job.run(&Db::Sqlite(db)) {
        Ok(()) => "commit",
        Err(Fault::Refused(_) | Fault::Damaged(_)) => "rollback",
        Err(fault) => return Err(fault),
    };
    db.prepare_cached(end)?.execute([])?;
    Ok(())
}

fn checkpoint(db: &Connection) -> Result<(), Fault> {
    let busy: bool = db.query_row("pragma wal_checkpoint(truncate)", [], |row| row.get(0))?;
    if busy { Err(Fault::Busy("readers hold the log")) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::thread::ThreadId;

    use tempfile::TempDir;

    use super::super::migrate;
    use super::*;
    use crate::Damage;

    type Answer = oneshot::Receiver<Result<(), Failure>>;

    /// A writer on a new database with a table of notes.
    fn writer(trouble: Option<Fault>) -> (TempDir, SqliteWriter) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("debate.db");
        fs::File::create(&path).unwrap();
        migrate::bring_up_to_date(&path, &[]).unwrap();
        let db = connection::writer(&path).unwrap();
        db.execute_batch("create table notes (text check (text <> 'wrong'))").unwrap();
        let file = File::open(&path).unwrap();
        (
            folder,
            SqliteWriter { path, db: Some(db), file, condition: Condition::default(), trouble },
        )
    }

    /// A request that writes a note and then returns the result of `end`.
    fn noting(
        text: &'static str,
        mut end: impl FnMut(&Db<'_>) -> Result<(), Failure> + Send + 'static,
    ) -> (Box<dyn Job>, Answer) {
        let (reply, answer) = oneshot::channel();
        let work = move |db: &Db<'_>| {
            db.run("insert into notes values (?1)", values![text])?;
            end(db)
        };
        let (about, notice) =
            (LockKey::Nothing, (|(), _| None) as fn(&(), LockKey) -> Option<Notice>);
        (Box::new(WriteJob { about, notice, work, result: None, reply }), answer)
    }

    fn lost() -> Failure {
        Fault::Storage("the disk went away".to_owned()).into()
    }

    /// Runs these requests in one batch and returns their answers.
    fn in_one_batch(
        writer: SqliteWriter,
        requests: Vec<(Box<dyn Job>, Answer)>,
    ) -> Vec<Result<(), Option<Fault>>> {
        let (jobs, waiting) = mpsc::channel(requests.len());
        let mut answers = Vec::new();
        for (job, answer) in requests {
            jobs.try_send(job).map_err(drop).unwrap();
            answers.push(answer);
        }
        drop(jobs);
        work(&Mutex::new(writer), waiting, &Counts::default());
        let received = |mut answer: Answer| match answer.try_recv().expect("an answer was sent") {
            Ok(()) => Ok(()),
            Err(Failure::Fault(fault)) => Err(Some(fault)),
            Err(_) => Err(None),
        };
        answers.into_iter().map(received).collect()
    }

    fn notes(path: &Path) -> Vec<String> {
        let db = Connection::open(path).unwrap();
        let mut all = db.prepare("select text from notes order by rowid").unwrap();
        all.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn a_refused_or_panicking_request_does_not_fail_its_batch() {
        let (_folder, writer) = writer(None);
        let path = writer.path.clone();
        let refused = Fault::Refused("not so".to_owned());
        let damaged = Fault::Damaged(Damage::new("not so"));
        let (one, other) = (refused.clone(), damaged.clone());
        let answers = in_one_batch(
            writer,
            vec![
                noting("first", |_| Ok(())),
                noting("refused", move |_| Err(one.clone().into())),
                noting("damaged", move |_| Err(other.clone().into())),
                noting("dies", |_| panic!("on purpose")),
                noting("answered", |_| Err(Failure::RequestIdReused)),
                noting("last", |_| Ok(())),
            ],
        );
        let died = Fault::Refused("the request panicked".to_owned());
        let expected =
            [Ok(()), Err(Some(refused)), Err(Some(damaged)), Err(Some(died)), Err(None), Ok(())];
        assert_eq!(answers, expected);
        // A refusal is an answer, not a fault, so its note stays; real refusals write nothing.
        assert_eq!(notes(&path), ["first", "answered", "last"]);
    }

    #[test]
    fn a_refused_request_that_is_alone_in_its_batch_is_undone() {
        let refused = Fault::Refused("not so".to_owned());
        let (_folder, writer) = writer(None);
        let path = writer.path.clone();
        let fault = refused.clone();
        let answers =
            in_one_batch(writer, vec![noting("refused", move |_| Err(fault.clone().into()))]);
        assert_eq!(answers, [Err(Some(refused))]);
        assert!(notes(&path).is_empty());
    }

    #[test]
    fn a_failed_batch_is_neither_written_nor_acknowledged() {
        let (_folder, writer) = writer(None);
        let path = writer.path.clone();
        let answers = in_one_batch(
            writer,
            vec![
                noting("first", |_| Ok(())),
                noting("lost", |_| Err(lost())),
                noting("last", |_| Ok(())),
            ],
        );
        let Failure::Fault(fault) = lost() else { unreachable!("it is one") };
        assert_eq!(answers, vec![Err(Some(fault)); 3]);
        assert_eq!(notes(&path), [""; 0]);
    }

    #[test]
    fn a_failed_batch_leaves_no_open_transaction() {
        let (_folder, mut writer) = writer(None);
        let (job, _answer) = noting("lost", |_| Err(lost()));
        assert!(writer.commit(&mut [job]).is_err());
        assert!(writer.db.as_ref().unwrap().is_autocommit());
        // On some errors SQLite ends the transaction by itself. The answer is still the first fault.
        let (job, _answer) = noting("lost", |db| {
            db.run("rollback", values![])?;
            Err(lost())
        });
        let Failure::Fault(fault) = lost() else { unreachable!("it is one") };
        assert_eq!(writer.commit(&mut [job]), Err(fault));
    }

    #[test]
    fn after_a_failure_a_test_write_comes_before_the_next_batch() {
        let (_folder, mut writer) = writer(Some(Fault::Storage("it failed".to_owned())));
        let path = writer.path.clone();
        let other = Connection::open(&path).unwrap();
        let pulse = || {
            let sql = "select value from meta where name = 'pulse'";
            other.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap()
        };
        let before = pulse();
        let (job, _answer) = noting("next", |_| Ok(()));
        assert_eq!(writer.commit(&mut [job]), Ok(()));
        assert_eq!(
            (pulse(), writer.trouble.is_none()),
            (before + 1, true),
            "there was a test write"
        );
        assert_eq!(notes(&path), ["next"]);
    }

    #[test]
    fn a_damaged_database_is_never_written_again() {
        let wrong = "pragma ignore_check_constraints = on; insert into notes values ('wrong')";
        let (_folder, mut writer) = writer(Some(Fault::Storage("it failed".to_owned())));
        let other = Connection::open(&writer.path).unwrap();
        other.execute_batch(wrong).unwrap();
        for _ in 0..2 {
            let (job, _answer) = noting("next", |_| Ok(()));
            let committed = writer.commit(&mut [job]);
            assert!(matches!(committed, Err(Fault::Corrupt(_))), "{committed:?}");
            // Also after the damage is gone: there may be more that was not found.
            other.execute("delete from notes", []).unwrap();
        }
        assert_eq!(notes(&writer.path), [""; 0]);
    }

    #[test]
    fn after_a_full_disk_the_database_is_not_examined() {
        let wrong = "pragma ignore_check_constraints = on; insert into notes values ('wrong')";
        let (_folder, mut writer) = writer(Some(Fault::StorageFull));
        Connection::open(&writer.path).unwrap().execute_batch(wrong).unwrap();
        let (job, _answer) = noting("next", |_| Ok(()));
        assert_eq!(writer.commit(&mut [job]), Ok(()));
        assert!(writer.trouble.is_none());
    }

    #[test]
    fn the_log_is_checkpointed_when_the_writer_ends() {
        let (folder, writer) = writer(None);
        // Another connection is open, so SQLite does not checkpoint by itself.
        let other = Connection::open(&writer.path).unwrap();
        other.query_row("select count(*) from notes", [], |_| Ok(())).unwrap();
        assert_eq!(in_one_batch(writer, vec![noting("first", |_| Ok(()))]), [Ok(())]);
        let log = fs::metadata(folder.path().join("debate.db-wal")).unwrap();
        assert_eq!(log.len(), 0);
        drop(other);
    }

    /// The thread on which a request is written, and the one on which it is then answered.
    async fn threads_of(writer: Arc<Writer>) -> (ThreadId, ThreadId) {
        let here = || thread::current().id();
        let written = writer.write(LockKey::Nothing, |_, _| None, move |_| Ok(here())).await;
        (written.unwrap(), here())
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_caller_that_finds_the_writer_idle_writes_on_its_own_thread() {
        let (_folder, writer) = writer(None);
        let path = writer.path.clone();
        drop(writer);
        let file = File::open(&path).unwrap();
        let writer = Arc::new(Writer::start(&path, file, 64, Condition::default()).unwrap());
        let (written, called) = tokio::spawn(threads_of(writer.clone())).await.unwrap();
        assert_eq!(written, called);

        // While another uses it, requests wait and then share a batch.
        let used = writer.sqlite.clone().unwrap();
        let (locked, is_locked) = oneshot::channel();
        let (unlock, wait) = std::sync::mpsc::channel::<()>();
        let using = thread::spawn(move || {
            let _using = used.lock().unwrap();
            locked.send(()).unwrap();
            wait.recv().unwrap();
        });
        is_locked.await.unwrap();
        let before = writer.vitals().batches;
        let mut waiting = tokio::task::JoinSet::new();
        for _ in 0..20 {
            waiting.spawn(threads_of(writer.clone()));
        }
        let jobs = unpoisoned(&writer.jobs).clone().unwrap();
        while jobs.max_capacity() - jobs.capacity() < 19 {
            tokio::task::yield_now().await;
        }
        unlock.send(()).unwrap();
        let threads = waiting.join_all().await;
        assert!(threads.iter().all(|(written, called)| written != called));
        using.join().unwrap();
        assert_eq!(writer.vitals().batches - before, 1);
        drop(jobs);
        writer.close().await;
    }

    #[tokio::test]
    async fn a_write_after_a_failed_one_succeeds_once_writing_works_again() {
        let (_folder, writer) = writer(None);
        let path = writer.path.clone();
        drop(writer);
        let file = File::open(&path).unwrap();
        let writer = Writer::start(&path, file, 4, Condition::default()).unwrap();
        let note = |text: &'static str, lost: bool| {
            writer.write(
                LockKey::Nothing,
                |(), _| None,
                move |db| {
                    db.run("insert into notes values (?1)", values![text])?;
                    if lost { Err(self::lost()) } else { Ok(()) }
                },
            )
        };
        assert!(note("lost", true).await.is_err());
        assert!(note("kept", false).await.is_ok());
        writer.pulse().await.unwrap();
        writer.close().await;
        assert_eq!(notes(&path), ["kept"]);
        assert_eq!(writer.pulse().await, Err(Fault::Busy("the server is stopping")));
    }
}
