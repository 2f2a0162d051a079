//! The inputs and outputs of the engine.

use std::collections::HashMap;
use std::sync::Arc;

use aw_core::{
    Action, Argument, ArgumentId, Author, Available, ByRole, Content, Debate, DebateId,
    DebateOrigin, DebateType, DocumentId, Event, Hash, Held, Kind, Ledger, Move, Outcome, Point,
    PointId, PointRules, PointState, ProjectId, QuoteCheck, QuotePlace, RequestId,
    ResolutionPolicy, Role, SeatName, Seq, Slug, State, Subject, Summary, Time, Title, Via, Word,
};
use uuid::Uuid;

use crate::Seat;

/// A request to write into a debate.
#[derive(Debug, Clone)]
pub struct Request {
    /// The debate.
    pub debate: DebateId,
    /// The request id, by which a retry is recognized.
    pub id: RequestId,
    /// The author's label.
    pub author: Option<Author>,
    /// The interface it came through.
    pub via: Via,
    /// The seat of the caller, if the server requires tokens.
    pub seat: Option<SeatName>,
    /// The requested change.
    pub ask: Ask,
}

/// The change that a [`Request`] asks for.
#[derive(Debug, Clone)]
pub enum Ask {
    /// Open a debate with its MOTION.
    Open {
        /// Its title.
        title: Title,
        /// Its type.
        debate_type: DebateType,
        /// The texts of its type, unless the type is built in.
        texts: Option<Box<TypeTexts>>,
        /// The approver of a RESOLUTION.
        policy: ResolutionPolicy,
        /// The settings of its points, if it keeps points.
        points: Option<PointRules>,
        /// The repository in which it is opened.
        origin: Option<Box<DebateOrigin>>,
        /// The MOTION.
        motion: Content,
    },
    /// Make a move in it.
    Play {
        /// The role that moves.
        role: Role,
        /// The move.
        play: Move<ArgumentId>,
        /// Its text.
        content: Content,
    },
}

/// The texts of a debate's type: the rules that each role follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeTexts {
    /// The title of the type.
    pub title: Title,
    /// Its purpose.
    pub description: Summary,
    /// The rules of each role.
    pub rules: ByRole<Content>,
}

impl TypeTexts {
    /// The most bytes that the rules of all roles may have in total.
    pub const MAX_BYTES: usize = 64 * 1024;
}

/// The result of a [`Request`].
#[derive(Debug, Clone)]
pub struct Receipt {
    /// The debate in its current state.
    pub debate: DebateHead,
    /// The argument that the request wrote, now or at its first arrival.
    pub argument: Argument,
    /// Whether this was a retry.
    pub replayed: bool,
    /// The arguments of others between the target and this one.
    pub missed: Vec<Argument>,
    /// The role's next action.
    pub action: Action,
    /// The argument to wait on next.
    pub waits_on: ArgumentId,
    /// The statements of the argument, in a debate with points.
    pub stated: Vec<Stated>,
    /// Why the argument, a RESOLUTION, waits for the arbitrator, in a debate with points.
    pub held: Option<Held>,
    /// The slug of the debate, if the request opened it.
    pub slug: Option<Slug>,
}

/// The result of judging a move without making it.
#[derive(Debug, Clone)]
pub struct Rehearsed {
    /// The debate as it would be.
    pub debate: DebateHead,
    /// Whether the argument would be parked.
    pub parked: bool,
    /// The statements that the argument would make.
    pub stated: Vec<Stated>,
    /// Why it, a RESOLUTION, would wait for the arbitrator.
    pub held: Option<Held>,
}

/// A statement about a point, or a verdict, as the record keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stated {
    /// The argument that makes it.
    pub seq: Seq,
    /// The line of its heading.
    pub line: u32,
    /// Its subject.
    pub subject: Subject,
    /// Its word.
    pub word: Word,
    /// The point that it raised or changed.
    pub point: Option<PointId>,
    /// That point's state after it.
    pub state: Option<PointState>,
    /// Its quotes.
    pub quotes: Vec<StatedQuote>,
}

