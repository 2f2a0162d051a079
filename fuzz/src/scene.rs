//! A server for the targets: the real router on a real SQLite file, with a debate in every state.
//!
//! Each input runs in the same scene, so that a failure can be repeated: an earlier input's writes are
//! in debates with other ids.

use std::cell::{Cell, RefCell};
use std::env;
use std::net::{SocketAddr, TcpListener};
use std::panic;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, LocalKey};
use std::time::Duration;

use aw::mcp::Defaults;
use aw::server::{self, Setup, Stop};
use aw::settings::{Guard, Limits};
use aw_core::Time;
use aw_record::{Clock, Engine, Store, StoreOptions};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use tower::ServiceExt;
use uuid::Uuid;

/// The longest that an answer may take; it ends a hang.
const CEILING: Duration = Duration::from_secs(30);

/// How long a client waits before it leaves.
const HELD: Duration = Duration::from_millis(3);

/// The number of scenes after which the record is replaced, so that it does not grow without end.
const SCENES: u32 = 4_000;

/// 2026-01-01T00:00:00.000Z; the clock does not move.
const NOW: Time = Time(1_767_225_600_000);

/// The world of this thread, created by its first input.
pub(crate) struct Stage {
    guard: fn() -> Guard,
    world: RefCell<Option<World>>,
}

impl Stage {
    pub(crate) const fn new(guard: fn() -> Guard) -> Self {
        Stage { guard, world: RefCell::new(None) }
    }
}

/// Runs a check in a fresh scene.
pub(crate) fn play(stage: &'static LocalKey<Stage>, act: impl FnOnce(&mut World)) {
    stage.with(|stage| {
        let mut world = stage.world.borrow_mut();
        if world.as_ref().is_none_or(|world| world.scenes > SCENES) {
            *world = Some(World::new((stage.guard)()));
        }
        let world = world.as_mut().expect("it was just made");
        world.set();
        act(world);
        assert_eq!(PANICS.swap(0, Ordering::SeqCst), 0, "the server panicked");
    });
}

/// The number of panics in server threads, which the server itself survives.
static PANICS: AtomicUsize = AtomicUsize::new(0);

/// The name of those threads.
const THREADS: &str = "aw-fuzz-server";

/// Counts the panics of servers, in addition to the default hook.
fn count_panics() {
    static COUNTED: Once = Once::new();
    COUNTED.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |why| {
            if thread::current().name() == Some(THREADS) {
                PANICS.fetch_add(1, Ordering::SeqCst);
            }
            usual(why);
        }));
    });
}

/// A server and its record.
pub(crate) struct World {
    runtime: Runtime,
    router: Router,
    stop: Stop,
    address: Option<SocketAddr>,
    database: Connection,
    /// The counts when the scene was set; `None` if they no longer matter.
    version: Cell<Option<i64>>,
    counts: Vec<i64>,
    scenes: u32,
    names: Vec<(&'static str, String)>,
    token: Option<&'static str>,
    _folder: TempDir,
}

/// An answer of the server.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl World {
    fn new(guard: Guard) -> Self {
        count_panics();
        let folder = folder();
        let path = folder.path().join("debate.db");
        // The runtime first: the engine spawns its tasks on it.
        let mut runtime = Builder::new_multi_thread();
        runtime.worker_threads(1).thread_name(THREADS).enable_all();
        let runtime = runtime.build().expect("a runtime is made");
        let inside = runtime.enter();
        let store = Store::open(&StoreOptions::at(&path)).expect("a new record is made");
        let stop = Stop::default();
        let token = guard.wants_token.then_some(TOKEN);
        let router = server::router(Setup {
            engine: Engine::new(store, Clock::new(|| NOW)),
            guard,
            limits: Limits { content_bytes: 1_024, document_bytes: 4_096, ..Limits::default() },
            home_id: "fuzz".to_owned(),
            stopping: stop.subscribe(),
            tool_defaults: Defaults::default(),
            pages: aw::web::pages(),
        });
        drop(inside);
        let database = reader(&path);
        World {
            runtime,
            router,
            stop,
            address: None,
            database,
            version: Cell::new(None),
            counts: Vec::new(),
            scenes: 0,
            names: Vec::new(),
            token,
            _folder: folder,
        }
    }

