//! The batches of a server on PostgreSQL.
//!
//! Run them with `scripts/postgres cargo test -p aw-record batches`; without PostgreSQL they do nothing.

use std::time::Instant;

use aw_core::{ArgumentId, DebateId, Move, Role};
use aw_record::{Failure, Fault, Request};
use tokio::task::JoinSet;

use crate::postgres::Database;
use crate::world::{CEILING, World, saying};

/// How many requests are sent at the same time.
const MANY: usize = 40;

/// Opens many debates.
async fn opened(world: &World) -> Vec<(DebateId, ArgumentId)> {
    let mut debates = Vec::new();
    for number in 0..MANY {
        debates.push(world.opens(&format!("Debate {number}")).await);
    }
    debates
}

fn claim((debate, target): (DebateId, ArgumentId), role: Role, words: &str) -> Request {
    saying(debate, role, Move::Claim { target }, words)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_of_moves_costs_two_round_trips_whatever_its_size() {
    let Some(database) = Database::new() else { return };
    let world = World::at_place(database.place(), |_| {});
    let plan = world.keeps("Plan").await;
    let mut debates = opened(&world).await;
    let words = format!("As {plan} says.");
    let began = Instant::now();
    // The first batches of each session also prepare its statements.
    for role in [Role::Opponent, Role::Proposer].into_iter().cycle() {
        let before = world.engine.vitals();
        let mut writing = JoinSet::new();
        for debate in &debates {
            let (engine, request) = (world.engine.clone(), claim(*debate, role, &words));
            writing.spawn(async move { engine.execute(request).await.unwrap() });
        }
        let written = writing.join_all().await;
        debates = written.iter().map(|done| (done.debate.id, done.argument.id)).collect();
        let now = world.engine.vitals();
        let (batches, writes) = (now.batches - before.batches, now.writes - before.writes);
        let round_trips = now.round_trips - before.round_trips;
        assert!(round_trips >= 2 * batches, "{round_trips} for {batches} batches");
        if round_trips == 2 * batches && writes > 2 * batches {
            break;
        }
        assert!(began.elapsed() < CEILING, "{round_trips} for {batches} batches");
    }
    let piece = world.engine.verify_on(None).await.unwrap();
    assert!(piece.damages.is_empty(), "{:?}", piece.damages);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_the_database_refuses_does_not_fail_its_batch() {
    let Some(database) = Database::new() else { return };
    let world = World::at_place(database.place(), |_| {});
    let debates = opened(&world).await;
    let refuse = "create trigger refused before insert on arguments for each row
        when (new.content = 'Poison') execute function aw_refuse('not this one')";
    database.tell(refuse).await.unwrap();
    let mut writing = JoinSet::new();
    for (number, debate) in debates.iter().enumerate() {
        let words = if number % 10 == 3 { "Poison" } else { "Bread" };
        let (engine, request) = (world.engine.clone(), claim(*debate, Role::Opponent, words));
        writing.spawn(async move { (words, engine.execute(request).await) });
    }
    for (words, written) in writing.join_all().await {
        match written {
            Ok(_) => assert_eq!(words, "Bread"),
            Err(Failure::Fault(Fault::Refused(why))) => {
                assert!(words == "Poison" && why.contains("not this one"), "{words}: {why}");
            }
            Err(other) => panic!("{other}"),
        }
    }
    let piece = world.engine.verify_on(None).await.unwrap();
    assert!(piece.damages.is_empty(), "{:?}", piece.damages);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_of_one_batch_for_one_debate_see_each_other() {
    let Some(database) = Database::new() else { return };
    let world = World::at_place(database.place(), |_| {});
    for (debate, motion) in opened(&world).await.into_iter().take(3) {
        // The same request many times, and others that answer the same argument.
        let first = claim((debate, motion), Role::Opponent, "First");
        let mut writing = JoinSet::new();
        for number in 0..MANY {
            let same = number % 2 == 0;
            let other = claim((debate, motion), Role::Opponent, "Other");
            let request = if same { first.clone() } else { other };
            let engine = world.engine.clone();
            writing.spawn(async move { (same, engine.execute(request).await) });
        }
        let (mut written, mut replayed) = (0, 0);
        for (same, done) in writing.join_all().await {
            match done {
                Ok(receipt) if receipt.replayed => replayed += usize::from(same),
                Ok(_) => written += 1,
                Err(Failure::Refused { .. }) => {}
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!(written, 1);
        assert!(replayed == 0 || replayed == MANY / 2 - 1, "{replayed}");
        assert_eq!(world.engine.stretch(debate, 0, 9).await.unwrap().arguments.len(), 2);
    }
}
