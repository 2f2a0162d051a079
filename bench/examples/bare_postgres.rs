//! The statements of a submit in PostgreSQL without a server, rules or hashes: the limit of a submit.
//!
//! `bare_postgres URL SESSIONS DEBATES BATCH SECONDS` prints the submits a second of that many concurrent
//! sessions. It uses the tables that a server has created.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "it measures one thing and ends")]

use std::time::{Duration, Instant};

use futures_util::future::{join_all, try_join_all};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Statement};
use uuid::Uuid;

const HEAD: &str = "select key, id, title, debate_type, resolution_policy, state, last_seq,
     proposer_count, opponent_count, proposer_newest, opponent_newest, arbitrator_newest,
     proposer_interrupted, opponent_interrupted, created_at, updated_at, deleted_at
     from debates where id = $1";
const REPLAY: &str = "select seq, id, parent_id, type, role, parked_for, close, automatic, via,
     author, client_request_id, created_at, hash, content, seat
     from arguments where debate_key = $1 and client_request_id = $2";
const TARGET: &str = "select seq from arguments where id = $1 and debate_key = $2";
const PREVIOUS: &str = "select hash from arguments where debate_key = $1 and seq = $2";
const INSERT: &str = "insert into arguments (debate_key, seq, id, parent_id, type, role, automatic,
     via, client_request_id, created_at, proposer_count, opponent_count, previous_hash, hash, content)
     values ($1, $2, $3, $4, $5, $6, false, 'api', $7, $2, $8, $9, $10, $11, $12)";
const STANDING: &str = "update debates set state = $2, last_seq = $3, updated_at = $3,
     proposer_count = $4, opponent_count = $5, proposer_newest = $6, opponent_newest = $7,
     arbitrator_newest = null, proposer_interrupted = null, opponent_interrupted = null
     where key = $1";
const COUNTS: &str = "insert into debate_counts as c (debate_type, slot, awaiting_opponent,
     awaiting_proposer) values ('', $1, $2, $3), ('general_debate', $1, $2, $3)
     on conflict (debate_type, slot) do update set
     awaiting_opponent = c.awaiting_opponent + excluded.awaiting_opponent,
     awaiting_proposer = c.awaiting_proposer + excluded.awaiting_proposer";

struct Debate {
    id: Uuid,
    seq: i64,
    newest: Uuid,
}

#[tokio::main]
async fn main() {
    let given: Vec<String> = std::env::args().collect();
    let sessions: usize = given[2].parse().unwrap();
    let debates: usize = given[3].parse().unwrap();
    let batch: f64 = given[4].parse().unwrap();
    let window = Duration::from_secs_f64(given[5].parse().unwrap());
    let began = Instant::now();
    let working = (0..sessions).map(|number| {
        let url = given[1].clone();
        let share = debates.div_ceil(sessions);
        tokio::spawn(async move { work(&url, number, share, batch, window).await })
    });
    let rates = join_all(working).await.into_iter().map(Result::unwrap);
    println!("{}", rates.sum::<f64>());
    assert!(began.elapsed() >= window);
}

/// One session that writes its own debates in turn; returns the submits a second.
async fn work(url: &str, number: usize, debates: usize, batch: f64, window: Duration) -> f64 {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    let slot = 1_000 + i64::try_from(number).unwrap();
    let words = "Much is said, and little of it matters to the one who must decide.".repeat(16);
    let statements = Statements::prepare(&client).await;
    let mut open = Vec::new();
    for _ in 0..debates {
        open.push(opened(&client, &statements, &words[..1024]).await);
    }
    let (mut next, mut written, mut owed) = (0, 0_u32, 0.0);
    let began = Instant::now();
    while began.elapsed() < window {
        owed += batch;
        client.batch_execute("begin").await.unwrap();
        let count = (owed as usize).min(open.len());
        let mut ids: Vec<&[u8]> =
            (0..count).map(|it| open[(next + it) % open.len()].id.as_bytes().as_slice()).collect();
        ids.sort_unstable();
        let lock = "select 1 from debates where id = any($1) order by id for no key update";
        client.query(lock, &[&ids]).await.unwrap();
        let mut notices = String::new();
        while owed >= 1.0 {
            owed -= 1.0;
            let place = next % open.len();
            notices += &format!(" w{}", open[place].id.simple());
            submit(&client, &statements, slot, &mut open[place], &words[..1024]).await;
            (next, written) = (next + 1, written + 1);
        }
        for notices in notices.as_bytes().chunks(7_000) {
            let notices = std::str::from_utf8(notices).unwrap();
            client.execute("select pg_notify('bare', $1)", &[&notices]).await.unwrap();
        }
        client.batch_execute("commit").await.unwrap();
    }
    f64::from(written) / began.elapsed().as_secs_f64()
}

