//! Draws what changed between two versions of a Markdown text: the new version as HTML, with
//! insertions and deletions marked in it and unchanged sections folded. Begin with [`changes`].
//!
//! Both versions are drawn first. [`parts`] takes the HTML apart, equal parts are found by their HTML,
//! and [`words`] marks the words of a part that changed. The sanitiser checks the result. Time and
//! output are bounded: texts that are too long or too slow to draw return nothing, and a comparison
//! that runs out of time marks more than has changed, never less.

mod parts;
mod words;

use std::time::{Duration, Instant};

use similar::DiffOp;

use self::parts::{Part, parts, text_of};
use self::words::{Mark, WordsOutcome};
use super::allowed::CHANGES_SANITISER;
use super::{DRAWN, draw, invisible_chars};
use crate::differences::{Algorithm, ops};
use crate::render::diff::matches;
use crate::render::i18n::{Phrases, put};

/// Folds of fewer parts than this are not worth it, unless they are long.
const LEAST_FOLD: usize = 3;

/// A fold of less HTML than this, in bytes, may be too short to be worth it.
const SHORT_FOLD: usize = 600;

/// The most HTML in all folds together, in bytes. Further folds only say how much they hide.
const IN_FOLDS: usize = 192 * 1024;

/// The most HTML of changed parts, in bytes. Browsers become slow beyond that.
const SHOWN: usize = 1024 * 1024;

/// The changes between two versions of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RenderedChanges {
    /// The new version as sanitised HTML. Each place that changed is a `div.change`, insertions are
    /// `ins`, deletions `del.gone`, and folds `details.unchanged`.
    pub(crate) html: String,
    /// How many places changed.
    pub(crate) count: usize,
    /// Whether unchanged words may be marked too, because time ran out or a part was too long.
    pub(crate) is_coarse: bool,
    /// How many changed parts at the end are left out because there are too many.
    pub(crate) left_out: usize,
}

/// Draws what changed from `old` to `new`, which is version `number` of its document. Returns nothing
/// if the changed stretch is longer than what is drawn as Markdown, or takes too long to parse.
/// Comparing takes at most about `patience`.
pub(crate) fn changes(
    old: &str,
    new: &str,
    number: u64,
    t: &'static Phrases,
    patience: Duration,
) -> Option<RenderedChanges> {
    let same =
        if old.len().max(new.len()) > DRAWN { SameEnds::of(old, new) } else { SameEnds::NONE };
    let (old, new) = (same.between(old), same.between(new));
    if old.len().max(new.len()) > DRAWN {
        return None;
    }
    let drawn = |text: &str| draw(text, &|_| None, &[], &mut invisible_chars::NAMED.clone());
    let (old, new) = (drawn(old)?, drawn(new)?);
    let mut comparing = Comparing { deadline: Instant::now() + patience, is_coarse: false };
    let units = comparing.units(&old, &new, number, t);
    let mut page = Folding { t, html: String::new(), count: 0, in_folds: 0, shown: 0, left_out: 0 };
    page.hidden(same.before, 0, &[]);
    page.draw(&units);
    page.hidden(same.after, 0, &[]);
    Some(RenderedChanges {
        html: CHANGES_SANITISER.clean(&page.html).to_string(),
        count: page.count,
        is_coarse: comparing.is_coarse,
        left_out: page.left_out,
    })
}

/// The whole sections that two long texts begin and end with.
struct SameEnds {
    begin: usize,
    end: usize,
    /// How many sections are at the beginning, and at the end.
    before: usize,
    after: usize,
}

impl SameEnds {
    const NONE: SameEnds = SameEnds { begin: 0, end: 0, before: 0, after: 0 };

