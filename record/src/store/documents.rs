//! Documents and their versions.

use aw_core::{Author, Content, DocumentId, RequestId, Summary, Time};
use rusqlite::{Connection, OptionalExtension, Row, named_params, params};
use uuid::Uuid;

use super::seals;
use crate::{
    Damage, Document, DocumentVersion, Failure, KeptVersion, NewDocument, NewVersion, VersionList,
    VersionListed,
};

/// A document's row.
struct Known {
    key: i64,
    id: DocumentId,
    newest: u64,
    updated_at: Time,
    deleted_at: Option<Time>,
}

pub(super) fn create(
    db: &Connection,
    id: DocumentId,
    new: &NewDocument,
    at: Time,
    most: u64,
) -> Result<KeptVersion, Failure> {
    let known = db
        .prepare_cached("select id from documents where client_request_id = ?1")?
        .query_row([new.request.uuid()], |row| row.get::<_, Uuid>(0))
        .optional()?;
    if let Some(first) = known {
        let known = live(db, first.into())?;
        return replay(db, &known, new.request, &new.version);
    }
    let kept: u64 =
        db.prepare_cached("select live from document_counts")?.query_row([], |row| row.get(0))?;
    if kept >= most {
        return Err(Failure::NoRoom(format!(
            "as many documents are kept as this server takes on: {most}"
        )));
    }
    let key = insert(db, id, new.request, &new.version, 1, at, None)?;
    if let Some(seat) = new.seat {
        db.prepare_cached(
            "update documents set seat_key = (select key from seats where id = ?2) where key = ?1",
        )?
        .execute(params![key, seat])?;
    }
    let version = insert_version(db, key, 1, new.request, &new.version, at)?;
    Ok(KeptVersion { version, document: id, replayed: false })
}

pub(super) fn add_version(
    db: &Connection,
    document: DocumentId,
    request: RequestId,
    new: &NewVersion,
    at: Time,
) -> Result<KeptVersion, Failure> {
    let known = live(db, document)?;
    let written = db
        .prepare_cached(
            "select 1 from document_versions where document_key = ?1 and client_request_id = ?2",
        )?
        .exists(params![known.key, request.uuid()])?;
    if written {
        return replay(db, &known, request, new);
    }
    let (number, at) = (known.newest + 1, at.max(known.updated_at));
    db.prepare_cached(
        "update documents set version = ?2, summary = ?3, updated_at = ?4 where key = ?1",
    )?
    .execute(params![known.key, number, new.summary.as_str(), at.0])?;
    db.prepare_cached("update document_summaries set summary = ?2 where rowid = ?1")?
        .execute(params![known.key, new.summary.as_str()])?;
    let version = insert_version(db, known.key, number, request, new, at)?;
    Ok(KeptVersion { version, document, replayed: false })
}

/// The first version that this request made once more, if it is the same request.
fn replay(
    db: &Connection,
    known: &Known,
    request: RequestId,
    new: &NewVersion,
) -> Result<KeptVersion, Failure> {
    let first = db
        .prepare_cached(
            "select version, summary, author, metadata, created_at, content
             from document_versions where document_key = ?1 and client_request_id = ?2",
        )?
        .query_row(params![known.key, request.uuid()], whole)?;
    let same = first.version.summary == new.summary
        && first.version.metadata == new.metadata
        && first.content == new.content;
    if !same {
        return Err(Failure::RequestIdReused);
    }
    Ok(KeptVersion { version: first.version, document: known.id, replayed: true })
}

pub(super) fn delete(db: &Connection, document: DocumentId, at: Time) -> Result<(), Failure> {
    let known = live(db, document)?;
    db.prepare_cached("update documents set deleted_at = ?2 where key = ?1")?
        .execute(params![known.key, at.0])?;
    seals::keep_document_deleted(db, known.key, known.newest, at)?;
    db.prepare_cached("update document_counts set live = live - 1, deleted = deleted + 1")?
        .execute([])?;
    Ok(())
}

pub(super) fn get(
    db: &Connection,
    id: DocumentId,
    version: Option<u64>,
    include_deleted: bool,
) -> Result<Document, Failure> {
    let known = if include_deleted { any(db, id)? } else { live(db, id)? };
    let version = version_of(db, &known, version.unwrap_or(known.newest))?;
    Ok(Document { id, newest: known.newest, deleted_at: known.deleted_at, version })
}

/// The two versions that were asked for: by default the newest and the one before it.
pub(super) fn two_versions(
    db: &Connection,
    id: DocumentId,
    from: Option<u64>,
    to: Option<u64>,
) -> Result<(DocumentVersion, DocumentVersion), Failure> {
    let known = live(db, id)?;
    let to = to.unwrap_or(known.newest);
    let from = from.unwrap_or_else(|| to.saturating_sub(1).max(1));
    Ok((version_of(db, &known, from)?, version_of(db, &known, to)?))
}

