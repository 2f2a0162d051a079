//! Proves, by walking every run of a small world, that the protocol loses no argument and leaves no
//! agent stuck.
//!
//! The world has a server built on the rules, which recognizes a retry by its request id; a proposer
//! and an opponent that act only on the `action` and the ids in replies; and an arbitrator who
//! intervenes and rules whenever the rules allow, also while an agent is writing. The reply to a
//! request may be lost; then the request arrives late or never, and the agent sends it again. An
//! agent may die while it waits or writes. It then runs its last command again, or begins with a wait
//! that names no argument, unless it has sent a text whose reply it never read. Repeating a wait is
//! not a step, because waiting writes nothing. The debate exists at the start.
//!
//! To prove that every agent can stop, the test continues each state, past the bound, with a run in
//! which nothing more fails. It finds an end for every state, so the proof does not assume fairness
//! and cycles cannot mislead it.
//!
//! The bound: both policies, debates of up to 7 arguments, and for each agent 1 lost reply and
//! 1 death. `AW_MODEL_ARGUMENTS`, `AW_MODEL_LOSSES` and `AW_MODEL_DEATHS` set other bounds.
//!
//! A second world keeps points: the agents and the arbitrator send texts with statements, and an
//! agent sends only a text that the rules accept when it writes it. Its debates have up to 5 arguments
//! (`AW_MODEL_POINTS_ARGUMENTS`).

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::record::Record;
use aw_core::{
    Action, ByRole, Kind, Ledger, Library, Move, Normal, PointRules, QuotePlace, ResolutionPolicy,
    Role, Said, Seq, Severity, Source, Standing, State, Verdict, statements,
};
use stateright::{Checker, HasDiscoveries, Model, Property};

const ONCE: &str = "every accepted request is in the record exactly once";
const IN_HAND: &str = "an open debate never refuses the text that an agent is asked to write";
const NEW: &str = "a new text is never mistaken for a retry";
const DELIVERED: &str = "every argument of another role reaches an agent before it stops";
const CLOSES: &str = "from here the debate can close and everyone can stop";
const FLOOR: &str = "the agent whose move it is makes it";

/// The agents; the arbitrator is free to do anything.
const AGENTS: [Role; 2] = [Role::Proposer, Role::Opponent];

/// A write request. Its id is derived from all of it, so the request serves as its own id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Request {
    role: Role,
    play: Move<Seq>,
    text: &'static str,
}

/// The text without a statement.
const PLAIN: &str = "Nothing to say.";

/// The MOTION of a debate with points.
const MOTION: &str = "We delete old rows after 30 days.";

/// What each role may say about the only point, besides nothing.
const TEXTS: [(Role, &[&str]); 3] = [
    (Role::Proposer, &["### P1 [accepted] Mended", "### P1 [rejected] No"]),
    (
        Role::Opponent,
        &[
            "### NEW [major] x\n> We delete old rows after 30 days.\nWhy.",
            "### P1 [open] Yes",
            "### P1 [resolved] Seen\n### VERDICT [agree]",
            "### VERDICT [agree]\n> We delete old rows after 30 days.",
        ],
    ),
    (Role::Arbitrator, &["### P1 [upheld] Mend it", "### P1 [dismissed] No"]),
];

/// The facts about each text, by the number of points.
static SAID: LazyLock<HashMap<(Role, &str, u32), Said>> = LazyLock::new(|| {
    let motion = Normal::of(MOTION);
    let current = [Source { place: QuotePlace::Argument { seq: Seq::FIRST }, text: &motion }];
    let library = Library { current: &current, earlier: Some(&[]), examined: &[] };
    let mut all = HashMap::new();
    for (role, texts) in TEXTS {
        for text in [&[PLAIN], texts].concat() {
            for points in 0..=2 {
                let read = statements(text, role, points);
                let look_up = |statement: aw_core::Statement| {
                    let blocks = statement.blocks.iter();
                    let quotes = blocks.flat_map(|block| library.check(block).unwrap()).collect();
                    (statement, quotes)
                };
                let stated = read.statements.into_iter().map(look_up).collect();
                let readable = library.readable_lines();
                let said = Said { stated, flaws: read.flaws, readable, ..Said::default() };
                all.insert((role, text, points), said);
            }
        }
    }
    all
});

