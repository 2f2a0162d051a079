//! Long messages: whole transcripts, exports, documents, the first message of a socket, and the
//! documents that clients send.
//!
//! There is room for so many bytes of them in all. Each takes its room before its first byte is read
//! from the record, and gives it back when its last byte has left; a client that comes when there is no
//! room is answered `SERVER_BUSY`. An answer is sent piece by piece ([`LongMessages::answer`]), so that
//! a debate of any length takes as much room as a few pieces. Moves and waits are never long.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use aw_record::Failure;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use hyper::body::{Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::App;
use super::error::Problem;
use super::pages::wants_page;

/// What is shorter is not counted.
pub(super) const SHORT: usize = 64 * 1024;

/// How many pieces of an answer there are at a time: as it is read, as it is written, as it waits to be
/// sent, and as it is sent.
const PIECES: usize = 4;

/// How much longer they are when they are drawn as HTML.
pub(super) const DRAWN: usize = 512 * 1024;

/// The room that there is for them; clones share it.
#[derive(Debug, Clone)]
pub(super) struct LongMessages {
    /// In kilobytes.
    room: Arc<Semaphore>,
    in_all: usize,
    /// What an answer takes that is sent piece by piece.
    pieces: usize,
}

/// Room that is taken until this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Held(Option<OwnedSemaphorePermit>);

impl LongMessages {
    /// Room for so many bytes, of arguments that are no longer than this.
    pub(super) fn within(bytes: usize, longest_argument: usize) -> Self {
        let in_all = bytes.div_ceil(1024);
        let pieces = PIECES * (SHORT + longest_argument);
        LongMessages { room: Arc::new(Semaphore::new(in_all)), in_all, pieces }
    }

    /// Room for so many bytes.
    pub(super) fn hold(&self, bytes: usize) -> Result<Held, Problem> {
        let mut held = Held::default();
        if bytes > SHORT {
            self.grow(&mut held, bytes)?;
        }
        Ok(held)
    }

    /// Takes room until so many bytes are held.
    pub(super) fn grow(&self, held: &mut Held, bytes: usize) -> Result<(), Problem> {
        let has = held.0.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        // A message that is longer than all the room has all of it to itself.
        let more = bytes.div_ceil(1024).min(self.in_all).saturating_sub(has);
        let more = u32::try_from(more).unwrap_or(u32::MAX);
        let Ok(more) = self.room.clone().try_acquire_many_owned(more) else {
            return Err(Problem::busy("too many large messages are on their way").suggest(
                "Try again in a second; whoever runs the server can allow more (AW_MAX_LONG_ANSWERS)",
            ));
        };
        match &mut held.0 {
            Some(held) => held.merge(more),
            none => *none = Some(more),
        }
        Ok(())
    }

    /// Room for an answer that is sent piece by piece, with so many bytes besides.
    pub(super) fn hold_pieces(&self, besides: usize) -> Result<Held, Problem> {
        self.hold(self.pieces + besides)
    }

    /// A body that `write` sends piece by piece, as fast as the client reads it. When it fails, the body
    /// ends without its last chunk, which every client notices.
    pub(super) fn answer<W>(held: Held, write: impl FnOnce(Pieces) -> W) -> Body
    where
        W: Future<Output = Result<(), Cut>> + Send + 'static,
    {
        let held = Arc::new(held);
        let (out, pieces) = mpsc::channel(1);
        let writing = write(Pieces(out.clone()));
        let held_by_writer = held.clone();
        tokio::spawn(async move {
            if let Err(cut @ Cut::Failed(_)) = writing.await {
                tracing::error!(%cut, "an answer was cut off");
                // Nobody to tell is as good.
                drop(out.send(Err(cut)).await);
            }
            drop(held_by_writer);
        });
        Body::new(Arriving { pieces, _held: held })
    }
}

/// Where the pieces of an answer go.
#[derive(Debug, Clone)]
pub(super) struct Pieces(mpsc::Sender<Result<Bytes, Cut>>);

impl Pieces {
    /// Sends a piece, once there is room for it on its way.
    pub(super) async fn send(&self, piece: impl Into<Bytes>) -> Result<(), Cut> {
        let piece = piece.into();
        if piece.is_empty() {
            return Ok(());
        }
        self.0.send(Ok(piece)).await.map_err(|_| Cut::Left)
    }
}

