//! Whatever `aw` parses, given anything at all, and what must be true then.
//!
//! Each target is a function of bytes that panics when a promise is broken; its comment lists the
//! promises. `tests/all.rs` gives every target its seeds and some thousand mutations of them, as
//! part of `cargo test`. `scripts/fuzz` lets libFuzzer look for more, for as long as one likes.
//! Begin with [`TARGETS`].

mod files;
mod frames;
mod html;
mod http;
mod kit;
mod legacy;
mod messages;
mod scene;
mod words;

pub use files::{manifest, settings, types};
pub use frames::frames;
pub use http::{bodies, callers, forms, queries};
pub use kit::{edits, install, json};
pub use legacy::legacy;
pub use messages::messages;
pub use words::{documents, markdown, options};

/// A target: any bytes may be given to it.
pub type Target = fn(&[u8]);

/// All of them, by the names under which their seeds are kept.
pub const TARGETS: [(&str, Target); 16] = [
    ("bodies", bodies),
    ("queries", queries),
    ("callers", callers),
    ("forms", forms),
    ("messages", messages),
    ("frames", frames),
    ("markdown", markdown),
    ("options", options),
    ("documents", documents),
    ("settings", settings),
    ("types", types),
    ("manifest", manifest),
    ("json", json),
    ("edits", edits),
    ("install", install),
    ("legacy", legacy),
];
