//! Desktop notifications, by the desktop's own program.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::api::types::Notification;
use crate::programs;

/// How long the program may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The time between two looks at the program.
const PAUSE: Duration = Duration::from_millis(50);

/// The longest text that a desktop shows.
const LONGEST: usize = 300;

/// A program that shows notifications.
pub(super) enum Desktop {
    /// `notify-send`, on Linux.
    NotifySend(PathBuf),
    /// `osascript`, on macOS.
    Osascript(PathBuf),
}

impl Desktop {
    /// The program of this machine, if it has one.
    pub(super) fn found() -> Option<Self> {
        let notify_send = || programs::find("notify-send").map(Desktop::NotifySend);
        notify_send().or_else(|| programs::find("osascript").map(Desktop::Osascript))
    }

    /// Shows a notification, or logs why it cannot.
    pub(super) fn show(&self, news: &Notification) {
        let (title, text) = (plain(&news.title), plain(&news.message));
        let mut command = match self {
            Desktop::NotifySend(program) => {
                let mut command = Command::new(program);
                // The title is plain text, the body has markup.
                command.args(["--app-name=aw", "--", &title, &escaped(&text)]);
                command
            }
            Desktop::Osascript(program) => {
                let mut command = Command::new(program);
                // The texts are arguments of the script, never a part of it.
                command.args(["-e", "on run argv", "-e"]);
                command.arg("display notification (item 2 of argv) with title (item 1 of argv)");
                command.args(["-e", "end run", "--", &title, &text]);
                command
            }
        };
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let ended = command.spawn().and_then(ended);
        match ended {
            Ok(true) => {}
            Ok(false) => tracing::warn!("the desktop has not shown a notification"),
            Err(error) => tracing::warn!(%error, "the desktop has not shown a notification"),
        }
    }
}

/// Whether the program succeeded. One that takes too long is ended.
fn ended(mut program: Child) -> std::io::Result<bool> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match program.try_wait()? {
            Some(status) => return Ok(status.success()),
            None if Instant::now() > deadline => {
                program.kill()?;
                program.wait()?;
                return Ok(false);
            }
            None => thread::sleep(PAUSE),
        }
    }
}

/// A text of one short line, without control characters.
fn plain(text: &str) -> String {
    let line = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    line.take(LONGEST).collect()
}

/// A text in which no markup is left.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
