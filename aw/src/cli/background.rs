//! The server in the background: started, found, stopped.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::answer::Problem;
use super::reach::known_on_port;
use super::role;
use crate::home::{Home, Running};
use crate::settings::ClientSettings;

/// How long a server may take to start: an import of an older database takes its time.
const START_PATIENCE: Duration = Duration::from_secs(60);

/// How long a server may take to stop.
const STOP_PATIENCE: Duration = Duration::from_secs(15);

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

/// Stops the server of this folder and returns when it is gone.
pub(super) fn stop(home: &Home) -> Result<Option<Running>, Problem> {
    let failed = |error: io::Error| {
        Problem::connection(format!("{}: {error}", home.path().display())).suggest("aw doctor")
    };
    let Some(running) = home.running().map_err(failed)? else { return Ok(None) };
    // The lock proves that this process is the server: it is held while we look.
    let pid =
        i32::try_from(running.pid).map_err(|_| Problem::connection("its pid makes no sense"))?;
    kill(Pid::from_raw(pid), Signal::SIGTERM).map_err(|error| {
        Problem::connection(format!("the server (pid {pid}) cannot be stopped: {error}"))
    })?;
    let deadline = Instant::now() + STOP_PATIENCE;
    // Somebody may start the next one at once, so a lock that is held again proves nothing.
    while home.running_or_starting().map_err(failed)? && kill(Pid::from_raw(pid), None).is_ok() {
        if Instant::now() > deadline {
            return Err(Problem::connection(format!("the server (pid {pid}) does not stop"))
                .suggest(format!("kill -9 {pid}")));
        }
        thread::sleep(PAUSE);
    }
    Ok(Some(running))
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
