//! Everything that an attack could have changed: the record with all its rows, who waits where, what is held
//! open, and what the browser keeps.

use rusqlite::types::Value as Cell;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::seats::scene::by_administrator;
use crate::world::World;

/// How everything stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Ledger {
    pub rows: Vec<String>,
    /// The debates as a list shows them, with who waits there.
    debates: Value,
    /// Held waits and open sockets.
    pub held: (u64, u64),
    cookies: Vec<String>,
}

impl Ledger {
    pub async fn of(world: &World, browser: &Browser) -> Self {
        let list = by_administrator(world, reqwest::Method::GET, "/debates", None).await.ok();
        Ledger {
            rows: rows(world),
            debates: list["debates"].clone(),
            held: world.held().await,
            cookies: browser.cookies().await,
        }
    }

    /// What is otherwise now, if anything.
    pub fn differs(&self, now: &Ledger) -> Option<String> {
        let list = |ledger: &Ledger| {
            let debates = ledger.debates.as_array().expect("a list").iter().map(Value::to_string);
            let held = json!(ledger.held).to_string();
            let rest = ledger.cookies.iter().cloned().chain([held]);
            ledger.rows.iter().cloned().chain(debates).chain(rest).collect::<Vec<_>>()
        };
        let (before, after) = (list(self), list(now));
        let gone =
            before.iter().filter(|line| !after.contains(line)).map(|line| format!("- {line}"));
        let come =
            after.iter().filter(|line| !before.contains(line)).map(|line| format!("+ {line}"));
        let lines: Vec<String> = gone.chain(come).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

/// Every row of every table, but for the one that is written to find out whether writing works.
fn rows(world: &World) -> Vec<String> {
    let database = world.database();
    let sql = "select name from sqlite_master where type = 'table' and name <> 'meta'";
    let mut tables = database.prepare(sql).unwrap();
    let tables = tables.query_map([], |row| row.get(0)).unwrap();
    let mut rows = Vec::new();
    for table in tables.collect::<Result<Vec<String>, _>>().unwrap() {
        let mut all = database.prepare(&format!("select * from {table}")).unwrap();
        let columns = all.column_count();
        let found = all.query_map([], |row| {
            (0..columns).map(|column| row.get(column)).collect::<Result<Vec<Cell>, _>>()
        });
        for row in found.unwrap() {
            rows.push(format!("{table}: {:?}", row.unwrap()));
        }
    }
    rows
}
