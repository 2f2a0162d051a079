//! Changing files so that each is whole at every moment, and all of them change or none.
//!
//! Every new text is written beside its file first, then each is moved into place. What fails is
//! undone; after a `kill -9` what lies beside a file is known by its name and goes next time.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, chown};
use std::path::{Path, PathBuf};

use super::host::is_private;
use super::ledger::Held;
use super::plan::{CannotPlan, Change, Fate, Plan};

impl Plan {
    /// Does it, and writes the ledger. What cannot be done leaves everything as it was.
    pub fn carry_out(&self, held: &Held) -> Result<(), CannotPlan> {
        let in_ledger = |error| CannotPlan::Io(held.path().to_owned(), error);
        held.begin().map_err(in_ledger)?;
        let mut steps = Vec::new();
        let done = self.do_all(&mut steps).and_then(|()| held.finish().map_err(in_ledger));
        if done.is_err() {
            // The folders that were made for the first step may hold those of the others.
            for step in steps.iter().rev() {
                step.undo();
            }
            // What it says now is true too, only longer.
            let _ = held.give_up();
        }
        done
    }

    fn do_all<'a>(&'a self, steps: &mut Vec<Step<'a>>) -> Result<(), CannotPlan> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |error| CannotPlan::Io(path, error)
        };
        for change in &self.changes {
            let step = Step::of(change);
            // Somebody may have been stopped who wanted to write it.
            let _ = fs::remove_file(&step.draft);
            if change.writes() {
                steps.push(step);
            }
            if let (Some(text), Some(step)) = (&change.after, steps.last()) {
                step.prepare(text).map_err(io(&change.path))?;
            }
        }
        for step in steps {
            step.take().map_err(io(&step.change.path))?;
        }
        for folder in self.changes.iter().flat_map(|change| change.folders.iter().rev()) {
            // One that somebody uses stays.
            let _ = fs::remove_dir(folder);
        }
        Ok(())
    }
}

/// Said of a file that has changed since it was read.
const BUSY: &str = "another program is just changing it";

/// A file that is about to change.
struct Step<'a> {
    change: &'a Change,
    target: PathBuf,
    draft: PathBuf,
    made_folders: Vec<PathBuf>,
    taken: bool,
}

impl<'a> Step<'a> {
    fn of(change: &'a Change) -> Self {
        // A link stays a link: what it leads to is written. What is ours alone goes with its link.
        let target =
            if change.fate == Fate::Removed { change.path.clone() } else { real(&change.path) };
        let name = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let draft = target.with_file_name(format!(".{name}.aw-draft"));
        let made_folders = missing_folders(&target);
        Step { change, target, draft, made_folders, taken: false }
    }

    /// Writes the new text beside the file.
    fn prepare(&self, text: &str) -> io::Result<()> {
        let old = fs::metadata(&self.target).ok();
        if let Some(folder) = self.target.parent() {
            fs::create_dir_all(folder)?;
        }
        // What somebody laid there under this name is not followed. A copy of a file that is closed
        // to others is closed to them from the beginning.
        let closed = old.is_some() || is_private(&self.change.path);
        let mode = if closed { 0o600 } else { 0o666 };
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(mode).open(&self.draft)?;
        file.write_all(text.as_bytes())?;
        if let Some(old) = old {
            // Only a superuser can give a file away, and only there it may be another's.
            let _ = chown(&self.draft, Some(old.uid()), Some(old.gid()));
            file.set_permissions(old.permissions())?;
        }
        file.sync_all()
    }

    /// Moves the new text into place, or removes the file.
    fn take(&mut self) -> io::Result<()> {
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
        self.taken = true;
        Ok(())
    }

    /// Leaves the file as it was. What cannot be mended now is known from the ledger.
    fn undo(&self) {
        let _ = fs::remove_file(&self.draft);
        let _ = match &self.change.before {
            _ if !self.taken => Ok(()),
            Some(text) => self.prepare(text).and_then(|()| fs::rename(&self.draft, &self.target)),
            None => fs::remove_file(&self.target),
        };
        for folder in self.made_folders.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// The folders that have to be made for a file, the innermost last.
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

/// The file that a path leads to, as far as it is there: two names of one file have the same.
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
