//! `--dry-run` shows all changes and writes nothing.

use std::fs;

use serde_json::Value;
use similar::TextDiff;

use super::super::home::{HOSTS, Home, Thing, Tree, files_of_all, same};
use super::{flag, in_tree};
use crate::world::text;

#[test]
fn a_dry_run_shows_exactly_the_changes_and_writes_nothing() {
    for user in [false, true] {
        let home = Home::lived_in();
        let (tree, stamps) = (home.tree(), home.stamps());
        let typed = format!("install all {}", flag(user));
        let shown = home.agent(&format!("{typed} --dry-run")).data();
        assert_eq!(shown["dry_run"], true);
        same(&home.tree(), &tree);
        assert_eq!(home.stamps(), stamps);
        assert!(!home.aw().home().exists(), "not even a data folder is made");
        let next = home.agent(&format!("{typed} --dry-run")).next();
        assert!(home.aw().sh(&next).code == 0, "{next}");
        let done = home.tree();
        assert_eq!(shown["files"].as_array().unwrap().len(), files_of_all(&HOSTS, user).len());
        assert_eq!(shown["diff"], diffs(&home, &shown, &tree, &done));
        let back = home.agent(&format!("uninstall {} --dry-run", flag(user))).data();
        same(&home.tree(), &done);
        assert_eq!(back["diff"], diffs(&home, &back, &done, &tree));
    }
}

/// The unified diffs between two trees of the files in an answer.
fn diffs(home: &Home, answer: &Value, before: &Tree, after: &Tree) -> String {
    let diff = |file: &Value| {
        let path = text(&file["path"]);
        let name = in_tree(home, &home.name(&path));
        let [old, new] = [before, after].map(|tree| text_of(home, tree, &name));
        let side = |text: &Option<String>| match text {
            Some(_) => path.clone(),
            None => "/dev/null".to_owned(),
        };
        let sides = (side(&old), side(&new));
        let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
        TextDiff::from_lines(&old, &new).unified_diff().header(&sides.0, &sides.1).to_string()
    };
    answer["files"].as_array().unwrap().iter().map(diff).collect()
}

/// The text of a file, through a link.
fn text_of(home: &Home, tree: &Tree, name: &str) -> Option<String> {
    match tree.get(name) {
        Some(Thing::File { bytes, .. }) => Some(String::from_utf8(bytes.clone()).unwrap()),
        Some(Thing::Link { .. }) => {
            let real = fs::canonicalize(home.root().join(name)).unwrap();
            let real = real.strip_prefix(fs::canonicalize(home.root()).unwrap()).unwrap();
            text_of(home, tree, real.to_str().unwrap())
        }
        other => {
            assert!(other.is_none(), "{name} is no file");
            None
        }
    }
}

#[test]
fn a_dry_run_for_people_names_the_files_and_shows_the_diff() {
    let home = Home::lived_in();
    let page = home.agent("install codex --dry-run --format markdown").stdout;
    assert!(page.contains("+DEBATE_WAIT_DEADLINE = \"25\""), "{page}");
    assert!(page.contains(home.at("AGENTS.md").to_str().unwrap()), "{page}");
    assert!(page.contains("nothing was written"), "{page}");
}
