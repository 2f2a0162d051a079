//! Permissions of every token at every MCP tool, in every state.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

use super::grid::{Outcome, Row, check_in_every_state, rows};
use super::scene::{ADMINISTRATOR, Bound, By, Scene, Who, world};
use crate::world::{World, new_id};

/// `CALL` is a tool, `CALL=role` one at `/mcp?role=…`; `READ` a resource, `TAKE` a prompt, `LIST` what
/// there is. Tools that are set up for no role are without the arbitrator's moves.
const GRID: &str = "
    CALL debate_create                                      ???? ++ +-- --- --- ---
    CALL debate_get_context                                 ???? ++ ++- ++- ++- ++-
    CALL debate_get_context         as opponent             ???? ++ --- ++- --- ---
    CALL debate_submit              CLAIM as proposer       ???? ++ ++- --- --- ---
    CALL debate_submit              CLAIM as opponent       ???? ++ --- ++- --- ---
    CALL debate_wait                as proposer             ???? ++ ++- --- --- ---
    CALL debate_wait                as opponent             ???? ++ --- ++- --- ---
    CALL debate_wait                as arbitrator           ???? ++ --- --- ++- ---
    CALL debate_appeal              APPEAL                  ???? ++ ++- --- --- ---
    CALL debate_request_completion  RESOLUTION              ???? ++ ++- --- --- ---
    CALL debate_points                                      ???? ++ ++- ++- ++- ++-
    CALL debate_result                                      ???? ++ ++- ++- ++- ++-
    CALL debate_list                                        ???? ++ +++ +++ +++ +++
    CALL debate_ruling              RULING                  ???? -- --- --- ++- ---
    CALL debate_intervention        INTERVENTION            ???? -- --- --- ++- ---
    CALL docs_create                                        ???? ++ +++ --- --- ---
    CALL docs_submit                cited here              ???? ++ ++- --- --- ---
    CALL docs_submit                cited there             ???? ++ +-+ --- --- ---
    CALL docs_submit                cited nowhere           ???? ++ +-- --- --- ---
    CALL docs_get                   cited here              ???? ++ ++- ++- ++- ++-
    CALL docs_get                   cited there             ???? ++ +-+ +-+ +-+ +-+
    CALL docs_get                   cited nowhere           ???? ++ +-- +-- +-- +--
    CALL docs_list                                          ???? ++ +++ +++ +++ +++
    CALL docs_diff                  cited here              ???? ++ ++- ++- ++- ++-
    CALL docs_diff                  cited there             ???? ++ +-+ +-+ +-+ +-+
    CALL docs_diff                  cited nowhere           ???? ++ +-- +-- +-- +--

    CALL=arbitrator debate_ruling       RULING              ???? ++ --- --- ++- ---
    CALL=arbitrator debate_intervention INTERVENTION        ???? ++ --- --- ++- ---
    CALL=arbitrator debate_submit       CLAIM as proposer   ???? -- --- --- --- ---
    CALL=arbitrator debate_list                             ???? ++ --- --- +++ ---
    CALL=proposer   debate_list                             ???? ++ +++ --- --- ---
    CALL=proposer   debate_submit       CLAIM as opponent   ???? -- --- --- --- ---
    CALL=opponent   debate_list                             ???? ++ --- +++ --- ---
    CALL=opponent   debate_create                           ???? -- --- --- --- ---
    CALL=observer   debate_list                             ???? !! !!! !!! !!! !!!

    READ aw://docs/{id}             cited here              ???? ++ ++- ++- ++- ++-
    READ aw://docs/{id}             cited there             ???? ++ +-+ +-+ +-+ +-+
    READ aw://docs/{id}             cited nowhere           ???? ++ +-- +-- +-- +--
    READ aw://debates/{id}/rules/proposer                   ???? ++ ++- --- --- ---
    READ aw://debates/{id}/rules/opponent                   ???? ++ --- ++- --- ---
    TAKE debate-proposer                                    ???? ++ ++- --- --- ---
    TAKE debate-opponent                                    ???? ++ --- ++- --- ---
    TAKE debate-arbitrator                                  ???? ++ --- --- ++- ---
    LIST tools/list                                         ???? ++ +++ +++ +++ +++
    LIST prompts/list                                       ???? ++ +++ +++ +++ +++
    LIST resources/list                                     ???? ++ +++ +++ +++ +++
    LIST initialize                                         ???? ++ +++ +++ +++ +++
