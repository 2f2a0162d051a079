//! The reasons for refusing a move, with their messages.

use alloc::vec::Vec;
use core::fmt;

use crate::flaw::{Flaw, listed};
use crate::ledger::rounds_used;
use crate::{Kind, PointAdvice, PointId, Role, Seq, State};

/// The reason why the rules refuse a move. Nothing was written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// It is another role's move, or the debate is closed.
    NotTheFloor {
        /// The state at the time.
        state: State,
        /// The role that asked.
        role: Role,
        /// The kind of move.
        kind: Kind,
    },
    /// This role never makes this move.
    NotTheRole {
        /// The state at the time.
        state: State,
        /// The role that asked.
        role: Role,
        /// The kind of move.
        kind: Kind,
    },
    /// The RULING is late: another one has settled its target.
    AlreadyRuled {
        /// The state at the time.
        state: State,
        /// The target of the refused RULING.
        target: Seq,
        /// The RULING that settled it.
        ruling: Seq,
    },
    /// Another argument awaits a RULING.
    NotPending {
        /// The state at the time.
        state: State,
        /// The target of the refused RULING.
        target: Seq,
        /// The argument that awaits a RULING.
        pending: Seq,
    },
    /// The opponent has used its rounds, so the proposer's CLAIM would go unanswered.
    RoundsUsed {
        /// The state at the time.
        state: State,
        /// How many rounds the debate has.
        limit: u32,
        /// The next step instead.
        advice: PointAdvice,
    },
    /// Points block the completion.
    PointsBlock {
        /// The state at the time.
        state: State,
        /// The points.
        points: Vec<PointId>,
        /// The next step instead.
        advice: PointAdvice,
    },
    /// The text breaks the rules of points.
    Flawed {
        /// The state at the time.
        state: State,
        /// Everything that is wrong with it, by line.
        flaws: Vec<Flaw>,
    },
}

impl Refusal {
    /// The debate's state, which a refusal does not change.
    pub const fn state(&self) -> State {
        match *self {
            Refusal::NotTheFloor { state, .. }
            | Refusal::NotTheRole { state, .. }
            | Refusal::AlreadyRuled { state, .. }
            | Refusal::NotPending { state, .. }
            | Refusal::RoundsUsed { state, .. }
            | Refusal::PointsBlock { state, .. }
            | Refusal::Flawed { state, .. } => state,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Refusal::NotTheFloor { state: State::Closed, role, kind } => {
                let article = article(kind);
                write!(f, "the debate is CLOSED, so the {role} cannot submit {article} {kind}")
            }
            Refusal::NotTheFloor { state, role, kind: Kind::Intervention } => write!(
                f,
                "a RULING is owed already (state {state}), so the {role} cannot submit an INTERVENTION"
            ),
            Refusal::NotTheFloor { state, role, kind: Kind::Ruling } => write!(
                f,
                "nothing awaits a RULING (state {state}), so the {role} cannot submit one"
            ),
            Refusal::NotTheFloor { state, role, kind } => {
                let article = article(kind);
                let floor = state.floor().map_or("nobody", Role::as_str);
                write!(
                    f,
                    "the floor belongs to the {floor} (state {state}), so the {role} cannot submit {article} {kind}"
                )
            }
            Refusal::NotTheRole { role, kind, .. } => {
                let article = article(kind);
                write!(f, "the {role} never submits {article} {kind}")
            }
            Refusal::AlreadyRuled { target, ruling, .. } => {
                write!(f, "argument {target} was already ruled on, by argument {ruling}")
            }
            Refusal::NotPending { target, pending, .. } => {
                write!(f, "the RULING is owed to argument {pending}, not to argument {target}")
            }
            Refusal::RoundsUsed { limit, .. } => write!(
                f,
                "{}, so the proposer cannot submit a CLAIM: appeal, or request completion",
                rounds_used(limit)
            ),
            Refusal::PointsBlock { ref points, .. } => {
                let verb = if points.len() == 1 { "blocks" } else { "block" };
                write!(f, "{} {verb} completion", listed(points, "and"))
            }
            Refusal::Flawed { ref flaws, .. } => {
                let (many, noun) = (flaws.len(), if flaws.len() == 1 { "flaw" } else { "flaws" });
                write!(f, "nothing was submitted: {many} {noun} in the text")?;
                flaws.first().map_or(Ok(()), |first| write!(f, "; {first}"))
            }
        }
    }
}

fn article(kind: Kind) -> &'static str {
    match kind {
        Kind::Appeal | Kind::Intervention => "an",
        Kind::Motion | Kind::Claim | Kind::Ruling | Kind::Resolution => "a",
    }
}

impl core::error::Error for Refusal {}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn the_message_names_whose_move_it_is_and_the_refused_move() {
        let (role, state) = (Role::Opponent, State::AwaitingProposer);
        for (refusal, words) in [
            (
                Refusal::NotTheFloor { state, role, kind: Kind::Claim },
                "the floor belongs to the proposer (state AWAITING_PROPOSER), so the opponent cannot submit a CLAIM",
            ),
            (
                Refusal::NotTheFloor { state: State::Closed, role, kind: Kind::Claim },
                "the debate is CLOSED, so the opponent cannot submit a CLAIM",
            ),
            (
                Refusal::NotTheRole { state, role, kind: Kind::Appeal },
                "the opponent never submits an APPEAL",
            ),
        ] {
            assert_eq!(refusal.to_string(), words);
        }
    }
}
