//! `aw debate wait`: the server holds the request and answers as soon as there is news.
//!
//! One thread sends requests. The main thread waits for it, and for the signals with which hosts
//! end long commands. It prints an answer either way.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use aw_core::Action;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::super::agent::wakes_claude;
use super::super::human;
use super::super::notes::Notes;
use super::super::output::{Answer, CliError, Detail, Shown};
use super::super::refs::{DebateArg, Wants};
use super::super::session::Session;
use super::{Deadline, NextFlags, PointFields, Shape, advised, wait_line};
use crate::api::advice::{Advice, WOKEN, awaited, patience_left};
use crate::api::client::{self, Reply, Waiter};
use crate::api::error::Code;
use crate::api::http::{BUDGET, Client, Trouble};
use crate::api::types::{
    ActionText, ArgumentIdText, KindText, News, Nothing, Poll, Stamp, StateText,
};

/// The longest that the server holds one request.
const HOLD: Duration = Duration::from_secs(60);

/// The time between two looks at signals.
const TICK: Duration = Duration::from_millis(500);

/// How much later than the deadline the server's answer may arrive.
const GRACE: Duration = Duration::from_secs(2);

/// How long the first answer may take, also when the deadline is shorter.
const FIRST: Duration = Duration::from_secs(5);

/// How much longer than asked the server may hold a request.
const ANSWER: Duration = Duration::from_secs(10);

/// How often a server that was never reached is tried.
const TRIES: u32 = 3;

/// The pause before a lost server is tried again; it grows up to ten times that.
const PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Wait {
    #[command(flatten)]
    debate: DebateArg,
    /// proposer, opponent or arbitrator
    #[arg(long)]
    role: String,
    /// The newest argument that you have seen: its id, at least 4 characters of it, its number, or @last
    #[arg(long, value_name = "ARGUMENT")]
    argument_id: Option<String>,
    /// Seconds to wait; 0 asks once [env: DEBATE_WAIT_DEADLINE] [default: 110]
    #[arg(long, value_name = "SECONDS", overrides_with = "deadline")]
    deadline: Option<Deadline>,
    /// The number of this wait in a row, so that no two lines are equal: agent hosts stop an agent that
    /// repeats a line
    #[arg(long, value_name = "N", default_value_t = 1, overrides_with = "attempt")]
    attempt: u64,
    #[command(flatten)]
    detail: Detail,
    #[command(flatten)]
    pub(super) shape: Shape,
    /// The move that this wait follows in the same command
    #[arg(skip)]
    after: Option<Moved>,
}

/// A move that was made just before.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Moved {
    pub(super) argument_id: ArgumentIdText,
    pub(super) argument_type: KindText,
    pub(super) argument_seq: u64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) replayed: bool,
}

/// How the asking ended.
enum End {
    News(Box<NewsOutput>),
    /// The time is over.
    Over,
    CliError(Trouble),
    /// The host ends this command.
    Signal,
}

/// The last answer without news, and whether the server was lost since.
#[derive(Debug, Clone, Default)]
struct Quiet {
    nothing: Option<Nothing>,
    unreachable: bool,
}

/// The result of a wait.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct WaitOutput {
    #[serde(flatten)]
    pub(in crate::cli) end: WaitEnd,
    /// The move that the same command has made.
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<Moved>,
}

/// How a wait ended.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(in crate::cli) enum WaitEnd {
    News(Box<NewsOutput>),
    Timeout(Timeout),
}

/// The news, as the server sent them.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct NewsOutput {
    status: &'static str,
    #[serde(flatten)]
    verbatim: Verbatim,
    #[serde(skip)]
    pub(in crate::cli) news: News,
}

/// The fields of the server's answer that are printed unchanged.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Verbatim {
    action: Value,
    debate_state: Value,
    argument: Value,
    arguments: Value,
    omitted: Value,
    next_argument_id_to_wait: Value,
    available_actions: Value,
    #[serde(flatten)]
    points: PointFields,
}

/// There was no news before the deadline, which is not a failure.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct Timeout {
    status: &'static str,
    pub(in crate::cli) message: String,
    debate_id: String,
    last_argument_id: Option<String>,
    last_seen_seq: u64,
    pub(in crate::cli) retry_command: String,
    waiting_since: Option<Stamp>,
    pub(in crate::cli) patience_left_s: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server_unreachable: Option<bool>,
    /// Whether the agent may end its turn, because it is woken when it is its move.
    #[serde(skip_serializing_if = "Option::is_none")]
    wake: Option<bool>,
    #[serde(flatten)]
    state: Option<KnownState>,
}

