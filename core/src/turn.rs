//! What everyone is told: the waiter's action, the moves that are open, when a wait is over.

use alloc::vec::Vec;

use crate::{Debate, Move, Role, Seq, Standing, State, Target, Verdict, words};

/// What an agent should do next.
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
    /// Nothing for the arbitrator to do yet.
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

/// A move that is open to a role now.
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
    /// The move with the target that is most likely to be accepted: the MOTION is older than every
    /// INTERVENTION, so a right to park shows as well.
    fn attempt(self) -> Move<Target> {
        let target = Target::at(Seq::FIRST);
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
    /// The moves that this role may make now: each is tried on the judge, so the hint and the
    /// judge cannot differ.
    pub fn available(&self, role: Role) -> Vec<Available> {
        Available::ALL
            .iter()
            .copied()
            .filter(|open| self.decide(role, open.attempt()).is_ok())
            .collect()
    }
}

impl Standing {
    /// What this role should do now.
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

    /// Whether this role's wait is over: there is something to do, to read, or nothing more to come.
    ///
    /// The arbitrator is called only when needed; what was said meanwhile is given then.
    pub fn ends_wait(&self, role: Role, unseen: bool) -> bool {
        let called = self.state == State::Closed || self.state.floor() == Some(role);
        match role {
            Role::Proposer | Role::Opponent => called || unseen,
            Role::Arbitrator => called,
        }
    }

    /// Where a wait that names no argument begins: what others wrote after this role's own newest
    /// argument that is not parked.
    pub fn seen_without_id(&self, role: Role) -> Option<Seq> {
        self.newest.get(role)
    }

    /// What a wait shows when nothing is unseen: the newest argument that is neither parked nor
    /// the role's own.
    pub fn newest_of_others(&self, role: Role) -> Option<Seq> {
        Role::ALL
            .iter()
            .filter(|other| **other != role)
            .filter_map(|other| self.newest.get(*other))
            .max()
    }
}
