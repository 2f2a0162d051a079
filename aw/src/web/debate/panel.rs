//! The panel in which somebody rules: the dispute, the choices, and what has been typed.

use aw_core::Kind;
use aw_record::PageData;
use uuid::Uuid;

use super::super::options::{self, Choice};
use super::ruling::{ANOTHER_WAY, RulingDraft, options_of};
use crate::render::i18n::{Phrases, put};
use crate::render::markdown;
use crate::server::App;

/// Where somebody rules.
pub(crate) struct Panel {
    pub(crate) heading: &'static str,
    pub(crate) target: String,
    pub(crate) target_seq: u64,
    pub(crate) request: String,
    /// What it is about, as far as it can be told apart.
    pub(crate) context: Option<String>,
    pub(crate) proposer: Option<String>,
    pub(crate) opponent: Option<String>,
    /// The whole of what asks for a ruling, where its parts cannot be told apart.
    pub(crate) whole: Option<String>,
    pub(crate) choices: Vec<Offered>,
    /// Whether none of them was chosen, but another way.
    pub(crate) is_another_way: bool,
    pub(crate) hint: String,
    pub(crate) draft: RulingDraft,
    pub(crate) is_resolution: bool,
    pub(crate) is_intervention: bool,
}

/// An option that can be chosen.
pub(crate) struct Offered {
    pub(crate) label: String,
    pub(crate) words: String,
    /// What the button says while this is chosen.
    pub(crate) says: String,
    pub(crate) chosen: bool,
}

impl Panel {
    /// The panel, where a ruling is owed.
    pub(crate) fn of(
        app: &App,
        t: &'static Phrases,
        page_data: &PageData,
        draft: &RulingDraft,
    ) -> Option<Self> {
        let pending = page_data.pending.as_ref()?;
        let kind = pending.event.kind();
        let words = pending.content.as_str();
        let render = |text: &str| {
            let version = |document| {
                let of = |citation: &&aw_record::Citation| citation.document == document;
                page_data.citations.iter().rev().find(of).map(|citation| citation.version)
            };
            markdown::render(text, &version)
        };
        let sections = options::sections(words);
        let part = |text: Option<&str>| text.map(render);
        let (context, proposer, opponent) =
            (part(sections.context), part(sections.proposer), part(sections.opponent));
        let told_apart = kind == Kind::Appeal && proposer.is_some() && opponent.is_some();
        let id = pending.id.to_string();
        // What was typed about another argument is not a draft of this ruling.
        let is_of_this = draft.target.is_empty() || draft.target == id;
        let draft = if is_of_this { draft.clone() } else { RulingDraft::default() };
        let offer = |choice: Choice| {
            let label = choice.label();
            let says = put(t.rule_by, &label);
            Offered { chosen: draft.choice == label, words: choice.words, says, label }
        };
        Some(Panel {
            heading: t.rule_on(kind),
            target: id,
            target_seq: pending.seq.0,
            // The same form sent twice is one ruling.
            request: draft.request.clone().unwrap_or_else(|| Uuid::new_v4().to_string()),
            context: context.filter(|_| told_apart),
            proposer: proposer.filter(|_| told_apart),
            opponent: opponent.filter(|_| told_apart),
            whole: (!told_apart && !words.trim().is_empty()).then(|| render(words)),
            choices: options_of(pending).into_iter().map(offer).collect(),
            is_another_way: draft.choice == ANOTHER_WAY,
            hint: put(t.ruling_hint, app.limits.content_bytes),
            is_resolution: kind == Kind::Resolution,
            is_intervention: kind == Kind::Intervention,
            draft,
        })
    }
}
