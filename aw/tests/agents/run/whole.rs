//! Each program plays each seat, in a first and in a later turn.

use aw_core::Role::{self, Arbitrator, Opponent, Proposer};
use serde_json::json;

use super::super::programs::Program;
use super::stage::{Stage, agent, edit, read, say};
use super::stand_in::Act;

#[test]
fn claude_proposes_codex_opposes_and_gemini_arbitrates() {
    plays_to_the_end(Program::Claude, Program::Codex, Program::Gemini);
}

#[test]
fn codex_proposes_opencode_opposes_and_claude_arbitrates() {
    plays_to_the_end(Program::Codex, Program::Opencode, Program::Claude);
}

#[test]
fn gemini_proposes_claude_opposes_and_opencode_arbitrates() {
    plays_to_the_end(Program::Gemini, Program::Claude, Program::Opencode);
}

#[test]
fn opencode_proposes_gemini_opposes_and_codex_arbitrates() {
    plays_to_the_end(Program::Opencode, Program::Gemini, Program::Codex);
}

const TWO_POINTS: &str = "### NEW [critical] A retry can charge twice\n\
     > The worker retries the POST up to 3 times.\nA time-out after the charge charges again.\n\
     ### NEW [major] Refunds need old rows\n> Old rows are deleted after 30 days.\nA refund comes later.\n\
     ### VERDICT [object]\n";
const HOLDS: &str = "### P1 [open]\nNothing says where the key comes from.\n### VERDICT [object]\n";
const FIRST_APPEAL: &str = "MOVE: appeal\nP2: refunds read the ledger. Uphold, dismiss or defer?\n";
const FIRST_RULING: &str = "### P2 [dismissed] Refunds do not read these rows.\n";
const ACCEPTS: &str = "### P1 [accepted] Step 1 sends one key a payment.\n";
const LAST_APPEAL: &str = "MOVE: appeal\nP1: is one key a payment enough? Uphold or dismiss?\n";
const LAST_RULING: &str = "MOVE: close\n### P1 [dismissed] One key a payment is enough.\n";

/// Each seat has a first turn and later ones, and the plan changes in both kinds.
pub fn scripts() -> [(Role, Vec<Act>); 3] {
    let proposer = vec![
        read("plan.md"),
        edit("plan.md", "after 30 days", "after 90 days"),
        say(FIRST_APPEAL),
        read("plan.md"),
        edit("plan.md", "3 times.", "3 times, with one key a payment."),
        say(ACCEPTS),
        say(LAST_APPEAL),
    ];
    let opponent = vec![read("src/charge.rs"), say(TWO_POINTS), read("plan.md"), say(HOLDS)];
    let arbitrator = vec![read("plan.md"), say(FIRST_RULING), say(LAST_RULING)];
    [(Proposer, proposer), (Opponent, opponent), (Arbitrator, arbitrator)]
}

fn plays_to_the_end(proposer: Program, opponent: Program, arbitrator: Program) {
    let Some(stage) = Stage::set() else { return };
    for (role, script) in scripts() {
        stage.model.plays(role, script);
    }
    let seats = [(Proposer, proposer), (Opponent, opponent), (Arbitrator, arbitrator)];
    let agents = seats.map(|(_, program)| agent(program));
    let ran = stage.run(&[
        "plan.md",
        "--proposer",
        &agents[0],
        "--opponent",
        &agents[1],
        "--arbitrator",
        &agents[2],
    ]);
    assert_eq!(ran.code, 0, "{}\n{}\n{}", ran.stdout, ran.stderr, stage.story());
    let data = ran.data();
    assert_eq!((&data["outcome"], &data["debate_state"]), (&json!("ruled"), &json!("CLOSED")));
    let plan = stage.scene.text("plan.md");
    assert!(plan.contains("one key a payment") && plan.contains("after 90 days"), "{plan}");
    assert!(stage.scene.text("plan.debate.md").contains("A retry can charge twice"));
    assert_eq!(data["documents"][0]["version"], 3);

    // A model is called in the turn of its seat only, and no turn calls it twice for the same.
    let expected = [
        (Opponent, 0..2),
        (Proposer, 0..3),
        (Arbitrator, 0..2),
        (Proposer, 3..6),
        (Opponent, 2..4),
        (Proposer, 6..7),
        (Arbitrator, 2..3),
    ];
    let expected = expected.into_iter().flat_map(|(role, places)| places.map(move |at| (role, at)));
    assert_eq!(stage.model.calls(), expected.collect::<Vec<_>>(), "{}", stage.story());
    assert_eq!(stage.model.strays(), [""; 0]);
    // A later turn continues the session of the first: its model sees what it has said there.
    for (role, first) in
        [(Proposer, FIRST_APPEAL), (Opponent, TWO_POINTS), (Arbitrator, FIRST_RULING)]
    {
        let heard = stage.model.heard();
        let last = heard.iter().rfind(|heard| heard.role == role).unwrap();
        assert_eq!(last.talk.said[0].trim(), first.trim(), "{role}");
        let whole = last.talk.instructions.matches("# Debate: you are the ").count();
        assert_eq!(whole, 1, "a later turn of the {role} says only what is new");
    }

    let arguments = stage.scene.arguments(data["debate_id"].as_str().unwrap());
    let kinds: Vec<_> = arguments.iter().map(|one| one["type"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        ["MOTION", "CLAIM", "APPEAL", "RULING", "CLAIM", "CLAIM", "APPEAL", "RULING"]
    );
    for ((role, program), (turns, requests)) in seats.into_iter().zip([(3, 7), (2, 4), (2, 3)]) {
        let seat = &data["seats"][role.as_str()];
        let version = seat["version"].as_str().unwrap();
        let model = agent(program).split_once(':').unwrap().1.to_owned();
        let author = format!("{} {version} {model}", program.name());
        for own in arguments[1..].iter().filter(|one| one["role"] == role.as_str()) {
            assert_eq!((&own["author"], &own["via"]), (&json!(author), &json!("run")), "{own}");
        }
        let counted = [&seat["turns"], &seat["starts"], &seat["repairs"]];
        assert_eq!(counted, [&json!(turns), &json!(turns), &json!(0)], "{seat}");
        // The stand-in counts one token for each question and one for each answer.
        assert_eq!(seat["tokens"], json!(2 * requests), "{}: {seat}", program.name());
    }
    let notes = data["notes"].to_string();
    assert!(!notes.contains("version"), "the versions are those that were tried: {notes}");
}
