//! The tools that write into a debate: one for each move.

use aw_core::{Action, Kind, PointRules, RequestId, Role, State};
use uuid::Uuid;

use super::inputs::{
    DebateAppeal, DebateCreate, DebateGetContext, DebateIntervention, DebateRuling, DebateSubmit,
    DebateWait, DocsCreate, Flag,
};
use super::next_call::{NextCall, NextCalls, NextWait, ToolSeat};
use super::points::{self, statements_in_words, with_titles};
use super::quoting::ToolAnswer;
use super::refusal::ToolRefusal;
use super::results::{self, QUOTED, ToolArgument};
use super::tool_args::Arguments;
use super::tools::Tool;
use super::waiting::{WaitListener, ended};
use super::{Prospect, Toolbox};
use crate::api::advice::{Advice, Fix, check_message, write_message};
use crate::api::client::{self, Request, derived_id};
use crate::api::types::{
    AskedPoints, AskedSettings, CheckMove, Checked, CreateDebate, SubmitClaim, SubmitIntervention,
    SubmitRequest, SubmitRuling, Written,
};

/// A move on its way.
struct Move<'a> {
    seat: ToolSeat<'a>,
    target: Option<&'a str>,
    id: WriteId,
    request: Request<Written>,
    done: &'static str,
    /// The wait that follows in the same call.
    waiting: Option<Waiting>,
}

/// A wait in the same call as its move.
struct Waiting {
    listener: Option<WaitListener>,
}

impl Waiting {
    /// The wait, if the call asks for one.
    fn of(asked: Option<Flag>, listener: Option<WaitListener>) -> Option<Self> {
        Flag::is_set(asked).then_some(Waiting { listener })
    }
}

/// The id of a write.
#[derive(Debug, Clone)]
struct WriteId {
    id: String,
    /// Whether the id was made here.
    is_made: bool,
}

impl WriteId {
    /// The id that was given, the derived one, or a random one.
    fn of(given: Option<String>, derived: impl FnOnce() -> Option<RequestId>) -> Self {
        match given {
            Some(id) => WriteId { id, is_made: false },
            None => {
                let id = derived().map(|derived| derived.to_string());
                WriteId { id: id.unwrap_or_else(|| Uuid::new_v4().to_string()), is_made: true }
            }
        }
    }
}

impl Toolbox {
    pub(super) async fn create(
        &self,
        given: &Arguments,
        listener: Option<WaitListener>,
    ) -> Result<ToolAnswer, ToolRefusal> {
        let input: DebateCreate = given.parse()?;
        let points = asked_points(&input)?;
        let debate = input.debate_id.unwrap_or_else(|| Uuid::new_v4().to_string());
        let role = Role::Proposer;
        let id = WriteId::of(input.client_request_id, || {
            derived_id(&debate, role, Kind::Motion, None, &input.content)
        });
        let body = CreateDebate {
            points,
            debate_id: debate.clone(),
            title: input.title,
            type_texts: self.defaults.type_texts(&input.debate_type)?,
            debate_type: input.debate_type,
            motion_content: input.content,
            client_request_id: id.id.clone(),
            resolution_policy: input.resolution_policy,
            project: self.defaults.project.clone(),
            author: self.author(input.author),
        };
        let opening = Move {
            waiting: Waiting::of(input.wait, listener),
            seat: ToolSeat { debate: &debate, role },
            target: None,
            id,
            request: client::open(body),
            done: "Debate created",
        };
        self.play(opening).await.map_err(|refusal| {
            let refusal =
                refusal.calling("motion_content", "content").calling("debate_type", "type");
            if refusal.code().is_passing() {
                let again = "Call debate_create again with the same arguments and this debate_id: \
                             then it is opened once";
                return refusal.suggest(again);
            }
            match refusal.field() {
                Some("debate_id") => refusal
                    .suggest("Call debate_create again without debate_id")
                    .next(&given.without_id()),
                _ => refusal,
            }
        })
    }

