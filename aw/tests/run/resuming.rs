//! A run that was stopped or killed goes on: no argument twice, none lost, no process left.

use std::fs;
use std::io::{BufRead, BufReader};
use std::thread;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::Value;

use super::scene::{ACCEPTS, AGREES, FIRST_CLAIM, MENDS, Scene, signal, until};
use crate::world::Dice;

/// The debate of the only run.
fn debate(scene: &Scene) -> Option<String> {
    let mut runs = fs::read_dir(scene.aw.home().join("runs")).ok()?;
    Some(runs.next()?.ok()?.file_name().to_string_lossy().into_owned())
}

#[test]
fn ctrl_c_ends_the_agent_and_says_how_to_go_on() {
    let scene = Scene::new();
    scene.agent("opponent", &[("sleep 300 & wait", FIRST_CLAIM), ("", FIRST_CLAIM), ("", AGREES)]);
    scene.agent("proposer", &[(MENDS, ACCEPTS)]);
    let run = scene.spawn(&[]);
    until("the turn begins", || scene.turns_of("opponent") == 1);
    signal(&run, Signal::SIGINT);
    let output = run.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["error"]["code"], "INTERRUPTED");
    let debate = debate(&scene).unwrap();
    assert_eq!(answer["metadata"]["next_command"], format!("aw debate run --resume {debate}"));
    let folder = scene.aw.home().join("runs").join(&debate).display().to_string();
    // The brackets keep the search from finding itself.
    let folder = folder.replacen('/', "[/]", 1);
    until("its processes are gone", || {
        scene.aw.sh(&format!("pgrep -f '{folder}'")).stdout.is_empty()
    });
    let data = scene.run(&["--resume"]).data();
    assert_eq!(data["outcome"], "agreed");
    assert_eq!(data["debate_id"], debate.as_str());
}

#[test]
fn only_one_runner_has_a_debate() {
    let scene = Scene::new();
    scene.agent("opponent", &[("sleep 300 & wait", FIRST_CLAIM)]);
    scene.agent("proposer", &[("", ACCEPTS)]);
    let run = scene.spawn(&[]);
    until("the turn begins", || scene.turns_of("opponent") == 1);
    let debate = debate(&scene).unwrap();
    scene.run(&["--resume", &debate]).refused(5, "ACTION_NOT_ALLOWED");
    signal(&run, Signal::SIGTERM);
    assert_eq!(run.wait_with_output().unwrap().status.code(), Some(130));
}

#[test]
fn a_detached_run_goes_on_in_the_background() {
    let scene = Scene::agreeing();
    let data = scene.run(&["--detach"]).data();
    assert_eq!(data["outcome"], "running");
    let debate = data["debate_id"].as_str().unwrap().to_owned();
    until("the report is written", || scene.aw.desk().join("plan.debate.md").exists());
    assert_eq!(scene.kinds(&debate).len(), 6);
}

#[test]
fn a_run_whose_runner_was_killed_at_any_moment_goes_on() {
    let mut dice = Dice::new();
    for _ in 0..6 {
        let scene = Scene::new();
        // The answers follow the debate, not the count: a turn may begin again.
        scene.command("opponent", &follows(FIRST_CLAIM, AGREES, ":"));
        scene.command("proposer", &follows(ACCEPTS, ACCEPTS, MENDS));
        let mut run = scene.spawn(&[]);
        thread::sleep(Duration::from_millis(dice.below(900)));
        run.kill().unwrap();
        run.wait().unwrap();
        let Some(debate) = debate(&scene) else { continue };
        if !scene.aw.home().join("runs").join(&debate).join("run.json").exists() {
            continue;
        }
        let ran = scene.run(&["--resume", &debate]);
        assert_eq!(ran.data()["outcome"], "agreed", "{}", ran.stdout);
        let kinds = scene.kinds(&debate);
        assert_eq!(kinds, ["MOTION", "CLAIM", "CLAIM", "CLAIM", "RESOLUTION", "RULING"]);
        assert_eq!(ran.data()["documents"][0]["version"], 2);
    }
}

