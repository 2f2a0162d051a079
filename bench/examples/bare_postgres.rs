//! The statements of a submit in PostgreSQL without a server, rules or hashes: the limit of a submit.
//!
//! `bare_postgres URL SESSIONS DEBATES BATCH SECONDS` prints the submits a second of that many concurrent
//! sessions. It uses the tables that a server has created.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "it measures one thing and ends")]

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Statement};
use uuid::Uuid;

const LOCK: &str = "select 1 from debates where id = any($1) order by id for no key update";
const HEAD: &str = "select q.*, k.n from unnest($1::bytea[]) with ordinality as k(p1, n)
     cross join lateral (select key, id, title, debate_type, resolution_policy, state, last_seq,
     proposer_count, opponent_count, proposer_newest, opponent_newest, arbitrator_newest,
     proposer_interrupted, opponent_interrupted, created_at, updated_at, deleted_at
     from debates where id = k.p1) as q";
const REPLAY: &str = "select q.*, k.n from unnest($1::bytea[], $2::bytea[]) with ordinality
     as k(p1, p2, n) cross join lateral (
     select seq, id, parent_id, type, role, parked_for, close, automatic, via,
     author, client_request_id, created_at, hash, content, seat from arguments
     where debate_key = (select key from debates where id = k.p1) and client_request_id = k.p2) as q";
const TARGET: &str = "select q.*, k.n from unnest($1::bytea[], $2::bytea[]) with ordinality
     as k(p1, p2, n) cross join lateral (select seq from arguments
     where id = k.p1 and debate_key = (select key from debates where id = k.p2)) as q";
const PREVIOUS: &str = "select q.*, k.n from unnest($1::bytea[]) with ordinality as k(p1, n)
     cross join lateral (select seq, hash from arguments
     where debate_key = (select key from debates where id = k.p1) order by seq desc limit 1) as q";
const INSERT: &str = "insert into arguments (debate_key, seq, id, parent_id, type, role, automatic,
     via, client_request_id, created_at, proposer_count, opponent_count, previous_hash, hash, content)
     select k.p1, k.p2, k.p3, k.p4, k.p5, k.p6, false, 'api', k.p7, k.p2, k.p8, k.p9, k.p10, k.p11,
     k.p12 from unnest($1::int8[], $2::int8[], $3::bytea[], $4::bytea[], $5::text[], $6::text[],
     $7::bytea[], $8::int8[], $9::int8[], $10::bytea[], $11::bytea[], $12::text[])
     as k(p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12)";
const STANDING: &str = "update debates set state = k.p2, last_seq = k.p3, updated_at = k.p3,
     proposer_count = k.p4, opponent_count = k.p5, proposer_newest = k.p6, opponent_newest = k.p7,
     arbitrator_newest = null, proposer_interrupted = null, opponent_interrupted = null
     from unnest($1::int8[], $2::text[], $3::int8[], $4::int8[], $5::int8[], $6::int8[], $7::int8[])
     as k(p1, p2, p3, p4, p5, p6, p7) where key = k.p1";
const COUNTS: &str = "insert into debate_counts as c (debate_type, slot, awaiting_opponent,
     awaiting_proposer) values ('', $1, $2, $3), ('general_debate', $1, $2, $3)
     on conflict (debate_type, slot) do update set
     awaiting_opponent = c.awaiting_opponent + excluded.awaiting_opponent,
     awaiting_proposer = c.awaiting_proposer + excluded.awaiting_proposer";
const PLANS: &str = "set enable_seqscan = off; set enable_hashjoin = off;
     set enable_mergejoin = off; set jit = off";

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
    client.batch_execute(PLANS).await.unwrap();
    let slot = 1_000 + i64::try_from(number).unwrap();
    let words =
        &"Much is said, and little of it matters to the one who must decide.".repeat(16)[..1024];
    let statements = Statements::prepare(&client).await;
    let mut open = Vec::new();
    for _ in 0..debates {
        open.push(opened(&client, &statements, words).await);
    }
    let (mut written, mut owed, mut batches) = (0_u32, 0.0, 0_u64);
    let began = Instant::now();
    while began.elapsed() < window {
        owed += batch;
        // Each debate at most once in a batch.
        let count = (owed as usize).min(open.len());
        owed -= count as f64;
        if count == 0 {
            continue;
        }
        batches += 1;
        if batches.is_power_of_two() {
            client.batch_execute("discard plans").await.unwrap();
        }
        submit(&client, &statements, slot, &mut open[..count], words).await;
        open.rotate_left(count);
        written += u32::try_from(count).unwrap();
    }
    f64::from(written) / began.elapsed().as_secs_f64()
}

struct Statements {
    lock: Statement,
    head: Statement,
    replay: Statement,
    target: Statement,
    previous: Statement,
    insert: Statement,
    standing: Statement,
    counts: Statement,
    notify: Statement,
}

impl Statements {
    async fn prepare(client: &Client) -> Self {
        Statements {
            lock: client.prepare(LOCK).await.unwrap(),
            head: client.prepare(HEAD).await.unwrap(),
            replay: client.prepare(REPLAY).await.unwrap(),
            target: client.prepare(TARGET).await.unwrap(),
            previous: client.prepare(PREVIOUS).await.unwrap(),
            insert: client.prepare(INSERT).await.unwrap(),
            standing: client.prepare(STANDING).await.unwrap(),
            counts: client.prepare(COUNTS).await.unwrap(),
            notify: client.prepare("select pg_notify('bare', $1)").await.unwrap(),
        }
    }
}

