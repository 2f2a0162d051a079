//! Points, and the form of the statements by which the roles raise, answer and end them.
//!
//! A statement is a Markdown heading in a CLAIM or a RULING, such as `### P2 [rejected] The reason`.
//! This file reads headings and bodies. It knows the words of each role, not the life of a point:
//! that is in [`crate::Ledger`].

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use crate::flaw::{Flaw, FlawCode, listed};
use crate::quote::is_zero_width;
use crate::{Role, UnknownWord, words};

/// The version of this form, which a debate keeps.
pub const POINTS_FORM: u64 = 1;

/// How bad a point is; it never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The plan may stand as it is.
    Minor,
    /// The plan should be mended.
    Major,
    /// The plan must not go ahead.
    Critical,
}

words!(Severity, "critical, major, minor", {
    Minor = "minor",
    Major = "major",
    Critical = "critical",
});

/// Where a point stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PointState {
    /// The proposer owes an answer.
    Open,
    /// The proposer has changed the plan.
    Accepted,
    /// The proposer has contradicted it.
    Rejected,
    /// The proposer wants to leave it for later.
    Deferred,
    /// A RULING demands a change.
    Upheld,
    /// Over: the change is accepted.
    Settled,
    /// Over: the opponent has given it up.
    Withdrawn,
    /// Over: a RULING has turned it down.
    Dismissed,
    /// Over: it is left for later.
    SetAside,
}

words!(
    PointState,
    "open, accepted, rejected, deferred, upheld, settled, withdrawn, dismissed, set_aside",
    {
        Open = "open",
        Accepted = "accepted",
        Rejected = "rejected",
        Deferred = "deferred",
        Upheld = "upheld",
        Settled = "settled",
        Withdrawn = "withdrawn",
        Dismissed = "dismissed",
        SetAside = "set_aside",
    }
);

impl PointState {
    /// The role that owes the next word on the point; nobody, once it is over.
    pub const fn owes(self) -> Option<Role> {
        match self {
            PointState::Open | PointState::Upheld => Some(Role::Proposer),
            PointState::Accepted | PointState::Rejected | PointState::Deferred => {
                Some(Role::Opponent)
            }
            PointState::Settled
            | PointState::Withdrawn
            | PointState::Dismissed
            | PointState::SetAside => None,
        }
    }

    /// Whether the point is not over.
    pub const fn is_alive(self) -> bool {
        self.owes().is_some()
    }
}

/// The number of a point in its debate: `P1`, `P2` …
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PointId(pub u32);

impl fmt::Display for PointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "P{}", self.0)
    }
}

impl FromStr for PointId {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.strip_prefix(['P', 'p'])
            .filter(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
            .and_then(|digits| digits.parse().ok())
            .map(PointId)
            .ok_or(UnknownWord { expected: "P1, P2, …" })
    }
}

/// The settings with which a debate keeps points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PointRules {
    /// How many CLAIMs the opponent has before the proposer must appeal or complete.
    pub rounds: u32,
    /// The lowest severity that blocks completion.
    pub blocking: Severity,
}

impl PointRules {
    /// The most rounds that a debate may have.
    pub const MOST_ROUNDS: u32 = 20;
}

impl Default for PointRules {
    fn default() -> Self {
        PointRules { rounds: 5, blocking: Severity::Major }
    }
}

/// The word of a statement, in its main form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Word {
    /// A new point's severity.
    Critical,
    /// A new point's severity.
    Major,
    /// A new point's severity.
    Minor,
    /// The opponent sees that the point is mended.
    Resolved,
    /// The opponent holds the point.
    Open,
    /// The opponent gives the point up.
    Withdrawn,
    /// The opponent agrees to the plan.
    Agree,
    /// The opponent does not agree to the plan.
    Object,
    /// The proposer has changed the plan.
    Accepted,
    /// The proposer contradicts.
    Rejected,
    /// The proposer or the arbitrator leaves the point for later.
    Deferred,
    /// The arbitrator demands a change.
    Upheld,
    /// The arbitrator turns the point down.
    Dismissed,
}

words!(
    Word,
    "critical, major, minor, resolved, open, withdrawn, agree, object, accepted, rejected, deferred, upheld, dismissed",
    {
        Critical = "critical",
        Major = "major",
        Minor = "minor",
        Resolved = "resolved",
        Open = "open",
        Withdrawn = "withdrawn",
        Agree = "agree",
        Object = "object",
        Accepted = "accepted",
        Rejected = "rejected",
        Deferred = "deferred",
        Upheld = "upheld",
        Dismissed = "dismissed",
    }
);

