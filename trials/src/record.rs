//! Checks a database file with SQL of its own.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use aw_core::{
    ByRole, Debate, Entry, Event, Kind, Ledger, Library, Normal, Point, PointRules, PointState,
    Quote, QuotePlace, ResolutionPolicy, Said, Seq, Source, Standing, State, statements,
};
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
        check_points(&db, key, &arguments, &events);
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

/// Works the points of a debate out again from its texts, and compares them with the rows. For debates
/// that quote arguments, not documents.
fn check_points(db: &Connection, key: i64, arguments: &[RecordedArgument], events: &[Event]) {
    let sql = "select points_rounds, points_blocking, points_claims, points_rulings, points_agreed,
             points_revised, points_held_seq, points_held
         from debates where key = ?1 and points_form is not null";
    let mut settings = db.prepare_cached(sql).unwrap();
    let mut settings = settings.query([key]).unwrap();
    let (mut points, mut turns, mut quotes) = (Vec::new(), Vec::new(), Vec::new());
    if let Some(row) = settings.next().unwrap() {
        let blocking = row.get::<_, String>(1).unwrap().parse().unwrap();
        let rules = PointRules { rounds: row.get(0).unwrap(), blocking };
        let mut debate = Debate {
            policy: ResolutionPolicy::Auto,
            standing: Standing::opened(),
            ledger: Some(Ledger::opened(rules, &[])),
        };
        for (at, (argument, event)) in arguments.iter().zip(events).enumerate().skip(1) {
            let before: Vec<_> = arguments.iter().zip(events).take(at).collect();
            let entry = judged(&debate, &before, &argument.content, *event);
            debate.apply(&entry, &[]);
            for (turn, change) in entry.changes.iter().enumerate() {
                let number = change.point.map(|point| point.0);
                let (word, state) = (change.word.as_str(), change.state.map(PointState::as_str));
                turns.push(format!("{:?}", (at + 1, turn, change.line, number, word, state)));
                for (ordinal, quote) in change.quotes.iter().enumerate() {
                    let place = quote.evidence.place().map(|(place, _)| place);
                    let Some(QuotePlace::Argument { seq }) = place else {
                        panic!("a quote of no argument: {quote:?}")
                    };
                    quotes.push(format!("{:?}", (at + 1, turn, ordinal, &quote.text, seq.0)));
                }
            }
        }
        let ledger = debate.ledger.expect("it keeps points");
        let number = |column| row.get::<_, Option<u64>>(column).unwrap();
        assert_eq!(
            (number(2), number(3)),
            (Some(ledger.claims.into()), Some(ledger.rulings.into()))
        );
        assert_eq!(number(4), Some(ledger.agreed.into()));
        let held = ledger.held.map(|(seq, held)| (seq.0, held.to_string()));
        assert_eq!((number(5), number(6)), (None, held.as_ref().map(|(seq, _)| *seq)));
        assert_eq!(row.get::<_, Option<String>>(7).unwrap(), held.map(|(_, held)| held));
        let shown = |point: &Point| {
            let (severity, state) = (point.severity.as_str(), point.state.as_str());
            let seqs = (point.demanded.0, point.raised.0, point.last.0);
            format!("{:?}", (point.id.0, severity, &point.title, state, seqs, ledger.blocks(point)))
        };
        points = ledger.points.iter().map(shown).collect();
    }
    let rows = |sql: &str, shown: fn(&Row<'_>) -> rusqlite::Result<String>| -> Vec<String> {
        let mut found = db.prepare_cached(sql).unwrap();
        found.query_map([key], shown).unwrap().collect::<Result<_, _>>().unwrap()
    };
    let sql = "select number, severity, title, state, demanded_seq, raised_seq, last_seq, blocks
         from points where debate_key = ?1 order by number";
    let found = rows(sql, |row| {
        let text = |column| row.get::<_, String>(column);
        let seqs = (row.get::<_, u64>(4)?, row.get::<_, u64>(5)?, row.get::<_, u64>(6)?);
        let (number, blocks): (u32, bool) = (row.get(0)?, row.get(7)?);
        Ok(format!("{:?}", (number, text(1)?, text(2)?, text(3)?, seqs, blocks)))
    });
    assert_eq!(found, points, "the points differ from the texts");
    let sql = "select seq, ordinal, line, number, word, state
         from point_turns where debate_key = ?1 order by seq, ordinal";
    let found = rows(sql, |row| {
        let (seq, turn, line): (u64, u64, u32) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let (number, word): (Option<u32>, String) = (row.get(3)?, row.get(4)?);
        let state: Option<String> = row.get(5)?;
        Ok(format!("{:?}", (seq, turn, line, number, word, state)))
    });
    assert_eq!(found, turns, "the statements differ from the texts");
    let sql = "select seq, turn, ordinal, text, argument_seq
         from point_quotes where debate_key = ?1 order by seq, turn, ordinal";
    let found = rows(sql, |row| {
        let (seq, turn, ordinal): (u64, u64, u64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let (text, argument): (String, u64) = (row.get(3)?, row.get(4)?);
        Ok(format!("{:?}", (seq, turn, ordinal, text, argument)))
    });
    assert_eq!(found, quotes, "the quotes differ from the texts");
}

/// The entry of an argument, judged by the debate before it.
fn judged(
    debate: &Debate,
    before: &[(&RecordedArgument, &Event)],
    content: &str,
    event: Event,
) -> Entry {
    let mut entry = Entry::of(event, None);
    if event.parked() || event.automatic() {
        return entry;
    }
    let role = event.role();
    let sources = before.iter().filter(|(one, event)| one.seq == 1 || event.role() != role);
    let texts: Vec<(u64, Normal)> =
        sources.map(|(one, _)| (one.seq, Normal::without_quotes(&one.content))).collect();
    let place = |seq: u64| QuotePlace::Argument { seq: Seq(seq) };
    let current: Vec<Source<'_>> =
        texts.iter().map(|(seq, text)| Source { place: place(*seq), text }).collect();
    let library = Library { current: &current, earlier: Some(&[]), examined: &[] };
    let count = debate.ledger.as_ref().map_or(0, Ledger::count);
    let read = match event.kind() {
        Kind::Claim | Kind::Ruling => statements(content, role, count).statements,
        Kind::Motion | Kind::Appeal | Kind::Resolution | Kind::Intervention => Vec::new(),
    };
    let looked_up = |statement: aw_core::Statement| {
        let found = statement.blocks.iter().flat_map(|block| library.check(block).unwrap());
        let found: Vec<Quote> = found.collect();
        (statement, found)
    };
    let stated = read.into_iter().map(looked_up).collect();
    let said = Said { stated, readable: library.readable_lines(), ..Said::default() };
    entry.changes = debate.judge(role, &said).expect("the server has judged it");
    if event.kind() == Kind::Resolution {
        entry.held = debate.holds(&said).expect("the server has judged it");
    }
    entry
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
