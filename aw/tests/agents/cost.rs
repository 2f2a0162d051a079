//! The bytes that `aw` adds to the requests of an agent program in a debate of six turns after the
//! MOTION, with points. `scripts/bench tokens` prints them for the programs that `AW_TOKENS` names, or for all.
//!
//! A request carries the whole conversation again, so a text costs its size once for every request that follows
//! it. The first request of the same program without `aw` is subtracted from each. What the agents themselves
//! write is short and the same in each row.

use std::fmt;

use aw_core::Role;
use serde_json::json;

use super::moves::Move;
use super::outcome::{kinds, record};
use super::programs::Program;
use super::run::{Stage, agent, edit, read, say};
use super::script::Script;
use super::table::Table;
use super::talk::{Step, Talk};

const PLAN: &str = "Keep all events in one SQLite file\n\nOne process writes it, all read it.";
const SECOND: &str = "Keep all events in one SQLite file\n\nOne process writes it and copies it.";
const THIRD: &str = "Keep all events in one SQLite file\n\nOne process copies it every hour.";

/// The bytes of one agent program in both roles.
#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    requests: usize,
    /// Added to the first request, before anything is debated.
    standing: usize,
    /// The kit's text, read once: skill and rules; in a run the prompt.
    kit: usize,
    /// What commands or tools answered, each once; in a run the later prompts.
    answers: usize,
    /// Added to all requests together.
    sent: usize,
}

impl Cost {
    fn of(bare: usize, heard: &[Talk], kit: usize) -> Self {
        let last = heard.last().expect("it asked its model");
        let (rules, others): (Vec<&Step>, Vec<&Step>) =
            last.steps.iter().skip(1).partition(|step| step.line.ends_with(" --rules"));
        let read =
            |steps: Vec<&Step>| steps.into_iter().map(|step| step.result.len()).sum::<usize>();
        Cost {
            requests: heard.len(),
            standing: heard[0].bytes.saturating_sub(bare),
            kit: kit + read(rules),
            answers: read(others),
            sent: heard.iter().map(|talk| talk.bytes.saturating_sub(bare)).sum(),
        }
    }

    fn and(self, other: Self) -> Self {
        Cost {
            requests: self.requests + other.requests,
            standing: self.standing.max(other.standing),
            kit: self.kit + other.kit,
            answers: self.answers + other.answers,
            sent: self.sent + other.sent,
        }
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kb = |bytes: usize| format!("{:.1}", bytes as f64 / 1000.0);
        let Cost { requests, standing, kit, answers, sent } = self;
        let (standing, kit, answers, sent) = (kb(*standing), kb(*kit), kb(*answers), kb(*sent));
        write!(f, "{requests} | {standing} | {kit} | {answers} | {sent}")
    }
}

/// The most that pi, which adds least of its own, may send because of `aw`, in bytes.
const BUDGET: usize = 300_000;

#[tokio::test(flavor = "multi_thread")]
async fn a_debate_of_six_turns_costs_no_more_than_its_budget() {
    use Program::{Claude, Codex, Gemini, Opencode, Pi, Qwen};
    let Ok(named) = std::env::var("AW_TOKENS") else {
        let Some(cost) = in_a_debate(Pi, false).await else { return };
        assert!(cost.sent <= BUDGET, "{} bytes of {BUDGET}: {cost}", cost.sent);
        return;
    };
    let is_named = |program: &Program| {
        named.trim().is_empty() || named.split_whitespace().any(|name| name == program.name())
    };
    let title = "| host | by | requests | in every request | kit | answers | sent in all |";
    print_line(&format!("{title}\n|---|---|--:|--:|--:|--:|--:|"));
    for program in [Claude, Codex, Gemini, Opencode, Pi, Qwen].into_iter().filter(is_named) {
        row(program, "CLI", in_a_debate(program, false).await);
    }
    for program in [Codex, Opencode].into_iter().filter(is_named) {
        row(program, "MCP", in_a_debate(program, true).await);
    }
    for program in [Claude, Codex, Gemini, Opencode].into_iter().filter(is_named) {
        row(program, "run", tokio::task::block_in_place(|| in_a_run(program)));
    }
}

fn row(program: Program, way: &str, cost: Option<Cost>) {
    if let Some(cost) = cost {
        print_line(&format!("| {} | {way} | {cost} |", program.name()));
    }
}

#[expect(clippy::print_stdout, reason = "the table is what scripts/bench tokens is run for")]
fn print_line(line: &str) {
    println!("{line}");
}