/// What an agent does now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Doing {
    /// Its wait is held, or about to be answered.
    Waits { after: Option<Seq> },
    /// It answers this target, which the wait that named `after` returned.
    Writes { target: Seq, after: Option<Seq> },
    /// It sends this again, because it does not know whether it arrived.
    Retries(Request),
    /// It read that the debate is closed.
    Stopped,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Agent {
    doing: Doing,
    /// The arguments of others that it has read.
    read: Places,
    /// Copies of its requests that may still arrive.
    late: Vec<Request>,
    losses: u8,
    deaths: u8,
}

/// A set of positions, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Places(u32);

impl Places {
    fn add(&mut self, seqs: impl IntoIterator<Item = Seq>) {
        seqs.into_iter().for_each(|seq| self.0 |= 1 << seq.0);
    }

    fn remove(&mut self, seqs: impl IntoIterator<Item = Seq>) {
        seqs.into_iter().for_each(|seq| self.0 &= !(1 << seq.0));
    }

    fn contains(self, seq: Seq) -> bool {
        self.0 & (1 << seq.0) != 0
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct World {
    record: Record,
    /// The request that wrote each argument; the arbitrator's and the server's have none.
    requests: Vec<Option<Request>>,
    proposer: Agent,
    opponent: Agent,
    /// An open debate refused a text that its author was asked to write.
    refused: bool,
    /// A new text was mistaken for a retry.
    swallowed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    /// The role's wait is answered.
    Wakes(Role),
    /// The request is written or refused, and its sender reads the reply.
    Submits(Request),
    /// The request is sent, and its reply is lost.
    LosesReply(Request),
    /// A copy of a request reaches the server after its sender gave up on it.
    ArrivesLate(Request),
    /// The role dies while writing, and runs its last command again: the wait.
    DiesWriting(Role),
    /// The role dies, and its successor begins with a wait that names no argument.
    BeginsAnew(Role),
    /// The arbitrator moves.
    Arbitrates(Move<Seq>, &'static str),
}

/// What the server answers to an accepted write.
struct Reply {
    missed: Vec<Seq>,
    next_argument_to_wait: Seq,
    replayed: bool,
}

/// The bound, and switches that break the protocol to see that the model notices.
#[derive(Debug, Clone, Copy)]
struct Small {
    arguments: usize,
    losses: u8,
    deaths: u8,
    parking: bool,
    idempotency: bool,
    /// Whether an agent begins anew although it does not know whether its text arrived.
    careless: bool,
    /// Whether the debate keeps points.
    points: bool,
}

impl Small {
    fn bounded() -> Self {
        let bound = |name: &str, default: usize| match std::env::var(name) {
            Ok(value) => value.parse().unwrap(),
            Err(_) => default,
        };
        Small {
            arguments: bound("AW_MODEL_ARGUMENTS", 7),
            losses: bound("AW_MODEL_LOSSES", 1) as u8,
            deaths: bound("AW_MODEL_DEATHS", 1) as u8,
            parking: true,
            idempotency: true,
            careless: false,
            points: false,
        }
    }

    fn with_points() -> Self {
        let arguments = match std::env::var("AW_MODEL_POINTS_ARGUMENTS") {
            Ok(value) => value.parse().unwrap(),
            Err(_) => 5,
        };
        Small { arguments, points: true, ..Small::bounded() }
    }

    /// The server: checks for a replay first, then the state.
    fn write(&self, world: &mut World, request: Request) -> Option<Reply> {
        let Request { role, play, .. } = request;
        let known = world.requests.iter().position(|known| *known == Some(request));
        let replayed = known.filter(|_| self.idempotency).map(|at| Seq(at as u64 + 1));
        let seq = match replayed {
            Some(seq) => seq,
            None => {
                let mut debate = world.record.debate.clone();
                if !self.parking {
                    debate.standing.interrupted = ByRole::default();
                }
                let said = world.said(request);
                let entries = debate.decide(role, world.record.locate(play), said).ok()?;
                let seq = world.record.newest().next();
                world.record.add(&entries);
                world.requests.push(Some(request).filter(|_| role != Role::Arbitrator));
                world.requests.resize(world.record.entries.len(), None);
                seq
            }
        };
        let target = play.target().copied().unwrap_or(seq);
        let before = world.record.lines().take_while(|(earlier, _)| *earlier < seq);
        Some(Reply {
            missed: before
                .filter(|(earlier, e)| *earlier > target && e.event.role() != role)
                .map(|(earlier, _)| earlier)
                .collect(),
            next_argument_to_wait: if world.record.at(seq).event.parked() {
                let before = world.record.entries[..seq.0 as usize - 1].iter().map(|e| e.event);
                Standing::fold(before).unwrap().interrupted.get(role).unwrap()
            } else {
                seq
            },
            replayed: replayed.is_some(),
        })
    }

    fn submit(&self, world: &mut World, request: Request) {
        let role = request.role;
        let open = world.record.debate.standing.state != State::Closed;
        let new_text = matches!(world.agent(role).doing, Doing::Writes { .. });
        let reply = self.write(world, request);
        world.refused |= reply.is_none() && open;
        world.swallowed |= reply.as_ref().is_some_and(|reply| reply.replayed && new_text);
        let agent = world.agent_mut(role);
        let after = reply.map(|reply| {
            agent.read.add(reply.missed);
            reply.next_argument_to_wait
        });
        agent.doing = Doing::Waits { after };
    }

    /// Whether all agents stop if from here on nobody dies, no reply is lost, the proposer asks to
    /// complete, and the arbitrator only closes the debate when all wait for a RULING.
    fn ends_well(&self, world: &World) -> bool {
        let mut world = world.clone();
        for _ in 0..30 {
            if AGENTS.iter().all(|role| world.agent(*role).doing == Doing::Stopped) {
                return true;
            }
            let close = Move::Ruling { target: None, verdict: Verdict::Close };
            let step = AGENTS.iter().find_map(|role| world.own_step(*role, Kind::Resolution));
            let step = step.unwrap_or(Step::Arbitrates(close, PLAIN));
            world = match self.next_state(&world, step) {
                Some(next) => next,
                None => return false,
            };
        }
        false
    }

    /// Whether the agent that has the floor moves if left alone. The longest way: a stale text is
    /// parked, the wait returns the argument to answer, and the answer is the move.
    fn floor_is_used(&self, world: &World) -> bool {
        let before = world.record.debate.standing;
        let Some(role) = before.state.floor().filter(|role| AGENTS.contains(role)) else {
            return true;
        };
        let mut world = world.clone();
        for _ in 0..4 {
            let Some(step) = world.own_step(role, Kind::Claim) else { return false };
            world = self.next_state(&world, step).unwrap();
            if world.record.debate.standing.newest.get(role) > before.newest.get(role) {
                return true;
            }
        }
        false
    }
}

impl World {
    fn agent(&self, role: Role) -> &Agent {
        if role == Role::Proposer { &self.proposer } else { &self.opponent }
    }

    fn agent_mut(&mut self, role: Role) -> &mut Agent {
        if role == Role::Proposer { &mut self.proposer } else { &mut self.opponent }
    }

    /// The arguments of others after this one, or after the role's own newest unless parked.
    fn unseen(&self, role: Role, after: Option<Seq>) -> Vec<Seq> {
        let after = after.or(self.record.debate.standing.seen_without_id(role));
        self.record
            .lines()
            .filter(|(seq, entry)| Some(*seq) > after && entry.event.role() != role)
            .map(|(seq, _)| seq)
            .collect()
    }

    fn wakes(&self, role: Role) -> bool {
        let Doing::Waits { after } = self.agent(role).doing else { return false };
        let unseen = !self.unseen(role, after).is_empty();
        self.record.debate.standing.ends_wait(role, unseen)
    }

    fn wake(&mut self, role: Role) {
        let Doing::Waits { after } = self.agent(role).doing else { return };
        let standing = self.record.debate.standing;
        let unseen = self.unseen(role, after);
        let argument = unseen.last().copied().or(standing.newest_of_others(role));
        let newest = self.record.newest();
        let agent = self.agent_mut(role);
        agent.read.add(unseen);
        agent.read.add(argument);
        agent.doing = match standing.action(role) {
            Action::Respond | Action::AlignToRuling => {
                Doing::Writes { target: argument.unwrap(), after }
            }
            Action::DebateClosed => Doing::Stopped,
            Action::WaitForOpponent
            | Action::WaitForProposer
            | Action::WaitForRuling
            | Action::Wait
            | Action::Rule => Doing::Waits { after: Some(newest) },
        };
    }

    /// The facts about the text of a request.
    fn said(&self, request: Request) -> &'static Said {
        let points = self.record.debate.ledger.as_ref().map_or(0, Ledger::count);
        &SAID[&(request.role, request.text, points)]
    }

    /// The texts that a role may send with a move.
    fn texts(&self, role: Role, kind: Kind) -> Vec<&'static str> {
        let (_, texts) = TEXTS.iter().find(|(whose, _)| *whose == role).unwrap();
        let states =
            self.record.debate.ledger.is_some() && matches!(kind, Kind::Claim | Kind::Ruling);
        let stated = texts.iter().copied().filter(|_| states);
        [PLAIN].into_iter().chain(stated).collect()
    }

    /// Whether the rules accept a request now. Without points an agent does not ask, and the close
    /// may surprise it.
    fn accepts(&self, request: &Request) -> bool {
        if self.record.debate.standing.state == State::Closed {
            return true;
        }
        let (debate, play) = (&self.record.debate, self.record.locate(request.play));
        // The second point would say nothing that the first one does not.
        let one = |ledger: &Ledger| ledger.count() == 0 || !request.text.contains("NEW");
        debate.ledger.as_ref().is_none_or(|ledger| {
            one(ledger) && debate.decide(request.role, play, self.said(*request)).is_ok()
        })
    }

    /// The requests that this agent may send now.
    fn requests_in_hand(&self, role: Role) -> Vec<Request> {
        match self.agent(role).doing {
            Doing::Writes { target, .. } => {
                let mut plays = vec![Move::Claim { target }];
                if role == Role::Proposer {
                    plays.extend([Move::Appeal { target }, Move::Resolution { target }]);
                }
                plays
                    .into_iter()
                    .flat_map(|play| {
                        self.texts(role, play.kind()).into_iter().map(move |text| (play, text))
                    })
                    .map(|(play, text)| Request { role, play, text })
                    .filter(|request| self.accepts(request))
                    .collect()
            }
            Doing::Retries(request) => vec![request],
            Doing::Waits { .. } | Doing::Stopped => Vec::new(),
        }
    }

    /// This agent's next step if nothing fails; it prefers this kind of text.
    fn own_step(&self, role: Role, prefers: Kind) -> Option<Step> {
        if self.wakes(role) {
            return Some(Step::Wakes(role));
        }
        let in_hand = self.requests_in_hand(role);
        let preferred = in_hand.iter().find(|request| request.play.kind() == prefers);
        preferred.or(in_hand.first()).map(|request| Step::Submits(*request))
    }

    fn has_read_everything(&self, role: Role) -> bool {
        let others = self.record.lines().filter(|(_, entry)| entry.event.role() != role);
        others.map(|(seq, _)| seq).all(|seq| self.agent(role).read.contains(seq))
    }

    fn written_once(&self) -> bool {
        let known = |at: usize| self.requests[at].is_some();
        let again = |at: usize| known(at) && self.requests[..at].contains(&self.requests[at]);
        !(0..self.requests.len()).any(again)
            && self.requests.len() == self.record.entries.len()
            && self.record.newest() == self.record.debate.standing.last
            && Standing::fold(self.record.entries.iter().map(|entry| entry.event))
                == Some(self.record.debate.standing)
            && self.record.debate.ledger.as_ref().is_none_or(|ledger| {
                let mut fold = Ledger::opened(ledger.rules, &[]);
                for (seq, entry) in self.record.lines().skip(1) {
                    fold.apply(seq, entry.event, &[], &entry.changes, entry.held);
                }
                fold == *ledger
            })
    }
}

impl Model for Small {
    type State = World;
    type Action = Step;

