//! The store in PostgreSQL, which any number of servers may share.
//!
//! [`session`] runs statements, [`pool`] reads, [`writer`] writes batches of requests in a [`wave`],
//! [`listener`] receives notices and presence from other servers, and [`migrate`] creates the tables.
//! [`url`] parses the address and [`tls`] checks certificates. All of it runs on a small runtime of its own, so that reads and writes
//! may block on any thread.

mod listener;
mod migrate;
mod pool;
mod session;
mod tls;
mod url;
mod wave;
mod writer;

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use std::thread;
use std::time::Duration;

use aw_core::DebateId;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinHandle;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;
use uuid::Uuid;

pub(super) use pool::Pool;
pub(super) use session::PostgresSession;
pub use url::PostgresUrl;
pub(super) use writer::PostgresWriter;

use super::db::Db;
use super::transfer::is_half_moved;
use super::writer::Writer;
use super::{OpenError, StoreOptions, Vitals};
use crate::presence::RoleSign;
use crate::{Failure, Fault};

/// How many sessions write at the same time: while one waits for a distant database, others write.
const WRITERS: usize = 4;

/// How long one attempt to connect may take.
const CONNECT: Duration = Duration::from_secs(2);

/// The retries while a server starts: for half a minute.
const START_PAUSE: Duration = Duration::from_millis(250);
const START_TRIES: u32 = 120;

/// The retries while it serves: for two seconds. If the database is known to be unreachable, only one.
const PAUSE: Duration = Duration::from_millis(100);
const TRIES: u32 = 20;

/// The first number of our advisory locks. A lock ends with its session.
const LOCKS: i32 = 0x6177;

/// The second number of the lock that servers share and a move of the record takes exclusively.
const MOVING: i32 = 0;

/// The retries of a move for its exclusive lock: the sessions of a server that was just stopped or
/// killed take a moment to end.
const ALONE_TRIES: u32 = 20;
const ALONE_PAUSE: Duration = Duration::from_millis(100);

/// A notice from one server to the others on the same record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notice {
    /// A debate was opened.
    Opened(DebateId),
    /// A debate was written to.
    Written(DebateId),
    /// A debate was deleted.
    Deleted(DebateId),
    /// A token was revoked or a session ended.
    Seats,
    /// Notices may have been missed: anything may have changed.
    Anything,
}

/// Receives notices and presence from other servers, and supplies this server's presence.
pub(crate) trait PeerListener: Send + Sync + 'static {
    /// Handles a notice from another server.
    fn notify(&self, notice: Notice);

    /// The presence on this server: the changes since the last call, or everything.
    fn local_signs(&self, all: bool) -> Vec<RoleSign>;

    /// Takes the presence of a role on another server.
    fn learn_sign(&self, server: Uuid, sign: RoleSign);

    /// Takes the list of all other living servers.
    fn set_alive(&self, servers: &[Uuid]);
}

/// The driver's side of a connection, which must be polled.
type DriverConnection = Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

/// Opens connections to the database.
pub(super) struct Connector {
    config: Config,
    tls: MakeRustlsConnect,
    runtime: Handle,
    /// The id of this server among those that share the record.
    server: Uuid,
    /// Whether the last attempt to connect failed.
    away: AtomicBool,
    listening: AtomicBool,
    reconnects: AtomicU64,
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector").field("server", &self.server).finish_non_exhaustive()
    }
}

impl Connector {
    async fn dial(&self) -> Result<(Client, DriverConnection), tokio_postgres::Error> {
        let dialled = self.config.connect(self.tls.clone()).await;
        self.away.store(dialled.is_err(), Ordering::Relaxed);
        dialled
    }

