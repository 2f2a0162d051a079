//! Writes: what a move records, how a retry is answered, and what is refused.

use aw_core::{
    AUTOMATIC_RULING, Action, Content, DebateType, Event, Kind, Move, Refusal, ResolutionPolicy,
    Role, Seq, State, Time, Title, Verdict, Via,
};
use aw_record::{Ask, Failure, Filter, LastArgument, Request};
use uuid::Uuid;

use crate::world::{BEGINNING, CLOSE, GO_ON, World, moving, opening, refused, saying};

#[tokio::test]
async fn an_argument_is_recorded_as_it_was_sent_with_its_parent() {
    let world = World::new();
    let (debate, motion) = world.opens("Keep one file?").await;
    let at = world.at(40);
    let mut request = saying(debate, Role::Opponent, Move::Claim { target: motion }, "Two.");
    request.seat = Some(aw_core::SeatName::recorded("An's Codex".to_owned()));
    let receipt = world.engine.execute(request.clone()).await.unwrap();
    let claim = receipt.argument;
    assert_eq!((claim.debate, claim.seq, claim.parent), (debate, Seq(2), Some(motion)));
    assert_eq!(claim.event, Event::OpponentClaim { parked: false });
    assert_eq!((claim.content.as_str(), claim.author), ("Two.", request.author));
    assert_eq!((claim.via, claim.seat, claim.at), (Via::Mcp, request.seat, at));
    assert_eq!(claim.request, request.id);
    assert_eq!((receipt.action, receipt.waits_on), (Action::WaitForProposer, claim.id));
    assert_eq!((receipt.replayed, receipt.missed.len()), (false, 0));
    assert_eq!(receipt.debate.state(), State::AwaitingProposer);
    assert_eq!((receipt.debate.created_at, receipt.debate.updated_at), (Time(BEGINNING), at));
    let read = world.engine.stretch(debate, 1, 100).await.unwrap().arguments;
    assert_eq!(read.len(), 1);
    assert_eq!((read[0].id, read[0].hash), (claim.id, claim.hash));
    assert_eq!(read[0].content.as_str(), "Two.");
}

#[tokio::test]
async fn time_never_runs_backwards_within_a_debate() {
    let world = World::new();
    world.at(100);
    let (debate, motion) = world.opens("Keep one file?").await;
    world.at(50);
    let claim = world.plays(debate, Role::Opponent, Move::Claim { target: motion }).await;
    assert_eq!(claim.argument.at, Time(BEGINNING + 100));
    assert_eq!(claim.debate.updated_at, Time(BEGINNING + 100));
}

#[tokio::test]
async fn a_resolution_and_the_ruling_that_approves_it_are_written_together() {
    let world = World::new();
    let (debate, motion) = world.opens("Keep one file?").await;
    let claim = world.claims(debate, Role::Opponent, motion).await;
    let at = world.at(3);
    let request = moving(debate, Role::Proposer, Move::Resolution { target: claim });
    let receipt = world.engine.execute(request.clone()).await.unwrap();
    assert_eq!(receipt.argument.event, Event::Resolution { parked: false });
    assert_eq!((receipt.action, receipt.debate.state()), (Action::DebateClosed, State::Closed));
    let all = world.engine.stretch(debate, 0, 9).await.unwrap().arguments;
    let [.., resolution, ruling] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!((resolution.id, resolution.parent), (receipt.argument.id, Some(claim)));
    assert_eq!(ruling.event, Event::Ruling { verdict: Verdict::Close, automatic: true });
    assert_eq!((ruling.seq, ruling.parent), (Seq(4), Some(resolution.id)));
    assert_eq!((ruling.content.as_str(), &ruling.author), (AUTOMATIC_RULING, &None));
    assert_eq!((ruling.at, ruling.request == request.id), (at, false));
}

