//! The entry `aw` among the MCP servers in Codex's `config.toml`, put in as a table of its own and
//! taken out again.

use std::collections::BTreeMap;

use toml::{Spanned, Table, Value};

use super::{
    CannotPut, NAME, Put, Registration, line_end, only, replaced, separator, with_blank_line,
    without, without_edited_block,
};

/// How a line begins that begins our table, and one that ends it.
const MARKS: [&str; 2] = ["# aw:mcp begin", "# aw:mcp end"];

pub(super) fn put(file: &str, entry: &Registration, before: &[String]) -> Result<Put, CannotPut> {
    let not_toml = |error: toml::de::Error| CannotPut::NotToml(error.message().to_owned());
    let table: Table = toml::from_str(file).map_err(not_toml)?;
    let wanted = said(&own_table(entry, "\n"), entry);
    let ours = || before.iter().filter(|text| said(text, entry).is_some());
    if let Some(now) = in_table(&table, entry) {
        let is_current = wanted.as_ref().is_some_and(|wanted| says(now, wanted));
        let standing = ours().find(|text| only(file, text).is_some());
        return Ok(match standing {
            // What an earlier aw wrote makes way, unless somebody has added to it.
            Some(text)
                if now.as_table() != wanted.as_ref()
                    && now.as_table() == said(text, entry).as_ref() =>
            {
                let range = only(file, text).unwrap_or_default();
                return put(&without(file, range), entry, &[]);
            }
            Some(text) if is_current => Put::There { inserted: text.clone() },
            Some(_) => Put::Theirs,
            None if is_current => match ours().next() {
                Some(text) => Put::There { inserted: text.clone() },
                None => match only(file, &own_table(entry, line_end(file))) {
                    Some(range) => {
                        Put::There { inserted: file[with_blank_line(file, range)].to_owned() }
                    }
                    None => Put::Theirs,
                },
            },
            None => Put::Theirs,
        });
    }
    let with = with_entry(&table, entry, wanted);
    for (at, inserted) in rooms(file, entry) {
        let file = replaced(file, at..at, &inserted);
        // Only what adds exactly this and nothing else is believed.
        if toml::from_str::<Table>(&file).is_ok_and(|table| Some(&table) == with.as_ref()) {
            return Ok(Put::In { file, inserted });
        }
    }
    Err(CannotPut::NoRoom { what: inline(entry), place: entry.list.to_owned() })
}

pub(super) fn take_out(file: &str, entry: &Registration, inserted: &[String]) -> String {
    let ours = || inserted.iter().filter(|text| said(text, entry).is_some());
    let exactly = ours().find_map(|text| only(file, text)).map(|range| without(file, range));
    let Ok(table) = toml::from_str::<Table>(file) else {
        // Somebody broke it; what we wrote can still be recognised.
        return exactly.unwrap_or_else(|| file.to_owned());
    };
    let Some(now) = in_table(&table, entry) else { return file.to_owned() };
    let wanted = without_entry(&table, entry);
    let mut ways: Vec<String> = exactly.into_iter().collect();
    // What was added to the entry, such as what its user has allowed Codex, is about it and goes
    // with it: without the rest of the entry Codex would refuse the whole file.
    if ours().filter_map(|text| said(text, entry)).any(|said| says(now, &said)) {
        ways.extend(ours().find_map(|text| without_edited_block(file, text, MARKS)));
        ways.push(without_lines(file, entry));
        ways.extend(without_inline(file, entry));
    }
    let right = |way: &String| {
        toml::from_str::<Table>(way).is_ok_and(|left| {
            in_table(&left, entry).is_none() && without_entry(&left, entry) == wanted
        })
    };
    ways.into_iter().find(right).unwrap_or_else(|| {
        // Another entry is somebody's choice; what we said about ours is not.
        let unmarked: String = lines(file).filter(|line| !is_mark(line)).collect();
        let same = toml::from_str::<Table>(&unmarked).is_ok_and(|left| left == table);
        if same { unmarked } else { file.to_owned() }
    })
}

/// Whether there is such an entry, by whomever.
pub(super) fn is_in(file: &str, entry: &Registration) -> bool {
    toml::from_str::<Table>(file).is_ok_and(|table| in_table(&table, entry).is_some())
}

/// Where the entry could go, and what would have to be put there.
fn rooms(file: &str, entry: &Registration) -> Vec<(usize, String)> {
    let end = line_end(file);
    let mut rooms = Vec::new();
    let spans = toml::from_str::<BTreeMap<Spanned<String>, Spanned<Value>>>(file);
    let list = spans.ok().and_then(|spans| {
        spans.into_iter().find(|(name, _)| name.get_ref() == entry.list).map(|(_, list)| list)
    });
    if let Some(span) = list.map(|list| list.span())
        && let Some(inner) =
            file[span.clone()].strip_prefix('{').and_then(|text| text.strip_suffix('}'))
    {
        let kept = inner.trim_end();
        let comma = if kept.is_empty() || kept.ends_with(',') { " " } else { ", " };
        rooms.push((span.start + 1 + kept.len(), format!("{comma}{}", inline(entry))));
    }
    rooms.push((file.len(), format!("{}{}", separator(file, end), own_table(entry, end))));
    rooms
}

