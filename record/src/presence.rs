//! Presence: which roles wait in which debate now, and when each was last seen there.
//!
//! It lives in memory only, and only the engine updates it. Servers that share a record exchange
//! their changes ([`PresenceTracker::changes`], [`PresenceTracker::learn`]). A role counts as waiting
//! while one of its waits is held, and for [`LINGER`] after a poll or after a wait that ended without
//! news, so that a renewed wait is one wait. A bell rings when a role begins or stops waiting.
//!
//! A held wait costs no timer. One task watches the clock, and only while a role lingers.
//! [`PresenceState`] makes all decisions and gets the time as an argument.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aw_core::{ByRole, DebateId, Role, Time};
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep_until};
use uuid::Uuid;

use crate::bell::{Bell, Listening};
use crate::feed::{ChangeKind, Feed};
use crate::recent::Recent;

/// How long a role counts as waiting after a poll.
const LINGER: Duration = Duration::from_secs(5);

/// How long an inactive debate is remembered.
const REMEMBERED: Duration = Duration::from_secs(24 * 60 * 60);

/// The most debates that are remembered, not counting those in which a role waits.
const KEPT: usize = 20_000;

/// The presence of a role in a debate since the server started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sign {
    /// Whether it waits now.
    pub waiting: bool,
    /// When it last waited, polled or wrote.
    pub last_seen: Option<Time>,
}

/// The sign of a role in a debate, as one server sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RoleSign {
    pub(crate) debate: DebateId,
    pub(crate) role: Role,
    pub(crate) sign: Sign,
}

/// Tracks the presence of all roles; clones share it.
#[derive(Debug, Clone)]
pub(crate) struct PresenceTracker {
    state: Arc<Mutex<PresenceState>>,
    bell: Bell,
    feed: Feed,
}

impl PresenceTracker {
    /// An empty tracker that announces changes to this feed.
    pub(crate) fn new(feed: Feed) -> Self {
        PresenceTracker { state: Arc::default(), bell: Bell::default(), feed }
    }

    /// Records that a role has written into a debate.
    pub(crate) fn wrote(&self, debate: DebateId, role: Role, at: Time) {
        self.state().wrote(debate, role, at, Instant::now());
    }

    /// Records that a role polls or begins to wait. The debate must exist.
    pub(crate) fn arrives(&self, debate: DebateId, role: Role, at: Time) -> Waiting {
        let began = Instant::now();
        let changed = self.state().arrive(debate, role, at, began);
        if changed {
            self.announce(debate);
        }
        Waiting { debate, role, began, answered: None, presence: self.clone() }
    }

    /// The sign of each role in a debate.
    pub(crate) fn of(&self, debate: DebateId) -> ByRole<Sign> {
        let state = self.state();
        ByRole::of(|role| state.sign(debate, role))
    }

    /// Starts collecting changes for other servers.
    pub(crate) fn share(&self) {
        self.state().changed = Some(HashSet::new());
    }

    /// The signs of this server: of debates that changed since the last call, or of all.
    pub(crate) fn changes(&self, all: bool) -> Vec<RoleSign> {
        self.state().changes(all)
    }

    /// Takes a sign from another server.
    pub(crate) fn learn(&self, server: Uuid, seen: RoleSign) {
        if self.state().learn(server, seen) {
            self.announce(seen.debate);
        }
    }

    /// Takes the list of living servers: nobody waits on any other.
    pub(crate) fn alive(&self, servers: &[Uuid]) {
        let gone = self.state().alive(servers);
        for debate in gone {
            self.announce(debate);
        }
    }

    /// Wakes all listeners.
    pub(crate) fn ring_all(&self) {
        self.bell.ring_all();
    }

    /// Listens for changes in a debate. Call this first, then [`PresenceTracker::of`].
    pub(crate) fn listen(&self, debate: DebateId) -> Listening {
        self.bell.listen(debate)
    }

    /// Removes a deleted debate.
    pub(crate) fn forget(&self, debate: DebateId) {
        let mut state = self.state();
        state.debates.remove(debate);
        state.elsewhere.remove(&debate);
    }

    fn announce(&self, debate: DebateId) {
        self.bell.ring(debate);
        self.feed.ring(debate, ChangeKind::Presence);
    }

