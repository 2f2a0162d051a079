//! The command that leads on from a failure, where its code and its ids are enough to know it.

use serde_json::Value;

use super::next_command::CommandLine;
use super::output::{Format, Problem};

/// The next command: the last good step.
pub(super) fn onward(problem: &Problem, format: Format) -> Option<String> {
    let id = |name: &str| problem.metadata.get(name).and_then(Value::as_str);
    let line = match (problem.code.as_str(), problem.field()) {
        ("DEBATE_NOT_FOUND", _) | ("INVALID_INPUT", Some("debate_id" | "state" | "type")) => {
            CommandLine::new("debate list")
        }
        ("ARGUMENT_NOT_FOUND", _)
        | ("INVALID_INPUT", Some("argument_id" | "target_id" | "role")) => {
            CommandLine::new("debate get-context").flag("--debate-id", id("debate_id")?)
        }
        ("DOCUMENT_NOT_FOUND", _) | ("INVALID_INPUT", Some("document_id")) => {
            CommandLine::new("docs list")
        }
        ("VERSION_NOT_FOUND", _) | ("INVALID_INPUT", Some("version" | "from" | "to")) => {
            CommandLine::new("docs history").word(id("document_id")?)
        }
        _ => return None,
    };
    let format = (format != Format::Json).then(|| format.as_str());
    Some(line.flag_if("--format", format).into_string())
}
