//! The entry `aw` among the MCP servers in a host's JSON.

use std::ops::Range;

use serde_json::Value;

use super::{CannotEdit, Insertion, McpEntry, NAME, line_end, only, replaced, separator};
use crate::kit::json::{self, Member, Object};

pub(super) fn insert(
    file: &str,
    entry: &McpEntry,
    before: &[String],
) -> Result<Insertion, CannotEdit> {
    let Some(root) = json::parse(file).map_err(CannotEdit::NotJson)? else {
        let mut members: Vec<_> = entry.in_new_file().map(|member| vec![(0, member)]).collect();
        members.push(entry.lines(true));
        return Ok(new_document(file, &members));
    };
    let wanted = entry.value();
    let ours = || before.iter().filter(|text| stated(text).is_some());
    if let Some(now) = in_value(&root, entry) {
        let standing = ours().find(|text| only(file, text).is_some());
        let known = || ours().find(|text| stated(text).is_some_and(|said| includes(now, &said)));
        let insertion = match standing.or_else(known) {
            // The entry of an earlier aw is replaced, even if the host has reformatted it.
            Some(text) if *now != wanted && stated(text).as_ref() == Some(now) => {
                return insert(&remove(file, entry, before), entry, &[]);
            }
            Some(text) if includes(now, &wanted) => Insertion::Present { inserted: text.clone() },
            Some(_) => Insertion::Foreign,
            None => match as_written(file, entry) {
                Some(inserted) => Insertion::Present { inserted },
                None => Insertion::Foreign,
            },
        };
        return Ok(insertion);
    }
    let has_list = root.get(entry.list).is_some();
    let path: &[&str] = if has_list { &[entry.list] } else { &[] };
    let no_room = || CannotEdit::NoRoom {
        what: Layout::OneLine.join(&entry.lines(false)),
        place: entry.list.to_owned(),
    };
    let object = json::object(file, path).ok_or_else(no_room)?;
    let (at, inserted) = room(file, &object, &entry.lines(!has_list));
    let with = replaced(file, at..at, &inserted);
    // The change must add exactly this entry and nothing else.
    let now = json::value(&with);
    let added = in_value(&now, entry) == Some(&wanted);
    if added && without_entry(now, entry) == without_entry(root, entry) {
        Ok(Insertion::New { file: with, inserted })
    } else {
        Err(no_room())
    }
}

pub(super) fn remove(file: &str, entry: &McpEntry, inserted: &[String]) -> String {
    let ours = || inserted.iter().filter(|text| stated(text).is_some());
    let exactly = ours().find_map(|text| only(file, text)).map(|at| replaced(file, at, ""));
    let Ok(Some(root)) = json::parse(file) else {
        // The file is broken, but our own text may still stand in it.
        return exactly.unwrap_or_else(|| file.to_owned());
    };
    let Some(now) = in_value(&root, entry) else { return file.to_owned() };
    if let Some(left) = exactly.filter(|left| is_rest(left, &root, entry)) {
        return left;
    }
    // An entry that differs from ours stays. Fields that were added to ours go with it.
    if !ours().filter_map(|text| stated(text)).any(|said| includes(now, &said)) {
        return file.to_owned();
    }
    let with_list = format!("\"{}\"", entry.list);
    let made_list = ours().any(|text| text.contains(&with_list));
    let made_file = ours().any(|text| text.trim_start().starts_with('{'));
    let Some(left) = without_member(file, &root, entry, made_list) else { return file.to_owned() };
    if made_file && entry.is_new_file(&left) { String::new() } else { left }
}

/// Adds a document with these members to a file without a value, perhaps with comments.
pub(super) fn new_document(file: &str, members: &[Vec<(usize, String)>]) -> Insertion {
    let end = line_end(file);
    let layout = Layout::Lines { end, indent: "  ", unit: "  " };
    let members: Vec<String> = members.iter().map(|lines| layout.join(lines)).collect();
    let members = members.join(&format!(",{end}  "));
    let inserted = format!("{}{{{end}  {members}{end}}}{end}", separator(file, end));
    Insertion::New { file: format!("{file}{inserted}"), inserted }
}

/// Whether the file has an entry of this name.
pub(super) fn is_in(file: &str, entry: &McpEntry) -> bool {
    in_value(&json::value(file), entry).is_some()
}

impl McpEntry {
    fn value(&self) -> Value {
        json::value(&format!("{{{}}}", Layout::OneLine.join(&self.lines(false))))[NAME].take()
    }

