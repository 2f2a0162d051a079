//! The commands that read debates, and the one that hides them.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use aw_core::{Role, Time};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::super::agent::shelves;
use super::super::browser;
use super::super::human;
use super::super::next_command::{CommandLine, quoted};
use super::super::output::{Answer, CliError, Detail, Shown};
use super::super::refs::{self, DebateArg, Wants};
use super::super::role::held_to;
use super::super::session::{self, Session};
use super::super::token::Lasts;
use super::{Deadline, NextFlags, Shape, advised};
use crate::api::advice::Advice;
use crate::api::client::{self, DebateFilter, Reply, Waiter, encoded};
use crate::api::types::{
    ActionText, ArgumentIdText, CreateLink, DebateContext, Ledger, Poll, Stamp,
};
use crate::kit::texts::{BuiltIn, Language};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct GetContext {
    #[command(flatten)]
    debate: DebateArg,
    /// The number of newest arguments to show, besides the motion
    #[arg(long, short, visible_alias = "argument-limit", value_name = "N", default_value_t = 10)]
    limit: u64,
    /// Say what this role should do now
    #[arg(long)]
    role: Option<String>,
    /// The --deadline of the command that is advised next
    #[arg(long, value_name = "SECONDS", overrides_with = "deadline")]
    deadline: Option<Deadline>,
    #[command(flatten)]
    detail: Detail,
    #[command(flatten)]
    pub(super) shape: Shape,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct List {
    /// Only those in this state, for instance closed or awaiting_proposer
    #[arg(long)]
    state: Option<String>,
    /// Only those that ended so: agreed, ruled, left_open or completed; or open: those that have not ended
    #[arg(long)]
    outcome: Option<String>,
    /// Only those that changed since: a time such as 45m, 12h or 30d, or a date such as 2026-11-01
    #[arg(long, value_name = "TIME")]
    since: Option<Since>,
    /// List the archived debates instead of the others
    #[arg(long)]
    archived: bool,
    /// List the debates of all projects alike; by default those of this repository come first
    #[arg(long)]
    all: bool,
    /// Only those of this type
    #[arg(long = "type", visible_alias = "debate-type", value_name = "TYPE")]
    debate_type: Option<String>,
    /// Only those that wait for an opponent who has not spoken yet
    #[arg(long)]
    pending_first_opponent: bool,
    /// Only those that wait for a ruling
    #[arg(long)]
    needs_arbitrator: bool,
    /// Only those whose title contains this
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// Show at most N
    #[arg(long, short, value_name = "N", default_value_t = 50)]
    limit: u64,
    /// Skip the first N
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: u64,
    #[command(flatten)]
    detail: Detail,
    #[command(flatten)]
    pub(super) shape: Shape,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Open {
    #[command(flatten)]
    debate: DebateArg,
    #[command(flatten)]
    pub(super) shape: Shape,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Archive {
    #[command(flatten)]
    debate: DebateArg,
    /// Bring it back
    #[arg(long)]
    undo: bool,
    #[command(flatten)]
    pub(super) shape: Shape,
}

/// The time since when debates are listed.
#[derive(Debug, Clone, Copy)]
struct Since(Time);

impl FromStr for Since {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let ago = text.parse::<Lasts>().ok().map(|ago| {
            let ago = i64::try_from(ago.seconds()).unwrap_or(i64::MAX).saturating_mul(1000);
            Time(Timestamp::now().as_millisecond().saturating_sub(ago))
        });
        let day = || format!("{text}T00:00:00Z").parse().ok().map(|Stamp(day)| day);
        let time = || text.parse().ok().map(|Stamp(time)| time);
        ago.or_else(time).or_else(day).map(Since).ok_or_else(|| {
            "it must be a time such as 45m, 12h or 30d, or a date such as 2026-11-01".to_owned()
        })
    }
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Delete {
    #[command(flatten)]
    debate: DebateArg,
    /// Confirm: this cannot be undone
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
pub(super) fn types() -> Result<Shown, CliError> {
    let settings = session::settings()?;
    let shelves = shelves(&settings)?;
    let types: Vec<TypeListed> = shelves
        .all(Language::English)
        .into_iter()
        .map(|(name, found)| match found {
            Ok(kind) => TypeListed {
                name,
                problem: None,
                origin: Some(kind.origin.as_str()),
                replaces_built_in: Some(kind.replaces_built_in()),
                title: Some(kind.title),
                description: Some(kind.description),
                folder: Some(kind.folder),
            },
            Err(bad) => {
                TypeListed { name, problem: Some(bad.to_string()), ..TypeListed::default() }
            }
        })
        .collect();
    let total = types.len() as u64;
    let bad = types.iter().filter(|kind| kind.problem.is_some()).count();
    let message = match bad {
        0 => format!("{total} types of debate"),
        bad => format!("{total} types of debate, {bad} of which cannot be used"),
    };
    let hint = format!(
        "to add one, write type.toml, proposer.md, opponent.md and arbitrator.md in {}",
        shelves.project.join("TYPE").display()
    );
    let answer = Answer::new(TypesOutput { types }, human::types).message(message);
    Ok(Shown::Answer(answer.with("hint", hint).of_total(total, false)))
}

/// The types of debate.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct TypesOutput {
    pub(in crate::cli) types: Vec<TypeListed>,
}

/// A type of debate, or why it cannot be used.
#[derive(Debug, Default, Serialize)]
pub(in crate::cli) struct TypeListed {
    #[serde(rename = "type")]
    pub(in crate::cli) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) problem: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) origin: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) replaces_built_in: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) description: Option<String>,
    /// None in it for a built-in type.
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<Option<PathBuf>>,
}

