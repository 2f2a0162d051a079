//! `/debate/{id}`: one debate, to be read and ruled on.

mod panel;
mod ruling;
pub(super) mod seats;

use std::collections::HashMap;

use askama::Template;
use aw_core::{ArgumentId, DebateId, Kind, Role, Seq, State as DebateState, Via};
use aw_record::{DebateHead, Sheet};
use axum::extract::Path;
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use uuid::Uuid;

use super::argument::{Scene, Shown};
use super::assets;
use super::form::Form;
use super::markdown::plain;
use super::timeline;
use super::trouble::{self, Trouble};
use super::visitor::Visitor;
use super::words::{Words, put};
use crate::api::error::Code;
use crate::api::types::{Stamp, SubmitIntervention};
use crate::kit::texts::BuiltIn;
use crate::server::input::{Params, Segment};
use crate::server::{About, App, DRAWING, Desk, Problem, input};
use panel::Panel;
use ruling::{ANOTHER_WAY, Draft};
use seats::{Seat, seats};

pub(super) use ruling::rule;

/// How many arguments a page shows; there is a way to the others.
const WINDOW: u64 = 200;

#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Asked {
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
    v: &'a Visitor,
    w: &'static Words,
    assets: &'a str,
    live: Live,
    arguments: Vec<String>,
    motion: String,
    /// How many arguments there are before these, and where.
    earlier: Option<(String, u64)>,
    is_newest: bool,
    last: Seq,
    /// The lines to paste into two agents, when it has just been opened.
    lines: Option<(String, String)>,
    notice: Option<Notice>,
    ruled: Option<u64>,
}

/// What changes by itself on the page, besides the arguments.
#[derive(Template)]
#[template(path = "live.html")]
struct Live {
    w: &'static Words,
    seal: String,
    id: String,
    title: String,
    kind: String,
    /// What is said of rules that are not the built-in ones.
    foreign_rules: Option<&'static str>,
    state: DebateState,
    state_words: &'static str,
    is_needed: bool,
    since: String,
    since_at: Stamp,
    opened: String,
    opened_at: Stamp,
    round: String,
    seats: Vec<Seat>,
    picture: String,
    numbers: String,
    outline: Vec<Round>,
    documents: Vec<Document>,
    panel: Option<Panel>,
    /// Whether it is read by somebody who may rule.
    rules: bool,
    can_intervene: bool,
    /// Whoever may still hand in what it was writing, or has.
    in_hand: Option<String>,
    request: String,
    reason: String,
    last: Seq,
}

struct Round {
    name: String,
    /// The arguments of it: place, role, kind.
    arguments: Vec<(u64, Role, Kind, bool)>,
    href: String,
}

struct Document {
    id: String,
    version: u64,
    summary: String,
    is_gone: bool,
}

/// Something that the page says on top.
struct Notice {
    is_bad: bool,
    words: String,
    /// What was typed and not sent.
    typed: Option<String>,
    href: Option<(String, String)>,
}

impl Notice {
    fn bad(words: &str) -> Self {
        Notice { is_bad: true, words: words.to_owned(), typed: None, href: None }
    }
}

pub(super) async fn read(
    desk: Desk,
    visitor: Visitor,
    Segment(id): Segment,
    Params(asked): Params<Asked>,
) -> Response {
    show(&desk, &visitor, &id, &asked, None, Draft::default()).await
}

/// The page, with what was typed if it was not sent.
async fn show(
    desk: &Desk,
    visitor: &Visitor,
    id: &str,
    asked: &Asked,
    notice: Option<Notice>,
    draft: Draft,
) -> Response {
    // First its turn, then what it is drawn from: pages that wait for theirs hold nothing.
    let turn = DRAWING.take().await;
    let sheet = match sheet(desk, id, asked).await {
        Ok(sheet) => sheet,
        Err(problem) => return trouble::page(visitor, &problem.into()),
    };
    let drawing = {
        let (app, visitor, asked) = (desk.app.clone(), visitor.clone(), asked.clone());
        move || draw(&app, &visitor, &sheet, &asked, notice, draft)
    };
    match turn.run(drawing).await {
        Ok(page) => page,
        Err(problem) => trouble::page(visitor, &problem.into()),
    }
}

