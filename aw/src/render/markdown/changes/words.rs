//! Marks the changed words in a run of text with inline tags.

use std::collections::HashMap;
use std::time::Instant;

use similar::DiffOp;

use super::parts::tags;
use crate::differences::{Algorithm, ops};
use crate::render::diff::{matches, words_of};

/// Runs longer than this, in bytes, are marked as a whole.
const RUN: usize = 20_000;

/// The share that two runs must have in common. Below it the old one is struck out as a whole.
const COMMON: f32 = 0.35;

/// How many bytes between two changes are part of one change.
const JOINED: usize = 2;

/// The change of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Same,
    Gone,
    New,
}

impl Mark {
    pub(super) fn open(self) -> &'static str {
        match self {
            Mark::Same => "",
            // An agent's own strikethrough is a `del` without a class.
            Mark::Gone => "<del class=\"gone\">",
            Mark::New => "<ins>",
        }
    }

    pub(super) fn close(self) -> &'static str {
        match self {
            Mark::Same => "",
            Mark::Gone => "</del>",
            Mark::New => "</ins>",
        }
    }
}

/// Whether words were marked.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum WordsOutcome {
    /// The runs differ in spaces only.
    Same,
    Marked,
    /// Marked as a whole, because a run is too long or time ran out.
    Coarse,
}

/// Adds the new run to the HTML, with the words marked that the old run lacks, and with those that
/// are gone. In code every space counts, and lines are compared before words.
pub(super) fn push(
    html: &mut String,
    old: &str,
    new: &str,
    is_code: bool,
    deadline: Instant,
) -> WordsOutcome {
    let mut paths = Paths::default();
    let (before, after) = (tokens(old, is_code, &mut paths), tokens(new, is_code, &mut paths));
    let is_late = Instant::now() >= deadline;
    let is_long = !is_code && old.len().max(new.len()) > RUN;
    let segments = if is_late || is_long {
        vec![(Mark::Gone, &before[..]), (Mark::New, &after[..])]
    } else if is_code {
        by_line(&before, &after, deadline)
    } else {
        by_word(&before, &after, deadline)
    };
    paths.write(html, &segments);
    match segments.iter().all(|(mark, _)| *mark == Mark::Same) {
        true => WordsOutcome::Same,
        false if is_late || is_long => WordsOutcome::Coarse,
        false => WordsOutcome::Marked,
    }
}

/// A word, a space, a sign or a tag without content.
#[derive(Clone, Copy)]
struct Token<'h> {
    text: &'h str,
    /// The compared parts: the text, with any space as one space outside of code; and the tags around.
    key: (&'h str, usize),
}

impl Token<'_> {
    /// How much it counts when two runs are compared: its length, and little for a tag.
    fn weight(&self) -> usize {
        if self.text.starts_with('<') { 1 } else { self.text.trim().len() }
    }
}

/// Tokens with what became of them.
type Segment<'t, 'h> = (Mark, &'t [Token<'h>]);

fn by_word<'t, 'h>(
    old: &'t [Token<'h>],
    new: &'t [Token<'h>],
    deadline: Instant,
) -> Vec<Segment<'t, 'h>> {
    let keys = |tokens: &[Token<'h>]| tokens.iter().map(|token| token.key).collect::<Vec<_>>();
    let ops = ops(Algorithm::Myers, &keys(old), &keys(new), deadline);
    let bytes = |tokens: &[Token<'_>]| -> usize { tokens.iter().map(Token::weight).sum() };
    let is_equal = |op: &&DiffOp| matches!(op, DiffOp::Equal { .. });
    let common: usize = ops.iter().filter(is_equal).map(|op| bytes(&new[op.new_range()])).sum();
    if (2 * common) as f32 <= COMMON * (bytes(old) + bytes(new)) as f32 && ops.len() > 1 {
        return vec![(Mark::Gone, old), (Mark::New, new)];
    }
    let last = ops.len().saturating_sub(1);
    let mut segments = Vec::new();
    // The start of the current change in both.
    let mut change: Option<(usize, usize)> = None;
    let close = |segments: &mut Vec<Segment<'t, 'h>>, begin, old_end, new_end| {
        let (old_begin, new_begin): (usize, usize) = begin;
        segments.push((Mark::Gone, &old[old_begin..old_end]));
        segments.push((Mark::New, &new[new_begin..new_end]));
    };
    for (at, op) in ops.iter().enumerate() {
        let (was, is) = (op.old_range(), op.new_range());
        let equal = is_equal(&op);
        let joins = equal && bytes(&new[is.clone()]) <= JOINED;
        // Spaces, signs and single letters between two changes are part of one change.
        if equal && !(joins && change.is_some() && at < last) {
            if let Some(begin) = change.take() {
                close(&mut segments, begin, was.start, is.start);
            }
            segments.push((Mark::Same, &new[is]));
        } else if change.is_none() {
            change = Some((was.start, is.start));
        }
    }
    if let Some(begin) = change {
        close(&mut segments, begin, old.len(), new.len());
    }
    segments.retain(|(_, tokens)| !tokens.is_empty());
    segments
}

fn by_line<'t, 'h>(
    old: &'t [Token<'h>],
    new: &'t [Token<'h>],
    deadline: Instant,
) -> Vec<Segment<'t, 'h>> {
    let (before, after) = (lines(old), lines(new));
    let keys = |lines: &[&[Token<'h>]]| -> Vec<Vec<_>> {
        lines.iter().map(|line| line.iter().map(|token| token.key).collect()).collect()
    };
    let ops = ops(Algorithm::Histogram, &keys(&before), &keys(&after), deadline);
    let mut segments = Vec::new();
    for op in ops {
        let (was, is) = (&before[op.old_range()], &after[op.new_range()]);
        if matches!(op, DiffOp::Equal { .. }) {
            segments.extend(is.iter().map(|line| (Mark::Same, *line)));
            continue;
        }
        let text = |line: &&[Token<'_>]| line.iter().map(|token| token.text).collect::<String>();
        let (gone, come): (Vec<_>, Vec<_>) =
            (was.iter().map(text).collect(), is.iter().map(text).collect());
        let pairs = matches(&super::as_str(&gone), &super::as_str(&come), deadline);
        let (mut left, mut right) = (0, 0);
        for (a, b) in pairs.into_iter().chain([(was.len(), is.len())]) {
            segments.extend(was[left..a].iter().map(|line| (Mark::Gone, *line)));
            segments.extend(is[right..b].iter().map(|line| (Mark::New, *line)));
            if let (Some(was), Some(is)) = (was.get(a), is.get(b)) {
                segments.extend(by_word(was, is, deadline));
            }
            (left, right) = (a + 1, b + 1);
        }
    }
    segments
}

/// Splits code into its lines.
fn lines<'t, 'h>(tokens: &'t [Token<'h>]) -> Vec<&'t [Token<'h>]> {
    tokens.split_inclusive(|token| token.text == "\n").collect()
}

