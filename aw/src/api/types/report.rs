//! The report of a debate.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{DebateIdText, DocumentIdText, HashText, OutcomeText, QuotedPoint, StateText};

/// `GET /debates/{id}/result?format=json`: how a debate ended, from the record alone.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Report {
    /// The debate.
    pub debate_id: DebateIdText,
    /// Its title.
    pub title: String,
    /// How it ended; `open` while it goes on.
    pub outcome: OutcomeText,
    /// The same in a sentence.
    pub sentence: String,
    /// Its state, which names the role it waits for.
    pub debate_state: StateText,
    /// The opponent's CLAIMs.
    pub rounds: ReportRounds,
    /// Every RULING but the automatic one.
    pub rulings: Vec<ReportRuling>,
    /// The document versions that it covers.
    pub documents: Vec<ReportDocument>,
    /// All points by number; none in a debate without points.
    pub points: Vec<EndedPoint>,
    /// The authors as recorded.
    pub authors: ReportAuthors,
    /// The quotes of all statements.
    pub quotes: ReportQuotes,
    /// The newest argument's hash.
    pub head: HashText,
    /// SHA-256 over the debate's own fields.
    #[schema(required = true)]
    pub seal: Option<HashText>,
    /// A line for commits.
    pub trailer: String,
}

/// How many rounds there were.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ReportRounds {
    /// The opponent's CLAIMs.
    pub used: u64,
    /// How many it may make; null in a debate without points.
    #[schema(required = true)]
    pub limit: Option<u32>,
}

/// A RULING.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ReportRuling {
    /// Its place.
    pub seq: u64,
    /// Its text.
    pub content: String,
    /// Whether it closed the debate.
    pub close: bool,
}

/// A document in the newest version that the proposer or the arbitrator cites.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ReportDocument {
    /// The document.
    pub document_id: DocumentIdText,
    /// The version.
    pub version: u64,
}

/// A point, and how it ended.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct EndedPoint {
    /// The point with its quotes.
    #[serde(flatten)]
    pub point: QuotedPoint,
    /// How it ended, such as `settled in v2`; null while the debate goes on and the point lives.
    #[schema(required = true)]
    pub ended: Option<String>,
}

/// The authors of each role, in the order of their first argument.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ReportAuthors {
    /// The proposer's.
    pub proposer: Vec<ReportAuthor>,
    /// The opponent's.
    pub opponent: Vec<ReportAuthor>,
    /// The arbitrator's.
    pub arbitrator: Vec<ReportAuthor>,
}

/// An author of arguments.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ReportAuthor {
    /// The label that the author gave.
    #[schema(required = true)]
    pub author: Option<String>,
    /// The name of the token, where the server asked for tokens.
    #[schema(required = true)]
    pub seat: Option<String>,
}

/// How many quotes had each result.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ReportQuotes {
    /// Found in what the debate said.
    pub found: u64,
    /// Found in an earlier version only.
    pub outdated: u64,
    /// From outside the record.
    pub unchecked: u64,
}
