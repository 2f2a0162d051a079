//! Seats, and the passes of browsers.

use std::collections::HashMap;

use aw_core::{DebateId, DocumentId, Hash, SeatName, Time};
use uuid::Uuid;

use super::db::{Db, Row, values};
use super::find::live;
use super::postgres::Notice;
use super::rows;
use super::writer::LockKey;
use super::{Store, unannounced};
use crate::{Failure, Fault, NewSeat, Pass, Seat, SeatRole};

/// The most sessions, and the most links, of one token. Without a limit a token's owner could create
/// them endlessly.
const PASSES: u64 = 500;

/// The columns that [`seat`] reads.
const SEAT: &str = "seats.id, name, role, debates.id, seats.created_at, expires_at, revoked_at
     from seats left join debates on debates.key = debate_key";

impl Store {
    pub(crate) async fn make_seat(
        &self,
        id: Uuid,
        new: NewSeat,
        at: Time,
    ) -> Result<Seat, Failure> {
        self.write(LockKey::Nothing, unannounced, move |db| make(db, id, &new, at)).await
    }

    pub(crate) async fn revoke_seat(&self, id: Uuid, at: Time) -> Result<Seat, Failure> {
        self.write(LockKey::Nothing, ended, move |db| revoke(db, id, at)).await
    }

    pub(crate) async fn seats(&self) -> Result<Vec<Seat>, Failure> {
        self.read(all).await
    }

    pub(crate) async fn seat_of(&self, token: Hash) -> Result<Option<Seat>, Failure> {
        self.read(move |db| of_token(db, token)).await
    }

    pub(crate) async fn give_pass(&self, pass: Pass, now: Time) -> Result<(), Failure> {
        self.write(LockKey::Nothing, unannounced, move |db| give(db, pass, now)).await
    }

    pub(crate) async fn holder(&self, session: Hash, now: Time) -> Result<Option<Hash>, Failure> {
        self.read(move |db| holder(db, session, now)).await
    }

    pub(crate) async fn redeem(&self, link: Hash, now: Time) -> Result<Option<Hash>, Failure> {
        self.write(LockKey::Nothing, unannounced, move |db| redeem(db, link, now)).await
    }

    pub(crate) async fn end_pass(&self, session: Hash) -> Result<(), Failure> {
        self.write(LockKey::Nothing, ended, move |db| end(db, session)).await
    }

    pub(crate) async fn sees(&self, seat: &Seat, document: DocumentId) -> Result<bool, Failure> {
        let seat = seat.clone();
        self.read(move |db| sees(db, &seat, document)).await
    }
}

/// The notice of a revoked token or an ended session.
fn ended<T>(_: &T, _: LockKey) -> Option<Notice> {
    Some(Notice::Seats)
}

fn seat(row: &Row<'_>) -> Result<Seat, Failure> {
    let time = |column| row.get::<Option<i64>>(column).map(|at| at.map(Time));
    Ok(Seat {
        id: row.get(0)?,
        name: SeatName::recorded(row.get(1)?),
        role: rows::word::<SeatRole>(row, 2)?,
        debate: row.get::<Option<Uuid>>(3)?.map(Into::into),
        created_at: Time(row.get(4)?),
        expires_at: time(5)?,
        revoked_at: time(6)?,
    })
}

pub(super) fn make(db: &Db<'_>, id: Uuid, new: &NewSeat, at: Time) -> Result<Seat, Failure> {
    if db.is_unsure()
        && let Ok(made) = get(db, id)
    {
        return Ok(made);
    }
    let debate = new.debate.map(|debate| live(db, debate)).transpose()?;
    let sql = "insert into seats (id, name, role, debate_key, token_hash, created_at, expires_at)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let row = values![
        id,
        new.name.as_str(),
        new.role.as_str(),
        debate.map(|known| known.key),
        new.token.0,
        at.0,
        new.expires_at.map(|end| end.0),
    ];
    db.run(sql, row)?;
    get(db, id)
}

fn get(db: &Db<'_>, id: Uuid) -> Result<Seat, Failure> {
    let found = db.optional(&format!("select {SEAT} where seats.id = ?1"), values![id], seat)?;
    found.ok_or(Failure::SeatNotFound { id })
}

/// All seats, the newest first.
pub(super) fn all(db: &Db<'_>) -> Result<Vec<Seat>, Failure> {
    db.all(&format!("select {SEAT} order by seats.key desc"), values![], seat)
}

/// The seat of this token, even if it is expired or revoked.
pub(super) fn of_token(db: &Db<'_>, token: Hash) -> Result<Option<Seat>, Failure> {
    db.optional(&format!("select {SEAT} where token_hash = ?1"), values![token.0], seat)
}

