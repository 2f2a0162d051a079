//! Promises of docs/architecture.md and docs/reliability.md, checked against the source.

mod names;
mod promises;
mod reliability;
mod rooms;
mod source;
