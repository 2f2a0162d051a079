//! What the kit has written where, remembered in the data folder.
//!
//! It is written before the files are: whatever happens in between, everything of ours is known.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::host::Host;

/// Everything that was written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// One for each file.
    #[serde(default)]
    pub files: Vec<Entry>,
}

/// What was written into a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The file, as the host names it.
    pub path: PathBuf,
    /// The project it was written for; none when it was for the user.
    pub project: Option<PathBuf>,
    /// The hosts it is for.
    pub hosts: Vec<Host>,
    /// The language of the kit.
    pub lang: String,
    /// Whether the whole file is ours, or what was put into it.
    pub part: Part,
    /// What was written.
    pub text: String,
    /// Whether there was no such file before.
    pub made_file: bool,
    /// The folders that were made for it, the innermost last.
    pub made_folders: Vec<PathBuf>,
}

/// How much of a file is ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// All of it.
    Whole,
    /// Some lines in it.
    Inserted,
}

/// The ledger, held so that nobody else changes it meanwhile.
#[derive(Debug)]
pub struct Held {
    /// What it says.
    pub ledger: Ledger,
    path: PathBuf,
    _lock: File,
}

impl Held {
    /// Takes the ledger of this data folder.
    pub fn take(data_folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(data_folder)?;
        let lock = File::create(data_folder.join("agent-kit.lock"))?;
        lock.lock()?;
        let path = data_folder.join("agent-kit.json");
        Ok(Held { ledger: read(&path)?, path, _lock: lock })
    }

    /// Where it is kept.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// As it would be written.
    pub fn text(&self) -> io::Result<Vec<u8>> {
        let mut text = serde_json::to_vec_pretty(&self.ledger)?;
        text.push(b'\n');
        Ok(text)
    }
}

impl Ledger {
    /// What it says now, for whoever only looks.
    pub fn read(data_folder: &Path) -> io::Result<Self> {
        read(&data_folder.join("agent-kit.json"))
    }

    /// What was written into this file.
    pub fn of(&self, path: &Path) -> Option<&Entry> {
        self.files.iter().find(|entry| entry.path == path)
    }

    /// Remembers this in place of what was remembered of the file.
    pub fn put(&mut self, entry: Entry) {
        match self.files.iter_mut().find(|known| known.path == entry.path) {
            Some(known) => *known = entry,
            None => self.files.push(entry),
        }
    }

    /// Forgets a file.
    pub fn forget(&mut self, path: &Path) {
        self.files.retain(|entry| entry.path != path);
    }
}

fn read(path: &Path) -> io::Result<Ledger> {
    match fs::read(path) {
        Ok(text) => serde_json::from_slice(&text).map_err(|error| {
            io::Error::new(
                ErrorKind::InvalidData,
                format!(
                    "{} cannot be read ({error}): move it away and install again",
                    path.display()
                ),
            )
        }),
        Err(missing) if missing.kind() == ErrorKind::NotFound => Ok(Ledger::default()),
        Err(error) => Err(error),
    }
}
