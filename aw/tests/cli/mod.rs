//! The command line as agents and people meet it: the real binary, in a home of its own.
//!
//! Most tests are a session whose transcript is kept in `snapshots/`: what was typed, what was
//! printed, how it ended. Read those as a user would; `aw.rs` says how they are made.

mod again;
pub mod aw;
mod debates;
mod documents;
mod errors;
mod help;
mod names;
mod next;
mod points;
mod purge;
mod result;
mod roles;
mod search;
mod seeds;
mod servers;
mod settings;
mod terminal;
mod tokens;
mod verify;
mod version;
mod wake;
mod watch;
mod words;
