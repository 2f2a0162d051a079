//! The command line: parses arguments, prints an answer, and returns an exit code.
//!
//! Each family of commands has a file. Each command turns its arguments into requests of
//! [`crate::api`] and an [`output::Answer`], which [`output::show`] prints. Data goes to stdout and
//! can be piped; words for people go to stderr.

mod after_failure;
mod agent;
mod allocator;
mod background;
mod backup;
mod browser;
mod complete;
mod confirm;
mod connect;
mod debate;
mod demo;
mod docs;
mod doctor;
mod editor;
mod human;
mod manual;
mod mcp;
mod migrate;
mod next_command;
mod notes;
mod output;
mod refs;
mod role;
mod scheduled_backup;
mod search;
mod serve;
mod server;
mod service;
mod session;
mod text;
mod token;
mod wake;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::api::error::{INPUT, SERVER};
use crate::run;
use output::{CliError, Format, show};

const HELP: &str = "\
Two coding agents debate a plan until it holds.

Usage: aw <command>

See it
  demo          Play a debate of two scripted agents, on a throw-away server
  doctor        Check the installation and say how to fix problems

Debate (aw debate --help and so on)
  debate        Run a whole debate, or create, answer, wait, rule
  docs          Keep long texts as documents in versions
  search        Find words in titles, arguments and documents
  agent         Teach coding agents to debate: show, install, doctor
  mcp           The same moves as tools, for agents that speak MCP

Server (started by itself when a command needs it)
  server        Start, stop, status, logs, backup
  serve         Run it in the foreground
  token         Say who may take part: create, list, revoke

Shell
  completions   Completions for bash, zsh or fish
  man           Manual pages

Options
  -h, --help      This page, or that of a command
  -V, --version   The version
  --format        json or markdown: by default markdown for a person at a
                  terminal, else json; AW_FORMAT or config.toml sets another

A JSON answer is one object that says what to run next (metadata.next_command).
Exit codes: 0 done, 2 not found, 3 server, 4 input, 5 not allowed now,
6 authentication; of a run also 7 undecided, 8 an agent failed, 9 closed with
blocking points left open.

First debate
  aw debate run PLAN.md
";

/// Two coding agents debate a plan until it holds
#[derive(Debug, Parser)]
#[command(name = "aw", bin_name = "aw", version = env!("AW_VERSION"), override_help = HELP, max_term_width = 80)]
struct Typed {
    #[command(subcommand)]
    command: Command,
}

// Each command is built only when it is typed: building all of them takes a tenth of a command's
// time.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum Command {
    #[command(subcommand)]
    Debate(debate::DebateCommand),
    #[command(subcommand)]
    Docs(docs::Docs),
    /// Find words in titles, arguments (rulings too), documents and authors
    #[command(
        after_help = "All words must be there; the last one may be the beginning of a word. Case and diacritics do not matter. The beginning of an id finds its debate, argument or document.\n\nExample:\n  aw search retry budget --limit 5 --format markdown"
    )]
    Search(search::SearchCommand),
    #[command(subcommand)]
    Agent(agent::AgentCommand),
    #[command(subcommand)]
    Server(server::ServerCommand),
    #[command(subcommand)]
    Token(token::TokenCommand),
    /// Run the server in the foreground
    Serve(serve::Serve),
    /// Offer the moves of a debate as tools over stdin and stdout (Model Context Protocol)
    #[command(
        after_help = "A coding agent starts it by itself once it is in the agent's settings: see aw agent install. The server is started when a tool needs it.\n\nExample:\n  aw mcp --role opponent"
    )]
    Mcp(mcp::McpCommand),
    /// Check the installation and say how to fix problems
    #[command(after_help = "Example:\n  aw doctor")]
    Doctor(debate::Shape),
    /// Play a whole debate between two scripted agents, on a throw-away server
    #[command(after_help = "Example:\n  aw demo")]
    Demo(demo::Demo),
    /// Print completions for a shell
    #[command(after_help = "Example:\n  aw completions bash >> ~/.bash_completion")]
    Completions(manual::Completions),
    /// Print the manual page, or write all of them into a folder
    #[command(after_help = "Example:\n  aw man --output ~/.local/share/man/man1")]
    Man(manual::Man),
    /// Wait in place of an idle agent, and wake it: a hook of its host runs this
    #[command(hide = true)]
    Wake(wake::WakeCommand),
    /// Print what a shell offers for a word
    #[command(name = complete::NAME, hide = true)]
    Complete(complete::Complete),
    /// Lead the process group of an agent program
    #[command(name = run::HELPER, hide = true)]
    LeadGroup(LeadGroup),
}

