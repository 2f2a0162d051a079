//! Everything that an attack could change: the rows of the record, presence, held connections and the
//! cookies of the browser.

use rusqlite::types::Value as Cell;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::seats::scene::by_administrator;
use crate::world::World;

/// The state of a server and a browser.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerState {
    pub rows: Vec<String>,
    /// The list of debates, with presence.
    debates: Value,
    /// Held waits and open sockets.
    pub held: (u64, u64),
    cookies: Vec<String>,
}

impl ServerState {
    pub async fn of(world: &World, browser: &Browser) -> Self {
        let list = by_administrator(world, reqwest::Method::GET, "/debates", None).await.ok();
        ServerState {
            rows: rows(world),
            debates: list["debates"].clone(),
            held: world.held().await,
            cookies: browser.cookies().await,
        }
    }

    /// The difference from a later state, if any.
    pub fn differs(&self, now: &ServerState) -> Option<String> {
        let list = |state: &ServerState| {
            let debates = state.debates.as_array().expect("a list").iter().map(Value::to_string);
            let held = json!(state.held).to_string();
            let rest = state.cookies.iter().cloned().chain([held]);
            state.rows.iter().cloned().chain(debates).chain(rest).collect::<Vec<_>>()
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

/// Every row of every table but `meta`, which the server writes to check that it can.
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
