//! Putting a few lines of ours into somebody's file, and taking them out again.
//!
//! Everything else in the file stays byte for byte. What is put in is remembered as it was
//! written, separators included, so that taking it out leaves what was there before; when the file
//! was edited in between, only what is ours goes.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use similar::{ChangeTag, TextDiff};
use toml::{Spanned, Table, Value};

/// What is put into a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Graft {
    /// Lines of Markdown between two markers, at the end of the file.
    Block(String),
    /// A variable that Codex gives to the commands it runs, in its `config.toml`.
    Variable {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: &'static str,
    },
}

/// What became of putting something in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Put {
    /// The file with it, and what exactly was put in.
    In {
        /// The file.
        file: String,
        /// What was put in.
        inserted: String,
    },
    /// It is there already, written so.
    There {
        /// What stands there.
        inserted: String,
    },
    /// Something of the kind is there that somebody has written or edited: it is left alone.
    Theirs,
}

/// Why nothing can be put into a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CannotPut {
    /// One marker without the other.
    #[error("has the line `{0}` without its counterpart: remove that line")]
    HalfABlock(String),
    /// It is not TOML.
    #[error("is not valid TOML ({0}): correct it first")]
    NotToml(String),
    /// It is written in a way that leaves no room.
    #[error(
        "is written so that nothing can be added safely: add {0} to [shell_environment_policy.set] yourself"
    )]
    NoRoom(String),
}

const BEGIN: &str =
    "<!-- aw:begin: `aw agent install` wrote this, `aw agent uninstall` removes it -->";
const END: &str = "<!-- aw:end -->";

/// How a line begins that begins a block, and one that ends it: in Markdown and in TOML.
const MARKDOWN: [&str; 2] = ["<!-- aw:begin", "<!-- aw:end"];
const TOML: [&str; 2] = ["# aw:begin", "# aw:end"];

impl Graft {
    /// Puts it into the file, in place of what was put in before.
    pub fn put(&self, file: &str, before: Option<&str>) -> Result<Put, CannotPut> {
        match self {
            Graft::Block(lines) => put_block(file, lines, before),
            Graft::Variable { name, value } => put_variable(file, name, value, before),
        }
    }

    /// The file without it.
    pub fn take_out(&self, file: &str, inserted: &str) -> String {
        match self {
            Graft::Block(_) => take_out_block(file, inserted),
            Graft::Variable { name, value } => take_out_variable(file, name, value, inserted),
        }
    }
}

/// What is left of a text when the lines of ours are gone: whatever somebody else wrote into it.
pub fn without_ours(text: &str, ours: &str) -> String {
    let diff = TextDiff::from_lines(ours, text);
    let theirs = diff.iter_all_changes().filter(|change| change.tag() == ChangeTag::Insert);
    theirs.map(|change| change.value().to_owned()).collect()
}

fn line_end(file: &str) -> &'static str {
    match file.find('\n') {
        Some(at) if file[..at].ends_with('\r') => "\r\n",
        Some(_) | None => "\n",
    }
}

/// What stands between the end of the file and a block that begins a paragraph.
fn separator(file: &str, end: &str) -> String {
    let rest = file.strip_suffix(end);
    match rest {
        _ if file.is_empty() => String::new(),
        None => end.repeat(2),
        Some(rest) if rest.is_empty() || rest.ends_with('\n') => String::new(),
        Some(_) => end.to_owned(),
    }
}

fn put_block(file: &str, lines: &str, before: Option<&str>) -> Result<Put, CannotPut> {
    let block = |end: &str| [BEGIN, lines.trim(), END, ""].join("\n").replace('\n', end);
    if let Some(range) = before.and_then(|before| only(file, before)) {
        // Its lines end as they did, and the blank line before it, which may be ours, stays.
        let now = &file[range.clone()];
        let inserted = format!("{}{}", lead(now, MARKDOWN), block(line_end(now)));
        if inserted == file[range.clone()] {
            return Ok(Put::There { inserted });
        }
        return Ok(Put::In { file: replaced(file, range, &inserted), inserted });
    }
    let end = line_end(file);
    match block_in(file, MARKDOWN)? {
        Some(range) if file[range.clone()] == block(end) => {
            Ok(Put::There { inserted: file[with_blank_line(file, range)].to_owned() })
        }
        Some(_) => Ok(Put::Theirs),
        None => {
            let inserted = format!("{}{}", separator(file, end), block(end));
            Ok(Put::In { file: format!("{file}{inserted}"), inserted })
        }
    }
}

fn take_out_block(file: &str, inserted: &str) -> String {
    match only(file, inserted) {
        Some(range) => without(file, range),
        None => without_edited_block(file, inserted, MARKDOWN).unwrap_or_else(|| file.to_owned()),
    }
}

