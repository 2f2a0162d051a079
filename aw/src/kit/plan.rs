//! What has to change in somebody's files, worked out first and then done.
//!
//! A plan is made without writing anything. Doing it writes every new text beside its file first,
//! then the ledger, then moves each into place: a file is never half written, and what cannot be
//! written stops everything before the first file has changed.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};

use super::host::{Host, Piece, Writing};
use super::ledger::{Entry, Held, Ledger, Part};
use super::splice::{CannotPut, Graft, Put, without_ours};

/// What becomes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is made.
    Created,
    /// It changes.
    Updated,
    /// It is as it should be.
    Unchanged,
    /// Somebody has edited what was ours: it is left alone.
    Edited,
    /// It goes.
    Removed,
    /// It is as it was before the kit came.
    Restored,
    /// Only what somebody added is left in it.
    Kept,
    /// Another host still uses it.
    Shared,
    /// It is not written, for a reason.
    Omitted,
}

impl Fate {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Fate::Created => "created",
            Fate::Updated => "updated",
            Fate::Unchanged => "unchanged",
            Fate::Edited => "edited",
            Fate::Removed => "removed",
            Fate::Restored => "restored",
            Fate::Kept => "kept",
            Fate::Shared => "shared",
            Fate::Omitted => "omitted",
        }
    }
}

/// A file and what becomes of it.
#[derive(Debug, Clone)]
pub struct Change {
    /// The file, as the host names it.
    pub path: PathBuf,
    /// What becomes of it.
    pub fate: Fate,
    /// What it says now; none when it is not there.
    pub before: Option<String>,
    /// What it will say; none when it will not be there.
    pub after: Option<String>,
    /// Why it is so, where that needs a word.
    pub note: Option<&'static str>,
    /// Folders that go with it if nothing else is in them.
    folders: Vec<PathBuf>,
}

/// Why the kit cannot be put in place. Nothing has been changed.
#[derive(Debug, thiserror::Error)]
pub enum CannotPlan {
    /// A file that is not ours has the name of one of ours.
    #[error("{} is in the way: it is not from aw; move it away and install again", .0.display())]
    InTheWay(PathBuf),
    /// It must not be written.
    #[error("{} is read-only: allow writing (chmod u+w), or install somewhere else", .0.display())]
    ReadOnly(PathBuf),
    /// It leads nowhere.
    #[error("{} is a link to something that is not there: mend or remove the link", .0.display())]
    DeadLink(PathBuf),
    /// It is not text.
    #[error("{} is not UTF-8 text: it was left alone", .0.display())]
    NotText(PathBuf),
    /// It is text into which nothing can be put.
    #[error("{path} {1}", path = .0.display())]
    NoRoom(PathBuf, CannotPut),
    /// The file system refused.
    #[error("{path}: {1}", path = .0.display())]
    Io(PathBuf, io::Error),
}

/// What has to be done.
#[derive(Debug, Default)]
pub struct Plan {
    /// The files.
    pub changes: Vec<Change>,
}

/// Who the kit is written for.
#[derive(Debug, Clone, Copy)]
pub struct Owner<'a> {
    /// The project; none for the user.
    pub project: Option<&'a Path>,
    /// The language of the kit.
    pub lang: &'a str,
}

/// Works out how to put these pieces in place; the ledger says afterwards what it will say then.
pub fn install(
    pieces: &[Piece],
    owner: Owner<'_>,
    ledger: &mut Ledger,
) -> Result<Plan, CannotPlan> {
    let mut plan = Plan::default();
    for piece in pieces {
        let known = ledger.of(&piece.path).cloned();
        if plan.changes.iter().any(|change| change.path == piece.path) {
            // Two hosts read the same file.
            if let Some(mut known) = known {
                add(&mut known.hosts, piece.host);
                ledger.put(known);
            }
            continue;
        }
        let current = read(&piece.path)?;
        let written = known.as_ref().map(|entry| entry.text.as_str());
        let mut note = None;
        let (fate, after, text) = match &piece.writing {
            Writing::Omitted(why) => {
                note = Some(*why);
                (Fate::Omitted, None, None)
            }
            Writing::Whole(text) => match &current {
                None => (Fate::Created, Some(text.clone()), Some(text.clone())),
                Some(now) if now == text => (Fate::Unchanged, None, Some(text.clone())),
                Some(now) if Some(now.as_str()) == written => {
                    (Fate::Updated, Some(text.clone()), Some(text.clone()))
                }
                Some(_) if written.is_some() => (Fate::Edited, None, None),
                Some(_) => return Err(CannotPlan::InTheWay(piece.path.clone())),
            },
            Writing::Graft(graft) => {
                let now = current.as_deref().unwrap_or_default();
                let put = graft
                    .put(now, written)
                    .map_err(|why| CannotPlan::NoRoom(piece.path.clone(), why))?;
                match put {
                    Put::In { file, inserted } => {
                        let fate = if current.is_none() { Fate::Created } else { Fate::Updated };
                        (fate, Some(file), Some(inserted))
                    }
                    Put::There { inserted } => (Fate::Unchanged, None, Some(inserted)),
                    // A setting that is as it was written stands there too.
                    Put::Theirs if written.is_some_and(|written| now.contains(written)) => {
                        (Fate::Unchanged, None, written.map(str::to_owned))
                    }
                    Put::Theirs => (Fate::Edited, None, None),
                }
            }
        };
        if after.is_some() {
            writable(&piece.path)?;
        }
        match text {
            Some(text) => ledger.put(entry(piece, owner, known.as_ref(), current.is_none(), text)),
            // What is edited is remembered as it was written, for one host more.
            None => {
                if let Some(mut known) = known {
                    add(&mut known.hosts, piece.host);
                    ledger.put(known);
                }
            }
        }
        let path = piece.path.clone();
        let folders = Vec::new();
        plan.changes.push(Change { path, fate, before: current, after, note, folders });
    }
    Ok(plan)
}

