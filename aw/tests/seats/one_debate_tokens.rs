//! A token for one debate sees nothing of the others.

use reqwest::Method;
use serde_json::{Value, json};

use super::scene::{
    ADMINISTRATOR, Books, Bound, STATES, Scene, TITLE, Who, by, by_administrator, keep, seat, world,
};
use super::tools::ask;
use crate::world::driver::{claim, opening_of};
use crate::world::{Answer, Socket, World, new_id, text};

/// The roles that can be bound.
const ROLES: [&str; 4] = ["proposer", "opponent", "arbitrator", "observer"];

async fn list(world: &World, token: &str, query: &str) -> Value {
    by(world, token, Method::GET, &format!("/debates?{query}"), None).await.ok()
}

#[tokio::test]
async fn a_list_has_the_one_debate_with_every_filter() {
    let world = world().await;
    let scene = Scene::with(&world, "AWAITING_PROPOSER").await;
    // Others in every state, so that every filter would have something to show.
    for state in STATES {
        Scene::with(&world, state).await;
    }
    let all = list(&world, ADMINISTRATOR, "").await;
    let all = all["debates"].as_array().unwrap().iter().map(|debate| text(&debate["id"]));
    let others: Vec<String> = all.filter(|id| *id != scene.here).collect();
    assert_eq!(others.len(), 11);
    for role in ROLES {
        let token = scene.token(Who::Seat(role, Bound::Here)).await.unwrap();
        let mut found = 0;
        for query in [
            "",
            "limit=500",
            "q=SQLite",
            "q=s",
            "q=zz",
            "state=AWAITING_PROPOSER",
            "state=AWAITING_OPPONENT",
            "state=AWAITING_ARBITRATOR",
            "state=INTERVENTION_PENDING",
            "state=CLOSED",
            "type=general_debate",
            "type=coding_plan_debate",
            "needs_arbitrator=true",
            "pending_first_opponent=true",
            "before=2100-01-01T00:00:00.000Z",
            "archived=true",
            "outcome=open",
            "since=2020-01-01T00:00:00.000Z",
            "project_first=0123abcd",
            "offset=1",
            "limit=0",
        ] {
            let page = list(&world, &token, query).await;
            let debates = page["debates"].as_array().unwrap();
            assert!(debates.iter().all(|debate| debate["id"] == scene.here), "{role} {query}");
            assert!(page["total"].as_u64().unwrap() <= 1, "{role} {query}: {}", page["total"]);
            found += debates.len();
        }
        assert!(found >= 6, "{role} finds its own: {found}");
        let (_, listed) = ask(
            &world,
            "/mcp",
            Some(&token),
            "tools/call",
            json!({"name": "debate_list", "arguments": {}}),
        )
        .await
        .unwrap_or_else(|outcome| panic!("{outcome:?}"));
        let listed = listed.to_string();
        assert!(listed.contains(&scene.here), "{role}");
        assert!(!others.iter().any(|other| listed.contains(other)), "{role}");

        let browser = scene.browser(Who::Seat(role, Bound::Here)).await;
        for path in ["/", "/?state=CLOSED", "/?q=SQLite", "/?state=needed", "/needed"] {
            let page = browser.visits(path).send().await.unwrap().text().await.unwrap();
            assert!(!others.iter().any(|other| page.contains(other)), "{role} {path}");
        }
    }
}

#[tokio::test]
async fn a_feed_sends_only_the_one_debate() {
    let world = world().await;
    let scene = Scene::with(&world, "AWAITING_OPPONENT").await;
    let token = scene.token(Who::Seat("observer", Bound::Here)).await.unwrap();
    let header = format!("Bearer {token}");
    let mut feed = Socket::with(&world.url, "/ws", &[("authorization", &header)]).await.unwrap();
    // Another debate is opened, changed, polled and deleted; then this one changes.
    let other = new_id();
    let opened =
        by_administrator(&world, Method::POST, "/debates", Some(opening_of(&other, TITLE, "M")));
    let target = text(&opened.await.created()["argument"]["id"]);
    let claim = claim("opponent", &target, "No.");
    let path = format!("/debates/{other}/arguments");
    by_administrator(&world, Method::POST, &path, Some(claim)).await.created();
    let path = format!("/debates/{other}/poll?role=opponent");
    by_administrator(&world, Method::GET, &path, None).await.ok();
    by_administrator(&world, Method::DELETE, &format!("/debates/{other}"), None).await.ok();
    let path = format!("/debates/{}/intervention", scene.here);
    by_administrator(&world, Method::POST, &path, Some(json!({}))).await.created();
    let message = feed.next().await;
    assert_eq!(message["event"], "debate_updated", "{message}");
    assert_eq!(message["data"]["debate"]["id"], scene.here);
}