/// A quote, and where it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatedQuote {
    /// Its first line in the argument.
    pub line: u32,
    /// The quoted text.
    pub text: String,
    /// The path or address that its author names.
    pub source: Option<String>,
    /// The result of looking it up.
    pub check: QuoteCheck,
    /// Where it stands.
    pub place: Option<QuotePlace>,
    /// The first and the last line there.
    pub lines: Option<(u32, u32)>,
    /// The document's name, if it stands in one. Receipts leave it out.
    pub document_name: Option<String>,
}

/// A point with the quotes that raised it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointRecord {
    /// The point.
    pub point: Point,
    /// The quotes of the statement that raised it.
    pub quotes: Vec<StatedQuote>,
    /// Everything that was said about it, if that was asked for.
    pub turns: Vec<PointTurn>,
}

/// The statement of one argument about a point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointTurn {
    /// The argument.
    pub seq: Seq,
    /// The role that wrote it.
    pub role: Role,
    /// Its word.
    pub word: Word,
    /// The point's state after it.
    pub state: Option<PointState>,
    /// The statement, with its heading.
    pub text: String,
    /// Its quotes.
    pub quotes: Vec<StatedQuote>,
}

/// A debate without its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DebateHead {
    /// Its id.
    pub id: DebateId,
    /// Its title.
    pub title: Title,
    /// Its type.
    pub debate_type: DebateType,
    /// Its policy, its standing and its points. In a list the points are not read: the ledger has only
    /// its settings and counts.
    pub debate: Debate,
    /// When it was opened.
    pub created_at: Time,
    /// When its newest argument was written.
    pub updated_at: Time,
    /// How it ended.
    pub outcome: Outcome,
}

impl DebateHead {
    /// How many milliseconds without a move make an open debate an abandoned one: 14 days.
    pub const ABANDONED_AFTER: i64 = 14 * 24 * 60 * 60 * 1000;

    /// Whether the debate is open and nobody has made a move for 14 days.
    pub fn is_abandoned(&self, now: Time) -> bool {
        let quiet = now.0.saturating_sub(self.updated_at.0);
        self.state() != State::Closed && quiet >= Self::ABANDONED_AFTER
    }

    /// The role that the debate waits for.
    pub fn state(&self) -> State {
        self.debate.standing.state
    }
}

/// The newest argument of a debate, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastArgument {
    /// Its id.
    pub id: ArgumentId,
    /// Its position.
    pub seq: Seq,
    /// The role that wrote it.
    pub role: Role,
    /// Its kind.
    pub kind: Kind,
    /// Whether it was parked.
    pub parked: bool,
    /// The author's label.
    pub author: Option<Author>,
    /// When it was written.
    pub at: Time,
}

/// The result of a wait.
#[derive(Debug, Clone)]
pub enum Poll {
    /// The role has something to do or to read.
    News(Arc<News>),
    /// Nothing yet.
    Nothing {
        /// The debate.
        debate: DebateId,
        /// The role that the debate waits for.
        state: State,
        /// The position of the argument that the waiter has seen, or 0.
        seen: u64,
        /// The role's action: some form of waiting.
        action: Action,
        /// When the newest argument was written.
        since: Time,
    },
}

/// The answer to a wait that is over.
#[derive(Debug, Clone)]
pub struct News {
    /// The role's next action.
    pub action: Action,
    /// The role that the debate waits for.
    pub state: State,
    /// The newest unseen argument, or the newest of other roles.
    pub argument: Argument,
    /// The unseen arguments: at most the newest 20, and every RULING.
    pub arguments: Vec<Argument>,
    /// Set when the RULINGs before `arguments` are too long for one read: they lie after the first of
    /// these positions and up to the second, for [`crate::Engine::piece`].
    pub earlier: Option<(Seq, Seq)>,
    /// How many unseen arguments are left out.
    pub omitted: u64,
    /// The newest argument of the debate.
    pub waits_on: ArgumentId,
    /// The argument that awaits a RULING.
    pub pending: Option<ArgumentId>,
    /// The moves that the role may make.
    pub available: Vec<Available>,
    /// The waiting role.
    pub role: Role,
    /// How the debate ended.
    pub outcome: Outcome,
    /// The points, in a debate that keeps points.
    pub ledger: Option<Ledger>,
    /// Why the RESOLUTION that is pending waits for the arbitrator, in a debate that keeps points.
    pub held: Option<Held>,
}

