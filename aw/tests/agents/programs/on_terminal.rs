//! The programs on a terminal.

use std::process::Command;

use serde_json::json;

use super::{Program, folder, node, write};
use crate::loops::machine::Machine;

impl Program {
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
            _ => panic!("{} is not started on a terminal here", self.name()),
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
}
