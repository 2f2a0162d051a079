//! Repeats one operation with engine and store in this process, for callgrind.
//!
//! `exact submit|poll|context|plain|points TIMES`
//!
//! The last two open a debate about a plan and object to it with five quotes, without points and with.
#![allow(clippy::unwrap_used, reason = "it does one thing and ends")]

use std::time::Duration;

use aw_core::{
    ArgumentId, Content, DebateId, DebateType, DocumentId, Move, PointRules, ResolutionPolicy,
    Role, Severity, Summary, Title, Via,
};
use aw_record::{Ask, Clock, Engine, NewDocument, NewVersion, Request, Store, StoreOptions};
use uuid::Uuid;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let given: Vec<String> = std::env::args().collect();
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&StoreOptions::at(folder.path().join("debate.db"))).unwrap();
    let engine = Engine::new(store, Clock::system());
    let debate: DebateId = Uuid::new_v4().into();
    let mut newest = write(&engine, debate, opening(words(), false)).await;
    let mut seq = 1;
    for _ in 0..12 {
        newest = submit(&engine, debate, newest, &mut seq).await;
    }
    let plan = keep_plan(&engine).await;
    for _ in 0..given[2].parse::<u32>().unwrap() {
        match given[1].as_str() {
            "submit" => newest = submit(&engine, debate, newest, &mut seq).await,
            "poll" => {
                let role = Role::Proposer;
                drop(engine.wait(debate, role, Some(newest), Duration::ZERO).await.unwrap());
            }
            "context" => drop(engine.context(debate, Some(10)).await.unwrap()),
            "plain" => object(&engine, plan, false).await,
            "points" => object(&engine, plan, true).await,
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

/// Opens a debate about the plan and objects to five of its lines.
async fn object(engine: &Engine, plan: DocumentId, points: bool) {
    let debate = Uuid::new_v4().into();
    let motion = Content::parse(format!("Please examine doc_id={plan} (v1)."), 10_240).unwrap();
    let target = write(engine, debate, opening(motion, points)).await;
    let objection = |number| {
        format!("### NEW [major] Row {number} may be gone\n> {}\nIt is kept.\n", step(number))
    };
    let content = Content::parse((10..15).map(objection).collect(), 10_240).unwrap();
    let play = Ask::Play { role: Role::Opponent, play: Move::Claim { target }, content };
    write(engine, debate, play).await;
}

fn opening(motion: Content, points: bool) -> Ask {
    Ask::Open {
        origin: None,
        points: points.then_some(PointRules { rounds: 3, blocking: Severity::Major }),
        title: Title::parse("What does it cost?".to_owned()).unwrap(),
        debate_type: DebateType::parse("general_debate".to_owned()).unwrap(),
        texts: None,
        policy: ResolutionPolicy::default(),
        motion,
    }
}

async fn write(engine: &Engine, debate: DebateId, ask: Ask) -> ArgumentId {
    let id = Uuid::new_v4().into();
    let request = Request { debate, id, author: None, via: Via::Api, seat: None, ask };
    engine.execute(request).await.unwrap().argument.id
}

/// Keeps a plan of 20 kB.
async fn keep_plan(engine: &Engine) -> DocumentId {
    let plan = (0..250).map(|number| step(number) + "\n").collect();
    let version = NewVersion {
        title: None,
        summary: Summary::parse("A plan".to_owned()).unwrap(),
        content: Content::parse(plan, 1 << 20).unwrap(),
        author: None,
        metadata: "{}".to_owned(),
    };
    let new = NewDocument { request: Uuid::new_v4().into(), seat: None, version };
    engine.create_document(new).await.unwrap().document
}

/// A line of the plan that no other line contains.
fn step(number: usize) -> String {
    format!("Step {number}: the worker reads row {number} and writes it to the ledger of payments.")
}

fn words() -> Content {
    let words = "Much is said, and little of it matters to the one who must decide.".repeat(16);
    Content::parse(words, 10_240).unwrap()
}
