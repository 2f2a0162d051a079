//! The description of the API: its links lead somewhere, with what an answer really tells.

use std::collections::{BTreeMap, BTreeSet};

use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{World, new_id, text};

/// An operation by its id: where it is, and how it is described.
type Operations = BTreeMap<String, (String, Value)>;

async fn operations(world: &World) -> Operations {
    let description: Value = {
        let answer = world.request(Method::GET, "/openapi.json").send().await.unwrap();
        answer.json().await.unwrap()
    };
    let mut operations = BTreeMap::new();
    for (path, methods) in description["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let place = format!("{} {path}", method.to_uppercase());
            let id = text(&operation["operationId"]);
            let other = operations.insert(id.clone(), (place.clone(), operation.clone()));
            assert_eq!(other, None, "{place} shares the id {id}");
        }
    }
    operations
}

/// The links of an operation's answer with this status.
fn links<'a>(operations: &'a Operations, id: &str, status: &str) -> Vec<&'a Value> {
    let links = &operations[id].1["responses"][status]["links"];
    links.as_object().unwrap_or_else(|| panic!("{id} has no links")).values().collect()
}

#[tokio::test]
async fn every_link_leads_to_a_route_that_takes_its_parameters() {
    let operations = operations(&World::start().await).await;
    let mut led_to = BTreeSet::new();
    for (id, (place, operation)) in &operations {
        for (status, answer) in operation["responses"].as_object().unwrap() {
            for link in answer["links"].as_object().into_iter().flat_map(|links| links.values()) {
                let name = text(&link["operationId"]);
                let (_, target) = operations.get(&name).unwrap_or_else(|| panic!("{id}: {name}"));
                let known = target["parameters"].as_array().unwrap();
                for parameter in link["parameters"].as_object().unwrap().keys() {
                    let is_known = known.iter().any(|one| one["name"] == **parameter);
                    assert!(is_known, "{place} {status}: {name} takes no {parameter}");
                }
                led_to.insert(name);
            }
        }
    }
    // Whatever wants the id of something is led to by what tells of one.
    for (id, (place, _)) in operations.iter().filter(|(_, (place, _))| place.contains("{id}")) {
        assert!(led_to.contains(id), "nothing leads to {place}");
    }
}

#[tokio::test]
async fn every_link_finds_its_parameters_in_a_real_answer() {
    let world = World::start().await;
    let operations = operations(&world).await;
    let motion = json!({
        "debate_id": new_id(), "title": "Title", "debate_type": "general_debate",
        "motion_content": "Motion", "client_request_id": new_id(),
    });
    let kept = json!({"summary": "Plan", "content": "Text"});
    let opened = world.post("/debates", motion).await.body;
    let debate = format!("/debates/{}", text(&opened["data"]["debate"]["id"]));
    let claim = json!({
        "role": "opponent", "target_id": opened["data"]["argument"]["id"], "content": "No.",
        "client_request_id": new_id(),
    });
    let document = world.post("/documents", kept.clone()).await.body;
    let path = format!("/documents/{}", text(&document["data"]["document_id"]));
    for (id, status, answer) in [
        ("create_debate", "201", opened),
        ("claim", "201", world.post(&format!("{debate}/arguments"), claim).await.body),
        ("get_debate", "200", world.get(&debate).await.body),
        ("create_document", "201", document),
        ("add_version", "201", world.post(&format!("{path}/versions"), kept).await.body),
        ("get_document", "200", world.get(&path).await.body),
        ("create_token", "201", world.post("/tokens", json!({"role": "observer"})).await.body),
    ] {
        for link in links(&operations, id, status) {
            let fields = link["requestBody"].as_object().into_iter().flat_map(|body| body.values());
            for brought in link["parameters"].as_object().unwrap().values().chain(fields) {
                let pointer = brought.as_str().unwrap().strip_prefix("$response.body#").unwrap();
                let found = answer.pointer(pointer);
                let found = found.is_some_and(|found| found.is_string() || found.is_number());
                assert!(found, "{id}: {pointer} in {answer}");
            }
        }
    }
}