fn entry(piece: &Piece, owner: Owner<'_>, known: Option<&Entry>, new: bool, text: String) -> Entry {
    let part = match piece.writing {
        Writing::Whole(_) => Part::Whole,
        Writing::Graft(_) | Writing::Omitted(_) => Part::Inserted,
    };
    let mut hosts = known.map(|known| known.hosts.clone()).unwrap_or_default();
    add(&mut hosts, piece.host);
    Entry {
        path: piece.path.clone(),
        project: owner.project.map(Path::to_owned),
        hosts,
        lang: owner.lang.to_owned(),
        part,
        text,
        made_file: known.map_or(new, |known| known.made_file || new),
        made_folders: match known {
            Some(known) if !new => known.made_folders.clone(),
            Some(_) | None => missing_folders(&piece.path),
        },
    }
}

fn add(hosts: &mut Vec<Host>, host: Host) {
    if !hosts.contains(&host) {
        hosts.push(host);
        hosts.sort();
    }
}

fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let mut missing: Vec<PathBuf> = path
        .ancestors()
        .skip(1)
        .take_while(|folder| !folder.exists())
        .map(Path::to_owned)
        .collect();
    missing.reverse();
    missing
}

/// Takes what stands there as these pieces would be written for ours, where nothing is remembered.
pub fn adopt(pieces: &[Piece], owner: Owner<'_>, ledger: &mut Ledger) -> Result<(), CannotPlan> {
    for piece in pieces {
        if ledger.of(&piece.path).is_some() {
            continue;
        }
        let Some(now) = read(&piece.path)? else { continue };
        let text = match &piece.writing {
            Writing::Whole(text) if now == *text => text.clone(),
            Writing::Graft(graft) => match graft.put(&now, None) {
                Ok(Put::There { inserted }) => inserted,
                Ok(_) | Err(_) => continue,
            },
            Writing::Whole(_) | Writing::Omitted(_) => continue,
        };
        let made_file = now == text;
        ledger.put(Entry { made_file, ..entry(piece, owner, None, false, text) });
    }
    Ok(())
}

/// Works out how to take away what was written for these hosts.
pub fn uninstall(
    hosts: &[Host],
    project: Option<&Path>,
    ledger: &mut Ledger,
) -> Result<Plan, CannotPlan> {
    let mut plan = Plan::default();
    let concerned = |entry: &&Entry| {
        entry.project.as_deref() == project && entry.hosts.iter().any(|host| hosts.contains(host))
    };
    let entries: Vec<Entry> = ledger.files.iter().filter(concerned).cloned().collect();
    for mut entry in entries {
        let path = entry.path.clone();
        let before = read(&path)?;
        entry.hosts.retain(|host| !hosts.contains(host));
        if !entry.hosts.is_empty() {
            ledger.put(entry);
            plan.changes.push(Change {
                path,
                fate: Fate::Shared,
                before,
                after: None,
                note: None,
                folders: Vec::new(),
            });
            continue;
        }
        let (fate, after) = match &before {
            None => (Fate::Unchanged, None),
            Some(now) => undone(now, &entry),
        };
        if fate != Fate::Unchanged {
            writable(&path)?;
        }
        ledger.forget(&path);
        let folders = entry.made_folders;
        plan.changes.push(Change { path, fate, before, after, note: None, folders });
    }
    Ok(plan)
}