/// The state of the debate, where the server sent it.
#[derive(Debug, Serialize)]
struct KnownState {
    debate_state: StateText,
    action: Option<ActionText>,
}

impl Wait {
    /// The wait that a command adds to its move.
    pub(super) fn following(
        (debate_id, role): (&str, &str),
        (moved, newest): (Moved, ArgumentIdText),
        flags: NextFlags<'_>,
        (detail, shape): (Detail, Shape),
    ) -> Self {
        Wait {
            debate: DebateArg::known(debate_id),
            role: role.to_owned(),
            argument_id: Some(newest.0.to_string()),
            deadline: flags.deadline.cloned(),
            attempt: 1,
            detail,
            shape,
            after: Some(moved),
        }
    }

    pub(super) fn run(mut self) -> Result<Shown, CliError> {
        let wants = Wants {
            awaiting: Some(&self.role),
            argument: self.argument_id.as_deref(),
            verbose: self.shape.verbose,
            ..Wants::default()
        };
        self.argument_id = match self.debate.settle(wants) {
            Err(problem) if problem.field() == Some("argument_id") => {
                let without = wait_line(&self.debate.id, &self.role, None, self.next_flags());
                let problem = problem.with("debate_id", self.debate.id.as_str());
                return Err(problem.with("next_command", without.into_string()));
            }
            settled => settled?,
        };
        self.answer().map(Shown::Answer)
    }

    /// Waits, and returns the news or the time-out.
    pub(super) fn answer(self) -> Result<Answer, CliError> {
        let named = |problem: CliError| problem.with("debate_id", self.debate.id.as_str());
        let began = Instant::now();
        let mut session = Session::open_answering(self.shape.verbose).map_err(named)?;
        let notes = Notes::of_claude(&session.settings.home);
        if let Some(notes) = &notes {
            notes.awake();
        }
        let deadline = match &self.deadline {
            Some(given) => given.time,
            None => session.settings.deadline,
        };
        let ends = began + deadline;
        let known = Arc::new(Mutex::new(Quiet::default()));
        let (tell, hear) = mpsc::channel();
        listen_for_signals(tell.clone())?;
        let mut finds = 0;
        let heard = loop {
            let asking = Asking {
                client: session.client.clone(),
                debate: self.debate.id.clone(),
                role: self.role.clone(),
                after: self.argument_id.clone(),
                ends,
                last: (ends + GRACE).max(Instant::now() + FIRST),
                tries: if session.settings.server_url.is_some() { TRIES } else { 1 },
                known: known.clone(),
            };
            let (last, tell) = (asking.last, tell.clone());
            thread::spawn(move || asking.run(&tell));
            match self.listen(&session, &hear, &known, last) {
                // The server has ended just after it was found, and no wait is held yet.
                End::CliError(trouble) if session.may_reconnect(&trouble, &mut finds) => {
                    session = Session::open_answering(self.shape.verbose).map_err(named)?;
                }
                heard => break heard,
            }
        };
        match heard {
            End::News(output) => {
                let news = &output.news;
                if let Some(notes) = &notes {
                    let newest = news.next_argument_id_to_wait.0.to_string();
                    let is_over = news.action == Action::DebateClosed.into();
                    notes.note_words((&self.debate.id, &self.role), Some(&newest), is_over);
                }
                let advice = session.followable(Advice::after(news));
                let answer = self.output(WaitEnd::News(output));
                let answer =
                    advised(answer, &advice, &self.debate.id, &self.role, self.next_flags());
                return Ok(session.checked(answer));
            }
            End::CliError(trouble @ (Trouble::Unreachable(_) | Trouble::Busy(..))) => {
                let problem = named(session.problem(trouble));
                return Err(problem.with("retry_command", self.again(self.argument_id.as_deref())));
            }
            End::CliError(trouble) => {
                let problem = named(session.problem(trouble));
                let unknown = problem.code == Code::ArgumentNotFound
                    || problem.field() == Some("argument_id");
                if unknown {
                    let without = wait_line(&self.debate.id, &self.role, None, self.next_flags());
                    return Err(problem.with("next_command", without.into_string()));
                }
                return Err(problem);
            }
            End::Over | End::Signal => {}
        }
        let known = known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let waited = began.elapsed();
        let mut wakes = false;
        if let Some(notes) = &notes {
            notes.note_words((&self.debate.id, &self.role), self.argument_id.as_deref(), false);
            wakes = !known.unreachable && wakes_claude(&session.settings);
        }
        Ok(session.checked(self.timeout(&session, &known, waited, wakes)))
    }