fn draw(
    app: &App,
    visitor: &Visitor,
    sheet: &Sheet,
    asked: &Asked,
    notice: Option<Notice>,
    draft: Draft,
) -> Response {
    let w = visitor.words;
    let live = live(app, visitor, sheet, draft);
    if visitor.is_script() {
        return visitor.page(&live);
    }
    let now = app.record.now().0;
    let places = places(sheet);
    let scene =
        Scene { words: w, now, citations: &sheet.citations, places: &places, is_live: true };
    let arguments = sheet.arguments.iter().map(|one| Shown::of(one, &scene).html()).collect();
    let first = sheet.arguments.first().map_or(2, |first| first.seq.0);
    let earlier = (sheet.earlier > 0)
        .then(|| (format!("/debate/{}?before={first}#earlier", sheet.debate.id), sheet.earlier));
    let notice = notice.or_else(|| {
        let words = match (asked.ruled, asked.stopped.as_str()) {
            (Some(seq), _) => put(w.ruled, format!("#{seq}")),
            (None, "1") => w.stopped.to_owned(),
            (None, _) => return None,
        };
        Some(Notice { is_bad: false, words, typed: None, href: None })
    });
    let line = |phrase: &str| phrase.replace("{id}", &sheet.debate.id.to_string());
    let page = DebatePage {
        v: visitor,
        w,
        assets: &assets::FOLDER,
        motion: Shown::of(&sheet.motion, &scene).html(),
        arguments,
        earlier,
        is_newest: asked.before.is_none(),
        last: sheet.debate.debate.standing.last,
        lines: (asked.new == "1" && visitor.opens())
            .then(|| (line(w.line_proposer), line(w.line_opponent))),
        notice,
        ruled: asked.ruled,
        live,
    };
    visitor.page(&page)
}

async fn sheet(desk: &Desk, id: &str, asked: &Asked) -> Result<Sheet, Problem> {
    let debate: DebateId = input::id("debate_id", id)?;
    let before = asked.before.map(|before| Seq(before.max(2)));
    let engine = desk.engine("debate get-context", About::Debate(debate)).await?;
    Ok(engine.sheet(debate, before, WINDOW).await?)
}

/// The places of what arguments in sight may answer.
fn places(sheet: &Sheet) -> HashMap<ArgumentId, Seq> {
    let all = std::iter::once(&sheet.motion).chain(&sheet.arguments);
    all.map(|argument| (argument.id, argument.seq)).collect()
}

fn live(app: &App, visitor: &Visitor, sheet: &Sheet, draft: Draft) -> Live {
    let w = visitor.words;
    let head = &sheet.debate;
    let state = head.state();
    let now = app.record.now().0;
    let standing = &head.debate.standing;
    let closed = state == DebateState::Closed;
    let rules = visitor.rules();
    let mut seats = seats(app, w, head);
    for seat in seats.iter_mut().filter(|seat| !visitor.calls(seat.role)) {
        seat.line = None;
    }
    Live {
        w,
        seal: visitor.seal.clone(),
        id: head.id.to_string(),
        title: head.title.as_str().to_owned(),
        kind: head.debate_type.as_str().to_owned(),
        foreign_rules: sheet.own_rules.then(|| match BuiltIn::named(head.debate_type.as_str()) {
            Some(_) => w.rules_replaced,
            None => w.rules_sent_along,
        }),
        state,
        state_words: w.state(state, rules),
        is_needed: rules && standing.pending().is_some(),
        since: w.ago(now - head.updated_at.0),
        since_at: Stamp(head.updated_at),
        opened: put(w.opened, w.ago(now - head.created_at.0)),
        opened_at: Stamp(head.created_at),
        round: put(w.round, standing.count.proposer),
        seats,
        picture: timeline::draw(&sheet.moments, w, now, &|seq| href(sheet, seq)),
        numbers: numbers(w, sheet),
        outline: outline(w, sheet),
        documents: sheet
            .documents
            .iter()
            .map(|document| Document {
                id: document.id.to_string(),
                version: document.version,
                summary: document.summary.as_str().to_owned(),
                is_gone: document.deleted_at.is_some(),
            })
            .collect(),
        panel: rules.then(|| Panel::of(app, w, sheet, &draft)).flatten(),
        rules,
        can_intervene: rules && !closed && standing.pending().is_none(),
        in_hand: in_hand(w, sheet),
        request: Uuid::new_v4().to_string(),
        reason: draft.reason,
        last: standing.last,
    }
}

