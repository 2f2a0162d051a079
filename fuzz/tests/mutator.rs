//! Mutates inputs at random, with a fixed seed.

/// Seeded random numbers.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Dice(seed)
    }

    fn roll(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `most`, or 0.
    pub(crate) fn below(&mut self, most: usize) -> usize {
        (self.roll() % most.max(1) as u64) as usize
    }

    /// A number below `most`, more often a small one.
    fn few(&mut self, most: usize) -> usize {
        let most = 1 + self.below(most);
        self.below(most)
    }
}

/// The sources of mutations.
pub(crate) struct Mutator<'a> {
    pub(crate) seeds: &'a [Vec<u8>],
    /// Words with a meaning in these inputs.
    pub(crate) words: &'a [Vec<u8>],
}

/// The greatest length of an input.
const LONGEST: usize = 4_096;

impl Mutator<'_> {
    /// One of the seeds, changed in one to six places.
    pub(crate) fn next(&self, dice: &mut Dice) -> Vec<u8> {
        let mut input = self.seeds[dice.below(self.seeds.len())].clone();
        for _ in 0..=dice.below(6) {
            self.change(&mut input, dice);
            input.truncate(LONGEST);
        }
        input
    }

    fn change(&self, input: &mut Vec<u8>, dice: &mut Dice) {
        let at = dice.below(input.len() + 1);
        let length = dice.few(40).min(input.len() - at);
        match dice.below(8) {
            // Flip a bit.
            0 if at < input.len() => input[at] ^= 1 << dice.below(8),
            // Replace a byte.
            1 => input.insert(at, dice.below(256) as u8),
            // Remove a piece.
            2 => drop(input.drain(at..at + length)),
            // Repeat a piece.
            3 => {
                let piece = input[at..at + length].repeat(1 + dice.few(60));
                input.splice(at..at, piece);
            }
            // Insert a piece of another seed.
            4 => {
                let other = &self.seeds[dice.below(self.seeds.len())];
                let from = dice.below(other.len() + 1);
                let to = (from + dice.below(60)).min(other.len());
                input.splice(at..at + length, other[from..to].iter().copied());
            }
            // Insert a word, or replace bytes with it.
            _ if !self.words.is_empty() => {
                let word = &self.words[dice.below(self.words.len())];
                let length = if dice.below(2) == 0 { 0 } else { length };
                input.splice(at..at + length, word.iter().copied());
            }
            _ => input.truncate(at),
        }
    }
}
