//! What verifying the record finds out.

use std::fmt;
use std::str::FromStr;

use aw_core::{DebateId, Hash, UnknownWord};

use crate::Damage;

/// A debate that is as it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verified {
    /// The debate.
    pub debate: DebateId,
    /// How many arguments it has.
    pub arguments: u64,
    /// The hash of its MOTION.
    pub first: Hash,
    /// The hash of its newest argument, which stands for all of them.
    pub head: Hash,
    /// The checksum over its own words: title, type, policy, rules.
    pub checksum: Hash,
}

/// A piece of the whole record that was verified.
#[derive(Debug, Clone, Default)]
pub struct VerifiedPiece {
    /// So many debates were looked at.
    pub debates: u64,
    /// So many of their arguments.
    pub arguments: u64,
    /// So many documents.
    pub documents: u64,
    /// So many of their versions.
    pub versions: u64,
    /// What is not as it was written: of each debate and document the first.
    pub damages: Vec<Damage>,
    /// So many debates and documents are still to be looked at.
    pub left: u64,
    /// Where to go on, unless this was the last piece.
    pub next: Option<VerifyMark>,
}

/// How far a walk over the record has come. It goes from the newest debate to the oldest, then
/// through the documents in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerifyMark {
    /// To the debates that were opened before this one.
    Debates(u64),
    /// To the documents that were kept before this one.
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
