//! `aw wake`: waits in place of an idle agent, and wakes it when it has something to do.
//!
//! The server starts nothing: a host runs this when its agent stops. The woken agent runs `wait` as
//! usual. On any failure the agent is not woken, and nothing is printed.

use std::env;
use std::io::{self, Read};
use std::os::unix::process::parent_id;
use std::process::ExitCode;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use aw_core::{Action, ArgumentId, DebateId, Role};
use nix::sys::signal::kill;
use nix::unistd::Pid;
use serde::Deserialize;

use super::human;
use super::notes::{Notes, Watch, is_headless_claude};
use super::session::{self, Session};
use crate::api::client::{self, Waiter};
use crate::api::http::Trouble;
use crate::api::types::Poll;
use crate::kit::host::Host;

/// How long a waker watches.
const LONGEST: Duration = Duration::from_secs(8 * 60 * 60);

/// How long the server holds one question.
const HOLD: Duration = Duration::from_secs(20);

/// How much longer than asked the server may hold a request.
const ANSWER: Duration = Duration::from_secs(10);

/// The pause before a lost or busy server is asked again.
const PAUSE: Duration = Duration::from_millis(200);

/// The time between two checks whether the hook is still needed.
const TICK: Duration = Duration::from_secs(1);

/// The longest input of a hook.
const LONGEST_INPUT: u64 = 16 * 1024 * 1024;

/// The exit code with which a hook wakes Claude Code.
const WAKE: u8 = 2;

#[derive(Debug, clap::Args)]
pub(super) struct WakeCommand {
    /// claude
    host: WakeHost,
}

/// A host that runs this command as a hook.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum WakeHost {
    Claude,
}

/// The input of a hook, as far as it matters.
#[derive(Debug, Deserialize)]
struct HookInput {
    session_id: String,
}

/// Why an agent is woken.
#[derive(Debug, Clone)]
pub(super) struct Wake {
    pub(super) debate: DebateId,
    pub(super) role: Role,
    /// The newest argument that it has seen.
    pub(super) after: Option<ArgumentId>,
    is_over: bool,
}

impl WakeCommand {
    pub(super) fn run(self) -> ExitCode {
        let WakeHost::Claude = self.host;
        let Some(wake) = hook() else { return ExitCode::SUCCESS };
        human::note(&wake.with_command());
        WAKE.into()
    }
}

/// Waits for the session that a hook of Claude Code names.
fn hook() -> Option<Wake> {
    if is_headless_claude() {
        return None;
    }
    let input = io::stdin().lock().take(LONGEST_INPUT);
    // One value is enough: the host may leave the pipe open.
    let mut values = serde_json::Deserializer::from_reader(input).into_iter::<HookInput>();
    let HookInput { session_id } = values.next()?.ok()?;
    let notes = Notes::of(&session::settings().ok()?.home, Host::Claude, &session_id)?;
    // Claude Code may run the hook in a shell, which would outlive it.
    let host = env::var("CLAUDE_PID").ok().and_then(|pid| pid.parse().ok()).map(Pid::from_raw);
    let parent = parent_id();
    watch(&notes, || parent_id() == parent && host.is_none_or(|pid| kill(pid, None).is_ok()))
}

impl Wake {
    /// The message with the line to run.
    fn with_command(&self) -> String {
        let Wake { debate, role, after, .. } = self;
        let after = after.map(|id| format!(" --argument-id {id}")).unwrap_or_default();
        let line = format!("aw debate wait --debate-id {debate} --role {role}{after}");
        format!("{}\nGo on as your debate skill says. First run:\n{line}", self.what())
    }

    /// The message with the tool to call.
    pub(super) fn with_call(&self) -> String {
        let Wake { debate, role, after, .. } = self;
        let after = after.map(|id| format!(", \"argument_id\": \"{id}\"")).unwrap_or_default();
        let call = format!("{{\"debate_id\": \"{debate}\", \"role\": \"{role}\"{after}}}");
        format!("{}\nGo on as your debate skill says. First call:\ndebate_wait {call}", self.what())
    }

    fn what(&self) -> String {
        let Wake { debate, role, is_over, .. } = self;
        match is_over {
            true => format!("Debate {debate}, in which you are the {role}, is closed."),
            false => format!("Debate {debate} waits for your move: you are the {role}."),
        }
    }
}

/// Waits for the debates of a session. Returns none if there is nothing to wake it for, if it is
/// awake, if a newer waker has taken over, or if the waker is no longer needed.
pub(super) fn watch(notes: &Notes, is_wanted: impl Fn() -> bool) -> Option<Wake> {
    let debates = notes.seen();
    if debates.is_empty() {
        return None;
    }
    let watch = notes.take_watch()?;
    let ends = Instant::now() + LONGEST;
    let (tell, hear) = mpsc::channel();
    for seen in debates {
        let (watch, tell) = (watch.clone(), tell.clone());
        thread::spawn(move || {
            let woken = watch_one(&watch, seen.debate(), seen.role(), ends);
            // The session may have been woken for another debate.
            let _ = tell.send(woken);
        });
    }
    drop(tell);
    loop {
        match hear.recv_timeout(TICK) {
            Ok(Some(wake)) => return Some(wake),
            Ok(None) => {}
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) if is_wanted() && watch.is_ours() => {}
            Err(RecvTimeoutError::Timeout) => return None,
        }
    }
}

/// Waits until an argument that the session has not seen gives this role the floor, or closes the debate.
fn watch_one(watch: &Watch, debate: DebateId, role: Role, ends: Instant) -> Option<Wake> {
    let named = debate.to_string();
    let mut session = None;
    // News that require nothing of the role do not wake it: it reads them later.
    let mut passed = None;
    while Instant::now() < ends {
        let seen = watch.seen(debate, role)?;
        let Some(open) = session.take().or_else(|| Session::open_running().ok()) else {
            thread::sleep(PAUSE);
            continue;
        };
        let after = passed.or(seen.argument()).map(|id: ArgumentId| id.to_string());
        let waiter = Waiter { debate: &named, role: role.as_str(), after: after.as_deref() };
        let asked = Instant::now();
        let reply = open.client.once_until(&client::wait(waiter, HOLD), asked + HOLD + ANSWER);
        let news = match reply.map(|reply| reply.data) {
            Ok(Poll::News(news)) => news,
            Ok(Poll::Nothing(_)) => {
                // A stopping server does not hold requests.
                if asked.elapsed() + PAUSE < HOLD {
                    thread::sleep(PAUSE);
                }
                session = Some(open);
                continue;
            }
            Err(Trouble::Unreachable(_) | Trouble::Busy(..)) => {
                thread::sleep(PAUSE);
                continue;
            }
            Err(Trouble::Refused(_) | Trouble::Stranger(_) | Trouble::Unreadable(_)) => {
                return None;
            }
        };
        let is_over = match news.action.known()? {
            Action::DebateClosed => true,
            Action::Respond | Action::AlignToRuling | Action::Rule => false,
            Action::WaitForOpponent
            | Action::WaitForProposer
            | Action::WaitForRuling
            | Action::Wait => {
                passed = Some(news.next_argument_id_to_wait.0);
                session = Some(open);
                continue;
            }
        };
        // Without new arguments the agent has already seen why it is its move.
        let argument = news.arguments.last()?.id.0;
        let wake = Wake { debate, role, after: seen.argument(), is_over };
        return watch.wakes_for(&seen, argument).then_some(wake);
    }
    None
}
