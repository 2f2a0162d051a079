//! Finds debates and documents by any piece of their names, for lists.

use super::query::{Query, ids};
use super::words::{SUMMARY, TITLE, folded};
use crate::Failure;
use crate::store::db::{Db, Value, values};

/// The most characters of a letter with its diacritics.
const MARKS: usize = 4;

/// The names that a list is searched by.
#[derive(Debug, Clone, Copy)]
pub(in crate::store) enum Names {
    /// The titles of debates.
    Titles,
    /// The newest summaries of documents.
    Summaries,
}

/// The keys of debates or documents whose names match.
#[derive(Debug, Default)]
pub(in crate::store) struct NameMatches {
    keys: Vec<i64>,
    /// How many names were compared.
    pub(in crate::store) compared: u64,
}

impl Names {
    /// The newest names with the pieces of a text, at most `most`, that contain the text. `None` if the
    /// text is too short for the index.
    pub(in crate::store) fn containing(
        self,
        db: &Db<'_>,
        text: &str,
        most: u64,
    ) -> Result<Option<NameMatches>, Failure> {
        let (mark, table, column, owner, live) = match self {
            Names::Titles => (TITLE, "debates", "title", "debate_key", "and deleted_at is null"),
            Names::Summaries => (SUMMARY, "documents", "summary", "document_key", ""),
        };
        let Some(query) = Query::of_name(mark, text) else { return Ok(None) };
        let (source, condition, key) = match db {
            Db::Sqlite(_) => (
                "search_words cross join search_rows on search_rows.key = search_words.rowid cross",
                "search_words match ?1",
                "search_words.rowid",
            ),
            Db::Postgres(_) => (
                "search_rows",
                "search_rows.words @@ cast(cast(?1 as text) as tsquery)",
                "search_rows.key",
            ),
        };
        let sql = format!(
            "select {table}.key, {table}.{column} from {source}
             join {table} on {table}.key = search_rows.{owner}
             where {condition} {live} order by {key} desc limit ?2"
        );
        let names = db.all(&sql, values![query.text(db), most], |row| {
            Ok((row.get::<i64>(0)?, row.get::<String>(1)?))
        })?;
        Ok(Some(NameMatches::of(names, text)))
    }

    /// Adds those whose id begins with a text.
    pub(in crate::store) fn with_ids(
        self,
        db: &Db<'_>,
        text: &str,
        most: u64,
        matches: &mut NameMatches,
    ) -> Result<(), Failure> {
        let Some(range) = ids(text) else { return Ok(()) };
        let table = match self {
            Names::Titles => "debates",
            Names::Summaries => "documents",
        };
        let sql = format!("select key from {table} where id >= ?1 and id <= ?2 limit ?3");
        let keys = db.all(&sql, values![range.first, range.last, most], |row| row.get(0))?;
        keys.into_iter().for_each(|key| matches.add(key));
        Ok(())
    }
}

impl NameMatches {
    /// Those of the names that contain a text.
    pub(in crate::store) fn of(names: Vec<(i64, String)>, text: &str) -> Self {
        let (compared, text) = (names.len() as u64, folded(text));
        let matching = names.into_iter().filter(|(_, name)| folded(name).contains(&text));
        NameMatches { keys: matching.map(|(key, _)| key).collect(), compared }
    }

    /// Adds a key that was found in another way.
    pub(in crate::store) fn add(&mut self, key: i64) {
        if !self.keys.contains(&key) {
            self.keys.push(key);
        }
    }

    /// A query for the keys (`found`), with its parameter.
    pub(in crate::store) fn query(&self, db: &Db<'_>) -> (&'static str, Value<'static>) {
        let keys: Vec<String> = self.keys.iter().map(i64::to_string).collect();
        let keys = keys.join(",");
        match db {
            Db::Sqlite(_) => {
                ("select value as found from json_each(?)", format!("[{keys}]").into())
            }
            Db::Postgres(_) => (
                "select cast(key as bigint) as found from unnest(string_to_array(?, ',')) as key",
                keys.into(),
            ),
        }
    }
}

/// A join in the written order: SQLite's planner sometimes chooses a worse one; PostgreSQL's has
/// statistics and needs no hint.
pub(in crate::store) fn join_in_order(db: &Db<'_>) -> &'static str {
    match db {
        Db::Sqlite(_) => "cross join",
        Db::Postgres(_) => "join",
    }
}

/// Whether a text is too long to be contained in `most` characters. Diacritics do not count: a search
/// ignores them, and some systems write a letter and its mark as two characters.
pub(in crate::store) fn is_beyond(text: &str, most: usize) -> bool {
    let letters = || text.chars().filter(|letter| !('\u{300}'..='\u{36f}').contains(letter));
    text.chars().nth(most * MARKS).is_some() || letters().nth(most).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_name_contains_a_text_whatever_its_case_and_diacritics() {
        let names = ["Đã trả lời", "Kế hoạch B", "100% (sure)", "naïve Café"];
        let found = |text: &str| {
            let names = (1..).zip(names.map(str::to_owned)).collect();
            NameMatches::of(names, text).keys
        };
        assert_eq!(found("DA TRA"), [1]);
        assert_eq!(found("ế hoạch"), [2]);
        assert_eq!(found("0% ("), [3]);
        assert_eq!(found("ve cafe\u{301}"), [4]);
        assert_eq!(found("tra da"), [0; 0]);
    }
}
