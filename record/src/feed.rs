//! The feed: a second bell, for the whole record.
//!
//! It says which debates to look at, never what to see there. A follower keeps one number, how far
//! it has looked; what has changed since is read from one list that all followers share, in which
//! each debate stands once. So nothing is queued for anybody, several changes of a debate are told
//! as one to who comes late, and a writer never waits. Who falls further behind than the list
//! reaches is told so, and must begin anew. While nobody follows, nothing is kept.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aw_core::DebateId;
use tokio::sync::watch;

use crate::recent::Recent;

/// How many debates may have changed before a follower that has looked at none of them is too slow.
const REACH: usize = 10_000;

/// How many changes are handed out at a time.
const HANDFUL: usize = 100;

/// What happened to a debate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// It was opened.
    Opened,
    /// Something was written into it, or it was deleted.
    Written,
    /// Somebody came to wait in it, or went.
    Presence,
}

/// A debate to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Changed {
    /// The debate.
    pub debate: DebateId,
    /// The most that the follower has not seen: who sees an opened debate sees what was written
    /// into it, and who sees that sees who is there.
    pub change: ChangeKind,
    /// Grows with every change of the record; the same for every follower.
    pub number: u64,
}

/// More has changed than is remembered: read everything anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("more debates have changed than are remembered")]
pub struct TooSlow;

/// Tells followers which debates have changed; clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Feed {
    list: Arc<Mutex<ChangeList>>,
    rung: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct ChangeList {
    changes: Recent<LastChanges>,
    /// The newest number that is no longer remembered.
    forgotten: u64,
}

/// When each thing last happened to a debate; 0 when it did not.
#[derive(Debug, Default)]
struct LastChanges {
    opened: u64,
    written: u64,
    presence: u64,
}

impl Feed {
    /// Tells everybody who follows. Call it after the commit.
    pub(crate) fn ring(&self, debate: DebateId, change: ChangeKind) {
        let number = {
            let mut list = self.list();
            // Under the lock, so that whoever begins to follow is either counted or begins later.
            if self.rung.receiver_count() == 0 {
                list.forget_all();
                return;
            }
            list.add(debate, change)
        };
        // Two who ring at once may come here in either order.
        self.rung.send_modify(|newest| *newest = number.max(*newest));
    }

    /// Tells everybody who follows to begin anew: nobody knows what has changed.
    pub(crate) fn begin_anew(&self) {
        let number = {
            let mut list = self.list();
            list.changes.skip();
            list.forget_all();
            list.forgotten
        };
        self.rung.send_modify(|newest| *newest = number.max(*newest));
    }

    /// Starts following: every change from now on will be told.
    pub(crate) fn follow(&self) -> Following {
        let list = self.list();
        let heard = self.rung.subscribe();
        Following { seen: list.changes.newest(), heard, feed: self.clone() }
    }

