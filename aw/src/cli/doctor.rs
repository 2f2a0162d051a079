//! `aw doctor`: is everything as it should be, and if not, what mends it.

mod older;
mod record;
mod tokens;

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use super::answer::{Answer, Problem, Shown};
use super::page;
use super::reach::{Reached, known_on_port};
use super::session::settings;
use crate::client::{BUDGET, Call, Lost, Trouble};
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
    let answer = Answer::new(data, page::checks).message(message);
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
    let own = env::current_exe().and_then(fs::canonicalize);
    let found = env::var_os("PATH").and_then(|path| {
        env::split_paths(&path).map(|folder| folder.join("aw")).find(|file| file.is_file())
    });
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
    match fs::metadata(path) {
        Err(_) => ok("data folder", &format!("{shown} is made when it is first needed")),
        Ok(folder) if !folder.is_dir() => failed(
            "data folder",
            &format!("{shown} is not a folder"),
            "Move it away, or set AWEAVE_HOME to another place",
        ),
        Ok(folder) if folder.permissions().mode() & 0o077 != 0 => warning(
            "data folder",
            &format!("others can look into {shown}"),
            &format!("chmod 700 {shown}"),
        ),
        Ok(_) if !writable(path) => failed(
            "data folder",
            &format!("{shown} cannot be written"),
            "Make it yours, or set AWEAVE_HOME to another place",
        ),
        Ok(_) => ok("data folder", &format!("{shown} is yours alone")),
    }
}

fn writable(folder: &Path) -> bool {
    let probe = folder.join(format!(".doctor-{}", std::process::id()));
    let written = fs::write(&probe, "").is_ok();
    // What could not be written need not be removed.
    let _ = fs::remove_file(probe);
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
                    Ok(None) if settings.autostart => {
                        ok("server", "none runs; the next command starts it")
                    }
                    Ok(None) => warning("server", "none runs", "aw server start"),
                    Err(Problem { message, suggestion, .. }) => {
                        failed("server", &message, &suggestion.unwrap_or_default())
                    }
                }];
            }
            Err(error) => return vec![failed("server", &error.to_string(), "aw server restart")],
        },
    };
    let reached = Reached::at(&url, settings);
    let client = &reached.client;
    let ends = Instant::now() + BUDGET;
    let health = client.once_until(Call::Get("/health"), ends);
    let mut checks = vec![match &health {
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
