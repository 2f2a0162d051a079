//! Why the engine could not do what was asked.
//!
//! Three kinds: the rules refuse it, the request names something that is not there or contradicts
//! an earlier one, or the fault is ours.

use aw_core::{ArgumentId, DebateId, DocumentId, Refusal, Role, Time};

use crate::LastArgument;

/// What stood in the way. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The rules say no.
    #[error("{refusal}")]
    Refused {
        /// The debate.
        debate: DebateId,
        /// Who asked.
        role: Role,
        /// Why.
        refusal: Refusal,
        /// The newest argument, so that the loser of a race learns who was first.
        last: LastArgument,
    },
    /// No such debate, or not any more.
    #[error("there is no debate {id}")]
    DebateNotFound {
        /// The id that was asked for.
        id: DebateId,
        /// When it was deleted.
        deleted_at: Option<Time>,
    },
    /// No such argument in this debate.
    #[error("there is no argument {id} in this debate")]
    ArgumentNotFound {
        /// The id that was asked for.
        id: ArgumentId,
    },
    /// No such document, or not any more.
    #[error("there is no document {id}")]
    DocumentNotFound {
        /// The id that was asked for.
        id: DocumentId,
        /// When it was deleted.
        deleted_at: Option<Time>,
    },
    /// The document has no such version.
    #[error("document {id} has no version {version}; its newest is {newest}")]
    VersionNotFound {
        /// The document.
        id: DocumentId,
        /// The version that was asked for.
        version: u64,
        /// The newest it has.
        newest: u64,
    },
    /// This id already names another debate.
    #[error("the id {id} is taken by another debate")]
    DebateIdTaken {
        /// The id.
        id: DebateId,
    },
    /// A request id came back with something else to say.
    #[error("this client_request_id was used for a different request")]
    RequestIdReused,
    /// The fault is ours.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// Something failed on this side.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// No room for another write.
    #[error("the disk is full")]
    StorageFull,
    /// More writes are waiting than the server takes on, or the store is being mended.
    #[error("{0}")]
    Busy(&'static str),
    /// One request could not be written; the others of its batch were.
    #[error("the database refused the request: {0}")]
    Refused(String),
    /// The database failed.
    #[error("the database failed: {0}")]
    Storage(String),
    /// What this request needs of the record contradicts itself; other requests are served.
    #[error("the record is damaged: {0}")]
    Damaged(String),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => Fault::StorageFull,
            Some(rusqlite::ErrorCode::ConstraintViolation) => Fault::Refused(error.to_string()),
            Some(_) => Fault::Storage(error.to_string()),
            // SQLite did its work: a row is missing, or holds what we never wrote.
            None => Fault::Damaged(error.to_string()),
        }
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Failure::Fault(error.into())
    }
}
