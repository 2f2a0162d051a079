//! PresenceTracker: who waits in which debate right now, and when each role was last seen there.
//!
//! It lives in memory only, and only the engine notes it; where several servers share a record, each
//! tells the others what changes here ([`PresenceTracker::changes`]) and learns what is so there. A role waits while a wait of its is held,
//! and for [`LINGER`] after a poll, or after a wait that ended without news: so a wait that is only
//! renewed is one wait. Its own bell rings when somebody begins or ceases to wait, and never
//! otherwise.
//!
//! A held wait costs no timer. One task looks at the clock, and only while somebody lingers.
//! [`PresenceState`] holds all that is decided here and is told what time it is.

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

/// How long a poll counts as waiting.
const LINGER: Duration = Duration::from_secs(5);

/// A debate without a sign of life for so long is forgotten.
const REMEMBERED: Duration = Duration::from_secs(24 * 60 * 60);

/// The most debates that are remembered besides those in which somebody waits.
const KEPT: usize = 20_000;

/// What is known of a role in a debate since the server started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sign {
    /// Whether it waits now.
    pub waiting: bool,
    /// When it last waited, polled or wrote.
    pub last_seen: Option<Time>,
}

/// Who is where, as one server sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RoleSign {
    pub(crate) debate: DebateId,
    pub(crate) role: Role,
    pub(crate) sign: Sign,
}

/// Who is where; clones share it.
#[derive(Debug, Clone)]
pub(crate) struct PresenceTracker {
    state: Arc<Mutex<PresenceState>>,
    bell: Bell,
    feed: Feed,
}

impl PresenceTracker {
    /// Nobody yet; who comes and goes is told to this feed.
    pub(crate) fn new(feed: Feed) -> Self {
        PresenceTracker { state: Arc::default(), bell: Bell::default(), feed }
    }

    /// Notes that a role has written into a debate.
    pub(crate) fn wrote(&self, debate: DebateId, role: Role, at: Time) {
        self.state().wrote(debate, role, at, Instant::now());
    }

    /// Notes that a role polls or begins to wait in a debate, which must be there.
    pub(crate) fn arrives(&self, debate: DebateId, role: Role, at: Time) -> Waiting {
        let began = Instant::now();
        let changed = self.state().arrive(debate, role, at, began);
        if changed {
            self.tell(debate);
        }
        Waiting { debate, role, began, answered: None, presence: self.clone() }
    }

    /// What is known of each role in a debate.
    pub(crate) fn of(&self, debate: DebateId) -> ByRole<Sign> {
        let state = self.state();
        ByRole::of(|role| state.sign(debate, role))
    }

    /// Begins to note what other servers must be told.
    pub(crate) fn share(&self) {
        self.state().changed = Some(HashSet::new());
    }

    /// What is so here: of the debates that have changed since the last call, or of all.
    pub(crate) fn changes(&self, all: bool) -> Vec<RoleSign> {
        self.state().changes(all)
    }

    /// Learns what is so on another server.
    pub(crate) fn learn(&self, server: Uuid, seen: RoleSign) {
        if self.state().learn(server, seen) {
            self.tell(seen.debate);
        }
    }

    /// Learns which other servers are alive: nobody waits on those that are not.
    pub(crate) fn alive(&self, servers: &[Uuid]) {
        let gone = self.state().alive(servers);
        for debate in gone {
            self.tell(debate);
        }
    }

    /// Tells everybody who listens to look.
    pub(crate) fn ring_all(&self) {
        self.bell.ring_all();
    }

    /// Listens to who comes and goes in a debate: first this, then [`PresenceTracker::of`].
    pub(crate) fn listen(&self, debate: DebateId) -> Listening {
        self.bell.listen(debate)
    }

    /// Forgets a debate that is no more.
    pub(crate) fn forget(&self, debate: DebateId) {
        let mut state = self.state();
        state.debates.remove(debate);
        state.elsewhere.remove(&debate);
    }

    fn tell(&self, debate: DebateId) {
        self.bell.ring(debate);
        self.feed.ring(debate, ChangeKind::Presence);
    }

