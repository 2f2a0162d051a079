//! Writes the difference between two texts as a unified diff.

use std::fmt::Write;
use std::ops::Range;
use std::time::Instant;

use similar::udiff::UnifiedHunkHeader;
use similar::{DiffOp, group_diff_ops};

use super::Algorithm;
use super::windows::line_ops;

/// How many unchanged lines are shown around a change.
const AROUND: usize = 3;

/// The unified diff of two named texts, empty if they are the same.
pub(crate) fn unified(
    (old_name, old): (&str, &str),
    (new_name, new): (&str, &str),
    deadline: Instant,
) -> String {
    let mut text = String::new();
    let (mut old_lines, mut new_lines) = (LineWriter::over(old), LineWriter::over(new));
    let ops = line_ops(old, new, lines, Algorithm::Myers, deadline);
    for hunk in group_diff_ops(ops, AROUND).iter().filter(|hunk| !hunk.is_empty()) {
        // Writing to a String cannot fail.
        if text.is_empty() {
            let _ = write!(text, "--- {old_name}\n+++ {new_name}\n");
        }
        let _ = writeln!(text, "{}", UnifiedHunkHeader::new(hunk));
        for op in hunk {
            match op {
                DiffOp::Equal { .. } => old_lines.write(op.old_range(), ' ', &mut text),
                DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => {
                    old_lines.write(op.old_range(), '-', &mut text);
                    new_lines.write(op.new_range(), '+', &mut text);
                }
            }
        }
    }
    text
}

/// The lines of a text with their ends: LF, CRLF or a single CR.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = match rest.find(['\n', '\r']) {
            Some(end) if rest[end..].starts_with("\r\n") => end + 2,
            Some(end) => end + 1,
            None => rest.len(),
        };
        let line;
        (line, rest) = rest.split_at(end);
        (!line.is_empty()).then_some(line)
    })
}

/// Writes ranges of the lines of one text, from first to last.
struct LineWriter<I> {
    lines: I,
    /// The number of the next line.
    next: usize,
}

impl<'a> LineWriter<Box<dyn Iterator<Item = &'a str> + 'a>> {
    fn over(text: &'a str) -> Self {
        LineWriter { lines: Box::new(lines(text)), next: 0 }
    }

    /// Writes these lines. They must come after those written before.
    fn write(&mut self, range: Range<usize>, mark: char, text: &mut String) {
        if range.is_empty() {
            return;
        }
        let skipped = range.start.saturating_sub(self.next);
        for line in self.lines.by_ref().skip(skipped).take(range.len()) {
            text.push(mark);
            text.push_str(line);
            if !line.ends_with(['\n', '\r']) {
                text.push_str("\n\\ No newline at end of file\n");
            }
        }
        self.next = range.end;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use similar::TextDiff;

    use super::*;

    #[test]
    fn the_diff_is_the_same_as_that_of_similar() {
        let mut texts =
            vec![String::new(), "a".to_owned(), "a\n".to_owned(), "a\r\nb\rc".to_owned()];
        // Texts of few different lines, so that some are alike.
        let mut dice = 7_u32;
        for lines in 0..60 {
            let mut text = String::new();
            for _ in 0..lines {
                dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let end = if dice >> 28 == 0 { "\r\n" } else { "\n" };
                let _ = write!(text, "word {}{end}", (dice >> 20) % 9);
            }
            texts.push(text);
        }
        for old in &texts {
            for new in &texts {
                let deadline = Instant::now() + Duration::from_secs(60);
                let expected =
                    TextDiff::from_lines(old, new).unified_diff().header("v1", "v2").to_string();
                assert_eq!(
                    unified(("v1", old), ("v2", new), deadline),
                    expected,
                    "{old:?} {new:?}"
                );
            }
        }
    }
}
