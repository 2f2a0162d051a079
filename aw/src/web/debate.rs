//! `/debate/{id}`: shows one debate, takes rulings and interventions, and deletes it.
//!
//! The page has regions around its arguments: the bar on top, the question or the outcome, the rail of
//! points, and the dock in which a person rules. [`live`] makes them. The script of the page asks for them
//! alone when something happens, so that an event costs no argument that the page has already.

mod delete;
mod dock;
mod live;
mod plan;
mod point;
pub(super) mod presence;
mod rail;
mod ruling;

use std::collections::HashMap;

use askama::Template;
use aw_core::{ArgumentId, DebateId, PointId, Seq, State as DebateState, Via};
use aw_record::{PageData, ReportData};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;

use super::assets;
use super::debate_list::{BesideList, ListQuery};
use super::error_page::{self, PageError};
use super::form::Form;
use super::page_request::PageRequest;
use super::unbroken;
use crate::api::error::Code;
use crate::api::types::SubmitIntervention;
use crate::policy::Command;
use crate::render::argument::{ArgumentContext, ArgumentView};
use crate::render::i18n::{Phrases, put};
use crate::render::markdown::plain;
use crate::server::input::{Params, Segment, Segments};
use crate::server::{Access, App, DRAWING, Problem, input};
use live::Live;
use point::PointThread;
use ruling::{ANOTHER_WAY, RulingDraft};

pub(super) use delete::{ask_to_delete, delete};
pub(super) use plan::plan;
pub(super) use ruling::rule;

/// How many arguments a page shows. A link leads to earlier ones.
const WINDOW: u64 = 200;

/// How many arguments the regions read when the script asks for them alone. They show the authors of the
/// newest ones, and the headings of those that may have arrived.
const NEWEST: u64 = 24;

#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct DebateQuery {
    before: Option<u64>,
    ruled: Option<u64>,
    #[serde(default)]
    stopped: String,
    #[serde(default)]
    new: String,
    /// The point whose turns are shown instead of the transcript.
    #[serde(default)]
    point: String,
    /// The number of the option that the dock begins with.
    choose: Option<usize>,
    /// The first argument on the page for which the script asks, besides the MOTION.
    first: Option<u64>,
}

#[derive(Template)]
#[template(path = "debate.html")]
struct DebatePage<'a> {
    request: &'a PageRequest,
    t: &'static Phrases,
    assets: &'a str,
    live: Live,
    arguments: Vec<String>,
    motion: String,
    /// The link to earlier arguments, and what it shows.
    earlier: Option<(String, String)>,
    is_newest: bool,
    first: u64,
    last: Seq,
    /// The lines to paste into two agents, if the debate was just opened.
    lines: Option<(String, String)>,
    notice: Option<Notice>,
    ruled: Option<u64>,
    beside: Option<BesideList>,
    seen: Option<u64>,
}

/// The regions of the page, which the script replaces when something happens.
#[derive(Template)]
#[template(path = "live.html")]
struct LiveFragment {
    t: &'static Phrases,
    live: Live,
    /// The `seq` of the ruling that the script has sent, once it is recorded.
    ruled: Option<u64>,
}

/// A message at the top of the page.
struct Notice {
    is_bad: bool,
    words: String,
    /// The text that was typed and not sent.
    typed: Option<String>,
}

pub(super) async fn read(
    access: Access,
    request: PageRequest,
    Segment(id): Segment,
    Params(asked): Params<DebateQuery>,
) -> Response {
    let draft = RulingDraft { choose: asked.choose, ..RulingDraft::default() };
    show(&access, &request, &id, &asked, None, draft).await
}

