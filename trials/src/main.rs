//! Trials of a real server: what is promised is tried until it would show.
//!
//! Each has a short form, which takes seconds, and a long one; each prints its figure last, or ends
//! with what it found. `scripts/trial` builds the server and calls this.
#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "this is a rig: a surprise ends it, and what it finds is for whoever runs it"
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
mod servers;
mod wakes;

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use aw_trials::dice::Dice;
use clap::{Parser, ValueEnum};

/// Which promise is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Promise {
    /// The server is killed while eight write and eight wait: nothing is lost, doubled or missed
    Kill,
    /// The disk fails or is full, no file handles, no memory: it says so and loses nothing
    Faults,
    /// The power goes at any moment: everything acknowledged by then is on the disk
    Power,
    /// Each write is sent three to five times at once: it is there once
    Retries,
    /// A submit wakes who waits for it: none is slept through, none told twice
    Wakes,
    /// Many call at once: what they are told could have happened one after the other
    Histories,
    /// Slow, silent, greedy and lying clients: submits stay quick and memory bounded
    Hostile,
    /// Backups taken under load are whole
    Backups,
    /// Three servers on one PostgreSQL, which die and come back: nobody who debates notices
    Servers,
    /// Mixed load for hours: memory, file handles and the log stay as they are
    Life,
}

impl Promise {
    /// Those that are tried in PostgreSQL too.
    const IN_POSTGRES: &[Promise] =
        &[Promise::Kill, Promise::Retries, Promise::Wakes, Promise::Histories, Promise::Servers];
}

/// How a promise is tried.
#[derive(Debug, Parser)]
#[command(about = "Tries what aw promises on a real server")]
pub struct Trial {
    /// What is tried; without it everything, in the short form
    promise: Option<Promise>,
    /// For as long as it takes to be sure
    #[arg(long)]
    long: bool,
    /// How often (or how long, in seconds) instead of what the form says
    #[arg(long)]
    times: Option<u64>,
    /// Repeats a trial as it was
    #[arg(long)]
    seed: Option<u64>,
    /// In the PostgreSQL that scripts/postgres starts: kill, retries, wakes, histories and servers
    #[arg(long)]
    postgres: bool,
    /// Of the readers of hostile only those whose name has this in it
    #[arg(long)]
    only: Option<String>,
    /// Only measure hostile's readers: no limit ends it
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
        Dice::of(self.seed.expect("it is settled at the start"))
    }
}

/// Whether a program that a trial needs is there, and can do its work here.
fn works(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    let quiet = command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

#[tokio::main]
async fn main() {
    let mut trial = Trial::parse();
    trial.seed.get_or_insert_with(|| uuid::Uuid::new_v4().as_u64_pair().0);
    let promises = match trial.promise {
        Some(promise) => vec![promise],
        None if trial.postgres => Promise::IN_POSTGRES.to_vec(),
        None => Promise::value_variants().to_vec(),
    };
    let mut figures = Vec::new();
    for promise in promises {
        let name = promise.to_possible_value().expect("each has a name").get_name().to_owned();
        println!("{name}: seed {}", trial.seed.expect("it is settled"));
        let began = Instant::now();
        let figure = match promise {
            Promise::Kill => kill::run(&trial).await,
            Promise::Power => power::run(&trial).await,
            Promise::Faults => faults::run(&trial).await,
            Promise::Retries => retries::run(&trial).await,
            Promise::Wakes => wakes::run(&trial).await,
            Promise::Histories => histories::run(&trial).await,
            Promise::Backups => backups::run(&trial).await,
            Promise::Hostile => hostile::run(&trial).await,
            Promise::Servers => servers::run(&trial).await,
            Promise::Life => life::run(&trial).await,
        };
        figures.push(format!("{name}: {figure} ({:.0} s)", began.elapsed().as_secs_f64()));
    }
    println!("{}", figures.join("\n"));
}
