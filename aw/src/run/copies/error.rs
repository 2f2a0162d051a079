//! What can be wrong with a plan or a source.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::PathBuf;

use super::names::shown;
use super::{MAX_BYTES, MAX_FILES, MAX_PLAN};

/// Why a run cannot begin.
#[derive(Debug)]
pub enum CopyError {
    /// There is no file at the plan's path, or its link leads nowhere.
    PlanMissing(PathBuf),
    /// The plan's path is a folder.
    PlanIsFolder(PathBuf),
    /// The plan's path is a pipe, a socket or a device.
    PlanIsSpecial(PathBuf),
    /// The plan has no text.
    PlanEmpty(PathBuf),
    /// The plan is not UTF-8 text.
    PlanNotUtf8(PathBuf),
    /// The plan contains U+0000, which no record can keep.
    PlanHasNul(PathBuf),
    /// The plan is longer than [`MAX_PLAN`].
    PlanTooLong(PathBuf),
    /// The plan cannot be read.
    PlanUnreadable(PathBuf, io::Error),
    /// A link of the repository leads the plan's path to a file outside of it.
    PlanLeadsOut {
        /// The plan's path.
        plan: PathBuf,
        /// The file that it leads to.
        target: PathBuf,
    },
    /// A pattern of `--files` is not valid.
    BadGlob {
        /// The pattern.
        glob: String,
        /// The fault.
        why: String,
    },
    /// The source has more than [`MAX_FILES`] files or [`MAX_BYTES`] bytes.
    TooLarge {
        /// Number of files.
        files: usize,
        /// Number of bytes.
        bytes: u64,
        /// The largest folders, the largest first.
        largest: Vec<FolderSize>,
    },
    /// A file or folder cannot be read or written.
    Io(PathBuf, io::Error),
}

/// A folder of a source that is too large.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderSize {
    /// Path relative to the source's root; empty for files at the root.
    pub path: PathBuf,
    /// Number of files.
    pub files: usize,
    /// Number of bytes.
    pub bytes: u64,
}

impl Display for CopyError {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            CopyError::PlanMissing(path) => write!(out, "{} does not exist", shown(path)),
            CopyError::PlanIsFolder(path) => {
                write!(out, "{} is a folder, not a file", shown(path))
            }
            CopyError::PlanIsSpecial(path) => {
                write!(out, "{} is not a regular file", shown(path))
            }
            CopyError::PlanEmpty(path) => write!(out, "{} is empty", shown(path)),
            CopyError::PlanNotUtf8(path) => write!(out, "{} is not UTF-8 text", shown(path)),
            CopyError::PlanHasNul(path) => {
                write!(out, "{} contains the character U+0000", shown(path))
            }
            CopyError::PlanTooLong(path) => {
                write!(out, "{} is longer than {MAX_PLAN} bytes", shown(path))
            }
            CopyError::PlanUnreadable(path, error) => {
                write!(out, "{} cannot be read: {error}", shown(path))
            }
            CopyError::PlanLeadsOut { plan, target } => {
                let (plan, target) = (shown(plan), shown(target));
                write!(out, "a link of the repository leads {plan} to {target}")
            }
            CopyError::BadGlob { glob, why } => {
                write!(out, "--files {}: {why}", glob.escape_debug())
            }
            CopyError::TooLarge { files, bytes, largest } => {
                write!(
                    out,
                    "the project has {files} files and {} MB, a run copies at most {MAX_FILES} files \
                     and {} MB; the largest folders:",
                    bytes / 1_000_000,
                    MAX_BYTES / 1_000_000
                )?;
                for (index, folder) in largest.iter().enumerate() {
                    let comma = if index == 0 { "" } else { "," };
                    let name = if folder.path.as_os_str().is_empty() {
                        ".".to_owned()
                    } else {
                        shown(&folder.path)
                    };
                    let megabytes = folder.bytes / 1_000_000;
                    write!(out, "{comma} {name} ({} files, {megabytes} MB)", folder.files)?;
                }
                Ok(())
            }
            CopyError::Io(path, error) => write!(out, "{}: {error}", shown(path)),
        }
    }
}

impl Error for CopyError {}

/// A fault of the plan in a seat's copy after a turn. The message is for the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanFlaw {
    /// There is no file at the plan's path.
    Missing,
    /// The plan, or a folder above it, is a link; or the file has a second name.
    Link,
    /// The plan is a folder, a pipe or a socket.
    NotAFile,
    /// The plan has no text.
    Empty,
    /// The plan is not UTF-8 text.
    NotUtf8,
    /// The plan contains U+0000.
    Nul,
    /// The plan is longer than [`MAX_PLAN`].
    TooLong,
    /// The plan cannot be read.
    Unreadable(String),
}

impl Display for PlanFlaw {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            PlanFlaw::Missing => out.write_str("the plan is gone: write it again at its path"),
            PlanFlaw::Link => {
                out.write_str("the plan is a link: put a regular file at its path instead")
            }
            PlanFlaw::NotAFile => {
                out.write_str("the plan is not a regular file: put a regular file at its path")
            }
            PlanFlaw::Empty => out.write_str("the plan is empty: write its full text"),
            PlanFlaw::NotUtf8 => out.write_str("the plan is not UTF-8 text: write it as UTF-8"),
            PlanFlaw::Nul => {
                out.write_str("the plan contains the character U+0000: write it without")
            }
            PlanFlaw::TooLong => {
                write!(out, "the plan is longer than {MAX_PLAN} bytes: make it shorter")
            }
            PlanFlaw::Unreadable(why) => {
                write!(out, "the plan cannot be read ({why}): make it a readable file")
            }
        }
    }
}

impl Error for PlanFlaw {}