";

check_in_every_state!(GRID, By::Token, send);

#[tokio::test]
async fn every_tool_that_is_listed_has_its_row() {
    let world = world().await;
    let mut listed = BTreeSet::new();
    for role in ["", "?role=proposer", "?role=opponent", "?role=arbitrator"] {
        let path = format!("/mcp{role}");
        let answer = ask(&world, &path, Some(ADMINISTRATOR), "tools/list", json!({})).await;
        let (_, answer) = answer.expect("the administrator may list");
        for tool in answer["result"]["tools"].as_array().unwrap() {
            listed.insert(tool["name"].as_str().unwrap().to_owned());
        }
    }
    let calls = rows(GRID).into_iter().filter(|row| row.how == "CALL").map(|row| row.path);
    assert_eq!(calls.collect::<BTreeSet<_>>(), listed);
}

#[tokio::test]
async fn a_token_is_shown_the_tools_of_its_role_and_no_others() {
    let reading = [
        "debate_get_context",
        "debate_points",
        "debate_result",
        "debate_list",
        "docs_get",
        "docs_list",
        "docs_diff",
    ];
    let proposing = ["debate_create", "debate_appeal", "debate_request_completion", "docs_create"];
    let roles: [(&str, &[&str]); 4] = [
        ("proposer", &["debate_wait", "debate_submit", "docs_submit"]),
        ("opponent", &["debate_wait", "debate_submit"]),
        ("arbitrator", &["debate_wait", "debate_ruling", "debate_intervention"]),
        ("observer", &[]),
    ];
    let world = world().await;
    let scene = Scene::with(&world, "AWAITING_PROPOSER").await;
    for (role, more) in roles {
        let mut own: BTreeSet<&str> = reading.iter().chain(more).copied().collect();
        own.extend(proposing.iter().filter(|_| role == "proposer"));
        for bound in [Bound::Free, Bound::Here, Bound::There] {
            let token = scene.token(Who::Seat(role, bound)).await;
            let answer = ask(&world, "/mcp", token.as_deref(), "tools/list", json!({})).await;
            let (_, answer) = answer.expect("a seat may ask");
            let listed = answer["result"]["tools"].as_array().unwrap().iter();
            let listed: BTreeSet<&str> =
                listed.map(|tool| tool["name"].as_str().unwrap()).collect();
            assert_eq!(listed, own, "{role}, {bound:?}");
        }
    }
}

