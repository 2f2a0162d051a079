//! `/ws`: a debate, live; and what every socket has in common.
//!
//! A socket reads the record from where it is, after every ring of the bell. Nothing is queued for
//! it, so a slow page cannot hold a writer or fill the memory, and none can be missed or doubled.
//! A socket that follows all debates is in [`feed`].

use std::sync::Arc;
use std::time::{Duration, Instant};

use aw_core::{Argument, ByRole, DebateId, Via};
use aw_record::{Alike, Engine, Failure as EngineFailure, Following, Rung};
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade, close_code};
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Deserialize;
use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior, interval, timeout};
use utoipa::IntoParams;
use uuid::Uuid;

use super::desk::{About, Desk};
use super::error::Problem;
use super::feed;
use super::input::{self, Params};
use super::long::Held;
use super::refused::ReadRefused;
use super::serve::Stopping;
use crate::web::{self, Tongue};
use crate::wire::{ArgumentTold, Asked, Text, Told};

/// How often the server pings.
const PING_EVERY: Duration = Duration::from_secs(20);

/// A socket that was silent for so long is dead: it did not even answer pings.
const SILENCE: Duration = Duration::from_secs(45);

/// A client that takes longer to accept one message is dropped.
const SEND_PATIENCE: Duration = Duration::from_secs(10);

/// How much is read from a client at a time: it says little, and each socket holds so much.
const HEARD_AT_ONCE: usize = 1024;

/// How many arguments are read at a time.
const STRETCH: u64 = 100;

/// How many of them are kept for other sockets.
const SHARED: usize = 4;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct FollowParams {
    /// The debate; without it all debates are followed.
    #[param(format = Uuid)]
    debate_id: Option<String>,
    /// Only what comes after this place.
    #[param(value_type = Option<u64>)]
    after_seq: Option<String>,
    /// Whether arguments also come as the page draws them.
    #[param(value_type = Option<bool>)]
    html: Option<String>,
}

/// Follows a debate, or all of them, over a WebSocket.
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
    desk: Desk,
    Params(params): Params<FollowParams>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let debate: Option<DebateId> = match params.debate_id.filter(|id| !id.is_empty()) {
        Some(id) => Some(input::debate_id(&desk.app, &id).await?),
        None => None,
    };
    // However large, it is a place after the last argument.
    let after = input::optional("after_seq", params.after_seq.as_deref())?.unwrap_or(0_u64);
    let after = after.min(i64::MAX as u64);
    let html = input::flag("html", params.html.as_deref())?.then(|| web::tongue(&headers));
    let engine = match debate {
        Some(debate) => {
            let engine = desk.engine("debate get-context", About::Debate(debate)).await?;
            // An unknown debate is told before the upgrade.
            engine.stretch(debate, 0, 0).await?;
            engine.clone()
        }
        None => desk.engine("debate list", About::Everything).await?.clone(),
    };
    let upgrade = upgrade.map_err(|rejection| Problem::input("upgrade", rejection.body_text()))?;
    let place = desk.app.sockets.take(&desk.caller)?;
    // An upgraded connection counts as ended, so the socket asks the server itself to wait for it.
    let staying = desk.app.stopping.stay();
    let followed = match debate {
        Some(debate) => Followed::One(debate),
        // From now on, so that whoever sees its socket open misses nothing that comes later.
        None => Followed::All(engine.follow()),
    };
    let longest = desk.app.limits.content_bytes * 6 + 64 * 1024;
    let upgrade = upgrade.max_message_size(longest).max_frame_size(longest);
    Ok(upgrade.read_buffer_size(HEARD_AT_ONCE).on_upgrade(move |socket| async move {
        let mut socket = Socket::new(socket, &desk);
        let end = match followed {
            Followed::One(debate) => {
                let told = ByRole::default();
                let mut follower = Follower {
                    desk,
                    engine,
                    debate,
                    seen: after,
                    html,
                    told,
                    held: None,
                    socket: &mut socket,
                };
                follower.run().await
            }
            Followed::All(following) => feed::run(&desk, &engine, following, &mut socket).await,
        };
        socket.leave(end).await;
        drop((place, staying));
    }))
}

/// What a socket follows.
enum Followed {
    One(DebateId),
    All(Following),
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
    pub(super) fn by(failure: EngineFailure) -> Self {
        match failure {
            EngineFailure::DebateNotFound { .. } => End::Deleted,
            other => {
                tracing::error!(fault = %other, "a socket could not be served");
                End::Failed
            }
        }
    }
}

/// What sockets that follow a debate are told after a ring: by which they follow, what they have seen
/// of it, and how they are shown it.
pub(super) type ToldInDebates = Alike<(DebateId, u64, Option<Tongue>), Arc<NewArguments>>;

/// New arguments as they are told.
#[derive(Debug)]
pub(super) struct NewArguments {
    /// The place of the last of them.
    seen: u64,
    messages: Vec<Utf8Bytes>,
}

