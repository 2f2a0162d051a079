//! `/resolve`: what names mean; and debates that lists leave out.

use serde_json::{Value, json};

use crate::world::{World, text};

/// What a query means.
async fn resolved(world: &World, query: &str) -> Value {
    world.get(&format!("/resolve?{query}")).await.ok()
}

#[tokio::test]
async fn a_name_is_resolved_to_whole_ids() {
    let world = World::start().await;
    let debate = world.debate("Charge retries").await;
    let claim = debate.claim("opponent", &debate.motion, "No.").await;
    let claim = text(&claim["argument"]["id"]);
    let whole = json!({
        "debate_id": debate.id, "slug": "charge-retries", "title": "Charge retries",
        "state": "AWAITING_PROPOSER",
    });
    for name in ["charge-retries", &debate.id[..4], &debate.id, "%40last"] {
        assert_eq!(resolved(&world, &format!("debate={name}")).await["debate"], whole, "{name}");
    }
    assert_eq!(resolved(&world, "only_open=true").await["debate"], whole);
    let second = json!({"argument_id": claim, "seq": 2, "type": "CLAIM", "role": "opponent"});
    for name in ["2", "%232", "%40last", &claim] {
        let found = resolved(&world, &format!("debate=charge-retries&argument={name}")).await;
        assert_eq!(found["argument"], second, "{name}");
    }
    let answered = resolved(&world, "only_open=1&answered_by=proposer").await;
    assert_eq!(answered["argument"], second);
    assert_eq!(resolved(&world, "").await, json!({}));
}

#[tokio::test]
async fn a_name_that_means_nothing_or_several_is_refused_with_the_way_on() {
    let world = World::start().await;
    let missing = |query: &str| format!("/resolve?{query}");
    let none = world.get(&missing("only_open=true")).await.refused(400, "INVALID_INPUT");
    assert_eq!(none["field"], "debate_id");
    world.get(&missing("debate=%40last")).await.refused(404, "DEBATE_NOT_FOUND");
    let debate = world.debate("One").await;
    world.debate("Two").await;
    let several = world.get(&missing("only_open=true")).await.refused(400, "INVALID_INPUT");
    let names: Vec<String> =
        several["candidates"].as_array().unwrap().iter().map(|one| text(&one["name"])).collect();
    assert_eq!(names.len(), 2);
    assert!(names.contains(&"one: One (AWAITING_OPPONENT)".to_owned()), "{names:?}");
    assert!(text(&several["message"]).contains(&debate.id), "{several}");
    for (query, status, code) in [
        ("debate=nonsense", 404, "DEBATE_NOT_FOUND"),
        ("debate=abc", 404, "DEBATE_NOT_FOUND"),
        ("debate=", 400, "INVALID_INPUT"),
        ("debate=one&argument=9", 404, "ARGUMENT_NOT_FOUND"),
        ("debate=one&argument=nonsense", 400, "INVALID_INPUT"),
        ("debate=one&answered_by=proposer", 404, "ARGUMENT_NOT_FOUND"),
        ("debate=one&answered_by=judge", 400, "INVALID_INPUT"),
        ("argument=1", 400, "INVALID_INPUT"),
        ("document=nonsense", 404, "DOCUMENT_NOT_FOUND"),
        ("project=nonsense", 400, "INVALID_INPUT"),
    ] {
        let refused = world.get(&missing(query)).await.refused(status, code);
        assert!(!text(&refused["message"]).is_empty(), "{query}");
    }
}

#[tokio::test]
async fn the_id_of_a_deleted_debate_is_answered_with_its_deletion() {
    let world = World::start().await;
    let debate = world.debate("One").await;
    world.delete(&format!("/debates/{}", debate.id)).await.ok();
    for query in [debate.id.clone(), format!("{}&answered_by=proposer", debate.id)] {
        let answer = world.get(&format!("/resolve?debate={query}")).await;
        let gone = answer.refused(404, "DEBATE_NOT_FOUND");
        assert!(gone["deleted_at"].is_string(), "{gone}");
    }
    let slug = world.get("/resolve?debate=one").await.refused(404, "DEBATE_NOT_FOUND");
    assert!(slug["deleted_at"].is_null(), "a name may be that of another debate");
}

#[tokio::test]
async fn lists_take_states_in_any_case_and_refuse_what_they_do_not_know() {
    let world = World::start().await;
    let debate = world.debate("One").await;
    for state in ["awaiting_opponent", "Awaiting-Opponent", "AWAITING_OPPONENT"] {
        let list = world.get(&format!("/debates?state={state}")).await.ok();
        assert_eq!(list["total"], 1, "{state}");
    }
    assert_eq!(world.get("/debates?state=closed").await.ok()["total"], 0);
    assert_eq!(world.get("/debates?outcome=Left-Open").await.ok()["total"], 0);
    for (query, field) in [
        ("state=asleep", "state"),
        ("outcome=won", "outcome"),
        ("since=yesterday", "since"),
        ("archived=perhaps", "archived"),
        ("project_first=x", "project_first"),
    ] {
        let refused = world.get(&format!("/debates?{query}")).await.refused(400, "INVALID_INPUT");
        assert_eq!(refused["field"], field);
    }
    let path = format!("/debates/{}/archive", debate.id);
    let body = json!({"archived": true});
    let put = world.request(reqwest::Method::PUT, &path).json(&body);
    assert_eq!(crate::world::Answer::to(put).await.ok(), json!({"archived": true}));
    assert_eq!(world.get("/debates").await.ok()["total"], 0);
    let archived = world.get("/debates?archived=true").await.ok();
    assert!(archived["debates"][0]["archived_at"].is_string(), "{archived}");
    let put = world.request(reqwest::Method::PUT, &path).json(&json!({}));
    let refused = crate::world::Answer::to(put).await.refused(400, "INVALID_INPUT");
    assert_eq!(refused["field"], "archived");
}
