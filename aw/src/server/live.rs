//! `/ws`: sends the new arguments of a debate.
//!
//! After every ring of the bell, a socket reads the record from its last seq on. Nothing is queued for it. So
//! a slow client cannot block a writer or fill the memory, and no argument is lost or sent twice. [`feed`]
//! serves sockets that follow all debates.

use std::sync::Arc;

use aw_core::{Argument, ByRole, DebateId, Seq, Via};
use aw_record::{Following, Rung, Selection, SharedAnswers, Sign, Working};
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Deserialize;
use tokio_tungstenite::tungstenite::Utf8Bytes;
use utoipa::IntoParams;

use super::access::{Access, AllDebates, OneDebate};
use super::blocking_pool::DRAWING;
use super::debate_stream::ArgumentReader;
use super::error::Problem;
use super::feed;
use super::input::{self, Params};
use super::json::{self, Items};
use super::openapi::errors::ReadErrors;
use super::pages;
use super::response_budget::{BudgetPermit, HTML_EXTRA};
use super::socket::{FramePart, Socket, SocketEnd, SocketEvent, Upgrade, check_access, written};
use crate::api::types::{ArgumentEvent, ClientEvent, Points, ServerEvent, Text};
use crate::kit::texts::Language;
use crate::policy::Command;
use crate::render::argument::fragment;

/// The most new arguments that are kept for other sockets.
const SHARED: usize = 4;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct FollowParams {
    /// The debate; absent to follow all debates.
    #[param(format = Uuid)]
    debate_id: Option<String>,
    /// Send only arguments after this seq.
    #[param(value_type = Option<u64>)]
    after_seq: Option<String>,
    /// Whether to send each argument also as HTML, as the page shows it.
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
        ReadErrors,
    )
)]
pub(super) async fn follow(
    access: Access,
    Params(params): Params<FollowParams>,
    headers: HeaderMap,
    upgrade: Result<Upgrade, Problem>,
) -> Result<Response, Problem> {
    let debate: Option<DebateId> = match params.debate_id.filter(|id| !id.is_empty()) {
        Some(id) => Some(input::debate_id(&access.app, &id).await?),
        None => None,
    };
    // A larger number means the same: after the last argument.
    let after = input::optional("after_seq", params.after_seq.as_deref())?.unwrap_or(0_u64);
    let after = after.min(i64::MAX as u64);
    let html = input::flag("html", params.html.as_deref())?.then(|| pages::language(&headers));
    let followed = match debate {
        Some(id) => {
            let debate = access.debate(Command::DebateGetContext, id)?;
            // An unknown debate is refused before the upgrade.
            debate.stretch(0, 0).await?;
            Followed::One(debate)
        }
        None => {
            let debates = access.all_debates()?;
            // Follows from before the upgrade, so that a client with an open socket misses nothing.
            Followed::All(debates.follow(), debates)
        }
    };
    let upgrade = upgrade?;
    let permit = access.app.sockets.take(&access.caller)?;
    // hyper ends an upgraded connection, so the socket itself delays the stop.
    let delay = access.app.stopping.delay();
    let longest = access.app.limits.content_bytes * 6 + 64 * 1024;
    let opened = access.clone();
    Ok(upgrade.open(longest, &opened, move |mut socket| async move {
        let end = match followed {
            Followed::One(debate) => {
                let mut follower = Follower {
                    access,
                    debate,
                    seen: after,
                    html,
                    shown: ByRole::default(),
                    permit: BudgetPermit::default(),
                    socket: &mut socket,
                };
                follower.run().await
            }
            Followed::All(following, debates) => {
                feed::run(&access, &debates, following, &mut socket).await
            }
        };
        socket.close(end).await;
        drop((permit, delay));
    }))
}

/// The debates that a socket follows.
enum Followed {
    One(OneDebate),
    All(Following, AllDebates),
}

/// Messages shared by sockets with the same debate, last seq and HTML language.
pub(super) type SharedLiveMessages =
    SharedAnswers<(DebateId, u64, Option<Language>), Arc<NewArguments>>;

/// The messages with new arguments.
#[derive(Debug)]
pub(super) struct NewArguments {
    /// The seq of the last of them.
    seen: u64,
    /// Whether the record has no more.
    is_all: bool,
    messages: Vec<Utf8Bytes>,
}

