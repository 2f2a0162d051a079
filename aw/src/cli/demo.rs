//! `aw demo`: the product in one command.
//!
//! Two scripted agents and an arbitrator hold a real debate on a throw-away server. Each is a loop
//! of real `aw` processes that follows the `action` it is given, like any agent's. Only their words
//! are written beforehand ([`script`]).

mod script;

use std::fs;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use aw_core::Action;
use jiff::Timestamp;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use uuid::Uuid;

use super::human::shown;
use crate::api::error::{Error, SERVER};
use crate::api::types::{ActionText, Argument, ArgumentIdText, KindText};

/// How long an agent may be without news before the demo gives up.
const PATIENCE: &str = "15";

/// How long everybody may take to leave the stage.
const EXIT: Duration = Duration::from_secs(10);

#[derive(Debug, clap::Args)]
pub(super) struct Demo {
    /// Do not pause for the reader
    #[arg(long)]
    fast: bool,
}

impl Demo {
    pub(super) fn run(self) -> ExitCode {
        match self.play() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                // When stderr is gone there is nobody left to tell.
                let _ = writeln!(io::stderr(), "error: the demo failed: {error:#}");
                SERVER.into()
            }
        }
    }

    fn play(self) -> anyhow::Result<()> {
        let watched = io::stdout().is_terminal();
        let mut ended = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
        let stage = Stage::build(if watched && !self.fast {
            Duration::from_millis(700)
        } else {
            Duration::ZERO
        })?;
        let (ended_by, end) = channel();
        let interrupted = ended_by.clone();
        let handle = ended.handle();
        thread::spawn(move || {
            if ended.forever().next().is_some() {
                let _ = interrupted.send(Ok(End::Interrupted));
            }
        });
        let playing = stage.clone();
        thread::spawn(move || {
            let played = playing.debate().map(|()| End::Closed);
            let _ = ended_by.send(played);
        });
        let outcome = end.recv().context("nobody plays any more")?;
        if let Ok(End::Closed) = outcome
            && watched
        {
            stage.say(&format!("\nThe server stays at {} until you press Ctrl-C.", stage.url));
            let _ = end.recv();
        }
        handle.close();
        stage.strike();
        outcome.map(|_| ())
    }
}

/// How the play ends.
enum End {
    Closed,
    Interrupted,
}

/// A throw-away server, and everybody on it.
#[derive(Clone)]
struct Stage {
    home: PathBuf,
    url: String,
    program: PathBuf,
    playing: Arc<Mutex<Playing>>,
    /// How long the reader is given for each line.
    pause: Duration,
    began: Instant,
    printing: Arc<Mutex<()>>,
    wakes: Arc<Mutex<Vec<i64>>>,
}

/// Every process of the play.
struct Playing {
    server: Child,
    /// The commands at work. None of them is reaped without being taken from this list.
    commands: Vec<u32>,
    /// Nobody may begin anything any more.
    over: bool,
}

impl Stage {
    fn build(pause: Duration) -> anyhow::Result<Self> {
        let home = std::env::temp_dir().join(format!("aw-demo-{}", Uuid::new_v4()));
        let program = std::env::current_exe()?;
        let mut server = command(&program, &home)
            .args(["serve", "--listen", "127.0.0.1:0"])
            .stderr(Stdio::null())
            .spawn()?;
        let mut line = String::new();
        if let Some(out) = server.stdout.take() {
            BufReader::new(out).read_line(&mut line)?;
        }
        let Some(url) = line.split_whitespace().find(|word| word.starts_with("http://")) else {
            // It may have ended already.
            let _ = server.kill();
            let _ = server.wait();
            let _ = fs::remove_dir_all(&home);
            bail!("the server did not start");
        };
        Ok(Stage {
            home,
            url: url.to_owned(),
            program,
            playing: Arc::new(Mutex::new(Playing { server, commands: Vec::new(), over: false })),
            pause,
            began: Instant::now(),
            printing: Arc::default(),
            wakes: Arc::default(),
        })
    }

