//! The server in the background: started, found, stopped.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::answer::Problem;
use super::reach::known_on_port;
use super::role;
use crate::home::{Home, Running};
use crate::process::Holder;
use crate::settings::ClientSettings;

/// How long a server may take to start: an import of an older database takes its time.
const START_PATIENCE: Duration = Duration::from_secs(60);

/// How long a server may take to stop.
const STOP_PATIENCE: Duration = Duration::from_secs(15);

/// How long somebody may have the lock before what it says of itself must fit.
const RECOGNITION: Duration = Duration::from_secs(1);

/// How often the folder is looked at meanwhile.
const PAUSE: Duration = Duration::from_millis(5);

/// The log is begun anew when it has grown beyond this.
const LOG_BYTES: u64 = 16 * 1024 * 1024;

/// Starts a server unless one runs already; of many who try at once, one starts it. It asks for
/// tokens when it is told to here, or by its settings.
pub(super) fn start(settings: &ClientSettings, auth: bool) -> Result<Running, Problem> {
    let home = &settings.home;
    let failed = |error: io::Error| {
        Problem::connection(format!("{}: {error}", home.path().display())).suggest("aw doctor")
    };
    let _turn = home.turn_to_start().map_err(failed)?;
    if let Some(running) = home.running().map_err(failed)? {
        return Ok(running);
    }
    if known_on_port(settings)?.is_some()
        && let Some(running) = home.running().map_err(failed)?
    {
        return Ok(running);
    }
    let log = open_log(&home.log()).map_err(failed)?;
    let began = fs::metadata(home.log()).map_or(0, |log| log.len());
    let program = std::env::current_exe().map_err(failed)?;
    let mut server = Command::new(program)
        .args(["serve", "--detached"])
        .args(auth.then_some("--auth"))
        // The token of whoever happened to start it is no business of the server's.
        .env_remove("DEBATE_AUTH_TOKEN")
        .env_remove(role::NAME)
        .stdin(Stdio::null())
        .stdout(log.try_clone().map_err(failed)?)
        .stderr(log)
        .spawn()
        .map_err(failed)?;
    let deadline = Instant::now() + START_PATIENCE;
    loop {
        if let Some(running) = home.running().map_err(failed)?
            && running.pid == server.id()
        {
            // Whoever lives as long as the server must not keep it as a corpse.
            thread::spawn(move || server.wait());
            return Ok(running);
        }
        if let Some(status) = server.try_wait().map_err(failed)? {
            // Whoever was about to start one may have been killed, but its server came up.
            if let Some(running) = home.running().map_err(failed)? {
                return Ok(running);
            }
            let why =
                last_error(&home.log(), began).unwrap_or_else(|| format!("it ended with {status}"));
            return Err(Problem::connection(format!("the server did not start: {why}"))
                .suggest(format!("See {}", home.log().display())));
        }
        if Instant::now() > deadline {
            return Err(Problem::connection("the server takes too long to start")
                .suggest(format!("See {}", home.log().display())));
        }
        thread::sleep(PAUSE);
    }
}

/// What came of stopping a server.
pub(super) struct Stopped {
    /// The one that was stopped.
    pub(super) was: Running,
    /// The one that somebody has started since.
    pub(super) next: Option<Running>,
}

/// Stops the server of this folder and returns when its lock is free, or another server has it.
pub(super) fn stop(home: &Home) -> Result<Option<Stopped>, Problem> {
    let failed = |error: io::Error| {
        Problem::connection(format!("{}: {error}", home.path().display())).suggest("aw doctor")
    };
    let Some(was) = known(home).map_err(failed)?? else { return Ok(None) };
    let pid = was.pid;
    let signalled =
        i32::try_from(pid).map_err(|_| Problem::connection("its pid makes no sense"))?;
    match kill(Pid::from_raw(signalled), Signal::SIGTERM) {
        // It has just ended by itself.
        Ok(()) | Err(Errno::ESRCH) => {}
        Err(error) => {
            return Err(Problem::connection(format!(
                "the server (pid {pid}) cannot be stopped: {error}"
            )));
        }
    }
    let deadline = Instant::now() + STOP_PATIENCE;
    while home.running_or_starting().map_err(failed)? {
        if !was.is_alive() {
            // Somebody may start the next one at once; it says so once it has started.
            let next = home
                .described()
                .filter(|next| next.pid != was.pid || next.process_began != was.process_began);
            if next.is_some() {
                return Ok(Some(Stopped { was, next }));
            }
        }
        if Instant::now() > deadline {
            return Err(if was.is_alive() {
                Problem::connection(format!("the server (pid {pid}) does not stop"))
                    .suggest(format!("kill -9 {pid}"))
            } else {
                Problem::connection(format!(
                    "the server (pid {pid}) has ended, but somebody holds its lock, {}",
                    home.path().join("server.lock").display()
                ))
                .suggest("aw server status")
            });
        }
        thread::sleep(PAUSE);
    }
    Ok(Some(Stopped { was, next: None }))
}

/// The server that has the lock, if it is the process that it says it is: its number may mean
/// somebody else by now, or mean somebody else here.
fn known(home: &Home) -> io::Result<Result<Option<Running>, Problem>> {
    let deadline = Instant::now() + RECOGNITION;
    loop {
        let Some(running) = home.running()? else { return Ok(Ok(None)) };
        let who = match home.holder()? {
            None => return Ok(Ok(None)),
            Some(Holder::Process(pid)) if pid != running.pid => format!("process {pid}"),
            Some(Holder::Hidden) => "a process that cannot be seen from here".to_owned(),
            Some(Holder::Process(_) | Holder::Unknown) if running.is_alive() => {
                return Ok(Ok(Some(running)));
            }
            Some(Holder::Process(_) | Holder::Unknown) => "another process".to_owned(),
        };
        // One that has just taken the lock may still have to take away what the last one left.
        if Instant::now() > deadline {
            return Ok(Err(Problem::connection(format!(
                "the lock of {} is held by {who}, but its server.json names process {}: nobody was stopped",
                home.path().display(),
                running.pid
            ))
            .suggest("Stop the server where it was started, for instance in its container")));
        }
        thread::sleep(PAUSE);
    }
}

fn open_log(path: &Path) -> io::Result<fs::File> {
    if let Some(folder) = path.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    if fs::metadata(path).is_ok_and(|log| log.len() > LOG_BYTES) {
        fs::rename(path, path.with_extension("log.1"))?;
    }
    fs::OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

/// The last error that the server wrote about after this place in its log.
fn last_error(log: &Path, began: u64) -> Option<String> {
    let text = fs::read(log).ok()?;
    let new = text.get(usize::try_from(began).ok()?..)?;
    let new = String::from_utf8_lossy(new);
    new.lines().rev().find_map(|line| line.strip_prefix("error: ").map(str::to_owned))
}