/// Whoever was writing when it was stopped: it may still hand that in, or has.
fn in_hand(w: &'static Words, sheet: &Sheet) -> Option<String> {
    let standing = &sheet.debate.debate.standing;
    let pending = sheet.pending.as_ref().filter(|one| one.event.kind() == Kind::Intervention)?;
    for role in [Role::Proposer, Role::Opponent] {
        if standing.interrupted.get(role) == Some(pending.seq) {
            return Some(put(w.in_hand, w.role(role)));
        }
    }
    let parked = sheet.moments.iter().rev().find(|moment| moment.event.parked())?;
    (parked.seq > pending.seq).then(|| {
        put(w.was_parked, w.role(parked.event.role())).replace("{n}", &parked.seq.to_string())
    })
}

/// Where an argument can be read: on this page, or on the one that has it.
fn href(sheet: &Sheet, seq: Seq) -> String {
    let first = sheet.arguments.first().map_or(2, |first| first.seq.0);
    let end = sheet.arguments.last().map_or(first, |last| last.seq.0 + 1);
    if seq == Seq::FIRST || (first..end).contains(&seq.0) {
        return format!("#a-{seq}");
    }
    format!("/debate/{}?before={}#a-{seq}", sheet.debate.id, seq.0 + WINDOW / 2)
}

/// What the picture shows, in numbers.
fn numbers(w: &'static Words, sheet: &Sheet) -> String {
    let summary = timeline::summary(&sheet.moments);
    let mut parts =
        vec![put(w.count_rounds, summary.rounds), put(w.count_arguments, summary.arguments)];
    for (phrase, count) in [
        (w.count_appeals, summary.appeals),
        (w.count_interventions, summary.interventions),
        (w.count_rulings, summary.rulings),
    ] {
        if count > 0 {
            parts.push(put(phrase, count));
        }
    }
    parts.push(w.lasting(summary.lasted));
    parts.join(" · ")
}

/// The rounds: the proposer's n-th turn and what answers it.
fn outline(w: &'static Words, sheet: &Sheet) -> Vec<Round> {
    let mut rounds: Vec<Round> = Vec::new();
    for moment in &sheet.moments {
        let seq = moment.seq.0;
        let turn = moment.event.role() == Role::Proposer && !moment.event.parked();
        if turn || rounds.is_empty() {
            let href = href(sheet, moment.seq);
            let name = put(w.round_heading, rounds.len() + 1);
            rounds.push(Round { name, arguments: Vec::new(), href });
        }
        if let Some(round) = rounds.last_mut() {
            let parked = moment.event.parked();
            round.arguments.push((seq, moment.event.role(), moment.event.kind(), parked));
        }
    }
    rounds
}

/// Where somebody belongs who asks for the address of a form, to which a refused one was answered.
pub(super) async fn back(Segment(id): Segment) -> Redirect {
    match id.parse::<DebateId>() {
        Ok(id) => Redirect::to(&format!("/debate/{id}")),
        Err(_) => Redirect::to("/"),
    }
}

