//! Writes into debates: the statements of a move.

use aw_core::{
    Argument, ArgumentId, Author, Content, Debate, DebateId, DebateOrigin, DebateType, DocumentId,
    Entry, Event, Hash, Held, Kind, Ledger, Move, Outcome, POINTS_FORM, Refusal, RequestId, Role,
    Said, SeatName, Seq, Slug, Standing, Target, Time, Title, Via, mentions,
};

use super::db::{Db, values};
use super::find::{
    argument_at, find, find_row, id_at, live, live_row, newest, seq_of, seq_of_target, with_points,
};
use super::points;
use super::quotes::{self, NormalForms, Text};
use super::rows::{self, ARGUMENT, DebateRow};
use super::{checksums, counts, damaged, in_order, slugs};
use crate::{DebateHead, Failure, Rehearsed, Stated, TypeTexts, chain};

/// The most arguments that a write reports as missed.
const MISSED_SHOWN: u64 = 500;

/// An argument to write, before the rules have judged it.
#[derive(Debug, Clone)]
pub(crate) struct NewArgument {
    pub(crate) id: ArgumentId,
    pub(crate) request: RequestId,
    pub(crate) content: Content,
    pub(crate) author: Option<Author>,
    pub(crate) via: Via,
    pub(crate) seat: Option<SeatName>,
    pub(crate) at: Time,
}

impl NewArgument {
    /// The complete argument, without its hash.
    pub(super) fn placed(
        self,
        debate: DebateId,
        seq: Seq,
        event: Event,
        parent: Option<ArgumentId>,
        at: Time,
    ) -> Argument {
        let NewArgument { id, request, content, author, via, seat, .. } = self;
        let hash = Hash::NONE;
        Argument { id, debate, seq, parent, event, content, author, request, via, seat, at, hash }
    }
}

/// A debate to open.
#[derive(Debug, Clone)]
pub(crate) struct NewDebate {
    pub(crate) id: DebateId,
    pub(crate) title: Title,
    pub(crate) debate_type: DebateType,
    pub(crate) texts: Option<Box<TypeTexts>>,
    pub(crate) debate: Debate,
    pub(crate) origin: Option<Box<DebateOrigin>>,
    pub(crate) motion: NewArgument,
}

/// A move to make.
#[derive(Debug, Clone)]
pub(crate) struct NewMove {
    pub(crate) debate: DebateId,
    pub(crate) role: Role,
    pub(crate) play: Move<ArgumentId>,
    pub(crate) argument: NewArgument,
    pub(crate) rules: DebateRules,
}

type Judge = fn(&Debate, Role, Move<Target>, &Said) -> Result<Vec<Entry>, Refusal>;

/// The rules, which the store calls and does not know.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DebateRules {
    /// Whether the state of the debate allows the role this kind of move.
    pub(crate) is_open: fn(&Debate, Role, Kind) -> bool,
    /// Judges a move of the role, with the facts about its text. For a move that is not open it does not
    /// read them.
    pub(crate) judge: Judge,
    /// Creates the RULING that some decisions add.
    pub(crate) automatic_ruling: fn(Via, Time) -> NewArgument,
}

/// The result of a write.
#[derive(Debug)]
pub(crate) struct WriteOutcome {
    pub(crate) head: DebateHead,
    pub(crate) argument: Argument,
    pub(crate) replayed: bool,
    pub(crate) missed: Vec<Argument>,
    /// The INTERVENTION that parked the argument.
    pub(crate) parked_for: Option<ArgumentId>,
    pub(crate) stated: Vec<Stated>,
    pub(crate) held: Option<Held>,
    /// The slug of the debate, if the request opened it.
    pub(crate) slug: Option<Slug>,
}

/// The facts about a text, and the newest argument and the points when they were found. While the
/// argument is the newest, the points are the same.
#[derive(Debug, Clone)]
pub(crate) struct Examined {
    last: Seq,
    said: Said,
    ledger: Ledger,
}

