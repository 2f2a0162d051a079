//! The agent kit for people: changes, files, types of debate.

use std::fmt::Write as _;

use super::super::agent::{KitChanges, KitFiles};
use super::super::debate::TypesOutput;
use super::{Paper, cell, shown, table};
use crate::kit::host::Host;

/// The change of each file of the kit.
pub(in crate::cli) fn kit_changes(changes: &KitChanges, paper: &Paper) -> String {
    let mut text = String::new();
    for file in &changes.files {
        let change = paper.bold(&format!("{:9}", file.change));
        let _ = writeln!(text, "{change} {}", shown(&file.path));
        if let Some(note) = file.note {
            let _ = writeln!(text, "          {note}");
        }
    }
    if let Some(diff) = &changes.diff {
        let _ = write!(text, "\n{}", shown(diff));
    }
    text
}

/// The files of the kit and their states.
pub(in crate::cli) fn kit_files(kit: &KitFiles, paper: &Paper) -> String {
    let rows: Vec<Vec<String>> = kit
        .files
        .iter()
        .map(|file| {
            let hosts: Vec<&str> = file.hosts.iter().copied().map(Host::as_str).collect();
            let scope = if file.project.is_some() { "project" } else { "user" };
            vec![
                file.state.to_owned(),
                scope.to_owned(),
                hosts.join(", "),
                shown(&file.path.display().to_string()),
            ]
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    table(&["state", "for", "hosts", "file"], &rows, paper)
}

/// The types of debate.
pub(in crate::cli) fn types(types: &TypesOutput, paper: &Paper) -> String {
    let rows: Vec<Vec<String>> = types
        .types
        .iter()
        .map(|kind| {
            let words = kind.problem.as_ref().or(kind.description.as_ref());
            let mut origin = kind.origin.unwrap_or("cannot be used").replace('_', " ");
            if kind.replaces_built_in == Some(true) {
                origin.push_str(", replaces the built-in one");
            }
            vec![shown(&kind.name), origin, cell(words.map_or("", String::as_str), 300, paper)]
        })
        .collect();
    table(&["type", "from", "what for"], &rows, paper)
}
