//! Starts, finds and stops the background server.

use std::env;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use aw_record::Place;
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::connect::{server_on_port, unusable};
use super::human;
use super::output::{CliError, is_person_at};
use super::role;
use super::server::running;
use crate::api::client;
use crate::api::http::Client;
use crate::data_dir::{DataDir, Running, Started};
use crate::process::{self, Holder};
use crate::programs;
use crate::settings::ClientSettings;

/// How long a server may take to start: an import of an older database takes its time.
const START_PATIENCE: Duration = Duration::from_secs(60);

/// How long a server may take to stop.
const STOP_PATIENCE: Duration = Duration::from_secs(15);

/// How long a process that holds the lock has to write its description.
const RECOGNITION: Duration = Duration::from_secs(1);

/// The time between two looks at the data folder.
const PAUSE: Duration = Duration::from_millis(5);

/// A longer log is renamed before a new one is begun.
const LOG_BYTES: u64 = 16 * 1024 * 1024;

/// The argument that tells `aw serve` to run in the background.
const DETACHED: &str = "--detached";

/// The version of this program.
const OWN: &str = env!("CARGO_PKG_VERSION");

/// How a server is started.
#[derive(Debug, Default)]
pub(super) struct StartOptions {
    /// Whether it is given `--auth`.
    pub(super) auth_flag: bool,
    /// Whether it requires a token of every caller, even if the settings do not say so.
    pub(super) wants_token: bool,
    /// Where its record is, unless the settings say so.
    pub(super) database: Option<String>,
    /// Where it listens, unless the settings say so.
    pub(super) listen: Option<String>,
    /// Whether a command starts it without its user's order. Such a start is not remembered as the
    /// last one.
    pub(super) by_itself: bool,
}

impl StartOptions {
    /// Starts it as the user last started one, for a command that needs a server: never weaker,
    /// never with another record or address. Fails if the settings name another, or if the record
    /// is in PostgreSQL and the settings lack its URL.
    pub(super) fn of_last_start(settings: &ClientSettings) -> Result<Self, CliError> {
        let mut how = Self::for_restart(settings)?;
        how.by_itself = true;
        let Some(last) = last_start(settings)? else { return Ok(how) };
        how.wants_token = last.auth;
        let set = settings.database.as_ref().map(ToString::to_string);
        if let Some(other) = set.filter(|set| *set != last.database) {
            return Err(another(&format!("{other} is set as its database"), &last));
        }
        if settings.listen_is_set && settings.listen.to_string() != last.listen {
            return Err(another(&format!("{} is set as its address", settings.listen), &last));
        }
        Ok(how)
    }

    /// Starts it as the user last started one, except for what the settings say now.
    pub(super) fn for_restart(settings: &ClientSettings) -> Result<Self, CliError> {
        let Some(last) = last_start(settings)? else { return Ok(StartOptions::default()) };
        let is_usual = last.database == settings.home.database().display().to_string();
        let database = match &settings.database {
            Some(_) => None,
            None if is_usual => None,
            None => match last.database.parse() {
                Ok(Place::File(_)) => Some(last.database.clone()),
                Ok(Place::Postgres(_)) | Err(_) => {
                    return Err(another("no database is set", &last));
                }
            },
        };
        let listen = (!settings.listen_is_set).then_some(last.listen);
        let wants_token = last.auth && !settings.auth_is_off;
        Ok(StartOptions {
            auth_flag: last.auth_flag,
            wants_token,
            database,
            listen,
            by_itself: false,
        })
    }
}

/// How the user last started a server, if ever.
pub(super) fn last_start(settings: &ClientSettings) -> Result<Option<Started>, CliError> {
    settings.home.last_start().map_err(|error| {
        CliError::connection(format!("how the last server was started cannot be read: {error}"))
            .suggest("Start one as it should be: aw server start")
    })
}

