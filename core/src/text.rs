//! Texts that people and agents send, checked once where they enter.
//!
//! A [`Content`] or a [`Title`] has passed its check. The `recorded` constructors skip the check for
//! text from the record, which may be older than today's limits.

use alloc::string::String;
use core::fmt;

/// Why a text was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadText {
    /// Empty, or only white space.
    #[error("must not be blank")]
    Blank,
    /// More bytes than the server accepts.
    #[error("is {len} bytes long, the limit is {max}")]
    TooManyBytes {
        /// Its length.
        len: usize,
        /// The limit.
        max: usize,
    },
    /// More characters than the field holds.
    #[error("is longer than {max} characters")]
    TooManyChars {
        /// The limit.
        max: usize,
    },
    /// A line break or another control character in a field of one line.
    #[error("must be one line without control characters")]
    NotOneLine,
    /// U+0000, which PostgreSQL cannot store.
    #[error("must not contain U+0000")]
    Nul,
    /// Not a name of a debate type.
    #[error("must match [a-z][a-z0-9_]{{0,63}}")]
    NotATypeName,
    /// Not a hash.
    #[error("must be 8 to 64 lower-case hexadecimal digits")]
    NotHex,
}

macro_rules! text {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub struct $name(String);

        impl $name {
            /// Takes a text from the record without checking it.
            pub fn recorded(text: String) -> Self {
                $name(text)
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// Returns the text.
            pub fn into_string(self) -> String {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text! {
    /// The text of an argument or a document version.
    Content
}
text! {
    /// The title of a debate: 1 to 200 characters on one line.
    Title
}
text! {
    /// The summary of a document version: 1 to 500 characters on one line.
    Summary
}
text! {
    /// The label of an author: at most 80 characters on one line.
    Author
}
text! {
    /// The name of a seat: at most 80 characters on one line.
    SeatName
}
text! {
    /// The current work of a role, in its own words: at most 80 characters on one line.
    WorkLabel
}
text! {
    /// The type of a debate: `[a-z][a-z0-9_]{0,63}`.
    DebateType
}

impl Content {
    /// Accepts a text that is not blank and fits.
    pub fn parse(text: String, max_bytes: usize) -> Result<Self, BadText> {
        if text.trim().is_empty() {
            return Err(BadText::Blank);
        }
        Self::parse_optional(text, max_bytes)
    }

    /// Accepts a text that may be blank, such as an INTERVENTION's.
    pub fn parse_optional(text: String, max_bytes: usize) -> Result<Self, BadText> {
        if text.len() > max_bytes {
            return Err(BadText::TooManyBytes { len: text.len(), max: max_bytes });
        }
        if text.contains('\0') {
            return Err(BadText::Nul);
        }
        Ok(Content(text))
    }
}

impl Title {
    /// The most characters a title may have.
    pub const MAX_CHARS: usize = 200;

    /// Accepts a title.
    pub fn parse(text: String) -> Result<Self, BadText> {
        one_line(&text, Self::MAX_CHARS)?;
        Ok(Title(text))
    }
}

impl Summary {
    /// The most characters a summary may have.
    pub const MAX_CHARS: usize = 500;

    /// Accepts a summary.
    pub fn parse(text: String) -> Result<Self, BadText> {
        one_line(&text, Self::MAX_CHARS)?;
        Ok(Summary(text))
    }
}

impl Author {
    /// The most characters a label may have.
    pub const MAX_CHARS: usize = 80;

    /// Accepts a label.
    pub fn parse(text: String) -> Result<Self, BadText> {
        one_line(&text, Self::MAX_CHARS)?;
        Ok(Author(text))
    }
}

impl SeatName {
    /// Accepts a name.
    pub fn parse(text: String) -> Result<Self, BadText> {
        one_line(&text, Author::MAX_CHARS)?;
        Ok(SeatName(text))
    }
}

impl WorkLabel {
    /// The most characters a label may have.
    pub const MAX_CHARS: usize = 80;

    /// Accepts a label.
    pub fn parse(text: String) -> Result<Self, BadText> {
        one_line(&text, Self::MAX_CHARS)?;
        Ok(WorkLabel(text))
    }
}

impl DebateType {
    /// Accepts any well-formed name: types are open.
    pub fn parse(text: String) -> Result<Self, BadText> {
        let mut bytes = text.bytes();
        let begins = bytes.next().is_some_and(|b| b.is_ascii_lowercase());
        let goes_on = bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        if begins && goes_on && text.len() <= 64 {
            Ok(DebateType(text))
        } else {
            Err(BadText::NotATypeName)
        }
    }
}

pub(crate) fn one_line(text: &str, max_chars: usize) -> Result<(), BadText> {
    if text.contains('\0') {
        return Err(BadText::Nul);
    }
    if text.trim().is_empty() {
        return Err(BadText::Blank);
    }
    // Browsers and editors break lines at U+2028 and U+2029 too.
    if text.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')) {
        return Err(BadText::NotOneLine);
    }
    if text.chars().count() > max_chars {
        return Err(BadText::TooManyChars { max: max_chars });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::borrow::ToOwned;

    #[test]
    fn content_is_measured_in_bytes() {
        let eleven_kb_of_three_byte_characters = "ế".repeat(11 * 1024 / 3);
        assert_eq!(
            Content::parse(eleven_kb_of_three_byte_characters, 10_240),
            Err(BadText::TooManyBytes { len: 11_262, max: 10_240 })
        );
        let exactly_the_limit = "a".repeat(10_240);
        assert_eq!(
            Content::parse(exactly_the_limit.clone(), 10_240).map(Content::into_string),
            Ok(exactly_the_limit)
        );
    }

    #[test]
    fn content_is_neither_blank_nor_with_u0000() {
        assert_eq!(Content::parse(" \n\t".to_owned(), 10), Err(BadText::Blank));
        assert_eq!(Content::parse("a\0b".to_owned(), 10), Err(BadText::Nul));
        assert_eq!(Content::parse_optional("\0".to_owned(), 10), Err(BadText::Nul));
        assert_eq!(
            Content::parse_optional(String::new(), 10).map(Content::into_string),
            Ok(String::new())
        );
    }

    #[test]
    fn a_title_is_one_line_of_1_to_200_characters() {
        assert_eq!(Title::parse("ế".repeat(200)).map(|t| t.as_str().len()), Ok(600));
        assert_eq!(Title::parse("e".repeat(201)), Err(BadText::TooManyChars { max: 200 }));
        assert_eq!(Title::parse(String::new()), Err(BadText::Blank));
        for broken in ["two\nlines", "two\rlines", "two\u{2028}lines", "esc\u{1b}[31m"] {
            assert_eq!(Title::parse(broken.to_owned()), Err(BadText::NotOneLine), "{broken:?}");
        }
    }

    #[test]
    fn a_type_name_is_lower_case_snake() {
        for good in ["general_debate", "a", "x9_"] {
            assert_eq!(
                DebateType::parse(good.to_owned()).map(DebateType::into_string),
                Ok(good.to_owned())
            );
        }
        let long = "a".repeat(65);
        for bad in ["", "9a", "_a", "A", "a-b", "a b", "ă", long.as_str()] {
            assert_eq!(DebateType::parse(bad.to_owned()), Err(BadText::NotATypeName), "{bad:?}");
        }
    }

    #[test]
    fn an_author_is_a_label_of_at_most_80_characters() {
        assert_eq!(Author::parse("a".repeat(80)).map(|a| a.as_str().len()), Ok(80));
        assert_eq!(Author::parse("a".repeat(81)), Err(BadText::TooManyChars { max: 80 }));
    }
}
