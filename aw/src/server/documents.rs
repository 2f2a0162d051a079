//! `/documents`.

use std::time::Duration;

use aw_core::Summary;
use aw_record::{NewDocument, NewVersion};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::Value;
use similar::TextDiffConfig;
use utoipa::IntoParams;

use super::App;
use super::desk::{About, Desk};
use super::error::Problem;
use super::input::{self, LongBody, Params, Segment};
use super::json::Json;
use super::refused::{ReadRefused, WriteRefused};
use crate::wire::{
    Deleted, Diff, Document, DocumentList, KeptVersion, SubmitDocument, Success, Text, VersionList,
};

/// A diff that takes longer is finished with less care: it stays true, but is not the shortest.
const DIFF_PATIENCE: Duration = Duration::from_secs(2);

/// The most bytes that an author may keep beside a version.
const METADATA_BYTES: usize = 64 * 1024;

type Answer<T> = Result<Json<Success<T>>, Problem>;
type KeepAnswer = Result<(StatusCode, Json<Success<KeptVersion>>), Problem>;

/// Keeps a new document.
#[utoipa::path(
    post,
    path = "/documents",
    operation_id = "create_document",
    request_body = SubmitDocument,
    responses(
        (status = 201, body = Success<KeptVersion>),
        (status = 200, description = "This request had kept it before", body = Success<KeptVersion>),
        WriteRefused,
    )
)]
pub(super) async fn create(desk: Desk, LongBody(body): LongBody<SubmitDocument>) -> KeepAnswer {
    let request = input::request_id(body.client_request_id.as_deref())?;
    let version = desk.app.new_version(body)?;
    let engine = desk.engine("docs create", About::Everything).await?;
    let seat = desk.caller.seat().map(|seat| seat.id);
    kept(&engine.create_document(NewDocument { request, seat, version }).await?)
}

/// Keeps the next version of a document.
#[utoipa::path(
    post,
    path = "/documents/{id}/versions",
    params(("id" = String, Path, format = Uuid)),
    request_body = SubmitDocument,
    responses(
        (status = 201, body = Success<KeptVersion>),
        (status = 200, description = "This request had kept it before", body = Success<KeptVersion>),
        WriteRefused,
    )
)]
pub(super) async fn add_version(
    desk: Desk,
    Segment(document): Segment,
    LongBody(body): LongBody<SubmitDocument>,
) -> KeepAnswer {
    let document = input::id("document_id", &document)?;
    let request = input::request_id(body.client_request_id.as_deref())?;
    let version = desk.app.new_version(body)?;
    let engine = desk.engine("docs submit", About::Document(document)).await?;
    kept(&engine.add_version(document, request, version).await?)
}

fn kept(kept: &aw_record::KeptVersion) -> KeepAnswer {
    let status = if kept.replayed { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Json(Success::new(kept.into()))))
}

impl App {
    fn new_version(&self, body: SubmitDocument) -> Result<NewVersion, Problem> {
        // In one order, so that a retry is recognised however its keys are arranged.
        let mut metadata = Value::Object(body.metadata.unwrap_or_default());
        metadata.sort_all_objects();
        let metadata = serde_json::to_string(&metadata)
            .map_err(|error| Problem::fault(format!("metadata: {error}")))?;
        if metadata.len() > METADATA_BYTES {
            return Err(Problem::input(
                "metadata",
                format!("`metadata` is longer than {METADATA_BYTES} bytes"),
            ));
        }
        Ok(NewVersion {
            summary: Summary::parse(body.summary).map_err(|bad| Problem::text("summary", bad))?,
            content: input::content("content", body.content, self.limits.document_bytes).map_err(
                |problem| match problem.error.max_length {
                    Some(_) => problem.suggest(input::SPLIT),
                    None => problem,
                },
            )?,
            author: input::author(body.author)?,
            metadata,
        })
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ListParams {
    /// Only those whose newest summary contains this.
    q: Option<String>,
    /// Also those that were deleted.
    #[param(value_type = Option<bool>)]
    include_deleted: Option<String>,
    /// At most so many; above 500 counts as 500.
    #[param(value_type = Option<u64>, default = 50)]
    limit: Option<String>,
    /// After leaving out so many.
    #[param(value_type = Option<u64>, default = 0)]
    offset: Option<String>,
}

/// Lists documents, the most recently updated first.
#[utoipa::path(
    get,
    path = "/documents",
    operation_id = "list_documents",
    params(ListParams),
    responses(
        (status = 200, body = Success<DocumentList>),
        ReadRefused,
    )
)]
pub(super) async fn list(desk: Desk, Params(params): Params<ListParams>) -> Answer<DocumentList> {
    let list = desk
        .engine("docs list", About::Everything)
        .await?
        .list_documents(
            input::search(params.q)?.as_deref(),
            input::flag("include_deleted", params.include_deleted.as_deref())?,
            input::limit(params.limit.as_deref(), 50)?,
            input::offset(params.offset.as_deref())?,
            desk.caller.seat().filter(|seat| seat.debate.is_some()),
        )
        .await?;
    Ok(Json(Success::new((&list).into())))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ReadParams {
    /// This version; without it the newest.
    #[param(value_type = Option<u64>)]
    version: Option<String>,
    /// Also when it was deleted.
    #[param(value_type = Option<bool>)]
    include_deleted: Option<String>,
}

/// A document in one version.
#[utoipa::path(
    get,
    path = "/documents/{id}",
    operation_id = "get_document",
    params(("id" = String, Path, format = Uuid), ReadParams),
    responses(
        (status = 200, body = Success<Document>),
        ReadRefused,
    )
)]
pub(super) async fn read(
    desk: Desk,
    Segment(document): Segment,
    Params(params): Params<ReadParams>,
) -> Answer<Document> {
    let id = input::id("document_id", &document)?;
    let version = input::optional("version", params.version.as_deref())?;
    let include_deleted = input::flag("include_deleted", params.include_deleted.as_deref())?;
    let engine = desk.engine("docs get", About::Document(id)).await?;
    let document = engine.document(id, version, include_deleted).await?;
    Ok(Json(Success::new(document.into())))
}

