//! Names that stay out of every copy, and links that may come in.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::{self, Display, Formatter};
use std::path::{Component, Path};

/// Files and folders that configure an agent program or what it runs on, hold secrets, or belong to git.
///
/// The agent programs work in the copy. Bun, also in a program that it has compiled, runs the `preload` of a
/// `bunfig.toml` there. npm takes its registry from `.npmrc` and puts variables of the environment into its tokens.
/// Yarn, even for its version, starts what `.yarnrc` or `.yarnrc.yml` names. The `node` of asdf is the one that
/// `.tool-versions` names, perhaps by a path.
const EXACT: [&str; 12] = [
    ".git",
    ".claude",
    ".codex",
    ".gemini",
    ".opencode",
    ".cursor",
    ".agents",
    ".mcp.json",
    "bunfig.toml",
    ".bunfig.toml",
    ".npmrc",
    ".tool-versions",
];

/// Beginnings of such names, with the word for a note.
const BEGINNINGS: [(&str, &str); 3] =
    [("opencode.json", "opencode.json*"), (".env", ".env*"), (".yarnrc", ".yarnrc*")];

/// The runner's own folder in a copy. A project's folder of this name stays out.
pub(crate) const OWN: &str = ".aw";

pub(crate) const LINKS: &str = "links that lead outside";
pub(crate) const SPECIAL: &str = "special files";
pub(crate) const NESTED: &str = "nested repositories";
pub(crate) const UNREADABLE: &str = "unreadable files";
pub(crate) const TOO_LONG: &str = "paths that are too long";
pub(crate) const SAME_NAME: &str = "names that differ only in case";
pub(crate) const NOT_UTF8: &str = "names that are not UTF-8";
pub(crate) const CHANGED: &str = "files that changed while they were copied";

/// Deeper or longer paths stay out. macOS has 256 descriptors a process and paths of 1,024 bytes; a copy's own
/// path needs some of both.
const MAX_DEPTH: usize = 64;
const MAX_LENGTH: usize = 768;

/// Counts of what stays out of a copy, by name or reason.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut(BTreeMap<&'static str, usize>);

impl LeftOut {
    /// Iterates over reasons and their counts, sorted by reason.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, usize)> + '_ {
        self.0.iter().map(|(reason, count)| (*reason, *count))
    }

    /// Number of files, links and folders that stay out.
    pub fn total(&self) -> usize {
        self.0.values().sum()
    }

    /// Returns the count for one reason.
    pub fn count(&self, reason: &str) -> usize {
        self.0.get(reason).copied().unwrap_or(0)
    }

    pub(crate) fn add(&mut self, reason: &'static str) {
        *self.0.entry(reason).or_default() += 1;
    }
}

impl Display for LeftOut {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for (index, (reason, count)) in self.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(out, "{comma}{count} × {reason}")?;
        }
        Ok(())
    }
}

/// Returns why this path stays out of a copy by its name, or `None`.
pub(crate) fn left_out(path: &Path) -> Option<&'static str> {
    if path.as_os_str().len() > MAX_LENGTH || path.components().count() > MAX_DEPTH {
        return Some(TOO_LONG);
    }
    let mut names = path.components().map(Component::as_os_str);
    // The runner puts its own folder there.
    if names.clone().next().is_some_and(|first| fold(first) == OWN) {
        return Some(OWN);
    }
    names.find_map(left_out_name)
}

/// Returns why a file or folder of this name stays out at any depth, or `None`.
pub(crate) fn left_out_name(name: &OsStr) -> Option<&'static str> {
    let bytes = name.as_encoded_bytes();
    if bytes.is_ascii() && !matches!(bytes.first(), Some(b'.' | b'b' | b'B' | b'o' | b'O')) {
        return None; // Nearly every name.
    }
    let folded = fold(name);
    if let Some(exact) = EXACT.iter().find(|exact| folded == **exact) {
        return Some(exact);
    }
    let beginning = BEGINNINGS.iter().find(|(beginning, _)| folded.starts_with(beginning));
    beginning.map(|(_, reason)| *reason)
}

