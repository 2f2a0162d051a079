//! Documents and their versions.

use std::ops::ControlFlow;

use aw_core::{Author, Content, DebateId, DocumentId, RequestId, Seq, Slug, Summary, Time, Title};
use uuid::Uuid;

use super::db::{Db, Row, Value, values};
use super::read::PIECE_ROWS;
use super::rows;
use super::search::join_in_order;
use super::writer::LockKey;
use super::{Store, about_document, checksums, counts, unannounced};
use crate::types::PIECE;
use crate::{
    CitingDebate, Damage, Document, DocumentVersion, Failure, KeptVersion, NewDocument, NewVersion,
    VersionList, VersionListed, pieces,
};

/// The first heading is looked for in so many lines.
const HEADING_LINES: usize = 50;

/// The column of a version's text.
const CONTENT: usize = 5;

impl Store {
    pub(crate) async fn create_document(
        &self,
        id: DocumentId,
        new: NewDocument,
        at: Time,
    ) -> Result<KeptVersion, Failure> {
        let most = self.inner.most_documents;
        self.write(LockKey::Nothing, unannounced, move |db| create(db, id, &new, at, most)).await
    }

    pub(crate) async fn add_version(
        &self,
        document: DocumentId,
        request: RequestId,
        new: NewVersion,
        at: Time,
    ) -> Result<KeptVersion, Failure> {
        self.write(LockKey::Document(document), unannounced, move |db| {
            about_document(document, add_version(db, document, request, &new, at))
        })
        .await
    }

    pub(crate) async fn delete_document(
        &self,
        document: DocumentId,
        at: Time,
    ) -> Result<(), Failure> {
        self.write(LockKey::Document(document), unannounced, move |db| {
            about_document(document, delete(db, document, at))
        })
        .await
    }

    pub(crate) async fn document(
        &self,
        id: DocumentId,
        version: Option<u64>,
        include_deleted: bool,
    ) -> Result<Document, Failure> {
        self.read_long(move |db| about_document(id, get(db, id, version, include_deleted))).await
    }

    pub(crate) async fn document_in_pieces(
        &self,
        id: DocumentId,
        version: Option<u64>,
        include_deleted: bool,
    ) -> Result<(Document, Vec<String>), Failure> {
        self.read_long(move |db| {
            about_document(id, get_in_pieces(db, id, version, include_deleted))
        })
        .await
    }

    pub(crate) async fn document_size(
        &self,
        id: DocumentId,
        version: Option<u64>,
        include_deleted: bool,
    ) -> Result<u64, Failure> {
        self.read(move |db| about_document(id, size(db, id, version, include_deleted))).await
    }

    pub(crate) async fn two_versions_size(
        &self,
        id: DocumentId,
        from: Option<u64>,
        to: Option<u64>,
    ) -> Result<u64, Failure> {
        self.read(move |db| about_document(id, size_of_two(db, id, from, to))).await
    }

    pub(crate) async fn two_versions(
        &self,
        id: DocumentId,
        from: Option<u64>,
        to: Option<u64>,
    ) -> Result<(DocumentVersion, DocumentVersion), Failure> {
        self.read_long(move |db| about_document(id, two_versions(db, id, from, to))).await
    }

    pub(crate) async fn versions(
        &self,
        id: DocumentId,
        include_deleted: bool,
        limit: u64,
        offset: u64,
    ) -> Result<VersionList, Failure> {
        self.read(move |db| about_document(id, versions(db, id, include_deleted, limit, offset)))
            .await
    }

    pub(crate) async fn citing(
        &self,
        id: DocumentId,
        only: Option<DebateId>,
        limit: u64,
    ) -> Result<Vec<CitingDebate>, Failure> {
        self.read(move |db| about_document(id, citing(db, id, only, limit))).await
    }
}

/// A document's row.
struct DocumentRow {
    key: i64,
    id: DocumentId,
    newest: u64,
    updated_at: Time,
    deleted_at: Option<Time>,
    is_purged: bool,
}

pub(super) fn create(
    db: &Db<'_>,
    id: DocumentId,
    new: &NewDocument,
    at: Time,
    most: u64,
) -> Result<KeptVersion, Failure> {
    let sql = "select id from documents where client_request_id = ?1";
    let known = db.optional(sql, values![new.request.uuid()], |row| row.get::<Uuid>(0))?;
    if let Some(first) = known {
        let known = live(db, first.into())?;
        // The same document id means the same attempt, whose commit succeeded but whose answer was lost.
        return replay(db, &known, new.request, &new.version, known.id != id);
    }
    if counts::documents(db)?.0 >= most {
        return Err(Failure::NoRoom(format!("the server's limit on documents is reached: {most}")));
    }
    let key = insert(db, id, new.request, &new.version, 1, at, None)?;
    if let Some(seat) = new.seat {
        let sql =
            "update documents set seat_key = (select key from seats where id = ?2) where key = ?1";
        db.run(sql, values![key, seat])?;
    }
    let version = insert_version(db, key, 1, new.request, &new.version, at)?;
    Ok(KeptVersion { version, document: id, replayed: false })
}

