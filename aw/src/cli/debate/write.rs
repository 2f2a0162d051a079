//! The commands that write into a debate.

use aw_core::{Kind, Role};
use serde_json::{Value, json};
use uuid::Uuid;

use super::super::SERVER;
use super::super::agent::{find_type, shelves};
use super::super::next_command::{CommandLine, YOUR_TEXT};
use super::super::output::{Problem, Shown};
use super::super::session::settings;
use super::super::text::Text;
use super::Shape;
use super::post::{Draft, Signature};
use crate::api::http::{derived_id, encoded};
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
        let with_ids = |problem: Problem| match problem.field() {
            Some("debate_id") => problem.with("next_command", "aw debate generate-id"),
            _ if made && problem.exit() == SERVER && problem.code != "RECORD_DAMAGED" => {
                problem.suggest(post.again())
            }
            _ => problem,
        };
        let kind = find_type(&self.debate_type, &shelves(&settings()?)?, Language::English)
            .map_err(|problem| with_ids(post.failed(problem)))?;
        let session = post.session().map_err(with_ids)?;
        let mut body = json!({
            "debate_id": debate,
            "title": self.title,
            "debate_type": self.debate_type,
            "motion_content": content,
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
        let data = post.send(&session, "/debates", body).map_err(with_ids)?;
        let mut answer = post.answer(&session, &data, "Debate created");
        answer.data["debate"] = data["debate"].clone();
        answer.data["rules_origin"] = kind.origin.as_str().into();
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
    pub(super) fn run(self) -> Result<Shown, Problem> {
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
        let body = json!({"role": self.role, "target_id": self.target_id, "content": content});
        let path = format!("/debates/{}/arguments", encoded(&self.debate_id));
        let data = post.send(&session, &path, body)?;
        Ok(Shown::Answer(post.answer(&session, &data, "Argument submitted")))
    }
}

impl Ask {
    pub(super) fn run(self, asked: Asked) -> Result<Shown, Problem> {
        let (kind, command, path, message) = match asked {
            Asked::Appeal => (Kind::Appeal, "debate appeal", "appeal", "Appeal submitted"),
            Asked::Completion => (
                Kind::Resolution,
                "debate request-completion",
                "resolution",
                "Resolution submitted",
            ),
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
        let body = json!({"target_id": self.target_id, "content": content});
        let path = format!("/debates/{}/{path}", encoded(&self.debate_id));
        let data = post.send(&session, &path, body)?;
        Ok(Shown::Answer(post.answer(&session, &data, message)))
    }
}

impl Ruling {
    pub(super) fn run(self) -> Result<Shown, Problem> {
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
        let mut body = json!({"content": content, "close": self.close});
        put(&mut body, "target_id", self.target_id.as_deref());
        let path = format!("/debates/{}/ruling", encoded(&self.debate_id));
        let data = post.send(&session, &path, body)?;
        let answer = post.answer(&session, &data, "Ruling submitted").with("closed", self.close);
        Ok(Shown::Answer(answer))
    }
}

impl Intervention {
    pub(super) fn run(self) -> Result<Shown, Problem> {
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
        let mut body = json!({});
        put(&mut body, "content", content.as_deref());
        let path = format!("/debates/{}/intervention", encoded(&self.debate_id));
        let data = post.send(&session, &path, body)?;
        let answer = post.answer(&session, &data, "Intervention submitted");
        // One that was sent before may have been ruled on since: a wait tells.
        if data["replayed"] == true {
            return Ok(Shown::Answer(answer));
        }
        let own = data["argument"]["id"].as_str().unwrap_or_default();
        let next = CommandLine::new("debate ruling")
            .flag("--debate-id", &self.debate_id)
            .flag("--target-id", own)
            .flag("--file", YOUR_TEXT);
        let next = self.signature.habits(self.shape).apply(next);
        let closing = vec![next.clone().word("--close").into_string()];
        let answer = answer.next(next.into_string());
        Ok(Shown::Answer(answer.with("alternatives", closing)))
    }
}

fn put(body: &mut Value, name: &str, value: Option<&str>) {
    if let Some(value) = value {
        body[name] = value.into();
    }
}