/// Folds a name at least as far as any file system does, so that no other spelling opens the same file.
///
/// APFS folds by Unicode (`ſ` is `s`, the Kelvin sign is `k`), HFS+ also ignores invisible characters. Going
/// through upper case folds a little more than either, which only leaves out more.
pub(crate) fn fold(name: &OsStr) -> String {
    let text = name.to_string_lossy();
    let ignored = |c: &char| matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let seen = text.chars().filter(|c| !ignored(c));
    seen.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// Whether a link at this path of a copy can only lead to places in the copy.
///
/// The rule needs no look at the disk, so nobody can change its answer afterwards. The target is relative and
/// has `..` only at its beginning. The link's folder is a real folder, so these lead to real folders above it,
/// never above the root. From there the target only goes down, through links for which the same holds.
pub(crate) fn stays_inside(link: &Path, target: &Path) -> bool {
    let mut above = link.components().count().saturating_sub(1);
    let mut down = false;
    for part in target.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if down || above == 0 => return false,
            Component::ParentDir => above -= 1,
            Component::Normal(name) if left_out_name(name).is_none() => down = true,
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    true
}

/// Whether a path from a listing is relative and only goes down. A hostile index can hold other paths.
pub(crate) fn goes_down(path: &Path) -> bool {
    let mut parts = path.components().peekable();
    parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// Returns a path as text for a note or a terminal, with control characters escaped.
pub fn shown(path: &Path) -> String {
    let mut text = String::new();
    for c in path.to_string_lossy().chars() {
        if c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        {
            text.extend(c.escape_default());
        } else {
            text.push(c);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn names_that_configure_agents_stay_out_in_any_spelling() {
        let out = [
            ".git",
            ".GIT",
            "a/.Git/config",
            ".Claude/settings.json",
            "x/y/.codex",
            ".gemini/a",
            ".opencode/plugin/x.ts",
            "Opencode.JSON",
            "opencode.jsonc",
            ".mcp.JSON",
            ".env",
            ".ENV.local",
            ".envrc",
            ".agents/x",
            "bunfig.toml",
            "packages/x/BunFig.toml",
            ".bunfig.toml",
            ".npmrc",
            ".yarnrc",
            ".yarnrc.yml",
            ".tool-versions",
            ".cur\u{17f}or/rules",
            ".g\u{200c}it/config",
            ".aw",
            ".AW/debate.md",
        ];
        for name in out {
            assert!(left_out(Path::new(name)).is_some(), "{name}");
        }
        let kept = [
            "src/main.rs",
            ".github/workflows/ci.yml",
            ".gitignore",
            "env",
            "opencode.md",
            "claude",
            "x/.aw/y",
            "CLAUDE.md",
            "o",
            ".mcp.jsonl",
            "bun.lock",
            "package.json",
            "deno.json",
            "pyproject.toml",
        ];
        for name in kept {
            assert_eq!(left_out(Path::new(name)), None, "{name}");
        }
        assert_eq!(left_out(Path::new(OsStr::from_bytes(b"\xff\xfe/x"))), None);
        assert_eq!(left_out(Path::new(&"a/".repeat(65))), Some(TOO_LONG));
    }

    #[test]
    fn a_link_stays_inside_only_if_every_reading_of_its_target_does() {
        let inside = |link: &str, target: &str| stays_inside(Path::new(link), Path::new(target));
        assert!(inside("a", "b"));
        assert!(inside("a/b", "../c/d"));
        assert!(inside("a/b", "./c"));
        assert!(inside("a/b/c", "../.."));
        assert!(!inside("a", "/etc/passwd"));
        assert!(!inside("a", ".."));
        assert!(!inside("a/b", "../../c"));
        // `d` may be a link to a folder higher up, and then `d/..` is not what it seems.
        assert!(!inside("a", "b/c/d/../../x"));
        assert!(!inside("a", ".git/config"));
        assert!(!inside("a/b", "../.Claude"));
    }

    #[test]
    fn shown_paths_have_no_control_characters() {
        assert_eq!(shown(Path::new("a\nb\u{1b}[31m")), "a\\nb\\u{1b}[31m");
        assert_eq!(shown(Path::new("\u{202e}x")), "\\u{202e}x");
    }
}
