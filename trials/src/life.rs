//! Hours of mixed load: debaters, readers, pages, documents and sockets come and go. The server's
//! memory, file handles and log must not grow.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_tungstenite::connect_async;

use crate::{Trial, megabytes};
use aw_trials::dice::Dice;
use aw_trials::figures::Figures;
use aw_trials::line::Line;
use aw_trials::record;
use aw_trials::server::{Server, database_in};
use aw_trials::talk::{RecordedArgument, Talk, new_id, text};

/// The most that the log may grow between two checkpoints, including one that waited for a reader.
const LOG: u64 = 96 << 20;

/// One measurement of the server.
#[derive(Debug, Clone, Copy)]
struct Sample {
    memory: u64,
    handles: usize,
    log: u64,
}

/// The state that all clients share.
struct Crowd {
    address: SocketAddr,
    until: Instant,
    /// The longest pause between two requests.
    rest: Duration,
    requests: AtomicU64,
}

impl Crowd {
    fn is_over(&self) -> bool {
        Instant::now() >= self.until
    }

    async fn rest(&self, dice: &mut Dice) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        sleep(self.rest.mul_f64(dice.below(1000) as f64 / 1000.0)).await;
    }
}

pub async fn run(trial: &Trial) -> Figures {
    let life = Duration::from_secs(trial.times());
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(&trial.binary, home.path());
    let mut dice = trial.dice();
    let crowd = Arc::new(Crowd {
        address: server.address,
        until: Instant::now() + life,
        rest: Duration::from_millis(if trial.long { 200 } else { 10 }),
        requests: AtomicU64::new(0),
    });
    let mut people = JoinSet::new();
    for _ in 0..8 {
        people.spawn(debate(crowd.clone(), dice.another()));
        people.spawn(read(crowd.clone(), dice.another()));
    }
    for _ in 0..4 {
        people.spawn(watch(crowd.clone(), dice.another()));
        people.spawn(keep_documents(crowd.clone(), dice.another()));
    }
    let mut samples = Vec::new();
    while !crowd.is_over() {
        sleep(life / 400).await;
        let log = fs::metadata(database_in(home.path()).with_extension("db-wal"));
        let log = log.map_or(0, |log| log.len());
        samples.push(Sample { memory: server.memory(), handles: server.handles(), log });
    }
    let kept: Vec<RecordedArgument> = people.join_all().await.into_iter().flatten().collect();
    assert_eq!(server.stop().code(), Some(0));
    complete(&database_in(home.path()), &kept);

    // The first quarter is warm-up.
    let (settled, last) =
        (&samples[samples.len() / 4..samples.len() / 2], &samples[samples.len() * 3 / 4..]);
    let memory = [settled, last].map(|part| median(part.iter().map(|sample| sample.memory)));
    let handles = [settled, last].map(|part| median(part.iter().map(|s| s.handles as u64)));
    let log = samples.iter().map(|sample| sample.log).max().unwrap();
    // A tenth, and the most that the presence of twenty thousand debates takes; a short run is all
    // warm-up.
    let grown = memory[0] / 10 + if trial.long { 8 << 20 } else { 64 << 20 };
    assert!(memory[1] <= memory[0] + grown, "memory grew: {memory:?}");
    assert!(handles[1] <= handles[0] + 8, "file handles grew: {handles:?}");
    assert!(log <= LOG, "the log grew to {log} bytes");
    Figures::default()
        .count(crowd.requests.load(Ordering::Relaxed), "requests")
        .count(life.as_secs(), "seconds")
        .count(kept.len() as u64, "arguments, none lost")
        .peak(megabytes(memory[0]), "MB in the second quarter")
        .peak(megabytes(memory[1]), "MB in the last")
        .peak(handles[0] as f64, "file handles in the second quarter")
        .peak(handles[1] as f64, "file handles in the last")
        .peak(megabytes(log), "MB of log")
}

/// Checks that everything acknowledged is in the file.
fn complete(database: &Path, acknowledged: &[RecordedArgument]) {
    let found: std::collections::HashMap<String, RecordedArgument> =
        record::sound(database).into_iter().map(|kept| (kept.id.clone(), kept)).collect();
    for kept in acknowledged {
        assert_eq!(found.get(&kept.id), Some(kept), "lost");
    }
}

