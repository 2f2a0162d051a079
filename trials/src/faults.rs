//! Failing, full and short writes, failing reads, no file handles, no memory. libfiu makes these faults
//! in the real server while eight debates are held.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use aw_trials::figures::Figures;
use aw_trials::line::{CEILING, Line};
use aw_trials::record;
use aw_trials::server::{Server, database_in, inside};
use futures_util::future::join_all;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::crowd::Crowd;
use crate::{Trial, full, works};

/// A fault.
struct Fault {
    what: &'static str,
    /// Its name in libfiu.
    point: &'static str,
    errno: u32,
    /// How often it fails, in a million calls, when it fails at random.
    chance: u32,
    /// The effect when it always fails.
    effect: Effect,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Nothing is acknowledged, `/health` reports it, and everything can be read.
    NoWrites,
    /// The server continues.
    None,
    /// The server may end.
    Death,
}

const FAULTS: [Fault; 7] = [
    fault("fsync fails", "posix/io/sync/fsync", 5, 50_000, Effect::NoWrites),
    fault("write fails", "posix/io/rw/pwrite", 5, 2_000, Effect::NoWrites),
    fault("no room", "posix/io/rw/pwrite", 28, 2_000, Effect::NoWrites),
    fault("short writes", "posix/io/rw/pwrite/reduce", 0, 200_000, Effect::None),
    fault("read fails", "posix/io/rw/pread", 5, 200_000, Effect::None),
    fault("no file handle", "posix/io/oc/open", 24, 1_000_000, Effect::None),
    fault("no memory", "libc/mm/malloc", 12, 20, Effect::Death),
];

const fn fault(
    what: &'static str,
    point: &'static str,
    errno: u32,
    chance: u32,
    effect: Effect,
) -> Fault {
    Fault { what, point, errno, chance, effect }
}

pub async fn run(trial: &Trial) -> Figures {
    assert!(works("fiu-run", &["-x", "true"]), "faults need libfiu: apt-get install fiu-utils");
    let rounds = trial.times();
    let mut dice = trial.dice();
    let mut figures = Figures::default().count(rounds, "rounds of nine kinds");
    for fault in FAULTS {
        let home = tempfile::tempdir().unwrap();
        let mut crowd = Crowd::gather(8, &mut dice);
        let mut server = Faulty::start(trial, home.path());
        let mut deaths = 0;
        for _ in 0..rounds {
            crowd.at(server.address());
            crowd.goes_on(50).await;
            server.fail(&fault, Some(fault.chance));
            struggle(&mut crowd, &mut server).await;
            let died = !server.process.runs();
            if fault.effect == Effect::Death {
                // After a failed allocation the server is always restarted.
                crowd.away();
                deaths += u64::from(died);
                drop(server);
                server = Faulty::start(trial, home.path());
                crowd.finds_everything(&mut server.process.line()).await;
                continue;
            }
            assert!(!died, "{}: it ended: {}", fault.what, server.said());
            if fault.effect == Effect::NoWrites {
                server.fail(&fault, None);
                let code = if fault.errno == 28 { "STORAGE_FULL" } else { "SERVER_ERROR" };
                no_writes(&crowd, &server.process, code).await;
            }
            server.mend(&fault);
            healthy(&mut server.process.line()).await;
            crowd.goes_on(20).await;
            crowd.finds_everything(&mut server.process.line()).await;
        }
        crowd.at(server.address());
        crowd.leaves().await;
        assert_eq!(server.process.stop().code(), Some(0), "{}", fault.what);
        let account = crowd.account(&record::sound(&database_in(home.path())));
        println!("faults: {}: {account}, {deaths} deaths", fault.what);
        figures = figures.and(&account).count(deaths, "deaths without memory");
    }
    let few = few_handles(trial, rounds).await;
    println!("faults: few file handles: {few}");
    let full = full::disk(trial, rounds).await;
    println!("faults: full disk: {full}");
    figures.and(&few).and(&full)
}

