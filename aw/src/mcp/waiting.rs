//! `debate_wait`: held on the server and woken by push. A caller that takes progress gets it every ten
//! seconds.

use std::time::Duration;

use aw_core::{Action, Role};
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::{Peer, RoleServer};
use tokio::time::{Instant, sleep};

use super::inputs::{DebateWait, Whole};
use super::next_call::{NextCall, NextCalls, NextWait, ToolSeat};
use super::points::{self, with_titles};
use super::quoting::ToolAnswer;
use super::refusal::ToolRefusal;
use super::results::{QUOTED, Status, ToolArgument, Waited};
use super::tool_args::Arguments;
use super::transport::Transport;
use super::{Prospect, Toolbox};
use crate::api::advice::{Advice, WOKEN, awaited, patience_left};
use crate::api::client::{self, Waiter};
use crate::api::error::Code;
use crate::api::http::BUDGET;
use crate::api::types::{News, Nothing, OutcomeText, Poll};

/// The time between two reports of progress.
const PROGRESS: Duration = Duration::from_secs(10);

/// How long a wait lasts with progress and without: hosts end silent calls after a minute and more.
const WITH_PROGRESS: Duration = Duration::from_secs(110);
const SILENT: Duration = Duration::from_secs(50);

/// How much later than the deadline the server's answer may arrive.
const GRACE: Duration = Duration::from_secs(2);

/// How long the first answer may take, also when the deadline is shorter.
const FIRST: Duration = Duration::from_secs(5);

/// How much longer than it was asked to hold a question the server may take.
const ANSWER: Duration = Duration::from_secs(10);

/// The pause before a server that was lost or is busy is asked again.
const PAUSE: Duration = Duration::from_secs(1);

/// Receives the progress of a wait.
#[derive(Debug)]
pub(super) struct WaitListener {
    pub(super) token: ProgressToken,
    pub(super) peer: Peer<RoleServer>,
}

/// A wait with its arguments.
struct Wait<'a> {
    seat: ToolSeat<'a>,
    after: Option<&'a str>,
    /// Arguments of the wait that follows this one.
    next_wait: NextWait,
}

impl Toolbox {
    pub(super) async fn wait(
        &self,
        given: &Arguments,
        listener: Option<WaitListener>,
    ) -> Result<ToolAnswer, ToolRefusal> {
        let role = given.own_role(self.scope)?;
        let input: DebateWait = given.parse()?;
        self.wait_for(role, input, listener, false).await
    }

