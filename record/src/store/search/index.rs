//! Keeps the search index.
//!
//! A submit does not write into the index: it would take longer than the rest of the write. `indexed`
//! in a debate is the newest argument that the index has, in a document the newest version. A partial
//! index finds those that lag behind, so nothing is ever forgotten. The index is brought up to date in
//! pieces: each is read and split into words beside the writers, and then written in one transaction.

use super::query::Query;
use super::words::{self, SUMMARY, TITLE, WordSet};
use crate::Failure;
use crate::store::db::{Db, values};

/// How many debates, documents and arguments make a piece, and how many bytes of text.
const DEBATES: u64 = 32;
const DOCUMENTS: u64 = 8;
const ARGUMENTS: u64 = 64;
const BYTES: usize = 1024 * 1024;

/// The texts that the next write adds to the index.
#[derive(Debug, Default)]
pub(in crate::store) struct IndexPiece {
    debates: Vec<DebateTexts>,
    documents: Vec<DocumentText>,
}

/// The texts of a debate that are not in the index yet.
#[derive(Debug)]
struct DebateTexts {
    key: i64,
    /// The newest argument in the index; 0 before the title.
    indexed: u64,
    /// The words of the title, if it is not in the index yet, and of the arguments that follow.
    rows: Vec<(u64, String)>,
}

/// The newest version of a document.
#[derive(Debug)]
struct DocumentText {
    key: i64,
    indexed: u64,
    version: u64,
    words: String,
}

impl IndexPiece {
    /// Whether the index lacks anything.
    pub(in crate::store) fn is_needed(db: &Db<'_>) -> Result<bool, Failure> {
        let sql = "select
             exists (select 1 from debates where indexed < last_seq and deleted_at is null)
             or exists (select 1 from documents where indexed < version and exists (
                 select 1 from document_versions where document_key = documents.key))";
        db.one(sql, values![], |row| row.get(0))
    }

    /// Whether it adds nothing.
    pub(in crate::store) fn is_empty(&self) -> bool {
        self.debates.is_empty() && self.documents.is_empty()
    }

    /// Reads what the index lacks longest, as much as makes a piece.
    pub(in crate::store) fn read(db: &Db<'_>) -> Result<Self, Failure> {
        let mut piece = IndexPiece::default();
        let (mut rows, mut bytes) = (ARGUMENTS, BYTES);
        let sql = "select key, indexed, title from debates
             where indexed < last_seq and deleted_at is null order by updated_at limit ?1";
        let lagging = db.all(sql, values![DEBATES], |row| {
            Ok((row.get::<i64>(0)?, row.get::<u64>(1)?, row.get::<String>(2)?))
        })?;
        for (key, indexed, title) in lagging {
            if rows == 0 || bytes == 0 {
                break;
            }
            let mut texts = DebateTexts { key, indexed, rows: Vec::new() };
            if indexed == 0 {
                texts.rows.push((0, title_words(key, &title).joined()));
            }
            let sql = "select seq, content, author, seat from arguments
                 where debate_key = ?1 and seq > ?2 order by seq limit ?3";
            for (seq, words, size) in db.all(sql, values![key, indexed, rows], |row| {
                // A damaged text must not keep the others out of the index.
                let (seq, content) = (row.get::<u64>(0)?, row.text(1).unwrap_or_default());
                let (author, seat) = (row.get::<Option<String>>(2)?, row.get::<Option<String>>(3)?);
                let words = argument_words(key, content, author.as_deref(), seat.as_deref());
                Ok((seq, words.joined(), content.len()))
            })? {
                rows = rows.saturating_sub(1);
                bytes = bytes.saturating_sub(size);
                texts.rows.push((seq, words));
            }
            piece.debates.push(texts);
        }
        let sql = "select documents.key, indexed, documents.version, documents.summary,
                 newest.author, newest.content
             from documents
             join document_versions as newest on newest.document_key = documents.key
                 and newest.version = documents.version
             where indexed < documents.version
             order by updated_at limit ?1";
        piece.documents = db.all(sql, values![DOCUMENTS], |row| {
            let (summary, author) = (row.get::<String>(3)?, row.get::<Option<String>>(4)?);
            let content = row.text(5).unwrap_or_default();
            let words = document_words(&summary, author.as_deref(), content);
            Ok(DocumentText {
                key: row.get(0)?,
                indexed: row.get(1)?,
                version: row.get(2)?,
                words: words.joined(),
            })
        })?;
        Ok(piece)
    }

