//! The official conformance suite against a real server, in both revisions of the protocol.
//!
//! The suite wants tools, prompts and resources that only a server made for it has. Each check that
//! fails for want of one is listed with it in `expected-failures-*.yml`; the suite itself sees to it
//! that nothing else fails and that nothing listed passes. It does not notice a server that lets in a
//! foreign `Origin`: that is looked at elsewhere.

use std::fs;
use std::path::{Path, PathBuf};

use super::programs::Programs;
use crate::world::ServerProcess;

#[test]
fn the_suite_of_the_current_revision_passes_but_for_its_own_fixtures() {
    the_suite_is_content("2026-07-28", &["http-header-validation"]);
}

#[test]
fn the_suite_of_the_previous_revision_passes_but_for_its_own_fixtures() {
    the_suite_is_content("2025-11-25", &["server-session-lifecycle", "server-sse-polling"]);
}

#[test]
fn every_accepted_failure_of_the_suite_is_named() {
    let source = Programs::find().map(|programs| {
        fs::read_to_string(programs.conformance_source()).expect("the source of the suite")
    });
    for revision in ["2025-11-25", "2026-07-28"] {
        let text = fs::read_to_string(expected_failures(revision)).unwrap();
        let entries: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("  - ")).collect();
        let others =
            text.lines().filter(|line| !line.starts_with("  - ") && !line.starts_with('#'));
        assert_eq!(others.collect::<Vec<_>>(), ["server:"], "an entry is a line of its own");
        for entry in entries {
            let (check, reason) = entry.split_once(" # ").expect("a reason after the check");
            assert!(check.contains(':'), "{check} is a whole scenario; name the check that fails");
            let own = reason.strip_prefix("the suite's own ").and_then(|own| own.split_once(' '));
            let (kind, name) = own.unwrap_or_else(|| panic!("{entry}: that is no reason"));
            assert!(["tool", "prompt", "resource"].contains(&kind), "{entry}: what is a {kind}?");
            assert!(name.starts_with("test_") || name.starts_with("test://"), "{entry}");
            assert!(source.as_ref().is_none_or(|source| source.contains(name)), "{entry}");
        }
    }
}

/// Asserts that the suite passes, and these scenarios too, which it runs without counting them.
fn the_suite_is_content(revision: &str, besides: &[&str]) {
    let Some(programs) = Programs::find() else { return };
    let home = tempfile::tempdir().unwrap();
    let server = ServerProcess::start(home.path());
    let ran = programs
        .conformance()
        .args(["server", "--url", &format!("{}/mcp", server.url), "--requirements", revision])
        .arg("--expected-failures")
        .arg(expected_failures(revision))
        .arg("--output-dir")
        .arg(home.path().join("results"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    let end = said.split_once("=== SUMMARY ===").map_or(&*said, |(_, end)| end);
    assert!(ran.status.success(), "{end}\n{}", String::from_utf8_lossy(&ran.stderr));
    // It does not mind what is listed and was never looked at.
    let listed = fs::read_to_string(expected_failures(revision)).unwrap();
    for entry in listed.lines().filter_map(|line| line.strip_prefix("  - ")) {
        let check = entry.split(" # ").next().unwrap_or_default();
        assert!(
            end.lines().any(|line| line.trim() == format!("~ {check}")),
            "{check} did not fail"
        );
    }
    for scenario in besides {
        assert!(end.contains(&format!("✓ {scenario}: ")), "{scenario}: {end}");
    }
}

fn expected_failures(revision: &str) -> PathBuf {
    let name = format!("tests/mcp/expected-failures-{revision}.yml");
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}