pub(super) fn open(db: &Db<'_>, new: &NewDebate, most: u64) -> Result<WriteOutcome, Failure> {
    if let Some(known) = find(db, new.id)? {
        return replay_opening(db, new, known);
    }
    if counts::debates(db)? >= most {
        return Err(Failure::NoRoom(format!("the server's limit on debates is reached: {most}")));
    }
    let motion = &new.motion;
    let mut debate = new.debate.clone();
    if let Some(ledger) = &mut debate.ledger {
        *ledger = Ledger::opened(ledger.rules, &cites(db, motion)?);
    }
    let head = DebateHead {
        id: new.id,
        title: new.title.clone(),
        debate_type: new.debate_type.clone(),
        debate,
        created_at: motion.at,
        updated_at: motion.at,
        outcome: Outcome::Open,
    };
    let (key, slug) = insert_debate(db, &head, new.origin.as_deref())?;
    if let Some(texts) = &new.texts {
        insert_type_texts(db, key, texts)?;
    }
    if let Some(ledger) = &head.debate.ledger {
        points::keep(db, key, None, ledger)?;
    }
    let argument = motion.clone().placed(new.id, Seq::FIRST, Event::Motion, None, motion.at);
    let argument =
        append(db, key, argument, None, &new.debate.standing, Hash::NONE, KnownVersions::Now)?;
    checksums::keep_debate(db, key)?;
    checksums::keep_names(db, key)?;
    Ok(WriteOutcome { slug: Some(slug), ..WriteOutcome::of(head, argument, false) })
}

fn replay_opening(db: &Db<'_>, new: &NewDebate, known: DebateRow) -> Result<WriteOutcome, Failure> {
    if known.deleted_at.is_some() {
        return Err(Failure::DebateIdTaken { id: new.id, deleted_at: known.deleted_at });
    }
    let motion = argument_at(db, &known, Seq::FIRST)?;
    let motion_id = motion.id;
    if motion.request != new.motion.request {
        return Err(Failure::DebateIdTaken { id: new.id, deleted_at: None });
    }
    let rules = |debate: &Debate| debate.ledger.as_ref().map(|ledger| ledger.rules);
    let same = known.head.title == new.title
        && known.head.debate_type == new.debate_type
        && known.head.debate.policy == new.debate.policy
        && rules(&known.head.debate) == rules(&new.debate)
        && motion.content == new.motion.content;
    if !same {
        return Err(Failure::RequestIdReused);
    }
    let slug = slugs::of(db, known.key)?;
    Ok(WriteOutcome { slug, ..WriteOutcome::of(known.head, motion, motion_id != new.motion.id) })
}

impl WriteOutcome {
    /// The outcome of a write without statements.
    fn of(head: DebateHead, argument: Argument, replayed: bool) -> Self {
        WriteOutcome {
            head,
            argument,
            replayed,
            missed: Vec::new(),
            parked_for: None,
            stated: Vec::new(),
            held: None,
            slug: None,
        }
    }
}

/// Finds the facts about a text that is about to be written, if the debate keeps points.
pub(super) fn examine(
    db: &Db<'_>,
    forms: &NormalForms,
    new: &NewMove,
) -> Result<Option<Examined>, Failure> {
    let Some(known) = with_points(db, new.debate)? else { return Ok(None) };
    let debate = known.head.debate;
    let cites = cites(db, &new.argument)?;
    let said = quotes::said(db, forms, known.key, &debate, new.text(&cites))?;
    let last = debate.standing.last;
    Ok(debate.ledger.map(|ledger| Examined { last, said, ledger }))
}

impl NewMove {
    /// Its text, which cites these versions.
    fn text<'a>(&'a self, cites: &'a [(DocumentId, u64)]) -> Text<'a> {
        let content = self.argument.content.as_str();
        Text { role: self.role, kind: self.play.kind(), content, cites }
    }
}

