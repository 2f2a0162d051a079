//! Moves a record from one database to another, between SQLite and PostgreSQL in either direction.
//!
//! The source is only read, from one snapshot. Debates, documents and seats keep their order and get
//! new keys without gaps, because PostgreSQL leaves gaps and SQLite has none. They are written in
//! batches, each in one transaction. An interrupted move continues after the greatest key in the
//! target. Until the move is complete the target is marked, and no server opens it. At the end the
//! rows of both are counted and compared, and the target is verified.

mod tables;

use std::fs;
use std::path::Path;

use aw_core::{DebateType, State};
use rusqlite::Connection;
use tokio::runtime::Handle;

use super::db::{Db, Row, Value, values};
use super::postgres::{Postgres, PostgresSource};
use super::{
    LockKey, OpenError, Place, Store, StoreOptions, beside, connection, counts, left_log, migrate,
    restore, unannounced,
};
use crate::{Clock, Damage, Engine, Failure};
use tables::ColumnKind::{self, Debate, Document, Flag, Hash, Id, Number, Seat, Text};
use tables::{FAMILIES, Family, Table};

/// How many rows are written in one transaction.
const PIECE: u64 = 2_000;

/// Why a record was not moved. The source is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// The source or the target could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The target is not empty and does not hold the beginning of this record.
    #[error("{place} is not empty and does not hold the beginning of this record")]
    Taken {
        /// The target, without a password.
        place: String,
    },
    /// The source and the target are the same.
    #[error("source and target are the same: {place}")]
    Same {
        /// The location.
        place: String,
    },
    /// The target differs from the source.
    #[error("the target differs from the source: {what}")]
    Differs {
        /// The difference.
        what: String,
    },
    /// A database failed.
    #[error("{0}")]
    Failed(Failure),
}

impl From<Failure> for TransferError {
    fn from(failure: Failure) -> Self {
        TransferError::Failed(failure)
    }
}

/// The counts of moved rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Transferred {
    /// Debates, including deleted ones.
    pub debates: u64,
    /// Their arguments.
    pub arguments: u64,
    /// Documents, including deleted ones.
    pub documents: u64,
    /// Their versions.
    pub versions: u64,
    /// Seats.
    pub seats: u64,
}

/// Moves a record and verifies the result. Calls `progress` with the rows done and their total.
///
/// It blocks, so it must not be called on an async thread.
pub fn transfer(
    from: &Place,
    to: &Place,
    mut progress: impl FnMut(u64, u64),
) -> Result<Transferred, TransferError> {
    if from.to_string() == to.to_string() {
        return Err(TransferError::Same { place: to.to_string() });
    }
    let source = SourceDatabase::open(from)?;
    let source = source.db();
    let target = Store::open(&StoreOptions {
        half_moved: true,
        docstores: Vec::new(),
        ..StoreOptions::at(to.clone())
    })?;
    let target = TargetStore { store: target, runtime: Handle::current() };
    target.begin(to, fingerprint(&source)?)?;

    let numbers = KeyMap::of(&source)?;
    let all = rows(&source)?;
    let mut done = rows(&target)?;
    progress(done, all);
    for family in FAMILIES {
        let mut after = numbers.here(family, target.newest(family)?);
        while let Some((until, piece)) = RowBatch::read(&source, &numbers, family, after)? {
            after = until;
            done += piece.len();
            target.write(family, piece)?;
            progress(done.min(all), all);
        }
    }
    compare(&source, &target)?;
    let transferred = Transferred {
        debates: count(&source, "debates")?,
        arguments: count(&source, "arguments")?,
        documents: count(&source, "documents")?,
        versions: count(&source, "document_versions")?,
        seats: count(&source, "seats")?,
    };
    target.finish()?;
    Ok(transferred)
}

/// The keys in the source, in order. The index of a key plus one is its key in the target.
struct KeyMap {
    debates: Vec<i64>,
    documents: Vec<i64>,
    seats: Vec<i64>,
}

impl KeyMap {
    fn of(source: &Db<'_>) -> Result<Self, Failure> {
        let keys = |table: &str| {
            source
                .all(&format!("select key from {table} order by key"), values![], |row| row.get(0))
        };
        Ok(KeyMap {
            debates: keys("debates")?,
            documents: keys("documents")?,
            seats: keys("seats")?,
        })
    }

    fn of_kind(&self, kind: ColumnKind) -> &[i64] {
        match kind {
            Document => &self.documents,
            Seat => &self.seats,
            _ => &self.debates,
        }
    }

