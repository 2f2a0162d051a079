//! Pages about points: the ledger, the points, what an argument says about them, and flaws.

use std::fmt::Write as _;

use aw_core::{Course, PointState, QuoteCheck, Severity, State, Word as StatementWord};

use super::super::debate::{CheckOutput, LookedUp, PointOutput, PointsOutput};
use super::table::lines;
use super::{Paper, cell, shown, state_in_words, word};
use crate::api::advice::held_in_words;
use crate::api::types::{
    AgreedVersion, Debate, Flaw, HeldText, Ledger, Point, PointIdText, PointSettings, Points,
    Quote, QuotedPoint, Rounds, StateText, Statement,
};

/// The longest title in a line.
const TITLE: usize = 60;

/// The settings of points, after a debate was opened with them.
pub(super) fn settings(settings: &PointSettings) -> String {
    let what = match settings.blocking.known() {
        Some(Severity::Critical) => "critical ones block".to_owned(),
        Some(Severity::Major) => "critical and major ones block".to_owned(),
        _ => format!("they block from {} on", word(&settings.blocking)),
    };
    let rounds = if settings.rounds == 1 { "round" } else { "rounds" };
    format!("Points are kept: {what}, {} {rounds}.\n", settings.rounds)
}

/// How far the rounds are.
pub(super) fn round(ledger: &Ledger) -> String {
    let Rounds { used, limit } = ledger.rounds;
    format!("round {used} of {limit}")
}

/// The rounds and what blocks, in a sentence each.
pub(super) fn summary(ledger: &Ledger) -> String {
    let Rounds { used, limit } = ledger.rounds;
    let blocking = match ledger.blocking.as_slice() {
        [] => "Nothing blocks.".to_owned(),
        points => format!("Blocking: {}.", listed(points)),
    };
    let agrees = match ledger.opponent_agrees {
        true => format!(" {}", agreement(ledger)),
        false => String::new(),
    };
    format!("Round {used} of {limit}. {blocking}{agrees}")
}

/// That the opponent agrees, and to which versions.
fn agreement(ledger: &Ledger) -> String {
    let version = |agreed: &AgreedVersion| format!("{} v{}", agreed.document_id.0, agreed.version);
    let versions: Vec<String> = ledger.agreed_to.iter().map(version).collect();
    match versions.is_empty() {
        true => "The opponent agrees.".to_owned(),
        false => format!("The opponent agrees to {}.", joined(&versions)),
    }
}

/// Why a RULING is owed, what the role should do, and how it writes that.
pub(super) fn advice(ledger: &Ledger) -> String {
    let mut text = ledger.held.as_ref().map(held).unwrap_or_default();
    if let Some(advice) = &ledger.advice {
        let course = match advice.course.known() {
            Some(Course::RequestCompletion) => "request completion".to_owned(),
            _ => word(&advice.course),
        };
        let _ = writeln!(text, "Advice: {course}. {}.", sentence(&advice.why));
    }
    if let Some(how) = &ledger.how {
        let _ = writeln!(text, "How: {}", shown(how));
    }
    text
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    shown(&(first + letters.as_str()))
}

/// The live points of an answer, a line each.
pub(super) fn live(points: &Points, state: &StateText, paper: &Paper) -> String {
    let all = points.points.as_deref().unwrap_or_default();
    if all.is_empty() {
        return String::new();
    }
    let title = paper.bold("Points, titled in their authors' words");
    let is_closed = state.known() == Some(State::Closed);
    let mut text = format!("\n{title}\n\n");
    text.push_str(&lines(all.iter().map(|point| row(point, &[], is_closed, paper)), paper));
    if let Some(omitted) = points.points_omitted {
        let _ = writeln!(text, "{omitted} more points are not shown: see aw debate points.");
    }
    text
}

/// All points, or the live ones.
pub(in crate::cli) fn points(output: &PointsOutput, paper: &Paper) -> String {
    let Some(ledger) = &output.ledger else {
        return "This debate keeps no points.\n".to_owned();
    };
    let mut text = paper.fitted(&format!("{}\n", summary(ledger)));
    if output.points.is_empty() {
        let none = match ledger.over {
            0 => "No point was raised yet.",
            _ => "No point is left: --all shows those that are over.",
        };
        let _ = writeln!(text, "{none}");
        return text;
    }
    let _ = write!(text, "{}\n\n", paper.faint("Titles are their authors' words."));
    let row = |one: &QuotedPoint| row(&one.point, &one.quotes, output.is_closed, paper);
    text.push_str(&lines(output.points.iter().map(row), paper));
    text
}

/// A point with its quotes and its history.
pub(in crate::cli) fn point(output: &PointOutput, paper: &Paper) -> String {
    let one = &output.point;
    let mut text = lines(std::iter::once(row(&one.point, &[], output.is_closed, paper)), paper);
    text.push_str(&paper.quoted_note());
    for quote in &one.quotes {
        let _ = write!(text, "\n{}\n", sentence(&quote_in_words(quote)));
        text.push_str(&paper.quote(quote.text.as_deref().unwrap_or_default()));
    }
    for turn in one.turns.iter().flatten() {
        let said = match turn.word.known().and_then(StatementWord::severity) {
            Some(severity) => format!("raised it as {severity}"),
            None => format!("said {}", word(&turn.word)),
        };
        let state = turn.state.as_ref().map(word).filter(|state| *state != word(&turn.word));
        let state = state.map_or(String::new(), |state| format!(": {}", state.replace('_', " ")));
        let _ = write!(
            text,
            "\n{} {} {said}{state}\n{}",
            paper.bold(&format!("{}.", turn.seq)),
            paper.role(&turn.role),
            paper.quote(&turn.text),
        );
    }
    text
}

