//! The feed: announces which debates have changed, to followers of the whole record.
//!
//! It carries no content: a follower reads each named debate itself. All followers share one list of
//! changed debates, in which each debate stands once; a follower keeps only the number up to which it
//! has read. So nothing is queued per follower, a slow follower gets several changes of a debate as
//! one, and a writer never waits. A follower that falls behind the list gets [`TooSlow`] and starts
//! over. Without followers the list stays empty.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aw_core::DebateId;
use tokio::sync::watch;

use crate::recent::Recent;

/// The length of the list: a follower that is more changed debates behind is too slow.
const REACH: usize = 10_000;

/// The most changes that one call returns.
const HANDFUL: usize = 100;

/// A change of a debate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// The debate was opened.
    Opened,
    /// It was written to, or deleted.
    Written,
    /// A role began or stopped waiting in it.
    Presence,
}

/// A changed debate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Changed {
    /// The debate.
    pub debate: DebateId,
    /// The greatest change that the follower has not seen: `Opened` includes `Written`, and `Written`
    /// includes `Presence`.
    pub change: ChangeKind,
    /// The number of the change. It grows, and is the same for every follower.
    pub number: u64,
}

/// The follower is too far behind the list and must read everything again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("more debates have changed than are remembered")]
pub struct TooSlow;

/// Announces changed debates to followers; clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Feed {
    list: Arc<Mutex<ChangeList>>,
    rung: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct ChangeList {
    changes: Recent<LastChanges>,
    /// The newest number that was dropped from the list.
    forgotten: u64,
}

/// The number of the last change of each kind; 0 for none.
#[derive(Debug, Default)]
struct LastChanges {
    opened: u64,
    written: u64,
    presence: u64,
}

impl Feed {
    /// Announces a change to all followers. Call it after the commit.
    pub(crate) fn ring(&self, debate: DebateId, change: ChangeKind) {
        let number = {
            let mut list = self.list();
            // Under the lock: a new follower is either counted here or starts after this change.
            if self.rung.receiver_count() == 0 {
                list.forget_all();
                return;
            }
            list.add(debate, change)
        };
        // Two concurrent rings may arrive here in either order.
        self.rung.send_modify(|newest| *newest = number.max(*newest));
    }

    /// Makes all followers start over, because it is unknown what has changed.
    pub(crate) fn start_over(&self) {
        let number = {
            let mut list = self.list();
            list.changes.skip();
            list.forget_all();
            list.forgotten
        };
        self.rung.send_modify(|newest| *newest = number.max(*newest));
    }

    /// Starts following: the follower gets every change from now on.
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

/// A follower of the whole record. Dropping it unregisters it.
#[derive(Debug)]
pub struct Following {
    /// The last number that was returned.
    seen: u64,
    heard: watch::Receiver<u64>,
    feed: Feed,
}

impl Following {
    /// Returns the changes since the last call, in order; waits for the first one.
    ///
    /// Cancelling it loses no change.
    pub async fn next(&mut self) -> Result<Vec<Changed>, TooSlow> {
        loop {
            // Marked as seen before the list is read, so that a later change wakes it again.
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

    /// The next changes, without their numbers.
    async fn next(following: &mut Following) -> Vec<(DebateId, ChangeKind)> {
        let changes = timeout(Duration::from_secs(5), following.next()).await;
        let changes = changes.expect("a change was missed").unwrap();
        changes.into_iter().map(|changed| (changed.debate, changed.change)).collect()
    }

    #[tokio::test]
    async fn several_changes_of_a_debate_arrive_as_one_the_greatest() {
        let feed = Feed::default();
        let (mut late, mut prompt) = (feed.follow(), feed.follow());
        feed.ring(debate(1), ChangeKind::Opened);
        feed.ring(debate(2), ChangeKind::Presence);
        assert_eq!(
            next(&mut prompt).await,
            [(debate(1), ChangeKind::Opened), (debate(2), ChangeKind::Presence)]
        );
        feed.ring(debate(1), ChangeKind::Written);
        feed.ring(debate(1), ChangeKind::Presence);
        assert_eq!(next(&mut prompt).await, [(debate(1), ChangeKind::Written)]);
        feed.ring(debate(1), ChangeKind::Presence);
        assert_eq!(next(&mut prompt).await, [(debate(1), ChangeKind::Presence)]);
        assert_eq!(
            next(&mut late).await,
            [(debate(2), ChangeKind::Presence), (debate(1), ChangeKind::Opened)]
        );
    }

    #[tokio::test]
    async fn a_new_follower_gets_later_changes_only() {
        let feed = Feed::default();
        feed.ring(debate(1), ChangeKind::Opened);
        let mut following = feed.follow();
        feed.ring(debate(2), ChangeKind::Opened);
        assert_eq!(next(&mut following).await, [(debate(2), ChangeKind::Opened)]);
        let mut second = feed.follow();
        assert!(timeout(Duration::from_millis(20), second.next()).await.is_err());
    }

    #[tokio::test]
    async fn a_change_wakes_a_waiting_follower() {
        let feed = Feed::default();
        let mut following = feed.follow();
        let waiting = tokio::spawn(async move { next(&mut following).await });
        tokio::task::yield_now().await;
        feed.ring(debate(3), ChangeKind::Written);
        assert_eq!(waiting.await.unwrap(), [(debate(3), ChangeKind::Written)]);
    }

    #[tokio::test]
    async fn a_long_list_arrives_in_parts_and_a_follower_beyond_its_end_is_too_slow() {
        let feed = Feed::default();
        let (mut reader, mut sleeper) = (feed.follow(), feed.follow());
        let mut seen = 0;
        for number in 0..=REACH as u128 {
            feed.ring(debate(number), ChangeKind::Opened);
            if number % 1_000 == 0 {
                while seen < number {
                    seen += next(&mut reader).await.len() as u128;
                }
            }
        }
        assert_eq!(sleeper.next().await, Err(TooSlow));
        assert_eq!(feed.list().changes.len(), REACH);
        // A follower that starts over gets new changes.
        let mut anew = feed.follow();
        feed.ring(debate(7), ChangeKind::Written);
        assert_eq!(next(&mut anew).await, [(debate(7), ChangeKind::Written)]);
    }

    #[tokio::test]
    async fn all_followers_start_over_when_it_is_unknown_what_has_changed() {
        let feed = Feed::default();
        let mut following = feed.follow();
        feed.start_over();
        assert_eq!(following.next().await, Err(TooSlow));
        let mut anew = feed.follow();
        feed.ring(debate(1), ChangeKind::Written);
        assert_eq!(next(&mut anew).await, [(debate(1), ChangeKind::Written)]);
    }

    #[tokio::test]
    async fn without_followers_the_list_stays_empty() {
        let feed = Feed::default();
        let following = feed.follow();
        feed.ring(debate(1), ChangeKind::Opened);
        drop(following);
        feed.ring(debate(2), ChangeKind::Opened);
        assert_eq!(feed.list().changes.len(), 0);
    }
}
