//! Waits: when they end, and with which answer.

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
    let waiting = world.waits(debate, Role::Proposer, motion).await;
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
async fn many_equal_waits_get_the_same_answer_and_always_a_new_one() {
    let world = World::new();
    let (debate, mut newest) = world.opens("Keep one file?").await;
    for round in 1..=5 {
        let waiting: Vec<_> =
            (0..60).map(|_| world.begins_to_wait(debate, Role::Proposer, newest)).collect();
        world.until_listened_to(1).await;
        let claim = world.claims(debate, Role::Opponent, newest).await;
        for waiting in waiting {
            let Poll::News(news) = waiting.await.unwrap().unwrap() else {
                panic!("a wait was not woken")
            };
            let read: Vec<ArgumentId> = news.arguments.iter().map(|it| it.id).collect();
            assert_eq!(read, [claim], "round {round}");
        }
        world.until_listened_to(0).await;
        newest = world.claims(debate, Role::Proposer, claim).await;
    }
}

#[tokio::test]
async fn a_wait_that_times_out_returns_the_state() {
    let world = World::new();
    let (debate, motion) = world.opens("Keep one file?").await;
    for patience in [Duration::ZERO, Duration::from_millis(5)] {
        let nothing = world.engine.wait(debate, Role::Proposer, Some(motion), patience).await;
        let Poll::Nothing { debate: of, state, seen, action, since } = nothing.unwrap() else {
            panic!("there is news")
        };
        assert_eq!((of, state, seen), (debate, State::AwaitingOpponent, 1));
        assert_eq!((action, since), (Action::WaitForOpponent, Time(BEGINNING)));
    }
    let Poll::Nothing { seen, .. } = world.polls(debate, Role::Proposer, None).await else {
        panic!("there is news")
    };
    assert_eq!(seen, 0);
}

#[tokio::test]
async fn a_held_wait_is_woken_when_the_debate_is_deleted() {
    let world = World::new();
    let (debate, motion) = world.opens("Never mind").await;
    let waiting = world.waits(debate, Role::Proposer, motion).await;
    let deleted = world.at(9);
    world.engine.delete(debate).await.unwrap();
    let failure = timeout(CEILING, waiting).await.unwrap().unwrap().unwrap_err();
    let Failure::DebateNotFound { id, deleted_at } = failure else { panic!("{failure}") };
    assert_eq!((id, deleted_at), (debate, Some(deleted)));
}

#[tokio::test]
async fn a_wait_for_an_unknown_argument_or_debate_is_refused() {
    let world = World::new();
    let (debate, _) = world.opens("Keep one file?").await;
    let (_, elsewhere) = world.opens("Another").await;
    for wrong in [elsewhere, Uuid::from_u128(1).into()] {
        let failure = world.engine.wait(debate, Role::Opponent, Some(wrong), Duration::ZERO).await;
        assert!(
            matches!(failure, Err(Failure::ArgumentNotFound { id }) if id == wrong),
            "{failure:?}"
        );
    }
    let nowhere = Uuid::from_u128(2).into();
    let failure = world.engine.wait(nowhere, Role::Opponent, None, CEILING).await;
    assert!(
        matches!(failure, Err(Failure::DebateNotFound { deleted_at: None, .. })),
        "{failure:?}"
    );
}

#[tokio::test]
async fn a_role_with_the_floor_never_waits() {
    let world = World::new();
    let (debate, motion) = world.opens("Keep one file?").await;
    let claim = world.claims(debate, Role::Opponent, motion).await;
    // The proposer has seen everything, and it is its move.
    let news = world.news(debate, Role::Proposer, Some(claim)).await;
    assert_eq!((news.arguments.len(), news.omitted), (0, 0));
    assert_eq!((news.argument.id, news.waits_on), (claim, claim));
}

