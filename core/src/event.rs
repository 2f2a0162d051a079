//! An argument as the rules see it.

use crate::{Role, Verdict, words};

/// The kind of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The subject of the debate.
    Motion,
    /// An argument of either side.
    Claim,
    /// A dispute put before the arbitrator.
    Appeal,
    /// The arbitrator's decision, which binds both sides.
    Ruling,
    /// The arbitrator has stopped the agents.
    Intervention,
    /// The proposer asks to complete the debate.
    Resolution,
}

words!(Kind, "MOTION, CLAIM, APPEAL, RULING, INTERVENTION, RESOLUTION", {
    Motion = "MOTION",
    Claim = "CLAIM",
    Appeal = "APPEAL",
    Ruling = "RULING",
    Intervention = "INTERVENTION",
    Resolution = "RESOLUTION",
});

impl Kind {
    /// Whether such an argument, unless parked, leaves the arbitrator owing a RULING.
    pub const fn asks_for_ruling(self) -> bool {
        match self {
            Kind::Appeal | Kind::Resolution | Kind::Intervention => true,
            Kind::Motion | Kind::Claim | Kind::Ruling => false,
        }
    }
}

/// One argument of the record, reduced to the fields that the rules use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Event {
    /// The proposer opened the debate.
    Motion,
    /// The proposer answered the opponent.
    ProposerClaim {
        /// Recorded without changing the state, because an INTERVENTION came first.
        parked: bool,
    },
    /// The opponent answered the proposer.
    OpponentClaim {
        /// Recorded without changing the state.
        parked: bool,
    },
    /// The proposer asked for a RULING.
    Appeal {
        /// Recorded without asking for a RULING.
        parked: bool,
    },
    /// The proposer asked to complete the debate.
    Resolution {
        /// Recorded without closing the debate.
        parked: bool,
    },
    /// The arbitrator ruled.
    Ruling {
        /// Whether the debate went on.
        verdict: Verdict,
        /// Made by the server, for a RESOLUTION that needs no approval.
        automatic: bool,
    },
    /// The arbitrator stopped the agents.
    Intervention,
}

impl Event {
    /// Rebuilds an event from its recorded fields. `None` if no argument has these fields.
    pub fn recorded(
        kind: Kind,
        role: Role,
        parked: bool,
        close: Option<bool>,
        automatic: bool,
    ) -> Option<Self> {
        let event = match (kind, role) {
            (Kind::Motion, Role::Proposer) => Event::Motion,
            (Kind::Claim, Role::Proposer) => Event::ProposerClaim { parked },
            (Kind::Claim, Role::Opponent) => Event::OpponentClaim { parked },
            (Kind::Appeal, Role::Proposer) => Event::Appeal { parked },
            (Kind::Resolution, Role::Proposer) => Event::Resolution { parked },
            (Kind::Ruling, Role::Arbitrator) => Event::Ruling {
                verdict: if close? { Verdict::Close } else { Verdict::GoOn },
                automatic,
            },
            (Kind::Intervention, Role::Arbitrator) => Event::Intervention,
            _ => return None,
        };
        let faithful =
            event.parked() == parked && event.close() == close && event.automatic() == automatic;
        // The server's own RULINGs always close the debate.
        let plausible = !automatic || close == Some(true);
        (faithful && plausible).then_some(event)
    }

    /// The kind of the argument.
    pub const fn kind(self) -> Kind {
        match self {
            Event::Motion => Kind::Motion,
            Event::ProposerClaim { .. } | Event::OpponentClaim { .. } => Kind::Claim,
            Event::Appeal { .. } => Kind::Appeal,
            Event::Resolution { .. } => Kind::Resolution,
            Event::Ruling { .. } => Kind::Ruling,
            Event::Intervention => Kind::Intervention,
        }
    }

    /// Whose argument it is.
    pub const fn role(self) -> Role {
        match self {
            Event::Motion
            | Event::ProposerClaim { .. }
            | Event::Appeal { .. }
            | Event::Resolution { .. } => Role::Proposer,
            Event::OpponentClaim { .. } => Role::Opponent,
            Event::Ruling { .. } | Event::Intervention => Role::Arbitrator,
        }
    }

    /// Whether it was recorded without changing the state.
    pub const fn parked(self) -> bool {
        match self {
            Event::ProposerClaim { parked }
            | Event::OpponentClaim { parked }
            | Event::Appeal { parked }
            | Event::Resolution { parked } => parked,
            Event::Motion | Event::Ruling { .. } | Event::Intervention => false,
        }
    }

    /// A RULING's verdict as the record stores it.
    pub const fn close(self) -> Option<bool> {
        match self {
            Event::Ruling { verdict: Verdict::Close, .. } => Some(true),
            Event::Ruling { verdict: Verdict::GoOn, .. } => Some(false),
            Event::Motion
            | Event::ProposerClaim { .. }
            | Event::OpponentClaim { .. }
            | Event::Appeal { .. }
            | Event::Resolution { .. }
            | Event::Intervention => None,
        }
    }

    /// Whether the server made it.
    pub const fn automatic(self) -> bool {
        matches!(self, Event::Ruling { automatic: true, .. })
    }
}