/// Shows the page, with the text that was typed if it was not sent.
async fn show(
    access: &Access,
    request: &PageRequest,
    id: &str,
    asked: &DebateQuery,
    notice: Option<Notice>,
    draft: RulingDraft,
) -> Response {
    // It waits for its turn before it reads, so that waiting pages hold no memory.
    let turn = DRAWING.take().await;
    let read = match PageRead::of(access, request, id, asked).await {
        Ok(read) => read,
        Err(problem) => return error_page::page(request, &problem.into()),
    };
    let drawing = {
        let (app, request, asked) = (access.app.clone(), request.clone(), asked.clone());
        move || draw(&app, &request, read, &asked, notice, draft)
    };
    error_page::or_page(request, turn.run(drawing).await)
}

/// The data from which the page is drawn.
struct PageRead {
    data: PageData,
    /// The data of the report, once the debate is closed.
    report: Option<ReportData>,
    /// The list beside the debate. A reader who may see one debate only has none, and the script has its own.
    beside: Option<BesideList>,
    /// The newest argument that the reader has seen, if the server keeps it.
    seen: Option<u64>,
}

impl PageRead {
    async fn of(
        access: &Access,
        request: &PageRequest,
        id: &str,
        asked: &DebateQuery,
    ) -> Result<Self, Problem> {
        let id: DebateId = input::id("debate_id", id)?;
        let before = asked.before.map(|before| Seq(before.max(2)));
        let debate = access.debate(Command::DebateGetContext, id)?;
        let limit = if request.is_script() { NEWEST } else { WINDOW };
        let data = debate.page_data(before, limit).await?;
        let report = match data.debate.state() {
            DebateState::Closed => Some(access.debate(Command::DebateResult, id)?.report().await?),
            _ => None,
        };
        let beside = match request.is_script() || request.caller.bound_to().is_some() {
            true => None,
            false => {
                let all = ListQuery::default();
                Some(BesideList::of(access, request, &id.to_string(), &all).await?)
            }
        };
        Ok(PageRead { data, report, beside, seen: access.seen(id).await? })
    }
}

fn draw(
    app: &App,
    request: &PageRequest,
    read: PageRead,
    asked: &DebateQuery,
    notice: Option<Notice>,
    draft: RulingDraft,
) -> Response {
    let t = request.phrases;
    let PageRead { data, report, beside, seen } = read;
    let data = &data;
    let shown = data.arguments.first().map_or(2, |first| first.seq.0);
    let first = asked.first.filter(|_| request.is_script()).unwrap_or(shown);
    let href = |seq: Seq| href(data, first, seq);
    let mut live = Live::of(app, request, data, report.as_ref(), draft, &href);
    if let Ok(id) = asked.point.parse::<PointId>() {
        live.thread = PointThread::of(data, id, t, app.record.now().0, &href);
    }
    if request.is_script() {
        return request.page(&LiveFragment { t, live, ruled: asked.ruled });
    }
    let now = app.record.now().0;
    let places = places(data);
    let context = ArgumentContext {
        phrases: t,
        now,
        citations: &data.citations,
        places: &places,
        stated: &data.stated,
        ledger: data.debate.debate.ledger.as_ref(),
        is_closed: data.debate.state() == DebateState::Closed,
        href: &href,
        is_live: true,
    };
    let arguments =
        data.arguments.iter().map(|one| ArgumentView::of(one, &context).html()).collect();
    let earlier = (data.earlier > 0).then(|| {
        let words = put(t.earlier, data.earlier);
        let words = words.replace("{n}", &data.earlier.min(WINDOW).to_string());
        (format!("/debate/{}?before={first}#earlier", data.debate.id), words)
    });
    let notice = notice.or_else(|| {
        let words = match (asked.ruled, asked.stopped.as_str()) {
            (Some(seq), _) => put(t.ruled, format!("#{seq}")),
            (None, "1") => t.stopped.to_owned(),
            (None, _) => return None,
        };
        Some(Notice { is_bad: false, words, typed: None })
    });
    let line = |phrase: &str| phrase.replace("{id}", &data.debate.id.to_string());
    let page = DebatePage {
        request,
        t,
        assets: &assets::FOLDER,
        motion: ArgumentView::of(&data.motion, &context).html(),
        arguments,
        earlier,
        is_newest: asked.before.is_none(),
        first,
        last: data.debate.debate.standing.last,
        lines: (asked.new == "1" && request.opens())
            .then(|| (line(t.line_proposer), line(t.line_opponent))),
        notice,
        ruled: asked.ruled,
        live,
        beside,
        seen,
    };
    request.page(&page)
}

