//! Errors of a request, and the only place that maps them to HTTP statuses.

use std::time::Duration;

use aw_core::{BadText, Course, Refusal, State};
use aw_record::{Failure, Fault};
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use crate::api::error::{Code, Error};
use crate::api::types::{Stamp, Text, Word};

/// Suggests how to repair a damaged record.
const RESTORE: &str = "To mend it, restore the newest backup: aw server stop, then aw server restore \
                       PATH (PostgreSQL: pg_restore into an empty database)";

/// The error of a request.
///
/// As a response it has no body yet: the outermost layer writes it ([`Problem::write`]), because only that
/// layer has the request's id.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    pub(crate) error: Box<Error>,
    /// The cause for the log, which is not sent to the client.
    pub(crate) fault: Option<String>,
    /// The seconds of `Retry-After`, if the server is busy.
    after: u64,
}

impl Problem {
    pub(super) fn new(code: Code, message: impl Into<String>) -> Self {
        let error = Error { code, message: message.into(), ..Error::default() };
        Problem { error: Box::new(error), fault: None, after: 1 }
    }

    /// Adds what to do next.
    pub(crate) fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.error.suggestion = Some(suggestion.into());
        self
    }

    /// A wrong field.
    pub(crate) fn input(field: &str, message: impl Into<String>) -> Self {
        let mut problem = Self::new(Code::InvalidInput, message);
        problem.error.field = Some(field.to_owned());
        problem
    }

    /// A field with a wrong text.
    pub(crate) fn text(field: &str, bad: BadText) -> Self {
        let message = format!("`{field}` {bad}");
        match bad {
            BadText::TooManyBytes { max, .. } => {
                let mut problem = Self::too_large(message, max);
                problem.error.field = Some(field.to_owned());
                problem
            }
            BadText::Blank
            | BadText::TooManyChars { .. }
            | BadText::NotOneLine
            | BadText::Nul
            | BadText::NotATypeName
            | BadText::NotHex => Self::input(field, message),
        }
    }

    /// A text or body that is too long.
    pub(crate) fn too_large(message: impl Into<String>, max: usize) -> Self {
        let mut problem = Self::new(Code::ContentTooLarge, message).suggest(
            "Keep long text in a document and cite it: aw docs create --summary \"...\" --file PATH, \
             then write a summary and doc_id=<document_id> (v1)",
        );
        problem.error.max_length = Some(max as u64);
        problem
    }

    pub(crate) fn media_type() -> Self {
        Self::new(Code::UnsupportedMediaType, "the body must be JSON")
            .suggest("Send the header Content-Type: application/json")
    }

    pub(crate) fn forbidden_host() -> Self {
        let mut problem = Self::new(
            Code::Forbidden,
            "the Host header names neither this machine's loopback nor a public URL of this server",
        )
        .suggest("Call 127.0.0.1 or localhost, or start the server with AW_PUBLIC_URL set to this address");
        problem.error.reason = Some("host".to_owned());
        problem
    }

    pub(crate) fn forbidden_origin() -> Self {
        let mut problem = Self::new(Code::Forbidden, "the request comes from another web site");
        problem.error.reason = Some("origin".to_owned());
        problem
    }

    /// A token that does not allow this request.
    pub(crate) fn forbidden_role(message: impl Into<String>) -> Self {
        let mut problem = Self::new(Code::Forbidden, message)
            .suggest("Use a token that allows this, or ask the server's administrator for one");
        problem.error.reason = Some("role".to_owned());
        problem
    }

    pub(crate) fn unauthorised(token_given: bool) -> Self {
        let message = if token_given {
            "this server requires a token, and the one that was sent is not valid"
        } else {
            "this server requires a token, and none was sent"
        };
        Self::new(Code::AuthFailed, message).suggest(
            "Send the header Authorization: Bearer <token>; for the aw command set DEBATE_AUTH_TOKEN",
        )
    }

    pub(crate) fn route_not_found(path: &str) -> Self {
        Self::new(Code::RouteNotFound, format!("there is nothing at {path}"))
            .suggest("See /openapi.json for every route")
    }

    pub(crate) fn method_not_allowed(method: &str, path: &str) -> Self {
        Self::new(Code::MethodNotAllowed, format!("{path} does not take {method}"))
            .suggest("See the Allow header, or /openapi.json")
    }

    /// A debate without this point.
    pub(super) fn point_not_found(point: String, message: impl Into<String>) -> Self {
        let mut problem = Self::new(Code::PointNotFound, message)
            .suggest("See which there are: aw debate points --all");
        problem.error.point_id = Some(point);
        problem
    }

    pub(crate) fn busy(message: &str) -> Self {
        Self::new(Code::ServerBusy, message).suggest("Try again in a second")
    }

    /// A rate limit was exceeded; `settings` can raise it.
    pub(crate) fn too_often(message: impl Into<String>, wait: Duration, settings: &str) -> Self {
        let after = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        let seconds = if after == 1 { "second" } else { "seconds" };
        let mut problem = Self::new(Code::ServerBusy, message).suggest(format!(
            "Try again in {after} {seconds}; the server's administrator can raise {settings}"
        ));
        problem.after = after;
        problem
    }

    /// A body that is not an MCP message, or an unsupported revision of MCP.
    pub(crate) fn bad_mcp_message(status: StatusCode) -> Self {
        match status {
            StatusCode::BAD_REQUEST => Self::input(
                "mcp-protocol-version",
                "the MCP-Protocol-Version header names a revision that this server does not support",
            )
            .suggest("Use 2026-07-28, 2025-11-25 or 2025-06-18"),
            status if status.is_server_error() => {
                Self::fault(format!("the MCP service failed with {status}"))
            }
            _ => Self::input("body", "the body is JSON, but not an MCP message")
                .suggest("Send one JSON-RPC 2.0 message of the Model Context Protocol"),
        }
    }

    /// A failure of the server, which only the log explains.
    pub(crate) fn fault(what: impl Into<String>) -> Self {
        let mut problem = Self::new(Code::ServerError, "something failed on the server")
            .suggest("Look for the request_id in the server's log");
        problem.fault = Some(what.into());
        problem
    }

    /// The HTTP status.
    pub(crate) fn status(&self) -> StatusCode {
        status(&self.error.code)
    }

    /// The value of `Retry-After`, if the server is busy.
    pub(crate) fn retry_after(&self) -> Option<HeaderValue> {
        (self.error.code == Code::ServerBusy).then(|| self.after.into())
    }

    /// Writes the response, with the request's id in the log.
    pub(crate) fn write(mut self, request_id: &str) -> Response {
        if matches!(self.error.code, Code::ServerError | Code::RecordDamaged) {
            self.error.request_id = Some(request_id.to_owned());
        }
        let status = status(&self.error.code);
        let after = self.retry_after();
        let body = crate::api::error::Failure { success: false, error: *self.error };
        let mut response = (status, axum::Json(body)).into_response();
        if let Some(after) = after {
            response.headers_mut().insert(RETRY_AFTER, after);
        }
        response
    }

    /// The problem in a response of the router, which has set `Allow` itself.
    pub(crate) fn of_router(response: &Response, method: &str, path: &str) -> Option<Self> {
        let refused = response.status() == StatusCode::METHOD_NOT_ALLOWED;
        refused.then(|| Self::method_not_allowed(method, path))
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = status(&self.error.code).into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        let message = failure.to_string();
        match failure {
            Failure::Refused { refusal, .. } if matches!(*refusal, Refusal::Flawed { .. }) => {
                let Refusal::Flawed { flaws, .. } = *refusal else { return Self::fault(message) };
                let mut problem = Self::input("content", message)
                    .suggest("Mend each line in `flaws` and submit again; --dry-run tries it first");
                problem.error.flaws = Some(flaws.iter().map(Into::into).collect());
                problem
            }
            Failure::Refused { debate, role, refusal, last } => {
                let state = refusal.state();
                let (points, advice) = match *refusal {
                    Refusal::RoundsUsed { advice, .. } => (None, Some(advice)),
                    Refusal::PointsBlock { points, advice, .. } => (Some(points), Some(advice)),
                    _ => (None, None),
                };
                let suggestion = match &advice {
                    _ if state == State::Closed => {
                        "The debate is closed: nothing more can be submitted".to_owned()
                    }
                    Some(advice) => {
                        let command = match advice.course {
                            Course::Appeal => "appeal",
                            Course::RequestCompletion => "request-completion",
                            Course::Respond => "submit --role proposer",
                        };
                        format!(
                            "aw debate {command} --debate-id {debate} --target-id {} --file YOUR_TEXT.md",
                            last.id
                        )
                    }
                    None => format!("aw debate wait --debate-id {debate} --role {role}"),
                };
                let mut problem = Self::new(Code::ActionNotAllowed, message).suggest(suggestion);
                problem.error.current_state = Some(state.into());
                problem.error.allowed_roles = Some(state.floor().map(Word::Known).into_iter().collect());
                problem.error.last_argument = Some((&last).into());
                problem.error.points = points.map(|ids| ids.into_iter().map(Text).collect());
                problem.error.advice = advice.as_ref().map(Into::into);
                problem
            }
            Failure::DebateNotFound { id, deleted_at } => {
                let mut problem = Self::new(Code::DebateNotFound, message)
                    .suggest("See which there are: aw debate list");
                if deleted_at.is_some() {
                    problem.error.message = format!("debate {id} was deleted");
                }
                problem.error.debate_id = Some(Text(id));
                problem.error.deleted_at = deleted_at.map(Stamp);
                problem
            }
            Failure::StillOpen { id, state } => {
                let mut problem = Self::new(Code::ActionNotAllowed, message).suggest(format!(
                    "Close it with a ruling, or hide it first: aw debate delete --debate-id {id} --confirm"
                ));
                problem.error.current_state = Some(state.into());
                problem.error.allowed_roles = Some(state.floor().map(Word::Known).into_iter().collect());
                problem
            }
            Failure::ArgumentNotFound { id } => {
                let mut problem = Self::new(Code::ArgumentNotFound, message)
                    .suggest("Take the id from aw debate get-context or aw debate wait");
                problem.error.argument_id = Some(Text(id));
                problem
            }
            Failure::DocumentNotFound { id, deleted_at } => {
                let mut problem = Self::new(Code::DocumentNotFound, message)
                    .suggest("See which there are: aw docs list");
                if deleted_at.is_some() {
                    problem.error.message = format!("document {id} was deleted");
                }
                problem.error.document_id = Some(Text(id));
                problem.error.deleted_at = deleted_at.map(Stamp);
                problem
            }
            Failure::VersionNotFound { id, version, newest } => {
                let mut problem = Self::new(Code::VersionNotFound, message)
                    .suggest(format!("aw docs get {id} --version {newest}"));
                problem.error.document_id = Some(Text(id));
                problem.error.version = Some(version);
                problem
            }
            Failure::PointNotFound { id } => Self::point_not_found(id.to_string(), message),
            Failure::Unexamined => Self::busy(&message),
            Failure::SeatNotFound { .. } => {
                Self::input("token_id", message).suggest("See which there are: aw token list")
            }
            Failure::TooManyWords { .. } => {
                Self::input("q", message).suggest("Search for fewer words")
            }
            Failure::NoRoom(_) => Self::new(Code::StorageFull, message).suggest(
                "Delete what is no longer needed, or start the server with a higher limit \
                 (AW_MAX_DEBATES, AW_MAX_DOCUMENTS); nothing was written",
            ),
            Failure::DebateIdTaken { id, deleted_at } => {
                let mut problem = Self::input("debate_id", message)
                    .suggest("Make a new id: aw debate generate-id");
                if deleted_at.is_some() {
                    problem.error.message =
                        format!("the id {id} belonged to a debate that was deleted");
                }
                problem.error.deleted_at = deleted_at.map(Stamp);
                problem
            }
            Failure::RequestIdReused => Self::input("client_request_id", message).suggest(
                "Send the same request to retry it, or a new client_request_id to say something else",
            ),
            Failure::Fault(fault) => fault.into(),
        }
    }
}

impl From<Fault> for Problem {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::StorageFull => Self::new(
                Code::StorageFull,
                "the disk is full: nothing was written",
            )
            .suggest(
                "Free some space, then send the same request again; the server needs no restart",
            ),
            Fault::Busy(why) => Self::busy(why),
            Fault::Damaged(damage) => {
                let mut problem =
                    Self::new(Code::RecordDamaged, format!("the record is damaged: {damage}"))
                        .suggest(format!(
                            "See which debates are whole: aw debate verify. {RESTORE}"
                        ));
                problem.fault = Some(damage.to_string());
                problem.error.debate_id = damage.debate.map(Text);
                problem.error.seq = damage.seq.map(|seq| seq.0);
                problem.error.document_id = damage.document.map(Text);
                problem.error.version = damage.version;
                problem
            }
            Fault::Corrupt(what) => {
                let mut problem = Self::new(
                    Code::RecordDamaged,
                    format!("the record is damaged, and nothing more is written to it: {what}"),
                )
                .suggest(RESTORE);
                problem.fault = Some(what);
                problem
            }
            Fault::Storage(what) | Fault::Refused(what) => Self::fault(what),
        }
    }
}

fn status(code: &Code) -> StatusCode {
    StatusCode::from_u16(code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}
