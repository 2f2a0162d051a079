//! Reads request bodies, with limits on size, time and memory.

use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::time::timeout;

use super::App;
use super::caller::{Caller, TokenOwner};
use super::error::Problem;
use super::response_budget::{BudgetPermit, SMALL};

/// The longest time for a client to send a body.
const BODY_PATIENCE: Duration = Duration::from_secs(30);

/// The bytes of a JSON body besides its longest text.
const BODY_OVERHEAD: usize = 64 * 1024;

/// JSON may escape one byte of text as six (`\u0000`).
const ESCAPED: usize = 6;

/// A body that was read, in parts, because a single buffer would be moved as it grows.
#[derive(Debug)]
pub(crate) struct ReadBody {
    parts: Vec<Vec<u8>>,
}

impl ReadBody {
    /// Whether it is short enough to be parsed without a blocking thread.
    pub(super) fn is_short(&self) -> bool {
        self.parts.len() <= 1
    }

    /// Joins the parts.
    pub(crate) fn whole(mut self) -> Bytes {
        match self.parts.as_mut_slice() {
            [] => Bytes::new(),
            [only] => std::mem::take(only).into(),
            parts => parts.concat().into(),
        }
    }

    fn add(&mut self, piece: &[u8]) {
        match self.parts.last_mut() {
            Some(last) if last.len() + piece.len() <= SMALL => last.extend_from_slice(piece),
            Some(_) => {
                let mut part = Vec::with_capacity(SMALL.max(piece.len()));
                part.extend_from_slice(piece);
                self.parts.push(part);
            }
            None => self.parts.push(piece.to_owned()),
        }
    }
}

/// Reads a JSON body with a text of at most `text` bytes and `extra` bytes of other texts, and takes its
/// share of the memory budget.
pub(super) async fn read_body(
    request: Request,
    app: &App,
    text: usize,
    extra: usize,
) -> Result<(ReadBody, BudgetPermit), Problem> {
    if !is_json(request.headers()) {
        return Err(Problem::media_type());
    }
    let limit = (text + extra) * ESCAPED + BODY_OVERHEAD;
    let too_large = || {
        let message =
            format!("the body is longer than {limit} bytes; a text in it may have {text}");
        Problem::too_large(message, text)
    };
    let owner = request.extensions().get().and_then(Caller::token_owner);
    let body = request.into_body();
    // A client that waits for `100 Continue` gets its error before it sends the body.
    if body.size_hint().lower() > limit as u64 {
        return Err(too_large());
    }
    collect(body, app, owner, limit).await.map_err(|error| match error {
        BodyError::TooLong => too_large(),
        BodyError::CutOff => Problem::input("body", "the body was cut off"),
        BodyError::Late => Problem::input("body", "the body did not arrive in time"),
        BodyError::OverBudget(problem) => problem,
    })
}

/// Why a body was not read to its end.
#[derive(Debug)]
pub(crate) enum BodyError {
    /// It is longer than the limit.
    TooLong,
    /// The client left.
    CutOff,
    /// The client took too long.
    Late,
    /// The memory budget is used up.
    OverBudget(Problem),
}

/// Reads a body of at most `limit` bytes from the owner of a token. It takes twice its length from the memory
/// budget: for the bytes and for the values that are parsed from them.
pub(crate) async fn collect(
    body: Body,
    app: &App,
    owner: Option<TokenOwner>,
    limit: usize,
) -> Result<(ReadBody, BudgetPermit), BodyError> {
    let mut body = Limited::new(body, limit);
    let read = async {
        let (mut permit, mut length) = (BudgetPermit::default(), 0);
        let mut all = ReadBody { parts: Vec::new() };
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| match error.is::<LengthLimitError>() {
                true => BodyError::TooLong,
                false => BodyError::CutOff,
            })?;
            let Some(piece) = frame.data_ref() else { continue };
            length += piece.len();
            if length > SMALL {
                let grown = app.response_budget.grow(&mut permit, owner, 2 * length);
                grown.map_err(BodyError::OverBudget)?;
            }
            all.add(piece);
        }
        Ok((all, permit))
    };
    timeout(BODY_PATIENCE, read).await.unwrap_or(Err(BodyError::Late))
}

fn is_json(headers: &HeaderMap) -> bool {
    let essence = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next());
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}