    /// The address of the server, for targets that need a connection.
    pub(crate) fn address(&mut self) -> SocketAddr {
        *self.address.get_or_insert_with(|| {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
            let address = listener.local_addr().expect("it has an address");
            listener.set_nonblocking(true).expect("a socket need not block");
            let (router, stopping) = (self.router.clone(), self.stop.subscribe());
            self.runtime.spawn(async move {
                let listener = tokio::net::TcpListener::from_std(listener).expect("it listens");
                server::serve(listener, router, 1_000, stopping).await;
            });
            address
        })
    }

    /// Sets the scene, unless it is unchanged.
    fn set(&mut self) {
        if self.version.get() == Some(self.data_version()) {
            return;
        }
        self.scenes += 1;
        self.names.clear();
        let request = Uuid::new_v4().to_string();
        self.names.push(("$N", request));
        for (debate, newest, moves) in [
            ("$A", "$a", &[][..]),
            ("$B", "$b", &["arguments"]),
            ("$C", "$c", &["arguments", "appeal"]),
            ("$D", "$d", &["arguments", "resolution"]),
            ("$E", "$e", &["arguments", "intervention"]),
        ] {
            let id = Uuid::new_v4().to_string();
            let mut body = json!({
                "debate_id": id, "title": TITLE, "debate_type": "general_debate",
                "motion_content": "Options:\n1. Yes\n2. No", "client_request_id": id,
            });
            let mut path = "/debates".to_owned();
            let mut last = self.written(&path, &body);
            for what in moves {
                path = format!("/debates/{id}/{what}");
                body = json!({
                    "role": "opponent", "target_id": last, "content": "No.\n- Option A: x\n- Option B: y",
                    "client_request_id": Uuid::new_v4().to_string(),
                });
                last = self.written(&path, &body);
            }
            self.names.extend([(debate, id), (newest, last)]);
        }
        let document = json!({"summary": SUMMARY, "content": "# Plan\n"});
        let kept = self.accepted("/documents", &document);
        let document = kept["document_id"].as_str().expect("a document has an id").to_owned();
        let version = json!({"summary": SUMMARY, "content": "# Plan\nmore\n"});
        self.accepted(&format!("/documents/{document}/versions"), &version);
        self.names.push(("$F", document));
        if self.token.is_none() {
            let csrf = self.csrf();
            self.names.extend([("$W", BROWSER.to_owned()), ("$S", csrf)]);
        }
        self.remember();
    }

    /// The CSRF token of a browser's forms.
    fn csrf(&self) -> String {
        let request = Request::get("/new").header("host", "localhost");
        let request = request.header("cookie", format!("aw_browser={BROWSER}"));
        let answer = self.send(request.body(Body::empty()).expect("it is a request"));
        let page = String::from_utf8_lossy(&answer.expect("a page is not held").body).into_owned();
        let after = page.split_once("name=\"csrf\" value=\"").expect("a form has a csrf").1;
        after.split('"').next().unwrap_or_default().to_owned()
    }

    /// Sends a write and returns the id of its argument.
    fn written(&self, path: &str, body: &Value) -> String {
        self.accepted(path, body)["argument"]["id"].as_str().expect("it has an id").to_owned()
    }

    fn accepted(&self, path: &str, body: &Value) -> Value {
        let mut request = Request::post(path)
            .header("host", "localhost")
            .header("content-type", "application/json");
        if let Some(token) = self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let request = request.body(Body::from(body.to_string())).expect("it is a request");
        let answer = self.send(request).expect("a write is not held");
        assert_eq!(answer.status, StatusCode::CREATED, "{path}: {body}: {answer:?}");
        let mut answer: Value = serde_json::from_slice(&answer.body).expect("it is JSON");
        answer["data"].take()
    }

