//! Five stories of a debate, told by every agent program in every way. The program has all seats.
//!
//! `scripts/agents --table` tells all of them and puts what came of them into docs/agents.md; `scripts/agents
//! --newest` tells them with the newest versions. `AW_STORIES` names the programs, and `AW_STORIES_PAGE` the page.
//! Without them a few stories stand for the others.

use std::path::Path;
use std::time::{Duration, Instant};
use std::{env, fs};

use aw_core::Role::{self, Arbitrator, Opponent, Proposer};
use serde_json::json;
use tokio::task::{JoinError, spawn_blocking};

use super::moves::{Move, Pause};
use super::outcome::{every_role_has_read_the_argument_that_it_answers, kinds, record};
use super::programs::{self, Program};
use super::run::{Stage, agent, edit, read, say, scripts};
use super::script::{PROSE, Script, TOO_SOON, WRONG_ID};
use super::table::Table;
use super::talk::{Step, Talk};
use crate::cli::aw::Ran;
use crate::loops::machine::until;
use crate::run::scene::{ACCEPTS, AGREES, FIRST_CLAIM, Played};

const PLAN: &str = "Keep all events in one SQLite file\n\nOne process writes it, all read it.";
const SECOND: &str = "Keep all events in one file, copied every hour\n\nOne process writes it.";

/// How long a host that cuts calls off lets a call of a tool take.
const CALL: Duration = Duration::from_secs(4);

/// How a program debates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Cli,
    Mcp,
    Run,
}

impl Way {
    /// Its name on the page.
    fn as_str(self) -> &'static str {
        match self {
            Cli => "commands",
            Mcp => "tools",
            Run => "run",
        }
    }
}

/// The event of a debate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Story {
    Plain,
    Appeal,
    /// The host, or a `kill -9`, ends a wait without an answer; in a run, the run is killed in a turn.
    CutOff,
    Restarted,
    Misbehaves,
}

use Story::{Appeal, CutOff, Misbehaves, Plain, Restarted};
use Way::{Cli, Mcp, Run};

const STORIES: [Story; 5] = [Plain, Appeal, CutOff, Restarted, Misbehaves];

/// The stories that are told always.
const SHORT: [(Program, Way, Story); 4] = [
    (Program::Pi, Cli, Misbehaves),
    (Program::Codex, Mcp, CutOff),
    (Program::Opencode, Mcp, Restarted),
    (Program::Claude, Run, Misbehaves),
];

/// What a debate has cost at the model.
#[derive(Debug, Clone, Copy)]
struct Cost {
    calls: usize,
    bytes: usize,
}

