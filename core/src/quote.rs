//! Looks quotes up: the normal form of texts, and the search for a quote in it.
//!
//! A quote is found where a source contains it, both in normal form. There is no approximate match:
//! [`Normal::nearest`] only helps the author of a wrong quote.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use memchr::memmem;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use crate::point::{QuoteBlock, fence};
use crate::{DocumentId, Seq, words};

/// The fewest characters of a quote that is not a whole line.
const FEWEST_CHARS: usize = 12;

/// The most characters of a quote.
const MOST_CHARS: usize = 1_000;

/// The longest text for which `memmem` prepares nothing but a comparison of vectors.
const SHORT_NEEDLE: usize = 32;

/// How many beginnings of a quote are looked at before the whole quote is searched for.
const BEGINNINGS: usize = 8;

/// The most quotes of an argument.
pub(crate) const MOST_QUOTES: usize = 40;

/// A text in normal form: its lines joined by spaces, and where each line begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Normal {
    text: String,
    /// For each line that has a normal form: where it begins, and its number in the text, from 1.
    lines: Vec<(usize, u32)>,
}

impl Normal {
    /// The normal form of a document.
    pub fn of(text: &str) -> Self {
        Self::of_lines(text.split('\n').enumerate())
    }

    /// The normal form of an argument, without the lines that quote others.
    pub fn without_quotes(text: &str) -> Self {
        let own = |(_, line): &(usize, &str)| !line.trim_start().starts_with('>');
        Self::of_lines(text.split('\n').enumerate().filter(own))
    }

    fn of_lines<'a>(source: impl Iterator<Item = (usize, &'a str)>) -> Self {
        let (mut text, mut lines) = (String::new(), Vec::new());
        for (at, line) in source {
            let before = text.len();
            if before > 0 {
                text.push(' ');
            }
            let begins = text.len();
            if push_line(&mut text, line) {
                lines.push((begins, at as u32 + 1));
            } else {
                text.truncate(before);
            }
        }
        Normal { text, lines }
    }

    /// How many lines have a normal form.
    pub fn line_count(&self) -> u32 {
        self.lines.len() as u32
    }

    /// Roughly how much memory it takes.
    pub fn size(&self) -> usize {
        self.text.len() + self.lines.len() * size_of::<(usize, u32)>()
    }

    /// Whether it contains a text, which is in normal form.
    pub fn contains(&self, text: &str) -> bool {
        memmem::find(self.text.as_bytes(), text.as_bytes()).is_some()
    }

    /// Whether a recorded quote stands in it, by the rule for new ones: a short one as a whole line.
    pub fn holds(&self, quoted: &str) -> bool {
        let quote = QuoteText::of(quoted.split('\n'));
        quote.is_some_and(|quote| self.find(&quote).is_some())
    }

    /// The lines in which a quote stands. A quote that is too short must be a whole line.
    fn find(&self, quote: &QuoteText) -> Option<Lines> {
        if quote.is_short {
            let at = (0..self.lines.len()).find(|at| unframed(self.line(*at)) == quote.text)?;
            return Some(self.lines_between(at, at));
        }
        let begins = position(self.text.as_bytes(), quote.text.as_bytes())?;
        let ends = begins + quote.text.len() - 1;
        let line_at = |byte| self.lines.partition_point(|(begin, _)| *begin <= byte).max(1) - 1;
        Some(self.lines_between(line_at(begins), line_at(ends)))
    }

    fn lines_between(&self, first: usize, last: usize) -> Lines {
        let kept = (first as u32, last as u32);
        Lines { first: self.lines[first].1, last: self.lines[last].1, kept }
    }

    fn line(&self, at: usize) -> &str {
        let begin = self.lines[at].0;
        let end = self.lines.get(at + 1).map_or(self.text.len(), |(next, _)| next - 1);
        &self.text[begin..end]
    }

    /// The sentence that has most in common with a quote: how much, its line, and itself.
    fn nearest(&self, quote: &Trigrams) -> Option<(u32, u32, &str)> {
        (0..self.lines.len())
            .flat_map(|at| sentences(self.line(at)).map(move |sentence| (at, sentence)))
            .map(|(at, sentence)| (quote.likeness(sentence), self.lines[at].1, sentence))
            .filter(|(likeness, ..)| *likeness >= Trigrams::LEAST)
            // The first of equals, so that the answer does not depend on the rest of the text.
            .reduce(|best, next| if next.0 > best.0 { next } else { best })
    }
}

