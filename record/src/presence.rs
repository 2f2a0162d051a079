//! Presence: which roles wait in which debate now, what each works on, and when it was last seen there.
//!
//! It lives in memory only, and only the engine updates it. Servers that share a record exchange
//! their changes ([`PresenceTracker::changes`], [`PresenceTracker::learn`]). A role counts as waiting
//! while one of its waits is held, and for [`LINGER`] after a poll or after a wait that ended without
//! news, so that a renewed wait is one wait. A label says what a role works on. It lasts for
//! [`LABEL_LASTS`] after it was last set. A bell rings when a role begins or stops waiting, and when its
//! label changes.
//!
//! Labels stay on the server that got them: the table in which servers exchange their signs has no
//! column for them.
//!
//! A held wait costs no timer. One task watches the clock while a role lingers, and another while a
//! role has a label. Deadlines of one kind come in the order in which they were set, so neither task
//! must be woken early.
//! [`PresenceState`] makes all decisions and gets the time as an argument.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aw_core::{ByRole, DebateId, Role, Time, WorkLabel};
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep_until};
use uuid::Uuid;

use crate::bell::{Bell, Listening};
use crate::feed::{ChangeKind, Feed};
use crate::recent::Recent;

/// How long a role counts as waiting after a poll.
const LINGER: Duration = Duration::from_secs(5);

/// How long a label lasts after it was last set.
const LABEL_LASTS: Duration = Duration::from_secs(60);

/// How long an inactive debate is remembered.
const REMEMBERED: Duration = Duration::from_secs(24 * 60 * 60);

/// The most debates that are remembered, not counting those in which a role waits or works.
const KEPT: usize = 20_000;

/// The presence of a role in a debate since the server started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sign {
    /// Whether it waits now.
    pub waiting: bool,
    /// When it last waited, polled, wrote or set its label.
    pub last_seen: Option<Time>,
    /// Its current work. Shared, because every follower of the debate gets a copy.
    pub working: Option<Arc<Working>>,
}

/// The current work of a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Working {
    /// In its own words.
    pub label: WorkLabel,
    /// Since when it has had a label without a break.
    pub since: Time,
}

