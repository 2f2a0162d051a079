//! A session with PostgreSQL, used from one thread at a time.
//!
//! Statements are pipelined: a statement without a result is sent at once, and the session waits only
//! where a result is needed. If a statement fails, all later ones of the transaction fail too, and the
//! first failure is returned. During a [`Wave`] the session answers reads from memory and keeps writes.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::error::Error as _;
use std::fmt;
use std::future::ready;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{join, poll_immediate};
use tokio::runtime::Handle;
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row, Statement};

use super::wave::{RunProgress, Values, Wave, for_many, numbered};
use super::{LOCKS, MOVING};
use crate::store::db::Value;
use crate::{Failure, Fault};

/// The longest wait for the database. Its own statement timeout is shorter.
const SILENCE: Duration = Duration::from_secs(15);

/// How many prepared statements are kept.
const PREPARED: usize = 200;

/// Takes the shared lock that prevents a move of the record.
pub(super) const JOIN: &str = "select pg_try_advisory_lock_shared($1, $2)";

/// Why a transaction failed, apart from its own statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interruption {
    /// It conflicts with another transaction; the same work may be tried again.
    Again,
    /// The connection is lost.
    Lost,
}

type Pending = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// A connection with its prepared and pending statements.
pub(in crate::store) struct PostgresSession {
    client: Arc<Client>,
    runtime: Handle,
    prepared: RefCell<HashMap<String, Statement>>,
    /// The forms of statements for many rows.
    prepared_for_many: RefCell<HashMap<String, Statement>>,
    pending: RefCell<Vec<Pending>>,
    wave: RefCell<Option<Box<Wave>>>,
    /// How often it has waited for the database.
    round_trips: Cell<u64>,
    /// The interruption since [`PostgresSession::interruption`] was last called.
    interruption: Cell<Option<Interruption>>,
    /// Whether the current work may have been committed before, by a commit whose answer was lost.
    unsure: Cell<bool>,
    /// The slot of this session: the rows in which it counts.
    slot: Cell<i64>,
}

impl fmt::Debug for PostgresSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresSession").field("slot", &self.slot).finish_non_exhaustive()
    }
}

impl PostgresSession {
    pub(super) fn new(client: Client, runtime: Handle) -> Self {
        PostgresSession {
            client: Arc::new(client),
            runtime,
            prepared: RefCell::default(),
            prepared_for_many: RefCell::default(),
            pending: RefCell::default(),
            wave: RefCell::default(),
            round_trips: Cell::default(),
            interruption: Cell::default(),
            unsure: Cell::default(),
            slot: Cell::default(),
        }
    }

    /// Sends a statement without parameters.
    pub(super) fn command(&self, sql: &'static str) {
        let client = self.client.clone();
        self.send(Box::pin(async move { client.batch_execute(sql).await }));
    }

