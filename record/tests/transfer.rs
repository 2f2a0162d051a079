//! Moves of a record between databases.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use aw_core::{Move, Role};
use aw_record::{
    DocumentFilter, Engine, Filter, OpenError, Place, Store, StoreOptions, TransferError, transfer,
};
use tempfile::TempDir;
use uuid::Uuid;

use crate::postgres;
use crate::world::{GO_ON, World, saying};

/// Moves a record on a blocking thread, and returns the number of progress reports.
async fn moved(from: &Place, to: &Place) -> Result<u32, TransferError> {
    let (from, to) = (from.clone(), to.clone());
    let moving = tokio::task::spawn_blocking(move || {
        let mut reports = 0;
        transfer(&from, &to, |done, all| {
            assert!(done <= all, "{done} of {all}");
            reports += 1;
        })?;
        Ok(reports)
    });
    moving.await.unwrap()
}

/// A record with rows in every table.
async fn filled() -> Filled {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("debate.db");
    let world = World::at_place(Place::File(path.clone()), |_| {});
    let plan = world.keeps("Plan").await;
    world.adds(plan, "Plan, with tests").await;
    let gone = world.keeps("Gone").await;
    world.engine.delete_document(gone).await.unwrap();
    for number in 0..40 {
        let (debate, motion) = world.opens(&format!("Câu hỏi {number}: keep plan {plan}?")).await;
        let newest = world.exchanges(debate, motion, number % 7).await;
        if number % 7 == 0 {
            let claim = Move::Claim { target: motion };
            let cites = saying(debate, Role::Opponent, claim, &format!("As in {plan}."));
            world.engine.execute(cites).await.unwrap();
        }
        if number % 7 == 3 {
            world.plays(debate, Role::Proposer, Move::Appeal { target: newest }).await;
            world.plays(debate, Role::Arbitrator, GO_ON).await;
        }
        if number % 10 == 9 {
            world.engine.delete(debate).await.unwrap();
        }
    }
    crate::ledger::write(&world).await;
    let (purged, _) = crate::purge::with_secret(&world).await;
    world.engine.purge(purged, true).await.unwrap();
    world.engine.close().await;
    Filled { path, _folder: folder }
}

/// A record without a server.
struct Filled {
    path: PathBuf,
    _folder: TempDir,
}

/// Everything that a record shows, as a text.
async fn seen(place: &Place) -> String {
    let engine = Engine::new(
        Store::open(&StoreOptions::at(place.clone())).unwrap(),
        aw_record::Clock::system(),
    );
    let everything = Filter { limit: 500, ..Filter::default() };
    let list = engine.list(&everything).await.unwrap();
    let found = Filter { search: Some("cau hoi 1".to_owned()), ..everything };
    let mut seen = format!("{list:?} {:?}", engine.list(&found).await.unwrap().total);
    for listed in &list.debates {
        let whole = engine.context(listed.debate.id, None).await.unwrap();
        seen += &format!("{whole:?} {:?}", engine.checksum(listed.debate.id).await.unwrap());
    }
    let filter = DocumentFilter { include_deleted: true, limit: 500, ..Default::default() };
    let documents = engine.list_documents(filter).await.unwrap();
    seen += &format!("{documents:?}");
    for listed in &documents.documents {
        seen += &format!("{:?}", engine.document(listed.id, None, true).await.ok());
    }
    assert_eq!(engine.verify_on(None).await.unwrap().damages, []);
    engine.close().await;
    seen
}

