//! The agent programs: where they are, how each is started, and what its tools are called.
//!
//! Each gets an empty home, dummy keys and a model on loopback. Updates, plugins and telemetry are turned off;
//! other requests go to a proxy that records and refuses them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use aw_core::Role;
use serde_json::{Value, json};

use super::dialect::Spoken;
use super::script::Reply;
use super::talk::Talk;
use crate::loops::machine::{Going, Machine};

/// An agent program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    Claude,
    Codex,
    Gemini,
    Opencode,
    Pi,
    Qwen,
}

const ALL: [Program; 6] = [
    Program::Claude,
    Program::Codex,
    Program::Gemini,
    Program::Opencode,
    Program::Pi,
    Program::Qwen,
];

/// The folder of the programs, or why there is none.
pub fn folder() -> Result<PathBuf, String> {
    let given = std::env::var_os("AW_AGENT_PROGRAMS").map(PathBuf::from);
    let folder = given.clone().unwrap_or(target().join("agents/node_modules/.bin"));
    for program in ALL {
        if !folder.join(program.name()).exists() {
            let missing = format!("{} has no {}", folder.display(), program.name());
            assert!(given.is_none(), "AW_AGENT_PROGRAMS: {missing}");
            return Err(format!("{missing}; scripts/agents fetches it"));
        }
    }
    if !node().join("node").exists() {
        return Err("they need Node 22 or newer; scripts/mcp-clients fetches one".to_owned());
    }
    Ok(folder)
}

/// The folder of the Node that runs the programs.
pub fn node() -> PathBuf {
    target().join("mcp-clients/bin")
}

fn target() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_aw")).ancestors().nth(2).expect("target/debug/aw")
}

