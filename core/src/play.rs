//! What a role may ask to do.

use crate::{Kind, Seq};

/// A move that somebody asks to make.
///
/// `T` is how its target is known: an id as it was asked for, a [`Target`] once it has been found
/// in the record. The text does not matter to the rules, so it is not here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Move<T> {
    /// Answer the other side.
    Claim {
        /// The argument that is answered.
        target: T,
    },
    /// Ask the arbitrator to settle a dispute.
    Appeal {
        /// The argument in dispute.
        target: T,
    },
    /// Ask to complete the debate.
    Resolution {
        /// The last argument that was agreed on.
        target: T,
    },
    /// Settle what is pending.
    Ruling {
        /// What is ruled on; without one, whatever is pending.
        target: Option<T>,
        /// Whether the debate goes on.
        verdict: Verdict,
    },
    /// Stop the agents; a RULING must follow.
    Intervention,
}

impl<T> Move<T> {
    /// The kind of argument that this move becomes.
    pub const fn kind(&self) -> Kind {
        match self {
            Move::Claim { .. } => Kind::Claim,
            Move::Appeal { .. } => Kind::Appeal,
            Move::Resolution { .. } => Kind::Resolution,
            Move::Ruling { .. } => Kind::Ruling,
            Move::Intervention => Kind::Intervention,
        }
    }

    /// What it answers, where it says so.
    pub const fn target(&self) -> Option<&T> {
        match self {
            Move::Claim { target } | Move::Appeal { target } | Move::Resolution { target } => {
                Some(target)
            }
            Move::Ruling { target, .. } => target.as_ref(),
            Move::Intervention => None,
        }
    }

    /// A RULING's verdict.
    pub const fn verdict(&self) -> Option<Verdict> {
        match self {
            Move::Ruling { verdict, .. } => Some(*verdict),
            Move::Claim { .. }
            | Move::Appeal { .. }
            | Move::Resolution { .. }
            | Move::Intervention => None,
        }
    }

    /// The same move with its target looked up.
    pub fn locate<U, E>(self, find: impl FnOnce(T) -> Result<U, E>) -> Result<Move<U>, E> {
        Ok(match self {
            Move::Claim { target } => Move::Claim { target: find(target)? },
            Move::Appeal { target } => Move::Appeal { target: find(target)? },
            Move::Resolution { target } => Move::Resolution { target: find(target)? },
            Move::Ruling { target, verdict } => {
                Move::Ruling { target: target.map(find).transpose()?, verdict }
            }
            Move::Intervention => Move::Intervention,
        })
    }
}

/// Whether a debate goes on after a RULING.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The proposer aligns with the RULING and the debate goes on.
    GoOn,
    /// The debate is closed.
    Close,
}

/// A move's target, found in the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Target {
    /// Its place.
    pub seq: Seq,
    /// The RULING that has settled it, when it asked for one and was given one.
    pub ruled: Option<Seq>,
}

impl Target {
    /// A target that was never ruled on.
    pub const fn at(seq: Seq) -> Self {
        Target { seq, ruled: None }
    }
}