/// A socket that follows one debate.
struct Follower<'a> {
    desk: Desk,
    engine: Engine,
    debate: DebateId,
    /// The last place that was sent.
    seen: u64,
    /// Whether arguments also come as the page draws them, and in which language.
    html: Option<Tongue>,
    /// Who it was told to be waiting.
    told: ByRole<bool>,
    /// The room that its first message took. A socket keeps a buffer as long as its longest message,
    /// so it counts as long as the socket is open.
    held: Held,
    socket: &'a mut Socket,
}

impl Follower<'_> {
    async fn run(&mut self) -> End {
        let mut written = self.engine.listen(self.debate);
        let mut presence = self.engine.listen_for_presence(self.debate);
        // In boxes, here and below: a socket waits most of its life, and keeps no room for the rest.
        if let Err(end) = Box::pin(self.begin()).await {
            return self.told_why(end).await;
        }
        loop {
            let step = tokio::select! {
                rung = written.next() => Box::pin(self.catch_up(rung)).await,
                _ = presence.next() => Box::pin(self.tell_presence()).await,
                turn = self.socket.turn() => match turn {
                    Ok(Turn::Said(text)) => Box::pin(self.hear(&text)).await,
                    Ok(Turn::NotText) => {
                        let problem = Problem::input("message", "messages are JSON text");
                        self.socket.refuse(problem).await
                    }
                    Ok(Turn::Departure) => welcome(&self.desk).await,
                    Ok(Turn::Ping) => self.socket.ping(&self.desk).await,
                    Err(end) => Err(end),
                },
            };
            if let Err(end) = step {
                return self.told_why(end).await;
            }
        }
    }

    /// Sends where the debate stands.
    async fn begin(&mut self) -> Result<(), End> {
        welcome(&self.desk).await?;
        let turn = self.desk.app.long.turn().await;
        let whole = self.engine.transcript(self.debate, self.seen).await.map_err(End::by)?;
        self.seen = whole.arguments.last().map_or(self.seen, |last| last.seq.0);
        let presence = self.engine.presence(self.debate);
        self.told = ByRole::of(|role| presence.get(role).waiting);
        let mut arguments = Vec::with_capacity(whole.arguments.len());
        for argument in &whole.arguments {
            arguments.push(self.with_html(argument).await);
        }
        let debate = (&whole.debate).into();
        let text = written(&Told::InitialState { debate, arguments, presence: presence.into() })?;
        self.held = self.desk.app.long.hold(text.len()).map_err(|_| End::Busy)?;
        drop((whole, turn));
        self.socket.send(Message::Text(text)).await
    }

    /// Sends everything that is new: read, drawn and written once for all who have seen as much.
    async fn catch_up(&mut self, rung: Rung) -> Result<(), End> {
        welcome(&self.desk).await?;
        loop {
            let asked = (self.debate, self.seen, self.html);
            let news = match self.desk.app.told_in_debates.found(&asked, rung) {
                Some(news) => news,
                None => {
                    let news = Arc::new(self.news().await?);
                    // Who is far behind is alone there.
                    if news.messages.len() <= SHARED {
                        self.desk.app.told_in_debates.keep(asked, rung, news.clone());
                    }
                    news
                }
            };
            for message in &news.messages {
                self.socket.send(Message::Text(message.clone())).await?;
            }
            self.seen = news.seen;
            if (news.messages.len() as u64) < STRETCH {
                return Ok(());
            }
        }
    }

    /// Some of what this socket has not seen.
    async fn news(&mut self) -> Result<NewArguments, End> {
        let news = self.engine.stretch(self.debate, self.seen, STRETCH).await.map_err(End::by)?;
        let mut messages = Vec::with_capacity(news.arguments.len());
        for argument in &news.arguments {
            let debate = (&news.debate).into();
            let argument = self.with_html(argument).await;
            messages.push(written(&Told::NewArgument { debate, argument })?);
        }
        let seen = news.arguments.last().map_or(self.seen, |last| last.seq.0);
        Ok(NewArguments { seen, messages })
    }

    /// Sends who waits now, unless it is as it was.
    async fn tell_presence(&mut self) -> Result<(), End> {
        welcome(&self.desk).await?;
        let presence = self.engine.presence(self.debate);
        let waiting = ByRole::of(|role| presence.get(role).waiting);
        if std::mem::replace(&mut self.told, waiting) == waiting {
            return Ok(());
        }
        let debate_id = Text(self.debate);
        self.socket.tell(&Told::Presence { debate_id, presence: presence.into() }).await
    }

    /// An argument as this socket is told of it: every one passes through here.
    async fn with_html(&mut self, argument: &Argument) -> ArgumentTold {
        let html = match self.html {
            Some(tongue) => fragment(self.engine.clone(), argument.clone(), tongue).await,
            None => None,
        };
        ArgumentTold { argument: argument.into(), html }
    }

    async fn hear(&mut self, text: &str) -> Result<(), End> {
        welcome(&self.desk).await?;
        let obeyed = match self.desk.app.meters.token(&self.desk.caller) {
            Ok(()) => self.obey(text).await,
            Err(too_often) => Err(too_often),
        };
        match obeyed {
            Ok(()) => Ok(()),
            Err(problem) => self.socket.refuse(problem).await,
        }
    }

    /// Does what the client asks. What comes of it arrives by the bell, like everything else.
    async fn obey(&mut self, text: &str) -> Result<(), Problem> {
        let (debate, request) = match input::from_json(text.as_bytes())? {
            Asked::SubmitIntervention { debate_id, intervention } => {
                (debate_id, self.desk.app.intervention(self.debate, Via::Api, intervention)?)
            }
            Asked::SubmitRuling { debate_id, ruling } => {
                (debate_id, self.desk.app.ruling(self.debate, Via::Api, ruling)?)
            }
        };
        if input::debate_id(&self.desk.app, &debate).await? != self.debate {
            return Err(Problem::input("debate_id", "this socket follows another debate"));
        }
        self.desk.execute(request).await?;
        Ok(())
    }

    /// Tells that the debate was deleted, if that is why it ends.
    async fn told_why(&mut self, end: End) -> End {
        if !matches!(end, End::Deleted) {
            return end;
        }
        let deleted = Told::DebateDeleted { debate_id: Text(self.debate) };
        self.socket.tell(&deleted).await.err().unwrap_or(end)
    }
}

