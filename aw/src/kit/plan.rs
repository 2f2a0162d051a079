//! Plans which files change, before anything is written.

use std::collections::HashSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use aw_core::Role;

use super::SETTINGS_LIMIT;
use super::apply::{missing_folders, real};
use super::edit::{CannotEdit, Edit, Edited, Insertion, without_edits, without_ours};
use super::host::{Host, KitFile, Writing};
use super::manifest::{Extent, InstalledFile, Manifest};
use crate::files;

/// The change of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is created.
    Created,
    /// It changes.
    Updated,
    /// It has our text already.
    Unchanged,
    /// Somebody has edited our text, so it is left alone.
    Edited,
    /// It is removed.
    Removed,
    /// It is as it was before the kit was installed.
    Restored,
    /// Only the text that somebody added is left in it.
    Kept,
    /// Another host still uses it.
    Shared,
    /// It is not written; the note says why.
    Omitted,
}

impl Fate {
    /// Its word in JSON.
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

/// A file and what happens to it.
#[derive(Debug, Clone)]
pub struct FileChange {
    /// The file, as the host names it.
    pub path: PathBuf,
    /// Its change.
    pub fate: Fate,
    /// Its text now; none when it does not exist.
    pub before: Option<String>,
    /// Its new text; none when it does not change or is removed.
    pub after: Option<String>,
    /// The reason, where one is needed.
    pub note: Option<&'static str>,
    /// Folders that are removed with it if they are empty then.
    pub(super) folders: Vec<PathBuf>,
}

/// Why the kit cannot be installed or removed. Nothing has been changed.
#[derive(Debug, thiserror::Error)]
pub enum CannotPlan {
    /// A file that is not ours has the name of one of ours.
    #[error(
        "{} is in the way: this aw has not written it; move it away and install again",
        .0.display()
    )]
    InTheWay(PathBuf),
    /// A file is read-only.
    #[error("{} is read-only: allow writing (chmod u+w), or install somewhere else", .0.display())]
    ReadOnly(PathBuf),
    /// A link leads nowhere.
    #[error("{} is a link to a file that does not exist: correct or remove the link", .0.display())]
    DeadLink(PathBuf),
    /// A link leads out of the project.
    #[error(
        "{path} leads to {to}, which is not in the project: nothing is written or removed through \
         such a link; remove the link, or install with --user",
        path = .path.display(), to = .to.display()
    )]
    LeadsOut {
        /// The file, as the host names it.
        path: PathBuf,
        /// The file that the link leads to.
        to: PathBuf,
    },
    /// A folder, a pipe or a device has the name of a file.
    #[error("{} is not a regular file: move it away and install again", .0.display())]
    NotAFile(PathBuf),
    /// A file is not UTF-8 text.
    #[error("{} is not UTF-8 text: it was left alone", .0.display())]
    NotText(PathBuf),
    /// Nothing can be inserted into a file.
    #[error("{path} {1}", path = .0.display())]
    NoRoom(PathBuf, CannotEdit),
    /// A file cannot be read or written.
    #[error("{path}: {1}", path = .0.display())]
    Io(PathBuf, io::Error),
}

/// The changes that install or remove the kit.
#[derive(Debug, Default)]
pub struct Plan {
    /// One for each file.
    pub changes: Vec<FileChange>,
}

/// The project and the language of an installation.
#[derive(Debug, Clone, Copy)]
pub struct Owner<'a> {
    /// The project; none for the user.
    pub project: Option<&'a Path>,
    /// The language of the kit.
    pub lang: &'a str,
}

