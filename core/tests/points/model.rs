//! Walks every debate of a bounded length in which the three roles say anything about up to two
//! points, and proves the promises of points at every step.
//!
//! The walker keeps its own small history beside the rules: who claimed, which version was the newest
//! at which CLAIM, what the newest argument was. The proofs use that history and the states of the
//! points, never the parts of the ledger that decide.
//!
//! A debate goes by texts. The opponent raises points about old or new text, says any of its words on
//! each point, and agrees or not. The proposer answers each point with any of its words, cites a new
//! version or none, appeals, and asks to complete with any version. The arbitrator stops the agents,
//! says any of its words on each point, raises points, and closes. Interrupted roles park.
//!
//! The bound: both policies, one and two rounds, and debates of up to 8 arguments, of which the last
//! two each speak on one point only. `AW_MODEL_POINTS` sets another length.

use std::collections::HashMap;
use std::sync::LazyLock;

use aw_core::{
    Available, Course, Debate, DocumentId, Entry, Event, Held, Ledger, Library, Move, Normal,
    Point, PointRules, PointState, Quote, QuotePlace, ResolutionPolicy, Role, Said, Seq, Severity,
    Source, Standing, State, Statement, Target, Verdict, Word, statements,
};
use proptest::prelude::*;
use stateright::{Checker, HasDiscoveries, Model, Property};

use super::document;

const BLOCKED: &str = "no debate closes by itself over a blocking point";
const AGREED: &str = "a debate closes by itself only right after the opponent's agreement";
const VERSION: &str = "a debate closes by itself only on the version agreed to";
const HELD: &str = "a held resolution says why";
const ENDS: &str = "only the opponent and the arbitrator end points";
const OVER: &str = "a point that is over never lives again";
const UPHELD: &str = "the opponent alone cannot end an upheld point";
const RULED: &str = "a living point that was upheld is upheld or accepted";
const PARKED: &str = "a parked argument changes nothing in the ledger";
const ROUNDS: &str = "claims end with the rounds";
const CONSISTENT: &str = "an agreement leaves no blocking point alive";
const ACCEPTED: &str = "an accepted point about a document comes with a new version";
const MOVES: &str = "the role that has the floor has a move";
const CLOSES: &str = "a debate whose proposer follows the advice closes";

const PROMISES: [&str; 14] = [
    BLOCKED, AGREED, VERSION, HELD, ENDS, OVER, UPHELD, RULED, PARKED, ROUNDS, CONSISTENT,
    ACCEPTED, MOVES, CLOSES,
];

/// The newest version that a debate of the model may have.
const VERSIONS: u64 = 4;

/// A version of the plan: each adds a line to the one before.
fn plan(version: u64) -> String {
    let added = (2..=version).map(|n| format!("Version {n} adds this line.\n"));
    format!("The first line.\nThe second line.\nThe third line.\n{}", added.collect::<String>())
}

/// The headings of the model, with their bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Heading {
    /// A word on the first or second point.
    On(u8, Word),
    /// A point that quotes the first version.
    Old(Severity),
    /// A point that quotes the line which the newest version added.
    Fresh(Severity),
    /// A point without a quote.
    Bare(Severity),
    /// Agrees, and quotes three lines.
    Agree,
}

impl Heading {
    fn text(self, newest: u64) -> String {
        match self {
            Heading::On(point, word) => format!("### P{point} [{word}] A reason"),
            Heading::Old(severity) => format!("### NEW [{severity}] x\n> The first line.\nWhy."),
            Heading::Fresh(severity) => {
                format!("### NEW [{severity}] x\n> Version {newest} adds this line.\nWhy.")
            }
            Heading::Bare(severity) => format!("### NEW [{severity}] x\nWhy."),
            Heading::Agree => {
                "### VERDICT [agree]\n> The first line.\n> The second line.\n> The third line."
                    .into()
            }
        }
    }
}

/// A heading as a role says it, while this version is the newest and that one was examined.
type Spoken = (Role, Heading, u64, Option<u64>);

