//! Pages for what went wrong: what happened, and the next step.

use askama::Template;
use axum::http::header::{ACCEPT, RETRY_AFTER};
use axum::http::request::Parts;
use axum::response::Response;

use super::assets;
use super::visitor::Visitor;
use super::words::{Words, put};
use crate::api::error::Code;
use crate::server::{App, Problem};

/// What went wrong.
pub(crate) enum Trouble {
    /// What the server answers programs with.
    Problem(Problem),
    /// The same to a form, and what was typed into it.
    Refused { problem: Problem, typed: String },
    /// A form that is out of date, and what was typed into it.
    Stale { typed: String },
}

impl From<Problem> for Trouble {
    fn from(problem: Problem) -> Self {
        Trouble::Problem(problem)
    }
}

#[derive(Template)]
#[template(path = "trouble.html")]
struct TroublePage<'a> {
    v: &'a Visitor,
    w: &'static Words,
    assets: &'a str,
    title: &'static str,
    words: String,
    /// What the server said, where that helps.
    details: Option<String>,
    typed: Option<String>,
    retry: bool,
    sign_in: SignIn,
}

/// Whether signing in helps.
#[derive(Clone, Copy)]
enum SignIn {
    No,
    /// To the same seat; what was typed is still on this tab.
    Again,
    /// To another seat.
    Elsewhere,
}

/// The page for it, with the status that programs would get.
pub(crate) fn page(visitor: &Visitor, trouble: &Trouble) -> Response {
    let w = visitor.words;
    let typed = match trouble {
        Trouble::Problem(_) => None,
        Trouble::Refused { typed, .. } | Trouble::Stale { typed } => {
            Some(typed.clone()).filter(|typed| !typed.trim().is_empty())
        }
    };
    let (status, title, words, details) = match trouble {
        Trouble::Stale { .. } => {
            (Problem::forbidden_origin().status(), w.stale_title, w.stale.to_owned(), None)
        }
        Trouble::Problem(problem) | Trouble::Refused { problem, .. } => {
            if let Some(fault) = &problem.fault {
                // Without the query, in which there may be the code of a link.
                let page = visitor.here.split('?').next();
                tracing::error!(fault, page, "a page failed");
            }
            let error = &problem.error;
            let deleted = error.deleted_at.as_ref();
            let (title, words) = match (&error.code, deleted) {
                (Code::DebateNotFound, Some(at)) => {
                    (w.debate_deleted_title, put(w.debate_deleted, at))
                }
                (Code::DebateNotFound, None) => (w.debate_gone_title, w.debate_gone.to_owned()),
                (Code::DocumentNotFound | Code::VersionNotFound, _) => {
                    (w.document_gone_title, w.document_gone.to_owned())
                }
                (Code::RouteNotFound, _) => (w.not_found_title, String::new()),
                (Code::AuthFailed, _) => (w.signed_out_title, w.signed_out.to_owned()),
                (Code::Forbidden, _) => (w.forbidden_title, w.forbidden.to_owned()),
                (Code::ServerBusy, _) => (w.stopping_title, w.stopping.to_owned()),
                (Code::ServerError | Code::RecordDamaged | Code::StorageFull, _) => {
                    (w.failed_title, w.failed.to_owned())
                }
                _ => (w.oops, error.message.clone()),
            };
            let details = (words != error.message).then(|| error.message.clone());
            (problem.status(), title, words, details)
        }
    };
    let code = match trouble {
        Trouble::Problem(problem) | Trouble::Refused { problem, .. } => Some(&problem.error.code),
        Trouble::Stale { .. } => None,
    };
    let sign_in = match code {
        Some(Code::AuthFailed) => SignIn::Again,
        Some(Code::Forbidden) => SignIn::Elsewhere,
        _ => SignIn::No,
    };
    let retry = code == Some(&Code::ServerBusy);
    let assets = &assets::FOLDER;
    let page = TroublePage { v: visitor, w, assets, title, words, details, typed, retry, sign_in };
    let mut response = visitor.page(&page);
    *response.status_mut() = status;
    if let Trouble::Problem(problem) = trouble
        && let Some(after) = problem.retry_after()
    {
        response.headers_mut().insert(RETRY_AFTER, after);
    }
    response
}

/// The page for what went wrong before any page could be reached.
pub(crate) fn page_of(parts: &Parts, app: &App, problem: Problem) -> Response {
    page(&Visitor::of(parts, app), &problem.into())
}

/// Whether whoever asks is a person at a browser.
pub(crate) fn wants_page(parts: &Parts) -> bool {
    let accepts = parts.headers.get(ACCEPT).and_then(|kinds| kinds.to_str().ok());
    accepts.is_some_and(|kinds| kinds.contains("text/html"))
}
