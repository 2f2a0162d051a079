//! The model of all programs in a run: each seat has a script.
//!
//! The prompt names the seat, and the conversation says how far the script is. So a program that did not resume its
//! session gets a wrong answer, and a seat that is called too often is noticed.

use std::collections::BTreeMap;
use std::future::pending;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use aw::server::{self, Stop};
use aw_core::Role;
use axum::Router;
use axum::extract::{Path as UrlPath, Request, State};
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use super::super::dialect::{Dialect, Spoken};
use super::super::programs::Program;
use super::super::talk::Talk;
use crate::world::free_listener;

/// More connections than the programs of a run have.
const CONNECTIONS: usize = 100;

/// One answer of a model. A path is one of the seat's copy, unless it is absolute.
#[derive(Debug, Clone)]
pub enum Act {
    Read(String),
    Edit {
        path: String,
        old: &'static str,
        new: &'static str,
    },
    Write {
        path: String,
        text: &'static str,
    },
    Shell(String),
    Say(String),
    /// Refuses the request with this status.
    Refuse(u16),
}

/// A request, and the place of its answer in the script of its seat.
#[derive(Debug, Clone)]
pub struct Heard {
    pub role: Role,
    pub place: usize,
    pub talk: Talk,
    pub at: Instant,
}

/// The model of all programs in a run.
pub struct StandIn {
    pub url: String,
    inside: Arc<Inside>,
    stop: Stop,
    runtime: Option<Runtime>,
}

#[derive(Default)]
struct Inside {
    scripts: Mutex<BTreeMap<&'static str, Vec<Act>>>,
    /// The folder with the runs of the user. There is one run.
    runs: PathBuf,
    heard: Mutex<Vec<Heard>>,
    strays: Mutex<Vec<String>>,
    /// The seat whose next request is never answered.
    silent_to: Mutex<Option<Role>>,
}

impl StandIn {
    /// Starts it for the runs in this folder. It has no script yet.
    pub fn start(runs: &Path) -> Self {
        let inside = Arc::new(Inside { runs: runs.to_owned(), ..Inside::default() });
        let listener = free_listener();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let stop = Stop::default();
        let router = Router::new()
            .route("/codex/v1/responses", post(responses))
            .route("/opencode/v1/chat/completions", post(chat))
            .route("/claude/v1/messages", post(messages))
            .route("/gemini/v1beta/models/{call}", post(gemini))
            .fallback(stray)
            .with_state(inside.clone());
        let runtime = Runtime::new().unwrap();
        let stopped = stop.subscribe();
        runtime.spawn(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            server::serve(listener, router, CONNECTIONS, stopped).await;
        });
        StandIn { url, inside, stop, runtime: Some(runtime) }
    }

    /// Gives a seat its script.
    pub fn plays(&self, role: Role, acts: Vec<Act>) {
        self.inside.scripts.lock().unwrap().insert(role.as_str(), acts);
    }

    /// All requests that a script has answered, oldest first.
    pub fn heard(&self) -> Vec<Heard> {
        self.inside.heard.lock().unwrap().clone()
    }

    /// The seat and the place of each answer, oldest first.
    pub fn calls(&self) -> Vec<(Role, usize)> {
        self.heard().iter().map(|heard| (heard.role, heard.place)).collect()
    }

    /// All other requests, apart from those for another host, which it refuses.
    pub fn strays(&self) -> Vec<String> {
        self.inside.strays.lock().unwrap().clone()
    }

    /// Leaves the next request of this seat without an answer.
    pub fn is_silent_to(&self, role: Role) {
        *self.inside.silent_to.lock().unwrap() = Some(role);
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.stop.now();
        // A request without an answer must not hold it.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn responses(inside: State<Arc<Inside>>, body: String) -> Response {
    answer(&inside, Program::Codex, Dialect::Responses, &body).await
}

async fn chat(inside: State<Arc<Inside>>, body: String) -> Response {
    answer(&inside, Program::Opencode, Dialect::Chat, &body).await
}

async fn messages(inside: State<Arc<Inside>>, body: String) -> Response {
    answer(&inside, Program::Claude, Dialect::Messages, &body).await
}

async fn gemini(inside: State<Arc<Inside>>, _: UrlPath<String>, body: String) -> Response {
    answer(&inside, Program::Gemini, Dialect::Gemini, &body).await
}

async fn stray(inside: State<Arc<Inside>>, request: Request) -> StatusCode {
    // A program that runs for long may look for packages of its plugins. No model is asked then.
    if request.method() != Method::CONNECT {
        let line = format!("{} {}", request.method(), request.uri());
        inside.strays.lock().unwrap().push(line);
    }
    StatusCode::NOT_FOUND
}

