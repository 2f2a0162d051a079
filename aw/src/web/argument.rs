//! One argument: the same fragment for the first load, the live update and the export.

use std::collections::{HashMap, VecDeque};
use std::sync::{LazyLock, Mutex, PoisonError};

use askama::Template;
use aw_core::{Argument, ArgumentId, DocumentId, Kind, Role, Seq, Via};
use aw_record::{Citation, CitedDocument, DebateHead, Surroundings};

use super::assets;
use super::markdown::{self, plain};
use super::words::{Words, put};
use crate::api::types::Stamp;
use crate::server::Problem;

/// Words that are longer than this are folded.
const LONG: usize = 2_200;

/// How many bytes of rendered words are kept; arguments never change, so they are never wrong.
const KEPT: usize = 32 * 1024 * 1024;

#[derive(Template)]
#[template(path = "argument.html")]
pub(super) struct Shown {
    w: &'static Words,
    seq: Seq,
    role: Role,
    role_words: &'static str,
    kind: Kind,
    at: Stamp,
    ago: String,
    /// Who says that they wrote it, as HTML.
    author: Option<String>,
    hand: Hand,
    /// The seat it was written from.
    seat: Option<String>,
    /// The place of what it answers, and the word for it.
    answers: Option<(u64, String)>,
    parked: bool,
    automatic: bool,
    close: Option<bool>,
    html: String,
    is_long: bool,
    /// Whether it is on a page that somebody can act on.
    is_live: bool,
}

/// Where arguments are shown.
pub(super) struct Scene<'a> {
    pub(super) words: &'static Words,
    /// Now, in milliseconds.
    pub(super) now: i64,
    pub(super) citations: &'a [Citation],
    /// The places of what arguments may answer.
    pub(super) places: &'a HashMap<ArgumentId, Seq>,
    pub(super) is_live: bool,
}

impl Shown {
    pub(super) fn of(argument: &Argument, scene: &Scene<'_>) -> Self {
        let w = scene.words;
        let event = argument.event;
        let place = argument.parent.and_then(|parent| scene.places.get(&parent));
        let place = place.map(|seq| seq.0);
        Shown {
            w,
            seq: argument.seq,
            role: event.role(),
            role_words: w.role(event.role()),
            kind: event.kind(),
            at: Stamp(argument.at),
            ago: w.ago(scene.now - argument.at.0),
            author: argument
                .author
                .as_ref()
                .map(|author| put(w.written_by, format!("<bdi>{}</bdi>", plain(author.as_str())))),
            hand: Hand::of(argument, w),
            seat: argument.seat.as_ref().map(|seat| seat.as_str().to_owned()),
            answers: place.map(|place| (place, put(w.answers, format!("#{place}")))),
            parked: event.parked(),
            automatic: event.automatic(),
            close: event.close(),
            html: rendered(argument, scene),
            is_long: argument.content.as_str().len() > LONG,
            is_live: scene.is_live,
        }
    }

    pub(super) fn html(&self) -> String {
        self.render().unwrap_or_default()
    }
}

/// Whose hand wrote an argument, as far as the door tells by which it came in.
pub(crate) struct Hand {
    /// `person`, `line`, `program`, `server` or `debater`: the style's word for it.
    sort: &'static str,
    /// The same for people; the server's own hand is told by other words.
    pub(crate) words: Option<String>,
}

impl Hand {
    /// What comes by the page is a person's. Of what binds or stops the debaters it is said when it
    /// is not; what they say to each other is a program's as a rule. People and programs both use the
    /// command line, so that is all that is said of it.
    fn of(argument: &Argument, w: &'static Words) -> Self {
        let via = argument.via;
        let kind = argument.event.kind();
        let (sort, words) = match (kind, via) {
            _ if argument.event.automatic() => ("server", None),
            (Kind::Ruling, Via::Page) => ("person", Some(w.ruled_by_person.to_owned())),
            (Kind::Ruling, Via::Cli) => ("line", Some(w.ruled_on_line.to_owned())),
            (Kind::Ruling, _) => ("program", Some(put(w.ruled_by_program, via))),
            (Kind::Intervention, Via::Page) => ("person", Some(w.stopped_by_person.to_owned())),
            (Kind::Intervention, Via::Cli) => ("line", Some(w.stopped_on_line.to_owned())),
            (Kind::Intervention, _) => ("program", Some(put(w.stopped_by_program, via))),
            (_, Via::Page) => ("person", Some(w.by_person.to_owned())),
            (_, _) => ("debater", Some(put(w.via, via))),
        };
        Hand { sort, words }
    }
}

