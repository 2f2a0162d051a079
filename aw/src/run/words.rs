//! The arguments that the runner writes without a model: MOTION, APPEAL and RESOLUTION.

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
    const END: &str = "\n## Decision\n\nFor each point: uphold, dismiss, defer, or another way.";
    let mut text = format!("## Dispute\n\n{}\n", harmless(why));
    // Every point gets the same share, so that no long text hides the others.
    let room = LONGEST.saturating_sub(text.len() + END.len());
    let share = room / points.len().max(1) / 2;
    for QuotedPoint { point, turns, .. } in points {
        let heading =
            format!("\n## {} ({}): {}\n", point.id.0, point.severity, harmless(&point.title));
        text.push_str(&heading);
        let share = share.saturating_sub(heading.len() / 2 + 1);
        for role in [Role::Opponent, Role::Proposer] {
            let newest = turns.iter().flatten().rev().find(|turn| turn.role.known() == Some(role));
            text.push_str(&newest.map(|turn| side(role, turn, share)).unwrap_or_default());
        }
    }
    text.push_str(END);
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
