//! Streams debates of any length piece by piece: as JSON, Markdown, HTML, and to sockets.
//!
//! Arguments never change and their seqs have no gaps. So a stream that ends at the last seq of its start
//! is consistent, although each piece is a separate read. Errors are returned before the first piece.

use aw_core::{Argument, Content, Seq};
use aw_record::{CitedDocument, CitedMark, Context, News, Selection};
use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::access::{Access, OneDebate};
use super::blocking_pool::DRAWING;
use super::error::Problem;
use super::json::{self, Items};
use super::response_budget::{self, BodyWriter, StreamError};
use crate::api::types::{self as api, DebateContext, Poll, Presence, Success, Transcript};

/// Reads arguments piece by piece.
pub(super) struct ArgumentReader {
    debate: OneDebate,
    which: Selection,
    after: Seq,
    until: Seq,
}

impl ArgumentReader {
    /// Reads those after `after` and up to `until`.
    pub(super) fn between(debate: &OneDebate, which: Selection, after: Seq, until: Seq) -> Self {
        ArgumentReader { debate: debate.clone(), which, after, until }
    }

    /// The next piece; none after the last.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<Argument>>, StreamError> {
        if self.after >= self.until {
            return Ok(None);
        }
        let piece = self.debate.piece(self.which, self.after, self.until).await?;
        self.after = piece.last().map_or(self.until, |last| last.seq);
        Ok(Some(piece))
    }

    /// Sends all of them as items of a list.
    async fn send(mut self, out: &BodyWriter, mut items: Items) -> Result<Items, StreamError> {
        while let Some(piece) = self.next().await? {
            let text;
            (items, text) =
                written(items, move || piece.iter().map(api::Argument::from).collect()).await?;
            out.send(text).await?;
        }
        Ok(items)
    }
}

/// Reads the documents that a debate cites, piece by piece.
pub(super) struct CitedReader {
    debate: OneDebate,
    next: Option<CitedMark>,
}

impl CitedReader {
    pub(super) fn by(debate: &OneDebate) -> Self {
        CitedReader { debate: debate.clone(), next: Some(CitedMark::default()) }
    }

    /// The next piece; none after the last.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<CitedDocument>>, StreamError> {
        let Some(after) = self.next else { return Ok(None) };
        let page = self.debate.cited(after).await?;
        self.next = page.next;
        Ok(Some(page.documents))
    }

    /// Sends all of them with their texts as items of a list.
    async fn send_with_texts(mut self, out: &BodyWriter) -> Result<(), StreamError> {
        let mut items = Items::default();
        while let Some(piece) = self.next().await? {
            for cited in piece {
                let content = self.debate.cited_text(&cited).await?;
                let write = move || {
                    let content = content.map(Content::into_string);
                    vec![api::CitedDocument { content, ..api::CitedDocument::from(&cited) }]
                };
                let text;
                (items, text) = written(items, write).await?;
                out.send(text).await?;
            }
        }
        Ok(())
    }

    /// Sends all of them as items of a list.
    async fn send(mut self, out: &BodyWriter) -> Result<(), StreamError> {
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

/// Writes items on a blocking thread.
async fn written<T: Serialize>(
    mut items: Items,
    list: impl FnOnce() -> Vec<T> + Send + 'static,
) -> Result<(Items, Vec<u8>), StreamError> {
    let write = move || items.write(list()).map(|text| (items, text));
    Ok(DRAWING.run(write).await??)
}

/// Streams the response of [`super::debates::context`] for a debate that is too long for one read.
pub(super) fn context(
    access: &Access,
    debate: &OneDebate,
    context: &Context,
    (presence, seen): (Presence, Option<u64>),
    first: Seq,
) -> Result<Response, Problem> {
    let permit = access.take_for_stream(0)?;
    let whole = Success::new(DebateContext::of(context, presence, seen));
    let gaps = ["\"arguments\":[", "\"rulings\":[", "\"documents\":["];
    let [head, before_rulings, before_documents, end] = json::around(&whole, &gaps)?;
    let last = context.debate.debate.standing.last;
    let before = Seq(first.0 - 1);
    let arguments = ArgumentReader::between(debate, Selection::All, before, last);
    let rulings = ArgumentReader::between(debate, Selection::Rulings, Seq::FIRST, before);
    let documents = CitedReader::by(debate);
    Ok(as_json(response_budget::stream(permit, |out| async move {
        out.send(head).await?;
        arguments.send(&out, Items::default()).await?;
        out.send(before_rulings).await?;
        rulings.send(&out, Items::default()).await?;
        out.send(before_documents).await?;
        documents.send(&out).await?;
        out.send(end).await
    })))
}

/// Streams the response of a wait whose role has not seen more RULINGs than one read returns.
pub(super) fn poll(
    access: &Access,
    debate: &OneDebate,
    news: &News,
    (after, until): (Seq, Seq),
) -> Result<Response, Problem> {
    let newest: Vec<api::Argument> = news.arguments.iter().map(Into::into).collect();
    let extra: usize = newest.iter().map(|argument| argument.content.len()).sum();
    let permit = access.take_for_stream(extra)?;
    let mut whole = api::News::from(news);
    whole.arguments.clear();
    let whole = Success::new(Poll::News(Box::new(whole)));
    let [head, end] = json::around(&whole, &["\"arguments\":["])?;
    let rulings = ArgumentReader::between(debate, Selection::Rulings, after, until);
    Ok(as_json(response_budget::stream(permit, |out| async move {
        out.send(head).await?;
        let mut items = rulings.send(&out, Items::default()).await?;
        out.send(items.write(newest)?).await?;
        out.send(end).await
    })))
}

/// Streams the JSON export of a debate.
pub(super) async fn export(access: &Access, debate: &OneDebate) -> Result<Response, Problem> {
    let permit = access.take_for_stream(2 * debate.longest_cited().await?)?;
    let head = debate.stretch(0, 0).await?.debate;
    let (_, texts) = debate.type_texts().await?;
    let (_, points) = debate.points().await?;
    let whole = Transcript::of(&head, texts.as_ref(), debate.checksum().await?, &points);
    let [begin, before_documents, end] =
        json::around(&whole, &["\"arguments\":[", "\"documents\":["])?;
    let arguments =
        ArgumentReader::between(debate, Selection::All, Seq(0), head.debate.standing.last);
    let documents = CitedReader::by(debate);
    Ok(as_json(response_budget::stream(permit, |out| async move {
        out.send(begin).await?;
        arguments.send(&out, Items::default()).await?;
        out.send(before_documents).await?;
        documents.send_with_texts(&out).await?;
        out.send(end).await
    })))
}

pub(super) fn as_json(body: Body) -> Response {
    ([(CONTENT_TYPE, "application/json")], body).into_response()
}
