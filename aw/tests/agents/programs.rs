//! The agent programs: where they are, and how each is started.
//!
//! [`spoken`] has the names of their tools, [`calls`] the settings of the tools of `aw`, [`others`] the programs of the
//! kit's host `agents`.
//!
//! Each gets an empty home, dummy keys and a model on loopback. Updates, plugins and telemetry are turned off;
//! other requests go to a proxy that records and refuses them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::loops::machine::{Going, Machine};

mod calls;
mod on_terminal;
mod others;
mod spoken;

/// An agent program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    Claude,
    Codex,
    Gemini,
    Opencode,
    Pi,
    Qwen,
    Cline,
    Continue,
    Copilot,
    Droid,
    Kimi,
}

/// All of them.
pub const ALL: [Program; 11] = [
    Program::Claude,
    Program::Codex,
    Program::Gemini,
    Program::Opencode,
    Program::Pi,
    Program::Qwen,
    Program::Cline,
    Program::Continue,
    Program::Copilot,
    Program::Droid,
    Program::Kimi,
];

/// The folder of the programs, or why there is none.
pub fn folder() -> Result<PathBuf, String> {
    let given = std::env::var_os("AW_AGENT_PROGRAMS").map(PathBuf::from);
    let folder = given.clone().unwrap_or(target().join("agents/node_modules/.bin"));
    for program in asked_for() {
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

/// The programs that the stories are asked for, with `AW_STORIES`; else those of the other tests.
pub fn asked_for() -> Vec<Program> {
    let Ok(asked) = std::env::var("AW_STORIES") else {
        return ALL.into_iter().filter(|program| !program.is_other()).collect();
    };
    let names: Vec<&str> = asked.split_whitespace().collect();
    for name in &names {
        assert!(ALL.iter().any(|program| program.name() == *name), "AW_STORIES: no {name} here");
    }
    let is_asked = |program: &Program| names.is_empty() || names.contains(&program.name());
    ALL.into_iter().filter(is_asked).collect()
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
            Program::Cline => "cline",
            Program::Continue => "cn",
            Program::Copilot => "copilot",
            Program::Droid => "droid",
            Program::Kimi => "kimi",
        }
    }

    /// Its name for people, and its package.
    fn published(self) -> (&'static str, &'static str) {
        match self {
            Program::Claude => ("Claude Code", "@anthropic-ai/claude-code"),
            Program::Codex => ("Codex", "@openai/codex"),
            Program::Gemini => ("Gemini CLI", "@google/gemini-cli"),
            Program::Opencode => ("opencode", "opencode-ai"),
            Program::Pi => ("pi", "@mariozechner/pi-coding-agent"),
            Program::Qwen => ("Qwen Code", "@qwen-code/qwen-code"),
            Program::Cline => ("Cline", "cline"),
            Program::Continue => ("Continue", "@continuedev/cli"),
            Program::Copilot => ("Copilot CLI", "@github/copilot"),
            Program::Droid => ("Droid", "droid"),
            Program::Kimi => ("Kimi Code", "@moonshot-ai/kimi-code"),
        }
    }

    /// Its name for people.
    pub fn title(self) -> &'static str {
        self.published().0
    }

    /// Its package.
    pub fn package(self) -> &'static str {
        self.published().1
    }

    /// The version that was fetched.
    pub fn version(self) -> String {
        let bin = folder().expect("it was looked for");
        let package = bin.parent().expect("node_modules").join(self.package());
        let about = fs::read(package.join("package.json")).unwrap();
        let about: Value = serde_json::from_slice(&about).unwrap();
        about["version"].as_str().expect("a version").to_owned()
    }

    /// Whether it is fetched for the stories alone.
    fn is_other(self) -> bool {
        use Program::{Cline, Continue, Copilot, Droid, Kimi};
        matches!(self, Cline | Continue | Copilot | Droid | Kimi)
    }

    /// Whether the kit has tools for it.
    pub fn has_tools(self) -> bool {
        self.runs()
    }

    /// Whether `aw debate run` can start it.
    pub fn runs(self) -> bool {
        matches!(self, Program::Claude | Program::Codex | Program::Gemini | Program::Opencode)
    }

    /// The shortest time after which it can be made to cut a command off; none if it lets every command finish.
    pub fn cuts_off_after(self) -> Option<Duration> {
        match self {
            Program::Gemini | Program::Cline | Program::Copilot => None,
            // As long as it takes when nobody asks for more.
            Program::Codex => Some(Duration::from_secs(10)),
            _ => Some(Duration::from_secs(2)),
        }
    }

    /// Sets up its home, without the kit.
    pub fn move_in(self, machine: &Machine, model: &str) {
        let home = machine.path("home");
        match self {
            Program::Claude => {}
            Program::Codex => login_shell_finds_aw(machine),
            Program::Continue => {
                login_shell_finds_aw(machine);
                self.settles(&home, model);
            }
            Program::Cline | Program::Copilot | Program::Droid | Program::Kimi => {
                self.settles(&home, model);
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
            _ => ["agents", "--project"],
        };
        if self == Program::Claude && flags.contains(&"--tools") {
            // Else it shows its model no tool before the model has searched for it.
            let settings = json!({"env": {"ENABLE_TOOL_SEARCH": "false"}});
            write(&machine.path("home/.claude/settings.json"), &settings.to_string());
        }
        let mut install = machine.command(&[&["agent", "install"], &kit[..], flags].concat());
        // The seats share a data folder. A manifest there would take the homes for one user's.
        install.env("AWEAVE_HOME", machine.data());
        Going::start(install).end().answer();
    }

    /// The folder of its skills.
    pub fn skills(self, machine: &Machine) -> PathBuf {
        match self {
            Program::Claude => machine.path("home/.claude/skills"),
            Program::Codex | Program::Gemini | Program::Opencode => {
                machine.path("home/.agents/skills")
            }
            _ => machine.path("work/.agents/skills"),
        }
    }

    /// The command that starts the program with this prompt.
    pub fn command(self, machine: &Machine, model: &str, words: &str) -> Command {
        let program = folder().expect("it was looked for").join(self.name());
        let mut command = machine.program(program.to_str().expect("a plain path"));
        self.surround(&mut command, machine, model);
        match self {
            Program::Claude => {
                command.args(["--allowedTools", "Bash,Skill,mcp__aw", "-p"]);
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
            _ => {
                command.args(self.flags(&machine.path("home")));
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
            _ => {
                command.envs(self.variables(model));
            }
        }
    }
}

/// Puts `aw` where a login shell finds it: into its user's profile.
fn login_shell_finds_aw(machine: &Machine) {
    let path = format!("export PATH='{}':\"$PATH\"\n", machine.path("bin").display());
    write(&machine.path("home/.profile"), &path);
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).unwrap();
    fs::write(path, text).unwrap();
}
