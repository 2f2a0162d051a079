//! `/debates/{id}/export`: the whole transcript as Markdown, HTML or JSON.

use std::sync::Arc;

use aw_core::{Argument, Ledger, Outcome, Seq};
use aw_record::{CitedDocument, Selection};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::IntoParams;

use super::access::{Access, OneDebate};
use super::blocking_pool::DRAWING;
use super::debate_stream::{self, ArgumentReader, CitedReader};
use super::error::Problem;
use super::input::{self, Params, Segment};
use super::openapi::errors::ReadErrors;
use super::pages;
use super::response_budget::{self, HTML_EXTRA};
use crate::api::types::{Stamp, Transcript};
use crate::kit::texts::Language;
use crate::policy::Command;
use crate::render::argument;
use crate::render::others_words::{literal, name, quoted};
use crate::render::report::DebateReport;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ExportParams {
    /// `markdown` (default), `html` or `json`.
    format: Option<String>,
}

/// Exports the whole transcript of a debate.
#[utoipa::path(
    get,
    path = "/debates/{id}/export",
    operation_id = "export_debate",
    params(("id" = String, Path, format = Uuid), ExportParams),
    responses(
        (status = 200, content(
            (String = "text/markdown"), (String = "text/html"), (Transcript = "application/json"),
        )),
        ReadErrors,
    )
)]
pub(super) async fn export(
    access: Access,
    Segment(id): Segment,
    Params(params): Params<ExportParams>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let id = input::id("debate_id", &id)?;
    let debate = access.debate(Command::DebateExport, id)?;
    match params.format.as_deref() {
        None | Some("" | "markdown") => markdown(&access, &debate).await,
        Some("json") => debate_stream::export(&access, &debate).await,
        Some("html") => html(&access, debate, pages::language(&headers)).await,
        Some(other) => {
            let message = format!("`format` is {other:?}: not one of markdown, html, json");
            Err(Problem::input("format", message))
        }
    }
}