#[test]
fn the_plan_of_a_parked_text_is_cited_by_the_next_one_that_counts() {
    let scene = Scene::new();
    scene.agent("opponent", &[("", FIRST_CLAIM), ("", AGREES)]);
    let goes_on = scene.aw.home().join("goes-on");
    let waits = format!("until test -e '{}'; do sleep 0.05; done; {MENDS}", goes_on.display());
    scene.agent("proposer", &[(&waits, ACCEPTS), ("", ACCEPTS)]);
    let run = scene.spawn(&[]);
    until("the turn begins", || scene.turns_of("proposer") == 1);
    let debate = debate(&scene).unwrap();
    let interrupt = ["debate", "intervention", "--debate-id", &debate, "--content", "Stop."];
    scene.aw.quietly(&interrupt).ok();
    fs::write(goes_on, "").unwrap();
    until("the text is parked", || {
        scene.arguments(&debate).last().is_some_and(|newest| newest["parked"] == true)
    });
    scene.aw.quietly(&["debate", "ruling", "--debate-id", &debate, "--content", "Go on."]).ok();
    let output = run.wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let data = &answer["content"][0]["data"];
    assert_eq!((&data["outcome"], &data["rulings"]), (&"agreed".into(), &1.into()), "{answer}");
    assert_eq!(data["seats"]["proposer"]["repairs"], 0);
    let arguments = scene.arguments(&debate);
    for cites in [3, 5] {
        let text = arguments[cites]["content"].as_str().unwrap();
        assert!(text.ends_with("(v1 → v2)"), "a parked text cites nothing: {text}");
    }
    assert_eq!(data["documents"][0]["version"], 2);
}

#[test]
fn a_run_whose_arbitrator_may_rule_no_more_asks_a_person_once() {
    let scene = Scene::new();
    scene.agent("judge", &[("", "Go on.\n")]);
    let (debate, motion) = scene.aw.opens("T", "Please look.", &[]);
    let on = |command: &str, content: &str, more: &[&str]| {
        let line = ["debate", command, "--debate-id", &debate, "--content", content];
        scene.aw.quietly(&[&line[..], more].concat()).ok();
    };
    on("submit", "No.", &["--role", "opponent", "--target-id", &motion]);
    let mut run = scene.spawn(&["--debate-id", &debate, "--arbitrator", "judge"]);
    for (appeal, rulings) in [("One?", 1), ("Two?", 2), ("Three?", 3)] {
        on("appeal", appeal, &[]);
        until("the judge rules", || scene.kinds(&debate).len() == 2 + 2 * rulings);
    }
    on("appeal", "Four?", &[]);
    let mut said = BufReader::new(run.stderr.take().unwrap()).lines().map(Result::unwrap);
    let asks = |line: &String| line.contains("Your ruling is needed");
    assert!(said.by_ref().any(|line| asks(&line)), "nobody was asked");
    on("ruling", "Enough.", &["--close"]);
    let rest: Vec<String> = said.collect();
    assert_eq!(rest.iter().filter(|line| asks(line)).count(), 0, "{rest:?}");
    assert!(rest.iter().any(|line| line.contains("RULING 10")), "{rest:?}");
    assert_eq!(run.wait().unwrap().code(), Some(0));
    assert_eq!(scene.turns_of("judge"), 3);
}

#[test]
fn a_kept_text_that_is_in_the_record_is_not_posted_again() {
    let scene = Scene::agreeing();
    let ran = scene.run(&[]).data();
    let debate = ran["debate_id"].as_str().unwrap();
    let arguments = scene.arguments(debate);
    // As if the runner had been killed after the proposer's CLAIM was posted.
    let folder = scene.aw.home().join("runs").join(debate);
    let outcome = folder.join("turns/0002-proposer/outcome.json");
    fs::remove_file(&outcome).unwrap();
    let state = folder.join("run.json");
    let mut json: Value = serde_json::from_slice(&fs::read(&state).unwrap()).unwrap();
    json["finished"] = false.into();
    json["seats"]["proposer"]["turns"] = 0.into();
    json["current"] = serde_json::json!({
        "number": 2, "seat": "proposer", "target": arguments[1]["id"], "group": null, "program": null,
    });
    fs::write(&state, json.to_string()).unwrap();
    let data = scene.run(&["--resume", debate]).data();
    assert_eq!(scene.arguments(debate), arguments);
    assert_eq!(data["documents"][0]["version"], 2);
    assert_eq!(data["seats"]["proposer"]["turns"], 1);
    let outcome: Value = serde_json::from_slice(&fs::read(outcome).unwrap()).unwrap();
    assert_eq!((&outcome["posted"], &outcome["what"]), (&true.into(), &"CLAIM 3".into()));
}

