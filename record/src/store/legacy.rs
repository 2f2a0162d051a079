//! The import of what the older system left behind.
//!
//! Its users have `debate.db` (tables `debates` and `arguments`, `user_version` 0) where ours goes,
//! and `docstore.db` (table `document_versions`) beside it. All of it is read and checked before
//! anything is written: a file that cannot be read to the end is left as it was, and what stood in
//! the way is named. Ids, order, times and texts are kept, also where today's limits would not
//! allow them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use aw_core::{
    AUTOMATIC_RULING, Argument, ArgumentId, Author, Content, Debate, DebateId, DebateType,
    DocumentId, Event, Hash, Kind, RequestId, ResolutionPolicy, Role, Seq, Standing, State,
    Summary, Time, Title, Via,
};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use rusqlite::backup::Backup;
use rusqlite::{Connection, OpenFlags, Row};
use uuid::Uuid;

use super::db::Db;
use super::{OpenError, connection, debates, documents, seals};
use crate::{DebateHead, Failure, NewVersion};

/// Problems beyond this many are not listed.
const PROBLEMS_NAMED: usize = 20;

/// Everything that was read, ready to be written.
#[derive(Default)]
pub(super) struct Import {
    debates: Option<Vec<OldDebate>>,
    documents: Vec<OldDocument>,
}

struct OldDebate {
    head: DebateHead,
    /// Each with the standing after it.
    arguments: Vec<(Argument, Standing)>,
}

struct OldDocument {
    id: DocumentId,
    versions: Vec<(RequestId, NewVersion, Time)>,
    deleted_at: Option<Time>,
}

/// Whether this database has the older system's tables.
pub(super) fn is_one(db: &Connection) -> rusqlite::Result<bool> {
    db.query_row(
        "select count(*) = 2 from sqlite_schema
         where type = 'table' and name in ('debates', 'arguments')",
        [],
        |row| row.get(0),
    )
}

/// Reads the debates at this path and the documents beside it.
pub(super) fn read(path: &Path) -> Result<Import, OpenError> {
    let mut problems = Vec::new();
    let debates = connection::reader(path)
        .and_then(|db| read_debates(&db, &mut problems))
        .map_err(|source| OpenError::Sqlite { path: path.to_owned(), source })?;
    refuse_with(path, problems)?;
    Ok(Import { debates: Some(debates), ..read_documents_beside(path)? })
}

/// Reads the documents, if there are any.
pub(super) fn read_documents_beside(path: &Path) -> Result<Import, OpenError> {
    let path = path.with_file_name("docstore.db");
    if !path.exists() {
        return Ok(Import::default());
    }
    let mut problems = Vec::new();
    let documents = connection::reader(&path)
        .and_then(|db| read_documents(&db, &mut problems))
        .map_err(|source| OpenError::Sqlite { path: path.clone(), source })?;
    refuse_with(&path, problems)?;
    Ok(Import { debates: None, documents })
}

fn refuse_with(path: &Path, mut problems: Vec<String>) -> Result<(), OpenError> {
    if problems.is_empty() {
        return Ok(());
    }
    let unnamed = problems.len().saturating_sub(PROBLEMS_NAMED);
    problems.truncate(PROBLEMS_NAMED);
    if unnamed > 0 {
        problems.push(format!("and {unnamed} more"));
    }
    Err(OpenError::Unreadable { path: path.to_owned(), problems })
}