    /// The lines of the entry, each with its depth, inside a list of its own or without one.
    fn lines(&self, with_list: bool) -> Vec<(usize, String)> {
        let depth = usize::from(with_list);
        let mut lines = vec![(depth, format!("\"{NAME}\": {{"))];
        let fields = self.fields().map(|(name, value)| format!("\"{name}\": {value}"));
        let fields = fields.collect::<Vec<_>>().join(",\n");
        lines.extend(fields.split_inclusive('\n').map(|line| (depth + 1, line.trim().to_owned())));
        lines.push((depth, "}".to_owned()));
        if with_list {
            lines.insert(0, (0, format!("\"{}\": {{", self.list)));
            lines.push((0, "}".to_owned()));
        }
        lines
    }

    /// The members that a file gets besides the list when it is made for this entry.
    fn in_new_file(&self) -> impl Iterator<Item = String> {
        self.in_new_file.iter().map(|(name, value)| format!("\"{name}\": {value}"))
    }

    /// Whether a file has no more than one that was made for this entry, without the entry.
    fn is_new_file(&self, file: &str) -> bool {
        let bare = |text: &str| text.split_whitespace().collect::<String>();
        let members = self.in_new_file().collect::<Vec<_>>().join(",");
        [String::new(), members].iter().any(|all| bare(file) == bare(&format!("{{{all}}}")))
    }
}

/// The entry that an inserted text states; none when the text is about something else.
fn stated(text: &str) -> Option<Value> {
    let after = text.split_once(&format!("\"{NAME}\":"))?.1;
    // Braces that were opened before the entry are closed after it.
    let ends = after.char_indices().filter(|(_, c)| *c == '}').map(|(at, _)| at + 1);
    ends.map(|end| &after[..end]).find_map(|text| json::parse(text).ok()?)
}

/// Whether an entry has all of these fields, and perhaps more.
fn includes(entry: &Value, fields: &Value) -> bool {
    let mut fields = fields.as_object().into_iter().flatten();
    fields.all(|(name, value)| entry.get(name) == Some(value))
}

/// The text that we would have inserted, if the entry stands exactly so.
fn as_written(file: &str, entry: &McpEntry) -> Option<String> {
    let root = json::parse(file).ok()??;
    let without = |made_list| without_member(file, &root, entry, made_list);
    let earlier = [Some(String::new()), without(true), without(false)];
    earlier.into_iter().flatten().find_map(|earlier| match insert(&earlier, entry, &[]) {
        Ok(Insertion::New { file: with, inserted }) if with == file => Some(inserted),
        _ => None,
    })
}

/// How the lines of a member are set.
#[derive(Clone, Copy)]
pub(super) enum Layout<'a> {
    OneLine,
    Lines {
        end: &'a str,
        /// The indent of the member itself.
        indent: &'a str,
        /// The indent of each further level.
        unit: &'a str,
    },
}

impl Layout<'_> {
    pub(super) fn join(self, lines: &[(usize, String)]) -> String {
        let mut text = String::new();
        for (depth, line) in lines {
            match self {
                _ if text.is_empty() => {}
                Layout::OneLine if text.ends_with(',') => text.push(' '),
                Layout::OneLine => {}
                Layout::Lines { end, indent, unit } => {
                    text += &format!("{end}{indent}{}", unit.repeat(*depth));
                }
            }
            text += line;
        }
        text
    }
}

/// Where another member fits into an object or a list, and the text that has to be inserted there. The member
/// is set as its neighbours are.
pub(super) fn room(file: &str, object: &Object, lines: &[(usize, String)]) -> (usize, String) {
    let end = line_end(file);
    let inside = object.span.start + 1;
    let close = object.span.end - 1;
    let root = json::object(file, &[]);
    let first_of_root =
        root.iter().find_map(|root| root.members.first().map(|first| (root, first)));
    let own_line = |(object, first): (&Object, &Member)| {
        file[object.span.start..first.span.start].contains('\n')
    };
    let unit = match first_of_root {
        Some(root) if own_line(root) => Some(indent(file, root.1.span.start)),
        Some(_) => None,
        None => Some("  "),
    };
    let unit = unit.map(|unit| if unit.is_empty() { "  " } else { unit });
    let (Some(first), Some(last)) = (object.members.first(), object.members.last()) else {
        let Some(unit) = unit else { return (inside, Layout::OneLine.join(lines)) };
        let outer = indent(file, object.span.start);
        let inner = format!("{outer}{unit}");
        let text = Layout::Lines { end, indent: &inner, unit }.join(lines);
        let close = match file[inside..close].contains('\n') {
            true => String::new(),
            false => format!("{end}{outer}"),
        };
        return (inside, format!("{end}{inner}{text}{close}"));
    };
    let indent = indent(file, first.span.start);
    let (layout, apart) = match own_line((object, first)) {
        true => {
            let unit = unit.unwrap_or("  ");
            (Layout::Lines { end, indent, unit }, format!("{end}{indent}"))
        }
        false => (Layout::OneLine, " ".to_owned()),
    };
    let text = layout.join(lines);
    // A comment after the last member is about that one, so ours comes before the first.
    if file[last.span.end..close].contains('/') {
        (inside, format!("{apart}{text},"))
    } else {
        (last.span.end, format!(",{apart}{text}"))
    }
}

