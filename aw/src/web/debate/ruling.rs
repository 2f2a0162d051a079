//! Takes a ruling from the form of the page.
//!
//! The form sends the chosen option (`choice`) and the typed text (`words`), with or without a script.
//! [`compose`] makes the ruling of the two, so that the record has what the person saw and chose.

use aw_core::{Argument, ArgumentId, DebateId, Kind, Via};
use axum::response::{IntoResponse, Redirect, Response};

use super::super::error_page::{self, PageError};
use super::super::form::Form;
use super::super::options::{self, Choice};
use super::{DebateQuery, Notice, Preview, WINDOW, show};
use crate::api::error::Code;
use crate::api::types::SubmitRuling;
use crate::policy::Command;
use crate::render::i18n::{Phrases, put};
use crate::render::markdown::{self, plain};
use crate::server::input::Segment;
use crate::server::{Access, DRAWING, Problem, input};

/// The value of `choice` for none of the options.
pub(crate) const ANOTHER_WAY: &str = "another";

/// The only text field of older pages. Its text may belong to another choice than the one sent with it.
const OLDER_FIELD: &str = "content";

/// What was typed into the forms of a debate and is not recorded yet.
#[derive(Debug, Clone, Default)]
pub(crate) struct RulingDraft {
    /// The label of an option, [`ANOTHER_WAY`], or nothing.
    pub(crate) choice: String,
    pub(crate) words: String,
    pub(crate) close: bool,
    /// The id of the argument to rule on.
    pub(crate) target: String,
    pub(crate) preview: Option<String>,
    /// The reason of an intervention.
    pub(crate) reason: String,
    pub(crate) request: Option<String>,
}

impl RulingDraft {
    fn of(form: &Form) -> Self {
        let text = if form.has("words") { "words" } else { OLDER_FIELD };
        RulingDraft {
            choice: form.get("choice").to_owned(),
            words: form.text(text),
            close: form.has("close") || form.get("do") == "approve",
            target: form.get("target").to_owned(),
            preview: None,
            reason: String::new(),
            request: Some(form.get("request").to_owned()),
        }
    }

    /// The choice and the text, for a person to copy if they cannot be sent.
    fn typed(&self) -> String {
        let choice = Some(self.choice.trim()).filter(|choice| *choice != ANOTHER_WAY);
        joined(choice.unwrap_or_default(), &self.words)
    }
}

/// Why a choice and a text make no ruling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unclear {
    /// Neither an option nor text.
    Blank,
    /// Another way was chosen and not described.
    NotDescribed,
    /// The argument has no such option.
    UnknownOption,
}

