//! Trials of a real server: each tests one promise of `docs/reliability.md`.
//!
//! Each has a short form, which takes seconds, and a long form. It prints its result as the last line,
//! or panics with the broken promise. `scripts/trial` builds the server and calls this.
#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test program: an unexpected error ends it, and it prints its result"
)]

mod backups;
mod crowd;
mod faults;
mod full;
mod ground;
mod histories;
mod hostile;
mod kill;
mod life;
mod power;
mod readers;
mod retries;
mod runs;
mod servers;
mod wakes;

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use aw_trials::dice::Dice;
use clap::{Parser, ValueEnum};

/// The promise to test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TrialKind {
    /// The server is killed while eight clients write and eight wait: nothing is lost, doubled or missed
    Kill,
    /// The disk fails or is full, file handles or memory run out: the server reports it and loses nothing
    Faults,
    /// The power fails at any moment: everything acknowledged by then is on the disk
    Power,
    /// Each write is sent three to five times at once: it is recorded once
    Retries,
    /// A submit wakes its waiter exactly once
    Wakes,
    /// The answers to concurrent callers are linearizable
    Histories,
    /// Slow, silent, greedy and lying clients: submits stay quick and memory bounded
    Hostile,
    /// Backups taken under load are complete
    Backups,
    /// Three servers on one PostgreSQL die and come back: no debate is disturbed
    Servers,
    /// A run whose runner, helper, agent or server is killed, or whose disk is full, goes on to its end
    Runs,
    /// Mixed load for hours: memory, file handles and the log do not grow
    Life,
}

impl TrialKind {
    /// The trials that also run on PostgreSQL.
    const IN_POSTGRES: &[TrialKind] = &[
        TrialKind::Kill,
        TrialKind::Retries,
        TrialKind::Wakes,
        TrialKind::Histories,
        TrialKind::Servers,
    ];
}

/// The arguments of a trial.
#[derive(Debug, Parser)]
#[command(about = "Tests the promises of aw on a real server")]
pub struct Trial {
    /// The promise to test; without it all of them
    kind: Option<TrialKind>,
    /// Run the long form
    #[arg(long)]
    long: bool,
    /// How often (or how long, in seconds), instead of the form's default
    #[arg(long)]
    times: Option<u64>,
    /// Repeat a trial with its seed
    #[arg(long)]
    seed: Option<u64>,
    /// Use the PostgreSQL that scripts/postgres starts: kill, retries, wakes, histories and servers
    #[arg(long)]
    postgres: bool,
    /// Of hostile's readers, run only those whose name contains this
    #[arg(long)]
    only: Option<String>,
    /// Only measure hostile's readers, without limits
    #[arg(long)]
    measure: bool,
    /// The server's program
    #[arg(long, default_value = "target/debug/aw")]
    binary: PathBuf,
}

impl Trial {
    fn times(&self, short: u64, long: u64) -> u64 {
        self.times.unwrap_or(if self.long { long } else { short })
    }

    fn seconds(&self, short: u64, long: u64) -> Duration {
        Duration::from_secs(self.times(short, long))
    }

    fn dice(&self) -> Dice {
        Dice::of(self.seed.expect("main sets it"))
    }
}

/// Whether a program that a trial needs runs here.
fn works(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    let quiet = command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

#[tokio::main]
async fn main() {
    let mut trial = Trial::parse();
    trial.seed.get_or_insert_with(|| uuid::Uuid::new_v4().as_u64_pair().0);
    let kinds = match trial.kind {
        Some(kind) => vec![kind],
        None if trial.postgres => TrialKind::IN_POSTGRES.to_vec(),
        None => TrialKind::value_variants().to_vec(),
    };
    let mut figures = Vec::new();
    for kind in kinds {
        let name = kind.to_possible_value().expect("each has a name").get_name().to_owned();
        println!("{name}: seed {}", trial.seed.expect("main sets it"));
        let began = Instant::now();
        let figure = match kind {
            TrialKind::Kill => kill::run(&trial).await,
            TrialKind::Power => power::run(&trial).await,
            TrialKind::Faults => faults::run(&trial).await,
            TrialKind::Retries => retries::run(&trial).await,
            TrialKind::Wakes => wakes::run(&trial).await,
            TrialKind::Histories => histories::run(&trial).await,
            TrialKind::Backups => backups::run(&trial).await,
            TrialKind::Hostile => hostile::run(&trial).await,
            TrialKind::Servers => servers::run(&trial).await,
            TrialKind::Runs => runs::run(&trial).await,
            TrialKind::Life => life::run(&trial).await,
        };
        figures.push(format!("{name}: {figure} ({:.0} s)", began.elapsed().as_secs_f64()));
    }
    println!("{}", figures.join("\n"));
}
