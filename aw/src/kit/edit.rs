//! Inserts a few lines of ours into somebody's file, and removes them again.
//!
//! All other bytes of the file stay. The inserted text is remembered with its separators, so that
//! removing it restores the file; if the file was edited in between, only our text goes.

pub mod allow;
mod block;
pub mod hook;
mod json;
mod toml;

use std::ops::Range;
use std::time::{Duration, Instant};

use aw_core::Role;
use similar::DiffOp;

use self::toml::TomlKey;
use crate::differences::{Algorithm, lines, ops};

/// How long texts are compared at most; after that more lines count as theirs.
const PATIENCE: Duration = Duration::from_secs(10);

/// A change to a file that somebody else owns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
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
    TomlEntry(McpEntry),
    /// The same entry in JSON, with or without comments.
    JsonEntry(McpEntry),
    /// The Stop hook that wakes Claude Code, in JSON.
    Hook,
    /// The rules that allow commands of `aw` without asking, in JSON.
    Allow(Allow),
}

/// Rules in a host's settings that allow commands without asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allow {
    /// The names that lead to the rules.
    pub place: [&'static str; 2],
    /// Whether the rules are a list of texts. Else they are the names of members whose value is `allow`.
    pub is_list: bool,
    /// A member that the host wants beside the rules where nothing has been decided yet, and its value.
    pub beside: Option<(&'static str, &'static str)>,
    /// The rules.
    pub rules: Vec<String>,
}

/// An entry `aw` among a host's MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct McpEntry {
    /// The host's name for its list of servers.
    pub list: &'static str,
    /// The fields of the entry, each value in words that mean the same in TOML and JSON.
    pub fields: &'static [(&'static str, &'static str)],
    /// Members that a new file needs besides the list, because the host would add them.
    pub in_new_file: &'static [(&'static str, &'static str)],
    /// The role that the tools are limited to, if any.
    pub role: Option<Role>,
    /// Whether the tools wake an idle agent.
    pub wake: bool,
    /// The field that allows the tools without asking, if they are to be allowed.
    pub allow: Option<(&'static str, &'static str)>,
}

/// The argument of `aw mcp` that makes it wake an idle agent.
pub const WAKE: &str = "\"--wake\"";

impl McpEntry {
    /// The fields of the entry, with the role and the waking among the arguments, and the permission last.
    fn fields(&self) -> impl Iterator<Item = (&'static str, String)> {
        let mut mcp = match self.role {
            Some(role) => format!("\"mcp\", \"--role\", \"{role}\""),
            None => "\"mcp\"".to_owned(),
        };
        // `codex queue` looks for the thread there.
        let mut home = String::new();
        if self.wake {
            mcp.push_str(&format!(", {WAKE}"));
            home.push_str("\"CODEX_HOME\", ");
        }
        let last = "\"DEBATE_AUTH_TOKEN\"";
        let home = format!("{home}{last}");
        let worded = move |value: &str| value.replace("\"mcp\"", &mcp).replace(last, &home);
        let fields = self.fields.iter().chain(&self.allow);
        fields.map(move |(name, value)| (*name, worded(value)))
    }
}

/// The name of the entry. Hosts show it with the tools: `aw` and `debate_wait`.
pub const NAME: &str = "aw";

/// The result of an insertion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Insertion {
    /// The text was inserted.
    New {
        /// The new file.
        file: String,
        /// The inserted text.
        inserted: String,
    },
    /// Our text is there already.
    Present {
        /// The text as it was inserted.
        inserted: String,
    },
    /// Somebody wrote or edited something in its place, which is left alone.
    Foreign,
}

/// Why nothing can be inserted into a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CannotEdit {
    /// One marker without the other.
    #[error("has the line `{0}` without its counterpart: remove that line")]
    HalfABlock(String),
    /// The file is not TOML.
    #[error("is not valid TOML ({0}): correct it first")]
    NotToml(String),
    /// The file is not JSON.
    #[error("is not valid JSON ({0}): correct it first")]
    NotJson(String),
    /// The file has a form that leaves no place for the text.
    #[error("is written so that nothing can be added safely: add {what} to {place} yourself")]
    NoRoom {
        /// The text.
        what: String,
        /// The part of the file that it belongs to.
        place: String,
    },
}

impl Edit {
    /// Inserts the text into the file, in the place of one that was inserted before.
    ///
    /// `before` may also hold texts that other edits inserted into the same file.
    pub fn insert(&self, file: &str, before: &[String]) -> Result<Insertion, CannotEdit> {
        match self {
            Edit::Block(lines) => block::insert(file, lines, before),
            Edit::Variable { name, value } => TomlKey::variable(name, value).insert(file, before),
            Edit::TomlEntry(entry) => TomlKey::entry(entry).insert(file, before),
            Edit::JsonEntry(entry) => json::insert(file, entry, before),
            Edit::Hook => hook::insert(file, before),
            Edit::Allow(allow) => allow::insert(file, allow, before),
        }
    }

