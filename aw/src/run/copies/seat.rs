//! The copy of a seat: made equal to `base` before each turn, read after it.
//!
//! An agent may have put anything there: links, pipes, folders without rights, folders in folders in folders.
//! `base` lies outside of what a sandboxed agent can write.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, FileType};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{readlinkat, renameat};
use nix::sys::stat::Mode;
use nix::unistd::symlinkat;

use super::MAX_PLAN;
use super::beneath::{self, FileKind, FolderWalk};
use super::error::PlanFlaw;
use super::names::OWN;
use super::source::Copier;

/// The files of a copy that are not in `base`.
#[derive(Debug, Clone, Copy)]
pub struct Extras<'a> {
    /// Path of the plan in the copy, with its newest text, if the run has a plan.
    pub plan: Option<(&'a Path, &'a str)>,
    /// Names and contents of the files in `.aw`.
    pub own: &'a [(&'a str, &'a [u8])],
}

/// Makes the seat's copy equal to `base`, and puts in the plan, `.aw` and an empty repository.
///
/// A file stays only if its bytes equal those of `base`. Times and inodes prove nothing: an agent can set `mtime`;
/// `ctime` misses writes through a mapping on tmpfs and, for a while, on macOS, and it would need a record beside
/// the copy. Comparing 30,000 files of 126 MB takes 0.35 s of processor time, copying them 0.65 s. A file that
/// differs is never written: it is removed and made again, so nothing is written through a link or through a
/// second name of a file outside.
pub fn refresh(base: &Path, copy: &Path, extras: &Extras<'_>) -> io::Result<()> {
    let (above, name) = beneath::above(copy)?;
    let mended = mend(base, above.as_fd(), &name, extras);
    if mended.is_ok() || beneath::stat(above.as_fd(), &name)?.is_none() {
        return mended;
    }
    // Some leftover cannot be removed: macOS has files that even their owner cannot change, and a process that
    // has left its group may still be writing. The whole copy moves out of the way. What remains of it goes
    // with the run's folder.
    let mut number = 1;
    loop {
        let mut old = name.clone();
        old.push(format!(".old-{number}"));
        if beneath::stat(above.as_fd(), &old)?.is_none() {
            renameat(&above, name.as_os_str(), &above, old.as_os_str())?;
            let made = mend(base, above.as_fd(), &name, extras);
            let _ = beneath::remove(above.as_fd(), &old);
            return made;
        }
        number += 1;
    }
}

fn mend(base: &Path, above: BorrowedFd<'_>, name: &OsStr, extras: &Extras<'_>) -> io::Result<()> {
    let folder = mend_folder(above, name)?;
    let mut pass = Pass {
        plan: extras.plan.map(|(path, _)| path),
        purpose: Purpose::Mend(Copier::default()),
        buffers: Buffers::new(),
    };
    pass.walk(base, folder.as_fd(), Path::new(""))?;
    put_extras(folder, extras)
}

/// Opens a folder of the copy with mode 0700, in place of whatever has its name.
fn mend_folder(above: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd> {
    match beneath::stat(above, name)? {
        Some(stat) if beneath::kind(&stat) == FileKind::Folder => {
            if !is_private(&stat) {
                beneath::allow_all(above, name)?;
            }
        }
        Some(_) => {
            beneath::remove(above, name)?;
            beneath::make_folder(above, name)?;
        }
        None => beneath::make_folder(above, name)?,
    }
    beneath::open_folder(above, name)
}

fn is_private(stat: &nix::sys::stat::FileStat) -> bool {
    let all = Mode::S_IRWXU | Mode::S_IRWXG | Mode::S_IRWXO;
    Mode::from_bits_truncate(stat.st_mode) & all == Mode::S_IRWXU
}

/// Files of an empty repository. It is written by hand: git in a copy could read what an agent has left.
const REPOSITORY: [(&str, &str); 2] = [
    ("HEAD", "ref: refs/heads/main\n"),
    (
        "config",
        "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n",
    ),
];
const REPOSITORY_FOLDERS: [&str; 6] =
    ["objects", "objects/info", "objects/pack", "refs", "refs/heads", "refs/tags"];

fn put_extras(copy: OwnedFd, extras: &Extras<'_>) -> io::Result<()> {
    for name in [OWN, ".git"] {
        beneath::remove(copy.as_fd(), OsStr::new(name))?;
    }
    let mut walk = FolderWalk::making(copy);
    if let Some((path, text)) = extras.plan {
        let (parent, name) = beneath::split(path);
        let folder = walk.folder(parent)?;
        beneath::remove(folder, name)?;
        beneath::create(folder, name, false)?.write_all(text.as_bytes())?;
    }
    let own = walk.folder(Path::new(OWN))?;
    for (name, content) in extras.own {
        beneath::create(own, OsStr::new(name), false)?.write_all(content)?;
    }
    let git = Path::new(".git");
    for folder in REPOSITORY_FOLDERS {
        walk.folder(&git.join(folder))?;
    }
    let git = walk.folder(git)?;
    for (name, content) in REPOSITORY {
        beneath::create(git, OsStr::new(name), false)?.write_all(content.as_bytes())?;
    }
    Ok(())
}

/// Files of a copy that differ from `base`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangedFiles {
    /// The first paths. A new folder stands for all in it.
    pub first: Vec<PathBuf>,
    /// Number of all paths.
    pub count: usize,
}

