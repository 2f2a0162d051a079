//! Tests of the record through [`aw_record::Engine`]: writes, waits, reads, the guards of the schema, and
//! the import from the older system.
#![allow(missing_docs, clippy::unwrap_used)]

mod batches;
mod documents;
mod files;
mod import_beside_older_server;
mod ledger;
mod legacy;
mod names;
mod old_schemas;
mod postgres;
mod purge;
mod reads;
mod schema_guards;
mod search;
mod seats;
mod seen;
mod servers;
mod tls;
mod transfer;
mod verify;
mod waits;
mod world;
mod writes;
