//! The Stop hook of Claude Code that wakes its agent, in the JSON of its settings. Hooks of the same event stand in
//! a list, so ours joins those of others.

use std::ops::Range;

use serde_json::Value;

use super::json::{Layout, new_document, room, without};
use super::{CannotEdit, Insertion, only, replaced};
use crate::kit::json::{self, Member};

/// The command of the hook.
pub const COMMAND: &str = "aw wake claude";

/// The list of the hooks, and the object that it is in, each with its braces.
const PLACES: [(&str, char, char); 2] = [("hooks", '{', '}'), ("Stop", '[', ']')];

/// The hook: it runs in the background for eight hours at most, and wakes the agent by its exit code.
const LINES: [(usize, &str); 10] = [
    (0, "{"),
    (1, "\"hooks\": ["),
    (2, "{"),
    (3, "\"type\": \"command\","),
    (3, "\"command\": \"aw wake claude\","),
    (3, "\"asyncRewake\": true,"),
    (3, "\"timeout\": 28800"),
    (2, "}"),
    (1, "]"),
    (0, "}"),
];

pub(super) fn insert(file: &str, before: &[String]) -> Result<Insertion, CannotEdit> {
    let Some(root) = json::parse(file).map_err(CannotEdit::NotJson)? else {
        return Ok(new_document(file, &[lines(PLACES.len())]));
    };
    if let Some(now) = ours(&root).next() {
        let known = before.iter().find(|text| text.contains(COMMAND)).cloned();
        return Ok(match known.or_else(|| as_written(file)) {
            Some(inserted) if *now == value() => Insertion::Present { inserted },
            Some(_) | None => Insertion::Foreign,
        });
    }
    let names: Vec<&str> = PLACES.iter().map(|(name, ..)| *name).collect();
    let (container, missing) = if root.get(names[0]).is_none() {
        (json::object(file, &[]), 2)
    } else if root[names[0]].get(names[1]).is_none() {
        (json::object(file, &names[..1]), 1)
    } else {
        (json::array(file, &names), 0)
    };
    let no_room = || CannotEdit::NoRoom {
        what: Layout::OneLine.join(&lines(0)),
        place: "hooks.Stop".to_owned(),
    };
    let (at, inserted) = room(file, &container.ok_or_else(no_room)?, &lines(missing));
    let with = replaced(file, at..at, &inserted);
    // The change must add exactly this hook and nothing else.
    let now = json::value(&with);
    let is_added = ours(&now).eq([&value()]);
    if is_added && without_ours(now) == without_ours(root) {
        Ok(Insertion::New { file: with, inserted })
    } else {
        Err(no_room())
    }
}

pub(super) fn remove(file: &str, inserted: &[String]) -> String {
    let known = || inserted.iter().filter(|text| text.contains(COMMAND));
    let exactly = known().find_map(|text| only(file, text)).map(|at| replaced(file, at, ""));
    let Ok(Some(root)) = json::parse(file) else {
        // The file is broken, but our own text may still stand in it.
        return exactly.unwrap_or_else(|| file.to_owned());
    };
    if let Some(left) = exactly.filter(|left| is_rest(left, &root)) {
        return left;
    }
    // A hook that differs from ours stays.
    let Some(text) = known().next().filter(|_| ours(&root).eq([&value()])) else {
        return file.to_owned();
    };
    let made_file = text.trim_start().starts_with('{');
    match without_hook(file, &root, made(text)) {
        Some(left) if made_file && json::value(&left) == json::value("{}") => String::new(),
        Some(left) => left,
        None => file.to_owned(),
    }
}

/// Whether the file has a hook that runs the command.
pub fn is_in(file: &str) -> bool {
    ours(&json::value(file)).next().is_some()
}

/// The hook as lines, each with its depth, inside so many of its places.
fn lines(places: usize) -> Vec<(usize, String)> {
    let around = &PLACES[PLACES.len() - places..];
    let opened = around
        .iter()
        .enumerate()
        .map(|(depth, (name, open, _))| (depth, format!("\"{name}\": {open}")));
    let own = LINES.iter().map(|(depth, line)| (depth + places, (*line).to_owned()));
    let closed =
        around.iter().enumerate().rev().map(|(depth, (.., close))| (depth, close.to_string()));
    opened.chain(own).chain(closed).collect()
}