/// Stops the agents.
pub(super) async fn intervene(desk: Desk, Segment(id): Segment, form: Form) -> Response {
    let reason = form.text("content");
    let body = SubmitIntervention {
        content: Some(reason.clone()),
        client_request_id: Some(form.get("request").to_owned()),
        author: None,
    };
    let sent = match input::id("debate_id", &id) {
        Ok(debate) => match desk.app.intervention(debate, Via::Page, body) {
            Ok(request) => desk.execute(request).await,
            Err(problem) => Err(problem),
        },
        Err(problem) => Err(problem),
    };
    match sent {
        Ok(_) => Redirect::to(&format!("/debate/{id}?stopped=1#panel")).into_response(),
        Err(problem) if problem.error.code == Code::DebateNotFound => {
            trouble::page(&form.visitor, &problem.into())
        }
        Err(problem) if problem.error.code == Code::Forbidden => {
            trouble::page(&form.visitor, &Trouble::Refused { problem, typed: reason })
        }
        Err(problem) => {
            let words = format!("{} {}", form.visitor.words.not_sent, problem.error.message);
            // Where there is nothing to stop there is no form either, which would have kept it.
            let is_late = problem.error.code == Code::ActionNotAllowed && !reason.trim().is_empty();
            let typed = is_late.then(|| reason.clone());
            let notice = Notice { is_bad: true, words, typed, href: None };
            let draft = Draft { reason, ..Draft::default() };
            show(&desk, &form.visitor, &id, &Asked::default(), Some(notice), draft).await
        }
    }
}

#[derive(Template)]
#[template(path = "delete.html")]
struct DeletePage<'a> {
    v: &'a Visitor,
    w: &'static Words,
    assets: &'a str,
    id: String,
    title: String,
    words: String,
}

/// Says what would go.
pub(super) async fn ask_to_delete(desk: Desk, visitor: Visitor, Segment(id): Segment) -> Response {
    let head = match desk.caller.may_use("debate delete") {
        Ok(()) => head(&desk, &id).await,
        Err(problem) => Err(problem),
    };
    let head = match head {
        Ok(head) => head,
        Err(problem) => return trouble::page(&visitor, &problem.into()),
    };
    let w = visitor.words;
    visitor.page(&DeletePage {
        v: &visitor,
        w,
        assets: &assets::FOLDER,
        id: head.id.to_string(),
        title: head.title.as_str().to_owned(),
        words: w.delete_words.replace("{n}", &head.debate.standing.last.to_string()),
    })
}

async fn head(desk: &Desk, id: &str) -> Result<DebateHead, Problem> {
    let debate: DebateId = input::id("debate_id", id)?;
    let engine = desk.engine("debate get-context", About::Debate(debate)).await?;
    Ok(engine.stretch(debate, 0, 0).await?.debate)
}

pub(super) async fn delete(desk: Desk, Segment(id): Segment, form: Form) -> Response {
    let deleted = match input::id("debate_id", &id) {
        Ok(debate) => match desk.engine("debate delete", About::Debate(debate)).await {
            Ok(engine) => engine.delete(debate).await.map_err(Problem::from),
            Err(problem) => Err(problem),
        },
        Err(problem) => Err(problem),
    };
    match deleted {
        Ok(()) => Redirect::to("/?deleted=1").into_response(),
        Err(problem) => trouble::page(&form.visitor, &problem.into()),
    }
}

/// A text as it would be shown.
#[derive(Template)]
#[template(path = "words.html")]
struct Preview {
    html: String,
}

/// What an argument says, as it was written.
pub(super) async fn text(
    desk: Desk,
    Path((id, seq)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let debate: DebateId = input::id("debate_id", &id)?;
    // However large, it is a place after the last argument.
    let seq = input::value::<u64>("seq", &seq)?.min(i64::MAX as u64);
    let engine = desk.engine("debate get-context", About::Debate(debate)).await?;
    let stretch = engine.stretch(debate, seq.saturating_sub(1), 1).await?;
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
