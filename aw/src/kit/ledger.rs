//! What the kit has written where, remembered in the data folder.
//!
//! While files are being written it says what stood there and what will: whatever happens in
//! between, everything of ours is known.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use aw_core::Role;
use serde::{Deserialize, Deserializer, Serialize};

use super::host::Host;
use super::steps::real;
use crate::data_dir::{DataDir, private};

/// Everything that was written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// One for each file.
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
    /// The role that its host is held to, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// What was written: all of it, or each part that was put in.
    #[serde(alias = "text", deserialize_with = "one_or_more")]
    pub texts: Vec<String>,
    /// What may still stand there instead: somebody stopped us before it was replaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<String>,
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
    /// What it is to say.
    pub ledger: Ledger,
    before: Ledger,
    path: PathBuf,
    _lock: File,
}

impl Held {
    /// Takes the ledger of this data folder.
    pub fn take(data_folder: &Path) -> io::Result<Self> {
        DataDir::at(data_folder).make()?;
        let lock = data_folder.join("agent-kit.lock");
        let lock = private().create(true).truncate(true).open(lock)?;
        lock.lock()?;
        let path = data_folder.join("agent-kit.json");
        let ledger = read(&path)?;
        Ok(Held { before: ledger.clone(), ledger, path, _lock: lock })
    }

    /// Where it is kept.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes what may be the case from now on until all is done.
    pub fn begin(&self) -> io::Result<()> {
        let mut both = self.ledger.clone();
        for known in &self.before.files {
            match both.files.iter_mut().find(|entry| entry.path == known.path) {
                Some(entry) => {
                    let texts = known.texts.iter().chain(&known.earlier);
                    let others = texts.filter(|text| !entry.texts.contains(text)).cloned();
                    entry.earlier = others.collect();
                }
                None => both.files.push(known.clone()),
            }
        }
        if both == self.before { Ok(()) } else { self.write(&both) }
    }

    /// Writes what is the case now that all is done.
    pub fn finish(&self) -> io::Result<()> {
        if self.ledger == self.before { Ok(()) } else { self.write(&self.ledger) }
    }

    /// Writes what was the case before, since nothing came of it.
    pub fn give_up(&self) -> io::Result<()> {
        self.write(&self.before)
    }

    fn write(&self, ledger: &Ledger) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(ledger)?;
        text.push(b'\n');
        let draft = self.path.with_extension("json.draft");
        let mut file = private().create(true).truncate(true).open(&draft)?;
        let written = file.write_all(&text).and_then(|()| file.sync_all());
        if let Err(error) = written.and_then(|()| fs::rename(&draft, &self.path)) {
            // What could not be written is of no use.
            let _ = fs::remove_file(draft);
            return Err(error);
        }
        Ok(())
    }
}

impl Ledger {
    /// What it says now, for whoever only looks.
    pub fn read(data_folder: &Path) -> io::Result<Self> {
        read(&data_folder.join("agent-kit.json"))
    }

    /// What was written into this file, by whichever of its names.
    pub fn of(&self, path: &Path) -> Option<&Entry> {
        let named = self.files.iter().find(|entry| entry.path == path);
        named.or_else(|| {
            // To look at each is cheaper than to follow its links.
            let (number, file) = (inode(path), real(path));
            let is_it = |entry: &&Entry| inode(&entry.path) == number && real(&entry.path) == file;
            self.files.iter().find(is_it)
        })
    }

    /// The role that the host of these settings is held to, if any.
    pub fn role_of(&self, settings: &Path) -> Option<Role> {
        self.of(settings)?.role()
    }

    /// Remembers this in place of what was remembered of the file.
    pub fn put(&mut self, entry: Entry) {
        match self.files.iter_mut().find(|known| known.path == entry.path) {
            Some(known) => *known = entry,
            None => self.files.push(entry),
        }
    }

    /// Remembers that a file is for this host too.
    pub fn share(&mut self, path: &Path, host: Host) {
        let Some(mut entry) = self.of(path).cloned() else { return };
        if !entry.hosts.contains(&host) {
            entry.hosts.push(host);
            entry.hosts.sort();
            self.put(entry);
        }
    }

    /// Forgets a file.
    pub fn forget(&mut self, path: &Path) {
        self.files.retain(|entry| entry.path != path);
    }
}

impl Entry {
    /// The role that its host is held to, if any.
    pub fn role(&self) -> Option<Role> {
        self.role.as_deref()?.parse().ok()
    }

    /// The same, sure of which of our texts stand in the file, as far as that can be told.
    pub fn seen_in(mut self, file: Option<&str>) -> Self {
        let stands = |text: &String| match (file, self.part) {
            (None, _) => false,
            (Some(file), Part::Whole) => file == text,
            (Some(file), Part::Inserted) => file.contains(text),
        };
        let earlier = std::mem::take(&mut self.earlier);
        let (mut seen, unseen): (Vec<_>, Vec<_>) =
            self.texts.iter().chain(&earlier).cloned().partition(stands);
        match self.part {
            Part::Whole if seen.is_empty() => {}
            Part::Whole => self.texts = seen,
            Part::Inserted => {
                // A host may have written in its own form what it was told.
                if seen.len() < self.texts.len() {
                    seen.extend(unseen);
                }
                self.texts = seen;
            }
        }
        self
    }

    /// Whether all that was written stands in the file, to the letter.
    pub fn is_whole_in(&self, file: &str) -> bool {
        self.texts.iter().all(|text| file.contains(text))
    }
}

/// What was written into a file may be one text or several.
fn one_or_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Texts {
        One(String),
        More(Vec<String>),
    }
    Ok(match Texts::deserialize(deserializer)? {
        Texts::One(text) => vec![text],
        Texts::More(texts) => texts,
    })
}

/// Which file it is; none when it is not there.
fn inode(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|about| (about.dev(), about.ino()))
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
