//! Names of things: UUIDs, each of its own type so that they cannot be mixed up.

use core::fmt;
use core::str::FromStr;

use uuid::Uuid;

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
