//! Proves that every move in every debate of up to eight arguments is judged as the protocol says,
//! and that everyone is told what the protocol says.
//!
//! The tables below are the protocol's, written out by hand. What they need to know of a debate
//! (its state, what is pending, who may park) is worked out from the list of its arguments, never
//! from the standing that the rules keep. The stories after them show each rule of parking, of
//! closing and of refusing on its own.

use std::collections::{BTreeMap, HashSet};

use crate::record::Record;
use aw_core::{
    Action, Available, Entry, Event, Kind, Move, Refusal, ResolutionPolicy, Role, Seq, Standing,
    State, Verdict,
};

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

/// What a move that is not parked makes of a state; a dash is a refusal.
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

/// Which moves a role makes at all; the MOTION has created the debate already.
const ROLES: [(Role, &[Kind]); 3] = [
    (Role::Proposer, &[Kind::Claim, Kind::Appeal, Kind::Resolution]),
    (Role::Opponent, &[Kind::Claim]),
    (Role::Arbitrator, &[Kind::Ruling, Kind::Intervention]),
];

/// What each role is told to do.
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

/// The protocol, as far as it needs only the tables and the list of arguments.
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

    /// The INTERVENTION that still lets this role park: the newest that fell upon its move, when
    /// the role has written nothing since and the debate is open.
    fn right_to_park(&self, entries: &[Entry], role: Role) -> Option<Seq> {
        let states = self.states(entries);
        if states.last() == Some(&State::Closed) {
            return None;
        }
        let upon_its_move = |at: usize| {
            entries[at].event == Event::Intervention && floor(states[at - 1]) == Some(role)
        };
        let at = (1..entries.len()).rfind(|at| upon_its_move(*at))?;
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

    /// What must come of a move.
    fn judge(&self, record: &Record, role: Role, play: Move<Seq>) -> Result<Vec<Entry>, Refusal> {
        let entries = &record.entries;
        let state = *self.states(entries).last().unwrap();
        let (kind, target) = (play.kind(), play.target().copied());

        if !ROLES.iter().any(|(r, kinds)| *r == role && kinds.contains(&kind)) {
            return Err(Refusal::NotTheRole { state, role, kind });
        }
        if role != Role::Arbitrator && self.parks(entries, role, target.unwrap()) {
            return Ok(vec![Entry { event: argument(role, play, true), parent: target }]);
        }
        let pending = pending(entries);
        let misses = kind == Kind::Ruling && target.is_some() && target != pending;
        match self.next(state, role, kind, play.verdict()) {
            Some(next) if !misses => {
                let parent = if kind == Kind::Ruling { pending } else { target };
                let mut written = vec![Entry { event: argument(role, play, false), parent }];
                if kind == Kind::Resolution && next == State::Closed {
                    let event = Event::Ruling { verdict: Verdict::Close, automatic: true };
                    written.push(Entry { event, parent: Some(place(entries.len())) });
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

/// What awaits a RULING: the newest argument that is not parked, when it asks for one.
fn pending(entries: &[Entry]) -> Option<Seq> {
    let newest = newest_unparked(entries);
    match entries[newest].event.kind() {
        Kind::Appeal | Kind::Resolution | Kind::Intervention => Some(place(newest)),
        Kind::Motion | Kind::Claim | Kind::Ruling => None,
    }
}

/// The RULING upon this argument.
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

/// Every debate that the rules let come about, breadth first. Which target was answered is left
/// out of what tells two debates apart: only the RULINGs' targets matter later, and those are
/// always what was pending.
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
fn an_appeal_a_resolution_and_an_intervention_ask_for_a_ruling_and_nothing_else_does() {
    let asking = [Kind::Appeal, Kind::Intervention, Kind::Resolution];
    for kind in Kind::ALL {
        assert_eq!(kind.asks_for_ruling(), asking.contains(kind), "{kind}");
    }
}

#[test]
fn only_a_ruling_has_a_verdict() {
    let target = Seq::FIRST;
    for verdict in [Verdict::GoOn, Verdict::Close] {
        assert_eq!(Move::Ruling { target: Some(target), verdict }.verdict(), Some(verdict));
    }
    for play in [
        Move::Claim { target },
        Move::Appeal { target },
        Move::Resolution { target },
        Move::Intervention,
    ] {
        assert_eq!(play.verdict(), None, "{play:?}");
    }
}

#[test]
fn the_floor_belongs_to_whom_the_protocol_says() {
    for (state, role) in FLOOR {
        assert_eq!(state.floor(), role, "{state}");
    }
}

#[test]
fn every_role_is_told_the_action_of_the_protocols_table() {
    in_every_debate(|protocol, record| {
        let state = *protocol.states(&record.entries).last().unwrap();
        let after = match record.entries[newest_unparked(&record.entries)].event.kind() {
            Kind::Ruling => "RULING",
            _ => "other",
        };
        let row = rows(ACTIONS)
            .find(|row| row[0] == state.as_str() && (row[1] == after || row[1] == "anything"))
            .unwrap();
        for (role, action) in Role::ALL.iter().zip(&row[2..]) {
            let told = record.debate.standing.action(*role);
            assert_eq!(told, action.parse::<Action>().unwrap(), "{role} in {:?}", record.entries);
        }
    });
}

#[test]
fn a_wait_is_over_when_there_is_something_to_do_or_to_read_or_nothing_more_to_come() {
    in_every_debate(|_, record| {
        let standing = record.debate.standing;
        for role in Role::ALL {
            let to_do = floor(standing.state) == Some(*role) || standing.state == State::Closed;
            assert_eq!(standing.ends_wait(*role, false), to_do, "{role} in {standing:?}");
            let reads = to_do || *role != Role::Arbitrator;
            assert_eq!(standing.ends_wait(*role, true), reads, "{role} in {standing:?}");
        }
    });
}

#[test]
fn a_wait_without_an_id_begins_at_the_roles_newest_argument_that_is_not_parked() {
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
fn what_is_available_depends_on_the_state_the_role_and_the_right_to_park() {
    let table = std::cell::RefCell::new(BTreeMap::new());
    in_every_debate(|protocol, record| {
        let state = record.debate.standing.state;
        let order = State::ALL.iter().position(|s| *s == state);
        for role in Role::ALL {
            let right = protocol.right_to_park(&record.entries, *role).is_some();
            let open = record.debate.available(*role);
            let before = table.borrow_mut().insert((order, *role, right), (state, open.clone()));
            assert!(before.is_none_or(|b| b == (state, open)), "{role} in {:?}", record.entries);
        }
    });
    let lines = table.into_inner().into_iter().map(|((_, role, right), (state, open))| {
        let right = if right { "may park" } else { "" };
        let open: Vec<&str> = open.into_iter().map(Available::as_str).collect();
        let (state, role, open) = (state.as_str(), role.as_str(), open.join(" "));
        let row = format!("{state:20}  {role:10}  {right:8}  {open}");
        row.trim_end().to_owned()
    });
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @r"
    AWAITING_OPPONENT     proposer
    AWAITING_OPPONENT     opponent              SUBMIT_CLAIM
    AWAITING_OPPONENT     opponent    may park  SUBMIT_CLAIM
    AWAITING_OPPONENT     arbitrator            SUBMIT_INTERVENTION
    AWAITING_PROPOSER     proposer              SUBMIT_CLAIM SUBMIT_APPEAL SUBMIT_RESOLUTION
    AWAITING_PROPOSER     proposer    may park  SUBMIT_CLAIM SUBMIT_APPEAL SUBMIT_RESOLUTION
    AWAITING_PROPOSER     opponent
    AWAITING_PROPOSER     opponent    may park  SUBMIT_CLAIM
    AWAITING_PROPOSER     arbitrator            SUBMIT_INTERVENTION
    AWAITING_ARBITRATOR   proposer
    AWAITING_ARBITRATOR   opponent
    AWAITING_ARBITRATOR   opponent    may park  SUBMIT_CLAIM
    AWAITING_ARBITRATOR   arbitrator            SUBMIT_RULING SUBMIT_RULING_CLOSE
    INTERVENTION_PENDING  proposer
    INTERVENTION_PENDING  proposer    may park  SUBMIT_CLAIM SUBMIT_APPEAL SUBMIT_RESOLUTION
    INTERVENTION_PENDING  opponent
    INTERVENTION_PENDING  opponent    may park  SUBMIT_CLAIM
    INTERVENTION_PENDING  arbitrator            SUBMIT_RULING SUBMIT_RULING_CLOSE
    CLOSED                proposer
    CLOSED                opponent
    CLOSED                arbitrator
    ");
}

/// A debate that is told move by move.
struct Story(Record);

impl Story {
    fn opened() -> Self {
        Story(Record::opened(ResolutionPolicy::Auto))
    }

    fn with_resolutions_held() -> Self {
        Story(Record::opened(ResolutionPolicy::Arbitrator))
    }

    /// The move is accepted and is a real one.
    fn moves(mut self, role: Role, play: Move<Seq>) -> Self {
        let seq = self.0.play(role, play).unwrap();
        assert!(!self.0.at(seq).event.parked(), "{play:?} was parked");
        self
    }

    /// The move is accepted and parked, and the state stays as it is.
    fn parks(mut self, role: Role, play: Move<Seq>) -> Self {
        let before = self.state();
        let seq = self.0.play(role, play).unwrap();
        assert!(self.0.at(seq).event.parked(), "{play:?} was not parked");
        assert_eq!((self.state(), self.0.newest()), (before, seq));
        self
    }

    fn proposer_claims(self, target: u64) -> Self {
        self.moves(Role::Proposer, claim(target))
    }

    fn opponent_claims(self, target: u64) -> Self {
        self.moves(Role::Opponent, claim(target))
    }

    fn arbitrator_intervenes(self) -> Self {
        self.moves(Role::Arbitrator, Move::Intervention)
    }

    fn arbitrator_rules(self) -> Self {
        self.moves(Role::Arbitrator, Move::Ruling { target: None, verdict: Verdict::GoOn })
    }

    fn arbitrator_closes(self) -> Self {
        self.moves(Role::Arbitrator, Move::Ruling { target: None, verdict: Verdict::Close })
    }

    fn refuses(&self, role: Role, play: Move<Seq>) -> Refusal {
        self.0.judge(role, play).unwrap_err()
    }

    /// The move is refused because the floor is another's.
    fn has_no_floor_for(self, role: Role, play: Move<Seq>) -> Self {
        let (state, kind) = (self.state(), play.kind());
        assert_eq!(self.refuses(role, play), Refusal::NotTheFloor { state, role, kind });
        self
    }

    fn state(&self) -> State {
        self.0.debate.standing.state
    }
}

fn claim(target: u64) -> Move<Seq> {
    Move::Claim { target: Seq(target) }
}

fn appeal(target: u64) -> Move<Seq> {
    Move::Appeal { target: Seq(target) }
}

fn resolution(target: u64) -> Move<Seq> {
    Move::Resolution { target: Seq(target) }
}

fn ruling_upon(target: u64) -> Move<Seq> {
    Move::Ruling { target: Some(Seq(target)), verdict: Verdict::GoOn }
}

#[test]
fn nobody_moves_out_of_turn() {
    Story::opened()
        .has_no_floor_for(Role::Proposer, claim(1))
        .opponent_claims(1)
        .has_no_floor_for(Role::Opponent, claim(1))
        .moves(Role::Proposer, appeal(2))
        .has_no_floor_for(Role::Proposer, claim(2))
        .has_no_floor_for(Role::Opponent, claim(3))
        .arbitrator_closes()
        .has_no_floor_for(Role::Proposer, claim(4))
        .has_no_floor_for(Role::Opponent, claim(4));
}

#[test]
fn work_in_hand_is_parked_while_the_intervention_is_pending() {
    for target in 1..=2 {
        Story::opened().arbitrator_intervenes().parks(Role::Opponent, claim(target));
    }
    for target in 1..=3 {
        for play in [claim(target), appeal(target), resolution(target)] {
            Story::opened().opponent_claims(1).arbitrator_intervenes().parks(Role::Proposer, play);
        }
    }
}

#[test]
fn only_the_interrupted_role_may_park() {
    Story::opened().arbitrator_intervenes().has_no_floor_for(Role::Proposer, claim(1));
    Story::opened()
        .opponent_claims(1)
        .arbitrator_intervenes()
        .has_no_floor_for(Role::Opponent, claim(1));
}

#[test]
fn work_in_hand_is_parked_after_the_ruling_when_its_target_is_older_than_the_intervention() {
    Story::opened().arbitrator_intervenes().arbitrator_rules().parks(Role::Opponent, claim(1));
    for play in [claim(2), appeal(2), resolution(2)] {
        let ruled = Story::opened().opponent_claims(1).arbitrator_intervenes().arbitrator_rules();
        ruled.parks(Role::Proposer, play);
    }
}

#[test]
fn a_proposers_claim_that_answers_the_ruling_is_a_real_move() {
    for target in 3..=4 {
        let story = Story::opened()
            .opponent_claims(1)
            .arbitrator_intervenes()
            .arbitrator_rules()
            .proposer_claims(target);
        assert_eq!(story.state(), State::AwaitingOpponent);
    }
}

#[test]
fn an_opponents_claim_that_answers_the_ruling_is_refused() {
    Story::opened()
        .arbitrator_intervenes()
        .arbitrator_rules()
        .has_no_floor_for(Role::Opponent, claim(2))
        .has_no_floor_for(Role::Opponent, claim(3));
}

#[test]
fn the_right_to_park_lasts_into_the_roles_own_turn() {
    let story = Story::opened()
        .arbitrator_intervenes()
        .arbitrator_rules()
        .proposer_claims(3)
        .parks(Role::Opponent, claim(1));
    assert_eq!(story.state(), State::AwaitingOpponent);
}

#[test]
fn the_right_to_park_lasts_while_an_appeal_awaits_its_ruling() {
    let story = Story::opened()
        .arbitrator_intervenes()
        .arbitrator_rules()
        .moves(Role::Proposer, appeal(3))
        .has_no_floor_for(Role::Opponent, claim(3))
        .parks(Role::Opponent, claim(1));
    assert_eq!(story.0.debate.standing.pending(), Some(Seq(4)));
}

#[test]
fn a_role_parks_once_per_intervention() {
    Story::opened()
        .arbitrator_intervenes()
        .parks(Role::Opponent, claim(1))
        .has_no_floor_for(Role::Opponent, claim(1))
        .arbitrator_rules()
        .has_no_floor_for(Role::Opponent, claim(1));
}

#[test]
fn each_intervention_gives_the_right_to_park_anew() {
    Story::opened()
        .arbitrator_intervenes()
        .parks(Role::Opponent, claim(1))
        .arbitrator_rules()
        .proposer_claims(4)
        .arbitrator_intervenes()
        .parks(Role::Opponent, claim(5))
        .has_no_floor_for(Role::Opponent, claim(5));
}

#[test]
fn after_parking_the_proposer_makes_a_real_move_with_any_target() {
    for target in 1..=5 {
        Story::opened()
            .opponent_claims(1)
            .arbitrator_intervenes()
            .parks(Role::Proposer, claim(2))
            .arbitrator_rules()
            .proposer_claims(target);
    }
}

#[test]
fn a_later_intervention_upon_the_other_role_does_not_end_the_right_to_park() {
    Story::opened()
        .arbitrator_intervenes()
        .arbitrator_rules()
        .arbitrator_intervenes()
        .has_no_floor_for(Role::Opponent, claim(3))
        .parks(Role::Opponent, claim(1))
        .parks(Role::Proposer, claim(3));
}

#[test]
fn a_roles_first_move_that_is_not_parked_ends_its_right_to_park() {
    let story = Story::opened()
        .opponent_claims(1)
        .arbitrator_intervenes()
        .arbitrator_rules()
        .proposer_claims(4)
        .has_no_floor_for(Role::Proposer, claim(2))
        .opponent_claims(5)
        .proposer_claims(2);
    assert_eq!(story.state(), State::AwaitingOpponent);
}

#[test]
fn closing_ends_the_right_to_park() {
    Story::opened()
        .arbitrator_intervenes()
        .arbitrator_closes()
        .has_no_floor_for(Role::Opponent, claim(1));
    Story::opened()
        .arbitrator_intervenes()
        .arbitrator_rules()
        .moves(Role::Proposer, resolution(3))
        .has_no_floor_for(Role::Opponent, claim(1));
}

#[test]
fn a_parked_resolution_closes_nothing() {
    for opened in [Story::opened(), Story::with_resolutions_held()] {
        let story = opened
            .opponent_claims(1)
            .arbitrator_intervenes()
            .arbitrator_rules()
            .parks(Role::Proposer, resolution(2));
        assert_eq!(story.state(), State::AwaitingProposer);
        assert_eq!(story.0.debate.standing.pending(), None);
    }
}

#[test]
fn a_parked_appeal_asks_nothing() {
    let story =
        Story::opened().opponent_claims(1).arbitrator_intervenes().parks(Role::Proposer, appeal(2));
    assert_eq!(story.0.debate.standing.pending(), Some(Seq(3)));
    let story = story.arbitrator_rules();
    assert_eq!(story.0.at(Seq(5)).parent, Some(Seq(3)));
    assert_eq!(story.state(), State::AwaitingProposer);
}

#[test]
fn a_parked_argument_does_not_hide_that_the_proposer_must_align() {
    let standing = |story: Story| story.0.debate.standing;
    let interrupted = Story::opened().opponent_claims(1).arbitrator_intervenes().arbitrator_rules();
    let parked = standing(interrupted.parks(Role::Proposer, claim(2)));
    assert_eq!(parked.action(Role::Proposer), Action::AlignToRuling);
    let interrupted = Story::opened().arbitrator_intervenes().arbitrator_rules();
    let parked = standing(interrupted.parks(Role::Opponent, claim(1)));
    assert_eq!(parked.action(Role::Proposer), Action::AlignToRuling);
}

#[test]
fn a_resolution_and_the_ruling_that_approves_it_are_one_decision() {
    let story = Story::opened().opponent_claims(1);
    assert_eq!(
        story.0.judge(Role::Proposer, resolution(2)).unwrap(),
        [
            Entry { event: Event::Resolution { parked: false }, parent: Some(Seq(2)) },
            Entry {
                event: Event::Ruling { verdict: Verdict::Close, automatic: true },
                parent: Some(Seq(3))
            },
        ]
    );
    assert_eq!(story.moves(Role::Proposer, resolution(2)).state(), State::Closed);
}

#[test]
fn a_resolution_that_is_held_waits_for_the_arbitrator() {
    let held =
        || Story::with_resolutions_held().opponent_claims(1).moves(Role::Proposer, resolution(2));
    assert_eq!(held().state(), State::AwaitingArbitrator);
    assert_eq!(held().0.debate.standing.pending(), Some(Seq(3)));
    assert_eq!(held().arbitrator_closes().state(), State::Closed);
    assert_eq!(held().arbitrator_rules().state(), State::AwaitingProposer);
}

#[test]
fn a_ruling_without_a_target_takes_what_is_pending_as_its_parent() {
    let appealed = Story::opened().opponent_claims(1).moves(Role::Proposer, appeal(2));
    assert_eq!(appealed.arbitrator_rules().0.at(Seq(4)).parent, Some(Seq(3)));
    let intervened = Story::opened().arbitrator_intervenes();
    assert_eq!(intervened.arbitrator_rules().0.at(Seq(3)).parent, Some(Seq(2)));
}

#[test]
fn a_late_ruling_does_not_hit_the_next_dispute() {
    let story = Story::opened()
        .opponent_claims(1)
        .moves(Role::Proposer, appeal(2))
        .arbitrator_rules()
        .arbitrator_intervenes();
    let refusal = story.refuses(Role::Arbitrator, ruling_upon(3));
    let state = State::InterventionPending;
    assert_eq!(refusal, Refusal::AlreadyRuled { state, target: Seq(3), ruling: Seq(4) });
    assert!(refusal.to_string().contains("already ruled on, seq 4"), "{refusal}");
    story.moves(Role::Arbitrator, ruling_upon(5));
}

#[test]
fn a_late_ruling_is_told_so_when_nothing_is_pending_and_when_the_debate_is_closed() {
    let ruled = Story::opened().arbitrator_intervenes().arbitrator_rules();
    assert_eq!(
        ruled.refuses(Role::Arbitrator, ruling_upon(2)),
        Refusal::AlreadyRuled { state: State::AwaitingProposer, target: Seq(2), ruling: Seq(3) }
    );
    let closed = Story::opened().opponent_claims(1).moves(Role::Proposer, resolution(2));
    assert_eq!(
        closed.refuses(Role::Arbitrator, ruling_upon(3)),
        Refusal::AlreadyRuled { state: State::Closed, target: Seq(3), ruling: Seq(4) }
    );
}

#[test]
fn a_ruling_upon_anything_but_what_is_pending_is_refused() {
    let appealed = Story::opened().opponent_claims(1).moves(Role::Proposer, appeal(2));
    for target in 1..=2 {
        let state = State::AwaitingArbitrator;
        assert_eq!(
            appealed.refuses(Role::Arbitrator, ruling_upon(target)),
            Refusal::NotPending { state, target: Seq(target), pending: Seq(3) }
        );
    }
    Story::opened().has_no_floor_for(Role::Arbitrator, ruling_upon(1));
}

#[test]
fn nobody_intervenes_while_a_ruling_is_owed_or_after_the_close() {
    Story::opened()
        .arbitrator_intervenes()
        .has_no_floor_for(Role::Arbitrator, Move::Intervention)
        .arbitrator_closes()
        .has_no_floor_for(Role::Arbitrator, Move::Intervention);
    Story::opened()
        .opponent_claims(1)
        .moves(Role::Proposer, appeal(2))
        .has_no_floor_for(Role::Arbitrator, Move::Intervention);
}

#[test]
fn a_role_that_never_makes_a_move_is_told_so_in_every_state() {
    in_every_debate(|_, record| {
        let state = record.debate.standing.state;
        for (role, play) in [
            (Role::Opponent, appeal(1)),
            (Role::Opponent, resolution(1)),
            (Role::Opponent, Move::Intervention),
            (Role::Opponent, ruling_upon(1)),
            (Role::Proposer, Move::Intervention),
            (Role::Proposer, ruling_upon(1)),
            (Role::Arbitrator, claim(1)),
            (Role::Arbitrator, appeal(1)),
            (Role::Arbitrator, resolution(1)),
        ] {
            let refusal = Refusal::NotTheRole { state, role, kind: play.kind() };
            assert_eq!(record.judge(role, play), Err(refusal));
        }
    });
}

#[test]
fn a_record_that_does_not_begin_with_the_motion_has_no_standing() {
    assert_eq!(Standing::fold([]), None);
    assert_eq!(Standing::fold([Event::Intervention]), None);
    assert_eq!(Standing::fold([Event::Motion]), Some(Standing::opened()));
}

#[test]
fn a_resolution_needs_no_approval_unless_the_debate_says_so() {
    assert_eq!(ResolutionPolicy::default(), ResolutionPolicy::Auto);
}
