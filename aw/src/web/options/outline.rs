//! Finds the headings and list items of an APPEAL, and where each ends.

use std::fmt;

use super::phrases;

/// The topic of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Topic {
    Context,
    Proposer,
    Opponent,
    Options,
}

/// An APPEAL, read line by line.
pub(super) struct Outline<'a> {
    text: &'a str,
    lines: Vec<SourceLine<'a>>,
    /// The sections under headings, in order.
    pub(super) blocks: Vec<Block>,
}

struct SourceLine<'a> {
    text: &'a str,
    /// The offset in the APPEAL.
    start: usize,
    is_code: bool,
}

/// A section under a heading.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub(super) topic: Option<Topic>,
    /// The line of the heading.
    heading: usize,
    /// The offset of the text after the heading.
    start: usize,
    /// Its lines, from `first` to before `end`.
    first: usize,
    end: usize,
}

/// A list item that may be an option, with its further lines.
#[derive(Debug, Clone)]
pub(super) struct Item {
    /// "Option A".
    pub(super) label: Option<Label>,
    /// "1." or "B)".
    pub(super) mark: Option<Ordinal>,
    pub(super) indent: usize,
    shape: ItemShape,
    line: usize,
    end: usize,
    /// The offset of its text, after the marks and before the label.
    start: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ItemShape {
    Bullet,
    Counted,
    Paragraph,
    Heading(u8),
    Row,
}

/// The name of an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) name: String,
    word: &'static str,
    mark: Ordinal,
}

/// A number or a letter that numbers an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ordinal {
    Number(u32),
    Letter(char),
}

/// A heading of the APPEAL.
struct Heading {
    line: usize,
    level: u8,
    topic: Option<Topic>,
    /// The offset and the line of the text after it.
    start: usize,
    first: usize,
    is_option: bool,
}

/// The level of a line in bold, below all real headings.
const BOLD: u8 = 7;

