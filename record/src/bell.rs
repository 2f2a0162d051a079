//! The bell: wakes the listeners of a debate after a commit.
//!
//! A ring carries no content, so it cannot disagree with the record: each listener reads the record
//! itself. A waiter listens first and reads second ([`Bell::until`]), so that it misses no commit in
//! between. `bell_tests.rs` runs it in every order that shuttle generates.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, PoisonError};

use aw_core::DebateId;

use super::sync::{Mutex, MutexGuard, watch};

/// Wakes the listeners of a debate; clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bell {
    ropes: Arc<Mutex<Ropes>>,
}

#[derive(Debug, Default)]
struct Ropes {
    /// The newest ring of any debate.
    newest: Rung,
    of: HashMap<DebateId, watch::Sender<Rung>>,
}

/// The number of a ring; it grows with every ring.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rung(pub(crate) u64);

impl Bell {
    /// Wakes all listeners of this debate. Call it after the commit.
    pub(crate) fn ring(&self, debate: DebateId) {
        let mut ropes = self.ropes();
        ropes.newest.0 += 1;
        if let Some(rope) = ropes.of.get(&debate) {
            rope.send_replace(ropes.newest);
        }
    }

    /// Wakes the listeners of all debates.
    pub(crate) fn ring_all(&self) {
        let mut ropes = self.ropes();
        ropes.newest.0 += 1;
        for rope in ropes.of.values() {
            rope.send_replace(ropes.newest);
        }
    }

    /// Starts listening: the listener gets every ring from now on.
    pub(crate) fn listen(&self, debate: DebateId) -> Listening {
        let heard = match self.ropes().of.entry(debate) {
            Entry::Occupied(rope) => rope.get().subscribe(),
            Entry::Vacant(free) => free.insert(watch::Sender::default()).subscribe(),
        };
        Listening { debate, heard: Some(heard), bell: self.clone() }
    }

    /// Calls `read` until it returns an answer: once immediately, and again after every ring, with the
    /// number of that ring.
    ///
    /// It listens before the first read. In the other order, the waiter would sleep through a commit
    /// between the read and the listening.
    pub(crate) async fn until<T, E, R: Future<Output = Result<Option<T>, E>>>(
        &self,
        debate: DebateId,
        mut read: impl FnMut(Option<Rung>) -> R,
    ) -> Result<T, E> {
        let mut listening = self.listen(debate);
        let mut rung = None;
        loop {
            if let Some(answer) = read(rung).await? {
                return Ok(answer);
            }
            rung = Some(listening.next().await);
        }
    }

    /// How many debates have a listener.
    pub(crate) fn debates_listened_to(&self) -> usize {
        self.ropes().of.len()
    }

    fn ropes(&self) -> MutexGuard<'_, Ropes> {
        // Nothing that holds the lock can panic half way through a change.
        self.ropes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A listener of one debate's bell. Dropping it unregisters it.
#[derive(Debug)]
pub struct Listening {
    debate: DebateId,
    /// `None` only while it is dropped.
    heard: Option<watch::Receiver<Rung>>,
    bell: Bell,
}

impl Listening {
    /// Waits for the next ring; returns immediately if there was one since the last call. Of several
    /// rings it returns the newest.
    pub async fn next(&mut self) -> Rung {
        let heard = self.heard.as_mut().expect("only dropping takes it");
        heard.changed().await.expect("a rope stays while it has a listener");
        *heard.borrow_and_update()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        // Under the lock: if two listeners leave at once, the second sees that it is the last.
        let mut ropes = self.bell.ropes();
        self.heard = None;
        if ropes.of.get(&self.debate).is_some_and(|rope| rope.receiver_count() == 0) {
            ropes.of.remove(&self.debate);
        }
    }
}
