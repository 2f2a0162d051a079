//! `/debates/{id}/points` and `/debates/{id}/check`: the ledger, and moves that are only judged.

use aw_core::{Move, PointId, PointRules, Role, Severity, Verdict};
use aw_record::Failure;

use super::access::Access;
use super::error::Problem;
use super::input::{self, Body, Segment, Segments};
use super::json::{Json, JsonResult};
use super::openapi::errors::{ReadErrors, WriteErrors};
use super::to_api::quoted_points;
use crate::api::types::{
    AskedPoints, AskedSettings, CheckMove, Checked, Ledger, OnePoint, PointList, QuotedPoint,
    Success,
};
use crate::policy::Command;

/// The most characters of a wrong name that an error repeats.
const LONGEST_SHOWN: usize = 80;

/// Parses the settings of points in a request.
pub(crate) fn settings(asked: Option<AskedPoints>) -> Result<Option<PointRules>, Problem> {
    let wrong = || {
        Problem::input(
            "points",
            "`points` must be true, false or an object with `rounds` (1 to 20) and `blocking` (critical or major)",
        )
    };
    let settings = match asked {
        None | Some(AskedPoints::Flag(false)) => return Ok(None),
        Some(AskedPoints::Flag(true)) => AskedSettings::default(),
        Some(AskedPoints::Settings(settings)) => settings,
        Some(AskedPoints::Other(_)) => return Err(wrong()),
    };
    let default = PointRules::default();
    let rounds = match settings.rounds {
        None => default.rounds,
        Some(rounds) => u32::try_from(rounds)
            .ok()
            .filter(|rounds| (1..=PointRules::MOST_ROUNDS).contains(rounds))
            .ok_or_else(wrong)?,
    };
    let blocking = match settings.blocking.as_deref() {
        None => default.blocking,
        Some("critical") => Severity::Critical,
        Some("major") => Severity::Major,
        Some(_) => return Err(wrong()),
    };
    Ok(Some(PointRules { rounds, blocking }))
}

/// Lists all points of a debate, by number.
#[utoipa::path(
    get,
    path = "/debates/{id}/points",
    operation_id = "list_points",
    params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 200, body = Success<PointList>),
        ReadErrors,
    )
)]
pub(super) async fn list(access: Access, Segment(id): Segment) -> JsonResult<PointList> {
    let id = input::id("debate_id", &id)?;
    let (head, points) = access.debate(Command::DebatePoints, id)?.points().await?;
    let ledger = head.debate.ledger.as_ref();
    Ok(Json(Success::new(PointList {
        ledger: ledger
            .map(|ledger| Ledger::of(ledger, head.state(), head.debate.pending_held(), None)),
        points: ledger.map(|ledger| quoted_points(ledger, &points)).unwrap_or_default(),
    })))
}

/// Returns a point with its history.
#[utoipa::path(
    get,
    path = "/debates/{id}/points/{point}",
    operation_id = "get_point",
    params(("id" = String, Path, format = Uuid), ("point" = String, Path)),
    responses(
        (status = 200, body = Success<OnePoint>),
        ReadErrors,
    )
)]
pub(super) async fn one(access: Access, Segments(id, point): Segments) -> JsonResult<OnePoint> {
    let id = input::debate_id(&access.app, &id).await?;
    // No point has the number 0, so that one is not found either.
    let number: Result<PointId, _> = point.parse();
    let found = access.debate(Command::DebatePoints, id)?.point(number.unwrap_or(PointId(0))).await;
    let (head, record) = match (found, number) {
        (Err(Failure::PointNotFound { .. }), Err(_)) => {
            let shown: String = point.chars().take(LONGEST_SHOWN).collect();
            let message =
                format!("no point is called {shown:?}: a point is P and its number, such as P2");
            return Err(Problem::point_not_found(shown, message));
        }
        (found, _) => found?,
    };
    let ledger = head.debate.ledger.as_ref();
    let ledger = ledger.ok_or_else(|| Problem::fault("a point without a ledger"))?;
    let point = QuotedPoint::with_history(ledger, &record);
    Ok(Json(Success::new(OnePoint { point })))
}

/// Judges a move as if it were made, and writes nothing.
#[utoipa::path(
    post,
    path = "/debates/{id}/check",
    operation_id = "check_move",
    params(("id" = String, Path, format = Uuid)),
    request_body = CheckMove,
    responses(
        (status = 200, body = Success<Checked>),
        WriteErrors,
    )
)]
pub(super) async fn check(
    access: Access,
    Segment(debate): Segment,
    Body(body): Body<CheckMove>,
) -> JsonResult<Checked> {
    let debate = input::id("debate_id", &debate)?;
    let target = input::optional_id("target_id", body.target_id.as_deref())?;
    let answered = || {
        target.ok_or_else(|| {
            Problem::input(
                "target_id",
                "`target_id` is missing: name the argument that is answered",
            )
        })
    };
    let (role, play) = match body.kind.as_str() {
        "claim" => {
            let role: Option<Role> = input::optional("role", body.role.as_deref())?;
            match role {
                Some(role @ (Role::Proposer | Role::Opponent)) => {
                    (role, Move::Claim { target: answered()? })
                }
                _ => return Err(Problem::input("role", "`role` must be proposer or opponent")),
            }
        }
        "appeal" => (Role::Proposer, Move::Appeal { target: answered()? }),
        "resolution" => (Role::Proposer, Move::Resolution { target: answered()? }),
        "ruling" => {
            let verdict = if body.close == Some(true) { Verdict::Close } else { Verdict::GoOn };
            (Role::Arbitrator, Move::Ruling { target, verdict })
        }
        _ => {
            return Err(Problem::input(
                "move",
                "`move` must be claim, appeal, resolution or ruling",
            ));
        }
    };
    let content = input::content("content", body.content, access.app.limits.content_bytes)?;
    let rehearsed = access.rehearse(debate, role, play, content).await?;
    Ok(Json(Success::new(Checked::of(&rehearsed, role))))
}
