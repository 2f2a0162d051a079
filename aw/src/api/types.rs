//! Requests, answers and events: the JSON shapes of the API.
//!
//! These shapes are promised to clients in the wild: fields may be added, none may change meaning.
//! The core's types are free to change; `server/to_api.rs` maps them.

mod document;
mod live;
mod notification;
mod points;
mod project;
mod report;
mod resolved;
mod search;
mod seat;
mod text;
mod verify;

use aw_core::Role;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use document::{
    Diff, Document, DocumentList, DocumentListed, KeptVersion, SubmitDocument, Version, VersionList,
};
pub use live::{ArgumentEvent, ClientEvent, DebateEvent, ServerEvent};
pub use notification::{Happening, Notification};
pub use points::{
    AgreedVersion, AskedPoints, AskedSettings, CheckMove, Checked, Flaw, Ledger, Nearest, OnePoint,
    Point, PointAdvice, PointList, PointSettings, PointTurn, Points, Quote, QuotedPoint, Rounds,
    Statement,
};
pub use project::{Project, ProjectList};
pub use report::{
    EndedPoint, Report, ReportAuthor, ReportAuthors, ReportDocument, ReportQuotes, ReportRounds,
    ReportRuling,
};
pub use resolved::{Candidate, Resolved, ResolvedArgument, ResolvedDebate, ResolvedDocument};
pub use search::{HitKind, SearchHit, SearchPage, SnippetPart};
pub use seat::{CreateLink, CreateToken, Link, NewToken, Seat, TokenList};
pub use text::{
    ActionText, ArgumentIdText, AvailableText, CourseText, DebateIdText, DocumentIdText, HashText,
    HeldText, KindText, OutcomeText, PointIdText, PointStateText, QuoteCheckText, RequestIdText,
    ResolutionPolicyText, RoleText, SeverityText, Stamp, StateText, StatementWordText, Text,
    ViaText, Word,
};
pub use verify::{
    Damaged, PurgeDebate, PurgePreview, Purged, Tombstone, VerifiedDebate, VerifiedPiece,
};

/// The envelope of every success.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Success<T> {
    /// Always true.
    #[schema(default = true)]
    pub success: bool,
    /// The answer.
    pub data: T,
}

impl<T> Success<T> {
    /// Wraps an answer.
    pub fn new(data: T) -> Self {
        Success { success: true, data }
    }
}

/// A debate without its arguments.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Debate {
    /// Its name.
    pub id: DebateIdText,
    /// Its title.
    pub title: String,
    /// Its type.
    pub debate_type: String,
    /// Its state, which names the role it waits for.
    pub state: StateText,
    /// The approver of a RESOLUTION.
    pub resolution_policy: ResolutionPolicyText,
    /// When it was opened.
    pub created_at: Stamp,
    /// When its newest argument was written.
    pub updated_at: Stamp,
    /// How it ended; absent while it goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<OutcomeText>,
    /// The settings of its points; absent in a debate without points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<PointSettings>,
    /// Its short name, made from its title: in lists, and when it was just opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slug: Option<String>,
    /// The repository in which it was opened: in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Project>,
    /// When it was archived: in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived_at: Option<Stamp>,
    /// True in lists when it is open and nobody has made a move for 14 days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abandoned: Option<bool>,
}

/// An argument, whole.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Argument {
    /// Its name.
    pub id: ArgumentIdText,
    /// The debate it belongs to.
    pub debate_id: DebateIdText,
    /// The argument that it answers.
    #[schema(required = true)]
    pub parent_id: Option<ArgumentIdText>,
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: KindText,
    /// Whose it is.
    pub role: RoleText,
    /// The author's label.
    #[schema(required = true)]
    pub author: Option<String>,
    /// Its text.
    pub content: String,
    /// The request that wrote it.
    pub client_request_id: RequestIdText,
    /// Its place.
    pub seq: u64,
    /// Whether it was recorded without changing the state.
    pub parked: bool,
    /// Of a RULING: whether it closed the debate.
    #[schema(required = true)]
    pub close: Option<bool>,
    /// Whether the server made it.
    pub automatic: bool,
    /// The interface through which it was submitted: `page` by a person, the others mostly by
    /// programs.
    pub via: ViaText,
    /// The name of the token that wrote it, if the server requires tokens.
    #[serde(default)]
    #[schema(required = true)]
    pub seat: Option<String>,
    /// SHA-256 over its fields and its predecessor's hash.
    pub hash: HashText,
    /// When it was written.
    pub created_at: Stamp,
}

