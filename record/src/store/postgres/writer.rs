//! A writer thread of PostgreSQL and its group commit.
//!
//! Beyond what [`crate::store::writer`] does for SQLite, it locks the debates and documents of a batch
//! before it reads them, runs requests together in waves, notifies other servers in the same
//! transaction, repeats the batch after a conflict with another transaction, and finds out whether a
//! commit succeeded whose answer was lost. So a request may run more than once; the record recognizes it
//! by its id.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use uuid::Uuid;

use super::session::{Interruption, PostgresSession};
use super::wave::{RunProgress, Values};
use super::{Connector, Notice, PeerListener};
use crate::store::db::{Db, Value, values};
use crate::store::writer::{Job, LockKey};
use crate::{Failure, Fault};

/// How many times a batch is tried.
const TRIES: u32 = 8;

/// The first number of the advisory locks on slots. Slots are numbered from 1.
const SLOTS: i32 = super::LOCKS;

/// The most bytes in one notification; PostgreSQL allows 7,999.
const NOTIFICATION: usize = 7_000;

/// The plans of a writing session. Its statements look rows up by their keys, also in a small table:
/// PostgreSQL keeps a plan while the table grows.
const PLANS: &str = "set enable_seqscan = off; set enable_hashjoin = off;
    set enable_mergejoin = off; set jit = off";

/// A writer thread of PostgreSQL, with its session.
#[derive(Debug)]
pub(in crate::store) struct PostgresWriter {
    connector: Arc<Connector>,
    session: Option<PostgresSession>,
    /// How many batches it has begun.
    batches: u64,
    /// Whether a commit may have gone unannounced.
    owes_notice: bool,
    /// How often it has waited for the database.
    round_trips: u64,
}

/// How the requests of a batch run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Run {
    /// In waves.
    Together,
    /// One after the other, each behind a savepoint: if one is at fault, the others are written.
    EachAlone,
}

/// Why a batch was not committed.
enum BatchError {
    /// The batch may be tried again.
    Again,
    /// The connection is lost.
    Lost {
        /// Whether the commit had been sent.
        committing: bool,
    },
    /// Trying again does not help.
    Failed(Fault),
}

impl PostgresWriter {
    pub(super) fn new(connector: Arc<Connector>) -> Self {
        PostgresWriter { connector, session: None, batches: 0, owes_notice: false, round_trips: 0 }
    }

    /// How often it has waited for the database since the last call.
    pub(in crate::store) fn round_trips(&mut self) -> u64 {
        std::mem::take(&mut self.round_trips)
    }

    /// Runs the batch in one transaction. After an error nothing of it was acknowledged. It is not in
    /// the record either, unless the answer to a commit was lost for longer than the writer waits; then
    /// a retry of the request is answered from the record.
    pub(in crate::store) fn commit(
        &mut self,
        batch: &mut [Box<dyn Job>],
        peers: &OnceLock<Arc<dyn PeerListener>>,
    ) -> Result<(), Fault> {
        let mut unsure = false;
        let mut run = Run::Together;
        for attempt in 1..=TRIES {
            let session = match self.session.take().filter(PostgresSession::is_open) {
                Some(session) => session,
                None => match self.begin_session() {
                    Ok(session) => session,
                    Err(fault) => {
                        self.owes_notice |= unsure;
                        return Err(fault);
                    }
                },
            };
            if std::mem::take(&mut self.owes_notice)
                && let Some(peers) = peers.get()
            {
                peers.notify(Notice::Anything);
            }
            self.batches += 1;
            if self.batches.is_power_of_two() {
                // It keeps plans for tables as small as they were when it made them.
                session.command("discard plans");
            }
            session.set_unsure(unsure);
            if attempt == TRIES {
                run = Run::EachAlone;
            }
            let done = run_all(&session, batch, self.connector.server, run, attempt == TRIES);
            self.round_trips += session.round_trips();
            match done {
                Ok(()) => {
                    self.session = Some(session);
                    return Ok(());
                }
                Err(BatchError::Lost { committing }) => unsure |= committing,
                Err(BatchError::Again) => {
                    self.session = rolled_back(session);
                    // A random pause, so that two conflicting writers do not collide again.
                    let pause =
                        u64::from(attempt) * (1 + u64::from(Uuid::now_v7().as_bytes()[15] % 8));
                    thread::sleep(Duration::from_millis(pause));
                }
                Err(BatchError::Failed(Fault::Refused(_) | Fault::Storage(_)))
                    if run == Run::Together =>
                {
                    // One request is at fault. Alone, each gets its own answer.
                    self.session = rolled_back(session);
                    run = Run::EachAlone;
                }
                Err(BatchError::Failed(fault)) => {
                    self.session = rolled_back(session);
                    self.owes_notice |= unsure;
                    return Err(fault);
                }
            }
        }
        self.owes_notice |= unsure;
        Err(Fault::Busy("others write at the same time"))
    }

