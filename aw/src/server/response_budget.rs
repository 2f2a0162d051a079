//! A memory budget for large messages: transcripts, exports, documents, the first message of a socket,
//! and uploaded documents.
//!
//! A message takes its share before its first byte is read from the record, and returns it when its last
//! byte was sent. Without enough left, the client gets `SERVER_BUSY`. A long response is streamed piece
//! by piece ([`stream`]), so a debate of any length takes the memory of a few pieces. Moves and waits
//! are small and take nothing.

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

/// Messages up to this size are not counted.
pub(super) const SMALL: usize = 64 * 1024;

/// The pieces of a stream that are in memory at once: being read, being written, queued, being sent.
const PIECES: usize = 4;

/// The extra bytes of these pieces when they are rendered as HTML.
pub(super) const HTML_EXTRA: usize = 512 * 1024;

/// The budget; clones share it.
#[derive(Debug, Clone)]
pub(super) struct ResponseBudget {
    /// In kilobytes.
    free: Arc<Semaphore>,
    /// In kilobytes.
    total: usize,
    /// The bytes that one stream takes.
    stream: usize,
}

/// A share of the budget, returned when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct BudgetPermit(Option<OwnedSemaphorePermit>);

impl ResponseBudget {
    /// A budget of `bytes`, where no argument is longer than `longest_argument`.
    pub(super) fn new(bytes: usize, longest_argument: usize) -> Self {
        let total = bytes.div_ceil(1024);
        let stream = PIECES * (SMALL + longest_argument);
        ResponseBudget { free: Arc::new(Semaphore::new(total)), total, stream }
    }

    /// Takes the share of a message of this size.
    pub(super) fn take(&self, bytes: usize) -> Result<BudgetPermit, Problem> {
        let mut permit = BudgetPermit::default();
        if bytes > SMALL {
            self.grow(&mut permit, bytes)?;
        }
        Ok(permit)
    }

    /// Grows a permit until it covers this many bytes.
    pub(super) fn grow(&self, permit: &mut BudgetPermit, bytes: usize) -> Result<(), Problem> {
        let has = permit.0.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        // A message larger than the whole budget takes all of it.
        let more = bytes.div_ceil(1024).min(self.total).saturating_sub(has);
        let more = u32::try_from(more).unwrap_or(u32::MAX);
        let Ok(more) = self.free.clone().try_acquire_many_owned(more) else {
            return Err(Problem::busy("too many large responses in flight").suggest(
                "Try again in a second; the server's administrator can raise AW_MAX_LONG_ANSWERS",
            ));
        };
        match &mut permit.0 {
            Some(permit) => permit.merge(more),
            none => *none = Some(more),
        }
        Ok(())
    }

    /// Takes the share of a stream, and of `extra` bytes that are in memory with it.
    pub(super) fn take_for_stream(&self, extra: usize) -> Result<BudgetPermit, Problem> {
        self.take(self.stream + extra)
    }
}

/// A body that `write` sends piece by piece, as fast as the client reads it. If `write` fails, the body
/// ends without its last chunk, so the client can tell that it is incomplete.
pub(super) fn stream<W>(permit: BudgetPermit, write: impl FnOnce(BodyWriter) -> W) -> Body
where
    W: Future<Output = Result<(), StreamError>> + Send + 'static,
{
    let permit = Arc::new(permit);
    let (out, pieces) = mpsc::channel(1);
    let writing = write(BodyWriter(out.clone()));
    let writers_permit = permit.clone();
    tokio::spawn(async move {
        if let Err(error @ StreamError::Failed(_)) = writing.await {
            tracing::error!(%error, "a response was cut off");
            // It fails only if the client has left.
            drop(out.send(Err(error)).await);
        }
        drop(writers_permit);
    });
    Body::new(StreamBody { pieces, _permit: permit })
}

/// Sends the pieces of a streamed body.
#[derive(Debug, Clone)]
pub(super) struct BodyWriter(mpsc::Sender<Result<Bytes, StreamError>>);

impl BodyWriter {
    /// Sends a piece, after the client has read the piece before the previous one.
    pub(super) async fn send(&self, piece: impl Into<Bytes>) -> Result<(), StreamError> {
        let piece = piece.into();
        if piece.is_empty() {
            return Ok(());
        }
        self.0.send(Ok(piece)).await.map_err(|_| StreamError::ClientLeft)
    }
}