/// The transcript as one HTML file that loads nothing else.
async fn html(access: &Access, debate: OneDebate, language: Language) -> Result<Response, Problem> {
    let longest = debate.longest_cited().await?;
    let permit = access.take_for_stream(HTML_EXTRA + 3 * longest)?;
    let (head, points) = debate.points().await?;
    let report = match head.outcome {
        Outcome::Open => None,
        _ => Some(debate.report().await?),
    };
    let [begin, before_arguments, before_texts, end] =
        argument::transcript_frame(&head, &points, report.as_ref(), language)
            .map_err(Problem::fault)?;
    let (last, now) = (head.debate.standing.last, debate.now().0);
    let mut arguments = ArgumentReader::between(&debate, Selection::All, Seq(0), last);
    let mut documents = CitedReader::by(&debate);
    let body = response_budget::stream(permit, |out| async move {
        out.send(begin).await?;
        while let Some(piece) = documents.next().await? {
            let lines = piece.iter().map(|document| argument::document_line(document, language));
            out.send(lines.collect::<String>()).await?;
        }
        out.send(before_arguments).await?;
        while let Some(piece) = arguments.next().await? {
            let piece: Arc<[Argument]> = piece.into();
            let around = debate.surroundings(piece.clone()).await?;
            let draw = move || {
                let drawn = piece.iter().map(|one| argument::exported(one, &around, language, now));
                drawn.collect::<String>()
            };
            out.send(DRAWING.run(draw).await?).await?;
        }
        out.send(before_texts).await?;
        let mut documents = CitedReader::by(&debate);
        while let Some(piece) = documents.next().await? {
            for cited in piece {
                let Some(text) = debate.cited_text(&cited).await? else { continue };
                let draw = move || argument::document_text(&cited, text.as_str());
                out.send(DRAWING.run(draw).await?).await?;
            }
        }
        out.send(end).await
    });
    let kind = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        // A browser may open it from this server, so it must not run anything that an agent wrote.
        (CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'; sandbox"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    Ok((kind, body).into_response())
}

/// The transcript as Markdown. Arguments are quoted, so that none can imitate the transcript itself.
async fn markdown(access: &Access, debate: &OneDebate) -> Result<Response, Problem> {
    let permit = access.take_for_stream(3 * debate.longest_cited().await?)?;
    let head = debate.stretch(0, 0).await?.debate;
    let outcome = Language::English.phrases().outcome(head.outcome);
    let sentence = match head.outcome {
        Outcome::Open => String::new(),
        _ => DebateReport::of(&debate.report().await?).sentence() + "\n\n",
    };
    let begin = format!(
        "# {}\n\n{sentence}- Debate: `{}`\n- Type: {}\n- State: {}\n{}- Opened: {}\n- Updated: {}\n",
        literal(head.title.as_str()),
        head.id,
        head.debate_type,
        head.state(),
        outcome.map(|words| format!("- Outcome: {words}\n")).unwrap_or_default(),
        Stamp(head.created_at),
        Stamp(head.updated_at),
    );
    let points = head.debate.ledger.as_ref().map(|ledger| points(ledger, head.outcome));
    let points = points.unwrap_or_default();
    let last = head.debate.standing.last;
    let mut arguments = ArgumentReader::between(debate, Selection::All, Seq(0), last);
    let mut documents = CitedReader::by(debate);
    let of = debate.clone();
    let body = response_budget::stream(permit, |out| async move {
        out.send(begin).await?;
        while let Some(piece) = documents.next().await? {
            out.send(piece.iter().map(line).collect::<String>()).await?;
        }
        out.send(points).await?;
        while let Some(piece) = arguments.next().await? {
            let draw = move || piece.iter().map(section).collect::<String>();
            out.send(DRAWING.run(draw).await?).await?;
        }
        let mut documents = CitedReader::by(&of);
        while let Some(piece) = documents.next().await? {
            for cited in piece {
                let Some(text) = of.cited_text(&cited).await? else { continue };
                let draw = move || document(&cited, text.as_str());
                out.send(DRAWING.run(draw).await?).await?;
            }
        }
        Ok(())
    });
    Ok(([(CONTENT_TYPE, "text/markdown; charset=utf-8")], body).into_response())
}

fn line(document: &CitedDocument) -> String {
    let gone = if document.deleted_at.is_some() { " (deleted)" } else { "" };
    let name = literal(&document.name);
    format!("- Document: {name} v{}{gone}, `{}`\n", document.version, document.id)
}

/// A cited document with its text, quoted as the arguments are.
fn document(document: &CitedDocument, text: &str) -> String {
    let (name, version) = (literal(&document.name), document.version);
    format!("\n## Document: {name} v{version}\n\n`{}`\n\n{}", document.id, quoted(text))
}

/// The points of a debate and their states.
fn points(ledger: &Ledger, outcome: Outcome) -> String {
    let t = Language::English.phrases();
    let rows = ledger.points.iter().map(|point| {
        let state = t.point_state(point.state, outcome != Outcome::Open);
        let notes = [(ledger.blocks(point), ", blocks"), (point.late, ", late")];
        let notes: String = notes.iter().filter(|note| note.0).map(|note| note.1).collect();
        let title = literal(&point.title);
        // In brackets the severity would become a link as soon as a text of a party defines it as one.
        format!("- {} ({}) {title}: {state}{notes}\n", point.id, point.severity)
    });
    let rows: String = rows.collect();
    match rows.is_empty() {
        true => format!("\n## {}\n\n{}\n", t.points, t.no_points),
        false => format!("\n## {}\n\n{rows}", t.points),
    }
}

fn section(argument: &Argument) -> String {
    let event = argument.event;
    let mut notes = vec![format!("`{}`", argument.id), Stamp(argument.at).to_string()];
    // First what the record knows, then what the author claims.
    notes.extend(argument::written_by(argument));
    notes.extend(argument.seat.as_ref().map(|seat| format!("seat {}", name(seat.as_str()))));
    notes.extend(argument.author.as_ref().map(|author| format!("by {}", name(author.as_str()))));
    notes.extend(argument.parent.map(|parent| format!("answers `{parent}`")));
    notes.extend(event.parked().then(|| "parked".to_owned()));
    notes.extend(event.automatic().then(|| "automatic".to_owned()));
    notes.extend((event.close() == Some(true)).then(|| "closes the debate".to_owned()));
    format!(
        "\n## {}. {} ({})\n\n{}\n\n{}",
        argument.seq,
        event.kind(),
        event.role(),
        notes.join(", "),
        quoted(argument.content.as_str()),
    )
}
