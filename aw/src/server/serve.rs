//! Accepts connections, serves them, and stops.
//!
//! hyper's HTTP/1 loop drives each connection and holds a waiting request in a few kilobytes. A server
//! that stops accepts no more connections, answers held waits, and finishes responses, all within
//! [`STOP_PATIENCE`].

use std::convert::Infallible;
use std::future::{Ready, poll_fn, ready};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use axum::Router;
use axum::http::Request;
use axum::response::Response;
use axum::routing::future::RouteFuture;
use futures_util::future::Either;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::AsyncWrite;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};
use tower::Service as _;

use super::drained_body::DrainedBody;

/// The longest time for a client to send its headers, or to stay idle between requests.
const HEADER_PATIENCE: Duration = Duration::from_secs(75);

/// The longest time for a client to leave a response unread.
#[cfg(target_os = "linux")]
const READ_PATIENCE_MS: u32 = 30_000;

/// The most bytes of a request's head. Anybody can leave a head unfinished. The longest text that a search
/// can find has 500 letters, and our client sends no longer head. A browser sends the cookies of every server
/// on the host.
const HEAD_BYTES: usize = 16 * 1024;

/// The most bytes that are read or written at once.
const BUFFER_BYTES: usize = 64 * 1024;

/// The longest time that the server takes to stop.
const STOP_PATIENCE: Duration = Duration::from_secs(4);

/// The most connections over the limit that get an error response at once; more are just closed.
const REJECTIONS: usize = 64;

/// The longest time to send that response.
const REJECTION_PATIENCE: Duration = Duration::from_secs(2);

/// The body of that response.
const TOO_MANY_CONNECTIONS: &str = r#"{"success":false,"error":{"code":"SERVER_BUSY","message":"too many open connections","suggestion":"Try again in a second"}}"#;

/// The client's address, attached to each request of its connection.
///
/// `X-Forwarded-For` is ignored: clients can forge it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer(pub IpAddr);

impl Peer {
    /// An IPv4 client has the same address on an IPv4 and on an IPv6 listener.
    fn at(address: SocketAddr) -> Self {
        Peer(address.ip().to_canonical())
    }
}

/// Stops the server.
#[derive(Debug, Default)]
pub struct Stop {
    stopping: watch::Sender<bool>,
    /// The number of live [`StopDelay`]s.
    delays: watch::Sender<usize>,
}

impl Stop {
    /// Tells every [`Stopping`] that the server stops.
    pub fn now(&self) {
        self.stopping.send_replace(true);
    }

    /// Returns a signal that fires when the server stops.
    pub fn subscribe(&self) -> Stopping {
        Stopping { stopping: self.stopping.subscribe(), delays: self.delays.clone() }
    }
}

/// Fires when the server stops.
#[derive(Debug, Clone)]
pub struct Stopping {
    stopping: watch::Receiver<bool>,
    delays: watch::Sender<usize>,
}

impl Stopping {
    /// Returns once the server stops.
    pub async fn wait(&mut self) {
        // A dropped `Stop` counts as a stop.
        drop(self.stopping.wait_for(|stopping| *stopping).await);
    }

    /// Delays the stop until the result is dropped, for [`STOP_PATIENCE`] at most.
    pub(super) fn delay(&self) -> StopDelay {
        self.delays.send_modify(|delays| *delays += 1);
        StopDelay(self.delays.clone())
    }

    /// Returns once no delay is left.
    async fn no_delays(&self) {
        drop(self.delays.subscribe().wait_for(|delays| *delays == 0).await);
    }
}

/// An open connection or socket.
#[derive(Debug)]
pub(super) struct StopDelay(watch::Sender<usize>);

impl Drop for StopDelay {
    fn drop(&mut self) {
        self.0.send_modify(|delays| *delays -= 1);
    }
}

/// Accepts and serves connections until `stopping` fires, then finishes those that are open.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    connections: usize,
    mut stopping: Stopping,
) {
    let connections = Arc::new(Semaphore::new(connections));
    let rejections = Arc::new(Semaphore::new(REJECTIONS));
    let mut failing = false;
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stopping.wait() => break,
        };
        let (stream, address) = match accepted {
            Ok(accepted) => accepted,
            Err(error) if is_client_error(&error) => continue,
            Err(error) => {
                // Most likely the process has no free file handle. Logged once, so that the log does
                // not fill the disk.
                if !std::mem::replace(&mut failing, true) {
                    tracing::error!(%error, "cannot accept connections");
                }
                sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        if std::mem::take(&mut failing) {
            tracing::info!("accepting connections again");
        }
        let Ok(permit) = connections.clone().try_acquire_owned() else {
            if let Ok(permit) = rejections.clone().try_acquire_owned() {
                tokio::spawn(async move {
                    if timeout(REJECTION_PATIENCE, reject(stream)).await.is_err() {
                        tracing::debug!("a client did not close its rejected connection");
                    }
                    drop(permit);
                });
            }
            continue;
        };
        tokio::spawn(serve_connection(stream, address, router.clone(), stopping.clone(), permit));
    }
    drop(listener);
    if timeout(STOP_PATIENCE, stopping.no_delays()).await.is_err() {
        tracing::warn!("some connections did not end in time");
    }
}

