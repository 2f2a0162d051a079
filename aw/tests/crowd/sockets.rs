//! Hundreds of sockets: each receives every argument once and in order.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::sync::Semaphore;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use super::held;
use crate::world::{Dice, Socket, World, eventually, in_time, text};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_sockets_receive_every_argument_once_and_in_order() {
    const LAST: u64 = 500;
    let world = World::start().await;
    let debate = world.debate("Does everybody see everything?").await;
    let mut dice = Dice::new();
    let here = Arc::new(Semaphore::new(0));
    let watchers: Vec<_> = (0..200)
        .map(|_| {
            let (url, here, dice) = (world.url.clone(), here.clone(), dice.another());
            tokio::spawn(watch(url, debate.id.clone(), LAST, here, dice))
        })
        .collect();
    let _all = in_time("everybody is here", here.acquire_many(200)).await.unwrap();

    let mut newest = debate.motion.clone();
    for seq in 2..=LAST - 2 {
        let role = if seq % 2 == 0 { "opponent" } else { "proposer" };
        let written = debate.claim(role, &newest, &format!("Word {seq}.")).await;
        newest = text(&written["argument"]["id"]);
    }
    debate.ask("resolution", &newest, "Agreed.").await.created();
    let mut returns = 0;
    for watcher in watchers {
        returns += in_time("everybody sees the end", watcher).await.unwrap();
    }
    assert!(returns > 200, "they hardly ever left: {returns}");
    eventually("all of them have left", async || held(&world).await.1 == 0).await;
}

/// Follows until the last argument with random reconnects, and returns their number.
async fn watch(
    url: String,
    debate: String,
    last: u64,
    here: Arc<Semaphore>,
    mut dice: Dice,
) -> u64 {
    let (mut seen, mut visits) = (0, 0);
    loop {
        let path = format!("/ws?debate_id={debate}&after_seq={seen}");
        let mut socket = Socket::at(&url, &path).await;
        visits += 1;
        let mut first = socket.hears("initial_state").await;
        if visits == 1 {
            here.add_permits(1);
        }
        let mut debate = first["debate"].take();
        let mut news = first["arguments"].take().as_array().unwrap().clone();
        let mut messages_left = dice.below(150);
        loop {
            for argument in &news {
                assert_eq!(argument["seq"], seen + 1);
                seen += 1;
            }
            if seen == last {
                let closing = news.last().unwrap();
                assert_eq!(
                    (&closing["type"], &closing["automatic"]),
                    (&json!("RULING"), &json!(true))
                );
                assert_eq!(debate["state"], "CLOSED");
                return visits - 1;
            }
            if messages_left == 0 {
                break;
            }
            messages_left -= 1;
            let mut event = socket.hears("new_argument").await;
            debate = event["debate"].take();
            news = vec![event["argument"].take()];
        }
        // Some close the socket, some just drop it.
        if dice.below(2) == 0 {
            socket.close().await;
        }
    }
}