    fn init_states(&self) -> Vec<World> {
        let waits = |after| Agent {
            doing: Doing::Waits { after },
            read: Places(0),
            late: Vec::new(),
            losses: self.losses,
            deaths: self.deaths,
        };
        let record = |policy| {
            let mut record = Record::opened(policy);
            let rules = PointRules { rounds: 1, blocking: Severity::Major };
            record.debate.ledger = self.points.then(|| Ledger::opened(rules, &[]));
            record
        };
        let world = |policy: &ResolutionPolicy| World {
            record: record(*policy),
            requests: vec![None],
            proposer: waits(Some(Seq::FIRST)),
            opponent: waits(None),
            refused: false,
            swallowed: false,
        };
        ResolutionPolicy::ALL.iter().map(world).collect()
    }

    fn actions(&self, world: &World, steps: &mut Vec<Step>) {
        for role in AGENTS {
            let agent = world.agent(role);
            if world.wakes(role) {
                steps.push(Step::Wakes(role));
            }
            for request in world.requests_in_hand(role) {
                steps.push(Step::Submits(request));
                if agent.losses > 0 {
                    steps.push(Step::LosesReply(request));
                }
            }
            steps.extend(agent.late.iter().map(|request| Step::ArrivesLate(*request)));
            if agent.deaths > 0 {
                match agent.doing {
                    Doing::Waits { .. } => steps.push(Step::BeginsAnew(role)),
                    Doing::Writes { .. } => {
                        steps.extend([Step::DiesWriting(role), Step::BeginsAnew(role)]);
                    }
                    Doing::Retries(_) if self.careless => steps.push(Step::BeginsAnew(role)),
                    Doing::Retries(_) | Doing::Stopped => {}
                }
            }
        }
        let verdicts = [Verdict::GoOn, Verdict::Close];
        for text in world.texts(Role::Arbitrator, Kind::Ruling) {
            let rulings = verdicts.map(|verdict| Move::Ruling { target: None, verdict });
            steps.extend(rulings.map(|ruling| Step::Arbitrates(ruling, text)));
        }
        steps.push(Step::Arbitrates(Move::Intervention, PLAIN));
    }

