//! WebSockets: opening, sending, pinging and closing.
//!
//! A message can be sent in frames, as it is read from the record. axum's own sockets do not offer that.

use std::time::{Duration, Instant};

use aw_record::Failure;
use axum::body::{Body, Bytes};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior, interval, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{CloseCode, Data, OpCode};
use tokio_tungstenite::tungstenite::protocol::frame::{CloseFrame, Frame};
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};
use uuid::Uuid;

use super::App;
use super::access::Access;
use super::error::Problem;
use super::response_budget::StreamError;
use super::serve::Stopping;
use crate::api::types::ServerEvent;

/// The time between two pings.
const PING_EVERY: Duration = Duration::from_secs(20);

/// A client that sends nothing for this long is gone, because it did not answer pings.
const SILENCE: Duration = Duration::from_secs(45);

/// The longest time for a client to accept a message or a frame.
const SEND_PATIENCE: Duration = Duration::from_secs(10);

/// The size of a read buffer. Each socket has one, and clients send little.
const READ_BUFFER: usize = 1024;

/// A request to open a socket.
pub(super) struct Upgrade {
    accept: HeaderValue,
    connection: OnUpgrade,
}

impl FromRequestParts<App> for Upgrade {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        let bad = |what: &str| Problem::input("upgrade", what);
        let headers = &parts.headers;
        if !says(headers, header::CONNECTION, "upgrade") {
            return Err(bad("the Connection header must say upgrade: this is a WebSocket"));
        }
        if !says(headers, header::UPGRADE, "websocket") {
            return Err(bad("the Upgrade header must say websocket"));
        }
        if !says(headers, header::SEC_WEBSOCKET_VERSION, "13") {
            return Err(bad("the Sec-WebSocket-Version header must say 13"));
        }
        let key = headers.get(header::SEC_WEBSOCKET_KEY);
        let key = key.ok_or_else(|| bad("the Sec-WebSocket-Key header is missing"))?;
        let accept = HeaderValue::try_from(derive_accept_key(key.as_bytes()))
            .map_err(|error| Problem::fault(format!("a handshake: {error}")))?;
        let connection = parts.extensions.remove::<OnUpgrade>();
        let connection = connection.ok_or_else(|| bad("this connection cannot be upgraded"))?;
        Ok(Upgrade { accept, connection })
    }
}

/// Whether the list in a header contains a word.
fn says(headers: &HeaderMap, name: HeaderName, word: &str) -> bool {
    let lines = headers.get_all(name).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|one| one.trim().eq_ignore_ascii_case(word))
}

impl Upgrade {
    /// Returns the response that opens the socket, and runs `serve` with it. A message of the client has at
    /// most `longest` bytes.
    pub(super) fn open<S>(
        self,
        longest: usize,
        access: &Access,
        serve: impl FnOnce(Socket) -> S + Send + 'static,
    ) -> Response
    where
        S: Future<Output = ()> + Send,
    {
        let Upgrade { accept, connection } = self;
        let (stopping, departures) = (access.app.stopping.clone(), access.app.record.departures());
        tokio::spawn(async move {
            let upgraded = match connection.await {
                Ok(upgraded) => TokioIo::new(upgraded),
                Err(error) => return tracing::debug!(%error, "cannot open a socket"),
            };
            let config = WebSocketConfig::default()
                .max_message_size(Some(longest))
                .max_frame_size(Some(longest))
                .read_buffer_size(READ_BUFFER)
                .write_buffer_size(0);
            let socket =
                WebSocketStream::from_raw_socket(upgraded, Role::Server, Some(config)).await;
            let mut ping = interval(PING_EVERY);
            ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
            ping.reset();
            serve(Socket { socket, ping, stopping, departures, heard: Instant::now() }).await;
        });
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = response.headers_mut();
        headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
        response
    }
}

/// Why a socket ends.
#[derive(Debug)]
pub(super) enum SocketEnd {
    /// The client left or can no longer be reached.
    Gone,
    /// The debate was deleted.
    Deleted,
    /// The client's token was revoked, or its session has ended.
    AccessLost,
    /// The client is too far behind the feed.
    TooSlow,
    /// The memory budget is used up.
    Busy,
    /// The server stops.
    Stopping,
    /// The server failed.
    Failed,
}

impl SocketEnd {
    /// The end after a failed read.
    pub(super) fn by(failure: Failure) -> Self {
        match failure {
            Failure::DebateNotFound { .. } => SocketEnd::Deleted,
            other => {
                tracing::error!(fault = %other, "a socket failed");
                SocketEnd::Failed
            }
        }
    }
}

impl From<StreamError> for SocketEnd {
    fn from(error: StreamError) -> Self {
        tracing::error!(%error, "a socket failed");
        SocketEnd::Failed
    }
}

impl From<Problem> for SocketEnd {
    fn from(problem: Problem) -> Self {
        StreamError::from(problem).into()
    }
}

