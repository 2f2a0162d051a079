//! Debates of any length, sent piece by piece as they are read: as JSON, Markdown, HTML, and to sockets.
//!
//! Arguments never change and their places have no gaps, so the debate as it was at the beginning and
//! its arguments up to its last place then are one picture, although each piece is a read of its own.
//! Everything that can be refused is refused before the first piece.

use aw_core::{Argument, Seq};
use aw_record::{CitedDocument, CitedMark, Context, News, Selection};
use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::App;
use super::access::OneDebate;
use super::error::Problem;
use super::json::{self, Items};
use super::long::{Cut, LongMessages, Pieces};
use super::turns::DRAWING;
use crate::api::types::{self as api, DebateContext, Poll, Presence, Success, Transcript};

/// A run of arguments that is read piece by piece.
pub(super) struct Arguments {
    debate: OneDebate,
    which: Selection,
    after: Seq,
    until: Seq,
}

impl Arguments {
    /// Those after the first of these places and up to the second.
    pub(super) fn between(debate: &OneDebate, which: Selection, after: Seq, until: Seq) -> Self {
        Arguments { debate: debate.clone(), which, after, until }
    }

    /// The next piece; none after the last.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<Argument>>, Cut> {
        if self.after >= self.until {
            return Ok(None);
        }
        let piece = self.debate.piece(self.which, self.after, self.until).await?;
        self.after = piece.last().map_or(self.until, |last| last.seq);
        Ok(Some(piece))
    }

    /// Sends all of them as items of a list.
    async fn send(mut self, out: &Pieces, mut items: Items) -> Result<Items, Cut> {
        while let Some(piece) = self.next().await? {
            let text;
            (items, text) =
                written(items, move || piece.iter().map(api::Argument::from).collect()).await?;
            out.send(text).await?;
        }
        Ok(items)
    }
}

/// Documents that a debate cites, read piece by piece.
pub(super) struct Cited {
    debate: OneDebate,
    next: Option<CitedMark>,
}

impl Cited {
    pub(super) fn by(debate: &OneDebate) -> Self {
        Cited { debate: debate.clone(), next: Some(CitedMark::default()) }
    }

    /// The next piece; none after the last.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<CitedDocument>>, Cut> {
        let Some(after) = self.next else { return Ok(None) };
        let page = self.debate.cited(after).await?;
        self.next = page.next;
        Ok(Some(page.documents))
    }

    /// Sends all of them as items of a list.
    async fn send(mut self, out: &Pieces) -> Result<(), Cut> {
        let mut items = Items::default();
        while let Some(piece) = self.next().await? {
            let text;
            (items, text) =
                written(items, move || piece.iter().map(api::CitedDocument::from).collect())
                    .await?;
            out.send(text).await?;
        }
        Ok(())
    }
}

/// Writes items off the threads that serve everybody.
async fn written<T: Serialize>(
    mut items: Items,
    list: impl FnOnce() -> Vec<T> + Send + 'static,
) -> Result<(Items, Vec<u8>), Cut> {
    let write = move || items.write(list()).map(|text| (items, text));
    Ok(DRAWING.run(write).await??)
}

/// The answer to [`super::debates::context`] for a debate that is too long to be read in one go.
pub(super) fn context(
    app: &App,
    debate: &OneDebate,
    context: &Context,
    presence: Presence,
    first: Seq,
) -> Result<Response, Problem> {
    let held = app.long.hold_pieces(0)?;
    let whole = Success::new(DebateContext::of(context, presence));
    let gaps = ["\"arguments\":[", "\"rulings\":[", "\"documents\":["];
    let [head, before_rulings, before_documents, end] = json::around(&whole, &gaps)?;
    let last = context.debate.debate.standing.last;
    let before = Seq(first.0 - 1);
    let arguments = Arguments::between(debate, Selection::All, before, last);
    let rulings = Arguments::between(debate, Selection::Rulings, Seq::FIRST, before);
    let documents = Cited::by(debate);
    Ok(as_json(LongMessages::answer(held, |out| async move {
        out.send(head).await?;
        arguments.send(&out, Items::default()).await?;
        out.send(before_rulings).await?;
        rulings.send(&out, Items::default()).await?;
        out.send(before_documents).await?;
        documents.send(&out).await?;
        out.send(end).await
    })))
}

/// The answer to a wait for a role that has not seen more RULINGs than are read in one go.
pub(super) fn poll(
    app: &App,
    debate: &OneDebate,
    news: &News,
    (after, until): (Seq, Seq),
) -> Result<Response, Problem> {
    let newest: Vec<api::Argument> = news.arguments.iter().map(Into::into).collect();
    let besides: usize = newest.iter().map(|argument| argument.content.len()).sum();
    let held = app.long.hold_pieces(besides)?;
    let mut whole = api::News::from(news);
    whole.arguments.clear();
    let whole = Success::new(Poll::News(Box::new(whole)));
    let [head, end] = json::around(&whole, &["\"arguments\":["])?;
    let rulings = Arguments::between(debate, Selection::Rulings, after, until);
    Ok(as_json(LongMessages::answer(held, |out| async move {
        out.send(head).await?;
        let mut items = rulings.send(&out, Items::default()).await?;
        out.send(items.write(newest)?).await?;
        out.send(end).await
    })))
}

/// A whole debate as JSON, to take away.
pub(super) async fn export(app: &App, debate: &OneDebate) -> Result<Response, Problem> {
    let held = app.long.hold_pieces(0)?;
    let head = debate.stretch(0, 0).await?.debate;
    let (_, texts) = debate.type_texts().await?;
    let whole = Transcript::of(&head, texts.as_ref(), debate.checksum().await?);
    let [begin, before_documents, end] =
        json::around(&whole, &["\"arguments\":[", "\"documents\":["])?;
    let arguments = Arguments::between(debate, Selection::All, Seq(0), head.debate.standing.last);
    let documents = Cited::by(debate);
    Ok(as_json(LongMessages::answer(held, |out| async move {
        out.send(begin).await?;
        arguments.send(&out, Items::default()).await?;
        out.send(before_documents).await?;
        documents.send(&out).await?;
        out.send(end).await
    })))
}

pub(super) fn as_json(body: Body) -> Response {
    ([(CONTENT_TYPE, "application/json")], body).into_response()
}
