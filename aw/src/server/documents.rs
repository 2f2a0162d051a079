//! `/documents`: documents and their versions.

use std::time::{Duration, Instant};

use aw_core::{Summary, Title};
use aw_record::{DocumentFilter, NewVersion, pieces};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::IntoParams;

use super::App;
use super::access::Access;
use super::blocking_pool::{COMPARING, DRAWING};
use super::debate_stream;
use super::error::Problem;
use super::input::{self, LongBody, Params, Segment};
use super::json::{self, Items, Json, JsonResult};
use super::openapi::errors::{ReadErrors, WriteErrors};
use super::response_budget::{self, BudgetPermit, SMALL};
use crate::api::types::{
    Deleted, Diff, Document, DocumentList, KeptVersion, SubmitDocument, Success, Text, Version,
    VersionList,
};
use crate::differences::unified;
use crate::policy::Command;

/// The time for a minimal diff. After it, the diff is finished fast: still correct, but longer.
const DIFF_PATIENCE: Duration = Duration::from_secs(1);

/// The most bytes of a version's metadata.
const METADATA_BYTES: usize = 64 * 1024;

type KeepResult = Result<(StatusCode, Json<Success<KeptVersion>>), Problem>;

/// Stores a new document.
#[utoipa::path(
    post,
    path = "/documents",
    operation_id = "create_document",
    request_body = SubmitDocument,
    responses(
        (status = 201, body = Success<KeptVersion>),
        (status = 200, description = "A retry: this request stored the version before", body = Success<KeptVersion>),
        WriteErrors,
    )
)]
pub(super) async fn create(
    access: Access,
    LongBody(body, _permit): LongBody<SubmitDocument>,
) -> KeepResult {
    let request = input::request_id(body.client_request_id.as_deref())?;
    let version = access.app.new_version(body)?;
    kept(&access.create_document(request, version).await?)
}

/// Stores the next version of a document.
#[utoipa::path(
    post,
    path = "/documents/{id}/versions",
    params(("id" = String, Path, format = Uuid)),
    request_body = SubmitDocument,
    responses(
        (status = 201, body = Success<KeptVersion>),
        (status = 200, description = "A retry: this request stored the version before", body = Success<KeptVersion>),
        WriteErrors,
    )
)]
pub(super) async fn add_version(
    access: Access,
    Segment(document): Segment,
    LongBody(body, _permit): LongBody<SubmitDocument>,
) -> KeepResult {
    let document = input::id("document_id", &document)?;
    let request = input::request_id(body.client_request_id.as_deref())?;
    let version = access.app.new_version(body)?;
    kept(&access.add_version(document, request, version).await?)
}

fn kept(kept: &aw_record::KeptVersion) -> KeepResult {
    let status = if kept.replayed { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Json(Success::new(kept.into()))))
}

impl App {
    fn new_version(&self, body: SubmitDocument) -> Result<NewVersion, Problem> {
        // Sorted, so that a retry with its keys in another order is recognised.
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
            title: body
                .title
                .map(Title::parse)
                .transpose()
                .map_err(|bad| Problem::text("title", bad))?,
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
    /// Only documents whose newest summary contains this, or whose id begins with it.
    q: Option<String>,
    /// Only documents that this debate cites.
    #[param(format = Uuid)]
    debate: Option<String>,
    /// Also return deleted documents.
    #[param(value_type = Option<bool>)]
    include_deleted: Option<String>,
    /// The most rows to return; above 500 counts as 500.
    #[param(value_type = Option<u64>, default = 50)]
    limit: Option<String>,
    /// The number of rows to skip.
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
        ReadErrors,
    )
)]
pub(super) async fn list(
    access: Access,
    Params(params): Params<ListParams>,
) -> JsonResult<DocumentList> {
    let filter = DocumentFilter {
        of_debate: input::optional_id("debate", params.debate.as_deref())?,
        search: input::search(params.q)?,
        include_deleted: input::flag("include_deleted", params.include_deleted.as_deref())?,
        limit: input::limit(params.limit.as_deref(), 50)?,
        offset: input::offset(params.offset.as_deref())?,
        seen_by: None,
    };
    let list = access.list_documents(filter).await?;
    Ok(Json(Success::new((&list).into())))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ReadParams {
    /// The version; absent for the newest.
    #[param(value_type = Option<u64>)]
    version: Option<String>,
    /// Also return a deleted document.
    #[param(value_type = Option<bool>)]
    include_deleted: Option<String>,
}

/// Returns one version of a document.
#[utoipa::path(
    get,
    path = "/documents/{id}",
    operation_id = "get_document",
    params(("id" = String, Path, format = Uuid), ReadParams),
    responses(
        (status = 200, body = Success<Document>),
        ReadErrors,
    )
)]
pub(super) async fn read(
    access: Access,
    Segment(document): Segment,
    Params(params): Params<ReadParams>,
) -> Result<Response, Problem> {
    let id = input::id("document_id", &document)?;
    let version = input::optional("version", params.version.as_deref())?;
    let include_deleted = input::flag("include_deleted", params.include_deleted.as_deref())?;
    let document = access.document(Command::DocsGet, id).await?;
    let size = document.size(version, include_deleted).await?;
    if size <= SMALL as u64 {
        let document = document.read(version, include_deleted).await?;
        return Ok(Json(Success::new(Document::from(document))).into_response());
    }
    let permit = access.take_for_stream(usize::try_from(size).unwrap_or(usize::MAX))?;
    let (document, text) = document.in_pieces(version, include_deleted).await?;
    long_text(permit, &Success::new(Document::from(document)), "\"content\":\"", text)
}

