//! `aw server`: manages the background server.

use std::fs;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use clap::Subcommand;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use super::background::{self, StartOptions, Stopped};
use super::backup::{Backup, Restore};
use super::debate::Shape;
use super::human;
use super::migrate::Migrate;
use super::output::{Answer, CliError, Format, Shown};
use super::service;
use super::session::{Session, settings};
use crate::api::client::{self, DebateFilter, DocumentFilter};
use crate::api::error::Code;
use crate::api::http::{Client, Lost, Trouble};
use crate::data_dir::Running;
use crate::settings::ClientSettings;

pub(super) const HELP: &str = "\
Run the server in the background: start, stop, look after it

Usage: aw server <command>

Run it (a command that needs it starts it by itself)
  start     Start the server, unless it runs already
  stop      Stop the server and return when it is gone
  restart   Stop the server and start it again, for instance after an update

Look after it
  status    Show whether the server runs, where, since when, and its health
  logs      Show the end of the server's log
  backup    Copy the database to a file while the server runs
  restore   Replace the database with a backup
  migrate   Move the record from SQLite to PostgreSQL, or back

Start it with your session (systemd or launchd)
  install   Write a service of this user, and say how to start it
  uninstall Remove that service

For instance
  aw server status
  aw server backup ~/debates.db

aw server <command> --help has its flags and an example.
";

/// Run the server in the background: start, stop, look after it
#[derive(Debug, Subcommand)]
#[command(defer = true, override_help = HELP)]
pub(super) enum ServerCommand {
    /// Start the server, unless it runs already
    #[command(
        after_help = "The data folder remembers how it was started: a command that finds no server starts one at the same address, on the same record, and with tokens if this one requires them. If it cannot, it starts none.\n\nExample:\n  aw server start"
    )]
    Start(Start),
    /// Stop the server and return when it is gone
    #[command(after_help = "Example:\n  aw server stop")]
    Stop(Shape),
    /// Stop the server and start it again, for instance after an update
    #[command(
        after_help = "It starts as it did before, except for settings that have changed.\n\nExample:\n  aw server restart"
    )]
    Restart(Start),
    /// Show whether the server runs, where, since when, and its health
    #[command(after_help = "Example:\n  aw server status")]
    Status(Shape),
    /// Show the end of the server's log
    #[command(after_help = "Example:\n  aw server logs --lines 200")]
    Logs(Logs),
    /// Copy the database to a file while the server runs
    #[command(after_help = "Example:\n  aw server backup ~/debates-2026-11-15.db")]
    Backup(Backup),
    /// Replace the database with a backup
    #[command(
        after_help = "No server may run meanwhile. The backup is copied, and the copy is checked and verified before it replaces the database. The old files are kept under another name. Tokens that were revoked since the backup stay revoked, and all browsers must sign in again.\n\nExample:\n  aw server restore ~/debates-2026-11-15.db"
    )]
    Restore(Restore),
    /// Move the record from SQLite to PostgreSQL, or back
    #[command(
        after_help = "The source is only read, and no server may write there meanwhile. If the move is interrupted, run the same command again: it goes on. Until it is complete, no server opens the target.\n\nExample:\n  aw server migrate --from ~/debate.db --to postgres://aw@db.example.org/aw"
    )]
    Migrate(Migrate),
    /// Write a service of this user, and say how to start it
    #[command(
        after_help = "It writes one file, a user unit for systemd or an agent for launchd, and starts nothing. A service does not see the variables of this shell: put settings into config.toml.\n\nExample:\n  aw server install"
    )]
    Install(Shape),
    /// Remove that service
    #[command(
        after_help = "A file that was changed since is left in place.\n\nExample:\n  aw server uninstall"
    )]
    Uninstall(Shape),
}

#[derive(Debug, clap::Args)]
pub(super) struct Start {
    /// Require a token of every caller; a restart repeats it [env: AW_AUTH=required]
    #[arg(long)]
    auth: bool,
    #[command(flatten)]
    shape: Shape,
}

#[derive(Debug, clap::Args)]
pub(super) struct Logs {
    /// The number of lines to show
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    lines: usize,
    /// Keep showing new lines, as plain text
    #[arg(long, short)]
    follow: bool,
    #[command(flatten)]
    shape: Shape,
}

