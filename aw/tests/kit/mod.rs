//! The agent kit: its words against the real command line and its types.

mod texts;
mod types;
