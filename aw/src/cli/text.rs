//! Where a text comes from: a file, the command line, or stdin.

use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::PathBuf;

use super::next_command::CommandLine;
use super::output::CliError;
use crate::api::error::Code;

/// The longest text that is repeated on a command line.
const REPEATED: usize = 10 * 1024;

const EXACTLY_ONE: &str = "Give exactly one of --file PATH, --content TEXT and --stdin";

// Exactly one of these.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Content (exactly one)")]
pub(super) struct TextInput {
    /// Read the text from this file
    #[arg(long, short, value_name = "PATH")]
    pub(super) file: Option<PathBuf>,
    /// The text itself
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) content: Option<String>,
    /// Read the text from stdin
    #[arg(long)]
    pub(super) stdin: bool,
}

impl TextInput {
    /// The text, which must be given.
    pub(super) fn read(&self) -> Result<String, CliError> {
        self.read_optional()?
            .ok_or_else(|| CliError::input("there is no content").suggest(EXACTLY_ONE))
    }

    /// The text, which may be left out.
    pub(super) fn read_optional(&self) -> Result<Option<String>, CliError> {
        let given = [self.file.is_some(), self.content.is_some(), self.stdin];
        if given.iter().filter(|given| **given).count() > 1 {
            return Err(CliError::input("there is more than one content").suggest(EXACTLY_ONE));
        }
        if let Some(path) = &self.file {
            let bytes = fs::read(path).map_err(|error| match error.kind() {
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
            return utf8(bytes, &path.display().to_string()).map(Some);
        }
        if self.stdin {
            let mut bytes = Vec::new();
            io::stdin()
                .read_to_end(&mut bytes)
                .map_err(|error| CliError::input(format!("stdin cannot be read: {error}")))?;
            return utf8(bytes, "stdin").map(Some);
        }
        Ok(self.content.clone())
    }

    /// The line with this text, in the way it was given.
    pub(super) fn repeated(&self, line: CommandLine, text: &str) -> CommandLine {
        match (&self.file, &self.content) {
            (Some(path), _) => line.flag("--file", &path.display().to_string()),
            (None, Some(content)) => line.flag("--content", content),
            // What came through a pipe is gone, so it is repeated, if a command line holds it.
            (None, None) if text.len() <= REPEATED => line.flag("--content", text),
            (None, None) => line.word("--stdin"),
        }
    }
}

fn utf8(bytes: Vec<u8>, source: &str) -> Result<String, CliError> {
    String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        CliError::input(format!("{source} is not UTF-8: byte {place} cannot be read"))
            .suggest("Save the text as UTF-8")
    })
}