/// A response with one long text, which is sent piece by piece.
fn long_text(
    permit: BudgetPermit,
    whole: &impl Serialize,
    gap: &str,
    text: Vec<String>,
) -> Result<Response, Problem> {
    let [head, end] = json::around(whole, &[gap])?;
    Ok(debate_stream::as_json(response_budget::stream(permit, |out| async move {
        out.send(head).await?;
        for piece in text {
            out.send(DRAWING.run(move || json::quoted(&piece)).await??).await?;
        }
        out.send(end).await
    })))
}

/// Deletes a document: it is hidden for good.
#[utoipa::path(
    delete,
    path = "/documents/{id}",
    operation_id = "delete_document",
    params(("id" = String, Path, format = Uuid)),
    responses(
        (status = 200, body = Success<Deleted>),
        WriteErrors,
    )
)]
pub(super) async fn delete(access: Access, Segment(document): Segment) -> JsonResult<Deleted> {
    let id = input::id("document_id", &document)?;
    access.delete_document(id).await?;
    Ok(Json(Success::new(Deleted { deleted: true })))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct VersionParams {
    /// Also return the versions of a deleted document.
    #[param(value_type = Option<bool>)]
    include_deleted: Option<String>,
    /// The most rows to return; above 500 counts as 500.
    #[param(value_type = Option<u64>, default = 100)]
    limit: Option<String>,
    /// The number of rows to skip.
    #[param(value_type = Option<u64>, default = 0)]
    offset: Option<String>,
}

/// Lists the versions of a document, the newest first, without their texts.
#[utoipa::path(
    get,
    path = "/documents/{id}/versions",
    operation_id = "list_versions",
    params(("id" = String, Path, format = Uuid), VersionParams),
    responses(
        (status = 200, body = Success<VersionList>),
        ReadErrors,
    )
)]
pub(super) async fn versions(
    access: Access,
    Segment(document): Segment,
    Params(params): Params<VersionParams>,
) -> Result<Response, Problem> {
    let id = input::id("document_id", &document)?;
    let include_deleted = input::flag("include_deleted", params.include_deleted.as_deref())?;
    let limit = input::limit(params.limit.as_deref(), 100)?;
    let offset = input::offset(params.offset.as_deref())?;
    let document = access.document(Command::DocsHistory, id).await?;
    let first = document.versions(include_deleted, limit, offset).await?;
    let last = offset.saturating_add(limit).min(first.total);
    let mut next = offset + first.versions.len() as u64;
    let mut whole = Success::new(VersionList::of(id, &first));
    if next >= last {
        return Ok(Json(whole).into_response());
    }
    // The metadata of many versions is long.
    let permit = access.take_for_stream(0)?;
    let mut piece = std::mem::take(&mut whole.data.versions);
    let [head, end] = json::around(&whole, &["\"versions\":["])?;
    Ok(debate_stream::as_json(response_budget::stream(permit, move |out| async move {
        out.send(head).await?;
        let mut items = Items::default();
        while !piece.is_empty() {
            out.send(items.write(&piece)?).await?;
            let more = document.versions(include_deleted, last.saturating_sub(next), next).await?;
            next += more.versions.len() as u64;
            piece = more.versions.iter().map(|listed| Version::of(id, listed)).collect();
        }
        out.send(end).await
    })))
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

/// Compares two versions, as a unified diff.
#[utoipa::path(
    get,
    path = "/documents/{id}/diff",
    operation_id = "diff_versions",
    params(("id" = String, Path, format = Uuid), DiffParams),
    responses(
        (status = 200, body = Success<Diff>),
        ReadErrors,
    )
)]
pub(super) async fn diff(
    access: Access,
    Segment(document): Segment,
    Params(params): Params<DiffParams>,
) -> Result<Response, Problem> {
    let id = input::id("document_id", &document)?;
    let from = input::optional("from", params.from.as_deref())?;
    let to = input::optional("to", params.to.as_deref())?;
    let document = access.document(Command::DocsDiff, id).await?;
    let slot = COMPARING.take().await;
    let (from, to) = document.two_versions(from, to).await?;
    let (old, new) = (from.version.number, to.version.number);
    let compare = move || {
        let (old, new) = (format!("v{old}"), format!("v{new}"));
        let deadline = Instant::now() + DIFF_PATIENCE;
        pieces(&unified((&old, from.content.as_str()), (&new, to.content.as_str()), deadline))
    };
    let text = slot.run(compare).await?;
    let mut diff = Diff { document_id: Text(id), from: old, to: new, diff: String::new() };
    if text.len() <= 1 {
        diff.diff = text.concat();
        return Ok(Json(Success::new(diff)).into_response());
    }
    let permit = access.take_for_stream(text.iter().map(String::len).sum())?;
    long_text(permit, &Success::new(diff), "\"diff\":\"", text)
}
