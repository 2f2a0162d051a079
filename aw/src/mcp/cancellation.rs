//! The calls under way on a line that carries those of many, so that each can be given up by whoever
//! made it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::RequestId;
use tokio::sync::Notify;

/// A call: whose it is, and which of theirs.
type Name = (String, RequestId);

/// The calls under way.
#[derive(Debug, Default)]
pub(super) struct Calls(Mutex<HashMap<Name, Arc<Notify>>>);

/// A call under way; it is forgotten when this is dropped.
#[derive(Debug)]
pub(super) struct Begun<'a> {
    calls: &'a Calls,
    named: Option<(Name, Arc<Notify>)>,
}

impl Calls {
    /// A call begins; without a session nobody can name it later.
    pub(super) fn begin(&self, session: Option<String>, id: RequestId) -> Begun<'_> {
        let named = session.map(|session| ((session, id), Arc::new(Notify::new())));
        if let Some((name, told)) = &named {
            self.all().insert(name.clone(), told.clone());
        }
        Begun { calls: self, named }
    }

    /// Tells a call that nobody waits for it any more.
    pub(super) fn cancel(&self, session: &str, id: &RequestId) {
        if let Some(told) = self.all().get(&(session.to_owned(), id.clone())) {
            told.notify_one();
        }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<Name, Arc<Notify>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Begun<'_> {
    /// Returns once the call was given up.
    pub(super) async fn told(&self) {
        match &self.named {
            Some((_, told)) => told.notified().await,
            None => std::future::pending().await,
        }
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        if let Some((name, told)) = &self.named {
            let mut all = self.calls.all();
            // A client that uses an id twice has the newer call under it.
            if all.get(name).is_some_and(|known| Arc::ptr_eq(known, told)) {
                all.remove(name);
            }
        }
    }
}
