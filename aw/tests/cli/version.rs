//! The version that `aw --version` prints: `build.rs`, run as cargo runs it.

use std::fs;
use std::path::Path;
use std::process::Command;

const FIRST: &str = "0123456789abcdef0123456789abcdef01234567";

/// The version that the build script in this folder sets.
fn set(script: &Path, here: &Path, profile: &str, commit: Option<&str>) -> String {
    let mut command = Command::new(script);
    command
        .env("CARGO_MANIFEST_DIR", here)
        .env("CARGO_PKG_VERSION", "1.2.3")
        .env("PROFILE", profile);
    command.env_remove("AW_COMMIT").envs(commit.map(|commit| ("AW_COMMIT", commit)));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    let line = said.lines().find_map(|line| line.strip_prefix("cargo::rustc-env=AW_VERSION="));
    line.unwrap_or_else(|| panic!("{said}")).to_owned()
}

#[test]
fn the_version_names_the_commit_of_the_repository_or_of_the_archive() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("build.rs");
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition", "2024", "-o"]).arg(&script).arg(source);
    assert!(rustc.status().unwrap().success());
    let here = folder.path().join("repository/aw");
    fs::create_dir_all(&here).unwrap();

    assert_eq!(set(&script, &here, "release", None), "1.2.3");
    assert_eq!(set(&script, &here, "debug", Some(FIRST)), "1.2.3 (0123456789ab)");
    assert_eq!(set(&script, &here, "release", Some("`rm`")), "1.2.3");
    // As it is in a repository, and as git archive writes it.
    fs::write(here.join("commit.txt"), "$Format:%H$\n").unwrap();
    assert_eq!(set(&script, &here, "release", None), "1.2.3");
    fs::write(here.join("commit.txt"), format!("{FIRST}\n")).unwrap();
    assert_eq!(set(&script, &here, "release", None), "1.2.3 (0123456789ab)");

    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b", "-C"]).arg(here.parent().unwrap());
        let output = git.args(arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    git(&["init", "--quiet"]);
    git(&["commit", "--quiet", "--allow-empty", "--message", "one"]);
    let commit = git(&["rev-parse", "HEAD"]);
    assert_eq!(set(&script, &here, "release", None), format!("1.2.3 ({})", &commit[..12]));
    // A commit does not build a debug program anew.
    assert_eq!(set(&script, &here, "debug", None), "1.2.3");
    // An archive that was unpacked inside a foreign repository is not of that repository.
    let inside = here.join("deep/aw");
    fs::create_dir_all(&inside).unwrap();
    assert_eq!(set(&script, &inside, "release", None), "1.2.3");
}