/// A server that may open 64 files, and three hundred clients that connect and send nothing.
async fn few_handles(trial: &Trial, rounds: u64) -> Figures {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start_as(&trial.binary, home.path(), |command| {
        inside(&command, Command::new("prlimit").arg("--nofile=64:64"))
    });
    let mut crowd = Crowd::gather(8, &mut trial.dice());
    crowd.at(server.address);
    for _ in 0..rounds {
        crowd.goes_on(50).await;
        // Those beyond the accept queue time out.
        let knock = || timeout(Duration::from_millis(500), TcpStream::connect(server.address));
        let silent = join_all((0..300).map(|_| knock())).await;
        assert!(server.handles() >= 64, "it has handles left");
        drop(silent);
        healthy(&mut server.line()).await;
        crowd.goes_on(50).await;
        crowd.finds_everything(&mut server.line()).await;
    }
    crowd.leaves().await;
    assert_eq!(server.stop().code(), Some(0));
    crowd.account(&record::sound(&database_in(home.path())))
}

/// Waits while the fault occurs at random, until enough requests were refused or time is up.
async fn struggle(crowd: &mut Crowd, server: &mut Faulty) {
    let (before, began) = (crowd.refused(), Instant::now());
    while began.elapsed() < Duration::from_millis(400)
        && crowd.refused() < before + 200
        && server.process.runs()
    {
        sleep(Duration::from_millis(5)).await;
    }
}

/// Checks a server that cannot write: `/health` reports it, writes are refused, reads work.
pub(crate) async fn no_writes(crowd: &Crowd, server: &Server, code: &str) {
    let mut line = server.line();
    let began = Instant::now();
    loop {
        let health = line.get("/health").await.unwrap();
        if !health.status.is_success() {
            assert_eq!(health.code(), code, "{}", health.body);
            break;
        }
        assert!(began.elapsed() < CEILING, "it does not say that it cannot write");
        sleep(Duration::from_millis(5)).await;
    }
    let refused = crowd.refused();
    while crowd.refused() < refused + 8 {
        assert!(began.elapsed() < CEILING, "no write is refused");
        sleep(Duration::from_millis(5)).await;
    }
    let list = line.get("/debates?limit=500").await.unwrap().data();
    for debate in list["debates"].as_array().unwrap().iter().take(20) {
        let id = debate["id"].as_str().unwrap();
        line.get(&format!("/debates/{id}")).await.unwrap().data();
    }
}

/// Waits until the server reports, without a restart, that it can write.
pub(crate) async fn healthy(line: &mut Line) {
    let began = Instant::now();
    loop {
        if let Ok(answer) = line.get("/health").await
            && answer.status.is_success()
        {
            return;
        }
        assert!(began.elapsed() < CEILING, "it does not recover");
        sleep(Duration::from_millis(5)).await;
    }
}

/// A server in which faults can be switched on.
struct Faulty {
    process: Server,
    control: PathBuf,
}

impl Faulty {
    fn start(trial: &Trial, home: &Path) -> Self {
        let control = home.join("fiu");
        let process = Server::start_as(&trial.binary, home, |command| {
            inside(&command, Command::new("fiu-run").arg("-x").arg("-f").arg(&control))
        });
        Faulty { process, control }
    }

    fn address(&self) -> std::net::SocketAddr {
        self.process.address
    }

    fn said(&self) -> String {
        self.process.said()
    }

    /// Switches a fault on, at random or always.
    fn fail(&self, fault: &Fault, chance: Option<u32>) {
        let (point, errno) = (fault.point, fault.errno);
        let command = match chance {
            Some(chance) => format!(
                "enable_random name={point},failinfo={errno},probability={}",
                f64::from(chance) / 1e6
            ),
            None => format!("enable name={point},failinfo={errno}"),
        };
        self.control(&command);
    }

    fn mend(&self, fault: &Fault) {
        self.control(&format!("disable name={}", fault.point));
    }

    fn control(&self, command: &str) {
        let done = Command::new("fiu-ctrl")
            .arg("-f")
            .arg(&self.control)
            .args(["-c", command, &self.process.pid.to_string()])
            .stdout(Stdio::null())
            .status()
            .expect("fiu-ctrl is there");
        // A dying server does not answer.
        let _ = done.success();
    }
}
