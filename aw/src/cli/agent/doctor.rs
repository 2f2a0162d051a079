//! `aw agent doctor`: checks that each host is installed, has the kit, can use the tools, and reaches
//! the server from its own sandbox.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::debate::Shape;
use super::super::doctor::{Check, Status, count};
use super::super::human;
use super::super::next_command::quoted;
use super::super::output::{Answer, CliError, Shown};
use super::super::session::Session;
use super::install::{FileState, known, states};
use super::tools::{codex_trusts, tools};
use super::wake::wake;
use super::{hosts, project, surroundings};
use crate::files::read_text;
use crate::kit::SETTINGS_LIMIT;
use crate::kit::allow::codex_rules;
use crate::kit::host::{Host, HostPaths, program};
use crate::kit::json;
use crate::kit::manifest::{Extent, InstalledFile};
use crate::programs;

/// How long one command in a host may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long its last output may take to arrive after it has ended.
const LEFTOVERS: Duration = Duration::from_millis(500);

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Doctor {
    /// claude, codex, cursor, gemini, opencode, agents or all; by default those that are here
    #[arg(value_name = "HOST")]
    host: Option<String>,
    #[command(flatten)]
    pub(super) shape: Shape,
}

impl Doctor {
    pub(super) fn run(self) -> Result<Shown, CliError> {
        let (settings, paths) = surroundings()?;
        let chosen = match hosts(self.host.as_deref())? {
            Some(hosts) => hosts,
            None => Host::ALL.into_iter().filter(|host| paths.has(*host)).collect(),
        };
        let project = project(&settings)?;
        let kit = states(&known(&settings, &paths)?, &settings, &paths);
        // The server must run, because each host is tried with it.
        let server = Session::open_answering(self.shape.verbose).map(|_| ());
        let mut checks = Vec::new();
        for host in &chosen {
            checks.push(is_there(*host, &paths));
            checks.push(has_kit(*host, &kit, &project));
            checks.extend(doubled(*host, &kit));
            checks.extend(tools(*host, &paths, &project));
            checks.extend(wake(*host, &paths, &project));
            checks.push(match &server {
                Ok(()) => reaches(*host, &paths, &project),
                Err(problem) => failed(*host, "server", &problem.message, "aw doctor"),
            });
        }
        let (bad, odd) = count(&checks);
        let message = match (chosen.is_empty(), bad, odd) {
            (true, ..) => {
                "None of the known agent programs is on this machine. Any other agent with a shell can \
                 run aw agent show ROLE"
                    .to_owned()
            }
            (_, 0, 0) => "Everything is as it should be".to_owned(),
            (_, bad, odd) => format!("{bad} failed, warnings: {odd}"),
        };
        let findings = Findings { healthy: bad == 0, hosts: chosen, checks };
        let answer = Answer::new(findings, human::checks).message(message);
        Ok(if bad == 0 { Shown::Answer(answer) } else { Shown::Unhealthy(answer) })
    }
}

/// Everything that was found.
#[derive(Debug, Serialize)]
struct Findings {
    healthy: bool,
    hosts: Vec<Host>,
    checks: Vec<Check>,
}

impl AsRef<[Check]> for Findings {
    fn as_ref(&self) -> &[Check] {
        &self.checks
    }
}

fn name(host: Host, what: &str) -> String {
    format!("{} {what}", host.as_str())
}

pub(super) fn ok(host: Host, what: &str, message: &str) -> Check {
    Check::ok(&name(host, what), message)
}

pub(super) fn warning(host: Host, what: &str, message: &str, fix: &str) -> Check {
    Check::warning(&name(host, what), message, fix)
}

pub(super) fn failed(host: Host, what: &str, message: &str, fix: &str) -> Check {
    Check::failed(&name(host, what), message, fix)
}

fn is_there(host: Host, paths: &HostPaths) -> Check {
    match program(host) {
        Some(path) => ok(host, "program", &path.display().to_string()),
        None if paths.has(host) => {
            let message = format!("{} has settings here, but is not in PATH", host.title());
            warning(host, "program", &message, "Ignore this if you start it in another way")
        }
        None => {
            let message = format!("{} is not on this machine", host.title());
            warning(host, "program", &message, "Install it, or name other hosts")
        }
    }
}