/// The `seq` of each argument on the page.
fn places(data: &PageData) -> HashMap<ArgumentId, Seq> {
    let all = std::iter::once(&data.motion).chain(&data.arguments);
    all.map(|argument| (argument.id, argument.seq)).collect()
}

/// The address of an argument, on the page that shows the arguments from `first` on, or on another.
fn href(data: &PageData, first: u64, seq: Seq) -> String {
    let end = data.arguments.last().map_or(first, |last| last.seq.0 + 1);
    if seq == Seq::FIRST || (first..end).contains(&seq.0) {
        return format!("#a-{seq}");
    }
    format!("/debate/{}?before={}#a-{seq}", data.debate.id, seq.0 + WINDOW / 2)
}

/// Redirects a GET of a form's address, such as a reload after a refusal, to the debate.
pub(super) async fn back(Segment(id): Segment) -> Redirect {
    match id.parse::<DebateId>() {
        Ok(id) => Redirect::to(&format!("/debate/{id}")),
        Err(_) => Redirect::to("/"),
    }
}

/// Takes an intervention, which stops the agents.
pub(super) async fn intervene(access: Access, Segment(id): Segment, form: Form) -> Response {
    let reason = form.text("content");
    let body = SubmitIntervention {
        content: Some(reason.clone()),
        client_request_id: Some(form.get("request").to_owned()),
        author: None,
    };
    let sent = match input::id("debate_id", &id) {
        Ok(debate) => match access.app.intervention(debate, Via::Page, body) {
            Ok(request) => access.execute(request).await,
            Err(problem) => Err(problem),
        },
        Err(problem) => Err(problem),
    };
    match sent {
        Ok(_) => Redirect::to(&format!("/debate/{id}?stopped=1")).into_response(),
        Err(problem) if problem.error.code == Code::DebateNotFound => {
            error_page::page(&form.request, &problem.into())
        }
        Err(problem) if problem.error.code == Code::Forbidden => {
            error_page::page(&form.request, &PageError::Refused { problem, typed: reason })
        }
        Err(problem) => {
            let words = format!("{} {}", form.request.phrases.not_sent, problem.error.message);
            // A page without the form for the reason shows the reason in the notice.
            let is_late = problem.error.code == Code::ActionNotAllowed && !reason.trim().is_empty();
            let typed = is_late.then(|| reason.clone());
            let notice = Notice { is_bad: true, words, typed };
            let draft = RulingDraft { reason, ..RulingDraft::default() };
            show(&access, &form.request, &id, &DebateQuery::default(), Some(notice), draft).await
        }
    }
}

/// A rendered text.
#[derive(Template)]
#[template(path = "words.html")]
struct Preview {
    html: String,
}

/// The Markdown of an argument.
pub(super) async fn text(access: Access, Segments(id, seq): Segments) -> Result<Response, Problem> {
    let debate: DebateId = input::id("debate_id", &id)?;
    // A larger number is after the last argument too.
    let seq = input::value::<u64>("seq", &seq)?.min(i64::MAX as u64);
    let debate = access.debate(Command::DebateGetContext, debate)?;
    let stretch = debate.stretch(seq.saturating_sub(1), 1).await?;
    let found = stretch.arguments.into_iter().find(|argument| argument.seq.0 == seq);
    let Some(argument) = found else {
        return Err(Problem::route_not_found(&format!("/debate/{id}/text/{seq}")));
    };
    let headers = [
        ("content-type", "text/plain; charset=utf-8"),
        ("x-content-type-options", "nosniff"),
        ("content-security-policy", "default-src 'none'; sandbox"),
    ];
    Ok((headers, argument.content.into_string()).into_response())
}
