//! Draws an argument. The first load, the live update and the export share this fragment.

use std::collections::{HashMap, VecDeque};
use std::sync::{LazyLock, Mutex, PoisonError};

use askama::Template;
use aw_core::{Argument, ArgumentId, DocumentId, Kind, Ledger, Outcome, Role, Seq, Via};
use aw_record::{
    Citation, CitedDocument, DebateHead, PointRecord, ReportData, Stated, Surroundings,
};

use super::STYLE;
use super::i18n::{Phrases, put};
use super::markdown::{self, DocumentLink, plain};
use super::points::{PointsView, StatementNotes};
use super::report::{self, ReportView};
use crate::api::types::Stamp;
use crate::kit::texts::Language;

/// Arguments longer than this, in bytes, are folded.
const LONG: usize = 2_200;

/// A time in an export, which nobody knows the age of.
const MINUTE: &str = "%Y-%m-%d %H:%M UTC";

/// The size of the render cache in bytes. Arguments never change, but documents may be renamed.
const CACHE_BYTES: usize = 32 * 1024 * 1024;

#[derive(Template)]
#[template(path = "argument.html")]
pub(crate) struct ArgumentView {
    t: &'static Phrases,
    seq: Seq,
    role: Role,
    role_words: &'static str,
    kind: Kind,
    at: Stamp,
    ago: String,
    /// The name that the author gave, as HTML.
    author: Option<String>,
    written_by: WrittenBy,
    /// The seat that wrote it.
    seat: Option<String>,
    /// The `seq` of the argument that it answers, and the text of the link.
    answers: Option<(u64, String)>,
    parked: bool,
    automatic: bool,
    close: Option<bool>,
    html: String,
    is_long: bool,
    /// Whether it is on a page, not in an export.
    is_live: bool,
}

/// The surroundings in which an argument is drawn.
pub(crate) struct ArgumentContext<'a> {
    pub(crate) phrases: &'static Phrases,
    /// The current time in milliseconds.
    pub(crate) now: i64,
    pub(crate) citations: &'a [Citation],
    /// The `seq` of each argument that another may answer.
    pub(crate) places: &'a HashMap<ArgumentId, Seq>,
    /// The statements of the arguments.
    pub(crate) stated: &'a [Stated],
    /// The points as they are now, in a debate with points.
    pub(crate) ledger: Option<&'a Ledger>,
    pub(crate) is_closed: bool,
    /// The address of an argument.
    pub(crate) href: &'a dyn Fn(Seq) -> String,
    pub(crate) is_live: bool,
}

impl ArgumentView {
    pub(crate) fn of(argument: &Argument, context: &ArgumentContext<'_>) -> Self {
        let t = context.phrases;
        let event = argument.event;
        let place = argument.parent.and_then(|parent| context.places.get(&parent));
        let place = place.map(|seq| seq.0);
        ArgumentView {
            t,
            seq: argument.seq,
            role: event.role(),
            role_words: t.role(event.role()),
            kind: event.kind(),
            at: Stamp(argument.at),
            ago: match context.is_live {
                true => t.ago(context.now - argument.at.0),
                false => report::date(argument.at, MINUTE),
            },
            author: argument
                .author
                .as_ref()
                .map(|author| put(t.written_by, format!("<bdi>{}</bdi>", plain(author.as_str())))),
            written_by: WrittenBy::of(argument, t),
            seat: argument.seat.as_ref().map(|seat| seat.as_str().to_owned()),
            answers: place.map(|place| (place, put(t.answers, format!("#{place}")))),
            parked: event.parked(),
            automatic: event.automatic(),
            close: event.close(),
            html: with_notes(argument, context),
            is_long: argument.content.as_str().len() > LONG,
            is_live: context.is_live,
        }
    }

    pub(crate) fn html(&self) -> String {
        self.render().unwrap_or_default()
    }
}

/// The author of an argument: a person or a program, judged by the way it came in.
pub(crate) struct WrittenBy {
    /// `person`, `line`, `program`, `server` or `debater`, for the style.
    class: &'static str,
    /// The same in words; none for the server, whose arguments are marked as automatic.
    pub(crate) words: Option<String>,
}