    /// Ends lingering roles; runs while any role lingers.
    async fn watch_the_clock(self) {
        loop {
            let (gone, next) = self.state().expire(Instant::now());
            for debate in gone {
                self.announce(debate);
            }
            let Some(next) = next else { return };
            sleep_until(next).await;
        }
    }

    fn state(&self) -> MutexGuard<'_, PresenceState> {
        // Nothing that holds the lock can panic half way through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A wait. If it is dropped without [`Waiting::answered`], the waiter has left.
#[derive(Debug)]
pub(crate) struct Waiting {
    debate: DebateId,
    role: Role,
    began: Instant,
    answered: Option<Answered>,
    presence: PresenceTracker,
}

#[derive(Debug, Clone, Copy)]
struct Answered {
    with_news: bool,
    at: Time,
}

impl Waiting {
    /// Ends the wait with an answer. A role that gets news has something to do and waits no more.
    pub(crate) fn answered(mut self, with_news: bool, at: Time) {
        self.answered = Some(Answered { with_news, at });
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let now = Instant::now();
        let from = if self.answered.is_some_and(|it| it.with_news) { self.began } else { now };
        let at = self.answered.map(|it| it.at);
        let left = self.presence.state().leave(self.debate, self.role, from + LINGER, at, now);
        if left.changed {
            self.presence.announce(self.debate);
        }
        if left.wants_clock {
            match Handle::try_current() {
                Ok(runtime) => drop(runtime.spawn(self.presence.clone().watch_the_clock())),
                // The runtime is shutting down; there are no listeners left.
                Err(_) => self.presence.state().watched = false,
            }
        }
    }
}

/// The presence of all roles, and the decisions about it.
#[derive(Debug, Default)]
struct PresenceState {
    debates: Recent<DebatePresence>,
    /// Linger deadlines, earliest first; each role of a debate at most once.
    due: BinaryHeap<Reverse<(Instant, DebateId, Role)>>,
    /// Whether the clock task runs.
    watched: bool,
    /// The signs from other servers.
    elsewhere: HashMap<DebateId, Vec<(Uuid, Role, Sign)>>,
    /// The debates that changed since the last report to other servers, if there are any servers.
    changed: Option<HashSet<DebateId>>,
}

#[derive(Debug, Default)]
struct DebatePresence {
    roles: ByRole<RolePresence>,
    touched: Option<Instant>,
}

/// One role in one debate.
#[derive(Debug, Clone, Copy, Default)]
struct RolePresence {
    sign: Sign,
    /// How many waits are held.
    held: u32,
    /// Until when it counts as waiting without a held wait.
    until: Option<Instant>,
    /// Whether it has a linger deadline.
    due: bool,
}

/// The consequences of the end of a wait.
#[derive(Debug, Default, PartialEq, Eq)]
struct Departure {
    /// The role has stopped waiting.
    changed: bool,
    /// The clock task must start.
    wants_clock: bool,
}

impl PresenceState {
    /// The sign of a role, combined over all servers.
    fn sign(&self, debate: DebateId, role: Role) -> Sign {
        let here = self.debates.get(debate).map(|here| here.roles.get(role).sign);
        let there = self.elsewhere.get(&debate).into_iter().flatten();
        let there = there.filter(|(_, of, _)| *of == role).map(|(_, _, sign)| *sign);
        here.into_iter().chain(there).fold(Sign::default(), |known, sign| Sign {
            waiting: known.waiting || sign.waiting,
            last_seen: known.last_seen.max(sign.last_seen),
        })
    }

    fn changes(&mut self, all: bool) -> Vec<RoleSign> {
        let Some(changed) = &mut self.changed else { return Vec::new() };
        let mut debates = std::mem::take(changed);
        if all {
            debates.extend(self.debates.after(0).map(|(_, debate, _)| debate));
        }
        let signs = debates.into_iter().flat_map(|debate| {
            let here = self.debates.get(debate);
            Role::ALL.iter().filter_map(move |role| {
                let sign = here?.roles.get(*role).sign;
                sign.last_seen.is_some().then_some(RoleSign { debate, role: *role, sign })
            })
        });
        signs.collect()
    }

