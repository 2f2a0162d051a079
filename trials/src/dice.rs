//! A random number generator with a seed, so that a trial can be repeated.

/// Seeded random numbers.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// A generator with this seed.
    pub fn of(seed: u64) -> Self {
        Dice(seed)
    }

    /// Another, independent generator.
    pub fn another(&mut self) -> Self {
        Dice(self.roll())
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.roll() % bound
    }

    /// An index into a list of this length.
    pub fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).expect("an index fits")
    }

    /// True in one of `cases` cases.
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
