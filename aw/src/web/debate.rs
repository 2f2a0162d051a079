//! `/debate/{id}`: shows one debate, takes rulings and interventions, and deletes it.

mod panel;
pub(super) mod presence;
mod ruling;

use std::collections::HashMap;

use askama::Template;
use aw_core::{ArgumentId, DebateId, Kind, Outcome, Role, Seq, State as DebateState, Via};
use aw_record::{DebateHead, PageData, ReportData};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use uuid::Uuid;

use super::assets;
use super::error_page::{self, PageError};
use super::form::Form;
use super::page_request::PageRequest;
use super::timeline;
use crate::api::error::Code;
use crate::api::types::{Stamp, SubmitIntervention};
use crate::kit::texts::BuiltIn;
use crate::policy::Command;
use crate::render::argument::{ArgumentContext, ArgumentView};
use crate::render::i18n::{Phrases, put};
use crate::render::markdown::plain;
use crate::render::points::PointsView;
use crate::render::report::ReportView;
use crate::server::input::{Params, Segment, Segments};
use crate::server::{Access, App, DRAWING, Problem, input};
use panel::Panel;
use presence::{RolePresence, roles};
use ruling::{ANOTHER_WAY, RulingDraft};

pub(super) use ruling::rule;

/// How many arguments a page shows. A link leads to earlier ones.
const WINDOW: u64 = 200;

#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct DebateQuery {
    before: Option<u64>,
    ruled: Option<u64>,
    #[serde(default)]
    stopped: String,
    #[serde(default)]
    new: String,
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
    /// The link to earlier arguments, and how many there are.
    earlier: Option<(String, u64)>,
    is_newest: bool,
    last: Seq,
    /// The lines to paste into two agents, if the debate was just opened.
    lines: Option<(String, String)>,
    notice: Option<Notice>,
    ruled: Option<u64>,
}

