//! `/debates` and what belongs to a debate.

use std::time::Duration;

use aw_core::{
    ArgumentId, BadText, ByRole, Content, DebateId, DebateType, Move, ResolutionPolicy, Role,
    Summary, Time, Title, Verdict, Via,
};
use aw_record::{Ask, Filter, Request, TypeTexts};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::IntoParams;

use super::App;
use super::access::Access;
use super::error::Problem;
use super::input::{self, Body, Door, OpeningBody, Params, Segment};
use super::json::Json;
use super::refused::{ReadRefused, WriteRefused};
use super::transcript;
use super::turns::DRAWING;
use crate::api::types::{
    self as api, CreateDebate, DebateContext, DebateList, Deleted, Poll, RoleText, RulesOrigin,
    Stamp, StateText, SubmitClaim, SubmitIntervention, SubmitRequest, SubmitRuling, Success,
    TypeOfDebate, Written,
};
use crate::kit::texts::BuiltIn;
use crate::policy::Command;

/// The longest that the server holds a wait.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// How many debates of a list are written down on a thread that serves everybody.
const IN_PASSING: usize = 100;

type Answer<T> = Result<Json<Success<T>>, Problem>;
type WriteAnswer = Result<(StatusCode, Json<Success<Written>>), Problem>;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ListParams {
    /// Only those in this state.
    #[param(value_type = Option<StateText>)]
    state: Option<String>,
    /// Only those of this type.
    #[serde(rename = "type")]
    #[param(pattern = "^[a-z][a-z0-9_]{0,63}$")]
    debate_type: Option<String>,
    /// Only those whose title contains this.
    q: Option<String>,
    /// Only those that wait for an opponent who has not spoken yet.
    #[param(value_type = Option<bool>)]
    pending_first_opponent: Option<String>,
    /// Only those to which a RULING is owed.
    #[param(value_type = Option<bool>)]
    needs_arbitrator: Option<String>,
    /// At most so many; above 500 counts as 500.
    #[param(value_type = Option<u64>, default = 50)]
    limit: Option<String>,
    /// After leaving out so many.
    #[param(value_type = Option<u64>, default = 0)]
    offset: Option<String>,
    /// `next_before` of the page before, or a time: only those updated before.
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
        ReadRefused,
    )
)]
pub(super) async fn list(
    access: Access,
    Params(params): Params<ListParams>,
) -> Result<Response, Problem> {
    let filter = Filter {
        state: input::optional("state", params.state.as_deref())?,
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
        limit: input::limit(params.limit.as_deref(), 50)?,
        offset: input::offset(params.offset.as_deref())?,
        before: params.before.as_deref().filter(|text| !text.is_empty()).map(before).transpose()?,
        only: None,
    };
    let limit = filter.limit;
    let list = access.list(filter).await?;
    let is_long = list.debates.len() > IN_PASSING;
    let write = move || {
        let presence = |debate| access.app.record.presence(debate);
        Json(Success::new(DebateList::page(&list, limit, presence))).into_response()
    };
    if is_long { DRAWING.run(write).await } else { Ok(write()) }
}

/// A time, or a time and the id of the debate that was updated then.
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
        (status = 200, description = "It had been opened by this request before", body = Success<Written>),
        WriteRefused,
    )
)]
pub(super) async fn create(
    access: Access,
    Door(via): Door,
    OpeningBody(body): OpeningBody<CreateDebate>,
) -> WriteAnswer {
    let policy: Option<ResolutionPolicy> =
        input::optional("resolution_policy", body.resolution_policy.as_deref())?;
    let max = access.app.limits.content_bytes;
    let request = Request {
        debate: input::id("debate_id", &body.debate_id)?,
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
            motion: input::content("motion_content", body.motion_content, max)?,
        },
    };
    access.write(request).await
}

/// The texts of a type, which share one limit.
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

/// What kind of debate it is, and what its roles go by when that is not built in.
#[utoipa::path(
    get,
    path = "/debates/{id}/type",
    operation_id = "type_of_debate",
    params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 200, body = Success<TypeOfDebate>),
        ReadRefused,
    )
)]
pub(super) async fn type_of(access: Access, Segment(id): Segment) -> Answer<TypeOfDebate> {
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
    /// The newest so many besides the motion; without it all of them. Above 500 counts as 500.
    #[param(value_type = Option<u64>)]
    limit: Option<String>,
}

