//! `/`: lists debates, grouped by what they need.

use askama::Template;
use aw_core::{DebateType, Outcome, ProjectId, Role, State as DebateState};
use aw_record::{DebateList, DebateListed, Filter};
use axum::Json;
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json};

mod beside;
mod filters;
mod found_text;
mod question;

pub(super) use self::beside::BesideList;
use self::filters::Filters;
use self::found_text::{FOUND, FoundText};
use self::question::RowQuestion;
use super::assets;
use super::debate::presence::{RolePresence, roles};
use super::error_page;
use super::page_request::PageRequest;
use crate::api::types::Stamp;
use crate::render::i18n::{Phrases, put};
use crate::render::markdown::plain;
use crate::server::input::Params;
use crate::server::{Access, App, Problem, input};

/// How many debates of a group a page shows.
const SHOWN: u64 = 30;

#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct ListQuery {
    #[serde(default)]
    q: String,
    #[serde(default)]
    state: String,
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    outcome: String,
    #[serde(default)]
    project: String,
    #[serde(default)]
    before: String,
    #[serde(default)]
    deleted: String,
    /// The debate beside which the script shows the list.
    #[serde(default)]
    beside: String,
    /// `1`: as many debates as the list beside a debate may show.
    #[serde(default)]
    all: String,
}

#[derive(Template)]
#[template(path = "debate_list.html")]
struct DebateListPage<'a> {
    request: &'a PageRequest,
    t: &'static Phrases,
    assets: &'a str,
    asked: &'a ListQuery,
    filters: Filters,
    list: ListPart,
}

/// The part of the page that the script replaces when something changes.
#[derive(Template)]
#[template(path = "list.html")]
struct ListPart {
    t: &'static Phrases,
    /// Whether the reader may rule.
    rules: bool,
    /// Whether the reader may open a debate.
    opens: bool,
    groups: Vec<Group>,
    /// Arguments and documents with the words of the search.
    found: Vec<FoundText>,
    /// The number of all debates, without filters.
    total: u64,
    /// Whether there is a search or filter.
    filtered: bool,
    /// Whether no debate matches.
    is_without_match: bool,
}

struct Group {
    name: &'static str,
    title: &'static str,
    total: u64,
    total_is_exact: bool,
    rows: Vec<DebateRow>,
    /// The address of the rest of the group.
    more: Option<String>,
    is_needed: bool,
}

struct DebateRow {
    id: String,
    title: String,
    kind: String,
    /// The project in which it was opened.
    project: Option<String>,
    state: DebateState,
    state_words: &'static str,
    /// How it ended, and the same in words.
    outcome: Option<(Outcome, &'static str)>,
    /// How many points block, if some do and the debate goes on.
    blocking: Option<String>,
    /// The `seq` of its newest argument.
    last: u64,
    /// The `seq` of the newest argument that the reader has seen, if the server keeps it.
    seen: Option<u64>,
    /// How many arguments are new to the reader, in words.
    unread: Option<String>,
    /// The question to the arbitrator, and for how long it has waited.
    question: Option<RowQuestion>,
    waiting: Option<String>,
    round: String,
    last_role: Role,
    last_move: String,
    ago: String,
    at: Stamp,
    seats: Vec<RolePresence>,
}

/// A group of debates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GroupKind {
    Needed,
    Active,
    Closed,
}

impl GroupKind {
    /// The groups that may have debates with the asked state and outcome.
    fn shown(asked: &ListQuery) -> &'static [Self] {
        match asked.state.as_str() {
            _ if !asked.outcome.is_empty() => &[GroupKind::Closed],
            "needed" => &[GroupKind::Needed],
            "active" | "AWAITING_OPPONENT" | "AWAITING_PROPOSER" => &[GroupKind::Active],
            "CLOSED" => &[GroupKind::Closed],
            _ => &[GroupKind::Needed, GroupKind::Active, GroupKind::Closed],
        }
    }

    /// The address of the list with this group alone, after the debate `before`.
    fn address(self, asked: &ListQuery, before: &str) -> String {
        let state = match (self, asked.state.as_str()) {
            (_, "AWAITING_OPPONENT" | "AWAITING_PROPOSER") => asked.state.as_str(),
            (GroupKind::Needed, _) => "needed",
            (GroupKind::Active, _) => "active",
            (GroupKind::Closed, _) => "CLOSED",
        };
        let fields = [
            ("q", asked.q.as_str()),
            ("type", &asked.kind),
            ("outcome", &asked.outcome),
            ("project", &asked.project),
            ("state", state),
            ("before", before),
        ];
        let fields = fields.into_iter().filter(|(_, value)| !value.is_empty());
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        format!("/?{query}")
    }

    /// The name of the group for the style, and its title.
    fn name(self, t: &'static Phrases, rules: bool) -> (&'static str, &'static str) {
        match self {
            GroupKind::Needed if rules => ("needed", t.needs_you),
            GroupKind::Needed => ("awaited", t.needs_arbitrator),
            GroupKind::Active => ("active", t.active),
            GroupKind::Closed => ("closed", t.closed_group),
        }
    }
}

