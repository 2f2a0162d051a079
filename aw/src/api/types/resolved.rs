//! What a caller's names mean.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{ArgumentIdText, DebateIdText, DocumentIdText, KindText, RoleText, StateText};

/// `GET /resolve`: what each name means. A name that the request lacks is absent.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub struct Resolved {
    /// The debate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub debate: Option<ResolvedDebate>,
    /// The argument.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument: Option<ResolvedArgument>,
    /// The document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<ResolvedDocument>,
}

/// A debate that fits a name.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ResolvedDebate {
    /// Its id.
    pub debate_id: DebateIdText,
    /// Its short name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slug: Option<String>,
    /// Its title.
    pub title: String,
    /// Its state.
    pub state: StateText,
}

/// An argument that fits a name.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ResolvedArgument {
    /// Its id.
    pub argument_id: ArgumentIdText,
    /// Its place.
    pub seq: u64,
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: KindText,
    /// Whose it is.
    pub role: RoleText,
}

/// A document that fits a name.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ResolvedDocument {
    /// Its id.
    pub document_id: DocumentIdText,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The summary of its newest version.
    pub summary: String,
}

/// One of several meanings of a name.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Candidate {
    /// Its id.
    pub id: String,
    /// A slug or number, and a title or kind.
    pub name: String,
}
