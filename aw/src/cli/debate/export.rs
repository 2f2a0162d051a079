//! `aw debate export` and `aw debate result`: print a document about a debate, or write it to a
//! file.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use aw_core::State;
use serde_json::json;

use super::super::human;
use super::super::output::{Answer, CliError, Shown, write_file};
use super::super::refs::{DebateArg, Wants};
use super::super::session::Session;
use crate::api::client::{self, ExportFormat, ReportFormat};
use crate::api::http::{BUDGET, Trouble};

/// The time between two looks of `result --wait` at the state of the debate.
const PACE: Duration = Duration::from_millis(500);

/// How long `result --wait` goes on after it lost the server.
const LOST: Duration = Duration::from_secs(60);

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Export {
    #[command(flatten)]
    debate: DebateArg,
    /// Write it to this file instead of stdout
    #[arg(long, short, value_name = "PATH")]
    output: Option<PathBuf>,
    /// markdown (every argument quoted), html (one page that needs no other file) or json (every
    /// field)
    #[arg(long, value_enum, default_value_t, hide_possible_values = true)]
    format: ExportArg,
    /// Log each step on stderr
    #[arg(long)]
    verbose: bool,
}

/// The format of a transcript.
#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
pub(in crate::cli) enum ExportArg {
    /// Markdown, every argument quoted
    #[default]
    Markdown,
    /// One page that needs nothing else
    Html,
    /// JSON, every field
    Json,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct ResultCommand {
    #[command(flatten)]
    debate: DebateArg,
    /// Write it to this file instead of stdout
    #[arg(long, short, value_name = "PATH")]
    output: Option<PathBuf>,
    /// markdown, madr (a decision record, MADR 4) or json
    #[arg(long, value_enum, default_value_t, hide_possible_values = true)]
    format: ResultArg,
    /// Wait until the debate is closed
    #[arg(long)]
    wait: bool,
    /// Log each step on stderr
    #[arg(long)]
    verbose: bool,
}

/// The format of a report.
#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
pub(in crate::cli) enum ResultArg {
    /// Markdown
    #[default]
    Markdown,
    /// A decision record, MADR 4
    Madr,
    /// JSON
    Json,
}

impl Export {
    pub(super) fn run(mut self) -> Result<Shown, CliError> {
        self.debate.settle(Wants { verbose: self.verbose, ..Wants::default() })?;
        let named = |problem: CliError| problem.with("debate_id", self.debate.id.as_str());
        let session = Session::open(self.verbose).map_err(named)?;
        let format = match self.format {
            ExportArg::Markdown => ExportFormat::Markdown,
            ExportArg::Html => ExportFormat::Html,
            ExportArg::Json => ExportFormat::Json,
        };
        let transcript = session.raw(&client::export(&self.debate.id, format)).map_err(named)?;
        let shown = Document {
            debate: &self.debate.id,
            bytes: transcript,
            format: format.as_str(),
            written: "Transcript written",
        };
        shown.shown(self.output.as_deref()).map_err(named)
    }
}

impl ResultCommand {
    pub(super) fn run(mut self) -> Result<Shown, CliError> {
        self.debate.settle(Wants { verbose: self.verbose, ..Wants::default() })?;
        let named = |problem: CliError| problem.with("debate_id", self.debate.id.as_str());
        let session = Session::open(self.verbose).map_err(named)?;
        if self.wait {
            wait_until_closed(&session, &self.debate.id).map_err(named)?;
        }
        let format = match self.format {
            ResultArg::Markdown => ReportFormat::Markdown,
            ResultArg::Madr => ReportFormat::Madr,
            ResultArg::Json => ReportFormat::Json,
        };
        let request = client::result(&self.debate.id, format);
        let report = session.raw_with_own_limit(&request).map_err(named)?;
        let shown = Document {
            debate: &self.debate.id,
            bytes: report,
            format: format.as_str(),
            written: "Report written",
        };
        shown.shown(self.output.as_deref()).map_err(named)
    }
}

/// Returns once the debate is closed. It reads the state and waits as no role, so no role counts as
/// waiting. It does not start a server that is gone: its user may have stopped it on purpose.
fn wait_until_closed(session: &Session, debate: &str) -> Result<(), CliError> {
    let request = client::context(debate, 0);
    // This session may find or start the server.
    let mut state = session.call(&request)?.data.debate.state;
    let mut answered = Instant::now();
    while state.known() != Some(State::Closed) {
        thread::sleep(PACE);
        match session.client.once_until(&request, Instant::now() + BUDGET) {
            Ok(reply) => {
                state = reply.data.debate.state;
                answered = Instant::now();
            }
            Err(Trouble::Unreachable(_) | Trouble::Busy(..)) if answered.elapsed() < LOST => {}
            Err(trouble) => return Err(session.problem(trouble)),
        }
    }
    Ok(())
}

/// A document about a debate.
struct Document<'a> {
    debate: &'a str,
    bytes: Vec<u8>,
    format: &'static str,
    /// The message after it was written to a file.
    written: &'static str,
}

impl Document<'_> {
    /// Prints the document, or writes it to this file and answers.
    fn shown(self, output: Option<&Path>) -> Result<Shown, CliError> {
        let Some(output) = output else { return Ok(Shown::Raw(self.bytes)) };
        write_file(output, &self.bytes)?;
        let data = json!({
            "debate_id": self.debate,
            "output": output.display().to_string(),
            "format": self.format,
            "bytes": self.bytes.len(),
        });
        Ok(Shown::Answer(Answer::new(data, human::fields).message(self.written)))
    }
}
