//! Grids: who may knock where, written by hand from the contract, and walked cell by cell.
//!
//! A row is a door, a column somebody who knocks (in the order of [`CALLERS`]: nobody, a wrong, an
//! expired and a revoked token; the administrator's and the shared one; then proposer, opponent,
//! arbitrator and observer, each for any debate, for this one, for another one). In a cell:
//!
//! - `+` they come in; for a move the rules decide the rest ([`MOVES`])
//! - `?` 401 `AUTH_FAILED`: who is calling?
//! - `-` 403 `FORBIDDEN`, reason `role`
//! - `>` a person is sent to sign in
//! - `!` 400 `INVALID_INPUT`: what was sent makes no sense, whoever sent it
//! - `0` 404: there is no such thing
//!
//! Whoever is turned away has written nothing and learns nothing of the debate.

use reqwest::Response;
use reqwest::header::LOCATION;
use serde_json::Value;

use super::scene::{Books, By, CALLERS, STATES, Scene, Who, world};

/// When a move is accepted from whoever may make it, in the order of [`STATES`]. An INTERVENTION has
/// interrupted the opponent, who may park a CLAIM.
const MOVES: &str = "
    CLAIM as proposer   - + - - -
    CLAIM as opponent   + - - + -
    APPEAL              - + - - -
    RESOLUTION          - + - - -
    RULING              - - + + -
    INTERVENTION        + + - - -
";

/// A door, and who may come in.
#[derive(Debug)]
pub struct Row {
    /// A method, or whatever else says how to knock.
    pub how: String,
    /// Where.
    pub path: String,
    /// For what.
    pub note: String,
    cells: Vec<char>,
}

impl Row {
    /// How, where and for what.
    pub fn name(&self) -> String {
        format!("{} {} {}", self.how, self.path, self.note)
    }

    /// Whether whoever runs the server comes in.
    pub fn opens(&self) -> bool {
        let column = CALLERS.iter().position(|who| *who == Who::Administrator).unwrap();
        self.cells[column] == '+'
    }

    /// Whether what comes in can be accepted in this state.
    pub fn is_accepted(&self, state: &str) -> bool {
        let column = STATES.iter().position(|known| *known == state).unwrap();
        let mut moves = MOVES.lines().filter_map(|line| line.trim().split_once("  "));
        match moves.find(|(name, _)| *name == self.note) {
            Some((_, states)) => states.split_whitespace().nth(column) == Some("+"),
            None => true,
        }
    }
}

/// The rows of a grid.
pub fn rows(grid: &str) -> Vec<Row> {
    let lines = grid.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let (label, cells) = words.split_at(words.len() - 6);
            let cells: Vec<char> = cells.concat().chars().collect();
            assert_eq!(cells.len(), CALLERS.len(), "{line}");
            let (how, path) = (label[0].to_owned(), label[1].to_owned());
            Row { how, path, note: label[2..].join(" "), cells }
        })
        .collect()
}

/// What came of knocking.
#[derive(Debug, PartialEq, Eq)]
pub enum Came {
    In,
    /// To a page.
    Shown,
    /// The rules say no.
    NotNow,
    Unknown,
    Forbidden,
    ToSignIn,
    Senseless,
    NotThere,
    Otherwise(String),
}

impl Came {
    /// Of a request.
    pub async fn of(response: Response) -> Self {
        let status = response.status().as_u16();
        let to = response.headers().get(LOCATION).map(|to| to.to_str().unwrap().to_owned());
        match (status, to) {
            // What comes over a socket is not waited for.
            (101, _) => return Came::In,
            (303, Some(to)) if to.starts_with("/sign-in") => return Came::ToSignIn,
            _ => {}
        }
        let body = response.text().await.unwrap();
        let json: Value = serde_json::from_str(&body).unwrap_or_default();
        let came = match (status, body.starts_with("<!doctype html>")) {
            (200, true) => Came::Shown,
            (200 | 201 | 303, _) => Came::In,
            (401, true) => Came::Unknown,
            (403, true) => Came::Forbidden,
            (404, true) => Came::NotThere,
            (status, _) => Came::refused(status, &json["error"]),
        };
        let is_away = !matches!(came, Came::In | Came::Shown | Came::NotNow);
        if is_away && (body.contains("SQLite") || body.contains("Motion")) {
            return Came::Otherwise(format!("{status}, and told: {body}"));
        }
        came
    }

    /// Of a refusal with this status.
    pub fn refused(status: u16, error: &Value) -> Self {
        let reason = error["reason"].as_str().unwrap_or_default();
        match (status, error["code"].as_str().unwrap_or_default(), reason) {
            (401, "AUTH_FAILED", _) => Came::Unknown,
            (403, "FORBIDDEN", "role") => Came::Forbidden,
            (403, "ACTION_NOT_ALLOWED", _) => Came::NotNow,
            (400, "INVALID_INPUT", _) => Came::Senseless,
            (404, code, _) if code.ends_with("_NOT_FOUND") => Came::NotThere,
            _ => Came::Otherwise(format!("{status} {error}")),
        }
    }
}

/// Walks a grid with a debate in this state; how many cells there were.
pub async fn walk(
    grid: &str,
    state: &str,
    by: By,
    knock: impl AsyncFn(&Scene<'_>, &Row, Who) -> Came,
) -> usize {
    let world = world().await;
    let books = Books::of(&world);
    let mut scene = Scene::with(&world, state).await;
    let (mut cells, mut wrong) = (0, Vec::new());
    for row in rows(grid) {
        for (who, cell) in CALLERS.into_iter().zip(&row.cells) {
            scene.is_ready_for(who, by).await;
            let before = books.read();
            let came = knock(&scene, &row, who).await;
            let after = books.read();
            let accepted = row.is_accepted(state);
            let right = match cell {
                '+' if accepted => Came::In,
                '+' => Came::NotNow,
                '?' => Came::Unknown,
                '-' => Came::Forbidden,
                '>' => Came::ToSignIn,
                '!' => Came::Senseless,
                '0' => Came::NotThere,
                other => panic!("{other:?} in {row:?}"),
            };
            let name = row.name();
            if came != right {
                wrong.push(format!("{name}: {who:?} came {came:?}, not {right:?}"));
            }
            if right != Came::In && before != after {
                wrong.push(format!("{name}: {who:?} was turned away and wrote {after:?}"));
            }
            if before != after {
                scene = Scene::with(&world, state).await;
            }
            cells += 1;
        }
    }
    assert!(wrong.is_empty(), "{state}, {} of {cells}:\n{}", wrong.len(), wrong.join("\n"));
    cells
}

/// Says how many cells were walked.
#[expect(clippy::print_stdout, reason = "the size of the proof is part of it")]
pub fn report(grid: &str, state: &str, cells: usize) {
    println!("{grid}, {state}: {cells} cells");
}
