//! `/ws`: a debate, live.
//!
//! A socket reads the record from where it is, after every ring of the bell. Nothing is queued for
//! it, so a slow page cannot hold a writer or fill the memory, and none can be missed or doubled.
//! A socket that follows all debates is in [`feed`].

use std::sync::Arc;

use aw_core::{Argument, ByRole, DebateId, Seq, Via};
use aw_record::{Following, Rung, Selection, SharedAnswers};
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Deserialize;
use tokio_tungstenite::tungstenite::Utf8Bytes;
use utoipa::IntoParams;

use super::access::{Access, AllDebates, OneDebate};
use super::error::Problem;
use super::feed;
use super::input::{self, Params};
use super::json::{self, Items};
use super::long::{DRAWN, Held};
use super::pages;
use super::refused::ReadRefused;
use super::socket::{End, Part, Socket, Turn, Upgrade, welcome, written};
use super::transcript::Arguments;
use super::turns::DRAWING;
use crate::api::types::{ArgumentEvent, ClientEvent, ServerEvent, Text};
use crate::kit::texts::Language;
use crate::policy::Command;
use crate::render::argument::fragment;

/// How many new arguments are kept for other sockets.
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
    access: Access,
    Params(params): Params<FollowParams>,
    headers: HeaderMap,
    upgrade: Result<Upgrade, Problem>,
) -> Result<Response, Problem> {
    let debate: Option<DebateId> = match params.debate_id.filter(|id| !id.is_empty()) {
        Some(id) => Some(input::debate_id(&access.app, &id).await?),
        None => None,
    };
    // However large, it is a place after the last argument.
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
            // From now on, so that a client that sees its socket open misses nothing after that.
            Followed::All(debates.follow(), debates)
        }
    };
    let upgrade = upgrade?;
    let place = access.app.sockets.take(&access.caller)?;
    // An upgraded connection counts as ended, so the socket asks the server itself to wait for it.
    let staying = access.app.stopping.stay();
    let longest = access.app.limits.content_bytes * 6 + 64 * 1024;
    let opened = access.clone();
    Ok(upgrade.open(longest, &opened, move |mut socket| async move {
        let end = match followed {
            Followed::One(debate) => {
                let told = ByRole::default();
                let mut follower = Follower {
                    access,
                    debate,
                    seen: after,
                    html,
                    told,
                    held: Held::default(),
                    socket: &mut socket,
                };
                follower.run().await
            }
            Followed::All(following, debates) => {
                feed::run(&access, &debates, following, &mut socket).await
            }
        };
        socket.leave(end).await;
        drop((place, staying));
    }))
}

/// What a socket follows.
enum Followed {
    One(OneDebate),
    All(Following, AllDebates),
}

/// What sockets that follow a debate are told after a ring: by which they follow, what they have seen
/// of it, and how they are shown it.
pub(super) type ToldInDebates = SharedAnswers<(DebateId, u64, Option<Language>), Arc<NewArguments>>;

/// New arguments as they are told.
#[derive(Debug)]
pub(super) struct NewArguments {
    /// The place of the last of them.
    seen: u64,
    /// Whether there are more.
    is_all: bool,
    messages: Vec<Utf8Bytes>,
}

/// A socket that follows one debate.
struct Follower<'a> {
    access: Access,
    debate: OneDebate,
    /// The last place that was sent.
    seen: u64,
    /// Whether arguments also come as the page draws them, and in which language.
    html: Option<Language>,
    /// Who it was told to be waiting.
    told: ByRole<bool>,
    /// The room that its first message took. A socket keeps a buffer as long as its longest message,
    /// so it counts as long as the socket is open.
    held: Held,
    socket: &'a mut Socket,
}

