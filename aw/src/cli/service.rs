//! `aw server install` and `uninstall`: the server as a service of the user, by systemd or launchd.
//!
//! Installing writes one file and starts nothing; it says what to run. The file contains its own
//! checksum and the number of folders that were made for it. So uninstalling removes exactly what
//! was written, and refuses a file that was changed.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde_json::json;
use sha2::{Digest, Sha256};

use super::background::own_program;
use super::human;
use super::output::{Answer, CliError};
use super::server::running;
use crate::programs;
use crate::settings::ClientSettings;

/// The label of the service with launchd.
const LABEL: &str = "aw.server";

/// The beginning of the line that marks the file as ours.
const OURS: &str = "Written by aw server install, removed by aw server uninstall.";

/// The settings that a service does not see, because it does not inherit the environment of this shell.
const UNSEEN: [&str; 5] =
    ["AW_LISTEN", "AW_DATABASE_URL", "AW_AUTH", "AW_AUTH_TOKEN", "AW_PUBLIC_URL"];

/// The most folders that are made for the file.
const MADE: usize = 8;

/// A keeper of services.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ServiceManager {
    Systemd,
    Launchd,
}

impl ServiceManager {
    fn here() -> Self {
        if cfg!(target_os = "macos") { ServiceManager::Launchd } else { ServiceManager::Systemd }
    }

    /// Where it looks for the services of a user.
    fn file(self) -> Result<PathBuf, CliError> {
        let folder =
            |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = folder("HOME").ok_or_else(|| {
            CliError::input("there is no home folder to install into").suggest("Set HOME")
        })?;
        Ok(match self {
            ServiceManager::Systemd => folder("XDG_CONFIG_HOME")
                .unwrap_or_else(|| home.join(".config"))
                .join("systemd/user/aw.service"),
            ServiceManager::Launchd => {
                home.join("Library/LaunchAgents").join(format!("{LABEL}.plist"))
            }
        })
    }

    /// The description of the service, without the line that marks it as ours.
    fn description(self, program: &str, home: Option<&str>) -> String {
        let mut text = String::new();
        match self {
            ServiceManager::Systemd => {
                let quoted = |word: &str| {
                    let word = word.replace('\\', "\\\\").replace('"', "\\\"");
                    format!("\"{}\"", word.replace('%', "%%").replace('$', "$$"))
                };
                text.push_str("[Unit]\nDescription=aw: coding agents debate plans\n\n[Service]\n");
                if let Some(home) = home {
                    // Here a dollar stands for itself.
                    let setting = quoted(&format!("AWEAVE_HOME={home}")).replace("$$", "$");
                    let _ = writeln!(text, "Environment={setting}");
                }
                let _ = writeln!(text, "ExecStart={} serve", quoted(program));
                text.push_str(
                    "Restart=on-failure\nRestartSec=1\n# It answers held waits and finishes queued writes within four seconds.\nTimeoutStopSec=10\n\n[Install]\nWantedBy=default.target\n",
                );
            }
            ServiceManager::Launchd => {
                let plain = |word: &str| {
                    word.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
                };
                text.push_str("<plist version=\"1.0\">\n<dict>\n");
                let _ = writeln!(text, "  <key>Label</key><string>{LABEL}</string>");
                let _ = writeln!(
                    text,
                    "  <key>ProgramArguments</key><array><string>{}</string><string>serve</string></array>",
                    plain(program)
                );
                if let Some(home) = home {
                    let _ = writeln!(
                        text,
                        "  <key>EnvironmentVariables</key><dict><key>AWEAVE_HOME</key><string>{}</string></dict>",
                        plain(home)
                    );
                }
                text.push_str(
                    "  <key>RunAtLoad</key><true/>\n  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>\n</dict>\n</plist>\n",
                );
            }
        }
        text
    }

    /// The whole file: the line that marks it as ours, then the description.
    fn whole(self, description: &str, made: usize) -> String {
        let head = format!("{OURS}\nfolders made for it: {made}\n{}\n", checksum(description));
        match self {
            ServiceManager::Systemd => {
                let lines: String = head.lines().map(|line| format!("# {line}\n")).collect();
                format!("{lines}{description}")
            }
            ServiceManager::Launchd => format!(
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!--\n{head}-->\n{description}"
            ),
        }
    }

