//! Imports the documents of the older system.
//!
//! Its command line writes `docstore.db` directly, also while our server runs. So the file is read when
//! the record is opened, and again when an argument cites a document and the file has changed. It is
//! never written. The UUIDv5 of a row's id identifies a version: known versions are skipped; unreadable
//! ones are logged and skipped.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use aw_core::{Author, Content, DocumentId, RequestId, Summary, Time};
use rusqlite::{Connection, ErrorCode, Row};
use uuid::Uuid;

use super::{beside, field, open_for_reading, parsed, request_id, time};
use crate::store::db::{Db, values};
use crate::store::{checksums, documents};
use crate::{Failure, NewVersion};

/// A file of documents, with its stamp at the last read.
#[derive(Debug)]
pub(in crate::store) struct Docstore {
    path: PathBuf,
    seen: Mutex<Option<Stamp>>,
}

/// The modification times and lengths of the file and its log.
type Stamp = [Option<(SystemTime, u64)>; 2];

/// A version: its request id, its content, and when it was written.
type OldVersion = (RequestId, NewVersion, Time);

/// New versions of a document.
pub(in crate::store) struct OldDocument {
    id: DocumentId,
    versions: Vec<OldVersion>,
    deleted_at: Option<Time>,
}

impl Docstore {
    pub(in crate::store) fn at(path: PathBuf) -> Self {
        Docstore { path, seen: Mutex::new(None) }
    }

    /// Whether the file has changed since the last read.
    pub(in crate::store) fn has_changed(&self) -> bool {
        let now = stamp(&self.path);
        now[0].is_some() && *self.seen.lock().unwrap_or_else(PoisonError::into_inner) != Some(now)
    }

    /// The documents and versions that the record lacks. Logs those it cannot read.
    pub(in crate::store) fn new_in(&self, db: &Db<'_>) -> Vec<OldDocument> {
        let now = stamp(&self.path);
        if now[0].is_none() {
            return Vec::new();
        }
        let (new, problems) = unknown(db, &self.path);
        for problem in &problems {
            let path = self.path.display();
            tracing::warn!(%path, %problem, "a document of the older system was not imported");
        }
        // If another program had it locked, the next read may find more.
        if !problems.iter().any(ImportProblem::is_passing) {
            *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
        }
        new
    }
}

fn stamp(path: &Path) -> Stamp {
    [path.to_owned(), beside(path, "-wal")].map(|file| {
        let about = fs::metadata(file).ok()?;
        Some((about.modified().ok()?, about.len()))
    })
}

/// Why a document or a file could not be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum ImportProblem {
    #[error("document {id}: {why}")]
    Document { id: String, why: String },
    #[error("{0}")]
    File(#[from] rusqlite::Error),
    #[error("{0}")]
    Record(#[from] Failure),
}

impl ImportProblem {
    fn is_passing(&self) -> bool {
        let ImportProblem::File(error) = self else { return false };
        matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
        )
    }
}

/// The documents and versions of this file that the record lacks, and the problems.
pub(super) fn unknown(db: &Db<'_>, path: &Path) -> (Vec<OldDocument>, Vec<ImportProblem>) {
    let mut problems = Vec::new();
    let mut new = Vec::new();
    let read = |new: &mut Vec<OldDocument>,
                problems: &mut Vec<ImportProblem>|
     -> Result<(), ImportProblem> {
        let file = open_for_reading(path)?;
        if !file.table_exists(None, "document_versions")? {
            return Ok(());
        }
        for (text, rows) in listed(&file)? {
            match document(db, &file, &text, &rows) {
                Ok(Some(document)) => new.push(document),
                Ok(None) => {}
                Err(Unread::This(why)) => problems.push(ImportProblem::Document { id: text, why }),
                Err(Unread::All(problem)) => return Err(problem),
            }
        }
        Ok(())
    };
    if let Err(problem) = read(&mut new, &mut problems) {
        problems.push(problem);
    }
    (new, problems)
}

/// Why a document was not read: it is bad itself, or nothing can be read.
enum Unread {
    This(String),
    All(ImportProblem),
}

impl From<String> for Unread {
    fn from(why: String) -> Self {
        Unread::This(why)
    }
}

impl From<Failure> for Unread {
    fn from(failure: Failure) -> Self {
        Unread::All(failure.into())
    }
}

impl From<rusqlite::Error> for Unread {
    fn from(error: rusqlite::Error) -> Self {
        Unread::All(error.into())
    }
}

/// A document and its versions, each with its row's id and its number.
type Listed = (String, Vec<(String, i64)>);

