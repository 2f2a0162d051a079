//! An empty program.

fn main() {}
