//! The manifest: which files the kit has written, kept in the data folder.
//!
//! Before files are written, it records both the old and the new texts. So every text of ours is
//! known even if the program is killed halfway.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize};

use super::allow::rules_like;
use super::apply::real;
use super::edit::{Edit, WAKE, allow, hook};
use super::host::{Host, ToolEntry, edits_of, is_allowing};
use crate::data_dir::{DataDir, private};

const FILE: &str = "agent-kit.json";

/// All files that the kit has written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The files.
    pub files: Vec<InstalledFile>,
}

/// A file that the kit has written or edited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstalledFile {
    /// Its path, as the host names it.
    pub path: PathBuf,
    /// The project it was written for; none when it was for the user.
    pub project: Option<PathBuf>,
    /// The hosts that read it.
    pub hosts: Vec<Host>,
    /// The language of the kit.
    pub lang: String,
    /// How much of the file is ours.
    #[serde(rename = "part")]
    pub extent: Extent,
    /// The role that its host is limited to, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Our texts: the whole file, or each inserted text.
    #[serde(alias = "text", deserialize_with = "one_or_more")]
    pub texts: Vec<String>,
    /// Texts of ours that may still be there because replacing them was interrupted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<String>,
    /// Whether the kit created the file.
    pub made_file: bool,
    /// The folders that the kit created for it, the innermost last.
    pub made_folders: Vec<PathBuf>,
}

/// How much of a file is ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// All of it.
    Whole,
    /// Texts inserted into somebody's file.
    Inserted,
}

/// The manifest, locked against other processes.
#[derive(Debug)]
pub struct LockedManifest {
    /// The manifest as it will be.
    pub manifest: Manifest,
    before: Manifest,
    path: PathBuf,
    _lock: File,
}

impl LockedManifest {
    /// Locks and reads the manifest of this data folder.
    pub fn take(data_folder: &Path) -> io::Result<Self> {
        DataDir::at(data_folder).make()?;
        let lock = data_folder.join("agent-kit.lock");
        let lock = private().create(true).truncate(true).open(lock)?;
        lock.lock()?;
        let path = data_folder.join(FILE);
        let manifest = read(&path)?;
        Ok(LockedManifest { before: manifest.clone(), manifest, path, _lock: lock })
    }

    /// The path of its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the old and the new texts, before any file is changed.
    pub fn begin(&self) -> io::Result<()> {
        let mut both = self.manifest.clone();
        for known in &self.before.files {
            match both.files.iter_mut().find(|file| file.path == known.path) {
                Some(file) => {
                    let texts = known.texts.iter().chain(&known.earlier);
                    let others = texts.filter(|text| !file.texts.contains(text)).cloned();
                    file.earlier = others.collect();
                }
                None => both.files.push(known.clone()),
            }
        }
        if both == self.before { Ok(()) } else { self.write(&both) }
    }

    /// Writes the new manifest, after all files were changed.
    pub fn finish(&self) -> io::Result<()> {
        if self.manifest == self.before { Ok(()) } else { self.write(&self.manifest) }
    }

    /// Writes the old manifest again, after all changes were undone.
    pub fn give_up(&self) -> io::Result<()> {
        self.write(&self.before)
    }

    fn write(&self, manifest: &Manifest) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(manifest)?;
        text.push(b'\n');
        let draft = self.path.with_extension("json.draft");
        let mut file = private().create(true).truncate(true).open(&draft)?;
        let written = file.write_all(&text).and_then(|()| file.sync_all());
        if let Err(error) = written.and_then(|()| fs::rename(&draft, &self.path)) {
            // An incomplete draft is of no use.
            let _ = fs::remove_file(draft);
            return Err(error);
        }
        Ok(())
    }
}

impl Manifest {
    /// Reads the manifest without locking it.
    pub fn read(data_folder: &Path) -> io::Result<Self> {
        read(&data_folder.join(FILE))
    }

    /// The file at this path, under any of its names.
    pub fn of(&self, path: &Path) -> Option<&InstalledFile> {
        let named = self.files.iter().find(|file| file.path == path);
        named.or_else(|| {
            // Comparing inodes first is cheaper than resolving the links of every file.
            let (number, target) = (inode(path), real(path));
            self.files.iter().find(|file| inode(&file.path) == number && real(&file.path) == target)
        })
    }

    /// The entry for the tools in these settings, if the kit has written one.
    pub fn tools_in(&self, settings: &Path) -> Option<ToolEntry> {
        self.of(settings).filter(|file| file.has_others()).map(InstalledFile::tool_entry)
    }

