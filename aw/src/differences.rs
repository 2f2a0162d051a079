//! Compares two sequences or two texts.
//!
//! No other room runs the algorithms of `similar`: they are generic and large, and here they are built
//! once, for numbers that stand for lines, words or parts.

mod unified;
mod windows;

use std::hash::Hash;
use std::time::Instant;

use similar::DiffOp;
use similar::algorithms::{Capture, Compact, IdentifyDistinct, Replace, histogram, myers};

pub(crate) use self::unified::{lines, unified};
pub(crate) use self::windows::line_ops;

/// How two sequences are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Algorithm {
    /// The fewest changes.
    Myers,
    /// Changes between rare items, which are easier to read in long texts.
    Histogram,
}

/// The differences between two sequences, in order. After the deadline more counts as changed.
pub(crate) fn ops<T: Hash + Eq>(
    algorithm: Algorithm,
    old: &[T],
    new: &[T],
    deadline: Instant,
) -> Vec<DiffOp> {
    numbered(algorithm, &IdentifyDistinct::new(old, 0..old.len(), new, 0..new.len()), deadline)
}

fn numbered(algorithm: Algorithm, items: &IdentifyDistinct<u32>, deadline: Instant) -> Vec<DiffOp> {
    let (old, new) = (items.old_lookup(), items.new_lookup());
    let (old_range, new_range) = (items.old_range(), items.new_range());
    let mut found = Compact::new(Replace::new(Capture::new()), old, new);
    let done = match algorithm {
        Algorithm::Myers => {
            myers::diff_deadline(&mut found, old, old_range, new, new_range, Some(deadline))
        }
        Algorithm::Histogram => {
            histogram::diff_deadline(&mut found, old, old_range, new, new_range, Some(deadline))
        }
    };
    match done {
        Ok(()) => found.into_inner().into_inner().into_ops(),
    }
}