/// A debate with its arguments.
#[utoipa::path(
    get,
    path = "/debates/{id}",
    operation_id = "get_debate",
    params(("id" = String, Path, format = Uuid), ContextParams),
    responses(
        (status = 200, body = Success<DebateContext>),
        ReadRefused,
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
    let presence = debate.presence().into();
    match context.rest {
        None => Ok(Json(Success::new(DebateContext::of(&context, presence))).into_response()),
        Some(first) => transcript::context(&access.app, &debate, &context, presence, first),
    }
}

/// Hides a debate for good.
#[utoipa::path(
    delete,
    path = "/debates/{id}",
    operation_id = "delete_debate",
    params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 200, body = Success<Deleted>),
        WriteRefused,
    )
)]
pub(super) async fn delete(access: Access, Segment(id): Segment) -> Answer<Deleted> {
    let id = input::id("debate_id", &id)?;
    access.delete_debate(id).await?;
    Ok(Json(Success::new(Deleted { deleted: true })))
}

/// Answers the other side: a CLAIM.
#[utoipa::path(
    post,
    path = "/debates/{id}/arguments",
    params(("id" = String, Path, format = Uuid)),
    request_body = SubmitClaim,
    responses(
        (status = 201, body = Success<Written>),
        (status = 200, description = "This request had written it before", body = Success<Written>),
        WriteRefused,
    )
)]
pub(super) async fn claim(
    access: Access,
    Segment(debate): Segment,
    Door(via): Door,
    Body(body): Body<SubmitClaim>,
) -> WriteAnswer {
    let role: Role = input::value("role", &body.role)?;
    if role == Role::Arbitrator {
        return Err(Problem::input(
            "role",
            "`role` must be proposer or opponent: the arbitrator rules or intervenes",
        ));
    }
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

/// Puts a dispute before the arbitrator.
#[utoipa::path(
    post,
    path = "/debates/{id}/appeal",
    params(("id" = String, Path, format = Uuid)),
    request_body = SubmitRequest,
    responses(
        (status = 201, body = Success<Written>),
        (status = 200, description = "This request had written it before", body = Success<Written>),
        WriteRefused,
    )
)]
pub(super) async fn appeal(
    access: Access,
    Segment(debate): Segment,
    Door(via): Door,
    Body(body): Body<SubmitRequest>,
) -> WriteAnswer {
    access.proposer_asks(&debate, via, body, |target| Move::Appeal { target }).await
}

/// Asks to complete the debate.
#[utoipa::path(
    post,
    path = "/debates/{id}/resolution",
    operation_id = "request_completion",
    params(("id" = String, Path, format = Uuid)),
    request_body = SubmitRequest,
    responses(
        (status = 201, body = Success<Written>),
        (status = 200, description = "This request had written it before", body = Success<Written>),
        WriteRefused,
    )
)]
pub(super) async fn resolution(
    access: Access,
    Segment(debate): Segment,
    Door(via): Door,
    Body(body): Body<SubmitRequest>,
) -> WriteAnswer {
    access.proposer_asks(&debate, via, body, |target| Move::Resolution { target }).await
}

/// Settles what is pending.
#[utoipa::path(
    post,
    path = "/debates/{id}/ruling",
    operation_id = "rule",
    params(("id" = String, Path, format = Uuid)),
    request_body = SubmitRuling,
    responses(
        (status = 201, body = Success<Written>),
        (status = 200, description = "This request had written it before", body = Success<Written>),
        WriteRefused,
    )
)]
pub(super) async fn ruling(
    access: Access,
    Segment(debate): Segment,
    Door(via): Door,
    Body(body): Body<SubmitRuling>,
) -> WriteAnswer {
    access.write(access.app.ruling(input::id("debate_id", &debate)?, via, body)?).await
}

