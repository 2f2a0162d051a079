//! Proves that every move in every debate of up to eight arguments is judged as the protocol says,
//! and that every role gets the action and the available moves that the protocol says.
//!
//! The tables below are the protocol's, written out by hand. The tests compute the rest (the state,
//! the pending argument, who may park) from the list of arguments, never from the standing that the
//! rules keep.

use std::collections::{BTreeMap, HashSet};

use crate::record::Record;
use aw_core::{
    Action, Available, Entry, Event, Kind, Move, Refusal, ResolutionPolicy, Role, Said, Seq,
    Standing, State, Verdict, statements,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// How long the debates get: enough for two INTERVENTIONs with everything that they allow.
const ARGUMENTS: usize = 8;

/// The short names of the states in [`MOVES`].
const STATES: [(&str, State); 5] = [
    ("opponent", State::AwaitingOpponent),
    ("proposer", State::AwaitingProposer),
    ("arbitrator", State::AwaitingArbitrator),
    ("intervened", State::InterventionPending),
    ("closed", State::Closed),
];

/// The state after a move that is not parked; a dash is a refusal.
const MOVES: &str = "
    state       role        CLAIM     APPEAL      RESOLUTION  RESOLUTION  INTERVENTION  RULING    RULING
                                                  auto        arbitrator                          close
    ----------  ----------  --------  ----------  ----------  ----------  ------------  --------  ------
    opponent    proposer    -         -           -           -           -             -         -
    opponent    opponent    proposer  -           -           -           -             -         -
    opponent    arbitrator  -         -           -           -           intervened    -         -
    proposer    proposer    opponent  arbitrator  closed      arbitrator  -             -         -
    proposer    opponent    -         -           -           -           -             -         -
    proposer    arbitrator  -         -           -           -           intervened    -         -
    arbitrator  proposer    -         -           -           -           -             -         -
    arbitrator  opponent    -         -           -           -           -             -         -
    arbitrator  arbitrator  -         -           -           -           -             proposer  closed
    intervened  proposer    -         -           -           -           -             -         -
    intervened  opponent    -         -           -           -           -             -         -
    intervened  arbitrator  -         -           -           -           -             proposer  closed
    closed      proposer    -         -           -           -           -             -         -
    closed      opponent    -         -           -           -           -             -         -
    closed      arbitrator  -         -           -           -           -             -         -
";

/// Whose move it is.
const FLOOR: [(State, Option<Role>); 5] = [
    (State::AwaitingOpponent, Some(Role::Opponent)),
    (State::AwaitingProposer, Some(Role::Proposer)),
    (State::AwaitingArbitrator, Some(Role::Arbitrator)),
    (State::InterventionPending, Some(Role::Arbitrator)),
    (State::Closed, None),
];

/// The moves of each role. The MOTION is missing: it created the debate.
const ROLES: [(Role, &[Kind]); 3] = [
    (Role::Proposer, &[Kind::Claim, Kind::Appeal, Kind::Resolution]),
    (Role::Opponent, &[Kind::Claim]),
    (Role::Arbitrator, &[Kind::Ruling, Kind::Intervention]),
];

/// The action of each role.
const ACTIONS: &str = "
    state                 after     proposer           opponent           arbitrator
    --------------------  --------  -----------------  -----------------  -------------
    AWAITING_OPPONENT     anything  wait_for_opponent  respond            wait
    AWAITING_PROPOSER     RULING    align_to_ruling    wait_for_proposer  wait
    AWAITING_PROPOSER     other     respond            wait_for_proposer  wait
    AWAITING_ARBITRATOR   anything  wait_for_ruling    wait_for_ruling    rule
    INTERVENTION_PENDING  anything  wait_for_ruling    wait_for_ruling    rule
    CLOSED                anything  debate_closed      debate_closed      debate_closed
";

/// The rows of a table, without its head.
fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let body = table.lines().skip_while(|line| !line.trim().starts_with("---")).skip(1);
    body.map(|line| line.split_whitespace().collect::<Vec<_>>()).filter(|row| !row.is_empty())
}

/// The protocol, computed from the tables and the list of arguments.
struct Protocol {
    policy: ResolutionPolicy,
    moves: BTreeMap<(&'static str, &'static str), Vec<Option<State>>>,
}

impl Protocol {
    fn with(policy: ResolutionPolicy) -> Self {
        let named = |word: &str| STATES.iter().find(|(name, _)| *name == word).map(|(_, s)| *s);
        let moves = rows(MOVES)
            .map(|row| ((row[0], row[1]), row[2..].iter().map(|cell| named(cell)).collect()))
            .collect();
        Protocol { policy, moves }
    }

