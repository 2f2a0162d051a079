//! Damage to one debate affects only requests for that debate.

use serde_json::json;

use crate::world::{World, database_in, new_id};

#[tokio::test]
async fn a_damaged_debate_affects_no_other() {
    let world = World::start().await;
    let opening = json!({
        "debate_id": new_id(),
        "title": "Damaged",
        "debate_type": "general_debate",
        "motion_content": "Once whole.",
        "client_request_id": new_id(),
    });
    world.post("/debates", opening.clone()).await.created();
    let db = rusqlite::Connection::open(database_in(&world.folder)).unwrap();
    db.execute_batch("drop trigger arguments_never_change; update arguments set via = 'pigeon'")
        .unwrap();
    let sound = world.debate("Sound").await;

    let mut target = sound.motion.clone();
    for round in 0..20 {
        let role = if round % 2 == 0 { "opponent" } else { "proposer" };
        let text = format!("Round {round}.");
        let (damaged, claim) = tokio::join!(
            world.post("/debates", opening.clone()),
            sound.claim(role, &target, &text),
        );
        let damaged = damaged.refused(500, "RECORD_DAMAGED");
        assert!(damaged["request_id"].is_string(), "{damaged}");
        assert_eq!((&damaged["debate_id"], &damaged["seq"]), (&opening["debate_id"], &json!(1)));
        target = claim["argument"]["id"].as_str().unwrap().to_owned();
    }
    assert_eq!(world.get("/health").await.ok()["status"], "ok");
}
