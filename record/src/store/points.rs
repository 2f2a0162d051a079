//! The points of a debate: reads and writes the ledger, the statements and their quotes.
//!
//! Everything in these tables follows from texts, citations and versions. `quotes.rs` finds the facts
//! for a new argument, and verification works all of it out again for every recorded one.

use std::collections::HashMap;
use std::ops::ControlFlow;

use aw_core::{
    Change, DebateId, DocumentId, Ledger, POINTS_FORM, PlanDocument, Point, PointId, PointRules,
    PointState, Quote, QuotePlace, Seq, Subject, passages,
};
use uuid::Uuid;

use super::db::{Db, Row, Value, values};
use super::rows::{self, DebateRow};
use super::{Store, about, find};
use crate::{Damage, DebateHead, Failure, PointRecord, PointTurn, Stated, StatedQuote};

impl Store {
    /// The debate with all points and their quotes, or with one point and its history.
    pub(crate) async fn points(
        &self,
        debate: DebateId,
        only: Option<PointId>,
    ) -> Result<(DebateHead, Vec<PointRecord>), Failure> {
        self.read(move |db| {
            let known = find::live(db, debate)?;
            let points = about(debate, points(db, &known, only))?;
            Ok((known.head, points))
        })
        .await
    }
}

/// Reads the settings of a debate's points.
pub(super) fn rules(row: &Row<'_>, first: usize) -> Result<Option<PointRules>, Failure> {
    let Some(form) = row.get::<Option<u64>>(first)? else { return Ok(None) };
    if form != POINTS_FORM {
        return Err(Damage::new(format!("its points have the unknown form {form}")).into());
    }
    let (rounds, blocking) = (number(row, first + 1)?, rows::word(row, first + 2)?);
    Ok(Some(PointRules { rounds, blocking }))
}

/// Reads the settings and counts of a debate's points, without the points.
pub(super) fn settings(row: &Row<'_>, first: usize) -> Result<Option<Ledger>, Failure> {
    let Some(rules) = rules(row, first)? else { return Ok(None) };
    if !row.is_flag(first + 5)? {
        return Err(Damage::new("a flag of its points is neither 0 nor 1").into());
    }
    let held_seq = row.get::<Option<u64>>(first + 7)?.map(Seq);
    let held = match held_seq {
        Some(seq) => Some((seq, rows::word(row, first + 8)?)),
        None => None,
    };
    Ok(Some(Ledger {
        rules,
        points: Vec::new(),
        documents: Vec::new(),
        claims: number(row, first + 3)?,
        rulings: number(row, first + 4)?,
        agreed: row.get(first + 5)?,
        revised: row.get::<Option<u64>>(first + 6)?.map(Seq),
        held,
    }))
}

/// Reads the points of a debate, and their documents, into its ledger.
pub(super) fn complete(db: &Db<'_>, key: i64, ledger: &mut Ledger) -> Result<(), Failure> {
    db.together(&[&|| points_of(db, key).map(drop), &|| documents_of(db, key).map(drop)])?;
    ledger.points = points_of(db, key)?;
    ledger.documents = documents_of(db, key)?;
    Ok(())
}

fn points_of(db: &Db<'_>, key: i64) -> Result<Vec<Point>, Failure> {
    let sql =
        "select number, severity, points.title, state, late, unchanged, disputes, ruled, evidenced,
             documents.id, demanded_seq, raised_seq, last_seq, blocks,
             document_key is not null and documents.id is null
         from points left join documents on documents.key = document_key
         where debate_key = ?1 order by number";
    let points = db.all(sql, values![key], |row| {
        for flag in [4, 5, 7, 8, 13] {
            if !row.is_flag(flag)? {
                return Err(Damage::new("a flag of a point is neither 0 nor 1").into());
            }
        }
        if row.get(14)? {
            return Err(Damage::new("a point names a document that does not exist").into());
        }
        Ok(Point {
            id: PointId(number(row, 0)?),
            severity: rows::word(row, 1)?,
            title: row.get(2)?,
            state: rows::word(row, 3)?,
            late: row.get(4)?,
            unchanged: row.get(5)?,
            disputes: number(row, 6)?,
            ruled: row.get(7)?,
            evidenced: row.get(8)?,
            document: row.get::<Option<Uuid>>(9)?.map(Into::into),
            demanded: Seq(row.get(10)?),
            raised: Seq(row.get(11)?),
            last: Seq(row.get(12)?),
        })
    })?;
    let in_order = (1..).zip(&points).all(|(number, point)| point.id == PointId(number));
    if !in_order {
        return Err(Damage::new("a point is missing").into());
    }
    Ok(points)
}

