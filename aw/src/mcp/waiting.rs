//! `debate_wait`: held on the server, woken by push, and never silent for long where the caller can
//! be told that it still waits.

use std::time::Duration;

use aw_core::Time;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::{Peer, RoleServer};
use serde::Deserialize;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::Hand;
use super::next_call::{NextCall, NextCalls, WaitHabits};
use super::quoting::Answer;
use super::refusal::Refusal;
use super::results::{QUOTED, Said, Status, Waited};
use super::tool_args::Arguments;
use super::transport::{Call, Way};
use crate::api::advice::awaited;
use crate::api::http::{BUDGET, encoded};
use crate::api::types::{ActionText, ArgumentIdText, AvailableText, Stamp, StateText};

/// How often somebody who wants to know is told that the wait goes on.
const PROGRESS: Duration = Duration::from_secs(10);

/// How long a wait lasts when its host hears that it goes on, and when it does not: hosts end silent
/// calls after a minute and more.
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

/// Whoever wants to hear that the wait goes on.
#[derive(Debug)]
pub(super) struct Listener {
    pub(super) token: ProgressToken,
    pub(super) peer: Peer<RoleServer>,
}

/// What the API answers when there is news.
#[derive(Debug, Deserialize)]
struct News {
    action: ActionText,
    debate_state: StateText,
    argument: Said,
    arguments: Vec<Said>,
    omitted: u64,
    next_argument_id_to_wait: ArgumentIdText,
    pending_argument_id: Option<ArgumentIdText>,
    available_actions: Vec<AvailableText>,
}

/// What the API answers when there is none.
#[derive(Debug, Deserialize)]
struct Nothing {
    debate_state: StateText,
    action: ActionText,
    waiting_since: Stamp,
}

/// A wait, as it was asked for.
struct Wait<'a> {
    debate: &'a str,
    role: &'a str,
    after: Option<&'a str>,
    /// Arguments of the wait that follows this one.
    habits: WaitHabits,
}

impl Hand {
    pub(super) async fn wait(
        &self,
        given: &Arguments,
        listener: Option<Listener>,
    ) -> Result<Answer, Refusal> {
        let role = given.own_role(self.scope)?;
        let deadline: Option<f64> = given.number("deadline", "a number of seconds, 0 or more")?;
        let patience = match deadline {
            Some(seconds) => Duration::try_from_secs_f64(seconds)
                .ok()
                .filter(|time| *time < Duration::from_secs(1_000_000_000))
                .ok_or_else(|| {
                    Refusal::input("deadline", "`deadline` must be a number of seconds, 0 or more")
                        .suggest("Leave deadline out, or give for instance 50")
                })?,
            None if listener.is_some() => WITH_PROGRESS,
            None => SILENT,
        };
        let attempt = given.whole("attempt")?.unwrap_or(1);
        let wait = Wait {
            debate: given.text("debate_id")?,
            role: role.as_str(),
            after: given.optional("argument_id")?,
            habits: WaitHabits { deadline, attempt: Some(attempt.saturating_add(1)) },
        };
        let began = Instant::now();
        let ends = began + patience;
        let mut told = began;
        let mut known: Option<Nothing> = None;
        let mut lost;
        let last = (ends + GRACE).max(began + FIRST);
        // The first question is answered at once: it tells whether the server is there at all.
        let mut hold = Duration::ZERO;
        loop {
            let asked = Instant::now();
            let mut pause = Duration::ZERO;
            let question = Call::Get(wait.path(hold));
            let left = last.saturating_duration_since(asked);
            let answer = match known {
                None => self.way.call_within(question, left.min(BUDGET)).await,
                Some(_) => self.way.call_again(question, left.min(hold + ANSWER)).await,
            };
            match answer {
                Ok(news) if news["has_new_argument"] == true => return self.news(&wait, news),
                Ok(nothing) => {
                    let nothing = serde_json::from_value(nothing);
                    known = Some(nothing.map_err(|bad| Refusal::stranger(&bad.to_string()))?);
                    lost = false;
                    // A server that is about to stop holds nothing any more.
                    if asked.elapsed() + Duration::from_millis(100) < hold {
                        if let Way::Inside(_) = self.way {
                            return Ok(self.timeout(&wait, known.as_ref(), lost, began.elapsed()));
                        }
                        pause = PAUSE;
                    }
                }
                // Once it was there it may come back. One that hangs takes all the time there is.
                Err(refusal)
                    if refusal.is_passing() && (known.is_some() || Instant::now() >= last) =>
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
                && told.elapsed() >= PROGRESS
            {
                told = Instant::now();
                let state = known.as_ref().map(|nothing| nothing.debate_state.0.as_str());
                listener.hears(began.elapsed(), patience, awaited(state)).await;
            }
            let left = ends.saturating_duration_since(Instant::now());
            hold = left.min(self.way.slice());
            if listener.is_some() {
                hold = hold.min(PROGRESS.saturating_sub(told.elapsed()));
            }
        }
    }

    fn news(&self, wait: &Wait<'_>, news: Value) -> Result<Answer, Refusal> {
        let calls = NextCalls::after(&news, wait.debate, wait.role, wait.habits);
        let news: News =
            serde_json::from_value(news).map_err(|bad| Refusal::stranger(&bad.to_string()))?;
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
            "{message}\nAction: {}. The debate is {}.\n{}",
            news.action.0,
            news.debate_state.0,
            calls.words(),
        );
        let waited = Waited {
            status: Status::NewArgument,
            message,
            action: Some(news.action),
            next: calls.next,
            alternatives: calls.others,
            debate_id: wait.debate.to_owned(),
            debate_state: Some(news.debate_state),
            available_actions: news.available_actions,
            next_argument_id_to_wait: Some(news.next_argument_id_to_wait),
            pending_argument_id: news.pending_argument_id,
            omitted: news.omitted,
            url: self.way.url_of(wait.debate),
            arguments,
            quoted: QUOTED,
            ..Waited::default()
        };
        Ok(Answer::new(&waited, words).quoting_all(&waited.arguments))
    }

