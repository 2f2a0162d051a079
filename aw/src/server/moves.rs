//! `/debates` and `/debates/{id}/…`: what writes an argument.

use aw_core::{
    ArgumentId, BadText, ByRole, Content, DebateId, DebateType, Move, ResolutionPolicy, Role,
    Summary, Title, Verdict, Via,
};
use aw_record::{Ask, Request, TypeTexts};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use utoipa::IntoResponses;

use super::App;
use super::access::Access;
use super::error::Problem;
use super::input::{self, Body, OpeningBody, Segment, SentVia};
use super::json::Json;
use super::openapi::errors::WriteErrors;
use super::points;
use super::projects;
use crate::api::types::{
    self as api, CreateDebate, SubmitClaim, SubmitIntervention, SubmitRequest, SubmitRuling,
    Success, Written,
};

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
    let SubmitClaim { target_id, content, client_request_id, author, .. } = body;
    let body = SubmitRequest { target_id, content, client_request_id, author };
    access.answer(&debate, via, role, body, |target| Move::Claim { target }).await
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
    access.answer(&debate, via, Role::Proposer, body, |target| Move::Appeal { target }).await
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
    access.answer(&debate, via, Role::Proposer, body, |target| Move::Resolution { target }).await
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

impl Access {
    /// Writes an argument that answers another.
    async fn answer(
        &self,
        debate: &str,
        via: Via,
        role: Role,
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
                role,
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
        let target = input::optional_id("target_id", body.target_id.as_deref())?;
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