fn documents_of(db: &Db<'_>, key: i64) -> Result<Vec<PlanDocument>, Failure> {
    let sql = "select documents.id, point_documents.version, examined, ordinal
         from point_documents join documents on documents.key = document_key
         where debate_key = ?1 order by ordinal";
    let mut ordinal = 0;
    db.all(sql, values![key], |row| {
        if row.get::<u64>(3)? != ordinal {
            return Err(Damage::new("a document of its points is missing").into());
        }
        ordinal += 1;
        Ok(PlanDocument {
            document: row.get::<Uuid>(0)?.into(),
            version: row.get(1)?,
            examined: row.get(2)?,
        })
    })
}

fn number(row: &Row<'_>, column: usize) -> Result<u32, Failure> {
    let number: u64 = row.get(column)?;
    u32::try_from(number).map_err(|_| Damage::new(format!("{number} is out of range")).into())
}

/// Writes the points and documents in which two ledgers of a debate differ. The debate's own row has the
/// rest.
pub(super) fn keep(
    db: &Db<'_>,
    key: i64,
    before: Option<&Ledger>,
    after: &Ledger,
) -> Result<(), Failure> {
    let points = before.map_or(&[] as &[Point], |before| &before.points);
    let row = |point| point_row(key, point, after.blocks(point));
    let (known, new) = after.points.split_at(points.len());
    let changed = known.iter().zip(points).filter(|(now, then)| now != then);
    db.run_each(RAISE, &new.iter().map(row).collect::<Vec<_>>())?;
    let sql = format!(
        "{RAISE} on conflict (debate_key, number) do update set state = excluded.state,
             unchanged = excluded.unchanged, disputes = excluded.disputes, ruled = excluded.ruled,
             document_key = excluded.document_key, demanded_seq = excluded.demanded_seq,
             last_seq = excluded.last_seq, blocks = excluded.blocks"
    );
    db.run_each(&sql, &changed.map(|(now, _)| row(now)).collect::<Vec<_>>())?;
    let documents = before.map_or(&[] as &[PlanDocument], |before| &before.documents);
    let cited = after.documents.iter().enumerate();
    let changed = cited.filter(|(at, cited)| documents.get(*at) != Some(*cited));
    let row = |(at, cited): (usize, &PlanDocument)| {
        let PlanDocument { document, version, examined } = *cited;
        values![key, at as u64, document.uuid(), version, examined].to_vec()
    };
    let sql = "insert into point_documents (debate_key, ordinal, document_key, version, examined)
         values (?, ?, (select key from documents where id = ?), ?, ?)
         on conflict (debate_key, ordinal) do update
             set version = excluded.version, examined = excluded.examined";
    db.run_each(sql, &changed.map(row).collect::<Vec<_>>())
}

/// Inserts a point. An upsert costs more: SQLite copies every page that it changes.
const RAISE: &str =
    "insert into points (debate_key, number, severity, title, state, late, unchanged, disputes,
         ruled, evidenced, document_key, demanded_seq, raised_seq, last_seq, blocks)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (select key from documents where id = ?), ?, ?, ?, ?)";

fn point_row(key: i64, point: &Point, blocks: bool) -> Vec<Value<'_>> {
    let row = values![
        key,
        u64::from(point.id.0),
        point.severity.as_str(),
        point.title.as_str(),
        point.state.as_str(),
        point.late,
        point.unchanged,
        u64::from(point.disputes),
        point.ruled,
        point.evidenced,
        point.document.map(DocumentId::uuid),
        point.demanded.0,
        point.raised.0,
        point.last.0,
        blocks,
    ];
    row.to_vec()
}

/// Writes the statements of an argument.
pub(super) fn keep_stated(
    db: &Db<'_>,
    key: i64,
    seq: Seq,
    changes: &[Change],
) -> Result<(), Failure> {
    let (mut turns, mut quotes) = (Vec::new(), Vec::new());
    for (turn, change) in changes.iter().enumerate() {
        let row = values![
            key,
            seq.0,
            turn as u64,
            u64::from(change.line),
            subject_word(change.subject),
            change.point.map(|point| u64::from(point.0)),
            change.word.as_str(),
            change.state.map(PointState::as_str),
        ];
        turns.push(row.to_vec());
        for (ordinal, quote) in change.quotes.iter().enumerate() {
            let place = [seq.0, turn as u64, ordinal as u64];
            quotes.push(quote_row(key, place, quote));
        }
    }
    let sql =
        "insert into point_turns (debate_key, seq, ordinal, line, subject, number, word, state)
         values (?, ?, ?, ?, ?, ?, ?, ?)";
    db.run_each(sql, &turns)?;
    let sql =
        "insert into point_quotes (debate_key, seq, turn, ordinal, line, text, source, result,
             document_key, version, argument_seq, first_line, last_line)
         values (?, ?, ?, ?, ?, ?, ?, ?, (select key from documents where id = ?), ?, ?, ?, ?)";
    db.run_each(sql, &quotes)
}

