//! `aw agent doctor`: whether each host is there, has the kit, and reaches the server from where it
//! runs its commands.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::answer::{Answer, Problem, Shown};
use super::super::debate::Shape;
use super::super::page;
use super::super::session::Session;
use super::install::{read, states};
use super::{hosts, surroundings};
use crate::kit::host::{Host, Places, program};
use crate::kit::ledger::Ledger;

/// How long a host may take to run one command.
const PATIENCE: Duration = Duration::from_secs(20);

/// What is run the way a host runs commands: it must reach the server.
const TRIED: &str = "AW_AUTOSTART=0 aw debate list --limit 1";

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Doctor {
    /// claude, codex, cursor, gemini, opencode or all; by default those that are here
    #[arg(value_name = "HOST")]
    host: Option<String>,
    #[command(flatten)]
    pub(super) shape: Shape,
}

impl Doctor {
    pub(super) fn run(self) -> Result<Shown, Problem> {
        let (settings, places) = surroundings()?;
        let chosen = match hosts(self.host.as_deref())? {
            Some(hosts) => hosts,
            None => Host::ALL.into_iter().filter(|host| places.has(*host)).collect(),
        };
        let ledger = read(&settings)?;
        let states = states(&ledger, &settings, &places)?;
        // It is tried from inside each host, so it has to run.
        let server = Session::open(self.shape.verbose).map(|_| ());
        let mut checks = Vec::new();
        for host in &chosen {
            checks.push(is_there(*host, &places));
            checks.push(has_kit(*host, &ledger, &states));
            checks.extend(doubled(*host, &ledger));
            checks.push(match &server {
                Ok(()) => reaches(*host, &places),
                Err(problem) => failed(*host, "server", &problem.message, "aw doctor"),
            });
        }
        let bad = checks.iter().filter(|check| check["status"] == "failed").count();
        let odd = checks.iter().filter(|check| check["status"] == "warning").count();
        let message = match (chosen.is_empty(), bad, odd) {
            (true, ..) => "None of the known agent programs is on this machine".to_owned(),
            (_, 0, 0) => "Everything is as it should be".to_owned(),
            (_, bad, odd) => format!("{bad} failed, warnings: {odd}"),
        };
        let data = json!({"healthy": bad == 0, "hosts": chosen, "checks": checks});
        Ok(Shown::Answer(Answer::new(data, page::checks).message(message)))
    }
}

fn check(host: Host, what: &str, status: &str, message: &str, fix: Option<&str>) -> Value {
    let mut check = json!({
        "name": format!("{} {what}", host.as_str()), "status": status, "message": message,
    });
    if let Some(fix) = fix {
        check["fix"] = fix.into();
    }
    check
}

fn ok(host: Host, what: &str, message: &str) -> Value {
    check(host, what, "ok", message, None)
}

fn warning(host: Host, what: &str, message: &str, fix: &str) -> Value {
    check(host, what, "warning", message, Some(fix))
}

fn failed(host: Host, what: &str, message: &str, fix: &str) -> Value {
    check(host, what, "failed", message, Some(fix))
}

fn is_there(host: Host, places: &Places) -> Value {
    match program(host) {
        Some(path) => ok(host, "program", &path.display().to_string()),
        None if places.has(host) => {
            let message = format!("{} has been used here, but is not in PATH", host.title());
            warning(host, "program", &message, "Nothing to do if you start it in another way")
        }
        None => {
            let message = format!("{} is not on this machine", host.title());
            warning(host, "program", &message, "Install it, or leave it out")
        }
    }
}

