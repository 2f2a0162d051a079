//! Whether a host can use the tools of `aw mcp`: its entry for them, whether they answer, and what
//! the host still wants to be asked.
//!
//! Anybody can write the entry: it comes with a checkout. So nothing that it names is started. Where
//! it means this very program, as the kit writes it, this program is started; every other entry is
//! shown.

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
use crate::kit::host::{Host, Places, Scope};
use crate::kit::json;
use crate::kit::splice::NAME;
use crate::programs;

/// How long a server of tools may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long what it has said may take to arrive after it was ended.
const LEFTOVERS: Duration = Duration::from_millis(200);

/// Said of a program that is gone.
const ENDED: &str = "it ended without an answer";

/// A tool without which nobody can debate.
const NEEDED: &str = "debate_wait";

/// What an entry may say besides its program: none of it changes which program is started, on
/// which data, or for which server.
const HARMLESS: [&str; 9] = [
    "type",
    "enabled",
    "timeout",
    "tool_timeout_sec",
    "startup_timeout_sec",
    "env_vars",
    "trust",
    "description",
    "disabled",
];

/// The variables that an entry may set, for the same reason.
const HARMLESS_VARIABLES: [&str; 4] =
    ["AW_AUTHOR", "AW_PATIENCE", "AW_ROLE", "DEBATE_WAIT_DEADLINE"];

/// How much of an entry is shown.
const SHOWN: usize = 400;

