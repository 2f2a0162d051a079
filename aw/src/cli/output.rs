//! What is shown: one JSON object for agents, or a page for people; and the exit code.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

use serde_json::{Map, Value, json};

use super::human::Paper;
use super::onward::onward;
use crate::api::http::{Lost, Trouble};

/// The longest line, in bytes, that every known host shows whole.
const LONG_LINE: usize = 8 * 1024;

/// How an answer is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// One JSON object, for agents
    #[default]
    Json,
    /// Readable text, for people
    Markdown,
}

impl Format {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Format::Json => "json",
            Format::Markdown => "markdown",
        }
    }
}

/// What a command leads to.
pub(super) enum Shown {
    /// An answer in the envelope.
    Answer(Answer),
    /// The same where it says that something does not work, which the exit code tells too.
    Unwell(Answer),
    /// Text by nature.
    Raw(Vec<u8>),
    /// It has shown everything itself.
    Nothing,
}

/// A success.
pub(super) struct Answer {
    pub(super) data: Value,
    pub(super) metadata: Map<String, Value>,
    /// How many there are in all, and whether more follow.
    pub(super) total: Option<(u64, bool)>,
    /// How people read it.
    pub(super) page: fn(&Value, &Paper) -> String,
}

impl Answer {
    pub(super) fn new(data: Value, page: fn(&Value, &Paper) -> String) -> Self {
        Answer { data, metadata: Map::new(), total: None, page }
    }

    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.metadata.insert(name.to_owned(), value.into());
        self
    }

    pub(super) fn message(self, message: impl Into<String>) -> Self {
        self.with("message", message.into())
    }

    pub(super) fn next(self, command: impl Into<String>) -> Self {
        self.with("next_command", command.into())
    }

    /// With a word of caution, besides those it has.
    pub(super) fn warn(self, words: impl Into<String>) -> Self {
        let words = words.into();
        let words = match self.metadata.get("warning").and_then(Value::as_str) {
            Some(others) => format!("{others}; {words}"),
            None => words,
        };
        self.with("warning", words)
    }

    pub(super) fn of_total(mut self, total: u64, more: bool) -> Self {
        self.total = Some((total, more));
        self
    }
}

/// A failure.
#[derive(Debug, Clone)]
pub(super) struct Problem {
    pub(super) code: String,
    pub(super) message: String,
    pub(super) suggestion: Option<String>,
    pub(super) server_error: Option<Box<Value>>,
    pub(super) metadata: Box<Map<String, Value>>,
}

impl Problem {
    pub(super) fn new(code: &str, message: impl Into<String>) -> Self {
        Problem {
            code: code.to_owned(),
            message: message.into(),
            suggestion: None,
            server_error: None,
            metadata: Box::default(),
        }
    }

    pub(super) fn input(message: impl Into<String>) -> Self {
        Self::new("INVALID_INPUT", message)
    }

    pub(super) fn connection(message: impl Into<String>) -> Self {
        Self::new("CONNECTION_ERROR", message)
    }

    pub(super) fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }

    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.metadata.insert(name.to_owned(), value.into());
        self
    }

    /// What the server at this URL said, or that it said nothing.
    pub(super) fn of(trouble: Trouble, base: &str) -> Self {
        match trouble {
            Trouble::Refused(error) | Trouble::Busy(error, _) => {
                let word = |name: &str| error[name].as_str().map(str::to_owned);
                Problem {
                    code: word("code").unwrap_or_else(|| "SERVER_ERROR".to_owned()),
                    message: word("message").unwrap_or_else(|| "the server said no".to_owned()),
                    suggestion: word("suggestion"),
                    server_error: Some(Box::new(error)),
                    metadata: Box::default(),
                }
            }
            Trouble::Unreachable(Lost { why, .. }) => {
                Self::connection(format!("the server at {base} cannot be reached: {why}"))
                    .suggest("aw doctor")
            }
            Trouble::Stranger(why) => {
                Self::connection(format!("what answers at {base} is not an aw server: {why}"))
                    .suggest("Set DEBATE_SERVER_URL to the server, or AW_LISTEN to a free address")
            }
        }
    }

    /// The field that the server found wrong.
    pub(super) fn field(&self) -> Option<&str> {
        self.server_error.as_ref()?["field"].as_str()
    }

    /// The exit code: what kind of failure it is.
    pub(super) fn exit(&self) -> u8 {
        match self.code.as_str() {
            "DEBATE_NOT_FOUND" | "ARGUMENT_NOT_FOUND" | "DOCUMENT_NOT_FOUND"
            | "VERSION_NOT_FOUND" => 2,
            "INVALID_INPUT" | "FILE_NOT_FOUND" | "CONTENT_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" => {
                super::INPUT
            }
            "ACTION_NOT_ALLOWED" => 5,
            "AUTH_FAILED" | "FORBIDDEN" => 6,
            _ => super::SERVER,
        }
    }
}