    /// The state after a move that is not parked; `None` is a refusal.
    fn next(
        &self,
        state: State,
        role: Role,
        kind: Kind,
        verdict: Option<Verdict>,
    ) -> Option<State> {
        let column = match (kind, self.policy, verdict) {
            (Kind::Claim, _, _) => 0,
            (Kind::Appeal, _, _) => 1,
            (Kind::Resolution, ResolutionPolicy::Auto, _) => 2,
            (Kind::Resolution, ResolutionPolicy::Arbitrator, _) => 3,
            (Kind::Intervention, _, _) => 4,
            (Kind::Ruling, _, Some(Verdict::GoOn)) => 5,
            (Kind::Ruling, _, Some(Verdict::Close)) => 6,
            (Kind::Ruling | Kind::Motion, _, _) => unreachable!("{kind} without a verdict"),
        };
        let name = STATES.iter().find(|(_, s)| *s == state).unwrap().0;
        self.moves[&(name, role.as_str())][column]
    }

    /// The state before each argument after the MOTION, then the state now.
    fn states(&self, entries: &[Entry]) -> Vec<State> {
        let mut states = vec![State::AwaitingOpponent];
        for Entry { event, .. } in &entries[1..] {
            let state = *states.last().unwrap();
            let verdict = match event {
                Event::Ruling { verdict, .. } => Some(*verdict),
                _ => None,
            };
            states.push(if event.parked() || event.automatic() {
                state
            } else {
                self.next(state, event.role(), event.kind(), verdict).unwrap()
            });
        }
        states
    }

    /// The INTERVENTION that still lets this role park: the newest one during its move, if the role
    /// has written nothing since and the debate is open.
    fn right_to_park(&self, entries: &[Entry], role: Role) -> Option<Seq> {
        let states = self.states(entries);
        if states.last() == Some(&State::Closed) {
            return None;
        }
        let during_its_move = |at: usize| {
            entries[at].event == Event::Intervention && floor(states[at - 1]) == Some(role)
        };
        let at = (1..entries.len()).rfind(|at| during_its_move(*at))?;
        let silent = entries[at..].iter().all(|e| e.event.role() != role);
        silent.then(|| place(at))
    }

    /// Whether a text of this role for this target is parked.
    fn parks(&self, entries: &[Entry], role: Role, target: Seq) -> bool {
        self.right_to_park(entries, role).is_some_and(|intervention| {
            let after = &entries[intervention.0 as usize..];
            let ruled = after.iter().any(|e| e.event.kind() == Kind::Ruling);
            !ruled || target < intervention
        })
    }

    /// The expected decision.
    fn judge(&self, record: &Record, role: Role, play: Move<Seq>) -> Result<Vec<Entry>, Refusal> {
        let entries = &record.entries;
        let state = *self.states(entries).last().unwrap();
        let (kind, target) = (play.kind(), play.target().copied());

        if !ROLES.iter().any(|(r, kinds)| *r == role && kinds.contains(&kind)) {
            return Err(Refusal::NotTheRole { state, role, kind });
        }
        if role != Role::Arbitrator && self.parks(entries, role, target.unwrap()) {
            return Ok(vec![Entry::of(argument(role, play, true), target)]);
        }
        let pending = pending(entries);
        let misses = kind == Kind::Ruling && target.is_some() && target != pending;
        match self.next(state, role, kind, play.verdict()) {
            Some(next) if !misses => {
                let parent = if kind == Kind::Ruling { pending } else { target };
                let mut written = vec![Entry::of(argument(role, play, false), parent)];
                if kind == Kind::Resolution && next == State::Closed {
                    let event = Event::Ruling { verdict: Verdict::Close, automatic: true };
                    written.push(Entry::of(event, Some(place(entries.len()))));
                }
                Ok(written)
            }
            _ => Err(match target.filter(|_| kind == Kind::Ruling) {
                Some(target) => match (ruling_on(entries, target), pending) {
                    (Some(ruling), _) => Refusal::AlreadyRuled { state, target, ruling },
                    (None, Some(pending)) => Refusal::NotPending { state, target, pending },
                    (None, None) => Refusal::NotTheFloor { state, role, kind },
                },
                None => Refusal::NotTheFloor { state, role, kind },
            }),
        }
    }
}

