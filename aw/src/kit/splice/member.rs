//! The entry `aw` among the MCP servers in a host's JSON, put in and taken out again.

use std::ops::Range;

use serde_json::Value;

use super::{CannotPut, NAME, Put, Registration, line_end, only, replaced, separator};
use crate::kit::json::{self, Member, Node, position};

pub(super) fn put(file: &str, entry: &Registration, before: &[String]) -> Result<Put, CannotPut> {
    let root = json::read(file).map_err(CannotPut::NotJson)?;
    let no_room = || CannotPut::NoRoom {
        what: format!("\"{NAME}\": {}", Style::FLAT.entry(entry, "")),
        place: entry.list.to_owned(),
    };
    let Some(root) = root else {
        // Nothing is said yet, at most in comments.
        let end = line_end(file);
        let list = Style::spread(end, "  ").list(entry, "  ");
        let members = entry.besides().chain([list]).collect::<Vec<_>>();
        let members = members.join(&format!(",{end}  "));
        let document = format!("{{{end}  {members}{end}}}{end}");
        let inserted = format!("{}{document}", separator(file, end));
        return Ok(Put::In { file: format!("{file}{inserted}"), inserted });
    };
    let wanted = entry.value();
    let ours = || before.iter().filter(|text| said(text).is_some());
    if let Some(now) = in_value(&root.value(), entry) {
        let standing = ours().find(|text| only(file, text).is_some());
        let known = || ours().find(|text| said(text).is_some_and(|said| says(now, &said)));
        let put = match standing.or_else(known) {
            // What an earlier aw wrote makes way, in whatever form the host has put it since.
            Some(text) if *now != wanted && said(text).as_ref() == Some(now) => {
                return put(&take_out(file, entry, before), entry, &[]);
            }
            Some(text) if says(now, &wanted) => Put::There { inserted: text.clone() },
            Some(_) => Put::Theirs,
            None => match as_written(file, entry) {
                Some(inserted) => Put::There { inserted },
                None => Put::Theirs,
            },
        };
        return Ok(put);
    }
    let style = Style::of(file, &root);
    let members = root.members().ok_or_else(no_room)?;
    let (at, inserted) = match position(members, entry.list).map(|at| &members[at].value) {
        Some(list) => {
            list.members().ok_or_else(no_room)?;
            style.room(file, list, |style, indent| {
                format!("\"{NAME}\": {}", style.entry(entry, indent))
            })
        }
        None => style.room(file, &root, |style, indent| style.list(entry, indent)),
    };
    let with = replaced(file, at..at, &inserted);
    // Only what adds exactly this and nothing else is believed.
    let now = json::value(&with);
    let added = in_value(&now, entry) == Some(&wanted);
    if added && without_entry(now, entry) == without_entry(root.value(), entry) {
        Ok(Put::In { file: with, inserted })
    } else {
        Err(no_room())
    }
}

pub(super) fn take_out(file: &str, entry: &Registration, inserted: &[String]) -> String {
    let ours = || inserted.iter().filter(|text| said(text).is_some());
    let exactly = ours().find_map(|text| only(file, text)).map(|at| replaced(file, at, ""));
    let Ok(Some(root)) = json::read(file) else {
        // Somebody broke it; what we wrote can still be recognised.
        return exactly.unwrap_or_else(|| file.to_owned());
    };
    let value = root.value();
    let Some(now) = in_value(&value, entry) else { return file.to_owned() };
    let left = without_entry(value.clone(), entry);
    if let Some(way) = exactly.filter(|way| is_left(way, &left, entry)) {
        return way;
    }
    // Another entry is somebody's choice; what was added to ours is about ours and goes with it.
    if !ours().filter_map(|text| said(text)).any(|said| says(now, &said)) {
        return file.to_owned();
    }
    let with_list = format!("\"{}\"", entry.list);
    let made_list = ours().any(|text| text.contains(&with_list));
    let made_file = ours().any(|text| text.trim_start().starts_with('{'));
    let Some(way) = without_member(file, entry, made_list) else { return file.to_owned() };
    if made_file && entry.is_all_of(&way) { String::new() } else { way }
}

/// Whether there is such an entry, by whomever.
pub(super) fn is_in(file: &str, entry: &Registration) -> bool {
    in_value(&json::value(file), entry).is_some()
}

impl Registration {
    /// What it says.
    fn value(&self) -> Value {
        json::value(&Style::FLAT.entry(self, ""))
    }

