//! `/resolve`: the ids that a caller's names mean.
//!
//! A name is resolved only among what the caller may see: a token of one debate knows no other.

use aw_core::{DebateId, Role};
use aw_record::{
    ArgumentName, DebateName, DocumentName, Failure, IdPrefix, NameScope, NamedArgument,
    NamedDebate, NamedDocument,
};
use serde::Deserialize;
use utoipa::IntoParams;

use super::access::Access;
use super::error::Problem;
use super::input::{self, Params};
use super::json::{Json, JsonResult};
use super::openapi::errors::ReadErrors;
use super::projects;
use crate::api::error::Code;
use crate::api::types::{
    Candidate, Resolved, ResolvedArgument, ResolvedDebate, ResolvedDocument, RoleText, Success,
    Text,
};
use crate::policy::Command;

/// The name of whatever changed last.
const LAST: &str = "@last";

/// The most candidates that an error lists.
const LISTED: usize = 5;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ResolveParams {
    /// A debate: its id, at least 4 characters of the id's beginning, its slug, or `@last`.
    debate: Option<String>,
    /// Take the only open debate, where `debate` is absent.
    #[param(value_type = Option<bool>)]
    only_open: Option<String>,
    /// With `only_open`: of several, take the only one that waits for this role.
    #[param(value_type = Option<RoleText>)]
    awaiting: Option<String>,
    /// The caller's project, which `@last` and `only_open` consider.
    #[param(pattern = "^[0-9a-f]{8,64}$")]
    project: Option<String>,
    /// An argument of the debate: its id, the beginning of it, its number such as `#5`, or `@last`.
    argument: Option<String>,
    /// Where `argument` is absent: the newest argument that this role answers.
    #[param(value_type = Option<RoleText>)]
    answered_by: Option<String>,
    /// A document: its id, the beginning of it, its title, or `@last`.
    document: Option<String>,
}

/// Says which debate, argument and document the caller's names mean.
#[utoipa::path(
    get,
    path = "/resolve",
    operation_id = "resolve",
    params(ResolveParams),
    responses(
        (status = 200, body = Success<Resolved>),
        ReadErrors,
    )
)]
pub(super) async fn resolve(
    access: Access,
    Params(params): Params<ResolveParams>,
) -> JsonResult<Resolved> {
    let role =
        |field, text: Option<&String>| input::optional::<Role>(field, text.map(String::as_str));
    let awaiting = role("awaiting", params.awaiting.as_ref())?;
    let answered_by = role("answered_by", params.answered_by.as_ref())?;
    let only_open = input::flag("only_open", params.only_open.as_deref())?;
    let project = projects::id("project", params.project)?;
    let mut resolved = Resolved::default();
    let name = match params.debate {
        Some(text) => Some(debate_name(&text)?),
        None => only_open.then_some(DebateName::OnlyOpen { awaiting }),
    };
    if let Some(name) = name {
        let debate = access.resolve_debate(&name, NameScope { only: None, project }).await?;
        resolved.debate = Some(debate.into());
    }
    let argument = match (params.argument, answered_by) {
        (Some(text), _) => Some(argument_name(&text)?),
        (None, role) => role.map(ArgumentName::AnsweredBy),
    };
    if let Some(name) = argument {
        let Some(debate) = &resolved.debate else {
            let message =
                "an argument has a number and a short id only within a debate: `debate` is missing";
            return Err(Problem::input("debate", message));
        };
        let argument = access.resolve_argument(debate.debate_id.0, &name).await?;
        resolved.argument = Some(argument.into());
    }
    if let Some(text) = params.document {
        let name = if text == LAST { DocumentName::Last } else { DocumentName::Text(text) };
        resolved.document = Some(access.resolve_document(&name).await?.into());
    }
    Ok(Json(Success::new(resolved)))
}

fn debate_name(text: &str) -> Result<DebateName, Problem> {
    match text.trim() {
        "" => Err(Problem::input("debate_id", "the debate's name is empty")
            .suggest("See which there are: aw debate list")),
        LAST => Ok(DebateName::Last),
        name => Ok(DebateName::Text(name.to_owned())),
    }
}

fn argument_name(text: &str) -> Result<ArgumentName, Problem> {
    if text == LAST {
        return Ok(ArgumentName::Last);
    }
    // Shells take an unquoted #5 for a comment, so the number alone will do.
    let number = text.strip_prefix('#').unwrap_or(text);
    let prefix = IdPrefix::parse(text);
    if let Some(number) = number.parse().ok().filter(|_| prefix.is_none() || text != number) {
        return Ok(ArgumentName::Number(number));
    }
    prefix.map(ArgumentName::Prefix).ok_or_else(|| {
        let message = format!(
            "{text:?} names no argument: give its id, at least {} characters of the id's beginning, \
             its number such as #5, or @last",
            IdPrefix::DIGITS
        );
        Problem::input("argument_id", message)
    })
}

impl Access {
    async fn resolve_debate(
        &self,
        name: &DebateName,
        scope: NameScope,
    ) -> Result<NamedDebate, Problem> {
        let found = self.named_debates(name, scope).await?;
        let candidates = || found.iter().map(candidate_debate).collect();
        match (found.as_slice(), name) {
            ([one], _) => Ok(one.clone()),
            ([], DebateName::Text(text)) => {
                if let Some(gone) = self.deleted(text).await {
                    return Err(gone);
                }
                let short = if is_too_short(text) { SHORT } else { "" };
                let message = format!("no debate is called {text:?}{short}");
                Err(Problem::unnamed(Code::DebateNotFound, message)
                    .suggest("See which there are: aw debate list"))
            }
            ([], DebateName::Last) => {
                Err(Problem::unnamed(Code::DebateNotFound, "there is no debate yet"))
            }
            ([], DebateName::OnlyOpen { .. }) => {
                let message = "no debate is named, and none is open here";
                Err(Problem::input("debate_id", message)
                    .suggest("Name one with --debate-id: aw debate list --all shows all"))
            }
            (_, DebateName::OnlyOpen { .. }) => {
                let message = "no debate is named, and several are open";
                Err(Problem::ambiguous("debate_id", message, candidates())
                    .suggest("Name one of them with --debate-id"))
            }
            (_, DebateName::Text(text)) => {
                let message = format!("{text:?} fits several debates");
                Err(Problem::ambiguous("debate_id", &message, candidates()))
            }
            (_, DebateName::Last) => Err(Problem::fault("@last fits several debates")),
        }
    }

