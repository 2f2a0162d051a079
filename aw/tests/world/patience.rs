//! Waiting for something to become true, and dice that can be made to fall the same way again.

use std::time::{Duration, Instant};

use tokio::time::{sleep, timeout};
use uuid::Uuid;

/// Nothing that a test waits for takes nearly so long, however slow the machine.
pub const CEILING: Duration = Duration::from_secs(45);

/// Returns once this is so.
pub async fn eventually(what: &str, mut so: impl AsyncFnMut() -> bool) {
    let began = Instant::now();
    while !so().await {
        assert!(began.elapsed() < CEILING, "it never came to this: {what}");
        sleep(Duration::from_millis(5)).await;
    }
}

/// What comes of this, which must not take for ever.
pub async fn in_time<T>(what: &str, future: impl Future<Output = T>) -> T {
    match timeout(CEILING, future).await {
        Ok(done) => done,
        Err(_) => panic!("it never came to this: {what}"),
    }
}

/// Chance that can be repeated: `AW_SEED` makes them fall as they fell before.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// New dice; their seed is printed.
    #[expect(clippy::print_stdout, reason = "who repeats a failure needs the seed")]
    pub fn new() -> Self {
        let seed = match std::env::var("AW_SEED") {
            Ok(seed) => seed.parse().expect("AW_SEED is a number"),
            Err(_) => Uuid::new_v4().as_u64_pair().0,
        };
        println!("AW_SEED={seed}");
        Dice(seed)
    }

    /// Dice of somebody's own, which fall independently of these.
    pub fn another(&mut self) -> Self {
        Dice(self.roll())
    }

    /// A number below this one.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.roll() % bound
    }

    /// Lets others work for some moment shorter than this: who comes first is left to chance.
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
