//! Several servers on one PostgreSQL: submits a second, near the database and far from it, and the wake
//! of a waiter on another server. It needs `scripts/postgres`, which starts one.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use aw_trials::server::Server;
use tokio_postgres::NoTls;

use crate::Bench;
use crate::caller::{LoadClient, LoadDebate};
use crate::distance::far_away;
use crate::figures::{Figures, Promise};
use crate::samples::Samples;
use crate::writes::submits_to;

const CONNECTIONS: usize = 64;

/// How far away the database is in the second part, each way.
const DISTANCE: Duration = Duration::from_millis(2);

pub async fn measure(bench: &Bench, figures: &mut Figures) {
    let Ok(url) = std::env::var("AW_TEST_POSTGRES_URL") else {
        eprintln!("  (no PostgreSQL: scripts/postgres scripts/bench servers)");
        return;
    };
    let mut curves = [Vec::new(), Vec::new()];
    // One server and three in turns, so that a disturbance of the machine affects both.
    let mut all = [Measured::default(), Measured::default(), Measured::default()];
    for _ in 0..bench.times(1, 5) {
        for (count, measured) in (1..).zip(&mut all) {
            measured.once(bench, &url, count).await;
        }
    }
    for (count, Measured { ours, limit, woken }) in (1_u32..).zip(&all) {
        let name = format!("PostgreSQL, {count} servers: submits at {CONNECTIONS} connections");
        let promise = if count == 1 { Promise::AtLeast(8_000.0) } else { Promise::Recorded };
        figures.beside(name, "/s", ours, limit.median(), promise);
        let name = format!("PostgreSQL, {count} servers: a wake on the next server, p99");
        figures.alone(name, "ms", woken.quantile(0.99), Promise::AtMost(25.0));
        curves[0].push((f64::from(count), ours.median()));
        curves[1].push((f64::from(count), limit.median()));
    }
    let name = "PostgreSQL, submits of three servers beside one";
    figures.beside(name, "/s", &all[2].ours, all[0].ours.median(), Promise::Share(1.0));
    let [ours, limit] = curves;
    figures.curve("servers", "aw, submits a second", ours);
    figures.curve("servers", "the statements alone", limit);
    far(bench, figures, &url).await;
}

/// The samples of one number of servers.
#[derive(Debug, Default)]
struct Measured {
    ours: Samples,
    limit: Samples,
    woken: Samples,
}

impl Measured {
    async fn once(&mut self, bench: &Bench, url: &str, count: usize) {
        let window = bench.seconds(1.5, 4.0);
        let database = new_database(url).await;
        let homes = tempfile::tempdir().unwrap();
        let servers: Vec<Server> = (0..count)
            .map(|number| start(bench, &homes.path().join(number.to_string()), &database))
            .collect();
        let addresses: Vec<_> = servers.iter().map(|server| server.address).collect();
        let (rate, batch) = submits_to(&addresses, CONNECTIONS, window).await;
        self.ours.add(rate);
        wake(&servers, bench.times(60, 200), &mut self.woken).await;
        for server in servers {
            assert_eq!(server.stop().code(), Some(0));
        }
        self.limit.add(bare(bench, &database, 2 * count, batch, window));
    }
}

/// One server that is far from its database.
async fn far(bench: &Bench, figures: &mut Figures, url: &str) {
    let window = bench.seconds(1.5, 4.0);
    let (mut ours, mut batches) = (Samples::default(), Samples::default());
    for _ in 0..bench.times(1, 5) {
        let database = new_database(url).await;
        let near: SocketAddr = host(&database).parse().unwrap();
        let far = far_away(near, DISTANCE).to_string();
        let home = tempfile::tempdir().unwrap();
        let server = start(bench, home.path(), &database.replace(host(&database), &far));
        let (rate, batch) = submits_to(&[server.address], CONNECTIONS, window).await;
        ours.add(rate);
        batches.add(batch);
        assert_eq!(server.stop().code(), Some(0));
    }
    let name = format!(
        "PostgreSQL, {} ms away each way: submits at {CONNECTIONS} connections (batches of {:.1})",
        DISTANCE.as_millis(),
        batches.median()
    );
    figures.alone(name, "/s", ours.median(), Promise::AtLeast(4_000.0));
}

/// The host and port of a database.
fn host(url: &str) -> &str {
    let (_, rest) = url.split_once('@').expect("a URL with a user");
    rest.split_once('/').expect("and with a database").0
}

fn start(bench: &Bench, home: &Path, database: &str) -> Server {
    std::fs::create_dir_all(home).unwrap();
    Server::start_as(bench.aw(), home, |mut command| {
        command.env("AW_DATABASE_URL", database);
        command
    })
}

/// Measures from the answer to a submit until a waiter on the next server has its bytes.
async fn wake(servers: &[Server], times: usize, woken: &mut Samples) {
    let mut caller = LoadClient::to(servers[0].address).await;
    let mut waiter = LoadClient::to(servers[1 % servers.len()].address).await;
    let mut debate = LoadDebate::open(&mut caller).await;
    for _ in 0..times {
        waiter.send(&debate.wait(60)).await;
        tokio::time::sleep(Duration::from_millis(10)).await;
        caller.send(&debate.claim()).await;
        let written = async { (caller.answer().await.to_vec(), Instant::now()) };
        let woke = async {
            assert!(waiter.answer().await.len() > 1024, "news, not the end of a wait");
            Instant::now()
        };
        let ((answer, committed), woke) = tokio::join!(written, woke);
        debate.heard(&answer);
        woken.took(woke.saturating_duration_since(committed));
    }
}

fn bare(bench: &Bench, url: &str, sessions: usize, batch: f64, window: Duration) -> f64 {
    let output = Command::new(bench.limit("bare_postgres"))
        .arg(url)
        .args([sessions.to_string(), CONNECTIONS.to_string(), batch.to_string()])
        .arg(window.as_secs_f64().to_string())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}

async fn new_database(url: &str) -> String {
    let name = format!("aw_{}", uuid::Uuid::new_v4().simple());
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute(&format!("create database {name}")).await.unwrap();
    url.replace("/postgres?", &format!("/{name}?"))
}
