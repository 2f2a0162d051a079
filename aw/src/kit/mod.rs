//! The agent kit: the texts and settings that turn a coding agent into a debater.
//!
//! - [`texts`] has the embedded texts, [`types`] the types of debate, [`rules`] the rules of a role
//!   and their origin. [`quoting`] marks the words of others.
//! - [`host`] lists the agent programs and the files that each reads.
//! - [`plan`] works out which files change, [`edit`] inserts texts into files of others and removes
//!   them, [`json`] reads JSON with comments, `apply` writes the files, and [`manifest`] records them.
//!
//! Nothing is printed here.

pub mod allow;
mod apply;
pub mod edit;
pub mod host;
pub mod json;
pub mod manifest;
pub mod plan;
pub mod quoting;
pub mod rules;
pub mod texts;
pub mod types;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::unistd::geteuid;

/// The size limit for files of hosts. The state of Claude Code can be large.
pub const SETTINGS_LIMIT: u64 = 64 * 1024 * 1024;

/// The project that a folder belongs to: the nearest folder above it with a `.git` or an `.aweave`,
/// else the folder itself.
///
/// A `.git` or `.aweave` of another user does not count: in a folder that everybody may write to, such
/// as `/tmp`, it would decide the project of others.
pub fn project_of(folder: &Path, data_folder: &Path) -> PathBuf {
    let owner = |path: &Path| fs::symlink_metadata(path).ok().map(|about| about.uid());
    let known = [Some(geteuid().as_raw()), Some(0), owner(folder)];
    let counts = |mark: &Path| owner(mark).is_some_and(|uid| known.contains(&Some(uid)));
    let is_root = |above: &&Path| {
        let (git, own) = (above.join(".git"), above.join(".aweave"));
        (git.exists() && counts(&git)) || (own.is_dir() && own != data_folder && counts(&own))
    };
    folder.ancestors().find(is_root).unwrap_or(folder).to_owned()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::chown;

    use super::*;

    #[test]
    fn a_git_folder_of_another_user_makes_no_project() {
        let shared = tempfile::tempdir().unwrap();
        let own = shared.path().join("own");
        fs::create_dir(&own).unwrap();
        let nowhere = Path::new("/nowhere");
        for mark in [".git", ".aweave"] {
            let mark = shared.path().join(mark);
            fs::create_dir(&mark).unwrap();
            assert_eq!(project_of(&own, nowhere), shared.path());
            // Only a superuser can change the owner.
            if chown(&mark, Some(4_242), None).is_ok() {
                assert_eq!(project_of(&own, nowhere), own, "{mark:?}");
            }
            fs::remove_dir(mark).unwrap();
        }
    }
}
