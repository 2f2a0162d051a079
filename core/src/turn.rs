//! What a role should do next: its action, its available moves, and when its wait ends.

use alloc::vec::Vec;

use crate::{Debate, Kind, Move, Role, Said, Seq, Standing, State, Target, Verdict, words};

/// The next action of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Answer the other side.
    Respond,
    /// Follow the RULING, then answer.
    AlignToRuling,
    /// The opponent is at work.
    WaitForOpponent,
    /// The proposer is at work.
    WaitForProposer,
    /// The arbitrator owes a RULING.
    WaitForRuling,
    /// The arbitrator has nothing to do yet.
    Wait,
    /// Submit the RULING that is owed.
    Rule,
    /// Stop.
    DebateClosed,
}

words!(
    Action,
    "respond, align_to_ruling, wait_for_opponent, wait_for_proposer, wait_for_ruling, wait, rule, debate_closed",
    {
        Respond = "respond",
        AlignToRuling = "align_to_ruling",
        WaitForOpponent = "wait_for_opponent",
        WaitForProposer = "wait_for_proposer",
        WaitForRuling = "wait_for_ruling",
        Wait = "wait",
        Rule = "rule",
        DebateClosed = "debate_closed",
    }
);

/// A move that a role may make now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Available {
    /// `aw debate submit`.
    Claim,
    /// `aw debate appeal`.
    Appeal,
    /// `aw debate request-completion`.
    Resolution,
    /// `aw debate intervention`.
    Intervention,
    /// `aw debate ruling`.
    Ruling,
    /// `aw debate ruling --close`.
    RulingClose,
}

words!(
    Available,
    "SUBMIT_CLAIM, SUBMIT_APPEAL, SUBMIT_RESOLUTION, SUBMIT_INTERVENTION, SUBMIT_RULING, SUBMIT_RULING_CLOSE",
    {
        Claim = "SUBMIT_CLAIM",
        Appeal = "SUBMIT_APPEAL",
        Resolution = "SUBMIT_RESOLUTION",
        Intervention = "SUBMIT_INTERVENTION",
        Ruling = "SUBMIT_RULING",
        RulingClose = "SUBMIT_RULING_CLOSE",
    }
);

impl Available {
    /// The kind of argument that the move becomes.
    pub const fn kind(self) -> Kind {
        match self {
            Available::Claim => Kind::Claim,
            Available::Appeal => Kind::Appeal,
            Available::Resolution => Kind::Resolution,
            Available::Intervention => Kind::Intervention,
            Available::Ruling | Available::RulingClose => Kind::Ruling,
        }
    }

    /// The move with this target.
    fn attempt(self, target: Target) -> Move<Target> {
        match self {
            Available::Claim => Move::Claim { target },
            Available::Appeal => Move::Appeal { target },
            Available::Resolution => Move::Resolution { target },
            Available::Intervention => Move::Intervention,
            Available::Ruling => Move::Ruling { target: None, verdict: Verdict::GoOn },
            Available::RulingClose => Move::Ruling { target: None, verdict: Verdict::Close },
        }
    }
}

impl Debate {
    /// The moves that this role may make now. Each is tried with [`Debate::decide`], so the list
    /// cannot differ from the rules.
    pub fn available(&self, role: Role) -> Vec<Available> {
        // Without the floor, a role may at most park an answer to an argument before an INTERVENTION. The
        // MOTION is before all of them.
        let has_floor = self.standing.state.floor() == Some(role);
        let target = Target::at(if has_floor { self.standing.last } else { Seq::FIRST });
        Available::ALL
            .iter()
            .copied()
            .filter(|open| self.decide(role, open.attempt(target), &Said::default()).is_ok())
            .collect()
    }
}

impl Standing {
    /// The next action of this role.
    pub fn action(&self, role: Role) -> Action {
        match (self.state, role) {
            (State::Closed, _) => Action::DebateClosed,
            (State::AwaitingOpponent, Role::Proposer) => Action::WaitForOpponent,
            (State::AwaitingOpponent, Role::Opponent) => Action::Respond,
            (State::AwaitingProposer, Role::Proposer) if self.after_ruling() => {
                Action::AlignToRuling
            }
            (State::AwaitingProposer, Role::Proposer) => Action::Respond,
            (State::AwaitingProposer, Role::Opponent) => Action::WaitForProposer,
            (State::AwaitingOpponent | State::AwaitingProposer, Role::Arbitrator) => Action::Wait,
            (State::AwaitingArbitrator | State::InterventionPending, Role::Arbitrator) => {
                Action::Rule
            }
            (
                State::AwaitingArbitrator | State::InterventionPending,
                Role::Proposer | Role::Opponent,
            ) => Action::WaitForRuling,
        }
    }

    /// Whether this role's wait ends: it has the floor, it has unseen arguments, or the debate is
    /// closed.
    ///
    /// Unseen arguments do not end the arbitrator's wait: it is called only when a RULING is owed.
    pub fn ends_wait(&self, role: Role, unseen: bool) -> bool {
        let called = self.state == State::Closed || self.state.floor() == Some(role);
        match role {
            Role::Proposer | Role::Opponent => called || unseen,
            Role::Arbitrator => called,
        }
    }

    /// The argument after which a wait without an id looks: this role's own newest that is not parked.
    pub fn seen_without_id(&self, role: Role) -> Option<Seq> {
        self.newest.get(role)
    }

    /// The argument that a wait shows when nothing is unseen: the newest that is neither parked nor this
    /// role's own.
    pub fn newest_of_others(&self, role: Role) -> Option<Seq> {
        Role::ALL
            .iter()
            .filter(|other| **other != role)
            .filter_map(|other| self.newest.get(*other))
            .max()
    }
}