    /// Waits as this role. `moves_wait` says whether the moves that are advised wait, too.
    pub(super) async fn wait_for(
        &self,
        role: Role,
        input: DebateWait,
        listener: Option<WaitListener>,
        moves_wait: bool,
    ) -> Result<ToolAnswer, ToolRefusal> {
        let patience = match input.deadline {
            Some(seconds) => Duration::try_from_secs_f64(seconds.0)
                .ok()
                .filter(|time| *time < Duration::from_secs(1_000_000_000))
                .ok_or_else(|| {
                    ToolRefusal::input(
                        "deadline",
                        "`deadline` must be a number of seconds, 0 or more",
                    )
                    .suggest("Leave deadline out, or give for instance 50")
                })?,
            None if listener.is_some() => WITH_PROGRESS,
            None => SILENT,
        };
        let attempt = input.attempt.map_or(1, |attempt| attempt.0).saturating_add(1);
        let wait = Wait {
            seat: ToolSeat { debate: &input.debate_id, role },
            after: input.argument_id.as_deref(),
            next_wait: NextWait {
                deadline: input.deadline,
                attempt: Some(Whole(attempt)),
                moves_wait,
            },
        };
        let began = Instant::now();
        let ends = began + patience;
        let mut last_progress = began;
        let mut known: Option<Nothing> = None;
        let mut lost;
        let last = (ends + GRACE).max(began + FIRST);
        // The server answers the first request at once, which shows whether it is there.
        let mut hold = Duration::ZERO;
        loop {
            let asked = Instant::now();
            let mut pause = Duration::ZERO;
            let question = client::wait(wait.waiter(), hold);
            let left = last.saturating_duration_since(asked);
            let answer = match known {
                None => self.transport.send_within(&question, left.min(BUDGET)).await,
                Some(_) => self.transport.send_again(&question, left.min(hold + ANSWER)).await,
            };
            match answer {
                Ok(Poll::News(news)) => return Ok(self.news(&wait, *news)),
                Ok(Poll::Nothing(nothing)) => {
                    known = Some(nothing);
                    lost = false;
                    // A stopping server does not hold requests.
                    if asked.elapsed() + Duration::from_millis(100) < hold {
                        if let Transport::InProcess(_) = self.transport {
                            return Ok(self.timeout(&wait, known.as_ref(), lost, began.elapsed()));
                        }
                        pause = PAUSE;
                    }
                }
                // A server that was there may come back. One that hangs uses up all the time.
                Err(refusal)
                    if refusal.code().is_passing()
                        && (known.is_some() || Instant::now() >= last) =>
                {
                    lost = true;
                    pause = PAUSE;
                }
                Err(refusal) => return Err(wait.refused(refusal)),
            }
            if Instant::now() >= ends {
                return Ok(self.timeout(&wait, known.as_ref(), lost, began.elapsed()));
            }
            sleep(pause.min(ends - Instant::now())).await;
            if let Some(listener) = &listener
                && last_progress.elapsed() >= PROGRESS
            {
                last_progress = Instant::now();
                let state = known.as_ref().and_then(|nothing| nothing.debate_state.as_ref());
                listener.tell(began.elapsed(), patience, awaited(state)).await;
            }
            let left = ends.saturating_duration_since(Instant::now());
            hold = left.min(self.transport.slice());
            if listener.is_some() {
                hold = hold.min(PROGRESS.saturating_sub(last_progress.elapsed()));
            }
        }
    }

    fn news(&self, wait: &Wait<'_>, news: News) -> ToolAnswer {
        let prospect = match news.action == Action::DebateClosed.into() {
            true => Prospect::Over,
            false => Prospect::Busy,
        };
        self.answered(wait.seat, Some(news.next_argument_id_to_wait.0.to_string()), prospect);
        let calls = NextCalls::of(Advice::after(&news), wait.seat, wait.next_wait);
        let (arguments, what) = match news.arguments.len() {
            0 => (vec![news.argument], "Nothing is new; the newest argument follows.".to_owned()),
            1 => (news.arguments, "One new argument follows.".to_owned()),
            many => (news.arguments, format!("{many} new arguments follow, the oldest first.")),
        };
        let more = match news.omitted {
            0 => String::new(),
            omitted => format!(" {omitted} older ones are left out: see debate_get_context."),
        };
        let message = format!("{what}{more}");
        let words = format!(
            "{message}\nAction: {}. The debate is {}.\n{}{}{}",
            news.action,
            news.debate_state,
            ended(news.outcome.as_ref()),
            points::held_in_words(news.held.as_ref())
                + &points::in_words(&news.points, &news.debate_state),
            calls.words(),
        );
        let waited = Waited {
            status: Status::NewArgument,
            message,
            action: Some(news.action),
            next: calls.next,
            alternatives: calls.others,
            debate_id: wait.seat.debate.to_owned(),
            debate_state: Some(news.debate_state),
            available_actions: news.available_actions,
            next_argument_id_to_wait: Some(news.next_argument_id_to_wait),
            pending_argument_id: news.pending_argument_id,
            omitted: news.omitted,
            url: self.transport.url_of(wait.seat.debate),
            outcome: news.outcome,
            points: news.points,
            arguments: arguments.into_iter().map(ToolArgument::from).collect(),
            quoted: QUOTED,
            ..Waited::default()
        };
        let answer = ToolAnswer::brief(&waited, words).quoting_all(&waited.arguments);
        with_titles(answer, &waited.points)
    }

