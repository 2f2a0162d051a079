//! Permissions of every token at every route of the API, in every state.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

use super::grid::{Outcome, Row, check_in_every_state, rows};
use super::scene::{By, Scene, TITLE, Who, by_administrator, world};
use crate::world::driver::{claim, opening_of, reply};
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
    GET    /debates/{id}/result                             ???? ++ ++- ++- ++- ++-
    GET    /debates/{id}/points                             ???? ++ ++- ++- ++- ++-
    GET    /debates/{id}/points/{point}                     ???? 00 00- 00- 00- 00-
    GET    /debates/{id}/purge                              ???? ++ --- --- --- ---
    POST   /debates/{id}/purge      that is none            ???? 00 --- --- --- ---
    GET    /debates/{id}/verify                             ???? ++ ++- ++- ++- ++-
    GET    /verify                                          ???? ++ --- --- --- ---
    GET    /projects                                        ???? ++ +++ +++ +++ +++
    GET    /resolve                                         ???? ++ +++ +++ +++ +++
    GET    /resolve                 of this                 ???? ++ ++0 ++0 ++0 ++0
    GET    /search                                          ???? ++ +++ +++ +++ +++
    PUT    /debates/{id}/seen                               ???? ++ ++- ++- ++- ++-
    PUT    /debates/{id}/seen       that is none            ???? 00 0-- 0-- 0-- 0--
    PUT    /debates/{id}/archive                            ???? ++ --- --- --- ---
    PUT    /debates/{id}/archive    that is none            ???? 00 --- --- --- ---

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
    POST   /debates/{id}/check      CLAIM as proposer       ???? ++ ++- --- --- ---
    POST   /debates/{id}/check      CLAIM as opponent       ???? ++ --- ++- --- ---
    POST   /debates/{id}/check      APPEAL                  ???? ++ ++- --- --- ---
    POST   /debates/{id}/check      RULING                  ???? ++ --- --- ++- ---

    GET    /debates/{id}/poll       as proposer             ???? ++ ++- --- --- ---
    GET    /debates/{id}/poll       as opponent             ???? ++ --- ++- --- ---
    GET    /debates/{id}/poll       as arbitrator           ???? ++ --- --- ++- ---
    GET    /debates/{id}/poll       as observer             ???? !! !!! !!! !!! !!!
    GET    /debates/{id}/wait       as proposer             ???? ++ ++- --- --- ---
    GET    /debates/{id}/wait       as opponent             ???? ++ --- ++- --- ---
    GET    /debates/{id}/wait       as arbitrator           ???? ++ --- --- ++- ---
    GET    /debates/{id}/wait       that is none            ???? 00 0-- --- --- ---
    PUT    /debates/{id}/presence   as proposer             ???? ++ ++- --- --- ---
    PUT    /debates/{id}/presence   as opponent             ???? ++ --- ++- --- ---
    PUT    /debates/{id}/presence   as arbitrator           ???? ++ --- --- ++- ---
    PUT    /debates/{id}/presence   as observer             ???? !! !!! !!! !!! !!!
    PUT    /debates/{id}/presence   that is none            ???? 00 0-- --- --- ---

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

check_in_every_state!(GRID, By::Token, send);

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

async fn send(scene: &Scene<'_>, row: &Row, who: Who) -> Outcome {
    let path = path(scene, row);
    if row.how == "SAYS" {
        return say(scene, row, who).await;
    }
    let method: Method = row.how.parse().unwrap();
    let mut request = scene.asks(who, method.clone(), &path).await;
    if row.path == "/ws" {
        request = upgrading(request);
    }
    if method == Method::POST || method == Method::PUT {
        request = request.json(&body(scene, row));
    }
    Outcome::of(request.send().await.unwrap()).await
}

/// Adds the headers of a WebSocket upgrade.
pub fn upgrading(request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
    request
        .header("connection", "upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==")
}

/// The path of a row.
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
    let mut path = row.path.replace("{id}", id).replace("{point}", "P1");
    if path.ends_with("/poll") || path.ends_with("/wait") {
        let role = row.note.strip_prefix("as ").unwrap_or("proposer");
        path += &format!("?role={role}&wait=0");
    }
    if path == "/search" {
        path += "?q=plan";
    }
    if path == "/resolve" && row.note == "of this" {
        path += &format!("?debate={}&argument=1", &debate[..8]);
    }
    if path == "/ws" && row.note != "of all" {
        path += &format!("?debate_id={debate}");
    }
    path
}

/// The body of a POST or a PUT.
pub fn body(scene: &Scene<'_>, row: &Row) -> Value {
    let role = row.note.rsplit(' ').next().unwrap();
    match row.path.rsplit('/').next().unwrap() {
        "debates" => opening_of(&new_id(), TITLE, "Motion"),
        "arguments" => claim(role, &scene.newest, "No."),
        "appeal" | "resolution" => reply(&scene.newest, "Whatever you say."),
        "ruling" => json!({"content": "So be it."}),
        "intervention" => json!({}),
        "check" => {
            let kind = row.note.split(' ').next().unwrap().to_lowercase();
            let target = (kind != "ruling").then_some(&scene.newest);
            json!({"move": kind, "role": role, "target_id": target, "content": "No."})
        }
        "presence" if row.note == "that is none" => json!({"role": "proposer", "label": "reads"}),
        "presence" => json!({"role": role, "label": "reads"}),
        "documents" | "versions" => json!({"summary": "Plan", "content": "Text"}),
        "tokens" if row.note.is_empty() => json!({"role": "observer"}),
        "tokens" => json!({"role": role}),
        "archive" => json!({"archived": true}),
        "purge" => json!({"confirm": true}),
        "seen" => json!({"seq": 1}),
        "links" => json!({"to": format!("/debate/{}", scene.here)}),
        other => panic!("what does {other} want?"),
    }
}

/// Opens a socket and sends a move of the arbitrator over it.
async fn say(scene: &Scene<'_>, row: &Row, who: Who) -> Outcome {
    let path = format!("/ws?debate_id={}", scene.here);
    let token = scene.token(who).await.map(|token| format!("Bearer {token}"));
    let lines: Vec<(&str, &str)> =
        token.iter().map(|token| ("authorization", token.as_str())).collect();
    let Ok(mut socket) = Socket::with(&scene.world.url, &path, &lines).await else {
        let request = upgrading(scene.asks(who, Method::GET, &path).await);
        return Outcome::of(request.send().await.unwrap()).await;
    };
    socket.hears("initial_state").await;
    let event = format!("submit_{}", row.note.to_lowercase());
    let data = json!({"debate_id": scene.here, "content": "So be it."});
    socket.says(&json!({"event": event, "data": data}).to_string()).await;
    loop {
        let message = socket.next().await;
        match message["event"].as_str().unwrap() {
            "presence" => {}
            "new_argument" => return Outcome::Allowed,
            "error" => {
                let error = &message["data"]["error"];
                let status = if error["code"] == "INVALID_INPUT" { 400 } else { 403 };
                return Outcome::refused(status, error);
            }
            other => return Outcome::Other(other.to_owned()),
        }
    }
}
