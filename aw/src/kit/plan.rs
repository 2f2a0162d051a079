//! What has to change in somebody's files, worked out before anything is written.

use std::collections::HashSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use aw_core::Role;

use super::SETTINGS_LIMIT;
use super::host::{Host, Piece, Writing, grafts_of};
use super::ledger::{Entry, Ledger, Part};
use super::splice::{CannotPut, Graft, Grafted, Put, without_grafts, without_ours};
use super::steps::{missing_folders, real};
use crate::files;

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
    pub(super) folders: Vec<PathBuf>,
}

/// Why the kit cannot be put in place. Nothing has been changed.
#[derive(Debug, thiserror::Error)]
pub enum CannotPlan {
    /// A file that is not ours has the name of one of ours.
    #[error(
        "{} is in the way: this aw has not written it; move it away and install again",
        .0.display()
    )]
    InTheWay(PathBuf),
    /// It must not be written.
    #[error("{} is read-only: allow writing (chmod u+w), or install somewhere else", .0.display())]
    ReadOnly(PathBuf),
    /// It leads nowhere.
    #[error("{} is a link to something that is not there: mend or remove the link", .0.display())]
    DeadLink(PathBuf),
    /// It belongs to a project, but a link leads out of the project.
    #[error(
        "{path} leads to {to}, which is not in the project: nothing is written or removed through \
         such a link; remove the link, or install with --user",
        path = .path.display(), to = .to.display()
    )]
    LeadsOut {
        /// The file, as the host names it.
        path: PathBuf,
        /// The file that it leads to.
        to: PathBuf,
    },
    /// It is a folder, a pipe or a device.
    #[error("{} is not a regular file: move it away and install again", .0.display())]
    NotAFile(PathBuf),
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
    let mut files = Vec::new();
    for piece in pieces {
        let file = real(&piece.path);
        if files.contains(&file) {
            // Two hosts read the same file, perhaps under two names.
            ledger.share(&piece.path, piece.host);
            continue;
        }
        files.push(file);
        stays_in(owner.project, &piece.path)?;
        let current = read(&piece.path)?;
        let known = ledger.of(&piece.path).cloned();
        let known = known.map(|entry| entry.seen_in(current.as_deref()));
        let written = known.as_ref().map(|entry| entry.texts.as_slice()).unwrap_or_default();
        let mut note = None;
        let (fate, after, texts) = match &piece.writing {
            Writing::Omitted(why) => {
                note = Some(*why);
                (Fate::Omitted, None, Vec::new())
            }
            Writing::Whole(text) => match &current {
                None => (Fate::Created, Some(text.clone()), vec![text.clone()]),
                Some(now) if now == text => (Fate::Unchanged, None, vec![text.clone()]),
                Some(now) if written.contains(now) => {
                    (Fate::Updated, Some(text.clone()), vec![text.clone()])
                }
                Some(_) if !written.is_empty() => (Fate::Edited, None, Vec::new()),
                Some(_) => return Err(CannotPlan::InTheWay(piece.path.clone())),
            },
            Writing::Grafts(grafts) => {
                let now = current.as_deref().unwrap_or_default();
                let mut put = Grafted::of(grafts, now, written)
                    .map_err(|why| CannotPlan::NoRoom(piece.path.clone(), why))?;
                // What is edited is remembered as it was written.
                if !put.theirs.is_empty() {
                    let edited = written.iter().filter(|text| !put.texts.contains(text));
                    let edited: Vec<String> = edited.cloned().collect();
                    put.texts.extend(edited);
                }
                if put.theirs.iter().any(|graft| graft.is_entry()) {
                    note = Some(IN_THE_WAY);
                }
                match current {
                    None => (Fate::Created, Some(put.file), put.texts),
                    Some(_) if put.file != now => (Fate::Updated, Some(put.file), put.texts),
                    Some(_) if put.theirs.is_empty() => (Fate::Unchanged, None, put.texts),
                    Some(_) => (Fate::Edited, None, put.texts),
                }
            }
        };
        if after.is_some() {
            writable(&piece.path)?;
        }
        if !texts.is_empty() {
            ledger.put(entry(piece, owner, known.as_ref(), current.as_deref(), texts));
        } else if let Some(known) = known {
            // A whole file that is edited is remembered as it was written, too.
            ledger.put(known);
        }
        ledger.share(&piece.path, piece.host);
        let path = piece.path.clone();
        let folders = Vec::new();
        plan.changes.push(Change { path, fate, before: current, after, note, folders });
    }
    Ok(plan)
}

