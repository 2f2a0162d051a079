//! `/debates`: lists, and debates as they are.

use std::fmt::Display;
use std::str::FromStr;

use aw_core::{DebateId, DebateType, State, Time};
use aw_record::Filter;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::IntoParams;

use super::access::Access;
use super::blocking_pool::DRAWING;
use super::debate_stream;
use super::error::Problem;
use super::input::{self, Body, Params, Segment};
use super::json::{Json, JsonResult};
use super::openapi::errors::{ReadErrors, WriteErrors};
use super::projects;
use crate::api::types::{
    self as api, Archived, DebateContext, DebateList, Deleted, RulesOrigin, SeenSet, SetArchived,
    SetSeen, Stamp, StateText, Success, TypeOfDebate,
};
use crate::kit::texts::BuiltIn;
use crate::policy::Command;

/// A list with more debates is written on a blocking thread.
const IN_PASSING: usize = 100;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ListParams {
    /// Only debates in this state.
    #[param(value_type = Option<StateText>)]
    state: Option<String>,
    /// Only debates of this type.
    #[serde(rename = "type")]
    #[param(pattern = "^[a-z][a-z0-9_]{0,63}$")]
    debate_type: Option<String>,
    /// Only debates whose title contains this, or whose id begins with it.
    q: Option<String>,
    /// Only debates of this project.
    #[param(pattern = "^[0-9a-f]{8,64}$")]
    project: Option<String>,
    /// Debates of this project before all others.
    #[param(pattern = "^[0-9a-f]{8,64}$")]
    project_first: Option<String>,
    /// Only debates that ended so: agreed, ruled, left_open or completed; or open ones.
    outcome: Option<String>,
    /// Only debates updated at this time or later.
    #[param(format = DateTime)]
    since: Option<String>,
    /// The archived debates instead of the others.
    #[param(value_type = Option<bool>)]
    archived: Option<String>,
    /// Only debates whose opponent has not written yet.
    #[param(value_type = Option<bool>)]
    pending_first_opponent: Option<String>,
    /// Only debates that wait for a RULING.
    #[param(value_type = Option<bool>)]
    needs_arbitrator: Option<String>,
    /// The most debates to return; above 500 counts as 500.
    #[param(value_type = Option<u64>, default = 50)]
    limit: Option<String>,
    /// The number of debates to skip.
    #[param(value_type = Option<u64>, default = 0)]
    offset: Option<String>,
    /// `next_before` of the previous page, or a time: only debates updated earlier.
    before: Option<String>,
}

/// Lists debates, the most recently updated first.
#[utoipa::path(
    get,
    path = "/debates",
    operation_id = "list_debates",
    params(ListParams),
    responses(
        (status = 200, body = Success<DebateList>),
        ReadErrors,
    )
)]
pub(super) async fn list(
    access: Access,
    Params(params): Params<ListParams>,
) -> Result<Response, Problem> {
    let filter = Filter {
        state: state(params.state.as_deref())?,
        debate_type: params
            .debate_type
            .filter(|name| !name.is_empty())
            .map(|name| DebateType::parse(name).map_err(|bad| Problem::text("type", bad)))
            .transpose()?,
        pending_first_opponent: input::flag(
            "pending_first_opponent",
            params.pending_first_opponent.as_deref(),
        )?,
        needs_arbitrator: input::flag("needs_arbitrator", params.needs_arbitrator.as_deref())?,
        search: input::search(params.q)?,
        project: projects::id("project", params.project)?,
        limit: input::limit(params.limit.as_deref(), 50)?,
        offset: input::offset(params.offset.as_deref())?,
        before: params.before.as_deref().filter(|text| !text.is_empty()).map(before).transpose()?,
        project_first: projects::id("project_first", params.project_first)?,
        outcome: in_any_case("outcome", params.outcome.as_deref(), str::to_lowercase)?,
        since: params
            .since
            .as_deref()
            .filter(|text| !text.is_empty())
            .map(|text| input::value("since", text).map(|Stamp(since)| since))
            .transpose()?,
        archived: input::flag("archived", params.archived.as_deref())?,
        ..Filter::default()
    };
    if filter.project_first.is_some() && filter.before.is_some() {
        let message = "`project_first` and `before` do not go together: use `offset`";
        return Err(Problem::input("project_first", message));
    }
    let limit = filter.limit;
    let list = access.list(filter).await?;
    let is_long = list.debates.len() > IN_PASSING;
    let write = move || {
        let presence = |debate| access.app.record.presence(debate);
        let now = access.app.record.now();
        Json(Success::new(DebateList::page(&list, limit, now, presence))).into_response()
    };
    if is_long { DRAWING.run(write).await } else { Ok(write()) }
}

/// Parses `state` in any case, with hyphens or underscores.
pub(crate) fn state(text: Option<&str>) -> Result<Option<State>, Problem> {
    in_any_case("state", text, str::to_uppercase)
}

