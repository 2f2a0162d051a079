//! `aw agent show`: prints the command and the rules of a role in one text.

use aw_core::{DebateType, Role};
use serde_json::json;

use super::super::human;
use super::super::output::{Answer, CliError, Format, Shown};
use super::super::refs;
use super::super::session::{self, Session};
use super::shelves;
use crate::api::client::type_of;
use crate::api::types::TypeOfDebate;
use crate::kit::rules::Rules;
use crate::kit::texts::{BuiltIn, Language, Voice};
use crate::kit::types::Shelves;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Show {
    /// proposer, opponent or arbitrator
    role: Role,
    /// Print the rules of this type too
    #[arg(
        long = "type",
        visible_alias = "debate-type",
        value_name = "TYPE",
        conflicts_with = "debate_id"
    )]
    debate_type: Option<String>,
    /// Print the rules of this debate too
    #[arg(long, value_name = "DEBATE")]
    debate_id: Option<String>,
    /// Print the rules only
    #[arg(long)]
    rules: bool,
    /// en or vi
    #[arg(long, value_name = "LANG", default_value = "en")]
    lang: Language,
    /// markdown (default), or json, with the text in a field
    #[arg(
        long,
        value_enum,
        hide_possible_values = true,
        default_value = "markdown",
        hide_default_value = true
    )]
    format: Format,
    /// Log each step on stderr
    #[arg(long)]
    verbose: bool,
}

impl Show {
    /// The format of its answer, or of its failure where it prints the text itself.
    pub(super) fn format_of_answer(&self) -> Format {
        match self.format {
            Format::Json => Format::Json,
            Format::Markdown => Format::usual(),
        }
    }

    pub(super) fn run(self) -> Result<Shown, CliError> {
        let settings = session::settings()?;
        let voice = Voice { language: self.lang, debate_language: &settings.debate_language };
        let shelves = shelves(&settings)?;
        let found = match (&self.debate_id, &self.debate_type) {
            (Some(debate), _) => {
                let debate = refs::debate(debate, self.verbose)?;
                Some(self.of_debate(&debate, &shelves)?)
            }
            (None, Some(name)) => Some((name.clone(), self.of_type(name, &shelves)?)),
            (None, None) => None,
        };
        let rules = match &found {
            Some((_, rules)) => rules.shown(self.lang),
            // The command says how to read those of one type, which is all that a debate needs.
            None if !self.rules => String::new(),
            None => voice.built_in_rules(self.role),
        };
        let text = if self.rules {
            format!("{}\n", rules.trim_end())
        } else {
            voice.guide(self.role, &rules)
        };
        Ok(match self.format {
            Format::Markdown => Shown::Raw(text.into_bytes()),
            Format::Json => {
                let data = json!({
                    "role": self.role.as_str(),
                    "lang": self.lang.as_str(),
                    "debate_type": found.as_ref().map(|(name, _)| name),
                    "rules_origin": found.as_ref().map_or("built_in", |(_, rules)| rules.origin()),
                    "replaces_built_in":
                        found.as_ref().is_some_and(|(_, rules)| rules.replace_built_in()),
                    "text": text,
                });
                Shown::Answer(Answer::new(data, human::fields).message("Read `text` and follow it"))
            }
        })
    }

    /// The type of a debate and its rules: those that its creator sent, else those of the type.
    fn of_debate(&self, debate: &str, shelves: &Shelves) -> Result<(String, Rules), CliError> {
        let named = |problem: CliError| problem.with("debate_id", debate);
        let session = Session::open(self.verbose).map_err(named)?;
        let TypeOfDebate { debate_type: name, type_texts, .. } =
            session.call(&type_of(debate)).map_err(named)?.data;
        let rules = match (type_texts, BuiltIn::named(&name)) {
            (Some(texts), _) => Rules::of_creator(&name, self.role, texts.of(self.role)),
            // A debate without texts was created with the built-in ones.
            (None, Some(known)) => Rules::built_in(known, self.role, self.lang),
            (None, None) => self.of_type(&name, shelves).map_err(named)?,
        };
        Ok((name, rules))
    }

    fn of_type(&self, name: &str, shelves: &Shelves) -> Result<Rules, CliError> {
        Ok(Rules::of_type(&find_type(name, shelves, self.lang)?, self.role))
    }
}

/// Finds a type by name. The error says where its files belong.
pub(in crate::cli) fn find_type(
    name: &str,
    shelves: &Shelves,
    language: Language,
) -> Result<crate::kit::types::Type, CliError> {
    if let Err(bad) = DebateType::parse(name.to_owned()) {
        return Err(CliError::input(format!("--type {bad}, and {name:?} does not"))
            .suggest("aw debate types --format markdown"));
    }
    match shelves.find(name, language) {
        Ok(Some(found)) => Ok(found),
        Ok(None) => {
            let known: Vec<String> = shelves.all(language).into_keys().collect();
            Err(CliError::input(format!(
                "there is no debate type {name:?}; known are {}",
                known.join(", ")
            ))
            .suggest(format!(
                "To add it, write type.toml, proposer.md, opponent.md and arbitrator.md in {} (for you: {})",
                shelves.project.join(name).display(),
                shelves.user.join(name).display()
            )))
        }
        Err(bad) => {
            Err(CliError::input(bad.to_string()).suggest("aw debate types --format markdown"))
        }
    }
}
