//! Writes into debates: the statements of a move.

use aw_core::{
    Argument, ArgumentId, Author, Content, Debate, DebateId, DebateType, Entry, Event, Hash, Kind,
    Move, Refusal, RequestId, Role, SeatName, Seq, Standing, Target, Time, Title, Via, mentions,
};

use super::db::{Db, values};
use super::find::{argument_at, find, hash_at, id_at, live, seq_of};
use super::rows::{self, ARGUMENT, DebateRow};
use super::search::SearchIndex;
use super::{checksums, counts, damaged, in_order};
use crate::{DebateHead, Failure, TypeTexts, chain};

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
    pub(crate) motion: NewArgument,
}

/// A move to make.
#[derive(Debug, Clone)]
pub(crate) struct NewMove {
    pub(crate) debate: DebateId,
    pub(crate) role: Role,
    pub(crate) play: Move<ArgumentId>,
    pub(crate) argument: NewArgument,
    /// The text of the automatic RULING, if the decision adds one.
    pub(crate) automatic: NewArgument,
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
}

pub(super) fn open(db: &Db<'_>, new: &NewDebate, most: u64) -> Result<WriteOutcome, Failure> {
    if let Some(known) = find(db, new.id)? {
        return replay_opening(db, new, known);
    }
    if counts::debates(db)? >= most {
        return Err(Failure::NoRoom(format!("the server's limit on debates is reached: {most}")));
    }
    let motion = &new.motion;
    let head = DebateHead {
        id: new.id,
        title: new.title.clone(),
        debate_type: new.debate_type.clone(),
        debate: new.debate,
        created_at: motion.at,
        updated_at: motion.at,
    };
    let key = insert_debate(db, &head)?;
    if let Some(texts) = &new.texts {
        insert_type_texts(db, key, texts)?;
    }
    let argument = motion.clone().placed(new.id, Seq::FIRST, Event::Motion, None, motion.at);
    let argument =
        append(db, key, argument, None, &new.debate.standing, Hash::NONE, KnownVersions::Now)?;
    checksums::keep_debate(db, key)?;
    Ok(WriteOutcome { head, argument, replayed: false, missed: Vec::new(), parked_for: None })
}

fn replay_opening(db: &Db<'_>, new: &NewDebate, known: DebateRow) -> Result<WriteOutcome, Failure> {
    let motion = argument_at(db, &known, Seq::FIRST)?;
    let motion_id = motion.id;
    if known.deleted_at.is_some() || motion.request != new.motion.request {
        return Err(Failure::DebateIdTaken { id: new.id });
    }
    let same = known.head.title == new.title
        && known.head.debate_type == new.debate_type
        && known.head.debate.policy == new.debate.policy
        && motion.content == new.motion.content;
    if !same {
        return Err(Failure::RequestIdReused);
    }
    let (head, argument, replayed) = (known.head, motion, motion_id != new.motion.id);
    Ok(WriteOutcome { head, argument, replayed, missed: Vec::new(), parked_for: None })
}

/// The order of the checks is the protocol's: debate, replay, target, state.
pub(super) fn play(
    db: &Db<'_>,
    new: &NewMove,
    rule: impl Fn(&Debate, Move<Target>) -> Result<Vec<Entry>, Refusal>,
) -> Result<WriteOutcome, Failure> {
    let mut known = live(db, new.debate)?;
    if let Some(written) = of_request(db, &known, new.argument.request)? {
        return replay(db, known, written, new);
    }
    let play = new.play.locate(|id| locate(db, &known, new.play.kind(), id))?;
    let entries = match rule(&known.head.debate, play) {
        Ok(entries) => entries,
        Err(refusal) => {
            let last = rows::last_argument(db, known.key, known.head.debate.standing.last)?;
            return Err(Failure::Refused { debate: new.debate, role: new.role, refusal, last });
        }
    };

    let before = known.head.debate.standing;
    let asked = play.target().map(|target| target.seq);
    // The argument that is answered; for a RULING without a target, the pending one.
    let target = entries.first().and_then(|entry| entry.parent);
    let mut previous = hash_at(db, known.key, before.last)?;
    let mut written = None;
    known.head.updated_at = new.argument.at.max(known.head.updated_at);
    for entry in entries {
        let event = entry.event;
        known.head.debate.standing.apply(event);
        let parent = match entry.parent {
            Some(seq) if Some(seq) == asked => new.play.target().copied(),
            Some(seq) => Some(id_at(db, known.key, seq)?),
            None => None,
        };
        let standing = &known.head.debate.standing;
        let parked_for = before.interrupted.get(event.role()).filter(|_| event.parked());
        let text = if event.automatic() { &new.automatic } else { &new.argument };
        let argument =
            text.clone().placed(new.debate, standing.last, event, parent, known.head.updated_at);
        let argument =
            append(db, known.key, argument, parked_for, standing, previous, KnownVersions::Now)?;
        previous = argument.hash;
        if written.is_none() {
            written = Some((argument, parked_for));
        }
    }
    update_standing(db, &known)?;
    counts::move_debate(db, &known.head.debate_type, Some(before.state), Some(known.head.state()))?;

    let (argument, parked_for) = written.ok_or_else(|| damaged("a decision has no entries"))?;
    let missed = missed(db, &known, &argument, target)?;
    let parked_for = parked_for.map(|seq| id_at(db, known.key, seq)).transpose()?;
    Ok(WriteOutcome { head: known.head, argument, replayed: false, missed, parked_for })
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
    let missed = missed(db, &known, &argument, target)?;
    let parked_for = parked_for.map(|seq| id_at(db, known.key, seq)).transpose()?;
    // The same argument id means the same attempt, whose commit succeeded but whose answer was lost.
    let replayed = argument.id != new.argument.id;
    Ok(WriteOutcome { head: known.head, argument, replayed, missed, parked_for })
}

