//! The requests of the API, each with the type of its answer.
//!
//! A request says what to send and what comes back; a transport sends it: [`super::http`] over the
//! network, [`super::in_process`] inside the server.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use aw_core::{ArgumentId, DebateId, Kind, RequestId, Role};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::types::{
    Archived, CheckMove, Checked, CreateDebate, CreateLink, CreateToken, DebateContext, DebateList,
    Deleted, Diff, Document, DocumentList, Health, KeptVersion, Link, NewToken, OnePoint,
    PointList, Poll, PresenceSet, PurgeDebate, PurgePreview, Purged, Report, Resolved, SearchPage,
    Seat, SetArchived, SetPresence, SubmitClaim, SubmitDocument, SubmitIntervention, SubmitRequest,
    SubmitRuling, TokenList, TypeOfDebate, VerifiedDebate, VerifiedPiece, VersionList, Written,
};

/// Every character that must be escaped in a part of a URL.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A request whose answer is an `A`.
pub struct Request<A> {
    pub(crate) call: Call,
    answer: PhantomData<fn() -> A>,
}

/// A request without the type of its answer.
#[derive(Debug, Clone)]
pub struct Call {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) body: Option<Arc<dyn Payload>>,
    pub(crate) operation: Operation,
}

/// How a request is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Post,
    Put,
    Delete,
}

/// The kind of a request, as far as a server of the older system answers it differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Operation {
    Health,
    ListDebates {
        /// Whether the filter uses only the state, the one filter that the older system has.
        by_state_only: bool,
    },
    ReadDebate,
    Poll {
        role: String,
    },
    Write,
    /// A document, whose answer is not in the envelope.
    Document,
    Other,
}

/// A body: JSON over the network, the value itself inside the server.
pub trait Payload: fmt::Debug + Send + Sync + 'static {
    /// The body as JSON.
    fn json(&self) -> String;

    /// The body itself.
    fn as_any(&self) -> &dyn Any;
}

impl<T: Serialize + fmt::Debug + Send + Sync + 'static> Payload for T {
    fn json(&self) -> String {
        serde_json::to_string(self).expect("requests are plain data")
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// An answer: typed, and its JSON as the server sent it. The JSON is printed, so that fields that this
/// version does not know are printed too.
#[derive(Debug, Clone)]
pub struct Reply<A> {
    /// The answer.
    pub data: A,
    /// Its JSON.
    pub json: Value,
}

impl<A> Reply<A> {
    /// Fields of the JSON that are printed as the server sent them. A missing field is null.
    pub fn verbatim<V: DeserializeOwned + Default>(&self) -> V {
        V::deserialize(&self.json).unwrap_or_default()
    }
}

impl<A> Serialize for Reply<A> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(serializer)
    }
}

/// Which debates to list.
#[derive(Debug, Clone, Default)]
pub struct DebateFilter<'a> {
    /// Only those in this state.
    pub state: Option<&'a str>,
    /// Only those of this type.
    pub debate_type: Option<&'a str>,
    /// Only those whose title contains this.
    pub search: Option<&'a str>,
    /// Those of this project before all others.
    pub project_first: Option<&'a str>,
    /// Only those that ended so.
    pub outcome: Option<&'a str>,
    /// Only those updated at this time or later.
    pub since: Option<&'a str>,
    /// The archived ones instead of the others.
    pub archived: bool,
    /// Only those that wait for the opponent's first argument.
    pub pending_first_opponent: bool,
    /// Only those that wait for a RULING.
    pub needs_arbitrator: bool,
    /// At most so many.
    pub limit: u64,
    /// After leaving out so many.
    pub offset: u64,
}

/// Which documents, or which versions of one, to list.
#[derive(Debug, Clone, Copy, Default)]
pub struct DocumentFilter<'a> {
    /// Only those that this debate cites.
    pub debate: Option<&'a str>,
    /// Only those whose summary contains this.
    pub search: Option<&'a str>,
    /// Deleted ones too.
    pub include_deleted: bool,
    /// At most so many.
    pub limit: u64,
    /// After leaving out so many.
    pub offset: u64,
}

