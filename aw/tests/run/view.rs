//! What a person sees of a run.

use std::io::{BufRead, BufReader};

use super::scene::{FIRST_CLAIM, Scene};

#[test]
fn without_a_terminal_each_turn_is_a_line() {
    let scene = Scene::agreeing();
    let ran = scene.run(&[]);
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert!(lines[0].starts_with("Charge retries: http://"), "{}", ran.stderr);
    assert!(lines[1].starts_with("opponent (opponent): CLAIM 2"), "{}", ran.stderr);
    assert!(lines[1].ends_with("round 1 of 5, P1 blocking"), "{}", ran.stderr);
    assert!(lines[2].starts_with("proposer (proposer): CLAIM 3"), "{}", ran.stderr);
    assert!(!ran.stderr.contains('\u{1b}'), "{}", ran.stderr);
}

#[test]
fn a_terminal_shows_one_view_that_fits() {
    for columns in ["80", "200"] {
        let scene = Scene::agreeing();
        let line =
            "aw debate run plan.md --proposer proposer --opponent opponent --format markdown";
        let shown =
            scene.aw.sh(&format!("script -qec 'stty cols {columns}; {line}' /dev/null")).stdout;
        assert!(shown.contains("Both agents agree after 2 rounds"), "{shown}");
        assert!(shown.contains("\u{1b}["), "{shown}");
        let widest = shown.lines().map(|line| line.trim_end().chars().count()).max().unwrap();
        assert!(widest < 230, "{widest}: {shown}");
    }
}

#[test]
fn a_ruling_of_a_person_ends_the_line_that_asks_for_it() {
    let scene = Scene::new();
    scene.agent("opponent", &[("", FIRST_CLAIM)]);
    scene.agent("proposer", &[("", "MOVE: appeal\nP1: uphold or dismiss?\n")]);
    let mut run = scene.spawn(&[]);
    let mut lines = BufReader::new(run.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.ends_with("--file YOUR_TEXT.md")), "a line that posts nothing");
    let rules = ["debate", "ruling", "--debate-id", "@last", "--dismiss", "P1", "--close"];
    scene.aw.quietly(&[&rules[..], &["--content", "No."]].concat()).ok();
    let rest: Vec<String> = lines.collect();
    run.wait().unwrap();
    assert!(rest.iter().any(|line| line.starts_with("arbitrator (you): RULING 4")), "{rest:?}");
}
