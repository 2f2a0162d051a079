//! Lists: a page costs the same however many debates there are.
//!
//! A page without a search is a merge of a few sorted runs, one for each state, each read from an
//! index. A search looks at the newest titles that the trigram index finds, up to a limit.

use aw_core::{State, Summary, Time};
use rusqlite::types::Value;
use rusqlite::{Connection, params, params_from_iter};
use uuid::Uuid;

use super::rows::{self, HEAD, HEAD_COLUMNS, LAST};
use crate::{DebateList, DebateListed, DocumentList, DocumentListed, Failure, Filter, Seat};

/// A search looks at so many matches; beyond that it stops counting.
const SEARCHED: u64 = 2_000;

/// The shortest text that the trigram index can find.
const TRIGRAM: usize = 3;

pub(super) fn debates(db: &Connection, filter: &Filter) -> Result<DebateList, Failure> {
    let states = states(filter);
    if states.is_empty() {
        return Ok(DebateList { debates: Vec::new(), total: 0, total_is_exact: true });
    }
    let everything = Filter { before: None, ..filter.clone() };
    let (total, total_is_exact) = match &filter.search {
        Some(search) => {
            let looked_at = if is_short(search) {
                counted(db, filter, &states)?
            } else {
                let found = "select count(*) from (
                    select 1 from debate_titles where debate_titles match ?1 limit ?2)";
                db.prepare_cached(found)?
                    .query_row(params![phrase(search), SEARCHED], |row| row.get(0))?
            };
            (searched(&everything, &states, search).count(db)?, looked_at < SEARCHED)
        }
        None if filter.pending_first_opponent || filter.only.is_some() => {
            let total = runs(&everything, &states, SEARCHED).count(db)?;
            (total, total < SEARCHED)
        }
        None => (counted(db, filter, &states)?, true),
    };
    let chosen = match &filter.search {
        Some(search) => searched(filter, &states, search),
        None => runs(filter, &states, filter.offset.saturating_add(filter.limit)),
    };
    let debates = chosen.page(db, filter)?;
    Ok(DebateList { debates, total, total_is_exact })
}

/// The states that a filter leaves.
fn states(filter: &Filter) -> Vec<State> {
    let owed = |state| matches!(state, State::AwaitingArbitrator | State::InterventionPending);
    let mut states = State::ALL.to_vec();
    states.retain(|state| filter.state.is_none_or(|wanted| wanted == *state));
    states.retain(|state| !filter.needs_arbitrator || owed(*state));
    states.retain(|state| !filter.pending_first_opponent || *state == State::AwaitingOpponent);
    states
}

/// How many debates of these states there are, from the counts.
fn counted(db: &Connection, filter: &Filter, states: &[State]) -> Result<u64, Failure> {
    let columns: Vec<String> = states.iter().map(|state| state.as_str().to_lowercase()).collect();
    let sql = format!(
        "select coalesce(sum({}), 0) from debate_counts where debate_type = ?1",
        columns.join(" + ")
    );
    let debate_type = filter.debate_type.as_ref().map_or("", |name| name.as_str());
    Ok(db.prepare_cached(&sql)?.query_row([debate_type], |row| row.get(0))?)
}

/// A query that chooses debates: their `key`, `updated_at` and `id`.
struct Chosen {
    sql: String,
    params: Vec<Value>,
}

impl Chosen {
    fn count(&self, db: &Connection) -> Result<u64, Failure> {
        let sql = format!("select count(*) from ({})", self.sql);
        let count =
            db.prepare_cached(&sql)?.query_row(params_from_iter(&self.params), |row| row.get(0))?;
        Ok(count)
    }

    fn page(mut self, db: &Connection, filter: &Filter) -> Result<Vec<DebateListed>, Failure> {
        let sql = format!(
            "select {HEAD}, {LAST} from ({}) as chosen
             cross join debates on debates.key = chosen.key
             cross join arguments on debate_key = chosen.key and seq = last_seq
             order by chosen.updated_at desc, chosen.id limit ? offset ?",
            self.sql
        );
        self.params.extend([number(filter.limit), number(filter.offset)]);
        let debates = db
            .prepare_cached(&sql)?
            .query_and_then(params_from_iter(&self.params), |row| {
                let listed = || -> rusqlite::Result<DebateListed> {
                    Ok(DebateListed {
                        debate: rows::known(row)?.head,
                        last: rows::last(row, HEAD_COLUMNS)?,
                    })
                };
                listed().map_err(|error| rows::in_debate(row, error))
            })?
            .collect::<Result<_, Failure>>()?;
        Ok(debates)
    }
}

