//! Linearizability: for many concurrent calls on one debate there must be an order in which they could
//! have happened one after the other, each at some moment between its request and its answer.
//!
//! A call that was cut off may have happened or not. Each debate is a history of its own.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aw_core::{
    Debate, Ledger, Move, PointRules, ResolutionPolicy, Role, Said, Seq, Standing, State, Target,
    Verdict,
};
use aw_trials::dice::Dice;
use aw_trials::figures::Figures;
use aw_trials::line::{Answer, Line, Lost};
use aw_trials::talk::{new_id, text};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::Trial;
use crate::ground::Ground;

/// The number of calls of each caller in one debate.
const EACH: u64 = 12;

/// The rounds of a debate with points.
const ROUNDS: u32 = 2;

/// A call.
#[derive(Debug, Clone)]
enum Op {
    /// The word is its content and its request id, so a repeated call is a retry.
    Say {
        word: u64,
        role: Role,
        play: Move<Target>,
    },
    Read,
}

/// An answer.
#[derive(Debug, Clone, PartialEq)]
enum Ret {
    At(u64),
    Refused(State),
    /// The words in order, and the state.
    All(Vec<u64>, State),
}

/// The sequential specification of a debate.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct OneAtATime {
    debate: Debate,
    /// The word of the automatic ruling is 0.
    words: Vec<u64>,
}

impl OneAtATime {
    /// Makes a call and returns its answer.
    fn invoke(&mut self, op: &Op) -> Ret {
        let Op::Say { word, role, play } = op else {
            return Ret::All(self.words.clone(), self.debate.standing.state);
        };
        if let Some(place) = self.words.iter().position(|said| said == word) {
            return Ret::At(place as u64 + 1);
        }
        let Ok(entries) = self.debate.decide(*role, *play, &Said::default()) else {
            return Ret::Refused(self.debate.standing.state);
        };
        for entry in &entries {
            self.debate.apply(entry, &[]);
            self.words.push(if entry.event.automatic() { 0 } else { *word });
        }
        Ret::At(self.debate.standing.last.0 + 1 - entries.len() as u64)
    }
}

/// A step of a history: a call or its answer.
enum Step {
    Call(usize, Op),
    Return(usize, Ret),
}

/// A call in a history.
#[derive(Debug)]
struct Called {
    op: Op,
    /// The step of its request.
    at: usize,
    /// The step and the text of its answer; none for a call that was cut off.
    answered: Option<(usize, Ret)>,
}

/// The calls of a debate in the order of their requests, at most 128.
#[derive(Debug, Default)]
struct History(Vec<Called>);

impl History {
    fn of(steps: Vec<Step>) -> Self {
        let mut calls: Vec<Called> = Vec::new();
        let mut newest = HashMap::new();
        for (at, step) in steps.into_iter().enumerate() {
            match step {
                Step::Call(caller, op) => {
                    newest.insert(caller, calls.len());
                    calls.push(Called { op, at, answered: None });
                }
                Step::Return(caller, ret) => calls[newest[&caller]].answered = Some((at, ret)),
            }
        }
        History(calls)
    }

