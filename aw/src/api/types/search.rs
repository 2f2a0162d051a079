//! A search of the whole record.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{ArgumentIdText, DebateIdText, DocumentIdText, KindText, RoleText, Stamp};

/// A page of hits: those found by an id first, then those found by words, the newest first.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct SearchPage {
    /// The page.
    pub hits: Vec<SearchHit>,
    /// The `before` of the next page, when more may follow.
    #[schema(required = true)]
    pub next_before: Option<String>,
    /// Whether everything that was written before the search was searched. It is false for some seconds
    /// after very many writes.
    pub is_complete: bool,
}

/// A text that a search found. Fields that do not belong to its kind are null.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct SearchHit {
    /// Its kind.
    pub kind: HitKind,
    /// The debate of a title or an argument.
    #[schema(required = true)]
    pub debate_id: Option<DebateIdText>,
    /// The title of that debate.
    #[schema(required = true)]
    pub debate_title: Option<String>,
    /// The argument.
    #[schema(required = true)]
    pub argument_id: Option<ArgumentIdText>,
    /// Its place in its debate.
    #[schema(required = true)]
    pub seq: Option<u64>,
    /// Its type.
    #[serde(rename = "type")]
    #[schema(required = true)]
    pub argument_type: Option<KindText>,
    /// The role that wrote it.
    #[schema(required = true)]
    pub role: Option<RoleText>,
    /// The document.
    #[schema(required = true)]
    pub document_id: Option<DocumentIdText>,
    /// Its newest version.
    #[schema(required = true)]
    pub version: Option<u64>,
    /// The summary of that version.
    #[schema(required = true)]
    pub summary: Option<String>,
    /// A label of who wrote it.
    #[schema(required = true)]
    pub author: Option<String>,
    /// When it was written.
    pub created_at: Stamp,
    /// A piece of the text on one line, in parts: joined they are the piece.
    pub snippet: Vec<SnippetPart>,
}

/// The kind of a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum HitKind {
    /// The title of a debate.
    Title,
    /// An argument.
    Argument,
    /// The newest version of a document.
    Document,
}

/// A part of a snippet.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct SnippetPart {
    /// The text.
    pub text: String,
    /// Whether it is a word that was searched for.
    pub is_match: bool,
}
