//! A variable for the commands that Codex runs, put into its `config.toml` and taken out again.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use toml::{Spanned, Table, Value};

use super::{
    CannotPut, Put, line_end, only, replaced, separator, with_blank_line, without,
    without_edited_block,
};

/// How a line begins that begins a table of ours, and one that ends it.
const MARKS: [&str; 2] = ["# aw:begin", "# aw:end"];

/// As much of Codex's configuration as concerns the variables of its commands, with its places.
#[derive(Debug, Deserialize)]
struct Codex {
    shell_environment_policy: Option<Spanned<Policy>>,
}

#[derive(Debug, Deserialize)]
struct Policy {
    set: Option<Spanned<BTreeMap<Spanned<String>, Value>>>,
}

const POLICY: &str = "shell_environment_policy";
const SET: &str = "set";

pub(super) fn put(
    file: &str,
    name: &str,
    value: &str,
    before: &[String],
) -> Result<Put, CannotPut> {
    let not_toml = |error: toml::de::Error| CannotPut::NotToml(error.message().to_owned());
    let table: Table = toml::from_str(file).map_err(not_toml)?;
    let end = line_end(file);
    let pair = format!("{name} = \"{value}\"");
    if let Some(now) = variable(&table, name) {
        let mut before = before.iter().filter(|before| before.contains(name));
        let as_before = before.find(|before| file.contains(*before)).cloned();
        if let (Some(ours), Some(now)) = (&as_before, now.as_str().filter(|now| *now != value)) {
            let inserted = ours.replacen(&format!("{name} = \"{now}\""), &pair, 1);
            return Ok(Put::In { file: file.replacen(ours, &inserted, 1), inserted });
        }
        let ours = || only(file, &own_table(&pair, end));
        let marked = || Some(file[with_blank_line(file, ours()?)].to_owned());
        return Ok(as_before
            .or_else(marked)
            .map_or(Put::Theirs, |inserted| Put::There { inserted }));
    }
    let wanted = with_variable(&table, name, value);
    for (at, inserted) in rooms(file, &pair, end).unwrap_or_default() {
        let file = replaced(file, at..at, &inserted);
        // Only what adds exactly this and nothing else is believed.
        if toml::from_str::<Table>(&file).is_ok_and(|table| Some(&table) == wanted.as_ref()) {
            return Ok(Put::In { file, inserted });
        }
    }
    Err(CannotPut::NoRoom { what: pair, place: format!("[{POLICY}.{SET}]") })
}

/// Where the pair could go, and what would have to be put there.
fn rooms(file: &str, pair: &str, end: &str) -> Result<Vec<(usize, String)>, toml::de::Error> {
    let codex: Codex = toml::from_str(file)?;
    let mut rooms = Vec::new();
    let mut inside = |span: Range<usize>, pair: &str| {
        let text = &file[span.clone()];
        if let Some(inner) = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) {
            let kept = inner.trim_end();
            let comma = if kept.is_empty() || kept.ends_with(',') { " " } else { ", " };
            rooms.push((span.start + 1 + kept.len(), format!("{comma}{pair}")));
        }
    };
    let policy = codex.shell_environment_policy;
    let set = policy.as_ref().and_then(|policy| policy.get_ref().set.as_ref());
    if let Some(set) = set {
        inside(set.span(), pair);
        if let Some(policy) = &policy {
            inside(policy.span(), &format!("{SET}.{pair}"));
        }
        if let Some(first) = set.get_ref().keys().map(Spanned::span).min_by_key(|at| at.start) {
            // After a table of ours, whose text stays as it was written.
            let ours = file[..first.start].rfind(MARKS[0]);
            let ends = file[first.start..].find(MARKS[1]).map(|mark| first.start + mark);
            if let (Some(_), Some(mark)) = (ours, ends) {
                let line = file[mark..].find('\n').map_or(file.len(), |line| mark + line + 1);
                rooms.push((line, format!("{pair}{end}")));
            }
            // Before the line of its first neighbour, with whatever that line begins with.
            let line = file[..first.start].rfind('\n').map_or(0, |line| line + 1);
            rooms.push((line, format!("{}{pair}{end}", &file[line..first.start])));
        }
        // After the header of an empty table.
        let header = set.span().start;
        rooms.push(match file[header..].find('\n') {
            Some(line) => (header + line + 1, format!("{pair}{end}")),
            None => (file.len(), format!("{end}{pair}{end}")),
        });
    } else if let Some(policy) = &policy {
        inside(policy.span(), &format!("{SET} = {{ {pair} }}"));
    }
    rooms.push((file.len(), format!("{}{}", separator(file, end), own_table(pair, end))));
    Ok(rooms)
}

