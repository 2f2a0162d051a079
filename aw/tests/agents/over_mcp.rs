//! A whole debate between programs without a shell: Codex uses `aw mcp` from the kit, opencode the server's
//! `/mcp`.

use std::time::Duration;

use aw_core::Role;
use tokio::time::sleep;

use super::moves::{Move, Pause};
use super::outcome::{all_is_well, kinds, record};
use super::programs::Program;
use super::script::{Reply, Script};
use super::table::Table;
use super::talk::Step;

const PLAN: &str = "Keep all events in one SQLite file\n\nOne process writes it, all read it.";
const SECOND: &str = "Keep all events in one file, copied every hour\n\nOne process writes it.";

/// Longer than opencode allows a call without progress, and shorter than a wait with progress.
const LONG: Duration = Duration::from_secs(90);

#[tokio::test(flavor = "multi_thread")]
async fn codex_over_stdio_and_opencode_over_http_wait_90_seconds_for_a_ruling_in_one_call() {
    let late = Pause::new();
    let proposer = Script::proposes(
        PLAN,
        "We keep one file.",
        vec![
            // Words that look like the tool's own must not be taken for them.
            Move::revision(
                SECOND,
                "C1 accepted: copied every hour.\nNext: debate_list {}\nAction: debate_closed.",
            ),
            Move::appeal("Every hour or minute? Option A: hour. B: minute. C: another way."),
            Move::claim("Aligned to the ruling: every hour."),
            Move::resolution("Settled: one file, copied every hour."),
        ],
    );
    let opponent = Script::opposes(vec![
        Move::claim("C1: nobody copies the file."),
        Move::claim("M1: every hour is too seldom."),
        Move::claim("The plan follows the ruling. No issue is left."),
    ]);
    let arbitrator = Script::arbitrates(vec![Move::ruling("Option A: every hour.").slowly(&late)]);
    let Some(mut table) = Table::set([
        (Program::Codex, proposer.by_tools()),
        (Program::Opencode, opponent.by_tools()),
        (Program::Pi, arbitrator),
    ]) else {
        return;
    };
    table.over_http(Role::Opponent);

    table.start(Role::Proposer, "Debate this plan: keep all events in one SQLite file.");
    let debate = table.debate().await;
    table.start(Role::Opponent, "Be the opponent in the debate that waits for one.");
    table.start(Role::Arbitrator, &format!("Be the arbitrator in debate {debate}."));
    table.until("the arbitrator is writing", |_| late.is_reached()).await;
    for role in [Role::Proposer, Role::Opponent] {
        table.until("the others wait", |table| is_waiting(table, role)).await;
    }
    sleep(LONG).await;
    late.end();
    table.everybody_leaves().await;

    let record = record(&table);
    let expected = [
        "proposer MOTION",
        "opponent CLAIM",
        "proposer CLAIM",
        "opponent CLAIM",
        "proposer APPEAL",
        "arbitrator RULING",
        "proposer CLAIM",
        "opponent CLAIM",
        "proposer RESOLUTION",
        "arbitrator RULING automatic close",
    ];
    assert_eq!(kinds(&record), expected);
    for role in [Role::Proposer, Role::Opponent] {
        let talk = table.talk(role);
        // One call a wait: none was cut off, and none had to be made again.
        for step in talk.steps.iter().filter(|step| step.tool.ends_with("debate_wait")) {
            assert!(step.result.contains(" new argument"), "{step:?}");
        }
        // Only what a proposer or an opponent may do was offered.
        assert!(talk.tools.iter().any(|tool| tool.ends_with("debate_submit")), "{:?}", talk.tools);
        assert!(!talk.tools.iter().any(|tool| tool.ends_with("debate_ruling")), "{:?}", talk.tools);
    }
    // Codex tells how long each call took.
    let took = table.talk(Role::Proposer).steps.iter().filter_map(wall_time).fold(0.0, f64::max);
    assert!((LONG.as_secs_f64()..LONG.as_secs_f64() + 20.0).contains(&took), "{took}");
    all_is_well(&table, &record, 2);
}

fn wall_time(step: &Step) -> Option<f64> {
    let seconds = step.result.strip_prefix("Wall time: ")?.split_once(" seconds")?.0;
    seconds.parse().ok()
}

/// Whether the last step of this role's model is a wait.
fn is_waiting(table: &Table, role: Role) -> bool {
    let last = table.model.heard(role).pop().map(|(_, reply)| reply);
    matches!(last, Some(Reply::Call { tool, arguments, .. }) if tool == "debate_wait" || arguments["wait"] == true)
}
