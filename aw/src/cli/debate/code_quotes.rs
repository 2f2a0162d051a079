//! Looks the quotes of a CLAIM up in the files that it names, before it is sent.
//!
//! Only regular files below the working folder are read, without links, up to a limit. Nothing of
//! them is sent: the server keeps such a quote as `unchecked`.

use std::env;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use aw_core::{
    Evidence, FlawCode, Library, Normal, QuoteBlock, QuotePlace, Role, Seq, Source, Subject,
    statements,
};
use serde::Serialize;

use super::super::output::CliError;
use super::super::session::Session;
use crate::api::client;
use crate::api::types::Flaw;
use crate::files::{Folder, Links};

/// The longest file in which quotes are looked up, in bytes.
const LONGEST: u64 = 5 * 1024 * 1024;

/// A quote that stands in a file here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(in crate::cli) struct LookedUp {
    /// Its line in the argument.
    line: u32,
    /// The file, as the argument names it.
    pub(in crate::cli) path: String,
    /// Its lines there.
    pub(in crate::cli) first_line: u32,
    pub(in crate::cli) last_line: u32,
}

/// The result of looking the quotes of a text up in files.
#[derive(Debug, Default)]
pub(super) struct FileCheck {
    pub(super) found: Vec<LookedUp>,
    /// The quotes whose file lacks them.
    flaws: Vec<Flaw>,
    /// Why other files were not read.
    unread: Vec<String>,
}

impl FileCheck {
    /// Looks up the quotes of this text in the files that it names. Asks the server which points there
    /// are, and only if the text names a file.
    pub(super) fn of(
        session: &Session,
        debate: &str,
        role: Option<Role>,
        text: &str,
    ) -> Result<Self, CliError> {
        let Some(role) = role else { return Ok(FileCheck::default()) };
        let blocks = |points| -> Vec<QuoteBlock> {
            let stated = statements(text, role, points).statements;
            stated.into_iter().flat_map(|one| one.blocks).filter(names_file).collect()
        };
        if blocks(most_named(text, role)).is_empty() {
            return Ok(FileCheck::default());
        }
        // In a debate without points, and on a server without them, the headings are plain text.
        let Ok(known) = session.call(&client::points(debate)) else {
            return Ok(FileCheck::default());
        };
        if known.data.ledger.is_none() {
            return Ok(FileCheck::default());
        }
        let points = u32::try_from(known.data.points.len()).unwrap_or(u32::MAX);
        let folder = env::current_dir().map_err(|error| {
            CliError::input(format!("the working folder cannot be read: {error}"))
                .suggest("Change to a folder that you may read, and run the same command")
        })?;
        Ok(check(&folder, &blocks(points)))
    }

    /// A failure with all flaws, if there are any.
    pub(super) fn refused(&mut self) -> Result<(), CliError> {
        let flaws = std::mem::take(&mut self.flaws);
        let Some(first) = flaws.first() else { return Ok(()) };
        let (many, noun) = (flaws.len(), if flaws.len() == 1 { "flaw" } else { "flaws" });
        let message = format!(
            "nothing was submitted: {many} {noun} in the text; line {}: {}",
            first.line, first.message
        );
        Err(CliError::input(message)
            .suggest("Mend each line in metadata.flaws and submit again; --dry-run tries it first")
            .with_flaws(flaws))
    }

    /// A warning about the files that were not read.
    pub(super) fn warning(&self) -> Option<String> {
        (!self.unread.is_empty()).then(|| self.unread.join("; "))
    }
}

/// The highest number of a point in the text's statements: before the server is asked, the text alone
/// says which headings count.
fn most_named(text: &str, role: Role) -> u32 {
    let stated = statements(text, role, u32::MAX).statements;
    let number = |subject| match subject {
        Subject::Point(id) => Some(id.0),
        Subject::New | Subject::Verdict => None,
    };
    stated.into_iter().filter_map(|one| number(one.subject)).max().unwrap_or(0)
}

/// Whether a quote has a source that is no web address.
fn names_file(block: &QuoteBlock) -> bool {
    block.source.as_deref().is_some_and(|source| !source.contains("://"))
}

/// Looks quotes up in the files below this folder.
fn check(folder: &Path, blocks: &[QuoteBlock]) -> FileCheck {
    let mut checked = FileCheck::default();
    for block in blocks {
        let Some(source) = &block.source else { continue };
        let path = without_line(source);
        match read(folder, Path::new(path)) {
            Ok(bytes) => {
                let text = Normal::of(&String::from_utf8_lossy(&bytes));
                checked.look_up(block, path, &text);
            }
            Err(error) => {
                let why = match error.kind() {
                    ErrorKind::NotFound | ErrorKind::NotADirectory => {
                        format!("there is no file {path} below the working folder")
                    }
                    _ => format!("{path} was not read ({error})"),
                };
                let line = block.line;
                checked.unread.push(format!("the quote in line {line} was not looked up: {why}"));
            }
        }
    }
    checked
}