#[tokio::test]
async fn the_retry_of_an_accepted_write_succeeds_in_any_later_state() {
    let world = World::new();
    let (debate, motion) = world.opens("Keep one file?").await;
    let request = moving(debate, Role::Opponent, Move::Claim { target: motion });
    let first = world.engine.execute(request.clone()).await.unwrap();
    let target = first.argument.id;
    world.plays(debate, Role::Proposer, Move::Resolution { target }).await;
    let again = world.engine.execute(request).await.unwrap();
    assert!(again.replayed);
    assert_eq!(again.argument, first.argument);
    // The first argument, with the debate as it is now.
    assert_eq!((again.action, again.debate.state()), (Action::DebateClosed, State::Closed));
    assert_eq!(again.debate.debate.standing.last, Seq(4));
    assert_eq!(again.waits_on, first.argument.id, "so that a wait on it misses nothing");
}

#[tokio::test]
async fn a_request_id_with_another_request_is_refused() {
    let world = World::new();
    let (debate, motion) = world.opens("Keep one file?").await;
    let first = world.claims(debate, Role::Opponent, motion).await;
    let request = saying(debate, Role::Proposer, Move::Claim { target: first }, "So be it.");
    world.engine.execute(request.clone()).await.unwrap();
    let claim = Move::Claim { target: first };
    for (role, play, words) in [
        (Role::Proposer, claim, "So be it?"),
        (Role::Opponent, claim, "So be it."),
        (Role::Proposer, Move::Claim { target: motion }, "So be it."),
        (Role::Proposer, Move::Appeal { target: first }, "So be it."),
    ] {
        let content = Content::recorded(words.to_owned());
        let other = Request { ask: Ask::Play { role, play, content }, ..request.clone() };
        let failure = refused(world.engine.execute(other).await);
        assert!(matches!(failure, Failure::RequestIdReused), "{role} {play:?} {words}: {failure}");
    }
}

#[tokio::test]
async fn a_retried_ruling_may_omit_its_target_but_not_change_it_or_its_verdict() {
    let world = World::new();
    let (debate, motion) = world.opens("Keep one file?").await;
    let stop = world.plays(debate, Role::Arbitrator, Move::Intervention).await.argument.id;
    let request = moving(debate, Role::Arbitrator, GO_ON);
    let ruling = world.engine.execute(request.clone()).await.unwrap();
    assert_eq!(ruling.argument.parent, Some(stop), "the pending argument is its parent");
    let content = ruling.argument.content.clone();
    let upon = |target, verdict| Request {
        ask: Ask::Play {
            role: Role::Arbitrator,
            play: Move::Ruling { target, verdict },
            content: content.clone(),
        },
        ..request.clone()
    };
    for same in [upon(None, Verdict::GoOn), upon(Some(stop), Verdict::GoOn)] {
        assert!(world.engine.execute(same).await.unwrap().replayed);
    }
    for other in [upon(Some(motion), Verdict::GoOn), upon(None, Verdict::Close)] {
        let failure = refused(world.engine.execute(other).await);
        assert!(matches!(failure, Failure::RequestIdReused), "{failure}");
    }
}

#[tokio::test]
async fn opening_a_debate_again_is_a_retry_or_refused() {
    let world = World::new();
    let debate = Uuid::now_v7().into();
    let request = opening(debate, "Keep one file?");
    let first = world.engine.execute(request.clone()).await.unwrap();
    assert_eq!(first.action, Action::WaitForOpponent);
    let again = world.engine.execute(request.clone()).await.unwrap();
    assert_eq!((again.replayed, again.argument), (true, first.argument));

    let Ask::Open { title, debate_type, texts, policy, points, motion, .. } = request.ask.clone()
    else {
        panic!("it opens a debate")
    };
    let with = |title: &Title, debate_type: &DebateType, policy, motion: &Content| Request {
        ask: Ask::Open {
            points,
            origin: None,
            title: title.clone(),
            debate_type: debate_type.clone(),
            texts: texts.clone(),
            policy,
            motion: motion.clone(),
        },
        ..request.clone()
    };
    let other = "other".to_owned();
    for changed in [
        with(&Title::recorded(other.clone()), &debate_type, policy, &motion),
        with(&title, &DebateType::recorded(other.clone()), policy, &motion),
        with(&title, &debate_type, ResolutionPolicy::Arbitrator, &motion),
        with(&title, &debate_type, policy, &Content::recorded(other)),
    ] {
        let failure = refused(world.engine.execute(changed).await);
        assert!(matches!(failure, Failure::RequestIdReused), "{failure}");
    }
    let taken = Request { id: Uuid::now_v7().into(), ..request.clone() };
    let failure = refused(world.engine.execute(taken).await);
    assert!(
        matches!(failure, Failure::DebateIdTaken { id, deleted_at: None } if id == debate),
        "{failure}"
    );
    world.engine.delete(debate).await.unwrap();
    let failure = refused(world.engine.execute(request).await);
    let is_taken = matches!(failure, Failure::DebateIdTaken { deleted_at: Some(_), .. });
    assert!(is_taken, "its id stays taken: {failure}");
}

