//! The folder of a run, below `runs` in the data folder: its state, its lock and its turns.
//!
//! `run.json` is replaced before each step that it describes, so a run that was killed at any moment
//! goes on from it.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use aw_core::Role;

use super::program::Tokens;
use crate::api::types::TypeTexts;

/// The folder of one run. While it exists, no other runner has the run.
#[derive(Debug)]
pub(super) struct RunFolder {
    path: PathBuf,
    /// Held until the runner ends, in any way.
    _lock: File,
}

/// Why the folder of a run cannot be used.
#[derive(Debug)]
pub(super) enum NotTaken {
    /// Another runner has it.
    Busy,
    /// There is no such run.
    Missing,
    /// A file cannot be made or read.
    Io(io::Error),
}

impl From<io::Error> for NotTaken {
    fn from(error: io::Error) -> Self {
        NotTaken::Io(error)
    }
}

/// `run.json`
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct RunState {
    /// The debate.
    pub(super) debate_id: String,
    /// Its title.
    pub(super) title: String,
    /// Its type.
    pub(super) debate_type: String,
    /// Its texts, when it is not a built-in one.
    pub(super) type_texts: Option<TypeTexts>,
    /// The user's question about the plan.
    pub(super) ask: Option<String>,
    /// The settings of its points.
    pub(super) rounds: Option<u64>,
    pub(super) blocking: Option<String>,
    /// The plan; none if the run drives seats of a debate that others opened.
    pub(super) plan: Option<PlanState>,
    /// The project of the run, to find it by.
    pub(super) project: PathBuf,
    /// The folder whose files agents see, and whether git lists them.
    pub(super) root: PathBuf,
    pub(super) is_repository: bool,
    /// The globs of `--files`.
    pub(super) files: Vec<String>,
    /// The seats that the run drives.
    pub(super) seats: BTreeMap<String, SeatState>,
    /// The arbitrator: `me`, `none`, or `agent` if the run drives the seat.
    pub(super) arbitrator: String,
    /// The limits, in seconds and tokens.
    pub(super) max_time_s: u64,
    pub(super) max_turn_s: u64,
    pub(super) max_tokens: Option<u64>,
    /// The time used so far, in which no person was awaited.
    pub(super) used_ms: u64,
    /// The total time since the first start, without the breaks between runs.
    pub(super) wall_ms: u64,
    /// The number of the next turn.
    pub(super) next_turn: u32,
    /// Whether the debate was opened.
    pub(super) opened: bool,
    /// Starts that failed, over the whole run.
    pub(super) failed_starts: u32,
    /// The turn that was begun and has not ended.
    pub(super) current: Option<CurrentTurn>,
    /// The process of a runner in the background.
    pub(super) runner: Option<ProcessMark>,
    /// Remarks for the user.
    pub(super) notes: Vec<String>,
    /// The files that were left out of the copies.
    pub(super) left_out: u64,
    /// The files that the run has written after the debate was closed.
    pub(super) output: Option<PathBuf>,
    pub(super) report: Option<PathBuf>,
    /// Whether the run is over: the debate is closed and all files are written.
    pub(super) finished: bool,
}

/// The plan of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct PlanState {
    /// The file of the user.
    pub(super) file: PathBuf,
    /// The file that it led to at the start, without links.
    pub(super) target: PathBuf,
    /// Its path in the copies.
    pub(super) relative: PathBuf,
    /// The file for the newest version, if it is another one.
    pub(super) output: Option<PathBuf>,
    /// Whether the newest version replaces the plan at the end.
    pub(super) writes: bool,
    /// The commit of its repository at the start.
    pub(super) commit: Option<String>,
    /// The request that makes the document, and the document once it is made.
    pub(super) document_request: String,
    pub(super) document_id: Option<String>,
}

/// A seat that the run drives.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct SeatState {
    /// The agent as it was asked for: a name, perhaps with a model.
    pub(super) asked: String,
    /// The agent's name, the version of its program, and the model that it reported.
    pub(super) agent: String,
    pub(super) version: Option<String>,
    pub(super) model: Option<String>,
    pub(super) family: String,
    /// The session that the next turn goes on with, and the newest argument that it knows.
    pub(super) session: Option<String>,
    pub(super) knows_seq: u64,
    /// The tokens that the session has used.
    pub(super) session_tokens: Tokens,
    pub(super) turns: u32,
    pub(super) starts: u32,
    pub(super) repairs: u32,
    pub(super) tokens: u64,
    pub(super) cost_usd: Option<f64>,
}

/// A turn that was begun.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct CurrentTurn {
    /// Its number.
    pub(super) number: u32,
    /// The seat.
    pub(super) seat: String,
    /// The argument that it answers.
    pub(super) target: String,
    /// The author of the final message that was kept.
    pub(super) author: Option<String>,
    /// The process group of its program, and the program itself.
    pub(super) group: Option<ProcessMark>,
    pub(super) program: Option<ProcessMark>,
}

/// Identifies a process, even if another one gets its id later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ProcessMark {
    pub(super) pid: u32,
    /// When it began, as the system writes it.
    pub(super) began: String,
}

impl ProcessMark {
    /// The mark of a process that runs.
    pub(super) fn of(pid: u32) -> Option<Self> {
        crate::process::began(pid).map(|began| ProcessMark { pid, began })
    }

    /// Whether the process still runs.
    pub(super) fn runs(&self) -> bool {
        crate::process::began(self.pid).as_deref() == Some(self.began.as_str())
    }
}

