//! Reads a text from a file, the command line, stdin, or the editor of a person at a terminal.

use std::cell::OnceCell;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::editor;
use super::next_command::{CommandLine, YOUR_TEXT};
use super::output::{CliError, is_person_at};
use crate::api::error::Code;

/// The longest text that is read. A device may have no end, and no server takes so much in one text.
const READ: u64 = 256 << 20;

/// The longest text that a command line repeats.
const REPEATED: usize = 10 * 1024;

const EXACTLY_ONE: &str = "Give exactly one of --file PATH, --content TEXT and --stdin";

// Exactly one of these.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Content (exactly one)")]
pub(super) struct TextInput {
    /// Read the text from this file; - is stdin
    #[arg(long, short, value_name = "PATH")]
    pub(super) file: Option<PathBuf>,
    /// The text itself
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) content: Option<String>,
    /// Read the text from stdin
    #[arg(long)]
    pub(super) stdin: bool,
    /// The file that the user wrote in an editor.
    #[arg(skip)]
    edited: OnceCell<PathBuf>,
}

impl TextInput {
    /// The text, which must be given.
    pub(super) fn read(&self) -> Result<String, CliError> {
        if let Some(text) = self.read_optional()? {
            return Ok(text);
        }
        let missing = || CliError::input("there is no content").suggest(EXACTLY_ONE);
        // An editor draws on stdout.
        if !is_person_at(&io::stdin()) || !is_person_at(&io::stdout()) {
            return Err(missing());
        }
        let Some(editor) = editor::Editor::chosen()? else {
            return Err(
                missing().suggest(format!("{EXACTLY_ONE}, or set EDITOR to write it there"))
            );
        };
        let (path, text) = editor.write()?;
        // The user is asked once.
        let _ = self.edited.set(path);
        Ok(text)
    }

    /// The file that was given or edited, or else a placeholder. For a text that was not stored.
    pub(super) fn place(&self) -> String {
        let path = self.edited.get().or(self.path());
        path.map_or_else(|| YOUR_TEXT.to_owned(), |path| path.display().to_string())
    }

    /// The edited file, which is kept until the text is in the record.
    pub(super) fn draft(&self) -> Option<&Path> {
        self.edited.get().map(PathBuf::as_path)
    }

    /// Removes the edited file, because its text is in the record.
    pub(super) fn is_kept(&self) {
        if let Some(path) = self.edited.get() {
            editor::discard(path);
        }
    }

    /// The file that was given, unless it is stdin.
    fn path(&self) -> Option<&PathBuf> {
        self.file.as_ref().filter(|path| *path != Path::new("-"))
    }

    /// The text, which may be left out.
    pub(super) fn read_optional(&self) -> Result<Option<String>, CliError> {
        let given = [self.file.is_some(), self.content.is_some(), self.stdin];
        if given.iter().filter(|given| **given).count() > 1 {
            return Err(CliError::input("there is more than one content").suggest(EXACTLY_ONE));
        }
        if let Some(path) = self.path() {
            let read = File::open(path).and_then(read_limited);
            let bytes = read.map_err(|error| match error.kind() {
                ErrorKind::NotFound => CliError::new(
                    Code::FileNotFound,
                    format!("there is no file {}", path.display()),
                )
                .suggest("Write your text into a file and give its path with --file"),
                _ => CliError::new(
                    Code::FileNotFound,
                    format!("{} cannot be read: {error}", path.display()),
                )
                .suggest("Give the path of a text file that you may read with --file"),
            })?;
            return text_of(bytes, &path.display().to_string()).map(Some);
        }
        if self.stdin || self.file.is_some() {
            let bytes = read_limited(io::stdin())
                .map_err(|error| CliError::input(format!("stdin cannot be read: {error}")))?;
            return text_of(bytes, "stdin").map(Some);
        }
        Ok(self.content.clone())
    }

    /// The line with this text, in the form in which it was given.
    pub(super) fn repeated(&self, line: CommandLine, text: &str) -> CommandLine {
        match (self.edited.get().or(self.path()), &self.content) {
            (Some(path), _) => line.flag("--file", &path.display().to_string()),
            (None, Some(content)) => line.flag("--content", content),
            // The text of a pipe is gone, so the line repeats it if it is short.
            (None, None) if text.len() <= REPEATED => line.flag("--content", text),
            (None, None) => line.word("--stdin"),
        }
    }
}

/// The bytes up to the limit, and one more if there are more.
fn read_limited(source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(READ + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn text_of(bytes: Vec<u8>, source: &str) -> Result<String, CliError> {
    if bytes.len() as u64 > READ {
        let message = format!("{source} has more than {READ} bytes");
        return Err(CliError::new(Code::ContentTooLarge, message).suggest("Give a shorter text"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        CliError::input(format!("{source} is not UTF-8: byte {place} cannot be read"))
            .suggest("Save the text as UTF-8")
    })
}