/// The words and the limits of a search.
#[derive(Debug, Clone, Copy, Default)]
pub struct SearchFilter<'a> {
    /// Words, or the beginning of an id.
    pub words: &'a str,
    /// Only in this debate and its documents.
    pub debate: Option<&'a str>,
    /// At most so many.
    pub limit: u64,
    /// `next_before` of the page before.
    pub before: Option<&'a str>,
}

/// A role that waits in a debate.
#[derive(Debug, Clone, Copy)]
pub struct Waiter<'a> {
    /// In this debate.
    pub debate: &'a str,
    /// As this role.
    pub role: &'a str,
    /// The newest argument that it has seen.
    pub after: Option<&'a str>,
}

/// The format of an exported transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// Markdown, every argument quoted.
    Markdown,
    /// One page that needs nothing else.
    Html,
    /// JSON, every field.
    Json,
}

impl ExportFormat {
    /// As it is written in a URL.
    pub fn as_str(self) -> &'static str {
        match self {
            ExportFormat::Markdown => "markdown",
            ExportFormat::Html => "html",
            ExportFormat::Json => "json",
        }
    }
}

/// The form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportFormat {
    /// Markdown.
    Markdown,
    /// A decision record: MADR 4.
    Madr,
    /// JSON.
    Json,
}

impl ReportFormat {
    /// As it is written in a URL.
    pub fn as_str(self) -> &'static str {
        match self {
            ReportFormat::Markdown => "markdown",
            ReportFormat::Madr => "madr",
            ReportFormat::Json => "json",
        }
    }
}

impl<A> Request<A> {
    /// Reads from this path.
    pub fn get(path: impl Into<String>) -> Self {
        Self::new(Method::Get, path.into(), None)
    }

    fn post(path: impl Into<String>, body: impl Payload) -> Self {
        Self::new(Method::Post, path.into(), Some(Arc::new(body)))
    }

    fn put(path: impl Into<String>, body: impl Payload) -> Self {
        Self::new(Method::Put, path.into(), Some(Arc::new(body)))
    }

    fn delete(path: String) -> Self {
        Self::new(Method::Delete, path, None)
    }

    fn new(method: Method, path: String, body: Option<Arc<dyn Payload>>) -> Self {
        let call = Call { method, path, body, operation: Operation::Other };
        Request { call, answer: PhantomData }
    }

    fn with_operation(mut self, operation: Operation) -> Self {
        self.call.operation = operation;
        self
    }

    /// The request, whatever its answer is.
    pub fn call(&self) -> &Call {
        &self.call
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.method, &self.body) {
            (Method::Post, Some(body)) => write!(f, "POST {} {}", self.path, body.json()),
            (Method::Post, None) => write!(f, "POST {}", self.path),
            (Method::Put, Some(body)) => write!(f, "PUT {} {}", self.path, body.json()),
            (Method::Put, None) => write!(f, "PUT {}", self.path),
            (Method::Get, _) => write!(f, "GET {}", self.path),
            (Method::Delete, _) => write!(f, "DELETE {}", self.path),
        }
    }
}

/// Asks whether the server can do its work.
pub fn health() -> Request<Health> {
    Request::get("/health").with_operation(Operation::Health)
}

/// Names to resolve to ids.
#[derive(Debug, Clone, Copy, Default)]
pub struct Names<'a> {
    /// A debate.
    pub debate: Option<&'a str>,
    /// Take the only open debate, where none is named.
    pub only_open: bool,
    /// Of several open debates, take the only one that waits for this role.
    pub awaiting: Option<&'a str>,
    /// The caller's project.
    pub project: Option<&'a str>,
    /// An argument of the debate.
    pub argument: Option<&'a str>,
    /// Where no argument is named: the newest one that this role answers.
    pub answered_by: Option<&'a str>,
    /// A document.
    pub document: Option<&'a str>,
}

