//! Reads the data of a debate's web page: a window of its arguments, and the outline of all.

use std::collections::HashMap;
use std::sync::Arc;

use aw_core::{Argument, DebateId, Event, Kind, Role, Seq, State, Time};
use uuid::Uuid;

use super::db::{Db, Row, values};
use super::find::{argument_at, live, seq_of};
use super::read::{cited, has_own_rules};
use super::rows::{self, ARGUMENT, word};
use super::{Store, about, in_order, points};
use crate::{Citation, Failure, Moment, PageData, Surroundings};

impl Store {
    /// The data of a debate's web page.
    pub(crate) async fn page_data(
        &self,
        debate: DebateId,
        before: Option<Seq>,
        limit: u64,
    ) -> Result<PageData, Failure> {
        self.read_long(move |db| about(debate, read(db, debate, before, limit))).await
    }

    /// The data that the page shows beside these arguments.
    pub(crate) async fn surroundings(
        &self,
        debate: DebateId,
        arguments: Arc<[Argument]>,
    ) -> Result<Surroundings, Failure> {
        self.read_long(move |db| about(debate, surroundings(db, debate, &arguments))).await
    }
}

/// Reads the debate with at most `limit` arguments before `before`, or the newest.
pub(super) fn read(
    db: &Db<'_>,
    debate: DebateId,
    before: Option<Seq>,
    limit: u64,
) -> Result<PageData, Failure> {
    let known = live(db, debate)?;
    let after_last = known.head.debate.standing.last.0 + 1;
    let end = before.map_or(after_last, |seq| seq.0.min(after_last));
    let motion = argument_at(db, &known, Seq::FIRST)?;
    let sql = format!(
        "select {ARGUMENT} from arguments
         where debate_key = ?1 and seq > 1 and seq < ?2 order by seq desc limit ?3"
    );
    let arguments = in_order(rows::arguments(db, debate, &sql, values![known.key, end, limit])?);
    let first = arguments.first().map_or(end.max(2), |argument| argument.seq.0);
    let citations = citations(db, known.key, first, end)?;
    let pending = known.head.debate.standing.pending();
    let (stated, points) = points::history(db, &known)?;
    Ok(PageData {
        earlier: first - 2,
        moments: moments(db, known.key)?,
        documents: cited(db, known.key)?,
        citations,
        pending: pending.map(|seq| argument_at(db, &known, seq)).transpose()?,
        own_rules: has_own_rules(db, known.key)?,
        stated,
        points,
        motion,
        arguments,
        debate: known.head,
    })
}

/// The citations of the MOTION and of the arguments in a window.
pub(super) fn citations(
    db: &Db<'_>,
    key: i64,
    from: u64,
    until: u64,
) -> Result<Vec<Citation>, Failure> {
    let sql = "select c.seq, documents.id, c.version, coalesce(documents.title, v.summary)
         from citations as c
         join documents on documents.key = c.document_key
         join document_versions as v on v.document_key = c.document_key and v.version = c.version
         where c.debate_key = ?1 and (c.seq = 1 or (c.seq >= ?2 and c.seq < ?3))
         order by c.seq, c.document_key";
    db.all(sql, values![key, from, until], citation)
}

/// A citation of which these are the columns: seq, document, version, name.
pub(super) fn citation(row: &Row<'_>) -> Result<Citation, Failure> {
    Ok(Citation {
        seq: Seq(row.get(0)?),
        document: row.get::<Uuid>(1)?.into(),
        version: row.get(2)?,
        name: row.get(3)?,
    })
}

/// The data that the page shows beside these arguments, which must be in order.
pub(super) fn surroundings(
    db: &Db<'_>,
    debate: DebateId,
    arguments: &[Argument],
) -> Result<Surroundings, Failure> {
    let known = live(db, debate)?;
    let mut places = HashMap::new();
    for parent in arguments.iter().filter_map(|argument| argument.parent) {
        if let Some(seq) = seq_of(db, &known, parent)? {
            places.insert(parent, seq);
        }
    }
    let (mut cited, mut stated) = (Vec::new(), Vec::new());
    if let (Some(first), Some(last)) = (arguments.first(), arguments.last()) {
        cited = citations(db, known.key, first.seq.0, last.seq.0 + 1)?;
        cited.retain(|citation| citation.seq >= first.seq);
        if known.head.debate.ledger.is_some() {
            stated = points::stated(db, known.key, first.seq, last.seq)?;
        }
    }
    let is_closed = known.head.state() == State::Closed;
    let ledger = known.head.debate.ledger;
    Ok(Surroundings { places, citations: cited, stated, ledger, is_closed })
}

/// The outline of the whole debate.
fn moments(db: &Db<'_>, key: i64) -> Result<Vec<Moment>, Failure> {
    let sql = "select seq, type, role, parked_for, close, automatic, created_at
         from arguments where debate_key = ?1 order by seq";
    db.all(sql, values![key], |row| {
        let seq = Seq(row.get(0)?);
        moment(row, seq).map_err(rows::at_seq(seq))
    })
}

fn moment(row: &Row<'_>, seq: Seq) -> Result<Moment, Failure> {
    let kind: Kind = word(row, 1)?;
    let role: Role = word(row, 2)?;
    let parked = row.get::<Option<u64>>(3)?.is_some();
    let event = Event::recorded(kind, role, parked, row.get(4)?, row.get(5)?);
    Ok(Moment {
        seq,
        // Reading the whole argument reports an unknown event as damage.
        event: event.unwrap_or(Event::Motion),
        at: Time(row.get(6)?),
    })
}
