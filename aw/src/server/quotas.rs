//! Quotas for held waits and open sockets.
//!
//! Each quota has a total and a share per token, so that no token can use it up. A [`QuotaPermit`] counts
//! until it is dropped, however the request ends.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::caller::{Caller, TokenOwner};
use super::error::Problem;

/// One quota; clones share it.
#[derive(Debug, Clone)]
pub(super) struct Quota(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Names what is counted in the "too many ..." message.
    what: &'static str,
    total: usize,
    per_token: usize,
    /// The setting that raises `per_token`.
    setting: &'static str,
    used: Mutex<Used>,
}

#[derive(Debug, Default)]
struct Used {
    total: usize,
    /// Has no entry for a token that uses nothing.
    by_token: HashMap<TokenOwner, usize>,
}

impl Quota {
    pub(super) fn for_waits(total: usize, per_token: usize) -> Self {
        Self::new("held waits", total, per_token, "AW_MAX_WAITS_PER_TOKEN")
    }

    pub(super) fn for_sockets(total: usize, per_token: usize) -> Self {
        Self::new("open sockets", total, per_token, "AW_MAX_SOCKETS_PER_TOKEN")
    }

    fn new(what: &'static str, total: usize, per_token: usize, setting: &'static str) -> Self {
        Quota(Arc::new(Inner { what, total, per_token, setting, used: Mutex::default() }))
    }

    /// Takes one permit for this caller, or returns `SERVER_BUSY`.
    pub(super) fn take(&self, caller: &Caller) -> Result<QuotaPermit, Problem> {
        let inner = &self.0;
        let what = inner.what;
        let mut used = inner.used();
        if used.total >= inner.total {
            return Err(Problem::busy(&format!("too many {what}")));
        }
        let owner = caller.token_owner();
        if let Some(owner) = owner {
            let count = used.by_token.get(&owner).copied().unwrap_or(0);
            if count >= inner.per_token {
                let message =
                    format!("too many {what} for {caller}; the limit is {}", inner.per_token);
                return Err(Problem::busy(&message).suggest(format!(
                    "End one and try again in a second; the server's administrator can raise {}",
                    inner.setting
                )));
            }
            used.by_token.insert(owner, count + 1);
        }
        used.total += 1;
        Ok(QuotaPermit { quota: self.clone(), owner })
    }

    /// The number of permits in use.
    pub(super) fn in_use(&self) -> usize {
        self.0.used().total
    }
}

impl Inner {
    fn used(&self) -> MutexGuard<'_, Used> {
        // No code panics half way through a change while it holds the lock.
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts against a quota until it is dropped.
#[derive(Debug)]
pub(super) struct QuotaPermit {
    quota: Quota,
    owner: Option<TokenOwner>,
}

impl Drop for QuotaPermit {
    fn drop(&mut self) {
        let mut used = self.quota.0.used();
        used.total -= 1;
        if let Some(owner) = self.owner
            && let Some(count) = used.by_token.get_mut(&owner)
        {
            *count -= 1;
            if *count == 0 {
                used.by_token.remove(&owner);
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
    fn refused_and_dropped_permits_count_for_nothing() {
        let quota = Quota::for_waits(3, 2);
        let (one, other) = (administrator("one"), administrator("other"));
        let first = quota.take(&one).unwrap();
        let second = quota.take(&one).unwrap();
        for _ in 0..10 {
            quota.take(&one).unwrap_err();
        }
        let third = quota.take(&other).unwrap();
        for _ in 0..10 {
            quota.take(&other).unwrap_err();
            quota.take(&Caller::Anybody).unwrap_err();
        }
        assert_eq!(quota.in_use(), 3);
        drop((first, third));
        drop(quota.take(&one).unwrap());
        drop(second);
        assert_eq!(quota.in_use(), 0);
        assert!(quota.0.used().by_token.is_empty(), "a token that uses nothing has an entry");
    }

    #[test]
    fn callers_without_a_token_have_no_share() {
        let quota = Quota::for_sockets(3, 1);
        let permits: Vec<_> = (0..3).map(|_| quota.take(&Caller::Anybody).unwrap()).collect();
        quota.take(&Caller::Anybody).unwrap_err();
        drop(permits);
    }
}