/// A table for the pair alone, between markers.
fn own_table(pair: &str, end: &str) -> String {
    let lines = [
        "# aw:begin: Codex gives up on a silent command after 30 s, so a wait must end before",
        &format!("[{POLICY}.{SET}]"),
        pair,
        "# aw:end",
        "",
    ];
    lines.join(end)
}

pub(super) fn take_out(file: &str, name: &str, value: &str, inserted: &[String]) -> String {
    let ours = || inserted.iter().filter(|text| text.contains(name));
    let exactly = ours().find_map(|text| only(file, text)).map(|range| without(file, range));
    let Ok(table) = toml::from_str::<Table>(file) else {
        // Somebody broke it; what we wrote can still be recognised.
        return exactly.unwrap_or_else(|| file.to_owned());
    };
    // One that we have not set, and another value, is somebody's choice; what we said about ours is
    // not.
    let is_set = variable(&table, name).and_then(Value::as_str) == Some(value);
    if !is_set || ours().next().is_none() {
        let unmarked = without_markers(file);
        let same = toml::from_str::<Table>(&unmarked).is_ok_and(|left| left == table);
        return if same { unmarked } else { file.to_owned() };
    }
    let wanted = without_variable(&table, name);
    let mut ways: Vec<String> = exactly.into_iter().collect();
    ways.extend(ours().find_map(|text| without_edited_block(file, text, MARKS)));
    for (at, _) in file.match_indices(name) {
        let line = file[..at].rfind('\n').map_or(0, |line| line + 1);
        let line_end = file[at..].find('\n').map_or(file.len(), |line| at + line + 1);
        let quoted = format!("\"{value}\"");
        let value = file[at..line_end].find(&quoted).map(|value| at + value + quoted.len());
        match value {
            // Among others in braces, one of the commas goes with it.
            Some(after) if file[line..at].contains('{') => {
                let before = file[..at].trim_end().strip_suffix(',').map(str::len);
                let tail = file[after..].trim_start_matches([',', ' ']).len();
                ways.push(match before {
                    Some(from) => replaced(file, from..after, ""),
                    None => replaced(file, at..file.len() - tail, ""),
                });
            }
            Some(_) | None => ways.push(without_markers(&replaced(file, line..line_end, ""))),
        }
    }
    let right = |way: &String| {
        toml::from_str::<Table>(way).is_ok_and(|table| without_variable(&table, name) == wanted)
            && !toml::from_str::<Table>(way).is_ok_and(|table| variable(&table, name).is_some())
    };
    ways.into_iter().find(right).unwrap_or_else(|| file.to_owned())
}

/// The file without the comments that begin and end a table of ours.
fn without_markers(file: &str) -> String {
    let ours = |line: &&str| {
        let line = line.trim_start();
        MARKS.iter().any(|mark| line.starts_with(mark))
    };
    file.split_inclusive('\n').filter(|line| !ours(line)).collect()
}

/// Whether the variable is set, by whomever.
pub(super) fn is_in(file: &str, name: &str) -> bool {
    toml::from_str::<Table>(file).is_ok_and(|table| variable(&table, name).is_some())
}

