//! Finds the agents of a run: the program for each seat.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use super::program::{AgentProgram, StartLine};
use crate::files;
use crate::programs;
use crate::settings::RunSettings;

/// How long a program may take to print its version. On a busy machine opencode takes more than 10
/// s.
const INTRODUCTION: Duration = Duration::from_secs(60);

/// The longest file of settings that is read.
const LONGEST_SETTINGS: u64 = 1024 * 1024;

/// The environment of agent programs.
pub(super) type AgentEnvironment = Vec<(OsString, OsString)>;

/// An agent that can take a seat.
#[derive(Debug, Clone)]
pub struct Agent {
    /// As it was asked for: a name, perhaps with a model.
    pub asked: String,
    /// Its name: that of the program, or of the user's settings.
    pub name: String,
    /// The program.
    pub(super) program: AgentProgram,
    /// The file of the program.
    pub path: PathBuf,
    /// The arguments of a command, and those that the user adds.
    pub(super) arguments: Vec<String>,
    /// The variables that the user adds.
    pub(super) environment: BTreeMap<String, String>,
    /// The model that was asked for.
    pub model: Option<String>,
    /// The family that it counts to: two agents of one family make the same mistakes.
    pub family: String,
    /// The version that the program prints.
    pub version: Option<String>,
    /// The MCP servers that its program would start.
    pub(super) mcp_servers: Vec<String>,
}

/// Why an agent cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoAgent {
    /// The mistake.
    pub message: String,
    /// The next step.
    pub suggestion: String,
}

