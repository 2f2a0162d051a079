//! Every error the server sends, with its whole body: what happened, to which thing, what to do next.

use aw::settings::{Guard, Limits};
use reqwest::Method;
use serde_json::{Value, json};

use super::raw_http;
use crate::world::driver::{claim, id};
use crate::world::{Answer, World, new_id, text};

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
    let mut body = claim("opponent", &debate.motion, "No.");
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
    let mut body = claim("opponent", &debate.motion, "No.");
    body["role"] = json!("judge");
    let judge = world.post(&format!("/debates/{}/arguments", debate.id), body).await;
    let error = judge.refused(400, "INVALID_INPUT");
    assert_eq!(error["message"], "`role` must be proposer or opponent, not \"judge\"");
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
        &world.post("/debates", again.clone()).await,
        400,
        &json!({
            "code": "INVALID_INPUT",
            "message": format!("the id {} is taken by another debate", debate.id),
            "suggestion": "Make a new id: aw debate generate-id",
            "field": "debate_id",
        }),
    );
    world.delete(&format!("/debates/{}", debate.id)).await.ok();
    let error = world.post("/debates", again.clone()).await.refused(400, "INVALID_INPUT");
    let message = format!("the id {} belonged to a debate that was deleted", debate.id);
    assert_eq!(error["message"], message);
    assert!(error["deleted_at"].is_string(), "{error}");
    let mut wrong = again;
    wrong["debate_id"] = json!("abc");
    let error = world.post("/debates", wrong).await.refused(400, "INVALID_INPUT");
    assert_eq!(error["suggestion"], "Make a new id: aw debate generate-id");
}

#[tokio::test]
async fn a_request_id_with_another_request_is_invalid_input() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let path = format!("/debates/{}/arguments", debate.id);
    let mut body = claim("opponent", &debate.motion, "No.");
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
        raw_http::send(&world, format!("{head}{body}").as_bytes()).await.refused(status, code);
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
    let error = raw_http::send(&world, head.as_bytes()).await.refused(413, "CONTENT_TOO_LARGE");
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
            "message": "this server requires a token, and none was sent",
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
            "message": "the request comes from another web site",
            "reason": "origin",
        }),
    );
}

#[tokio::test]
async fn the_loser_of_a_race_gets_the_winners_argument() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let mut first = claim("opponent", &debate.motion, "No.");
    first["author"] = json!("codex 0.166");
    let path = format!("/debates/{}/arguments", debate.id);
    let winner = world.post(&path, first).await.created();
    is(
        &world.post(&path, claim("opponent", &debate.motion, "No.")).await,
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
async fn a_refusal_in_a_closed_debate_suggests_no_wait() {
    let world = World::start().await;
    let debate = world.debate("Keep one SQLite file?").await;
    let target = id(&debate.claim("opponent", &debate.motion, "No.").await);
    debate.ask("resolution", &target, "Done.").await.created();
    let error = debate.try_claim("proposer", &target, "One more.").await;
    let error = error.refused(403, "ACTION_NOT_ALLOWED");
    assert_eq!(error["suggestion"], "The debate is closed: nothing more can be submitted");
    assert_eq!(error["current_state"], "CLOSED");
    assert_eq!(error["allowed_roles"], json!([]));
}

/// Every request that names a debate, with a body that suits it.
fn requests_of(debate: &str) -> Vec<(Method, String, Value)> {
    let ask = json!({"target_id": new_id(), "content": "x", "client_request_id": new_id()});
    let write = [
        ("/arguments", claim("opponent", &new_id(), "No.")),
        ("/appeal", ask.clone()),
        ("/resolution", ask),
        ("/ruling", json!({"content": "x"})),
        ("/intervention", json!({})),
    ];
    let read = ["", "?limit=3", "/poll?role=proposer", "/wait?role=opponent", "/export", "/result"];
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
async fn a_wrong_method_returns_the_allowed_ones() {
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
