//! Reads rows into the core's types.

use std::error::Error;
use std::ops::ControlFlow;
use std::str::FromStr;

use aw_core::{
    Argument, Author, ByRole, Content, Debate, DebateId, DebateOrigin, DebateType, Event, Hash,
    Kind, Outcome, ProjectId, Role, SeatName, Seq, Slug, Standing, Time, Title,
};
use uuid::Uuid;

use super::db::{Db, Row, Value, values};
use super::points;
use crate::{Damage, DebateHead, Failure, LastArgument};

/// A debate's row.
#[derive(Debug)]
pub(super) struct DebateRow {
    pub(super) key: i64,
    pub(super) head: DebateHead,
    pub(super) deleted_at: Option<Time>,
    pub(super) is_archived: bool,
}

/// The names of a debate, and where it was opened.
#[derive(Debug)]
pub(super) struct DebateNames {
    pub(super) slug: Option<Slug>,
    pub(super) origin: Option<Box<DebateOrigin>>,
    pub(super) archived_at: Option<Time>,
}

/// The columns that [`debate_row`] reads.
pub(super) const HEAD: &str = "debates.key, debates.id, title, debate_type, resolution_policy, \
     state, last_seq, debates.proposer_count, debates.opponent_count, \
     proposer_newest, opponent_newest, arbitrator_newest, \
     proposer_interrupted, opponent_interrupted, \
     debates.created_at, debates.updated_at, deleted_at, \
     points_form, points_rounds, points_blocking, points_claims, points_rulings, points_agreed, \
     points_revised, points_held_seq, points_held, \
     case when state = 'CLOSED' then (
         select newest.automatic from arguments as newest
         where newest.debate_key = debates.key and newest.seq = debates.last_seq
     ) end, \
     case when state = 'CLOSED' and points_form is not null then exists (
         select 1 from points as open where open.debate_key = debates.key and open.blocks
     ) end, archived_at is not null";

/// How many columns [`HEAD`] has.
pub(super) const HEAD_COLUMNS: usize = 29;

/// The columns of [`HEAD`] for the settings and counts of points.
const POINTS: usize = 17;

/// The column of [`HEAD`] for whether the server closed the debate; the next one says whether a point
/// blocks.
const CLOSED_BY_SERVER: usize = 26;

/// Reads a debate's row, without its points.
pub(super) fn debate_row(row: &Row<'_>) -> Result<DebateRow, Failure> {
    let seq = |column| row.get::<Option<u64>>(column).map(|seq| seq.map(Seq));
    let last = Seq(row.get(6)?);
    let (proposer, opponent): (u64, u64) = (row.get(7)?, row.get(8)?);
    let others = proposer.checked_add(opponent).and_then(|others| last.0.checked_sub(others));
    let arbitrator =
        others.ok_or_else(|| Damage::new("its counts are greater than its number of arguments"))?;
    let standing = Standing {
        state: word(row, 5)?,
        last,
        count: ByRole { proposer, opponent, arbitrator },
        newest: ByRole { proposer: seq(9)?, opponent: seq(10)?, arbitrator: seq(11)? },
        interrupted: ByRole { proposer: seq(12)?, opponent: seq(13)?, arbitrator: None },
    };
    Ok(DebateRow {
        key: row.get(0)?,
        head: DebateHead {
            id: row.get::<Uuid>(1)?.into(),
            title: Title::recorded(row.get(2)?),
            debate_type: DebateType::recorded(row.get(3)?),
            debate: Debate {
                policy: word(row, 4)?,
                standing,
                ledger: points::settings(row, POINTS)?,
            },
            created_at: Time(row.get(14)?),
            updated_at: Time(row.get(15)?),
            outcome: Outcome::of(
                standing.state,
                row.get::<Option<bool>>(CLOSED_BY_SERVER)?.unwrap_or(false),
                row.get(CLOSED_BY_SERVER + 1)?,
            ),
        },
        deleted_at: row.get::<Option<i64>>(16)?.map(Time),
        is_archived: row.get(HEAD_COLUMNS - 1)?,
    })
}

/// The columns that [`argument`] reads.
pub(super) const ARGUMENT: &str = "seq, id, parent_id, type, role, parked_for, close, automatic, \
     via, author, client_request_id, created_at, hash, content, seat";

/// How many columns [`ARGUMENT`] has.
pub(super) const ARGUMENT_COLUMNS: usize = 15;

/// The columns of [`ARGUMENT`] for the verdict and for an automatic RULING.
pub(super) const CLOSE: usize = 6;
pub(super) const AUTOMATIC: usize = 7;

pub(super) fn argument(row: &Row<'_>, debate: DebateId) -> Result<Argument, Failure> {
    let kind: Kind = word(row, 3)?;
    let role: Role = word(row, 4)?;
    let parked = parked_for(row)?.is_some();
    let event = Event::recorded(kind, role, parked, row.get(CLOSE)?, row.get(AUTOMATIC)?);
    let event = event.ok_or_else(|| {
        Damage::new(format!("{role} {kind} is not an argument that the rules know"))
    })?;
    Ok(Argument {
        id: row.get::<Uuid>(1)?.into(),
        debate,
        seq: Seq(row.get(0)?),
        parent: row.get::<Option<Uuid>>(2)?.map(Into::into),
        event,
        content: Content::recorded(row.get(13)?),
        author: row.get::<Option<String>>(9)?.map(Author::recorded),
        request: row.get::<Uuid>(10)?.into(),
        via: word(row, 8)?,
        seat: row.get::<Option<String>>(14)?.map(SeatName::recorded),
        at: Time(row.get(11)?),
        hash: Hash(row.get(12)?),
    })
}