/// The part of the page besides the arguments, which the script replaces when something happens.
#[derive(Template)]
#[template(path = "live.html")]
struct Live {
    t: &'static Phrases,
    csrf: String,
    id: String,
    title: String,
    kind: String,
    /// The note about rules that are not built in.
    foreign_rules: Option<&'static str>,
    state: DebateState,
    state_words: &'static str,
    /// How it ended, and the same in words.
    outcome: Option<(Outcome, &'static str)>,
    is_needed: bool,
    since: String,
    since_at: Stamp,
    opened: String,
    opened_at: Stamp,
    round: String,
    seats: Vec<RolePresence>,
    picture: String,
    numbers: String,
    outline: Vec<Round>,
    documents: Vec<CitedLink>,
    panel: Option<Panel>,
    /// The panel of points, as HTML.
    points: Option<String>,
    /// The report of a closed debate, as HTML.
    report: Option<String>,
    /// Whether the reader may rule.
    rules: bool,
    can_intervene: bool,
    /// The note about an agent that was writing when it was stopped.
    in_hand: Option<String>,
    request: String,
    reason: String,
    last: Seq,
}

struct Round {
    name: String,
    /// The arguments: `seq`, role, kind, and whether it is parked.
    arguments: Vec<(u64, Role, Kind, bool)>,
    href: String,
}

struct CitedLink {
    id: String,
    version: u64,
    summary: String,
    is_gone: bool,
}

/// A message at the top of the page.
struct Notice {
    is_bad: bool,
    words: String,
    /// The text that was typed and not sent.
    typed: Option<String>,
    href: Option<(String, String)>,
}

impl Notice {
    fn bad(words: &str) -> Self {
        Notice { is_bad: true, words: words.to_owned(), typed: None, href: None }
    }
}

pub(super) async fn read(
    access: Access,
    request: PageRequest,
    Segment(id): Segment,
    Params(asked): Params<DebateQuery>,
) -> Response {
    show(&access, &request, &id, &asked, None, RulingDraft::default()).await
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
    let (data, report) = match page_data(access, id, asked).await {
        Ok(read) => read,
        Err(problem) => return error_page::page(request, &problem.into()),
    };
    let drawing = {
        let (app, request, asked) = (access.app.clone(), request.clone(), asked.clone());
        move || draw(&app, &request, &data, report.as_ref(), &asked, notice, draft)
    };
    match turn.run(drawing).await {
        Ok(page) => page,
        Err(problem) => error_page::page(request, &problem.into()),
    }
}

fn draw(
    app: &App,
    request: &PageRequest,
    data: &PageData,
    report: Option<&ReportData>,
    asked: &DebateQuery,
    notice: Option<Notice>,
    draft: RulingDraft,
) -> Response {
    let t = request.phrases;
    let live = live(app, request, data, report, draft);
    if request.is_script() {
        return request.page(&live);
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
        href: &|seq| href(data, seq),
        is_live: true,
    };
    let arguments =
        data.arguments.iter().map(|one| ArgumentView::of(one, &context).html()).collect();
    let first = data.arguments.first().map_or(2, |first| first.seq.0);
    let earlier = (data.earlier > 0)
        .then(|| (format!("/debate/{}?before={first}#earlier", data.debate.id), data.earlier));
    let notice = notice.or_else(|| {
        let words = match (asked.ruled, asked.stopped.as_str()) {
            (Some(seq), _) => put(t.ruled, format!("#{seq}")),
            (None, "1") => t.stopped.to_owned(),
            (None, _) => return None,
        };
        Some(Notice { is_bad: false, words, typed: None, href: None })
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
        last: data.debate.debate.standing.last,
        lines: (asked.new == "1" && request.opens())
            .then(|| (line(t.line_proposer), line(t.line_opponent))),
        notice,
        ruled: asked.ruled,
        live,
    };
    request.page(&page)
}

/// The data of the page and, once the debate is closed, of its report.
async fn page_data(
    access: &Access,
    id: &str,
    asked: &DebateQuery,
) -> Result<(PageData, Option<ReportData>), Problem> {
    let id: DebateId = input::id("debate_id", id)?;
    let before = asked.before.map(|before| Seq(before.max(2)));
    let debate = access.debate(Command::DebateGetContext, id)?;
    let data = debate.page_data(before, WINDOW).await?;
    let report = match data.debate.state() {
        DebateState::Closed => Some(access.debate(Command::DebateResult, id)?.report().await?),
        _ => None,
    };
    Ok((data, report))
}

/// The `seq` of each argument on the page.
fn places(data: &PageData) -> HashMap<ArgumentId, Seq> {
    let all = std::iter::once(&data.motion).chain(&data.arguments);
    all.map(|argument| (argument.id, argument.seq)).collect()
}

fn live(
    app: &App,
    request: &PageRequest,
    data: &PageData,
    report: Option<&ReportData>,
    draft: RulingDraft,
) -> Live {
    let t = request.phrases;
    let head = &data.debate;
    let state = head.state();
    let now = app.record.now().0;
    let standing = &head.debate.standing;
    let closed = state == DebateState::Closed;
    let rules = request.rules();
    let mut seats = roles(app, t, head);
    for seat in seats.iter_mut().filter(|seat| !request.may_bring_back(seat.role)) {
        seat.line = None;
    }
    Live {
        t,
        csrf: request.csrf.clone(),
        id: head.id.to_string(),
        title: head.title.as_str().to_owned(),
        kind: head.debate_type.as_str().to_owned(),
        foreign_rules: data.own_rules.then(|| match BuiltIn::named(head.debate_type.as_str()) {
            Some(_) => t.rules_replaced,
            None => t.rules_sent_along,
        }),
        state,
        state_words: t.state(state, rules),
        outcome: t.outcome(head.outcome).map(|words| (head.outcome, words)),
        is_needed: rules && standing.pending().is_some(),
        since: t.ago(now - head.updated_at.0),
        since_at: Stamp(head.updated_at),
        opened: put(t.opened, t.ago(now - head.created_at.0)),
        opened_at: Stamp(head.created_at),
        round: put(t.round, standing.count.proposer),
        seats,
        picture: timeline::draw(&data.moments, t, now, &|seq| href(data, seq)),
        numbers: numbers(t, data),
        outline: outline(t, data),
        documents: data
            .documents
            .iter()
            .map(|document| CitedLink {
                id: document.id.to_string(),
                version: document.version,
                summary: document.summary.as_str().to_owned(),
                is_gone: document.deleted_at.is_some(),
            })
            .collect(),
        points: PointsView::of(head, &data.points, t, &|seq| href(data, seq))
            .map(|view| view.html()),
        report: report.map(|report| ReportView::of(report, t, &|seq| href(data, seq)).html()),
        panel: rules.then(|| Panel::of(app, t, data, &draft)).flatten(),
        rules,
        can_intervene: rules && !closed && standing.pending().is_none(),
        in_hand: in_hand(t, data),
        request: Uuid::new_v4().to_string(),
        reason: draft.reason,
        last: standing.last,
    }
}

/// The note about an agent that was writing when it was stopped: it may still submit, or has.
fn in_hand(t: &'static Phrases, data: &PageData) -> Option<String> {
    let standing = &data.debate.debate.standing;
    let pending = data.pending.as_ref().filter(|one| one.event.kind() == Kind::Intervention)?;
    for role in [Role::Proposer, Role::Opponent] {
        if standing.interrupted.get(role) == Some(pending.seq) {
            return Some(put(t.in_hand, t.role(role)));
        }
    }
    let parked = data.moments.iter().rev().find(|moment| moment.event.parked())?;
    (parked.seq > pending.seq).then(|| {
        put(t.was_parked, t.role(parked.event.role())).replace("{n}", &parked.seq.to_string())
    })
}

/// The address of an argument, on this page or another.
fn href(data: &PageData, seq: Seq) -> String {
    let first = data.arguments.first().map_or(2, |first| first.seq.0);
    let end = data.arguments.last().map_or(first, |last| last.seq.0 + 1);
    if seq == Seq::FIRST || (first..end).contains(&seq.0) {
        return format!("#a-{seq}");
    }
    format!("/debate/{}?before={}#a-{seq}", data.debate.id, seq.0 + WINDOW / 2)
}

/// The numbers below the picture.
fn numbers(t: &'static Phrases, data: &PageData) -> String {
    let summary = timeline::summary(&data.moments);
    let mut parts =
        vec![put(t.count_rounds, summary.rounds), put(t.count_arguments, summary.arguments)];
    for (phrase, count) in [
        (t.count_appeals, summary.appeals),
        (t.count_interventions, summary.interventions),
        (t.count_rulings, summary.rulings),
    ] {
        if count > 0 {
            parts.push(put(phrase, count));
        }
    }
    parts.push(t.lasting(summary.lasted));
    parts.join(" · ")
}

/// The rounds. Each begins with a turn of the proposer.
fn outline(t: &'static Phrases, data: &PageData) -> Vec<Round> {
    let mut rounds: Vec<Round> = Vec::new();
    for moment in &data.moments {
        let seq = moment.seq.0;
        let turn = moment.event.role() == Role::Proposer && !moment.event.parked();
        if turn || rounds.is_empty() {
            let href = href(data, moment.seq);
            let name = put(t.round_heading, rounds.len() + 1);
            rounds.push(Round { name, arguments: Vec::new(), href });
        }
        if let Some(round) = rounds.last_mut() {
            let parked = moment.event.parked();
            round.arguments.push((seq, moment.event.role(), moment.event.kind(), parked));
        }
    }
    rounds
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
        Ok(_) => Redirect::to(&format!("/debate/{id}?stopped=1#panel")).into_response(),
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
            let notice = Notice { is_bad: true, words, typed, href: None };
            let draft = RulingDraft { reason, ..RulingDraft::default() };
            show(&access, &form.request, &id, &DebateQuery::default(), Some(notice), draft).await
        }
    }
}

