//! Verifying: is the record as it was written?
//!
//! A [`VerifyWalk`] goes over the whole record in steps that are each a short read of their own, so that
//! a million arguments are verified while everybody else is served. [`debate`] and [`document`]
//! hold what must be so of each, [`whole`] what must be so of all of them together.

mod debate;
mod document;
mod whole;

pub(crate) use debate::DebateWalk;
use document::DocumentWalk;

use super::db::{Db, values};
use crate::{Damage, Failure, Fault, VerifiedPiece, VerifyMark};

/// How much a step reads before it lets others have a turn.
#[derive(Debug)]
pub(super) struct Budget {
    rows: usize,
    bytes: usize,
}

impl Budget {
    pub(super) fn of_a_step() -> Self {
        Budget { rows: 2_000, bytes: 8 * 1024 * 1024 }
    }

    /// Pays for a row with a text of this length.
    fn pay(&mut self, text: usize) {
        self.rows = self.rows.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(text);
    }

    fn is_spent(&self) -> bool {
        self.rows == 0 || self.bytes == 0
    }
}

/// A walk over the whole record.
#[derive(Debug)]
pub(crate) struct VerifyWalk {
    /// Where it goes on; before the first step it is nowhere yet.
    at: Position,
    /// What it is in the middle of.
    inside: Option<Current>,
    found: VerifiedPiece,
}

#[derive(Debug, Clone, Copy)]
enum Position {
    Beginning,
    At(VerifyMark),
    End,
}

#[derive(Debug)]
enum Current {
    Debate(DebateWalk),
    Document(DocumentWalk),
}

impl VerifyWalk {
    /// A walk from the beginning, or from where an earlier one ended.
    pub(crate) fn from(mark: Option<VerifyMark>) -> Self {
        let at = mark.map_or(Position::Beginning, Position::At);
        VerifyWalk { at, inside: None, found: VerifiedPiece::default() }
    }

    /// What was found, unless it is in the middle of something.
    pub(crate) fn rest(self) -> Result<VerifiedPiece, Box<Self>> {
        match self.inside {
            Some(_) => Err(Box::new(self)),
            None => Ok(self.found),
        }
    }

    /// Whether there is nothing left to look at.
    pub(crate) fn is_over(&self) -> bool {
        matches!((&self.inside, self.at), (None, Position::End))
    }

    /// Goes on for a step; one that is to be the last ends with what it is in the middle of.
    pub(super) fn step(&mut self, db: &Db<'_>, last: bool) -> Result<(), Failure> {
        let mut budget = Budget::of_a_step();
        while !budget.is_spent() && !self.is_over() {
            match self.inside.take() {
                Some(Current::Debate(walk)) => self.go_on_in_debate(db, walk, &mut budget)?,
                Some(Current::Document(walk)) => self.go_on_in_document(db, walk, &mut budget)?,
                None if last => break,
                None => self.begin_next(db)?,
            }
        }
        let (left, next) = match self.at {
            Position::Beginning => (0, None),
            Position::At(mark @ VerifyMark::Debates(before)) => {
                (before.saturating_sub(1) + newest(db, "documents")?, Some(mark))
            }
            Position::At(mark @ VerifyMark::Documents(before)) => {
                (before.saturating_sub(1), Some(mark))
            }
            Position::End => (0, None),
        };
        (self.found.left, self.found.next) = (left, next);
        Ok(())
    }

    fn go_on_in_debate(
        &mut self,
        db: &Db<'_>,
        mut walk: DebateWalk,
        budget: &mut Budget,
    ) -> Result<(), Failure> {
        let before = walk.arguments();
        let verified = self.noting(|| walk.go_on(db, budget))?;
        self.found.arguments += walk.arguments() - before;
        match verified {
            Some(None) => self.inside = Some(Current::Debate(walk)),
            Some(Some(_)) | None => self.found.debates += 1,
        }
        Ok(())
    }

    fn go_on_in_document(
        &mut self,
        db: &Db<'_>,
        mut walk: DocumentWalk,
        budget: &mut Budget,
    ) -> Result<(), Failure> {
        let before = walk.versions();
        let verified = self.noting(|| walk.go_on(db, budget))?;
        self.found.versions += walk.versions() - before;
        match verified {
            Some(false) => self.inside = Some(Current::Document(walk)),
            Some(true) | None => self.found.documents += 1,
        }
        Ok(())
    }