    /// The file without the inserted text.
    pub fn remove(&self, file: &str, inserted: &[String]) -> String {
        match self {
            Edit::Block(_) => block::remove(file, inserted),
            Edit::Variable { name, value } => TomlKey::variable(name, value).remove(file, inserted),
            Edit::TomlEntry(entry) => TomlKey::entry(entry).remove(file, inserted),
            Edit::JsonEntry(entry) => json::remove(file, entry, inserted),
            Edit::Hook => hook::remove(file, inserted),
            Edit::Allow(allow) => allow::remove(file, allow, inserted),
        }
    }

    /// Whether it is the entry that makes a host start `aw mcp`.
    pub fn is_entry(&self) -> bool {
        match self {
            Edit::TomlEntry(_) | Edit::JsonEntry(_) => true,
            Edit::Block(_) | Edit::Variable { .. } | Edit::Hook | Edit::Allow(_) => false,
        }
    }

    /// Whether the file has such a block, variable or entry, no matter who wrote it.
    pub fn is_in(&self, file: &str) -> bool {
        match self {
            Edit::Block(_) => block::is_in(file),
            Edit::Variable { name, value } => TomlKey::variable(name, value).is_in(file),
            Edit::TomlEntry(entry) => TomlKey::entry(entry).is_in(file),
            Edit::JsonEntry(entry) => json::is_in(file, entry),
            Edit::Hook => hook::is_in(file),
            Edit::Allow(allow) => allow::is_in(file, allow),
        }
    }
}

/// A file after all its edits.
#[derive(Debug)]
pub struct Edited<'a> {
    /// The file.
    pub file: String,
    /// Our texts in it.
    pub texts: Vec<String>,
    /// The edits in whose place somebody has something else.
    pub foreign: Vec<&'a Edit>,
}

impl<'a> Edited<'a> {
    /// Makes one edit after the other.
    ///
    /// Rules come last, since they are removed first. If they stand there while another edit is made, they are made
    /// anew after it.
    pub fn of(edits: &'a [Edit], file: &str, before: &[String]) -> Result<Self, CannotEdit> {
        let all = Edited::one_by_one(edits, file, before)?;
        match edits.split_last() {
            Some((rules @ Edit::Allow(_), others))
                if !others.is_empty() && !all.foreign.contains(&rules) =>
            {
                let without = rules.remove(file, before);
                let others = Edited::one_by_one(others, &without, before)?;
                if others.file == without {
                    return Ok(all);
                }
                Edited::one_by_one(edits, &without, before)
            }
            Some(_) | None => Ok(all),
        }
    }

    fn one_by_one(edits: &'a [Edit], file: &str, before: &[String]) -> Result<Self, CannotEdit> {
        let file = file.to_owned();
        let mut all = Edited { file, texts: Vec::new(), foreign: Vec::new() };
        for edit in edits {
            match edit.insert(&all.file, before)? {
                Insertion::New { file, inserted } => {
                    all.file = file;
                    all.texts.push(inserted);
                }
                Insertion::Present { inserted } => all.texts.push(inserted),
                Insertion::Foreign => all.foreign.push(edit),
            }
        }
        Ok(all)
    }
}

/// The file without our texts; the last edit is undone first.
pub fn without_edits(edits: &[Edit], file: &str, texts: &[String]) -> String {
    edits.iter().rev().fold(file.to_owned(), |file, edit| edit.remove(&file, texts))
}

/// The lines of a text that are not ours.
pub fn without_ours(text: &str, ours: &str) -> String {
    let (ours, text): (Vec<&str>, Vec<&str>) = (lines(ours).collect(), lines(text).collect());
    let ops = ops(Algorithm::Myers, &ours, &text, Instant::now() + PATIENCE);
    let changes = ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. }));
    changes.flat_map(|op| text[op.new_range()].iter().copied()).collect()
}

fn line_end(file: &str) -> &'static str {
    match file.find('\n') {
        Some(at) if file[..at].ends_with('\r') => "\r\n",
        Some(_) | None => "\n",
    }
}

/// The line breaks between the end of the file and a block that begins a paragraph.
fn separator(file: &str, end: &str) -> String {
    let rest = file.strip_suffix(end);
    match rest {
        _ if file.is_empty() => String::new(),
        None => end.repeat(2),
        Some(rest) if rest.is_empty() || rest.ends_with('\n') => String::new(),
        Some(_) => end.to_owned(),
    }
}

/// A block at the end of a file, with the blank line before it unless the file would end with one
/// anyway: most likely we inserted both, where no manifest says so.
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

/// The range of a text that occurs once in a file.
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

/// The file without this range. If the range ended somebody's last line, the lines that follow it do
/// not join that line.
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
