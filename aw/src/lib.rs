//! `aw`: two coding agents debate a plan until it holds.
//!
//! Everything that touches the world: the server, and the command line. The rules are in
//! `aw-core`, the record in `aw-record`; `docs/architecture.md` has the map.

pub mod api;
pub mod cli;
pub mod code_quotes;
pub mod data_dir;
mod differences;
pub mod files;
pub mod kit;
pub mod mcp;
pub mod notify;
pub mod policy;
pub mod process;
pub mod programs;
pub mod render;
pub mod run;
pub mod server;
pub mod settings;
pub mod token;
pub mod web;
