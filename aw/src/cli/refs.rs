//! Resolves names: what a person types instead of the id of a debate, an argument or a document.
//!
//! Whole ids need no request. Any other name goes to the server, which knows what the caller may
//! see. After that the command works with whole ids.

use std::env;
use std::sync::OnceLock;

use aw_core::Role;
use serde_json::{Value, json};
use uuid::Uuid;

use super::human;
use super::output::{CliError, Format, Shown};
use super::session::Session;
use crate::api::client::{self, Names};
use crate::api::error::Code;
use crate::api::types::{Project, Resolved};
use crate::run::project;

/// The debate and the target that a command chose itself, for its answer.
static TAKEN: OnceLock<Value> = OnceLock::new();

/// The name of whatever changed last.
const LAST: &str = "@last";

// The debate of a command, by position or by flag
#[derive(Debug, clap::Args)]
pub(super) struct DebateArg {
    /// The debate: its id, at least 4 characters of it, its slug, or @last
    #[arg(id = "debate", value_name = "DEBATE", conflicts_with = "debate_id")]
    name: Option<String>,
    /// The same as a flag
    #[arg(
        id = "debate_id",
        long = "debate-id",
        value_name = "DEBATE",
        default_value = "",
        hide_default_value = true
    )]
    pub(super) id: String,
}

/// The names that a command resolves besides the debate.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Wants<'a> {
    /// If the debate is not named and several are open: the only one that waits for this role.
    pub(super) awaiting: Option<&'a str>,
    /// The argument that was named.
    pub(super) argument: Option<&'a str>,
    /// If no argument is named: the newest one that this role answers.
    pub(super) answered_by: Option<&'a str>,
    /// Whether the command logs each step.
    pub(super) verbose: bool,
}

impl DebateArg {
    /// A debate whose id is known.
    pub(super) fn known(id: &str) -> Self {
        DebateArg { name: None, id: id.to_owned() }
    }

    /// Resolves the debate, and returns the id of the argument. If no debate is named, takes the
    /// only open one.
    pub(super) fn settle(&mut self, wants: Wants<'_>) -> Result<Option<String>, CliError> {
        self.take_name();
        let argument = wants.argument.filter(|argument| !argument.is_empty());
        let answered_by = wants.answered_by.filter(|_| argument.is_none());
        // A whole id may be typed in capitals. The record has it in lower case.
        let whole = |text: &str| Uuid::try_parse(text).ok().map(|id| id.to_string());
        if let Some(id) = whole(&self.id) {
            self.id = id;
            let argument = argument.map(whole);
            if answered_by.is_none() && argument != Some(None) {
                return Ok(argument.flatten());
            }
        }
        let roles = [
            (wants.awaiting, "proposer, opponent or arbitrator"),
            (answered_by, "proposer or opponent"),
        ];
        for (role, known) in roles {
            if let Some(role) = role.filter(|role| role.parse::<Role>().is_err()) {
                return Err(CliError::input(format!("--role must be {known}, not {role:?}")));
            }
        }
        let is_left_out = self.id.is_empty();
        let names = Names {
            debate: Some(self.id.as_str()).filter(|_| !is_left_out),
            only_open: is_left_out,
            awaiting: wants.awaiting,
            argument: argument.filter(|argument| whole(argument).is_none()),
            answered_by,
            ..Names::default()
        };
        let Some(Resolved { debate, argument: found, .. }) = resolve(names, wants.verbose)? else {
            return Ok(argument.map(str::to_owned));
        };
        let mut taken = json!({});
        if let Some(debate) = debate {
            if is_left_out || self.id == LAST {
                taken["debate"] = json!(debate);
            }
            self.id = debate.debate_id.0.to_string();
        }
        if let Some(found) = &found
            && argument.is_none_or(|argument| argument == LAST)
        {
            taken["argument"] = json!(found);
        }
        if taken != json!({}) {
            // A command resolves its names once.
            let _ = TAKEN.set(taken);
        }
        let found = found.map(|found| found.argument_id.0.to_string());
        Ok(found.or_else(|| argument.map(str::to_owned)))
    }