impl ServerCommand {
    pub(super) fn format(&self) -> Format {
        match self {
            ServerCommand::Start(command) | ServerCommand::Restart(command) => {
                command.shape.format()
            }
            ServerCommand::Stop(shape)
            | ServerCommand::Status(shape)
            | ServerCommand::Install(shape)
            | ServerCommand::Uninstall(shape) => shape.format(),
            ServerCommand::Logs(command) => command.shape.format(),
            ServerCommand::Backup(command) => command.shape.format(),
            ServerCommand::Restore(command) => command.shape.format(),
            ServerCommand::Migrate(command) => command.shape.format(),
        }
    }

    pub(super) fn run(self) -> Result<Shown, CliError> {
        let settings = settings()?;
        let answer = match self {
            ServerCommand::Start(Start { auth, .. }) => {
                let already = running(&settings)?.is_some();
                // The flags count, not the last start. A file that cannot be read is written again.
                let last = settings.home.last_start().ok().flatten();
                let settings =
                    settings.without_last().map_err(|bad| CliError::input(bad.to_string()))?;
                let running = background::start(
                    &settings,
                    &StartOptions { auth_flag: auth, ..StartOptions::default() },
                )?;
                let message = if already { "The server runs already" } else { "Server started" };
                let answer = started(&settings, &running, message);
                match last {
                    _ if auth && !running.wants_token => {
                        answer.warn("it requires no token: to require one, run aw server restart --auth")
                    }
                    Some(last) if !already && last.auth && !running.wants_token => answer.warn(
                        "it requires no token, but the last server did: run aw server restart --auth",
                    ),
                    Some(last) if !already && last.database != running.database => answer.warn(
                        format!("its record is not that of the last server: {}", last.database),
                    ),
                    _ => answer,
                }
            }
            ServerCommand::Stop(_) => match background::stop(&settings.home)? {
                Some(Stopped { was, next: None }) => {
                    Answer::new(json!({"running": false, "pid": was.pid}), human::fields)
                        .message("Server stopped")
                }
                Some(Stopped { was, next: Some(next) }) => {
                    let data = json!({"running": true, "pid": was.pid, "next_pid": next.pid});
                    Answer::new(data, human::fields)
                        .message("Server stopped")
                        .warn(format!("somebody has started another one since (pid {})", next.pid))
                }
                None => Answer::new(json!({"running": false}), human::fields)
                    .message("No server was running"),
            },
            ServerCommand::Restart(Start { auth, .. }) => {
                // Whether it can be started again is checked before it is stopped.
                let mut how = StartOptions::for_restart(&settings)?;
                let stopped = background::stop(&settings.home)?;
                how.auth_flag |= auth || stopped.is_some_and(|stopped| stopped.was.auth_flag);
                let running = background::start(&settings, &how)?;
                started(&settings, &running, "Server restarted")
            }
            ServerCommand::Status(shape) => match running(&settings)? {
                Some(running) => {
                    let mut data = describe(&settings, &running);
                    count(&mut data, &running, shape.verbose);
                    Answer::new(data, human::fields)
                }
                None => Answer::new(
                    json!({"running": false, "home": settings.home.path().display().to_string()}),
                    human::fields,
                )
                .message("No server runs on this data folder")
                .next("aw server start"),
            },
            ServerCommand::Install(_) => service::install(&settings)?,
            ServerCommand::Uninstall(_) => service::uninstall()?,
            ServerCommand::Logs(command) => return command.run(&settings),
            ServerCommand::Backup(command) => return command.run(&settings),
            ServerCommand::Restore(command) => return command.run(&settings),
            ServerCommand::Migrate(command) => return command.run(),
        };
        Ok(Shown::Answer(answer))
    }
}

pub(super) fn running(settings: &ClientSettings) -> Result<Option<Running>, CliError> {
    settings
        .home
        .running()
        .map_err(|error| CliError::connection(error.to_string()).suggest("aw doctor"))
}

fn started(settings: &ClientSettings, running: &Running, message: &str) -> Answer {
    let answer = Answer::new(describe(settings, running), human::fields).message(message);
    settings.ignored.iter().fold(answer, |answer, ignored| {
        answer.warn(format!("{}. {}", ignored.what, ignored.instead))
    })
}