/// The newest `each` debates of each state.
fn runs(filter: &Filter, states: &[State], each: u64) -> Chosen {
    let mut params = Vec::new();
    let runs: Vec<String> = states
        .iter()
        .map(|state| {
            let wanted = wanted(filter, &[*state], &mut params);
            params.push(number(each));
            format!(
                "select * from (select key, updated_at, id from debates
                 where {wanted} order by updated_at desc, id limit ?)"
            )
        })
        .collect();
    Chosen { sql: runs.join(" union all "), params }
}

/// The debates whose title contains this, among those looked at.
fn searched(filter: &Filter, states: &[State], search: &str) -> Chosen {
    if is_short(search) {
        let mut newest = runs(filter, states, SEARCHED);
        newest.params.push(Value::Text(search.to_owned()));
        let sql = format!(
            "select newest.* from ({}) as newest cross join debates using (key)
             where instr(folded(title), folded(?)) > 0",
            newest.sql
        );
        return Chosen { sql, params: newest.params };
    }
    let mut params = vec![Value::Text(phrase(search)), number(SEARCHED)];
    let wanted = wanted(filter, states, &mut params);
    let sql = format!(
        "select key, updated_at, id from (
             select rowid as found from debate_titles where debate_titles match ?
             order by rowid desc limit ?
         ) cross join debates on key = found where {wanted}"
    );
    Chosen { sql, params }
}

/// The conditions of a filter, written so that the partial indexes apply.
fn wanted(filter: &Filter, states: &[State], params: &mut Vec<Value>) -> String {
    let states: Vec<String> = states.iter().map(|state| format!("'{state}'")).collect();
    let mut sql = match states.as_slice() {
        [one] => format!("deleted_at is null and state = {one}"),
        several => format!("deleted_at is null and state in ({})", several.join(", ")),
    };
    if filter.pending_first_opponent {
        sql += " and opponent_count = 0";
    }
    if let Some(debate_type) = &filter.debate_type {
        sql += " and debate_type = ?";
        params.push(Value::Text(debate_type.as_str().to_owned()));
    }
    if let Some(only) = filter.only {
        sql += " and id = ?";
        params.push(Value::Blob(only.uuid().as_bytes().to_vec()));
    }
    match filter.before {
        Some((Time(at), Some(id))) => {
            sql += " and updated_at <= ? and (updated_at < ? or id > ?)";
            let id = Value::Blob(id.uuid().as_bytes().to_vec());
            params.extend([Value::Integer(at), Value::Integer(at), id]);
        }
        Some((Time(at), None)) => {
            sql += " and updated_at < ?";
            params.push(Value::Integer(at));
        }
        None => {}
    }
    sql
}

/// A page of documents; for a seat of one debate, of those that it may see.
pub(super) fn documents(
    db: &Connection,
    search: Option<&str>,
    include_deleted: bool,
    limit: u64,
    offset: u64,
    seen_by: Option<&Seat>,
) -> Result<DocumentList, Failure> {
    let short = search.is_some_and(is_short);
    let live = if include_deleted { "true" } else { "deleted_at is null" };
    let live = match seen_by.and_then(|seat| Some((seat, seat.debate?))) {
        Some((seat, debate)) => format!(
            "{live} and key in (
                 select document_key from debate_documents
                 where debate_key = (select key from debates where id = x'{}')
                 union select key from documents
                 where seat_key = (select key from seats where id = x'{}'))",
            debate.uuid().simple(),
            seat.id.simple()
        ),
        None => live.to_owned(),
    };
    let columns = "id, version, summary, updated_at, deleted_at";
    let (chosen, search) = match search {
        None => (format!("select {columns} from documents where {live}"), Value::Null),
        Some(short) if is_short(short) => (
            format!(
                "select {columns} from (
                     select * from documents where {live} order by updated_at desc, id limit {SEARCHED}
                 ) where instr(folded(summary), folded(?1)) > 0"
            ),
            Value::Text(short.to_owned()),
        ),
        Some(search) => (
            format!(
                "select documents.id, version, documents.summary, updated_at, deleted_at from (
                     select rowid as found from document_summaries where document_summaries match ?1
                     order by rowid desc limit {SEARCHED}
                 ) cross join documents on key = found where {live}"
            ),
            Value::Text(phrase(search)),
        ),
    };
    let (kept, deleted): (u64, u64) = db
        .prepare_cached("select live, deleted from document_counts")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let all = if include_deleted { kept + deleted } else { kept };
    let (total, total_is_exact) = if search == Value::Null && seen_by.is_some() {
        let sql = format!("select count(*) from ({chosen})");
        (db.prepare_cached(&sql)?.query_row([], |row| row.get(0))?, true)
    } else if search == Value::Null {
        (all, true)
    } else {
        let sql = format!("select count(*) from ({chosen})");
        let found = db.prepare_cached(&sql)?.query_row([&search], |row| row.get(0))?;
        let looked_at = if short {
            all
        } else {
            let matches = "select count(*) from (
                select 1 from document_summaries where document_summaries match ?1 limit ?2)";
            db.prepare_cached(matches)?.query_row(params![search, SEARCHED], |row| row.get(0))?
        };
        (found, looked_at < SEARCHED)
    };
    let sql = format!("{chosen} order by updated_at desc, id limit ?2 offset ?3");
    let page = params![search, number(limit), number(offset)];
    let documents = db
        .prepare_cached(&sql)?
        .query_map(page, |row| {
            Ok(DocumentListed {
                id: row.get::<_, Uuid>(0)?.into(),
                version: row.get(1)?,
                summary: Summary::recorded(row.get(2)?),
                updated_at: Time(row.get(3)?),
                deleted_at: row.get::<_, Option<i64>>(4)?.map(Time),
            })
        })?
        .collect::<Result<_, _>>()?;
    Ok(DocumentList { documents, total, total_is_exact })
}

