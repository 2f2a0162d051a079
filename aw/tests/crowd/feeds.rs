//! Hundreds of feeds, while hundreds of clients wait.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use aw_core::Role;
use reqwest::Method;
use serde_json::Value;
use tokio::sync::Barrier;
use tokio::task::{JoinHandle, JoinSet};

use super::{held, raise_file_limit};
use crate::world::driver::{answer, open};
use crate::world::{Answer, Dice, Socket, World, eventually, in_time, text};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_feed_receives_every_waiter_and_every_move() {
    const FEEDS: usize = 200;
    const DEBATES: u32 = 100;
    raise_file_limit();
    let world = World::start().await;
    let mut debates = Vec::new();
    for number in 0..DEBATES {
        debates.push(open(&world.engine, number).await);
    }
    // A claim ends the wait of its proposer, and changes of presence are sent as one: the first claim waits until every
    // feed has received every waiter.
    let claims = Arc::new(Barrier::new(FEEDS + 1));
    let mut feeds: Vec<JoinHandle<Socket>> = Vec::new();
    for _ in 0..FEEDS {
        let (mut feed, claims) = (Socket::feed(&world).await, Arc::clone(&claims));
        feeds.push(tokio::spawn(async move {
            let mut waiting = HashSet::new();
            while waiting.len() < DEBATES as usize {
                let presence = feed.hears("presence").await;
                if waits(&presence, "proposer") && waits(&presence, "arbitrator") {
                    waiting.insert(text(&presence["debate_id"]));
                }
            }
            claims.wait().await;
            let mut claimed = HashSet::new();
            while claimed.len() < DEBATES as usize {
                let message = feed.next().await;
                match message["event"].as_str().unwrap() {
                    "presence" => {}
                    "debate_updated" => {
                        assert_eq!(message["data"]["last_argument"]["seq"], 2);
                        claimed.insert(text(&message["data"]["debate"]["id"]));
                    }
                    other => panic!("{other}: {message}"),
                }
            }
            feed
        }));
    }
    assert_eq!(held(&world).await.1, FEEDS as u64);

    // Four of each debate wait; they are two roles.
    let mut waiters = JoinSet::new();
    for motion in &debates {
        for role in [Role::Proposer, Role::Proposer, Role::Arbitrator, Role::Arbitrator] {
            let path = format!("/debates/{}/wait?role={role}", motion.debate.id);
            waiters.spawn(Answer::to(world.request(Method::GET, &path)));
        }
    }
    eventually("400 waits are held", async || held(&world).await.0 == 4 * u64::from(DEBATES)).await;
    in_time("every feed receives every waiter", claims.wait()).await;
    for motion in &debates {
        let presence = world.engine.presence(motion.debate.id);
        assert!(presence.proposer.waiting && presence.arbitrator.waiting);
        assert!(!presence.opponent.waiting);
        answer(&world.engine, motion, Role::Opponent).await;
    }
    for feed in feeds {
        in_time("every feed receives every move", feed).await.unwrap();
    }
    waiters.abort_all();
    eventually("nobody is left", async || held(&world).await == (0, 0)).await;
    eventually("nobody is thought to wait", async || {
        debates.iter().all(|motion| !world.engine.presence(motion.debate.id).arbitrator.waiting)
    })
    .await;
}

fn waits(data: &Value, role: &str) -> bool {
    data["presence"][role]["waiting"] == true
}

/// No later event makes up for a missed one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_open_feed_receives_every_commit() {
    const COMMIT: Duration = Duration::from_millis(3);
    let world = World::start().await;
    let mut dice = Dice::new();
    for number in 0..200 {
        let mut other = dice.another();
        let busy = tokio::spawn({
            let engine = world.engine.clone();
            async move {
                other.dawdle(COMMIT).await;
                open(&engine, number).await;
            }
        });
        dice.dawdle(COMMIT).await;
        let mut feed = Socket::feed(&world).await;
        let opened = open(&world.engine, number).await.debate.id.to_string();
        while feed.hears("debate_created").await["debate"]["id"] != opened.as_str() {}
        busy.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn feeds_that_do_not_read_delay_no_writer_and_are_dropped() {
    const DEBATES: u32 = 6_000;
    let world = World::start().await;
    let mut stuck = Vec::new();
    for _ in 0..10 {
        stuck.push(Socket::narrow(&world, "/ws").await);
    }
    let mut reader = Socket::feed(&world).await;
    let reading = tokio::spawn(async move {
        let mut titles = HashMap::new();
        while titles.len() < DEBATES as usize {
            let message = reader.hears("debate_created").await;
            titles.insert(text(&message["debate"]["id"]), text(&message["debate"]["title"]));
        }
        reader
    });
    // More than the kernel buffers for a client that does not read.
    for number in 0..DEBATES {
        let began = Instant::now();
        open(&world.engine, number).await;
        // The server gives a stuck socket ten seconds; a writer that waited for one would show it.
        assert!(began.elapsed() < Duration::from_secs(8), "a writer was held up");
    }
    let _reader = in_time("who reads sees everything", reading).await.unwrap();
    eventually("those who do not read are dropped", async || held(&world).await.1 == 1).await;
    let mut late = stuck.pop().unwrap();
    let mut received = 0;
    while late.any().await.is_ok() {
        received += 1;
    }
    assert!(received < DEBATES, "it was never behind");
    // It connects again.
    let mut back = Socket::feed(&world).await;
    let another = open(&world.engine, DEBATES).await.debate.id.to_string();
    assert_eq!(back.hears("debate_created").await["debate"]["id"], another.as_str());
}