    /// Returns whether this changes who waits.
    fn learn(&mut self, server: Uuid, seen: RoleSign) -> bool {
        let before = self.sign(seen.debate, seen.role).waiting;
        if self.elsewhere.len() > KEPT {
            self.elsewhere.retain(|_, signs| signs.iter().any(|(_, _, sign)| sign.waiting));
        }
        let signs = self.elsewhere.entry(seen.debate).or_default();
        match signs.iter_mut().find(|(of, role, _)| (*of, *role) == (server, seen.role)) {
            Some((_, _, sign)) => *sign = seen.sign,
            None => signs.push((server, seen.role, seen.sign)),
        }
        self.sign(seen.debate, seen.role).waiting != before
    }

    /// Removes the waits of dead servers and returns their debates.
    fn alive(&mut self, servers: &[Uuid]) -> Vec<DebateId> {
        let mut gone = Vec::new();
        for (debate, signs) in &mut self.elsewhere {
            for (server, _, sign) in signs {
                if sign.waiting && !servers.contains(server) {
                    sign.waiting = false;
                    gone.push(*debate);
                }
            }
        }
        gone
    }

    fn wrote(&mut self, debate: DebateId, role: Role, at: Time, now: Instant) {
        self.touch(debate, now).roles.of_mut(role).sign.last_seen = Some(at);
    }

    /// Returns whether the role begins to wait with this.
    fn arrive(&mut self, debate: DebateId, role: Role, at: Time, now: Instant) -> bool {
        let known = self.touch(debate, now).roles.of_mut(role);
        known.held += 1;
        known.sign.last_seen = Some(at);
        !std::mem::replace(&mut known.sign.waiting, true)
    }

    /// Ends one wait. The role counts as waiting until `until`.
    fn leave(
        &mut self,
        debate: DebateId,
        role: Role,
        until: Instant,
        at: Option<Time>,
        now: Instant,
    ) -> Departure {
        if self.debates.get(debate).is_none() {
            // The debate was deleted meanwhile.
            return Departure::default();
        }
        let known = self.touch(debate, now).roles.of_mut(role);
        known.held = known.held.saturating_sub(1);
        known.sign.last_seen = at.or(known.sign.last_seen);
        let until = known.until.max(Some(until)).unwrap_or(until);
        known.until = Some(until);
        if known.held > 0 {
            return Departure::default();
        }
        if until <= now {
            let changed = std::mem::replace(&mut known.sign.waiting, false);
            return Departure { changed, wants_clock: false };
        }
        if std::mem::replace(&mut known.due, true) {
            return Departure::default();
        }
        self.due.push(Reverse((until, debate, role)));
        Departure { changed: false, wants_clock: !std::mem::replace(&mut self.watched, true) }
    }

    /// Ends the roles whose deadline has passed. Returns their debates and the next deadline.
    fn expire(&mut self, now: Instant) -> (Vec<DebateId>, Option<Instant>) {
        let mut gone = Vec::new();
        loop {
            let next = self.due.peek().map(|Reverse((at, ..))| *at);
            if next.is_none_or(|at| at > now) {
                self.watched = next.is_some();
                return (gone, next);
            }
            let Some(Reverse((_, debate, role))) = self.due.pop() else { continue };
            let Some(here) = self.debates.get_mut(debate) else { continue };
            let known = here.roles.of_mut(role);
            known.due = false;
            if known.held > 0 {
                continue;
            }
            match known.until.filter(|until| *until > now) {
                Some(until) => {
                    known.due = true;
                    self.due.push(Reverse((until, debate, role)));
                }
                None if std::mem::replace(&mut known.sign.waiting, false) => {
                    gone.push(debate);
                    self.changed.as_mut().map(|changed| changed.insert(debate));
                }
                None => {}
            }
        }
    }