#[tokio::test]
async fn a_token_sees_documents_that_its_debate_cites_or_that_it_wrote() {
    let world = world().await;
    let scene = Scene::with(&world, "AWAITING_PROPOSER").await;
    let proposer = scene.token(Who::Seat("proposer", Bound::Here)).await.unwrap();
    let again = seat(&world, json!({"role": "proposer", "debate_id": scene.here})).await;
    let again = text(&again["token"]);
    let opponent = scene.token(Who::Seat("opponent", Bound::Here)).await.unwrap();
    let elsewhere = scene.token(Who::Seat("opponent", Bound::There)).await.unwrap();

    let body = json!({"summary": "My own plan", "content": "one"});
    let kept = by(&world, &proposer, Method::POST, "/documents", Some(body)).await.created();
    let own = text(&kept["document_id"]);
    let path = format!("/documents/{own}");
    by(&world, &proposer, Method::GET, &path, None).await.ok();
    let next = json!({"summary": "My own plan", "content": "two"});
    let versions = format!("{path}/versions");
    by(&world, &proposer, Method::POST, &versions, Some(next)).await.created();
    for other in [&again, &opponent, &elsewhere] {
        let error = by(&world, other, Method::GET, &path, None).await.refused(403, "FORBIDDEN");
        assert!(!error.to_string().contains("plan"));
        assert!(!found(&world, other, "").await.contains(&own));
        assert!(!found(&world, other, "q=plan").await.contains(&own));
        assert!(!found(&world, other, "q=pl").await.contains(&own));
    }
    assert!(found(&world, &proposer, "").await.contains(&own));
    assert!(found(&world, &proposer, "q=plan").await.contains(&own));

    let claim = claim("proposer", &scene.newest, &format!("See doc_id={own} (v2)."));
    let arguments = format!("/debates/{}/arguments", scene.here);
    by(&world, &proposer, Method::POST, &arguments, Some(claim)).await.created();
    for other in [&again, &opponent] {
        let seen = by(&world, other, Method::GET, &path, None).await.ok();
        assert_eq!(seen["content"], "two");
        assert!(found(&world, other, "q=plan").await.contains(&own));
    }
    by(&world, &elsewhere, Method::GET, &path, None).await.refused(403, "FORBIDDEN");

    // Deletion does not widen its access.
    by_administrator(&world, Method::DELETE, &path, None).await.ok();
    let deleted = format!("{path}?include_deleted=true");
    by(&world, &opponent, Method::GET, &deleted, None).await.ok();
    by(&world, &elsewhere, Method::GET, &deleted, None).await.refused(403, "FORBIDDEN");
    assert!(!found(&world, &elsewhere, "include_deleted=true").await.contains(&own));
    assert!(found(&world, &opponent, "include_deleted=true").await.contains(&own));
}

/// The documents that a token finds.
async fn found(world: &World, token: &str, query: &str) -> Vec<String> {
    let page = by(world, token, Method::GET, &format!("/documents?{query}"), None).await.ok();
    let documents = page["documents"].as_array().unwrap();
    assert_eq!(page["total"].as_u64().unwrap() as usize, documents.len(), "{page}");
    documents.iter().map(|document| text(&document["document_id"])).collect()
}

#[tokio::test]
async fn a_token_cannot_cite_a_document_that_it_may_not_see() {
    let world = world().await;
    let books = Books::of(&world);
    let moves = [
        ("AWAITING_OPPONENT", "opponent", "arguments"),
        ("AWAITING_PROPOSER", "proposer", "arguments"),
        ("AWAITING_PROPOSER", "proposer", "appeal"),
        ("AWAITING_PROPOSER", "proposer", "resolution"),
        ("AWAITING_ARBITRATOR", "arbitrator", "ruling"),
        ("AWAITING_OPPONENT", "arbitrator", "intervention"),
    ];
    for (state, role, last) in moves {
        let scene = Scene::with(&world, state).await;
        let token = scene.token(Who::Seat(role, Bound::Here)).await.unwrap();
        let path = format!("/debates/{}/{last}", scene.here);
        let hidden = keep(&world, "deleted since").await;
        by_administrator(&world, Method::DELETE, &format!("/documents/{hidden}"), None).await.ok();
        let says = |content: String| claim(role, &scene.newest, &content);
        for foreign in [&scene.cited_there, &scene.cited_nowhere, &hidden] {
            for words in [
                format!("doc_id={foreign} (v1)"),
                format!("Look into {} please", foreign.to_uppercase()),
                format!("doc_id={} and doc_id={foreign}", scene.cited_here),
                format!("[the plan](/doc/{foreign}?version=1)"),
            ] {
                let before = books.read();
                let body = Some(says(words.clone()));
                let answer = by(&world, &token, Method::POST, &path, body).await;
                let error = answer.refused(403, "FORBIDDEN");
                assert_eq!(error["reason"], "role", "{words}");
                assert_eq!(books.read(), before, "{words}");
                let document = format!("/documents/{foreign}?include_deleted=true");
                by(&world, &token, Method::GET, &document, None).await.refused(403, "FORBIDDEN");
            }
        }
        // Ids of arguments and debates, and unknown ids, are no documents.
        let words = format!(
            "As argument {} of debate {} says, not {}: doc_id={} (v1)",
            scene.newest,
            scene.there,
            new_id(),
            scene.cited_here
        );
        by(&world, &token, Method::POST, &path, Some(says(words))).await.created();
    }
}

