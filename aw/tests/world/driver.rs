//! Drives debates: bodies of requests to the API, and moves on the engine itself.

use aw_core::{
    ArgumentId, Content, DebateId, DebateType, Move, ResolutionPolicy, Role, Title, Via,
};
use aw_record::{Ask, Engine, Receipt, Request};
use serde_json::{Value, json};
use uuid::Uuid;

use super::new_id;

/// The body that opens a new debate.
pub fn opening(title: &str) -> Value {
    opening_of(&new_id(), title, &format!("Motion: {title}"))
}

/// The body that opens the debate with this id.
pub fn opening_of(id: &str, title: &str, motion: &str) -> Value {
    json!({
        "debate_id": id, "title": title, "debate_type": "general_debate",
        "motion_content": motion, "client_request_id": new_id(),
    })
}

/// The body of an APPEAL or a RESOLUTION.
pub fn reply(target: &str, content: &str) -> Value {
    json!({"target_id": target, "content": content, "client_request_id": new_id()})
}

/// The body of a CLAIM.
pub fn claim(role: &str, target: &str, content: &str) -> Value {
    let mut body = reply(target, content);
    body["role"] = json!(role);
    body
}

/// The id of the argument that a write returned.
pub fn id(written: &Value) -> String {
    super::text(&written["argument"]["id"])
}

/// The seqs of a list of arguments.
pub fn seqs(arguments: &Value) -> Vec<u64> {
    arguments.as_array().unwrap().iter().map(|it| it["seq"].as_u64().unwrap()).collect()
}

/// Opens a debate with a long title on the engine.
pub async fn open(engine: &Engine, number: u32) -> Receipt {
    let ask = Ask::Open {
        origin: None,
        points: None,
        title: Title::recorded(format!("Debate {number} {}", "word ".repeat(30))),
        debate_type: DebateType::recorded("general_debate".to_owned()),
        texts: None,
        policy: ResolutionPolicy::Auto,
        motion: Content::recorded("A motion.".to_owned()),
    };
    execute(engine, Uuid::new_v4().into(), ask).await
}

/// Makes a move on the engine.
pub async fn play(
    engine: &Engine,
    debate: DebateId,
    role: Role,
    play: Move<ArgumentId>,
) -> Receipt {
    let content = Content::recorded(format!("An argument of the {role}."));
    execute(engine, debate, Ask::Play { role, play, content }).await
}

/// Submits a CLAIM on the engine that answers `last`.
pub async fn answer(engine: &Engine, last: &Receipt, role: Role) -> Receipt {
    play(engine, last.debate.id, role, Move::Claim { target: last.argument.id }).await
}

async fn execute(engine: &Engine, debate: DebateId, ask: Ask) -> Receipt {
    let id = Uuid::new_v4().into();
    let request = Request { debate, id, author: None, via: Via::Api, seat: None, ask };
    engine.execute(request).await.unwrap()
}
