//! `aw agent`: shows and installs the kit that teaches agents to debate.

mod doctor;
mod install;
mod show;
mod tools;
mod wake;

pub(super) use install::{KitChanges, KitFiles};
pub(super) use show::find_type;
pub(super) use wake::wakes_claude;

use std::path::PathBuf;

use clap::Subcommand;

use super::debate::Shape;
use super::output::{CliError, Format, Shown};
use super::session;
use crate::kit::host::{Host, HostPaths, InstallScope};
use crate::kit::project_of;
use crate::kit::types::Shelves;
use crate::settings::{ClientSettings, environment};

pub(super) const HELP: &str = "\
Teach coding agents to debate

Usage: aw agent <command>

  show        Print the command and the rules of a role, for an agent to read
  install     Install the kit for Claude Code, Codex, Cursor and others
  uninstall   Remove the kit, and leave every file as it was
  list        List the installed files, and which have changed
  doctor      Check that each host has the kit and reaches the server

An agent with a shell needs no installation:
  aw agent show opponent

aw agent <command> --help has its flags and an example.
";

/// Teach coding agents to debate
#[derive(Debug, Subcommand)]
#[command(defer = true, override_help = HELP)]
pub(super) enum AgentCommand {
    /// Print the command and the rules of a role, for an agent to read
    #[command(after_help = "Example:\n  aw agent show opponent --debate-id 93d8…")]
    Show(show::Show),
    /// Install the kit for agent programs
    #[command(
        after_help = "It keeps all other text in the files that it edits, and can be run again at any time.\n\nExample:\n  aw agent install codex --user --dry-run"
    )]
    Install(install::Install),
    /// Remove the kit, and leave every file as it was
    #[command(
        after_help = "In a file that was edited since, only the text of aw is removed.\n\nExample:\n  aw agent uninstall all --user"
    )]
    Uninstall(install::Uninstall),
    /// List the installed files, and which have changed
    #[command(after_help = "Example:\n  aw agent list")]
    List(Shape),
    /// Check that each host has the kit and the tools, and reaches the server
    #[command(after_help = "Example:\n  aw agent doctor codex")]
    Doctor(doctor::Doctor),
}

impl AgentCommand {
    pub(super) fn format(&self) -> Format {
        match self {
            AgentCommand::Show(command) => command.format_of_answer(),
            AgentCommand::Install(command) => command.shape.format(),
            AgentCommand::Uninstall(command) => command.shape.format(),
            AgentCommand::List(shape) => shape.format(),
            AgentCommand::Doctor(command) => command.shape.format(),
        }
    }

    pub(super) fn run(self) -> Result<Shown, CliError> {
        match self {
            AgentCommand::Show(command) => command.run(),
            AgentCommand::Install(command) => command.run(),
            AgentCommand::Uninstall(command) => command.run(),
            AgentCommand::List(_) => install::list(),
            AgentCommand::Doctor(command) => command.run(),
        }
    }
}

// A doc comment here would become help.
#[derive(Debug, clap::Args)]
struct HostAndScope {
    /// claude, codex, cursor, gemini, opencode, agents (any other that reads .agents/skills) or all
    #[arg(value_name = "HOST")]
    host: Option<String>,
    /// For everybody who works in this project (default)
    #[arg(long, conflicts_with = "user")]
    project: bool,
    /// For you, in every project
    #[arg(long)]
    user: bool,
}

impl HostAndScope {
    /// The named hosts; none when no host was named.
    fn hosts(&self) -> Result<Option<Vec<Host>>, CliError> {
        hosts(self.host.as_deref())
    }

    fn scope(&self, settings: &ClientSettings) -> Result<InstallScope, CliError> {
        Ok(if self.user { InstallScope::User } else { InstallScope::Project(project(settings)?) })
    }
}

fn hosts(named: Option<&str>) -> Result<Option<Vec<Host>>, CliError> {
    match named {
        None => Ok(None),
        Some("all") => Ok(Some(Host::ALL.to_vec())),
        Some(name) => match name.parse() {
            Ok(host) => Ok(Some(vec![host])),
            Err(why) => Err(CliError::input(format!("there is no host {name:?}: {why}"))),
        },
    }
}

/// The project of the current folder.
fn project(settings: &ClientSettings) -> Result<PathBuf, CliError> {
    let here = std::env::current_dir()
        .map_err(|error| CliError::input(format!("the current folder cannot be used: {error}")))?;
    Ok(project_of(&here, settings.home.path()))
}

/// The folders with types of debate for this project.
pub(super) fn shelves(settings: &ClientSettings) -> Result<Shelves, CliError> {
    Ok(Shelves::of(settings.home.path(), &project(settings)?))
}

fn paths() -> Result<HostPaths, CliError> {
    let environment =
        environment(&HostPaths::VARIABLES).map_err(|bad| CliError::input(bad.to_string()))?;
    HostPaths::of(&environment).ok_or_else(|| CliError::input("there is no home folder: set HOME"))
}

/// The settings, and the paths of this user's hosts.
fn surroundings() -> Result<(ClientSettings, HostPaths), CliError> {
    Ok((session::settings()?, paths()?))
}
