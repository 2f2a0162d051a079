//! The commands that write into a debate.

use aw_core::{Kind, Role};
use uuid::Uuid;

use super::super::agent::{find_type, shelves};
use super::super::next_command::CommandLine;
use super::super::output::{CliError, Shown};
use super::super::session::settings;
use super::super::text::TextInput;
use super::post::{Draft, Signature};
use super::{Shape, advised};
use crate::api::advice::Advice;
use crate::api::client::{self, derived_id};
use crate::api::error::{Code, SERVER};
use crate::api::types::{
    CreateDebate, SubmitClaim, SubmitIntervention, SubmitRequest, SubmitRuling, TypeTexts,
};
use crate::kit::texts::Language;

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
    text: TextInput,
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
    text: TextInput,
    #[command(flatten)]
    pub(super) shape: Shape,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct RequestCommand {
    /// The debate
    #[arg(long, value_name = "UUID")]
    debate_id: String,
    /// The argument in dispute, or the last one
    #[arg(long, value_name = "UUID")]
    target_id: String,
    #[command(flatten)]
    signature: Signature,
    #[command(flatten)]
    text: TextInput,
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
    text: TextInput,
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
    text: TextInput,
    #[command(flatten)]
    pub(super) shape: Shape,
}

/// What the proposer wants.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wanted {
    Ruling,
    Completion,
}

impl Create {
    pub(super) fn run(self) -> Result<Shown, CliError> {
        let made = self.debate_id.is_none();
        let debate = self.debate_id.clone().unwrap_or_else(|| Uuid::new_v4().to_string());
        let line = |debate: Option<&str>| {
            CommandLine::new("debate create")
                .flag_if("--debate-id", debate)
                .flag("--title", &self.title)
                .flag("--type", &self.debate_type)
                .flag_if("--resolution-policy", self.resolution_policy.as_deref())
        };
        let mut draft = Draft {
            line: line(self.debate_id.as_deref()),
            text: &self.text,
            signature: &self.signature,
            shape: self.shape,
            role: "proposer",
            target: None,
            debate: self.debate_id.as_deref(),
        };
        let content = draft.read()?;
        // From here on the same command has the id that was made for it.
        draft.line = line(Some(&debate));
        let derived = derived_id(&debate, Role::Proposer, Kind::Motion, None, &content);
        let post = draft.post(&debate, Some(&content), derived);
        // What the server refuses it will refuse again, and so it does on a damaged record.
        let with_ids = |problem: CliError| match problem.field() {
            Some("debate_id") => problem.with("next_command", "aw debate generate-id"),
            _ if made && problem.exit() == SERVER && problem.code != Code::RecordDamaged => {
                problem.suggest(post.again())
            }
            _ => problem,
        };
        let kind = find_type(&self.debate_type, &shelves(&settings()?)?, Language::English)
            .map_err(|problem| with_ids(post.failed(problem)))?;
        let session = post.session().map_err(with_ids)?;
        let body = CreateDebate {
            points: None,
            debate_id: debate.clone(),
            title: self.title.clone(),
            debate_type: self.debate_type.clone(),
            motion_content: content.clone(),
            client_request_id: post.request.clone(),
            type_texts: kind.texts().as_ref().map(TypeTexts::from),
            resolution_policy: self.resolution_policy.clone(),
            author: post.author(&session),
        };
        let reply = post.send(&session, &client::open(body)).map_err(with_ids)?;
        let mut output = post.output(&session, reply, "Debate created");
        output.debate = Some(output.debate_verbatim.take());
        output.rules_origin = Some(kind.origin.as_str());
        let mut answer = post.answer(&session, output);
        if let Some(folder) = kind.folder.as_ref().filter(|_| kind.replaces_built_in()) {
            answer = answer.with(
                "hint",
                format!(
                    "the rules in {} replace the built-in ones of {} and go along with this debate",
                    folder.display(),
                    kind.name
                ),
            );
        }
        Ok(Shown::Answer(answer))
    }
}

impl Submit {
    pub(super) fn run(self) -> Result<Shown, CliError> {
        let draft = Draft {
            line: CommandLine::new("debate submit")
                .flag("--debate-id", &self.debate_id)
                .flag("--role", &self.role)
                .flag("--target-id", &self.target_id),
            text: &self.text,
            signature: &self.signature,
            shape: self.shape,
            role: &self.role,
            target: Some(&self.target_id),
            debate: Some(&self.debate_id),
        };
        let content = draft.read()?;
        let role: Option<Role> = self.role.parse().ok();
        let derived = role.and_then(|role| {
            derived_id(&self.debate_id, role, Kind::Claim, Some(&self.target_id), &content)
        });
        let post = draft.post(&self.debate_id, Some(&content), derived);
        let session = post.session()?;
        let body = SubmitClaim {
            role: self.role.clone(),
            target_id: self.target_id.clone(),
            content: content.clone(),
            client_request_id: post.request.clone(),
            author: post.author(&session),
        };
        let reply = post.send(&session, &client::submit(&self.debate_id, body))?;
        let output = post.output(&session, reply, "Argument submitted");
        Ok(Shown::Answer(post.answer(&session, output)))
    }
}

