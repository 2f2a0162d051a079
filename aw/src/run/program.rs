//! The agent programs: their command lines and their outputs.
//!
//! This module is pure: it starts nothing, reads no file and no clock. [`AgentProgram::line`] says how to start a turn,
//! a [`Reader`] finds the final message and the failures in the program's output. All output is untrusted: a line may be garbage or belong to a
//! newer version, so the readers ignore every event that they do not know.
//!
//! Each program has a module: `claude`, `codex`, `gemini`, `opencode`, `command`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::settings::is_set_by_agent_program;

pub use failure::{FailureKind, ProgramFailure};
pub use reader::{End, Ended, ProgramSign, Reader, Tokens};

mod claude;
mod codex;
mod command;
mod failure;
mod gemini;
mod opencode;
mod reader;

/// A program that can take a seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AgentProgram {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// opencode.
    Opencode,
    /// A command of the user's `config.toml`.
    Command,
}

/// The session of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramSession<'a> {
    /// A session that begins with this turn. Claude Code and Gemini CLI take this UUID as its id and refuse one that
    /// exists; Codex and opencode choose an id of their own ([`Ended::session`]).
    New(&'a str),
    /// A session that an earlier turn has begun, by the id of [`Ended::session`].
    Later(&'a str),
}

/// The facts that a command line depends on.
#[derive(Debug, Clone, Copy)]
pub struct Turn<'a> {
    /// The session.
    pub session: ProgramSession<'a>,
    /// The model, in the program's own words. opencode wants `provider/model`.
    pub model: Option<&'a str>,
    /// The file that the agent may edit, as a path in the copy; `None`: the agent only reads.
    pub plan: Option<&'a str>,
    /// The seat's copy, the working folder of the program, as an absolute path without links in it.
    pub copy: &'a Path,
    /// A folder outside of the copy for the files of this turn, as an absolute path. It must be empty.
    pub folder: &'a Path,
    /// The content of [`AgentProgram::settings_file`], if the file is there.
    pub settings: Option<&'a str>,
    /// The user's `args` for this agent.
    pub extra: &'a [String],
    /// The MCP servers to switch off, from [`AgentProgram::mcp_servers_from`].
    pub mcp_servers: &'a [String],
}

/// How to start a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StartLine {
    /// The arguments after the program's name. The prompt is not among them: it goes to stdin.
    pub arguments: Vec<OsString>,
    /// Variables to set besides [`SET`].
    pub environment: Vec<(&'static str, String)>,
    /// Files to write before the start.
    pub files: Vec<(PathBuf, String)>,
    /// The file in which the program leaves its final message.
    pub final_file: Option<PathBuf>,
}

impl StartLine {
    fn add<S: Into<OsString> + Clone>(&mut self, arguments: impl AsRef<[S]>) {
        self.arguments.extend(arguments.as_ref().iter().cloned().map(Into::into));
    }

    fn set(&mut self, name: &'static str, value: &str) {
        self.environment.push((name, value.to_owned()));
    }
}

/// Variables that every agent gets. The runner adds `AW_RUN`.
pub const SET: &[(&str, &str)] = &[
    ("NO_COLOR", "1"),
    ("TERM", "dumb"),
    // A command may start Claude Code too: a 401 ends it after 2 s instead of 180.
    ("CLAUDE_CODE_MAX_RETRIES", "2"),
];

