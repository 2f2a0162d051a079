//! Whether the database was found to be damaged.

use std::sync::{Arc, OnceLock};

use crate::{Failure, Fault};

/// The first damage that any read or write has found; clones share it. It stays until the database
/// is opened again: what one page has lost, others may have lost as well.
#[derive(Debug, Clone, Default)]
pub(super) struct Condition(Arc<OnceLock<String>>);

impl Condition {
    /// One that was found damaged already, or not.
    pub(super) fn found(damage: Option<String>) -> Self {
        let condition = Condition::default();
        if let Some(what) = damage {
            condition.note(&what);
        }
        condition
    }

    /// Fails once the database was found to be damaged.
    pub(super) fn check(&self) -> Result<(), Fault> {
        match self.0.get() {
            Some(what) => Err(Fault::Corrupt(what.clone())),
            None => Ok(()),
        }
    }

    /// Remembers the damage, if that is why the work failed.
    pub(super) fn noted<T, E: AsFault>(&self, done: Result<T, E>) -> Result<T, E> {
        if let Err(error) = &done
            && let Some(Fault::Corrupt(what)) = error.as_fault()
        {
            self.note(what);
        }
        done
    }

    fn note(&self, what: &str) {
        self.0.get_or_init(|| {
            tracing::error!(what, "the record is damaged: nothing more is written to it");
            what.to_owned()
        });
    }
}

/// What may be a fault.
pub(super) trait AsFault {
    fn as_fault(&self) -> Option<&Fault>;
}

impl AsFault for Fault {
    fn as_fault(&self) -> Option<&Fault> {
        Some(self)
    }
}

impl AsFault for Failure {
    fn as_fault(&self) -> Option<&Fault> {
        match self {
            Failure::Fault(fault) => Some(fault),
            _ => None,
        }
    }
}