impl Agent {
    /// The agent of this name, perhaps with a model: `claude`, `codex:gpt-5`, or one of the user's.
    pub fn find(asked: &str, settings: &RunSettings) -> Result<Self, NoAgent> {
        let (name, model) = match asked.split_once(':') {
            Some((name, model)) if !model.is_empty() => (name, Some(model.to_owned())),
            Some((name, _)) => (name, None),
            None => (asked, None),
        };
        if let Some(own) = settings.agents.get(name) {
            let program = match &own.r#use {
                Some(program) => AgentProgram::named(program),
                None => Some(AgentProgram::Command),
            };
            let program = program.ok_or_else(|| unknown(name, settings))?;
            let mut arguments = own.command.clone().unwrap_or_default();
            let file = match program {
                AgentProgram::Command if !arguments.is_empty() => arguments.remove(0),
                known => known.name().to_owned(),
            };
            if program == AgentProgram::Command && model.is_some() {
                return Err(NoAgent {
                    message: format!("{name} is a command, which has no model"),
                    suggestion: format!("Write {name} alone, and the model into its command"),
                });
            }
            arguments.extend(own.args.iter().cloned());
            let path = located(&file).ok_or_else(|| not_installed(name, &file, program))?;
            return Ok(Agent {
                asked: asked.to_owned(),
                name: name.to_owned(),
                program,
                path,
                arguments,
                environment: own.env.clone(),
                model: model.or_else(|| own.model.clone()),
                family: own.family.clone().unwrap_or_else(|| match program {
                    AgentProgram::Command => name.to_owned(),
                    known => known.family().to_owned(),
                }),
                version: None,
                mcp_servers: Vec::new(),
            });
        }
        let program = AgentProgram::named(name).ok_or_else(|| unknown(name, settings))?;
        let path =
            located(program.name()).ok_or_else(|| not_installed(name, program.name(), program))?;
        Ok(Agent {
            asked: asked.to_owned(),
            name: name.to_owned(),
            program,
            path,
            arguments: Vec::new(),
            environment: BTreeMap::new(),
            model,
            family: program.family().to_owned(),
            version: None,
            mcp_servers: Vec::new(),
        })
    }

    /// Proposer and opponent: the agents that the user named, otherwise the first programs found,
    /// of two families.
    pub fn pair(
        proposer: Option<&str>,
        opponent: Option<&str>,
        settings: &RunSettings,
    ) -> Result<(Self, Self), NoAgent> {
        let asked = |name: Option<&str>| name.map(|name| Agent::find(name, settings)).transpose();
        let (proposer, opponent) = (asked(proposer)?, asked(opponent)?);
        let found: Vec<Agent> = AgentProgram::KNOWN
            .into_iter()
            .filter_map(|program| Agent::find(program.name(), settings).ok())
            .collect();
        let other_than = |family: Option<&str>| {
            found.iter().find(|agent| Some(agent.family.as_str()) != family).cloned()
        };
        let lacking = || NoAgent {
            message: match found.as_slice() {
                [] => "no agent program was found".to_owned(),
                [one, ..] => format!("only {} was found, and a debate wants two", one.name),
            },
            suggestion: format!(
                "Install {}, or name an agent of your own: [agents.NAME] in config.toml",
                AgentProgram::KNOWN
                    .into_iter()
                    .filter(|known| found.iter().all(|agent| agent.program != *known))
                    .map(|known| format!("{} ({})", known.name(), known.how_to_install()))
                    .collect::<Vec<_>>()
                    .join(" or ")
            ),
        };
        match (proposer, opponent) {
            (Some(proposer), Some(opponent)) => Ok((proposer, opponent)),
            (Some(proposer), None) => {
                let opponent = other_than(Some(&proposer.family)).ok_or_else(lacking)?;
                Ok((proposer, opponent))
            }
            (None, Some(opponent)) => {
                Ok((other_than(Some(&opponent.family)).ok_or_else(lacking)?, opponent))
            }
            (None, None) => {
                let proposer = other_than(None).ok_or_else(lacking)?;
                let opponent = other_than(Some(&proposer.family)).ok_or_else(lacking)?;
                Ok((proposer, opponent))
            }
        }
    }

    /// Asks all agents for version and MCP servers: different programs at the same time, each
    /// program once. Two processes that start in a new home set it up at the same time, which
    /// opencode does not always survive.
    pub(super) fn introduce_all<'a>(
        agents: impl IntoIterator<Item = &'a mut Agent>,
        environment: &AgentEnvironment,
    ) -> Result<(), NoAgent> {
        let mut programs: BTreeMap<PathBuf, Vec<&mut Agent>> = BTreeMap::new();
        for agent in agents {
            programs.entry(agent.path.clone()).or_default().push(agent);
        }
        thread::scope(|scope| {
            let introduced: Vec<_> = programs
                .into_values()
                .map(|mut seats| scope.spawn(move || introduce_in_turn(&mut seats, environment)))
                .collect();
            introduced.into_iter().try_for_each(|one| one.join().unwrap_or(Ok(())))
        })
    }

    /// Asks the program of the agent for its version and its MCP servers. A command has neither.
    pub(super) fn introduce(&mut self, environment: &AgentEnvironment) -> Result<(), NoAgent> {
        if self.program == AgentProgram::Command {
            return Ok(());
        }
        let mut environment = environment.clone();
        let own = self.environment.iter().map(|(name, value)| (name.into(), value.into()));
        environment.extend(own);
        thread::scope(|scope| {
            let version = scope.spawn(|| output_of(&self.path, &["--version"], &environment));
            if let Some(arguments) = self.program.mcp_list() {
                let list = output_of(&self.path, arguments, &environment);
                let names = list.and_then(|list| self.program.mcp_servers_from(&list));
                // An MCP server of its user could let an agent play another seat.
                self.mcp_servers = names.ok_or_else(|| NoAgent {
                    message: format!(
                        "{} does not list its MCP servers, which a run must switch off",
                        self.name
                    ),
                    suggestion: format!(
                        "Run it yourself: {} {}",
                        self.program.name(),
                        arguments.join(" ")
                    ),
                })?;
            }
            let version = version.join().ok().flatten();
            self.version = version.and_then(|said| self.program.version_from(&said));
            Ok(())
        })
    }

    /// The user's settings of the program, where its command line wants them.
    pub(super) fn settings(&self, environment: &AgentEnvironment) -> Option<String> {
        let variable = |name: &str| {
            let found = environment.iter().rev().find(|(known, _)| known == name);
            found.map(|(_, value)| value.clone())
        };
        let file = self.program.settings_file(&variable)?;
        files::read_text(&file, LONGEST_SETTINGS).ok()
    }

    /// Whether this version is another than the one that was tried.
    pub fn is_other_version(&self) -> Option<&'static str> {
        let tried = self.program.tested_version()?;
        self.version.as_deref().filter(|version| !self.program.is_tested(version)).map(|_| tried)
    }

    /// The program with its arguments.
    pub(super) fn program_line(&self, line: &StartLine) -> Vec<OsString> {
        [self.path.clone().into()].into_iter().chain(line.arguments.iter().cloned()).collect()
    }

    /// The environment of a turn in this run.
    pub(super) fn whole_environment(
        &self,
        usual: &AgentEnvironment,
        line: &StartLine,
        run: &str,
    ) -> AgentEnvironment {
        let mut all = usual.clone();
        all.extend(line.environment.iter().map(|(name, value)| ((*name).into(), value.into())));
        all.extend(self.environment.iter().map(|(name, value)| (name.into(), value.into())));
        all.push((super::MARK.into(), run.into()));
        all
    }

    /// A label for the author of its arguments: program, version, model.
    pub(super) fn author(&self, model: Option<&str>) -> String {
        let words = [Some(self.name.as_str()), self.version.as_deref(), model];
        let words: Vec<&str> = words.into_iter().flatten().collect();
        words.join(" ").chars().filter(|c| !c.is_control()).take(80).collect()
    }
}

