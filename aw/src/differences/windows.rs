//! Compares texts of any length in windows.
//!
//! Two versions may have millions of lines. Each step compares one window of each text and ends at
//! their last common line, where the next window begins. So the work takes the memory of two windows,
//! and texts that fit into one are compared as a whole.

use std::time::Instant;

use similar::DiffOp;

use super::Algorithm;

/// How many lines of each side are compared at a time.
const WINDOW: usize = 20_000;

/// The differences between two texts, in order; equal and changed stretches alternate. `lines` splits
/// a text. After the deadline the rest counts as changed.
pub(crate) fn line_ops<'a, L: Iterator<Item = &'a str>>(
    old: &'a str,
    new: &'a str,
    lines: impl Fn(&'a str) -> L,
    algorithm: Algorithm,
    deadline: Instant,
) -> Vec<DiffOp> {
    let is_long = |text| lines(text).nth(WINDOW).is_some();
    let end = if is_long(old) || is_long(new) { same_end(old, new) } else { 0 };
    let mut found =
        before_end(&old[..old.len() - end], &new[..new.len() - end], &lines, algorithm, deadline);
    let len = lines(&old[old.len() - end..]).count();
    found.add(DiffOp::Equal { old_index: 0, new_index: 0, len });
    found.ops
}

/// The length of the whole lines, in bytes, that both texts end with. Without this, a long inserted
/// stretch would leave the windows after it without a common line.
fn same_end(old: &str, new: &str) -> usize {
    let pairs = old.bytes().rev().zip(new.bytes().rev());
    let same = pairs.take_while(|(old, new)| old == new).count();
    let end = &old.as_bytes()[old.len() - same..];
    end.iter().position(|byte| *byte == b'\n').map_or(0, |line| same - line - 1)
}

fn before_end<'a, L: Iterator<Item = &'a str>>(
    old: &'a str,
    new: &'a str,
    lines: &impl Fn(&'a str) -> L,
    algorithm: Algorithm,
    deadline: Instant,
) -> JoinedOps {
    let (mut old, mut new) = (TextWindow::of(lines(old)), TextWindow::of(lines(new)));
    let mut found = JoinedOps::default();
    loop {
        let is_last = old.fill() & new.fill();
        if !is_last && Instant::now() >= deadline {
            let (old_rest, new_rest) = (old.rest(), new.rest());
            found.add(DiffOp::Delete { old_index: 0, old_len: old_rest, new_index: 0 });
            found.add(DiffOp::Insert { old_index: 0, new_index: 0, new_len: new_rest });
            return found;
        }
        let ops = super::ops(algorithm, &old.window, &new.window, deadline);
        let same = ops.iter().rposition(|op| matches!(op, DiffOp::Equal { .. }));
        let certain = match same {
            Some(at) if !is_last => &ops[..=at],
            _ => &ops,
        };
        for op in certain {
            found.add(*op);
        }
        if is_last {
            return found;
        }
        let (done, done_new) = certain.last().map_or((old.window.len(), new.window.len()), |op| {
            (op.old_range().end, op.new_range().end)
        });
        old.window.drain(..done);
        new.window.drain(..done_new);
    }
}

/// The lines of one text, of which a window is in memory.
struct TextWindow<'a, I> {
    lines: I,
    window: Vec<&'a str>,
}

impl<'a, I: Iterator<Item = &'a str>> TextWindow<'a, I> {
    fn of(lines: I) -> Self {
        TextWindow { lines, window: Vec::new() }
    }

    /// Fills the window. Returns whether it reached the end of the text.
    fn fill(&mut self) -> bool {
        let room = WINDOW.saturating_sub(self.window.len());
        // One more line than fits shows that there are more. It stays for the next window.
        self.window.extend(self.lines.by_ref().take(room + 1));
        self.window.len() <= WINDOW
    }

    /// The number of lines from the window on.
    fn rest(&mut self) -> usize {
        self.window.len() + self.lines.by_ref().count()
    }
}

