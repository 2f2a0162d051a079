//! `aw debate wait`: held on the server, woken by push, patient, and never silent when it is cut off.
//!
//! The asking happens on a thread of its own. This one listens to that thread and to the signals
//! with which hosts end long commands, and answers either way.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::{Value, json};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::super::human;
use super::super::output::{Answer, Problem, Shown};
use super::super::session::Session;
use super::{Deadline, Habits, Shape, next_lines, wait_line};
use crate::api::advice::awaited;
use crate::api::http::{BUDGET, Call, Client, Trouble, encoded};

/// The longest that the server holds one request.
const HOLD: Duration = Duration::from_secs(60);

/// What a wait that is over passes on of the server's answer.
const NEWS: [&str; 7] = [
    "action",
    "debate_state",
    "argument",
    "arguments",
    "omitted",
    "next_argument_id_to_wait",
    "available_actions",
];

/// How often it looks around while nothing happens.
const TICK: Duration = Duration::from_millis(500);

/// How much later than the deadline the server's answer may arrive.
const GRACE: Duration = Duration::from_secs(2);

/// How long the first answer may take, also when the deadline is shorter.
const FIRST: Duration = Duration::from_secs(5);

/// How much longer than it was asked to hold a question the server may take.
const ANSWER: Duration = Duration::from_secs(10);

/// How often a server that was never reached is tried.
const TRIES: u32 = 3;

/// The pause before a lost server is tried again; it grows up to ten times that.
const PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Wait {
    /// The debate
    #[arg(long, value_name = "UUID")]
    debate_id: String,
    /// proposer, opponent or arbitrator
    #[arg(long)]
    role: String,
    /// The newest argument that you have seen
    #[arg(long, value_name = "UUID")]
    argument_id: Option<String>,
    /// Seconds to wait; 0 asks once [env: DEBATE_WAIT_DEADLINE] [default: 110]
    #[arg(long, value_name = "SECONDS")]
    deadline: Option<Deadline>,
    /// Which wait in a row this is: agent hosts stop an agent that repeats a line, so each differs
    #[arg(long, value_name = "N", default_value_t = 1)]
    attempt: u64,
    #[command(flatten)]
    pub(super) shape: Shape,
}

/// What the asking thread or a signal has to say.
enum Heard {
    News(Value),
    /// The time is over.
    Over,
    Problem(Trouble),
    /// The host ends this command.
    Signal,
}

/// What is known of the debate while nothing happens.
#[derive(Debug, Clone, Default)]
struct Known {
    nothing: Option<Value>,
    unreachable: bool,
}

impl Wait {
    pub(super) fn run(self) -> Result<Shown, Problem> {
        let named = |problem: Problem| problem.with("debate_id", self.debate_id.as_str());
        let began = Instant::now();
        let mut session = Session::open_answering(self.shape.verbose).map_err(named)?;
        let deadline = match &self.deadline {
            Some(given) => given.time,
            None => session.settings.deadline,
        };
        let ends = began + deadline;
        let known = Arc::new(Mutex::new(Known::default()));
        let (tell, hear) = mpsc::channel();
        listen_for_signals(tell.clone())?;
        let mut finds = 0;
        let heard = loop {
            let asking = Asking {
                client: session.client.clone(),
                path: self.path(),
                ends,
                last: (ends + GRACE).max(Instant::now() + FIRST),
                tries: if session.settings.server_url.is_some() { TRIES } else { 1 },
                known: known.clone(),
            };
            let (last, tell) = (asking.last, tell.clone());
            thread::spawn(move || asking.run(&tell));
            match self.listen(&session, &hear, &known, last) {
                // It went just after it was found, and nobody waits on it yet.
                Heard::Problem(trouble) if session.finds_again(&trouble, &mut finds) => {
                    session = Session::open_answering(self.shape.verbose).map_err(named)?;
                }
                heard => break heard,
            }
        };
        match heard {
            Heard::News(mut news) => {
                let habits = self.habits();
                let (next, others) = next_lines(&self.debate_id, &self.role, &news, habits);
                let mut data = json!({"status": "new_argument"});
                for name in NEWS {
                    data[name] = news[name].take();
                }
                let mut answer = Answer::new(data, human::waited);
                if let Some(next) = next {
                    answer = answer.next(next);
                }
                if !others.is_empty() {
                    answer = answer.with("alternatives", others);
                }
                return Ok(Shown::Answer(session.checked(answer)));
            }
            Heard::Problem(trouble @ (Trouble::Unreachable(_) | Trouble::Busy(..))) => {
                let problem = named(session.problem(trouble));
                return Err(problem.with("retry_command", self.again(self.argument_id.as_deref())));
            }
            Heard::Problem(trouble @ (Trouble::Refused(_) | Trouble::Stranger(_))) => {
                let problem = named(session.problem(trouble));
                let unknown =
                    problem.code == "ARGUMENT_NOT_FOUND" || problem.field() == Some("argument_id");
                if unknown {
                    let without = wait_line(&self.debate_id, &self.role, None, self.habits());
                    return Err(problem.with("next_command", without.into_string()));
                }
                return Err(problem);
            }
            Heard::Over | Heard::Signal => {}
        }
        let known = known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let waited = began.elapsed();
        Ok(Shown::Answer(session.checked(self.timeout(&session, &known, waited))))
    }