/// Judges a move without making it.
pub(super) fn rehearse(
    db: &Db<'_>,
    forms: &NormalForms,
    new: &NewMove,
) -> Result<Rehearsed, Failure> {
    let mut known = live(db, new.debate)?;
    let play = new.play.locate(|id| locate(db, &known, new.play.kind(), id))?;
    let cites = cites(db, &new.argument)?;
    let said = quotes::said(db, forms, known.key, &known.head.debate, new.text(&cites))?;
    let entries = judge(db, &known, new, play, &said)?;
    let debate = &mut known.head.debate;
    let mut stated = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        debate.apply(entry, if at == 0 { &said.cites } else { &[] });
        let seq = debate.standing.last;
        stated.extend(entry.changes.iter().map(|change| Stated::of(seq, change)));
    }
    let automatic = entries.last().is_some_and(|entry| entry.event.automatic());
    let blocked = debate.ledger.as_ref().map(|ledger| !ledger.blocking().is_empty());
    known.head.outcome = Outcome::of(debate.standing.state, automatic, blocked);
    let first = entries.first();
    Ok(Rehearsed {
        parked: first.is_some_and(|entry| entry.event.parked()),
        held: first.and_then(|entry| entry.held),
        stated,
        debate: known.head,
    })
}

/// Calls the rules; a refusal names the newest argument.
fn judge(
    db: &Db<'_>,
    known: &DebateRow,
    new: &NewMove,
    play: Move<Target>,
    said: &Said,
) -> Result<Vec<Entry>, Failure> {
    match (new.rules.judge)(&known.head.debate, new.role, play, said) {
        Ok(entries) => Ok(entries),
        Err(refusal) => {
            let last = rows::last_argument(db, known.key, known.head.debate.standing.last)?;
            let refusal = Box::new(refusal);
            Err(Failure::Refused { debate: new.debate, role: new.role, refusal, last })
        }
    }
}

/// The order of the checks is the protocol's: debate, replay, target, state, text. All reads come before
/// the first write.
pub(super) fn play(
    db: &Db<'_>,
    forms: &NormalForms,
    new: &NewMove,
    examined: Option<&Examined>,
) -> Result<WriteOutcome, Failure> {
    let debate = new.debate;
    db.together(&[
        &|| find_row(db, debate).map(drop),
        &|| of_request(db, debate, new.argument.request).map(drop),
        &|| new.play.target().map_or(Ok(()), |id| seq_of_target(db, debate, *id).map(drop)),
        &|| newest(db, debate).map(drop),
        &|| cites(db, &new.argument).map(drop),
    ])?;
    let mut known = live_row(db, debate)?;
    if let Some(written) = of_request(db, debate, new.argument.request)? {
        return replay(db, live(db, debate)?, written, new);
    }
    let play = new.play.locate(|id| locate(db, &known, new.play.kind(), id))?;
    let last = known.head.debate.standing.last;
    let said = match known.head.debate.ledger {
        None => Said::default(),
        Some(_) => said(db, forms, &mut known, new, examined)?,
    };
    let entries = judge(db, &known, new, play, &said)?;

    let before = known.head.debate.clone();
    let seq = last.next();
    let first = entries.first().ok_or_else(|| damaged("a decision has no entries"))?;
    let (first, held) = (first.event, first.held);
    // The argument that is answered; for a RULING without a target, the pending one.
    let target = entries.first().and_then(|entry| entry.parent);
    let missed = missed(db, &known, seq, first.role(), target)?;
    let interrupted =
        |event: Event| before.standing.interrupted.get(event.role()).filter(|_| event.parked());
    let parked_for = interrupted(first).map(|seq| id_at(db, known.key, seq)).transpose()?;
    let asked = play.target().map(|target| target.seq);
    let parent = |entry: &Entry| match entry.parent {
        Some(parent) if Some(parent) == asked => Ok(new.play.target().copied()),
        Some(parent) if parent == seq => Ok(Some(new.argument.id)),
        Some(parent) => id_at(db, known.key, parent).map(Some),
        None => Ok(None),
    };
    let parents = entries.iter().map(parent).collect::<Result<Vec<_>, _>>()?;
    let newest = newest(db, debate)?.filter(|(seq, _)| *seq == last);
    let missing = || rows::at_seq(last)(damaged("it is not the newest argument"));
    let (_, mut previous) = newest.ok_or_else(missing)?;

    let mut written = None;
    let mut stated = Vec::new();
    let mut automatic = false;
    known.head.updated_at = new.argument.at.max(known.head.updated_at);
    for (entry, parent) in entries.into_iter().zip(parents) {
        let event = entry.event;
        automatic = event.automatic();
        known.head.debate.apply(&entry, if event.automatic() { &[] } else { &said.cites });
        let standing = &known.head.debate.standing;
        let text = match event.automatic() {
            true => (new.rules.automatic_ruling)(new.argument.via, new.argument.at),
            false => new.argument.clone(),
        };
        let argument = text.placed(debate, standing.last, event, parent, known.head.updated_at);
        let parked = interrupted(event);
        let argument =
            append(db, known.key, argument, parked, standing, previous, KnownVersions::Now)?;
        previous = argument.hash;
        points::keep_stated(db, known.key, standing.last, &entry.changes)?;
        stated.extend(entry.changes.iter().map(|change| Stated::of(standing.last, change)));
        written.get_or_insert(argument);
    }
    update_standing(db, &known)?;
    let ledger = known.head.debate.ledger.as_ref();
    let blocked = ledger.map(|ledger| !ledger.blocking().is_empty());
    known.head.outcome = Outcome::of(known.head.state(), automatic, blocked);
    if let Some(ledger) = &known.head.debate.ledger {
        points::keep(db, known.key, before.ledger.as_ref(), ledger)?;
    }
    // A move brings an archived debate back.
    let from = (!known.is_archived).then_some(before.standing.state);
    counts::move_debate(db, &known.head.debate_type, from, Some(known.head.state()))?;

    let argument = written.ok_or_else(|| damaged("a decision has no entries"))?;
    let outcome = WriteOutcome::of(known.head, argument, false);
    Ok(WriteOutcome { missed, parked_for, stated, held, ..outcome })
}

