//! Whole debates between real agent programs, in changing roles.

use std::time::Duration;

use aw_core::Role;

use super::moves::{Move, Pause};
use super::outcome::{all_is_well, kinds, record};
use super::programs::Program;
use super::script::Script;
use super::table::Table;
use super::talk::{Step, data, next_command};

const PLAN: &str = "Keep all events in one SQLite file\n\nOne process writes it, all read it.";
const SECOND: &str = "Keep all events in one file, copied every hour\n\nOne process writes it.";
const THIRD: &str = "Keep all events in one file, for 10 euros a month\n\nCopied every hour.";
const FOURTH: &str = "Keep all events in one file, with one writer\n\nThe others queue.";

/// The prompt of a proposer's user.
const DEBATE_IT: &str = "Debate this plan with another agent: keep all events in one SQLite file.";

#[tokio::test(flavor = "multi_thread")]
async fn codex_proposes_opencode_opposes_and_pi_intervenes_and_rules() {
    let (late, owed) = (Pause::new(), Pause::new());
    let proposer = Script::proposes(
        PLAN,
        "We keep one file.",
        vec![
            Move::revision(SECOND, "C1 accepted: the file is copied every hour."),
            Move::revision(THIRD, "The budget that was ruled on is in the plan."),
            Move::appeal("One writer or two? Option A: one. Option B: two. Option C: another way."),
            Move::revision(FOURTH, "Aligned to the ruling: one writer, and a queue."),
            Move::resolution("Settled: one file, copied every hour, one writer, a queue."),
        ],
    );
    let opponent = Script::opposes(vec![
        Move::claim("C1: nobody copies the file."),
        Move::claim("M1: every hour is too seldom.").slowly(&late),
        Move::claim("C2: one writer will not be enough."),
        Move::claim("The plan follows the ruling. No issue is left."),
    ]);
    let arbitrator = Script::arbitrates(vec![
        Move::ruling("At most 10 euros a month. Go on.").slowly(&owed),
        Move::ruling("Option A: one writer, and a queue."),
    ]);
    let Some(mut table) = Table::set([
        (Program::Codex, proposer),
        (Program::Opencode, opponent),
        (Program::Pi, arbitrator.after_stopping_them("You both forget the budget.")),
    ]) else {
        return;
    };

    table.start(Role::Proposer, DEBATE_IT);
    let debate = table.debate().await;
    // It gets no debate id: it finds the debate that has no opponent yet.
    table.start(Role::Opponent, "Be the opponent in the debate that waits for one.");
    table.until("the opponent is writing", |_| late.is_reached()).await;
    table.start(Role::Arbitrator, &format!("Be the arbitrator in debate {debate}. Intervene."));
    table.until("the arbitrator has intervened", |_| owed.is_reached()).await;
    late.end();
    table.until("what was being written has come", |table| record(table).len() == 5).await;
    owed.end();
    table.everybody_leaves().await;

    let record = record(&table);
    let expected = [
        "proposer MOTION",
        "opponent CLAIM",
        "proposer CLAIM",
        "arbitrator INTERVENTION",
        "opponent CLAIM parked",
        "arbitrator RULING",
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
    // What the opponent had not seen was in the answer to its late claim.
    let talk = table.talk(Role::Opponent);
    let mut answers = talk.answers().map(|(_, answer)| data(&answer).clone());
    let parked = answers.find(|data| data["parked"] == true).unwrap();
    assert_eq!(parked["missed"][0]["content"], "You both forget the budget.");
    all_is_well(&table, &record, 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_opponent_killed_in_the_middle_of_its_wait_resumes_with_the_same_words() {
    let meanwhile = Pause::new();
    let proposer = Script::proposes(
        PLAN,
        "We keep one file.",
        vec![
            Move::revision(SECOND, "C1 accepted: copied every hour.").slowly(&meanwhile),
            Move::appeal("Every hour or minute? Option A: hour. B: minute. C: another way."),
        ],
    );
    let opponent = Script::opposes(vec![
        Move::claim("C1: nobody copies the file."),
        Move::claim("M1: every hour is too seldom."),
    ]);
    let arbitrator = Script::arbitrates(vec![Move::closing_ruling("Every hour is enough.")]);
    let Some(mut table) = Table::set([
        (Program::Claude, proposer.in_a_hurry(Duration::from_secs(2))),
        (Program::Pi, opponent),
        (Program::Codex, arbitrator),
    ]) else {
        return;
    };

    table.start(Role::Proposer, DEBATE_IT);
    let debate = table.debate().await;
    table.until("the proposer is cut off", |table| was_cut_off(table, Role::Proposer)).await;
    let words = format!("Be the opponent in debate {debate}.");
    table.start(Role::Opponent, &words);
    table.until("the proposer is writing", |_| meanwhile.is_reached()).await;
    table.until("only the opponent waits", |table| table.held() == 1).await;
    table.kill(Role::Opponent).await;
    table.until("the server has noticed", |table| table.held() == 0).await;
    meanwhile.end();
    table.until("the opponent is awaited", |table| record(table).len() == 3).await;
    table.start(Role::Arbitrator, &format!("Be the arbitrator in debate {debate}."));
    table.start(Role::Opponent, &words);
    table.everybody_leaves().await;

    let record = record(&table);
    let expected = [
        "proposer MOTION",
        "opponent CLAIM",
        "proposer CLAIM",
        "opponent CLAIM",
        "proposer APPEAL",
        "arbitrator RULING close",
    ];
    assert_eq!(kinds(&record), expected);
    goes_on_after(&table, Role::Proposer, "was moved to the background (ID", false);
    all_is_well(&table, &record, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_that_its_host_cuts_off_is_run_again_whichever_way_it_was_cut_off() {
    let meanwhile = Pause::new();
    let proposer = Script::proposes(
        PLAN,
        "We keep one file.",
        vec![
            Move::revision(SECOND, "C1 accepted: copied every hour.").slowly(&meanwhile),
            Move::resolution("Settled: one file, copied every hour."),
        ],
    );
    let opponent = Script::opposes(vec![
        Move::claim("C1: nobody copies the file."),
        Move::claim("No issue is left."),
    ]);
    let Some(mut table) = Table::set([
        (Program::Pi, proposer.in_a_hurry(Duration::from_secs(2))),
        // As long as it takes when nobody asks for more.
        (Program::Codex, opponent.in_a_hurry(Duration::from_secs(10))),
        (Program::Opencode, Script::arbitrates(vec![]).in_a_hurry(Duration::from_secs(2))),
    ]) else {
        return;
    };

    table.start(Role::Proposer, DEBATE_IT);
    let debate = table.debate().await;
    table.start(Role::Arbitrator, &format!("Be the arbitrator in debate {debate}."));
    table.until("the proposer is cut off", |table| was_cut_off(table, Role::Proposer)).await;
    table.start(Role::Opponent, &format!("Be the opponent in debate {debate}."));
    for role in [Role::Opponent, Role::Arbitrator] {
        table.until("they are cut off too", |table| was_cut_off(table, role)).await;
    }
    // Codex gives a wait the deadline that the kit has set, and leaves it running behind its back.
    let waits = table.waits(Role::Opponent);
    assert!(waits.iter().all(|set| set.contains("\0DEBATE_WAIT_DEADLINE=25\0")), "{waits:?}");
    assert!(!waits.is_empty());
    meanwhile.end();
    table.everybody_leaves().await;

    let record = record(&table);
    let expected = [
        "proposer MOTION",
        "opponent CLAIM",
        "proposer CLAIM",
        "opponent CLAIM",
        "proposer RESOLUTION",
        "arbitrator RULING automatic close",
    ];
    assert_eq!(kinds(&record), expected);
    // Ended by SIGKILL it has nothing to say, ended by SIGTERM it still answers.
    goes_on_after(&table, Role::Proposer, "Command timed out after 2 seconds", false);
    goes_on_after(&table, Role::Opponent, "Process running with session ID", false);
    goes_on_after(&table, Role::Arbitrator, "terminated command after exceeding timeout", true);
    all_is_well(&table, &record, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn gemini_cli_waits_22_times_in_a_row_and_debates_on() {
    waits_22_times_in_a_row(Program::Gemini).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn qwen_code_waits_22_times_in_a_row_and_debates_on() {
    waits_22_times_in_a_row(Program::Qwen).await;
}

/// Both programs end a run at the fifth identical command, so no two waits may be the same command.
async fn waits_22_times_in_a_row(program: Program) {
    let meanwhile = Pause::new();
    let proposer = Script::proposes(
        PLAN,
        "We keep one file.",
        vec![
            Move::revision(SECOND, "C1 accepted: copied every hour.").slowly(&meanwhile),
            Move::resolution("Settled: one file, copied every hour."),
        ],
    );
    let opponent = Script::opposes(vec![
        Move::claim("C1: nobody copies the file."),
        Move::claim("No issue is left."),
    ]);
    let seats = [(Program::Pi, proposer), (program, opponent.waiting_for(1))];
    let Some(mut table) = Table::set(seats) else { return };

    table.start(Role::Proposer, DEBATE_IT);
    let debate = table.debate().await;
    table.start(Role::Opponent, &format!("Be the opponent in debate {debate}."));
    let timeouts = |table: &Table| {
        let talk = table.talk(Role::Opponent);
        talk.answers().filter(|(_, answer)| data(answer)["status"] == "timeout").count()
    };
    table.until("the opponent has waited 22 times", |table| timeouts(table) >= 22).await;
    meanwhile.end();
    table.everybody_leaves().await;

    let record = record(&table);
    let expected = [
        "proposer MOTION",
        "opponent CLAIM",
        "proposer CLAIM",
        "opponent CLAIM",
        "proposer RESOLUTION",
        "arbitrator RULING automatic close",
    ];
    assert_eq!(kinds(&record), expected);
    let steps = table.talk(Role::Opponent).steps;
    let waits: Vec<_> =
        steps.iter().filter(|step| step.line.starts_with("aw debate wait ")).collect();
    for pair in waits.windows(2) {
        assert_ne!(pair[0].line, pair[1].line);
    }
}

/// Whether the host of this role has cut off a `wait`.
fn was_cut_off(table: &Table, role: Role) -> bool {
    table.talk(role).steps.iter().any(Step::was_cut_off)
}

/// Asserts that a wait followed the one that the host cut off: the advised one, or the same if there was no
/// answer.
#[track_caller]
fn goes_on_after(table: &Table, role: Role, words: &str, answered: bool) {
    let steps = table.talk(role).steps;
    let cut = steps.iter().position(Step::was_cut_off).unwrap();
    assert!(steps[cut].result.contains(words), "{:?}", steps[cut]);
    let answer = steps[cut].answer();
    assert_eq!(answer.is_some(), answered, "{:?}", steps[cut]);
    let next = answer.as_ref().and_then(next_command).unwrap_or(&steps[cut].line);
    assert_eq!(steps[cut + 1].line, next);
}