fn another(now: &str, last: &Started) -> CliError {
    let auth = if last.auth { ", with tokens" } else { "" };
    CliError::connection(format!(
        "the last server of this data folder was started at {} on {}{auth}, but {now}: none was started",
        last.listen, last.database
    ))
    .suggest(
        "Set AW_DATABASE_URL and AW_LISTEN as they were, or start one as they are now: aw server start",
    )
}

/// Starts a server unless one runs. Of several concurrent commands, one starts it.
pub(super) fn start(settings: &ClientSettings, how: &StartOptions) -> Result<Running, CliError> {
    let home = &settings.home;
    let failed = |error: io::Error| unusable(home, &error);
    let _turn = home.lock_start().map_err(failed)?;
    if let Some(running) = alive(settings)? {
        return Ok(running);
    }
    if server_on_port(settings)?.is_some()
        && let Some(running) = home.running().map_err(failed)?
    {
        return Ok(running);
    }
    let log = open_log(&home.log()).map_err(failed)?;
    let began = fs::metadata(home.log()).map_or(0, |log| log.len());
    let mut server = Command::new(own_program().map_err(failed)?)
        .args(["serve", DETACHED])
        .args(how.auth_flag.then_some("--auth"))
        .args(how.by_itself.then_some("--by-itself"))
        .envs(how.wants_token.then_some(("AW_AUTH", "required")))
        .envs(how.database.iter().map(|database| ("AW_DATABASE_URL", database)))
        .envs(how.listen.iter().map(|listen| ("AW_LISTEN", listen)))
        // The server must not inherit the token of the command that starts it.
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
            // A parent that lives as long as the server must reap it.
            thread::spawn(move || server.wait());
            return Ok(running);
        }
        if let Some(status) = server.try_wait().map_err(failed)? {
            // The command that was starting one may have been killed, but its server came up.
            if let Some(running) = home.running().map_err(failed)? {
                return Ok(running);
            }
            let why =
                last_error(&home.log(), began).unwrap_or_else(|| format!("it ended with {status}"));
            return Err(CliError::connection(format!("the server did not start: {why}"))
                .suggest(format!("See {}", home.log().display())));
        }
        if Instant::now() > deadline {
            return Err(CliError::connection("the server takes too long to start")
                .suggest(format!("See {}", home.log().display())));
        }
        thread::sleep(PAUSE);
    }
}

/// Replaces an idle background server of an older version by one of this version. The old one stays
/// if it is in use, if a service manager or a terminal keeps it, or if it cannot be started again
/// as it was. Then every answer has a warning about its version.
pub(super) fn replace_older(
    settings: &ClientSettings,
    found: Running,
) -> Result<Running, CliError> {
    if !settings.autostart
        || !is_older(&found.version)
        || !process::has_argument(found.pid, DETACHED)
    {
        return Ok(found);
    }
    let Ok(how) = StartOptions::of_last_start(settings) else { return Ok(found) };
    {
        // Another command may be replacing it at this moment.
        let turn = settings.home.lock_start();
        let _turn = turn.map_err(|error| unusable(&settings.home, &error))?;
        match running(settings)? {
            Some(now) if !is_older(&now.version) || !is_idle(&now) => return Ok(now),
            Some(_) => drop(stop(&settings.home)?),
            None => {}
        }
    }
    let running = start(settings, &how)?;
    if is_person_at(&io::stderr()) {
        let was = &found.version;
        human::note(&format!(
            "Restarted the server: it was aw {was}, now it is {}",
            running.version
        ));
    }
    Ok(running)
}

/// Whether this is a version before the one of this program.
pub(super) fn is_older(version: &str) -> bool {
    fn numbers(version: &str) -> Option<[u64; 3]> {
        let mut parts = version.split('.').map(|part| part.parse().ok());
        let numbers = [parts.next()??, parts.next()??, parts.next()??];
        parts.next().is_none().then_some(numbers)
    }
    matches!((numbers(version), numbers(OWN)), (Some(theirs), Some(own)) if theirs < own)
}