impl Word {
    /// The severity that this word gives a new point.
    pub const fn severity(self) -> Option<Severity> {
        match self {
            Word::Critical => Some(Severity::Critical),
            Word::Major => Some(Severity::Major),
            Word::Minor => Some(Severity::Minor),
            _ => None,
        }
    }
}

/// The subject of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject {
    /// A point that the statement raises.
    New,
    /// The whole plan.
    Verdict,
    /// A point that the debate has.
    Point(PointId),
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::New => f.write_str("NEW"),
            Subject::Verdict => f.write_str("VERDICT"),
            Subject::Point(id) => id.fmt(f),
        }
    }
}

/// The three kinds of [`Subject`], for the table of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SubjectKind {
    New,
    Point,
    Verdict,
}

impl Subject {
    fn kind(self) -> SubjectKind {
        match self {
            Subject::New => SubjectKind::New,
            Subject::Verdict => SubjectKind::Verdict,
            Subject::Point(_) => SubjectKind::Point,
        }
    }
}

/// Which role may say which word about which target, and the spellings that mean the same.
#[rustfmt::skip]
const WORDS: &[(Role, SubjectKind, Word, &[&str])] = &[
    (Role::Opponent, SubjectKind::New, Word::Critical, &[]),
    (Role::Opponent, SubjectKind::New, Word::Major, &[]),
    (Role::Opponent, SubjectKind::New, Word::Minor, &[]),
    (Role::Opponent, SubjectKind::Point, Word::Resolved, &["resolve", "fixed"]),
    (Role::Opponent, SubjectKind::Point, Word::Open, &["still open", "unresolved", "not fixed", "not resolved"]),
    (Role::Opponent, SubjectKind::Point, Word::Withdrawn, &["withdraw"]),
    (Role::Opponent, SubjectKind::Verdict, Word::Agree, &["agreed", "approve", "approved"]),
    (Role::Opponent, SubjectKind::Verdict, Word::Object, &["disagree", "not agreed"]),
    (Role::Proposer, SubjectKind::Point, Word::Accepted, &["accept", "fixed"]),
    (Role::Proposer, SubjectKind::Point, Word::Rejected, &["reject"]),
    (Role::Proposer, SubjectKind::Point, Word::Deferred, &["defer"]),
    (Role::Arbitrator, SubjectKind::Point, Word::Upheld, &["uphold"]),
    (Role::Arbitrator, SubjectKind::Point, Word::Dismissed, &["dismiss"]),
    (Role::Arbitrator, SubjectKind::Point, Word::Deferred, &["defer"]),
    (Role::Arbitrator, SubjectKind::New, Word::Critical, &[]),
    (Role::Arbitrator, SubjectKind::New, Word::Major, &[]),
    (Role::Arbitrator, SubjectKind::New, Word::Minor, &[]),
];

fn meaning(role: Role, kind: SubjectKind, spelling: &str) -> Option<Word> {
    WORDS
        .iter()
        .find(|(whose, about, word, also)| {
            (*whose, *about) == (role, kind)
                && (word.as_str() == spelling || also.contains(&spelling))
        })
        .map(|(_, _, word, _)| *word)
}

fn is_known(spelling: &str) -> bool {
    WORDS.iter().any(|(_, _, word, also)| word.as_str() == spelling || also.contains(&spelling))
}

fn uses(role: Role, kind: SubjectKind) -> bool {
    WORDS.iter().any(|(whose, about, ..)| (*whose, *about) == (role, kind))
}

/// The words that a role may say about this.
fn choices(role: Role, kind: SubjectKind) -> impl Iterator<Item = Word> {
    WORDS.iter().filter(move |(whose, about, ..)| (*whose, *about) == (role, kind)).map(|row| row.2)
}

/// The words that a role may say about a point, as they stand in a heading: `accepted|rejected|deferred`.
pub(crate) fn choices_for_point(role: Role) -> String {
    let words: Vec<&str> = choices(role, SubjectKind::Point).map(Word::as_str).collect();
    words.join("|")
}

/// All headings that a role may write.
fn forms(role: Role) -> Vec<String> {
    let form = |(kind, name): &(SubjectKind, &str)| {
        let words: Vec<&str> = choices(role, *kind).map(Word::as_str).collect();
        (!words.is_empty()).then(|| format!("{name} [{}]", words.join("|")))
    };
    [(SubjectKind::New, "NEW"), (SubjectKind::Point, "P…"), (SubjectKind::Verdict, "VERDICT")]
        .iter()
        .filter_map(form)
        .collect()
}

