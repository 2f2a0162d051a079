//! The arguments that the runner writes without a model: MOTION, APPEAL and RESOLUTION.

use std::fmt::Write as _;

use aw_core::Role;

use super::prompt::cut;
use crate::api::types::{PointTurn, QuotedPoint};
use crate::kit::quoting::{harmless, quoted};

/// The longest argument that the server takes, in bytes.
const LONGEST: usize = 10_240;

/// The MOTION: what to examine, and where it comes from.
pub(super) fn motion(
    ask: Option<&str>,
    document: &str,
    path: &str,
    commit: Option<&str>,
) -> String {
    let ask = ask.unwrap_or("Please examine this plan before it is carried out.");
    let at = commit.map(|commit| format!(" at commit {commit}")).unwrap_or_default();
    format!(
        "## Request for review\n\n{}\n\n- **Plan:** doc_id={document} (v1), from `{}`{at}",
        ask.trim(),
        harmless(path).replace('`', "'"),
    )
}

/// The RESOLUTION: cites the newest version and says how each point ended.
pub(super) fn resolution(document: &str, version: u64, points: &[QuotedPoint]) -> String {
    let mut text = format!("## Summary\n\nSettled: doc_id={document} (v{version}).\n");
    for QuotedPoint { point, .. } in points {
        let title = harmless(&point.title);
        let line = format!("\n- {} ({}), {}: {title}", point.id.0, point.severity, point.state);
        if text.len() + line.len() > LONGEST {
            break;
        }
        text.push_str(&line);
    }
    text
}

/// The APPEAL: names each point, quotes both sides' newest words, and asks for a decision.
pub(super) fn appeal(why: &str, points: &[QuotedPoint]) -> String {
    let end = match points.len() {
        1 => "\nDecide: uphold, dismiss, defer, or another way.",
        _ => "\nDecide each point: uphold, dismiss, defer, or another way.",
    };
    let most = LONGEST - end.len();
    let mut text = "## Dispute\n\n".to_owned();
    for QuotedPoint { point, .. } in points {
        let line = format!("{} ({}): {}\n\n", point.id.0, point.severity, harmless(&point.title));
        if text.len() + line.len() > most / 2 {
            break;
        }
        text.push_str(&line);
    }
    if !why.is_empty() {
        let _ = writeln!(text, "{}.", harmless(why));
    }
    // Every point gets the same share, so that no long text hides the others.
    let share = most.saturating_sub(text.len()) / points.len().max(1) / 2;
    for QuotedPoint { point, turns, .. } in points {
        let mut section = match points.len() {
            1 => String::new(),
            _ => format!("\n## {}\n", point.id.0),
        };
        let share = share.saturating_sub(section.len() / 2 + 1);
        for role in [Role::Opponent, Role::Proposer] {
            let newest = turns.iter().flatten().rev().find(|turn| turn.role.known() == Some(role));
            section.push_str(&newest.map(|turn| side(role, turn, share)).unwrap_or_default());
        }
        if text.len() + section.len() > most {
            break;
        }
        text.push_str(&section);
    }
    text.push_str(end);
    text
}

/// One side's newest words on a point, cut to so many bytes.
fn side(role: Role, turn: &PointTurn, longest: usize) -> String {
    let seq = turn.seq;
    let heading = format!("\nThe {role}, in argument {seq}:\n\n");
    let rest = format!("> … (the rest is in argument {seq})\n");
    let mut text = heading;
    // The heading of the statement has only its number and word.
    for line in quoted(turn.text.trim()).lines() {
        let room = longest.saturating_sub(text.len() + 1 + rest.len());
        if line.len() > room {
            // A long line keeps its beginning, up to a whole word.
            let begun = cut(line, room);
            let begun = begun.rfind(' ').map_or(begun, |at| &begun[..at]);
            if begun.len() > 2 {
                text.push_str(begun);
                text.push('\n');
            }
            text.push_str(&rest);
            break;
        }
        text.push_str(line);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points with a long title, about which both sides said this.
    fn points(count: u32, words: &str) -> Vec<QuotedPoint> {
        let point = |number| {
            let id = format!("P{number}");
            let turn = |seq, role, word| serde_json::json!({"seq": seq, "role": role, "word": word, "text": words});
            let point = serde_json::json!({
                "id": id, "severity": "major", "title": "Rows ".repeat(24), "state": "open",
                "owes": "proposer", "blocking": true, "late": false, "unchanged": false,
                "disputes": 2, "raised_seq": 2, "last_seq": 6, "quotes": [],
                "turns": [turn(5, "proposer", "rejected"), turn(6, "opponent", "open")],
            });
            serde_json::from_value(point).unwrap()
        };
        (1..=count).map(point).collect()
    }

    #[test]
    fn an_appeal_fits_whatever_the_number_of_points() {
        for count in [1, 2, 12, 60, 200] {
            let text = appeal("they were held", &points(count, &"A long reason. ".repeat(50)));
            assert!(text.len() <= LONGEST, "{count}: {} bytes", text.len());
            assert!(text.contains("P1 (major): Rows Rows"));
            assert!(text.ends_with("uphold, dismiss, defer, or another way."));
        }
    }

    #[test]
    fn an_appeal_quotes_the_beginning_of_a_long_line() {
        let turn: PointTurn = serde_json::from_value(serde_json::json!({
            "seq": 4, "role": "opponent", "word": "open", "text": "A long reason. ".repeat(500),
        }))
        .unwrap();
        let text = side(Role::Opponent, &turn, 1_000);
        assert!((900..=1_000).contains(&text.len()), "{} bytes", text.len());
        assert!(
            text.contains("\n> A long reason. A long") && text.ends_with("is in argument 4)\n")
        );
    }
}