/// Whether nobody waits at a server or watches it.
fn is_idle(server: &Running) -> bool {
    let health = Client::of_stranger(&server.url).once(&client::health(), Duration::ZERO);
    health.is_ok_and(|health| health.data.held_waits == 0 && health.data.open_sockets == 0)
}

/// This program, or the one that an upgrade has put in its place.
pub(super) fn own_program() -> io::Result<PathBuf> {
    let own = env::current_exe()?;
    if own.is_file() {
        return Ok(own);
    }
    // Linux adds this to the path of a file that was replaced or removed.
    let replaced = own.to_str().and_then(|own| own.strip_suffix(" (deleted)")).map(PathBuf::from);
    replaced.filter(|file| file.is_file()).or_else(|| programs::find("aw")).ok_or_else(|| {
        io::Error::other(
            "this aw was removed while it ran, and there is no other in PATH: install it, then run aw server start",
        )
    })
}

/// The server of this folder. Waits for one whose process is ending.
pub(super) fn alive(settings: &ClientSettings) -> Result<Option<Running>, CliError> {
    let deadline = Instant::now() + STOP_PATIENCE;
    loop {
        match running(settings)? {
            Some(running) if running.is_alive() || Instant::now() > deadline => {
                return Ok(Some(running));
            }
            Some(_) => thread::sleep(PAUSE),
            None => return Ok(None),
        }
    }
}

/// The result of stopping a server.
pub(super) struct Stopped {
    /// The one that was stopped.
    pub(super) was: Running,
    /// Another server that was started meanwhile.
    pub(super) next: Option<Running>,
}

/// Stops the server of this folder. Returns when its lock is free or another server holds it.
pub(super) fn stop(home: &DataDir) -> Result<Option<Stopped>, CliError> {
    let failed = |error: io::Error| unusable(home, &error);
    let Some(was) = lock_holder(home).map_err(failed)?? else { return Ok(None) };
    let pid = was.pid;
    let signalled =
        i32::try_from(pid).map_err(|_| CliError::connection("its pid makes no sense"))?;
    match kill(Pid::from_raw(signalled), Signal::SIGTERM) {
        // The server has just ended by itself.
        Ok(()) | Err(Errno::ESRCH) => {}
        Err(error) => {
            return Err(CliError::connection(format!(
                "the server (pid {pid}) cannot be stopped: {error}"
            )));
        }
    }
    let deadline = Instant::now() + STOP_PATIENCE;
    while home.running_or_starting().map_err(failed)? {
        if !was.is_alive() {
            // The next server may start at once. It is known once it has described itself.
            let next = home
                .described()
                .filter(|next| next.pid != was.pid || next.process_began != was.process_began);
            if next.is_some() {
                return Ok(Some(Stopped { was, next }));
            }
        }
        if Instant::now() > deadline {
            return Err(if was.is_alive() {
                CliError::connection(format!("the server (pid {pid}) does not stop"))
                    .suggest(format!("kill -9 {pid}"))
            } else {
                CliError::connection(format!(
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

/// The server that holds the lock, if `server.json` describes the process that holds it. A process
/// id alone proves nothing: it may be reused, or belong to another container.
fn lock_holder(home: &DataDir) -> io::Result<Result<Option<Running>, CliError>> {
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
        // A server that has just taken the lock may not have replaced the old description yet.
        if Instant::now() > deadline {
            return Ok(Err(CliError::connection(format!(
                "the lock of {} is held by {who}, but its server.json names process {}: no server was stopped",
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

/// The last error that the server has logged after this position.
fn last_error(log: &Path, began: u64) -> Option<String> {
    let text = fs::read(log).ok()?;
    let new = text.get(usize::try_from(began).ok()?..)?;
    let new = String::from_utf8_lossy(new);
    new.lines().rev().find_map(|line| line.strip_prefix("error: ").map(str::to_owned))
}