/// The longest list of paths in a note.
const MAX_NOTED: usize = 50;

/// Finds files, links and folders that the agent changed, made or removed. The plan, `.aw` and `.git` do not
/// count.
pub fn changed_files(base: &Path, copy: &Path, plan: Option<&Path>) -> io::Result<ChangedFiles> {
    let mut pass =
        Pass { plan, purpose: Purpose::Note(ChangedFiles::default()), buffers: Buffers::new() };
    let (above, name) = beneath::above(copy)?;
    match beneath::open_folder(above.as_fd(), &name) {
        Ok(folder) => pass.walk(base, folder.as_fd(), Path::new(""))?,
        // The agent has replaced its whole copy.
        Err(_) => pass.differs(Path::new(".")),
    }
    match pass.purpose {
        Purpose::Note(changed) => Ok(changed),
        Purpose::Mend(_) => Ok(ChangedFiles::default()),
    }
}

/// One pass over a copy, side by side with `base`.
struct Pass<'a> {
    plan: Option<&'a Path>,
    purpose: Purpose,
    buffers: Buffers,
}

enum Purpose {
    /// Make the copy equal to `base`.
    Mend(Copier),
    /// Note what differs.
    Note(ChangedFiles),
}

impl Pass<'_> {
    /// Compares one folder and those in it. Not deeper than `base`, which has a limit.
    fn walk(&mut self, base: &Path, folder: BorrowedFd<'_>, path: &Path) -> io::Result<()> {
        let at_root = path.as_os_str().is_empty();
        let own = |name: &OsStr| at_root && (name == OWN || name == ".git");
        let mut expected: BTreeMap<OsString, FileType> = BTreeMap::new();
        for entry in fs::read_dir(base)? {
            let entry = entry?;
            if !own(&entry.file_name()) {
                expected.insert(entry.file_name(), entry.file_type()?);
            }
        }
        // What is too much goes first: on a disk that ignores case it may have the name of a file to be made.
        for name in beneath::names(folder)? {
            let inner = path.join(&name);
            if expected.contains_key(&name) || own(&name) || self.plan == Some(&inner) {
                continue;
            }
            match self.purpose {
                Purpose::Mend(_) => beneath::remove(folder, &name)?,
                Purpose::Note(_) => self.differs(&inner),
            }
        }
        for (name, kind) in expected {
            let inner = path.join(&name);
            if self.plan == Some(&inner) {
                continue;
            }
            let base = base.join(&name);
            if kind.is_dir() {
                self.folder(&base, folder, &name, &inner)?;
            } else if kind.is_symlink() {
                self.link(&base, folder, &name, &inner)?;
            } else {
                self.file(&base, folder, &name, &inner)?;
            }
        }
        Ok(())
    }

    fn folder(
        &mut self,
        base: &Path,
        above: BorrowedFd<'_>,
        name: &OsStr,
        path: &Path,
    ) -> io::Result<()> {
        let opened = match self.purpose {
            Purpose::Mend(_) => mend_folder(above, name)?,
            Purpose::Note(_) => {
                let private = beneath::stat(above, name)?.is_some_and(|stat| is_private(&stat));
                match beneath::open_folder(above, name) {
                    Ok(opened) if private => opened,
                    _ => {
                        self.differs(path);
                        return Ok(());
                    }
                }
            }
        };
        self.walk(base, opened.as_fd(), path)
    }

    fn link(
        &mut self,
        base: &Path,
        folder: BorrowedFd<'_>,
        name: &OsStr,
        path: &Path,
    ) -> io::Result<()> {
        let target = fs::read_link(base)?;
        if readlinkat(folder, name).is_ok_and(|found| found == target.as_os_str()) {
            return Ok(());
        }
        match self.purpose {
            Purpose::Mend(_) => {
                beneath::remove(folder, name)?;
                symlinkat(target.as_os_str(), folder, name)?;
            }
            Purpose::Note(_) => self.differs(path),
        }
        Ok(())
    }

    fn file(
        &mut self,
        base: &Path,
        folder: BorrowedFd<'_>,
        name: &OsStr,
        path: &Path,
    ) -> io::Result<()> {
        let mut original = File::open(base)?;
        let metadata = original.metadata()?;
        let copied = beneath::open_file(folder, name);
        if let Ok(mut copied) = copied
            && let Ok(found) = copied.metadata()
            && found.is_file()
            // A second name of the file may lie anywhere, and a tool that edits the copy would write there.
            && found.nlink() == 1
            && found.len() == metadata.len()
            && found.permissions().mode() == metadata.permissions().mode()
        {
            if self.buffers.equal(&mut original, &mut copied, metadata.len())? {
                return Ok(());
            }
            original = File::open(base)?;
        }
        match &mut self.purpose {
            Purpose::Mend(copier) => {
                beneath::remove(folder, name)?;
                let executable = metadata.permissions().mode() & 0o100 != 0;
                let mut made = beneath::create(folder, name, executable)?;
                copier.pour(original, metadata.len(), &mut made)
            }
            Purpose::Note(_) => {
                self.differs(path);
                Ok(())
            }
        }
    }

    fn differs(&mut self, path: &Path) {
        if let Purpose::Note(changed) = &mut self.purpose {
            changed.count += 1;
            if changed.first.len() < MAX_NOTED {
                changed.first.push(path.to_owned());
            }
        }
    }
}

