//! The API: every token at every door in every state.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

use super::grid::{Came, Row, report, rows, walk};
use super::scene::{By, Scene, Who, answering, by_administrator, opening, world};
use crate::world::{Socket, new_id};

pub const GRID: &str = "
    GET    /health                                          ++++ ++ +++ +++ +++ +++
    GET    /metrics                                         ???? ++ +++ +++ +++ +++
    GET    /openapi.json                                    ???? ++ +++ +++ +++ +++
    GET    /nowhere                                         ???? 00 000 000 000 000

    GET    /debates                                         ???? ++ +++ +++ +++ +++
    POST   /debates                                         ???? ++ +-- --- --- ---
    GET    /debates/{id}                                    ???? ++ ++- ++- ++- ++-
    GET    /debates/{id}            that is none            ???? 00 0-- 0-- 0-- 0--
    DELETE /debates/{id}                                    ???? ++ --- --- --- ---
    GET    /debates/{id}/type                               ???? ++ ++- ++- ++- ++-
    GET    /debates/{id}/export                             ???? ++ ++- ++- ++- ++-
    GET    /debates/{id}/verify                             ???? ++ ++- ++- ++- ++-
    GET    /verify                                          ???? ++ --- --- --- ---
    GET    /debates/{id}/verify                             ???? ++ ++- ++- ++- ++-
    GET    /verify                                          ???? ++ --- --- --- ---

    POST   /debates/{id}/arguments  CLAIM as proposer       ???? ++ ++- --- --- ---
    POST   /debates/{id}/arguments  CLAIM as opponent       ???? ++ --- ++- --- ---
    POST   /debates/{id}/arguments  as arbitrator           ???? !! !!! !!! !!! !!!
    POST   /debates/{id}/arguments  as observer             ???? !! !!! !!! !!! !!!
    POST   /debates/{id}/appeal     APPEAL                  ???? ++ ++- --- --- ---
    POST   /debates/{id}/appeal     that is none            ???? 00 0-- --- --- ---
    POST   /debates/{id}/resolution RESOLUTION              ???? ++ ++- --- --- ---
    POST   /debates/{id}/ruling     RULING                  ???? ++ --- --- ++- ---
    POST   /debates/{id}/ruling     that is none            ???? 00 --- --- 0-- ---
    POST   /debates/{id}/intervention INTERVENTION          ???? ++ --- --- ++- ---

    GET    /debates/{id}/poll       as proposer             ???? ++ ++- --- --- ---
    GET    /debates/{id}/poll       as opponent             ???? ++ --- ++- --- ---
    GET    /debates/{id}/poll       as arbitrator           ???? ++ --- --- ++- ---
    GET    /debates/{id}/poll       as observer             ???? !! !!! !!! !!! !!!
    GET    /debates/{id}/wait       as proposer             ???? ++ ++- --- --- ---
    GET    /debates/{id}/wait       as opponent             ???? ++ --- ++- --- ---
    GET    /debates/{id}/wait       as arbitrator           ???? ++ --- --- ++- ---
    GET    /debates/{id}/wait       that is none            ???? 00 0-- --- --- ---

    GET    /documents                                       ???? ++ +++ +++ +++ +++
    POST   /documents                                       ???? ++ +++ --- --- ---
    GET    /documents/{id}          cited here              ???? ++ ++- ++- ++- ++-
    GET    /documents/{id}          cited there             ???? ++ +-+ +-+ +-+ +-+
    GET    /documents/{id}          cited nowhere           ???? ++ +-- +-- +-- +--
    GET    /documents/{id}          that is none            ???? 00 0-- 0-- 0-- 0--
    DELETE /documents/{id}          cited here              ???? ++ --- --- --- ---
    GET    /documents/{id}/versions cited here              ???? ++ ++- ++- ++- ++-
    GET    /documents/{id}/versions cited there             ???? ++ +-+ +-+ +-+ +-+
    GET    /documents/{id}/versions cited nowhere           ???? ++ +-- +-- +-- +--
    POST   /documents/{id}/versions cited here              ???? ++ ++- --- --- ---
    POST   /documents/{id}/versions cited there             ???? ++ +-+ --- --- ---
    POST   /documents/{id}/versions cited nowhere           ???? ++ +-- --- --- ---
    GET    /documents/{id}/diff     cited here              ???? ++ ++- ++- ++- ++-
    GET    /documents/{id}/diff     cited there             ???? ++ +-+ +-+ +-+ +-+
    GET    /documents/{id}/diff     cited nowhere           ???? ++ +-- +-- +-- +--

    GET    /ws                      of all                  ???? ++ +++ +++ +++ +++
    GET    /ws                      of this                 ???? ++ ++- ++- ++- ++-
    GET    /ws                      that is none            ???? 00 0-- 0-- 0-- 0--
    SAYS   /ws                      RULING                  ???? ++ --- --- ++- ---
    SAYS   /ws                      INTERVENTION            ???? ++ --- --- ++- ---

    GET    /tokens                                          ???? ++ --- --- --- ---
    POST   /tokens                                          ???? ++ --- --- --- ---
    POST   /tokens                  as judge                ???? !! !!! !!! !!! !!!
    DELETE /tokens/{id}                                     ???? ++ --- --- --- ---
    POST   /links                                           ???? ++ +++ +++ +++ +++
";

