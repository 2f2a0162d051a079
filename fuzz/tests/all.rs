//! The short form of fuzzing: every seed of every target, and some thousand mutations of them.
//!
//! The mutations are the same in every run, so a failure can be repeated everywhere. Inputs that
//! libFuzzer finds (`scripts/fuzz`) become seeds.
#![allow(missing_docs, clippy::unwrap_used)]

mod mutator;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use aw_fuzz::TARGETS;
use mutator::{Dice, Mutator};

/// The seed of the mutations.
const SEED: u64 = 2026;

#[test]
fn any_body_is_answered_in_the_envelope_and_a_refused_one_writes_nothing() {
    holds("bodies", 6_000);
}

#[test]
fn any_url_is_answered_and_a_read_writes_nothing() {
    holds("queries", 6_000);
}

#[test]
fn a_foreign_host_name_or_a_missing_token_is_refused() {
    holds("callers", 6_000);
}

#[test]
fn any_form_is_answered_by_a_page_and_a_refused_one_writes_nothing() {
    holds("forms", 4_000);
}

#[test]
fn any_message_is_answered_in_json_rpc_and_a_refused_one_writes_nothing() {
    holds("messages", 3_000);
}

#[test]
fn any_frames_get_well_formed_answers_and_the_server_continues() {
    holds("frames", 2_000);
}

#[test]
fn any_markdown_becomes_inert_html() {
    holds("markdown", 5_000);
}

#[test]
fn options_of_any_appeal_are_pieces_of_it() {
    holds("options", 10_000);
}

#[test]
fn every_document_that_any_text_mentions_is_found_once() {
    holds("documents", 20_000);
}

#[test]
fn the_statements_of_any_text_stand_in_it() {
    holds("statements", 8_000);
}

#[test]
fn every_line_of_any_text_has_one_normal_form() {
    holds("normal", 10_000);
}

#[test]
fn a_quote_is_found_exactly_where_a_source_contains_it() {
    holds("quotes", 6_000);
}

#[test]
fn any_settings_are_refused_or_mean_the_same_in_another_form() {
    holds("settings", 4_000);
}

#[test]
fn any_files_of_a_type_are_refused_or_make_a_type_that_can_be_written_again() {
    holds("types", 3_000);
}

#[test]
fn any_manifest_is_refused_or_remembered() {
    holds("manifest", 4_000);
}

#[test]
fn any_json_says_the_same_as_to_everybody_else() {
    holds("json", 20_000);
}

#[test]
fn the_kit_comes_out_of_any_file_without_a_trace() {
    holds("edits", 8_000);
}

#[test]
fn the_kit_comes_and_goes_in_any_home() {
    holds("install", 400);
}

#[test]
fn any_rows_of_the_older_system_are_imported_completely_or_left_unchanged() {
    holds("legacy", 300);
}

#[test]
fn every_target_has_seeds_and_words_and_is_known_to_libfuzzer() {
    let listed = fs::read_to_string(folder().join("libfuzzer/Cargo.toml")).unwrap();
    for (name, _) in TARGETS {
        assert!(seeds(name).len() >= 3, "{name} has hardly any seeds");
        assert!(!words(name).is_empty(), "{name} has no words");
        let code = fs::read_to_string(folder().join(format!("libfuzzer/targets/{name}.rs")));
        assert!(code.unwrap().contains(&format!("aw_fuzz::{name}(data)")), "{name}");
        assert!(listed.contains(&format!("name = \"{name}\"")), "{name} is not built");
    }
}

/// Runs a target on its seeds and this many mutations of them.
fn holds(name: &str, mutations: usize) {
    let (_, target) = TARGETS.into_iter().find(|(known, _)| *known == name).unwrap();
    let seeds = seeds(name);
    let words = words(name);
    for seed in &seeds {
        give(name, target, seed);
    }
    let mutator = Mutator { seeds: &seeds, words: &words };
    let mut dice = Dice::new(SEED);
    for _ in 0..mutations {
        give(name, target, &mutator.next(&mut dice));
    }
}

/// Runs a target on an input; saves and names an input that breaks a promise.
fn give(name: &str, target: fn(&[u8]), input: &[u8]) {
    if let Err(why) = catch_unwind(AssertUnwindSafe(|| target(input))) {
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-failed"));
        fs::write(&kept, input).unwrap();
        let shown = String::from_utf8_lossy(input).into_owned();
        let message =
            format!("{name} (seed {SEED}) broke its promise on {}: {shown:?}", kept.display());
        let why = why.downcast::<String>().map_or_else(|_| String::new(), |why| *why);
        panic!("{message}\n{why}");
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// The seeds of a target, in the order of their names.
fn seeds(name: &str) -> Vec<Vec<u8>> {
    let folder = folder().join("seeds").join(name);
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// The dictionary of a target in libFuzzer's form: one word a line, in double quotes, special bytes as
/// `\xff`.
fn words(name: &str) -> Vec<Vec<u8>> {
    let path = folder().join("words").join(format!("{name}.dict"));
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|line| line.starts_with('"'));
    lines.map(|line| unescaped(&line[1..line.len() - 1])).collect()
}

fn unescaped(word: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = word.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let (byte, length) = match (first, after) {
            (b'\\', [b'x', high, low, ..]) => {
                let digit = |byte: u8| char::from(byte).to_digit(16).unwrap() as u8;
                (digit(*high) << 4 | digit(*low), 4)
            }
            (b'\\', [escaped, ..]) => (*escaped, 2),
            _ => (*first, 1),
        };
        bytes.push(byte);
        rest = &rest[length..];
    }
    bytes
}