    pub(super) async fn submit(
        &self,
        given: &Arguments,
        listener: Option<WaitListener>,
    ) -> Result<ToolAnswer, ToolRefusal> {
        let role = given.own_role(self.scope)?;
        let input: DebateSubmit = given.parse()?;
        let (debate, target) = (input.debate_id, input.target_id);
        if Flag::is_set(input.dry_run) {
            let check = CheckMove {
                kind: "claim".to_owned(),
                role: Some(role.as_str().to_owned()),
                target_id: Some(target),
                content: input.content,
                close: None,
            };
            return self.rehearse(ToolSeat { debate: &debate, role }, check, given).await;
        }
        let id = WriteId::of(input.client_request_id, || {
            derived_id(&debate, role, Kind::Claim, Some(&target), &input.content)
        });
        let body = SubmitClaim {
            role: role.as_str().to_owned(),
            target_id: target.clone(),
            content: input.content,
            client_request_id: id.id.clone(),
            author: self.author(input.author),
        };
        let request = client::submit(&debate, body);
        let (seat, target) = (ToolSeat { debate: &debate, role }, Some(target.as_str()));
        let waiting = Waiting::of(input.wait, listener);
        self.play(Move { seat, target, id, request, done: "Argument submitted", waiting }).await
    }

    /// Makes a request of the proposer: an APPEAL or a RESOLUTION. Their tools take the same arguments.
    pub(super) async fn ask(
        &self,
        given: &Arguments,
        kind: Kind,
        listener: Option<WaitListener>,
    ) -> Result<ToolAnswer, ToolRefusal> {
        let input: DebateAppeal = given.parse()?;
        let (debate, target, role) = (input.debate_id, input.target_id, Role::Proposer);
        let (call, name, done): (fn(&str, SubmitRequest) -> Request<Written>, _, _) = match kind {
            Kind::Resolution => (client::request_completion, "resolution", "Resolution submitted"),
            _ => (client::appeal, "appeal", "Appeal submitted"),
        };
        if Flag::is_set(input.dry_run) {
            let check = CheckMove {
                kind: name.to_owned(),
                role: None,
                target_id: Some(target),
                content: input.content,
                close: None,
            };
            return self.rehearse(ToolSeat { debate: &debate, role }, check, given).await;
        }
        let id = WriteId::of(input.client_request_id, || {
            derived_id(&debate, role, kind, Some(&target), &input.content)
        });
        let body = SubmitRequest {
            target_id: target.clone(),
            content: input.content,
            client_request_id: id.id.clone(),
            author: self.author(input.author),
        };
        let request = call(&debate, body);
        let (seat, target) = (ToolSeat { debate: &debate, role }, Some(target.as_str()));
        let waiting = Waiting::of(input.wait, listener);
        self.play(Move { seat, target, id, request, done, waiting }).await
    }

    pub(super) async fn rule(
        &self,
        given: &Arguments,
        listener: Option<WaitListener>,
    ) -> Result<ToolAnswer, ToolRefusal> {
        let input: DebateRuling = given.parse()?;
        let (debate, target, role) = (input.debate_id, input.target_id, Role::Arbitrator);
        if Flag::is_set(input.dry_run) {
            let check = CheckMove {
                kind: "ruling".to_owned(),
                role: None,
                target_id: target,
                content: input.content,
                close: Some(Flag::is_set(input.close)),
            };
            return self.rehearse(ToolSeat { debate: &debate, role }, check, given).await;
        }
        // Without a target the same words may concern the next dispute.
        let id = WriteId::of(input.client_request_id, || {
            derived_id(&debate, role, Kind::Ruling, Some(target.as_deref()?), &input.content)
        });
        let body = SubmitRuling {
            content: input.content,
            close: Some(Flag::is_set(input.close)),
            target_id: target.clone(),
            client_request_id: Some(id.id.clone()),
            author: self.author(input.author),
        };
        let request = client::rule(&debate, body);
        let (seat, target) = (ToolSeat { debate: &debate, role }, target.as_deref());
        let waiting = Waiting::of(input.wait, listener);
        self.play(Move { seat, target, id, request, done: "Ruling submitted", waiting }).await
    }