    /// A time-out is not a failure: it says how to go on, and when to stop.
    fn timeout(
        &self,
        wait: &Wait<'_>,
        known: Option<&Nothing>,
        lost: bool,
        waited: Duration,
    ) -> Answer {
        let seconds = waited.as_secs();
        let since = known.map(|nothing| nothing.waiting_since);
        let left = since.map(|Stamp(Time(since))| {
            let spent = (self.door.now() - since).max(0).unsigned_abs() / 1_000;
            self.habits.patience.as_secs().saturating_sub(spent)
        });
        let who = awaited(known.map(|nothing| nothing.debate_state.0.as_str()));
        let retry = wait.again();
        let message = match (lost, left) {
            (true, None | Some(1..)) => {
                format!("No response after {seconds}s: the server is lost. {}", self.way.way_back())
            }
            (_, Some(0)) => format!(
                "No response after {seconds}s, and patience is over. Tell your user that {who} is awaited \
                 since {} and which call resumes (retry), then stop.",
                since.map_or("long ago".to_owned(), |since| since.to_string())
            ),
            (false, None | Some(1..)) => {
                format!("No response after {seconds}s. Still waiting for {who}: wait again.")
            }
        };
        // An agent that follows `next` would never stop.
        let next = (left != Some(0)).then(|| retry.clone());
        let heading = if next.is_some() { "Next" } else { "Retry" };
        let words = format!("{message}\n{heading}: {}", retry.words());
        let waited = Waited {
            status: Status::Timeout,
            message,
            action: known.map(|nothing| nothing.action),
            next,
            retry: Some(retry),
            debate_id: wait.debate.to_owned(),
            debate_state: known.map(|nothing| nothing.debate_state),
            waiting_since: since,
            patience_left_s: left,
            server_unreachable: lost,
            url: self.way.url_of(wait.debate),
            quoted: QUOTED,
            ..Waited::default()
        };
        Answer::new(&waited, words)
    }
}

impl Wait<'_> {
    /// The same wait once more.
    fn again(&self) -> NextCall {
        NextCall::wait(self.debate, self.role, self.after, self.habits)
    }

    /// A refusal with how to go on.
    fn refused(&self, refusal: Refusal) -> Refusal {
        let refusal = refusal.with_id("debate_id", self.debate);
        if refusal.is_passing() {
            return refusal.retry(&self.again());
        }
        let unknown =
            refusal.code() == "ARGUMENT_NOT_FOUND" || refusal.field() == Some("argument_id");
        if unknown {
            return refusal.next(&NextCall::wait(self.debate, self.role, None, self.habits));
        }
        refusal
    }

    fn path(&self, hold: Duration) -> String {
        let after = self.after.map_or(String::new(), |id| format!("&argument_id={}", encoded(id)));
        let (debate, role) = (encoded(self.debate), encoded(self.role));
        format!("/debates/{debate}/poll?role={role}{after}&wait={}", hold.as_secs_f64())
    }
}

impl Listener {
    async fn hears(&self, waited: Duration, patience: Duration, who: &str) {
        let progress = ProgressNotificationParam::new(self.token.clone(), waited.as_secs_f64())
            .with_total(patience.as_secs_f64())
            .with_message(format!("still waiting for {who}"));
        if let Err(gone) = self.peer.notify_progress(progress).await {
            tracing::debug!(%gone, "nobody hears that the wait goes on");
        }
    }
}