pub(super) async fn page(
    access: Access,
    request: PageRequest,
    Params(asked): Params<ListQuery>,
) -> Response {
    error_page::or_page(&request, answer(&access, &request, &asked).await)
}

async fn answer(
    access: &Access,
    request: &PageRequest,
    asked: &ListQuery,
) -> Result<Response, Problem> {
    if request.is_script() && !asked.beside.is_empty() {
        return Ok(request.page(&BesideList::of(access, request, &asked.beside, asked).await?));
    }
    let list = list(access, request, asked).await?;
    if request.is_script() {
        return Ok(request.page(&list));
    }
    let t = request.phrases;
    let rows = list.groups.iter().flat_map(|group| &group.rows);
    let kinds = rows.map(|row| row.kind.clone()).collect();
    Ok(request.page(&DebateListPage {
        request,
        t,
        assets: &assets::FOLDER,
        asked,
        filters: Filters::of(access, request, asked, kinds).await?,
        list,
    }))
}

/// The debates that need the reader, for the title of the tab and for notifications.
pub(super) async fn needed(access: Access, request: PageRequest) -> Result<Json<Value>, Problem> {
    let filter =
        Filter { needs_arbitrator: true, longest_first: true, limit: 100, ..Filter::default() };
    let list = access.list(filter).await?;
    if !request.rules() {
        return Ok(Json(json!({"total": 0, "debates": []})));
    }
    let debates: Vec<Value> = list
        .debates
        .iter()
        .map(|listed| {
            let id = listed.debate.id.to_string();
            // A debate that waits for another ruling is a new notification.
            let owed = listed.debate.debate.standing.pending().unwrap_or(listed.last.seq);
            let owed = format!("{id}:{owed}");
            json!({"id": id, "owed": owed, "title": listed.debate.title.as_str()})
        })
        .collect();
    Ok(Json(json!({"total": list.total, "debates": debates})))
}

async fn list(
    access: &Access,
    request: &PageRequest,
    asked: &ListQuery,
) -> Result<ListPart, Problem> {
    let mut groups = Vec::new();
    for kind in GroupKind::shown(asked) {
        groups.push(group(access, request, asked, *kind).await?);
    }
    let all = access.list(Filter { limit: 0, ..Filter::default() }).await?;
    let filtered =
        [&asked.q, &asked.state, &asked.kind, &asked.outcome, &asked.project, &asked.before];
    let filtered = filtered.iter().any(|text| !text.trim().is_empty());
    let found = match asked.before.is_empty() && !asked.q.trim().is_empty() {
        true => FoundText::all(access, request.phrases, &asked.q).await?,
        false => Vec::new(),
    };
    let is_empty = groups.iter().all(|group| group.rows.is_empty()) && found.is_empty();
    let is_without_match = filtered && is_empty;
    let (t, rules, opens) = (request.phrases, request.rules(), request.opens());
    let total = all.total;
    Ok(ListPart { t, rules, opens, groups, found, total, filtered, is_without_match })
}

