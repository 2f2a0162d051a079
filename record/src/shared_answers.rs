//! Answers shared by waiters that the same ring woke.
//!
//! A ring wakes many waiters at once, and many of them ask the same question. The first one reads the
//! record and keeps the answer for the others. The answer was read after the ring, so it holds the
//! change that the ring announced. It also serves waiters of earlier rings, never those of later ones.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::bell::Rung;

/// How many answers are kept.
const KEPT: usize = 64;

/// Answers by question, each with the ring after which it was read.
#[derive(Debug)]
pub struct SharedAnswers<K, V> {
    answers: Mutex<HashMap<K, (Rung, V)>>,
}

impl<K, V> Default for SharedAnswers<K, V> {
    fn default() -> Self {
        SharedAnswers { answers: Mutex::default() }
    }
}

impl<K: Eq + Hash, V: Clone> SharedAnswers<K, V> {
    /// The answer that another waiter read after this ring or a later one.
    pub fn get(&self, question: &K, rung: Rung) -> Option<V> {
        let answers = self.answers();
        answers
            .get(question)
            .filter(|(read_after, _)| *read_after >= rung)
            .map(|(_, it)| it.clone())
    }

    /// Keeps an answer that was read after this ring.
    pub fn keep(&self, question: K, rung: Rung, answer: V) {
        let mut answers = self.answers();
        if answers.get(&question).is_some_and(|(read_after, _)| *read_after > rung) {
            return;
        }
        if answers.len() >= KEPT {
            answers.clear();
        }
        answers.insert(question, (rung, answer));
    }

    fn answers(&self) -> MutexGuard<'_, HashMap<K, (Rung, V)>> {
        // Nothing that holds the lock can panic half way through a change.
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_serves_for_its_ring_and_earlier_ones_but_never_for_a_later_one() {
        let shared = SharedAnswers::default();
        shared.keep("news?", Rung(7), "seven");
        assert_eq!(shared.get(&"news?", Rung(6)), Some("seven"));
        assert_eq!(shared.get(&"news?", Rung(7)), Some("seven"));
        assert_eq!(shared.get(&"news?", Rung(8)), None);
        assert_eq!(shared.get(&"else?", Rung(7)), None);
    }

    #[test]
    fn a_late_answer_does_not_replace_a_newer_one() {
        let shared = SharedAnswers::default();
        shared.keep("news?", Rung(8), "eight");
        shared.keep("news?", Rung(7), "seven");
        assert_eq!(shared.get(&"news?", Rung(8)), Some("eight"));
    }

    #[test]
    fn the_number_of_kept_answers_is_bounded() {
        let shared = SharedAnswers::default();
        for question in 0..10 * KEPT {
            shared.keep(question, Rung(1), ());
            assert!(shared.answers().len() <= KEPT);
        }
        assert_eq!(shared.get(&(10 * KEPT - 1), Rung(1)), Some(()));
    }
}
