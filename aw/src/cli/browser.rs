//! Opens a page in the user's browser.
//!
//! Every user of a machine can read the arguments of running programs. So the browser does not get
//! an address that signs it in, but a file of the data folder that leads there. Only its owner can
//! read the file, and the link in it works once.

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

/// How long such a file works.
const LINK_LASTS: Duration = Duration::from_secs(10 * 60);

/// How long a failing opener may take. `xdg-open` tries one program after the other.
const OPENER_TAKES: Duration = Duration::from_secs(5);

/// Opens an address without secrets. Returns whether that worked.
pub(super) fn open(address: &str) -> bool {
    start(address.as_ref())
}

/// Opens an address that signs in. Returns whether that worked.
pub(super) fn open_signed_in(address: &str, home: &DataDir) -> bool {
    redirect_file(address, home).is_ok_and(|file| start(file.as_os_str()))
}

/// Starts the system's opener. Returns false if it fails. Usually it ends at once; if it still runs
/// after a while, it is the browser itself.
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

/// Makes a file that leads to this address.
fn redirect_file(address: &str, home: &DataDir) -> io::Result<PathBuf> {
    let folder = home.path().join("links");
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    remove_old(&folder);
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

/// Removes files that no longer work. If one stays, it does no harm.
fn remove_old(folder: &Path) {
    let Ok(files) = fs::read_dir(folder) else { return };
    for file in files.flatten() {
        let made = file.metadata().and_then(|about| about.modified());
        let age = made.ok().and_then(|made| made.elapsed().ok());
        if age.is_some_and(|age| age > LINK_LASTS) {
            let _ = fs::remove_file(file.path());
        }
    }
}
