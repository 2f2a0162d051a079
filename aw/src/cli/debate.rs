//! `aw debate`: the commands that agents live in.

mod code_quotes;
mod export;
mod invite;
mod points;
mod post;
mod purge;
mod read;
mod run;
mod run_view;
mod verify;
mod wait;
mod watch;
mod write;

use std::str::FromStr;
use std::time::Duration;

use clap::Subcommand;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::next_command::CommandLine;
use super::output::{Answer, CliError, Format, Shown};
use crate::api::advice::{Advice, Step};
use crate::api::types::ArgumentIdText;
pub(super) use crate::code_quotes::LookedUp;
use export::{Export, ResultCommand};
pub(super) use invite::{Invitation, to_agent};
pub(super) use points::{PointOutput, PointsOutput};
pub(super) use post::{CheckOutput, WriteOutput};
pub(super) use read::{ContextOutput, TypesOutput};
pub(super) use run::RunLine;
pub(super) use verify::{Walk, in_words};
pub(super) use wait::{WaitEnd, WaitOutput};
pub(super) use watch::{WatchedChange, WatchedEvent};

pub(super) const HELP: &str = "\
Hold a debate: create it, answer, wait, appeal, rule

Usage: aw debate <command>

Whole debates
  run                  Let two agent programs debate a plan to its end

Proposer and opponent
  create               Open a debate with its MOTION (proposer)
  submit               Answer the other side with a CLAIM
  wait                 Wait until there is something to do (arbitrator too)
  get-context          Read a debate; with --role, also what to do now

Proposer
  appeal               Put a dispute before the arbitrator
  request-completion   Ask to complete the debate: a RESOLUTION

Arbitrator
  ruling               Rule on what is pending: a ruling binds both sides
  intervention         Stop the agents; a ruling must follow

Everybody
  list                 List debates, the most recently updated first
  watch                Follow all debates; ring when one needs the arbitrator
  points               List the points of a debate, or show one with its history
  types                List the types of debate, yours included
  open                 Open a debate's page in the browser, signed in
  invite               Make a token for another person's agent
  result               Report how a debate ended: Markdown, MADR or JSON
  export               Save the whole transcript as Markdown, HTML or JSON
  verify               Check that a debate, or the whole record, is unchanged
  archive              Leave a debate out of lists, or bring it back
  delete               Hide a debate for good
  purge                Remove the texts of a debate for good (administrator)
  generate-id          Make a UUID for a debate or a request (needs no server)

A debate by one command
  aw debate run PLAN.md

A debate, step by step (each answer names the next command)
  aw debate create --title \"One file?\" --type general_debate --file motion.md
  aw debate wait --debate-id 93d8… --role proposer --argument-id 01a1…
  aw debate submit --debate-id 93d8… --role proposer --target-id 01a2… -f a.md
  aw debate request-completion --debate-id 93d8… --target-id 01a4… -f end.md

aw debate <command> --help has its flags and an example.
";

