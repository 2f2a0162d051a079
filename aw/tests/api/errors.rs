//! Every error the server sends, with its whole body: what happened, to which thing, what to do next.

use aw::settings::{Guard, Limits};
use reqwest::Method;
use serde_json::{Value, json};
use tokio_tungstenite::connect_async;

use super::by_hand;
use crate::world::{Answer, World, eventually, new_id, text};

const NOON: &str = "2026-01-01T00:00:00.000Z";
const LONG_TEXT: &str = "Keep long text in a document and cite it: aw docs create --summary \"...\" \
    --file PATH, then write a summary and doc_id=<document_id> (v1)";

/// The whole answer is this error with this status.
#[track_caller]
fn is(answer: &Answer, status: u16, error: &Value) {
    assert_eq!(answer.body, json!({"success": false, "error": error}));
    assert_eq!(answer.status.as_u16(), status);
    assert_eq!(answer.headers["content-type"], "application/json");
}

fn a_claim(target: &str) -> Value {
    json!({"role": "opponent", "target_id": target, "content": "No.", "client_request_id": new_id()})
}

#[tokio::test]
async fn invalid_input_names_the_field() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let not_an_id = world.get("/debates/93d81b1a").await;
    is(
        &not_an_id,
        400,
        &json!({
            "code": "INVALID_INPUT",
            "message": "`debate_id` must be a UUID such as 93d81b1a-0e66-4510-abfd-aa33b26cb82e, not \"93d81b1a\"",
            "suggestion": "See which there are: aw debate list",
            "field": "debate_id",
        }),
    );
    let mut body = a_claim(&debate.motion);
    body["role"] = json!("arbitrator");
    let not_a_role = world.post(&format!("/debates/{}/arguments", debate.id), body).await;
    is(
        &not_a_role,
        400,
        &json!({
            "code": "INVALID_INPUT",
            "message": "`role` must be proposer or opponent: the arbitrator rules or intervenes",
            "field": "role",
        }),
    );
    let missing = world.post("/debates", json!({"debate_id": new_id()})).await;
    is(
        &missing,
        400,
        &json!({
            "code": "INVALID_INPUT",
            "message": "the body cannot be read: missing field `title` at line 1 column 52",
            "suggestion": "See /openapi.json for the fields and their types",
            "field": "title",
        }),
    );
    let poll = world.get(&format!("/debates/{}/poll", debate.id)).await;
    is(
        &poll,
        400,
        &json!({
            "code": "INVALID_INPUT",
            "message": "`role` is missing: proposer, opponent or arbitrator",
            "field": "role",
        }),
    );
}

#[tokio::test]
async fn an_id_that_is_taken_is_invalid_input_and_says_how_to_make_another() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let again = json!({
        "debate_id": debate.id, "title": "Another", "debate_type": "general_debate",
        "motion_content": "Another", "client_request_id": new_id(),
    });
    is(
        &world.post("/debates", again).await,
        400,
        &json!({
            "code": "INVALID_INPUT",
            "message": format!("the id {} is taken by another debate", debate.id),
            "suggestion": "Make a new id: aw debate generate-id",
            "field": "debate_id",
        }),
    );
}

#[tokio::test]
async fn a_request_id_with_another_request_is_invalid_input() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let path = format!("/debates/{}/arguments", debate.id);
    let mut body = a_claim(&debate.motion);
    world.post(&path, body.clone()).await.created();
    body["content"] = json!("Yes.");
    is(
        &world.post(&path, body).await,
        400,
        &json!({
            "code": "INVALID_INPUT",
            "message": "this client_request_id was used for a different request",
            "suggestion": "Send the same request to retry it, or a new client_request_id to say something else",
            "field": "client_request_id",
        }),
    );
}

#[tokio::test]
async fn content_too_large_has_the_limit_and_points_at_documents() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let answer = debate.try_claim("opponent", &debate.motion, &"ế".repeat(4_000)).await;
    is(
        &answer,
        413,
        &json!({
            "code": "CONTENT_TOO_LARGE",
            "message": "`content` is 12000 bytes long, the limit is 10240",
            "suggestion": LONG_TEXT,
            "field": "content",
            "max_length": 10_240,
        }),
    );
}

#[tokio::test]
async fn a_body_over_the_limit_is_content_too_large() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let answer = debate.try_claim("opponent", &debate.motion, &"a".repeat(200_000)).await;
    let error = answer.refused(413, "CONTENT_TOO_LARGE");
    assert_eq!(
        error,
        json!({
            "code": "CONTENT_TOO_LARGE",
            "message": "the body is longer than 126976 bytes; a text in it may have 10240",
            "suggestion": LONG_TEXT,
            "max_length": 10_240,
        })
    );
}