/// Revokes a seat's token and deletes its passes and what it has seen.
pub(super) fn revoke(db: &Db<'_>, id: Uuid, at: Time) -> Result<Seat, Failure> {
    let sql = "update seats set revoked_at = ?2 where id = ?1 and revoked_at is null";
    db.run(sql, values![id, at.0])?;
    for table in ["passes", "seen"] {
        let sql = format!(
            "delete from {table} where holder = (select token_hash from seats where id = ?1)"
        );
        db.run(&sql, values![id])?;
    }
    get(db, id)
}

/// When each seat was revoked, by its id.
pub(super) type Revocations = HashMap<Uuid, Option<Time>>;

/// Reads when each seat was revoked; `None` for a record in which nothing was ever written.
pub(super) fn revocations(db: &Db<'_>) -> Result<Option<Revocations>, Failure> {
    if !db.exists("select 1 from seats union all select 1 from debates", values![])? {
        return Ok(None);
    }
    let sql = "select id, revoked_at from seats";
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get::<Option<i64>>(1)?.map(Time)));
    Ok(Some(db.all(sql, values![], read)?.into_iter().collect()))
}

/// How many tokens of a backup are valid after its restore.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RestoredTokens {
    /// Those that are valid.
    pub valid: u64,
    /// Those that were valid in the backup and that the restore has revoked.
    pub revoked: u64,
}

/// Ends all passes of a copy, and revokes the seats that the record which it replaces has revoked or
/// does not have.
pub(super) fn restrict(
    copy: &Db<'_>,
    replaced: Option<&Revocations>,
    at: Time,
) -> Result<RestoredTokens, Failure> {
    copy.run("delete from passes", values![])?;
    let mut tokens = RestoredTokens::default();
    for seat in all(copy)? {
        if seat.revoked_at.is_some() {
            continue;
        }
        let revoked_at = match replaced {
            None => None,
            Some(seats) => seats.get(&seat.id).copied().unwrap_or(Some(at)),
        };
        if let Some(revoked_at) = revoked_at {
            revoke(copy, seat.id, revoked_at)?;
        }
        match (seat.expires_at.is_some_and(|end| end <= at), revoked_at) {
            (true, _) => {}
            (false, Some(_)) => tokens.revoked += 1,
            (false, None) => tokens.valid += 1,
        }
    }
    Ok(tokens)
}

/// Stores a pass; deletes expired passes, and the oldest beyond a token's limit.
pub(super) fn give(db: &Db<'_>, pass: Pass, now: Time) -> Result<(), Failure> {
    db.run("delete from passes where expires_at <= ?1", values![now.0])?;
    let sql = "delete from passes where hash in (
             select hash from passes where holder = ?1 and once = ?2
             order by expires_at desc limit ?4 offset ?3)";
    db.run(sql, values![pass.holder.0, pass.once, PASSES - 1, i64::MAX])?;
    let sql = "insert into passes (hash, holder, once, expires_at) values (?1, ?2, ?3, ?4)
         on conflict do nothing";
    db.run(sql, values![pass.hash.0, pass.holder.0, pass.once, pass.expires_at.0])
}

/// The token hash that a session stands for.
pub(super) fn holder(db: &Db<'_>, session: Hash, now: Time) -> Result<Option<Hash>, Failure> {
    let sql = "select holder from passes where hash = ?1 and not once and expires_at > ?2";
    db.optional(sql, values![session.0, now.0], |row| row.get(0).map(Hash))
}

/// The token hash that a link stands for. Uses the link up.
pub(super) fn redeem(db: &Db<'_>, link: Hash, now: Time) -> Result<Option<Hash>, Failure> {
    let sql = "delete from passes where hash = ?1 and once returning holder, expires_at";
    let found =
        db.optional(sql, values![link.0], |row| Ok((Hash(row.get(0)?), row.get::<i64>(1)?)))?;
    if found.is_none() && db.is_unsure() {
        // The link is used up, perhaps by an earlier attempt of this request.
        return Err(Fault::Busy("the database was away while the link was used").into());
    }
    Ok(found.filter(|(_, end)| now.0 < *end).map(|(holder, _)| holder))
}

/// Ends a session.
pub(super) fn end(db: &Db<'_>, session: Hash) -> Result<(), Failure> {
    db.run("delete from passes where hash = ?1", values![session.0])
}

/// Whether a seat of one debate may see a document: its debate cites it, or the seat wrote it.
pub(super) fn sees(db: &Db<'_>, seat: &Seat, document: DocumentId) -> Result<bool, Failure> {
    let sql = "select 1 from documents where id = ?1 and (
             seat_key = (select key from seats where id = ?2)
             or exists (select 1 from debate_documents
                        where document_key = documents.key
                          and debate_key = (select key from debates where id = ?3)))";
    let debate = seat.debate.map(DebateId::uuid);
    db.exists(sql, values![document.uuid(), seat.id, debate])
}
