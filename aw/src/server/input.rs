//! Parses bodies, queries and ids.

use std::borrow::Cow;
use std::fmt::Display;
use std::str::FromStr;

use aw_core::{Author, BadText, Content, DebateId, RequestId, Role, Via};
use aw_record::TypeTexts;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::App;
use super::blocking_pool::DRAWING;
use super::body::{ReadBody, read_body};
use super::error::Problem;
use super::response_budget::BudgetPermit;
use crate::api::in_process;

/// Suggests what to do with a document that is too long.
pub(super) const SPLIT: &str = "Split it into several documents";

/// A JSON body with an argument.
pub(super) struct Body<T>(pub(super) T);

impl<T: DeserializeOwned + Clone + Send + 'static> FromRequest<App> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        read_json(request, app, app.limits.content_bytes, 0).await.map(|(body, _)| Body(body))
    }
}

/// A JSON body with a MOTION, and perhaps the texts of its type.
pub(super) struct OpeningBody<T>(pub(super) T);

impl<T: DeserializeOwned + Clone + Send + 'static> FromRequest<App> for OpeningBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let (text, types) = (app.limits.content_bytes, TypeTexts::MAX_BYTES);
        read_json(request, app, text, types).await.map(|(body, _)| OpeningBody(body))
    }
}

/// A JSON body with a document, and its share of the memory budget.
pub(super) struct LongBody<T>(pub(super) T, pub(super) BudgetPermit);

impl<T: DeserializeOwned + Clone + Send + 'static> FromRequest<App> for LongBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        if let Some(body) = in_process::body_of(&request) {
            return Ok(LongBody(body, BudgetPermit::default()));
        }
        let (body, held) = read_document(request, app).await?;
        Ok(LongBody(parsed(body).await?, held))
    }
}

async fn read_json<T: DeserializeOwned + Clone + Send + 'static>(
    request: Request,
    app: &App,
    text: usize,
    besides: usize,
) -> Result<(T, BudgetPermit), Problem> {
    if let Some(body) = in_process::body_of(&request) {
        return Ok((body, BudgetPermit::default()));
    }
    let (body, held) = read_body(request, app, text, besides).await?;
    Ok((parsed(body).await?, held))
}

/// Reads the body of a request with a document.
pub(super) async fn read_document(
    request: Request,
    app: &App,
) -> Result<(ReadBody, BudgetPermit), Problem> {
    let read = read_body(request, app, app.limits.document_bytes, 0).await;
    read.map_err(|problem| match problem.error.max_length {
        Some(_) => problem.suggest(SPLIT),
        None => problem,
    })
}

/// Parses a body. A long one is parsed on a blocking thread.
async fn parsed<T: DeserializeOwned + Send + 'static>(body: ReadBody) -> Result<T, Problem> {
    if body.is_short() {
        return object_from_json(&body.whole());
    }
    DRAWING.run(move || object_from_json(&body.whole())).await?
}

/// Parses a JSON object: serde would take an array for the fields in their order.
pub(super) fn object_from_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    if bytes.trim_ascii_start().starts_with(b"[") {
        return Err(Problem::input("body", "the body is an array and must be an object")
            .suggest("See /openapi.json for the fields and their types"));
    }
    from_json(bytes)
}

/// Parses JSON. The error names the wrong field.
pub(super) fn from_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    // serde_json does not check the bytes of fields that it skips.
    let text = str::from_utf8(bytes)
        .map_err(|error| Problem::input("body", format!("the body is not UTF-8: {error}")))?;
    let mut json = serde_json::Deserializer::from_str(text);
    let read = serde_path_to_error::deserialize(&mut json).and_then(|value| {
        json.end().map(|()| value).map_err(|error| {
            serde_path_to_error::Error::new(serde_path_to_error::Track::new().path(), error)
        })
    });
    read.map_err(|error| {
        let message = error.inner().to_string();
        let path = error.path().to_string();
        // serde reports a missing or duplicate field at its parent, and names it only in the message.
        let named = message.split('`').nth(1).filter(|_| message.contains(" field `"));
        let field = match (path.as_str(), named) {
            ("." | "?", Some(named)) => named,
            ("." | "?", None) => "body",
            (path, _) => path,
        };
        Problem::input(field, format!("the body cannot be read: {message}"))
            .suggest("See /openapi.json for the fields and their types")
    })
}

/// The id in a path. A debate's id in the older system is replaced by its id here.
pub(crate) struct Segment(pub(crate) String);

impl FromRequestParts<App> for Segment {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let Ok(Path(segment)) = Path::<String>::from_request_parts(parts, app).await else {
            return Err(Problem::input("id", "the id in the path is not UTF-8"));
        };
        if !parts.uri.path().starts_with("/debate") || segment.parse::<DebateId>().is_ok() {
            return Ok(Segment(segment));
        }
        let known = app.record.debate_of_former_id(&segment).await?;
        Ok(Segment(known.map_or(segment, |id| id.to_string())))
    }
}

/// Two segments of a path.
pub(crate) struct Segments(pub(crate) String, pub(crate) String);

impl FromRequestParts<App> for Segments {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        match Path::<(String, String)>::from_request_parts(parts, app).await {
            Ok(Path((first, second))) => Ok(Segments(first, second)),
            Err(_) => Err(Problem::input("id", "an id in the path is not UTF-8")),
        }
    }
}

