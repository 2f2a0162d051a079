//! Reads the debates of the older system.

use std::collections::{BTreeMap, BTreeSet};

use aw_core::{
    AUTOMATIC_RULING, Argument, ArgumentId, Content, Debate, DebateId, DebateType, Event, Hash,
    Kind, Outcome, RequestId, ResolutionPolicy, Role, Seq, Standing, State, Time, Title, Via,
};
use rusqlite::{Connection, Row};
use uuid::Uuid;

use super::{field, not_read, parsed, request_id, time};
use crate::store::db::{Db, values};
use crate::store::{checksums, debates};
use crate::{DebateHead, Failure};

/// A debate that was read and checked.
pub(super) struct OldDebate {
    head: DebateHead,
    /// Each argument with the standing after it.
    arguments: Vec<(Argument, Standing)>,
    /// Its old id, if that was not a UUID.
    former_id: Option<String>,
}

impl OldDebate {
    pub(super) fn write(&self, db: &Db<'_>) -> Result<(), Failure> {
        let (key, _) = debates::insert_debate(db, &self.head, None)?;
        if let Some(id) = &self.former_id {
            let sql = "insert into former_ids (debate_key, id) values (?1, ?2)";
            db.run(sql, values![key, id.as_str()])?;
        }
        let mut previous = Hash::NONE;
        for (argument, standing) in &self.arguments {
            previous = debates::append(
                db,
                key,
                argument.clone(),
                None,
                standing,
                previous,
                debates::KnownVersions::Then,
            )?
            .hash;
        }
        checksums::keep_debate(db, key)?;
        checksums::keep_names(db, key)
    }
}

/// The new id of a debate, and its old id if that was not a UUID or only differs in case from that of
/// another debate.
fn named(text: String, taken: &mut BTreeSet<DebateId>) -> (DebateId, Option<String>) {
    if let Ok(id) = text.parse()
        && taken.insert(id)
    {
        return (id, None);
    }
    (DebateId::of_former_id(&text), Some(text))
}

/// Reads all debates and collects the problems.
pub(super) fn read(
    db: &Connection,
    problems: &mut Vec<String>,
) -> rusqlite::Result<Vec<OldDebate>> {
    let mut rows = db.prepare(
        "select debate_id, seq, id, parent_id, type, role, content, client_request_id, created_at
         from arguments order by debate_id, seq",
    )?;
    let mut arguments: BTreeMap<String, Vec<OldArgument>> = BTreeMap::new();
    let mut rows = rows.query([])?;
    while let Some(row) = rows.next()? {
        let read = OldArgument::read(row);
        match read {
            Ok((debate, argument)) => arguments.entry(debate).or_default().push(argument),
            Err(problem) => problems.push(problem),
        }
    }
    let mut debates = Vec::new();
    let mut taken = BTreeSet::new();
    let mut heads = db.prepare(
        "select id, title, debate_type, state, created_at, updated_at from debates order by created_at, id",
    )?;
    let mut heads = heads.query([])?;
    while let Some(row) = heads.next()? {
        let id: String =
            row.get(0).unwrap_or_else(|_| "a debate whose id is not a text".to_owned());
        let own = arguments.remove(&id).unwrap_or_default();
        match read_debate(row, own, &mut taken) {
            Ok(debate) => debates.push(debate),
            Err(problem) => problems.push(format!("debate {id}: {problem}")),
        }
    }
    problems.extend(
        arguments.keys().map(|id| format!("arguments of a debate that does not exist: {id}")),
    );
    Ok(debates)
}

struct OldArgument {
    seq: u64,
    id: Uuid,
    parent: Option<Uuid>,
    kind: Kind,
    role: Role,
    content: String,
    request: RequestId,
    at: Time,
}

