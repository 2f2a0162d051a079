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
mod progress;
mod readers;
mod retries;
mod runs;
mod servers;
mod wakes;

use std::panic::resume_unwind;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use aw_trials::dice::Dice;
use aw_trials::figures::Figures;
use clap::{Parser, ValueEnum};
use progress::Progress;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;
use tokio::time::timeout;

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

    /// How often the short and the long form try, and how often one part of the long form does. Hostile
    /// and life count seconds, and cannot be divided.
    fn times(self) -> (u64, u64, u64) {
        match self {
            TrialKind::Kill => (40, 5_000, 250),
            TrialKind::Faults => (1, 40, 1),
            TrialKind::Power => (300, 20_000, 500),
            TrialKind::Retries => (800, 20_000, 2_000),
            TrialKind::Wakes => (4_000, 1_000_000, 50_000),
            TrialKind::Histories => (6_000, 1_000_000, 50_000),
            TrialKind::Hostile => (8, 300, 300),
            TrialKind::Backups => (3, 50, 5),
            TrialKind::Servers => (12, 300, 20),
            TrialKind::Runs => (12, 200, 20),
            TrialKind::Life => (8, 7_200, 7_200),
        }
    }

    async fn run(self, trial: &Trial) -> Figures {
        match self {
            TrialKind::Kill => kill::run(trial).await,
            TrialKind::Power => power::run(trial).await,
            TrialKind::Faults => faults::run(trial).await,
            TrialKind::Retries => retries::run(trial).await,
            TrialKind::Wakes => wakes::run(trial).await,
            TrialKind::Histories => histories::run(trial).await,
            TrialKind::Backups => backups::run(trial).await,
            TrialKind::Hostile => hostile::run(trial).await,
            TrialKind::Servers => servers::run(trial).await,
            TrialKind::Runs => runs::run(trial).await,
            TrialKind::Life => life::run(trial).await,
        }
    }
}

/// The arguments of a trial.
#[derive(Debug, Clone, Parser)]
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
    /// Go on with trials that were stopped, from their last finished part
    #[arg(long)]
    resume: bool,
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
    /// How often, or how many seconds.
    fn times(&self) -> u64 {
        self.times.expect("each part sets it")
    }

    fn dice(&self) -> Dice {
        Dice::of(self.seed.expect("each part sets it"))
    }

    /// The next part of a trial. Its seed follows from that of the whole and its place.
    fn part(&self, progress: &Progress, most: u64) -> Trial {
        let seed = Dice::of(progress.seed.wrapping_add(progress.done)).another().below(u64::MAX);
        let times = most.min(progress.total - progress.done);
        // One part alone has the seed that was given, so that it can be repeated.
        let seed = if times == progress.total { progress.seed } else { seed };
        Trial { times: Some(times), seed: Some(seed), ..self.clone() }
    }
}

/// Whether a program that a trial needs runs here.
fn works(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    let quiet = command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

fn main() -> ExitCode {
    let runtime = Runtime::new().unwrap();
    let code = runtime.block_on(try_all(&Trial::parse()));
    // A part that was stopped may be in long work, which does not end by itself.
    runtime.shutdown_background();
    code
}

/// Runs the trials part by part, until they are done or a signal stops them.
async fn try_all(trial: &Trial) -> ExitCode {
    let kinds = match trial.kind {
        Some(kind) => vec![kind],
        None if trial.postgres => TrialKind::IN_POSTGRES.to_vec(),
        None => TrialKind::value_variants().to_vec(),
    };
    let mut stop = signal(SignalKind::terminate()).unwrap();
    let mut interrupt = signal(SignalKind::interrupt()).unwrap();
    let mut lines = Vec::new();
    for kind in kinds {
        let value = kind.to_possible_value().expect("each has a name");
        let database = if trial.postgres { "-postgres" } else { "" };
        let name = format!("{}{database}", value.get_name());
        let (short, long, part) = kind.times();
        let total = trial.times.unwrap_or(if trial.long { long } else { short });
        let seed = trial.seed.unwrap_or_else(|| uuid::Uuid::new_v4().as_u64_pair().0);
        let kept = if trial.resume { Progress::kept(&name) } else { None };
        let mut progress = kept.unwrap_or_else(|| Progress::new(&name, seed, total));
        println!("{name}: seed {}, {} of {} done", progress.seed, progress.done, progress.total);
        while progress.done < progress.total {
            let part = trial.part(&progress, if trial.long { part } else { total });
            let (times, began) = (part.times(), Instant::now());
            // A task of its own: its long work does not keep signals waiting.
            let mut running = tokio::spawn(async move { kind.run(&part).await });
            let figures = tokio::select! {
                figures = &mut running => figures.unwrap_or_else(|broken| resume_unwind(broken.into_panic())),
                _ = stop.recv() => return stopped(running, &lines, &progress).await,
                _ = interrupt.recv() => return stopped(running, &lines, &progress).await,
            };
            progress.add(times, began.elapsed().as_secs_f64(), &figures);
            if progress.done < progress.total {
                println!("{}", progress.line());
            }
        }
        lines.push(progress.line());
    }
    println!("{}", lines.join("\n"));
    ExitCode::SUCCESS
}

/// Ends a trial after a signal, and prints its finished parts.
async fn stopped(running: JoinHandle<Figures>, lines: &[String], progress: &Progress) -> ExitCode {
    running.abort();
    // It removes its servers and folders, unless it is in long work.
    let _ = timeout(Duration::from_secs(2), running).await;
    for line in lines {
        println!("{line}");
    }
    println!("{}", progress.line());
    println!("stopped; the same command with --resume goes on");
    ExitCode::from(130)
}
