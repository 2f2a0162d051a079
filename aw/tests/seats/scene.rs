//! A scene: a debate in some state, another beside it, documents that the one, the other or neither
//! cites, and the callers.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Duration;

use aw::settings::{Guard, Key, Limits};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::world::driver::{opening_of, reply};
use crate::world::page_client::PageClient;
use crate::world::{Answer, World, new_id, postgres, text};

/// The administrator's token.
pub const ADMINISTRATOR: &str = "aw_the-administrators-own-token";

/// The token that the users of a shared server have.
pub const SHARED: &str = "a-token-that-is-shared";

/// The title of every debate in a scene.
pub const TITLE: &str = "Keep one SQLite file?";

/// The states of a debate.
pub const STATES: [&str; 5] = [
    "AWAITING_OPPONENT",
    "AWAITING_PROPOSER",
    "AWAITING_ARBITRATOR",
    "INTERVENTION_PENDING",
    "CLOSED",
];

/// A server that requires tokens.
pub async fn world() -> World {
    let keys = vec![Key::of_administrator(ADMINISTRATOR), Key::shared(SHARED)];
    let guard = Guard { wants_token: true, keys, ..Guard::default() };
    World::with(guard, Limits::default()).await
}

/// A caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Who {
    /// Without a token.
    Nobody,
    /// With a token that was never made.
    Wrong,
    /// With an expired token.
    Expired,
    /// With a revoked token.
    Revoked,
    Administrator,
    Shared,
    /// With the token of a seat.
    Seat(&'static str, Bound),
}

/// The debate that a seat is bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bound {
    /// Any.
    Free,
    /// The debate of the request.
    Here,
    /// Another one.
    There,
}

/// How a caller authenticates.
#[derive(Debug, Clone, Copy)]
pub enum By {
    /// `Authorization: Bearer`
    Token,
    /// A session cookie.
    Browser,
}

/// All callers, in the order of the columns of every grid.
pub const CALLERS: [Who; 18] = {
    use Bound::{Free, Here, There};
    use Who::Seat;
    [
        Who::Nobody,
        Who::Wrong,
        Who::Expired,
        Who::Revoked,
        Who::Administrator,
        Who::Shared,
        Seat("proposer", Free),
        Seat("proposer", Here),
        Seat("proposer", There),
        Seat("opponent", Free),
        Seat("opponent", Here),
        Seat("opponent", There),
        Seat("arbitrator", Free),
        Seat("arbitrator", Here),
        Seat("arbitrator", There),
        Seat("observer", Free),
        Seat("observer", Here),
        Seat("observer", There),
    ]
};

/// The debates and documents of a test.
pub struct Scene<'a> {
    pub world: &'a World,
    /// The debate of the requests.
    pub here: String,
    /// Its newest argument.
    pub newest: String,
    /// Another debate.
    pub there: String,
    /// A document that the debate cites, with two versions.
    pub cited_here: String,
    /// A document that the other debate cites.
    pub cited_there: String,
    /// A document that no debate cites.
    pub cited_nowhere: String,
    /// A seat that no caller uses.
    pub spare_seat: String,
    tokens: RefCell<HashMap<Who, Option<String>>>,
    browsers: RefCell<HashMap<Who, PageClient>>,
}

impl<'a> Scene<'a> {
    /// A scene with the debate in this state.
    pub async fn with(world: &'a World, state: &str) -> Self {
        let cited_here = keep(world, "cited here").await;
        let cited_there = keep(world, "cited there").await;
        let cited_nowhere = keep(world, "cited nowhere").await;
        let (there, _) = open(world, &cited_there).await;
        let (here, motion) = open(world, &cited_here).await;
        let newest = lead(world, &here, motion, state).await;
        let spare = json!({"role": "observer", "name": "spare"});
        let spare = by_administrator(world, Method::POST, "/tokens", Some(spare)).await.created();
        Scene {
            world,
            here,
            newest,
            there,
            cited_here,
            cited_there,
            cited_nowhere,
            spare_seat: text(&spare["token_id"]),
            tokens: RefCell::default(),
            browsers: RefCell::default(),
        }
    }

    /// The token of a caller.
    pub async fn token(&self, who: Who) -> Option<String> {
        if let Some(known) = self.tokens.borrow().get(&who) {
            return known.clone();
        }
        let token = match who {
            Who::Nobody => None,
            Who::Wrong => Some(format!("aw_{}", "0123456789abcdef".repeat(4))),
            Who::Administrator => Some(ADMINISTRATOR.to_owned()),
            Who::Shared => Some(SHARED.to_owned()),
            Who::Expired => {
                let made = seat(self.world, json!({"role": "arbitrator", "expires_in": 60})).await;
                self.world.pass(Duration::from_secs(61));
                Some(text(&made["token"]))
            }
            Who::Revoked => {
                let made = seat(self.world, json!({"role": "arbitrator"})).await;
                revoke(self.world, &made).await;
                Some(text(&made["token"]))
            }
            Who::Seat(role, bound) => {
                let debate = match bound {
                    Bound::Free => Value::Null,
                    Bound::Here => self.here.as_str().into(),
                    Bound::There => self.there.as_str().into(),
                };
                let made = seat(self.world, json!({"role": role, "debate_id": debate})).await;
                Some(text(&made["token"]))
            }
        };
        self.tokens.borrow_mut().insert(who, token.clone());
        token
    }

    /// Makes the token or session of a caller.
    pub async fn is_ready_for(&self, who: Who, by: By) {
        match by {
            By::Token => drop(self.token(who).await),
            By::Browser => drop(self.browser(who).await),
        }
    }

