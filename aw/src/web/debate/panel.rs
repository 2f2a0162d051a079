//! The panel in which somebody rules: the dispute, the choices, and what has been typed.

use aw_core::Kind;
use aw_record::Sheet;
use uuid::Uuid;

use super::super::form::Form;
use super::super::markdown;
use super::super::options::{self, Choice};
use super::super::words::{Words, put};
use crate::server::App;

/// What was typed into the forms of a debate and is not in the record yet.
#[derive(Debug, Clone, Default)]
pub(crate) struct Draft {
    pub(crate) choice: String,
    pub(crate) content: String,
    pub(crate) close: bool,
    pub(crate) preview: Option<String>,
    pub(crate) reason: String,
    pub(crate) request: Option<String>,
}

impl Draft {
    pub(crate) fn of(form: &Form) -> Self {
        Draft {
            choice: form.text("choice"),
            content: form.text("content"),
            close: form.has("close"),
            preview: None,
            reason: String::new(),
            request: Some(form.get("request").to_owned()),
        }
    }

    /// The ruling: what was written, or else the choice itself.
    pub(crate) fn ruling(&self) -> String {
        let written = self.content.trim();
        if written.is_empty() { self.choice.trim().to_owned() } else { written.to_owned() }
    }
}

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
    pub(crate) hint: String,
    pub(crate) draft: Draft,
    pub(crate) is_resolution: bool,
    pub(crate) is_intervention: bool,
}

/// A choice, and the text that it drafts.
pub(crate) struct Offered {
    pub(crate) name: String,
    pub(crate) words: String,
    pub(crate) text: String,
    pub(crate) chosen: bool,
}

impl Panel {
    /// The panel, where a ruling is owed.
    pub(crate) fn of(app: &App, w: &'static Words, sheet: &Sheet, draft: &Draft) -> Option<Self> {
        let pending = sheet.pending.as_ref()?;
        let kind = pending.event.kind();
        let words = pending.content.as_str();
        let render = |text: &str| {
            let version = |document| {
                let of = |citation: &&aw_record::Citation| citation.document == document;
                sheet.citations.iter().rev().find(of).map(|citation| citation.version)
            };
            markdown::render(text, &version)
        };
        let sections = options::sections(words);
        let part = |text: Option<&str>| text.map(render);
        let (context, proposer, opponent) =
            (part(sections.context), part(sections.proposer), part(sections.opponent));
        let told_apart = kind == Kind::Appeal && proposer.is_some() && opponent.is_some();
        let choices = match kind {
            Kind::Appeal => options::choices(words),
            _ => Vec::new(),
        };
        let offer = |choice: Choice| {
            let text = format!("{}: {}", choice.name, choice.words);
            Offered { chosen: draft.choice == text, name: choice.name, words: choice.words, text }
        };
        let draft = draft.clone();
        Some(Panel {
            heading: w.rule_on(kind),
            target: pending.id.to_string(),
            target_seq: pending.seq.0,
            // The same form sent twice is one ruling.
            request: draft.request.clone().unwrap_or_else(|| Uuid::new_v4().to_string()),
            context: context.filter(|_| told_apart),
            proposer: proposer.filter(|_| told_apart),
            opponent: opponent.filter(|_| told_apart),
            whole: (!told_apart && !words.trim().is_empty()).then(|| render(words)),
            choices: choices.into_iter().filter(|choice| !choice.is_free).map(offer).collect(),
            hint: put(w.ruling_hint, app.limits.content_bytes),
            is_resolution: kind == Kind::Resolution,
            is_intervention: kind == Kind::Intervention,
            draft,
        })
    }
}
