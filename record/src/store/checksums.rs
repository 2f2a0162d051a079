//! Checksums: the hashes over everything that the chain of arguments does not cover.
//!
//! The same functions compute them from the stored rows, both when they are written and when they are
//! verified. The table and its rows are called `seals`.

use std::ops::ControlFlow;

use aw_core::{DocumentId, Hash, Seq, Time};
use uuid::Uuid;

use super::db::{Db, Row, values};
use crate::chain::{self, ChainedVersion, Opening};
use crate::{Failure, Fault};

/// One checksum, by its row.
#[derive(Debug, Clone, Copy)]
pub(super) enum Checksum {
    /// Over a debate's title, type, policy and rules.
    Opening(i64),
    /// Over the last update of an imported debate, which may be later than its newest argument.
    Imported(i64),
    /// Over the time of a debate's deletion.
    DebateDeleted(i64),
    /// Over the tombstone of a debate.
    DebatePurged(i64),
    /// Over a debate's slug and the repository in which it was opened.
    Names(i64),
    /// Over the documents that an argument cites.
    Citations(i64, Seq),
    /// Over a version of a document.
    Version(i64, u64),
    /// Over the time of a document's deletion.
    DocumentDeleted(i64),
    /// Over the tombstone of a document.
    DocumentPurged(i64),
}

impl Checksum {
    fn place(self) -> (&'static str, i64, u64) {
        match self {
            Checksum::Opening(debate) => ("debate", debate, 1),
            Checksum::Imported(debate) => ("debate", debate, 2),
            Checksum::DebateDeleted(debate) => ("debate", debate, 0),
            Checksum::DebatePurged(debate) => ("debate", debate, 3),
            Checksum::Names(debate) => ("debate", debate, 4),
            Checksum::Citations(debate, seq) => ("citations", debate, seq.0),
            Checksum::Version(document, number) => ("document", document, number),
            Checksum::DocumentDeleted(document) => ("document", document, 0),
            // No document has so many versions.
            Checksum::DocumentPurged(document) => ("document", document, i64::MAX.cast_unsigned()),
        }
    }

    /// The stored checksum.
    pub(super) fn kept(self, db: &Db<'_>) -> Result<Option<Hash>, Failure> {
        let sql = "select hash from seals where thing = ?1 and key = ?2 and number = ?3";
        let (thing, key, number) = self.place();
        db.optional(sql, values![thing, key, number], |row| row.get(0).map(Hash))
    }

    /// The stored checksum, as the predecessor of the next one. A missing one does not prevent the
    /// write; verification reports it.
    pub(super) fn before(self, db: &Db<'_>) -> Result<Hash, Failure> {
        Ok(self.kept(db)?.unwrap_or(Hash::NONE))
    }

    pub(super) fn keep(self, db: &Db<'_>, hash: Hash) -> Result<(), Failure> {
        let (thing, key, number) = self.place();
        let sql = "insert into seals (thing, key, number, hash) values (?1, ?2, ?3, ?4)";
        db.run(sql, values![thing, key, number, hash.0])
    }
}

/// Writes the checksum of a new or imported debate, after its arguments.
pub(super) fn keep_debate(db: &Db<'_>, key: i64) -> Result<(), Failure> {
    let opening = opening(db, key)?.checksum();
    Checksum::Opening(key).keep(db, opening)?;
    let sql = "select updated_at from debates where key = ?1 and updated_at > (
             select created_at from arguments where debate_key = ?1 order by seq desc limit 1)";
    let imported: Option<i64> = db.optional(sql, values![key], |row| row.get(0))?;
    match imported {
        Some(at) => Checksum::Imported(key).keep(db, imported_at(opening, Time(at))),
        None => Ok(()),
    }
}

/// Writes the checksum of a debate's deletion.
pub(super) fn keep_debate_deleted(db: &Db<'_>, key: i64, at: Time) -> Result<(), Failure> {
    let opening = Checksum::Opening(key).before(db)?;
    Checksum::DebateDeleted(key).keep(db, deleted_at(opening, at))
}

/// Writes the checksum of a debate's names, after that of its opening.
pub(super) fn keep_names(db: &Db<'_>, key: i64) -> Result<(), Failure> {
    let opening = Checksum::Opening(key).before(db)?;
    match names(db, key, opening)? {
        Some(names) => Checksum::Names(key).keep(db, names),
        None => Ok(()),
    }
}

/// The checksum over a debate's slug and origin, if it has any.
pub(super) fn names(db: &Db<'_>, key: i64, opening: Hash) -> Result<Option<Hash>, Failure> {
    let sql = "select slug, project, project_name, branch, commit_id from debates where key = ?1";
    let names: [Option<String>; 5] = db.one(sql, values![key], |row| {
        Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?])
    })?;
    let is_named = names.iter().any(Option::is_some);
    Ok(is_named.then(|| chain::names(opening, &names)))
}

/// Writes the checksum of the citations of an argument with this hash.
pub(super) fn keep_cited(
    db: &Db<'_>,
    key: i64,
    seq: Seq,
    argument: Hash,
    mut cited: Vec<(DocumentId, u64)>,
) -> Result<(), Failure> {
    cited.sort_unstable_by_key(|(document, _)| document.uuid());
    Checksum::Citations(key, seq).keep(db, chain::citations(argument, &cited))
}

/// Writes the checksum of an older argument's citations, if it has any.
fn keep_citations(db: &Db<'_>, key: i64, seq: Seq) -> Result<(), Failure> {
    let cited = cited(db, key, seq)?;
    if cited.is_empty() {
        return Ok(());
    }
    let hash = super::find::hash_at(db, key, seq)?;
    Checksum::Citations(key, seq).keep(db, chain::citations(hash, &cited))
}

