//! Works out the next command after a failure, where its code and ids are enough for that.

use serde_json::Value;

use super::next_command::CommandLine;
use super::output::{CliError, Format};
use crate::api::advice::Look;

/// The next command.
pub(super) fn next_command(problem: &CliError, format: Format) -> Option<String> {
    let id = |name: &str| problem.metadata.get(name).and_then(Value::as_str);
    let line = match Look::after(&problem.code, problem.field())? {
        Look::Debates => CommandLine::new("debate list"),
        Look::Debate => {
            CommandLine::new("debate get-context").flag("--debate-id", id("debate_id")?)
        }
        Look::Documents => CommandLine::new("docs list"),
        Look::Document => CommandLine::new("docs history").word(id("document_id")?),
    };
    Some(line.format(format).into_string())
}
