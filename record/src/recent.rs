//! Debates in the order of their latest change, each with one value and only once.
//!
//! However often a debate changes, it is kept once, at its newest number: so a list of what has
//! changed is as long as there are debates in it, not as there were changes.

use std::collections::{BTreeMap, HashMap};

use aw_core::DebateId;

/// Values of debates, ordered by when [`Recent::touch`] last named them.
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
    /// Makes this debate the newest, and gives its number and its value, to change.
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
    /// The newest number that was ever given; 0 before the first.
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

    /// The debate that was not touched for the longest time, with its number.
    pub(crate) fn oldest(&self) -> Option<(u64, DebateId)> {
        self.order.first_key_value().map(|(number, debate)| (*number, *debate))
    }

    /// Those whose number is greater than this one, in order.
    pub(crate) fn after(&self, number: u64) -> impl Iterator<Item = (u64, DebateId, &T)> {
        let later = self.order.range(number.saturating_add(1)..);
        later.filter_map(|(number, debate)| Some((*number, *debate, self.get(*debate)?)))
    }

    pub(crate) fn remove(&mut self, debate: DebateId) {
        if let Some((number, _)) = self.kept.remove(&debate) {
            self.order.remove(&number);
        }
    }

    /// Leaves a number out, so that who has seen the newest has not seen this.
    pub(crate) fn skip(&mut self) {
        self.newest += 1;
    }

    /// Forgets all debates; numbers go on from where they were.
    pub(crate) fn clear(&mut self) {
        self.order.clear();
        self.kept.clear();
    }
}
