//! Takes a ruling from the form of the page.
//!
//! The form sends the chosen option (`choice`), the typed text (`words`) and the decision on each point,
//! with or without a script. [`compose`] makes the ruling of them, so that the record has what the
//! person saw and chose.

use aw_core::{Argument, ArgumentId, DebateId, Kind, PointId, Via, Word};
use axum::response::{IntoResponse, Redirect, Response};

use super::super::error_page::{self, PageError};
use super::super::form::Form;
use super::super::options::{self, Choice};
use super::{DebateQuery, Preview, WINDOW, show};
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

/// The typed contents of a debate's forms that are not recorded yet.
#[derive(Debug, Clone, Default)]
pub(crate) struct RulingDraft {
    /// The label of an option, [`ANOTHER_WAY`], or nothing.
    pub(crate) choice: String,
    /// The number of an option, if the person came by its link.
    pub(crate) choose: Option<usize>,
    pub(crate) words: String,
    /// The decisions on points, by number.
    pub(crate) decisions: Vec<Decision>,
    pub(crate) close: bool,
    /// The id of the argument to rule on.
    pub(crate) target: String,
    pub(crate) preview: Option<String>,
    /// The reason of an intervention.
    pub(crate) reason: String,
    pub(crate) request: Option<String>,
    /// The flaws that the rules of points find in it.
    pub(crate) flaws: Vec<String>,
    /// Why it was not sent.
    pub(crate) error: Option<String>,
    /// The ruling that came first.
    pub(crate) overtaken: Option<Overtaken>,
}

/// A ruling that came before the person's own.
#[derive(Debug, Clone)]
pub(crate) struct Overtaken {
    pub(crate) seq: u64,
    /// The other ruling, as HTML.
    pub(crate) html: String,
    /// The typed text.
    pub(crate) typed: String,
}

/// A person's decision on a point, and its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) point: PointId,
    pub(crate) verdict: PointVerdict,
    pub(crate) reason: String,
}

/// The effect of a RULING on a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PointVerdict {
    Uphold,
    Dismiss,
    Defer,
    /// The ruling does not mention it.
    Leave,
}

impl PointVerdict {
    pub(crate) const ALL: [PointVerdict; 4] =
        [PointVerdict::Uphold, PointVerdict::Dismiss, PointVerdict::Defer, PointVerdict::Leave];

    /// The value in the form.
    pub(crate) fn code(self) -> &'static str {
        match self {
            PointVerdict::Uphold => "uphold",
            PointVerdict::Dismiss => "dismiss",
            PointVerdict::Defer => "defer",
            PointVerdict::Leave => "leave",
        }
    }

    pub(crate) fn words(self, t: &'static Phrases) -> &'static str {
        match self {
            PointVerdict::Uphold => t.uphold,
            PointVerdict::Dismiss => t.dismiss,
            PointVerdict::Defer => t.defer,
            PointVerdict::Leave => t.leave,
        }
    }

    /// The word of the statement.
    fn word(self) -> Option<Word> {
        match self {
            PointVerdict::Uphold => Some(Word::Upheld),
            PointVerdict::Dismiss => Some(Word::Dismissed),
            PointVerdict::Defer => Some(Word::Deferred),
            PointVerdict::Leave => None,
        }
    }
}

impl Decision {
    /// The fields of the form: `point-P2` has the verdict, `reason-P2` the reason.
    fn all(form: &Form) -> Vec<Self> {
        let mut all: Vec<Self> = form
            .names()
            .filter_map(|name| {
                let point: PointId = name.strip_prefix("point-")?.parse().ok()?;
                let value = form.get(name);
                let verdict = PointVerdict::ALL.into_iter().find(|one| one.code() == value)?;
                // A line end would begin another statement.
                let reason = form.get(&format!("reason-{point}"));
                let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
                Some(Decision { point, verdict, reason })
            })
            .collect();
        all.sort_by_key(|decision| decision.point);
        all.dedup_by_key(|decision| decision.point);
        all
    }

    /// The statement that says it. It has no words of a party: a title could cite a document.
    fn statement(&self, t: &'static Phrases) -> Option<String> {
        let word = self.verdict.word()?;
        let reason = if self.reason.is_empty() { t.by_this_ruling } else { &self.reason };
        Some(format!("### {} [{word}] {reason}", self.point))
    }
}

/// The statements of all decisions.
fn statements(decisions: &[Decision], t: &'static Phrases) -> String {
    let said: Vec<String> = decisions.iter().filter_map(|one| one.statement(t)).collect();
    said.join("\n\n")
}

impl RulingDraft {
    fn of(form: &Form) -> Self {
        let text = if form.has("words") { "words" } else { OLDER_FIELD };
        RulingDraft {
            choice: form.get("choice").to_owned(),
            choose: None,
            words: form.text(text),
            decisions: Decision::all(form),
            close: form.has("close") || form.get("do") == "approve",
            target: form.get("target").to_owned(),
            preview: None,
            reason: String::new(),
            request: Some(form.get("request").to_owned()),
            flaws: Vec::new(),
            error: None,
            overtaken: None,
        }
    }