struct Buffers {
    base: Vec<u8>,
    copy: Vec<u8>,
}

impl Buffers {
    fn new() -> Self {
        Buffers { base: vec![0; 128 * 1024], copy: vec![0; 128 * 1024] }
    }

    /// Whether two files have the same bytes up to this size, which is the size of both.
    fn equal(&mut self, base: &mut File, copy: &mut File, size: u64) -> io::Result<bool> {
        let mut left = size;
        while left > 0 {
            let length = usize::try_from(left).unwrap_or(usize::MAX).min(self.base.len());
            base.read_exact(&mut self.base[..length])?;
            // A file that a process is cutting off right now differs.
            if copy.read_exact(&mut self.copy[..length]).is_err() {
                return Ok(false);
            }
            if self.base[..length] != self.copy[..length] {
                return Ok(false);
            }
            left -= length as u64;
        }
        Ok(true)
    }
}

/// Reads the plan that an agent has left in its copy.
pub fn taken_plan(copy: &Path, plan: &Path) -> Result<String, PlanFlaw> {
    let unreadable = |error: io::Error| PlanFlaw::Unreadable(error.to_string());
    let (mut folder, mut name) = beneath::above(copy).map_err(unreadable)?;
    for next in plan {
        let flaw = |error| flaw_of(folder.as_fd(), &name, &error);
        let opened = beneath::open_folder(folder.as_fd(), &name).map_err(flaw)?;
        folder = opened;
        next.clone_into(&mut name);
    }
    // The kind comes first: a socket cannot be opened at all.
    match beneath::stat(folder.as_fd(), &name) {
        Ok(None) => return Err(PlanFlaw::Missing),
        Ok(Some(stat)) => match beneath::kind(&stat) {
            FileKind::File => {}
            FileKind::Link => return Err(PlanFlaw::Link),
            FileKind::Folder | FileKind::Special => return Err(PlanFlaw::NotAFile),
        },
        Err(error) => return Err(unreadable(error)),
    }
    let flaw = |error| flaw_of(folder.as_fd(), &name, &error);
    let file = beneath::open_file(folder.as_fd(), &name).map_err(flaw)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(PlanFlaw::NotAFile);
    }
    // A second name of a file outside would bring that file's text into the debate.
    if metadata.nlink() > 1 {
        return Err(PlanFlaw::Link);
    }
    let mut bytes = Vec::new();
    file.take(MAX_PLAN + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_PLAN {
        return Err(PlanFlaw::TooLong);
    }
    let text = String::from_utf8(bytes).map_err(|_| PlanFlaw::NotUtf8)?;
    if text.trim().is_empty() {
        return Err(PlanFlaw::Empty);
    }
    if text.contains('\0') {
        return Err(PlanFlaw::Nul);
    }
    Ok(text)
}

fn flaw_of(folder: BorrowedFd<'_>, name: &OsStr, error: &io::Error) -> PlanFlaw {
    if readlinkat(folder, name).is_ok() {
        return PlanFlaw::Link;
    }
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => PlanFlaw::Missing,
        _ if error.raw_os_error() == Some(Errno::ELOOP as i32) => PlanFlaw::Link,
        _ => PlanFlaw::Unreadable(error.to_string()),
    }
}
