//! Output: one JSON object for agents or a page for people, and the exit code.

use std::env;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::ExitCode;
use std::sync::LazyLock;

use clap::builder::PossibleValue;
use nix::errno::Errno;
use nix::fcntl::OFlag;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::after_failure;
use super::human::{Paper, in_line};
use crate::api::brief::brief;
use crate::api::error::{Code, SERVER};
use crate::api::http::{Lost, Refused, Trouble};
use crate::api::types::Flaw;
use crate::run::{self, copies};
use crate::settings::{answer_format, is_run_by_agent};

/// The longest line, in bytes, that every known host shows whole.
const LONG_LINE: usize = 8 * 1024;

pub(super) use crate::settings::AnswerFormat as Format;

impl clap::ValueEnum for Format {
    fn value_variants<'a>() -> &'a [Self] {
        &Format::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.as_str()))
    }
}

impl Format {
    /// The format of an answer if none was typed: the configured one; otherwise text for a person
    /// at a terminal, and JSON for everybody else.
    pub(super) fn usual() -> Self {
        // A wrong setting is reported before the command runs.
        static USUAL: LazyLock<Format> =
            LazyLock::new(|| Format::set().ok().flatten().unwrap_or_else(Format::by_reader));
        *USUAL
    }

    /// The configured format, or why it cannot be used.
    pub(super) fn set() -> Result<Option<Self>, CliError> {
        answer_format(&variable)
            .map_err(|bad| CliError::input(bad.to_string()).suggest("Correct or unset AW_FORMAT"))
    }

    fn by_reader() -> Self {
        if is_person_at(&io::stdout()) { Format::Markdown } else { Format::Json }
    }
}

/// Whether a person reads this stream: it is a terminal, and no agent program runs this command.
pub(super) fn is_person_at(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && variable(run::MARK).is_none() && !is_run_by_agent(&variable)
}

fn variable(name: &str) -> Option<String> {
    env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

// How much of an answer is printed. A doc comment here would become help.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(super) struct Detail {
    /// Print every field: hashes, times, authors, presence
    #[arg(long)]
    full: bool,
}

/// The result of a command.
pub(super) enum Shown {
    /// The outcome of a command that did not fail.
    Answer(Answer),
    /// The same where it says that something does not work, which the exit code tells too.
    Unhealthy(Answer),
    /// The same with this exit code.
    WithExit(Answer, u8),
    /// Text by nature.
    Raw(Vec<u8>),
    /// It has shown everything itself.
    Nothing,
}

/// A success.
pub(super) struct Answer {
    data: Box<dyn Data>,
    pub(super) metadata: Map<String, Value>,
    /// How many there are in total, if known, and whether more follow.
    pub(super) total: Option<(Option<u64>, bool)>,
    /// Whether its JSON has only the fields that the next step needs.
    brief: bool,
}

/// The data of an answer, in the forms for agents and for people.
trait Data {
    fn json(&self) -> Value;
    fn page(&self, paper: &Paper) -> String;
}

/// Data with the function that draws it for people.
struct Drawn<T> {
    data: T,
    draw: fn(&T, &Paper) -> String,
}

impl<T: Serialize> Data for Drawn<T> {
    fn json(&self) -> Value {
        json!(self.data)
    }

    fn page(&self, paper: &Paper) -> String {
        (self.draw)(&self.data, paper)
    }
}

impl Answer {
    pub(super) fn new<T: Serialize + 'static>(data: T, draw: fn(&T, &Paper) -> String) -> Self {
        Answer {
            data: Box::new(Drawn { data, draw }),
            metadata: Map::new(),
            total: None,
            brief: false,
        }
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

    /// Adds a warning to those it has.
    pub(super) fn warn(self, words: impl Into<String>) -> Self {
        let words = words.into();
        let words = match self.metadata.get("warning").and_then(Value::as_str) {
            Some(others) => format!("{others}; {words}"),
            None => words,
        };
        self.with("warning", words)
    }

    /// With every field, or only with those that the next step needs.
    pub(super) fn detailed(mut self, detail: Detail) -> Self {
        self.brief = !detail.full;
        self
    }

    pub(super) fn of_total(mut self, total: impl Into<Option<u64>>, more: bool) -> Self {
        self.total = Some((total.into(), more));
        self
    }
}

/// A failure.
#[derive(Debug, Clone)]
pub(super) struct CliError {
    pub(super) code: Code,
    pub(super) message: String,
    pub(super) suggestion: Option<String>,
    /// The server's own error, if it sent one.
    pub(super) refused: Option<Box<Refused>>,
    /// The findings of the command itself.
    found: Box<Found>,
    pub(super) metadata: Box<Map<String, Value>>,
}