    /// Says that the debate with this whole id was deleted, if it was.
    async fn deleted(&self, text: &str) -> Option<Problem> {
        let debate = self.debate(Command::DebateGetContext, text.parse().ok()?).ok()?;
        match debate.type_texts().await {
            Err(gone @ Failure::DebateNotFound { deleted_at: Some(_), .. }) => Some(gone.into()),
            _ => None,
        }
    }

    async fn resolve_argument(
        &self,
        debate: DebateId,
        name: &ArgumentName,
    ) -> Result<NamedArgument, Problem> {
        let found = self.named_arguments(debate, name).await?;
        match found.as_slice() {
            [one] => Ok(one.clone()),
            [] => {
                let read = format!(
                    "Take the number or the id from: aw debate get-context --debate-id {debate}"
                );
                let (message, suggestion) = match name {
                    ArgumentName::Number(number) => {
                        (format!("debate {debate} has no argument #{number}"), read)
                    }
                    ArgumentName::AnsweredBy(role) => (
                        format!("debate {debate} has no argument that the {role} could answer yet"),
                        format!("Wait for one: aw debate wait --debate-id {debate} --role {role}"),
                    ),
                    _ => (format!("no argument of debate {debate} has an id that begins so"), read),
                };
                Err(Problem::unnamed(Code::ArgumentNotFound, message).suggest(suggestion))
            }
            several => {
                let candidates = several.iter().map(candidate_argument).collect();
                let message = "several arguments have an id that begins so";
                Err(Problem::ambiguous("argument_id", message, candidates))
            }
        }
    }

    async fn resolve_document(&self, name: &DocumentName) -> Result<NamedDocument, Problem> {
        let found = self.named_documents(name).await?;
        let text = match name {
            DocumentName::Text(text) => text.as_str(),
            DocumentName::Last => LAST,
        };
        match found.as_slice() {
            [one] => Ok(one.clone()),
            [] => {
                let short = if is_too_short(text) { SHORT } else { "" };
                let message = format!("no document is called {text:?}{short}");
                Err(Problem::unnamed(Code::DocumentNotFound, message)
                    .suggest("See which there are: aw docs list"))
            }
            several => {
                let candidates = several.iter().map(candidate_document).collect();
                let message = format!("{text:?} fits several documents");
                Err(Problem::ambiguous("document_id", &message, candidates))
            }
        }
    }
}

/// Explains why a short beginning of an id is not looked up.
const SHORT: &str = "; the beginning of an id needs at least 4 characters";

fn is_too_short(text: &str) -> bool {
    text.len() < IdPrefix::DIGITS && text.bytes().all(|digit| digit.is_ascii_hexdigit())
}

fn candidate_debate(debate: &NamedDebate) -> Candidate {
    let NamedDebate { id, slug, title, state } = debate;
    let slug = slug.as_ref().map_or("", |slug| slug.as_str());
    Candidate { id: id.to_string(), name: format!("{slug}: {title} ({state})") }
}

fn candidate_argument(argument: &NamedArgument) -> Candidate {
    let NamedArgument { id, seq, kind, role } = argument;
    Candidate { id: id.to_string(), name: format!("#{seq}: {role} {kind}") }
}

fn candidate_document(document: &NamedDocument) -> Candidate {
    let NamedDocument { id, title, summary } = document;
    let title = title.as_deref().unwrap_or(summary);
    Candidate { id: id.to_string(), name: title.to_owned() }
}

impl Problem {
    /// A name that means nothing.
    fn unnamed(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, message)
    }

    /// A name that fits several, with the first of them.
    fn ambiguous(field: &str, message: &str, mut candidates: Vec<Candidate>) -> Self {
        let more = if candidates.len() > LISTED { " and more" } else { "" };
        candidates.truncate(LISTED);
        let listed: Vec<String> =
            candidates.iter().map(|one| format!("{} ({})", one.id, one.name)).collect();
        let message = format!("{message}: {}{more}", listed.join(", "));
        let mut problem = Self::input(field, message).suggest("Give more of the id, or all of it");
        problem.error.candidates = Some(candidates);
        problem
    }
}

impl From<NamedDebate> for ResolvedDebate {
    fn from(NamedDebate { id, slug, title, state }: NamedDebate) -> Self {
        let slug = slug.map(|slug| slug.to_string());
        ResolvedDebate { debate_id: Text(id), slug, title, state: state.into() }
    }
}

impl From<NamedArgument> for ResolvedArgument {
    fn from(NamedArgument { id, seq, kind, role }: NamedArgument) -> Self {
        let (kind, role) = (kind.into(), role.into());
        ResolvedArgument { argument_id: Text(id), seq: seq.0, kind, role }
    }
}

impl From<NamedDocument> for ResolvedDocument {
    fn from(NamedDocument { id, title, summary }: NamedDocument) -> Self {
        ResolvedDocument { document_id: Text(id), title, summary }
    }
}