/// Why an answer ends before its end.
#[derive(Debug)]
pub(super) enum Cut {
    /// The client left.
    Left,
    /// It could not be read or written.
    Failed(String),
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cut::Left => f.write_str("the client left"),
            Cut::Failed(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Cut {}

impl From<Failure> for Cut {
    fn from(failure: Failure) -> Self {
        Cut::Failed(failure.to_string())
    }
}

impl From<Problem> for Cut {
    fn from(problem: Problem) -> Self {
        Cut::Failed(problem.fault.unwrap_or(problem.error.message))
    }
}

/// The body of an answer whose pieces arrive one after the other.
struct Arriving {
    pieces: mpsc::Receiver<Result<Bytes, Cut>>,
    _held: Arc<Held>,
}

impl HttpBody for Arriving {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        let piece = ready!(self.pieces.poll_recv(context));
        Poll::Ready(piece.map(|piece| piece.map(Frame::data)))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

/// The request of a person, who is told as a page when there is no room for the answer.
pub(super) fn person(request: Request) -> (Request, Option<Box<Parts>>) {
    let (parts, body) = request.into_parts();
    let person = wants_page(&parts).then(|| Box::new(parts.clone()));
    (Request::from_parts(parts, body), person)
}

/// How long an answer is that was written whole and has to be counted.
pub(super) fn length(response: &Response) -> Option<usize> {
    let length = usize::try_from(response.body().size_hint().exact()?).unwrap_or(usize::MAX);
    (length > SHORT).then_some(length)
}

/// Counts an answer that was written whole until it has been sent.
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
                Some(parts) => (app.error_page)(&parts, app, problem),
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

    fn within(bytes: usize) -> LongMessages {
        LongMessages::within(bytes, 10_240)
    }

    #[test]
    fn room_is_given_back_when_the_last_byte_has_gone() {
        let long = within(1 << 20);
        assert!(long.hold(SHORT).unwrap().0.is_none(), "what is short is not counted");
        let held = long.hold(600 * 1024).unwrap();
        let bytes = Bytes::from_owner(Counted { bytes: Bytes::from_static(b"all"), _held: held });
        let rest = bytes.slice(2..);
        drop(bytes);
        long.hold(600 * 1024).unwrap_err();
        drop(rest);
        long.hold(600 * 1024).unwrap();
    }

    #[test]
    fn an_answer_longer_than_all_the_room_is_served_alone() {
        let long = within(1 << 20);
        let held = long.hold(5 << 20).unwrap();
        long.hold(SHORT + 1).unwrap_err();
        drop(held);
        let held = long.hold(SHORT + 1).unwrap();
        long.hold(5 << 20).unwrap_err();
        drop(held);
    }

    #[test]
    fn a_message_that_grows_takes_what_it_lacks() {
        let long = within(1 << 20);
        let mut held = Held::default();
        for _ in 0..3 {
            long.grow(&mut held, 300 * 1024).unwrap();
        }
        long.hold(700 * 1024).unwrap();
        long.grow(&mut held, 600 * 1024).unwrap();
        long.hold(700 * 1024).unwrap_err();
        drop(held);
        long.hold(700 * 1024).unwrap();
    }

    /// The pieces of a body as they arrive, and whether it ended well.
    async fn read(mut body: Body) -> (usize, bool) {
        let mut length = 0;
        while let Some(frame) = body.frame().await {
            match frame {
                Ok(frame) => length += frame.data_ref().map_or(0, Bytes::len),
                Err(_) => return (length, false),
            }
        }
        (length, true)
    }

    #[tokio::test]
    async fn an_answer_that_fails_half_way_does_not_end_like_a_whole_one() {
        let whole = LongMessages::answer(Held::default(), |out| async move {
            out.send("one").await?;
            out.send("two").await
        });
        assert_eq!(read(whole).await, (6, true));
        let broken = LongMessages::answer(Held::default(), |out| async move {
            out.send("one").await?;
            Err(Cut::Failed("the disk is gone".to_owned()))
        });
        assert_eq!(read(broken).await, (3, false));
    }

    #[tokio::test]
    async fn nothing_is_written_ahead_of_a_client_that_does_not_read() {
        let long = within(4 << 20);
        let written = Arc::new(Semaphore::new(0));
        let counted = written.clone();
        let body = LongMessages::answer(long.hold_pieces(0).unwrap(), |out| async move {
            loop {
                counted.add_permits(1);
                out.send("piece").await?;
            }
        });
        // One in the channel, and one that waits for its place there.
        drop(written.acquire_many(2).await.unwrap());
        tokio::task::yield_now().await;
        assert_eq!(written.available_permits(), 2);
        let room = long.room.available_permits();
        assert!(room < 4096);
        drop(body);
        while long.room.available_permits() < 4096 {
            tokio::task::yield_now().await;
        }
    }
}