#[tokio::test]
async fn a_client_that_sends_a_whole_body_can_read_why_it_was_refused() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let body = "x".repeat(4 << 20);
    let length = body.len();
    for (path, kind, status, code) in [
        (format!("/debates/{}/arguments", debate.id), "json", 413, "CONTENT_TOO_LARGE"),
        (format!("/debates/{}/arguments", debate.id), "text", 415, "UNSUPPORTED_MEDIA_TYPE"),
        ("/nowhere".to_owned(), "json", 404, "ROUTE_NOT_FOUND"),
    ] {
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
             content-type: application/{kind}\r\ncontent-length: {length}\r\n\r\n"
        );
        by_hand::send(&world, format!("{head}{body}").as_bytes()).await.refused(status, code);
    }
}

#[tokio::test]
async fn a_client_that_asks_before_it_sends_a_body_is_refused_before_it_sends_any() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let head = format!(
        "POST /debates/{}/arguments HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\nexpect: 100-continue\r\n\r\n",
        debate.id,
        4 << 20
    );
    let error = by_hand::send(&world, head.as_bytes()).await.refused(413, "CONTENT_TOO_LARGE");
    assert_eq!(error["max_length"], 10_240);
}

#[tokio::test]
async fn a_body_that_is_not_json_is_an_unsupported_media_type() {
    let world = World::start().await;
    let request = world.request(Method::POST, "/debates").body("debate_id=1");
    is(
        &Answer::to(request.header("content-type", "application/x-www-form-urlencoded")).await,
        415,
        &json!({
            "code": "UNSUPPORTED_MEDIA_TYPE",
            "message": "the body must be JSON",
            "suggestion": "Send the header Content-Type: application/json",
        }),
    );
}

#[tokio::test]
async fn a_missing_token_is_auth_failed() {
    let guard = Guard::sharing("secret");
    let world = World::with(guard, Limits::default()).await;
    is(
        &world.get("/debates").await,
        401,
        &json!({
            "code": "AUTH_FAILED",
            "message": "this server wants a token, and none was sent",
            "suggestion": "Send the header Authorization: Bearer <token>; for the aw command set DEBATE_AUTH_TOKEN",
        }),
    );
}

#[tokio::test]
async fn a_foreign_host_or_origin_is_forbidden_with_the_reason() {
    let world = World::start().await;
    let host = world.request(Method::GET, "/debates").header("host", "evil.test");
    is(
        &Answer::to(host).await,
        403,
        &json!({
            "code": "FORBIDDEN",
            "message": "the Host header names neither this machine's loopback nor a public URL of this server",
            "suggestion": "Call 127.0.0.1 or localhost, or start the server with AW_PUBLIC_URL set to this address",
            "reason": "host",
        }),
    );
    let origin = world.request(Method::GET, "/debates").header("origin", "https://evil.test");
    is(
        &Answer::to(origin).await,
        403,
        &json!({
            "code": "FORBIDDEN",
            "message": "requests of other web sites are not served",
            "reason": "origin",
        }),
    );
}

#[tokio::test]
async fn the_loser_of_a_race_learns_who_was_first() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let mut first = a_claim(&debate.motion);
    first["author"] = json!("codex 0.166");
    let path = format!("/debates/{}/arguments", debate.id);
    let winner = world.post(&path, first).await.created();
    is(
        &world.post(&path, a_claim(&debate.motion)).await,
        403,
        &json!({
            "code": "ACTION_NOT_ALLOWED",
            "message": "the floor belongs to the proposer (state AWAITING_PROPOSER), so the opponent cannot submit a CLAIM",
            "suggestion": format!("aw debate wait --debate-id {} --role opponent", debate.id),
            "current_state": "AWAITING_PROPOSER",
            "allowed_roles": ["proposer"],
            "last_argument": {
                "id": winner["argument"]["id"], "seq": 2, "role": "opponent", "type": "CLAIM",
                "parked": false, "author": "codex 0.166", "created_at": NOON,
            },
        }),
    );
}

