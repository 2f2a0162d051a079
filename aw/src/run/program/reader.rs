//! Reads the output of a program.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::failure::one_line;
use super::{AgentProgram, FailureKind, ProgramFailure, claude, codex, command, gemini, opencode};

/// Reads the lines of a program while it runs, and sums them up at its end.
#[derive(Debug)]
pub struct Reader {
    program: AgentProgram,
    seen: Seen,
    /// Whether a [`ProgramSign::Failing`] was returned. Later lines come from a program that the runner ends.
    is_failing: bool,
}

/// News of a running program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgramSign {
    /// The final event has come: the program should exit now. A later [`ProgramSign::Doing`] takes this back.
    Final,
    /// The agent's activity, for a live view: `reads src/a.rs`.
    Doing(String),
    /// The program tries again after this error.
    Retrying(String),
    /// The program would go on trying for a long time. The runner ends it.
    Failing(ProgramFailure),
}

/// How a program ended.
#[derive(Debug, Clone, Copy, Default)]
pub struct End<'a> {
    /// The exit code; `None` when a signal ended the program.
    pub exit: Option<i32>,
    /// Whether `--max-turn` ended it.
    pub timed_out: bool,
    /// All of its stdout. Only a `command` is read this way.
    pub stdout: &'a [u8],
    /// The end of its stderr.
    pub stderr: &'a [u8],
    /// The sum of [`Ended::tokens`] over the earlier starts in this session.
    pub earlier: Tokens,
    /// The content of [`super::StartLine::final_file`], if the file is there.
    pub final_file: Option<&'a [u8]>,
}

/// The outcome of one start.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ended {
    /// The final message, without white space around it. There is none beside a failure.
    pub text: Option<String>,
    /// The id with which a later turn goes on.
    pub session: Option<String>,
    /// The model, if the program names it.
    pub model: Option<String>,
    /// The tokens of this start, if the program counts them.
    pub tokens: Option<Tokens>,
    /// The cost of this start in US dollars, if the program knows it.
    pub cost_usd: Option<f64>,
    /// Why there is no text.
    pub failure: Option<ProgramFailure>,
}

/// Tokens that a program reported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// Tokens that the model read, with those from a cache.
    pub input: u64,
    /// Tokens that the model wrote, with its reasoning.
    pub output: u64,
    /// Both.
    pub total: u64,
}

impl Tokens {
    /// Tokens with their total.
    pub fn new(input: u64, output: u64) -> Self {
        Tokens { input, output, total: input.saturating_add(output) }
    }

    /// The sum of both, up to the largest number.
    pub fn plus(self, other: Tokens) -> Self {
        let input = self.input.saturating_add(other.input);
        Tokens::new(input, self.output.saturating_add(other.output))
    }
}

/// The facts of the lines so far.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The seat's copy. Paths are shown without it.
    copy: PathBuf,
    /// The text since the last tool.
    pub(super) text: String,
    pub(super) session: Option<String>,
    pub(super) model: Option<String>,
    pub(super) tokens: Option<Tokens>,
    pub(super) cost_usd: Option<f64>,
    pub(super) failure: Option<ProgramFailure>,
    /// Whether the final event has come.
    pub(super) is_final: bool,
    /// The failed requests since the last answer of the model.
    pub(super) retries: u32,
}

impl Seen {
    /// Notes a failed request that the program will repeat. After `limit` of them the runner need not wait any longer.
    pub(super) fn retry(&mut self, kind: FailureKind, words: &str, limit: u32) -> ProgramSign {
        self.retries = self.retries.saturating_add(1);
        let failure = self.fail(kind, words);
        if self.retries >= limit {
            return ProgramSign::Failing(failure);
        }
        ProgramSign::Retrying(failure.to_string())
    }

    /// Notes a failure.
    pub(super) fn fail(&mut self, kind: FailureKind, words: &str) -> ProgramFailure {
        let failure = ProgramFailure::new(kind, words);
        self.failure = Some(failure.clone());
        failure
    }

    /// Notes that the model has answered, so that earlier errors no longer count.
    pub(super) fn answered(&mut self) {
        self.retries = 0;
        self.failure = None;
    }

    /// "reads src/a.rs": a verb and a path in the copy.
    pub(super) fn doing(&self, verb: &str, path: &Value) -> ProgramSign {
        let path = path.as_str().unwrap_or_default();
        let short = Path::new(path).strip_prefix(&self.copy).ok().and_then(Path::to_str);
        let words = format!("{verb} {}", short.unwrap_or(path));
        ProgramSign::Doing(one_line(&words, 80))
    }
}

impl Reader {
    /// A reader for a start of this program in this copy.
    pub fn new(program: AgentProgram, copy: &Path) -> Self {
        let seen = Seen { copy: copy.to_owned(), ..Seen::default() };
        Reader { program, seen, is_failing: false }
    }

