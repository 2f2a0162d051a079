//! Seats: whoever has no right to something does not get it, however they ask.

pub mod api;
mod bounds;
pub mod forged;
pub mod grid;
mod leaks;
mod meanwhile;
mod neighbour;
pub mod page;
pub mod pages;
pub mod scene;
mod tools;
