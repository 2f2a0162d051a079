//! Held waits and sockets: their cost, and how soon they are served.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use aw_trials::server::{Server, database_in};
use futures_util::StreamExt;
use futures_util::future::join_all;
use rusqlite::{Connection, OpenFlags};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use crate::Bench;
use crate::caller::{LoadClient, LoadDebate, find, open_many};
use crate::commands::until_held;
use crate::figures::{Figures, Promise};
use crate::samples::Samples;

/// The duration of a held wait in seconds: the most that the server allows.
const HELD: u64 = 60;

pub async fn measure(bench: &Bench, figures: &mut Figures) {
    held(bench, figures).await;
    one_debate(bench, figures).await;
}

/// Wakes one waiter among many in other debates, and measures the cost of holding those.
async fn held(bench: &Bench, figures: &mut Figures) {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(bench.aw(), home.path());
    let most = bench.times(2_000, 10_000);
    let debates = open_many(server.address, most).await;
    let mut caller = LoadClient::to(server.address).await;
    let mut waiter = LoadClient::to(server.address).await;
    let mut debate = LoadDebate::open(&mut caller).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let before = server.memory();

    let watch = Watch::over(&database_in(home.path()));
    let mut holding = Vec::new();
    let mut curve = Vec::new();
    for crowd in [1, most / 10, most] {
        // All waits are new, so that none ends during the measurement.
        drop(std::mem::take(&mut holding));
        until_held(&mut caller, 0).await;
        holding = join_all(debates[..crowd - 1].iter().map(|debate| async {
            let mut holding = LoadClient::to(server.address).await;
            holding.send(&debate.wait(HELD)).await;
            holding
        }))
        .await;
        until_held(&mut caller, crowd - 1).await;
        let woken = wake(bench, &watch, &mut caller, &mut waiter, &mut debate).await;
        let p99 = woken.quantile(0.99);
        curve.push((crowd as f64, woken.median()));
        if crowd == 1 {
            let name = "wake inside: commit until a waiter has its bytes, 1 held, p99";
            figures.alone(name, "ms", p99, Promise::AtMost(1.0));
        } else {
            let name = format!("the same with {crowd} held, p99");
            figures.alone(&name, "ms", p99, Promise::AtMost(1.0));
            let name = format!("the same with {crowd} held, p50, beside 1 held");
            figures.beside(name, "ms", &woken, curve[0].1, Promise::Times(1.5));
        }
    }
    figures.curve("waits", "a wake, p50, ms", curve);

    let each = (server.memory() - before) as f64 / (most - 1) as f64 / 1e3;
    figures.alone(format!("{most} held waits, memory of each"), "kB", each, Promise::AtMost(16.0));
    let sockets = bench.times(200, 1_000);
    let listening = join_all(debates[..sockets].iter().map(|debate| follow(&server, debate))).await;
    let all = server.memory() as f64 / 1e6;
    let name = format!("{most} held waits and {sockets} sockets, memory in all");
    figures.alone(name, "MB", all, Promise::AtMost(200.0));

    let watched = bench.seconds(4.0, 10.0);
    let worked = processor(&server);
    tokio::time::sleep(watched).await;
    let share = (processor(&server) - worked) / watched.as_secs_f64() * 100.0;
    let name = "the same while nothing happens, share of a core";
    figures.alone(name, "%", share, Promise::AtMost(0.5));
    drop((holding, listening));
}

/// Observes commits as a reader of the file.
struct Watch {
    /// The last moment at which the newest commit was not visible.
    before: Arc<Mutex<Instant>>,
    over: Arc<AtomicBool>,
}

impl Watch {
    fn over(file: &Path) -> Self {
        let db = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        let watch = Watch { before: Arc::new(Mutex::new(Instant::now())), over: Arc::default() };
        let (before, over) = (watch.before.clone(), watch.over.clone());
        std::thread::spawn(move || {
            let mut version = 0;
            let mut looked = Instant::now();
            while !over.load(Ordering::Relaxed) {
                let now = Instant::now();
                let mut pragma = db.prepare_cached("pragma data_version").unwrap();
                let seen: i64 = pragma.query_row([], |row| row.get(0)).unwrap();
                if std::mem::replace(&mut version, seen) != seen {
                    *before.lock().unwrap() = looked;
                }
                looked = now;
                std::thread::sleep(Duration::from_micros(20));
            }
        });
        watch
    }

