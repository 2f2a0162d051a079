//! Checks whether a host can use the tools of `aw mcp`: its entry, an answer from the tools, and the
//! consent that the host needs from its user.
//!
//! The entry may come with a checkout, so its program is not trusted. Only an entry that the kit would
//! write, and that names this very program, is started; any other is shown.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use aw_core::Role;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::doctor::Check;
use super::doctor::{failed, json_in, ok, warning};
use crate::files::read_text;
use crate::kit::SETTINGS_LIMIT;
use crate::kit::edit::NAME;
use crate::kit::host::{Host, HostPaths, InstallScope};
use crate::kit::json;
use crate::programs;

/// How long `aw mcp` may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long its last output may take to arrive after it was killed.
const LEFTOVERS: Duration = Duration::from_millis(200);

/// The error for a program that is gone.
const ENDED: &str = "it ended without an answer";

/// The tool that every debate needs.
const NEEDED: &str = "debate_wait";

/// Fields that an entry may have besides its program. None of them changes which program is started,
/// its data or its server.
const HARMLESS: [&str; 10] = [
    "type",
    "enabled",
    "timeout",
    "tool_timeout_sec",
    "startup_timeout_sec",
    "env_vars",
    "trust",
    "default_tools_approval_mode",
    "description",
    "disabled",
];

/// Variables that an entry may set, for the same reason.
const HARMLESS_VARIABLES: [&str; 4] =
    ["AW_AUTHOR", "AW_PATIENCE", "AW_ROLE", "DEBATE_WAIT_DEADLINE"];

/// How many characters of an entry are shown.
const SHOWN: usize = 400;

/// Checks whether this host can use the tools in this project.
///
/// A host that does without them is not checked, unless it has an entry.
pub(super) fn tools(host: Host, paths: &HostPaths, project: &Path) -> Option<Check> {
    let scopes = [InstallScope::Project(project.to_owned()), InstallScope::User];
    let mut entries = scopes.iter().filter_map(|scope| HostEntry::of(host, paths, scope));
    let is_needed = host.needs_tools() || entries.next().is_some();
    is_needed.then(|| checked(host, paths, project))
}

/// Whether the entry of Codex wakes an idle agent in this project.
pub(super) fn wakes_codex(paths: &HostPaths, project: &Path) -> bool {
    let scopes = [InstallScope::Project(project.to_owned()), InstallScope::User];
    let mut entries = scopes.iter().filter_map(|scope| HostEntry::of(Host::Codex, paths, scope));
    entries.any(|entry| entry.typed().is_some_and(|typed| typed.contains(&"--wake")))
}

