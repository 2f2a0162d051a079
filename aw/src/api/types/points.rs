//! Points: the ledger of a debate, its statements and their quotes.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::{
    CourseText, Debate, DocumentIdText, HeldText, PointIdText, PointStateText, QuoteCheckText,
    RoleText, SeverityText, StateText, StatementWordText,
};

/// The settings of a debate's points.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PointSettings {
    /// How many CLAIMs the opponent has before the proposer must appeal or complete.
    pub rounds: u32,
    /// The lowest severity that blocks completion.
    pub blocking: SeverityText,
}

/// Whether a new debate keeps points: true, or the settings that differ from the defaults.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum AskedPoints {
    /// With the default settings, or without points.
    Flag(bool),
    /// With these settings.
    Settings(#[serde(deserialize_with = "from_object")] AskedSettings),
    /// Something else, which the server refuses.
    Other(IgnoredAny),
}

/// The settings of points that a request names.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskedSettings {
    /// 1 to 20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u64>,
    /// `critical` or `major`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocking: Option<String>,
}

/// Reads the settings from an object only: serde would take an array for the fields in their order.
fn from_object<'de, D: Deserializer<'de>>(input: D) -> Result<AskedSettings, D::Error> {
    let fields = serde_json::Map::deserialize(input)?;
    serde_json::from_value(fields.into()).map_err(serde::de::Error::custom)
}

impl Serialize for AskedPoints {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            AskedPoints::Flag(flag) => flag.serialize(serializer),
            AskedPoints::Settings(settings) => settings.serialize(serializer),
            AskedPoints::Other(_) => serializer.serialize_none(),
        }
    }
}

impl PartialSchema for AskedPoints {
    fn schema() -> RefOr<Schema> {
        let rounds =
            ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1)).maximum(Some(20));
        let blocking =
            ObjectBuilder::new().schema_type(Type::String).enum_values(Some(["critical", "major"]));
        let settings = ObjectBuilder::new()
            .schema_type(Type::Object)
            .property("rounds", rounds)
            .property("blocking", blocking);
        let flag = ObjectBuilder::new().schema_type(Type::Boolean);
        OneOfBuilder::new().item(flag).item(settings).into()
    }
}

impl ToSchema for AskedPoints {
    fn name() -> Cow<'static, str> {
        "AskedPoints".into()
    }
}

/// Reads a field that may be null.
pub(super) fn present<'de, T, D>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    T: Deserialize<'de>,
    D: serde::Deserializer<'de>,
{
    Option::deserialize(deserializer).map(Some)
}

/// Where the points of a debate stand.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Ledger {
    /// The opponent's CLAIMs.
    pub rounds: Rounds,
    /// The points that block completion.
    pub blocking: Vec<PointIdText>,
    /// How many points are not over.
    pub alive: u64,
    /// How many points are over.
    pub over: u64,
    /// Whether the newest argument that is not parked is the opponent's agreement.
    pub opponent_agrees: bool,
    /// The document versions that it agrees to; absent without an agreement or documents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agreed_to: Vec<AgreedVersion>,
    /// Why the RESOLUTION that is pending waits for the arbitrator; absent where none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<HeldText>,
    /// The live points on which the asking role owes a word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yours: Option<Vec<PointIdText>>,
    /// The proposer's best move, on the proposer's move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<PointAdvice>,
    /// How the asking role writes its answer, on its move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub how: Option<String>,
}

/// A document version that the opponent agrees to.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct AgreedVersion {
    /// The document.
    pub document_id: DocumentIdText,
    /// The version.
    pub version: u64,
}

/// How many rounds are used.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Rounds {
    /// The opponent's CLAIMs so far.
    pub used: u32,
    /// How many it may make before the proposer's CLAIM is refused.
    pub limit: u32,
}

/// The proposer's best move, and why.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct PointAdvice {
    /// The move.
    #[serde(rename = "do")]
    pub course: CourseText,
    /// The points that it is about.
    pub points: Vec<PointIdText>,
    /// The reason, in the server's words.
    pub why: String,
}

