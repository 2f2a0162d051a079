//! Seats, and the passes that browsers hold.

use aw_core::{DebateId, DocumentId, Hash, SeatName, Time};
use rusqlite::{Connection, OptionalExtension, Row, params};
use uuid::Uuid;

use super::find::live;
use super::rows;
use crate::{Failure, NewSeat, Pass, Seat, SeatRole};

/// How many sessions, and how many links, one token may have at once: whoever has a token can ask
/// for them without end.
const PASSES: usize = 500;

/// The columns that [`seat`] reads.
const SEAT: &str = "seats.id, name, role, debates.id, seats.created_at, expires_at, revoked_at
     from seats left join debates on debates.key = debate_key";

fn seat(row: &Row<'_>) -> rusqlite::Result<Seat> {
    let time = |column| row.get::<_, Option<i64>>(column).map(|at| at.map(Time));
    Ok(Seat {
        id: row.get(0)?,
        name: SeatName::recorded(row.get(1)?),
        role: rows::word::<SeatRole>(row, 2)?,
        debate: row.get::<_, Option<Uuid>>(3)?.map(Into::into),
        created_at: Time(row.get(4)?),
        expires_at: time(5)?,
        revoked_at: time(6)?,
    })
}

pub(super) fn make(db: &Connection, id: Uuid, new: &NewSeat, at: Time) -> Result<Seat, Failure> {
    let debate = new.debate.map(|debate| live(db, debate)).transpose()?;
    db.prepare_cached(
        "insert into seats (id, name, role, debate_key, token_hash, created_at, expires_at)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![
        id,
        new.name.as_str(),
        new.role.as_str(),
        debate.map(|known| known.key),
        new.token.0,
        at.0,
        new.expires_at.map(|end| end.0),
    ])?;
    get(db, id)
}

fn get(db: &Connection, id: Uuid) -> Result<Seat, Failure> {
    db.prepare_cached(&format!("select {SEAT} where seats.id = ?1"))?
        .query_row([id], seat)
        .optional()?
        .ok_or(Failure::SeatNotFound { id })
}

/// All seats, the newest first.
pub(super) fn all(db: &Connection) -> Result<Vec<Seat>, Failure> {
    let sql = format!("select {SEAT} order by seats.key desc");
    Ok(db.prepare_cached(&sql)?.query_map([], seat)?.collect::<Result<_, _>>()?)
}

/// The seat of this token, however it stands with it.
pub(super) fn of_token(db: &Connection, token: Hash) -> Result<Option<Seat>, Failure> {
    let sql = format!("select {SEAT} where token_hash = ?1");
    Ok(db.prepare_cached(&sql)?.query_row([token.0], seat).optional()?)
}

/// Takes a seat's token back, and every pass that was given for it.
pub(super) fn revoke(db: &Connection, id: Uuid, at: Time) -> Result<Seat, Failure> {
    db.prepare_cached("update seats set revoked_at = ?2 where id = ?1 and revoked_at is null")?
        .execute(params![id, at.0])?;
    db.prepare_cached(
        "delete from passes where holder = (select token_hash from seats where id = ?1)",
    )?
    .execute([id])?;
    get(db, id)
}

/// Keeps a pass, and forgets those that are over, or too many for one token: of those the oldest.
pub(super) fn give(db: &Connection, pass: Pass, now: Time) -> Result<(), Failure> {
    db.prepare_cached("delete from passes where expires_at <= ?1")?.execute([now.0])?;
    db.prepare_cached(
        "delete from passes where hash in (
             select hash from passes where holder = ?1 and once = ?2
             order by expires_at desc limit -1 offset ?3)",
    )?
    .execute(params![pass.holder.0, pass.once, PASSES - 1])?;
    db.prepare_cached(
        "insert into passes (hash, holder, once, expires_at) values (?1, ?2, ?3, ?4)",
    )?
    .execute(params![pass.hash.0, pass.holder.0, pass.once, pass.expires_at.0])?;
    Ok(())
}

/// Whom a session is for.
pub(super) fn holder(db: &Connection, session: Hash, now: Time) -> Result<Option<Hash>, Failure> {
    let sql = "select holder from passes where hash = ?1 and not once and expires_at > ?2";
    let holder = db
        .prepare_cached(sql)?
        .query_row(params![session.0, now.0], |row| row.get(0).map(Hash))
        .optional()?;
    Ok(holder)
}

/// Whom a link was for, which is used up by this.
pub(super) fn redeem(db: &Connection, link: Hash, now: Time) -> Result<Option<Hash>, Failure> {
    let sql = "delete from passes where hash = ?1 and once returning holder, expires_at";
    let found = db
        .prepare_cached(sql)?
        .query_row([link.0], |row| Ok((Hash(row.get(0)?), row.get::<_, i64>(1)?)))
        .optional()?;
    Ok(found.filter(|(_, end)| now.0 < *end).map(|(holder, _)| holder))
}

/// Ends a session.
pub(super) fn end(db: &Connection, session: Hash) -> Result<(), Failure> {
    db.prepare_cached("delete from passes where hash = ?1")?.execute([session.0])?;
    Ok(())
}

/// Whether a seat that is for one debate may see a document: its debate cites it, or it wrote it.
pub(super) fn sees(db: &Connection, seat: &Seat, document: DocumentId) -> Result<bool, Failure> {
    let sql = "select 1 from documents where id = ?1 and (
             seat_key = (select key from seats where id = ?2)
             or exists (select 1 from debate_documents
                        where document_key = documents.key
                          and debate_key = (select key from debates where id = ?3)))";
    let debate = seat.debate.map(DebateId::uuid);
    Ok(db.prepare_cached(sql)?.exists(params![document.uuid(), seat.id, debate])?)
}
