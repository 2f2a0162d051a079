//! The house promises, kept by reading the source.

use std::fs;
use std::path::{Path, PathBuf};

/// Where our Rust is.
const EVERYTHING: &[&str] = &[
    "core/src",
    "record/src",
    "aw/src",
    "fuzz/src",
    "core/tests",
    "record/tests",
    "aw/tests",
    "fuzz/tests",
];

/// A source file of the product, without its unit tests.
struct Source {
    name: String,
    code: String,
}

#[test]
fn the_core_knows_nothing_of_the_world() {
    each(
        &["core/src"],
        &[],
        &["std::", "async ", "serde", "tokio", "sqlite", "tracing", "Instant", "Timestamp"],
    );
    let core = read("core/src/lib.rs");
    assert!(core.contains("#![no_std]"), "the core must not link std");
}

#[test]
fn only_the_command_line_prints() {
    each(
        &["core/src", "record/src", "aw/src"],
        &["aw/src/cli/"],
        &["println!", "print!(", "eprintln!", "eprint!(", "io::stdout", "io::stderr", "dbg!"],
    );
}

#[test]
fn the_wall_clock_is_read_by_the_engine_and_the_command_line_only() {
    each(
        &["core/src", "record/src", "aw/src"],
        &["record/src/engine.rs", "aw/src/cli/"],
        &["Timestamp::now", "SystemTime::now", "Zoned::now"],
    );
}

#[test]
fn statuses_of_errors_are_known_in_one_place() {
    let allowed = ["StatusCode::OK", "StatusCode::CREATED", "StatusCode::SWITCHING_PROTOCOLS"];
    for source in sources(&["aw/src"]) {
        if source.name == "aw/src/server/error.rs" {
            continue;
        }
        for (number, line) in source.code.lines().enumerate() {
            let mut rest = line.to_owned();
            for word in allowed {
                rest = rest.replace(word, "");
            }
            assert!(
                !rest.contains("StatusCode::"),
                "{}:{}: an error's status belongs in server/error.rs: {line}",
                source.name,
                number + 1
            );
        }
    }
}

#[test]
fn sql_lives_in_the_store_only() {
    each(
        &["core/src", "record/src", "aw/src"],
        &["record/src/store/"],
        &["select ", "insert into", "update debates", "delete from", "pragma", "prepare_cached"],
    );
}

#[test]
fn only_main_exits() {
    each(
        &["core/src", "record/src", "aw/src"],
        &["aw/src/main.rs"],
        &["process::exit", "process::abort"],
    );
}

#[test]
fn the_store_is_named_where_it_is_built_only() {
    each(&["aw/src"], &["aw/src/cli/serve.rs"], &["Store", "rusqlite"]);
}

#[test]
fn the_store_knows_no_rules_and_rings_no_bell() {
    each(
        &["record/src/store"],
        &["record/src/store/costs.rs"],
        &["decide(", ".available(", "bell::", ".ring(", "Instant::now", "serde"],
    );
}

#[test]
fn the_engine_knows_neither_http_nor_html() {
    each(&["record/src"], &[], &["axum", "hyper", "StatusCode", "<html", "serde_json"]);
}

#[test]
fn nothing_points_at_the_command_line() {
    each(&["aw/src/server", "aw/src/api", "aw/src/settings.rs"], &[], &["crate::cli", "clap"]);
}

#[test]
fn the_tools_know_the_api_and_nothing_behind_it() {
    each(
        &["aw/src/mcp"],
        &[],
        &["aw_record", "Engine", "crate::server", "crate::web", "crate::cli::", "fs::"],
    );
}

#[test]
fn loose_ends_are_not_left() {
    each(
        EVERYTHING,
        &["aw/tests/tidy.rs"],
        &["todo!(", "unimplemented!(", "#[ignore", "allow(dead_code", "FIXME", "XXX"],
    );
}

#[test]
fn unsafe_code_is_forbidden_in_every_crate() {
    let workspace = read("Cargo.toml");
    assert!(workspace.contains("unsafe_code = \"forbid\""), "the lints do not forbid it");
    let members = workspace.lines().find_map(|line| line.strip_prefix("members = ["));
    for member in members.expect("the crates are on one line").trim_end_matches(']').split(", ") {
        let manifest = read(&format!("{}/Cargo.toml", member.trim_matches('"')));
        assert!(manifest.contains("[lints]\nworkspace = true"), "{member} has lints of its own");
    }
}

#[test]
fn every_source_file_says_what_it_is_for() {
    for source in sources(EVERYTHING) {
        assert!(source.code.starts_with("//!"), "{} does not begin with //!", source.name);
    }
}

/// Asserts that none of these words stands in the code below these folders, the allowed places aside.
#[track_caller]
fn each(folders: &[&str], allowed: &[&str], words: &[&str]) {
    for source in sources(folders) {
        if allowed.iter().any(|place| source.name.starts_with(place)) {
            continue;
        }
        for (number, line) in source.code.lines().enumerate() {
            let code = line.split("//").next().unwrap_or(line);
            for word in words {
                assert!(
                    !code.contains(word),
                    "{}:{}: {word:?} does not belong here",
                    source.name,
                    number + 1
                );
            }
        }
    }
}

fn sources(places: &[&str]) -> Vec<Source> {
    let mut found = Vec::new();
    for place in places {
        walk(&root().join(place), &mut found);
    }
    assert!(!found.is_empty(), "nothing to read in {places:?}");
    found
}

fn walk(path: &Path, found: &mut Vec<Source>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            walk(&entry.unwrap().path(), found);
        }
    } else if path.extension().is_some_and(|ending| ending == "rs") {
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or(&text).to_owned();
        found.push(Source { name, code });
    }
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}
