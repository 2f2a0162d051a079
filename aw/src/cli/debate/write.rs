//! The commands that write into a debate.

use aw_core::{Kind, RequestId, Role};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::super::SERVER;
use super::super::agent::{find_type, shelves};
use super::super::answer::{Answer, Problem, Shown};
use super::super::line::{Line, YOUR_TEXT};
use super::super::page;
use super::super::session::{Session, settings};
use super::super::text::Text;
use super::{Deadline, Habits, Shape, wait_line};
use crate::client::{Call, derived_id, encoded};
use crate::kit::texts::Language;

/// The longest text that is repeated on a command line.
const REPEATED: usize = 10 * 1024;

// Who writes, under which request.
#[derive(Debug, clap::Args)]
struct Signature {
    /// Makes a retry recognisable; made when absent
    #[arg(long, value_name = "UUID")]
    client_request_id: Option<String>,
    /// A label of who writes, at most 80 characters [env: AW_AUTHOR]
    #[arg(long, value_name = "LABEL")]
    author: Option<String>,
    /// Seconds, repeated in the wait that follows
    #[arg(long, value_name = "SECONDS")]
    deadline: Option<Deadline>,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Create {
    /// The debate's id; made when absent
    #[arg(long, value_name = "UUID")]
    debate_id: Option<String>,
    /// What it is called: one line of at most 200 characters
    #[arg(long, short, value_name = "TEXT")]
    title: String,
    /// coding_plan_debate, general_debate, or a type of your own: see aw debate types
    #[arg(long = "type", visible_alias = "debate-type", value_name = "TYPE")]
    debate_type: String,
    /// Who approves its completion: auto (default) or arbitrator
    #[arg(long, value_name = "POLICY")]
    resolution_policy: Option<String>,
    #[command(flatten)]
    signature: Signature,
    #[command(flatten)]
    text: Text,
    #[command(flatten)]
    pub(super) shape: Shape,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Submit {
    /// The debate
    #[arg(long, value_name = "UUID")]
    debate_id: String,
    /// proposer or opponent
    #[arg(long)]
    role: String,
    /// The argument that is answered
    #[arg(long, value_name = "UUID")]
    target_id: String,
    #[command(flatten)]
    signature: Signature,
    #[command(flatten)]
    text: Text,
    #[command(flatten)]
    pub(super) shape: Shape,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Ask {
    /// The debate
    #[arg(long, value_name = "UUID")]
    debate_id: String,
    /// The argument in dispute, or the last one
    #[arg(long, value_name = "UUID")]
    target_id: String,
    #[command(flatten)]
    signature: Signature,
    #[command(flatten)]
    text: Text,
    #[command(flatten)]
    pub(super) shape: Shape,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Ruling {
    /// The debate
    #[arg(long, value_name = "UUID")]
    debate_id: String,
    /// What is ruled on; without it whatever is pending
    #[arg(long, value_name = "UUID")]
    target_id: Option<String>,
    /// Close the debate with it
    #[arg(long)]
    close: bool,
    #[command(flatten)]
    signature: Signature,
    #[command(flatten)]
    text: Text,
    #[command(flatten)]
    pub(super) shape: Shape,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Intervention {
    /// The debate
    #[arg(long, value_name = "UUID")]
    debate_id: String,
    #[command(flatten)]
    signature: Signature,
    #[command(flatten)]
    text: Text,
    #[command(flatten)]
    pub(super) shape: Shape,
}

/// What the proposer asks for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Asked {
    Appeal,
    Completion,
}

impl Create {
    pub(super) fn run(self) -> Result<Shown, Problem> {
        let content = self
            .text
            .read()
            .map_err(|problem| self.signature.on_problem(problem, self.debate_id.as_deref()))?;
        let made = self.debate_id.is_none();
        let debate = self.debate_id.clone().unwrap_or_else(|| Uuid::new_v4().to_string());
        let request = self
            .signature
            .request_id(|| derived_id(&debate, Role::Proposer, Kind::Motion, None, &content));
        // The same command again, should it fail: with the ids that were made for it.
        let again = made.then(|| {
            let line = Line::new("debate create")
                .flag("--debate-id", &debate)
                .flag("--title", &self.title)
                .flag("--type", &self.debate_type)
                .flag_if("--resolution-policy", self.resolution_policy.as_deref())
                .flag("--client-request-id", &request)
                .flag_if("--author", self.signature.author.as_deref());
            let line = match (&self.text.file, &self.text.content) {
                (Some(path), _) => line.flag("--file", &path.display().to_string()),
                (None, Some(content)) => line.flag("--content", content),
                // What came through a pipe is gone, so it is repeated, if a command line holds it.
                (None, None) if content.len() <= REPEATED => line.flag("--content", &content),
                (None, None) => line.word("--stdin"),
            };
            self.signature.habits(self.shape).apply(line).into_string()
        });
        let with_ids = |problem: Problem| {
            let problem = problem
                .with("debate_id", debate.as_str())
                .with("client_request_id", request.as_str());
            match &again {
                // What the server refuses it will refuse again.
                Some(again) if problem.exit() == SERVER => problem.suggest(again.as_str()),
                _ => problem,
            }
        };
        let kind = find_type(&self.debate_type, &shelves(&settings()?)?, Language::English)
            .map_err(with_ids)?;
        let session = Session::open(self.shape.verbose).map_err(with_ids)?;
        let mut body = json!({
            "debate_id": debate,
            "title": self.title,
            "debate_type": self.debate_type,
            "motion_content": content,
            "client_request_id": request,
        });
        if let Some(texts) = kind.texts() {
            body["type_texts"] = json!({
                "title": texts.title.as_str(),
                "description": texts.description.as_str(),
                "proposer": texts.rules.proposer.as_str(),
                "opponent": texts.rules.opponent.as_str(),
                "arbitrator": texts.rules.arbitrator.as_str(),
            });
        }
        put(&mut body, "resolution_policy", self.resolution_policy.as_deref());
        let write = Write {
            session: &session,
            signature: &self.signature,
            shape: self.shape,
            role: "proposer",
            target: None,
            debate: &debate,
            request: &request,
        };
        let data = write.post("/debates", body).map_err(with_ids)?;
        let mut answer = write.answer(&data, "Debate created");
        answer.data["debate"] = data["debate"].clone();
        Ok(Shown::Answer(answer))
    }
}

impl Submit {
    pub(super) fn run(self) -> Result<Shown, Problem> {
        let content = self
            .text
            .read()
            .map_err(|problem| self.signature.on_problem(problem, Some(&self.debate_id)))?;
        let request = self.signature.request_id(|| {
            derived_id(
                &self.debate_id,
                self.role.parse().ok()?,
                Kind::Claim,
                Some(&self.target_id),
                &content,
            )
        });
        let session = Session::open(self.shape.verbose)
            .map_err(|problem| identified(problem, &self.debate_id, &request))?;
        let body = json!({
            "role": self.role,
            "target_id": self.target_id,
            "content": content,
            "client_request_id": request,
        });
        let write = Write {
            session: &session,
            signature: &self.signature,
            shape: self.shape,
            role: &self.role,
            target: Some(&self.target_id),
            debate: &self.debate_id,
            request: &request,
        };
        let data = write.post(&format!("/debates/{}/arguments", encoded(&self.debate_id)), body)?;
        Ok(Shown::Answer(write.answer(&data, "Argument submitted")))
    }
}

impl Ask {
    pub(super) fn run(self, asked: Asked) -> Result<Shown, Problem> {
        let (kind, path, message) = match asked {
            Asked::Appeal => (Kind::Appeal, "appeal", "Appeal submitted"),
            Asked::Completion => (Kind::Resolution, "resolution", "Resolution submitted"),
        };
        let content = self
            .text
            .read()
            .map_err(|problem| self.signature.on_problem(problem, Some(&self.debate_id)))?;
        let request = self.signature.request_id(|| {
            derived_id(&self.debate_id, Role::Proposer, kind, Some(&self.target_id), &content)
        });
        let session = Session::open(self.shape.verbose)
            .map_err(|problem| identified(problem, &self.debate_id, &request))?;
        let body = json!({
            "target_id": self.target_id, "content": content, "client_request_id": request,
        });
        let write = Write {
            session: &session,
            signature: &self.signature,
            shape: self.shape,
            role: "proposer",
            target: Some(&self.target_id),
            debate: &self.debate_id,
            request: &request,
        };
        let data = write.post(&format!("/debates/{}/{path}", encoded(&self.debate_id)), body)?;
        Ok(Shown::Answer(write.answer(&data, message)))
    }
}

impl Ruling {
    pub(super) fn run(self) -> Result<Shown, Problem> {
        let content = self
            .text
            .read()
            .map_err(|problem| self.signature.on_problem(problem, Some(&self.debate_id)))?;
        let request = self.signature.request_id(|| {
            // Without a target the same words may mean the next dispute.
            let target = self.target_id.as_deref()?;
            derived_id(&self.debate_id, Role::Arbitrator, Kind::Ruling, Some(target), &content)
        });
        let session = Session::open(self.shape.verbose)
            .map_err(|problem| identified(problem, &self.debate_id, &request))?;
        let mut body =
            json!({"content": content, "close": self.close, "client_request_id": request});
        put(&mut body, "target_id", self.target_id.as_deref());
        let write = Write {
            session: &session,
            signature: &self.signature,
            shape: self.shape,
            role: "arbitrator",
            target: self.target_id.as_deref(),
            debate: &self.debate_id,
            request: &request,
        };
        let data = write.post(&format!("/debates/{}/ruling", encoded(&self.debate_id)), body)?;
        let answer = write.answer(&data, "Ruling submitted").with("closed", self.close);
        Ok(Shown::Answer(answer))
    }
}

impl Intervention {
    pub(super) fn run(self) -> Result<Shown, Problem> {
        let content = self
            .text
            .read_optional()
            .map_err(|problem| self.signature.on_problem(problem, Some(&self.debate_id)))?;
        let request = self.signature.request_id(|| None);
        let session = Session::open(self.shape.verbose)
            .map_err(|problem| identified(problem, &self.debate_id, &request))?;
        let mut body = json!({"client_request_id": request});
        put(&mut body, "content", content.as_deref());
        let write = Write {
            session: &session,
            signature: &self.signature,
            shape: self.shape,
            role: "arbitrator",
            target: None,
            debate: &self.debate_id,
            request: &request,
        };
        let data =
            write.post(&format!("/debates/{}/intervention", encoded(&self.debate_id)), body)?;
        let own = data["argument"]["id"].as_str().unwrap_or_default();
        let next = Line::new("debate ruling")
            .flag("--debate-id", &self.debate_id)
            .flag("--target-id", own)
            .flag("--file", YOUR_TEXT);
        let next = self.signature.habits(self.shape).apply(next);
        let closing = vec![next.clone().word("--close").into_string()];
        let answer = write.answer(&data, "Intervention submitted").next(next.into_string());
        Ok(Shown::Answer(answer.with("alternatives", closing)))
    }
}

impl Signature {
    /// The id that was given, the derived one, or a random one.
    fn request_id(&self, derived: impl FnOnce() -> Option<RequestId>) -> String {
        match &self.client_request_id {
            Some(given) => given.clone(),
            None => {
                derived().map_or_else(|| Uuid::new_v4().to_string(), |derived| derived.to_string())
            }
        }
    }

    /// A problem found before there was a request, with the ids that were given.
    fn on_problem(&self, problem: Problem, debate: Option<&str>) -> Problem {
        let given =
            [("debate_id", debate), ("client_request_id", self.client_request_id.as_deref())];
        given.into_iter().fold(problem, |problem, (name, id)| match id {
            Some(id) => problem.with(name, id),
            None => problem,
        })
    }

    fn habits(&self, shape: Shape) -> Habits<'_> {
        Habits { deadline: self.deadline.as_ref(), format: shape.format, attempt: None }
    }
}

/// A write on its way.
struct Write<'a> {
    session: &'a Session,
    signature: &'a Signature,
    shape: Shape,
    role: &'a str,
    target: Option<&'a str>,
    debate: &'a str,
    request: &'a str,
}

impl Write<'_> {
    fn post(&self, path: &str, mut body: Value) -> Result<Value, Problem> {
        let author = self.signature.author.as_deref().or(self.session.settings.author.as_deref());
        put(&mut body, "author", author);
        self.session.call(Call::Post(path, &body)).map_err(|problem| {
            let problem = identified(problem, self.debate, self.request);
            if problem.code == "ACTION_NOT_ALLOWED" {
                let habits = self.signature.habits(self.shape);
                let wait = wait_line(self.debate, self.role, self.target, habits);
                return problem.with("next_command", wait.into_string());
            }
            problem
        })
    }

    /// Ids instead of the text that the agent has just sent: it costs tokens.
    fn answer(&self, data: &Value, message: &str) -> Answer {
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
            "url": self.session.url_of(debate["id"].as_str().unwrap_or(self.debate)),
            "argument": short,
        });
        let message = match (data["message"].as_str(), data["replayed"] == true) {
            (Some(parked), _) => parked.to_owned(),
            (None, true) => format!("{message} before: this is the first answer again"),
            (None, false) => message.to_owned(),
        };
        let habits = self.signature.habits(self.shape);
        let wait = wait_line(self.debate, self.role, waits_on, habits).into_string();
        let answer = Answer::new(answer, page::written)
            .message(message)
            .next(wait)
            .with("client_request_id", self.request);
        self.session.checked(answer)
    }
}

fn identified(problem: Problem, debate: &str, request: &str) -> Problem {
    problem.with("debate_id", debate).with("client_request_id", request)
}

fn put(body: &mut Value, name: &str, value: Option<&str>) {
    if let Some(value) = value {
        body[name] = value.into();
    }
}