/// The file with only that left of the block in it which somebody wrote there.
fn without_edited_block(file: &str, inserted: &str, marks: [&str; 2]) -> Option<String> {
    let range = block_in(file, marks).ok()??;
    let apart = lead(inserted, marks);
    let theirs = without_ours(&file[range.clone()], &inserted[apart.len()..]);
    if !theirs.trim().is_empty() {
        return Some(replaced(file, range, &theirs));
    }
    // What separated it from the lines before goes with it.
    let apart = if file[..range.start].ends_with(apart) { apart.len() } else { 0 };
    Some(without(file, range.start - apart..range.end))
}

/// Whether lines stand there between our markers.
pub fn has_block(file: &str) -> bool {
    matches!(block_in(file, MARKDOWN), Ok(Some(_)))
}

/// Where our block is: its lines, markers included. What only mentions a marker is none.
fn block_in(file: &str, marks: [&str; 2]) -> Result<Option<Range<usize>>, CannotPut> {
    let mut begun: Option<Range<usize>> = None;
    let mut at = 0;
    let half = |line: Range<usize>| CannotPut::HalfABlock(file[line].trim().to_owned());
    for line in file.split_inclusive('\n') {
        let range = at..at + line.len();
        at = range.end;
        let line = line.trim_start_matches(['\u{feff}', ' ', '\t']);
        match &begun {
            None if line.starts_with(marks[0]) => begun = Some(range),
            None if line.starts_with(marks[1]) => return Err(half(range)),
            Some(begin) if line.starts_with(marks[1]) => return Ok(Some(begin.start..range.end)),
            Some(_) | None => {}
        }
    }
    begun.map_or(Ok(None), |begin| Err(half(begin)))
}

/// What stands before the block in what was put in.
fn lead<'a>(inserted: &'a str, marks: [&str; 2]) -> &'a str {
    &inserted[..inserted.find(marks[0]).unwrap_or(0)]
}

/// A block at the end of a file, with the blank line that we put before it unless the file ends
/// with one anyway: it is what most likely stood there, where nobody remembers.
fn with_blank_line(file: &str, block: Range<usize>) -> Range<usize> {
    let end = line_end(file);
    let before = &file[..block.start];
    let text = before.strip_suffix(end).and_then(|text| text.strip_suffix(end));
    match text {
        Some(text) if block.end == file.len() && !text.is_empty() && !text.ends_with('\n') => {
            block.start - end.len()..block.end
        }
        Some(_) | None => block,
    }
}

/// The only place where this stands.
fn only(file: &str, text: &str) -> Option<Range<usize>> {
    let mut places = file.match_indices(text).map(|(at, _)| at);
    match (places.next(), places.next()) {
        (Some(at), None) if !text.is_empty() => Some(at..at + text.len()),
        _ => None,
    }
}

fn replaced(file: &str, range: Range<usize>, with: &str) -> String {
    format!("{}{with}{}", &file[..range.start], &file[range.end..])
}

/// The file without this part of it. Where that ended somebody's last line, lines that they wrote
/// after it do not become part of that line.
fn without(file: &str, range: Range<usize>) -> String {
    let (before, after) = (&file[..range.start], &file[range.end..]);
    let part = &file[range.clone()];
    let ended = ["\r\n", "\n"].into_iter().find(|end| part.starts_with(end));
    match ended {
        Some(end) if !before.is_empty() && !before.ends_with('\n') && !after.is_empty() => {
            let ended = after.starts_with('\n') || after.starts_with("\r\n");
            let end = if ended { "" } else { end };
            replaced(file, range, end)
        }
        Some(_) | None => replaced(file, range, ""),
    }
}

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

