//! Finding a debate and its arguments.

use aw_core::{Argument, ArgumentId, DebateId, Hash, Seq};
use rusqlite::{Connection, OptionalExtension, params};
use uuid::Uuid;

use super::rows::{self, ARGUMENT, Known};
use crate::{Damage, Failure};

pub(super) fn find(db: &Connection, debate: DebateId) -> Result<Option<Known>, Failure> {
    let sql = format!("select {} from debates where id = ?1", rows::HEAD);
    let known = db.prepare_cached(&sql)?.query_row([debate.uuid()], rows::known).optional();
    known.map_err(|error| Failure::from(error).placed(|damage| damage.of_debate(debate)))
}

/// The debate, unless it was deleted.
pub(super) fn live(db: &Connection, debate: DebateId) -> Result<Known, Failure> {
    let known = find(db, debate)?;
    let deleted_at = known.as_ref().and_then(|known| known.deleted_at);
    known
        .filter(|known| known.deleted_at.is_none())
        .ok_or(Failure::DebateNotFound { id: debate, deleted_at })
}

pub(super) fn seq_of(
    db: &Connection,
    known: &Known,
    id: ArgumentId,
) -> Result<Option<Seq>, Failure> {
    let seq = db
        .prepare_cached("select seq from arguments where id = ?1 and debate_key = ?2")?
        .query_row(params![id.uuid(), known.key], |row| row.get(0).map(Seq))
        .optional()?;
    Ok(seq)
}

pub(super) fn id_at(db: &Connection, key: i64, seq: Seq) -> Result<ArgumentId, Failure> {
    let id: Uuid = db
        .prepare_cached("select id from arguments where debate_key = ?1 and seq = ?2")?
        .query_row(params![key, seq.0], |row| row.get(0))
        .map_err(rows::at_seq(seq))?;
    Ok(id.into())
}

pub(super) fn hash_at(db: &Connection, key: i64, seq: Seq) -> Result<Hash, Failure> {
    let hash = db
        .prepare_cached("select hash from arguments where debate_key = ?1 and seq = ?2")?
        .query_row(params![key, seq.0], |row| row.get(0).map(Hash))
        .map_err(rows::at_seq(seq))?;
    Ok(hash)
}

pub(super) fn argument_at(db: &Connection, known: &Known, seq: Seq) -> Result<Argument, Failure> {
    let sql = format!("select {ARGUMENT} from arguments where debate_key = ?1 and seq = ?2");
    rows::arguments(db, known.head.id, &sql, params![known.key, seq.0])?
        .pop()
        .ok_or_else(|| Damage::new("it is missing").of_debate(known.head.id).at_seq(seq).into())
}
