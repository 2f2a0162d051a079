//! Bodies of requests, as they arrive: within a limit, in time, and as far as there is room.

use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::time::timeout;

use super::App;
use super::error::Problem;
use super::long::{Held, SHORT};

/// How long a client may take to send a body.
const BODY_PATIENCE: Duration = Duration::from_secs(30);

/// What a JSON body may have besides its longest text.
const BODY_OVERHEAD: usize = 64 * 1024;

/// A character of the text may be written as six (`\u0000`).
const ESCAPED: usize = 6;

/// A body that has arrived, in parts: one long text would have to be moved as it grows.
#[derive(Debug)]
pub(crate) struct Arrived {
    parts: Vec<Vec<u8>>,
}

impl Arrived {
    /// Whether it is read where it arrived.
    pub(super) fn is_short(&self) -> bool {
        self.parts.len() <= 1
    }

    /// All of it.
    pub(crate) fn whole(mut self) -> Bytes {
        match self.parts.as_mut_slice() {
            [] => Bytes::new(),
            [only] => std::mem::take(only).into(),
            parts => parts.concat().into(),
        }
    }

    fn add(&mut self, piece: &[u8]) {
        match self.parts.last_mut() {
            Some(last) if last.len() + piece.len() <= SHORT => last.extend_from_slice(piece),
            Some(_) => {
                let mut part = Vec::with_capacity(SHORT.max(piece.len()));
                part.extend_from_slice(piece);
                self.parts.push(part);
            }
            None => self.parts.push(piece.to_owned()),
        }
    }
}

/// The JSON in which a text of at most so many bytes arrives, and so many bytes besides; with the room
/// that it takes.
pub(super) async fn read_body(
    request: Request,
    app: &App,
    text: usize,
    besides: usize,
) -> Result<(Arrived, Held), Problem> {
    if !is_json(request.headers()) {
        return Err(Problem::media_type());
    }
    let limit = (text + besides) * ESCAPED + BODY_OVERHEAD;
    let too_large = || {
        let message =
            format!("the body is longer than {limit} bytes; a text in it may have {text}");
        Problem::too_large(message, text)
    };
    let body = request.into_body();
    // A client that asks before it sends the body is answered at once.
    if body.size_hint().lower() > limit as u64 {
        return Err(too_large());
    }
    collected(body, app, limit).await.map_err(|broken| match broken {
        Broken::TooLong => too_large(),
        Broken::CutOff => Problem::input("body", "the body was cut off"),
        Broken::Late => Problem::input("body", "the body did not arrive in time"),
        Broken::NoRoom(problem) => problem,
    })
}

/// Why a body was not read to its end.
#[derive(Debug)]
pub(crate) enum Broken {
    /// It has more bytes than it may.
    TooLong,
    /// The client left.
    CutOff,
    /// The client took too long.
    Late,
    /// There is no room for it now.
    NoRoom(Problem),
}

/// All of a body that may have so many bytes. It takes room as it arrives: once as it is, and once more
/// for what is read from it.
pub(crate) async fn collected(
    body: Body,
    app: &App,
    limit: usize,
) -> Result<(Arrived, Held), Broken> {
    let mut body = Limited::new(body, limit);
    let arrive = async {
        let (mut held, mut length) = (Held::default(), 0);
        let mut arrived = Arrived { parts: Vec::new() };
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| match error.is::<LengthLimitError>() {
                true => Broken::TooLong,
                false => Broken::CutOff,
            })?;
            let Some(piece) = frame.data_ref() else { continue };
            length += piece.len();
            if length > SHORT {
                app.long.grow(&mut held, 2 * length).map_err(Broken::NoRoom)?;
            }
            arrived.add(piece);
        }
        Ok((arrived, held))
    };
    timeout(BODY_PATIENCE, arrive).await.unwrap_or(Err(Broken::Late))
}

fn is_json(headers: &HeaderMap) -> bool {
    let essence = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next());
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}
