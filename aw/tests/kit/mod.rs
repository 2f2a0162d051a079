//! The agent kit: its texts against the real command line, its types, and its installation.

mod doctor;
mod home;
mod install;
pub mod mcp_process;
mod texts;
mod types;
