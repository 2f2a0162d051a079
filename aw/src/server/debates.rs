//! `/debates`: lists, writes, waits.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use aw_core::{
    ArgumentId, BadText, ByRole, Content, DebateId, DebateType, Move, ResolutionPolicy, Role,
    State, Summary, Time, Title, Verdict, Via, WorkLabel,
};
use aw_record::{Ask, Filter, Request, TypeTexts};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::{IntoParams, IntoResponses};

use super::App;
use super::access::Access;
use super::blocking_pool::DRAWING;
use super::debate_stream;
use super::error::Problem;
use super::input::{self, Body, OpeningBody, Params, Segment, SentVia};
use super::json::{Json, JsonResult};
use super::openapi_errors::{ReadErrors, WriteErrors};
use super::points;
use super::projects;
use crate::api::types::{
    self as api, Archived, CreateDebate, DebateContext, DebateList, Deleted, Poll, PresenceSet,
    RoleText, RulesOrigin, SeenSet, SetArchived, SetPresence, SetSeen, Stamp, StateText,
    SubmitClaim, SubmitIntervention, SubmitRequest, SubmitRuling, Success, TypeOfDebate, Written,
};
use crate::kit::texts::BuiltIn;
use crate::policy::Command;

/// The longest time that the server holds a wait.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// A list with more debates is written on a blocking thread.
const IN_PASSING: usize = 100;

/// The answers to a submitted argument.
#[derive(IntoResponses)]
pub(super) enum Submitted {
    /// The argument is written.
    #[response(status = 201)]
    Written(Success<Written>),
    /// A retry: this request wrote the argument before
    #[response(status = 200)]
    Retried(Success<Written>),
}

impl IntoResponse for Submitted {
    fn into_response(self) -> Response {
        match self {
            Submitted::Written(written) => (StatusCode::CREATED, Json(written)).into_response(),
            Submitted::Retried(written) => (StatusCode::OK, Json(written)).into_response(),
        }
    }
}

type WriteResult = Result<Submitted, Problem>;

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

/// Opens a debate with its MOTION.
#[utoipa::path(
    post,
    path = "/debates",
    operation_id = "create_debate",
    request_body = CreateDebate,
    responses(
        (status = 201, body = Success<Written>),
        (status = 200, description = "A retry: this request opened the debate before", body = Success<Written>),
        WriteErrors,
    )
)]
pub(super) async fn create(
    access: Access,
    SentVia(via): SentVia,
    OpeningBody(body): OpeningBody<CreateDebate>,
) -> WriteResult {
    let policy: Option<ResolutionPolicy> =
        input::optional("resolution_policy", body.resolution_policy.as_deref())?;
    let max = access.app.limits.content_bytes;
    let request = Request {
        debate: input::id("debate_id", &body.debate_id)
            .map_err(|problem| problem.suggest("Make a new id: aw debate generate-id"))?,
        id: input::id("client_request_id", &body.client_request_id)?,
        author: input::author(body.author)?,
        via,
        seat: None,
        ask: Ask::Open {
            title: Title::parse(body.title).map_err(|bad| Problem::text("title", bad))?,
            debate_type: DebateType::parse(body.debate_type)
                .map_err(|bad| Problem::text("debate_type", bad))?,
            texts: body.type_texts.map(type_texts).transpose()?.map(Box::new),
            policy: policy.unwrap_or_default(),
            points: points::settings(body.points)?,
            origin: projects::origin(body.project)?,
            motion: input::content("motion_content", body.motion_content, max)?,
        },
    };
    access.write(request).await
}

/// Parses the texts of a type. The three rules share one size limit.
fn type_texts(texts: api::TypeTexts) -> Result<TypeTexts, Problem> {
    let api::TypeTexts { title, description, proposer, opponent, arbitrator } = texts;
    let max = TypeTexts::MAX_BYTES;
    let len = proposer.len() + opponent.len() + arbitrator.len();
    if len > max {
        return Err(Problem::text("type_texts", BadText::TooManyBytes { len, max }));
    }
    Ok(TypeTexts {
        title: Title::parse(title).map_err(|bad| Problem::text("type_texts.title", bad))?,
        description: Summary::parse(description)
            .map_err(|bad| Problem::text("type_texts.description", bad))?,
        rules: ByRole {
            proposer: input::content("type_texts.proposer", proposer, max)?,
            opponent: input::content("type_texts.opponent", opponent, max)?,
            arbitrator: input::content("type_texts.arbitrator", arbitrator, max)?,
        },
    })
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
        Some(first) => {
            debate_stream::context(&access.app, &debate, &context, (presence, seen), first)
        }
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

/// Submits a CLAIM, which answers the other side.
#[utoipa::path(
    post,
    path = "/debates/{id}/arguments",
    params(("id" = String, Path, format = Uuid)),
    request_body = SubmitClaim,
    responses(Submitted, WriteErrors)
)]
pub(super) async fn claim(
    access: Access,
    Segment(debate): Segment,
    SentVia(via): SentVia,
    Body(body): Body<SubmitClaim>,
) -> WriteResult {
    let role = match body.role.parse() {
        Ok(role @ (Role::Proposer | Role::Opponent)) => role,
        Ok(Role::Arbitrator) => {
            return Err(Problem::input(
                "role",
                "`role` must be proposer or opponent: the arbitrator rules or intervenes",
            ));
        }
        Err(_) => {
            let message = format!("`role` must be proposer or opponent, not {:?}", body.role);
            return Err(Problem::input("role", message));
        }
    };
    let target = input::id("target_id", &body.target_id)?;
    let request = Request {
        debate: input::id("debate_id", &debate)?,
        id: input::id("client_request_id", &body.client_request_id)?,
        author: input::author(body.author)?,
        via,
        seat: None,
        ask: Ask::Play {
            role,
            play: Move::Claim { target },
            content: input::content("content", body.content, access.app.limits.content_bytes)?,
        },
    };
    access.write(request).await
}