    /// The members that a file has besides the list, when it is made for this entry.
    fn besides(&self) -> impl Iterator<Item = String> {
        self.besides.iter().map(|(name, value)| format!("\"{name}\": {value}"))
    }

    /// Whether a file says no more than one that was made for this entry, without it.
    fn is_all_of(&self, file: &str) -> bool {
        let bare = |text: &str| text.split_whitespace().collect::<String>();
        let besides = self.besides().collect::<Vec<_>>().join(",");
        [String::new(), besides].iter().any(|all| bare(file) == bare(&format!("{{{all}}}")))
    }
}

/// What a text that was put in says of the entry; none when it is about something else.
fn said(text: &str) -> Option<Value> {
    let after = text.split_once(&format!("\"{NAME}\":"))?.1;
    // Brackets that were opened before it are closed after it.
    let ends = after.char_indices().filter(|(_, c)| *c == '}').map(|(at, _)| at + 1);
    ends.map(|end| &after[..end]).find_map(|text| json::read(text).ok()?).map(|node| node.value())
}

/// Whether an entry says all of this, whatever else it says.
fn says(entry: &Value, all: &Value) -> bool {
    let mut all = all.as_object().into_iter().flatten();
    all.all(|(name, value)| entry.get(name) == Some(value))
}

/// How we would have written what stands there, if it stands there so.
fn as_written(file: &str, entry: &Registration) -> Option<String> {
    let earlier = [
        Some(String::new()),
        without_member(file, entry, true),
        without_member(file, entry, false),
    ];
    earlier.into_iter().flatten().find_map(|earlier| match put(&earlier, entry, &[]) {
        Ok(Put::In { file: with, inserted }) if with == file => Some(inserted),
        _ => None,
    })
}

/// How members are set apart in a file.
#[derive(Debug, Clone, Copy)]
struct Style<'a> {
    /// The end of a line, where each member has one of its own.
    end: Option<&'a str>,
    /// How much further what is inside is indented.
    unit: &'a str,
}

impl<'a> Style<'a> {
    const FLAT: Style<'static> = Style { end: None, unit: "" };

    fn spread(end: &'a str, unit: &'a str) -> Self {
        Style { end: Some(end), unit }
    }

    /// That of a file.
    fn of(file: &'a str, root: &Node) -> Self {
        let end = line_end(file);
        match root.members().and_then(<[Member]>::first) {
            Some(first) if is_spread(file, root, first) => {
                let unit = indent(file, first.start);
                Style::spread(end, if unit.is_empty() { "  " } else { unit })
            }
            Some(_) => Style::FLAT,
            None => Style::spread(end, "  "),
        }
    }

    /// Where another member fits into an object, and what has to be put there.
    fn room(
        self,
        file: &str,
        object: &Node,
        member: impl Fn(Style<'_>, &str) -> String,
    ) -> (usize, String) {
        let inside = object.span.start + 1;
        let close = object.span.end - 1;
        let members = object.members().unwrap_or_default();
        let (Some(first), Some(last)) = (members.first(), members.last()) else {
            let outer = indent(file, object.span.start);
            let inner = format!("{outer}{}", self.unit);
            let text = member(self, &inner);
            return match self.end {
                None => (inside, text),
                Some(end) if file[inside..close].contains('\n') => {
                    (inside, format!("{end}{inner}{text}"))
                }
                Some(end) => (inside, format!("{end}{inner}{text}{end}{outer}")),
            };
        };
        let spread = is_spread(file, object, first);
        let style = match self.end {
            Some(_) if spread => self,
            None if spread => Style::spread(line_end(file), "  "),
            _ => Style::FLAT,
        };
        let indent = indent(file, first.start);
        let text = member(style, indent);
        let apart = match style.end {
            Some(end) => format!("{end}{indent}"),
            None => " ".to_owned(),
        };
        // A comment after the last member is about that one, so ours comes before the first.
        if file[last.value.span.end..close].contains('/') {
            (inside, format!("{apart}{text},"))
        } else {
            (last.value.span.end, format!(",{apart}{text}"))
        }
    }

    /// The list with only our entry in it.
    fn list(self, entry: &Registration, indent: &str) -> String {
        let inner = format!("{indent}{}", self.unit);
        let body = format!("\"{NAME}\": {}", self.entry(entry, &inner));
        match self.end {
            Some(end) => format!("\"{}\": {{{end}{inner}{body}{end}{indent}}}", entry.list),
            None => format!("\"{}\": {{{body}}}", entry.list),
        }
    }

    /// The entry's value.
    fn entry(self, entry: &Registration, indent: &str) -> String {
        let fields: Vec<String> =
            entry.fields().map(|(name, value)| format!("\"{name}\": {value}")).collect();
        match self.end {
            Some(end) => {
                let inner = format!("{end}{indent}{}", self.unit);
                format!("{{{inner}{}{end}{indent}}}", fields.join(&format!(",{inner}")))
            }
            None => format!("{{{}}}", fields.join(", ")),
        }
    }
}

/// Whether an object has its first member on a line of its own.
fn is_spread(file: &str, object: &Node, first: &Member) -> bool {
    file[object.span.start..first.start].contains('\n')
}

/// What the line begins with on which this stands.
fn indent(file: &str, at: usize) -> &str {
    let line = file[..at].rfind('\n').map_or(0, |line| line + 1);
    let rest = &file[line..at];
    &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()]
}

