//! The bell: one rope per debate that somebody waits for.
//!
//! It says "look", never what to see: it carries no content, so it cannot disagree with the
//! record. Whoever waits listens first and reads second ([`Bell::until`]), so that nothing can
//! slip in between. `bell_tests.rs` rings it in every order that shuttle can think of.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, PoisonError};

use aw_core::DebateId;

use super::sync::{Mutex, MutexGuard, watch};

/// Wakes everybody who listens to a debate.
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

/// Which ring it was: each has a greater number than those before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rung(pub(crate) u64);

impl Bell {
    /// Tells everybody who listens to this debate to look. Call it after the commit.
    pub(crate) fn ring(&self, debate: DebateId) {
        let mut ropes = self.ropes();
        ropes.newest.0 += 1;
        if let Some(rope) = ropes.of.get(&debate) {
            rope.send_replace(ropes.newest);
        }
    }

    /// Tells everybody to look, whatever they listen to.
    pub(crate) fn ring_all(&self) {
        let mut ropes = self.ropes();
        ropes.newest.0 += 1;
        for rope in ropes.of.values() {
            rope.send_replace(ropes.newest);
        }
    }

    /// Starts listening: every ring from now on will be heard.
    pub(crate) fn listen(&self, debate: DebateId) -> Listening {
        let heard = match self.ropes().of.entry(debate) {
            Entry::Occupied(rope) => rope.get().subscribe(),
            Entry::Vacant(free) => free.insert(watch::Sender::default()).subscribe(),
        };
        Listening { debate, heard: Some(heard), bell: self.clone() }
    }

    /// Asks `read` until it has an answer: once at once, and again after every ring, of which it is
    /// told.
    ///
    /// It listens before it reads for the first time. The other way round, what is committed
    /// between the reading and the listening would be slept through.
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

    /// How many debates somebody listens to.
    pub(crate) fn debates_listened_to(&self) -> usize {
        self.ropes().of.len()
    }

    fn ropes(&self) -> MutexGuard<'_, Ropes> {
        // Nothing that holds the lock can panic half way through a change.
        self.ropes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An ear to one debate's bell. Dropping it is enough to be forgotten.
#[derive(Debug)]
pub struct Listening {
    debate: DebateId,
    /// There until it is dropped.
    heard: Option<watch::Receiver<Rung>>,
    bell: Bell,
}

impl Listening {
    /// Returns after a ring that was not yet noticed; at once when there was one meanwhile. Of
    /// several it tells the newest.
    pub async fn next(&mut self) -> Rung {
        let heard = self.heard.as_mut().expect("only dropping takes it");
        heard.changed().await.expect("a rope stays while somebody listens");
        *heard.borrow_and_update()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        // Under the lock, so that of two who leave at once the second sees that it is the last.
        let mut ropes = self.bell.ropes();
        self.heard = None;
        if ropes.of.get(&self.debate).is_some_and(|rope| rope.receiver_count() == 0) {
            ropes.of.remove(&self.debate);
        }
    }
}
