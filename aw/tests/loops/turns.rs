//! Agents that only follow the advised next command, through kills, crashes and restarts.

use std::collections::HashSet;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use super::machine::{Going, Machine, Ran, until};
use crate::world::{Dice, new_id, text};

/// The number of turns of both agents.
const TURNS: u32 = 200;

/// The seqs at which a fault happens.
const APPEAL: u32 = 30;
const RESTARTS: [u32; 3] = [50, 90, 170];
const INTERVENTION: u32 = 110;
const CRASH: u32 = 140;

/// The longest time for one command.
const LONGEST: Duration = Duration::from_secs(150);

#[test]
#[expect(clippy::print_stdout, reason = "the figures are worth reading")]
fn two_hundred_turns_through_kills_crashes_and_restarts_end_closed_with_nothing_lost_or_doubled() {
    let mut dice = Dice::new();
    let machine = Machine::fresh().with("DEBATE_WAIT_DEADLINE", "5");
    let began = Instant::now();
    let turns = AtomicU32::new(0);
    let mut agents = ["proposer", "opponent", "arbitrator"]
        .map(|role| Agent::new(&machine, &turns, role, &mut dice));
    let debate = new_id();
    let create = format!(
        "aw debate create --debate-id {debate} --title 'Two hundred turns' --type general_debate --file YOUR_TEXT.md"
    );
    let [proposer, opponent, arbitrator] = &mut agents;
    let opened = proposer.carry_out(&create);
    let wait = |role: &str| format!("aw debate wait --debate-id {debate} --role {role}");
    let (for_opponent, for_arbitrator) = (wait("opponent"), wait("arbitrator"));
    thread::scope(|scope| {
        scope.spawn(|| proposer.follow(next(&opened)));
        scope.spawn(|| opponent.follow(Some(for_opponent)));
        scope.spawn(|| arbitrator.follow(Some(for_arbitrator)));
        scope.spawn(|| trouble(&machine, &turns, &debate));
    });

    let whole = machine.get(&format!("/debates/{debate}?limit=1000"));
    assert_eq!(whole["debate"]["state"], "CLOSED");
    let mut record = vec![whole["motion"].clone()];
    record.extend(whole["arguments"].as_array().unwrap().iter().cloned());
    record.dedup_by_key(|argument| argument["seq"].clone());
    for (place, argument) in record.iter().enumerate() {
        assert_eq!(argument["seq"], place + 1, "the record has no gaps and no repeats");
    }
    for agent in &agents {
        let own = record.iter().filter(|argument| argument["role"] == agent.role);
        let own = own.filter(|argument| argument["automatic"] != true);
        let own: Vec<String> = own
            .map(|argument| text(&argument["content"]))
            .filter(|content| content != "One moment.")
            .collect();
        assert_eq!(own, agent.said, "what the {} said is there once, in its order", agent.role);
    }
    for agent in agents.iter().filter(|agent| agent.role != "arbitrator") {
        // The server's own ruling closes the debate with the answer to the resolution.
        let others = record.iter().filter(|argument| argument["automatic"] != true);
        for argument in others.filter(|argument| argument["role"] != agent.role) {
            let id = text(&argument["id"]);
            assert!(agent.seen.contains(&id), "the {} never saw {argument}", agent.role);
        }
    }
    let kinds = |kind: &str| record.iter().filter(|argument| argument["type"] == kind).count();
    assert_eq!((kinds("APPEAL"), kinds("INTERVENTION"), kinds("RESOLUTION")), (1, 1, 1));
    assert_eq!(kinds("RULING"), 3, "one on the appeal, one on the intervention, one at the end");

    let sum = |of: fn(&Agent<'_>) -> u32| agents.iter().map(of).sum::<u32>();
    println!(
        "{} arguments in {:.1} s: {} commands, {} of them killed, {} failed and were run again, \
         {} writes were replayed; 3 restarts, 1 crash",
        record.len(),
        began.elapsed().as_secs_f64(),
        sum(|agent| agent.commands),
        sum(|agent| agent.killed),
        sum(|agent| agent.failed),
        sum(|agent| agent.replayed),
    );
}

/// Restarts the server, kills it and intervenes, each at its seq.
fn trouble(machine: &Machine, turns: &AtomicU32, debate: &str) {
    let mut all: Vec<(u32, &str)> = RESTARTS.iter().map(|turn| (*turn, "restart")).collect();
    all.extend([(INTERVENTION, "intervention"), (CRASH, "crash")]);
    all.sort_unstable();
    let request = new_id();
    for (turn, what) in all {
        until("the debate comes this far", || turns.load(Ordering::SeqCst) >= turn);
        match what {
            "restart" => drop(machine.aw(&["server", "restart"]).data()),
            "crash" => {
                for server in machine.servers() {
                    // Nobody brings it back on purpose.
                    let _ = kill(Pid::from_raw(server), Signal::SIGKILL);
                }
            }
            _ => {
                let intervene = ["debate", "intervention", "--debate-id", debate];
                let more = ["--content", "One moment.", "--client-request-id", &request];
                machine.aw(&[&intervene[..], &more[..]].concat()).data();
            }
        }
    }
}

/// The next command of an answer.
fn next(answer: &Value) -> Option<String> {
    answer["metadata"]["next_command"].as_str().map(str::to_owned)
}

/// An agent that runs the advised command.
struct Agent<'a> {
    machine: &'a Machine,
    turns: &'a AtomicU32,
    role: &'static str,
    folder: PathBuf,
    dice: Dice,
    began: Instant,
    said: Vec<String>,
    seen: HashSet<String>,
    appealed: bool,
    commands: u32,
    killed: u32,
    failed: u32,
    replayed: u32,
}

