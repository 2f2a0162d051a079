//! What a role does next, worked out from the server's answers: commands and tools show the same advice.

use aw_core::{Action, Available, Course, Held, Role, State};

use super::error::{Code, Error};
use super::types::{ArgumentIdText, Checked, HeldText, News, Nothing, StateText, Word, Written};

/// A move that is open to a role, with the argument that it refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Wait for what comes after this argument.
    Wait(Option<ArgumentIdText>),
    /// Answer this argument with a CLAIM.
    Submit(ArgumentIdText),
    /// Put the dispute over this argument before the arbitrator.
    Appeal(ArgumentIdText),
    /// Ask to complete the debate after this argument.
    RequestCompletion(ArgumentIdText),
    /// Rule on this argument.
    Rule(ArgumentIdText),
    /// Rule on this argument and close the debate.
    RuleAndClose(ArgumentIdText),
    /// Read the report: the debate is closed.
    Result,
}

impl Step {
    /// The step of this course, as an answer to this argument.
    pub fn of(course: Course, target: ArgumentIdText) -> Self {
        match course {
            Course::Respond => Step::Submit(target),
            Course::Appeal => Step::Appeal(target),
            Course::RequestCompletion => Step::RequestCompletion(target),
        }
    }
}

/// The next step of a role, and its alternatives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// The move to make. None where the server can do nothing more.
    pub next: Option<Step>,
    /// The other moves that are open.
    pub others: Vec<Step>,
}

impl Advice {
    /// Follows from the answer to a wait.
    pub fn after(news: &News) -> Self {
        let newest = news.argument.id;
        let Some(action) = news.action.known() else {
            // A newer server wants something that this version cannot do.
            return Advice::wait(Some(news.next_argument_id_to_wait));
        };
        match action {
            Action::Respond | Action::AlignToRuling => {
                let advice = news.points.ledger.as_ref().and_then(|ledger| ledger.advice.as_ref());
                let course = advice.and_then(|advice| advice.course.known());
                let next = Step::of(course.unwrap_or(Course::Respond), newest);
                let is_open = |action| news.available_actions.contains(&Word::Known(action));
                let others = [
                    (Available::Claim, Course::Respond),
                    (Available::Appeal, Course::Appeal),
                    (Available::Resolution, Course::RequestCompletion),
                ]
                .into_iter()
                .filter(|(action, _)| is_open(*action))
                .map(|(_, course)| Step::of(course, newest))
                .filter(|step| *step != next);
                Advice { next: Some(next), others: others.collect() }
            }
            // A RULING answers what is pending, which need not be the newest argument.
            Action::Rule => Advice::rule(news.pending_argument_id.unwrap_or(newest)),
            Action::DebateClosed => Advice::result(),
            Action::WaitForOpponent
            | Action::WaitForProposer
            | Action::WaitForRuling
            | Action::Wait => Advice::wait(Some(news.next_argument_id_to_wait)),
        }
    }

    /// Rule on this argument.
    pub fn rule(pending: ArgumentIdText) -> Self {
        Advice { next: Some(Step::Rule(pending)), others: vec![Step::RuleAndClose(pending)] }
    }

    /// Follows from a write: to wait, unless it closed the debate.
    pub fn after_write(written: &Written) -> Self {
        match written.debate.state.known() {
            Some(State::Closed) => Advice::result(),
            _ => Advice::wait(Some(written.next_argument_id_to_wait)),
        }
    }

    /// Read the report.
    fn result() -> Self {
        Advice { next: Some(Step::Result), others: Vec::new() }
    }

    /// The same for a server that makes no reports.
    pub fn without_result(mut self) -> Self {
        self.next = self.next.filter(|step| *step != Step::Result);
        self
    }

    /// Wait for what comes after this argument.
    pub fn wait(after: Option<ArgumentIdText>) -> Self {
        Advice { next: Some(Step::Wait(after)), others: Vec::new() }
    }
}

