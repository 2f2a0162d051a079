//! The time from the start of a server to its first answer, and its idle memory.

use std::path::Path;
use std::time::{Duration, Instant};

use aw_trials::server::Server;

use crate::Bench;
use crate::caller::{LoadClient, get};
use crate::figures::{Figures, Promise};
use crate::fixture;
use crate::samples::Samples;

pub async fn measure(bench: &Bench, figures: &mut Figures) {
    let empty = tempfile::tempdir().unwrap();
    let took = to_healthy(bench, empty.path(), bench.times(10, 40)).await;
    figures.alone("start to healthy, empty", "ms", took.median(), Promise::AtMost(30.0));
    let server = Server::start(bench.aw(), empty.path());
    LoadClient::to(server.address).await.ask(&get("/health")).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let memory = server.memory() as f64 / 1e6;
    figures.alone("idle memory, empty", "MB", memory, Promise::AtMost(20.0));
    drop(server);

    let arguments = bench.times(100_000, 1_000_000) as u64;
    let full = fixture::full(arguments).await;
    let took = to_healthy(bench, &full, bench.times(10, 40)).await;
    let name = format!("start to healthy, {arguments} arguments");
    figures.alone(name, "ms", took.median(), Promise::AtMost(100.0));
    let server = Server::start(bench.aw(), &full);
    LoadClient::to(server.address).await.ask(&get("/health")).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let name = format!("idle memory, {arguments} arguments");
    figures.alone(name, "MB", server.memory() as f64 / 1e6, Promise::AtMost(20.0));
}

async fn to_healthy(bench: &Bench, home: &Path, times: usize) -> Samples {
    let mut took = Samples::default();
    for _ in 0..times {
        let began = Instant::now();
        let server = Server::start(bench.aw(), home);
        LoadClient::to(server.address).await.ask(&get("/health")).await;
        took.took(began.elapsed());
        assert_eq!(server.stop().code(), Some(0));
    }
    took
}