/// Reads the debate's points and finds the facts about the text: in an examination, if nothing has
/// changed since, or now, if that takes microseconds.
fn said(
    db: &Db<'_>,
    forms: &NormalForms,
    known: &mut DebateRow,
    new: &NewMove,
    examined: Option<&Examined>,
) -> Result<Said, Failure> {
    let cites = cites(db, &new.argument)?;
    let debate = &mut known.head.debate;
    let last = debate.standing.last;
    let holds = |examined: &&Examined| examined.last == last && examined.said.cites == cites;
    if let Some(Examined { said, ledger, .. }) = examined.filter(holds) {
        debate.ledger = Some(ledger.clone());
        return Ok(said.clone());
    }
    if let Some(ledger) = &mut debate.ledger {
        points::complete(db, known.key, ledger)?;
    }
    if !(new.rules.is_open)(debate, new.role, new.play.kind()) {
        return Ok(Said { cites, ..Said::default() });
    }
    let said = quotes::said_in_short(db, forms, known.key, debate, new.text(&cites))?;
    said.ok_or(Failure::Unexamined)
}

/// Returns the argument of the first request, if this is a retry of it.
fn replay(
    db: &Db<'_>,
    known: DebateRow,
    (argument, parked_for): (Argument, Option<Seq>),
    new: &NewMove,
) -> Result<WriteOutcome, Failure> {
    let event = argument.event;
    let asked = new.play.target();
    // A RULING without a target means the argument that was pending.
    let same_target = match new.play.kind() {
        Kind::Ruling => asked.is_none() || asked == argument.parent.as_ref(),
        _ => asked == argument.parent.as_ref(),
    };
    let same = event.kind() == new.play.kind()
        && event.role() == new.role
        && event.close() == new.play.verdict().map(|v| v == aw_core::Verdict::Close)
        && argument.content == new.argument.content
        && same_target;
    if !same {
        return Err(Failure::RequestIdReused);
    }
    let target = match argument.parent {
        Some(parent) => seq_of(db, &known, parent)?,
        None => None,
    };
    let missed = missed(db, &known, argument.seq, argument.event.role(), target)?;
    let parked_for = parked_for.map(|seq| id_at(db, known.key, seq)).transpose()?;
    // The same argument id means the same attempt, whose commit succeeded but whose answer was lost.
    let replayed = argument.id != new.argument.id;
    let ledger = known.head.debate.ledger.as_ref();
    let held = ledger.and_then(|ledger| ledger.held).filter(|(seq, _)| *seq == argument.seq);
    let stated = match ledger {
        Some(_) => points::judged(db, known.key, argument.seq)?,
        None => Vec::new(),
    };
    let held = held.map(|(_, held)| held);
    let outcome = WriteOutcome::of(known.head, argument, replayed);
    Ok(WriteOutcome { missed, parked_for, stated, held, ..outcome })
}

