//! A real server on a free port for tests, with a real SQLite file in a temporary folder (or the
//! PostgreSQL of `scripts/postgres`) and a clock that only the test moves.

pub mod driver;
pub mod page_client;
mod patience;
pub mod postgres;
mod process;
mod socket;
mod tools;

use std::net::TcpListener as StdListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::time::Duration;

use aw::mcp::Defaults;
use aw::server::{self, Setup, Stop};
use aw::settings::{Guard, Limits};
use aw_core::Time;
use aw_record::{Clock, Engine, Place, Store, StoreOptions};
use axum::Router;
use reqwest::redirect::Policy;
use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use uuid::Uuid;

pub use patience::{CEILING, Dice, eventually, in_time};
pub use process::{ServerProcess, processes_of};
pub use socket::Socket;
pub use tools::missing;

/// 2026-01-01T00:00:00.000Z, the time at which every test starts.
pub const BEGINNING: i64 = 1_767_225_600_000;

/// A server and its client.
pub struct World {
    pub url: String,
    pub engine: Engine,
    pub folder: TempDir,
    now: Arc<AtomicI64>,
    stop: Stop,
    serving: Option<JoinHandle<()>>,
    client: Client,
}

impl World {
    /// A server with the usual settings.
    pub async fn start() -> Self {
        Self::with(Guard::default(), Limits::default()).await
    }

    /// A server whose record is in a SQLite file, for tests that read the file.
    pub async fn in_file() -> Self {
        Self::on(postgres::folder_with_file(), Guard::default(), Limits::default()).await
    }

    /// A server with these settings, on a new record.
    pub async fn with(guard: Guard, limits: Limits) -> Self {
        Self::on(tempfile::tempdir().unwrap(), guard, limits).await
    }

    /// A server on the record in this folder.
    pub async fn on(folder: TempDir, guard: Guard, limits: Limits) -> Self {
        Self::made(folder, guard, limits, |router| router).await
    }

    /// A server on a new record, with layers around its router.
    pub async fn behind(
        guard: Guard,
        limits: Limits,
        before: impl FnOnce(Router) -> Router,
    ) -> Self {
        Self::made(tempfile::tempdir().unwrap(), guard, limits, before).await
    }

    async fn made(
        folder: TempDir,
        guard: Guard,
        limits: Limits,
        before: impl FnOnce(Router) -> Router,
    ) -> Self {
        let now = Arc::new(AtomicI64::new(BEGINNING));
        let clock = {
            let now = now.clone();
            Clock::new(move || Time(now.load(Ordering::SeqCst)))
        };
        let store = Store::open(&StoreOptions {
            most_debates: limits.debates,
            most_documents: limits.documents,
            ..StoreOptions::at(match postgres::database_of(folder.path()) {
                Some(url) => url.parse::<Place>().unwrap(),
                None => database_in(&folder).into(),
            })
        })
        .unwrap();
        let engine = Engine::new(store, clock);
        let stop = Stop::default();
        let connections = limits.connections;
        let router = server::router(Setup {
            engine: engine.clone(),
            guard,
            limits,
            home_id: new_id(),
            stopping: stop.subscribe(),
            tool_defaults: Defaults::default(),
            pages: aw::web::pages(),
        });
        let listener = free_listener();
        let url = format!("http://{}", listener.local_addr().unwrap());
        listener.set_nonblocking(true).unwrap();
        let listener = TcpListener::from_std(listener).unwrap();
        let serving =
            tokio::spawn(server::serve(listener, before(router), connections, stop.subscribe()));
        let client = Client::builder().redirect(Policy::none()).build().unwrap();
        World { url, engine, folder, now, stop, serving: Some(serving), client }
    }

    /// Moves the clock forward.
    pub fn pass(&self, time: Duration) {
        let millis = i64::try_from(time.as_millis()).unwrap();
        self.now.fetch_add(millis, Ordering::SeqCst);
    }

    /// Sets the clock back.
    pub fn turn_back(&self, time: Duration) {
        let millis = i64::try_from(time.as_millis()).unwrap();
        self.now.fetch_sub(millis, Ordering::SeqCst);
    }

    /// Another connection to the database.
    pub fn database(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(database_in(&self.folder)).unwrap()
    }

    /// Counts of everything in the record. Every write changes one of them.
    pub fn written(&self) -> Vec<i64> {
        let sql = "select (select count(*) from debates),
            (select count(*) from debates where deleted_at is not null),
            (select count(*) from arguments),
            (select count(*) from documents),
            (select count(*) from documents where deleted_at is not null),
            (select count(*) from document_versions)";
        if let Some(url) = postgres::database_of(self.folder.path()) {
            return postgres::numbers(&url, sql);
        }
        let row = |row: &rusqlite::Row<'_>| (0..6).map(|column| row.get(column)).collect();
        self.database().query_row(sql, [], row).unwrap()
    }

    /// The number of held waits and of open sockets.
    pub async fn held(&self) -> (u64, u64) {
        let health = self.get("/health").await.ok();
        (health["held_waits"].as_u64().unwrap(), health["open_sockets"].as_u64().unwrap())
    }

    /// Stops the server gracefully and returns its folder.
    pub async fn stop(mut self) -> TempDir {
        self.stop.now();
        self.serving.take().unwrap().await.unwrap();
        self.engine.close().await;
        self.folder
    }