    pub(super) async fn intervene(&self, given: &Arguments) -> Result<ToolAnswer, ToolRefusal> {
        let input: DebateIntervention = given.parse()?;
        let debate = input.debate_id;
        let id = WriteId::of(input.client_request_id, || None);
        let body = SubmitIntervention {
            content: input.content,
            client_request_id: Some(id.id.clone()),
            author: self.author(input.author),
        };
        let request = client::intervene(&debate, body);
        let seat = ToolSeat { debate: &debate, role: Role::Arbitrator };
        let (done, waiting) = ("Intervention submitted", None);
        self.play(Move { seat, target: None, id, request, done, waiting }).await
    }

    /// Has a move judged without making it. The same call without `dry_run` is next.
    async fn rehearse(
        &self,
        seat: ToolSeat<'_>,
        check: CheckMove,
        given: &Arguments,
    ) -> Result<ToolAnswer, ToolRefusal> {
        let (target, kind) = (check.target_id.clone(), check.kind.clone());
        let sent = self.transport.send(&client::check(seat.debate, check)).await;
        let checked = sent.map_err(|refusal| refused(refusal, seat, target.as_deref(), None))?;
        let message = check_message(&checked, &kind);
        let Checked { debate, debate_state, parked, held, statements, points, .. } = checked;
        let next = given.for_real();
        let words = format!(
            "{message}. Debate {} would be {debate_state}.\n{}{}Next: {}",
            seat.debate,
            statements_in_words(&statements),
            points::in_words(&points, &debate_state),
            next.words(),
        );
        let result = results::MoveCheck {
            dry_run: true,
            message,
            next: Some(next),
            debate_id: debate.id,
            debate_state,
            parked,
            held,
            statements,
            points,
            quoted: QUOTED,
        };
        let answer = ToolAnswer::brief(&result, words);
        Ok(with_titles(answer, &result.points))
    }

    async fn play(&self, play: Move<'_>) -> Result<ToolAnswer, ToolRefusal> {
        let Move { seat, target, id, request, done, waiting } = play;
        let next_wait = NextWait { moves_wait: waiting.is_some(), ..NextWait::default() };
        let sent = self.transport.send(&request).await;
        let written = sent.map_err(|refusal| refused(refusal, seat, target, Some(&id)))?;
        let message = write_message(&written, done);
        let usual = Advice::after_write(&written);
        let Written {
            debate: head,
            argument,
            missed,
            replayed,
            action,
            statements,
            held,
            points,
            next_argument_id_to_wait,
            ..
        } = written;
        let has_news = argument.parked || !missed.is_empty() || head.state == State::Closed.into();
        if let Some(Waiting { listener }) = waiting.filter(|_| !has_news) {
            let wait = DebateWait {
                debate_id: seat.debate.to_owned(),
                argument_id: Some(next_argument_id_to_wait.0.to_string()),
                ..DebateWait::default()
            };
            return self.wait_for(seat.role, wait, listener, true).await;
        }
        let prospect = match head.state == State::Closed.into() {
            true => Prospect::Over,
            false => Prospect::Busy,
        };
        self.answered(seat, Some(next_argument_id_to_wait.0.to_string()), prospect);
        let action = action.unwrap_or(Action::Wait.into());
        // An intervention that was sent before may have been ruled on since. A wait shows that.
        let is_fresh_stop =
            argument.kind == Kind::Intervention.into() && !argument.parked && !replayed;
        let advice = match is_fresh_stop {
            true => Advice::rule(argument.id),
            false => usual,
        };
        let calls = NextCalls::of(advice, seat, next_wait);
        let url = self.transport.url_of(seat.debate);
        let words = format!(
            "{}. It is argument {} ({}) of debate {}, which is {} now.\nAction: {}.\n{}{}{}{}{}",
            message.trim_end_matches('.'),
            argument.seq,
            argument.kind,
            seat.debate,
            head.state,
            action,
            match (prospect, url.as_ref()) {
                (Prospect::Over, _) => ended(head.outcome.as_ref()),
                (_, Some(url)) => format!("A person can watch and rule at {url}\n"),
                (_, None) => String::new(),
            },
            if missed.is_empty() {
                ""
            } else {
                "What you had not seen follows: read it before you go on.\n"
            },
            statements_in_words(statements.as_deref().unwrap_or_default()),
            points.ledger.as_ref().map(points::ledger_in_words).unwrap_or_default(),
            calls.words(),
        );
        let result = results::Written {
            message,
            action,
            next: calls.next,
            alternatives: calls.others,
            debate_id: head.id,
            debate_state: head.state,
            debate_type: head.debate_type,
            argument_id: argument.id,
            argument_type: argument.kind,
            argument_seq: argument.seq,
            parked: argument.parked,
            replayed,
            next_argument_id_to_wait,
            client_request_id: argument.client_request_id,
            url,
            outcome: head.outcome,
            statements,
            held: held.flatten(),
            points,
            missed: missed.into_iter().map(ToolArgument::from).collect(),
            quoted: QUOTED,
        };
        let answer = ToolAnswer::brief(&result, words).quoting_all(&result.missed);
        Ok(with_titles(answer, &result.points))
    }
}

