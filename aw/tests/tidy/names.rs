//! One name for one thing: public types of different rooms have different names.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{Source, sources};

/// Names that rooms share on purpose, and why.
const SHARED: &[(&str, &str)] = &[
    ("Context", "a debate as the record reads it, and as a tool returns it"),
    ("Document", "a document in the record, in the API, and as a tool returns it"),
    ("Status", "the result of a check of the doctor, and of a wait by a tool"),
    ("Written", "a written argument in the API, and as a tool returns it"),
];

#[test]
fn types_of_different_rooms_have_different_names() {
    let mut rooms: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in sources(&["core/src", "record/src", "aw/src"]) {
        for name in public_types(&file) {
            rooms.entry(name).or_default().insert(room(&file));
        }
    }
    let is_allowed = |name: &str| SHARED.iter().any(|(shared, _)| *shared == name);
    // A JSON shape of the API has the name of the thing that it shows.
    let is_shape = |rooms: &BTreeSet<String>| {
        let others: Vec<&String> = rooms.iter().filter(|room| *room != "aw api").collect();
        others.len() == 1 && !others[0].starts_with("aw ")
    };
    let shared: Vec<String> = rooms
        .iter()
        .filter(|(name, rooms)| rooms.len() > 1 && !is_shape(rooms) && !is_allowed(name))
        .map(|(name, rooms)| {
            format!("{name}: {}", rooms.iter().cloned().collect::<Vec<_>>().join(", "))
        })
        .collect();
    assert!(shared.is_empty(), "these names stand for several things:\n{}", shared.join("\n"));
    for (name, _) in SHARED {
        assert!(rooms.get(*name).is_some_and(|rooms| rooms.len() > 1), "{name} is not shared");
    }
}

#[test]
fn a_public_type_is_found_however_visible_it_is() {
    let text = "pub struct A; pub(crate) enum B {} pub(super) trait C {} struct D; pub type E = A;";
    let file = Source::parse("aw/src/web/page.rs", text.to_owned());
    assert_eq!(public_types(&file), ["A", "B", "C", "E"]);
}

/// The crate and the module at its top.
fn room(file: &Source) -> String {
    let (krate, _) = file.name.split_once('/').expect("a crate's file");
    let module = file.module();
    format!("{krate} {}", module.first().unwrap_or(&"root"))
}

fn public_types(file: &Source) -> Vec<String> {
    let mut found = Vec::new();
    let mut tokens = file.tokens.iter().map(|token| token.text.as_str()).peekable();
    while let Some(token) = tokens.next() {
        if token != "pub" {
            continue;
        }
        if tokens.next_if_eq(&"(").is_some() {
            while tokens.next().is_some_and(|token| token != ")") {}
        }
        if tokens.next_if(|token| matches!(*token, "struct" | "enum" | "trait" | "type")).is_some()
        {
            // A macro's variable is no name.
            found.extend(tokens.next().filter(|name| *name != "$").map(str::to_owned));
        }
    }
    found
}