    /// The same bytes, with `$A`, `$a` and so on replaced by the ids of the scene.
    pub(crate) fn named(&self, bytes: &[u8]) -> Vec<u8> {
        let mut text = Vec::with_capacity(bytes.len());
        let mut rest = bytes;
        while let Some((first, after)) = rest.split_first() {
            let known = self.names.iter().find(|(name, _)| rest.starts_with(name.as_bytes()));
            match known {
                Some((name, id)) => {
                    text.extend_from_slice(id.as_bytes());
                    rest = &rest[name.len()..];
                }
                None => {
                    text.push(*first);
                    rest = after;
                }
            }
        }
        text
    }

    /// The answer to a request; `None` if the server holds it.
    pub(crate) fn send(&self, request: Request<Body>) -> Option<Answer> {
        let patience = match may_be_held(&request) {
            true => HELD,
            false => CEILING,
        };
        self.send_within(request, patience)
    }

    /// The same for a request that is known to be held, or not.
    pub(crate) fn send_within(&self, request: Request<Body>, patience: Duration) -> Option<Answer> {
        let router = self.router.clone();
        let answered = async move {
            let Ok(response) = router.oneshot(request).await;
            let (parts, body) = response.into_parts();
            let body = body.collect().await.expect("an answer arrives whole").to_bytes();
            Answer { status: parts.status, headers: parts.headers, body }
        };
        let answered =
            self.runtime.block_on(async { tokio::time::timeout(patience, answered).await });
        assert!(answered.is_ok() || patience < CEILING, "there was no answer");
        if answered.is_err() {
            // A cancelled request may still be written, so the next input needs a new scene.
            self.version.set(None);
        }
        answered.ok()
    }

    /// Asserts that nothing was written since the scene was set.
    pub(crate) fn is_untouched(&mut self, why: &str) {
        if self.version.get() != Some(self.data_version()) {
            let counts = self.counts();
            assert_eq!(counts, self.counts, "{why}, and something was written");
            // Most likely a test write of `/health`.
            self.version.set(Some(self.data_version()));
        }
    }

    /// Asserts that something was written since the scene was set.
    pub(crate) fn is_changed(&self, why: &str) {
        assert_ne!(self.counts(), self.counts, "{why}, and nothing was written");
    }

    fn remember(&mut self) {
        self.version.set(Some(self.data_version()));
        self.counts = self.counts();
    }

    /// A number that changes with every commit of another connection.
    fn data_version(&self) -> i64 {
        let version = self.database.query_row("pragma data_version", [], |row| row.get(0));
        version.expect("SQLite tells")
    }

    /// Counts of rows: any write changes one of them.
    fn counts(&self) -> Vec<i64> {
        let sql = "select (select count(*) from debates),
            (select count(*) from debates where deleted_at is not null),
            (select count(*) from arguments),
            (select count(*) from documents),
            (select count(*) from documents where deleted_at is not null),
            (select count(*) from document_versions),
            (select count(*) from seats),
            (select count(*) from seats where revoked_at is not null)";
        let mut counted = self.database.prepare_cached(sql).expect("the tables are there");
        counted
            .query_row([], |row| (0..8).map(|column| row.get(column)).collect())
            .expect("SQLite counts")
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop.now();
    }
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.status, String::from_utf8_lossy(&self.body))
    }
}

/// The title and summary of all debates and documents.
pub(crate) const TITLE: &str = "Keep one file?";
pub(crate) const SUMMARY: &str = "The plan of one file";

/// The cookie of the browser whose forms are sent.
const BROWSER: &str = "0123456789abcdef0123456789abcdef";

/// The token of a server that requires one.
pub(crate) const TOKEN: &str = "a-secret-that-nobody-guesses";

/// Whether the server may hold this request.
fn may_be_held(request: &Request<Body>) -> bool {
    let path = request.uri().path();
    path.contains("/wait") || path.contains("/poll")
}

/// A temporary folder: in `TMPDIR` if that is set, else in memory if possible, because no target tests
/// disks.
pub(crate) fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let made = match env::var_os("TMPDIR").is_none() && memory.is_dir() {
        true => tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir()),
        false => tempfile::tempdir(),
    };
    made.expect("a folder is made")
}

fn reader(path: &PathBuf) -> Connection {
    Connection::open(path).expect("the record can be read beside the server")
}