/// The sign of a role in a debate, as one server sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
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

    /// Sets or clears the label of a role. The debate must exist.
    pub(crate) fn works(&self, debate: DebateId, role: Role, label: Option<WorkLabel>, at: Time) {
        let effect = self.state().work(debate, role, label, at, Instant::now());
        if effect.changed {
            self.announce(debate);
        }
        if effect.wants_clock {
            match Handle::try_current() {
                Ok(runtime) => drop(runtime.spawn(self.clone().watch_labels())),
                // The runtime is shutting down; there are no listeners left.
                Err(_) => self.state().labels_watched = false,
            }
        }
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
        let debate = seen.debate;
        if self.state().learn(server, seen) {
            self.announce(debate);
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

    /// Ends labels that were not renewed; runs while any role has a label.
    async fn watch_labels(self) {
        loop {
            let (gone, next) = self.state().expire_labels(Instant::now());
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
    /// The deadlines of labels, earliest first; each role of a debate at most once.
    labels_due: BinaryHeap<Reverse<(Instant, DebateId, Role)>>,
    /// Whether the clock task of the labels runs.
    labels_watched: bool,
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
#[derive(Debug, Clone, Default)]
struct RolePresence {
    sign: Sign,
    /// How many waits are held.
    held: u32,
    /// Until when it counts as waiting without a held wait.
    until: Option<Instant>,
    /// Whether it has a linger deadline.
    due: bool,
    /// Until when its label lasts.
    label_until: Option<Instant>,
    /// Whether its label has a deadline.
    label_due: bool,
}

/// The work that must follow a change.
#[derive(Debug, Default, PartialEq, Eq)]
struct Effect {
    /// Others must hear of it.
    changed: bool,
    /// The clock task must start.
    wants_clock: bool,
}

impl PresenceState {
    /// The sign of a role, combined over all servers.
    fn sign(&self, debate: DebateId, role: Role) -> Sign {
        let here = self.debates.get(debate).map(|here| here.roles.at(role).sign.clone());
        let there = self.elsewhere.get(&debate).into_iter().flatten();
        let there = there.filter(|(_, of, _)| *of == role).map(|(_, _, sign)| sign.clone());
        here.into_iter().chain(there).fold(Sign::default(), |known, sign| Sign {
            waiting: known.waiting || sign.waiting,
            last_seen: known.last_seen.max(sign.last_seen),
            working: known.working.or(sign.working),
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
                let sign = here?.roles.at(*role).sign.clone();
                sign.last_seen.is_some().then_some(RoleSign { debate, role: *role, sign })
            })
        });
        signs.collect()
    }

    /// Returns whether this changes who waits.
    fn learn(&mut self, server: Uuid, seen: RoleSign) -> bool {
        let RoleSign { debate, role: of, sign: new } = seen;
        let before = self.sign(debate, of).waiting;
        if self.elsewhere.len() > KEPT {
            self.elsewhere.retain(|_, signs| signs.iter().any(|(_, _, sign)| sign.waiting));
        }
        let signs = self.elsewhere.entry(debate).or_default();
        match signs.iter_mut().find(|(there, role, _)| (*there, *role) == (server, of)) {
            Some((_, _, sign)) => *sign = new,
            None => signs.push((server, of, new)),
        }
        self.sign(debate, of).waiting != before
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

    /// Sets or clears the label of a role.
    fn work(
        &mut self,
        debate: DebateId,
        role: Role,
        label: Option<WorkLabel>,
        at: Time,
        now: Instant,
    ) -> Effect {
        let known = self.touch(debate, now).roles.of_mut(role);
        known.sign.last_seen = Some(at);
        let before = known.sign.working.take();
        let Some(label) = label else {
            known.label_until = None;
            return Effect { changed: before.is_some(), wants_clock: false };
        };
        let until = now + LABEL_LASTS;
        // The clock task may be late: a label whose time is over is not renewed.
        let is_renewed = known.label_until.replace(until).is_some_and(|until| until > now);
        let renewed = before.filter(|_| is_renewed);
        let changed = renewed.as_ref().is_none_or(|before| before.label != label);
        let since = renewed.map_or(at, |before| before.since);
        known.sign.working = Some(Arc::new(Working { label, since }));
        if std::mem::replace(&mut known.label_due, true) {
            return Effect { changed, wants_clock: false };
        }
        self.labels_due.push(Reverse((until, debate, role)));
        Effect { changed, wants_clock: !std::mem::replace(&mut self.labels_watched, true) }
    }

    /// Ends the labels whose deadline has passed. Returns their debates and the next deadline.
    fn expire_labels(&mut self, now: Instant) -> (Vec<DebateId>, Option<Instant>) {
        let mut gone = Vec::new();
        loop {
            let next = self.labels_due.peek().map(|Reverse((at, ..))| *at);
            if next.is_none_or(|at| at > now) {
                self.labels_watched = next.is_some();
                return (gone, next);
            }
            let Some(Reverse((_, debate, role))) = self.labels_due.pop() else { continue };
            let Some(here) = self.debates.get_mut(debate) else { continue };
            let known = here.roles.of_mut(role);
            known.label_due = false;
            match known.label_until.filter(|until| *until > now) {
                Some(until) => {
                    known.label_due = true;
                    self.labels_due.push(Reverse((until, debate, role)));
                }
                None => {
                    known.label_until = None;
                    gone.extend(known.sign.working.take().map(|_| debate));
                }
            }
        }
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
    ) -> Effect {
        if self.debates.get(debate).is_none() {
            // The debate was deleted meanwhile.
            return Effect::default();
        }
        let known = self.touch(debate, now).roles.of_mut(role);
        known.held = known.held.saturating_sub(1);
        known.sign.last_seen = at.or(known.sign.last_seen);
        let until = known.until.max(Some(until)).unwrap_or(until);
        known.until = Some(until);
        if known.held > 0 {
            return Effect::default();
        }
        if until <= now {
            let changed = std::mem::replace(&mut known.sign.waiting, false);
            return Effect { changed, wants_clock: false };
        }
        if std::mem::replace(&mut known.due, true) {
            return Effect::default();
        }
        self.due.push(Reverse((until, debate, role)));
        Effect { changed: false, wants_clock: !std::mem::replace(&mut self.watched, true) }
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
            let is_there = |sign: &Sign| sign.waiting || sign.working.is_some();
            if Role::ALL.iter().any(|role| is_there(&here.roles.at(*role).sign)) {
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
        /// The time of the newest label.
        at: Time,
    }

    impl Story {
        fn begin() -> Self {
            Story { state: PresenceState::default(), now: Instant::now(), at: AT }
        }

        /// Lets time pass; returns whether a role stopped waiting.
        fn pass(&mut self, seconds: f64) -> bool {
            self.now += Duration::from_secs_f64(seconds);
            !self.state.expire(self.now).0.is_empty()
        }

        fn arrive(&mut self) -> bool {
            self.state.arrive(debate(1), Role::Opponent, AT, self.now)
        }

        fn leave(&mut self) -> Effect {
            let until = self.now + LINGER;
            self.state.leave(debate(1), Role::Opponent, until, Some(AT), self.now)
        }

        /// Ends a wait with news, so many seconds after it began.
        fn leave_with_news(&mut self, after: f64) -> bool {
            let until = self.now - Duration::from_secs_f64(after) + LINGER;
            self.state.leave(debate(1), Role::Opponent, until, Some(AT), self.now).changed
        }

        fn work(&mut self, label: &str) -> Effect {
            let label = (!label.is_empty()).then(|| WorkLabel::recorded(label.to_owned()));
            self.at.0 += 1;
            self.state.work(debate(1), Role::Opponent, label, self.at, self.now)
        }

        /// Lets time pass; returns whether a label ended.
        fn pass_with_label(&mut self, seconds: f64) -> bool {
            self.now += Duration::from_secs_f64(seconds);
            !self.state.expire_labels(self.now).0.is_empty()
        }

        /// The label, and since when there has been one.
        fn label(&self) -> Option<(String, Time)> {
            let working = self.state.sign(debate(1), Role::Opponent).working?;
            Some((working.label.as_str().to_owned(), working.since))
        }

        fn waits(&self) -> bool {
            self.state.debates.get(debate(1)).unwrap().roles.opponent.sign.waiting
        }
    }

    #[test]
    fn a_poll_counts_as_waiting_for_five_seconds() {
        let mut story = Story::begin();
        assert!(story.arrive());
        assert_eq!(story.leave(), Effect { changed: false, wants_clock: true });
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
        assert_eq!(story.leave(), Effect::default());
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
            assert_eq!(story.leave(), Effect::default());
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
        assert_eq!(story.leave(), Effect::default());
        assert!(!story.pass(1_000.0) && story.waits());
        story.leave();
        assert!(story.pass(5.0) && !story.waits());
    }

    #[test]
    fn a_label_lasts_a_minute() {
        let mut story = Story::begin();
        assert_eq!(story.work("reads"), Effect { changed: true, wants_clock: true });
        assert_eq!(story.label(), Some(("reads".to_owned(), Time(8))));
        assert!(!story.pass_with_label(59.9) && story.label().is_some());
        assert!(story.pass_with_label(0.2));
        assert_eq!(story.label(), None);
        assert!(!story.state.labels_watched);
        assert_eq!(story.state.sign(debate(1), Role::Opponent).last_seen, Some(Time(8)));
    }

    #[test]
    fn a_label_that_is_renewed_keeps_the_time_of_its_beginning() {
        let mut story = Story::begin();
        story.work("reads");
        for label in ["reads", "writes", "writes"] {
            assert!(!story.pass_with_label(59.0));
            let is_new = story.label().unwrap().0 != label;
            assert_eq!(story.work(label), Effect { changed: is_new, wants_clock: false });
            assert_eq!(story.label(), Some((label.to_owned(), Time(8))));
            assert_eq!(story.state.labels_due.len(), 1);
        }
        assert!(story.pass_with_label(60.0) && story.label().is_none());
        // A late clock task does not join two pieces of work.
        story.work("reads");
        story.now += LABEL_LASTS;
        assert_eq!(story.work("reads"), Effect { changed: true, wants_clock: false });
        assert_eq!(story.label(), Some(("reads".to_owned(), Time(13))));
    }

    #[test]
    fn a_label_that_is_cleared_is_gone_at_once() {
        let mut story = Story::begin();
        assert_eq!(story.work(""), Effect::default());
        story.work("reads");
        assert_eq!(story.work(""), Effect { changed: true, wants_clock: false });
        assert_eq!(story.label(), None);
        assert!(!story.pass_with_label(60.0), "it is announced once");
        assert_eq!(story.work("reads"), Effect { changed: true, wants_clock: true });
        assert_eq!(story.label(), Some(("reads".to_owned(), Time(11))));
    }

    #[test]
    fn a_deleted_debate_leaves_nothing_behind() {
        let mut story = Story::begin();
        story.arrive();
        story.arrive();
        story.leave();
        story.state.debates.remove(debate(1));
        assert_eq!(story.leave(), Effect::default());
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
        let sign = |waiting, at| Sign { waiting, last_seen: Some(Time(at)), working: None };
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
        assert_eq!(sign(), Sign { waiting: true, last_seen: Some(later), working: None });
        change().await;
        assert_eq!(sign(), Sign { waiting: false, last_seen: Some(later), working: None });
    }

    #[tokio::test]
    async fn a_label_that_is_not_renewed_is_announced_as_gone() {
        let presence = PresenceTracker::new(Feed::default());
        let mut changes = presence.listen(debate(1));
        let mut change = async || {
            let next = tokio::time::timeout(Duration::from_secs(60), changes.next());
            next.await.expect("no change was announced");
        };
        let label = WorkLabel::recorded("reads".to_owned());
        presence.state().labels_watched = true;
        presence.works(debate(1), Role::Opponent, Some(label.clone()), AT);
        change().await;
        let working = presence.of(debate(1)).opponent.working;
        assert_eq!(working.as_deref(), Some(&Working { label, since: AT }));
        // A minute ago, so that the test need not wait.
        {
            let mut state = presence.state();
            let Reverse((due, ..)) = state.labels_due.pop().unwrap();
            let due = due - LABEL_LASTS;
            state.labels_due.push(Reverse((due, debate(1), Role::Opponent)));
            state.debates.get_mut(debate(1)).unwrap().roles.opponent.label_until = Some(due);
        }
        tokio::spawn(presence.clone().watch_labels());
        change().await;
        assert_eq!(presence.of(debate(1)).opponent.working, None);
        assert!(!presence.state().labels_watched);
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
