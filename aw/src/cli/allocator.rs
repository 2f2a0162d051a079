//! How the server's memory is handed out, where glibc does it.
//!
//! By default glibc keeps an arena for each of many threads and learns to keep what was freed: a server
//! that has sent a few long documents stays hundreds of megabytes large, more on a machine with more cores.
//! It takes its settings from the environment and only before `main`, so the server starts itself anew.

use std::env;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Few arenas, and separate pages for a long text, which go back to the system when it is freed.
const SETTINGS: [(&str, &str); 3] = [
    ("MALLOC_ARENA_MAX", "4"),
    ("MALLOC_MMAP_THRESHOLD_", "1048576"),
    ("MALLOC_TRIM_THRESHOLD_", "1048576"),
];

/// Executes this program again with these settings, in the same process, unless the user has set
/// some. If that fails, the program continues without them.
pub(super) fn apply() {
    let is_set = |(name, _): &(&str, &str)| env::var_os(name).is_some();
    if !cfg!(target_env = "gnu") || SETTINGS.iter().any(is_set) {
        return;
    }
    let (Ok(program), mut typed) = (env::current_exe(), env::args_os()) else { return };
    let mut again = Command::new(program);
    if let Some(name) = typed.next() {
        again.arg0(name);
    }
    // It returns only if it fails.
    let _ = again.args(typed).envs(SETTINGS).exec();
}