fn floor(state: State) -> Option<Role> {
    FLOOR.iter().find(|(s, _)| *s == state).unwrap().1
}

/// The place of the argument at this index of the list.
fn place(index: usize) -> Seq {
    Seq(index as u64 + 1)
}

/// The newest argument that is not parked.
fn newest_unparked(entries: &[Entry]) -> usize {
    entries.iter().rposition(|e| !e.event.parked()).unwrap()
}

/// The argument that awaits a RULING: the newest that is not parked, if it asks for one.
fn pending(entries: &[Entry]) -> Option<Seq> {
    let newest = newest_unparked(entries);
    match entries[newest].event.kind() {
        Kind::Appeal | Kind::Resolution | Kind::Intervention => Some(place(newest)),
        Kind::Motion | Kind::Claim | Kind::Ruling => None,
    }
}

/// The RULING on this argument.
fn ruling_on(entries: &[Entry], target: Seq) -> Option<Seq> {
    let rules = |e: &Entry| e.event.kind() == Kind::Ruling && e.parent == Some(target);
    entries.iter().position(rules).map(place)
}

/// The argument that a move becomes.
fn argument(role: Role, play: Move<Seq>, parked: bool) -> Event {
    match (role, play) {
        (Role::Proposer, Move::Claim { .. }) => Event::ProposerClaim { parked },
        (Role::Opponent, Move::Claim { .. }) => Event::OpponentClaim { parked },
        (_, Move::Claim { .. }) => unreachable!("the arbitrator never claims"),
        (_, Move::Appeal { .. }) => Event::Appeal { parked },
        (_, Move::Resolution { .. }) => Event::Resolution { parked },
        (_, Move::Ruling { verdict, .. }) => Event::Ruling { verdict, automatic: false },
        (_, Move::Intervention) => Event::Intervention,
    }
}

/// Every debate that the rules allow, breadth first. Two debates count as the same if only their
/// targets differ: later decisions depend on the targets of RULINGs alone, and those always were the
/// pending argument.
fn every_debate(policy: ResolutionPolicy) -> Vec<Record> {
    let mut all = vec![Record::opened(policy)];
    let mut known = HashSet::new();
    let mut at = 0;
    while at < all.len() {
        let record = all[at].clone();
        at += 1;
        for role in Role::ALL {
            for play in record.attempts() {
                let mut longer = record.clone();
                if longer.play(*role, play).is_err() || longer.entries.len() > ARGUMENTS {
                    continue;
                }
                let events: Vec<Event> = longer.entries.iter().map(|e| e.event).collect();
                if known.insert(events) {
                    all.push(longer);
                }
            }
        }
    }
    all
}

/// Runs a check on every debate under both policies.
fn in_every_debate(check: impl Fn(&Protocol, &Record)) {
    for policy in ResolutionPolicy::ALL {
        let protocol = Protocol::with(*policy);
        let debates = every_debate(*policy);
        assert!(debates.len() > 1_000, "the walk ended after {} debates", debates.len());
        debates.iter().for_each(|record| check(&protocol, record));
    }
}

#[test]
fn every_move_in_every_debate_is_judged_as_the_tables_say() {
    in_every_debate(|protocol, record| {
        for role in Role::ALL {
            for play in record.attempts() {
                let expected = protocol.judge(record, *role, play);
                let judged = record.judge(*role, play);
                assert_eq!(judged, expected, "{role} plays {play:?} in {:?}", record.entries);
            }
        }
    });
}

/// What texts would say in a debate with points: statements, flaws, quotes and citations.
fn full_of_words() -> Vec<Said> {
    let text = "### NEW [major] x\n> a quote\n### P1 [open]\n### VERDICT [agree]\n### P2 [accepted]\n### P1: fixed";
    let document = "00000000-0000-4000-8000-000000000001".parse().unwrap();
    let said = |role: &Role| {
        let read = statements(text, *role, 2);
        Said {
            stated: read.statements.into_iter().map(|statement| (statement, Vec::new())).collect(),
            flaws: read.flaws,
            cites: vec![(document, 7)],
            ..Said::default()
        }
    };
    Role::ALL.iter().map(said).collect()
}

