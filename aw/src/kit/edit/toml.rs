//! A variable for the commands that Codex runs, and the entry `aw` among its MCP servers, in its
//! `config.toml`.
//!
//! Codex users write this file in every form that TOML has. So there are several places for a key
//! and several ways to remove it; each is tried on a copy, and taken only if the parsed file differs
//! by exactly that key.

use std::ops::Range;

use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

use super::block::without_edited_block;
use super::{
    CannotEdit, Insertion, McpEntry, NAME, line_end, only, replaced, separator, with_blank_line,
    without,
};

const POLICY: &str = "shell_environment_policy";
const SET: &str = "set";

/// A key of the file and our value for it.
pub(super) struct TomlKey {
    path: Vec<&'static str>,
    /// The value on one line.
    inline: String,
    /// The lines of a table that holds nothing else, from its first marker to its last.
    table: Vec<String>,
    /// How the first and the last of these lines begin.
    marks: [&'static str; 2],
}

impl TomlKey {
    pub(super) fn variable(name: &'static str, value: &str) -> Self {
        let inline = format!("\"{value}\"");
        let table = vec![
            "# aw:begin: Codex gives up on a silent command after 30 s, so a wait must end before"
                .to_owned(),
            format!("[{POLICY}.{SET}]"),
            format!("{name} = {inline}"),
            "# aw:end".to_owned(),
        ];
        TomlKey { path: vec![POLICY, SET, name], inline, table, marks: ["# aw:begin", "# aw:end"] }
    }

    pub(super) fn entry(entry: &McpEntry) -> Self {
        let marks = ["# aw:mcp begin", "# aw:mcp end"];
        let fields: Vec<String> =
            entry.fields().map(|(name, value)| format!("{name} = {value}")).collect();
        let inline = format!("{{ {} }}", fields.join(", "));
        let head =
            [format!("{}: the tools of debates", marks[0]), format!("[{}.{NAME}]", entry.list)];
        let table = head.into_iter().chain(fields).chain([marks[1].to_owned()]).collect();
        TomlKey { path: vec![entry.list, NAME], inline, table, marks }
    }

    pub(super) fn insert(&self, file: &str, before: &[String]) -> Result<Insertion, CannotEdit> {
        let not_toml = |error: toml::de::Error| CannotEdit::NotToml(error.message().to_owned());
        let table: Table = toml::from_str(file).map_err(not_toml)?;
        if let Some(now) = at(&table, &self.path) {
            return self.present(file, now, before);
        }
        let mut with = table;
        let no_room = || CannotEdit::NoRoom {
            what: self.pair(1),
            place: self.path[..self.path.len() - 1].join("."),
        };
        let wanted = self.value().ok_or_else(no_room)?;
        set(&mut with, &self.path, wanted).ok_or_else(no_room)?;
        for (at, inserted) in self.rooms(file) {
            let file = replaced(file, at..at, &inserted);
            // The change must add exactly this key and nothing else.
            if toml::from_str::<Table>(&file).is_ok_and(|table| table == with) {
                return Ok(Insertion::New { file, inserted });
            }
        }
        Err(no_room())
    }

    /// Judges an insertion into a file that has the key already.
    fn present(&self, file: &str, now: &Value, before: &[String]) -> Result<Insertion, CannotEdit> {
        let wanted = self.value();
        let ours = || before.iter().filter(|text| self.stated(text).is_some());
        let is_current = wanted.as_ref().is_some_and(|wanted| includes(now, wanted));
        let standing = ours().find(|text| only(file, text).is_some());
        Ok(match standing {
            // The value of an earlier aw is replaced, unless somebody has added to it.
            Some(text)
                if Some(now) != wanted.as_ref() && Some(now) == self.stated(text).as_ref() =>
            {
                return self.renewed(file, text, now);
            }
            Some(text) if is_current => Insertion::Present { inserted: text.clone() },
            None if is_current => {
                let own = || only(file, &self.own_table(line_end(file)));
                let written = || Some(file[with_blank_line(file, own()?)].to_owned());
                match ours().next().cloned().or_else(written) {
                    Some(inserted) => Insertion::Present { inserted },
                    None => Insertion::Foreign,
                }
            }
            Some(_) | None => Insertion::Foreign,
        })
    }

