//! Repeated measurements of one quantity.

use std::time::Duration;

/// Measurements in one unit.
#[derive(Debug, Clone, Default)]
pub struct Samples(Vec<f64>);

impl Samples {
    pub fn add(&mut self, value: f64) {
        self.0.push(value);
    }

    /// Adds a time, in milliseconds.
    pub fn took(&mut self, time: Duration) {
        self.add(time.as_secs_f64() * 1e3);
    }

    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The quantile at this share.
    pub fn quantile(&self, share: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let place = (share * sorted.len() as f64).ceil() as usize;
        sorted[place.clamp(1, sorted.len()) - 1]
    }

    /// The interquartile range as a share of the median.
    pub fn noise(&self) -> f64 {
        (self.quantile(0.75) - self.quantile(0.25)) / self.median().abs().max(f64::MIN_POSITIVE)
    }
}