#[tokio::test]
async fn a_wait_without_an_id_returns_everything_after_the_roles_newest_unparked_argument() {
    let world = World::new();
    let (debate, motion) = world.opens("Keep one file?").await;
    let first = world.news(debate, Role::Opponent, None).await;
    assert_eq!(ids(&first.arguments), [motion], "it has written nothing, so everything is unseen");

    let claim = world.claims(debate, Role::Opponent, motion).await;
    let stop = world.plays(debate, Role::Arbitrator, Move::Intervention).await.argument.id;
    // The proposer's text is parked, so it has not seen the INTERVENTION.
    world.claims(debate, Role::Proposer, claim).await;
    let ruling = world.plays(debate, Role::Arbitrator, GO_ON).await.argument.id;
    let news = world.news(debate, Role::Proposer, None).await;
    assert_eq!(ids(&news.arguments), [claim, stop, ruling]);
    assert_eq!(news.action, Action::AlignToRuling);
    let parked = world.news(debate, Role::Opponent, None).await.arguments;
    assert_eq!(parked.len(), 3, "the opponent reads the parked argument too: {parked:?}");
}

#[tokio::test]
async fn a_role_with_only_parked_arguments_has_seen_nothing() {
    let world = World::new();
    let (debate, motion) = world.opens("Keep one file?").await;
    let stop = world.plays(debate, Role::Arbitrator, Move::Intervention).await.argument.id;
    world.claims(debate, Role::Opponent, motion).await;
    let ruling = world.plays(debate, Role::Arbitrator, GO_ON).await.argument.id;
    let news = world.news(debate, Role::Opponent, None).await;
    assert_eq!((ids(&news.arguments), news.omitted), (vec![motion, stop, ruling], 0));
}

#[tokio::test]
async fn a_wait_shows_the_newest_20_unseen_arguments_and_every_ruling() {
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
async fn the_arbitrators_wait_ends_when_a_ruling_is_owed() {
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
    // 24 arguments of others; its own are not among them.
    assert_eq!((news.arguments.len(), news.omitted), (20, 4));
    assert!(news.arguments.iter().all(|argument| argument.event.role() != Role::Arbitrator));
    assert_eq!(news.argument.event.kind(), Kind::Appeal);
    let none = world.news(debate, Role::Arbitrator, None).await;
    assert_eq!((none.arguments.len(), none.omitted), (20, 3), "after its own ruling");
}

#[tokio::test]
async fn presence_shows_who_waits_and_when_a_role_was_last_seen() {
    let world = World::new();
    let (debate, motion) = world.opens("Keep one file?").await;
    let seen = world.engine.presence(debate);
    assert_eq!((seen.proposer.waiting, seen.proposer.last_seen), (false, Some(Time(BEGINNING))));
    assert_eq!(seen.opponent.last_seen, None);

    let mut changes = world.engine.listen_for_presence(debate);
    let at = world.at(5);
    let waiting = world.begins_to_wait(debate, Role::Proposer, motion);
    timeout(CEILING, changes.next()).await.expect("the wait was not announced");
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
async fn followers_and_listeners_get_every_write_but_no_retry() {
    let world = World::new();
    let mut following = world.engine.follow();
    let (debate, motion) = world.opens("Keep one file?").await;
    let changes = timeout(CEILING, following.next()).await.unwrap().unwrap();
    assert_eq!((changes.len(), changes[0].debate), (1, debate));
    let mut listening = world.engine.listen(debate);
    let request = crate::world::moving(debate, Role::Opponent, Move::Claim { target: motion });
    for replayed in [false, true] {
        let receipt = world.engine.execute(request.clone()).await.unwrap();
        assert_eq!(receipt.replayed, replayed);
        let heard = timeout(Duration::from_millis(20), listening.next()).await.is_ok();
        assert_eq!(heard, !replayed);
    }
    let changes = timeout(CEILING, following.next()).await.unwrap().unwrap();
    assert_eq!((changes.len(), changes[0].change), (1, aw_record::ChangeKind::Written));
}

fn ids(arguments: &[aw_core::Argument]) -> Vec<ArgumentId> {
    arguments.iter().map(|argument| argument.id).collect()
}