impl Follower<'_> {
    async fn run(&mut self) -> End {
        let mut written = self.debate.listen();
        let mut presence = self.debate.listen_for_presence();
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
                    Ok(Turn::Departure) => welcome(&self.access).await,
                    Ok(Turn::Ping) => self.socket.ping(&self.access).await,
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
        welcome(&self.access).await?;
        let after = Seq(self.seen);
        let first = self.debate.stretch(after.0, u64::MAX).await.map_err(End::by)?;
        let (debate, last) = ((&first.debate).into(), first.debate.debate.standing.last);
        let presence = self.debate.presence();
        self.told = ByRole::of(|role| presence.get(role).waiting);
        let presence = presence.into();
        if first.arguments.last().is_none_or(|newest| newest.seq == last) {
            self.seen = first.arguments.last().map_or(self.seen, |newest| newest.seq.0);
            let arguments = self.drawn(first.arguments).await?;
            let text = written(&ServerEvent::InitialState { debate, arguments, presence })?;
            self.held = self.access.app.long.hold(text.len()).map_err(|_| End::Busy)?;
            return self.socket.say(text).await;
        }
        // It is sent in parts, as it is read.
        let besides = if self.html.is_some() { DRAWN } else { 0 };
        self.held = self.access.app.long.hold_pieces(besides).map_err(|_| End::Busy)?;
        let whole = ServerEvent::InitialState { debate, arguments: Vec::new(), presence };
        let [head, end] = json::around(&whole, &["\"arguments\":["])?;
        self.socket.say_part(head, Part::First).await?;
        let mut run = Arguments::between(&self.debate, Selection::All, after, last);
        let mut items = Items::default();
        while let Some(piece) = run.next().await? {
            let piece = self.drawn(piece).await?;
            let write = move || items.write(piece).map(|text| (items, text));
            let text;
            (items, text) = DRAWING.run(write).await??;
            self.socket.say_part(text, Part::Next).await?;
        }
        self.seen = last.0;
        self.socket.say_part(end, Part::Last).await
    }

    /// Sends everything that is new: read, drawn and written once for all who have seen as much.
    async fn catch_up(&mut self, rung: Rung) -> Result<(), End> {
        welcome(&self.access).await?;
        loop {
            let asked = (self.debate.id(), self.seen, self.html);
            let news = match self.access.app.told_in_debates.get(&asked, rung) {
                Some(news) => news,
                None => {
                    let news = Arc::new(self.news().await?);
                    // Who is far behind is alone there.
                    if news.messages.len() <= SHARED {
                        self.access.app.told_in_debates.keep(asked, rung, news.clone());
                    }
                    news
                }
            };
            for message in &news.messages {
                self.socket.say(message.clone()).await?;
            }
            self.seen = news.seen;
            if news.is_all {
                return Ok(());
            }
        }
    }

    /// Some of what this socket has not seen.
    async fn news(&mut self) -> Result<NewArguments, End> {
        let news = self.debate.stretch(self.seen, u64::MAX).await.map_err(End::by)?;
        let seen = news.arguments.last().map_or(self.seen, |last| last.seq.0);
        let is_all = news.arguments.is_empty() || seen >= news.debate.debate.standing.last.0;
        let mut messages = Vec::with_capacity(news.arguments.len());
        for argument in self.drawn(news.arguments).await? {
            let debate = (&news.debate).into();
            messages.push(written(&ServerEvent::NewArgument { debate, argument })?);
        }
        Ok(NewArguments { seen, is_all, messages })
    }

    /// Sends who waits now, unless it is as it was.
    async fn tell_presence(&mut self) -> Result<(), End> {
        welcome(&self.access).await?;
        let presence = self.debate.presence();
        let waiting = ByRole::of(|role| presence.get(role).waiting);
        if std::mem::replace(&mut self.told, waiting) == waiting {
            return Ok(());
        }
        let debate_id = Text(self.debate.id());
        self.socket.tell(&ServerEvent::Presence { debate_id, presence: presence.into() }).await
    }

    /// Arguments as this socket is told of them: every one passes through here.
    async fn drawn(&mut self, arguments: Vec<Argument>) -> Result<Vec<ArgumentEvent>, End> {
        let arguments: Arc<[Argument]> = arguments.into();
        let html = match self.html {
            Some(language) => self.fragments(arguments.clone(), language).await?,
            None => None,
        };
        let mut html = html.unwrap_or_default().into_iter();
        let told = arguments
            .iter()
            .map(|argument| ArgumentEvent { argument: argument.into(), html: html.next() });
        Ok(told.collect())
    }

    /// How the page draws them; nothing when something cannot be looked up, and a reload shows it.
    async fn fragments(
        &mut self,
        arguments: Arc<[Argument]>,
        language: Language,
    ) -> Result<Option<Vec<String>>, End> {
        let around = self.debate.surroundings(arguments.clone()).await;
        let Ok(around) = around else { return Ok(None) };
        let now = self.debate.now().0;
        let draw = move || {
            arguments.iter().map(|argument| fragment(argument, &around, language, now)).collect()
        };
        Ok(Some(DRAWING.run(draw).await?))
    }

    async fn hear(&mut self, text: &str) -> Result<(), End> {
        welcome(&self.access).await?;
        let obeyed = match self.access.app.meters.token(&self.access.caller) {
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

    /// Tells that the debate was deleted, if that is why it ends.
    async fn told_why(&mut self, end: End) -> End {
        if !matches!(end, End::Deleted) {
            return end;
        }
        let deleted = ServerEvent::DebateDeleted { debate_id: Text(self.debate.id()) };
        self.socket.tell(&deleted).await.err().unwrap_or(end)
    }
}