    /// The file with this value in the place of one that an earlier aw inserted as this text.
    fn renewed(&self, file: &str, text: &str, now: &Value) -> Result<Insertion, CannotEdit> {
        let Some(old) = now.as_str() else {
            let range = only(file, text).unwrap_or_default();
            return self.insert(&without(file, range), &[]);
        };
        // Other variables may stand in the same table, so only the value changes.
        let inserted = text.replacen(&format!(" = \"{old}\""), &format!(" = {}", self.inline), 1);
        Ok(Insertion::New { file: file.replacen(text, &inserted, 1), inserted })
    }

    pub(super) fn remove(&self, file: &str, inserted: &[String]) -> String {
        let ours = || inserted.iter().filter(|text| self.stated(text).is_some());
        let exactly = ours().find_map(|text| only(file, text)).map(|range| without(file, range));
        let Ok(table) = toml::from_str::<Table>(file) else {
            // The file is broken, but our own text may still stand in it.
            return exactly.unwrap_or_else(|| file.to_owned());
        };
        let mut ways: Vec<String> = exactly.into_iter().collect();
        // What somebody added to our entry, such as permissions, goes with it: Codex refuses a file
        // that has only that part of an entry. Another value is somebody's choice and stays.
        let is_ours = |now: &Value| {
            ours().filter_map(|text| self.stated(text)).any(|said| includes(now, &said))
        };
        if at(&table, &self.path).is_some_and(is_ours) {
            ways.extend(ours().find_map(|text| without_edited_block(file, text, self.marks)));
            ways.extend(self.without_key(file));
        }
        let mut rest = table.clone();
        unset(&mut rest, &self.path);
        let is_right = |way: &String| {
            toml::from_str::<Table>(way).is_ok_and(|mut left| {
                let is_gone = at(&left, &self.path).is_none();
                unset(&mut left, &self.path);
                is_gone && left == rest
            })
        };
        ways.into_iter().find(is_right).unwrap_or_else(|| {
            // The markers are ours, whatever became of the lines between them.
            let unmarked = self.without_marks(file);
            let same = toml::from_str::<Table>(&unmarked).is_ok_and(|left| left == table);
            if same { unmarked } else { file.to_owned() }
        })
    }

    /// Whether the file has the key, with any value.
    pub(super) fn is_in(&self, file: &str) -> bool {
        toml::from_str::<Table>(file).is_ok_and(|table| at(&table, &self.path).is_some())
    }

    /// The key with its value on one line, as it is written inside the table of its last `depth`
    /// names.
    fn pair(&self, depth: usize) -> String {
        format!("{} = {}", self.path[self.path.len() - depth..].join("."), self.inline)
    }

    fn own_table(&self, end: &str) -> String {
        let lines = self.table.iter().map(|line| format!("{line}{end}"));
        lines.collect()
    }

    fn value(&self) -> Option<Value> {
        self.stated(&self.pair(1))
    }

    /// The value that an inserted text gives to the key; none when the text is about another key.
    fn stated(&self, text: &str) -> Option<Value> {
        let table: Table = toml::from_str(text.trim_start_matches([',', ' '])).ok()?;
        (0..self.path.len()).find_map(|from| at(&table, &self.path[from..])).cloned()
    }

    /// The places that the key may fit into, each with the text that is inserted there.
    fn rooms(&self, file: &str) -> Vec<(usize, String)> {
        let end = line_end(file);
        let mut rooms = Vec::new();
        let tables = found(file, &self.path);
        for (depth, table) in tables.iter().enumerate().rev() {
            let span = table.value.clone();
            let braces = file[span.clone()].strip_prefix('{');
            if let Some(inner) = braces.and_then(|text| text.strip_suffix('}')) {
                let kept = inner.trim_end();
                let comma = if kept.is_empty() || kept.ends_with(',') { " " } else { ", " };
                let pair = self.pair(self.path.len() - depth - 1);
                rooms.push((span.start + 1 + kept.len(), format!("{comma}{pair}")));
            }
        }
        // A variable joins the table of the other variables.
        if let Some(table) = tables.get(1).filter(|_| self.path[0] == POLICY) {
            let pair = self.pair(1);
            if let Some(first) = table.first_key {
                // After a table of ours, whose text stays as it was written.
                let ours = file[..first].rfind(self.marks[0]);
                let mark = file[first..].find(self.marks[1]).map(|mark| first + mark);
                if let (Some(_), Some(mark)) = (ours, mark) {
                    rooms.push((lines(file, mark..mark).end, format!("{pair}{end}")));
                }
                // Before its first neighbour, with the beginning of that line.
                let line = lines(file, first..first).start;
                rooms.push((line, format!("{}{pair}{end}", &file[line..first])));
            }
            // After the header of an empty table.
            let header = table.value.start;
            rooms.push(match file[header..].find('\n') {
                Some(line) => (header + line + 1, format!("{pair}{end}")),
                None => (file.len(), format!("{end}{pair}{end}")),
            });
        }
        rooms.push((file.len(), format!("{}{}", separator(file, end), self.own_table(end))));
        rooms
    }