/// Every heading as the engine reads it: looked up once, because the walk says each a million times.
static SPOKEN: LazyLock<HashMap<Spoken, (Statement, Vec<Quote>)>> = LazyLock::new(|| {
    let mut all = HashMap::new();
    let severities = [Severity::Minor, Severity::Major, Severity::Critical];
    let mut headings = vec![Heading::Agree];
    headings.extend(severities.map(Heading::Old));
    headings.extend(severities.map(Heading::Fresh));
    headings.extend(severities.map(Heading::Bare));
    headings.extend([1, 2].iter().flat_map(|p| Word::ALL.iter().map(|w| Heading::On(*p, *w))));
    for role in Role::ALL {
        for newest in 1..=VERSIONS {
            for examined in (0..=newest).map(|version| Some(version).filter(|v| *v > 0)) {
                for heading in &headings {
                    if let Some(spoken) = speak(*role, *heading, newest, examined) {
                        all.insert((*role, *heading, newest, examined), spoken);
                    }
                }
            }
        }
    }
    all
});

fn speak(
    role: Role,
    heading: Heading,
    newest: u64,
    examined: Option<u64>,
) -> Option<(Statement, Vec<Quote>)> {
    let read = statements(&heading.text(newest), role, 2);
    let statement = read.statements.into_iter().next()?;
    let version = |version| {
        let place = QuotePlace::Document { document: document(1), version };
        (place, Normal::of(&plan(version)))
    };
    let [current, examined] = [Some(newest), examined].map(|number| number.map(version));
    let [current, examined] = [&current, &examined].map(|text| {
        text.iter().map(|(place, text)| Source { place: *place, text }).collect::<Vec<_>>()
    });
    let library = Library { current: &current, earlier: Some(&[]), examined: &examined };
    let quotes = statement.blocks.iter().flat_map(|block| library.check(block).unwrap()).collect();
    Some((statement, quotes))
}

/// What a role does: a move with the headings of its text and the version that it cites.
#[derive(Debug, Clone, PartialEq)]
struct Turn {
    role: Role,
    play: Move<Target>,
    headings: Vec<Heading>,
    cites: Option<u64>,
}

/// What the walker remembers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
struct History {
    proposer_claims: u8,
    opponent_claims: u8,
    rulings: u8,
    /// The INTERVENTIONs during the opponent's move: the proposer speaks twice in a row around one.
    takeovers: u8,
    /// The newest version that the proposer or the arbitrator has cited.
    newest: u8,
    /// That version at the opponent's last CLAIM.
    examined: Option<u8>,
    /// The version agreed to, where the newest argument that is not parked agrees.
    agreed: Option<u8>,
    /// The version at the last word of the opponent, or of an upholding RULING, on each point.
    demanded: [u8; 2],
    /// Whether each point quotes a document.
    of_document: [bool; 2],
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct World {
    debate: Debate,
    history: History,
    /// The promise that the last step broke.
    broken: Option<&'static str>,
}

/// The bound, and switches that break the rules to see that the model notices.
#[derive(Debug, Clone, Copy)]
struct Walk {
    /// How long the debates get.
    arguments: u64,
    /// Up to where an argument may speak on both points at once.
    pairs: u64,
    /// The rules forget the blocking points when the proposer asks to complete.
    forgets_points: bool,
    /// The rules take every completion as agreed.
    takes_silence_for_agreement: bool,
    /// The rules forget which points were upheld.
    forgets_rulings: bool,
    /// The rules forget how many CLAIMs there were.
    forgets_rounds: bool,
    /// The rules judge a parked text.
    judges_parked: bool,
}

impl Walk {
    fn bounded() -> Self {
        let arguments = match std::env::var("AW_MODEL_POINTS") {
            Ok(value) => value.parse().unwrap(),
            Err(_) => 8,
        };
        Walk {
            arguments,
            pairs: arguments - 2,
            forgets_points: false,
            takes_silence_for_agreement: false,
            forgets_rulings: false,
            forgets_rounds: false,
            judges_parked: false,
        }
    }

