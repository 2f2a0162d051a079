//! The programs that read the kit of the host `agents` in a project. Their model speaks Chat Completions.

use std::path::Path;

use serde_json::json;

use super::{Program, write};

impl Program {
    /// Writes its settings into this home.
    pub(super) fn settles(self, home: &Path, model: &str) {
        let (file, text) = match self {
            Program::Cline => {
                let settings = json!({
                    "provider": "openai-compatible", "apiKey": "none", "model": "fake",
                    "baseUrl": format!("{model}/v1"),
                });
                let provider = json!({
                    "settings": settings, "updatedAt": "2026-11-01T00:00:00.000Z",
                    "tokenSource": "manual",
                });
                let providers = json!({
                    "version": 1, "lastUsedProvider": "openai-compatible",
                    "providers": {"openai-compatible": provider},
                });
                (".cline/data/settings/providers.json", providers.to_string())
            }
            Program::Continue => {
                let model = json!({
                    "name": "fake", "provider": "openai", "model": "fake", "roles": ["chat"],
                    "apiBase": format!("{model}/v1"), "apiKey": "none", "capabilities": ["tool_use"],
                });
                let config = json!({
                    "name": "fake", "version": "1.0.0", "schema": "v1", "models": [model],
                });
                // JSON is YAML.
                (".continue/config.yaml", config.to_string())
            }
            Program::Droid => {
                let model = json!({
                    "model": "fake", "displayName": "fake", "baseUrl": format!("{model}/v1"),
                    "apiKey": "none", "provider": "generic-chat-completion-api",
                    "maxOutputTokens": 8000,
                });
                (".factory/settings.json", json!({"customModels": [model]}).to_string())
            }
            Program::Kimi => {
                let config = format!(
                    "default_model = 'fake'\ntelemetry = false\n\
                     [providers.fake]\ntype = 'openai'\nbase_url = '{model}/v1'\napi_key = 'none'\n\
                     [models.fake]\nprovider = 'fake'\nmodel = 'fake'\nmax_context_size = 200000\n"
                );
                (".kimi-code/config.toml", config)
            }
            _ => return,
        };
        write(&home.join(file), &text);
    }

    /// The arguments before the prompt.
    pub(super) fn flags(self, home: &Path) -> Vec<String> {
        let config = home.join(".continue/config.yaml");
        let line = match self {
            Program::Cline => "-P openai-compatible -m fake".to_owned(),
            Program::Continue => format!("--config {} --auto -p", config.display()),
            Program::Copilot => "--allow-all-tools -p".to_owned(),
            Program::Droid => "exec --auto high -m custom:fake-0".to_owned(),
            Program::Kimi => "-p".to_owned(),
            _ => panic!("{} has a kit of its own", self.name()),
        };
        line.split(' ').map(str::to_owned).collect()
    }

    /// Its environment.
    pub(super) fn variables(self, model: &str) -> Vec<(&'static str, String)> {
        let on = |name| (name, "1".to_owned());
        let none = |name| (name, "none".to_owned());
        match self {
            Program::Continue => vec![("CONTINUE_TELEMETRY_ENABLED", "0".to_owned())],
            Program::Copilot => vec![
                ("COPILOT_PROVIDER_BASE_URL", format!("{model}/v1")),
                ("COPILOT_MODEL", "fake".to_owned()),
                ("COPILOT_OFFLINE", "true".to_owned()),
                none("COPILOT_PROVIDER_API_KEY"),
            ],
            Program::Droid => vec![none("FACTORY_API_KEY")],
            Program::Kimi => vec![on("KIMI_CODE_NO_AUTO_UPDATE")],
            _ => vec![],
        }
    }
}
