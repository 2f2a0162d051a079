//! Ids: UUIDs with a type for each kind, so that they cannot be mixed up.

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

        /// Parses the hyphenated form in either case. Other spellings of a UUID are refused, so that
        /// an id has one spelling.
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
    /// The id of a debate; the client that creates the debate chooses it.
    DebateId
}
id! {
    /// The id of an argument; the server assigns it.
    ArgumentId
}
id! {
    /// The id of a document; the server assigns it.
    DocumentId
}
id! {
    /// The id of a write request, by which the server recognizes a retry.
    RequestId
}

/// The UUIDv5 namespace for imported debates whose old ids were not UUIDs. It never changes.
const FORMER_IDS: Uuid = Uuid::from_u128(0x6177_6465_6261_7465_8000_6f6c_6469_6473);

impl DebateId {
    /// The id of the debate that had this id in the older system. One text always gives one id.
    pub fn of_former_id(text: &str) -> Self {
        DebateId(Uuid::new_v5(&FORMER_IDS, text.as_bytes()))
    }
}

/// The UUIDv5 namespace for derived request ids. It never changes.
const DERIVED: Uuid = Uuid::from_u128(0x6177_6465_6261_7465_8000_7265_7175_6573);

impl RequestId {
    /// The request id used when the caller gives none: the same role, kind, target and text are the
    /// same request. So a host that kills a command half way and runs it again cannot write twice.
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

/// An argument's position in its debate: 1 is the MOTION; there are no gaps and no repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seq(pub u64);

impl Seq {
    /// The MOTION's position.
    pub const FIRST: Seq = Seq(1);

    /// The next position.
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

    /// An old and a new `aw` may run side by side on one machine, so this must never change.
    #[test]
    fn a_derived_id_is_the_same_in_every_version() {
        let debate: DebateId = Uuid::from_u128(1).into();
        let id = RequestId::derived(debate, Role::Proposer, Kind::Motion, None, "Xin chào");
        assert_eq!(id.to_string(), "f00f8b50-9c38-5ee8-b772-3b411fc8c985");
    }
}