/// The parameters of [`INSERT`], a row for each submit.
#[derive(Default)]
struct NewRows {
    keys: Vec<i64>,
    seqs: Vec<i64>,
    ids: Vec<Vec<u8>>,
    parents: Vec<Option<Vec<u8>>>,
    kinds: Vec<&'static str>,
    roles: Vec<&'static str>,
    requests: Vec<Vec<u8>>,
    proposers: Vec<i64>,
    opponents: Vec<i64>,
    previous: Vec<Vec<u8>>,
    hashes: Vec<Vec<u8>>,
    words: Vec<String>,
}

impl NewRows {
    fn values(&self) -> [&(dyn ToSql + Sync); 12] {
        [
            &self.keys,
            &self.seqs,
            &self.ids,
            &self.parents,
            &self.kinds,
            &self.roles,
            &self.requests,
            &self.proposers,
            &self.opponents,
            &self.previous,
            &self.hashes,
            &self.words,
        ]
    }
}

async fn opened(client: &Client, statements: &Statements, words: &str) -> Debate {
    let (id, motion) = (Uuid::new_v4(), Uuid::new_v4());
    let sql = "insert into debates (id, title, debate_type, resolution_policy, created_at,
             updated_at, state, last_seq, proposer_count, opponent_count, proposer_newest)
         values ($1, 'What does it cost?', 'general_debate', 'auto', 1, 1,
             'AWAITING_OPPONENT', 1, 1, 0, 1) returning key";
    let key: i64 = client.query_one(sql, &[&id.as_bytes().as_slice()]).await.unwrap().get(0);
    let row = NewRows {
        keys: vec![key],
        seqs: vec![1],
        ids: vec![motion.as_bytes().to_vec()],
        parents: vec![None],
        kinds: vec!["MOTION"],
        roles: vec!["proposer"],
        requests: vec![id.as_bytes().to_vec()],
        proposers: vec![1],
        opponents: vec![0],
        previous: vec![vec![0; 32]],
        hashes: vec![noise()],
        words: vec![words.to_owned()],
    };
    client.execute(&statements.insert, &row.values()).await.unwrap();
    Debate { id, seq: 1, newest: motion }
}

/// The statements of the store for a batch of CLAIMs: all reads in one round trip, all writes in another.
async fn submit(
    client: &Client,
    statements: &Statements,
    slot: i64,
    debates: &mut [Debate],
    words: &str,
) {
    let ids: Vec<Vec<u8>> = debates.iter().map(|it| it.id.as_bytes().to_vec()).collect();
    let mut rows = NewRows {
        requests: debates.iter().map(|_| Uuid::new_v4().as_bytes().to_vec()).collect(),
        ids: debates.iter().map(|_| Uuid::new_v4().as_bytes().to_vec()).collect(),
        parents: debates.iter().map(|it| Some(it.newest.as_bytes().to_vec())).collect(),
        ..NewRows::default()
    };
    let mut locked = ids.clone();
    locked.sort_unstable();
    type Given<'a, const N: usize> = [&'a (dyn ToSql + Sync); N];
    let debate: Given<'_, 1> = [&ids];
    let asked: [Given<'_, 2>; 2] = [[&ids, &rows.requests], [&rows.parents, &ids]];
    let (_, _, head, replay, target, previous) = tokio::try_join!(
        biased;
        client.batch_execute("begin"),
        client.execute_raw(&statements.lock, [&locked]),
        client.query(&statements.head, &debate),
        client.query(&statements.replay, &asked[0]),
        client.query(&statements.target, &asked[1]),
        client.query(&statements.previous, &debate),
    )
    .unwrap();
    assert!(replay.is_empty() && target.len() == debates.len() && head.len() == debates.len());
    let (mut states, mut newest, mut changes) = (Vec::new(), [Vec::new(), Vec::new()], 0_i64);
    for ((debate, head), previous) in debates.iter_mut().zip(&head).zip(&previous) {
        debate.seq += 1;
        let (seq, opponents) = (debate.seq, debate.seq / 2);
        let by_opponent = seq % 2 == 0;
        rows.keys.push(head.get(0));
        rows.seqs.push(seq);
        rows.kinds.push("CLAIM");
        rows.roles.push(if by_opponent { "opponent" } else { "proposer" });
        rows.proposers.push(seq - opponents);
        rows.opponents.push(opponents);
        rows.previous.push(previous.get(1));
        rows.hashes.push(noise());
        rows.words.push(words.to_owned());
        states.push(if by_opponent { "AWAITING_PROPOSER" } else { "AWAITING_OPPONENT" });
        newest[0].push(if by_opponent { seq - 1 } else { seq });
        newest[1].push(if by_opponent { seq } else { seq - 1 });
        changes += if by_opponent { 1 } else { -1 };
    }
    for (debate, id) in debates.iter_mut().zip(&rows.ids) {
        debate.newest = Uuid::from_slice(id).unwrap();
    }
    let standing: [&(dyn ToSql + Sync); 7] =
        [&rows.keys, &states, &rows.seqs, &rows.proposers, &rows.opponents, &newest[0], &newest[1]];
    let counted: [&(dyn ToSql + Sync); 3] = [&slot, &-changes, &changes];
    let notice: String = debates.iter().map(|it| format!(" w{}", it.id.simple())).collect();
    let notice = &notice[..notice.len().min(7_000)];
    let (inserted, noticed): (_, Given<'_, 1>) = (rows.values(), [&notice]);
    tokio::try_join!(
        biased;
        client.execute(&statements.insert, &inserted),
        client.execute(&statements.standing, &standing),
        client.execute(&statements.counts, &counted),
        client.execute(&statements.notify, &noticed),
        client.batch_execute("commit"),
    )
    .unwrap();
}

/// Bytes in place of a hash.
fn noise() -> Vec<u8> {
    let mut noise = Uuid::new_v4().as_bytes().to_vec();
    noise.resize(32, 0);
    noise
}
