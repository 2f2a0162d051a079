//! In-flight calls by session, for cancellation where one connection carries the calls of many.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::RequestId;
use tokio::sync::Notify;

/// A call: its session and its id there.
type CallKey = (String, RequestId);

/// The calls in flight.
#[derive(Debug, Default)]
pub(super) struct InFlight(Mutex<HashMap<CallKey, Arc<Notify>>>);

/// A call in flight; it is removed when this is dropped.
#[derive(Debug)]
pub(super) struct CallGuard<'a> {
    calls: &'a InFlight,
    entry: Option<(CallKey, Arc<Notify>)>,
}

impl InFlight {
    /// Adds a call. Without a session it cannot be cancelled.
    pub(super) fn begin(&self, session: Option<String>, id: RequestId) -> CallGuard<'_> {
        let entry = session.map(|session| ((session, id), Arc::new(Notify::new())));
        if let Some((key, cancelled)) = &entry {
            self.all().insert(key.clone(), cancelled.clone());
        }
        CallGuard { calls: self, entry }
    }

    /// Cancels a call.
    pub(super) fn cancel(&self, session: &str, id: &RequestId) {
        if let Some(cancelled) = self.all().get(&(session.to_owned(), id.clone())) {
            cancelled.notify_one();
        }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<CallKey, Arc<Notify>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CallGuard<'_> {
    /// Returns once the call was cancelled.
    pub(super) async fn cancelled(&self) {
        match &self.entry {
            Some((_, cancelled)) => cancelled.notified().await,
            None => std::future::pending().await,
        }
    }
}

impl Drop for CallGuard<'_> {
    fn drop(&mut self) {
        if let Some((key, cancelled)) = &self.entry {
            let mut all = self.calls.all();
            // A client that uses an id twice has the newer call under it.
            if all.get(key).is_some_and(|known| Arc::ptr_eq(known, cancelled)) {
                all.remove(key);
            }
        }
    }
}