/// Why a stream ended early.
#[derive(Debug)]
pub(super) enum StreamError {
    ClientLeft,
    /// The content could not be read or written.
    Failed(String),
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StreamError::ClientLeft => f.write_str("the client left"),
            StreamError::Failed(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for StreamError {}

impl From<Failure> for StreamError {
    fn from(failure: Failure) -> Self {
        StreamError::Failed(failure.to_string())
    }
}

impl From<Problem> for StreamError {
    fn from(problem: Problem) -> Self {
        StreamError::Failed(problem.fault.unwrap_or(problem.error.message))
    }
}

struct StreamBody {
    pieces: mpsc::Receiver<Result<Bytes, StreamError>>,
    _permit: Arc<BudgetPermit>,
}

impl HttpBody for StreamBody {
    type Data = Bytes;
    type Error = StreamError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, StreamError>>> {
        let piece = ready!(self.pieces.poll_recv(context));
        Poll::Ready(piece.map(|piece| piece.map(Frame::data)))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

/// Keeps the head of a browser's request, which an error page is made from if the response does not fit.
pub(super) fn keep_page_request(request: Request) -> (Request, Option<Box<Parts>>) {
    let (parts, body) = request.into_parts();
    let page_request = wants_page(&parts).then(|| Box::new(parts.clone()));
    (Request::from_parts(parts, body), page_request)
}

/// The length of a response that is not streamed, if it counts.
pub(super) fn counted_length(response: &Response) -> Option<usize> {
    let length = usize::try_from(response.body().size_hint().exact()?).unwrap_or(usize::MAX);
    (length > SMALL).then_some(length)
}

/// Counts a response that is not streamed until it was sent.
pub(super) async fn count_response(
    app: &App,
    page_request: Option<Box<Parts>>,
    response: Response,
    length: usize,
) -> Response {
    let permit = match app.response_budget.take(length) {
        Ok(permit) => permit,
        Err(problem) => {
            return match page_request {
                Some(parts) => (app.error_page)(&parts, app, problem),
                None => problem.into_response(),
            };
        }
    };
    let (parts, body) = response.into_parts();
    let Ok(bytes) = body.collect().await else {
        return Problem::busy("the response could not be put together").into_response();
    };
    let counted = CountedBytes { bytes: bytes.to_bytes(), _permit: permit };
    Response::from_parts(parts, Body::from(Bytes::from_owner(counted)))
}

/// Bytes of a response with their share of the budget, which is returned when the last byte was sent.
struct CountedBytes {
    bytes: Bytes,
    _permit: BudgetPermit,
}

impl AsRef<[u8]> for CountedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget_of(bytes: usize) -> ResponseBudget {
        ResponseBudget::new(bytes, 10_240)
    }

    #[test]
    fn a_share_is_returned_when_the_last_byte_was_sent() {
        let budget = budget_of(1 << 20);
        assert!(budget.take(SMALL).unwrap().0.is_none(), "small messages do not count");
        let permit = budget.take(600 * 1024).unwrap();
        let bytes =
            Bytes::from_owner(CountedBytes { bytes: Bytes::from_static(b"all"), _permit: permit });
        let rest = bytes.slice(2..);
        drop(bytes);
        budget.take(600 * 1024).unwrap_err();
        drop(rest);
        budget.take(600 * 1024).unwrap();
    }

    #[test]
    fn a_message_larger_than_the_budget_is_sent_alone() {
        let budget = budget_of(1 << 20);
        let permit = budget.take(5 << 20).unwrap();
        budget.take(SMALL + 1).unwrap_err();
        drop(permit);
        let permit = budget.take(SMALL + 1).unwrap();
        budget.take(5 << 20).unwrap_err();
        drop(permit);
    }

    #[test]
    fn a_growing_message_takes_only_the_difference() {
        let budget = budget_of(1 << 20);
        let mut permit = BudgetPermit::default();
        for _ in 0..3 {
            budget.grow(&mut permit, 300 * 1024).unwrap();
        }
        budget.take(700 * 1024).unwrap();
        budget.grow(&mut permit, 600 * 1024).unwrap();
        budget.take(700 * 1024).unwrap_err();
        drop(permit);
        budget.take(700 * 1024).unwrap();
    }

    /// The length of a body, and whether it is complete.
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
    async fn a_stream_that_fails_does_not_end_like_a_complete_one() {
        let whole = stream(BudgetPermit::default(), |out| async move {
            out.send("one").await?;
            out.send("two").await
        });
        assert_eq!(read(whole).await, (6, true));
        let broken = stream(BudgetPermit::default(), |out| async move {
            out.send("one").await?;
            Err(StreamError::Failed("the disk is gone".to_owned()))
        });
        assert_eq!(read(broken).await, (3, false));
    }

    #[tokio::test]
    async fn a_stream_does_not_run_ahead_of_a_client_that_does_not_read() {
        let budget = budget_of(4 << 20);
        let written = Arc::new(Semaphore::new(0));
        let counted = written.clone();
        let body = stream(budget.take_for_stream(0).unwrap(), |out| async move {
            loop {
                counted.add_permits(1);
                out.send("piece").await?;
            }
        });
        // One piece is in the channel, and one waits to enter it.
        drop(written.acquire_many(2).await.unwrap());
        tokio::task::yield_now().await;
        assert_eq!(written.available_permits(), 2);
        let free = budget.free.available_permits();
        assert!(free < 4096);
        drop(body);
        while budget.free.available_permits() < 4096 {
            tokio::task::yield_now().await;
        }
    }
}
