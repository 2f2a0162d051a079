//! Several servers on one record in PostgreSQL.
//!
//! Run them with `scripts/postgres cargo test -p aw-record servers`; without PostgreSQL they do nothing.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use aw_core::{Move, Role, Seq};
use aw_record::{
    ChangeKind, Engine, Failure, Fault, Filter, OpenError, Place, Poll, Sign, Store, StoreOptions,
};
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use crate::postgres::{Database, Lost, Way};
use crate::world::{CEILING, World, document, moving, opening, version};

fn server(place: Place) -> World {
    World::at_place(place, |_| {})
}

/// Waits until the condition holds.
async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !is_so().await {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(CEILING, waiting).await.unwrap_or_else(|_| panic!("{what}: never"));
}

async fn arguments(engine: &Engine, debate: aw_core::DebateId) -> Vec<Seq> {
    let all = engine.stretch(debate, 0, 100).await.unwrap().arguments;
    all.iter().map(|argument| argument.seq).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_on_one_server_wakes_a_waiter_on_another() {
    let Some(database) = Database::new() else { return };
    let (a, b) = (server(database.place()), server(database.place()));
    for _ in 0..15 {
        let (debate, motion) = a.opens("Keep one file?").await;
        let waiting = b.waits(debate, Role::Proposer, motion).await;
        // Until it has also read.
        sleep(Duration::from_millis(20)).await;
        a.claims(debate, Role::Opponent, motion).await;
        // A wait that is not woken times out without news.
        let poll = waiting.await.unwrap().unwrap();
        assert!(matches!(poll, Poll::News(_)), "{poll:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_gets_the_changes_of_other_servers() {
    let Some(database) = Database::new() else { return };
    let (a, b) = (server(database.place()), server(database.place()));
    let mut following = b.engine.follow();
    let (debate, motion) = a.opens("Keep one file?").await;
    let mut next = async || {
        let changes = timeout(CEILING, following.next()).await.unwrap().unwrap();
        changes.into_iter().map(|it| (it.debate, it.change)).collect::<Vec<_>>()
    };
    assert_eq!(next().await, [(debate, ChangeKind::Opened)]);
    a.claims(debate, Role::Opponent, motion).await;
    assert_eq!(next().await, [(debate, ChangeKind::Written)]);
    a.engine.delete(debate).await.unwrap();
    assert_eq!(next().await, [(debate, ChangeKind::Written)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn presence_is_shared_until_the_waiter_or_its_server_is_gone() {
    let Some(database) = Database::new() else { return };
    let (a, b) = (server(database.place()), server(database.place()));
    let (debate, motion) = a.opens("Keep one file?").await;
    let waits = |world: &World| world.engine.presence(debate).proposer.waiting;
    let waiting = a.begins_to_wait(debate, Role::Proposer, motion);
    until("seen elsewhere", async || waits(&b)).await;
    let claim = b.claims(debate, Role::Opponent, motion).await;
    waiting.await.unwrap().unwrap();
    until("seen to have gone", async || !waits(&b)).await;
    until("the opponent was seen", async || a.engine.presence(debate).opponent.last_seen.is_some())
        .await;

    let engine = a.engine.clone();
    let held = tokio::spawn(async move {
        engine.wait(debate, Role::Opponent, Some(claim), Duration::from_secs(60)).await
    });
    until("seen again", async || b.engine.presence(debate).opponent.waiting).await;
    // As if the server was killed: it sends nothing any more.
    held.abort();
    drop(a);
    until("known to be gone", async || !b.engine.presence(debate).opponent.waiting).await;
    assert!(matches!(b.engine.presence(debate).opponent, Sign { last_seen: Some(_), .. }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_that_start_together_create_the_tables_once() {
    let Some(database) = Database::new() else { return };
    let starting: Vec<_> = (0..6)
        .map(|_| {
            let options = StoreOptions::at(database.place());
            tokio::task::spawn_blocking(move || Store::open(&options))
        })
        .collect();
    for started in starting {
        started.await.unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_one_of_two_servers_opens_the_same_debate() {
    let Some(database) = Database::new() else { return };
    let (a, b) = (server(database.place()), server(database.place()));
    for _ in 0..10 {
        let request = opening(Uuid::now_v7().into(), "Keep one file?");
        let (one, other) =
            tokio::join!(a.engine.execute(request.clone()), b.engine.execute(request.clone()));
        let (one, other) = (one.unwrap(), other.unwrap());
        assert_eq!(one.argument, other.argument);
        assert!(one.replayed != other.replayed, "{} {}", one.replayed, other.replayed);
    }
    let new = document("Plan");
    let kept =
        tokio::join!(a.engine.create_document(new.clone()), b.engine.create_document(new.clone()));
    let (one, other) = (kept.0.unwrap(), kept.1.unwrap());
    assert_eq!(one.document, other.document);
    assert!(one.replayed != other.replayed);
    let all = Filter { limit: 20, ..Filter::default() };
    assert_eq!(b.engine.list(&all).await.unwrap().total, 10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_servers_leave_no_gaps_in_shared_debates() {
    let Some(database) = Database::new() else { return };
    let (a, b) = (server(database.place()), server(database.place()));
    let mut debates = Vec::new();
    for number in 0..4 {
        debates.push(a.opens(&format!("Debate {number}")).await);
    }
    // Every writer answers the newest argument; of concurrent answers to it one is accepted.
    let mut writing = Vec::new();
    for writer in 0..8_u32 {
        let engine = if writer % 2 == 0 { a.engine.clone() } else { b.engine.clone() };
        let debates = debates.clone();
        writing.push(tokio::spawn(async move {
            let mut accepted = 0_u64;
            for round in 0..20_usize {
                let (debate, _) = debates[(round + writer as usize) % debates.len()];
                let now = engine.context(debate, Some(1)).await.unwrap();
                let target = now.arguments.last().unwrap_or(&now.motion).id;
                let role = match now.debate.state() {
                    aw_core::State::AwaitingOpponent => Role::Opponent,
                    _ => Role::Proposer,
                };
                match engine.execute(moving(debate, role, Move::Claim { target })).await {
                    Ok(_) => accepted += 1,
                    Err(Failure::Refused { .. }) => {}
                    Err(other) => panic!("{other}"),
                }
            }
            accepted
        }));
    }
    let mut accepted = 0;
    for writer in writing {
        accepted += writer.await.unwrap();
    }
    let mut written = 0;
    for (debate, _) in debates {
        let seqs = arguments(&a.engine, debate).await;
        assert!(seqs.iter().enumerate().all(|(place, seq)| seq.0 == place as u64 + 1), "{seqs:?}");
        written += seqs.len() as u64 - 1;
        b.engine.verify(debate).await.unwrap();
    }
    assert_eq!(written, accepted);
    let piece = b.engine.verify_on(None).await.unwrap();
    assert!(piece.damages.is_empty(), "{:?}", piece.damages);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reconnected_server_wakes_its_waiters() {
    let Some(database) = Database::new() else { return };
    let way = Way::to(&database).await;
    let (a, b) = (server(database.place()), server(way.place(&database)));
    let (debate, motion) = a.opens("Keep one file?").await;
    let waiting = b.waits(debate, Role::Proposer, motion).await;
    until("seen to wait", async || b.engine.presence(debate).proposer.waiting).await;
    let mut following = b.engine.follow();
    way.close();
    until("cut off", async || b.engine.health().await.database.listening == Some(false)).await;
    a.claims(debate, Role::Opponent, motion).await;
    sleep(Duration::from_millis(300)).await;
    assert!(!waiting.is_finished(), "a wait stays held while the database is unreachable");
    way.open();
    let poll = timeout(CEILING, waiting).await.unwrap().unwrap().unwrap();
    assert!(matches!(poll, Poll::News(_)), "{poll:?}");
    // A follower of everything starts over.
    assert!(timeout(CEILING, following.next()).await.unwrap().is_err());
    assert!(b.engine.health().await.database.reconnects > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unreachable_database_is_reported_as_busy_and_recovers() {
    let Some(database) = Database::new() else { return };
    let way = Way::to(&database).await;
    let world = server(way.place(&database));
    let (debate, motion) = world.opens("Keep one file?").await;
    way.close();
    for _ in 0..3 {
        let began = Instant::now();
        let request = moving(debate, Role::Opponent, Move::Claim { target: motion });
        let failure = world.engine.execute(request).await.unwrap_err();
        assert!(matches!(failure, Failure::Fault(Fault::Busy(_))), "{failure}");
        let failure = world.engine.context(debate, Some(1)).await.unwrap_err();
        assert!(matches!(failure, Failure::Fault(Fault::Busy(_))), "{failure}");
        assert!(world.engine.health().await.writing.is_err());
        assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    }
    way.open();
    until("written again", async || {
        let request = moving(debate, Role::Opponent, Move::Claim { target: motion });
        match world.engine.execute(request).await {
            Ok(_) => true,
            Err(Failure::Fault(Fault::Busy(_))) => false,
            Err(other) => panic!("{other}"),
        }
    })
    .await;
    assert_eq!(arguments(&world.engine, debate).await, [Seq(1), Seq(2)]);
    world.engine.health().await.writing.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_commit_is_found_again_by_its_request() {
    let Some(database) = Database::new() else { return };
    let way = Way::to(&database).await;
    let world = server(way.place(&database));
    let engine = &world.engine;
    for lost in [Lost::OnTheWayThere, Lost::OnTheWayBack] {
        let lose = || way.lose(lost);
        lose();
        let debate = Uuid::now_v7().into();
        let opened = engine.execute(opening(debate, "Keep one file?")).await.unwrap();
        assert!(way.has_lost() && !opened.replayed, "{lost:?}");
        let target = opened.argument.id;
        lose();
        let claim = moving(debate, Role::Opponent, Move::Claim { target });
        let claimed = engine.execute(claim.clone()).await.unwrap();
        assert!(way.has_lost() && !claimed.replayed, "{lost:?}");
        assert!(engine.execute(claim).await.unwrap().replayed);
        assert_eq!(arguments(engine, debate).await, [Seq(1), Seq(2)], "{lost:?}");

        lose();
        let new = document("Plan");
        let kept = engine.create_document(new.clone()).await.unwrap();
        assert!(way.has_lost() && !kept.replayed, "{lost:?}");
        assert!(engine.create_document(new).await.unwrap().replayed);
        lose();
        let request = Uuid::now_v7().into();
        let added = engine.add_version(kept.document, request, version("Plan, again")).await;
        let added = added.unwrap();
        assert!(way.has_lost() && !added.replayed, "{lost:?}");
        assert_eq!(added.version.number, 2);
        lose();
        engine.delete_document(kept.document).await.unwrap();
        assert!(way.has_lost(), "{lost:?}");
        let failure = engine.delete_document(kept.document).await.unwrap_err();
        assert!(matches!(failure, Failure::DocumentNotFound { .. }), "{failure}");
        lose();
        engine.delete(debate).await.unwrap();
        assert!(way.has_lost(), "{lost:?}");
        let failure = engine.delete(debate).await.unwrap_err();
        assert!(matches!(failure, Failure::DebateNotFound { .. }), "{failure}");
    }
    let piece = engine.verify_on(None).await.unwrap();
    assert!(piece.damages.is_empty(), "{:?}", piece.damages);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_database_refuses_changes_of_the_record() {
    let Some(database) = Database::new() else { return };
    let world = server(database.place());
    let (debate, motion) = world.opens("Keep one file?").await;
    world.claims(debate, Role::Opponent, motion).await;
    let plan = world.keeps("Plan").await;
    world.adds(plan, "Plan, again").await;
    for harm in [
        "update arguments set content = 'x'",
        "delete from arguments where seq = 2",
        "truncate arguments cascade",
        "update debates set title = 'x'",
        "delete from debates",
        "update document_versions set content = 'x'",
        "delete from document_versions",
        "update seals set number = 9",
        "delete from seals",
        "delete from documents",
        "insert into arguments select debate_key, 9, decode(repeat('09', 16), 'hex'), parent_id, type,
             role, parked_for, close, automatic, via, author, decode(repeat('09', 16), 'hex'),
             created_at, proposer_count, opponent_count, previous_hash, hash, content, seat
         from arguments where seq = 2",
    ] {
        assert!(database.tell(harm).await.is_err(), "{harm}");
    }
    let piece = world.engine.verify_on(None).await.unwrap();
    assert!(piece.damages.is_empty(), "{:?}", piece.damages);
    // Verification finds a change that disabled the triggers.
    let thief = "alter table arguments disable trigger user; update arguments set content = 'x'";
    database.tell(thief).await.unwrap();
    let piece = world.engine.verify_on(None).await.unwrap();
    assert_eq!(piece.damages.len(), 1, "{:?}", piece.damages);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newer_foreign_or_missing_database_is_an_error() {
    let Some(database) = Database::new() else { return };
    let refusal = |place: Place| match Store::open(&StoreOptions::at(place)) {
        Err(OpenError::Postgres { why, .. }) => why,
        other => panic!("{other:?}"),
    };
    let missing = Database { name: "aw_missing".to_owned(), ..database.clone() };
    assert!(refusal(missing.place()).contains("does not exist"));
    drop(server(database.place()));
    database.tell("update meta set value = 99 where name = 'schema'").await.unwrap();
    assert!(refusal(database.place()).contains("newer aw (schema 99"));
    let foreign = Database::new().unwrap();
    foreign.tell("create table debates (id int)").await.unwrap();
    assert!(refusal(foreign.place()).contains("not aw's"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_sum_over_slots_is_the_total() {
    let Some(database) = Database::new() else { return };
    let (a, b) = (server(database.place()), server(database.place()));
    let mut all = BTreeSet::new();
    for number in 0..6 {
        let world = if number % 2 == 0 { &a } else { &b };
        all.insert(world.opens("Keep one file?").await.0);
    }
    let first = *all.first().unwrap();
    b.engine.delete(first).await.unwrap();
    let filter = Filter { limit: 9, ..Filter::default() };
    let list = a.engine.list(&filter).await.unwrap();
    assert_eq!((list.total, list.total_is_exact, list.debates.len()), (5, true, 5));
    let piece = a.engine.verify_on(None).await.unwrap();
    assert!(piece.damages.is_empty(), "{:?}", piece.damages);
}
