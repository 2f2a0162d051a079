//! Repeats one operation with engine and store in this process, for callgrind.
//!
//! `exact submit|poll|context TIMES`
#![allow(clippy::unwrap_used, reason = "it does one thing and ends")]

use std::time::Duration;

use aw_core::{
    ArgumentId, Content, DebateId, DebateType, Move, ResolutionPolicy, Role, Title, Via,
};
use aw_record::{Ask, Clock, Engine, Request, Store, StoreOptions};
use uuid::Uuid;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let given: Vec<String> = std::env::args().collect();
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&StoreOptions::at(folder.path().join("debate.db"))).unwrap();
    let engine = Engine::new(store, Clock::system());
    let debate: DebateId = Uuid::new_v4().into();
    let opening = Ask::Open {
        origin: None,
        points: None,
        title: Title::parse("What does it cost?".to_owned()).unwrap(),
        debate_type: DebateType::parse("general_debate".to_owned()).unwrap(),
        texts: None,
        policy: ResolutionPolicy::default(),
        motion: words(),
    };
    let mut newest = write(&engine, debate, opening).await;
    let mut seq = 1;
    for _ in 0..12 {
        newest = submit(&engine, debate, newest, &mut seq).await;
    }
    for _ in 0..given[2].parse::<u32>().unwrap() {
        match given[1].as_str() {
            "submit" => newest = submit(&engine, debate, newest, &mut seq).await,
            "poll" => {
                let role = Role::Proposer;
                drop(engine.wait(debate, role, Some(newest), Duration::ZERO).await.unwrap());
            }
            "context" => drop(engine.context(debate, Some(10)).await.unwrap()),
            other => panic!("there is no {other}"),
        }
    }
    engine.close().await;
}

async fn submit(
    engine: &Engine,
    debate: DebateId,
    target: ArgumentId,
    seq: &mut u32,
) -> ArgumentId {
    *seq += 1;
    let role = if seq.is_multiple_of(2) { Role::Opponent } else { Role::Proposer };
    write(engine, debate, Ask::Play { role, play: Move::Claim { target }, content: words() }).await
}

async fn write(engine: &Engine, debate: DebateId, ask: Ask) -> ArgumentId {
    let id = Uuid::new_v4().into();
    let request = Request { debate, id, author: None, via: Via::Api, seat: None, ask };
    engine.execute(request).await.unwrap().argument.id
}

fn words() -> Content {
    let words = "Much is said, and little of it matters to the one who must decide.".repeat(16);
    Content::parse(words, 10_240).unwrap()
}
