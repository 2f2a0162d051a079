//! Waiting: who is answered when, and with what.

use std::time::Duration;

use aw_core::{Action, ArgumentId, Available, Kind, Move, Role, Seq, State, Time};
use aw_record::{Failure, Poll};
use tokio::time::timeout;
use uuid::Uuid;

use crate::world::{BEGINNING, CEILING, GO_ON, World};

#[tokio::test]
async fn a_waiting_proposer_is_woken_by_the_opponents_claim() {
    let world = World::new();
    let (debate, motion) = world.opens("Keep one file?").await;
    let engine = world.engine.clone();
    let waiting =
        tokio::spawn(
            async move { engine.wait(debate, Role::Proposer, Some(motion), CEILING).await },
        );
    world.until_listened_to(1).await;
    let claim = world.plays(debate, Role::Opponent, Move::Claim { target: motion }).await.argument;

    let Poll::News(news) = waiting.await.unwrap().unwrap() else { panic!("it was not woken") };
    assert_eq!((news.action, news.state), (Action::Respond, State::AwaitingProposer));
    assert_eq!(news.arguments, std::slice::from_ref(&claim));
    assert_eq!(news.argument, claim);
    assert_eq!((news.waits_on, news.pending, news.omitted), (claim.id, None, 0));
    let open = [Available::Claim, Available::Appeal, Available::Resolution];
    assert_eq!(news.available, open);
    world.until_listened_to(0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_who_ask_alike_are_told_alike_and_each_time_what_is_new() {
    let world = World::new();
    let (debate, mut newest) = world.opens("Keep one file?").await;
    for round in 1..=5 {
        let waiting: Vec<_> = (0..60)
            .map(|_| {
                let engine = world.engine.clone();
                let role = Role::Proposer;
                tokio::spawn(async move { engine.wait(debate, role, Some(newest), CEILING).await })
            })
            .collect();
        world.until_listened_to(1).await;
        let claim = world.claims(debate, Role::Opponent, newest).await;
        for waiting in waiting {
            let Poll::News(news) = waiting.await.unwrap().unwrap() else { panic!("it slept") };
            let told: Vec<ArgumentId> = news.arguments.iter().map(|it| it.id).collect();
            assert_eq!(told, [claim], "round {round}");
        }
        world.until_listened_to(0).await;
        newest = world.claims(debate, Role::Proposer, claim).await;
    }
}

#[tokio::test]
async fn a_wait_whose_patience_is_over_says_where_the_debate_stands() {
    let world = World::new();
    let (debate, motion) = world.opens("Keep one file?").await;
    for patience in [Duration::ZERO, Duration::from_millis(5)] {
        let nothing = world.engine.wait(debate, Role::Proposer, Some(motion), patience).await;
        let Poll::Nothing { debate: of, state, seen, action, since } = nothing.unwrap() else {
            panic!("there is news of nothing")
        };
        assert_eq!((of, state, seen), (debate, State::AwaitingOpponent, 1));
        assert_eq!((action, since), (Action::WaitForOpponent, Time(BEGINNING)));
    }
    let Poll::Nothing { seen, .. } = world.polls(debate, Role::Proposer, None).await else {
        panic!("there is news of nothing")
    };
    assert_eq!(seen, 0);
}

#[tokio::test]
async fn a_held_wait_is_woken_when_the_debate_is_deleted() {
    let world = World::new();
    let (debate, motion) = world.opens("Never mind").await;
    let engine = world.engine.clone();
    let waiting =
        tokio::spawn(
            async move { engine.wait(debate, Role::Proposer, Some(motion), CEILING).await },
        );
    world.until_listened_to(1).await;
    let deleted = world.at(9);
    world.engine.delete(debate).await.unwrap();
    let told = timeout(CEILING, waiting).await.unwrap().unwrap().unwrap_err();
    let Failure::DebateNotFound { id, deleted_at } = told else { panic!("{told}") };
    assert_eq!((id, deleted_at), (debate, Some(deleted)));
}

#[tokio::test]
async fn a_wait_names_an_argument_of_the_debate() {
    let world = World::new();
    let (debate, _) = world.opens("Keep one file?").await;
    let (_, elsewhere) = world.opens("Another").await;
    for wrong in [elsewhere, Uuid::from_u128(1).into()] {
        let told = world.engine.wait(debate, Role::Opponent, Some(wrong), Duration::ZERO).await;
        assert!(matches!(told, Err(Failure::ArgumentNotFound { id }) if id == wrong), "{told:?}");
    }
    let nowhere = Uuid::from_u128(2).into();
    let told = world.engine.wait(nowhere, Role::Opponent, None, CEILING).await;
    assert!(matches!(told, Err(Failure::DebateNotFound { deleted_at: None, .. })), "{told:?}");
}

#[tokio::test]
async fn whose_move_it_is_never_waits_and_sees_what_it_has_to_answer() {
    let world = World::new();
    let (debate, motion) = world.opens("Keep one file?").await;
    let claim = world.claims(debate, Role::Opponent, motion).await;
    // The proposer has seen it all, and it is its move.
    let news = world.news(debate, Role::Proposer, Some(claim)).await;
    assert_eq!((news.arguments.len(), news.omitted), (0, 0));
    assert_eq!((news.argument.id, news.waits_on), (claim, claim));
}

#[tokio::test]
async fn without_an_id_unseen_is_what_others_wrote_after_the_roles_newest_that_is_not_parked() {
    let world = World::new();
    let (debate, motion) = world.opens("Keep one file?").await;
    let first = world.news(debate, Role::Opponent, None).await;
    assert_eq!(ids(&first.arguments), [motion], "it has written nothing, so all is unseen");

    let claim = world.claims(debate, Role::Opponent, motion).await;
    let stop = world.plays(debate, Role::Arbitrator, Move::Intervention).await.argument.id;
    // The proposer was writing: its text is parked, and it has still not seen the INTERVENTION.
    world.claims(debate, Role::Proposer, claim).await;
    let ruling = world.plays(debate, Role::Arbitrator, GO_ON).await.argument.id;
    let news = world.news(debate, Role::Proposer, None).await;
    assert_eq!(ids(&news.arguments), [claim, stop, ruling]);
    assert_eq!(news.action, Action::AlignToRuling);
    let parked = world.news(debate, Role::Opponent, None).await.arguments;
    assert_eq!(parked.len(), 3, "the opponent reads the parked one too: {parked:?}");
}

#[tokio::test]
async fn who_has_only_parked_has_seen_nothing_yet() {
    let world = World::new();
    let (debate, motion) = world.opens("Keep one file?").await;
    let stop = world.plays(debate, Role::Arbitrator, Move::Intervention).await.argument.id;
    world.claims(debate, Role::Opponent, motion).await;
    let ruling = world.plays(debate, Role::Arbitrator, GO_ON).await.argument.id;
    let news = world.news(debate, Role::Opponent, None).await;
    assert_eq!((ids(&news.arguments), news.omitted), (vec![motion, stop, ruling], 0));
}

#[tokio::test]
async fn of_many_unseen_the_newest_20_are_shown_and_every_ruling() {
    let world = World::new();
    let (debate, motion) = world.opens("Keep one file?").await;
    world.claims(debate, Role::Opponent, motion).await;
    world.plays(debate, Role::Arbitrator, Move::Intervention).await;
    let ruling = world.plays(debate, Role::Arbitrator, GO_ON).await.argument.id;
    let claim = world.claims(debate, Role::Proposer, ruling).await;
    let last = world.exchanges(debate, claim, 43).await;

    // Of the opponent's 22 after that ruling, 2 are omitted, and so are the claim and the
    // INTERVENTION before it.
    let news = world.news(debate, Role::Proposer, Some(motion)).await;
    assert_eq!(news.arguments.len(), 21);
    assert_eq!(news.omitted, 4);
    assert_eq!(news.arguments[0].id, ruling);
    let places: Vec<Seq> = news.arguments.iter().map(|argument| argument.seq).collect();
    assert!(places.is_sorted());
    assert!(news.arguments[1..].iter().all(|argument| argument.event.role() == Role::Opponent));
    assert_eq!((news.argument.id, news.waits_on), (last, last));

    // Exactly 20 are shown whole, without older rulings, which were seen.
    let after = news.arguments[1].seq.0 - 1;
    let seen = world.engine.stretch(debate, after - 1, 1).await.unwrap().arguments[0].id;
    let news = world.news(debate, Role::Proposer, Some(seen)).await;
    assert_eq!((news.arguments.len(), news.omitted), (20, 0));
    assert_eq!(news.arguments[0].seq.0, after + 1);
}

#[tokio::test]
async fn the_arbitrator_is_called_only_when_a_ruling_is_owed_and_is_then_given_all_unseen() {
    let world = World::new();
    let (debate, motion) = world.opens("Keep one file?").await;
    world.claims(debate, Role::Opponent, motion).await;
    world.plays(debate, Role::Arbitrator, Move::Intervention).await;
    let ruling = world.plays(debate, Role::Arbitrator, GO_ON).await.argument.id;
    let claim = world.claims(debate, Role::Proposer, ruling).await;
    let last = world.exchanges(debate, claim, 21).await;
    let held = world.polls(debate, Role::Arbitrator, Some(motion)).await;
    assert!(matches!(held, Poll::Nothing { action: Action::Wait, .. }), "{held:?}");

    let appeal = world.plays(debate, Role::Proposer, Move::Appeal { target: last }).await.argument;
    let news = world.news(debate, Role::Arbitrator, Some(motion)).await;
    assert_eq!((news.action, news.pending), (Action::Rule, Some(appeal.id)));
    // 24 of others; its own are not among them.
    assert_eq!((news.arguments.len(), news.omitted), (20, 4));
    assert!(news.arguments.iter().all(|argument| argument.event.role() != Role::Arbitrator));
    assert_eq!(news.argument.event.kind(), Kind::Appeal);
    let none = world.news(debate, Role::Arbitrator, None).await;
    assert_eq!((none.arguments.len(), none.omitted), (20, 3), "after its own ruling");
}

#[tokio::test]
async fn who_waits_is_seen_to_wait_and_who_has_written_was_seen() {
    let world = World::new();
    let (debate, motion) = world.opens("Keep one file?").await;
    let seen = world.engine.presence(debate);
    assert_eq!((seen.proposer.waiting, seen.proposer.last_seen), (false, Some(Time(BEGINNING))));
    assert_eq!(seen.opponent.last_seen, None);

    let mut comes_and_goes = world.engine.listen_for_presence(debate);
    let at = world.at(5);
    let engine = world.engine.clone();
    let waiting =
        tokio::spawn(
            async move { engine.wait(debate, Role::Proposer, Some(motion), CEILING).await },
        );
    timeout(CEILING, comes_and_goes.next()).await.expect("nobody was told that it waits");
    let seen = world.engine.presence(debate).proposer;
    assert_eq!((seen.waiting, seen.last_seen), (true, Some(at)));

    world.at(6);
    world.claims(debate, Role::Opponent, motion).await;
    assert!(matches!(waiting.await.unwrap(), Ok(Poll::News(_))));
    assert_eq!(world.engine.presence(debate).opponent.last_seen, Some(Time(BEGINNING + 6)));
    world.engine.delete(debate).await.unwrap();
    assert_eq!(world.engine.presence(debate).proposer.last_seen, None);
}

#[tokio::test]
async fn everything_that_happens_is_told_to_who_follows_and_a_retry_is_not() {
    let world = World::new();
    let mut following = world.engine.follow();
    let (debate, motion) = world.opens("Keep one file?").await;
    let told = timeout(CEILING, following.next()).await.unwrap().unwrap();
    assert_eq!((told.len(), told[0].debate), (1, debate));
    let mut listening = world.engine.listen(debate);
    let request = crate::world::moving(debate, Role::Opponent, Move::Claim { target: motion });
    for replayed in [false, true] {
        let receipt = world.engine.execute(request.clone()).await.unwrap();
        assert_eq!(receipt.replayed, replayed);
        let heard = timeout(Duration::from_millis(20), listening.next()).await.is_ok();
        assert_eq!(heard, !replayed);
    }
    let told = timeout(CEILING, following.next()).await.unwrap().unwrap();
    assert_eq!((told.len(), told[0].change), (1, aw_record::ChangeKind::Written));
}

fn ids(arguments: &[aw_core::Argument]) -> Vec<ArgumentId> {
    arguments.iter().map(|argument| argument.id).collect()
}
