//! Every `aw docs` command, as agents read it and as people do.

use std::fs;
use std::os::unix::fs::symlink;

use super::aw::{Aw, Ran};
use crate::world::text;

fn a_document_lives(format: &str) {
    let aw = Aw::new();
    let run = |arguments: &[&str]| -> Ran {
        let mut all = vec!["docs"];
        all.extend_from_slice(arguments);
        if format != "json" {
            all.extend(["--format", format]);
        }
        aw.run(&all)
    };
    aw.file("plan.md", "# Plan\n\nKeep one file.\n");
    run(&[
        "create",
        "--file",
        "plan.md",
        "--summary",
        "Plan v1",
        "--metadata",
        "{\"tags\": [\"db\"]}",
    ]);
    let listed = aw.quietly(&["docs", "list"]).data();
    let id = text(&listed["documents"][0]["document_id"]);
    aw.call_it("DOCUMENT", &id);
    aw.file("plan.md", "# Plan\n\nKeep two files.\n");
    run(&["submit", &id, "--summary", "Two files", "--file", "plan.md", "--author", "An"]);
    run(&["get", &id]);
    run(&["get", &id, "--version", "1"]);
    run(&["list"]);
    run(&["list", "--search", "nothing like it"]);
    run(&["history", &id]);
    run(&["diff", &id]);
    run(&["diff", &id, "--from", "2", "--to", "2"]);
    run(&["export", &id, "--version", "1", "--output", "old.md"]);
    assert_eq!(fs::read_to_string(aw.desk().join("old.md")).unwrap(), "# Plan\n\nKeep one file.\n");
    run(&["restore", &id, "--version", "1"]);
    run(&["history", &id, "--limit", "1"]);
    aw.transcript(&format!("docs_{format}_lives"));

    run(&["delete", &id]);
    run(&["delete", &id, "--confirm"]);
    run(&["get", &id]);
    run(&["get", &id, "--include-deleted"]);
    run(&["list"]);
    run(&["list", "--include-deleted"]);
    aw.transcript(&format!("docs_{format}_is_deleted"));
}

#[test]
fn a_document_lives_in_json() {
    a_document_lives("json");
}

#[test]
fn a_document_lives_in_markdown() {
    a_document_lives("markdown");
}

#[test]
fn plain_is_the_text_and_nothing_else() {
    let aw = Aw::new();
    let bytes = "no newline at the end,\r\na tab\t, a bell \u{7}, Kế hoạch";
    let kept = aw.piped(bytes.as_bytes(), &["docs", "create", "--stdin", "--summary", "As it is"]);
    let id = text(&kept.data()["document_id"]);
    assert_eq!(aw.run(&["docs", "get", &id, "--format", "plain"]).stdout, bytes);
}

#[test]
fn a_document_is_not_exported_through_a_link() {
    let aw = Aw::new();
    let made = aw.quietly(&["docs", "create", "--summary", "S", "--content", "A plan."]).data();
    let id = text(&made["document_id"]);
    let desk = aw.desk();
    aw.file("theirs", "Keep me.");
    // The second one leads to a file that does not exist yet.
    for (link, target) in [("link.md", "theirs"), ("dangling.md", "new")] {
        symlink(target, desk.join(link)).unwrap();
        let export = ["docs", "export", &id, "--force", "--output", link];
        let refused = aw.quietly(&export).refused(4, "INVALID_INPUT");
        let why = format!("{link} cannot be written: it is a link");
        assert_eq!(text(&refused["error"]["message"]), why);
    }
    assert_eq!(fs::read_to_string(desk.join("theirs")).unwrap(), "Keep me.");
    assert!(!desk.join("new").exists());
}