/// A debate as an agent reads it when it joins or returns.
#[derive(Debug, Clone)]
pub struct Context {
    /// The debate.
    pub debate: DebateHead,
    /// Its MOTION.
    pub motion: Argument,
    /// The newest other arguments, in order.
    pub arguments: Vec<Argument>,
    /// The RULINGs before them.
    pub rulings: Vec<Argument>,
    /// The documents it cites.
    pub documents: Vec<CitedDocument>,
    /// Whether its creator sent the texts of its type.
    pub own_rules: bool,
    /// Set when the answer is too long for one read: the position of the first of `arguments`. Then
    /// the three lists are empty, and [`crate::Engine::piece`] and [`crate::Engine::cited`] read them.
    pub rest: Option<Seq>,
}

/// Which arguments of a debate to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// All of them.
    All,
    /// Only its RULINGs.
    Rulings,
}

/// The end of a page of cited documents; the default is the beginning of the first page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CitedMark {
    pub(crate) seq: u64,
    pub(crate) document: i64,
}

/// A page of the documents that a debate cites.
#[derive(Debug, Clone)]
pub struct CitedPage {
    /// The documents, in the order of their citation.
    pub documents: Vec<CitedDocument>,
    /// The beginning of the next page, if there may be more.
    pub next: Option<CitedMark>,
}

/// The data of a debate's web page.
#[derive(Debug, Clone)]
pub struct PageData {
    /// The debate.
    pub debate: DebateHead,
    /// Its MOTION.
    pub motion: Argument,
    /// A stretch of the other arguments, in order.
    pub arguments: Vec<Argument>,
    /// How many arguments lie between the MOTION and the stretch.
    pub earlier: u64,
    /// The outline of all arguments, in order.
    pub moments: Vec<Moment>,
    /// The citations of the MOTION and the stretch.
    pub citations: Vec<Citation>,
    /// The documents that the debate cites.
    pub documents: Vec<CitedDocument>,
    /// The argument that awaits a RULING.
    pub pending: Option<Argument>,
    /// Whether its creator sent the texts of its type.
    pub own_rules: bool,
    /// The statements of all arguments, in order.
    pub stated: Vec<Stated>,
    /// Its points with their history, by number.
    pub points: Vec<PointRecord>,
}

/// The data of a debate's report. Everything is from the record: no clock, no presence, and nothing
/// that differs between two servers.
#[derive(Debug, Clone)]
pub struct ReportData {
    /// The debate.
    pub debate: DebateHead,
    /// Its MOTION.
    pub motion: Argument,
    /// The RULINGs that the server did not make, in order.
    pub rulings: Vec<Argument>,
    /// How many rounds there were.
    pub rounds: u64,
    /// The citations of the proposer and the arbitrator, in order.
    pub citations: Vec<Citation>,
    /// The authors, in the order of their first argument.
    pub authors: Vec<Authorship>,
    /// All statements, in order.
    pub stated: Vec<Stated>,
    /// The points with their history, by number.
    pub points: Vec<PointRecord>,
    /// When the newest argument was written.
    pub newest_at: Time,
    /// The hash of the newest argument.
    pub newest_hash: Hash,
    /// The checksum over the debate's own fields.
    pub seal: Option<Hash>,
}

/// An author of a role's arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authorship {
    /// The role.
    pub role: Role,
    /// The label that the author gave.
    pub author: Option<Author>,
    /// The seat, where the server required a token.
    pub seat: Option<SeatName>,
}

/// An argument without its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Its position.
    pub seq: Seq,
    /// The kind of argument.
    pub event: Event,
    /// When it was written.
    pub at: Time,
}