/// The newest argument of a debate, without its text.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct LastArgument {
    /// Its name.
    pub id: ArgumentIdText,
    /// Its place.
    pub seq: u64,
    /// Whose it is.
    pub role: RoleText,
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: KindText,
    /// Whether it was recorded without changing the state.
    pub parked: bool,
    /// The author's label.
    #[schema(required = true)]
    pub author: Option<String>,
    /// When it was written.
    pub created_at: Stamp,
}

/// Each role's presence in a debate: whether it waits, its work, and when it was last seen there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Presence {
    /// The proposer.
    pub proposer: Sign,
    /// The opponent.
    pub opponent: Sign,
    /// The arbitrator.
    pub arbitrator: Sign,
}

/// The presence of a role since the server's start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Sign {
    /// Whether a wait is held now, or there was a poll in the last five seconds.
    pub waiting: bool,
    /// When it last waited, polled, wrote or set its label.
    #[schema(required = true)]
    pub last_seen_at: Option<Stamp>,
    /// Its current work; absent when it has set no label in the last minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub working: Option<Working>,
}

/// The current work of a role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Working {
    /// In its own words.
    pub label: String,
    /// Since when it has had a label without a break.
    pub since: Stamp,
}

/// `PUT /debates/{id}/presence`
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct SetPresence {
    /// `proposer`, `opponent` or `arbitrator`.
    #[schema(pattern = "^(proposer|opponent|arbitrator)$")]
    pub role: String,
    /// The role's current work, on one line. It lasts for a minute. Null or absent clears it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 80)]
    pub label: Option<String>,
}

/// `PUT /debates/{id}/seen`
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct SetSeen {
    /// The newest argument that the caller has seen. A smaller number than before changes nothing, and a
    /// greater one than the newest counts as the newest.
    pub seq: u64,
}

/// The newest argument of a debate that the caller has seen.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct SeenSet {
    /// The newest argument seen, 0 for none; null for a caller without a token, whose marks the server
    /// does not keep.
    #[schema(required = true)]
    pub seen: Option<u64>,
}

/// The presence in a debate after a change of it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct PresenceSet {
    /// The presence of each role.
    pub presence: Presence,
}

/// Whether the server can do its work. A program that only claims to be a server may send fewer
/// fields.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Health {
    /// `ok`.
    pub status: String,
    /// The server's version.
    #[serde(default)]
    #[schema(required = true)]
    pub version: String,
    /// Tells the servers of different data folders apart.
    pub home_id: String,
    /// Waits that are held now.
    #[serde(default)]
    #[schema(required = true)]
    pub held_waits: u64,
    /// Sockets that are open now.
    #[serde(default)]
    #[schema(required = true)]
    pub open_sockets: u64,
    /// Where the record is kept: `sqlite` or `postgres`.
    #[serde(default)]
    #[schema(required = true)]
    pub database: String,
    /// Whether notices from other servers on the same record arrive, if there may be other servers.
    /// Without them waits are answered late.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hears_others: Option<bool>,
}

/// `POST /debates`
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct CreateDebate {
    /// A UUID of the client's choice.
    #[schema(format = Uuid)]
    pub debate_id: String,
    /// 1 to 200 characters on one line.
    #[schema(min_length = 1, max_length = 200)]
    pub title: String,
    /// `coding_plan_debate`, `general_debate` or a type of the user's own.
    #[schema(pattern = "^[a-z][a-z0-9_]{0,63}$")]
    pub debate_type: String,
    /// The text of the MOTION.
    #[schema(min_length = 1)]
    pub motion_content: String,
    /// Makes a retry recognisable.
    #[schema(format = Uuid)]
    pub client_request_id: String,
    /// The rules of the roles, unless the type is built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub type_texts: Option<TypeTexts>,
    /// `auto` (default) or `arbitrator`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<ResolutionPolicyText>)]
    pub resolution_policy: Option<String>,
    /// Whether the debate keeps points, and their settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<AskedPoints>,
    /// The repository in which the debate is opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Project>,
    /// A label of who writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 80)]
    pub author: Option<String>,
}

/// The texts of a type: at most 64 kB of rules, stored with the debate.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct TypeTexts {
    /// The title of the type.
    #[schema(min_length = 1, max_length = 200)]
    pub title: String,
    /// Its purpose.
    #[schema(min_length = 1, max_length = 500)]
    pub description: String,
    /// The proposer's rules.
    #[schema(min_length = 1)]
    pub proposer: String,
    /// The opponent's rules.
    #[schema(min_length = 1)]
    pub opponent: String,
    /// The arbitrator's rules.
    #[schema(min_length = 1)]
    pub arbitrator: String,
}

