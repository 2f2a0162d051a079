//! `aw agent show`: the command and the rules of a role in one text.

use aw_core::{DebateType, Role};
use serde_json::{Value, json};

use super::super::answer::{Answer, Format, Problem, Shown};
use super::super::page;
use super::super::session::{self, Session};
use super::shelves;
use crate::client::{Call, encoded};
use crate::kit::texts::{BuiltIn, Language, Voice};
use crate::kit::types::Shelves;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Show {
    /// proposer, opponent or arbitrator
    role: Role,
    /// With the rules of this type; without it those of the built-in types
    #[arg(
        long = "type",
        visible_alias = "debate-type",
        value_name = "TYPE",
        conflicts_with = "debate_id"
    )]
    debate_type: Option<String>,
    /// With the rules that this debate goes by
    #[arg(long, value_name = "UUID")]
    debate_id: Option<String>,
    /// Only the rules
    #[arg(long)]
    rules: bool,
    /// en or vi
    #[arg(long, value_name = "LANG", default_value = "en")]
    lang: Language,
    /// markdown (default), or json, which wraps it
    #[arg(
        long,
        value_enum,
        hide_possible_values = true,
        default_value = "markdown",
        hide_default_value = true
    )]
    format: Format,
    /// Say on stderr what is being done
    #[arg(long)]
    verbose: bool,
}

impl Show {
    pub(super) fn run(self) -> Result<Shown, Problem> {
        let settings = session::settings()?;
        let voice = Voice { language: self.lang, debate_language: &settings.debate_language };
        let shelves = shelves(&settings)?;
        let (debate_type, rules) = match (&self.debate_id, &self.debate_type) {
            (Some(debate), _) => {
                let (name, rules) = self.of_debate(debate, &shelves, voice)?;
                (Some(name), rules)
            }
            (None, Some(name)) => (Some(name.clone()), self.of_type(name, &shelves)?),
            (None, None) => (None, voice.built_in_rules(self.role)),
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
                    "debate_type": debate_type,
                    "text": text,
                });
                Shown::Answer(Answer::new(data, page::fields).message("Read `text` and go by it"))
            }
        })
    }

    /// The rules that came with the debate, or those of its type.
    fn of_debate(
        &self,
        debate: &str,
        shelves: &Shelves,
        voice: Voice<'_>,
    ) -> Result<(String, String), Problem> {
        let named = |problem: Problem| problem.with("debate_id", debate);
        let session = Session::open(self.verbose).map_err(named)?;
        let path = format!("/debates/{}/type", encoded(debate));
        let kind = session.call(Call::Get(&path)).map_err(named)?;
        let name = kind["debate_type"].as_str().unwrap_or_default().to_owned();
        let rules = match &kind["type_texts"] {
            // Without texts of its own it was opened with the built-in ones.
            Value::Null => match BuiltIn::ALL.into_iter().find(|known| known.name() == name) {
                Some(known) => known.rules(self.lang).get(self.role).to_owned(),
                None => self.of_type(&name, shelves).map_err(named)?,
            },
            texts => voice.kept_rules(texts[self.role.as_str()].as_str().unwrap_or_default()),
        };
        Ok((name, rules))
    }

    fn of_type(&self, name: &str, shelves: &Shelves) -> Result<String, Problem> {
        let found = find_type(name, shelves, self.lang)?;
        Ok(found.rules_of(self.role).to_owned())
    }
}

/// The type of this name, or where it would have to be.
pub(in crate::cli) fn find_type(
    name: &str,
    shelves: &Shelves,
    language: Language,
) -> Result<crate::kit::types::Type, Problem> {
    if let Err(bad) = DebateType::parse(name.to_owned()) {
        return Err(Problem::input(format!("--type {bad}, and {name:?} does not"))
            .suggest("aw debate types --format markdown"));
    }
    match shelves.find(name, language) {
        Ok(Some(found)) => Ok(found),
        Ok(None) => {
            let known: Vec<String> = shelves.all(language).into_keys().collect();
            Err(Problem::input(format!(
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
            Err(Problem::input(bad.to_string()).suggest("aw debate types --format markdown"))
        }
    }
}