/// A statement as it stands in a text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Statement {
    /// The line of its heading, from 1.
    pub line: u32,
    /// Its subject.
    pub subject: Subject,
    /// Its word.
    pub word: Word,
    /// The rest of the heading.
    pub title: String,
    /// Whether a line of its body is a reason.
    pub has_reason: bool,
    /// The quotes in its body.
    pub blocks: Vec<QuoteBlock>,
}

/// Consecutive quoted lines.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct QuoteBlock {
    /// Its first line, from 1.
    pub line: u32,
    /// Its lines, without the `>`.
    pub lines: Vec<String>,
    /// The path or address in the source line below it.
    pub source: Option<String>,
}

/// The statements of a text, and the flaws of their headings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Statements {
    /// The statements whose headings are in order.
    pub statements: Vec<Statement>,
    /// The flaws of the others.
    pub flaws: Vec<Flaw>,
}

/// Reads the statements that a role makes in a text, in a debate that has the points 1 to `points`.
pub fn statements(text: &str, role: Role, points: u32) -> Statements {
    // Some editors begin a file with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (lines, unclosed) = classify(text);
    let number = |at: usize| at as u32 + 1;
    let mut read = Statements::default();
    if let Some(fence) = unclosed {
        let covered = text.split('\n').enumerate().skip(fence + 1).find_map(|(at, line)| {
            let (_, text) = heading(line.trim_end_matches('\r'))?;
            Heading::parse(text, role, points, number(at)).map(|_| at)
        });
        if let Some(covered) = covered {
            let message = format!(
                "this code fence never closes and covers the heading in line {}: close it",
                number(covered)
            );
            read.flaws.push(Flaw::new(number(fence), FlawCode::Form, message));
        }
    }
    let headings: Vec<(usize, usize, Option<Heading>)> = lines
        .iter()
        .enumerate()
        .filter_map(|(at, line)| match line {
            Line::Heading { level, text } => {
                Some((at, *level, Heading::parse(text, role, points, number(at))))
            }
            _ => None,
        })
        .collect();
    for (nth, (at, level, heading)) in headings.iter().enumerate() {
        let Some(heading) = heading else { continue };
        let end = headings[nth + 1..]
            .iter()
            .find(|(_, next, counts)| counts.is_some() || next <= level)
            .map_or(lines.len(), |(end, ..)| *end);
        match heading {
            Heading::Flawed(flaw) => read.flaws.push(flaw.clone()),
            Heading::Sound { subject, word, title } => {
                let (blocks, has_reason) = body(&lines[at + 1..end], number(at + 1));
                read.statements.push(Statement {
                    line: number(*at),
                    subject: *subject,
                    word: *word,
                    title: title.clone(),
                    has_reason,
                    blocks,
                });
            }
        }
    }
    read
}

/// The texts of the statements whose headings are in these lines, in order. Each goes up to the next
/// of them, or to the next heading of its level.
pub fn passages(text: &str, headings: &[u32]) -> Vec<String> {
    let (lines, _) = classify(text);
    let texts: Vec<&str> = text.split('\n').collect();
    let passage = |(at, heading): (usize, &u32)| {
        let first = heading.saturating_sub(1) as usize;
        let Some(Line::Heading { level, .. }) = lines.get(first).copied() else {
            return String::new();
        };
        let next = headings.get(at + 1).map_or(lines.len(), |next| next.saturating_sub(1) as usize);
        let is_level =
            |line: &Line<'_>| matches!(line, Line::Heading { level: other, .. } if *other <= level);
        let until_next = lines.iter().take(next).skip(first + 1);
        let end = until_next.take_while(|line| !is_level(line)).count() + first + 1;
        texts.get(first..end).unwrap_or_default().join("\n").trim_end().to_owned()
    };
    headings.iter().enumerate().map(passage).collect()
}

