//! `debate_points`, and our own words about points in the results of other tools.
//!
//! Titles, quotes and statements are the words of others: they stand in quoted blocks.

use aw_core::{PointState, State};

use super::Toolbox;
use super::inputs::{DebatePoints, Flag};
use super::next_call::NextCall;
use super::quoting::ToolAnswer;
use super::refusal::ToolRefusal;
use super::results::{PointPage, QUOTED};
use super::tool_args::Arguments;
use super::tools::Tool;
use crate::api::advice;
use crate::api::client;
use crate::api::error::Code;
use crate::api::types::{
    AgreedVersion, HeldText, Ledger, Point, PointIdText, Points, Quote, QuotedPoint, Rounds,
    StateText, Statement,
};

impl Toolbox {
    pub(super) async fn points(&self, given: &Arguments) -> Result<ToolAnswer, ToolRefusal> {
        let input: DebatePoints = given.parse()?;
        let debate = input.debate_id.as_str();
        let named = |refusal: ToolRefusal| refusal.with_id("debate_id", debate);
        if let Some(id) = &input.point {
            let sent = self.transport.send(&client::point(debate, id)).await;
            let found = sent.map_err(|refusal| {
                let list = DebatePoints {
                    debate_id: debate.to_owned(),
                    all: Some(Flag(true)),
                    point: None,
                };
                match refusal.code() {
                    Code::PointNotFound => {
                        named(refusal).next(&NextCall::new(Tool::DebatePoints, &list))
                    }
                    _ => named(refusal),
                }
            })?;
            let is_closed = self.is_closed(debate).await.map_err(named)?;
            let words = format!("{}\n", point_in_words(&found.point.point, is_closed));
            let page = PointPage { ledger: None, points: vec![found.point], quoted: QUOTED };
            let mut answer = ToolAnswer::new(&page, words);
            for point in &page.points {
                answer = answer.quoting("Its title", &point.point.title);
                answer = with_history(answer, point);
            }
            return Ok(answer);
        }
        let list = self.transport.send(&client::points(debate)).await.map_err(named)?;
        let mut words = match &list.ledger {
            Some(ledger) => ledger_in_words(ledger),
            None => "This debate keeps no points.\n".to_owned(),
        };
        let all = Flag::is_set(input.all);
        let mut points: Vec<QuotedPoint> =
            list.points.into_iter().filter(|one| all || one.point.owes.is_some()).collect();
        if !all {
            points.sort_by_key(|one| !one.point.blocking);
        }
        if let Some(ledger) = list.ledger.as_ref().filter(|_| points.is_empty()) {
            words.push_str(match ledger.over {
                0 => "No point was raised yet.\n",
                _ => "No point is left: `all` shows those that are over.\n",
            });
        }
        let is_closed = !points.is_empty() && self.is_closed(debate).await.map_err(named)?;
        for one in &points {
            words.push_str(&point_in_words(&one.point, is_closed));
            words.push('\n');
        }
        let page = PointPage { ledger: list.ledger, points, quoted: QUOTED };
        let shown: Vec<&Point> = page.points.iter().map(|one| &one.point).collect();
        Ok(quoting_titles(ToolAnswer::new(&page, words), &shown))
    }

    /// Whether a debate is closed, so that its live points are left open.
    async fn is_closed(&self, debate: &str) -> Result<bool, ToolRefusal> {
        let read = self.transport.send(&client::context(debate, 0)).await?;
        Ok(read.debate.state.known() == Some(State::Closed))
    }
}

/// With the quotes of a point and everything that was said about it.
fn with_history(mut answer: ToolAnswer, point: &QuotedPoint) -> ToolAnswer {
    for quote in &point.quotes {
        let heading = format!("A quote of it: {}", quote_in_words(quote));
        answer = answer.quoting(&heading, quote.text.as_deref().unwrap_or_default());
    }
    for turn in point.turns.iter().flatten() {
        let heading = format!("Argument {}, the {}: {}", turn.seq, turn.role, turn.word);
        answer = answer.quoting(&heading, &turn.text);
    }
    answer
}

/// With the titles of points, quoted.
pub(super) fn quoting_titles(answer: ToolAnswer, points: &[&Point]) -> ToolAnswer {
    if points.is_empty() {
        return answer;
    }
    let titles: Vec<String> =
        points.iter().map(|point| format!("{}: {}", point.id.0, point.title)).collect();
    answer.quoting("The titles of the points", &titles.join("\n"))
}