/// The arguments of others between the target and an argument of this role.
fn missed(
    db: &Db<'_>,
    known: &DebateRow,
    seq: Seq,
    role: Role,
    target: Option<Seq>,
) -> Result<Vec<Argument>, Failure> {
    let Some(target) = target.filter(|target| target.next() < seq) else {
        return Ok(Vec::new());
    };
    let sql = format!(
        "select {ARGUMENT} from arguments
         where debate_key = ?1 and seq > ?2 and seq < ?3 and role <> ?4
         order by seq desc limit {MISSED_SHOWN}"
    );
    let range = values![known.key, target.0, seq.0, role.as_str()];
    Ok(in_order(rows::arguments(db, known.head.id, &sql, range)?))
}

pub(super) fn delete(db: &Db<'_>, debate: DebateId, at: Time) -> Result<(), Failure> {
    let known = match live(db, debate) {
        Err(Failure::DebateNotFound { deleted_at, .. })
            if db.is_unsure() && deleted_at == Some(at) =>
        {
            return Ok(());
        }
        known => known?,
    };
    db.run("update debates set deleted_at = ?2 where key = ?1", values![known.key, at.0])?;
    checksums::keep_debate_deleted(db, known.key, at)?;
    let from = (!known.is_archived).then(|| known.head.state());
    counts::move_debate(db, &known.head.debate_type, from, None)
}

/// Leaves a debate out of lists, or brings it back.
pub(super) fn archive(db: &Db<'_>, debate: DebateId, at: Option<Time>) -> Result<(), Failure> {
    let known = live(db, debate)?;
    if known.is_archived == at.is_some() {
        return Ok(());
    }
    let sql = "update debates set archived_at = ?2 where key = ?1";
    db.run(sql, values![known.key, at.map(|at| at.0)])?;
    let state = Some(known.head.state());
    let (from, to) = if at.is_some() { (state, None) } else { (None, state) };
    counts::move_debate(db, &known.head.debate_type, from, to)
}

fn of_request(
    db: &Db<'_>,
    debate: DebateId,
    request: RequestId,
) -> Result<Option<(Argument, Option<Seq>)>, Failure> {
    let sql = format!(
        "select {ARGUMENT} from arguments
         where debate_key = (select key from debates where id = ?1) and client_request_id = ?2"
    );
    db.optional(&sql, values![debate.uuid(), request.uuid()], |row| {
        Ok((rows::placed_argument(row, debate)?, rows::parked_for(row)?))
    })
}

/// Finds a move's target, and for a RULING also the RULING that settled it: the next one after an
/// argument that asks for one.
fn locate(db: &Db<'_>, known: &DebateRow, kind: Kind, id: ArgumentId) -> Result<Target, Failure> {
    let seq = seq_of_target(db, known.head.id, id)?.ok_or(Failure::ArgumentNotFound { id })?;
    if kind != Kind::Ruling {
        return Ok(Target::at(seq));
    }
    let target = argument_at(db, known, seq)?;
    let asked = target.event.kind().asks_for_ruling() && !target.event.parked();
    let sql = "select seq from arguments
         where debate_key = ?1 and seq > ?2 and type = 'RULING' order by seq limit 1";
    let ruled = db.optional(sql, values![known.key, seq.0], |row| row.get(0).map(Seq))?;
    Ok(Target { seq, ruled: ruled.filter(|_| asked) })
}

