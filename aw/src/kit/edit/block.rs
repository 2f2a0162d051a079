//! Lines of Markdown between two markers, at the end of a file.

use std::ops::Range;

use super::{
    CannotEdit, Insertion, line_end, only, replaced, separator, with_blank_line, without,
    without_ours,
};

const BEGIN: &str =
    "<!-- aw:begin: `aw agent install` wrote this, `aw agent uninstall` removes it -->";
const END: &str = "<!-- aw:end -->";

/// How the first and the last line of a block begin.
const MARKS: [&str; 2] = ["<!-- aw:begin", "<!-- aw:end"];

pub(super) fn insert(file: &str, lines: &str, before: &[String]) -> Result<Insertion, CannotEdit> {
    let block = |end: &str| [BEGIN, lines.trim(), END, ""].join("\n").replace('\n', end);
    if let Some(range) = before.iter().find_map(|before| only(file, before)) {
        // The line ends stay as they are, and so does the blank line before the block.
        let now = &file[range.clone()];
        let inserted = format!("{}{}", lead(now, MARKS), block(line_end(now)));
        if inserted == file[range.clone()] {
            return Ok(Insertion::Present { inserted });
        }
        return Ok(Insertion::New { file: replaced(file, range, &inserted), inserted });
    }
    let end = line_end(file);
    match block_in(file, MARKS)? {
        Some(range) if file[range.clone()] == block(end) => {
            Ok(Insertion::Present { inserted: file[with_blank_line(file, range)].to_owned() })
        }
        Some(_) => Ok(Insertion::Foreign),
        None => {
            let inserted = format!("{}{}", separator(file, end), block(end));
            Ok(Insertion::New { file: format!("{file}{inserted}"), inserted })
        }
    }
}

pub(super) fn remove(file: &str, inserted: &[String]) -> String {
    let exactly = inserted.iter().find_map(|text| only(file, text));
    let edited = || inserted.iter().find_map(|text| without_edited_block(file, text, MARKS));
    exactly.map(|range| without(file, range)).or_else(edited).unwrap_or_else(|| file.to_owned())
}

pub(super) fn is_in(file: &str) -> bool {
    matches!(block_in(file, MARKS), Ok(Some(_)))
}

/// The file with only those lines of the block left that somebody else wrote.
pub(super) fn without_edited_block(file: &str, inserted: &str, marks: [&str; 2]) -> Option<String> {
    let range = block_in(file, marks).ok()??;
    let apart = lead(inserted, marks);
    let theirs = without_ours(&file[range.clone()], &inserted[apart.len()..]);
    if !theirs.trim().is_empty() {
        return Some(replaced(file, range, &theirs));
    }
    // The separator goes with the block.
    let apart = if file[..range.start].ends_with(apart) { apart.len() } else { 0 };
    Some(without(file, range.start - apart..range.end))
}

/// The lines of our block, markers included. A line that only mentions a marker is none.
fn block_in(file: &str, marks: [&str; 2]) -> Result<Option<Range<usize>>, CannotEdit> {
    let mut begun: Option<Range<usize>> = None;
    let mut at = 0;
    let half = |line: Range<usize>| CannotEdit::HalfABlock(file[line].trim().to_owned());
    for line in file.split_inclusive('\n') {
        let range = at..at + line.len();
        at = range.end;
        let line = line.trim_start_matches(['\u{feff}', ' ', '\t']);
        match &begun {
            None if line.starts_with(marks[0]) => begun = Some(range),
            None if line.starts_with(marks[1]) => return Err(half(range)),
            Some(begin) if line.starts_with(marks[1]) => return Ok(Some(begin.start..range.end)),
            Some(_) | None => {}
        }
    }
    begun.map_or(Ok(None), |begin| Err(half(begin)))
}

