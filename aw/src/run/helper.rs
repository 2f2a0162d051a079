//! The helper: the same binary as a process that leads the group of an agent program.
//!
//! The helper holds a socket to the runner as its standard input. When the runner dies in any way, the
//! socket closes, and the helper ends the group. It takes over no signal of the group: it outlives the
//! program, so that the id of the group stays taken until the runner has read how the program ended.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::{dup2_stderr, dup2_stdout, getpgrp};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

/// The time between SIGTERM and SIGKILL for a program that still runs.
pub(super) const GRACE: Duration = Duration::from_secs(5);

/// The same for processes that an ended program has left behind.
const LEFTOVERS: Duration = Duration::from_millis(200);

/// A line from the helper to the runner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HelperNotice {
    /// The program runs, with this process id.
    Started(u32),
    /// The program could not be started.
    Failed(String),
    /// The program has ended with this exit code, or by this signal.
    Exited {
        /// The exit code.
        code: Option<i32>,
        /// The signal.
        signal: Option<i32>,
    },
}

impl HelperNotice {
    fn line(&self) -> String {
        match self {
            HelperNotice::Started(pid) => format!("started {pid}\n"),
            HelperNotice::Failed(why) => format!("failed {}\n", why.replace('\n', " ")),
            HelperNotice::Exited { code: Some(code), .. } => format!("exited {code}\n"),
            HelperNotice::Exited { signal, .. } => format!("signalled {}\n", signal.unwrap_or(0)),
        }
    }

    /// Reads a line of the helper.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let (word, rest) = line.trim_end().split_once(' ')?;
        Some(match word {
            "started" => HelperNotice::Started(rest.parse().ok()?),
            "failed" => HelperNotice::Failed(rest.to_owned()),
            "exited" => HelperNotice::Exited { code: Some(rest.parse().ok()?), signal: None },
            "signalled" => HelperNotice::Exited { code: None, signal: Some(rest.parse().ok()?) },
            _ => return None,
        })
    }
}

/// An event that wakes the helper.
enum Woken {
    /// The program has ended.
    Exited(ExitStatus),
    /// The runner has closed the socket, or has died.
    Closed,
}

/// Leads the group of this program: starts it when the runner says so, reports how it ends, and ends
/// the whole group when the runner is gone.
pub fn lead(prompt: &Path, program: &[OsString]) -> ExitCode {
    match run(prompt, program) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn run(prompt: &Path, program: &[OsString]) -> io::Result<()> {
    // A signal to the group is for the program. Its own handlers are the usual ones again.
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    let mut runner = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut from_runner = BufReader::new(runner.try_clone()?);
    if from_runner.read_line(&mut String::new())? == 0 {
        return Ok(());
    }
    let started = File::open(prompt).and_then(|prompt| {
        let [name, arguments @ ..] = program else { return Err(io::ErrorKind::NotFound.into()) };
        Command::new(name).args(arguments).stdin(prompt).spawn()
    });
    let mut child = match started {
        Ok(child) => child,
        Err(error) => {
            let _ = runner.write_all(HelperNotice::Failed(error.to_string()).line().as_bytes());
            return Ok(());
        }
    };
    // Without this the output would end only with the helper.
    let nowhere = File::options().write(true).open("/dev/null")?;
    dup2_stdout(&nowhere)?;
    dup2_stderr(&nowhere)?;
    let _ = runner.write_all(HelperNotice::Started(child.id()).line().as_bytes());

    let (woken, waking) = mpsc::channel();
    let closed = woken.clone();
    thread::spawn(move || {
        // The runner sends nothing more, so this read ends when the socket does.
        let _ = from_runner.read_to_end(&mut Vec::new());
        let _ = closed.send(Woken::Closed);
    });
    thread::spawn(move || {
        let status = child.wait().unwrap_or_else(|_| ExitStatus::from_raw(1 << 8));
        let _ = woken.send(Woken::Exited(status));
    });
    watch(&waking, &mut runner);
    Ok(())
}

fn watch(waking: &Receiver<Woken>, runner: &mut UnixStream) {
    let mut grace = GRACE;
    while let Ok(Woken::Exited(status)) = waking.recv() {
        grace = LEFTOVERS;
        let notice = HelperNotice::Exited { code: status.code(), signal: status.signal() };
        let _ = runner.write_all(notice.line().as_bytes());
    }
    let group = getpgrp();
    let _ = killpg(group, Signal::SIGTERM);
    match grace {
        LEFTOVERS => thread::sleep(LEFTOVERS),
        grace => {
            if let Ok(Woken::Exited(_)) = waking.recv_timeout(grace) {
                thread::sleep(LEFTOVERS);
            }
        }
    }
    // This ends the helper too.
    let _ = killpg(group, Signal::SIGKILL);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_the_helper_is_read_as_it_was_written() {
        for notice in [
            HelperNotice::Started(7),
            HelperNotice::Failed("no such file".to_owned()),
            HelperNotice::Exited { code: Some(3), signal: None },
            HelperNotice::Exited { code: None, signal: Some(9) },
        ] {
            assert_eq!(HelperNotice::parse(&notice.line()), Some(notice));
        }
        assert_eq!(HelperNotice::parse("exited soon"), None);
    }
}