/// Writes the checksum of a version.
pub(super) fn keep_version(db: &Db<'_>, key: i64, number: u64) -> Result<(), Failure> {
    let previous = match number {
        1 => Hash::NONE,
        _ => Checksum::Version(key, number - 1).before(db)?,
    };
    let sql = format!("select {VERSION} where document_key = ?1 and v.version = ?2");
    let version = db.one(&sql, values![key, number], version)?;
    Checksum::Version(key, number).keep(db, version.link(previous))
}

/// Writes the checksum of a document's deletion.
pub(super) fn keep_document_deleted(
    db: &Db<'_>,
    key: i64,
    newest: u64,
    at: Time,
) -> Result<(), Failure> {
    let newest = Checksum::Version(key, newest).before(db)?;
    Checksum::DocumentDeleted(key).keep(db, deleted_at(newest, at))
}

/// Reads the fields of a debate that never change.
pub(super) fn opening(db: &Db<'_>, key: i64) -> Result<Opening, Failure> {
    let sql = "select id, debates.title, debate_type, resolution_policy, created_at,
             texts.title, description, proposer, opponent, arbitrator,
             points_form, points_rounds, points_blocking
         from debates left join type_texts as texts on debate_key = key where key = ?1";
    db.one(sql, values![key], |row| {
        let texts = match row.get::<Option<String>>(5)? {
            Some(title) => Some([title, row.get(6)?, row.get(7)?, row.get(8)?, row.get(9)?]),
            None => None,
        };
        let points = match row.get::<Option<u64>>(10)? {
            Some(form) => Some((form, row.get(11)?, row.get(12)?)),
            None => None,
        };
        Ok(Opening {
            points,
            id: row.get::<Uuid>(0)?.into(),
            title: row.get(1)?,
            debate_type: row.get(2)?,
            policy: row.get(3)?,
            created_at: Time(row.get(4)?),
            texts,
        })
    })
}

/// The documents that an argument cites, ordered by id.
fn cited(db: &Db<'_>, key: i64, seq: Seq) -> Result<Vec<(DocumentId, u64)>, Failure> {
    let sql = "select documents.id, citations.version
         from citations join documents on documents.key = document_key
         where debate_key = ?1 and seq = ?2 order by documents.id";
    db.all(sql, values![key, seq.0], |row| Ok((row.get::<Uuid>(0)?.into(), row.get(1)?)))
}

/// The columns that [`version`] reads, and their tables.
pub(super) const VERSION: &str = "documents.id, v.version, v.summary, v.author, v.metadata, \
     v.client_request_id, v.created_at, v.content, seats.id
     from document_versions as v
     join documents on documents.key = document_key
     left join seats on seats.key = documents.seat_key";

pub(super) fn version(row: &Row<'_>) -> Result<ChainedVersion, Failure> {
    Ok(ChainedVersion {
        document: row.get::<Uuid>(0)?.into(),
        number: row.get(1)?,
        summary: row.get(2)?,
        author: row.get(3)?,
        metadata: row.get(4)?,
        request: row.get::<Uuid>(5)?.into(),
        created_at: Time(row.get(6)?),
        content: row.get(7)?,
        seat: row.get::<Option<Uuid>>(8)?.map(|seat| seat.to_string()),
    })
}

/// The checksum of a deletion.
pub(super) fn deleted_at(previous: Hash, at: Time) -> Hash {
    chain::moment("deleted", previous, at)
}

/// The checksum of an imported debate's last update.
pub(super) fn imported_at(previous: Hash, at: Time) -> Hash {
    chain::moment("imported", previous, at)
}

/// Writes the checksums of everything older than checksums. Damaged rows get none: a damaged record
/// must still open, and verification reports the damage.
pub(super) fn keep_all(db: &Db<'_>) -> Result<(), Failure> {
    for (key, deleted) in keys(db, "debates")? {
        tolerate(keep_debate(db, key))?;
        if let Some(at) = deleted {
            tolerate(keep_debate_deleted(db, key, at))?;
        }
    }
    for (key, deleted) in keys(db, "documents")? {
        let sql = "select version from document_versions where document_key = ?1 order by version";
        let numbers: Vec<u64> = db.all(sql, values![key], |row| row.get(0))?;
        for number in &numbers {
            tolerate(keep_version(db, key, *number))?;
        }
        if let Some((at, newest)) = deleted.zip(numbers.last()) {
            tolerate(keep_document_deleted(db, key, *newest, at))?;
        }
    }
    db.each("select distinct debate_key, seq from citations", values![], |row| {
        tolerate(keep_citations(db, row.get(0)?, Seq(row.get(1)?)))?;
        Ok(ControlFlow::Continue(()))
    })
}

/// Every key of a table, with the time of its deletion.
fn keys(db: &Db<'_>, table: &str) -> Result<Vec<(i64, Option<Time>)>, Failure> {
    let sql = format!("select key, deleted_at from {table} order by key");
    db.all(&sql, values![], |row| Ok((row.get(0)?, row.get::<Option<i64>>(1)?.map(Time))))
}

fn tolerate(written: Result<(), Failure>) -> Result<(), Failure> {
    match written {
        Err(Failure::Fault(Fault::Damaged(damage))) => {
            tracing::warn!(%damage, "a damaged row gets no checksum");
            Ok(())
        }
        written => written,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Damage;

    #[test]
    fn only_a_damaged_row_gets_no_checksum() {
        let damaged = Damage::new("it is missing").into();
        assert!(tolerate(Err(damaged)).is_ok());
        let full = tolerate(Err(Fault::StorageFull.into()));
        assert!(matches!(full, Err(Failure::Fault(Fault::StorageFull))), "{full:?}");
    }
}
