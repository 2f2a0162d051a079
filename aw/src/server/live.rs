//! `/ws`: a debate, live.
//!
//! A socket reads the record from where it is, after every ring of the bell. Nothing is queued for
//! it, so a slow page cannot hold a writer or fill the memory, and none can be missed or doubled.

use std::time::{Duration, Instant};

use aw_core::{DebateId, Via};
use aw_record::Failure as EngineFailure;
use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade, close_code};
use axum::response::Response;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use serde::Deserialize;
use tokio::time::{MissedTickBehavior, interval, timeout};
use utoipa::IntoParams;
use uuid::Uuid;

use super::App;
use super::error::Problem;
use super::input::{self, Params};
use super::refused::ReadRefused;
use crate::wire::{Asked, Text, Told};

/// How often the server pings.
const PING_EVERY: Duration = Duration::from_secs(20);

/// A socket that was silent for so long is dead: it did not even answer pings.
const SILENCE: Duration = Duration::from_secs(45);

/// A client that takes longer to accept one message is dropped.
const SEND_PATIENCE: Duration = Duration::from_secs(10);

/// How many arguments are read at a time.
const STRETCH: u64 = 100;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct FollowParams {
    /// The debate.
    #[param(required = true)]
    debate_id: Option<String>,
    /// Only what comes after this place.
    #[param(value_type = Option<u64>)]
    after_seq: Option<String>,
}

/// Follows a debate over a WebSocket.
#[utoipa::path(
    get,
    path = "/ws",
    params(FollowParams),
    responses(
        (status = 101, description = "The socket is open"),
        ReadRefused,
    )
)]
pub(super) async fn follow(
    State(app): State<App>,
    Params(params): Params<FollowParams>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let Some(debate) = params.debate_id.filter(|id| !id.is_empty()) else {
        return Err(Problem::input("debate_id", "`debate_id` is missing: /ws?debate_id=<uuid>"));
    };
    let debate: DebateId = input::id("debate_id", &debate)?;
    // However large, it is a place after the last argument.
    let after = input::optional("after_seq", params.after_seq.as_deref())?.unwrap_or(0_u64);
    let after = after.min(i64::MAX as u64);
    // An unknown debate is told before the upgrade.
    app.engine.stretch(debate, 0, 0)?;
    let upgrade = upgrade.map_err(|rejection| Problem::input("upgrade", rejection.body_text()))?;
    let seat = app
        .sockets
        .clone()
        .try_acquire_owned()
        .map_err(|_| Problem::busy("as many sockets are open as this server takes on"))?;
    // An upgraded connection counts as ended, so the socket asks the server itself to wait for it.
    let staying = app.stopping.stay();
    let longest = app.limits.content_bytes * 6 + 64 * 1024;
    Ok(upgrade.max_message_size(longest).max_frame_size(longest).on_upgrade(
        move |socket| async move {
            let (sink, stream) = socket.split();
            let mut follower = Follower { app, debate, seen: after, sink, heard: Instant::now() };
            let end = follower.run(stream).await;
            follower.leave(end).await;
            drop((seat, staying));
        },
    ))
}

/// Why a socket ends.
enum End {
    /// The client left or can no longer be reached.
    Gone,
    /// The debate was deleted.
    Deleted,
    /// The server stops.
    Stopping,
    /// Something failed here.
    Failed,
}

/// One socket.
struct Follower {
    app: App,
    debate: DebateId,
    /// The last place that was sent.
    seen: u64,
    sink: SplitSink<WebSocket, Message>,
    heard: Instant,
}

impl Follower {
    async fn run(&mut self, mut stream: SplitStream<WebSocket>) -> End {
        let engine = self.app.engine.clone();
        let mut stopping = self.app.stopping.clone();
        let mut listening = engine.listen(self.debate);
        if let Err(end) = self.begin().await {
            return end;
        }
        let mut ping = interval(PING_EVERY);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ping.reset();
        loop {
            let step = tokio::select! {
                () = listening.next() => self.catch_up().await,
                message = stream.next() => match message {
                    Some(Ok(message)) => self.hear(message).await,
                    Some(Err(_)) | None => Err(End::Gone),
                },
                _ = ping.tick() => self.ping().await,
                () = stopping.wait() => Err(End::Stopping),
            };
            if let Err(end) = step {
                return end;
            }
        }
    }

