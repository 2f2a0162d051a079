//! Names of things: UUIDs, each of its own type so that they cannot be mixed up.

use alloc::format;
use alloc::string::ToString;
use core::fmt;
use core::str::FromStr;

use uuid::Uuid;

use crate::{Kind, Role};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// The UUID itself.
            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl From<Uuid> for $name {
            fn from(id: Uuid) -> Self {
                $name(id)
            }
        }

        /// Reads the hyphenated form, in either case; other spellings of a UUID are refused,
        /// so that one id has one name.
        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse::<uuid::fmt::Hyphenated>().map(|id| $name(id.into_uuid()))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }
    };
}

id! {
    /// Names a debate; chosen by the client that creates it.
    DebateId
}
id! {
    /// Names an argument; given by the server.
    ArgumentId
}
id! {
    /// Names a document; given by the server.
    DocumentId
}
id! {
    /// Names one request to write, so that its retry can be recognised.
    RequestId
}

/// The namespace of the ids that debates of the older system get whose ids were no UUIDs. It is ours
/// alone, and never changes.
const ONCE_CALLED: Uuid = Uuid::from_u128(0x6177_6465_6261_7465_8000_6f6c_6469_6473);

impl DebateId {
    /// The id of the debate that the older system called by this text: always the same for one text.
    pub fn once_called(text: &str) -> Self {
        DebateId(Uuid::new_v5(&ONCE_CALLED, text.as_bytes()))
    }
}

/// The namespace of derived request ids. It is ours alone, and never changes.
const DERIVED: Uuid = Uuid::from_u128(0x6177_6465_6261_7465_8000_7265_7175_6573);

impl RequestId {
    /// The id that a request has unless it is given one: the same words to the same target, by the
    /// same role, are the same request. A host that kills a command half way and runs it again
    /// therefore cannot write twice.
    pub fn derived(
        debate: DebateId,
        role: Role,
        kind: Kind,
        target: Option<ArgumentId>,
        content: &str,
    ) -> Self {
        let target = target.map(|target| target.to_string()).unwrap_or_default();
        let name = format!("{debate}\u{1f}{role}\u{1f}{kind}\u{1f}{target}\u{1f}{content}");
        RequestId(Uuid::new_v5(&DERIVED, name.as_bytes()))
    }
}

/// An argument's place in its debate: 1 is the MOTION, without gaps and without repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seq(pub u64);

impl Seq {
    /// The MOTION's place.
    pub const FIRST: Seq = Seq(1);

    /// The place after this one.
    pub const fn next(self) -> Seq {
        Seq(self.0 + 1)
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_derived_id_depends_on_everything_that_makes_a_request() {
        let debate: DebateId = Uuid::from_u128(1).into();
        let other: DebateId = Uuid::from_u128(2).into();
        let target: Option<ArgumentId> = Some(Uuid::from_u128(3).into());
        let id = RequestId::derived(debate, Role::Proposer, Kind::Claim, target, "text");
        assert_eq!(id, RequestId::derived(debate, Role::Proposer, Kind::Claim, target, "text"));
        for different in [
            RequestId::derived(other, Role::Proposer, Kind::Claim, target, "text"),
            RequestId::derived(debate, Role::Opponent, Kind::Claim, target, "text"),
            RequestId::derived(debate, Role::Proposer, Kind::Appeal, target, "text"),
            RequestId::derived(debate, Role::Proposer, Kind::Claim, None, "text"),
            RequestId::derived(debate, Role::Proposer, Kind::Claim, target, "text."),
        ] {
            assert_ne!(different, id);
        }
    }

    /// Agents' hosts may run an old and a new `aw` side by side: this must never change.
    #[test]
    fn a_derived_id_is_the_same_in_every_version() {
        let debate: DebateId = Uuid::from_u128(1).into();
        let id = RequestId::derived(debate, Role::Proposer, Kind::Motion, None, "Xin chào");
        assert_eq!(id.to_string(), "f00f8b50-9c38-5ee8-b772-3b411fc8c985");
    }
}