/// The advice after a time-out for an agent that is woken when it has something to do.
pub const WOKEN: &str = "end your turn; you will be woken";

/// Whose move a wait in this state waits for. Without a state no server has answered yet, so it is
/// the server's.
pub fn awaited(state: Option<&StateText>) -> &'static str {
    let Some(state) = state else { return "the server" };
    match state.known() {
        Some(State::AwaitingOpponent) => "the opponent",
        Some(State::AwaitingProposer) => "the proposer",
        Some(State::AwaitingArbitrator | State::InterventionPending | State::Closed) => {
            "the arbitrator"
        }
        None => "somebody",
    }
}

/// Seconds that are left until a role should stop waiting and tell its user: `patience` counts from
/// the newest argument. Unknown while no server has said when that was written.
pub fn patience_left(patience_s: u64, quiet: Option<&Nothing>, now_ms: i64) -> Option<u64> {
    let since = quiet?.waiting_since?;
    let spent = (now_ms - since.0.0).max(0).unsigned_abs() / 1_000;
    Some(patience_s.saturating_sub(spent))
}

/// Why a RESOLUTION waits for the arbitrator.
pub fn held_in_words(held: &HeldText) -> &'static str {
    match held.known() {
        Some(Held::Policy) => "the debate's policy asks for approval",
        Some(Held::NotAgreed) => "the opponent has not agreed",
        Some(Held::OtherVersion) => {
            "it cites another version than the one that the opponent agreed to"
        }
        None => "the server says why in `held`",
    }
}

/// Says what a write did: `done` unless it was parked, or had been written before.
pub fn write_message(written: &Written, done: &str) -> String {
    let message = match (&written.message, written.replayed) {
        (Some(parked), _) => parked.clone(),
        (None, true) => format!("{done} before: this is the first answer again"),
        (None, false) => done.to_owned(),
    };
    let is_pending = written.points.ledger.as_ref().is_some_and(|ledger| ledger.held.is_some());
    match written.held.iter().flatten().next().filter(|_| is_pending) {
        Some(held) => format!("{message}. It waits for the arbitrator: {}", held_in_words(held)),
        None => message,
    }
}

/// Says that a move of this kind was only judged, and what is easily missed: that it says nothing
/// about points where it could, or what becomes of a RESOLUTION.
pub fn check_message(checked: &Checked, kind: &str) -> String {
    let message = judged_message(checked, kind);
    let closes = checked.debate_state == State::Closed.into();
    match &checked.held {
        Some(held) => {
            format!("{message}. It would wait for the arbitrator: {}", held_in_words(held))
        }
        None if closes && kind == "resolution" => format!("{message}. It would close the debate"),
        None => message.to_owned(),
    }
}

fn judged_message(checked: &Checked, kind: &str) -> &'static str {
    let keeps_points = checked.points.ledger.is_some();
    match (keeps_points, checked.parked) {
        (true, true) => {
            "Nothing was submitted: this was a dry run. The text would be parked: the arbitrator \
             intervened, and nothing that it says about points would count"
        }
        (false, true) => {
            "Nothing was submitted: this was a dry run. The text would be parked: the arbitrator \
             intervened"
        }
        (true, false) if kind == "claim" && checked.statements.is_empty() => {
            "Nothing was submitted: this was a dry run. The move is allowed, but the server read no \
             statement about a point in it"
        }
        (_, false) => "Nothing was submitted: this was a dry run, and the move is allowed",
    }
}

/// The place to look after a failure, where the code and the wrong field show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// At the list of debates.
    Debates,
    /// At the debate that was named.
    Debate,
    /// At the list of documents.
    Documents,
    /// At the document that was named.
    Document,
}

