//! A write into a debate: its text, its request, its answer, and the command that leads on from a failure.

use aw_core::{RequestId, Role};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::super::human;
use super::super::next_command::{CommandLine, YOUR_TEXT};
use super::super::output::{Answer, CliError};
use super::super::session::Session;
use super::super::text::TextInput;
use super::{Deadline, Habits, Shape, wait_line};
use crate::api::advice::{Fix, said_of_write};
use crate::api::client::{Reply, Request};
use crate::api::error::SERVER;
use crate::api::types::{ActionText, ArgumentIdText, KindText, RequestIdText, StateText, Written};

// Who writes, under which request.
#[derive(Debug, clap::Args)]
pub(super) struct Signature {
    /// Makes a retry recognisable; made when absent
    #[arg(long, value_name = "UUID")]
    pub(super) client_request_id: Option<String>,
    /// A label of who writes, at most 80 characters [env: AW_AUTHOR]
    #[arg(long, value_name = "LABEL")]
    pub(super) author: Option<String>,
    /// Seconds, repeated in the wait that follows
    #[arg(long, value_name = "SECONDS")]
    deadline: Option<Deadline>,
}

impl Signature {
    pub(super) fn habits(&self, shape: Shape) -> Habits<'_> {
        Habits { deadline: self.deadline.as_ref(), format: shape.format, attempt: None }
    }
}

/// A command that writes, as it was typed, besides its text.
pub(super) struct Draft<'a> {
    /// The command, without text, request id, author and habits.
    pub(super) line: CommandLine,
    pub(super) text: &'a TextInput,
    pub(super) signature: &'a Signature,
    pub(super) shape: Shape,
    pub(super) role: &'a str,
    pub(super) target: Option<&'a str>,
    /// None where the debate's id is still to be made.
    pub(super) debate: Option<&'a str>,
}

impl<'a> Draft<'a> {
    /// The text, which must be given.
    pub(super) fn read(&self) -> Result<String, CliError> {
        self.text.read().map_err(|problem| self.unread(problem))
    }

    /// The text, which may be left out.
    pub(super) fn read_optional(&self) -> Result<Option<String>, CliError> {
        self.text.read_optional().map_err(|problem| self.unread(problem))
    }

    /// A text that cannot be read: the same command with a text that can is next.
    fn unread(&self, problem: CliError) -> CliError {
        let request = self.signature.client_request_id.as_deref();
        let given = [("debate_id", self.debate), ("client_request_id", request)];
        let problem = given.into_iter().fold(problem, |problem, (name, id)| match id {
            Some(id) => problem.with(name, id),
            None => problem,
        });
        problem.with("next_command", self.with_your_text())
    }

    /// The same command with a placeholder for its text.
    fn with_your_text(&self) -> String {
        self.finished(self.line.clone().flag("--file", YOUR_TEXT))
    }

    /// The same command once more: with its request id, unless that follows from what is sent.
    fn again(&self, request: Option<&str>, content: Option<&str>) -> String {
        let line = self.line.clone().flag_if("--client-request-id", request);
        self.finished(match content {
            Some(content) => self.text.repeated(line, content),
            None => line,
        })
    }

    fn finished(&self, line: CommandLine) -> String {
        let line = line.flag_if("--author", self.signature.author.as_deref());
        self.signature.habits(self.shape).apply(line).into_string()
    }

    /// The request with which this is sent: the one that was given, the derived one, or a new one.
    pub(super) fn post(
        self,
        debate: &'a str,
        content: Option<&'a str>,
        derived: Option<RequestId>,
    ) -> Post<'a> {
        let (request, is_derived) = match (&self.signature.client_request_id, derived) {
            (Some(given), _) => (given.clone(), false),
            (None, Some(derived)) => (derived.to_string(), true),
            (None, None) => (Uuid::new_v4().to_string(), false),
        };
        Post { draft: self, debate, content, request, is_derived }
    }
}

/// A write on its way.
pub(super) struct Post<'a> {
    pub(super) draft: Draft<'a>,
    debate: &'a str,
    content: Option<&'a str>,
    pub(super) request: String,
    /// Whether the request id follows from debate, role, target and text.
    is_derived: bool,
}

