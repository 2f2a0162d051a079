//! A memory budget for large messages: transcripts, exports, documents, the first message of a socket,
//! and uploaded documents.
//!
//! A message takes its share before its first byte is read from the record, and returns it when its last
//! byte was sent. Without enough left, the client gets `SERVER_BUSY`. A long response is streamed piece
//! by piece ([`stream`]), so a debate of any length takes the memory of a few pieces. Moves and waits
//! are small and take nothing.
//!
//! The messages of one token take a quarter, and the last of them may take more, so that a token can
//! send and read the longest document. An eighth is never for one token alone.

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use aw_record::Failure;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use hyper::body::{Frame, SizeHint};
use tokio::sync::mpsc;

use super::App;
use super::caller::TokenOwner;
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
    used: Arc<Mutex<UsedBytes>>,
    total: usize,
    /// The bytes that one stream takes.
    stream: usize,
}

#[derive(Debug, Default)]
struct UsedBytes {
    total: usize,
    /// Has no entry for a token that uses nothing.
    by_token: HashMap<TokenOwner, usize>,
}

/// A share of the budget, returned when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct BudgetPermit(Option<Share>);

#[derive(Debug)]
struct Share {
    budget: ResponseBudget,
    owner: Option<TokenOwner>,
    bytes: usize,
}

impl ResponseBudget {
    /// A budget of `bytes`, where no argument is longer than `longest_argument`.
    pub(super) fn new(bytes: usize, longest_argument: usize) -> Self {
        let stream = PIECES * (SMALL + longest_argument);
        ResponseBudget { used: Arc::default(), total: bytes, stream }
    }

    /// Takes the share of a message of this size, which the owner of a token sends or gets.
    pub(super) fn take(
        &self,
        owner: Option<TokenOwner>,
        bytes: usize,
    ) -> Result<BudgetPermit, Problem> {
        let mut permit = BudgetPermit::default();
        if bytes > SMALL {
            self.grow(&mut permit, owner, bytes)?;
        }
        Ok(permit)
    }

    /// Grows a permit of this owner until it covers this many bytes.
    pub(super) fn grow(
        &self,
        permit: &mut BudgetPermit,
        owner: Option<TokenOwner>,
        bytes: usize,
    ) -> Result<(), Problem> {
        let has = permit.0.as_ref().map_or(0, |share| share.bytes);
        let most = owner.map_or(self.total, |_| self.total - self.total / 8);
        // A longer message takes all that one may take.
        let more = bytes.min(most).saturating_sub(has);
        let mut used = self.used();
        let by_owner = owner.and_then(|owner| used.by_token.get(&owner)).copied().unwrap_or(0);
        let others = by_owner.saturating_sub(has);
        let is_over_share =
            owner.is_some() && more > 0 && (others > self.total / 4 || by_owner + more > most);
        if is_over_share || used.total + more > self.total {
            let whose = if is_over_share { " for this token" } else { "" };
            let message = format!("too many large responses in flight{whose}");
            return Err(Problem::busy(&message).suggest(
                "Try again in a second; the server's administrator can raise AW_MAX_LONG_ANSWERS",
            ));
        }
        used.total += more;
        if let Some(owner) = owner {
            used.by_token.insert(owner, by_owner + more);
        }
        match &mut permit.0 {
            Some(share) => share.bytes += more,
            none => *none = Some(Share { budget: self.clone(), owner, bytes: more }),
        }
        Ok(())
    }

    /// Takes the share of a stream, and of `extra` bytes that are in memory with it.
    pub(super) fn take_for_stream(
        &self,
        owner: Option<TokenOwner>,
        extra: usize,
    ) -> Result<BudgetPermit, Problem> {
        self.take(owner, self.stream + extra)
    }