/// Whether this host can use the tools in this project.
pub(super) fn tools(host: Host, places: &Places, project: &Path) -> Check {
    let name = host.as_str();
    let install = format!("aw agent install {name}");
    let scopes = [Scope::Project(project.to_owned()), Scope::User];
    let all: Vec<Entry> =
        scopes.iter().filter_map(|scope| Entry::of(host, places, scope)).collect();
    // An entry that the host does not look at yet is better than none.
    let seen = all.iter().find(|entry| entry.wants(host, places, project).is_none());
    let Some(entry) = seen.or(all.first()) else {
        let message = format!("{} has no entry {NAME} among its MCP servers", host.title());
        return failed(host, "tools", &message, &install);
    };
    let file = entry.file.display();
    let theirs =
        format!("Nothing to do if that is meant; else remove {NAME} there and run {install}");
    if entry.said["enabled"] == false {
        return warning(host, "tools", &format!("{file} switches them off"), &theirs);
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
            let message = format!("aw does not know where it is: {error}");
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
            match entry.wants(host, places, project) {
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
struct Entry {
    file: PathBuf,
    for_project: bool,
    said: Value,
}

impl Entry {
    /// The one in the settings of this scope.
    fn of(host: Host, places: &Places, scope: &Scope) -> Option<Self> {
        let file = places.settings(host, scope);
        let text = read_text(&file, SETTINGS_LIMIT).ok()?;
        let (settings, list) = match host {
            Host::Codex => (toml::from_str(&text).unwrap_or_default(), "mcp_servers"),
            Host::Opencode => (json::value(&text), "mcp"),
            Host::Claude | Host::Cursor | Host::Gemini => (json::value(&text), "mcpServers"),
        };
        let said = settings.get(list)?.get(NAME)?.clone();
        Some(Entry { file, for_project: scope.project().is_some(), said })
    }

    /// The program and its arguments; none where the entry starts no program.
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

    /// What the entry wants, if it is one that the kit writes, perhaps for one role.
    fn as_the_kit_writes_it(&self) -> Option<Wanted<'_>> {
        let typed = self.typed()?;
        let (program, arguments) = typed.split_first()?;
        let named = *program == NAME || Path::new(program).is_absolute();
        let for_tools = match arguments {
            ["mcp"] => true,
            ["mcp", "--role", role] => role.parse::<Role>().is_ok(),
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

    /// The entry in its own words, but for values that may be secret.
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

    /// What the host still wants of its user before it uses the entry, and how to give it.
    fn wants(&self, host: Host, places: &Places, project: &Path) -> Option<(String, String)> {
        let start = format!("Start {} in this project once and say yes", host.as_str());
        match host {
            Host::Claude if self.for_project && !claude_agrees(places, project) => Some((
                "Claude Code asks before it uses the servers of a project".to_owned(),
                format!(
                    "{start}, or write into .claude/settings.local.json: {{\"enabledMcpjsonServers\": [\"{NAME}\"]}}"
                ),
            )),
            Host::Codex if self.for_project && !codex_trusts(places, project) => Some((
                format!("Codex does not read {} before it trusts the project", self.file.display()),
                start,
            )),
            Host::Gemini if !gemini_trusts(places, project) => Some((
                "Gemini CLI starts no servers, and finds no skills of the project, in a folder that it does not trust"
                    .to_owned(),
                start,
            )),
            Host::Claude | Host::Codex | Host::Cursor | Host::Gemini | Host::Opencode => None,
        }
    }
}

/// A program that an entry names, and how it is started.
struct Wanted<'a> {
    program: &'a str,
    arguments: Vec<&'a str>,
    variables: Vec<(&'static str, &'a str)>,
}

impl Wanted<'_> {
    /// The program that a host finds which runs in this folder.
    fn found_from(&self, folder: &Path) -> Option<PathBuf> {
        if self.program == NAME {
            return programs::find_as_shell_in(folder, NAME);
        }
        Some(PathBuf::from(self.program)).filter(|file| file.is_file())
    }
}

/// Whether Claude Code is set to use the server that a project names.
fn claude_agrees(places: &Places, project: &Path) -> bool {
    let own = project.join(".claude");
    let settings = [places.claude.join("settings.json"), own.join("settings.json")];
    let settings = settings.into_iter().chain([own.join("settings.local.json")]);
    let known = json_in(&places.settings(Host::Claude, &Scope::User));
    let answered = known["projects"][project.to_string_lossy().as_ref()].clone();
    settings.map(|file| json_in(&file)).chain([answered]).any(|said| {
        let named = said["enabledMcpjsonServers"].as_array();
        said["enableAllProjectMcpServers"] == true
            || named.is_some_and(|all| all.iter().any(|one| one == NAME))
    })
}

/// Whether Codex reads the settings of a project.
fn codex_trusts(places: &Places, project: &Path) -> bool {
    let file = places.settings(Host::Codex, &Scope::User);
    let text = read_text(&file, SETTINGS_LIMIT).unwrap_or_default();
    let settings: Value = toml::from_str(&text).unwrap_or_default();
    let real = fs::canonicalize(project).unwrap_or_else(|_| project.to_owned());
    [project, &real].into_iter().any(|root| {
        settings["projects"][root.to_string_lossy().as_ref()]["trust_level"] == "trusted"
    })
}

/// Whether Gemini CLI trusts a project, or is set not to ask.
fn gemini_trusts(places: &Places, project: &Path) -> bool {
    let user = json_in(&places.gemini.join("settings.json"));
    let told = std::env::var("GEMINI_CLI_TRUST_WORKSPACE").is_ok_and(|said| said == "true");
    if told || user["security"]["folderTrust"]["enabled"] == false {
        return true;
    }
    let known = json_in(&places.gemini.join("trustedFolders.json"));
    let rules = known.as_object().into_iter().flatten().filter_map(|(folder, level)| {
        let folder = Path::new(folder);
        let folder = if level == "TRUST_PARENT" { folder.parent()? } else { folder };
        project.starts_with(folder).then_some((folder.as_os_str().len(), level))
    });
    // The rule that is nearest to the project counts.
    rules.max_by_key(|(length, _)| *length).is_some_and(|(_, level)| level != "DO_NOT_TRUST")
}

/// The tools that a server offers over its stdin and stdout.
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
        // Who is gone hears nothing.
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
    // It is ours, so it can be killed.
    let _ = child.kill();
    let _ = child.wait();
    match asked.unwrap_or_else(|| Err("it cannot be asked".to_owned())) {
        Ok(result) => Ok(result.tools.into_iter().map(|tool| tool.name).collect()),
        Err(why) => {
            // Something that it left running may still hold the pipe open.
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

/// A message of the server, as far as it matters here.
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
            RecvTimeoutError::Timeout => format!("nothing came within {} s", PATIENCE.as_secs()),
            RecvTimeoutError::Disconnected => ENDED.to_owned(),
        })?;
        let message: Message = serde_json::from_str(&line)
            .map_err(|_| format!("it printed what is no message: {line}"))?;
        // It may say other things in between.
        if message.id == Some(request.into()) {
            return message.error.map_or(Ok(message.result), |error| Err(error.message));
        }
    }
}

/// The lines that a program prints, as they come.
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