    /// Reads a line of stdout.
    pub fn line(&mut self, line: &[u8]) -> Option<ProgramSign> {
        if self.is_failing || self.program == AgentProgram::Command {
            return None;
        }
        let event: Value = serde_json::from_slice(line).ok()?;
        let seen = &mut self.seen;
        let sign = match self.program {
            AgentProgram::Claude => claude::event(seen, &event),
            AgentProgram::Codex => codex::event(seen, &event),
            AgentProgram::Gemini => gemini::event(seen, &event),
            AgentProgram::Opencode => opencode::event(seen, &event),
            AgentProgram::Command => None,
        };
        self.is_failing = matches!(sign, Some(ProgramSign::Failing(_)));
        sign
    }

    /// Reads a line of stderr. Gemini CLI and opencode report their retries only there.
    pub fn stderr_line(&mut self, line: &[u8]) -> Option<ProgramSign> {
        if self.is_failing {
            return None;
        }
        // The beginning of a line says enough, and a line may hold a whole source file.
        let line = String::from_utf8_lossy(&line[..line.len().min(4096)]);
        let sign = match self.program {
            AgentProgram::Gemini => gemini::log(&mut self.seen, &line),
            AgentProgram::Opencode => opencode::log(&mut self.seen, &line),
            AgentProgram::Claude | AgentProgram::Codex | AgentProgram::Command => None,
        };
        self.is_failing = matches!(sign, Some(ProgramSign::Failing(_)));
        sign
    }

    /// Sums up after the program has ended.
    pub fn end(self, end: &End) -> Ended {
        let Reader { program, mut seen, .. } = self;
        let text = match program {
            AgentProgram::Claude | AgentProgram::Gemini | AgentProgram::Opencode => {
                std::mem::take(&mut seen.text)
            }
            AgentProgram::Codex => codex::text(&seen, end),
            AgentProgram::Command => {
                seen.is_final = end.exit == Some(0);
                command::text(end)
            }
        };
        let text = text.trim();
        let tokens = match program {
            AgentProgram::Codex => codex::tokens(&seen, end),
            AgentProgram::Claude
            | AgentProgram::Gemini
            | AgentProgram::Opencode
            | AgentProgram::Command => seen.tokens,
        };
        let failure = failure(program, &mut seen, end, text);
        Ended {
            text: failure.is_none().then(|| text.to_owned()),
            session: seen.session,
            model: seen.model,
            tokens,
            cost_usd: seen.cost_usd,
            failure,
        }
    }
}

/// The failure of a start, if it is one.
fn failure(
    program: AgentProgram,
    seen: &mut Seen,
    end: &End,
    text: &str,
) -> Option<ProgramFailure> {
    let took_too_long = end.timed_out && !seen.is_final;
    if let Some(mut failure) = seen.failure.take() {
        if took_too_long {
            failure.kind = FailureKind::Timeout;
        }
        if program == AgentProgram::Gemini && failure.kind == FailureKind::Crash {
            failure.kind = gemini::kind_of_exit(end.exit).unwrap_or(FailureKind::Crash);
        }
        return Some(failure);
    }
    if seen.is_final {
        // The exit code does not matter here: the runner may have ended a program that did not exit.
        let empty =
            || ProgramFailure::new(FailureKind::Empty, "the program ended without a final message");
        return text.is_empty().then(empty);
    }
    if took_too_long {
        return Some(ProgramFailure::new(
            FailureKind::Timeout,
            "the turn took longer than --max-turn",
        ));
    }
    let stderr = String::from_utf8_lossy(end.stderr);
    let kind = match program {
        AgentProgram::Claude | AgentProgram::Codex | AgentProgram::Opencode => {
            FailureKind::of_words(&stderr)
        }
        AgentProgram::Gemini => {
            gemini::kind_of_exit(end.exit).or_else(|| FailureKind::of_words(&stderr))
        }
        AgentProgram::Command => None,
    };
    let last = stderr.lines().rev().map(str::trim).find(|line| !line.is_empty());
    let how = match end.exit {
        Some(code) => format!("exit code {code}"),
        None => "ended by a signal".to_owned(),
    };
    let detail = match last {
        Some(last) => format!("{how}: {last}"),
        None => how,
    };
    Some(ProgramFailure::new(kind.unwrap_or(FailureKind::Crash), &detail))
}

/// A text of an event, if there is one that is not empty.
pub(super) fn text_of(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// A session's id. The next start has it as an argument, so it must not look like an option.
pub(super) fn session_of(value: &Value) -> Option<String> {
    let is_plain = |id: &String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        id.len() <= 100 && !id.starts_with('-') && id.chars().all(plain)
    };
    text_of(value).filter(is_plain)
}

/// A number of an event; 0 when it is missing.
pub(super) fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}
