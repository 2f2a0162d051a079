//! Power cuts: records the writes and syncs of a real server, and builds thousands of disks that a power
//! cut could leave. Each must hold everything acknowledged by then, and nothing may be corrupt.

mod disk;
mod trace;

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::net::SocketAddr;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, mpsc};

use aw_record::{Store, StoreOptions};
use aw_trials::dice::Dice;
use aw_trials::figures::Figures;
use aw_trials::line::Line;
use aw_trials::record;
use aw_trials::server::{Server, database_in};
use aw_trials::talk::Talk;
use tokio::task::JoinSet;

use crate::{Trial, works};
use disk::{Disk, Loss};
use trace::DiskEvent;

/// A disk after a power cut, and how much had been acknowledged.
struct Image {
    files: BTreeMap<PathBuf, Vec<u8>>,
    acknowledged: usize,
    loss: Loss,
    moment: usize,
}

pub async fn run(trial: &Trial) -> Figures {
    assert!(works("strace", &["-V"]), "power cuts need strace: apt-get install strace");
    if !works("strace", &["-f", "-o", "/dev/null", "true"]) {
        return Figures::left_out("this machine forbids ptrace");
    }
    let images = usize::try_from(trial.times()).unwrap();
    let home = tempfile::tempdir().unwrap();
    let events = live(trial, home.path()).await;
    let acknowledged = events.iter().filter(|event| matches!(event, DiskEvent::Acknowledge { .. }));
    let syncs = events.iter().filter(|event| matches!(event, DiskEvent::Sync { .. })).count();
    let promised: Vec<(String, String)> = acknowledged
        .filter_map(|event| match event {
            DiskEvent::Acknowledge { id, content } => Some((id.clone(), content.clone())),
            _ => None,
        })
        .collect();
    let mut dice = trial.dice();
    let broken = cut(&events, home.path(), &promised, images, &mut dice);
    if let Some(first) = broken.first() {
        panic!("{} of {images} disks broke the promise; the first: {first}", broken.len());
    }

    // The trial must be able to find a loss: the same run without the syncs that
    // `synchronous=NORMAL` leaves out.
    let fewer: Vec<DiskEvent> = without_commit_syncs(&events);
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let checks = images.min(100);
    let seen = cut(&fewer, home.path(), &promised, checks, &mut dice).len();
    panic::set_hook(hook);
    assert!(seen > checks / 4, "the trial is blind: without syncs it found only {seen} losses");
    Figures::default()
        .count(images as u64, "disks after a power cut")
        .count((events.len() - promised.len()) as u64, "writes and syncs seen")
        .count(syncs as u64, "of them syncs")
        .count(promised.len() as u64, "acknowledged arguments")
        .count(broken.len() as u64, "lost or corrupt")
        .count(checks as u64, "disks without the syncs of commits")
        .count(seen as u64, "of them lose something")
}

/// Runs a server under strace: started, stopped, started again, killed, started again.
async fn live(trial: &Trial, home: &Path) -> Vec<DiskEvent> {
    let traces = tempfile::tempdir().unwrap();
    let words = if trial.long { 400 } else { 60 };
    let mut events: Vec<DiskEvent> = Vec::new();
    for (life, killed) in [false, true, false].into_iter().enumerate() {
        let trace = traces.path().join(life.to_string());
        let server =
            Server::start_as(&trial.binary, home, |command| trace::traced(&command, &trace));
        let mut talks = JoinSet::new();
        for number in 0..4 {
            talks.spawn(talk(server.address, words, number * 300));
        }
        talks.join_all().await;
        if killed {
            server.kill();
        } else {
            assert_eq!(server.stop().code(), Some(0));
        }
        let before = events.len();
        events.extend(trace::read(&trace).into_iter().map(|event| match event {
            DiskEvent::Sync { path, since } => DiskEvent::Sync { path, since: since + before },
            other => other,
        }));
    }
    events
}

/// Writes this many arguments, in one debate after the other.
async fn talk(server: SocketAddr, words: u64, weight: usize) {
    let mut line = Line::to(server);
    let (mut said, mut number) = (0, 0);
    while said < words {
        number += 1;
        let mut talk = match number % 2 {
            0 => Talk::new(9, weight),
            _ => Talk::with_points(9, weight),
        };
        loop {
            let saying = talk.next();
            let written = line.post(&saying.path, &saying.body).await.unwrap().data();
            talk.acknowledge(&saying, &written);
            said += 1;
            if saying.last {
                break;
            }
        }
    }
}