/// A debate as the server sent it, its page, and what a role should do.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct ContextOutput {
    #[serde(flatten)]
    pub(in crate::cli) context: Reply<DebateContext>,
    pub(in crate::cli) url: String,
    #[serde(flatten)]
    now: Option<Now>,
}

impl ContextOutput {
    /// The ledger: as the role needs it, if there is one.
    pub(in crate::cli) fn ledger(&self) -> Option<&Ledger> {
        let own = self.now.as_ref().and_then(|now| now.ledger.as_ref());
        own.or(self.context.data.points.ledger.as_ref())
    }
}

/// The next action of a role.
#[derive(Debug, Serialize)]
struct Now {
    action: Option<ActionText>,
    next_argument_id_to_wait: ArgumentIdText,
    /// The ledger for this role, in place of the one for no role.
    #[serde(skip_serializing_if = "Option::is_none")]
    ledger: Option<Ledger>,
}

impl GetContext {
    pub(super) fn run(mut self) -> Result<Shown, CliError> {
        let (awaiting, verbose) = (self.role.as_deref(), self.shape.verbose);
        self.debate.settle(Wants { awaiting, verbose, ..Wants::default() })?;
        let named = |problem: CliError| problem.with("debate_id", self.debate.id.as_str());
        let session = Session::open(self.shape.verbose).map_err(named)?;
        // The role's news come first, then the debate. So the advice never concerns a text that is
        // not shown.
        let poll = match self.role.as_deref() {
            Some(role) => {
                let waiter = Waiter { debate: &self.debate.id, role, after: None };
                let request = client::wait(waiter, Duration::ZERO);
                Some((role, session.call(&request).map_err(named)?.data))
            }
            None => None,
        };
        let context = session.call(&client::context(&self.debate.id, self.limit)).map_err(named)?;
        let url = session.url_of(&self.debate.id);
        let Some((role, poll)) = poll else {
            let output = ContextOutput { context, url, now: None };
            let answer = Answer::new(output, human::context).with(
                "hint",
                "give --role proposer, opponent or arbitrator to learn what to run next",
            );
            return Ok(Shown::Answer(session.checked(answer.detailed(self.detail))));
        };
        let DebateContext { debate, motion, arguments, own_rules, .. } = &context.data;
        let (now, advice) = match &poll {
            Poll::News(news) => {
                let (action, next) = (Some(news.action.clone()), news.next_argument_id_to_wait);
                let ledger = news.points.ledger.clone();
                (Now { action, next_argument_id_to_wait: next, ledger }, Advice::after(news))
            }
            Poll::Nothing(nothing) => {
                // Everything was just read, so the wait begins after the newest argument.
                let newest = arguments.last().unwrap_or(motion).id;
                let now = Now {
                    action: nothing.action.clone(),
                    next_argument_id_to_wait: newest,
                    ledger: None,
                };
                (now, Advice::wait(Some(newest)))
            }
        };
        let why = match (own_rules, BuiltIn::named(&debate.debate_type)) {
            (false, Some(_)) => None,
            (false, None) => Some("the rules of this debate are not built in"),
            (true, None) => Some("the creator of this debate sent its rules along"),
            (true, Some(_)) => {
                Some("the creator of this debate replaced the built-in rules with others")
            }
        };
        let output = ContextOutput { context, url, now: Some(now) };
        let mut answer = Answer::new(output, human::context).detailed(self.detail);
        if let Some(why) = why {
            let rules = CommandLine::new("agent show")
                .word(role)
                .flag("--debate-id", &self.debate.id)
                .word("--rules")
                .into_string();
            answer = answer.with("hint", format!("{why}: {rules}"));
        }
        let next_flags = NextFlags {
            deadline: self.deadline.as_ref(),
            format: self.shape.format(),
            attempt: None,
            wait: false,
        };
        let advice = session.followable(advice);
        let answer = advised(answer, &advice, &self.debate.id, role, next_flags);
        Ok(Shown::Answer(session.checked(answer)))
    }
}

