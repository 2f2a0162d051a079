//! Proves what must hold in a debate of any length, by random histories of attempted moves: any
//! role, any move, any target. Most attempts are refused, as in life.

use crate::record::Record;
use aw_core::{Available, Event, Kind, Move, ResolutionPolicy, Role, Seq, Standing, Verdict};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Somebody tries something; the target is chosen among the arguments that there are by then.
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

fn history() -> impl Strategy<Value = (ResolutionPolicy, Vec<Attempt>)> {
    (select(ResolutionPolicy::ALL), prop::collection::vec(attempt(), 0..200))
}

fn play(record: &Record, (_, kind, index, names_target, verdict): Attempt) -> Move<Seq> {
    let target = Seq(index.index(record.entries.len()) as u64 + 1);
    match kind {
        Kind::Claim => Move::Claim { target },
        Kind::Appeal => Move::Appeal { target },
        Kind::Resolution => Move::Resolution { target },
        Kind::Intervention => Move::Intervention,
        Kind::Ruling => Move::Ruling { target: names_target.then_some(target), verdict },
        Kind::Motion => unreachable!("no move is a MOTION"),
    }
}

/// Tells the history and checks the record after each move that is accepted.
fn told(
    (policy, attempts): (ResolutionPolicy, Vec<Attempt>),
    mut check: impl FnMut(&Record) -> Result<(), TestCaseError>,
) -> Result<(), TestCaseError> {
    let mut record = Record::opened(policy);
    check(&record)?;
    for attempt in attempts {
        let asked = play(&record, attempt);
        if record.play(attempt.0, asked).is_ok() {
            check(&record)?;
        }
    }
    Ok(())
}

/// What the move is called in `available_actions`.
fn name(play: Move<Seq>) -> Available {
    match play {
        Move::Claim { .. } => Available::Claim,
        Move::Appeal { .. } => Available::Appeal,
        Move::Resolution { .. } => Available::Resolution,
        Move::Intervention => Available::Intervention,
        Move::Ruling { verdict: Verdict::GoOn, .. } => Available::Ruling,
        Move::Ruling { verdict: Verdict::Close, .. } => Available::RulingClose,
    }
}

/// How many histories are told to each test.
fn cases() -> u32 {
    std::env::var("AW_HISTORIES").map_or(1_000, |given| given.parse().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_standing_applied_step_by_step_is_the_fold_of_the_whole_record(history in history()) {
        told(history, |record| {
            let fold = Standing::fold(record.entries.iter().map(|e| e.event));
            prop_assert_eq!(Some(record.debate.standing), fold);
            Ok(())
        })?;
    }

    #[test]
    fn seq_has_no_gaps_and_no_repeats(history in history()) {
        let mut before = Seq(0);
        told(history, |record| {
            let last = record.debate.standing.last;
            let written = record.lines().skip_while(|(seq, _)| *seq <= before);
            // Only a RESOLUTION that closes adds two at once.
            let together = written.filter(|(_, entry)| !entry.event.automatic()).count();
            prop_assert_eq!(together, 1);
            prop_assert_eq!(last, record.newest());
            let counted = record.debate.standing.count;
            prop_assert_eq!(last.0, counted.proposer + counted.opponent + counted.arbitrator);
            before = last;
            Ok(())
        })?;
    }

    #[test]
    fn a_refused_move_changes_nothing((policy, attempts) in history()) {
        let mut record = Record::opened(policy);
        for attempt in attempts {
            let before = record.clone();
            if let Err(refusal) = record.play(attempt.0, play(&before, attempt)) {
                prop_assert_eq!(&record, &before);
                prop_assert_eq!(refusal.state(), before.debate.standing.state);
            }
        }
    }

    #[test]
    fn a_parked_argument_changes_neither_the_state_nor_what_is_pending(history in history()) {
        let mut before = Standing::opened();
        told(history, |record| {
            let now = record.debate.standing;
            if record.at(record.newest()).event.parked() {
                prop_assert_eq!((now.state, now.pending()), (before.state, before.pending()));
                prop_assert_eq!(now.after_ruling(), before.after_ruling());
                prop_assert_eq!(now.newest, before.newest);
            }
            before = now;
            Ok(())
        })?;
    }

    #[test]
    fn available_lists_exactly_the_moves_for_which_some_target_is_accepted(history in history()) {
        told(history, |record| {
            for role in Role::ALL {
                let accepted: Vec<Available> = record
                    .attempts()
                    .into_iter()
                    .filter(|play| record.judge(*role, *play).is_ok())
                    .map(name)
                    .collect();
                let open = record.debate.available(*role);
                for available in Available::ALL {
                    prop_assert_eq!(open.contains(available), accepted.contains(available));
                }
            }
            Ok(())
        })?;
    }

    #[test]
    fn a_wait_is_always_over_for_the_role_that_has_the_floor(history in history()) {
        told(history, |record| {
            let standing = record.debate.standing;
            for role in Role::ALL {
                let may_move = standing.state.floor() == Some(*role);
                prop_assert!(!may_move || standing.ends_wait(*role, false));
                prop_assert!(!may_move || standing.ends_wait(*role, true));
                prop_assert!(!may_move || !record.debate.available(*role).is_empty());
            }
            Ok(())
        })?;
    }

    #[test]
    fn every_argument_is_read_back_from_the_fields_that_the_record_keeps(history in history()) {
        told(history, |record| {
            let event = record.at(record.newest()).event;
            let (kind, role, parked) = (event.kind(), event.role(), event.parked());
            let read = Event::recorded(kind, role, parked, event.close(), event.automatic());
            prop_assert_eq!(read, Some(event));
            Ok(())
        })?;
    }
}

#[test]
fn fields_that_no_argument_has_are_not_read_as_one() {
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
    for kind in Kind::ALL {
        for role in Role::ALL {
            for parked in [false, true] {
                for close in [None, Some(false), Some(true)] {
                    for automatic in [false, true] {
                        let read = Event::recorded(*kind, *role, parked, close, automatic);
                        let fields = (*kind, *role, parked, close, automatic);
                        assert_eq!(read.is_some(), known.contains(&fields), "{fields:?}");
                    }
                }
            }
        }
    }
}
