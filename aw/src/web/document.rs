//! `/doc/{id}`: shows one version of a document or compares two.

use std::time::Duration;

use askama::Template;
use aw_core::{Content, DocumentId, State};
use aw_record::{CitingDebate, VersionListed};
use axum::response::Response;
use serde::Deserialize;

use super::assets;
use super::error_page;
use super::page_request::PageRequest;
use crate::api::types::Stamp;
use crate::policy::Command;
use crate::render::diff::{self, Comparison, DiffRow};
use crate::render::i18n::{Phrases, put};
use crate::render::markdown::{self, RenderedChanges, RenderedDocument, plain};
use crate::server::input::{Params, Segment};
use crate::server::{Access, COMPARING, DRAWING, Problem, input};

/// How long a comparison may take.
const PATIENCE: Duration = Duration::from_millis(400);

/// How many of the newest versions have a button.
const BUTTONS: u64 = 9;

/// How many versions are listed.
const LISTED: u64 = 200;

/// How many of the debates that cite it are listed.
const CITING: u64 = 50;

#[derive(Debug, Default, Deserialize)]
pub(super) struct DocumentQuery {
    version: Option<u64>,
    from: Option<u64>,
    to: Option<u64>,
    #[serde(default)]
    plain: String,
    /// The lines to mark, such as `14-16`.
    #[serde(default)]
    lines: String,
    /// `lines` compares the lines of two versions side by side.
    #[serde(default)]
    view: String,
}

impl DocumentQuery {
    /// The first and the last line to mark.
    fn marked(&self) -> Option<(usize, usize)> {
        let (first, last) = self.lines.split_once('-')?;
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        (1..=last).contains(&first).then_some((first, last))
    }
}

#[derive(Template)]
#[template(path = "document.html")]
struct DocumentPage<'a> {
    request: &'a PageRequest,
    t: &'static Phrases,
    assets: &'a str,
    id: String,
    /// Its first heading, or else its summary.
    name: String,
    summary: String,
    place: String,
    author: String,
    ago: String,
    at: Stamp,
    is_deleted: bool,
    versions: Vec<VersionRow>,
    /// The debates that cite it.
    citing: Vec<CitingRow>,
    shown: u64,
    newest: u64,
    from: u64,
    to: u64,
    view: DocumentView,
    body: DocumentBody,
}

impl DocumentPage<'_> {
    /// The versions with a button, newest last.
    fn buttons(&self) -> impl Iterator<Item = &VersionRow> {
        let near = |version: &&VersionRow| {
            version.number + BUTTONS > self.newest || version.number == self.shown
        };
        self.versions.iter().rev().filter(near)
    }

    /// The address of a version in the current view.
    fn version_href(&self, number: u64) -> String {
        let id = &self.id;
        match self.view {
            DocumentView::Read => format!("/doc/{id}?version={number}"),
            DocumentView::Raw => format!("/doc/{id}?version={number}&plain=1"),
            DocumentView::Changes | DocumentView::Lines if number == 1 => {
                format!("/doc/{id}?version=1")
            }
            DocumentView::Changes => format!("/doc/{id}?from={}&to={number}", number - 1),
            DocumentView::Lines => format!("/doc/{id}?from={}&to={number}&view=lines", number - 1),
        }
    }
}

/// How a document is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DocumentView {
    Changes,
    Read,
    Raw,
    Lines,
}

struct VersionRow {
    number: u64,
    summary: String,
    author: Option<String>,
    ago: String,
    at: Stamp,
}

impl VersionRow {
    fn of(version: &VersionListed, t: &'static Phrases, now: i64) -> Self {
        VersionRow {
            number: version.number,
            summary: version.summary.as_str().to_owned(),
            author: version.author.as_ref().map(|author| author.as_str().to_owned()),
            ago: t.ago(now - version.at.0),
            at: Stamp(version.at),
        }
    }
}