    fn of(old: &str, new: &str) -> Self {
        let same = old.bytes().zip(new.bytes()).take_while(|(old, new)| old == new).count();
        let old_heads = headings(old);
        let begin = old_heads.iter().rposition(|at| *at < same);
        let (from, before) = begin.map_or((0, 0), |begin| (old_heads[begin], begin));
        let rest = (&old.as_bytes()[from..], &new.as_bytes()[from..]);
        let ends = rest.0.iter().rev().zip(rest.1.iter().rev());
        let same = ends.take_while(|(old, new)| old == new).count();
        // From the end, where both texts have the same offsets.
        let ends_of = |text: &str, heads: &[usize]| -> Vec<usize> {
            heads.iter().map(|at| text.len() - at).filter(|end| *end <= same).collect()
        };
        let new_ends = ends_of(new, &headings(new));
        let mut both = ends_of(old, &old_heads);
        both.retain(|end| new_ends.binary_search_by(|other| end.cmp(other)).is_ok());
        let (end, after) = (both.first().copied().unwrap_or(0), both.len());
        SameEnds { begin: from, end, before, after }
    }

    fn between<'a>(&self, text: &'a str) -> &'a str {
        &text[self.begin..text.len() - self.end]
    }
}

/// The offsets of the headings of a text, outside of fenced code.
fn headings(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut fence: Option<(u8, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = line.trim_start_matches(' ');
        let first = start.bytes().next().unwrap_or(b' ');
        let signs = start.bytes().take_while(|byte| *byte == first).count();
        if matches!(first, b'`' | b'~') && signs >= 3 {
            match fence {
                None => fence = Some((first, signs)),
                Some((sign, least)) => {
                    let ends = sign == first && signs >= least && start[signs..].trim().is_empty();
                    fence = fence.filter(|_| !ends);
                }
            }
        } else if first == b'#' && fence.is_none() && signs <= 6 && start[signs..].starts_with(' ')
        {
            found.push(at);
        }
        at += line.len();
    }
    found
}

/// A part of the page between its outermost tags: unchanged, or with marks.
struct Unit {
    html: String,
    is_changed: bool,
    is_heading: bool,
}

/// A step from the old parts to the new ones.
enum Step {
    Same(usize),
    Changed { old: usize, new: usize },
    Removed(usize),
    Added(usize),
}

struct Comparing {
    deadline: Instant,
    is_coarse: bool,
}

impl Comparing {
    fn units(&mut self, old: &str, new: &str, number: u64, t: &'static Phrases) -> Vec<Unit> {
        let (old, new) = (parts(old, ""), parts(new, ""));
        let mut units = Vec::new();
        for step in self.steps(&old, &new, "") {
            let mut html = String::new();
            let is_changed = match step {
                Step::Same(at) => {
                    html.push_str(new[at].outer());
                    false
                }
                Step::Changed { old: before, new: after } => {
                    self.changed(&mut html, &old[before], &new[after], "")
                }
                Step::Removed(at) => whole(&mut html, &old[at], Mark::Gone, ""),
                Step::Added(at) => {
                    whole(&mut html, &new[at], Mark::New, "");
                    if let Some(end) = html.rfind("</h").filter(|_| new[at].is_heading()) {
                        let note = put(t.new_in_version, number);
                        html.insert_str(end, &format!(" <span class=\"tag\">{note}</span>"));
                    }
                    true
                }
            };
            let is_heading = match step {
                Step::Removed(_) => false,
                Step::Same(at) | Step::Changed { new: at, .. } | Step::Added(at) => {
                    new[at].is_heading()
                }
            };
            units.push(Unit { html, is_changed, is_heading });
        }
        units
    }

    /// Draws a part that became another. Returns whether something is marked.
    fn changed(&mut self, html: &mut String, old: &Part<'_>, new: &Part<'_>, parent: &str) -> bool {
        match (old, new) {
            (Part::Block(old), Part::Block(new)) => {
                let (before, after) = (parts(old.inner, old.name), parts(new.inner, new.name));
                html.push_str(new.open);
                let mut is_marked = false;
                for step in self.steps(&before, &after, new.name) {
                    is_marked |= match step {
                        Step::Same(at) => {
                            html.push_str(after[at].outer());
                            false
                        }
                        Step::Changed { old, new: at } => {
                            self.changed(html, &before[old], &after[at], new.name)
                        }
                        Step::Removed(at) => whole(html, &before[at], Mark::Gone, new.name),
                        Step::Added(at) => whole(html, &after[at], Mark::New, new.name),
                    };
                }
                html.push_str(new.close);
                is_marked
            }
            (Part::Run(old), Part::Run(new)) => {
                let is_code = matches!(parent, "pre" | "code");
                match words::push(html, old, new, is_code, self.deadline) {
                    WordsOutcome::Same => false,
                    WordsOutcome::Marked => true,
                    WordsOutcome::Coarse => {
                        self.is_coarse = true;
                        true
                    }
                }
            }
            _ => whole(html, old, Mark::Gone, parent) | whole(html, new, Mark::New, parent),
        }
    }

