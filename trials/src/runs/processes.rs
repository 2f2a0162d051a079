//! The processes of a run, found in the system's table.

use std::fs;
use std::path::Path;

use nix::unistd::Pid;

/// A process as the system lists it.
struct Listed {
    pid: i32,
    line: String,
    environment: String,
}

/// All processes that can be read. One that has ended has no line.
fn all() -> impl Iterator<Item = Listed> {
    let entries = fs::read_dir("/proc").expect("the system lists its processes");
    entries.flatten().filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let text = |name| {
            let bytes = fs::read(entry.path().join(name)).ok()?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        let line = text("cmdline").filter(|line| !line.is_empty())?;
        Some(Listed { pid, line, environment: text("environ")? })
    })
}

/// The helper and the agents of a run: by its mark, or by its folder in their lines.
pub(super) fn of_run(debate: &str, folder: &Path) -> Vec<String> {
    let mark = format!("AW_RUN={debate}");
    let folder = folder.to_str().expect("the trial's own folder");
    all()
        .filter(|one| one.pid.cast_unsigned() != std::process::id())
        .filter(|one| {
            one.environment.split('\0').any(|set| set == mark) || one.line.contains(folder)
        })
        .map(|one| format!("{} {}", one.pid, one.line.replace('\0', " ")))
        .collect()
}

/// The helper that a runner has started.
pub(super) fn helper_of(runner: Pid) -> Option<Pid> {
    children(runner).into_iter().find(|child| {
        let line = fs::read_to_string(format!("/proc/{child}/cmdline"));
        line.is_ok_and(|line| line.split('\0').nth(1) == Some("lead-group"))
    })
}

/// The first process that a process has started.
pub(super) fn child_of(pid: Pid) -> Option<Pid> {
    children(pid).into_iter().next()
}

/// The server of a home.
pub(super) fn server_of(home: &Path) -> Option<Pid> {
    let home = format!("HOME={}", home.display());
    all()
        .find(|one| {
            one.line.split('\0').nth(1) == Some("serve")
                && one.environment.split('\0').any(|set| set == home)
        })
        .map(|one| Pid::from_raw(one.pid))
}

/// The processes that any thread of a process has started.
fn children(pid: Pid) -> Vec<Pid> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|one| fs::read_to_string(one.path().join("children")).ok());
    let words: Vec<String> = lists
        .flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    words.iter().filter_map(|word| word.parse().ok()).map(Pid::from_raw).collect()
}
