//! `aw demo`: the product in one command.
//!
//! A run of two scripted agents and a scripted arbitrator, with a real plan, on a throw-away server.
//! Runner, server and agent processes are real. Only the words are written beforehand ([`script`]).

mod script;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, BufReader, IsTerminal, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use aw_core::Role;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use uuid::Uuid;

use super::debate::RunLine;
use super::human::Paper;
use crate::api::client;
use crate::api::error::SERVER;
use crate::api::http::Data;
use crate::api::types::{Argument, DebateContext, Diff};
use crate::run::server::Line;
use crate::run::watch::{Seen, StopRequest, Watcher};
use crate::run::{Asked, Exit, RunLimits, RunSurroundings, Runner, Seats};
use crate::settings::{AgentSettings, ClientSettings, RunSettings};

/// How long the server may take to stop.
const EXIT: Duration = Duration::from_secs(10);

#[derive(Debug, clap::Args)]
pub(super) struct Demo {
    /// Do not pause for the reader
    #[arg(long)]
    fast: bool,
    /// This is the scripted agent of a role
    #[arg(long, hide = true)]
    play: Option<Role>,
}

impl Demo {
    pub(super) fn run(self) -> ExitCode {
        let played = match self.play {
            Some(role) => script::play(role),
            None => self.show(),
        };
        match played {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                // Without stderr there is no reader left.
                let _ = writeln!(io::stderr(), "error: the demo failed: {error:#}");
                SERVER.into()
            }
        }
    }

    fn show(self) -> anyhow::Result<()> {
        let watched = io::stdout().is_terminal();
        let stop = StopRequest::default();
        let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
        let (handle, asked) = (signals.handle(), stop.clone());
        thread::spawn(move || signals.forever().for_each(|_| asked.ask()));
        let stage = Stage::build()?;
        let pause =
            if watched && !self.fast { Duration::from_millis(1_500) } else { Duration::ZERO };
        let played = stage.debate(&stop, pause);
        if played.is_ok() && watched && stop.asked() == 0 {
            tell(&format!("The page stays at {} until you press Ctrl-C.", stage.url));
            while stop.asked() == 0 {
                thread::sleep(Duration::from_millis(50));
            }
        }
        handle.close();
        stage.clean_up();
        played
    }
}

/// A throw-away server and project.
struct Stage {
    folder: PathBuf,
    url: String,
    server: Mutex<Child>,
}

impl Stage {
    fn build() -> anyhow::Result<Self> {
        let folder = std::env::temp_dir().join(format!("aw-demo-{}", Uuid::new_v4()));
        fs::create_dir_all(folder.join("project"))?;
        fs::write(folder.join("project").join("plan.md"), script::PLAN[0])?;
        let mut server = serve(&folder.join("home"))?;
        let mut line = String::new();
        if let Some(out) = server.stdout.take() {
            BufReader::new(out).read_line(&mut line)?;
        }
        let url = line.split_whitespace().find(|word| word.starts_with("http://"));
        let stage =
            Stage { folder, url: url.unwrap_or_default().to_owned(), server: Mutex::new(server) };
        if stage.url.is_empty() {
            stage.clean_up();
            bail!("the server did not start");
        }
        Ok(stage)
    }