    /// The key in the target for this key in the source.
    fn there(&self, kind: ColumnKind, old: i64) -> Result<i64, Failure> {
        let place = self
            .of_kind(kind)
            .binary_search(&old)
            .map_err(|_| Damage::new(format!("a row refers to key {old}, which does not exist")))?;
        Ok(i64::try_from(place).unwrap_or(i64::MAX - 1) + 1)
    }

    /// The key in the source for this key in the target; 0 before the first.
    fn here(&self, family: &Family, new: i64) -> i64 {
        let keys = self.of_kind(family.tables[0].columns[0].1);
        let place = usize::try_from(new - 1).ok();
        place.and_then(|place| keys.get(place).copied()).unwrap_or(if new > 0 {
            i64::MAX
        } else {
            0
        })
    }
}

/// Rows of a family, by table.
#[derive(Clone)]
struct RowBatch {
    /// The greatest key in it.
    until: i64,
    rows: Vec<Vec<Vec<Value<'static>>>>,
}

impl RowBatch {
    /// The next batch after a key of the source, with its last key; `None` at the end.
    fn read(
        source: &Db<'_>,
        numbers: &KeyMap,
        family: &Family,
        after: i64,
    ) -> Result<Option<(i64, Self)>, Failure> {
        let first = &family.tables[0];
        let sql = format!(
            "select {}, cast({} as bigint) from {} where {} > ?1 order by {} limit {PIECE}",
            first.key, family.weight, first.name, first.key, first.order
        );
        let (mut until, mut weight) = (None, 0);
        let heavy = |row: &Row<'_>| Ok((row.get::<i64>(0)?, row.get::<i64>(1)?));
        for (key, rows) in source.all(&sql, values![after], heavy)? {
            // Rows of one key stay in one batch.
            if until.is_some_and(|until| until != key) && weight >= PIECE {
                break;
            }
            until = Some(key);
            weight += u64::try_from(rows).unwrap_or(0);
        }
        let Some(until) = until else { return Ok(None) };
        let rows = family.tables.iter().map(|table| {
            let columns: Vec<&str> = table.columns.iter().map(|(name, _)| *name).collect();
            let sql = format!(
                "select {} from {} where {} and {} > ?1 and {} <= ?2 order by {}",
                columns.join(", "),
                table.name,
                table.only,
                table.key,
                table.key,
                table.order
            );
            source.all(&sql, values![after, until], |row| {
                let cells = table.columns.iter().enumerate();
                cells.map(|(column, (_, kind))| cell(row, column, *kind, numbers)).collect()
            })
        });
        let rows = rows.collect::<Result<_, _>>()?;
        let piece = RowBatch { until: numbers.there(first.columns[0].1, until)?, rows };
        Ok(Some((until, piece)))
    }

    fn len(&self) -> u64 {
        self.rows.iter().map(|rows| rows.len() as u64).sum()
    }

    /// Writes the batch, unless it is in the target already.
    fn write(&self, db: &Db<'_>, family: &Family) -> Result<(), Failure> {
        if newest(db, family)? >= self.until {
            // An earlier attempt was committed, but its answer was lost.
            return Ok(());
        }
        for (table, rows) in family.tables.iter().zip(&self.rows) {
            let columns: Vec<&str> = table.columns.iter().map(|(name, _)| *name).collect();
            let places: Vec<String> = (1..=columns.len()).map(|it| format!("?{it}")).collect();
            let sql = format!(
                "insert into {} ({}) values ({})",
                table.name,
                columns.join(", "),
                places.join(", ")
            );
            for row in rows {
                db.run(&sql, row)?;
                count_row(db, table, row)?;
            }
        }
        Ok(())
    }
}

/// Writes the counts, which the databases store differently. The target makes a search index of its own.
fn count_row(db: &Db<'_>, table: &Table, row: &[Value<'_>]) -> Result<(), Failure> {
    let text = |column: usize| match &row[column] {
        Value::Text(text) => text.as_ref(),
        _ => "",
    };
    match table.name {
        "debates" if row[16] == Value::Null => {
            // Archived debates are not counted.
            let is_counted = row.last() == Some(&Value::Null);
            let state: Option<State> = text(5).parse().ok().filter(|_| is_counted);
            counts::move_debate(db, &DebateType::recorded(text(3).to_owned()), None, state)
        }
        "documents" => {
            let live = row[6] == Value::Null;
            counts::add_documents(db, i64::from(live), i64::from(!live))
        }
        _ => Ok(()),
    }
}

