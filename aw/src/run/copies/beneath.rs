//! Works below an open folder by name, and follows no link.
//!
//! Each step opens one name in an open folder, so a link that somebody puts in between leads nowhere.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, open, openat, renameat};
use nix::sys::stat::{FchmodatFlags, FileStat, Mode, SFlag, fchmodat, fstatat, mkdirat};
use nix::unistd::{UnlinkatFlags, unlinkat};

/// The kind of file behind a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    File,
    Folder,
    Link,
    Special,
}

pub(crate) fn kind(stat: &FileStat) -> FileKind {
    match SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT {
        SFlag::S_IFREG => FileKind::File,
        SFlag::S_IFDIR => FileKind::Folder,
        SFlag::S_IFLNK => FileKind::Link,
        _ => FileKind::Special,
    }
}

/// Returns the kind, size and mode of a name, or `None` if it is free.
pub(crate) fn stat(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<Option<FileStat>> {
    match fstatat(folder, name, AtFlags::AT_SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::ENOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Opens a folder in a folder.
pub(crate) fn open_folder(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    Ok(openat(folder, name, flags, Mode::empty())?)
}

/// Opens a folder in a folder, and gives its owner all rights first if it lacks them.
pub(crate) fn open_own_folder(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd> {
    if let Some(found) = stat(folder, name)?
        && kind(&found) == FileKind::Folder
        && Mode::from_bits_truncate(found.st_mode) & Mode::S_IRWXU != Mode::S_IRWXU
    {
        allow_all(folder, name)?;
    }
    open_folder(folder, name)
}

/// Sets the mode of a folder to 0700.
pub(crate) fn allow_all(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
    let set = |flag| fchmodat(folder, name, Mode::S_IRWXU, flag);
    match set(FchmodatFlags::NoFollowSymlink) {
        // A Linux without /proc cannot do it in one step. The caller has just seen a folder of this name.
        Err(Errno::EOPNOTSUPP | Errno::ENOSYS) => set(FchmodatFlags::FollowSymlink)?,
        done => done?,
    }
    Ok(())
}

/// Opens a file for reading. A pipe or a device does not block; the caller checks what it is.
pub(crate) fn open_file(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<File> {
    let flags = OFlag::O_RDONLY
        | OFlag::O_NOFOLLOW
        | OFlag::O_NONBLOCK
        | OFlag::O_NOCTTY
        | OFlag::O_CLOEXEC;
    Ok(File::from(openat(folder, name, flags, Mode::empty())?))
}

/// Creates a file under a free name.
pub(crate) fn create(folder: BorrowedFd<'_>, name: &OsStr, executable: bool) -> io::Result<File> {
    let flags =
        OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let mode = if executable { Mode::S_IRWXU } else { Mode::S_IRUSR | Mode::S_IWUSR };
    Ok(File::from(openat(folder, name, flags, mode)?))
}

/// Creates a folder under a free name.
pub(crate) fn make_folder(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
    Ok(mkdirat(folder, name, Mode::S_IRWXU)?)
}

/// Lists the names in a folder, in the order of the disk.
pub(crate) fn names(folder: BorrowedFd<'_>) -> io::Result<Vec<OsString>> {
    // The listing has a position of its own, so it gets a descriptor of its own.
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let mut dir = Dir::openat(folder, ".", flags, Mode::empty())?;
    let mut names = Vec::new();
    for entry in dir.iter() {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(OsStr::from_bytes(name).to_owned());
        }
    }
    Ok(names)
}

/// Removes a name and all that is below it. A free name is no error.
///
/// An agent can nest folders deeper than a stack or the limit of descriptors allows. So folders in the folder
/// are moved up beside it and then removed one by one: this is never deeper than one folder.
pub(crate) fn remove(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
    match unlinkat(folder, name, UnlinkatFlags::NoRemoveDir) {
        Ok(()) | Err(Errno::ENOENT) => return Ok(()),
        Err(error) => match stat(folder, name)? {
            Some(found) if kind(&found) == FileKind::Folder => {}
            Some(_) => return Err(error.into()),
            None => return Ok(()),
        },
    }
    let mut waiting = vec![name.to_owned()];
    let mut number = 0_u64;
    while let Some(name) = waiting.pop() {
        if unlinkat(folder, name.as_os_str(), UnlinkatFlags::RemoveDir).is_ok() {
            continue;
        }
        let opened = open_own_folder(folder, &name)?;
        for inner in names(opened.as_fd())? {
            let inner = inner.as_os_str();
            if unlinkat(&opened, inner, UnlinkatFlags::NoRemoveDir).is_ok()
                || unlinkat(&opened, inner, UnlinkatFlags::RemoveDir).is_ok()
            {
                continue;
            }
            match stat(opened.as_fd(), inner)? {
                // Moving a folder writes to its entry `..`, so it must be writable.
                Some(found) if kind(&found) == FileKind::Folder => {
                    allow_all(opened.as_fd(), inner)?;
                }
                Some(_) => return Err(io::ErrorKind::PermissionDenied.into()),
                None => continue,
            }
            loop {
                number += 1;
                let moved = OsString::from(format!(".aw-removed-{number}"));
                match renameat(&opened, inner, folder, moved.as_os_str()) {
                    Ok(()) => {
                        waiting.push(moved);
                        break;
                    }
                    // A name of an agent, or of a removal that was cut off.
                    Err(Errno::EEXIST | Errno::ENOTEMPTY | Errno::ENOTDIR) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        match unlinkat(folder, name.as_os_str(), UnlinkatFlags::RemoveDir) {
            Ok(()) | Err(Errno::ENOENT) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Opens the folder above a path, which must not be a link, and returns it with the path's last name.
pub(crate) fn above(path: &Path) -> io::Result<(OwnedFd, OsString)> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path has no name"));
    };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    Ok((open(parent, flags, Mode::empty())?, name.to_owned()))
}

/// Opens folders below a root one after the other, and keeps those of the last path open: sorted paths open
/// each folder once.
#[derive(Debug)]
pub(crate) struct FolderWalk {
    root: OwnedFd,
    open: Vec<(OsString, OwnedFd)>,
    make: bool,
}

impl FolderWalk {
    /// Opens folders that exist.
    pub(crate) fn reading(root: OwnedFd) -> Self {
        FolderWalk { root, open: Vec::new(), make: false }
    }

    /// Makes folders that do not exist.
    pub(crate) fn making(root: OwnedFd) -> Self {
        FolderWalk { root, open: Vec::new(), make: true }
    }

    /// Opens the folder at this path, which must only go down.
    pub(crate) fn folder(&mut self, path: &Path) -> io::Result<BorrowedFd<'_>> {
        let mut same = 0;
        let mut parts = path.components();
        let mut next = parts.next();
        while let Some(part) = next {
            if self.open.get(same).is_none_or(|(name, _)| name != part.as_os_str()) {
                break;
            }
            same += 1;
            next = parts.next();
        }
        self.open.truncate(same);
        while let Some(part) = next {
            let Component::Normal(name) = part else {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "the path leaves its root",
                ));
            };
            let above = self.open.last().map_or(self.root.as_fd(), |(_, folder)| folder.as_fd());
            let mut opened = open_folder(above, name);
            if self.make && matches!(&opened, Err(error) if error.kind() == io::ErrorKind::NotFound)
            {
                make_folder(above, name)?;
                opened = open_folder(above, name);
            }
            self.open.push((name.to_owned(), opened?));
            next = parts.next();
        }
        Ok(self.open.last().map_or(self.root.as_fd(), |(_, folder)| folder.as_fd()))
    }
}

/// Splits a path into the folder above and the last name.
pub(crate) fn split(path: &Path) -> (&Path, &OsStr) {
    (path.parent().unwrap_or(Path::new("")), path.file_name().unwrap_or_default())
}