/// A command that only a run starts.
#[derive(Debug, clap::Args)]
struct LeadGroup {
    prompt: PathBuf,
    #[arg(last = true)]
    program: Vec<OsString>,
}

/// Does what was typed.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments = with_format_last(arguments.into_iter().collect());
    let mut command = Typed::command();
    let (mut name, mut refused) = (String::new(), None);
    let typed = command.try_get_matches_from_mut(&arguments).and_then(|mut matches| {
        name = role::command_of(&matches).0.join(" ");
        refused = role::check(&matches).err();
        Typed::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
    });
    // Freeing it would take a twentieth of the time of a command, which ends anyway.
    std::mem::forget(command);
    let typed = match typed {
        Ok(typed) => typed,
        Err(usage) => return wrong_usage(&usage, &arguments),
    };
    if let Some((problem, format)) = refused {
        return show(Err(problem), format);
    }
    if let Err(problem) = typed.command.check_format() {
        return show(Err(problem), Format::usual());
    }
    let (format, outcome) = match typed.command {
        Command::Serve(serve) => return serve.run(),
        Command::LeadGroup(LeadGroup { prompt, program }) => {
            return run::helper::lead(&prompt, &program);
        }
        Command::Mcp(mcp) => return mcp.run(),
        Command::Wake(wake) => return wake.run(),
        Command::Complete(complete) => return complete.run(),
        Command::Demo(demo) => return demo.run(),
        Command::Debate(command) => (command.format(), command.run()),
        Command::Docs(command) => (command.format(), command.run()),
        Command::Search(command) => (command.format(), command.run()),
        Command::Agent(command) => (command.format(), command.run()),
        Command::Server(command) => (command.format(), command.run()),
        Command::Token(command) => (command.format(), command.run()),
        Command::Doctor(shape) => (shape.format(), Ok(doctor::examine())),
        Command::Completions(command) => (Format::usual(), command.run(Typed::command())),
        Command::Man(command) => (Format::usual(), command.run(&Typed::command())),
    };
    let outcome = outcome.map_err(|problem| problem.with_help_of(&name));
    show(refs::with_taken(outcome, format), format)
}

impl Command {
    /// Refuses a configured format that does not exist, for the commands that show an answer.
    fn check_format(&self) -> Result<(), CliError> {
        match self {
            Command::Serve(_)
            | Command::LeadGroup(_)
            | Command::Mcp(_)
            | Command::Wake(_)
            | Command::Demo(_) => Ok(()),
            // The command reads the settings too, and reports an unusable file.
            _ if std::env::var_os("AW_FORMAT").is_none() => Ok(()),
            _ => Format::set().map(drop),
        }
    }
}

/// The arguments with a `--format` before the command moved behind it: each command has formats of
/// its own.
fn with_format_last(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let is_flag = |at: usize, arguments: &[OsString]| {
        let word = arguments.get(at).and_then(|word| word.to_str()).unwrap_or_default();
        match word {
            "--format" => 2,
            _ if word.starts_with("--format=") => 1,
            _ => 0,
        }
    };
    let mut at = 1;
    let mut words = 0;
    let mut moved = Vec::new();
    // A family of commands and its command.
    while at < arguments.len() && words < 2 {
        match is_flag(at, &arguments) {
            0 if arguments[at].as_encoded_bytes().starts_with(b"-") => break,
            0 => {
                let is_family = ["debate", "docs", "agent", "server", "token"]
                    .iter()
                    .any(|family| arguments[at] == **family);
                words += if is_family { 1 } else { 2 };
                at += 1;
            }
            taken => moved.extend(arguments.drain(at..(at + taken).min(arguments.len()))),
        }
    }
    // Without a command there is nothing to show in a format.
    if words >= 2 {
        arguments.splice(at..at, moved);
    }
    arguments
}