    /// The rules as they judge, with what the switches make them forget.
    fn rules(&self, debate: &Debate, role: Role, play: Move<Target>) -> Debate {
        let mut debate = debate.clone();
        let ledger = debate.ledger.as_mut().unwrap();
        if self.forgets_points && matches!(play, Move::Resolution { .. }) {
            ledger.points.clear();
        }
        if self.takes_silence_for_agreement && matches!(play, Move::Resolution { .. }) {
            ledger.agreed = true;
        }
        if self.forgets_rulings && role == Role::Opponent {
            for point in &mut ledger.points {
                point.ruled = false;
                if point.state == PointState::Upheld {
                    point.state = PointState::Open;
                }
            }
        }
        if self.forgets_rounds {
            ledger.claims = 0;
        }
        debate
    }

    fn said(&self, world: &World, turn: &Turn) -> Said {
        let history = &world.history;
        let newest = match (turn.role, turn.cites) {
            (Role::Proposer | Role::Arbitrator, Some(cited)) => cited.max(history.newest.into()),
            _ => history.newest.into(),
        };
        let examined = history.examined.map(u64::from);
        let spoken = |heading: &Heading| {
            let spoken = SPOKEN.get(&(turn.role, *heading, newest, examined));
            spoken.cloned()
        };
        Said {
            stated: turn.headings.iter().filter_map(spoken).collect(),
            flaws: Vec::new(),
            cites: turn.cites.map(|version| (document(1), version)).into_iter().collect(),
            names_missing_version: false,
            standing: Vec::new(),
            readable: 3,
        }
    }

