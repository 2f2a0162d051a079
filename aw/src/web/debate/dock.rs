//! The question that a ruling answers, and the dock in which a person rules.

use aw_core::{Kind, Ledger, Role, Seq};
use aw_record::{PageData, PointRecord};
use uuid::Uuid;

use super::super::options::{self, Choice};
use super::rail::with_names;
use super::ruling::{ANOTHER_WAY, PointVerdict, RulingDraft, options_of};
use crate::render::i18n::{Phrases, put};
use crate::render::markdown::{self, DocumentLink};
use crate::render::points::PointView;
use crate::server::App;

/// The question and the dock.
pub(crate) struct Dock {
    pub(crate) heading: &'static str,
    pub(crate) target: String,
    pub(crate) target_seq: u64,
    pub(crate) request: String,
    /// The context of the dispute, if the APPEAL has a section for it.
    pub(crate) context: Option<String>,
    pub(crate) proposer: Option<String>,
    pub(crate) opponent: Option<String>,
    /// The whole argument that asks for a ruling, if it has no sections.
    pub(crate) whole: Option<String>,
    pub(crate) choices: Vec<OptionView>,
    /// Whether the person chose another way.
    pub(crate) is_another_way: bool,
    /// The live points, blocking ones first.
    pub(crate) points: Vec<RulingPoint>,
    /// Why a RESOLUTION waits for the ruling.
    pub(crate) held: Option<&'static str>,
    pub(crate) hint: String,
    /// The most bytes that a ruling has.
    pub(crate) limit: usize,
    /// The question in one line.
    pub(crate) question: String,
    /// The text of the bar that opens the dock on a phone.
    pub(crate) bar: String,
    pub(crate) draft: RulingDraft,
    pub(crate) is_resolution: bool,
    pub(crate) is_intervention: bool,
}

/// An option of an APPEAL.
pub(crate) struct OptionView {
    pub(crate) label: String,
    /// Its text without Markdown, and as HTML.
    pub(crate) words: String,
    pub(crate) html: String,
    /// How many bytes of the ruling it takes.
    pub(crate) bytes: usize,
    /// The text of the button while this option is chosen.
    pub(crate) says: String,
    pub(crate) chosen: bool,
}

/// A point to rule on.
pub(crate) struct RulingPoint {
    pub(crate) point: PointView,
    /// The newest words of both sides, as HTML, each with the address and the `seq` of its argument.
    pub(crate) sides: Vec<SideWords>,
    /// The verdicts: value, words, and whether it is chosen.
    pub(crate) verdicts: Vec<(&'static str, &'static str, bool)>,
    pub(crate) reason: String,
    pub(crate) reason_label: String,
}

/// The newest words of one side on a point.
pub(crate) struct SideWords {
    pub(crate) role: Role,
    pub(crate) heading: String,
    pub(crate) seq: u64,
    pub(crate) href: String,
    pub(crate) html: String,
}

impl Dock {
    /// The dock, if the debate waits for a ruling.
    pub(crate) fn of(
        app: &App,
        t: &'static Phrases,
        data: &PageData,
        draft: &RulingDraft,
        href: &dyn Fn(Seq) -> String,
    ) -> Option<Self> {
        let pending = data.pending.as_ref()?;
        let kind = pending.event.kind();
        let words = pending.content.as_str();
        let render = |text: &str| {
            let link = |document| {
                let mut cited = data.citations.iter().rev();
                cited.find(|citation| citation.document == document).map(DocumentLink::from)
            };
            markdown::render(text, &link)
        };
        let sections = options::sections(words);
        let part = |text: Option<&str>| text.map(render);
        let (context, proposer, opponent) =
            (part(sections.context), part(sections.proposer), part(sections.opponent));
        let has_sections = kind == Kind::Appeal && proposer.is_some() && opponent.is_some();
        let id = pending.id.to_string();
        // Text that was typed about another argument is no draft of this ruling.
        let is_of_this = draft.target.is_empty() || draft.target == id;
        let draft = if is_of_this { draft.clone() } else { RulingDraft::default() };
        let offer = |(choice, number): (Choice, usize)| {
            let label = choice.label();
            let says = put(t.rule_by, &label);
            OptionView {
                chosen: draft.choice == label || draft.choose == Some(number),
                bytes: choice.ruling().len(),
                html: render(&choice.markdown),
                words: with_names(&choice.words, data).into_owned(),
                says,
                label,
            }
        };
        let ledger = data.debate.debate.ledger.as_ref();
        let mut live: Vec<(&Ledger, &PointRecord)> = ledger
            .iter()
            .flat_map(|ledger| data.points.iter().map(move |record| (*ledger, record)))
            .filter(|(_, record)| record.point.state.is_alive())
            .collect();
        live.sort_by_key(|(ledger, record)| !ledger.blocks(&record.point));
        let points = live.into_iter().map(|(ledger, record)| {
            let id = record.point.id;
            let decision = draft.decisions.iter().find(|decision| decision.point == id);
            let verdict = decision.map_or(PointVerdict::Leave, |decision| decision.verdict);
            let sides = [Role::Proposer, Role::Opponent].into_iter().filter_map(|role| {
                let turn = record.turns.iter().rev().find(|turn| turn.role == role)?;
                Some(SideWords {
                    role,
                    heading: t.newest_words.replace("{role}", t.role(role)),
                    seq: turn.seq.0,
                    href: href(turn.seq),
                    html: render(&turn.text),
                })
            });
            RulingPoint {
                point: PointView::of(ledger, record, t, false, href),
                sides: sides.collect(),
                verdicts: PointVerdict::ALL
                    .map(|one| (one.code(), one.words(t), one == verdict))
                    .into(),
                reason: decision.map_or(String::new(), |decision| decision.reason.clone()),
                reason_label: put(t.reason_for, id),
            }
        });
        let choices: Vec<OptionView> =
            options_of(pending).into_iter().zip(1..).map(offer).collect();
        let points: Vec<RulingPoint> = points.collect();
        let ids: Vec<String> = points.iter().map(|one| one.point.id.to_string()).collect();
        let bar = match choices.len() {
            _ if kind == Kind::Resolution => t.rule_resolution.to_owned(),
            0 if kind == Kind::Appeal && !ids.is_empty() => {
                put(t.rule_on_ids, t.ids_of_points(&ids))
            }
            0 => t.rule_on_this.to_owned(),
            1 => put(t.rule_one_option, 1),
            count => put(t.rule_options, count),
        };
        Some(Dock {
            points,
            held: data.debate.debate.pending_held().map(|held| t.held(held)),
            heading: t.rule_on(kind),
            target: id,
            target_seq: pending.seq.0,
            // A form that is sent twice has the same id and makes one ruling.
            request: draft.request.clone().unwrap_or_else(|| Uuid::new_v4().to_string()),
            context: context.filter(|_| has_sections),
            proposer: proposer.filter(|_| has_sections),
            opponent: opponent.filter(|_| has_sections),
            whole: (!has_sections && !words.trim().is_empty()).then(|| render(words)),
            choices,
            is_another_way: draft.choice == ANOTHER_WAY,
            question: options::question(&with_names(words, data)),
            bar,
            limit: app.limits.content_bytes,
            hint: put(t.ruling_hint, t.number(app.limits.content_bytes)),
            is_resolution: kind == Kind::Resolution,
            is_intervention: kind == Kind::Intervention,
            draft,
        })
    }
}