/// Whose hand wrote this, in English.
pub(crate) fn hand(argument: &Argument) -> Option<String> {
    Hand::of(argument, super::Tongue::English.words()).words
}

/// An argument as the page draws it, which it is part of.
pub(crate) fn fragment(
    argument: &Argument,
    around: &Surroundings,
    tongue: super::Tongue,
    now: i64,
) -> String {
    drawn(argument, around, tongue, now, true)
}

/// An argument as it is drawn in a transcript.
pub(crate) fn exported(
    argument: &Argument,
    around: &Surroundings,
    tongue: super::Tongue,
    now: i64,
) -> String {
    drawn(argument, around, tongue, now, false)
}

fn drawn(
    argument: &Argument,
    around: &Surroundings,
    tongue: super::Tongue,
    now: i64,
    is_live: bool,
) -> String {
    let Surroundings { places, citations } = around;
    let scene = Scene { words: tongue.words(), now, citations, places, is_live };
    Shown::of(argument, &scene).html()
}

#[derive(Template)]
#[template(path = "export.html")]
struct Export<'a> {
    w: &'static Words,
    style: &'a str,
    title: &'a str,
    kind: &'a str,
    state: &'static str,
    id: String,
    opened: Stamp,
    updated: Stamp,
    /// Where the lines of documents and the arguments go.
    gap: char,
}

/// The file around a transcript: before the documents, between them and the arguments, and after.
pub(crate) fn around_transcript(
    head: &DebateHead,
    tongue: super::Tongue,
) -> Result<[String; 3], Problem> {
    let w = tongue.words();
    let page = Export {
        w,
        style: assets::STYLE,
        title: head.title.as_str(),
        kind: head.debate_type.as_str(),
        state: w.state(head.state(), false),
        id: head.id.to_string(),
        opened: Stamp(head.created_at),
        updated: Stamp(head.updated_at),
        // No text has it.
        gap: '\0',
    };
    let page = page.render().map_err(|error| Problem::fault(format!("an export: {error}")))?;
    let parts: Vec<String> = page.split('\0').map(str::to_owned).collect();
    parts.try_into().map_err(|_| Problem::fault("an export has two gaps"))
}

/// A cited document, in the head of a transcript.
pub(crate) fn document_line(document: &CitedDocument, tongue: super::Tongue) -> String {
    format!(
        "<p>{}: <bdi>{}</bdi> <code>{}</code> v{}</p>",
        tongue.words().document,
        plain(document.summary.as_str()),
        document.id,
        document.version
    )
}

/// The words of arguments, rendered, as long as there is room.
#[derive(Default)]
struct Kept {
    bytes: usize,
    html: HashMap<ArgumentId, String>,
    /// The oldest first, which go first.
    order: VecDeque<ArgumentId>,
}

static RENDERED: LazyLock<Mutex<Kept>> = LazyLock::new(Mutex::default);

fn rendered(argument: &Argument, scene: &Scene<'_>) -> String {
    let kept = || RENDERED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(html) = kept().html.get(&argument.id) {
        return html.clone();
    }
    let version = |document: DocumentId| {
        let of =
            |citation: &&Citation| citation.seq == argument.seq && citation.document == document;
        scene.citations.iter().find(of).map(|citation| citation.version)
    };
    let html = markdown::render(argument.content.as_str(), &version);
    if !scene.is_live {
        // A transcript is read once: it must not push out what pages show.
        return html;
    }
    let mut kept = kept();
    if kept.html.insert(argument.id, html.clone()).is_none() {
        kept.bytes += html.len();
        kept.order.push_back(argument.id);
    }
    while kept.bytes > KEPT {
        let Some(oldest) = kept.order.pop_front() else { break };
        kept.bytes -= kept.html.remove(&oldest).map_or(0, |html| html.len());
    }
    html
}
