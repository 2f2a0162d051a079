//! Reads without aw: the same queries on the same file, serialized in the same way, by axum alone. No
//! guard, no metrics, no presence, no rules.
//!
//! `bare_reads FILE` prints its address and serves until it is killed.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "it measures one thing and ends")]

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::OnceLock;

use axum::Router;
use axum::extract::{Path, Query};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::serve::ListenerExt;
use jiff::Timestamp;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Row, params};
use serde::{Deserialize, Serialize, Serializer};
use tokio::net::TcpListener;
use uuid::Uuid;

static FILE: OnceLock<PathBuf> = OnceLock::new();

thread_local! {
    static DB: Connection = {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);
        let db = Connection::open_with_flags(FILE.get().unwrap(), flags).unwrap();
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).unwrap();
        db.set_prepared_statement_cache_capacity(64);
        db
    };
}

#[tokio::main]
async fn main() {
    FILE.set(std::env::args_os().nth(1).unwrap().into()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("{}", listener.local_addr().unwrap());
    let listener = listener.tap_io(|stream| stream.set_nodelay(true).unwrap());
    let router = Router::new()
        .route("/debates", get(list))
        .route("/debates/{id}", get(context))
        .route("/debates/{id}/poll", get(poll));
    axum::serve(listener, router).await.unwrap();
}

fn read<T>(work: impl FnOnce(&Connection) -> T) -> T {
    DB.with(|db| {
        let snapshot = db.unchecked_transaction().unwrap();
        work(&snapshot)
    })
}

#[derive(Serialize)]
struct Success<T> {
    success: bool,
    data: T,
}

fn success<T: Serialize>(data: T) -> Response {
    let mut text = Vec::with_capacity(2048);
    serde_json::to_writer(&mut text, &Success { success: true, data }).unwrap();
    ([(CONTENT_TYPE, "application/json")], text).into_response()
}

fn text<T: Display, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(value)
}

fn maybe<S: Serializer>(value: &Option<Uuid>, to: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => to.collect_str(value),
        None => to.serialize_none(),
    }
}

fn time<S: Serializer>(value: &i64, to: S) -> Result<S::Ok, S::Error> {
    let time = Timestamp::from_millisecond(*value).unwrap();
    to.serialize_str(&format!("{time:.3}"))
}

fn hex<S: Serializer>(value: &[u8; 32], to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&aw_core::Hash(*value))
}

const HEAD: &str = "debates.key, debates.id, title, debate_type, resolution_policy, state, \
     last_seq, debates.proposer_count, debates.opponent_count, proposer_newest, opponent_newest, \
     arbitrator_newest, proposer_interrupted, opponent_interrupted, debates.created_at, \
     debates.updated_at, deleted_at";

#[derive(Serialize)]
struct Debate {
    #[serde(serialize_with = "text")]
    id: Uuid,
    title: String,
    debate_type: String,
    state: String,
    resolution_policy: String,
    #[serde(serialize_with = "time")]
    created_at: i64,
    #[serde(serialize_with = "time")]
    updated_at: i64,
    #[serde(skip)]
    key: i64,
    #[serde(skip)]
    last: i64,
}

impl Debate {
    fn of(row: &Row<'_>) -> Self {
        Debate {
            id: row.get(1).unwrap(),
            title: row.get(2).unwrap(),
            debate_type: row.get(3).unwrap(),
            state: row.get(5).unwrap(),
            resolution_policy: row.get(4).unwrap(),
            created_at: row.get(14).unwrap(),
            updated_at: row.get(15).unwrap(),
            key: row.get(0).unwrap(),
            last: row.get(6).unwrap(),
        }
    }

    fn find(db: &Connection, id: Uuid) -> Self {
        let sql = format!("select {HEAD} from debates where id = ?1");
        db.prepare_cached(&sql).unwrap().query_row([id], |row| Ok(Debate::of(row))).unwrap()
    }
}

const ARGUMENT: &str = "seq, id, parent_id, type, role, parked_for, close, automatic, via, \
     author, client_request_id, created_at, hash, content, seat";

#[derive(Serialize)]
struct Argument {
    #[serde(serialize_with = "text")]
    id: Uuid,
    #[serde(serialize_with = "text")]
    debate_id: Uuid,
    #[serde(serialize_with = "maybe")]
    parent_id: Option<Uuid>,
    r#type: String,
    role: String,
    author: Option<String>,
    content: String,
    #[serde(serialize_with = "text")]
    client_request_id: Uuid,
    seq: i64,
    parked: bool,
    close: Option<bool>,
    automatic: bool,
    via: String,
    seat: Option<String>,
    #[serde(serialize_with = "hex")]
    hash: [u8; 32],
    #[serde(serialize_with = "time")]
    created_at: i64,
}

fn arguments(
    db: &Connection,
    debate: Uuid,
    condition: &str,
    given: impl rusqlite::Params,
) -> Vec<Argument> {
    let sql = format!("select {ARGUMENT} from arguments where debate_key = ?1 and {condition}");
    let mut statement = db.prepare_cached(&sql).unwrap();
    let rows = statement.query_map(given, |row| {
        Ok(Argument {
            id: row.get(1)?,
            debate_id: debate,
            parent_id: row.get(2)?,
            r#type: row.get(3)?,
            role: row.get(4)?,
            author: row.get(9)?,
            content: row.get(13)?,
            client_request_id: row.get(10)?,
            seq: row.get(0)?,
            parked: row.get::<_, Option<i64>>(5)?.is_some(),
            close: row.get(6)?,
            automatic: row.get(7)?,
            via: row.get(8)?,
            seat: row.get(14)?,
            hash: row.get(12)?,
            created_at: row.get(11)?,
        })
    });
    rows.unwrap().map(Result::unwrap).collect()
}

