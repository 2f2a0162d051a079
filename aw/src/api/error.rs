//! What a failure looks like.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::types::{
    ArgumentIdText, DebateIdText, DocumentIdText, LastArgument, RoleText, Stamp, StateText,
};

/// What every failure looks like.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Failure {
    /// Always false.
    #[schema(default = false)]
    pub success: bool,
    /// What went wrong.
    pub error: Error,
}

/// What went wrong, and what to do next.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub struct Error {
    /// Tells programs what happened.
    pub code: Code,
    /// Tells people what happened.
    pub message: String,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// `INVALID_INPUT`: where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// `CONTENT_TOO_LARGE`: the limit in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u64>,
    /// `FORBIDDEN`: `host`, `origin` or `role`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// `ACTION_NOT_ALLOWED`: the state that refused it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_state: Option<StateText>,
    /// `ACTION_NOT_ALLOWED`: whose move it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_roles: Option<Vec<RoleText>>,
    /// `ACTION_NOT_ALLOWED`: the newest argument.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_argument: Option<LastArgument>,
    /// What was not found, or is damaged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debate_id: Option<DebateIdText>,
    /// `RECORD_DAMAGED`: the first bad one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// What was not found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argument_id: Option<ArgumentIdText>,
    /// What was not found, or is damaged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document_id: Option<DocumentIdText>,
    /// What was not found, or the first bad one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// When it was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Stamp>,
    /// `SERVER_ERROR`: finds it in the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// Every error code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Code {
    /// Fix it and try again.
    InvalidInput,
    /// Too many bytes.
    ContentTooLarge,
    /// Not JSON.
    UnsupportedMediaType,
    /// No token, or the wrong one.
    AuthFailed,
    /// Not from here.
    Forbidden,
    /// Not now, or not by this role.
    ActionNotAllowed,
    /// No such debate.
    DebateNotFound,
    /// No such argument.
    ArgumentNotFound,
    /// No such document.
    DocumentNotFound,
    /// No such version.
    VersionNotFound,
    /// No such path.
    RouteNotFound,
    /// Not by this method.
    MethodNotAllowed,
    /// Try again soon.
    ServerBusy,
    /// The disk is full.
    StorageFull,
    /// The record contradicts itself.
    RecordDamaged,
    /// Our fault.
    #[default]
    ServerError,
}