impl List {
    pub(super) fn run(self) -> Result<Shown, CliError> {
        let here = (!self.all).then(refs::project_here).flatten();
        let since = self.since.map(|Since(time)| Stamp(time).to_string());
        let session = Session::open(self.shape.verbose)?;
        let filter = DebateFilter {
            project_first: here.as_ref().map(|project| project.id.as_str()),
            outcome: self.outcome.as_deref(),
            since: since.as_deref(),
            archived: self.archived,
            state: self.state.as_deref(),
            debate_type: self.debate_type.as_deref(),
            search: self.search.as_deref(),
            pending_first_opponent: self.pending_first_opponent,
            needs_arbitrator: self.needs_arbitrator,
            limit: self.limit,
            offset: self.offset,
        };
        let list = session.call(&client::debates(&filter))?;
        let (shown, total) = (list.data.debates.len() as u64, list.data.total);
        let more = self.offset.saturating_add(shown) < total;
        // If only one debate waits, the next command takes it.
        let role = match (self.pending_first_opponent, self.needs_arbitrator) {
            (true, false) => Some(Role::Opponent),
            (false, true) => Some(Role::Arbitrator),
            (true, true) | (false, false) => None,
        };
        // An agent that is bound to another role does not take it.
        let held = held_to()?;
        let role = role.filter(|role| held.is_none_or(|own| own == *role));
        let only = list.data.debates.first().filter(|_| total == 1).zip(role);
        let next = only.map(|(only, role)| {
            CommandLine::new("debate get-context")
                .flag("--debate-id", &only.debate.id.0.to_string())
                .flag("--role", role.as_str())
                .flag("--limit", "4")
        });
        // An empty page would lead to itself.
        let next_page = (more && shown > 0).then(|| {
            CommandLine::new("debate list")
                .flag_if("--state", self.state.as_deref())
                .flag_if("--outcome", self.outcome.as_deref())
                .flag_if("--since", since.as_deref())
                .word_if("--archived", self.archived)
                .word_if("--all", self.all)
                .flag_if("--type", self.debate_type.as_deref())
                .flag_if("--search", self.search.as_deref())
                .word_if("--pending-first-opponent", self.pending_first_opponent)
                .word_if("--needs-arbitrator", self.needs_arbitrator)
                .flag("--limit", &self.limit.to_string())
                .flag("--offset", &(self.offset + shown).to_string())
        });
        let mut answer =
            Answer::new(list, human::debates).of_total(total, more).detailed(self.detail);
        if let Some(next) = next_page.or(next) {
            answer = answer.next(next.format(self.shape.format()).into_string());
        }
        Ok(Shown::Answer(session.checked(answer)))
    }
}

