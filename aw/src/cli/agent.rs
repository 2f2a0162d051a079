//! `aw agent`: the kit that teaches agents to debate, shown and installed.

mod doctor;
mod install;
mod show;
mod tools;

pub(super) use install::{KitChanges, KitFiles};
pub(super) use show::find_type;

use std::path::PathBuf;

use clap::Subcommand;

use super::debate::Shape;
use super::output::{Format, Problem, Shown};
use super::session;
use crate::kit::host::{Host, Places, Scope};
use crate::kit::project_of;
use crate::kit::types::Shelves;
use crate::settings::{ClientSettings, environment};

pub(super) const HELP: &str = "\
Teach coding agents to debate

Usage: aw agent <command>

  show        Print what an agent in a role must know: its command and the rules
  install     Put it where Claude Code, Codex, Cursor, Gemini CLI and opencode look for it
  uninstall   Take it away again, and leave every file as it was
  list        What is installed where, and what has drifted
  doctor      Whether each host is there, has the kit and the tools, and reaches the server

An agent that only has a shell needs no installation:
  aw agent show opponent

aw agent <command> --help has its flags and an example.
";

/// Teach coding agents to debate
#[derive(Debug, Subcommand)]
#[command(defer = true, override_help = HELP)]
pub(super) enum Agent {
    /// Print what an agent in a role must know: its command and the rules
    #[command(
        after_help = "Example:\n  aw agent show opponent --debate-id 93d81b1a-0e66-4510-abfd-aa33b26cb82e"
    )]
    Show(show::Show),
    /// Put the kit where agent programs look for it
    #[command(
        after_help = "It changes nothing else in the files it touches, and can be run again at any time.\n\nExample:\n  aw agent install codex --user --dry-run --format markdown"
    )]
    Install(install::Install),
    /// Take the kit away again, and leave every file as it was
    #[command(
        after_help = "Where a file was edited meanwhile, only what aw wrote goes.\n\nExample:\n  aw agent uninstall all --user"
    )]
    Uninstall(install::Uninstall),
    /// What is installed where, and what has drifted
    #[command(after_help = "Example:\n  aw agent list --format markdown")]
    List(Shape),
    /// Whether each host is there, has the kit and the tools, and reaches the server
    #[command(after_help = "Example:\n  aw agent doctor codex --format markdown")]
    Doctor(doctor::Doctor),
}

impl Agent {
    pub(super) fn format(&self) -> Format {
        match self {
            Agent::Show(_) => Format::Json,
            Agent::Install(command) => command.shape.format,
            Agent::Uninstall(command) => command.shape.format,
            Agent::List(shape) => shape.format,
            Agent::Doctor(command) => command.shape.format,
        }
    }

    pub(super) fn run(self) -> Result<Shown, Problem> {
        match self {
            Agent::Show(command) => command.run(),
            Agent::Install(command) => command.run(),
            Agent::Uninstall(command) => command.run(),
            Agent::List(_) => install::list(),
            Agent::Doctor(command) => command.run(),
        }
    }
}

// Whom a command is about
#[derive(Debug, clap::Args)]
struct Whom {
    /// claude, codex, cursor, gemini, opencode or all
    #[arg(value_name = "HOST")]
    host: Option<String>,
    /// For everybody who works in this project (default)
    #[arg(long, conflicts_with = "user")]
    project: bool,
    /// For you, in every project
    #[arg(long)]
    user: bool,
}

impl Whom {
    /// The hosts that were named; none when none was.
    fn hosts(&self) -> Result<Option<Vec<Host>>, Problem> {
        hosts(self.host.as_deref())
    }

    fn scope(&self, settings: &ClientSettings) -> Result<Scope, Problem> {
        Ok(if self.user { Scope::User } else { Scope::Project(project(settings)?) })
    }
}

fn hosts(named: Option<&str>) -> Result<Option<Vec<Host>>, Problem> {
    match named {
        None => Ok(None),
        Some("all") => Ok(Some(Host::ALL.to_vec())),
        Some(name) => match name.parse() {
            Ok(host) => Ok(Some(vec![host])),
            Err(why) => Err(Problem::input(format!("there is no host {name:?}: {why}"))),
        },
    }
}

/// The project that the command was typed in.
fn project(settings: &ClientSettings) -> Result<PathBuf, Problem> {
    let here = std::env::current_dir()
        .map_err(|error| Problem::input(format!("the current folder cannot be used: {error}")))?;
    Ok(project_of(&here, settings.home.path()))
}

/// Where types of debate are looked for from here.
pub(super) fn shelves(settings: &ClientSettings) -> Result<Shelves, Problem> {
    Ok(Shelves::of(settings.home.path(), &project(settings)?))
}

fn places() -> Result<Places, Problem> {
    let environment =
        environment(&Places::VARIABLES).map_err(|bad| Problem::input(bad.to_string()))?;
    Places::of(&environment).ok_or_else(|| Problem::input("there is no home folder: set HOME"))
}

/// The settings and where this user's hosts keep their things.
fn surroundings() -> Result<(ClientSettings, Places), Problem> {
    Ok((session::settings()?, places()?))
}