fn variable<'a>(table: &'a Table, name: &str) -> Option<&'a Value> {
    table.get(POLICY)?.get(SET)?.get(name)
}

/// The same table with the variable in it, if there is a place for it.
fn with_variable(table: &Table, name: &str, value: &str) -> Option<Table> {
    let mut table = table.clone();
    let empty = || Value::Table(Table::new());
    let policy = table.entry(POLICY).or_insert_with(empty).as_table_mut()?;
    let set = policy.entry(SET).or_insert_with(empty).as_table_mut()?;
    set.insert(name.to_owned(), value.into());
    Some(table)
}

/// The same table without the variable and without tables that only held it.
fn without_variable(table: &Table, name: &str) -> Table {
    let mut table = table.clone();
    let is_empty =
        |value: Option<&Value>| value.and_then(Value::as_table).is_some_and(Table::is_empty);
    if let Some(policy) = table.get_mut(POLICY).and_then(Value::as_table_mut) {
        if let Some(set) = policy.get_mut(SET).and_then(Value::as_table_mut) {
            set.remove(name);
        }
        if is_empty(policy.get(SET)) {
            policy.remove(SET);
        }
    }
    if is_empty(table.get(POLICY)) {
        table.remove(POLICY);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "DEBATE_WAIT_DEADLINE";
    const VALUE: &str = "25";

    fn with(file: &str) -> (String, [String; 1]) {
        match put(file, NAME, VALUE, &[]) {
            Ok(Put::In { file, inserted }) => (file, [inserted]),
            other => panic!("{other:?} for {file:?}"),
        }
    }

    #[test]
    fn a_variable_goes_in_and_out_of_any_toml_without_a_trace() {
        for file in [
            "",
            "model = \"x\"",
            "model = \"x\"\r\n[a]\r\nb = 1\r\n",
            "# only a comment\n",
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
        ] {
            let (with, inserted) = with(file);
            let table: Table = toml::from_str(&with).unwrap();
            let found = variable(&table, NAME).and_then(Value::as_str);
            assert_eq!(found, Some(VALUE), "{with}");
            let again = put(&with, NAME, VALUE, &inserted).unwrap();
            assert_eq!(again, Put::There { inserted: inserted[0].clone() }, "{with}");
            assert_eq!(take_out(&with, NAME, VALUE, &inserted), file, "{with}");
        }
    }

    #[test]
    fn a_variable_that_somebody_set_is_theirs() {
        let file = "[shell_environment_policy.set]\nDEBATE_WAIT_DEADLINE = \"9\"\n";
        assert_eq!(put(file, NAME, VALUE, &[]).unwrap(), Put::Theirs);
        let (with, inserted) = with("");
        let changed = with.replace("\"25\"", "\"20\"");
        let theirs = "[shell_environment_policy.set]\nDEBATE_WAIT_DEADLINE = \"20\"\n";
        assert_eq!(take_out(&changed, NAME, VALUE, &inserted), theirs);
    }

    #[test]
    fn what_somebody_added_to_our_table_keeps_its_table() {
        let (with, inserted) = with("model = \"x\"\n");
        let added = format!("{with}FOO = \"mine\"\n");
        let left = take_out(&added, NAME, VALUE, &inserted);
        assert_eq!(left, "model = \"x\"\n\n[shell_environment_policy.set]\nFOO = \"mine\"\n");
    }

    #[test]
    fn a_file_that_is_not_toml_is_left_alone() {
        let refused = put("model = ", NAME, VALUE, &[]).unwrap_err();
        assert!(matches!(refused, CannotPut::NotToml(_)), "{refused}");
        let odd = put("shell_environment_policy = 3\n", NAME, VALUE, &[]).unwrap_err();
        assert!(
            odd.to_string().contains("yourself") || matches!(odd, CannotPut::NotToml(_)),
            "{odd}"
        );
    }
}