#[tokio::test]
async fn each_refusal_of_the_rules_says_why() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let said = |answer: Answer| {
        let error = answer.refused(403, "ACTION_NOT_ALLOWED");
        assert!(error["last_argument"]["id"].is_string(), "{error}");
        (
            text(&error["message"]),
            text(&error["suggestion"]),
            text(&error["current_state"]),
            error["allowed_roles"].clone(),
        )
    };
    let wait = |role: &str| format!("aw debate wait --debate-id {} --role {role}", debate.id);
    let none_owed = said(debate.rule(json!({"content": "B"})).await);
    assert_eq!(
        none_owed,
        (
            "nothing awaits a RULING (state AWAITING_OPPONENT), so the arbitrator cannot submit one"
                .to_owned(),
            wait("arbitrator"),
            "AWAITING_OPPONENT".to_owned(),
            json!(["opponent"]),
        )
    );
    let claim = debate.claim("opponent", &debate.motion, "No.").await;
    let claim = text(&claim["argument"]["id"]);
    let appeal = debate.ask("appeal", &claim, "1. A 2. B").await.created();
    let appeal = text(&appeal["argument"]["id"]);
    let owed = said(debate.intervene().await);
    assert_eq!(
        owed.0,
        "a RULING is owed already (state AWAITING_ARBITRATOR), so the arbitrator cannot submit an INTERVENTION"
    );
    assert_eq!(owed.3, json!(["arbitrator"]));
    let other = said(debate.rule(json!({"content": "B", "target_id": claim})).await);
    assert_eq!(other.0, "the RULING is owed to the argument at seq 3, not to the one at seq 2");
    let waiting = said(debate.ask("appeal", &claim, "Again.").await);
    assert_eq!(
        waiting.0,
        "the floor belongs to the arbitrator (state AWAITING_ARBITRATOR), so the proposer cannot submit an APPEAL"
    );
    assert_eq!(waiting.1, wait("proposer"));

    debate.rule(json!({"content": "B"})).await.created();
    let late = said(debate.rule(json!({"content": "A", "target_id": appeal})).await);
    assert_eq!(late.0, "the argument at seq 3 was already ruled on, seq 4");
    assert_eq!(late.3, json!(["proposer"]));
    debate.ask("resolution", &claim, "Done.").await.created();
    let over = said(debate.try_claim("proposer", &claim, "One more.").await);
    assert_eq!(
        over,
        (
            "the debate is CLOSED, so the proposer cannot submit a CLAIM".to_owned(),
            "The debate is closed: nothing more can be submitted".to_owned(),
            "CLOSED".to_owned(),
            json!([]),
        )
    );
}

/// Every request that names a debate, with a body that suits it.
fn requests_of(debate: &str) -> Vec<(Method, String, Value)> {
    let ask = json!({"target_id": new_id(), "content": "x", "client_request_id": new_id()});
    let write = [
        ("/arguments", a_claim(&new_id())),
        ("/appeal", ask.clone()),
        ("/resolution", ask),
        ("/ruling", json!({"content": "x"})),
        ("/intervention", json!({})),
    ];
    let read = ["", "?limit=3", "/poll?role=proposer", "/wait?role=opponent", "/export"];
    let path = |rest: &str| format!("/debates/{debate}{rest}");
    let mut all = vec![(Method::DELETE, path(""), Value::Null)];
    all.extend(read.map(|rest| (Method::GET, path(rest), Value::Null)));
    all.extend(write.map(|(rest, body)| (Method::POST, path(rest), body)));
    all.push((Method::GET, format!("/ws?debate_id={debate}"), Value::Null));
    all
}

async fn answer_to(world: &World, (method, path, body): (Method, String, Value)) -> Answer {
    let request = world.request(method, &path);
    Answer::to(if body.is_null() { request } else { request.json(&body) }).await
}

#[tokio::test]
async fn an_unknown_debate_is_not_found_by_every_request() {
    let world = World::start().await;
    let unknown = new_id();
    for request in requests_of(&unknown) {
        is(
            &answer_to(&world, request).await,
            404,
            &json!({
                "code": "DEBATE_NOT_FOUND",
                "message": format!("there is no debate {unknown}"),
                "suggestion": "See which there are: aw debate list",
                "debate_id": unknown,
            }),
        );
    }
}

#[tokio::test]
async fn a_deleted_debate_is_not_found_by_any_request_and_says_since_when() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    world.delete(&format!("/debates/{}", debate.id)).await.ok();
    for request in requests_of(&debate.id) {
        is(
            &answer_to(&world, request).await,
            404,
            &json!({
                "code": "DEBATE_NOT_FOUND",
                "message": format!("debate {} was deleted", debate.id),
                "suggestion": "See which there are: aw debate list",
                "debate_id": debate.id,
                "deleted_at": NOON,
            }),
        );
    }
}

