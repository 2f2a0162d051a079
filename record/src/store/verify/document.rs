//! Verifies one document: the chain of its versions, and its other rows.

use std::ops::ControlFlow;

use aw_core::{DocumentId, Hash, RequestId, Slug, Time};
use uuid::Uuid;

use super::Budget;
use crate::store::checksums::{self, Checksum};
use crate::store::db::{Db, Row, values};
use crate::store::purge::Purgeable;
use crate::store::search;
use crate::{Damage, Failure, Tombstone};

/// How many versions one query reads; they may be long.
const AT_ONCE: u64 = 50;

/// A verification of a document, from its first version to its newest.
#[derive(Debug)]
pub(super) struct DocumentWalk {
    key: i64,
    id: DocumentId,
    newest: Option<Newest>,
    /// The request that created the document.
    first: Option<RequestId>,
}

/// The last verified version.
#[derive(Debug)]
struct Newest {
    number: u64,
    summary: String,
    at: Time,
    hash: Hash,
}

impl DocumentWalk {
    /// Begins with the document that has this key.
    pub(super) fn at(db: &Db<'_>, key: i64) -> Result<Self, Failure> {
        let sql = "select id from documents where key = ?1";
        let id: Uuid = db.one(sql, values![key], |row| row.get(0))?;
        Ok(DocumentWalk { key, id: id.into(), newest: None, first: None })
    }

    /// How many versions are verified.
    pub(super) fn versions(&self) -> u64 {
        self.newest.as_ref().map_or(0, |newest| newest.number)
    }

    /// Continues while the budget lasts. Returns whether it has reached the end, or the first damage.
    pub(super) fn go_on(&mut self, db: &Db<'_>, budget: &mut Budget) -> Result<bool, Failure> {
        let verified = self.verify(db, budget);
        verified.map_err(|failure| failure.placed(|damage| damage.of_document(self.id)))
    }

    fn verify(&mut self, db: &Db<'_>, budget: &mut Budget) -> Result<bool, Failure> {
        if self.newest.is_none()
            && let Some(stone) = Purgeable::Document(self.key).tombstone(db)?
        {
            return self.check_tombstone(db, &stone).map(|()| true);
        }
        let sql = format!(
            "select {} where document_key = ?1 and v.version > ?2 order by v.version limit ?3",
            checksums::VERSION
        );
        while !budget.is_spent() {
            let mut found = 0;
            db.each(&sql, values![self.key, self.versions(), AT_ONCE], |row| {
                found += 1;
                budget.pay(self.take(db, row)?);
                Ok(if budget.is_spent() {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                })
            })?;
            if found < AT_ONCE && !budget.is_spent() {
                self.check_row(db)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Verifies the next version and returns the length of its text.
    fn take(&mut self, db: &Db<'_>, row: &Row<'_>) -> Result<usize, Failure> {
        let number = self.versions() + 1;
        let at_version = |failure: Failure| failure.placed(|damage| damage.at_version(number));
        let version = checksums::version(row).map_err(at_version)?;
        if version.number != number {
            return missing(number);
        }
        let previous = self.newest.as_ref().map_or(Hash::NONE, |newest| newest.hash);
        let hash = version.link(previous);
        let kept = Checksum::Version(self.key, number).kept(db).map_err(at_version)?;
        if kept != Some(hash) {
            let changed = Damage::new("its hash does not match its fields");
            return Err(changed.at_version(number).into());
        }
        self.first.get_or_insert(version.request);
        let (summary, at) = (version.summary, version.created_at);
        self.newest = Some(Newest { number, summary, at, hash });
        Ok(version.content.len())
    }

    /// Verifies what is left of a purged document.
    fn check_tombstone(&self, db: &Db<'_>, stone: &Tombstone) -> Result<(), Failure> {
        let newest = Checksum::Version(self.key, stone.pieces).before(db)?;
        Purgeable::Document(self.key).verify(db, stone, newest)?;
        let sql = "select deleted_at from documents where key = ?1";
        let deleted_at: Option<i64> = db.one(sql, values![self.key], |row| row.get(0))?;
        let deleted = deleted_at.map(|at| checksums::deleted_at(newest, Time(at)));
        match stone.hash == newest && Checksum::DocumentDeleted(self.key).kept(db)? == deleted {
            true => Ok(()),
            false => bad("its deletion does not match its checksum"),
        }
    }

    /// Verifies the document's own row, its deletion and its search text.
    fn check_row(&self, db: &Db<'_>) -> Result<(), Failure> {
        let Some((newest, first)) = self.newest.as_ref().zip(self.first) else {
            return missing(1);
        };
        let sql = "select version, summary, updated_at, client_request_id, deleted_at,
                 seat_key is null or seat_key in (select key from seats),
                 exists (select 1 from document_versions where document_key = key and version < 1)
             from documents where key = ?1";
        let row = db.optional(sql, values![self.key], |row| {
            let kept: (String, i64, Uuid) = (row.get(1)?, row.get(2)?, row.get(3)?);
            let deleted: Option<i64> = row.get(4)?;
            Ok((row.get::<u64>(0)?, kept, deleted, row.get::<bool>(5)?, row.get::<bool>(6)?))
        })?;
        let Some((number, kept, deleted, has_seat, has_strays)) = row else {
            return bad("its row is missing");
        };
        // A checksum beyond the newest version shows that a version was removed.
        let sql = "select max(number) from seals where thing = 'document' and key = ?1";
        let kept_until: Option<u64> = db.one(sql, values![self.key], |row| row.get(0))?;
        if number > newest.number || kept_until > Some(newest.number) {
            return missing(newest.number + 1);
        }
        if number < newest.number {
            let beyond = Damage::new("it comes after the newest version of its document");
            return Err(beyond.at_version(number + 1).into());
        }
        if kept != (newest.summary.clone(), newest.at.0, first.uuid()) {
            return bad("its summary, date or request does not match its versions");
        }
        if !has_seat {
            return bad("its seat does not exist");
        }
        if has_strays {
            return bad("it has a version before its first one");
        }
        let deleted = deleted.map(|at| checksums::deleted_at(newest.hash, Time(at)));
        if Checksum::DocumentDeleted(self.key).kept(db)? != deleted {
            return bad("its deletion does not match its checksum");
        }
        let sql = "select title, name from documents where key = ?1";
        let (title, name): (Option<String>, Option<String>) =
            db.one(sql, values![self.key], |row| Ok((row.get(0)?, row.get(1)?)))?;
        if name != title.map(|title| Slug::of(&title).to_string()) {
            return bad("its name does not follow from its title");
        }
        if !search::has_document(db, self.key, &newest.summary)? {
            return bad("a search does not find it");
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