/// The version of a document that an argument cites.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citation {
    /// The argument's position.
    pub seq: Seq,
    /// The document.
    pub document: DocumentId,
    /// The version.
    pub version: u64,
    /// The document's title, or else the summary of this version.
    pub name: String,
}

/// The data that the page shows beside arguments.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// The positions of the arguments they answer.
    pub places: HashMap<ArgumentId, Seq>,
    /// The documents they cite.
    pub citations: Vec<Citation>,
    /// The statements they make.
    pub stated: Vec<Stated>,
    /// The points of the debate as they are now.
    pub ledger: Option<Ledger>,
    /// Whether the debate is closed.
    pub is_closed: bool,
}

/// A document that a debate cites.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CitedDocument {
    /// The document.
    pub id: DocumentId,
    /// The version that was cited last.
    pub version: u64,
    /// That version's summary.
    pub summary: Summary,
    /// The document's title, or else that summary.
    pub name: String,
    /// When the document was deleted.
    pub deleted_at: Option<Time>,
}

/// A debate that cites a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CitingDebate {
    /// The debate.
    pub id: DebateId,
    /// Its title.
    pub title: Title,
    /// Its state.
    pub state: State,
    /// The argument that cites the document last.
    pub seq: Seq,
    /// The version that this argument cites.
    pub version: u64,
    /// When the debate was last updated.
    pub updated_at: Time,
}

/// Splits a long text into pieces. Each piece's memory is freed once it is sent; one allocation of
/// megabytes would fragment the heap.
pub fn pieces(mut text: &str) -> Vec<String> {
    let mut pieces = Vec::with_capacity(text.len() / PIECE + 1);
    while !text.is_empty() {
        let most = PIECE.min(text.len());
        let end = (0..=most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(most);
        let piece;
        (piece, text) = text.split_at(end);
        pieces.push(piece.to_owned());
    }
    pieces
}

/// The most text that one read on a serving thread takes, and the size of a piece of a long answer.
pub(crate) const PIECE: usize = 64 * 1024;

/// Consecutive arguments of a debate, and the debate from the same snapshot.
#[derive(Debug, Clone)]
pub struct Stretch {
    /// The debate.
    pub debate: DebateHead,
    /// The arguments, in order.
    pub arguments: Vec<Argument>,
}

/// Which debates to list, and which page of them.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only those in this state.
    pub state: Option<State>,
    /// Only those of this type.
    pub debate_type: Option<DebateType>,
    /// Only those that wait for the opponent's first argument.
    pub pending_first_opponent: bool,
    /// Only those that wait for a RULING.
    pub needs_arbitrator: bool,
    /// Only those whose title contains this.
    pub search: Option<String>,
    /// Only those of this project.
    pub project: Option<ProjectId>,
    /// Those of this project before all others. Not together with `before`.
    pub project_first: Option<ProjectId>,
    /// Only those of other projects, or of none.
    pub other_than: Option<ProjectId>,
    /// Only those that are not closed.
    pub open: bool,
    /// Only those that wait for this role.
    pub awaiting: Option<Role>,
    /// Only those that ended so, or go on.
    pub outcome: Option<Outcome>,
    /// Only those updated at this time or later.
    pub since: Option<Time>,
    /// The archived ones instead of the others.
    pub archived: bool,
    /// Only this one.
    pub only: Option<DebateId>,
    /// The SHA-256 of the token of the reader, to show what the reader has seen.
    pub reader: Option<Hash>,
    /// The size of the page.
    pub limit: u64,
    /// How many to skip.
    pub offset: u64,
    /// Only those updated before this time; of those at this time, only those with a greater id.
    pub before: Option<(Time, Option<DebateId>)>,
    /// Those that were updated longest ago first. `before` then means: only those updated after this
    /// time; of those at this time, only those with a smaller id.
    pub longest_first: bool,
}