/// Resolves names to ids.
pub fn resolve(names: Names<'_>) -> Request<Resolved> {
    let path = Path::new("/resolve")
        .with_text("debate", names.debate)
        .with_flag("only_open", names.only_open)
        .with_text("awaiting", names.awaiting)
        .with_text("project", names.project)
        .with_text("argument", names.argument)
        .with_text("answered_by", names.answered_by)
        .with_text("document", names.document);
    Request::get(path)
}

/// Lists debates, the most recently updated first.
pub fn debates(filter: &DebateFilter<'_>) -> Request<DebateList> {
    let DebateFilter {
        state, debate_type, search, pending_first_opponent, needs_arbitrator, ..
    } = *filter;
    let by_state_only =
        debate_type.is_none() && search.is_none() && !pending_first_opponent && !needs_arbitrator;
    let path = Path::new("/debates")
        .with("limit", filter.limit)
        .with("offset", filter.offset)
        .with_text("state", state)
        .with_text("type", debate_type)
        .with_text("q", search)
        .with_text("project_first", filter.project_first)
        .with_text("outcome", filter.outcome)
        .with_text("since", filter.since)
        .with_flag("archived", filter.archived)
        .with_flag("pending_first_opponent", pending_first_opponent)
        .with_flag("needs_arbitrator", needs_arbitrator);
    Request::get(path).with_operation(Operation::ListDebates { by_state_only })
}

/// Searches the whole record.
pub fn search(filter: SearchFilter<'_>) -> Request<SearchPage> {
    let path = Path::new("/search")
        .with_text("q", Some(filter.words))
        .with("limit", filter.limit)
        .with_text("debate_id", filter.debate)
        .with_text("before", filter.before);
    Request::get(path)
}

/// Opens a debate with its MOTION.
pub fn open(body: CreateDebate) -> Request<Written> {
    Request::post("/debates", body).with_operation(Operation::Write)
}

/// Reads a debate with this many of its newest arguments.
pub fn context(debate: &str, limit: u64) -> Request<DebateContext> {
    Request::get(of_debate(debate, "").with("limit", limit)).with_operation(Operation::ReadDebate)
}

/// Reads the type of a debate and the rules that came with it.
pub fn type_of(debate: &str) -> Request<TypeOfDebate> {
    Request::get(of_debate(debate, "/type"))
}

/// Answers the other side with a CLAIM.
pub fn submit(debate: &str, body: SubmitClaim) -> Request<Written> {
    Request::post(of_debate(debate, "/arguments"), body).with_operation(Operation::Write)
}

/// Puts a dispute before the arbitrator.
pub fn appeal(debate: &str, body: SubmitRequest) -> Request<Written> {
    Request::post(of_debate(debate, "/appeal"), body).with_operation(Operation::Write)
}

/// Asks to complete the debate.
pub fn request_completion(debate: &str, body: SubmitRequest) -> Request<Written> {
    Request::post(of_debate(debate, "/resolution"), body).with_operation(Operation::Write)
}

/// Settles what is pending.
pub fn rule(debate: &str, body: SubmitRuling) -> Request<Written> {
    Request::post(of_debate(debate, "/ruling"), body).with_operation(Operation::Write)
}

/// Stops both agents.
pub fn intervene(debate: &str, body: SubmitIntervention) -> Request<Written> {
    Request::post(of_debate(debate, "/intervention"), body).with_operation(Operation::Write)
}

/// Judges a move as if it were made, and writes nothing.
pub fn check(debate: &str, body: CheckMove) -> Request<Checked> {
    Request::post(of_debate(debate, "/check"), body)
}

/// Reads all points of a debate, by number.
pub fn points(debate: &str) -> Request<PointList> {
    Request::get(of_debate(debate, "/points"))
}