    fn debate(&self) -> anyhow::Result<()> {
        self.say("Two agents debate a plan. Everything below is a real command on a throw-away server.\n");
        let plan: Kept = self.aw(&[
            "docs",
            "create",
            "--summary",
            "Plan, first draft",
            "--content",
            script::PLAN[0],
        ])?;
        let document = plan.document_id;
        self.act("proposer", "docs create", "plan v1", None);
        let motion = script::MOTION.replace("{plan}", &document);
        let opened: Wrote = self.aw(&[
            "debate",
            "create",
            "--title",
            script::TITLE,
            "--type",
            "coding_plan_debate",
            "--points",
            "--content",
            &motion,
            "--author",
            "scripted proposer",
        ])?;
        let debate = opened.debate_id.clone();
        self.spoken("proposer", &opened, &motion, None);
        self.say(&format!("            watch it at {}/debate/{debate}", self.url));

        // The opponent shows when it begins to write, so that the arbitrator can interrupt it.
        let (writing, seen_writing) = channel();
        let (interrupted, may_send) = channel();
        let play = |role: &'static str| Actor {
            stage: self.clone(),
            role,
            debate: debate.clone(),
            document: document.clone(),
        };
        let motion_id = opened.argument_id;
        let (proposer, opponent, arbitrator) =
            (play("proposer"), play("opponent"), play("arbitrator"));
        let (done, played) = channel();
        // The first that fails ends the play, so that the others do not wait in vain.
        let (first, second, third) = (done.clone(), done.clone(), done);
        thread::spawn(move || first.send(proposer.propose(motion_id)));
        thread::spawn(move || second.send(opponent.oppose(&writing, &may_send)));
        thread::spawn(move || third.send(arbitrator.arbitrate(&seen_writing, &interrupted)));
        for _ in 0..3 {
            played.recv().context("an actor died")??;
        }
        let wakes = self.wakes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sorted = wakes.clone();
        sorted.sort_unstable();
        self.say(&format!(
            "\nClosed after {:.1} s. {} waits were woken, half of them within {} ms of the commit, process start and exit included.",
            self.began.elapsed().as_secs_f64(),
            sorted.len(),
            sorted.get(sorted.len() / 2).unwrap_or(&0),
        ));
        Ok(())
    }

    /// Runs `aw` and returns the data of its answer.
    fn aw<T: DeserializeOwned>(&self, arguments: &[&str]) -> anyhow::Result<T> {
        let mut command = command(&self.program, &self.home);
        command.args(arguments).env("DEBATE_SERVER_URL", &self.url).stderr(Stdio::null());
        let mut child = {
            let mut playing = self.playing();
            if playing.over {
                bail!("the play is over");
            }
            let child = command.spawn()?;
            playing.commands.push(child.id());
            child
        };
        let mut out = Vec::new();
        let read = child.stdout.take().map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut out));
        {
            let mut playing = self.playing();
            child.wait()?;
            playing.commands.retain(|pid| *pid != child.id());
        }
        read?;
        let typed = arguments.join(" ");
        let printed: Printed<T> = serde_json::from_slice(&out)
            .with_context(|| format!("aw {typed} printed something else"))?;
        match printed {
            Printed::Answer { content: [Content { data }] } => Ok(data),
            Printed::CliError { error } => bail!("aw {typed}: {} ({})", error.message, error.code),
        }
    }

    fn say(&self, line: &str) {
        let _turn = self.printing.lock().unwrap_or_else(PoisonError::into_inner);
        // When stdout is gone the play goes on to its end and cleans up.
        let _ = writeln!(io::stdout(), "{line}");
    }

    /// Shows what a role did.
    fn act(&self, role: &str, what: &str, detail: &str, woken: Option<i64>) {
        let woken = woken.map_or(String::new(), |ms| format!("woken in {ms} ms"));
        let first = shown(detail)
            .lines()
            .find(|line| !line.trim().is_empty())
            .unwrap_or_default()
            .to_owned();
        let short: String = first.trim_start_matches(['#', ' ']).chars().take(64).collect();
        self.say(&format!("{role:<11} {woken:<15} {what:<16} {short}"));
        thread::sleep(self.pause);
    }

    /// Shows what a role said.
    fn spoken(&self, role: &str, written: &Wrote, text: &str, woken: Option<i64>) {
        let parked = if written.parked { " (parked)" } else { "" };
        let what = format!("{} {}{parked}", written.argument_seq, written.argument_type);
        self.act(role, &what, text, woken);
    }

    /// Stops whatever still runs and removes every trace.
    fn strike(&self) {
        let stop = |pid: u32| {
            // What is gone need not be stopped.
            let _ = i32::try_from(pid).map(|pid| kill(Pid::from_raw(pid), Signal::SIGTERM));
        };
        {
            let mut playing = self.playing();
            playing.over = true;
            playing.commands.iter().for_each(|pid| stop(*pid));
            stop(playing.server.id());
        }
        let late = Instant::now() + EXIT;
        loop {
            let mut playing = self.playing();
            let gone = playing.server.try_wait().is_ok_and(|status| status.is_some());
            if gone && playing.commands.is_empty() {
                break;
            }
            if Instant::now() > late {
                let _ = playing.server.kill();
                let _ = playing.server.wait();
                break;
            }
            drop(playing);
            thread::sleep(Duration::from_millis(5));
        }
        let _ = fs::remove_dir_all(&self.home);
    }

    fn playing(&self) -> std::sync::MutexGuard<'_, Playing> {
        self.playing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `aw` on the throw-away folder, whatever is set outside. The terminal's Ctrl-C is for the demo
