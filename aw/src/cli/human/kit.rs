//! The agent kit for people: what changes where, what is there, which types of debate there are.

use std::fmt::Write as _;

use serde_json::Value;

use super::{Paper, cell, list, shown, table, word};

/// What becomes of each file of the kit.
pub(in crate::cli) fn kit_changes(data: &Value, paper: &Paper) -> String {
    let mut text = String::new();
    for file in list(data, "files") {
        let change = paper.bold(&format!("{:9}", word(file, "change")));
        let _ = writeln!(text, "{change} {}", shown(word(file, "path")));
        if let Some(note) = file["note"].as_str() {
            let _ = writeln!(text, "          {note}");
        }
    }
    if let Some(diff) = data["diff"].as_str() {
        let _ = write!(text, "\n{}", shown(diff));
    }
    text
}

/// The files of the kit and how they are.
pub(in crate::cli) fn kit_files(data: &Value, paper: &Paper) -> String {
    let rows: Vec<Vec<String>> = list(data, "files")
        .iter()
        .map(|file| {
            let hosts: Vec<&str> = list(file, "hosts").iter().filter_map(Value::as_str).collect();
            let scope = if file["project"].is_string() { "project" } else { "user" };
            vec![
                word(file, "state").to_owned(),
                scope.to_owned(),
                hosts.join(", "),
                shown(word(file, "path")),
            ]
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    table(&["state", "for", "hosts", "file"], &rows, paper)
}

/// The types of debate.
pub(in crate::cli) fn types(data: &Value, paper: &Paper) -> String {
    let rows: Vec<Vec<String>> = list(data, "types")
        .iter()
        .map(|kind| {
            let words = kind["problem"].as_str().unwrap_or(word(kind, "description"));
            let mut origin = kind["origin"].as_str().unwrap_or("cannot be used").replace('_', " ");
            if kind["replaces_built_in"] == true {
                origin.push_str(", replaces the built-in one");
            }
            vec![shown(word(kind, "type")), origin, cell(words, 300)]
        })
        .collect();
    table(&["type", "from", "what for"], &rows, paper)
}
