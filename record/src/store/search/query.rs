//! What a search asks for, in the language of either database.

use std::collections::HashSet;

use uuid::Uuid;

use super::words::{self, folded, words};
use crate::store::db::Db;
use crate::{Failure, IdPrefix};

/// The shortest word that also finds the words that begin with it: a shorter one begins too many.
const PREFIX: usize = 3;

/// The most different words of a search. The index compares all of them in every text that it looks at.
const MOST_WORDS: usize = 32;

/// All words that a search row must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Query {
    words: Vec<String>,
    /// Whether the last one may be the beginning of a word.
    is_open: bool,
}

impl Query {
    /// The words of a text. The last one may be unfinished. `None` for a text without a word.
    pub(super) fn of(text: &str) -> Option<Self> {
        let words: Vec<String> = words(text).map(|word| word.folded).collect();
        let last = words.last()?;
        let is_open = last.chars().count() >= PREFIX;
        Some(Query::each_once(words, is_open))
    }

    /// Each word once. A last word that stands before too is not the beginning of another.
    fn each_once(mut words: Vec<String>, is_open: bool) -> Self {
        let (mut seen, mut is_new) = (HashSet::new(), true);
        words.retain(|word| {
            is_new = seen.insert(word.clone());
            is_new
        });
        Query { words, is_open: is_open && is_new }
    }

    /// Refuses more words than the index compares in a short time.
    pub(super) fn check(&self) -> Result<(), Failure> {
        match self.words.len() > MOST_WORDS {
            true => Err(Failure::TooManyWords { most: MOST_WORDS }),
            false => Ok(()),
        }
    }

    /// The pieces of a name that contains this text: all but the last end a word. `None` if they are
    /// too short to select much.
    pub(super) fn of_name(mark: char, text: &str) -> Option<Self> {
        let pieces: Vec<String> = words(text).map(|word| word.folded).collect();
        if !pieces.iter().any(|piece| piece.chars().count() >= PREFIX) {
            return None;
        }
        let ends = folded(text).ends_with(|last: char| !last.is_alphanumeric());
        let words = pieces.iter().map(|piece| format!("{mark}{piece}")).collect();
        Some(Query::each_once(words, !ends))
    }

    /// Only in this debate.
    pub(super) fn in_debate(mut self, key: i64) -> Self {
        self.words.insert(0, words::debate(key));
        self
    }

    /// Only in documents.
    pub(super) fn in_documents(mut self) -> Self {
        self.words.insert(0, words::DOCUMENT.to_owned());
        self
    }

    /// The rows that have a word.
    pub(super) fn word(word: &str) -> Self {
        Query { words: vec![word.to_owned()], is_open: false }
    }

    /// Whether a word of a text is one of these.
    pub(super) fn matches(&self, word: &str) -> bool {
        let (last, others) = self.words.split_last().expect("there is a word");
        others.iter().any(|other| other == word)
            || if self.is_open { word.starts_with(last.as_str()) } else { word == last }
    }

    /// As a query of SQLite's FTS5 or of PostgreSQL. Words contain no quotes and no operators.
    pub(super) fn text(&self, db: &Db<'_>) -> String {
        let (quote, and, open) = match db {
            Db::Sqlite(_) => ('"', " ", "*"),
            Db::Postgres(_) => ('\'', " & ", ":*"),
        };
        let words: Vec<String> =
            self.words.iter().map(|word| format!("{quote}{word}{quote}")).collect();
        words.join(and) + if self.is_open { open } else { "" }
    }
}

/// The first and the last id that begin with a text, if it looks like the beginning of one.
pub(super) fn ids(text: &str) -> Option<IdPrefix> {
    let text = text.trim();
    let digits: String = text.chars().filter(|letter| *letter != '-').collect();
    let is_id = (IdPrefix::DIGITS..=32).contains(&digits.len())
        && text.len() <= 36
        && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let digits = digits.as_str();
    let padded = |with: char| {
        let padding: String = std::iter::repeat_n(with, 32 - digits.len()).collect();
        u128::from_str_radix(&format!("{digits}{padding}"), 16).map(Uuid::from_u128).ok()
    };
    if !is_id {
        return None;
    }
    Some(IdPrefix { first: padded('0')?, last: padded('f')? })
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    fn sqlite(query: Option<Query>) -> String {
        let db = Connection::open_in_memory().unwrap();
        query.map_or(String::new(), |query| query.text(&Db::Sqlite(&db)))
    }

    #[test]
    fn operators_and_quotes_are_plain_text() {
        assert_eq!(
            sqlite(Query::of("a AND \"b*\" OR NEAR(x) -c")),
            r#""a" "and" "b" "or" "near" "x" "c""#
        );
        assert_eq!(sqlite(Query::of("retry budg")), r#""retry" "budg"*"#);
        assert_eq!(sqlite(Query::of("retry b")), r#""retry" "b""#);
        assert_eq!(sqlite(Query::of("retry budg retry")), r#""retry" "budg""#, "each once");
        assert_eq!(Query::of(" \0 … \"'*"), None);
    }

    #[test]
    fn a_piece_of_a_name_ends_words_and_begins_the_last_one() {
        assert_eq!(sqlite(Query::of_name('¶', "ebate numb")), r#""¶ebate" "¶numb"*"#);
        assert_eq!(sqlite(Query::of_name('¶', "ebate?")), r#""¶ebate""#);
        assert_eq!(Query::of_name('¶', "de ba"), None);
    }

    #[test]
    fn only_digits_of_an_id_look_like_one() {
        let range = ids("93D8-1b").unwrap();
        assert_eq!(range.first.to_string(), "93d81b00-0000-0000-0000-000000000000");
        assert_eq!(range.last.to_string(), "93d81bff-ffff-ffff-ffff-ffffffffffff");
        let whole = "93d81b1a-0e66-4510-abfd-aa33b26cb82e";
        assert_eq!(ids(whole).map(|range| range.first), ids(whole).map(|range| range.last));
        for other in ["93d", "93d8x", "", "----", &"a".repeat(33), "+1234"] {
            assert_eq!(ids(other), None, "{other}");
        }
    }
}