    /// Begins to stop the server.
    pub fn begin_to_stop(&self) {
        self.stop.now();
    }

    /// A request to the server.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.url))
    }

    /// The answer to a GET.
    pub async fn get(&self, path: &str) -> Answer {
        Answer::to(self.request(Method::GET, path)).await
    }

    /// The answer to a POST.
    pub async fn post(&self, path: &str, body: Value) -> Answer {
        Answer::to(self.request(Method::POST, path).json(&body)).await
    }

    /// The answer to a DELETE.
    pub async fn delete(&self, path: &str) -> Answer {
        Answer::to(self.request(Method::DELETE, path)).await
    }

    /// A debate that waits for its opponent.
    pub async fn debate(&self, title: &str) -> DebateFor<'_> {
        self.debate_with(title, json!({})).await
    }

    /// A debate that is opened with more fields.
    pub async fn debate_with(&self, title: &str, more: Value) -> DebateFor<'_> {
        let mut body = driver::opening(title);
        let id = text(&body["debate_id"]);
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let created = self.post("/debates", body).await.created();
        DebateFor { world: self, motion: text(&created["argument"]["id"]), id }
    }
}

/// A debate in a world.
pub struct DebateFor<'a> {
    pub world: &'a World,
    pub id: String,
    pub motion: String,
}

impl DebateFor<'_> {
    fn path(&self, rest: &str) -> String {
        format!("/debates/{}{rest}", self.id)
    }

    /// Submits a CLAIM that answers this argument.
    pub async fn try_claim(&self, role: &str, target: &str, content: &str) -> Answer {
        self.world.post(&self.path("/arguments"), driver::claim(role, target, content)).await
    }

    /// Submits a CLAIM that must be accepted, and returns its data.
    pub async fn claim(&self, role: &str, target: &str, content: &str) -> Value {
        self.try_claim(role, target, content).await.created()
    }

    /// Submits an APPEAL or a RESOLUTION (`what` is the last part of the path).
    pub async fn ask(&self, what: &str, target: &str, content: &str) -> Answer {
        let body = driver::reply(target, content);
        self.world.post(&self.path(&format!("/{what}")), body).await
    }

    /// Submits a RULING with these fields.
    pub async fn rule(&self, fields: Value) -> Answer {
        self.world.post(&self.path("/ruling"), fields).await
    }

    /// Submits an INTERVENTION.
    pub async fn intervene(&self) -> Answer {
        self.world.post(&self.path("/intervention"), json!({})).await
    }

    /// The answer to a poll.
    pub async fn poll(&self, role: &str, after: Option<&str>) -> Answer {
        let after = after.map_or(String::new(), |id| format!("&argument_id={id}"));
        self.world.get(&self.path(&format!("/poll?role={role}{after}"))).await
    }

    /// The answer to a wait that may take this many seconds.
    pub async fn wait(&self, role: &str, after: Option<&str>, seconds: u32) -> Answer {
        let after = after.map_or(String::new(), |id| format!("&argument_id={id}"));
        self.world.get(&self.path(&format!("/wait?role={role}{after}&wait={seconds}"))).await
    }

    /// The debate with all its arguments.
    pub async fn context(&self) -> Value {
        self.world.get(&self.path("")).await.ok()
    }
}

/// An answer of the server.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: reqwest::header::HeaderMap,
    pub body: Value,
}

impl Answer {
    /// Sends a request and reads the answer, which must be JSON.
    pub async fn to(request: RequestBuilder) -> Self {
        let response = request.send().await.expect("the server answers");
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes = response.bytes().await.expect("the answer arrives whole");
        let body = serde_json::from_slice(&bytes)
            .unwrap_or_else(|_| panic!("not JSON: {}", String::from_utf8_lossy(&bytes)));
        Answer { status, headers, body }
    }

    /// The data of a 201.
    #[track_caller]
    pub fn created(self) -> Value {
        self.data(StatusCode::CREATED)
    }

    /// The data of a 200.
    #[track_caller]
    pub fn ok(self) -> Value {
        self.data(StatusCode::OK)
    }

    #[track_caller]
    fn data(mut self, status: StatusCode) -> Value {
        assert_eq!(self.status, status, "{}", self.body);
        assert_eq!(self.body["success"], true);
        self.body["data"].take()
    }

    /// The error of a refusal with this status and code.
    #[track_caller]
    pub fn refused(mut self, status: u16, code: &str) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.body);
        assert_eq!(self.body["success"], false);
        assert_eq!(self.body["error"]["code"], code, "{}", self.body);
        self.body["error"].take()
    }
}

pub fn database_in(folder: &TempDir) -> PathBuf {
    folder.path().join("db").join("debate.db")
}

pub fn new_id() -> String {
    Uuid::new_v4().to_string()
}

/// The text in a JSON value.
#[track_caller]
pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value}")).to_owned()
}

/// A listener on a free port below 30000.
pub fn free_listener() -> StdListener {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let start = std::process::id().wrapping_mul(131);
    for _ in 0..10_000 {
        let step = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = 20_000 + (start.wrapping_add(step) % 9_900);
        if let Ok(listener) = StdListener::bind(("127.0.0.1", u16::try_from(port).unwrap())) {
            return listener;
        }
    }
    panic!("no free port below 30000");
}
