//! Seats: what a token allows, on servers that require tokens.

use std::fmt;
use std::str::FromStr;

use aw_core::{DebateId, Hash, Role, SeatName, Time, UnknownWord};
use uuid::Uuid;

/// The role of a seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SeatRole {
    /// It may play this role.
    Plays(Role),
    /// It may only read.
    Observer,
}

impl SeatRole {
    /// All roles of a seat.
    pub const ALL: [SeatRole; 4] = [
        SeatRole::Plays(Role::Proposer),
        SeatRole::Plays(Role::Opponent),
        SeatRole::Plays(Role::Arbitrator),
        SeatRole::Observer,
    ];

    /// Its word in JSON and in the record.
    pub fn as_str(self) -> &'static str {
        match self {
            SeatRole::Plays(role) => role.as_str(),
            SeatRole::Observer => "observer",
        }
    }
}

impl fmt::Display for SeatRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for SeatRole {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let expected = "proposer, opponent, arbitrator, observer";
        let found = SeatRole::ALL.into_iter().find(|role| role.as_str() == word);
        found.ok_or(UnknownWord { expected })
    }
}

/// A seat: the rights that come with a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seat {
    /// Its id, for the administrator.
    pub id: Uuid,
    /// Its name, which everybody sees.
    pub name: SeatName,
    /// Its role.
    pub role: SeatRole,
    /// The only debate it is valid for; without one, any debate.
    pub debate: Option<DebateId>,
    /// When it was created.
    pub created_at: Time,
    /// When its token expires.
    pub expires_at: Option<Time>,
    /// When its token was revoked.
    pub revoked_at: Option<Time>,
}

impl Seat {
    /// Whether its token is valid at this time.
    pub fn is_open(&self, now: Time) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}

/// A seat to create.
#[derive(Debug, Clone)]
pub struct NewSeat {
    /// Its name.
    pub name: SeatName,
    /// Its role.
    pub role: SeatRole,
    /// The only debate it is valid for.
    pub debate: Option<DebateId>,
    /// When its token expires.
    pub expires_at: Option<Time>,
    /// The SHA-256 of its token. The token itself is never stored.
    pub token: Hash,
}

/// A secret that a browser holds instead of a token.
#[derive(Debug, Clone, Copy)]
pub struct Pass {
    /// The SHA-256 of the secret.
    pub hash: Hash,
    /// The SHA-256 of the token that it stands for.
    pub holder: Hash,
    /// Whether it works only once.
    pub once: bool,
    /// When it expires.
    pub expires_at: Time,
}
