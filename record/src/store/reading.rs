//! Reading debates: what a waiter learns, what a newcomer reads, what a socket follows.

use aw_core::{
    Argument, ArgumentId, ByRole, Content, DebateId, DebateType, Role, Seq, Standing, State,
    Summary, Time, Title,
};
use uuid::Uuid;

use super::db::{Db, values};
use super::find::{argument_at, id_at, live, seq_of};
use super::rows::{self, ARGUMENT, Known};
use super::{damaged, in_order};
use crate::{
    CitedDocument, Context, Damage, DebateHead, DebateListed, Failure, Stretch, TypeTexts,
};

/// A wait shows so many unseen arguments, besides the RULINGs.
const UNSEEN_SHOWN: u64 = 20;

/// What a waiter would learn now.
#[derive(Debug)]
pub(crate) struct Look {
    pub(crate) head: DebateHead,
    /// The place of the argument that the waiter has seen.
    pub(crate) seen: Option<Seq>,
    /// There when its wait is over.
    pub(crate) found: Option<Found>,
}

/// What there is to show to a waiter.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) argument: Argument,
    pub(crate) unseen: Vec<Argument>,
    pub(crate) omitted: u64,
    pub(crate) newest: ArgumentId,
    /// What a RULING is owed to.
    pub(crate) pending: Option<ArgumentId>,
}

pub(super) fn look(
    db: &Db<'_>,
    debate: DebateId,
    role: Role,
    after: Option<ArgumentId>,
    ends: impl FnOnce(&Standing, bool) -> bool,
) -> Result<Look, Failure> {
    let known = live(db, debate)?;
    let standing = &known.head.debate.standing;
    let seen = match after {
        Some(id) => Some(seq_of(db, &known, id)?.ok_or(Failure::ArgumentNotFound { id })?),
        None => None,
    };
    let from = match seen {
        Some(seen) => Some(seen),
        None => seen_without_id(db, &known, role)?,
    };
    let unseen = unseen_count(db, &known, role, from)?;
    let found =
        if ends(standing, unseen > 0) { Some(show(db, &known, role, from, unseen)?) } else { None };
    Ok(Look { head: known.head, seen, found })
}

/// Where a wait that names no argument begins. An automatic RULING bears the arbitrator's role, but
/// the arbitrator has not written it: its wait begins after the RULING before that.
fn seen_without_id(db: &Db<'_>, known: &Known, role: Role) -> Result<Option<Seq>, Failure> {
    let standing = &known.head.debate.standing;
    let newest = standing.seen_without_id(role);
    let Some(seq) = newest.filter(|_| role == Role::Arbitrator && standing.state == State::Closed)
    else {
        return Ok(newest);
    };
    if !argument_at(db, known, seq)?.event.automatic() {
        return Ok(newest);
    }
    let sql = "select seq from arguments
         where debate_key = ?1 and type = 'RULING' and seq < ?2 order by seq desc limit 1";
    db.optional(sql, values![known.key, seq.0], |row| row.get(0).map(Seq))
}

/// How many arguments after `from` the role did not write, counted without reading them.
fn unseen_count(db: &Db<'_>, known: &Known, role: Role, from: Option<Seq>) -> Result<u64, Failure> {
    let standing = &known.head.debate.standing;
    let Some(from) = from else { return Ok(standing.last.0 - standing.count.get(role)) };
    if from == standing.last {
        return Ok(0);
    }
    let sql = "select proposer_count, opponent_count from arguments
         where debate_key = ?1 and seq = ?2";
    let (proposer, opponent): (u64, u64) = db
        .one(sql, values![known.key, from.0], |row| Ok((row.get(0)?, row.get(1)?)))
        .map_err(rows::at_seq(from))?;
    let after = || {
        let own = match role {
            Role::Proposer => proposer,
            Role::Opponent => opponent,
            Role::Arbitrator => from.0.checked_sub(proposer)?.checked_sub(opponent)?,
        };
        let all = standing.last.0.checked_sub(from.0)?;
        all.checked_sub(standing.count.get(role).checked_sub(own)?)
    };
    after().ok_or_else(|| Damage::new("the counts beside it are not its own").at_seq(from).into())
}