    /// Whether some order of the calls explains every answer.
    ///
    /// This is Wing and Gong's search with Lowe's memory: no state is tried twice. Without that memory a
    /// few calls that were cut off can keep the search busy for hours.
    fn is_linearizable(&self, opened: OneAtATime) -> bool {
        let start = (0_u128, opened);
        let (mut tried, mut open) = (HashSet::from([start.clone()]), vec![start]);
        while let Some((done, debate)) = open.pop() {
            let left = || self.0.iter().enumerate().filter(|(number, _)| done >> number & 1 == 0);
            let answers = left().filter_map(|(_, call)| call.answered.as_ref());
            let Some(first) = answers.map(|(at, _)| *at).min() else { return true };
            for (number, call) in left().filter(|(_, call)| call.at < first) {
                let mut after = debate.clone();
                let ret = after.invoke(&call.op);
                let next = (done | 1 << number, after);
                let fits = call.answered.as_ref().is_none_or(|(_, answer)| *answer == ret);
                if fits && tried.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        false
    }
}

/// The counts of a history.
#[derive(Debug, Default)]
struct Count {
    operations: u64,
    unknown: u64,
    refused: u64,
}

pub async fn run(trial: &Trial) -> Figures {
    let operations = trial.times();
    let ground = Ground::new(trial).await;
    let server = ground.start(trial, 0);
    let mut dice = trial.dice();
    let (mut debates, mut running, mut total) = (0, JoinSet::new(), Count::default());
    loop {
        while running.len() < 8 && total.operations < operations {
            running.spawn(history(server.address, dice.another()));
        }
        let Some(done) = running.join_next().await else { break };
        let count = done.unwrap();
        total.operations += count.operations;
        total.unknown += count.unknown;
        total.refused += count.refused;
        debates += 1;
    }
    assert_eq!(server.stop().code(), Some(0));
    // The search must detect a wrong history.
    assert!(is_seen(), "the search is blind");
    Figures::default()
        .count(total.operations, "linearizable operations")
        .count(debates, "debates")
        .count(total.refused, "refused")
        .count(total.unknown, "of unknown outcome")
}

/// Runs six concurrent callers on a new debate, then searches for an order.
async fn history(server: SocketAddr, mut dice: Dice) -> Count {
    let (debate, points) = (new_id(), dice.one_in(2));
    let mut motion = json!({
        "debate_id": debate, "title": "In which order?", "debate_type": "general_debate",
        "motion_content": "word 1", "client_request_id": new_id(),
    });
    if points {
        motion["points"] = json!({"rounds": ROUNDS});
    }
    let opened = Line::to(server).post("/debates", &motion).await.unwrap().data();
    let ids = Arc::new(Mutex::new(vec![text(&opened["argument"]["id"])]));
    let steps = Arc::new(Mutex::new(Vec::new()));
    let mut callers = JoinSet::new();
    for number in 0..6 {
        let caller = Caller {
            number,
            debate: debate.clone(),
            line: Line::to(server),
            ids: ids.clone(),
            steps: steps.clone(),
        };
        callers.spawn(caller.call(dice.another()));
    }
    callers.join_all().await;
    let steps = Arc::into_inner(steps).unwrap().into_inner().unwrap();
    tokio::task::spawn_blocking(move || judge(&debate, points, steps)).await.unwrap()
}

fn judge(debate: &str, points: bool, steps: Vec<Step>) -> Count {
    let history = History::of(steps);
    let count = |is: fn(&Called) -> bool| history.0.iter().filter(|call| is(call)).count() as u64;
    assert!(
        history.is_linearizable(opened(points)),
        "{debate}: there is no order for {history:#?}"
    );
    Count {
        operations: history.0.len() as u64,
        unknown: count(|call| call.answered.is_none()),
        refused: count(|call| matches!(call.answered, Some((_, Ret::Refused(_))))),
    }
}

/// A debate after its MOTION. With points the rounds are soon used, and a RESOLUTION is held.
fn opened(points: bool) -> OneAtATime {
    let rules = PointRules { rounds: ROUNDS, ..PointRules::default() };
    let ledger = points.then(|| Ledger::opened(rules, &[]));
    let debate = Debate { policy: ResolutionPolicy::Auto, standing: Standing::opened(), ledger };
    OneAtATime { debate, words: vec![1] }
}

/// Whether the search detects two callers that both got the second position.
fn is_seen() -> bool {
    let say = |word| Op::Say {
        word,
        role: Role::Opponent,
        play: Move::Claim { target: Target::at(Seq(1)) },
    };
    let calls = [0, 1].map(|caller| Step::Call(caller, say(caller as u64 + 2)));
    let returns = [0, 1].map(|caller| Step::Return(caller, Ret::At(2)));
    !History::of(calls.into_iter().chain(returns).collect()).is_linearizable(opened(false))
}

struct Caller {
    number: usize,
    debate: String,
    line: Line,
    /// The id of each seen argument, by its position.
    ids: Arc<Mutex<Vec<String>>>,
    steps: Arc<Mutex<Vec<Step>>>,
}

impl Caller {
    async fn call(mut self, mut dice: Dice) {
        let role = [Role::Proposer, Role::Opponent, Role::Arbitrator][self.number % 3];
        let mut again = None;
        // After a cut-off call the caller counts as a new one.
        let mut lives = 0;
        for turn in 0..EACH {
            let name = self.number + 10 * lives;
            let op = match again.take() {
                Some(op) => op,
                None if dice.one_in(3) => Op::Read,
                None => self.say(role, 1000 * (self.number as u64 + 1) + turn, &mut dice),
            };
            self.steps.lock().unwrap().push(Step::Call(name, op.clone()));
            let impatient = lives == 0 && dice.one_in(30);
            let patience =
                Duration::from_micros(if impatient { dice.below(1500) } else { 60_000_000 });
            match timeout(patience, self.ask(&op)).await {
                Ok(answer) => {
                    let ret = self.understand(&op, answer.unwrap());
                    self.steps.lock().unwrap().push(Step::Return(name, ret));
                }
                Err(_) => {
                    lives += 1;
                    again = dice.one_in(2).then_some(op);
                }
            }
        }
    }

    fn say(&self, role: Role, word: u64, dice: &mut Dice) -> Op {
        let known = self.ids.lock().unwrap().len() as u64;
        // Mostly the newest; an older target works for most moves too.
        let target = Target::at(Seq(if dice.one_in(4) { 1 + dice.below(known) } else { known }));
        let play = match (role, dice.below(10)) {
            (Role::Proposer, 0) => Move::Appeal { target },
            (Role::Proposer, 1) if dice.one_in(3) => Move::Resolution { target },
            (Role::Arbitrator, 0..4) => Move::Intervention,
            (Role::Arbitrator, 4) if dice.one_in(4) => {
                Move::Ruling { target: None, verdict: Verdict::Close }
            }
            (Role::Arbitrator, _) => Move::Ruling { target: None, verdict: Verdict::GoOn },
            _ => Move::Claim { target },
        };
        Op::Say { word, role, play }
    }

    async fn ask(&mut self, op: &Op) -> Result<Answer, Lost> {
        let debate = format!("/debates/{}", self.debate);
        let Op::Say { word, role, play } = op else { return self.line.get(&debate).await };
        let id = |target: &Target| {
            let place = usize::try_from(target.seq.0).unwrap() - 1;
            self.ids.lock().unwrap()[place].clone()
        };
        let mut body = json!({
            "content": format!("word {word}"),
            "client_request_id": format!("00000000-0000-4000-8000-{word:012}"),
        });
        let what = match play {
            Move::Claim { .. } => {
                body["role"] = role.as_str().into();
                "arguments"
            }
            Move::Appeal { .. } => "appeal",
            Move::Resolution { .. } => "resolution",
            Move::Ruling { verdict, .. } => {
                body["close"] = (*verdict == Verdict::Close).into();
                "ruling"
            }
            Move::Intervention => "intervention",
        };
        if let Some(target) = play.target() {
            body["target_id"] = id(target).into();
        }
        loop {
            let answer = self.line.post(&format!("{debate}/{what}"), &body).await?;
            // The debate has changed three times while the server examined the text. It wrote nothing.
            if answer.code() != "SERVER_BUSY" {
                return Ok(answer);
            }
        }
    }

    fn understand(&self, op: &Op, answer: Answer) -> Ret {
        if answer.code() == "ACTION_NOT_ALLOWED" {
            return Ret::Refused(text(&answer.body["error"]["current_state"]).parse().unwrap());
        }
        let mut data = answer.data();
        if matches!(op, Op::Say { .. }) {
            return Ret::At(data["argument"]["seq"].as_u64().unwrap());
        }
        let mut all = vec![data["motion"].take()];
        all.extend(data["arguments"].take().as_array().unwrap().clone());
        let word = |argument: &Value| match text(&argument["content"]).strip_prefix("word ") {
            Some(word) => word.parse().unwrap(),
            None => 0,
        };
        let words = all.iter().map(word).collect();
        let mut ids = self.ids.lock().unwrap();
        for argument in all.iter().skip(ids.len()) {
            ids.push(text(&argument["id"]));
        }
        Ret::All(words, text(&data["debate"]["state"]).parse().unwrap())
    }
}
