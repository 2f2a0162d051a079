//! `kill -9` in the middle of writing, again and again.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use nix::sys::signal::Signal;
use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::record::{self, Kept};
use super::{Caller, ended, new_claim, new_debate, signal};
use crate::world::{Dice, ServerProcess, database_in, eventually, new_id, text};

const WRITERS: usize = 8;

/// Where the server is now.
#[derive(Debug, Clone)]
enum Server {
    Away,
    At(Caller),
    /// There will be no other.
    Over,
}

/// What the writers were promised.
#[derive(Default)]
struct Promises {
    kept: Mutex<Vec<Kept>>,
    made: AtomicUsize,
    /// Answers to a retry of what had been written, but not acknowledged, before the server died.
    replays: AtomicUsize,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::print_stdout, reason = "the figure is what the proof is for")]
async fn nothing_acknowledged_is_lost_however_often_the_server_is_killed() {
    let kills = std::env::var("AW_KILLS").map_or(50, |kills| kills.parse().unwrap());
    let home = tempfile::tempdir().unwrap();
    let mut dice = Dice::new();
    let promises = Arc::new(Promises::default());
    let (server, _) = watch::channel(Server::Away);
    let writers: Vec<_> = (0..WRITERS)
        .map(|number| tokio::spawn(write(number, server.subscribe(), promises.clone())))
        .collect();
    let made = || promises.made.load(Ordering::SeqCst);
    let mut checked = 0;

    for _ in 0..kills {
        let mut process = ServerProcess::start(home.path());
        let caller = Caller::of(&process);
        checked += still_there(&caller, &promises, checked).await;
        server.send_replace(Server::At(caller));
        let enough = made() + 1 + usize::try_from(dice.below(60)).unwrap();
        eventually("the writers go on", async || made() >= enough).await;
        // At any moment between two answers, or two steps of a commit.
        tokio::time::sleep(Duration::from_micros(dice.below(3_000))).await;
        process.kill();
        server.send_replace(Server::Away);
    }

    // Once more everybody says what it could not say, and the server may leave in peace.
    let mut process = ServerProcess::start(home.path());
    let caller = Caller::of(&process);
    still_there(&caller, &promises, checked).await;
    server.send_replace(Server::At(caller));
    let enough = made() + 10 * WRITERS;
    eventually("the writers go on", async || made() >= enough).await;
    server.send_replace(Server::Over);
    for writer in writers {
        writer.await.unwrap();
    }
    signal(&process, Signal::SIGTERM);
    assert_eq!(ended(&mut process).await.code(), Some(0));

    let kept = record::sound(&database_in(&home));
    let found: HashMap<&str, &Kept> = kept.iter().map(|kept| (kept.id.as_str(), kept)).collect();
    let promised = promises.kept.lock().unwrap();
    let lost = promised.iter().filter(|one| found.get(one.id.as_str()) != Some(one)).count();
    assert_eq!(lost, 0, "of {} acknowledged arguments", promised.len());
    // Every word was said once, so a word that is there twice was doubled.
    let words: HashSet<_> = kept
        .iter()
        .filter(|kept| kept.content != aw_core::AUTOMATIC_RULING)
        .map(|kept| &kept.content)
        .collect();
    let automatic = kept.iter().filter(|kept| kept.content == aw_core::AUTOMATIC_RULING).count();
    assert_eq!(words.len() + automatic, kept.len());
    assert_eq!(words.len(), promised.len(), "something was written that nobody knows of");
    println!(
        "{kills} kills, {} acknowledged writes ({} of them by a retry), lost {lost}",
        promised.len(),
        promises.replays.load(Ordering::SeqCst),
    );
}

/// Checks over HTTP what was promised since `checked`; says how much that was.
async fn still_there(caller: &Caller, promises: &Promises, checked: usize) -> usize {
    let new: Vec<Kept> = promises.kept.lock().unwrap()[checked..].to_vec();
    let mut debates: BTreeMap<&str, Vec<&Kept>> = BTreeMap::new();
    for kept in &new {
        debates.entry(&kept.debate).or_default().push(kept);
    }
    for (debate, promised) in debates {
        let mut whole = caller.get(&format!("/debates/{debate}")).await.ok();
        let mut all = vec![whole["motion"].take()];
        all.extend(whole["arguments"].take().as_array().unwrap().clone());
        for (place, argument) in all.iter().enumerate() {
            assert_eq!(argument["seq"], place + 1, "{debate}: a place is missing or taken twice");
        }
        for kept in promised {
            let there = &all[usize::try_from(kept.seq).unwrap() - 1];
            assert_eq!(there["id"], kept.id.as_str(), "{debate}: {} is another", kept.seq);
            assert_eq!(there["content"], kept.content.as_str());
        }
    }
    new.len()
}

/// Holds one debate after the other, until there is no server any more.
async fn write(number: usize, mut server: watch::Receiver<Server>, promises: Arc<Promises>) {
    loop {
        let debate = new_id();
        let mut newest = String::new();
        for seq in 1.. {
            let content = format!("Writer {number} in {debate}: word {seq}.");
            let completes = seq % 2 == 1 && seq > 15 + 2 * number;
            let arguments = format!("/debates/{debate}/arguments");
            let (path, body) = match seq {
                1 => ("/debates".to_owned(), new_debate(&debate, &content)),
                _ if seq % 2 == 0 => (arguments, new_claim("opponent", &newest, &content)),
                _ if completes => (
                    format!("/debates/{debate}/resolution"),
                    json!({"target_id": newest, "content": content, "client_request_id": new_id()}),
                ),
                _ => (arguments, new_claim("proposer", &newest, &content)),
            };
            let Some(written) = insist(&path, &body, &mut server, &promises).await else { return };
            assert_eq!(written["argument"]["seq"], seq);
            newest = text(&written["argument"]["id"]);
            let kept =
                Kept { debate: debate.clone(), seq: seq as u64, id: newest.clone(), content };
            promises.kept.lock().unwrap().push(kept);
            promises.made.fetch_add(1, Ordering::SeqCst);
            if completes {
                assert_eq!(written["debate"]["state"], "CLOSED");
                break;
            }
        }
    }
}

/// Sends this until a server has acknowledged it; nothing once there is none any more.
async fn insist(
    path: &str,
    body: &Value,
    server: &mut watch::Receiver<Server>,
    promises: &Promises,
) -> Option<Value> {
    let mut sent_before = false;
    loop {
        let there =
            server.wait_for(|server| !matches!(server, Server::Away)).await.unwrap().clone();
        let Server::At(caller) = there else {
            // What was sent and never acknowledged may have been written: it must be known.
            assert!(!sent_before, "the server went without an answer");
            return None;
        };
        if let Some((status, mut answer)) = caller.try_post(path, body).await {
            match status {
                StatusCode::CREATED => assert_eq!(answer["data"]["replayed"], false),
                StatusCode::OK => {
                    assert!(sent_before, "a replay of what was never sent: {answer}");
                    assert_eq!(answer["data"]["replayed"], true);
                    promises.replays.fetch_add(1, Ordering::SeqCst);
                }
                _ => panic!("{status}: {answer}"),
            }
            return Some(answer["data"].take());
        }
        sent_before = true;
        // It died; the same again to the next one.
        let here = caller.url;
        server
            .wait_for(|server| !matches!(server, Server::At(caller) if caller.url == here))
            .await
            .unwrap();
    }
}