/// Plans the installation of these files, and changes the manifest to what it will be then.
pub fn install(
    files: &[KitFile],
    owner: Owner<'_>,
    manifest: &mut Manifest,
) -> Result<Plan, CannotPlan> {
    let mut plan = Plan::default();
    let mut seen = Vec::new();
    for file in files {
        let target = real(&file.path);
        if seen.contains(&target) {
            // Two hosts read the same file, perhaps under two names.
            manifest.share(&file.path, file.host);
            continue;
        }
        seen.push(target);
        stays_in(owner.project, &file.path)?;
        let current = read(&file.path)?;
        let known = manifest.of(&file.path).cloned();
        let known = known.map(|known| known.seen_in(current.as_deref()));
        let written = known.as_ref().map(|known| known.texts.as_slice()).unwrap_or_default();
        let mut note = None;
        let (fate, after, texts) = match &file.writing {
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
                Some(_) => return Err(CannotPlan::InTheWay(file.path.clone())),
            },
            Writing::Edits(edits) => {
                let now = current.as_deref().unwrap_or_default();
                let mut put = Edited::of(edits, now, written)
                    .map_err(|why| CannotPlan::NoRoom(file.path.clone(), why))?;
                // The manifest keeps the original of a text that was edited.
                if !put.foreign.is_empty() {
                    let edited = written.iter().filter(|text| !put.texts.contains(text));
                    let edited: Vec<String> = edited.cloned().collect();
                    put.texts.extend(edited);
                }
                if put.foreign.iter().any(|edit| edit.is_entry()) {
                    note = Some(IN_THE_WAY);
                }
                match current {
                    None => (Fate::Created, Some(put.file), put.texts),
                    Some(_) if put.file != now => (Fate::Updated, Some(put.file), put.texts),
                    Some(_) if put.foreign.is_empty() => (Fate::Unchanged, None, put.texts),
                    Some(_) => (Fate::Edited, None, put.texts),
                }
            }
        };
        if after.is_some() {
            writable(&file.path)?;
        }
        if !texts.is_empty() {
            manifest.put(installed(file, owner, known.as_ref(), current.as_deref(), texts));
        } else if let Some(known) = known {
            // The manifest keeps the original of a whole file that was edited, too.
            manifest.put(known);
        }
        manifest.share(&file.path, file.host);
        let path = file.path.clone();
        let folders = Vec::new();
        plan.changes.push(FileChange { path, fate, before: current, after, note, folders });
    }
    Ok(plan)
}

/// The note on an entry for `aw mcp` that is not ours.
const IN_THE_WAY: &str = "an entry `aw` that this aw has not written, or that was edited, is in the \
                          way: it was left alone";

/// The record of a file that has these texts of ours.
fn installed(
    file: &KitFile,
    owner: Owner<'_>,
    known: Option<&InstalledFile>,
    now: Option<&str>,
    texts: Vec<String>,
) -> InstalledFile {
    let extent = match file.writing {
        Writing::Whole(_) => Extent::Whole,
        Writing::Edits(_) | Writing::Omitted(_) => Extent::Inserted,
    };
    let made_file = match (now, known, &file.writing) {
        (None, ..) => true,
        // A file that has lost our text is somebody's.
        (Some(now), Some(known), Writing::Edits(edits)) => {
            known.made_file && without_edits(edits, now, &known.texts) != now
        }
        (Some(now), Some(known), Writing::Whole(_) | Writing::Omitted(_)) => {
            known.made_file && known.texts.iter().any(|text| now.contains(text))
        }
        (Some(now), None, Writing::Edits(edits)) => {
            !now.is_empty() && without_edits(edits, now, &texts).is_empty()
        }
        (Some(now), None, Writing::Whole(_) | Writing::Omitted(_)) => texts == [now],
    };
    let mut made_folders = missing_folders(&file.path);
    made_folders.extend(known.into_iter().flat_map(|known| known.made_folders.clone()));
    // A folder comes after the one that it is in.
    made_folders.sort();
    made_folders.dedup();
    InstalledFile {
        path: known.map_or(&file.path, |known| &known.path).clone(),
        project: owner.project.map(Path::to_owned),
        hosts: known.map_or(vec![file.host], |known| known.hosts.clone()),
        lang: owner.lang.to_owned(),
        extent,
        role: role_of(&file.writing).map(|role| role.as_str().to_owned()),
        texts,
        earlier: Vec::new(),
        made_file,
        made_folders,
    }
}

fn role_of(writing: &Writing) -> Option<Role> {
    let Writing::Edits(edits) = writing else { return None };
    edits.iter().find_map(|edit| match edit {
        Edit::TomlEntry(entry) | Edit::JsonEntry(entry) => entry.role,
        Edit::Block(_) | Edit::Variable { .. } | Edit::Hook | Edit::Allow(_) => None,
    })
}