fn describe(settings: &ClientSettings, running: &Running) -> Value {
    let started: Option<Timestamp> = running.started_at.parse().ok();
    let uptime = started.map(|at| Timestamp::now().duration_since(at).as_secs().max(0));
    let health = Client::of_stranger(&running.url).once(&client::health(), Duration::ZERO);
    let health = match health {
        Ok(health) => health.data.status,
        Err(Trouble::Refused(error) | Trouble::Busy(error, _)) => error.data.message,
        Err(
            Trouble::Unreachable(Lost { why, .. })
            | Trouble::Stranger(why)
            | Trouble::Unreadable(why),
        ) => why,
    };
    json!({
        "running": true,
        "pid": running.pid,
        "url": running.url,
        "version": running.version,
        "started_at": running.started_at,
        "uptime_s": uptime,
        "database": running.database,
        "health": health,
        "auth": if running.wants_token { "required" } else { "off" },
        "log": settings.home.log().display().to_string(),
        "home": settings.home.path().display().to_string(),
    })
}

/// Adds the size of the record and the number of its debates and documents, if known.
fn count(data: &mut Value, running: &Running, verbose: bool) {
    let file = Path::new(&running.database);
    let size = |path: PathBuf| fs::metadata(path).map(|file| file.len()).ok();
    if let Some(size_of_file) = size(file.to_owned()) {
        let log = file.with_file_name(format!(
            "{}-wal",
            file.file_name().unwrap_or_default().to_string_lossy()
        ));
        data["bytes"] = json!(size_of_file + size(log).unwrap_or(0));
    }
    // A hanging server would hold this command for its whole time limit.
    if data["health"] != "ok" {
        return;
    }
    // A server that requires another token is described all the same.
    let Ok(session) = Session::open(verbose) else { return };
    let total = |filter: DebateFilter<'_>| {
        session.call(&client::debates(&filter)).ok().map(|list| list.data.total)
    };
    let all = DebateFilter::default();
    data["debates"] = json!(total(all.clone()));
    data["open_debates"] = json!(total(DebateFilter { outcome: Some("open"), ..all.clone() }));
    data["archived_debates"] = json!(total(DebateFilter { archived: true, ..all }));
    let documents = session.call(&client::documents(DocumentFilter::default()));
    data["documents"] = json!(documents.ok().map(|list| list.data.total));
}

/// The last lines of the log.
#[derive(Debug, Serialize)]
pub(super) struct LogLines {
    path: String,
    pub(super) lines: Vec<String>,
}

impl Logs {
    fn run(self, settings: &ClientSettings) -> Result<Shown, CliError> {
        let path = settings.home.log();
        let missing = |error: io::Error| {
            let message = match error.kind() {
                ErrorKind::NotFound => format!("there is no log at {} yet", path.display()),
                _ => format!("{}: {error}", path.display()),
            };
            CliError::new(Code::FileNotFound, message)
                .suggest("A server in the background writes it: aw server start")
        };
        let text = fs::read(&path).map_err(missing)?;
        let text = String::from_utf8_lossy(&text);
        let all: Vec<&str> = text.lines().collect();
        let last = &all[all.len().saturating_sub(self.lines)..];
        if !self.follow {
            let lines = last.iter().map(|line| (*line).to_owned()).collect();
            let log = LogLines { path: path.display().to_string(), lines };
            return Ok(Shown::Answer(Answer::new(log, human::log)));
        }
        let mut out = io::stdout();
        let mut show =
            |text: &str| out.write_all(human::shown(text).as_bytes()).and_then(|()| out.flush());
        let mut file = fs::File::open(&path).map_err(missing)?;
        let mut place = file.seek(SeekFrom::End(0)).map_err(missing)?;
        let mut gone = show(&(last.join("\n") + "\n")).is_err();
        while !gone {
            let mut added = Vec::new();
            file.seek(SeekFrom::Start(place)).map_err(missing)?;
            file.read_to_end(&mut added).map_err(missing)?;
            place += added.len() as u64;
            gone = !added.is_empty() && show(&String::from_utf8_lossy(&added)).is_err();
            thread::sleep(Duration::from_millis(200));
        }
        Ok(Shown::Nothing)
    }
}
