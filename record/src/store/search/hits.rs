//! Finds the texts that have all words of a search, and the ids that begin with it.

use aw_core::{Author, Seq, Summary, Time, Title};
use uuid::Uuid;

use super::query::{Query, ids};
use super::snippet::snippet;
use crate::store::db::{Db, Row, Value};
use crate::store::{find, rows};
use crate::{Failure, HitPlace, IdPrefix, Search, SearchHit};

/// How many rows PostgreSQL looks through for each page before it asks its index. The index reads all
/// matches of a common word, and a few rows have enough of them.
const NEWEST: i64 = 2_000;

/// How many characters of a document are searched for a snippet.
const SHOWN: i64 = 256 * 1024;

/// The texts that a search may find.
#[derive(Debug, Clone, Copy)]
enum Scope {
    Everything,
    /// One debate, by its key, the documents that it cites, and those that a seat wrote.
    Debate {
        key: i64,
        seat: Option<Uuid>,
    },
}

/// A page of hits, and the mark of the last one if more may follow.
pub(in crate::store) fn page(
    db: &Db<'_>,
    search: &Search,
) -> Result<(Vec<SearchHit>, Option<u64>), Failure> {
    let seat = search.seen_by.as_ref();
    let scope = match search.debate.or(seat.and_then(|seat| seat.debate)) {
        None => Scope::Everything,
        Some(debate) => {
            let key = find::live(db, debate)?.key;
            Scope::Debate { key, seat: seat.map(|seat| seat.id) }
        }
    };
    let query = Query::of(&search.text);
    query.as_ref().map_or(Ok(()), Query::check)?;
    let mut found = match (search.before, ids(&search.text)) {
        (None, Some(prefix)) => with_ids(db, scope, prefix, search.limit)?,
        (None, None) | (Some(_), _) => Vec::new(),
    };
    found.truncate(usize::try_from(search.limit).unwrap_or(usize::MAX));
    let before = search.before.unwrap_or(i64::MAX as u64);
    let room = search.limit - found.len() as u64;
    let mut next = None;
    if let Some(query) = &query {
        let by_words = with_words(db, scope, query, before, room)?;
        if by_words.len() as u64 == room {
            next = Some(by_words.last().map_or(before, |last| last.mark));
        }
        found.extend(by_words);
    }
    Ok((found.into_iter().map(|row| row.hit(query.as_ref())).collect(), next))
}

/// The texts that have all words, the newest first.
fn with_words(
    db: &Db<'_>,
    scope: Scope,
    query: &Query,
    before: u64,
    limit: u64,
) -> Result<Vec<FoundRow>, Failure> {
    match scope {
        Scope::Everything => matching(db, query, before, limit, ("", Vec::new())),
        Scope::Debate { key, .. } => {
            let arguments = query.clone().in_debate(key);
            let mut found = matching(db, &arguments, before, limit, ("", Vec::new()))?;
            let documents = query.clone().in_documents();
            let [.., may_be_found] = scope.conditions();
            let documents =
                matching(db, &documents, before, limit, (may_be_found, scope.params()))?;
            found.extend(documents);
            found.sort_by_key(|row| std::cmp::Reverse(row.mark));
            found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
            Ok(found)
        }
    }
}

impl Scope {
    /// The conditions that a debate, an argument or a document may be found. They have the parameters
    /// from the third on.
    fn conditions(self) -> [&'static str; 3] {
        match self {
            Scope::Everything => [""; 3],
            Scope::Debate { .. } => [
                "and debates.key = ?3",
                "and arguments.debate_key = ?3",
                "and documents.key in (
                     select document_key from debate_documents where debate_key = ?3
                     union select key from documents
                     where seat_key = (select key from seats where id = ?4))",
            ],
        }
    }

    /// Their parameters.
    fn params(self) -> Vec<Value<'static>> {
        match self {
            Scope::Everything => Vec::new(),
            Scope::Debate { key, seat } => vec![key.into(), seat.into()],
        }
    }
}