#[test]
fn in_a_debate_without_points_every_move_is_judged_as_before_whatever_its_text_says() {
    let texts = full_of_words();
    assert!(texts.iter().all(|said| !said.flaws.is_empty()));
    in_every_debate(|protocol, record| {
        for role in Role::ALL {
            for play in record.attempts() {
                let expected = protocol.judge(record, *role, play);
                for said in &texts {
                    let judged = record.debate.decide(*role, record.locate(play), said);
                    assert_eq!(judged, expected, "{role} plays {play:?} in {:?}", record.entries);
                    // What it cites changes nothing either.
                    if let Ok(entries) = judged {
                        let (mut with, mut without) =
                            (record.debate.clone(), record.debate.clone());
                        for entry in &entries {
                            with.apply(entry, &said.cites);
                            without.apply(entry, &[]);
                        }
                        assert_eq!(with, without);
                        assert_eq!(with.ledger, None);
                    }
                }
            }
        }
    });
}

#[test]
fn the_standing_of_every_debate_is_what_its_arguments_say() {
    in_every_debate(|protocol, record| {
        let entries = &record.entries;
        let standing = record.debate.standing;
        assert_eq!(standing.state, *protocol.states(entries).last().unwrap(), "{entries:?}");
        assert_eq!(standing.pending(), pending(entries), "{entries:?}");
        assert_eq!(standing.last, place(entries.len() - 1));
        let newest = entries[newest_unparked(entries)].event.kind();
        assert_eq!(standing.after_ruling(), newest == Kind::Ruling, "{entries:?}");
        for role in Role::ALL {
            let own = entries.iter().filter(|e| e.event.role() == *role).count();
            assert_eq!(standing.count.get(*role), own as u64, "{role} in {entries:?}");
            let right = protocol.right_to_park(entries, *role);
            assert_eq!(standing.interrupted.get(*role), right, "{role} in {entries:?}");
        }
    });
}

#[test]
fn every_role_gets_the_action_of_the_protocols_table() {
    in_every_debate(|protocol, record| {
        let state = *protocol.states(&record.entries).last().unwrap();
        let after = match record.entries[newest_unparked(&record.entries)].event.kind() {
            Kind::Ruling => "RULING",
            _ => "other",
        };
        let row = rows(ACTIONS)
            .find(|row| row[0] == state.as_str() && (row[1] == after || row[1] == "anything"))
            .unwrap();
        for (role, expected) in Role::ALL.iter().zip(&row[2..]) {
            let action = record.debate.standing.action(*role);
            assert_eq!(action, expected.parse::<Action>().unwrap(), "{role}: {:?}", record.entries);
        }
    });
}

#[test]
fn a_wait_ends_with_the_floor_with_unseen_arguments_and_with_the_close() {
    in_every_debate(|_, record| {
        let standing = record.debate.standing;
        for role in Role::ALL {
            let called = floor(standing.state) == Some(*role) || standing.state == State::Closed;
            assert_eq!(standing.ends_wait(*role, false), called, "{role} in {standing:?}");
            let reads = called || *role != Role::Arbitrator;
            assert_eq!(standing.ends_wait(*role, true), reads, "{role} in {standing:?}");
        }
    });
}

#[test]
fn a_wait_without_an_id_looks_after_the_roles_newest_argument_that_is_not_parked() {
    in_every_debate(|_, record| {
        let newest = |wanted: &dyn Fn(Role) -> bool| {
            let matches = |e: &Entry| !e.event.parked() && wanted(e.event.role());
            record.entries.iter().rposition(matches).map(place)
        };
        for role in Role::ALL {
            let standing = record.debate.standing;
            let own = newest(&|author| author == *role);
            assert_eq!(standing.seen_without_id(*role), own, "{role} in {:?}", record.entries);
            let others = newest(&|author| author != *role);
            assert_eq!(standing.newest_of_others(*role), others, "{role} in {:?}", record.entries);
        }
    });
}

#[test]
fn available_lists_exactly_the_moves_that_some_target_makes_acceptable() {
    in_every_debate(|protocol, record| {
        for role in Role::ALL {
            let accepted = |play: &Move<Seq>| protocol.judge(record, *role, *play).is_ok();
            let accepted: Vec<Available> =
                record.attempts().into_iter().filter(accepted).map(available).collect();
            let listed = record.debate.available(*role);
            for one in Available::ALL {
                let (listed, accepted) = (listed.contains(one), accepted.contains(one));
                assert_eq!(listed, accepted, "{role} {one} in {:?}", record.entries);
            }
        }
    });
}

/// The name of a move in `available_actions`.
fn available(play: Move<Seq>) -> Available {
    match play {
        Move::Claim { .. } => Available::Claim,
        Move::Appeal { .. } => Available::Appeal,
        Move::Resolution { .. } => Available::Resolution,
        Move::Intervention => Available::Intervention,
        Move::Ruling { verdict: Verdict::GoOn, .. } => Available::Ruling,
        Move::Ruling { verdict: Verdict::Close, .. } => Available::RulingClose,
    }
}