    /// Waits for the other thread or a signal. On a terminal it shows progress.
    fn listen(
        &self,
        session: &Session,
        hear: &mpsc::Receiver<End>,
        known: &Mutex<Quiet>,
        last: Instant,
    ) -> End {
        let watched = io::stderr().is_terminal();
        let began = Instant::now();
        let mut awaited = None;
        let mut shown = false;
        let heard = loop {
            match hear.recv_timeout(TICK) {
                Ok(heard) => break heard,
                Err(RecvTimeoutError::Disconnected) => break End::Over,
                Err(RecvTimeoutError::Timeout) => {
                    // The other thread ends by then, unless something without a time limit holds
                    // it.
                    if Instant::now() > last + TICK {
                        known.lock().unwrap_or_else(PoisonError::into_inner).unreachable = true;
                        break End::Over;
                    }
                    if !watched {
                        continue;
                    }
                    let awaited = awaited.get_or_insert_with(|| self.awaited(session));
                    let line =
                        format!("\r\x1b[Kwaiting for {awaited} ({} s)", began.elapsed().as_secs());
                    let _ = io::stderr().write_all(line.as_bytes());
                    shown = true;
                }
            }
        };
        if shown {
            let _ = io::stderr().write_all(b"\r\x1b[K");
        }
        heard
    }

    /// The role that the wait is for, and since when.
    fn awaited(&self, session: &Session) -> String {
        let waiter = Waiter { debate: &self.debate.id, role: &self.role, after: None };
        let soon = Instant::now() + GRACE;
        let poll = session.client.once_until(&client::wait(waiter, Duration::ZERO), soon);
        let (state, since) = match poll.map(|reply| reply.data) {
            Ok(Poll::News(news)) => (Some(news.debate_state), None),
            Ok(Poll::Nothing(nothing)) => (nothing.debate_state, nothing.waiting_since),
            Err(_) => (None, None),
        };
        let who = awaited(state.as_ref());
        match since {
            Some(since) => format!("{who}, last move {}", human::ago(since)),
            None => who.to_owned(),
        }
    }

    fn next_flags(&self) -> NextFlags<'_> {
        NextFlags {
            deadline: self.deadline.as_ref(),
            format: self.shape.format(),
            attempt: Some(self.attempt.saturating_add(1)),
            wait: self.after.is_some(),
        }
    }

    fn output(&self, end: WaitEnd) -> Answer {
        let output = WaitOutput { end, written: self.after.clone() };
        Answer::new(output, human::waited).detailed(self.detail)
    }

    /// The same wait once more, after this argument.
    fn again(&self, after: Option<&str>) -> String {
        wait_line(&self.debate.id, &self.role, after, self.next_flags()).into_string()
    }

    /// The answer after a time-out: how to go on, and when to stop. It is not a failure.
    fn timeout(&self, session: &Session, quiet: &Quiet, waited: Duration, wakes: bool) -> Answer {
        let nothing = quiet.nothing.as_ref();
        // A server of the older system names the newest argument of one's own.
        let own = nothing.and_then(|nothing| nothing.last_argument_id.as_ref());
        let after = self.argument_id.as_ref().or(own);
        let retry = self.again(after.map(String::as_str));
        let since = nothing.and_then(|nothing| nothing.waiting_since);
        let state = nothing.and_then(|nothing| nothing.debate_state.clone());
        let patience = session.settings.patience.as_secs();
        let left = patience_left(patience, nothing, Timestamp::now().as_millisecond());
        let seconds = waited.as_secs();
        let who = awaited(state.as_ref());
        let message = match (quiet.unreachable, left) {
            (true, None | Some(1..)) => format!(
                "No response after {seconds}s: the server at {} is lost. {}",
                session.client.base(),
                session.way_back()
            ),
            (_, Some(0)) => format!(
                "No response after {seconds}s, and patience is over. Tell your user that {who} has not answered since {} \
                 and which command resumes (retry_command), then stop.",
                since.map_or("long ago".to_owned(), |since| since.to_string())
            ),
            (false, None | Some(1..)) => {
                let then = if wakes { WOKEN } else { "wait again" };
                format!("No response after {seconds}s. Still waiting for {who}: {then}.")
            }
        };
        let timeout = Timeout {
            status: "timeout",
            message,
            debate_id: self.debate.id.clone(),
            last_argument_id: after.cloned(),
            last_seen_seq: nothing.map_or(0, |nothing| nothing.last_seen_seq),
            retry_command: retry.clone(),
            waiting_since: since,
            patience_left_s: left,
            server_unreachable: quiet.unreachable.then_some(true),
            wake: wakes.then_some(true),
            state: state.map(|debate_state| KnownState {
                debate_state,
                action: nothing.and_then(|nothing| nothing.action.clone()),
            }),
        };
        let answer = self.output(WaitEnd::Timeout(timeout));
        // An agent that follows `next_command` would never stop.
        if left == Some(0) || wakes { answer } else { answer.next(retry) }
    }
}

