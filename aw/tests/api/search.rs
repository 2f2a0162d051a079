//! `/search`, wired to the record.

use reqwest::Method;
use serde_json::{Value, json};

use super::token_server::TokenServer;
use crate::world::{Answer, World, text};

async fn asked(world: &World, query: &[(&str, &str)]) -> Answer {
    Answer::to(world.request(Method::GET, "/search").query(query)).await
}

fn kinds(page: &Value) -> Vec<String> {
    page["hits"].as_array().unwrap().iter().map(|hit| text(&hit["kind"])).collect()
}

#[tokio::test]
async fn a_hit_says_where_it_stands_and_marks_its_words() {
    let world = World::start().await;
    let debate = world.debate("Charge retries").await;
    let claim = debate.claim("opponent", &debate.motion, "It <b>charges</b> twice.").await;
    let page = asked(&world, &[("q", "TWICE")]).await.ok();
    let hit = &page["hits"][0];
    assert_eq!((&page["next_before"], &page["is_complete"]), (&Value::Null, &json!(true)));
    for (field, value) in [
        ("kind", json!("argument")),
        ("debate_id", json!(debate.id)),
        ("debate_title", json!("Charge retries")),
        ("argument_id", claim["argument"]["id"].clone()),
        ("seq", json!(2)),
        ("type", json!("CLAIM")),
        ("role", json!("opponent")),
        ("document_id", Value::Null),
        ("version", Value::Null),
        ("created_at", claim["argument"]["created_at"].clone()),
    ] {
        assert_eq!(hit[field], value, "{field}");
    }
    assert_eq!(
        hit["snippet"],
        json!([
            {"text": "It <b>charges</b> ", "is_match": false},
            {"text": "twice", "is_match": true},
            {"text": ".", "is_match": false},
        ])
    );
    let kept = json!({"summary": "A budget", "content": "# Budget\n\nRetry once.", "author": "An"});
    let kept = world.post("/documents", kept).await.created();
    let page = asked(&world, &[("q", "retry budg")]).await.ok();
    assert_eq!(kinds(&page), ["document"]);
    let hit = &page["hits"][0];
    assert_eq!((&hit["document_id"], &hit["version"]), (&kept["document_id"], &json!(1)));
    assert_eq!((&hit["summary"], &hit["author"]), (&json!("A budget"), &json!("An")));
    let id = text(&kept["document_id"]);
    assert_eq!(kinds(&asked(&world, &[("q", &id[..13])]).await.ok())[0], "document");
}

#[tokio::test]
async fn pages_and_debates_can_be_chosen() {
    let world = World::start().await;
    for title in ["Common one", "Common two"] {
        world.debate(title).await;
    }
    let other = world.debate("Common three").await;
    let first = asked(&world, &[("q", "common"), ("limit", "2")]).await.ok();
    assert_eq!(kinds(&first).len(), 2);
    let next = text(&first["next_before"]);
    let query = [("q", "common"), ("limit", "100000"), ("before", next.as_str())];
    let second = asked(&world, &query).await.ok();
    assert_eq!(first["hits"].as_array().unwrap().len(), 2);
    assert!(second["hits"].as_array().unwrap().iter().all(|hit| hit != &first["hits"][0]));
    let within = asked(&world, &[("q", "common"), ("debate_id", &other.id)]).await.ok();
    assert!(within["hits"].as_array().unwrap().iter().all(|hit| hit["debate_id"] == other.id));
    assert!(!kinds(&within).is_empty());
}

#[tokio::test]
async fn a_search_without_words_or_with_too_many_is_refused() {
    let world = World::start().await;
    world.debate("Anything").await;
    let long = "word ".repeat(2_000);
    let many: String = (0..33).map(|number| format!("w{number} ")).collect();
    let control = "a\0b";
    for q in ["", "  ", "\"*' -- :^", "\u{301}", long.as_str(), many.as_str(), control] {
        let error = asked(&world, &[("q", q)]).await.refused(400, "INVALID_INPUT");
        assert_eq!(error["field"], "q", "{q:?}");
    }
    let page = world.request(Method::GET, "/").header("accept", "text/html").query(&[("q", many)]);
    assert_eq!(page.send().await.unwrap().status(), 200, "the page shows the titles that match");
    world.get("/search").await.refused(400, "INVALID_INPUT");
    for (name, value) in
        [("before", "x"), ("before", "-1"), ("limit", "many"), ("debate_id", "x y")]
    {
        let error = asked(&world, &[("q", "any"), (name, value)]).await;
        assert!(matches!(error.status.as_u16(), 400 | 404), "{name}={value}");
    }
    let gone = crate::world::new_id();
    asked(&world, &[("q", "any"), ("debate_id", &gone)]).await.refused(404, "DEBATE_NOT_FOUND");
    let controls = asked(&world, &[("q", "any\u{7}\u{1b}[31m")]).await.ok();
    assert_eq!(kinds(&controls), [""; 0]);
}

#[tokio::test]
async fn a_token_of_one_debate_finds_only_that_debate() {
    let server = TokenServer::start().await;
    let (own, _) = server.debate("Own needle").await;
    let (other, motion) = server.debate("Other needle").await;
    server.post("/documents", json!({"summary": "Foreign needle", "content": "needle"})).await;
    let (token, _) = server.seat(json!({"role": "opponent", "debate_id": own})).await;
    let (observer, _) = server.seat(json!({"role": "observer"})).await;
    let search = async |token: &str, query: &str| {
        server.ask(token, Method::GET, &format!("/search?{query}"), Value::Null).await
    };
    let found = search(&token, "q=needle").await.ok();
    let found = found["hits"].as_array().unwrap();
    assert!(!found.is_empty() && found.iter().all(|hit| hit["debate_id"] == own), "{found:?}");
    for id in [&other, &motion] {
        assert_eq!(search(&token, &format!("q={id}")).await.ok()["hits"], json!([]));
    }
    search(&token, &format!("q=needle&debate_id={other}")).await.refused(403, "FORBIDDEN");
    assert_eq!(search(&observer, "q=needle").await.ok()["hits"].as_array().unwrap().len(), 5);
    search("wrong", "q=needle").await.refused(401, "AUTH_FAILED");
}