/// A table for the entry alone, between markers.
fn own_table(entry: &Registration, end: &str) -> String {
    let fields = entry.fields().map(|(name, value)| format!("{name} = {value}"));
    let lines = [format!("{}: the tools of debates", MARKS[0]), format!("[{}.{NAME}]", entry.list)];
    let lines = lines.into_iter().chain(fields).chain([MARKS[1].to_owned(), String::new()]);
    lines.collect::<Vec<_>>().join(end)
}

/// The entry in one line.
fn inline(entry: &Registration) -> String {
    let fields = entry.fields().map(|(name, value)| format!("{name} = {value}"));
    format!("{NAME} = {{ {} }}", fields.collect::<Vec<_>>().join(", "))
}

/// The file without the entry in one line, and without one of the commas around it.
fn without_inline(file: &str, entry: &Registration) -> Option<String> {
    let range = only(file, &inline(entry))?;
    let before = file[..range.start].trim_end().strip_suffix(',').map(str::len);
    let after = file.len() - file[range.end..].trim_start_matches([',', ' ']).len();
    Some(match before {
        Some(comma) => replaced(file, comma..range.end, ""),
        None => replaced(file, range.start..after, ""),
    })
}

/// What a text that was put in says of the entry; none when it is about something else.
fn said(text: &str, entry: &Registration) -> Option<Table> {
    let table = toml::from_str::<Table>(text).ok().filter(|table| in_table(table, entry).is_some());
    if let Some(table) = table {
        return in_table(&table, entry)?.as_table().cloned();
    }
    let pair = text.trim_start_matches([',', ' ']);
    toml::from_str::<Table>(pair).ok()?.get(NAME)?.as_table().cloned()
}

/// Whether an entry says all of this, whatever else it says.
fn says(entry: &Value, all: &Table) -> bool {
    all.iter().all(|(name, value)| entry.get(name) == Some(value))
}

fn in_table<'a>(table: &'a Table, entry: &Registration) -> Option<&'a Value> {
    table.get(entry.list)?.get(NAME)
}

/// The same table with the entry in it, if there is a place for it.
fn with_entry(table: &Table, entry: &Registration, wanted: Option<Table>) -> Option<Table> {
    let mut table = table.clone();
    let list = table.entry(entry.list).or_insert_with(|| Value::Table(Table::new()));
    list.as_table_mut()?.insert(NAME.to_owned(), Value::Table(wanted?));
    Some(table)
}

/// The same table without the entry, and without a list that only held it.
fn without_entry(table: &Table, entry: &Registration) -> Table {
    let mut table = table.clone();
    if let Some(list) = table.get_mut(entry.list).and_then(Value::as_table_mut) {
        list.remove(NAME);
        if list.is_empty() {
            table.remove(entry.list);
        }
    }
    table
}

fn lines(file: &str) -> impl Iterator<Item = &str> {
    file.split_inclusive('\n')
}

fn is_mark(line: &str) -> bool {
    MARKS.iter().any(|mark| line.trim_start().starts_with(mark))
}