    /// Opens a session. Blocks.
    fn connect(&self) -> Result<PostgresSession, Failure> {
        let (client, connection) = self
            .runtime
            .block_on(self.dial())
            .map_err(|error| Failure::from(session::classify(&error).0))?;
        self.runtime.spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(
                    error = session::words(&error),
                    "a session with the database ended"
                );
            }
        });
        let session = PostgresSession::new(client, self.runtime.clone());
        session.command(SETTINGS);
        session.settle()?;
        Ok(session)
    }

    /// Runs `work` with the first session, once the database is up. It uses another thread, because
    /// the caller's may belong to a runtime, which must not block.
    fn first<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&PostgresSession) -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let connector = self.clone();
        let working = thread::spawn(move || work(&first_session(&connector)?));
        working.join().unwrap_or_else(|_| Err("opening it panicked".to_owned()))
    }

    /// Opens a session, with retries if the database was reachable until now.
    fn connect_soon(&self) -> Result<PostgresSession, Failure> {
        let tries = if self.away.load(Ordering::Relaxed) { 1 } else { TRIES };
        for _ in 1..tries {
            if let Ok(session) = self.connect() {
                return Ok(session);
            }
            thread::sleep(PAUSE);
        }
        self.connect().map_err(|_| Fault::Busy("the database cannot be reached").into())
    }
}

/// The settings of every session. An operator may raise `synchronous_commit`, but not turn it off.
const SETTINGS: &str = "set statement_timeout = '10s';
    set lock_timeout = '5s';
    set idle_in_transaction_session_timeout = '60s';
    set client_min_messages = 'warning';
    select set_config('synchronous_commit', 'on', false)
    where current_setting('synchronous_commit') = 'off';";

/// An open PostgreSQL database.
#[derive(Debug)]
pub(super) struct Postgres {
    connector: Arc<Connector>,
    pub(super) pool: Arc<Pool>,
    pub(super) writer: Writer,
    listener: OnceLock<JoinHandle<()>>,
    _runtime: OwnRuntime,
}

/// A runtime that may be dropped on any thread.
#[derive(Debug)]
struct OwnRuntime(Option<Runtime>);

impl Drop for OwnRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl Postgres {
    /// Waits until the database is up, and migrates it.
    pub(super) fn open(url: &PostgresUrl, options: &StoreOptions) -> Result<Self, OpenError> {
        let place = url.to_string();
        let failed = |why: String| OpenError::Postgres { place: place.clone(), why };
        let (runtime, connector) = prepare(url).map_err(failed)?;
        let is_half_moved = connector.first(|session| {
            if !session.join().map_err(|failure| failure.to_string())? {
                return Err("it is being moved to another database: start servers there".to_owned());
            }
            migrate::bring_up_to_date(session)?;
            is_half_moved(&Db::Postgres(session)).map_err(|failure| failure.to_string())
        });
        if is_half_moved.map_err(failed)? && !options.half_moved {
            return Err(OpenError::HalfMoved { place });
        }
        let writers = (0..WRITERS).map(|_| PostgresWriter::new(connector.clone())).collect();
        Ok(Postgres {
            pool: Arc::new(Pool::new(connector.clone())),
            writer: Writer::of_postgres(writers, options.queue),
            connector,
            listener: OnceLock::new(),
            _runtime: runtime,
        })
    }

    /// Opens a read-only session with one snapshot. While it lasts no server writes or starts there.
    pub(super) fn open_source(url: &PostgresUrl) -> Result<PostgresSource, OpenError> {
        let place = url.to_string();
        let failed = |why: String| OpenError::Postgres { place: place.clone(), why };
        let (runtime, connector) = prepare(url).map_err(failed)?;
        let session = first_session(&connector).map_err(failed)?;
        if !migrate::is_up_to_date(&session).map_err(failed)? {
            return Err(OpenError::Older { place });
        }
        let mut tries = 1;
        while !session.lock_exclusively().map_err(|failure| failed(failure.to_string()))? {
            if tries == ALONE_TRIES {
                return Err(OpenError::InUse { path: place.into() });
            }
            tries += 1;
            thread::sleep(ALONE_PAUSE);
        }
        session.command(
            "set statement_timeout = '10min'; set idle_in_transaction_session_timeout = 0;
             begin isolation level repeatable read, read only",
        );
        session.settle().map_err(|failure| failed(failure.to_string()))?;
        Ok(PostgresSource { session, _runtime: runtime })
    }

