//! Places that are few: waits that are held and sockets that are open.
//!
//! There are so many in all and so many for each token, so that no seat can take them all. Whoever
//! drops a [`Place`] leaves it, however the request ended.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::caller::{Caller, Whose};
use super::error::Problem;

/// The places of one kind; clones share them.
#[derive(Debug, Clone)]
pub(super) struct Places(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// What there are as many of as there may be, when there are.
    what: &'static str,
    in_all: usize,
    per_token: usize,
    /// The setting of how many each token may have.
    setting: &'static str,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    in_all: usize,
    /// Only whoever has any is in here.
    by_token: HashMap<Whose, usize>,
}

impl Places {
    pub(super) fn for_waits(in_all: usize, per_token: usize) -> Self {
        Self::new("waits are held", in_all, per_token, "AW_MAX_WAITS_PER_TOKEN")
    }

    pub(super) fn for_sockets(in_all: usize, per_token: usize) -> Self {
        Self::new("sockets are open", in_all, per_token, "AW_MAX_SOCKETS_PER_TOKEN")
    }

    fn new(what: &'static str, in_all: usize, per_token: usize, setting: &'static str) -> Self {
        let taken = Mutex::default();
        Places(Arc::new(Inner { what, in_all, per_token, setting, taken }))
    }

    /// A place for this caller, as long as there is one. Who is refused has taken nothing.
    pub(super) fn take(&self, caller: &Caller) -> Result<Place, Problem> {
        let inner = &self.0;
        let what = inner.what;
        let mut taken = inner.taken();
        if taken.in_all >= inner.in_all {
            return Err(Problem::busy(&format!("as many {what} as this server takes on")));
        }
        let whose = caller.whose();
        if let Some(whose) = whose {
            let theirs = taken.by_token.get(&whose).copied().unwrap_or(0);
            if theirs >= inner.per_token {
                let most = inner.per_token;
                let message = format!("as many {what} with {caller} as one token may have: {most}");
                return Err(Problem::busy(&message).suggest(format!(
                    "End one and try again in a second; whoever runs the server can allow more ({})",
                    inner.setting
                )));
            }
            taken.by_token.insert(whose, theirs + 1);
        }
        taken.in_all += 1;
        Ok(Place { places: self.clone(), whose })
    }

    /// How many are taken now.
    pub(super) fn taken(&self) -> usize {
        self.0.taken().in_all
    }
}

impl Inner {
    fn taken(&self) -> MutexGuard<'_, Taken> {
        // Nothing that holds the lock can panic half way through a change.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place that is taken until this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    places: Places,
    whose: Option<Whose>,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.0.taken();
        taken.in_all -= 1;
        if let Some(whose) = self.whose
            && let Some(theirs) = taken.by_token.get_mut(&whose)
        {
            *theirs -= 1;
            if *theirs == 0 {
                taken.by_token.remove(&whose);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use aw_core::Hash;

    use super::*;

    fn administrator(name: &'static str) -> Caller {
        Caller::Administrator { name, holder: Hash([0; 32]) }
    }

    #[test]
    fn whoever_leaves_or_is_refused_has_nothing_any_more() {
        let places = Places::for_waits(3, 2);
        let (one, other) = (administrator("one"), administrator("other"));
        let first = places.take(&one).unwrap();
        let second = places.take(&one).unwrap();
        for _ in 0..10 {
            places.take(&one).unwrap_err();
        }
        let third = places.take(&other).unwrap();
        for _ in 0..10 {
            places.take(&other).unwrap_err();
            places.take(&Caller::Anybody).unwrap_err();
        }
        assert_eq!(places.taken(), 3);
        drop((first, third));
        drop(places.take(&one).unwrap());
        drop(second);
        assert_eq!(places.taken(), 0);
        assert!(places.0.taken().by_token.is_empty(), "it keeps who has left");
    }

    #[test]
    fn where_nobody_has_a_token_nobody_has_a_share() {
        let places = Places::for_sockets(3, 1);
        let taken: Vec<_> = (0..3).map(|_| places.take(&Caller::Anybody).unwrap()).collect();
        places.take(&Caller::Anybody).unwrap_err();
        drop(taken);
    }
}