pub(super) fn versions(
    db: &Connection,
    id: DocumentId,
    include_deleted: bool,
    limit: u64,
    offset: u64,
) -> Result<VersionList, Failure> {
    let known = if include_deleted { any(db, id)? } else { live(db, id)? };
    let newest = i64::try_from(known.newest.saturating_sub(offset)).unwrap_or(i64::MAX);
    let versions = db
        .prepare_cached(
            "select version, summary, author, metadata, created_at from document_versions
             where document_key = ?1 and version <= ?2 order by version desc limit ?3",
        )?
        .query_map(params![known.key, newest, limit], listed)?
        .collect::<Result<_, _>>()?;
    Ok(VersionList { versions, total: known.newest, deleted_at: known.deleted_at })
}

fn version_of(db: &Connection, known: &Known, number: u64) -> Result<DocumentVersion, Failure> {
    let missing = Failure::VersionNotFound { id: known.id, version: number, newest: known.newest };
    let Ok(stored) = i64::try_from(number) else { return Err(missing) };
    db.prepare_cached(
        "select version, summary, author, metadata, created_at, content
         from document_versions where document_key = ?1 and version = ?2",
    )?
    .query_row(params![known.key, stored], whole)
    .optional()
    .map_err(|error| Failure::from(error).placed(|damage| damage.at_version(number)))?
    .ok_or_else(|| match number {
        number if (1..=known.newest).contains(&number) => {
            Damage::new("it is missing").at_version(number).into()
        }
        _ => missing,
    })
}

fn any(db: &Connection, id: DocumentId) -> Result<Known, Failure> {
    db.prepare_cached("select key, version, updated_at, deleted_at from documents where id = ?1")?
        .query_row([id.uuid()], |row| {
            Ok(Known {
                key: row.get(0)?,
                id,
                newest: row.get(1)?,
                updated_at: Time(row.get(2)?),
                deleted_at: row.get::<_, Option<i64>>(3)?.map(Time),
            })
        })
        .optional()?
        .ok_or(Failure::DocumentNotFound { id, deleted_at: None })
}

/// The document, unless it was deleted.
fn live(db: &Connection, id: DocumentId) -> Result<Known, Failure> {
    let known = any(db, id)?;
    match known.deleted_at {
        None => Ok(known),
        deleted_at @ Some(_) => Err(Failure::DocumentNotFound { id, deleted_at }),
    }
}

/// Writes the document's row, with its summary for the search and its place in the counts.
pub(super) fn insert(
    db: &Connection,
    id: DocumentId,
    request: RequestId,
    newest: &NewVersion,
    number: u64,
    at: Time,
    deleted_at: Option<Time>,
) -> Result<i64, Failure> {
    db.prepare_cached(
        "insert into documents (id, client_request_id, version, summary, updated_at, deleted_at)
         values (?1, ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute(params![
        id.uuid(),
        request.uuid(),
        number,
        newest.summary.as_str(),
        at.0,
        deleted_at.map(|at| at.0)
    ])?;
    let key = db.last_insert_rowid();
    db.prepare_cached("insert into document_summaries (rowid, summary) values (?1, ?2)")?
        .execute(params![key, newest.summary.as_str()])?;
    let column = if deleted_at.is_some() { "deleted" } else { "live" };
    db.prepare_cached(&format!("update document_counts set {column} = {column} + 1"))?
        .execute([])?;
    Ok(key)
}

/// Writes one version.
pub(super) fn insert_version(
    db: &Connection,
    key: i64,
    number: u64,
    request: RequestId,
    new: &NewVersion,
    at: Time,
) -> Result<VersionListed, Failure> {
    db.prepare_cached(
        "insert into document_versions (document_key, version, summary, author, metadata,
             client_request_id, created_at, content)
         values (:key, :version, :summary, :author, :metadata, :request, :created_at, :content)",
    )?
    .execute(named_params! {
        ":key": key,
        ":version": number,
        ":summary": new.summary.as_str(),
        ":author": new.author.as_ref().map(Author::as_str),
        ":metadata": new.metadata,
        ":request": request.uuid(),
        ":created_at": at.0,
        ":content": new.content.as_str(),
    })?;
    seals::keep_version(db, key, number)?;
    Ok(VersionListed {
        number,
        summary: new.summary.clone(),
        author: new.author.clone(),
        metadata: new.metadata.clone(),
        at,
    })
}

fn listed(row: &Row<'_>) -> rusqlite::Result<VersionListed> {
    Ok(VersionListed {
        number: row.get(0)?,
        summary: Summary::recorded(row.get(1)?),
        author: row.get::<_, Option<String>>(2)?.map(Author::recorded),
        metadata: row.get(3)?,
        at: Time(row.get(4)?),
    })
}

fn whole(row: &Row<'_>) -> rusqlite::Result<DocumentVersion> {
    Ok(DocumentVersion { version: listed(row)?, content: Content::recorded(row.get(5)?) })
}
