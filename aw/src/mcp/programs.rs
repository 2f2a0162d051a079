//! The agent programs that are known by the name they give when they connect.

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use serde_json::Value;

/// An agent program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Program {
    Claude,
    Codex,
    Gemini,
    Opencode,
}

impl Program {
    /// The program that makes this call, if it is a known one.
    pub(super) fn of(call: &RequestContext<RoleServer>) -> Option<Self> {
        Self::named(&call.client_info()?.name)
    }

    fn named(name: &str) -> Option<Self> {
        match name {
            "claude-code" => Some(Program::Claude),
            "codex-mcp-client" => Some(Program::Codex),
            "opencode" => Some(Program::Opencode),
            // It adds the name of the server in some versions.
            name if name.starts_with("gemini-cli-mcp-client") => Some(Program::Gemini),
            _ => None,
        }
    }

    /// Its name for people.
    pub(super) fn title(self) -> &'static str {
        match self {
            Program::Claude => "Claude Code",
            Program::Codex => "Codex",
            Program::Gemini => "Gemini CLI",
            Program::Opencode => "opencode",
        }
    }
}

/// The thread of Codex in which a call was made, if its agent can be woken there. `codex exec` ends with its turn.
pub(super) fn thread_of(call: &RequestContext<RoleServer>) -> Option<String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let turn = call.meta.get("x-codex-turn-metadata");
    let ends = turn.is_some_and(|turn| turn["turn_trigger"] == "exec");
    let is_codex = Program::of(call) == Some(Program::Codex);
    call.meta.get("threadId").and_then(text).filter(|_| is_codex && !ends)
}
