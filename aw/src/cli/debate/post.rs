//! A write into a debate: its text, its request, its answer, and the command that leads on from a failure.

use aw_core::{RequestId, Role, State};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::super::human;
use super::super::next_command::{CommandLine, YOUR_TEXT};
use super::super::notes::Notes;
use super::super::output::{Answer, CliError, Detail, Shown};
use super::super::session::Session;
use super::super::text::TextInput;
use super::code_quotes::FileCheck;
use super::wait::{Moved, Wait};
use super::{Deadline, NextFlags, PointFields, Shape, advised, step_line, wait_line};
use crate::api::advice::{Advice, Fix, check_message, write_message};
use crate::api::client::{self, Reply, Request};
use crate::api::error::{Code, SERVER};
use crate::api::types::{
    ActionText, ArgumentIdText, CheckMove, Checked, KindText, RequestIdText, StateText, Written,
};
use crate::code_quotes::LookedUp;

/// How many arguments a read returns at most.
const MOST_READ: u64 = 500;

// Who writes, under which request.
#[derive(Debug, clap::Args)]
pub(super) struct Signature {
    /// Identifies a retry; by default derived from the move
    #[arg(long, value_name = "UUID")]
    pub(super) client_request_id: Option<String>,
    /// A label for the author, at most 80 characters [env: AW_AUTHOR]
    #[arg(long, value_name = "LABEL")]
    pub(super) author: Option<String>,
    /// Then wait as aw debate wait does, and print the answer of that wait
    // An agent adds this and the next flag to lines that have them already.
    #[arg(long, overrides_with = "wait")]
    wait: bool,
    /// The --deadline of the wait that follows
    #[arg(long, value_name = "SECONDS", overrides_with = "deadline")]
    deadline: Option<Deadline>,
    #[command(flatten)]
    detail: Detail,
}

impl Signature {
    pub(super) fn next_flags(&self, shape: Shape) -> NextFlags<'_> {
        let (deadline, format) = (self.deadline.as_ref(), shape.format());
        NextFlags { deadline, format, attempt: None, wait: self.wait }
    }
}

