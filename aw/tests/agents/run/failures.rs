//! Models that refuse, texts that are refused, and programs that are cut off.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use aw_core::Role::Opponent;
use serde_json::json;

use super::super::programs::Program;
use super::stage::{Stage, agent, read, say};
use super::stand_in::Act;
use crate::loops::machine::until;
use crate::run::scene::{ACCEPTS, AGREES, FIRST_CLAIM, MENDS};

const ALL: [Program; 4] = [Program::Claude, Program::Codex, Program::Gemini, Program::Opencode];

/// How soon a run ends after the first refusal.
const SOON: Duration = Duration::from_secs(15);

#[test]
fn a_refused_login_soon_ends_the_run() {
    each_is_refused(401, "auth");
}

#[test]
fn a_used_up_quota_soon_ends_the_run() {
    each_is_refused(429, "quota");
}

fn each_is_refused(status: u16, kind: &str) {
    thread::scope(|all| {
        for program in ALL {
            all.spawn(move || is_refused(program, status, kind));
        }
    });
}

fn is_refused(program: Program, status: u16, kind: &str) {
    let Some(stage) = Stage::set() else { return };
    stage.model.plays(Opponent, vec![Act::Refuse(status)]);
    stage.scene.agent("proposer", &[(MENDS, ACCEPTS)]);
    let ran = stage.run(&["plan.md", "--proposer", "proposer", "--opponent", &agent(program)]);
    let end = Instant::now();
    let name = program.name();
    ran.refused(8, "AGENT_FAILED");
    let stopped = &ran.any_data()["stopped_by"];
    let found = (&stopped["kind"], &stopped["seat"]);
    assert_eq!(found, (&json!(kind), &json!("opponent")), "{name}: {stopped}");
    let took = end - stage.model.heard()[0].at;
    assert!(took < SOON, "{name}: {took:?}");
    assert_eq!(ran.any_data()["seats"]["opponent"]["starts"], 1, "{name} is not started again");
    assert_eq!(ran.any_data()["debate_state"], "AWAITING_OPPONENT");
    assert_eq!(stage.scene.turns_of("proposer"), 0);
}

#[test]
fn a_refused_text_is_mended_in_the_same_session() {
    thread::scope(|all| {
        for program in [Program::Claude, Program::Opencode] {
            all.spawn(move || is_mended(program));
        }
    });
}

fn is_mended(program: Program) {
    let Some(stage) = Stage::set() else { return };
    let flawed = FIRST_CLAIM.replace("The worker retries", "The worker repeats");
    stage.model.plays(Opponent, vec![say(&flawed), say(FIRST_CLAIM), say(AGREES)]);
    stage.scene.agent("proposer", &[(MENDS, ACCEPTS)]);
    let ran = stage.run(&["plan.md", "--proposer", "proposer", "--opponent", &agent(program)]);
    assert_eq!(ran.code, 0, "{}\n{}\n{}", ran.stdout, ran.stderr, stage.story());
    let data = ran.data();
    let seat = &data["seats"]["opponent"];
    let counted = (&data["outcome"], &seat["repairs"], &seat["starts"], &seat["turns"]);
    assert_eq!(counted, (&json!("agreed"), &json!(1), &json!(3), &json!(2)));
    assert_eq!(stage.model.calls(), [(Opponent, 0), (Opponent, 1), (Opponent, 2)]);
    let repair = &stage.model.heard()[1].talk;
    assert!(repair.instructions.contains("Your answer was not posted"));
    assert!(!repair.instructions.contains("It was:"), "its session remembers the text");
}

#[test]
fn a_run_that_was_killed_in_the_middle_of_a_turn_goes_on() {
    thread::scope(|all| {
        for program in [Program::Codex, Program::Opencode] {
            all.spawn(move || is_cut_off(program));
        }
    });
}

fn is_cut_off(program: Program) {
    let Some(stage) = Stage::set() else { return };
    stage.model.plays(Opponent, vec![read("plan.md"), say(FIRST_CLAIM), say(AGREES)]);
    stage.scene.agent("proposer", &[(MENDS, ACCEPTS)]);
    stage.model.is_silent_to(Opponent);
    let mut run =
        stage.spawn(&["plan.md", "--proposer", "proposer", "--opponent", &agent(program)]);
    until("the program asks its model", || !stage.model.heard().is_empty());
    run.kill().unwrap();
    run.wait().unwrap();
    until("its processes are gone", || stage.working().is_empty());
    let ran = stage.run(&["--resume"]);
    assert_eq!(ran.code, 0, "{}\n{}\n{}", ran.stdout, ran.stderr, stage.story());
    let data = ran.data();
    assert_eq!(data["outcome"], "agreed");
    let kinds = stage.scene.kinds(data["debate_id"].as_str().unwrap());
    assert_eq!(kinds, ["MOTION", "CLAIM", "CLAIM", "CLAIM", "RESOLUTION", "RULING"]);
    // The turn begins again, in a new session.
    let places: Vec<_> = stage.model.calls().into_iter().map(|(_, place)| place).collect();
    assert_eq!(places, [0, 0, 1, 2]);
}

impl Stage {
    /// The processes that work in a copy.
    pub fn working(&self) -> Vec<String> {
        let runs = self.scene.aw.home().join("runs");
        let all = fs::read_dir("/proc").unwrap().flatten();
        let inside = all.filter(|process| {
            let folder = fs::read_link(process.path().join("cwd"));
            folder.is_ok_and(|folder| folder.starts_with(&runs))
        });
        inside.map(|process| process.file_name().to_string_lossy().into_owned()).collect()
    }
}
