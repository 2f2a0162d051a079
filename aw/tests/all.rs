//! Every test of the product as its users meet it: over real sockets, on a real SQLite file.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::expect_used)]

mod agents;
mod api;
mod browser;
mod cli;
mod convergence;
mod crowd;
mod faults;
mod kit;
mod loops;
mod mcp;
mod run;
mod seats;
mod sessions;
mod tidy;
mod world;