#[tokio::test]
async fn a_target_must_be_an_argument_of_the_same_debate() {
    let world = World::new();
    let (debate, _) = world.opens("Keep one file?").await;
    let (_, elsewhere) = world.opens("Another").await;
    let request = moving(debate, Role::Opponent, Move::Claim { target: elsewhere });
    let failure = refused(world.engine.execute(request).await);
    assert!(matches!(failure, Failure::ArgumentNotFound { id } if id == elsewhere), "{failure}");
}

#[tokio::test]
async fn a_refusal_names_the_newest_argument() {
    let world = World::new();
    let (debate, motion) = world.opens("Keep one file?").await;
    let at = world.at(8);
    let winner = world.plays(debate, Role::Opponent, Move::Claim { target: motion }).await.argument;
    world.at(9);
    let loser = moving(debate, Role::Opponent, Move::Claim { target: motion });
    let failure = refused(world.engine.execute(loser).await);
    let Failure::Refused { debate: of, role, refusal, last } = failure else { panic!("{failure}") };
    assert_eq!((of, role), (debate, Role::Opponent));
    let state = State::AwaitingProposer;
    assert_eq!(*refusal, Refusal::NotTheFloor { state, role, kind: Kind::Claim });
    let first = LastArgument {
        id: winner.id,
        seq: Seq(2),
        role: Role::Opponent,
        kind: Kind::Claim,
        parked: false,
        author: winner.author,
        at,
    };
    assert_eq!(last, first);
}

#[tokio::test]
async fn the_refusal_of_a_late_ruling_names_the_first_ruling() {
    let world = World::new();
    let (debate, motion) = world.opens("Keep one file?").await;
    let claim = world.claims(debate, Role::Opponent, motion).await;
    let appeal = world.plays(debate, Role::Proposer, Move::Appeal { target: claim }).await.argument;
    world.plays(debate, Role::Arbitrator, GO_ON).await;
    let late = |target| Move::Ruling { target: Some(target), verdict: Verdict::GoOn };
    let failure = |outcome| match refused(outcome) {
        Failure::Refused { refusal, .. } => *refusal,
        other => panic!("{other}"),
    };
    let state = State::AwaitingProposer;
    let request = moving(debate, Role::Arbitrator, late(appeal.id));
    let already = Refusal::AlreadyRuled { state, target: appeal.seq, ruling: Seq(4) };
    assert_eq!(failure(world.engine.execute(request).await), already);
    // A claim asks for no ruling, so none has settled it.
    let request = moving(debate, Role::Arbitrator, late(claim));
    let nobody = Refusal::NotTheFloor { state, role: Role::Arbitrator, kind: Kind::Ruling };
    assert_eq!(failure(world.engine.execute(request).await), nobody);
}