impl WrittenBy {
    /// The page is used by people. Both people and programs use the command line, so its arguments
    /// only say that. For rulings and interventions a program is named as such; debaters are usually
    /// programs, so their arguments are not.
    fn of(argument: &Argument, t: &'static Phrases) -> Self {
        let via = argument.via;
        let kind = argument.event.kind();
        let (class, words) = match (kind, via) {
            _ if argument.event.automatic() => ("server", None),
            (Kind::Ruling, Via::Page) => ("person", Some(t.ruled_by_person.to_owned())),
            (Kind::Ruling, Via::Cli) => ("line", Some(t.ruled_on_line.to_owned())),
            (Kind::Ruling, Via::Run) => ("program", Some(t.ruled_by_run.to_owned())),
            (Kind::Ruling, _) => ("program", Some(put(t.ruled_by_program, via))),
            (Kind::Intervention, Via::Page) => ("person", Some(t.stopped_by_person.to_owned())),
            (Kind::Intervention, Via::Cli) => ("line", Some(t.stopped_on_line.to_owned())),
            (Kind::Intervention, Via::Run) => ("program", Some(t.stopped_by_run.to_owned())),
            (Kind::Intervention, _) => ("program", Some(put(t.stopped_by_program, via))),
            (_, Via::Page) => ("person", Some(t.by_person.to_owned())),
            (_, Via::Run) => ("debater", Some(t.by_run.to_owned())),
            (_, _) => ("debater", Some(put(t.via, via))),
        };
        WrittenBy { class, words }
    }
}

/// The author of this argument, in English.
pub(crate) fn written_by(argument: &Argument) -> Option<String> {
    WrittenBy::of(argument, Language::English.phrases()).words
}

/// An argument as HTML for a page.
pub(crate) fn fragment(
    argument: &Argument,
    around: &Surroundings,
    language: Language,
    now: i64,
) -> String {
    drawn(argument, around, language, now, true)
}

/// An argument as HTML for a transcript.
pub(crate) fn exported(
    argument: &Argument,
    around: &Surroundings,
    language: Language,
    now: i64,
) -> String {
    self_contained(&drawn(argument, around, language, now, false))
}

fn drawn(
    argument: &Argument,
    around: &Surroundings,
    language: Language,
    now: i64,
    is_live: bool,
) -> String {
    let Surroundings { places, citations, stated, ledger, is_closed } = around;
    let context = ArgumentContext {
        phrases: language.phrases(),
        now,
        citations,
        places,
        stated,
        ledger: ledger.as_ref(),
        is_closed: *is_closed,
        href: &|seq| format!("#a-{seq}"),
        is_live,
    };
    ArgumentView::of(argument, &context).html()
}

#[derive(Template)]
#[template(path = "export.html")]
struct TranscriptFrame<'a> {
    t: &'static Phrases,
    style: &'a str,
    title: &'a str,
    kind: &'a str,
    state: &'static str,
    outcome: Option<(Outcome, &'static str)>,
    id: String,
    opened: String,
    updated: String,
    points: Option<String>,
    /// The report of a closed debate, as HTML.
    report: Option<String>,
    /// Stands where the list of documents, the arguments and the texts of documents go.
    gap: char,
}

/// The HTML around a transcript: before the list of its documents, before the arguments, before the
/// texts of its documents, and after.
pub(crate) fn transcript_frame(
    head: &DebateHead,
    points: &[PointRecord],
    report: Option<&ReportData>,
    language: Language,
) -> Result<[String; 4], String> {
    let t = language.phrases();
    let page = TranscriptFrame {
        t,
        style: STYLE,
        title: head.title.as_str(),
        kind: head.debate_type.as_str(),
        state: t.state(head.state(), false),
        outcome: t.outcome(head.outcome).map(|words| (head.outcome, words)),
        points: PointsView::of(head, points, t, &|seq| format!("#a-{seq}")).map(|view| view.html()),
        report: report
            .map(|report| ReportView::of(report, t, &|seq| format!("#a-{seq}")).exported().html()),
        id: head.id.to_string(),
        opened: report::date(head.created_at, MINUTE),
        updated: report::date(head.updated_at, MINUTE),
        // No text contains it.
        gap: '\0',
    };
    let page = page.render().map_err(|error| format!("an export: {error}"))?;
    let parts: Vec<String> = self_contained(&page).split('\0').map(str::to_owned).collect();
    parts.try_into().map_err(|_| "an export has three gaps".to_owned())
}

