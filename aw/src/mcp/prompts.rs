//! The prompts: the guide of a role, as `aw agent show` prints it, with a note about the tools before
//! it.

use aw_core::Role;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage,
    Role as Speaker,
};
use serde_json::Value;

use super::Toolbox;
use super::refusal::ToolRefusal;
use super::tools::Scope;
use crate::api::client::type_of;
use crate::api::types::TypeOfDebate;
use crate::kit::rules::Rules;
use crate::kit::texts::{BuiltIn, Language, Voice, skill_name};

const ROLES: [Role; 3] = [Role::Proposer, Role::Opponent, Role::Arbitrator];

impl Scope {
    /// The roles that a caller of this scope can play.
    pub(super) fn roles(self) -> Vec<Role> {
        match self {
            Scope::Role(role) => vec![role],
            Scope::Open => ROLES.to_vec(),
            Scope::Observer => Vec::new(),
        }
    }
}

/// The prompts for a caller of this scope.
pub(super) fn listed(scope: Scope) -> Vec<Prompt> {
    let voice = Voice { language: Language::English, debate_language: "" };
    let listed = |role: Role| {
        let argument = |name: &str, what: &str| {
            PromptArgument::new(name).with_description(what).with_required(false)
        };
        let arguments = vec![
            argument("debate_id", "The debate to join or resume; its own rules are included"),
            argument("type", "The type of debate whose rules are included: coding_plan_debate, …"),
            argument("lang", "The language of the text: en or vi"),
        ];
        Prompt::new(skill_name(role), Some(voice.description(role)), Some(arguments))
            .with_title(format!("Be the {role} in a debate"))
    };
    scope.roles().into_iter().map(listed).collect()
}

impl Toolbox {
    pub(super) async fn prompt(
        &self,
        asked: GetPromptRequestParams,
    ) -> Result<GetPromptResult, ToolRefusal> {
        let roles = self.scope.roles();
        let role = ROLES.into_iter().find(|role| skill_name(*role) == asked.name);
        let Some(role) = role else {
            let known: Vec<String> = roles.into_iter().map(skill_name).collect();
            let message =
                format!("there is no prompt {:?}; there are {}", asked.name, known.join(", "));
            return Err(ToolRefusal::input("name", message));
        };
        if !roles.contains(&role) {
            let message =
                format!("{} is not for these tools, which are another role's", asked.name);
            return Err(ToolRefusal::role(message));
        }
        let given = asked.arguments.unwrap_or_default();
        let language = match word(&given, "lang")? {
            None => Language::default(),
            Some(text) => text
                .parse()
                .map_err(|why| ToolRefusal::input("lang", format!("`lang` is {text:?}: {why}")))?,
        };
        let voice = Voice { language, debate_language: &self.defaults.debate_language };
        let debate = word(&given, "debate_id")?;
        let rules = match (debate, word(&given, "type")?) {
            (Some(debate), _) => {
                self.rules_of_debate(debate, role, language).await?.shown(language)
            }
            (None, Some(kind)) => self.defaults.rules(kind, role, language)?.shown(language),
            (None, None) => voice.built_in_rules(role),
        };
        let guide = voice.guide(role, &rules);
        let text = format!("{}\n\n{guide}", opening(language, role, self.scope, debate));
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Speaker::User, text)])
            .with_description(voice.description(role)))
    }

    /// The rules that came with a debate, or those of its type.
    pub(super) async fn rules_of_debate(
        &self,
        debate: &str,
        role: Role,
        language: Language,
    ) -> Result<Rules, ToolRefusal> {
        let named = |refusal: ToolRefusal| refusal.with_id("debate_id", debate);
        let TypeOfDebate { debate_type: name, type_texts, .. } =
            self.transport.send(&type_of(debate)).await.map_err(named)?;
        match type_texts {
            Some(texts) => Ok(Rules::of_creator(&name, role, texts.of(role))),
            // Without texts of its own it was opened with the built-in ones.
            None => match BuiltIn::named(&name) {
                Some(known) => Ok(Rules::built_in(known, role, language)),
                None => self.defaults.rules(&name, role, language),
            },
        }
    }
}

/// A text that may be left out.
fn word<'a>(given: &'a JsonObject, name: &str) -> Result<Option<&'a str>, ToolRefusal> {
    match given.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
        Some(_) => Err(ToolRefusal::input(name, format!("`{name}` must be a text"))),
    }
}

/// The opening before the text, which speaks of commands: it says how to find them among the tools.
fn opening(language: Language, role: Role, scope: Scope, debate: Option<&str>) -> String {
    let tools = scope.tools().filter(|tool| tool.command().is_for(role));
    let tools: Vec<String> = tools.map(|tool| format!("`{}`", tool.name())).collect();
    let tools = tools.join(", ");
    let mut text = match language {
        Language::English => format!(
            "You have these tools, so use them instead of the shell, as \"Tools instead of commands\" \
             below says: {tools}."
        ),
        Language::Vietnamese => format!(
            "Bạn có các tool sau, nên hãy dùng chúng thay cho shell, như mục \"Tools instead of commands\" \
             bên dưới hướng dẫn: {tools}."
        ),
    };
    if let Some(debate) = debate {
        text.push_str(&match language {
            Language::English => format!("\n\nThe debate to join or resume: {debate}"),
            Language::Vietnamese => format!("\n\nDebate cần join hoặc resume: {debate}"),
        });
    }
    text
}