/// Splits a run into words, spaces, signs and tags without content.
fn tokens<'h>(run: &'h str, is_code: bool, paths: &mut Paths<'h>) -> Vec<Token<'h>> {
    let mut found = Vec::new();
    let mut open: Vec<&'h str> = Vec::new();
    let mut path = paths.id(&open);
    let mut done = 0;
    for tag in tags(run) {
        push_words(&mut found, &run[done..tag.start], path, is_code);
        done = tag.end;
        let text = &run[tag.start..tag.end];
        match tag.name {
            // A label around one of two checkboxes would be empty.
            "label" => {}
            "br" => found.push(Token { text, key: (text, path) }),
            "input" => {
                let text = match text.contains(" checked") {
                    true => "<input type=\"checkbox\" disabled checked aria-label=\"[x]\">",
                    false => "<input type=\"checkbox\" disabled aria-label=\"[ ]\">",
                };
                found.push(Token { text, key: (text, path) });
            }
            _ if tag.is_end => {
                open.pop();
                path = paths.id(&open);
            }
            _ => {
                open.push(text);
                path = paths.id(&open);
            }
        }
    }
    push_words(&mut found, &run[done..], path, is_code);
    found
}

/// Splits text without tags. `&lt;` is one token.
fn push_words<'h>(found: &mut Vec<Token<'h>>, text: &'h str, path: usize, is_code: bool) {
    let mut push = |text: &'h str| {
        let is_space = text.trim().is_empty() && !is_code;
        found.push(Token { text, key: (if is_space { " " } else { text }, path) });
    };
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find('&').unwrap_or(rest.len());
        for (_, word) in words_of(&rest[..end]) {
            // Line ends of code are tokens of their own.
            if is_code && word.contains('\n') {
                word.split_inclusive('\n').for_each(|part| match part.strip_suffix('\n') {
                    Some("") | None => push(part),
                    Some(spaces) => {
                        push(spaces);
                        push(&part[spaces.len()..]);
                    }
                });
            } else {
                push(word);
            }
        }
        let entity = rest[end..].find(';').map_or(rest.len(), |at| end + at + 1);
        if entity > end {
            push(&rest[end..entity]);
        }
        rest = &rest[entity..];
    }
}

/// The tags around tokens, each combination once.
#[derive(Default)]
struct Paths<'h> {
    ids: HashMap<Vec<&'h str>, usize>,
    paths: Vec<Vec<&'h str>>,
}

impl<'h> Paths<'h> {
    fn id(&mut self, path: &[&'h str]) -> usize {
        if let Some(id) = self.ids.get(path) {
            return *id;
        }
        self.paths.push(path.to_vec());
        self.ids.insert(path.to_vec(), self.paths.len() - 1);
        self.paths.len() - 1
    }

    /// Writes tokens with their marks, and inside of these with their tags.
    fn write(&self, html: &mut String, segments: &[Segment<'_, 'h>]) {
        let mut mark = Mark::Same;
        let mut open: &[&str] = &[];
        for (next, tokens) in segments {
            for token in *tokens {
                let path = &self.paths[token.key.1][..];
                if *next != mark {
                    close(html, open, 0);
                    html.push_str(mark.close());
                    html.push_str(next.open());
                    (mark, open) = (*next, &[]);
                }
                let same = open.iter().zip(path).take_while(|(open, tag)| open == tag).count();
                close(html, open, same);
                path[same..].iter().for_each(|tag| html.push_str(tag));
                open = path;
                html.push_str(token.text);
            }
        }
        close(html, open, 0);
        html.push_str(mark.close());
    }
}

/// Closes the open tags after the first `kept`.
fn close(html: &mut String, open: &[&str], kept: usize) {
    for tag in open[kept..].iter().rev() {
        let name = tag.trim_start_matches('<').trim_end_matches('>').split(' ').next();
        html.push_str("</");
        html.push_str(name.unwrap_or_default());
        html.push('>');
    }
}