/// Joins the ops of all windows.
#[derive(Default)]
struct JoinedOps {
    ops: Vec<DiffOp>,
    old: usize,
    new: usize,
}

impl JoinedOps {
    /// Appends an op. Only its lengths are used, because its indexes are those of its window.
    fn add(&mut self, op: DiffOp) {
        let (old_len, new_len) = (op.old_range().len(), op.new_range().len());
        if old_len + new_len == 0 {
            return;
        }
        let (old_index, new_index) = (self.old, self.new);
        self.old += old_len;
        self.new += new_len;
        if let Some(last) = self.ops.last_mut()
            && let Some(joined) = joined(*last, op)
        {
            *last = joined;
            return;
        }
        self.ops.push(match op {
            DiffOp::Equal { len, .. } => DiffOp::Equal { old_index, new_index, len },
            DiffOp::Delete { .. } => DiffOp::Delete { old_index, old_len, new_index },
            DiffOp::Insert { .. } => DiffOp::Insert { old_index, new_index, new_len },
            DiffOp::Replace { .. } => DiffOp::Replace { old_index, old_len, new_index, new_len },
        });
    }
}

/// Joins two ops if both are equal or both are changes.
fn joined(first: DiffOp, next: DiffOp) -> Option<DiffOp> {
    let (old_index, new_index) = (first.old_range().start, first.new_range().start);
    let old_len = first.old_range().len() + next.old_range().len();
    let new_len = first.new_range().len() + next.new_range().len();
    let is_same = |op: DiffOp| matches!(op, DiffOp::Equal { .. });
    match (is_same(first), is_same(next)) {
        (true, true) => Some(DiffOp::Equal { old_index, new_index, len: old_len }),
        (false, false) => Some(DiffOp::Replace { old_index, old_len, new_index, new_len }),
        (true, false) | (false, true) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn found(old: &str, new: &str) -> Vec<DiffOp> {
        line_ops(
            old,
            new,
            str::lines,
            Algorithm::Histogram,
            Instant::now() + Duration::from_secs(60),
        )
    }

    /// The new text, built from the old one and the ops.
    fn made(old: &str, new: &str, ops: &[DiffOp]) -> Vec<String> {
        let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
        let mut made = Vec::new();
        let (mut old_end, mut new_end) = (0, 0);
        for op in ops {
            assert_eq!((op.old_range().start, op.new_range().start), (old_end, new_end));
            (old_end, new_end) = (op.old_range().end, op.new_range().end);
            let lines = match op {
                DiffOp::Equal { .. } => &old[op.old_range()],
                _ => &new[op.new_range()],
            };
            made.extend(lines.iter().map(|line| (*line).to_owned()));
        }
        assert_eq!((old_end, new_end), (old.len(), new.len()));
        made
    }

    #[test]
    fn texts_longer_than_a_window_are_compared_to_the_end() {
        let old: String = (0..70_000).map(|line| format!("line {line}\n")).collect();
        for (what, new, changed) in [
            ("nothing", old.clone(), 0),
            ("a line here and there", old.replace("0001\n", "one\n"), 6),
            (
                "a stretch longer than a window",
                old.replace("line 10\n", &"more\n".repeat(50_000)),
                1,
            ),
            ("all but the first lines", old[..1000].to_owned(), 1),
            ("everything", old.replace("line", "word"), 1),
        ] {
            let ops = found(&old, &new);
            assert_eq!(made(&old, &new, &ops), new.lines().collect::<Vec<_>>(), "{what}");
            let changes = ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. }));
            assert_eq!(changes.count(), changed, "{what}");
        }
    }

    #[test]
    fn after_the_deadline_the_rest_counts_as_changed() {
        let old: String = (0..70_000).map(|line| format!("line {line}\n")).collect();
        let new = format!("first\n{old}last\n");
        let ops = line_ops(&old, &new, str::lines, Algorithm::Myers, Instant::now());
        assert_eq!(made(&old, &new, &ops), new.lines().collect::<Vec<_>>());
    }
}