/// Plays both sides of debates: each waits for the other, then answers.
async fn debate(crowd: Arc<Crowd>, mut dice: Dice) -> Vec<RecordedArgument> {
    let (mut kept, mut line) = (Vec::new(), Line::to(crowd.address));
    while !crowd.is_over() {
        let mut talk = Talk::new(3 + dice.below(60), dice.index(6000));
        loop {
            let saying = talk.next();
            let written = line.post(&saying.path, &saying.body).await.unwrap().data();
            kept.push(talk.acknowledge(&saying, &written));
            crowd.rest(&mut dice).await;
            if saying.last || crowd.is_over() {
                break;
            }
            let other = if saying.seq.is_multiple_of(2) { "proposer" } else { "opponent" };
            let path = format!("/debates/{}/wait?role={other}&wait=20", talk.debate);
            assert_eq!(line.get(&path).await.unwrap().data()["has_new_argument"], true);
        }
    }
    kept
}

/// Reads lists, pages, transcripts and polls, and waits that time out.
async fn read(crowd: Arc<Crowd>, mut dice: Dice) -> Vec<RecordedArgument> {
    let mut line = Line::to(crowd.address);
    while !crowd.is_over() {
        let list = line.get("/debates?limit=50").await.unwrap().data();
        let debates = list["debates"].as_array().unwrap();
        crowd.rest(&mut dice).await;
        if debates.is_empty() {
            continue;
        }
        let id = text(&debates[dice.index(debates.len())]["id"]);
        let path = match dice.below(5) {
            0 => format!("/debates/{id}"),
            1 => format!("/debates/{id}?limit=10"),
            2 => format!("/debates/{id}/poll?role=opponent"),
            3 => format!("/debates/{id}/wait?role=arbitrator&wait=1"),
            _ => "/debates?q=last".to_owned(),
        };
        assert!(line.get(&path).await.unwrap().status.is_success());
        crowd.rest(&mut dice).await;
        let page = if dice.one_in(2) { format!("/debate/{id}") } else { "/".to_owned() };
        line.look(&page).await.unwrap();
    }
    Vec::new()
}

/// Opens sockets, reads for a while, and drops them.
async fn watch(crowd: Arc<Crowd>, mut dice: Dice) -> Vec<RecordedArgument> {
    let mut line = Line::to(crowd.address);
    while !crowd.is_over() {
        let list = line.get("/debates?limit=10").await.unwrap().data();
        let debates = list["debates"].as_array().unwrap();
        let query = match debates.get(dice.index(10)) {
            Some(debate) => format!("?debate_id={}&html=1", text(&debate["id"])),
            None => String::new(),
        };
        let (mut socket, _) =
            connect_async(format!("ws://{}/ws{query}", crowd.address)).await.unwrap();
        for _ in 0..dice.below(20) {
            let heard = timeout(Duration::from_millis(500), socket.next()).await;
            if matches!(heard, Ok(None | Some(Err(_)))) {
                break;
            }
        }
        crowd.rest(&mut dice).await;
    }
    Vec::new()
}

/// Writes documents in many versions and reads their diffs.
async fn keep_documents(crowd: Arc<Crowd>, mut dice: Dice) -> Vec<RecordedArgument> {
    let mut line = Line::to(crowd.address);
    while !crowd.is_over() {
        let content = "A line of a plan.\n".repeat(dice.index(400) + 1);
        let mut body =
            json!({"summary": "A plan", "content": content, "client_request_id": new_id()});
        let made = line.post("/documents", &body).await.unwrap().data();
        let id = text(&made["document_id"]);
        for version in 2..10 {
            body["content"] = format!("{content}Version {version}.\n").into();
            body["client_request_id"] = new_id().into();
            line.post(&format!("/documents/{id}/versions"), &body).await.unwrap().data();
            crowd.rest(&mut dice).await;
            line.get(&format!("/documents/{id}/diff")).await.unwrap().data();
            crowd.rest(&mut dice).await;
        }
    }
    Vec::new()
}

fn median(values: impl Iterator<Item = u64>) -> u64 {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values[values.len() / 2]
}
