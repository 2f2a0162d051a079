//! Permissions of signed-in callers at every page and form, in every state.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use reqwest::Method;
use serde_json::json;

use super::api::upgrading;
use super::grid::{Outcome, Row, check_in_every_state, rows};
use super::scene::{By, Scene, Who};
use crate::world::new_id;
use crate::world::page_client::PageClient;

/// A session whose token has ended is like no session. The last rows are routes of the API: pages use the
/// first five of them, and the others accept no session.
pub const GRID: &str = "
    GET  /                                                  >>>> ++ +++ +++ +++ +++
    GET  /needed                                            ???? ++ +++ +++ +++ +++
    GET  /new                                               >>>> ++ +-- --- --- ---
    POST /new                                               ???? ++ +-- --- --- ---
    POST /new                       with a document         ???? ++ +-- --- --- ---
    GET  /debate                                            >>>> ++ +++ +++ +++ +++
    GET  /debate/debates                                    >>>> ++ +++ +++ +++ +++
    GET  /debate/debates/{id}                               >>>> ++ +++ +++ +++ +++
    GET  /debate/{id}                                       >>>> ++ ++- ++- ++- ++-
    GET  /debate/{id}               that is none            >>>> 00 0-- 0-- 0-- 0--
    GET  /debate/{id}/text/{seq}                            >>>> ++ ++- ++- ++- ++-
    GET  /debate/{id}/rules                                 >>>> ++ ++- ++- ++- ++-
    GET  /debate/{id}/plan                                  >>>> ++ ++- ++- ++- ++-
    GET  /debate/{id}/rule                                  >>>> ++ +++ +++ +++ +++
    POST /debate/{id}/rule          RULING                  ???? ++ --- --- ++- ---
    POST /debate/{id}/rule          to look at first        ???? ++ --- --- ++- ---
    GET  /debate/{id}/stop                                  >>>> ++ +++ +++ +++ +++
    POST /debate/{id}/stop          INTERVENTION            ???? ++ --- --- ++- ---
    GET  /debate/{id}/delete                                >>>> ++ --- --- --- ---
    POST /debate/{id}/delete                                ???? ++ --- --- --- ---
    GET  /doc/{id}                  cited here              >>>> ++ ++- ++- ++- ++-
    GET  /doc/{id}                  cited there             >>>> ++ +-+ +-+ +-+ +-+
    GET  /doc/{id}                  cited nowhere           >>>> ++ +-- +-- +-- +--
    POST /preferences                                       ???? ++ +++ +++ +++ +++
    GET  /sign-in                                           ++++ ++ +++ +++ +++ +++
    POST /sign-in                                           ++++ ++ +++ +++ +++ +++
    GET  /sign-in/link                                      ++++ ++ +++ +++ +++ +++
    POST /sign-in/link                                      ++++ ++ +++ +++ +++ +++
    POST /sign-out                                          ???? ++ +++ +++ +++ +++
    GET  /assets/{folder}/{name}                            ++++ ++ +++ +++ +++ +++

    GET  /ws                        of this                 ???? ++ ++- ++- ++- ++-
    GET  /ws                        of all                  ???? ++ +++ +++ +++ +++
    GET  /debates/{id}/export                               ???? ++ ++- ++- ++- ++-
    GET  /debates/{id}/result                               ???? ++ ++- ++- ++- ++-
    PUT  /debates/{id}/seen                                 ???? ++ ++- ++- ++- ++-
    GET  /debates                                           ???? ?? ??? ??? ??? ???
    GET  /debates/{id}                                      ???? ?? ??? ??? ??? ???
    GET  /documents/{id}            cited here              ???? ?? ??? ??? ??? ???
    GET  /tokens                                            ???? ?? ??? ??? ??? ???
    GET  /openapi.json                                      ???? ?? ??? ??? ??? ???
    GET  /metrics                                           ???? ?? ??? ??? ??? ???
    POST /debates/{id}/ruling                               ???? ?? ??? ??? ??? ???
    POST /tokens                                            ???? ?? ??? ??? ??? ???
    POST /links                                             ???? ?? ??? ??? ??? ???
    POST /mcp                                               ???? ?? ??? ??? ??? ???
    DELETE /debates/{id}                                    ???? ?? ??? ??? ??? ???
";

check_in_every_state!(GRID, By::Browser, send);

