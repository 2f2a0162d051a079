//! `/`: every debate, grouped by what it needs.

use askama::Template;
use aw_core::{DebateType, Role, State as DebateState};
use aw_record::{DebateListed, Filter};
use axum::Json;
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json};

use super::assets;
use super::debate::seats::{Seat, seats};
use super::markdown::plain;
use super::trouble;
use super::visitor::Visitor;
use super::words::{Words, put};
use crate::api::types::Stamp;
use crate::kit::texts::BuiltIn;
use crate::server::input::Params;
use crate::server::{App, Desk, Problem};

/// How many debates of a group are shown.
const SHOWN: u64 = 30;

#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    q: String,
    #[serde(default)]
    state: String,
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    before: String,
    #[serde(default)]
    deleted: String,
}

#[derive(Template)]
#[template(path = "home.html")]
struct Home<'a> {
    v: &'a Visitor,
    w: &'static Words,
    assets: &'a str,
    asked: &'a Asked,
    states: Vec<(&'static str, &'static str)>,
    kinds: Vec<String>,
    list: List,
}

/// The part of the page that changes by itself.
#[derive(Template)]
#[template(path = "list.html")]
struct List {
    w: &'static Words,
    /// Whether it is read by somebody who may rule.
    rules: bool,
    /// Whether it is read by somebody who may open a debate.
    opens: bool,
    groups: Vec<Group>,
    /// How many debates there are, whatever was asked for.
    total: u64,
    /// Whether something was asked for that leaves some out.
    filtered: bool,
    /// Whether it leaves out all of them.
    is_in_vain: bool,
}

struct Group {
    name: &'static str,
    title: &'static str,
    total: u64,
    total_is_exact: bool,
    rows: Vec<Row>,
    /// Where the rest of it is.
    more: Option<String>,
    is_needed: bool,
}

struct Row {
    id: String,
    title: String,
    kind: String,
    state: DebateState,
    state_words: &'static str,
    round: String,
    last_role: Role,
    last_move: String,
    ago: String,
    at: Stamp,
    seats: Vec<Seat>,
}

/// What a group holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Needed,
    Active,
    Closed,
}

pub(super) async fn home(desk: Desk, visitor: Visitor, Params(asked): Params<Asked>) -> Response {
    match list(&desk, &visitor, &asked).await {
        Ok(list) if visitor.is_script() => visitor.page(&list),
        Ok(list) => {
            let w = visitor.words;
            visitor.page(&Home {
                v: &visitor,
                w,
                assets: &assets::FOLDER,
                asked: &asked,
                states: vec![
                    ("needed", if visitor.rules() { w.needs_you } else { w.needs_arbitrator }),
                    ("active", w.active),
                    ("AWAITING_OPPONENT", w.awaiting_opponent),
                    ("AWAITING_PROPOSER", w.awaiting_proposer),
                    ("CLOSED", w.closed_group),
                ],
                kinds: kinds(&list, &asked.kind),
                list,
            })
        }
        Err(problem) => trouble::page(&visitor, &problem.into()),
    }
}

/// Which debates need whoever asks, for the tab's title and for notifications.
pub(super) async fn needed(desk: Desk, visitor: Visitor) -> Result<Json<Value>, Problem> {
    let filter = Filter { needs_arbitrator: true, limit: 100, ..Filter::default() };
    let list = desk.list(filter).await?;
    if !visitor.rules() {
        return Ok(Json(json!({"total": 0, "debates": []})));
    }
    let debates: Vec<Value> = list
        .debates
        .iter()
        .map(|listed| {
            let id = listed.debate.id.to_string();
            // One that is owed another ruling needs somebody again.
            let owed = listed.debate.debate.standing.pending().unwrap_or(listed.last.seq);
            let owed = format!("{id}:{owed}");
            json!({"id": id, "owed": owed, "title": listed.debate.title.as_str()})
        })
        .collect();
    Ok(Json(json!({"total": list.total, "debates": debates})))
}

/// The types that can be asked for: the built-in ones and those in sight.
fn kinds(list: &List, asked: &str) -> Vec<String> {
    let rows = list.groups.iter().flat_map(|group| &group.rows);
    let mut kinds: Vec<String> = rows.map(|row| row.kind.clone()).collect();
    kinds.extend(BuiltIn::ALL.map(|kind| kind.name().to_owned()));
    kinds.extend((!asked.is_empty()).then(|| asked.to_owned()));
    kinds.sort();
    kinds.dedup();
    kinds
}