/// A page of the debates of a group, with one more than the page shows if there are more.
async fn debates(
    access: &Access,
    asked: &ListQuery,
    kind: GroupKind,
    shown: u64,
) -> Result<DebateList, Problem> {
    let states: &[DebateState] = match (kind, asked.state.as_str()) {
        (GroupKind::Needed, _) => &[DebateState::AwaitingArbitrator],
        (GroupKind::Active, "AWAITING_OPPONENT") => &[DebateState::AwaitingOpponent],
        (GroupKind::Active, "AWAITING_PROPOSER") => &[DebateState::AwaitingProposer],
        (GroupKind::Active, _) => &[DebateState::AwaitingOpponent, DebateState::AwaitingProposer],
        (GroupKind::Closed, _) => &[DebateState::Closed],
    };
    let before = Some(asked.before.as_str()).filter(|text| !text.is_empty());
    let outcome = Some(asked.outcome.as_str()).filter(|text| !text.is_empty());
    let outcome: Option<Outcome> = outcome.map(|text| input::value("outcome", text)).transpose()?;
    let is_needed = kind == GroupKind::Needed;
    let mut all = DebateList { debates: Vec::new(), total: 0, total_is_exact: true };
    for state in states {
        let filter = Filter {
            state: (!is_needed).then_some(*state),
            needs_arbitrator: is_needed,
            debate_type: Some(asked.kind.clone())
                .filter(|kind| !kind.is_empty())
                .map(|kind| DebateType::parse(kind).map_err(|bad| Problem::text("type", bad)))
                .transpose()?,
            search: Some(asked.q.trim().to_owned()).filter(|q| !q.is_empty() && !q.contains('\0')),
            project: Some(asked.project.clone())
                .filter(|project| !project.is_empty())
                .map(|id| ProjectId::parse(id).map_err(|bad| Problem::text("project", bad)))
                .transpose()?,
            outcome,
            limit: shown + 1,
            before: before.map(crate::server::before).transpose()?,
            longest_first: is_needed,
            ..Filter::default()
        };
        let list = access.list(filter).await?;
        all.total += list.total;
        all.total_is_exact &= list.total_is_exact;
        all.debates.extend(list.debates);
    }
    if !is_needed {
        let newest_first = |listed: &DebateListed| {
            (std::cmp::Reverse(listed.debate.updated_at), listed.debate.id.to_string())
        };
        all.debates.sort_by_key(newest_first);
    }
    Ok(all)
}

async fn group(
    access: &Access,
    request: &PageRequest,
    asked: &ListQuery,
    kind: GroupKind,
) -> Result<Group, Problem> {
    let (t, rules) = (request.phrases, request.rules());
    let is_needed = kind == GroupKind::Needed;
    let DebateList { mut debates, total, total_is_exact } =
        debates(access, asked, kind, SHOWN).await?;
    let more = (debates.len() as u64 > SHOWN).then(|| {
        debates.truncate(usize::try_from(SHOWN).unwrap_or(usize::MAX));
        let last = &debates[debates.len() - 1].debate;
        kind.address(asked, &format!("{},{}", Stamp(last.updated_at), last.id))
    });
    let (name, title) = kind.name(t, rules);
    let mut rows: Vec<DebateRow> =
        debates.iter().map(|listed| row(&access.app, request, listed)).collect();
    if is_needed {
        let now = access.app.record.now();
        for (row, listed) in rows.iter_mut().zip(&debates) {
            row.waiting = Some(t.lasting(now.0 - listed.debate.updated_at.0));
            row.question = if rules { RowQuestion::of(access, t, listed).await } else { None };
        }
    }
    Ok(Group { name, title, total, total_is_exact, rows, more, is_needed })
}

fn row(app: &App, request: &PageRequest, listed: &DebateListed) -> DebateRow {
    let t = request.phrases;
    let debate = &listed.debate;
    let last = &listed.last;
    let now = app.record.now();
    let last_move =
        t.last_move.replace("{role}", t.role(last.role)).replace("{kind}", last.kind.as_str());
    DebateRow {
        id: debate.id.to_string(),
        title: debate.title.as_str().to_owned(),
        kind: debate.debate_type.as_str().to_owned(),
        project: listed.origin.as_ref().map(|origin| origin.name.clone()),
        state: debate.state(),
        state_words: t.state(debate.state(), request.rules()),
        outcome: t.outcome(debate.outcome).map(|words| (debate.outcome, words)),
        blocking: usize::try_from(listed.blocking)
            .ok()
            .filter(|count| *count > 0 && debate.state() != DebateState::Closed)
            .map(|count| t.blocking(count)),
        last: last.seq.0,
        seen: listed.seen,
        unread: listed.seen.and_then(|seen| t.unread(seen, last.seq.0)),
        question: None,
        waiting: None,
        round: put(t.round, debate.debate.standing.count.proposer),
        last_role: last.role,
        last_move,
        ago: t.ago(now.0 - last.at.0),
        at: Stamp(last.at),
        seats: if debate.state() == DebateState::Closed {
            Vec::new()
        } else {
            roles(app, t, debate).into_iter().filter(|seat| seat.role != Role::Arbitrator).collect()
        },
    }
}
