//! Reads debates for waiters, for `get-context` and for sockets.

use aw_core::{
    Argument, ArgumentId, ByRole, Content, DebateId, DebateType, Hash, Role, Seq, Standing, State,
    Summary, Time, Title,
};
use uuid::Uuid;

use super::checksums::Checksum;
use super::db::{Db, values};
use super::find::{argument_at, id_at, live, seq_of};
use super::rows::{self, ARGUMENT, DebateNames, DebateRow, NAMES};
use super::search::join_in_order;
use super::{Store, about, damaged, in_order};
use crate::types::PIECE;
use crate::{
    CitedDocument, CitedMark, CitedPage, Context, Damage, DebateHead, DebateListed, Failure,
    Selection, Stretch, TypeTexts,
};

/// The most rows of one piece: PostgreSQL returns all rows of a query at once.
pub(super) const PIECE_ROWS: u64 = 200;

/// The most unseen arguments that a wait shows, not counting RULINGs.
const UNSEEN_SHOWN: u64 = 20;

impl Store {
    /// The waiter's view now. `ends` decides whether its wait is over, from the standing and whether
    /// anything is unseen.
    pub(crate) async fn look(
        &self,
        debate: DebateId,
        role: Role,
        after: Option<ArgumentId>,
        ends: impl FnOnce(&Standing, bool) -> bool + Send + 'static,
    ) -> Result<WaitLook, Failure> {
        self.read(move |db| about(debate, look(db, debate, role, after, ends))).await
    }

    /// The debate with its newest arguments, or with all, as far as a short read allows.
    pub(crate) async fn context(
        &self,
        debate: DebateId,
        limit: Option<u64>,
    ) -> Result<Context, Failure> {
        self.read(move |db| about(debate, context(db, debate, limit))).await
    }

    /// A piece of an answer that is too long for a short read.
    pub(crate) async fn piece(
        &self,
        debate: DebateId,
        which: Selection,
        after: Seq,
        until: Seq,
    ) -> Result<Vec<Argument>, Failure> {
        self.read_long(move |db| about(debate, piece(db, debate, which, after, until))).await
    }

    /// A page of the documents that a debate cites.
    pub(crate) async fn cited(
        &self,
        debate: DebateId,
        after: CitedMark,
    ) -> Result<CitedPage, Failure> {
        self.read_long(move |db| {
            let known = live(db, debate)?;
            about(debate, cited_after(db, known.key, after))
        })
        .await
    }

    /// At most `limit` arguments after `after`, and at most one piece of text.
    pub(crate) async fn stretch(
        &self,
        debate: DebateId,
        after: Seq,
        limit: u64,
    ) -> Result<Stretch, Failure> {
        self.read(move |db| about(debate, stretch(db, debate, after, limit))).await
    }

    pub(crate) async fn place(
        &self,
        debate: DebateId,
        argument: ArgumentId,
    ) -> Result<Option<Seq>, Failure> {
        self.read(move |db| about(debate, seq_of(db, &live(db, debate)?, argument))).await
    }

    pub(crate) async fn type_texts(
        &self,
        debate: DebateId,
    ) -> Result<(DebateType, Option<TypeTexts>), Failure> {
        self.read(move |db| about(debate, type_texts(db, debate))).await
    }

    pub(crate) async fn checksum(&self, debate: DebateId) -> Result<Option<Hash>, Failure> {
        self.read(move |db| {
            let known = live(db, debate)?;
            about(debate, Checksum::Opening(known.key).kept(db))
        })
        .await
    }

    pub(crate) async fn listed(&self, debate: DebateId) -> Result<DebateListed, Failure> {
        self.read(move |db| about(debate, listed(db, debate))).await
    }
}

/// The waiter's view now.
#[derive(Debug)]
pub(crate) struct WaitLook {
    pub(crate) head: DebateHead,
    /// The position of the argument that the waiter has seen.
    pub(crate) seen: Option<Seq>,
    /// The answer, if the wait is over.
    pub(crate) answer: Option<WaitAnswer>,
}

