//! Reads the forms of pages.

use std::collections::HashMap;

use axum::body::HttpBody;
use axum::extract::{FromRequest, Request};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;

use super::error_page::{self, PageError};
use super::page_request::PageRequest;
use crate::server::body::{BodyError, collect};
use crate::server::{App, BudgetPermit, Caller, Problem};

/// The size of a form besides its texts, and the bytes that a byte of text may take (`%C4`).
const OVERHEAD: usize = 64 * 1024;
const ESCAPED: usize = 3;

/// The fields of a form with a valid CSRF token.
pub(crate) struct Form {
    fields: HashMap<String, String>,
    pub(crate) request: PageRequest,
    /// The share of the memory budget that a long form takes.
    _permit: BudgetPermit,
}

impl Form {
    /// The value of a field, empty if it is missing.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }

    /// The value of a field with LF line ends, as the record has them.
    pub(crate) fn text(&self, name: &str) -> String {
        self.get(name).replace("\r\n", "\n")
    }

    /// The names of its fields.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.keys().map(String::as_str)
    }

    /// Whether the form has this field, such as a ticked box.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }
}

impl FromRequest<App> for Form {
    type Rejection = Response;

    async fn from_request(request: Request, app: &App) -> Result<Self, Response> {
        let (parts, body) = request.into_parts();
        let request = PageRequest::of(&parts, app);
        let refuse = |problem: Problem| error_page::page(&request, &PageError::from(problem));
        if !is_form(&parts.headers) {
            return Err(refuse(Problem::media_type()));
        }
        // Only the form of a new debate has a document.
        let document = if parts.uri.path() == "/new" { app.limits.document_bytes } else { 0 };
        let limit = (app.limits.content_bytes + document) * ESCAPED + OVERHEAD;
        let too_large =
            || Problem::too_large(format!("the form is longer than {limit} bytes"), limit);
        if body.size_hint().lower() > limit as u64 {
            return Err(refuse(too_large()));
        }
        let owner = Caller::of(&parts).token_owner();
        let (body, permit) = collect(body, app, owner, limit).await.map_err(|error| {
            refuse(match error {
                BodyError::TooLong => too_large(),
                BodyError::CutOff => Problem::input("body", "the form was cut off"),
                BodyError::Late => Problem::input("body", "the form did not arrive in time"),
                BodyError::OverBudget(problem) => problem,
            })
        })?;
        let bytes = body.whole();
        let fields: HashMap<String, String> = form_urlencoded::parse(&bytes).into_owned().collect();
        let form = Form { fields, request, _permit: permit };
        if app.csrf.accepts(&parts.headers, form.get("csrf")) {
            return Ok(form);
        }
        let texts = ["title", "content", "words", "document"].map(|name| form.text(name));
        let typed =
            texts.map(|text| text.trim().to_owned()).into_iter().filter(|text| !text.is_empty());
        let typed = typed.collect::<Vec<_>>().join("\n\n");
        Err(error_page::page(&form.request, &PageError::Stale { typed }))
    }
}

fn is_form(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim() == "application/x-www-form-urlencoded"
}