    /// Writes the piece. Leaves out what another server has written meanwhile, or holds a lock on.
    pub(in crate::store) fn write(&self, db: &Db<'_>) -> Result<(), Failure> {
        let is_free = |table: &str, key: i64, indexed: u64| {
            let sql = match db {
                Db::Sqlite(_) => format!("select 1 from {table} where key = ?1 and indexed = ?2"),
                // Waiting for a lock here, a batch and this write could wait for each other.
                Db::Postgres(_) => format!(
                    "with free as (
                         select key from {table} where key = ?1 and indexed = ?2
                         for no key update skip locked
                     ) select 1 from free"
                ),
            };
            db.exists(&sql, values![key, indexed])
        };
        for texts in &self.debates {
            let Some((last, _)) = texts.rows.last() else { continue };
            if !is_free("debates", texts.key, texts.indexed)? {
                continue;
            }
            for (seq, words) in &texts.rows {
                let place = [Some(texts.key), i64::try_from(*seq).ok(), None, None];
                insert(db, place, words)?;
            }
            let sql = "update debates set indexed = ?2 where key = ?1";
            db.run(sql, values![texts.key, *last])?;
        }
        for text in &self.documents {
            if !is_free("documents", text.key, text.indexed)? {
                continue;
            }
            remove_document(db, text.key)?;
            let place = [None, None, Some(text.key), i64::try_from(text.version).ok()];
            insert(db, place, &text.words)?;
            let sql = "update documents set indexed = ?2 where key = ?1";
            db.run(sql, values![text.key, text.version])?;
        }
        Ok(())
    }
}

fn title_words(key: i64, title: &str) -> WordSet {
    let mut set = WordSet::default();
    set.add_mark(words::debate(key));
    set.add_name(TITLE, title);
    set.add(title);
    set
}

fn argument_words(key: i64, content: &str, author: Option<&str>, seat: Option<&str>) -> WordSet {
    let mut set = WordSet::default();
    set.add_mark(words::debate(key));
    author.into_iter().chain(seat).for_each(|name| set.add(name));
    set.add(content);
    set
}

fn document_words(summary: &str, author: Option<&str>, content: &str) -> WordSet {
    let mut set = WordSet::default();
    set.add_mark(words::DOCUMENT.to_owned());
    set.add_name(SUMMARY, summary);
    set.add(summary);
    author.into_iter().for_each(|name| set.add(name));
    set.add(content);
    set
}

/// Adds a row: the debate and the argument, or the document and the version.
fn insert(db: &Db<'_>, place: [Option<i64>; 4], words: &str) -> Result<(), Failure> {
    let [debate, seq, document, version] = place;
    match db {
        Db::Sqlite(_) => {
            let sql = "insert into search_rows (debate_key, seq, document_key, version)
                 values (?1, ?2, ?3, ?4) returning key";
            let key: i64 =
                db.one(sql, values![debate, seq, document, version], |row| row.get(0))?;
            let sql = "insert into search_words (rowid, words) values (?1, ?2)";
            db.run(sql, values![key, words])
        }
        Db::Postgres(_) => {
            let sql = "insert into search_rows (debate_key, seq, document_key, version, words)
                 values (?1, ?2, ?3, ?4, array_to_tsvector(string_to_array(?5, ' ')))";
            db.run(sql, values![debate, seq, document, version, words])
        }
    }
}

