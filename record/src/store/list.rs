//! Lists of debates and documents. The cost of a page does not depend on the number of debates.
//!
//! A page without a search merges a few sorted runs, one for each state, each read from an index. A
//! search compares the newest names that the search index finds, up to a limit.

use aw_core::{Outcome, ProjectId, State, Summary, Time, Title};
use uuid::Uuid;

use super::db::{Db, Value};
use super::rows::{
    self, DebateNames, HEAD, HEAD_COLUMNS, LAST, LAST_COLUMNS, NAMES, NAMES_COLUMNS,
};
use super::search::{NameMatches, Names, is_beyond, join_in_order};
use super::{Store, counts, find};
use crate::{
    DebateList, DebateListed, DocumentFilter, DocumentList, DocumentListed, Failure, Filter, Seat,
};

/// The most matches that a search checks and counts.
const SEARCHED: u64 = 2_000;

/// How deep a list page may be to count as a short read.
const QUICK_ROWS: u64 = 200;

impl Store {
    pub(crate) async fn list(&self, filter: &Filter) -> Result<DebateList, Failure> {
        if filter.search.is_some() {
            self.catch_up().await;
        }
        let is_quick = is_quick(filter.search.as_deref(), filter.limit, filter.offset)
            && filter.outcome.is_none();
        let filter = filter.clone();
        let work = move |db: &Db<'_>| debates(db, &filter);
        match is_quick {
            true => self.read(work).await,
            false => self.read_in_turn(&self.inner.searching, work).await,
        }
    }

    pub(crate) async fn list_documents(
        &self,
        filter: DocumentFilter,
    ) -> Result<DocumentList, Failure> {
        let DocumentFilter { search, of_debate, seen_by, limit, offset, .. } = &filter;
        if search.is_some() {
            self.catch_up().await;
        }
        // For a seat of one debate, the total is counted row by row.
        let is_quick = is_quick(search.as_deref(), *limit, *offset)
            && seen_by.is_none()
            && of_debate.is_none();
        let work = move |db: &Db<'_>| documents(db, &filter);
        match is_quick {
            true => self.read(work).await,
            false => self.read_in_turn(&self.inner.searching, work).await,
        }
    }
}

/// Whether a list page is a short read: without a search, and not deep.
fn is_quick(search: Option<&str>, limit: u64, offset: u64) -> bool {
    search.is_none() && offset.saturating_add(limit) <= QUICK_ROWS
}

pub(super) fn debates(db: &Db<'_>, filter: &Filter) -> Result<DebateList, Failure> {
    let states = states(filter);
    let in_vain = |search: &String| is_beyond(search, Title::MAX_CHARS);
    if states.is_empty() || filter.search.as_ref().is_some_and(in_vain) {
        return Ok(DebateList { debates: Vec::new(), total: 0, total_is_exact: true });
    }
    if let Some(first) = &filter.project_first {
        return with_project_first(db, filter, first);
    }
    let everything = Filter { before: None, ..filter.clone() };
    let Some(search) = &filter.search else {
        let (total, total_is_exact) = match !filter.is_counted() {
            true => {
                let total = runs(&everything, &states, SEARCHED).count(db)?;
                (total, total < SEARCHED)
            }
            false => (counted(db, filter, &states)?, true),
        };
        let page = runs(filter, &states, filter.offset.saturating_add(filter.limit));
        return Ok(DebateList { debates: page.page(db, filter)?, total, total_is_exact });
    };
    let matches = titled(db, &everything, &states, search)?;
    let total = searched(db, &everything, &states, &matches).count(db)?;
    let total_is_exact = matches.compared < SEARCHED;
    let matches = match filter.before {
        None => matches,
        Some(_) => titled(db, filter, &states, search)?,
    };
    let debates = searched(db, filter, &states, &matches).page(db, filter)?;
    Ok(DebateList { debates, total, total_is_exact })
}

/// The debates of one project, then the others.
fn with_project_first(
    db: &Db<'_>,
    filter: &Filter,
    first: &ProjectId,
) -> Result<DebateList, Failure> {
    let filter = Filter { project_first: None, ..filter.clone() };
    let all = debates(db, &Filter { limit: 0, offset: 0, ..filter.clone() })?;
    let own = Filter { project: Some(first.clone()), ..filter.clone() };
    let DebateList { debates: mut page, total: owned, .. } = debates(db, &own)?;
    let others = Filter {
        other_than: Some(first.clone()),
        offset: filter.offset.saturating_sub(owned),
        limit: filter.limit.saturating_sub(page.len() as u64),
        ..filter
    };
    if others.limit > 0 {
        page.extend(debates(db, &others)?.debates);
    }
    Ok(DebateList { debates: page, ..all })
}