    fn next_state(&self, world: &World, step: Step) -> Option<World> {
        let mut next = world.clone();
        match step {
            Step::Wakes(role) => next.wake(role),
            Step::Submits(request) => self.submit(&mut next, request),
            Step::LosesReply(request) => {
                let agent = next.agent_mut(request.role);
                agent.losses -= 1;
                agent.late.push(request);
                agent.doing = Doing::Retries(request);
            }
            Step::ArrivesLate(request) => {
                let late = &mut next.agent_mut(request.role).late;
                late.retain(|copy| *copy != request);
                self.write(&mut next, request);
            }
            Step::DiesWriting(role) => {
                let Doing::Writes { after, .. } = world.agent(role).doing else { return None };
                let again = world.unseen(role, after);
                let agent = next.agent_mut(role);
                agent.deaths -= 1;
                agent.read.remove(again);
                agent.doing = Doing::Waits { after };
            }
            Step::BeginsAnew(role) => {
                let again = world.unseen(role, None);
                let agent = next.agent_mut(role);
                agent.deaths -= 1;
                agent.read.remove(again);
                agent.late.clear();
                agent.doing = Doing::Waits { after: None };
            }
            Step::Arbitrates(play, text) => {
                self.write(&mut next, Request { role: Role::Arbitrator, play, text })?;
            }
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::<Self>::always(ONCE, |_, world| world.written_once()),
            Property::<Self>::always(IN_HAND, |_, world| !world.refused),
            Property::<Self>::always(NEW, |_, world| !world.swallowed),
            Property::<Self>::always(DELIVERED, |_, world| {
                let stopped = |role: &Role| world.agent(*role).doing == Doing::Stopped;
                AGENTS
                    .iter()
                    .filter(|role| stopped(role))
                    .all(|role| world.has_read_everything(*role))
            }),
            Property::<Self>::always(CLOSES, Small::ends_well),
            Property::<Self>::always(FLOOR, Small::floor_is_used),
            Property::<Self>::sometimes("a text is parked after the RULING", |_, world| {
                let mut pairs = world.record.entries.windows(2);
                pairs.any(|pair| pair[0].event.kind() == Kind::Ruling && pair[1].event.parked())
            }),
            Property::<Self>::sometimes("a text arrives before its retry", |_, world| {
                AGENTS.iter().any(|role| match world.agent(*role).doing {
                    Doing::Retries(request) => world.requests.contains(&Some(request)),
                    Doing::Waits { .. } | Doing::Writes { .. } | Doing::Stopped => false,
                })
            }),
            Property::<Self>::sometimes("a text arrives again after its retry", |_, world| {
                let recorded = |request: &Request| world.requests.contains(&Some(*request));
                AGENTS.iter().any(|role| {
                    let agent = world.agent(*role);
                    !matches!(agent.doing, Doing::Retries(_)) && agent.late.iter().any(recorded)
                })
            }),
        ]
    }

