//! What a run shows while it works, and how its user stops it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use aw_core::Role;

/// An event for a person who watches.
#[derive(Debug, Clone)]
pub enum Seen {
    /// The debate is open: its title, and its page.
    Opened {
        /// The title.
        title: String,
        /// The page.
        url: String,
    },
    /// Where the debate stands.
    Standing(RunStanding),
    /// A seat's program has begun a turn.
    Began {
        /// The seat.
        seat: Role,
        /// The agent.
        agent: String,
    },
    /// A seat's program does this.
    Doing {
        /// The seat.
        seat: Role,
        /// A few words.
        what: String,
    },
    /// A seat's turn is over: what it posted, or why there is nothing.
    Ended {
        /// The seat.
        seat: Role,
        /// A few words.
        what: String,
    },
    /// A problem. The run goes on or stops.
    Trouble(String),
    /// A person must rule: the dispute, and the lines that rule.
    Owed(String),
}

/// Where the debate stands.
#[derive(Debug, Clone, Default)]
pub struct RunStanding {
    /// The opponent's rounds, used and allowed.
    pub rounds: Option<(u32, u32)>,
    /// The points that block.
    pub blocking: Vec<String>,
    /// The tokens used so far.
    pub tokens: u64,
}

/// Shows what happens.
pub type Watcher = Arc<dyn Fn(Seen) + Send + Sync>;

/// Counts how often the user has asked the run to stop.
#[derive(Debug, Clone, Default)]
pub struct StopRequest(Arc<AtomicU32>);

impl StopRequest {
    /// Asks the run to stop.
    pub fn ask(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// How often it was asked.
    pub fn asked(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}
