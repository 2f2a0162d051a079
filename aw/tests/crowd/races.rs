//! Races: many requests for the same thing at once.

use reqwest::{Method, StatusCode};
use serde_json::json;

use super::all_at_once;
use crate::world::driver::claim;
use crate::world::{World, new_id, text};

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
    let copies = (0..50).map(|_| world.request(Method::POST, &path).json(&body));
    let answers = all_at_once(copies.collect()).await;
    let first = answers[0].body["data"]["argument"].clone();
    let (written, replayed): (Vec<_>, Vec<_>) =
        answers.into_iter().partition(|answer| answer.status == StatusCode::CREATED);
    assert_eq!(written.len(), 1);
    for answer in replayed {
        let data = answer.ok();
        assert_eq!((&data["replayed"], &data["argument"]), (&json!(true), &first));
    }
    assert_eq!(debate.context().await["arguments"], json!([first]));
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