/// The answer to a wait.
#[derive(Debug)]
pub(crate) struct WaitAnswer {
    pub(crate) argument: Argument,
    pub(crate) unseen: Vec<Argument>,
    /// Set when the RULINGs before `unseen` are too long for one read: they lie after the first of
    /// these positions and up to the second.
    pub(crate) earlier: Option<(Seq, Seq)>,
    pub(crate) omitted: u64,
    pub(crate) newest: ArgumentId,
    /// The argument that awaits a RULING.
    pub(crate) pending: Option<ArgumentId>,
}

pub(super) fn look(
    db: &Db<'_>,
    debate: DebateId,
    role: Role,
    after: Option<ArgumentId>,
    ends: impl FnOnce(&Standing, bool) -> bool,
) -> Result<WaitLook, Failure> {
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
    let answer =
        if ends(standing, unseen > 0) { Some(show(db, &known, role, from, unseen)?) } else { None };
    Ok(WaitLook { head: known.head, seen, answer })
}

/// The argument after which a wait without an id looks. An automatic RULING has the arbitrator's role,
/// but the arbitrator did not write it, so its wait looks after the RULING before.
fn seen_without_id(db: &Db<'_>, known: &DebateRow, role: Role) -> Result<Option<Seq>, Failure> {
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

/// How many arguments after `from` other roles wrote, computed from the stored counts.
fn unseen_count(
    db: &Db<'_>,
    known: &DebateRow,
    role: Role,
    from: Option<Seq>,
) -> Result<u64, Failure> {
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
    after().ok_or_else(|| {
        Damage::new("its counts do not match the arguments before it").at_seq(from).into()
    })
}

fn show(
    db: &Db<'_>,
    known: &DebateRow,
    role: Role,
    from: Option<Seq>,
    unseen_count: u64,
) -> Result<WaitAnswer, Failure> {
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
    let mut earlier = None;
    let mut omitted = unseen_count.saturating_sub(unseen.len() as u64);
    if role != Role::Arbitrator
        && omitted > 0
        && let Some(first) = unseen.first()
    {
        let (after, until, mut room) = (Seq(from), Seq(first.seq.0 - 1), PIECE);
        let mut all = run(db, known, Selection::Rulings, after, until, &mut room)?;
        if room == 0 {
            let sql = "select count(*) from arguments
                 where debate_key = ?1 and seq > ?2 and seq <= ?3 and type = 'RULING'";
            let rulings: u64 =
                db.one(sql, values![known.key, after.0, until.0], |row| row.get(0))?;
            omitted = omitted.saturating_sub(rulings);
            earlier = Some((after, until));
        } else {
            omitted = omitted.saturating_sub(all.len() as u64);
            all.append(&mut unseen);
            unseen = all;
        }
    }
    let argument = match unseen.last() {
        Some(newest) => newest.clone(),
        None => {
            let newest = standing.newest_of_others(role);
            argument_at(db, known, newest.ok_or_else(|| damaged("no other role has written"))?)?
        }
    };
    Ok(WaitAnswer {
        argument,
        omitted,
        unseen,
        earlier,
        newest: id_at(db, known.key, standing.last)?,
        pending: standing.pending().map(|seq| id_at(db, known.key, seq)).transpose()?,
    })
}

/// The debate with its newest arguments, or with all, as far as a short read allows.
pub(super) fn context(
    db: &Db<'_>,
    debate: DebateId,
    limit: Option<u64>,
) -> Result<Context, Failure> {
    let known = live(db, debate)?;
    let motion = argument_at(db, &known, Seq::FIRST)?;
    let last = known.head.debate.standing.last.0;
    let first = Seq(last + 1 - limit.unwrap_or(u64::MAX).min(last - 1));
    let own_rules = has_own_rules(db, known.key)?;
    let mut room = PIECE;
    let arguments = run(db, &known, Selection::All, Seq(first.0 - 1), Seq(last), &mut room)?;
    let rulings = run(db, &known, Selection::Rulings, Seq::FIRST, Seq(first.0 - 1), &mut room)?;
    let documents = cited_after(db, known.key, CitedMark::default())?;
    let rest = (room == 0 || documents.next.is_some()).then_some(first);
    let mut context = Context {
        debate: known.head,
        motion,
        arguments,
        rulings,
        documents: documents.documents,
        own_rules,
        rest,
    };
    if rest.is_some() {
        (context.arguments, context.rulings, context.documents) = Default::default();
    }
    Ok(context)
}

/// Whether the creator of a debate sent the texts of its type.
pub(super) fn has_own_rules(db: &Db<'_>, key: i64) -> Result<bool, Failure> {
    db.exists("select 1 from type_texts where debate_key = ?1", values![key])
}

/// The next piece of the arguments after `after` and up to `until`, in order.
pub(super) fn piece(
    db: &Db<'_>,
    debate: DebateId,
    which: Selection,
    after: Seq,
    until: Seq,
) -> Result<Vec<Argument>, Failure> {
    run(db, &live(db, debate)?, which, after, until, &mut { PIECE })
}

/// The same, within `room`, which it reduces.
pub(super) fn run(
    db: &Db<'_>,
    known: &DebateRow,
    which: Selection,
    after: Seq,
    until: Seq,
    room: &mut usize,
) -> Result<Vec<Argument>, Failure> {
    if after >= until || *room == 0 {
        return Ok(Vec::new());
    }
    let only = match which {
        Selection::All => "",
        Selection::Rulings => "and type = 'RULING'",
    };
    let sql = format!(
        "select {ARGUMENT} from arguments
         where debate_key = ?1 and seq > ?2 and seq <= ?3 {only} order by seq limit ?4"
    );
    let range = values![known.key, after.0, until.0, PIECE_ROWS];
    let read = rows::arguments_within(db, known.head.id, &sql, range, room)?;
    if read.len() as u64 == PIECE_ROWS {
        *room = 0;
    }
    Ok(read)
}

/// At most `limit` arguments after `after`, and at most one piece of text.
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
    let range = values![known.key, after.0, limit.min(PIECE_ROWS)];
    let arguments = rows::arguments_within(db, debate, &sql, range, &mut { PIECE })?;
    Ok(Stretch { debate: known.head, arguments })
}