    /// The commands that start the service, or end it.
    fn commands(self, file: &Path, is_start: bool) -> Vec<String> {
        let file = file.display();
        match (self, is_start) {
            (ServiceManager::Systemd, true) => {
                vec![
                    "systemctl --user daemon-reload".to_owned(),
                    "systemctl --user enable --now aw".to_owned(),
                ]
            }
            (ServiceManager::Systemd, false) => {
                vec!["systemctl --user daemon-reload".to_owned()]
            }
            (ServiceManager::Launchd, true) => {
                vec![format!("launchctl bootstrap gui/$(id -u) '{file}'")]
            }
            (ServiceManager::Launchd, false) => {
                vec![format!("launchctl bootout gui/$(id -u)/{LABEL}")]
            }
        }
    }
}

fn checksum(text: &str) -> String {
    Sha256::digest(text).iter().fold("sha256 ".to_owned(), |mut sum, byte| {
        let _ = write!(sum, "{byte:02x}");
        sum
    })
}

/// The file in the place of ours.
enum Present {
    Missing,
    /// As it was written.
    Ours {
        description: String,
        made: usize,
    },
    /// Ours once, changed since.
    Changed,
    /// Not ours.
    Foreign,
}

fn present(manager: ServiceManager, file: &Path) -> Result<Present, CliError> {
    match fs::symlink_metadata(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Present::Missing),
        Err(error) => return Err(unusable(file, &error)),
        Ok(about) if !about.is_file() => return Ok(Present::Foreign),
        Ok(_) => {}
    }
    let Ok(text) = fs::read_to_string(file) else { return Ok(Present::Foreign) };
    if !text.lines().take(3).any(|line| line.ends_with(OURS)) {
        return Ok(Present::Foreign);
    }
    let as_written = (0..=MADE).find_map(|made| {
        let head = manager.whole("", made).lines().count();
        let description: String = text.split_inclusive('\n').skip(head).collect();
        (manager.whole(&description, made) == text).then_some((description, made))
    });
    Ok(as_written
        .map_or(Present::Changed, |(description, made)| Present::Ours { description, made }))
}

fn unusable(file: &Path, error: &io::Error) -> CliError {
    CliError::input(format!("{}: {error}", file.display())).suggest("aw doctor")
}

/// Writes the description of the service and says how to start it.
pub(super) fn install(settings: &ClientSettings) -> Result<Answer, CliError> {
    let manager = ServiceManager::here();
    let file = manager.file()?;
    let program = program()?;
    let home = env::var_os("AWEAVE_HOME").map(|_| settings.home.path().display().to_string());
    if program.contains(['\n', '\r'])
        || home.as_ref().is_some_and(|home| home.contains(['\n', '\r']))
    {
        return Err(CliError::input("the path of aw or of its data folder has a line break")
            .suggest("Move it to a path without one"));
    }
    let description = manager.description(&program, home.as_deref());
    let (message, made) = match present(manager, &file)? {
        Present::Ours { description: old, .. } if old == description => {
            ("The service is installed already", None)
        }
        Present::Ours { made, .. } => ("Service updated", Some(made)),
        Present::Missing => ("Service installed", Some(0)),
        Present::Changed | Present::Foreign => {
            return Err(not_ours(&file).suggest(format!(
                "Look at it; to install ours move it away: mv '{0}' '{0}.before'",
                file.display()
            )));
        }
    };
    if let Some(made) = made {
        let missing = file.ancestors().skip(1).take_while(|folder| !folder.exists()).count();
        let folder = file.parent().unwrap_or(&file);
        fs::create_dir_all(folder).map_err(|error| unusable(folder, &error))?;
        // A reader finds the old file or the new one, never a part of it.
        let draft = file.with_extension("aw-draft");
        let written = fs::write(&draft, manager.whole(&description, (made + missing).min(MADE)))
            .and_then(|()| fs::rename(&draft, &file));
        written.map_err(|error| unusable(&file, &error))?;
    }
    let commands = manager.commands(&file, true);
    let data = json!({"file": file.display().to_string(), "program": program, "run": commands});
    let mut answer = Answer::new(data, human::fields).message(message);
    if running(settings)?.is_some() {
        answer = answer
            .warn("a server runs in the background: run aw server stop before the service starts");
    }
    for name in UNSEEN.into_iter().filter(|name| env::var_os(name).is_some()) {
        answer = answer.warn(format!("the service does not see {name}: put it into config.toml"));
    }
    Ok(answer.next(commands.join(" && ")))
}

