//! Waiting for a condition, and repeatable chance.

use std::time::{Duration, Instant};

use tokio::time::{sleep, timeout};
use uuid::Uuid;

/// The longest time for anything that a test waits for, on any machine.
pub const CEILING: Duration = Duration::from_secs(45);

/// Returns once the condition holds.
pub async fn eventually(what: &str, mut so: impl AsyncFnMut() -> bool) {
    let began = Instant::now();
    while !so().await {
        assert!(began.elapsed() < CEILING, "it never came to this: {what}");
        sleep(Duration::from_millis(5)).await;
    }
}

/// The result of a future, within [`CEILING`].
pub async fn in_time<T>(what: &str, future: impl Future<Output = T>) -> T {
    match timeout(CEILING, future).await {
        Ok(done) => done,
        Err(_) => panic!("it never came to this: {what}"),
    }
}

/// A random generator. `AW_SEED` repeats an earlier run.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// New dice. Their seed is printed, so that a failure can be repeated.
    #[expect(clippy::print_stdout, reason = "a failure is repeated with the seed")]
    pub fn new() -> Self {
        let seed = match std::env::var("AW_SEED") {
            Ok(seed) => seed.parse().expect("AW_SEED is a number"),
            Err(_) => Uuid::new_v4().as_u64_pair().0,
        };
        println!("AW_SEED={seed}");
        Dice(seed)
    }

    /// New dice that are independent of these.
    pub fn another(&mut self) -> Self {
        Dice(self.roll())
    }

    /// A number below this one.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.roll() % bound
    }

    /// Yields to other tasks for a random time shorter than this.
    pub async fn dawdle(&mut self, longest: Duration) {
        let micros = u64::try_from(longest.as_micros()).unwrap();
        let until = Instant::now() + Duration::from_micros(self.below(micros));
        while Instant::now() < until {
            tokio::task::yield_now().await;
        }
    }

    /// SplitMix64.
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
