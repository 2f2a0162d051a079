//! The real binary as a server process that can be stopped, killed and watched.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::{self, Signal};
use nix::unistd::Pid;

use crate::line::{CEILING, Line};

/// `aw serve` as a process, killed on drop.
pub struct Server {
    pub address: SocketAddr,
    /// The server, or the program that runs it.
    child: Child,
    pub pid: Pid,
    log: PathBuf,
}

impl Server {
    /// Starts the binary on this data folder and waits until it listens.
    pub fn start(binary: &Path, home: &Path) -> Self {
        Self::start_as(binary, home, |command| command)
    }

    /// The same, with a changed command.
    pub fn start_as(binary: &Path, home: &Path, dress: impl Fn(Command) -> Command) -> Self {
        for _ in 0..20 {
            if let Some(server) = Self::try_start(binary, home, &dress) {
                return server;
            }
        }
        panic!("the server did not start: {}", last_words(&home.join("trial.log")));
    }

    /// Starts it once; `None` if it ends without listening.
    pub fn try_start(
        binary: &Path,
        home: &Path,
        dress: impl Fn(Command) -> Command,
    ) -> Option<Self> {
        let address = free_address();
        let log = home.join("trial.log");
        let mut command = Command::new(binary);
        command
            .args(["serve", "--listen", &address.to_string()])
            .env("AWEAVE_HOME", home)
            .env_remove("AW_AUTH_TOKEN")
            .env_remove("AW_DATABASE_URL");
        let mut child = dress(command)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::options().create(true).append(true).open(&log).expect("a log"))
            .spawn()
            .expect("the binary is built");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("it is piped"))
            .read_line(&mut line)
            .expect("it says that it listens");
        if line.contains("http://") {
            let pid = only_child_of(child.id()).unwrap_or(child.id());
            let pid = Pid::from_raw(i32::try_from(pid).expect("a pid"));
            return Some(Server { address, child, pid, log });
        }
        child.wait().expect("it has ended");
        None
    }

    pub fn line(&self) -> Line {
        Line::to(self.address)
    }

    /// `kill -9`
    pub fn kill(mut self) {
        self.signal(Signal::SIGKILL);
        self.child.wait().expect("it has ended");
    }

    pub fn signal(&self, what: Signal) {
        signal::kill(self.pid, what).expect("it runs");
    }

    /// Stops it with SIGTERM and returns how it ended.
    pub fn stop(mut self) -> ExitStatus {
        self.signal(Signal::SIGTERM);
        self.ended()
    }

    /// Waits until it ends, and returns how.
    pub fn ended(&mut self) -> ExitStatus {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("it can be waited for") {
                return status;
            }
            assert!(began.elapsed() < CEILING, "the server does not end: {}", self.said());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Whether it still runs.
    pub fn runs(&mut self) -> bool {
        self.child.try_wait().expect("it can be waited for").is_none()
    }

    /// The end of its log.
    pub fn said(&self) -> String {
        last_words(&self.log)
    }

    /// Its resident memory in bytes.
    pub fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).expect("it runs");
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a size");
        let kilobytes = line.split_whitespace().nth(1).expect("a number");
        kilobytes.parse::<u64>().expect("a number") * 1024
    }

    /// How many files and sockets it has open.
    pub fn handles(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.pid)).expect("it runs").count()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            self.signal(Signal::SIGKILL);
            let _ = self.child.wait();
        }
    }
}

/// A command wrapped in another program.
pub fn inside(command: &Command, runner: &Command) -> Command {
    let mut both = Command::new(runner.get_program());
    both.args(runner.get_args()).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => both.env(name, value),
            None => both.env_remove(name),
        };
    }
    both
}

/// The path of a server's database.
pub fn database_in(home: &Path) -> PathBuf {
    home.join("db").join("debate.db")
}

fn only_child_of(pid: u32) -> Option<u32> {
    fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?.trim().parse().ok()
}

fn last_words(log: &Path) -> String {
    let words = fs::read(log).unwrap_or_default();
    String::from_utf8_lossy(&words[words.len().saturating_sub(2000)..]).into_owned()
}

/// A free address on this machine with a port below 30000.
pub fn free_address() -> SocketAddr {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let start = std::process::id().wrapping_mul(131);
    for _ in 0..10_000 {
        let step = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = 20_000 + (start.wrapping_add(step) % 9_900);
        let port = u16::try_from(port).expect("below 30000");
        if let Ok(listener) = TcpListener::bind(("127.0.0.1", port)) {
            return listener.local_addr().expect("it is bound");
        }
    }
    panic!("no free port below 30000");
}