    /// Sends where the debate stands.
    async fn begin(&mut self) -> Result<(), End> {
        let whole = self.app.engine.transcript(self.debate, self.seen).await.map_err(ends)?;
        self.seen = whole.arguments.last().map_or(self.seen, |last| last.seq.0);
        self.tell(&Told::InitialState {
            debate: (&whole.debate).into(),
            arguments: whole.arguments.iter().map(Into::into).collect(),
        })
        .await
    }

    /// Sends everything that is new.
    async fn catch_up(&mut self) -> Result<(), End> {
        loop {
            let news = self.app.engine.stretch(self.debate, self.seen, STRETCH).map_err(ends)?;
            for argument in &news.arguments {
                self.seen = argument.seq.0;
                self.tell(&Told::NewArgument {
                    debate: (&news.debate).into(),
                    argument: argument.into(),
                })
                .await?;
            }
            if (news.arguments.len() as u64) < STRETCH {
                return Ok(());
            }
        }
    }

    async fn hear(&mut self, message: Message) -> Result<(), End> {
        self.heard = Instant::now();
        let text = match message {
            Message::Text(text) => text,
            Message::Close(_) => return Err(End::Gone),
            Message::Binary(_) => {
                let problem = Problem::input("message", "messages are JSON text");
                return self.tell(&Told::Error { error: problem.error }).await;
            }
            Message::Ping(_) | Message::Pong(_) => return Ok(()),
        };
        match self.obey(&text).await {
            Ok(()) => Ok(()),
            Err(mut problem) => {
                if let Some(fault) = &problem.fault {
                    let id = Uuid::now_v7().simple().to_string();
                    tracing::error!(request_id = id, debate = %self.debate, fault, "failed");
                    problem.error.request_id = Some(id);
                }
                self.tell(&Told::Error { error: problem.error }).await
            }
        }
    }

    /// Does what the client asks. What comes of it arrives by the bell, like everything else.
    async fn obey(&self, text: &str) -> Result<(), Problem> {
        let (debate, request) = match input::from_json(text.as_bytes())? {
            Asked::SubmitIntervention { debate_id, intervention } => {
                (debate_id, self.app.intervention(self.debate, Via::Api, intervention)?)
            }
            Asked::SubmitRuling { debate_id, ruling } => {
                (debate_id, self.app.ruling(self.debate, Via::Api, ruling)?)
            }
        };
        if input::id::<DebateId>("debate_id", &debate)? != self.debate {
            return Err(Problem::input("debate_id", "this socket follows another debate"));
        }
        self.app.execute(request).await?;
        Ok(())
    }

    async fn ping(&mut self) -> Result<(), End> {
        if self.heard.elapsed() > SILENCE {
            return Err(End::Gone);
        }
        self.send(Message::Ping(Vec::new().into())).await
    }

    async fn tell(&mut self, told: &Told) -> Result<(), End> {
        let text = serde_json::to_string(told).map_err(|error| {
            tracing::error!(debate = %self.debate, %error, "a message could not be written");
            End::Failed
        })?;
        self.send(Message::Text(text.into())).await
    }

    async fn send(&mut self, message: Message) -> Result<(), End> {
        match timeout(SEND_PATIENCE, self.sink.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(End::Gone),
        }
    }

    /// Says goodbye, as far as anybody listens.
    async fn leave(&mut self, end: End) {
        let (code, reason) = match end {
            End::Gone => return,
            End::Deleted => {
                let deleted = Told::DebateDeleted { debate_id: Text(self.debate) };
                if self.tell(&deleted).await.is_err() {
                    return;
                }
                (close_code::NORMAL, "the debate was deleted")
            }
            End::Stopping => (close_code::AWAY, "the server is stopping"),
            End::Failed => (close_code::ERROR, "the server failed"),
        };
        let close = CloseFrame { code, reason: Utf8Bytes::from_static(reason) };
        if self.send(Message::Close(Some(close))).await.is_err() {
            tracing::debug!(debate = %self.debate, "a socket was gone before it was closed");
        }
    }
}

fn ends(failure: EngineFailure) -> End {
    match failure {
        EngineFailure::DebateNotFound { .. } => End::Deleted,
        other => {
            tracing::error!(fault = %other, "a socket could not be served");
            End::Failed
        }
    }
}
