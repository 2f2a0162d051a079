//! The bell, heard: alone, and in every order that shuttle can think of.
//!
//! Shuttle decides who runs next wherever somebody takes or leaves a lock, touches a rope or has to
//! wait, and finds out when nobody can run any more. For it the same source is built once more, with
//! its locks. As many orders of each story are tried as `AW_SCHEDULES` says, at random and again
//! with few interruptions (PCT).

use std::convert::Infallible;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use aw_core::DebateId;
use tokio::time::timeout;
use uuid::Uuid;

use crate::bell::Bell;

fn debate() -> DebateId {
    Uuid::from_u128(7).into()
}

#[tokio::test]
async fn a_ring_between_reading_and_listening_is_heard() {
    let bell = Bell::default();
    let mut reads = 0;
    let answered = bell.until(debate(), |_| {
        reads += 1;
        if reads == 1 {
            // A commit that lands just after the first read found nothing.
            bell.ring(debate());
            return ready(Ok::<_, Infallible>(None));
        }
        ready(Ok(Some("news")))
    });
    let Ok(answer) = timeout(Duration::from_secs(5), answered).await else {
        panic!("the ring was slept through: somebody reads before listening");
    };
    assert_eq!(answer, Ok("news"));
}

#[tokio::test]
async fn a_ring_wakes_only_those_who_listen_to_its_debate() {
    let bell = Bell::default();
    let other: DebateId = Uuid::from_u128(8).into();
    let (mut here, mut there) = (bell.listen(debate()), bell.listen(other));
    bell.ring(debate());
    here.next().await;
    assert!(timeout(Duration::from_millis(20), there.next()).await.is_err());
}

#[tokio::test]
async fn a_listener_that_goes_away_is_forgotten_at_once() {
    let bell = Bell::default();
    let (first, second) = (bell.listen(debate()), bell.listen(debate()));
    drop(first);
    assert_eq!(bell.debates_listened_to(), 1);
    drop(second);
    assert_eq!(bell.debates_listened_to(), 0);
    bell.ring(debate());
}

/// What the bell is made of where shuttle decides who runs.
mod sync {
    pub(super) use shuttle::sync::{Mutex, MutexGuard};

    /// tokio's own, which is checked elsewhere: each of its steps is one, but others may come first.
    pub(super) mod watch {
        use shuttle::sync::atomic::{AtomicBool, Ordering};
        use tokio::sync::watch;
        use tokio::sync::watch::error::RecvError;

        fn others_first() {
            AtomicBool::default().load(Ordering::SeqCst);
        }

        #[derive(Debug, Default)]
        pub(crate) struct Sender<T>(watch::Sender<T>);

        impl<T> Sender<T> {
            pub(crate) fn subscribe(&self) -> Receiver<T> {
                others_first();
                Receiver(self.0.subscribe())
            }

            pub(crate) fn receiver_count(&self) -> usize {
                others_first();
                self.0.receiver_count()
            }

            pub(crate) fn send_replace(&self, value: T) -> T {
                others_first();
                self.0.send_replace(value)
            }
        }

        #[derive(Debug)]
        pub(crate) struct Receiver<T>(watch::Receiver<T>);

        impl<T> Receiver<T> {
            pub(crate) async fn changed(&mut self) -> Result<(), RecvError> {
                others_first();
                self.0.changed().await
            }

            pub(crate) fn borrow_and_update(&mut self) -> watch::Ref<'_, T> {
                others_first();
                self.0.borrow_and_update()
            }
        }

        impl<T> Drop for Receiver<T> {
            fn drop(&mut self) {
                others_first();
            }
        }
    }
}

/// The same source once more.
#[path = "bell.rs"]
#[expect(unreachable_pub, clippy::duplicate_mod, reason = "it is twice here, and hidden")]
mod shuttled;

/// A debate in which the newest argument is a number, and its bell.
#[derive(Clone, Default)]
struct World {
    committed: Arc<sync::Mutex<u64>>,
    bell: shuttled::Bell,
}

impl World {
    fn commits(&self) {
        *self.committed.lock().unwrap() += 1;
    }

    fn rings(&self) {
        self.bell.ring(debate());
    }

    /// The number, once it is there.
    fn reads(&self, number: u64) -> Result<Option<u64>, Infallible> {
        let newest = *self.committed.lock().unwrap();
        Ok((newest >= number).then_some(newest))
    }

    /// Comes back when so much is committed.
    async fn waits_for(&self, number: u64) {
        let Ok(newest) = self.bell.until(debate(), |_| async { self.reads(number) }).await;
        assert!(newest >= number);
    }
}

/// Runs a story many times: all its people at once, in another order each time. They must all come
/// to an end, and then nobody may listen any more.
fn in_every_order<const PEOPLE: usize>(people: [fn(&World); PEOPLE]) {
    let schedules = std::env::var("AW_SCHEDULES").map_or(10_000, |given| given.parse().unwrap());
    let story = move || {
        let world = World::default();
        let there = people.map(|person| {
            let world = world.clone();
            shuttle::thread::spawn(move || person(&world))
        });
        for person in there {
            person.join().unwrap();
        }
        assert_eq!(world.bell.debates_listened_to(), 0, "a rope was left behind");
    };
    shuttle::check_random(story, schedules);
    shuttle::check_pct(story, schedules, 3);
}

fn writes(world: &World) {
    world.commits();
    world.rings();
}

fn waits_for_two(world: &World) {
    shuttle::future::block_on(world.waits_for(2));
}

/// Listens for a moment, perhaps hears something, and leaves.
fn looks_in(world: &World) {
    let mut listening = world.bell.listen(debate());
    shuttle::future::block_on(async {
        tokio::select! {
            biased;
            _ = listening.next() => {}
            () = ready(()) => {}
        }
    });
}

#[test]
fn nobody_sleeps_through_the_last_commit() {
    in_every_order([writes, waits_for_two, writes, waits_for_two]);
}

#[test]
fn a_socket_that_gives_up_a_wait_and_waits_again_misses_nothing() {
    fn follows(world: &World) {
        let mut listening = world.bell.listen(debate());
        shuttle::future::block_on(async {
            while world.reads(2) == Ok(None) {
                // As in a select! in which something else was ready first.
                tokio::select! {
                    biased;
                    _ = listening.next() => continue,
                    () = ready(()) => {}
                }
                listening.next().await;
            }
        });
    }
    in_every_order([writes, follows, writes, follows]);
}

#[test]
fn who_comes_and_goes_takes_nobodys_rope_and_leaves_none() {
    in_every_order([looks_in, writes, waits_for_two, looks_in, writes]);
}

#[test]
fn who_waits_is_woken_when_everybody_is_told_to_look() {
    fn writes_elsewhere(world: &World) {
        world.commits();
        world.bell.ring_all();
    }
    in_every_order([writes, waits_for_two, writes_elsewhere, looks_in]);
}

#[test]
fn of_two_who_leave_at_once_the_last_takes_the_rope() {
    in_every_order([looks_in, looks_in, looks_in]);
}

// The stories can fail: these tell them wrongly.

#[test]
#[should_panic(expected = "deadlock")]
fn who_reads_before_listening_is_found_asleep() {
    fn reads_first(world: &World) {
        if world.reads(1) == Ok(None) {
            shuttle::future::block_on(world.bell.listen(debate()).next());
        }
    }
    in_every_order([writes, reads_first]);
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_ring_before_the_commit_is_found_out() {
    fn rings_first(world: &World) {
        world.rings();
        world.commits();
    }
    in_every_order([rings_first, waits_for_two, rings_first]);
}
