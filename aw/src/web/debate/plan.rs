//! `/debate/{id}/plan`: the plan beside the arguments, in one version or with its changes.
//!
//! The script of the desk shows it in a pane. Without a script it is a page of its own.

use std::time::Duration;

use askama::Template;
use aw_core::{DebateId, DocumentId, QuotePlace};
use aw_record::{PageData, PointRecord};
use axum::response::Response;
use serde::Deserialize;

use super::super::assets;
use super::super::error_page;
use super::super::options;
use super::super::page_request::PageRequest;
use crate::policy::Command;
use crate::render::i18n::{Phrases, put};
use crate::render::markdown::{self, plain};
use crate::server::input::{Params, Segment};
use crate::server::{Access, COMPARING, Problem, input};

/// How long a comparison may take.
const PATIENCE: Duration = Duration::from_millis(400);

/// How many versions have a button. The page of the document lists all.
const BUTTONS: u64 = 12;

#[derive(Debug, Default, Deserialize)]
pub(in crate::web) struct PlanQuery {
    #[serde(default)]
    document: String,
    /// The versions to compare.
    from: Option<u64>,
    to: Option<u64>,
    /// The version that the reader saw last.
    seen: Option<u64>,
    /// `changes`, `read` or `raw`.
    #[serde(default)]
    view: String,
}

/// How the pane shows a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlanView {
    Changes,
    Read,
    Raw,
}

impl PlanView {
    const ALL: [PlanView; 3] = [PlanView::Changes, PlanView::Read, PlanView::Raw];

    pub(super) fn code(self) -> &'static str {
        match self {
            PlanView::Changes => "changes",
            PlanView::Read => "read",
            PlanView::Raw => "raw",
        }
    }

    fn words(self, t: &'static Phrases) -> &'static str {
        match self {
            PlanView::Changes => t.changes,
            PlanView::Read => t.read,
            PlanView::Raw => t.raw,
        }
    }
}

/// The contents of the pane.
pub(super) struct PlanPane {
    pub(super) debate: String,
    pub(super) document: String,
    /// The first heading of the newest version, which hardly changes.
    pub(super) name: String,
    /// The other documents of the debate, by name.
    pub(super) others: Vec<(String, String)>,
    pub(super) versions: Vec<u64>,
    pub(super) newest: u64,
    /// The newest version that the debate cites: the one that a ruling is about.
    pub(super) cited: u64,
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) view: PlanView,
    /// The views: code, words, and whether the view is shown.
    pub(super) views: Vec<(&'static str, &'static str, bool)>,
    /// The version from which the changes are counted.
    pub(super) since: String,
    pub(super) html: String,
    pub(super) notes: Vec<String>,
    /// The quotes of live points: point, text, and the address that marks it.
    pub(super) quotes: Vec<(String, String, String)>,
}

#[derive(Template)]
#[template(path = "plan.html")]
struct PlanFragment {
    t: &'static Phrases,
    plan: PlanPane,
}

#[derive(Template)]
#[template(path = "plan_page.html")]
struct PlanPage<'a> {
    request: &'a PageRequest,
    t: &'static Phrases,
    assets: &'a str,
    title: String,
    plan: PlanPane,
}

pub(in crate::web) async fn plan(
    access: Access,
    request: PageRequest,
    Segment(id): Segment,
    Params(asked): Params<PlanQuery>,
) -> Response {
    error_page::or_page(&request, page(&access, &request, &id, &asked).await)
}