/// A debate that cites the document.
struct CitingRow {
    href: String,
    title: String,
    state: State,
    state_words: &'static str,
    /// Which version it cites where.
    place: String,
    ago: String,
    at: Stamp,
}

impl CitingRow {
    fn of(citing: &CitingDebate, request: &PageRequest, now: i64) -> Self {
        let t = request.phrases;
        let (id, seq) = (citing.id, citing.seq);
        CitingRow {
            href: format!("/debate/{id}#a-{seq}"),
            title: citing.title.as_str().to_owned(),
            state: citing.state,
            state_words: t.state(citing.state, request.rules()),
            place: format!("v{} · #{seq}", citing.version),
            ago: t.ago(now - citing.updated_at.0),
            at: Stamp(citing.updated_at),
        }
    }
}

enum DocumentBody {
    /// The rendered text, and its headings.
    Rendered(RenderedDocument),
    /// The plain text.
    Plain(String),
    /// The plain text before, in and after the marked lines, and the first of them.
    Marked { before: String, marked: String, after: String, first: usize },
    /// The lines of two versions side by side, as HTML.
    Lines(String),
    /// The changes between two versions, in the rendered text.
    Changes(RenderedChanges),
}

#[derive(Template)]
#[template(path = "changes.html")]
struct LinesBody<'a> {
    t: &'static Phrases,
    changes: Comparison<'a>,
    from: u64,
    to: u64,
}

pub(super) async fn read(
    access: Access,
    request: PageRequest,
    Segment(id): Segment,
    Params(asked): Params<DocumentQuery>,
) -> Response {
    error_page::or_page(&request, page(&access, &request, &id, &asked).await)
}

async fn page(
    access: &Access,
    request: &PageRequest,
    id: &str,
    asked: &DocumentQuery,
) -> Result<Response, Problem> {
    let t = request.phrases;
    let now = access.app.record.now().0;
    let id: DocumentId = input::id("document_id", id)?;
    let shown = access.document(Command::DocsGet, id).await?;
    let comparing = asked.from.is_some() && asked.to.is_some();
    // It waits for its turn before it reads, so that waiting pages hold no memory.
    let turn = if comparing { COMPARING.take().await } else { DRAWING.take().await };
    let mut document = shown.read(asked.to.or(asked.version), true).await?;
    let mut versions = Vec::new();
    loop {
        let next = versions.len() as u64;
        let some = shown.versions(true, LISTED - next, next).await?.versions;
        if some.is_empty() {
            break;
        }
        versions.extend(some.iter().map(|version| VersionRow::of(version, t, now)));
    }
    let citing = access.citing(id, CITING).await?;
    let citing = citing.iter().map(|one| CitingRow::of(one, request, now)).collect();
    let number = document.version.version.number;
    let from = asked.from.unwrap_or_else(|| number.saturating_sub(1).max(1));
    let content =
        std::mem::replace(&mut document.version.content, Content::recorded(String::new()));
    let source = if comparing {
        drop(content);
        let (old, new) = shown.two_versions(Some(from), Some(number)).await?;
        let is_by_line = asked.view == "lines";
        BodySource::Two { old: old.content, new: new.content, is_by_line }
    } else if let Some(lines) = asked.marked() {
        BodySource::Marked(content, lines)
    } else if asked.plain == "1" {
        BodySource::Plain(content)
    } else {
        BodySource::Markdown(content)
    };
    let request = request.clone();
    let drawing = move || {
        let name = markdown::first_heading(source.newest());
        let body = source.drawn(t, from, number);
        let view = match &body {
            DocumentBody::Rendered(_) => DocumentView::Read,
            DocumentBody::Plain(_) | DocumentBody::Marked { .. } => DocumentView::Raw,
            DocumentBody::Lines(_) => DocumentView::Lines,
            DocumentBody::Changes(_) => DocumentView::Changes,
        };
        let listed = &document.version.version;
        let author = listed.author.as_ref().map(|author| put(t.written_by, author));
        request.page(&DocumentPage {
            request: &request,
            t,
            assets: &assets::FOLDER,
            id: id.to_string(),
            name: name.unwrap_or_else(|| listed.summary.as_str().to_owned()),
            summary: listed.summary.as_str().to_owned(),
            place: t
                .version_of
                .replace("{n}", &number.to_string())
                .replace("{all}", &document.newest.to_string()),
            author: author.unwrap_or_else(|| t.no_author.to_owned()),
            ago: t.ago(now - listed.at.0),
            at: Stamp(listed.at),
            is_deleted: document.deleted_at.is_some(),
            versions,
            citing,
            shown: number,
            newest: document.newest,
            from,
            to: number,
            view,
            body,
        })
    };
    turn.run(drawing).await
}