fn show(
    db: &Db<'_>,
    known: &Known,
    role: Role,
    from: Option<Seq>,
    unseen_count: u64,
) -> Result<Found, Failure> {
    let standing = &known.head.debate.standing;
    let from = from.map_or(0, |seq| seq.0);
    let mut unseen = Vec::new();
    if unseen_count > 0 {
        let sql = format!(
            "select {ARGUMENT} from arguments
             where debate_key = ?1 and seq > ?2 and role <> ?3 order by seq desc limit ?4"
        );
        let range = values![known.key, from, role.as_str(), UNSEEN_SHOWN];
        unseen = in_order(rows::arguments(db, known.head.id, &sql, range)?);
    }
    if role != Role::Arbitrator
        && unseen_count > UNSEEN_SHOWN
        && let Some(first) = unseen.first()
    {
        let mut all = rulings(db, known, from, first.seq)?;
        all.append(&mut unseen);
        unseen = all;
    }
    let argument = match unseen.last() {
        Some(newest) => newest.clone(),
        None => {
            let newest = standing.newest_of_others(role);
            argument_at(db, known, newest.ok_or_else(|| damaged("nobody else has spoken"))?)?
        }
    };
    Ok(Found {
        argument,
        omitted: unseen_count.saturating_sub(unseen.len() as u64),
        unseen,
        newest: id_at(db, known.key, standing.last)?,
        pending: standing.pending().map(|seq| id_at(db, known.key, seq)).transpose()?,
    })
}

/// The debate with its newest arguments, or with all of them.
pub(super) fn context(
    db: &Db<'_>,
    debate: DebateId,
    limit: Option<u64>,
) -> Result<Context, Failure> {
    let known = live(db, debate)?;
    let motion = argument_at(db, &known, Seq::FIRST)?;
    let sql = format!(
        "select {ARGUMENT} from arguments where debate_key = ?1 and seq > 1 order by seq desc limit ?2"
    );
    let limit = limit.unwrap_or(u64::MAX);
    let arguments = in_order(rows::arguments(db, debate, &sql, values![known.key, limit])?);
    let oldest = arguments.first().map_or(known.head.debate.standing.last.next(), |a| a.seq);
    let rulings = rulings(db, &known, 0, oldest)?;
    let documents = cited(db, known.key)?;
    let own_rules = has_own_rules(db, known.key)?;
    Ok(Context { debate: known.head, motion, arguments, rulings, documents, own_rules })
}

/// Whether the creator of a debate sent rules along.
pub(super) fn has_own_rules(db: &Db<'_>, key: i64) -> Result<bool, Failure> {
    db.exists("select 1 from type_texts where debate_key = ?1", values![key])
}

pub(super) fn stretch(
    db: &Db<'_>,
    debate: DebateId,
    after: Seq,
    limit: u64,
) -> Result<Stretch, Failure> {
    let known = live(db, debate)?;
    let sql = format!(
        "select {ARGUMENT} from arguments where debate_key = ?1 and seq > ?2 order by seq limit ?3"
    );
    let arguments = rows::arguments(db, debate, &sql, values![known.key, after.0, limit])?;
    Ok(Stretch { debate: known.head, arguments })
}

/// A debate as a list shows it.
pub(super) fn listed(db: &Db<'_>, debate: DebateId) -> Result<DebateListed, Failure> {
    let known = live(db, debate)?;
    let last = rows::last_argument(db, known.key, known.head.debate.standing.last)?;
    Ok(DebateListed { debate: known.head, last })
}

/// The RULINGs after `from` and before `until`.
fn rulings(db: &Db<'_>, known: &Known, from: u64, until: Seq) -> Result<Vec<Argument>, Failure> {
    let sql = format!(
        "select {ARGUMENT} from arguments
         where debate_key = ?1 and seq > ?2 and seq < ?3 and type = 'RULING' order by seq"
    );
    rows::arguments(db, known.head.id, &sql, values![known.key, from, until.0])
}

pub(super) fn cited(db: &Db<'_>, key: i64) -> Result<Vec<CitedDocument>, Failure> {
    let sql = "select d.id, c.version, v.summary, d.deleted_at
         from debate_documents c
         join documents d on d.key = c.document_key
         join document_versions v on v.document_key = c.document_key and v.version = c.version
         where c.debate_key = ?1 order by c.seq, c.document_key";
    db.all(sql, values![key], |row| {
        Ok(CitedDocument {
            id: row.get::<Uuid>(0)?.into(),
            version: row.get(1)?,
            summary: Summary::recorded(row.get(2)?),
            deleted_at: row.get::<Option<i64>>(3)?.map(Time),
        })
    })
}

/// The type of a debate, and the texts of that type, if they were kept with it.
pub(super) fn type_texts(
    db: &Db<'_>,
    debate: DebateId,
) -> Result<(DebateType, Option<TypeTexts>), Failure> {
    let known = live(db, debate)?;
    let sql = "select title, description, proposer, opponent, arbitrator
         from type_texts where debate_key = ?1";
    let texts = db.optional(sql, values![known.key], |row| {
        Ok(TypeTexts {
            title: Title::recorded(row.get(0)?),
            description: Summary::recorded(row.get(1)?),
            rules: ByRole {
                proposer: Content::recorded(row.get(2)?),
                opponent: Content::recorded(row.get(3)?),
                arbitrator: Content::recorded(row.get(4)?),
            },
        })
    })?;
    Ok((known.head.debate_type, texts))
}
