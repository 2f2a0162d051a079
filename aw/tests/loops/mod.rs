//! The loop of an agent: `wait`, retries, and the server in the background. Every command is a process of the
//! real binary.

mod autostart;
mod background;
mod demo;
mod fakes;
mod hanging;
mod hostile_server;
mod impostors;
pub mod machine;
mod network;
mod older;
mod older_server;
mod restoring;
mod service;
mod turns;
mod upgrade;
mod waiting;
