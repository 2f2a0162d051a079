//! `/debates/{id}/result`: the report of a debate as Markdown, as a decision record or as JSON.

use axum::http::header::{CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::IntoParams;

use super::access::Access;
use super::blocking_pool::DRAWING;
use super::error::Problem;
use super::input::{self, Params, Segment};
use super::openapi::errors::ReadErrors;
use crate::api::types;
use crate::policy::Command;
use crate::render::report::DebateReport;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ResultParams {
    /// `markdown` (default), `madr` or `json`.
    format: Option<String>,
}

enum Format {
    Markdown,
    Madr,
    Json,
}

/// Reports how a debate ended.
#[utoipa::path(
    get,
    path = "/debates/{id}/result",
    operation_id = "report_debate",
    params(("id" = String, Path, format = Uuid), ResultParams),
    responses(
        (status = 200, content((String = "text/markdown"), (types::Report = "application/json"))),
        ReadErrors,
    )
)]
pub(super) async fn result(
    access: Access,
    Segment(id): Segment,
    Params(params): Params<ResultParams>,
) -> Result<Response, Problem> {
    let id = input::id("debate_id", &id)?;
    let debate = access.debate(Command::DebateResult, id)?;
    let format = match params.format.as_deref() {
        None | Some("" | "markdown") => Format::Markdown,
        Some("madr") => Format::Madr,
        Some("json") => Format::Json,
        Some(other) => {
            let message = format!("`format` is {other:?}: not one of markdown, madr, json");
            return Err(Problem::input("format", message));
        }
    };
    // It waits for its turn before it reads, so that waiting requests hold no memory.
    let turn = DRAWING.take().await;
    let data = debate.report().await?;
    let draw = move || -> Result<_, Problem> {
        let report = DebateReport::of(&data);
        Ok(match format {
            Format::Markdown => ("text/markdown; charset=utf-8", report.markdown()),
            Format::Madr => ("text/markdown; charset=utf-8", report.madr()),
            Format::Json => {
                let json = serde_json::to_string(&types::Report::of(&data))
                    .map_err(|error| Problem::fault(format!("a report: {error}")))?;
                ("application/json", json)
            }
        })
    };
    let (kind, text) = turn.run(draw).await??;
    Ok(([(CONTENT_TYPE, kind), (X_CONTENT_TYPE_OPTIONS, "nosniff")], text).into_response())
}