/// Removes the title and the arguments of a debate.
pub(in crate::store) fn remove_debate(db: &Db<'_>, key: i64) -> Result<(), Failure> {
    remove(db, "debate_key", key)
}

/// Removes a document.
pub(in crate::store) fn remove_document(db: &Db<'_>, key: i64) -> Result<(), Failure> {
    remove(db, "document_key", key)
}

fn remove(db: &Db<'_>, owner: &str, key: i64) -> Result<(), Failure> {
    if let Db::Sqlite(_) = db {
        let sql = format!(
            "delete from search_words where rowid in (
                 select key from search_rows where {owner} = ?1)"
        );
        db.run(&sql, values![key])?;
    }
    db.run(&format!("delete from search_rows where {owner} = ?1"), values![key])
}

/// Whether the index has as much of a debate as it says, and finds the debate by its title.
pub(in crate::store) fn has_debate(db: &Db<'_>, key: i64, title: &str) -> Result<bool, Failure> {
    let sql = "select indexed, last_seq, (
             select count(seq) from search_rows
             where debate_key = ?1 and document_key is null and version is null
         ),
         (select coalesce(min(seq), 0) from search_rows where debate_key = ?1),
         (select coalesce(max(seq), 0) from search_rows where debate_key = ?1)
         from debates where key = ?1";
    let [indexed, last, rows, first, newest] = db.one(sql, values![key], |row| {
        Ok([row.get::<u64>(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?])
    })?;
    let (source, condition) = source(db);
    let sql = format!("select count(*) from {source} where debate_key = ?1 and {condition}");
    let mark = Query::word(&words::debate(key)).text(db);
    let found: u64 = db.one(&sql, values![key, mark], |row| row.get(0))?;
    if indexed == 0 {
        return Ok(rows == 0 && newest == 0 && found == 0);
    }
    let is_whole = indexed <= last
        && (first, newest) == (0, indexed)
        && (rows, found) == (indexed + 1, indexed + 1);
    let title = title_words(key, title);
    Ok(is_whole && finds(db, "search_rows.debate_key = ?1 and seq = 0", key, &title)?)
}

/// Whether the index has the version of a document that it says, and finds it by its summary.
pub(in crate::store) fn has_document(
    db: &Db<'_>,
    key: i64,
    summary: &str,
) -> Result<bool, Failure> {
    let sql = "select indexed, documents.version,
             (select count(*) from search_rows
              where document_key = ?1 and debate_key is null and seq is null),
             (select coalesce(max(version), 0) from search_rows where document_key = ?1)
         from documents where key = ?1";
    let [indexed, newest, rows, version] = db.one(sql, values![key], |row| {
        Ok([row.get::<u64>(0)?, row.get(1)?, row.get(2)?, row.get(3)?])
    })?;
    if indexed == 0 || indexed < newest {
        return Ok(version == indexed && rows == u64::from(indexed > 0));
    }
    let is_whole = indexed == newest && version == newest && rows == 1;
    let mut words = WordSet::default();
    words.add_name(SUMMARY, summary);
    Ok(is_whole && finds(db, "document_key = ?1", key, &words)?)
}

/// Whether a row is found by the longest of its words.
fn finds(db: &Db<'_>, place: &str, key: i64, words: &WordSet) -> Result<bool, Failure> {
    let Some(word) = words.longest() else { return Ok(true) };
    let (source, condition) = source(db);
    let sql = format!("select 1 from {source} where {place} and {condition}");
    db.exists(&sql, values![key, Query::word(word).text(db)])
}

/// The rows with their words, and the condition that a row has the words of the second parameter.
fn source(db: &Db<'_>) -> (&'static str, &'static str) {
    match db {
        Db::Sqlite(_) => (
            "search_rows cross join search_words on search_words.rowid = search_rows.key",
            "search_words match ?2",
        ),
        Db::Postgres(_) => ("search_rows", "words @@ cast(cast(?2 as text) as tsquery)"),
    }
}
