//! Writes the results beside the plan, or in its place.
//!
//! Each file appears whole: it is written under another name, synced, and renamed. No file of the user is
//! replaced but the plan, and that only if it still has the text of the beginning.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};

use super::MAX_PLAN;
use crate::files;

/// Where the newest version of the plan is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    /// It has replaced the plan, or it is the plan's text anyway.
    Replaced(PathBuf),
    /// The plan has changed meanwhile, so it is in this file.
    Beside(PathBuf),
}

impl Written {
    /// The file with the newest version.
    pub fn into_path(self) -> PathBuf {
        match self {
            Written::Replaced(path) | Written::Beside(path) => path,
        }
    }
}

/// Writes the newest version of a plan: in place of the plan if that still has its original text, else to
/// `PLAN.debated.md`. A second call with the same texts changes nothing.
///
/// `given` is the path that the user named, `target` the file that it led to at the beginning. A linked plan
/// stays a link: its target is written. The file keeps its mode and, where the system allows it, its owner.
pub fn write_back(
    given: &Path,
    target: &Path,
    original: &str,
    newest: &str,
    debate: &str,
) -> io::Result<Written> {
    let debated = || write_new(&beside(given, "debated"), newest, debate).map(Written::Beside);
    let Some((text, metadata)) = current(given, target)? else { return debated() };
    if text == newest.as_bytes() {
        return Ok(Written::Replaced(given.to_owned()));
    }
    // A rename would part a file from its second name.
    if text != original.as_bytes() || metadata.nlink() > 1 {
        return debated();
    }
    // A rename does not ask for this right, but a user who has taken it away does not want a new text.
    access(target, AccessFlags::W_OK)?;
    let part = Part::write(target, newest, debate)?;
    // Best effort: only root may give a file to another user.
    let _ = fchown(&part.file, Some(metadata.uid()), Some(metadata.gid()))
        .or_else(|_| fchown(&part.file, None, Some(metadata.gid())));
    part.file.set_permissions(Permissions::from_mode(metadata.mode() & 0o7777))?;
    part.file.sync_all()?;
    // Syncing takes a while, in which the user may have saved the plan. So the last look comes after it.
    match current(given, target)? {
        Some((text, _)) if text == original.as_bytes() => {}
        _ => return debated(),
    }
    fs::rename(&part.path, target)?;
    sync_folder(target);
    Ok(Written::Replaced(given.to_owned()))
}

/// Writes a text to a new file. If the name is taken by another text, the debate's first eight characters come
/// into it. Returns the path. A second call with the same text changes nothing.
pub fn write_new(path: &Path, text: &str, debate: &str) -> io::Result<PathBuf> {
    let with_id = with_suffix(path, &format!("-{}", short(debate)));
    for path in [path, &with_id] {
        if has_text(path, text) {
            return Ok(path.to_owned());
        }
        match place(path, text, debate) {
            Ok(()) => return Ok(path.to_owned()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    let both = format!("{} and {} exist", super::shown(path), super::shown(&with_id));
    Err(io::Error::new(ErrorKind::AlreadyExists, both))
}

/// Returns the path of a result beside the plan: `PLAN.md` and `debate` give `PLAN.debate.md`.
pub fn beside(plan: &Path, word: &str) -> PathBuf {
    with_suffix(plan, &format!(".{word}"))
}

/// Puts a suffix between the stem of a name and its extension.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path.file_stem().unwrap_or_default());
    name.push(suffix);
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

fn short(debate: &str) -> String {
    debate.chars().filter(char::is_ascii_alphanumeric).take(8).collect()
}

/// Returns the plan's bytes, unless it is gone, is another file now, or is no plan any more.
fn current(given: &Path, target: &Path) -> io::Result<Option<(Vec<u8>, fs::Metadata)>> {
    let same = given.canonicalize().is_ok_and(|found| found == target);
    if !same {
        return Ok(None);
    }
    match files::read(target, MAX_PLAN) {
        Ok(text) => Ok(Some((text, target.metadata()?))),
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::NotFound) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn has_text(path: &Path, text: &str) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_file() && found.len() == text.len() as u64)
        && files::read(path, text.len() as u64).is_ok_and(|found| found == text.as_bytes())
}

/// Makes a file with this text under a free name.
fn place(path: &Path, text: &str, debate: &str) -> io::Result<()> {
    // Cheap, and it spares the folder a file that comes and goes.
    if path.symlink_metadata().is_ok() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    let part = Part::write(path, text, debate)?;
    part.file.sync_all()?;
    // A second name never replaces a file, which a rename does.
    match fs::hard_link(&part.path, path) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(error),
        // Some disks have no second names. The name was free a moment ago.
        Err(_) => {
            if path.symlink_metadata().is_ok() {
                return Err(ErrorKind::AlreadyExists.into());
            }
            fs::rename(&part.path, path)?;
        }
    }
    sync_folder(path);
    Ok(())
}

/// A file under a passing name, which goes when this is dropped.
struct Part {
    path: PathBuf,
    file: File,
}

impl Part {
    fn write(beside: &Path, text: &str, debate: &str) -> io::Result<Part> {
        let path = beside.with_file_name(format!(".aw-{}.part", short(debate)));
        // A run that was killed here has left its file.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        // Mode 0666 less the user's mask: what an editor would give a new file.
        let file = OpenOptions::new().write(true).create_new(true).mode(0o666).open(&path)?;
        let mut part = Part { path, file };
        part.file.write_all(text.as_bytes())?;
        Ok(part)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Syncs the folder of a file, so that the new name survives a power cut. Not all systems can.
fn sync_folder(path: &Path) {
    if let Some(folder) = path.parent() {
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
}