/// Prints help and version as text. Reports wrong arguments like any other failure, unless a person
/// reads them.
fn wrong_usage(usage: &clap::Error, arguments: &[OsString]) -> ExitCode {
    let asked_for = matches!(usage.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if asked_for || Format::usual() == Format::Markdown {
        let printed = usage.print().is_ok();
        let code = if usage.use_stderr() { INPUT } else { 0 };
        return if printed { code.into() } else { SERVER.into() };
    }
    // The command, as far as the arguments name one.
    let mut command = Typed::command();
    command.build();
    let mut named = "aw".to_owned();
    for word in arguments.iter().skip(1).filter_map(|word| word.to_str()) {
        let Some(inner) = command.find_subcommand(word) else { break };
        command = inner.clone();
        named = format!("{named} {word}");
    }
    let help = format!("{named} --help");
    if usage.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
        let all = shown.map(clap::Command::get_name);
        let all: Vec<&str> = all.filter(|name| *name != "help").collect();
        let message = format!("{named} needs a command: {}", all.join(", "));
        return show(Err(CliError::input(message).suggest(help)), Format::Json);
    }
    let text = usage.render().to_string();
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    let details: Vec<&str> = lines
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"))
        .map(str::trim)
        // An agent that follows this tip names a debate `--colour`.
        .filter(|line| !line.is_empty() && !line.starts_with("tip: to pass '"))
        .collect();
    let message =
        details.iter().fold(first, |message, detail| match detail.strip_prefix("tip: ") {
            Some(tip) => format!("{message}; {tip}"),
            None => format!("{message} {detail}"),
        });
    let message = message.replace(": invalid digit found in string", ": it must be a whole number");
    // Clap's own usage may contain a flag that it guessed, so the complete one is shown.
    let suggestion = if text.contains("Usage: ") {
        let usage = command.render_usage().to_string();
        format!("{} (see {help})", usage.trim_start_matches("Usage: "))
    } else {
        help
    };
    show(Err(CliError::input(message).suggest(suggestion)), Format::Json)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy;

    /// All commands, with the parts that are otherwise built only when they are typed.
    fn whole() -> clap::Command {
        let mut aw = Typed::command();
        aw.build();
        aw
    }

    fn commands_in(family: &clap::Command) -> impl Iterator<Item = &clap::Command> {
        let is_shown = |command: &&clap::Command| !command.is_hide_set();
        family.get_subcommands().filter(|command| command.get_name() != "help").filter(is_shown)
    }

    #[test]
    fn pages_of_help_that_were_written_by_hand_list_every_command() {
        Typed::command().debug_assert();
        let aw = whole();
        let of = |name: &str| aw.find_subcommand(name).unwrap();
        for (page, family) in [
            (HELP, &aw),
            (debate::HELP, of("debate")),
            (docs::HELP, of("docs")),
            (agent::HELP, of("agent")),
            (server::HELP, of("server")),
            (token::HELP, of("token")),
        ] {
            assert!(commands_in(family).count() > 2);
            for command in commands_in(family) {
                let name = format!("\n  {} ", command.get_name());
                assert!(page.contains(&name), "{name} is missing");
            }
        }
    }

    #[test]
    fn every_command_about_debates_is_in_the_table_of_who_may_use_it() {
        let aw = whole();
        for family in ["debate", "docs", "agent"] {
            for command in commands_in(aw.find_subcommand(family).unwrap()) {
                let command = format!("{family} {}", command.get_name());
                assert!(policy::Command::named(&command).is_some(), "{command}");
            }
        }
        for command in policy::Command::ALL {
            let mut words = command.name().split(' ');
            let found = words.try_fold(&aw, |command, word| command.find_subcommand(word));
            assert!(found.is_some(), "there is no {}", command.name());
        }
    }

    #[test]
    fn every_command_has_an_example() {
        fn check(command: &clap::Command, path: &str) {
            let path = format!("{path} {}", command.get_name());
            if command.has_subcommands() {
                commands_in(command).for_each(|inner| check(inner, &path));
            } else {
                let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
                assert!(
                    help.contains(&format!("Example:\n  {}", path.trim()))
                        || help.contains(path.trim()),
                    "{path}"
                );
            }
        }
        check(&whole(), "");
    }

    #[test]
    fn what_a_command_is_for_stays_when_it_is_put_together() {
        let (begun, whole) = (Typed::command(), whole());
        for family in ["debate", "docs", "agent", "server", "token"] {
            let (begun, whole) =
                (begun.find_subcommand(family).unwrap(), whole.find_subcommand(family).unwrap());
            assert_eq!(commands_in(begun).count(), commands_in(whole).count());
            for (begun, whole) in commands_in(begun).zip(commands_in(whole)) {
                let about = |command: &clap::Command| command.get_about().unwrap().to_string();
                assert_eq!(about(begun), about(whole), "{family} {}", begun.get_name());
            }
        }
    }
}