/// The findings of a command that failed.
#[derive(Debug, Clone, Default)]
struct Found {
    /// The flaws of a text that was not sent.
    flaws: Vec<Flaw>,
    /// The data that it got before it failed.
    data: Option<Value>,
}

impl CliError {
    pub(super) fn new(code: Code, message: impl Into<String>) -> Self {
        CliError {
            code,
            message: message.into(),
            suggestion: None,
            refused: None,
            found: Box::default(),
            metadata: Box::default(),
        }
    }

    pub(super) fn input(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidInput, message)
    }

    pub(super) fn connection(message: impl Into<String>) -> Self {
        Self::new(Code::ConnectionError, message)
    }

    pub(super) fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }

    /// Suggests the help of this command, if the input is wrong and there is no better suggestion.
    pub(super) fn with_help_of(self, command: &str) -> Self {
        match (&self.code, &self.suggestion) {
            (Code::InvalidInput, None) => {
                self.suggest(format!("Correct it and run it again (see aw {command} --help)"))
            }
            _ => self,
        }
    }

    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.metadata.insert(name.to_owned(), value.into());
        self
    }

    /// The failure of a request to the server at this URL.
    pub(super) fn of(trouble: Trouble, base: &str) -> Self {
        match trouble {
            Trouble::Refused(refused) | Trouble::Busy(refused, _) => CliError {
                code: refused.data.code.clone(),
                message: refused.data.message.clone(),
                suggestion: refused.data.suggestion.clone(),
                refused: Some(refused),
                found: Box::default(),
                metadata: Box::default(),
            },
            Trouble::Unreachable(Lost { why, .. }) => {
                Self::connection(format!("the server at {base} cannot be reached: {why}"))
                    .suggest("aw doctor")
            }
            Trouble::Stranger(why) => {
                let why = in_line(&why);
                Self::connection(format!("what answers at {base} is not an aw server: {why}"))
                    .suggest("Set DEBATE_SERVER_URL to the server, or AW_LISTEN to a free address")
            }
            Trouble::Unreadable(why) => Self::connection(format!(
                "this version of aw cannot read the server's answer: {}",
                in_line(&why)
            ))
            .suggest("aw server restart"),
        }
    }

    /// With the flaws of a text that was not sent.
    pub(super) fn with_flaws(mut self, flaws: Vec<Flaw>) -> Self {
        self = self.with("flaws", json!(flaws));
        self.found.flaws = flaws;
        self
    }

    /// With the data that the command got before it failed.
    pub(super) fn with_data(mut self, data: Value) -> Self {
        self.found.data = Some(data);
        self
    }

    /// The flaws of the text.
    pub(super) fn flaws(&self) -> &[Flaw] {
        let theirs = self.refused.as_ref().and_then(|refused| refused.data.flaws.as_deref());
        theirs.unwrap_or(&self.found.flaws)
    }

    /// The field that the server found wrong.
    pub(super) fn field(&self) -> Option<&str> {
        self.refused.as_ref()?.data.field.as_deref()
    }

    /// The exit code for the kind of failure.
    pub(super) fn exit(&self) -> u8 {
        self.code.exit()
    }
}

/// Prints the outcome of a command and returns the exit code.
pub(super) fn show(outcome: Result<Shown, CliError>, format: Format) -> ExitCode {
    let paper = Paper::of_stdout();
    let (text, code) = match outcome {
        Ok(Shown::Nothing) => return ExitCode::SUCCESS,
        Ok(Shown::Raw(bytes)) if io::stdout().is_terminal() => {
            (super::human::shown(&String::from_utf8_lossy(&bytes)).into_bytes(), 0)
        }
        Ok(Shown::Raw(bytes)) => (bytes, 0),
        Ok(
            Shown::Answer(ref answer)
            | Shown::Unhealthy(ref answer)
            | Shown::WithExit(ref answer, _),
        ) => {
            let text = match format {
                Format::Json => harmless(json_of(answer)),
                Format::Markdown => {
                    let mut page = super::human::opening(&answer.metadata, &paper);
                    page.push_str(&answer.data.page(&paper));
                    page.push_str(&super::human::closing(&answer.metadata, &paper));
                    page
                }
            };
            let code = match outcome {
                Ok(Shown::Unhealthy(_)) => SERVER,
                Ok(Shown::WithExit(_, code)) => code,
                _ => 0,
            };
            (text.into_bytes(), code)
        }
        Err(mut problem) => {
            if !problem.metadata.contains_key("next_command")
                && let Some(next) = after_failure::next_command(&problem, format)
            {
                problem = problem.with("next_command", next);
            }
            match format {
                Format::Json => (harmless(json_of_problem(&problem)).into_bytes(), problem.exit()),
                // These words are for people. A file to which stdout is redirected must not contain
                // them.
                Format::Markdown => {
                    let page = super::human::problem(&problem, &Paper::of_stderr());
                    let _ = io::stderr().lock().write_all(page.as_bytes());
                    return problem.exit().into();
                }
            }
        }
    };
    let mut out = io::stdout().lock();
    match out.write_all(&text).and_then(|()| out.flush()) {
        Ok(()) => code.into(),
        // The reader has read enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => code.into(),
        Err(_) => SERVER.into(),
    }
}