/// Shows what came of a command and says how the program should exit.
pub(super) fn show(outcome: Result<Shown, Problem>, format: Format) -> ExitCode {
    let paper = Paper::of_stdout();
    let (text, code) = match outcome {
        Ok(Shown::Nothing) => return ExitCode::SUCCESS,
        Ok(Shown::Raw(bytes)) => (bytes, 0),
        Ok(Shown::Answer(ref answer) | Shown::Unwell(ref answer)) => {
            let text = match format {
                Format::Json => json_of(answer),
                Format::Markdown => {
                    let mut page = super::human::opening(&answer.metadata, &paper);
                    page.push_str(&(answer.page)(&answer.data, &paper));
                    page.push_str(&super::human::closing(&answer.metadata, &paper));
                    page
                }
            };
            let code = if matches!(outcome, Ok(Shown::Unwell(_))) { super::SERVER } else { 0 };
            (text.into_bytes(), code)
        }
        Err(mut problem) => {
            if !problem.metadata.contains_key("next_command")
                && let Some(next) = onward(&problem, format)
            {
                problem = problem.with("next_command", next);
            }
            match format {
                Format::Json => (json_of_problem(&problem).into_bytes(), problem.exit()),
                // Words for people: a file that the answer is sent to must not hold them.
                Format::Markdown => {
                    let page = super::human::problem(&problem, &Paper::of_stderr());
                    let _ = io::stderr().lock().write_all(page.as_bytes());
                    return problem.exit().into();
                }
            }
        }
    };
    let text = if io::stdout().is_terminal() { harmless(text, format) } else { text };
    let mut out = io::stdout().lock();
    match out.write_all(&text).and_then(|()| out.flush()) {
        Ok(()) => code.into(),
        // Whoever read it has read enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => code.into(),
        Err(_) => super::SERVER.into(),
    }
}

/// What a terminal shows and does not obey. Pages are so already; JSON has its own way to write
/// such characters, which only stand in its texts.
fn harmless(text: Vec<u8>, format: Format) -> Vec<u8> {
    match (String::from_utf8(text), format) {
        (Ok(text), Format::Json) if text.starts_with("{\"success\"") => text
            .chars()
            .map(|c| match c {
                '\n' => c.to_string(),
                c if super::human::is_obeyed(c) => format!("\\u{:04x}", u32::from(c)),
                c => c.to_string(),
            })
            .collect::<String>()
            .into_bytes(),
        (Ok(text), Format::Json) => super::human::shown(&text).into_bytes(),
        (Ok(page), Format::Markdown) => page.into_bytes(),
        (Err(bytes), _) => {
            super::human::shown(&String::from_utf8_lossy(bytes.as_bytes())).into_bytes()
        }
    }
}

fn json_of(answer: &Answer) -> String {
    let mut envelope = json!({"success": true, "metadata": answer.metadata});
    if let Some((total, more)) = answer.total {
        envelope["total_count"] = total.into();
        envelope["has_more"] = more.into();
    }
    envelope["content"] = json!([{"type": "json", "data": answer.data}]);
    written(&envelope)
}

/// Hosts show an agent only the beginning of a long answer, and some nothing at all of a long line.
/// So what to run next comes first, and a long answer has a line for each of its parts.
fn written(envelope: &Value) -> String {
    let line = envelope.to_string();
    let parts = envelope.as_object().filter(|_| line.len() > LONG_LINE);
    let Some(parts) = parts else { return line + "\n" };
    let parts: Vec<String> =
        parts.iter().map(|(name, part)| format!("{}:{part}", Value::from(name.as_str()))).collect();
    format!("{{{}}}\n", parts.join(",\n"))
}

fn json_of_problem(problem: &Problem) -> String {
    let mut error = json!({"code": problem.code, "message": problem.message});
    if let Some(suggestion) = &problem.suggestion {
        error["suggestion"] = suggestion.as_str().into();
    }
    let data = match &problem.server_error {
        Some(whole) => json!({"server_error": whole}),
        None => json!({}),
    };
    let envelope = json!({
        "success": false,
        "error": error,
        "metadata": problem.metadata,
        "content": [{"type": "json", "data": data}],
    });
    written(&envelope)
}