/// Parses a word in any case, with hyphens or underscores. The error quotes it as it was sent.
fn in_any_case<T: FromStr<Err: Display>>(
    field: &str,
    text: Option<&str>,
    case: impl Fn(&str) -> String,
) -> Result<Option<T>, Problem> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
    let known = case(text).replace('-', "_").parse();
    known.map(Some).or_else(|_| input::optional(field, Some(text)))
}

/// Parses `before`: a time, or a time and the id of the debate that was updated then.
pub(crate) fn before(text: &str) -> Result<(Time, Option<DebateId>), Problem> {
    let (time, id) = match text.split_once(',') {
        Some((time, id)) => (time, Some(input::id("before", id)?)),
        None => (text, None),
    };
    let Stamp(time) = input::value("before", time)?;
    Ok((time, id))
}

/// Returns the type of a debate, and the rules of its roles unless they are built in.
#[utoipa::path(
    get,
    path = "/debates/{id}/type",
    operation_id = "type_of_debate",
    params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 200, body = Success<TypeOfDebate>),
        ReadErrors,
    )
)]
pub(super) async fn type_of(access: Access, Segment(id): Segment) -> JsonResult<TypeOfDebate> {
    let id = input::id("debate_id", &id)?;
    let (debate_type, texts) = access.debate(Command::AgentShow, id)?.type_texts().await?;
    Ok(Json(Success::new(TypeOfDebate {
        rules_origin: RulesOrigin::of(debate_type.as_str(), texts.is_some()),
        replaces_built_in: texts.is_some() && BuiltIn::named(debate_type.as_str()).is_some(),
        debate_type: debate_type.into_string(),
        type_texts: texts.as_ref().map(api::TypeTexts::from),
    })))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ContextParams {
    /// The number of newest arguments to return besides the motion; absent for all. Above 500 counts as 500.
    #[param(value_type = Option<u64>)]
    limit: Option<String>,
}

/// Returns a debate with its arguments.
#[utoipa::path(
    get,
    path = "/debates/{id}",
    operation_id = "get_debate",
    params(("id" = String, Path, format = Uuid), ContextParams),
    responses(
        (status = 200, body = Success<DebateContext>),
        ReadErrors,
    )
)]
pub(super) async fn context(
    access: Access,
    Segment(id): Segment,
    Params(params): Params<ContextParams>,
) -> Result<Response, Problem> {
    let id = input::id("debate_id", &id)?;
    let limit = params
        .limit
        .as_deref()
        .filter(|limit| !limit.is_empty())
        .map(|limit| input::limit(Some(limit), 0))
        .transpose()?;
    let debate = access.debate(Command::DebateGetContext, id)?;
    let context = debate.context(limit).await?;
    let (presence, seen) = (debate.presence().into(), access.seen(id).await?);
    match context.rest {
        None => Ok(Json(Success::new(DebateContext::of(&context, presence, seen))).into_response()),
        Some(first) => debate_stream::context(&access, &debate, &context, (presence, seen), first),
    }
}

/// Deletes a debate: it is hidden for good.
#[utoipa::path(
    delete,
    path = "/debates/{id}",
    operation_id = "delete_debate",
    params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 200, body = Success<Deleted>),
        WriteErrors,
    )
)]
pub(super) async fn delete(access: Access, Segment(id): Segment) -> JsonResult<Deleted> {
    let id = input::id("debate_id", &id)?;
    access.delete_debate(id).await?;
    Ok(Json(Success::new(Deleted { deleted: true })))
}

/// Leaves a debate out of lists, or brings it back.
#[utoipa::path(
    put,
    path = "/debates/{id}/archive",
    operation_id = "archive_debate",
    params(("id" = String, Path, format = Uuid)),
    request_body = SetArchived,
    responses(
        (status = 200, body = Success<Archived>),
        WriteErrors,
    )
)]
pub(super) async fn archive(
    access: Access,
    Segment(id): Segment,
    Body(SetArchived { archived }): Body<SetArchived>,
) -> JsonResult<Archived> {
    access.archive_debate(input::id("debate_id", &id)?, archived).await?;
    Ok(Json(Success::new(Archived { archived })))
}

/// Notes which arguments of a debate the caller has seen. The mark never goes back.
#[utoipa::path(
    put,
    path = "/debates/{id}/seen",
    operation_id = "set_seen",
    params(("id" = String, Path, format = Uuid)),
    request_body = SetSeen,
    responses(
        (status = 200, body = Success<SeenSet>),
        WriteErrors,
    )
)]
pub(super) async fn set_seen(
    access: Access,
    Segment(debate): Segment,
    Body(body): Body<SetSeen>,
) -> JsonResult<SeenSet> {
    let debate = input::id("debate_id", &debate)?;
    let seen = access.note_seen(debate, body.seq).await?;
    Ok(Json(Success::new(SeenSet { seen })))
}
