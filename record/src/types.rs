//! What goes in and comes out of the engine.

use std::collections::HashMap;
use std::sync::Arc;

use aw_core::{
    Action, Argument, ArgumentId, Author, Available, ByRole, Content, Debate, DebateId, DebateType,
    DocumentId, Event, Kind, Move, RequestId, ResolutionPolicy, Role, SeatName, Seq, State,
    Summary, Time, Title, Via,
};
use uuid::Uuid;

/// Something to be written into the record of a debate.
#[derive(Debug, Clone)]
pub struct Request {
    /// The debate.
    pub debate: DebateId,
    /// Makes its retry recognisable.
    pub id: RequestId,
    /// Who says so.
    pub author: Option<Author>,
    /// The door it came in by.
    pub via: Via,
    /// The seat it comes from, where the server asks who is calling.
    pub seat: Option<SeatName>,
    /// What is asked.
    pub ask: Ask,
}

/// What a [`Request`] asks for.
#[derive(Debug, Clone)]
pub enum Ask {
    /// Open a debate with its MOTION.
    Open {
        /// What it is called.
        title: Title,
        /// Its type.
        debate_type: DebateType,
        /// What its roles go by, unless that is built in.
        texts: Option<Box<TypeTexts>>,
        /// Who approves a RESOLUTION.
        policy: ResolutionPolicy,
        /// The MOTION.
        motion: Content,
    },
    /// Make a move in it.
    Play {
        /// Who moves.
        role: Role,
        /// The move.
        play: Move<ArgumentId>,
        /// What is said with it.
        content: Content,
    },
}

/// What the roles of a debate go by: the texts of its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeTexts {
    /// What the type is called.
    pub title: Title,
    /// What it is for.
    pub description: Summary,
    /// The rules of each role.
    pub rules: ByRole<Content>,
}

impl TypeTexts {
    /// The most bytes that the rules of all roles may have together.
    pub const MAX_BYTES: usize = 64 * 1024;
}

/// What became of a [`Request`].
#[derive(Debug, Clone)]
pub struct Receipt {
    /// The debate as it is now.
    pub debate: DebateHead,
    /// The argument that the request wrote, now or when it was first sent.
    pub argument: Argument,
    /// Whether it had been written before.
    pub replayed: bool,
    /// What others wrote between the target and this argument.
    pub missed: Vec<Argument>,
    /// What the role should do now.
    pub action: Action,
    /// What to wait on next.
    pub waits_on: ArgumentId,
}

/// A debate without its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DebateHead {
    /// Its name.
    pub id: DebateId,
    /// What it is called.
    pub title: Title,
    /// Its type.
    pub debate_type: DebateType,
    /// How the rules see it.
    pub debate: Debate,
    /// When it was opened.
    pub created_at: Time,
    /// When its newest argument was written.
    pub updated_at: Time,
}

impl DebateHead {
    /// Whom it waits for.
    pub fn state(&self) -> State {
        self.debate.standing.state
    }
}

/// The newest argument of a debate, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastArgument {
    /// Its name.
    pub id: ArgumentId,
    /// Its place.
    pub seq: Seq,
    /// Whose it is.
    pub role: Role,
    /// Its kind.
    pub kind: Kind,
    /// Whether it was parked.
    pub parked: bool,
    /// Who says so.
    pub author: Option<Author>,
    /// When it was written.
    pub at: Time,
}

/// What a wait found out.
#[derive(Debug, Clone)]
pub enum Poll {
    /// There is something to do or to read.
    News(Arc<News>),
    /// Nothing yet.
    Nothing {
        /// The debate.
        debate: DebateId,
        /// Whom it waits for.
        state: State,
        /// The place of the argument that the waiter had seen, or 0.
        seen: u64,
        /// What the role should do now: wait.
        action: Action,
        /// When the newest argument was written.
        since: Time,
    },
}

/// The answer to a wait that is over.
#[derive(Debug, Clone)]
pub struct News {
    /// What the role should do now.
    pub action: Action,
    /// Whom the debate waits for.
    pub state: State,
    /// The newest unseen argument, or the newest of the others.
    pub argument: Argument,
    /// The unseen ones: at most the newest 20, and every RULING.
    pub arguments: Vec<Argument>,
    /// When the RULINGs before `arguments` are too long to be read in one go: they are those after the
    /// first of these places and up to the second, for [`crate::Engine::piece`].
    pub earlier: Option<(Seq, Seq)>,
    /// How many unseen ones are not among them.
    pub omitted: u64,
    /// The newest argument of the debate.
    pub waits_on: ArgumentId,
    /// What a RULING is owed to.
    pub pending: Option<ArgumentId>,
    /// The moves that are open to the role.
    pub available: Vec<Available>,
}

/// A debate for somebody who comes or comes back to it, as far as it is read in one go.
#[derive(Debug, Clone)]
pub struct Context {
    /// The debate.
    pub debate: DebateHead,
    /// Its MOTION.
    pub motion: Argument,
    /// The newest others, in order.
    pub arguments: Vec<Argument>,
    /// The RULINGs that are older than those.
    pub rulings: Vec<Argument>,
    /// The documents it cites.
    pub documents: Vec<CitedDocument>,
    /// Whether texts of its type were kept with it.
    pub own_rules: bool,
    /// When all that was asked for is too long to be read in one go: the place of the first of
    /// `arguments`. Then the three lists are empty, and [`crate::Engine::piece`] and
    /// [`crate::Engine::cited`] read them.
    pub rest: Option<Seq>,
}

