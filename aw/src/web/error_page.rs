//! Error pages: what happened, and the next step.

use askama::Template;
use axum::http::header::RETRY_AFTER;
use axum::http::request::Parts;
use axum::response::Response;

use super::assets;
use super::page_request::PageRequest;
use crate::api::error::Code;
use crate::render::i18n::{Phrases, put};
use crate::render::report::date;
use crate::server::{App, Problem};

/// An error that a page shows.
pub(crate) enum PageError {
    /// A problem of the API.
    Problem(Problem),
    /// A problem with a form, and the text typed into it.
    Refused { problem: Problem, typed: String },
    /// A form without a valid CSRF token, and the text typed into it.
    Stale { typed: String },
}

impl From<Problem> for PageError {
    fn from(problem: Problem) -> Self {
        PageError::Problem(problem)
    }
}

#[derive(Template)]
#[template(path = "error_page.html")]
struct ErrorPage<'a> {
    request: &'a PageRequest,
    t: &'static Phrases,
    assets: &'a str,
    title: &'static str,
    words: String,
    /// The message of the problem, if it adds something.
    details: Option<String>,
    typed: Option<String>,
    retry: bool,
    sign_in: SignInHelp,
}

/// Which sign-in link the page shows.
#[derive(Clone, Copy)]
enum SignInHelp {
    No,
    /// Opens another tab, because this one still has the typed text.
    Again,
    /// For another seat.
    Elsewhere,
}

/// The page, or the error page of its problem.
pub(crate) fn or_page(request: &PageRequest, page: Result<Response, Problem>) -> Response {
    page.unwrap_or_else(|problem| self::page(request, &problem.into()))
}

/// Draws an error page, with the status that the API would return.
pub(crate) fn page(request: &PageRequest, error: &PageError) -> Response {
    let t = request.phrases;
    let typed = match error {
        PageError::Problem(_) => None,
        PageError::Refused { typed, .. } | PageError::Stale { typed } => {
            Some(typed.clone()).filter(|typed| !typed.trim().is_empty())
        }
    };
    let (status, title, words, details) = match error {
        PageError::Stale { .. } => {
            (Problem::forbidden_origin().status(), t.stale_title, t.stale.to_owned(), None)
        }
        PageError::Problem(problem) | PageError::Refused { problem, .. } => {
            if let Some(fault) = &problem.fault {
                // Without the query, which may contain the code of a sign-in link.
                let page = request.here.split('?').next();
                tracing::error!(fault, page, "a page failed");
            }
            let refusal = &problem.error;
            let deleted = refusal.deleted_at.as_ref();
            let field = refusal.field.as_deref();
            let (title, words) = match (&refusal.code, deleted) {
                (Code::DebateNotFound, Some(at)) => {
                    (t.debate_deleted_title, put(t.debate_deleted, date(at.0, t.date_form)))
                }
                (Code::DebateNotFound, None) => (t.debate_gone_title, t.debate_gone.to_owned()),
                (Code::InvalidInput, _) if field == Some("debate_id") => {
                    (t.debate_gone_title, t.debate_gone.to_owned())
                }
                (Code::InvalidInput, _) if field == Some("document_id") => {
                    (t.document_gone_title, t.document_gone.to_owned())
                }
                (Code::DocumentNotFound | Code::VersionNotFound, _) => {
                    (t.document_gone_title, t.document_gone.to_owned())
                }
                (Code::RouteNotFound, _) => (t.not_found_title, String::new()),
                (Code::AuthFailed, _) => (t.signed_out_title, t.signed_out.to_owned()),
                (Code::Forbidden, _) => (t.forbidden_title, t.forbidden.to_owned()),
                (Code::ServerBusy, _) => (t.stopping_title, t.stopping.to_owned()),
                (Code::ServerError | Code::RecordDamaged | Code::StorageFull, _) => {
                    (t.failed_title, t.failed.to_owned())
                }
                _ => (t.oops, refusal.message.clone()),
            };
            // What is wrong with an id that a person has opened is no help to them.
            let is_bad_id = refusal.code == Code::InvalidInput && title != t.oops;
            let details = (words != refusal.message && !is_bad_id).then(|| refusal.message.clone());
            (problem.status(), title, words, details)
        }
    };
    let code = match error {
        PageError::Problem(problem) | PageError::Refused { problem, .. } => {
            Some(&problem.error.code)
        }
        PageError::Stale { .. } => None,
    };
    let sign_in = match code {
        Some(Code::AuthFailed) => SignInHelp::Again,
        Some(Code::Forbidden) => SignInHelp::Elsewhere,
        _ => SignInHelp::No,
    };
    let retry = code == Some(&Code::ServerBusy);
    let assets = &assets::FOLDER;
    let page = ErrorPage { request, t, assets, title, words, details, typed, retry, sign_in };
    let mut response = request.page(&page);
    *response.status_mut() = status;
    if let PageError::Problem(problem) = error
        && let Some(after) = problem.retry_after()
    {
        response.headers_mut().insert(RETRY_AFTER, after);
    }
    response
}

/// The page for a problem that comes up before a page handles the request.
pub(crate) fn before_pages(parts: &Parts, app: &App, problem: Problem) -> Response {
    page(&PageRequest::of(parts, app), &problem.into())
}