/// The same; a report of damage names the argument.
pub(super) fn placed_argument(row: &Row<'_>, debate: DebateId) -> Result<Argument, Failure> {
    argument(row, debate).map_err(|error| {
        let failure = match row.get(0).map(Seq) {
            Ok(seq) => at_seq(seq)(error),
            Err(error) => error,
        };
        failure.placed(|damage| damage.of_debate(debate))
    })
}

/// The INTERVENTION that parked an argument.
pub(super) fn parked_for(row: &Row<'_>) -> Result<Option<Seq>, Failure> {
    row.get::<Option<u64>>(5).map(|seq| seq.map(Seq))
}

pub(super) fn arguments(
    db: &Db<'_>,
    debate: DebateId,
    sql: &str,
    values: &[Value<'_>],
) -> Result<Vec<Argument>, Failure> {
    db.all(sql, values, |row| placed_argument(row, debate))
}

/// The approximate size of an argument without its text.
const BESIDES: usize = 512;

/// Reads arguments until `room` is used up; the one that fills it is the last.
pub(super) fn arguments_within(
    db: &Db<'_>,
    debate: DebateId,
    sql: &str,
    values: &[Value<'_>],
    room: &mut usize,
) -> Result<Vec<Argument>, Failure> {
    let mut read = Vec::new();
    db.each(sql, values, |row| {
        let argument = placed_argument(row, debate)?;
        *room = room.saturating_sub(argument.content.as_str().len() + BESIDES);
        read.push(argument);
        Ok(if *room == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    Ok(read)
}

/// How many columns [`LAST`] has.
pub(super) const LAST_COLUMNS: usize = 7;

/// The columns that [`names`] reads.
pub(super) const NAMES: &str = "slug, project, project_name, branch, commit_id, archived_at";

/// How many columns [`NAMES`] has.
pub(super) const NAMES_COLUMNS: usize = 6;

/// Reads [`NAMES`] from this column on: the slug of a debate, and where it was opened.
pub(super) fn names(row: &Row<'_>, first: usize) -> Result<DebateNames, Failure> {
    let slug = row.get::<Option<String>>(first)?.map(Slug::recorded);
    let origin = match row.get::<Option<String>>(first + 1)? {
        Some(project) => Some(Box::new(DebateOrigin {
            project: ProjectId::recorded(project),
            name: row.get::<Option<String>>(first + 2)?.unwrap_or_default(),
            branch: row.get(first + 3)?,
            commit: row.get(first + 4)?,
        })),
        None => None,
    };
    let archived_at = row.get::<Option<i64>>(first + 5)?.map(Time);
    Ok(DebateNames { slug, origin, archived_at })
}

/// The columns that [`last`] reads.
pub(super) const LAST: &str =
    "arguments.id, seq, role, type, parked_for, author, arguments.created_at";

/// Reads [`LAST`] from this column on.
pub(super) fn last(row: &Row<'_>, first: usize) -> Result<LastArgument, Failure> {
    Ok(LastArgument {
        id: row.get::<Uuid>(first)?.into(),
        seq: Seq(row.get(first + 1)?),
        role: word(row, first + 2)?,
        kind: word(row, first + 3)?,
        parked: row.get::<Option<u64>>(first + 4)?.is_some(),
        author: row.get::<Option<String>>(first + 5)?.map(Author::recorded),
        at: Time(row.get(first + 6)?),
    })
}

pub(super) fn last_argument(db: &Db<'_>, key: i64, seq: Seq) -> Result<LastArgument, Failure> {
    let sql = format!("select {LAST} from arguments where debate_key = ?1 and seq = ?2");
    db.one(&sql, values![key, seq.0], |row| last(row, 0)).map_err(at_seq(seq))
}

/// Adds the debate to a report of damage, from a row that begins like [`HEAD`].
pub(super) fn in_debate(row: &Row<'_>, failure: Failure) -> Failure {
    failure.placed(|damage| match row.get::<Uuid>(1) {
        Ok(debate) => damage.of_debate(debate.into()),
        Err(_) => damage,
    })
}

/// Adds the argument to a report of damage.
pub(super) fn at_seq(seq: Seq) -> impl FnOnce(Failure) -> Failure {
    move |failure| failure.placed(|damage| damage.at_seq(seq))
}

/// Parses one of the protocol's words.
pub(super) fn word<T>(row: &Row<'_>, column: usize) -> Result<T, Failure>
where
    T: FromStr<Err: Error>,
{
    let text = row.text(column)?;
    text.parse().map_err(|error| Damage::new(format!("{text:?}: {error}")).into())
}
