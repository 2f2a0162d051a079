//! Asks git about the user's repository, and starts nothing else.
//!
//! A repository that came as an archive brings its own `.git/config`. It may name programs for git to start.
//! Only `rev-parse`, `symbolic-ref`, `config --get`, `config --get-all`, `log` and `ls-files` are called: they need no
//! pager, editor, filter, textconv, credential or signature program. What is left is switched off in [`command`].

use std::env;
use std::ffi::OsStr;
use std::fmt::{self, Display, Formatter};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::names;
use crate::programs;

/// A config can make git read a pipe that nobody writes to, so no call may take longer.
const PATIENCE: Duration = Duration::from_secs(60);
/// The longest listing: 100,000 files with paths of 640 bytes.
const MAX_LISTING: u64 = 64 * 1024 * 1024;

/// Why git gave no answer.
#[derive(Debug)]
pub(crate) enum GitError {
    /// There is no program `git`.
    NotInstalled,
    /// Git ended with this exit code and this first line of stderr.
    Failed(Option<i32>, String),
    /// Git took longer than a minute.
    TimedOut,
    /// The listing is longer than 64 MiB. This is its beginning.
    TooLong(Vec<u8>),
}

impl Display for GitError {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            GitError::NotInstalled => out.write_str("git is not installed"),
            GitError::Failed(_, message) => out.write_str(message),
            GitError::TimedOut => out.write_str("git has not answered for a minute"),
            GitError::TooLong(_) => out.write_str("git lists too many files"),
        }
    }
}

/// Returns the nearest folder above or at this one that has an entry `.git`.
pub(crate) fn root_above(folder: &Path) -> Option<PathBuf> {
    let found = folder.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok());
    found.map(Path::to_owned)
}

/// Checks that git takes this folder as a work tree whose files it may list.
///
/// `core.worktree` in a hostile config can name any other folder, and a broken `.git` makes git look further up.
/// Git itself refuses repositories of other users (`safe.directory`).
pub(crate) fn check_root(root: &Path) -> Result<(), GitError> {
    let mut answer = ask(root, &["rev-parse", "--show-toplevel"])?;
    if answer.last() == Some(&b'\n') {
        answer.pop();
    }
    let named = Path::new(OsStr::from_bytes(&answer)).metadata();
    let same = match (root.metadata(), named) {
        (Ok(root), Ok(named)) => root.dev() == named.dev() && root.ino() == named.ino(),
        _ => false,
    };
    if same {
        return Ok(());
    }
    let elsewhere = format!("the work tree of {} lies elsewhere", names::shown(root));
    Err(GitError::Failed(None, elsewhere))
}

/// A file that git lists.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Listed {
    /// Path relative to the root. A path from a hostile index can be anything.
    pub(crate) path: PathBuf,
    /// Mode, object and stage in the index; empty for a file that is not tracked.
    pub(crate) staged: String,
}

/// Lists tracked files, those of submodules too, and files that are neither tracked nor ignored. Sorted by path.
/// A folder among them, with a slash at its end, is a repository of its own.
pub(crate) fn list(root: &Path) -> Result<Vec<Listed>, GitError> {
    // `--sparse`: folders outside a sparse checkout are not on disk. Without it git would need their trees, which
    // a partial clone has to fetch. Versions before 2.36 know no `--sparse`; a submodule may be broken.
    let tries: [&[&str]; 3] = [
        &["ls-files", "-z", "--stage", "--cached", "--recurse-submodules", "--sparse"],
        &["ls-files", "-z", "--stage", "--cached", "--sparse"],
        &["ls-files", "-z", "--stage", "--cached"],
    ];
    let mut tracked = Err(GitError::NotInstalled);
    for arguments in tries {
        tracked = ask(root, arguments);
        if !matches!(tracked, Err(GitError::Failed(..))) {
            break;
        }
    }
    let others = ask(root, &["ls-files", "-z", "--others", "--exclude-standard"])?;
    let mut listed = Vec::new();
    for line in others.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
        let path = PathBuf::from(OsStr::from_bytes(line));
        listed.push(Listed { path, staged: String::new() });
    }
    listed.extend(staged(&tracked?));
    listed.sort();
    // A conflict has up to three entries for one path.
    listed.dedup_by(|next, kept| {
        let same = next.path == kept.path;
        if same {
            kept.staged = format!("{} {}", kept.staged, next.staged);
        }
        same
    });
    Ok(listed)
}

/// Whether the index has a link at this path, in any spelling. An index that git cannot list may have one.
pub(crate) fn has_link(root: &Path, path: &Path) -> bool {
    let is_it = |listed: &Listed| {
        listed.staged.starts_with("120000 ")
            && names::fold(listed.path.as_os_str()) == names::fold(path.as_os_str())
    };
    match ask(root, &["ls-files", "-z", "--stage"]) {
        Ok(answer) => staged(&answer).any(|listed| is_it(&listed)),
        Err(GitError::NotInstalled) => false,
        Err(GitError::Failed(..) | GitError::TimedOut | GitError::TooLong(_)) => true,
    }
}

