//! A WebSocket, whatever it follows: how it is opened, what is sent on it, and how it ends.
//!
//! A message may be sent in parts, as it is read from the record: the protocol has frames for that,
//! which axum's own sockets do not offer.

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
use super::long::Cut;
use super::serve::Stopping;
use crate::api::types::ServerEvent;

/// How often the server pings.
const PING_EVERY: Duration = Duration::from_secs(20);

/// A socket that was silent for so long is dead: it did not even answer pings.
const SILENCE: Duration = Duration::from_secs(45);

/// A client that takes longer to accept one message, or one part of it, is dropped.
const SEND_PATIENCE: Duration = Duration::from_secs(10);

/// How much is read from a client at a time: it says little, and each socket holds so much.
const HEARD_AT_ONCE: usize = 1024;

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

/// Whether a word is in the list that a header is.
fn says(headers: &HeaderMap, name: HeaderName, word: &str) -> bool {
    let lines = headers.get_all(name).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|one| one.trim().eq_ignore_ascii_case(word))
}

impl Upgrade {
    /// The answer that opens the socket, which is then `held` until it ends. No message of the client is
    /// longer than this.
    pub(super) fn open<H>(
        self,
        longest: usize,
        access: &Access,
        hold: impl FnOnce(Socket) -> H + Send + 'static,
    ) -> Response
    where
        H: Future<Output = ()> + Send,
    {
        let Upgrade { accept, connection } = self;
        let (stopping, departures) = (access.app.stopping.clone(), access.app.record.departures());
        tokio::spawn(async move {
            let upgraded = match connection.await {
                Ok(upgraded) => TokioIo::new(upgraded),
                Err(error) => return tracing::debug!(%error, "a socket was not opened"),
            };
            let config = WebSocketConfig::default()
                .max_message_size(Some(longest))
                .max_frame_size(Some(longest))
                .read_buffer_size(HEARD_AT_ONCE)
                .write_buffer_size(0);
            let socket =
                WebSocketStream::from_raw_socket(upgraded, Role::Server, Some(config)).await;
            let mut ping = interval(PING_EVERY);
            ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
            ping.reset();
            hold(Socket { socket, ping, stopping, departures, heard: Instant::now() }).await;
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
pub(super) enum End {
    /// The client left or can no longer be reached.
    Gone,
    /// The debate was deleted.
    Deleted,
    /// The token that opened it is no longer good.
    Unwelcome,
    /// More has happened than the client can be told.
    TooSlow,
    /// Too much is on its way to others who do not read it.
    Busy,
    /// The server stops.
    Stopping,
    /// Something failed here.
    Failed,
}

impl End {
    /// Reading failed, as far as it is not that the debate was deleted.
    pub(super) fn by(failure: Failure) -> Self {
        match failure {
            Failure::DebateNotFound { .. } => End::Deleted,
            other => {
                tracing::error!(fault = %other, "a socket could not be served");
                End::Failed
            }
        }
    }
}

impl From<Cut> for End {
    fn from(cut: Cut) -> Self {
        tracing::error!(%cut, "a socket could not be served");
        End::Failed
    }
}

impl From<Problem> for End {
    fn from(problem: Problem) -> Self {
        Cut::from(problem).into()
    }
}

/// An open socket.
pub(super) struct Socket {
    socket: WebSocketStream<TokioIo<Upgraded>>,
    ping: Interval,
    stopping: Stopping,
    /// Rings when somebody may have lost their way in.
    departures: watch::Receiver<()>,
    /// When anything last came from the client.
    heard: Instant,
}

/// What a socket has to attend to.
pub(super) enum Turn {
    /// The client has said this.
    Said(Utf8Bytes),
    /// The client has sent something else.
    NotText,
    /// Somebody is no longer welcome: perhaps this client.
    Departure,
    /// It is time for [`Socket::ping`].
    Ping,
}

impl Socket {
    /// Waits for the client, the clock or the end. Nothing is lost when it is dropped before.
    pub(super) async fn turn(&mut self) -> Result<Turn, End> {
        loop {
            let message = tokio::select! {
                message = self.socket.next() => message,
                _ = self.ping.tick() => return Ok(Turn::Ping),
                Ok(()) = self.departures.changed() => return Ok(Turn::Departure),
                () = self.stopping.wait() => return Err(End::Stopping),
            };
            let Some(Ok(message)) = message else { return Err(End::Gone) };
            self.heard = Instant::now();
            match message {
                Message::Text(text) => return Ok(Turn::Said(text)),
                Message::Binary(_) => return Ok(Turn::NotText),
                Message::Close(_) => return Err(End::Gone),
                Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
            }
        }
    }

    /// Finds out whether the client is still there, and still welcome.
    pub(super) async fn ping(&mut self, access: &Access) -> Result<(), End> {
        welcome(access).await?;
        if self.heard.elapsed() > SILENCE {
            return Err(End::Gone);
        }
        self.send(Message::Ping(Bytes::new())).await
    }

    /// Tells the client why what it sent was refused.
    pub(super) async fn refuse(&mut self, mut problem: Problem) -> Result<(), End> {
        if let Some(fault) = &problem.fault {
            let id = Uuid::now_v7().simple().to_string();
            tracing::error!(request_id = id, fault, "failed");
            problem.error.request_id = Some(id);
        }
        self.tell(&ServerEvent::Error { error: problem.error }).await
    }

    pub(super) async fn tell(&mut self, told: &ServerEvent) -> Result<(), End> {
        let text = written(told)?;
        self.say(text).await
    }

    /// Sends a message.
    pub(super) async fn say(&mut self, text: Utf8Bytes) -> Result<(), End> {
        self.send(Message::Text(text)).await
    }

    /// Sends a part of a message. What is sent next belongs to it, until one is the last.
    pub(super) async fn say_part(
        &mut self,
        text: impl Into<Bytes>,
        place: Part,
    ) -> Result<(), End> {
        let (kind, is_last) = match place {
            Part::First => (Data::Text, false),
            Part::Next => (Data::Continue, false),
            Part::Last => (Data::Continue, true),
        };
        self.send(Message::Frame(Frame::message(text, OpCode::Data(kind), is_last))).await
    }

    async fn send(&mut self, message: Message) -> Result<(), End> {
        match timeout(SEND_PATIENCE, self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(End::Gone),
        }
    }

    /// Says goodbye, as far as anybody listens.
    pub(super) async fn leave(&mut self, end: End) {
        let (code, reason) = match end {
            End::Gone => return,
            End::Deleted => (CloseCode::Normal, "the debate was deleted"),
            End::Unwelcome => (CloseCode::Policy, "the token is no longer good"),
            End::TooSlow => (CloseCode::Again, "too much has happened: connect and read anew"),
            End::Busy => (CloseCode::Again, "too many large messages are on their way: try again"),
            End::Stopping => (CloseCode::Away, "the server is stopping"),
            End::Failed => (CloseCode::Error, "the server failed"),
        };
        let close = CloseFrame { code, reason: Utf8Bytes::from_static(reason) };
        if self.send(Message::Close(Some(close))).await.is_err() {
            tracing::debug!("a socket was gone before it was closed");
        }
    }
}

/// Where in its message a part stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    First,
    Next,
    Last,
}

/// A token may end, or be taken back, while a socket is open.
pub(super) async fn welcome(access: &Access) -> Result<(), End> {
    if access.is_still_welcome().await { Ok(()) } else { Err(End::Unwelcome) }
}

/// A message as it is sent.
pub(super) fn written(told: &ServerEvent) -> Result<Utf8Bytes, End> {
    match serde_json::to_string(told) {
        Ok(text) => Ok(text.into()),
        Err(error) => {
            tracing::error!(%error, "a message could not be written");
            Err(End::Failed)
        }
    }
}
