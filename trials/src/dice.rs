//! Chance that can be repeated: the same seed, the same throws.

/// Dice with a seed.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// Dice that fall as this seed says.
    pub fn of(seed: u64) -> Self {
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

    /// An index into something of this length.
    pub fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).expect("an index fits")
    }

    /// Whether one of so many cases came up.
    pub fn one_in(&mut self, cases: u64) -> bool {
        self.below(cases) == 0
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
