//! The variables that agent programs set for the commands that they run: one table for the author of a text, for
//! the format of an answer, and for what a run takes away from its agents.

use super::Environment;

/// Each variable with the program that sets it.
///
/// Variables that people set themselves, such as `CODEX_HOME`, or that an editor sets in every terminal, such as
/// `CURSOR_TRACE_ID`, do not tell an agent from a person.
pub(super) const AGENT_PROGRAMS: [(&str, &str); 12] = [
    ("CLAUDECODE", "Claude Code"),
    ("CODEX_CI", "Codex"),
    ("CODEX_THREAD_ID", "Codex"),
    ("CODEX_SANDBOX", "Codex"),
    ("CODEX_SANDBOX_NETWORK_DISABLED", "Codex"),
    ("COPILOT_CLI", "Copilot CLI"),
    ("CURSOR_AGENT", "Cursor"),
    ("GEMINI_CLI", "Gemini CLI"),
    ("OPENCODE", "opencode"),
    ("PI_CODING_AGENT", "pi"),
    ("QWEN_CODE", "Qwen Code"),
    ("CLINE_ACTIVE", "Cline"),
];

/// Whether an agent program sets this variable for the commands that it runs.
pub fn is_set_by_agent_program(name: &str) -> bool {
    AGENT_PROGRAMS.iter().any(|(known, _)| *known == name)
}

/// Whether an agent program runs this command.
pub fn is_run_by_agent(environment: Environment<'_>) -> bool {
    found(environment).next().is_some()
}

/// Returns the agent program that runs this command. Returns none if one agent program started another,
/// because their variables do not say which one is the inner one.
pub(super) fn agent_program(environment: Environment<'_>) -> Option<String> {
    let mut found = found(environment);
    let first = found.next()?;
    found.all(|other| other == first).then(|| first.to_owned())
}

fn found(environment: Environment<'_>) -> impl Iterator<Item = &'static str> {
    let set = |name: &str| environment(name).is_some_and(|value| !value.is_empty());
    AGENT_PROGRAMS.into_iter().filter(move |(name, _)| set(name)).map(|(_, program)| program)
}