struct Statements {
    head: Statement,
    replay: Statement,
    target: Statement,
    previous: Statement,
    insert: Statement,
    standing: Statement,
    counts: Statement,
}

impl Statements {
    async fn prepare(client: &Client) -> Self {
        Statements {
            head: client.prepare(HEAD).await.unwrap(),
            replay: client.prepare(REPLAY).await.unwrap(),
            target: client.prepare(TARGET).await.unwrap(),
            previous: client.prepare(PREVIOUS).await.unwrap(),
            insert: client.prepare(INSERT).await.unwrap(),
            standing: client.prepare(STANDING).await.unwrap(),
            counts: client.prepare(COUNTS).await.unwrap(),
        }
    }
}

async fn opened(client: &Client, statements: &Statements, words: &str) -> Debate {
    let (id, motion) = (Uuid::new_v4(), Uuid::new_v4());
    let sql = "insert into debates (id, title, debate_type, resolution_policy, created_at,
             updated_at, state, last_seq, proposer_count, opponent_count, proposer_newest)
         values ($1, 'What does it cost?', 'general_debate', 'auto', 1, 1,
             'AWAITING_OPPONENT', 1, 1, 0, 1) returning key";
    let key: i64 = client.query_one(sql, &[&id.as_bytes().as_slice()]).await.unwrap().get(0);
    let (none, zero, hash) = (None::<&[u8]>, [0_u8; 32], noise());
    let given: [&(dyn ToSql + Sync); 12] = [
        &key,
        &1_i64,
        &motion.as_bytes().as_slice(),
        &none,
        &"MOTION",
        &"proposer",
        &id.as_bytes().as_slice(),
        &1_i64,
        &0_i64,
        &zero.as_slice(),
        &hash.as_slice(),
        &words,
    ];
    client.execute(&statements.insert, &given).await.unwrap();
    Debate { id, seq: 1, newest: motion }
}

/// The statements of the store for a CLAIM, pipelined as in the store.
async fn submit(
    client: &Client,
    statements: &Statements,
    slot: i64,
    debate: &mut Debate,
    words: &str,
) {
    let (request, id, hash) = (Uuid::new_v4(), Uuid::new_v4(), noise());
    let newest = debate.newest.as_bytes().as_slice();
    let head: [&(dyn ToSql + Sync); 1] = [&debate.id.as_bytes().as_slice()];
    let save = client.batch_execute("savepoint request");
    let (_, head) = tokio::try_join!(save, client.query_one(&statements.head, &head)).unwrap();
    let key: i64 = head.get(0);
    let replay = client.query(&statements.replay, &[&key, &request.as_bytes().as_slice()]).await;
    assert!(replay.unwrap().is_empty());
    let target: i64 = client.query_one(&statements.target, &[&newest, &key]).await.unwrap().get(0);
    let previous: Vec<u8> =
        client.query_one(&statements.previous, &[&key, &target]).await.unwrap().get(0);
    debate.seq += 1;
    let (seq, opponents) = (debate.seq, debate.seq / 2);
    let by_opponent = seq % 2 == 0;
    let (role, state) = match by_opponent {
        true => ("opponent", "AWAITING_PROPOSER"),
        false => ("proposer", "AWAITING_OPPONENT"),
    };
    let change = if by_opponent { 1_i64 } else { -1 };
    let newest_of = |own: bool| if own { seq } else { seq - 1 };
    let inserted: [&(dyn ToSql + Sync); 12] = [
        &key,
        &seq,
        &id.as_bytes().as_slice(),
        &newest,
        &"CLAIM",
        &role,
        &request.as_bytes().as_slice(),
        &(seq - opponents),
        &opponents,
        &previous,
        &hash.as_slice(),
        &words,
    ];
    let (proposers, own) = (seq - opponents, newest_of(by_opponent));
    let other = newest_of(!by_opponent);
    let standing: [&(dyn ToSql + Sync); 7] =
        [&key, &state, &seq, &proposers, &opponents, &other, &own];
    let counted: [&(dyn ToSql + Sync); 3] = [&slot, &-change, &change];
    try_join_all([
        client.execute(&statements.insert, &inserted),
        client.execute(&statements.standing, &standing),
        client.execute(&statements.counts, &counted),
    ])
    .await
    .unwrap();
    client.batch_execute("release savepoint request").await.unwrap();
    debate.newest = id;
}

/// Bytes in place of a hash.
fn noise() -> [u8; 32] {
    let mut noise = [0; 32];
    noise[..16].copy_from_slice(Uuid::new_v4().as_bytes());
    noise
}