fn is_short(search: &str) -> bool {
    search.chars().count() < TRIGRAM
}

/// The text as one phrase of the index's query language, in which nothing is an operator.
fn phrase(search: &str) -> String {
    format!("\"{}\"", search.replace('"', "\"\""))
}

fn number(value: u64) -> Value {
    Value::Integer(i64::try_from(value).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::super::{connection, migrate};
    use super::*;

    /// A file with so many debates and documents, all of one name.
    fn with(many: u64) -> (TempDir, Connection) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("debate.db");
        std::fs::File::create(&path).unwrap();
        migrate::bring_up_to_date(&path).unwrap();
        let db = connection::writer(&path).unwrap();
        let numbers = format!(
            "with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < {many} limit {many})"
        );
        db.execute_batch(&format!(
            "pragma synchronous = off;
             begin;
             insert into debates (id, title, debate_type, resolution_policy, created_at, updated_at,
                 state, last_seq, proposer_count, opponent_count, proposer_newest)
             {numbers} select randomblob(16), 'Debate', 'general_debate', 'auto', n, n,
                 'AWAITING_OPPONENT', 1, 1, 0, 1 from numbers;
             insert into debate_titles (rowid, title) {numbers} select n, 'Debate' from numbers;
             insert into debate_counts (debate_type, awaiting_opponent) values ('', {many});
             insert into document_summaries (rowid, summary) {numbers} select n, 'Plan' from numbers;
             update document_counts set live = {many};
             commit;"
        ))
        .unwrap();
        (folder, db)
    }

    #[test]
    fn a_list_says_whether_its_total_was_counted_to_the_end() {
        for (many, exact) in [(SEARCHED - 1, true), (SEARCHED, false)] {
            let (_folder, db) = with(many);
            let search =
                |words: &str| Filter { search: Some(words.to_owned()), ..Filter::default() };
            let fresh = Filter { pending_first_opponent: true, ..Filter::default() };
            for filter in [search("Debate"), search("De"), fresh] {
                let list = debates(&db, &filter).unwrap();
                assert_eq!((list.total, list.total_is_exact), (many, exact), "{filter:?}");
            }
            let all = debates(&db, &Filter::default()).unwrap();
            assert_eq!((all.total, all.total_is_exact), (many, true), "the counts know");
            for words in ["Plan", "Pl"] {
                let list = documents(&db, Some(words), false, 5, 0, None).unwrap();
                assert_eq!(list.total_is_exact, exact, "{words}");
            }
        }
    }

    #[test]
    fn a_search_of_three_characters_asks_the_index_and_a_shorter_one_cannot() {
        let (_folder, db) = with(0);
        // In the index there is nothing of this one.
        db.execute(
            "insert into documents (id, client_request_id, version, summary, updated_at)
             values (randomblob(16), randomblob(16), 1, 'Plan', 1)",
            [],
        )
        .unwrap();
        let found = |words| documents(&db, Some(words), false, 5, 0, None).unwrap().total;
        assert_eq!((found("Pl"), found("Pla"), found("Plan")), (1, 0, 0));
    }
}