/// The file without the lines of the entry's table and of the tables in it.
fn without_lines(file: &str, entry: &Registration) -> String {
    let mut ours = false;
    let header = |line: &str| {
        let name = line.trim_start().strip_prefix('[')?.split([']', '#']).next()?;
        Some(
            name.split('.')
                .map(|part| part.trim().trim_matches(['"', '\'']))
                .collect::<Vec<_>>()
                .join("."),
        )
    };
    let own = format!("{}.{NAME}", entry.list);
    let kept = lines(file).filter(|line| {
        if let Some(name) = header(line) {
            ours = name == own || name.starts_with(&format!("{own}."));
        }
        !ours && !is_mark(line)
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRY: Registration = Registration {
        list: "mcp_servers",
        fields: &[("command", "\"aw\""), ("args", "[\"mcp\"]"), ("tool_timeout_sec", "300")],
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
    fn an_entry_goes_in_and_out_of_any_toml_without_a_trace() {
        for file in [
            "",
            "\n",
            "model = \"x\"",
            "model = \"x\"\r\n[a]\r\nb = 1",
            "# only a comment\n\n\n",
            "[mcp_servers]\n",
            "[mcp_servers.docs]\ncommand = \"npx\" # mine\n\n[other]\nx = 1\n",
            "mcp_servers = { docs = { command = \"npx\" } }\nmodel = \"x\"\n",
            "mcp_servers = {}\n",
            "mcp_servers.docs.command = \"npx\"\n",
            "[[list]]\nmcp_servers = 1\n",
            "text = '''\n[mcp_servers.aw]\n'''\n",
        ] {
            let (with, inserted) = with(file);
            let table: Table = toml::from_str(&with).unwrap();
            assert_eq!(table["mcp_servers"]["aw"]["command"].as_str(), Some("aw"), "{with}");
            let again = put(&with, &ENTRY, &inserted).unwrap();
            assert_eq!(again, Put::There { inserted: inserted[0].clone() }, "{with}");
            assert_eq!(take_out(&with, &ENTRY, &inserted), file, "{with}");
        }
    }

    #[test]
    fn another_entry_is_somebodys_own() {
        for file in [
            "[mcp_servers.aw]\nurl = \"https://example.org/mcp\"\n",
            "mcp_servers.aw = 3\n",
            "[mcp_servers.aw]\ncommand = \"aw\"\nargs = [\"mcp\"]\ntool_timeout_sec = 300\n",
        ] {
            assert_eq!(put(file, &ENTRY, &[]).unwrap(), Put::Theirs, "{file}");
            assert_eq!(take_out(file, &ENTRY, &[]), file);
        }
        let (with, inserted) = with("model = \"x\"\n");
        let edited = with.replace("300", "600");
        assert_eq!(put(&edited, &ENTRY, &inserted).unwrap(), Put::Theirs);
        let left = take_out(&edited, &ENTRY, &inserted);
        assert!(left.contains("tool_timeout_sec = 600\n") && !left.contains("aw:mcp"), "{left}");
        assert!(
            put("mcp_servers = 3\n", &ENTRY, &[]).unwrap_err().to_string().contains("yourself")
        );
    }

    #[test]
    fn an_entry_of_an_earlier_aw_makes_way() {
        let more = &[("command", "\"aw\""), ("args", "[\"mcp\"]"), ("startup_timeout_sec", "9")];
        let earlier = Registration { fields: more, ..ENTRY };
        let file = "model = \"x\"\n";
        let Ok(Put::In { file: with, inserted }) = put(file, &earlier, &[]) else { panic!() };
        let now = put(&with, &ENTRY, &[inserted]).unwrap();
        let Put::In { file: with, inserted } = now else { panic!("{now:?}") };
        assert!(with.contains("tool_timeout_sec = 300") && with.matches("[mcp").count() == 1);
        assert_eq!(take_out(&with, &ENTRY, &[inserted]), file);
    }

    #[test]
    fn what_was_added_to_the_entry_goes_with_it() {
        for (old, new) in [
            ("tool_timeout_sec", "enabled = true\ntool_timeout_sec"),
            ("# aw:mcp end\n", "# aw:mcp end\nstartup_timeout_sec = 20\n"),
        ] {
            let (with, inserted) = with("[a]\nb = 1\n");
            let added = with.replace(old, new);
            let there = Put::There { inserted: inserted[0].clone() };
            // Where our words do not stand as they did, they are known by what they say.
            assert_eq!(put(&added, &ENTRY, &inserted).unwrap(), there, "{added}");
            assert_eq!(take_out(&added, &ENTRY, &inserted).trim_end(), "[a]\nb = 1");
        }
        let (with, inserted) = with("[a]\nb = 1\n");
        let allowed = "\n[mcp_servers.aw.tools.debate_list]\napproval_mode = \"approve\"\n";
        let file = format!("{with}{allowed}");
        let there = Put::There { inserted: inserted[0].clone() };
        assert_eq!(put(&file, &ENTRY, &inserted).unwrap(), there);
        let left = take_out(&file, &ENTRY, &inserted);
        assert_eq!(left.trim_end(), "[a]\nb = 1");
        let more = format!("{file}[c]\nd = 1\n");
        let left = take_out(&more, &ENTRY, &inserted);
        assert!(left.ends_with("[c]\nd = 1\n") && !left.contains("mcp_servers"), "{left}");
    }

    #[test]
    fn what_somebody_wrote_around_ours_keeps_its_meaning() {
        for (old, new, left) in [
            ("# aw:mcp end\n", "# aw:mcp end\n[c]\nd = 1\n", "[a]\nb = 1\n[c]\nd = 1\n"),
            ("# aw:mcp end\n", "[c]\nd = 1\n# aw:mcp end\n", "[a]\nb = 1\n\n[c]\nd = 1\n"),
            ("# aw:mcp begin: the tools of debates\n", "", "[a]\nb = 1\n\n"),
            ("command = \"aw\"\n", "command  =  'aw'\n", "[a]\nb = 1\n\n"),
        ] {
            let (with, inserted) = with("[a]\nb = 1\n");
            assert!(with.contains(old), "{with}");
            let edited = with.replace(old, new);
            assert_eq!(take_out(&edited, &ENTRY, &inserted), left, "{edited}");
        }
        let (with, inserted) = with("mcp_servers = { docs = { command = \"npx\" } }\n");
        let edited = with.replace("docs = { command = \"npx\" }, ", "");
        assert_eq!(take_out(&edited, &ENTRY, &inserted), "mcp_servers = { }\n");
        let broken = with.replace("docs =", "docs");
        assert!(!take_out(&broken, &ENTRY, &inserted).contains("\"aw\""));
    }
}
