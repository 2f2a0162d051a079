//! One language for the statements of the store.
//!
//! A [`Db`] runs a statement with numbered parameters (`?1`) and hands out what it finds row by
//! row. What is missing or unreadable in a row is damage: the statements say what must be there.

use std::borrow::Cow;
use std::ops::ControlFlow;

use rusqlite::types::{FromSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql, params_from_iter};
use uuid::Uuid;

use crate::{Damage, Failure};

/// A transaction, or whatever else statements run in.
#[derive(Debug, Clone, Copy)]
pub(super) enum Db<'a> {
    /// In a SQLite file.
    Sqlite(&'a Connection),
}

impl Db<'_> {
    /// Runs a statement for what it does.
    pub(super) fn run(&self, sql: &str, values: &[Value<'_>]) -> Result<(), Failure> {
        match self {
            Db::Sqlite(db) => {
                db.prepare_cached(sql)?.execute(params_from_iter(values))?;
                Ok(())
            }
        }
    }

    /// Hands each row to `read`, until it has seen enough.
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
                Ok(())
            }
        }
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

    /// Whether there is a row.
    pub(super) fn exists(&self, sql: &str, values: &[Value<'_>]) -> Result<bool, Failure> {
        Ok(self.optional(sql, values, |_| Ok(()))?.is_some())
    }
}

/// What a statement is given.
#[derive(Debug, Clone, PartialEq)]
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

/// What a statement is given, in order.
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
    /// Nothing is numbered or counted beyond the greatest number that a database knows.
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

/// A row that a statement found.
#[derive(Debug, Clone, Copy)]
pub(super) enum Row<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
}

impl Row<'_> {
    /// What stands in a column, of which the first is 0.
    pub(super) fn get<T: Cell>(&self, column: usize) -> Result<T, Failure> {
        match self {
            Row::Sqlite(row) => Ok(row.get(column)?),
        }
    }

    /// The text in a column.
    pub(super) fn text(&self, column: usize) -> Result<&str, Failure> {
        match self {
            Row::Sqlite(row) => Ok(row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?),
        }
    }

    /// Whether a column holds true, false or nothing: SQLite takes any other number for true.
    pub(super) fn is_flag(&self, column: usize) -> Result<bool, Failure> {
        match self {
            Row::Sqlite(row) => {
                Ok(matches!(row.get_ref(column)?, ValueRef::Integer(0 | 1) | ValueRef::Null))
            }
        }
    }
}

/// What can stand in a column.
pub(super) trait Cell: FromSql {}

impl Cell for i64 {}
impl Cell for u64 {}
impl Cell for bool {}
impl Cell for String {}
impl Cell for Uuid {}
impl Cell for [u8; 32] {}
impl<T: Cell> Cell for Option<T> {}