fn quote_row(key: i64, [seq, turn, ordinal]: [u64; 3], quote: &Quote) -> Vec<Value<'_>> {
    let place = quote.evidence.place();
    let (document, version, argument) = match place.map(|(place, _)| place) {
        Some(QuotePlace::Document { document, version }) => (Some(document), Some(version), None),
        Some(QuotePlace::Argument { seq }) => (None, None, Some(seq)),
        None => (None, None, None),
    };
    let row = values![
        key,
        seq,
        turn,
        ordinal,
        u64::from(quote.line),
        quote.text.as_str(),
        quote.source.as_deref(),
        quote.evidence.check().as_str(),
        document.map(DocumentId::uuid),
        version,
        argument.map(|seq| seq.0),
        place.map(|(_, lines)| u64::from(lines.first)),
        place.map(|(_, lines)| u64::from(lines.last)),
    ];
    row.to_vec()
}

fn subject_word(subject: Subject) -> &'static str {
    match subject {
        Subject::New => "NEW",
        Subject::Verdict => "VERDICT",
        Subject::Point(_) => "P",
    }
}

/// The recorded statements of an argument as they were judged, without the names of documents.
pub(super) fn judged(db: &Db<'_>, key: i64, seq: Seq) -> Result<Vec<Stated>, Failure> {
    let mut stated = stated(db, key, seq, seq)?;
    let quotes = stated.iter_mut().flat_map(|one| &mut one.quotes);
    quotes.for_each(|quote| quote.document_name = None);
    Ok(stated)
}

/// The recorded statements of the arguments from `first` to `last`, in order.
pub(super) fn stated(db: &Db<'_>, key: i64, first: Seq, last: Seq) -> Result<Vec<Stated>, Failure> {
    let range = values![key, first.0, last.0];
    let sql =
        "select seq, turn, q.line, q.text, source, result, documents.id, q.version, argument_seq,
             first_line, last_line, ordinal, document_key is not null and documents.id is null,
             coalesce(documents.title, (
                 select v.summary from document_versions as v
                 where v.document_key = q.document_key and v.version = q.version
             ))
         from point_quotes as q left join documents on documents.key = document_key
         where debate_key = ?1 and seq >= ?2 and seq <= ?3 order by seq, turn, ordinal";
    let mut quotes: HashMap<(u64, u64), Vec<StatedQuote>> = HashMap::new();
    let gap = |seq| Damage::new("a statement or a quote of it is missing").at_seq(Seq(seq));
    db.each(sql, range, |row| {
        let (seq, turn): (u64, u64) = (row.get(0)?, row.get(1)?);
        let quotes = quotes.entry((seq, turn)).or_default();
        if row.get::<u64>(11)? != quotes.len() as u64 || row.get(12)? {
            return Err(gap(seq).into());
        }
        quotes.push(quote(row)?);
        Ok(ControlFlow::Continue(()))
    })?;
    let mut before: Option<(u64, u64)> = None;
    let sql = "select seq, ordinal, line, subject, number, word, state from point_turns
         where debate_key = ?1 and seq >= ?2 and seq <= ?3 order by seq, ordinal";
    db.all(sql, range, |row| {
        let (seq, turn): (u64, u64) = (row.get(0)?, row.get(1)?);
        let expected = before.filter(|(last, _)| *last == seq).map_or(0, |(_, turn)| turn + 1);
        if turn != expected {
            return Err(gap(seq).into());
        }
        before = Some((seq, turn));
        let point = row.get::<Option<u64>>(4)?.map(|_| number(row, 4)).transpose()?.map(PointId);
        let subject = match (row.text(3)?, point) {
            ("NEW", Some(_)) => Subject::New,
            ("P", Some(point)) => Subject::Point(point),
            ("VERDICT", None) => Subject::Verdict,
            (other, _) => {
                let damage =
                    Damage::new(format!("a statement about {other:?} is none")).at_seq(Seq(seq));
                return Err(damage.into());
            }
        };
        let state = match row.get::<Option<String>>(6)? {
            Some(_) => Some(rows::word(row, 6)?),
            None => None,
        };
        Ok(Stated {
            seq: Seq(seq),
            line: number(row, 2)?,
            subject,
            word: rows::word(row, 5)?,
            point,
            state,
            quotes: quotes.remove(&(seq, turn)).unwrap_or_default(),
        })
    })
}