/// The sentences of a line.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    line.split_inclusive(['.', '!', '?', ';'])
        .map(str::trim)
        .filter(|sentence| !sentence.is_empty())
}

/// The groups of three bytes that a text has, for comparing texts roughly.
struct Trigrams {
    /// One bit for each hash of a group.
    seen: Vec<u64>,
    length: usize,
}

impl Trigrams {
    /// The least likeness that is worth showing, in thousandths.
    const LEAST: u32 = 300;

    fn of(text: &str) -> Self {
        let mut seen = alloc::vec![0; 1 << 10];
        for hash in Self::hashes(text) {
            seen[hash / 64] |= 1 << (hash % 64);
        }
        Trigrams { seen, length: text.len() }
    }

    fn hashes(text: &str) -> impl Iterator<Item = usize> {
        text.as_bytes().windows(3).map(|group| {
            let number = group
                .iter()
                .fold(0_u32, |number, byte| number << 8 | u32::from(byte.to_ascii_lowercase()));
            (number.wrapping_mul(2_654_435_769) >> 16) as usize
        })
    }

    /// How much a text has in common with this one, in thousandths.
    fn likeness(&self, text: &str) -> u32 {
        let common = Self::hashes(text)
            .filter(|hash| self.seen[hash / 64] & (1 << (hash % 64)) != 0)
            .count();
        let common = common.min(self.length);
        (common * 2_000 / (self.length + text.len()).max(1)) as u32
    }
}

/// The position of a quote. Most quotes stand where their beginning stands first, and `memmem` prepares the
/// search for a short text much sooner.
fn position(text: &[u8], quote: &[u8]) -> Option<usize> {
    let beginning = memmem::Finder::new(&quote[..quote.len().min(SHORT_NEEDLE)]);
    let mut from = 0;
    for _ in 0..BEGINNINGS {
        from += beginning.find(&text[from..])?;
        if text[from..].starts_with(quote) {
            return Some(from);
        }
        from += 1;
    }
    Some(from + memmem::find(&text[from..], quote)?)
}

/// Adds the normal form of a line. Returns false, and may leave a rest, if the line has none.
fn push_line(out: &mut String, line: &str) -> bool {
    let changed;
    let line = if line.is_ascii() {
        line
    } else {
        changed = plain(line);
        changed.as_str()
    };
    let line = without_marks(line);
    if fence(line).is_some() {
        return false;
    }
    let begins = out.len();
    out.reserve(line.len());
    let mut space = false;
    for c in line.chars() {
        match c {
            '*' | '_' | '|' | '`' => {}
            c if c.is_whitespace() => space = true,
            c => {
                if space && out.len() > begins {
                    out.push(' ');
                }
                space = false;
                out.push(c);
            }
        }
    }
    out[begins..].contains(char::is_alphanumeric)
}

/// A line in NFC with plain quotation marks, dashes and spaces, without zero-width characters.
fn plain(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut push = |c: char| match c {
        '\u{201c}'..='\u{201f}' | '«' | '»' => out.push('"'),
        '\u{2018}'..='\u{201b}' | '‹' | '›' => out.push('\''),
        '\u{2010}'..='\u{2015}' | '\u{2212}' => out.push('-'),
        '…' => out.push_str("..."),
        c => out.push(c),
    };
    // First, because such a character can keep a letter and its accent apart.
    let visible = line.chars().filter(|c| !is_zero_width(*c));
    match is_nfc_quick(visible.clone()) {
        IsNormalized::Yes => visible.for_each(&mut push),
        IsNormalized::No | IsNormalized::Maybe => visible.nfc().for_each(&mut push),
    }
    out
}

