//! Measures how fast the record is verified, and how that affects concurrent writes.
//!
//! `cargo run --release -p aw-record --example verifying -- [arguments] [debates]`
#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]

use std::time::{Duration, Instant};

use aw_core::{
    ArgumentId, Content, DebateId, DebateType, Move, ResolutionPolicy, Role, Title, Via,
};
use aw_record::{Ask, Clock, Engine, Request, Store, StoreOptions};
use uuid::Uuid;

#[tokio::main]
async fn main() {
    let mut typed = std::env::args().skip(1).map(|number| number.parse::<usize>().unwrap());
    let arguments = typed.next().unwrap_or(100_000);
    let debates = typed.next().unwrap_or(100).min(arguments);
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&StoreOptions::at(folder.path().join("debate.db"))).unwrap();
    let engine = Engine::new(store, Clock::system());

    let began = Instant::now();
    let held: Vec<_> =
        (0..debates).map(|_| tokio::spawn(hold(engine.clone(), arguments / debates))).collect();
    let mut last = None;
    for debate in held {
        last = Some(debate.await.unwrap());
    }
    let (debate, mut newest) = last.unwrap();
    println!("written: {} arguments in {debates} debates, {:?}", arguments, began.elapsed());
    let alone = latency(&engine, debate, &mut newest, Duration::from_secs(1)).await;
    println!("a write takes {alone:?} (median of those that follow each other for 1 s)");

    let began = Instant::now();
    let walk = tokio::spawn({
        let engine = engine.clone();
        async move {
            let (mut verified, mut next, mut pieces) = (0, None, 0);
            loop {
                let piece = engine.verify_on(next).await.unwrap();
                assert!(piece.damages.is_empty(), "{:?}", piece.damages);
                verified += piece.arguments;
                pieces += 1;
                next = piece.next;
                if next.is_none() {
                    return (verified, pieces);
                }
            }
        }
    });
    let (verified, pieces) = walk.await.unwrap();
    let took = began.elapsed();
    let rate = verified as f64 / took.as_secs_f64();
    println!("verified: {verified} arguments in {took:?}, {pieces} pieces, {rate:.0} a second");

    let walk = tokio::spawn({
        let engine = engine.clone();
        async move {
            let mut next = None;
            loop {
                next = engine.verify_on(next).await.unwrap().next;
            }
        }
    });
    let meanwhile = latency(&engine, debate, &mut newest, Duration::from_secs(1)).await;
    walk.abort();
    println!("a write takes {meanwhile:?} while somebody verifies");
}

/// A debate of this many arguments: its id, its newest argument and the role that is next.
async fn hold(engine: Engine, arguments: usize) -> (DebateId, (ArgumentId, Role)) {
    let debate: DebateId = Uuid::now_v7().into();
    let ask = Ask::Open {
        origin: None,
        points: None,
        title: Title::recorded("Verify it?".to_owned()),
        debate_type: DebateType::recorded("general_debate".to_owned()),
        texts: None,
        policy: ResolutionPolicy::Auto,
        motion: Content::recorded("We should.".to_owned()),
    };
    let mut newest = (write(&engine, debate, ask).await, Role::Opponent);
    for _ in 1..arguments {
        newest = answer(&engine, debate, newest).await;
    }
    (debate, newest)
}

async fn answer(
    engine: &Engine,
    debate: DebateId,
    (target, role): (ArgumentId, Role),
) -> (ArgumentId, Role) {
    let content = Content::recorded("An argument of the usual length. ".repeat(30));
    let ask = Ask::Play { role, play: Move::Claim { target }, content };
    let next = if role == Role::Opponent { Role::Proposer } else { Role::Opponent };
    (write(engine, debate, ask).await, next)
}

async fn write(engine: &Engine, debate: DebateId, ask: Ask) -> ArgumentId {
    let id = Uuid::now_v7().into();
    let request = Request { debate, id, author: None, via: Via::Api, seat: None, ask };
    engine.execute(request).await.unwrap().argument.id
}

/// The median duration of consecutive writes.
async fn latency(
    engine: &Engine,
    debate: DebateId,
    newest: &mut (ArgumentId, Role),
    time: Duration,
) -> Duration {
    let (began, mut all) = (Instant::now(), Vec::new());
    while began.elapsed() < time {
        let one = Instant::now();
        *newest = answer(engine, debate, *newest).await;
        all.push(one.elapsed());
    }
    all.sort();
    all[all.len() / 2]
}
