//! The PostgreSQL that `scripts/postgres` starts, if there is one, and a proxy to it that can be cut.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::thread;
use std::time::Duration;

use aw_record::{Place, PostgresUrl};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::watch;
use tokio_postgres::{Client, NoTls, Row};
use uuid::Uuid;

fn address() -> Option<String> {
    std::env::var("AW_TEST_POSTGRES_URL").ok().filter(|url| !url.is_empty())
}

/// A new database.
pub(crate) fn new_database() -> Option<PostgresUrl> {
    Some(Database::new()?.url())
}

/// A database, by its name.
#[derive(Debug, Clone)]
pub(crate) struct Database {
    pub(crate) server: String,
    pub(crate) name: String,
}

impl Database {
    pub(crate) fn new() -> Option<Self> {
        let address = address()?;
        let (server, _) = address.rsplit_once('/').unwrap();
        let name = format!("aw_{}", Uuid::now_v7().simple());
        let create = format!("create database {name}");
        // The test already has a runtime.
        let creating = thread::spawn({
            let address = address.clone();
            move || {
                let runtime = Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(async {
                    connected(&address).await.batch_execute(&create).await.unwrap();
                });
            }
        });
        creating.join().unwrap();
        Some(Database { server: server.to_owned(), name })
    }

    pub(crate) fn address(&self) -> String {
        format!("{}/{}?sslmode=disable", self.server, self.name)
    }

    pub(crate) fn url(&self) -> PostgresUrl {
        self.address().parse().unwrap()
    }

    pub(crate) fn place(&self) -> Place {
        Place::Postgres(self.url())
    }

    pub(crate) async fn tell(&self, sql: &str) -> Result<(), tokio_postgres::Error> {
        connected(&self.address()).await.batch_execute(sql).await
    }

    pub(crate) async fn ask(&self, sql: &str) -> Row {
        connected(&self.address()).await.query_one(sql, &[]).await.unwrap()
    }

    /// Waits until no server has a session there.
    pub(crate) async fn wait_until_left(&self) {
        let left = "select count(*) = 0 from pg_stat_activity
            where datname = current_database() and application_name = 'aw'";
        while !self.ask(left).await.get::<_, bool>(0) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

async fn connected(address: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(address, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// A proxy to the database.
#[derive(Debug, Clone)]
pub(crate) struct Way {
    port: u16,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    closed: watch::Sender<bool>,
    /// The fate of the next commit.
    next: AtomicU8,
    cut: AtomicBool,
}

/// How a commit is lost.
#[derive(Debug, Clone, Copy)]
#[repr(u8)]
pub(crate) enum Lost {
    /// The database does not receive it.
    OnTheWayThere = 1,
    /// The database commits, but its answer is lost.
    OnTheWayBack = 2,
}

impl Way {
    pub(crate) async fn to(database: &Database) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let way = Way { port: listener.local_addr().unwrap().port(), state: Arc::default() };
        let (_, to) = database.server.rsplit_once('@').unwrap();
        let (to, state) = (to.to_owned(), way.state.clone());
        tokio::spawn(async move {
            loop {
                let (near, _) = listener.accept().await.unwrap();
                if *state.closed.borrow() {
                    continue;
                }
                if let Ok(far) = TcpStream::connect(&to).await {
                    tokio::spawn(carry(near, far, state.clone()));
                }
            }
        });
        way
    }

    pub(crate) fn place(&self, database: &Database) -> Place {
        let url =
            format!("postgres://aw@127.0.0.1:{}/{}?sslmode=disable", self.port, database.name);
        Place::Postgres(url.parse().unwrap())
    }

    /// Cuts every connection and accepts none until it is opened again.
    pub(crate) fn close(&self) {
        self.state.closed.send_replace(true);
    }

    pub(crate) fn open(&self) {
        self.state.closed.send_replace(false);
    }

    /// Loses the next commit.
    pub(crate) fn lose(&self, lost: Lost) {
        self.state.next.store(lost as u8, Ordering::SeqCst);
    }

    /// Whether a commit was lost since the last call.
    pub(crate) fn has_lost(&self) -> bool {
        self.state.cut.swap(false, Ordering::SeqCst)
    }
}

async fn carry(near: TcpStream, far: TcpStream, state: Arc<State>) {
    let mut closed = state.closed.subscribe();
    let (mut near_in, mut near_out) = near.into_split();
    let (mut far_in, mut far_out) = far.into_split();
    let state_there = state.clone();
    let swallow = Arc::new(AtomicBool::new(false));
    let swallow_there = swallow.clone();
    let there = async move {
        let mut bytes = vec![0; 64 * 1024];
        loop {
            let Ok(read @ 1..) = near_in.read(&mut bytes).await else { return };
            let commits = bytes[..read].windows(7).any(|some| some == b"commit\0");
            let writes = !bytes[..read].windows(5).any(|some| some == b"begin");
            if commits && writes {
                match state_there.next.swap(0, Ordering::SeqCst) {
                    1 => {
                        state_there.cut.store(true, Ordering::SeqCst);
                        return;
                    }
                    2 => {
                        swallow_there.store(true, Ordering::SeqCst);
                        state_there.cut.store(true, Ordering::SeqCst);
                    }
                    _ => {}
                }
            }
            if far_out.write_all(&bytes[..read]).await.is_err() {
                return;
            }
        }
    };
    let back = async move {
        let mut bytes = vec![0; 64 * 1024];
        loop {
            let Ok(read @ 1..) = far_in.read(&mut bytes).await else { return };
            if swallow.load(Ordering::SeqCst) {
                return;
            }
            if near_out.write_all(&bytes[..read]).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = there => {}
        () = back => {}
        _ = closed.wait_for(|closed| *closed) => {}
    }
}