    /// The steps from the old parts of a block to the new ones.
    fn steps(&mut self, old: &[Part<'_>], new: &[Part<'_>], parent: &str) -> Vec<Step> {
        let is_one_run = matches!((old, new), ([Part::Run(_)], [Part::Run(_)]));
        // The cells of a row, and the head and the body of a table, belong together by their place.
        if is_one_run || matches!(parent, "tr" | "table" | "div") {
            let both = old.len().min(new.len());
            let paired = (0..both).map(|at| match old[at].outer() == new[at].outer() {
                true => Step::Same(at),
                false => Step::Changed { old: at, new: at },
            });
            let removed = (both..old.len()).map(Step::Removed);
            return paired.chain(removed).chain((both..new.len()).map(Step::Added)).collect();
        }
        let before: Vec<&str> = old.iter().map(Part::outer).collect();
        let after: Vec<&str> = new.iter().map(Part::outer).collect();
        let ops = ops(Algorithm::Histogram, &before, &after, self.deadline);
        let mut steps = Vec::with_capacity(new.len());
        for op in ops {
            let (was, is) = (op.old_range(), op.new_range());
            match op {
                DiffOp::Equal { .. } => steps.extend(is.map(Step::Same)),
                DiffOp::Delete { .. } => steps.extend(was.map(Step::Removed)),
                DiffOp::Insert { .. } => steps.extend(is.map(Step::Added)),
                DiffOp::Replace { .. } => {
                    let texts = |some: &[&str]| some.iter().map(|html| text_of(html)).collect();
                    let (gone, come): (Vec<String>, Vec<String>) =
                        (texts(&before[was.clone()]), texts(&after[is.clone()]));
                    let pairs = matches(&as_str(&gone), &as_str(&come), self.deadline);
                    self.is_coarse |= Instant::now() >= self.deadline;
                    let pairs = pairs.into_iter().map(|(a, b)| (was.start + a, is.start + b));
                    let pairs = pairs.filter(|(a, b)| old[*a].pairs_with(&new[*b]));
                    let (mut left, mut right) = (was.start, is.start);
                    for (a, b) in pairs.chain([(was.end, is.end)]) {
                        steps.extend((left..a).map(Step::Removed));
                        steps.extend((right..b).map(Step::Added));
                        if a < was.end && b < is.end {
                            steps.push(Step::Changed { old: a, new: b });
                        }
                        (left, right) = (a + 1, b + 1);
                    }
                }
            }
        }
        steps
    }
}

