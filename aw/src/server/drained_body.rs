//! Reads and discards the rest of a request body that its handler did not read.
//!
//! A client sends its whole body before it reads the response. If the server closed the connection
//! earlier, the client could lose the response. So the rest is read, up to a limit.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::http::Request;
use axum::http::header::EXPECT;
use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use tokio::runtime::Handle;
use tokio::time::timeout;

/// The longest time to read a rest, and the most bytes of it.
const PATIENCE: Duration = Duration::from_secs(10);
const MOST: u64 = 64 * 1024 * 1024;

/// A body that is read to its end when it is dropped early.
#[derive(Debug)]
pub(super) struct DrainedBody {
    /// `None` only while it is dropped.
    body: Option<Incoming>,
    /// Whether the client waits for `100 Continue` before it sends the body.
    expects_continue: bool,
}

impl DrainedBody {
    /// Replaces the body of a request.
    pub(super) fn wrap(request: Request<Incoming>) -> Request<DrainedBody> {
        let expects_continue = request.headers().contains_key(EXPECT);
        request.map(|body| DrainedBody { body: Some(body), expects_continue })
    }
}

impl Body for DrainedBody {
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

impl Drop for DrainedBody {
    fn drop(&mut self) {
        let Some(mut rest) = self.body.take() else { return };
        if rest.is_end_stream() || self.expects_continue {
            return;
        }
        // There is no runtime once the server has stopped.
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
