//! Changes every cell and removes every row of the record once; verification must find each.

use aw_core::DebateId;
use aw_record::{Damage, Engine};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use uuid::Uuid;

use super::shapes::every_shape;
use super::{burglar, open, walk};

/// The verified tables. Seats and passes may change.
const TABLES: [&str; 15] = [
    "debates",
    "arguments",
    "type_texts",
    "documents",
    "document_versions",
    "citations",
    "debate_documents",
    "debate_counts",
    "document_counts",
    "seals",
    "points",
    "point_documents",
    "point_turns",
    "point_quotes",
    "search_rows",
];

#[tokio::test]
async fn a_change_of_any_cell_is_found() {
    let shapes = every_shape().await;
    let (engine, db) = (open(&shapes.path), burglar(&shapes.path));
    let (mut changed, mut refused) = (0, 0);
    for name in TABLES {
        let table = Table::read(&db, name);
        for row in &table.rows {
            for column in 0..table.columns.len() {
                // Whether lists leave a debate out, and what a document is called, may change.
                let may_change = [("debates", "archived_at"), ("documents", "title")];
                if may_change.contains(&(name, table.columns[column].as_str())) {
                    continue;
                }
                for value in others(&row[column]).into_iter().filter(|value| *value != row[column])
                {
                    let mut other = row.clone();
                    other[column] = value;
                    // The keys of the schema refuse some changes.
                    if !table.replace(&db, row, &other) {
                        refused += 1;
                        continue;
                    }
                    let what = format!("{name}.{} of {row:?}: {other:?}", table.columns[column]);
                    table.expect(&db, &engine, row, column, &what).await;
                    // Read back, because a column may convert the value.
                    let stored = table.like(&db, &other, column);
                    assert!(table.replace(&db, &stored, row), "{what}: cannot be undone");
                    changed += 1;
                }
            }
        }
    }
    assert!(changed > 1_000 && refused < changed, "{changed} changed, {refused} refused");
    assert_eq!(walk(&engine).await.damages, [], "all was undone");
}

#[tokio::test]
async fn a_removed_row_is_found() {
    let shapes = every_shape().await;
    let (engine, db) = (open(&shapes.path), burglar(&shapes.path));
    for name in TABLES {
        let table = Table::read(&db, name);
        for row in &table.rows {
            let gone = format!("delete from {name} where {}", table.is());
            assert_eq!(db.execute(&gone, params_from_iter(row)).unwrap(), 1);
            let what = format!("{name}: {row:?} is gone");
            table.expect(&db, &engine, row, usize::MAX, &what).await;
            let places = vec!["?"; row.len()].join(", ");
            let back =
                format!("insert into {name} ({}) values ({places})", table.columns.join(", "));
            db.execute(&back, params_from_iter(row)).unwrap();
        }
    }
    assert_eq!(walk(&engine).await.damages, [], "all was put back");
}

/// A table with all its rows.
struct Table {
    name: &'static str,
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
}

impl Table {
    fn read(db: &Connection, name: &'static str) -> Self {
        let mut statement = db.prepare(&format!("select * from {name}")).unwrap();
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let rows = statement
            .query_map([], |row| (0..columns.len()).map(|column| row.get(column)).collect())
            .unwrap()
            .collect::<Result<Vec<Vec<Value>>, _>>()
            .unwrap();
        assert!(!rows.is_empty(), "{name} is empty: a shape is missing");
        Table { name, columns, rows }
    }

    /// The condition that selects one row.
    fn is(&self) -> String {
        let same: Vec<String> =
            self.columns.iter().map(|column| format!("{column} is ?")).collect();
        same.join(" and ")
    }

    /// Replaces a row, if the schema's keys allow it.
    fn replace(&self, db: &Connection, row: &[Value], other: &[Value]) -> bool {
        let set: Vec<String> = self.columns.iter().map(|column| format!("{column} = ?")).collect();
        let sql = format!("update {} set {} where {}", self.name, set.join(", "), self.is());
        let all = other.iter().chain(row);
        db.execute(&sql, params_from_iter(all)).is_ok_and(|rows| rows == 1)
    }

    /// The row that equals this one except in one column.
    fn like(&self, db: &Connection, row: &[Value], column: usize) -> Vec<Value> {
        let now = Table::read(db, self.name);
        let same = |other: &&Vec<Value>| {
            (0..row.len()).all(|place| place == column || other[place] == row[place])
        };
        let known: Vec<&Vec<Value>> =
            now.rows.iter().filter(|other| !self.rows.contains(other)).collect();
        known.into_iter().find(same).unwrap().clone()
    }

    fn value<'a>(&self, row: &'a [Value], column: &str) -> &'a Value {
        &row[self.columns.iter().position(|name| name == column).unwrap()]
    }

    /// Asserts that verification finds the change and names its place.
    async fn expect(
        &self,
        db: &Connection,
        engine: &Engine,
        row: &[Value],
        column: usize,
        what: &str,
    ) {
        let damages = walk(engine).await.damages;
        assert!(!damages.is_empty(), "{what}: was not found");
        let is_key = |column: &str| matches!(column, "key" | "id");
        let renamed = self.columns.get(column).is_some_and(|name| is_key(name));
        let found = match self.name {
            "arguments" => {
                let debate = debate(db, self.value(row, "debate_key"));
                let seq = number(self.value(row, "seq"));
                let place = |d: &Damage| d.debate == debate && d.seq.map(|seq| seq.0) == Some(seq);
                damages.iter().any(place)
            }
            "document_versions" => {
                let version = number(self.value(row, "version"));
                damages.iter().any(|d| d.document.is_some() && d.version == Some(version))
            }
            "debates" if column < self.columns.len() && !renamed => {
                let debate = debate(db, self.value(row, "key"));
                damages.iter().any(|damage| damage.debate == debate)
            }
            _ => true,
        };
        assert!(found, "{what}: {damages:?}");
    }
}

fn debate(db: &Connection, key: &Value) -> Option<DebateId> {
    let id = "select id from debates where key = ?1";
    db.query_row(id, [key], |row| row.get::<_, Uuid>(0)).ok().map(Into::into)
}

fn number(value: &Value) -> u64 {
    let Value::Integer(number) = value else { panic!("{value:?}") };
    number.cast_unsigned()
}

/// Other values for a cell: similar ones, and ones of other kinds.
fn others(value: &Value) -> Vec<Value> {
    let text = |text: &str| Value::Text(text.to_owned());
    match value {
        Value::Null => vec![Value::Integer(1), text("x"), Value::Blob(vec![7; 16])],
        Value::Integer(number) => {
            vec![Value::Integer(number + 1), Value::Integer(-number - 1), Value::Null, text("x")]
        }
        Value::Text(word) => vec![
            text(&format!("{word}.")),
            text(&word.chars().skip(1).collect::<String>()),
            Value::Blob(word.clone().into_bytes()),
            Value::Null,
        ],
        Value::Blob(bytes) => {
            let mut flipped = bytes.clone();
            if let Some(last) = flipped.last_mut() {
                *last ^= 1;
            }
            vec![Value::Blob(flipped), Value::Blob(Vec::new()), Value::Null, text("x")]
        }
        Value::Real(number) => panic!("{number}: no column has fractions"),
    }
}