fn as_str(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

/// Draws a part that is removed or added as a whole. Returns that something is marked.
fn whole(html: &mut String, part: &Part<'_>, mark: Mark, parent: &str) -> bool {
    match part {
        Part::Run(run) => {
            html.push_str(mark.open());
            html.push_str(run);
            html.push_str(mark.close());
        }
        // A row of its own between marks would end the table.
        Part::Block(block) if block.name == "hr" => {
            html.push_str(mark.open());
            html.push_str(block.open);
            html.push_str(mark.close());
        }
        Part::Block(block) => {
            // A removed item does not count in its list.
            let open = match (block.name, mark, block.open.contains("\"task\"")) {
                ("li", Mark::Gone, false) if parent == "ol" || parent == "ul" => {
                    "<li class=\"gone\">"
                }
                ("li", Mark::Gone, true) => "<li class=\"task gone\">",
                _ => block.open,
            };
            html.push_str(open);
            for inner in parts(block.inner, block.name) {
                whole(html, &inner, mark, block.name);
            }
            html.push_str(block.close);
        }
    }
    true
}

/// Writes the units, and folds those far from a change.
struct Folding {
    t: &'static Phrases,
    html: String,
    count: usize,
    in_folds: usize,
    shown: usize,
    left_out: usize,
}

impl Folding {
    fn draw(&mut self, units: &[Unit]) {
        let shown = shown(units);
        let mut at = 0;
        while at < units.len() {
            let end = |is_alike: &dyn Fn(usize) -> bool| {
                (at..units.len()).find(|at| !is_alike(*at)).unwrap_or(units.len())
            };
            let next = if units[at].is_changed {
                let next = end(&|at| units[at].is_changed);
                self.change(&units[at..next]);
                next
            } else if shown[at] {
                self.html.push_str(&units[at].html);
                at + 1
            } else {
                let next = end(&|at| !shown[at] && !units[at].is_changed);
                let hidden = &units[at..next];
                let sections = hidden.iter().filter(|unit| unit.is_heading).count();
                self.hidden(sections, hidden.len(), hidden);
                next
            };
            at = next;
        }
    }

    fn change(&mut self, units: &[Unit]) {
        let begin = self.shown;
        for unit in units {
            if self.shown > SHOWN {
                self.left_out += 1;
                continue;
            }
            if self.shown == begin {
                self.html.push_str("<div class=\"change\">");
                self.count += 1;
            }
            self.html.push_str(&unit.html);
            self.shown += unit.html.len().max(1);
        }
        if self.shown > begin {
            self.html.push_str("</div>");
        }
    }

    /// A fold that hides some sections, or some parts of one section.
    fn hidden(&mut self, sections: usize, parts: usize, units: &[Unit]) {
        let (t, size) = (self.t, units.iter().map(|unit| unit.html.len()).sum::<usize>());
        let words = match (sections, parts) {
            (0, 0) => return,
            (0, 1) => t.one_part_unchanged.to_owned(),
            (0, count) => put(t.parts_unchanged, count),
            (1, _) => t.one_section_unchanged.to_owned(),
            (count, _) => put(t.sections_unchanged, count),
        };
        if units.is_empty() || self.in_folds + size > IN_FOLDS {
            self.html.push_str(&format!("<p class=\"unchanged\">{words}</p>"));
            return;
        }
        self.in_folds += size;
        self.html.push_str(&format!("<details class=\"unchanged\"><summary>{words}</summary>"));
        units.iter().for_each(|unit| self.html.push_str(&unit.html));
        self.html.push_str("</details>");
    }
}

/// Which units are shown: those that changed, their neighbours unless they are long, and the headings
/// above them, of every level.
fn shown(units: &[Unit]) -> Vec<bool> {
    let mut shown: Vec<bool> = units.iter().map(|unit| unit.is_changed).collect();
    let mut above: Vec<usize> = Vec::new();
    // The digit of `<h4`.
    let level = |at: usize| units[at].html.as_bytes().get(2).copied();
    for (at, unit) in units.iter().enumerate() {
        if unit.is_heading {
            above.retain(|heading| level(*heading) < level(at));
            above.push(at);
        }
        if !unit.is_changed {
            continue;
        }
        let is_short = |unit: &Unit| unit.html.len() < SHORT_FOLD;
        // A heading begins a section, so what stands before it is another one.
        if at > 0 && !unit.is_heading && is_short(&units[at - 1]) {
            shown[at - 1] = true;
        }
        if units.get(at + 1).is_some_and(|next| !next.is_heading && is_short(next)) {
            shown[at + 1] = true;
        }
        above.iter().for_each(|heading| shown[*heading] = true);
    }
    // Short folds between shown blocks are shown too.
    let mut at = 0;
    while at < units.len() {
        let end = (at..units.len()).find(|at| shown[*at]).unwrap_or(units.len());
        let is_inside = at > 0 && end < units.len();
        let size: usize = units[at..end].iter().map(|unit| unit.html.len()).sum();
        if is_inside && end - at < LEAST_FOLD && size < SHORT_FOLD {
            shown[at..end].fill(true);
        }
        at = end + 1;
    }
    shown
}

#[cfg(test)]
mod tests;