fn scripts(by_tools: bool) -> [Script; 2] {
    let proposer = Script::proposes(
        PLAN,
        "We keep one file.",
        vec![
            Move::revision(SECOND, "### P1 [accepted] It is copied."),
            Move::revision(THIRD, "### P1 [accepted] It is copied every hour."),
            Move::resolution("Settled: one file, copied every hour."),
        ],
    );
    let opponent = Script::opposes(vec![
        Move::claim(
            "### NEW [major] Nobody copies the file\n> One process writes it, all read it.\n\
             A lost disk loses everything.\n### VERDICT [object]",
        ),
        Move::claim("### P1 [open]\nNothing says how often.\n### VERDICT [object]"),
        Move::claim("### P1 [resolved] Every hour is enough.\n### VERDICT [agree]"),
    ]);
    [proposer, opponent].map(|script| {
        let script = script.with_points();
        if by_tools { script.by_tools() } else { script }
    })
}

/// The prompts of the two users.
const PROPOSE: &str = "Debate this plan with another agent: keep all events in one SQLite file.";
const OPPOSE: &str = "Be the opponent in the debate that waits for one.";

async fn in_a_debate(program: Program, by_tools: bool) -> Option<Cost> {
    let roles = [(Role::Proposer, PROPOSE), (Role::Opponent, OPPOSE)];
    let mut bare = Vec::new();
    for (script, (role, words)) in scripts(by_tools).into_iter().zip(roles) {
        let mut table = Table::without_kit([(program, script)])?;
        table.start(role, words);
        table.until("it asks its model", |table| !table.model.heard(role).is_empty()).await;
        bare.push(table.model.heard(role)[0].0.bytes);
    }
    let mut table = Table::set(scripts(by_tools).map(|script| (program, script)))?;
    table.start(Role::Proposer, PROPOSE);
    table.debate().await;
    table.start(Role::Opponent, OPPOSE);
    table.everybody_leaves().await;
    let record = record(&table);
    assert_eq!(kinds(&record).len(), 8, "{:?}", kinds(&record));
    let mut costs = roles.iter().zip(bare).map(|((role, _), bare)| {
        let heard: Vec<Talk> = table.model.heard(*role).into_iter().map(|(talk, _)| talk).collect();
        Cost::of(bare, &heard, table.skill(*role, *role).len())
    });
    costs.next().zip(costs.next()).map(|(proposer, opponent)| proposer.and(opponent))
}

fn in_a_run(program: Program) -> Option<Cost> {
    let stage = Stage::set()?;
    stage.model.plays(
        Role::Opponent,
        vec![
            read("plan.md"),
            say(
                "### NEW [major] A retry can charge twice\n> The worker retries the POST up to 3 times.\n\
                 A time-out charges again.\n### VERDICT [object]\n",
            ),
            read("plan.md"),
            say("### P1 [open]\nNothing says where the key comes from.\n### VERDICT [object]\n"),
            read("plan.md"),
            say("### P1 [resolved] Step 1 names it.\n### VERDICT [agree]\n"),
        ],
    );
    stage.model.plays(
        Role::Proposer,
        vec![
            edit("plan.md", "3 times.", "3 times, with a key."),
            say("### P1 [accepted] With a key.\n"),
            edit("plan.md", "with a key.", "with the key of the payment."),
            say("### P1 [accepted] The key of the payment.\n"),
        ],
    );
    let agent = agent(program);
    let ran = stage.run(&["plan.md", "--proposer", &agent, "--opponent", &agent]);
    assert_eq!(ran.code, 0, "{}\n{}\n{}", ran.stdout, ran.stderr, stage.story());
    let costs = [Role::Proposer, Role::Opponent].map(|role| {
        let heard: Vec<Talk> = stage
            .model
            .heard()
            .into_iter()
            .filter(|heard| heard.role == role)
            .map(|heard| heard.talk)
            .collect();
        let prompt = |talk: &Talk| {
            let from = talk.instructions.find("# Debate: you are the ").expect("it names the seat");
            json!(talk.instructions[from..]).to_string().len()
        };
        let (first, last) = (prompt(&heard[0]), prompt(heard.last().expect("it asked its model")));
        let bare = heard[0].bytes.saturating_sub(first);
        Cost {
            requests: heard.len(),
            standing: 0,
            kit: first,
            answers: last.saturating_sub(first),
            sent: heard.iter().map(|talk| talk.bytes.saturating_sub(bare)).sum(),
        }
    });
    let [proposer, opponent] = costs;
    Some(proposer.and(opponent))
}
