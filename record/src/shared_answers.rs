//! One answer for all who ask alike.
//!
//! When a bell rings everybody who listens looks at the record, and many look for the same. What the
//! first of them finds serves for all whom that ring, or an earlier one, has woken: it was read after
//! the ring, so what the ring was for is in it. Whoever has not heard a ring yet reads for themselves.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::bell::Rung;

/// How many answers are kept, for those who are still on their way to them.
const KEPT: usize = 64;

/// What was found after a ring, by what was asked.
#[derive(Debug)]
pub struct SharedAnswers<K, V> {
    kept: Mutex<HashMap<K, (Rung, V)>>,
}

impl<K, V> Default for SharedAnswers<K, V> {
    fn default() -> Self {
        SharedAnswers { kept: Mutex::default() }
    }
}

impl<K: Eq + Hash, V: Clone> SharedAnswers<K, V> {
    /// What somebody else has found after this ring or a later one.
    pub fn found(&self, asked: &K, rung: Rung) -> Option<V> {
        let kept = self.kept();
        kept.get(asked).filter(|(found_after, _)| *found_after >= rung).map(|(_, it)| it.clone())
    }

    /// Keeps what was read after this ring.
    pub fn keep(&self, asked: K, rung: Rung, found: V) {
        let mut kept = self.kept();
        if kept.get(&asked).is_some_and(|(found_after, _)| *found_after > rung) {
            return;
        }
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(asked, (rung, found));
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<K, (Rung, V)>> {
        // Nothing that holds the lock can panic half way through a change.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_serves_for_its_ring_and_earlier_ones_but_never_for_a_later_one() {
        let alike = SharedAnswers::default();
        alike.keep("news?", Rung(7), "seven");
        assert_eq!(alike.found(&"news?", Rung(6)), Some("seven"));
        assert_eq!(alike.found(&"news?", Rung(7)), Some("seven"));
        assert_eq!(alike.found(&"news?", Rung(8)), None);
        assert_eq!(alike.found(&"else?", Rung(7)), None);
    }

    #[test]
    fn who_was_slow_to_read_does_not_take_the_place_of_something_newer() {
        let alike = SharedAnswers::default();
        alike.keep("news?", Rung(8), "eight");
        alike.keep("news?", Rung(7), "seven");
        assert_eq!(alike.found(&"news?", Rung(8)), Some("eight"));
    }

    #[test]
    fn only_so_many_are_kept() {
        let alike = SharedAnswers::default();
        for asked in 0..10 * KEPT {
            alike.keep(asked, Rung(1), ());
            assert!(alike.kept().len() <= KEPT);
        }
        assert_eq!(alike.found(&(10 * KEPT - 1), Rung(1)), Some(()));
    }
}
