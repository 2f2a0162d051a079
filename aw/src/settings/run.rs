//! The settings of `aw debate run`: the agents of each seat, and agents of the user's own.

use std::collections::BTreeMap;
use std::time::Duration;

use aw_core::PointRules;
use serde::Deserialize;

use super::BadSetting;

/// How long the folder of a finished run is kept.
const USUAL_KEEP_DAYS: u64 = 14;

/// `[run]`: the agents that a run takes when no flag names others.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunDefaults {
    /// The proposer's agent.
    pub proposer: Option<String>,
    /// The opponent's agent.
    pub opponent: Option<String>,
    /// The arbitrator: `me`, `none` or an agent.
    pub arbitrator: Option<String>,
    /// The rounds of a debate.
    pub rounds: Option<u64>,
}

/// `[agents.NAME]`
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AgentSettings {
    /// The program that it uses.
    pub r#use: Option<String>,
    /// A command of the user's own, with its arguments.
    pub command: Option<Vec<String>>,
    /// The model, where it uses a program.
    pub model: Option<String>,
    /// More arguments.
    pub args: Vec<String>,
    /// More variables of its environment.
    pub env: BTreeMap<String, String>,
    /// The family that it counts to.
    pub family: Option<String>,
}

/// The settings of runs.
#[derive(Debug, Clone, Default)]
pub struct RunSettings {
    /// `[run]`
    pub defaults: RunDefaults,
    /// `[agents]`, by name.
    pub agents: BTreeMap<String, AgentSettings>,
    /// How long the folder of a finished run is kept.
    pub keep: Duration,
}

/// Checks the settings of runs.
pub(super) fn load(
    defaults: Option<RunDefaults>,
    agents: Option<BTreeMap<String, AgentSettings>>,
    keep_days: Option<u64>,
) -> Result<RunSettings, BadSetting> {
    let agents = agents.unwrap_or_default();
    for (name, agent) in &agents {
        let wrong = |key: &str, why: &str| {
            let name = format!("agents.{name}{}{key}", if key.is_empty() { "" } else { "." });
            Err(BadSetting::Value { name, why: why.to_owned() })
        };
        match (&agent.r#use, &agent.command) {
            (None, None) => return wrong("", "it needs `use` or `command`"),
            (Some(_), Some(_)) => {
                return wrong("command", "an agent has `use` or `command`, not both");
            }
            (None, Some(_)) if agent.model.is_some() => {
                return wrong("model", "a command has no model: write it into the command");
            }
            (None, Some(command)) if command.first().is_none_or(String::is_empty) => {
                return wrong("command", "it names no program");
            }
            (Some(program), None)
                if !["claude", "codex", "gemini", "opencode"].contains(&&**program) =>
            {
                return wrong("use", "it must be claude, codex, gemini or opencode");
            }
            _ => {}
        }
    }
    let most = u64::from(PointRules::MOST_ROUNDS);
    let defaults = defaults.unwrap_or_default();
    if defaults.rounds.is_some_and(|rounds| !(1..=most).contains(&rounds)) {
        let why = format!("it must be a number from 1 to {most}");
        return Err(BadSetting::Value { name: "run.rounds".to_owned(), why });
    }
    let days = keep_days.unwrap_or(USUAL_KEEP_DAYS);
    let keep = Duration::from_secs(days.saturating_mul(24 * 60 * 60));
    Ok(RunSettings { defaults, agents, keep })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded(agent: AgentSettings) -> Result<RunSettings, String> {
        let agents = BTreeMap::from([("house".to_owned(), agent)]);
        load(None, Some(agents), None).map_err(|bad| bad.to_string())
    }

    #[test]
    fn a_run_has_1_to_20_rounds() {
        let loaded = |rounds| {
            let defaults = RunDefaults { rounds: Some(rounds), ..RunDefaults::default() };
            load(Some(defaults), None, None).map_err(|bad| bad.to_string())
        };
        assert!(loaded(1).is_ok() && loaded(20).is_ok());
        for rounds in [0, 21] {
            let said = loaded(rounds).unwrap_err();
            assert_eq!(said, "run.rounds: it must be a number from 1 to 20");
        }
    }

    #[test]
    fn an_agent_has_a_program_or_a_command_and_the_error_names_the_key() {
        let command = Some(vec!["my-reviewer".to_owned()]);
        let program = Some("claude".to_owned());
        let model = Some("opus".to_owned());
        let none = AgentSettings::default();
        assert!(loaded(AgentSettings { command: command.clone(), ..none.clone() }).is_ok());
        assert!(
            loaded(AgentSettings { r#use: program.clone(), model: model.clone(), ..none.clone() })
                .is_ok()
        );
        for (agent, key) in [
            (none.clone(), "agents.house:"),
            (
                AgentSettings { r#use: program, command: command.clone(), ..none.clone() },
                "agents.house.command:",
            ),
            (AgentSettings { command, model, ..none.clone() }, "agents.house.model:"),
            (AgentSettings { command: Some(Vec::new()), ..none.clone() }, "agents.house.command:"),
            (AgentSettings { r#use: Some("emacs".to_owned()), ..none }, "agents.house.use:"),
        ] {
            let said = loaded(agent).unwrap_err();
            assert!(said.starts_with(key), "{said}");
        }
    }
}
