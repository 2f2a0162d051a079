//! Removes the texts of a debate for good, and of documents that only it cites. A tombstone stays.
//!
//! The tombstone has the number of arguments or versions and the newest hash. So an export can still be
//! checked against the record, and verification tells a purged debate from a damaged one. Removing rows
//! leaves their bytes in a SQLite file: in the search index, in free space and in the log. [`scrub`]
//! writes the file anew.

use std::path::Path;

use aw_core::{DebateId, DocumentId, Hash, State, Time};
use rusqlite::{Connection, OpenFlags};
use uuid::Uuid;

use super::checksums::Checksum;
use super::db::{Db, values};
use super::debate_writes::deleted;
use super::writer::LockKey;
use super::{Store, about, connection, debates, documents, find, search};
use crate::{Damage, Failure, PurgePreview, Tombstone, chain};

/// The tables with the words of a debate.
const OF_DEBATE: [&str; 8] = [
    "point_quotes",
    "point_turns",
    "points",
    "point_documents",
    "citations",
    "debate_documents",
    "type_texts",
    "arguments",
];

/// The tables with the words of a document.
const OF_DOCUMENT: [&str; 2] = ["repeated_versions", "document_versions"];

impl Store {
    /// Says what a purge would remove.
    pub(crate) async fn preview_purge(&self, debate: DebateId) -> Result<PurgePreview, Failure> {
        self.read_long(move |db| about(debate, preview(db, debate))).await
    }

    /// Removes the texts of a debate for good.
    pub(crate) async fn purge_debate(
        &self,
        debate: DebateId,
        with_documents: bool,
        at: Time,
    ) -> Result<Tombstone, Failure> {
        self.write(LockKey::Debate(debate), deleted, move |db| {
            about(debate, purge(db, debate, with_documents, at))
        })
        .await
    }
}

/// A thing that can be purged.
#[derive(Debug, Clone, Copy)]
pub(super) enum Purgeable {
    Debate(i64),
    Document(i64),
}

impl Purgeable {
    fn place(self) -> (&'static str, i64) {
        match self {
            Purgeable::Debate(key) => ("debate", key),
            Purgeable::Document(key) => ("document", key),
        }
    }

    fn checksum(self) -> Checksum {
        match self {
            Purgeable::Debate(key) => Checksum::DebatePurged(key),
            Purgeable::Document(key) => Checksum::DocumentPurged(key),
        }
    }

    /// Its tombstone, if it was purged.
    pub(super) fn tombstone(self, db: &Db<'_>) -> Result<Option<Tombstone>, Failure> {
        let (thing, key) = self.place();
        let sql = "select purged_at, pieces, hash from tombstones where thing = ?1 and key = ?2";
        let stone = db.optional(sql, values![thing, key], |row| {
            let (purged_at, pieces, hash) = (Time(row.get(0)?), row.get(1)?, Hash(row.get(2)?));
            Ok(Tombstone { purged_at, pieces, hash, checksum: Hash::NONE })
        })?;
        let Some(stone) = stone else { return Ok(None) };
        Ok(Some(Tombstone { checksum: self.checksum().before(db)?, ..stone }))
    }

    /// Writes its tombstone. After that the schema lets its words go. `opening` is the checksum of a
    /// debate, or of a document's newest version.
    fn bury(
        self,
        db: &Db<'_>,
        (at, pieces, hash): (Time, u64, Hash),
        opening: Hash,
    ) -> Result<Tombstone, Failure> {
        let (thing, key) = self.place();
        let checksum = chain::tombstone(opening, at, pieces, hash);
        let sql = "insert into tombstones (thing, key, purged_at, pieces, hash)
             values (?1, ?2, ?3, ?4, ?5)";
        db.run(sql, values![thing, key, at.0, pieces, hash.0])?;
        self.checksum().keep(db, checksum)?;
        Ok(Tombstone { purged_at: at, pieces, hash, checksum })
    }

    /// Verifies what is left of it: the tombstone, and no words.
    pub(super) fn verify(
        self,
        db: &Db<'_>,
        stone: &Tombstone,
        opening: Hash,
    ) -> Result<(), Failure> {
        let Tombstone { purged_at, pieces, hash, checksum } = *stone;
        if checksum != chain::tombstone(opening, purged_at, pieces, hash) {
            return Err(Damage::new("its tombstone does not match its checksum").into());
        }
        let (owner, tables, named, key) = match self {
            Purgeable::Debate(key) => (
                "debate_key",
                &OF_DEBATE[..],
                "debates where key = ?1 and (title <> '' or slug is not null
                     or project is not null or deleted_at is null or last_seq <> ?2)",
                key,
            ),
            Purgeable::Document(key) => (
                "document_key",
                &OF_DOCUMENT[..],
                "documents where key = ?1 and (summary <> '(purged)' or title is not null
                     or name is not null or deleted_at is null or version <> ?2)",
                key,
            ),
        };
        let bad = Err(Damage::new("it was purged, but words of it are there").into());
        if db.exists(&format!("select 1 from {named}"), values![key, pieces])? {
            return bad;
        }
        for table in tables.iter().chain(&["search_rows"]) {
            if db.exists(&format!("select 1 from {table} where {owner} = ?1"), values![key])? {
                return bad;
            }
        }
        Ok(())
    }
}