impl TypeTexts {
    /// The rules of this role.
    pub fn of(&self, role: Role) -> &str {
        match role {
            Role::Proposer => &self.proposer,
            Role::Opponent => &self.opponent,
            Role::Arbitrator => &self.arbitrator,
        }
    }
}

/// Where the rules of a debate come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RulesOrigin {
    /// The type is built in, and so are its rules.
    BuiltIn,
    /// The creator of the debate sent them.
    Creator,
    /// The type is not built in, and its creator sent no rules. An unknown word of a newer server
    /// counts as this one.
    #[default]
    #[serde(other)]
    Unknown,
}

/// `GET /debates/{id}/type`
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct TypeOfDebate {
    /// Its type.
    pub debate_type: String,
    /// Where its rules come from.
    pub rules_origin: RulesOrigin,
    /// Whether it has the name of a built-in type, but not the built-in rules.
    pub replaces_built_in: bool,
    /// The texts that were stored with it; none if the built-in ones apply.
    #[schema(required = true)]
    pub type_texts: Option<TypeTexts>,
}

/// `POST /debates/{id}/arguments`
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct SubmitClaim {
    /// `proposer` or `opponent`.
    #[schema(pattern = "^(proposer|opponent)$")]
    pub role: String,
    /// The argument that is answered.
    #[schema(format = Uuid)]
    pub target_id: String,
    /// The text.
    #[schema(min_length = 1)]
    pub content: String,
    /// Makes a retry recognisable.
    #[schema(format = Uuid)]
    pub client_request_id: String,
    /// A label of who writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 80)]
    pub author: Option<String>,
}

/// `POST /debates/{id}/appeal` and `POST /debates/{id}/resolution`
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct SubmitRequest {
    /// The argument in dispute, or the last one.
    #[schema(format = Uuid)]
    pub target_id: String,
    /// The text.
    #[schema(min_length = 1)]
    pub content: String,
    /// Makes a retry recognisable.
    #[schema(format = Uuid)]
    pub client_request_id: String,
    /// A label of who writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 80)]
    pub author: Option<String>,
}

/// `POST /debates/{id}/ruling`
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct SubmitRuling {
    /// The text.
    #[schema(min_length = 1)]
    pub content: String,
    /// Whether it closes the debate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub close: Option<bool>,
    /// The argument to rule on; by default the pending one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = Uuid)]
    pub target_id: Option<String>,
    /// Makes a retry recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = Uuid)]
    pub client_request_id: Option<String>,
    /// A label of who writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 80)]
    pub author: Option<String>,
}

/// `POST /debates/{id}/intervention`
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub struct SubmitIntervention {
    /// Why; may be empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Makes a retry recognisable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = Uuid)]
    pub client_request_id: Option<String>,
    /// A label of who writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 80)]
    pub author: Option<String>,
}

/// The answer to everything that is written into a debate.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Written {
    /// The debate as it is now.
    pub debate: Debate,
    /// The argument that the request wrote, now or when it was first sent.
    pub argument: Argument,
    /// Whether it had been written before.
    pub replayed: bool,
    /// The arguments of others between the target and this one.
    pub missed: Vec<Argument>,
    /// The role's next action. A server of the older system leaves it out.
    #[schema(value_type = ActionText, required = true)]
    pub action: Option<ActionText>,
    /// The argument to wait on next.
    pub next_argument_id_to_wait: ArgumentIdText,
    /// A remark for the author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The argument's statements, in a debate with points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statements: Option<Vec<Statement>>,
    /// A RESOLUTION in a debate with points: why it waits for the arbitrator, null when it closed.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "points::present"
    )]
    #[schema(value_type = Option<HeldText>)]
    pub held: Option<Option<HeldText>>,
    /// The points as they are now.
    #[serde(flatten)]
    pub points: Points,
}

/// The answer to a wait.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum Poll {
    /// There is something to do or to read.
    News(Box<News>),
    /// Nothing yet.
    Nothing(Nothing),
}

/// There is something to do or to read.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct News {
    /// Always true.
    pub has_new_argument: bool,
    /// The role's next action.
    pub action: ActionText,
    /// The state of the debate, which names the role it waits for.
    pub debate_state: StateText,
    /// The newest of `arguments`; when there are none, the newest of the others.
    pub argument: Argument,
    /// The arguments that the role has not seen: at most the newest 20, and every RULING.
    pub arguments: Vec<Argument>,
    /// How many more the role has not seen.
    pub omitted: u64,
    /// The argument to wait on next.
    pub next_argument_id_to_wait: ArgumentIdText,
    /// The argument that awaits a RULING.
    #[schema(required = true)]
    pub pending_argument_id: Option<ArgumentIdText>,
    /// The moves that the role may make now.
    pub available_actions: Vec<AvailableText>,
    /// How the debate ended; absent while it goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<OutcomeText>,
    /// For the arbitrator: why the RESOLUTION that is pending waits for a RULING.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<HeldText>,
    /// The points as they are now.
    #[serde(flatten)]
    pub points: Points,
}

