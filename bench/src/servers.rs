//! Several servers on one PostgreSQL: submits a second, and the wake of a waiter on another server. It
//! needs `scripts/postgres`, which starts one.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use aw_trials::server::Server;
use tokio_postgres::NoTls;

use crate::Bench;
use crate::caller::{LoadClient, LoadDebate};
use crate::figures::{Figures, Promise};
use crate::samples::Samples;
use crate::writes::submits_to;

const CONNECTIONS: usize = 64;

pub async fn measure(bench: &Bench, figures: &mut Figures) {
    let Ok(url) = std::env::var("AW_TEST_POSTGRES_URL") else {
        eprintln!("  (no PostgreSQL: scripts/postgres scripts/bench servers)");
        return;
    };
    let window = bench.seconds(1.5, 4.0);
    let mut curves = [Vec::new(), Vec::new()];
    for count in 1..=3 {
        let (mut ours, mut limit, mut woken) =
            (Samples::default(), Samples::default(), Samples::default());
        for _ in 0..bench.times(1, 5) {
            let database = new_database(&url).await;
            let homes = tempfile::tempdir().unwrap();
            let servers: Vec<Server> = (0..count)
                .map(|number| start(bench, &homes.path().join(number.to_string()), &database))
                .collect();
            let addresses: Vec<_> = servers.iter().map(|server| server.address).collect();
            let (rate, batch) = submits_to(&addresses, CONNECTIONS, window).await;
            ours.add(rate);
            wake(&servers, bench.times(60, 200), &mut woken).await;
            for server in servers {
                assert_eq!(server.stop().code(), Some(0));
            }
            limit.add(bare(bench, &database, 2 * count, batch, window));
        }
        let name = format!("PostgreSQL, {count} servers: submits at {CONNECTIONS} connections");
        figures.beside(name, "/s", &ours, limit.median(), Promise::Recorded);
        let name = format!("PostgreSQL, {count} servers: a wake on the next server, p99");
        figures.alone(name, "ms", woken.quantile(0.99), Promise::AtMost(25.0));
        curves[0].push((f64::from(count as u32), ours.median()));
        curves[1].push((f64::from(count as u32), limit.median()));
    }
    let [ours, limit] = curves;
    figures.curve("servers", "aw, submits a second", ours);
    figures.curve("servers", "the statements alone", limit);
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