impl FileCheck {
    fn look_up(&mut self, block: &QuoteBlock, path: &str, text: &Normal) {
        // The place is not used: there is one text.
        let place = QuotePlace::Argument { seq: Seq(0) };
        let sources = [Source { place, text }];
        let library = Library { current: &sources, earlier: Some(&[]), examined: &[] };
        let without_source = QuoteBlock { source: None, ..block.clone() };
        let quotes = library.check(block).unwrap_or_default();
        let nearest = library.check(&without_source).unwrap_or_default();
        for (quote, nearest) in quotes.into_iter().zip(nearest) {
            match quote.evidence {
                Evidence::Found { lines, .. } => self.found.push(LookedUp {
                    line: quote.line,
                    path: path.to_owned(),
                    first_line: lines.first,
                    last_line: lines.last,
                }),
                Evidence::Unchecked => {
                    let near = match nearest.evidence {
                        Evidence::Missing { nearest: Some(near) } => {
                            format!(" Nearest, line {}: \"{}\".", near.line, near.text)
                        }
                        _ => String::new(),
                    };
                    self.flaws.push(Flaw {
                        line: quote.line,
                        code: FlawCode::QuoteMissing.as_str().to_owned(),
                        message: format!(
                            "{path} has no such text.{near} Quote exactly; if it is no quote, leave out the >"
                        ),
                        allowed: Vec::new(),
                        quote: Some(quote.text),
                        nearest: None,
                    });
                }
                // The server judges the length of a quote.
                Evidence::Outdated { .. } | Evidence::Missing { .. } | Evidence::WrongLength => {}
            }
        }
    }
}

/// A path without the line number after it: `:88`, `:88:5`, `:88-90` or `#L88`.
fn without_line(source: &str) -> &str {
    let path = source.split_once("#L").map_or(source, |(path, _)| path);
    let mut rest = path;
    while let Some((before, after)) = rest.rsplit_once(':') {
        let is_number = !after.is_empty()
            && after.chars().all(|c| c.is_ascii_digit() || matches!(c, '-' | '–' | ','));
        if !is_number || before.is_empty() {
            break;
        }
        rest = before;
    }
    rest
}

/// Reads a file below this folder. Nothing outside it is read: no `..`, no other root, no link.
fn read(folder: &Path, path: &Path) -> io::Result<Vec<u8>> {
    let outside = || io::Error::new(ErrorKind::InvalidInput, "it is outside the working folder");
    let path = match path.is_absolute() {
        true => path.strip_prefix(folder).map_err(|_| outside())?,
        false => path,
    };
    let mut names: Vec<PathBuf> = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => names.push(name.into()),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(outside());
            }
        }
    }
    let Some((file, folders)) = names.split_last() else { return Err(outside()) };
    let mut opened = Folder::open(folder, Links::Refuse)?;
    for name in folders {
        opened = opened.folder(name.as_os_str())?;
    }
    opened.read(file.as_os_str(), LONGEST)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn quoting(source: &str, quoted: &str) -> Vec<QuoteBlock> {
        let text = format!("### P1 [rejected] So.\n> {quoted}\n— {source}\n");
        let stated = statements(&text, Role::Proposer, 1).statements;
        stated.into_iter().flat_map(|one| one.blocks).filter(names_file).collect()
    }

    #[test]
    fn a_line_number_is_no_part_of_the_path() {
        for (source, path) in [
            ("src/a.rs", "src/a.rs"),
            ("src/a.rs:88", "src/a.rs"),
            ("src/a.rs:88:5", "src/a.rs"),
            ("src/a.rs:88-90", "src/a.rs"),
            ("src/a.rs#L88", "src/a.rs"),
            ("src/a.rs#L88-L90", "src/a.rs"),
            ("a:b.rs", "a:b.rs"),
            (":88", ":88"),
        ] {
            assert_eq!(without_line(source), path, "{source}");
        }
    }

    #[test]
    fn only_regular_files_below_the_folder_are_read() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("project");
        fs::create_dir_all(folder.join("src")).unwrap();
        let secret = "the secret of another folder";
        fs::write(outer.path().join("secret.txt"), secret).unwrap();
        symlink(outer.path().join("secret.txt"), folder.join("link.txt")).unwrap();
        symlink(outer.path(), folder.join("way")).unwrap();
        nix::unistd::mkfifo(&folder.join("pipe.txt"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        fs::write(folder.join("long.txt"), vec![b'x'; LONGEST as usize + 1]).unwrap();
        let outside = outer.path().join("secret.txt").display().to_string();
        for source in [
            "../secret.txt",
            "src/../../secret.txt",
            outside.as_str(),
            "link.txt",
            "way/secret.txt",
            "pipe.txt",
            "long.txt",
            "src/",
            "./.",
            "nothing/here.rs",
        ] {
            let checked = check(&folder, &quoting(source, secret));
            assert!(checked.found.is_empty() && checked.flaws.is_empty(), "{source}: {checked:?}");
            let said = checked.warning().unwrap_or_default();
            assert!(!said.contains(secret), "{source}: {said}");
        }
        assert!(quoting("https://example.com/secret.txt", secret).is_empty());
    }

    #[test]
    fn a_quote_must_stand_in_the_file_that_it_names() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("src")).unwrap();
        fs::write(folder.path().join("src/a.rs"), "// One.\npub fn refund(entry: Entry) {\n}\n")
            .unwrap();
        let absolute = folder.path().join("src/a.rs").display().to_string();
        for source in ["src/a.rs", "./src/a.rs:7", absolute.as_str()] {
            let checked = check(folder.path(), &quoting(source, "pub fn  refund(entry: Entry)"));
            assert_eq!(checked.found.len(), 1, "{source}: {checked:?}");
            assert_eq!((checked.found[0].first_line, checked.found[0].last_line), (2, 2));
            let checked = check(folder.path(), &quoting(source, "pub fn refund(entry: Row) {"));
            assert_eq!(checked.flaws.len(), 1, "{source}: {checked:?}");
            assert_eq!((checked.flaws[0].line, &*checked.flaws[0].code), (2, "quote_missing"));
            assert!(checked.flaws[0].message.contains("Nearest, line 2"), "{checked:?}");
        }
    }
}
