//! `/debates/{id}/export`: the whole transcript, to take away.

use std::fmt::Write;

use aw_core::Argument;
use aw_record::Context;
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::IntoParams;

use super::App;
use super::error::Problem;
use super::input::{self, Params, Segment};
use super::refused::ReadRefused;
use crate::web;
use crate::wire::{Stamp, Transcript};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ExportParams {
    /// `markdown` (default), `html` or `json`.
    format: Option<String>,
}

/// The whole transcript.
#[utoipa::path(
    get,
    path = "/debates/{id}/export",
    params(("id" = String, Path, format = Uuid), ExportParams),
    responses(
        (status = 200, content(
            (String = "text/markdown"), (String = "text/html"), (Transcript = "application/json"),
        )),
        ReadRefused,
    )
)]
pub(super) async fn export(
    State(app): State<App>,
    Segment(debate): Segment,
    Params(params): Params<ExportParams>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let id = input::id("debate_id", &debate)?;
    match params.format.as_deref() {
        None | Some("" | "markdown") => {
            let context = app.engine.context(id, None).await?;
            let kind = [(CONTENT_TYPE, "text/markdown; charset=utf-8")];
            Ok((kind, markdown(&context)).into_response())
        }
        Some("json") => {
            let context = app.engine.context(id, None).await?;
            Ok(Json(Transcript::from(&context)).into_response())
        }
        Some("html") => {
            let sheet = app.engine.sheet(id, None, i64::MAX as u64).await?;
            let (tongue, now) = (web::tongue(&headers), app.engine.now().0);
            let written = move || web::transcript(&sheet, tongue, now);
            let page = tokio::task::spawn_blocking(written).await;
            let page = page.map_err(|died| Problem::fault(format!("an export died: {died}")))?;
            let kind = [
                (CONTENT_TYPE, "text/html; charset=utf-8"),
                // It is opened from this server too: agents' words must be as harmless there.
                (CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'; sandbox"),
                (X_CONTENT_TYPE_OPTIONS, "nosniff"),
            ];
            Ok((kind, page).into_response())
        }
        Some(other) => {
            let message = format!("`format` is {other:?}: not one of markdown, html, json");
            Err(Problem::input("format", message))
        }
    }
}

/// The transcript as Markdown. What was said is quoted, so that it cannot pass for the transcript
/// itself.
fn markdown(context: &Context) -> String {
    let head = &context.debate;
    let mut text = format!(
        "# {}\n\n- Debate: `{}`\n- Type: {}\n- State: {}\n- Opened: {}\n- Updated: {}\n",
        head.title,
        head.id,
        head.debate_type,
        head.state(),
        Stamp(head.created_at),
        Stamp(head.updated_at),
    );
    for document in &context.documents {
        let gone = if document.deleted_at.is_some() { " (deleted)" } else { "" };
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "- Document: `{}` v{}{gone}: {}",
            document.id, document.version, document.summary
        );
    }
    for argument in std::iter::once(&context.motion).chain(&context.arguments) {
        text.push_str(&section(argument));
    }
    text
}

fn section(argument: &Argument) -> String {
    let event = argument.event;
    let mut notes = vec![format!("`{}`", argument.id), Stamp(argument.at).to_string()];
    notes.extend(argument.author.as_ref().map(|author| format!("by {author}")));
    notes.extend(argument.parent.map(|parent| format!("answers `{parent}`")));
    notes.extend(event.parked().then(|| "parked".to_owned()));
    notes.extend(event.automatic().then(|| "automatic".to_owned()));
    notes.extend((event.close() == Some(true)).then(|| "closes the debate".to_owned()));
    // A lone CR ends a line for whoever draws Markdown, so it does here.
    let content = argument.content.as_str().replace("\r\n", "\n").replace('\r', "\n");
    let quoted: String = content
        .lines()
        .map(|line| if line.is_empty() { ">\n".to_owned() } else { format!("> {line}\n") })
        .collect();
    format!(
        "\n## {}. {} ({})\n\n{}\n\n{quoted}",
        argument.seq,
        event.kind(),
        event.role(),
        notes.join(", "),
    )
}