/// alone, which then ends everybody in order.
fn command(program: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let ours = |start: &str| name.to_str().is_some_and(|name| name.starts_with(start));
        if ours("AW_") || ours("DEBATE_") {
            command.env_remove(&name);
        }
    }
    command.env("AWEAVE_HOME", home).process_group(0).stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

/// What a command prints.
#[derive(Deserialize)]
#[serde(untagged)]
enum Printed<T> {
    Answer { content: [Content<T>; 1] },
    CliError { error: Box<Error> },
}

#[derive(Deserialize)]
struct Content<T> {
    data: T,
}

/// What is read of a document that was kept.
#[derive(Deserialize)]
struct Kept {
    document_id: String,
}

/// What is read of a write.
#[derive(Deserialize)]
struct Wrote {
    debate_id: String,
    argument_id: ArgumentIdText,
    argument_seq: u64,
    argument_type: KindText,
    parked: bool,
    next_argument_id_to_wait: ArgumentIdText,
}

/// What is read of a wait.
#[derive(Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
enum Waited {
    NewArgument {
        action: ActionText,
        argument: Box<Argument>,
        next_argument_id_to_wait: ArgumentIdText,
    },
    Timeout,
}

/// An agent that plays a role.
struct Actor {
    stage: Stage,
    role: &'static str,
    debate: String,
    document: String,
}

/// What a wait brought.
struct Cue {
    action: Action,
    /// The argument to answer.
    target: ArgumentIdText,
    next: ArgumentIdText,
    woken: Option<i64>,
}

impl Actor {
    /// Waits until there is something to do, however often that takes.
    fn cue(&self, mut after: Option<ArgumentIdText>) -> anyhow::Result<Cue> {
        for _ in 0..20 {
            let began = Timestamp::now().as_millisecond();
            let mut command = vec![
                "debate",
                "wait",
                "--debate-id",
                &self.debate,
                "--role",
                self.role,
                "--deadline",
                PATIENCE,
            ];
            let id = after.map(|after| after.0.to_string());
            if let Some(id) = &id {
                command.extend(["--argument-id", id]);
            }
            let (action, argument, next) = match self.stage.aw(&command)? {
                Waited::Timeout => continue,
                Waited::NewArgument { action, argument, next_argument_id_to_wait } => {
                    (action, argument, next_argument_id_to_wait)
                }
            };
            let committed = argument.created_at.0.0;
            let woken = (committed > began).then(|| Timestamp::now().as_millisecond() - committed);
            if let Some(woken) = woken {
                self.stage.wakes.lock().unwrap_or_else(PoisonError::into_inner).push(woken);
            }
            let Some(action) = action.known() else { bail!("the server wants {action}") };
            match action {
                Action::Wait
                | Action::WaitForOpponent
                | Action::WaitForProposer
                | Action::WaitForRuling => after = Some(next),
                Action::Respond | Action::AlignToRuling | Action::Rule | Action::DebateClosed => {
                    return Ok(Cue { action, target: argument.id, next, woken });
                }
            }
        }
        bail!("the {} was never called", self.role)
    }

