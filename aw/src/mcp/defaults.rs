//! Settings that the tools use: language, patience, author, types of debate.

use std::time::Duration;

use aw_core::Role;

use super::refusal::ToolRefusal;
use crate::api::types::{Project, TypeTexts};
use crate::kit::rules::Rules;
use crate::kit::texts::{BuiltIn, Language};
use crate::kit::types::{Shelves, Type};
use crate::settings::USUAL_PATIENCE;

/// The settings of the server, or of the user of `aw mcp`.
#[derive(Debug, Clone)]
pub struct Defaults {
    /// The language that agents debate in, by its name.
    pub debate_language: String,
    /// How long an agent should go on waiting.
    pub patience: Duration,
    /// A label on what is written.
    pub author: Option<String>,
    /// Which types of debate there are.
    pub types: TypeSource,
    /// The repository in which debates are opened.
    pub project: Option<Project>,
}

/// Which types of debate are known.
#[derive(Debug, Clone)]
pub enum TypeSource {
    /// The built-in ones; there may be others elsewhere.
    BuiltIn,
    /// Those of a user too; there may be others, in projects.
    OfUser(Shelves),
    /// Those of a project too, which is all there are for it.
    OfProject(Shelves),
}

impl Default for Defaults {
    fn default() -> Self {
        Defaults {
            debate_language: "English".to_owned(),
            patience: USUAL_PATIENCE,
            author: None,
            types: TypeSource::BuiltIn,
            project: None,
        }
    }
}

impl Defaults {
    /// The texts that go with a debate of this type, unless it is built in.
    pub(super) fn type_texts(&self, name: &str) -> Result<Option<TypeTexts>, ToolRefusal> {
        let kind = match (self.find(name, Language::English)?, &self.types) {
            (Some(kind), _) => kind,
            (None, TypeSource::OfProject(_)) => return Err(self.unknown(name)),
            // It is for the API to say what cannot be the name of one.
            (None, TypeSource::BuiltIn | TypeSource::OfUser(_)) => return Ok(None),
        };
        Ok(kind.texts().as_ref().map(TypeTexts::from))
    }

    /// The rules of a role in debates of this type, as far as the type is known here.
    pub(super) fn rules(
        &self,
        name: &str,
        role: Role,
        language: Language,
    ) -> Result<Rules, ToolRefusal> {
        if let Some(kind) = self.find(name, language)? {
            return Ok(Rules::of_type(&kind, role));
        }
        match BuiltIn::named(name) {
            Some(known) => Ok(Rules::built_in(known, role, language)),
            None => Err(self.unknown(name)),
        }
    }

    fn find(&self, name: &str, language: Language) -> Result<Option<Type>, ToolRefusal> {
        match &self.types {
            TypeSource::BuiltIn => Ok(None),
            TypeSource::OfUser(shelves) | TypeSource::OfProject(shelves) => shelves
                .find(name, language)
                .map_err(|unusable| ToolRefusal::input("type", unusable.to_string())),
        }
    }

    fn unknown(&self, name: &str) -> ToolRefusal {
        let known = match &self.types {
            TypeSource::BuiltIn => BuiltIn::ALL.map(BuiltIn::name).join(", "),
            TypeSource::OfUser(shelves) | TypeSource::OfProject(shelves) => {
                let known: Vec<String> = shelves.all(Language::English).into_keys().collect();
                known.join(", ")
            }
        };
        let message = format!("the debate type {name:?} is not known here; known are {known}");
        ToolRefusal::input("type", message).suggest(
            "Use one of those, or ask your user to add it; for rules that came with a debate, give its id",
        )
    }
}