/// Checks whether the host has the whole kit in this project.
fn has_kit(host: Host, kit: &[FileState], project: &Path) -> Check {
    let install = format!("aw agent install {}", host.as_str());
    let here = |kit: &&FileState| match &kit.file.project {
        Some(root) => root == project,
        None => true,
    };
    let own = kit.iter().filter(|kit| kit.file.hosts.contains(&host));
    let (own, elsewhere): (Vec<_>, Vec<_>) = own.partition(here);
    if own.is_empty() {
        let message = match elsewhere.first().and_then(|kit| kit.file.project.as_ref()) {
            Some(root) => format!("it is installed in {}, but not here", root.display()),
            None => "it is not installed".to_owned(),
        };
        return failed(host, "kit", &message, &install);
    }
    let of = |state: &str| own.iter().find(|kit| kit.state == state).map(|kit| &kit.file);
    let again = |file: &InstalledFile| match file.project {
        Some(_) => install.clone(),
        None => format!("{install} --user"),
    };
    for (state, says) in [("missing", "is missing"), ("outdated", "is from another version of aw")]
    {
        if let Some(file) = of(state) {
            let message = format!("{} {says}", file.path.display());
            return failed(host, "kit", &message, &again(file));
        }
    }
    match of("edited") {
        Some(file) => {
            let message = format!("{} was edited after the installation", file.path.display());
            let (what, again) = match file.extent {
                Extent::Whole => ("the file", again(file)),
                Extent::Inserted => ("the text of aw in it", again(file)),
            };
            let fix = format!("Keep it if you want it so; else remove {what} and run {again}");
            warning(host, "kit", &message, &fix)
        }
        None => ok(host, "kit", &format!("{} files, all current", own.len())),
    }
}

/// Warns of skills that a host finds twice: Codex then uses neither.
fn doubled(host: Host, kit: &[FileState]) -> Option<Check> {
    let skills = || {
        kit.iter().map(|kit| &kit.file).filter(|file| {
            file.hosts.contains(&host) && file.path.ends_with("SKILL.md") && file.path.exists()
        })
    };
    if !skills().any(|file| file.project.is_none()) {
        return None;
    }
    let root = skills().find_map(|file| file.project.as_ref())?;
    let message = format!(
        "the kit is installed for you and in {}, so the host finds each skill twice there",
        root.display()
    );
    let fix =
        format!("aw agent uninstall {} --user, or without --user in the project", host.as_str());
    Some(warning(host, "skills", &message, &fix))
}

/// Checks whether a command that the host runs reaches the server.
fn reaches(host: Host, paths: &HostPaths, project: &Path) -> Check {
    match host {
        Host::Codex => codex(paths, project),
        Host::Claude => match claude_sandbox(paths, project) {
            Some(file) => failed(
                host,
                "server",
                &format!(
                    "the sandbox that {} enables keeps commands off this machine's own network",
                    file.display()
                ),
                "Add there: \"sandbox\": {\"excludedCommands\": [\"aw *\"]}",
            ),
            None => tried_in_shell(host),
        },
        Host::Gemini => match gemini_sandbox(paths, project) {
            Some(where_from) => warning(
                host,
                "server",
                &format!("{where_from} runs commands in a sandbox, which was not tried"),
                "If `aw debate list` fails inside it, disable tools.sandbox for this project",
            ),
            None => tried_in_shell(host),
        },
        Host::Cursor => match tried_in_shell(host) {
            fine if fine.status == Status::Ok => warning(
                host,
                "server",
                "a shell reaches it; Cursor's own sandbox, which has no network by default, was not tried",
                "Allow `aw` in Cursor's settings (Agents, Run mode), or for its command line: aw agent install cursor --allow",
            ),
            bad => bad,
        },
        Host::Opencode | Host::Agents => tried_in_shell(host),
    }
}

