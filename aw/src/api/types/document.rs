//! Documents and their versions.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{DocumentIdText, Stamp};

/// `POST /documents` and `POST /documents/{id}/versions`
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct SubmitDocument {
    /// A summary of the document or of the change: 1 to 500 characters on one line.
    #[schema(min_length = 1, max_length = 500)]
    pub summary: String,
    /// A title for the document: 1 to 200 characters on one line. By default the first heading of the
    /// first version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 200)]
    pub title: Option<String>,
    /// The text.
    #[schema(min_length = 1)]
    pub content: String,
    /// A label of who writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 80)]
    pub author: Option<String>,
    /// The author's own data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Map<String, Value>>,
    /// Makes a retry recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = Uuid)]
    pub client_request_id: Option<String>,
}

/// A version of a document without its text.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Version {
    /// The document.
    pub document_id: DocumentIdText,
    /// 1, 2, 3 …
    pub version: u64,
    /// A summary of the change.
    pub summary: String,
    /// The author's label.
    #[schema(required = true)]
    pub author: Option<String>,
    /// The author's own data.
    #[schema(value_type = Object)]
    pub metadata: Map<String, Value>,
    /// When it was kept.
    pub created_at: Stamp,
}

/// The answer to a new document or version.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct KeptVersion {
    /// The version.
    #[serde(flatten)]
    pub version: Version,
    /// Whether an earlier request had stored it.
    pub replayed: bool,
}

/// A document in one version.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Document {
    /// The version.
    #[serde(flatten)]
    pub version: Version,
    /// Its text.
    pub content: String,
    /// The newest version there is.
    pub newest_version: u64,
    /// When the document was deleted.
    #[schema(required = true)]
    pub deleted_at: Option<Stamp>,
}

/// A page of a document's versions, the newest first.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct VersionList {
    /// The document.
    pub document_id: DocumentIdText,
    /// The page.
    pub versions: Vec<Version>,
    /// The total number.
    pub total: u64,
    /// When the document was deleted.
    #[schema(required = true)]
    pub deleted_at: Option<Stamp>,
}

/// A page of documents, the most recently updated first.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct DocumentList {
    /// The page.
    pub documents: Vec<DocumentListed>,
    /// The total number.
    pub total: u64,
    /// Whether `total` is exact.
    pub total_is_exact: bool,
}

/// A document in a list.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct DocumentListed {
    /// The document.
    pub document_id: DocumentIdText,
    /// Its newest version.
    pub version: u64,
    /// That version's summary.
    pub summary: String,
    /// Its title; absent when it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// When that version was kept.
    pub created_at: Stamp,
    /// When the document was deleted.
    #[schema(required = true)]
    pub deleted_at: Option<Stamp>,
}

/// The differences between two versions.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Diff {
    /// The document.
    pub document_id: DocumentIdText,
    /// The older side.
    pub from: u64,
    /// The newer side.
    pub to: u64,
    /// A unified diff. Its lines are the author's words. Empty if the texts are equal.
    pub diff: String,
}
