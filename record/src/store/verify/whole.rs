//! Checks of all debates and all documents together.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use aw_core::State;

use crate::store;
use crate::store::db::{Db, Row, values};
use crate::{Damage, Failure};

/// Checks that the counts of debates equal a recount, and that no row belongs to a missing debate.
pub(super) fn debates(db: &Db<'_>) -> Result<(), Failure> {
    let mut recount: BTreeMap<String, [i64; State::ALL.len()]> = BTreeMap::new();
    let sql = "select debate_type, state, count(*) from debates
         where deleted_at is null and archived_at is null group by debate_type, state";
    db.each(sql, values![], |row| {
        let (kind, state): (String, String) = (row.get(0)?, row.get(1)?);
        let Some(column) = State::ALL.iter().position(|known| known.as_str() == state) else {
            return bad("a debate has an unknown state");
        };
        for kind in [String::new(), kind] {
            recount.entry(kind).or_default()[column] += row.get::<i64>(2)?;
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let columns: Vec<String> =
        State::ALL.iter().map(|state| state.as_str().to_lowercase()).collect();
    let columns = columns.join(", ");
    let mut kept: BTreeMap<String, [i64; State::ALL.len()]> = BTreeMap::new();
    db.each(&format!("select debate_type, {columns} from debate_counts"), values![], |row| {
        let (kind, counted) = counts(row)?;
        let kept = kept.entry(kind).or_default();
        kept.iter_mut().zip(counted).for_each(|(kept, counted)| *kept += counted);
        Ok(ControlFlow::Continue(()))
    })?;
    // A type whose debates were all deleted keeps its row.
    let same = kept.keys().chain(recount.keys()).all(|kind| {
        let of = |counts: &BTreeMap<String, _>| counts.get(kind).copied().unwrap_or_default();
        of(&kept) == of(&recount)
    });
    if !same {
        return bad("the number of debates is not the one that was counted");
    }
    for (table, column) in [
        ("arguments", "debate_key"),
        ("type_texts", "debate_key"),
        ("citations", "debate_key"),
        ("debate_documents", "debate_key"),
    ] {
        strays(db, table, column, "debates")?;
    }
    Ok(())
}

/// Checks the same for documents.
pub(super) fn documents(db: &Db<'_>) -> Result<(), Failure> {
    let sql = "select count(*) - count(deleted_at), count(deleted_at) from documents";
    let recount: (u64, u64) = db.one(sql, values![], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if store::counts::documents(db)? != recount {
        return bad("the number of documents is not the one that was counted");
    }
    strays(db, "document_versions", "document_key", "documents")
}

/// Finds rows beyond the newest or before the first owner. The walk finds the missing ones between.
fn strays(db: &Db<'_>, table: &str, column: &str, owners: &str) -> Result<(), Failure> {
    let beyond = format!(
        "select exists (select 1 from {table} where {column} > (select max(key) from {owners}))
             or exists (select 1 from {table} where {column} < 1)
             or (exists (select 1 from {table}) and not exists (select 1 from {owners}))"
    );
    if db.one(&beyond, values![], |row| row.get(0))? {
        return bad(&format!("{table} has rows of {owners} that do not exist"));
    }
    Ok(())
}

fn counts(row: &Row<'_>) -> Result<(String, [i64; State::ALL.len()]), Failure> {
    let mut counts = [0; State::ALL.len()];
    for (column, count) in counts.iter_mut().enumerate() {
        *count = row.get(column + 1)?;
    }
    Ok((row.get(0)?, counts))
}

fn bad<T>(what: &str) -> Result<T, Failure> {
    Err(Damage::new(what).into())
}
