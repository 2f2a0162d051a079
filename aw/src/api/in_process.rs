//! The transport inside the server's own process: sends requests to its routes as a caller that the
//! guard has authenticated.

use std::fmt;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{self, Extensions};
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tower::ServiceExt;

use super::client::{Method, Operation, Payload, Reply, Request};
use super::error::{Code, Error};
use super::http::{Refused, Trouble};
use super::types::Success;

/// The routes of the server that this is part of, and who calls them.
#[derive(Clone)]
pub struct InProcess {
    /// The routes, without the guard.
    pub routes: Router,
    /// The result of the guard for the caller.
    pub caller: Extensions,
    /// The URL by which the caller reaches the server.
    pub url: String,
    /// The memory that long answers may take, where that is limited.
    pub room: Option<Arc<dyn Room>>,
}

/// Memory for the long answers of a call, returned when the call has been answered.
pub trait Room: Send + Sync + 'static {
    /// Takes memory until so many bytes are held; returns whether there was enough.
    fn take(&self, bytes: usize) -> bool;
}

/// A body that need not be parsed: the request carries its value.
#[derive(Debug, Clone)]
struct Brought(Arc<dyn Payload>);

/// Shorter answers take no room.
const SHORT: usize = 64 * 1024;

/// How many copies of a long answer exist while a tool makes its own answer: bytes, values, text,
/// and the message that is sent.
const COPIES: usize = 8;

impl fmt::Debug for InProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("InProcess").field(&self.url).finish()
    }
}

impl InProcess {
    /// Sends a request and reads its answer, which is parsed once.
    pub async fn send<A: DeserializeOwned + Send + 'static>(
        &self,
        request: &Request<A>,
    ) -> Result<A, Trouble> {
        let call = &request.call;
        let method = match call.method {
            Method::Get => http::Method::GET,
            Method::Post => http::Method::POST,
            Method::Put => http::Method::PUT,
            Method::Delete => http::Method::DELETE,
        };
        let mut request = http::Request::builder()
            .method(method)
            .uri(&call.path)
            .header(CONTENT_TYPE, "application/json")
            .header("aw-via", "mcp")
            .body(Body::empty())
            .map_err(|error| Trouble::Stranger(format!("the path is invalid: {error}")))?;
        *request.extensions_mut() = self.caller.clone();
        if let Some(body) = &call.body {
            request.extensions_mut().insert(Brought(body.clone()));
        }
        let response = match self.routes.clone().oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        let is_success = response.status().is_success();
        let is_document = call.operation == Operation::Document;
        let text = self.collect(response.into_body()).await?;
        let is_short = text.len() <= SHORT;
        let read = move || read(&text, is_success, is_document);
        if is_short {
            return read();
        }
        let reading = tokio::task::spawn_blocking(read).await;
        reading.unwrap_or_else(|died| Err(Trouble::Stranger(format!("a call died: {died}"))))
    }

    async fn collect(&self, mut body: Body) -> Result<Vec<u8>, Trouble> {
        let mut text = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame
                .map_err(|error| Trouble::Stranger(format!("an answer was cut off: {error}")))?;
            let Some(piece) = frame.data_ref() else { continue };
            text.extend_from_slice(piece);
            if text.len() > SHORT
                && let Some(room) = &self.room
                && !room.take(COPIES * text.len())
            {
                let busy = Error {
                    code: Code::ServerBusy,
                    message: "too many large messages are on their way".to_owned(),
                    suggestion: Some("Ask for less, or try again in a second".to_owned()),
                    ..Error::default()
                };
                return Err(Trouble::Refused(Box::new(busy.into())));
            }
        }
        Ok(text)
    }
}

fn read<A: DeserializeOwned>(
    text: &[u8],
    is_success: bool,
    is_document: bool,
) -> Result<A, Trouble> {
    let unreadable = |error: serde_json::Error| Trouble::Unreadable(error.to_string());
    if is_success && is_document {
        return serde_json::from_slice(text).map_err(unreadable);
    }
    if is_success {
        return serde_json::from_slice::<Success<A>>(text)
            .map(|success| success.data)
            .map_err(unreadable);
    }
    /// A failure, whose error is kept as it came.
    #[derive(serde::Deserialize)]
    struct Failure {
        error: Value,
    }
    let failure: Failure = serde_json::from_slice(text).map_err(unreadable)?;
    Err(Trouble::Refused(Box::new(failure.error.into())))
}

impl From<Error> for Refused {
    fn from(data: Error) -> Self {
        let json = serde_json::to_value(&data).unwrap_or_default();
        Reply { data, json }
    }
}

/// The body that a request from inside brings along.
pub(crate) fn body_of<T: Clone + 'static>(request: &http::Request<Body>) -> Option<T> {
    request.extensions().get::<Brought>()?.0.as_any().downcast_ref().cloned()
}
