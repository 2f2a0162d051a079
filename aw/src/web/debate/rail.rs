//! The rail beside the arguments: the points by what they need, or the turns by their first heading.

use std::borrow::Cow;

use aw_core::{Argument, Kind, PointState, Role, Seq};
use aw_record::{PageData, PointRecord};

use crate::render::i18n::{Phrases, put};
use crate::render::points::PointView;
use crate::web::options;

/// How many rounds on one point are worth a mark.
const MANY_ROUNDS: usize = 3;

/// The contents of the rail.
pub(super) struct Rail {
    pub(super) keeps_points: bool,
    /// The points that need the reader, the open ones, and those that are over.
    pub(super) groups: Vec<RailGroup>,
    /// How many points there are, and how many of each group.
    pub(super) total: usize,
    pub(super) counts: String,
    /// How many points block, while the debate goes on.
    pub(super) blocking: Option<String>,
    pub(super) is_blocked: bool,
    pub(super) agrees: bool,
    /// The turns of a debate without points.
    pub(super) turns: Vec<RailTurn>,
}

/// Points with the same need.
pub(super) struct RailGroup {
    /// `needs-you`, `open` or `settled`, for the style.
    pub(super) class: &'static str,
    pub(super) name: &'static str,
    pub(super) points: Vec<RailPoint>,
}

/// A point in the rail.
pub(super) struct RailPoint {
    pub(super) view: PointView,
    /// The first letter of its severity.
    pub(super) letter: &'static str,
    /// Facts in one line: who owes, how many rounds, how many quotes were found.
    pub(super) facts: String,
    /// Marks in words, each with an explanation.
    pub(super) marks: Vec<(&'static str, &'static str)>,
}

/// An argument in the rail.
pub(super) struct RailTurn {
    pub(super) seq: Seq,
    pub(super) role: Role,
    pub(super) kind: Kind,
    pub(super) href: String,
    pub(super) heading: String,
}

impl Rail {
    pub(super) fn of(
        data: &PageData,
        t: &'static Phrases,
        is_needed: bool,
        href: &dyn Fn(Seq) -> String,
    ) -> Self {
        let Some(ledger) = data.debate.debate.ledger.as_ref() else {
            let all = std::iter::once(&data.motion).chain(&data.arguments);
            let turn = |argument: &Argument| RailTurn {
                seq: argument.seq,
                role: argument.event.role(),
                kind: argument.event.kind(),
                href: href(argument.seq),
                heading: heading(argument, data),
            };
            return Rail {
                keeps_points: false,
                groups: Vec::new(),
                total: 0,
                counts: String::new(),
                blocking: None,
                is_blocked: false,
                agrees: false,
                turns: all.map(turn).collect(),
            };
        };
        let is_closed = data.debate.state() == aw_core::State::Closed;
        let mut groups = [
            RailGroup { class: "needs-you", name: t.needs_you, points: Vec::new() },
            RailGroup {
                class: "open",
                name: if is_closed { t.points_left_open } else { t.points_open },
                points: Vec::new(),
            },
            RailGroup { class: "settled", name: t.points_settled, points: Vec::new() },
        ];
        for record in &data.points {
            let view = PointView::of(ledger, record, t, is_closed, href);
            let group = match (view.is_alive, view.is_blocking && is_needed) {
                (true, true) => 0,
                (true, false) => 1,
                (false, _) => 2,
            };
            let needs_reader = group == 0;
            groups[group].points.push(RailPoint::of(record, view, t, needs_reader, is_closed));
        }
        let [needed, open, settled] = &groups;
        let counts = [
            (t.count_need_you, needed.points.len()),
            (if is_closed { t.count_left_open } else { t.count_open }, open.points.len()),
            (t.count_settled, settled.points.len()),
        ];
        let counts = counts.into_iter().filter(|(_, count)| *count > 0);
        let counts: Vec<String> = counts.map(|(words, count)| put(words, count)).collect();
        let blocking = ledger.blocking().len();
        Rail {
            keeps_points: true,
            total: data.points.len(),
            counts: counts.join(" · "),
            blocking: (!is_closed).then(|| t.blocking(blocking)),
            is_blocked: blocking > 0,
            agrees: ledger.agreed,
            groups: groups.into_iter().filter(|group| !group.points.is_empty()).collect(),
            turns: Vec::new(),
        }
    }

    /// The points of each group as parts of a line: class, beginning and length.
    pub(super) fn shares(&self) -> Vec<(&'static str, usize, usize)> {
        let mut begin = 0;
        let share = |group: &RailGroup| {
            let part = (group.class, begin, group.points.len());
            begin += group.points.len();
            part
        };
        self.groups.iter().map(share).collect()
    }
}

impl RailPoint {
    fn of(
        record: &PointRecord,
        view: PointView,
        t: &'static Phrases,
        needs_reader: bool,
        is_closed: bool,
    ) -> Self {
        let point = &record.point;
        let rounds = record.turns.iter().filter(|turn| turn.role == Role::Opponent).count();
        let mut facts = Vec::new();
        match (needs_reader, &view.owes) {
            (true, _) => facts.push(t.you_owe.to_owned()),
            (false, Some(owes)) => facts.push(owes.clone()),
            (false, None) => {}
        }
        if point.state.is_alive() && rounds > 0 {
            facts.push(put(if rounds == 1 { t.one_round } else { t.many_rounds }, rounds));
        }
        let found = record.quotes.iter().filter(|quote| quote.place.is_some()).count();
        if found > 0 {
            facts.push(put(if found == 1 { t.one_quote } else { t.many_quotes }, found));
        }
        let mut marks = Vec::new();
        if point.state == PointState::Accepted {
            marks.push((t.not_checked, t.not_checked_words));
        }
        let rejected = record.turns.iter().rev().find(|turn| turn.role == Role::Proposer);
        let has_no_evidence = rejected.is_some_and(|turn| turn.quotes.is_empty());
        if point.state == PointState::Rejected && has_no_evidence {
            marks.push((t.no_evidence, t.no_evidence_words));
        }
        if point.state.is_alive() && rounds >= MANY_ROUNDS && !is_closed {
            marks.push((t.goes_in_circles, t.goes_in_circles_words));
        }
        if point.late {
            marks.push((t.late, t.late_words));
        }
        if point.unchanged {
            marks.push((t.unchanged, t.unchanged_words));
        }
        let letter = match point.severity {
            aw_core::Severity::Critical => "C",
            aw_core::Severity::Major => "M",
            aw_core::Severity::Minor => "m",
        };
        // A line breaks between two facts.
        let facts = facts.join(" · ").replace(' ', "\u{a0}").replace("\u{a0}·\u{a0}", "\u{a0}· ");
        RailPoint { view, letter, facts, marks }
    }
}

/// The name of a turn: its question if it asks for a ruling, else its first heading.
fn heading(argument: &Argument, data: &PageData) -> String {
    let text = with_names(argument.content.as_str(), data);
    match argument.event.kind() {
        Kind::Appeal | Kind::Resolution => options::first_heading(&options::question(&text)),
        Kind::Motion | Kind::Claim | Kind::Ruling | Kind::Intervention => {
            options::first_heading(&text)
        }
    }
}

/// A text with the names of the debate's documents instead of their ids.
pub(super) fn with_names<'a>(text: &'a str, data: &PageData) -> Cow<'a, str> {
    data.documents.iter().fold(Cow::Borrowed(text), |text, document| {
        let id = document.id.to_string();
        match text.contains(&id) {
            true => text.replace(&format!("doc_id={id}"), &id).replace(&id, &document.name).into(),
            false => text,
        }
    })
}