/// Said of an entry for `aw mcp` that is not ours.
const IN_THE_WAY: &str = "an entry `aw` that this aw has not written, or that was edited, is in the \
                          way: it was left alone";

fn entry(
    piece: &Piece,
    owner: Owner<'_>,
    known: Option<&Entry>,
    now: Option<&str>,
    texts: Vec<String>,
) -> Entry {
    let part = match piece.writing {
        Writing::Whole(_) => Part::Whole,
        Writing::Grafts(_) | Writing::Omitted(_) => Part::Inserted,
    };
    let made_file = match (now, known, &piece.writing) {
        (None, ..) => true,
        // Where ours is gone from it, the file is somebody's.
        (Some(now), Some(known), Writing::Grafts(grafts)) => {
            known.made_file && without_grafts(grafts, now, &known.texts) != now
        }
        (Some(now), Some(known), Writing::Whole(_) | Writing::Omitted(_)) => {
            known.made_file && known.texts.iter().any(|text| now.contains(text))
        }
        (Some(now), None, Writing::Grafts(grafts)) => {
            !now.is_empty() && without_grafts(grafts, now, &texts).is_empty()
        }
        (Some(now), None, Writing::Whole(_) | Writing::Omitted(_)) => texts == [now],
    };
    let mut made_folders = missing_folders(&piece.path);
    made_folders.extend(known.into_iter().flat_map(|known| known.made_folders.clone()));
    // What is inside comes after what it is in.
    made_folders.sort();
    made_folders.dedup();
    Entry {
        path: known.map_or(&piece.path, |known| &known.path).clone(),
        project: owner.project.map(Path::to_owned),
        hosts: known.map_or(vec![piece.host], |known| known.hosts.clone()),
        lang: owner.lang.to_owned(),
        part,
        role: role_of(&piece.writing).map(|role| role.as_str().to_owned()),
        texts,
        earlier: Vec::new(),
        made_file,
        made_folders,
    }
}

fn role_of(writing: &Writing) -> Option<Role> {
    let Writing::Grafts(grafts) = writing else { return None };
    grafts.iter().find_map(|graft| match graft {
        Graft::Table(entry) | Graft::Member(entry) => entry.role,
        Graft::Block(_) | Graft::Variable { .. } => None,
    })
}

/// Takes for ours what stands there as these pieces would be written, where nothing is remembered.
///
/// A host has the kit if all of it is there, whoever installed it; of the named ones, any part.
pub fn adopt(pieces: &[Piece], named: &[Host], owner: Owner<'_>, ledger: &mut Ledger) {
    let known = ledger.clone();
    for host in Host::ALL {
        let own = pieces.iter().filter(|piece| piece.host == host);
        let own = own.filter(|piece| stays_in(owner.project, &piece.path).is_ok());
        let seen: Vec<(&Piece, Found)> =
            own.map(|piece| (piece, found(piece, known.of(&piece.path)))).collect();
        let whole = !seen.iter().any(|(_, found)| matches!(found, Found::Missing));
        if !whole && !named.contains(&host)
            || !seen.iter().any(|(_, found)| matches!(found, Found::Ours { .. }))
        {
            continue;
        }
        for (piece, found) in seen {
            if let Found::Ours { now, texts } = found
                && ledger.of(&piece.path).is_none()
            {
                let made_folders = folders_of_ours(&piece.path, owner.project);
                let entry = entry(piece, owner, None, Some(&now), texts);
                ledger.put(Entry { made_folders, ..entry });
            }
            ledger.share(&piece.path, host);
        }
    }
}

/// How a piece is found of which nobody may have told us.
enum Found {
    /// As we would write it.
    Ours {
        now: String,
        texts: Vec<String>,
    },
    /// Remembered, or somebody's own, or not needed.
    Settled,
    Missing,
}

