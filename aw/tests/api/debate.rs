//! An interrupted debate, as its parties meet it.

use std::time::Duration;

use serde_json::json;

use crate::world::{World, text};

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
    assert!(text(&in_hand["message"]).starts_with("Parked as argument 3"));

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
    assert!(text(&late["message"]).contains("already ruled on, by argument 4"), "{late}");
}
