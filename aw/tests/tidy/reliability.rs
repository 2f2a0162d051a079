//! The tests that docs/reliability.md and docs/security.md name exist.

use std::fs;
use std::path::Path;

use super::source::{read, root};

/// Where our tests are: some stand beside the code that they test.
const CRATES: [&str; 5] = ["core", "record", "aw", "fuzz", "trials"];

#[test]
fn every_test_that_a_page_of_promises_names_exists() {
    let files = files();
    for path in ["docs/reliability.md", "docs/security.md"] {
        let page = read(path);
        let named: Vec<&str> =
            quoted(&page).filter(|name| is_test(name) || is_file(name)).collect();
        assert!(named.len() > 40, "only {} names were found: {named:?}", named.len());
        let lost: Vec<&str> = named.into_iter().filter(|name| !exists(name, &files)).collect();
        assert!(lost.is_empty(), "{path} names what is not there: {lost:#?}");
    }
}

#[test]
fn a_wrong_name_is_found() {
    let files = files();
    for (name, is_there) in [
        ("tidy::reliability::a_wrong_name_is_found", true),
        ("a_wrong_name_is_found", true),
        ("tidy::reliability", true),
        ("scripts/test --skip browser", true),
        ("tidy::rooms::a_wrong_name_is_found", false),
        ("a_wrong_name_is_never_found", false),
        ("tidy::unreliability", false),
        ("scripts/guess --long", false),
    ] {
        assert!(is_test(name) || is_file(name), "{name} does not look like a name");
        assert_eq!(exists(name, &files), is_there, "{name}");
    }
}

/// The texts between back-ticks.
fn quoted(page: &str) -> impl Iterator<Item = &str> {
    page.split('`').skip(1).step_by(2)
}

/// Whether this looks like a test or a module of tests: a path, or words joined by underscores.
fn is_test(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_:".contains(c);
    name.chars().all(is_plain) && (name.contains("::") || name.matches('_').count() > 1)
}

/// Whether this looks like a file of ours, perhaps with arguments.
fn is_file(name: &str) -> bool {
    let folders = CRATES.iter().chain(&["scripts", ".cargo"]);
    folders
        .into_iter()
        .any(|folder| name.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
}

fn exists(name: &str, files: &[(String, String)]) -> bool {
    if is_file(name) {
        let path = name.split(' ').next().unwrap_or_default();
        return root().join(path).exists();
    }
    let (modules, test) = name.rsplit_once("::").unwrap_or(("", name));
    let is_in = |file: &str, path: &str| {
        path.is_empty() || file.ends_with(&format!("/{}", path.replace("::", "/")))
    };
    let test = format!("fn {test}(");
    files
        .iter()
        .any(|(file, text)| is_in(file, name) || is_in(file, modules) && text.contains(&test))
}

/// Every Rust file of these crates: its path without its ending, and its text.
fn files() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for folder in CRATES {
        walk(&root().join(folder), &mut found);
    }
    found
}

fn walk(path: &Path, found: &mut Vec<(String, String)>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            walk(&entry.unwrap().path(), found);
        }
    } else if path.extension().is_some_and(|ending| ending == "rs") {
        let file = path.with_extension("").to_str().unwrap().trim_end_matches("/mod").to_owned();
        found.push((file, fs::read_to_string(path).unwrap()));
    }
}
