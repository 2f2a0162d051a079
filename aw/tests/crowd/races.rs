//! Races: many requests for the same thing at once.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::all_at_once;
use crate::world::driver::{claim, id, opening, opening_of, reply};
use crate::world::{Answer, World, new_id, text};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_forty_rivals_for_one_turn_one_wins_and_the_others_get_its_argument() {
    let world = World::start().await;
    for round in 1..=10 {
        let debate = world.debate(&format!("Round {round}")).await;
        let path = format!("/debates/{}/arguments", debate.id);
        let rivals = (0..40).map(|rival| {
            let content = format!("Rival {rival} was here first.");
            let body = claim("opponent", &debate.motion, &content);
            world.request(Method::POST, &path).json(&body)
        });
        let answers = all_at_once(rivals.collect()).await;
        let (won, lost): (Vec<_>, Vec<_>) =
            answers.into_iter().partition(|answer| answer.status == StatusCode::CREATED);
        assert_eq!(won.len(), 1);
        let winner = won.into_iter().next().unwrap().created()["argument"].take();
        assert_eq!(winner["seq"], 2);
        assert_eq!(lost.len(), 39);
        for answer in lost {
            let refused = answer.refused(403, "ACTION_NOT_ALLOWED");
            let last = &refused["last_argument"];
            assert_eq!(last["id"], winner["id"]);
            assert_eq!((&last["seq"], &last["role"]), (&json!(2), &json!("opponent")));
            assert_eq!(last["type"], "CLAIM");
            assert_eq!(refused["current_state"], "AWAITING_PROPOSER");
            assert_eq!(refused["allowed_roles"], json!(["proposer"]));
        }
        let arguments = debate.context().await["arguments"].take();
        assert_eq!(arguments, json!([winner]));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_sent_fifty_times_at_once_is_written_once() {
    let world = World::start().await;
    let debate = world.debate("Once?").await;
    let path = format!("/debates/{}/arguments", debate.id);
    let body = claim("opponent", &debate.motion, "Once.");
    let first = first_of_fifty(&world, &path, &body, "argument").await;
    assert_eq!(debate.context().await["arguments"], json!([first]));

    for (field, other) in [
        ("content", json!("Twice.")),
        ("role", json!("proposer")),
        ("target_id", first["id"].clone()),
    ] {
        let mut different = body.clone();
        different[field] = other;
        let refused = world.post(&path, different).await.refused(400, "INVALID_INPUT");
        assert_eq!(refused["field"], "client_request_id", "another {field}");
    }
    assert_eq!(debate.context().await["arguments"], json!([first]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resolution_sent_fifty_times_at_once_closes_once() {
    let world = World::start().await;
    let debate = world.debate("Done?").await;
    let claim = debate.claim("opponent", &debate.motion, "Done.").await;
    let body = reply(&id(&claim), "Agreed.");
    let path = format!("/debates/{}/resolution", debate.id);
    let first = first_of_fifty(&world, &path, &body, "argument").await;
    assert_eq!(first["type"], "RESOLUTION");
    let arguments = debate.context().await["arguments"].take();
    let kinds: Vec<_> = arguments.as_array().unwrap().iter().map(|a| text(&a["type"])).collect();
    assert_eq!(kinds, ["CLAIM", "RESOLUTION", "RULING"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_debate_created_fifty_times_at_once_is_one_debate() {
    let world = World::start().await;
    let body = opening("Once?");
    first_of_fifty(&world, "/debates", &body, "argument").await;
    assert_eq!(world.get("/debates").await.ok()["total"], 1);

    for (field, other) in [
        ("title", json!("Twice?")),
        ("motion_content", json!("Twice.")),
        ("debate_type", json!("coding_plan_debate")),
        ("resolution_policy", json!("arbitrator")),
        ("client_request_id", json!(new_id())),
    ] {
        let mut different = body.clone();
        different[field] = other;
        world.post("/debates", different).await.refused(400, "INVALID_INPUT");
    }
    assert_eq!(world.get("/debates").await.ok()["total"], 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_fifty_creates_with_one_id_and_different_requests_one_wins() {
    let world = World::start().await;
    let id = new_id();
    let rivals = (0..50).map(|rival| {
        let body = opening_of(&id, &format!("Rival {rival}"), "Mine.");
        world.request(Method::POST, "/debates").json(&body)
    });
    let answers = all_at_once(rivals.collect()).await;
    let (won, lost): (Vec<_>, Vec<_>) =
        answers.into_iter().partition(|answer| answer.status == StatusCode::CREATED);
    assert_eq!((won.len(), lost.len()), (1, 49));
    for answer in lost {
        answer.refused(400, "INVALID_INPUT");
    }
    let kept = world.get(&format!("/debates/{id}")).await.ok();
    assert_eq!(kept["debate"]["title"], won[0].body["data"]["debate"]["title"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_and_a_version_sent_fifty_times_at_once_are_kept_once() {
    let world = World::start().await;
    let body = json!({"summary": "The plan", "content": "1.", "client_request_id": new_id()});
    let kept = first_of_fifty(&world, "/documents", &body, "document_id").await;
    assert_eq!(world.get("/documents").await.ok()["total"], 1);
    let mut different = body;
    different["content"] = json!("2.");
    world.post("/documents", different).await.refused(400, "INVALID_INPUT");

    let path = format!("/documents/{}/versions", text(&kept));
    let body = json!({"summary": "Mended", "content": "2.", "client_request_id": new_id()});
    first_of_fifty(&world, &path, &body, "version").await;
    assert_eq!(world.get(&path).await.ok()["total"], 2);
    let mut different = body;
    different["content"] = json!("3.");
    world.post(&path, different).await.refused(400, "INVALID_INPUT");
    assert_eq!(world.get(&path).await.ok()["total"], 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_versions_submitted_at_once_are_all_kept() {
    let world = World::start().await;
    let body = json!({"summary": "The plan", "content": "Version of nobody"});
    let kept = world.post("/documents", body).await.created();
    let path = format!("/documents/{}/versions", text(&kept["document_id"]));
    let authors = (0..50).map(|author| {
        world.request(Method::POST, &path).json(&json!({
            "summary": format!("By {author}"), "content": format!("Version of {author}"),
            "client_request_id": new_id(),
        }))
    });
    let mut numbers = Vec::new();
    for (author, answer) in all_at_once(authors.collect()).await.into_iter().enumerate() {
        let number = answer.created()["version"].as_u64().unwrap();
        let path = format!("/documents/{}?version={number}", text(&kept["document_id"]));
        let read = world.get(&path).await.ok();
        assert_eq!(read["content"], format!("Version of {author}"));
        numbers.push(number);
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (2..=51).collect::<Vec<_>>());
}

/// Sends this fifty times at once. All are answered with the same `what`, which is returned, and
/// only one of them is not a replay.
async fn first_of_fifty(world: &World, path: &str, body: &Value, what: &str) -> Value {
    let copies = (0..50).map(|_| world.request(Method::POST, path).json(body));
    let answers = all_at_once(copies.collect()).await;
    let first = answers[0].body["data"][what].clone();
    assert!(!first.is_null(), "{}", answers[0].body);
    let mut written = 0;
    for answer in answers {
        let data = if answer.status == StatusCode::CREATED {
            written += 1;
            Answer::created(answer)
        } else {
            let data = answer.ok();
            assert_eq!(data["replayed"], true);
            data
        };
        assert_eq!(data[what], first);
    }
    assert_eq!(written, 1);
    first
}