#[derive(Template)]
#[template(path = "delete.html")]
struct DeletePage<'a> {
    request: &'a PageRequest,
    t: &'static Phrases,
    assets: &'a str,
    id: String,
    title: String,
    words: String,
}

/// Asks whether to delete a debate.
pub(super) async fn ask_to_delete(
    access: Access,
    request: PageRequest,
    Segment(id): Segment,
) -> Response {
    let head = match access.caller.may_use(Command::DebateDelete) {
        Ok(()) => head(&access, &id).await,
        Err(problem) => Err(problem),
    };
    let head = match head {
        Ok(head) => head,
        Err(problem) => return error_page::page(&request, &problem.into()),
    };
    let t = request.phrases;
    request.page(&DeletePage {
        request: &request,
        t,
        assets: &assets::FOLDER,
        id: head.id.to_string(),
        title: head.title.as_str().to_owned(),
        words: t.delete_words.replace("{n}", &head.debate.standing.last.to_string()),
    })
}

async fn head(access: &Access, id: &str) -> Result<DebateHead, Problem> {
    let debate: DebateId = input::id("debate_id", id)?;
    Ok(access.debate(Command::DebateGetContext, debate)?.stretch(0, 0).await?.debate)
}

pub(super) async fn delete(access: Access, Segment(id): Segment, form: Form) -> Response {
    let deleted = match input::id("debate_id", &id) {
        Ok(debate) => access.delete_debate(debate).await,
        Err(problem) => Err(problem),
    };
    match deleted {
        Ok(()) => Redirect::to("/?deleted=1").into_response(),
        Err(problem) => error_page::page(&form.request, &problem.into()),
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
