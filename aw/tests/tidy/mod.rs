//! Promises of docs/architecture.md, checked against the source.

mod names;
mod promises;
mod rooms;
mod source;