impl Unclear {
    fn words(self, t: &'static Phrases) -> &'static str {
        match self {
            Unclear::Blank => t.blank_ruling,
            Unclear::NotDescribed => t.blank_other_way,
            Unclear::UnknownOption => t.unknown_option,
        }
    }
}

/// The options of an argument, without the one that stands for any other way.
pub(crate) fn options_of(argument: &Argument) -> Vec<Choice> {
    if argument.event.kind() != Kind::Appeal {
        return Vec::new();
    }
    let mut offered = options::choices(argument.content.as_str());
    offered.retain(|choice| !choice.is_free);
    offered
}

/// The text of a ruling: "Option B: what it says", then the typed text.
pub(crate) fn compose(offered: &[Choice], choice: &str, words: &str) -> Result<String, Unclear> {
    let option = match choice.trim() {
        "" if words.trim().is_empty() => return Err(Unclear::Blank),
        ANOTHER_WAY if words.trim().is_empty() => return Err(Unclear::NotDescribed),
        "" | ANOTHER_WAY => String::new(),
        label => match offered.iter().find(|one| one.label() == label) {
            Some(chosen) => chosen.ruling(),
            None => return Err(Unclear::UnknownOption),
        },
    };
    Ok(joined(&option, words))
}

fn joined(first: &str, words: &str) -> String {
    let parts = [first.trim(), words.trim()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// Takes a ruling, or previews it.
pub(in crate::web) async fn rule(access: Access, Segment(id): Segment, form: Form) -> Response {
    let t = form.request.phrases;
    let draft = RulingDraft::of(&form);
    let again = |notice: Option<Notice>, draft: RulingDraft| {
        let (access, request, id) = (access.clone(), form.request.clone(), id.clone());
        async move { show(&access, &request, &id, &DebateQuery::default(), notice, draft).await }
    };
    let refuse = |problem: Problem| {
        error_page::page(&form.request, &PageError::Refused { problem, typed: draft.typed() })
    };
    if let Err(problem) = access.caller.may_use(Command::DebateRuling) {
        return refuse(problem);
    }
    if form.has(OLDER_FIELD) {
        return error_page::page(&form.request, &PageError::Stale { typed: draft.typed() });
    }
    let ruled_on = match argument(&access, &id, &draft.target).await {
        Ok(argument) => argument,
        Err(problem) => return refuse(problem),
    };
    let composed = if form.get("do") == "approve" {
        match ruled_on.as_ref().is_some_and(|one| one.event.kind() == Kind::Resolution) {
            true => Ok(joined(t.approve, &draft.words)),
            false => Err(Unclear::UnknownOption),
        }
    } else {
        let offered = ruled_on.as_ref().map(options_of).unwrap_or_default();
        compose(&offered, &draft.choice, &draft.words)
    };
    let is_preview = form.get("do") == "preview";
    let content = match composed {
        Ok(content) => content,
        Err(unclear) if is_preview && form.request.is_script() => {
            return form.request.page(&Preview { html: plain(unclear.words(t)) });
        }
        Err(unclear) => return again(Some(Notice::bad(unclear.words(t))), draft).await,
    };
    if is_preview {
        let drawing = move || markdown::render(&content, &|_| None);
        return match DRAWING.run(drawing).await {
            Ok(html) if form.request.is_script() => form.request.page(&Preview { html }),
            Ok(html) => again(None, RulingDraft { preview: Some(html), ..draft }).await,
            Err(problem) => refuse(problem),
        };
    }
    let body = SubmitRuling {
        content: content.clone(),
        close: Some(draft.close),
        target_id: Some(draft.target.clone()),
        client_request_id: Some(form.get("request").to_owned()),
        author: None,
    };
    let sent = match input::id("debate_id", &id) {
        Ok(debate) => match access.app.ruling(debate, Via::Page, body) {
            Ok(request) => access.execute(request).await,
            Err(problem) => Err(problem),
        },
        Err(problem) => Err(problem),
    };
    let problem = match sent {
        Ok(receipt) => {
            let seq = receipt.argument.seq;
            return Redirect::to(&format!("/debate/{id}?ruled={seq}#a-{seq}")).into_response();
        }
        Err(problem) => problem,
    };
    if matches!(problem.error.code, Code::DebateNotFound | Code::ServerError | Code::Forbidden) {
        return refuse(problem);
    }
    let notice = match ruling_after(&access, &id, &draft.target).await {
        Some(seq) => Notice {
            is_bad: true,
            words: put(t.ruled_before, format!("#{seq}")),
            typed: Some(content),
            href: Some((format!("#a-{seq}"), format!("#{seq}"))),
        },
        None => Notice::bad(&format!("{} {}", t.not_sent, problem.error.message)),
    };
    again(Some(notice), draft).await
}

/// The argument that a form rules on: the one with this id, or without an id the pending one.
async fn argument(access: &Access, debate: &str, id: &str) -> Result<Option<Argument>, Problem> {
    let debate: DebateId = input::id("debate_id", debate)?;
    let debate = access.debate(Command::DebateGetContext, debate)?;
    if id.is_empty() {
        return Ok(debate.page_data(None, 1).await?.pending);
    }
    let Ok(id) = id.parse::<ArgumentId>() else { return Ok(None) };
    let Some(seq) = debate.place(id).await? else { return Ok(None) };
    let mut stretch = debate.stretch(seq.0 - 1, 1).await?;
    Ok(stretch.arguments.pop())
}

/// The `seq` of the ruling on this argument, if there is one.
async fn ruling_after(access: &Access, id: &str, target: &str) -> Option<u64> {
    let debate: DebateId = input::id("debate_id", id).ok()?;
    let target: ArgumentId = target.parse().ok()?;
    let debate = access.debate(Command::DebateGetContext, debate).ok()?;
    let data = debate.page_data(None, WINDOW).await.ok()?;
    let settles = |argument: &&Argument| {
        argument.event.kind() == Kind::Ruling && argument.parent == Some(target)
    };
    data.arguments.iter().find(settles).map(|argument| argument.seq.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const APPEAL: &str = "## Options\n\n1. **Option A:** Stop it\n2. **Option B:** Import while it runs,\n   slowly\n\
         3. **Option C:** Another way, which the Arbitrator describes\n";

    fn composed(appeal: &str, choice: &str, words: &str) -> Result<String, Unclear> {
        let mut offered = options::choices(appeal);
        offered.retain(|choice| !choice.is_free);
        compose(&offered, choice, words)
    }

    #[test]
    fn a_ruling_is_the_chosen_option_followed_by_the_text() {
        let option = "Option B: Import while it runs, slowly";
        assert_eq!(composed(APPEAL, "Option B", "").as_deref(), Ok(option));
        let with_words = composed(APPEAL, "Option B", " Measure **it**.\n").unwrap();
        assert_eq!(with_words, format!("{option}\n\nMeasure **it**."));
        assert_eq!(composed(APPEAL, "", "Ask the users.").as_deref(), Ok("Ask the users."));
        assert_eq!(composed(APPEAL, ANOTHER_WAY, "Ask them.").as_deref(), Ok("Ask them."));
    }

    #[test]
    fn a_blank_or_unknown_choice_makes_no_ruling() {
        assert_eq!(composed(APPEAL, "", " \n"), Err(Unclear::Blank));
        assert_eq!(composed(APPEAL, ANOTHER_WAY, ""), Err(Unclear::NotDescribed));
        for choice in ["Option Z", "Option C", "B", "Option B: Import"] {
            assert_eq!(composed(APPEAL, choice, "Do."), Err(Unclear::UnknownOption), "{choice}");
        }
        assert_eq!(composed("Please decide.", "Option A", "Do."), Err(Unclear::UnknownOption));
    }

    #[test]
    fn options_without_a_name_get_one_in_the_ruling() {
        for list in ["1. Keep it\n2. Drop it", "1. Keep it\n1. Drop it", "- Keep it\n- Drop it"] {
            let ruling = composed(&format!("## Options\n\n{list}\n"), "Option 2", "");
            assert_eq!(ruling.as_deref(), Ok("Option 2: Drop it"), "{list}");
        }
        let ruling = composed("## Options\n\na) Keep it\nb) Drop it\n", "Option B", "");
        assert_eq!(ruling.as_deref(), Ok("Option B: Drop it"));
    }
}
