//! What each person has seen of each debate.

use aw_core::{DebateId, Hash};

use super::db::{Db, values};
use super::find::live;
use super::writer::LockKey;
use super::{Store, about, unannounced};
use crate::Failure;

impl Store {
    /// The newest argument of a debate that the holder of a token has seen; 0 for none.
    pub(crate) async fn seen(&self, debate: DebateId, holder: Hash) -> Result<u64, Failure> {
        self.read(move |db| about(debate, get(db, debate, holder))).await
    }

    /// Notes what the holder of a token has seen. Returns the newest argument seen.
    pub(crate) async fn note_seen(
        &self,
        debate: DebateId,
        holder: Hash,
        seq: u64,
    ) -> Result<u64, Failure> {
        let known = self.seen(debate, holder).await?;
        if known >= seq {
            return Ok(known);
        }
        self.write(LockKey::Nothing, unannounced, move |db| {
            about(debate, note(db, debate, holder, seq))
        })
        .await
    }
}

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