/// Adds files to the manifest that are exactly as this aw would write them, for instance in a
/// project whose kit another user installed.
///
/// A host has the kit if all its files are there. For a named host, one of them is enough.
pub fn adopt(files: &[KitFile], named: &[Host], owner: Owner<'_>, manifest: &mut Manifest) {
    let known = manifest.clone();
    // The files of other agents are files of Codex too, so that these say nothing of those.
    for host in Host::ALL.into_iter().filter(|host| *host != Host::Agents || named.contains(host)) {
        let own = files.iter().filter(|file| file.host == host);
        let own = own.filter(|file| stays_in(owner.project, &file.path).is_ok());
        let seen: Vec<(&KitFile, Recognised)> =
            own.map(|file| (file, recognised(file, known.of(&file.path)))).collect();
        let whole = !seen.iter().any(|(_, seen)| matches!(seen, Recognised::Missing));
        if !whole && !named.contains(&host)
            || !seen.iter().any(|(_, seen)| matches!(seen, Recognised::Ours { .. }))
        {
            continue;
        }
        for (file, seen) in seen {
            if let Recognised::Ours { now, texts } = seen
                && manifest.of(&file.path).is_none()
            {
                let made_folders = folders_of_ours(&file.path, owner.project);
                let installed = installed(file, owner, None, Some(&now), texts);
                manifest.put(InstalledFile { made_folders, ..installed });
            }
            manifest.share(&file.path, host);
        }
    }
}

/// Whether a file that may not be in the manifest is ours.
enum Recognised {
    /// It is as this aw would write it.
    Ours {
        now: String,
        texts: Vec<String>,
    },
    /// It is in the manifest, or somebody's own, or not needed.
    Settled,
    Missing,
}

fn recognised(file: &KitFile, known: Option<&InstalledFile>) -> Recognised {
    if known.is_some() || matches!(file.writing, Writing::Omitted(_)) {
        return Recognised::Settled;
    }
    let Ok(Some(now)) = read(&file.path) else { return Recognised::Missing };
    match &file.writing {
        Writing::Whole(text) if now == *text => Recognised::Ours { texts: vec![text.clone()], now },
        Writing::Edits(edits) => {
            let mut rest = now.clone();
            let mut texts = Vec::new();
            // The last edit is undone first, so that each finds the separators it would have made.
            for edit in edits.iter().rev() {
                match edit.insert(&rest, &[]) {
                    Ok(Insertion::Present { inserted }) => {
                        texts.push(inserted);
                        rest = edit.remove(&rest, &texts);
                    }
                    Ok(Insertion::Foreign) if !matches!(edit, Edit::Block(_)) => {}
                    Ok(_) | Err(_) => return Recognised::Missing,
                }
            }
            texts.reverse();
            if texts.is_empty() { Recognised::Settled } else { Recognised::Ours { now, texts } }
        }
        Writing::Whole(_) | Writing::Omitted(_) => Recognised::Missing,
    }
}

/// The folders that only the kit needs: in a project all of them, else that of a skill.
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