#[tokio::test]
async fn a_parked_argument_is_recorded_and_its_receipt_lists_the_missed_ones() {
    let world = World::new();
    let (debate, motion) = world.opens("Keep one file?").await;
    let claim = world.claims(debate, Role::Opponent, motion).await;
    let stop = world.plays(debate, Role::Arbitrator, Move::Intervention).await.argument;
    let request = moving(debate, Role::Proposer, Move::Appeal { target: claim });
    for replayed in [false, true] {
        let receipt = world.engine.execute(request.clone()).await.unwrap();
        assert_eq!(receipt.argument.event, Event::Appeal { parked: true });
        assert_eq!(receipt.debate.state(), State::InterventionPending);
        assert_eq!((receipt.waits_on, receipt.replayed), (stop.id, replayed));
        assert_eq!(receipt.missed, std::slice::from_ref(&stop));
        assert_eq!(receipt.action, Action::WaitForRuling);
    }
    let parked = world.engine.listed(debate).await.unwrap().last;
    assert_eq!((parked.seq, parked.parked, parked.kind), (Seq(4), true, Kind::Appeal));

    // A parked APPEAL asks for no ruling, so none has settled it.
    let ruling = world.plays(debate, Role::Arbitrator, GO_ON).await.argument;
    let play = Move::Ruling { target: Some(parked.id), verdict: Verdict::GoOn };
    let failure = refused(world.engine.execute(moving(debate, Role::Arbitrator, play)).await);
    assert!(
        matches!(&failure, Failure::Refused { refusal, .. } if matches!(**refusal, Refusal::NotTheFloor { .. })),
        "{failure}"
    );
    // `missed` holds neither the role's own arguments nor later ones.
    let target = stop.id;
    let answer = world.plays(debate, Role::Proposer, Move::Claim { target }).await;
    assert_eq!(answer.missed, [ruling]);
}

#[tokio::test]
async fn the_counts_follow_a_debate_through_its_states() {
    let world = World::new();
    let (debate, motion) = world.opens("Keep one file?").await;
    world.opens("Another").await;
    let all = async || {
        let mut totals = Vec::new();
        for state in State::ALL.iter().copied() {
            let filter = Filter { state: Some(state), limit: 9, ..Filter::default() };
            totals.push(world.engine.list(&filter).await.unwrap().total);
        }
        totals
    };
    assert_eq!(all().await, [2, 0, 0, 0, 0]);
    let claim = world.claims(debate, Role::Opponent, motion).await;
    assert_eq!(all().await, [1, 1, 0, 0, 0]);
    world.plays(debate, Role::Proposer, Move::Appeal { target: claim }).await;
    assert_eq!(all().await, [1, 0, 1, 0, 0]);
    world.plays(debate, Role::Arbitrator, GO_ON).await;
    world.plays(debate, Role::Arbitrator, Move::Intervention).await;
    assert_eq!(all().await, [1, 0, 0, 1, 0]);
    world.plays(debate, Role::Arbitrator, CLOSE).await;
    assert_eq!(all().await, [1, 0, 0, 0, 1]);
    world.engine.delete(debate).await.unwrap();
    assert_eq!(all().await, [1, 0, 0, 0, 0]);
    assert!(world.engine.verify(debate).await.is_err());
}

#[tokio::test]
async fn the_limits_on_debates_and_documents_are_kept() {
    let world = World::with(|options| {
        options.most_debates = 2;
        options.most_documents = 1;
    });
    let (first, _) = world.opens("One").await;
    let (_, motion) = world.opens("Two").await;
    let failure = refused(world.engine.execute(opening(Uuid::now_v7().into(), "Three")).await);
    assert!(matches!(failure, Failure::NoRoom(_)), "{failure}");
    world.engine.delete(first).await.unwrap();
    world.opens("Three").await;
    assert!(motion.uuid().get_version_num() == 7);

    let plan = world.keeps("Plan").await;
    let failure = world.engine.create_document(crate::world::document("Two")).await.unwrap_err();
    assert!(matches!(failure, Failure::NoRoom(_)), "{failure}");
    world.adds(plan, "Plan, again").await;
    world.engine.delete_document(plan).await.unwrap();
    world.keeps("Another").await;
}