/// A debate as an entry of a list.
pub(super) fn listed(db: &Db<'_>, debate: DebateId) -> Result<DebateListed, Failure> {
    let known = live(db, debate)?;
    let last = rows::last_argument(db, known.key, known.head.debate.standing.last)?;
    let blocking =
        known.head.debate.ledger.as_ref().map_or(0, |ledger| ledger.blocking().len() as u64);
    let sql = format!("select {NAMES} from debates where key = ?1");
    let names = db.one(&sql, values![known.key], |row| rows::names(row, 0))?;
    let DebateNames { slug, origin, archived_at } = names;
    Ok(DebateListed { debate: known.head, last, blocking, slug, origin, archived_at, seen: None })
}

/// The documents that a debate cites, in the order of citation.
pub(super) fn cited(db: &Db<'_>, key: i64) -> Result<Vec<CitedDocument>, Failure> {
    let mut all = Vec::new();
    let mut next = Some(CitedMark::default());
    while let Some(mark) = next {
        let mut page = cited_after(db, key, mark)?;
        all.append(&mut page.documents);
        next = page.next;
    }
    Ok(all)
}

/// A page of them.
pub(super) fn cited_after(
    db: &Db<'_>,
    key: i64,
    CitedMark { seq, document }: CitedMark,
) -> Result<CitedPage, Failure> {
    let join = join_in_order(db);
    let sql = format!(
        "select d.id, c.version, v.summary, d.deleted_at, c.seq, c.document_key,
             coalesce(d.title, v.summary)
         from (
             select document_key, version, seq from debate_documents
             where debate_key = ?1 and (seq > ?2 or (seq = ?2 and document_key > ?3))
             order by seq, document_key limit ?4
         ) as c
         {join} documents d on d.key = c.document_key
         {join} document_versions v on v.document_key = c.document_key and v.version = c.version
         order by c.seq, c.document_key"
    );
    let mut last = CitedMark::default();
    let documents = db.all(&sql, values![key, seq, document, PIECE_ROWS], |row| {
        last = CitedMark { seq: row.get(4)?, document: row.get(5)? };
        Ok(CitedDocument {
            id: row.get::<Uuid>(0)?.into(),
            version: row.get(1)?,
            summary: Summary::recorded(row.get(2)?),
            name: row.get(6)?,
            deleted_at: row.get::<Option<i64>>(3)?.map(Time),
        })
    })?;
    let next = (documents.len() as u64 == PIECE_ROWS).then_some(last);
    Ok(CitedPage { documents, next })
}

/// The type of a debate, and the texts of that type, if the creator sent them.
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