impl Cost {
    fn of<'a>(heard: impl Iterator<Item = &'a Talk>) -> Self {
        let none = Cost { calls: 0, bytes: 0 };
        heard
            .fold(none, |cost, talk| Cost { calls: cost.calls + 1, bytes: cost.bytes + talk.bytes })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_story_ends_with_a_closed_debate() {
    if let Err(why) = programs::folder() {
        return crate::world::missing("agents", &why);
    }
    let mut broken = Vec::new();
    if env::var_os("AW_STORIES").is_none() {
        for (program, way, story) in SHORT {
            broken.extend(tell(program, way, story).await.err());
        }
    } else {
        let mut rows = Vec::new();
        for program in programs::asked_for() {
            for way in ways(program) {
                let mut row =
                    format!("{}| {} | {} |", title(program), program.version(), way.as_str());
                for story in STORIES {
                    let told = tell(program, way, story).await;
                    row.push_str(&format!(" {} |", told.as_deref().unwrap_or("**fails**")));
                    broken.extend(told.err());
                }
                rows.push(row);
            }
        }
        print_line(&rows.join("\n"));
        if let Some(page) = env::var_os("AW_STORIES_PAGE") {
            publish(Path::new(&page), &rows);
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_page_shows_every_program_at_the_version_that_is_fetched() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let fetched = fs::read_to_string(root.join("scripts/agents")).unwrap();
    let page = fs::read_to_string(root.join("docs/agents.md")).unwrap();
    for program in programs::ALL {
        let (_, rest) = fetched.split_once(&format!("{}@", program.package())).unwrap();
        let version = rest.split_whitespace().next().unwrap();
        let row = format!("{}| {version} | {} |", title(program), Cli.as_str());
        assert!(page.contains(&row), "scripts/agents --table {}: {row}", program.name());
    }
}

/// The beginning of a program's rows.
fn title(program: Program) -> String {
    format!("| {} ", program.title())
}

fn ways(program: Program) -> Vec<Way> {
    let has = |way: &Way| match way {
        Cli => true,
        Mcp => program.has_tools(),
        Run => program.runs(),
    };
    [Cli, Mcp, Run].into_iter().filter(has).collect()
}

/// Puts these rows into the table of the page. The rows of other programs stay.
fn publish(page: &Path, rows: &[String]) {
    let text = fs::read_to_string(page).unwrap();
    let (begin, end) = ("<!-- table: begin -->\n", "<!-- table: end -->");
    let (before, rest) = text.split_once(begin).expect("the page has a table");
    let (table, after) = rest.split_once(end).expect("the table ends");
    let mut all: Vec<&str> = table.lines().take(2).collect();
    for program in programs::ALL {
        let of = title(program);
        let is_new = rows.iter().any(|row| row.starts_with(&of));
        let kept = table.lines().filter(|_| !is_new);
        let new = rows.iter().map(String::as_str);
        all.extend(kept.chain(new).filter(|row| row.starts_with(&of)));
    }
    fs::write(page, format!("{before}{begin}{}\n{end}{after}", all.join("\n"))).unwrap();
}

/// Tells one story: its cell in the table, or what went wrong.
async fn tell(program: Program, way: Way, story: Story) -> Result<String, String> {
    let began = Instant::now();
    let told: Result<Option<Cost>, JoinError> = match way {
        Cli | Mcp => tokio::spawn(at_a_table(program, way == Mcp, story)).await,
        Run => spawn_blocking(move || in_a_run(program, story)).await,
    };
    let seconds = began.elapsed().as_secs();
    let what = format!("{} {} by {}, {story:?}", program.name(), program.version(), way.as_str());
    let told = match told {
        Ok(cost) => {
            let Cost { calls, bytes } = cost.expect("the programs were looked for");
            Ok(format!("closed: {calls} calls, {} kB, {seconds} s", bytes / 1000))
        }
        Err(failure) => {
            let why = failure.into_panic();
            let why = why.downcast_ref::<String>().map_or("it panicked", |why| why.as_str());
            let why = why.lines().next().unwrap_or_default();
            Err(format!("{what} breaks after {seconds} s: {why:.300}"))
        }
    };
    print_line(&told.clone().map_or_else(|broken| broken, |cell| format!("{what}: {cell}")));
    told
}

#[expect(clippy::print_stdout, reason = "scripts/agents shows how far it is")]
fn print_line(line: &str) {
    println!("{line}");
}

/// A debate by commands or by tools.
async fn at_a_table(program: Program, by_tools: bool, story: Story) -> Option<Cost> {
    let meanwhile = Pause::new();
    let appeal = Move::appeal("Every hour or minute? Option A: hour. B: minute. C: another way.");
    let mut moves = if story == Appeal { vec![appeal] } else { vec![] };
    moves.push(Move::revision(SECOND, "C1 accepted: copied every hour.").slowly(&meanwhile));
    moves.push(Move::resolution("Settled: one file, copied every hour."));
    let mut opponent = Script::opposes(vec![
        Move::claim("C1: nobody copies the file."),
        Move::claim("No issue is left."),
    ]);
    opponent = match story {
        CutOff => opponent.in_a_hurry(program.cuts_off_after().unwrap_or_default()),
        Misbehaves => opponent.misbehaving(),
        Plain | Appeal | Restarted => opponent,
    };
    let mut cast = vec![Script::proposes(PLAN, "We keep one file.", moves), opponent];
    if story == Appeal {
        cast.push(Script::arbitrates(vec![Move::ruling("Option A: every hour.")]));
    }
    let seats = cast.into_iter().map(|script| if by_tools { script.by_tools() } else { script });
    let mut table = Table::set(seats.map(|script| (program, script)).collect::<Vec<_>>())?;

    table.start(Proposer, "Debate this plan with another agent: keep all events in one file.");
    let debate = table.debate().await;
    let words = |role: Role| format!("Be the {role} in debate {debate}.");
    if by_tools && story == CutOff {
        table.limit_calls(Opponent, CALL);
    }
    table.start(Opponent, &words(Opponent));
    match story {
        Plain => {}
        Appeal => table.start(Arbitrator, &words(Arbitrator)),
        CutOff => {
            let is_killed = !by_tools && program.cuts_off_after().is_none();
            let cut_off = |table: &Table| {
                if is_killed && meanwhile.is_reached() {
                    table.cut_off(Opponent);
                }
                table.talk(Opponent).steps.iter().any(Step::waited_in_vain)
            };
            table.until("a wait of the opponent is cut off", cut_off).await;
        }
        Restarted => {
            let waits = |table: &Table| meanwhile.is_reached() && table.held() == 1;
            table.until("only the opponent waits", waits).await;
            table.restart_server();
        }
        Misbehaves => {
            for _ in 0..2 {
                table.comes_back(Opponent, &words(Opponent)).await;
            }
        }
    }
    meanwhile.end();
    table.everybody_leaves().await;

    let record = record(&table);
    let expected: &[&str] = if story == Appeal {
        &["proposer APPEAL", "arbitrator RULING", "proposer CLAIM"]
    } else {
        &["proposer CLAIM"]
    };
    let begin = ["proposer MOTION", "opponent CLAIM"];
    let end = ["opponent CLAIM", "proposer RESOLUTION", "arbitrator RULING automatic close"];
    assert_eq!(kinds(&record), [&begin[..], expected, &end[..]].concat());
    every_role_has_read_the_argument_that_it_answers(&table, &record);
    if story == Misbehaves {
        let heard = table.model.heard(Opponent);
        for slip in [WRONG_ID, TOO_SOON] {
            let mut replies = heard.iter().map(|(_, reply)| format!("{reply:?}"));
            assert!(replies.any(|reply| reply.contains(slip)), "it never said {slip}");
        }
    }
    let heard: Vec<_> =
        table.roles().into_iter().flat_map(|role| table.model.heard(role)).collect();
    Some(Cost::of(heard.iter().map(|(talk, _)| talk)))
}

/// A debate by `aw debate run`. The runner holds the turns, so a model can neither move out of turn nor fail to wait.
fn in_a_run(program: Program, story: Story) -> Option<Cost> {
    let stage = Stage::set()?;
    let mut mends = vec![
        read("plan.md"),
        edit("plan.md", "3 times.", "3 times, with one key a payment."),
        say(ACCEPTS),
    ];
    let mut opposes = vec![read("plan.md"), say(FIRST_CLAIM), say(AGREES)];
    if story == Misbehaves {
        // A wrong id and the same twice are refused. Prose is a CLAIM that decides nothing.
        let wrong_id = say("### P7 [resolved] It is fine.\n### VERDICT [agree]\n");
        let twice = say(FIRST_CLAIM);
        opposes = vec![wrong_id, say(FIRST_CLAIM), twice, say(PROSE), say(AGREES)];
        mends.push(say("The plan stays as it is."));
    }
    if story == Appeal {
        for (role, acts) in scripts() {
            stage.model.plays(role, acts);
        }
    } else {
        stage.model.plays(Proposer, mends);
        stage.model.plays(Opponent, opposes);
    }
    let agent = agent(program);
    // Without an arbitrator and a limit, a story that goes wrong may wait for a person forever.
    let line = format!(
        "plan.md --proposer {agent} --opponent {agent} --arbitrator {agent} --max-time 10m"
    );
    let line: Vec<&str> = line.split(' ').collect();
    let ran = match story {
        Plain | Appeal | Misbehaves => stage.run(&line),
        CutOff => {
            stage.model.is_silent_to(Opponent);
            let mut run = stage.spawn(&line);
            until("the program asks its model", || !stage.model.heard().is_empty());
            run.kill().unwrap();
            run.wait().unwrap();
            until("its processes are gone", || stage.working().is_empty());
            stage.run(&["--resume"])
        }
        Restarted => {
            let run = stage.spawn(&line);
            until("the program asks its model", || !stage.model.heard().is_empty());
            stage.scene.aw.quietly(&["server", "restart"]).data();
            Played::of(Ran::new("aw debate run", run.wait_with_output().unwrap()))
        }
    };
    assert_eq!(ran.code, 0, "{}\n{}\n{}", ran.stdout, ran.stderr, stage.story());
    let data = ran.data();
    let kinds = stage.scene.kinds(data["debate_id"].as_str().unwrap());
    let (outcome, repairs, expected) = match story {
        Appeal => ("ruled", 0, "MOTION CLAIM APPEAL RULING CLAIM CLAIM APPEAL RULING"),
        Misbehaves => ("agreed", 2, "MOTION CLAIM CLAIM CLAIM CLAIM CLAIM RESOLUTION RULING"),
        _ => ("agreed", 0, "MOTION CLAIM CLAIM CLAIM RESOLUTION RULING"),
    };
    assert_eq!((&data["outcome"], kinds.join(" ").as_str()), (&json!(outcome), expected));
    assert_eq!(data["seats"]["opponent"]["repairs"], repairs, "{data}");
    assert!(stage.scene.text("plan.md").contains("one key a payment"));
    Some(Cost::of(stage.model.heard().iter().map(|heard| &heard.talk)))
}
