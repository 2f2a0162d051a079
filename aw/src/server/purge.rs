//! `/debates/{id}/purge`: removes the texts of a debate for good.

use super::access::Access;
use super::error::Problem;
use super::input::{self, Body, Segment};
use super::json::{Json, JsonResult};
use super::openapi::errors::{ReadErrors, WriteErrors};
use crate::api::types::{PurgeDebate, PurgePreview, Purged, Stamp, Success, Text};

/// Says what a purge of a debate would remove. For administrators only.
#[utoipa::path(
    get,
    path = "/debates/{id}/purge",
    operation_id = "preview_purge",
    params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 200, body = Success<PurgePreview>),
        ReadErrors,
    )
)]
pub(super) async fn preview(access: Access, Segment(debate): Segment) -> JsonResult<PurgePreview> {
    let id = input::id("debate_id", &debate)?;
    let preview = access.preview_purge(id).await?;
    Ok(Json(Success::new(PurgePreview {
        debate_id: Text(id),
        title: preview.title.as_str().to_owned(),
        debate_state: preview.state.into(),
        deleted_at: preview.deleted_at.map(Stamp),
        arguments: preview.arguments,
        bytes: preview.bytes,
        documents: preview.documents,
        only_here: preview.only_here.into_iter().map(Text).collect(),
        tombstone: preview.tombstone.as_ref().map(Into::into),
    })))
}

/// Removes the texts of a closed or deleted debate for good; a tombstone with its last hash stays. For
/// administrators only.
#[utoipa::path(
    post,
    path = "/debates/{id}/purge",
    operation_id = "purge_debate",
    params(("id" = String, Path, format = Uuid)),
    request_body = PurgeDebate,
    responses(
        (status = 200, body = Success<Purged>),
        WriteErrors,
    )
)]
pub(super) async fn purge(
    access: Access,
    Segment(debate): Segment,
    Body(PurgeDebate { confirm, documents }): Body<PurgeDebate>,
) -> JsonResult<Purged> {
    let id = input::id("debate_id", &debate)?;
    if !confirm {
        let message = "`confirm` must be true: nothing brings the texts back";
        return Err(Problem::input("confirm", message));
    }
    let purged = access.purge_debate(id, documents).await?;
    let (tombstone, scrubbed) = ((&purged.tombstone).into(), purged.scrubbed);
    Ok(Json(Success::new(Purged { purged: true, tombstone, scrubbed })))
}
