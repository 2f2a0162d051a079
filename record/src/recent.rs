//! Debates in the order of their latest change, each once and with one value.
//!
//! A debate that changes again moves to the end under a new number. So the list is as long as there
//! are changed debates, however often each has changed.

use std::collections::{BTreeMap, HashMap};

use aw_core::DebateId;

/// Values of debates, ordered by their last [`Recent::touch`].
#[derive(Debug)]
pub(crate) struct Recent<T> {
    newest: u64,
    order: BTreeMap<u64, DebateId>,
    kept: HashMap<DebateId, (u64, T)>,
}

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Recent { newest: 0, order: BTreeMap::new(), kept: HashMap::new() }
    }
}

impl<T: Default> Recent<T> {
    /// Makes this debate the newest and returns its number and its mutable value.
    pub(crate) fn touch(&mut self, debate: DebateId) -> (u64, &mut T) {
        self.newest += 1;
        let (number, value) = self.kept.entry(debate).or_default();
        self.order.remove(number);
        *number = self.newest;
        self.order.insert(self.newest, debate);
        (self.newest, value)
    }
}

impl<T> Recent<T> {
    /// The newest number; 0 before the first.
    pub(crate) fn newest(&self) -> u64 {
        self.newest
    }

    /// How many debates are kept.
    pub(crate) fn len(&self) -> usize {
        self.kept.len()
    }

    pub(crate) fn get(&self, debate: DebateId) -> Option<&T> {
        self.kept.get(&debate).map(|(_, value)| value)
    }

    pub(crate) fn get_mut(&mut self, debate: DebateId) -> Option<&mut T> {
        self.kept.get_mut(&debate).map(|(_, value)| value)
    }

    /// The debate whose last touch is the oldest, with its number.
    pub(crate) fn oldest(&self) -> Option<(u64, DebateId)> {
        self.order.first_key_value().map(|(number, debate)| (*number, *debate))
    }

    /// The debates with a greater number, in order.
    pub(crate) fn after(&self, number: u64) -> impl Iterator<Item = (u64, DebateId, &T)> {
        let later = self.order.range(number.saturating_add(1)..);
        later.filter_map(|(number, debate)| Some((*number, *debate, self.get(*debate)?)))
    }

    pub(crate) fn remove(&mut self, debate: DebateId) {
        if let Some((number, _)) = self.kept.remove(&debate) {
            self.order.remove(&number);
        }
    }

    /// Skips a number, so that no follower is up to date any more.
    pub(crate) fn skip(&mut self) {
        self.newest += 1;
    }

    /// Removes all debates; numbers continue.
    pub(crate) fn clear(&mut self) {
        self.order.clear();
        self.kept.clear();
    }
}
