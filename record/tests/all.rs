//! The record as its only door shows it: what the schema guards, and what an import brings over.
#![allow(missing_docs, clippy::unwrap_used)]

mod guarded;
mod legacy;
mod passes;
mod schemas;
mod verify;