fn quote(row: &Row<'_>) -> Result<StatedQuote, Failure> {
    let document = (row.get::<Option<Uuid>>(6)?, row.get::<Option<u64>>(7)?);
    let argument = row.get::<Option<u64>>(8)?;
    let place = match (document, argument) {
        ((Some(document), Some(version)), None) => {
            Some(QuotePlace::Document { document: document.into(), version })
        }
        ((None, None), Some(seq)) => Some(QuotePlace::Argument { seq: Seq(seq) }),
        ((None, None), None) => None,
        _ => return Err(Damage::new("a quote has no single place").into()),
    };
    let lines = match (row.get::<Option<u64>>(9)?, row.get::<Option<u64>>(10)?) {
        (Some(_), Some(_)) => Some((number(row, 9)?, number(row, 10)?)),
        (None, None) => None,
        _ => return Err(Damage::new("a quote has half of its lines").into()),
    };
    Ok(StatedQuote {
        line: number(row, 2)?,
        text: row.get(3)?,
        source: row.get(4)?,
        check: rows::word(row, 5)?,
        place,
        lines,
        document_name: row.get(13)?,
    })
}

/// All points of a debate with their quotes, or one with its history.
pub(super) fn points(
    db: &Db<'_>,
    known: &DebateRow,
    only: Option<PointId>,
) -> Result<Vec<PointRecord>, Failure> {
    let mut records = without_history(known);
    records.retain(|record| only.is_none_or(|only| record.point.id == only));
    if records.is_empty() {
        return Ok(records);
    }
    let all = stated(db, known.key, Seq::FIRST, known.head.debate.standing.last)?;
    add_quotes(&mut records, &all);
    if only.is_some() {
        add_turns(db, known, &mut records, &all)?;
    }
    Ok(records)
}

/// All statements of a debate, and all its points with their quotes and their history.
pub(super) fn history(
    db: &Db<'_>,
    known: &DebateRow,
) -> Result<(Vec<Stated>, Vec<PointRecord>), Failure> {
    if known.head.debate.ledger.is_none() {
        return Ok((Vec::new(), Vec::new()));
    }
    let mut records = without_history(known);
    let all = stated(db, known.key, Seq::FIRST, known.head.debate.standing.last)?;
    add_quotes(&mut records, &all);
    add_turns(db, known, &mut records, &all)?;
    Ok((all, records))
}

fn without_history(known: &DebateRow) -> Vec<PointRecord> {
    let points = known.head.debate.ledger.iter().flat_map(|ledger| &ledger.points);
    points
        .map(|point| PointRecord { point: point.clone(), quotes: Vec::new(), turns: Vec::new() })
        .collect()
}

/// The record of the point that a statement is about. The records are in the order of their numbers.
fn record_of<'a>(
    records: &'a mut [PointRecord],
    statement: &Stated,
) -> Option<&'a mut PointRecord> {
    let point = statement.point?;
    let at = records.binary_search_by_key(&point, |record| record.point.id).ok()?;
    records.get_mut(at)
}

fn add_quotes(records: &mut [PointRecord], all: &[Stated]) {
    for statement in all {
        if let Some(record) = record_of(records, statement)
            && statement.seq == record.point.raised
        {
            record.quotes.clone_from(&statement.quotes);
        }
    }
}

fn add_turns(
    db: &Db<'_>,
    known: &DebateRow,
    records: &mut [PointRecord],
    all: &[Stated],
) -> Result<(), Failure> {
    for statements in all.chunk_by(|one, next| one.seq == next.seq) {
        let Some(first) = statements.first() else { continue };
        if statements.iter().all(|statement| record_of(records, statement).is_none()) {
            continue;
        }
        let argument = find::argument_at(db, known, first.seq)?;
        let lines: Vec<u32> = statements.iter().map(|statement| statement.line).collect();
        let texts = passages(argument.content.as_str(), &lines);
        for (statement, text) in statements.iter().zip(texts) {
            let Some(record) = record_of(records, statement) else { continue };
            record.turns.push(PointTurn {
                seq: statement.seq,
                role: argument.event.role(),
                word: statement.word,
                state: statement.state,
                text,
                quotes: statement.quotes.clone(),
            });
        }
    }
    Ok(())
}

impl From<&Quote> for StatedQuote {
    fn from(quote: &Quote) -> Self {
        let place = quote.evidence.place();
        StatedQuote {
            line: quote.line,
            text: quote.text.clone(),
            source: quote.source.clone(),
            check: quote.evidence.check(),
            place: place.map(|(place, _)| place),
            lines: place.map(|(_, lines)| (lines.first, lines.last)),
            document_name: None,
        }
    }
}

impl Stated {
    /// A statement of the argument at this position.
    pub(crate) fn of(seq: Seq, change: &Change) -> Self {
        Stated {
            seq,
            line: change.line,
            subject: change.subject,
            word: change.word,
            point: change.point,
            state: change.state,
            quotes: change.quotes.iter().map(StatedQuote::from).collect(),
        }
    }
}
