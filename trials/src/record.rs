//! Checks a database file with SQL of its own.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use aw_core::{ByRole, Event, Seq, Standing, State};
use rusqlite::{Connection, OpenFlags, Row};

use crate::talk::RecordedArgument;

/// Reads every argument. Panics if the file is damaged, a position is missing or doubled, a hash does
/// not link, or a cached value does not follow from the arguments.
pub fn sound(path: &Path) -> Vec<RecordedArgument> {
    let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
    let verdict: String = db.query_row("pragma integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
    let mut broken = db.prepare("pragma foreign_key_check").unwrap();
    assert!(!broken.exists([]).unwrap(), "a row refers to a missing row");

    let mut kept = Vec::new();
    let mut counts: BTreeMap<String, [i64; 5]> = BTreeMap::new();
    let mut debates = db
        .prepare(
            "select key, lower(hex(id)), debate_type, deleted_at is null, state, last_seq,
                 proposer_count, opponent_count, proposer_newest, opponent_newest,
                 arbitrator_newest, proposer_interrupted, opponent_interrupted,
                 created_at, updated_at
             from debates",
        )
        .unwrap();
    let mut rows = debates.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let (key, id): (i64, String) = (row.get(0).unwrap(), row.get(1).unwrap());
        let (arguments, events, times) = chained(&db, key, &id);
        let cached = standing(row);
        assert_eq!(
            Standing::fold(events),
            Some(cached),
            "{id}: the cached standing differs from the fold"
        );
        let (created, updated): (i64, i64) = (row.get(13).unwrap(), row.get(14).unwrap());
        assert_eq!((times.first(), times.last()), (Some(&created), Some(&updated)), "{id}");
        assert!(times.is_sorted(), "{id}: time ran backwards");
        kept.extend(arguments);

        if row.get(3).unwrap() {
            let column = State::ALL.iter().position(|state| *state == cached.state).unwrap();
            for kind in [String::new(), row.get(2).unwrap()] {
                counts.entry(kind).or_default()[column] += 1;
            }
        }
    }
    let cached: BTreeMap<String, [i64; 5]> = db
        .prepare(
            "select debate_type, awaiting_opponent, awaiting_proposer, awaiting_arbitrator,
                 intervention_pending, closed
             from debate_counts",
        )
        .unwrap()
        .query_map([], |row| {
            let mut count = [0; 5];
            for (column, count) in count.iter_mut().enumerate() {
                *count = row.get(column + 1)?;
            }
            Ok((row.get(0)?, count))
        })
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(cached, counts, "the counts differ from a recount");

    let ids: HashSet<_> = kept.iter().map(|argument| &argument.id).collect();
    assert_eq!(ids.len(), kept.len());
    kept
}

/// The arguments of one debate in order, with their events and times.
fn chained(
    db: &Connection,
    key: i64,
    debate: &str,
) -> (Vec<RecordedArgument>, Vec<Event>, Vec<i64>) {
    let mut arguments = db
        .prepare_cached(
            "select seq, lower(hex(id)), content, type, role, parked_for is not null, close,
                 automatic, previous_hash, hash, created_at
             from arguments where debate_key = ?1 order by seq",
        )
        .unwrap();
    let (mut kept, mut events, mut times) = (Vec::new(), Vec::new(), Vec::new());
    let mut previous = vec![0; 32];
    let mut rows = arguments.query([key]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let seq: u64 = row.get(0).unwrap();
        assert_eq!(seq, kept.len() as u64 + 1, "{debate}: a position is missing or doubled");
        assert_eq!(row.get::<_, Vec<u8>>(8).unwrap(), previous, "{debate}: {seq} does not link");
        previous = row.get(9).unwrap();
        let word = |column| row.get::<_, String>(column).unwrap();
        let event = Event::recorded(
            word(3).parse().unwrap(),
            word(4).parse().unwrap(),
            row.get(5).unwrap(),
            row.get(6).unwrap(),
            row.get(7).unwrap(),
        );
        events.push(event.unwrap_or_else(|| panic!("{debate}: {seq} is no event")));
        times.push(row.get(10).unwrap());
        kept.push(RecordedArgument {
            debate: uuid(debate),
            seq,
            id: uuid(&word(1)),
            content: word(2),
        });
    }
    (kept, events, times)
}

fn standing(row: &Row<'_>) -> Standing {
    let seq = |column| row.get::<_, Option<u64>>(column).unwrap().map(Seq);
    let last: u64 = row.get(5).unwrap();
    let (proposer, opponent): (u64, u64) = (row.get(6).unwrap(), row.get(7).unwrap());
    Standing {
        state: row.get::<_, String>(4).unwrap().parse().unwrap(),
        last: Seq(last),
        count: ByRole { proposer, opponent, arbitrator: last - proposer - opponent },
        newest: ByRole { proposer: seq(8), opponent: seq(9), arbitrator: seq(10) },
        interrupted: ByRole { proposer: seq(11), opponent: seq(12), arbitrator: None },
    }
}

fn uuid(hex: &str) -> String {
    uuid::Uuid::parse_str(hex).unwrap().to_string()
}
