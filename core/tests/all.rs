//! The proofs of the rules: by tables, by random histories, and by a model of the whole.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, unreachable_pub)]

mod histories;
mod model;
mod moves;
mod record;