fn cell(
    row: &Row<'_>,
    column: usize,
    kind: ColumnKind,
    numbers: &KeyMap,
) -> Result<Value<'static>, Failure> {
    Ok(match kind {
        Debate | Document | Seat => {
            let old = row.get::<Option<i64>>(column)?;
            old.map(|old| numbers.there(kind, old)).transpose()?.into()
        }
        Number => row.get::<Option<i64>>(column)?.into(),
        Flag => row.get::<Option<bool>>(column)?.into(),
        Text => row.get::<Option<String>>(column)?.into(),
        Id => row.get::<Option<uuid::Uuid>>(column)?.into(),
        Hash => row.get::<Option<[u8; 32]>>(column)?.into(),
    })
}

/// The greatest key of a family.
fn newest(db: &Db<'_>, family: &Family) -> Result<i64, Failure> {
    let first = &family.tables[0];
    let sql = format!("select coalesce(max({}), 0) from {}", first.key, first.name);
    db.one(&sql, values![], |row| row.get(0))
}

/// Whether a move to this database was interrupted.
pub(super) fn is_half_moved(db: &Db<'_>) -> Result<bool, Failure> {
    db.exists("select 1 from meta where name = 'half_moved'", values![])
}

/// Identifies a record by its first debate, so that an interrupted move continues with the same one.
fn fingerprint(db: &Db<'_>) -> Result<i64, Failure> {
    let sql = "select id from debates order by key limit 1";
    let first = db.optional(sql, values![], |row| row.get::<uuid::Uuid>(0))?;
    let number = first.map_or(0, |id| id.as_u64_pair().0 >> 1);
    Ok(i64::try_from(number).unwrap_or(1).max(1))
}

fn count(db: &Db<'_>, table: &str) -> Result<u64, Failure> {
    db.one(&format!("select count(*) from {table}"), values![], |row| row.get(0))
}

/// How many rows a move has.
fn rows(read: &impl Reads) -> Result<u64, Failure> {
    let mut all = 0;
    for table in FAMILIES.iter().flat_map(|family| family.tables) {
        let sql = format!("select count(*) from {} where {}", table.name, table.only);
        all += read.number(sql)?;
    }
    Ok(all)
}

/// Queries that run on the source and on the target.
trait Reads {
    fn number(&self, sql: String) -> Result<u64, Failure>;

    /// The ids and last hashes of rows after a key.
    fn tips(&self, sql: &'static str, after: i64) -> Result<Vec<Tip>, Failure>;
}

type Tip = (i64, Option<uuid::Uuid>, Option<[u8; 32]>);

fn tip(row: &Row<'_>) -> Result<Tip, Failure> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
}

impl Reads for Db<'_> {
    fn number(&self, sql: String) -> Result<u64, Failure> {
        self.one(&sql, values![], |row| row.get(0))
    }

    fn tips(&self, sql: &'static str, after: i64) -> Result<Vec<Tip>, Failure> {
        self.all(sql, values![after], tip)
    }
}

/// The database that the record is moved to.
struct TargetStore {
    store: Store,
    runtime: Handle,
}

impl Reads for TargetStore {
    fn number(&self, sql: String) -> Result<u64, Failure> {
        self.read(move |db| db.number(sql))
    }

    fn tips(&self, sql: &'static str, after: i64) -> Result<Vec<Tip>, Failure> {
        self.read(move |db| db.tips(sql, after))
    }
}

impl TargetStore {
    fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Db<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        self.runtime.block_on(self.store.read(work))
    }

    fn change<T: Send + 'static>(
        &self,
        work: impl FnMut(&Db<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        self.runtime.block_on(self.store.write(LockKey::Nothing, unannounced, work))
    }

    /// Marks an empty target as half moved, or checks the mark of an earlier attempt.
    fn begin(&self, place: &Place, fingerprint: i64) -> Result<(), TransferError> {
        let is_ours = self.change(move |db| {
            let sql = "select value from meta where name = 'half_moved'";
            if let Some(of) = db.optional(sql, values![], |row| row.get::<i64>(0))? {
                return Ok(of == fingerprint);
            }
            for table in ["debates", "documents", "seats"] {
                if db.exists(&format!("select 1 from {table} limit 1"), values![])? {
                    return Ok(false);
                }
            }
            let sql = "insert into meta (name, value) values ('half_moved', ?1)";
            db.run(sql, values![fingerprint])?;
            Ok(true)
        })?;
        if is_ours { Ok(()) } else { Err(TransferError::Taken { place: place.to_string() }) }
    }

    fn newest(&self, family: &'static Family) -> Result<i64, Failure> {
        self.read(move |db| newest(db, family))
    }

    fn write(&self, family: &'static Family, piece: RowBatch) -> Result<(), Failure> {
        self.change(move |db| piece.write(db, family))
    }

    /// Verifies the target and removes the mark.
    fn finish(&self) -> Result<(), Failure> {
        let engine = Engine::new(self.store.clone(), Clock::system());
        self.runtime.block_on(async {
            let mut after = None;
            loop {
                let piece = engine.verify_on(after).await?;
                if let Some(damage) = piece.damages.into_iter().next() {
                    return Err(Failure::from(damage));
                }
                match piece.next {
                    Some(next) => after = Some(next),
                    None => return Ok(()),
                }
            }
        })?;
        self.change(|db| {
            if let Db::Postgres(_) = db {
                for table in ["debates", "documents", "seats"] {
                    let sql = format!(
                        "select setval(pg_get_serial_sequence('{table}', 'key'),
                             (select coalesce(max(key), 0) + 1 from {table}), false)"
                    );
                    db.one(&sql, values![], |_| Ok(()))?;
                }
            }
            db.run("delete from meta where name = 'half_moved'", values![])
        })?;
        self.runtime.block_on(engine.close());
        Ok(())
    }
}

