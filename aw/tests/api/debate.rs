//! A whole debate, as its parties meet it.

use std::time::Duration;

use serde_json::json;

use crate::world::{World, text};

#[tokio::test]
async fn a_whole_debate_from_motion_to_resolution() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;

    let first = debate.claim("opponent", &debate.motion, "Two machines will fight over it.").await;
    assert_eq!(first["debate"]["state"], "AWAITING_PROPOSER");
    assert_eq!(first["action"], "wait_for_proposer");
    assert_eq!(first["next_argument_id_to_wait"], first["argument"]["id"]);

    let appeal =
        debate.ask("appeal", &text(&first["argument"]["id"]), "1. A\n2. B").await.created();
    assert_eq!(appeal["debate"]["state"], "AWAITING_ARBITRATOR");
    let ruling = debate.rule(json!({"content": "B"})).await.created();
    assert_eq!(ruling["argument"]["parent_id"], appeal["argument"]["id"]);
    assert_eq!(ruling["argument"]["close"], false);
    assert_eq!(ruling["debate"]["state"], "AWAITING_PROPOSER");

    let woken = debate.poll("proposer", Some(&text(&appeal["argument"]["id"]))).await.ok();
    assert_eq!(woken["action"], "align_to_ruling");
    assert_eq!(
        woken["available_actions"],
        json!(["SUBMIT_CLAIM", "SUBMIT_APPEAL", "SUBMIT_RESOLUTION"])
    );

    let done =
        debate.ask("resolution", &text(&ruling["argument"]["id"]), "Agreed.").await.created();
    assert_eq!(done["debate"]["state"], "CLOSED");
    assert_eq!(done["argument"]["type"], "RESOLUTION");
    let all = debate.context().await;
    let closing = all["arguments"].as_array().unwrap().last().unwrap();
    assert_eq!(closing["type"], "RULING");
    assert_eq!(closing["close"], true);
    assert_eq!(closing["automatic"], true);
    assert_eq!(closing["parent_id"], done["argument"]["id"]);
    assert_eq!(closing["content"], "Auto-approved: Debate completed as requested by proposer.");
    let seqs: Vec<u64> =
        all["arguments"].as_array().unwrap().iter().map(|a| a["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, [2, 3, 4, 5, 6]);
}

#[tokio::test]
async fn an_intervention_parks_the_text_in_hand() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let stop = debate.intervene().await.created();
    let intervention = text(&stop["argument"]["id"]);

    let in_hand = debate.claim("opponent", &debate.motion, "What I was writing.").await;
    assert_eq!(in_hand["argument"]["parked"], true);
    assert_eq!(in_hand["debate"]["state"], "INTERVENTION_PENDING");
    assert_eq!(in_hand["action"], "wait_for_ruling");
    assert_eq!(in_hand["next_argument_id_to_wait"], intervention.as_str());
    assert_eq!(in_hand["missed"][0]["id"], intervention.as_str());
    assert!(text(&in_hand["message"]).starts_with("Parked as seq 3"));

    let again = debate.try_claim("opponent", &debate.motion, "And more.").await;
    let refused = again.refused(403, "ACTION_NOT_ALLOWED");
    assert_eq!(refused["allowed_roles"], json!(["arbitrator"]));
    assert_eq!(refused["last_argument"]["seq"], 3);

    world.pass(Duration::from_secs(1));
    let ruling =
        debate.rule(json!({"content": "Go on.", "target_id": intervention})).await.created();
    assert_eq!(ruling["missed"][0]["id"], in_hand["argument"]["id"]);
    let late = debate.rule(json!({"content": "No.", "target_id": intervention})).await;
    let late = late.refused(403, "ACTION_NOT_ALLOWED");
    assert!(text(&late["message"]).contains("already ruled on, seq 4"), "{late}");
}