/// Which arguments of a debate are read piece by piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// All of them.
    All,
    /// Its RULINGs only.
    Rulings,
}

/// Where a page of cited documents ended; by default before the first of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CitedMark {
    pub(crate) seq: u64,
    pub(crate) document: i64,
}

/// Some of the documents that a debate cites.
#[derive(Debug, Clone)]
pub struct CitedPage {
    /// The documents, in the order in which they were cited.
    pub documents: Vec<CitedDocument>,
    /// Where the next page begins, if there may be more.
    pub next: Option<CitedMark>,
}

/// What a page of a debate is drawn from.
#[derive(Debug, Clone)]
pub struct PageData {
    /// The debate.
    pub debate: DebateHead,
    /// Its MOTION.
    pub motion: Argument,
    /// A stretch of the others, in order.
    pub arguments: Vec<Argument>,
    /// How many there are between the MOTION and that stretch.
    pub earlier: u64,
    /// Who spoke when, from the first to the last.
    pub moments: Vec<Moment>,
    /// What the MOTION and the stretch mean by the documents they name.
    pub citations: Vec<Citation>,
    /// The documents of the debate.
    pub documents: Vec<CitedDocument>,
    /// What a RULING is owed to.
    pub pending: Option<Argument>,
    /// Whether its creator sent rules along.
    pub own_rules: bool,
}

/// An argument without its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Its place.
    pub seq: Seq,
    /// What happened.
    pub event: Event,
    /// When.
    pub at: Time,
}

/// Which version of a document an argument means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Citation {
    /// The argument's place.
    pub seq: Seq,
    /// The document.
    pub document: DocumentId,
    /// The version.
    pub version: u64,
}

/// What arguments are drawn with.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// The places of what they answer.
    pub places: HashMap<ArgumentId, Seq>,
    /// What they mean by the documents they name.
    pub citations: Vec<Citation>,
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
    /// When the document was deleted.
    pub deleted_at: Option<Time>,
}

/// A long text in pieces. Memory that is asked for in pieces is given back when one of them has been sent;
/// a text of megabytes would leave a gap that few others fit into.
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

/// How much text is read on a thread that serves everybody, and in each piece of a long answer.
pub(crate) const PIECE: usize = 64 * 1024;

/// A stretch of a debate's record, with the debate as it was when it was read.
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
    /// Only those that wait for an opponent who has not spoken yet.
    pub pending_first_opponent: bool,
    /// Only those to which a RULING is owed.
    pub needs_arbitrator: bool,
    /// Only those whose title contains this.
    pub search: Option<String>,
    /// Only this one.
    pub only: Option<DebateId>,
    /// At most so many.
    pub limit: u64,
    /// After leaving out so many.
    pub offset: u64,
    /// Only those updated before this moment; at the same moment, those with a greater id.
    pub before: Option<(Time, Option<DebateId>)>,
}

/// A page of debates, the most recently updated first.
#[derive(Debug, Clone)]
pub struct DebateList {
    /// The page.
    pub debates: Vec<DebateListed>,
    /// How many there are in all.
    pub total: u64,
    /// Whether `total` counted to the end.
    pub total_is_exact: bool,
}

/// A debate in a list.
#[derive(Debug, Clone)]
pub struct DebateListed {
    /// The debate.
    pub debate: DebateHead,
    /// Its newest argument.
    pub last: LastArgument,
}

/// A document to be kept.
#[derive(Debug, Clone)]
pub struct NewDocument {
    /// Makes its retry recognisable.
    pub request: RequestId,
    /// The seat that it is kept from.
    pub seat: Option<Uuid>,
    /// Its first version.
    pub version: NewVersion,
}

/// A version to be kept.
#[derive(Debug, Clone)]
pub struct NewVersion {
    /// What it is, or what it changes.
    pub summary: Summary,
    /// Its text.
    pub content: Content,
    /// Who wrote it.
    pub author: Option<Author>,
    /// Whatever the author keeps with it: a JSON object.
    pub metadata: String,
}

/// A version as it was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptVersion {
    /// The version, without its text.
    pub version: VersionListed,
    /// The document.
    pub document: DocumentId,
    /// Whether it had been kept before.
    pub replayed: bool,
}

/// A version of a document, whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentVersion {
    /// The version, without its text.
    pub version: VersionListed,
    /// Its text.
    pub content: Content,
}

/// A document in the version that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// The document.
    pub id: DocumentId,
    /// The newest version it has.
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
    /// What it changes.
    pub summary: Summary,
    /// Who wrote it.
    pub author: Option<Author>,
    /// A JSON object.
    pub metadata: String,
    /// When it was kept.
    pub at: Time,
}

/// A page of a document's versions, the newest first.
#[derive(Debug, Clone)]
pub struct VersionList {
    /// The page.
    pub versions: Vec<VersionListed>,
    /// How many there are in all.
    pub total: u64,
    /// When the document was deleted.
    pub deleted_at: Option<Time>,
}

/// A page of documents, the most recently updated first.
#[derive(Debug, Clone)]
pub struct DocumentList {
    /// The page.
    pub documents: Vec<DocumentListed>,
    /// How many there are in all.
    pub total: u64,
    /// Whether `total` counted to the end.
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
    /// When that version was kept.
    pub updated_at: Time,
    /// When it was deleted.
    pub deleted_at: Option<Time>,
}