/// Compares the counts and the last hashes of source and target.
fn compare(source: &Db<'_>, target: &TargetStore) -> Result<(), TransferError> {
    for table in FAMILIES.iter().flat_map(|family| family.tables) {
        let sql = format!("select count(*) from {} where {}", table.name, table.only);
        let (there, here) = (source.number(sql.clone())?, target.number(sql)?);
        if there != here {
            let what = format!("{} has {here} rows instead of {there}", table.name);
            return Err(TransferError::Differs { what });
        }
    }
    for sql in [
        "select debates.key, debates.id, hash from debates
         join arguments on debate_key = debates.key and seq = last_seq
         where debates.key > ?1 order by debates.key limit 2000",
        "select documents.key, documents.id, hash from documents
         left join seals on thing = 'document' and seals.key = documents.key
             and number = documents.version
         where documents.key > ?1 order by documents.key limit 2000",
        "select key, id, token_hash from seats where key > ?1 order by key limit 2000",
    ] {
        let (mut after_there, mut after_here) = (0, 0);
        loop {
            let (there, here) = (source.tips(sql, after_there)?, target.tips(sql, after_here)?);
            let differs = |((_, id, end), (_, id_here, end_here)): &(&Tip, &Tip)| {
                (id, end) != (id_here, end_here)
            };
            if let Some(((number, id, _), _)) = there.iter().zip(&here).find(differs) {
                let what =
                    format!("key {number} ({}) has another last hash", id.unwrap_or_default());
                return Err(TransferError::Differs { what });
            }
            match (there.last(), here.last()) {
                (Some((there_is, ..)), Some((here_is, ..))) if there.len() == here.len() => {
                    (after_there, after_here) = (*there_is, *here_is);
                }
                (None, None) => break,
                _ => {
                    let what = "one has fewer rows than the other".to_owned();
                    return Err(TransferError::Differs { what });
                }
            }
        }
    }
    Ok(())
}

/// The database that the record is read from.
enum SourceDatabase {
    Sqlite {
        db: Connection,
        /// Held so that no server starts on the source.
        _lock: Option<fs::File>,
    },
    Postgres(PostgresSource),
}

impl SourceDatabase {
    fn open(place: &Place) -> Result<Self, OpenError> {
        match place {
            Place::File(path) => Self::open_file(path),
            Place::Postgres(url) => Ok(SourceDatabase::Postgres(Postgres::open_source(url)?)),
        }
    }

    fn open_file(path: &Path) -> Result<Self, OpenError> {
        let io = |source| OpenError::Io { path: path.to_owned(), source };
        let sqlite = |source| OpenError::Sqlite { path: path.to_owned(), source };
        fs::metadata(path).map_err(io)?;
        let lock = fs::File::open(beside(path, ".lock")).ok();
        if lock.as_ref().is_some_and(|lock| lock.try_lock().is_err()) {
            return Err(OpenError::InUse { path: path.to_owned() });
        }
        if restore::is_unfinished(path) {
            return Err(OpenError::HalfRestored { path: path.to_owned() });
        }
        if let Some(what) = lock.as_ref().and_then(|lock| left_log::damage(path, lock)) {
            return Err(OpenError::Damaged { path: path.to_owned(), what });
        }
        migrate::must_be_up_to_date(path)?;
        let db = connection::reader(path).map_err(sqlite)?;
        // One snapshot for all reads.
        db.execute_batch("begin").map_err(sqlite)?;
        Ok(SourceDatabase::Sqlite { db, _lock: lock })
    }

    fn db(&self) -> Db<'_> {
        match self {
            SourceDatabase::Sqlite { db, .. } => Db::Sqlite(db),
            SourceDatabase::Postgres(source) => Db::Postgres(source.session()),
        }
    }
}