impl RequestCommand {
    pub(super) fn run(self, wanted: Wanted) -> Result<Shown, CliError> {
        let (kind, command, done) = match wanted {
            Wanted::Ruling => (Kind::Appeal, "debate appeal", "Appeal submitted"),
            Wanted::Completion => {
                (Kind::Resolution, "debate request-completion", "Resolution submitted")
            }
        };
        let draft = Draft {
            line: CommandLine::new(command)
                .flag("--debate-id", &self.debate_id)
                .flag("--target-id", &self.target_id),
            text: &self.text,
            signature: &self.signature,
            shape: self.shape,
            role: "proposer",
            target: Some(&self.target_id),
            debate: Some(&self.debate_id),
        };
        let content = draft.read()?;
        let derived =
            derived_id(&self.debate_id, Role::Proposer, kind, Some(&self.target_id), &content);
        let post = draft.post(&self.debate_id, Some(&content), derived);
        let session = post.session()?;
        let body = SubmitRequest {
            target_id: self.target_id.clone(),
            content: content.clone(),
            client_request_id: post.request.clone(),
            author: post.author(&session),
        };
        let request = match wanted {
            Wanted::Ruling => client::appeal(&self.debate_id, body),
            Wanted::Completion => client::request_completion(&self.debate_id, body),
        };
        let reply = post.send(&session, &request)?;
        let output = post.output(&session, reply, done);
        Ok(Shown::Answer(post.answer(&session, output)))
    }
}

impl Ruling {
    pub(super) fn run(self) -> Result<Shown, CliError> {
        let line = CommandLine::new("debate ruling")
            .flag("--debate-id", &self.debate_id)
            .flag_if("--target-id", self.target_id.as_deref());
        let draft = Draft {
            line: if self.close { line.word("--close") } else { line },
            text: &self.text,
            signature: &self.signature,
            shape: self.shape,
            role: "arbitrator",
            target: self.target_id.as_deref(),
            debate: Some(&self.debate_id),
        };
        let content = draft.read()?;
        // Without a target the same words may mean the next dispute.
        let derived = self.target_id.as_deref().and_then(|target| {
            derived_id(&self.debate_id, Role::Arbitrator, Kind::Ruling, Some(target), &content)
        });
        let post = draft.post(&self.debate_id, Some(&content), derived);
        let session = post.session()?;
        let body = SubmitRuling {
            content: content.clone(),
            close: Some(self.close),
            target_id: self.target_id.clone(),
            client_request_id: Some(post.request.clone()),
            author: post.author(&session),
        };
        let reply = post.send(&session, &client::rule(&self.debate_id, body))?;
        let output = post.output(&session, reply, "Ruling submitted");
        Ok(Shown::Answer(post.answer(&session, output).with("closed", self.close)))
    }
}

impl Intervention {
    pub(super) fn run(self) -> Result<Shown, CliError> {
        let draft = Draft {
            line: CommandLine::new("debate intervention").flag("--debate-id", &self.debate_id),
            text: &self.text,
            signature: &self.signature,
            shape: self.shape,
            role: "arbitrator",
            target: None,
            debate: Some(&self.debate_id),
        };
        let content = draft.read_optional()?;
        let post = draft.post(&self.debate_id, content.as_deref(), None);
        let session = post.session()?;
        let body = SubmitIntervention {
            content: content.clone(),
            client_request_id: Some(post.request.clone()),
            author: post.author(&session),
        };
        let reply = post.send(&session, &client::intervene(&self.debate_id, body))?;
        let output = post.output(&session, reply, "Intervention submitted");
        let (own, replayed) = (output.argument_id, output.replayed);
        let answer = post.answer(&session, output);
        // One that was sent before may have been ruled on since: a wait tells.
        if replayed {
            return Ok(Shown::Answer(answer));
        }
        let habits = self.signature.habits(self.shape);
        let advice = Advice::rule(own);
        Ok(Shown::Answer(advised(answer, &advice, &self.debate_id, "arbitrator", habits)))
    }
}
