//! What a shell offers for a word that is being typed: debates and documents, each with its names.
//!
//! It asks a server that runs and starts none, and where something fails it offers nothing: a person who presses a
//! key wants no error.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use super::connect::Connection;
use super::human::shown;
use super::session::settings;
use crate::api::client::{self, DebateFilter, DocumentFilter};

/// The command that the scripts run.
pub(super) const NAME: &str = "complete";

/// How many are offered.
const MOST: u64 = 50;

/// How long a person waits for an offer.
const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Debug, clap::Args)]
pub(super) struct Complete {
    /// debates or documents
    what: String,
}

impl Complete {
    pub(super) fn run(self) -> ExitCode {
        let lines = self.offers().unwrap_or_default();
        // The shell may have lost interest.
        let _ = io::stdout().write_all(lines.as_bytes());
        ExitCode::SUCCESS
    }

    /// A line for each: its id, a tab, its slug and its title; for a document its title and its summary.
    fn offers(&self) -> Option<String> {
        let settings = settings().ok()?;
        let url = match &settings.server_url {
            Some(url) => url.clone(),
            None => settings.home.running().ok()??.url,
        };
        let client = Connection::at(&url, &settings).client;
        let ends = Instant::now() + PATIENCE;
        let line = |id: String, name: Option<&str>, title: &str| {
            let title = match name {
                Some(name) => format!("{name}: {title}"),
                None => title.to_owned(),
            };
            let title = shown(&title).replace(['\n', '\t'], " ");
            format!("{id}\t{title}\n")
        };
        match self.what.as_str() {
            "debates" => {
                let filter = DebateFilter { limit: MOST, ..DebateFilter::default() };
                let list = client.once_until(&client::debates(&filter), ends).ok()?.data;
                let lines = list.debates.iter().map(|one| &one.debate);
                let lines = lines.map(|debate| {
                    line(debate.id.0.to_string(), debate.slug.as_deref(), &debate.title)
                });
                Some(lines.collect())
            }
            "documents" => {
                let filter = DocumentFilter { limit: MOST, ..DocumentFilter::default() };
                let list = client.once_until(&client::documents(filter), ends).ok()?.data;
                let lines = list.documents.iter().map(|one| {
                    line(one.document_id.0.to_string(), one.title.as_deref(), &one.summary)
                });
                Some(lines.collect())
            }
            _ => None,
        }
    }
}
