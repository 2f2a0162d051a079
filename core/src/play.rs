//! The moves that a role may request.

use crate::{Kind, Seq};

/// A requested move.
///
/// `T` is the target: an id in the request, a [`Target`] once it was found in the record. The rules
/// do not use the text, so it is not part of the move.
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
        /// The argument to rule on; without one, the pending one.
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

    /// The target, if the move names one.
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
    /// The RULING that settled it, if there is one.
    pub ruled: Option<Seq>,
}

impl Target {
    /// A target without a RULING.
    pub const fn at(seq: Seq) -> Self {
        Target { seq, ruled: None }
    }
}
