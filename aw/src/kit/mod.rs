//! The agent kit: what turns a coding agent into a debater.
//!
//! [`texts`] holds the words, [`types`] the kinds of debate, built in and of one's own, [`rules`] what a
//! role goes by and where that comes from; [`quoting`] sets the words of others apart. [`host`]
//! knows where each agent program looks for such things, [`plan`] works out what has to change in
//! somebody's files, [`splice`] how a text is put into a file of somebody else's and taken out
//! again, [`json`] where everything stands in such a file, `steps` does it, [`ledger`] remembers
//! what was written where. Nothing is printed here.

pub mod host;
pub mod json;
pub mod ledger;
pub mod plan;
pub mod quoting;
pub mod rules;
pub mod splice;
mod steps;
pub mod texts;
pub mod types;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::unistd::geteuid;

/// The longest file of a host's that is read. Claude Code keeps much in its own.
pub const SETTINGS_LIMIT: u64 = 64 * 1024 * 1024;

/// The project that a folder belongs to: the nearest folder above it that has a `.git` or an
/// `.aweave` of its own, else the folder itself.
///
/// What another user put there does not count: in a folder that everybody may write to, such as
/// `/tmp`, it would decide what belongs to the projects of others.
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
    fn what_another_user_put_above_a_folder_makes_no_project_of_it() {
        let shared = tempfile::tempdir().unwrap();
        let own = shared.path().join("own");
        fs::create_dir(&own).unwrap();
        let nowhere = Path::new("/nowhere");
        for mark in [".git", ".aweave"] {
            let mark = shared.path().join(mark);
            fs::create_dir(&mark).unwrap();
            assert_eq!(project_of(&own, nowhere), shared.path());
            // Only a superuser can give it away.
            if chown(&mark, Some(4_242), None).is_ok() {
                assert_eq!(project_of(&own, nowhere), own, "{mark:?}");
            }
            fs::remove_dir(mark).unwrap();
        }
    }
}
