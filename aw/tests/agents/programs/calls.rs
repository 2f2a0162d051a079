//! How the programs reach the tools of `aw`, and how long they let a call take.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Program, write};
use crate::loops::machine::Machine;

impl Program {
    /// Makes it call the tools at this address, instead of those of the kit.
    pub fn call_over_http(self, machine: &Machine, url: &str) {
        assert_eq!(self, Program::Opencode, "nobody else is asked to");
        let path = machine.path("home/.config/opencode/opencode.json");
        let mut config: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        config["mcp"]["aw"] = json!({"type": "remote", "url": url});
        write(&path, &config.to_string());
    }

    /// Makes it give up on each call of a tool after this time.
    pub fn limit_calls(self, machine: &Machine, limit: Duration) {
        let most = limit.as_millis();
        let (file, list) = match self {
            Program::Claude => {
                let path = machine.path("home/.claude/settings.json");
                let mut settings: Value =
                    serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
                settings["env"]["MCP_TOOL_TIMEOUT"] = json!(most.to_string());
                write(&path, &settings.to_string());
                return;
            }
            Program::Codex => {
                let path = machine.path("home/.codex/config.toml");
                let config = fs::read_to_string(&path).unwrap();
                let usual = "tool_timeout_sec = 300";
                assert!(config.contains(usual), "{config}");
                let own = format!("tool_timeout_sec = {}", limit.as_secs());
                write(&path, &config.replace(usual, &own));
                return;
            }
            Program::Gemini => (".gemini/settings.json", "mcpServers"),
            Program::Opencode => (".config/opencode/opencode.json", "mcp"),
            _ => panic!("{} debates by its shell here", self.name()),
        };
        let path = machine.path("home").join(file);
        let mut config: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        config[list]["aw"]["timeout"] = json!(most);
        write(&path, &config.to_string());
    }
}