    fn within_boundary(&self, world: &World) -> bool {
        world.record.entries.len() <= self.arguments
    }
}

/// Runs the model until the property is found broken.
fn finds(model: Small, broken: &'static str) -> bool {
    let found = HasDiscoveries::AnyOf([broken].into());
    let checker = model.checker().threads(2).finish_when(found).spawn_bfs().join();
    checker.discovery(broken).is_some()
}

#[test]
fn no_argument_is_lost_and_no_agent_is_stuck() {
    let model = Small::bounded();
    let checker = model.checker().threads(2).spawn_bfs().join();
    println!("{model:?}: {} states", checker.unique_state_count());
    checker.assert_properties();
}

#[test]
fn with_points_too_no_argument_is_lost_and_no_agent_is_stuck() {
    let model = Small::with_points();
    let checker = model.checker().threads(2).spawn_bfs().join();
    println!("{model:?}: {} states", checker.unique_state_count());
    checker.assert_properties();
}

#[test]
fn with_points_too_an_interrupted_text_is_refused_without_parking() {
    assert!(finds(Small { parking: false, ..Small::with_points() }, IN_HAND));
}

#[test]
fn without_parking_an_interrupted_text_is_refused() {
    assert!(finds(Small { parking: false, ..Small::bounded() }, IN_HAND));
}

#[test]
fn without_idempotency_an_argument_is_doubled() {
    assert!(finds(Small { idempotency: false, ..Small::bounded() }, ONCE));
}

// `missed` is part of the reply to a text, and a wait without an id begins after that text. So an
// argument that was parked just before the text is in neither if the reply was never read.
#[test]
fn an_agent_that_begins_anew_before_reading_its_reply_can_miss_an_argument() {
    assert!(finds(Small { careless: true, ..Small::bounded() }, DELIVERED));
}