/// No later event makes up for a missed one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_socket_that_opens_during_a_commit_receives_it() {
    const COMMIT: Duration = Duration::from_millis(3);
    let world = World::start().await;
    let debate = world.debate("Was I here?").await;
    let mut dice = Dice::new();
    let mut newest = debate.motion.clone();
    for seq in 2..=150 {
        let watchers: Vec<_> = (0..8)
            .map(|_| {
                let (url, id, mut dice) = (world.url.clone(), debate.id.clone(), dice.another());
                tokio::spawn(async move {
                    dice.dawdle(COMMIT).await;
                    let mut socket = Socket::at(&url, &format!("/ws?debate_id={id}")).await;
                    let first = socket.hears("initial_state").await;
                    let before = first["arguments"].as_array().unwrap().len() as u64;
                    for missing in before + 1..=seq {
                        let event = socket.hears("new_argument").await;
                        assert_eq!(event["argument"]["seq"], missing);
                    }
                })
            })
            .collect();
        dice.dawdle(COMMIT).await;
        let role = if seq % 2 == 0 { "opponent" } else { "proposer" };
        let written = debate.claim(role, &newest, &format!("Word {seq}.")).await;
        newest = text(&written["argument"]["id"]);
        for watcher in watchers {
            in_time("it is seen by all", watcher).await.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sockets_that_do_not_read_delay_no_writer_and_are_dropped() {
    const LAST: u64 = 401;
    let world = World::start().await;
    let debate = world.debate("Who is slow?").await;
    let mut stuck = Vec::new();
    for _ in 0..20 {
        stuck.push(Socket::narrow(&world, &format!("/ws?debate_id={}", debate.id)).await);
    }
    let (mut reader, _) = Socket::of(&world, &debate.id).await;
    let reading = tokio::spawn(async move {
        for seq in 2..=LAST {
            assert_eq!(reader.hears("new_argument").await["argument"]["seq"], seq);
        }
        reader
    });

    // More than the kernel buffers for a client that does not read.
    let long = "word ".repeat(2_000);
    let mut newest = debate.motion.clone();
    for seq in 2..=LAST {
        let role = if seq % 2 == 0 { "opponent" } else { "proposer" };
        let began = Instant::now();
        let written = debate.claim(role, &newest, &long).await;
        // The server gives a stuck socket ten seconds; a writer that waited for one would show it.
        assert!(began.elapsed() < Duration::from_secs(8), "a writer was held up");
        newest = text(&written["argument"]["id"]);
    }
    let _reader = in_time("who reads sees everything", reading).await.unwrap();
    eventually("those who do not read are dropped", async || held(&world).await.1 == 1).await;

    // A dropped client reads what it was sent, then connects again for the rest.
    let mut seen = 0;
    let mut late = stuck.pop().unwrap();
    while let Ok(event) = late.any().await {
        if event["event"] == "new_argument" {
            assert_eq!(event["data"]["argument"]["seq"], seen + 1);
            seen += 1;
        } else {
            seen = 1;
        }
    }
    assert!((1..LAST).contains(&seen), "it was never behind: {seen}");
    let path = format!("/ws?debate_id={}&after_seq={seen}", debate.id);
    let rest = Socket::open(&world, &path).await.hears("initial_state").await;
    let rest: Vec<_> =
        rest["arguments"].as_array().unwrap().iter().map(|a| a["seq"].as_u64().unwrap()).collect();
    assert_eq!(rest, (seen + 1..=LAST).collect::<Vec<_>>());
}

#[tokio::test]
async fn the_sockets_of_a_deleted_debate_receive_that_and_close() {
    let world = World::start().await;
    let (debate, other) = (world.debate("Gone").await, world.debate("Kept").await);
    let mut sockets = Vec::new();
    for _ in 0..10 {
        sockets.push(Socket::of(&world, &debate.id).await.0);
    }
    let (mut bystander, _) = Socket::of(&world, &other.id).await;
    world.delete(&format!("/debates/{}", debate.id)).await.ok();
    for socket in &mut sockets {
        assert_eq!(socket.hears("debate_deleted").await, json!({"debate_id": debate.id}));
        assert_eq!(socket.ends().await, Some(CloseCode::Normal));
    }
    other.claim("opponent", &other.motion, "Still here.").await;
    assert_eq!(bystander.hears("new_argument").await["argument"]["seq"], 2);

    let path = format!("/ws?debate_id={}", debate.id);
    assert_eq!(Socket::with(&world.url, &path, &[]).await.err(), Some(404));
}

#[tokio::test]
async fn a_stopping_server_closes_its_sockets_with_code_away() {
    let world = World::start().await;
    let debate = world.debate("Until when?").await;
    let mut sockets = Vec::new();
    for _ in 0..50 {
        sockets.push(Socket::of(&world, &debate.id).await.0);
    }
    sockets.push(Socket::feed(&world).await);
    world.begin_to_stop();
    for socket in &mut sockets {
        assert_eq!(socket.ends().await, Some(CloseCode::Away));
    }
    in_time("the server stops", world.stop()).await;
}