pub(crate) fn is_zero_width(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{feff}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2064}'
            | '\u{2066}'..='\u{2069}'
    )
}

/// A line without the quotation, heading and list marks at its beginning.
fn without_marks(line: &str) -> &str {
    let mut rest = line.trim_start();
    loop {
        let next = rest.trim_start_matches(['>', '#']);
        let next = list_item(next).unwrap_or(next).trim_start();
        if next.len() == rest.len() {
            return rest;
        }
        rest = next;
    }
}

/// The text after a list mark.
fn list_item(line: &str) -> Option<&str> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let after = match digits {
        0 => line.strip_prefix(['-', '+', '*', '•'])?,
        1..=9 => line[digits..].strip_prefix(['.', ')'])?,
        _ => return None,
    };
    (after.is_empty() || after.starts_with(char::is_whitespace)).then_some(after)
}

/// A text without the quotation marks and ellipses around it.
fn unframed(text: &str) -> &str {
    let mut rest = text;
    loop {
        let next = rest.trim().trim_matches(['"', '\'']);
        let next = next.strip_prefix("...").unwrap_or(next);
        let next = next.strip_suffix("...").unwrap_or(next);
        if next.len() == rest.len() {
            return rest;
        }
        rest = next;
    }
}

/// A quote in normal form.
struct QuoteText {
    text: String,
    is_short: bool,
    is_long: bool,
}

impl QuoteText {
    /// `None` if no line has a normal form: then nothing is quoted.
    fn of<'a>(lines: impl Iterator<Item = &'a str>) -> Option<Self> {
        let normal = Normal::of_lines(lines.map(|line| (0, line)));
        let text = unframed(&normal.text);
        let length = text.chars().count();
        let (is_short, is_long) = (length < FEWEST_CHARS, length > MOST_CHARS);
        text.contains(char::is_alphanumeric).then(|| QuoteText {
            text: text.to_owned(),
            is_short,
            is_long,
        })
    }
}

/// A text in which quotes are looked up.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Which text it is.
    pub place: QuotePlace,
    /// Its normal form.
    pub text: &'a Normal,
}

/// Where a quote was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QuotePlace {
    /// A version of a document.
    Document {
        /// The document.
        document: DocumentId,
        /// The version.
        version: u64,
    },
    /// An argument of the debate.
    Argument {
        /// Its position.
        seq: Seq,
    },
}

/// The lines of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Lines {
    /// The first, from 1.
    pub first: u32,
    /// The last.
    pub last: u32,
    /// The same, counting only lines that have a normal form, from 0.
    kept: (u32, u32),
}

/// The text that comes nearest to a missing quote.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Nearest {
    /// Where it stands.
    pub place: QuotePlace,
    /// Its line.
    pub line: u32,
    /// The sentence, in normal form.
    pub text: String,
}

/// The most characters of a nearest text.
const NEAREST_CHARS: usize = 300;

/// The result of looking a quote up.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Evidence {
    /// It stands there now.
    Found {
        /// Where.
        place: QuotePlace,
        /// Its lines.
        lines: Lines,
        /// In a document, and not in the version that the opponent saw in its previous CLAIM.
        fresh: bool,
    },
    /// It stands only in an earlier version.
    Outdated {
        /// Where.
        place: QuotePlace,
        /// Its lines.
        lines: Lines,
    },
    /// It stands nowhere, and its author names a source outside the record.
    Unchecked,
    /// It stands nowhere.
    Missing {
        /// The text that comes nearest.
        nearest: Option<Nearest>,
    },
    /// It is too short, and no whole line.
    TooShort,
    /// It is too long.
    TooLong,
}