    fn touch(&mut self, debate: DebateId, now: Instant) -> &mut DebatePresence {
        // Removes up to two old debates for each new one, so that the list can shrink.
        for _ in 0..2 {
            let Some((_, oldest)) = self.debates.oldest() else { break };
            let Some(here) = self.debates.get(oldest) else { break };
            let old = here.touched.is_none_or(|touched| now - touched > REMEMBERED);
            if !old && self.debates.len() <= KEPT {
                break;
            }
            if Role::ALL.iter().any(|role| here.roles.get(*role).sign.waiting) {
                self.debates.touch(oldest).1.touched = Some(now);
            } else {
                self.debates.remove(oldest);
            }
        }
        if let Some(changed) = &mut self.changed {
            changed.insert(debate);
        }
        let (_, here) = self.debates.touch(debate);
        here.touched = Some(now);
        here
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Time = Time(7);

    fn debate(number: u128) -> DebateId {
        Uuid::from_u128(number).into()
    }

    /// A presence state with a clock that the test moves.
    struct Story {
        state: PresenceState,
        now: Instant,
    }

    impl Story {
        fn begin() -> Self {
            Story { state: PresenceState::default(), now: Instant::now() }
        }

        /// Lets time pass; returns whether a role stopped waiting.
        fn pass(&mut self, seconds: f64) -> bool {
            self.now += Duration::from_secs_f64(seconds);
            !self.state.expire(self.now).0.is_empty()
        }

        fn arrive(&mut self) -> bool {
            self.state.arrive(debate(1), Role::Opponent, AT, self.now)
        }

        fn leave(&mut self) -> Departure {
            let until = self.now + LINGER;
            self.state.leave(debate(1), Role::Opponent, until, Some(AT), self.now)
        }

        /// Ends a wait with news, so many seconds after it began.
        fn leave_with_news(&mut self, after: f64) -> bool {
            let until = self.now - Duration::from_secs_f64(after) + LINGER;
            self.state.leave(debate(1), Role::Opponent, until, Some(AT), self.now).changed
        }

        fn waits(&self) -> bool {
            self.state.debates.get(debate(1)).unwrap().roles.opponent.sign.waiting
        }
    }

    #[test]
    fn a_poll_counts_as_waiting_for_five_seconds() {
        let mut story = Story::begin();
        assert!(story.arrive());
        assert_eq!(story.leave(), Departure { changed: false, wants_clock: true });
        assert!(!story.pass(4.99) && story.waits());
        assert!(story.pass(0.02) && !story.waits());
        assert!(!story.state.watched);
    }

    #[test]
    fn a_wait_that_is_renewed_in_time_is_one_wait() {
        let mut story = Story::begin();
        assert!(story.arrive());
        for _ in 0..10 {
            assert!(!story.pass(60.0));
            assert!(!story.leave().changed);
            assert!(!story.pass(4.9));
            assert!(!story.arrive(), "it was announced as new");
        }
        // The same if the new wait begins before the old one ends.
        assert!(!story.arrive());
        assert_eq!(story.leave(), Departure::default());
        assert!(!story.pass(100.0) && story.waits());
    }

    #[test]
    fn a_role_that_polls_repeatedly_has_one_deadline() {
        let mut story = Story::begin();
        assert!(story.arrive());
        assert!(story.leave().wants_clock);
        for _ in 0..1_000 {
            assert!(!story.pass(0.5));
            assert!(!story.arrive());
            assert_eq!(story.leave(), Departure::default());
            assert_eq!(story.state.due.len(), 1);
        }
        assert!(story.pass(5.0));
        assert_eq!(story.state.due.len(), 0);
    }

    #[test]
    fn a_role_that_gets_news_stops_waiting() {
        let mut story = Story::begin();
        assert!(story.arrive());
        assert!(!story.pass(30.0));
        assert!(story.leave_with_news(30.0));
        assert!(!story.waits());
        // But a wait that began less than five seconds ago still counts as a poll.
        assert!(story.arrive());
        story.now += Duration::from_secs(1);
        assert!(!story.leave_with_news(1.0));
        assert!(!story.pass(3.9));
        assert!(story.pass(0.2));
    }

    #[test]
    fn a_role_with_two_waits_waits_until_the_last_one_ends() {
        let mut story = Story::begin();
        assert!(story.arrive());
        assert!(!story.arrive());
        assert_eq!(story.leave(), Departure::default());
        assert!(!story.pass(1_000.0) && story.waits());
        story.leave();
        assert!(story.pass(5.0) && !story.waits());
    }

    #[test]
    fn a_deleted_debate_leaves_nothing_behind() {
        let mut story = Story::begin();
        story.arrive();
        story.arrive();
        story.leave();
        story.state.debates.remove(debate(1));
        assert_eq!(story.leave(), Departure::default());
        assert_eq!(story.state.debates.len(), 0);
        assert!(!story.pass(10.0));
    }

    #[test]
    fn memory_is_bounded_and_a_waiting_role_is_never_forgotten() {
        let mut story = Story::begin();
        story.arrive();
        for number in 2..3 * KEPT as u128 {
            story.state.wrote(debate(number), Role::Proposer, AT, story.now);
        }
        assert!(story.state.debates.len() <= KEPT + 1, "{}", story.state.debates.len());
        assert!(story.waits());
        // After a day, new activity removes them.
        story.now += REMEMBERED + Duration::from_secs(1);
        for number in 0..KEPT as u128 {
            story.state.wrote(debate(2 + number % 3), Role::Proposer, AT, story.now);
        }
        assert_eq!(story.state.debates.len(), 4);
        assert!(story.waits());
    }

    #[test]
    fn an_inactive_debate_is_remembered_for_a_day() {
        let mut story = Story::begin();
        story.state.wrote(debate(1), Role::Proposer, AT, story.now);
        story.now += Duration::from_secs(24 * 60 * 60);
        story.state.wrote(debate(2), Role::Proposer, AT, story.now);
        assert!(story.state.debates.get(debate(1)).is_some());
        story.now += Duration::from_millis(1);
        story.state.wrote(debate(3), Role::Proposer, AT, story.now);
        assert!(story.state.debates.get(debate(1)).is_none());
        assert!(story.state.debates.get(debate(2)).is_some());
    }

    #[test]
    fn a_wait_on_another_server_counts_until_that_server_is_gone() {
        let (mut story, other, third) = (Story::begin(), Uuid::from_u128(8), Uuid::from_u128(9));
        let sign = |waiting, at| Sign { waiting, last_seen: Some(Time(at)) };
        let seen = |waiting, at| RoleSign {
            debate: debate(1),
            role: Role::Opponent,
            sign: sign(waiting, at),
        };
        assert!(story.state.changes(true).is_empty(), "there are no other servers");
        story.state.changed = Some(HashSet::new());
        assert!(story.state.learn(other, seen(true, 3)));
        assert!(!story.state.learn(third, seen(true, 9)), "it waits already");
        assert_eq!(story.state.sign(debate(1), Role::Opponent), sign(true, 9));
        assert!(!story.state.learn(other, seen(false, 4)));
        assert!(story.state.alive(&[other, third]).is_empty());
        assert_eq!(story.state.alive(&[other]), [debate(1)]);
        assert_eq!(story.state.sign(debate(1), Role::Opponent), sign(false, 9));
        assert!(story.state.changes(true).is_empty(), "a sign from elsewhere is not reported back");

        story.arrive();
        let waits = [seen(true, AT.0)];
        assert_eq!(story.state.changes(false), waits);
        assert!(story.state.changes(false).is_empty());
        assert_eq!(story.state.changes(true), waits);
        story.leave();
        assert!(story.pass(6.0));
        assert_eq!(story.state.changes(false), [seen(false, AT.0)]);
    }

    #[tokio::test]
    async fn a_role_that_does_not_poll_again_is_announced_as_gone() {
        let presence = PresenceTracker::new(Feed::default());
        let mut changes = presence.listen(debate(1));
        let mut change = async || {
            let next = tokio::time::timeout(Duration::from_secs(60), changes.next());
            next.await.expect("no change was announced");
        };
        let waiting = presence.arrives(debate(1), Role::Opponent, AT);
        change().await;
        let later = Time(8);
        waiting.answered(false, later);
        let sign = || presence.of(debate(1)).opponent;
        assert_eq!(sign(), Sign { waiting: true, last_seen: Some(later) });
        change().await;
        assert_eq!(sign(), Sign { waiting: false, last_seen: Some(later) });
    }

    #[tokio::test]
    async fn a_role_that_gets_news_after_a_long_wait_is_gone_at_once() {
        let presence = PresenceTracker::new(Feed::default());
        let mut waiting = presence.arrives(debate(1), Role::Opponent, AT);
        waiting.began -= LINGER;
        waiting.answered(true, AT);
        assert!(!presence.of(debate(1)).opponent.waiting);
        // A wait that ends without an answer does not update when the role was last seen.
        drop(presence.arrives(debate(1), Role::Opponent, AT));
        assert_eq!(presence.of(debate(1)).opponent.last_seen, Some(AT));
        presence.forget(debate(1));
        assert_eq!(presence.of(debate(1)).opponent, Sign::default());
    }
}