/// Cuts the power at this many moments; returns the broken promises.
fn cut(
    events: &[DiskEvent],
    home: &Path,
    promised: &[(String, String)],
    images: usize,
    dice: &mut Dice,
) -> Vec<String> {
    let mut moments: Vec<usize> = (0..images).map(|_| dice.index(events.len()) + 1).collect();
    moments.sort_unstable();
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let (images, queue) = mpsc::sync_channel::<Image>(threads);
    let queue = Mutex::new(queue);
    std::thread::scope(|scope| {
        let checks: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    let mut wrong = Vec::new();
                    loop {
                        let next = queue.lock().unwrap().recv();
                        let Ok(image) = next else { return wrong };
                        wrong.extend(check(&image, home, promised).err());
                    }
                })
            })
            .collect();
        let (mut disk, mut happened, mut acknowledged) = (Disk::default(), 0, 0);
        for moment in moments {
            for event in &events[happened..moment] {
                disk.happens(event);
                acknowledged += usize::from(matches!(event, DiskEvent::Acknowledge { .. }));
            }
            happened = moment;
            let loss = Loss::KINDS[dice.index(Loss::KINDS.len())];
            let files = disk.after_a_cut(home, loss, dice);
            images.send(Image { files, acknowledged, loss, moment }).expect("somebody checks");
        }
        drop(images);
        checks.into_iter().flat_map(|check| check.join().unwrap()).collect()
    })
}

/// Opens such a disk as the server would after a reboot, and checks it.
fn check(image: &Image, home: &Path, promised: &[(String, String)]) -> Result<(), String> {
    let Image { files, acknowledged, loss, moment } = image;
    let folder = tempfile::tempdir_in(memory()).unwrap();
    for (path, bytes) in files {
        let place = folder.path().join(path.strip_prefix(home).expect("below the home"));
        fs::create_dir_all(place.parent().expect("a folder")).unwrap();
        fs::write(place, bytes).unwrap();
    }
    let database = database_in(folder.path());
    let found = panic::catch_unwind(AssertUnwindSafe(|| {
        fs::create_dir_all(database.parent().expect("a folder")).unwrap();
        drop(Store::open(&StoreOptions::at(&database)).expect("the server starts"));
        record::sound(&database)
    }))
    .map_err(|broken| format!("at event {moment}, {loss:?} lost: {}", said(&*broken)))?;
    let found: HashMap<&str, &str> =
        found.iter().map(|kept| (kept.id.as_str(), kept.content.as_str())).collect();
    let (before, _) = promised.split_at(*acknowledged);
    let lost =
        before.iter().filter(|(id, content)| found.get(id.as_str()) != Some(&content.as_str()));
    let lost = lost.count();
    if lost > 0 {
        return Err(format!(
            "at event {moment}, {loss:?} lost: {lost} of {acknowledged} arguments are gone"
        ));
    }
    Ok(())
}

/// A folder in memory, if there is one, for the many short-lived disks.
fn memory() -> PathBuf {
    let shm = PathBuf::from("/dev/shm");
    if shm.is_dir() { shm } else { std::env::temp_dir() }
}

/// Removes the syncs of commits: with `synchronous=NORMAL` the log is synced only before a checkpoint.
fn without_commit_syncs(events: &[DiskEvent]) -> Vec<DiskEvent> {
    let is_log = |path: &Path| path.extension().is_some_and(|end| end == "db-wal");
    let mut kept = Vec::new();
    for (place, event) in events.iter().enumerate() {
        if let DiskEvent::Sync { path, .. } = event {
            let next = events[place + 1..].iter().find_map(|event| match event {
                DiskEvent::Write { path, .. } | DiskEvent::Sync { path, .. } => Some(path),
                _ => None,
            });
            if is_log(path) && next.is_none_or(|next| is_log(next)) {
                // A dummy event keeps the number of events.
                kept.push(DiskEvent::Sync { path: PathBuf::new(), since: 0 });
                continue;
            }
        }
        kept.push(event.clone());
    }
    kept
}

fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}
