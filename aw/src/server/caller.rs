//! Whose hand is on it: found out once by the guard, carried with the request.

use std::fmt;
use std::sync::Arc;

use aw_core::{DebateId, Hash, Role, SeatName};
use aw_record::{Seat, SeatRole};
use uuid::Uuid;

use super::error::Problem;
use crate::policy::{Command, Users};

/// Whoever sent a request.
#[derive(Debug, Clone)]
pub(crate) enum Caller {
    /// Somebody unknown, for whom only what is open to all is there.
    Stranger,
    /// Somebody on this machine, where the server asks nobody for a token.
    Anybody,
    /// Whoever runs the server.
    Administrator {
        /// What their words are signed with.
        name: &'static str,
        /// The SHA-256 of the token.
        holder: Hash,
    },
    /// Whoever has the token of a seat.
    Seated {
        /// The seat.
        seat: Arc<Seat>,
        /// The SHA-256 of the token.
        holder: Hash,
    },
}

/// Whose token it is, for what is counted by token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Whose {
    /// That of whoever runs the server, by its name.
    Administrators(&'static str),
    /// A seat's.
    Seats(Uuid),
}

impl Caller {
    /// The name that goes with what they write.
    pub(crate) fn name(&self) -> Option<SeatName> {
        match self {
            Caller::Stranger | Caller::Anybody => None,
            Caller::Administrator { name, .. } => Some(SeatName::recorded((*name).to_owned())),
            Caller::Seated { seat, .. } => Some(seat.name.clone()),
        }
    }

    /// Whose token they brought.
    pub(crate) fn whose(&self) -> Option<Whose> {
        match self {
            Caller::Stranger | Caller::Anybody => None,
            Caller::Administrator { name, .. } => Some(Whose::Administrators(name)),
            Caller::Seated { seat, .. } => Some(Whose::Seats(seat.id)),
        }
    }

    /// The SHA-256 of the token they brought.
    pub(crate) fn holder(&self) -> Option<Hash> {
        match self {
            Caller::Stranger | Caller::Anybody => None,
            Caller::Administrator { holder, .. } | Caller::Seated { holder, .. } => Some(*holder),
        }
    }

    /// The seat, if they have one.
    pub(crate) fn seat(&self) -> Option<&Seat> {
        match self {
            Caller::Seated { seat, .. } => Some(seat),
            Caller::Stranger | Caller::Anybody | Caller::Administrator { .. } => None,
        }
    }

    /// The only debate that they may see.
    pub(crate) fn bound_to(&self) -> Option<DebateId> {
        self.seat().and_then(|seat| seat.debate)
    }

    /// Whether this command is theirs to use.
    pub(crate) fn may_use(&self, command: Command) -> Result<(), Problem> {
        let theirs = match self {
            Caller::Stranger => return Err(Problem::unauthorised(false)),
            Caller::Anybody | Caller::Administrator { .. } => true,
            Caller::Seated { seat, .. } => match seat.role {
                SeatRole::Plays(role) => command.is_for(role),
                SeatRole::Observer => command.users() == Users::Everybody,
            },
        };
        match (theirs, self.seat()) {
            (false, Some(seat)) => Err(Problem::forbidden_role(format!(
                "this token is {}'s, who may not use {}",
                with_article(seat.role),
                command.name(),
            ))),
            (false, None) | (true, _) => Ok(()),
        }
    }

    /// Whether they may speak, or wait, as this role.
    pub(crate) fn may_be(&self, role: Role) -> Result<(), Problem> {
        match self.seat() {
            Some(seat) if seat.role != SeatRole::Plays(role) => {
                Err(Problem::forbidden_role(format!(
                    "this token is {}'s, and the request is the {role}'s",
                    with_article(seat.role)
                )))
            }
            _ => Ok(()),
        }
    }

    /// Whether this debate is theirs to see.
    pub(crate) fn may_see(&self, debate: DebateId) -> Result<(), Problem> {
        match self.bound_to() {
            Some(own) if own != debate => {
                Err(Problem::forbidden_role(format!("this token is for debate {own} only")))
            }
            _ => Ok(()),
        }
    }

    /// Refuses whoever does not run the server.
    pub(crate) fn must_administer(&self) -> Result<(), Problem> {
        match self {
            Caller::Stranger => Err(Problem::unauthorised(false)),
            Caller::Seated { .. } => {
                Err(Problem::forbidden_role("this is for whoever runs the server"))
            }
            Caller::Anybody | Caller::Administrator { .. } => Ok(()),
        }
    }
}

/// As whom they are told of themselves.
impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Caller::Stranger => f.write_str("whoever has no token"),
            Caller::Anybody => f.write_str("whoever is on this machine"),
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