/// How many of the places an inserted text made.
fn made(text: &str) -> usize {
    let of = |(name, ..): &(&str, char, char)| text.find(&format!("\"{name}\""));
    match (of(&PLACES[0]), of(&PLACES[1])) {
        (Some(outer), Some(inner)) if outer < inner => 2,
        (_, Some(_)) => 1,
        (_, None) => 0,
    }
}

fn value() -> Value {
    json::value(&Layout::OneLine.join(&lines(0)))
}

/// The elements of the list that run the command.
fn ours(root: &Value) -> impl Iterator<Item = &Value> {
    let list = root["hooks"]["Stop"].as_array();
    list.into_iter().flatten().filter(|element| is_ours(element))
}

fn is_ours(element: &Value) -> bool {
    let hooks = element["hooks"].as_array().into_iter().flatten();
    hooks.into_iter().any(|hook| hook["command"] == COMMAND)
}

/// The same value without the hook, and without places that are empty then.
fn without_ours(mut root: Value) -> Value {
    let Some(outer) = root.get_mut("hooks").and_then(Value::as_object_mut) else { return root };
    if let Some(list) = outer.get_mut("Stop").and_then(Value::as_array_mut) {
        list.retain(|element| !is_ours(element));
        if list.is_empty() {
            outer.shift_remove("Stop");
        }
    }
    let is_empty = outer.is_empty();
    if let Some(root) = root.as_object_mut().filter(|_| is_empty) {
        root.shift_remove("hooks");
    }
    root
}

/// Whether this file says the same as the earlier one, without the hook.
fn is_rest(left: &str, earlier: &Value) -> bool {
    let rest = without_ours(earlier.clone());
    match json::parse(left) {
        Ok(Some(now)) => ours(&now).next().is_none() && without_ours(now) == rest,
        Ok(None) => rest == json::value("{}"),
        Err(_) => false,
    }
}

/// The file without the hook, and without the places that we made and that have nothing else in them.
fn without_hook(file: &str, root: &Value, made: usize) -> Option<String> {
    let list = json::array(file, &["hooks", "Stop"])?;
    let at = root["hooks"]["Stop"].as_array()?.iter().position(is_ours)?;
    let own = list.members.into_iter().nth(at)?;
    let parents = [(json::object(file, &["hooks"])?, "Stop"), (json::object(file, &[])?, "hooks")];
    let mut goes = vec![own];
    let mut inside = list.span;
    for (parent, name) in parents.into_iter().take(made) {
        let child = goes.last()?;
        // A comment in it is somebody's, so the place stays for it.
        let is_alone = is_bare(file, inside.start + 1..child.span.start)
            && is_bare(file, child.span.end..inside.end - 1);
        let Some(next) = named(parent.members, name).filter(|_| is_alone) else { break };
        inside = parent.span;
        goes.push(next);
    }
    goes.iter().rev().flat_map(|member| without(file, member)).find(|left| is_rest(left, root))
}

fn is_bare(file: &str, part: Range<usize>) -> bool {
    file[part].chars().all(|c| c.is_whitespace() || c == ',')
}

fn named(members: Vec<Member>, name: &str) -> Option<Member> {
    members.into_iter().rfind(|member| member.name == name)
}

