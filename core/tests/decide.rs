//! One test for each arm of `Debate::decide` and of its refusals, named after the rule, and the rules
//! of parking one by one.

use crate::record::Record;
use aw_core::{Action, Entry, Event, Move, Refusal, ResolutionPolicy, Role, Seq, State, Verdict};

/// A debate that is played move by move.
struct Story(Record);

impl Story {
    fn opened() -> Self {
        Story(Record::opened(ResolutionPolicy::Auto))
    }

    /// A debate whose opponent has answered, so that it is the proposer's move.
    fn answered() -> Self {
        Story::opened().plays(Role::Opponent, claim(1))
    }

    /// The move is accepted and not parked.
    fn plays(mut self, role: Role, play: Move<Seq>) -> Self {
        let seq = self.0.play(role, play).unwrap();
        assert!(!self.0.at(seq).event.parked(), "{play:?} was parked");
        self
    }

    /// The move is accepted and parked, and changes neither the state nor the pending argument.
    fn parks(mut self, role: Role, play: Move<Seq>) -> Self {
        let before = (self.state(), self.pending());
        let seq = self.0.play(role, play).unwrap();
        assert!(self.0.at(seq).event.parked(), "{play:?} was not parked");
        assert_eq!((self.state(), self.pending()), before);
        assert_eq!(self.0.newest(), seq, "it wrote one argument");
        self
    }

    fn intervenes(self) -> Self {
        self.plays(Role::Arbitrator, Move::Intervention)
    }

    fn rules(self) -> Self {
        self.plays(Role::Arbitrator, ruling(None, Verdict::GoOn))
    }

    fn refusal(&self, role: Role, play: Move<Seq>) -> Refusal {
        self.0.judge(role, play).unwrap_err()
    }

    /// The move is refused because the role does not have the floor.
    fn refuses(self, role: Role, play: Move<Seq>) -> Self {
        let (state, kind) = (self.state(), play.kind());
        assert_eq!(self.refusal(role, play), Refusal::NotTheFloor { state, role, kind });
        self
    }

    fn state(&self) -> State {
        self.0.debate.standing.state
    }