    /// The file without the key, in each way that may be right for how it is written.
    fn without_key(&self, file: &str) -> Vec<String> {
        let found = found(file, &self.path);
        let Some(own) = found.last().filter(|_| found.len() == self.path.len()) else {
            return Vec::new();
        };
        let after = own.value.end;
        let around = &found[..found.len() - 1];
        if around.iter().any(|table| file[table.value.clone()].starts_with('{')) {
            // One of the commas goes with it. It may begin with a name of a table around it.
            let starts = found.iter().rev().map(|place| place.key.start);
            let tail = file.len() - file[after..].trim_start_matches([',', ' ']).len();
            let way = |start: usize| match file[..start].trim_end().strip_suffix(',') {
                Some(before) => replaced(file, before.len()..after, ""),
                None => replaced(file, start..tail, ""),
            };
            return starts.filter(|start| *start < after).map(way).collect();
        }
        let line = replaced(file, lines(file, own.key.start..after), "");
        let mut tables = own.tables.clone();
        tables.sort_by_key(|range| range.start);
        // From the end, so that the ranges before stay where they are.
        let tables = tables.into_iter().rev().fold(file.to_owned(), |file, table| {
            let mut range = lines(&file, table);
            let rest = file[range.end..].split_inclusive('\n');
            let blank = rest.take_while(|line| line.trim().is_empty() || self.is_mark(line));
            range.end += blank.map(str::len).sum::<usize>();
            replaced(&file, range, "")
        });
        [line, tables].map(|left| self.without_marks(&left)).to_vec()
    }

    fn without_marks(&self, file: &str) -> String {
        file.split_inclusive('\n').filter(|line| !self.is_mark(line)).collect()
    }

    fn is_mark(&self, line: &str) -> bool {
        self.marks.iter().any(|mark| line.trim_start().starts_with(mark))
    }
}

/// Where a key and its value stand in a file.
struct KeyPlace {
    key: Range<usize>,
    /// The value; of a table with a header, that header.
    value: Range<usize>,
    /// Where the first key in it begins.
    first_key: Option<usize>,
    /// The tables with headers that it consists of, each to the end of its last value.
    tables: Vec<Range<usize>>,
}

/// Where the keys of a path stand, as far as the file has them.
fn found(file: &str, path: &[&str]) -> Vec<KeyPlace> {
    let Ok(root) = DeTable::parse(file) else { return Vec::new() };
    let mut found = Vec::new();
    let mut table = root.get_ref();
    for name in path {
        let Some((key, value)) = table.get_key_value(*name) else { break };
        let inner = value.get_ref().as_table();
        let keys = inner.into_iter().flat_map(|table| table.keys().map(Spanned::span));
        let mut tables = Vec::new();
        headers(file, value, &mut tables);
        found.push(KeyPlace {
            key: key.span(),
            value: value.span(),
            first_key: keys.map(|span| span.start).min(),
            tables,
        });
        let Some(inner) = inner else { break };
        table = inner;
    }
    found
}

/// Collects the tables with headers in a value. Returns the end of what belongs to the table around
/// it, 0 if nothing does.
fn headers(file: &str, value: &Spanned<DeValue<'_>>, tables: &mut Vec<Range<usize>>) -> usize {
    let span = value.span();
    match value.get_ref() {
        DeValue::Table(table) => {
            let ends = table.values().map(|value| headers(file, value, tables));
            let end = ends.fold(0, usize::max);
            match &file[span.clone()] {
                text if text.starts_with('[') => {
                    tables.push(span.start..end.max(span.end));
                    0
                }
                text if text.starts_with('{') => span.end,
                // The names of a table are part of other keys and headers.
                _ => end,
            }
        }
        DeValue::Array(all) if all.iter().any(|one| file[one.span()].starts_with("[[")) => {
            for table in all.iter() {
                headers(file, table, tables);
            }
            0
        }
        _ => span.end,
    }
}

/// The whole lines of a range.
fn lines(file: &str, range: Range<usize>) -> Range<usize> {
    let start = file[..range.start].rfind('\n').map_or(0, |line| line + 1);
    let end = file[range.end..].find('\n').map_or(file.len(), |line| range.end + line + 1);
    start..end
}

/// Whether a value is this one; a table may have more keys.
fn includes(value: &Value, part: &Value) -> bool {
    match part.as_table() {
        Some(all) => all.iter().all(|(name, part)| value.get(name) == Some(part)),
        None => value == part,
    }
}

fn at<'a>(table: &'a Table, path: &[&str]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(table.get(*first)?, |value, name| value.get(name))
}