    /// Runs while somebody lingers.
    async fn watch_the_clock(self) {
        loop {
            let (gone, next) = self.state().expire(Instant::now());
            for debate in gone {
                self.tell(debate);
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

/// Somebody who waits. Dropping it unanswered means that whoever waited has left.
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
    /// Ends it with an answer. Who is given news has something to do and does not wait any more.
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
            self.presence.tell(self.debate);
        }
        if left.wants_clock {
            match Handle::try_current() {
                Ok(runtime) => drop(runtime.spawn(self.presence.clone().watch_the_clock())),
                // Everything ends; nobody is left to be told.
                Err(_) => self.presence.state().watched = false,
            }
        }
    }
}

/// All that is known, and what follows from it.
#[derive(Debug, Default)]
struct PresenceState {
    debates: Recent<DebatePresence>,
    /// When to look at whom who lingers, the earliest first: each role of a debate at most once.
    due: BinaryHeap<Reverse<(Instant, DebateId, Role)>>,
    /// Whether somebody watches the clock.
    watched: bool,
    /// What is so on other servers.
    elsewhere: HashMap<DebateId, Vec<(Uuid, Role, Sign)>>,
    /// The debates of which other servers must be told, where there are any.
    changed: Option<HashSet<DebateId>>,
}

#[derive(Debug, Default)]
struct DebatePresence {
    roles: ByRole<RolePresence>,
    touched: Option<Instant>,
}

/// What is known of one role in one debate.
#[derive(Debug, Clone, Copy, Default)]
struct RolePresence {
    sign: Sign,
    /// How many waits are held.
    held: u32,
    /// Until when it waits, whether or not a wait is held.
    until: Option<Instant>,
    /// Whether it is among those that are due.
    due: bool,
}

/// What follows when somebody leaves.
#[derive(Debug, Default, PartialEq, Eq)]
struct Departure {
    /// The role does not wait any more.
    changed: bool,
    /// Somebody must watch the clock from now on.
    wants_clock: bool,
}

impl PresenceState {
    /// What is known of a role, wherever it is.
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

    /// Whether that makes somebody wait who did not, or the other way round.
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

    /// The debates in which somebody has ceased to wait with a server that is no more.
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

    /// Whether the role did not wait before.
    fn arrive(&mut self, debate: DebateId, role: Role, at: Time, now: Instant) -> bool {
        let known = self.touch(debate, now).roles.of_mut(role);
        known.held += 1;
        known.sign.last_seen = Some(at);
        !std::mem::replace(&mut known.sign.waiting, true)
    }