pub(super) fn add_version(
    db: &Db<'_>,
    document: DocumentId,
    request: RequestId,
    new: &NewVersion,
    at: Time,
) -> Result<KeptVersion, Failure> {
    let known = live(db, document)?;
    let sql = "select 1 from document_versions where document_key = ?1 and client_request_id = ?2";
    if db.exists(sql, values![known.key, request.uuid()])? {
        let kept = replay(db, &known, request, new, true)?;
        // A version no older than this request was written by a lost commit of the same attempt.
        let replayed = !(db.is_unsure() && kept.version.at >= at);
        return Ok(KeptVersion { replayed, ..kept });
    }
    if let Some(kept) = repeated(db, &known, request, new)? {
        return Ok(kept);
    }
    let (number, at) = (known.newest + 1, at.max(known.updated_at));
    let sql = "update documents set version = ?2, summary = ?3, updated_at = ?4 where key = ?1";
    db.run(sql, values![known.key, number, new.summary.as_str(), at.0])?;
    if let Some(title) = &new.title {
        let sql = "update documents set title = ?2, name = ?3 where key = ?1";
        let name = Slug::of(title.as_str());
        db.run(sql, values![known.key, title.as_str(), name.as_str()])?;
    }
    let version = insert_version(db, known.key, number, request, new, at)?;
    Ok(KeptVersion { version, document, replayed: false })
}

/// Returns the version that has this text already: the newest one, or the one that was the newest when
/// the same request first came.
fn repeated(
    db: &Db<'_>,
    known: &DocumentRow,
    request: RequestId,
    new: &NewVersion,
) -> Result<Option<KeptVersion>, Failure> {
    let sql = "select version from repeated_versions
         where document_key = ?1 and client_request_id = ?2";
    let first = db.optional(sql, values![known.key, request.uuid()], |row| row.get::<u64>(0))?;
    let number = first.unwrap_or(known.newest);
    let found = version_of(db, known, number)?;
    let same = found.content == new.content && found.version.metadata == new.metadata;
    match (first, same && new.title.is_none()) {
        (Some(_), false) => return Err(Failure::RequestIdReused),
        (None, false) => return Ok(None),
        (Some(_), true) => {}
        (None, true) => {
            let sql = "insert into repeated_versions (document_key, client_request_id, version)
                 values (?1, ?2, ?3)";
            db.run(sql, values![known.key, request.uuid(), number])?;
        }
    }
    Ok(Some(KeptVersion { version: found.version, document: known.id, replayed: true }))
}

/// The title of a new document: its own, or its first heading.
fn title_of(new: &NewVersion) -> Option<Title> {
    let heading = || {
        let lines = new.content.as_str().lines().take(HEADING_LINES);
        let heading = lines.filter_map(|line| line.strip_prefix("# ")).next()?;
        let heading: String = heading.trim().chars().take(Title::MAX_CHARS).collect();
        Title::parse(heading).ok()
    };
    new.title.clone().or_else(heading)
}

/// Returns the version of the first request, if this is a retry of it.
fn replay(
    db: &Db<'_>,
    known: &DocumentRow,
    request: RequestId,
    new: &NewVersion,
    replayed: bool,
) -> Result<KeptVersion, Failure> {
    let sql = "select version, summary, author, metadata, created_at, content
         from document_versions where document_key = ?1 and client_request_id = ?2";
    let first = db.one(sql, values![known.key, request.uuid()], whole)?;
    let same = first.version.summary == new.summary
        && first.version.metadata == new.metadata
        && first.content == new.content;
    if !same {
        return Err(Failure::RequestIdReused);
    }
    Ok(KeptVersion { version: first.version, document: known.id, replayed })
}

pub(super) fn delete(db: &Db<'_>, document: DocumentId, at: Time) -> Result<(), Failure> {
    let known = match live(db, document) {
        Err(Failure::DocumentNotFound { deleted_at, .. })
            if db.is_unsure() && deleted_at == Some(at) =>
        {
            return Ok(());
        }
        known => known?,
    };
    db.run("update documents set deleted_at = ?2 where key = ?1", values![known.key, at.0])?;
    checksums::keep_document_deleted(db, known.key, known.newest, at)?;
    counts::add_documents(db, -1, 1)
}