    /// Starts to exchange notices and presence with other servers.
    pub(super) fn listen(&self, peers: Arc<dyn PeerListener>) {
        self.writer.set_peers(&peers);
        let (up, is_up) = mpsc::sync_channel(1);
        let listener = listener::run(self.connector.clone(), peers, up);
        self.listener.get_or_init(|| self.connector.runtime.spawn(listener));
        // Wait until it listens, so that no notice is missed from now on. If that takes longer, all
        // waiters are woken once it listens.
        if is_up.recv_timeout(CONNECT).is_err() {
            tracing::warn!("not yet connected to notices from other servers");
        }
    }

    pub(super) async fn close(&self) {
        self.writer.close().await;
        self.pool.close();
        if let Some(listener) = self.listener.get() {
            listener.abort();
        }
        let connector = self.connector.clone();
        let leave = self.connector.runtime.spawn(async move { listener::leave(&connector).await });
        if leave.await.is_err() {
            tracing::debug!("other servers were not notified of the stop");
        }
    }

    pub(super) fn vitals(&self) -> Vitals {
        Vitals {
            kind: "postgres",
            sessions: Some(self.pool.in_use()),
            listening: Some(self.connector.listening.load(Ordering::Relaxed)),
            reconnects: self.connector.reconnects.load(Ordering::Relaxed),
            ..self.writer.vitals()
        }
    }
}

/// A read-only database with one snapshot.
pub(super) struct PostgresSource {
    session: PostgresSession,
    _runtime: OwnRuntime,
}

impl PostgresSource {
    pub(super) fn session(&self) -> &PostgresSession {
        &self.session
    }
}

/// Creates the connector and its runtime.
fn prepare(url: &PostgresUrl) -> Result<(OwnRuntime, Arc<Connector>), String> {
    let tls = url.trust.connector()?;
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("aw-postgres")
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let mut config = Config::clone(&url.config);
    if config.get_application_name().is_none() {
        config.application_name("aw");
    }
    config
        .connect_timeout(CONNECT)
        .keepalives(true)
        .keepalives_idle(Duration::from_secs(15))
        .keepalives_interval(Duration::from_secs(5))
        .keepalives_retries(3);
    let connector = Arc::new(Connector {
        config,
        tls,
        runtime: runtime.handle().clone(),
        server: Uuid::now_v7(),
        away: AtomicBool::new(false),
        listening: AtomicBool::new(false),
        reconnects: AtomicU64::new(0),
    });
    Ok((OwnRuntime(Some(runtime)), connector))
}

/// The first session, once the database is up. A wrong password, name or certificate fails at once,
/// because retrying does not help.
fn first_session(connector: &Connector) -> Result<PostgresSession, String> {
    let mut tries = 0;
    loop {
        let dialled = connector.runtime.block_on(connector.dial());
        let error = match dialled {
            Ok((client, connection)) => {
                connector.runtime.spawn(connection);
                let session = PostgresSession::new(client, connector.runtime.clone());
                session.command(SETTINGS);
                session.settle().map_err(|failure| failure.to_string())?;
                return Ok(session);
            }
            Err(error) => error,
        };
        tries += 1;
        let (_, interruption) = session::classify(&error);
        let refused = interruption != Some(session::Interruption::Lost) && error.code().is_some();
        if refused || tls::is_refused(&error) {
            return Err(session::words(&error));
        }
        if tries >= START_TRIES {
            return Err(format!("it was not up within 30 seconds: {}", session::words(&error)));
        }
        if tries == 1 {
            tracing::info!(error = session::words(&error), "waiting for the database");
        }
        thread::sleep(START_PAUSE);
    }
}