/// The file without what is ours.
fn undone(now: &str, entry: &Entry) -> (Fate, Option<String>) {
    let left = match entry.part {
        Part::Whole => without_ours(now, &entry.text),
        Part::Inserted => Graft::of(&entry.path).take_out(now, &entry.text),
    };
    match entry.part {
        // Nothing but ours was there, so the file goes; it came with the kit.
        Part::Whole if left.trim().is_empty() => (Fate::Removed, None),
        Part::Inserted if entry.made_file && left.is_empty() => (Fate::Removed, None),
        _ if left == now => (Fate::Unchanged, None),
        Part::Whole => (Fate::Kept, Some(left)),
        Part::Inserted => (Fate::Restored, Some(left)),
    }
}

impl Plan {
    /// Whether anything has to be written.
    pub fn is_empty(&self) -> bool {
        self.changes.iter().all(|change| !change.writes())
    }

    /// Does it, and writes the ledger. What cannot be done leaves everything as it was.
    pub fn carry_out(&self, held: &Held) -> Result<(), CannotPlan> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |error| CannotPlan::Io(path, error)
        };
        let mut drafts: Vec<Draft> = Vec::new();
        for change in self.changes.iter().filter(|change| change.writes()) {
            if let Some(text) = &change.after {
                drafts.push(Draft::of(&change.path, text.as_bytes()).map_err(io(&change.path))?);
            }
        }
        let ledger =
            held.text().and_then(|text| Draft::of(held.path(), &text)).map_err(io(held.path()))?;
        ledger.publish().map_err(io(held.path()))?;
        for draft in drafts {
            let path = draft.target.clone();
            draft.publish().map_err(io(&path))?;
        }
        for change in self.changes.iter().filter(|change| change.fate == Fate::Removed) {
            match fs::remove_file(&change.path) {
                Err(gone) if gone.kind() == ErrorKind::NotFound => {}
                removed => removed.map_err(io(&change.path))?,
            }
        }
        for folder in self.changes.iter().flat_map(|change| change.folders.iter().rev()) {
            // One that somebody uses stays.
            let _ = fs::remove_dir(folder);
        }
        Ok(())
    }
}

impl Change {
    /// Whether the file is written or removed.
    pub fn writes(&self) -> bool {
        self.after.is_some() || self.fate == Fate::Removed
    }
}

impl Graft {
    /// What the kit puts into a file like this one.
    fn of(path: &Path) -> Graft {
        if path.extension().is_some_and(|ending| ending == "toml") {
            super::host::CODEX_DEADLINE
        } else {
            Graft::Block(String::new())
        }
    }
}

/// A new text beside the file that it will replace.
struct Draft {
    draft: PathBuf,
    target: PathBuf,
    made_folders: Vec<PathBuf>,
    published: bool,
}

impl Draft {
    fn of(path: &Path, text: &[u8]) -> io::Result<Self> {
        // A link stays a link: what it leads to is written.
        let target = match fs::canonicalize(path) {
            Ok(target) => target,
            Err(missing) if missing.kind() == ErrorKind::NotFound => path.to_owned(),
            Err(error) => return Err(error),
        };
        let made_folders = missing_folders(&target);
        let folder = target.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let name = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let draft = folder.join(format!(".{name}.aw-{}", std::process::id()));
        let made = Draft { draft, target, made_folders, published: false };
        let mut file = fs::File::create(&made.draft)?;
        file.write_all(text)?;
        if let Ok(old) = fs::metadata(&made.target) {
            file.set_permissions(old.permissions())?;
            // Only a superuser can give a file away, and only there it may be another's.
            let _ = chown(&made.draft, Some(old.uid()), Some(old.gid()));
        }
        file.sync_all()?;
        Ok(made)
    }

    fn publish(mut self) -> io::Result<()> {
        fs::rename(&self.draft, &self.target)?;
        self.published = true;
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.published {
            // It was not needed; nobody knows its name.
            let _ = fs::remove_file(&self.draft);
            for folder in self.made_folders.iter().rev() {
                let _ = fs::remove_dir(folder);
            }
        }
    }
}

fn read(path: &Path) -> Result<Option<String>, CannotPlan> {
    match fs::read(path) {
        Ok(bytes) => {
            String::from_utf8(bytes).map(Some).map_err(|_| CannotPlan::NotText(path.to_owned()))
        }
        Err(missing) if missing.kind() == ErrorKind::NotFound => {
            if fs::symlink_metadata(path).is_ok() {
                return Err(CannotPlan::DeadLink(path.to_owned()));
            }
            Ok(None)
        }
        Err(error) => Err(CannotPlan::Io(path.to_owned(), error)),
    }
}

/// Whether a file that is there may be changed, as its own mode says.
fn writable(path: &Path) -> Result<(), CannotPlan> {
    match fs::metadata(path) {
        Ok(file) if file.permissions().readonly() => Err(CannotPlan::ReadOnly(path.to_owned())),
        Ok(_) | Err(_) => Ok(()),
    }
}
