//! Lets a person write a text in the editor that `VISUAL` or `EDITOR` names.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use uuid::Uuid;

use super::human::note;
use super::output::CliError;
use crate::programs;

/// The editor of a person.
pub(super) struct Editor {
    program: PathBuf,
    arguments: Vec<String>,
}

impl Editor {
    /// The editor that is set, if one is.
    pub(super) fn chosen() -> Result<Option<Self>, CliError> {
        let set = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
        let Some((name, line)) =
            ["VISUAL", "EDITOR"].iter().find_map(|name| Some((name, set(name)?)))
        else {
            return Ok(None);
        };
        let mut words = line.split_whitespace().map(str::to_owned);
        let first = words.next().unwrap_or_default();
        // A program in the current folder, which may be another person's checkout, is not started by its name.
        let program = if first.contains('/') {
            Some(PathBuf::from(&first)).filter(|path| path.is_absolute() && path.is_file())
        } else {
            programs::find(&first)
        };
        let program = program.ok_or_else(|| {
            CliError::input(format!("{name} is {line:?}, but there is no such program in PATH"))
                .suggest(format!("Set {name} to an editor, or give the text with --file PATH"))
        })?;
        Ok(Some(Editor { program, arguments: words.collect() }))
    }

    /// Opens it on an empty file. Returns the file and its text; an empty text cancels.
    pub(super) fn write(&self) -> Result<(PathBuf, String), CliError> {
        let failed = |error: std::io::Error| {
            CliError::input(format!("a file for your text cannot be made: {error}"))
                .suggest("Give the text with --file PATH")
        };
        let folder = env::temp_dir().join(format!("aw-text-{}", Uuid::new_v4()));
        private_folder(&folder).map_err(failed)?;
        let path = folder.join("text.md");
        fs::write(&path, "").map_err(failed)?;
        note("Write your text in the editor, save it and leave; an empty text cancels.");
        let ended = Command::new(&self.program).args(&self.arguments).arg(&path).status();
        let name = self.program.display();
        let cancelled = |why: String| {
            discard(&path);
            CliError::input(why).suggest("Nothing was sent; run the same command again")
        };
        let ended =
            ended.map_err(|error| cancelled(format!("{name} cannot be started: {error}")))?;
        if !ended.success() {
            return Err(cancelled(format!("{name} ended with {ended}")));
        }
        let text = fs::read_to_string(&path).map_err(|error| {
            CliError::input(format!("{} cannot be read: {error}", path.display()))
                .suggest("Save the text as UTF-8 and give it with --file PATH")
        })?;
        if text.trim().is_empty() {
            return Err(cancelled("the text is empty".to_owned()));
        }
        Ok((path, text))
    }
}

/// Removes a file that was written, and its folder.
pub(super) fn discard(path: &Path) {
    // What is left of it is a file in the temporary folder.
    let _ = path.parent().map(fs::remove_dir_all);
}

fn private_folder(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().mode(0o700).create(folder)
}
