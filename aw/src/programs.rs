//! Finds and starts other programs by `PATH`, without its relative entries.
//!
//! A relative entry leads into the current folder, which may be a checkout of another person's code. A program
//! in it must not be started.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns `PATH` without its relative entries.
pub fn path() -> OsString {
    // Joining cannot fail: the entries come from a valid list.
    env::join_paths(entries().filter(|folder| folder.is_absolute())).unwrap_or_default()
}

/// Returns the first program of this name in an absolute entry of `PATH`.
pub fn find(name: &str) -> Option<PathBuf> {
    let folders = entries().filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(name)).find(|file| is_program(file))
}

/// Returns the program that a shell in this folder would start, also by a relative entry of
/// `PATH`: to be compared and shown, never to be started.
pub fn find_as_shell_in(folder: &Path, name: &str) -> Option<PathBuf> {
    entries().map(|entry| folder.join(entry).join(name)).find(|file| is_program(file))
}

/// A command that starts this program, and finds others in absolute entries of `PATH` only.
pub fn command(name: &str) -> Command {
    // A missing program fails when it is started, with the error of the system.
    let program = find(name).unwrap_or_else(|| Path::new("/nonexistent").join(name));
    let mut command = Command::new(program);
    command.env("PATH", path());
    command
}

/// Returns the file of the running program, with all links resolved.
pub fn own() -> io::Result<PathBuf> {
    env::current_exe().and_then(fs::canonicalize)
}

fn entries() -> impl Iterator<Item = PathBuf> {
    let all = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&all).collect::<Vec<_>>().into_iter()
}

fn is_program(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}
