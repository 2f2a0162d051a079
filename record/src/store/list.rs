//! Lists of debates and documents. The cost of a page does not depend on the number of debates.
//!
//! A page without a search merges a few sorted runs, one for each state, each read from an index. A
//! search checks the newest matches of the trigram index, up to a limit.

use aw_core::{State, Summary, Time, Title};
use uuid::Uuid;

use super::counts;
use super::db::{Db, Value};
use super::find;
use super::rows::{
    self, DebateNames, HEAD, HEAD_COLUMNS, LAST, LAST_COLUMNS, NAMES, NAMES_COLUMNS,
};
use super::search::{SearchIndex, is_beyond, is_short, join_in_order};
use crate::{DebateList, DebateListed, DocumentList, DocumentListed, Failure, Filter, Seat};

/// The most matches that a search checks and counts.
const SEARCHED: u64 = 2_000;

pub(super) fn debates(db: &Db<'_>, filter: &Filter) -> Result<DebateList, Failure> {
    let states = states(filter);
    let in_vain = |search: &String| is_beyond(search, Title::MAX_CHARS);
    if states.is_empty() || filter.search.as_ref().is_some_and(in_vain) {
        return Ok(DebateList { debates: Vec::new(), total: 0, total_is_exact: true });
    }
    let everything = Filter { before: None, ..filter.clone() };
    let former = match &filter.search {
        Some(search) => find::key_by_former_id(db, search)?,
        None => None,
    };
    let (total, total_is_exact) = match &filter.search {
        Some(search) => {
            let looked_at = if is_short(search) {
                counted(db, filter, &states)?
            } else {
                looked_at(db, SearchIndex::Titles, search)?
            };
            (searched(db, &everything, &states, search, former).count(db)?, looked_at < SEARCHED)
        }
        None if filter.pending_first_opponent
            || filter.only.is_some()
            || filter.project.is_some() =>
        {
            let total = runs(&everything, &states, SEARCHED).count(db)?;
            (total, total < SEARCHED)
        }
        None => (counted(db, filter, &states)?, true),
    };
    let chosen = match &filter.search {
        Some(search) => searched(db, filter, &states, search, former),
        None => runs(filter, &states, filter.offset.saturating_add(filter.limit)),
    };
    let debates = chosen.page(db, filter)?;
    Ok(DebateList { debates, total, total_is_exact })
}

/// The states that a filter allows.
fn states(filter: &Filter) -> Vec<State> {
    let owed = |state| matches!(state, State::AwaitingArbitrator | State::InterventionPending);
    let mut states = State::ALL.to_vec();
    states.retain(|state| filter.state.is_none_or(|wanted| wanted == *state));
    states.retain(|state| !filter.needs_arbitrator || owed(*state));
    states.retain(|state| !filter.pending_first_opponent || *state == State::AwaitingOpponent);
    states
}

/// How many debates are in these states, from the stored counts.
fn counted(db: &Db<'_>, filter: &Filter, states: &[State]) -> Result<u64, Failure> {
    let debate_type = filter.debate_type.as_ref().map_or("", |name| name.as_str());
    counts::debates_of(db, states, debate_type)
}

/// How many matches the index has, up to the limit.
fn looked_at(db: &Db<'_>, words: SearchIndex, search: &str) -> Result<u64, Failure> {
    let (found, param) = words.found(db, search, SEARCHED);
    Chosen { sql: found, params: vec![param] }.count(db)
}

/// A query that selects documents, or the `key`, `updated_at` and `id` of debates.
struct Chosen<'a> {
    sql: String,
    params: Vec<Value<'a>>,
}

