//! The pool of sessions that read.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::Connector;
use super::session::{Interruption, PostgresSession};
use crate::store::db::Db;
use crate::{Failure, Fault};

/// The size of the pool.
const MOST: usize = 8;

/// The longest that a read waits for a session.
const PATIENCE: Duration = Duration::from_secs(3);

/// A bounded pool of reading sessions.
#[derive(Debug)]
pub(in crate::store) struct Pool {
    connector: Arc<Connector>,
    idle: Mutex<Vec<PostgresSession>>,
    permits: Arc<Semaphore>,
}

impl Pool {
    pub(super) fn new(connector: Arc<Connector>) -> Self {
        Pool { connector, idle: Mutex::default(), permits: Arc::new(Semaphore::new(MOST)) }
    }

    /// Reads from one snapshot, on a blocking thread.
    pub(in crate::store) async fn read<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(&Db<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let permit = timeout(PATIENCE, self.permits.clone().acquire_owned())
            .await
            .map_err(|_| Fault::Busy("too many reads are waiting"))?
            .map_err(|_| Fault::Busy("the server is stopping"))?;
        // The permit is held until the read ends, even if the caller is cancelled.
        let read = spawn_blocking(move || {
            let _permit = permit;
            self.read_here(work)
        });
        read.await.map_err(|died| Fault::Storage(format!("a read died: {died}")))?
    }

    fn read_here<T>(&self, work: impl FnOnce(&Db<'_>) -> Result<T, Failure>) -> Result<T, Failure> {
        let session = loop {
            let idle = self.idle().pop();
            match idle {
                Some(session) if session.is_open() => break session,
                Some(_) => {}
                None => break self.connector.connect_soon()?,
            }
        };
        session.command("begin isolation level repeatable read, read only");
        let read = work(&Db::Postgres(&session));
        // The next user of the session waits for this commit; this read does not.
        session.command("commit");
        if session.interruption() != Some(Interruption::Lost) && session.is_open() {
            self.idle().push(session);
        }
        read
    }

    /// How many sessions are in use, and the limit.
    pub(super) fn in_use(&self) -> (usize, usize) {
        (MOST - self.permits.available_permits().min(MOST), MOST)
    }

    pub(super) fn close(&self) {
        self.permits.close();
        self.idle().clear();
    }

    fn idle(&self) -> MutexGuard<'_, Vec<PostgresSession>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