fn unknown(name: &str, settings: &RunSettings) -> NoAgent {
    let known = AgentProgram::KNOWN.into_iter().map(|known| known.name().to_owned());
    let known: Vec<String> = known.chain(settings.agents.keys().cloned()).collect();
    NoAgent {
        message: format!("there is no agent {name:?}"),
        suggestion: format!(
            "Use one of {}, or add [agents.{name}] to config.toml",
            known.join(", ")
        ),
    }
}

fn not_installed(name: &str, file: &str, program: AgentProgram) -> NoAgent {
    let (message, suggestion) = match program {
        AgentProgram::Command => (
            format!("the command of {name} was not found: {file}"),
            "Name a program of an absolute folder of PATH, or its whole path".to_owned(),
        ),
        known => (
            format!("{file} was not found in an absolute folder of PATH"),
            format!("Install it: {}", known.how_to_install()),
        ),
    };
    NoAgent { message, suggestion }
}

/// The file of a program: an absolute path, or a name in an absolute folder of `PATH`.
fn located(file: &str) -> Option<PathBuf> {
    let path = Path::new(file);
    match path.components().count() {
        1 => programs::find(file),
        _ if path.is_absolute() && path.is_file() => Some(path.to_owned()),
        _ => None,
    }
}

/// Asks agents of one program. Those with the same variables get the same answers.
fn introduce_in_turn(
    seats: &mut [&mut Agent],
    environment: &AgentEnvironment,
) -> Result<(), NoAgent> {
    for at in 0..seats.len() {
        let (known, rest) = seats.split_at_mut(at);
        let Some(agent) = rest.first_mut() else { break };
        match known.iter().find(|known| known.environment == agent.environment) {
            Some(known) => {
                agent.version.clone_from(&known.version);
                agent.mcp_servers.clone_from(&known.mcp_servers);
            }
            None => agent.introduce(environment)?,
        }
    }
    Ok(())
}

/// The output of a program with these arguments, if it ends in time.
fn output_of(program: &Path, arguments: &[&str], environment: &AgentEnvironment) -> Option<String> {
    let mut child = std::process::Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut pipe = child.stdout.take()?;
    let reading = thread::spawn(move || {
        let mut text = Vec::new();
        let _ = std::io::Read::read_to_end(&mut std::io::Read::take(&mut pipe, 1 << 20), &mut text);
        String::from_utf8_lossy(&text).into_owned()
    });
    let began = Instant::now();
    while child.try_wait().ok()?.is_none() {
        if began.elapsed() > INTRODUCTION {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        thread::sleep(Duration::from_millis(5));
    }
    reading.join().ok()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn two_seats_of_one_program_ask_it_once() {
        let folder = tempfile::tempdir().unwrap();
        let (path, calls) = (folder.path().join("codex"), folder.path().join("calls"));
        let script = format!("#!/bin/sh\necho \"$1\" >> '{}'\necho '[]'\n", calls.display());
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let agent = |region: Option<&str>| Agent {
            asked: "codex".to_owned(),
            name: "codex".to_owned(),
            program: AgentProgram::Codex,
            path: path.clone(),
            arguments: Vec::new(),
            environment: region
                .map(|name| ("REGION".to_owned(), name.to_owned()))
                .into_iter()
                .collect(),
            model: None,
            family: "openai".to_owned(),
            version: None,
            mcp_servers: vec!["not asked".to_owned()],
        };
        let mut seats = [agent(None), agent(None), agent(Some("eu"))];
        Agent::introduce_all(&mut seats, &Vec::new()).unwrap();
        assert!(seats.iter().all(|seat| seat.mcp_servers.is_empty()));
        let asked = fs::read_to_string(&calls).unwrap();
        assert_eq!(
            asked.lines().filter(|line| *line == "mcp").count(),
            2,
            "once for each environment"
        );
    }
}
