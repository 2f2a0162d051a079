//! The state machine: [`Debate::decide`] judges a move, [`Standing::apply`] changes the state.
//!
//! Only this file decides whose move it is and what may be parked. A move that it does not list is
//! refused.

use alloc::vec;
use alloc::vec::Vec;

use crate::{
    ByRole, Change, Completion, DocumentId, Event, Held, Kind, Ledger, Move, Refusal, Role, Said,
    Seq, Target, Verdict, words,
};

/// The text of the RULING that closes a debate whose RESOLUTION needs no approval.
pub const AUTOMATIC_RULING: &str = "Auto-approved: Debate completed as requested by proposer.";

/// The role that the debate waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// The opponent's move.
    AwaitingOpponent,
    /// The proposer's move.
    AwaitingProposer,
    /// An APPEAL, or a RESOLUTION held for approval, awaits its RULING.
    AwaitingArbitrator,
    /// The arbitrator has intervened and owes a RULING.
    InterventionPending,
    /// Nobody's move any more.
    Closed,
}

words!(
    State,
    "AWAITING_OPPONENT, AWAITING_PROPOSER, AWAITING_ARBITRATOR, INTERVENTION_PENDING, CLOSED",
    {
        AwaitingOpponent = "AWAITING_OPPONENT",
        AwaitingProposer = "AWAITING_PROPOSER",
        AwaitingArbitrator = "AWAITING_ARBITRATOR",
        InterventionPending = "INTERVENTION_PENDING",
        Closed = "CLOSED",
    }
);

impl State {
    /// Whose move it is. The rights to intervene and to park are not a move.
    pub const fn floor(self) -> Option<Role> {
        match self {
            State::AwaitingOpponent => Some(Role::Opponent),
            State::AwaitingProposer => Some(Role::Proposer),
            State::AwaitingArbitrator | State::InterventionPending => Some(Role::Arbitrator),
            State::Closed => None,
        }
    }
}

/// The approver of a RESOLUTION.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ResolutionPolicy {
    /// The server, at once.
    #[default]
    Auto,
    /// The arbitrator.
    Arbitrator,
}

words!(ResolutionPolicy, "auto, arbitrator", {
    Auto = "auto",
    Arbitrator = "arbitrator",
});

/// How a debate ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The opponent agreed to what the proposer completed.
    Agreed,
    /// A RULING closed it, and nothing was left that blocks.
    Ruled,
    /// A RULING closed it over points that block.
    LeftOpen,
    /// The server closed it at the proposer's request; nobody checked.
    Completed,
    /// It goes on.
    Open,
}

words!(Outcome, "agreed, ruled, left_open, completed, open", {
    Agreed = "agreed",
    Ruled = "ruled",
    LeftOpen = "left_open",
    Completed = "completed",
    Open = "open",
});

impl Outcome {
    /// The outcome of a debate in this state, whose newest argument the server made or did not make.
    /// `blocked`: whether a point blocks, in a debate with points.
    pub fn of(state: State, automatic: bool, blocked: Option<bool>) -> Self {
        match (state, automatic, blocked) {
            (State::Closed, true, Some(_)) => Outcome::Agreed,
            (State::Closed, true, None) => Outcome::Completed,
            (State::Closed, false, Some(true)) => Outcome::LeftOpen,
            (State::Closed, false, Some(false) | None) => Outcome::Ruled,
            (_, _, _) => Outcome::Open,
        }
    }
}

/// Where a debate stands: the fold of its arguments. The store caches it beside them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Standing {
    /// The role that the debate waits for.
    pub state: State,
    /// Its newest argument.
    pub last: Seq,
    /// How many arguments each role has written, parked ones included.
    pub count: ByRole<u64>,
    /// Each role's newest argument that is not parked.
    pub newest: ByRole<Option<Seq>>,
    /// The INTERVENTION that interrupted a role which has neither parked nor moved since.
    pub interrupted: ByRole<Option<Seq>>,
}

impl Standing {
    /// The standing of a new debate, whose record is only the MOTION.
    pub fn opened() -> Self {
        Standing {
            state: State::AwaitingOpponent,
            last: Seq::FIRST,
            count: ByRole { proposer: 1, ..ByRole::default() },
            newest: ByRole { proposer: Some(Seq::FIRST), ..ByRole::default() },
            interrupted: ByRole::default(),
        }
    }

    /// Computes the standing from the record. `None` if the record does not begin with the MOTION.
    pub fn fold(events: impl IntoIterator<Item = Event>) -> Option<Self> {
        let mut events = events.into_iter();
        let first = events.next()?;
        (first == Event::Motion).then(|| {
            events.fold(Self::opened(), |mut standing, event| {
                standing.apply(event);
                standing
            })
        })
    }