#[derive(Serialize)]
struct Context {
    debate: Debate,
    motion: Argument,
    arguments: Vec<Argument>,
    rulings: Vec<Argument>,
    documents: Vec<String>,
    own_rules: bool,
}

#[derive(Deserialize)]
struct Limit {
    limit: i64,
}

async fn context(Path(id): Path<Uuid>, Query(asked): Query<Limit>) -> Response {
    success(read(|db| {
        let debate = Debate::find(db, id);
        let motion = arguments(db, id, "seq = ?2", [debate.key, 1]).pop().unwrap();
        let newest = "seq > 1 order by seq desc limit ?2";
        let mut newest = arguments(db, id, newest, [debate.key, asked.limit]);
        newest.reverse();
        let oldest = newest.first().map_or(debate.last + 1, |argument| argument.seq);
        let rulings = "seq > ?2 and seq < ?3 and type = 'RULING' order by seq";
        let rulings = arguments(db, id, rulings, [debate.key, 0, oldest]);
        let mut cited = db
            .prepare_cached(
                "select d.id, c.version, v.summary, d.deleted_at
                 from debate_documents c
                 join documents d on d.key = c.document_key
                 join document_versions v
                     on v.document_key = c.document_key and v.version = c.version
                 where c.debate_key = ?1 order by c.seq, c.document_key",
            )
            .unwrap();
        let documents =
            cited.query_map([debate.key], |row| row.get(2)).unwrap().map(Result::unwrap).collect();
        let own_rules = db
            .prepare_cached("select exists (select 1 from type_texts where debate_key = ?1)")
            .unwrap()
            .query_row([debate.key], |row| row.get(0))
            .unwrap();
        Context { debate, motion, arguments: newest, rulings, documents, own_rules }
    }))
}

#[derive(Serialize)]
struct Nothing {
    has_new_argument: bool,
    #[serde(serialize_with = "text")]
    debate_id: Uuid,
    debate_state: String,
    last_seen_seq: i64,
    action: &'static str,
    #[serde(serialize_with = "time")]
    waiting_since: i64,
}

#[derive(Deserialize)]
struct Seen {
    argument_id: Uuid,
}

async fn poll(Path(id): Path<Uuid>, Query(asked): Query<Seen>) -> Response {
    success(read(|db| {
        let debate = Debate::find(db, id);
        let seen: i64 = db
            .prepare_cached("select seq from arguments where id = ?1 and debate_key = ?2")
            .unwrap()
            .query_row(params![asked.argument_id, debate.key], |row| row.get(0))
            .unwrap();
        Nothing {
            has_new_argument: seen < debate.last,
            debate_id: id,
            debate_state: debate.state,
            last_seen_seq: seen,
            action: "wait_for_opponent",
            waiting_since: debate.updated_at,
        }
    }))
}

#[derive(Serialize)]
struct List {
    debates: Vec<Listed>,
    total: i64,
    total_is_exact: bool,
    next_before: Option<String>,
}

#[derive(Serialize)]
struct Listed {
    #[serde(flatten)]
    debate: Debate,
    last_argument: Last,
}

#[derive(Serialize)]
struct Last {
    #[serde(serialize_with = "text")]
    id: Uuid,
    seq: i64,
    role: String,
    r#type: String,
    parked: bool,
    author: Option<String>,
    #[serde(serialize_with = "time")]
    created_at: i64,
}

const STATES: [&str; 5] = [
    "AWAITING_OPPONENT",
    "AWAITING_PROPOSER",
    "AWAITING_ARBITRATOR",
    "INTERVENTION_PENDING",
    "CLOSED",
];

async fn list() -> Response {
    success(read(|db| {
        let total = db
            .prepare_cached(
                "select coalesce(sum(awaiting_opponent + awaiting_proposer + awaiting_arbitrator
                 + intervention_pending + closed), 0) from debate_counts where debate_type = ?1",
            )
            .unwrap()
            .query_row([""], |row| row.get(0))
            .unwrap();
        let runs = STATES.map(|state| {
            format!(
                "select * from (select key, updated_at, id from debates
                 where deleted_at is null and state = '{state}'
                 order by updated_at desc, id limit ?1)"
            )
        });
        let sql = format!(
            "select {HEAD}, arguments.id, seq, role, type, parked_for, author, arguments.created_at
             from ({}) as chosen cross join debates on debates.key = chosen.key
             cross join arguments on debate_key = chosen.key and seq = last_seq
             order by chosen.updated_at desc, chosen.id limit ?1 offset ?2",
            runs.join(" union all ")
        );
        let mut statement = db.prepare_cached(&sql).unwrap();
        let rows = statement.query_map([50, 0], |row| {
            let last_argument = Last {
                id: row.get(17)?,
                seq: row.get(18)?,
                role: row.get(19)?,
                r#type: row.get(20)?,
                parked: row.get::<_, Option<i64>>(21)?.is_some(),
                author: row.get(22)?,
                created_at: row.get(23)?,
            };
            Ok(Listed { debate: Debate::of(row), last_argument })
        });
        let debates: Vec<Listed> = rows.unwrap().map(Result::unwrap).collect();
        let next_before = debates.last().map(|last| {
            let time = Timestamp::from_millisecond(last.debate.updated_at).unwrap();
            format!("{time:.3},{}", last.debate.id)
        });
        List { debates, total, total_is_exact: true, next_before }
    }))
}
