//! Reads files that another person may have made. It never blocks on a pipe, never reads a device, and
//! never reads more than a limit.
//!
//! The checks are made on the open file, so that it cannot be replaced between check and read.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::dir::Dir;
use nix::fcntl::{OFlag, openat, readlinkat};
use nix::sys::stat::Mode;

/// Reads a regular file of at most this many bytes. Links are followed.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let flags = (OFlag::O_NONBLOCK | OFlag::O_CLOEXEC | OFlag::O_NOCTTY).bits();
    read_regular(&OpenOptions::new().read(true).custom_flags(flags).open(path)?, limit)
}

/// Reads a UTF-8 file of at most this many bytes. Links are followed.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    let text = String::from_utf8(read(path, limit)?);
    text.map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// Whether links are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// Links are followed: the files belong to the user.
    Follow,
    /// Links are an error: they may lead to anything that the user can read.
    Refuse,
}

/// An open folder, whose files and folders are opened by name.
#[derive(Debug)]
pub struct Folder {
    opened: OwnedFd,
    links: Links,
}

impl Folder {
    /// Opens the folder at this path. `links` applies to the files and folders in it, not to the path.
    pub fn open(path: &Path, links: Links) -> io::Result<Self> {
        let flags = (OFlag::O_DIRECTORY | OFlag::O_CLOEXEC).bits();
        let opened = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        Ok(Folder { opened: opened.into(), links })
    }

    /// Opens a folder in it.
    pub fn folder(&self, name: &OsStr) -> io::Result<Self> {
        let opened = self.open_at(name, OFlag::O_DIRECTORY)?;
        Ok(Folder { opened, links: self.links })
    }

    /// Reads a regular file in it, of at most this many bytes.
    pub fn read(&self, name: &OsStr, limit: u64) -> io::Result<Vec<u8>> {
        let opened = self.open_at(name, OFlag::O_NONBLOCK | OFlag::O_NOCTTY)?;
        read_regular(&File::from(opened), limit)
    }

    /// Lists the names in it, sorted.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        // The listing has a position of its own, so it gets a descriptor of its own.
        let mut dir =
            Dir::openat(&self.opened, ".", OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty())?;
        let mut names = Vec::new();
        for entry in dir.iter() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                names.push(OsStr::from_bytes(name).to_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    fn open_at(&self, name: &OsStr, flags: OFlag) -> io::Result<OwnedFd> {
        let no_follow = match self.links {
            Links::Follow => OFlag::empty(),
            Links::Refuse => OFlag::O_NOFOLLOW,
        };
        let opened =
            openat(&self.opened, name, flags | no_follow | OFlag::O_CLOEXEC, Mode::empty());
        opened.map_err(|error| {
            // Systems differ in the error for a link that is not followed.
            let is_link = readlinkat(&self.opened, name).is_ok();
            if self.links == Links::Refuse && is_link {
                return io::Error::new(ErrorKind::InvalidInput, LINK);
            }
            error.into()
        })
    }
}

/// The error for a link that is not followed.
const LINK: &str = "it is a link, which is not followed in a project: put the file itself there";

fn read_regular(file: &File, limit: u64) -> io::Result<Vec<u8>> {
    let invalid = |why: String| io::Error::new(ErrorKind::InvalidInput, why);
    if !file.metadata()?.is_file() {
        return Err(invalid("it is not a regular file".to_owned()));
    }
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(invalid(format!("it is longer than {limit} bytes")));
    }
    Ok(bytes)
}