/// Hold a debate: create it, answer, wait, appeal, rule
#[derive(Debug, Subcommand)]
#[command(defer = true, override_help = HELP)]
pub(super) enum DebateCommand {
    /// Let two agent programs of this machine debate a plan to its end
    #[command(
        after_help = "The agents work in copies of your project and change nothing in it. The plan comes back as the debate leaves it, with a report beside it. Ctrl-C stops the run; --resume goes on.\n\nExample:\n  aw debate run PLAN.md --opponent codex --ask \"Can this lose data?\""
    )]
    Run(Box<run::Run>),
    /// Make a UUID for a debate or a request (needs no server)
    #[command(after_help = "Example:\n  aw debate generate-id")]
    GenerateId(Shape),
    /// Open a debate with its MOTION (proposer)
    #[command(
        after_help = "Example:\n  aw debate create --title \"One file?\" --type general_debate --file motion.md"
    )]
    Create(write::Create),
    /// Read a debate: its motion, newest arguments, rulings and documents
    #[command(after_help = "Example:\n  aw debate get-context --debate-id 93d8… --role opponent")]
    GetContext(read::GetContext),
    /// Answer the other side with a CLAIM (proposer, opponent)
    #[command(
        after_help = "The same text to the same target, sent again, is not written twice. A quote with a source line, such as — src/charge.rs:88, is looked up in that file below the working folder.\n\nExample:\n  aw debate submit --debate-id 93d8… --role opponent --target-id 01a1… -f c.md"
    )]
    Submit(write::Submit),
    /// Wait until there is something to do or to read (every role)
    #[command(
        after_help = "The server holds the request and answers within milliseconds of the next move. A timeout is not a failure: run `retry_command`.\n\nExample:\n  aw debate wait --debate-id 93d8… --role proposer --argument-id 01a1…"
    )]
    Wait(wait::Wait),
    /// Put a dispute before the arbitrator (proposer)
    #[command(
        after_help = "Example:\n  aw debate appeal --debate-id 93d8… --target-id 01a1… --file appeal.md"
    )]
    Appeal(write::RequestCommand),
    /// Ask to complete the debate: a RESOLUTION (proposer)
    #[command(
        after_help = "Example:\n  aw debate request-completion --debate-id 93d8… --target-id 01a1… -f end.md"
    )]
    RequestCompletion(write::RequestCommand),
    /// Rule on what is pending: a ruling binds both sides (arbitrator)
    #[command(
        after_help = "Example:\n  aw debate ruling --debate-id 93d8… --uphold P2 --dismiss P3,P4 --content B"
    )]
    Ruling(write::Ruling),
    /// Stop the agents; a ruling must follow (arbitrator)
    #[command(
        after_help = "The content may be left out.\n\nExample:\n  aw debate intervention --debate-id 93d8… --content \"Mind the budget\""
    )]
    Intervention(write::Intervention),
    /// List debates, the most recently updated first
    #[command(after_help = "Example:\n  aw debate list --pending-first-opponent")]
    List(read::List),
    /// Follow all debates; ring when one needs the arbitrator
    #[command(
        after_help = "A line for each change, or a JSON object a line in a pipe, until Ctrl-C. It checks once a second.\n\nExample:\n  aw debate watch"
    )]
    Watch(watch::Watch),
    /// List the points of a debate, or show one with its history
    #[command(
        after_help = "Without flags it lists the live points, those that block first.\n\nExample:\n  aw debate points --debate-id 93d8… --point P2"
    )]
    Points(points::PointsCommand),
    /// List the types of debate: built in, yours and the project's
    #[command(after_help = "Example:\n  aw debate types")]
    Types(Shape),
    /// Open a debate's page in the browser, signed in where that is needed
    #[command(after_help = "Example:\n  aw debate open --debate-id 93d8…")]
    Open(read::Open),
    /// Make a token for another person's agent, and print all it needs
    #[command(
        after_help = "The token is for this debate and this role only. See also aw token list and revoke.\n\nExample:\n  aw debate invite --debate-id 93d8… --role opponent --name \"Codex at An's\""
    )]
    Invite(invite::Invite),
    /// Report how a debate ended: Markdown, a decision record (MADR) or JSON
    #[command(
        after_help = "The report is made from the record alone: every server of the record prints the same bytes. The last line of the Markdown is for a commit message.\n\nExample:\n  aw debate result --debate-id 93d8… --wait --format madr -o decision.md"
    )]
    Result(ResultCommand),
    /// Save the whole transcript as Markdown, HTML or JSON
    #[command(after_help = "Example:\n  aw debate export --debate-id 93d8… --output debate.md")]
    Export(Export),
    /// Check that a debate, or the whole record, is unchanged
    #[command(
        after_help = "The server computes each argument's hash again, from its text and its predecessor's hash. It reports the first argument that was changed, removed or moved by something else.\n\nExample:\n  aw debate verify --debate-id 93d8…"
    )]
    Verify(verify::Verify),
    /// Leave a debate out of lists, or bring it back
    #[command(
        after_help = "The debate is not lost: the next move in it brings it back.\n\nExample:\n  aw debate archive charge-retries"
    )]
    Archive(read::Archive),
    /// Hide a debate for good
    #[command(after_help = "Example:\n  aw debate delete --debate-id 93d8… --confirm")]
    Delete(read::Delete),
    /// Remove the texts of a closed or deleted debate for good (administrator)
    #[command(
        after_help = "It says what is lost and asks. A tombstone with the hash of the last argument stays, so the record still verifies. Backups and exports keep the texts.\n\nExample:\n  aw debate purge 93d81b1a-0e66-4510-abfd-aa33b26cb82e --documents"
    )]
    Purge(purge::Purge),
}