    /// Applies the next argument of the record.
    pub fn apply(&mut self, event: Event) {
        let interrupts = self.state.floor();
        let role = event.role();
        self.last = self.last.next();
        *self.count.of_mut(role) += 1;
        *self.interrupted.of_mut(role) = None;
        if event.parked() {
            return;
        }
        *self.newest.of_mut(role) = Some(self.last);
        self.state = match event {
            Event::Motion | Event::ProposerClaim { .. } => State::AwaitingOpponent,
            Event::OpponentClaim { .. } => State::AwaitingProposer,
            // An automatic RULING follows in the same commit where no approval is needed.
            Event::Appeal { .. } | Event::Resolution { .. } => State::AwaitingArbitrator,
            Event::Ruling { verdict: Verdict::GoOn, .. } => State::AwaitingProposer,
            Event::Ruling { verdict: Verdict::Close, .. } => State::Closed,
            Event::Intervention => {
                if let Some(role) = interrupts {
                    *self.interrupted.of_mut(role) = Some(self.last);
                }
                State::InterventionPending
            }
        };
        if self.state == State::Closed {
            self.interrupted = ByRole::default();
        }
    }

    /// The argument that awaits a RULING.
    pub fn pending(&self) -> Option<Seq> {
        match self.state {
            State::AwaitingArbitrator => self.newest.proposer,
            State::InterventionPending => self.newest.arbitrator,
            State::AwaitingOpponent | State::AwaitingProposer | State::Closed => None,
        }
    }

    /// Whether the newest argument that is not parked is a RULING.
    pub fn after_ruling(&self) -> bool {
        let ByRole { proposer, opponent, arbitrator } = self.newest;
        self.state != State::InterventionPending
            && arbitrator.max(proposer).max(opponent) == arbitrator
    }

    /// Whether this role's text for this target is parked: the role was interrupted, and either the
    /// INTERVENTION is still pending or the text answers an argument older than it.
    fn parks(&self, role: Role, target: Seq) -> bool {
        self.interrupted.get(role).is_some_and(|intervention| {
            target < intervention || self.pending() == Some(intervention)
        })
    }
}

/// A debate as the rules see it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Debate {
    /// The approver of a RESOLUTION.
    pub policy: ResolutionPolicy,
    /// Where it stands.
    pub standing: Standing,
    /// Its points, if it keeps points.
    pub ledger: Option<Ledger>,
}

/// An argument that a decision adds to the record, without its text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Entry {
    /// The event.
    pub event: Event,
    /// The argument it answers.
    pub parent: Option<Seq>,
    /// The changes that its statements make.
    pub changes: Vec<Change>,
    /// Why a RESOLUTION waits for the arbitrator, in a debate with points.
    pub held: Option<Held>,
}

impl Entry {
    /// An entry without statements.
    pub fn of(event: Event, parent: Option<Seq>) -> Self {
        Entry { event, parent, changes: Vec::new(), held: None }
    }
}