/// Which documents to list, and which page of them.
#[derive(Debug, Clone, Default)]
pub struct DocumentFilter {
    /// Only those whose newest summary contains this, or whose id begins with it.
    pub search: Option<String>,
    /// The deleted ones too.
    pub include_deleted: bool,
    /// Only those that this debate cites.
    pub of_debate: Option<DebateId>,
    /// Of a seat of one debate, only those it may see.
    pub seen_by: Option<Seat>,
    /// The size of the page.
    pub limit: u64,
    /// How many to skip.
    pub offset: u64,
}

/// A page of debates, the most recently updated first.
#[derive(Debug, Clone)]
pub struct DebateList {
    /// The page.
    pub debates: Vec<DebateListed>,
    /// How many there are in total.
    pub total: u64,
    /// Whether `total` is exact, or the count stopped at a limit.
    pub total_is_exact: bool,
}

/// A debate in a list.
#[derive(Debug, Clone)]
pub struct DebateListed {
    /// The debate.
    pub debate: DebateHead,
    /// Its newest argument.
    pub last: LastArgument,
    /// How many of its points block completion.
    pub blocking: u64,
    /// Its short name.
    pub slug: Option<Slug>,
    /// The repository in which it was opened.
    pub origin: Option<Box<DebateOrigin>>,
    /// When it was archived.
    pub archived_at: Option<Time>,
    /// The newest argument that the reader of the list has seen, 0 for none, if the list has a reader.
    pub seen: Option<u64>,
}

/// A project with debates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectListed {
    /// Identifies it.
    pub id: ProjectId,
    /// Its name in its newest debate.
    pub name: String,
}

/// A document to create.
#[derive(Debug, Clone)]
pub struct NewDocument {
    /// The request id, by which a retry is recognized.
    pub request: RequestId,
    /// The seat that creates it.
    pub seat: Option<Uuid>,
    /// Its first version.
    pub version: NewVersion,
}

/// A version to add.
#[derive(Debug, Clone)]
pub struct NewVersion {
    /// A new title for the document. Without one, the first version's first heading names it.
    pub title: Option<Title>,
    /// Its content or its changes in one line.
    pub summary: Summary,
    /// Its text.
    pub content: Content,
    /// The author's label.
    pub author: Option<Author>,
    /// The author's own data: a JSON object.
    pub metadata: String,
}

/// The result of creating a document or adding a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptVersion {
    /// The version, without its text.
    pub version: VersionListed,
    /// The document.
    pub document: DocumentId,
    /// Whether this was a retry.
    pub replayed: bool,
}

/// A version of a document with its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentVersion {
    /// The version, without its text.
    pub version: VersionListed,
    /// Its text.
    pub content: Content,
}

/// A document in the requested version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// The document.
    pub id: DocumentId,
    /// The number of its newest version.
    pub newest: u64,
    /// When it was deleted.
    pub deleted_at: Option<Time>,
    /// The version.
    pub version: DocumentVersion,
}

/// A version without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionListed {
    /// 1, 2, 3 …
    pub number: u64,
    /// Its changes in one line.
    pub summary: Summary,
    /// The author's label.
    pub author: Option<Author>,
    /// A JSON object.
    pub metadata: String,
    /// When it was written.
    pub at: Time,
}

/// A page of a document's versions, the newest first.
#[derive(Debug, Clone)]
pub struct VersionList {
    /// The page.
    pub versions: Vec<VersionListed>,
    /// How many there are in total.
    pub total: u64,
    /// When the document was deleted.
    pub deleted_at: Option<Time>,
}

/// A page of documents, the most recently updated first.
#[derive(Debug, Clone)]
pub struct DocumentList {
    /// The page.
    pub documents: Vec<DocumentListed>,
    /// How many there are in total.
    pub total: u64,
    /// Whether `total` is exact, or the count stopped at a limit.
    pub total_is_exact: bool,
}

/// A document in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentListed {
    /// The document.
    pub id: DocumentId,
    /// Its newest version.
    pub version: u64,
    /// That version's summary.
    pub summary: Summary,
    /// Its title.
    pub title: Option<Title>,
    /// When that version was written.
    pub updated_at: Time,
    /// When it was deleted.
    pub deleted_at: Option<Time>,
}
