//! Long answers: whole transcripts, documents, exports, the first message of a socket.
//!
//! Whoever asks for one and does not read it holds its bytes here. So there is room for so many
//! bytes of them in all, each counted until its last byte has left, and whoever comes when there is no
//! room is told to come again. What agents live on, moves and waits, is never long.

use std::sync::Arc;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::App;
use super::error::Problem;
use crate::web;

/// What is shorter is not counted.
const SHORT: usize = 64 * 1024;

/// How many first messages of sockets are put together at the same time.
const TURNS: usize = 4;

/// The room that there is for them; clones share it.
#[derive(Debug, Clone)]
pub(super) struct LongAnswers {
    turns: Arc<Semaphore>,
    /// In kilobytes.
    room: Arc<Semaphore>,
    in_all: usize,
}

/// Room that is taken until this is dropped.
pub(super) type Held = Option<OwnedSemaphorePermit>;

impl LongAnswers {
    pub(super) fn within(bytes: usize) -> Self {
        let in_all = bytes.div_ceil(1024);
        let (turns, room) = (Semaphore::new(TURNS), Semaphore::new(in_all));
        LongAnswers { turns: Arc::new(turns), room: Arc::new(room), in_all }
    }

    /// Waits until it is one's turn to put a long answer together.
    pub(super) async fn turn(&self) -> OwnedSemaphorePermit {
        self.turns.clone().acquire_owned().await.expect("it is never closed")
    }

    /// Room for an answer of so many bytes.
    pub(super) fn hold(&self, bytes: usize) -> Result<Held, Problem> {
        if bytes <= SHORT {
            return Ok(None);
        }
        // One that is longer than all the room has all of it to itself.
        let kilobytes = bytes.div_ceil(1024).min(self.in_all);
        let kilobytes = u32::try_from(kilobytes).expect("less than there is memory");
        let held = self.room.clone().try_acquire_many_owned(kilobytes);
        held.map(Some).map_err(|_| {
            Problem::busy("as many long answers as this server keeps are not read yet").suggest(
                "Try again in a second; whoever runs the server can allow more (AW_MAX_LONG_ANSWERS)",
            )
        })
    }
}

/// The request of a person, who is told as a page when there is no room for the answer.
pub(super) fn person(request: Request) -> (Request, Option<Box<Parts>>) {
    let (parts, body) = request.into_parts();
    let person = web::wants_page(&parts).then(|| Box::new(parts.clone()));
    (Request::from_parts(parts, body), person)
}

/// How long an answer is that has to be counted.
pub(super) fn length(response: &Response) -> Option<usize> {
    let length = usize::try_from(response.body().size_hint().exact()?).unwrap_or(usize::MAX);
    (length > SHORT).then_some(length)
}

/// Counts a long answer until it has been sent.
pub(super) async fn bound(
    app: &App,
    person: Option<Box<Parts>>,
    response: Response,
    length: usize,
) -> Response {
    let held = match app.long.hold(length) {
        Ok(held) => held,
        Err(problem) => {
            return match person {
                Some(parts) => web::trouble_page(&parts, app, problem),
                None => problem.into_response(),
            };
        }
    };
    let (parts, body) = response.into_parts();
    let Ok(bytes) = body.collect().await else {
        return Problem::busy("the answer could not be put together").into_response();
    };
    let counted = Counted { bytes: bytes.to_bytes(), _held: held };
    Response::from_parts(parts, Body::from(Bytes::from_owner(counted)))
}

/// An answer's bytes with the room that they take: it is given back when the last of them has gone.
struct Counted {
    bytes: Bytes,
    _held: Held,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_given_back_when_the_last_byte_has_gone() {
        let long = LongAnswers::within(1 << 20);
        assert!(long.hold(SHORT).unwrap().is_none(), "what is short is not counted");
        let held = long.hold(600 * 1024).unwrap();
        let bytes = Bytes::from_owner(Counted { bytes: Bytes::from_static(b"all"), _held: held });
        let rest = bytes.slice(2..);
        drop(bytes);
        long.hold(600 * 1024).unwrap_err();
        drop(rest);
        assert!(long.hold(600 * 1024).unwrap().is_some());
    }

    #[test]
    fn an_answer_longer_than_all_the_room_is_served_alone() {
        let long = LongAnswers::within(1 << 20);
        let held = long.hold(5 << 20).unwrap();
        long.hold(SHORT + 1).unwrap_err();
        drop(held);
        let held = long.hold(SHORT + 1).unwrap();
        long.hold(5 << 20).unwrap_err();
        drop(held);
    }
}
