//! What must be so of all debates, and of all documents, together.

use std::collections::BTreeMap;

use aw_core::State;
use rusqlite::{Connection, Row};

use crate::{Damage, Failure};

/// The counts of debates are those of a recount, and nothing belongs to a debate that is not there.
pub(super) fn debates(db: &Connection) -> Result<(), Failure> {
    let mut recount: BTreeMap<String, [i64; State::ALL.len()]> = BTreeMap::new();
    let mut statement = db.prepare(
        "select debate_type, state, count(*) from debates
         where deleted_at is null group by debate_type, state",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (kind, state): (String, String) = (row.get(0)?, row.get(1)?);
        let Some(column) = State::ALL.iter().position(|known| known.as_str() == state) else {
            return bad("a debate is in no state");
        };
        for kind in [String::new(), kind] {
            recount.entry(kind).or_default()[column] += row.get::<_, i64>(2)?;
        }
    }
    let columns: Vec<String> =
        State::ALL.iter().map(|state| state.as_str().to_lowercase()).collect();
    let columns = columns.join(", ");
    let mut kept = db.prepare(&format!("select debate_type, {columns} from debate_counts"))?;
    let kept: BTreeMap<String, [i64; State::ALL.len()]> =
        kept.query_map([], counts)?.collect::<Result<_, _>>()?;
    // A type whose debates were all deleted keeps its row.
    let same = kept.keys().chain(recount.keys()).all(|kind| {
        let of = |counts: &BTreeMap<String, _>| counts.get(kind).copied().unwrap_or_default();
        of(&kept) == of(&recount)
    });
    if !same {
        return bad("the debates are not as many as were counted when they were written");
    }
    for (table, column) in [
        ("arguments", "debate_key"),
        ("type_texts", "debate_key"),
        ("citations", "debate_key"),
        ("debate_documents", "debate_key"),
        ("debate_titles", "rowid"),
    ] {
        strays(db, table, column, "debates")?;
    }
    Ok(())
}

/// The same of documents.
pub(super) fn documents(db: &Connection) -> Result<(), Failure> {
    let pair = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
    let recount = db.query_row(
        "select count(*) - count(deleted_at), count(deleted_at) from documents",
        [],
        pair,
    )?;
    let kept = db.query_row("select live, deleted from document_counts", [], pair)?;
    if kept != recount {
        return bad("the documents are not as many as were counted when they were kept");
    }
    strays(db, "document_versions", "document_key", "documents")?;
    strays(db, "document_summaries", "rowid", "documents")
}

/// Whatever is beyond the newest or before the oldest; what is missing in between, the walk finds.
fn strays(db: &Connection, table: &str, column: &str, owners: &str) -> Result<(), Failure> {
    let beyond = format!(
        "select exists (select 1 from {table} where {column} > (select max(key) from {owners}))
             or exists (select 1 from {table} where {column} < 1)
             or (exists (select 1 from {table}) and not exists (select 1 from {owners}))"
    );
    if db.query_row(&beyond, [], |row| row.get(0))? {
        return bad(&format!("{table} has rows of {owners} that are not there"));
    }
    Ok(())
}

fn counts(row: &Row<'_>) -> rusqlite::Result<(String, [i64; State::ALL.len()])> {
    let mut counts = [0; State::ALL.len()];
    for (column, count) in counts.iter_mut().enumerate() {
        *count = row.get(column + 1)?;
    }
    Ok((row.get(0)?, counts))
}

fn bad<T>(what: &str) -> Result<T, Failure> {
    Err(Damage::new(what).into())
}