    /// A session with a slot of its own for counts. The record cannot be moved while it is open.
    fn begin_session(&self) -> Result<PostgresSession, Fault> {
        let session = self.connector.connect_soon().map_err(fault_of)?;
        if !session.join().map_err(fault_of)? {
            return Err(Fault::Busy("the record is being moved to another database"));
        }
        for slot in 1i32.. {
            let sql = "select pg_try_advisory_lock(?1, ?2)";
            let taken = session.ask(sql, &[&SLOTS, &slot]).map_err(fault_of)?;
            if taken.first().is_some_and(|row| row.get::<_, bool>(0)) {
                session.set_slot(i64::from(slot));
                break;
            }
        }
        session.command(PLANS);
        Ok(session)
    }
}

fn run_all(
    session: &PostgresSession,
    batch: &mut [Box<dyn Job>],
    server: Uuid,
    run: Run,
    last: bool,
) -> Result<(), BatchError> {
    session.command("begin");
    lock(session, batch).map_err(|failure| stopped(session, failure, false))?;
    let alone = match run {
        Run::Together => {
            let alone = run_waves(session, batch);
            session.leave_wave();
            alone?
        }
        Run::EachAlone => (0..batch.len()).collect(),
    };
    run_alone(session, batch, &alone, last)?;
    for payload in notifications(server, batch.iter().filter_map(|job| job.notice())) {
        let notify = Db::Postgres(session).run("select pg_notify('aw', ?1)", values![payload]);
        notify.map_err(|failure| stopped(session, failure, false))?;
    }
    // If an earlier statement fails, PostgreSQL rolls back instead.
    session.command("commit");
    session.settle().map_err(|failure| stopped(session, failure, true))
}

/// Runs the requests in waves, and sends their writes. Returns those that must run alone afterwards.
fn run_waves(
    session: &PostgresSession,
    batch: &mut [Box<dyn Job>],
) -> Result<Vec<usize>, BatchError> {
    let db = Db::Postgres(session);
    let (mut alone, mut held_up) = (Vec::new(), HashSet::new());
    let mut rest: Vec<usize> = (0..batch.len()).collect();
    while !rest.is_empty() {
        let (mut wave, mut later, mut taken) = (Vec::new(), Vec::new(), HashSet::new());
        for place in rest {
            match batch[place].about() {
                LockKey::Nothing => alone.push(place),
                // It comes after an earlier request of the same debate or document.
                key if held_up.contains(&key) => alone.push(place),
                key if taken.insert(key) => wave.push(place),
                LockKey::Debate(_) | LockKey::Document(_) => later.push(place),
            }
        }
        session.begin_wave();
        while !wave.is_empty() {
            let mut waiting = Vec::new();
            for place in wave {
                let done = batch[place].run(&db);
                match session.end_run(done.is_ok()) {
                    RunProgress::Done => match done {
                        // Only this request is at fault; the others of the batch are written.
                        Ok(()) | Err(Fault::Refused(_) | Fault::Damaged(_)) => {}
                        Err(fault) => return Err(BatchError::Failed(fault)),
                    },
                    RunProgress::Waiting => waiting.push(place),
                    RunProgress::Alone => {
                        held_up.insert(batch[place].about());
                        alone.push(place);
                    }
                }
            }
            if !waiting.is_empty() {
                session.ask_questions().map_err(|failure| stopped(session, failure, false))?;
            }
            wave = waiting;
        }
        session.end_wave().map_err(|failure| stopped(session, failure, false))?;
        rest = later;
    }
    alone.sort_unstable();
    if !alone.is_empty() {
        session.settle().map_err(|failure| stopped(session, failure, false))?;
    }
    Ok(alone)
}

/// Runs these requests one after the other.
fn run_alone(
    session: &PostgresSession,
    batch: &mut [Box<dyn Job>],
    alone: &[usize],
    last: bool,
) -> Result<(), BatchError> {
    let db = Db::Postgres(session);
    for place in alone {
        session.command("savepoint request");
        let Err(fault) = batch[*place].run(&db) else {
            session.command("release savepoint request");
            continue;
        };
        match session.interruption() {
            Some(Interruption::Lost) => return Err(BatchError::Lost { committing: false }),
            Some(Interruption::Again) if !last => return Err(BatchError::Again),
            Some(Interruption::Again) | None => {}
        }
        match fault {
            // Only this request is at fault; the others of the batch are written.
            Fault::Refused(_) | Fault::Damaged(_) => {
                if session.settle().is_err() && session.interruption() == Some(Interruption::Lost) {
                    return Err(BatchError::Lost { committing: false });
                }
                session.command("rollback to savepoint request");
                session.command("release savepoint request");
            }
            fault => return Err(BatchError::Failed(fault)),
        }
    }
    Ok(())
}