/// The states that a filter allows.
fn states(filter: &Filter) -> Vec<State> {
    let owed = |state| matches!(state, State::AwaitingArbitrator | State::InterventionPending);
    let mut states = State::ALL.to_vec();
    states.retain(|state| filter.state.is_none_or(|wanted| wanted == *state));
    states.retain(|state| !filter.needs_arbitrator || owed(*state));
    states.retain(|state| !filter.pending_first_opponent || *state == State::AwaitingOpponent);
    states.retain(|state| !filter.open || *state != State::Closed);
    states.retain(|state| filter.awaiting.is_none_or(|role| state.floor() == Some(role)));
    states.retain(|state| match filter.outcome {
        None => true,
        Some(outcome) => (outcome == Outcome::Open) != (*state == State::Closed),
    });
    states
}

/// How many debates are in these states, from the stored counts.
fn counted(db: &Db<'_>, filter: &Filter, states: &[State]) -> Result<u64, Failure> {
    let debate_type = filter.debate_type.as_ref().map_or("", |name| name.as_str());
    counts::debates_of(db, states, debate_type)
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
        let seen = match filter.reader {
            Some(_) => {
                "coalesce((
                     select seen.seq from seen
                     where seen.holder = ? and seen.debate_key = chosen.key
                 ), 0)"
            }
            None => "cast(null as bigint)",
        };
        let join = join_in_order(db);
        let sql = format!(
            "select {HEAD}, {LAST}, {NAMES}, (
                 select count(*) from points where points.debate_key = chosen.key and blocks
             ), {seen}
             from ({}) as chosen
             {join} debates on debates.key = chosen.key
             {join} arguments on arguments.debate_key = chosen.key and seq = last_seq
             order by {} limit ? offset ?",
            self.sql,
            order(filter, "chosen.")
        );
        if let Some(reader) = filter.reader {
            self.params.insert(0, reader.0.into());
        }
        self.params.extend([filter.limit.into(), filter.offset.into()]);
        db.all(&sql, &self.params, |row| {
            let listed = || -> Result<DebateListed, Failure> {
                let DebateNames { slug, origin, archived_at } =
                    rows::names(row, HEAD_COLUMNS + LAST_COLUMNS)?;
                Ok(DebateListed {
                    debate: rows::debate_row(row)?.head,
                    last: rows::last(row, HEAD_COLUMNS)?,
                    blocking: row.get(HEAD_COLUMNS + LAST_COLUMNS + NAMES_COLUMNS)?,
                    slug,
                    origin,
                    archived_at,
                    seen: row.get(HEAD_COLUMNS + LAST_COLUMNS + NAMES_COLUMNS + 1)?,
                })
            };
            listed().map_err(|failure| rows::in_debate(row, failure))
        })
    }
}

/// The order of a page, for columns with this prefix. An index has it in both directions.
fn order(filter: &Filter, prefix: &str) -> String {
    let (at, id) = if filter.longest_first { ("", " desc") } else { (" desc", "") };
    format!("{prefix}updated_at{at}, {prefix}id{id}")
}

/// The first `each` debates of each state.
fn runs<'a>(filter: &'a Filter, states: &[State], each: u64) -> Chosen<'a> {
    let mut params = Vec::new();
    let order = order(filter, "");
    let runs: Vec<String> = states
        .iter()
        .map(|state| {
            let wanted = wanted(filter, &[*state], &mut params);
            params.push(each.into());
            format!(
                "select * from (select key, updated_at, id from debates
                 where {wanted} order by {order} limit ?) as run"
            )
        })
        .collect();
    Chosen { sql: runs.join(" union all "), params }
}

/// The debates that match a search.
fn searched<'a>(
    db: &Db<'_>,
    filter: &'a Filter,
    states: &[State],
    matches: &NameMatches,
) -> Chosen<'a> {
    let join = join_in_order(db);
    let (found, param) = matches.query(db);
    let mut params = vec![param];
    let wanted = wanted(filter, states, &mut params);
    let sql = format!(
        "select key, updated_at, id from ({found}) as matches
         {join} debates on key = found where {wanted}"
    );
    Chosen { sql, params }
}

/// The debates whose title contains the text, whose id begins with it, or that had it as their id in
/// the older system. A text that is too short for the index is looked for in the newest titles.
fn titled(
    db: &Db<'_>,
    filter: &Filter,
    states: &[State],
    search: &str,
) -> Result<NameMatches, Failure> {
    let mut matches = match Names::Titles.containing(db, search, SEARCHED)? {
        Some(matches) => matches,
        None => {
            let newest = runs(filter, states, SEARCHED);
            let join = join_in_order(db);
            let sql = format!(
                "select key, title from ({}) as newest {join} debates using (key)
                 order by newest.updated_at desc limit {SEARCHED}",
                newest.sql
            );
            let titles = db.all(&sql, &newest.params, |row| Ok((row.get(0)?, row.get(1)?)))?;
            NameMatches::of(titles, search)
        }
    };
    Names::Titles.with_ids(db, search, SEARCHED, &mut matches)?;
    if let Some(key) = find::key_by_former_id(db, search)? {
        matches.add(key);
    }
    Ok(matches)
}