    /// The answer after a time-out: how to go on, and when to stop. It is not a failure.
    fn timeout(
        &self,
        wait: &Wait<'_>,
        known: Option<&Nothing>,
        lost: bool,
        waited: Duration,
    ) -> ToolAnswer {
        let seconds = waited.as_secs();
        let since = known.and_then(|nothing| nothing.waiting_since);
        let state = known.and_then(|nothing| nothing.debate_state.clone());
        let left = patience_left(self.defaults.patience.as_secs(), known, self.source.now());
        let who = awaited(state.as_ref());
        let retry = wait.again();
        let prospect = if lost { Prospect::Busy } else { Prospect::Idle };
        let wakes = self.answered(wait.seat, wait.after.map(str::to_owned), prospect);
        let message = match (lost, left) {
            (true, None | Some(1..)) => {
                format!(
                    "No response after {seconds}s: the server is lost. {}",
                    self.transport.way_back()
                )
            }
            (_, Some(0)) => format!(
                "No response after {seconds}s, and patience is over. Tell your user that {who} has not \
                 answered since {} and which call resumes (retry), then stop.",
                since.map_or("long ago".to_owned(), |since| since.to_string())
            ),
            (false, None | Some(1..)) => {
                let then = if wakes { WOKEN } else { "wait again" };
                format!("No response after {seconds}s. Still waiting for {who}: {then}.")
            }
        };
        // An agent that follows `next` would never stop.
        let next = (left != Some(0) && !wakes).then(|| retry.clone());
        let heading = if next.is_some() { "Next" } else { "Retry" };
        let words = format!("{message}\n{heading}: {}", retry.words());
        let waited = Waited {
            status: Status::Timeout,
            message,
            action: known.and_then(|nothing| nothing.action.clone()),
            next,
            retry: Some(retry),
            debate_id: wait.seat.debate.to_owned(),
            debate_state: state,
            waiting_since: since,
            patience_left_s: left,
            server_unreachable: lost,
            wake: wakes.then_some(true),
            url: self.transport.url_of(wait.seat.debate),
            quoted: QUOTED,
            ..Waited::default()
        };
        ToolAnswer::brief(&waited, words)
    }
}

impl<'a> Wait<'a> {
    /// The same wait once more.
    fn again(&self) -> NextCall {
        NextCall::wait(self.seat, self.after, self.next_wait)
    }

    /// A refusal, with how to go on.
    fn refused(&self, refusal: ToolRefusal) -> ToolRefusal {
        let refusal = refusal.with_id("debate_id", self.seat.debate);
        if refusal.code().is_passing() {
            return refusal.retry(self.again());
        }
        let unknown =
            *refusal.code() == Code::ArgumentNotFound || refusal.field() == Some("argument_id");
        if unknown {
            return refusal.next(&NextCall::wait(self.seat, None, self.next_wait));
        }
        refusal
    }

    fn waiter(&self) -> Waiter<'a> {
        Waiter { debate: self.seat.debate, role: self.seat.role.as_str(), after: self.after }
    }
}

/// How a closed debate ended, in a line.
pub(super) fn ended(outcome: Option<&OutcomeText>) -> String {
    outcome.map_or(String::new(), |outcome| format!("It ended: {outcome}.\n"))
}

impl WaitListener {
    async fn tell(&self, waited: Duration, patience: Duration, who: &str) {
        let progress = ProgressNotificationParam::new(self.token.clone(), waited.as_secs_f64())
            .with_total(patience.as_secs_f64())
            .with_message(format!("still waiting for {who}"));
        if let Err(gone) = self.peer.notify_progress(progress).await {
            tracing::debug!(%gone, "the caller does not take progress any more");
        }
    }
}
