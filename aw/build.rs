//! Sets `AW_VERSION`: the version, and the commit where it is known.
//!
//! The commit comes from the variable `AW_COMMIT`, from the repository, or from `commit.txt`, into which
//! `git archive` writes it. A debug build leaves it out, so that a commit does not build everything anew.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=AW_COMMIT");
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let version = env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    let is_debug = env::var("PROFILE").is_ok_and(|profile| profile == "debug");
    let given = env::var("AW_COMMIT").ok().filter(|commit| is_commit(commit));
    let commit = given.or_else(|| if is_debug { None } else { found(&here) });
    let version = commit.map_or(version.clone(), |commit| format!("{version} ({commit:.12})"));
    println!("cargo::rustc-env=AW_VERSION={version}");
}

/// The commit of the repository, or of the archive that this folder comes from.
fn found(here: &Path) -> Option<String> {
    let archived = here.join("commit.txt");
    println!("cargo::rerun-if-changed={}", archived.display());
    // A folder inside another repository is not that repository's.
    if here.join("../.git").exists() {
        let git = |arguments: &[&str]| {
            let output = Command::new("git").arg("-C").arg(here).args(arguments).output().ok()?;
            let said = String::from_utf8(output.stdout).ok()?.trim().to_owned();
            output.status.success().then_some(said)
        };
        // It grows with every commit and every checkout.
        if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"])
            && here.join(&log).exists()
        {
            println!("cargo::rerun-if-changed={}", here.join(log).display());
        }
        return git(&["rev-parse", "HEAD"]).filter(|commit| is_commit(commit));
    }
    let commit = fs::read_to_string(archived).ok()?.trim().to_owned();
    is_commit(&commit).then_some(commit)
}

fn is_commit(text: &str) -> bool {
    text.len() >= 7 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