impl Program {
    pub fn name(self) -> &'static str {
        match self {
            Program::Claude => "claude",
            Program::Codex => "codex",
            Program::Gemini => "gemini",
            Program::Opencode => "opencode",
            Program::Pi => "pi",
            Program::Qwen => "qwen",
        }
    }

    /// Sets up its home, without the kit.
    pub fn move_in(self, machine: &Machine, model: &str) {
        let home = machine.path("home");
        match self {
            Program::Claude => {}
            Program::Codex => {
                // It runs a login shell, which finds `aw` where its user's profile says.
                let path = format!("export PATH='{}':\"$PATH\"\n", machine.path("bin").display());
                write(&home.join(".profile"), &path);
            }
            Program::Gemini => {
                let settings = json!({
                    "security": {"auth": {"selectedType": "gemini-api-key"}},
                    "privacy": {"usageStatisticsEnabled": false},
                    "general": {"enableAutoUpdate": false},
                });
                write(&home.join(".gemini/settings.json"), &settings.to_string());
            }
            Program::Qwen => {
                let settings = json!({
                    "security": {"auth": {"selectedType": "openai"}},
                    "privacy": {"usageStatisticsEnabled": false},
                    "general": {"enableAutoUpdate": false},
                });
                write(&home.join(".qwen/settings.json"), &settings.to_string());
            }
            Program::Opencode => {
                let provider = json!({
                    "npm": "@ai-sdk/openai-compatible", "name": "fake",
                    "options": {"baseURL": format!("{model}/v1"), "apiKey": "none"},
                    "models": {"fake": {"name": "fake"}},
                });
                let config =
                    json!({"permission": {"bash": "allow"}, "provider": {"fake": provider}});
                write(&home.join(".config/opencode/opencode.json"), &config.to_string());
            }
            Program::Pi => {
                let provider = json!({
                    "baseUrl": format!("{model}/v1"), "api": "openai-completions", "apiKey": "none",
                    "models": [{"id": "fake"}],
                });
                let models = json!({"providers": {"fake": provider}});
                write(&home.join(".pi/agent/models.json"), &models.to_string());
            }
        }
    }

    /// Installs the kit, with these flags.
    pub fn install_kit(self, machine: &Machine, flags: &[&str]) {
        // pi and Qwen Code are no hosts of their own, but they read what a project has for the others.
        let kit = match self {
            Program::Claude => ["claude", "--user"],
            Program::Codex => ["codex", "--user"],
            Program::Gemini => ["gemini", "--user"],
            Program::Opencode => ["opencode", "--user"],
            Program::Pi | Program::Qwen => ["codex", "--project"],
        };
        let mut install = machine.command(&[&["agent", "install"], &kit[..], flags].concat());
        // The seats share a data folder. A manifest there would take the homes for one user's.
        install.env("AWEAVE_HOME", machine.data());
        Going::start(install).end().answer();
    }

    /// Makes it call the tools at this address, instead of those of the kit.
    pub fn call_over_http(self, machine: &Machine, url: &str) {
        assert_eq!(self, Program::Opencode, "nobody else is asked to");
        let path = machine.path("home/.config/opencode/opencode.json");
        let mut config: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        config["mcp"]["aw"] = json!({"type": "remote", "url": url});
        write(&path, &config.to_string());
    }

    /// The folder of its skills.
    pub fn skills(self, machine: &Machine) -> PathBuf {
        match self {
            Program::Claude => machine.path("home/.claude/skills"),
            Program::Codex | Program::Gemini | Program::Opencode => {
                machine.path("home/.agents/skills")
            }
            Program::Pi | Program::Qwen => machine.path("work/.agents/skills"),
        }
    }

    /// Sets its home up for interactive use, before the kit: its user has answered all first questions.
    pub fn settle_in(self, machine: &Machine, model: &str) {
        let (home, work) = (machine.path("home"), machine.path("work"));
        match self {
            Program::Claude => {
                let project = json!({
                    "hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true,
                });
                let state = json!({
                    "hasCompletedOnboarding": true, "theme": "dark",
                    "customApiKeyResponses": {"approved": ["none"], "rejected": []},
                    "projects": {work.to_str().expect("a plain path"): project},
                });
                write(&home.join(".claude.json"), &state.to_string());
            }
            Program::Codex => {
                let config = format!(
                    "model = 'fake'\nmodel_provider = 'fake'\ncheck_for_update_on_startup = false\n\
                     analytics.enabled = false\nfeatures.plugins = false\n\
                     [model_providers.fake]\nname = 'fake'\nbase_url = '{model}/v1'\nenv_key = 'FAKE_KEY'\n\
                     wire_api = 'responses'\n[projects.'{}']\ntrust_level = 'trusted'\n",
                    work.display()
                );
                write(&home.join(".codex/config.toml"), &config);
            }
            Program::Gemini | Program::Opencode | Program::Pi | Program::Qwen => {
                panic!("{} is not started on a terminal here", self.name())
            }
        }
    }

    /// The command that starts the program on a terminal with this prompt.
    pub fn on_terminal(self, machine: &Machine, model: &str, words: &str) -> Command {
        let program = folder().expect("it was looked for").join(self.name());
        let flags = match self {
            Program::Claude => "--permission-mode default --allowedTools Bash,Skill",
            Program::Codex => "--dangerously-bypass-approvals-and-sandbox",
            _ => panic!("{} is not started on a terminal here", self.name()),
        };
        // A prompt after --allowedTools would be one of the tools.
        let line = format!(
            "stty rows 50 cols 150; exec '{}' '{words}' {flags}",
            program.to_str().expect("a plain path")
        );
        let mut command = machine.program("script");
        self.surround(&mut command, machine, model);
        // Its own tools look for it, too.
        let path = format!(
            "{}:{}",
            machine.path("bin").display(),
            folder().expect("it was looked for").display()
        );
        let rest = format!("{}:{}", node().display(), std::env::var("PATH").unwrap_or_default());
        command.env("PATH", format!("{path}:{rest}"));
        command.env("TERM", "xterm-256color").args(["-qefc", &line, "/dev/null"]);
        command
    }

    /// The command that starts the program with this prompt.
    pub fn command(self, machine: &Machine, model: &str, words: &str) -> Command {
        let program = folder().expect("it was looked for").join(self.name());
        let mut command = machine.program(program.to_str().expect("a plain path"));
        self.surround(&mut command, machine, model);
        match self {
            Program::Claude => {
                command.args(["--allowedTools", "Bash,Skill", "-p"]);
            }
            Program::Codex => {
                let provider = format!(
                    "model_providers.fake={{name='fake',base_url='{model}/v1',env_key='FAKE_KEY',wire_api='responses'}}"
                );
                command
                    .args(["exec", "--skip-git-repo-check", "-m", "fake", "-c", &provider])
                    .arg("--dangerously-bypass-approvals-and-sandbox")
                    .args(["-c", "model_provider='fake'", "-c", "analytics.enabled=false"])
                    .args(["-c", "check_for_update_on_startup=false", "--disable", "plugins"])
                    // As much of a command's output as its own models are shown.
                    .args(["-c", "tool_output_token_limit=10000"]);
            }
            Program::Opencode => {
                command.args(["run", "-m", "fake/fake"]);
            }
            Program::Gemini => {
                command.args(["--yolo", "-m", "fake", "-p"]);
            }
            Program::Qwen => {
                command.args(["--auth-type", "openai", "--yolo", "-m", "fake", "-p"]);
            }
            Program::Pi => {
                command.args("-p --provider fake --model fake".split(' '));
            }
        }
        command.arg(words);
        command
    }

    /// Puts what the program needs into the environment of a command: its PATH, its model, no network.
    fn surround(self, command: &mut Command, machine: &Machine, model: &str) {
        let own = machine.path("bin");
        let usual = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{}:{usual}", own.display(), node().display()));
        let nowhere = model.split('/').take(3).collect::<Vec<_>>().join("/");
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"] {
            command.env(name, &nowhere);
        }
        command.env("NO_PROXY", "127.0.0.1").env("no_proxy", "127.0.0.1");
        match self {
            Program::Claude => {
                command
                    .env("ANTHROPIC_BASE_URL", model)
                    .env("ANTHROPIC_API_KEY", "none")
                    .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
            }
            Program::Codex => {
                command.env("FAKE_KEY", "none");
            }
            Program::Opencode => {
                command
                    .env("OPENCODE_DISABLE_AUTOUPDATE", "1")
                    .env("OPENCODE_DISABLE_MODELS_FETCH", "1")
                    .env("npm_config_offline", "true");
            }
            Program::Gemini => {
                command
                    .env("GEMINI_API_KEY", "none")
                    .env("GOOGLE_GEMINI_BASE_URL", model)
                    .env("GEMINI_CLI_TRUST_WORKSPACE", "true");
            }
            Program::Qwen => {
                command.env("OPENAI_API_KEY", "none").env("OPENAI_BASE_URL", format!("{model}/v1"));
            }
            Program::Pi => {
                command.env("PI_OFFLINE", "1");
            }
        }
    }

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
                    Program::Qwen => {
                        let line = format!("aw agent show {role}");
                        ("run_shell_command", json!({"command": line, "is_background": false}))
                    }
                    Program::Pi => ("read", json!({"path": path})),
                };
                return Spoken::Call { tool: tool.to_owned(), arguments };
            }
            Reply::Call { tool, arguments, .. } => {
                let tool = match self {
                    Program::Claude => format!("mcp__aw__{tool}"),
                    Program::Codex => format!("mcp__aw.{tool}"),
                    Program::Opencode => format!("aw_{tool}"),
                    Program::Gemini | Program::Pi | Program::Qwen => {
                        panic!("{} debates by its shell here", self.name())
                    }
                };
                return Spoken::Call { tool, arguments: arguments.clone() };
            }
            Reply::Run { line, limit, .. } => (line, *limit),
        };
        let (tool, mut arguments) = match self {
            Program::Claude => ("Bash", json!({"command": line, "description": "Debates"})),
            // 30 s are the most that it can ask for.
            Program::Codex => ("exec_command", json!({"cmd": line, "yield_time_ms": 30_000})),
            Program::Opencode => ("bash", json!({"command": line, "description": "Debates"})),
            Program::Pi => ("bash", json!({"command": line})),
            Program::Gemini => ("run_shell_command", json!({"command": line})),
            Program::Qwen => {
                ("run_shell_command", json!({"command": line, "is_background": false}))
            }
        };
        if let Some(limit) = limit {
            let (name, most) = match self {
                Program::Codex => ("yield_time_ms", limit.as_millis()),
                Program::Claude | Program::Opencode | Program::Qwen => {
                    ("timeout", limit.as_millis())
                }
                Program::Gemini => panic!("Gemini CLI takes no limit: it lets a command finish"),
                Program::Pi => ("timeout", u128::from(limit.as_secs())),
            };
            arguments[name] = json!(most);
        }
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

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).unwrap();
    fs::write(path, text).unwrap();
}
