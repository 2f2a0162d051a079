//! `/debates/{id}/verify` and `/verify`: check that the record is as it was written.

use aw_record as record;
use serde::Deserialize;
use utoipa::IntoParams;

use super::access::Access;
use super::input::{self, Params, Segment};
use super::json::{Json, JsonResult};
use super::openapi::errors::ReadErrors;
use crate::api::types::{Damaged, Stamp, Success, Text, Tombstone, VerifiedDebate, VerifiedPiece};
use crate::policy::Command;

/// Verifies a debate, from its MOTION to its newest argument, or the tombstone of a purged one.
#[utoipa::path(
    get,
    path = "/debates/{id}/verify",
    operation_id = "verify_debate",
    params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 200, body = Success<VerifiedDebate>),
        ReadErrors,
    )
)]
pub(super) async fn debate(access: Access, Segment(debate): Segment) -> JsonResult<VerifiedDebate> {
    let id = input::id("debate_id", &debate)?;
    let verified = access.debate(Command::DebateVerify, id)?.verify().await?;
    Ok(Json(Success::new((&verified).into())))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct PieceParams {
    /// The `next` of the previous piece; absent for the first piece.
    #[param(pattern = "^(debates|documents)-[0-9]{1,18}$")]
    after: Option<String>,
}

/// Verifies a piece of the whole record, the newest first. For administrators only.
#[utoipa::path(
    get,
    path = "/verify",
    operation_id = "verify_record",
    params(PieceParams),
    responses(
        (status = 200, body = Success<VerifiedPiece>),
        ReadErrors,
    )
)]
pub(super) async fn piece(
    access: Access,
    Params(params): Params<PieceParams>,
) -> JsonResult<VerifiedPiece> {
    let administration = access.administration()?;
    let after = input::optional("after", params.after.as_deref())?;
    let piece = administration.verify_on(after).await?;
    Ok(Json(Success::new((&piece).into())))
}

impl From<&record::Verified> for VerifiedDebate {
    fn from(verified: &record::Verified) -> Self {
        VerifiedDebate {
            ok: true,
            debate_id: Text(verified.debate),
            arguments: verified.arguments,
            first_hash: Text(verified.first),
            head_hash: Text(verified.head),
            seal: Text(verified.checksum),
            tombstone: verified.tombstone.as_ref().map(Into::into),
        }
    }
}

impl From<&record::Tombstone> for Tombstone {
    fn from(stone: &record::Tombstone) -> Self {
        Tombstone {
            purged_at: Stamp(stone.purged_at),
            arguments: stone.pieces,
            head_hash: Text(stone.hash),
            seal: Text(stone.checksum),
        }
    }
}

impl From<&record::Damage> for Damaged {
    fn from(damage: &record::Damage) -> Self {
        Damaged {
            debate_id: damage.debate.map(Text),
            seq: damage.seq.map(|seq| seq.0),
            document_id: damage.document.map(Text),
            version: damage.version,
            what: damage.what.clone(),
        }
    }
}

impl From<&record::VerifiedPiece> for VerifiedPiece {
    fn from(piece: &record::VerifiedPiece) -> Self {
        VerifiedPiece {
            verified_debates: piece.debates,
            verified_arguments: piece.arguments,
            verified_documents: piece.documents,
            verified_versions: piece.versions,
            damaged: piece.damages.iter().map(Into::into).collect(),
            left: piece.left,
            next: piece.next.map(|mark| mark.to_string()),
        }
    }
}