async fn answer(inside: &Inside, program: Program, dialect: Dialect, body: &str) -> Response {
    let talk = dialect.hear(&serde_json::from_str(body).unwrap_or_default());
    let role = seat(&talk.instructions).filter(|_| !talk.tools.is_empty());
    let script = |role: Role| {
        let scripts = inside.scripts.lock().unwrap();
        scripts.get(role.as_str()).cloned().map(|script| (role, script))
    };
    let Some((role, script)) = role.and_then(script) else {
        let line = format!("{} asks: {:.300}", program.name(), talk.instructions);
        inside.strays.lock().unwrap().push(line);
        return StatusCode::BAD_REQUEST.into_response();
    };
    let place = talk.steps.len() + talk.said.len();
    let number = talk.steps.len();
    inside.heard.lock().unwrap().push(Heard { role, place, talk, at: Instant::now() });
    if inside.silent_to.lock().unwrap().take_if(|silent| *silent == role).is_some() {
        pending::<()>().await;
    }
    let over = Act::Say("This script has no further answer.".to_owned());
    let spoken = match script.get(place).unwrap_or(&over) {
        Act::Refuse(status) => {
            let status = StatusCode::from_u16(*status).unwrap();
            return (status, axum::Json(refusal(program, status.as_u16()))).into_response();
        }
        act => put(program, act, &copy_of(&inside.runs, role)),
    };
    let events = dialect.say(&spoken, number);
    ([(header::CONTENT_TYPE, "text/event-stream")], events).into_response()
}

/// The seat that a prompt names.
fn seat(prompt: &str) -> Option<Role> {
    let (_, rest) = prompt.rsplit_once("# Debate: you are the ")?;
    let role = rest.split_whitespace().next()?.to_lowercase();
    role.parse().ok()
}

/// The copy of a seat in the only run.
fn copy_of(runs: &Path, role: Role) -> PathBuf {
    let run = std::fs::read_dir(runs).unwrap().next().expect("a program runs").unwrap();
    run.path().join("copies").join(role.as_str())
}

/// The act in terms of the tools of the program.
fn put(program: Program, act: &Act, copy: &Path) -> Spoken {
    let path = |path: &str| copy.join(path).display().to_string();
    let (tool, arguments) = match (program, act) {
        (_, Act::Say(words)) => return Spoken::Text(words.clone()),
        (Program::Claude, Act::Read(at)) => ("Read", json!({"file_path": path(at)})),
        (Program::Claude, Act::Edit { path: at, old, new }) => {
            ("Edit", json!({"file_path": path(at), "old_string": old, "new_string": new}))
        }
        (Program::Claude, Act::Write { path: at, text }) => {
            ("Write", json!({"file_path": path(at), "content": text}))
        }
        (Program::Claude, Act::Shell(line)) => {
            ("Bash", json!({"command": line, "description": "Looks around"}))
        }
        (Program::Codex, Act::Read(at)) => {
            ("exec_command", json!({"cmd": format!("cat '{}'", path(at))}))
        }
        (Program::Codex, Act::Edit { path: at, old, new }) => {
            ("exec_command", json!({"cmd": format!("sed -i 's|{old}|{new}|' '{}'", path(at))}))
        }
        (Program::Codex, Act::Write { path: at, text }) => {
            ("exec_command", json!({"cmd": format!("printf '{text}' > '{}'", path(at))}))
        }
        (Program::Codex, Act::Shell(line)) => ("exec_command", json!({"cmd": line})),
        (Program::Gemini, Act::Read(at)) => ("read_file", json!({"file_path": path(at)})),
        (Program::Gemini, Act::Edit { path: at, old, new }) => (
            "replace",
            json!({"file_path": path(at), "old_string": old, "new_string": new, "instruction": new}),
        ),
        (Program::Gemini, Act::Write { path: at, text }) => {
            ("write_file", json!({"file_path": path(at), "content": text}))
        }
        (Program::Gemini, Act::Shell(line)) => ("run_shell_command", json!({"command": line})),
        (Program::Opencode, Act::Read(at)) => ("read", json!({"filePath": path(at)})),
        (Program::Opencode, Act::Edit { path: at, old, new }) => {
            ("edit", json!({"filePath": path(at), "oldString": old, "newString": new}))
        }
        (Program::Opencode, Act::Write { path: at, text }) => {
            ("write", json!({"filePath": path(at), "content": text}))
        }
        (Program::Opencode, Act::Shell(line)) => {
            ("bash", json!({"command": line, "description": "Looks around"}))
        }
        (program, act) => panic!("{} is not asked for {act:?}", program.name()),
    };
    Spoken::Call { tool: tool.to_owned(), arguments }
}

/// The words of a refusal, as the vendor's own API has them.
fn refusal(program: Program, status: u16) -> Value {
    match (program, status) {
        (Program::Claude, 401) => json!({"type": "error", "error": {
            "type": "authentication_error", "message": "invalid x-api-key",
        }}),
        (Program::Claude, 429) => json!({"type": "error", "error": {
            "type": "rate_limit_error",
            "message": "This request would exceed your account's rate limit.",
        }}),
        (Program::Codex | Program::Opencode, 401) => json!({"error": {
            "message": "Incorrect API key provided", "type": "invalid_request_error",
            "code": "invalid_api_key",
        }}),
        (Program::Codex, 429) => json!({"error": {
            "type": "usage_limit_reached", "message": "The usage limit has been reached",
            "plan_type": "plus", "resets_at": 4_102_444_800_u64, "resets_in_seconds": 3600,
        }}),
        (Program::Opencode, 429) => json!({"error": {
            "message": "You exceeded your current quota", "type": "insufficient_quota",
            "code": "insufficient_quota",
        }}),
        (Program::Gemini, 401) => json!({"error": {
            "code": 401, "message": "Request had invalid authentication credentials.",
            "status": "UNAUTHENTICATED",
        }}),
        (Program::Gemini, 429) => json!({"error": {
            "code": 429, "message": "Resource has been exhausted (e.g. check quota).",
            "status": "RESOURCE_EXHAUSTED",
        }}),
        (program, status) => panic!("{} is not refused with {status}", program.name()),
    }
}
