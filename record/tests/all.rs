//! The record as its only door shows it: what is written, told and read, what the schema guards, and
//! what an import brings over.
#![allow(missing_docs, clippy::unwrap_used)]

mod beside;
mod guarded;
mod house;
mod legacy;
mod papers;
mod passes;
mod postgres;
mod reads;
mod schemas;
mod seats;
mod servers;
mod tls;
mod transfer;
mod verify;
mod waits;
mod world;
mod writes;