/// Whether agents do not inherit this variable.
///
/// Our own variables would give an agent a token. Git's would lead it to another repository. Those of a surrounding
/// agent make a program believe that it is a part of that one.
pub fn is_taken_away(name: &str) -> bool {
    const PREFIXES: [&str; 6] = [
        "AW_",
        "DEBATE_",
        "GIT_",
        "CLAUDE_CODE_MESSAGING_",
        "CLAUDE_CODE_SESSION_",
        "CODEX_SANDBOX",
    ];
    // Besides those that tell an agent from a person.
    const NAMES: [&str; 12] = [
        "AWEAVE_HOME",
        "PGPASSWORD",
        "CLAUDE_PID",
        "CLAUDE_CODE_CHILD_SESSION",
        "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_CODE_EXECPATH",
        "CODEX_SESSION_ID",
        "CODEX_TOOL_CALL_ID",
        "CODEX_VERSION",
        "OPENCODE_PID",
        "AGENT",
        "AI_AGENT",
    ];
    is_set_by_agent_program(name)
        || NAMES.contains(&name)
        || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

impl AgentProgram {
    /// The programs that the runner knows, the preferred one first.
    pub const KNOWN: [AgentProgram; 4] =
        [AgentProgram::Claude, AgentProgram::Codex, AgentProgram::Gemini, AgentProgram::Opencode];

    /// The program of this name, such as `claude`.
    pub fn named(name: &str) -> Option<AgentProgram> {
        AgentProgram::KNOWN.into_iter().find(|program| program.name() == name)
    }

    /// The name of the executable.
    pub fn name(self) -> &'static str {
        match self {
            AgentProgram::Claude => "claude",
            AgentProgram::Codex => "codex",
            AgentProgram::Gemini => "gemini",
            AgentProgram::Opencode => "opencode",
            AgentProgram::Command => "command",
        }
    }

    /// The family: two programs of one family are likely to overlook the same things.
    pub fn family(self) -> &'static str {
        match self {
            AgentProgram::Claude => "anthropic",
            AgentProgram::Codex => "openai",
            AgentProgram::Gemini => "google",
            AgentProgram::Opencode => "opencode",
            AgentProgram::Command => "command",
        }
    }

    /// The version that these lines were tested with. Fewer than three numbers stand for all that begin so.
    pub fn tested_version(self) -> Option<&'static str> {
        match self {
            AgentProgram::Claude => Some("2.1.325"),
            AgentProgram::Codex => Some("0.166"),
            AgentProgram::Gemini => Some("0.61"),
            AgentProgram::Opencode => Some("1.18"),
            AgentProgram::Command => None,
        }
    }

    /// Whether this version was tested. The runner adds a note for another one.
    pub fn is_tested(self, version: &str) -> bool {
        self.tested_version().is_none_or(|tested| {
            let rest = version.strip_prefix(tested);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }

    /// How its user logs in.
    pub fn how_to_log_in(self) -> &'static str {
        match self {
            AgentProgram::Claude => "run `claude` and type /login, or set ANTHROPIC_API_KEY",
            AgentProgram::Codex => "run `codex login`",
            AgentProgram::Gemini => "run `gemini` and choose a login, or set GEMINI_API_KEY",
            AgentProgram::Opencode => "run `opencode auth login`",
            AgentProgram::Command => "see the documentation of the command",
        }
    }

    /// How to install it.
    pub fn how_to_install(self) -> &'static str {
        match self {
            AgentProgram::Claude => "npm install -g @anthropic-ai/claude-code",
            AgentProgram::Codex => "npm install -g @openai/codex",
            AgentProgram::Gemini => "npm install -g @google/gemini-cli",
            AgentProgram::Opencode => "npm install -g opencode-ai",
            AgentProgram::Command => "see [agents] in config.toml",
        }
    }

    /// The version in the output of `PROGRAM --version`.
    pub fn version_from(self, output: &str) -> Option<String> {
        let words = output.split_whitespace().map(|word| word.strip_prefix('v').unwrap_or(word));
        let mut versions = words.filter(|word| {
            let plain = |c: char| c.is_ascii_alphanumeric() || ".-+".contains(c);
            word.starts_with(|c: char| c.is_ascii_digit())
                && word.contains('.')
                && word.len() <= 40
                && word.chars().all(plain)
        });
        versions.next().map(str::to_owned)
    }

    /// The user's settings that a turn needs a part of ([`Turn::settings`]). `variable` looks up the environment.
    pub fn settings_file(self, variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        match self {
            AgentProgram::Claude => {
                let own = variable("CLAUDE_CONFIG_DIR").map(PathBuf::from);
                let folder = own.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".claude")));
                Some(folder?.join("settings.json"))
            }
            AgentProgram::Codex
            | AgentProgram::Gemini
            | AgentProgram::Opencode
            | AgentProgram::Command => None,
        }
    }

    /// The arguments that list the MCP servers of its user, for a program that cannot switch them all off at once.
    ///
    /// Run it in the copy, once before the first turn, with the environment of a turn.
    pub fn mcp_list(self) -> Option<&'static [&'static str]> {
        match self {
            AgentProgram::Codex => Some(&["mcp", "list", "--json"]),
            AgentProgram::Opencode => Some(&["debug", "config"]),
            AgentProgram::Claude | AgentProgram::Gemini | AgentProgram::Command => None,
        }
    }

    /// The names in the output of [`AgentProgram::mcp_list`]; `None` when the output has another form.
    pub fn mcp_servers_from(self, output: &str) -> Option<Vec<String>> {
        match self {
            AgentProgram::Codex => codex::mcp_servers_from(output),
            AgentProgram::Opencode => opencode::mcp_servers_from(output),
            AgentProgram::Claude | AgentProgram::Gemini | AgentProgram::Command => Some(Vec::new()),
        }
    }

    /// Whether a later turn can go on with an earlier one.
    pub fn has_sessions(self) -> bool {
        self != AgentProgram::Command
    }

    /// The command line of a turn.
    pub fn line(self, turn: &Turn) -> StartLine {
        match self {
            AgentProgram::Claude => claude::line(turn),
            AgentProgram::Codex => codex::line(turn),
            AgentProgram::Gemini => gemini::line(turn),
            AgentProgram::Opencode => opencode::line(turn),
            AgentProgram::Command => command::line(turn),
        }
    }
}

#[cfg(test)]
mod tests;
