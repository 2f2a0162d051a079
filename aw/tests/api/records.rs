//! The record: retries write nothing, interrupted work is kept, and the whole of it can be checked.

use std::time::Duration;

use serde_json::{Value, json};

use crate::world::driver::{claim, id, seqs};
use crate::world::{Answer, World, new_id, text};

#[tokio::test]
async fn a_write_answers_with_the_whole_debate_and_argument() {
    let world = World::start().await;
    let (debate, request) = (new_id(), new_id());
    let created = world
        .post(
            "/debates",
            json!({
                "debate_id": debate, "title": "Một tệp SQLite?", "debate_type": "coding_plan_debate",
                "motion_content": "Giữ một tệp.", "client_request_id": request, "author": "An",
                "resolution_policy": "arbitrator",
            }),
        )
        .await
        .created();
    let motion = id(&created);
    let hash = text(&created["argument"]["hash"]);
    assert_eq!(
        created,
        json!({
            "debate": {
                "id": debate, "title": "Một tệp SQLite?", "debate_type": "coding_plan_debate",
                "state": "AWAITING_OPPONENT", "resolution_policy": "arbitrator",
                "created_at": "2026-01-01T00:00:00.000Z", "updated_at": "2026-01-01T00:00:00.000Z",
                "slug": "mot-tep-sqlite",
            },
            "argument": {
                "id": motion, "debate_id": debate, "parent_id": null, "type": "MOTION",
                "role": "proposer", "author": "An", "content": "Giữ một tệp.",
                "client_request_id": request, "seq": 1, "parked": false, "close": null,
                "automatic": false, "via": "api", "seat": null, "hash": hash,
                "created_at": "2026-01-01T00:00:00.000Z",
            },
            "replayed": false,
            "missed": [],
            "action": "wait_for_opponent",
            "next_argument_id_to_wait": motion,
        })
    );
    assert_eq!(uuid::Uuid::parse_str(&motion).unwrap().get_version_num(), 7);
    world.pass(Duration::from_millis(1_234));
    let request = new_id();
    let body = json!({
        "role": "opponent", "target_id": motion, "content": "Không.", "client_request_id": request,
    });
    let claimed = world.post(&format!("/debates/{debate}/arguments"), body).await.created();
    let mut expected = json!({
        "id": claimed["argument"]["id"], "debate_id": debate, "parent_id": motion, "type": "CLAIM",
        "role": "opponent", "author": null, "content": "Không.", "client_request_id": request,
        "seq": 2, "parked": false, "close": null, "automatic": false, "via": "api",
        "seat": null,
        "hash": claimed["argument"]["hash"], "created_at": "2026-01-01T00:00:01.234Z",
    });
    assert_eq!(claimed["argument"], expected);
    assert_eq!(claimed["debate"]["state"], "AWAITING_PROPOSER");
    assert_eq!(claimed["debate"]["created_at"], "2026-01-01T00:00:00.000Z");
    assert_eq!(claimed["debate"]["updated_at"], "2026-01-01T00:00:01.234Z");
    let context = world.get(&format!("/debates/{debate}")).await.ok();
    assert_eq!(
        context,
        json!({
            "debate": claimed["debate"],
            "motion": created["argument"],
            "arguments": [expected.take()],
            "rulings": [],
            "documents": [],
            "own_rules": false,
            "rules_origin": "built_in",
            "available_actions": {
                "proposer": ["SUBMIT_CLAIM", "SUBMIT_APPEAL", "SUBMIT_RESOLUTION"],
                "opponent": [],
                "arbitrator": ["SUBMIT_INTERVENTION"],
            },
            "presence": {
                "proposer": {"waiting": false, "last_seen_at": "2026-01-01T00:00:00.000Z"},
                "opponent": {"waiting": false, "last_seen_at": "2026-01-01T00:00:01.234Z"},
                "arbitrator": {"waiting": false, "last_seen_at": null},
            },
        })
    );
}

/// One write of every endpoint: its path, its body and its first answer.
struct Step {
    path: String,
    body: Value,
    first: Value,
}