/// The white space at the beginning of the line of this place.
fn indent(file: &str, at: usize) -> &str {
    let line = file[..at].rfind('\n').map_or(0, |line| line + 1);
    let rest = &file[line..at];
    &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()]
}

/// The file without the entry, and without the list if we made it and nothing else is in it.
fn without_member(file: &str, root: &Value, entry: &McpEntry, made_list: bool) -> Option<String> {
    let outer = json::object(file, &[])?;
    let list = json::object(file, &[entry.list])?;
    let named =
        |object: &Object, name: &str| object.members.iter().rposition(|member| member.name == name);
    let own = &list.members[named(&list, NAME)?];
    // A comment in the list is somebody's, so the list stays for it.
    let around = [list.span.start..own.span.start, own.span.end..list.span.end];
    let has_comment = around.into_iter().any(|part| file[part].contains('/'));
    let member = match list.members.len() == 1 && made_list && !has_comment {
        true => &outer.members[named(&outer, entry.list)?],
        false => own,
    };
    without(file, member).into_iter().find(|left| is_rest(left, root, entry))
}

/// The file without a member and one of the commas around it: first without the white space before
/// the member, then with its line breaks.
pub(super) fn without(file: &str, member: &Member) -> [String; 2] {
    let Member { span, comma_before, comma_after, .. } = member;
    let before = &file[..span.start];
    let blank = before.trim_end_matches([' ', '\t', '\r', '\n']).len();
    let line = before.trim_end_matches([' ', '\t']).len();
    [blank, line].map(|from| {
        let cut = |part: Range<usize>| replaced(file, part, "");
        match (comma_after, comma_before) {
            (Some(comma), _) => cut(from..comma + 1),
            (None, Some(comma)) => replaced(&cut(from..span.end), *comma..comma + 1, ""),
            (None, None) => cut(from..span.end),
        }
    })
}

/// Whether this file says the same as the earlier one, without the entry.
fn is_rest(left: &str, earlier: &Value, entry: &McpEntry) -> bool {
    let rest = without_entry(earlier.clone(), entry);
    match json::parse(left) {
        Ok(Some(now)) => in_value(&now, entry).is_none() && without_entry(now, entry) == rest,
        // The whole file was ours, with the members that it got besides.
        Ok(None) => entry.is_new_file(&rest.to_string()),
        Err(_) => false,
    }
}

fn in_value<'a>(value: &'a Value, entry: &McpEntry) -> Option<&'a Value> {
    value.get(entry.list)?.get(NAME)
}

