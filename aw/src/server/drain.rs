//! Request bodies that nobody reads to their end, because the request was refused.
//!
//! A client sends its whole body before it reads an answer. Closing the connection while it still
//! sends would destroy the answer on its way. So the rest is read and thrown away, within limits.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::http::Request;
use axum::http::header::EXPECT;
use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use tokio::runtime::Handle;
use tokio::time::timeout;

/// How long the rest of a body is read for, and how many bytes of it.
const PATIENCE: Duration = Duration::from_secs(10);
const MOST: u64 = 64 * 1024 * 1024;

/// A body whose rest is read when it is dropped too early.
#[derive(Debug)]
pub(super) struct Drained {
    /// There until it is dropped.
    body: Option<Incoming>,
    /// Whether the client sends it without being asked to go on.
    unasked: bool,
}

impl Drained {
    /// The request with such a body.
    pub(super) fn of(request: Request<Incoming>) -> Request<Drained> {
        let unasked = !request.headers().contains_key(EXPECT);
        request.map(|body| Drained { body: Some(body), unasked })
    }
}

impl Body for Drained {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut self.body {
            Some(body) => Pin::new(body).poll_frame(context),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(SizeHint::default, Body::size_hint)
    }
}

impl Drop for Drained {
    fn drop(&mut self) {
        let Some(mut rest) = self.body.take() else { return };
        if rest.is_end_stream() || !self.unasked {
            return;
        }
        // Without a runtime the server has stopped.
        let Ok(runtime) = Handle::try_current() else { return };
        runtime.spawn(timeout(PATIENCE, async move {
            let mut read = 0;
            while let Some(Ok(frame)) = rest.frame().await
                && read < MOST
            {
                read += frame.data_ref().map_or(0, |data| data.len() as u64);
            }
        }));
    }
}
