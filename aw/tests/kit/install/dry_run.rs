//! `--dry-run` shows what would change, all of it and nothing else, and writes nothing.

use std::collections::BTreeMap;
use std::fs;

use super::super::home::{HOSTS, Home, Thing, Tree, files_of_all, same};
use super::{flag, in_tree, is_supersequence};

#[test]
fn a_dry_run_shows_exactly_our_part_and_writes_nothing() {
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
        let diffs = per_file(shown["diff"].as_str().unwrap());
        assert_eq!(diffs.len(), files_of_all(&HOSTS, user).len());
        for (path, diff) in diffs {
            let name = in_tree(&home, &home.name(&path));
            let real = |tree: &Tree| text_of(&home, tree, &name);
            let (was, is) = (real(&tree), real(&done));
            assert_eq!(patched(&was, &diff), is, "the diff of {path} is what was done");
            let (minus, plus) = (lines(&diff, '-'), lines(&diff, '+'));
            // Only a line that we had to add to shows up as removed, and comes back in full.
            let taken: String = minus.concat();
            let added: String = plus.concat();
            assert!(is_supersequence(&added, &taken), "{path}: {diff:?}");
            assert!(minus.len() <= 1, "{path}: {diff:?}");
            assert!(plus.len() >= minus.len() && added != taken, "{path}: {diff:?}");
        }
        let back = home.agent(&format!("uninstall {} --dry-run", flag(user))).data();
        same(&home.tree(), &done);
        for (path, diff) in per_file(back["diff"].as_str().unwrap()) {
            let name = in_tree(&home, &home.name(&path));
            let of = |tree: &Tree| text_of(&home, tree, &name);
            assert_eq!(patched(&of(&done), &diff), of(&tree), "{path}");
        }
    }
}

/// The text of a file, through a link.
fn text_of(home: &Home, tree: &Tree, name: &str) -> String {
    match tree.get(name) {
        Some(Thing::File { bytes, .. }) => String::from_utf8(bytes.clone()).unwrap(),
        Some(Thing::Link { .. }) => {
            let real = fs::canonicalize(home.root().join(name)).unwrap();
            let real = real.strip_prefix(fs::canonicalize(home.root()).unwrap()).unwrap();
            text_of(home, tree, real.to_str().unwrap())
        }
        other => {
            assert!(other.is_none(), "{name} is no file");
            String::new()
        }
    }
}

/// The hunks of each file of a unified diff, by its path.
fn per_file(diff: &str) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut lines = diff.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let old = line.strip_prefix("--- ").expect("a file begins").trim_end();
        let new = lines.next().unwrap().strip_prefix("+++ ").unwrap().trim_end();
        let path = if old == "/dev/null" { new } else { old };
        let mut hunks = String::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with("--- ")) {
            hunks.push_str(line);
        }
        assert!(files.insert(path.to_owned(), hunks).is_none(), "{path} twice");
    }
    files
}

/// The lines that a diff adds or takes away.
fn lines(diff: &str, sign: char) -> Vec<String> {
    let own = diff.split_inclusive('\n').filter(|line| line.starts_with(sign));
    own.map(|line| line[1..].to_owned()).collect()
}

/// What `patch` would make of a text.
fn patched(text: &str, diff: &str) -> String {
    let old: Vec<&str> = text.split_inclusive('\n').collect();
    let mut new = String::new();
    let mut at = 0;
    let mut lines = diff.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        if let Some(hunk) = line.strip_prefix("@@ -") {
            let (start, more) = hunk.split_once([',', ' ']).unwrap();
            let start: usize = start.parse().unwrap();
            let start = if more.starts_with('0') { start } else { start - 1 };
            new.push_str(&old[at..start].concat());
            at = start;
            continue;
        }
        // The diff ends every line, and says of which it must not be believed.
        let endless = lines.next_if(|next| next.starts_with('\\')).is_some();
        let (sign, line) = line.split_at(1);
        let line = if endless { line.strip_suffix('\n').unwrap() } else { line };
        if sign != "+" {
            assert_eq!(old[at], line, "{diff}");
            at += 1;
        }
        if sign != "-" {
            new.push_str(line);
        }
    }
    new + &old[at..].concat()
}

#[test]
fn a_dry_run_reads_well() {
    let home = Home::lived_in();
    let page = home.agent("install codex --dry-run --format markdown").stdout;
    assert!(page.contains("+DEBATE_WAIT_DEADLINE = \"25\""), "{page}");
    assert!(page.contains(home.at("AGENTS.md").to_str().unwrap()), "{page}");
    assert!(page.contains("nothing was written"), "{page}");
}