fn checked(host: Host, paths: &HostPaths, project: &Path) -> Check {
    let name = host.as_str();
    let install = format!("aw agent install {name}");
    let scopes = [InstallScope::Project(project.to_owned()), InstallScope::User];
    let all: Vec<HostEntry> =
        scopes.iter().filter_map(|scope| HostEntry::of(host, paths, scope)).collect();
    // An entry that the host does not read yet is better than none.
    let seen = all.iter().find(|entry| entry.missing_consent(host, paths, project).is_none());
    let Some(entry) = seen.or(all.first()) else {
        let message = format!("{} has no entry {NAME} among its MCP servers", host.title());
        return failed(host, "tools", &message, &install);
    };
    let file = entry.file.display();
    let theirs = format!("Keep it if you want it so; else remove {NAME} there and run {install}");
    if entry.said["enabled"] == false {
        return warning(host, "tools", &format!("{file} disables them"), &theirs);
    }
    if entry.typed().is_none() {
        return warning(
            host,
            "tools",
            &format!("the entry {NAME} in {file} starts no program, so it was not tried"),
            &theirs,
        );
    }
    let Some(wanted) = entry.as_the_kit_writes_it() else {
        let message = format!(
            "the entry {NAME} in {file} is not one that aw writes, so it was not started: {}",
            entry.shown()
        );
        return warning(host, "tools", &message, &theirs);
    };
    let typed = entry.typed().unwrap_or_default().join(" ");
    let on_path = format!(
        "Put aw into a folder of the PATH that {} is started with, then try `{typed}`",
        host.title()
    );
    let own = match programs::own() {
        Ok(own) => own,
        Err(error) => {
            let message = format!("the path of this program is unknown: {error}");
            return failed(host, "tools", &message, &on_path);
        }
    };
    match wanted.found_from(project) {
        Some(found) if fs::canonicalize(&found).is_ok_and(|found| found == own) => {}
        Some(found) => {
            let message = format!(
                "`{typed}`, which {file} starts, is {}, not this aw ({}): it was not started",
                found.display(),
                own.display()
            );
            return warning(host, "tools", &message, &on_path);
        }
        None => {
            let message = format!(
                "`{typed}`, which {file} starts, does not answer: there is no such program"
            );
            return failed(host, "tools", &message, &on_path);
        }
    }
    let mut command = Command::new(own);
    command.args(wanted.arguments).envs(wanted.variables).current_dir(project);
    match offered(&mut command) {
        Ok(tools) if tools.iter().any(|tool| tool == NEEDED) => {
            let message = format!("`{typed}` offers {} tools", tools.len());
            match entry.missing_consent(host, paths, project) {
                Some((wanted, fix)) => {
                    warning(host, "tools", &format!("{message}; {wanted}"), &fix)
                }
                None => ok(host, "tools", &message),
            }
        }
        Ok(_) => {
            let message = format!("`{typed}`, which {file} starts, offers no {NEEDED}");
            failed(host, "tools", &message, &format!("Remove {NAME} there and run {install}"))
        }
        Err(why) => {
            let message = format!("`{typed}`, which {file} starts, does not answer: {why}");
            failed(host, "tools", &message, &on_path)
        }
    }
}

/// An entry `aw` among a host's servers.
struct HostEntry {
    file: PathBuf,
    for_project: bool,
    said: Value,
}

impl HostEntry {
    /// The entry in the settings of this scope, no matter who wrote it.
    fn of(host: Host, paths: &HostPaths, scope: &InstallScope) -> Option<Self> {
        let file = paths.settings(host, scope)?;
        let text = read_text(&file, SETTINGS_LIMIT).ok()?;
        let (settings, list) = match host {
            Host::Codex => (toml::from_str(&text).unwrap_or_default(), "mcp_servers"),
            Host::Opencode => (json::value(&text), "mcp"),
            Host::Claude | Host::Cursor | Host::Gemini | Host::Agents => {
                (json::value(&text), "mcpServers")
            }
        };
        let said = settings.get(list)?.get(NAME)?.clone();
        Some(HostEntry { file, for_project: scope.project().is_some(), said })
    }

    /// The program and its arguments; none if the entry starts no program.
    fn typed(&self) -> Option<Vec<&str>> {
        let command = &self.said["command"];
        let words = match (command.as_str(), command.as_array()) {
            (Some(program), _) => {
                let more = self.said["args"].as_array().into_iter().flatten();
                [Some(program)].into_iter().chain(more.map(Value::as_str)).collect()
            }
            (None, Some(all)) => all.iter().map(Value::as_str).collect::<Option<Vec<_>>>(),
            (None, None) => None,
        };
        words.filter(|words| !words.is_empty())
    }

