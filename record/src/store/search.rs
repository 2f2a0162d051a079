//! The search texts: titles of debates, and summaries of the newest versions of documents.
//!
//! SQLite has a trigram index that ignores case and diacritics. For PostgreSQL the texts are stored as
//! that index folds them, with a trigram index on top, so that both databases find the same. A search
//! that is too short for trigrams scans the newest titles in lower case.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use rusqlite::Connection;

use super::db::{Db, Value, values};
use crate::Failure;

/// The shortest text that a trigram index can find.
const TRIGRAM: usize = 3;

/// The most characters of a letter with its diacritics.
const MARKS: usize = 4;

/// The texts that a search looks in.
#[derive(Debug, Clone, Copy)]
pub(super) enum SearchIndex {
    /// The titles of debates.
    Titles,
    /// The summaries of documents.
    Summaries,
}

impl SearchIndex {
    fn table(self) -> (&'static str, &'static str) {
        match self {
            SearchIndex::Titles => ("debate_titles", "title"),
            SearchIndex::Summaries => ("document_summaries", "summary"),
        }
    }

    /// Adds a text.
    pub(super) fn keep(self, db: &Db<'_>, key: i64, text: &str) -> Result<(), Failure> {
        let (table, column) = self.table();
        match db {
            Db::Sqlite(_) => {
                let sql = format!("insert into {table} (rowid, {column}) values (?1, ?2)");
                db.run(&sql, values![key, text])
            }
            Db::Postgres(_) => {
                let sql = format!(
                    "insert into {table} (rowid, {column}, lowered, folded)
                     values (?1, ?2, ?3, ?4)"
                );
                db.run(&sql, values![key, text, text.to_lowercase(), folded(text)])
            }
        }
    }

    /// Replaces a text.
    pub(super) fn change(self, db: &Db<'_>, key: i64, text: &str) -> Result<(), Failure> {
        let (table, column) = self.table();
        match db {
            Db::Sqlite(_) => {
                let sql = format!("update {table} set {column} = ?2 where rowid = ?1");
                db.run(&sql, values![key, text])
            }
            Db::Postgres(_) => {
                let sql = format!(
                    "update {table} set {column} = ?2, lowered = ?3, folded = ?4 where rowid = ?1"
                );
                db.run(&sql, values![key, text, text.to_lowercase(), folded(text)])
            }
        }
    }

    /// The stored text, if its folded forms match it.
    pub(super) fn kept(self, db: &Db<'_>, key: i64) -> Result<Option<String>, Failure> {
        let (table, column) = self.table();
        match db {
            Db::Sqlite(_) => {
                let sql = format!("select {column} from {table} where rowid = ?1");
                db.optional(&sql, values![key], |row| row.get(0))
            }
            Db::Postgres(_) => {
                let sql = format!("select {column}, lowered, folded from {table} where rowid = ?1");
                let kept: Option<[String; 3]> = db.optional(&sql, values![key], |row| {
                    Ok([row.get(0)?, row.get(1)?, row.get(2)?])
                })?;
                Ok(kept.and_then(|[text, lowered, folds]| {
                    let same = lowered == text.to_lowercase() && folds == folded(&text);
                    same.then_some(text)
                }))
            }
        }
    }

    /// A query for the newest keys (`found`) that the index finds, with its parameter.
    pub(super) fn found(self, db: &Db<'_>, text: &str, most: u64) -> (String, Value<'static>) {
        let (table, _) = self.table();
        match db {
            Db::Sqlite(_) => (
                format!(
                    "select rowid as found from {table} where {table} match ?
                     order by rowid desc limit {most}"
                ),
                phrase(text).into(),
            ),
            Db::Postgres(_) => (
                format!(
                    "select rowid as found from {table} where folded like ?
                     order by rowid desc limit {most}"
                ),
                pattern(text).into(),
            ),
        }
    }

    /// A condition that the search text of this key contains a text, with its parameter.
    pub(super) fn contains<'a>(self, db: &Db<'_>, key: &str, text: &'a str) -> (String, Value<'a>) {
        let (table, column) = self.table();
        match db {
            Db::Sqlite(_) => (format!("instr(folded({column}), folded(?)) > 0"), text.into()),
            Db::Postgres(_) => (
                format!(
                    "exists (select 1 from {table} as words
                             where words.rowid = {key} and strpos(words.lowered, ?) > 0)"
                ),
                // No stored text has U+0000, and PostgreSQL refuses it as a parameter.
                text.to_lowercase().replace('\0', "\u{1}").into(),
            ),
        }
    }
}

