//! A session with PostgreSQL, used from one thread at a time.
//!
//! What is asked for is sent at once and waited for only where somebody needs what comes of it: a
//! statement that is run for what it does is on its way while the next one is worked out. When one of
//! them fails, so do all that follow, and the first failure is told.

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

use super::{LOCKS, MOVING};
use crate::store::db::Value;
use crate::{Failure, Fault};

/// The longest that nothing may be heard of the database, which gives up a statement before that.
const SILENCE: Duration = Duration::from_secs(15);

/// A few of our statements are put together in many ways; so many are kept prepared.
const PREPARED: usize = 200;

/// Takes a share of the lock that whoever moves the record has alone.
pub(super) const JOIN: &str = "select pg_try_advisory_lock_shared($1, $2)";

/// What stands in the way of a transaction, besides what its own statements say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interruption {
    /// Another transaction was in the way: the same work may be done once more.
    Again,
    /// The connection is gone, or as good as gone.
    Lost,
}

type Pending = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// A connection and what is known of it.
pub(in crate::store) struct PostgresSession {
    client: Arc<Client>,
    runtime: Handle,
    prepared: RefCell<HashMap<String, Statement>>,
    pending: RefCell<Vec<Pending>>,
    /// What has happened since somebody last asked.
    interruption: Cell<Option<Interruption>>,
    /// Whether what is done now may have been committed before, unseen.
    unsure: Cell<bool>,
    /// Which of the rows that count is this session's own.
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
            pending: RefCell::default(),
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

    /// Sends a statement that is run for what it does.
    pub(in crate::store) fn run(&self, sql: &str, values: &[Value<'_>]) -> Result<(), Failure> {
        let statement = self.prepare(sql)?;
        let values: Vec<Value<'static>> = values.iter().map(Value::kept).collect();
        let client = self.client.clone();
        self.send(Box::pin(async move {
            client.execute_raw(&statement, values.iter().map(as_sql)).await.map(drop)
        }));
        Ok(())
    }

    /// Runs a statement and returns what it found, once everything before it has been done.
    pub(in crate::store) fn query(
        &self,
        sql: &str,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, Failure> {
        let statement = self.prepare(sql)?;
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(as_sql).collect();
        let earlier = self.pending.take();
        self.wait_for(async {
            let (earlier, rows) =
                join(in_turn(earlier), self.client.query(&statement, &values)).await;
            earlier?;
            rows
        })
    }

    /// The same with parameters of other kinds, for what only this database is asked.
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

    /// Returns when everything that was sent has been done.
    pub(in crate::store) fn settle(&self) -> Result<(), Failure> {
        let earlier = self.pending.take();
        if earlier.is_empty() {
            return Ok(());
        }
        self.wait_for(in_turn(earlier))
    }

    /// Whether this session now keeps others from moving the record; not while somebody moves it.
    pub(super) fn join(&self) -> Result<bool, Failure> {
        self.is_given(JOIN)
    }

    /// Whether this session now keeps servers from the record; not while there is one.
    pub(super) fn be_alone(&self) -> Result<bool, Failure> {
        self.is_given("select pg_try_advisory_lock($1, $2)")
    }

    fn is_given(&self, lock: &str) -> Result<bool, Failure> {
        let given = self.ask(lock, &[&LOCKS, &MOVING])?;
        Ok(given.first().is_some_and(|row| row.get::<_, bool>(0)))
    }

    /// Whether work can be begun on it.
    pub(super) fn is_open(&self) -> bool {
        !self.client.is_closed()
    }

    /// What has happened since this was last asked.
    pub(super) fn interruption(&self) -> Option<Interruption> {
        self.interruption.take()
    }

    /// Says whether what follows may have been committed before, unseen.
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
        let numbered = numbered(sql);
        let earlier = self.pending.take();
        let statement = self.wait_for(async {
            let (earlier, statement) = join(in_turn(earlier), self.client.prepare(&numbered)).await;
            earlier?;
            statement
        })?;
        let mut prepared = self.prepared.borrow_mut();
        if prepared.len() >= PREPARED {
            prepared.clear();
        }
        prepared.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    fn send(&self, mut work: Pending) {
        // Its first step writes it into the connection's queue.
        let rest: Pending = match self.runtime.block_on(poll_immediate(&mut work)) {
            Some(Ok(())) => return,
            Some(Err(error)) => Box::pin(ready(Err(error))),
            None => work,
        };
        self.pending.borrow_mut().push(rest);
    }

    fn wait_for<T>(&self, work: impl Future<Output = Result<T, Error>>) -> Result<T, Failure> {
        let work = pin!(work);
        let Ok(done) = self.runtime.block_on(async { timeout(SILENCE, work).await }) else {
            self.interruption.set(Some(Interruption::Lost));
            return Err(Fault::Busy("the database does not answer").into());
        };
        done.map_err(|error| {
            let (fault, interruption) = classify(&error);
            // The first counts: what follows it only follows from it.
            self.interruption.set(self.interruption.get().or(interruption));
            fault.into()
        })
    }
}

/// Waits for each, and tells the first failure.
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

/// What an error means to whoever asked, and to the transaction.
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
        // Somebody else was first with the same id; now there is something to find.
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
    // After a change of roles the one that was written to may only be read.
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
    // Integrity constraints, and what our triggers raise.
    if code.code().starts_with("23") || *code == SqlState::RAISE_EXCEPTION {
        return (Fault::Refused(words(error)), None);
    }
    (Fault::Storage(words(error)), None)
}

/// The database's own words, which the error keeps behind its kind.
pub(super) fn words(error: &Error) -> String {
    match (error.as_db_error(), error.source()) {
        (Some(said), _) => format!("{} ({})", said.message(), said.code().code()),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    }
}

/// The statement with PostgreSQL's spelling of parameters. As in SQLite, one without a number has
/// the one after the greatest before it.
fn numbered(sql: &str) -> String {
    let mut text = String::with_capacity(sql.len() + 8);
    let (mut greatest, mut rest) = (0, sql);
    while let Some((before, after)) = rest.split_once('?') {
        let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let number = after[..digits].parse().unwrap_or(greatest + 1);
        greatest = greatest.max(number);
        text += before;
        text += &format!("${number}");
        rest = &after[digits..];
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_numbered_as_sqlite_numbers_them() {
        assert_eq!(numbered("select 1"), "select 1");
        assert_eq!(numbered("a = ?1 and b = ?12 or c = ?2"), "a = $1 and b = $12 or c = $2");
        assert_eq!(numbered("a = ? and b = ? limit ?"), "a = $1 and b = $2 limit $3");
        assert_eq!(numbered("a = ?3 and b = ?"), "a = $3 and b = $4");
    }
}