    fn debate(&self, stop: &StopRequest, pause: Duration) -> anyhow::Result<()> {
        let home = self.folder.join("home");
        let environment = |name: &str| match name {
            "AWEAVE_HOME" => Some(home.display().to_string()),
            "DEBATE_SERVER_URL" => Some(self.url.clone()),
            _ => None,
        };
        let settings = ClientSettings::load(&environment)?;
        let line =
            RunLine::open(&settings, false).map_err(|problem| anyhow::anyhow!(problem.message))?;
        let line: Arc<dyn Line> = Arc::new(line);
        let project = self.folder.join("project");
        let plan = project.join("plan.md");
        tell(
            "Two agents debate a plan, and a third one rules. This is a real run on a \
             throw-away server; only the words are written beforehand.\n\nThe plan:\n",
        );
        say(&indented(script::PLAN[0]));
        let reader = Reader::new(line.clone(), pause);
        let around = RunSurroundings {
            line,
            runs: home.join("runs"),
            settings: RunSettings { agents: agents()?, keep: EXIT, ..RunSettings::default() },
            debate_language: "English".to_owned(),
            patience: Some(EXIT),
            watcher: reader.watcher(),
            stop: stop.clone(),
        };
        let runner = Runner::begin(around, &asked(&project, &plan))
            .map_err(|no| anyhow::anyhow!(no.message))?;
        let (data, stopped) = runner.run();
        if let Some(stopped) = stopped {
            if stopped.exit == Exit::Interrupted {
                return Ok(());
            }
            bail!("{} {}", stopped.message, stopped.detail);
        }
        reader.read_on(&data.debate_id);
        let rounds = data.rounds.as_ref().map_or(0, |rounds| rounds.used);
        tell(&format!(
            "Both agents agree after {rounds} rounds: {} points, {} ruling, {:.1} s.\n\nThe plan now:\n",
            data.points.raised, data.rulings, data.wall_s
        ));
        say(&indented(&fs::read_to_string(&plan)?));
        tell(
            "Beside it a report says how each point ended: plan.debate.md\n\n\
             Next, with a plan and two agent programs of yours (claude, codex, gemini, opencode):\n\n  aw debate run PLAN.md\n",
        );
        Ok(())
    }

