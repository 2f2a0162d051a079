//! How far a trial has come. It is kept in a file after each part, so that an interruption costs at most
//! one part.

use std::fs;
use std::path::PathBuf;

use aw_trials::figures::Figures;
use serde::{Deserialize, Serialize};

/// The finished parts of a trial.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Progress {
    name: String,
    /// The seed of the whole trial.
    pub seed: u64,
    /// How often or how long in all.
    pub total: u64,
    pub done: u64,
    pub seconds: f64,
    pub figures: Figures,
}

impl Progress {
    /// A trial that begins.
    pub fn new(name: &str, seed: u64, total: u64) -> Self {
        let (name, figures) = (name.to_owned(), Figures::default());
        Progress { name, seed, total, done: 0, seconds: 0.0, figures }
    }

    /// The kept progress of a trial that was not finished.
    pub fn kept(name: &str) -> Option<Self> {
        let text = fs::read(file(name)).ok()?;
        let kept: Progress = serde_json::from_slice(&text).expect("a trial has written this file");
        (kept.done < kept.total).then_some(kept)
    }

    /// Adds a finished part, and keeps all of them.
    pub fn add(&mut self, times: u64, seconds: f64, figures: &Figures) {
        self.done += times;
        self.seconds += seconds;
        self.figures = std::mem::take(&mut self.figures).and(figures);
        fs::create_dir_all(file(&self.name).parent().expect("a folder")).unwrap();
        let new = file(&self.name).with_extension("new");
        fs::write(&new, serde_json::to_vec(self).unwrap()).unwrap();
        fs::rename(new, file(&self.name)).unwrap();
    }

    /// The result in one line.
    pub fn line(&self) -> String {
        let Progress { name, seed, total, done, seconds, figures } = self;
        let part = if done < total { format!("{done} of {total}: ") } else { String::new() };
        format!("{name}: {part}{figures} ({seconds:.0} s, seed {seed})")
    }
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(format!("target/trials/{name}.json"))
}
