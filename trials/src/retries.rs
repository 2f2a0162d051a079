//! Sends each write three to five times at once; it must be recorded once.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use aw_trials::dice::Dice;
use aw_trials::figures::Figures;
use aw_trials::line::Line;
use aw_trials::record;
use aw_trials::talk::{Talk, new_id, text};
use futures_util::future::join_all;
use hyper::StatusCode;
use rusqlite::Connection;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::Trial;
use crate::ground::Ground;

/// The number of concurrent writers.
const WRITERS: u64 = 16;

/// Counts of sent and answered writes.
#[derive(Debug, Default)]
struct Storm {
    sent: AtomicU64,
    arguments: AtomicU64,
    documents: AtomicU64,
}

pub async fn run(trial: &Trial) -> Figures {
    let writes = trial.times();
    let ground = Ground::new(trial).await;
    let server = ground.start(trial, 0);
    let (storm, mut dice) = (Arc::new(Storm::default()), trial.dice());
    let mut writers = JoinSet::new();
    for number in 0..WRITERS {
        let share = writes / WRITERS + u64::from(number < writes % WRITERS);
        writers.spawn(write(server.address, share, storm.clone(), dice.another()));
    }
    writers.join_all().await;
    assert_eq!(server.stop().code(), Some(0));
    let count = |count: &AtomicU64| count.load(Ordering::SeqCst);
    let file = ground.file().await;
    let kept = record::sound(&file);
    let said = kept.iter().filter(|kept| kept.content != aw_core::AUTOMATIC_RULING).count() as u64;
    let db = Connection::open(file).unwrap();
    let versions: u64 =
        db.query_row("select count(*) from document_versions", [], |row| row.get(0)).unwrap();
    assert_eq!(said, count(&storm.arguments), "arguments");
    assert_eq!(versions, count(&storm.documents), "documents");
    assert_eq!(said + versions, writes);
    Figures::default()
        .count(writes, "writes")
        .count(count(&storm.sent), "times sent")
        .count(said + versions, "rows")
}

/// Writes its share: one debate after the other, and sometimes a document.
async fn write(server: SocketAddr, share: u64, storm: Arc<Storm>, mut dice: Dice) {
    let mut lines: Vec<Line> = (0..5).map(|_| Line::to(server)).collect();
    let mut talk = Talk::new(31, 0);
    for _ in 0..share {
        let copies = 3 + dice.index(3);
        if dice.one_in(10) {
            let body =
                json!({"summary": "A plan", "content": new_id(), "client_request_id": new_id()});
            once(&mut lines[..copies], "/documents", &body, "document_id").await;
            storm.documents.fetch_add(1, Ordering::SeqCst);
        } else {
            let saying = talk.next();
            let written = once(&mut lines[..copies], &saying.path, &saying.body, "argument").await;
            talk.acknowledge(&saying, &written);
            storm.arguments.fetch_add(1, Ordering::SeqCst);
            if saying.last {
                talk = Talk::new(31, 0);
            }
        }
        storm.sent.fetch_add(copies as u64, Ordering::SeqCst);
    }
}

/// Sends a request on all connections at once. One answer is the write; the others are its replays.
async fn once(lines: &mut [Line], path: &str, body: &Value, what: &str) -> Value {
    let answers = join_all(lines.iter_mut().map(|line| line.post(path, body))).await;
    let (mut first, mut ids) = (Vec::new(), Vec::new());
    for answer in answers {
        let answer = answer.unwrap();
        let written = answer.status == StatusCode::CREATED;
        let data = answer.data();
        assert_eq!(data["replayed"], !written, "{data}");
        ids.push(data[what]["id"].as_str().map_or_else(|| text(&data[what]), str::to_owned));
        if written {
            first.push(data);
        }
    }
    assert_eq!(first.len(), 1, "written once: {path}");
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    first.remove(0)
}