    /// Stops the server and removes all files of the demo.
    fn clean_up(&self) {
        let mut server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        // A server that has ended need not be stopped.
        let _ = i32::try_from(server.id()).map(|pid| kill(Pid::from_raw(pid), Signal::SIGTERM));
        let late = Instant::now() + EXIT;
        while !server.try_wait().is_ok_and(|status| status.is_some()) {
            if Instant::now() > late {
                let _ = server.kill();
                let _ = server.wait();
                break;
            }
            thread::sleep(Duration::from_millis(5));
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Starts a server on a throw-away folder, without the settings of this environment. The terminal's
/// Ctrl-C reaches only the demo.
fn serve(home: &Path) -> anyhow::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    for (name, _) in std::env::vars_os() {
        let is_ours = |start: &str| name.to_str().is_some_and(|name| name.starts_with(start));
        if is_ours("AW_") || is_ours("DEBATE_") {
            command.env_remove(&name);
        }
    }
    command
        .args(["serve", "--listen", "127.0.0.1:0"])
        .env("AWEAVE_HOME", home)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("the server did not start")
}

/// The scripted agents: this program, once for each role.
fn agents() -> anyhow::Result<BTreeMap<String, AgentSettings>> {
    let program = std::env::current_exe()?.display().to_string();
    let agent = |role: &Role| {
        let words = ["demo", "--play", role.as_str()].map(str::to_owned);
        let command = [program.clone()].into_iter().chain(words).collect();
        (role.to_string(), AgentSettings { command: Some(command), ..AgentSettings::default() })
    };
    Ok(Role::ALL.iter().map(agent).collect())
}

fn asked(project: &Path, plan: &Path) -> Asked {
    let seat = |role: Role| Some(role.to_string());
    Asked {
        plan: Some(plan.to_owned()),
        debate: None,
        seats: Seats {
            proposer: seat(Role::Proposer),
            opponent: seat(Role::Opponent),
            arbitrator: seat(Role::Arbitrator),
        },
        title: Some(script::TITLE.to_owned()),
        debate_type: "coding_plan_debate".to_owned(),
        type_texts: None,
        ask: Some(script::ASK.to_owned()),
        rounds: None,
        blocking: None,
        files: Vec::new(),
        budget: RunLimits::default(),
        output: None,
        writes: true,
        current: project.to_owned(),
        project: project.to_owned(),
        home: None,
    }
}

/// Shows the debate as it goes on.
#[derive(Clone)]
struct Reader {
    line: Arc<dyn Line>,
    pause: Duration,
    shown: Arc<Mutex<Shown>>,
}

/// How far the debate was shown.
#[derive(Default)]
struct Shown {
    debate: String,
    seq: u64,
    version: u64,
}

impl Reader {
    fn new(line: Arc<dyn Line>, pause: Duration) -> Self {
        let shown = Shown { version: 1, ..Shown::default() };
        Reader { line, pause, shown: Arc::new(Mutex::new(shown)) }
    }

    fn watcher(&self) -> Watcher {
        let reader = self.clone();
        Arc::new(move |seen| match seen {
            Seen::Opened { url, .. } => {
                say(&format!("Watch it at {url}\n"));
                let debate = url.rsplit('/').next().unwrap_or_default().to_owned();
                reader.read_on(&debate);
            }
            Seen::Ended { .. } => {
                let debate = reader.shown().debate.clone();
                reader.read_on(&debate);
            }
            Seen::Trouble(words) => tell(&words),
            Seen::Standing(_) | Seen::Began { .. } | Seen::Doing { .. } | Seen::Owed(_) => {}
        })
    }

    /// Shows the arguments that were not shown yet, and the changes of the plan.
    fn read_on(&self, debate: &str) {
        let context = client::context(debate, 500);
        let context = self.line.data(context.call(), Duration::ZERO);
        let Ok(context) = context.and_then(Data::read::<DebateContext>) else { return };
        let context = context.data;
        let mut shown = self.shown();
        debate.clone_into(&mut shown.debate);
        for one in [&context.motion].into_iter().chain(&context.arguments) {
            if one.seq <= shown.seq || one.automatic {
                continue;
            }
            shown.seq = one.seq;
            say(&argument(one));
            thread::sleep(self.pause);
        }
        for cited in &context.documents {
            if cited.version <= shown.version {
                continue;
            }
            let document = cited.document_id.0.to_string();
            let diff = client::diff(&document, Some(shown.version), Some(cited.version));
            let diff = self.line.data(diff.call(), Duration::ZERO);
            if let Ok(diff) = diff.and_then(Data::read::<Diff>) {
                say(&changes(cited.version, &diff.data.diff));
                thread::sleep(self.pause);
            }
            shown.version = cited.version;
        }
    }

    fn shown(&self) -> std::sync::MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An argument in its own words, fitted to the terminal.
fn argument(one: &Argument) -> String {
    let paper = Paper::of_stdout();
    let title = paper.heading(&format!("{}. {} by the {}", one.seq, one.kind, one.role));
    let own = |line: &&str| !line.starts_with("doc_id=");
    let text: Vec<&str> = one.content.lines().filter(own).collect();
    format!("{title}\n{}", paper.quote(text.join("\n").trim()))
}

/// The changed lines of the plan.
fn changes(version: u64, diff: &str) -> String {
    let paper = Paper::of_stdout();
    let is_change = |line: &&str| {
        (line.starts_with('+') && !line.starts_with("+++"))
            || (line.starts_with('-') && !line.starts_with("---"))
    };
    let lines: Vec<String> =
        diff.lines().filter(is_change).map(|line| paper.wrapped(line, "    ")).collect();
    format!("{}\n{}\n", paper.heading(&format!("The plan, version {version}")), lines.join("\n"))
}

fn indented(text: &str) -> String {
    let paper = Paper::of_stdout();
    let lines: Vec<String> = text.lines().map(|line| paper.wrapped(line, "    ")).collect();
    lines.join("\n") + "\n"
}

/// Says our own words, wrapped.
fn tell(text: &str) {
    let paper = Paper::of_stdout();
    let lines: Vec<String> = text.split('\n').map(|line| paper.wrapped(line, "")).collect();
    say(&lines.join("\n"));
}

fn say(text: &str) {
    // Without stdout the demo goes on to its end and cleans up.
    let _ = writeln!(io::stdout(), "{text}");
}
