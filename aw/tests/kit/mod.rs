//! The agent kit: its words against the real command line, its types, and its installation into
//! homes that have seen other things.

mod doctor;
mod home;
mod install;
pub mod speech;
mod texts;
mod types;
