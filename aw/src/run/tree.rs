//! The user's own tree, looked at before and after a turn.
//!
//! `git status` is not called. For a file whose times differ from the index it runs the clean filter that the
//! repository's config names, and it rewrites the index if it may. Three things together show all that it
//! shows: HEAD, the index as `ls-files --stage` lists it, and size and times of each file that git lists. The
//! bytes of the index file are no help: each `git status` of an editor rewrites them.
//!
//! A file that makes git start a program counts, too: the user's next git command would obey it.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::copies::git::{self, GitError, Listed};
use super::copies::{git_settings, shown};

/// The files to look at.
#[derive(Debug, Clone, Copy)]
pub enum Watched<'a> {
    /// Those that git lists, with HEAD, the index, and the files that make git start programs.
    Repository,
    /// These, relative to the root.
    Files(&'a [PathBuf]),
}

/// The state of the user's project at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    head: Option<String>,
    files: BTreeMap<PathBuf, State>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct State {
    /// Mode, object and stage in the index.
    staged: String,
    /// `None`: not on disk.
    disk: Option<Disk>,
}

/// `ctime` is there because a program can set `mtime` back.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Disk {
    mode: u32,
    size: u64,
    mtime: (i64, i64),
    ctime: (i64, i64),
}

/// The longest list of changes.
const MAX_CHANGES: usize = 100;

impl Tree {
    /// Reads the state of the project at `root`. The files in `except` do not count: the plan,
    /// under all its names.
    pub fn look(root: &Path, watched: Watched<'_>, except: &[&Path]) -> Result<Tree, String> {
        let (head, listed): (_, Vec<_>) = match watched {
            Watched::Repository => {
                let listed = git::list(root).map_err(|error| error.to_string())?;
                let settings =
                    git_settings::of(root, &listed).map_err(|error| error.to_string())?;
                let settings = settings.into_iter().map(|place| {
                    let path = place.strip_prefix(root).map(Path::to_owned).unwrap_or(place);
                    Listed { path, staged: String::new() }
                });
                // Git may list one of them. Then its place in the index counts.
                let all = settings.chain(listed).collect();
                (Some(head(root).map_err(|error| error.to_string())?), all)
            }
            Watched::Files(files) => {
                let listed = |path: &PathBuf| Listed { path: path.clone(), staged: String::new() };
                (None, files.iter().map(listed).collect())
            }
        };
        let mut files = BTreeMap::new();
        for Listed { path, staged } in listed {
            let place = root.join(&path);
            if except.iter().any(|except| **except == *place) {
                continue;
            }
            let disk = fs::symlink_metadata(&place).ok().map(|found| Disk::of(&found));
            files.insert(path, State { staged, disk });
        }
        Ok(Tree { head, files })
    }

    /// Describes what has changed since an earlier look, a line for each file. Empty: nothing.
    pub fn changes_since(&self, earlier: &Tree) -> Vec<String> {
        let mut changes = Vec::new();
        if self.head != earlier.head {
            let name = |head: &Option<String>| head.clone().unwrap_or_default();
            changes.push(format!("HEAD: {} → {}", name(&earlier.head), name(&self.head)));
        }
        let none = State { staged: String::new(), disk: None };
        let before = |path: &PathBuf| earlier.files.get(path).unwrap_or(&none);
        let gone = earlier.files.keys().filter(|path| !self.files.contains_key(*path));
        let mut paths: Vec<_> = self.files.keys().chain(gone).collect();
        paths.sort();
        let mut more = 0;
        for path in paths {
            let (old, new) = (before(path), self.files.get(path).unwrap_or(&none));
            let word = match (&old.disk, &new.disk) {
                (None, Some(_)) => "new",
                (Some(_), None) => "removed",
                (Some(old), Some(new)) if old != new => "changed",
                _ if old.staged != new.staged => "staged",
                _ => continue,
            };
            if changes.len() < MAX_CHANGES {
                changes.push(format!("{word}: {}", shown(path)));
            } else {
                more += 1;
            }
        }
        if more > 0 {
            changes.push(format!("and {more} more"));
        }
        changes
    }
}

impl Disk {
    fn of(found: &Metadata) -> Disk {
        if found.is_dir() {
            // Changes in a nested repository are not listed either.
            return Disk { mode: found.mode(), size: 0, mtime: (0, 0), ctime: (0, 0) };
        }
        Disk {
            mode: found.mode(),
            size: found.len(),
            mtime: (found.mtime(), found.mtime_nsec()),
            ctime: (found.ctime(), found.ctime_nsec()),
        }
    }
}

/// Returns the branch and the commit of HEAD. One of them may be missing: a detached HEAD, no commit yet.
fn head(root: &Path) -> Result<String, GitError> {
    let ask = |arguments: &[&str]| match git::ask(root, arguments) {
        Ok(answer) => Ok(String::from_utf8_lossy(&answer).trim_end().to_owned()),
        Err(GitError::Failed(Some(1), _)) => Ok(String::new()),
        Err(error) => Err(error),
    };
    let branch = ask(&["symbolic-ref", "-q", "HEAD"])?;
    let commit = ask(&["rev-parse", "-q", "--verify", "HEAD"])?;
    Ok(format!("{branch} {commit}").trim().to_owned())
}
