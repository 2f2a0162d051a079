//! The flaws for which the server refuses a text with statements.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::{self, Write as _};

use crate::quote::Nearest;
use crate::words;

/// The kind of a flaw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FlawCode {
    /// A heading without its bracket, or in a fence that never closes.
    Form,
    /// A word that does not fit here.
    Word,
    /// A target or a word of another role.
    Role,
    /// The debate has no such point.
    PointUnknown,
    /// The point is over.
    PointOver,
    /// A RULING has upheld the point.
    PointRuled,
    /// A second statement about the same point, or a second VERDICT.
    Twice,
    /// More than the limit allows.
    TooMany,
    /// A new point without a title.
    NoTitle,
    /// A statement without a reason.
    NoReason,
    /// The quoted text is nowhere in the debate.
    QuoteMissing,
    /// The quoted text is only in an earlier version.
    QuoteOutdated,
    /// The quote is too short or too long.
    QuoteLength,
    /// A critical or major point needs a quote.
    QuoteNeeded,
    /// `accepted` needs a new version.
    VersionNeeded,
    /// A point blocks the agreement.
    AgreeBlocked,
    /// The opponent agrees without having shown what it read.
    AgreeUnread,
}

words!(
    FlawCode,
    "form, word, role, point_unknown, point_over, point_ruled, twice, too_many, no_title, no_reason, \
     quote_missing, quote_outdated, quote_length, quote_needed, version_needed, agree_blocked, agree_unread",
    {
        Form = "form",
        Word = "word",
        Role = "role",
        PointUnknown = "point_unknown",
        PointOver = "point_over",
        PointRuled = "point_ruled",
        Twice = "twice",
        TooMany = "too_many",
        NoTitle = "no_title",
        NoReason = "no_reason",
        QuoteMissing = "quote_missing",
        QuoteOutdated = "quote_outdated",
        QuoteLength = "quote_length",
        QuoteNeeded = "quote_needed",
        VersionNeeded = "version_needed",
        AgreeBlocked = "agree_blocked",
        AgreeUnread = "agree_unread",
    }
);

/// Something in a text that the rules of points do not allow.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Flaw {
    /// The line, from 1.
    pub line: u32,
    /// Its kind.
    pub code: FlawCode,
    /// The mistake, and the text to write instead.
    pub message: String,
    /// The words or forms that may stand there.
    pub allowed: Vec<String>,
    /// The quote that it is about.
    pub quote: Option<String>,
    /// The text that comes nearest to that quote.
    pub nearest: Option<Nearest>,
}

impl Flaw {
    pub(crate) fn new(line: u32, code: FlawCode, message: impl Into<String>) -> Self {
        let message = message.into();
        Flaw { line, code, message, allowed: Vec::new(), quote: None, nearest: None }
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// Lists things in a sentence: "P1, P2 and P3".
pub(crate) fn listed<T: ToString>(things: &[T], conjunction: &str) -> String {
    let mut list = String::new();
    for (nth, thing) in things.iter().enumerate() {
        let before = match nth {
            0 => String::new(),
            last if last + 1 == things.len() => alloc::format!(" {conjunction} "),
            _ => ", ".to_string(),
        };
        let _ = write!(list, "{before}{}", thing.to_string());
    }
    list
}