    /// The last moment at which the newest commit was not visible.
    fn newest(&self) -> Instant {
        *self.before.lock().unwrap()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

/// Wakes one waiter again and again.
async fn wake(
    bench: &Bench,
    watch: &Watch,
    caller: &mut LoadClient,
    waiter: &mut LoadClient,
    debate: &mut LoadDebate,
) -> Samples {
    let mut woken = Samples::default();
    for _ in 0..bench.times(300, 2_000) {
        waiter.send(&debate.wait(HELD)).await;
        // Give the server time to hold the wait.
        tokio::time::sleep(Duration::from_millis(1)).await;
        let request = debate.claim();
        caller.send(&request).await;
        let written = async { caller.answer().await.to_vec() };
        let woke = async {
            let bytes = waiter.answer().await.len();
            assert!(bytes > 1024, "news, not the end of a wait");
            Instant::now()
        };
        let (answer, woke) = tokio::join!(written, woke);
        debate.heard(&answer);
        // The watch reads several times a millisecond; by now it has seen the commit.
        tokio::time::sleep(Duration::from_millis(2)).await;
        woken.took(woke.saturating_duration_since(watch.newest()));
    }
    woken
}

/// All wait for the same argument.
async fn one_debate(bench: &Bench, figures: &mut Figures) {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(bench.aw(), home.path());
    let mut caller = LoadClient::to(server.address).await;
    let mut debate = LoadDebate::open(&mut caller).await;
    let crowd = 1_000;
    let mut waiting: Vec<LoadClient> =
        join_all((0..crowd).map(|_| LoadClient::to(server.address))).await;
    let mut last = Samples::default();
    for _ in 0..bench.times(5, 20) {
        let request = debate.wait(HELD);
        for waiter in &mut waiting {
            waiter.send(&request).await;
        }
        until_held(&mut caller, crowd).await;
        caller.send(&debate.claim()).await;
        let woke = join_all(waiting.iter_mut().map(|waiter| async {
            assert!(waiter.answer().await.len() > 1024);
            Instant::now()
        }));
        let written = async {
            let answer = caller.answer().await.to_vec();
            (Instant::now(), answer)
        };
        let ((committed, answer), woke) = tokio::join!(written, woke);
        debate.heard(&answer);
        last.took(woke.into_iter().max().unwrap().saturating_duration_since(committed));
    }
    let name = format!("{crowd} waiters on one debate, until the last has its bytes");
    figures.alone(name, "ms", last.median(), Promise::AtMost(25.0));
    drop(waiting);

    let mut listening = join_all((0..crowd).map(|_| follow(&server, &debate))).await;
    let mut last = Samples::default();
    for _ in 0..bench.times(5, 20) {
        // Let their presence events pass.
        tokio::time::sleep(Duration::from_millis(500)).await;
        caller.send(&debate.claim()).await;
        let written = async {
            let answer = caller.answer().await.to_vec();
            (Instant::now(), answer)
        };
        let woke = join_all(listening.iter_mut().map(hear_argument));
        let ((committed, answer), woke) = tokio::join!(written, woke);
        debate.heard(&answer);
        last.took(woke.into_iter().max().unwrap().saturating_duration_since(committed));
    }
    let name = format!("{crowd} sockets on one debate, until the last has its bytes");
    figures.alone(name, "ms", last.median(), Promise::AtMost(25.0));
}

type Socket = WebSocketStream<TcpStream>;

/// Opens a socket on a debate and reads its initial state.
async fn follow(server: &Server, debate: &LoadDebate) -> Socket {
    let url = format!("ws://{}/ws?debate_id={}", server.address, debate.id);
    let stream = TcpStream::connect(server.address).await.unwrap();
    // The library zeroes its read buffer before each read, so a large one would dominate the cost.
    let lean = WebSocketConfig::default().read_buffer_size(4096);
    let request = url.into_client_request().unwrap();
    let (mut socket, _) = client_async_with_config(request, stream, Some(lean)).await.unwrap();
    socket.next().await.expect("it begins with how the debate stands").unwrap();
    socket
}

/// Waits for a message with an argument; returns the time.
async fn hear_argument(socket: &mut Socket) -> Instant {
    loop {
        let message = socket.next().await.expect("it stays open").unwrap();
        let now = Instant::now();
        if let Message::Text(text) = message
            && find(text.as_bytes(), br#""event":"new_argument""#).is_some()
        {
            return now;
        }
    }
}

/// The processor time of the server in seconds.
fn processor(server: &Server) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", server.pid)).unwrap();
    // The name in brackets may contain anything. User and system time are fields 14 and 15, in hundredths
    // of a second.
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let ticks =
        fields.split_whitespace().skip(11).take(2).map(|field| field.parse::<f64>().unwrap());
    ticks.sum::<f64>() / 100.0
}
