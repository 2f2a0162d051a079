//! Slow, broken and vanished clients do not affect others.

use std::time::Duration;

use reqwest::Method;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::world::driver::claim;
use crate::world::{Answer, Dice, World, eventually, in_time};

#[tokio::test]
async fn unfinished_requests_delay_no_other_client() {
    let world = World::start().await;
    let mut unfinished = Vec::new();
    for _ in 0..60 {
        for said in [
            "",
            "GET /health HTT",
            "GET /health HTTP/1.1\r\nhost: localhost\r\nx-half: ",
            "POST /debates HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             content-length: 5000\r\n\r\n{\"debate_id\": \"",
            "POST /debates HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             transfer-encoding: chunked\r\n\r\n4\r\n{\"de",
        ] {
            let mut stream = connect(&world).await;
            stream.write_all(said.as_bytes()).await.unwrap();
            unfinished.push(stream);
        }
    }
    let debate = world.debate("Are others served?").await;
    let waiting = world.request(Method::GET, &format!("/debates/{}/wait?role=proposer", debate.id));
    let waiting = tokio::spawn(Answer::to(waiting));
    eventually("a wait is held", async || held_waits(&world).await == 1).await;
    in_time("a claim is taken", debate.claim("opponent", &debate.motion, "Yes.")).await;
    let woken = in_time("who waits is woken", waiting).await.unwrap().ok();
    assert_eq!(woken["argument"]["content"], "Yes.");
    assert_eq!(world.get("/debates").await.ok()["total"], 1);

    // A slow client that finishes its request is served.
    let slow = &mut unfinished[1];
    slow.write_all(b"P/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").await.unwrap();
    assert!(read(slow).await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn a_wait_whose_client_leaves_is_released() {
    let world = World::start().await;
    let debate = world.debate("Anybody?").await;
    let asks = format!(
        "GET /debates/{}/wait?role=proposer HTTP/1.1\r\nhost: localhost\r\n\r\n",
        debate.id
    );
    let mut streams = Vec::new();
    for _ in 0..100 {
        let mut stream = connect(&world).await;
        stream.write_all(asks.as_bytes()).await.unwrap();
        streams.push(stream);
    }
    eventually("all of them are held", async || held_waits(&world).await == 100).await;
    assert_eq!(world.engine.health().await.debates_listened_to, 1);
    let stays = streams.pop().unwrap();
    drop(streams);
    eventually("those who left are forgotten", async || held_waits(&world).await == 1).await;
    drop(stays);
    eventually("nobody is left", async || {
        held_waits(&world).await == 0 && world.engine.health().await.debates_listened_to == 0
    })
    .await;
}

/// A commit wakes waiters even if its sender has left.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_writer_that_leaves_before_its_answer_still_wakes_waiters() {
    let world = World::start().await;
    let mut dice = Dice::new();
    for round in 0..40 {
        let debate = world.debate(&format!("Round {round}")).await;
        let path = format!("/debates/{}/wait?role=proposer", debate.id);
        let waiting = tokio::spawn(Answer::to(world.request(Method::GET, &path)));
        eventually("a wait is held", async || held_waits(&world).await == 1).await;

        let body = claim("opponent", &debate.motion, "And gone.").to_string();
        let mut stream = connect(&world).await;
        let request = format!(
            "POST /debates/{}/arguments HTTP/1.1\r\nhost: localhost\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            debate.id,
            body.len()
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        tokio::time::sleep(Duration::from_micros(dice.below(1_500))).await;
        drop(stream);

        // It may have left before it was heard at all; then nothing is written, and it asks again.
        let retried = world
            .request(Method::POST, &format!("/debates/{}/arguments", debate.id))
            .header("content-type", "application/json")
            .body(body);
        let answer = Answer::to(retried).await;
        assert!(answer.status.is_success(), "{}", answer.body);
        let woken = in_time("who waits is woken by what was committed", waiting).await.unwrap();
        assert_eq!(woken.ok()["argument"]["content"], "And gone.");
    }
}

async fn connect(world: &World) -> TcpStream {
    TcpStream::connect(world.url.strip_prefix("http://").unwrap()).await.unwrap()
}

async fn read(stream: &mut TcpStream) -> String {
    let mut answer = String::new();
    let reading = tokio::io::AsyncReadExt::read_to_string(stream, &mut answer);
    in_time("it is answered to the end", reading).await.unwrap();
    answer
}

async fn held_waits(world: &World) -> u64 {
    world.get("/health").await.ok()["held_waits"].as_u64().unwrap()
}
