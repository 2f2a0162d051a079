//! Every endpoint of the server, with a valid request for it.
//!
//! The endpoints are the rows of the tables of seats, whose tests fail if a route has none.

use serde_json::{Value, json};

use crate::seats::grid::{Row, rows};
use crate::seats::scene::Scene;
use crate::seats::{api, pages};
use crate::world::World;
use crate::world::page_client::PageClient;

/// An endpoint and a request for it.
#[derive(Debug)]
pub struct Endpoint {
    /// A method, or `SAYS` for a message over a socket.
    pub how: String,
    pub path: String,
    /// Whether it is a page, which links from any site may lead to.
    pub is_page: bool,
    /// Whether it returns a page for people.
    pub is_document: bool,
    json: Option<Value>,
    fields: Option<Vec<(&'static str, String)>>,
    says: Option<Vec<String>>,
}

impl Endpoint {
    /// The request as an attempt for `attack.js`.
    pub fn attempt(&self, server: &str, attempt: usize, technique: &str) -> Value {
        let and = if self.path.contains('?') { '&' } else { '?' };
        json!({
            "attempt": attempt, "technique": technique, "url": format!("{server}{}{and}attempt={attempt}", self.path),
            "json": self.json.as_ref().map(Value::to_string), "fields": self.fields, "says": self.says,
        })
    }

    /// Whether both are the same request.
    fn is_same(&self, other: &Endpoint) -> bool {
        (&self.how, &self.path, &self.json) == (&other.how, &other.path, &other.json)
            && (&self.fields, &self.says) == (&other.fields, &other.says)
    }

    pub fn name(&self) -> String {
        format!("{} {}", self.how, self.path)
    }
}

/// Debates in different states.
pub struct Scenes<'a> {
    due: Vec<(&'static str, Scene<'a>)>,
    /// The debate to delete.
    doomed: Scene<'a>,
}

impl<'a> Scenes<'a> {
    pub async fn on(world: &'a World) -> Self {
        let mut due = Vec::new();
        for state in ["AWAITING_OPPONENT", "AWAITING_PROPOSER", "AWAITING_ARBITRATOR"] {
            due.push((state, Scene::with(world, state).await));
        }
        Scenes { due, doomed: Scene::with(world, "AWAITING_OPPONENT").await }
    }

    /// Every endpoint that some caller may use. Forms have the CSRF token of this browser, as if an
    /// attacker had guessed it.
    pub fn endpoints(&self, browser: &PageClient) -> Vec<Endpoint> {
        let of_api = rows(api::GRID).into_iter().map(|row| (row, false));
        let of_pages = rows(pages::GRID).into_iter().map(|row| (row, true));
        let mut endpoints: Vec<Endpoint> = Vec::new();
        for (row, is_pages) in of_api.chain(of_pages).filter(|(row, _)| row.opens()) {
            let endpoint = self.endpoint(&row, is_pages, browser);
            // Some rows differ in the caller only, and some endpoints are in both tables.
            if !endpoints.iter().any(|known| known.is_same(&endpoint)) {
                endpoints.push(endpoint);
            }
        }
        endpoints.push(tools());
        endpoints
    }

    fn endpoint(&self, row: &Row, of_pages: bool, browser: &PageClient) -> Endpoint {
        let scene = if row.how == "DELETE" || row.path.ends_with("/delete") {
            &self.doomed
        } else {
            let mut due = self.due.iter().filter(|(state, _)| row.is_accepted(state));
            &due.next().expect("every move is due somewhere").1
        };
        let is_post = row.how == "POST";
        let is_form = of_pages && is_post && row.is_form();
        let says = (row.how == "SAYS").then(|| {
            let event = format!("submit_{}", row.note.to_lowercase());
            let data = json!({"debate_id": scene.here, "content": "So be it."});
            vec![json!({"event": event, "data": data}).to_string()]
        });
        let path = if of_pages { pages::path(scene, row, browser) } else { api::path(scene, row) };
        let is_page = of_pages && row.is_form() && row.path != "/ws";
        let is_plain = path.starts_with("/assets/") || path.contains("/text/");
        Endpoint {
            how: row.how.clone(),
            is_page,
            is_document: is_page && row.path != "/needed" && !is_plain,
            path,
            json: ((is_post || row.how == "PUT") && !is_form && !of_pages)
                .then(|| api::body(scene, row)),
            fields: is_form.then(|| {
                let mut fields = pages::fields(row);
                fields.push(("csrf", browser.csrf.clone()));
                fields
            }),
            says,
        }
    }
}

/// The endpoint of the MCP tools.
fn tools() -> Endpoint {
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "docs_create", "arguments": {"summary": "Plan", "content": "Text"}},
    });
    Endpoint {
        how: "POST".to_owned(),
        path: "/mcp".to_owned(),
        is_page: false,
        is_document: false,
        json: Some(call),
        fields: None,
        says: None,
    }
}
