//! Why the engine could not do what was asked.
//!
//! Three kinds: the rules refuse it, the request names something that is not there or contradicts
//! an earlier one, or the fault is ours.

use std::fmt;

use aw_core::{ArgumentId, DebateId, DocumentId, Refusal, Role, Seq, Time};
use uuid::Uuid;

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
    /// No such seat.
    #[error("there is no token {id}")]
    SeatNotFound {
        /// The id that was asked for.
        id: Uuid,
    },
    /// As many are kept as were allowed.
    #[error("{0}")]
    NoRoom(String),
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
    Damaged(Damage),
    /// The database itself is damaged: nothing more is written before it was restored.
    #[error("the record is damaged: {0}")]
    Corrupt(String),
}

/// What contradicts itself in the record, and where, as far as that is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Damage {
    /// In this debate.
    pub debate: Option<DebateId>,
    /// The first of its arguments that is not as it was written.
    pub seq: Option<Seq>,
    /// In this document.
    pub document: Option<DocumentId>,
    /// The first of its versions that is not as it was kept.
    pub version: Option<u64>,
    /// What is wrong, without saying where.
    pub what: String,
}

impl Damage {
    /// Something is wrong.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Damage { what: what.into(), ..Damage::default() }
    }

    /// In this debate.
    pub(crate) fn of_debate(mut self, debate: DebateId) -> Self {
        self.debate = self.debate.or(Some(debate));
        self
    }

    /// At this argument, unless another one was found before.
    pub(crate) fn at_seq(mut self, seq: Seq) -> Self {
        self.seq = self.seq.or(Some(seq));
        self
    }

    /// In this document.
    pub(crate) fn of_document(mut self, document: DocumentId) -> Self {
        self.document = self.document.or(Some(document));
        self
    }

    /// At this version, unless another one was found before.
    pub(crate) fn at_version(mut self, version: u64) -> Self {
        self.version = self.version.or(Some(version));
        self
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.debate, self.seq) {
            (Some(id), Some(seq)) => write!(f, "debate {id}, argument {seq}: ")?,
            (Some(id), None) => write!(f, "debate {id}: ")?,
            (None, Some(seq)) => write!(f, "argument {seq}: ")?,
            (None, None) => {}
        }
        match (self.document, self.version) {
            (Some(id), Some(version)) => write!(f, "document {id}, version {version}: ")?,
            (Some(id), None) => write!(f, "document {id}: ")?,
            (None, Some(version)) => write!(f, "version {version}: ")?,
            (None, None) => {}
        }
        f.write_str(&self.what)
    }
}

impl From<Damage> for Failure {
    fn from(damage: Damage) -> Self {
        Failure::Fault(Fault::Damaged(damage))
    }
}

impl Failure {
    /// Says more about where the record is damaged, if that is what it is about.
    pub(crate) fn placed(self, place: impl FnOnce(Damage) -> Damage) -> Self {
        match self {
            Failure::Fault(Fault::Damaged(damage)) => place(damage).into(),
            other => other,
        }
    }
}

impl Fault {
    /// What SQLite called damage, although the database is whole.
    pub(crate) fn misread(what: &str) -> Self {
        Fault::Storage(format!(
            "the disk failed to read a page ({what}), but the database is whole"
        ))
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => Fault::StorageFull,
            Some(rusqlite::ErrorCode::ConstraintViolation) => Fault::Refused(error.to_string()),
            Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase) => {
                Fault::Corrupt(error.to_string())
            }
            Some(_) => Fault::Storage(error.to_string()),
            // SQLite did its work: a row is missing, or holds what we never wrote.
            None => Fault::Damaged(Damage::new(match error {
                rusqlite::Error::QueryReturnedNoRows => "a row is missing".to_owned(),
                rusqlite::Error::FromSqlConversionFailure(_, _, why) => why.to_string(),
                other => other.to_string(),
            })),
        }
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Failure::Fault(error.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_says_where_it_is_as_far_as_that_is_known() {
        let (debate, document) = (Uuid::from_u128(1).into(), Uuid::from_u128(2).into());
        let told = |damage: Damage| damage.to_string();
        let missing = || Damage::new("it is missing");
        assert_eq!(told(missing()), "it is missing");
        assert_eq!(told(missing().at_seq(Seq(3))), "argument 3: it is missing");
        let there = missing().of_debate(debate);
        assert_eq!(told(there.clone()), format!("debate {debate}: it is missing"));
        let named = format!("debate {debate}, argument 3: it is missing");
        assert_eq!(told(there.at_seq(Seq(3)).at_seq(Seq(9))), named, "the first one counts");
        let there = missing().of_document(document);
        assert_eq!(told(there.clone()), format!("document {document}: it is missing"));
        let named = format!("document {document}, version 3: it is missing");
        assert_eq!(told(there.at_version(3).at_version(9)), named);
    }
}