fn has_kit(host: Host, ledger: &Ledger, states: &[(PathBuf, &'static str)]) -> Value {
    let install = format!("aw agent install {}", host.as_str());
    let own: Vec<_> = ledger.files.iter().filter(|entry| entry.hosts.contains(&host)).collect();
    let Some(first) = own.first() else {
        return failed(host, "kit", "it is not installed", &install);
    };
    let where_to = if first.project.is_none() { " --user" } else { "" };
    let state = |path: &Path| states.iter().find(|(known, _)| known == path).map(|found| found.1);
    let of = |wanted: &str| {
        own.iter().filter(|entry| state(&entry.path) == Some(wanted)).collect::<Vec<_>>()
    };
    for (wanted, says) in [("missing", "is missing"), ("outdated", "is of another version of aw")] {
        if let Some(entry) = of(wanted).first() {
            let message = format!("{} {says}", entry.path.display());
            return failed(host, "kit", &message, &format!("{install}{where_to}"));
        }
    }
    match of("edited").first() {
        Some(entry) => {
            let message = format!("{} was edited since", entry.path.display());
            let fix = format!(
                "Nothing to do if that is meant; else remove it and run {install}{where_to}"
            );
            warning(host, "kit", &message, &fix)
        }
        None => ok(host, "kit", &format!("{} files, all current", own.len())),
    }
}

/// A skill that a host finds twice: Codex then takes neither.
fn doubled(host: Host, ledger: &Ledger) -> Option<Value> {
    let has = |for_user: bool| {
        ledger.files.iter().any(|entry| {
            entry.hosts.contains(&host)
                && entry.project.is_none() == for_user
                && entry.path.ends_with("SKILL.md")
        })
    };
    (has(true) && has(false)).then(|| {
        let message =
            "the kit is installed for you and in a project; there the skills are found twice";
        let fix = format!(
            "aw agent uninstall {} --user, or without --user in the project",
            host.as_str()
        );
        warning(host, "skills", message, &fix)
    })
}

/// Runs a command of ours in the way that the host runs commands.
fn reaches(host: Host, places: &Places) -> Value {
    match host {
        Host::Codex => codex(places),
        Host::Claude => {
            let settings = ["settings.json", "settings.local.json"];
            let files = settings
                .iter()
                .flat_map(|name| [places.claude.join(name), PathBuf::from(".claude").join(name)]);
            let sandboxed = |file: &PathBuf| {
                let settings = json_in(file);
                settings["sandbox"]["enabled"] == true
                    && !settings["sandbox"]["excludedCommands"].to_string().contains("\"aw *\"")
            };
            match files.into_iter().find(sandboxed) {
                Some(file) => failed(
                    host,
                    "server",
                    &format!(
                        "the sandbox that {} switches on keeps commands off this machine's own network",
                        file.display()
                    ),
                    "Add there: \"sandbox\": {\"excludedCommands\": [\"aw *\"]}",
                ),
                None => tried(host, Command::new("sh").args(["-c", TRIED]), ON_PATH),
            }
        }
        Host::Gemini => {
            let files =
                [places.gemini.join("settings.json"), PathBuf::from(".gemini/settings.json")];
            let on = |value: &Value| !value.is_null() && *value != false;
            match files.into_iter().find(|file| on(&json_in(file)["tools"]["sandbox"])) {
                Some(file) => warning(
                    host,
                    "server",
                    &format!(
                        "{} puts commands into a sandbox, from which this was not tried",
                        file.display()
                    ),
                    "If `aw debate list` fails inside it, switch tools.sandbox off for this project",
                ),
                None => tried(host, Command::new("sh").args(["-c", TRIED]), ON_PATH),
            }
        }
        Host::Cursor => match tried(host, Command::new("sh").args(["-c", TRIED]), ON_PATH) {
            fine if fine["status"] == "ok" => warning(
                host,
                "server",
                "a shell reaches it; Cursor's own sandbox, which has no network unless told, was not tried",
                "Allow `aw` in Cursor's settings (Agents, Run mode), or in .cursor/cli.json: {\"permissions\": {\"allow\": [\"Shell(aw)\"]}}",
            ),
            bad => bad,
        },
        Host::Opencode => tried(host, Command::new("sh").args(["-c", TRIED]), ON_PATH),
    }
}

const ON_PATH: &str = "Put aw into a folder of your PATH; see aw doctor";

/// Codex runs commands in a login shell inside its sandbox, unless a rule lets them out.
fn codex(places: &Places) -> Value {
    let login = "Put aw into a folder that a login shell has in its PATH, for instance by a line in ~/.profile";
    let shell = tried(Host::Codex, Command::new("bash").args(["-lc", TRIED]), login);
    if shell["status"] != "ok" || allowed_by_rule(&places.codex.join("rules")) {
        return shell;
    }
    let Some(program) = program(Host::Codex) else {
        return warning(
            Host::Codex,
            "server",
            "a shell reaches it; Codex's sandbox was not tried, since codex is not in PATH",
            "Run aw agent doctor codex again where codex is in PATH",
        );
    };
    let mut sandbox = Command::new(program);
    sandbox.args(["sandbox", "--", "bash", "-lc", TRIED]);
    let rules = places.codex.join("rules").join("aw.rules");
    let fix = format!(
        "To let the debate commands out of the sandbox, write into {}:\n{RULES}",
        rules.display()
    );
    tried(Host::Codex, &mut sandbox, &fix)
}

/// What lets an agent's own commands, and no others, out of Codex's sandbox.
const RULES: &str = r#"prefix_rule(pattern=["aw", "debate", ["generate-id", "create", "get-context", "submit", "wait", "appeal", "request-completion", "ruling", "intervention", "list", "types"]], decision="allow")
prefix_rule(pattern=["aw", "docs", ["create", "submit", "get", "list", "history", "diff"]], decision="allow")
prefix_rule(pattern=["aw", "agent", "show"], decision="allow")"#;

fn allowed_by_rule(folder: &Path) -> bool {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| fs::read_to_string(file.path()).ok()).any(|rules| {
        let rule = |line: &str| line.contains("[\"aw\"") && line.contains("allow");
        rules.lines().any(rule)
    })
}

fn json_in(file: &Path) -> Value {
    fs::read(file).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
}

/// Whether the command reached the server.
fn tried(host: Host, command: &mut Command, fix: &str) -> Value {
    let spawned =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let printed = match spawned {
        Ok(child) => printed_in_time(child),
        Err(error) => Err(error.to_string()),
    };
    let printed = match printed {
        Ok(printed) => printed,
        Err(why) => return failed(host, "server", &why, fix),
    };
    let answer: Value = serde_json::from_str(printed.trim()).unwrap_or_default();
    match (answer["success"].as_bool(), answer["error"]["message"].as_str()) {
        (Some(true), _) => ok(host, "server", "its commands reach the server"),
        (_, Some(why)) => {
            failed(host, "server", &format!("its commands do not reach the server: {why}"), fix)
        }
        _ => {
            let last = printed.trim().lines().last().unwrap_or("nothing").to_owned();
            failed(host, "server", &format!("aw could not be run: {last}"), fix)
        }
    }
}

/// What it printed, on stdout if anything.
fn printed_in_time(mut child: Child) -> Result<String, String> {
    let read = |pipe: Option<Box<dyn Read + Send>>| {
        thread::spawn(move || {
            let mut text = Vec::new();
            // What was read until it broke off still says something.
            let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut text));
            String::from_utf8_lossy(&text).into_owned()
        })
    };
    let out = read(child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>));
    let err = read(child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>));
    let began = Instant::now();
    while child.try_wait().map_err(|error| error.to_string())?.is_none() {
        if began.elapsed() > PATIENCE {
            // It is ours, so it can be killed.
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("aw did not answer within {} s", PATIENCE.as_secs()));
        }
        thread::sleep(Duration::from_millis(10));
    }
    let printed = out.join().unwrap_or_default();
    Ok(if printed.trim().is_empty() { err.join().unwrap_or_default() } else { printed })
}
