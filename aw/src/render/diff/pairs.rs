//! Pairs old lines with the new lines that they became, and marks the changed words.
//!
//! `docs/decisions/0025` says why `similar` does not do this.

use std::collections::HashMap;
use std::time::Instant;

use similar::DiffOp;

use super::LinePart;
use crate::differences::{Algorithm, ops};

/// Blocks with more combinations of lines than this are paired by position.
const COMBINATIONS: usize = 2_500;

/// Lines longer than this, in bytes, are marked as a whole.
const LINE: usize = 20_000;

/// The share of words that two lines must have in common to be a pair.
const ALIKE: f32 = 0.4;

/// A row of the table. Lines are given by their index in their block.
pub(super) enum Pair<'a> {
    Removed(usize),
    Added(usize),
    Changed { old: usize, new: usize, before: Vec<LinePart<'a>>, after: Vec<LinePart<'a>> },
}

/// Pairs a block of old lines with a block of new ones. Also returns whether the result is coarse
/// because time ran out or a line was too long.
pub(super) fn pairs<'a>(
    old: &[&'a str],
    new: &[&'a str],
    deadline: Instant,
) -> (Vec<Pair<'a>>, bool) {
    let mut rows = Vec::with_capacity(old.len().max(new.len()));
    let is_late = Instant::now() >= deadline;
    let matches = matches(old, new, deadline);
    let (mut left, mut right) = (0, 0);
    let mut is_coarse = is_late && !old.is_empty() && !new.is_empty();
    for (old_at, new_at) in matches.into_iter().chain([(old.len(), new.len())]) {
        rows.extend((left..old_at).map(Pair::Removed));
        rows.extend((right..new_at).map(Pair::Added));
        if let (Some(before), Some(after)) = (old.get(old_at), new.get(new_at)) {
            let (before, after, is_whole) = mark(before, after, deadline);
            is_coarse |= is_whole;
            rows.push(Pair::Changed { old: old_at, new: new_at, before, after });
        }
        (left, right) = (old_at + 1, new_at + 1);
    }
    (rows, is_coarse)
}

/// Which old lines became which new lines, by their indexes, in order; none after the deadline.
pub(in crate::render) fn matches(
    old: &[&str],
    new: &[&str],
    deadline: Instant,
) -> Vec<(usize, usize)> {
    if old.is_empty() || new.is_empty() || Instant::now() >= deadline {
        Vec::new()
    } else if old.len() * new.len() <= COMBINATIONS {
        by_likeness(old, new)
    } else {
        by_position(old, new)
    }
}

/// The pairs, in order, whose likenesses have the largest sum.
fn by_likeness(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let old_words: Vec<_> = old.iter().map(|line| WordCounts::of(line)).collect();
    let new_words: Vec<_> = new.iter().map(|line| WordCounts::of(line)).collect();
    let width = new.len() + 1;
    // best[i][j]: the largest sum for the old lines from i on and the new lines from j on.
    let mut best = vec![0.0_f32; (old.len() + 1) * width];
    let mut alike = vec![0.0_f32; old.len() * new.len()];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            let likeness = old_words[i].likeness(&new_words[j]);
            alike[i * new.len() + j] = likeness;
            let paired =
                if likeness >= ALIKE { likeness + best[(i + 1) * width + j + 1] } else { 0.0 };
            best[i * width + j] =
                paired.max(best[(i + 1) * width + j]).max(best[i * width + j + 1]);
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while i < old.len() && j < new.len() {
        let here = best[i * width + j];
        let likeness = alike[i * new.len() + j];
        if likeness >= ALIKE && here == likeness + best[(i + 1) * width + j + 1] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if here == best[(i + 1) * width + j] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

/// Pairs lines at the same position if they are alike.
fn by_position(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let both = old.iter().zip(new).enumerate();
    both.filter(|(_, (old, new))| WordCounts::of(old).likeness(&WordCounts::of(new)) >= ALIKE)
        .map(|(at, _)| (at, at))
        .collect()
}

/// The words of a line, without spaces.
struct WordCounts<'a> {
    counts: HashMap<&'a str, usize>,
    /// The length of all words together, in bytes.
    bytes: usize,
}

impl<'a> WordCounts<'a> {
    /// Counts the words in the first [`LINE`] characters.
    fn of(line: &'a str) -> Self {
        let end = line.char_indices().nth(LINE).map_or(line.len(), |(at, _)| at);
        let mut words = WordCounts { counts: HashMap::new(), bytes: 0 };
        for (_, word) in words_of(&line[..end]) {
            if !word.trim().is_empty() {
                *words.counts.entry(word).or_insert(0) += 1;
                words.bytes += word.len();
            }
        }
        words
    }

    /// The share of two lines that is in both, between 0 and 1.
    fn likeness(&self, other: &Self) -> f32 {
        let bytes = self.bytes + other.bytes;
        if bytes == 0 {
            return 1.0;
        }
        let counts = self.counts.iter();
        let common = counts
            .map(|(word, count)| word.len() * count.min(other.counts.get(word).unwrap_or(&0)));
        2.0 * common.sum::<usize>() as f32 / bytes as f32
    }
}

/// Splits two lines into changed and unchanged parts. Also returns whether each is one changed part
/// because time ran out or a line is too long.
fn mark<'a>(
    before: &'a str,
    after: &'a str,
    deadline: Instant,
) -> (Vec<LinePart<'a>>, Vec<LinePart<'a>>, bool) {
    let whole = |text| vec![LinePart { is_changed: true, text }];
    let is_long = before.len() > LINE || after.len() > LINE;
    if is_long || Instant::now() >= deadline {
        return (whole(before), whole(after), true);
    }
    let (old, new) = (words_of(before), words_of(after));
    let old_words: Vec<&str> = old.iter().map(|(_, word)| *word).collect();
    let new_words: Vec<&str> = new.iter().map(|(_, word)| *word).collect();
    let ops = ops(Algorithm::Myers, &old_words, &new_words, deadline);
    let mut left = PartBuilder::new(before, &old);
    let mut right = PartBuilder::new(after, &new);
    let last = ops.len().saturating_sub(1);
    for (at, op) in ops.iter().enumerate() {
        // A space between two changed words is part of one change.
        let is_equal = match op {
            DiffOp::Equal { old_index, len, .. } => {
                let is_blank = old_words[*old_index..old_index + len].concat().trim().is_empty();
                !is_blank || at == 0 || at == last
            }
            DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => false,
        };
        left.extend(op.old_range().len(), !is_equal);
        right.extend(op.new_range().len(), !is_equal);
    }
    (left.parts, right.parts, false)
}

/// Joins the words of one line to parts.
struct PartBuilder<'a, 'w> {
    line: &'a str,
    words: &'w [(usize, &'a str)],
    parts: Vec<LinePart<'a>>,
    /// Where the last part begins.
    start: usize,
    /// How many words are in parts.
    done: usize,
}