/// The same value without the entry, and without a list that is empty then.
fn without_entry(mut value: Value, entry: &McpEntry) -> Value {
    if let Some(root) = value.as_object_mut()
        && let Some(list) = root.get_mut(entry.list).and_then(Value::as_object_mut)
    {
        list.remove(NAME);
        if list.is_empty() {
            root.remove(entry.list);
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRY: McpEntry = McpEntry {
        list: "mcpServers",
        fields: &[("command", "\"aw\""), ("args", "[\"mcp\"]")],
        in_new_file: &[],
        role: None,
        wake: false,
        allow: None,
    };

    fn with(file: &str) -> (String, [String; 1]) {
        match insert(file, &ENTRY, &[]) {
            Ok(Insertion::New { file, inserted }) => (file, [inserted]),
            other => panic!("{other:?} for {file:?}"),
        }
    }

    #[test]
    fn an_entry_is_inserted_into_any_json_and_removed_without_a_trace() {
        for file in [
            "",
            "\n",
            " \t",
            "\u{feff}",
            "// nothing yet\n",
            "{}",
            "{}\n",
            "{ }",
            "{\n}\n",
            "{ // mine\n}",
            "{/**/}",
            "{\"a\":1}",
            "{ \"a\": 1 }\n",
            "{\n  \"a\": 1\n}",
            "{\r\n\t\"a\": [\r\n\t\t1\r\n\t]\r\n}\r\n",
            "\u{feff}{\n    \"a\": 1,\n    \"b\": {}\n}\n",
            "{\n  // about a\n  \"a\": 1, // more\n}\n",
            "{\n  \"a\": 1 // more\n}\n",
            "{\n  \"a\": 1 /* } */ , }",
            "{\"mcpServers\": {}}\n",
            "{\"mcpServers\":{\"docs\":{\"command\":\"npx\"}}}",
            "{\n  \"mcpServers\": {}\n}\n",
            "{\n  \"mcpServers\": {\n  }\n}\n",
            "{\n  \"mcpServers\": {\n    // none\n  },\n}\n",
            "{\n \"mcpServers\": {\n  \"docs\": {\"command\": \"npx\"}\n }\n}\n",
            "{\n\"mcpServers\": { \"docs\": {} },\n\"a\": 1\n}\n",
            "{\"a\": \"\\\"mcpServers\\\": {}\", \"b\": \"{\"}",
            "{\"mcpServers\": {\"docs\": {}}, \"mcpServers\": {}}",
        ] {
            let (with, inserted) = with(file);
            assert_eq!(json::value(&with)["mcpServers"]["aw"], ENTRY.value(), "{with}");
            let again = insert(&with, &ENTRY, &inserted).unwrap();
            assert_eq!(again, Insertion::Present { inserted: inserted[0].clone() }, "{with}");
            assert_eq!(remove(&with, &ENTRY, &inserted), file, "{with}");
            if file.contains("\r\n") {
                assert!(!with.replace("\r\n", "").contains('\n'), "{with:?}");
            }
        }
    }

    #[test]
    fn an_entry_is_set_as_its_neighbours_are() {
        for (file, wanted) in [
            (
                "{\"a\": 1}",
                "{\"a\": 1, \"mcpServers\": {\"aw\": {\"command\": \"aw\", \"args\": [\"mcp\"]}}}",
            ),
            (
                "{\n\t\"mcpServers\": {}\n}\n",
                "{\n\t\"mcpServers\": {\n\t\t\"aw\": {\n\t\t\t\"command\": \"aw\",\n\t\t\t\"args\": [\"mcp\"]\n\t\t}\n\t}\n}\n",
            ),
            (
                "{\n  \"a\": 1 // one\n}\n",
                "{\n  \"mcpServers\": {\n    \"aw\": {\n      \"command\": \"aw\",\n      \"args\": [\"mcp\"]\n    }\n  },\n  \"a\": 1 // one\n}\n",
            ),
            (
                "",
                "{\n  \"mcpServers\": {\n    \"aw\": {\n      \"command\": \"aw\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n",
            ),
        ] {
            assert_eq!(with(file).0, wanted);
        }
    }

    #[test]
    fn an_entry_is_recognised_after_a_host_has_reformatted_the_file() {
        for (file, left) in [("{\"a\":1}", "{\n  \"a\": 1\n}"), ("", "")] {
            let (with, inserted) = with(file);
            let anew = serde_json::to_string_pretty(&json::value(&with)).unwrap();
            assert_ne!(anew, with);
            let there = Insertion::Present { inserted: inserted[0].clone() };
            assert_eq!(insert(&anew, &ENTRY, &inserted).unwrap(), there);
            assert_eq!(remove(&anew, &ENTRY, &inserted), left);
            let newer = McpEntry { fields: &[("command", "\"aw\"")], ..ENTRY };
            let now = insert(&anew, &newer, &inserted).unwrap();
            let Insertion::New { file: with, inserted } = now else { panic!("{now:?}") };
            assert_eq!(json::value(&with)["mcpServers"]["aw"], newer.value());
            assert_eq!(remove(&with, &newer, &[inserted]), left);
        }
    }

    #[test]
    fn the_schema_of_a_new_file_goes_with_the_entry() {
        let entry = McpEntry { in_new_file: &[("$schema", "\"https://x.org\"")], ..ENTRY };
        let Ok(Insertion::New { file, inserted }) = insert("", &entry, &[]) else { panic!() };
        assert!(file.starts_with("{\n  \"$schema\": \"https://x.org\",\n  \"mcp"), "{file}");
        let there = Insertion::Present { inserted: inserted.clone() };
        assert_eq!(insert(&file, &entry, &[]).unwrap(), there);
        let inserted = [inserted];
        assert_eq!(remove(&file, &entry, &inserted), "");
        let anew = serde_json::to_string_pretty(&json::value(&file)).unwrap();
        assert_eq!(remove(&anew, &entry, &inserted), "");
        let more = file.replace("x.org\",", "x.org\", \"a\": 1,");
        assert_eq!(remove(&more, &entry, &inserted).matches("\"a\": 1").count(), 1);
        // A file that was there gets the entry alone.
        let Ok(Insertion::New { file, .. }) = insert("{}", &entry, &[]) else { panic!() };
        assert!(!file.contains("schema"), "{file}");
    }

    #[test]
    fn an_entry_that_differs_from_ours_stays() {
        for file in [
            "{\"mcpServers\": {\"aw\": {\"url\": \"https://example.org/mcp\"}}}",
            "{\"mcpServers\": {\"aw\": null}}",
            "{\"mcpServers\": {\"aw\": {\"command\":\"aw\",\"args\":[\"mcp\"]}, \"docs\": {}}}",
        ] {
            assert_eq!(insert(file, &ENTRY, &[]).unwrap(), Insertion::Foreign, "{file}");
            assert_eq!(remove(file, &ENTRY, &[]), file);
        }
        let (with, inserted) = with("{\"a\": 1}");
        let added = with.replace("[\"mcp\"]", "[\"mcp\"], \"trust\": true");
        let there = Insertion::Present { inserted: inserted[0].clone() };
        assert_eq!(insert(&added, &ENTRY, &inserted).unwrap(), there);
        assert_eq!(remove(&added, &ENTRY, &inserted), "{\"a\": 1}");
        let edited = with.replace("[\"mcp\"]", "[\"mcp\", \"--role\", \"opponent\"]");
        assert_eq!(insert(&edited, &ENTRY, &inserted).unwrap(), Insertion::Foreign);
        assert_eq!(remove(&edited, &ENTRY, &inserted), edited);
    }

    #[test]
    fn an_entry_written_as_we_would_is_ours_without_a_manifest() {
        for file in ["", "{\"a\": 1}\n", "{\n  \"mcpServers\": {\n    \"docs\": {}\n  }\n}\n"] {
            let (with, inserted) = with(file);
            let there = Insertion::Present { inserted: inserted[0].clone() };
            assert_eq!(insert(&with, &ENTRY, &[]).unwrap(), there);
        }
    }

    #[test]
    fn text_that_somebody_wrote_around_ours_stays() {
        let spread = "{\n  \"a\": 1\n}\n";
        for (file, old, new, left) in [
            (spread, "  \"a\": 1,\n", "", "{\n}\n"),
            (spread, "\n}\n", ",\n  \"b\": 2\n}\n", "{\n  \"a\": 1,\n  \"b\": 2\n}\n"),
            (
                spread,
                "    \"aw\"",
                "    // ours\n    \"aw\"",
                "{\n  \"a\": 1,\n  \"mcpServers\": {\n    // ours\n  }\n}\n",
            ),
            (
                spread,
                "  \"mcpServers\"",
                "  // servers\n  \"mcpServers\"",
                "{\n  \"a\": 1\n  // servers\n}\n",
            ),
            (
                spread,
                "    }\n  }",
                "    },\n    \"docs\": {}\n  }",
                "{\n  \"a\": 1,\n  \"mcpServers\": {\n    \"docs\": {}\n  }\n}\n",
            ),
            (
                spread,
                "\"mcp\"]\n    }\n",
                "\"mcp\"]\n    }, // x\n",
                "{\n  \"a\": 1,\n  \"mcpServers\": { // x\n  }\n}\n",
            ),
            ("{\"a\": 1}", "}}}", "}}, \"b\": 2}", "{\"a\": 1, \"b\": 2}"),
            (
                "",
                "\n    }\n",
                "\n    }, \"docs\": 1\n",
                "{\n  \"mcpServers\": { \"docs\": 1\n  }\n}\n",
            ),
            (spread, "\"a\": 1", "\"a\" 1", "{\n  \"a\" 1\n}\n"),
        ] {
            let (with, inserted) = with(file);
            assert!(with.contains(old), "{with}");
            let edited = with.replacen(old, new, 1);
            assert_eq!(remove(&edited, &ENTRY, &inserted), left, "{edited}");
        }
    }

    #[test]
    fn a_file_that_cannot_be_edited_is_refused() {
        for file in ["[]", "3", "{\"mcpServers\": []}", "{\"mcpServers\": null}"] {
            let refused = insert(file, &ENTRY, &[]).unwrap_err().to_string();
            assert!(refused.contains("yourself") && refused.contains("mcpServers"), "{refused}");
        }
        let refused = insert("{\"a\": 1,\n\"b\" 2}", &ENTRY, &[]).unwrap_err().to_string();
        assert!(refused.contains("line 2"), "{refused}");
    }
}