/// The file without the entry, and without the list if that held nothing else and is ours.
fn without_member(file: &str, entry: &Registration, made_list: bool) -> Option<String> {
    let root = json::read(file).ok()??;
    let value = root.value();
    let left = without_entry(value, entry);
    let members = root.members()?;
    let list = position(members, entry.list)?;
    let entries = members[list].value.members()?;
    let at = position(entries, NAME)?;
    let way = |members: &[Member], at: usize| {
        ways(file, members, at).into_iter().find(|way| is_left(way, &left, entry))
    };
    // A comment in it is somebody's.
    let (list_span, entry_span) = (&members[list].value.span, &entries[at].value.span);
    let around = [list_span.start..entries[at].start, entry_span.end..list_span.end];
    let noted = around.into_iter().any(|part| file[part].contains('/'));
    if entries.len() == 1 && made_list && !noted { way(members, list) } else { way(entries, at) }
}

/// How a member could be taken out, the tidiest way first.
fn ways(file: &str, members: &[Member], at: usize) -> Vec<String> {
    let Member { start, value, comma, .. } = &members[at];
    let blank = file[..*start].trim_end_matches([' ', '\t', '\r', '\n']).len();
    let line = file[..*start].trim_end_matches([' ', '\t']).len();
    let previous = at.checked_sub(1).and_then(|at| members[at].comma);
    let cut = |part: Range<usize>| replaced(file, part, "");
    match (comma, previous) {
        (Some(comma), _) => vec![cut(blank..comma + 1), cut(line..comma + 1)],
        (None, Some(previous)) => {
            let end = value.span.end;
            let with_comma = |part| replaced(&cut(part), previous..previous + 1, "");
            vec![with_comma(blank..end), with_comma(line..end)]
        }
        (None, None) => vec![cut(blank..value.span.end), cut(line..value.span.end)],
    }
}

/// Whether a way of taking it out leaves exactly this.
fn is_left(way: &str, left: &Value, entry: &Registration) -> bool {
    match json::read(way) {
        Ok(Some(root)) => {
            let now = root.value();
            in_value(&now, entry).is_none() && without_entry(now, entry) == *left
        }
        // Where the whole file was ours, so is what it says besides.
        Ok(None) => entry.is_all_of(&left.to_string()),
        Err(_) => false,
    }
}

fn in_value<'a>(value: &'a Value, entry: &Registration) -> Option<&'a Value> {
    value.get(entry.list)?.get(NAME)
}

