//! What each person has seen of a debate, wired to the record.

use reqwest::Method;
use serde_json::{Value, json};

use super::token_server::TokenServer;
use crate::world::{Answer, World};

async fn put(world: &World, path: &str) -> Answer {
    Answer::to(world.request(Method::PUT, path).json(&json!({"seq": 1}))).await
}

#[tokio::test]
async fn a_caller_with_a_token_has_marks_of_its_own() {
    let server = TokenServer::start().await;
    let (debate, motion) = server.debate("Unread").await;
    server.claim(&debate, &motion, "No.").await;
    let (token, _) = server.seat(json!({"role": "observer"})).await;
    let path = format!("/debates/{debate}");
    let put = async |token: &str, body: Value| {
        server.ask(token, Method::PUT, &format!("{path}/seen"), body).await
    };
    for (seq, seen) in [(1, 1), (0, 1), (7, 2), (1, 2)] {
        let answer = put(&token, json!({"seq": seq})).await.ok();
        assert_eq!(answer, json!({"seen": seen}), "{seq}");
    }
    for (token, seen) in [(token.as_str(), 2), ("secret", 0)] {
        let list = server.ask(token, Method::GET, "/debates", Value::Null).await.ok();
        assert_eq!(list["debates"][0]["seen"], seen);
        let context = server.ask(token, Method::GET, &path, Value::Null).await.ok();
        assert_eq!(context["seen"], seen);
    }
    for body in [json!({}), json!({"seq": -1}), json!({"seq": "x"}), json!({"seq": 1.5})] {
        put(&token, body).await.refused(400, "INVALID_INPUT");
    }
    let (other, _) = server.debate("Other").await;
    let (bound, _) = server.seat(json!({"role": "opponent", "debate_id": other})).await;
    put(&bound, json!({"seq": 1})).await.refused(403, "FORBIDDEN");
}

#[tokio::test]
async fn the_server_keeps_no_marks_for_a_caller_without_a_token() {
    let world = World::start().await;
    let debate = world.debate("Unread").await;
    let path = format!("/debates/{}/seen", debate.id);
    let answer = put(&world, &path).await.ok();
    assert_eq!(answer, json!({"seen": null}));
    let list = world.get("/debates").await.ok();
    assert_eq!(list["debates"][0].get("seen"), None);
    assert_eq!(debate.context().await.get("seen"), None);
    let gone = format!("/debates/{}/seen", crate::world::new_id());
    put(&world, &gone).await.refused(404, "DEBATE_NOT_FOUND");
}
