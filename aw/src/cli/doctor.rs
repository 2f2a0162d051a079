//! `aw doctor`: is everything as it should be, and if not, what mends it.

mod older;
mod record;
mod tokens;

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};

use super::background::How;
use super::connect::{Connection, known_on_port};
use super::human;
use super::output::{Answer, Problem, Shown};
use super::session::settings;
use crate::api::http::{BUDGET, Call, Lost, Trouble};
use crate::data_dir::{DataDir, private};
use crate::programs;
use crate::settings::ClientSettings;

/// Looks at everything.
pub(super) fn examine() -> Shown {
    let mut checks = vec![binary()];
    match settings() {
        Ok(settings) => {
            checks.push(ok("settings", "they can be read"));
            checks.push(folder(&settings));
            checks.extend(server(&settings));
            if settings.server_url.is_none() {
                let running = matches!(settings.home.running(), Ok(Some(_)));
                checks.extend(older::checks(&settings, running));
            }
        }
        Err(problem) => checks.push(failed(
            "settings",
            &problem.message,
            "Correct the environment variable or ~/.aweave/config.toml",
        )),
    }
    let count = |status: &str| checks.iter().filter(|check| check["status"] == status).count();
    let (bad, odd) = (count("failed"), count("warning"));
    let message = match (bad, odd) {
        (0, 0) => "Everything is as it should be".to_owned(),
        (0, 1) => "1 warning".to_owned(),
        (0, odd) => format!("{odd} warnings"),
        (bad, 0) => format!("{bad} failed"),
        (bad, odd) => format!("{bad} failed, warnings: {odd}"),
    };
    let healthy = bad == 0;
    let data = json!({"healthy": healthy, "version": env!("CARGO_PKG_VERSION"), "checks": checks});
    let answer = Answer::new(data, human::checks).message(message);
    if healthy { Shown::Answer(answer) } else { Shown::Unwell(answer) }
}

fn ok(name: &str, message: &str) -> Value {
    json!({"name": name, "status": "ok", "message": message})
}

fn warning(name: &str, message: &str, fix: &str) -> Value {
    json!({"name": name, "status": "warning", "message": message, "fix": fix})
}

fn failed(name: &str, message: &str, fix: &str) -> Value {
    json!({"name": name, "status": "failed", "message": message, "fix": fix})
}

fn binary() -> Value {
    let own = programs::own();
    let found = programs::find_as_shell_in(Path::new("."), "aw");
    let fix = "Put this aw into a folder of your PATH: the commands it prints begin with aw";
    match (own, found) {
        (Ok(own), Some(found)) if fs::canonicalize(&found).is_ok_and(|found| found == own) => {
            ok("binary", &format!("aw {} at {}", env!("CARGO_PKG_VERSION"), own.display()))
        }
        (Ok(own), Some(found)) => warning(
            "binary",
            &format!("this is {}, but the shell finds {}", own.display(), found.display()),
            fix,
        ),
        (Ok(own), None) => warning("binary", &format!("{} is not in PATH", own.display()), fix),
        (Err(error), _) => {
            warning("binary", &format!("it does not know where it is: {error}"), fix)
        }
    }
}

fn folder(settings: &ClientSettings) -> Value {
    let path = settings.home.path();
    let shown = path.display();
    let about = fs::metadata(path);
    if about.as_ref().is_ok_and(|about| !about.is_dir()) {
        return failed(
            "data folder",
            &format!("{shown} is not a folder"),
            "Move it away, or set AWEAVE_HOME to another place",
        );
    }
    if let Err((place, error)) = try_to_write(&settings.home) {
        return failed(
            "data folder",
            &format!("{} cannot be written: {error}", place.display()),
            "Make it yours and see that there is room, or set AWEAVE_HOME to another place",
        );
    }
    match about {
        Err(_) => ok("data folder", &format!("{shown} is made when it is first needed")),
        Ok(folder) if folder.permissions().mode() & 0o077 != 0 => warning(
            "data folder",
            &format!("others can look into {shown}"),
            &format!("chmod 700 {shown}"),
        ),
        Ok(_) => ok("data folder", &format!("{shown} is yours alone")),
    }
}

/// Writes into the folder and into those in it, and removes what it wrote. On failure it returns
/// the place that cannot be written.
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
        // A file that is there may be somebody else's.
        for file in [home.database(), home.log()].into_iter().filter(|file| file.exists()) {
            let opened = fs::OpenOptions::new().append(true).open(&file);
            opened.map_err(|error| (file, error))?;
        }
        Ok(())
    });
    for folder in missing {
        // One that somebody uses meanwhile stays.
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
    // What could not be written need not be removed.
    let _ = fs::remove_file(file);
    written
}

fn server(settings: &ClientSettings) -> Vec<Value> {
    let url = match &settings.server_url {
        Some(url) => url.clone(),
        None => match settings.home.running() {
            Ok(Some(running)) => running.url,
            Ok(None) => {
                return vec![match known_on_port(settings) {
                    Ok(Some(_)) => ok("server", "it is just starting"),
                    Ok(None) if settings.autostart => match How::again(settings) {
                        Ok(_) => ok("server", "none runs; the next command starts it"),
                        Err(Problem { message, suggestion, .. }) => {
                            failed("server", &message, &suggestion.unwrap_or_default())
                        }
                    },
                    Ok(None) => warning("server", "none runs", "aw server start"),
                    Err(Problem { message, suggestion, .. }) => {
                        failed("server", &message, &suggestion.unwrap_or_default())
                    }
                }];
            }
            Err(error) => return vec![failed("server", &error.to_string(), "aw server restart")],
        },
    };
    let reached = Connection::at(&url, settings);
    let client = &reached.client;
    let ends = Instant::now() + BUDGET;
    let health = client.once_until(Call::Get("/health"), ends);
    let mut checks = vec![match &health {
        Ok(health) if health["home_id"].is_null() => warning(
            "server",
            &format!(
                "{url} is a server of the older system: the moves of a debate work there, the rest does not"
            ),
            "Stop it and unset DEBATE_SERVER_URL: the next command starts a server of this aw, which imports its debates",
        ),
        Ok(_) => ok("server", &format!("{url} answers and can write")),
        Err(Trouble::Refused(error) | Trouble::Busy(error, _)) => failed(
            "server",
            error["message"].as_str().unwrap_or("it cannot do its work"),
            error["suggestion"].as_str().unwrap_or("aw server logs"),
        ),
        Err(Trouble::Unreachable(Lost { why, .. }) | Trouble::Stranger(why)) => {
            let fix = match settings.server_url {
                Some(_) => "Start that server, or correct or unset DEBATE_SERVER_URL",
                None => "aw server restart",
            };
            failed("server", &format!("{url}: {why}"), fix)
        }
    }];
    if let Some(version) = client.server_version()
        && version != env!("CARGO_PKG_VERSION")
    {
        let message =
            format!("the server is aw {version}, this is aw {}", env!("CARGO_PKG_VERSION"));
        checks.push(warning("version", &message, "aw server restart"));
    }
    if health.is_ok() {
        checks.push(tokens::check(settings, &reached, ends));
        checks.push(record::check(settings, &reached, ends));
    }
    checks
}
