//! Who takes part.

use crate::words;

/// A participant's role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Posts the MOTION and defends or revises it.
    Proposer,
    /// Answers with CLAIMs.
    Opponent,
    /// Rules when asked to, and may intervene.
    Arbitrator,
}

words!(Role, "proposer, opponent, arbitrator", {
    Proposer = "proposer",
    Opponent = "opponent",
    Arbitrator = "arbitrator",
});

/// One value for each role.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct ByRole<T> {
    /// The proposer's.
    pub proposer: T,
    /// The opponent's.
    pub opponent: T,
    /// The arbitrator's.
    pub arbitrator: T,
}

impl<T> ByRole<T> {
    /// Computes the value of each role.
    pub fn of(mut value: impl FnMut(Role) -> T) -> Self {
        ByRole {
            proposer: value(Role::Proposer),
            opponent: value(Role::Opponent),
            arbitrator: value(Role::Arbitrator),
        }
    }

    /// This role's value, by reference.
    pub fn at(&self, role: Role) -> &T {
        match role {
            Role::Proposer => &self.proposer,
            Role::Opponent => &self.opponent,
            Role::Arbitrator => &self.arbitrator,
        }
    }

    /// This role's value, mutable.
    pub fn of_mut(&mut self, role: Role) -> &mut T {
        match role {
            Role::Proposer => &mut self.proposer,
            Role::Opponent => &mut self.opponent,
            Role::Arbitrator => &mut self.arbitrator,
        }
    }
}

impl<T: Copy> ByRole<T> {
    /// This role's value.
    pub fn get(&self, role: Role) -> T {
        match role {
            Role::Proposer => self.proposer,
            Role::Opponent => self.opponent,
            Role::Arbitrator => self.arbitrator,
        }
    }
}
