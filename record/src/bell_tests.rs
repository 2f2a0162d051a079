//! Tests of the bell, some of them under shuttle in many thread orders.
//!
//! Shuttle decides which thread runs next wherever one takes or releases a lock, touches a channel or
//! waits, and detects deadlocks. For it the source of the bell is built a second time with shuttle's
//! locks. Each test runs in `AW_SCHEDULES` orders at random, and as many with few preemptions (PCT).

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
async fn a_ring_during_the_first_read_is_not_missed() {
    let bell = Bell::default();
    let mut reads = 0;
    let answered = bell.until(debate(), |_| {
        reads += 1;
        if reads == 1 {
            // A commit just after the first read found nothing.
            bell.ring(debate());
            return ready(Ok::<_, Infallible>(None));
        }
        ready(Ok(Some("news")))
    });
    let Ok(answer) = timeout(Duration::from_secs(5), answered).await else {
        panic!("the ring was missed: it reads before it listens");
    };
    assert_eq!(answer, Ok("news"));
}

#[tokio::test]
async fn a_ring_wakes_only_listeners_of_its_debate() {
    let bell = Bell::default();
    let other: DebateId = Uuid::from_u128(8).into();
    let (mut here, mut there) = (bell.listen(debate()), bell.listen(other));
    bell.ring(debate());
    here.next().await;
    assert!(timeout(Duration::from_millis(20), there.next()).await.is_err());
}

#[tokio::test]
async fn a_dropped_listener_is_forgotten_at_once() {
    let bell = Bell::default();
    let (first, second) = (bell.listen(debate()), bell.listen(debate()));
    drop(first);
    assert_eq!(bell.debates_listened_to(), 1);
    drop(second);
    assert_eq!(bell.debates_listened_to(), 0);
    bell.ring(debate());
}

/// The primitives of the bell under shuttle.
mod sync {
    pub(super) use shuttle::sync::{Mutex, MutexGuard};

    /// tokio's channel, which is tested elsewhere: each operation is atomic here, but other threads may
    /// run before it.
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

/// The source of the bell with shuttle's primitives.
#[path = "bell.rs"]
#[expect(unreachable_pub, clippy::duplicate_mod, reason = "the bell is built twice")]
mod shuttled;

/// A debate whose newest argument is a number, and its bell.
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

    /// The newest number, once it has reached `number`.
    fn reads(&self, number: u64) -> Result<Option<u64>, Infallible> {
        let newest = *self.committed.lock().unwrap();
        Ok((newest >= number).then_some(newest))
    }

    /// Waits until `number` is committed.
    async fn waits_for(&self, number: u64) {
        let Ok(newest) = self.bell.until(debate(), |_| async { self.reads(number) }).await;
        assert!(newest >= number);
    }
}

/// Runs these threads many times, each time in another order. All must end, and then the bell must
/// have no listeners.
fn in_every_order<const THREADS: usize>(threads: [fn(&World); THREADS]) {
    let schedules = std::env::var("AW_SCHEDULES").map_or(10_000, |given| given.parse().unwrap());
    let story = move || {
        let world = World::default();
        let running = threads.map(|thread| {
            let world = world.clone();
            shuttle::thread::spawn(move || thread(&world))
        });
        for thread in running {
            thread.join().unwrap();
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

/// Listens briefly and leaves.
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
fn no_waiter_misses_the_last_commit() {
    in_every_order([writes, waits_for_two, writes, waits_for_two]);
}

#[test]
fn a_listener_that_cancels_a_wait_and_waits_again_misses_nothing() {
    fn follows(world: &World) {
        let mut listening = world.bell.listen(debate());
        shuttle::future::block_on(async {
            while world.reads(2) == Ok(None) {
                // As in a select! in which another branch was ready first.
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
fn a_brief_listener_removes_no_other_listeners_rope() {
    in_every_order([looks_in, writes, waits_for_two, looks_in, writes]);
}

#[test]
fn a_ring_to_all_wakes_every_waiter() {
    fn writes_elsewhere(world: &World) {
        world.commits();
        world.bell.ring_all();
    }
    in_every_order([writes, waits_for_two, writes_elsewhere, looks_in]);
}

#[test]
fn the_last_of_several_leaving_listeners_removes_the_rope() {
    in_every_order([looks_in, looks_in, looks_in]);
}

// These use the bell wrongly, to prove that the tests above can fail.

#[test]
#[should_panic(expected = "deadlock")]
fn reading_before_listening_deadlocks() {
    fn reads_first(world: &World) {
        if world.reads(1) == Ok(None) {
            shuttle::future::block_on(world.bell.listen(debate()).next());
        }
    }
    in_every_order([writes, reads_first]);
}

#[test]
#[should_panic(expected = "deadlock")]
fn ringing_before_the_commit_deadlocks() {
    fn rings_first(world: &World) {
        world.rings();
        world.commits();
    }
    in_every_order([rings_first, waits_for_two, rings_first]);
}
