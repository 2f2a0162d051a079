//! The house: whether writing works, what a full queue says, whose the files are, and copies of them.

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
async fn whether_writing_works_is_found_out_by_writing_unless_it_has_just_worked() {
    let world = World::in_file();
    let before = pulses(&world.path);
    world.engine.health().await.writing.unwrap();
    assert_eq!(pulses(&world.path), before + 1);
    world.engine.health().await.writing.unwrap();
    assert_eq!(pulses(&world.path), before + 1, "the last one is proof enough");

    let fresh = World::in_file();
    fresh.opens("Keep one file?").await;
    let before = pulses(&fresh.path);
    fresh.engine.health().await.writing.unwrap();
    assert_eq!(pulses(&fresh.path), before);
}

#[tokio::test]
async fn a_store_that_is_closed_leaves_one_file_and_takes_nothing_more() {
    let world = World::in_file();
    let (debate, motion) = world.opens("Keep one file?").await;
    let log = world.path.with_file_name("debate.db-wal");
    assert!(log.exists());
    world.engine.close().await;
    assert!(!log.exists(), "the log was not folded into the file");
    let request = moving(debate, Role::Opponent, Move::Claim { target: motion });
    let told = refused(world.engine.execute(request).await);
    assert!(matches!(told, Failure::Fault(Fault::Busy("the server is stopping"))), "{told}");
    // A write has failed since, so that is found out anew.
    assert!(world.engine.health().await.writing.is_err());
    world.engine.close().await;
}

#[tokio::test]
async fn a_write_that_finds_no_place_to_wait_is_turned_away() {
    let world = World::in_file_with(|options| options.queue = 1);
    // Nothing is taken from the queue meanwhile: another has the file.
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
async fn the_files_are_their_owners_alone() {
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
    // One that was open to others is closed to them when it is opened.
    let copy = path.with_file_name("copy.db");
    fs::copy(path, &copy).unwrap();
    for (shown, then) in [(0o644, 0o600), (0o640, 0o600), (0o604, 0o600), (0o700, 0o700)] {
        fs::set_permissions(&copy, fs::Permissions::from_mode(shown)).unwrap();
        drop(Store::open(&StoreOptions::at(&copy)).unwrap());
        assert_eq!(mode(&copy), then, "{shown:o}");
    }
}

#[tokio::test]
async fn a_copy_is_whole_private_and_never_written_over_a_file() {
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
async fn a_long_copy_tells_how_far_it_is() {
    let world = World::in_file();
    let db = Connection::open(&world.path).unwrap();
    // More pages than are copied at a time.
    db.execute_batch("create table filler (x); insert into filler values (zeroblob(12000000))")
        .unwrap();
    let copy = world.path.with_file_name("copy.db");
    let mut told = Vec::new();
    backup(&world.path, &copy, |done, all| told.push((done, all))).unwrap();
    assert_eq!(told[0].0, 2_000);
    assert!(told.iter().all(|(done, all)| done < all), "{told:?}");
}

#[test]
fn the_machines_own_clock_tells_the_time() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&StoreOptions::at(folder.path().join("debate.db"))).unwrap();
    let engine = Engine::new(store, Clock::system());
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    assert_eq!(format!("{:?}", Clock::system()), "Clock");
    let told = engine.now();
    assert!(told.0.abs_diff(i64::try_from(now.as_millis()).unwrap()) < 60_000, "{told:?}");
}
