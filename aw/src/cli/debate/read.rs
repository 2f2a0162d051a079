//! The commands that read debates, and the one that hides them.

use std::fs;
use std::path::PathBuf;

use aw_core::Role;
use serde_json::{Value, json};
use uuid::Uuid;

use super::super::agent::shelves;
use super::super::browser;
use super::super::human;
use super::super::next_command::CommandLine;
use super::super::output::{Answer, Problem, Shown};
use super::super::role::held_to;
use super::super::session::{self, Session};
use super::{Deadline, Habits, Shape, next_lines};
use crate::api::http::{Call, encoded};
use crate::kit::texts::{BuiltIn, Language};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct GetContext {
    /// The debate
    #[arg(long, value_name = "UUID")]
    debate_id: String,
    /// So many of the newest arguments, besides the motion
    #[arg(long, short, visible_alias = "argument-limit", value_name = "N", default_value_t = 10)]
    limit: u64,
    /// Say what this role should do now
    #[arg(long)]
    role: Option<String>,
    /// Seconds, repeated in the command that follows
    #[arg(long, value_name = "SECONDS")]
    deadline: Option<Deadline>,
    #[command(flatten)]
    pub(super) shape: Shape,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct List {
    /// Only those in this state, for instance AWAITING_PROPOSER
    #[arg(long)]
    state: Option<String>,
    /// Only those of this type
    #[arg(long = "type", visible_alias = "debate-type", value_name = "TYPE")]
    debate_type: Option<String>,
    /// Only those that wait for an opponent who has not spoken yet
    #[arg(long)]
    pending_first_opponent: bool,
    /// Only those to which a ruling is owed
    #[arg(long)]
    needs_arbitrator: bool,
    /// Only those whose title contains this
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// At most so many
    #[arg(long, short, value_name = "N", default_value_t = 50)]
    limit: u64,
    /// Leave out so many
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: u64,
    #[command(flatten)]
    pub(super) shape: Shape,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Open {
    /// The debate; without it the list of all
    #[arg(long, value_name = "UUID")]
    debate_id: Option<String>,
    #[command(flatten)]
    pub(super) shape: Shape,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Export {
    /// The debate
    #[arg(long, value_name = "UUID")]
    debate_id: String,
    /// Write it to this file instead of stdout
    #[arg(long, short, value_name = "PATH")]
    output: Option<PathBuf>,
    /// What it becomes: markdown, every argument quoted; html, one page that needs nothing else; or
    /// json, every field
    #[arg(long, value_enum, default_value_t, hide_possible_values = true)]
    format: ExportFormat,
    /// Say on stderr what is being done
    #[arg(long)]
    verbose: bool,
}

/// What a transcript becomes.
#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
pub(in crate::cli) enum ExportFormat {
    /// Markdown, every argument quoted
    #[default]
    Markdown,
    /// One page that needs nothing else
    Html,
    /// JSON, every field
    Json,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Delete {
    /// The debate
    #[arg(long, value_name = "UUID")]
    debate_id: String,
    /// Do it: it cannot be undone
    #[arg(long)]
    confirm: bool,
    #[command(flatten)]
    pub(super) shape: Shape,
}

/// A UUID, made without a server.
pub(super) fn generate_id() -> Answer {
    Answer::new(json!({"id": Uuid::new_v4().to_string()}), human::fields)
        .message("Use this id for --debate-id or --client-request-id")
}

/// The types that a debate opened here can have.
pub(super) fn types() -> Result<Shown, Problem> {
    let settings = session::settings()?;
    let shelves = shelves(&settings)?;
    let types: Vec<Value> = shelves
        .all(Language::English)
        .into_iter()
        .map(|(name, found)| match found {
            Ok(kind) => json!({
                "type": name,
                "origin": kind.origin.as_str(),
                "replaces_built_in": kind.replaces_built_in(),
                "title": kind.title,
                "description": kind.description,
                "folder": kind.folder,
            }),
            Err(bad) => json!({"type": name, "problem": bad.to_string()}),
        })
        .collect();
    let total = types.len() as u64;
    let bad = types.iter().filter(|kind| kind["problem"].is_string()).count();
    let message = match bad {
        0 => format!("{total} types of debate"),
        bad => format!("{total} types of debate, {bad} of which cannot be used"),
    };
    let hint = format!(
        "to add one, write type.toml, proposer.md, opponent.md and arbitrator.md in {}",
        shelves.project.join("TYPE").display()
    );
    let answer = Answer::new(json!({"types": types}), human::types).message(message);
    Ok(Shown::Answer(answer.with("hint", hint).of_total(total, false)))
}

impl GetContext {
    pub(super) fn run(self) -> Result<Shown, Problem> {
        let named = |problem: Problem| problem.with("debate_id", self.debate_id.as_str());
        let session = Session::open(self.shape.verbose).map_err(named)?;
        let debate = encoded(&self.debate_id);
        // First what to do, then what was said: the advice never rests on a text that is not shown.
        let advice = match &self.role {
            Some(role) => {
                let path = format!("/debates/{debate}/poll?role={}", encoded(role));
                Some((role, session.call(Call::Get(&path)).map_err(named)?))
            }
            None => None,
        };
        let path = format!("/debates/{debate}?limit={}", self.limit);
        let mut data = session.call(Call::Get(&path)).map_err(named)?;
        data["url"] = session.url_of(&self.debate_id).into();
        let Some((role, mut now)) = advice else {
            let answer = Answer::new(data, human::context).with(
                "hint",
                "give --role proposer, opponent or arbitrator to learn what to run next",
            );
            return Ok(Shown::Answer(session.checked(answer)));
        };
        if now["has_new_argument"] == false {
            // Everything was just read, so the wait begins after the newest of it.
            let newest = data["arguments"].as_array().and_then(|all| all.last());
            now["next_argument_id_to_wait"] = newest.unwrap_or(&data["motion"])["id"].clone();
        }
        for name in ["action", "next_argument_id_to_wait"] {
            data[name] = now[name].clone();
        }
        let habits =
            Habits { deadline: self.deadline.as_ref(), format: self.shape.format, attempt: None };
        let (next, others) = next_lines(&self.debate_id, role, &now, habits);
        let name = data["debate"]["debate_type"].as_str().unwrap_or_default();
        let why = match (data["own_rules"] == false, BuiltIn::named(name)) {
            (true, Some(_)) => None,
            (true, None) => Some("the rules of this debate are not built in"),
            (false, None) => Some("the creator of this debate sent its rules along"),
            (false, Some(_)) => {
                Some("the creator of this debate replaced the built-in rules with others")
            }
        };
        let rules = CommandLine::new("agent show").word(role).flag("--debate-id", &self.debate_id);
        let mut answer = Answer::new(data, human::context);
        if let Some(why) = why {
            let rules = rules.word("--rules").into_string();
            answer = answer.with("hint", format!("{why}: {rules}"));
        }
        if let Some(next) = next {
            answer = answer.next(next);
        }
        if !others.is_empty() {
            answer = answer.with("alternatives", others);
        }
        Ok(Shown::Answer(session.checked(answer)))
    }
}

impl List {
    pub(super) fn run(self) -> Result<Shown, Problem> {
        let session = Session::open(self.shape.verbose)?;
        let mut path = format!("/debates?limit={}&offset={}", self.limit, self.offset);
        let mut add = |name: &str, value: Option<&str>| {
            if let Some(value) = value {
                path.push_str(&format!("&{name}={}", encoded(value)));
            }
        };
        add("state", self.state.as_deref());
        add("type", self.debate_type.as_deref());
        add("q", self.search.as_deref());
        add("pending_first_opponent", self.pending_first_opponent.then_some("true"));
        add("needs_arbitrator", self.needs_arbitrator.then_some("true"));
        let data = session.call(Call::Get(&path))?;
        let shown = data["debates"].as_array().map_or(0, Vec::len) as u64;
        let total = data["total"].as_u64().unwrap_or(shown);
        let more = self.offset.saturating_add(shown) < total;
        // The only one that waits for somebody is the one to take.
        let role = match (self.pending_first_opponent, self.needs_arbitrator) {
            (true, false) => Some(Role::Opponent),
            (false, true) => Some(Role::Arbitrator),
            (true, true) | (false, false) => None,
        };
        // Somebody who is held to another role does not take it.
        let held = held_to()?;
        let role = role.filter(|role| held.is_none_or(|own| own == *role)).map(Role::as_str);
        let only = data["debates"][0]["id"].as_str().filter(|_| total == 1).zip(role);
        let next = only.map(|(id, role)| {
            let line = CommandLine::new("debate get-context").flag("--debate-id", id);
            let habits = Habits { deadline: None, format: self.shape.format, attempt: None };
            habits.apply(line.flag("--role", role).flag("--limit", "20")).into_string()
        });
        let mut answer = Answer::new(data, human::debates).of_total(total, more);
        if let Some(next) = next {
            answer = answer.next(next);
        }
        // A page of nothing leads to itself.
        if more && shown > 0 {
            let flag =
                |line: CommandLine, name: &str, set: bool| if set { line.word(name) } else { line };
            let line = CommandLine::new("debate list")
                .flag_if("--state", self.state.as_deref())
                .flag_if("--type", self.debate_type.as_deref())
                .flag_if("--search", self.search.as_deref());
            let line = flag(line, "--pending-first-opponent", self.pending_first_opponent);
            let line = flag(line, "--needs-arbitrator", self.needs_arbitrator)
                .flag("--limit", &self.limit.to_string())
                .flag("--offset", &(self.offset + shown).to_string());
            let habits = Habits { deadline: None, format: self.shape.format, attempt: None };
            answer = answer.next(habits.apply(line).into_string());
        }
        Ok(Shown::Answer(session.checked(answer)))
    }
}

impl Open {
    pub(super) fn run(self) -> Result<Shown, Problem> {
        let session = Session::open(self.shape.verbose)?;
        let to = match &self.debate_id {
            Some(debate) => {
                session
                    .call(Call::Get(&format!("/debates/{}?limit=0", encoded(debate))))
                    .map_err(|problem| problem.with("debate_id", debate.as_str()))?;
                format!("/debate/{}", encoded(debate))
            }
            None => "/".to_owned(),
        };
        let link = session.call(Call::Post("/links", &json!({"to": to})))?;
        let url = format!("{}{}", session.client.base(), link["path"].as_str().unwrap_or(&to));
        let signs_in = link["expires_at"].is_string();
        let opened = if signs_in {
            browser::open_secretly(&url, &session.settings.home)
        } else {
            browser::open(&url)
        };
        let message = match (opened, signs_in) {
            (true, false) => "Opened in the browser",
            (false, false) => "Open this address in a browser",
            (true, true) => {
                "Opened in the browser and signed in there; if it shows nothing, open this address, \
                 which works once and for 10 minutes"
            }
            (false, true) => {
                "Open this address in a browser, which signs it in: it works once and for 10 minutes"
            }
        };
        let mut data = json!({"url": url, "opened": opened});
        if signs_in {
            data["expires_at"] = link["expires_at"].clone();
        }
        Ok(Shown::Answer(session.checked(Answer::new(data, human::fields).message(message))))
    }
}

impl Export {
    pub(super) fn run(self) -> Result<Shown, Problem> {
        let named = |problem: Problem| problem.with("debate_id", self.debate_id.as_str());
        let session = Session::open(self.verbose).map_err(named)?;
        let format = match self.format {
            ExportFormat::Markdown => "markdown",
            ExportFormat::Html => "html",
            ExportFormat::Json => "json",
        };
        let path = format!("/debates/{}/export?format={format}", encoded(&self.debate_id));
        let transcript = session.raw(&path).map_err(named)?;
        let Some(output) = &self.output else { return Ok(Shown::Raw(transcript)) };
        fs::write(output, &transcript).map_err(|error| {
            named(Problem::input(format!("{} cannot be written: {error}", output.display())))
                .suggest("Give another path with --output")
        })?;
        let data = json!({
            "debate_id": self.debate_id,
            "output": output.display().to_string(),
            "format": format,
            "bytes": transcript.len(),
        });
        Ok(Shown::Answer(Answer::new(data, human::fields).message("Transcript written")))
    }
}

impl Delete {
    pub(super) fn run(self) -> Result<Shown, Problem> {
        let named = |problem: Problem| problem.with("debate_id", self.debate_id.as_str());
        if !self.confirm {
            return Err(named(
                Problem::input(
                    "this hides the debate and all its arguments for good, so it wants --confirm",
                )
                .suggest(format!(
                    "aw debate delete --debate-id {} --confirm",
                    super::super::next_command::quoted(&self.debate_id)
                )),
            ));
        }
        let session = Session::open(self.shape.verbose).map_err(named)?;
        let mut data: Value = session
            .call(Call::Delete(&format!("/debates/{}", encoded(&self.debate_id))))
            .map_err(named)?;
        data["debate_id"] = self.debate_id.as_str().into();
        let answer = Answer::new(data, human::fields).message("Debate deleted");
        Ok(Shown::Answer(session.checked(answer)))
    }
}
