//! The counts of debates and documents, updated with every write.
//!
//! In PostgreSQL each writer counts in rows of its own (a slot), so that writers never wait for each
//! other; the total is the sum over all slots.

use aw_core::{DebateType, State};

use super::db::{Db, values};
use crate::Failure;

/// How many debates there are.
pub(super) fn debates(db: &Db<'_>) -> Result<u64, Failure> {
    debates_of(db, State::ALL, "")
}

/// How many debates are in these states, of this type or, if it is empty, of any.
pub(super) fn debates_of(db: &Db<'_>, states: &[State], debate_type: &str) -> Result<u64, Failure> {
    let columns: Vec<String> = states.iter().map(|state| state.as_str().to_lowercase()).collect();
    let sql = format!(
        "select cast(coalesce(sum({}), 0) as bigint) from debate_counts where debate_type = ?1",
        columns.join(" + ")
    );
    db.one(&sql, values![debate_type], |row| row.get(0))
}

/// How many documents exist, and how many were deleted.
pub(super) fn documents(db: &Db<'_>) -> Result<(u64, u64), Failure> {
    let sql = match db {
        Db::Sqlite(_) => "select live, deleted from document_counts",
        Db::Postgres(_) => {
            "select cast(coalesce(sum(live), 0) as bigint),
                 cast(coalesce(sum(deleted), 0) as bigint) from document_counts"
        }
    };
    db.one(sql, values![], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Moves a debate from one state's count to another's, for its own type and for all types.
pub(super) fn move_debate(
    db: &Db<'_>,
    debate_type: &DebateType,
    from: Option<State>,
    to: Option<State>,
) -> Result<(), Failure> {
    if from == to {
        return Ok(());
    }
    let debate_type = debate_type.as_str();
    let change = |state| i64::from(to == Some(state)) - i64::from(from == Some(state));
    let [a, b, c, d, e] = [
        State::AwaitingOpponent,
        State::AwaitingProposer,
        State::AwaitingArbitrator,
        State::InterventionPending,
        State::Closed,
    ]
    .map(change);
    match db {
        Db::Sqlite(_) => {
            if from.is_none() {
                let sql = "insert into debate_counts (debate_type) values (''), (?1)
                     on conflict do nothing";
                db.run(sql, values![debate_type])?;
            }
            let sql = "update debate_counts set
                     awaiting_opponent = awaiting_opponent + ?2,
                     awaiting_proposer = awaiting_proposer + ?3,
                     awaiting_arbitrator = awaiting_arbitrator + ?4,
                     intervention_pending = intervention_pending + ?5,
                     closed = closed + ?6
                 where debate_type in ('', ?1)";
            db.run(sql, values![debate_type, a, b, c, d, e])
        }
        Db::Postgres(session) => {
            let sql = "insert into debate_counts as c (debate_type, slot, awaiting_opponent,
                     awaiting_proposer, awaiting_arbitrator, intervention_pending, closed)
                 values (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                 on conflict (debate_type, slot) do update set
                     awaiting_opponent = c.awaiting_opponent + excluded.awaiting_opponent,
                     awaiting_proposer = c.awaiting_proposer + excluded.awaiting_proposer,
                     awaiting_arbitrator = c.awaiting_arbitrator + excluded.awaiting_arbitrator,
                     intervention_pending = c.intervention_pending + excluded.intervention_pending,
                     closed = c.closed + excluded.closed";
            ["", debate_type].into_iter().try_for_each(|name| {
                session.add(sql, values![name, session.slot(), a, b, c, d, e], 5)
            })
        }
    }
}

/// Adds to the counts of existing and deleted documents.
pub(super) fn add_documents(db: &Db<'_>, live: i64, deleted: i64) -> Result<(), Failure> {
    match db {
        Db::Sqlite(_) => {
            let sql = "update document_counts set live = live + ?1, deleted = deleted + ?2";
            db.run(sql, values![live, deleted])
        }
        Db::Postgres(session) => {
            let sql = "insert into document_counts as c (slot, live, deleted) values (?1, ?2, ?3)
                 on conflict (slot) do update set
                     live = c.live + excluded.live, deleted = c.deleted + excluded.deleted";
            session.add(sql, values![session.slot(), live, deleted], 2)
        }
    }
}