impl Chosen<'_> {
    fn count(&self, db: &Db<'_>) -> Result<u64, Failure> {
        let sql = format!("select count(*) from ({}) as chosen", self.sql);
        db.one(&sql, &self.params, |row| row.get(0))
    }

    fn page(mut self, db: &Db<'_>, filter: &Filter) -> Result<Vec<DebateListed>, Failure> {
        let join = join_in_order(db);
        let sql = format!(
            "select {HEAD}, {LAST}, {NAMES}, (
                 select count(*) from points where points.debate_key = chosen.key and blocks
             )
             from ({}) as chosen
             {join} debates on debates.key = chosen.key
             {join} arguments on arguments.debate_key = chosen.key and seq = last_seq
             order by chosen.updated_at desc, chosen.id limit ? offset ?",
            self.sql
        );
        self.params.extend([filter.limit.into(), filter.offset.into()]);
        db.all(&sql, &self.params, |row| {
            let listed = || -> Result<DebateListed, Failure> {
                let DebateNames { slug, origin } = rows::names(row, HEAD_COLUMNS + LAST_COLUMNS)?;
                Ok(DebateListed {
                    debate: rows::debate_row(row)?.head,
                    last: rows::last(row, HEAD_COLUMNS)?,
                    blocking: row.get(HEAD_COLUMNS + LAST_COLUMNS + NAMES_COLUMNS)?,
                    slug,
                    origin,
                })
            };
            listed().map_err(|failure| rows::in_debate(row, failure))
        })
    }
}

/// The newest `each` debates of each state.
fn runs<'a>(filter: &'a Filter, states: &[State], each: u64) -> Chosen<'a> {
    let mut params = Vec::new();
    let runs: Vec<String> = states
        .iter()
        .map(|state| {
            let wanted = wanted(filter, &[*state], &mut params);
            params.push(each.into());
            format!(
                "select * from (select key, updated_at, id from debates
                 where {wanted} order by updated_at desc, id limit ?) as run"
            )
        })
        .collect();
    Chosen { sql: runs.join(" union all "), params }
}

/// The debates whose title contains the text, among the checked matches, and the debate that had this
/// id in the older system.
fn searched<'a>(
    db: &Db<'_>,
    filter: &'a Filter,
    states: &[State],
    search: &'a str,
    former: Option<i64>,
) -> Chosen<'a> {
    let Chosen { mut sql, mut params } = titled(db, filter, states, search);
    if let Some(key) = former {
        params.push(key.into());
        let wanted = wanted(filter, states, &mut params);
        sql +=
            &format!(" union select key, updated_at, id from debates where key = ? and {wanted}");
    }
    Chosen { sql, params }
}

/// The debates whose title contains the text, among the checked matches.
fn titled<'a>(db: &Db<'_>, filter: &'a Filter, states: &[State], search: &'a str) -> Chosen<'a> {
    let join = join_in_order(db);
    if is_short(search) {
        let mut newest = runs(filter, states, SEARCHED);
        let (contains, param) = SearchIndex::Titles.contains(db, "newest.key", search);
        newest.params.push(param);
        let sql = format!(
            "select newest.* from ({}) as newest {join} debates using (key) where {contains}",
            newest.sql
        );
        return Chosen { sql, params: newest.params };
    }
    let (found, param) = SearchIndex::Titles.found(db, search, SEARCHED);
    let mut params = vec![param];
    let wanted = wanted(filter, states, &mut params);
    let sql = format!(
        "select key, updated_at, id from ({found}) as matches
         {join} debates on key = found where {wanted}"
    );
    Chosen { sql, params }
}

/// The conditions of a filter, in a form that matches the partial indexes.
fn wanted<'a>(filter: &'a Filter, states: &[State], params: &mut Vec<Value<'a>>) -> String {
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
        params.push(debate_type.as_str().into());
    }
    if let Some(project) = &filter.project {
        sql += " and project = ? and project is not null";
        params.push(project.as_str().into());
    }
    if let Some(only) = filter.only {
        sql += " and id = ?";
        params.push(only.uuid().into());
    }
    match filter.before {
        Some((Time(at), Some(id))) => {
            sql += " and updated_at <= ? and (updated_at < ? or id > ?)";
            params.extend([at.into(), at.into(), id.uuid().into()]);
        }
        Some((Time(at), None)) => {
            sql += " and updated_at < ?";
            params.push(at.into());
        }
        None => {}
    }
    sql
}

