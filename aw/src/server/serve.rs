//! How connections live and die.
//!
//! Each is driven by hyper's own HTTP/1 loop, which holds a waiting request in a few kilobytes.
//! When the server stops it takes no more connections, answers what is held, and lets what is
//! being written finish, all within [`STOP_PATIENCE`].

use std::convert::Infallible;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::{sleep, timeout};

/// How long a client may take to send its headers, or stay idle between requests.
const HEADER_PATIENCE: Duration = Duration::from_secs(75);

/// The most bytes of headers.
const HEADER_BYTES: usize = 64 * 1024;

/// How long the server takes to stop at most.
const STOP_PATIENCE: Duration = Duration::from_secs(4);

/// Told to whoever comes when there is no room.
const NO_ROOM: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\n\
retry-after: 1\r\nconnection: close\r\ncontent-length: 103\r\n\r\n\
{\"success\":false,\"error\":{\"code\":\"SERVER_BUSY\",\"message\":\"too many connections\",\"suggestion\":\"Wait\"}}  ";

/// Tells everybody that the server stops.
#[derive(Debug)]
pub struct Stop(watch::Sender<bool>);

impl Default for Stop {
    fn default() -> Self {
        Stop(watch::Sender::new(false))
    }
}

impl Stop {
    /// Stops the server.
    pub fn now(&self) {
        self.0.send_replace(true);
    }

    /// Somebody who will be told.
    pub fn told(&self) -> Stopping {
        Stopping(self.0.subscribe())
    }
}

/// Will be told when the server stops.
#[derive(Debug, Clone)]
pub struct Stopping(watch::Receiver<bool>);

impl Stopping {
    /// Returns once the server stops.
    pub async fn wait(&mut self) {
        // Nobody left to tell it means the same.
        drop(self.0.wait_for(|stopping| *stopping).await);
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
    // Nothing is ever sent: when every connection has dropped its end, all of them are over.
    let (open, mut all_over) = mpsc::channel::<Infallible>(1);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stopping.wait() => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) if is_theirs(&error) => continue,
            Err(error) => {
                // Out of file handles, most likely: others must leave before more can come.
                tracing::error!(%error, "a connection could not be accepted");
                sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let Ok(place) = room.clone().try_acquire_owned() else {
            if let Err(error) = stream.try_write(NO_ROOM) {
                tracing::debug!(%error, "a connection too many left by itself");
            }
            continue;
        };
        let (router, stopping, open) = (router.clone(), stopping.clone(), open.clone());
        tokio::spawn(async move {
            converse(stream, router, stopping).await;
            drop((place, open));
        });
    }
    drop((listener, open));
    if timeout(STOP_PATIENCE, all_over.recv()).await.is_err() {
        tracing::warn!("some connections did not end in time");
    }
}

async fn converse(stream: TcpStream, router: Router, mut stopping: Stopping) {
    // Answers are small and somebody waits for each.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY was refused");
    }
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_PATIENCE)
        .max_buf_size(HEADER_BYTES)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
        .with_upgrades();
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stopping.wait() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke");
    }
}

/// Whether only this one connection failed, before it was accepted.
fn is_theirs(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionRefused | ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset
    )
}