fn listen_for_signals(tell: Sender<End>) -> Result<(), CliError> {
    let mut signals = Signals::new([SIGTERM, SIGINT])
        .map_err(|error| CliError::connection(format!("cannot listen for signals: {error}")))?;
    thread::spawn(move || {
        if signals.forever().next().is_some() {
            // If nobody listens any more, the answer is on its way already.
            let _ = tell.send(End::Signal);
        }
    });
    Ok(())
}

/// The answer with the news, or `None`.
fn news_or_nothing(reply: Reply<Poll>) -> Result<Box<NewsOutput>, Nothing> {
    let verbatim = reply.verbatim();
    match reply.data {
        Poll::News(news) => {
            Ok(Box::new(NewsOutput { status: "new_argument", verbatim, news: *news }))
        }
        Poll::Nothing(nothing) => Err(nothing),
    }
}

/// The thread that asks.
struct Asking {
    client: Arc<Client>,
    debate: String,
    role: String,
    after: Option<String>,
    /// The deadline.
    ends: Instant,
    /// The moment by which the last answer must have arrived.
    last: Instant,
    /// How often a server that was never reached is tried.
    tries: u32,
    known: Arc<Mutex<Quiet>>,
}

impl Asking {
    fn run(self, tell: &Sender<End>) {
        // A signal may have ended the command meanwhile.
        let _ = tell.send(self.ask());
    }

    fn ask(&self) -> End {
        let mut failures = 0;
        // Until it is reached, the server has as much time as for any other command.
        let first = self.last.min(Instant::now() + BUDGET);
        // The server answers the first request at once. So the command knows whether the server is
        // there, and has an answer if its host ends it.
        let mut hold = Duration::ZERO;
        loop {
            let waiter =
                Waiter { debate: &self.debate, role: &self.role, after: self.after.as_deref() };
            let request = client::wait(waiter, hold);
            let reached = self.learn(|known| known.nothing.is_some());
            let limit = if reached { Instant::now() + hold + ANSWER } else { first };
            let reply = self.client.once_until(&request, limit.min(self.last));
            let pause = match reply.map(news_or_nothing) {
                Ok(Ok(news)) => return End::News(news),
                Ok(Err(nothing)) => {
                    failures = 0;
                    self.learn(|known| {
                        *known = Quiet { nothing: Some(nothing), unreachable: false }
                    });
                    Duration::ZERO
                }
                Err(Trouble::Busy(_, after)) => {
                    self.learn(|known| known.unreachable = true);
                    after
                }
                Err(Trouble::Unreachable(lost)) => {
                    failures += 1;
                    self.learn(|known| known.unreachable = true);
                    let pause = (PAUSE * failures.min(10)).max(lost.proxy.unwrap_or_default());
                    if !reached {
                        // A proxy that answers is tried again: its server may be restarting.
                        let gone = !lost.timed_out && lost.proxy.is_none();
                        let late = Instant::now() + pause >= first;
                        if late && !gone && first == self.last {
                            return End::Over;
                        }
                        if late || gone && failures >= self.tries {
                            return End::CliError(Trouble::Unreachable(lost));
                        }
                        thread::sleep(pause);
                        continue;
                    }
                    pause
                }
                Err(trouble) => return End::CliError(trouble),
            };
            let left = self.ends.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return End::Over;
            }
            thread::sleep(pause.min(left));
            hold = left.saturating_sub(pause).min(HOLD);
        }
    }

    fn learn<T>(&self, change: impl FnOnce(&mut Quiet) -> T) -> T {
        change(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