const ON_PATH: &str = "Put aw into a folder of your PATH; see aw doctor";

/// Tries a host that runs commands in a plain shell.
fn tried_in_shell(host: Host) -> Check {
    match script() {
        Ok(script) => tried(host, programs::command("sh").args(["-c", &script]), ON_PATH),
        Err(why) => failed(host, "server", &why, ON_PATH),
    }
}

/// Printed before the path of an `aw` that was not started.
const NOT_STARTED: &str = "not started: ";

/// The script that is run as the host runs commands. The shell must find `aw`, it must be this very
/// program, and it must reach the server. Another program of that name, which may come with a checkout,
/// is not started.
fn script() -> Result<String, String> {
    let own =
        programs::own().map_err(|error| format!("the path of this program is unknown: {error}"))?;
    let own = quoted(&own.display().to_string());
    Ok(format!(
        "aw=$(command -v aw) || {{ echo 'aw: not found' >&2; exit 127; }}\n\
         [ \"$aw\" -ef {own} ] || {{ echo \"{NOT_STARTED}$aw\"; exit 126; }}\n\
         AW_AUTOSTART=0 {own} debate list --limit 1"
    ))
}

/// The file that enables Claude Code's sandbox, if `aw` is not excluded from it.
fn claude_sandbox(paths: &HostPaths, project: &Path) -> Option<PathBuf> {
    // Later files override earlier ones, but exclusions add up.
    let mut on_by = None;
    let mut is_excluded = false;
    for file in paths.claude_settings(project) {
        let sandbox = &json_in(&file)["sandbox"];
        match sandbox["enabled"].as_bool() {
            Some(true) => on_by = Some(file),
            Some(false) => on_by = None,
            None => {}
        }
        let excluded = sandbox["excludedCommands"].as_array();
        is_excluded |=
            excluded.is_some_and(|all| all.iter().any(|one| one == "aw *" || one == "aw:*"));
    }
    on_by.filter(|_| !is_excluded)
}

/// The variable or file that enables Gemini CLI's sandbox.
fn gemini_sandbox(paths: &HostPaths, project: &Path) -> Option<String> {
    let is_on = |value: &Value| *value != false && *value != "false";
    let said = std::env::var_os("GEMINI_SANDBOX").filter(|value| !value.is_empty());
    if let Some(said) = said {
        return is_on(&said.to_string_lossy().into()).then(|| "GEMINI_SANDBOX".to_owned());
    }
    let folders = [project.join(".gemini"), paths.gemini.clone()];
    let files = folders.map(|folder| folder.join("settings.json"));
    let (file, value) = files
        .into_iter()
        .map(|file| (file.clone(), json_in(&file)["tools"]["sandbox"].take()))
        .find(|(_, value)| !value.is_null())?;
    is_on(&value).then(|| file.display().to_string())
}

/// Tries Codex, which runs commands in a login shell inside its sandbox, unless a rule allows them.
fn codex(paths: &HostPaths, project: &Path) -> Check {
    let login = "Put aw into a folder that a login shell has in its PATH, for instance by a line in ~/.profile";
    let script = match script() {
        Ok(script) => script,
        Err(why) => return failed(Host::Codex, "server", &why, login),
    };
    let shell = tried(Host::Codex, programs::command("bash").args(["-lc", &script]), login);
    // Codex reads the rules of a project that it trusts.
    let own = project.join(".codex/rules");
    let is_allowed = allowed_by_rule(&paths.codex.join("rules"))
        || codex_trusts(paths, project) && allowed_by_rule(&own);
    if shell.status != Status::Ok || is_allowed {
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
    sandbox.args(["sandbox", "--", "bash", "-lc", &script]).env("PATH", programs::path());
    let rules = paths.codex.join("rules").join("aw.rules");
    let fix = format!(
        "To run the debate commands outside the sandbox: aw agent install codex --allow, or write into {}:\n{}",
        rules.display(),
        codex_rules(None)
    );
    tried(Host::Codex, &mut sandbox, &fix)
}

/// Whether a rule lets debate commands run outside the sandbox. A rule may span several lines.
fn allowed_by_rule(folder: &Path) -> bool {
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path());
    let rules = files.filter(|file| file.extension().is_some_and(|ending| ending == "rules"));
    rules.filter_map(|file| read_text(&file, SETTINGS_LIMIT).ok()).any(|text| {
        let code = text.lines().filter(|line| !line.trim_start().starts_with('#'));
        let code: String = code.flat_map(str::chars).filter(|c| !c.is_whitespace()).collect();
        code.replace('\'', "\"").split("prefix_rule(").skip(1).any(|rule| {
            let is_ours = rule.contains("[\"aw\"]") || rule.contains("[\"aw\",\"debate\"");
            let decides = rule.split("decision=").nth(1);
            is_ours && decides.is_none_or(|decision| decision.starts_with("\"allow\""))
        })
    })
}