/// The conditions of a filter, in a form that matches the partial indexes.
fn wanted<'a>(filter: &'a Filter, states: &[State], params: &mut Vec<Value<'a>>) -> String {
    let states: Vec<String> = states.iter().map(|state| format!("'{state}'")).collect();
    let archived = if filter.archived { "is not null" } else { "is null" };
    let mut sql = format!("deleted_at is null and archived_at {archived} and ");
    sql += &match states.as_slice() {
        [one] => format!("state = {one}"),
        several => format!("state in ({})", several.join(", ")),
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
    if let Some(project) = &filter.other_than {
        sql += " and (project is null or project <> ?)";
        params.push(project.as_str().into());
    }
    if let Some(Time(since)) = filter.since {
        sql += " and updated_at >= ?";
        params.push(since.into());
    }
    if let Some(outcome) = filter.outcome {
        sql += ended(outcome);
    }
    if let Some(only) = filter.only {
        sql += " and id = ?";
        params.push(only.uuid().into());
    }
    match (filter.before, filter.longest_first) {
        (Some((Time(at), Some(id))), is_longest_first) => {
            sql += match is_longest_first {
                true => " and updated_at >= ? and (updated_at > ? or id < ?)",
                false => " and updated_at <= ? and (updated_at < ? or id > ?)",
            };
            params.extend([at.into(), at.into(), id.uuid().into()]);
        }
        (Some((Time(at), None)), is_longest_first) => {
            sql += if is_longest_first { " and updated_at > ?" } else { " and updated_at < ?" };
            params.push(at.into());
        }
        (None, _) => {}
    }
    sql
}

/// The condition that a closed debate ended so, as [`Outcome::of`] has it.
fn ended(outcome: Outcome) -> &'static str {
    macro_rules! by_server {
        () => {
            "(select newest.automatic from arguments as newest
              where newest.debate_key = debates.key and newest.seq = debates.last_seq)"
        };
    }
    macro_rules! blocked {
        () => {
            "exists (select 1 from points as open where open.debate_key = debates.key and open.blocks)"
        };
    }
    match outcome {
        Outcome::Agreed => concat!(" and points_form is not null and ", by_server!()),
        Outcome::Completed => concat!(" and points_form is null and ", by_server!()),
        Outcome::LeftOpen => {
            concat!(" and points_form is not null and not ", by_server!(), " and ", blocked!())
        }
        Outcome::Ruled => concat!(
            " and not ",
            by_server!(),
            " and not (points_form is not null and ",
            blocked!(),
            ")"
        ),
        Outcome::Open => "",
    }
}

impl Filter {
    /// Whether the stored counts tell how many debates it allows.
    fn is_counted(&self) -> bool {
        let Filter { pending_first_opponent, archived, .. } = *self;
        let narrows = self.only.is_some()
            || self.project.is_some()
            || self.other_than.is_some()
            || self.since.is_some()
            || self.outcome.is_some_and(|outcome| outcome != Outcome::Open);
        !pending_first_opponent && !archived && !narrows
    }
}

/// The condition that a seat of one debate may see a document, with its parameters.
pub(super) fn seen_documents(
    seen_by: Option<&Seat>,
) -> Option<(&'static str, Vec<Value<'static>>)> {
    let (seat, debate) = seen_by.and_then(|seat| Some((seat, seat.debate?)))?;
    let sql = " and key in (
             select document_key from debate_documents
             where debate_key = (select key from debates where id = ?)
             union select key from documents
             where seat_key = (select key from seats where id = ?))";
    Some((sql, vec![debate.uuid().into(), seat.id.into()]))
}