/// The same without the entry, and without a list that is empty then.
fn without_entry(mut value: Value, entry: &Registration) -> Value {
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

    const ENTRY: Registration = Registration {
        list: "mcpServers",
        fields: &[("command", "\"aw\""), ("args", "[\"mcp\"]")],
        besides: &[],
        role: None,
    };

    fn with(file: &str) -> (String, [String; 1]) {
        match put(file, &ENTRY, &[]) {
            Ok(Put::In { file, inserted }) => (file, [inserted]),
            other => panic!("{other:?} for {file:?}"),
        }
    }

    #[test]
    fn an_entry_goes_in_and_out_of_any_json_without_a_trace() {
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
            let again = put(&with, &ENTRY, &inserted).unwrap();
            assert_eq!(again, Put::There { inserted: inserted[0].clone() }, "{with}");
            assert_eq!(take_out(&with, &ENTRY, &inserted), file, "{with}");
            if file.contains("\r\n") {
                assert!(!with.replace("\r\n", "").contains('\n'), "{with:?}");
            }
        }
    }

    #[test]
    fn it_is_written_as_its_neighbours_are() {
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
    fn a_host_that_writes_its_settings_anew_changes_nothing_for_us() {
        for (file, left) in [("{\"a\":1}", "{\n  \"a\": 1\n}"), ("", "")] {
            let (with, inserted) = with(file);
            let anew = serde_json::to_string_pretty(&json::value(&with)).unwrap();
            assert_ne!(anew, with);
            let there = Put::There { inserted: inserted[0].clone() };
            assert_eq!(put(&anew, &ENTRY, &inserted).unwrap(), there);
            assert_eq!(take_out(&anew, &ENTRY, &inserted), left);
            // Also when there is something newer to write.
            let newer = Registration { fields: &[("command", "\"aw\"")], ..ENTRY };
            let now = put(&anew, &newer, &inserted).unwrap();
            let Put::In { file: with, inserted } = now else { panic!("{now:?}") };
            assert_eq!(json::value(&with)["mcpServers"]["aw"], newer.value());
            assert_eq!(take_out(&with, &newer, &[inserted]), left);
        }
    }

    #[test]
    fn what_a_file_of_ours_says_besides_goes_with_it() {
        let entry = Registration { besides: &[("$schema", "\"https://x.org\"")], ..ENTRY };
        let Ok(Put::In { file, inserted }) = put("", &entry, &[]) else { panic!() };
        assert!(file.starts_with("{\n  \"$schema\": \"https://x.org\",\n  \"mcp"), "{file}");
        let there = Put::There { inserted: inserted.clone() };
        assert_eq!(put(&file, &entry, &[]).unwrap(), there);
        let inserted = [inserted];
        assert_eq!(take_out(&file, &entry, &inserted), "");
        let anew = serde_json::to_string_pretty(&json::value(&file)).unwrap();
        assert_eq!(take_out(&anew, &entry, &inserted), "");
        let more = file.replace("x.org\",", "x.org\", \"a\": 1,");
        assert_eq!(take_out(&more, &entry, &inserted).matches("\"a\": 1").count(), 1);
        // A file that was there says what it likes.
        let Ok(Put::In { file, .. }) = put("{}", &entry, &[]) else { panic!() };
        assert!(!file.contains("schema"), "{file}");
    }

    #[test]
    fn another_entry_is_somebodys_own() {
        for file in [
            "{\"mcpServers\": {\"aw\": {\"url\": \"https://example.org/mcp\"}}}",
            "{\"mcpServers\": {\"aw\": null}}",
            "{\"mcpServers\": {\"aw\": {\"command\":\"aw\",\"args\":[\"mcp\"]}, \"docs\": {}}}",
        ] {
            assert_eq!(put(file, &ENTRY, &[]).unwrap(), Put::Theirs, "{file}");
            assert_eq!(take_out(file, &ENTRY, &[]), file);
        }
        let (with, inserted) = with("{\"a\": 1}");
        let added = with.replace("[\"mcp\"]", "[\"mcp\"], \"trust\": true");
        let there = Put::There { inserted: inserted[0].clone() };
        assert_eq!(put(&added, &ENTRY, &inserted).unwrap(), there);
        assert_eq!(take_out(&added, &ENTRY, &inserted), "{\"a\": 1}");
        let edited = with.replace("[\"mcp\"]", "[\"mcp\", \"--role\", \"opponent\"]");
        assert_eq!(put(&edited, &ENTRY, &inserted).unwrap(), Put::Theirs);
        assert_eq!(take_out(&edited, &ENTRY, &inserted), edited);
    }

    #[test]
    fn what_is_written_as_we_would_is_known_without_having_been_told() {
        for file in ["", "{\"a\": 1}\n", "{\n  \"mcpServers\": {\n    \"docs\": {}\n  }\n}\n"] {
            let (with, inserted) = with(file);
            let there = Put::There { inserted: inserted[0].clone() };
            assert_eq!(put(&with, &ENTRY, &[]).unwrap(), there);
        }
    }

    #[test]
    fn what_somebody_wrote_around_ours_stays() {
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
            assert_eq!(take_out(&edited, &ENTRY, &inserted), left, "{edited}");
        }
    }

    #[test]
    fn what_leaves_no_room_is_refused() {
        for file in ["[]", "3", "{\"mcpServers\": []}", "{\"mcpServers\": null}"] {
            let refused = put(file, &ENTRY, &[]).unwrap_err().to_string();
            assert!(refused.contains("yourself") && refused.contains("mcpServers"), "{refused}");
        }
        let refused = put("{\"a\": 1,\n\"b\" 2}", &ENTRY, &[]).unwrap_err().to_string();
        assert!(refused.contains("line 2"), "{refused}");
    }
}
