//! Fuzz targets for everything that `aw` parses.
//!
//! Each target is a function of bytes that panics when a promise is broken; its comment lists the
//! promises. As part of `cargo test`, `tests/all.rs` runs every target on its seeds and some thousand
//! mutations of them. `scripts/fuzz` runs libFuzzer for any length of time. Start with [`TARGETS`].

mod files;
mod frames;
mod html;
mod http;
mod kit;
mod legacy;
mod messages;
mod points;
mod scene;
mod words;

pub use files::{manifest, settings, types};
pub use frames::frames;
pub use http::{bodies, callers, forms, queries};
pub use kit::{edits, install, json};
pub use legacy::legacy;
pub use messages::messages;
pub use points::{normal, quotes, statements};
pub use words::{documents, markdown, options};

/// A target: a function that accepts any bytes.
pub type Target = fn(&[u8]);

/// All targets, by the names of their seed folders.
pub const TARGETS: [(&str, Target); 19] = [
    ("bodies", bodies),
    ("queries", queries),
    ("callers", callers),
    ("forms", forms),
    ("messages", messages),
    ("frames", frames),
    ("markdown", markdown),
    ("options", options),
    ("documents", documents),
    ("statements", statements),
    ("normal", normal),
    ("quotes", quotes),
    ("settings", settings),
    ("types", types),
    ("manifest", manifest),
    ("json", json),
    ("edits", edits),
    ("install", install),
    ("legacy", legacy),
];
