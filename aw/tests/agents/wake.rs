//! Idle agents are woken: real Claude Code and Codex on a terminal, with a fake model.
//!
//! Two wakes are enough for a test, the second after a restart of the server. `scripts/bench wake` wakes each program 50
//! times (`AW_WAKES`), each second time after a restart, leaves it alone for an hour (`AW_IDLE`, in seconds), and prints
//! what it measured.

use std::time::{Duration, Instant};

use aw::api::client;
use aw::api::http::Client;
use aw::api::types::SubmitClaim;
use aw_core::Role;
use tokio::task::block_in_place;
use tokio::time::sleep;

use super::model::Model;
use super::moves::Move;
use super::programs::{self, Program};
use super::script::{IDLE, Reply, Script};
use super::terminal::Terminal;
use crate::loops::machine::Machine;
use crate::world::{self, new_id, text};

/// The longest time for anything that a test waits for.
const LONGEST: Duration = Duration::from_secs(120);

/// The longest time from a commit to the request at the model, where it is measured.
const PROMISE: Duration = Duration::from_secs(1);

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_claude_code_is_woken_by_its_hook() {
    woken(Program::Claude).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_codex_is_woken_by_a_queued_message() {
    woken(Program::Codex).await;
}

/// A number that the environment sets.
fn set(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|set| set.parse().expect("a number"))
}

async fn woken(program: Program) {
    let measured = set("AW_WAKES");
    let wakes = measured.unwrap_or(2);
    let Some(mut seat) = Seat::take(program, wakes) else { return };
    let mut slowest = Duration::ZERO;
    for number in 0..wakes {
        seat.idles().await;
        if number % 2 == 1 {
            block_in_place(|| seat.server.aw(&["server", "restart"]).answer());
            seat.until("the waker is back", |seat| seat.server.held() == 1).await;
        }
        let took = seat.wakes().await;
        slowest = slowest.max(took);
        assert!(measured.is_none() || took < PROMISE, "{number}: {took:?}");
    }
    seat.idles().await;
    if measured.is_some() {
        let idle = set("AW_IDLE").unwrap_or(60);
        let calls = seat.calls_in(Duration::from_secs(idle)).await;
        assert_eq!(calls, 0, "an idle agent costs nothing");
        let (name, slowest) = (program.name(), slowest.as_millis());
        print_line(&format!(
            "| {name} | {wakes} of {wakes} | {slowest} ms | {calls} in {idle} s |"
        ));
    }
    seat.stops_on_its_move().await;
}

#[expect(clippy::print_stdout, reason = "the row is what scripts/bench wake is run for")]
fn print_line(line: &str) {
    println!("{line}");
}

/// A program in the role of the opponent, and the server. The test is the proposer.
struct Seat {
    server: Machine,
    machine: Machine,
    model: Model,
    terminal: Terminal,
    debate: String,
}

impl Seat {
    /// Starts the program on a terminal. None if these tests were left out.
    fn take(program: Program, wakes: u64) -> Option<Self> {
        if let Err(why) = programs::folder() {
            world::missing("agents", &why);
            return None;
        }
        let server = Machine::fresh();
        let (debate, _) = server.debate();
        let data = server.data().to_str().expect("a plain path").to_owned();
        let machine = Machine::listening_at(&server.listen).with("AWEAVE_HOME", &data);
        let moves = (0..=wakes).map(|_| Move::claim("Two machines would fight over it."));
        let script = Script::opposes(moves.collect()).waiting_for(1);
        let script = if program == Program::Codex { script.by_tools() } else { script };
        let role = script.role;
        let model = Model::start(vec![(program, script)]);
        program.settle_in(&machine, &model.of(role));
        program.move_in(&machine, &model.of(role));
        program.install_kit(&machine, &["--wake"]);
        let words = format!("Be the opponent in debate {debate}.");
        let terminal = Terminal::start(program.on_terminal(&machine, &model.of(role), &words));
        Some(Seat { server, machine, model, terminal, debate })
    }

    /// Returns once the agent has ended its turn and is watched.
    async fn idles(&mut self) {
        self.until("the agent idles", |seat| seat.said() == Some(IDLE.to_owned())).await;
        self.until("it is watched", |seat| seat.server.held() == 1).await;
    }

    /// The message with which the agent has ended its turn.
    fn said(&self) -> Option<String> {
        match self.model.heard(Role::Opponent).pop() {
            Some((_, Reply::Say(words))) => Some(words),
            _ => None,
        }
    }

    /// When each step of the agent began.
    fn steps(&self) -> Vec<Instant> {
        let asked = self.model.asked().into_iter().filter(|asked| asked.is_step);
        asked.map(|asked| asked.at).collect()
    }

    /// The number of requests at the model in this time, once its program has nothing left to ask after a turn.
    async fn calls_in(&mut self, time: Duration) -> usize {
        let mut asked = 0;
        while asked != self.model.asked().len() {
            asked = self.model.asked().len();
            sleep(Duration::from_secs(5)).await;
        }
        sleep(time).await;
        self.model.asked().len() - asked
    }

    /// The proposer answers, which wakes the agent. Returns the time until its model was asked.
    async fn wakes(&mut self) -> Duration {
        let before = self.steps().len();
        let committed = Instant::now();
        self.propose();
        self.until("the agent is woken", |seat| seat.steps().len() > before).await;
        let took = self.steps()[before] - committed;
        self.until("it goes on", |seat| seat.said() != Some(IDLE.to_owned())).await;
        took
    }

    /// The agent has no move left: it ends its turn on its own move, and nobody waits in its place.
    async fn stops_on_its_move(&mut self) {
        self.wakes().await;
        self.until("it stops", |seat| seat.said().is_some()).await;
        self.until("nobody waits in its place", |seat| {
            let hooks = seat.machine.processes();
            seat.server.held() == 0 && !hooks.iter().any(|(_, typed)| typed.contains("wake claude"))
        })
        .await;
    }

    /// Writes the proposer's CLAIM.
    fn propose(&self) {
        block_in_place(|| {
            let newest = self.server.get(&format!("/debates/{}?limit=1", self.debate));
            let newest = text(&newest["arguments"][0]["id"]);
            let claim = SubmitClaim {
                role: "proposer".to_owned(),
                target_id: newest,
                content: "Then only one of them writes.".to_owned(),
                client_request_id: new_id(),
                author: None,
            };
            let request = client::submit(&self.debate, claim);
            Client::new(&self.server.url(), None).call(&request).unwrap();
        });
    }

    /// Returns once the condition holds.
    async fn until(&mut self, what: &str, mut so: impl FnMut(&Self) -> bool) {
        let began = Instant::now();
        while !block_in_place(|| so(self)) {
            if began.elapsed() > LONGEST {
                panic!("it never came to this: {what}\n{}", self.story());
            }
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// What happened, to explain a failure.
    fn story(&self) -> String {
        let heard = self.model.heard(Role::Opponent);
        let replies: Vec<&Reply> = heard.iter().rev().take(5).map(|(_, reply)| reply).collect();
        let steps =
            heard.last().map(|(talk, _)| talk.steps.iter().rev().take(2).collect::<Vec<_>>());
        format!(
            "replies: {replies:#?}\nsteps: {steps:#?}\nstrays: {:?}\nheld: {}\nshown: {}",
            self.model.strays(),
            self.server.held(),
            self.terminal.shown()
        )
    }
}