/// There is no news. A server of the older system leaves the optional fields out.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Nothing {
    /// Always false.
    pub has_new_argument: bool,
    /// The debate.
    pub debate_id: DebateIdText,
    /// Its state, which names the role it waits for.
    #[schema(value_type = StateText, required = true)]
    pub debate_state: Option<StateText>,
    /// The position of the argument that was named, or 0.
    pub last_seen_seq: u64,
    /// The role's own newest argument. Only the older system returns it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(ignore)]
    pub last_argument_id: Option<String>,
    /// The role's next action: wait.
    #[schema(value_type = ActionText, required = true)]
    pub action: Option<ActionText>,
    /// When the newest argument was written.
    #[schema(value_type = Stamp, required = true)]
    pub waiting_since: Option<Stamp>,
}

/// A page of debates, the most recently updated first.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct DebateList {
    /// The page.
    pub debates: Vec<DebateListed>,
    /// The total number.
    pub total: u64,
    /// Whether `total` is exact.
    pub total_is_exact: bool,
    /// The `before` of the next page, if this page is full.
    #[schema(required = true)]
    pub next_before: Option<String>,
}

/// A debate in a list.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct DebateListed {
    /// The debate.
    #[serde(flatten)]
    pub debate: Debate,
    /// Its newest argument.
    pub last_argument: LastArgument,
    /// The presence of each role.
    pub presence: Presence,
    /// How many of its points block completion; absent in a debate without points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocking: Option<u64>,
    /// The newest argument that the caller has seen, 0 for none; absent for a caller without a token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<u64>,
}

/// A debate with its arguments.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct DebateContext {
    /// The debate.
    pub debate: Debate,
    /// The MOTION.
    pub motion: Argument,
    /// The others, or the newest of them, in order.
    pub arguments: Vec<Argument>,
    /// The RULINGs that are older than `arguments`.
    pub rulings: Vec<Argument>,
    /// The documents it cites, each in the version that was cited last.
    pub documents: Vec<CitedDocument>,
    /// Whether its creator sent rules for its roles: see `/debates/{id}/type`.
    pub own_rules: bool,
    /// Where the rules come from.
    pub rules_origin: RulesOrigin,
    /// The moves that each role may make now.
    pub available_actions: AvailableActions,
    /// The presence of each role.
    pub presence: Presence,
    /// The newest argument that the caller has seen, 0 for none; absent for a caller without a token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<u64>,
    /// The points as they are now.
    #[serde(flatten)]
    pub points: Points,
}

/// The moves that each role may make now.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct AvailableActions {
    /// The proposer.
    pub proposer: Vec<AvailableText>,
    /// The opponent.
    pub opponent: Vec<AvailableText>,
    /// The arbitrator.
    pub arbitrator: Vec<AvailableText>,
}

/// A document that a debate cites.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct CitedDocument {
    /// The document.
    pub document_id: DocumentIdText,
    /// The version that was cited last.
    pub version: u64,
    /// That version's summary.
    pub summary: String,
    /// When the document was deleted.
    #[schema(required = true)]
    pub deleted_at: Option<Stamp>,
    /// The text of that version, in an export.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// `PUT /debates/{id}/archive`
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct SetArchived {
    /// Whether lists leave the debate out.
    pub archived: bool,
}

/// Whether lists leave a debate out now.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Archived {
    /// True when they do.
    pub archived: bool,
}

/// Something is hidden now.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Deleted {
    /// Always true.
    pub deleted: bool,
}

/// The whole transcript of a debate, as JSON.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Transcript {
    /// The debate.
    pub debate: Debate,
    /// Every argument, in order.
    pub arguments: Vec<Argument>,
    /// The documents it cites.
    pub documents: Vec<CitedDocument>,
    /// The texts of its type, if its creator sent them.
    #[schema(required = true)]
    pub type_texts: Option<TypeTexts>,
    /// SHA-256 over its title, type, policy, date, these texts and the settings of its points.
    #[schema(required = true)]
    pub seal: Option<HashText>,
    /// The version of the form of statements, which the seal covers; absent in a debate without points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points_form: Option<u64>,
    /// All points by number; absent in a debate without points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<Vec<QuotedPoint>>,
}