/// Submits an APPEAL, which puts a dispute before the arbitrator.
#[utoipa::path(
    post,
    path = "/debates/{id}/appeal",
    params(("id" = String, Path, format = Uuid)),
    request_body = SubmitRequest,
    responses(Submitted, WriteErrors)
)]
pub(super) async fn appeal(
    access: Access,
    Segment(debate): Segment,
    SentVia(via): SentVia,
    Body(body): Body<SubmitRequest>,
) -> WriteResult {
    access.proposer_asks(&debate, via, body, |target| Move::Appeal { target }).await
}

/// Submits a RESOLUTION, which asks to complete the debate.
#[utoipa::path(
    post,
    path = "/debates/{id}/resolution",
    operation_id = "request_completion",
    params(("id" = String, Path, format = Uuid)),
    request_body = SubmitRequest,
    responses(Submitted, WriteErrors)
)]
pub(super) async fn resolution(
    access: Access,
    Segment(debate): Segment,
    SentVia(via): SentVia,
    Body(body): Body<SubmitRequest>,
) -> WriteResult {
    access.proposer_asks(&debate, via, body, |target| Move::Resolution { target }).await
}

/// Submits a RULING, which settles an APPEAL, a RESOLUTION or an INTERVENTION.
#[utoipa::path(
    post,
    path = "/debates/{id}/ruling",
    operation_id = "rule",
    params(("id" = String, Path, format = Uuid)),
    request_body = SubmitRuling,
    responses(Submitted, WriteErrors)
)]
pub(super) async fn ruling(
    access: Access,
    Segment(debate): Segment,
    SentVia(via): SentVia,
    Body(body): Body<SubmitRuling>,
) -> WriteResult {
    access.write(access.app.ruling(input::id("debate_id", &debate)?, via, body)?).await
}

/// Submits an INTERVENTION, which stops the agents until a RULING.
#[utoipa::path(
    post,
    path = "/debates/{id}/intervention",
    operation_id = "intervene",
    params(("id" = String, Path, format = Uuid)),
    request_body = SubmitIntervention,
    responses(Submitted, WriteErrors)
)]
pub(super) async fn intervention(
    access: Access,
    Segment(debate): Segment,
    SentVia(via): SentVia,
    Body(body): Body<SubmitIntervention>,
) -> WriteResult {
    access.write(access.app.intervention(input::id("debate_id", &debate)?, via, body)?).await
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct PollParams {
    /// The role that waits.
    #[param(value_type = RoleText, required = true)]
    role: Option<String>,
    /// The newest argument that the role has seen; empty counts as absent.
    #[param(format = Uuid)]
    argument_id: Option<String>,
    /// The seconds to wait; above 60 counts as 60.
    #[param(value_type = Option<f64>, minimum = 0)]
    wait: Option<String>,
}

/// Returns what a role has to read and to do now.
#[utoipa::path(
    get,
    path = "/debates/{id}/poll",
    params(("id" = String, Path, format = Uuid), PollParams),
    responses(
        (status = 200, body = Success<Poll>),
        ReadErrors,
    )
)]
pub(super) fn poll(
    access: Access,
    Segment(debate): Segment,
    Params(params): Params<PollParams>,
) -> impl Future<Output = Result<Response, Problem>> {
    let request = WaitRequest::parse(&debate, &params, Duration::ZERO);
    async move { access.hold(request?).await }
}

/// Like `poll`, but waits for a minute by default.
#[utoipa::path(
    get,
    path = "/debates/{id}/wait",
    params(("id" = String, Path, format = Uuid), PollParams),
    responses(
        (status = 200, body = Success<Poll>),
        ReadErrors,
    )
)]
pub(super) fn wait(
    access: Access,
    Segment(debate): Segment,
    Params(params): Params<PollParams>,
) -> impl Future<Output = Result<Response, Problem>> {
    let request = WaitRequest::parse(&debate, &params, LONGEST_WAIT);
    async move { access.hold(request?).await }
}

