//! The browser process, which all tests of a run share.
//!
//! A shell watches over it and reads a pipe from this process. However this process ends, the pipe
//! closes; then the shell ends the browser and removes its profile.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::world::CEILING;

/// A name of this machine that is not ours, for attackers.
pub const ELSEWHERE: &str = "evil.test";

/// Names of attackers for another address of this machine, where they can use the port of the server.
pub const REBOUND: [&str; 3] = ["rebound.test", "127.0.0.1.evil.test", "localhost.evil.test"];

/// The address of [`REBOUND`].
pub const ANOTHER_ADDRESS: &str = "127.0.0.2";

const OVERSEER: &str = r#"folder=$0
"$@" </dev/null >/dev/null 2>"$folder/log" & browser=$!
cat >/dev/null
kill -9 $browser; wait $browser
until rm -rf "$folder"; do sleep 0.1; done"#;

const FLAGS: [&str; 16] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-breakpad",
    "--no-first-run",
    "--no-default-browser-check",
    "--password-store=basic",
    // Several tests use their pages at once, and none of them is in front.
    "--disable-renderer-backgrounding",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    // Attackers open windows without a click.
    "--disable-popup-blocking",
    // Our defence must not rely on that of the browser.
    "--disable-features=LocalNetworkAccessChecks,LocalNetworkAccessChecksWebSockets,BlockInsecurePrivateNetworkRequests,Translate,MediaRouter",
];

/// A running browser.
pub struct Process {
    /// The address of its DevTools.
    pub address: String,
    _held: ChildStdin,
}

/// The browser of this run, or why there is none.
pub fn process() -> &'static Result<Process, String> {
    static PROCESS: OnceLock<Result<Process, String>> = OnceLock::new();
    PROCESS.get_or_init(|| Ok(start(&program()?)))
}

/// `target/browser`, where `scripts/browser` installs axe-core.
pub fn tools() -> PathBuf {
    target().join("browser")
}

/// The `target` folder.
pub fn target() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_aw")).ancestors().nth(2).expect("target/debug/aw")
}

/// The program: `AW_CHROMIUM`, which must exist if set, or `chromium` from the PATH.
fn program() -> Result<PathBuf, String> {
    if let Some(given) = std::env::var_os("AW_CHROMIUM") {
        let given = PathBuf::from(given);
        assert!(given.exists(), "AW_CHROMIUM: there is no {}", given.display());
        return Ok(given);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join("chromium"))
        .find(|file| file.exists())
        .ok_or_else(|| "there is no chromium; scripts/browser installs it".to_owned())
}

/// The rules that resolve names: ours as usual, those of attackers to this machine, no others.
fn names() -> String {
    let own =
        ["localhost", "*.localhost", "localhost.", "127.0.0.1", "::1", "0.0.0.0", "::ffff:7f00:1"];
    let rebound = REBOUND.map(|name| format!("MAP {name} {ANOTHER_ADDRESS}"));
    let own = own.map(|name| format!("EXCLUDE {name}"));
    let rules = [format!("MAP {ELSEWHERE} 127.0.0.1"), "MAP * ~NOTFOUND".to_owned()];
    [&rebound[..], &rules, &own].concat().join(", ")
}

fn start(program: &Path) -> Process {
    let folder = tempfile::Builder::new().prefix("aw-browser-").tempdir().unwrap().keep();
    let profile = folder.join("profile");
    let mut command = Command::new("sh");
    command
        .args(["-c", OVERSEER])
        .arg(&folder)
        .arg(program)
        .args(FLAGS)
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg("--remote-debugging-port=0")
        .arg(format!("--host-resolver-rules={}", names()))
        .arg("about:blank")
        .env("HOME", &folder)
        // Ctrl+C must not stop the shell that cleans up.
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let held = command.spawn().unwrap().stdin.take().unwrap();
    let began = Instant::now();
    loop {
        // The port, then the path.
        let ready = fs::read_to_string(profile.join("DevToolsActivePort")).unwrap_or_default();
        if let Some((port, path)) = ready.split_once('\n')
            && path.len() > "/devtools/browser/".len()
        {
            return Process { address: format!("ws://127.0.0.1:{port}{path}"), _held: held };
        }
        let log = || fs::read_to_string(folder.join("log")).unwrap_or_default();
        assert!(began.elapsed() < CEILING, "{} does not start: {}", program.display(), log());
        sleep(Duration::from_millis(10));
    }
}