/// The result of looking a quote up, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QuoteCheck {
    /// It stands in what the debate says now.
    Found,
    /// It stands in an earlier version.
    Outdated,
    /// Its source is outside the record.
    Unchecked,
    /// It stands nowhere.
    Missing,
}

words!(QuoteCheck, "found, outdated, unchecked, missing", {
    Found = "found",
    Outdated = "outdated",
    Unchecked = "unchecked",
    Missing = "missing",
});

impl Evidence {
    /// The result in one word.
    pub const fn check(&self) -> QuoteCheck {
        match self {
            Evidence::Found { .. } => QuoteCheck::Found,
            Evidence::Outdated { .. } => QuoteCheck::Outdated,
            Evidence::Unchecked => QuoteCheck::Unchecked,
            Evidence::Missing { .. } | Evidence::TooShort | Evidence::TooLong => {
                QuoteCheck::Missing
            }
        }
    }

    /// Where the quote stands.
    pub const fn place(&self) -> Option<(QuotePlace, Lines)> {
        match *self {
            Evidence::Found { place, lines, .. } | Evidence::Outdated { place, lines } => {
                Some((place, lines))
            }
            Evidence::Unchecked
            | Evidence::Missing { .. }
            | Evidence::TooShort
            | Evidence::TooLong => None,
        }
    }
}

/// A quote with the result of looking it up.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Quote {
    /// Its first line in the text that quotes it.
    pub line: u32,
    /// The quoted lines.
    pub text: String,
    /// The path or address that its author names.
    pub source: Option<String>,
    /// The result.
    pub evidence: Evidence,
}

impl Quote {
    /// Whether it was found in what the debate says now.
    pub fn counts(&self) -> bool {
        matches!(self.evidence, Evidence::Found { .. })
    }

    /// Whether it was found in a document.
    pub fn is_of_document(&self) -> bool {
        matches!(self.evidence, Evidence::Found { place: QuotePlace::Document { .. }, .. })
    }

    /// Its text in normal form.
    pub fn normal(text: &str) -> String {
        unframed(&Normal::of(text).text).to_owned()
    }
}

/// The texts in which the quotes of an argument are looked up, in order.
#[derive(Debug, Clone, Copy, Default)]
pub struct Library<'a> {
    /// The newest cited versions of the debate's documents, then the arguments of the other roles.
    pub current: &'a [Source<'a>],
    /// The earlier versions. `None`: not read yet.
    pub earlier: Option<&'a [Source<'a>]>,
    /// The versions that were the newest at the opponent's previous CLAIM.
    pub examined: &'a [Source<'a>],
}

