//! `aw mcp`: the tools over stdin and stdout, for agents whose shell cannot reach the network.
//!
//! Only the protocol goes to stdout. The first tool that needs the server finds or starts it. If
//! the server was restarted, it is found again.

use std::env;
use std::io::{self, IsTerminal};
use std::process::{ExitCode, Stdio as ChildStdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use aw_core::Role;
use jiff::Timestamp;
use rmcp::ServiceExt;
use rmcp::model::Extensions;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::stdio_pipes;
use tokio::signal::unix::{SignalKind, signal};

use super::agent::{shelves, wakes_claude};
use super::human;
use super::notes::Notes;
use super::output::CliError;
use super::role;
use super::serve::{fail, log_filter};
use super::session::{self, Session};
use super::wake;
use crate::api::client::Call;
use crate::api::error::{Code, INPUT, SERVER};
use crate::api::http::Data;
use crate::kit::host::Host;
use crate::mcp::{
    self, ApiServer, CallSource, CallerInfo, Defaults, Prospect, Scope, SeenInDebate, ToolRefusal,
    Transport, TypeSource,
};
use crate::policy::Denied;
use crate::programs;
use crate::run::project;
use crate::settings::ClientSettings;

/// How long `codex queue` may take.
const QUEUE: Duration = Duration::from_secs(10);

/// The longest message that is read: the longest document, every letter of it escaped.
const LONGEST: usize = 64 * 1024 * 1024;

#[derive(Debug, clap::Args)]
pub(super) struct McpCommand {
    /// proposer, opponent or arbitrator: offer only what this role may use [env: AW_ROLE]
    ///
    /// Without it everything but the arbitrator's moves is offered.
    #[arg(long)]
    role: Option<Role>,
    /// After a wait without news, keep waiting, and wake the idle agent with codex queue
    #[arg(long)]
    wake: bool,
}

impl McpCommand {
    pub(super) fn run(self) -> ExitCode {
        let filter = match log_filter("error") {
            Ok(filter) => filter,
            Err(bad) => return fail(INPUT, &bad.into()),
        };
        tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(io::stderr)
            .with_ansi(io::stderr().is_terminal())
            .init();
        let role = match self.held_to() {
            Ok(role) => role,
            Err(problem) => {
                human::note(&format!("error: {}", problem.message));
                return problem.exit().into();
            }
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let outcome = match runtime {
            Ok(runtime) => {
                let outcome = runtime.block_on(serve(role, self.wake));
                // Nobody waits for the answer to a held call any more.
                runtime.shutdown_background();
                outcome
            }
            Err(error) => Err(error.into()),
        };
        match outcome {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                human::note(&format!("error: {error:#}"));
                SERVER.into()
            }
        }
    }
}

impl McpCommand {
    /// The role of the flag or of the environment, which must not contradict each other.
    fn held_to(&self) -> Result<Option<Role>, CliError> {
        let held = role::held_to()?;
        match (held, self.role) {
            (Some(own), Some(named)) if own != named => {
                let denied = Denied::Role { own, named };
                Err(CliError::new(Code::Forbidden, format!("aw mcp {denied} ({})", role::NAME)))
            }
            (held, named) => Ok(named.or(held)),
        }
    }
}

/// Serves until stdin is closed or a signal ends it.
async fn serve(role: Option<Role>, wake: bool) -> anyhow::Result<()> {
    let (mut terminated, mut interrupted) =
        (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let source = Stdio {
        server: Arc::new(FoundServer::default()),
        scope: role.map_or(Scope::Open, Scope::Role),
        wake,
    };
    let (stdin, stdout) = stdio_pipes();
    let line = AsyncRwTransport::new_server(stdin, stdout).with_max_line_length(LONGEST);
    let speaking = async {
        match mcp::Mcp::new(source, defaults()).serve(line).await {
            Ok(served) => served.waiting().await.map(drop).map_err(anyhow::Error::from),
            // Hosts that only check whether it starts close stdin at once.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    };
    tokio::select! {
        outcome = speaking => outcome,
        _ = terminated.recv() => Ok(()),
        _ = interrupted.recv() => Ok(()),
    }
}

/// The defaults of the settings. If the settings cannot be read, each call reports the mistake.
fn defaults() -> Defaults {
    let Ok(settings) = session::settings() else { return Defaults::default() };
    let types = shelves(&settings).map_or(TypeSource::BuiltIn, TypeSource::OfProject);
    let ClientSettings { debate_language, patience, author, .. } = settings;
    let project = env::current_dir().ok().and_then(|folder| project::of(&folder));
    Defaults { debate_language, patience, author, types, project }
}

/// The one caller at the other end of the pipe.
struct Stdio {
    server: Arc<FoundServer>,
    scope: Scope,
    /// Whether an idle Codex is woken.
    wake: bool,
}

impl CallSource for Stdio {
    fn caller(&self, _: &Extensions) -> CallerInfo {
        let transport = Transport::Http(self.server.clone());
        CallerInfo { transport, scope: self.scope, session: None }
    }

    fn now(&self) -> i64 {
        Timestamp::now().as_millisecond()
    }

    fn begun(&self, thread: Option<&str>) {
        if let Some(notes) = session::settings().ok().and_then(|set| notes_of(&set, thread)) {
            notes.awake();
        }
    }

    fn answered(&self, thread: Option<&str>, seen: &SeenInDebate) -> bool {
        let Ok(settings) = session::settings() else { return false };
        let Some(notes) = notes_of(&settings, thread) else { return false };
        let SeenInDebate { debate, role, newest, prospect } = seen;
        let is_over = *prospect == Prospect::Over;
        notes.note_words((debate, role.as_str()), newest.as_deref(), is_over);
        match thread {
            _ if *prospect != Prospect::Idle => false,
            Some(thread) if self.wake => {
                let thread = thread.to_owned();
                thread::spawn(move || wake_codex(&notes, &thread));
                true
            }
            Some(_) => false,
            None => wakes_claude(&settings),
        }
    }
}

/// The notes of the session that calls: a thread of Codex, or the Claude Code that started this program.
fn notes_of(settings: &ClientSettings, thread: Option<&str>) -> Option<Notes> {
    match thread {
        Some(thread) => Notes::of(&settings.home, Host::Codex, thread),
        None => Notes::of_claude(&settings.home),
    }
}

/// Waits in place of an idle Codex, then queues a message for it. On any failure Codex is not
/// woken.
fn wake_codex(notes: &Notes, thread: &str) {
    let Some(wake) = wake::watch(notes, || true) else { return };
    let mut queue = programs::command("codex");
    queue.args(["queue", "--thread", thread, "--message", &wake.with_call()]);
    queue.stdin(ChildStdio::null()).stdout(ChildStdio::null()).stderr(ChildStdio::null());
    let Ok(mut queue) = queue.spawn() else { return };
    let ends = Instant::now() + QUEUE;
    while matches!(queue.try_wait(), Ok(None)) {
        if Instant::now() > ends {
            // It is our child, so the process id is still its own.
            let _ = queue.kill();
            let _ = queue.wait();
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// The server, once it was found.
#[derive(Default)]
struct FoundServer(Mutex<Option<Arc<Session>>>);

impl FoundServer {
    /// The server that was found, or else is found or started now.
    fn session(&self) -> Result<Arc<Session>, CliError> {
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match found.as_ref() {
            Some(session) => Ok(session.clone()),
            None => Ok(found.insert(Arc::new(Session::for_tools()?)).clone()),
        }
    }

    /// Finds the server again, unless another call has done so meanwhile.
    fn session_after(&self, lost: &Arc<Session>) -> Result<Arc<Session>, CliError> {
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if found.as_ref().is_some_and(|known| Arc::ptr_eq(known, lost)) {
            *found = None;
        }
        drop(found);
        self.session()
    }
}

impl ApiServer for FoundServer {
    fn call(&self, call: &Call, within: Duration) -> Result<Data, ToolRefusal> {
        let mut session = self.session().map_err(refusal)?;
        let mut times = 0;
        // The time to find or start the server does not count.
        let mut answer = session.client.data_until(call, Instant::now() + within, false);
        // The server has ended since it was found. The request carries its id, so sending it again
        // is safe.
        while let Err(trouble) = &answer
            && session.may_reconnect(trouble, &mut times)
        {
            session = self.session_after(&session).map_err(refusal)?;
            answer = session.client.data_until(call, Instant::now() + within, true);
        }
        answer.map_err(|trouble| refusal(session.problem(trouble)))
    }

    fn call_again(&self, call: &Call, within: Duration) -> Result<Data, ToolRefusal> {
        let session = self.session().map_err(refusal)?;
        let answer = session.client.data_once(call, Instant::now() + within);
        let runs = || matches!(session.settings.home.running(), Ok(Some(_)));
        match answer {
            Err(trouble) if session.may_reconnect(&trouble, &mut 0) && runs() => {
                let session = self.session_after(&session).map_err(refusal)?;
                let answer = session.client.data_once(call, Instant::now() + within);
                answer.map_err(|trouble| refusal(session.problem(trouble)))
            }
            answer => answer.map_err(|trouble| refusal(session.problem(trouble))),
        }
    }

    fn way_back(&self) -> &'static str {
        let found = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        found.map_or("Wait again when it is back.", |session| session.way_back())
    }

    fn url(&self) -> Option<String> {
        let found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        found.as_ref().map(|session| session.client.base().to_owned())
    }
}

/// A failure as a tool reports it.
fn refusal(problem: CliError) -> ToolRefusal {
    let refusal = match problem.refused {
        // The suggestion about tokens was written for a user of this machine.
        Some(refused) if problem.code == Code::AuthFailed => ToolRefusal::of(*refused),
        Some(refused) => return ToolRefusal::of(*refused),
        None => ToolRefusal::new(problem.code, problem.message),
    };
    match problem.suggestion {
        Some(line) if line.starts_with("aw ") => {
            refusal.suggest(format!("Ask your user to run: {line}"))
        }
        Some(suggestion) => refusal.suggest(suggestion),
        None => refusal,
    }
}
