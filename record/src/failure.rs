//! The errors of the engine.
//!
//! Three kinds: the rules refuse the request; the request is wrong, because it names something that
//! does not exist or contradicts an earlier request; or the server has a fault.

use std::fmt;

use aw_core::{ArgumentId, DebateId, DocumentId, PointId, Refusal, Role, Seq, State, Time};
use uuid::Uuid;

use crate::LastArgument;

/// Why a request failed. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The rules refuse the move.
    #[error("{refusal}")]
    Refused {
        /// The debate.
        debate: DebateId,
        /// The role that asked.
        role: Role,
        /// The reason.
        refusal: Box<Refusal>,
        /// The newest argument, so that the loser of a race sees who was first.
        last: LastArgument,
    },
    /// The debate does not exist or was deleted.
    #[error("there is no debate {id}")]
    DebateNotFound {
        /// The id that was asked for.
        id: DebateId,
        /// When it was deleted.
        deleted_at: Option<Time>,
    },
    /// The debate is neither closed nor deleted, so its texts stay.
    #[error("debate {id} is still open, so it is not purged")]
    StillOpen {
        /// The debate.
        id: DebateId,
        /// Its state.
        state: State,
    },
    /// The debate has no such argument.
    #[error("there is no argument {id} in this debate")]
    ArgumentNotFound {
        /// The id that was asked for.
        id: ArgumentId,
    },
    /// The document does not exist or was deleted.
    #[error("there is no document {id}")]
    DocumentNotFound {
        /// The id that was asked for.
        id: DocumentId,
        /// When it was deleted.
        deleted_at: Option<Time>,
    },
    /// The seat does not exist.
    #[error("there is no token {id}")]
    SeatNotFound {
        /// The id that was asked for.
        id: Uuid,
    },
    /// The configured limit is reached.
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
        /// When that debate was deleted.
        deleted_at: Option<Time>,
    },
    /// The request id was used for a different request.
    #[error("this client_request_id was used for a different request")]
    RequestIdReused,
    /// The text needs an examination, or an earlier one holds no longer; the engine examines it and
    /// tries again.
    #[error("the text was not examined yet")]
    Unexamined,
    /// The search has too many words.
    #[error("a search has at most {most} different words")]
    TooManyWords {
        /// How many it may have.
        most: usize,
    },
    /// The debate has no such point.
    #[error("the debate has no {id}")]
    PointNotFound {
        /// The point that was asked for.
        id: PointId,
    },
    /// The server has a fault.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// A fault of the server or its database.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The disk is full.
    #[error("the disk is full")]
    StorageFull,
    /// The write queue is full, or the database is unavailable for the moment.
    #[error("{0}")]
    Busy(&'static str),
    /// The database refused this request; the others of its batch were written.
    #[error("the database refused the request: {0}")]
    Refused(String),
    /// The database failed.
    #[error("the database failed: {0}")]
    Storage(String),
    /// The part of the record that this request needs is damaged; other requests are served.
    #[error("the record is damaged: {0}")]
    Damaged(Damage),
    /// The database file is damaged: the server writes nothing more until it is restored.
    #[error("the record is damaged: {0}")]
    Corrupt(String),
}

/// Damage in the record, and where it is, as far as known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Damage {
    /// The damaged debate.
    pub debate: Option<DebateId>,
    /// Its first damaged argument.
    pub seq: Option<Seq>,
    /// The damaged document.
    pub document: Option<DocumentId>,
    /// Its first damaged version.
    pub version: Option<u64>,
    /// The damage.
    pub what: String,
}

impl Damage {
    /// Damage at an unknown place.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Damage { what: what.into(), ..Damage::default() }
    }

    /// The damaged debate.
    pub(crate) fn of_debate(mut self, debate: DebateId) -> Self {
        self.debate = self.debate.or(Some(debate));
        self
    }

    /// Adds the argument, unless one is set.
    pub(crate) fn at_seq(mut self, seq: Seq) -> Self {
        self.seq = self.seq.or(Some(seq));
        self
    }

    /// The damaged document.
    pub(crate) fn of_document(mut self, document: DocumentId) -> Self {
        self.document = self.document.or(Some(document));
        self
    }

    /// Adds the version, unless one is set.
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
    /// Adds a place to the damage, if this failure is about damage.
    pub(crate) fn placed(self, place: impl FnOnce(Damage) -> Damage) -> Self {
        match self {
            Failure::Fault(Fault::Damaged(damage)) => place(damage).into(),
            other => other,
        }
    }
}

impl Fault {
    /// A read error that SQLite reported as damage although the database is whole.
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
            // SQLite itself worked: a row is missing, or holds a value that we never write.
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
    fn damage_names_its_place_as_far_as_known() {
        let (debate, document) = (Uuid::from_u128(1).into(), Uuid::from_u128(2).into());
        let message = |damage: Damage| damage.to_string();
        let missing = || Damage::new("it is missing");
        assert_eq!(message(missing()), "it is missing");
        assert_eq!(message(missing().at_seq(Seq(3))), "argument 3: it is missing");
        let there = missing().of_debate(debate);
        assert_eq!(message(there.clone()), format!("debate {debate}: it is missing"));
        let named = format!("debate {debate}, argument 3: it is missing");
        assert_eq!(message(there.at_seq(Seq(3)).at_seq(Seq(9))), named, "the first one counts");
        let there = missing().of_document(document);
        assert_eq!(message(there.clone()), format!("document {document}: it is missing"));
        let named = format!("document {document}, version 3: it is missing");
        assert_eq!(message(there.at_version(3).at_version(9)), named);
    }
}
