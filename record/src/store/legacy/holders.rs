//! Finds the processes that have a file open, in Linux's `/proc`. On other systems it finds none.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The other processes that have this file open, each as `node (pid 4711)`. It does not see those of
/// other users.
pub(super) fn of(path: &Path) -> Vec<String> {
    let Ok(file) = fs::metadata(path) else { return Vec::new() };
    let own = std::process::id().to_string();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter(|process| {
            let name = process.file_name();
            name != own.as_str() && name.to_string_lossy().bytes().all(|byte| byte.is_ascii_digit())
        })
        .filter(|process| {
            let open = fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten();
            let mut open = open.filter_map(|descriptor| fs::metadata(descriptor.path()).ok());
            open.any(|about| (about.dev(), about.ino()) == (file.dev(), file.ino()))
        })
        .map(|process| {
            let name = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
            format!("{} (pid {})", name.trim(), process.file_name().to_string_lossy())
        })
        .collect()
}
