//! Programs that fail, and budgets that end.

use std::time::{Duration, Instant};

use serde_json::json;

use super::scene::{AGREES, FIRST_CLAIM, Scene};

#[test]
fn a_program_that_crashes_is_started_once_more() {
    let scene = Scene::agreeing();
    scene.command("opponent", "#!/bin/sh\necho 'out of cheese' >&2\nexit 3\n");
    let ran = scene.run(&[]);
    let refused = ran.refused(8, "AGENT_FAILED");
    let data = ran.any_data();
    assert_eq!(
        (&data["stopped_by"]["kind"], &data["stopped_by"]["seat"]),
        (&json!("crash"), &json!("opponent"))
    );
    assert!(data["stopped_by"]["detail"].as_str().unwrap().contains("out of cheese"), "{data}");
    assert_eq!(data["seats"]["opponent"]["starts"], 2);
    assert_eq!(data["debate_state"], "AWAITING_OPPONENT", "any agent can take the move");
    assert!(refused["metadata"]["next_command"].as_str().unwrap().contains("--resume"));
}

#[test]
fn an_empty_answer_is_asked_for_once_more_and_then_is_a_crash() {
    let scene = Scene::agreeing();
    scene.command("opponent", "#!/bin/sh\nexit 0\n");
    let ran = scene.run(&[]);
    let refused = ran.refused(8, "AGENT_FAILED");
    let data = ran.any_data();
    assert_eq!(data["stopped_by"]["kind"], "empty");
    assert_eq!(data["seats"]["opponent"]["starts"], 3);
    // No text was kept, so none is named.
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("the opponent's turn failed") && !message.contains("final.md"),
        "{message}"
    );
}

#[test]
fn a_text_that_stays_flawed_fails_the_turn_and_is_kept() {
    let scene = Scene::agreeing();
    scene.agent("opponent", &[("", "### VERDICT [perhaps]\n")]);
    let ran = scene.run(&[]);
    let refused = ran.refused(8, "AGENT_FAILED");
    let data = ran.any_data();
    assert_eq!(data["stopped_by"]["kind"], "flaws");
    let message = refused["error"]["message"].as_str().unwrap();
    let file = message.rsplit("is in ").next().unwrap();
    assert_eq!(std::fs::read_to_string(file).unwrap(), "### VERDICT [perhaps]");
}

#[test]
fn a_hanging_program_ends_with_max_turn() {
    let scene = Scene::agreeing();
    scene.command("opponent", "#!/bin/sh\ntrap '' INT TERM\nsleep 611 & wait\nsleep 611\n");
    let began = Instant::now();
    let ran = scene.run(&["--max-turn", "1s", "--max-time", "4s"]);
    ran.refused(7, "UNDECIDED");
    assert_eq!(ran.any_data()["stopped_by"]["kind"], "budget");
    assert!(began.elapsed() < Duration::from_secs(60));
    assert_eq!(scene.aw.sh("pgrep -cf '[s]leep 611'").stdout.trim(), "0");
}

#[test]
fn a_used_up_budget_begins_no_turn_and_a_larger_one_goes_on() {
    let scene = Scene::new();
    scene.agent("opponent", &[("sleep 2", FIRST_CLAIM), ("", AGREES)]);
    scene.agent("proposer", &[(super::scene::MENDS, super::scene::ACCEPTS)]);
    let ran = scene.run(&["--max-time", "1s"]);
    ran.refused(7, "UNDECIDED");
    let data = ran.any_data();
    assert_eq!(data["stopped_by"]["kind"], "budget");
    assert_eq!(scene.turns_of("proposer"), 0);
    let debate = data["debate_id"].as_str().unwrap();
    let larger = format!("aw debate run --resume {debate} --max-time ");
    assert!(data["resume_command"].as_str().unwrap().starts_with(&larger), "{data}");
    let data = scene.run(&["--resume", debate, "--max-time", "10m"]).data();
    assert_eq!(data["outcome"], "agreed");
    assert_eq!(scene.turns_of("opponent"), 2, "no turn is played twice");
}

#[test]
fn final_messages_that_are_too_long_or_contain_nul_are_flaws() {
    let scene = Scene::new();
    let long = format!("{FIRST_CLAIM}\n{}", "x".repeat(11_000));
    scene.agent(
        "opponent",
        &[("", &long), ("printf 'a\\000b'", FIRST_CLAIM), ("", FIRST_CLAIM), ("", AGREES)],
    );
    scene.agent("proposer", &[(super::scene::MENDS, super::scene::ACCEPTS)]);
    let data = scene.run(&[]).data();
    assert_eq!(data["outcome"], "agreed");
    assert_eq!(data["seats"]["opponent"]["repairs"], 2);
    assert!(scene.noted("opponent.prompt.2").contains("9500 are allowed"));
    assert!(scene.noted("opponent.prompt.3").contains("U+0000"));
}

#[test]
fn a_plan_with_nul_is_a_flaw() {
    let scene = Scene::new();
    scene.agent("opponent", &[("", FIRST_CLAIM), ("", AGREES)]);
    let (mends, accepts) = (super::scene::MENDS, super::scene::ACCEPTS);
    scene.agent("proposer", &[("printf '\\000' >> plan.md", accepts), (mends, accepts)]);
    let data = scene.run(&[]).data();
    assert_eq!(
        (&data["outcome"], &data["seats"]["proposer"]["repairs"]),
        (&json!("agreed"), &json!(1))
    );
    assert!(scene.noted("proposer.prompt.2").contains("U+0000"));
}