/// Writes the debate's row with a new slug, and its count.
pub(super) fn insert_debate(
    db: &Db<'_>,
    head: &DebateHead,
    origin: Option<&DebateOrigin>,
) -> Result<(i64, Slug), Failure> {
    let slug = slugs::free(db, head.title.as_str())?;
    let standing = &head.debate.standing;
    let ledger = head.debate.ledger.as_ref();
    let rules = ledger.map(|ledger| ledger.rules);
    let sql = "insert into debates (id, title, debate_type, resolution_policy, created_at,
             updated_at, state, last_seq, proposer_count, opponent_count,
             proposer_newest, opponent_newest, arbitrator_newest,
             proposer_interrupted, opponent_interrupted,
             points_form, points_rounds, points_blocking,
             points_claims, points_rulings, points_agreed, points_revised,
             slug, project, project_name, branch, commit_id)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
             ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27)
         returning key";
    let row = values![
        head.id.uuid(),
        head.title.as_str(),
        head.debate_type.as_str(),
        head.debate.policy.as_str(),
        head.created_at.0,
        head.updated_at.0,
        standing.state.as_str(),
        standing.last.0,
        standing.count.proposer,
        standing.count.opponent,
        standing.newest.proposer.map(|seq| seq.0),
        standing.newest.opponent.map(|seq| seq.0),
        standing.newest.arbitrator.map(|seq| seq.0),
        standing.interrupted.proposer.map(|seq| seq.0),
        standing.interrupted.opponent.map(|seq| seq.0),
        rules.map(|_| POINTS_FORM),
        rules.map(|rules| u64::from(rules.rounds)),
        rules.map(|rules| rules.blocking.as_str()),
        ledger.map(|ledger| u64::from(ledger.claims)),
        ledger.map(|ledger| u64::from(ledger.rulings)),
        ledger.map(|ledger| ledger.agreed),
        ledger.and_then(|ledger| ledger.revised).map(|seq| seq.0),
        slug.as_str(),
        origin.map(|origin| origin.project.as_str()),
        origin.map(|origin| origin.name.as_str()),
        origin.and_then(|origin| origin.branch.as_deref()),
        origin.and_then(|origin| origin.commit.as_deref()),
    ];
    let key = db.one(sql, row, |row| row.get(0))?;
    counts::move_debate(db, &head.debate_type, None, Some(standing.state))?;
    Ok((key, slug))
}

fn insert_type_texts(db: &Db<'_>, key: i64, texts: &TypeTexts) -> Result<(), Failure> {
    let sql =
        "insert into type_texts (debate_key, title, description, proposer, opponent, arbitrator)
         values (?1, ?2, ?3, ?4, ?5, ?6)";
    let row = values![
        key,
        texts.title.as_str(),
        texts.description.as_str(),
        texts.rules.proposer.as_str(),
        texts.rules.opponent.as_str(),
        texts.rules.arbitrator.as_str(),
    ];
    db.run(sql, row)
}

fn update_standing(db: &Db<'_>, known: &DebateRow) -> Result<(), Failure> {
    let Debate { standing, ledger, .. } = &known.head.debate;
    let ledger = ledger.as_ref();
    let held = ledger.and_then(|ledger| ledger.held);
    let sql = "update debates set state = ?2, last_seq = ?3, updated_at = ?4, archived_at = null,
             proposer_count = ?5, opponent_count = ?6,
             proposer_newest = ?7, opponent_newest = ?8, arbitrator_newest = ?9,
             proposer_interrupted = ?10, opponent_interrupted = ?11,
             points_claims = ?12, points_rulings = ?13, points_agreed = ?14,
             points_revised = ?15, points_held_seq = ?16, points_held = ?17
         where key = ?1";
    let row = values![
        known.key,
        standing.state.as_str(),
        standing.last.0,
        known.head.updated_at.0,
        standing.count.proposer,
        standing.count.opponent,
        standing.newest.proposer.map(|seq| seq.0),
        standing.newest.opponent.map(|seq| seq.0),
        standing.newest.arbitrator.map(|seq| seq.0),
        standing.interrupted.proposer.map(|seq| seq.0),
        standing.interrupted.opponent.map(|seq| seq.0),
        ledger.map(|ledger| u64::from(ledger.claims)),
        ledger.map(|ledger| u64::from(ledger.rulings)),
        ledger.map(|ledger| ledger.agreed),
        ledger.and_then(|ledger| ledger.revised).map(|seq| seq.0),
        held.map(|(seq, _)| seq.0),
        held.map(|(_, why)| why.as_str()),
    ];
    db.run(sql, row)
}

