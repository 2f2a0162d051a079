//! Reads what the report of a debate shows, from one snapshot.

use aw_core::{Argument, Author, DebateId, SeatName, Seq};

use super::checksums::Checksum;
use super::db::{Db, values};
use super::find::{argument_at, live};
use super::rows::{DebateRow, word};
use super::{Store, about, page_data, points, read};
use crate::{Authorship, Citation, Failure, ReportData, Selection};

impl Store {
    /// The data of a debate's report.
    pub(crate) async fn report(&self, debate: DebateId) -> Result<ReportData, Failure> {
        self.read_long(move |db| about(debate, read(db, debate))).await
    }
}

pub(super) fn read(db: &Db<'_>, debate: DebateId) -> Result<ReportData, Failure> {
    let known = live(db, debate)?;
    let newest = argument_at(db, &known, known.head.debate.standing.last)?;
    let (stated, points) = points::history(db, &known)?;
    let sql = "select count(*) from arguments
         where debate_key = ?1 and role = 'opponent' and type = 'CLAIM' and parked_for is null";
    Ok(ReportData {
        motion: argument_at(db, &known, Seq::FIRST)?,
        rulings: rulings(db, &known)?,
        rounds: db.one(sql, values![known.key], |row| row.get(0))?,
        citations: citations(db, known.key)?,
        authors: authors(db, known.key)?,
        stated,
        points,
        newest_at: newest.at,
        newest_hash: newest.hash,
        seal: Checksum::Opening(known.key).kept(db)?,
        debate: known.head,
    })
}

/// The RULINGs that the server did not make, in order.
fn rulings(db: &Db<'_>, known: &DebateRow) -> Result<Vec<Argument>, Failure> {
    let last = known.head.debate.standing.last;
    let mut all = Vec::new();
    let mut after = Seq(0);
    loop {
        let piece = read::run(db, known, Selection::Rulings, after, last, &mut { usize::MAX })?;
        let Some(newest) = piece.last() else { break };
        after = newest.seq;
        all.extend(piece.into_iter().filter(|ruling| !ruling.event.automatic()));
    }
    Ok(all)
}

/// The citations of the proposer and the arbitrator. The keys of documents depend on the database, so
/// the ids give the order within an argument.
fn citations(db: &Db<'_>, key: i64) -> Result<Vec<Citation>, Failure> {
    let sql = "select c.seq, documents.id, c.version, coalesce(documents.title, v.summary)
         from citations as c
         join documents on documents.key = c.document_key
         join document_versions as v on v.document_key = c.document_key and v.version = c.version
         join arguments as a on a.debate_key = c.debate_key and a.seq = c.seq
         where c.debate_key = ?1 and a.role <> 'opponent' and a.parked_for is null
         order by c.seq, documents.id";
    db.all(sql, values![key], page_data::citation)
}

fn authors(db: &Db<'_>, key: i64) -> Result<Vec<Authorship>, Failure> {
    let sql = "select role, author, seat from arguments
         where debate_key = ?1 and (author is not null or seat is not null)
         group by role, author, seat order by min(seq)";
    db.all(sql, values![key], |row| {
        Ok(Authorship {
            role: word(row, 0)?,
            author: row.get::<Option<String>>(1)?.map(Author::recorded),
            seat: row.get::<Option<String>>(2)?.map(SeatName::recorded),
        })
    })
}
