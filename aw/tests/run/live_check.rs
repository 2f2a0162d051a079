//! The folder of a live check: as private as that of a run, and gone afterwards.

use std::fs;
use std::path::Path;

use nix::sys::signal::Signal;
use serde_json::Value;

use super::scene::{ACCEPTS, AGREES, FIRST_CLAIM, MENDS, Scene, signal, until};

const READY: &str = "READY\n";

/// The folders of checks.
fn folders(scene: &Scene) -> Vec<String> {
    let runs = fs::read_dir(scene.aw.home().join("runs")).into_iter().flatten().flatten();
    let folders = runs.filter(|entry| entry.file_type().unwrap().is_dir());
    let names = folders.map(|entry| entry.file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("check-")).collect()
}

#[test]
fn a_live_check_works_in_a_private_repository_below_the_runs() {
    let scene = Scene::new();
    let looks = "cat .git/HEAD > \"$seen.head\"; find ../.. -perm /077 ! -type l > \"$seen.open\"";
    scene.agent("opponent", &[(looks, READY)]);
    scene.agent("proposer", &[("", READY)]);
    let line = "aw debate run --check --live plan.md --proposer proposer --opponent opponent";
    let ran = scene.aw.sh(&format!("umask 0; {line}"));
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let runs = fs::canonicalize(scene.aw.home()).unwrap().join("runs");
    let folder = scene.noted("opponent.folder");
    assert!(Path::new(folder.trim_end()).starts_with(&runs), "{folder}");
    // Programs that look for settings in the folders above stop at a repository.
    assert_eq!(scene.noted("opponent.head"), "ref: refs/heads/main\n");
    assert_eq!(scene.noted("opponent.open"), "", "another user can open these");
    assert_eq!(folders(&scene), [""; 0]);
}

#[test]
fn a_live_check_that_is_stopped_leaves_neither_its_folder_nor_a_program() {
    for which in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        let scene = Scene::new();
        scene.agent("opponent", &[("sleep 300 & wait", READY)]);
        scene.agent("proposer", &[("", READY)]);
        let check = scene.spawn(&["--check", "--live"]);
        until("the turn begins", || scene.turns_of("opponent") == 1);
        assert_eq!(folders(&scene).len(), 1);
        signal(&check, which);
        let output = check.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{which}");
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["error"]["code"], "INTERRUPTED");
        assert_eq!(folders(&scene), [""; 0], "{which}");
        assert_eq!(scene.turns_of("proposer"), 0, "no further program is started");
        // The brackets keep the search from finding itself.
        let agent = scene.aw.home().join("scripts/opponent").display().to_string();
        let agent = agent.replacen('/', "[/]", 1);
        until("its program is gone", || {
            scene.aw.sh(&format!("pgrep -f '{agent}'")).stdout.is_empty()
        });
    }
}

#[test]
fn the_folder_of_a_killed_check_goes_with_the_next_check_or_run() {
    for next in [&["--check", "--live"][..], &[]] {
        let scene = Scene::new();
        let turns = [("sleep 300 & wait", READY), ("", FIRST_CLAIM), ("", AGREES)];
        scene.agent("opponent", &turns);
        scene.agent("proposer", &[(MENDS, ACCEPTS)]);
        let mut check = scene.spawn(&["--check", "--live"]);
        until("the turn begins", || scene.turns_of("opponent") == 1);
        check.kill().unwrap();
        check.wait().unwrap();
        assert_eq!(folders(&scene).len(), 1);
        scene.run(next).data();
        assert_eq!(folders(&scene), [""; 0], "{next:?}");
    }
}

#[test]
fn a_check_leaves_the_folder_of_another_one_that_still_works() {
    let scene = Scene::new();
    let goes_on = scene.aw.home().join("goes-on");
    let waits = format!("until test -e '{}'; do sleep 0.05; done", goes_on.display());
    scene.agent("opponent", &[(&waits, READY), ("", READY)]);
    scene.agent("proposer", &[("", READY)]);
    let check = scene.spawn(&["--check", "--live"]);
    until("the turn begins", || scene.turns_of("opponent") == 1);
    assert_eq!(scene.run(&["--check", "--live"]).code, 0);
    assert_eq!(folders(&scene).len(), 1);
    fs::write(goes_on, "").unwrap();
    assert_eq!(check.wait_with_output().unwrap().status.code(), Some(0));
    assert_eq!(folders(&scene), [""; 0]);
}

#[test]
fn what_checks_leave_among_the_runs_is_no_run() {
    let scene = Scene::new();
    scene.agent("opponent", &[("", READY)]);
    scene.agent("proposer", &[("", READY)]);
    assert_eq!(scene.run(&["--check", "--live"]).code, 0);
    let refused = scene.run(&["--resume", "check"]).refused(2, "RUN_NOT_FOUND");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("the debate check on this machine"), "{message}");
}
