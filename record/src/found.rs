//! A search of the whole record, and what it finds.

use aw_core::{ArgumentId, Author, DebateId, DocumentId, Kind, Role, Seq, Summary, Time, Title};

use crate::Seat;

/// A search of titles, arguments, newest versions of documents, ids and authors.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// The words, all of which a text must have, or the beginning of an id.
    pub text: String,
    /// Only in this debate and in the documents that it cites.
    pub debate: Option<DebateId>,
    /// Only what a seat of one debate may see.
    pub seen_by: Option<Seat>,
    /// Only after the hit with this mark.
    pub before: Option<u64>,
    /// At most so many hits.
    pub limit: u64,
}

/// A page of hits: those found by an id first, then those found by words, the newest first.
#[derive(Debug, Clone)]
pub struct SearchPage {
    /// The page.
    pub hits: Vec<SearchHit>,
    /// The mark of the last hit, if more may follow.
    pub next: Option<u64>,
    /// Whether the index holds everything that was written before the search.
    pub is_complete: bool,
}

/// A text that a search found.
#[derive(Debug, Clone)]
pub struct SearchHit {
    /// Which text it is.
    pub place: HitPlace,
    /// The label of its author.
    pub author: Option<Author>,
    /// When it was written.
    pub at: Time,
    /// A piece of it.
    pub snippet: Vec<SnippetPart>,
}

/// Where a hit stands.
#[derive(Debug, Clone)]
pub enum HitPlace {
    /// In the title of a debate.
    Title {
        /// The debate.
        debate: DebateId,
        /// Its title.
        title: Title,
    },
    /// In an argument.
    Argument {
        /// Its debate.
        debate: DebateId,
        /// The title of the debate.
        title: Title,
        /// The argument.
        id: ArgumentId,
        /// Its position in the debate.
        seq: Seq,
        /// Its kind.
        kind: Kind,
        /// The role that wrote it.
        role: Role,
    },
    /// In the newest version of a document.
    Document {
        /// The document's title, or else the summary of the version.
        name: String,
        /// The document.
        id: DocumentId,
        /// The version.
        version: u64,
        /// Its summary.
        summary: Summary,
    },
}

/// A part of a snippet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnippetPart {
    /// The text, on one line.
    pub text: String,
    /// Whether it is a word that the search asked for.
    pub is_match: bool,
}