    /// Makes a turn, if the rules allow it, and checks every promise about it.
    fn take(&self, world: &World, turn: &Turn) -> Option<World> {
        let rules = self.rules(&world.debate, turn.role, turn.play);
        let said = self.said(world, turn);
        let mut entries = rules.decide(turn.role, turn.play, &said).ok()?;
        if self.judges_parked && entries[0].event.parked() {
            let ledger = world.debate.ledger.as_ref().unwrap();
            let seq = world.debate.standing.last.next();
            entries[0].changes = ledger.judge(turn.role, &said, seq).unwrap_or_default();
            // The record would have it as a CLAIM like any other.
            entries[0].event = Event::ProposerClaim { parked: false };
        }
        let mut next = world.clone();
        for entry in &entries {
            next.debate.apply(entry, if entry.event.automatic() { &[] } else { &said.cites });
        }
        next.history.add(&world.debate, &next.debate, turn, &entries[0]);
        next.broken = broken(world, &next, turn, &entries);
        Some(next)
    }
}

fn ledger(debate: &Debate) -> &Ledger {
    debate.ledger.as_ref().unwrap()
}

/// Whether a point blocks, by its own fields.
fn blocks(rules: PointRules, point: &Point) -> bool {
    let alive = !matches!(
        point.state,
        PointState::Settled | PointState::Withdrawn | PointState::Dismissed | PointState::SetAside
    );
    let severe = match point.severity {
        Severity::Critical => true,
        Severity::Major => rules.blocking == Severity::Major && !point.late,
        Severity::Minor => false,
    };
    alive && (point.ruled || severe)
}

fn any_blocks(debate: &Debate) -> bool {
    let ledger = ledger(debate);
    ledger.points.iter().any(|point| blocks(ledger.rules, point))
}

impl History {
    fn add(&mut self, before: &Debate, after: &Debate, turn: &Turn, entry: &Entry) {
        if entry.event.parked() {
            return;
        }
        if turn.role != Role::Opponent {
            self.newest = self.newest.max(turn.cites.unwrap_or(0) as u8);
        }
        let agrees = turn.headings.contains(&Heading::Agree);
        self.agreed = (turn.role == Role::Opponent && agrees).then_some(self.newest);
        match entry.event {
            Event::ProposerClaim { .. } => self.proposer_claims += 1,
            Event::OpponentClaim { .. } => {
                self.opponent_claims += 1;
                self.examined = Some(self.newest);
            }
            Event::Ruling { .. } => self.rulings += 1,
            Event::Intervention => {
                self.takeovers += u8::from(before.standing.state == State::AwaitingOpponent);
            }
            Event::Motion | Event::Appeal { .. } | Event::Resolution { .. } => {}
        }
        for heading in &turn.headings {
            match *heading {
                Heading::On(point, word) if turn.role != Role::Proposer => {
                    if turn.role == Role::Opponent || word == Word::Upheld {
                        self.demanded[point as usize - 1] = self.newest;
                    }
                }
                Heading::Old(_) | Heading::Fresh(_) | Heading::Bare(_) => {
                    let raised = ledger(after).points.len() - 1;
                    self.demanded[raised] = self.newest;
                    self.of_document[raised] = !matches!(heading, Heading::Bare(_));
                }
                Heading::On(..) | Heading::Agree => {}
            }
        }
    }
}

/// The promise that a step broke.
fn broken(before: &World, after: &World, turn: &Turn, entries: &[Entry]) -> Option<&'static str> {
    let (old, new) = (ledger(&before.debate), ledger(&after.debate));
    let pairs = || old.points.iter().zip(&new.points);
    let ended = |(was, is): &(&Point, &Point)| was.state.is_alive() && !is.state.is_alive();
    let history = &after.history;
    let limit = u64::from(old.rules.rounds) + u64::from(history.rulings);
    let agreed = before.history.agreed;
    let closes_by_itself = entries.iter().any(|entry| entry.event.automatic());
    let other_version = turn.cites.is_some_and(|cited| Some(cited) != agreed.map(u64::from));
    let is_resolution = entries[0].event == Event::Resolution { parked: false };
    let expected = match (agreed, before.debate.policy) {
        (None, _) => Some(Held::NotAgreed),
        (Some(_), _) if other_version => Some(Held::OtherVersion),
        (Some(_), ResolutionPolicy::Auto) => None,
        (Some(_), ResolutionPolicy::Arbitrator) => Some(Held::Policy),
    };
    let accepted_without_change = |nth: usize| {
        let heading = Heading::On(nth as u8 + 1, Word::Accepted);
        turn.headings.contains(&heading)
            && old
                .points
                .get(nth)
                .is_some_and(|was| was.state != PointState::Accepted && was.state.is_alive())
            && history.of_document[nth]
            && history.newest <= history.demanded[nth]
    };
    let parked = entries[0].event.parked()
        || before.debate.standing.state == State::InterventionPending
            && turn.role != Role::Arbitrator;
    let checks = [
        (BLOCKED, closes_by_itself && any_blocks(&before.debate)),
        (AGREED, closes_by_itself && agreed.is_none()),
        (VERSION, closes_by_itself && other_version),
        (HELD, is_resolution && entries[0].held != expected),
        (ENDS, turn.role == Role::Proposer && pairs().any(|pair| ended(&pair))),
        (OVER, pairs().any(|(was, is)| !was.state.is_alive() && was.state != is.state)),
        (
            UPHELD,
            turn.role == Role::Opponent
                && pairs().any(|pair| {
                    ended(&pair) && pair.0.ruled && pair.0.state != PointState::Accepted
                }),
        ),
        (
            RULED,
            new.points.iter().any(|point| match point.state {
                PointState::Upheld => !point.ruled,
                PointState::Open | PointState::Rejected | PointState::Deferred => point.ruled,
                _ => false,
            }),
        ),
        (PARKED, parked && old != new),
        (
            ROUNDS,
            u64::from(history.opponent_claims) > limit
                || u64::from(history.proposer_claims) > limit + u64::from(history.takeovers),
        ),
        (CONSISTENT, history.agreed.is_some() && any_blocks(&after.debate)),
        (ACCEPTED, !parked && (0..2).any(accepted_without_change)),
        (MOVES, !has_a_move(&after.debate)),
        (CLOSES, !follows_the_advice(&after.debate)),
    ];
    checks.iter().find(|(_, broken)| *broken).map(|(promise, _)| *promise)
}

