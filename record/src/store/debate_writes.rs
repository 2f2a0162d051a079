//! The writes into debates, each in one transaction.

use std::collections::HashSet;
use std::sync::{MutexGuard, PoisonError};

use aw_core::{Debate, DebateId, Time};

use super::db::Db;
use super::debates::{
    self, Examination, Examined, NewDebate, NewMove, Patience, Rule, WriteOutcome,
};
use super::postgres::Notice;
use super::writer::LockKey;
use super::{Store, about, unannounced};
use crate::{Failure, Rehearsed};

/// How many debates are known to keep points.
const POINTS_KNOWN: usize = 10_000;

impl Store {
    pub(crate) async fn open_debate(&self, new: NewDebate) -> Result<WriteOutcome, Failure> {
        let most = self.inner.most_debates;
        if new.debate.ledger.is_some() {
            self.note_points(new.id);
        }
        self.write(LockKey::Debate(new.id), opened, move |db| {
            about(new.id, debates::open(db, &new, most))
        })
        .await
    }

    /// Makes a move: finds the debate and the target, calls the rule, and writes its entries.
    pub(crate) async fn play(
        &self,
        new: NewMove,
        examined: Option<Examined>,
        rule: impl Rule + Send + 'static,
    ) -> Result<WriteOutcome, Failure> {
        let debate = new.debate;
        let written = self
            .write(LockKey::Debate(debate), played, move |db| {
                about(debate, debates::play(db, &new, examined.as_ref(), &rule))
            })
            .await;
        if matches!(written, Err(Failure::Overtaken)) {
            self.note_points(debate);
        }
        written
    }

    /// Notes that a debate keeps points, so that its texts are examined before they are written.
    fn note_points(&self, debate: DebateId) {
        let mut known = self.points_known();
        if known.len() >= POINTS_KNOWN {
            known.clear();
        }
        known.insert(debate);
    }

    fn points_known(&self) -> MutexGuard<'_, HashSet<DebateId>> {
        self.inner.points_known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds the facts about a text that the rules of points use, if its debate is known to keep points.
    /// It reads none for a move that is not open. Whether a debate keeps points never changes; for one
    /// that is not known here, [`Store::play`] fails once.
    pub(crate) async fn examine(
        &self,
        new: &NewMove,
        is_open: impl Fn(&Debate) -> bool + Copy + Send + 'static,
    ) -> Result<Option<Examined>, Failure> {
        if !self.points_known().contains(&new.debate) {
            return Ok(None);
        }
        let examine = |patience| {
            let (store, new) = (self.clone(), new.clone());
            move |db: &Db<'_>| {
                let examined = debates::examine(db, &store.inner.forms, patience, &new, is_open);
                about(new.debate, examined)
            }
        };
        let examination = match self.read(examine(Patience::Short)).await? {
            // Documents may be long, so the search runs beside the serving threads.
            Examination::Long => self.read_long(examine(Patience::Long)).await?,
            done => done,
        };
        match examination {
            Examination::Done(examined) => Ok(Some(*examined)),
            Examination::NotNeeded | Examination::Long => Ok(None),
        }
    }

    /// Judges a move without making it.
    pub(crate) async fn rehearse(
        &self,
        new: NewMove,
        rule: impl Rule + Send + 'static,
    ) -> Result<Rehearsed, Failure> {
        let store = self.clone();
        self.read_long(move |db| {
            about(new.debate, debates::rehearse(db, &store.inner.forms, &new, &rule))
        })
        .await
    }

    pub(crate) async fn delete_debate(&self, debate: DebateId, at: Time) -> Result<(), Failure> {
        self.write(LockKey::Debate(debate), deleted, move |db| {
            about(debate, debates::delete(db, debate, at))
        })
        .await
    }

    /// Leaves a debate out of lists, or brings it back.
    pub(crate) async fn archive_debate(
        &self,
        debate: DebateId,
        at: Option<Time>,
    ) -> Result<(), Failure> {
        self.write(LockKey::Debate(debate), unannounced, move |db| {
            about(debate, debates::archive(db, debate, at))
        })
        .await
    }
}

/// The notice of a new debate.
fn opened(written: &WriteOutcome, about: LockKey) -> Option<Notice> {
    match about {
        LockKey::Debate(debate) if !written.replayed => Some(Notice::Opened(debate)),
        LockKey::Debate(_) | LockKey::Document(_) | LockKey::Nothing => None,
    }
}

/// The notice of a move.
fn played(written: &WriteOutcome, about: LockKey) -> Option<Notice> {
    match about {
        LockKey::Debate(debate) if !written.replayed => Some(Notice::Written(debate)),
        LockKey::Debate(_) | LockKey::Document(_) | LockKey::Nothing => None,
    }
}

/// The notice of a deleted debate.
pub(super) fn deleted<T>(_: &T, about: LockKey) -> Option<Notice> {
    match about {
        LockKey::Debate(debate) => Some(Notice::Deleted(debate)),
        LockKey::Document(_) | LockKey::Nothing => None,
    }
}