impl RunFolder {
    /// Takes the folder of this run, which is made if `new`.
    pub(super) fn take(runs: &Path, debate: &str, new: bool) -> Result<Self, NotTaken> {
        let path = runs.join(debate);
        if new {
            private_folder(&path.join("copies"))?;
        } else if !path.join("run.json").is_file() {
            return Err(NotTaken::Missing);
        }
        // Agents see this path, which must be the one that the system resolves.
        let path = fs::canonicalize(path)?;
        let lock = private_file().create(true).truncate(false).open(path.join("lock"))?;
        match lock.try_lock() {
            Ok(()) => Ok(RunFolder { path, _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(NotTaken::Busy),
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the state of the run.
    pub(super) fn state(&self) -> io::Result<RunState> {
        read_state(&self.path)
    }

    /// Replaces the state of the run.
    pub(super) fn keep(&self, state: &RunState) -> io::Result<()> {
        let mut json = serde_json::to_vec_pretty(state)?;
        json.push(b'\n');
        replace(&self.path.join("run.json"), &json)
    }

    /// The copy of the project that no agent can reach.
    pub(super) fn base(&self) -> PathBuf {
        self.path.join("base")
    }

    /// The copy of a seat.
    pub(super) fn copy(&self, seat: Role) -> PathBuf {
        self.path.join("copies").join(seat.as_str())
    }

    /// The text of the plan at the start.
    pub(super) fn original(&self) -> PathBuf {
        self.path.join("plan.md")
    }

    /// The folder of a turn, which is made if need be.
    pub(super) fn turn(&self, number: u32, seat: &str) -> io::Result<PathBuf> {
        let folder = self.path.join("turns").join(format!("{number:04}-{seat}"));
        private_folder(&folder)?;
        Ok(folder)
    }

    /// Adds a line to the log of the run.
    pub(super) fn log(&self, line: &str) -> io::Result<()> {
        let mut log = private_file().create(true).append(true).open(self.path.join("run.log"))?;
        let at = jiff::Timestamp::now();
        writeln!(log, "{at:.3} {}", line.replace('\n', " "))
    }

    /// Removes everything that only an unfinished run needs.
    pub(super) fn clean(&self) {
        for name in ["base", "base.part", "copies"] {
            // What cannot be removed goes later with the whole folder.
            let _ = fs::remove_dir_all(self.path.join(name));
        }
    }
}

/// The folder of a live check, beside those of the runs. It goes when the check ends.
#[derive(Debug)]
pub(super) struct CheckFolder {
    path: PathBuf,
    /// Held by all checks together, until they end in any way.
    _lock: File,
}

/// The beginning of the names of such folders, and the file with their lock.
const CHECK: &str = "check-";
const CHECK_LOCK: &str = "checks.lock";

impl CheckFolder {
    /// Makes a folder.
    pub(super) fn make(runs: &Path) -> io::Result<Self> {
        private_folder(runs)?;
        forget_checks(runs);
        let lock = private_file().create(true).truncate(false).open(runs.join(CHECK_LOCK))?;
        lock.lock_shared()?;
        let path = runs.join(format!("{CHECK}{}", Uuid::new_v4()));
        private_folder(&path)?;
        // Agents see this path, which must be the one that the system resolves.
        Ok(CheckFolder { path: fs::canonicalize(path)?, _lock: lock })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for CheckFolder {
    fn drop(&mut self) {
        // What cannot be removed goes with the next check or run.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes the folders that killed checks have left behind, unless a check is under way.
fn forget_checks(runs: &Path) {
    // Without a lock there was no check.
    let Ok(lock) = private_file().open(runs.join(CHECK_LOCK)) else { return };
    if lock.try_lock().is_err() {
        return;
    }
    for entry in fs::read_dir(runs).into_iter().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(CHECK.as_bytes()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Reads the state of the run in this folder, without its lock.
pub(super) fn read_state(folder: &Path) -> io::Result<RunState> {
    serde_json::from_slice(&fs::read(folder.join("run.json"))?).map_err(io::Error::from)
}

/// The runs on this machine, the newest first.
pub(super) fn all(runs: &Path) -> Vec<(PathBuf, RunState)> {
    let Ok(folders) = fs::read_dir(runs) else { return Vec::new() };
    let mut found: Vec<(SystemTime, PathBuf, RunState)> = folders
        .flatten()
        .filter_map(|entry| {
            let path = entry.path();
            let changed = fs::metadata(path.join("run.json")).and_then(|file| file.modified());
            Some((changed.ok()?, path.clone(), read_state(&path).ok()?))
        })
        .collect();
    found.sort_by_key(|(changed, ..)| std::cmp::Reverse(*changed));
    found.into_iter().map(|(_, path, state)| (path, state)).collect()
}

/// Removes the runs that were finished longer ago than this, and what killed checks have left behind.
pub(super) fn forget_older(runs: &Path, than: Duration) {
    forget_checks(runs);
    for (path, state) in all(runs) {
        let changed = fs::metadata(path.join("run.json")).and_then(|file| file.modified());
        let age = changed.ok().and_then(|changed| changed.elapsed().ok()).unwrap_or_default();
        if state.finished && age > than {
            let _ = fs::remove_dir_all(path);
        }
    }
}

/// Replaces a file completely, even if the machine stops meanwhile.
pub(super) fn replace(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut draft = file.as_os_str().to_owned();
    draft.push(".part");
    let draft = PathBuf::from(draft);
    let mut written = fresh_file(&draft)?;
    written.write_all(bytes)?;
    written.sync_all()?;
    fs::rename(&draft, file)?;
    match file.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// Reads a file that may be missing.
pub(super) fn read_if_there(file: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(missing) if missing.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Makes a folder, and those above it, private to their owner.
pub(super) fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Makes an empty file that is private to its owner.
pub(super) fn fresh_file(path: &Path) -> io::Result<File> {
    private_file().create(true).truncate(true).open(path)
}

fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    options
}
