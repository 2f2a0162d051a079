//! The pages of `aw debate run`.

use std::fmt::Write;

use super::{Paper, shown};
use crate::run::{RunCheck, RunData, SeatData};

/// The result of a run.
pub(in crate::cli) fn run(data: &RunData, paper: &Paper) -> String {
    let mut text = String::new();
    let ended = match data.outcome.as_str() {
        "agreed" => "Both agents agree".to_owned(),
        "ruled" => "Closed by ruling".to_owned(),
        "left_open" => {
            format!("Closed by ruling with {} left open", data.points.left_open.join(", "))
        }
        "completed" => "Completed at the proposer's request".to_owned(),
        other => other.replace('_', " "),
    };
    let rounds = data.rounds.as_ref();
    let rounds = rounds.map(|rounds| format!(" after {}", count(rounds.used.into(), "round")));
    let rulings = match data.rulings {
        0 => String::new(),
        rulings => format!(", {}", count(rulings, "ruling")),
    };
    let raised = count(data.points.raised, "point");
    let line = format!("{ended}{}: {raised}{rulings}.", rounds.unwrap_or_default());
    let _ = writeln!(text, "{}", paper.bold(&line));
    for (what, file) in [("plan", &data.output), ("report", &data.report)] {
        if let Some(file) = file {
            let _ = writeln!(text, "{what}: {}", shown(&file.display().to_string()));
        }
    }
    let _ = writeln!(text, "page: {}", shown(&data.url));
    text.push('\n');
    for (role, seat) in &data.seats {
        let _ = writeln!(text, "{role}: {}", seat_line(seat));
    }
    let _ = writeln!(text, "time: {:.1} s", data.wall_s);
    text.push_str(&notes(&data.notes, paper));
    text
}

/// The programs and files that a run would use.
pub(in crate::cli) fn run_check(check: &RunCheck, paper: &Paper) -> String {
    let mut text = String::new();
    for (role, seat) in &check.seats {
        let program = seat.program.as_ref().map(|path| shown(&path.display().to_string()));
        let version = seat.version.as_deref().map(shown).unwrap_or_default();
        let _ = writeln!(
            text,
            "{} {} {version} {}",
            paper.bold(&format!("{role}:")),
            shown(&seat.agent),
            paper.faint(&program.unwrap_or_default())
        );
        if let Some(live) = &seat.live {
            let words = match &live.detail {
                None => {
                    format!("answers after {} s, {}", live.seconds, count(live.tokens, "token"))
                }
                Some(detail) => format!("does not answer: {detail}"),
            };
            let _ = writeln!(text, "  {}", shown(&words));
        }
    }
    let copy = &check.copy;
    let _ = writeln!(
        text,
        "{} {}, {}; {} left out",
        paper.bold("copy:"),
        count(copy.files, "file"),
        count(copy.bytes, "byte"),
        copy.left_out
    );
    text.push_str(&notes(&check.notes, paper));
    text
}

fn seat_line(seat: &SeatData) -> String {
    let words = [Some(seat.agent.as_str()), seat.version.as_deref(), seat.model.as_deref()];
    let name: Vec<String> = words.into_iter().flatten().map(shown).collect();
    let mut line = name.join(" ");
    for (number, what) in [
        (u64::from(seat.turns), "turn"),
        (u64::from(seat.repairs), "repair"),
        (seat.tokens, "token"),
    ] {
        if number > 0 || what == "turn" {
            let _ = write!(line, ", {}", count(number, what));
        }
    }
    if let Some(cost) = seat.cost_usd {
        let _ = write!(line, ", ${cost:.2}");
    }
    line
}

fn count(number: u64, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

fn notes(notes: &[String], paper: &Paper) -> String {
    notes.iter().map(|note| paper.words(&format!("note: {note}"))).collect()
}