/// A page of documents.
pub(super) fn documents(db: &Db<'_>, filter: &DocumentFilter) -> Result<DocumentList, Failure> {
    let &DocumentFilter { include_deleted, of_debate, limit, offset, .. } = filter;
    let (search, seen_by) = (filter.search.as_deref(), filter.seen_by.as_ref());
    if search.is_some_and(|search| is_beyond(search, Summary::MAX_CHARS)) {
        return Ok(DocumentList { documents: Vec::new(), total: 0, total_is_exact: true });
    }
    let mut live = if include_deleted { "true" } else { "deleted_at is null" }.to_owned();
    let mut params = Vec::new();
    if let Some((condition, seen)) = seen_documents(seen_by) {
        live += condition;
        params.extend(seen);
    }
    if let Some(debate) = of_debate {
        live += " and key in (select document_key from debate_documents
             where debate_key = (select key from debates where id = ?))";
        params.push(debate.uuid().into());
    }
    let columns =
        "documents.id, version, documents.summary, updated_at, deleted_at, documents.title";
    let (mut chosen, total_is_exact) = match search {
        None => {
            let sql = format!("select {columns} from documents where {live}");
            (Chosen { sql, params }, true)
        }
        Some(search) => {
            let matches = summarized(db, search, &live, &params)?;
            let (found, param) = matches.query(db);
            params.insert(0, param);
            let join = join_in_order(db);
            let sql = format!(
                "select {columns} from ({found}) as matches
                 {join} documents on key = found where {live}"
            );
            (Chosen { sql, params }, matches.compared < SEARCHED)
        }
    };
    let total = match search.is_none() && seen_by.is_none() && of_debate.is_none() {
        true => {
            let (kept, deleted) = counts::documents(db)?;
            if include_deleted { kept + deleted } else { kept }
        }
        false => chosen.count(db)?,
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
            title: row.get::<Option<String>>(5)?.map(Title::recorded),
        })
    })?;
    Ok(DocumentList { documents, total, total_is_exact })
}

/// The documents whose newest summary contains the text, or whose id begins with it. A text that is too
/// short for the index is looked for in the newest ones that may be listed.
fn summarized(
    db: &Db<'_>,
    search: &str,
    live: &str,
    params: &[Value<'_>],
) -> Result<NameMatches, Failure> {
    let mut matches = match Names::Summaries.containing(db, search, SEARCHED)? {
        Some(matches) => matches,
        None => {
            let sql = format!(
                "select key, summary from documents where {live}
                 order by updated_at desc, id limit {SEARCHED}"
            );
            let summaries = db.all(&sql, params, |row| Ok((row.get(0)?, row.get(1)?)))?;
            NameMatches::of(summaries, search)
        }
    };
    Names::Summaries.with_ids(db, search, SEARCHED, &mut matches)?;
    Ok(matches)
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;
    use tempfile::TempDir;

    use super::super::search::IndexPiece;
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
             insert into debate_counts (debate_type, awaiting_opponent) values ('', {many});
             insert into documents (id, client_request_id, version, summary, updated_at)
             {numbers} select randomblob(16), randomblob(16), 1, 'Plan', n from numbers;
             insert into document_versions (document_key, version, summary, metadata,
                 client_request_id, created_at, content)
             {numbers} select n, 1, 'Plan', '{{}}', randomblob(16), n, 'Text' from numbers;
             update document_counts set live = {many};
             commit;
             drop trigger arguments_begin_the_chain;
             insert into arguments (debate_key, seq, id, type, role, automatic, via,
                 client_request_id, created_at, proposer_count, opponent_count, previous_hash,
                 hash, content)
             {numbers} select n, 1, randomblob(16), 'MOTION', 'proposer', 0, 'api',
                 randomblob(16), n, 1, 0, zeroblob(32), zeroblob(32), 'Text' from numbers;
             begin"
        ))
        .unwrap();
        loop {
            let piece = IndexPiece::read(&Db::Sqlite(&db)).unwrap();
            if piece.is_empty() {
                break;
            }
            piece.write(&Db::Sqlite(&db)).unwrap();
        }
        db.execute_batch("commit").unwrap();
        (folder, db)
    }

    fn searched(words: &str) -> DocumentFilter {
        DocumentFilter { search: Some(words.to_owned()), limit: 5, ..Default::default() }
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
                let list = documents(&Db::Sqlite(&db), &searched(words)).unwrap();
                assert_eq!(list.total_is_exact, exact, "{words}");
            }
        }
    }

    #[test]
    fn the_longest_waiting_come_first_page_by_page() {
        let (_folder, db) = with(7);
        // Two of them at the same time.
        db.execute("update debates set updated_at = 3 where updated_at = 4", []).unwrap();
        let page = |before, longest_first| {
            let filter = Filter { before, longest_first, limit: 3, ..Filter::default() };
            debates(&Db::Sqlite(&db), &filter).unwrap().debates
        };
        let read = |longest_first| {
            let (mut all, mut before) = (Vec::new(), None);
            loop {
                let page = page(before, longest_first);
                let Some(last) = page.last() else { return all };
                before = Some((last.debate.updated_at, Some(last.debate.id)));
                all.extend(page.into_iter().map(|one| (one.debate.updated_at, one.debate.id)));
            }
        };
        let (mut newest, longest) = (read(false), read(true));
        assert_eq!((longest.len(), longest[0].0, longest[6].0), (7, Time(1), Time(7)));
        newest.reverse();
        assert_eq!(newest, longest);
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
        let found = |words| documents(&db, &searched(words)).unwrap().total;
        assert_eq!((found("Pl"), found("Pla"), found("Plan")), (1, 0, 0));
    }
}