impl Open {
    pub(super) fn run(mut self) -> Result<Shown, CliError> {
        let debate = self.debate.settle_if_named(self.shape.verbose)?;
        let session = Session::open(self.shape.verbose)?;
        let to = match debate {
            Some(debate) => {
                session
                    .call(&client::context(debate, 0))
                    .map_err(|problem| problem.with("debate_id", debate))?;
                format!("/debate/{}", encoded(debate))
            }
            None => "/".to_owned(),
        };
        let link = session.call(&client::link(CreateLink { to: Some(to) }))?.data;
        let url = format!("{}{}", session.client.base(), link.path);
        let signs_in = link.expires_at.is_some();
        let opened = if signs_in {
            browser::open_signed_in(&url, &session.settings.home)
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
                "Open this address in a browser to sign in: it works once, within 10 minutes"
            }
        };
        let opened = Opened { url, opened, expires_at: link.expires_at };
        Ok(Shown::Answer(session.checked(Answer::new(opened, human::fields).message(message))))
    }
}

/// The page that was opened, or could not be.
#[derive(Debug, Serialize)]
struct Opened {
    url: String,
    opened: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Stamp>,
}

impl Archive {
    pub(super) fn run(mut self) -> Result<Shown, CliError> {
        self.debate.settle_named(self.shape.verbose)?;
        let named = |problem: CliError| problem.with("debate_id", self.debate.id.as_str());
        let session = Session::open(self.shape.verbose).map_err(named)?;
        let request = client::archive_debate(&self.debate.id, !self.undo);
        let archived = session.call(&request).map_err(named)?.json;
        let back = CommandLine::new("debate archive").word(&self.debate.id).word("--undo");
        let output = ArchivedOutput { archived, debate_id: self.debate.id };
        let answer = Answer::new(output, human::fields);
        let answer = match self.undo {
            true => answer.message("Debate back in lists"),
            false => answer
                .message("Debate archived: lists leave it out, and nothing of it is lost")
                .with("hint", format!("to bring it back: {}", back.into_string())),
        };
        Ok(Shown::Answer(session.checked(answer)))
    }
}

/// The server's answer, and the debate.
#[derive(Debug, Serialize)]
struct ArchivedOutput {
    #[serde(flatten)]
    archived: Value,
    debate_id: String,
}

impl Delete {
    pub(super) fn run(mut self) -> Result<Shown, CliError> {
        self.debate.settle_named(self.shape.verbose)?;
        let named = |problem: CliError| problem.with("debate_id", self.debate.id.as_str());
        if !self.confirm {
            return Err(named(
                CliError::input(
                    "this hides the debate and all its arguments for good: add --confirm",
                )
                .suggest(format!(
                    "aw debate delete --debate-id {} --confirm",
                    quoted(&self.debate.id)
                )),
            ));
        }
        let session = Session::open(self.shape.verbose).map_err(named)?;
        let deleted = session.call(&client::delete_debate(&self.debate.id)).map_err(named)?.json;
        let output = DeletedOutput { deleted, debate_id: self.debate.id };
        let answer = Answer::new(output, human::fields).message("Debate deleted");
        Ok(Shown::Answer(session.checked(answer)))
    }
}

/// The server's answer, and the debate that is hidden now.
#[derive(Debug, Serialize)]
struct DeletedOutput {
    #[serde(flatten)]
    deleted: Value,
    debate_id: String,
}
