//! Runs the store's statements in SQLite or PostgreSQL.
//!
//! A [`Db`] runs a statement with numbered parameters (`?1`) and returns its rows one by one. A missing
//! row or an unreadable column is damage. The few statements that differ between the databases are in
//! `counts.rs` and `search/`.

use std::borrow::Cow;
use std::ops::ControlFlow;

use rusqlite::types::{FromSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql, params_from_iter};
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{self as postgres, IsNull};
use uuid::Uuid;

use super::postgres::PostgresSession;
use crate::{Damage, Failure};

/// A connection, usually inside a transaction.
#[derive(Debug, Clone, Copy)]
pub(super) enum Db<'a> {
    /// A SQLite file.
    Sqlite(&'a Connection),
    /// A PostgreSQL session.
    Postgres(&'a PostgresSession),
}

impl Db<'_> {
    /// Runs a statement without a result.
    pub(super) fn run(&self, sql: &str, values: &[Value<'_>]) -> Result<(), Failure> {
        match self {
            Db::Sqlite(db) => {
                db.prepare_cached(sql)?.execute(params_from_iter(values))?;
                Ok(())
            }
            Db::Postgres(db) => db.run(sql, values),
        }
    }

    /// Runs a statement without a result once for each row of values.
    pub(super) fn run_each(&self, sql: &str, rows: &[Vec<Value<'_>>]) -> Result<(), Failure> {
        match self {
            Db::Sqlite(_) if rows.is_empty() => Ok(()),
            Db::Sqlite(db) => {
                let mut statement = db.prepare_cached(sql)?;
                for row in rows {
                    statement.execute(params_from_iter(row))?;
                }
                Ok(())
            }
            Db::Postgres(db) => rows.iter().try_for_each(|row| db.run(sql, row)),
        }
    }

    /// Prepares for reads that do not depend on each other: PostgreSQL makes them in one round trip.
    /// They are then made as usual.
    pub(super) fn together(
        &self,
        reads: &[&dyn Fn() -> Result<(), Failure>],
    ) -> Result<(), Failure> {
        let Db::Postgres(db) = self else { return Ok(()) };
        if db.is_in_wave() {
            let failed: Vec<Failure> = reads.iter().filter_map(|read| read().err()).collect();
            if db.is_stopped() {
                return failed.into_iter().next().map_or(Ok(()), Err);
            }
        }
        Ok(())
    }

    /// Waits until all statements are done: until then PostgreSQL may still refuse one.
    pub(super) fn settle(&self) -> Result<(), Failure> {
        match self {
            Db::Sqlite(_) => Ok(()),
            Db::Postgres(db) => db.settle(),
        }
    }

    /// Whether this same attempt may be in the record already, by a commit whose answer was lost.
    pub(super) fn is_unsure(&self) -> bool {
        match self {
            Db::Sqlite(_) => false,
            Db::Postgres(db) => db.is_unsure(),
        }
    }

    /// Passes each row to `read` until it returns `Break`.
    pub(super) fn each(
        &self,
        sql: &str,
        values: &[Value<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<ControlFlow<()>, Failure>,
    ) -> Result<(), Failure> {
        match self {
            Db::Sqlite(db) => {
                let mut statement = db.prepare_cached(sql)?;
                let mut rows = statement.query(params_from_iter(values))?;
                while let Some(row) = rows.next()? {
                    if read(&Row::Sqlite(row))?.is_break() {
                        break;
                    }
                }
            }
            Db::Postgres(db) => {
                for row in db.query(sql, values)?.iter() {
                    if read(&Row::Postgres(row))?.is_break() {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// All rows.
    pub(super) fn all<T>(
        &self,
        sql: &str,
        values: &[Value<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<T, Failure>,
    ) -> Result<Vec<T>, Failure> {
        let mut all = Vec::new();
        self.each(sql, values, |row| {
            all.push(read(row)?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(all)
    }

    /// The first row, if there is one.
    pub(super) fn optional<T>(
        &self,
        sql: &str,
        values: &[Value<'_>],
        read: impl FnOnce(&Row<'_>) -> Result<T, Failure>,
    ) -> Result<Option<T>, Failure> {
        match self {
            Db::Sqlite(db) => {
                let mut statement = db.prepare_cached(sql)?;
                let mut rows = statement.query(params_from_iter(values))?;
                rows.next()?.map(|row| read(&Row::Sqlite(row))).transpose()
            }
            Db::Postgres(db) => {
                db.query(sql, values)?.first().map(|row| read(&Row::Postgres(row))).transpose()
            }
        }
    }

    /// The first row, which must be there.
    pub(super) fn one<T>(
        &self,
        sql: &str,
        values: &[Value<'_>],
        read: impl FnOnce(&Row<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.optional(sql, values, read)?.ok_or_else(|| Damage::new("a row is missing").into())
    }

    /// Whether the query has a row.
    pub(super) fn exists(&self, sql: &str, values: &[Value<'_>]) -> Result<bool, Failure> {
        Ok(self.optional(sql, values, |_| Ok(()))?.is_some())
    }
}

/// A parameter of a statement.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Value<'a> {
    /// Nothing.
    Null,
    /// A number.
    Integer(i64),
    /// True or false.
    Flag(bool),
    /// A text.
    Text(Cow<'a, str>),
    /// 16 bytes.
    Id(Uuid),
    /// 32 bytes.
    Hash([u8; 32]),
}

impl Value<'_> {
    /// An owned copy.
    pub(super) fn kept(&self) -> Value<'static> {
        match self {
            Value::Null => Value::Null,
            Value::Integer(number) => Value::Integer(*number),
            Value::Flag(flag) => Value::Flag(*flag),
            Value::Text(text) => Value::Text(Cow::Owned(text.clone().into_owned())),
            Value::Id(id) => Value::Id(*id),
            Value::Hash(hash) => Value::Hash(*hash),
        }
    }

    /// Whether a parameter of this type of PostgreSQL takes it.
    fn fits(&self, kind: &postgres::Type) -> bool {
        use postgres::Type;
        match self {
            Value::Null => true,
            Value::Integer(_) => *kind == Type::INT8,
            Value::Flag(_) => *kind == Type::BOOL,
            Value::Text(_) => *kind == Type::TEXT,
            Value::Id(_) | Value::Hash(_) => *kind == Type::BYTEA,
        }
    }

    /// Whether an array of this type takes it.
    pub(super) fn fits_in(&self, array: &postgres::Type) -> bool {
        matches!(array.kind(), postgres::Kind::Array(kind) if self.fits(kind))
    }
}

/// The parameters of a statement, in order.
macro_rules! values {
    ($($value:expr),* $(,)?) => { &[$($crate::store::db::Value::from($value)),*] };
}
pub(super) use values;

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Value::Integer(number)
    }
}

impl From<u64> for Value<'_> {
    /// Saturates at the greatest number of the databases, which no count reaches.
    fn from(number: u64) -> Self {
        Value::Integer(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<bool> for Value<'_> {
    fn from(flag: bool) -> Self {
        Value::Flag(flag)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Value::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Value::Text(Cow::Owned(text))
    }
}

impl From<Uuid> for Value<'_> {
    fn from(id: Uuid) -> Self {
        Value::Id(id)
    }
}

impl From<[u8; 32]> for Value<'_> {
    fn from(hash: [u8; 32]) -> Self {
        Value::Hash(hash)
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Value::Null => ValueRef::Null,
            Value::Integer(number) => ValueRef::Integer(*number),
            Value::Flag(flag) => ValueRef::Integer(i64::from(*flag)),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Id(id) => ValueRef::Blob(id.as_bytes()),
            Value::Hash(hash) => ValueRef::Blob(hash),
        }))
    }
}

impl postgres::ToSql for Value<'_> {
    fn to_sql(
        &self,
        kind: &postgres::Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Value::Null => Ok(IsNull::Yes),
            Value::Integer(number) => postgres::ToSql::to_sql(number, kind, out),
            Value::Flag(flag) => postgres::ToSql::to_sql(flag, kind, out),
            Value::Text(text) => postgres::ToSql::to_sql(&text.as_ref(), kind, out),
            Value::Id(id) => postgres::ToSql::to_sql(&id.as_bytes().as_slice(), kind, out),
            Value::Hash(hash) => postgres::ToSql::to_sql(&hash.as_slice(), kind, out),
        }
    }

    fn accepts(_: &postgres::Type) -> bool {
        // `to_sql_checked` checks each kind.
        true
    }

    fn to_sql_checked(
        &self,
        kind: &postgres::Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        if !self.fits(kind) {
            return Err(format!("{self:?} is no {kind}").into());
        }
        postgres::ToSql::to_sql(self, kind, out)
    }
}

/// A row of a result.
#[derive(Debug, Clone, Copy)]
pub(super) enum Row<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    Postgres(&'a tokio_postgres::Row),
}

impl Row<'_> {
    /// The value of a column; the first is 0.
    pub(super) fn get<T: Cell>(&self, column: usize) -> Result<T, Failure> {
        match self {
            Row::Sqlite(row) => Ok(row.get(column)?),
            Row::Postgres(row) => Ok(T::made_of(raw(row, column)?)?),
        }
    }

    /// The text in a column.
    pub(super) fn text(&self, column: usize) -> Result<&str, Failure> {
        match self {
            Row::Sqlite(row) => Ok(row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?),
            Row::Postgres(row) => raw(row, column),
        }
    }

    /// Whether a column holds true, false or null: SQLite takes any other number for true.
    pub(super) fn is_flag(&self, column: usize) -> Result<bool, Failure> {
        match self {
            Row::Sqlite(row) => {
                Ok(matches!(row.get_ref(column)?, ValueRef::Integer(0 | 1) | ValueRef::Null))
            }
            Row::Postgres(_) => Ok(true),
        }
    }
}

/// The value as PostgreSQL stores it.
fn raw<'r, T: postgres::FromSql<'r>>(
    row: &'r tokio_postgres::Row,
    column: usize,
) -> Result<T, Failure> {
    row.try_get(column).map_err(|error| Damage::new(error.to_string()).into())
}

/// A type that a column can hold.
pub(super) trait Cell: FromSql {
    /// How PostgreSQL stores it.
    type Raw<'r>: postgres::FromSql<'r>;

    fn made_of(raw: Self::Raw<'_>) -> Result<Self, Damage>;
}

/// Types that PostgreSQL stores unchanged.
macro_rules! kept {
    ($($kind:ty),*) => { $(
        impl Cell for $kind {
            type Raw<'r> = $kind;

            fn made_of(raw: $kind) -> Result<Self, Damage> {
                Ok(raw)
            }
        }
    )* };
}
kept!(i64, bool, String);

impl Cell for u64 {
    type Raw<'r> = i64;

    fn made_of(raw: i64) -> Result<Self, Damage> {
        u64::try_from(raw).map_err(|error| Damage::new(error.to_string()))
    }
}

impl Cell for Uuid {
    type Raw<'r> = &'r [u8];

    fn made_of(raw: &[u8]) -> Result<Self, Damage> {
        Uuid::from_slice(raw).map_err(|error| Damage::new(error.to_string()))
    }
}

impl Cell for [u8; 32] {
    type Raw<'r> = &'r [u8];

    fn made_of(raw: &[u8]) -> Result<Self, Damage> {
        raw.try_into().map_err(|_| Damage::new("a hash has 32 bytes"))
    }
}

impl<T: Cell> Cell for Option<T> {
    type Raw<'r> = Option<T::Raw<'r>>;

    fn made_of(raw: Option<T::Raw<'_>>) -> Result<Self, Damage> {
        raw.map(T::made_of).transpose()
    }
}