/// Hides a document.
#[utoipa::path(
    delete,
    path = "/documents/{id}",
    operation_id = "delete_document",
    params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 200, body = Success<Deleted>),
        WriteRefused,
    )
)]
pub(super) async fn delete(desk: Desk, Segment(document): Segment) -> Answer<Deleted> {
    let id = input::id("document_id", &document)?;
    desk.engine("docs delete", About::Document(id)).await?.delete_document(id).await?;
    Ok(Json(Success::new(Deleted { deleted: true })))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct VersionParams {
    /// Also when the document was deleted.
    #[param(value_type = Option<bool>)]
    include_deleted: Option<String>,
    /// At most so many; above 500 counts as 500.
    #[param(value_type = Option<u64>, default = 100)]
    limit: Option<String>,
    /// After leaving out so many.
    #[param(value_type = Option<u64>, default = 0)]
    offset: Option<String>,
}

/// The versions of a document, the newest first, without their texts.
#[utoipa::path(
    get,
    path = "/documents/{id}/versions",
    operation_id = "list_versions",
    params(("id" = String, Path, format = Uuid), VersionParams),
    responses(
        (status = 200, body = Success<VersionList>),
        ReadRefused,
    )
)]
pub(super) async fn versions(
    desk: Desk,
    Segment(document): Segment,
    Params(params): Params<VersionParams>,
) -> Answer<VersionList> {
    let id = input::id("document_id", &document)?;
    let list = desk
        .engine("docs history", About::Document(id))
        .await?
        .versions(
            id,
            input::flag("include_deleted", params.include_deleted.as_deref())?,
            input::limit(params.limit.as_deref(), 100)?,
            input::offset(params.offset.as_deref())?,
        )
        .await?;
    Ok(Json(Success::new(VersionList::of(id, &list))))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct DiffParams {
    /// The older side; by default the version before `to`.
    #[param(value_type = Option<u64>)]
    from: Option<String>,
    /// The newer side; by default the newest.
    #[param(value_type = Option<u64>)]
    to: Option<String>,
}

/// What changed between two versions, as a unified diff.
#[utoipa::path(
    get,
    path = "/documents/{id}/diff",
    operation_id = "diff_versions",
    params(("id" = String, Path, format = Uuid), DiffParams),
    responses(
        (status = 200, body = Success<Diff>),
        ReadRefused,
    )
)]
pub(super) async fn diff(
    desk: Desk,
    Segment(document): Segment,
    Params(params): Params<DiffParams>,
) -> Answer<Diff> {
    let id = input::id("document_id", &document)?;
    let from = input::optional("from", params.from.as_deref())?;
    let to = input::optional("to", params.to.as_deref())?;
    let engine = desk.engine("docs diff", About::Document(id)).await?;
    let (from, to) = engine.two_versions(id, from, to).await?;
    let diff = tokio::task::spawn_blocking(move || {
        let (old, new) = (from.version.number, to.version.number);
        let text = TextDiffConfig::default()
            .timeout(DIFF_PATIENCE)
            .diff_lines(from.content.as_str(), to.content.as_str())
            .unified_diff()
            .header(&format!("v{old}"), &format!("v{new}"))
            .to_string();
        Diff { document_id: Text(id), from: old, to: new, diff: text }
    })
    .await
    .map_err(|died| Problem::fault(format!("a diff died: {died}")))?;
    Ok(Json(Success::new(diff)))
}
