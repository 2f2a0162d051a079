//! The writes into debates, each in one transaction.

use aw_core::{DebateId, Time};

use super::debates::{self, Examined, NewDebate, NewMove, WriteOutcome};
use super::postgres::Notice;
use super::writer::LockKey;
use super::{Store, about, unannounced};
use crate::{Failure, Rehearsed};

impl Store {
    pub(crate) async fn open_debate(&self, new: NewDebate) -> Result<WriteOutcome, Failure> {
        let most = self.inner.most_debates;
        self.write(LockKey::Debate(new.id), opened, move |db| {
            about(new.id, debates::open(db, &new, most))
        })
        .await
    }

    /// Makes a move: finds the debate and the target, calls the rules, and writes its entries.
    pub(crate) async fn play(
        &self,
        new: NewMove,
        examined: Option<Examined>,
    ) -> Result<WriteOutcome, Failure> {
        let (store, debate) = (self.clone(), new.debate);
        self.write(LockKey::Debate(debate), played, move |db| {
            about(debate, debates::play(db, &store.inner.forms, &new, examined.as_ref()))
        })
        .await
    }

    /// Finds the facts about a text that the rules of points use. Documents may be long, so the search
    /// runs beside the serving threads.
    pub(crate) async fn examine(&self, new: &NewMove) -> Result<Option<Examined>, Failure> {
        let (store, new) = (self.clone(), new.clone());
        self.read_long(move |db| about(new.debate, debates::examine(db, &store.inner.forms, &new)))
            .await
    }

    /// Judges a move without making it.
    pub(crate) async fn rehearse(&self, new: NewMove) -> Result<Rehearsed, Failure> {
        let store = self.clone();
        self.read_long(move |db| about(new.debate, debates::rehearse(db, &store.inner.forms, &new)))
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