/// A page of documents; for a seat of one debate, only of those it may see.
pub(super) fn documents(
    db: &Db<'_>,
    search: Option<&str>,
    include_deleted: bool,
    limit: u64,
    offset: u64,
    seen_by: Option<&Seat>,
) -> Result<DocumentList, Failure> {
    if search.is_some_and(|search| is_beyond(search, Summary::MAX_CHARS)) {
        return Ok(DocumentList { documents: Vec::new(), total: 0, total_is_exact: true });
    }
    let mut live = if include_deleted { "true" } else { "deleted_at is null" }.to_owned();
    let mut params = Vec::new();
    if let Some((seat, debate)) = seen_by.and_then(|seat| Some((seat, seat.debate?))) {
        live += " and key in (
             select document_key from debate_documents
             where debate_key = (select key from debates where id = ?)
             union select key from documents
             where seat_key = (select key from seats where id = ?))";
        params.extend([debate.uuid().into(), seat.id.into()]);
    }
    let columns = "documents.id, version, documents.summary, updated_at, deleted_at";
    let sql = match search {
        None => format!("select {columns} from documents where {live}"),
        Some(short) if is_short(short) => {
            let (contains, param) = SearchIndex::Summaries.contains(db, "documents.key", short);
            params.push(param);
            format!(
                "select {columns} from (
                     select * from documents where {live} order by updated_at desc, id limit {SEARCHED}
                 ) as documents where {contains}"
            )
        }
        Some(search) => {
            let (found, param) = SearchIndex::Summaries.found(db, search, SEARCHED);
            params.insert(0, param);
            let join = join_in_order(db);
            format!(
                "select {columns} from ({found}) as matches
                 {join} documents on key = found where {live}"
            )
        }
    };
    let mut chosen = Chosen { sql, params };
    let (kept, deleted) = counts::documents(db)?;
    let all = if include_deleted { kept + deleted } else { kept };
    let (total, total_is_exact) = match search {
        None if seen_by.is_some() => (chosen.count(db)?, true),
        None => (all, true),
        Some(short) if is_short(short) => (chosen.count(db)?, all < SEARCHED),
        Some(search) => {
            let looked_at = looked_at(db, SearchIndex::Summaries, search)?;
            (chosen.count(db)?, looked_at < SEARCHED)
        }
    };
    let sql = format!("{} order by updated_at desc, id limit ? offset ?", chosen.sql);
    chosen.params.extend([limit.into(), offset.into()]);
    let documents = db.all(&sql, &chosen.params, |row| {
        Ok(DocumentListed {
            id: row.get::<Uuid>(0)?.into(),
            version: row.get(1)?,
            summary: Summary::recorded(row.get(2)?),
            updated_at: Time(row.get(3)?),
            deleted_at: row.get::<Option<i64>>(4)?.map(Time),
        })
    })?;
    Ok(DocumentList { documents, total, total_is_exact })
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;
    use tempfile::TempDir;

    use super::super::{connection, migrate};
    use super::*;

    /// A file with this many debates and documents, all with the same name.
    fn with(many: u64) -> (TempDir, Connection) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("debate.db");
        std::fs::File::create(&path).unwrap();
        migrate::bring_up_to_date(&path, &[]).unwrap();
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
    fn a_list_says_whether_its_total_is_exact() {
        for (many, exact) in [(SEARCHED - 1, true), (SEARCHED, false)] {
            let (_folder, db) = with(many);
            let search =
                |words: &str| Filter { search: Some(words.to_owned()), ..Filter::default() };
            let fresh = Filter { pending_first_opponent: true, ..Filter::default() };
            for filter in [search("Debate"), search("De"), fresh] {
                let list = debates(&Db::Sqlite(&db), &filter).unwrap();
                assert_eq!((list.total, list.total_is_exact), (many, exact), "{filter:?}");
            }
            let all = debates(&Db::Sqlite(&db), &Filter::default()).unwrap();
            assert_eq!((all.total, all.total_is_exact), (many, true), "from the stored counts");
            for words in ["Plan", "Pl"] {
                let list = documents(&Db::Sqlite(&db), Some(words), false, 5, 0, None).unwrap();
                assert_eq!(list.total_is_exact, exact, "{words}");
            }
        }
    }

    #[test]
    fn a_search_of_three_characters_uses_the_index_and_a_shorter_one_scans() {
        let (_folder, db) = with(0);
        // This one is missing in the index.
        db.execute(
            "insert into documents (id, client_request_id, version, summary, updated_at)
             values (randomblob(16), randomblob(16), 1, 'Plan', 1)",
            [],
        )
        .unwrap();
        let db = Db::Sqlite(&db);
        let found = |words| documents(&db, Some(words), false, 5, 0, None).unwrap().total;
        assert_eq!((found("Pl"), found("Pla"), found("Plan")), (1, 0, 0));
    }
}
