//! Migrations of a PostgreSQL database. If several servers start together, one migrates.

use super::session::PostgresSession;
use crate::store::db::{Db, values};
use crate::store::slugs;

/// The nth migration leads to schema n. A released migration never changes.
const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/postgres/0001_record.sql"),
    include_str!("../migrations/postgres/0002_former_ids.sql"),
    include_str!("../migrations/postgres/0003_points.sql"),
    include_str!("../migrations/postgres/0004_names.sql"),
    include_str!("../migrations/postgres/0005_search.sql"),
    include_str!("../migrations/postgres/0006_seen.sql"),
    include_str!("../migrations/postgres/0007_citing.sql"),
    include_str!("../migrations/postgres/0008_tombstones.sql"),
];

/// The schema that added slugs: older debates get theirs in the same transaction.
const SLUGS: i64 = 4;

/// Creates or migrates the tables. An error leaves them unchanged.
pub(super) fn bring_up_to_date(session: &PostgresSession) -> Result<(), String> {
    // The first server migrates; the others wait for the lock and find it done.
    session.command(
        "set statement_timeout = '10min'; set lock_timeout = '10min'; begin;
        select pg_advisory_xact_lock(1635214434)",
    );
    let done = migrate(session);
    session.command(if done.is_ok() { "commit" } else { "rollback" });
    done?;
    session.settle().map_err(|failure| failure.to_string())
}

/// Whether the tables have this version's schema.
pub(super) fn is_up_to_date(session: &PostgresSession) -> Result<bool, String> {
    let known = i64::try_from(MIGRATIONS.len()).expect("there are a handful");
    Ok(schema(&Db::Postgres(session))? == known)
}

fn migrate(session: &PostgresSession) -> Result<(), String> {
    let db = Db::Postgres(session);
    let text = |failure: crate::Failure| failure.to_string();
    let schema = schema(&db)?;
    for (number, sql) in (1i64..).zip(MIGRATIONS) {
        if number > schema {
            session.command(sql);
            db.run("update meta set value = ?1 where name = 'schema'", values![number])
                .map_err(text)?;
        }
    }
    if schema < SLUGS {
        slugs::name_all(&db).map_err(text)?;
    }
    session.settle().map_err(text)
}

/// The number of the schema; 0 for none.
fn schema(db: &Db<'_>) -> Result<i64, String> {
    let text = |failure: crate::Failure| failure.to_string();
    let known = i64::try_from(MIGRATIONS.len()).expect("there are a handful");
    let ours = "select to_regclass('debates') is not null, to_regclass('meta') is not null";
    let (debates, meta): (bool, bool) =
        db.one(ours, values![], |row| Ok((row.get(0)?, row.get(1)?))).map_err(text)?;
    let schema = match (debates, meta) {
        (false, _) => 0,
        (true, false) => {
            return Err("it holds tables with aw's names that are not aw's: choose another \
                        database or schema; this one was left untouched"
                .to_owned());
        }
        (true, true) => {
            let sql = "select value from meta where name = 'schema'";
            db.one(sql, values![], |row| row.get(0)).map_err(text)?
        }
    };
    if schema > known {
        return Err(format!(
            "it was written by a newer aw (schema {schema}, this one supports up to {known}): install that \
             version or a later one; the database was left untouched"
        ));
    }
    Ok(schema)
}