    fn list(&self) -> MutexGuard<'_, ChangeList> {
        // Nothing that holds the lock can panic half way through a change.
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChangeList {
    fn add(&mut self, debate: DebateId, change: ChangeKind) -> u64 {
        let (number, numbers) = self.changes.touch(debate);
        match change {
            ChangeKind::Opened => numbers.opened = number,
            ChangeKind::Written => numbers.written = number,
            ChangeKind::Presence => numbers.presence = number,
        }
        if self.changes.len() > REACH
            && let Some((oldest, debate)) = self.changes.oldest()
        {
            self.changes.remove(debate);
            self.forgotten = oldest;
        }
        number
    }

    /// Some of the changes after this number.
    fn after(&self, seen: u64) -> Result<Vec<Changed>, TooSlow> {
        if seen < self.forgotten {
            return Err(TooSlow);
        }
        let changed = |(number, debate, numbers): (u64, DebateId, &LastChanges)| {
            let change = if numbers.opened > seen {
                ChangeKind::Opened
            } else if numbers.written > seen {
                ChangeKind::Written
            } else {
                ChangeKind::Presence
            };
            Changed { debate, change, number }
        };
        Ok(self.changes.after(seen).take(HANDFUL).map(changed).collect())
    }

    fn forget_all(&mut self) {
        self.changes.clear();
        self.forgotten = self.changes.newest();
    }
}

/// Somebody who follows the whole record. Dropping it is enough to be forgotten.
#[derive(Debug)]
pub struct Following {
    /// The last number that was handed out.
    seen: u64,
    heard: watch::Receiver<u64>,
    feed: Feed,
}

impl Following {
    /// What has changed since the last call, in order; waits until something has.
    ///
    /// Nothing is lost when it is dropped before it returns.
    pub async fn next(&mut self) -> Result<Vec<Changed>, TooSlow> {
        loop {
            // Marked as heard before the list is read: what is rung in between rings again.
            self.heard.borrow_and_update();
            let changes = self.feed.list().after(self.seen)?;
            if let Some(last) = changes.last() {
                self.seen = last.number;
                return Ok(changes);
            }
            self.heard.changed().await.expect("the feed is held here");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;
    use uuid::Uuid;

    use super::*;

    fn debate(number: u128) -> DebateId {
        Uuid::from_u128(number).into()
    }

    /// What a follower is told next, without the numbers.
    async fn told(following: &mut Following) -> Vec<(DebateId, ChangeKind)> {
        let changes = timeout(Duration::from_secs(5), following.next()).await;
        let changes = changes.expect("a change was slept through").unwrap();
        changes.into_iter().map(|changed| (changed.debate, changed.change)).collect()
    }

    #[tokio::test]
    async fn several_changes_of_a_debate_are_told_as_one_and_the_greatest() {
        let feed = Feed::default();
        let (mut late, mut prompt) = (feed.follow(), feed.follow());
        feed.ring(debate(1), ChangeKind::Opened);
        feed.ring(debate(2), ChangeKind::Presence);
        assert_eq!(
            told(&mut prompt).await,
            [(debate(1), ChangeKind::Opened), (debate(2), ChangeKind::Presence)]
        );
        feed.ring(debate(1), ChangeKind::Written);
        feed.ring(debate(1), ChangeKind::Presence);
        assert_eq!(told(&mut prompt).await, [(debate(1), ChangeKind::Written)]);
        feed.ring(debate(1), ChangeKind::Presence);
        assert_eq!(told(&mut prompt).await, [(debate(1), ChangeKind::Presence)]);
        assert_eq!(
            told(&mut late).await,
            [(debate(2), ChangeKind::Presence), (debate(1), ChangeKind::Opened)]
        );
    }

    #[tokio::test]
    async fn who_begins_to_follow_is_told_what_comes_and_nothing_older() {
        let feed = Feed::default();
        feed.ring(debate(1), ChangeKind::Opened);
        let mut following = feed.follow();
        feed.ring(debate(2), ChangeKind::Opened);
        assert_eq!(told(&mut following).await, [(debate(2), ChangeKind::Opened)]);
        let mut second = feed.follow();
        assert!(timeout(Duration::from_millis(20), second.next()).await.is_err());
    }

    #[tokio::test]
    async fn a_ring_wakes_who_waits_for_it() {
        let feed = Feed::default();
        let mut following = feed.follow();
        let waiting = tokio::spawn(async move { told(&mut following).await });
        tokio::task::yield_now().await;
        feed.ring(debate(3), ChangeKind::Written);
        assert_eq!(waiting.await.unwrap(), [(debate(3), ChangeKind::Written)]);
    }

    #[tokio::test]
    async fn a_long_list_is_handed_out_in_handfuls_and_a_too_long_one_not_at_all() {
        let feed = Feed::default();
        let (mut reader, mut sleeper) = (feed.follow(), feed.follow());
        let mut seen = 0;
        for number in 0..=REACH as u128 {
            feed.ring(debate(number), ChangeKind::Opened);
            if number % 1_000 == 0 {
                while seen < number {
                    seen += told(&mut reader).await.len() as u128;
                }
            }
        }
        assert_eq!(sleeper.next().await, Err(TooSlow));
        assert_eq!(feed.list().changes.len(), REACH);
        // Whoever begins anew is as good as everybody else.
        let mut anew = feed.follow();
        feed.ring(debate(7), ChangeKind::Written);
        assert_eq!(told(&mut anew).await, [(debate(7), ChangeKind::Written)]);
    }

    #[tokio::test]
    async fn when_nobody_knows_what_has_changed_everybody_begins_anew() {
        let feed = Feed::default();
        let mut following = feed.follow();
        feed.begin_anew();
        assert_eq!(following.next().await, Err(TooSlow));
        let mut anew = feed.follow();
        feed.ring(debate(1), ChangeKind::Written);
        assert_eq!(told(&mut anew).await, [(debate(1), ChangeKind::Written)]);
    }

    #[tokio::test]
    async fn while_nobody_follows_nothing_is_kept() {
        let feed = Feed::default();
        let following = feed.follow();
        feed.ring(debate(1), ChangeKind::Opened);
        drop(following);
        feed.ring(debate(2), ChangeKind::Opened);
        assert_eq!(feed.list().changes.len(), 0);
    }
}