/// The text that the body is drawn from.
enum BodySource {
    Markdown(Content),
    Plain(Content),
    Marked(Content, (usize, usize)),
    Two { old: Content, new: Content, is_by_line: bool },
}

impl BodySource {
    /// The text of the version that is shown.
    fn newest(&self) -> &str {
        match self {
            BodySource::Markdown(text)
            | BodySource::Plain(text)
            | BodySource::Marked(text, _)
            | BodySource::Two { new: text, .. } => text.as_str(),
        }
    }

    fn drawn(self, t: &'static Phrases, from: u64, to: u64) -> DocumentBody {
        match self {
            BodySource::Markdown(text) => {
                DocumentBody::Rendered(markdown::render_document(text.as_str()))
            }
            BodySource::Plain(text) => DocumentBody::Plain(text.into_string()),
            BodySource::Marked(text, (first, last)) => marked(text.as_str(), first, last),
            BodySource::Two { old, new, is_by_line } => {
                let (old, new) = (old.as_str(), new.as_str());
                let is_by_line = is_by_line || old == new;
                let changes =
                    if is_by_line { None } else { markdown::changes(old, new, to, t, PATIENCE) };
                match changes {
                    Some(changes) => DocumentBody::Changes(changes),
                    None => {
                        let changes = diff::compare(old, new, PATIENCE);
                        let body = LinesBody { t, changes, from, to };
                        DocumentBody::Lines(body.render().unwrap_or_default())
                    }
                }
            }
        }
    }
}

/// Splits a text around the lines to mark, as they are counted for quotes.
fn marked(text: &str, first: usize, last: usize) -> DocumentBody {
    let after_line = |count: usize| {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        count.checked_sub(1).map_or(0, |count| ends.clone().nth(count).unwrap_or(text.len()))
    };
    let (before, rest) = text.split_at(after_line(first - 1));
    let (marked, after) = rest.split_at(after_line(last) - before.len());
    // The line end stays outside, so that the mark does not fill the next line.
    let end = marked.trim_end_matches(['\r', '\n']).len();
    let (marked, line_end) = marked.split_at(end);
    DocumentBody::Marked {
        before: before.to_owned(),
        marked: marked.to_owned(),
        after: format!("{line_end}{after}"),
        first,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_asked_lines_are_marked() {
        let split = |text: &str, first, last| match marked(text, first, last) {
            DocumentBody::Marked { before, marked, after, .. } => [before, marked, after],
            _ => unreachable!("it marks"),
        };
        assert_eq!(split("a\nb\nc\nd\n", 2, 3), ["a\n", "b\nc", "\nd\n"]);
        assert_eq!(split("a\nb", 1, 1), ["", "a", "\nb"]);
        assert_eq!(split("a\nb", 2, 9), ["a\n", "b", ""]);
        assert_eq!(split("a\nb", 7, 9), ["a\nb", "", ""]);
        let query = |lines: &str| DocumentQuery { lines: lines.to_owned(), ..Default::default() };
        assert_eq!(query("14-16").marked(), Some((14, 16)));
        for wrong in ["", "14", "0-3", "4-3", "a-b", "-1-2", "1-99999999999999999999999"] {
            assert_eq!(query(wrong).marked(), None, "{wrong}");
        }
    }
}