impl<'a, 'w> PartBuilder<'a, 'w> {
    fn new(line: &'a str, words: &'w [(usize, &'a str)]) -> Self {
        PartBuilder { line, words, parts: Vec::new(), start: 0, done: 0 }
    }

    fn extend(&mut self, count: usize, is_changed: bool) {
        if count == 0 {
            return;
        }
        let begin = self.words[self.done].0;
        self.done += count;
        let end = self.words.get(self.done).map_or(self.line.len(), |(at, _)| *at);
        match self.parts.last_mut() {
            Some(last) if last.is_changed == is_changed => last.text = &self.line[self.start..end],
            _ => {
                self.start = begin;
                self.parts.push(LinePart { is_changed, text: &self.line[begin..end] });
            }
        }
    }
}

/// Splits a line into words, spaces and single signs, each with its offset.
pub(in crate::render) fn words_of(line: &str) -> Vec<(usize, &str)> {
    #[derive(PartialEq, Clone, Copy)]
    enum CharClass {
        Word,
        Space,
        Sign,
    }
    let class = |c: char| {
        if c.is_alphanumeric() || c == '_' || ('\u{300}'..='\u{36F}').contains(&c) {
            CharClass::Word
        } else if c.is_whitespace() {
            CharClass::Space
        } else {
            CharClass::Sign
        }
    };
    let mut words = Vec::new();
    let mut start = 0;
    let mut chars = line.char_indices().peekable();
    while let Some((_, c)) = chars.next() {
        let end = chars.peek().map_or(line.len(), |(at, _)| *at);
        let is_one_word = chars.peek().is_some_and(|(_, next)| class(*next) == class(c));
        if class(c) == CharClass::Sign || !is_one_word {
            words.push((start, &line[start..end]));
            start = end;
        }
    }
    words
}