/// Files that look like ours but are neither in the manifest nor as this aw would write them. They
/// are reported and left alone.
pub fn unknown(files: &[KitFile], manifest: &Manifest) -> Vec<FileChange> {
    let mut changes: Vec<FileChange> = Vec::new();
    for file in files {
        let is_listed = changes.iter().any(|change| change.path == file.path);
        let Ok(Some(now)) = read(&file.path) else { continue };
        let alike = match &file.writing {
            Writing::Whole(_) => true,
            Writing::Edits(edits) => {
                let own = edits.iter().filter(|edit| !matches!(edit, Edit::Variable { .. }));
                own.into_iter().any(|edit| edit.is_in(&now))
            }
            Writing::Omitted(_) => false,
        };
        if alike && !is_listed && manifest.of(&file.path).is_none() {
            changes.push(FileChange {
                path: file.path.clone(),
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

/// Plans the removal of the files of these hosts.
pub fn uninstall(
    hosts: &[Host],
    project: Option<&Path>,
    manifest: &mut Manifest,
) -> Result<Plan, CannotPlan> {
    removal(hosts, project, manifest, |_| true)
}

/// Plans the removal of files that an earlier aw wrote for these hosts and this one does not.
pub fn retire(
    hosts: &[Host],
    project: Option<&Path>,
    files: &[KitFile],
    manifest: &mut Manifest,
) -> Result<Plan, CannotPlan> {
    let current: Vec<PathBuf> =
        files.iter().filter_map(|file| Some(manifest.of(&file.path)?.path.clone())).collect();
    let plan = removal(hosts, project, manifest, |file| !current.contains(&file.path))?;
    // A folder that was made for such a file may now be there for another.
    for folder in plan.changes.iter().flat_map(|change| &change.folders) {
        let inside = |file: &&mut InstalledFile| file.path.starts_with(folder);
        for file in manifest.files.iter_mut().filter(inside) {
            file.made_folders.push(folder.clone());
            file.made_folders.sort();
            file.made_folders.dedup();
        }
    }
    Ok(plan)
}

fn removal(
    hosts: &[Host],
    project: Option<&Path>,
    manifest: &mut Manifest,
    goes: impl Fn(&InstalledFile) -> bool,
) -> Result<Plan, CannotPlan> {
    let mut plan = Plan::default();
    let concerned = |file: &&InstalledFile| {
        file.project.as_deref() == project
            && file.hosts.iter().any(|host| hosts.contains(host))
            && goes(file)
    };
    let files: Vec<InstalledFile> = manifest.files.iter().filter(concerned).cloned().collect();
    for file in files {
        let path = file.path.clone();
        stays_in(project, &path)?;
        let before = match read(&path) {
            // The file is gone, or the folder that it was in.
            Err(CannotPlan::DeadLink(_) | CannotPlan::NotAFile(_)) => None,
            Err(CannotPlan::Io(_, error)) if error.kind() == ErrorKind::NotADirectory => None,
            before => before?,
        };
        let mut file = file.seen_in(before.as_deref());
        file.hosts.retain(|host| !hosts.contains(host));
        if !file.hosts.is_empty() {
            manifest.put(file);
            plan.changes.push(FileChange {
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
            Some(now) => undone(now, &file),
        };
        if after.is_some() || fate == Fate::Removed {
            writable(&path)?;
        }
        manifest.forget(&path);
        let folders = file.made_folders;
        plan.changes.push(FileChange { path, fate, before, after, note: None, folders });
    }
    Ok(plan)
}

/// The file without our texts.
fn undone(now: &str, file: &InstalledFile) -> (Fate, Option<String>) {
    let edits = file.edits();
    let left = match file.extent {
        // Somebody may have replaced it by a file that has some lines in common with ours.
        Extent::Whole => {
            let ours = file.texts.concat();
            if !is_mostly(now, &ours) {
                return (Fate::Edited, None);
            }
            without_ours(now, &ours)
        }
        Extent::Inserted => without_edits(&edits, now, &file.texts),
    };
    match file.extent {
        // Nothing but our text was in it.
        Extent::Whole if left.trim().is_empty() => (Fate::Removed, None),
        Extent::Inserted if file.made_file && left.is_empty() => (Fate::Removed, None),
        Extent::Inserted if left == now && edits.iter().any(|edit| edit.is_in(now)) => {
            (Fate::Edited, None)
        }
        _ if left == now => (Fate::Unchanged, None),
        Extent::Inserted if file.is_whole_in(now) => (Fate::Restored, Some(left)),
        Extent::Whole | Extent::Inserted => (Fate::Kept, Some(left)),
    }
}

/// Whether a file has at least half of our lines.
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

impl FileChange {
    /// Whether the file is written or removed.
    pub fn writes(&self) -> bool {
        self.after.is_some() || self.fate == Fate::Removed
    }
}

fn read(path: &Path) -> Result<Option<String>, CannotPlan> {
    // Reading a pipe would block, and a link to a device must not be replaced by a file.
    if fs::metadata(path).is_ok_and(|about| !about.is_file()) {
        return Err(CannotPlan::NotAFile(path.to_owned()));
    }
    match files::read(path, SETTINGS_LIMIT) {
        Ok(bytes) => {
            String::from_utf8(bytes).map(Some).map_err(|_| CannotPlan::NotText(path.to_owned()))
        }
        Err(missing) if missing.kind() == ErrorKind::NotFound => {
            // One of its folders may be a link that leads nowhere.
            let there = path.ancestors().find(|above| fs::symlink_metadata(above).is_ok());
            match there.filter(|there| !there.exists()) {
                Some(dead) => Err(CannotPlan::DeadLink(dead.to_owned())),
                None => Ok(None),
            }
        }
        Err(error) => Err(CannotPlan::Io(path.to_owned(), error)),
    }
}

/// Refuses a path of a project that leads out of it: a link in a checkout could lead to any file of
/// its user.
fn stays_in(project: Option<&Path>, path: &Path) -> Result<(), CannotPlan> {
    let Some(root) = project else { return Ok(()) };
    let to = real(path);
    // The `.git` folder is not part of the project either.
    match to.strip_prefix(real(root)) {
        Ok(inside) if !inside.starts_with(".git") => Ok(()),
        Ok(_) | Err(_) => Err(CannotPlan::LeadsOut { path: path.to_owned(), to }),
    }
}

/// Refuses a file whose mode forbids writing.
fn writable(path: &Path) -> Result<(), CannotPlan> {
    match fs::metadata(path) {
        Ok(file) if file.permissions().readonly() => Err(CannotPlan::ReadOnly(path.to_owned())),
        Ok(_) | Err(_) => Ok(()),
    }
}
