//! Reads a second, compared with the same queries served by axum alone.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use aw_trials::server::{Server, database_in};
use futures_util::future::join_all;
use serde_json::Value;

use crate::Bench;
use crate::caller::{LoadClient, LoadDebate, get};
use crate::figures::{Figures, Promise};
use crate::samples::Samples;

const CONNECTIONS: usize = 64;

/// Builds the request about a debate.
type BuildRequest = fn(&LoadDebate) -> Vec<u8>;

pub async fn measure(bench: &Bench, figures: &mut Figures) {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(bench.aw(), home.path());
    let debates = join_all((0..CONNECTIONS).map(|_| async {
        let mut caller = LoadClient::to(server.address).await;
        let mut debate = LoadDebate::open(&mut caller).await;
        for _ in 0..12 {
            debate.goes_on(&mut caller).await;
        }
        debate
    }))
    .await;
    let bare = Bare::start(&bench.limit("bare_reads"), &database_in(home.path()));
    let window = bench.seconds(0.5, 2.0);
    let requests: [(&str, BuildRequest); 3] = [
        ("get-context of 10", |debate| debate.context(10)),
        ("poll without news", LoadDebate::poll),
        ("a page of the list", |_| get("/debates")),
    ];
    for (name, request) in requests {
        same(server.address, bare.address, &request(&debates[0])).await;
        let (mut ours, mut limit) = (Samples::default(), Samples::default());
        for _ in 0..bench.times(3, 7) {
            ours.add(rate(server.address, &debates, request, window).await);
            limit.add(rate(bare.address, &debates, request, window).await);
        }
        let name = format!("{name} at {CONNECTIONS} connections");
        figures.beside(name, "/s", &ours, limit.median(), Promise::Share(0.6));
    }
}

/// The answers a second to such requests.
async fn rate(
    address: SocketAddr,
    debates: &[LoadDebate],
    request: BuildRequest,
    window: Duration,
) -> f64 {
    let mut callers = join_all(debates.iter().map(|debate| async move {
        let mut caller = LoadClient::to(address).await;
        let request = request(debate);
        caller.ask(&request).await;
        (caller, request)
    }))
    .await;
    let began = Instant::now();
    let answered = join_all(callers.iter_mut().map(|(caller, request)| async {
        let mut answered = 0_u32;
        while began.elapsed() < window {
            caller.ask(request).await;
            answered += 1;
        }
        answered
    }))
    .await;
    f64::from(answered.into_iter().sum::<u32>()) / began.elapsed().as_secs_f64()
}

/// Checks that both answers are the same, except for what rules and presence add.
async fn same(ours: SocketAddr, bare: SocketAddr, request: &[u8]) {
    let ours = read(ours, request).await;
    let bare = read(bare, request).await;
    contains(&ours, &bare, "");
}

async fn read(address: SocketAddr, request: &[u8]) -> Value {
    let mut caller = LoadClient::to(address).await;
    serde_json::from_slice(caller.ask(request).await).unwrap()
}

fn contains(whole: &Value, part: &Value, place: &str) {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            for (name, part) in part {
                let place = format!("{place}.{name}");
                contains(whole.get(name).unwrap_or(&Value::Null), part, &place);
            }
        }
        (Value::Array(whole), Value::Array(part)) => {
            assert_eq!(whole.len(), part.len(), "{place}");
            for (number, (whole, part)) in whole.iter().zip(part).enumerate() {
                contains(whole, part, &format!("{place}[{number}]"));
            }
        }
        _ => assert_eq!(whole, part, "{place}"),
    }
}

/// The program that serves the queries without aw.
struct Bare {
    address: SocketAddr,
    child: Child,
}

impl Bare {
    fn start(program: &Path, file: &Path) -> Self {
        let mut child =
            Command::new(program).arg(file).stdout(Stdio::piped()).spawn().expect("it is built");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Bare { address: line.trim().parse().expect("an address"), child }
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
