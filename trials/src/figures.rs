//! The result of a trial: counts that add up over its parts, and peaks.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

/// The figures of one part of a trial, or of all parts together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    counts: Vec<(String, u64)>,
    peaks: Vec<(String, f64)>,
    /// Why the trial could not run here.
    left_out: Option<String>,
}

impl Figures {
    /// No figures, because this machine cannot run the trial.
    pub fn left_out(why: &str) -> Self {
        Figures { left_out: Some(why.trim().to_owned()), ..Figures::default() }
    }

    /// Adds a count: `5000` and `kills` print as "5000 kills".
    pub fn count(mut self, number: u64, what: &str) -> Self {
        match self.counts.iter_mut().find(|(name, _)| name == what) {
            Some((_, sum)) => *sum += number,
            None => self.counts.push((what.to_owned(), number)),
        }
        self
    }

    /// Adds a peak: `4.2` and `ms a wake` print as "at most 4.2 ms a wake".
    pub fn peak(mut self, value: f64, what: &str) -> Self {
        match self.peaks.iter_mut().find(|(name, _)| name == what) {
            Some((_, peak)) => *peak = peak.max(value),
            None => self.peaks.push((what.to_owned(), value)),
        }
        self
    }

    /// The figures of both.
    pub fn and(self, more: &Figures) -> Self {
        let counted = more.counts.iter().fold(self, |all, (what, number)| all.count(*number, what));
        let mut all = more.peaks.iter().fold(counted, |all, (what, value)| all.peak(*value, what));
        all.left_out = all.left_out.or_else(|| more.left_out.clone());
        all
    }
}

impl Display for Figures {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let counts = self.counts.iter().map(|(what, number)| format!("{number} {what}"));
        let peaks = self.peaks.iter().map(|(what, value)| format!("at most {value:.1} {what}"));
        let left_out = self.left_out.iter().map(|why| format!("left out: {why}"));
        let all: Vec<String> = counts.chain(peaks).chain(left_out).collect();
        f.write_str(&all.join(", "))
    }
}