/// The separator before the block in an inserted text.
fn lead<'a>(inserted: &'a str, marks: [&str; 2]) -> &'a str {
    &inserted[..inserted.find(marks[0]).unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "## Debates\n\nUse `aw`.";

    fn with(file: &str) -> (String, [String; 1]) {
        match insert(file, LINES, &[]) {
            Ok(Insertion::New { file, inserted }) => (file, [inserted]),
            other => panic!("{other:?} for {file:?}"),
        }
    }

    #[test]
    fn a_block_is_inserted_into_any_markdown_and_removed_without_a_trace() {
        for file in [
            "",
            "\n",
            "# Mine",
            "# Mine\n",
            "# Mine\n\n",
            "# Mine  \t\n \n\n\n",
            "# Mine\r\n\r\nWindows\r\n",
            "# Mine\r\nWindows",
            "# Mine\r\nmixed\nlines\r\n",
            "mixed\nlines\r\n",
            "an old Mac\rwrote this\r",
            "\u{feff}",
            "\u{feff}# Mine\n",
            "nul \0 and escape \u{1b}[31m\n",
            "```\nan open fence\n",
            "We write `<!-- aw:begin -->` and `<!-- aw:end -->` in the middle of a line.\n",
            "Người dùng 🙂 e\u{301}\u{2028}line\u{85}\n",
        ] {
            let (with, inserted) = with(file);
            assert!(with.starts_with(file), "{file:?}");
            let present = Insertion::Present { inserted: inserted[0].clone() };
            assert_eq!(insert(&with, LINES, &inserted), Ok(present));
            assert_eq!(remove(&with, &inserted), file);
            if line_end(file) == "\r\n" {
                assert!(!inserted[0].replace("\r\n", "").contains('\n'), "{with:?}");
            }
        }
    }

    #[test]
    fn lines_that_somebody_wrote_around_the_block_stay_apart() {
        for (file, added, left) in [
            ("# Mine\n", "\nMore.\n", "# Yours\n\nMore.\n"),
            ("# Mine\n", "More.\n", "# Yours\nMore.\n"),
            ("# Mine", "More.", "# Yours\nMore."),
            ("# Mine", "\nMore.\n", "# Yours\nMore.\n"),
            ("# Mine\r\n", "More.\r\n", "# Yours\r\nMore.\r\n"),
            ("# Mine\r\nend", "More.\r\n", "# Yours\r\nend\r\nMore.\r\n"),
            ("# Mine\n\n", "\n\n\n", "# Yours\n\n\n\n\n"),
        ] {
            let (with, inserted) = with(file);
            let edited = with.replace("# Mine", "# Yours") + added;
            assert_eq!(remove(&edited, &inserted), left, "{edited:?}");
        }
    }

    #[test]
    fn a_newer_block_replaces_the_older_one() {
        let (with, inserted) = with("# Mine\n");
        let with = format!("{with}\nMore of mine\n");
        let newer = insert(&with, "## Newer", &inserted).unwrap();
        let Insertion::New { file, inserted } = newer else { panic!("{newer:?}") };
        assert!(file.contains("## Newer") && !file.contains("## Debates"), "{file}");
        assert_eq!(remove(&file, &[inserted]), "# Mine\n\nMore of mine\n");
    }

    #[test]
    fn lines_that_somebody_wrote_into_the_block_stay() {
        let (with, inserted) = with("# Mine\n");
        let edited = with.replace("Use `aw`.\n", "Use `aw`.\nAlways ask Ann first.\n");
        assert_eq!(insert(&edited, LINES, &inserted), Ok(Insertion::Foreign));
        assert_eq!(remove(&edited, &inserted), "# Mine\n\nAlways ask Ann first.\n");
    }

    #[test]
    fn half_a_block_is_refused() {
        let refused = insert("<!-- aw:begin -->\ntext\n", LINES, &[]).unwrap_err();
        assert!(refused.to_string().contains("aw:begin"), "{refused}");
        assert!(insert("text\n<!-- aw:end -->\n", LINES, &[]).is_err());
    }
}
