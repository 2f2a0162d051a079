//! What cannot be run gets a clear error, and nothing is begun.

use std::fs;

use super::scene::Scene;

#[test]
fn a_plan_that_cannot_be_debated_is_refused_before_anything_begins() {
    let scene = Scene::agreeing();
    scene.aw.file("empty.md", "  \n");
    scene.aw.file("bytes.md", b"\xff\xfe");
    scene.aw.file("nul.md", "# Plan\n\0\n");
    scene.aw.file("long.md", "x".repeat(5 * 1024 * 1024 + 1));
    for (plan, exit, code) in [
        ("missing.md", 4, "FILE_NOT_FOUND"),
        ("empty.md", 4, "INVALID_INPUT"),
        ("bytes.md", 4, "INVALID_INPUT"),
        ("nul.md", 4, "INVALID_INPUT"),
        ("src", 4, "INVALID_INPUT"),
        ("long.md", 4, "CONTENT_TOO_LARGE"),
    ] {
        let line = ["debate", "run", plan, "--proposer", "proposer", "--opponent", "opponent"];
        scene.aw.quietly(&line).refused(exit, code);
    }
    assert!(fs::read_dir(scene.aw.home().join("runs")).is_err(), "no folder was made");
    assert_eq!(scene.turns_of("opponent"), 0);
}

#[test]
fn an_agent_that_is_not_there_is_named_with_what_to_install() {
    let scene = Scene::agreeing();
    let run = |line: &[&str]| scene.aw.quietly(&[&["debate", "run"], line].concat());
    let refused = run(&["plan.md"]).refused(2, "AGENT_NOT_FOUND");
    let hint = refused["error"]["suggestion"].as_str().unwrap();
    assert!(hint.contains("claude") && hint.contains("codex"), "{hint}");
    run(&["plan.md", "--proposer", "emacs"]).refused(2, "AGENT_NOT_FOUND");
    run(&["plan.md", "--proposer", "proposer:opus", "--opponent", "opponent"])
        .refused(2, "AGENT_NOT_FOUND");
    run(&["--resume"]).refused(2, "RUN_NOT_FOUND");
    run(&["--resume", "7b0e4a1e-6f1c-4f0e-9d8a-3f7f5a1f0b11"]).refused(2, "RUN_NOT_FOUND");
    run(&["--stop", "7b0e4a1e-6f1c-4f0e-9d8a-3f7f5a1f0b11"]).refused(2, "RUN_NOT_FOUND");
    run(&[]).refused(4, "INVALID_INPUT");
    run(&["plan.md", "--max-time", "soon"]).refused(4, "INVALID_INPUT");
    run(&["--resume", "--rounds", "3"]).refused(4, "INVALID_INPUT");
    run(&["--resume", "--title", "T"]).refused(4, "INVALID_INPUT");
    run(&["--debate-id", "T", "--opponent", "opponent", "--output", "o.md"])
        .refused(4, "INVALID_INPUT");
}

#[test]
fn flags_that_no_debate_can_have_are_refused_and_leave_no_run() {
    let scene = Scene::agreeing();
    let (title, ask) = ("t".repeat(3_000), "a".repeat(20_000));
    for (flag, value, code) in [
        ("--rounds", "99", "INVALID_INPUT"),
        ("--blocking", "foo", "INVALID_INPUT"),
        ("--title", "", "INVALID_INPUT"),
        ("--title", &title, "INVALID_INPUT"),
        ("--ask", &ask, "CONTENT_TOO_LARGE"),
    ] {
        let refused = scene.run(&[flag, value]).refused(4, code);
        assert!(refused["error"]["message"].as_str().unwrap().contains(flag), "{refused}");
    }
    scene.run(&["--resume"]).refused(2, "RUN_NOT_FOUND");
}

#[test]
fn a_run_that_drives_no_seat_is_refused() {
    let scene = Scene::agreeing();
    let line =
        ["debate", "create", "--title", "T", "--type", "general_debate", "--content", "Examine."];
    let debate = scene.aw.quietly(&line).data()["debate_id"].as_str().unwrap().to_owned();
    for nobody in ["me", "none"] {
        scene.run(&["--debate-id", &debate, "--arbitrator", nobody]).refused(4, "INVALID_INPUT");
    }
}

#[test]
fn a_wrong_key_in_the_settings_is_named() {
    let scene = Scene::agreeing();
    scene.aw.config("[agents.house]\ncommand = [\"x\"]\nmodel = \"y\"\n");
    let refused = scene.run(&[]).refused(4, "INVALID_INPUT");
    assert!(refused["error"]["message"].as_str().unwrap().contains("agents.house.model"));
    scene.aw.config("[agents.house]\ncomand = [\"x\"]\n");
    let refused = scene.run(&[]).refused(4, "INVALID_INPUT");
    assert!(refused["error"]["message"].as_str().unwrap().contains("comand"));
}

#[test]
fn a_check_shows_programs_and_files_and_begins_nothing() {
    let scene = Scene::agreeing();
    scene.aw.file(".env", "KEY=1\n");
    let data = scene.run(&["--check"]).data();
    assert_eq!(data["seats"]["opponent"]["agent"], "opponent");
    assert!(data["seats"]["opponent"]["program"].as_str().unwrap().ends_with("scripts/opponent"));
    assert_eq!((&data["copy"]["files"], &data["copy"]["left_out"]), (&2.into(), &1.into()));
    assert_eq!(scene.turns_of("opponent"), 0);
}

#[test]
fn a_project_without_git_gives_the_agents_the_plan_alone() {
    let scene = Scene::agreeing();
    fs::remove_dir_all(scene.aw.desk().join(".git")).unwrap();
    let data = scene.run(&[]).data();
    assert_eq!(data["outcome"], "agreed");
    assert!(data["notes"].to_string().contains("the plan alone"), "{data}");
}

#[test]
fn a_live_check_plays_one_tiny_turn_of_each_program() {
    let scene = Scene::agreeing();
    scene.command("opponent", "#!/bin/sh\ncat > /dev/null\necho READY\n");
    scene.command("proposer", "#!/bin/sh\necho 'no login' >&2\nexit 1\n");
    let ran = scene.run(&["--check", "--live"]);
    let seats = ran.data()["seats"].clone();
    assert_eq!(ran.code, 8, "{ran:?}");
    assert_eq!(seats["opponent"]["live"]["answered"], true, "{seats}");
    assert_eq!(seats["proposer"]["live"]["answered"], false);
    assert!(seats["proposer"]["live"]["detail"].as_str().unwrap().contains("no login"));
}
