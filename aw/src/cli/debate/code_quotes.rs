//! Looks the quotes of a CLAIM up in the files that it names, before it is sent.

use std::env;

use aw_core::Role;

use super::super::output::CliError;
use super::super::session::Session;
use crate::api::client;
use crate::api::types::Flaw;
use crate::code_quotes::{self, FileQuotes, LookedUp};

/// The result of looking the quotes of a CLAIM up in files.
#[derive(Debug, Default)]
pub(super) struct FileCheck {
    pub(super) found: Vec<LookedUp>,
    quotes: FileQuotes,
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
        if !code_quotes::names_files(text, role) {
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
        let mut quotes = code_quotes::check(&folder, text, role, points);
        Ok(FileCheck { found: std::mem::take(&mut quotes.found), quotes })
    }

    /// Whether a file has not what the text quotes of it.
    pub(super) fn is_flawed(&self) -> bool {
        !self.quotes.flaws.is_empty()
    }

    /// A failure with these flaws and those that the server found.
    pub(super) fn refusal(&self, servers: &[Flaw]) -> CliError {
        let mut flaws = [&self.quotes.flaws, servers].concat();
        flaws.sort_by_key(|flaw| flaw.line);
        let first = &flaws[0];
        let (many, noun) = (flaws.len(), if flaws.len() == 1 { "flaw" } else { "flaws" });
        let message = format!(
            "nothing was submitted: {many} {noun} in the text; line {}: {}",
            first.line, first.message
        );
        CliError::input(message)
            .suggest("Mend each line in metadata.flaws and submit again; --dry-run tries it first")
            .with_flaws(flaws)
    }

    /// A warning about the files that were not read.
    pub(super) fn warning(&self) -> Option<String> {
        (!self.quotes.unread.is_empty()).then(|| self.quotes.unread.join("; "))
    }
}