    /// The same for a command that must not guess: its debate has to be named.
    pub(super) fn settle_named(&mut self, verbose: bool) -> Result<(), CliError> {
        self.take_name();
        if self.id.is_empty() {
            return Err(CliError::input("the debate is not named").suggest(
                "Name it: its id, at least 4 characters of it, its slug, or @last (see aw debate list)",
            ));
        }
        self.settle(Wants { verbose, ..Wants::default() }).map(drop)
    }

    /// The same for a command that works without a debate too.
    pub(super) fn settle_if_named(&mut self, verbose: bool) -> Result<Option<&str>, CliError> {
        self.take_name();
        if self.id.is_empty() {
            return Ok(None);
        }
        self.settle_named(verbose)?;
        Ok(Some(&self.id))
    }

    fn take_name(&mut self) {
        if let Some(name) = self.name.take() {
            self.id = name;
        }
    }
}

/// The whole id of a debate that a flag names.
pub(super) fn debate(name: &str, verbose: bool) -> Result<String, CliError> {
    let mut debate = DebateArg { name: None, id: name.to_owned() };
    debate.settle_named(verbose)?;
    Ok(debate.id)
}

/// The whole id of a document.
pub(super) fn document(name: String, verbose: bool) -> Result<String, CliError> {
    if let Ok(id) = Uuid::try_parse(&name) {
        return Ok(id.to_string());
    }
    let names = Names { document: Some(&name), ..Names::default() };
    let found = resolve(names, verbose)?.and_then(|found| found.document);
    Ok(match found {
        Some(found) => {
            if name == LAST {
                let _ = TAKEN.set(json!({"document": found}));
            }
            found.document_id.0.to_string()
        }
        None => name,
    })
}

/// The repository of the working folder, without branch and commit.
pub(super) fn project_here() -> Option<Project> {
    project::name_of(&env::current_dir().ok()?)
}

/// Asks the server. A server of the older system knows ids only, so names stay as they were typed.
fn resolve(names: Names<'_>, verbose: bool) -> Result<Option<Resolved>, CliError> {
    let considers_project = names.only_open || names.debate == Some(LAST);
    let project = considers_project.then(project_here).flatten();
    let names = Names { project: project.as_ref().map(|project| project.id.as_str()), ..names };
    let session = Session::open(verbose)?;
    match session.call(&client::resolve(names)) {
        Ok(resolved) => Ok(Some(resolved.data)),
        Err(_) if session.client.is_older() && !names.only_open => Ok(None),
        Err(problem) if problem.code == Code::RouteNotFound => {
            Err(problem.suggest("This server is older and knows whole ids only: aw server restart"))
        }
        Err(problem) => Err(problem),
    }
}

/// Adds to the outcome of a command what it took because nothing was named.
pub(super) fn with_taken(
    outcome: Result<Shown, CliError>,
    format: Format,
) -> Result<Shown, CliError> {
    let Some(taken) = TAKEN.get() else { return outcome };
    let said = |taken: &Value| {
        let word =
            |thing: &str, name: &str| taken[thing][name].as_str().unwrap_or_default().to_owned();
        let parts = [
            ("debate", word("debate", "slug"), word("debate", "debate_id")),
            ("argument", taken["argument"]["seq"].to_string(), word("argument", "argument_id")),
            ("document", word("document", "title"), word("document", "document_id")),
        ];
        let parts: Vec<String> = parts
            .into_iter()
            .filter(|(thing, ..)| taken.get(thing).is_some())
            .map(|(thing, name, id)| format!("{thing} {name} ({id})"))
            .collect();
        format!("using {}", parts.join(", "))
    };
    match outcome {
        Ok(Shown::Answer(answer)) if format == Format::Json => {
            Ok(Shown::Answer(answer.with("taken", taken.clone())))
        }
        Err(problem) if format == Format::Json => Err(problem.with("taken", taken.clone())),
        other => {
            human::note(&said(taken));
            other
        }
    }
}
