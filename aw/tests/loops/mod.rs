//! What agents live in: `wait`, the loops around it, and the server that is simply there. Every
//! command is a real process of the real binary.

mod background;
mod demo;
mod fakes;
mod fresh;
mod hanging;
mod impostors;
pub mod machine;
mod network;
mod older;
mod older_server;
mod restoring;
mod turns;
mod waiting;