/// Another database: PostgreSQL if there is one.
fn elsewhere(folder: &Path) -> Place {
    match postgres::new_database() {
        Some(url) => Place::Postgres(url),
        None => Place::File(folder.join("elsewhere.db")),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_is_the_same_after_a_move_there_and_back() {
    let world = filled().await;
    let folder = tempfile::tempdir().unwrap();
    let source = Place::File(world.path.clone());
    let bytes = std::fs::read(&world.path).unwrap();
    let (there, back) = (elsewhere(folder.path()), Place::File(folder.path().join("back.db")));
    moved(&source, &there).await.unwrap();
    assert_eq!(std::fs::read(&world.path).unwrap(), bytes, "the source was changed");
    let before = seen(&source).await;
    assert_eq!(seen(&there).await, before);
    moved(&there, &back).await.unwrap();
    assert_eq!(seen(&back).await, before);

    // The target accepts writes.
    let world = World::at_place(there, |_| {});
    let (debate, motion) = world.opens("And now?").await;
    world.exchanges(debate, motion, 3).await;
    world.keeps("Another plan").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_move_continues_and_no_server_opens_half_a_record() {
    let world = filled().await;
    let folder = tempfile::tempdir().unwrap();
    let source = Place::File(world.path.clone());
    let there = elsewhere(folder.path());
    // Each time one batch further.
    for _ in 0..2 {
        let (from, to) = (source.clone(), there.clone());
        let died = tokio::task::spawn_blocking(move || {
            let mut reports = 0;
            let interrupted = || {
                transfer(&from, &to, |_, _| {
                    reports += 1;
                    assert!(reports <= 1, "on purpose");
                })
            };
            catch_unwind(AssertUnwindSafe(interrupted)).is_err()
        });
        assert!(died.await.unwrap());
        let opened = Store::open(&StoreOptions::at(there.clone()));
        assert!(matches!(opened, Err(OpenError::HalfMoved { .. })), "{opened:?}");
    }
    moved(&source, &there).await.unwrap();
    assert_eq!(seen(&there).await, seen(&source).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_move_onto_another_record_is_refused() {
    let world = filled().await;
    let other = filled().await;
    let source = Place::File(world.path.clone());
    let taken = moved(&source, &Place::File(other.path.clone())).await;
    assert!(matches!(taken, Err(TransferError::Taken { .. })), "{taken:?}");
    let same = moved(&source, &source).await;
    assert!(matches!(same, Err(TransferError::Same { .. })), "{same:?}");
    let nowhere = Place::File(format!("/nowhere/{}.db", Uuid::now_v7()).into());
    assert!(matches!(moved(&nowhere, &source).await, Err(TransferError::Open(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_in_use_is_not_moved() {
    let world = World::in_file();
    world.opens("Still going on").await;
    let folder = tempfile::tempdir().unwrap();
    let reports = moved(&Place::File(world.path.clone()), &elsewhere(folder.path())).await;
    let Err(TransferError::Open(OpenError::InUse { .. })) = reports else { panic!("{reports:?}") };
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_in_postgresql_is_not_moved_while_a_server_runs_on_it() {
    let Some(url) = postgres::new_database() else { return };
    let place = Place::Postgres(url);
    let world = World::at_place(place.clone(), |_| {});
    let folder = tempfile::tempdir().unwrap();
    let to = Place::File(folder.path().join("moved.db"));
    // Also a server that has written nothing yet.
    for _ in 0..2 {
        let reports = moved(&place, &to).await;
        let Err(TransferError::Open(OpenError::InUse { .. })) = reports else {
            panic!("{reports:?}")
        };
        world.opens("Still going on").await;
    }
    world.engine.close().await;
    drop(world);
    moved(&place, &to).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn no_server_starts_on_a_record_in_postgresql_that_is_being_moved() {
    let Some(url) = postgres::new_database() else { return };
    let place = Place::Postgres(url);
    let world = World::at_place(place.clone(), |_| {});
    let (debate, motion) = world.opens("Move me?").await;
    world.engine.close().await;
    drop(world);
    let folder = tempfile::tempdir().unwrap();
    let to = Place::File(folder.path().join("moved.db"));
    let (from, there) = (place.clone(), to.clone());
    let moving = tokio::task::spawn_blocking(move || {
        let mut refused = 0;
        transfer(&from, &there, |_, _| {
            let opened = Store::open(&StoreOptions::at(from.clone()));
            let Err(OpenError::Postgres { why, .. }) = opened else { panic!("{opened:?}") };
            assert!(why.contains("being moved"), "{why}");
            refused += 1;
        })?;
        Ok::<_, TransferError>(refused)
    });
    assert!(moving.await.unwrap().unwrap() > 0);
    // The source is unchanged and can be used again.
    let world = World::at_place(place, |_| {});
    world.claims(debate, Role::Opponent, motion).await;
}
