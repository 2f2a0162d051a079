//! `/debates/{id}/poll`, `/wait` and `/presence`: the roles that wait, and what they work on.

use std::future::ready;
use std::time::Duration;

use aw_core::{ArgumentId, DebateId, Role, WorkLabel};
use axum::response::{IntoResponse, Response};
use futures_util::future::Either;
use serde::Deserialize;
use utoipa::IntoParams;

use super::access::Access;
use super::debate_stream;
use super::error::Problem;
use super::input::{self, Body, Params, Segment};
use super::json::{Json, JsonResult};
use super::openapi::errors::{ReadErrors, WriteErrors};
use crate::api::types::{Poll, PresenceSet, RoleText, SetPresence, Success};

/// The longest time that the server holds a wait.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

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
    hold(access, WaitRequest::parse(&debate, &params, Duration::ZERO))
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
    hold(access, WaitRequest::parse(&debate, &params, LONGEST_WAIT))
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

/// A parsed poll: the only part of the request that a held wait keeps.
#[derive(Clone, Copy)]
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
        let after = input::optional_id("argument_id", params.argument_id.as_deref())?;
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

/// Holds a wait. It is no async function, which would keep its arguments twice.
fn hold(
    access: Access,
    request: Result<WaitRequest, Problem>,
) -> impl Future<Output = Result<Response, Problem>> {
    match request {
        Ok(request) => Either::Left(access.hold(request)),
        Err(problem) => Either::Right(ready(Err(problem))),
    }
}

impl Access {
    fn hold(self, request: WaitRequest) -> impl Future<Output = Result<Response, Problem>> {
        let WaitRequest { debate, role, after, patience } = request;
        async move {
            let waiter = self.waiter(role, debate)?;
            let held = if patience.is_zero() {
                None
            } else {
                let _permit = self.app.waits.take(&self.caller)?;
                let mut stopping = self.app.stopping.clone();
                tokio::select! {
                    poll = waiter.wait(after, patience) => Some(poll?),
                    () = stopping.wait() => None,
                    () = self.access_lost() => return Err(Problem::unauthorised(true)),
                }
            };
            let poll = match held {
                Some(poll) => poll,
                // A server that stops answers its waiters with the state of now.
                None => waiter.wait(after, Duration::ZERO).await?,
            };
            if !self.is_still_allowed().await {
                return Err(Problem::unauthorised(true));
            }
            if let aw_record::Poll::News(news) = &poll
                && let Some(rulings) = news.earlier
            {
                return debate_stream::poll(&self, &waiter.debate(), news, rulings);
            }
            Ok(Json(Success::new(Poll::from(&poll))).into_response())
        }
    }
}
