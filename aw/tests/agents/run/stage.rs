//! A project with a plan, and a user who is logged in to all four programs, whose model is the stand-in.

use std::fs;
use std::process::Child;

use serde_json::json;

use super::super::programs::{self, Program};
use super::stand_in::{Act, StandIn};
use crate::run::scene::{Played, Scene};
use crate::world;

/// The user, the project, and the model.
pub struct Stage {
    pub scene: Scene,
    pub model: StandIn,
}

impl Stage {
    /// Sets it up. None if these tests were left out.
    pub fn set() -> Option<Self> {
        if let Err(why) = programs::folder() {
            world::missing("agents", &why);
            return None;
        }
        let Scene { mut aw } = Scene::new();
        let model = StandIn::start(&aw.home().join("runs"));
        let url = &model.url;
        for (name, value) in [
            ("PATH", search_path().as_str()),
            ("ANTHROPIC_API_KEY", "none"),
            ("ANTHROPIC_BASE_URL", &format!("{url}/claude")),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("FAKE_KEY", "none"),
            ("GEMINI_API_KEY", "none"),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
            ("npm_config_offline", "true"),
            // Every request for another host comes to the model, too, and is refused.
            ("HTTP_PROXY", url),
            ("HTTPS_PROXY", url),
            ("http_proxy", url),
            ("https_proxy", url),
            ("NO_PROXY", "127.0.0.1"),
            ("no_proxy", "127.0.0.1"),
        ] {
            aw = aw.set(name, value);
        }
        let stage = Stage { scene: Scene { aw }, model };
        stage.log_in();
        Some(stage)
    }

    /// The settings of the programs, as their user has them at home.
    fn log_in(&self) {
        let url = &self.model.url;
        let codex = format!(
            "model_provider = \"fake\"\ncheck_for_update_on_startup = false\n\n[analytics]\nenabled = false\n\n\
             [model_providers.fake]\nname = \"fake\"\nbase_url = \"{url}/codex/v1\"\nenv_key = \"FAKE_KEY\"\n\
             wire_api = \"responses\"\n"
        );
        let gemini = json!({
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "privacy": {"usageStatisticsEnabled": false},
            "general": {"enableAutoUpdate": false},
        });
        let opencode = json!({"provider": {"fake": {
            "npm": "@ai-sdk/openai-compatible", "name": "fake",
            "options": {"baseURL": format!("{url}/opencode/v1"), "apiKey": "none"},
            "models": {"fake": {"name": "fake"}},
        }}});
        for (file, text) in [
            (".codex/config.toml", codex),
            (".gemini/settings.json", gemini.to_string()),
            (".gemini/.env", format!("GOOGLE_GEMINI_BASE_URL={url}/gemini\n")),
            (".config/opencode/opencode.json", opencode.to_string()),
        ] {
            let file = self.scene.aw.home().with_file_name(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
    }

    /// With this environment variable.
    pub fn with(self, name: &str, value: &str) -> Self {
        let Stage { scene: Scene { aw }, model } = self;
        Stage { scene: Scene { aw: aw.set(name, value) }, model }
    }

    /// With the folder of the project first in the PATH.
    pub fn with_path_of_the_project(self) -> Self {
        let path = format!(".:{}", search_path());
        self.with("PATH", &path)
    }

    /// `aw debate run` with these arguments.
    pub fn run(&self, arguments: &[&str]) -> Played {
        Played::of(self.scene.aw.quietly(&[&["debate", "run"], arguments].concat()))
    }

    /// The same, left running.
    pub fn spawn(&self, arguments: &[&str]) -> Child {
        self.scene.aw.spawn(&[], &[&["debate", "run"], arguments].concat())
    }

    /// The story of the model, to explain a failure.
    pub fn story(&self) -> String {
        let heard = self.model.heard();
        let steps = heard.last().map(|last| &last.talk.steps);
        format!("{:?}\nstrays {:?}\nlast steps {steps:#?}", self.model.calls(), self.model.strays())
    }
}

/// The folders of the programs, of their Node, and of the system.
fn search_path() -> String {
    let programs = programs::folder().expect("they were looked for");
    format!("{}:{}:/usr/bin:/bin", programs.display(), programs::node().display())
}

/// The agent of this program, with the stand-in for its model.
pub fn agent(program: Program) -> String {
    let model = if program == Program::Opencode { "fake/fake" } else { "fake" };
    format!("{}:{model}", program.name())
}

pub fn say(words: &str) -> Act {
    Act::Say(words.to_owned())
}

pub fn read(path: &str) -> Act {
    Act::Read(path.to_owned())
}

pub fn edit(path: &str, old: &'static str, new: &'static str) -> Act {
    Act::Edit { path: path.to_owned(), old, new }
}
