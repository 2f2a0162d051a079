//! What each person has seen of each debate.

use aw_core::{DebateId, Hash};

use super::db::{Db, values};
use super::find::live;
use crate::Failure;

/// The newest argument that the holder of a token has seen; 0 for none.
pub(super) fn get(db: &Db<'_>, debate: DebateId, holder: Hash) -> Result<u64, Failure> {
    let known = live(db, debate)?;
    let sql = "select seq from seen where holder = ?1 and debate_key = ?2";
    Ok(db.optional(sql, values![holder.0, known.key], |row| row.get(0))?.unwrap_or(0))
}

/// Notes that the holder of a token has seen the arguments up to this one. The mark never goes back and
/// never beyond the newest argument. Returns the mark.
pub(super) fn note(db: &Db<'_>, debate: DebateId, holder: Hash, seq: u64) -> Result<u64, Failure> {
    let before = get(db, debate, holder)?;
    let known = live(db, debate)?;
    let seq = seq.min(known.head.debate.standing.last.0);
    if seq > before {
        let sql = "insert into seen (holder, debate_key, seq) values (?1, ?2, ?3)
             on conflict (holder, debate_key) do update set seq = excluded.seq
             where seen.seq < excluded.seq";
        db.run(sql, values![holder.0, known.key, seq])?;
    }
    Ok(before.max(seq))
}
