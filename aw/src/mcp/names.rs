//! Resolves names: a slug, the beginning of an id, `@last`, `#5`, the title of a document.
//!
//! The server knows what they mean, as for the command line. A call with whole ids needs no request
//! for this.

use super::Toolbox;
use super::refusal::ToolRefusal;
use super::tool_args::Arguments;
use crate::api::client::{self, Names};
use crate::api::error::Code;

/// The arguments that name an argument of a debate.
const TARGETS: [&str; 2] = ["target_id", "argument_id"];

impl Toolbox {
    /// Replaces the names in a call by whole ids.
    pub(super) async fn find_ids(&self, given: &mut Arguments) -> Result<(), ToolRefusal> {
        let target = TARGETS.into_iter().find(|field| given.name(field).is_some());
        let document = given.name("document_id");
        if given.name("debate_id").is_none() && target.is_none() && document.is_none() {
            return Ok(());
        }
        let names = Names {
            // An argument has a number only within its debate.
            debate: given.name("debate_id").or_else(|| given.text("debate_id")),
            argument: target.and_then(|field| given.name(field)),
            document,
            project: self.defaults.project.as_ref().map(|project| project.id.as_str()),
            ..Names::default()
        };
        if names.argument.is_some() && names.debate.is_none() {
            // The tool reports that its debate is missing.
            return Ok(());
        }
        let found = match self.transport.send(&client::resolve(names)).await {
            Ok(found) => found,
            // An older server knows whole ids only, and refuses the name itself.
            Err(refusal) if *refusal.code() == Code::RouteNotFound => return Ok(()),
            Err(refusal) => {
                let refusal = refusal.calling("argument_id", target.unwrap_or("argument_id"));
                return Err(refusal);
            }
        };
        if let Some(debate) = found.debate {
            given.put("debate_id", debate.debate_id.0.to_string());
        }
        if let Some((field, argument)) = target.zip(found.argument) {
            given.put(field, argument.argument_id.0.to_string());
        }
        if let Some(document) = found.document {
            given.put("document_id", document.document_id.0.to_string());
        }
        Ok(())
    }
}
