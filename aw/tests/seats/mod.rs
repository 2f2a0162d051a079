//! Seats: whoever has no right to something does not get it, however they ask.

mod api;
mod bounds;
mod forged;
mod grid;
mod leaks;
mod meanwhile;
mod neighbour;
mod page;
mod pages;
mod scene;
mod tools;
