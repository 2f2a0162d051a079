//! Verifies that the record is as it was written.
//!
//! A [`VerifyWalk`] goes over the whole record in steps. Each step is a short read, so that other
//! requests are served while a million arguments are verified. [`debate`] and [`document`] check each
//! debate and document, [`whole`] checks all of them together.

mod debate;
mod document;
mod whole;

pub(crate) use debate::DebateWalk;
use document::DocumentWalk;

use aw_core::DebateId;

use super::Store;
use super::db::{Db, values};
use crate::{Damage, Failure, Fault, Verified, VerifiedPiece, VerifyMark};

impl Store {
    /// Verifies a debate, in short reads.
    pub(crate) async fn verify(&self, debate: DebateId) -> Result<Verified, Failure> {
        let mut walk = self.read(move |db| DebateWalk::of(db, debate)).await?;
        loop {
            let (verified, gone_on) = self
                .verify_on(move |db| {
                    let verified = walk.go_on(db, &mut Budget::of_a_step())?;
                    Ok((verified, walk))
                })
                .await?;
            if let Some(verified) = verified {
                return Ok(verified);
            }
            walk = gone_on;
        }
    }

    /// Takes one step of a verification of the whole record.
    pub(crate) async fn walk(
        &self,
        mut walk: VerifyWalk,
        last: bool,
    ) -> Result<VerifyWalk, Failure> {
        self.verify_on(move |db| walk.step(db, last).map(|()| walk)).await
    }

    async fn verify_on<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Db<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let turn = self.inner.verifying.acquire().await.expect("it is never closed");
        let verified = self.read_long(work).await;
        drop(turn);
        verified
    }
}

/// How much one step may read.
#[derive(Debug)]
pub(super) struct Budget {
    rows: usize,
    bytes: usize,
}

impl Budget {
    pub(super) fn of_a_step() -> Self {
        Budget { rows: 2_000, bytes: 8 * 1024 * 1024 }
    }

    /// Takes a row with a text of this length from the budget.
    fn pay(&mut self, text: usize) {
        self.rows = self.rows.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(text);
    }

    fn is_spent(&self) -> bool {
        self.rows == 0 || self.bytes == 0
    }
}

/// A verification of the whole record.
#[derive(Debug)]
pub(crate) struct VerifyWalk {
    /// Where the next step begins.
    at: Position,
    /// The debate or document that it is in the middle of.
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
    Debate(Box<DebateWalk>),
    Document(DocumentWalk),
}

impl VerifyWalk {
    /// A walk from the beginning, or from this mark.
    pub(crate) fn from(mark: Option<VerifyMark>) -> Self {
        let at = mark.map_or(Position::Beginning, Position::At);
        VerifyWalk { at, inside: None, found: VerifiedPiece::default() }
    }

    /// The result, unless the walk is in the middle of a debate or document.
    pub(crate) fn rest(self) -> Result<VerifiedPiece, Box<Self>> {
        match self.inside {
            Some(_) => Err(Box::new(self)),
            None => Ok(self.found),
        }
    }

    /// Whether nothing is left.
    pub(crate) fn is_over(&self) -> bool {
        matches!((&self.inside, self.at), (None, Position::End))
    }

    /// Takes a step. The `last` one only finishes the current debate or document.
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
        mut walk: Box<DebateWalk>,
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

    /// Returns the result of `verify`; on damage it notes the damage and returns `None`.
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
                    self.inside = walk.map(|walk| Current::Debate(Box::new(walk)));
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

    /// The newest key below this one. SQLite assigns keys without gaps, so a gap means a removed row.
    /// PostgreSQL skips the keys of aborted transactions; there the counts reveal a removed row.
    fn next(&mut self, db: &Db<'_>, table: &str, before: u64) -> Result<Option<u64>, Failure> {
        // The caller may send any mark.
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
    fn left_counts_everything_before_the_mark() {
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
