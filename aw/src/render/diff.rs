//! Compares two versions of a document and returns the rows of a table.
//!
//! A changed line stands beside what it became, with the changed words marked. Long unchanged
//! stretches are folded. There is a time limit, after which the result is coarser but still true:
//! lines shown as the same are the same.

mod pairs;

use std::time::{Duration, Instant};

use similar::DiffOp;

use self::pairs::{Pair, pairs};
pub(super) use self::pairs::{matches, words_of};
use crate::differences::{Algorithm, line_ops};

/// How many unchanged lines are shown on each side of a change.
const AROUND: usize = 3;

/// Fewer unchanged lines than this are not folded.
const LEAST_FOLD: usize = 4;

/// The most lines that a fold contains, and all folds together. Larger folds only say how many
/// lines they hide.
const IN_A_FOLD: usize = 400;
const IN_ALL_FOLDS: usize = 4_000;

/// The most rows outside of folds. Browsers become slow beyond that.
const SHOWN: usize = 6_000;

/// How many lines of each text are compared. A text has millions of lines only when most are empty.
const COMPARED: usize = 300_000;

/// The difference between two texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Comparison<'a> {
    pub(crate) rows: Vec<DiffRow<'a>>,
    /// Lines of the new text that are not in the old one, changed ones included.
    pub(crate) added: usize,
    /// Lines of the old text that are not in the new one, changed ones included.
    pub(crate) removed: usize,
    /// Whether time ran out, so that unchanged lines or words may be marked too.
    pub(crate) is_coarse: bool,
    /// How many rows are left out at the end because there are too many.
    pub(crate) left_out: usize,
    /// Whether the texts differ in their line ends only.
    pub(crate) differs_in_line_ends: bool,
}

/// A row of the table. Lines are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DiffRow<'a> {
    /// A line of both texts.
    Same { old: usize, new: usize, text: &'a str },
    /// A line that became another.
    Changed { old: usize, new: usize, before: Vec<LinePart<'a>>, after: Vec<LinePart<'a>> },
    /// A line of the old text only.
    Removed { old: usize, text: &'a str },
    /// A line of the new text only.
    Added { new: usize, text: &'a str },
    /// Hidden unchanged lines: how many, and the lines themselves unless there are too many.
    Fold { lines: usize, rows: Vec<DiffRow<'a>> },
}

/// A part of a changed line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LinePart<'a> {
    pub(crate) is_changed: bool,
    pub(crate) text: &'a str,
}

/// Compares two texts line by line and word by word, for at most about `patience`.
pub(crate) fn compare<'a>(old: &'a str, new: &'a str, patience: Duration) -> Comparison<'a> {
    let deadline = Instant::now() + patience;
    let ((old_part, old_rest), (new_part, new_rest)) = (compared(old), compared(new));
    let before: Vec<&str> = old_part.lines().collect();
    let after: Vec<&str> = new_part.lines().collect();
    let ops = line_ops(old_part, new_part, str::lines, Algorithm::Histogram, deadline);
    let mut builder = RowBuilder {
        before: &before,
        after: &after,
        rows: Vec::new(),
        folded: 0,
        left_out: old_rest.lines().count() + new_rest.lines().count(),
        // `similar` does not report a timeout, but ends after the deadline only if there was one.
        is_coarse: Instant::now() >= deadline,
        deadline,
    };
    let (mut added, mut removed) = (0, 0);
    for op in ops {
        match op {
            DiffOp::Equal { old_index, new_index, len } => {
                let is_first = old_index == 0 && new_index == 0;
                let is_last = old_index + len == before.len() && new_index + len == after.len();
                builder.same(old_index, new_index, len, is_first, is_last);
            }
            DiffOp::Delete { old_index, old_len, new_index } => {
                removed += old_len;
                builder.changed(old_index, old_len, new_index, 0);
            }
            DiffOp::Insert { old_index, new_index, new_len } => {
                added += new_len;
                builder.changed(old_index, 0, new_index, new_len);
            }
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                removed += old_len;
                added += new_len;
                builder.changed(old_index, old_len, new_index, new_len);
            }
        }
    }
    Comparison {
        rows: builder.rows,
        added,
        removed,
        is_coarse: builder.is_coarse,
        left_out: builder.left_out,
        differs_in_line_ends: old != new && added == 0 && removed == 0,
    }
}

/// Splits a text into the lines that are compared and the rest.
fn compared(text: &str) -> (&str, &str) {
    let end = text.match_indices('\n').nth(COMPARED - 1).map_or(text.len(), |(at, _)| at + 1);
    text.split_at(end)
}

/// Collects rows up to the limits.
struct RowBuilder<'a, 's> {
    before: &'s [&'a str],
    after: &'s [&'a str],
    rows: Vec<DiffRow<'a>>,
    /// How many lines are in folds so far.
    folded: usize,
    left_out: usize,
    is_coarse: bool,
    deadline: Instant,
}