/// Reads a point with its history.
pub fn point(debate: &str, point: &str) -> Request<OnePoint> {
    Request::get(of_debate(debate, "/points/").part(point))
}

/// Asks for news. The server holds the request for this long.
pub fn wait(waiter: Waiter<'_>, hold: Duration) -> Request<Poll> {
    let Waiter { debate, role, after } = waiter;
    let path = of_debate(debate, "/poll").with_text("role", Some(role));
    let path = path.with_text("argument_id", after);
    let path = if hold.is_zero() { path } else { path.with("wait", hold.as_secs_f64()) };
    Request::get(path).with_operation(Operation::Poll { role: role.to_owned() })
}

/// Sets what a role works on, or clears it.
pub fn set_presence(debate: &str, body: SetPresence) -> Request<PresenceSet> {
    Request::put(of_debate(debate, "/presence"), body)
}

/// The whole transcript of a debate, which is not in the envelope.
pub fn export(debate: &str, format: ExportFormat) -> Request<Vec<u8>> {
    Request::get(of_debate(debate, "/export").with_text("format", Some(format.as_str())))
}

/// The report of a debate, which is not in the envelope.
pub fn result(debate: &str, format: ReportFormat) -> Request<Vec<u8>> {
    Request::get(of_debate(debate, "/result").with_text("format", Some(format.as_str())))
}

/// The report of a debate, typed.
pub fn report(debate: &str) -> Request<Report> {
    let format = ReportFormat::Json.as_str();
    let request = Request::get(of_debate(debate, "/result").with_text("format", Some(format)));
    request.with_operation(Operation::Document)
}

/// Verifies a debate.
pub fn verify_debate(debate: &str) -> Request<VerifiedDebate> {
    Request::get(of_debate(debate, "/verify"))
}

/// Verifies the next piece of the whole record.
pub fn verify(after: Option<&str>) -> Request<VerifiedPiece> {
    Request::get(Path::new("/verify").with_text("after", after))
}

/// Leaves a debate out of lists, or brings it back.
pub fn archive_debate(debate: &str, archived: bool) -> Request<Archived> {
    Request::put(of_debate(debate, "/archive"), SetArchived { archived })
}

/// Says what a purge of a debate would remove.
pub fn preview_purge(debate: &str) -> Request<PurgePreview> {
    Request::get(of_debate(debate, "/purge"))
}

/// Removes the texts of a debate for good.
pub fn purge_debate(debate: &str, documents: bool) -> Request<Purged> {
    Request::post(of_debate(debate, "/purge"), PurgeDebate { confirm: true, documents })
}

/// Hides a debate.
pub fn delete_debate(debate: &str) -> Request<Deleted> {
    Request::delete(of_debate(debate, "").into())
}

/// Lists documents, the most recently updated first.
pub fn documents(filter: DocumentFilter<'_>) -> Request<DocumentList> {
    Request::get(filter.apply(Path::new("/documents")))
}

/// Lists the versions of a document, the newest first.
pub fn versions(document: &str, filter: DocumentFilter<'_>) -> Request<VersionList> {
    Request::get(filter.apply(of_document(document, "/versions")))
}

/// Reads a document, in its newest or this version.
pub fn document(id: &str, version: Option<u64>, include_deleted: bool) -> Request<Document> {
    let path = of_document(id, "").with("include_deleted", include_deleted);
    Request::get(path.with_number("version", version))
}

/// Compares two versions of a document.
pub fn diff(document: &str, from: Option<u64>, to: Option<u64>) -> Request<Diff> {
    let path = of_document(document, "/diff");
    Request::get(path.with_number("from", from).with_number("to", to))
}

/// Keeps a new document.
pub fn create_document(body: SubmitDocument) -> Request<KeptVersion> {
    Request::post("/documents", body)
}