/// Removes the description of the service, unless it was changed.
pub(super) fn uninstall() -> Result<Answer, CliError> {
    let manager = ServiceManager::here();
    let file = manager.file()?;
    let path = file.display().to_string();
    let made = match present(manager, &file)? {
        Present::Missing => {
            let data = json!({"file": path, "removed": false});
            return Ok(Answer::new(data, human::fields).message("No service is installed"));
        }
        Present::Ours { made, .. } => made,
        Present::Changed | Present::Foreign => {
            return Err(not_ours(&file)
                .suggest(format!("Look at it, and remove it yourself if you want: rm '{path}'")));
        }
    };
    // Without the file systemd could not disable the service any more.
    let enabled = file.with_file_name("default.target.wants").join("aw.service");
    if manager == ServiceManager::Systemd && fs::symlink_metadata(enabled).is_ok() {
        return Err(CliError::input("the service still starts with your session")
            .suggest("systemctl --user disable --now aw && aw server uninstall"));
    }
    fs::remove_file(&file).map_err(|error| unusable(&file, &error))?;
    for folder in file.ancestors().skip(1).take(made) {
        // A folder with other files stays.
        let _ = fs::remove_dir(folder);
    }
    let commands = manager.commands(&file, false);
    let data = json!({"file": path, "removed": true, "run": commands});
    Ok(Answer::new(data, human::fields).message("Service removed").next(commands.join(" && ")))
}

fn not_ours(file: &Path) -> CliError {
    CliError::input(format!("{} is not as aw server install writes it", file.display()))
}

/// The path of this program that stays the same after an update: the one in `PATH`, if it is this one.
fn program() -> Result<String, CliError> {
    let own = own_program().map_err(|error| CliError::input(error.to_string()))?;
    let same = |file: &PathBuf| fs::canonicalize(file).ok() == fs::canonicalize(&own).ok();
    let program = programs::find("aw").filter(same).unwrap_or_else(|| own.clone());
    let text = program.to_str().map(str::to_owned);
    text.ok_or_else(|| {
        CliError::input(format!("{} is not valid UTF-8", program.display()))
            .suggest("Move aw to a path that is")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_paths_are_written_as_each_manager_reads_them() {
        let odd = "/opt/100% \"a\\b\" $HOME & <co>/aw";
        let unit = ServiceManager::Systemd.description(odd, Some("/d%$"));
        assert!(
            unit.contains(r#"ExecStart="/opt/100%% \"a\\b\" $$HOME & <co>/aw" serve"#),
            "{unit}"
        );
        assert!(unit.contains(r#"Environment="AWEAVE_HOME=/d%%$""#), "{unit}");
        let plist = ServiceManager::Launchd.description(odd, None);
        assert!(
            plist.contains("<string>/opt/100% \"a\\b\" $HOME &amp; &lt;co&gt;/aw</string>"),
            "{plist}"
        );
    }

    #[test]
    fn a_file_is_ours_only_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        for manager in [ServiceManager::Systemd, ServiceManager::Launchd] {
            let file = folder.path().join("service");
            let whole = manager.whole(&manager.description("/bin/aw", None), 2);
            let kind = |text: &str| {
                fs::write(&file, text).unwrap();
                match present(manager, &file).unwrap() {
                    Present::Missing => "missing",
                    Present::Ours { made, .. } => {
                        assert_eq!(made, 2);
                        "ours"
                    }
                    Present::Changed => "changed",
                    Present::Foreign => "foreign",
                }
            };
            assert_eq!(kind(&whole), "ours");
            assert_eq!(kind(&whole.replace("/bin/aw", "/bin/mine")), "changed");
            assert_eq!(kind(&whole.replace("it: 2", "it: 99")), "changed");
            assert_eq!(kind(&whole.replace(OURS, "Mine.")), "foreign");
        }
    }
}
