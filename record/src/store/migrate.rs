//! Migrations of a SQLite file, which run at start.
//!
//! A released migration never changes: add the next one, with the reason in a comment.

use std::cmp::Ordering;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::db::Db;
use super::legacy::{self, Docstore};
use super::{OpenError, checksums, connection, slugs};
use crate::Failure;

/// "awdb": marks a file as ours.
const APPLICATION_ID: i64 = 0x6177_6462;

/// The nth migration leads to schema n.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_record.sql"),
    include_str!("migrations/0002_type_texts.sql"),
    include_str!("migrations/0003_seats.sql"),
    include_str!("migrations/0004_seals.sql"),
    include_str!("migrations/0005_passes.sql"),
    include_str!("migrations/0006_former_ids.sql"),
    include_str!("migrations/0007_points.sql"),
    include_str!("migrations/0008_names.sql"),
    include_str!("migrations/0009_search.sql"),
    include_str!("migrations/0010_seen.sql"),
    include_str!("migrations/0011_citing.sql"),
    include_str!("migrations/0012_tombstones.sql"),
    include_str!("migrations/0013_checks.sql"),
];

/// The schema that added checksums: older rows get theirs in the same transaction.
const CHECKSUMS: i64 = 4;

/// The schema that added slugs: older debates get theirs in the same transaction.
const SLUGS: i64 = 8;

/// The kind of file at a path.
enum FileKind {
    Empty,
    Ours { schema: i64 },
    Legacy,
    Foreign,
}

/// Creates, migrates or imports the database at this path, and imports documents of the older system.
/// An error leaves it unchanged.
pub(super) fn bring_up_to_date(path: &Path, docstores: &[Docstore]) -> Result<(), OpenError> {
    let known = i64::try_from(MIGRATIONS.len()).expect("there are a handful");
    match inspect(path)? {
        FileKind::Ours { schema } => match schema.cmp(&known) {
            Ordering::Less => migrate(path, schema)?,
            Ordering::Equal => {}
            Ordering::Greater => {
                return Err(OpenError::Newer { path: path.to_owned(), found: schema, known });
            }
        },
        FileKind::Empty => migrate(path, 0)?,
        FileKind::Legacy => return legacy::take_over(path, docstores),
        FileKind::Foreign => return Err(OpenError::Foreign { path: path.to_owned() }),
    }
    legacy::catch_up(path, docstores)
}

/// Refuses a file that needs a migration or an import.
pub(super) fn must_be_up_to_date(path: &Path) -> Result<(), OpenError> {
    let known = i64::try_from(MIGRATIONS.len()).expect("there are a handful");
    match inspect(path)? {
        FileKind::Ours { schema } if schema == known => Ok(()),
        FileKind::Ours { schema } if schema > known => {
            Err(OpenError::Newer { path: path.to_owned(), found: schema, known })
        }
        FileKind::Ours { .. } | FileKind::Legacy => {
            Err(OpenError::Older { place: path.display().to_string() })
        }
        FileKind::Empty | FileKind::Foreign => Err(OpenError::Foreign { path: path.to_owned() }),
    }
}

/// Refuses a file that is not a record of this or an earlier version.
pub(super) fn must_be_ours(path: &Path) -> Result<(), OpenError> {
    match must_be_up_to_date(path) {
        Err(OpenError::Older { .. }) if !matches!(inspect(path)?, FileKind::Legacy) => Ok(()),
        Err(OpenError::Older { .. }) => Err(OpenError::Foreign { path: path.to_owned() }),
        other => other,
    }
}

fn inspect(path: &Path) -> Result<FileKind, OpenError> {
    let look = || -> rusqlite::Result<FileKind> {
        let db = connection::reader(path)?;
        let (application, schema) = marks(&db)?;
        let tables: i64 =
            db.query_row("select count(*) from sqlite_schema where type = 'table'", [], |row| {
                row.get(0)
            })?;
        Ok(match (application, schema) {
            (APPLICATION_ID, schema) => FileKind::Ours { schema },
            (0, 0) if tables == 0 => FileKind::Empty,
            (0, 0) if legacy::is_older_system(&db)? => FileKind::Legacy,
            _ => FileKind::Foreign,
        })
    };
    let looked = look().or_else(|source| match source.sqlite_error_code() {
        // A process died in the middle of a change without a log, such as the first migration. A
        // connection that may write rolls it back.
        Some(ErrorCode::ReadOnly) => {
            Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?
                .pragma_query_value(None, "user_version", |_| Ok(()))?;
            look()
        }
        _ => Err(source),
    });
    looked.or_else(|source| match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => Ok(FileKind::Foreign),
        _ => Err(OpenError::of_sqlite(path, source)),
    })
}

/// The application id and the schema of a database; 0 if unset.
pub(super) fn marks(db: &Connection) -> rusqlite::Result<(i64, i64)> {
    let pragma = |name: &str| db.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    Ok((pragma("application_id")?, pragma("user_version")?))
}

/// Runs the migrations after `schema`, all in one transaction.
fn migrate(path: &Path, schema: i64) -> Result<(), OpenError> {
    let sqlite = |source| OpenError::of_sqlite(path, source);
    let mut db =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(sqlite)?;
    let mut work = || -> Result<(), Failure> {
        db.busy_timeout(Duration::from_secs(5))?;
        db.pragma_update(None, "synchronous", "full")?;
        db.pragma_update(None, "foreign_keys", false)?;
        let changes = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        apply(&changes, schema)?;
        changes.commit()?;
        Ok(())
    };
    work()
        .map_err(|source| OpenError::Unfinished { path: path.to_owned(), source: Box::new(source) })
}

/// Runs the migrations after `schema` in the caller's transaction.
pub(super) fn apply(changes: &Connection, schema: i64) -> Result<(), Failure> {
    for (number, sql) in (1i64..).zip(MIGRATIONS) {
        if number > schema {
            changes.execute_batch(sql)?;
            changes.pragma_update(None, "user_version", number)?;
        }
    }
    // After the last migration: a checksum covers columns that later ones added.
    if schema < CHECKSUMS {
        checksums::keep_all(&Db::Sqlite(changes))?;
    }
    if schema < SLUGS {
        slugs::name_all(&Db::Sqlite(changes))?;
    }
    changes.pragma_update(None, "application_id", APPLICATION_ID)?;
    Ok(())
}