/// Keeps the next version of a document.
pub fn add_version(document: &str, body: SubmitDocument) -> Request<KeptVersion> {
    Request::post(of_document(document, "/versions"), body)
}

/// Hides a document.
pub fn delete_document(document: &str) -> Request<Deleted> {
    Request::delete(of_document(document, "").into())
}

/// Lists all seats.
pub fn tokens() -> Request<TokenList> {
    Request::get("/tokens")
}

/// Makes a seat with its token.
pub fn create_token(body: CreateToken) -> Request<NewToken> {
    Request::post("/tokens", body)
}

/// Revokes a token.
pub fn revoke_token(id: &str) -> Request<Seat> {
    Request::delete(Path::new("/tokens/").part(id).into())
}

/// Makes a link that signs a browser in.
pub fn link(body: CreateLink) -> Request<Link> {
    Request::post("/links", body)
}

impl DocumentFilter<'_> {
    fn apply(self, path: Path) -> Path {
        path.with("limit", self.limit)
            .with("offset", self.offset)
            .with("include_deleted", self.include_deleted)
            .with_text("q", self.search)
            .with_text("debate", self.debate)
    }
}

fn of_debate(id: &str, rest: &str) -> Path {
    Path::new("/debates/").part(id).then(rest)
}

fn of_document(id: &str, rest: &str) -> Path {
    Path::new("/documents/").part(id).then(rest)
}

/// A text as a part of a URL.
pub fn encoded(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

/// A path with its query.
struct Path {
    text: String,
    has_query: bool,
}

impl Path {
    fn new(text: &str) -> Self {
        Path { text: text.to_owned(), has_query: false }
    }

    fn part(mut self, id: &str) -> Self {
        self.text.extend(utf8_percent_encode(id, ESCAPED));
        self
    }

    fn then(mut self, rest: &str) -> Self {
        self.text.push_str(rest);
        self
    }

    fn with(self, name: &str, value: impl fmt::Display) -> Self {
        self.with_text(name, Some(&value.to_string()))
    }

    fn with_number(self, name: &str, value: Option<u64>) -> Self {
        self.with_text(name, value.map(|value| value.to_string()).as_deref())
    }

    fn with_flag(self, name: &str, is_set: bool) -> Self {
        self.with_text(name, is_set.then_some("true"))
    }

    fn with_text(mut self, name: &str, value: Option<&str>) -> Self {
        let Some(value) = value else { return self };
        self.text.push(if std::mem::replace(&mut self.has_query, true) { '&' } else { '?' });
        self.then(name).then("=").part(value)
    }
}

impl From<Path> for String {
    fn from(path: Path) -> Self {
        path.text
    }
}

/// The request id that follows from a text and its target, so that every interface recognises a
/// retry. None if an id cannot be parsed: the server then refuses the request and says why.
pub fn derived_id(
    debate: &str,
    role: Role,
    kind: Kind,
    target: Option<&str>,
    content: &str,
) -> Option<RequestId> {
    let debate = debate.parse().unwrap_or_else(|_| DebateId::of_former_id(debate));
    let target: Option<ArgumentId> = target.map(str::parse).transpose().ok()?;
    Some(RequestId::derived(debate, role, kind, target, content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_searches_cannot_change_the_path() {
        assert_eq!(delete_debate("../x?y#z &").call.path, "/debates/..%2Fx%3Fy%23z%20%26");
        let filter = DocumentFilter { search: Some("a&b=ü~"), limit: 5, ..Default::default() };
        let path = "/documents?limit=5&offset=0&include_deleted=false&q=a%26b%3D%C3%BC~";
        assert_eq!(documents(filter).call.path, path);
        assert_eq!(diff("d", None, Some(2)).call.path, "/documents/d/diff?to=2");
        assert_eq!(verify(None).call.path, "/verify");
        assert_eq!(point("d", "P2/..").call.path, "/debates/d/points/P2%2F..");
    }
}
