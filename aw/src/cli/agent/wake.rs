//! Whether an idle agent is woken: by the hook of Claude Code, or by `codex queue`.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use super::super::doctor::Check;
use super::doctor::{json_in, ok, warning};
use super::tools::wakes_codex;
use super::{paths, project};
use crate::files::read_text;
use crate::kit::SETTINGS_LIMIT;
use crate::kit::edit::hook;
use crate::kit::host::{Host, HostPaths};
use crate::programs;
use crate::settings::ClientSettings;

/// How long `codex queue --help` may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Whether the hook of the kit wakes Claude Code in this project.
pub(in crate::cli) fn wakes_claude(settings: &ClientSettings) -> bool {
    // Claude Code names its project to the programs that it starts; a shell may be in any folder.
    let named = std::env::var_os("CLAUDE_PROJECT_DIR").map(PathBuf::from);
    let named = named.filter(|folder| folder.is_absolute());
    let (Ok(paths), Some(project)) = (paths(), named.or_else(|| project(settings).ok())) else {
        return false;
    };
    hook_of_claude(&paths, &project).is_some() && disabled_by(&paths, &project).is_none()
}

/// The file with the hook that Claude Code runs in this project.
fn hook_of_claude(paths: &HostPaths, project: &Path) -> Option<PathBuf> {
    let has_it =
        |file: &PathBuf| read_text(file, SETTINGS_LIMIT).is_ok_and(|text| hook::is_in(&text));
    paths.claude_settings(project).into_iter().find(has_it)
}

/// The file that turns all hooks off.
fn disabled_by(paths: &HostPaths, project: &Path) -> Option<PathBuf> {
    let files = paths.claude_settings(project).into_iter();
    let said = |file: PathBuf| Some((json_in(&file)["disableAllHooks"].as_bool()?, file));
    let (is_off, file) = files.filter_map(said).next_back()?;
    is_off.then_some(file)
}

/// Checks whether the host wakes its agent, if it was set up for that.
pub(super) fn wake(host: Host, paths: &HostPaths, project: &Path) -> Option<Check> {
    match host {
        Host::Claude => {
            let file = hook_of_claude(paths, project)?;
            Some(match disabled_by(paths, project) {
                Some(off) => warning(
                    host,
                    "wake",
                    &format!(
                        "{} turns all hooks off, so an idle agent is not woken",
                        off.display()
                    ),
                    "Remove disableAllHooks there, or run aw agent uninstall claude and install it without --wake",
                ),
                None => ok(host, "wake", &format!("{} wakes an idle agent", file.display())),
            })
        }
        Host::Codex if wakes_codex(paths, project) => Some(match has_queue() {
            true => ok(host, "wake", "codex queue wakes an idle agent"),
            false => warning(
                host,
                "wake",
                "there is no `codex queue` here, so an idle agent is not woken",
                "Update Codex, and put it into a folder of the PATH",
            ),
        }),
        Host::Codex | Host::Cursor | Host::Gemini | Host::Opencode | Host::Agents => None,
    }
}

/// Whether the Codex in PATH can queue a message.
fn has_queue() -> bool {
    let mut command = programs::command("codex");
    command.args(["queue", "--help"]).stdin(Stdio::null());
    let Ok(mut child) = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn() else {
        return false;
    };
    let ends = Instant::now() + PATIENCE;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if Instant::now() < ends => thread::sleep(Duration::from_millis(10)),
            Ok(None) | Err(_) => {
                // It is our child, so the process id is still its own.
                let _ = child.kill();
                let _ = child.wait();
                return false;
            }
        }
    }
}
