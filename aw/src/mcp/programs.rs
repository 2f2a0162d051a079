//! The agent programs that are known by the name they give when they connect.

use rmcp::RoleServer;
use rmcp::service::RequestContext;

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

    /// What people call it.
    pub(super) fn title(self) -> &'static str {
        match self {
            Program::Claude => "Claude Code",
            Program::Codex => "Codex",
            Program::Gemini => "Gemini CLI",
            Program::Opencode => "opencode",
        }
    }
}