/// The value of a settings file; null when it cannot be read.
pub(super) fn json_in(file: &Path) -> Value {
    read_text(file, SETTINGS_LIMIT).map(|text| json::value(&text)).unwrap_or_default()
}

/// Runs a command and checks whether it reached the server.
fn tried(host: Host, command: &mut Command, fix: &str) -> Check {
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
    if let Some(other) = printed.trim().strip_prefix(NOT_STARTED) {
        let message = format!("the shell finds {other}, which is not this aw: it was not started");
        return warning(host, "server", &message, ON_PATH);
    }
    /// The output of a command of `aw`.
    #[derive(Deserialize)]
    struct Printed {
        success: bool,
        error: Option<Said>,
    }
    #[derive(Deserialize)]
    struct Said {
        message: String,
    }
    match serde_json::from_str(printed.trim()) {
        Ok(Printed { success: true, .. }) => ok(host, "server", "its commands reach the server"),
        Ok(Printed { error: Some(Said { message: why }), .. }) => {
            failed(host, "server", &format!("its commands do not reach the server: {why}"), fix)
        }
        Ok(Printed { error: None, .. }) | Err(_) => {
            let last = printed.trim().lines().last().unwrap_or("nothing").to_owned();
            failed(host, "server", &format!("aw could not be run: {last}"), fix)
        }
    }
}

/// The standard output of a program, or its standard error if that is blank.
fn printed_in_time(mut child: Child) -> Result<String, String> {
    let out = OutputReader::of(child.stdout.take());
    let err = OutputReader::of(child.stderr.take());
    let began = Instant::now();
    while child.try_wait().map_err(|error| error.to_string())?.is_none() {
        if began.elapsed() > PATIENCE {
            // It is our child, so the process id is still its own.
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("aw did not answer within {} s", PATIENCE.as_secs()));
        }
        thread::sleep(Duration::from_millis(10));
    }
    let printed = out.text();
    Ok(if printed.trim().is_empty() { err.text() } else { printed })
}

/// Reads the output of a program on a thread.
struct OutputReader {
    read: Arc<Mutex<Vec<u8>>>,
    thread: JoinHandle<()>,
}

impl OutputReader {
    fn of(pipe: Option<impl Read + Send + 'static>) -> Self {
        let read = Arc::new(Mutex::new(Vec::new()));
        let kept = read.clone();
        let thread = thread::spawn(move || {
            let Some(mut pipe) = pipe else { return };
            let mut part = [0; 4096];
            // Output before a read error is kept.
            while let Ok(length @ 1..) = pipe.read(&mut part) {
                let Ok(mut kept) = kept.lock() else { return };
                kept.extend_from_slice(&part[..length]);
            }
        });
        OutputReader { read, thread }
    }

    /// The output so far. A process that the program started may still hold the pipe open.
    fn text(self) -> String {
        let began = Instant::now();
        while !self.thread.is_finished() && began.elapsed() < LEFTOVERS {
            thread::sleep(Duration::from_millis(5));
        }
        let read = self.read.lock();
        read.map(|read| String::from_utf8_lossy(&read).into_owned()).unwrap_or_default()
    }
}
