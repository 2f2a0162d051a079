//! The moves of a debate as tools, over HTTP and over stdin and stdout: for a client of our own, and
//! for those that others have written.

mod clients;
mod conformance;
mod http;
mod inspector;
mod ours;
mod points;
mod programs;
mod sdk;
mod stdio;
mod tools;
mod wake;
