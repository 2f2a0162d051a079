//! The statements of a submit in SQLite without a server, rules or hashes: the limit of a submit.
//!
//! `bare_writes FILE DEBATES BATCH SECONDS` prints the submits a second.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "it measures one thing and ends")]

use std::time::{Duration, Instant};

use aw_record::{Clock, Engine, Store, StoreOptions};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OptionalExtension, params};
use uuid::Uuid;

/// A debate as it stands.
struct Debate {
    id: Uuid,
    seq: i64,
    newest: Uuid,
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let given: Vec<String> = std::env::args().collect();
    let (debates, batch): (usize, f64) = (given[2].parse().unwrap(), given[3].parse().unwrap());
    let window = Duration::from_secs_f64(given[4].parse().unwrap());

    // The store creates the file, as in a server.
    let store = Store::open(&StoreOptions::at(&given[1])).unwrap();
    Engine::new(store, Clock::system()).close().await;
    let db = Connection::open(&given[1]).unwrap();
    db.pragma_update(None, "journal_mode", "wal").unwrap();
    db.pragma_update(None, "synchronous", "full").unwrap();
    db.pragma_update(None, "foreign_keys", true).unwrap();
    db.pragma_update(None, "wal_autocheckpoint", 10_000).unwrap();
    db.pragma_update(None, "cache_size", -8_000).unwrap();
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).unwrap();
    db.set_prepared_statement_cache_capacity(64);
    db.execute_batch("insert into debate_counts (debate_type) values (''), ('general_debate')")
        .unwrap();
    let words = "Much is said, and little of it matters to the one who must decide.".repeat(16);
    let mut debates: Vec<Debate> = (0..debates).map(|_| open(&db, &words[..1024])).collect();

    let (mut next, mut written, mut owed) = (0, 0_u32, 0.0);
    let began = Instant::now();
    while began.elapsed() < window {
        // Whole submits, whose average batch is that of the server.
        owed += batch;
        db.prepare_cached("begin immediate").unwrap().execute([]).unwrap();
        while owed >= 1.0 {
            owed -= 1.0;
            let count = debates.len();
            submit(&db, &mut debates[next % count], &words[..1024]);
            (next, written) = (next + 1, written + 1);
        }
        db.prepare_cached("commit").unwrap().execute([]).unwrap();
    }
    println!("{}", f64::from(written) / began.elapsed().as_secs_f64());
}

fn open(db: &Connection, words: &str) -> Debate {
    let (id, motion) = (Uuid::new_v4(), Uuid::new_v4());
    let hash = noise();
    db.execute(
        "insert into debates (id, title, debate_type, resolution_policy, created_at, updated_at,
             state, last_seq, proposer_count, opponent_count, proposer_newest)
         values (?1, 'What does it cost?', 'general_debate', 'auto', 1, 1,
             'AWAITING_OPPONENT', 1, 1, 0, 1)",
        params![id],
    )
    .unwrap();
    let key = db.last_insert_rowid();
    insert(db, key, 1, motion, None, ("MOTION", "proposer"), [0; 32], hash, words);
    Debate { id, seq: 1, newest: motion }
}

/// The statements of the store for a CLAIM.
fn submit(db: &Connection, debate: &mut Debate, words: &str) {
    db.prepare_cached("savepoint request").unwrap().execute([]).unwrap();
    let key: i64 = db
        .prepare_cached(
            "select debates.key, debates.id, title, debate_type, resolution_policy,
                 state, last_seq, debates.proposer_count, debates.opponent_count,
                 proposer_newest, opponent_newest, arbitrator_newest,
                 proposer_interrupted, opponent_interrupted,
                 debates.created_at, debates.updated_at, deleted_at
             from debates where id = ?1",
        )
        .unwrap()
        .query_row([debate.id], |row| row.get(0))
        .unwrap();
    let request = Uuid::new_v4();
    let replay: Option<i64> = db
        .prepare_cached(
            "select seq, id, parent_id, type, role, parked_for, close, automatic, via, author,
                 client_request_id, created_at, hash, content, seat
             from arguments where debate_key = ?1 and client_request_id = ?2",
        )
        .unwrap()
        .query_row(params![key, request], |row| row.get(0))
        .optional()
        .unwrap();
    assert!(replay.is_none());
    let target: i64 = db
        .prepare_cached("select seq from arguments where id = ?1 and debate_key = ?2")
        .unwrap()
        .query_row(params![debate.newest, key], |row| row.get(0))
        .unwrap();
    let previous: [u8; 32] = db
        .prepare_cached("select hash from arguments where debate_key = ?1 and seq = ?2")
        .unwrap()
        .query_row([key, target], |row| row.get(0))
        .unwrap();
    debate.seq += 1;
    let by_opponent = debate.seq % 2 == 0;
    let role = if by_opponent { "opponent" } else { "proposer" };
    let (id, hash) = (Uuid::new_v4(), noise());
    let parent = Some(debate.newest);
    insert(db, key, debate.seq, id, parent, ("CLAIM", role), previous, hash, words);
    let opponents = debate.seq / 2;
    db.prepare_cached(
        "update debates set state = ?2, last_seq = ?3, updated_at = ?3, proposer_count = ?4,
             opponent_count = ?5, proposer_newest = ?6, opponent_newest = ?7,
             arbitrator_newest = null, proposer_interrupted = null, opponent_interrupted = null
         where key = ?1",
    )
    .unwrap()
    .execute(params![
        key,
        if by_opponent { "AWAITING_PROPOSER" } else { "AWAITING_OPPONENT" },
        debate.seq,
        debate.seq - opponents,
        opponents,
        if by_opponent { debate.seq - 1 } else { debate.seq },
        if by_opponent { debate.seq } else { debate.seq - 1 },
    ])
    .unwrap();
    let change = if by_opponent { 1 } else { -1 };
    db.prepare_cached(
        "update debate_counts set awaiting_opponent = awaiting_opponent + ?2,
             awaiting_proposer = awaiting_proposer + ?3,
             awaiting_arbitrator = awaiting_arbitrator + ?4,
             intervention_pending = intervention_pending + ?5, closed = closed + ?6
         where debate_type in ('', ?1)",
    )
    .unwrap()
    .execute(params!["general_debate", -change, change, 0, 0, 0])
    .unwrap();
    db.prepare_cached("release request").unwrap().execute([]).unwrap();
    debate.newest = id;
}

#[allow(clippy::too_many_arguments, reason = "a row has many columns")]
fn insert(
    db: &Connection,
    key: i64,
    seq: i64,
    id: Uuid,
    parent: Option<Uuid>,
    (kind, role): (&str, &str),
    previous: [u8; 32],
    hash: [u8; 32],
    words: &str,
) {
    db.prepare_cached(
        "insert into arguments (debate_key, seq, id, parent_id, type, role, parked_for, close,
             automatic, via, author, client_request_id, created_at, proposer_count, opponent_count,
             previous_hash, hash, content, seat)
         values (?1, ?2, ?3, ?4, ?5, ?6, null, null, false, 'api', null, ?7, ?2, ?8, ?9, ?10, ?11,
             ?12, null)",
    )
    .unwrap()
    .execute(params![
        key,
        seq,
        id,
        parent,
        kind,
        role,
        Uuid::new_v4(),
        seq - seq / 2,
        seq / 2,
        previous,
        hash,
        words,
    ])
    .unwrap();
}

/// Bytes in place of a hash.
fn noise() -> [u8; 32] {
    let mut noise = [0; 32];
    noise[..16].copy_from_slice(Uuid::new_v4().as_bytes());
    noise
}