fn has_a_move(debate: &Debate) -> bool {
    match debate.standing.state.floor() {
        None => Role::ALL.iter().all(|role| debate.available(*role).is_empty()),
        Some(role) => !debate.available(role).is_empty(),
    }
}

/// Whether the debate closes if the opponent says nothing more, the proposer follows the advice, and
/// the arbitrator closes what it is asked about.
fn follows_the_advice(debate: &Debate) -> bool {
    let mut debate = debate.clone();
    // Two arguments a round, and the completion.
    for _ in 0..2 * ledger(&debate).limit() + 4 {
        let target = Target::at(debate.standing.last);
        let (role, play) = match debate.standing.state {
            State::Closed => return true,
            State::AwaitingOpponent => (Role::Opponent, Move::Claim { target }),
            State::AwaitingProposer => {
                let course = ledger(&debate).advice().course;
                let play = match course {
                    Course::Respond => Move::Claim { target },
                    Course::Appeal => Move::Appeal { target },
                    Course::RequestCompletion => Move::Resolution { target },
                };
                (Role::Proposer, play)
            }
            State::AwaitingArbitrator | State::InterventionPending => {
                (Role::Arbitrator, Move::Ruling { target: None, verdict: Verdict::Close })
            }
        };
        match debate.decide(role, play, &Said::default()) {
            Ok(entries) => entries.iter().for_each(|entry| debate.apply(entry, &[])),
            Err(_) => return false,
        }
    }
    false
}

/// The texts in which a role says any of these words, or nothing, on each living or dead point.
fn answers(words: &[Word], points: usize, both: bool) -> Vec<Vec<Heading>> {
    let on = |point: u8| words.iter().map(move |word| Heading::On(point, *word));
    let mut all = vec![Vec::new()];
    if points >= 1 {
        all.extend(on(1).map(|heading| vec![heading]));
    }
    if points >= 2 {
        all.extend(on(2).map(|heading| vec![heading]));
        if both {
            all.extend(on(1).flat_map(|first| on(2).map(move |second| vec![first, second])));
        }
    }
    all
}

impl World {
    fn opened(policy: ResolutionPolicy, rounds: u32) -> Self {
        let rules = PointRules { rounds, blocking: Severity::Major };
        let cited: [(DocumentId, u64); 1] = [(document(1), 1)];
        let debate = Debate {
            policy,
            standing: Standing::opened(),
            ledger: Some(Ledger::opened(rules, &cited)),
        };
        World { debate, history: History { newest: 1, ..History::default() }, broken: None }
    }