impl<'a> Outline<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let lines = lines(text);
        let headings: Vec<Heading> =
            (0..lines.len()).filter_map(|number| heading(&lines, number, text.len())).collect();
        let reach = |at: usize, heading: &Heading| {
            let ends_it = |next: &&Heading| {
                let is_inside = next.is_option && heading.topic == Some(Topic::Options);
                next.topic.is_some() || (next.level <= heading.level && !is_inside)
            };
            headings[at + 1..].iter().find(ends_it).map_or(lines.len(), |next| next.line)
        };
        let block = |(at, heading): (usize, &Heading)| Block {
            topic: heading.topic,
            heading: heading.line,
            start: heading.start,
            first: heading.first,
            end: reach(at, heading),
        };
        let blocks = headings.iter().enumerate().map(block).collect();
        Outline { text, lines, blocks }
    }

    /// The whole APPEAL as one section.
    pub(super) fn everything(&self) -> Block {
        Block { topic: None, heading: 0, start: 0, first: 0, end: self.lines.len() }
    }

    /// The text of the first section about this, without its heading.
    pub(super) fn section(&self, topic: Topic) -> Option<&'a str> {
        let block = self.blocks.iter().find(|block| block.topic == Some(topic))?;
        Some(self.body(block)).filter(|body| !body.is_empty())
    }

    /// The text before the first section with a topic.
    pub(super) fn lead(&self) -> Option<&'a str> {
        let first = self.blocks.iter().find(|block| block.topic.is_some())?;
        let lead = self.text.get(..self.lines[first.heading].start)?.trim();
        Some(lead).filter(|lead| !lead.is_empty())
    }

    /// Whether some text is in no section that a person sees, and in none of these options.
    pub(super) fn leaves_out(&self, options: &[Item]) -> bool {
        let first = |topic| self.blocks.iter().find(|block| block.topic == Some(topic));
        let sides =
            [Topic::Context, Topic::Proposer, Topic::Opponent].into_iter().filter_map(first);
        let has_options = |block: &&Block| {
            let mut options = options.iter();
            options.any(|item| (block.first..block.end).contains(&item.line))
        };
        let lists = self.blocks.iter().filter(|block| block.topic == Some(Topic::Options));
        let shown: Vec<&Block> = sides.chain(lists.filter(has_options)).collect();
        // Text before the first section stands for a missing context.
        let lead = match first(Topic::Context) {
            Some(_) => None,
            None => self.blocks.iter().find(|block| block.topic.is_some()),
        };
        let is_shown = |number: usize| {
            lead.is_some_and(|first| number < first.heading)
                || options.iter().any(|item| (item.line..item.end).contains(&number))
                || shown.iter().any(|block| (block.heading..block.end).contains(&number))
        };
        let is_heading = |number: usize| {
            let at = |block: &&Block| block.heading == number;
            self.blocks.iter().find(at).is_some_and(|block| {
                self.lines.get(number + 1).is_none_or(|next| block.start >= next.start)
            })
        };
        let mut lines = self.lines.iter().enumerate();
        lines.any(|(number, line)| {
            let text = line.text.trim();
            !(text.is_empty() || is_rule(text) || is_heading(number) || is_shown(number))
        })
    }

    /// Ends the positions of both sides before this item.
    pub(super) fn end_sections_before(&mut self, item: &Item) {
        for block in &mut self.blocks {
            if matches!(block.topic, Some(Topic::Proposer | Topic::Opponent))
                && item.line >= block.first
            {
                block.end = block.end.min(item.line);
            }
        }
    }

    /// The text of a section, without its heading.
    pub(super) fn body(&self, block: &Block) -> &'a str {
        let end = self.lines.get(block.end).map_or(self.text.len(), |line| line.start);
        self.text.get(block.start..end).unwrap_or_default().trim_matches(['\n', '\r']).trim_end()
    }

    /// All list items of a section.
    pub(super) fn items(&self, block: &Block) -> impl Iterator<Item = Item> {
        let is_announced = block.topic == Some(Topic::Options);
        let mut in_table = false;
        (block.first..block.end).filter_map(move |number| {
            let line = &self.lines[number];
            let cells =
                line.text.trim().strip_prefix('|').filter(|_| is_announced && !line.is_code);
            let Some(cells) = cells else {
                in_table = false;
                let mut item = item(line, number)?;
                let is_meant = |label: &Label| is_announced || phrases::is_strong(label.word);
                item.label = item.label.filter(is_meant);
                item.end = self.end_of(&item, block.end);
                return Some(item);
            };
            // The names of the columns are above the rule.
            if !in_table {
                in_table = is_rule(cells);
                return None;
            }
            let (first, _) = cells.split_once('|')?;
            let name = phrases::bare(first);
            let label = Label::of(&name, true).map(|(label, _)| label);
            let mark = Ordinal::alone(&name);
            let start = line.start + line.text.find(cells)? + first.len() + 1;
            let is_item = label.is_some() || mark.is_some();
            is_item.then_some(Item {
                label,
                mark,
                indent: 0,
                shape: ItemShape::Row,
                line: number,
                end: number + 1,
                start,
            })
        })
    }

    /// The Markdown of an item without its indentation.
    pub(super) fn source(&self, item: &Item) -> String {
        let first = &self.lines[item.line];
        let column = item.start - first.start;
        let head = &first.text[column.min(first.text.len())..];
        if item.shape == ItemShape::Row {
            let cells = head.trim().trim_end_matches('|').split('|').map(str::trim);
            return cells.filter(|cell| !cell.is_empty()).collect::<Vec<_>>().join(" – ");
        }
        let mut source = head.to_owned();
        // The lines below a heading are another paragraph.
        if matches!(item.shape, ItemShape::Heading(_)) {
            source.push('\n');
        }
        for line in &self.lines[item.line + 1..item.end] {
            let indent = line.text.len() - line.text.trim_start_matches(' ').len();
            source.push('\n');
            source.push_str(&line.text[indent.min(column)..]);
        }
        source
    }

    /// Whether only blank lines are between two items.
    pub(super) fn is_same_list(&self, item: &Item, next: &Item) -> bool {
        let between = self.lines.get(item.end..next.line).unwrap_or_default();
        between.iter().all(|line| line.text.trim().is_empty())
    }

    /// The line after the last line of an item.
    fn end_of(&self, item: &Item, end: usize) -> usize {
        let ends_it = |number: usize| {
            let line = &self.lines[number];
            if line.is_code || line.text.trim().is_empty() {
                return false;
            }
            let level = atx(line.text).map(|(level, _)| level);
            match (item.shape, level) {
                (ItemShape::Heading(own), Some(level)) if level <= own => return true,
                (ItemShape::Heading(_), _) => {}
                (_, Some(_)) => return true,
                (_, None) => {}
            }
            if is_rule(line.text.trim()) {
                return true;
            }
            let next = self::item(line, number);
            if next.as_ref().is_some_and(|next| next.label.is_some() || next.is_like(item)) {
                return true;
            }
            let is_new_paragraph = next.is_none() && self.lines[number - 1].text.trim().is_empty();
            let indent = line.text.len() - line.text.trim_start().len();
            !matches!(item.shape, ItemShape::Heading(_))
                && is_new_paragraph
                && indent <= item.indent
        };
        (item.line + 1..end).find(|number| ends_it(*number)).unwrap_or(end)
    }
}

