//! Why a start of a program failed.

use std::fmt;

/// The kind of a failure. It decides what the runner does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// The program is not logged in.
    Auth,
    /// The user's quota is used up.
    Quota,
    /// The model's server is overloaded, broken or out of reach.
    Overload,
    /// The program ended without a final event.
    Crash,
    /// The turn took too long.
    Timeout,
    /// The program ended well and said nothing.
    Empty,
    /// The server refused the text. Only the runner finds this one.
    Flaws,
}

/// A failure of one start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramFailure {
    /// The kind.
    pub kind: FailureKind,
    /// The program's own words, on one line without control characters, cut to 400 characters.
    pub detail: String,
    /// When the quota is full again, in the program's words or in RFC 3339, if the program says so.
    pub resets_at: Option<String>,
}

impl FailureKind {
    /// The kind as the answer spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            FailureKind::Auth => "auth",
            FailureKind::Quota => "quota",
            FailureKind::Overload => "overload",
            FailureKind::Crash => "crash",
            FailureKind::Timeout => "timeout",
            FailureKind::Empty => "empty",
            FailureKind::Flaws => "flaws",
        }
    }

    /// The kind of an HTTP status.
    pub(super) fn of_status(status: u64) -> Option<FailureKind> {
        match status {
            401 | 403 => Some(FailureKind::Auth),
            402 | 429 => Some(FailureKind::Quota),
            500..=599 => Some(FailureKind::Overload),
            _ => None,
        }
    }

    /// The kind of a program's error message.
    ///
    /// Never call this with words of an agent: they may contain anything.
    pub(super) fn of_words(words: &str) -> Option<FailureKind> {
        let words = words.to_lowercase();
        // A quota is sometimes reported with a 403, and an expired login with the advice to check one's plan.
        let first = |list: &[&str]| list.iter().filter_map(|word| words.find(word)).min();
        let kinds = [
            (first(AUTH), FailureKind::Auth),
            (first(QUOTA), FailureKind::Quota),
            (first(OVERLOAD), FailureKind::Overload),
        ];
        let found = kinds.into_iter().filter_map(|(place, kind)| Some((place?, kind)));
        found.min_by_key(|(place, _)| *place).map(|(_, kind)| kind)
    }
}

const AUTH: &[&str] = &[
    "401 unauthorized",
    "403 forbidden",
    "status 401",
    "status: 401",
    "\"code\":401",
    "authentication_failed",
    "authentication_error",
    "authentication credentials",
    "unauthenticated",
    "invalid api key",
    "invalid_api_key",
    "invalid x-api-key",
    "incorrect api key",
    "api key not valid",
    "api_key_invalid",
    "api key is missing",
    "missing api key",
    "missing bearer",
    "not logged in",
    "please run /login",
    "log in again",
    "sign in again",
    "token has expired",
    "token was revoked",
    "access token could not be refreshed",
    "set an auth method",
    "when using gemini api",
];

const QUOTA: &[&str] = &[
    "429 too many requests",
    "status 429",
    "status: 429",
    "\"code\":429",
    "(429)",
    "usage limit",
    "usage_limit",
    "rate limit",
    "rate_limit",
    "ratelimit",
    "too many requests",
    "resource_exhausted",
    "quota",
    "credit balance",
    "out of credits",
    "insufficient credits",
    "insufficient balance",
];

const OVERLOAD: &[&str] = &[
    "status 5",
    "status: 5",
    "\"code\":50",
    "overloaded",
    "high demand",
    "at capacity",
    "internal error encountered",
    "internal server error",
    "internal_server_error",
    "server_error",
    "server had an error",
    "service unavailable",
    "bad gateway",
    "gateway timeout",
    "stream disconnected",
    "error sending request",
    "fetch failed",
    "econnrefused",
    "econnreset",
    "enotfound",
    "eai_again",
    "etimedout",
    "unable to connect",
    "cannot connect",
    "connection refused",
    "connection error",
];

impl ProgramFailure {
    /// A failure with these words of the program.
    pub fn new(kind: FailureKind, detail: &str) -> Self {
        let resets_at = match kind {
            FailureKind::Quota => reset_time(detail),
            FailureKind::Auth
            | FailureKind::Overload
            | FailureKind::Crash
            | FailureKind::Timeout
            | FailureKind::Empty
            | FailureKind::Flaws => None,
        };
        ProgramFailure { kind, detail: one_line(detail, 400), resets_at }
    }
}

impl fmt::Display for ProgramFailure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}", self.kind.as_str(), self.detail)
    }
}

/// The words on one line, without control characters, cut to this many characters.
pub(super) fn one_line(words: &str, limit: usize) -> String {
    let mut line = String::new();
    let mut count = 0;
    for word in words.split_whitespace() {
        if count > 0 {
            line.push(' ');
            count += 1;
        }
        for c in word.chars() {
            if count >= limit {
                line.push('…');
                return line;
            }
            line.push(if c.is_control() { '\u{fffd}' } else { c });
            count += 1;
        }
    }
    line
}

/// The part of a message that says when the quota is full again, such as `7:20 AM` of "try again at 7:20 AM.".
fn reset_time(words: &str) -> Option<String> {
    let before = [
        "try again at ",
        "try again in ",
        "retry in ",
        "reset at ",
        "reset after ",
        "resets at ",
        "resets in ",
        "resets ",
    ];
    // Other letters may change their length in lower case, and then no place fits.
    let lower = words.to_ascii_lowercase();
    let start = before.iter().find_map(|b| Some(lower.find(b)? + b.len()))?;
    let rest = &words[start..];
    let stop = |(at, c): (usize, char)| {
        let next = rest[at + c.len_utf8()..].chars().next();
        let ends = "\n|]·;\"".contains(c);
        let ends_sentence = c == '.' && next.is_none_or(char::is_whitespace);
        (ends || ends_sentence).then_some(at)
    };
    let end = rest.char_indices().find_map(stop).unwrap_or(rest.len());
    let time = one_line(&rest[..end], 60);
    time.contains(|c: char| c.is_ascii_digit()).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reset_times_are_found_in_messages() {
        let time = |words| reset_time(words);
        let codex = "You’ve hit your usage limit. … or try again at Nov 17th, 2026 7:20 AM.";
        assert_eq!(time(codex).as_deref(), Some("Nov 17th, 2026 7:20 AM"));
        let claude = "You've hit your session limit · resets 3pm (UTC)";
        assert_eq!(time(claude).as_deref(), Some("3pm (UTC)"));
        assert_eq!(time("Please retry in 40.5s.").as_deref(), Some("40.5s"));
        assert_eq!(time("Your quota will reset after 3h2m."), Some("3h2m".to_owned()));
        assert_eq!(time("try again in a moment"), None);
        assert_eq!(time("İİİ try again at"), None);
    }

    #[test]
    fn the_first_known_words_decide() {
        let kind = FailureKind::of_words;
        assert_eq!(kind("unexpected status 401 Unauthorized: quota"), Some(FailureKind::Auth));
        assert_eq!(kind("Too Many Requests"), Some(FailureKind::Quota));
        assert_eq!(kind("Selected model is at capacity."), Some(FailureKind::Overload));
        assert_eq!(kind("line 401 of a.rs"), None);
    }

    #[test]
    fn details_are_one_line_without_control_characters() {
        assert_eq!(one_line("a\n\n b\u{1b}[31m\tc", 400), "a b\u{fffd}[31m c");
        assert_eq!(one_line("äöüß", 3), "äöü…");
    }
}