    /// Everything that some role might try now.
    fn turns(&self, both: bool) -> Vec<Turn> {
        let points = ledger(&self.debate).points.len();
        let newest = u64::from(self.history.newest);
        let target = Target::at(self.debate.standing.last);
        let stale = Target::at(Seq::FIRST);
        let mut turns = Vec::new();
        let mut add = |role, play, headings: Vec<Heading>, cites: Option<u64>| {
            turns.push(Turn { role, play, headings, cites });
        };
        let next = Some(newest + 1).filter(|version| *version <= VERSIONS);

        // Texts that the INTERVENTION overtook: full of words and citations that must not count.
        let late = |word| vec![Heading::On(1, word), Heading::On(2, word)];
        for role in [Role::Proposer, Role::Opponent] {
            if self.debate.standing.interrupted.get(role).is_some() {
                let words = if role == Role::Proposer { Word::Accepted } else { Word::Withdrawn };
                add(role, Move::Claim { target: stale }, late(words), next);
                if role == Role::Proposer {
                    add(role, Move::Appeal { target: stale }, Vec::new(), next);
                    add(role, Move::Resolution { target: stale }, Vec::new(), next);
                }
            }
        }
        match self.debate.standing.state {
            State::AwaitingOpponent => {
                let claim = Move::Claim { target };
                let words = [Word::Resolved, Word::Open, Word::Withdrawn];
                let mut texts = answers(&words, points, both);
                if points < 2 {
                    let raised = [
                        Heading::Old(Severity::Critical),
                        Heading::Old(Severity::Major),
                        Heading::Fresh(Severity::Major),
                        Heading::Bare(Severity::Minor),
                    ];
                    let also: Vec<Vec<Heading>> = raised
                        .iter()
                        .flat_map(|new| texts.iter().map(|text| [&text[..], &[*new]].concat()))
                        .collect();
                    texts.extend(also);
                }
                for mut text in texts {
                    add(Role::Opponent, claim, text.clone(), None);
                    text.push(Heading::Agree);
                    add(Role::Opponent, claim, text, None);
                }
                add(Role::Arbitrator, Move::Intervention, Vec::new(), None);
            }
            State::AwaitingProposer => {
                let words = [Word::Accepted, Word::Rejected, Word::Deferred];
                for text in answers(&words, points, both) {
                    add(Role::Proposer, Move::Claim { target }, text.clone(), None);
                    add(Role::Proposer, Move::Claim { target }, text, next);
                }
                add(Role::Proposer, Move::Appeal { target }, Vec::new(), None);
                for cites in [None, Some(1), Some(newest), next] {
                    add(Role::Proposer, Move::Resolution { target }, Vec::new(), cites);
                }
                add(Role::Arbitrator, Move::Intervention, Vec::new(), None);
            }
            State::AwaitingArbitrator | State::InterventionPending => {
                let words = [Word::Upheld, Word::Dismissed, Word::Deferred];
                let mut texts = answers(&words, points, both);
                if points < 2 {
                    texts.push(vec![Heading::Bare(Severity::Minor)]);
                }
                for verdict in [Verdict::GoOn, Verdict::Close] {
                    let play = Move::Ruling { target: None, verdict };
                    for text in &texts {
                        add(Role::Arbitrator, play, text.clone(), None);
                    }
                }
                let go_on = Move::Ruling { target: None, verdict: Verdict::GoOn };
                add(Role::Arbitrator, go_on, Vec::new(), next);
            }
            State::Closed => {}
        }
        turns
    }
}

impl Model for Walk {
    type State = World;
    type Action = Turn;

    fn init_states(&self) -> Vec<World> {
        let policies = ResolutionPolicy::ALL.iter();
        policies.flat_map(|policy| [1, 2].map(|rounds| World::opened(*policy, rounds))).collect()
    }

    fn actions(&self, world: &World, turns: &mut Vec<Turn>) {
        let length = world.debate.standing.last.0;
        if length < self.arguments && world.broken.is_none() {
            turns.extend(world.turns(length < self.pairs));
        }
    }

    fn next_state(&self, world: &World, turn: Turn) -> Option<World> {
        self.take(world, &turn)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut all: Vec<Property<Self>> = vec![
            Property::<Self>::always(BLOCKED, |_, world| world.broken != Some(BLOCKED)),
            Property::<Self>::always(AGREED, |_, world| world.broken != Some(AGREED)),
            Property::<Self>::always(VERSION, |_, world| world.broken != Some(VERSION)),
            Property::<Self>::always(HELD, |_, world| world.broken != Some(HELD)),
            Property::<Self>::always(ENDS, |_, world| world.broken != Some(ENDS)),
            Property::<Self>::always(OVER, |_, world| world.broken != Some(OVER)),
            Property::<Self>::always(UPHELD, |_, world| world.broken != Some(UPHELD)),
            Property::<Self>::always(RULED, |_, world| world.broken != Some(RULED)),
            Property::<Self>::always(PARKED, |_, world| world.broken != Some(PARKED)),
            Property::<Self>::always(ROUNDS, |_, world| world.broken != Some(ROUNDS)),
            Property::<Self>::always(CONSISTENT, |_, world| world.broken != Some(CONSISTENT)),
            Property::<Self>::always(ACCEPTED, |_, world| world.broken != Some(ACCEPTED)),
            Property::<Self>::always(MOVES, |_, world| world.broken != Some(MOVES)),
            Property::<Self>::always(CLOSES, |_, world| world.broken != Some(CLOSES)),
        ];
        all.extend([
            Property::<Self>::sometimes("a debate closes over two settled points", |_, world| {
                let points = &ledger(&world.debate).points;
                let settled = points.iter().filter(|point| point.state == PointState::Settled);
                settled.count() == 2 && world.debate.standing.state == State::Closed
            }),
            Property::<Self>::sometimes("an upheld point is settled", |_, world| {
                let points = &ledger(&world.debate).points;
                points.iter().any(|point| point.ruled && point.state == PointState::Settled)
            }),
            Property::<Self>::sometimes("a point is late", |_, world| {
                ledger(&world.debate).points.iter().any(|point| point.late)
            }),
            Property::<Self>::sometimes("the rounds are used", |_, world| {
                let available = world.debate.available(Role::Proposer);
                world.debate.standing.state == State::AwaitingProposer
                    && !available.contains(&Available::Claim)
            }),
        ]);
        all
    }
}