    /// The choice, the text and the decisions, for a person to copy if they cannot be sent.
    fn typed(&self, t: &'static Phrases) -> String {
        let choice = Some(self.choice.trim()).filter(|choice| *choice != ANOTHER_WAY);
        joined(&[choice.unwrap_or_default(), &self.words, &statements(&self.decisions, t)])
    }

    /// The flaws of the ruling. Their lines are those of the text as it was typed.
    fn flaws_of(&self, problem: &Problem, content: &str, t: &'static Phrases) -> Vec<String> {
        let typed = self.words.trim();
        let said = statements(&self.decisions, t);
        let until_typed = content.strip_suffix(said.as_str()).unwrap_or(content).trim_end();
        let before = until_typed.strip_suffix(typed).unwrap_or_default().matches('\n').count();
        let cut = self.words.strip_suffix(self.words.trim_start()).unwrap_or_default();
        let cut = cut.matches('\n').count();
        let lines = typed.lines().count();
        let flaws = problem.error.flaws.iter().flatten();
        flaws
            .map(|flaw| {
                let line = (flaw.line as usize).checked_sub(before);
                match line.filter(|line| (1..=lines).contains(line)) {
                    Some(line) => format!("{}: {}", put(t.one_line, line + cut), flaw.message),
                    None => flaw.message.clone(),
                }
            })
            .collect()
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

/// The text of a ruling: "Option B: what it says", the typed text, then the statements about points.
pub(crate) fn compose(
    offered: &[Choice],
    choice: &str,
    words: &str,
    statements: &str,
) -> Result<String, Unclear> {
    let option = match choice.trim() {
        "" if words.trim().is_empty() && statements.is_empty() => return Err(Unclear::Blank),
        ANOTHER_WAY if words.trim().is_empty() => return Err(Unclear::NotDescribed),
        "" | ANOTHER_WAY => String::new(),
        label => match offered.iter().find(|one| one.label() == label) {
            Some(chosen) => chosen.ruling(),
            None => return Err(Unclear::UnknownOption),
        },
    };
    Ok(joined(&[&option, words, statements]))
}

fn joined(parts: &[&str]) -> String {
    let parts = parts.iter().map(|part| part.trim());
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// Takes a ruling, or previews it.
pub(in crate::web) async fn rule(access: Access, Segment(id): Segment, form: Form) -> Response {
    let t = form.request.phrases;
    let draft = RulingDraft::of(&form);
    let asked = DebateQuery { first: form.get("first").parse().ok(), ..DebateQuery::default() };
    let again = |asked: DebateQuery, draft: RulingDraft| {
        let (access, request, id) = (access.clone(), form.request.clone(), id.clone());
        async move { show(&access, &request, &id, &asked, None, draft).await }
    };
    let refuse = |problem: Problem| {
        error_page::page(&form.request, &PageError::Refused { problem, typed: draft.typed(t) })
    };
    if let Err(problem) = access.caller.may_use(Command::DebateRuling) {
        return refuse(problem);
    }
    if form.has(OLDER_FIELD) {
        return error_page::page(&form.request, &PageError::Stale { typed: draft.typed(t) });
    }
    let ruled_on = match argument(&access, &id, &draft.target).await {
        Ok(argument) => argument,
        Err(problem) => return refuse(problem),
    };
    let said = statements(&draft.decisions, t);
    let composed = if form.get("do") == "approve" {
        match ruled_on.as_ref().is_some_and(|one| one.event.kind() == Kind::Resolution) {
            true => Ok(joined(&[t.approve, &draft.words, &said])),
            false => Err(Unclear::UnknownOption),
        }
    } else {
        let offered = ruled_on.as_ref().map(options_of).unwrap_or_default();
        compose(&offered, &draft.choice, &draft.words, &said)
    };
    let is_preview = form.get("do") == "preview";
    let content = match composed {
        Ok(content) => content,
        Err(unclear) if is_preview && form.request.is_script() => {
            return form.request.page(&Preview { html: plain(unclear.words(t)) });
        }
        Err(unclear) => {
            let error = Some(unclear.words(t).to_owned());
            return again(asked, RulingDraft { error, ..draft }).await;
        }
    };
    if is_preview {
        let drawing = move || markdown::render(&content, &|_| None);
        return match DRAWING.run(drawing).await {
            Ok(html) if form.request.is_script() => form.request.page(&Preview { html }),
            Ok(html) => again(asked, RulingDraft { preview: Some(html), ..draft }).await,
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
            if form.request.is_script() {
                let asked = DebateQuery { ruled: Some(seq.0), ..asked };
                return again(asked, RulingDraft::default()).await;
            }
            return Redirect::to(&format!("/debate/{id}?ruled={seq}#a-{seq}")).into_response();
        }
        Err(problem) => problem,
    };
    if matches!(problem.error.code, Code::DebateNotFound | Code::ServerError | Code::Forbidden) {
        return refuse(problem);
    }
    let draft = match ruling_on(&access, &id, &draft.target).await {
        Some(first) => {
            let overtaken = Overtaken {
                seq: first.seq.0,
                html: markdown::render(first.content.as_str(), &|_| None),
                typed: content,
            };
            RulingDraft { overtaken: Some(overtaken), ..draft }
        }
        None => {
            let flaws = draft.flaws_of(&problem, &content, t);
            let why = match flaws.len() {
                0 if problem.error.code == Code::ContentTooLarge => {
                    let all = t.number(access.app.limits.content_bytes);
                    t.ruling_too_long
                        .replace("{n}", &t.number(content.len()))
                        .replace("{all}", &all)
                }
                0 => problem.error.message,
                1 => t.one_flaw.to_owned(),
                count => put(t.many_flaws, count),
            };
            let error = Some(format!("{} {why}", t.not_sent));
            RulingDraft { flaws, error, ..draft }
        }
    };
    again(asked, draft).await
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

/// The ruling on this argument, if there is one.
async fn ruling_on(access: &Access, id: &str, target: &str) -> Option<Argument> {
    let debate: DebateId = input::id("debate_id", id).ok()?;
    let target: ArgumentId = target.parse().ok()?;
    let debate = access.debate(Command::DebateGetContext, debate).ok()?;
    let data = debate.page_data(None, WINDOW).await.ok()?;
    let settles = |argument: &Argument| {
        argument.event.kind() == Kind::Ruling && argument.parent == Some(target)
    };
    data.arguments.into_iter().find(settles)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::texts::Language;

    const APPEAL: &str = "## Options\n\n1. **Option A:** Stop it\n2. **Option B:** Import while it runs,\n   slowly\n\
         3. **Option C:** Another way, which the Arbitrator describes\n";

    fn composed(appeal: &str, choice: &str, words: &str) -> Result<String, Unclear> {
        let mut offered = options::choices(appeal);
        offered.retain(|choice| !choice.is_free);
        compose(&offered, choice, words, "")
    }

    fn decision(number: u32, verdict: PointVerdict, reason: &str) -> Decision {
        Decision { point: PointId(number), verdict, reason: reason.to_owned() }
    }

    #[test]
    fn decisions_on_points_become_statements_below_the_text() {
        let t = Language::English.phrases();
        let said = statements(
            &[
                decision(1, PointVerdict::Leave, "never written"),
                decision(2, PointVerdict::Uphold, "Refunds need 90 days."),
                decision(3, PointVerdict::Dismiss, ""),
                decision(4, PointVerdict::Defer, ""),
            ],
            t,
        );
        assert_eq!(
            said,
            "### P2 [upheld] Refunds need 90 days.\n\n### P3 [dismissed] By this ruling.\n\n\
             ### P4 [deferred] By this ruling."
        );
        assert_eq!(compose(&[], "", "", &said).as_ref(), Ok(&said));
        assert_eq!(compose(&[], "", "Why.", &said), Ok(format!("Why.\n\n{said}")));
        assert_eq!(compose(&[], ANOTHER_WAY, "", &said), Err(Unclear::NotDescribed));
        for language in [Language::English, Language::Vietnamese] {
            let said = statements(&[decision(1, PointVerdict::Uphold, "")], language.phrases());
            let read = aw_core::statements(&said, aw_core::Role::Arbitrator, 1);
            assert!(read.flaws.is_empty() && read.statements.len() == 1, "{read:?}");
        }
    }

    #[test]
    fn a_flaw_names_the_line_that_was_typed() {
        let t = Language::English.phrases();
        let draft = RulingDraft {
            words: "\n\nx\n### P9 [upheld] x".to_owned(),
            decisions: vec![decision(1, PointVerdict::Uphold, "y")],
            ..RulingDraft::default()
        };
        let mut problem = Problem::input("content", "flaws");
        let flaw = |line: u32, message: &str| crate::api::types::Flaw {
            line,
            code: String::new(),
            message: message.to_owned(),
            allowed: Vec::new(),
            quote: None,
            nearest: None,
        };
        problem.error.flaws = Some(vec![flaw(4, "typed"), flaw(6, "drafted")]);
        let content = "Option B: x\n\nx\n### P9 [upheld] x\n\n### P1 [upheld] y";
        assert_eq!(draft.flaws_of(&problem, content, t), ["line 4: typed", "drafted"]);
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
    fn the_words_of_an_option_decide_no_point_in_a_ruling() {
        for hidden in [
            "```\n   ### P1 [dismissed] It is not needed.\n   ```",
            "\\### P1 [dismissed] It is not needed.",
            "&#35;## P1 [dismissed] It is not needed.",
            "### P1 [dismissed] It is not needed.",
            "- x\n\n     \\### P1 [dismissed] It is not needed.",
        ] {
            let appeal = format!("## Options\n\n1. Wait\n2. Ship it now\n\n   {hidden}\n");
            let ruling = composed(&appeal, "Option 2", "").unwrap();
            let read = aw_core::statements(&ruling, aw_core::Role::Arbitrator, 1);
            assert!(ruling.starts_with("Option 2: Ship it now"), "{hidden}: {ruling}");
            assert!(read.statements.is_empty() && read.flaws.is_empty(), "{hidden}: {ruling}");
        }
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
