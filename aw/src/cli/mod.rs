//! What is typed and what is shown.
//!
//! Each family of commands has a file; each command turns what was typed into calls of the client
//! and an [`answer::Answer`], which [`answer::show`] prints. Data goes to stdout and can be piped;
//! words for people go to stderr.

mod answer;
mod background;
mod debate;
mod demo;
mod docs;
mod doctor;
mod line;
mod manual;
mod page;
mod serve;
mod server;
mod session;
mod text;

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

use answer::{Format, Problem, Shown, show};

/// The server, or the way to it, failed.
const SERVER: u8 = 3;

/// What was typed or set cannot be used.
const INPUT: u8 = 4;

const HELP: &str = "\
Two coding agents debate a plan until it holds.

Usage: aw <command>

See it
  demo          Play a whole debate between two scripted agents, on a throw-away server
  doctor        Check the installation and say how to mend what is wrong

Debate
  debate        Create, answer, wait, appeal, rule, list, export        aw debate --help
  docs          Keep long texts as documents in versions                aw docs --help

Server (started by itself when a command needs it)
  server        Start, stop, status, logs, backup                       aw server --help
  serve         Run it in the foreground

Shell
  completions   Completions for bash, zsh or fish
  man           Manual pages

Options
  -h, --help      This page, or that of a command
  -V, --version   The version

Every command prints one JSON object that says what to run next (metadata.next_command);
--format markdown makes it readable. Exit codes: 0 done, 2 not found, 3 server, 4 input,
5 not allowed now, 6 authentication.

First debate
  aw debate create --title \"Keep one SQLite file?\" --type general_debate --content \"We should.\"
";

/// Two coding agents debate a plan until it holds
#[derive(Debug, Parser)]
#[command(name = "aw", version, override_help = HELP)]
struct Typed {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[command(subcommand)]
    Debate(debate::Debate),
    #[command(subcommand)]
    Docs(docs::Docs),
    #[command(subcommand)]
    Server(server::Server),
    /// Run the server in the foreground
    Serve(serve::Serve),
    /// Check the installation and say how to mend what is wrong
    #[command(after_help = "Example:\n  aw doctor --format markdown")]
    Doctor(debate::Shape),
    /// Play a whole debate between two scripted agents, on a throw-away server
    #[command(after_help = "Example:\n  aw demo")]
    Demo(demo::Demo),
    /// Print completions for a shell
    #[command(
        after_help = "Example:\n  aw completions bash > ~/.local/share/bash-completion/completions/aw"
    )]
    Completions(manual::Completions),
    /// Print the manual page, or write all of them into a folder
    #[command(after_help = "Example:\n  aw man --output ~/.local/share/man/man1")]
    Man(manual::Man),
}

/// Does what was typed.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let typed = match Typed::try_parse_from(arguments) {
        Ok(typed) => typed,
        Err(usage) => return wrong_usage(&usage),
    };
    let (format, outcome) = match typed.command {
        Command::Serve(serve) => return serve.run(),
        Command::Demo(demo) => return demo.run(),
        Command::Debate(command) => (command.format(), command.run()),
        Command::Docs(command) => (command.format(), command.run()),
        Command::Server(command) => (command.format(), command.run()),
        Command::Doctor(shape) => {
            let (answer, healthy) = doctor::examine();
            let code = show(Ok(Shown::Answer(answer)), shape.format);
            return if healthy { code } else { SERVER.into() };
        }
        Command::Completions(command) => (Format::Json, command.run(Typed::command())),
        Command::Man(command) => (Format::Json, command.run(&Typed::command())),
    };
    show(outcome, format)
}

/// Help and version are text; what was typed wrongly is a failure like any other, unless a person
/// is there to read it.
fn wrong_usage(usage: &clap::Error) -> ExitCode {
    let asked_for = matches!(
        usage.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    if asked_for || io::stdout().is_terminal() {
        let printed = usage.print().is_ok();
        let code = if usage.use_stderr() { INPUT } else { 0 };
        return if printed { code.into() } else { SERVER.into() };
    }
    let text = usage.render().to_string();
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    let details: Vec<&str> = lines
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"))
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let message = if details.is_empty() { first } else { format!("{first} {}", details.join(" ")) };
    let usage = text.lines().find_map(|line| line.strip_prefix("Usage: "));
    let mut problem = Problem::input(message);
    if let Some(usage) = usage {
        let command: Vec<&str> =
            usage.split(' ').take_while(|word| !word.starts_with(['<', '-', '['])).collect();
        problem = problem.suggest(format!("{usage} (see {} --help)", command.join(" ")));
    }
    show(Err(problem), Format::Json)
}

use debate::encoded;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_page_of_help_lists_every_command() {
        Typed::command().debug_assert();
        for command in Typed::command().get_subcommands() {
            let name = format!("  {} ", command.get_name());
            assert!(HELP.contains(&name), "{name} is missing");
        }
    }

    #[test]
    fn every_command_has_an_example() {
        fn check(command: &clap::Command, path: &str) {
            let path = format!("{path} {}", command.get_name());
            if command.has_subcommands() {
                command.get_subcommands().for_each(|inner| check(inner, &path));
            } else {
                let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
                assert!(
                    help.contains(&format!("Example:\n  {}", path.trim()))
                        || help.contains(path.trim()),
                    "{path}"
                );
            }
        }
        check(&Typed::command(), "");
    }
}
