//! A diff for people.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use anstyle::{AnsiColor, Style};
use similar::{DiffOp, DiffableStr};

use super::{Paper, shown};
use crate::api::client::Reply;
use crate::api::types::Diff;
use crate::differences::{Algorithm, ops};

/// A diff, with the changed words marked where colour can.
pub(in crate::cli) fn diff(reply: &Reply<Diff>, paper: &Paper) -> String {
    let Diff { from, to, diff: text, .. } = &reply.data;
    if text.is_empty() {
        return format!("v{from} and v{to} are the same.\n");
    }
    painted(text, paper)
}

fn painted(text: &str, paper: &Paper) -> String {
    if !paper.colour {
        return shown(text);
    }
    let (old, new) = (AnsiColor::Red.on_default(), AnsiColor::Green.on_default());
    let mut page = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if !is_change(line, '-') {
            let line = match line.as_bytes().first() {
                Some(b'+') if is_change(line, '+') => paper.paint(new, &shown(line)),
                Some(b'@') => paper.paint(AnsiColor::Cyan.on_default(), &shown(line)),
                _ => shown(line),
            };
            let _ = writeln!(page, "{line}");
            continue;
        }
        let mut removed = vec![shown(&line[1..])];
        while let Some(next) = lines.next_if(|next| is_change(next, '-')) {
            removed.push(shown(&next[1..]));
        }
        let mut added = Vec::new();
        while let Some(next) = lines.next_if(|next| is_change(next, '+')) {
            added.push(shown(&next[1..]));
        }
        // Blocks with the same number of lines on both sides are paired line by line.
        if removed.len() == added.len() {
            (removed, added) = removed
                .iter()
                .zip(&added)
                .map(|(before, after)| marked(before, after, old, new))
                .unzip();
        } else {
            removed.iter_mut().for_each(|line| *line = paper.paint(old, line));
            added.iter_mut().for_each(|line| *line = paper.paint(new, line));
        }
        for line in removed {
            let _ = writeln!(page, "{old}-{old:#}{line}");
        }
        for line in added {
            let _ = writeln!(page, "{new}+{new:#}{line}");
        }
    }
    page
}

/// Whether this line of a unified diff was removed (`-`) or added (`+`).
fn is_change(line: &str, sign: char) -> bool {
    let header = if sign == '-' { "--- " } else { "+++ " };
    line.starts_with(sign) && !line.starts_with(header)
}

/// Lines so long that their words take longer are marked more coarsely.
const WORDS_PATIENCE: Duration = Duration::from_millis(200);

/// Both lines with the words that differ in reverse.
fn marked(before: &str, after: &str, old: Style, new: Style) -> (String, String) {
    let (before, after) = (before.tokenize_words(), after.tokenize_words());
    let (mut left, mut right) = (String::new(), String::new());
    for op in ops(Algorithm::Myers, &before, &after, Instant::now() + WORDS_PATIENCE) {
        let (old, new) = match op {
            DiffOp::Equal { .. } => (old, new),
            DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => {
                (old.invert(), new.invert())
            }
        };
        for text in &before[op.old_range()] {
            let _ = write!(left, "{old}{text}{old:#}");
        }
        for text in &after[op.new_range()] {
            let _ = write!(right, "{new}{text}{new:#}");
        }
    }
    (left, right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_words_are_marked_where_there_is_colour() {
        let text = "--- v1\n+++ v2\n@@ -1,2 +1,2 @@\n-keep one file\n-sync never\n+keep two files\n+sync always\n";
        let plain =
            painted(text, &Paper { width: 80, columns: 80, colour: false, is_terminal: false });
        assert_eq!(plain, text);
        let coloured =
            painted(text, &Paper { width: 80, columns: 80, colour: true, is_terminal: true });
        let mark = AnsiColor::Green.on_default().invert();
        for word in ["two", "always"] {
            assert!(coloured.contains(&format!("{mark}{word}{mark:#}")), "{coloured:?}");
        }
        let same = AnsiColor::Green.on_default();
        assert!(coloured.contains(&format!("{same}sync{same:#}")), "{coloured:?}");
    }
}