async fn send(scene: &Scene<'_>, row: &Row, who: Who) -> Outcome {
    let (how, role) = row.how.split_once('=').unwrap_or((&row.how, ""));
    let path = if role.is_empty() { "/mcp".to_owned() } else { format!("/mcp?role={role}") };
    let (method, params) = match how {
        "CALL" => ("tools/call", json!({"name": row.path, "arguments": arguments(scene, row)})),
        "READ" => {
            let id = if row.note.is_empty() { &scene.here } else { document(scene, &row.note) };
            ("resources/read", json!({"uri": row.path.replace("{id}", id)}))
        }
        "TAKE" => {
            let arguments = json!({"debate_id": scene.here});
            ("prompts/get", json!({"name": row.path, "arguments": arguments}))
        }
        "LIST" if row.path == "initialize" => {
            let client = json!({"name": "a test", "version": "1"});
            let params = json!({
                "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client,
            });
            ("initialize", params)
        }
        "LIST" => (row.path.as_str(), json!({})),
        other => panic!("how to {other}?"),
    };
    let token = scene.token(who).await;
    let (status, answer) = match ask(scene.world, &path, token.as_deref(), method, params).await {
        Ok(answered) => answered,
        Err(refused) => return refused,
    };
    let result = &answer["result"];
    let error = if result["isError"] == true {
        &result["structuredContent"]["error"]
    } else if answer["error"].is_object() {
        &answer["error"]["data"]
    } else {
        return if status == 200 { Outcome::Allowed } else { Outcome::Other(answer.to_string()) };
    };
    let status = match error["code"].as_str().unwrap_or_default() {
        "INVALID_INPUT" => 400,
        "AUTH_FAILED" => 401,
        code if code.ends_with("NOT_FOUND") => 404,
        _ => 403,
    };
    if error["code"] == "FORBIDDEN" && answer.to_string().contains("SQLite") {
        return Outcome::Other(format!("leaked: {answer}"));
    }
    match Outcome::refused(status, error) {
        Outcome::Other(_) => Outcome::Other(answer.to_string()),
        outcome => outcome,
    }
}

/// The arguments of a tool.
fn arguments(scene: &Scene<'_>, row: &Row) -> Value {
    let role = row.note.rsplit(' ').next().unwrap();
    let (debate, target) = (&scene.here, &scene.newest);
    match row.path.as_str() {
        "debate_create" => json!({
            "debate_id": new_id(), "title": "Keep one SQLite file?", "type": "general_debate",
            "content": "Motion",
        }),
        "debate_get_context" if role.is_empty() => json!({"debate_id": debate}),
        "debate_points" | "debate_result" => json!({"debate_id": debate}),
        "debate_get_context" => json!({"debate_id": debate, "role": role}),
        "debate_wait" => json!({"debate_id": debate, "role": role, "deadline": 0}),
        "debate_submit" => {
            json!({"debate_id": debate, "role": role, "target_id": target, "content": "No."})
        }
        "debate_appeal" | "debate_request_completion" => {
            json!({"debate_id": debate, "target_id": target, "content": "Whatever you say."})
        }
        "debate_ruling" | "debate_intervention" => {
            json!({"debate_id": debate, "content": "So be it."})
        }
        "debate_list" | "docs_list" => json!({}),
        "docs_create" => json!({"summary": "Plan", "content": "Text"}),
        "docs_submit" => {
            let document = document(scene, &row.note);
            json!({"document_id": document, "summary": "Plan", "content": "Text"})
        }
        "docs_get" | "docs_diff" => json!({"document_id": document(scene, &row.note)}),
        other => panic!("what does {other} want?"),
    }
}

fn document<'a>(scene: &'a Scene<'_>, note: &str) -> &'a str {
    match note {
        "cited here" => &scene.cited_here,
        "cited there" => &scene.cited_there,
        "cited nowhere" => &scene.cited_nowhere,
        other => panic!("which is {other}?"),
    }
}

/// Calls MCP and returns the answer, or the outcome of an HTTP error.
pub async fn ask(
    world: &World,
    path: &str,
    token: Option<&str>,
    method: &str,
    params: Value,
) -> Result<(u16, Value), Outcome> {
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let mut request = world
        .request(Method::POST, path)
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2025-11-25")
        .json(&call);
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    let response = request.send().await.unwrap();
    if response.status() != 200 {
        return Err(Outcome::of(response).await);
    }
    let status = response.status().as_u16();
    let body = response.text().await.unwrap();
    // One object, or a stream of events of which the last is the answer.
    let last =
        body.lines().filter_map(|line| line.strip_prefix("data:")).rfind(|data| data.len() > 2);
    let answer = serde_json::from_str(last.unwrap_or(&body)).unwrap_or_else(|_| panic!("{body}"));
    Ok((status, answer))
}