/// How the page draws it; nothing when something cannot be looked up, and a reload shows it.
async fn fragment(engine: Engine, argument: Argument, tongue: Tongue) -> Option<String> {
    let debate = argument.debate;
    let parent = match argument.parent {
        Some(id) => engine.place(debate, id).await.ok()?.map(|seq| (id, seq.0)),
        None => None,
    };
    let citations = engine.cited_by(debate, argument.seq).await.ok()?;
    let now = engine.now().0;
    let draw = move || web::fragment(&argument, parent, &citations, tongue, now);
    web::off_the_way(draw).await.ok()
}

/// A socket, whatever it follows.
pub(super) struct Socket {
    socket: WebSocket,
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
    fn new(socket: WebSocket, desk: &Desk) -> Self {
        let mut ping = interval(PING_EVERY);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ping.reset();
        let (stopping, departures) = (desk.app.stopping.clone(), desk.app.record.departures());
        Socket { socket, ping, stopping, departures, heard: Instant::now() }
    }

    /// Waits for the client, the clock or the end. Nothing is lost when it is dropped before.
    pub(super) async fn turn(&mut self) -> Result<Turn, End> {
        loop {
            let message = tokio::select! {
                message = self.socket.recv() => message,
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
                Message::Ping(_) | Message::Pong(_) => {}
            }
        }
    }

    /// Finds out whether the client is still there, and still welcome.
    pub(super) async fn ping(&mut self, desk: &Desk) -> Result<(), End> {
        welcome(desk).await?;
        if self.heard.elapsed() > SILENCE {
            return Err(End::Gone);
        }
        self.send(Message::Ping(Vec::new().into())).await
    }

    /// Tells the client why what it sent was refused.
    pub(super) async fn refuse(&mut self, mut problem: Problem) -> Result<(), End> {
        if let Some(fault) = &problem.fault {
            let id = Uuid::now_v7().simple().to_string();
            tracing::error!(request_id = id, fault, "failed");
            problem.error.request_id = Some(id);
        }
        self.tell(&Told::Error { error: problem.error }).await
    }

    async fn tell(&mut self, told: &Told) -> Result<(), End> {
        let text = written(told)?;
        self.send(Message::Text(text)).await
    }

    pub(super) async fn send(&mut self, message: Message) -> Result<(), End> {
        match timeout(SEND_PATIENCE, self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(End::Gone),
        }
    }

    /// Says goodbye, as far as anybody listens.
    async fn leave(&mut self, end: End) {
        let (code, reason) = match end {
            End::Gone => return,
            End::Deleted => (close_code::NORMAL, "the debate was deleted"),
            End::Unwelcome => (close_code::POLICY, "the token is no longer good"),
            End::TooSlow => (close_code::AGAIN, "too much has happened: connect and read anew"),
            End::Busy => (close_code::AGAIN, "too many long answers are not read yet: try again"),
            End::Stopping => (close_code::AWAY, "the server is stopping"),
            End::Failed => (close_code::ERROR, "the server failed"),
        };
        let close = CloseFrame { code, reason: Utf8Bytes::from_static(reason) };
        if self.send(Message::Close(Some(close))).await.is_err() {
            tracing::debug!("a socket was gone before it was closed");
        }
    }
}

/// A token may end, or be taken back, while a socket is open.
pub(super) async fn welcome(desk: &Desk) -> Result<(), End> {
    if desk.is_still_welcome().await { Ok(()) } else { Err(End::Unwelcome) }
}

/// A message as it is sent.
pub(super) fn written(told: &Told) -> Result<Utf8Bytes, End> {
    match serde_json::to_string(told) {
        Ok(text) => Ok(text.into()),
        Err(error) => {
            tracing::error!(%error, "a message could not be written");
            Err(End::Failed)
        }
    }
}