/// A debate that has seen every endpoint and is closed.
async fn every_kind_of_write(world: &World) -> (String, Vec<Step>) {
    let debate = new_id();
    let mut steps: Vec<Step> = Vec::new();
    let of = |rest: &str| format!("/debates/{debate}/{rest}");
    let mut target = String::new();
    for (path, mut body) in [
        (
            "/debates".to_owned(),
            json!({
                "debate_id": debate, "title": "Title", "debate_type": "general_debate",
                "motion_content": "Motion",
            }),
        ),
        (of("arguments"), json!({"role": "opponent", "content": "No."})),
        (of("appeal"), json!({"content": "1. A 2. B"})),
        (of("ruling"), json!({"content": "B"})),
        (of("arguments"), json!({"role": "proposer", "content": "Yes."})),
        (of("intervention"), json!({"content": "Stop."})),
        (of("ruling"), json!({"content": "Go on.", "close": false})),
        (of("resolution"), json!({"content": "Done."})),
    ] {
        body["client_request_id"] = json!(new_id());
        if !path.ends_with("debates") && !path.ends_with("intervention") {
            body["target_id"] = json!(target);
        }
        let first = world.post(&path, body.clone()).await.created();
        target = id(&first);
        steps.push(Step { path, body, first });
    }
    (debate, steps)
}

#[tokio::test]
async fn every_write_can_be_retried_after_the_close() {
    let world = World::start().await;
    let (_, steps) = every_kind_of_write(&world).await;
    let before = world.written();
    for Step { path, body, first, .. } in &steps {
        assert_eq!(first["missed"], json!([]), "{path}: no INTERVENTION came in between");
        assert!(first.get("message").is_none(), "{path}");
        world.pass(Duration::from_secs(1));
        let again = world.post(path, body.clone()).await.ok();
        assert_eq!(again["argument"], first["argument"], "{path}");
        assert_eq!(again["replayed"], true, "{path}");
        assert_eq!(again["missed"], first["missed"], "{path}");
        assert_eq!(again["debate"]["state"], "CLOSED", "{path}: as it is now");
        assert_eq!(again["action"], "debate_closed", "{path}: as it is now");
    }
    assert_eq!(world.written(), before);
}

#[tokio::test]
async fn a_request_id_is_unique_within_its_debate_only() {
    let world = World::start().await;
    let (one, two) = (world.debate("One").await, world.debate("Two").await);
    let request = new_id();
    for debate in [&one, &two] {
        let body = json!({
            "role": "opponent", "target_id": debate.motion, "content": "No.",
            "client_request_id": request,
        });
        world.post(&format!("/debates/{}/arguments", debate.id), body).await.created();
    }
}

#[tokio::test]
async fn a_request_with_another_author_is_the_same_request() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let mut body = json!({
        "role": "opponent", "target_id": debate.motion, "content": "No.",
        "client_request_id": new_id(), "author": "codex",
    });
    let path = format!("/debates/{}/arguments", debate.id);
    world.post(&path, body.clone()).await.created();
    body["author"] = json!("codex 2");
    let again = world.post(&path, body).await.ok();
    assert_eq!(again["argument"]["author"], "codex");
}

#[tokio::test]
async fn a_retry_into_a_deleted_debate_is_not_found() {
    let world = World::start().await;
    let (debate, steps) = every_kind_of_write(&world).await;
    world.delete(&format!("/debates/{debate}")).await.ok();
    for Step { path, body, .. } in &steps[1..] {
        let error = world.post(path, body.clone()).await.refused(404, "DEBATE_NOT_FOUND");
        assert!(error["deleted_at"].is_string(), "{path}");
    }
}

#[tokio::test]
async fn an_absent_request_id_is_made_by_the_server() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let stopped = debate.intervene().await.created();
    let ruled = debate.rule(json!({"content": "Go on."})).await.created();
    let ids = [&stopped, &ruled].map(|w| text(&w["argument"]["client_request_id"]));
    assert_ne!(ids[0], ids[1]);
    for id in ids {
        assert!(uuid::Uuid::parse_str(&id).is_ok(), "{id}");
    }
}

