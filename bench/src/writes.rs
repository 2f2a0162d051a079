//! Durable submits a second, compared with the same statements without a server.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use aw_trials::server::Server;
use futures_util::future::join_all;

use crate::Bench;
use crate::caller::{LoadClient, LoadDebate, find, get};
use crate::figures::{Figures, Promise};
use crate::samples::Samples;

pub async fn measure(bench: &Bench, figures: &mut Figures) {
    let window = bench.seconds(1.0, 3.0);
    let mut curves = [Vec::new(), Vec::new()];
    for (connections, share) in [(1, 0.6), (8, 0.45), (64, 0.4), (256, 0.35)] {
        let (mut ours, mut limit, mut batches) =
            (Samples::default(), Samples::default(), Samples::default());
        for _ in 0..bench.times(2, 7) {
            let home = tempfile::tempdir().unwrap();
            let server = Server::start(bench.aw(), home.path());
            let (rate, batch) = submits_to(&[server.address], connections, window).await;
            ours.add(rate);
            batches.add(batch);
            assert_eq!(server.stop().code(), Some(0));
            let home = tempfile::tempdir().unwrap();
            limit.add(bare(bench, home.path(), connections, batch, window));
        }
        let batch = batches.median();
        let name = format!("submits at {connections} connections (batches of {batch:.1})");
        figures.beside(name, "/s", &ours, limit.median(), Promise::Share(share));
        curves[0].push((connections as f64, ours.median()));
        curves[1].push((connections as f64, limit.median()));
    }
    let [ours, limit] = curves;
    figures.curve("submits", "aw, submits a second", ours);
    figures.curve("submits", "bare SQLite", limit);
}

/// Runs this many clients, each in its own debate and distributed over the servers. Returns the submits
/// a second and the submits in a commit.
pub async fn submits_to(
    servers: &[SocketAddr],
    connections: usize,
    window: Duration,
) -> (f64, f64) {
    let mut callers = join_all((0..connections).map(|number| async move {
        let mut caller = LoadClient::to(servers[number % servers.len()]).await;
        let debate = LoadDebate::open(&mut caller).await;
        (caller, debate)
    }))
    .await;
    let before = commits(servers).await;
    let began = Instant::now();
    let written = join_all(callers.iter_mut().map(|(caller, debate)| async {
        let mut written = 0_u32;
        while began.elapsed() < window {
            debate.goes_on(caller).await;
            written += 1;
        }
        written
    }))
    .await;
    let took = began.elapsed().as_secs_f64();
    let written = f64::from(written.into_iter().sum::<u32>());
    (written / took, written / (commits(servers).await - before))
}

/// The number of commits of all servers.
async fn commits(servers: &[SocketAddr]) -> f64 {
    let name = b"\naw_database_batches_total ";
    let mut commits = 0.0;
    for server in servers {
        let mut caller = LoadClient::to(*server).await;
        let metrics = caller.ask(&get("/metrics")).await;
        let place = find(metrics, name).expect("the server counts its commits") + name.len();
        let line = metrics[place..].split(|byte| *byte == b'\n').next().expect("a line");
        commits += std::str::from_utf8(line).unwrap().trim().parse::<f64>().unwrap();
    }
    commits
}

fn bare(bench: &Bench, home: &Path, debates: usize, batch: f64, window: Duration) -> f64 {
    let output = Command::new(bench.limit("bare_writes"))
        .arg(home.join("debate.db"))
        .args([debates.to_string(), batch.to_string(), window.as_secs_f64().to_string()])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}