/// The query of the URL.
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<App> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        match Query::try_from_uri(&parts.uri) {
            Ok(Query(params)) => Ok(Params(params)),
            Err(rejection) => {
                // The part before the colon is axum's own and does not help the client.
                let text = rejection.body_text();
                let message = match text.split_once(": ") {
                    Some((_, why)) => format!("the query cannot be read: {why}"),
                    None => text,
                };
                let field = message.split('`').nth(1).unwrap_or("query").to_owned();
                Err(Problem::input(&field, message))
            }
        }
    }
}

/// The program that sent a request, by its own `aw-via` header.
pub(super) struct SentVia(pub(super) Via);

impl FromRequestParts<App> for SentVia {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        let name = parts.headers.get("aw-via").and_then(|value| value.to_str().ok());
        Ok(SentVia(match name {
            Some("cli") => Via::Cli,
            Some("mcp") => Via::Mcp,
            Some("run") => Via::Run,
            Some(_) | None => Via::Api,
        }))
    }
}

/// Parses a UUID.
pub(crate) fn id<T: FromStr>(field: &str, text: &str) -> Result<T, Problem> {
    text.parse().map_err(|_| {
        let shown: Cow<'_, str> = match text.char_indices().nth(80) {
            Some((cut, _)) => format!("{}…", &text[..cut]).into(),
            None => text.into(),
        };
        let problem = Problem::input(
            field,
            format!(
                "`{field}` must be a UUID such as 93d81b1a-0e66-4510-abfd-aa33b26cb82e, not {shown:?}"
            ),
        );
        match field {
            "debate_id" => problem.suggest("See which there are: aw debate list"),
            _ => problem,
        }
    })
}

/// Parses an optional UUID; an empty one counts as absent.
pub(super) fn optional_id<T: FromStr>(
    field: &str,
    text: Option<&str>,
) -> Result<Option<T>, Problem> {
    text.filter(|text| !text.is_empty()).map(|text| id(field, text)).transpose()
}

/// Parses `debate_id`: a debate's id, or its id in the older system.
pub(super) async fn debate_id(app: &App, text: &str) -> Result<DebateId, Problem> {
    match id("debate_id", text) {
        Ok(id) => Ok(id),
        Err(problem) => app.record.debate_of_former_id(text).await?.ok_or(problem),
    }
}

/// Parses `client_request_id`, or makes a new one.
pub(super) fn request_id(text: Option<&str>) -> Result<RequestId, Problem> {
    match text {
        Some(text) => id("client_request_id", text),
        None => Ok(Uuid::now_v7().into()),
    }
}

/// Parses a word of the protocol, or a number.
pub(crate) fn value<T: FromStr<Err: Display>>(field: &str, text: &str) -> Result<T, Problem> {
    text.parse().map_err(|error| Problem::input(field, format!("`{field}` is {text:?}: {error}")))
}

/// Parses an optional value; an empty one counts as absent.
pub(super) fn optional<T: FromStr<Err: Display>>(
    field: &str,
    text: Option<&str>,
) -> Result<Option<T>, Problem> {
    text.filter(|text| !text.is_empty()).map(|text| value(field, text)).transpose()
}

/// Parses `true` or `false`; an empty value is true.
pub(super) fn flag(field: &str, text: Option<&str>) -> Result<bool, Problem> {
    match text {
        None => Ok(false),
        Some("" | "1") => Ok(true),
        Some("0") => Ok(false),
        Some(text) => value(field, text),
    }
}

/// Parses a number of rows, of at most 500.
pub(super) fn limit(text: Option<&str>, default: u64) -> Result<u64, Problem> {
    Ok(optional("limit", text)?.unwrap_or(default).min(500))
}

/// Parses the number of rows to skip.
pub(super) fn offset(text: Option<&str>) -> Result<u64, Problem> {
    let offset: u64 = optional("offset", text)?.unwrap_or(0);
    Ok(offset.min(i64::MAX as u64 / 2))
}

/// Parses a search; an empty one counts as absent.
pub(super) fn search(text: Option<String>) -> Result<Option<String>, Problem> {
    match text {
        Some(text) if text.contains('\0') => Err(Problem::text("q", BadText::Nul)),
        Some(text) if text.trim().is_empty() => Ok(None),
        text => Ok(text),
    }
}

/// Parses an author; an empty one counts as absent.
pub(super) fn author(text: Option<String>) -> Result<Option<Author>, Problem> {
    text.filter(|text| !text.is_empty())
        .map(|text| Author::parse(text).map_err(|bad| Problem::text("author", bad)))
        .transpose()
}

/// Parses a text that must not be blank.
pub(crate) fn content(field: &str, text: String, max: usize) -> Result<Content, Problem> {
    Content::parse(text, max).map_err(|bad| Problem::text(field, bad))
}

/// Parses the role of a waiter.
pub(super) fn waiting_role(text: Option<&str>) -> Result<Role, Problem> {
    match text {
        Some(text) => value("role", text),
        None => Err(Problem::input("role", "`role` is missing: proposer, opponent or arbitrator")),
    }
}
