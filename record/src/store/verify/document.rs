//! One document against itself: the chain of its versions, and what is kept beside them.

use aw_core::{DocumentId, Hash, RequestId, Time};
use rusqlite::{Connection, OptionalExtension, params};
use uuid::Uuid;

use super::Budget;
use crate::store::seals::{self, Seal};
use crate::{Damage, Failure};

/// A walk along a document, from its first version to its newest.
#[derive(Debug)]
pub(super) struct DocumentWalk {
    key: i64,
    id: DocumentId,
    newest: Option<Newest>,
    /// The request that made the document.
    first: Option<RequestId>,
}

/// The version that the walk has come to.
#[derive(Debug)]
struct Newest {
    number: u64,
    summary: String,
    at: Time,
    hash: Hash,
}

impl DocumentWalk {
    /// At the beginning of the document with this key.
    pub(super) fn at(db: &Connection, key: i64) -> Result<Self, Failure> {
        let id: Uuid = db
            .prepare_cached("select id from documents where key = ?1")?
            .query_row([key], |row| row.get(0))?;
        Ok(DocumentWalk { key, id: id.into(), newest: None, first: None })
    }

    /// How many versions it has found to be as they were kept.
    pub(super) fn versions(&self) -> u64 {
        self.newest.as_ref().map_or(0, |newest| newest.number)
    }

    /// Goes on while the budget lasts. Whether it has come to the end; or the first thing that is
    /// not as it was kept.
    pub(super) fn go_on(&mut self, db: &Connection, budget: &mut Budget) -> Result<bool, Failure> {
        let verified = self.verify(db, budget);
        verified.map_err(|failure| failure.placed(|damage| damage.of_document(self.id)))
    }

    fn verify(&mut self, db: &Connection, budget: &mut Budget) -> Result<bool, Failure> {
        let sql = format!(
            "select {} where document_key = ?1 and v.version > ?2 order by v.version",
            seals::VERSION
        );
        let mut statement = db.prepare_cached(&sql)?;
        let from = self.versions().cast_signed();
        let mut rows = statement.query(params![self.key, from])?;
        while !budget.is_spent() {
            let Some(row) = rows.next()? else {
                self.check_row(db)?;
                return Ok(true);
            };
            let number = self.versions() + 1;
            let at_version = |failure: Failure| failure.placed(|damage| damage.at_version(number));
            let version = seals::version(row).map_err(|error| at_version(error.into()))?;
            if version.number != number {
                return missing(number);
            }
            let previous = self.newest.as_ref().map_or(Hash::NONE, |newest| newest.hash);
            let hash = version.link(previous);
            let kept = Seal::Version(self.key, number).kept(db).map_err(at_version)?;
            if kept != Some(hash) {
                let changed = Damage::new("its hash is not that of what it says");
                return Err(changed.at_version(number).into());
            }
            budget.pay(version.content.len());
            self.first.get_or_insert(version.request);
            let (summary, at) = (version.summary, version.created_at);
            self.newest = Some(Newest { number, summary, at, hash });
        }
        Ok(false)
    }

    /// The document's own row, and what else is kept of it as a whole.
    fn check_row(&self, db: &Connection) -> Result<(), Failure> {
        let Some((newest, first)) = self.newest.as_ref().zip(self.first) else {
            return missing(1);
        };
        let mut statement = db.prepare_cached(
            "select version, summary, updated_at, client_request_id, deleted_at,
                 seat_key is null or seat_key in (select key from seats),
                 exists (select 1 from document_versions where document_key = key and version < 1)
             from documents where key = ?1",
        )?;
        let mut row = statement.query([self.key])?;
        let Some(row) = row.next()? else { return bad("it is not there any more") };
        let number: u64 = row.get(0)?;
        let kept: (String, i64, Uuid) = (row.get(1)?, row.get(2)?, row.get(3)?);
        let deleted: Option<i64> = row.get(4)?;
        // A seal beyond the newest version tells of one that was there.
        let sealed: Option<u64> = db
            .prepare_cached("select max(number) from seals where thing = 'document' and key = ?1")?
            .query_row([self.key], |row| row.get(0))?;
        if number > newest.number || sealed > Some(newest.number) {
            return missing(newest.number + 1);
        }
        if number < newest.number {
            let beyond = Damage::new("it is beyond the newest version of its document");
            return Err(beyond.at_version(number + 1).into());
        }
        if kept != (newest.summary.clone(), newest.at.0, first.uuid()) {
            return bad("its summary, date or request is not that of its versions");
        }
        if !row.get::<_, bool>(5)? {
            return bad("it was kept from a seat that is not there");
        }
        if row.get::<_, bool>(6)? {
            return bad("something stands before its first version");
        }
        let deleted = deleted.map(|at| seals::deleted_at(newest.hash, Time(at)));
        if Seal::DocumentDeleted(self.key).kept(db)? != deleted {
            return bad("whether and when it was deleted is not what was kept of it");
        }
        let summary: Option<String> = db
            .prepare_cached("select summary from document_summaries where rowid = ?1")?
            .query_row([self.key], |row| row.get(0))
            .optional()?;
        if summary.as_ref() != Some(&newest.summary) {
            return bad("a search does not find it by its summary");
        }
        Ok(())
    }
}

fn missing<T>(number: u64) -> Result<T, Failure> {
    Err(Damage::new("it is missing").at_version(number).into())
}

fn bad<T>(what: &str) -> Result<T, Failure> {
    Err(Damage::new(what).into())
}