    fn say(&self, command: &[&str], cue: &Cue, text: &str) -> anyhow::Result<ArgumentIdText> {
        let text = text.replace("{plan}", &self.document);
        let target = cue.target.0.to_string();
        let mut arguments = vec!["debate"];
        arguments.extend(command);
        arguments.extend(["--debate-id", &self.debate, "--target-id", &target, "--content", &text]);
        let written: Wrote = self.stage.aw(&arguments)?;
        self.stage.spoken(self.role, &written, &text, cue.woken);
        Ok(written.next_argument_id_to_wait)
    }

    fn revise(&self, version: usize, summary: &str) -> anyhow::Result<()> {
        let text = script::PLAN[version - 1];
        let _: Kept = self.stage.aw(&[
            "docs",
            "submit",
            &self.document,
            "--summary",
            summary,
            "--content",
            text,
        ])?;
        self.stage.act(self.role, "docs submit", &format!("plan v{version}: {summary}"), None);
        Ok(())
    }

    fn propose(&self, motion: ArgumentIdText) -> anyhow::Result<()> {
        let claim = ["submit", "--role", "proposer"];
        let cue = self.cue(Some(motion))?;
        self.revise(2, "one writer, synced commits")?;
        let mut after = self.say(&claim, &cue, script::PROPOSER[0])?;
        let cue = self.cue(Some(after))?;
        after = self.say(&["appeal"], &cue, script::APPEAL)?;
        let cue = self.cue(Some(after))?;
        self.revise(3, "as ruled: thirty days, then an archive file")?;
        after = self.say(&claim, &cue, script::PROPOSER[1])?;
        let cue = self.cue(Some(after))?;
        after = self.say(&claim, &cue, script::PROPOSER[2])?;
        let cue = self.cue(Some(after))?;
        after = self.say(&["request-completion"], &cue, script::RESOLUTION)?;
        self.leave(after)
    }

    fn oppose(&self, writing: &Sender<()>, may_send: &Receiver<()>) -> anyhow::Result<()> {
        let claim = ["submit", "--role", "opponent"];
        let cue = self.cue(None)?;
        let mut after = self.say(&claim, &cue, script::OPPONENT[0])?;
        let cue = self.cue(Some(after))?;
        after = self.say(&claim, &cue, script::OPPONENT[1])?;
        let cue = self.cue(Some(after))?;
        // The text is in hand when the arbitrator intervenes; nothing of it is lost.
        writing.send(())?;
        may_send.recv()?;
        after = self.say(&claim, &cue, script::OPPONENT[2])?;
        let cue = self.cue(Some(after))?;
        after = self.say(&claim, &cue, script::OPPONENT[3])?;
        self.leave(after)
    }

    fn arbitrate(&self, writing: &Receiver<()>, interrupted: &Sender<()>) -> anyhow::Result<()> {
        let cue = self.cue(None)?;
        self.say(&["ruling"], &cue, script::RULINGS[0])?;
        writing.recv()?;
        let stop: Wrote = self.stage.aw(&[
            "debate",
            "intervention",
            "--debate-id",
            &self.debate,
            "--content",
            script::INTERVENTION,
        ])?;
        self.stage.spoken(self.role, &stop, script::INTERVENTION, None);
        interrupted.send(())?;
        let mut cue = self.cue(Some(stop.argument_id))?;
        cue.target = stop.argument_id;
        // The interrupted opponent still gets its word in, and it is parked.
        thread::sleep(Duration::from_millis(300));
        self.say(&["ruling"], &cue, script::RULINGS[1])?;
        Ok(())
    }

    /// Waits until the debate is closed.
    fn leave(&self, after: ArgumentIdText) -> anyhow::Result<()> {
        let cue = self.cue(Some(after))?;
        if cue.action != Action::DebateClosed {
            bail!("the {} was to {} after {}", self.role, cue.action, cue.next.0);
        }
        self.stage.act(self.role, "debate_closed", "", cue.woken);
        Ok(())
    }
}
