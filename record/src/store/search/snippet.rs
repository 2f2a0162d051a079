//! The piece of a text that shows why a search found it.

use super::query::Query;
use super::words::words;
use crate::SnippetPart;

/// How many characters a snippet has at most, apart from cutting no word.
const LENGTH: usize = 200;

/// How many characters come before the first match.
const BEFORE: usize = 60;

/// The piece of a text around its first match; the beginning of a text without one. Matches are parts
/// of their own, so that no text can imitate one.
pub(super) fn snippet(text: &str, query: Option<&Query>) -> Vec<SnippetPart> {
    let is_match = |word: &str| query.is_some_and(|query| query.matches(word));
    let first = words(text).find(|word| is_match(&word.folded)).map(|word| word.place.start);
    let begin = first.map_or(0, |first| beginning(text, first));
    let mut parts = Vec::new();
    if begin > 0 {
        push(&mut parts, "… ", false);
    }
    let end = text[begin..].char_indices().nth(LENGTH).map_or(text.len(), |(at, _)| begin + at);
    let mut done = begin;
    for word in words(&text[begin..]) {
        let (from, to) = (begin + word.place.start, begin + word.place.end);
        if from >= end {
            break;
        }
        if is_match(&word.folded) {
            push(&mut parts, &text[done..from], false);
            push(&mut parts, &text[from..to], true);
            done = to;
        }
    }
    push(&mut parts, text.get(done..end.max(done)).unwrap_or_default(), false);
    if end < text.len() {
        push(&mut parts, " …", false);
    }
    parts
}

/// Where a snippet begins whose first match is here: at a word.
fn beginning(text: &str, first: usize) -> usize {
    let from = text[..first].char_indices().rev().nth(BEFORE - 1).map_or(0, |(at, _)| at);
    if from == 0 {
        return 0;
    }
    let space = text[from..first].find(char::is_whitespace).map_or(first, |at| from + at);
    text[space..first].find(|letter: char| !letter.is_whitespace()).map_or(first, |at| space + at)
}

/// Adds a part. Runs of spaces, line ends and control characters become one space.
fn push(parts: &mut Vec<SnippetPart>, text: &str, is_match: bool) {
    let mut line = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter.is_whitespace() || letter.is_control() {
            true if line.ends_with(' ') => {}
            true => line.push(' '),
            false => line.push(letter),
        }
    }
    if line.is_empty() {
        return;
    }
    match parts.last_mut().filter(|last| last.is_match == is_match) {
        Some(last) => last.text += &line,
        None => parts.push(SnippetPart { text: line, is_match }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts of a snippet, with matches in brackets.
    fn shown(text: &str, search: &str) -> String {
        let parts = snippet(text, Query::of(search).as_ref());
        let shown = parts.iter().map(|part| match part.is_match {
            true => format!("[{}]", part.text),
            false => part.text.clone(),
        });
        shown.collect()
    }

    #[test]
    fn a_snippet_shows_the_matches_as_they_are_written() {
        assert_eq!(shown("Đã trả lời cho An.", "tra loi"), "Đã [trả] [lời] cho An.");
        assert_eq!(
            shown("The budgets\n\n\tof a budget.", "budget"),
            "The [budgets] of a [budget]."
        );
        assert_eq!(shown("Nothing here.", "budget"), "Nothing here.");
        assert_eq!(shown("e\u{301}tude", "etude"), "[e\u{301}tude]");
        assert_eq!(shown("", "etude"), "");
    }

    #[test]
    fn a_snippet_of_a_long_text_begins_before_the_first_match() {
        let long = format!("{}needle {}", "straw ".repeat(100), "hay ".repeat(100));
        let shown = shown(&long, "needle");
        assert!(shown.starts_with("… straw straw "), "{shown}");
        assert!(shown.contains("straw [needle] hay"), "{shown}");
        assert!(shown.ends_with(" …") && shown.chars().count() < 220, "{shown}");
    }

    #[test]
    fn a_snippet_of_one_endless_word_is_cut() {
        assert!(shown(&"x".repeat(100_000), "y").chars().count() < 220);
        let late = format!("{} needle", "é".repeat(5_000));
        assert_eq!(shown(&late, "needle"), "… [needle]");
    }
}
