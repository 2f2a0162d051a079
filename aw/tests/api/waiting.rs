//! Waits over HTTP: which are held, when they end, and what they return.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::time::timeout;

use crate::world::driver::{id, seqs};
use crate::world::{World, eventually, in_time};

/// Returns once so many waits are held.
async fn held(world: &World, waits: u64) {
    eventually("the waits are held", async || world.held().await.0 == waits).await;
}

#[tokio::test]
async fn an_automatic_ruling_is_not_the_arbitrators_own() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let claim = id(&debate.claim("opponent", &debate.motion, "Fine.").await);
    debate.ask("resolution", &claim, "Done.").await.created();
    assert_eq!(seqs(&debate.poll("arbitrator", None).await.ok()["arguments"]), [1, 2, 3]);

    // One that was its own is where the wait begins.
    let debate = world.debate("Keep two?").await;
    let claim = id(&debate.claim("opponent", &debate.motion, "No.").await);
    debate.ask("appeal", &claim, "1. A 2. B").await.created();
    let ruling = id(&debate.rule(json!({"content": "B"})).await.created());
    let answer = id(&debate.claim("proposer", &ruling, "B it is.").await);
    let claim = id(&debate.claim("opponent", &answer, "Fine.").await);
    debate.ask("resolution", &claim, "Done.").await.created();
    let over = debate.poll("arbitrator", None).await.ok();
    assert_eq!(over["action"], "debate_closed");
    assert_eq!(seqs(&over["arguments"]), [5, 6, 7]);
}

#[tokio::test]
async fn news_and_no_news_have_exactly_the_promised_fields() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let motion = debate.context().await["motion"].take();
    assert_eq!(
        debate.poll("opponent", None).await.ok(),
        json!({
            "has_new_argument": true,
            "action": "respond",
            "debate_state": "AWAITING_OPPONENT",
            "argument": motion,
            "arguments": [motion],
            "omitted": 0,
            "next_argument_id_to_wait": debate.motion,
            "pending_argument_id": null,
            "available_actions": ["SUBMIT_CLAIM"],
        })
    );
    let nothing = |action: &str, seen: u64| {
        json!({
            "has_new_argument": false,
            "debate_id": debate.id,
            "debate_state": "AWAITING_OPPONENT",
            "action": action,
            "waiting_since": "2026-01-01T00:00:00.000Z",
            "last_seen_seq": seen,
        })
    };
    world.pass(Duration::from_secs(9));
    let (proposer, arbitrator) = ("wait_for_opponent", "wait");
    assert_eq!(debate.poll("proposer", None).await.ok(), nothing(proposer, 0));
    assert_eq!(debate.poll("proposer", Some("")).await.ok(), nothing(proposer, 0));
    assert_eq!(debate.poll("proposer", Some(&debate.motion)).await.ok(), nothing(proposer, 1));
    assert_eq!(debate.poll("arbitrator", None).await.ok(), nothing(arbitrator, 0));
}

#[tokio::test]
async fn both_names_of_the_wait_are_held_and_woken() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let path = |rest: &str| format!("/debates/{}/{rest}", debate.id);
    let (by_poll, by_wait) = (path("poll?role=proposer&wait=60"), path("wait?role=proposer"));
    let story = async {
        // Without `wait`, the one is held and the other is not.
        assert_eq!(debate.poll("proposer", None).await.ok()["has_new_argument"], false);
        held(&world, 2).await;
        id(&debate.claim("opponent", &debate.motion, "No.").await)
    };
    let (poll, wait, claim) = tokio::join!(world.get(&by_poll), world.get(&by_wait), story);
    let (poll, wait) = (poll.ok(), wait.ok());
    assert_eq!(poll["argument"]["id"], claim);
    assert_eq!(poll, wait);
}

#[tokio::test]
async fn a_wait_ends_without_news_after_its_time() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    for name in ["poll", "wait"] {
        let path = format!("/debates/{}/{name}?role=proposer&wait=0.05", debate.id);
        let began = Instant::now();
        let over = world.get(&path).await.ok();
        assert!(began.elapsed() >= Duration::from_millis(50), "{name} was not held");
        assert_eq!(over["has_new_argument"], false);
    }
}

#[tokio::test]
async fn a_server_that_stops_answers_held_waits() {
    let world = World::start().await;
    {
        let debate = world.debate("Keep one SQLite file?").await;
        let story = async {
            held(&world, 2).await;
            world.begin_to_stop();
        };
        let (proposer, arbitrator, ()) = tokio::join!(
            debate.wait("proposer", Some(&debate.motion), 60),
            debate.wait("arbitrator", None, 60),
            story
        );
        for (answer, seen) in [(proposer, 1), (arbitrator, 0)] {
            let nothing = answer.ok();
            assert_eq!(nothing["has_new_argument"], false);
            assert_eq!(nothing["debate_id"], debate.id);
            assert_eq!(nothing["debate_state"], "AWAITING_OPPONENT");
            assert_eq!(nothing["last_seen_seq"], seen);
        }
    }
    in_time("the server stops", world.stop()).await;
}

#[tokio::test]
async fn a_held_wait_reads_nothing_while_nothing_happens() {
    let world = World::in_file().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let waiter = debate.wait("proposer", None, 30);
    tokio::pin!(waiter);
    tokio::select! {
        _ = &mut waiter => panic!("nothing happened"),
        () = eventually("it is held", async || {
            world.engine.health().await.debates_listened_to == 1
        }) => {}
    }
    // Behind the server's back: a read would find the debate deleted.
    let hide = "update debates set deleted_at = ?1";
    world.database().execute_batch("drop trigger debates_stay_deleted").unwrap();
    world.database().execute(hide, [Some(1)]).unwrap();
    assert!(timeout(Duration::from_millis(400), &mut waiter).await.is_err(), "it looked");
    world.database().execute(hide, [None::<i64>]).unwrap();
    let (woken, _) = tokio::join!(waiter, debate.claim("opponent", &debate.motion, "No."));
    assert_eq!(woken.ok()["action"], "respond");
}