impl Debate {
    /// Judges a move, with the facts about its text: returns the entries it adds to the record, in
    /// order, or the refusal.
    pub fn decide(
        &self,
        role: Role,
        play: Move<Target>,
        said: &Said,
    ) -> Result<Vec<Entry>, Refusal> {
        use State::{AwaitingArbitrator, AwaitingOpponent, AwaitingProposer, InterventionPending};

        let refused = || Err(self.refusal(role, play));
        let parked = |target: Target| self.standing.parks(role, target.seq);
        let entry = |event, target: Target| vec![Entry::of(event, Some(target.seq))];
        let stated = |event, parent| {
            let changes = self.judge(role, said)?;
            Ok(vec![Entry { changes, ..Entry::of(event, parent) }])
        };

        Ok(match (self.standing.state, role, play) {
            (_, Role::Proposer, Move::Claim { target }) if parked(target) => {
                entry(Event::ProposerClaim { parked: true }, target)
            }
            (_, Role::Opponent, Move::Claim { target }) if parked(target) => {
                entry(Event::OpponentClaim { parked: true }, target)
            }
            (_, Role::Proposer, Move::Appeal { target }) if parked(target) => {
                entry(Event::Appeal { parked: true }, target)
            }
            (_, Role::Proposer, Move::Resolution { target }) if parked(target) => {
                entry(Event::Resolution { parked: true }, target)
            }

            (AwaitingOpponent, Role::Opponent, Move::Claim { target }) => {
                stated(Event::OpponentClaim { parked: false }, Some(target.seq))?
            }
            (AwaitingProposer, Role::Proposer, Move::Claim { target }) => {
                if let Some(ledger) = self.ledger.as_ref().filter(|ledger| ledger.rounds_are_used())
                {
                    return Err(Refusal::RoundsUsed {
                        state: self.standing.state,
                        limit: ledger.limit(),
                        advice: ledger.advice(),
                    });
                }
                stated(Event::ProposerClaim { parked: false }, Some(target.seq))?
            }
            (AwaitingProposer, Role::Proposer, Move::Appeal { target }) => {
                entry(Event::Appeal { parked: false }, target)
            }
            (AwaitingProposer, Role::Proposer, Move::Resolution { target }) => {
                let held = self.holds(said)?;
                let mut entries = entry(Event::Resolution { parked: false }, target);
                if held.is_none() {
                    // The closing RULING is part of the same decision, hence of the same commit:
                    // no reader can see a completed debate that is still open.
                    entries.push(Entry::of(
                        Event::Ruling { verdict: Verdict::Close, automatic: true },
                        Some(self.standing.last.next()),
                    ));
                }
                entries[0].held = held.filter(|_| self.ledger.is_some());
                entries
            }
            (AwaitingOpponent | AwaitingProposer, Role::Arbitrator, Move::Intervention) => {
                vec![Entry::of(Event::Intervention, None)]
            }
            (
                AwaitingArbitrator | InterventionPending,
                Role::Arbitrator,
                Move::Ruling { target, verdict },
            ) => {
                let pending = self.standing.pending();
                if target.is_some_and(|target| Some(target.seq) != pending) {
                    return refused();
                }
                stated(Event::Ruling { verdict, automatic: false }, pending)?
            }
            _ => return refused(),
        })
    }

    /// Applies the next argument of the record, which cites these versions.
    pub fn apply(&mut self, entry: &Entry, cites: &[(DocumentId, u64)]) {
        self.standing.apply(entry.event);
        if let Some(ledger) = &mut self.ledger {
            ledger.apply(self.standing.last, entry.event, cites, &entry.changes, entry.held);
        }
    }

    /// The changes that a text makes to the points.
    pub fn judge(&self, role: Role, said: &Said) -> Result<Vec<Change>, Refusal> {
        let Some(ledger) = &self.ledger else { return Ok(Vec::new()) };
        let state = self.standing.state;
        ledger
            .judge(role, said, self.standing.last.next())
            .map_err(|flaws| Refusal::Flawed { state, flaws })
    }

    /// Why a RESOLUTION waits for the arbitrator; `None` if it closes the debate.
    pub fn holds(&self, said: &Said) -> Result<Option<Held>, Refusal> {
        let by_policy = match self.policy {
            ResolutionPolicy::Auto => None,
            ResolutionPolicy::Arbitrator => Some(Held::Policy),
        };
        let Some(ledger) = &self.ledger else { return Ok(by_policy) };
        match ledger.completion(said) {
            Completion::Agreed => Ok(by_policy),
            Completion::Held(held) => Ok(Some(held)),
            Completion::Refused(points) => Err(Refusal::PointsBlock {
                state: self.standing.state,
                points,
                advice: ledger.advice(),
            }),
        }
    }

    /// Why the RESOLUTION that is pending waits for the arbitrator, in a debate with points.
    pub fn pending_held(&self) -> Option<Held> {
        let (seq, held) = self.ledger.as_ref()?.held?;
        (self.standing.pending() == Some(seq)).then_some(held)
    }

    fn refusal(&self, role: Role, play: Move<Target>) -> Refusal {
        let state = self.standing.state;
        match (role, play.kind()) {
            (Role::Arbitrator, Kind::Ruling) => match (play.target(), self.standing.pending()) {
                (Some(Target { seq, ruled: Some(ruling) }), _) => {
                    Refusal::AlreadyRuled { state, target: *seq, ruling: *ruling }
                }
                (Some(Target { seq, .. }), Some(pending)) => {
                    Refusal::NotPending { state, target: *seq, pending }
                }
                _ => Refusal::NotTheFloor { state, role, kind: Kind::Ruling },
            },
            (Role::Proposer, Kind::Claim | Kind::Appeal | Kind::Resolution)
            | (Role::Opponent, Kind::Claim)
            | (Role::Arbitrator, Kind::Intervention) => {
                Refusal::NotTheFloor { state, role, kind: play.kind() }
            }
            _ => Refusal::NotTheRole { state, role, kind: play.kind() },
        }
    }
}