    /// Sends a statement without a result.
    pub(in crate::store) fn run(&self, sql: &str, values: &[Value<'_>]) -> Result<(), Failure> {
        self.add(sql, values, 0)
    }

    /// The same for a statement that adds its last values, `sums` of them, to a row that the other values
    /// name.
    pub(in crate::store) fn add(
        &self,
        sql: &str,
        values: &[Value<'_>],
        sums: usize,
    ) -> Result<(), Failure> {
        if let Some(wave) = &mut *self.wave.borrow_mut() {
            return wave.write(sql, values, sums);
        }
        let statement = self.prepare(sql)?;
        let values: Vec<Value<'static>> = values.iter().map(Value::kept).collect();
        let client = self.client.clone();
        self.send(Box::pin(async move {
            client.execute_raw(&statement, values.iter().map(as_sql)).await.map(drop)
        }));
        Ok(())
    }

    /// Sends a statement without a result. Its parameters are arrays.
    pub(super) fn run_with_arrays(&self, sql: &str, arrays: Vec<Values>) -> Result<(), Failure> {
        let statement = self.prepare(sql)?;
        self.send_arrays(statement, arrays);
        Ok(())
    }

    fn send_arrays(&self, statement: Statement, arrays: Vec<Values>) {
        let client = self.client.clone();
        self.send(Box::pin(async move {
            client.execute_raw(&statement, arrays.iter().map(array_as_sql)).await.map(drop)
        }));
    }

    /// Begins a wave: until it ends, reads are answered from memory and writes are kept.
    pub(super) fn begin_wave(&self) {
        self.wave.replace(Some(Box::default()));
    }

    /// Whether a wave has begun.
    pub(in crate::store) fn is_in_wave(&self) -> bool {
        self.wave.borrow().is_some()
    }

    /// Whether the running request of a wave cannot go on now.
    pub(in crate::store) fn is_stopped(&self) -> bool {
        self.wave.borrow().as_ref().is_some_and(|wave| wave.is_stopped())
    }

    /// Ends the run of a request in a wave. Its writes count only if they are wanted.
    pub(super) fn end_run(&self, wanted: bool) -> RunProgress {
        self.wave.borrow_mut().as_mut().map_or(RunProgress::Done, |wave| wave.end_run(wanted))
    }

    /// Asks all questions of the wave, in one round trip.
    pub(super) fn ask_questions(&self) -> Result<(), Failure> {
        let Some(mut wave) = self.wave.take() else { return Ok(()) };
        let mut questions = Vec::new();
        for (sql, rows) in wave.questions() {
            let (statement, arrays) = self.prepare_for_many(&sql, &rows)?;
            questions.push((sql, rows, statement, arrays));
        }
        let earlier = self.pending.take();
        let answers = self.wait_for(async {
            let mut asked = Vec::new();
            for (_, _, statement, arrays) in &questions {
                let arrays: Vec<_> = arrays.iter().map(array_as_sql).collect();
                let mut query =
                    Box::pin(async move { self.client.query(statement, &arrays).await });
                // The first poll puts the statement into the connection's queue.
                asked.push((poll_immediate(&mut query).await, query));
            }
            in_turn(earlier).await?;
            let mut answers = Vec::new();
            for (answer, query) in asked {
                answers.push(match answer {
                    Some(answer) => answer?,
                    None => query.await?,
                });
            }
            Ok(answers)
        })?;
        for ((sql, rows, ..), answer) in questions.into_iter().zip(answers) {
            wave.answer(&sql, rows, answer);
        }
        self.wave.replace(Some(wave));
        Ok(())
    }

    /// Ends the wave and sends its writes.
    pub(super) fn end_wave(&self) -> Result<(), Failure> {
        let Some(wave) = self.wave.take() else { return Ok(()) };
        for (sql, rows) in wave.into_writes() {
            let (statement, arrays) = self.prepare_for_many(&sql, &rows)?;
            self.send_arrays(statement, arrays);
        }
        Ok(())
    }

    /// Ends the wave without its writes.
    pub(super) fn leave_wave(&self) {
        self.wave.take();
    }

    /// How often the session has waited for the database since the last call.
    pub(super) fn round_trips(&self) -> u64 {
        self.round_trips.take()
    }

    /// Runs a statement after all pending ones and returns its rows.
    pub(in crate::store) fn query(
        &self,
        sql: &str,
        values: &[Value<'_>],
    ) -> Result<Arc<Vec<Row>>, Failure> {
        if let Some(wave) = &mut *self.wave.borrow_mut() {
            return wave.read(sql, values);
        }
        let statement = self.prepare(sql)?;
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(as_sql).collect();
        let earlier = self.pending.take();
        self.wait_for(async {
            let (earlier, rows) =
                join(in_turn(earlier), self.client.query(&statement, &values)).await;
            earlier?;
            rows.map(Arc::new)
        })
    }

    /// The same with parameters of PostgreSQL's own types.
    pub(super) fn ask(
        &self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Failure> {
        let statement = self.prepare(sql)?;
        let earlier = self.pending.take();
        self.wait_for(async {
            let (earlier, rows) =
                join(in_turn(earlier), self.client.query(&statement, values)).await;
            earlier?;
            rows
        })
    }

    /// Waits until all pending statements are done. The end of a request in a wave waits for nothing.
    pub(in crate::store) fn settle(&self) -> Result<(), Failure> {
        if self.is_in_wave() {
            return Ok(());
        }
        let earlier = self.pending.take();
        if earlier.is_empty() {
            return Ok(());
        }
        self.wait_for(in_turn(earlier))
    }

    /// Takes the shared lock. False while the record is being moved.
    pub(super) fn join(&self) -> Result<bool, Failure> {
        self.is_given(JOIN)
    }

    /// Takes the exclusive lock. False while a server is running.
    pub(super) fn lock_exclusively(&self) -> Result<bool, Failure> {
        self.is_given("select pg_try_advisory_lock($1, $2)")
    }

    fn is_given(&self, lock: &str) -> Result<bool, Failure> {
        let given = self.ask(lock, &[&LOCKS, &MOVING])?;
        Ok(given.first().is_some_and(|row| row.get::<_, bool>(0)))
    }

    /// Whether the connection is open.
    pub(super) fn is_open(&self) -> bool {
        !self.client.is_closed()
    }

    /// Takes the interruption since the last call.
    pub(super) fn interruption(&self) -> Option<Interruption> {
        self.interruption.take()
    }

    /// Sets whether the following work may have been committed before.
    pub(super) fn set_unsure(&self, unsure: bool) {
        self.unsure.set(unsure);
    }

    pub(in crate::store) fn is_unsure(&self) -> bool {
        self.unsure.get()
    }

    pub(super) fn set_slot(&self, slot: i64) {
        self.slot.set(slot);
    }

    pub(in crate::store) fn slot(&self) -> i64 {
        self.slot.get()
    }

    fn prepare(&self, sql: &str) -> Result<Statement, Failure> {
        if let Some(known) = self.prepared.borrow().get(sql) {
            return Ok(known.clone());
        }
        let statement = self.prepare_now(&numbered(sql, "$"))?;
        keep(&self.prepared, sql, &statement);
        Ok(statement)
    }

    /// The form of a statement for many rows, and the rows as arrays, one for each parameter. A statement
    /// without parameters is its own form.
    fn prepare_for_many(
        &self,
        sql: &str,
        rows: &[Values],
    ) -> Result<(Statement, Vec<Values>), Failure> {
        let wrong = |what: String| Failure::from(Fault::Storage(what));
        let known = self.prepared_for_many.borrow().get(sql).cloned();
        let many = match known {
            Some(known) => known,
            None => {
                let one = self.prepare(sql)?;
                let many = match one.params() {
                    [] => one,
                    kinds => {
                        let many = for_many(sql, kinds)
                            .ok_or_else(|| wrong(format!("no form for many rows: {sql}")))?;
                        self.prepare_now(&many)?
                    }
                };
                keep(&self.prepared_for_many, sql, &many);
                many
            }
        };
        let mut arrays: Vec<Values> = Vec::with_capacity(many.params().len());
        for (place, kind) in many.params().iter().enumerate() {
            let array: Option<Values> = rows.iter().map(|row| row.get(place).cloned()).collect();
            let array = array.ok_or_else(|| wrong(format!("a parameter is missing: {sql}")))?;
            if let Some(value) = array.iter().find(|value| !value.fits_in(kind)) {
                return Err(wrong(format!("{value:?} is not in {kind}: {sql}")));
            }
            arrays.push(array);
        }
        Ok((many, arrays))
    }

    fn prepare_now(&self, sql: &str) -> Result<Statement, Failure> {
        let earlier = self.pending.take();
        self.wait_for(async {
            let (earlier, statement) = join(in_turn(earlier), self.client.prepare(sql)).await;
            earlier?;
            statement
        })
    }

    fn send(&self, mut work: Pending) {
        // The first poll puts the statement into the connection's queue.
        let rest: Pending = match self.runtime.block_on(poll_immediate(&mut work)) {
            Some(Ok(())) => return,
            Some(Err(error)) => Box::pin(ready(Err(error))),
            None => work,
        };
        self.pending.borrow_mut().push(rest);
    }

    fn wait_for<T>(&self, work: impl Future<Output = Result<T, Error>>) -> Result<T, Failure> {
        let work = pin!(work);
        self.round_trips.set(self.round_trips.get() + 1);
        let Ok(done) = self.runtime.block_on(async { timeout(SILENCE, work).await }) else {
            self.interruption.set(Some(Interruption::Lost));
            return Err(Fault::Busy("the database does not answer").into());
        };
        done.map_err(|error| {
            let (fault, interruption) = classify(&error);
            // The first interruption counts: later ones are its consequences.
            self.interruption.set(self.interruption.get().or(interruption));
            fault.into()
        })
    }
}

/// Waits for each and returns the first failure.
async fn in_turn(works: Vec<Pending>) -> Result<(), Error> {
    let mut first = Ok(());
    for work in works {
        let done = work.await;
        if first.is_ok() {
            first = done;
        }
    }
    first
}

fn as_sql<'a>(value: &'a Value<'_>) -> &'a (dyn ToSql + Sync) {
    value
}

fn array_as_sql(array: &Values) -> &(dyn ToSql + Sync) {
    array
}

/// Keeps a prepared statement. Some statements have many variants, so that not all can be kept.
fn keep(prepared: &RefCell<HashMap<String, Statement>>, sql: &str, statement: &Statement) {
    let mut prepared = prepared.borrow_mut();
    if prepared.len() >= PREPARED {
        prepared.clear();
    }
    prepared.insert(sql.to_owned(), statement.clone());
}

/// The fault for the caller, and the interruption of the transaction, that an error means.
pub(super) fn classify(error: &Error) -> (Fault, Option<Interruption>) {
    let lost = (Fault::Busy("the database cannot be reached"), Some(Interruption::Lost));
    let Some(code) = error.code() else {
        let source = error.source();
        if error.is_closed() || source.is_some_and(<dyn std::error::Error>::is::<std::io::Error>) {
            return lost;
        }
        return (Fault::Storage(words(error)), None);
    };
    let again = Some(Interruption::Again);
    if *code == SqlState::T_R_DEADLOCK_DETECTED || *code == SqlState::T_R_SERIALIZATION_FAILURE {
        return (Fault::Busy("others write at the same time"), again);
    }
    if *code == SqlState::UNIQUE_VIOLATION {
        // Another request with the same id was first; a new attempt finds its row.
        return (Fault::Refused(words(error)), again);
    }
    if *code == SqlState::QUERY_CANCELED || *code == SqlState::LOCK_NOT_AVAILABLE {
        return (Fault::Busy("the database takes too long"), None);
    }
    if *code == SqlState::DISK_FULL {
        return (Fault::StorageFull, None);
    }
    if *code == SqlState::DATA_CORRUPTED || *code == SqlState::INDEX_CORRUPTED {
        return (Fault::Corrupt(words(error)), None);
    }
    // After a failover the old primary is read-only.
    let gone = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::TOO_MANY_CONNECTIONS,
        SqlState::READ_ONLY_SQL_TRANSACTION,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
    ];
    if gone.contains(code) || code.code().starts_with("08") {
        return lost;
    }
    // Integrity constraints, and exceptions of our triggers.
    if code.code().starts_with("23") || *code == SqlState::RAISE_EXCEPTION {
        return (Fault::Refused(words(error)), None);
    }
    (Fault::Storage(words(error)), None)
}

/// The database's message, which the error's own message omits.
pub(super) fn words(error: &Error) -> String {
    match (error.as_db_error(), error.source()) {
        (Some(said), _) => format!("{} ({})", said.message(), said.code().code()),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    }
}