pub(super) fn get(
    db: &Db<'_>,
    id: DocumentId,
    version: Option<u64>,
    include_deleted: bool,
) -> Result<Document, Failure> {
    let known = if include_deleted { any(db, id)? } else { live(db, id)? };
    let version = version_of(db, &known, version.unwrap_or(known.newest))?;
    Ok(Document { id, newest: known.newest, deleted_at: known.deleted_at, version })
}

/// The same with its text in pieces.
pub(super) fn get_in_pieces(
    db: &Db<'_>,
    id: DocumentId,
    version: Option<u64>,
    include_deleted: bool,
) -> Result<(Document, Vec<String>), Failure> {
    let known = if include_deleted { any(db, id)? } else { live(db, id)? };
    let mut text = Vec::new();
    let version = read_version(db, &known, version.unwrap_or(known.newest), |row| {
        text = pieces(row.text(CONTENT)?);
        Ok(DocumentVersion { version: listed(row)?, content: Content::recorded(String::new()) })
    })?;
    let document = Document { id, newest: known.newest, deleted_at: known.deleted_at, version };
    Ok((document, text))
}

/// The requested two versions; by default the newest and its predecessor.
pub(super) fn two_versions(
    db: &Db<'_>,
    id: DocumentId,
    from: Option<u64>,
    to: Option<u64>,
) -> Result<(DocumentVersion, DocumentVersion), Failure> {
    let known = live(db, id)?;
    let (from, to) = pair(&known, from, to);
    Ok((version_of(db, &known, from)?, version_of(db, &known, to)?))
}

fn pair(known: &DocumentRow, from: Option<u64>, to: Option<u64>) -> (u64, u64) {
    let to = to.unwrap_or(known.newest);
    (from.unwrap_or_else(|| to.saturating_sub(1).max(1)), to)
}

/// How many bytes [`get`] would read; 0 for a missing version.
pub(super) fn size(
    db: &Db<'_>,
    id: DocumentId,
    version: Option<u64>,
    include_deleted: bool,
) -> Result<u64, Failure> {
    let known = if include_deleted { any(db, id)? } else { live(db, id)? };
    size_of(db, &known, version.unwrap_or(known.newest))
}

/// How many bytes [`two_versions`] would read.
pub(super) fn size_of_two(
    db: &Db<'_>,
    id: DocumentId,
    from: Option<u64>,
    to: Option<u64>,
) -> Result<u64, Failure> {
    let known = live(db, id)?;
    let (from, to) = pair(&known, from, to);
    Ok(size_of(db, &known, from)? + size_of(db, &known, to)?)
}

fn size_of(db: &Db<'_>, known: &DocumentRow, number: u64) -> Result<u64, Failure> {
    // Neither database reads the text for this.
    let sql = "select cast(octet_length(content) + octet_length(metadata) as bigint)
         from document_versions where document_key = ?1 and version = ?2";
    Ok(db.optional(sql, values![known.key, number], |row| row.get(0))?.unwrap_or(0))
}