impl Item {
    /// Whether both may belong to one list.
    pub(super) fn is_like(&self, other: &Item) -> bool {
        let is_same_mark = match (self.mark, other.mark) {
            (Some(mark), Some(other)) => mark.is_like(other),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        self.shape == other.shape && is_same_mark && self.indent == other.indent
    }
}

impl Label {
    /// Reads the label at the beginning of a line without marks of emphasis, and returns its length.
    /// A label that no sign ends is part of a sentence, unless it `stands_out`.
    fn of(bare: &str, stands_out: bool) -> Option<(Self, usize)> {
        let lower = bare.to_lowercase();
        let word = *phrases::LABELS.iter().find(|word| lower.starts_with(**word))?;
        // Lower case may have another length, so the length is counted in the line itself.
        let length = bare.char_indices().nth(word.chars().count()).map_or(bare.len(), |(at, _)| at);
        let rest = &bare[length..];
        let id = rest.trim_start();
        let end = id.find(|c: char| !c.is_alphanumeric()).unwrap_or(id.len());
        let mark = Ordinal::of(&id[..end])?;
        let after = id[end..].trim_start();
        let is_set_off = after.is_empty()
            || after.starts_with([':', '.', ')', ']', '(', '-', '–', '—', '=', '→', '|', ',']);
        // "PA2" needs no space, but "Options" is not option S.
        let is_apart = rest.len() > id.len() || matches!(mark, Ordinal::Number(_));
        if !(is_apart && (is_set_off || stands_out)) {
            return None;
        }
        let length = bare.len() - id.len() + end;
        let name = bare[..length].split_whitespace().collect::<Vec<_>>().join(" ");
        Some((Label { name, word, mark }, length))
    }

    /// The label of a last option without a number.
    pub(super) fn other(name: String) -> Self {
        Label { name, word: "", mark: Ordinal::Number(0) }
    }

    pub(super) fn is_first(&self) -> bool {
        self.mark.is_first()
    }

    /// Whether it comes after the other in one row, which may have gaps.
    pub(super) fn follows(&self, before: &Label) -> bool {
        self.word == before.word
            && self.mark.is_like(before.mark)
            && self.mark.rank() > before.mark.rank()
    }
}

impl Ordinal {
    fn of(word: &str) -> Option<Self> {
        let mut chars = word.chars();
        match (chars.next(), chars.next()) {
            (Some(letter), None) if letter.is_ascii_alphabetic() => {
                Some(Ordinal::Letter(letter.to_ascii_uppercase()))
            }
            _ => word.parse().ok().filter(|number| (1..100).contains(number)).map(Ordinal::Number),
        }
    }

    /// A mark without text, as in a table cell: `A`, `(1)`, `2.`
    fn alone(text: &str) -> Option<Self> {
        Ordinal::of(text.trim_matches(['(', ')', '.', ':', ' ']))
    }

    fn rank(self) -> u32 {
        match self {
            Ordinal::Number(number) => number,
            Ordinal::Letter(letter) => u32::from(letter) - u32::from('A') + 1,
        }
    }

    fn is_like(self, other: Ordinal) -> bool {
        matches!(
            (self, other),
            (Ordinal::Number(_), Ordinal::Number(_)) | (Ordinal::Letter(_), Ordinal::Letter(_))
        )
    }

    pub(super) fn is_first(self) -> bool {
        self.rank() == 1
    }

    /// Whether it is the successor.
    pub(super) fn follows(self, before: Ordinal) -> bool {
        self.is_like(before) && self.rank() == before.rank() + 1
    }
}

impl fmt::Display for Ordinal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ordinal::Number(number) => number.fmt(f),
            Ordinal::Letter(letter) => letter.fmt(f),
        }
    }
}

fn lines(text: &str) -> Vec<SourceLine<'_>> {
    let mut fence: Option<&str> = None;
    let mut start = 0;
    let mut lines = Vec::new();
    for raw in text.split_inclusive('\n') {
        let trimmed = raw.trim_start();
        let marker = ["```", "~~~"].into_iter().find(|marker| trimmed.starts_with(marker));
        let is_code = fence.is_some() || marker.is_some();
        fence = match (fence, marker) {
            (None, marker) => marker,
            (Some(open), Some(marker)) if open == marker => None,
            (open, _) => open,
        };
        lines.push(SourceLine { text: raw.trim_end_matches(['\n', '\r']), start, is_code });
        start += raw.len();
    }
    lines
}

/// The level and the text of a heading that begins with `#`.
fn atx(line: &str) -> Option<(u8, &str)> {
    let trimmed = line.trim_start();
    let level = trimmed.bytes().take_while(|byte| *byte == b'#').count();
    let title = trimmed.get(level..)?;
    let is_heading = (1..=6).contains(&level) && title.starts_with([' ', '\t']);
    is_heading.then(|| (level as u8, title.trim()))
}