/// Lists every document without its texts, which is cheap when nothing is new.
fn listed(file: &Connection) -> rusqlite::Result<Vec<Listed>> {
    let mut rows = file.prepare(
        "select cast(document_id as text), cast(id as text), version from document_versions
         order by document_id, version",
    )?;
    let mut rows = rows.query([])?;
    let mut all: Vec<Listed> = Vec::new();
    while let Some(row) = rows.next()? {
        let id: String = row.get(0)?;
        if all.last().is_none_or(|(last, _)| *last != id) {
            all.push((id, Vec::new()));
        }
        let (_, versions) = all.last_mut().expect("it was just pushed");
        // A number that cannot be read counts as missing.
        versions.push((row.get(1)?, row.get(2).unwrap_or(-1)));
    }
    Ok(all)
}

/// The versions of this document that the record lacks, if any.
fn document(
    db: &Db<'_>,
    file: &Connection,
    text: &str,
    rows: &[(String, i64)],
) -> Result<Option<OldDocument>, Unread> {
    let id: DocumentId = text.parse().map_err(|_| "its id is not a UUID".to_owned())?;
    let sql = "select key, deleted_at is not null from documents where id = ?1";
    let known =
        db.optional(sql, values![id.uuid()], |row| Ok((row.get::<i64>(0)?, row.get::<bool>(1)?)))?;
    if known.is_some_and(|(_, deleted)| deleted) {
        return Ok(None);
    }
    let mut first_new = None;
    for (place, (own, number)) in (1i64..).zip(rows) {
        if *number != place {
            return Err(format!("version {place} is missing").into());
        }
        let own: Uuid =
            own.parse().map_err(|_| format!("the id of version {place} is not a UUID"))?;
        let sql =
            "select 1 from document_versions where document_key = ?1 and client_request_id = ?2";
        let is_here = match known {
            Some((key, _)) => db.exists(sql, values![key, request_id(None, own).uuid()])?,
            None => false,
        };
        if !is_here {
            first_new = first_new.or(Some(place));
        }
    }
    let Some(first_new) = first_new else { return Ok(None) };
    let mut select = file.prepare_cached(
        "select id, summary, content, metadata, created_at, deleted_at,
             json_type(case when json_valid(metadata) then metadata end) as metadata_type
         from document_versions where document_id = ?1 and version >= ?2 order by version",
    )?;
    let mut rows = select.query((text, first_new))?;
    let mut document = OldDocument { id, versions: Vec::new(), deleted_at: None };
    while let Some(row) = rows.next()? {
        let (version, deleted_at) = version(row)?;
        document.versions.push(version);
        document.deleted_at = deleted_at;
    }
    Ok(Some(document))
}

fn version(row: &Row<'_>) -> Result<(OldVersion, Option<Time>), String> {
    let own: Uuid = parsed(row, "id")?;
    let metadata: Option<String> = field(row, "metadata")?;
    if metadata.is_some()
        && field::<Option<String>>(row, "metadata_type")?.as_deref() != Some("object")
    {
        return Err("its metadata is not a JSON object".to_owned());
    }
    let version = NewVersion {
        title: None,
        summary: Summary::recorded(field(row, "summary")?),
        content: Content::recorded(field(row, "content")?),
        author: None::<Author>,
        metadata: metadata.unwrap_or_else(|| "{}".to_owned()),
    };
    let deleted_at = match field::<Option<String>>(row, "deleted_at")? {
        Some(_) => Some(time(row, "deleted_at")?),
        None => None,
    };
    Ok(((request_id(None, own), version, time(row, "created_at")?), deleted_at))
}

/// Writes these documents. Logs and skips one that cannot be written.
pub(in crate::store) fn keep(db: &Db<'_>, new: &[OldDocument]) -> Result<(), Failure> {
    for document in new {
        db.run("savepoint older_document", values![])?;
        if let Err(problem) = document.write(db) {
            db.run("rollback to older_document", values![])?;
            let id = document.id;
            tracing::warn!(document = %id, %problem, "a document of the older system was not imported");
        }
        db.run("release older_document", values![])?;
    }
    Ok(())
}

impl OldDocument {
    pub(super) fn versions(&self) -> usize {
        self.versions.len()
    }

    fn write(&self, db: &Db<'_>) -> Result<(), Failure> {
        let Some(((request, _, _), (_, newest, at))) =
            self.versions.first().zip(self.versions.last())
        else {
            return Ok(());
        };
        if db.exists("select 1 from documents where id = ?1", values![self.id.uuid()])? {
            for (request, version, at) in &self.versions {
                documents::add_version(db, self.id, *request, version, *at)?;
            }
            return Ok(());
        }
        let count = self.versions.len() as u64;
        let key = documents::insert(db, self.id, *request, newest, count, *at, self.deleted_at)?;
        for (number, (request, version, at)) in (1..).zip(&self.versions) {
            documents::insert_version(db, key, number, *request, version, *at)?;
        }
        match self.deleted_at {
            Some(at) => checksums::keep_document_deleted(db, key, count, at),
            None => Ok(()),
        }
    }
}
