//! Measures the cost of `aw`, compared with the limits of the machine.
//!
//! Every figure is measured on real processes over loopback, alternately with its limit in the same
//! run. `scripts/bench` builds the programs and calls this. It prints the figures as one table, writes
//! them as JSON, and with `--publish` into `docs/performance.md`.
#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test program: an unexpected error ends it, and it prints its result"
)]

mod caller;
mod commands;
mod crowds;
mod distance;
mod exact;
mod figures;
mod fixture;
mod growth;
mod page;
mod points;
mod publish;
mod reads;
mod samples;
mod servers;
mod size;
mod starts;
mod writes;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};

use figures::Figures;

/// A group of figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Subject {
    /// Whole commands: the start of the CLI, a submit, a wake
    Commands,
    /// Held waits and sockets: their cost, and how soon they are served
    Crowds,
    /// Durable submits a second
    Writes,
    /// Reads a second
    Reads,
    /// From the start of a server to its first answer
    Starts,
    /// The cost of each request in a full file
    Growth,
    /// The page of a long debate
    Page,
    /// Points: a submit with quotes, a search in a long document, the bytes of a wait
    Points,
    /// Several servers on one PostgreSQL
    Servers,
    /// The size of the binary and its build time
    Size,
}

/// Measures aw compared with the limits of the machine.
#[derive(Debug, Parser)]
pub struct Bench {
    /// The groups to measure; without one all of them
    subjects: Vec<Subject>,
    /// Measure in two minutes, with fewer samples and smaller files
    #[arg(long)]
    quick: bool,
    /// Count instructions with callgrind instead, and compare them with the recorded counts
    #[arg(long)]
    exact: bool,
    /// With --exact: record the counts
    #[arg(long, requires = "exact")]
    record: bool,
    /// Write the figures into docs/performance.md
    #[arg(long)]
    publish: bool,
    /// Also build the programs from scratch and measure the time
    #[arg(long)]
    builds: bool,
    /// The program that is measured
    #[arg(long, default_value = "target/dist/aw")]
    program: PathBuf,
    /// The folder of the programs that it is compared with
    #[arg(long, default_value = "target/limits/examples")]
    limits: PathBuf,
}

impl Bench {
    /// The number of repetitions, quick or whole.
    fn times(&self, quick: usize, whole: usize) -> usize {
        if self.quick { quick } else { whole }
    }

    fn seconds(&self, quick: f64, whole: f64) -> Duration {
        Duration::from_secs_f64(if self.quick { quick } else { whole })
    }

    /// The program that is measured.
    fn aw(&self) -> &Path {
        &self.program
    }

    /// The profile that it was built with: the name of its folder.
    fn profile(&self) -> String {
        let folder = self.program.parent().and_then(Path::file_name);
        folder.map_or("unknown".into(), |name| name.to_string_lossy().into_owned())
    }

    /// A minimal program to compare with.
    fn limit(&self, name: &str) -> PathBuf {
        self.limits.join(name)
    }

    /// Whether a program is installed.
    fn finds(program: &str) -> bool {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(program).exists())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let bench = Bench::parse();
    open_files();
    if bench.exact {
        exact::compare(&bench);
        return;
    }
    let subjects = match bench.subjects.as_slice() {
        [] => Subject::value_variants(),
        some => some,
    };
    let mut figures = Figures::default();
    for subject in subjects {
        let began = Instant::now();
        match subject {
            Subject::Commands => commands::measure(&bench, &mut figures).await,
            Subject::Crowds => crowds::measure(&bench, &mut figures).await,
            Subject::Writes => writes::measure(&bench, &mut figures).await,
            Subject::Reads => reads::measure(&bench, &mut figures).await,
            Subject::Starts => starts::measure(&bench, &mut figures).await,
            Subject::Growth => growth::measure(&bench, &mut figures).await,
            Subject::Page => page::measure(&bench, &mut figures).await,
            Subject::Points => points::measure(&bench, &mut figures).await,
            Subject::Servers => servers::measure(&bench, &mut figures).await,
            Subject::Size => size::measure(&bench, &mut figures),
        }
        let name = subject.to_possible_value().expect("each has a name").get_name().to_owned();
        eprintln!("{name}: {:.0} s", began.elapsed().as_secs_f64());
    }
    println!("{} (profile {})\n{}", bench.aw().display(), bench.profile(), figures.table());
    let kept = Path::new("target/bench/figures.json");
    std::fs::create_dir_all(kept.parent().expect("a folder")).unwrap();
    std::fs::write(kept, figures.json()).unwrap();
    println!("The same as JSON: {}", kept.display());
    if bench.publish {
        publish::write(&bench.profile(), &figures);
    }
}

/// Raises the limit on open files for ten thousand connections.
fn open_files() {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, most, most).unwrap();
}
