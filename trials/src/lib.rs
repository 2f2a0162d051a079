//! The building blocks of trials: a server process, an HTTP connection to it, a debate to hold, and a
//! check of its database file.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test program: an unexpected error ends it")]

pub mod dice;
pub mod figures;
pub mod line;
pub mod record;
pub mod server;
pub mod talk;
