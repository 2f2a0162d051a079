//! The proofs of the rules: one test for each rule, tables over every short debate, and a model of
//! the whole protocol.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, unreachable_pub)]

mod decide;
mod model;
mod points;
mod record;
mod tables;