fn found(piece: &Piece, known: Option<&Entry>) -> Found {
    if known.is_some() || matches!(piece.writing, Writing::Omitted(_)) {
        return Found::Settled;
    }
    let Ok(Some(now)) = read(&piece.path) else { return Found::Missing };
    match &piece.writing {
        Writing::Whole(text) if now == *text => Found::Ours { texts: vec![text.clone()], now },
        Writing::Grafts(grafts) => {
            let mut rest = now.clone();
            let mut texts = Vec::new();
            // What was put in last stands apart from the rest in the way that it was put in.
            for graft in grafts.iter().rev() {
                match graft.put(&rest, &[]) {
                    Ok(Put::There { inserted }) => {
                        texts.push(inserted);
                        rest = graft.take_out(&rest, &texts);
                    }
                    Ok(Put::Theirs) if !matches!(graft, Graft::Block(_)) => {}
                    Ok(_) | Err(_) => return Found::Missing,
                }
            }
            texts.reverse();
            if texts.is_empty() { Found::Settled } else { Found::Ours { now, texts } }
        }
        Writing::Whole(_) | Writing::Omitted(_) => Found::Missing,
    }
}

/// The folders that nobody would have without us: all below a project, else that of a skill.
fn folders_of_ours(path: &Path, project: Option<&Path>) -> Vec<PathBuf> {
    let is_ours = |folder: &&Path| match project {
        Some(root) => *folder != root && folder.starts_with(root),
        None => folder.join("SKILL.md") == path,
    };
    let mut folders: Vec<PathBuf> =
        path.ancestors().skip(1).take_while(is_ours).map(Path::to_owned).collect();
    folders.reverse();
    folders
}

/// What looks like ours and is not as we would write it, with nothing remembered: it is told of,
/// and left alone.
pub fn unknown(pieces: &[Piece], ledger: &Ledger) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for piece in pieces {
        let told = changes.iter().any(|change| change.path == piece.path);
        let Ok(Some(now)) = read(&piece.path) else { continue };
        let alike = match &piece.writing {
            Writing::Whole(_) => true,
            Writing::Grafts(grafts) => {
                let own = grafts.iter().filter(|graft| !matches!(graft, Graft::Variable { .. }));
                own.into_iter().any(|graft| graft.is_in(&now))
            }
            Writing::Omitted(_) => false,
        };
        if alike && !told && ledger.of(&piece.path).is_none() {
            changes.push(Change {
                path: piece.path.clone(),
                fate: Fate::Edited,
                before: Some(now),
                after: None,
                note: Some("this aw has not written it; if it is an older one's, remove it"),
                folders: Vec::new(),
            });
        }
    }
    changes
}

/// Works out how to take away what was written for these hosts.
pub fn uninstall(
    hosts: &[Host],
    project: Option<&Path>,
    ledger: &mut Ledger,
) -> Result<Plan, CannotPlan> {
    take_away(hosts, project, ledger, |_| true)
}

/// Works out how to take away what an earlier aw wrote for these hosts, and this one does not.
pub fn retire(
    hosts: &[Host],
    project: Option<&Path>,
    pieces: &[Piece],
    ledger: &mut Ledger,
) -> Result<Plan, CannotPlan> {
    let current: Vec<PathBuf> =
        pieces.iter().filter_map(|piece| Some(ledger.of(&piece.path)?.path.clone())).collect();
    let plan = take_away(hosts, project, ledger, |entry| !current.contains(&entry.path))?;
    // A folder that was made for such a file may now be there for another.
    for folder in plan.changes.iter().flat_map(|change| &change.folders) {
        let inside = |entry: &&mut Entry| entry.path.starts_with(folder);
        for entry in ledger.files.iter_mut().filter(inside) {
            entry.made_folders.push(folder.clone());
            entry.made_folders.sort();
            entry.made_folders.dedup();
        }
    }
    Ok(plan)
}

