//! Permissions of tokens: no caller gets more than its token allows, over any interface.

mod access_lost;
pub mod api;
pub mod forged_tokens;
pub mod grid;
mod leaks;
mod one_debate_tokens;
mod other_users;
pub mod pages;
pub mod scene;
mod tools;
