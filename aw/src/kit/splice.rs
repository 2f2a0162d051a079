//! Putting a few lines of ours into somebody's file, and taking them out again.
//!
//! Everything else in the file stays byte for byte. What is put in is remembered as it was
//! written, separators included, so that taking it out leaves what was there before; when the file
//! was edited in between, only what is ours goes.

mod member;
mod table;
mod variable;

use std::ops::Range;

use aw_core::Role;
use similar::{ChangeTag, TextDiff};

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
    /// The entry that makes a host start `aw mcp`, as a table of TOML.
    Table(Registration),
    /// The same in JSON, with or without comments.
    Member(Registration),
}

/// An entry `aw` among a host's MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Registration {
    /// What the host calls its list of them.
    pub list: &'static str,
    /// What the entry says, each value in words that mean the same in TOML and JSON.
    pub fields: &'static [(&'static str, &'static str)],
    /// What else a file has to say that is made for it, lest the host add it.
    pub besides: &'static [(&'static str, &'static str)],
    /// The role that the tools are held to, if any.
    pub role: Option<Role>,
}

impl Registration {
    /// The fields of the entry, with the role among the arguments.
    fn fields(&self) -> impl Iterator<Item = (&'static str, String)> {
        let mcp = match self.role {
            Some(role) => format!("\"mcp\", \"--role\", \"{role}\""),
            None => "\"mcp\"".to_owned(),
        };
        self.fields.iter().map(move |(name, value)| (*name, value.replace("\"mcp\"", &mcp)))
    }
}

/// What the entry is called, so that its tools are too: `aw` and `debate_wait`.
pub const NAME: &str = "aw";

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
    /// It is not JSON.
    #[error("is not valid JSON ({0}): correct it first")]
    NotJson(String),
    /// It is written in a way that leaves no room.
    #[error("is written so that nothing can be added safely: add {what} to {place} yourself")]
    NoRoom {
        /// What there is no room for.
        what: String,
        /// Where it belongs.
        place: String,
    },
}

const BEGIN: &str =
    "<!-- aw:begin: `aw agent install` wrote this, `aw agent uninstall` removes it -->";
const END: &str = "<!-- aw:end -->";

/// How a line begins that begins a block, and one that ends it.
const MARKDOWN: [&str; 2] = ["<!-- aw:begin", "<!-- aw:end"];

impl Graft {
    /// Puts it into the file, in place of what was put in before.
    ///
    /// What was put in may be told of together with what other grafts put into the same file.
    pub fn put(&self, file: &str, before: &[String]) -> Result<Put, CannotPut> {
        match self {
            Graft::Block(lines) => put_block(file, lines, before),
            Graft::Variable { name, value } => variable::put(file, name, value, before),
            Graft::Table(entry) => table::put(file, entry, before),
            Graft::Member(entry) => member::put(file, entry, before),
        }
    }

    /// The file without it.
    pub fn take_out(&self, file: &str, inserted: &[String]) -> String {
        match self {
            Graft::Block(_) => take_out_block(file, inserted),
            Graft::Variable { name, value } => variable::take_out(file, name, value, inserted),
            Graft::Table(entry) => table::take_out(file, entry, inserted),
            Graft::Member(entry) => member::take_out(file, entry, inserted),
        }
    }

    /// Whether it is the entry that makes a host start `aw mcp`.
    pub fn is_entry(&self) -> bool {
        match self {
            Graft::Table(_) | Graft::Member(_) => true,
            Graft::Block(_) | Graft::Variable { .. } => false,
        }
    }

    /// Whether something of the kind stands in the file, whoever wrote it.
    pub fn is_in(&self, file: &str) -> bool {
        match self {
            Graft::Block(_) => matches!(block_in(file, MARKDOWN), Ok(Some(_))),
            Graft::Variable { name, .. } => variable::is_in(file, name),
            Graft::Table(entry) => table::is_in(file, entry),
            Graft::Member(entry) => member::is_in(file, entry),
        }
    }
}

/// A file with all that is put into it.
#[derive(Debug)]
pub struct Grafted<'a> {
    /// The file.
    pub file: String,
    /// What is ours in it.
    pub texts: Vec<String>,
    /// What somebody has in place of ours.
    pub theirs: Vec<&'a Graft>,
}

impl<'a> Grafted<'a> {
    /// Puts one after the other into the file.
    pub fn of(grafts: &'a [Graft], file: &str, before: &[String]) -> Result<Self, CannotPut> {
        let file = file.to_owned();
        let mut all = Grafted { file, texts: Vec::new(), theirs: Vec::new() };
        for graft in grafts {
            match graft.put(&all.file, before)? {
                Put::In { file, inserted } => {
                    all.file = file;
                    all.texts.push(inserted);
                }
                Put::There { inserted } => all.texts.push(inserted),
                Put::Theirs => all.theirs.push(graft),
            }
        }
        Ok(all)
    }
}

/// The file without what was put into it; what came last goes first.
pub fn without_grafts(grafts: &[Graft], file: &str, texts: &[String]) -> String {
    grafts.iter().rev().fold(file.to_owned(), |file, graft| graft.take_out(&file, texts))
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

fn put_block(file: &str, lines: &str, before: &[String]) -> Result<Put, CannotPut> {
    let block = |end: &str| [BEGIN, lines.trim(), END, ""].join("\n").replace('\n', end);
    if let Some(range) = before.iter().find_map(|before| only(file, before)) {
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

fn take_out_block(file: &str, inserted: &[String]) -> String {
    let exactly = inserted.iter().find_map(|text| only(file, text));
    let edited = || inserted.iter().find_map(|text| without_edited_block(file, text, MARKDOWN));
    exactly.map(|range| without(file, range)).or_else(edited).unwrap_or_else(|| file.to_owned())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn block() -> Graft {
        Graft::Block("## Debates\n\nUse `aw`.".to_owned())
    }

    fn put(graft: &Graft, file: &str) -> (String, [String; 1]) {
        match graft.put(file, &[]) {
            Ok(Put::In { file, inserted }) => (file, [inserted]),
            other => panic!("{other:?} for {file:?}"),
        }
    }

    fn there(inserted: &[String; 1]) -> Put {
        Put::There { inserted: inserted[0].clone() }
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
            let again = block().put(&with, &inserted).unwrap();
            assert_eq!(again, there(&inserted));
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
        let Put::In { file, inserted } = newer.put(&with, &inserted).unwrap() else {
            panic!("it was to be replaced");
        };
        assert!(file.contains("## Newer") && !file.contains("## Debates"), "{file}");
        assert_eq!(newer.take_out(&file, &[inserted]), "# Mine\n\nMore of mine\n");
    }

    #[test]
    fn lines_that_somebody_wrote_into_the_block_stay() {
        let (with, inserted) = put(&block(), "# Mine\n");
        let edited = with.replace("Use `aw`.\n", "Use `aw`.\nAlways ask Ann first.\n");
        assert_eq!(block().put(&edited, &inserted).unwrap(), Put::Theirs);
        assert_eq!(block().take_out(&edited, &inserted), "# Mine\n\nAlways ask Ann first.\n");
    }

    #[test]
    fn half_a_block_is_not_guessed_at() {
        let refused = block().put("<!-- aw:begin -->\ntext\n", &[]).unwrap_err();
        assert!(refused.to_string().contains("aw:begin"), "{refused}");
        assert!(block().put("text\n<!-- aw:end -->\n", &[]).is_err());
    }
}