fn take_away(
    hosts: &[Host],
    project: Option<&Path>,
    ledger: &mut Ledger,
    goes: impl Fn(&Entry) -> bool,
) -> Result<Plan, CannotPlan> {
    let mut plan = Plan::default();
    let concerned = |entry: &&Entry| {
        entry.project.as_deref() == project
            && entry.hosts.iter().any(|host| hosts.contains(host))
            && goes(entry)
    };
    let entries: Vec<Entry> = ledger.files.iter().filter(concerned).cloned().collect();
    for entry in entries {
        let path = entry.path.clone();
        stays_in(project, &path)?;
        let before = match read(&path) {
            // It is gone, with or without the folder that it was in.
            Err(CannotPlan::DeadLink(_) | CannotPlan::NotAFile(_)) => None,
            Err(CannotPlan::Io(_, error)) if error.kind() == ErrorKind::NotADirectory => None,
            before => before?,
        };
        let mut entry = entry.seen_in(before.as_deref());
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
        if after.is_some() || fate == Fate::Removed {
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
    let grafts = grafts_of(&entry.path, entry.role());
    let left = match entry.part {
        // Somebody may have written another in its place, with lines in common with ours.
        Part::Whole => {
            let ours = entry.texts.concat();
            if !is_mostly(now, &ours) {
                return (Fate::Edited, None);
            }
            without_ours(now, &ours)
        }
        Part::Inserted => without_grafts(&grafts, now, &entry.texts),
    };
    match entry.part {
        // Nothing but ours was there, so the file goes; it came with the kit.
        Part::Whole if left.trim().is_empty() => (Fate::Removed, None),
        Part::Inserted if entry.made_file && left.is_empty() => (Fate::Removed, None),
        Part::Inserted if left == now && grafts.iter().any(|graft| graft.is_in(now)) => {
            (Fate::Edited, None)
        }
        _ if left == now => (Fate::Unchanged, None),
        Part::Inserted if entry.is_whole_in(now) => (Fate::Restored, Some(left)),
        Part::Whole | Part::Inserted => (Fate::Kept, Some(left)),
    }
}

/// Whether at least half of our lines are still there.
fn is_mostly(now: &str, ours: &str) -> bool {
    let now: HashSet<&str> = now.lines().collect();
    let lines = || ours.lines().filter(|line| !line.trim().is_empty());
    now.is_empty() || lines().filter(|line| now.contains(line)).count() * 2 >= lines().count()
}

impl Plan {
    /// Whether anything has to be written.
    pub fn is_empty(&self) -> bool {
        self.changes.iter().all(|change| !change.writes())
    }
}

impl Change {
    /// Whether the file is written or removed.
    pub fn writes(&self) -> bool {
        self.after.is_some() || self.fate == Fate::Removed
    }
}

fn read(path: &Path) -> Result<Option<String>, CannotPlan> {
    // Nobody waits for a pipe, and a link to a device is not replaced by a file.
    if fs::metadata(path).is_ok_and(|about| !about.is_file()) {
        return Err(CannotPlan::NotAFile(path.to_owned()));
    }
    match files::read(path, SETTINGS_LIMIT) {
        Ok(bytes) => {
            String::from_utf8(bytes).map(Some).map_err(|_| CannotPlan::NotText(path.to_owned()))
        }
        Err(missing) if missing.kind() == ErrorKind::NotFound => {
            // It may be one of its folders that leads nowhere.
            let there = path.ancestors().find(|above| fs::symlink_metadata(above).is_ok());
            match there.filter(|there| !there.exists()) {
                Some(dead) => Err(CannotPlan::DeadLink(dead.to_owned())),
                None => Ok(None),
            }
        }
        Err(error) => Err(CannotPlan::Io(path.to_owned(), error)),
    }
}

/// Refuses a file of a project that a link leads out of it: a checkout could lead with it to any
/// file of its user.
fn stays_in(project: Option<&Path>, path: &Path) -> Result<(), CannotPlan> {
    let Some(root) = project else { return Ok(()) };
    let to = real(path);
    // What Git keeps for itself is not of the project either.
    match to.strip_prefix(real(root)) {
        Ok(inside) if !inside.starts_with(".git") => Ok(()),
        Ok(_) | Err(_) => Err(CannotPlan::LeadsOut { path: path.to_owned(), to }),
    }
}

/// Whether a file that is there may be changed, as its own mode says.
fn writable(path: &Path) -> Result<(), CannotPlan> {
    match fs::metadata(path) {
        Ok(file) if file.permissions().readonly() => Err(CannotPlan::ReadOnly(path.to_owned())),
        Ok(_) | Err(_) => Ok(()),
    }
}