#[test]
fn every_debate_with_points_keeps_its_promises() {
    let model = Walk::bounded();
    let checker = model.checker().threads(2).spawn_bfs().join();
    println!("{model:?}: {} states", checker.unique_state_count());
    checker.assert_properties();
}

/// Runs the model until the promise is found broken.
fn finds(model: Walk, promise: &'static str) -> bool {
    assert!(PROMISES.contains(&promise));
    let found = HasDiscoveries::AnyOf([promise].into());
    let checker = model.checker().threads(2).finish_when(found).spawn_bfs().join();
    checker.discovery(promise).is_some()
}

#[test]
fn the_model_notices_a_close_over_a_blocking_point() {
    let model = Walk { takes_silence_for_agreement: true, ..Walk::bounded() };
    assert!(finds(Walk { forgets_points: true, ..model }, BLOCKED));
}

#[test]
fn the_model_notices_a_close_without_agreement() {
    assert!(finds(Walk { takes_silence_for_agreement: true, ..Walk::bounded() }, AGREED));
}

#[test]
fn the_model_notices_a_ruling_that_does_not_bind() {
    assert!(finds(Walk { forgets_rulings: true, ..Walk::bounded() }, UPHELD));
}

#[test]
fn the_model_notices_claims_without_end() {
    assert!(finds(Walk { forgets_rounds: true, ..Walk::bounded() }, ROUNDS));
}

#[test]
fn the_model_notices_a_parked_text_that_counts() {
    assert!(finds(Walk { judges_parked: true, ..Walk::bounded() }, PARKED));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The ledger is a cache of the record: judging and applying the record again gives the same.
    #[test]
    fn the_fold_of_a_long_debate_equals_its_ledger(
        choices in prop::collection::vec(any::<prop::sample::Index>(), 1..60),
        rounds in 1_u32..6,
    ) {
        let model = Walk::bounded();
        let mut world = World::opened(ResolutionPolicy::Auto, rounds);
        let first = world.debate.clone();
        let mut record: Vec<(Turn, Vec<Entry>, Said)> = Vec::new();
        for choice in choices {
            let turns = world.turns(true);
            if turns.is_empty() {
                break;
            }
            let turn = choice.get(&turns).clone();
            let said = model.said(&world, &turn);
            if let Ok(entries) = world.debate.decide(turn.role, turn.play, &said) {
                let next = model.take(&world, &turn).unwrap();
                prop_assert_eq!(next.broken, None);
                record.push((turn, entries, said));
                world = next;
            }
        }
        let mut again = first;
        for (turn, entries, said) in &record {
            let judged = again.decide(turn.role, turn.play, said);
            prop_assert_eq!(judged.as_ref(), Ok(entries));
            for entry in entries {
                again.apply(entry, if entry.event.automatic() { &[] } else { &said.cites });
            }
        }
        prop_assert_eq!(again, world.debate);
    }
}