impl<'a> RowBuilder<'a, '_> {
    /// Adds unchanged lines: shows those near a change and folds the others.
    fn same(&mut self, old: usize, new: usize, len: usize, is_first: bool, is_last: bool) {
        let head = if is_first { 0 } else { AROUND.min(len) };
        let tail = if is_last { 0 } else { AROUND.min(len - head) };
        let middle = len - head - tail;
        let row = |at: usize, before: &[&'a str]| DiffRow::Same {
            old: old + at + 1,
            new: new + at + 1,
            text: before[old + at],
        };
        let before = self.before;
        if middle < LEAST_FOLD {
            (0..len).for_each(|at| self.push(|| row(at, before)));
            return;
        }
        (0..head).for_each(|at| self.push(|| row(at, before)));
        let fits = middle <= IN_A_FOLD && self.folded + middle <= IN_ALL_FOLDS;
        self.push(|| {
            let kept = if fits { head..head + middle } else { 0..0 };
            DiffRow::Fold { lines: middle, rows: kept.map(|at| row(at, before)).collect() }
        });
        self.folded += if fits { middle } else { 0 };
        (len - tail..len).for_each(|at| self.push(|| row(at, before)));
    }

    /// Adds a block of old lines that became a block of new ones.
    fn changed(&mut self, old: usize, old_len: usize, new: usize, new_len: usize) {
        let room = SHOWN.saturating_sub(self.rows.len());
        let (before, after) = (self.before, self.after);
        let (gone, come) = (&before[old..old + old_len], &after[new..new + new_len]);
        // Rows that will not be shown are not paired.
        let (gone, come) = (&gone[..gone.len().min(room)], &come[..come.len().min(room)]);
        let (pairs, is_coarse) = pairs(gone, come, self.deadline);
        self.is_coarse |= is_coarse;
        for pair in pairs {
            self.push(|| match pair {
                Pair::Removed(at) => DiffRow::Removed { old: old + at + 1, text: gone[at] },
                Pair::Added(at) => DiffRow::Added { new: new + at + 1, text: come[at] },
                Pair::Changed { old: left, new: right, before, after } => {
                    DiffRow::Changed { old: old + left + 1, new: new + right + 1, before, after }
                }
            });
        }
        self.left_out += (old_len - gone.len()) + (new_len - come.len());
    }

    fn push(&mut self, row: impl FnOnce() -> DiffRow<'a>) {
        if self.rows.len() < SHOWN {
            self.rows.push(row());
        } else {
            self.left_out += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    /// The rows as text, with changed words in brackets.
    fn row_texts(old: &str, new: &str) -> Vec<String> {
        let marked = |parts: &[LinePart<'_>]| -> String {
            let mark = |part: &LinePart<'_>| match part.is_changed {
                true => format!("[{}]", part.text),
                false => part.text.to_owned(),
            };
            parts.iter().map(mark).collect()
        };
        let row = |row: &DiffRow<'_>| match row {
            DiffRow::Same { old, new, text } => format!("{old} {new}  {text}"),
            DiffRow::Changed { old, new, before, after } => {
                format!("{old} {new}~ {} -> {}", marked(before), marked(after))
            }
            DiffRow::Removed { old, text } => format!("{old}  - {text}"),
            DiffRow::Added { new, text } => format!("  {new}+ {text}"),
            DiffRow::Fold { lines, rows } => format!("... {lines} ({})", rows.len()),
        };
        compare(old, new, LONG).rows.iter().map(row).collect()
    }

    fn numbered(from: usize, to: usize) -> String {
        (from..=to).map(|number| format!("line {number}\n")).collect()
    }

    #[test]
    fn changed_words_are_marked() {
        assert_eq!(
            row_texts("a\nLimit of 5 per token.\nz", "a\nLimit of 10 per token and user.\nz"),
            [
                "1 1  a",
                "2 2~ Limit of [5] per token. -> Limit of [10] per token[ and user].",
                "3 3  z"
            ]
        );
        assert_eq!(
            row_texts("Phương án một là đúng", "Phương án hai là sai"),
            ["1 1~ Phương án [một] là [đúng] -> Phương án [hai] là [sai]"]
        );
    }

    #[test]
    fn lines_of_a_block_are_paired_by_likeness() {
        assert_eq!(
            row_texts(
                "The gateway counts requests.\nThe token is shared.",
                "An entirely new opening sentence!\nThe gateway counts all requests.\nThe token is never shared."
            ),
            [
                "  1+ An entirely new opening sentence!",
                "1 2~ The gateway counts requests. -> The gateway counts [all ]requests.",
                "2 3~ The token is shared. -> The token is [never ]shared.",
            ]
        );
        assert_eq!(
            row_texts("one two three", "vier fünf sechs"),
            ["1  - one two three", "  1+ vier fünf sechs"]
        );
    }

    #[test]
    fn long_unchanged_stretches_are_folded() {
        let old = numbered(1, 30);
        let new = old.replace("line 15\n", "line fifteen\n");
        let rows = row_texts(&old, &new);
        assert_eq!(rows[0], "... 11 (11)");
        assert_eq!(rows[1..4], ["12 12  line 12", "13 13  line 13", "14 14  line 14"]);
        assert_eq!(rows[4], "15 15~ line [15] -> line [fifteen]");
        assert_eq!(rows[8], "... 12 (12)");
        assert_eq!(rows.len(), 9);
        // A few unchanged lines are not folded.
        let new = new.replace("line 24\n", "line 24!\n");
        assert!(
            row_texts(&old, &new)[5..].iter().all(|row| !row.starts_with("... 2")),
            "{:?}",
            row_texts(&old, &new)
        );
        let huge = numbered(1, 5_000);
        assert_eq!(row_texts(&huge, &format!("{huge}end\n"))[0], "... 4997 (0)");
    }

    #[test]
    fn added_and_removed_lines_are_counted() {
        let found = compare("a\nb\nc\n", "a\nB\nc\nd\n", LONG);
        assert_eq!((found.added, found.removed, found.is_coarse, found.left_out), (2, 1, false, 0));
        let same = compare("a\nb", "a\nb", LONG);
        assert_eq!((same.added, same.removed, same.differs_in_line_ends), (0, 0, false));
        assert!(compare("a\r\nb\r\n", "a\nb\n", LONG).differs_in_line_ends);
        assert!(compare("a", "a\n", LONG).differs_in_line_ends);
        assert_eq!(compare("", "", LONG).rows, []);
        assert_eq!(row_texts("", "a"), ["  1+ a"]);
        assert_eq!(row_texts("a", ""), ["1  - a"]);
    }

    #[test]
    fn every_line_of_both_texts_is_in_one_row() {
        let texts = [
            "",
            "a",
            "a b c",
            "b c d",
            "x a b",
            "c b a",
            "a a a b",
            "a-b-c d-e-f",
            "a-b-x d-e-y z",
        ];
        let texts = texts.map(|text| text.replace(' ', "\n").replace('-', " "));
        let numbered = |text: &str| -> Vec<(usize, String)> {
            text.lines().enumerate().map(|(at, line)| (at + 1, line.to_owned())).collect()
        };
        let joined =
            |parts: &[LinePart<'_>]| parts.iter().map(|part| part.text).collect::<String>();
        for (old, new) in texts.iter().flat_map(|old| texts.iter().map(move |new| (old, new))) {
            let (mut left, mut right) = (Vec::new(), Vec::new());
            for row in &compare(old, new, LONG).rows {
                match row {
                    DiffRow::Same { old, new, text } => {
                        left.push((*old, (*text).to_owned()));
                        right.push((*new, (*text).to_owned()));
                    }
                    DiffRow::Changed { old, new, before, after } => {
                        left.push((*old, joined(before)));
                        right.push((*new, joined(after)));
                    }
                    DiffRow::Removed { old, text } => left.push((*old, (*text).to_owned())),
                    DiffRow::Added { new, text } => right.push((*new, (*text).to_owned())),
                    DiffRow::Fold { rows, .. } => {
                        left.extend(
                            rows.iter()
                                .zip(1..)
                                .map(|(_, at)| (at, numbered(old)[at - 1].1.clone())),
                        );
                        right.extend(
                            rows.iter()
                                .zip(1..)
                                .map(|(_, at)| (at, numbered(new)[at - 1].1.clone())),
                        );
                    }
                }
            }
            assert_eq!((left, right), (numbered(old), numbered(new)), "{old:?} {new:?}");
        }
    }

    #[test]
    fn hostile_texts_take_bounded_time() {
        // The worst case: the same lines in another order.
        let old: String =
            (0_u64..60_000).map(|n| format!("line {} of many\n", n * 7919 % 60_000)).collect();
        let new: String =
            (0_u64..60_000).map(|n| format!("line {} of many\n", n * 104_729 % 60_000)).collect();
        // Quadratic work would take hours; a busy machine takes seconds.
        let begun = Instant::now();
        let found = compare(&old, &new, Duration::from_millis(200));
        assert!(found.rows.len() <= SHOWN && found.left_out > 0);
        let one_line = "word ".repeat(500_000);
        let other = "ward ".repeat(500_000);
        let found = compare(&one_line, &other, Duration::from_millis(200));
        assert_eq!((found.added, found.removed), (1, 1));
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    }

    #[test]
    fn a_comparison_that_ran_out_of_time_is_marked_as_coarse() {
        let found = compare("a b c d e f\nsame\n", "a b x d e f\nsame\n", Duration::ZERO);
        assert!(found.is_coarse);
        assert_eq!(found.added, found.removed);
    }
}
