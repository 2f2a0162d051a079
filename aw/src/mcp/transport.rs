//! How a tool's calls reach the API: over the network, or inside the server's own process.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{Extensions, Method, Request};
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tower::ServiceExt;

use super::refusal::Refusal;
use crate::api::http::BUDGET;

/// How long one question of a wait that goes over the network is held: whoever gives up is
/// forgotten by the server within this time.
const SLICE: Duration = Duration::from_secs(2);

/// A request.
#[derive(Debug, Clone)]
pub enum Call {
    /// Read something.
    Get(String),
    /// Write something.
    Post(String, Value),
}

/// A server somewhere else.
pub trait Server: Send + Sync + 'static {
    /// The data of its answer, within this time. It blocks.
    fn call(&self, call: &Call, within: Duration) -> Result<Value, Refusal>;

    /// The same, asked once more of a server that was there: it is not started when it has gone,
    /// since somebody may have stopped it on purpose.
    fn call_again(&self, call: &Call, within: Duration) -> Result<Value, Refusal>;

    /// How a server that is lost comes back, in words.
    fn way_back(&self) -> &'static str;

    /// Its URL, if it was found already.
    fn url(&self) -> Option<String>;
}

/// The way to the API.
#[derive(Clone)]
pub enum Way {
    /// Over the network, on a thread that may block.
    Out(Arc<dyn Server>),
    /// In this process.
    Inside(Inside),
}

/// The routes of the server that this is part of, and who calls them.
#[derive(Clone)]
pub struct Inside {
    /// The routes, without the guard, which has let the caller in already.
    pub routes: Router,
    /// What the guard has found out about the caller.
    pub caller: Extensions,
    /// The URL under which the caller knows the server.
    pub url: String,
    /// The room that long answers take, where there is not as much as one likes.
    pub room: Option<Arc<dyn Room>>,
}

/// Room for the long answers of a call, which is given back when the call has been answered.
pub trait Room: Send + Sync + 'static {
    /// Takes room until so many bytes are held; whether there was as much.
    fn take(&self, bytes: usize) -> bool;
}

/// Answers that are shorter take no room.
const SHORT: usize = 64 * 1024;

/// How often a long answer is held while a tool's own answer is made of it: as bytes, as values, as
/// words, and once more as what is sent.
const HELD: usize = 8;

impl fmt::Debug for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Way::Out(_) => f.write_str("Out"),
            Way::Inside(inside) => f.debug_tuple("Inside").field(&inside.url).finish(),
        }
    }
}

impl Way {
    /// What is at this path.
    pub(super) async fn get<T: DeserializeOwned>(&self, path: String) -> Result<T, Refusal> {
        read(self.call(Call::Get(path)).await?)
    }

    /// What came of sending this to that path.
    pub(super) async fn post<T: DeserializeOwned>(
        &self,
        path: String,
        body: Value,
    ) -> Result<T, Refusal> {
        read(self.call(Call::Post(path, body)).await?)
    }

    /// The data of the answer.
    pub(super) async fn call(&self, call: Call) -> Result<Value, Refusal> {
        self.call_within(call, BUDGET).await
    }

    /// The same within this time, if it goes over the network.
    pub(super) async fn call_within(&self, call: Call, within: Duration) -> Result<Value, Refusal> {
        match self {
            Way::Out(server) => {
                let server = server.clone();
                blocking(move || server.call(&call, within)).await
            }
            Way::Inside(inside) => inside.call(call).await,
        }
    }

    /// The same, asked once more of a server that was there.
    pub(super) async fn call_again(&self, call: Call, within: Duration) -> Result<Value, Refusal> {
        match self {
            Way::Out(server) => {
                let server = server.clone();
                blocking(move || server.call_again(&call, within)).await
            }
            Way::Inside(inside) => inside.call(call).await,
        }
    }

    /// How a server that is lost comes back, in words.
    pub(super) fn way_back(&self) -> &'static str {
        match self {
            Way::Out(server) => server.way_back(),
            Way::Inside(_) => "Wait again when it is back.",
        }
    }

    /// How long one question of a wait may be held.
    pub(super) fn slice(&self) -> Duration {
        match self {
            Way::Out(_) => SLICE,
            // Whoever gives up takes its question along.
            Way::Inside(_) => Duration::from_secs(60),
        }
    }

    /// Whether a server is there that need not be looked for or started.
    pub(super) fn is_there(&self) -> bool {
        match self {
            Way::Out(server) => server.url().is_some(),
            Way::Inside(_) => true,
        }
    }

    /// Where a person can watch a debate and rule.
    pub(super) fn url_of(&self, debate: &str) -> Option<String> {
        let base = match self {
            Way::Out(server) => server.url()?,
            Way::Inside(inside) => inside.url.clone(),
        };
        Some(format!("{base}/debate/{debate}"))
    }
}

impl Inside {
    async fn call(&self, call: Call) -> Result<Value, Refusal> {
        let (method, path, body) = match call {
            Call::Get(path) => (Method::GET, path, Body::empty()),
            Call::Post(path, body) => (Method::POST, path, Body::from(body.to_string())),
        };
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(CONTENT_TYPE, "application/json")
            .header("aw-via", "mcp")
            .body(body)
            .map_err(|error| Refusal::fault(&format!("a path of ours is none: {error}")))?;
        *request.extensions_mut() = self.caller.clone();
        let response = match self.routes.clone().oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        let mut body = response.into_body();
        let mut text = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame
                .map_err(|error| Refusal::fault(&format!("an answer was cut off: {error}")))?;
            let Some(piece) = frame.data_ref() else { continue };
            text.extend_from_slice(piece);
            if text.len() > SHORT
                && let Some(room) = &self.room
                && !room.take(HELD * text.len())
            {
                let message = "too many large messages are on their way";
                return Err(Refusal::new("SERVER_BUSY", message.to_owned())
                    .suggest("Ask for less, or try again in a second".to_owned()));
            }
        }
        let is_short = text.len() <= SHORT;
        let read = move || {
            serde_json::from_slice::<Value>(&text)
                .map_err(|error| Refusal::fault(&format!("an answer is not JSON: {error}")))
        };
        let mut answer = if is_short { read()? } else { blocking(read).await? };
        if answer["success"] == true {
            return Ok(answer["data"].take());
        }
        Err(Refusal::of(answer["error"].take()))
    }
}

async fn blocking(
    call: impl FnOnce() -> Result<Value, Refusal> + Send + 'static,
) -> Result<Value, Refusal> {
    let called = tokio::task::spawn_blocking(call).await;
    called.unwrap_or_else(|died| Err(Refusal::fault(&format!("a call died: {died}"))))
}

fn read<T: DeserializeOwned>(data: Value) -> Result<T, Refusal> {
    serde_json::from_value(data).map_err(|error| Refusal::stranger(&error.to_string()))
}