#[tokio::test]
async fn a_token_for_all_debates_may_cite_any_document() {
    let world = world().await;
    let scene = Scene::with(&world, "AWAITING_OPPONENT").await;
    let token = scene.token(Who::Seat("opponent", Bound::Free)).await.unwrap();
    let words = format!("doc_id={} (v1)", scene.cited_nowhere);
    let claim = claim("opponent", &scene.newest, &words);
    let path = format!("/debates/{}/arguments", scene.here);
    by(&world, &token, Method::POST, &path, Some(claim)).await.created();
}

#[tokio::test]
async fn unknown_and_forbidden_ids_get_the_same_error() {
    let world = world().await;
    let scene = Scene::with(&world, "AWAITING_OPPONENT").await;
    for role in ROLES {
        let token = scene.token(Who::Seat(role, Bound::Here)).await.unwrap();
        let none = new_id();
        for path in
            ["/debates/{id}", "/debates/{id}/export", "/debates/{id}/result", "/debates/{id}/type"]
        {
            let refused = async |id: &str| {
                let path = path.replace("{id}", id);
                let error = by(&world, &token, Method::GET, &path, None).await;
                error.refused(403, "FORBIDDEN").to_string().replace(id, "{id}")
            };
            assert_eq!(refused(&scene.there).await, refused(&none).await, "{role} {path}");
        }
        for path in ["/documents/{id}", "/documents/{id}/versions", "/documents/{id}/diff"] {
            let refused = async |id: &str| {
                let path = path.replace("{id}", id);
                let error = by(&world, &token, Method::GET, &path, None).await;
                error.refused(403, "FORBIDDEN").to_string().replace(id, "{id}")
            };
            assert_eq!(refused(&scene.cited_there).await, refused(&none).await, "{role} {path}");
        }
    }
}

#[tokio::test]
async fn a_token_for_a_deleted_debate_sees_nothing() {
    let world = world().await;
    let scene = Scene::with(&world, "AWAITING_OPPONENT").await;
    for role in ROLES {
        scene.token(Who::Seat(role, Bound::Here)).await;
    }
    by_administrator(&world, Method::DELETE, &format!("/debates/{}", scene.here), None).await.ok();
    for role in ROLES {
        let token = scene.token(Who::Seat(role, Bound::Here)).await.unwrap();
        assert_eq!(list(&world, &token, "").await["total"], 0);
        let own = format!("/debates/{}", scene.here);
        by(&world, &token, Method::GET, &own, None).await.refused(404, "DEBATE_NOT_FOUND");
        let other = format!("/debates/{}", scene.there);
        by(&world, &token, Method::GET, &other, None).await.refused(403, "FORBIDDEN");
    }
    let again = json!({"role": "observer", "debate_id": scene.here});
    let made = by_administrator(&world, Method::POST, "/tokens", Some(again)).await;
    made.refused(404, "DEBATE_NOT_FOUND");
}

#[tokio::test]
async fn an_argument_is_signed_with_the_name_of_its_token() {
    let world = world().await;
    let scene = Scene::with(&world, "AWAITING_ARBITRATOR").await;
    let made = seat(&world, json!({"role": "arbitrator", "name": "An's agent"})).await;
    let body = json!({
        "content": "So be it.", "author": "administrator", "seat": "administrator",
        "via": "page", "role": "proposer", "automatic": true,
    });
    let path = format!("/debates/{}/ruling", scene.here);
    let request = world.request(Method::POST, &path).header("aw-via", "page").json(&body);
    let ruled = Answer::to(request.bearer_auth(text(&made["token"]))).await.created();
    let argument = &ruled["argument"];
    assert_eq!(argument["seat"], "An's agent");
    assert_eq!(argument["via"], "api", "only a form of the page is a person's");
    assert_eq!(argument["role"], "arbitrator");
    assert_eq!(argument["automatic"], false);
    assert_eq!(argument["author"], "administrator", "a label is what its author says");
}
