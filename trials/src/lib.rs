//! What trials are made of: a real server as a process, a line to it, debates to hold, and a file
//! checked from outside.
#![allow(missing_docs, clippy::unwrap_used, reason = "this is a rig: a surprise ends it")]

pub mod dice;
pub mod line;
pub mod record;
pub mod server;
pub mod talk;