    fn used(&self) -> MutexGuard<'_, UsedBytes> {
        // No code panics half way through a change while it holds the lock.
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut used = self.budget.used();
        used.total -= self.bytes;
        if let Some(owner) = self.owner
            && let Some(bytes) = used.by_token.get_mut(&owner)
        {
            *bytes -= self.bytes;
            if *bytes == 0 {
                used.by_token.remove(&owner);
            }
        }
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
    owner: Option<TokenOwner>,
    response: Response,
    length: usize,
) -> Response {
    let permit = match app.response_budget.take(owner, length) {
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
    use tokio::sync::Semaphore;

    use super::*;

    fn budget_of(bytes: usize) -> ResponseBudget {
        ResponseBudget::new(bytes, 10_240)
    }

    #[test]
    fn a_share_is_returned_when_the_last_byte_was_sent() {
        let budget = budget_of(1 << 20);
        assert!(budget.take(None, SMALL).unwrap().0.is_none(), "small messages do not count");
        let permit = budget.take(None, 600 * 1024).unwrap();
        let bytes =
            Bytes::from_owner(CountedBytes { bytes: Bytes::from_static(b"all"), _permit: permit });
        let rest = bytes.slice(2..);
        drop(bytes);
        budget.take(None, 600 * 1024).unwrap_err();
        drop(rest);
        budget.take(None, 600 * 1024).unwrap();
    }

    #[test]
    fn a_message_larger_than_the_budget_is_sent_alone() {
        let budget = budget_of(1 << 20);
        let permit = budget.take(None, 5 << 20).unwrap();
        budget.take(None, SMALL + 1).unwrap_err();
        drop(permit);
        let permit = budget.take(None, SMALL + 1).unwrap();
        budget.take(None, 5 << 20).unwrap_err();
        drop(permit);
    }

    #[test]
    fn a_growing_message_takes_only_the_difference() {
        let budget = budget_of(1 << 20);
        let mut permit = BudgetPermit::default();
        for _ in 0..3 {
            budget.grow(&mut permit, None, 300 * 1024).unwrap();
        }
        budget.take(None, 700 * 1024).unwrap();
        budget.grow(&mut permit, None, 600 * 1024).unwrap();
        budget.take(None, 700 * 1024).unwrap_err();
        drop(permit);
        budget.take(None, 700 * 1024).unwrap();
    }

    #[test]
    fn a_token_takes_a_quarter_and_one_message_more() {
        let budget = budget_of(64 << 20);
        let owner = |name| Some(TokenOwner::Administrator(name));
        let (one, other) = (owner("one"), owner("other"));
        let read = |owner| budget.take(owner, 5 << 20);
        let mut reads: Vec<_> = (0..4).map(|_| read(one).unwrap()).collect();
        for _ in 0..20 {
            assert!(read(one).unwrap_err().error.message.contains("this token"));
        }
        reads.extend((0..4).map(|_| read(other).unwrap()));
        reads.extend((0..4).map(|_| read(None).unwrap()));
        drop(reads);
        assert!(budget.used().by_token.is_empty(), "a token that uses nothing has an entry");

        // The longest message takes what one token may take. An eighth is left for the others.
        let mut longest = read(one).unwrap();
        budget.grow(&mut longest, one, 40 << 20).unwrap();
        budget.grow(&mut longest, one, 1 << 30).unwrap();
        read(one).unwrap_err();
        let _others = read(other).unwrap();
        assert_eq!(budget.used().total, (56 + 5) << 20);
        drop(longest);
        read(one).unwrap();
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
        let body = stream(budget.take_for_stream(None, 0).unwrap(), |out| async move {
            loop {
                counted.add_permits(1);
                out.send("piece").await?;
            }
        });
        // One piece is in the channel, and one waits to enter it.
        drop(written.acquire_many(2).await.unwrap());
        tokio::task::yield_now().await;
        assert_eq!(written.available_permits(), 2);
        assert!(budget.used().total > 0);
        drop(body);
        while budget.used().total > 0 {
            tokio::task::yield_now().await;
        }
    }
}
