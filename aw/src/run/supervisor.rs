//! Starts an agent program below its helper, reads its output, and ends it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::folder;
use super::helper::HelperNotice;
use crate::programs;

/// The bytes of each stream that go to its file.
const KEPT: u64 = 64 * 1024 * 1024;

/// The longest line that is read.
const LONGEST_LINE: usize = 4 * 1024 * 1024;

/// The options with which a program starts.
pub(super) struct ProgramSetup<'a> {
    /// The program and its arguments.
    pub(super) program: Vec<OsString>,
    /// Its whole environment.
    pub(super) environment: Vec<(OsString, OsString)>,
    /// The folder that it works in.
    pub(super) folder: &'a Path,
    /// The file with its prompt.
    pub(super) prompt: &'a Path,
    /// The files that its output goes to.
    pub(super) stdout: &'a Path,
    pub(super) stderr: &'a Path,
}

/// An event of a running program.
#[derive(Debug)]
pub(super) enum ProgramEvent {
    /// The helper says this.
    Helper(HelperNotice),
    /// The helper has died without reporting how the program ended.
    HelperDied,
    /// A line of stdout.
    Line(Vec<u8>),
    /// A line of stderr.
    ErrorLine(Vec<u8>),
    /// Both outputs have ended.
    OutputEnded,
    /// A file for output cannot be written.
    NotWritten(String),
}

/// A program that runs below its helper.
pub(super) struct RunningProgram {
    helper: Child,
    socket: UnixStream,
    events: Receiver<ProgramEvent>,
}

impl RunningProgram {
    /// Starts the helper, which waits for [`RunningProgram::go`].
    pub(super) fn prepare(setup: &ProgramSetup<'_>) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        let mut command = Command::new(programs::own()?);
        command
            .arg(super::HELPER)
            .arg(setup.prompt)
            .arg("--")
            .args(&setup.program)
            .env_clear()
            .envs(setup.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(setup.folder)
            .process_group(0)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let stdout = folder::fresh_file(setup.stdout)?;
        let stderr = folder::fresh_file(setup.stderr)?;
        let mut helper = command.spawn()?;
        // The command holds the helper's end of the socket.
        drop(command);
        let (sender, events) = mpsc::channel();
        let (ended, both_ended) = mpsc::channel::<()>();
        if let Some(pipe) = helper.stdout.take() {
            let (sender, ended) = (sender.clone(), ended.clone());
            thread::spawn(move || {
                pump(pipe, stdout, &sender, ProgramEvent::Line);
                drop(ended);
            });
        }
        if let Some(pipe) = helper.stderr.take() {
            let sender = sender.clone();
            thread::spawn(move || {
                pump(pipe, stderr, &sender, ProgramEvent::ErrorLine);
                drop(ended);
            });
        }
        let output = sender.clone();
        thread::spawn(move || {
            // This stays unused: it fails when both pumps are done.
            let _ = both_ended.recv();
            let _ = output.send(ProgramEvent::OutputEnded);
        });
        let notice = ours.try_clone()?;
        thread::spawn(move || listen(notice, &sender));
        Ok(RunningProgram { helper, socket: ours, events })
    }

    /// The process group, which the helper leads.
    pub(super) fn group(&self) -> u32 {
        self.helper.id()
    }

    /// Lets the helper start the program.
    pub(super) fn go(&mut self) -> io::Result<()> {
        self.socket.write_all(b"go\n")
    }

    /// The next event within this time.
    pub(super) fn event(&self, within: Duration) -> Option<ProgramEvent> {
        match self.events.recv_timeout(within) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(ProgramEvent::HelperDied),
        }
    }

    /// Sends a signal to the whole group. The helper was not reaped, so the id is still the group's.
    pub(super) fn signal(&self, signal: Signal) {
        if let Ok(group) = i32::try_from(self.helper.id()) {
            let _ = killpg(Pid::from_raw(group), signal);
        }
    }

    /// Lets the helper end what the program has left behind. This does not wait for it.
    pub(super) fn leave(mut self) -> JoinHandle<()> {
        let _ = self.socket.shutdown(Shutdown::Both);
        thread::spawn(move || drop(self.helper.wait()))
    }

    /// Ends the group at once.
    pub(super) fn kill(mut self) {
        self.signal(Signal::SIGKILL);
        let _ = self.helper.wait();
    }
}

/// Passes on the lines of the helper.
fn listen(socket: UnixStream, events: &Sender<ProgramEvent>) {
    let mut ended = false;
    for line in BufReader::new(socket).lines() {
        let Some(notice) = line.ok().and_then(|line| HelperNotice::parse(&line)) else { break };
        ended |= matches!(notice, HelperNotice::Exited { .. } | HelperNotice::Failed(_));
        if events.send(ProgramEvent::Helper(notice)).is_err() {
            return;
        }
    }
    if !ended {
        let _ = events.send(ProgramEvent::HelperDied);
    }
}

/// Writes a stream into its file, up to the limit, and passes its lines on.
fn pump(
    mut pipe: impl Read,
    mut file: File,
    events: &Sender<ProgramEvent>,
    as_event: fn(Vec<u8>) -> ProgramEvent,
) {
    let mut left = KEPT;
    let mut line = Some(Vec::new());
    let mut chunk = vec![0; 64 * 1024];
    loop {
        let read = match pipe.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        let chunk = &chunk[..read];
        let kept = read.min(usize::try_from(left).unwrap_or(usize::MAX));
        if kept > 0 {
            left -= kept as u64;
            if let Err(error) = file.write_all(&chunk[..kept]) {
                left = 0;
                let _ = events.send(ProgramEvent::NotWritten(error.to_string()));
            }
        }
        let mut pieces = chunk.split(|byte| *byte == b'\n');
        let last = pieces.next_back().unwrap_or_default();
        for piece in pieces {
            if let Some(mut whole) = line.take() {
                whole.extend_from_slice(piece);
                if whole.len() <= LONGEST_LINE && events.send(as_event(whole)).is_err() {
                    return;
                }
            }
            line = Some(Vec::new());
        }
        if let Some(begun) = &mut line {
            begun.extend_from_slice(last);
            if begun.len() > LONGEST_LINE {
                // The rest of a line that is too long is skipped.
                line = None;
            }
        }
    }
    if let Some(rest) = line
        && !rest.is_empty()
    {
        let _ = events.send(as_event(rest));
    }
}