/// The cells of a point's line.
fn row(point: &Point, quotes: &[Quote], is_closed: bool, paper: &Paper) -> [String; 4] {
    let mut state = word(&point.state).replace('_', " ");
    match &point.owes {
        Some(_) if is_closed => state = "left open".to_owned(),
        Some(role) => {
            let _ = write!(state, ", for the {}", word(role));
        }
        None => {}
    }
    for (is, note) in [(point.late, "late"), (point.unchanged, "its quotes still stand")] {
        if is {
            let _ = write!(state, ", {note}");
        }
    }
    let quotes: Vec<String> = quotes.iter().map(quote_in_words).collect();
    [
        format!("{} {}", point.id.0, word(&point.severity)),
        cell(&point.title, TITLE, paper),
        state,
        quotes.join("; "),
    ]
}

/// Where a quote stands.
fn quote_in_words(quote: &Quote) -> String {
    match quote.check.known() {
        Some(QuoteCheck::Found) => format!("found in {}", place(quote)),
        Some(QuoteCheck::Outdated) => format!("from {}, changed since", place(quote)),
        Some(QuoteCheck::Unchecked) => match &quote.source {
            Some(source) => format!("from {}, not in the record", shown(source)),
            None => "not in the record".to_owned(),
        },
        Some(QuoteCheck::Missing) | None => word(&quote.check),
    }
}

fn place(quote: &Quote) -> String {
    let mut place = match (&quote.document_id, quote.version, quote.seq) {
        (Some(document), Some(version), _) => format!("{} v{version}", document.0),
        (_, _, Some(seq)) => format!("argument {seq}"),
        _ => "the debate".to_owned(),
    };
    if let (Some(first), Some(last)) = (quote.first_line, quote.last_line) {
        let _ = write!(place, ", {}", line_numbers(first, last));
    }
    place
}

fn line_numbers(first: u32, last: u32) -> String {
    if first == last { format!("line {first}") } else { format!("lines {first} to {last}") }
}

/// An argument's statements: a line for each point that it raises, then the new states of the others.
pub(super) fn statements(statements: &[Statement], points: &Points, paper: &Paper) -> String {
    let live = points.points.as_deref().unwrap_or_default();
    let raised = |statement: &&Statement| statement.target == "NEW";
    let rows = statements.iter().filter(raised).map(|statement| {
        let point = live.iter().find(|point| Some(point.id) == statement.point);
        match point {
            Some(point) => row(point, &statement.quotes, false, paper),
            // An answer lists so many live points and no more.
            None => {
                let id = statement.point.map_or("NEW".to_owned(), |id| id.0.to_string());
                let quotes: Vec<String> = statement.quotes.iter().map(quote_in_words).collect();
                let severity = word(&statement.word);
                [format!("{id} {severity}"), String::new(), String::new(), quotes.join("; ")]
            }
        }
    });
    let mut text = lines(rows, paper);
    let mut groups: Vec<(Option<aw_core::Role>, Vec<String>)> = Vec::new();
    for statement in statements.iter().filter(|statement| !raised(statement)) {
        let (Some(id), Some(state)) = (statement.point, &statement.state) else { continue };
        let owes = state.known().and_then(PointState::owes);
        let said = format!("{} {}", id.0, word(state).replace('_', " "));
        match groups.iter_mut().find(|(role, _)| *role == owes) {
            Some((_, group)) => group.push(said),
            None => groups.push((owes, vec![said])),
        }
    }
    for (owes, group) in groups {
        let all = if group.len() > 1 { "all " } else { "" };
        let whose = owes.map_or(String::new(), |role| format!(": {all}for the {role}"));
        let _ = writeln!(text, "{}{whose}", group.join(", "));
    }
    let agrees = |statement: &Statement| statement.word == StatementWord::Agree.into();
    if let Some(ledger) = points.ledger.as_ref().filter(|_| statements.iter().any(agrees)) {
        let free = if ledger.blocking.is_empty() { " Nothing blocks." } else { "" };
        let _ = writeln!(text, "{}{free}", agreement(ledger));
    }
    text
}

/// Why a RESOLUTION waits for the arbitrator.
fn held(held: &HeldText) -> String {
    let why = match held.known() {
        Some(_) => held_in_words(held).to_owned(),
        None => word(held),
    };
    format!("The RESOLUTION waits for the arbitrator: {why}.\n")
}

/// The quotes that were found in files here.
pub(super) fn looked_up(quotes: &[LookedUp]) -> String {
    let line = |quote: &LookedUp| {
        let lines = line_numbers(quote.first_line, quote.last_line);
        format!("{}, {lines}: looked up here, not in the record\n", shown(&quote.path))
    };
    quotes.iter().map(line).collect()
}

/// The effects of a checked move.
pub(in crate::cli) fn checked(output: &CheckOutput, paper: &Paper) -> String {
    let checked = &output.reply.data;
    let Debate { state, outcome, .. } = &checked.debate;
    let round = checked.points.ledger.as_ref();
    let round = round.map_or(String::new(), |ledger| format!(", {}", self::round(ledger)));
    let mut text =
        format!("The debate would be {}{round}.\n", state_in_words(state, outcome.as_ref()));
    text.push_str(&statements(&checked.statements, &checked.points, paper));
    text.push_str(&looked_up(&output.looked_up));
    text
}

/// The flaws of a text, a line each.
pub(super) fn flaws(flaws: &[Flaw]) -> String {
    flaws.iter().map(|flaw| format!("line {}: {}\n", flaw.line, shown(&flaw.message))).collect()
}

/// Lists points in a sentence: "P1, P2 and P3".
fn listed(points: &[PointIdText]) -> String {
    joined(&points.iter().map(|id| id.0.to_string()).collect::<Vec<_>>())
}

fn joined(names: &[String]) -> String {
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}