async fn list(desk: &Desk, visitor: &Visitor, asked: &Asked) -> Result<List, Problem> {
    let sorts: &[Sort] = match asked.state.as_str() {
        "needed" => &[Sort::Needed],
        "active" | "AWAITING_OPPONENT" | "AWAITING_PROPOSER" => &[Sort::Active],
        "CLOSED" => &[Sort::Closed],
        _ => &[Sort::Needed, Sort::Active, Sort::Closed],
    };
    let mut groups = Vec::with_capacity(sorts.len());
    for sort in sorts {
        groups.push(group(desk, visitor, asked, *sort).await?);
    }
    let all = desk.list(Filter { limit: 0, ..Filter::default() }).await?;
    let filtered = [&asked.q, &asked.state, &asked.kind, &asked.before];
    let filtered = filtered.iter().any(|text| !text.trim().is_empty());
    let is_in_vain = filtered && groups.iter().all(|group| group.rows.is_empty());
    let (w, rules, opens) = (visitor.words, visitor.rules(), visitor.opens());
    Ok(List { w, rules, opens, groups, total: all.total, filtered, is_in_vain })
}

async fn group(
    desk: &Desk,
    visitor: &Visitor,
    asked: &Asked,
    sort: Sort,
) -> Result<Group, Problem> {
    let (w, rules) = (visitor.words, visitor.rules());
    let states: &[DebateState] = match (sort, asked.state.as_str()) {
        (Sort::Needed, _) => &[DebateState::AwaitingArbitrator],
        (Sort::Active, "AWAITING_OPPONENT") => &[DebateState::AwaitingOpponent],
        (Sort::Active, "AWAITING_PROPOSER") => &[DebateState::AwaitingProposer],
        (Sort::Active, _) => &[DebateState::AwaitingOpponent, DebateState::AwaitingProposer],
        (Sort::Closed, _) => &[DebateState::Closed],
    };
    let before = Some(asked.before.as_str()).filter(|text| !text.is_empty());
    let mut found: Vec<DebateListed> = Vec::new();
    let (mut total, mut total_is_exact) = (0, true);
    for state in states {
        let filter = Filter {
            state: (sort != Sort::Needed).then_some(*state),
            needs_arbitrator: sort == Sort::Needed,
            debate_type: Some(asked.kind.clone())
                .filter(|kind| !kind.is_empty())
                .map(|kind| DebateType::parse(kind).map_err(|bad| Problem::text("type", bad)))
                .transpose()?,
            search: Some(asked.q.trim().to_owned()).filter(|q| !q.is_empty() && !q.contains('\0')),
            limit: SHOWN + 1,
            before: before.map(crate::server::before).transpose()?,
            ..Filter::default()
        };
        let list = desk.list(filter).await?;
        total += list.total;
        total_is_exact &= list.total_is_exact;
        found.extend(list.debates);
    }
    let newest_first = |listed: &DebateListed| {
        (std::cmp::Reverse(listed.debate.updated_at), listed.debate.id.to_string())
    };
    found.sort_by_key(newest_first);
    let more = (found.len() as u64 > SHOWN).then(|| {
        found.truncate(usize::try_from(SHOWN).unwrap_or(usize::MAX));
        let last = &found[found.len() - 1].debate;
        let state = match (sort, asked.state.as_str()) {
            (_, "AWAITING_OPPONENT" | "AWAITING_PROPOSER") => asked.state.as_str(),
            (Sort::Needed, _) => "needed",
            (Sort::Active, _) => "active",
            (Sort::Closed, _) => "CLOSED",
        };
        let before = format!("{},{}", Stamp(last.updated_at), last.id);
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("q", &asked.q)
            .append_pair("type", &asked.kind)
            .append_pair("state", state)
            .append_pair("before", &before)
            .finish();
        format!("/?{query}")
    });
    let (name, title) = match sort {
        Sort::Needed if rules => ("needed", w.needs_you),
        Sort::Needed => ("awaited", w.needs_arbitrator),
        Sort::Active => ("active", w.active),
        Sort::Closed => ("closed", w.closed_group),
    };
    let rows = found.iter().map(|listed| row(&desk.app, visitor, listed)).collect();
    Ok(Group { name, title, total, total_is_exact, rows, more, is_needed: sort == Sort::Needed })
}

fn row(app: &App, visitor: &Visitor, listed: &DebateListed) -> Row {
    let w = visitor.words;
    let debate = &listed.debate;
    let last = &listed.last;
    let now = app.record.now();
    let last_move =
        w.last_move.replace("{role}", w.role(last.role)).replace("{kind}", last.kind.as_str());
    Row {
        id: debate.id.to_string(),
        title: debate.title.as_str().to_owned(),
        kind: debate.debate_type.as_str().to_owned(),
        state: debate.state(),
        state_words: w.state(debate.state(), visitor.rules()),
        round: put(w.round, debate.debate.standing.count.proposer),
        last_role: last.role,
        last_move,
        ago: w.ago(now.0 - last.at.0),
        at: Stamp(last.at),
        seats: if debate.state() == DebateState::Closed {
            Vec::new()
        } else {
            seats(app, w, debate).into_iter().filter(|seat| seat.role != Role::Arbitrator).collect()
        },
    }
}
