//! The fake model: a server on loopback that answers with each role's script.
//!
//! It has no state of the debate. It records its requests for the test.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use aw::server::{self, Stop};
use aw_core::Role;
use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::Value;
use tokio::net::TcpListener;

use super::dialect::{Dialect, Spoken};
use super::programs::Program;
use super::script::{Reply, Script};
use super::talk::Talk;
use crate::world::free_listener;

/// More connections than there are programs.
const CONNECTIONS: usize = 100;

/// The model of all programs in one debate.
pub struct Model {
    pub url: String,
    inside: Arc<Inside>,
    stop: Stop,
}

/// A request at the model.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    pub at: Instant,
    /// Whether it is a step of the agent, and not for such things as a title.
    pub is_step: bool,
}

struct Inside {
    seats: BTreeMap<&'static str, (Program, Script)>,
    heard: Mutex<Vec<(Role, Talk, Reply)>>,
    asked: Mutex<Vec<Asked>>,
    strays: Mutex<Vec<String>>,
}

impl Model {
    /// Starts it. Each role has its own address ([`Model::of`]).
    pub fn start(seats: Vec<(Program, Script)>) -> Self {
        let seats =
            seats.into_iter().map(|(program, script)| (script.role.as_str(), (program, script)));
        let inside = Arc::new(Inside {
            seats: seats.collect(),
            heard: Mutex::default(),
            asked: Mutex::default(),
            strays: Mutex::default(),
        });
        let listener = free_listener();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let stop = Stop::default();
        let router = Router::new()
            .route("/{role}/v1/responses", post(responses))
            .route("/{role}/v1/chat/completions", post(chat))
            .route("/{role}/v1/messages", post(messages))
            .route("/{role}/v1beta/models/{call}", post(gemini))
            .fallback(stray)
            .with_state(inside.clone());
        let listener = TcpListener::from_std(listener).unwrap();
        tokio::spawn(server::serve(listener, router, CONNECTIONS, stop.subscribe()));
        Model { url, inside, stop }
    }

    /// The address of the model of this role.
    pub fn of(&self, role: Role) -> String {
        format!("{}/{role}", self.url)
    }

    /// Each request of this role with its answer, oldest first.
    pub fn heard(&self, role: Role) -> Vec<(Talk, Reply)> {
        let all = self.inside.heard.lock().unwrap();
        let own = all.iter().filter(|(who, ..)| *who == role);
        own.map(|(_, talk, reply)| (talk.clone(), reply.clone())).collect()
    }

    /// All requests.
    pub fn asked(&self) -> Vec<Asked> {
        self.inside.asked.lock().unwrap().clone()
    }

    /// Requests that a model does not serve, such as those for a proxy.
    pub fn strays(&self) -> Vec<String> {
        self.inside.strays.lock().unwrap().clone()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.stop.now();
    }
}

async fn responses(inside: State<Arc<Inside>>, role: Path<String>, body: String) -> Response {
    answer(&inside, &role, Dialect::Responses, &body).await
}

async fn chat(inside: State<Arc<Inside>>, role: Path<String>, body: String) -> Response {
    answer(&inside, &role, Dialect::Chat, &body).await
}

async fn messages(inside: State<Arc<Inside>>, role: Path<String>, body: String) -> Response {
    answer(&inside, &role, Dialect::Messages, &body).await
}

async fn gemini(
    inside: State<Arc<Inside>>,
    Path((role, _)): Path<(String, String)>,
    body: String,
) -> Response {
    answer(&inside, &role, Dialect::Gemini, &body).await
}

async fn answer(inside: &Inside, role: &str, dialect: Dialect, body: &str) -> Response {
    let at = Instant::now();
    let (Some((program, script)), Ok(body)) =
        (inside.seats.get(role), serde_json::from_str::<Value>(body))
    else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let talk = dialect.hear(&body);
    let is_step = !talk.tools.is_empty();
    inside.asked.lock().unwrap().push(Asked { at, is_step });
    // Programs also ask for such things as a title, and then offer no tools.
    let spoken = if talk.tools.is_empty() {
        Spoken::Text("A debate".to_owned())
    } else {
        let reply = script.next(&talk);
        inside.heard.lock().unwrap().push((script.role, talk.clone(), reply.clone()));
        let pause = match &reply {
            Reply::Run { pause, .. } | Reply::Call { pause, .. } => pause.as_ref(),
            Reply::Skill | Reply::Say(_) => None,
        };
        if let Some(pause) = pause {
            pause.write().await;
        }
        program.put(&reply, script.role, &talk)
    };
    let events = dialect.say(&spoken, talk.steps.len());
    ([(header::CONTENT_TYPE, "text/event-stream")], events).into_response()
}

async fn stray(inside: State<Arc<Inside>>, request: Request) -> StatusCode {
    let line = format!("{} {}", request.method(), request.uri());
    inside.strays.lock().unwrap().push(line);
    StatusCode::NOT_FOUND
}