// How an answer is shown
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct Shape {
    /// json for agents, markdown for people [default: markdown on a terminal, else json]
    #[arg(long, value_enum, hide_possible_values = true, help_heading = "Output")]
    format: Option<Format>,
    /// Log each step on stderr
    #[arg(long, help_heading = "Output")]
    pub(super) verbose: bool,
}

impl Shape {
    /// The format that was typed, or the default.
    pub(super) fn format(&self) -> Format {
        self.format.unwrap_or_else(Format::usual)
    }
}

impl DebateCommand {
    pub(super) fn format(&self) -> Format {
        match self {
            DebateCommand::GenerateId(shape) | DebateCommand::Types(shape) => shape.format(),
            DebateCommand::Run(command) => command.shape.format(),
            DebateCommand::Create(command) => command.shape.format(),
            DebateCommand::GetContext(command) => command.shape.format(),
            DebateCommand::Submit(command) => command.shape.format(),
            DebateCommand::Wait(command) => command.shape.format(),
            DebateCommand::Appeal(command) | DebateCommand::RequestCompletion(command) => {
                command.shape.format()
            }
            DebateCommand::Ruling(command) => command.shape.format(),
            DebateCommand::Intervention(command) => command.shape.format(),
            DebateCommand::List(command) => command.shape.format(),
            DebateCommand::Points(command) => command.shape.format(),
            DebateCommand::Watch(command) => command.shape.format(),
            DebateCommand::Open(command) => command.shape.format(),
            DebateCommand::Invite(command) => command.shape.format(),
            DebateCommand::Result(_) | DebateCommand::Export(_) => Format::usual(),
            DebateCommand::Verify(command) => command.shape.format(),
            DebateCommand::Archive(command) => command.shape.format(),
            DebateCommand::Delete(command) => command.shape.format(),
            DebateCommand::Purge(command) => command.shape.format(),
        }
    }

    pub(super) fn run(self) -> Result<Shown, CliError> {
        match self {
            DebateCommand::GenerateId(_) => Ok(Shown::Answer(read::generate_id())),
            DebateCommand::Run(command) => command.run(),
            DebateCommand::Create(command) => command.run(),
            DebateCommand::GetContext(command) => command.run(),
            DebateCommand::Submit(command) => command.run(),
            DebateCommand::Wait(command) => command.run(),
            DebateCommand::Appeal(command) => command.run(write::Wanted::Ruling),
            DebateCommand::RequestCompletion(command) => command.run(write::Wanted::Completion),
            DebateCommand::Ruling(command) => command.run(),
            DebateCommand::Intervention(command) => command.run(),
            DebateCommand::List(command) => command.run(),
            DebateCommand::Points(command) => command.run(),
            DebateCommand::Watch(command) => command.run(),
            DebateCommand::Types(_) => read::types(),
            DebateCommand::Open(command) => command.run(),
            DebateCommand::Invite(command) => command.run(),
            DebateCommand::Result(command) => command.run(),
            DebateCommand::Export(command) => command.run(),
            DebateCommand::Verify(command) => command.run(),
            DebateCommand::Archive(command) => command.run(),
            DebateCommand::Delete(command) => command.run(),
            DebateCommand::Purge(command) => command.run(),
        }
    }
}

