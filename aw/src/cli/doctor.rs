//! `aw doctor`: checks everything and names the fix for each fault.

mod older;
mod record;
mod tokens;

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::Serialize;

use super::background::{StartOptions, is_older};
use super::connect::{Connection, server_on_port};
use super::human;
use super::output::{Answer, CliError, Shown};
use super::session::settings;
use crate::api::client;
use crate::api::http::{BUDGET, Lost, Trouble};
use crate::data_dir::{DataDir, private};
use crate::programs;
use crate::settings::{BadSetting, ClientSettings, Flags, ServerSettings, environment};

/// What to do about a setting that cannot be used.
const CORRECT: &str = "Correct the environment variable or ~/.aweave/config.toml";

/// Runs all checks.
pub(super) fn examine() -> Shown {
    let mut checks = vec![binary()];
    match settings() {
        Ok(settings) => {
            checks.push(match server_settings(&settings) {
                Ok(()) => Check::ok("settings", "they are valid"),
                Err(bad) => Check::failed("settings", &bad.to_string(), CORRECT),
            });
            checks.push(folder(&settings));
            checks.extend(server(&settings));
            if settings.server_url.is_none() {
                let running = matches!(settings.home.running(), Ok(Some(_)));
                checks.extend(older::checks(&settings, running));
            }
        }
        Err(problem) => checks.push(Check::failed("settings", &problem.message, CORRECT)),
    }
    let (bad, odd) = count(&checks);
    let message = match (bad, odd) {
        (0, 0) => "Everything is as it should be".to_owned(),
        (0, 1) => "1 warning".to_owned(),
        (0, odd) => format!("{odd} warnings"),
        (bad, 0) => format!("{bad} failed"),
        (bad, odd) => format!("{bad} failed, warnings: {odd}"),
    };
    let healthy = bad == 0;
    let findings = Findings { healthy, version: env!("CARGO_PKG_VERSION"), checks };
    let answer = Answer::new(findings, human::checks).message(message);
    if healthy { Shown::Answer(answer) } else { Shown::Unhealthy(answer) }
}

/// Everything that was found.
#[derive(Debug, Serialize)]
struct Findings {
    healthy: bool,
    version: &'static str,
    checks: Vec<Check>,
}

impl AsRef<[Check]> for Findings {
    fn as_ref(&self) -> &[Check] {
        &self.checks
    }
}

/// The result of one check.
#[derive(Debug, Serialize)]
pub(super) struct Check {
    pub(super) name: String,
    pub(super) status: Status,
    pub(super) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fix: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    Ok,
    Warning,
    Failed,
}

impl Check {
    pub(super) fn ok(name: &str, message: &str) -> Self {
        let (name, message) = (name.to_owned(), message.to_owned());
        Check { name, status: Status::Ok, message, fix: None }
    }

    pub(super) fn warning(name: &str, message: &str, fix: &str) -> Self {
        Check { status: Status::Warning, fix: Some(fix.to_owned()), ..Self::ok(name, message) }
    }

    pub(super) fn failed(name: &str, message: &str, fix: &str) -> Self {
        Check { status: Status::Failed, ..Self::warning(name, message, fix) }
    }

    /// A failed check out of a problem.
    fn of(name: &str, problem: &CliError) -> Self {
        Self::failed(name, &problem.message, problem.suggestion.as_deref().unwrap_or_default())
    }
}

/// How many checks failed, and how many are warnings.
pub(super) fn count(checks: &[Check]) -> (usize, usize) {
    let of = |status| checks.iter().filter(|check| check.status == status).count();
    (of(Status::Failed), of(Status::Warning))
}

/// Reads the settings of the user's own server, which would not start with bad ones.
fn server_settings(settings: &ClientSettings) -> Result<(), BadSetting> {
    if settings.server_url.is_some() {
        return Ok(());
    }
    ServerSettings::load(Flags::default(), &environment(&["HOME"])?).map(drop)
}

fn binary() -> Check {
    let own = programs::own();
    let found = programs::find_as_shell_in(Path::new("."), "aw");
    let fix = "Put this aw into a folder of your PATH: the commands it prints begin with aw";
    match (own, found) {
        (Ok(own), Some(found)) if fs::canonicalize(&found).is_ok_and(|found| found == own) => {
            Check::ok("binary", &format!("aw {} at {}", env!("CARGO_PKG_VERSION"), own.display()))
        }
        (Ok(own), Some(found)) => Check::warning(
            "binary",
            &format!("this is {}, but the shell finds {}", own.display(), found.display()),
            fix,
        ),
        (Ok(own), None) => {
            Check::warning("binary", &format!("{} is not in PATH", own.display()), fix)
        }
        (Err(error), _) => {
            Check::warning("binary", &format!("the path of this program is unknown: {error}"), fix)
        }
    }
}