#[tokio::test]
async fn every_token_at_every_door_while_the_opponent_is_awaited() {
    holds("AWAITING_OPPONENT").await;
}

#[tokio::test]
async fn every_token_at_every_door_while_the_proposer_is_awaited() {
    holds("AWAITING_PROPOSER").await;
}

#[tokio::test]
async fn every_token_at_every_door_while_the_arbitrator_is_awaited() {
    holds("AWAITING_ARBITRATOR").await;
}

#[tokio::test]
async fn every_token_at_every_door_while_an_intervention_is_pending() {
    holds("INTERVENTION_PENDING").await;
}

#[tokio::test]
async fn every_token_at_every_door_of_a_closed_debate() {
    holds("CLOSED").await;
}

async fn holds(state: &str) {
    let cells = walk(GRID, state, By::Token, knock).await;
    report("the API", state, cells);
}

#[tokio::test]
async fn every_route_that_is_described_has_its_row() {
    let world = world().await;
    let description = by_administrator(&world, Method::GET, "/openapi.json", None).await.body;
    let mut described = BTreeSet::new();
    for (path, methods) in description["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            described.insert(format!("{} {path}", method.to_uppercase()));
        }
    }
    let besides = ["GET /openapi.json", "GET /nowhere", "SAYS /ws"];
    let doors = rows(GRID).iter().map(|row| format!("{} {}", row.how, row.path)).collect();
    let beside = |door: &String| !besides.contains(&door.as_str());
    let doors: BTreeSet<String> = BTreeSet::into_iter(doors).filter(beside).collect();
    assert_eq!(doors, described, "the grid has a row for every route, and for no other");
}

async fn knock(scene: &Scene<'_>, row: &Row, who: Who) -> Came {
    let path = path(scene, row);
    if row.how == "SAYS" {
        return say(scene, row, who).await;
    }
    let method: Method = row.how.parse().unwrap();
    let mut request = scene.asks(who, method.clone(), &path).await;
    if row.path == "/ws" {
        request = upgrading(request);
    }
    if method == Method::POST {
        request = request.json(&body(scene, row));
    }
    Came::of(request.send().await.unwrap()).await
}

/// The lines that ask for a socket.
pub fn upgrading(request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
    request
        .header("connection", "upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==")
}

/// Where a row is.
pub fn path(scene: &Scene<'_>, row: &Row) -> String {
    let none = new_id();
    let debate = if row.note == "that is none" { &none } else { &scene.here };
    let id = match (row.path.split('/').nth(1).unwrap(), row.note.as_str()) {
        ("tokens", _) => &scene.spare_seat,
        (_, "cited here") => &scene.cited_here,
        (_, "cited there") => &scene.cited_there,
        (_, "cited nowhere") => &scene.cited_nowhere,
        _ => debate,
    };
    let mut path = row.path.replace("{id}", id);
    if path.ends_with("/poll") || path.ends_with("/wait") {
        let role = row.note.strip_prefix("as ").unwrap_or("proposer");
        path += &format!("?role={role}&wait=0");
    }
    if path == "/ws" && row.note != "of all" {
        path += &format!("?debate_id={debate}");
    }
    path
}

/// What a POST brings.
pub fn body(scene: &Scene<'_>, row: &Row) -> Value {
    let role = row.note.rsplit(' ').next().unwrap();
    match row.path.rsplit('/').next().unwrap() {
        "debates" => opening(&new_id(), "Motion"),
        "arguments" => {
            let mut claim = answering(&scene.newest, "No.");
            claim["role"] = json!(role);
            claim
        }
        "appeal" | "resolution" => answering(&scene.newest, "Whatever you say."),
        "ruling" => json!({"content": "So be it."}),
        "intervention" => json!({}),
        "documents" | "versions" => json!({"summary": "Plan", "content": "Text"}),
        "tokens" if row.note.is_empty() => json!({"role": "observer"}),
        "tokens" => json!({"role": role}),
        "links" => json!({"to": format!("/debate/{}", scene.here)}),
        other => panic!("what does {other} want?"),
    }
}

/// Opens a socket, and says over it what only an arbitrator may say.
async fn say(scene: &Scene<'_>, row: &Row, who: Who) -> Came {
    let path = format!("/ws?debate_id={}", scene.here);
    let token = scene.token(who).await.map(|token| format!("Bearer {token}"));
    let lines: Vec<(&str, &str)> =
        token.iter().map(|token| ("authorization", token.as_str())).collect();
    let Ok(mut socket) = Socket::with(scene.world, &path, &lines).await else {
        let request = upgrading(scene.asks(who, Method::GET, &path).await);
        return Came::of(request.send().await.unwrap()).await;
    };
    socket.hears("initial_state").await;
    let event = format!("submit_{}", row.note.to_lowercase());
    let data = json!({"debate_id": scene.here, "content": "So be it."});
    socket.says(&json!({"event": event, "data": data}).to_string()).await;
    loop {
        let told = socket.next().await;
        match told["event"].as_str().unwrap() {
            "presence" => {}
            "new_argument" => return Came::In,
            "error" => {
                let error = &told["data"]["error"];
                let status = if error["code"] == "INVALID_INPUT" { 400 } else { 403 };
                return Came::refused(status, error);
            }
            other => return Came::Otherwise(other.to_owned()),
        }
    }
}
