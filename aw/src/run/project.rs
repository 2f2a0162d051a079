//! The repository of a folder, as a debate remembers it.
//!
//! Debates may lie on a server that others read. So the address of the repository never leaves this
//! machine: it may contain a password, and a path names its user. The server gets a hash of it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use aw_core::{DebateOrigin, Hash};
use sha2::{Digest, Sha256};

use super::copies::git;
use crate::api::types::Project;

/// How long git may take. Without an answer the debate has no project.
const PATIENCE: Duration = Duration::from_secs(2);

/// How many digits of the hash identify a project.
const DIGITS: usize = 16;

/// The repository of this folder, with its branch and commit; none outside a repository.
pub fn of(folder: &Path) -> Option<Project> {
    let root = git::root_above(folder)?;
    let branch = ask(&root, &["symbolic-ref", "--quiet", "--short", "HEAD"]);
    let commit = ask(&root, &["rev-parse", "--verify", "--quiet", "HEAD"]);
    Some(Project {
        branch: branch.filter(|branch| DebateOrigin::check_branch(branch).is_ok()),
        commit: commit.filter(|commit| DebateOrigin::check_commit(commit).is_ok()),
        ..named(&root)?
    })
}

/// The repository of this folder, without branch and commit.
pub fn name_of(folder: &Path) -> Option<Project> {
    named(&git::root_above(folder)?)
}

fn named(root: &Path) -> Option<Project> {
    // A broken `.git`, or the repository of another user, is no project.
    let shared = ask(root, &["rev-parse", "--git-common-dir"])?;
    let address = ask(root, &["config", "--get", "remote.origin.url"]);
    let address = address.as_deref().and_then(bare_address);
    let folder = || root.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (name, id) = match address {
        Some(address) => {
            let name = address.rsplit('/').next().unwrap_or_default().to_owned();
            (name, digest(b"address", address.as_bytes()))
        }
        None => {
            // All work trees of a repository share this folder.
            let shared = root.join(PathBuf::from(OsStr::from_bytes(shared.as_bytes())));
            let shared = shared.canonicalize().ok()?;
            (folder(), digest(b"folder", shared.as_os_str().as_bytes()))
        }
    };
    let name = [name, folder(), "project".to_owned()]
        .into_iter()
        .find(|name| DebateOrigin::check_name(name).is_ok())?;
    Some(Project { id, name, branch: None, commit: None })
}

fn ask(root: &Path, arguments: &[&str]) -> Option<String> {
    let answer = git::ask_within(root, arguments, PATIENCE).ok()?;
    let answer = String::from_utf8(answer).ok()?;
    Some(answer.trim_end_matches('\n').to_owned()).filter(|answer| !answer.is_empty())
}

/// The host and path of a remote, without scheme, user, password, port, query and `.git`. So every
/// clone of a repository has the same one. None for a folder of this machine.
fn bare_address(url: &str) -> Option<String> {
    let url = url.split(['?', '#']).next().unwrap_or(url);
    let (host, path) = match url.split_once("://") {
        Some((scheme, _)) if scheme.eq_ignore_ascii_case("file") => return None,
        Some((_, rest)) => rest.split_once('/')?,
        // The short form of ssh has a colon before the first slash.
        None => url.split_once(':').filter(|(host, _)| !host.contains('/'))?,
    };
    let host = host.rsplit('@').next().unwrap_or(host);
    let host = match host.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => host,
        _ => host,
    };
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
    let good = !host.is_empty() && !path.is_empty();
    good.then(|| format!("{}/{path}", host.to_ascii_lowercase()))
}

fn digest(kind: &[u8], text: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(kind);
    hash.update([0]);
    hash.update(text);
    let mut digits = Hash(hash.finalize().into()).to_string();
    digits.truncate(DIGITS);
    digits
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;

    fn git(folder: &Path, arguments: &[&str]) {
        let run = Command::new("git")
            .current_dir(folder)
            .args(["-c", "user.name=A", "-c", "user.email=a@b.c"])
            .args(arguments)
            .output()
            .unwrap();
        assert!(run.status.success(), "{arguments:?}: {run:?}");
    }

    #[test]
    fn every_address_of_a_repository_is_the_same_project_without_credentials() {
        for url in [
            "https://github.com/acme/charge.git",
            "https://An:s3cret@GitHub.com/acme/charge",
            "https://x-token:ghp_abc@github.com:443/acme/charge.git/",
            "ssh://git@github.com:22/acme/charge.git",
            "git@github.com:acme/charge.git",
            "https://github.com/acme/charge.git?token=s3cret",
        ] {
            assert_eq!(bare_address(url).as_deref(), Some("github.com/acme/charge"), "{url}");
        }
        for local in
            ["/srv/git/charge.git", "../charge", "file:///srv/charge", "", "https://", "x:"]
        {
            assert_eq!(bare_address(local), None, "{local}");
        }
    }

    #[test]
    fn a_debate_remembers_project_branch_and_commit_and_runs_nothing_of_the_repository() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("charge");
        fs::create_dir(&root).unwrap();
        assert_eq!(of(&root), None, "outside a repository");
        git(&root, &["init", "-q", "-b", "retries"]);
        let fresh = of(&root).unwrap();
        assert_eq!((fresh.name.as_str(), fresh.branch.as_deref()), ("charge", Some("retries")));
        assert_eq!(fresh.commit, None, "there is none yet");
        git(&root, &["commit", "-q", "--allow-empty", "-m", "x"]);
        let local = of(&root).unwrap();
        assert_eq!((&local.id, local.commit.map(|it| it.len())), (&fresh.id, Some(40)));

        let ran = folder.path().join("ran");
        let program = folder.path().join("program");
        fs::write(&program, format!("#!/bin/sh\ntouch {}\n", ran.display())).unwrap();
        git(&root, &["config", "core.fsmonitor", program.to_str().unwrap()]);
        git(&root, &["config", "core.pager", program.to_str().unwrap()]);
        git(&root, &["remote", "add", "origin", "https://an:s3cret@example.com/acme/billing.git"]);
        let inner = root.join("src");
        fs::create_dir(&inner).unwrap();
        let cloned = of(&inner).unwrap();
        assert_eq!(cloned.name, "billing");
        assert_ne!(cloned.id, local.id);
        assert_eq!(cloned.id, digest(b"address", b"example.com/acme/billing"));
        assert!(!ran.exists());

        git(&root, &["worktree", "add", "-q", "../other"]);
        git(&root, &["remote", "remove", "origin"]);
        let other = of(&folder.path().join("other")).unwrap();
        assert_eq!((other.id, other.branch.as_deref()), (local.id, Some("other")));

        fs::write(root.join(".git/HEAD"), "nonsense").unwrap();
        assert_eq!(of(&root), None, "a broken repository");
    }
}