#[tokio::test]
async fn an_argument_of_no_or_another_debate_is_not_found() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let other = world.debate("Another").await;
    for unknown in [new_id(), other.motion.clone()] {
        let error = json!({
            "code": "ARGUMENT_NOT_FOUND",
            "message": format!("there is no argument {unknown} in this debate"),
            "suggestion": "Take the id from aw debate get-context or aw debate wait",
            "argument_id": unknown,
        });
        is(&debate.try_claim("opponent", &unknown, "No.").await, 404, &error);
        // The target is looked for before the state is judged.
        is(&debate.ask("appeal", &unknown, "No.").await, 404, &error);
        is(&debate.ask("resolution", &unknown, "No.").await, 404, &error);
        let ruling = debate.rule(json!({"content": "B", "target_id": unknown})).await;
        is(&ruling, 404, &error);
        is(&debate.poll("opponent", Some(&unknown)).await, 404, &error);
        is(&debate.wait("proposer", Some(&unknown), 30).await, 404, &error);
    }
}

/// Every request that names a document, with a body that suits it.
fn requests_of_document(document: &str) -> Vec<(Method, String, Value)> {
    let path = |rest: &str| format!("/documents/{document}{rest}");
    vec![
        (Method::GET, path(""), Value::Null),
        (Method::GET, path("?version=1"), Value::Null),
        (Method::GET, path("/versions"), Value::Null),
        (Method::GET, path("/diff"), Value::Null),
        (Method::DELETE, path(""), Value::Null),
        (Method::POST, path("/versions"), json!({"summary": "s", "content": "c"})),
    ]
}

#[tokio::test]
async fn an_unknown_document_is_not_found_by_every_request() {
    let world = World::start().await;
    let unknown = new_id();
    for request in requests_of_document(&unknown) {
        is(
            &answer_to(&world, request).await,
            404,
            &json!({
                "code": "DOCUMENT_NOT_FOUND",
                "message": format!("there is no document {unknown}"),
                "suggestion": "See which there are: aw docs list",
                "document_id": unknown,
            }),
        );
    }
}

#[tokio::test]
async fn a_deleted_document_is_not_found_by_any_request_and_says_since_when() {
    let world = World::start().await;
    let kept = world.post("/documents", json!({"summary": "s", "content": "c"})).await.created();
    let id = text(&kept["document_id"]);
    world.delete(&format!("/documents/{id}")).await.ok();
    for request in requests_of_document(&id) {
        is(
            &answer_to(&world, request).await,
            404,
            &json!({
                "code": "DOCUMENT_NOT_FOUND",
                "message": format!("document {id} was deleted"),
                "suggestion": "See which there are: aw docs list",
                "document_id": id,
                "deleted_at": NOON,
            }),
        );
    }
}

#[tokio::test]
async fn a_version_that_is_not_there_is_not_found_and_the_newest_is_named() {
    let world = World::start().await;
    let kept = world.post("/documents", json!({"summary": "s", "content": "c"})).await.created();
    let id = text(&kept["document_id"]);
    for (query, version) in [("?version=7", 7), ("?version=0", 0), ("/diff?from=1&to=9", 9)] {
        is(
            &world.get(&format!("/documents/{id}{query}")).await,
            404,
            &json!({
                "code": "VERSION_NOT_FOUND",
                "message": format!("document {id} has no version {version}; its newest is 1"),
                "suggestion": format!("aw docs get {id} --version 1"),
                "document_id": id,
                "version": version,
            }),
        );
    }
}

#[tokio::test]
async fn an_unknown_route_is_not_found() {
    let world = World::start().await;
    for (method, path) in [
        (Method::GET, "/nowhere"),
        (Method::POST, "/debates/x/y/z"),
        (Method::DELETE, "/documents/a/b/c"),
        (Method::GET, "/debates/"),
    ] {
        is(
            &Answer::to(world.request(method, path)).await,
            404,
            &json!({
                "code": "ROUTE_NOT_FOUND",
                "message": format!("there is nothing at {path}"),
                "suggestion": "See /openapi.json for every route",
            }),
        );
    }
}

