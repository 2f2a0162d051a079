//! Stopping a server: it finishes what it has begun, and every acknowledged write is kept.

use std::collections::HashMap;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use nix::sys::signal::Signal;
use reqwest::StatusCode;
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use super::{Caller, ended, signal};
use crate::world::driver::{claim, opening_of};
use crate::world::{ServerProcess, Socket, database_in, eventually, in_time, new_id, text};
use aw_trials::record;
use aw_trials::talk::RecordedArgument;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sigterm_stops_the_server_and_keeps_every_acknowledged_write() {
    stops_well_on(Signal::SIGTERM).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sigint_stops_the_server_and_keeps_every_acknowledged_write() {
    stops_well_on(Signal::SIGINT).await;
}

async fn stops_well_on(by: Signal) {
    let home = tempfile::tempdir().unwrap();
    let mut server = ServerProcess::start(home.path());
    let caller = Caller::of(&server);
    let quiet = new_id();
    caller.post("/debates", &opening_of(&quiet, "Nobody answers", "Motion")).await.created();
    let mut waiting = Vec::new();
    for _ in 0..20 {
        let (caller, path) = (caller.clone(), format!("/debates/{quiet}/wait?role=proposer"));
        waiting.push(tokio::spawn(async move { caller.get(&path).await }));
    }
    let mut sockets = Vec::new();
    for _ in 0..30 {
        sockets.push(follow(&server, &quiet).await);
    }
    eventually("all of them are held", async || {
        let health = caller.get("/health").await.ok();
        health["held_waits"] == 20 && health["open_sockets"] == 30
    })
    .await;
    let made = Arc::new(AtomicUsize::new(0));
    let writers: Vec<_> =
        (0..8).map(|_| tokio::spawn(write(caller.clone(), made.clone()))).collect();
    eventually("everybody writes", async || made.load(Ordering::SeqCst) > 100).await;

    signal(&server, by);
    let status = ended(&mut server).await;
    assert_eq!(status.code(), Some(0), "{status}");

    for waiter in waiting {
        let answer = in_time("a held wait is answered", waiter).await.unwrap().ok();
        assert_eq!(answer["has_new_argument"], false);
    }
    for socket in sockets {
        assert_eq!(close_code(socket).await, Some(CloseCode::Away));
    }
    let log = database_in(&home).with_extension("db-wal");
    assert!(fs::metadata(&log).map_or(0, |log| log.len()) == 0, "a log was left behind");
    let kept = record::sound(&database_in(&home));
    let found: HashMap<&str, &RecordedArgument> =
        kept.iter().map(|kept| (kept.id.as_str(), kept)).collect();
    let mut promised = 0;
    for writer in writers {
        for one in in_time("every writer knows where it is", writer).await.unwrap() {
            assert_eq!(found.get(one.id.as_str()), Some(&&one), "an acknowledged write is lost");
            promised += 1;
        }
    }
    assert!(promised > 100);
    // Each writer may have one write whose answer was cut off.
    assert!(kept.len() - 1 - promised <= 8, "{} written, {promised} promised", kept.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_socket_receives_the_close_of_a_stopping_server() {
    for _ in 0..5 {
        let home = tempfile::tempdir().unwrap();
        let mut server = ServerProcess::start(home.path());
        let caller = Caller::of(&server);
        let debate = new_id();
        caller.post("/debates", &opening_of(&debate, "Who goes first?", "Motion")).await.created();
        let mut sockets = Vec::new();
        for _ in 0..200 {
            sockets.push(follow(&server, &debate).await);
        }
        // Without other connections, only the sockets can delay the stop.
        drop(caller);
        signal(&server, Signal::SIGTERM);
        assert_eq!(ended(&mut server).await.code(), Some(0));
        for socket in sockets {
            assert_eq!(close_code(socket).await, Some(CloseCode::Away));
        }
    }
}

/// The code with which the server closed a socket, after any messages.
async fn close_code(mut socket: Socket) -> Option<CloseCode> {
    loop {
        if let Err(code) = socket.any().await {
            return code;
        }
    }
}

/// A socket that has read the initial state of a debate.
async fn follow(server: &ServerProcess, debate: &str) -> Socket {
    let mut socket = Socket::at(&server.url, &format!("/ws?debate_id={debate}")).await;
    socket.hears("initial_state").await;
    socket
}

/// Writes until the server refuses or is gone; returns the acknowledged arguments.
async fn write(caller: Caller, made: Arc<AtomicUsize>) -> Vec<RecordedArgument> {
    let debate = new_id();
    let mut kept: Vec<RecordedArgument> = Vec::new();
    loop {
        let seq = kept.len() as u64 + 1;
        let content = format!("Word {seq}.");
        let answer = if let Some(last) = kept.last() {
            let role = if seq.is_multiple_of(2) { "opponent" } else { "proposer" };
            let path = format!("/debates/{debate}/arguments");
            caller.try_post(&path, &claim(role, &last.id, &content)).await
        } else {
            caller.try_post("/debates", &opening_of(&debate, "Will it last?", &content)).await
        };
        match answer {
            None => return kept,
            Some((StatusCode::CREATED, written)) => {
                let argument: &Value = &written["data"]["argument"];
                let id = text(&argument["id"]);
                kept.push(RecordedArgument { debate: debate.clone(), seq, id, content });
                made.fetch_add(1, Ordering::SeqCst);
            }
            Some((status, refused)) => {
                assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{refused}");
                assert_eq!(refused["error"]["code"], "SERVER_BUSY");
                return kept;
            }
        }
    }
}

#[tokio::test]
async fn a_server_can_be_stopped_as_soon_as_it_says_that_it_listens() {
    for _ in 0..20 {
        let home = tempfile::tempdir().unwrap();
        let mut server = ServerProcess::start(home.path());
        signal(&server, Signal::SIGTERM);
        let status = ended(&mut server).await;
        assert_eq!(status.code(), Some(0), "{status}");
    }
}

#[tokio::test]
async fn clients_that_never_finish_do_not_keep_a_server_from_stopping() {
    let home = tempfile::tempdir().unwrap();
    let mut server = ServerProcess::start(home.path());
    let mut streams = Vec::new();
    for said in [
        "",
        "GET /hea",
        "POST /debates HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{",
    ] {
        let mut stream =
            TcpStream::connect(server.url.strip_prefix("http://").unwrap()).await.unwrap();
        stream.write_all(said.as_bytes()).await.unwrap();
        streams.push(stream);
    }
    // A later connection was served, so these were accepted.
    Caller::of(&server).get("/health").await.ok();
    signal(&server, Signal::SIGTERM);
    let status = ended(&mut server).await;
    assert_eq!(status.code(), Some(0), "{status}");
}
