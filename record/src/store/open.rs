//! Where a record is, how it is opened, and why it is not.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::{PostgresUrl, left_log};
use crate::Failure;

/// The location of a record.
#[derive(Debug, Clone)]
pub enum Place {
    /// This SQLite file. It is created, with its folder, if it does not exist.
    File(PathBuf),
    /// A PostgreSQL database, which several servers may share.
    Postgres(PostgresUrl),
}

impl Place {
    /// The same, with this password for a PostgreSQL whose URL has none.
    #[must_use]
    pub fn or_password(self, password: &str) -> Self {
        match self {
            Place::File(path) => Place::File(path),
            Place::Postgres(url) => Place::Postgres(url.or_password(password)),
        }
    }
}

impl fmt::Display for Place {
    /// Without a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File(path) => path.display().fmt(f),
            Place::Postgres(url) => url.fmt(f),
        }
    }
}

impl FromStr for Place {
    type Err = String;

    /// Parses a `postgres://` URL; any text that is no URL is the path of a file.
    fn from_str(text: &str) -> Result<Self, String> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return text.parse().map(Place::Postgres);
        }
        match text.strip_prefix("sqlite:") {
            Some(path) => Ok(Place::File(path.into())),
            // It may contain a password, so the error does not repeat it.
            None if text.contains("://") => {
                Err("it is the URL of another database: write postgres://, or the path of a file"
                    .to_owned())
            }
            None => Ok(Place::File(text.into())),
        }
    }
}

impl<P: Into<PathBuf>> From<P> for Place {
    fn from(path: P) -> Self {
        Place::File(path.into())
    }
}

/// Options for opening a [`Store`].
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// The location.
    pub place: Place,
    /// How many writes may be queued before the next one is refused.
    pub queue: usize,
    /// The most debates, not counting deleted ones.
    pub most_debates: u64,
    /// The most documents, not counting deleted ones.
    pub most_documents: u64,
    /// Whether a half-moved record may be opened: only to move the rest.
    pub half_moved: bool,
    /// The document files of the older system, which a SQLite record keeps importing.
    pub docstores: Vec<PathBuf>,
}

impl StoreOptions {
    /// The default options for this location.
    pub fn at(place: impl Into<Place>) -> Self {
        let most = i64::MAX as u64;
        let place = place.into();
        let docstores = match &place {
            Place::File(path) => vec![path.with_file_name("docstore.db")],
            Place::Postgres(_) => Vec::new(),
        };
        StoreOptions {
            place,
            queue: 4096,
            most_debates: most,
            most_documents: most,
            half_moved: false,
            docstores,
        }
    }
}

/// Why a database was not opened. The database is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another server has it open.
    #[error("{path} is in use by another aw server")]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// A newer `aw` wrote it.
    #[error(
        "{path} was written by a newer aw (schema {found}, this one supports up to {known}): \
         install that version or a later one; the file was left untouched"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The newest schema that this version supports.
        known: i64,
    },
    /// It is not a database of `aw`.
    #[error("{path} is not a database of aw: choose another file; this one was left untouched")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// It is a database of the older system, and another program has it open.
    #[error(
        "{path} is a database of the older system, and {by} has it open: stop the older server, then \
         run this again; the file was left untouched"
    )]
    OlderServer {
        /// The file.
        path: PathBuf,
        /// The program that has it open, if known.
        by: String,
    },
    /// It is too damaged to be read.
    #[error(
        "{path} is damaged: {what}; restore the newest backup with aw server restore PATH; this file was \
         left untouched"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// SQLite's message.
        what: String,
    },
    /// A restore was interrupted.
    #[error("restoring a backup to {path} was interrupted: aw server start finishes it")]
    HalfRestored {
        /// The file.
        path: PathBuf,
    },
    /// It is a database of the older system that cannot be read completely.
    #[error("{path} cannot be imported and was left untouched: {}", .problems.join("; "))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The rows that could not be read.
        problems: Vec<String>,
    },
    /// Moving the record here was interrupted.
    #[error(
        "{place} holds only a part of a record, because moving it there was interrupted: run the same \
         aw server migrate again"
    )]
    HalfMoved {
        /// The database, without a password.
        place: String,
    },
    /// An older `aw` wrote it, and this command may not migrate it.
    #[error(
        "{place} is of an older version: start a server on it once, which brings it up to date"
    )]
    Older {
        /// The database, without a password.
        place: String,
    },
    /// The migration or the import failed.
    #[error("{path} could not be brought up to date and is as it was: {source}")]
    Unfinished {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Box<Failure>,
    },
    /// The file system refused.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// PostgreSQL is unreachable or refused the connection.
    #[error("{place}: {why}")]
    Postgres {
        /// The database, without its password.
        place: String,
        /// Why.
        why: String,
    },
    /// SQLite refused.
    #[error("{path}: {source}")]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
}

impl OpenError {
    pub(super) fn of_sqlite(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match left_log::is_damage(&source) {
            true => OpenError::Damaged { path, what: source.to_string() },
            false => OpenError::Sqlite { path, source },
        }
    }
}