/// The rows of the index that have all words, the newest first.
fn matching(
    db: &Db<'_>,
    query: &Query,
    before: u64,
    limit: u64,
    (and, more): (&str, Vec<Value<'static>>),
) -> Result<Vec<FoundRow>, Failure> {
    let read = |key: &str, source: &str, condition: &str| {
        let sql = format!(
            "{} and {condition} and {key} < ?2 {and} order by {key} desc limit ?",
            texts(key, source)
        );
        let mut params: Vec<Value<'_>> = vec![query.text(db).into(), before.into()];
        params.extend(more.clone());
        params.push(limit.into());
        db.all(&sql, &params, found_row)
    };
    match db {
        // The index of words applies the order and the limit itself, or it would read all matches.
        Db::Sqlite(_) => read(
            "search_words.rowid",
            "search_words cross join search_rows on search_rows.key = search_words.rowid",
            "search_words match ?1",
        ),
        Db::Postgres(_) => {
            // Written so that no index answers it.
            let newest = format!(
                "coalesce(words, '') @@ cast(cast(?1 as text) as tsquery) and search_rows.key
                     >= least(?2, (select coalesce(max(key), 0) from search_rows)) - {NEWEST}"
            );
            let found = read("search_rows.key", "search_rows", &newest)?;
            if found.len() as u64 == limit {
                return Ok(found);
            }
            // Written so that only the index of words answers it: the planner guesses that any word is
            // in every two hundredth text, and would look for a rare one in all texts by their keys.
            let words = "words @@ cast(cast(?1 as text) as tsquery)";
            read("search_rows.key + 0", "search_rows", words)
        }
    }
}

/// The debates, documents and arguments whose ids begin so.
fn with_ids(
    db: &Db<'_>,
    scope: Scope,
    prefix: IdPrefix,
    limit: u64,
) -> Result<Vec<FoundRow>, Failure> {
    let [debates, arguments, documents] = scope.conditions();
    let rows = format!(
        "(select cast(0 as bigint) as key, debates.key as debate_key, cast(0 as bigint) as seq,
              cast(null as bigint) as document_key
          from debates where id >= ?1 and id <= ?2 {debates}
          union all select 0, null, null, documents.key
          from documents where id >= ?1 and id <= ?2 {documents}
          union all select 0, debate_key, seq, null
          from arguments where id >= ?1 and id <= ?2 {arguments}
         ) as search_rows"
    );
    let sql = format!("{} limit ?", texts("search_rows.key", &rows));
    let mut params: Vec<Value<'_>> = vec![prefix.first.into(), prefix.last.into()];
    params.extend(scope.params());
    params.push(limit.into());
    db.all(&sql, &params, found_row)
}

/// Selects what [`found_row`] reads, for rows with a `debate_key` and a `seq` or with a `document_key`.
/// Every join looks one row up by its key: SQLite scans a table that is joined `on false`.
fn texts(mark: &str, rows: &str) -> String {
    format!(
        "select {mark}, debates.id, debates.title, search_rows.seq, debates.created_at,
             arguments.id, arguments.type, arguments.role, arguments.author, arguments.created_at,
             arguments.content,
             documents.id, documents.version, documents.summary, newest.author, newest.created_at,
             substr(newest.content, 1, {SHOWN}), coalesce(documents.title, documents.summary)
         from {rows}
         left join debates on debates.key = search_rows.debate_key
             and debates.deleted_at is null
         left join arguments on arguments.debate_key = debates.key
             and arguments.seq = search_rows.seq
         left join documents on documents.key = search_rows.document_key
             and documents.deleted_at is null
         left join document_versions as newest on newest.document_key = documents.key
             and newest.version = documents.version
         where (debates.key is not null or documents.key is not null)"
    )
}

/// A text that was found.
struct FoundRow {
    mark: u64,
    place: HitPlace,
    author: Option<Author>,
    at: Time,
    text: String,
}

impl FoundRow {
    fn hit(self, query: Option<&Query>) -> SearchHit {
        let snippet = snippet(&self.text, query);
        SearchHit { place: self.place, author: self.author, at: self.at, snippet }
    }
}

fn found_row(row: &Row<'_>) -> Result<FoundRow, Failure> {
    let mark = row.get(0)?;
    let author =
        |column| Ok::<_, Failure>(row.get::<Option<String>>(column)?.map(Author::recorded));
    if let Some(document) = row.get::<Option<Uuid>>(11)? {
        let summary = Summary::recorded(row.get(13)?);
        let (version, name) = (row.get(12)?, row.get(17)?);
        let place = HitPlace::Document { name, id: document.into(), version, summary };
        let (author, at, text) = (author(14)?, Time(row.get(15)?), row.get(16)?);
        return Ok(FoundRow { mark, place, author, at, text });
    }
    let debate = row.get::<Uuid>(1)?.into();
    let title = Title::recorded(row.get(2)?);
    let seq = row.get::<u64>(3)?;
    if seq == 0 {
        let text = title.as_str().to_owned();
        let (place, at) = (HitPlace::Title { debate, title }, Time(row.get(4)?));
        return Ok(FoundRow { mark, place, author: None, at, text });
    }
    let place = HitPlace::Argument {
        debate,
        title,
        id: row.get::<Uuid>(5)?.into(),
        seq: Seq(seq),
        kind: rows::word(row, 6)?,
        role: rows::word(row, 7)?,
    };
    let (author, at, text) = (author(8)?, Time(row.get(9)?), row.get(10)?);
    Ok(FoundRow { mark, place, author, at, text })
}