/// With the titles of the live points of an answer.
pub(super) fn with_titles(answer: ToolAnswer, points: &Points) -> ToolAnswer {
    let all: Vec<&Point> = points.points.iter().flatten().collect();
    quoting_titles(answer, &all)
}

/// The points of an answer: the ledger, then a line for each that is alive.
pub(super) fn in_words(points: &Points, state: &StateText) -> String {
    let is_closed = state.known() == Some(State::Closed);
    let mut words = points.ledger.as_ref().map(ledger_in_words).unwrap_or_default();
    for point in points.points.iter().flatten() {
        words.push_str(&point_in_words(point, is_closed));
        words.push('\n');
    }
    words
}

/// Where the ledger stands, and what it advises.
pub(super) fn ledger_in_words(ledger: &Ledger) -> String {
    let Rounds { used, limit } = ledger.rounds;
    let blocking = match ledger.blocking.as_slice() {
        [] => "Nothing blocks.".to_owned(),
        points => format!("Blocking: {}.", listed(points)),
    };
    let version = |agreed: &AgreedVersion| format!("{} v{}", agreed.document_id.0, agreed.version);
    let agreed: Vec<String> = ledger.agreed_to.iter().map(version).collect();
    let agrees = match (ledger.opponent_agrees, agreed.as_slice()) {
        (false, _) => String::new(),
        (true, []) => " The opponent agrees.".to_owned(),
        (true, versions) => format!(" The opponent agrees to {}.", versions.join(", ")),
    };
    let mut words = format!("Round {used} of {limit}. {blocking}{agrees}\n");
    if let Some(advice) = &ledger.advice {
        words.push_str(&format!("Advice: {} ({}).\n", advice.course, advice.why));
    }
    if let Some(how) = &ledger.how {
        words.push_str(&format!("How: {how}\n"));
    }
    words
}

fn point_in_words(point: &Point, is_closed: bool) -> String {
    let mut words = format!("{} is {} and ", point.id.0, point.severity);
    match &point.owes {
        Some(_) if is_closed => words.push_str("left open"),
        Some(role) => words.push_str(&format!("{}, for the {role}", point.state)),
        None => words.push_str(&point.state.to_string()),
    }
    for (is, note) in [
        (point.blocking && !is_closed, "blocks"),
        (point.late, "late"),
        (point.unchanged, "its quotes still stand"),
    ] {
        if is {
            words.push_str(&format!(", {note}"));
        }
    }
    words
}

/// Why a RESOLUTION waits for the arbitrator.
pub(super) fn held_in_words(held: Option<&HeldText>) -> String {
    let why = |held| {
        format!("The RESOLUTION waits for the arbitrator: {}.\n", advice::held_in_words(held))
    };
    held.map(why).unwrap_or_default()
}

/// The statements that the server read in a text, a line each.
pub(super) fn statements_in_words(statements: &[Statement]) -> String {
    let line = |statement: &Statement| {
        let mut words =
            format!("Line {}, {} [{}]", statement.line, statement.target, statement.word);
        if let (Some(point), Some(state)) = (statement.point, &statement.state) {
            words.push_str(&format!(": {} is {state}", point.0));
            if let Some(role) = state.known().and_then(PointState::owes) {
                words.push_str(&format!(", for the {role}"));
            }
        }
        for quote in &statement.quotes {
            words.push_str(&format!(
                "; the quote in line {} is {}",
                quote.line,
                quote_in_words(quote)
            ));
        }
        words + "\n"
    };
    statements.iter().map(line).collect()
}

/// Where a quote stands. The path that its author names is not repeated: it is theirs.
fn quote_in_words(quote: &Quote) -> String {
    let place = match (&quote.document_id, quote.version, quote.seq) {
        (Some(document), Some(version), _) => format!("{} v{version}", document.0),
        (_, _, Some(seq)) => format!("argument {seq}"),
        _ => return quote.check.to_string(),
    };
    let line = quote.first_line.map_or(String::new(), |line| format!(", line {line}"));
    format!("{} in {place}{line}", quote.check)
}

fn listed(points: &[PointIdText]) -> String {
    let names: Vec<String> = points.iter().map(|id| id.0.to_string()).collect();
    names.join(", ")
}
