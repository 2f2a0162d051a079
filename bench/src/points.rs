//! The cost of points: a submit with quotes beside a plain one, other clients while a long document is
//! searched, and the bytes of a wait.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use aw_trials::server::Server;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::Bench;
use crate::caller::{LoadClient, LoadDebate, get, post};
use crate::figures::{Figures, Promise};
use crate::samples::Samples;

pub async fn measure(bench: &Bench, figures: &mut Figures) {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(bench.aw(), home.path());
    let mut caller = LoadClient::to(server.address).await;
    submits(bench, figures, &mut caller).await;
    waits(figures, &mut caller).await;
    neighbours(bench, figures, server.address).await;
    assert_eq!(server.stop().code(), Some(0));
}

/// A line of a plan that no other line contains.
fn step(number: usize) -> String {
    format!("Step {number}: the worker reads row {number} and writes it to the ledger of payments.")
}

/// A plan of at least this many bytes.
fn plan(bytes: usize) -> String {
    let mut plan = String::new();
    for number in 0.. {
        if plan.len() >= bytes {
            break;
        }
        plan.push_str(&step(number));
        plan.push('\n');
    }
    plan
}

/// A CLAIM that raises these points, each with a quote of its own.
fn objections(points: std::ops::Range<usize>) -> String {
    let point = |number: usize| {
        format!(
            "### NEW [major] Row {number} may be gone\n> {}\nIt is kept for a month.\n",
            step(number)
        )
    };
    points.map(point).collect()
}

/// Keeps a document and returns its id.
async fn keep(caller: &mut LoadClient, content: &str) -> String {
    let body = json!({"summary": "Plan", "content": content}).to_string();
    let answer: Value =
        serde_json::from_slice(caller.ask(&post("/documents", &body)).await).unwrap();
    answer["data"]["document_id"].as_str().unwrap().to_owned()
}

/// Opens a debate about a document.
async fn open(caller: &mut LoadClient, document: &str, points: bool) -> LoadDebate {
    let id = Uuid::new_v4().to_string();
    let body = json!({
        "debate_id": id, "title": "What do points cost?", "debate_type": "general_debate",
        "motion_content": format!("Please examine doc_id={document} (v1)."), "points": points,
        "client_request_id": Uuid::new_v4(),
    });
    let mut debate = LoadDebate::resumed(&id, "", 0);
    debate.heard(caller.ask(&post("/debates", &body.to_string())).await);
    debate
}

/// The next CLAIM with these words.
fn claim(debate: &LoadDebate, words: &str) -> Vec<u8> {
    let body = json!({
        "role": debate.next_role(), "target_id": debate.newest, "content": words,
        "client_request_id": Uuid::new_v4(),
    });
    post(&format!("/debates/{}/arguments", debate.id), &body.to_string())
}

/// A submit with five points, beside the same text in a debate without points.
async fn submits(bench: &Bench, figures: &mut Figures, caller: &mut LoadClient) {
    let document = keep(caller, &plan(20_000)).await;
    let words = objections(10..15);
    let (mut with, mut without) = (Samples::default(), Samples::default());
    for _ in 0..bench.times(60, 400) {
        for (points, samples) in [(true, &mut with), (false, &mut without)] {
            let debate = open(caller, &document, points).await;
            let request = claim(&debate, &words);
            let began = Instant::now();
            caller.ask(&request).await;
            samples.took(began.elapsed());
        }
    }
    let name = "submit with 5 points and quotes of a 20 kB plan, beside a plain one";
    figures.beside(name, "ms", &with, without.median(), Promise::Times(1.3));
}

/// The bytes of a wait with twenty live points.
async fn waits(figures: &mut Figures, caller: &mut LoadClient) {
    let document = keep(caller, &plan(20_000)).await;
    let mut debate = open(caller, &document, true).await;
    for words in [objections(0..12), "We keep it.".to_owned(), objections(12..20)] {
        let request = claim(&debate, &words);
        debate.heard(caller.ask(&request).await);
    }
    let path = format!("/debates/{}/poll?role=proposer", debate.id);
    let bytes = caller.ask(&get(&path)).await.len();
    figures.alone("wait with 20 live points", "kB", bytes as f64 / 1e3, Promise::AtMost(8.0));
}

/// Plain submits of one client, while another polls without pause, and while it has a document of 5 MiB
/// searched without pause.
async fn neighbours(bench: &Bench, figures: &mut Figures, server: SocketAddr) {
    let mut caller = LoadClient::to(server).await;
    let document = keep(&mut caller, &plan(5 << 20)[..5 << 20]).await;
    let debate = open(&mut caller, &document, true).await;
    let body = json!({
        "move": "claim", "role": "opponent", "target_id": debate.newest,
        "content": objections(60_000..60_001),
    });
    let check = post(&format!("/debates/{}/check", debate.id), &body.to_string());
    let mut took = Samples::default();
    for _ in 0..3 {
        let began = Instant::now();
        caller.ask(&check).await;
        took.took(began.elapsed());
    }
    figures.alone("check of a quote in 5 MiB", "ms", took.median(), Promise::AtMost(300.0));

    let poll = get(&format!("/debates/{}/poll?role=opponent", debate.id));
    let window = bench.seconds(1.0, 5.0);
    let (mut checks, mut polls) = (Samples::default(), Samples::default());
    for _ in 0..bench.times(1, 5) {
        polls.add(p99_beside(server, &poll, window).await);
        checks.add(p99_beside(server, &check, window).await);
    }
    let name = "99 % of plain submits beside checks in 5 MiB, beside the same with polls";
    figures.beside(name, "ms", &checks, polls.median(), Promise::Times(1.5));
}

/// The time below which 99 of 100 submits stay while another client repeats a request.
async fn p99_beside(server: SocketAddr, request: &[u8], window: Duration) -> f64 {
    let done = Arc::new(AtomicBool::new(false));
    let repeating = tokio::spawn({
        let (done, request) = (done.clone(), request.to_vec());
        async move {
            let mut caller = LoadClient::to(server).await;
            while !done.load(Ordering::Relaxed) {
                caller.ask(&request).await;
            }
        }
    });
    let time = p99(server, window).await;
    done.store(true, Ordering::Relaxed);
    repeating.await.unwrap();
    time
}

/// The time below which 99 of 100 submits of one client stay, in milliseconds.
async fn p99(server: SocketAddr, window: Duration) -> f64 {
    let mut caller = LoadClient::to(server).await;
    let mut debate = LoadDebate::open(&mut caller).await;
    let mut took = Samples::default();
    let began = Instant::now();
    while began.elapsed() < window {
        let sent = Instant::now();
        debate.goes_on(&mut caller).await;
        took.took(sent.elapsed());
    }
    took.quantile(0.99)
}