fn folder(settings: &ClientSettings) -> Check {
    let path = settings.home.path();
    let shown = path.display();
    let about = fs::metadata(path);
    if about.as_ref().is_ok_and(|about| !about.is_dir()) {
        return Check::failed(
            "data folder",
            &format!("{shown} is not a folder"),
            "Move it away, or set AWEAVE_HOME to another place",
        );
    }
    if let Err((place, error)) = try_to_write(&settings.home) {
        return Check::failed(
            "data folder",
            &format!("{} cannot be written: {error}", place.display()),
            "Check its owner and the free space, or set AWEAVE_HOME to another place",
        );
    }
    match about {
        Err(_) => Check::ok("data folder", &format!("{shown} is created when it is first needed")),
        Ok(folder) if folder.permissions().mode() & 0o077 != 0 => Check::warning(
            "data folder",
            &format!("other users can read {shown}"),
            &format!("chmod 700 {shown}"),
        ),
        Ok(_) => Check::ok("data folder", &format!("only you can read {shown}")),
    }
}

/// Writes a file into the folder and each folder in it, and removes it again. On failure it returns
/// the path that cannot be written.
fn try_to_write(home: &DataDir) -> Result<(), (PathBuf, io::Error)> {
    let path = home.path();
    let missing: Vec<&Path> = path.ancestors().take_while(|folder| !folder.exists()).collect();
    let made = home.make().map_err(|error| (path.to_owned(), error));
    let written = made.and_then(|()| {
        let inner = [home.database(), home.log()].map(|file| file.parent().map(Path::to_owned));
        let inner = inner.into_iter().flatten().filter(|folder| folder.exists());
        for folder in [path.to_owned()].into_iter().chain(inner) {
            probe(&folder).map_err(|error| (folder, error))?;
        }
        // An existing file may belong to another user.
        for file in [home.database(), home.log()].into_iter().filter(|file| file.exists()) {
            let opened = fs::OpenOptions::new().append(true).open(&file);
            opened.map_err(|error| (file, error))?;
        }
        Ok(())
    });
    for folder in missing {
        // A folder that is in use by now stays.
        let _ = fs::remove_dir(folder);
    }
    written
}

/// Writes a file of some bytes and removes it again.
fn probe(folder: &Path) -> io::Result<()> {
    let file = folder.join(format!(".doctor-{}", std::process::id()));
    let written = private().create_new(true).open(&file).and_then(|mut probe| {
        probe.write_all(&[0; 4096])?;
        probe.sync_all()
    });
    // The file may not exist if writing failed.
    let _ = fs::remove_file(file);
    written
}

fn server(settings: &ClientSettings) -> Vec<Check> {
    let url = match &settings.server_url {
        Some(url) => url.clone(),
        None => match settings.home.running() {
            Ok(Some(running)) => running.url,
            Ok(None) => {
                return vec![match server_on_port(settings) {
                    Ok(Some(_)) => Check::ok("server", "it is just starting"),
                    Ok(None) if settings.autostart => match StartOptions::of_last_start(settings) {
                        Ok(_) => {
                            Check::ok("server", "it is not running; the next command starts it")
                        }
                        Err(problem) => Check::of("server", &problem),
                    },
                    Ok(None) => Check::warning("server", "it is not running", "aw server start"),
                    Err(problem) => Check::of("server", &problem),
                }];
            }
            Err(error) => {
                return vec![Check::failed("server", &error.to_string(), "aw server restart")];
            }
        },
    };
    let connection = Connection::at(&url, settings);
    let server = &connection.client;
    let ends = Instant::now() + BUDGET;
    let health = server.once_until(&client::health(), ends);
    let mut checks = vec![match &health {
        Ok(_) if server.is_older() => Check::warning(
            "server",
            &format!(
                "{url} is a server of the older system: debates work there, everything else does not"
            ),
            "Stop it and unset DEBATE_SERVER_URL: the next command starts a server of this aw, which imports its debates",
        ),
        Ok(_) => Check::ok("server", &format!("{url} answers and can write")),
        Err(Trouble::Refused(error) | Trouble::Busy(error, _)) => Check::failed(
            "server",
            &error.data.message,
            error.data.suggestion.as_deref().unwrap_or("aw server logs"),
        ),
        Err(
            Trouble::Unreachable(Lost { why, .. })
            | Trouble::Stranger(why)
            | Trouble::Unreadable(why),
        ) => {
            let fix = match settings.server_url {
                Some(_) => "Start that server, or correct or unset DEBATE_SERVER_URL",
                None => "aw server restart",
            };
            Check::failed("server", &format!("{url}: {why}"), fix)
        }
    }];
    if let Some(version) = server.server_version()
        && version != env!("CARGO_PKG_VERSION")
    {
        let message =
            format!("the server is aw {version}, this is aw {}", env!("CARGO_PKG_VERSION"));
        let fix = match is_older(&version) {
            true => "aw server restart",
            false => "Upgrade this aw, then run aw server restart",
        };
        checks.push(Check::warning("version", &message, fix));
    }
    if health.is_ok() {
        checks.push(tokens::check(settings, &connection, ends));
        checks.push(record::check(settings, &connection, ends));
    }
    checks
}