    fn pending(&self) -> Option<Seq> {
        self.0.debate.standing.pending()
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

fn ruling(target: Option<u64>, verdict: Verdict) -> Move<Seq> {
    Move::Ruling { target: target.map(Seq), verdict }
}

#[test]
fn a_claim_of_the_interrupted_proposer_is_parked() {
    for target in 1..=3 {
        Story::answered().intervenes().parks(Role::Proposer, claim(target));
    }
}

#[test]
fn a_claim_of_the_interrupted_opponent_is_parked() {
    for target in 1..=2 {
        Story::opened().intervenes().parks(Role::Opponent, claim(target));
    }
}

#[test]
fn an_appeal_of_the_interrupted_proposer_is_parked_and_gets_no_ruling() {
    let story = Story::answered().intervenes().parks(Role::Proposer, appeal(2)).rules();
    assert_eq!(story.0.at(Seq(5)).parent, Some(Seq(3)), "the RULING is on the INTERVENTION");
}

#[test]
fn a_resolution_of_the_interrupted_proposer_is_parked_and_closes_nothing() {
    for policy in ResolutionPolicy::ALL {
        let opened = Story(Record::opened(*policy)).plays(Role::Opponent, claim(1));
        opened.intervenes().rules().parks(Role::Proposer, resolution(2));
    }
}

#[test]
fn the_opponents_claim_gives_the_floor_to_the_proposer() {
    assert_eq!(Story::answered().state(), State::AwaitingProposer);
}

#[test]
fn the_proposers_claim_gives_the_floor_to_the_opponent() {
    let story = Story::answered().plays(Role::Proposer, claim(2));
    assert_eq!(story.state(), State::AwaitingOpponent);
}

#[test]
fn an_appeal_gives_the_floor_to_the_arbitrator() {
    let story = Story::answered().plays(Role::Proposer, appeal(2));
    assert_eq!((story.state(), story.pending()), (State::AwaitingArbitrator, Some(Seq(3))));
}

#[test]
fn a_resolution_closes_the_debate_at_once_unless_the_arbitrator_must_approve_it() {
    let event = Event::Resolution { parked: false };
    let asked = Entry::of(event, Some(Seq(2)));
    let event = Event::Ruling { verdict: Verdict::Close, automatic: true };
    let approved = Entry::of(event, Some(Seq(3)));
    let story = Story::answered();
    assert_eq!(story.0.judge(Role::Proposer, resolution(2)), Ok(vec![asked, approved]));
    assert_eq!(story.plays(Role::Proposer, resolution(2)).state(), State::Closed);

    let held = Story(Record::opened(ResolutionPolicy::Arbitrator));
    let held = held.plays(Role::Opponent, claim(1)).plays(Role::Proposer, resolution(2));
    assert_eq!((held.state(), held.pending()), (State::AwaitingArbitrator, Some(Seq(3))));
}

#[test]
fn an_intervention_stops_the_agent_that_has_the_floor_and_owes_a_ruling() {
    for (story, seq) in [(Story::opened(), 2), (Story::answered(), 3)] {
        let story = story.intervenes();
        assert_eq!((story.state(), story.pending()), (State::InterventionPending, Some(Seq(seq))));
        assert_eq!(story.0.at(Seq(seq)).parent, None);
    }
}

#[test]
fn a_ruling_settles_the_pending_argument() {
    for target in [None, Some(2)] {
        for (verdict, state) in
            [(Verdict::GoOn, State::AwaitingProposer), (Verdict::Close, State::Closed)]
        {
            let story = Story::opened().intervenes();
            let story = story.plays(Role::Arbitrator, ruling(target, verdict));
            assert_eq!((story.state(), story.pending()), (state, None));
            assert_eq!(story.0.at(Seq(3)).parent, Some(Seq(2)));
        }
    }
}

#[test]
fn a_ruling_on_an_argument_that_is_not_pending_is_refused() {
    let story = Story::answered().intervenes();
    for target in 1..=2 {
        let (state, pending) = (State::InterventionPending, Seq(3));
        assert_eq!(
            story.refusal(Role::Arbitrator, ruling(Some(target), Verdict::GoOn)),
            Refusal::NotPending { state, target: Seq(target), pending }
        );
    }
}

#[test]
fn a_late_ruling_is_refused_and_does_not_settle_the_next_dispute() {
    let late = ruling(Some(2), Verdict::GoOn);
    let ruled = Story::opened().intervenes().rules();
    let (target, first) = (Seq(2), Seq(3));
    let refusal = |state| Refusal::AlreadyRuled { state, target, ruling: first };
    assert_eq!(ruled.refusal(Role::Arbitrator, late), refusal(State::AwaitingProposer));
    let disputed = ruled.intervenes();
    let refused = disputed.refusal(Role::Arbitrator, late);
    assert_eq!(refused, refusal(State::InterventionPending));
    assert!(refused.to_string().contains("already ruled on, by argument 3"), "{refused}");
    let closed = disputed.plays(Role::Arbitrator, ruling(Some(4), Verdict::Close));
    assert_eq!(closed.refusal(Role::Arbitrator, late), refusal(State::Closed));
}

#[test]
fn a_move_without_the_floor_is_refused() {
    Story::opened()
        .refuses(Role::Proposer, claim(1))
        .refuses(Role::Arbitrator, ruling(None, Verdict::GoOn))
        .refuses(Role::Arbitrator, ruling(Some(1), Verdict::GoOn))
        .plays(Role::Opponent, claim(1))
        .refuses(Role::Opponent, claim(1))
        .intervenes()
        .refuses(Role::Opponent, claim(1))
        .refuses(Role::Arbitrator, Move::Intervention)
        .plays(Role::Arbitrator, ruling(None, Verdict::Close))
        .refuses(Role::Proposer, claim(4))
        .refuses(Role::Opponent, claim(4))
        .refuses(Role::Arbitrator, Move::Intervention);
}

#[test]
fn a_move_that_the_role_never_makes_is_refused() {
    let story = Story::opened();
    let ruling = ruling(None, Verdict::GoOn);
    for (role, play) in [
        (Role::Opponent, appeal(1)),
        (Role::Opponent, resolution(1)),
        (Role::Opponent, Move::Intervention),
        (Role::Opponent, ruling),
        (Role::Proposer, Move::Intervention),
        (Role::Proposer, ruling),
        (Role::Arbitrator, claim(1)),
        (Role::Arbitrator, appeal(1)),
        (Role::Arbitrator, resolution(1)),
    ] {
        let (state, kind) = (story.state(), play.kind());
        assert_eq!(story.refusal(role, play), Refusal::NotTheRole { state, role, kind });
    }
}

#[test]
fn only_the_interrupted_role_may_park() {
    Story::opened().intervenes().refuses(Role::Proposer, claim(1));
    Story::answered().intervenes().refuses(Role::Opponent, claim(1));
}

#[test]
fn after_the_ruling_only_an_answer_to_something_older_than_the_intervention_is_parked() {
    let opponent = Story::opened().intervenes().rules();
    let opponent = opponent.refuses(Role::Opponent, claim(2)).refuses(Role::Opponent, claim(3));
    opponent.parks(Role::Opponent, claim(1));
    let proposer = || Story::answered().intervenes().rules();
    proposer().parks(Role::Proposer, claim(2));
    for target in 3..=4 {
        assert_eq!(
            proposer().plays(Role::Proposer, claim(target)).state(),
            State::AwaitingOpponent
        );
    }
}

#[test]
fn moves_and_interventions_of_others_do_not_end_the_right_to_park() {
    let ruled = || Story::opened().intervenes().rules();
    ruled().plays(Role::Proposer, claim(3)).parks(Role::Opponent, claim(1));
    let disputed = ruled().intervenes().refuses(Role::Opponent, claim(3));
    disputed.parks(Role::Opponent, claim(1)).parks(Role::Proposer, claim(3));
}

#[test]
fn a_role_parks_once_per_intervention() {
    Story::opened()
        .intervenes()
        .parks(Role::Opponent, claim(1))
        .refuses(Role::Opponent, claim(1))
        .rules()
        .refuses(Role::Opponent, claim(1))
        .plays(Role::Proposer, claim(4))
        .intervenes()
        .parks(Role::Opponent, claim(5))
        .refuses(Role::Opponent, claim(5));
}

#[test]
fn a_roles_own_move_ends_its_right_to_park() {
    let moved = Story::answered().intervenes().rules().plays(Role::Proposer, claim(4));
    moved.plays(Role::Opponent, claim(5)).plays(Role::Proposer, claim(2));
    // A parked argument ends it as well: the next one is a move, whatever it answers.
    let parked = Story::answered().intervenes().parks(Role::Proposer, claim(2)).rules();
    parked.plays(Role::Proposer, claim(1));
}

#[test]
fn closing_ends_the_right_to_park() {
    let closed = Story::opened().intervenes();
    let closed = closed.plays(Role::Arbitrator, ruling(None, Verdict::Close));
    closed.refuses(Role::Opponent, claim(1));
}

#[test]
fn a_parked_argument_does_not_hide_the_ruling_before_it() {
    let parked = Story::answered().intervenes().rules().parks(Role::Proposer, claim(2));
    assert_eq!(parked.0.debate.standing.action(Role::Proposer), Action::AlignToRuling);
}
