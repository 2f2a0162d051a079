//! Grids of permissions: written by hand from the contract, and checked cell by cell.
//!
//! A row is a request, a column is a caller (in the order of [`CALLERS`]: no token, a wrong, an expired and
//! a revoked token; the administrator's and the shared one; then proposer, opponent,
//! arbitrator and observer, each for any debate, for this one, for another one). In a cell:
//!
//! - `+` allowed; for a move the rules decide the rest ([`MOVES`])
//! - `?` 401 `AUTH_FAILED`
//! - `-` 403 `FORBIDDEN`, reason `role`
//! - `>` redirected to the sign-in page
//! - `!` 400 `INVALID_INPUT`, for every caller
//! - `0` 404
//!
//! A refused request writes nothing and its response contains nothing of the debate.

use reqwest::Response;
use reqwest::header::LOCATION;
use serde_json::Value;

use super::scene::{Books, By, CALLERS, STATES, Scene, Who, world};

/// The states that accept a move, in the order of [`STATES`]. An INTERVENTION has interrupted the opponent,
/// who may park a CLAIM.
const MOVES: &str = "
    CLAIM as proposer   - + - - -
    CLAIM as opponent   + - - + -
    APPEAL              - + - - -
    RESOLUTION          - + - - -
    RULING              - - + + -
    INTERVENTION        + + - - -
";

/// A request, and the callers that may send it.
#[derive(Debug)]
pub struct Row {
    /// The method, or another word for how to send it.
    pub how: String,
    /// The path.
    pub path: String,
    /// The purpose.
    pub note: String,
    cells: Vec<char>,
}

impl Row {
    /// A name for messages.
    pub fn name(&self) -> String {
        format!("{} {} {}", self.how, self.path, self.note)
    }

    /// Whether the administrator is allowed.
    pub fn opens(&self) -> bool {
        let column = CALLERS.iter().position(|who| *who == Who::Administrator).unwrap();
        self.cells[column] == '+'
    }

    /// Whether the rules accept the move in this state.
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

/// The result of a request.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    Allowed,
    /// A page was shown.
    Shown,
    /// The rules refused the move.
    AgainstRules,
    Unauthenticated,
    Forbidden,
    SignIn,
    Invalid,
    NotFound,
    Other(String),
}

impl Outcome {
    /// The result of a response.
    pub async fn of(response: Response) -> Self {
        let status = response.status().as_u16();
        let to = response.headers().get(LOCATION).map(|to| to.to_str().unwrap().to_owned());
        match (status, to) {
            // The messages of a socket are not read.
            (101, _) => return Outcome::Allowed,
            (303, Some(to)) if to.starts_with("/sign-in") => return Outcome::SignIn,
            _ => {}
        }
        let body = response.text().await.unwrap();
        let json: Value = serde_json::from_str(&body).unwrap_or_default();
        let outcome = match (status, body.starts_with("<!doctype html>")) {
            (200, true) => Outcome::Shown,
            (200 | 201 | 303, _) => Outcome::Allowed,
            (401, true) => Outcome::Unauthenticated,
            (403, true) => Outcome::Forbidden,
            (404, true) => Outcome::NotFound,
            (status, _) => Outcome::refused(status, &json["error"]),
        };
        let is_away = !matches!(outcome, Outcome::Allowed | Outcome::Shown | Outcome::AgainstRules);
        if is_away && (body.contains("SQLite") || body.contains("Motion")) {
            return Outcome::Other(format!("{status}, and leaked: {body}"));
        }
        outcome
    }

    /// The result of an error with this status.
    pub fn refused(status: u16, error: &Value) -> Self {
        let reason = error["reason"].as_str().unwrap_or_default();
        match (status, error["code"].as_str().unwrap_or_default(), reason) {
            (401, "AUTH_FAILED", _) => Outcome::Unauthenticated,
            (403, "FORBIDDEN", "role") => Outcome::Forbidden,
            (403, "ACTION_NOT_ALLOWED", _) => Outcome::AgainstRules,
            (400, "INVALID_INPUT", _) => Outcome::Invalid,
            (404, code, _) if code.ends_with("_NOT_FOUND") => Outcome::NotFound,
            _ => Outcome::Other(format!("{status} {error}")),
        }
    }
}

/// Checks a grid with a debate in this state.
pub async fn check(
    grid: &str,
    state: &str,
    by: By,
    send: impl AsyncFn(&Scene<'_>, &Row, Who) -> Outcome,
) {
    let world = world().await;
    let books = Books::of(&world);
    let mut scene = Scene::with(&world, state).await;
    let mut wrong = Vec::new();
    for row in rows(grid) {
        for (who, cell) in CALLERS.into_iter().zip(&row.cells) {
            scene.is_ready_for(who, by).await;
            let before = books.read();
            let outcome = send(&scene, &row, who).await;
            let after = books.read();
            let accepted = row.is_accepted(state);
            let right = match cell {
                '+' if accepted => Outcome::Allowed,
                '+' => Outcome::AgainstRules,
                '?' => Outcome::Unauthenticated,
                '-' => Outcome::Forbidden,
                '>' => Outcome::SignIn,
                '!' => Outcome::Invalid,
                '0' => Outcome::NotFound,
                other => panic!("{other:?} in {row:?}"),
            };
            let name = row.name();
            if outcome != right {
                wrong.push(format!("{name}: {who:?} got {outcome:?}, not {right:?}"));
            }
            if right != Outcome::Allowed && before != after {
                wrong.push(format!("{name}: {who:?} was refused and wrote {after:?}"));
            }
            if before != after {
                scene = Scene::with(&world, state).await;
            }
        }
    }
    assert!(wrong.is_empty(), "{state}:\n{}", wrong.join("\n"));
}

/// Checks a grid in each state of a debate, with one test per state.
macro_rules! check_in_every_state {
    ($grid:expr, $by:expr, $send:path) => {
        check_in_every_state!(@ $grid, $by, $send;
            while_the_opponent_is_awaited "AWAITING_OPPONENT",
            while_the_proposer_is_awaited "AWAITING_PROPOSER",
            while_the_arbitrator_is_awaited "AWAITING_ARBITRATOR",
            while_an_intervention_is_pending "INTERVENTION_PENDING",
            in_a_closed_debate "CLOSED");
    };
    (@ $grid:expr, $by:expr, $send:path; $($name:ident $state:literal),*) => {
        $(#[tokio::test]
        async fn $name() {
            $crate::seats::grid::check($grid, $state, $by, $send).await;
        })*
    };
}

pub(super) use check_in_every_state;