impl OldArgument {
    /// Reads an argument and the old id of its debate.
    fn read(row: &Row<'_>) -> Result<(String, Self), String> {
        let debate: String = field(row, "debate_id")?;
        let named = |problem: String| {
            let seq = row.get::<_, i64>("seq").map_or("?".to_owned(), |seq| seq.to_string());
            format!("debate {debate}, argument {seq}: {problem}")
        };
        let read = || -> Result<Self, String> {
            let id: Uuid = parsed(row, "id")?;
            let request: Option<String> = field(row, "client_request_id")?;
            Ok(OldArgument {
                seq: field(row, "seq")?,
                id,
                parent: match field::<Option<String>>(row, "parent_id")? {
                    Some(parent) => {
                        Some(parent.parse().map_err(|_| not_read("parent_id", &parent))?)
                    }
                    None => None,
                },
                kind: parsed(row, "type")?,
                role: parsed(row, "role")?,
                content: field(row, "content")?,
                request: request_id(request.as_deref(), id),
                at: time(row, "created_at")?,
            })
        };
        let argument = read().map_err(named)?;
        Ok((debate, argument))
    }
}

fn read_debate(
    row: &Row<'_>,
    own: Vec<OldArgument>,
    taken: &mut BTreeSet<DebateId>,
) -> Result<OldDebate, String> {
    let (id, former_id) = named(field(row, "id")?, taken);
    let state: State = parsed(row, "state")?;
    let mut arguments: Vec<(Argument, Standing)> = Vec::with_capacity(own.len());
    let mut earlier: BTreeSet<ArgumentId> = BTreeSet::new();
    let count = own.len() as u64;
    for (seq, old) in (1..).zip(own) {
        if old.seq != seq {
            return Err(format!("argument {seq} is missing, {} comes next", old.seq));
        }
        // Such a record would not pass verification.
        let parent: Option<ArgumentId> = old.parent.map(Into::into);
        if parent.is_some_and(|parent| !earlier.contains(&parent)) {
            return Err(format!("argument {seq} does not answer an earlier one of its debate"));
        }
        earlier.insert(old.id.into());
        let previous = arguments.last().map(|(argument, standing)| (argument, *standing));
        // The older system did not record whether a RULING closed the debate or was automatic.
        let closes = old.kind == Kind::Ruling && seq == count && state == State::Closed;
        let close = (old.kind == Kind::Ruling).then_some(closes);
        let automatic = closes
            && old.content == AUTOMATIC_RULING
            && previous.is_some_and(|(before, _)| before.event.kind() == Kind::Resolution);
        let event = Event::recorded(old.kind, old.role, false, close, automatic)
            .filter(|event| (*event == Event::Motion) == (seq == 1))
            .ok_or_else(|| format!("argument {seq} is a {} of the {}", old.kind, old.role))?;
        let standing = match previous {
            Some((_, mut standing)) => {
                standing.apply(event);
                standing
            }
            None => Standing::opened(),
        };
        let not_before = previous.map_or(old.at, |(before, _)| before.at);
        let argument = Argument {
            id: old.id.into(),
            debate: id,
            seq: Seq(seq),
            parent,
            event,
            content: Content::recorded(old.content),
            author: None,
            request: old.request,
            via: Via::Api,
            seat: None,
            at: old.at.max(not_before),
            hash: Hash::NONE,
        };
        arguments.push((argument, standing));
    }
    let Some((last, standing)) = arguments.last() else {
        return Err("it has no MOTION".to_owned());
    };
    if standing.state != state {
        return Err(format!("its state is {state}, but its arguments lead to {}", standing.state));
    }
    let updated_at = time(row, "updated_at")?.max(last.at);
    let head = DebateHead {
        id,
        title: Title::recorded(field(row, "title")?),
        debate_type: DebateType::recorded(field(row, "debate_type")?),
        debate: Debate { policy: ResolutionPolicy::Auto, standing: *standing, ledger: None },
        created_at: time(row, "created_at")?,
        updated_at,
        // Only the written columns count: reading it works the outcome out.
        outcome: Outcome::Open,
    };
    Ok(OldDebate { head, arguments, former_id })
}
