//! The least that a program can do.

fn main() {}