/// A socket that follows one debate.
struct Follower<'a> {
    access: Access,
    debate: OneDebate,
    /// The last seq that was sent.
    seen: u64,
    /// The language of the HTML, if the client wants HTML.
    html: Option<Language>,
    /// The part of the presence that is worth an event, as last sent.
    shown: ByRole<(bool, Option<Arc<Working>>)>,
    /// The share of the first message. A socket keeps a buffer of its longest message, so this counts until
    /// the socket closes.
    permit: BudgetPermit,
    socket: &'a mut Socket,
}

impl Follower<'_> {
    async fn run(&mut self) -> SocketEnd {
        let mut written = self.debate.listen();
        let mut presence = self.debate.listen_for_presence();
        // Boxed, here and below: a socket is idle most of the time and should keep little memory.
        if let Err(end) = Box::pin(self.begin()).await {
            return self.send_deletion(end).await;
        }
        loop {
            let step = tokio::select! {
                rung = written.next() => Box::pin(self.catch_up(rung)).await,
                _ = presence.next() => Box::pin(self.send_presence()).await,
                event = self.socket.next_event() => match event {
                    Ok(SocketEvent::Text(text)) => Box::pin(self.receive(&text)).await,
                    Ok(SocketEvent::NotText) => {
                        let problem = Problem::input("message", "messages are JSON text");
                        self.socket.refuse(problem).await
                    }
                    Ok(SocketEvent::AccessChanged) => check_access(&self.access).await,
                    Ok(SocketEvent::PingDue) => self.socket.ping(&self.access).await,
                    Err(end) => Err(end),
                },
            };
            if let Err(end) = step {
                return self.send_deletion(end).await;
            }
        }
    }

    /// Sends the initial state.
    async fn begin(&mut self) -> Result<(), SocketEnd> {
        check_access(&self.access).await?;
        let after = Seq(self.seen);
        let first = self.debate.stretch(after.0, u64::MAX).await.map_err(SocketEnd::by)?;
        let (debate, last) = ((&first.debate).into(), first.debate.debate.standing.last);
        let points = Points::of(&first.debate.debate, None);
        let presence = self.debate.presence();
        self.shown = shown(&presence);
        let presence = presence.into();
        if first.arguments.last().is_none_or(|newest| newest.seq == last) {
            self.seen = first.arguments.last().map_or(self.seen, |newest| newest.seq.0);
            let arguments = self.events_of(first.arguments).await?;
            let text = written(&ServerEvent::InitialState { debate, arguments, presence, points })?;
            let permit = self.access.take_budget(text.len());
            self.permit = permit.map_err(|_| SocketEnd::Busy)?;
            return self.socket.send_text(text).await;
        }
        // Sent in parts, as it is read.
        let extra = if self.html.is_some() { HTML_EXTRA } else { 0 };
        let permit = self.access.take_for_stream(extra);
        self.permit = permit.map_err(|_| SocketEnd::Busy)?;
        let arguments = Vec::new();
        let whole = ServerEvent::InitialState { debate, arguments, presence, points };
        let [head, end] = json::around(&whole, &["\"arguments\":["])?;
        self.socket.send_part(head, FramePart::First).await?;
        let mut reader = ArgumentReader::between(&self.debate, Selection::All, after, last);
        let mut items = Items::default();
        while let Some(piece) = reader.next().await? {
            let piece = self.events_of(piece).await?;
            let write = move || items.write(piece).map(|text| (items, text));
            let text;
            (items, text) = DRAWING.run(write).await??;
            self.socket.send_part(text, FramePart::Next).await?;
        }
        self.seen = last.0;
        self.socket.send_part(end, FramePart::Last).await
    }

    /// Sends everything that is new. Sockets with the same last seq share the messages.
    async fn catch_up(&mut self, rung: Rung) -> Result<(), SocketEnd> {
        check_access(&self.access).await?;
        loop {
            let key = (self.debate.id(), self.seen, self.html);
            let news = match self.access.app.live_messages.get(&key, rung) {
                Some(news) => news,
                None => {
                    let news = Arc::new(self.news().await?);
                    // A socket that is far behind shares its messages with no other.
                    if news.messages.len() <= SHARED {
                        self.access.app.live_messages.keep(key, rung, news.clone());
                    }
                    news
                }
            };
            for message in &news.messages {
                self.socket.send_text(message.clone()).await?;
            }
            self.seen = news.seen;
            if news.is_all {
                return Ok(());
            }
        }
    }

    /// Reads the next arguments that this socket has not seen.
    async fn news(&mut self) -> Result<NewArguments, SocketEnd> {
        let news = self.debate.stretch(self.seen, u64::MAX).await.map_err(SocketEnd::by)?;
        let seen = news.arguments.last().map_or(self.seen, |last| last.seq.0);
        let is_all = news.arguments.is_empty() || seen >= news.debate.debate.standing.last.0;
        let mut messages = Vec::with_capacity(news.arguments.len());
        for argument in self.events_of(news.arguments).await? {
            let debate = (&news.debate).into();
            let points = Points::of(&news.debate.debate, None);
            messages.push(written(&ServerEvent::NewArgument { debate, argument, points })?);
        }
        Ok(NewArguments { seen, is_all, messages })
    }

    /// Sends the presence if a role has begun or stopped waiting, or its label has changed.
    async fn send_presence(&mut self) -> Result<(), SocketEnd> {
        check_access(&self.access).await?;
        let presence = self.debate.presence();
        let shown = shown(&presence);
        if self.shown == shown {
            return Ok(());
        }
        self.shown = shown;
        let debate_id = Text(self.debate.id());
        let event = ServerEvent::Presence { debate_id, presence: presence.into() };
        self.socket.send_event(&event).await
    }

    /// Converts arguments to events, with their HTML if the client wants it.
    async fn events_of(
        &mut self,
        arguments: Vec<Argument>,
    ) -> Result<Vec<ArgumentEvent>, SocketEnd> {
        let arguments: Arc<[Argument]> = arguments.into();
        let html = match self.html {
            Some(language) => self.fragments(arguments.clone(), language).await?,
            None => None,
        };
        let mut html = html.unwrap_or_default().into_iter();
        let events = arguments
            .iter()
            .map(|argument| ArgumentEvent { argument: argument.into(), html: html.next() });
        Ok(events.collect())
    }

    /// The HTML of arguments; none if the record cannot be read, since a reload of the page shows it.
    async fn fragments(
        &mut self,
        arguments: Arc<[Argument]>,
        language: Language,
    ) -> Result<Option<Vec<String>>, SocketEnd> {
        let around = self.debate.surroundings(arguments.clone()).await;
        let Ok(around) = around else { return Ok(None) };
        let now = self.debate.now().0;
        let draw = move || {
            arguments.iter().map(|argument| fragment(argument, &around, language, now)).collect()
        };
        Ok(Some(DRAWING.run(draw).await?))
    }

    async fn receive(&mut self, text: &str) -> Result<(), SocketEnd> {
        check_access(&self.access).await?;
        let executed = match self.access.app.rate_limiters.check_token(&self.access.caller) {
            Ok(()) => self.execute(text).await,
            Err(too_often) => Err(too_often),
        };
        match executed {
            Ok(()) => Ok(()),
            Err(problem) => self.socket.refuse(problem).await,
        }
    }

    /// Executes a client's message. The new argument arrives by the bell, like every other.
    async fn execute(&mut self, text: &str) -> Result<(), Problem> {
        let (debate, request) = match input::object_from_json(text.as_bytes())? {
            ClientEvent::SubmitIntervention { debate_id, intervention } => {
                (debate_id, self.access.app.intervention(self.debate.id(), Via::Api, intervention)?)
            }
            ClientEvent::SubmitRuling { debate_id, ruling } => {
                (debate_id, self.access.app.ruling(self.debate.id(), Via::Api, ruling)?)
            }
        };
        if input::debate_id(&self.access.app, &debate).await? != self.debate.id() {
            return Err(Problem::input("debate_id", "this socket follows another debate"));
        }
        self.access.execute(request).await?;
        Ok(())
    }

    /// Sends `debate_deleted` if that is why the socket ends.
    async fn send_deletion(&mut self, end: SocketEnd) -> SocketEnd {
        if !matches!(end, SocketEnd::Deleted) {
            return end;
        }
        let deleted = ServerEvent::DebateDeleted { debate_id: Text(self.debate.id()) };
        self.socket.send_event(&deleted).await.err().unwrap_or(end)
    }
}

/// Whether each role waits, and what it works on. The time at which it was last seen changes too often
/// for an event.
fn shown(presence: &ByRole<Sign>) -> ByRole<(bool, Option<Arc<Working>>)> {
    ByRole::of(|role| {
        let sign = presence.at(role);
        (sign.waiting, sign.working.clone())
    })
}