/// The arguments of others between the target and this one.
fn missed(
    db: &Db<'_>,
    known: &DebateRow,
    argument: &Argument,
    target: Option<Seq>,
) -> Result<Vec<Argument>, Failure> {
    let Some(target) = target.filter(|target| target.next() < argument.seq) else {
        return Ok(Vec::new());
    };
    let sql = format!(
        "select {ARGUMENT} from arguments
         where debate_key = ?1 and seq > ?2 and seq < ?3 and role <> ?4
         order by seq desc limit ?5"
    );
    let role = argument.event.role();
    let range = values![known.key, target.0, argument.seq.0, role.as_str(), MISSED_SHOWN];
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
    db.run("delete from debate_titles where rowid = ?1", values![known.key])?;
    counts::move_debate(db, &known.head.debate_type, Some(known.head.state()), None)
}

fn of_request(
    db: &Db<'_>,
    known: &DebateRow,
    request: RequestId,
) -> Result<Option<(Argument, Option<Seq>)>, Failure> {
    let sql = format!(
        "select {ARGUMENT} from arguments where debate_key = ?1 and client_request_id = ?2"
    );
    db.optional(&sql, values![known.key, request.uuid()], |row| {
        Ok((rows::placed_argument(row, known.head.id)?, rows::parked_for(row)?))
    })
}

/// Finds a move's target, and for a RULING also the RULING that settled it: the next one after an
/// argument that asks for one.
fn locate(db: &Db<'_>, known: &DebateRow, kind: Kind, id: ArgumentId) -> Result<Target, Failure> {
    let seq = seq_of(db, known, id)?.ok_or(Failure::ArgumentNotFound { id })?;
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

/// Writes the debate's row, its search text and its count.
pub(super) fn insert_debate(db: &Db<'_>, head: &DebateHead) -> Result<i64, Failure> {
    let standing = &head.debate.standing;
    let sql = "insert into debates (id, title, debate_type, resolution_policy, created_at,
             updated_at, state, last_seq, proposer_count, opponent_count,
             proposer_newest, opponent_newest, arbitrator_newest,
             proposer_interrupted, opponent_interrupted)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
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
    ];
    let key = db.one(sql, row, |row| row.get(0))?;
    SearchIndex::Titles.keep(db, key, head.title.as_str())?;
    counts::move_debate(db, &head.debate_type, None, Some(standing.state))?;
    Ok(key)
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
    let standing = &known.head.debate.standing;
    let sql = "update debates set state = ?2, last_seq = ?3, updated_at = ?4,
             proposer_count = ?5, opponent_count = ?6,
             proposer_newest = ?7, opponent_newest = ?8, arbitrator_newest = ?9,
             proposer_interrupted = ?10, opponent_interrupted = ?11
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

/// Writes the citations of an argument.
fn cite(db: &Db<'_>, key: i64, argument: &Argument, known: KnownVersions) -> Result<(), Failure> {
    let mut cites = false;
    for mention in mentions(argument.content.as_str()) {
        let sql = "select key, version, (
                 select v.version from document_versions v
                 where v.document_key = documents.key and v.created_at <= ?2
                 order by v.version desc limit 1
             )
             from documents where id = ?1";
        let document =
            db.optional(sql, values![mention.document.uuid(), argument.at.0], |row| {
                Ok((row.get::<i64>(0)?, row.get::<u64>(1)?, row.get::<Option<u64>>(2)?))
            })?;
        let Some((document, newest, newest_by_then)) = document else { continue };
        let named = mention.version.filter(|version| *version <= newest);
        let meant = match known {
            KnownVersions::Now => newest,
            KnownVersions::Then => newest_by_then.unwrap_or(newest),
        };
        let version = named.unwrap_or(meant);
        let citation = values![key, argument.seq.0, document, version];
        let sql = "insert into citations (debate_key, seq, document_key, version)
             values (?1, ?2, ?3, ?4)";
        db.run(sql, citation)?;
        let sql = "insert into debate_documents (debate_key, seq, document_key, version)
             values (?1, ?2, ?3, ?4)
             on conflict (debate_key, document_key) do update set version = ?4, seq = ?2";
        db.run(sql, citation)?;
        cites = true;
    }
    if cites { checksums::keep_citations(db, key, argument.seq) } else { Ok(()) }
}
