//! The files that make git start programs: configs, hooks and attributes of a project's repositories.
//!
//! Git itself is asked for the folder of the hooks only. All else is found as git finds it, so that a `.git` that
//! leads elsewhere is noticed, too.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::git::{self, GitError, Listed};
use super::names;
use crate::files;

/// The longest `.git` or `commondir` that is read: a path.
const MAX_POINTER: u64 = 8 * 1024;

/// Files of a git folder, of which some need not be there: git obeys one as soon as it is.
const FILES: [&str; 4] = ["config", "config.worktree", "commondir", "gitdir"];

/// Folders of a git folder with files that git starts, or that say what it starts.
const FOLDERS: [&str; 2] = ["hooks", "info"];

/// Returns the absolute paths of these files for the repository at `root`, its submodules and the repositories in
/// it. `listed`: the files that git lists there.
pub(crate) fn of(root: &Path, listed: &[Listed]) -> Result<BTreeSet<PathBuf>, GitError> {
    let mut found = BTreeSet::new();
    for work_tree in work_trees(root, listed) {
        let git = work_tree.join(".git");
        if git.symlink_metadata().is_err() {
            continue;
        }
        let folder = match pointer(&git, "gitdir: ") {
            Some(target) => work_tree.join(target),
            None => git.clone(),
        };
        found.insert(git);
        let Ok(folder) = fs::canonicalize(folder) else { continue };
        // A linked work tree shares most of them with the others.
        if let Some(common) = pointer(&folder.join("commondir"), "")
            && let Ok(common) = fs::canonicalize(folder.join(common))
        {
            add_settings(&common, &mut found);
        }
        add_settings(&folder, &mut found);
    }
    if let Some(hooks) = hooks_path(root)? {
        add_files(&hooks, &mut found);
    }
    let targets: Vec<PathBuf> = found
        .iter()
        .filter(|path| path.is_symlink())
        .filter_map(|link| fs::canonicalize(link).ok())
        .collect();
    found.extend(targets);
    Ok(found)
}

/// Folders that may be a work tree: the root, and all folders of listed files.
fn work_trees<'a>(root: &Path, listed: &'a [Listed]) -> BTreeSet<PathBuf> {
    let mut folders: BTreeSet<&'a Path> = BTreeSet::new();
    for file in listed.iter().filter(|file| names::goes_down(&file.path)) {
        // A repository that is not entered is listed as one entry.
        let is_repository =
            file.staged.starts_with("160000 ") || file.path.as_os_str().as_bytes().ends_with(b"/");
        let first = if is_repository { Some(file.path.as_path()) } else { file.path.parent() };
        let above = first.into_iter().flat_map(Path::ancestors);
        for folder in above.take_while(|folder| !folder.as_os_str().is_empty()) {
            if !folders.insert(folder) {
                break;
            }
        }
    }
    folders.into_iter().map(|folder| root.join(folder)).chain([root.to_owned()]).collect()
}

/// Reads the path in a file that leads to another folder.
fn pointer(file: &Path, mark: &str) -> Option<PathBuf> {
    let text = files::read(file, MAX_POINTER).ok()?;
    let path = text.strip_prefix(mark.as_bytes())?.trim_ascii_end();
    Some(PathBuf::from(OsStr::from_bytes(path)))
}

/// The folder of `core.hooksPath`, if that is set.
fn hooks_path(root: &Path) -> Result<Option<PathBuf>, GitError> {
    let answer = git::ask(root, &["config", "--null", "--path", "--get-all", "core.hooksPath"])?;
    let mut paths: Vec<&[u8]> = answer.split(|byte| *byte == 0).collect();
    // After the last value there is nothing, and the last value is the one that `git::ask` sets.
    paths.truncate(paths.len().saturating_sub(2));
    Ok(paths.last().map(|path| root.join(OsStr::from_bytes(path))))
}

fn add_settings(folder: &Path, found: &mut BTreeSet<PathBuf>) {
    found.extend(FILES.iter().map(|name| folder.join(name)));
    for name in FOLDERS {
        add_files(&folder.join(name), found);
    }
}

fn add_files(folder: &Path, found: &mut BTreeSet<PathBuf>) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    found.extend(entries.map(|entry| entry.path()));
}