/// Sets what a role works on. It lasts for a minute, and a page shows it beside the role.
#[utoipa::path(
    put,
    path = "/debates/{id}/presence",
    operation_id = "set_presence",
    params(("id" = String, Path, format = Uuid)),
    request_body = SetPresence,
    responses(
        (status = 200, body = Success<PresenceSet>),
        WriteErrors,
    )
)]
pub(super) async fn set_presence(
    access: Access,
    Segment(debate): Segment,
    Body(body): Body<SetPresence>,
) -> JsonResult<PresenceSet> {
    let debate = input::id("debate_id", &debate)?;
    let role = input::value("role", &body.role)?;
    let label = body.label.map(WorkLabel::parse).transpose();
    let label = label.map_err(|bad| Problem::text("label", bad))?;
    let presence = access.waiter(role, debate)?.set_working(label).await?.into();
    Ok(Json(Success::new(PresenceSet { presence })))
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

/// A parsed poll: the only part of the request that a held wait keeps.
struct WaitRequest {
    debate: DebateId,
    role: Role,
    after: Option<ArgumentId>,
    patience: Duration,
}

impl WaitRequest {
    fn parse(debate: &str, params: &PollParams, default: Duration) -> Result<Self, Problem> {
        let debate = input::id("debate_id", debate)?;
        let role = input::waiting_role(params.role.as_deref())?;
        let after = params
            .argument_id
            .as_deref()
            .filter(|id| !id.is_empty())
            .map(|id| input::id("argument_id", id))
            .transpose()?;
        let patience = match input::optional::<f64>("wait", params.wait.as_deref())? {
            // Not `min`, which would turn a NaN into a minute.
            Some(seconds) => {
                Duration::try_from_secs_f64(seconds.clamp(-1.0, LONGEST_WAIT.as_secs_f64()))
                    .map_err(|_| {
                        Problem::input("wait", "`wait` must be a number of seconds, 0 or more")
                    })?
            }
            None => default,
        };
        Ok(WaitRequest { debate, role, after, patience })
    }
}

impl Access {
    async fn hold(
        &self,
        WaitRequest { debate, role, after, patience }: WaitRequest,
    ) -> Result<Response, Problem> {
        let waiter = self.waiter(role, debate)?;
        let at_once = || waiter.wait(after, Duration::ZERO);
        let poll = if patience.is_zero() {
            at_once().await?
        } else {
            let _permit = self.app.waits.take(&self.caller)?;
            let mut stopping = self.app.stopping.clone();
            tokio::select! {
                poll = waiter.wait(after, patience) => poll?,
                // A server that stops answers its waiters with the state of now.
                () = stopping.wait() => at_once().await?,
                () = self.access_lost() => return Err(Problem::unauthorised(true)),
            }
        };
        if !self.is_still_allowed().await {
            return Err(Problem::unauthorised(true));
        }
        if let aw_record::Poll::News(news) = &poll
            && let Some(rulings) = news.earlier
        {
            return debate_stream::poll(&self.app, &waiter.debate(), news, rulings);
        }
        Ok(Json(Success::new(Poll::from(&poll))).into_response())
    }

    async fn proposer_asks(
        &self,
        debate: &str,
        via: Via,
        body: SubmitRequest,
        play: fn(ArgumentId) -> Move<ArgumentId>,
    ) -> WriteResult {
        let target = input::id("target_id", &body.target_id)?;
        let request = Request {
            debate: input::id("debate_id", debate)?,
            id: input::id("client_request_id", &body.client_request_id)?,
            author: input::author(body.author)?,
            via,
            seat: None,
            ask: Ask::Play {
                role: Role::Proposer,
                play: play(target),
                content: input::content("content", body.content, self.app.limits.content_bytes)?,
            },
        };
        self.write(request).await
    }

    async fn write(&self, request: Request) -> WriteResult {
        let receipt = self.execute(request).await?;
        let written = Success::new((&receipt).into());
        Ok(if receipt.replayed { Submitted::Retried(written) } else { Submitted::Written(written) })
    }
}

impl App {
    /// Parses a RULING.
    pub(crate) fn ruling(
        &self,
        debate: DebateId,
        via: Via,
        body: SubmitRuling,
    ) -> Result<Request, Problem> {
        let target = body
            .target_id
            .as_deref()
            .filter(|id| !id.is_empty())
            .map(|id| input::id("target_id", id))
            .transpose()?;
        let verdict = if body.close == Some(true) { Verdict::Close } else { Verdict::GoOn };
        Ok(Request {
            debate,
            id: input::request_id(body.client_request_id.as_deref())?,
            author: input::author(body.author)?,
            via,
            seat: None,
            ask: Ask::Play {
                role: Role::Arbitrator,
                play: Move::Ruling { target, verdict },
                content: input::content("content", body.content, self.limits.content_bytes)?,
            },
        })
    }

    /// Parses an INTERVENTION.
    pub(crate) fn intervention(
        &self,
        debate: DebateId,
        via: Via,
        body: SubmitIntervention,
    ) -> Result<Request, Problem> {
        let text = body.content.unwrap_or_default();
        Ok(Request {
            debate,
            id: input::request_id(body.client_request_id.as_deref())?,
            author: input::author(body.author)?,
            via,
            seat: None,
            ask: Ask::Play {
                role: Role::Arbitrator,
                play: Move::Intervention,
                content: Content::parse_optional(text, self.limits.content_bytes)
                    .map_err(|bad| Problem::text("content", bad))?,
            },
        })
    }
}
