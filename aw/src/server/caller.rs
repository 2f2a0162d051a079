//! The authenticated sender of a request.

use std::fmt;
use std::sync::Arc;

use aw_core::{DebateId, Hash, Role, SeatName};
use aw_record::{Seat, SeatRole};
use uuid::Uuid;

use super::error::Problem;
use crate::policy::{Command, Users};

/// The sender of a request, as the guard authenticated it.
#[derive(Debug, Clone)]
pub(crate) enum Caller {
    /// A caller without a token, who may use public routes only.
    Stranger,
    /// A caller on this machine, where the server requires no tokens.
    Anybody,
    /// A caller with an administrator's token.
    Administrator {
        /// Signs their arguments.
        name: &'static str,
        /// The SHA-256 of the token.
        holder: Hash,
    },
    /// A caller with the token of a seat.
    Seated {
        /// The seat.
        seat: Arc<Seat>,
        /// The SHA-256 of the token.
        holder: Hash,
    },
}

/// The owner of a token, for limits per token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum TokenOwner {
    /// An administrator, by the name of the token.
    Administrator(&'static str),
    /// A seat, by its id.
    Seat(Uuid),
}

impl Caller {
    /// The name that signs the caller's arguments.
    pub(crate) fn name(&self) -> Option<SeatName> {
        match self {
            Caller::Stranger | Caller::Anybody => None,
            Caller::Administrator { name, .. } => Some(SeatName::recorded((*name).to_owned())),
            Caller::Seated { seat, .. } => Some(seat.name.clone()),
        }
    }

    /// The owner of the caller's token.
    pub(crate) fn token_owner(&self) -> Option<TokenOwner> {
        match self {
            Caller::Stranger | Caller::Anybody => None,
            Caller::Administrator { name, .. } => Some(TokenOwner::Administrator(name)),
            Caller::Seated { seat, .. } => Some(TokenOwner::Seat(seat.id)),
        }
    }

    /// The SHA-256 of the caller's token.
    pub(crate) fn holder(&self) -> Option<Hash> {
        match self {
            Caller::Stranger | Caller::Anybody => None,
            Caller::Administrator { holder, .. } | Caller::Seated { holder, .. } => Some(*holder),
        }
    }

    /// The caller's seat.
    pub(crate) fn seat(&self) -> Option<&Seat> {
        match self {
            Caller::Seated { seat, .. } => Some(seat),
            Caller::Stranger | Caller::Anybody | Caller::Administrator { .. } => None,
        }
    }

    /// The only debate that the caller may see, if it is bound to one.
    pub(crate) fn bound_to(&self) -> Option<DebateId> {
        self.seat().and_then(|seat| seat.debate)
    }

    /// Refuses a command that the caller may not use.
    pub(crate) fn may_use(&self, command: Command) -> Result<(), Problem> {
        let allowed = match self {
            Caller::Stranger => return Err(Problem::unauthorised(false)),
            Caller::Anybody | Caller::Administrator { .. } => true,
            Caller::Seated { seat, .. } => match seat.role {
                SeatRole::Plays(role) => command.is_for(role),
                SeatRole::Observer => command.users() == Users::Everybody,
            },
        };
        match (allowed, self.seat()) {
            (false, Some(seat)) => Err(Problem::forbidden_role(format!(
                "this is the token of {}, who may not use {}",
                with_article(seat.role),
                command.name(),
            ))),
            (false, None) | (true, _) => Ok(()),
        }
    }

    /// Refuses a role other than the caller's own.
    pub(crate) fn may_be(&self, role: Role) -> Result<(), Problem> {
        match self.seat() {
            Some(seat) if seat.role != SeatRole::Plays(role) => {
                Err(Problem::forbidden_role(format!(
                    "this is the token of {}, but the request is for the {role}",
                    with_article(seat.role)
                )))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a debate that the caller may not see.
    pub(crate) fn may_see(&self, debate: DebateId) -> Result<(), Problem> {
        match self.bound_to() {
            Some(own) if own != debate => {
                Err(Problem::forbidden_role(format!("this token is for debate {own} only")))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a caller who is not an administrator.
    pub(crate) fn must_administer(&self) -> Result<(), Problem> {
        match self {
            Caller::Stranger => Err(Problem::unauthorised(false)),
            Caller::Seated { .. } => {
                Err(Problem::forbidden_role("only an administrator of the server may do this"))
            }
            Caller::Anybody | Caller::Administrator { .. } => Ok(()),
        }
    }
}

/// Names the caller in error messages.
impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Caller::Stranger => f.write_str("a caller without a token"),
            Caller::Anybody => f.write_str("a caller on this machine"),
            Caller::Administrator { name, .. } => write!(f, "the token {name:?}"),
            Caller::Seated { seat, .. } => write!(f, "the token {:?}", seat.name.as_str()),
        }
    }
}

fn with_article(role: SeatRole) -> String {
    match role {
        SeatRole::Plays(Role::Proposer) => "a proposer".to_owned(),
        SeatRole::Plays(role) => format!("an {role}"),
        SeatRole::Observer => "an observer".to_owned(),
    }
}
