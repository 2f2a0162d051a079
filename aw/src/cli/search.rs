//! `aw search`: finds texts in the whole record.

use super::debate::Shape;
use super::human;
use super::next_command::CommandLine;
use super::output::{Answer, CliError, Format, Shown};
use super::refs;
use super::session::Session;
use crate::api::client::{self, SearchFilter};
use crate::api::types::{SearchHit, SearchPage};

#[derive(Debug, clap::Args)]
pub(super) struct SearchCommand {
    /// Words that a text must have, all of them, or the beginning of an id
    #[arg(required = true, value_name = "WORDS")]
    words: Vec<String>,
    /// Only in this debate and in the documents that it cites
    #[arg(long, value_name = "DEBATE")]
    debate_id: Option<String>,
    /// Show at most N
    #[arg(long, short, value_name = "N", default_value_t = 20)]
    limit: u64,
    /// The next_before of the previous page
    #[arg(long, value_name = "MARK")]
    before: Option<String>,
    #[command(flatten)]
    shape: Shape,
}

impl SearchCommand {
    pub(super) fn format(&self) -> Format {
        self.shape.format()
    }

    pub(super) fn run(self) -> Result<Shown, CliError> {
        let verbose = self.shape.verbose;
        let debate = self.debate_id.map(|name| refs::debate(&name, verbose)).transpose()?;
        let session = Session::open(verbose)?;
        let words = self.words.join(" ");
        let filter = SearchFilter {
            words: &words,
            debate: debate.as_deref(),
            limit: self.limit,
            before: self.before.as_deref(),
        };
        let page = session.call(&client::search(filter))?;
        let SearchPage { hits, next_before, is_complete } = &page.data;
        let next = match (next_before.as_deref(), hits.as_slice()) {
            // An empty page would lead to itself.
            (Some(before), [_, ..]) => Some(
                CommandLine::new("search")
                    .flag_if("--debate-id", debate.as_deref())
                    .flag("--limit", &self.limit.to_string())
                    .flag("--before", before)
                    .format(self.shape.format())
                    .word("--")
                    .word(&words),
            ),
            (None, [only]) => Some(reading(only).format(self.shape.format())),
            (_, _) => None,
        };
        // The number of all hits is known only if this page has them all.
        let has_more = next_before.is_some() && !hits.is_empty();
        let is_whole = !has_more && self.before.is_none();
        let total = is_whole.then_some(hits.len() as u64);
        let warning = (!is_complete).then_some(
            "the newest texts are not searched yet: very much was written; try again in a few seconds",
        );
        let mut answer = Answer::new(page, human::hits).of_total(total, has_more);
        if let Some(next) = next {
            answer = answer.next(next.into_string());
        }
        if let Some(warning) = warning {
            answer = answer.warn(warning);
        }
        Ok(Shown::Answer(session.checked(answer)))
    }
}

/// The command that reads what was found.
fn reading(hit: &SearchHit) -> CommandLine {
    match (hit.debate_id, hit.document_id) {
        (None, Some(document)) => CommandLine::new("docs get").word(&document.0.to_string()),
        (Some(debate), _) => {
            CommandLine::new("debate get-context").flag("--debate-id", &debate.0.to_string())
        }
        (None, None) => CommandLine::new("debate list"),
    }
}
