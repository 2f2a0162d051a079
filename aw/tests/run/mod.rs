//! `aw debate run` with agents that are scripts: the real runner, helper and server, in a home of its own.
//!
//! The real agent programs play in `agents/run.rs`.

mod bad_input;
mod failures;
mod live_check;
mod resuming;
mod safety;
pub mod scene;
mod view;
mod whole;