async fn page(
    access: &Access,
    request: &PageRequest,
    id: &str,
    asked: &PlanQuery,
) -> Result<Response, Problem> {
    let t = request.phrases;
    let debate: DebateId = input::id("debate_id", id)?;
    let data = access.debate(Command::DebateGetContext, debate)?.page_data(None, 1).await?;
    let Some((document, cited)) = chosen(&data, &asked.document) else {
        return Err(Problem::route_not_found(&format!("/debate/{id}/plan")));
    };
    // It waits for its turn before it reads, so that waiting pages hold no memory.
    let turn = COMPARING.take().await;
    let shown = access.document(Command::DocsGet, document).await?;
    let newest = shown.read(None, true).await?;
    let number = newest.newest;
    let to = asked.to.unwrap_or(cited).clamp(1, number);
    let seen = asked.seen.filter(|seen| (1..to).contains(seen));
    let from = asked.from.or(seen).unwrap_or(to.saturating_sub(1)).clamp(1, to);
    let view = PlanView::ALL.into_iter().find(|view| view.code() == asked.view);
    let view = view.unwrap_or(if from < to { PlanView::Changes } else { PlanView::Read });
    let (old, new) = shown.two_versions(Some(from), Some(to)).await?;
    let name = options::first_heading(newest.version.content.as_str());
    let summary = newest.version.version.summary.as_str().to_owned();
    let request = request.clone();
    let drawing = move || {
        let (old, new) = (old.content.as_str(), new.content.as_str());
        let (html, notes) = drawn(t, view, old, new, to);
        let since = if asked_since(seen, from) { t.since_you_looked } else { t.since_version };
        let plan = PlanPane {
            debate: debate.to_string(),
            document: document.to_string(),
            name: if name.is_empty() { summary } else { name },
            others: others(&data, document),
            versions: (number.saturating_sub(BUTTONS - 1).max(1)..=number).collect(),
            newest: number,
            cited,
            from,
            to,
            view,
            views: PlanView::ALL.map(|one| (one.code(), one.words(t), one == view)).into(),
            since: put(since, from),
            html,
            notes,
            quotes: quotes(&data.points, document),
        };
        match request.is_script() {
            true => request.page(&PlanFragment { t, plan }),
            false => request.page(&PlanPage {
                request: &request,
                t,
                assets: &assets::FOLDER,
                title: data.debate.title.as_str().to_owned(),
                plan,
            }),
        }
    };
    turn.run(drawing).await
}

/// Whether the changes are counted from the version that the reader saw last.
fn asked_since(seen: Option<u64>, from: u64) -> bool {
    seen == Some(from)
}

/// The body of the pane as HTML, and notes about it.
fn drawn(
    t: &'static Phrases,
    view: PlanView,
    old: &str,
    new: &str,
    to: u64,
) -> (String, Vec<String>) {
    let mut notes = Vec::new();
    let html = match view {
        PlanView::Raw => {
            format!("<pre class=\"plain\" tabindex=\"0\"><code>{}</code></pre>", plain(new))
        }
        PlanView::Read => markdown::render(new, &|_| None),
        PlanView::Changes => match markdown::changes(old, new, to, t, PATIENCE) {
            Some(changes) => {
                if changes.count == 0 {
                    notes.push(t.only_spaces.to_owned());
                }
                if changes.is_coarse {
                    notes.push(t.coarse.to_owned());
                }
                if changes.left_out > 0 {
                    notes.push(put(t.left_out, changes.left_out));
                }
                changes.html
            }
            None => {
                notes.push(t.too_long_to_compare.to_owned());
                markdown::render(new, &|_| None)
            }
        },
    };
    (html, notes)
}

/// The asked document if the debate cites it, else the first that it cites, and the newest cited version.
fn chosen(data: &PageData, asked: &str) -> Option<(DocumentId, u64)> {
    let asked: Option<DocumentId> = asked.parse().ok();
    let cited = data.documents.iter().filter(|one| one.deleted_at.is_none());
    let mut cited = cited.map(|one| (one.id, one.version));
    match asked {
        Some(asked) => cited.find(|(id, _)| *id == asked),
        None => cited.next(),
    }
}

fn others(data: &PageData, shown: DocumentId) -> Vec<(String, String)> {
    let others = data.documents.iter().filter(|one| one.id != shown && one.deleted_at.is_none());
    others.map(|one| (one.id.to_string(), one.name.clone())).collect()
}

/// The quotes of live points that were found in a document.
fn quotes(points: &[PointRecord], shown: DocumentId) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    for record in points.iter().filter(|record| record.point.state.is_alive()) {
        for quote in &record.quotes {
            let Some(QuotePlace::Document { document, version }) = quote.place else { continue };
            if document != shown {
                continue;
            }
            let lines = quote.lines.map_or(String::new(), |(first, last)| {
                format!("&lines={first}-{last}#line-{first}")
            });
            let href = format!("/doc/{document}?version={version}{lines}");
            found.push((record.point.id.to_string(), quote.text.clone(), href));
        }
    }
    found
}
