//! Every door of the server, and what is brought there so that it would open.
//!
//! The doors are the rows of the tables of seats, which fail when a route has none.

use serde_json::{Value, json};

use crate::seats::grid::{Row, rows};
use crate::seats::page::Browser;
use crate::seats::scene::Scene;
use crate::seats::{api, pages};
use crate::world::World;

/// A door, and what is brought there.
#[derive(Debug)]
pub struct Door {
    /// A method, or `SAYS` for what is said over a socket.
    pub how: String,
    pub path: String,
    /// Whether it is a page, to which a link may lead from anywhere.
    pub is_page: bool,
    /// Whether what comes is drawn for people.
    pub is_document: bool,
    json: Option<Value>,
    fields: Option<Vec<(&'static str, String)>>,
    says: Option<Vec<String>>,
}

impl Door {
    /// What a page of an attacker needs to try it at this server, as a cell of the matrix.
    pub fn tried(&self, server: &str, cell: usize, means: &str) -> Value {
        let and = if self.path.contains('?') { '&' } else { '?' };
        json!({
            "cell": cell, "means": means, "url": format!("{server}{}{and}cell={cell}", self.path),
            "json": self.json.as_ref().map(Value::to_string), "fields": self.fields, "says": self.says,
        })
    }

    /// Whether the same is brought to the same place.
    fn is_same(&self, other: &Door) -> bool {
        (&self.how, &self.path, &self.json) == (&other.how, &other.path, &other.json)
            && (&self.fields, &self.says) == (&other.fields, &other.says)
    }

    /// How it is named in a complaint.
    pub fn name(&self) -> String {
        format!("{} {}", self.how, self.path)
    }
}

/// Debates in which some move is due, each with what belongs to it.
pub struct Scenes<'a> {
    due: Vec<(&'static str, Scene<'a>)>,
    /// What is there to be deleted.
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

    /// Every door that opens to somebody; forms carry the csrf of this browser, as if it had been guessed.
    pub fn doors(&self, browser: &Browser) -> Vec<Door> {
        let of_api = rows(api::GRID).into_iter().map(|row| (row, false));
        let of_pages = rows(pages::GRID).into_iter().map(|row| (row, true));
        let mut doors: Vec<Door> = Vec::new();
        for (row, is_pages) in of_api.chain(of_pages).filter(|(row, _)| row.opens()) {
            let door = self.door(&row, is_pages, browser);
            // Some rows differ in who may come in, and some doors are in both tables.
            if !doors.iter().any(|known| known.is_same(&door)) {
                doors.push(door);
            }
        }
        doors.push(tools());
        doors
    }

    fn door(&self, row: &Row, of_pages: bool, browser: &Browser) -> Door {
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
        Door {
            how: row.how.clone(),
            is_page,
            is_document: is_page && row.path != "/needed" && !is_plain,
            path,
            json: (is_post && !is_form && !of_pages).then(|| api::body(scene, row)),
            fields: is_form.then(|| {
                let mut fields = pages::fields(row);
                fields.push(("csrf", browser.csrf.clone()));
                fields
            }),
            says,
        }
    }
}

/// The tools have a door of their own.
fn tools() -> Door {
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "docs_create", "arguments": {"summary": "Plan", "content": "Text"}},
    });
    Door {
        how: "POST".to_owned(),
        path: "/mcp".to_owned(),
        is_page: false,
        is_document: false,
        json: Some(call),
        fields: None,
        says: None,
    }
}