impl Library<'_> {
    /// Looks a block of quoted lines up, as a whole or else line by line. `None` if that needs the
    /// earlier versions.
    pub fn check(&self, block: &QuoteBlock) -> Option<Vec<Quote>> {
        let quote = |line: u32, lines: &[String], evidence| Quote {
            line,
            text: lines.join("\n").trim().to_owned(),
            source: block.source.clone(),
            evidence,
        };
        let Some(whole) = QuoteText::of(block.lines.iter().map(String::as_str)) else {
            return Some(Vec::new());
        };
        // One more than an argument may have: the rules refuse it, and a long block costs no more.
        let several = || {
            let lines = block.lines.iter().zip(block.line..).filter_map(|(line, number)| {
                let lines = core::slice::from_ref(line);
                let text = QuoteText::of(core::iter::once(line.as_str()));
                text.map(|text| (number, lines, text))
            });
            lines.take(MOST_QUOTES + 1)
        };
        let found = self.find(&whole)?;
        let is_found = matches!(found, Some(Evidence::Found { .. }));
        if !is_found && several().count() > 1 {
            let by_line = several().map(|(number, lines, text)| {
                let found = self.find(&text)?;
                Some(quote(number, lines, found.unwrap_or_else(|| self.absent(&text, block))))
            });
            let by_line: Vec<Quote> = by_line.collect::<Option<_>>()?;
            // A block that an earlier version has as a whole is outdated, unless each of its lines stands.
            if found.is_none() || by_line.iter().all(Quote::counts) {
                return Some(by_line);
            }
        }
        let evidence = found.unwrap_or_else(|| self.absent(&whole, block));
        Some([quote(block.line, &block.lines, evidence)].into())
    }

    /// Where a quote stands: nowhere, or unknown without the earlier versions.
    fn find(&self, quote: &QuoteText) -> Option<Option<Evidence>> {
        if quote.is_long {
            return Some(None);
        }
        let first = |sources: &[Source<'_>]| {
            sources.iter().find_map(|source| Some((source.place, source.text.find(quote)?)))
        };
        if let Some((place, lines)) = first(self.current) {
            let fresh = self.is_fresh(place, quote);
            return Some(Some(Evidence::Found { place, lines, fresh }));
        }
        let found = first(self.earlier?);
        Some(found.map(|(place, lines)| Evidence::Outdated { place, lines }))
    }

    fn is_fresh(&self, place: QuotePlace, quote: &QuoteText) -> bool {
        let QuotePlace::Document { document, .. } = place else { return false };
        let same = |source: &&Source<'_>| matches!(source.place, QuotePlace::Document { document: other, .. } if other == document);
        let examined = self.examined.iter().find(same);
        examined.is_none_or(|source| source.text.find(quote).is_none())
    }

    /// The result for a quote that stands nowhere.
    fn absent(&self, quote: &QuoteText, block: &QuoteBlock) -> Evidence {
        if quote.is_long {
            return Evidence::TooLong;
        }
        if block.source.is_some() {
            return Evidence::Unchecked;
        }
        if quote.is_short {
            return Evidence::TooShort;
        }
        let wanted = Trigrams::of(&quote.text);
        let nearest = self
            .current
            .iter()
            .filter_map(|source| {
                let (likeness, line, text) = source.text.nearest(&wanted)?;
                let text = text.chars().take(NEAREST_CHARS).collect();
                Some((likeness, Nearest { place: source.place, line, text }))
            })
            .reduce(|best, next| if next.0 > best.0 { next } else { best });
        Evidence::Missing { nearest: nearest.map(|(_, nearest)| nearest) }
    }

    /// How many lines there are to read: of the documents, or of the MOTION where there are none.
    pub fn readable_lines(&self) -> u32 {
        let of = |source: &&Source<'_>| matches!(source.place, QuotePlace::Document { .. });
        let documents: Vec<_> = self.current.iter().filter(of).collect();
        match documents.as_slice() {
            [] => self.current.first().map_or(0, |motion| motion.text.line_count()),
            documents => documents.iter().map(|source| source.text.line_count()).sum(),
        }
    }
}

/// How many different lines these quotes were found in.
pub fn lines_found<'a>(quotes: impl IntoIterator<Item = &'a Quote>) -> u32 {
    let mut lines = BTreeSet::new();
    for quote in quotes {
        if let Evidence::Found { place, lines: found, .. } = quote.evidence {
            lines.extend((found.kept.0..=found.kept.1).map(|line| (place, line)));
        }
    }
    lines.len() as u32
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn a_quote_is_found_where_it_stands_first_however_often_its_beginning_does() {
        let runs = |lengths: &[usize]| -> Vec<u8> {
            let run = |&length: &usize| core::iter::repeat_n(b'a', length).chain([b'b']);
            lengths.iter().flat_map(run).collect()
        };
        for first in [0, 30, 31, 32, 33, 34, 40, 60] {
            let quote = runs(&[33, first]);
            for before in [&[][..], &[5], &[40], &[33], &[32, 33, 39, 90], &[34; 12], &[33; 12]] {
                for after in [&[][..], &[33, first], &[33, first, 4]] {
                    let text = [runs(before), runs(after)].concat();
                    assert_eq!(position(&text, &quote), memmem::find(&text, &quote));
                }
            }
        }
    }
}