/// Serves one connection until it ends. The server has thousands of these futures, so each is small.
fn serve_connection(
    stream: TcpStream,
    address: SocketAddr,
    router: Router,
    mut stopping: Stopping,
    permit: OwnedSemaphorePermit,
) -> impl Future<Output = ()> + Send {
    // Responses are small, and a client waits for each.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY");
    }
    set_send_timeout(&stream);
    let requests = Requests { router, peer: Peer::at(address) };
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_PATIENCE)
        .max_header_size(HEAD_BYTES)
        .max_buf_size(BUFFER_BYTES)
        .serve_connection(TokioIo::new(stream), requests)
        .with_upgrades();
    let mut connection = Box::pin(connection);
    let delay = stopping.delay();
    async move {
        let ended = tokio::select! {
            ended = &mut connection => ended,
            () = stopping.wait() => {
                connection.as_mut().graceful_shutdown();
                (&mut connection).await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection failed");
        }
        drop((permit, delay));
    }
}

/// Answers the requests of one connection.
struct Requests {
    router: Router,
    peer: Peer,
}

impl Service<Request<Incoming>> for Requests {
    type Response = Response;
    type Error = Infallible;
    type Future = Either<Ready<Result<Response, Infallible>>, Pin<Box<RouteFuture<Infallible>>>>;

    /// Begins to answer at once, not when hyper asks for the answer. Before that, hyper reads on to notice a
    /// client that leaves. If the head of the request were still there, it would need another buffer of 8 kB.
    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        request.extensions_mut().insert(self.peer);
        let mut answer = Box::pin(self.router.clone().call(DrainedBody::wrap(request)));
        // hyper polls it again before it waits, and then it wakes the connection.
        match answer.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(answer) => Either::Left(ready(answer)),
            Poll::Pending => Either::Right(answer),
        }
    }
}

/// Sends `SERVER_BUSY` to a connection over the limit.
///
/// It waits for a request first, because a client takes an earlier response for an error. Then it reads
/// until the client closes, because closing with unread bytes could destroy the response.
async fn reject(mut stream: TcpStream) -> io::Result<()> {
    if !discard_input(&stream).await? {
        return Ok(());
    }
    let response = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\n\
         connection: close\r\ncontent-length: {}\r\n\r\n{TOO_MANY_CONNECTIONS}",
        TOO_MANY_CONNECTIONS.len()
    );
    // The send buffer is empty, so this short response fits.
    stream.try_write(response.as_bytes())?;
    poll_fn(|context| Pin::new(&mut stream).poll_shutdown(context)).await?;
    while discard_input(&stream).await? {}
    Ok(())
}

/// Waits for bytes and discards them. Returns false at the end of the stream.
async fn discard_input(stream: &TcpStream) -> io::Result<bool> {
    loop {
        stream.readable().await?;
        match stream.try_read(&mut [0; 4096]) {
            Ok(bytes) => return Ok(bytes > 0),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
}

/// Closes a connection whose client does not read. Otherwise its response would stay in memory.
#[cfg(target_os = "linux")]
fn set_send_timeout(stream: &TcpStream) {
    use nix::sys::socket::{setsockopt, sockopt::TcpUserTimeout};

    if let Err(error) = setsockopt(stream, TcpUserTimeout, &READ_PATIENCE_MS) {
        tracing::debug!(%error, "cannot set TCP_USER_TIMEOUT");
    }
}

#[cfg(not(target_os = "linux"))]
fn set_send_timeout(_: &TcpStream) {}

/// Whether the client ended this connection before it was accepted.
fn is_client_error(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionRefused | ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv4_address_is_the_same_on_an_ipv6_listener() {
        let peer = |text: &str| Peer::at(text.parse().unwrap());
        assert_eq!(peer("[::ffff:127.0.0.1]:1"), peer("127.0.0.1:2"));
        assert!(peer("[::ffff:127.0.0.1]:1").0.is_loopback());
        assert_ne!(peer("[2001:db8::1]:1"), peer("[2001:db8::2]:1"));
    }
}
