//! Which old line became which new one, and which of its words changed.

use std::collections::HashMap;
use std::time::Instant;

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

use super::LinePart;

/// Blocks with more combinations than this are paired by place.
const COMBINATIONS: usize = 2_500;

/// Lines longer than this are marked as a whole.
const LINE: usize = 20_000;

/// How much two lines must have in common to be one line that changed, as a share of their words.
const ALIKE: f32 = 0.4;

/// Places in the two blocks, in the order in which they are shown.
pub(super) enum Pair<'a> {
    Removed(usize),
    Added(usize),
    Changed { old: usize, new: usize, before: Vec<LinePart<'a>>, after: Vec<LinePart<'a>> },
}

/// Pairs a block of old lines with a block of new ones; says whether time ran out.
pub(super) fn pairs<'a>(
    old: &[&'a str],
    new: &[&'a str],
    deadline: Instant,
) -> (Vec<Pair<'a>>, bool) {
    let mut found = Vec::with_capacity(old.len().max(new.len()));
    let is_late = Instant::now() >= deadline;
    let matches = if old.is_empty() || new.is_empty() || is_late {
        Vec::new()
    } else if old.len() * new.len() <= COMBINATIONS {
        by_likeness(old, new)
    } else {
        by_place(old, new)
    };
    let (mut left, mut right) = (0, 0);
    let mut is_coarse = is_late && !old.is_empty() && !new.is_empty();
    for (old_at, new_at) in matches.into_iter().chain([(old.len(), new.len())]) {
        found.extend((left..old_at).map(Pair::Removed));
        found.extend((right..new_at).map(Pair::Added));
        if let (Some(before), Some(after)) = (old.get(old_at), new.get(new_at)) {
            let (before, after, is_whole) = marked(before, after, deadline);
            is_coarse |= is_whole;
            found.push(Pair::Changed { old: old_at, new: new_at, before, after });
        }
        (left, right) = (old_at + 1, new_at + 1);
    }
    (found, is_coarse)
}

/// The pairs with the most in common altogether, in order.
fn by_likeness(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let old_words: Vec<_> = old.iter().map(|line| counted(line)).collect();
    let new_words: Vec<_> = new.iter().map(|line| counted(line)).collect();
    let width = new.len() + 1;
    // best[i][j]: the most that the lines from i and from j on can have in common.
    let mut best = vec![0.0_f32; (old.len() + 1) * width];
    let mut alike = vec![0.0_f32; old.len() * new.len()];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            let likeness = likeness(&old_words[i], &new_words[j]);
            alike[i * new.len() + j] = likeness;
            let paired =
                if likeness >= ALIKE { likeness + best[(i + 1) * width + j + 1] } else { 0.0 };
            best[i * width + j] =
                paired.max(best[(i + 1) * width + j]).max(best[i * width + j + 1]);
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut found = Vec::new();
    while i < old.len() && j < new.len() {
        let here = best[i * width + j];
        let likeness = alike[i * new.len() + j];
        if likeness >= ALIKE && here == likeness + best[(i + 1) * width + j + 1] {
            found.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if here == best[(i + 1) * width + j] {
            i += 1;
        } else {
            j += 1;
        }
    }
    found
}

/// Line by line, where the two are alike at all.
fn by_place(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let both = old.iter().zip(new).enumerate();
    both.filter(|(_, (old, new))| likeness(&counted(old), &counted(new)) >= ALIKE)
        .map(|(at, _)| (at, at))
        .collect()
}

/// How often each word stands in a line, and how much there is of it altogether.
fn counted(line: &str) -> (HashMap<&str, usize>, usize) {
    let mut words = HashMap::new();
    let mut total = 0;
    // A line that is too long to be compared word by word is judged by its beginning.
    let most = line.char_indices().nth(LINE).map_or(line.len(), |(at, _)| at);
    let words_of_it = words_of(&line[..most]).into_iter().map(|(_, word)| word);
    for word in words_of_it.filter(|word| !word.trim().is_empty()) {
        *words.entry(word).or_insert(0) += 1;
        total += word.len();
    }
    (words, total)
}

/// What share of two lines is in both, between 0 and 1.
fn likeness(old: &(HashMap<&str, usize>, usize), new: &(HashMap<&str, usize>, usize)) -> f32 {
    let total = old.1 + new.1;
    if total == 0 {
        return 1.0;
    }
    let common =
        old.0.iter().map(|(word, count)| word.len() * count.min(new.0.get(word).unwrap_or(&0)));
    2.0 * common.sum::<usize>() as f32 / total as f32
}

/// Two lines in parts; says whether they are marked as a whole because time or size forbids more.
fn marked<'a>(
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
    let ops =
        capture_diff_slices_deadline(Algorithm::Myers, &old_words, &new_words, Some(deadline));
    let mut left = Marks::new(before, &old);
    let mut right = Marks::new(after, &new);
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

/// The parts of one line, word by word.
struct Marks<'a, 'w> {
    line: &'a str,
    words: &'w [(usize, &'a str)],
    parts: Vec<LinePart<'a>>,
    /// Where the last segment begins, and how many words are in parts.
    start: usize,
    done: usize,
}

impl<'a, 'w> Marks<'a, 'w> {
    fn new(line: &'a str, words: &'w [(usize, &'a str)]) -> Self {
        Marks { line, words, parts: Vec::new(), start: 0, done: 0 }
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

/// A line in words, spaces and single signs, each with where it begins.
fn words_of(line: &str) -> Vec<(usize, &str)> {
    #[derive(PartialEq, Clone, Copy)]
    enum Kind {
        Word,
        Space,
        Sign,
    }
    let mut words = Vec::new();
    let mut begun: Option<(usize, Kind)> = None;
    for (at, c) in line.char_indices() {
        let kind = if c.is_alphanumeric() || c == '_' || ('\u{300}'..='\u{36F}').contains(&c) {
            Kind::Word
        } else if c.is_whitespace() {
            Kind::Space
        } else {
            Kind::Sign
        };
        match begun {
            Some((_, last)) if last == kind && kind != Kind::Sign => {}
            Some((start, _)) => {
                words.push((start, &line[start..at]));
                begun = Some((at, kind));
            }
            None => begun = Some((at, kind)),
        }
    }
    if let Some((start, _)) = begun {
        words.push((start, &line[start..]));
    }
    words
}
