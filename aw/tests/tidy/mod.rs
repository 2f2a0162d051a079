//! Promises of docs/architecture.md, checked against the source.

mod promises;
mod rooms;
mod source;