/// A command that writes, as it was typed, without its text.
pub(super) struct Draft<'a> {
    /// The command, without text, request id, author and next_flags.
    pub(super) line: CommandLine,
    pub(super) text: &'a TextInput,
    pub(super) signature: &'a Signature,
    pub(super) shape: Shape,
    pub(super) role: &'a str,
    pub(super) target: Option<&'a str>,
    /// None where the debate's id is still to be made.
    pub(super) debate: Option<&'a str>,
    /// Whether the move is only judged.
    pub(super) dry_run: bool,
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

    /// The error for a text that cannot be read. The next command is the same with a placeholder.
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
        let place = self.text.draft().map(|path| path.display().to_string());
        let file = place.as_deref().unwrap_or(YOUR_TEXT);
        self.finished(self.line.clone().flag("--file", file), self.dry_run)
    }

    /// The same command with the file that was given, for its author to mend.
    fn with_file_mended(&self) -> String {
        self.finished(self.line.clone().flag("--file", &self.text.place()), self.dry_run)
    }

    /// The command for a retry: with its request id, unless the id follows from the text.
    fn again(&self, request: Option<&str>, content: Option<&str>, dry_run: bool) -> String {
        let line = self.line.clone().flag_if("--client-request-id", request);
        let line = match content {
            Some(content) => self.text.repeated(line, content),
            None => line,
        };
        self.finished(line, dry_run)
    }

    fn finished(&self, line: CommandLine, dry_run: bool) -> String {
        let line = line.flag_if("--author", self.signature.author.as_deref());
        let line = line.word_if("--dry-run", dry_run).word_if("--wait", self.signature.wait);
        self.signature.next_flags(self.shape).apply(line).into_string()
    }

    /// The id of this request: the one that was given, the derived one, or a new one.
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

    /// The label of the author: from the command line, or else from the settings.
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

    /// Whether this request has written an argument already.
    pub(super) fn is_written(&self, session: &Session) -> Result<bool, CliError> {
        let context = session.call(&client::context(self.debate, MOST_READ));
        let arguments = context.map_err(|problem| self.failed(problem))?.data.arguments;
        Ok(arguments.iter().any(|one| one.client_request_id.0.to_string() == self.request))
    }

    /// A failure with its ids and the next command.
    pub(super) fn failed(&self, problem: CliError) -> CliError {
        let problem =
            problem.with("debate_id", self.debate).with("client_request_id", self.request.as_str());
        let problem = match self.draft.text.draft() {
            Some(path) => problem.with("hint", format!("your text is in {}", path.display())),
            None => problem,
        };
        let Draft { signature, shape, role, target, .. } = self.draft;
        let next_flags = signature.next_flags(shape);
        let next = |problem: CliError, line: String| problem.with("next_command", line);
        let context = || {
            let line = CommandLine::new("debate get-context").flag("--debate-id", self.debate);
            next_flags.apply(line.flag("--role", role)).into_string()
        };
        let role_played: Option<Role> = role.parse().ok();
        let error = problem.refused.as_ref().map(|refused| &refused.data);
        let limit = error.and_then(|error| error.max_length);
        match error.and_then(|error| Fix::after(error, role_played, self.is_derived)) {
            Some(Fix::Wait) => {
                let wait = wait_line(self.debate, role, target, next_flags).into_string();
                next(problem, wait)
            }
            Some(Fix::Take(step)) => {
                next(problem, step_line(&step, self.debate, role, next_flags).into_string())
            }
            Some(Fix::ReadDebate) => next(problem, context()),
            Some(Fix::Rewrite) if !problem.flaws().is_empty() => {
                next(problem, self.draft.with_file_mended())
            }
            Some(Fix::Rewrite) => next(problem, self.draft.with_your_text()),
            Some(Fix::WrittenBefore) => {
                let mut problem = next(problem, context());
                problem.message = "this text was written here before, with other flags (such as \
                                   --close, --title or --author)"
                    .to_owned();
                problem.suggest("Read the debate, and change the text to submit it again")
            }
            Some(Fix::KeepInDocument) => {
                let summary = format!("Details for debate {}", self.debate);
                let line = CommandLine::new("docs create").flag("--summary", &summary);
                let line = line.flag("--file", &self.draft.text.place());
                next(problem, line.format(shape.format()).into_string())
            }
            Some(Fix::Shorten) => {
                let problem = match limit {
                    Some(limit) => problem.suggest(format!("Shorten the text to {limit} bytes")),
                    None => problem,
                };
                next(problem, self.draft.with_your_text())
            }
            None if !problem.flaws().is_empty() => next(problem, self.draft.with_file_mended()),
            None if problem.exit() == SERVER => problem.with("retry_command", self.again()),
            None => problem,
        }
    }

    /// The same command for a retry, which writes nothing twice.
    pub(super) fn again(&self) -> String {
        self.repeated(self.draft.dry_run)
    }

    fn repeated(&self, dry_run: bool) -> String {
        let request = (!self.is_derived).then_some(self.request.as_str());
        self.draft.again(request, self.content, dry_run)
    }

    /// Lets the server judge the move without making it. The next command is the same without
    /// --dry-run.
    pub(super) fn rehearse(
        &self,
        session: &Session,
        body: CheckMove,
        files: FileCheck,
    ) -> Result<Shown, CliError> {
        let warning = files.warning();
        let kind = body.kind.clone();
        let reply = session.call(&client::check(self.debate, body)).map_err(|problem| {
            let is_unknown = problem.code == Code::RouteNotFound;
            let problem = self.failed(problem);
            match is_unknown {
                true => problem.suggest(
                    "This server is older and cannot judge a move without making it: run aw server restart",
                ),
                false => problem,
            }
        })?;
        let message = check_message(&reply.data, &kind);
        let output = CheckOutput { reply, looked_up: files.found };
        let answer =
            Answer::new(output, human::checked).message(message).next(self.repeated(false));
        let answer = match warning {
            Some(warning) => answer.warn(warning),
            None => answer,
        };
        Ok(Shown::Answer(session.checked(answer)))
    }

    /// The result of a write that did this.
    pub(super) fn output(
        &self,
        session: &Session,
        reply: Reply<Written>,
        done: &str,
    ) -> WriteOutput {
        self.draft.text.is_kept();
        let verbatim: Verbatim = reply.verbatim();
        let mut reply_points: PointFields = reply.verbatim();
        reply_points.outcome = reply.data.debate.outcome.as_ref().map(|outcome| json!(outcome));
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
            points: reply_points,
            looked_up: Vec::new(),
            debate: None,
            rules_origin: None,
            debate_verbatim: verbatim.debate,
            message: write_message(&written, done),
            written,
        }
    }

    /// The answer to a write, with the next command. With `--wait` it is the answer of the wait,
    /// unless the author has something to read first.
    pub(super) fn answer(
        &self,
        session: &Session,
        output: WriteOutput,
    ) -> Result<Answer, CliError> {
        let Draft { signature, shape, role, .. } = self.draft;
        let next_flags = signature.next_flags(shape);
        let has_missed = output.missed.as_array().is_some_and(|missed| !missed.is_empty());
        let is_over = output.written.debate.state == State::Closed.into();
        if let Some(notes) = Notes::of_claude(&session.settings.home) {
            let newest = output.next_argument_id_to_wait.0.to_string();
            notes.note_words((self.debate, role), Some(&newest), is_over);
        }
        if signature.wait && !output.parked && !has_missed && !is_over {
            let moved = Moved {
                argument_id: output.argument_id,
                argument_type: output.argument_type,
                argument_seq: output.argument_seq,
                replayed: output.replayed,
            };
            let newest = output.next_argument_id_to_wait;
            let detail = (signature.detail, shape);
            let wait = Wait::following((self.debate, role), (moved, newest), next_flags, detail);
            let message = output.message;
            return Ok(wait.answer()?.message(message));
        }
        let advice = session.followable(Advice::after_write(&output.written));
        let message = output.message.clone();
        let answer =
            Answer::new(output, human::written).message(message).detailed(signature.detail);
        let answer = advised(answer, &advice, self.debate, role, next_flags);
        Ok(session.checked(answer.with("client_request_id", self.request.as_str())))
    }
}

/// The effects of a checked move, as the server sent them.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct CheckOutput {
    #[serde(flatten)]
    pub(in crate::cli) reply: Reply<Checked>,
    /// The quotes that were found in files here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in crate::cli) looked_up: Vec<LookedUp>,
}

/// The fields of the server's answer that are printed unchanged.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Verbatim {
    debate: Value,
    argument: Map<String, Value>,
    missed: Value,
}

/// The result of a write: ids, not the text. The agent has just sent that, and would pay for it
/// again.
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
    #[serde(flatten)]
    points: PointFields,
    /// The quotes that were found in files here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in crate::cli) looked_up: Vec<LookedUp>,
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
