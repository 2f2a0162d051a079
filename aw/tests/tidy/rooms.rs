//! Which rooms use which: read from the source, and compared with docs/architecture.md.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{Source, Token, read, sources};

type Arrows = BTreeMap<String, BTreeSet<String>>;

#[test]
fn the_rooms_use_each_other_as_the_architecture_says() {
    let page = read("docs/architecture.md");
    for (heading, folder) in
        [("### Arrows in aw", "aw/src"), ("### Arrows in record", "record/src")]
    {
        let (written, found) = (arrows_of_page(&page, heading), arrows_of(&sources(&[folder])));
        let list = |arrows: &Arrows| {
            let line = |(room, used): (&String, &BTreeSet<String>)| {
                let used: Vec<String> = used.iter().map(|used| format!("`{used}`")).collect();
                format!("- `{room}` uses {}", used.join(", "))
            };
            arrows.iter().map(line).collect::<Vec<_>>().join("\n")
        };
        assert_eq!(list(&found), list(&written), "{heading} of docs/architecture.md is not true");
        assert_eq!(circle(&found), None, "rooms of {folder} use each other in a circle");
    }
}

#[test]
fn an_arrow_is_found_however_it_is_written() {
    let said = |text: &str| {
        let source = Source::parse("aw/src/web/page.rs", text.to_owned());
        arrows_of(&[source]).remove("web").unwrap_or_default().into_iter().collect::<Vec<_>>()
    };
    for text in [
        "use crate::server::App;",
        "use crate::{server::App, web};",
        "use super::super::server;",
        "fn a() { crate::server::b() }",
        "use super::form;\n#[cfg(test)]\nmod tests { use crate::cli; }\nuse crate::server;",
    ] {
        assert_eq!(said(text), ["server"], "{text}");
    }
    assert_eq!(said("use super::form; use crate::web::form; use self::b;"), [""; 0]);
}

/// A list of the page: `` - `cli` uses `api`, `kit` `` a line.
fn arrows_of_page(page: &str, heading: &str) -> Arrows {
    let (_, rest) = page.split_once(heading).unwrap_or_else(|| panic!("no {heading:?}"));
    let lines = rest.lines().skip(1).skip_while(|line| line.is_empty());
    let lines = lines.take_while(|line| line.starts_with("- "));
    lines
        .filter_map(|line| {
            let mut names = line.split('`').skip(1).step_by(2).map(str::to_owned);
            Some((names.next()?, names.collect()))
        })
        .collect()
}

/// The rooms that each room uses. A room is a module at the top of its crate.
fn arrows_of(files: &[Source]) -> Arrows {
    let mut arrows = Arrows::new();
    for file in files {
        let module = file.module();
        let Some(room) = module.first() else { continue };
        for used in rooms_used(&file.tokens, &module) {
            if used != *room {
                arrows.entry((*room).to_owned()).or_default().insert(used);
            }
        }
    }
    arrows
}

/// The first segments of paths from the crate's root.
fn rooms_used(tokens: &[Token], module: &[&str]) -> Vec<String> {
    let mut used = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let is_start = at == 0 || tokens[at - 1].text != ":";
        let depth = match token.text.as_str() {
            "crate" if is_start => 0,
            "super" if is_start => module.len().saturating_sub(1),
            _ => continue,
        };
        follow(&tokens[at + 1..], depth, &mut used);
    }
    // A name at the root that is no room: what lib.rs itself defines.
    used.retain(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '_'));
    used
}

/// Collects the names that a path, or each path of a braced list, reaches at the crate's root.
fn follow(tokens: &[Token], mut depth: usize, used: &mut Vec<String>) {
    let mut rest = tokens;
    while let [colon, other, next, ..] = rest
        && colon.text == ":"
        && other.text == ":"
    {
        rest = &rest[3..];
        match next.text.as_str() {
            "super" => depth = depth.saturating_sub(1),
            "{" if depth == 0 => {
                let mut open = 0;
                let mut first = true;
                for token in rest {
                    match token.text.as_str() {
                        "{" => open += 1,
                        "}" if open == 0 => return,
                        "}" => open -= 1,
                        "," if open == 0 => first = true,
                        name if first && open == 0 => {
                            used.push(name.to_owned());
                            first = false;
                        }
                        _ => {}
                    }
                }
                return;
            }
            name => {
                if depth == 0 {
                    used.push(name.to_owned());
                }
                return;
            }
        }
    }
}

/// Some rooms that use each other in a circle, if there are any.
fn circle(arrows: &Arrows) -> Option<Vec<String>> {
    fn visit(room: &str, arrows: &Arrows, path: &mut Vec<String>) -> Option<Vec<String>> {
        if let Some(at) = path.iter().position(|before| before == room) {
            return Some(path[at..].to_vec());
        }
        path.push(room.to_owned());
        let next = arrows.get(room).into_iter().flatten();
        let found = next.into_iter().find_map(|next| visit(next, arrows, path));
        path.pop();
        found
    }
    arrows.keys().find_map(|room| visit(room, arrows, &mut Vec::new()))
}