    /// Waits for the asking thread or a signal; on a terminal it shows that it does.
    fn listen(
        &self,
        session: &Session,
        hear: &mpsc::Receiver<Heard>,
        known: &Mutex<Known>,
        last: Instant,
    ) -> Heard {
        let watched = io::stderr().is_terminal();
        let began = Instant::now();
        let mut awaited = None;
        let mut shown = false;
        let heard = loop {
            match hear.recv_timeout(TICK) {
                Ok(heard) => break heard,
                Err(RecvTimeoutError::Disconnected) => break Heard::Over,
                Err(RecvTimeoutError::Timeout) => {
                    // The asking thread ends by then, unless something holds it that has no limit.
                    if Instant::now() > last + TICK {
                        known.lock().unwrap_or_else(PoisonError::into_inner).unreachable = true;
                        break Heard::Over;
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

    /// Who is awaited, and since when.
    fn awaited(&self, session: &Session) -> String {
        let path =
            format!("/debates/{}/poll?role={}", encoded(&self.debate_id), encoded(&self.role));
        let soon = Instant::now() + GRACE;
        let now = session.client.once_until(Call::Get(&path), soon).unwrap_or_default();
        let who = awaited(now["debate_state"].as_str());
        match now["waiting_since"].as_str() {
            Some(since) => format!("{who}, last move {}", human::ago(since)),
            None => who.to_owned(),
        }
    }

    fn path(&self) -> String {
        let after = self
            .argument_id
            .as_deref()
            .map_or(String::new(), |id| format!("&argument_id={}", encoded(id)));
        format!("/debates/{}/poll?role={}{after}", encoded(&self.debate_id), encoded(&self.role))
    }

    fn habits(&self) -> Habits<'_> {
        Habits {
            deadline: self.deadline.as_ref(),
            format: self.shape.format,
            attempt: Some(self.attempt.saturating_add(1)),
        }
    }

    /// The same wait once more, after this argument.
    fn again(&self, after: Option<&str>) -> String {
        wait_line(&self.debate_id, &self.role, after, self.habits()).into_string()
    }

    /// A time-out is not a failure: it says how to go on, and when to stop.
    fn timeout(&self, session: &Session, known: &Known, waited: Duration) -> Answer {
        let nothing = known.nothing.clone().unwrap_or_default();
        // A server of the older system tells which argument of one's own is the newest.
        let after = self.argument_id.as_deref().or(nothing["last_argument_id"].as_str());
        let retry = self.again(after);
        let since = nothing["waiting_since"].as_str();
        let patience = session.settings.patience;
        let left = since.and_then(|since| since.parse::<Timestamp>().ok()).map(|since| {
            let spent = Timestamp::now().duration_since(since).as_secs().max(0).unsigned_abs();
            patience.as_secs().saturating_sub(spent)
        });
        let seconds = waited.as_secs();
        let who = awaited(nothing["debate_state"].as_str());
        let message = match (known.unreachable, left) {
            (true, None | Some(1..)) => format!(
                "No response after {seconds}s: the server at {} is lost. {}",
                session.client.base(),
                session.way_back()
            ),
            (_, Some(0)) => format!(
                "No response after {seconds}s, and patience is over. Tell your user that {who} is awaited since {} \
                 and which command resumes (retry_command), then stop.",
                since.unwrap_or("long ago")
            ),
            (false, None | Some(1..)) => {
                format!("No response after {seconds}s. Still waiting for {who}: wait again.")
            }
        };
        let mut data = json!({
            "status": "timeout",
            "message": message,
            "debate_id": self.debate_id,
            "last_argument_id": after,
            "last_seen_seq": nothing["last_seen_seq"].as_u64().unwrap_or(0),
            "retry_command": retry,
            "waiting_since": since,
            "patience_left_s": left,
        });
        if known.unreachable {
            data["server_unreachable"] = true.into();
        }
        if let Some(state) = nothing["debate_state"].as_str() {
            data["debate_state"] = state.into();
            data["action"] = nothing["action"].clone();
        }
        let answer = Answer::new(data, human::waited);
        // An agent that follows `next_command` would never stop.
        if left == Some(0) { answer } else { answer.next(retry) }
    }
}

fn listen_for_signals(tell: Sender<Heard>) -> Result<(), Problem> {
    let mut signals = Signals::new([SIGTERM, SIGINT])
        .map_err(|error| Problem::connection(format!("signals cannot be heard: {error}")))?;
    thread::spawn(move || {
        if signals.forever().next().is_some() {
            // When nobody listens any more the answer is on its way already.
            let _ = tell.send(Heard::Signal);
        }
    });
    Ok(())
}

/// The thread that asks.
struct Asking {
    client: Arc<Client>,
    path: String,
    /// The deadline.
    ends: Instant,
    /// The moment by which the last answer must have arrived.
    last: Instant,
    /// How often a server that was never reached is tried.
    tries: u32,
    known: Arc<Mutex<Known>>,
}

impl Asking {
    fn run(self, tell: &Sender<Heard>) {
        // The command may have been answered by a signal meanwhile.
        let _ = tell.send(self.ask());
    }

    fn ask(&self) -> Heard {
        let mut failures = 0;
        // A server that was never reached has as long as the server of any other command.
        let first = self.last.min(Instant::now() + BUDGET);
        // The first question is answered at once: it tells whether the server is there, and what
        // to say should the host end this command.
        let mut hold = Duration::ZERO;
        loop {
            let path = format!("{}&wait={}", self.path, hold.as_secs_f64());
            let reached = self.learn(|known| known.nothing.is_some());
            let limit = if reached { Instant::now() + hold + ANSWER } else { first };
            let pause = match self.client.once_until(Call::Get(&path), limit.min(self.last)) {
                Ok(news) if news["has_new_argument"] == true => return Heard::News(news),
                Ok(nothing) => {
                    failures = 0;
                    self.learn(|known| {
                        *known = Known { nothing: Some(nothing), unreachable: false }
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
                        // A proxy that answers is asked on: its server may be restarting.
                        let gone = !lost.timed_out && lost.proxy.is_none();
                        let late = Instant::now() + pause >= first;
                        if late && !gone && first == self.last {
                            return Heard::Over;
                        }
                        if late || gone && failures >= self.tries {
                            return Heard::Problem(Trouble::Unreachable(lost));
                        }
                        thread::sleep(pause);
                        continue;
                    }
                    pause
                }
                Err(trouble) => return Heard::Problem(trouble),
            };
            let left = self.ends.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Heard::Over;
            }
            thread::sleep(pause.min(left));
            hold = left.saturating_sub(pause).min(HOLD);
        }
    }

    fn learn<T>(&self, change: impl FnOnce(&mut Known) -> T) -> T {
        change(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
