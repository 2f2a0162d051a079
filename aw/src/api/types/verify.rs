//! The results of verifying the record.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{DebateIdText, DocumentIdText, HashText, Stamp, StateText};

/// `GET /debates/{id}/verify`: a debate that is as it was written. Any other is `RECORD_DAMAGED`.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct VerifiedDebate {
    /// Always true.
    pub ok: bool,
    /// The debate.
    pub debate_id: DebateIdText,
    /// How many arguments it has.
    pub arguments: u64,
    /// The hash of its MOTION.
    pub first_hash: HashText,
    /// The hash of its newest argument, which covers all of them. Kept elsewhere, it also reveals a
    /// rewritten debate.
    pub head_hash: HashText,
    /// The seal over its title, type, policy, date and rules.
    pub seal: HashText,
    /// Its tombstone, if it was purged; then it has no arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tombstone: Option<Tombstone>,
}

/// The remains of a purged debate.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Tombstone {
    /// When its texts were removed.
    pub purged_at: Stamp,
    /// How many arguments it had.
    pub arguments: u64,
    /// The hash of its newest argument.
    pub head_hash: HashText,
    /// SHA-256 over the debate's seal and the fields above.
    pub seal: HashText,
}

/// `GET /debates/{id}/purge`: what a purge would remove.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct PurgePreview {
    /// The debate.
    pub debate_id: DebateIdText,
    /// Its title; empty if it was purged before.
    pub title: String,
    /// Its state.
    pub debate_state: StateText,
    /// When it was deleted.
    #[schema(required = true)]
    pub deleted_at: Option<Stamp>,
    /// How many arguments it has.
    pub arguments: u64,
    /// How many bytes of text they have.
    pub bytes: u64,
    /// How many documents it cites.
    pub documents: u64,
    /// Those of them that no other debate cites.
    pub only_here: Vec<DocumentIdText>,
    /// Its tombstone, if it was purged before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tombstone: Option<Tombstone>,
}

/// `POST /debates/{id}/purge`
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct PurgeDebate {
    /// Must be true: the texts cannot be restored.
    pub confirm: bool,
    /// Whether to remove the documents too that no other debate cites.
    #[serde(default)]
    pub documents: bool,
}

/// A purged debate.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Purged {
    /// Always true.
    pub purged: bool,
    /// Its tombstone.
    pub tombstone: Tombstone,
    /// Whether no byte of the texts is left in the files of the record. False on PostgreSQL, which
    /// removes them in its own time.
    pub scrubbed: bool,
}

/// `GET /verify`: a piece of the whole record, deleted debates and documents included.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct VerifiedPiece {
    /// The number of debates that were checked.
    pub verified_debates: u64,
    /// The number of their arguments that are as they were written.
    pub verified_arguments: u64,
    /// The number of documents that were checked.
    pub verified_documents: u64,
    /// The number of their versions that are as they were stored.
    pub verified_versions: u64,
    /// The first damage of each debate and document.
    pub damaged: Vec<Damaged>,
    /// How many debates and documents are left to check.
    pub left: u64,
    /// The `after` of the next piece, unless this was the last.
    #[schema(required = true)]
    pub next: Option<String>,
}

/// Something that is not as it was written.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Damaged {
    /// In this debate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debate_id: Option<DebateIdText>,
    /// The first bad argument.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// In this document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document_id: Option<DocumentIdText>,
    /// The first bad version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// The damage.
    pub what: String,
}