/// Says what a purge would remove.
pub(super) fn preview(db: &Db<'_>, debate: DebateId) -> Result<PurgePreview, Failure> {
    let known = found(db, debate)?;
    let sql = "select cast(coalesce(sum(octet_length(content)), 0) as bigint) from arguments
         where debate_key = ?1";
    let bytes = db.one(sql, values![known.key], |row| row.get(0))?;
    let sql = "select count(*) from debate_documents where debate_key = ?1";
    let documents = db.one(sql, values![known.key], |row| row.get(0))?;
    let only_here = only_here(db, known.key)?.into_iter().map(|(_, id)| id).collect();
    let tombstone = Purgeable::Debate(known.key).tombstone(db)?;
    Ok(PurgePreview {
        title: known.head.title.clone(),
        state: known.head.state(),
        deleted_at: known.deleted_at,
        arguments: known.head.debate.standing.last.0,
        bytes,
        documents,
        only_here,
        tombstone,
    })
}

/// Removes the texts of a closed or deleted debate, and with `documents` those of the documents that no
/// other debate cites. Done again it answers the same.
pub(super) fn purge(
    db: &Db<'_>,
    debate: DebateId,
    with_documents: bool,
    at: Time,
) -> Result<Tombstone, Failure> {
    let known = found(db, debate)?;
    let (key, last) = (known.key, known.head.debate.standing.last);
    if let Some(stone) = Purgeable::Debate(key).tombstone(db)? {
        return Ok(stone);
    }
    if known.deleted_at.is_none() && known.head.state() != State::Closed {
        return Err(Failure::StillOpen { id: debate, state: known.head.state() });
    }
    let hash = find::hash_at(db, key, last)?;
    let opening = Checksum::Opening(key).before(db)?;
    if with_documents {
        for (document, id) in only_here(db, key)? {
            purge_document(db, document, id, at)?;
        }
    }
    if known.deleted_at.is_none() {
        debates::delete(db, debate, at)?;
    }
    let stone = Purgeable::Debate(key).bury(db, (at, last.0, hash), opening)?;
    search::remove_debate(db, key)?;
    for table in OF_DEBATE.iter().chain(&["seen"]) {
        db.run(&format!("delete from {table} where debate_key = ?1"), values![key])?;
    }
    // As if the index had everything, so that a piece which was read before is not added to it.
    let sql = "update debates set title = '', slug = null, project = null, project_name = null,
             branch = null, commit_id = null, indexed = last_seq
         where key = ?1";
    db.run(sql, values![key])?;
    Ok(stone)
}

fn purge_document(db: &Db<'_>, key: i64, id: DocumentId, at: Time) -> Result<(), Failure> {
    let sql = "select version, deleted_at is null from documents where key = ?1";
    let (newest, is_live): (u64, bool) =
        db.one(sql, values![key], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let hash = Checksum::Version(key, newest).before(db)?;
    if is_live {
        documents::delete(db, id, at)?;
    }
    Purgeable::Document(key).bury(db, (at, newest, hash), hash)?;
    search::remove_document(db, key)?;
    for table in OF_DOCUMENT {
        db.run(&format!("delete from {table} where document_key = ?1"), values![key])?;
    }
    let sql = "update documents set summary = '(purged)', title = null, name = null,
             indexed = version
         where key = ?1";
    db.run(sql, values![key])
}

/// The debate, deleted or not.
fn found(db: &Db<'_>, debate: DebateId) -> Result<super::rows::DebateRow, Failure> {
    find::find(db, debate)?.ok_or(Failure::DebateNotFound { id: debate, deleted_at: None })
}

/// The documents that this debate cites and no other.
fn only_here(db: &Db<'_>, key: i64) -> Result<Vec<(i64, DocumentId)>, Failure> {
    let sql = "select documents.key, documents.id from debate_documents as own
         join documents on documents.key = own.document_key
         where own.debate_key = ?1 and not exists (
             select 1 from debate_documents as other
             where other.document_key = own.document_key and other.debate_key <> ?1)
         order by documents.key";
    db.all(sql, values![key], |row| Ok((row.get(0)?, row.get::<Uuid>(1)?.into())))
}

/// Writes a SQLite file anew, without the bytes of removed rows, and empties its log. No other connection
/// may write meanwhile.
///
/// `secure_delete` would not do: it does not reach the copies that SQLite leaves in the free space of a
/// page when it moves rows between pages.
pub(super) fn scrub(path: &Path) -> rusqlite::Result<()> {
    let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection::prepare(&db)?;
    // The index keeps the words of removed rows until its parts are merged.
    db.execute("insert into search_words (search_words) values ('optimize')", [])?;
    db.execute_batch("vacuum")?;
    let is_busy: bool = db.query_row("pragma wal_checkpoint(truncate)", [], |row| row.get(0))?;
    match is_busy {
        true => Err(rusqlite::Error::SqliteFailure(
            rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY),
            Some("a reader holds the log of the database".to_owned()),
        )),
        false => Ok(()),
    }
}