/// Adds an argument, chained to its predecessor, with its citations. `standing` already includes it.
pub(super) fn append(
    db: &Db<'_>,
    key: i64,
    mut argument: Argument,
    parked_for: Option<Seq>,
    standing: &Standing,
    previous: Hash,
    known: KnownVersions,
) -> Result<Argument, Failure> {
    argument.hash = chain::link(previous, &argument);
    let event = argument.event;
    let sql = "insert into arguments (debate_key, seq, id, parent_id, type, role, parked_for,
             close, automatic, via, author, client_request_id, created_at,
             proposer_count, opponent_count, previous_hash, hash, content, seat)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13,
             ?14, ?15, ?16, ?17, ?18, ?19)";
    let row = values![
        key,
        argument.seq.0,
        argument.id.uuid(),
        argument.parent.map(ArgumentId::uuid),
        event.kind().as_str(),
        event.role().as_str(),
        parked_for.map(|seq| seq.0),
        event.close(),
        event.automatic(),
        argument.via.as_str(),
        argument.author.as_ref().map(Author::as_str),
        argument.request.uuid(),
        argument.at.0,
        standing.count.proposer,
        standing.count.opponent,
        previous.0,
        argument.hash.0,
        argument.content.as_str(),
        argument.seat.as_ref().map(SeatName::as_str),
    ];
    db.run(sql, row)?;
    cite(db, key, &argument, known)?;
    Ok(argument)
}

/// Which version of a document a citation without a version means.
#[derive(Debug, Clone, Copy)]
pub(super) enum KnownVersions {
    /// The newest.
    Now,
    /// The newest when the argument was written, for imported arguments.
    Then,
}

/// The versions that a text which is written now would cite, in its order.
fn cites(db: &Db<'_>, new: &NewArgument) -> Result<Vec<(DocumentId, u64)>, Failure> {
    let cited = cited_versions(db, new.content.as_str(), new.at, KnownVersions::Now)?;
    Ok(cited.into_iter().map(|cited| (cited.document, cited.version)).collect())
}

/// A document version that a text cites.
struct CitedVersion {
    key: i64,
    document: DocumentId,
    version: u64,
}

fn cited_versions(
    db: &Db<'_>,
    text: &str,
    at: Time,
    known: KnownVersions,
) -> Result<Vec<CitedVersion>, Failure> {
    let mut cited = Vec::new();
    for mention in mentions(text) {
        let sql = "select key, version, (
                 select v.version from document_versions v
                 where v.document_key = documents.key and v.created_at <= ?2
                 order by v.version desc limit 1
             )
             from documents where id = ?1 and exists (
                 select 1 from document_versions as v where v.document_key = documents.key)";
        let document = db.optional(sql, values![mention.document.uuid(), at.0], |row| {
            Ok((row.get::<i64>(0)?, row.get::<u64>(1)?, row.get::<Option<u64>>(2)?))
        })?;
        let Some((key, newest, newest_by_then)) = document else { continue };
        let named = mention.version.filter(|version| *version <= newest);
        let meant = match known {
            KnownVersions::Now => newest,
            KnownVersions::Then => newest_by_then.unwrap_or(newest),
        };
        let version = named.unwrap_or(meant);
        cited.push(CitedVersion { key, document: mention.document, version });
    }
    Ok(cited)
}

/// Writes the citations of an argument.
fn cite(db: &Db<'_>, key: i64, argument: &Argument, known: KnownVersions) -> Result<(), Failure> {
    let cited = cited_versions(db, argument.content.as_str(), argument.at, known)?;
    for CitedVersion { key: document, version, .. } in &cited {
        let citation = values![key, argument.seq.0, *document, *version];
        let sql = "insert into citations (debate_key, seq, document_key, version)
             values (?1, ?2, ?3, ?4)";
        db.run(sql, citation)?;
        let sql = "insert into debate_documents (debate_key, seq, document_key, version)
             values (?1, ?2, ?3, ?4)
             on conflict (debate_key, document_key)
             do update set version = excluded.version, seq = excluded.seq";
        db.run(sql, citation)?;
    }
    if cited.is_empty() {
        return Ok(());
    }
    let cited = cited.iter().map(|cited| (cited.document, cited.version)).collect();
    checksums::keep_cited(db, key, argument.seq, argument.hash, cited)
}
