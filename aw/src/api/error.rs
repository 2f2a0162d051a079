//! Errors: their JSON, and for each code its HTTP status and the exit code of a command.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use super::types::{
    ArgumentIdText, Candidate, DebateIdText, DocumentIdText, Flaw, LastArgument, PointAdvice,
    PointIdText, RoleText, Stamp, StateText,
};

/// The envelope of every failure.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Failure {
    /// Always false.
    #[schema(default = false)]
    pub success: bool,
    /// The error.
    pub error: Error,
}

/// An error and the next step after it.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub struct Error {
    /// Tells programs what happened.
    pub code: Code,
    /// Tells people what happened.
    pub message: String,
    /// The next step.
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
    /// `INVALID_INPUT` in a debate with points: everything that is wrong with the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flaws: Option<Vec<Flaw>>,
    /// `ACTION_NOT_ALLOWED` in a debate with points: the points that block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<Vec<PointIdText>>,
    /// `ACTION_NOT_ALLOWED` in a debate with points: what to do instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<PointAdvice>,
    /// `INVALID_INPUT`, a name that fits several: what it may mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidates: Option<Vec<Candidate>>,
    /// The one that was not found, or is damaged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debate_id: Option<DebateIdText>,
    /// `RECORD_DAMAGED`: the first bad one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The one that was not found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argument_id: Option<ArgumentIdText>,
    /// The one that was not found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point_id: Option<String>,
    /// The one that was not found, or is damaged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document_id: Option<DocumentIdText>,
    /// The one that was not found, or the first bad one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// When it was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Stamp>,
    /// `SERVER_ERROR`: finds it in the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// The kind of a failure. A code that this version does not know is kept as it came.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Code {
    /// The request is wrong: correct it and try again.
    InvalidInput,
    /// The text has too many bytes.
    ContentTooLarge,
    /// The body is not JSON.
    UnsupportedMediaType,
    /// The token is missing or not valid.
    AuthFailed,
    /// The caller may not do this.
    Forbidden,
    /// The rules do not allow this move now, or not to this role.
    ActionNotAllowed,
    /// No such debate.
    DebateNotFound,
    /// No such argument.
    ArgumentNotFound,
    /// No such document.
    DocumentNotFound,
    /// No such version.
    VersionNotFound,
    /// No such point.
    PointNotFound,
    /// No such path.
    RouteNotFound,
    /// The path does not take this method.
    MethodNotAllowed,
    /// The server is busy: try again soon.
    ServerBusy,
    /// The disk is full.
    StorageFull,
    /// The record contradicts itself.
    RecordDamaged,
    /// The server failed.
    #[default]
    ServerError,
    /// A client could not reach the server. No server sends it.
    ConnectionError,
    /// A client could not read a file. No server sends it.
    FileNotFound,
    /// A run knows no such agent, or its program is not installed. No server sends it.
    AgentNotFound,
    /// There is no run to resume. No server sends it.
    RunNotFound,
    /// A run needs a RULING that nobody gives, or a budget is used up. No server sends it.
    Undecided,
    /// An agent of a run has failed. No server sends it.
    AgentFailed,
    /// A run was stopped by its user. No server sends it.
    Interrupted,
    /// A code of a newer server.
    Unknown(String),
}

/// The exit code of a command when something was not found.
const NOT_FOUND: u8 = 2;
/// The exit code when the server, or the way to it, failed.
pub const SERVER: u8 = 3;
/// The exit code when the input cannot be used.
pub const INPUT: u8 = 4;
/// The exit code when the rules do not allow it now.
const NOT_NOW: u8 = 5;
/// The exit code when the caller may not do it.
const NOT_ALLOWED: u8 = 6;
/// The exit code of a run that ended without a decision.
const UNDECIDED: u8 = 7;
/// The exit code of a run whose agent failed.
const AGENT_FAILED: u8 = 8;
/// The exit code of a run that was stopped by its user, as shells have it.
const INTERRUPTED: u8 = 130;