    /// Whether the kit has written the hook that wakes Claude Code into these settings.
    pub fn wakes_in(&self, settings: &Path) -> bool {
        self.of(settings).is_some_and(InstalledFile::has_hook)
    }

    /// Whether the kit has written permissions into this file.
    pub fn allows_in(&self, file: &Path) -> bool {
        let has_rules = |text: &String| allow::is_ours(text);
        self.of(file)
            .is_some_and(|file| file.extent == Extent::Whole || file.texts.iter().any(has_rules))
    }

    /// Adds a file, or replaces what was recorded of it.
    pub fn put(&mut self, file: InstalledFile) {
        match self.files.iter_mut().find(|known| known.path == file.path) {
            Some(known) => *known = file,
            None => self.files.push(file),
        }
    }

    /// Records that this host reads the file too.
    pub fn share(&mut self, path: &Path, host: Host) {
        let Some(mut file) = self.of(path).cloned() else { return };
        if !file.hosts.contains(&host) {
            file.hosts.push(host);
            file.hosts.sort();
            self.put(file);
        }
    }

    /// Removes a file from the manifest.
    pub fn forget(&mut self, path: &Path) {
        self.files.retain(|file| file.path != path);
    }
}

impl InstalledFile {
    /// The entry for the tools in it.
    pub fn tool_entry(&self) -> ToolEntry {
        let role = self.role.as_deref().and_then(|role| role.parse().ok());
        let any = |is_it: &dyn Fn(&str) -> bool| self.texts.iter().any(|text| is_it(text));
        ToolEntry { role, wake: any(&|text| text.contains(WAKE)), allow: any(&is_allowing) }
    }

    fn has_hook(&self) -> bool {
        self.texts.iter().any(|text| text.contains(hook::COMMAND))
    }

    /// Whether it has texts of ours that are no permissions.
    fn has_others(&self) -> bool {
        self.texts.iter().any(|text| !allow::is_ours(text))
    }

    /// The edits that the kit has made to it.
    pub fn edits(&self) -> Vec<Edit> {
        let mut edits = match (self.has_hook(), self.has_others()) {
            (true, _) => vec![Edit::Hook],
            (false, true) => edits_of(&self.path, self.tool_entry()),
            (false, false) => Vec::new(),
        };
        edits.extend(self.texts.iter().find_map(|text| rules_like(text)).map(Edit::Allow));
        edits
    }

    /// The same record with those of our texts that are in the file now, as far as that is certain.
    pub fn seen_in(mut self, file: Option<&str>) -> Self {
        let is_there = |text: &String| match (file, self.extent) {
            (None, _) => false,
            (Some(file), Extent::Whole) => file == text,
            (Some(file), Extent::Inserted) => file.contains(text),
        };
        let earlier = std::mem::take(&mut self.earlier);
        let (mut seen, unseen): (Vec<_>, Vec<_>) =
            self.texts.iter().chain(&earlier).cloned().partition(is_there);
        match self.extent {
            Extent::Whole if seen.is_empty() => {}
            Extent::Whole => self.texts = seen,
            Extent::Inserted => {
                // A host may have reformatted our text.
                if seen.len() < self.texts.len() {
                    seen.extend(unseen);
                }
                self.texts = seen;
            }
        }
        self
    }

    /// Whether the file has all our texts exactly as they were written.
    pub fn is_whole_in(&self, file: &str) -> bool {
        self.texts.iter().all(|text| file.contains(text))
    }
}

/// Reads the texts of a file: a list, or the single text of an older manifest.
fn one_or_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMore {
        One(String),
        More(Vec<String>),
    }
    Ok(match OneOrMore::deserialize(deserializer)? {
        OneOrMore::One(text) => vec![text],
        OneOrMore::More(texts) => texts,
    })
}

/// The device and inode of a file; none when it does not exist.
fn inode(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|about| (about.dev(), about.ino()))
}

fn read(path: &Path) -> io::Result<Manifest> {
    match fs::read(path) {
        Ok(text) => serde_json::from_slice(&text).map_err(|error| {
            let path = path.display();
            let why = format!("{path} cannot be read ({error}): move it away and install again");
            io::Error::new(ErrorKind::InvalidData, why)
        }),
        Err(missing) if missing.kind() == ErrorKind::NotFound => Ok(Manifest::default()),
        Err(error) => Err(error),
    }
}