/// The HTML of a transcript in which the links to documents lead to their texts at its end.
fn self_contained(html: &str) -> String {
    // A text contains no `<`, so only a tag of ours begins like this.
    const TAG: &str = "<a ";
    let mut parts = html.split(TAG);
    let mut inside = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        inside.push_str(TAG);
        let document = ["class=\"doc\" href=\"", "href=\""].iter().find_map(|before| {
            let address = part.strip_prefix(before)?.strip_prefix("/doc/")?;
            let (address, rest) = address.split_once('"')?;
            Some((before, address.split('?').next()?, rest))
        });
        match document {
            Some((before, id, rest)) => {
                inside.extend([before, "#doc-", id, "\"", rest]);
            }
            None => inside.push_str(part),
        }
    }
    inside
}

/// A cited document as HTML for the head of a transcript. Links lead to its text, or here if it is deleted.
pub(crate) fn document_line(document: &CitedDocument, language: Language) -> String {
    let t = language.phrases();
    let CitedDocument { id, version, .. } = document;
    let name = format!("<bdi dir=\"auto\">{}</bdi>", plain(&document.name));
    match document.deleted_at {
        Some(_) => {
            let deleted = t.document_deleted;
            format!(
                "<p id=\"doc-{id}\">{}: {name} v{version} <span class=\"tag\">{deleted}</span></p>",
                t.document
            )
        }
        None => format!("<p>{}: <a href=\"#doc-{id}\">{name}</a> v{version}</p>", t.document),
    }
}

/// The text of a cited document as HTML for the end of a transcript.
pub(crate) fn document_text(document: &CitedDocument, text: &str) -> String {
    format!(
        "<article class=\"exported-document\" id=\"doc-{}\"><h2><bdi dir=\"auto\">{}</bdi> v{}</h2>\
         <div class=\"words sheet\" dir=\"auto\">{}</div></article>",
        document.id,
        plain(&document.name),
        document.version,
        markdown::render(text, &|_| None)
    )
}

/// Rendered arguments.
#[derive(Default)]
struct RenderCache {
    bytes: usize,
    drawn: HashMap<ArgumentId, DrawnText>,
    /// Oldest first, which is dropped first.
    order: VecDeque<ArgumentId>,
}

/// A rendered argument, and what the documents that it cites were called.
struct DrawnText {
    names: Vec<String>,
    html: String,
}

static CACHE: LazyLock<Mutex<RenderCache>> = LazyLock::new(Mutex::default);

/// The text of an argument as HTML, with the state of each point and the place of each quote. Only
/// these change, so the cache has the rest.
fn with_notes(argument: &Argument, context: &ArgumentContext<'_>) -> String {
    let notes = StatementNotes::of(context.stated, argument.seq);
    let html = rendered(argument, context, &notes);
    match context.ledger.filter(|_| !notes.is_empty()) {
        Some(ledger) => markdown::fill(&html, &|number| {
            notes.note(number, ledger, context.is_closed, context.phrases, context.href)
        }),
        None => html,
    }
}

fn rendered(
    argument: &Argument,
    context: &ArgumentContext<'_>,
    notes: &StatementNotes<'_>,
) -> String {
    let cache = || CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    let own = context.citations.iter().filter(|citation| citation.seq == argument.seq);
    let names: Vec<&str> = own.clone().map(|citation| citation.name.as_str()).collect();
    if let Some(cached) = cache().drawn.get(&argument.id).filter(|cached| cached.names == names) {
        return cached.html.clone();
    }
    let link = |document: DocumentId| {
        own.clone().find(|citation| citation.document == document).map(DocumentLink::from)
    };
    let html = if notes.is_empty() {
        markdown::render(argument.content.as_str(), &link)
    } else {
        let (text, marks) = notes.marked(argument.content.as_str());
        markdown::render_marked(&text, &link, &marks)
    };
    if !context.is_live {
        // A transcript is read once and must not push out what pages show.
        return html;
    }
    let mut cache = cache();
    let drawn =
        DrawnText { names: names.into_iter().map(str::to_owned).collect(), html: html.clone() };
    cache.bytes += html.len();
    match cache.drawn.insert(argument.id, drawn) {
        Some(before) => cache.bytes -= before.html.len(),
        None => cache.order.push_back(argument.id),
    }
    while cache.bytes > CACHE_BYTES {
        let Some(oldest) = cache.order.pop_front() else { break };
        cache.bytes -= cache.drawn.remove(&oldest).map_or(0, |drawn| drawn.html.len());
    }
    html
}
