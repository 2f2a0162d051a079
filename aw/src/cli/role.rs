//! Keeps the command line to the role that `AW_ROLE` names.
//!
//! Without tokens the server cannot tell one agent from another. A host that sets `AW_ROLE` for its
//! agent prevents mistakes.

use std::env;

use aw_core::Role;
use clap::ArgMatches;

use super::next_command::CommandLine;
use super::output::{CliError, Format};
use crate::api::error::Code;
use crate::policy::{self, Command, Denied, Users};
use crate::run;

/// The variable.
pub(super) const NAME: &str = "AW_ROLE";

/// Returns the role that the environment names, if any.
pub(super) fn held_to() -> Result<Option<Role>, CliError> {
    let Some(said) = env::var_os(NAME).filter(|said| !said.is_empty()) else { return Ok(None) };
    let role = said.to_str().and_then(|said| said.parse().ok());
    role.map(Some).ok_or_else(|| {
        let message = format!("{NAME} is {said:?}; it must be proposer, opponent or arbitrator");
        CliError::input(message).suggest(format!("Correct or unset {NAME}"))
    })
}

/// Refuses a command of another role, and returns the format of the refusal.
pub(super) fn check(typed: &ArgMatches) -> Result<(), (CliError, Format)> {
    let (words, command) = command_of(typed);
    let name = words.join(" ");
    let format = command.try_get_one::<Format>("format").ok().flatten().copied();
    let shown = |problem| (problem, format.unwrap_or_else(Format::usual));
    in_run(&name).map_err(shown)?;
    // These concern no debate, or check the role themselves.
    if matches!(words.first(), Some(&("mcp" | "serve" | "wake" | "demo" | "completions" | "man"))) {
        return Ok(());
    }
    let Some(own) = held_to().map_err(shown)? else { return Ok(()) };
    let said = |flag: &str| command.try_get_one::<String>(flag).ok().flatten();
    let named = said("role").and_then(|role| role.parse().ok());
    policy::check(own, &name, named)
        .map_err(|denied| shown(refusal(&name, own, denied, debate_of(command))))
}

/// The words of the command that was typed, and its arguments.
pub(super) fn command_of(typed: &ArgMatches) -> (Vec<&str>, &ArgMatches) {
    let (mut words, mut command) = (Vec::new(), typed);
    while let Some((word, inner)) = command.subcommand() {
        words.push(word);
        command = inner;
    }
    (words, command)
}

/// The debate that was typed.
fn debate_of(command: &ArgMatches) -> Option<&str> {
    let said = |name: &str| command.try_get_one::<String>(name).ok().flatten();
    let debate = said("debate").or_else(|| said("debate_id"))?;
    Some(debate.as_str()).filter(|debate| !debate.is_empty())
}

/// Refuses a command that writes, for an agent program of a run: the run itself posts its answer.
pub(super) fn in_run(name: &str) -> Result<(), CliError> {
    let family = name.split(' ').next().unwrap_or(name);
    let command = Command::named(name).or_else(|| Command::named(family));
    let writes = command.is_some_and(|command| command.users() != Users::Everybody);
    match env::var_os(run::MARK) {
        Some(debate) if writes && !debate.is_empty() => {
            let message = format!("aw {name} is not for an agent of a run ({})", run::MARK);
            Err(CliError::new(Code::ActionNotAllowed, message)
                .suggest("End with your answer: the run posts your final message"))
        }
        _ => Ok(()),
    }
}

fn refusal(name: &str, own: Role, denied: Denied, debate: Option<&str>) -> CliError {
    let list = CommandLine::new("debate list");
    let next = match (debate, own) {
        (Some(debate), _) => CommandLine::new("debate get-context")
            .flag("--debate-id", debate)
            .flag("--role", own.as_str()),
        (None, Role::Opponent) => list.word("--pending-first-opponent"),
        (None, Role::Arbitrator) => list.word("--needs-arbitrator"),
        (None, Role::Proposer) => list,
    }
    .into_string();
    let suggestion = match denied {
        Denied::Command { users: Users::Person, .. } => "Ask your user to run it".to_owned(),
        Denied::Command { .. } | Denied::Role { .. } => format!("Play your own role: {next}"),
    };
    let problem = CliError::new(Code::Forbidden, format!("aw {name} {denied} ({NAME})"))
        .suggest(suggestion)
        .with("reason", "role")
        .with("next_command", next);
    match debate {
        Some(debate) => problem.with("debate_id", debate),
        None => problem,
    }
}