impl Look {
    /// Follows from a failure.
    pub fn after(code: &Code, field: Option<&str>) -> Option<Self> {
        match (code, field) {
            (Code::DebateNotFound, _)
            | (Code::InvalidInput, Some("debate_id" | "state" | "outcome" | "type" | "search")) => {
                Some(Look::Debates)
            }
            (Code::ArgumentNotFound, _)
            | (Code::InvalidInput, Some("argument_id" | "target_id" | "role")) => {
                Some(Look::Debate)
            }
            (Code::DocumentNotFound, _) | (Code::InvalidInput, Some("document_id")) => {
                Some(Look::Documents)
            }
            (Code::VersionNotFound, _) | (Code::InvalidInput, Some("version" | "from" | "to")) => {
                Some(Look::Document)
            }
            _ => None,
        }
    }
}

/// How to go on after the server refused a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fix {
    /// Wait for one's turn.
    Wait,
    /// Make this move, which the rules of points advise, or read the report of a closed debate.
    Take(Step),
    /// Read the debate: the target is wrong.
    ReadDebate,
    /// Read the debate: the text was submitted before. Its request id follows from the text, so
    /// nobody chose it.
    WrittenBefore,
    /// Write another text.
    Rewrite,
    /// Keep the text in a document and cite that.
    KeepInDocument,
    /// Shorten the text: this role keeps no documents.
    Shorten,
}

impl Fix {
    /// Follows from the refusal of a write by this role.
    pub fn after(error: &Error, role: Option<Role>, is_id_derived: bool) -> Option<Self> {
        match (&error.code, error.field.as_deref()) {
            (Code::ActionNotAllowed, _) => {
                if error.current_state == Some(State::Closed.into()) {
                    return Some(Fix::Take(Step::Result));
                }
                let course = error.advice.as_ref().and_then(|advice| advice.course.known());
                let newest = error.last_argument.as_ref().map(|last| last.id);
                let step = course.zip(newest).map(|(course, newest)| Step::of(course, newest));
                Some(step.map_or(Fix::Wait, Fix::Take))
            }
            (Code::ArgumentNotFound, _) | (Code::InvalidInput, Some("target_id")) => {
                Some(Fix::ReadDebate)
            }
            (Code::InvalidInput, Some("content" | "motion_content")) => Some(Fix::Rewrite),
            (Code::InvalidInput, Some("client_request_id")) if is_id_derived => {
                Some(Fix::WrittenBefore)
            }
            (Code::ContentTooLarge, _) if role == Some(Role::Proposer) => Some(Fix::KeepInDocument),
            (Code::ContentTooLarge, _) => Some(Fix::Shorten),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::types::Poll;

    #[test]
    fn an_answer_with_an_unknown_state_is_kept() {
        let id = "93d81b1a-0e66-4510-abfd-aa33b26cb82e";
        let argument = json!({
            "id": id, "debate_id": id, "parent_id": null, "type": "VERDICT", "role": "jury", "author": null,
            "content": "Guilty", "client_request_id": id, "seq": 7, "parked": false, "close": null,
            "automatic": false, "via": "phone", "hash": "0".repeat(64), "created_at": "2026-01-01T00:00:00.000Z",
        });
        let answer = json!({
            "has_new_argument": true, "action": "vote", "debate_state": "AWAITING_JURY", "argument": argument,
            "arguments": [argument], "omitted": 0, "next_argument_id_to_wait": id, "pending_argument_id": null,
            "available_actions": ["SUBMIT_VOTE"],
        });
        let Poll::News(news) = serde_json::from_value(answer.clone()).unwrap() else {
            panic!("these are news")
        };
        assert_eq!(awaited(Some(&news.debate_state)), "somebody");
        assert_eq!(Advice::after(&news), Advice::wait(Some(news.argument.id)));
        let mut printed = json!(news);
        for argument in ["/argument", "/arguments/0"] {
            let argument = printed.pointer_mut(argument).and_then(|one| one.as_object_mut());
            argument.unwrap().shift_remove("seat");
        }
        assert_eq!(printed, answer);
    }
}