/// An attempted move. The index chooses a target among the arguments that exist by then.
type Attempt = (Role, Kind, Index, bool, Verdict);

fn attempt() -> impl Strategy<Value = Attempt> {
    let kind = prop_oneof![
        9 => Just(Kind::Claim),
        2 => Just(Kind::Appeal),
        1 => Just(Kind::Resolution),
        3 => Just(Kind::Intervention),
        4 => Just(Kind::Ruling),
    ];
    let verdict = prop_oneof![20 => Just(Verdict::GoOn), 1 => Just(Verdict::Close)];
    (select(Role::ALL), kind, any::<Index>(), any::<bool>(), verdict)
}

fn attempted(record: &Record, (_, kind, index, names_target, verdict): Attempt) -> Move<Seq> {
    let target = place(index.index(record.entries.len()));
    match kind {
        Kind::Claim => Move::Claim { target },
        Kind::Appeal => Move::Appeal { target },
        Kind::Resolution => Move::Resolution { target },
        Kind::Intervention => Move::Intervention,
        Kind::Ruling => Move::Ruling { target: names_target.then_some(target), verdict },
        Kind::Motion => unreachable!("no move is a MOTION"),
    }
}

/// How many random debates are tried.
fn cases() -> u32 {
    std::env::var("AW_HISTORIES").map_or(1_000, |given| given.parse().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_move_in_a_long_debate_is_judged_as_the_tables_say(
        policy in select(ResolutionPolicy::ALL),
        attempts in prop::collection::vec(attempt(), 0..100),
    ) {
        let protocol = Protocol::with(policy);
        let mut record = Record::opened(policy);
        for attempt in attempts {
            let play = attempted(&record, attempt);
            let expected = protocol.judge(&record, attempt.0, play);
            prop_assert_eq!(record.judge(attempt.0, play), expected.clone());
            if let Ok(entries) = expected {
                record.add(&entries);
            }
        }
    }
}

#[test]
fn an_event_is_rebuilt_from_its_recorded_fields_and_from_no_others() {
    let parks = [(Kind::Claim, Role::Opponent)]
        .into_iter()
        .chain([Kind::Claim, Kind::Appeal, Kind::Resolution].map(|kind| (kind, Role::Proposer)));
    let mut known: Vec<_> = parks
        .flat_map(|(kind, role)| [false, true].map(|parked| (kind, role, parked, None, false)))
        .collect();
    known.push((Kind::Motion, Role::Proposer, false, None, false));
    known.push((Kind::Intervention, Role::Arbitrator, false, None, false));
    for (close, automatic) in [(true, true), (true, false), (false, false)] {
        known.push((Kind::Ruling, Role::Arbitrator, false, Some(close), automatic));
    }
    let flags = [false, true];
    for kind in Kind::ALL {
        for role in Role::ALL {
            for (parked, automatic) in flags.into_iter().flat_map(|one| flags.map(|two| (one, two)))
            {
                for close in [None, Some(false), Some(true)] {
                    let fields = (*kind, *role, parked, close, automatic);
                    let event = Event::recorded(*kind, *role, parked, close, automatic);
                    let read =
                        event.map(|e| (e.kind(), e.role(), e.parked(), e.close(), e.automatic()));
                    assert_eq!(read, known.contains(&fields).then_some(fields));
                }
            }
        }
    }
}

#[test]
fn every_state_gives_the_floor_to_the_protocols_role() {
    for (state, role) in FLOOR {
        assert_eq!(state.floor(), role, "{state}");
    }
}

#[test]
fn only_an_appeal_a_resolution_and_an_intervention_ask_for_a_ruling() {
    let asking = [Kind::Appeal, Kind::Intervention, Kind::Resolution];
    for kind in Kind::ALL {
        assert_eq!(kind.asks_for_ruling(), asking.contains(kind), "{kind}");
    }
}

#[test]
fn only_a_record_that_begins_with_the_motion_has_a_standing() {
    assert_eq!(Standing::fold([]), None);
    assert_eq!(Standing::fold([Event::Intervention]), None);
    assert_eq!(Standing::fold([Event::Motion]), Some(Standing::opened()));
}

#[test]
fn resolutions_are_approved_automatically_by_default() {
    assert_eq!(ResolutionPolicy::default(), ResolutionPolicy::Auto);
}