fn heading(lines: &[SourceLine<'_>], number: usize, end_of_text: usize) -> Option<Heading> {
    let line = &lines[number];
    if line.is_code {
        return None;
    }
    let next = lines.get(number + 1).map_or(end_of_text, |next| next.start);
    if let Some((level, title)) = atx(line.text) {
        let bare = phrases::bare(title);
        let is_option = Label::of(&bare, true).is_some() || marked(&bare).is_some();
        let topic = if Label::of(&bare, true).is_some() { None } else { phrases::topic(&bare) };
        return Some(Heading {
            line: number,
            level,
            topic,
            start: next,
            first: number + 1,
            is_option,
        });
    }
    // A line in bold, which text may follow, or a line that ends with a colon.
    let (offset, _) = bullet(line.text);
    let rest = line.text[offset..].trim_start();
    let bold = ["**", "__"].into_iter().find_map(|marks| {
        let (title, after) = rest.strip_prefix(marks)?.split_once(marks)?;
        let after = after.trim_start();
        let is_closed =
            title.trim_end().ends_with(':') || after.is_empty() || after.starts_with(':');
        is_closed.then(|| (title, after.strip_prefix(':').unwrap_or(after).trim_start()))
    });
    let plain = || rest.strip_suffix(':').map(|title| (title, "")).filter(|_| offset == 0);
    let (title, after) = bold.or_else(plain)?;
    let bare = phrases::bare(title);
    if Label::of(&bare, true).is_some() {
        return None;
    }
    let topic = Some(phrases::topic(&bare)?);
    let (start, first) = if after.is_empty() {
        (next, number + 1)
    } else {
        (line.start + line.text.len() - after.len(), number + 1)
    };
    Some(Heading { line: number, level: BOLD, topic, start, first, is_option: false })
}

/// The offset of the text after a bullet, and whether there is a bullet.
fn bullet(line: &str) -> (usize, bool) {
    let indent = line.len() - line.trim_start().len();
    let rest = &line[indent..];
    let is_bullet = ["- ", "* ", "+ ", "• ", "– "].iter().find(|bullet| rest.starts_with(**bullet));
    match is_bullet {
        Some(bullet) => (indent + bullet.len(), true),
        None => (indent, false),
    }
}

/// A number or letter at the beginning of a line, such as `1.`, `(b)` or `**C:**`, and the offset of
/// the text after it.
fn marked(text: &str) -> Option<(Ordinal, usize)> {
    let inner = text.trim_start_matches(['*', '_']);
    let open = inner.strip_prefix('(');
    let inner = open.unwrap_or(inner);
    let end = inner.find(|c: char| !c.is_ascii_alphanumeric())?;
    let mark = Ordinal::of(&inner[..end])?;
    let after = match open {
        Some(_) => inner[end..].strip_prefix(')')?,
        None => inner[end..].strip_prefix(['.', ')', ':'])?,
    };
    let is_bold = text.starts_with(['*', '_']);
    let after = if is_bold { after.trim_start_matches(['*', '_', ':', '.']) } else { after };
    let is_mark = after.is_empty() || after.starts_with([' ', '\t']);
    is_mark.then(|| (mark, text.len() - after.trim_start().len()))
}

fn item(line: &SourceLine<'_>, number: usize) -> Option<Item> {
    if line.is_code {
        return None;
    }
    let indent = line.text.len() - line.text.trim_start().len();
    let level = atx(line.text);
    let (mut start, has_bullet) = match level {
        Some((_, title)) => (
            line.text.len() - line.text.trim_start().trim_start_matches('#').trim_start().len(),
            title.is_empty(),
        ),
        None => bullet(line.text),
    };
    let mark = marked(&line.text[start..]);
    if let Some((_, length)) = mark {
        start += length;
    }
    let mark = mark.map(|(mark, _)| mark);
    let rest = &line.text[start..];
    let stands_out = rest.starts_with("**") || rest.starts_with("__") || level.is_some();
    let label = Label::of(&phrases::bare(rest), stands_out).map(|(label, _)| label);
    let shape = match (level, has_bullet, mark, &label) {
        (Some((level, _)), _, Some(_), _) | (Some((level, _)), _, _, Some(_)) => {
            ItemShape::Heading(level)
        }
        (Some(_), ..) => return None,
        (None, true, ..) => ItemShape::Bullet,
        (None, false, Some(_), _) => ItemShape::Counted,
        (None, false, None, Some(_)) => ItemShape::Paragraph,
        (None, false, None, None) => return None,
    };
    Some(Item {
        label,
        mark,
        indent,
        shape,
        line: number,
        end: number + 1,
        start: line.start + start,
    })
}

/// Whether a line is a rule: of a table, or between sections.
fn is_rule(line: &str) -> bool {
    line.len() >= 3
        && line.bytes().all(|byte| b"|:-*_ \t".contains(&byte))
        && line.bytes().filter(|byte| b"-*_".contains(byte)).count() >= 3
}
