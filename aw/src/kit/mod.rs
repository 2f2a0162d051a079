//! The agent kit: what turns a coding agent into a debater.
//!
//! [`texts`] holds the words, [`types`] the kinds of debate, built in and of one's own. [`host`]
//! knows where each agent program looks for such things, [`plan`] works out what has to change in
//! somebody's files, [`splice`] how a text is put into a file of somebody else's and taken out
//! again, [`json`] where everything stands in such a file, `steps` does it, [`ledger`] remembers
//! what was written where. Nothing is printed here.

pub mod host;
pub mod json;
pub mod ledger;
pub mod plan;
pub mod splice;
mod steps;
pub mod texts;
pub mod types;

use std::path::{Path, PathBuf};

/// The project that a folder belongs to: the nearest folder above it that has a `.git` or an
/// `.aweave` of its own, else the folder itself.
pub fn project_of(folder: &Path, data_folder: &Path) -> PathBuf {
    let is_root = |above: &&Path| {
        let own = above.join(".aweave");
        above.join(".git").exists() || (own.is_dir() && own != data_folder)
    };
    folder.ancestors().find(is_root).unwrap_or(folder).to_owned()
}