#[tokio::test]
async fn a_parked_argument_waits_on_the_intervention_that_interrupted_it() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    // The opponent is interrupted, then the proposer.
    let first = debate.intervene().await.created();
    let ruling = debate.rule(json!({"content": "Go on."})).await.created();
    let second = debate.intervene().await.created();
    let late = debate.claim("opponent", &debate.motion, "In hand.").await;
    assert_eq!(late["argument"]["parked"], true);
    assert_eq!(late["next_argument_id_to_wait"], first["argument"]["id"]);
    let between = json!([first["argument"], ruling["argument"], second["argument"]]);
    assert_eq!(late["missed"], between);
    let other = debate.claim("proposer", &debate.motion, "In hand too.").await;
    assert_eq!(other["argument"]["parked"], true);
    assert_eq!(other["next_argument_id_to_wait"], second["argument"]["id"]);
    assert_eq!(seqs(&other["missed"]), [2, 3, 4, 5]);
}

#[tokio::test]
async fn the_retry_of_a_parked_argument_returns_the_state_of_now() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let stop = debate.intervene().await.created();
    let path = format!("/debates/{}/arguments", debate.id);
    let body = claim("opponent", &debate.motion, "In hand.");
    let parked = world.post(&path, body.clone()).await.created();
    let again = world.post(&path, body.clone()).await.ok();
    assert_eq!(again["message"], parked["message"], "nothing has moved on yet");
    assert_eq!(again["next_argument_id_to_wait"], stop["argument"]["id"]);

    let ruling = id(&debate.rule(json!({"content": "B."})).await.created());
    let again = world.post(&path, body.clone()).await.ok();
    assert_eq!(again["argument"], parked["argument"]);
    assert_eq!(again["debate"]["state"], "AWAITING_PROPOSER");
    assert_eq!(again["action"], "wait_for_proposer");
    let message = text(&again["message"]);
    assert_ne!(message, text(&parked["message"]));
    assert!(message.contains("Parked") && message.contains("answer the RULING"), "{message}");

    debate.ask("resolution", &ruling, "Done.").await.created();
    let again = world.post(&path, body).await.ok();
    assert!(text(&again["message"]).contains("closed"), "{again}");
    assert_eq!(again["action"], "debate_closed");
}

#[tokio::test]
async fn a_ruling_reports_parked_texts_with_and_without_a_target() {
    let world = World::start().await;
    for named in [true, false] {
        let debate = world.debate("Keep one SQLite file?").await;
        let stop = id(&debate.intervene().await.created());
        let parked = debate.claim("opponent", &debate.motion, "In hand.").await;
        let mut ruling = json!({"content": "Go on.", "client_request_id": new_id()});
        if named {
            ruling["target_id"] = json!(stop);
        }
        let first = debate.rule(ruling.clone()).await.created();
        assert_eq!(first["missed"], json!([parked["argument"]]), "target named: {named}");
        let again = debate.rule(ruling).await.ok();
        assert_eq!(again["missed"], first["missed"], "target named: {named}");
    }
}

#[tokio::test]
async fn the_program_and_the_author_are_recorded() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let mut newest = debate.motion.clone();
    let roles = ["opponent", "proposer"].iter().cycle();
    for ((said, kept), role) in [
        ("cli", "cli"),
        ("mcp", "mcp"),
        ("run", "run"),
        ("api", "api"),
        ("spy", "api"),
        ("", "api"),
    ]
    .iter()
    .zip(roles)
    {
        let body = json!({
            "role": role, "target_id": newest, "content": "x", "client_request_id": new_id(),
            "author": format!("agent by {said}"),
        });
        let path = format!("/debates/{}/arguments", debate.id);
        let request = world.request(reqwest::Method::POST, &path).header("aw-via", *said);
        let written = Answer::to(request.json(&body)).await.created();
        assert_eq!(written["argument"]["via"], *kept, "{said}");
        assert_eq!(written["argument"]["author"], format!("agent by {said}"));
        newest = id(&written);
    }
    let request =
        world.request(reqwest::Method::POST, &format!("/debates/{}/intervention", debate.id));
    let stopped = Answer::to(request.header("aw-via", "cli").json(&json!({"author": ""}))).await;
    let stopped = stopped.created();
    assert_eq!(stopped["argument"]["via"], "cli");
    assert_eq!(stopped["argument"]["author"], Value::Null, "an empty label is none");
}