/// A line of a text.
#[derive(Debug, Clone, Copy)]
enum Line<'a> {
    Heading {
        level: usize,
        text: &'a str,
    },
    Quote(&'a str),
    /// The first or last line of a code block.
    Fence,
    Code(&'a str),
    Text(&'a str),
}

/// The lines of a text, and the line of a fence that never closes.
fn classify(text: &str) -> (Vec<Line<'_>>, Option<usize>) {
    let mut open: Option<(usize, char, usize)> = None;
    let lines = text
        .split('\n')
        .enumerate()
        .map(|(at, line)| {
            let line = line.trim_end_matches('\r');
            match (open, fence(line)) {
                (Some((_, mark, length)), Some(closing))
                    if closing.mark == mark && closing.length >= length && closing.is_bare =>
                {
                    open = None;
                    Line::Fence
                }
                (Some(_), _) => Line::Code(line),
                (None, Some(opening)) => {
                    open = Some((at, opening.mark, opening.length));
                    Line::Fence
                }
                (None, None) => match (line.trim_start().strip_prefix('>'), heading(line)) {
                    (Some(quoted), _) => Line::Quote(quoted),
                    (None, Some((level, text))) => Line::Heading { level, text },
                    (None, None) => Line::Text(line),
                },
            }
        })
        .collect();
    (lines, open.map(|(at, ..)| at))
}

/// A line that opens or closes a code block.
pub(crate) struct Fence {
    mark: char,
    length: usize,
    /// Nothing follows the marks.
    is_bare: bool,
}

/// Reads a fence: three or more back-ticks, without another in the line, or tildes.
pub(crate) fn fence(line: &str) -> Option<Fence> {
    let line = line.trim();
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let rest = line.trim_start_matches(mark);
    let length = line.len() - rest.len();
    let opens = length >= 3 && !(mark == '`' && rest.contains('`'));
    opens.then_some(Fence { mark, length, is_bare: rest.is_empty() })
}

/// The level and the text of a heading.
fn heading(line: &str) -> Option<(usize, &str)> {
    let marks = line.trim_start_matches(' ');
    let text = marks.trim_start_matches('#');
    let (indent, level) = (line.len() - marks.len(), marks.len() - text.len());
    let text = text.strip_prefix(' ')?;
    ((0..=3).contains(&indent) && (1..=6).contains(&level))
        .then(|| (level, text.trim_end().trim_end_matches('#').trim()))
}

/// A heading that counts as a statement.
#[derive(Debug)]
enum Heading {
    Sound { subject: Subject, word: Word, title: String },
    Flawed(Flaw),
}

impl Heading {
    /// Reads a heading. `None` if it is text.
    fn parse(text: &str, role: Role, points: u32, line: u32) -> Option<Self> {
        let text = text.trim_start_matches(|c: char| !c.is_alphabetic());
        let (subject, capital, rest) = subject(text)?;
        let kind = subject.kind();
        let rest = rest.trim_start_matches(is_gap);
        let bracket = bracket(rest);
        let exists = match subject {
            Subject::Point(PointId(number)) => (1..=points).contains(&number),
            Subject::New | Subject::Verdict => uses(role, kind),
        };
        let counts =
            bracket.as_ref().is_some_and(|(word, _)| is_known(word)) || (capital && exists);
        if !counts {
            return None;
        }
        let flaw = |code, message: String, allowed: Vec<String>| {
            Some(Heading::Flawed(Flaw { allowed, ..Flaw::new(line, code, message) }))
        };
        let own = || choices(role, kind).map(|word| word.to_string()).collect::<Vec<_>>();
        match (exists, subject) {
            (false, Subject::Point(_)) => {
                let known = match points {
                    0 => "there are no points yet".to_string(),
                    1 => "the only point is P1".to_string(),
                    last => format!("the points are P1 to P{last}"),
                };
                let message = match uses(role, SubjectKind::New) {
                    true => format!(
                        "this debate has no such point: {known}; to raise one write NEW: the server gives the number"
                    ),
                    false => format!("this debate has no such point: {known}"),
                };
                return flaw(FlawCode::PointUnknown, message, Vec::new());
            }
            (false, Subject::New | Subject::Verdict) => {
                let allowed = forms(role);
                let message = format!(
                    "{subject} is not for the {role}, who writes {}",
                    listed(&allowed, "or")
                );
                return flaw(FlawCode::Role, message, allowed);
            }
            (true, _) => {}
        }
        let Some((spelling, title)) = bracket else {
            let message = format!(
                "a heading about {subject} needs its word in brackets right after it: {subject} [{}]",
                own().join("|")
            );
            return flaw(FlawCode::Form, message, own());
        };
        match meaning(role, kind, &spelling) {
            Some(word) => {
                let title = title.trim_start_matches(is_gap).trim().to_owned();
                Some(Heading::Sound { subject, word, title })
            }
            None => {
                let another =
                    Role::ALL.iter().find(|role| meaning(**role, kind, &spelling).is_some());
                let (code, reason) = match another {
                    Some(other) => (FlawCode::Role, format!("is a word of the {other}")),
                    None => (FlawCode::Word, format!("is no word for {subject}")),
                };
                let either = own().join("|");
                let message =
                    format!("[{spelling}] {reason}; the {role} writes {subject} [{either}]");
                flaw(code, message, own())
            }
        }
    }
}

/// The subject at the beginning of a heading, whether it stands in capitals, and the rest.
fn subject(text: &str) -> Option<(Subject, bool, &str)> {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let subject = if name.eq_ignore_ascii_case("NEW") {
        Subject::New
    } else if name.eq_ignore_ascii_case("VERDICT") {
        Subject::Verdict
    } else {
        let digits = name.strip_prefix(['P', 'p'])?;
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        // A number beyond the type names a point that no debate has.
        Subject::Point(PointId(digits.parse().unwrap_or(u32::MAX)))
    };
    let capital = !name.bytes().any(|b| b.is_ascii_lowercase());
    Some((subject, capital, rest))
}

fn is_gap(c: char) -> bool {
    c.is_whitespace() || matches!(c, ':' | '-' | '–' | '—' | '.' | '*' | '`')
}

/// The words between brackets at the beginning, in lower case, and the rest.
fn bracket(text: &str) -> Option<(String, &str)> {
    let closing = match text.chars().next()? {
        '[' => ']',
        '(' => ')',
        _ => return None,
    };
    let (inside, rest) = text[1..].split_once(closing)?;
    let words: Vec<String> = inside
        .split(|c: char| !c.is_alphabetic())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    Some((words.join(" "), rest))
}

/// The quotes of a body whose first line has this number, and whether a line is a reason.
fn body(lines: &[Line<'_>], first: u32) -> (Vec<QuoteBlock>, bool) {
    let mut blocks: Vec<QuoteBlock> = Vec::new();
    let mut has_reason = false;
    let mut quoting = false;
    for (at, line) in lines.iter().enumerate() {
        let quoted = core::mem::replace(&mut quoting, false);
        match line {
            Line::Quote(text) => {
                quoting = true;
                match blocks.last_mut().filter(|_| quoted) {
                    Some(block) => block.lines.push((*text).to_owned()),
                    None => blocks.push(QuoteBlock {
                        line: first + at as u32,
                        lines: [(*text).to_owned()].into(),
                        source: None,
                    }),
                }
            }
            Line::Text(text) => match (blocks.last_mut().filter(|_| quoted), source(text)) {
                (Some(block), Some(source)) => block.source = Some(source.to_owned()),
                _ => has_reason |= text.contains(char::is_alphanumeric),
            },
            Line::Code(text) => has_reason |= text.contains(char::is_alphanumeric),
            Line::Heading { .. } | Line::Fence => {}
        }
    }
    (blocks, has_reason)
}

/// The path or address that a source line names.
fn source(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let rest = ["—", "–", "--", "Source:"].iter().find_map(|mark| line.strip_prefix(mark))?;
    let word = rest.split_whitespace().next()?;
    let word = word.trim_start_matches(['`', '"', '\'', '(', '[', '<', '*']);
    let word = word.trim_end_matches(|c: char| is_punctuation(c) && c != '/');
    // The slash at the end of an address is part of it, but does not make a word an address.
    word.trim_end_matches('/').contains(['/', '.']).then_some(word)
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation()
        || matches!(c, '«' | '»' | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' | '\u{3001}'..='\u{301f}')
}

/// The most characters of a title that the ledger keeps.
const TITLE_CHARS: usize = 120;

/// A title as the ledger keeps it: its beginning, without characters that could disturb its reader.
/// Empty if nothing of it can be seen.
pub(crate) fn kept_title(title: &str) -> String {
    let disturbs = |c: char| {
        c.is_control()
            || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let kept: String = title.chars().filter(|c| !disturbs(*c)).take(TITLE_CHARS).collect();
    if kept.chars().all(is_unseen) { String::new() } else { kept.trim().to_owned() }
}

/// Whether a character leaves no mark: a space, a control or zero-width character, or a filler.
fn is_unseen(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || is_zero_width(c)
        || matches!(c, '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}')
        || matches!(c, '\u{180b}'..='\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e0fff}')
}