/// Locks the debates and documents of the batch, always in the same order. A row that does not exist
/// yet cannot be locked; if two writers create it, the second finds it when it tries again.
fn lock(session: &PostgresSession, batch: &[Box<dyn Job>]) -> Result<(), Failure> {
    let (mut debates, mut documents) = (BTreeSet::new(), BTreeSet::new());
    for job in batch {
        match job.about() {
            LockKey::Debate(id) => drop(debates.insert(id.uuid())),
            LockKey::Document(id) => drop(documents.insert(id.uuid())),
            LockKey::Nothing => {}
        }
    }
    for (ids, sql) in [
        (debates, "select 1 from debates where id = any(?1) order by id for no key update"),
        (documents, "select 1 from documents where id = any(?1) order by id for no key update"),
    ] {
        if !ids.is_empty() {
            let ids: Values = ids.into_iter().map(Value::Id).collect();
            session.run_with_arrays(sql, vec![ids])?;
        }
    }
    Ok(())
}

fn stopped(session: &PostgresSession, failure: Failure, committing: bool) -> BatchError {
    match (session.interruption(), failure) {
        (Some(Interruption::Lost), _) => BatchError::Lost { committing },
        (Some(Interruption::Again), _) => BatchError::Again,
        (None, failure) => BatchError::Failed(fault_of(failure)),
    }
}

fn rolled_back(session: PostgresSession) -> Option<PostgresSession> {
    // Pending statements fail with the same error, which was reported already.
    let _ = session.settle();
    session.command("rollback");
    let settled = session.settle();
    let interruption = session.interruption();
    (settled.is_ok() && interruption.is_none()).then_some(session)
}

fn fault_of(failure: Failure) -> Fault {
    match failure {
        Failure::Fault(fault) => fault,
        other => Fault::Storage(other.to_string()),
    }
}

/// The payloads of a batch: the sender's id, then its notices. A long batch needs several.
fn notifications(server: Uuid, notices: impl Iterator<Item = Notice>) -> Vec<String> {
    let begin = || server.simple().to_string();
    let mut payloads: Vec<String> = Vec::new();
    for notice in notices {
        let word = encode(notice);
        match payloads.last_mut().filter(|last| last.len() + word.len() < NOTIFICATION) {
            Some(last) => *last += &word,
            None => payloads.push(begin() + &word),
        }
    }
    payloads
}

fn encode(notice: Notice) -> String {
    match notice {
        Notice::Opened(debate) => format!(" o{}", debate.uuid().simple()),
        Notice::Written(debate) => format!(" w{}", debate.uuid().simple()),
        Notice::Deleted(debate) => format!(" d{}", debate.uuid().simple()),
        Notice::Seats => " s".to_owned(),
        Notice::Anything => " a".to_owned(),
    }
}

/// The sender and its notices. An unknown notice of a newer server counts as [`Notice::Anything`].
pub(super) fn decode(payload: &str) -> (Option<Uuid>, Vec<Notice>) {
    let mut words = payload.split_ascii_whitespace();
    let server = words.next().and_then(|word| word.parse().ok());
    let notices = words.map(|word| {
        let (kind, id) = word.split_at_checked(1).unwrap_or_default();
        match (kind, id.parse::<Uuid>()) {
            ("o", Ok(id)) => Notice::Opened(id.into()),
            ("w", Ok(id)) => Notice::Written(id.into()),
            ("d", Ok(id)) => Notice::Deleted(id.into()),
            ("s", _) => Notice::Seats,
            _ => Notice::Anything,
        }
    });
    (server, notices.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_are_decoded_as_they_were_encoded() {
        let server = Uuid::from_u128(9);
        let debate = |number| Uuid::from_u128(number).into();
        let all: Vec<Notice> = (0..500)
            .map(|number| match number % 5 {
                0 => Notice::Opened(debate(number)),
                1 => Notice::Written(debate(number)),
                2 => Notice::Deleted(debate(number)),
                3 => Notice::Seats,
                _ => Notice::Anything,
            })
            .collect();
        let payloads = notifications(server, all.iter().copied());
        assert!(payloads.len() > 1 && payloads.iter().all(|payload| payload.len() < 8_000));
        let decoded: Vec<Notice> = payloads
            .iter()
            .flat_map(|payload| {
                let (from, notices) = decode(payload);
                assert_eq!(from, Some(server));
                notices
            })
            .collect();
        assert_eq!(decoded, all);
        assert!(notifications(server, std::iter::empty()).is_empty());
        assert_eq!(decode("x yz").1, [Notice::Anything]);
    }
}