    /// A request of a caller.
    pub async fn asks(&self, who: Who, method: Method, path: &str) -> RequestBuilder {
        let request = self.world.request(method, path);
        match self.token(who).await {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    /// The browser of a caller, signed in if possible.
    pub async fn browser(&self, who: Who) -> PageClient {
        if let Some(known) = self.browsers.borrow().get(&who) {
            return known.clone();
        }
        let mut browser = PageClient::open(self.world, "/sign-in").await;
        match who {
            Who::Nobody => {}
            Who::Wrong => browser.wears(&format!("aw_{}", "0123456789abcdef".repeat(4))),
            // Signed in while the token was valid.
            Who::Expired => {
                let made = seat(self.world, json!({"role": "arbitrator", "expires_in": 60})).await;
                browser.signs_in(&text(&made["token"])).await;
                self.world.pass(Duration::from_secs(61));
            }
            Who::Revoked => {
                let made = seat(self.world, json!({"role": "arbitrator"})).await;
                browser.signs_in(&text(&made["token"])).await;
                revoke(self.world, &made).await;
            }
            Who::Administrator | Who::Shared | Who::Seat(..) => {
                let token = self.token(who).await.expect("they have one");
                browser.signs_in(&token).await;
            }
        }
        self.browsers.borrow_mut().insert(who, browser.clone());
        browser
    }
}

/// Sends a request of the administrator.
pub async fn by_administrator(
    world: &World,
    method: Method,
    path: &str,
    body: Option<Value>,
) -> Answer {
    by(world, ADMINISTRATOR, method, path, body).await
}

/// Sends a request with this token.
pub async fn by(
    world: &World,
    token: &str,
    method: Method,
    path: &str,
    body: Option<Value>,
) -> Answer {
    let request = world.request(method, path).bearer_auth(token);
    Answer::to(match body {
        Some(body) => request.json(&body),
        None => request,
    })
    .await
}

/// A new seat, with its token.
pub async fn seat(world: &World, asked: Value) -> Value {
    by_administrator(world, Method::POST, "/tokens", Some(asked)).await.created()
}

/// Takes the token of a seat back.
pub async fn revoke(world: &World, seat: &Value) {
    let path = format!("/tokens/{}", text(&seat["token_id"]));
    by_administrator(world, Method::DELETE, &path, None).await.ok();
}

/// A document in two versions.
pub async fn keep(world: &World, summary: &str) -> String {
    let version = |content: &str| Some(json!({"summary": summary, "content": content}));
    let kept = by_administrator(world, Method::POST, "/documents", version("one")).await.created();
    let id = text(&kept["document_id"]);
    let path = format!("/documents/{id}/versions");
    by_administrator(world, Method::POST, &path, version("two")).await.created();
    id
}

/// A debate whose motion cites this document, with the id of its motion.
pub async fn open(world: &World, document: &str) -> (String, String) {
    let id = new_id();
    let body = opening_of(&id, TITLE, &format!("Motion, see doc_id={document} (v1)"));
    let opened = by_administrator(world, Method::POST, "/debates", Some(body)).await.created();
    (id, text(&opened["argument"]["id"]))
}

/// Brings a new debate to this state and returns its newest argument.
async fn lead(world: &World, debate: &str, motion: String, state: &str) -> String {
    let mut newest = motion;
    let moves: &[(&str, Option<&str>)] = match state {
        "AWAITING_OPPONENT" => &[],
        "AWAITING_PROPOSER" => &[("arguments", Some("opponent"))],
        "AWAITING_ARBITRATOR" => &[("arguments", Some("opponent")), ("appeal", None)],
        // The opponent is interrupted, and may park what it was writing.
        "INTERVENTION_PENDING" => &[("intervention", None)],
        "CLOSED" => &[("arguments", Some("opponent")), ("resolution", None)],
        other => panic!("{other} is no state"),
    };
    for (path, role) in moves {
        let mut body = reply(&newest, "So it goes.");
        body["role"] = json!(role);
        let path = format!("/debates/{debate}/{path}");
        let written = by_administrator(world, Method::POST, &path, Some(body)).await.created();
        newest = text(&written["argument"]["id"]);
    }
    let path = format!("/debates/{debate}");
    let found = by_administrator(world, Method::GET, &path, None).await.ok();
    assert_eq!(found["debate"]["state"], state);
    newest
}

/// Counts everything that a request could write.
pub enum Books {
    InFile(rusqlite::Connection),
    InPostgres(String),
}

impl Books {
    /// The counts of this world.
    pub fn of(world: &World) -> Self {
        match postgres::database_of(world.folder.path()) {
            Some(url) => Books::InPostgres(url),
            None => Books::InFile(world.database()),
        }
    }

    /// Reads the counts.
    pub fn read(&self) -> Vec<i64> {
        let counts = [
            "debates",
            "debates where deleted_at is not null",
            "arguments",
            "documents",
            "documents where deleted_at is not null",
            "document_versions",
            "seats",
            "seats where revoked_at is not null",
            "passes",
        ]
        .map(|what| format!("(select count(*) from {what})"));
        let sql = format!("select {}", counts.join(", "));
        match self {
            Books::InFile(db) => {
                let row = |row: &rusqlite::Row<'_>| {
                    (0..counts.len()).map(|column| row.get(column)).collect()
                };
                db.query_row(&sql, [], row).unwrap()
            }
            Books::InPostgres(url) => postgres::numbers(url, &sql),
        }
    }
}