/// The settings of points that a call names.
fn asked_points(input: &DebateCreate) -> Result<Option<AskedPoints>, ToolRefusal> {
    let settings = AskedSettings {
        rounds: input.rounds.map(|rounds| rounds.0),
        blocking: input.blocking.clone(),
    };
    let most = u64::from(PointRules::MOST_ROUNDS);
    if let Some(rounds) = settings.rounds.filter(|rounds| !(1..=most).contains(rounds)) {
        let message = format!("`rounds` is {rounds}: it must be a number from 1 to {most}");
        return Err(ToolRefusal::input("rounds", message));
    }
    let is_known = |blocking: &String| matches!(blocking.as_str(), "critical" | "major");
    if settings.blocking.as_ref().is_some_and(|blocking| !is_known(blocking)) {
        let message = "`blocking` must be critical or major";
        return Err(ToolRefusal::input("blocking", message));
    }
    let named = match (settings.rounds, &settings.blocking) {
        (None, None) => None,
        (Some(_), _) => Some("rounds"),
        (None, Some(_)) => Some("blocking"),
    };
    match (Flag::is_set(input.points), named) {
        (true, None) => Ok(Some(AskedPoints::Flag(true))),
        (true, Some(_)) => Ok(Some(AskedPoints::Settings(settings))),
        (false, None) => Ok(None),
        (false, Some(name)) => {
            let message = format!("`{name}` is a setting of points, and this debate keeps none");
            Err(ToolRefusal::input(name, message).suggest("Give points: true too"))
        }
    }
}

/// The refusal of a move, with the next call.
fn refused(
    refusal: ToolRefusal,
    seat: ToolSeat<'_>,
    target: Option<&str>,
    id: Option<&WriteId>,
) -> ToolRefusal {
    let ToolSeat { debate, role } = seat;
    let refusal = refusal.with_id("debate_id", debate);
    let refusal = match id {
        Some(id) => refusal.with_id("client_request_id", &id.id),
        None => refusal,
    };
    let context = || {
        let role = Some(role.as_str().to_owned());
        let read = DebateGetContext { debate_id: debate.to_owned(), role, limit: None };
        NextCall::new(Tool::DebateGetContext, &read)
    };
    match Fix::after(refusal.error(), Some(role), id.is_some_and(|id| id.is_made)) {
        Some(Fix::Wait) => refusal.next(&NextCall::wait(seat, target, NextWait::default())),
        Some(Fix::Take(step)) => refusal.next(&NextCall::of(step, seat, NextWait::default())),
        Some(Fix::ReadDebate) => refusal.next(&context()),
        Some(Fix::WrittenBefore) => refusal
            .saying("this text was written here before, with other arguments")
            .suggest("Read the debate, and change the text to submit it again")
            .next(&context()),
        Some(Fix::KeepInDocument) => {
            let create = NextCall::new(Tool::DocsCreate, &DocsCreate::default());
            refusal
                .suggest(
                    "Keep long text in a document (docs_create) and cite it: write a summary and \
                     doc_id=<document_id> (v1)",
                )
                .next(&create.with_your(&["summary", "content"]))
        }
        Some(Fix::Shorten) => {
            refusal.suggest("Shorten the text to max_length bytes and make the same call")
        }
        Some(Fix::Rewrite) | None => refusal,
    }
}
