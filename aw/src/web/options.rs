//! Finds the options of an APPEAL and the positions of both sides.
//!
//! The kit teaches proposers to end an APPEAL with a list of options under a heading, in English or
//! Vietnamese; they vary it. A list that may be something else is ignored, because a choice becomes
//! the first part of a ruling: no choice is better than a wrong one.

mod outline;
mod phrases;

use self::outline::{Block, Item, Label, Outline, Topic};

/// The fewest and the most items that a list of options has.
const FEWEST: usize = 2;
const MOST: usize = 12;

/// How many characters of a heading are kept.
const HEADING: usize = 90;

/// One option of an APPEAL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// Its name in the APPEAL: "Option A", "Phương án 2", or only its number.
    pub name: String,
    /// Its text without Markdown, in one or more lines.
    pub words: String,
    /// Its text as Markdown.
    pub markdown: String,
    /// Whether it stands for any other way, which the arbitrator describes. Only the last one can.
    pub is_free: bool,
}

impl Choice {
    /// Its name in a ruling: "Option B". A single number or letter becomes "Option 2".
    pub fn label(&self) -> String {
        let is_bare = self.name.chars().count() == 1 || self.name.chars().all(char::is_numeric);
        if is_bare { format!("Option {}", self.name) } else { self.name.clone() }
    }

    /// Its text in a ruling: "Option B: what it says".
    pub fn ruling(&self) -> String {
        if !self.markdown.contains('\n') {
            return format!("{}: {}", self.label(), self.markdown);
        }
        // Paragraphs and lists of an option would change the structure of the ruling, and a line of it could
        // decide a point.
        let words: Vec<&str> = self.words.split_whitespace().collect();
        format!("{}: {}", self.label(), words.join(" "))
    }
}

/// The sections of an APPEAL as Markdown, without their headings. None of them if they are not all of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sections<'a> {
    /// The subject of the dispute.
    pub context: Option<&'a str>,
    /// The position of the proposer.
    pub proposer: Option<&'a str>,
    /// The position of the opponent.
    pub opponent: Option<&'a str>,
}

/// The options of an APPEAL; none if it is unclear whether it has some.
pub fn choices(appeal: &str) -> Vec<Choice> {
    let outline = Outline::of(appeal);
    let Some(items) = offered(&outline) else { return Vec::new() };
    let last = items.len() - 1;
    // Markdown allows `1.` at every item and numbers them by itself.
    let are_marks_alike = items.windows(2).all(|pair| pair[0].mark == pair[1].mark);
    let choice = |(number, item): (usize, &Item)| {
        let source = outline.source(item);
        let plain = phrases::plain(&source);
        let (name, words) = match &item.label {
            Some(label) => (label.name.clone(), phrases::after_label(&plain, &label.name)),
            None => {
                let mark = item.mark.filter(|_| !are_marks_alike);
                let name = mark.map_or_else(|| (number + 1).to_string(), |mark| mark.to_string());
                (name, plain.trim().to_owned())
            }
        };
        let is_free = number == last && (phrases::is_free(&words) || phrases::is_free(&plain));
        let words = if words.is_empty() { plain.trim().to_owned() } else { words };
        let markdown = match &item.label {
            Some(label) => phrases::markdown_after_label(&source, &label.name),
            None => Some(source.trim().to_owned()),
        };
        let markdown = markdown.filter(|kept| !kept.is_empty()).unwrap_or_else(|| words.clone());
        Choice { name, words, markdown, is_free }
    };
    items.iter().enumerate().map(choice).collect()
}

/// The items that are the options.
fn offered(outline: &Outline<'_>) -> Option<Vec<Item>> {
    // The last list counts, because the context comes first.
    let under_heading =
        outline.blocks.iter().rev().filter(|block| block.topic == Some(Topic::Options));
    under_heading
        .filter_map(|block| labelled(outline, block).or_else(|| listed(outline, block)))
        .next()
        .or_else(|| labelled(outline, &outline.everything()))
}

/// The first heading of a text, else its first line, without Markdown.
pub(super) fn first_heading(text: &str) -> String {
    let mut is_code = false;
    let mut lines = text.lines().map(str::trim).filter(|line| {
        let is_fence = line.starts_with("```") || line.starts_with("~~~");
        is_code ^= is_fence;
        !is_code && !is_fence && !line.is_empty()
    });
    let first = lines.next().unwrap_or_default();
    let is_heading = |line: &&str| {
        line.starts_with('#') && line.trim_start_matches('#').starts_with([' ', '\t'])
    };
    let heading = Some(first).filter(is_heading).or_else(|| lines.find(is_heading));
    let words = phrases::plain(heading.unwrap_or(first));
    let words = words.lines().next().unwrap_or_default();
    match words.char_indices().nth(HEADING) {
        Some((end, _)) => format!("{}…", words.get(..end).unwrap_or_default().trim_end()),
        None => words.to_owned(),
    }
}

