//! The regions of the page besides the arguments: the bar, the question or the outcome, the rail and the dock.

use aw_core::{Kind, Outcome, Role, Seq, State};
use aw_record::{PageData, ReportData};
use uuid::Uuid;

use super::dock::Dock;
use super::point::PointThread;
use super::presence::{AgentChip, agents};
use super::rail::Rail;
use super::ruling::{Overtaken, RulingDraft};
use crate::api::types::Stamp;
use crate::kit::texts::BuiltIn;
use crate::render::i18n::{Phrases, put};
use crate::render::report::ReportView;
use crate::server::App;
use crate::web::page_request::PageRequest;
use crate::web::timeline;

/// The contents of the regions.
pub(super) struct Live {
    pub(super) csrf: String,
    pub(super) id: String,
    pub(super) title: String,
    pub(super) kind: String,
    /// The note about rules that are not built in.
    pub(super) foreign_rules: Option<&'static str>,
    pub(super) state: State,
    /// Whose move it is, for how long, and what the move is.
    pub(super) move_words: String,
    pub(super) act: Option<String>,
    /// How it ended, and the same in words.
    pub(super) outcome: Option<(Outcome, &'static str)>,
    /// Whether the reader is needed.
    pub(super) is_needed: bool,
    pub(super) opened: String,
    pub(super) opened_at: Stamp,
    pub(super) round: String,
    pub(super) rounds_left: Option<String>,
    pub(super) agents: Vec<AgentChip>,
    pub(super) picture: String,
    pub(super) numbers: String,
    pub(super) rail: Rail,
    /// The turns of one point, which are shown instead of the transcript.
    pub(super) thread: Option<PointThread>,
    pub(super) documents: Vec<CitedLink>,
    pub(super) dock: Option<Dock>,
    pub(super) overtaken: Option<Overtaken>,
    /// The report of a closed debate, as HTML.
    pub(super) report: Option<String>,
    pub(super) can_intervene: bool,
    /// The note about an agent that was writing when it was stopped.
    pub(super) in_hand: Option<String>,
    pub(super) request: String,
    pub(super) reason: String,
    pub(super) last: Seq,
}

/// A link to a cited document.
pub(super) struct CitedLink {
    pub(super) id: String,
    pub(super) version: u64,
    pub(super) name: String,
    pub(super) is_gone: bool,
}

impl Live {
    pub(super) fn of(
        app: &App,
        request: &PageRequest,
        data: &PageData,
        report: Option<&ReportData>,
        draft: RulingDraft,
        href: &dyn Fn(Seq) -> String,
    ) -> Self {
        let t = request.phrases;
        let head = &data.debate;
        let state = head.state();
        let now = app.record.now().0;
        let standing = &head.debate.standing;
        let rules = request.rules();
        let is_needed = rules && standing.pending().is_some();
        Live {
            csrf: request.csrf.clone(),
            id: head.id.to_string(),
            title: head.title.as_str().to_owned(),
            kind: head.debate_type.as_str().to_owned(),
            foreign_rules: data.own_rules.then(|| {
                match BuiltIn::named(head.debate_type.as_str()) {
                    Some(_) => t.rules_replaced,
                    None => t.rules_sent_along,
                }
            }),
            state,
            move_words: move_words(t, state, rules, now - head.updated_at.0),
            act: act(t, data, is_needed),
            outcome: t.outcome(head.outcome).map(|words| (head.outcome, words)),
            is_needed,
            opened: put(t.opened, t.ago(now - head.created_at.0)),
            opened_at: Stamp(head.created_at),
            round: round(t, data),
            rounds_left: head
                .debate
                .ledger
                .as_ref()
                .map(|ledger| put(t.rounds_left, ledger.limit().saturating_sub(ledger.claims))),
            agents: agents(app, t, data, request),
            picture: timeline::draw(&data.moments, t, now, href),
            numbers: numbers(t, data),
            rail: Rail::of(data, t, is_needed, href),
            thread: None,
            documents: documents(data),
            report: report.map(|report| ReportView::of(report, t, href).html()),
            dock: rules.then(|| Dock::of(app, t, data, &draft, href)).flatten(),
            overtaken: draft.overtaken,
            can_intervene: rules && state != State::Closed && standing.pending().is_none(),
            in_hand: in_hand(t, data),
            request: Uuid::new_v4().to_string(),
            reason: draft.reason,
            last: standing.last,
        }
    }

