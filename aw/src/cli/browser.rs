//! Opens a page in the user's browser.
//!
//! Everybody on a machine can read what its programs were started with. So the browser is not given
//! an address that signs it in, but a file of the data folder that leads there: only its owner can
//! read it, and what it says works once.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::data_dir::DataDir;
use crate::programs;

/// After this a file that leads somewhere leads nowhere any more.
const LINK_LASTS: Duration = Duration::from_secs(10 * 60);

/// How long an opener that fails may take to say so. `xdg-open` tries one program after the other.
const OPENER_TAKES: Duration = Duration::from_secs(5);

/// Opens an address that tells nothing; whether that worked.
pub(super) fn open(address: &str) -> bool {
    start(address.as_ref())
}

/// Opens an address that signs in.
pub(super) fn open_secretly(address: &str, home: &DataDir) -> bool {
    leading_to(address, home).is_ok_and(|file| start(file.as_os_str()))
}

/// Whether the system's opener took it. It ends at once, as a rule; one that is still there after a while is
/// the browser itself.
fn start(what: &OsStr) -> bool {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let started = programs::command(program)
        .arg(what)
        .env_remove("DEBATE_AUTH_TOKEN")
        .env_remove("AW_AUTH_TOKEN")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut opener) = started else { return false };
    let began = Instant::now();
    while began.elapsed() < OPENER_TAKES {
        match opener.try_wait() {
            Ok(Some(ended)) => return ended.success(),
            Ok(None) => sleep(Duration::from_millis(10)),
            Err(_) => return false,
        }
    }
    true
}

/// A new file that leads to this address.
fn leading_to(address: &str, home: &DataDir) -> io::Result<PathBuf> {
    let folder = home.path().join("links");
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    forget_old(&folder);
    let to = address.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
    let page = format!(
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
         <title>aw</title><meta http-equiv=\"refresh\" content=\"0;url={to}\"><a href=\"{to}\">aw</a>\n"
    );
    let path = folder.join(format!("{}.html", Uuid::new_v4()));
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    file.write_all(page.as_bytes())?;
    Ok(path)
}

/// Removes what leads nowhere any more. What stays does no harm.
fn forget_old(folder: &Path) {
    let Ok(files) = fs::read_dir(folder) else { return };
    for file in files.flatten() {
        let made = file.metadata().and_then(|about| about.modified());
        let age = made.ok().and_then(|made| made.elapsed().ok());
        if age.is_some_and(|age| age > LINK_LASTS) {
            let _ = fs::remove_file(file.path());
        }
    }
}