/// An open socket.
pub(super) struct Socket {
    socket: WebSocketStream<TokioIo<Upgraded>>,
    ping: Interval,
    stopping: Stopping,
    /// Changes when a token was revoked or a session has ended.
    departures: watch::Receiver<()>,
    /// The time of the client's last message.
    heard: Instant,
}

/// An event of a socket.
pub(super) enum SocketEvent {
    /// The client sent a text.
    Text(Utf8Bytes),
    /// The client sent a binary message.
    NotText,
    /// A caller lost its access, perhaps this client.
    AccessChanged,
    /// It is time for [`Socket::ping`].
    PingDue,
}

impl Socket {
    /// Waits for the next event. Dropping this future loses nothing.
    pub(super) async fn next_event(&mut self) -> Result<SocketEvent, SocketEnd> {
        loop {
            let message = tokio::select! {
                message = self.socket.next() => message,
                _ = self.ping.tick() => return Ok(SocketEvent::PingDue),
                Ok(()) = self.departures.changed() => return Ok(SocketEvent::AccessChanged),
                () = self.stopping.wait() => return Err(SocketEnd::Stopping),
            };
            let Some(Ok(message)) = message else { return Err(SocketEnd::Gone) };
            self.heard = Instant::now();
            match message {
                Message::Text(text) => return Ok(SocketEvent::Text(text)),
                Message::Binary(_) => return Ok(SocketEvent::NotText),
                Message::Close(_) => return Err(SocketEnd::Gone),
                Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
            }
        }
    }

    /// Pings the client, and ends the socket if the client is gone or has lost its access.
    pub(super) async fn ping(&mut self, access: &Access) -> Result<(), SocketEnd> {
        check_access(access).await?;
        if self.heard.elapsed() > SILENCE {
            return Err(SocketEnd::Gone);
        }
        self.send(Message::Ping(Bytes::new())).await
    }

    /// Sends an error.
    pub(super) async fn refuse(&mut self, mut problem: Problem) -> Result<(), SocketEnd> {
        if let Some(fault) = &problem.fault {
            let id = Uuid::now_v7().simple().to_string();
            tracing::error!(request_id = id, fault, "failed");
            problem.error.request_id = Some(id);
        }
        self.send_event(&ServerEvent::Error { error: problem.error }).await
    }

    pub(super) async fn send_event(&mut self, event: &ServerEvent) -> Result<(), SocketEnd> {
        let text = written(event)?;
        self.send_text(text).await
    }

    pub(super) async fn send_text(&mut self, text: Utf8Bytes) -> Result<(), SocketEnd> {
        self.send(Message::Text(text)).await
    }

    /// Sends a frame of a message. The frames up to the last one belong together.
    pub(super) async fn send_part(
        &mut self,
        text: impl Into<Bytes>,
        part: FramePart,
    ) -> Result<(), SocketEnd> {
        let (kind, is_last) = match part {
            FramePart::First => (Data::Text, false),
            FramePart::Next => (Data::Continue, false),
            FramePart::Last => (Data::Continue, true),
        };
        self.send(Message::Frame(Frame::message(text, OpCode::Data(kind), is_last))).await
    }

    async fn send(&mut self, message: Message) -> Result<(), SocketEnd> {
        match timeout(SEND_PATIENCE, self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(SocketEnd::Gone),
        }
    }

    /// Sends a close frame with the reason.
    pub(super) async fn close(&mut self, end: SocketEnd) {
        let (code, reason) = match end {
            SocketEnd::Gone => return,
            SocketEnd::Deleted => (CloseCode::Normal, "the debate was deleted"),
            SocketEnd::AccessLost => (CloseCode::Policy, "the token is no longer valid"),
            SocketEnd::TooSlow => (CloseCode::Again, "the client is too far behind: connect again"),
            SocketEnd::Busy => (CloseCode::Again, "too many large responses in flight: try again"),
            SocketEnd::Stopping => (CloseCode::Away, "the server is stopping"),
            SocketEnd::Failed => (CloseCode::Error, "the server failed"),
        };
        let close = CloseFrame { code, reason: Utf8Bytes::from_static(reason) };
        if self.send(Message::Close(Some(close))).await.is_err() {
            tracing::debug!("a client left before its socket was closed");
        }
    }
}

/// The position of a frame in its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FramePart {
    First,
    Next,
    Last,
}

/// Ends a socket whose caller has lost its access.
pub(super) async fn check_access(access: &Access) -> Result<(), SocketEnd> {
    if access.is_still_allowed().await { Ok(()) } else { Err(SocketEnd::AccessLost) }
}

/// Writes an event as JSON.
pub(super) fn written(event: &ServerEvent) -> Result<Utf8Bytes, SocketEnd> {
    match serde_json::to_string(event) {
        Ok(text) => Ok(text.into()),
        Err(error) => {
            tracing::error!(%error, "cannot write an event");
            Err(SocketEnd::Failed)
        }
    }
}