#[tokio::test]
async fn a_wrong_method_is_told_which_are_allowed() {
    let world = World::start().await;
    let debate = format!("/debates/{}", new_id());
    for (method, path, allowed) in [
        (Method::PUT, "/debates".to_owned(), &["GET", "HEAD", "POST"][..]),
        (Method::PATCH, debate.clone(), &["DELETE", "GET", "HEAD"]),
        (Method::GET, format!("{debate}/arguments"), &["POST"]),
        (Method::GET, format!("{debate}/ruling"), &["POST"]),
        (Method::POST, format!("{debate}/poll"), &["GET", "HEAD"]),
        (Method::DELETE, "/documents".to_owned(), &["GET", "HEAD", "POST"]),
        (Method::POST, "/health".to_owned(), &["GET", "HEAD"]),
        (Method::POST, "/openapi.json".to_owned(), &["GET", "HEAD"]),
        (Method::OPTIONS, "/debates".to_owned(), &["GET", "HEAD", "POST"]),
    ] {
        let answer = Answer::to(world.request(method.clone(), &path)).await;
        is(
            &answer,
            405,
            &json!({
                "code": "METHOD_NOT_ALLOWED",
                "message": format!("{path} does not take {method}"),
                "suggestion": "See the Allow header, or /openapi.json",
            }),
        );
        let mut allow: Vec<&str> = answer.headers["allow"].to_str().unwrap().split(',').collect();
        allow.sort_unstable();
        assert_eq!(allow, allowed, "{path}");
    }
}

#[tokio::test]
async fn one_wait_too_many_is_told_to_come_again() {
    let limits = Limits { held_waits: 1, ..Limits::default() };
    let world = World::with(Guard::default(), limits).await;
    let debate = world.debate("Keep one SQLite file?").await;
    let story = async {
        eventually("one wait is held", async || world.held().await.0 == 1).await;
        let answer = debate.wait("proposer", None, 30).await;
        assert_eq!(answer.headers["retry-after"], "1");
        is(
            &answer,
            503,
            &json!({
                "code": "SERVER_BUSY",
                "message": "as many waits are held as this server takes on",
                "suggestion": "Try again in a second",
            }),
        );
        // Who does not want to wait is still answered, and so is everybody else.
        debate.poll("proposer", None).await.ok();
        debate.claim("opponent", &debate.motion, "No.").await;
    };
    let (held, ()) = tokio::join!(debate.wait("proposer", None, 30), story);
    assert_eq!(held.ok()["action"], "respond");
}

#[tokio::test]
async fn one_socket_too_many_is_told_to_come_again() {
    let limits = Limits { sockets: 1, ..Limits::default() };
    let world = World::with(Guard::default(), limits).await;
    let debate = world.debate("Keep one SQLite file?").await;
    let address = by_hand::address(&world);
    let url = format!("ws://{address}/ws?debate_id={}", debate.id);
    let (first, _) = connect_async(&url).await.unwrap();
    let handshake = format!(
        "GET /ws?debate_id={} HTTP/1.1\r\nhost: {address}\r\nconnection: close, upgrade\r\n\
         upgrade: websocket\r\nsec-websocket-version: 13\r\n\
         sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        debate.id
    );
    let answer = by_hand::send(&world, handshake.as_bytes()).await;
    assert!(answer.head.contains("\r\nretry-after: 1"), "{answer:?}");
    assert_eq!(
        answer.refused(503, "SERVER_BUSY"),
        json!({
            "code": "SERVER_BUSY",
            "message": "as many sockets are open as this server takes on",
            "suggestion": "Try again in a second",
        })
    );
    drop(first);
    eventually("the first socket is gone", async || world.held().await.1 == 0).await;
    connect_async(&url).await.unwrap();
}

#[tokio::test]
async fn one_connection_too_many_is_told_to_come_again() {
    let limits = Limits { connections: 1, ..Limits::default() };
    let world = World::with(Guard::default(), limits).await;
    // They are accepted in order, so the first has the only place.
    let _first = by_hand::connect(&world).await;
    let request = format!("GET /health HTTP/1.1\r\nhost: {}\r\n\r\n", by_hand::address(&world));
    let answer = by_hand::send(&world, request.as_bytes()).await;
    assert!(answer.head.contains("\r\nretry-after: 1"), "{answer:?}");
    let length = format!("\r\ncontent-length: {}", answer.body.len());
    assert!(answer.head.contains(&length), "{answer:?}");
    assert_eq!(
        answer.refused(503, "SERVER_BUSY"),
        json!({
            "code": "SERVER_BUSY",
            "message": "as many connections are open as this server takes on",
            "suggestion": "Try again in a second",
        })
    );
}
