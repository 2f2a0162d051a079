//! The sessions that read: as many as are needed, up to a limit.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::Connector;
use super::session::{Interruption, PostgresSession};
use crate::store::db::Db;
use crate::{Failure, Fault};

/// The most sessions that read at the same time.
const MOST: usize = 8;

/// The longest that a read waits for one of them.
const PATIENCE: Duration = Duration::from_secs(3);

#[derive(Debug)]
pub(in crate::store) struct Pool {
    connector: Arc<Connector>,
    idle: Mutex<Vec<PostgresSession>>,
    places: Arc<Semaphore>,
}

impl Pool {
    pub(super) fn new(connector: Arc<Connector>) -> Self {
        Pool { connector, idle: Mutex::default(), places: Arc::new(Semaphore::new(MOST)) }
    }

    /// Reads on a thread that may wait, all from one snapshot.
    pub(in crate::store) async fn read<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(&Db<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let place = timeout(PATIENCE, self.places.clone().acquire_owned())
            .await
            .map_err(|_| Fault::Busy("too many reads are waiting"))?
            .map_err(|_| Fault::Busy("the server is stopping"))?;
        // The place is taken as long as the reading lasts, also when whoever asked has left.
        let read = spawn_blocking(move || {
            let _place = place;
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
        // Whoever comes next waits for this, and nobody does now.
        session.command("commit");
        if session.interruption() != Some(Interruption::Lost) && session.is_open() {
            self.idle().push(session);
        }
        read
    }

    /// How many sessions are at work, and how many could be.
    pub(super) fn in_use(&self) -> (usize, usize) {
        (MOST - self.places.available_permits().min(MOST), MOST)
    }

    pub(super) fn close(&self) {
        self.places.close();
        self.idle().clear();
    }

    fn idle(&self) -> MutexGuard<'_, Vec<PostgresSession>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