fn put_variable(
    file: &str,
    name: &str,
    value: &str,
    before: Option<&str>,
) -> Result<Put, CannotPut> {
    let not_toml = |error: toml::de::Error| CannotPut::NotToml(error.message().to_owned());
    let table: Table = toml::from_str(file).map_err(not_toml)?;
    let end = line_end(file);
    let pair = format!("{name} = \"{value}\"");
    if variable(&table, name).is_some() {
        let as_before = before.filter(|before| file.contains(before)).map(str::to_owned);
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
    Err(CannotPut::NoRoom(pair))
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

fn take_out_variable(file: &str, name: &str, value: &str, inserted: &str) -> String {
    let Ok(table) = toml::from_str::<Table>(file) else {
        // Somebody broke it; what we wrote can still be recognised.
        return only(file, inserted).map_or(file.to_owned(), |range| without(file, range));
    };
    // Another value is somebody's choice; what we said about ours is not.
    if variable(&table, name).and_then(Value::as_str) != Some(value) {
        let unmarked = without_markers(file);
        let same = toml::from_str::<Table>(&unmarked).is_ok_and(|left| left == table);
        return if same { unmarked } else { file.to_owned() };
    }
    let wanted = without_variable(&table, name);
    let mut ways: Vec<String> = Vec::new();
    if let Some(range) = only(file, inserted) {
        ways.push(without(file, range));
    }
    ways.extend(without_edited_block(file, inserted, TOML));
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
        line.starts_with("# aw:begin") || line.starts_with("# aw:end")
    };
    file.split_inclusive('\n').filter(|line| !ours(line)).collect()
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

    fn block() -> Graft {
        Graft::Block("## Debates\n\nUse `aw`.".to_owned())
    }

    fn variable() -> Graft {
        Graft::Variable { name: "DEBATE_WAIT_DEADLINE", value: "25" }
    }

    fn put(graft: &Graft, file: &str) -> (String, String) {
        match graft.put(file, None) {
            Ok(Put::In { file, inserted }) => (file, inserted),
            other => panic!("{other:?} for {file:?}"),
        }
    }

    #[test]
    fn a_block_goes_in_and_out_of_any_markdown_without_a_trace() {
        for file in [
            "",
            "\n",
            "# Mine",
            "# Mine\n",
            "# Mine\n\n",
            "# Mine  \t\n \n\n\n",
            "# Mine\r\n\r\nWindows\r\n",
            "# Mine\r\nWindows",
            "\u{feff}# Mine\n",
            "Người dùng\n",
        ] {
            let (with, inserted) = put(&block(), file);
            assert!(with.starts_with(file), "{file:?}");
            let again = block().put(&with, Some(&inserted)).unwrap();
            assert_eq!(again, Put::There { inserted: inserted.clone() });
            assert_eq!(block().take_out(&with, &inserted), file);
            if file.contains("\r\n") {
                assert!(!with.replace("\r\n", "").contains('\n'), "{with:?}");
            }
        }
    }

    #[test]
    fn a_newer_block_takes_the_place_of_the_older_one() {
        let (with, inserted) = put(&block(), "# Mine\n");
        let with = format!("{with}\nMore of mine\n");
        let newer = Graft::Block("## Newer".to_owned());
        let Put::In { file, inserted } = newer.put(&with, Some(&inserted)).unwrap() else {
            panic!("it was to be replaced");
        };
        assert!(file.contains("## Newer") && !file.contains("## Debates"), "{file}");
        assert_eq!(newer.take_out(&file, &inserted), "# Mine\n\nMore of mine\n");
    }

    #[test]
    fn lines_that_somebody_wrote_into_the_block_stay() {
        let (with, inserted) = put(&block(), "# Mine\n");
        let edited = with.replace("Use `aw`.\n", "Use `aw`.\nAlways ask Ann first.\n");
        assert_eq!(block().put(&edited, Some(&inserted)).unwrap(), Put::Theirs);
        assert_eq!(block().take_out(&edited, &inserted), "# Mine\n\nAlways ask Ann first.\n");
    }

    #[test]
    fn half_a_block_is_not_guessed_at() {
        let refused = block().put("<!-- aw:begin -->\ntext\n", None).unwrap_err();
        assert!(refused.to_string().contains("aw:begin"), "{refused}");
        assert!(block().put("text\n<!-- aw:end -->\n", None).is_err());
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
            let (with, inserted) = put(&variable(), file);
            let table: Table = toml::from_str(&with).unwrap();
            let found = super::variable(&table, "DEBATE_WAIT_DEADLINE").and_then(Value::as_str);
            assert_eq!(found, Some("25"), "{with}");
            let again = variable().put(&with, Some(&inserted)).unwrap();
            assert_eq!(again, Put::There { inserted: inserted.clone() }, "{with}");
            assert_eq!(variable().take_out(&with, &inserted), file, "{with}");
        }
    }

    #[test]
    fn a_variable_that_somebody_set_is_theirs() {
        let file = "[shell_environment_policy.set]\nDEBATE_WAIT_DEADLINE = \"9\"\n";
        assert_eq!(variable().put(file, None).unwrap(), Put::Theirs);
        let (with, inserted) = put(&variable(), "");
        let changed = with.replace("\"25\"", "\"20\"");
        let theirs = "[shell_environment_policy.set]\nDEBATE_WAIT_DEADLINE = \"20\"\n";
        assert_eq!(variable().take_out(&changed, &inserted), theirs);
    }

    #[test]
    fn what_somebody_added_to_our_table_keeps_its_table() {
        let (with, inserted) = put(&variable(), "model = \"x\"\n");
        let added = format!("{with}FOO = \"mine\"\n");
        let left = variable().take_out(&added, &inserted);
        assert_eq!(left, "model = \"x\"\n\n[shell_environment_policy.set]\nFOO = \"mine\"\n");
    }

    #[test]
    fn a_file_that_is_not_toml_is_left_alone() {
        let refused = variable().put("model = ", None).unwrap_err();
        assert!(matches!(refused, CannotPut::NotToml(_)), "{refused}");
        let odd = variable().put("shell_environment_policy = 3\n", None).unwrap_err();
        assert!(
            odd.to_string().contains("yourself") || matches!(odd, CannotPut::NotToml(_)),
            "{odd}"
        );
    }
}