#[test]
fn every_page_that_is_served_has_its_row() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/web/mod.rs");
    let source = fs::read_to_string(source).unwrap();
    let mut served = BTreeSet::new();
    for route in source.split(".route(\"").skip(1) {
        let (path, rest) = route.split_once('"').unwrap();
        let line = rest.lines().next().unwrap();
        for (call, method) in [("get(", "GET"), ("post(", "POST")] {
            if line.contains(call) {
                served.insert(format!("{method} {path}"));
            }
        }
    }
    assert!(served.len() > 15, "{served:?}");
    let rows: BTreeSet<String> =
        rows(GRID).iter().map(|row| format!("{} {}", row.how, row.path)).collect();
    let missing: Vec<&String> = served.difference(&rows).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

async fn send(scene: &Scene<'_>, row: &Row, who: Who) -> Outcome {
    let browser = scene.browser(who).await;
    let (path, method) = (path(scene, row, &browser), row.how.parse::<Method>().unwrap());
    let request = if method == Method::POST && row.is_form() {
        let fields = fields(row);
        let fields: Vec<(&str, &str)> =
            fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        browser.fills_in(&path, &fields)
    } else if row.path == "/ws" {
        upgrading(browser.visits(&path))
    } else if method == Method::POST {
        let request = scene.world.request(method, &path).header("cookie", &browser.cookies);
        request.header("content-type", "application/json").body("{}")
    } else if method == Method::PUT {
        let request = scene.world.request(method, &path).header("cookie", &browser.cookies);
        request.header("origin", &scene.world.url).json(&json!({"seq": 1}))
    } else {
        scene.world.request(method, &path).header("cookie", &browser.cookies)
    };
    let outcome = Outcome::of(request.send().await.unwrap()).await;
    let is_move = row.note == "RULING" || row.note == "INTERVENTION";
    match outcome {
        // The page is shown again with its text if the rules refuse the move.
        Outcome::Shown if is_move => Outcome::AgainstRules,
        Outcome::Shown => Outcome::Allowed,
        // Signing out redirects to the sign-in page.
        Outcome::SignIn if row.path == "/sign-out" => Outcome::Allowed,
        other => other,
    }
}

impl Row {
    /// Whether it is a form of a page.
    pub fn is_form(&self) -> bool {
        !matches!(self.path.as_str(), "/tokens" | "/links" | "/mcp")
            && !self.path.starts_with("/debates")
    }
}

/// The path of a row.
pub fn path(scene: &Scene<'_>, row: &Row, browser: &PageClient) -> String {
    let none = new_id();
    let id = match row.note.as_str() {
        "cited here" => &scene.cited_here,
        "cited there" => &scene.cited_there,
        "cited nowhere" => &scene.cited_nowhere,
        "that is none" => &none,
        _ => &scene.here,
    };
    let path = row.path.replace("{id}", id).replace("{seq}", "1");
    match path.as_str() {
        "/ws" if row.note == "of this" => format!("/ws?debate_id={id}"),
        "/sign-in/link" if row.how == "GET" => "/sign-in/link?code=aw_0123".to_owned(),
        "/assets/{folder}/{name}" => browser.page.after("rel=\"stylesheet\" href=\""),
        _ => path,
    }
}

/// The fields of a form, besides the CSRF token.
pub fn fields(row: &Row) -> Vec<(&'static str, String)> {
    let (text, own) = (|text: &str| text.to_owned(), new_id);
    match row.path.as_str() {
        "/new" => {
            let mut fields = vec![
                ("title", text("Another one?")),
                ("type", text("general_debate")),
                ("content", text("Yes.")),
                ("debate", own()),
                ("request", own()),
            ];
            if row.note == "with a document" {
                fields.push(("document", text("A plan.")));
            }
            fields
        }
        "/debate/{id}/rule" if row.note == "to look at first" => {
            vec![("words", text("So be it.")), ("do", text("preview"))]
        }
        "/debate/{id}/rule" => vec![("words", text("So be it.")), ("request", own())],
        "/debate/{id}/stop" => vec![("content", text("Stop.")), ("request", own())],
        "/preferences" => vec![("lang", text("en")), ("to", text("/new"))],
        "/sign-in" => vec![("token", text("not a token"))],
        "/sign-in/link" => vec![("code", text("not a code"))],
        _ => Vec::new(),
    }
}