    /// The first document and its newest cited version, for the script to compare.
    pub(super) fn newest_plan(&self) -> Option<String> {
        let document = self.documents.iter().find(|document| !document.is_gone)?;
        Some(format!("{} {}", document.id, document.version))
    }

    /// Whether an agent says what it works on, as the agents of a run do.
    pub(super) fn is_run(&self) -> bool {
        self.agents.iter().any(|agent| agent.presence.label.is_some())
    }

    /// The roles that wait, for the script to compare.
    pub(super) fn waiting(&self) -> String {
        let waiting = self.agents.iter().filter(|agent| agent.presence.waits);
        waiting.map(|agent| agent.presence.role.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// The roles that work and on what, for the script to compare.
    pub(super) fn working(&self) -> String {
        let working = self.agents.iter().filter_map(|agent| {
            let AgentChip { presence, .. } = agent;
            presence.label.as_ref().map(|label| format!("{}: {label}", presence.role))
        });
        working.collect::<Vec<_>>().join(" ")
    }
}

/// Whose move it is, and for how long.
fn move_words(t: &'static Phrases, state: State, rules: bool, since: i64) -> String {
    let time = t.lasting(since);
    match state {
        State::AwaitingArbitrator | State::InterventionPending if rules => {
            put(t.your_move_for, time)
        }
        State::Closed => t.closed.to_owned(),
        State::AwaitingOpponent
        | State::AwaitingProposer
        | State::AwaitingArbitrator
        | State::InterventionPending => {
            // A narrow screen breaks the line between other words.
            format!("{}\u{a0}·\u{a0}{}", t.state(state, rules), time.replace(' ', "\u{a0}"))
        }
    }
}

/// The subject of the move.
fn act(t: &'static Phrases, data: &PageData, is_needed: bool) -> Option<String> {
    let ledger = data.debate.debate.ledger.as_ref();
    let listed = |ids: Vec<aw_core::PointId>| {
        let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
        (!ids.is_empty()).then(|| t.ids_of_points(&ids))
    };
    if is_needed {
        let blocking = ledger.and_then(|ledger| listed(ledger.blocking()));
        return Some(match (data.pending.as_ref()?.event.kind(), blocking) {
            (Kind::Resolution, _) => t.act_on_resolution.to_owned(),
            (Kind::Intervention, _) => t.act_on_intervention.to_owned(),
            (_, Some(ids)) => put(t.act_on_points, ids),
            (_, None) => t.act_on_appeal.to_owned(),
        });
    }
    let floor = data.debate.state().floor()?;
    let owed = ledger.and_then(|ledger| listed(ledger.owed_by(floor)));
    owed.map(|ids| put(t.about_points, ids))
}

/// The round, and how many there are.
fn round(t: &'static Phrases, data: &PageData) -> String {
    match data.debate.debate.ledger.as_ref() {
        Some(ledger) => {
            let used = t.rounds_used.replace("{n}", &ledger.claims.to_string());
            used.replace("{all}", &ledger.limit().to_string())
        }
        None => put(t.round, data.debate.debate.standing.count.proposer),
    }
}

fn documents(data: &PageData) -> Vec<CitedLink> {
    let links = data.documents.iter().map(|document| CitedLink {
        id: document.id.to_string(),
        version: document.version,
        name: document.name.clone(),
        is_gone: document.deleted_at.is_some(),
    });
    links.collect()
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

/// The numbers below the timeline.
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