impl Post<'_> {
    /// Finds the server, or starts it.
    pub(super) fn session(&self) -> Result<Session, CliError> {
        Session::open(self.draft.shape.verbose).map_err(|problem| self.failed(problem))
    }

    /// The label on what is written: the one that was typed, or the one of the settings.
    pub(super) fn author(&self, session: &Session) -> Option<String> {
        self.draft.signature.author.clone().or_else(|| session.settings.author.clone())
    }

    /// Sends this.
    pub(super) fn send(
        &self,
        session: &Session,
        request: &Request<Written>,
    ) -> Result<Reply<Written>, CliError> {
        session.call(request).map_err(|problem| self.failed(problem))
    }

    /// A failure with its ids and the command that leads on from it.
    pub(super) fn failed(&self, problem: CliError) -> CliError {
        let problem =
            problem.with("debate_id", self.debate).with("client_request_id", self.request.as_str());
        let Draft { signature, shape, role, target, .. } = self.draft;
        let habits = signature.habits(shape);
        let next = |problem: CliError, line: String| problem.with("next_command", line);
        let context = || {
            let line = CommandLine::new("debate get-context").flag("--debate-id", self.debate);
            habits.apply(line.flag("--role", role)).into_string()
        };
        let role_played: Option<Role> = role.parse().ok();
        let error = problem.refused.as_ref().map(|refused| &refused.data);
        let limit = error.and_then(|error| error.max_length);
        match error.and_then(|error| Fix::after(error, role_played, self.is_derived)) {
            Some(Fix::Wait) => {
                let wait = wait_line(self.debate, role, target, habits).into_string();
                next(problem, wait)
            }
            Some(Fix::ReadDebate) => next(problem, context()),
            Some(Fix::Rewrite) => next(problem, self.draft.with_your_text()),
            Some(Fix::WrittenBefore) => {
                let mut problem = next(problem, context());
                problem.message = "this text was written here before, with other flags (such as \
                                   --close, --title or --author)"
                    .to_owned();
                problem
                    .suggest("See what is there, and change the text if it should be there again")
            }
            Some(Fix::KeepInDocument) => {
                let file = self.draft.text.file.as_ref().map(|path| path.display().to_string());
                let summary = format!("Details for debate {}", self.debate);
                let line = CommandLine::new("docs create").flag("--summary", &summary);
                let line = line.flag("--file", file.as_deref().unwrap_or(YOUR_TEXT));
                next(problem, line.format(shape.format).into_string())
            }
            Some(Fix::Shorten) => {
                let problem = match limit {
                    Some(limit) => problem.suggest(format!("Shorten the text to {limit} bytes")),
                    None => problem,
                };
                next(problem, self.draft.with_your_text())
            }
            None if problem.exit() == SERVER => problem.with("retry_command", self.again()),
            None => problem,
        }
    }

    /// The same command once more, which is written once.
    pub(super) fn again(&self) -> String {
        let request = (!self.is_derived).then_some(self.request.as_str());
        self.draft.again(request, self.content)
    }

    /// The result of a write that did this.
    pub(super) fn output(
        &self,
        session: &Session,
        reply: Reply<Written>,
        done: &str,
    ) -> WriteOutput {
        let verbatim: Verbatim = reply.verbatim();
        let mut argument = verbatim.argument;
        argument.shift_remove("content");
        let written = reply.data;
        // The older system calls some debates otherwise than by a UUID.
        let debate_id = match session.client.is_older() {
            true => self.debate.to_owned(),
            false => written.debate.id.0.to_string(),
        };
        WriteOutput {
            argument_id: written.argument.id,
            argument_type: written.argument.kind.clone(),
            argument_seq: written.argument.seq,
            url: session.url_of(&debate_id),
            debate_id,
            debate_state: written.debate.state.clone(),
            debate_type: written.debate.debate_type.clone(),
            client_request_id: written.argument.client_request_id,
            replayed: written.replayed,
            parked: written.argument.parked,
            missed: verbatim.missed,
            action: written.action.clone(),
            next_argument_id_to_wait: written.next_argument_id_to_wait,
            argument,
            debate: None,
            rules_origin: None,
            debate_verbatim: verbatim.debate,
            message: said_of_write(&written, done),
            written,
        }
    }

    /// The answer to a write, with the wait that follows it.
    pub(super) fn answer(&self, session: &Session, output: WriteOutput) -> Answer {
        let habits = self.draft.signature.habits(self.draft.shape);
        let after = output.next_argument_id_to_wait.0.to_string();
        let wait = wait_line(self.debate, self.draft.role, Some(&after), habits).into_string();
        let message = output.message.clone();
        let answer = Answer::new(output, human::written)
            .message(message)
            .next(wait)
            .with("client_request_id", self.request.as_str());
        session.checked(answer)
    }
}

/// What is printed of the server's answer as it came.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Verbatim {
    debate: Value,
    argument: Map<String, Value>,
    missed: Value,
}

/// The result of a write: ids instead of the text that the agent has just sent, which costs tokens.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct WriteOutput {
    pub(super) argument_id: ArgumentIdText,
    argument_type: KindText,
    argument_seq: u64,
    pub(in crate::cli) debate_id: String,
    debate_state: StateText,
    debate_type: String,
    client_request_id: RequestIdText,
    pub(super) replayed: bool,
    parked: bool,
    missed: Value,
    action: Option<ActionText>,
    next_argument_id_to_wait: ArgumentIdText,
    pub(in crate::cli) url: String,
    argument: Map<String, Value>,
    /// The debate, when it was just opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) debate: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rules_origin: Option<&'static str>,
    #[serde(skip)]
    pub(super) debate_verbatim: Value,
    #[serde(skip)]
    message: String,
    #[serde(skip)]
    pub(in crate::cli) written: Written,
}