/// Gives a key this value; none when something on its path is not a table.
fn set(table: &mut Table, path: &[&str], value: Value) -> Option<()> {
    let (last, path) = path.split_last()?;
    let inner = path.iter().try_fold(table, |table, name| {
        let inner = table.entry(*name).or_insert_with(|| Value::Table(Table::new()));
        inner.as_table_mut()
    });
    inner?.insert((*last).to_owned(), value);
    Some(())
}

/// Removes a key, and the tables that are empty then.
fn unset(table: &mut Table, path: &[&str]) {
    let [first, rest @ ..] = path else { return };
    if rest.is_empty() {
        table.remove(*first);
    } else if let Some(inner) = table.get_mut(*first).and_then(Value::as_table_mut) {
        unset(inner, rest);
        if inner.is_empty() {
            table.remove(*first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEADLINE: &str = "DEBATE_WAIT_DEADLINE";

    fn variable() -> TomlKey {
        TomlKey::variable(DEADLINE, "25")
    }

    fn entry(fields: &'static [(&str, &str)]) -> TomlKey {
        let (list, in_new_file) = ("mcp_servers", &[]);
        TomlKey::entry(&McpEntry {
            list,
            fields,
            in_new_file,
            role: None,
            wake: false,
            allow: None,
        })
    }

    fn tools() -> TomlKey {
        entry(&[("command", "\"aw\""), ("args", "[\"mcp\"]"), ("tool_timeout_sec", "300")])
    }

    fn with(key: &TomlKey, file: &str) -> (String, [String; 1]) {
        match key.insert(file, &[]) {
            Ok(Insertion::New { file, inserted }) => (file, [inserted]),
            other => panic!("{other:?} for {file:?}"),
        }
    }

    fn present(inserted: &[String; 1]) -> Result<Insertion, CannotEdit> {
        Ok(Insertion::Present { inserted: inserted[0].clone() })
    }

    #[test]
    fn a_key_is_inserted_into_any_toml_and_removed_without_a_trace() {
        for file in [
            "",
            "\n",
            "model = \"x\"",
            "model = \"x\"\r\n[a]\r\nb = 1\r\n",
            "\u{feff}# only a comment\n\n\n",
            "[shell_environment_policy]\ninherit = \"core\"\n\n[other]\nx = 1\n",
            "[shell_environment_policy.set]\n",
            "[shell_environment_policy.set]\n# none yet\n\n[other]\nx = 1\n",
            "  [shell_environment_policy.set]  # mine\n  FOO = \"a\"  # odd\n\n[other]\nx=1\n",
            "[shell_environment_policy.set]\nFOO = \"\"\"\nmany\nlines\"\"\"\n",
            "[shell_environment_policy]\nset = { FOO = \"a\", BAR='b' }\n",
            "[shell_environment_policy]\nset = {}\n",
            "[shell_environment_policy]\r\nset.FOO = \"a\"\r\n",
            "shell_environment_policy.set.FOO = \"a\"\nmodel = \"x\"\n",
            "shell_environment_policy = { inherit = \"core\" }\n",
            "shell_environment_policy = {inherit=\"core\", set={FOO=\"a\"}}\n",
            "[mcp_servers]\n",
            "[mcp_servers.docs]\ncommand = \"npx\" # mine\n\n[other]\nx = 1\n",
            "mcp_servers = { docs = { command = \"npx\" } }\nmodel = \"x\"\n",
            "mcp_servers = {}\n",
            "mcp_servers.docs.command = \"npx\"\n",
            "[mcp_servers]\n[mcp_servers.\"aw2\"]\ncommand = 'aw'\n",
            "[[list]]\nmcp_servers = 1\n[[list]]\nx = 2",
            "text = '''\n[mcp_servers.aw]\n[shell_environment_policy.set]\n'''\n",
            "[shell_environment_policy]",
            "[shell_environment_policy.set] # mine",
            "[ shell_environment_policy . \"set\" ]\r\n",
            "['shell_environment_policy'.set]\nFOO = 'a'",
            "[shell_environment_policy.set]\n\"DEBATE_WAIT\" = \"1\"\nXDEBATE_WAIT_DEADLINE = \"25\"\n",
            "[shell_environment_policy]\nset = {\t}\ninherit = 'all' # set = {}\n",
            "[shell_environment_policy]\nset . \"FOO\" = 'a' # { } \n",
            "shell_environment_policy.inherit = \"core\"\n[z]\n",
            "shell_environment_policy = {inherit=\"core\", set={FOO=\"a}\"}} # { }\n",
            "shell_environment_policy = {set.FOO='a'}\n",
            "[profiles.x.shell_environment_policy.set]\nDEBATE_WAIT_DEADLINE = \"3\"\n",
        ] {
            for key in [variable(), tools()] {
                let (with, inserted) = with(&key, file);
                let table: Table = toml::from_str(&with).unwrap();
                assert_eq!(at(&table, &key.path), key.value().as_ref(), "{with}");
                assert_eq!(key.insert(&with, &inserted), present(&inserted), "{with}");
                assert_eq!(key.remove(&with, &inserted), file, "{with}");
            }
        }
    }

    #[test]
    fn a_value_that_differs_from_ours_stays() {
        for (key, file) in [
            (variable(), "[shell_environment_policy.set]\nDEBATE_WAIT_DEADLINE = \"9\"\n"),
            (variable(), "[shell_environment_policy.set]\nDEBATE_WAIT_DEADLINE = \"25\"\n"),
            (variable(), "shell_environment_policy = {set={DEBATE_WAIT_DEADLINE='25'}}"),
            (tools(), "[mcp_servers.aw]\nurl = \"https://example.org/mcp\"\n"),
            (tools(), "mcp_servers.aw = 3\n"),
            (
                tools(),
                "[mcp_servers.aw]\ncommand = \"aw\"\nargs = [\"mcp\"]\ntool_timeout_sec = 300\n",
            ),
        ] {
            assert_eq!(key.insert(file, &[]), Ok(Insertion::Foreign), "{file}");
            assert_eq!(key.remove(file, &[]), file);
        }
        // Only our markers go.
        for (key, old, new) in [(variable(), "\"25\"", "\"20\""), (tools(), "300", "600")] {
            let (with, inserted) = with(&key, "");
            let edited = with.replace(old, new);
            assert_eq!(key.insert(&edited, &inserted), Ok(Insertion::Foreign));
            let unmarked: String =
                edited.split_inclusive('\n').filter(|line| !line.starts_with('#')).collect();
            assert_eq!(key.remove(&edited, &inserted), unmarked);
        }
    }

    #[test]
    fn the_value_of_an_earlier_aw_is_replaced() {
        let earlier = entry(&[("command", "\"aw\""), ("startup_timeout_sec", "9")]);
        for (earlier, now) in [(earlier, tools()), (TomlKey::variable(DEADLINE, "9"), variable())] {
            for file in ["model = \"x\"\n", "mcp_servers = {}\n", "shell_environment_policy = {}"] {
                let (with, inserted) = with(&earlier, file);
                let renewed = now.insert(&with, &inserted).unwrap();
                let Insertion::New { file: with, inserted } = renewed else {
                    panic!("{renewed:?}")
                };
                let table: Table = toml::from_str(&with).unwrap();
                assert_eq!(at(&table, &now.path), now.value().as_ref(), "{with}");
                assert_eq!(now.remove(&with, &[inserted]), file);
            }
        }
    }

    #[test]
    fn lines_that_somebody_added_to_our_entry_go_with_it() {
        for (old, new) in [
            ("tool_timeout_sec", "enabled = true\ntool_timeout_sec"),
            ("# aw:mcp end\n", "# aw:mcp end\nstartup_timeout_sec = 20\n"),
            ("end\n", "end\n\n[mcp_servers.aw.tools.debate_list]\napproval_mode = \"approve\"\n"),
            ("end\n", "end\n[[mcp_servers.aw.more]]\na = 1\n[[mcp_servers.aw.more]]\n"),
        ] {
            let key = tools();
            let (with, inserted) = with(&key, "[a]\nb = 1\n");
            let added = with.replace(old, new);
            // Our text does not stand there as it did, but the entry says the same.
            assert_eq!(key.insert(&added, &inserted), present(&inserted), "{added}");
            assert_eq!(key.remove(&added, &inserted).trim_end(), "[a]\nb = 1", "{added}");
            let more = format!("{added}# about c\n[c]\nd = 1\n");
            let left = key.remove(&more, &inserted);
            assert!(left.ends_with("# about c\n[c]\nd = 1\n"), "{more} became {left}");
            assert!(!left.contains("mcp_servers"), "{more} became {left}");
        }
    }

    #[test]
    fn lines_that_somebody_wrote_around_ours_stay() {
        let end = "# aw:mcp end\n";
        let (own, servers) = ("[a]\nb = 1\n", "mcp_servers = { docs = { command = \"npx\" } }\n");
        let kept = "[a]\nb = 1\n\n[shell_environment_policy.set]\nFOO = 'a'\n";
        let edited = "[a]\nb = 1\n\n# aw:begin: Ann: Codex gives up on a silent command after 30 s, \
                      so a wait must end before\n";
        let braces = "[shell_environment_policy]\nset = { A = 'b' }\n";
        for (key, file, old, new, left) in [
            (tools(), own, end, "# aw:mcp end\n[c]\nd = 1\n", "[a]\nb = 1\n[c]\nd = 1\n"),
            (tools(), own, end, "[c]\nd = 1\n# aw:mcp end\n", "[a]\nb = 1\n\n[c]\nd = 1\n"),
            (tools(), own, "# aw:mcp begin: the tools of debates\n", "", "[a]\nb = 1\n\n"),
            (tools(), own, "command = \"aw\"\n", "command  =  'aw'\n", "[a]\nb = 1\n\n"),
            (tools(), servers, "docs = { command = \"npx\" }, ", "", "mcp_servers = { }\n"),
            (variable(), own, "# aw:end\n", "# aw:end\nFOO = 'a'\n", kept),
            (variable(), own, "DEBATE_WAIT", "FOO = 'a'\nDEBATE_WAIT", kept),
            (variable(), "x = 1", "# aw:end\n", "# aw:end\n[a]\nb = 1\n", "x = 1\n[a]\nb = 1\n"),
            (variable(), "x = 1\r\n", "x = 1", "y = 1\r\nx = 1", "y = 1\r\nx = 1\r\n"),
            (variable(), own, "# aw:begin: Codex gives", "# aw:begin: Ann: Codex gives", edited),
            (variable(), braces, "A = 'b', ", "", "[shell_environment_policy]\nset = { }\n"),
            (
                variable(),
                braces,
                "\"25\"",
                "\"25\", C = 'd'",
                "[shell_environment_policy]\nset = { A = 'b', C = 'd' }\n",
            ),
            (
                variable(),
                "[shell_environment_policy.set]\nA = 'b'\n",
                "A = 'b'\n",
                "B = 'c'\n",
                "[shell_environment_policy.set]\nB = 'c'\n",
            ),
            (
                variable(),
                "shell_environment_policy = { inherit = \"core\" }\n",
                "\"core\", ",
                "\"core\", FOO = 1, ",
                "shell_environment_policy = { inherit = \"core\", FOO = 1 }\n",
            ),
        ] {
            let (with, inserted) = with(&key, file);
            assert!(with.contains(old), "{with}");
            let edited = with.replace(old, new);
            assert_eq!(key.remove(&edited, &inserted), left, "{edited}");
        }
        let (with, inserted) = with(&tools(), servers);
        let broken = with.replace("docs =", "docs");
        assert!(!tools().remove(&broken, &inserted).contains("\"aw\""));
    }

    #[test]
    fn a_file_that_cannot_be_edited_is_refused() {
        let refused = variable().insert("model = ", &[]).unwrap_err();
        assert!(matches!(refused, CannotEdit::NotToml(_)), "{refused}");
        for (key, file) in
            [(variable(), "shell_environment_policy = 3\n"), (tools(), "mcp_servers = 3\n")]
        {
            let refused = key.insert(file, &[]).unwrap_err();
            assert!(matches!(refused, CannotEdit::NoRoom { .. }), "{refused}");
        }
    }
}
