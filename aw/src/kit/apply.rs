//! Applies a plan: all its files change, or none does, and no reader sees half a file.
//!
//! Every new text is written to a draft beside its file, then the drafts are renamed into place. A
//! failure undoes the changes. A draft that a killed process left is known by its name and removed by
//! the next run.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, chown};
use std::path::{Path, PathBuf};

use super::host::is_private;
use super::manifest::LockedManifest;
use super::plan::{CannotPlan, Fate, FileChange, Plan};

impl Plan {
    /// Changes the files and writes the manifest. A failure leaves everything as it was.
    pub fn apply(&self, locked: &LockedManifest) -> Result<(), CannotPlan> {
        let in_manifest = |error| CannotPlan::Io(locked.path().to_owned(), error);
        locked.begin().map_err(in_manifest)?;
        let mut pending = Vec::new();
        let done = self.change_files(&mut pending);
        let done = done.and_then(|()| locked.finish().map_err(in_manifest));
        if done.is_err() {
            // The folders that were made for the first change may hold files of the others.
            for change in pending.iter().rev() {
                change.undo();
            }
            // If this fails, the manifest still lists all texts of ours, and some that are gone.
            let _ = locked.give_up();
        }
        done
    }

    fn change_files<'a>(&'a self, pending: &mut Vec<PendingChange<'a>>) -> Result<(), CannotPlan> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |error| CannotPlan::Io(path, error)
        };
        for change in &self.changes {
            let step = PendingChange::of(change);
            // A killed process may have left its draft.
            let _ = fs::remove_file(&step.draft);
            if change.writes() {
                pending.push(step);
            }
            if let (Some(text), Some(step)) = (&change.after, pending.last()) {
                step.write_draft(text).map_err(io(&change.path))?;
            }
        }
        for step in pending {
            step.put_in_place().map_err(io(&step.change.path))?;
        }
        let mut folders: Vec<&PathBuf> =
            self.changes.iter().flat_map(|change| &change.folders).collect();
        // A folder of one file may be in a folder of another.
        folders.sort_unstable_by(|one, other| other.cmp(one));
        for folder in folders {
            // A folder that is not empty stays.
            let _ = fs::remove_dir(folder);
        }
        Ok(())
    }
}

/// The error for a file that has changed since it was read.
const BUSY: &str = "another program is just changing it";

/// A change that is being made.
struct PendingChange<'a> {
    change: &'a FileChange,
    target: PathBuf,
    draft: PathBuf,
    made_folders: Vec<PathBuf>,
    is_in_place: bool,
}

impl<'a> PendingChange<'a> {
    fn of(change: &'a FileChange) -> Self {
        // A link stays and its target is written. A file that is ours alone goes with its link.
        let target =
            if change.fate == Fate::Removed { change.path.clone() } else { real(&change.path) };
        let name = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let draft = target.with_file_name(format!(".{name}.aw-draft"));
        let made_folders = missing_folders(&target);
        PendingChange { change, target, draft, made_folders, is_in_place: false }
    }

    /// Writes the new text beside the file.
    fn write_draft(&self, text: &str) -> io::Result<()> {
        let old = fs::metadata(&self.target).ok();
        if let Some(folder) = self.target.parent() {
            fs::create_dir_all(folder)?;
        }
        // `create_new` follows no link that somebody laid under this name. The draft of a private
        // file is private from the beginning.
        let closed = old.is_some() || is_private(&self.change.path);
        let mode = if closed { 0o600 } else { 0o666 };
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(mode).open(&self.draft)?;
        file.write_all(text.as_bytes())?;
        if let Some(old) = old {
            // Only a superuser can change the owner, and only a superuser needs to.
            let _ = chown(&self.draft, Some(old.uid()), Some(old.gid()));
            file.set_permissions(old.permissions())?;
        }
        file.sync_all()
    }

    /// Renames the draft into place, or removes the file.
    fn put_in_place(&mut self) -> io::Result<()> {
        let now = fs::read(&self.target).ok();
        if now.as_deref() != self.change.before.as_ref().map(String::as_bytes) {
            return Err(io::Error::new(ErrorKind::WouldBlock, BUSY));
        }
        if self.change.fate == Fate::Removed {
            match fs::remove_file(&self.target) {
                Err(gone) if gone.kind() == ErrorKind::NotFound => {}
                removed => removed?,
            }
        } else {
            fs::rename(&self.draft, &self.target)?;
        }
        self.is_in_place = true;
        Ok(())
    }

    /// Leaves the file as it was. If that fails too, the manifest lists the changes that remain.
    fn undo(&self) {
        let _ = fs::remove_file(&self.draft);
        let _ = match &self.change.before {
            _ if !self.is_in_place => Ok(()),
            Some(text) => {
                self.write_draft(text).and_then(|()| fs::rename(&self.draft, &self.target))
            }
            None => fs::remove_file(&self.target),
        };
        for folder in self.made_folders.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// The folders that have to be created for a file, the innermost last.
pub(super) fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let mut missing: Vec<PathBuf> = path
        .ancestors()
        .skip(1)
        .take_while(|folder| !folder.exists())
        .map(Path::to_owned)
        .collect();
    missing.reverse();
    missing
}

/// A path with the links of its existing part resolved, so that two names of one file are equal.
pub(super) fn real(path: &Path) -> PathBuf {
    let found = path.ancestors().find_map(|above| Some((above, fs::canonicalize(above).ok()?)));
    match found {
        Some((above, real)) => match path.strip_prefix(above) {
            Ok(rest) if rest.as_os_str().is_empty() => real,
            Ok(rest) => real.join(rest),
            Err(_) => path.to_owned(),
        },
        None => path.to_owned(),
    }
}