/// Reads the beginning of a listing that was too long, for a message.
pub(crate) fn cut_listing(answer: &[u8]) -> Vec<Listed> {
    let listed: Vec<_> = staged(answer).collect();
    if !listed.is_empty() {
        return listed;
    }
    let lines = answer.split(|byte| *byte == 0).filter(|line| !line.is_empty());
    let path = |line: &[u8]| PathBuf::from(OsStr::from_bytes(line));
    lines.map(|line| Listed { path: path(line), staged: String::new() }).collect()
}

/// Reads lines of `ls-files --stage`: mode, object, stage, tab, path.
fn staged(answer: &[u8]) -> impl Iterator<Item = Listed> + '_ {
    answer.split(|byte| *byte == 0).filter_map(|line| {
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        let path = PathBuf::from(OsStr::from_bytes(&line[tab + 1..]));
        Some(Listed { path, staged: String::from_utf8_lossy(&line[..tab]).into_owned() })
    })
}

/// Runs git in this folder and returns its stdout.
pub(crate) fn ask(root: &Path, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
    ask_within(root, arguments, PATIENCE)
}

pub(crate) fn ask_within(
    root: &Path,
    arguments: &[&str],
    patience: Duration,
) -> Result<Vec<u8>, GitError> {
    let failed = |error: io::Error| GitError::Failed(None, format!("git: {error}"));
    if programs::find("git").is_none() {
        return Err(GitError::NotInstalled);
    }
    let mut child = command(root).args(arguments).spawn().map_err(failed)?;
    let until = Instant::now() + patience;
    // Threads read both streams, so that neither can fill up, and a stream that never ends stops nothing.
    let stdout = collect(child.stdout.take(), MAX_LISTING + 1);
    let stderr = collect(child.stderr.take(), 1024 * 1024);
    let out = stdout.recv_timeout(patience);
    let whole = matches!(&out, Ok(Ok(bytes)) if bytes.len() as u64 <= MAX_LISTING);
    let mut status = None;
    while whole && status.is_none() && Instant::now() < until {
        status = child.try_wait().map_err(failed)?;
        if status.is_none() {
            thread::sleep(Duration::from_millis(1));
        }
    }
    if status.is_none() {
        // It is this process's own child, and not waited for yet, so the id is still its own.
        let _ = child.kill();
        let _ = child.wait();
    }
    match (out, status) {
        (Ok(Ok(bytes)), Some(status)) if status.success() => Ok(bytes),
        (Ok(Ok(_)), Some(status)) => {
            let said = stderr.recv_timeout(Duration::from_secs(1));
            let said = said.ok().and_then(Result::ok).unwrap_or_default();
            let said = String::from_utf8_lossy(&said).into_owned();
            let line = said.lines().next().unwrap_or("git failed");
            Err(GitError::Failed(status.code(), names::shown(Path::new(line))))
        }
        (Ok(Ok(bytes)), None) if !whole => Err(GitError::TooLong(bytes)),
        (Ok(Err(error)), _) => Err(failed(error)),
        (Ok(Ok(_)), None) | (Err(_), _) => Err(GitError::TimedOut),
    }
}

/// Git in this folder, with everything off that could start a program or write.
fn command(root: &Path) -> Command {
    let mut git = programs::command("git");
    // GIT_DIR, GIT_CONFIG_*, GIT_TRACE* and others would change the answer or write files.
    for (name, _) in env::vars_os() {
        if name.as_bytes().starts_with(b"GIT_") {
            git.env_remove(name);
        }
    }
    git.current_dir(root)
        .env("LC_ALL", "C")
        // Neither the listing nor a missing object of a partial clone may reach a remote: its config names
        // programs (`core.sshCommand`, `ext::`, `remote.*.uploadpack`).
        .env("GIT_ALLOW_PROTOCOL", "none")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        // Ctrl-C goes to the runner, which ends in its own way; git without an answer would be a failure.
        .process_group(0)
        .args(["--no-optional-locks", "--no-pager", "--literal-pathspecs"])
        .args(["-c", "core.fsmonitor=false"])
        .args(["-c", "core.hooksPath=/dev/null"])
        // A folder of the checkout that looks like a bare repository has a config, too.
        .args(["-c", "safe.bareRepository=explicit"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    git
}

fn collect<R: Read + Send + 'static>(
    from: Option<R>,
    limit: u64,
) -> mpsc::Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = from.map_or(Ok(0), |from| from.take(limit).read_to_end(&mut bytes));
        // Nobody listens after a timeout.
        let _ = sender.send(read.map(|_| bytes));
    });
    receiver
}

/// The commit of HEAD, if there is one.
pub(crate) fn commit(root: &Path) -> Option<String> {
    let answer = ask(root, &["rev-parse", "--verify", "--quiet", "HEAD"]).ok()?;
    let commit = String::from_utf8(answer).ok()?;
    Some(commit.trim().to_owned()).filter(|commit| !commit.is_empty())
}

/// The newest commits, a line each.
pub(crate) fn log(root: &Path) -> Option<Vec<u8>> {
    ask(root, &["log", "--max-count=50", "--no-show-signature", "--format=%h %cs %s"]).ok()
}
