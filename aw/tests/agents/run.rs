//! `aw debate run` with the real agent programs. Only their model is a stand-in, on loopback.
//!
//! Start with [`whole`]: each program plays each seat. [`hostile`] has models and repositories that attack the
//! user's project, [`failures`] models that refuse, and programs that are cut off. [`stage`] has a project and a user
//! who is logged in; [`stand_in`] is the model.

mod failures;
mod hostile;
mod stage;
mod stand_in;
mod whole;

pub use stage::{Stage, agent, edit, read, say};
pub use whole::scripts;
