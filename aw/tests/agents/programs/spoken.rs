//! The replies of a model in terms of the tools that each program offers.

use aw_core::Role;
use serde_json::json;

use super::super::dialect::Spoken;
use super::super::script::Reply;
use super::super::talk::Talk;
use super::Program;

impl Program {
    /// The reply in terms of the tools that the program offers.
    pub fn put(self, reply: &Reply, role: Role, talk: &Talk) -> Spoken {
        let skill = format!("debate-{role}");
        let (line, limit) = match reply {
            Reply::Say(words) => return Spoken::Text(words.clone()),
            Reply::Skill => {
                let path = listed(talk, &skill);
                let (tool, arguments) = match self {
                    Program::Claude => ("Skill", json!({"skill": skill})),
                    Program::Codex => ("exec_command", json!({"cmd": format!("cat '{path}'")})),
                    // Its tool for skills would fetch ripgrep from afar, to list what lies beside.
                    Program::Opencode => ("read", json!({"filePath": path})),
                    Program::Gemini => ("activate_skill", json!({"name": skill})),
                    // They look for skills elsewhere, and follow AGENTS.md.
                    Program::Qwen | Program::Continue => {
                        return self.shell(&format!("aw agent show {role}"));
                    }
                    Program::Pi => ("read", json!({"path": path})),
                    Program::Cline => ("skills", json!({"skill": skill})),
                    Program::Copilot => ("skill", json!({"skill": skill})),
                    Program::Droid | Program::Kimi => ("Skill", json!({"skill": skill})),
                };
                return Spoken::Call { tool: tool.to_owned(), arguments };
            }
            Reply::Call { tool, arguments, .. } => {
                // Each program puts the name of the server before it in its own way.
                let offered = talk.tools.iter().find(|name| name.ends_with(tool)).unwrap_or(tool);
                return Spoken::Call { tool: offered.clone(), arguments: arguments.clone() };
            }
            Reply::Run { line, limit, .. } => (line, *limit),
        };
        let mut spoken = self.shell(line);
        if let (Some(limit), Spoken::Call { arguments, .. }) = (limit, &mut spoken) {
            let (name, most) = match self {
                Program::Codex => ("yield_time_ms", limit.as_millis()),
                Program::Claude | Program::Opencode | Program::Qwen => {
                    ("timeout", limit.as_millis())
                }
                Program::Continue | Program::Droid | Program::Kimi | Program::Pi => {
                    ("timeout", u128::from(limit.as_secs()))
                }
                // A test kills what these shall cut off.
                Program::Cline | Program::Copilot | Program::Gemini => return spoken,
            };
            arguments[name] = json!(most);
        }
        spoken
    }

    /// The call that runs a line in the shell.
    fn shell(self, line: &str) -> Spoken {
        let (tool, arguments) = match self {
            Program::Claude => ("Bash", json!({"command": line, "description": "Debates"})),
            // 30 s are the most that it can ask for.
            Program::Codex => ("exec_command", json!({"cmd": line, "yield_time_ms": 30_000})),
            Program::Opencode | Program::Copilot => {
                ("bash", json!({"command": line, "description": "Debates"}))
            }
            Program::Pi => ("bash", json!({"command": line})),
            Program::Gemini => ("run_shell_command", json!({"command": line})),
            Program::Qwen => {
                ("run_shell_command", json!({"command": line, "is_background": false}))
            }
            Program::Cline => ("run_commands", json!({"commands": [line]})),
            Program::Continue | Program::Kimi => ("Bash", json!({"command": line})),
            Program::Droid => {
                let arguments = json!({
                    "command": line, "summary": "Debates with another agent",
                    "riskLevel": "low", "riskLevelReason": "It runs aw.",
                });
                ("Execute", arguments)
            }
        };
        Spoken::Call { tool: tool.to_owned(), arguments }
    }
}

/// The file of a skill, from the list that the program sent to its model.
fn listed(talk: &Talk, skill: &str) -> String {
    let file = format!("/{skill}/SKILL.md");
    let Some((before, _)) = talk.instructions.split_once(&file) else {
        return format!("no skill {skill} is listed");
    };
    let stops = |c: char| c.is_whitespace() || "<>`(\"".contains(c);
    let root = before.rsplit(stops).next().unwrap_or_default();
    // Codex gives each folder a short name, and a table of them.
    let meant = talk.instructions.split_once(&format!("`{root}` = `")).map(|(_, rest)| rest);
    let root = meant.and_then(|rest| rest.split('`').next()).unwrap_or(root);
    format!("{root}{file}")
}