    /// Ends one wait, whose role goes on waiting until then.
    fn leave(
        &mut self,
        debate: DebateId,
        role: Role,
        until: Instant,
        at: Option<Time>,
        now: Instant,
    ) -> Departure {
        if self.debates.get(debate).is_none() {
            // It was deleted meanwhile.
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

    /// The debates in which somebody has ceased to wait, and when to ask again.
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
        // Two for one that comes, so that it gets smaller again.
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

    /// A state in which time passes as the test says.
    struct Story {
        state: PresenceState,
        now: Instant,
    }

    impl Story {
        fn begin() -> Self {
            Story { state: PresenceState::default(), now: Instant::now() }
        }

        /// Whether somebody has ceased to wait when so many seconds have passed.
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

        /// Leaves with news, so many seconds after it had come.
        fn leave_with_news(&mut self, after: f64) -> bool {
            let until = self.now - Duration::from_secs_f64(after) + LINGER;
            self.state.leave(debate(1), Role::Opponent, until, Some(AT), self.now).changed
        }

        fn waits(&self) -> bool {
            self.state.debates.get(debate(1)).unwrap().roles.opponent.sign.waiting
        }
    }

    #[test]
    fn a_poll_counts_for_five_seconds() {
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
            assert!(!story.arrive(), "it was told as new");
        }
        // A renewal also while the old one is still held.
        assert!(!story.arrive());
        assert_eq!(story.leave(), Departure::default());
        assert!(!story.pass(100.0) && story.waits());
    }

    #[test]
    fn who_polls_again_and_again_is_looked_at_once_at_a_time() {
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
    fn who_is_given_news_does_not_wait_any_more() {
        let mut story = Story::begin();
        assert!(story.arrive());
        assert!(!story.pass(30.0));
        assert!(story.leave_with_news(30.0));
        assert!(!story.waits());
        // But one that came only just now is a poll of the last five seconds.
        assert!(story.arrive());
        story.now += Duration::from_secs(1);
        assert!(!story.leave_with_news(1.0));
        assert!(!story.pass(3.9));
        assert!(story.pass(0.2));
    }

    #[test]
    fn of_two_who_wait_for_one_role_the_last_one_to_go_counts() {
        let mut story = Story::begin();
        assert!(story.arrive());
        assert!(!story.arrive());
        assert_eq!(story.leave(), Departure::default());
        assert!(!story.pass(1_000.0) && story.waits());
        story.leave();
        assert!(story.pass(5.0) && !story.waits());
    }

    #[test]
    fn a_debate_that_is_deleted_leaves_nothing_behind() {
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
    fn memory_has_a_bound_and_who_waits_is_never_forgotten() {
        let mut story = Story::begin();
        story.arrive();
        for number in 2..3 * KEPT as u128 {
            story.state.wrote(debate(number), Role::Proposer, AT, story.now);
        }
        assert!(story.state.debates.len() <= KEPT + 1, "{}", story.state.debates.len());
        assert!(story.waits());
        // After a day they go, as others come.
        story.now += REMEMBERED + Duration::from_secs(1);
        for number in 0..KEPT as u128 {
            story.state.wrote(debate(2 + number % 3), Role::Proposer, AT, story.now);
        }
        assert_eq!(story.state.debates.len(), 4);
        assert!(story.waits());
    }

    #[test]
    fn a_debate_without_a_sign_of_life_is_remembered_for_a_day() {
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
    fn what_is_so_on_other_servers_counts_until_they_are_gone() {
        let (mut story, other, third) = (Story::begin(), Uuid::from_u128(8), Uuid::from_u128(9));
        let sign = |waiting, at| Sign { waiting, last_seen: Some(Time(at)) };
        let seen = |waiting, at| RoleSign {
            debate: debate(1),
            role: Role::Opponent,
            sign: sign(waiting, at),
        };
        assert!(story.state.changes(true).is_empty(), "nobody is told");
        story.state.changed = Some(HashSet::new());
        assert!(story.state.learn(other, seen(true, 3)));
        assert!(!story.state.learn(third, seen(true, 9)), "it waits already");
        assert_eq!(story.state.sign(debate(1), Role::Opponent), sign(true, 9));
        assert!(!story.state.learn(other, seen(false, 4)));
        assert!(story.state.alive(&[other, third]).is_empty());
        assert_eq!(story.state.alive(&[other]), [debate(1)]);
        assert_eq!(story.state.sign(debate(1), Role::Opponent), sign(false, 9));
        assert!(story.state.changes(true).is_empty(), "others know that");

        story.arrive();
        let told = [seen(true, AT.0)];
        assert_eq!(story.state.changes(false), told);
        assert!(story.state.changes(false).is_empty());
        assert_eq!(story.state.changes(true), told);
        story.leave();
        assert!(story.pass(6.0));
        assert_eq!(story.state.changes(false), [seen(false, AT.0)]);
    }

    #[tokio::test]
    async fn who_has_polled_and_does_not_come_back_is_told_to_have_gone() {
        let presence = PresenceTracker::new(Feed::default());
        let mut comes_and_goes = presence.listen(debate(1));
        let mut heard = async || {
            let told = tokio::time::timeout(Duration::from_secs(60), comes_and_goes.next());
            told.await.expect("nobody was told");
        };
        let waiting = presence.arrives(debate(1), Role::Opponent, AT);
        heard().await;
        let later = Time(8);
        waiting.answered(false, later);
        let sign = || presence.of(debate(1)).opponent;
        assert_eq!(sign(), Sign { waiting: true, last_seen: Some(later) });
        heard().await;
        assert_eq!(sign(), Sign { waiting: false, last_seen: Some(later) });
    }

    #[tokio::test]
    async fn who_waited_long_and_is_given_news_is_told_to_have_gone_at_once() {
        let presence = PresenceTracker::new(Feed::default());
        let mut waiting = presence.arrives(debate(1), Role::Opponent, AT);
        waiting.began -= LINGER;
        waiting.answered(true, AT);
        assert!(!presence.of(debate(1)).opponent.waiting);
        // Who leaves without an answer has not been seen since it came.
        drop(presence.arrives(debate(1), Role::Opponent, AT));
        assert_eq!(presence.of(debate(1)).opponent.last_seen, Some(AT));
        presence.forget(debate(1));
        assert_eq!(presence.of(debate(1)).opponent, Sign::default());
    }
}
