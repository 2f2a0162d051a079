//! How connections live and die.
//!
//! Each is driven by hyper's own HTTP/1 loop, which holds a waiting request in a few kilobytes.
//! When the server stops it takes no more connections, answers what is held, and lets what is
//! being written finish, all within [`STOP_PATIENCE`].

use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::AsyncWrite;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};
use tower::ServiceExt;

use super::drain::Drained;

/// How long a client may take to send its headers, or stay idle between requests.
const HEADER_PATIENCE: Duration = Duration::from_secs(75);

/// How long a client may leave an answer unread.
#[cfg(target_os = "linux")]
const READ_PATIENCE_MS: u32 = 30_000;

/// The most bytes of headers.
const HEADER_BYTES: usize = 64 * 1024;

/// How long the server takes to stop at most.
const STOP_PATIENCE: Duration = Duration::from_secs(4);

/// How many connections are told at the same time that there is no room; more are just dropped.
const TURNED_AWAY: usize = 64;

/// How long that may take.
const TURN_AWAY_PATIENCE: Duration = Duration::from_secs(2);

/// What they are told.
const NO_ROOM: &str = r#"{"success":false,"error":{"code":"SERVER_BUSY","message":"as many connections are open as this server takes on","suggestion":"Try again in a second"}}"#;

/// The address at the other end of the connection, which goes with each of its requests.
///
/// What a proxy says of whom it stands for is not believed: anybody could say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer(pub IpAddr);

impl Peer {
    /// Whoever connects from there: an IPv4 address is the same however the server listens.
    fn at(address: SocketAddr) -> Self {
        Peer(address.ip().to_canonical())
    }
}

/// Tells everybody that the server stops.
#[derive(Debug, Default)]
pub struct Stop {
    stopping: watch::Sender<bool>,
    staying: watch::Sender<usize>,
}

impl Stop {
    /// Stops the server.
    pub fn now(&self) {
        self.stopping.send_replace(true);
    }

    /// Somebody who will be told.
    pub fn told(&self) -> Stopping {
        Stopping { stopping: self.stopping.subscribe(), staying: self.staying.clone() }
    }
}

/// Will be told when the server stops.
#[derive(Debug, Clone)]
pub struct Stopping {
    stopping: watch::Receiver<bool>,
    staying: watch::Sender<usize>,
}

impl Stopping {
    /// Returns once the server stops.
    pub async fn wait(&mut self) {
        // Nobody left to tell it means the same.
        drop(self.stopping.wait_for(|stopping| *stopping).await);
    }

    /// Makes the server wait for whoever holds this, as far as its patience goes.
    pub(super) fn stay(&self) -> Staying {
        self.staying.send_modify(|staying| *staying += 1);
        Staying(self.staying.clone())
    }

    /// Returns once nobody stays.
    async fn all_left(&self) {
        drop(self.staying.subscribe().wait_for(|staying| *staying == 0).await);
    }
}

/// A connection or a socket that has not ended.
#[derive(Debug)]
pub(super) struct Staying(watch::Sender<usize>);

impl Drop for Staying {
    fn drop(&mut self) {
        self.0.send_modify(|staying| *staying -= 1);
    }
}

/// Serves until told to stop, then until everything that was begun has ended.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    connections: usize,
    mut stopping: Stopping,
) {
    let room = Arc::new(Semaphore::new(connections));
    let porch = Arc::new(Semaphore::new(TURNED_AWAY));
    let mut shut = false;
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stopping.wait() => break,
        };
        let (stream, address) = match accepted {
            Ok(accepted) => accepted,
            Err(error) if is_theirs(&error) => continue,
            Err(error) => {
                // Out of file handles, most likely: others must leave before more can come. Told
                // once, or the log would fill the disk as well.
                if !std::mem::replace(&mut shut, true) {
                    tracing::error!(%error, "connections cannot be accepted");
                }
                sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        if std::mem::take(&mut shut) {
            tracing::info!("connections are accepted again");
        }
        let Ok(place) = room.clone().try_acquire_owned() else {
            if let Ok(place) = porch.clone().try_acquire_owned() {
                tokio::spawn(async move {
                    if timeout(TURN_AWAY_PATIENCE, turn_away(stream)).await.is_err() {
                        tracing::debug!("a connection too many did not leave by itself");
                    }
                    drop(place);
                });
            }
            continue;
        };
        tokio::spawn(converse(stream, address, router.clone(), stopping.clone(), place));
    }
    drop(listener);
    if timeout(STOP_PATIENCE, stopping.all_left()).await.is_err() {
        tracing::warn!("some connections did not end in time");
    }
}

/// What is said on a connection, until it ends. There are thousands of them, so nothing is held twice.
fn converse(
    stream: TcpStream,
    address: SocketAddr,
    router: Router,
    mut stopping: Stopping,
    place: OwnedSemaphorePermit,
) -> impl Future<Output = ()> + Send {
    // Answers are small and somebody waits for each.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY was refused");
    }
    drop_who_does_not_read(&stream);
    let peer = Peer::at(address);
    let router = router.map_request(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        Drained::of(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_PATIENCE)
        .max_buf_size(HEADER_BYTES)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
        .with_upgrades();
    let mut connection = Box::pin(connection);
    let staying = stopping.stay();
    async move {
        let ended = tokio::select! {
            ended = &mut connection => ended,
            () = stopping.wait() => {
                connection.as_mut().graceful_shutdown();
                (&mut connection).await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection broke");
        }
        drop((place, staying));
    }
}

/// Tells a connection that there is no room: once it has asked, because clients take an answer to
/// nothing for an error, and listening until it goes, because closing on what is still unread would
/// destroy the answer on its way.
async fn turn_away(mut stream: TcpStream) -> io::Result<()> {
    if !hear(&stream).await? {
        return Ok(());
    }
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\n\
         connection: close\r\ncontent-length: {}\r\n\r\n{NO_ROOM}",
        NO_ROOM.len()
    );
    // Nothing was sent before, so there is room for so little.
    stream.try_write(answer.as_bytes())?;
    poll_fn(|context| Pin::new(&mut stream).poll_shutdown(context)).await?;
    while hear(&stream).await? {}
    Ok(())
}

/// Waits for something to arrive and throws it away; whether there may be more.
async fn hear(stream: &TcpStream) -> io::Result<bool> {
    loop {
        stream.readable().await?;
        match stream.try_read(&mut [0; 4096]) {
            Ok(bytes) => return Ok(bytes > 0),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
}

/// An answer that nobody reads would stay in memory for as long as its connection is open.
#[cfg(target_os = "linux")]
fn drop_who_does_not_read(stream: &TcpStream) {
    use nix::sys::socket::{setsockopt, sockopt::TcpUserTimeout};

    if let Err(error) = setsockopt(stream, TcpUserTimeout, &READ_PATIENCE_MS) {
        tracing::debug!(%error, "TCP_USER_TIMEOUT was refused");
    }
}

#[cfg(not(target_os = "linux"))]
fn drop_who_does_not_read(_: &TcpStream) {}

/// Whether only this one connection failed, before it was accepted.
fn is_theirs(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionRefused | ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_the_same_however_the_server_listens() {
        let peer = |text: &str| Peer::at(text.parse().unwrap());
        assert_eq!(peer("[::ffff:127.0.0.1]:1"), peer("127.0.0.1:2"));
        assert!(peer("[::ffff:127.0.0.1]:1").0.is_loopback());
        assert_ne!(peer("[2001:db8::1]:1"), peer("[2001:db8::2]:1"));
    }
}
