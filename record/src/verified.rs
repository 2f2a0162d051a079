//! The results of verifying the record.

use std::fmt;
use std::str::FromStr;

use aw_core::{DebateId, DocumentId, Hash, State, Time, Title, UnknownWord};

use crate::Damage;

/// A debate that passed verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verified {
    /// The debate.
    pub debate: DebateId,
    /// How many arguments it has.
    pub arguments: u64,
    /// The hash of its MOTION.
    pub first: Hash,
    /// The hash of its newest argument, which covers all arguments before it.
    pub head: Hash,
    /// The checksum over its title, type, policy and rules.
    pub checksum: Hash,
    /// Its tombstone, if it was purged. Then no argument is there to verify.
    pub tombstone: Option<Tombstone>,
}

/// The remains of a purged debate or document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tombstone {
    /// When its texts were removed.
    pub purged_at: Time,
    /// How many arguments or versions it had.
    pub pieces: u64,
    /// The hash of its newest argument, or the checksum of its newest version.
    pub hash: Hash,
    /// The checksum over the others.
    pub checksum: Hash,
}

/// The things that a purge of a debate removes.
#[derive(Debug, Clone)]
pub struct PurgePreview {
    /// Its title.
    pub title: Title,
    /// Its state.
    pub state: State,
    /// When it was deleted.
    pub deleted_at: Option<Time>,
    /// How many arguments it has.
    pub arguments: u64,
    /// How many bytes of text they have.
    pub bytes: u64,
    /// How many documents it cites.
    pub documents: u64,
    /// Those of them that no other debate cites.
    pub only_here: Vec<DocumentId>,
    /// Its tombstone, if it was purged before.
    pub tombstone: Option<Tombstone>,
}

/// The result of a purge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Purged {
    /// The remains.
    pub tombstone: Tombstone,
    /// Whether the bytes are out of the files. False for PostgreSQL, which removes them in its own time.
    pub scrubbed: bool,
}

/// The result of verifying a piece of the whole record.
#[derive(Debug, Clone, Default)]
pub struct VerifiedPiece {
    /// How many debates were checked.
    pub debates: u64,
    /// How many of their arguments.
    pub arguments: u64,
    /// How many documents.
    pub documents: u64,
    /// How many of their versions.
    pub versions: u64,
    /// The damage that was found: the first of each debate and document.
    pub damages: Vec<Damage>,
    /// How many debates and documents are left.
    pub left: u64,
    /// Where the next piece begins, unless this was the last one.
    pub next: Option<VerifyMark>,
}

/// The position of a verification. It goes from the newest debate to the oldest, then through the
/// documents in the same order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerifyMark {
    /// The debates opened before this one are left, and all documents.
    Debates(u64),
    /// The documents created before this one are left.
    Documents(u64),
}

impl fmt::Display for VerifyMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VerifyMark::Debates(before) => write!(f, "debates-{before}"),
            VerifyMark::Documents(before) => write!(f, "documents-{before}"),
        }
    }
}

impl FromStr for VerifyMark {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (kind, number) = text.split_once('-').unwrap_or_default();
        match (kind, number.parse()) {
            ("debates", Ok(before)) => Ok(VerifyMark::Debates(before)),
            ("documents", Ok(before)) => Ok(VerifyMark::Documents(before)),
            _ => Err(UnknownWord { expected: "the `next` of an answer" }),
        }
    }
}
