//! A write into a debate: its text, its request, its answer, and what leads on from a failure.

use aw_core::RequestId;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::super::SERVER;
use super::super::human;
use super::super::next_command::{CommandLine, YOUR_TEXT};
use super::super::output::{Answer, Problem};
use super::super::session::Session;
use super::super::text::Text;
use super::{Deadline, Habits, Shape, wait_line};
use crate::api::http::Call;

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
    pub(super) text: &'a Text,
    pub(super) signature: &'a Signature,
    pub(super) shape: Shape,
    pub(super) role: &'a str,
    pub(super) target: Option<&'a str>,
    /// None where the debate's id is still to be made.
    pub(super) debate: Option<&'a str>,
}

impl<'a> Draft<'a> {
    /// The text, which must be given.
    pub(super) fn read(&self) -> Result<String, Problem> {
        self.text.read().map_err(|problem| self.unread(problem))
    }

    /// The text, which may be left out.
    pub(super) fn read_optional(&self) -> Result<Option<String>, Problem> {
        self.text.read_optional().map_err(|problem| self.unread(problem))
    }

    /// A text that cannot be read: the same command with a text that can is next.
    fn unread(&self, problem: Problem) -> Problem {
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
    pub(super) fn session(&self) -> Result<Session, Problem> {
        Session::open(self.draft.shape.verbose).map_err(|problem| self.failed(problem))
    }

    /// What the server made of this.
    pub(super) fn send(
        &self,
        session: &Session,
        path: &str,
        mut body: Value,
    ) -> Result<Value, Problem> {
        body["client_request_id"] = self.request.as_str().into();
        let author = self.draft.signature.author.as_deref();
        if let Some(author) = author.or(session.settings.author.as_deref()) {
            body["author"] = author.into();
        }
        session.call(Call::Post(path, &body)).map_err(|problem| self.failed(problem))
    }

    /// A failure with its ids and the command that leads on from it.
    pub(super) fn failed(&self, problem: Problem) -> Problem {
        let problem =
            problem.with("debate_id", self.debate).with("client_request_id", self.request.as_str());
        let Draft { signature, shape, role, target, .. } = self.draft;
        let habits = signature.habits(shape);
        let next = |problem: Problem, line: String| problem.with("next_command", line);
        let context = || {
            let line = CommandLine::new("debate get-context").flag("--debate-id", self.debate);
            habits.apply(line.flag("--role", role)).into_string()
        };
        match (problem.code.as_str(), problem.field()) {
            ("ACTION_NOT_ALLOWED", _) => {
                let wait = wait_line(self.debate, role, target, habits).into_string();
                next(problem, wait)
            }
            ("ARGUMENT_NOT_FOUND", _) | ("INVALID_INPUT", Some("target_id")) => {
                next(problem, context())
            }
            ("INVALID_INPUT", Some("content" | "motion_content")) => {
                next(problem, self.draft.with_your_text())
            }
            ("INVALID_INPUT", Some("client_request_id")) if self.is_derived => {
                // Nobody gave that id: it follows from the text and what it answers.
                let mut problem = next(problem, context());
                problem.message = "this text was written here before, with other flags (such as \
                                   --close, --title or --author)"
                    .to_owned();
                problem
                    .suggest("See what is there, and change the text if it should be there again")
            }
            ("CONTENT_TOO_LARGE", _) if role == "proposer" => {
                let file = self.draft.text.file.as_ref().map(|path| path.display().to_string());
                let summary = format!("Details for debate {}", self.debate);
                let line = CommandLine::new("docs create").flag("--summary", &summary);
                let line = line.flag("--file", file.as_deref().unwrap_or(YOUR_TEXT));
                next(problem, Habits { deadline: None, ..habits }.apply(line).into_string())
            }
            ("CONTENT_TOO_LARGE", _) => {
                let limit =
                    problem.server_error.as_ref().and_then(|error| error["max_length"].as_u64());
                let problem = match limit {
                    Some(limit) => problem.suggest(format!("Shorten the text to {limit} bytes")),
                    None => problem,
                };
                next(problem, self.draft.with_your_text())
            }
            _ if problem.exit() == SERVER => problem.with("retry_command", self.again()),
            _ => problem,
        }
    }

    /// The same command once more, which is written once.
    pub(super) fn again(&self) -> String {
        let request = (!self.is_derived).then_some(self.request.as_str());
        self.draft.again(request, self.content)
    }

    /// Ids instead of the text that the agent has just sent: it costs tokens.
    pub(super) fn answer(&self, session: &Session, data: &Value, message: &str) -> Answer {
        let argument = &data["argument"];
        let debate = &data["debate"];
        let short: Map<String, Value> = argument
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(name, _)| *name != "content")
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let waits_on = data["next_argument_id_to_wait"].as_str();
        let answer = json!({
            "argument_id": argument["id"],
            "argument_type": argument["type"],
            "argument_seq": argument["seq"],
            "debate_id": debate["id"],
            "debate_state": debate["state"],
            "debate_type": debate["debate_type"],
            "client_request_id": argument["client_request_id"],
            "replayed": data["replayed"],
            "parked": argument["parked"],
            "missed": data["missed"],
            "action": data["action"],
            "next_argument_id_to_wait": waits_on,
            "url": session.url_of(debate["id"].as_str().unwrap_or(self.debate)),
            "argument": short,
        });
        let message = match (data["message"].as_str(), data["replayed"] == true) {
            (Some(parked), _) => parked.to_owned(),
            (None, true) => format!("{message} before: this is the first answer again"),
            (None, false) => message.to_owned(),
        };
        let habits = self.draft.signature.habits(self.draft.shape);
        let wait = wait_line(self.debate, self.draft.role, waits_on, habits).into_string();
        let answer = Answer::new(answer, human::written)
            .message(message)
            .next(wait)
            .with("client_request_id", self.request.as_str());
        session.checked(answer)
    }
}