    /// What came of it; nothing when it is damaged, which is noted.
    fn noting<T>(
        &mut self,
        verify: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<Option<T>, Failure> {
        match verify() {
            Ok(verified) => Ok(Some(verified)),
            Err(Failure::Fault(Fault::Damaged(damage))) => {
                self.found.damages.push(damage);
                Ok(None)
            }
            Err(other) => Err(other),
        }
    }

    fn begin_next(&mut self, db: &Db<'_>) -> Result<(), Failure> {
        match self.at {
            Position::Beginning => {
                self.noting(|| whole::debates(db))?;
                self.noting(|| whole::documents(db))?;
                self.at = Position::At(VerifyMark::Debates(newest(db, "debates")? + 1));
            }
            Position::At(VerifyMark::Debates(before)) => match self.next(db, "debates", before)? {
                Some(key) => {
                    self.at = Position::At(VerifyMark::Debates(key));
                    let walk = self.noting(|| DebateWalk::at(db, signed(key)))?;
                    self.found.debates += u64::from(walk.is_none());
                    self.inside = walk.map(Current::Debate);
                }
                None => {
                    self.at = Position::At(VerifyMark::Documents(newest(db, "documents")? + 1));
                }
            },
            Position::At(VerifyMark::Documents(before)) => {
                match self.next(db, "documents", before)? {
                    Some(key) => {
                        self.at = Position::At(VerifyMark::Documents(key));
                        let walk = self.noting(|| DocumentWalk::at(db, signed(key)))?;
                        self.found.documents += u64::from(walk.is_none());
                        self.inside = walk.map(Current::Document);
                    }
                    None => self.at = Position::End,
                }
            }
            Position::End => {}
        }
        Ok(())
    }

    /// The newest key below this one. SQLite gives them without gaps, and rows are never removed: so
    /// one that is missing was. PostgreSQL leaves out those of transactions that came to nothing, and
    /// what was removed there is missed in the counts.
    fn next(&mut self, db: &Db<'_>, table: &str, before: u64) -> Result<Option<u64>, Failure> {
        // Somebody may ask to go on from anywhere.
        let before = before.clamp(1, newest(db, table)? + 1);
        let sql = format!("select max(key) from {table} where key >= 1 and key < ?1");
        let key: Option<u64> = db.one(&sql, values![before], |row| row.get(0))?;
        let missing = before - key.unwrap_or(0) - 1;
        if missing > 0 && matches!(db, Db::Sqlite(_)) {
            let what = match missing {
                1 => format!("number {} of the {table} is missing", before - 1),
                _ => format!("{missing} of the {table} before number {before} are missing"),
            };
            self.found.damages.push(Damage::new(what));
        }
        Ok(key)
    }
}

/// The greatest key of a table.
fn newest(db: &Db<'_>, table: &str) -> Result<u64, Failure> {
    let sql = format!("select max(key) from {table} where key > 0");
    let newest: Option<u64> = db.one(&sql, values![], |row| row.get(0))?;
    Ok(newest.unwrap_or(0))
}

fn signed(key: u64) -> i64 {
    i64::try_from(key).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::{connection, migrate};
    use super::*;

    #[test]
    fn what_is_left_is_what_lies_before_the_mark() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("debate.db");
        std::fs::File::create(&path).unwrap();
        migrate::bring_up_to_date(&path, &[]).unwrap();
        let db = connection::writer(&path).unwrap();
        db.execute_batch(
            "insert into documents (key, id, client_request_id, version, summary, updated_at)
             values (4, randomblob(16), randomblob(16), 1, 'Plan', 1)",
        )
        .unwrap();
        for (mark, left) in [(VerifyMark::Debates(3), 2 + 4), (VerifyMark::Documents(3), 2)] {
            let mut walk = VerifyWalk::from(Some(mark));
            walk.step(&Db::Sqlite(&db), true).unwrap();
            let piece = walk.rest().expect("it is in the middle of nothing");
            assert_eq!((piece.left, piece.next), (left, Some(mark)));
        }
    }

    #[test]
    fn a_step_reads_two_thousand_rows_or_eight_mebibytes() {
        let mut budget = Budget::of_a_step();
        for _ in 1..2_000 {
            budget.pay(0);
            assert!(!budget.is_spent());
        }
        budget.pay(0);
        assert!(budget.is_spent());

        let mut budget = Budget::of_a_step();
        budget.pay(8_388_607);
        assert!(!budget.is_spent());
        budget.pay(2);
        assert!(budget.is_spent());
    }
}