/// Every code: its word, its HTTP status (none where no server sends it), its exit code.
const TABLE: [(Code, &str, Option<u16>, u8); 24] = [
    (Code::InvalidInput, "INVALID_INPUT", Some(400), INPUT),
    (Code::ContentTooLarge, "CONTENT_TOO_LARGE", Some(413), INPUT),
    (Code::UnsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE", Some(415), INPUT),
    (Code::AuthFailed, "AUTH_FAILED", Some(401), NOT_ALLOWED),
    (Code::Forbidden, "FORBIDDEN", Some(403), NOT_ALLOWED),
    (Code::ActionNotAllowed, "ACTION_NOT_ALLOWED", Some(403), NOT_NOW),
    (Code::DebateNotFound, "DEBATE_NOT_FOUND", Some(404), NOT_FOUND),
    (Code::ArgumentNotFound, "ARGUMENT_NOT_FOUND", Some(404), NOT_FOUND),
    (Code::DocumentNotFound, "DOCUMENT_NOT_FOUND", Some(404), NOT_FOUND),
    (Code::VersionNotFound, "VERSION_NOT_FOUND", Some(404), NOT_FOUND),
    (Code::PointNotFound, "POINT_NOT_FOUND", Some(404), NOT_FOUND),
    (Code::RouteNotFound, "ROUTE_NOT_FOUND", Some(404), SERVER),
    (Code::MethodNotAllowed, "METHOD_NOT_ALLOWED", Some(405), SERVER),
    (Code::ServerBusy, "SERVER_BUSY", Some(503), SERVER),
    (Code::StorageFull, "STORAGE_FULL", Some(507), SERVER),
    (Code::RecordDamaged, "RECORD_DAMAGED", Some(500), SERVER),
    (Code::ServerError, "SERVER_ERROR", Some(500), SERVER),
    (Code::ConnectionError, "CONNECTION_ERROR", None, SERVER),
    (Code::FileNotFound, "FILE_NOT_FOUND", None, INPUT),
    (Code::AgentNotFound, "AGENT_NOT_FOUND", None, NOT_FOUND),
    (Code::RunNotFound, "RUN_NOT_FOUND", None, NOT_FOUND),
    (Code::Undecided, "UNDECIDED", None, UNDECIDED),
    (Code::AgentFailed, "AGENT_FAILED", None, AGENT_FAILED),
    (Code::Interrupted, "INTERRUPTED", None, INTERRUPTED),
];

impl Code {
    fn row(&self) -> Option<&'static (Code, &'static str, Option<u16>, u8)> {
        TABLE.iter().find(|(code, ..)| code == self)
    }

    /// The code as it is written.
    pub fn as_str(&self) -> &str {
        match (self, self.row()) {
            (Code::Unknown(word), _) => word,
            (_, Some((_, word, ..))) => word,
            (_, None) => "SERVER_ERROR",
        }
    }

    /// The HTTP status with which a server sends it.
    pub fn status(&self) -> u16 {
        self.row().and_then(|(_, _, status, _)| *status).unwrap_or(500)
    }

    /// The exit code of a command that fails with it.
    pub fn exit(&self) -> u8 {
        self.row().map_or(SERVER, |(.., exit)| *exit)
    }

    /// Whether the same call may succeed later: the server is unreachable or busy.
    pub fn is_passing(&self) -> bool {
        matches!(self, Code::ConnectionError | Code::ServerBusy)
    }
}

impl From<&str> for Code {
    fn from(word: &str) -> Self {
        let row = TABLE.iter().find(|(_, known, ..)| *known == word);
        row.map_or_else(|| Code::Unknown(word.to_owned()), |(code, ..)| code.clone())
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|word| Code::from(word.as_str()))
    }
}

impl PartialSchema for Code {
    fn schema() -> RefOr<Schema> {
        let sent = TABLE.iter().filter(|(_, _, status, _)| status.is_some());
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("Every error code."))
            .enum_values(Some(sent.map(|(_, word, ..)| *word)))
            .into()
    }
}

impl ToSchema for Code {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_of_a_newer_server_is_kept_as_it_came() {
        let error: Error =
            serde_json::from_str(r#"{"code": "OUT_OF_INK", "message": "no ink"}"#).unwrap();
        assert_eq!(error.code, Code::Unknown("OUT_OF_INK".to_owned()));
        assert_eq!((error.code.to_string().as_str(), error.code.exit()), ("OUT_OF_INK", SERVER));
        assert_eq!(serde_json::to_value(&error).unwrap()["code"], "OUT_OF_INK");
    }

    #[test]
    fn every_known_code_is_read_as_it_is_written() {
        for (code, word, ..) in &TABLE {
            assert_eq!(Code::from(*word), *code);
            assert_eq!(code.as_str(), *word);
        }
    }
}