/// Writes a file that was named with `--output`.
pub(super) fn write_file(output: &Path, bytes: &[u8]) -> Result<(), CliError> {
    let refused = |why: &str| {
        CliError::input(format!("{} cannot be written: {why}", output.display()))
            .suggest("Give another path with --output")
    };
    // In a checkout of other people, a link may lead out of it.
    if let Some(link) = copies::link_out(output) {
        return Err(refused(&leads_out(&link)));
    }
    let flags = OFlag::O_NOFOLLOW.bits();
    let opened =
        OpenOptions::new().write(true).create(true).truncate(true).custom_flags(flags).open(output);
    opened.and_then(|mut file| file.write_all(bytes)).map_err(|error| {
        match error.raw_os_error() == Some(Errno::ELOOP as i32) {
            true => refused("it is a link"),
            false => refused(&error.to_string()),
        }
    })
}

/// Why nothing is written beyond a link of a checkout.
pub(super) fn leads_out(link: &Path) -> String {
    let link = super::human::shown(&link.to_string_lossy());
    format!("the link {link} of this repository leads out of it")
}

/// JSON without characters that a terminal acts on. Pages have none; in JSON they occur in texts
/// only and are escaped there.
fn harmless(json: String) -> String {
    if io::stdout().is_terminal() { escaped(&json) } else { json }
}

/// The same JSON without characters that a terminal acts on.
fn escaped(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for c in json.chars() {
        if super::human::acts_on_terminal(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a String cannot fail.
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(c);
        }
    }
    shown
}

fn json_of(answer: &Answer) -> String {
    #[derive(Serialize)]
    struct Envelope<'a> {
        success: bool,
        metadata: &'a Map<String, Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        total_count: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        has_more: Option<bool>,
        content: Value,
    }
    let (total_count, has_more) = answer.total.unzip();
    let total_count = total_count.flatten();
    let data = answer.data.json();
    let data = if answer.brief { brief(data) } else { data };
    let content = json!([{"type": "json", "data": data}]);
    let metadata = &answer.metadata;
    written(&json!(Envelope { success: true, metadata, total_count, has_more, content }))
}

/// Hosts show an agent only the beginning of a long answer, and some show nothing of a long line.
/// So the next command comes first, and each part of a long answer has its own line.
fn written(envelope: &Value) -> String {
    let line = envelope.to_string();
    let parts = envelope.as_object().filter(|_| line.len() > LONG_LINE);
    let Some(parts) = parts else { return line + "\n" };
    let parts: Vec<String> =
        parts.iter().map(|(name, part)| format!("{}:{part}", Value::from(name.as_str()))).collect();
    format!("{{{}}}\n", parts.join(",\n"))
}

fn json_of_problem(problem: &CliError) -> String {
    #[derive(Serialize)]
    struct Short<'a> {
        code: &'a Code,
        message: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        suggestion: Option<&'a str>,
    }
    let CliError { code, message, suggestion, .. } = problem;
    let error = Short { code, message, suggestion: suggestion.as_deref() };
    let data = match (&problem.found.data, &problem.refused) {
        (Some(data), _) => json!(data),
        (None, Some(refused)) => json!({"server_error": refused}),
        (None, None) => json!({}),
    };
    let envelope = json!({
        "success": false,
        "error": error,
        "metadata": problem.metadata,
        "content": [{"type": "json", "data": data}],
    });
    written(&envelope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_on_a_terminal_is_the_same_without_what_the_terminal_obeys() {
        let text = "a\u{9b}31m\u{202e}\u{e0041}\u{7f}ế";
        let json = Value::from(text).to_string();
        let shown = escaped(&json);
        assert_eq!(shown, r#""a\u009b31m\u202e\udb40\udc41\u007fế""#);
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
    }
}