/// The fields of points in an answer, as the server sent them. Absent in a debate without points.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct PointFields {
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "as_it_came")]
    outcome: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "as_it_came")]
    statements: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "as_it_came")]
    held: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "as_it_came")]
    ledger: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "as_it_came")]
    points: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "as_it_came")]
    points_omitted: Option<Value>,
}

/// Reads a field that may be null as it came.
fn as_it_came<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// The deadline of a wait, as text and as a time.
#[derive(Debug, Clone)]
struct Deadline {
    typed: String,
    time: Duration,
}

impl FromStr for Deadline {
    type Err = &'static str;

    fn from_str(typed: &str) -> Result<Self, Self::Err> {
        let number = typed.parse::<f64>().ok().filter(|number| (0.0..1e9).contains(number));
        let time = number.map(Duration::from_secs_f64);
        let time = time.ok_or("it must be a number of seconds, for instance 110")?;
        Ok(Deadline { typed: typed.to_owned(), time })
    }
}

/// Flags that each next command repeats, because the agent's host needs them every time.
#[derive(Debug, Clone, Copy)]
struct NextFlags<'a> {
    deadline: Option<&'a Deadline>,
    format: Format,
    /// The number of the next wait, after a wait; none after any other command.
    attempt: Option<u64>,
    /// Whether the next move waits too.
    wait: bool,
}

impl NextFlags<'_> {
    fn apply(self, line: CommandLine) -> CommandLine {
        let deadline = self.deadline.map(|deadline| deadline.typed.as_str());
        line.flag_if("--deadline", deadline).format(self.format)
    }
}

/// The wait that follows. After a wait it carries a number, so that no two lines in a row are
/// equal: agent hosts stop an agent that repeats a command.
fn wait_line(
    debate: &str,
    role: &str,
    after: Option<&str>,
    next_flags: NextFlags<'_>,
) -> CommandLine {
    let attempt = next_flags.attempt.map(|attempt| attempt.to_string());
    let line = CommandLine::new("debate wait")
        .flag("--debate-id", debate)
        .flag("--role", role)
        .flag_if("--argument-id", after)
        .flag_if("--attempt", attempt.as_deref());
    next_flags.apply(line)
}

/// The command that takes this step.
fn step_line(step: &Step, debate: &str, role: &str, next_flags: NextFlags<'_>) -> CommandLine {
    let on = |command: &str| CommandLine::new(command).flag("--debate-id", debate);
    let file = |line: CommandLine, target: ArgumentIdText| {
        let line = line.flag("--target-id", &target.0.to_string());
        let line = line.flag("--file", super::next_command::YOUR_TEXT);
        next_flags.apply(line.word_if("--wait", next_flags.wait))
    };
    match *step {
        Step::Wait(after) => {
            let after = after.map(|after| after.0.to_string());
            wait_line(debate, role, after.as_deref(), next_flags)
        }
        Step::Submit(target) => file(on("debate submit").flag("--role", role), target),
        Step::Appeal(target) => file(on("debate appeal"), target),
        Step::RequestCompletion(target) => file(on("debate request-completion"), target),
        Step::Rule(target) => file(on("debate ruling"), target),
        Step::RuleAndClose(target) => file(on("debate ruling"), target).word("--close"),
        // Its --format names the document, so the format of this answer is not passed on.
        Step::Result => on("debate result"),
    }
}

/// Adds the commands that follow from this advice.
fn advised(
    answer: Answer,
    advice: &Advice,
    debate: &str,
    role: &str,
    next_flags: NextFlags<'_>,
) -> Answer {
    let line = |step: &Step| step_line(step, debate, role, next_flags).into_string();
    let answer = match &advice.next {
        Some(step) => answer.next(line(step)),
        None => answer,
    };
    if advice.others.is_empty() {
        return answer;
    }
    answer.with("alternatives", advice.others.iter().map(line).collect::<Vec<_>>())
}