/// The text that we would have inserted, if the hook stands exactly so.
fn as_written(file: &str) -> Option<String> {
    let root = json::parse(file).ok()??;
    let without = (0..=PLACES.len()).rev().filter_map(|made| without_hook(file, &root, made));
    let mut earlier = [String::new()].into_iter().chain(without);
    earlier.find_map(|earlier| match insert(&earlier, &[]) {
        Ok(Insertion::New { file: with, inserted }) if with == file => Some(inserted),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [&str; 22] = [
        "",
        "\n",
        "// nothing yet\n",
        "{}",
        "{}\n",
        "{\n}\n",
        "{\"a\":1}",
        "{\n  \"model\": \"opus\"\n}\n",
        "\u{feff}{\r\n\t\"model\": \"opus\"\r\n}\r\n",
        "{\n  \"a\": 1 // more\n}\n",
        "{\"hooks\": {}}",
        "{\n  \"hooks\": {}\n}\n",
        "{\n  \"hooks\": {\n    \"PreToolUse\": []\n  },\n  \"a\": 1\n}\n",
        "{\"hooks\":{\"Stop\":[]}}",
        "{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n",
        "{\n  \"hooks\": {\n    \"Stop\": [\n    ]\n  }\n}\n",
        "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}]}}",
        "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          { \"type\": \"command\", \"command\": \"say done\" }\n        ]\n      }\n    ]\n  }\n}\n",
        "{\n  \"hooks\": {\n    \"Stop\": [\n      // mine\n      {\"hooks\": []}, // too\n    ]\n  }\n}\n",
        "{\n  \"hooks\": {\n    \"Stop\": [\n      // none yet\n    ]\n  }\n}\n",
        "{\"x\": {\"hooks\": {\"Stop\": []}}, \"hooks\": {\"Stop\": [{}, {}]}}",
        "{\"hooks\": {\"Stop\": [{\"matcher\": \"\", \"hooks\": [{\"command\": \"aw wake claude --x\"}]}]}}",
    ];

    fn with(file: &str) -> (String, [String; 1]) {
        match insert(file, &[]) {
            Ok(Insertion::New { file, inserted }) => (file, [inserted]),
            other => panic!("{other:?} for {file:?}"),
        }
    }

    #[test]
    fn the_hook_joins_any_settings_and_leaves_them_without_a_trace() {
        for file in FILES {
            let (with, inserted) = with(file);
            let stop = json::value(&with)["hooks"]["Stop"].as_array().cloned().unwrap();
            assert!(stop.contains(&value()), "{with}");
            let there = Insertion::Present { inserted: inserted[0].clone() };
            assert_eq!(insert(&with, &inserted).unwrap(), there, "{with}");
            // Without a manifest, what we would have inserted is ours.
            let Ok(Insertion::Present { inserted: seen }) = insert(&with, &[]) else {
                panic!("{with}")
            };
            assert!(is_rest(&remove(&with, &[seen]), &json::value(&with)), "{with}");
            assert_eq!(remove(&with, &inserted), file, "{with}");
            if file.contains("\r\n") {
                assert!(!with.replace("\r\n", "").contains('\n'), "{with:?}");
            }
        }
    }

    #[test]
    fn the_hook_is_set_as_its_neighbours_are() {
        let (with, _) = with("{\n  \"a\": 1\n}\n");
        let wanted = "{\n  \"a\": 1,\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          {\n            \
                      \"type\": \"command\",\n            \"command\": \"aw wake claude\",\n            \
                      \"asyncRewake\": true,\n            \"timeout\": 28800\n          }\n        ]\n      }\n    ]\n  }\n}\n";
        assert_eq!(with, wanted);
    }

    #[test]
    fn the_hook_is_removed_after_others_have_edited_the_file() {
        for (file, left) in [
            ("", ""),
            ("{\"a\":1}", "{\n  \"a\": 1\n}"),
            (
                "{\"hooks\":{\"Stop\":[{}]}}",
                "{\n  \"hooks\": {\n    \"Stop\": [\n      {}\n    ]\n  }\n}",
            ),
        ] {
            let (with, inserted) = with(file);
            let anew = serde_json::to_string_pretty(&json::value(&with)).unwrap();
            assert_eq!(remove(&anew, &inserted), left);
        }
        let (with, inserted) = with("{\n  \"a\": 1\n}\n");
        let more = with.replace("    \"Stop\"", "    \"Start\": [],\n    \"Stop\"");
        let left = "{\n  \"a\": 1,\n  \"hooks\": {\n    \"Start\": []\n  }\n}\n";
        assert_eq!(remove(&more, &inserted), left);
        let noted = with.replace("    \"Stop\"", "    // mine\n    \"Stop\"");
        assert!(remove(&noted, &inserted).contains("// mine"));
        let broken = with.replace("\"a\": 1", "\"a\" 1");
        assert_eq!(remove(&broken, &inserted), "{\n  \"a\" 1\n}\n");
    }

    #[test]
    fn a_hook_that_differs_from_ours_stays() {
        let (with, inserted) = with("{\"a\": 1}");
        let edited = with.replace("28800", "60");
        assert_eq!(insert(&edited, &inserted).unwrap(), Insertion::Foreign);
        assert_eq!(remove(&edited, &inserted), edited);
        assert!(is_in(&edited) && !is_in("{\"hooks\": {\"Stop\": [{\"command\": 3}]}}"));
    }

    #[test]
    fn settings_that_have_no_place_for_a_hook_are_refused() {
        for file in
            ["[]", "3", "{\"hooks\": []}", "{\"hooks\": {\"Stop\": {}}}", "{\"hooks\": null}"]
        {
            let refused = insert(file, &[]).unwrap_err().to_string();
            assert!(refused.contains("yourself") && refused.contains(COMMAND), "{refused}");
        }
        assert!(insert("{\"a\" 1}", &[]).is_err());
    }
}