#[test]
fn a_text_whose_plan_was_refused_is_not_posted_by_a_resume() {
    let scene = Scene::new();
    let rejects = "### P1 [rejected] The bank notices it.\n";
    let withdraws = "### P1 [withdrawn] It does.\n### VERDICT [agree]\n";
    scene.agent("opponent", &[("", FIRST_CLAIM), ("", withdraws)]);
    scene.agent(
        "proposer",
        &[(": > plan.md", rejects), ("sleep 300 & wait", rejects), (MENDS, rejects)],
    );
    let run = scene.spawn(&[]);
    until("the repair begins", || scene.turns_of("proposer") == 2);
    signal(&run, Signal::SIGINT);
    assert_eq!(run.wait_with_output().unwrap().status.code(), Some(130));
    let data = scene.run(&["--resume"]).data();
    let arguments = scene.arguments(data["debate_id"].as_str().unwrap());
    assert!(arguments[2]["content"].as_str().unwrap().ends_with("(v1 → v2)"), "{}", arguments[2]);
}

#[test]
fn an_unfinished_run_is_not_overwritten_and_a_resume_names_another_arbitrator() {
    let scene = Scene::new();
    scene.agent("opponent", &[("", FIRST_CLAIM), ("", AGREES)]);
    let appeals = "MOVE: appeal\nP1: uphold or dismiss?\n";
    scene.agent("proposer", &[("", appeals), (MENDS, ACCEPTS)]);
    scene.agent("judge", &[("", "### P1 [upheld] Send one key a payment.\n")]);
    scene.run(&["--arbitrator", "none"]).refused(7, "UNDECIDED");
    let debate = debate(&scene).unwrap();
    let state = scene.aw.home().join("runs").join(&debate).join("run.json");
    let before = fs::read(&state).unwrap();
    let refused = scene.run(&["--debate-id", &debate, "--arbitrator", "judge"]);
    let refused = refused.refused(5, "ACTION_NOT_ALLOWED");
    assert!(refused["error"]["suggestion"].as_str().unwrap().contains("--resume"), "{refused}");
    assert_eq!(fs::read(&state).unwrap(), before);
    let data = scene.run(&["--resume", &debate, "--arbitrator", "judge"]).data();
    assert_eq!((&data["outcome"], &data["rulings"]), (&"agreed".into(), &1.into()));
}

#[test]
fn a_resume_can_take_the_arbitration_from_an_agent() {
    let scene = Scene::new();
    scene.agent("opponent", &[("", FIRST_CLAIM)]);
    scene.agent("proposer", &[("", "MOVE: appeal\nP1: uphold or dismiss?\n")]);
    scene.command("judge", "#!/bin/sh\nexit 1\n");
    scene.run(&["--arbitrator", "judge"]).refused(8, "AGENT_FAILED");
    scene.run(&["--resume", "--arbitrator", "none"]).refused(7, "UNDECIDED");
}

#[test]
fn the_run_of_a_deleted_debate_is_over() {
    let scene = Scene::new();
    scene.agent("opponent", &[("sleep 300 & wait", FIRST_CLAIM)]);
    scene.agent("proposer", &[("", ACCEPTS)]);
    let run = scene.spawn(&[]);
    until("the turn begins", || scene.turns_of("opponent") == 1);
    let debate = debate(&scene).unwrap();
    scene.aw.quietly(&["debate", "delete", "--debate-id", &debate, "--confirm"]).ok();
    let output = run.wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["error"]["code"], "DEBATE_NOT_FOUND", "{answer}");
    assert_eq!(answer["content"][0]["data"]["resume_command"], Value::Null, "{answer}");
    scene.run(&["--resume"]).refused(2, "RUN_NOT_FOUND");
}

#[test]
fn a_run_belongs_to_the_project_of_its_plan() {
    let scene = Scene::new();
    scene.agent("opponent", &[("", FIRST_CLAIM), ("", AGREES)]);
    scene.agent("proposer", &[("", "MOVE: appeal\nP1: uphold or dismiss?\n"), (MENDS, ACCEPTS)]);
    let line = "cd / && aw debate run --proposer proposer --opponent opponent --arbitrator none";
    let plan = scene.aw.desk().join("plan.md");
    assert_eq!(scene.aw.sh(&format!("{line} '{}'", plan.display())).code, 7);
    scene.run(&["--resume"]).refused(7, "UNDECIDED");
}

/// An agent that answers by what was said: the first text until point P1 was answered.
fn follows(first: &str, later: &str, line: &str) -> String {
    format!(
        "#!/bin/sh\ncat > /dev/null\nsleep 0.05\n{line}\nif grep -q 'accepted' .aw/debate.md; then\ncat <<'END'\n{later}END\nelse\ncat <<'END'\n{first}END\nfi\n"
    )
}