/// Stops the agents; a RULING must follow.
#[utoipa::path(
    post,
    path = "/debates/{id}/intervention",
    operation_id = "intervene",
    params(("id" = String, Path, format = Uuid)),
    request_body = SubmitIntervention,
    responses(
        (status = 201, body = Success<Written>),
        (status = 200, description = "This request had written it before", body = Success<Written>),
        WriteRefused,
    )
)]
pub(super) async fn intervention(
    access: Access,
    Segment(debate): Segment,
    Door(via): Door,
    Body(body): Body<SubmitIntervention>,
) -> WriteAnswer {
    access.write(access.app.intervention(input::id("debate_id", &debate)?, via, body)?).await
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct PollParams {
    /// Who waits.
    #[param(value_type = RoleText, required = true)]
    role: Option<String>,
    /// The newest argument that the role has seen; empty is absent.
    #[param(format = Uuid)]
    argument_id: Option<String>,
    /// Seconds to wait for news; above 60 counts as 60.
    #[param(value_type = Option<f64>, minimum = 0)]
    wait: Option<String>,
}

/// Whether this role has something to do or to read.
#[utoipa::path(
    get,
    path = "/debates/{id}/poll",
    params(("id" = String, Path, format = Uuid), PollParams),
    responses(
        (status = 200, body = Success<Poll>),
        ReadRefused,
    )
)]
pub(super) fn poll(
    access: Access,
    Segment(debate): Segment,
    Params(params): Params<PollParams>,
) -> impl Future<Output = Result<Response, Problem>> {
    let asked = Asked::read(&debate, &params, Duration::ZERO);
    async move { access.hold(asked?).await }
}

/// The same, held for a minute unless told otherwise.
#[utoipa::path(
    get,
    path = "/debates/{id}/wait",
    params(("id" = String, Path, format = Uuid), PollParams),
    responses(
        (status = 200, body = Success<Poll>),
        ReadRefused,
    )
)]
pub(super) fn wait(
    access: Access,
    Segment(debate): Segment,
    Params(params): Params<PollParams>,
) -> impl Future<Output = Result<Response, Problem>> {
    let asked = Asked::read(&debate, &params, LONGEST_WAIT);
    async move { access.hold(asked?).await }
}

/// What a poll asks for: all that is kept of the request while it is held.
struct Asked {
    debate: DebateId,
    role: Role,
    after: Option<ArgumentId>,
    patience: Duration,
}

impl Asked {
    fn read(debate: &str, params: &PollParams, default: Duration) -> Result<Self, Problem> {
        let debate = input::id("debate_id", debate)?;
        let role = input::waiting_role(params.role.as_deref())?;
        let after = params
            .argument_id
            .as_deref()
            .filter(|id| !id.is_empty())
            .map(|id| input::id("argument_id", id))
            .transpose()?;
        let patience = match input::optional::<f64>("wait", params.wait.as_deref())? {
            // Not `min`, which would take a NaN for a minute.
            Some(seconds) => {
                Duration::try_from_secs_f64(seconds.clamp(-1.0, LONGEST_WAIT.as_secs_f64()))
                    .map_err(|_| {
                        Problem::input("wait", "`wait` must be a number of seconds, 0 or more")
                    })?
            }
            None => default,
        };
        Ok(Asked { debate, role, after, patience })
    }
}

impl Access {
    async fn hold(
        &self,
        Asked { debate, role, after, patience }: Asked,
    ) -> Result<Response, Problem> {
        let waiter = self.waiter(role, debate)?;
        let at_once = || waiter.wait(after, Duration::ZERO);
        let poll = if patience.is_zero() {
            at_once().await?
        } else {
            let _held = self.app.waits.take(&self.caller)?;
            let mut stopping = self.app.stopping.clone();
            tokio::select! {
                poll = waiter.wait(after, patience) => poll?,
                // The server goes; whoever waits is told that there is nothing new.
                () = stopping.wait() => at_once().await?,
                () = self.unwelcome() => return Err(Problem::unauthorised(true)),
            }
        };
        if !self.is_still_welcome().await {
            return Err(Problem::unauthorised(true));
        }
        if let aw_record::Poll::News(news) = &poll
            && let Some(rulings) = news.earlier
        {
            return transcript::poll(&self.app, &waiter.debate(), news, rulings);
        }
        Ok(Json(Success::new(Poll::from(&poll))).into_response())
    }

    async fn proposer_asks(
        &self,
        debate: &str,
        via: Via,
        body: SubmitRequest,
        play: fn(ArgumentId) -> Move<ArgumentId>,
    ) -> WriteAnswer {
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

    async fn write(&self, request: Request) -> WriteAnswer {
        let receipt = self.execute(request).await?;
        let status = if receipt.replayed { StatusCode::OK } else { StatusCode::CREATED };
        Ok((status, Json(Success::new((&receipt).into()))))
    }
}

impl App {
    /// The request that a RULING's body asks for.
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

    /// The request that an INTERVENTION's body asks for.
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