/// A point.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Point {
    /// `P1`, `P2` …
    pub id: PointIdText,
    /// How bad it is.
    pub severity: SeverityText,
    /// The objection, in the words of the role that raised it.
    pub title: String,
    /// Where it stands.
    pub state: PointStateText,
    /// The role that owes the next word on it.
    #[schema(required = true)]
    pub owes: Option<RoleText>,
    /// Whether it blocks completion.
    pub blocking: bool,
    /// Whether it was raised late, about text that had not changed.
    pub late: bool,
    /// Whether the proposer accepted it while all its quotes still stand.
    pub unchanged: bool,
    /// How often the opponent held it after an answer.
    pub disputes: u32,
    /// The argument that raised it.
    pub raised_seq: u64,
    /// The argument that last changed it.
    pub last_seq: u64,
}

/// The points of an answer: the live ones, blocking first, then by number.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub struct Points {
    /// Where they stand. Absent in a debate without points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<Ledger>,
    /// At most 50 of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<Vec<Point>>,
    /// How many more there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points_omitted: Option<u64>,
}

/// A statement of an argument.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Statement {
    /// The line of its heading.
    pub line: u32,
    /// `NEW`, `VERDICT` or a point.
    pub target: String,
    /// Its word.
    pub word: StatementWordText,
    /// The point that it raised or changed.
    #[schema(required = true)]
    pub point: Option<PointIdText>,
    /// That point's state after it.
    #[schema(required = true)]
    pub state: Option<PointStateText>,
    /// Its quotes.
    pub quotes: Vec<Quote>,
}

/// A quote, and where it was found.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Quote {
    /// Its first line in the argument.
    pub line: u32,
    /// The result of looking it up.
    pub check: QuoteCheckText,
    /// The document that contains it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document_id: Option<DocumentIdText>,
    /// The version that contains it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// The argument that contains it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The first line there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_line: Option<u32>,
    /// The last line there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_line: Option<u32>,
    /// The path or address that its author names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The quoted text. Only where the points themselves are asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// A point with the quotes that raised it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct QuotedPoint {
    /// The point.
    #[serde(flatten)]
    pub point: Point,
    /// Its quotes, with their text.
    pub quotes: Vec<Quote>,
    /// Everything that was said about it, where one point is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<Vec<PointTurn>>,
}

/// The statement of one argument about a point.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct PointTurn {
    /// The argument.
    pub seq: u64,
    /// The role that wrote it.
    pub role: RoleText,
    /// Its word.
    pub word: StatementWordText,
    /// The point's state after it.
    #[schema(required = true)]
    pub state: Option<PointStateText>,
    /// The statement, with its heading.
    pub text: String,
}

/// `GET /debates/{id}/points`
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct PointList {
    /// Where they stand. Absent in a debate without points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<Ledger>,
    /// All points, by number.
    pub points: Vec<QuotedPoint>,
}

/// `GET /debates/{id}/points/{point}`
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct OnePoint {
    /// The point with its history.
    pub point: QuotedPoint,
}

/// `POST /debates/{id}/check`: the fields of the move that is to be judged.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct CheckMove {
    /// `claim`, `appeal`, `resolution` or `ruling`.
    #[serde(rename = "move")]
    #[schema(pattern = "^(claim|appeal|resolution|ruling)$")]
    pub kind: String,
    /// The role of a claim: `proposer` or `opponent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<RoleText>)]
    pub role: Option<String>,
    /// The argument that is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = Uuid)]
    pub target_id: Option<String>,
    /// The text.
    #[schema(min_length = 1)]
    pub content: String,
    /// Whether a ruling would end the debate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub close: Option<bool>,
}

/// The result of a move that was judged and not made.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Checked {
    /// Always true: nothing was written.
    pub dry_run: bool,
    /// The debate as it would be.
    pub debate: Debate,
    /// The state that the debate would have.
    pub debate_state: StateText,
    /// Whether the argument would be parked.
    pub parked: bool,
    /// Why a resolution would wait for the arbitrator.
    #[schema(required = true)]
    pub held: Option<HeldText>,
    /// The statements that would be read.
    pub statements: Vec<Statement>,
    /// The points as they would be.
    #[serde(flatten)]
    pub points: Points,
}

/// Something in a text that the rules of points do not allow.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Flaw {
    /// The line, from 1.
    pub line: u32,
    /// Its kind.
    pub code: String,
    /// The mistake, and the text to write instead.
    pub message: String,
    /// The words or forms that may stand there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<String>,
    /// The quote that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// The text that comes nearest to that quote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<Nearest>,
}

/// The text that comes nearest to a missing quote: in a document, or in an argument.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Nearest {
    /// The document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document_id: Option<DocumentIdText>,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// The line there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The argument.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The text.
    pub text: String,
}
