//! Seats: who may take part, where the server asks.

use std::fmt;
use std::str::FromStr;

use aw_core::{DebateId, Hash, Role, SeatName, Time, UnknownWord};
use uuid::Uuid;

/// What a seat is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SeatRole {
    /// To play this role.
    Plays(Role),
    /// To read.
    Observer,
}

impl SeatRole {
    /// All of them.
    pub const ALL: [SeatRole; 4] = [
        SeatRole::Plays(Role::Proposer),
        SeatRole::Plays(Role::Opponent),
        SeatRole::Plays(Role::Arbitrator),
        SeatRole::Observer,
    ];

    /// Its word.
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

/// A seat: whoever brings its token may take it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seat {
    /// Names it, for whoever keeps the seats.
    pub id: Uuid,
    /// What it is called, for everybody.
    pub name: SeatName,
    /// What it is for.
    pub role: SeatRole,
    /// The only debate that it is for; without one, any.
    pub debate: Option<DebateId>,
    /// When it was made.
    pub created_at: Time,
    /// When its token ceases to be good.
    pub expires_at: Option<Time>,
    /// When its token was taken back.
    pub revoked_at: Option<Time>,
}

impl Seat {
    /// Whether its token is good at this time.
    pub fn is_open(&self, now: Time) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}

/// A seat to be made.
#[derive(Debug, Clone)]
pub struct NewSeat {
    /// What it is called.
    pub name: SeatName,
    /// What it is for.
    pub role: SeatRole,
    /// The only debate that it is for.
    pub debate: Option<DebateId>,
    /// When its token ceases to be good.
    pub expires_at: Option<Time>,
    /// The SHA-256 of its token, which is kept nowhere.
    pub token: Hash,
}

/// What a browser is given instead of a token.
#[derive(Debug, Clone, Copy)]
pub struct Pass {
    /// The SHA-256 of what the browser shows.
    pub hash: Hash,
    /// The SHA-256 of the token it stands for.
    pub holder: Hash,
    /// Good for one visit only.
    pub once: bool,
    /// When it ceases to be good.
    pub expires_at: Time,
}