    /// The program to start, if the entry is one that the kit writes, perhaps for one role.
    fn as_the_kit_writes_it(&self) -> Option<Wanted<'_>> {
        let typed = self.typed()?;
        let (program, arguments) = typed.split_first()?;
        let named = *program == NAME || Path::new(program).is_absolute();
        let for_tools = match arguments {
            ["mcp"] | ["mcp", "--wake"] => true,
            ["mcp", "--role", role] | ["mcp", "--role", role, "--wake"] => {
                role.parse::<Role>().is_ok()
            }
            _ => false,
        };
        let mut variables = Vec::new();
        for (key, value) in self.said.as_object()? {
            match key.as_str() {
                "command" | "args" => {}
                "env" | "environment" => {
                    for (name, value) in value.as_object()? {
                        let harmless = HARMLESS_VARIABLES.iter().find(|known| *known == name)?;
                        variables.push((*harmless, value.as_str()?));
                    }
                }
                key if HARMLESS.contains(&key) => {}
                _ => return None,
            }
        }
        (named && for_tools).then(|| Wanted { program, arguments: arguments.to_vec(), variables })
    }

    /// The entry as JSON, without values that may be secret.
    fn shown(&self) -> String {
        let mut said = self.said.clone();
        for secret in ["env", "environment", "headers", "http_headers"] {
            for (_, value) in said[secret].as_object_mut().into_iter().flatten() {
                *value = "…".into();
            }
        }
        let said = said.to_string();
        match said.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}…", &said[..end]),
            None => said,
        }
    }

    /// The consent that the host needs before it uses the entry, and how to give it.
    fn missing_consent(
        &self,
        host: Host,
        paths: &HostPaths,
        project: &Path,
    ) -> Option<(String, String)> {
        let start = format!("Start {} in this project once and say yes", host.as_str());
        match host {
            Host::Claude if self.for_project && !claude_agrees(paths, project) => Some((
                "Claude Code asks before it uses the servers of a project".to_owned(),
                format!(
                    "{start}, or write into .claude/settings.local.json: {{\"enabledMcpjsonServers\": [\"{NAME}\"]}}"
                ),
            )),
            Host::Codex if self.for_project && !codex_trusts(paths, project) => Some((
                format!("Codex does not read {} before it trusts the project", self.file.display()),
                start,
            )),
            Host::Gemini if !gemini_trusts(paths, project) => Some((
                "Gemini CLI starts no servers, and finds no skills of the project, in a folder that it does not trust"
                    .to_owned(),
                start,
            )),
            Host::Claude
            | Host::Codex
            | Host::Cursor
            | Host::Gemini
            | Host::Opencode
            | Host::Agents => None,
        }
    }
}

/// A program that an entry names, with its arguments and variables.
struct Wanted<'a> {
    program: &'a str,
    arguments: Vec<&'a str>,
    variables: Vec<(&'static str, &'a str)>,
}

impl Wanted<'_> {
    /// The path that a host in this folder finds for the program.
    fn found_from(&self, folder: &Path) -> Option<PathBuf> {
        if self.program == NAME {
            return programs::find_as_shell_in(folder, NAME);
        }
        Some(PathBuf::from(self.program)).filter(|file| file.is_file())
    }
}

/// Whether the user has allowed Claude Code to use the server of the project.
fn claude_agrees(paths: &HostPaths, project: &Path) -> bool {
    let settings = paths.claude_settings(project).into_iter();
    let own_file = paths.settings(Host::Claude, &InstallScope::User);
    let known = own_file.map(|file| json_in(&file)).unwrap_or_default();
    let answered = known["projects"][project.to_string_lossy().as_ref()].clone();
    settings.map(|file| json_in(&file)).chain([answered]).any(|said| {
        let named = said["enabledMcpjsonServers"].as_array();
        said["enableAllProjectMcpServers"] == true
            || named.is_some_and(|all| all.iter().any(|one| one == NAME))
    })
}

/// Whether Codex reads the settings of a project.
pub(super) fn codex_trusts(paths: &HostPaths, project: &Path) -> bool {
    let file = paths.settings(Host::Codex, &InstallScope::User);
    let text = file.and_then(|file| read_text(&file, SETTINGS_LIMIT).ok()).unwrap_or_default();
    let settings: Value = toml::from_str(&text).unwrap_or_default();
    let real = fs::canonicalize(project).unwrap_or_else(|_| project.to_owned());
    [project, &real].into_iter().any(|root| {
        settings["projects"][root.to_string_lossy().as_ref()]["trust_level"] == "trusted"
    })
}

