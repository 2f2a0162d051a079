//! Finds a debate and its arguments.

use aw_core::{Argument, ArgumentId, DebateId, Hash, Seq};
use uuid::Uuid;

use super::db::{Db, values};
use super::points;
use super::rows::{self, ARGUMENT, DebateRow};
use crate::{Damage, Failure};

/// The debate with its points.
pub(super) fn find(db: &Db<'_>, debate: DebateId) -> Result<Option<DebateRow>, Failure> {
    with_its_points(db, debate, find_row(db, debate)?)
}

/// The debate without its points.
pub(super) fn find_row(db: &Db<'_>, debate: DebateId) -> Result<Option<DebateRow>, Failure> {
    let sql = format!("select {} from debates where id = ?1", rows::HEAD);
    row(db, debate, &sql)
}

/// The debate with its points, if it keeps points and was not deleted.
pub(super) fn with_points(db: &Db<'_>, debate: DebateId) -> Result<Option<DebateRow>, Failure> {
    let sql = format!(
        "select {} from debates where id = ?1 and points_form is not null and deleted_at is null",
        rows::HEAD
    );
    with_its_points(db, debate, row(db, debate, &sql)?)
}

fn row(db: &Db<'_>, debate: DebateId, sql: &str) -> Result<Option<DebateRow>, Failure> {
    db.optional(sql, values![debate.uuid()], rows::debate_row)
        .map_err(|failure| failure.placed(|damage| damage.of_debate(debate)))
}

fn with_its_points(
    db: &Db<'_>,
    debate: DebateId,
    mut known: Option<DebateRow>,
) -> Result<Option<DebateRow>, Failure> {
    if let Some(DebateRow { key, head, .. }) = &mut known
        && let Some(ledger) = &mut head.debate.ledger
    {
        points::complete(db, *key, ledger)
            .map_err(|failure| failure.placed(|damage| damage.of_debate(debate)))?;
    }
    Ok(known)
}

/// The debate that had this id in the older system.
pub(super) fn by_former_id(db: &Db<'_>, id: &str) -> Result<Option<DebateId>, Failure> {
    let sql = "select debates.id from former_ids join debates on key = debate_key
         where former_ids.id = ?1";
    db.optional(sql, values![id], |row| row.get::<Uuid>(0).map(Into::into))
}

/// The key of the debate that had this id in the older system.
pub(super) fn key_by_former_id(db: &Db<'_>, id: &str) -> Result<Option<i64>, Failure> {
    let sql = "select debate_key from former_ids where id = ?1";
    db.optional(sql, values![id], |row| row.get(0))
}

/// The debate with its points, unless it was deleted.
pub(super) fn live(db: &Db<'_>, debate: DebateId) -> Result<DebateRow, Failure> {
    unless_deleted(debate, find(db, debate)?)
}

/// The debate without its points, unless it was deleted.
pub(super) fn live_row(db: &Db<'_>, debate: DebateId) -> Result<DebateRow, Failure> {
    unless_deleted(debate, find_row(db, debate)?)
}

fn unless_deleted(debate: DebateId, known: Option<DebateRow>) -> Result<DebateRow, Failure> {
    let deleted_at = known.as_ref().and_then(|known| known.deleted_at);
    known
        .filter(|known| known.deleted_at.is_none())
        .ok_or(Failure::DebateNotFound { id: debate, deleted_at })
}

pub(super) fn seq_of(
    db: &Db<'_>,
    known: &DebateRow,
    id: ArgumentId,
) -> Result<Option<Seq>, Failure> {
    let sql = "select seq from arguments where id = ?1 and debate_key = ?2";
    db.optional(sql, values![id.uuid(), known.key], |row| row.get(0).map(Seq))
}

/// The position of a move's target, without the debate's key: for reads that are made together.
pub(super) fn seq_of_target(
    db: &Db<'_>,
    debate: DebateId,
    id: ArgumentId,
) -> Result<Option<Seq>, Failure> {
    let sql = "select seq from arguments
         where id = ?1 and debate_key = (select key from debates where id = ?2)";
    db.optional(sql, values![id.uuid(), debate.uuid()], |row| row.get(0).map(Seq))
}

pub(super) fn id_at(db: &Db<'_>, key: i64, seq: Seq) -> Result<ArgumentId, Failure> {
    let sql = "select id from arguments where debate_key = ?1 and seq = ?2";
    let id: Result<Uuid, Failure> = db.one(sql, values![key, seq.0], |row| row.get(0));
    Ok(id.map_err(rows::at_seq(seq))?.into())
}

pub(super) fn hash_at(db: &Db<'_>, key: i64, seq: Seq) -> Result<Hash, Failure> {
    let sql = "select hash from arguments where debate_key = ?1 and seq = ?2";
    db.one(sql, values![key, seq.0], |row| row.get(0).map(Hash)).map_err(rows::at_seq(seq))
}

/// The position and the hash of the newest argument.
pub(super) fn newest(db: &Db<'_>, debate: DebateId) -> Result<Option<(Seq, Hash)>, Failure> {
    let sql = "select seq, hash from arguments
         where debate_key = (select key from debates where id = ?1) order by seq desc limit 1";
    db.optional(sql, values![debate.uuid()], |row| Ok((Seq(row.get(0)?), Hash(row.get(1)?))))
}

pub(super) fn argument_at(db: &Db<'_>, known: &DebateRow, seq: Seq) -> Result<Argument, Failure> {
    let sql = format!("select {ARGUMENT} from arguments where debate_key = ?1 and seq = ?2");
    rows::arguments(db, known.head.id, &sql, values![known.key, seq.0])?
        .pop()
        .ok_or_else(|| Damage::new("it is missing").of_debate(known.head.id).at_seq(seq).into())
}
