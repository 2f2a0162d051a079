//! Runs a whole debate: starts the agent programs of its seats, one process a turn, and posts each
//! final message.
//!
//! - [`agents`] finds the agents, [`program`] knows how each program is started and read.
//! - [`project`] names the repository of a folder.
//! - `copies` makes the folders that agents work in, `tree` sees whether the user's project has changed.
//! - `helper` and `supervisor` keep a program in a process group that ends with the runner.
//! - `prompt` and `words` write what models read and what the runner itself posts.
//! - `folder` keeps the state of a run, from which it goes on after any kind of end.
//! - `turn` plays one turn, `post` makes its final message an argument, `drive` takes turn after turn.
//!
//! Files of the project, words of agents and the output of programs are hostile: nothing of theirs is
//! run or followed. Nothing is printed here: [`watch`] passes on what a person may see.

pub mod agents;
mod check;
pub mod copies;
mod drive;
mod folder;
pub mod helper;
mod outcome;
mod post;
pub mod program;
pub mod project;
mod prompt;
pub mod server;
mod start;
mod supervisor;
pub mod tree;
mod turn;
pub mod watch;
mod words;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use aw_core::Role;

use crate::settings::RunSettings;
use agents::{Agent, AgentEnvironment};
pub use check::{LiveCheck, check};
use folder::{RunFolder, RunState, SeatState};
pub use outcome::{RunCheck, RunData, SeatData};
use server::Line;
pub use start::{Asked, NotStarted, RunLimits, Seats, forget, runs_of, stop};
use tree::Tree;
use watch::{StopRequest, Watcher};

/// The hidden command that makes the binary a helper.
pub const HELPER: &str = "lead-group";

/// The variable that marks an agent program of a run.
pub const MARK: &str = "AW_RUN";

/// The surroundings of a run.
pub struct RunSurroundings {
    /// The way to the server.
    pub line: Arc<dyn Line>,
    /// The folder of all runs.
    pub runs: PathBuf,
    /// The agents of the user.
    pub settings: RunSettings,
    /// The language of the debate.
    pub debate_language: String,
    /// How long the run waits for a person; none for ever.
    pub patience: Option<Duration>,
    /// Shows what happens.
    pub watcher: Watcher,
    /// Whether the user wants the run to stop.
    pub stop: StopRequest,
}

/// A run that goes on.
pub struct Runner {
    line: Arc<dyn Line>,
    folder: RunFolder,
    state: RunState,
    agents: BTreeMap<&'static str, Agent>,
    environment: AgentEnvironment,
    debate_language: String,
    patience: Option<Duration>,
    watcher: Watcher,
    stop: StopRequest,
    /// Set when the debate was closed or deleted while a program worked.
    over: Arc<AtomicBool>,
    tree: Option<Tree>,
    /// An answer that could not be written to disk.
    unkept: Option<turn::AgentAnswer>,
    /// Helpers that are ending the processes left behind by their programs.
    leaving: Vec<JoinHandle<()>>,
    began: Instant,
    /// The time that this runner has waited for a person.
    awaited: Duration,
    /// The figures of earlier runners of this run.
    earlier_used: u64,
    earlier_wall: u64,
}

/// Why a run has stopped before its debate was closed.
#[derive(Debug)]
pub struct RunStopped {
    /// The kind of end.
    pub exit: Exit,
    /// The kind of failure.
    pub kind: &'static str,
    /// The seat that it is about.
    pub seat: Option<Role>,
    /// Details, perhaps in several lines.
    pub detail: String,
    /// The event and the next step, in one sentence.
    pub message: String,
}

/// The kinds of an end before the debate was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// A RULING is owed and no role gives it, or a budget is used up.
    Undecided,
    /// An agent has failed, or the user's project has changed.
    Failed,
    /// The user has stopped the run.
    Interrupted,
    /// The server or the disk has failed.
    Server,
    /// The server has refused a token.
    Refused,
    /// The server has refused the run's input.
    Input,
    /// The debate was deleted.
    Gone,
}

impl Runner {
    fn seat(&self, seat: Role) -> &SeatState {
        &self.state.seats[seat.as_str()]
    }

    fn seat_mut(&mut self, seat: Role) -> &mut SeatState {
        self.state.seats.entry(seat.as_str().to_owned()).or_default()
    }

    fn drives(&self, seat: Role) -> bool {
        self.state.seats.contains_key(seat.as_str())
    }

    fn agent(&self, seat: Role) -> Result<&Agent, RunStopped> {
        self.agents.get(seat.as_str()).ok_or_else(|| RunStopped {
            exit: Exit::Failed,
            kind: "crash",
            seat: Some(seat),
            detail: String::new(),
            message: format!("no agent plays the {seat}"),
        })
    }

    fn log(&self, line: &str) {
        // The log is for people; the run does not depend on it.
        let _ = self.folder.log(line);
    }

    /// Keeps the state of the run, with the time that it has used.
    fn keep(&mut self) -> Result<(), RunStopped> {
        self.state.wall_ms = self.earlier_wall + millis(self.began.elapsed());
        self.state.used_ms =
            self.earlier_used + millis(self.began.elapsed().saturating_sub(self.awaited));
        self.folder.keep(&self.state).map_err(RunStopped::from)
    }

    fn tokens(&self) -> u64 {
        self.state.seats.values().map(|seat| seat.tokens).sum()
    }

    fn interrupted(&self) -> RunStopped {
        RunStopped {
            exit: Exit::Interrupted,
            kind: "interrupted",
            seat: None,
            detail: String::new(),
            message: "the run was stopped; the debate is kept".to_owned(),
        }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// A time as a person writes it: `90 s`, `20 min`, `2 h`.
pub fn time_in_words(time: Duration) -> String {
    match time.as_secs() {
        seconds if seconds >= 7_200 && seconds % 3_600 == 0 => format!("{} h", seconds / 3_600),
        seconds if seconds >= 120 && seconds % 60 == 0 => format!("{} min", seconds / 60),
        seconds => format!("{seconds} s"),
    }
}