/// The question that an APPEAL asks, in one line: the first line of its context, else a heading that asks,
/// else the first line of its text.
pub(super) fn question(appeal: &str) -> String {
    let first = |text: &str| {
        let plain = phrases::plain(text);
        plain.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
    };
    let outline = Outline::of(appeal);
    let context = outline.section(Topic::Context).and_then(first);
    let is_heading = |line: &&str| line.trim_start().starts_with('#');
    let asking = || {
        let lead = outline.lead().unwrap_or(appeal);
        lead.lines().filter(is_heading).find(|line| line.contains('?')).and_then(first)
    };
    let body =
        || first(&appeal.lines().filter(|line| !is_heading(line)).collect::<Vec<_>>().join("\n"));
    context.or_else(asking).or_else(body).unwrap_or_default()
}

/// The sections of an APPEAL.
pub fn sections(appeal: &str) -> Sections<'_> {
    let mut outline = Outline::of(appeal);
    let items = offered(&outline).unwrap_or_default();
    // Options without a heading of their own often follow the last position, and are no part of it.
    if let Some(first) = items.first() {
        outline.end_sections_before(first);
    }
    // A second dispute, for instance, would be hidden from the person who rules.
    if outline.leaves_out(&items) {
        return Sections::default();
    }
    Sections {
        context: outline.section(Topic::Context).or_else(|| outline.lead()),
        proposer: outline.section(Topic::Proposer),
        opponent: outline.section(Topic::Opponent),
    }
}

/// The last row of items with a label: "Option A", "Phương án 2".
fn labelled(outline: &Outline<'_>, block: &Block) -> Option<Vec<Item>> {
    let mut best: Vec<Item> = Vec::new();
    let mut row: Vec<Item> = Vec::new();
    let mut last: Option<Label> = None;
    for item in outline.items(block) {
        match (&item.label, &last) {
            (Some(label), Some(before)) if label.follows(before) => {
                last = Some(label.clone());
                row.push(item);
            }
            (Some(label), _) if label.is_first() => {
                keep_last(&mut best, std::mem::take(&mut row));
                last = Some(label.clone());
                row.push(item);
            }
            (Some(_), _) => {
                keep_last(&mut best, std::mem::take(&mut row));
                last = None;
            }
            // The other way often has no letter: "- Other: …" in the same list.
            (None, Some(_)) if row.last().is_some_and(|before| before.is_like(&item)) => {
                let plain = phrases::plain(outline.source(&item));
                if phrases::is_free(&plain) {
                    let mut item = item;
                    item.label = phrases::free_name(&plain).map(Label::other);
                    row.push(item);
                    keep_last(&mut best, std::mem::take(&mut row));
                    last = None;
                }
            }
            (None, _) => {}
        }
    }
    keep_last(&mut best, row);
    (best.len() <= MOST).then_some(best).filter(|items| !items.is_empty())
}

/// Replaces `best` by a row that is long enough.
fn keep_last(best: &mut Vec<Item>, row: Vec<Item>) {
    if row.len() >= FEWEST {
        *best = row;
    }
}

/// The only list under a heading that announces options.
fn listed(outline: &Outline<'_>, block: &Block) -> Option<Vec<Item>> {
    let items: Vec<Item> = outline.items(block).collect();
    let margin = items.iter().map(|item| item.indent).min()?;
    let items: Vec<Item> = items.into_iter().filter(|item| item.indent == margin).collect();
    // In a list with numbers or letters, dashes belong to its items.
    let first = items.first()?;
    let of_a_kind: Vec<Item> = items.iter().filter(|item| first.is_like(item)).cloned().collect();
    let is_one_list = match first.mark {
        Some(first) => {
            let marks: Vec<_> = of_a_kind.iter().filter_map(|item| item.mark).collect();
            let is_counted =
                first.is_first() && marks.windows(2).all(|pair| pair[1].follows(pair[0]));
            // Markdown allows `1.` at every item.
            is_counted || (first.is_first() && marks.iter().all(|mark| *mark == first))
        }
        None => of_a_kind.len() == items.len(),
    };
    let is_whole = of_a_kind.windows(2).all(|pair| outline.is_same_list(&pair[0], &pair[1]));
    let fits = (FEWEST..=MOST).contains(&of_a_kind.len());
    (is_one_list && is_whole && fits).then_some(of_a_kind)
}

#[cfg(test)]
mod tests;