/// Whether Gemini CLI trusts a project, or does not check trust.
fn gemini_trusts(paths: &HostPaths, project: &Path) -> bool {
    let user = json_in(&paths.gemini.join("settings.json"));
    let trusts_all =
        std::env::var_os("GEMINI_CLI_TRUST_WORKSPACE").is_some_and(|set| set == "true");
    if trusts_all || user["security"]["folderTrust"]["enabled"] == false {
        return true;
    }
    let known = json_in(&paths.gemini.join("trustedFolders.json"));
    let rules = known.as_object().into_iter().flatten().filter_map(|(folder, level)| {
        let folder = Path::new(folder);
        let folder = if level == "TRUST_PARENT" { folder.parent()? } else { folder };
        project.starts_with(folder).then_some((folder.as_os_str().len(), level))
    });
    // The longest matching path decides.
    rules.max_by_key(|(length, _)| *length).is_some_and(|(_, level)| level != "DO_NOT_TRUST")
}

/// Starts a server and lists its tools.
fn offered(command: &mut Command) -> Result<Vec<String>, String> {
    let spawned =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = spawned.map_err(|error| error.to_string())?;
    let answers = lines_of(child.stdout.take());
    let words = lines_of(child.stderr.take());
    let asked = child.stdin.take().map(|mut stdin| {
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "aw agent doctor", "version": env!("CARGO_PKG_VERSION")},
        });
        let mut say = |message: Value| {
            let said = writeln!(stdin, "{message}").and_then(|()| stdin.flush());
            said.map_err(|_| ENDED.to_owned())
        };
        let ends = Instant::now() + PATIENCE;
        say(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}))?;
        answer(&answers, 1, ends)?;
        say(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        say(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}))?;
        answer(&answers, 2, ends)
    });
    // It is our child, so the process id is still its own.
    let _ = child.kill();
    let _ = child.wait();
    match asked.unwrap_or_else(|| Err("it has no standard input".to_owned())) {
        Ok(result) => Ok(result.tools.into_iter().map(|tool| tool.name).collect()),
        Err(why) => {
            // A process that it started may still hold the pipe open.
            let mut last = why;
            while let Ok(line) = words.recv_timeout(LEFTOVERS) {
                if !line.trim().is_empty() {
                    line.trim().clone_into(&mut last);
                }
            }
            Err(last)
        }
    }
}

/// The fields of a message that are used here.
#[derive(Deserialize)]
struct Message {
    id: Option<Value>,
    #[serde(default)]
    result: Listed,
    error: Option<McpError>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Listed {
    tools: Vec<ToolListed>,
}

#[derive(Deserialize)]
struct ToolListed {
    name: String,
}

#[derive(Deserialize)]
struct McpError {
    message: String,
}

/// Waits for the answer to a request.
fn answer(answers: &Receiver<String>, request: u64, ends: Instant) -> Result<Listed, String> {
    loop {
        let left = ends.saturating_duration_since(Instant::now());
        let line = answers.recv_timeout(left).map_err(|error| match error {
            RecvTimeoutError::Timeout => format!("no answer within {} s", PATIENCE.as_secs()),
            RecvTimeoutError::Disconnected => ENDED.to_owned(),
        })?;
        let message: Message = serde_json::from_str(&line)
            .map_err(|_| format!("it printed a line that is not JSON: {line}"))?;
        // Notifications may come in between.
        if message.id == Some(request.into()) {
            return message.error.map_or(Ok(message.result), |error| Err(error.message));
        }
    }
}

/// Reads the lines of a program on a thread.
fn lines_of(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        let Some(pipe) = pipe else { return };
        let read = BufReader::new(pipe).lines().map_while(Result::ok);
        // The receiver may be gone.
        let _ = read.map(|line| sender.send(line)).find(Result::is_err);
    });
    lines
}