/// Versions, the newest first: at most `limit`, and at most one piece of text.
pub(super) fn versions(
    db: &Db<'_>,
    id: DocumentId,
    include_deleted: bool,
    limit: u64,
    offset: u64,
) -> Result<VersionList, Failure> {
    let known = if include_deleted { any(db, id)? } else { live(db, id)? };
    let newest = known.newest.saturating_sub(offset);
    let sql = "select version, summary, author, metadata, created_at from document_versions
         where document_key = ?1 and version <= ?2 order by version desc limit ?3";
    let mut versions = Vec::new();
    let mut room = PIECE;
    db.each(sql, values![known.key, newest, limit.min(PIECE_ROWS)], |row| {
        let version = listed(row)?;
        room = room.saturating_sub(version.metadata.len() + version.summary.as_str().len());
        versions.push(version);
        Ok(if room == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    Ok(VersionList { versions, total: known.newest, deleted_at: known.deleted_at })
}

fn version_of(db: &Db<'_>, known: &DocumentRow, number: u64) -> Result<DocumentVersion, Failure> {
    read_version(db, known, number, whole)
}

fn read_version(
    db: &Db<'_>,
    known: &DocumentRow,
    number: u64,
    read: impl FnOnce(&Row<'_>) -> Result<DocumentVersion, Failure>,
) -> Result<DocumentVersion, Failure> {
    let missing = Failure::VersionNotFound { id: known.id, version: number, newest: known.newest };
    let Ok(stored) = i64::try_from(number) else { return Err(missing) };
    let sql = "select version, summary, author, metadata, created_at, content
         from document_versions where document_key = ?1 and version = ?2";
    db.optional(sql, values![known.key, stored], read)
        .map_err(|failure| failure.placed(|damage| damage.at_version(number)))?
        .ok_or_else(|| match number {
            number if (1..=known.newest).contains(&number) => {
                Damage::new("it is missing").at_version(number).into()
            }
            _ => missing,
        })
}

/// The document, deleted or not, unless it was purged.
fn any(db: &Db<'_>, id: DocumentId) -> Result<DocumentRow, Failure> {
    let sql = "select key, version, updated_at, deleted_at, exists (
             select 1 from tombstones where thing = 'document' and tombstones.key = documents.key)
         from documents where id = ?1";
    let known = db.optional(sql, values![id.uuid()], |row| {
        Ok(DocumentRow {
            key: row.get(0)?,
            id,
            newest: row.get(1)?,
            updated_at: Time(row.get(2)?),
            deleted_at: row.get::<Option<i64>>(3)?.map(Time),
            is_purged: row.get(4)?,
        })
    })?;
    match known {
        Some(known) if !known.is_purged => Ok(known),
        known => {
            let deleted_at = known.and_then(|known| known.deleted_at);
            Err(Failure::DocumentNotFound { id, deleted_at })
        }
    }
}

/// The debates that cite a document, the newest first; or only this one, if it does.
pub(super) fn citing(
    db: &Db<'_>,
    id: DocumentId,
    only: Option<DebateId>,
    limit: u64,
) -> Result<Vec<CitingDebate>, Failure> {
    let known = any(db, id)?;
    let join = join_in_order(db);
    let mut params: Vec<Value<'_>> = vec![known.key.into()];
    let mut condition = "";
    if let Some(only) = only {
        condition = "and debates.id = ?";
        params.push(only.uuid().into());
    }
    params.push(limit.into());
    let sql = format!(
        "select debates.id, title, state, c.seq, c.version, updated_at
         from debate_documents as c {join} debates on debates.key = c.debate_key
         where c.document_key = ? and deleted_at is null {condition}
         order by c.debate_key desc limit ?"
    );
    db.all(&sql, &params, |row| {
        Ok(CitingDebate {
            id: row.get::<Uuid>(0)?.into(),
            title: Title::recorded(row.get(1)?),
            state: rows::word(row, 2)?,
            seq: Seq(row.get(3)?),
            version: row.get(4)?,
            updated_at: Time(row.get(5)?),
        })
    })
}

/// The document, unless it was deleted.
fn live(db: &Db<'_>, id: DocumentId) -> Result<DocumentRow, Failure> {
    let known = any(db, id)?;
    match known.deleted_at {
        None => Ok(known),
        deleted_at @ Some(_) => Err(Failure::DocumentNotFound { id, deleted_at }),
    }
}

/// Writes the document's row and its count.
pub(super) fn insert(
    db: &Db<'_>,
    id: DocumentId,
    request: RequestId,
    newest: &NewVersion,
    number: u64,
    at: Time,
    deleted_at: Option<Time>,
) -> Result<i64, Failure> {
    let title = title_of(newest);
    let name = title.as_ref().map(|title| Slug::of(title.as_str()));
    let sql = "insert into documents
             (id, client_request_id, version, summary, updated_at, deleted_at, title, name)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) returning key";
    let row = values![
        id.uuid(),
        request.uuid(),
        number,
        newest.summary.as_str(),
        at.0,
        deleted_at.map(|at| at.0),
        title.as_ref().map(Title::as_str),
        name.as_ref().map(Slug::as_str),
    ];
    let key = db.one(sql, row, |row| row.get(0))?;
    let (live, deleted) = if deleted_at.is_some() { (0, 1) } else { (1, 0) };
    counts::add_documents(db, live, deleted)?;
    Ok(key)
}

/// Writes one version.
pub(super) fn insert_version(
    db: &Db<'_>,
    key: i64,
    number: u64,
    request: RequestId,
    new: &NewVersion,
    at: Time,
) -> Result<VersionListed, Failure> {
    let sql = "insert into document_versions (document_key, version, summary, author, metadata,
             client_request_id, created_at, content)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let row = values![
        key,
        number,
        new.summary.as_str(),
        new.author.as_ref().map(Author::as_str),
        new.metadata.as_str(),
        request.uuid(),
        at.0,
        new.content.as_str(),
    ];
    db.run(sql, row)?;
    checksums::keep_version(db, key, number)?;
    Ok(VersionListed {
        number,
        summary: new.summary.clone(),
        author: new.author.clone(),
        metadata: new.metadata.clone(),
        at,
    })
}

fn listed(row: &Row<'_>) -> Result<VersionListed, Failure> {
    Ok(VersionListed {
        number: row.get(0)?,
        summary: Summary::recorded(row.get(1)?),
        author: row.get::<Option<String>>(2)?.map(Author::recorded),
        metadata: row.get(3)?,
        at: Time(row.get(4)?),
    })
}

fn whole(row: &Row<'_>) -> Result<DocumentVersion, Failure> {
    Ok(DocumentVersion { version: listed(row)?, content: Content::recorded(row.get(CONTENT)?) })
}