impl<'a> Agent<'a> {
    fn new(
        machine: &'a Machine,
        turns: &'a AtomicU32,
        role: &'static str,
        dice: &mut Dice,
    ) -> Self {
        let folder = machine.path("work").join(role);
        fs::create_dir(&folder).unwrap();
        Agent {
            machine,
            turns,
            role,
            folder,
            dice: dice.another(),
            began: Instant::now(),
            said: Vec::new(),
            seen: HashSet::new(),
            appealed: false,
            commands: 0,
            killed: 0,
            failed: 0,
            replayed: 0,
        }
    }

    /// Goes from one command to the next until there is none.
    fn follow(&mut self, first: Option<String>) {
        let mut line = first;
        while let Some(now) = line {
            let answer = self.carry_out(&now);
            line = self.choose(&answer);
        }
    }

    /// The next command, or an alternative at certain turns.
    fn choose(&mut self, answer: &Value) -> Option<String> {
        let data = &answer["content"][0]["data"];
        let usual = next(answer);
        let waits = usual.as_deref().is_some_and(|line| line.starts_with("aw debate wait "));
        match data["action"].as_str().unwrap_or("wait") {
            "debate_closed" => return None,
            "respond" | "align_to_ruling" | "rule" if data["status"].is_string() => assert!(!waits),
            _ => assert!(waits, "{answer}"),
        }
        let called = data["status"] == "new_argument" && data["action"] == "respond";
        if self.role != "proposer" || !called {
            return usual;
        }
        let turns = self.turns.load(Ordering::SeqCst);
        let wanted = if turns >= TURNS - 1 {
            "request-completion"
        } else if turns >= APPEAL && !self.appealed {
            self.appealed = true;
            "appeal"
        } else {
            return usual;
        };
        let all = answer["metadata"]["alternatives"].as_array().expect("there are alternatives");
        let mut all = all.iter().map(text);
        Some(all.find(|line| line.contains(wanted)).expect("it is one of them"))
    }

    /// Runs a line until it prints its answer, also after kills.
    fn carry_out(&mut self, line: &str) -> Value {
        let writes = line.contains("YOUR_TEXT.md");
        if writes {
            let words = format!("{} {}", self.role, self.said.len() + 1);
            fs::write(self.folder.join("YOUR_TEXT.md"), &words).unwrap();
            self.said.push(words);
        }
        loop {
            assert!(self.began.elapsed() < LONGEST, "nothing comes of {line}");
            let Some(ran) = self.attempt(line) else { continue };
            match ran.code {
                Some(0) => {}
                Some(3) => {
                    self.failed += 1;
                    continue;
                }
                _ => panic!("{line}: {ran:?}"),
            }
            let answer = ran.answer();
            let data = &answer["content"][0]["data"];
            for news in ["arguments", "missed"] {
                for argument in data[news].as_array().into_iter().flatten() {
                    self.seen.insert(text(&argument["id"]));
                }
            }
            let omitted = data["omitted"].as_u64().unwrap_or(0);
            assert!(omitted == 0 || self.role == "arbitrator", "{omitted} are missing");
            self.replayed += u32::from(data["replayed"] == true);
            if writes && self.role != "arbitrator" {
                self.turns.fetch_add(1, Ordering::SeqCst);
            }
            return answer;
        }
    }

    /// Runs a line once; none if it was killed.
    fn attempt(&mut self, line: &str) -> Option<Ran> {
        let mut command = self.machine.program("sh");
        command.args(["-c", line]).current_dir(&self.folder).process_group(0);
        let mut going = Going::start(command);
        self.commands += 1;
        if self.dice.below(4) == 0 {
            let end = Instant::now() + Duration::from_micros(self.dice.below(16_000));
            while !going.has_ended() {
                if Instant::now() >= end {
                    going.kill_group();
                    self.killed += 1;
                    return None;
                }
                thread::sleep(Duration::from_micros(500));
            }
        }
        Some(going.end())
    }
}
