//! The files of a record: health, a full queue, permissions and backups.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use aw_core::{Move, Role, Time};
use aw_record::{Clock, Engine, Failure, Fault, OpenError, Store, StoreOptions, backup};
use rusqlite::Connection;

use crate::world::{World, moving, opening, refused};

fn pulses(path: &Path) -> i64 {
    let db = Connection::open(path).unwrap();
    db.query_row("select value from meta where name = 'pulse'", [], |row| row.get(0)).unwrap()
}

#[tokio::test]
async fn health_makes_a_test_write_unless_a_write_has_just_succeeded() {
    let world = World::in_file();
    let before = pulses(&world.path);
    world.engine.health().await.writing.unwrap();
    assert_eq!(pulses(&world.path), before + 1);
    world.engine.health().await.writing.unwrap();
    assert_eq!(pulses(&world.path), before + 1, "the last write is recent enough");

    let fresh = World::in_file();
    fresh.opens("Keep one file?").await;
    let before = pulses(&fresh.path);
    fresh.engine.health().await.writing.unwrap();
    assert_eq!(pulses(&fresh.path), before);
}

#[tokio::test]
async fn a_closed_store_leaves_one_file_and_accepts_nothing() {
    let world = World::in_file();
    let (debate, motion) = world.opens("Keep one file?").await;
    let log = world.path.with_file_name("debate.db-wal");
    assert!(log.exists());
    world.engine.close().await;
    assert!(!log.exists(), "the log was not checkpointed");
    let request = moving(debate, Role::Opponent, Move::Claim { target: motion });
    let failure = refused(world.engine.execute(request).await);
    assert!(matches!(failure, Failure::Fault(Fault::Busy("the server is stopping"))), "{failure}");
    // A write has failed since, so health makes a test write again.
    assert!(world.engine.health().await.writing.is_err());
    world.engine.close().await;
}

#[tokio::test]
async fn a_write_is_refused_when_the_queue_is_full() {
    let world = World::in_file_with(|options| options.queue = 1);
    // Another connection holds the file, so the writer cannot take requests from the queue.
    let db = Connection::open(&world.path).unwrap();
    db.execute_batch("begin immediate").unwrap();
    let (mut busy, mut waiting) = (0, Vec::new());
    for number in 0..8 {
        let (engine, title) = (world.engine.clone(), format!("{number}"));
        let request = opening(uuid::Uuid::now_v7().into(), &title);
        waiting.push(tokio::spawn(async move { engine.execute(request).await }));
        tokio::task::yield_now().await;
    }
    tokio::task::yield_now().await;
    db.execute_batch("rollback").unwrap();
    let mut written = 0;
    for request in waiting {
        match request.await.unwrap() {
            Ok(_) => written += 1,
            Err(Failure::Fault(Fault::Busy("too many writes are waiting"))) => busy += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert!(written >= 1 && busy >= 1, "{written} were written, {busy} turned away");
    assert_eq!(world.engine.list(&aw_record::Filter::default()).await.unwrap().total, written);
}

#[tokio::test]
async fn only_the_owner_can_read_the_files() {
    let world = World::in_file();
    world.opens("Keep one file?").await;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let beside = |suffix: &str| world.path.with_file_name(format!("debate.db{suffix}"));
    assert_eq!(mode(world.path.parent().unwrap()), 0o700);
    for suffix in ["", "-wal", "-shm", ".lock"] {
        assert_eq!(mode(&beside(suffix)), 0o600, "{suffix}");
    }
    let World { engine, path, .. } = &world;
    engine.close().await;
    // Opening a file removes the access of others.
    let copy = path.with_file_name("copy.db");
    fs::copy(path, &copy).unwrap();
    for (shown, then) in [(0o644, 0o600), (0o640, 0o600), (0o604, 0o600), (0o700, 0o700)] {
        fs::set_permissions(&copy, fs::Permissions::from_mode(shown)).unwrap();
        drop(Store::open(&StoreOptions::at(&copy)).unwrap());
        assert_eq!(mode(&copy), then, "{shown:o}");
    }
}

#[tokio::test]
async fn a_backup_is_complete_and_private_and_overwrites_nothing() {
    let world = World::in_file();
    let (debate, motion) = world.opens("Keep one file?").await;
    world.exchanges(debate, motion, 3).await;
    let copy = world.path.with_file_name("copy.db");
    let size = backup(&world.path, &copy, |_, _| {}).unwrap();
    let file = fs::metadata(&copy).unwrap();
    assert_eq!((file.len(), file.permissions().mode() & 0o777), (size, 0o600));
    let again = backup(&world.path, &copy, |_, _| {});
    assert!(matches!(again, Err(OpenError::Io { .. })), "{again:?}");

    let engine =
        Engine::new(Store::open(&StoreOptions::at(&copy)).unwrap(), Clock::new(|| Time(1)));
    assert_eq!(engine.stretch(debate, 0, 9).await.unwrap().arguments.len(), 4);
    engine.verify(debate).await.unwrap();

    let text = world.path.with_file_name("notes.txt");
    fs::write(&text, "Not a database, but long enough to look like one. ".repeat(30)).unwrap();
    let broken = world.path.with_file_name("broken.db");
    assert!(backup(&text, &broken, |_, _| {}).is_err());
    assert!(!broken.exists(), "a broken copy was left behind");
}

#[tokio::test]
async fn a_long_backup_reports_its_progress() {
    let world = World::in_file();
    let db = Connection::open(&world.path).unwrap();
    // More pages than one step copies.
    db.execute_batch("create table filler (x); insert into filler values (zeroblob(12000000))")
        .unwrap();
    let copy = world.path.with_file_name("copy.db");
    let mut reports = Vec::new();
    backup(&world.path, &copy, |done, all| reports.push((done, all))).unwrap();
    assert_eq!(reports[0].0, 2_000);
    assert!(reports.iter().all(|(done, all)| done < all), "{reports:?}");
}

#[test]
fn the_system_clock_returns_the_current_time() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&StoreOptions::at(folder.path().join("debate.db"))).unwrap();
    let engine = Engine::new(store, Clock::system());
    let system = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(format!("{:?}", Clock::system()), "Clock");
    let now = engine.now();
    assert!(now.0.abs_diff(i64::try_from(system.as_millis()).unwrap()) < 60_000, "{now:?}");
}