/// A join in the written order: SQLite's planner sometimes chooses a worse one; PostgreSQL's has
/// statistics and needs no hint.
pub(super) fn join_in_order(db: &Db<'_>) -> &'static str {
    match db {
        Db::Sqlite(_) => "cross join",
        Db::Postgres(_) => "join",
    }
}

/// Whether a text is too long to be contained in `most` characters. Diacritics do not count: the index
/// ignores them, and some systems write a letter and its mark as two characters.
pub(super) fn is_beyond(text: &str, most: usize) -> bool {
    let letters = || text.chars().filter(|letter| !('\u{300}'..='\u{36f}').contains(letter));
    text.chars().nth(most * MARKS).is_some() || letters().nth(most).is_some()
}

/// Whether a text is too short for the index.
pub(super) fn is_short(text: &str) -> bool {
    text.chars().count() < TRIGRAM
}

/// The text as a quoted phrase of FTS5, without operators.
fn phrase(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// The text as a `like` pattern without wildcards of its own.
fn pattern(text: &str) -> String {
    let folded = folded(text);
    if is_short(&folded) {
        // Folding left too little: SQLite's index finds nothing, so this pattern must not either.
        return "\u{1}".to_owned();
    }
    let escaped = folded.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    format!("%{}%", escaped.replace('\0', "\u{1}"))
}

/// The text as SQLite's trigram index folds it.
fn folded(text: &str) -> String {
    text.chars().filter_map(folded_char).collect()
}

fn folded_char(letter: char) -> Option<char> {
    if letter.is_ascii() {
        return Some(letter.to_ascii_lowercase());
    }
    static KNOWN: LazyLock<Mutex<Folding>> = LazyLock::new(Mutex::default);
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).fold(letter)
}

/// A cache of folded letters, and an index that folds new ones. Only SQLite's source defines how it
/// folds letters, so SQLite itself is asked.
#[derive(Default)]
struct Folding {
    known: HashMap<char, Option<char>>,
    index: Option<Connection>,
}

impl Folding {
    fn fold(&mut self, letter: char) -> Option<char> {
        if let Some(known) = self.known.get(&letter) {
            return *known;
        }
        // If SQLite fails, the letter stays unchanged.
        let folded = self.ask(letter).unwrap_or(Some(letter));
        self.known.insert(letter, folded);
        folded
    }

    fn ask(&mut self, letter: char) -> rusqlite::Result<Option<char>> {
        let index = match self.index.take() {
            Some(index) => index,
            None => {
                let index = Connection::open_in_memory()?;
                index.execute_batch(
                    "create virtual table letters using fts5
                         (letter, tokenize = 'trigram remove_diacritics 1');
                     create virtual table trigrams using fts5vocab (letters, row);",
                )?;
                index
            }
        };
        index.execute("delete from letters", [])?;
        index.execute("insert into letters values (?1)", [letter.to_string().repeat(TRIGRAM)])?;
        let mut trigrams = index.prepare_cached("select term from trigrams")?;
        let mut found = trigrams.query([])?;
        let folded = match found.next()? {
            Some(row) => row.get::<_, String>(0)?.chars().next(),
            None => None,
        };
        drop(found);
        drop(trigrams);
        self.index = Some(index);
        Ok(folded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_folded_as_the_index_folds_them() {
        assert_eq!(folded("Đã trả LỜI"), "đa tra loi");
        assert_eq!(folded("e\u{301}A"), "ea", "a separate mark is dropped");
        assert_eq!(pattern("50%_\\"), "%50\\%\\_\\\\%");
        assert_eq!(pattern("a\u{301}\u{301}"), "\u{1}");
    }

    #[test]
    fn the_length_of_a_search_counts_letters_without_marks() {
        assert!(!is_beyond(&"a".repeat(200), 200));
        assert!(is_beyond(&"a".repeat(201), 200));
        assert!(
            !is_beyond(&"e\u{302}\u{301}".repeat(200), 200),
            "200 letters as a Mac writes them"
        );
        assert!(is_beyond(&"\u{301}".repeat(801), 200), "nothing but marks");
    }

    /// Compares the index with a search in the folded texts.
    #[test]
    fn the_index_finds_exactly_the_texts_that_contain_the_folded_search() {
        let index = Connection::open_in_memory().unwrap();
        index
            .execute_batch(
                "create virtual table t using fts5 (x, tokenize = 'trigram remove_diacritics 1')",
            )
            .unwrap();
        let texts = [
            "Đã trả lời",
            "Kế hoạch B",
            "STRASSE ß",
            "ΣΊΣΥΦΟΣ",
            "naïve Café",
            "İstanbul",
            "日本語の本",
        ];
        for text in texts {
            index.execute("insert into t values (?1)", [text]).unwrap();
        }
        for search in [
            "đa t",
            "DA TRA",
            "ke hoach",
            "kế hoạch",
            "ß",
            "σισυφος",
            "cafe",
            "istanbul",
            "本語の",
            "tra lơi",
        ] {
            let mut found =
                index.prepare("select x from t where t match ?1 order by rowid").unwrap();
            let found: Vec<String> = found
                .query_map([phrase(search)], |row| row.get(0))
                .unwrap()
                .map(Result::unwrap)
                .collect();
            let ours = texts.iter().filter(|text| {
                !is_short(&folded(search)) && folded(text).contains(&folded(search))
            });
            assert_eq!(found, ours.copied().collect::<Vec<_>>(), "{search}");
        }
    }
}