/// Copies the database to `debate.db.before-aw`, or to the next free name of that kind.
pub(super) fn copy_aside(path: &Path) -> Result<PathBuf, OpenError> {
    let named = |suffix: String| {
        let mut name = path.as_os_str().to_owned();
        name.push(".before-aw");
        name.push(suffix);
        PathBuf::from(name)
    };
    let mut private = fs::OpenOptions::new();
    private.write(true).create_new(true).mode(0o600);
    let mut number = 1;
    let copy = loop {
        let copy = named(if number == 1 { String::new() } else { format!(".{number}") });
        match private.open(&copy) {
            Ok(_) => break copy,
            Err(taken) if taken.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            Err(source) => return Err(OpenError::Io { path: copy, source }),
        }
    };
    let copied = || -> rusqlite::Result<()> {
        let from = connection::reader(path)?;
        let mut to = Connection::open_with_flags(&copy, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        Backup::new(&from, &mut to)?.run_to_completion(1_000, Duration::ZERO, None)
    };
    copied().map_err(|source| OpenError::Sqlite { path: copy.clone(), source })?;
    Ok(copy)
}

pub(super) fn drop_tables(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(
        "drop table arguments; drop table debates; drop table if exists _prisma_migrations;",
    )
}

impl Import {
    /// Whether the file that is migrated holds the older tables.
    pub(super) fn replaces_tables(&self) -> bool {
        self.debates.is_some()
    }

    pub(super) fn debates(&self) -> usize {
        self.debates.as_ref().map_or(0, Vec::len)
    }

    pub(super) fn documents(&self) -> usize {
        self.documents.len()
    }

    /// Documents first, so that the arguments find what they cite.
    pub(super) fn write(&self, db: &Db<'_>) -> Result<(), Failure> {
        for document in &self.documents {
            document.write(db)?;
        }
        for debate in self.debates.iter().flatten() {
            debate.write(db)?;
        }
        Ok(())
    }
}

impl OldDebate {
    fn write(&self, db: &Db<'_>) -> Result<(), Failure> {
        let key = debates::insert_debate(db, &self.head)?;
        let mut previous = Hash::NONE;
        for (argument, standing) in &self.arguments {
            previous = debates::append(
                db,
                key,
                argument.clone(),
                None,
                standing,
                previous,
                debates::KnownVersions::Then,
            )?
            .hash;
        }
        seals::keep_debate(db, key)
    }
}

impl OldDocument {
    fn write(&self, db: &Db<'_>) -> Result<(), Failure> {
        let Some(((request, _, _), (_, newest, at))) =
            self.versions.first().zip(self.versions.last())
        else {
            return Ok(());
        };
        let count = self.versions.len() as u64;
        let key = documents::insert(db, self.id, *request, newest, count, *at, self.deleted_at)?;
        for (number, (request, version, at)) in (1..).zip(&self.versions) {
            documents::insert_version(db, key, number, *request, version, *at)?;
        }
        match self.deleted_at {
            Some(at) => seals::keep_document_deleted(db, key, count, at),
            None => Ok(()),
        }
    }
}

fn read_debates(db: &Connection, problems: &mut Vec<String>) -> rusqlite::Result<Vec<OldDebate>> {
    let mut rows = db.prepare(
        "select debate_id, seq, id, parent_id, type, role, content, client_request_id, created_at
         from arguments order by debate_id, seq",
    )?;
    let mut arguments: BTreeMap<String, Vec<OldArgument>> = BTreeMap::new();
    let mut rows = rows.query([])?;
    while let Some(row) = rows.next()? {
        let read = OldArgument::read(row);
        match read {
            Ok((debate, argument)) => arguments.entry(debate).or_default().push(argument),
            Err(problem) => problems.push(problem),
        }
    }
    let mut debates = Vec::new();
    let mut heads = db.prepare(
        "select id, title, debate_type, state, created_at, updated_at from debates order by created_at, id",
    )?;
    let mut heads = heads.query([])?;
    while let Some(row) = heads.next()? {
        let id: String = row.get(0).unwrap_or_else(|_| "a debate whose id is no text".to_owned());
        let own = arguments.remove(&id).unwrap_or_default();
        match read_debate(row, own) {
            Ok(debate) => debates.push(debate),
            Err(problem) => problems.push(format!("debate {id}: {problem}")),
        }
    }
    problems.extend(
        arguments.keys().map(|id| format!("arguments of a debate that is not there: {id}")),
    );
    Ok(debates)
}

struct OldArgument {
    seq: u64,
    id: Uuid,
    parent: Option<Uuid>,
    kind: Kind,
    role: Role,
    content: String,
    request: RequestId,
    at: Time,
}

impl OldArgument {
    /// With the debate's id as it stands in the file.
    fn read(row: &Row<'_>) -> Result<(String, Self), String> {
        let debate: String = field(row, "debate_id")?;
        let named = |problem: String| {
            let seq = row.get::<_, i64>("seq").map_or("?".to_owned(), |seq| seq.to_string());
            format!("debate {debate}, argument {seq}: {problem}")
        };
        let read = || -> Result<Self, String> {
            let id: Uuid = parsed(row, "id")?;
            let request: Option<String> = field(row, "client_request_id")?;
            Ok(OldArgument {
                seq: field(row, "seq")?,
                id,
                parent: match field::<Option<String>>(row, "parent_id")? {
                    Some(parent) => {
                        Some(parent.parse().map_err(|_| not_read("parent_id", &parent))?)
                    }
                    None => None,
                },
                kind: parsed(row, "type")?,
                role: parsed(row, "role")?,
                content: field(row, "content")?,
                request: request_id(request.as_deref(), id),
                at: time(row, "created_at")?,
            })
        };
        let argument = read().map_err(named)?;
        Ok((debate, argument))
    }
}

/// The older system took any text as a request id, and none from the page. Each gets a UUID that
/// the same text always leads to.
fn request_id(text: Option<&str>, argument: Uuid) -> RequestId {
    match text {
        Some(text) => text
            .parse()
            .unwrap_or_else(|_| Uuid::new_v5(&Uuid::NAMESPACE_OID, text.as_bytes()).into()),
        None => Uuid::new_v5(&Uuid::NAMESPACE_OID, argument.as_bytes()).into(),
    }
}

fn read_debate(row: &Row<'_>, own: Vec<OldArgument>) -> Result<OldDebate, String> {
    let id: DebateId = parsed(row, "id")?;
    let state: State = parsed(row, "state")?;
    let mut arguments: Vec<(Argument, Standing)> = Vec::with_capacity(own.len());
    let mut earlier: BTreeSet<ArgumentId> = BTreeSet::new();
    let count = own.len() as u64;
    for (seq, old) in (1..).zip(own) {
        if old.seq != seq {
            return Err(format!("argument {seq} is missing, {} comes next", old.seq));
        }
        // Whoever verifies the record would find it damaged.
        let parent: Option<ArgumentId> = old.parent.map(Into::into);
        if parent.is_some_and(|parent| !earlier.contains(&parent)) {
            return Err(format!("argument {seq} does not answer an earlier one of its debate"));
        }
        earlier.insert(old.id.into());
        let previous = arguments.last().map(|(argument, standing)| (argument, *standing));
        // The older system did not record that a RULING closed the debate, nor that it was its own.
        let closes = old.kind == Kind::Ruling && seq == count && state == State::Closed;
        let close = (old.kind == Kind::Ruling).then_some(closes);
        let automatic = closes
            && old.content == AUTOMATIC_RULING
            && previous.is_some_and(|(before, _)| before.event.kind() == Kind::Resolution);
        let event = Event::recorded(old.kind, old.role, false, close, automatic)
            .filter(|event| (*event == Event::Motion) == (seq == 1))
            .ok_or_else(|| format!("argument {seq} is a {} of the {}", old.kind, old.role))?;
        let standing = match previous {
            Some((_, mut standing)) => {
                standing.apply(event);
                standing
            }
            None => Standing::opened(),
        };
        let not_before = previous.map_or(old.at, |(before, _)| before.at);
        let argument = Argument {
            id: old.id.into(),
            debate: id,
            seq: Seq(seq),
            parent,
            event,
            content: Content::recorded(old.content),
            author: None,
            request: old.request,
            via: Via::Api,
            seat: None,
            at: old.at.max(not_before),
            hash: Hash::NONE,
        };
        arguments.push((argument, standing));
    }
    let Some((last, standing)) = arguments.last() else {
        return Err("it has no MOTION".to_owned());
    };
    if standing.state != state {
        return Err(format!("its state is {state}, but its arguments lead to {}", standing.state));
    }
    let updated_at = time(row, "updated_at")?.max(last.at);
    let head = DebateHead {
        id,
        title: Title::recorded(field(row, "title")?),
        debate_type: DebateType::recorded(field(row, "debate_type")?),
        debate: Debate { policy: ResolutionPolicy::Auto, standing: *standing },
        created_at: time(row, "created_at")?,
        updated_at,
    };
    Ok(OldDebate { head, arguments })
}

fn read_documents(
    db: &Connection,
    problems: &mut Vec<String>,
) -> rusqlite::Result<Vec<OldDocument>> {
    let mut rows = db.prepare(
        "select id, document_id, version, summary, content, metadata, created_at, deleted_at,
             json_type(case when json_valid(metadata) then metadata end) as metadata_type
         from document_versions order by document_id, version",
    )?;
    let mut rows = rows.query([])?;
    let mut documents: Vec<OldDocument> = Vec::new();
    while let Some(row) = rows.next()? {
        let id: String = row.get("document_id").unwrap_or_default();
        let version = row.get::<_, i64>("version").unwrap_or_default();
        if let Err(problem) = read_version(row, &mut documents) {
            problems.push(format!("document {id}, version {version}: {problem}"));
        }
    }
    Ok(documents)
}

fn read_version(row: &Row<'_>, documents: &mut Vec<OldDocument>) -> Result<(), String> {
    let id: DocumentId = parsed(row, "document_id")?;
    let own: Uuid = parsed(row, "id")?;
    let number: u64 = field(row, "version")?;
    let metadata: Option<String> = field(row, "metadata")?;
    if metadata.is_some()
        && field::<Option<String>>(row, "metadata_type")?.as_deref() != Some("object")
    {
        return Err("its metadata is not a JSON object".to_owned());
    }
    let version = NewVersion {
        summary: Summary::recorded(field(row, "summary")?),
        content: Content::recorded(field(row, "content")?),
        author: None::<Author>,
        metadata: metadata.unwrap_or_else(|| "{}".to_owned()),
    };
    let at = time(row, "created_at")?;
    let deleted_at = match field::<Option<String>>(row, "deleted_at")? {
        Some(_) => Some(time(row, "deleted_at")?),
        None => None,
    };
    if documents.last().is_none_or(|document| document.id != id) {
        documents.push(OldDocument { id, versions: Vec::new(), deleted_at: None });
    }
    let document = documents.last_mut().expect("it was just pushed");
    if number != document.versions.len() as u64 + 1 {
        return Err(format!("version {} is missing", document.versions.len() + 1));
    }
    document.versions.push((request_id(None, own), version, at));
    document.deleted_at = deleted_at;
    Ok(())
}

fn field<T: rusqlite::types::FromSql>(row: &Row<'_>, column: &str) -> Result<T, String> {
    row.get(column).map_err(|error| format!("{column}: {error}"))
}

fn parsed<T: FromStr>(row: &Row<'_>, column: &str) -> Result<T, String> {
    let text: String = field(row, column)?;
    text.parse().map_err(|_| not_read(column, &text))
}

fn not_read(column: &str, text: &str) -> String {
    format!("{column} is {text:?}, which cannot be read")
}

/// `2026-01-31 10:30:00`, which is UTC, or a time with its own zone.
fn time(row: &Row<'_>, column: &str) -> Result<Time, String> {
    let text: String = field(row, column)?;
    let at = text
        .parse::<Timestamp>()
        .or_else(|_| text.parse::<DateTime>().and_then(|local| TimeZone::UTC.to_timestamp(local)));
    at.map(|at| Time(at.as_millisecond())).map_err(|_| not_read(column, &text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_problems_are_named_and_the_rest_counted() {
        let path = Path::new("debate.db");
        let named = |many: usize| {
            let problems = (1..=many).map(|number| number.to_string()).collect();
            match refuse_with(path, problems) {
                Err(OpenError::Unreadable { problems, .. }) => problems,
                other => panic!("{other:?}"),
            }
        };
        assert!(refuse_with(path, Vec::new()).is_ok());
        assert_eq!(named(PROBLEMS_NAMED).last().unwrap(), "20");
        let (many, last) = (named(PROBLEMS_NAMED + 1), "and 1 more".to_owned());
        assert_eq!((many.len(), many.last()), (PROBLEMS_NAMED + 1, Some(&last)));
    }

    #[test]
    fn a_copy_that_cannot_be_made_is_told_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let copied = copy_aside(&folder.path().join("gone/debate.db"));
        assert!(matches!(copied, Err(OpenError::Io { .. })), "{copied:?}");
    }
}
