//! Looks the quotes of a text up in the files that it names, below a folder.
//!
//! Only regular files below that folder are read, without links, up to a limit. Nothing of them is
//! sent: the server keeps such a quote as `unchecked`.

use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use aw_core::{
    Evidence, FlawCode, Library, Normal, QuoteBlock, QuotePlace, Role, Seq, Source, Subject,
    statements,
};
use serde::Serialize;

use crate::api::types::Flaw;
use crate::files::{Folder, Links};

/// The longest file in which quotes are looked up, in bytes.
const LONGEST: u64 = 5 * 1024 * 1024;

/// A quote that stands in a file here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LookedUp {
    /// Its line in the argument.
    pub line: u32,
    /// The file, as the argument names it.
    pub path: String,
    /// The first of its lines there.
    pub first_line: u32,
    /// The last of them.
    pub last_line: u32,
}

/// The result of looking the quotes of a text up in files.
#[derive(Debug, Default)]
pub struct FileQuotes {
    /// The quotes that stand in their file.
    pub found: Vec<LookedUp>,
    /// The quotes whose file lacks them.
    pub flaws: Vec<Flaw>,
    /// Why other files were not read.
    pub unread: Vec<String>,
}

/// Whether a text of this role quotes a file, as far as the text alone says it.
pub fn names_files(text: &str, role: Role) -> bool {
    !blocks(text, role, most_named(text, role)).is_empty()
}

/// Looks the quotes of a text up in the files below this folder. The debate has so many points.
pub fn check(folder: &Path, text: &str, role: Role, points: u32) -> FileQuotes {
    look_up_all(folder, &blocks(text, role, points))
}

fn blocks(text: &str, role: Role, points: u32) -> Vec<QuoteBlock> {
    let stated = statements(text, role, points).statements;
    stated.into_iter().flat_map(|one| one.blocks).filter(names_file).collect()
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
fn look_up_all(folder: &Path, blocks: &[QuoteBlock]) -> FileQuotes {
    let mut checked = FileQuotes::default();
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

impl FileQuotes {
    fn look_up(&mut self, block: &QuoteBlock, path: &str, text: &Normal) {
        // The place is not used: there is one text.
        let place = QuotePlace::Argument { seq: Seq(0) };
        let sources = [Source { place, text }];
        let library = Library { current: &sources, earlier: Some(&[]), examined: &[] };
        let without_source = QuoteBlock { source: None, ..block.clone() };
        let quotes = library.check(block).unwrap_or_default();
        let nearest = library.check(&without_source).unwrap_or_default();
        let is_mixed = quotes.iter().any(|quote| matches!(quote.evidence, Evidence::Found { .. }));
        let apart = match is_mixed {
            true => " An empty line ends a quote from elsewhere.",
            false => "",
        };
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
                            format!(" Nearest, line {}: \"{}\"", near.line, near.text)
                        }
                        _ => String::new(),
                    };
                    self.flaws.push(Flaw {
                        line: quote.line,
                        code: FlawCode::QuoteMissing.as_str().to_owned(),
                        message: format!(
                            "{path} has no such text.{near}{apart} Quote exactly; if it is no quote, leave out the >"
                        ),
                        allowed: Vec::new(),
                        quote: Some(quote.text),
                        nearest: None,
                    });
                }
                // The server judges the length of a quote.
                Evidence::Outdated { .. }
                | Evidence::Missing { .. }
                | Evidence::TooShort
                | Evidence::TooLong => {}
            }
        }
    }
}

/// A path without the line number after it: `:88`, `:88:5`, `:88-90` or `#L88`. Of a Markdown link, its
/// address.
fn without_line(source: &str) -> &str {
    let source = source.split_once("](").map_or(source, |(_, address)| address);
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
            ("a.rs:88](src/a.rs#L88", "src/a.rs"),
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
            let checked = look_up_all(&folder, &quoting(source, secret));
            assert!(checked.found.is_empty() && checked.flaws.is_empty(), "{source}: {checked:?}");
            let said = checked.unread.join("; ");
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
            let checked =
                look_up_all(folder.path(), &quoting(source, "pub fn  refund(entry: Entry)"));
            assert_eq!(checked.found.len(), 1, "{source}: {checked:?}");
            assert_eq!((checked.found[0].first_line, checked.found[0].last_line), (2, 2));
            let checked =
                look_up_all(folder.path(), &quoting(source, "pub fn refund(entry: Row) {"));
            assert_eq!(checked.flaws.len(), 1, "{source}: {checked:?}");
            assert_eq!((checked.flaws[0].line, &*checked.flaws[0].code), (2, "quote_missing"));
            assert!(checked.flaws[0].message.contains("Nearest, line 2"), "{checked:?}");
        }
        // A source stands below the lines that it is for.
        let code = "pub fn refund(entry: Entry)";
        let checked = look_up_all(
            folder.path(),
            &quoting("src/a.rs", &format!("Of the plan, not of a file.\n> {code}")),
        );
        assert_eq!((checked.found.len(), checked.flaws.len()), (1, 1), "{checked:?}");
        assert!(checked.flaws[0].message.contains("An empty line ends a quote"), "{checked:?}");
        let checked = look_up_all(
            folder.path(),
            &quoting("src/a.rs", &format!("Of the plan, not of a file.\n\n> {code}")),
        );
        assert_eq!((checked.found.len(), checked.flaws.len()), (1, 0), "{checked:?}");
    }
}
