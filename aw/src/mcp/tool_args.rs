//! Parses the arguments of a call into the struct of its tool, or returns a refusal that names the
//! wrong argument.

use aw_core::Role;
use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde_json::Value;
use uuid::Uuid;

use super::next_call::NextCall;
use super::refusal::ToolRefusal;
use super::tools::{Scope, Tool};
use crate::api::error::Code;
use crate::policy;

/// The arguments of a call, as they were given.
#[derive(Debug)]
pub(super) struct Arguments {
    tool: Tool,
    given: JsonObject,
}

impl Arguments {
    /// The arguments, unless this tool does not have one of them. Nulls and empty texts count as
    /// absent.
    pub(super) fn of(tool: Tool, given: Option<JsonObject>) -> Result<Self, ToolRefusal> {
        let mut given = given.unwrap_or_default();
        given.retain(|_, value| !value.is_null() && value != "");
        let known = tool.arguments();
        match given.keys().find(|name| !known.contains(name)) {
            Some(stray) => {
                let message = format!("{} has no argument {stray:?}", tool.name());
                Err(ToolRefusal::input(stray, message)
                    .suggest(format!("Its arguments are {}", known.join(", "))))
            }
            None => Ok(Arguments { tool, given }),
        }
    }

    /// An argument that is a text.
    pub(super) fn text(&self, field: &str) -> Option<&str> {
        self.given.get(field)?.as_str()
    }

    /// An argument that is a name and not a whole id. The caller chooses the id of a new debate.
    pub(super) fn name(&self, field: &str) -> Option<&str> {
        let text = self.text(field).filter(|_| self.tool != Tool::DebateCreate);
        text.filter(|text| Uuid::try_parse(text).is_err())
    }

    /// Puts an id in place of a name.
    pub(super) fn put(&mut self, field: &str, id: String) {
        self.given.insert(field.to_owned(), id.into());
    }

    /// The struct of the tool.
    pub(super) fn parse<T: DeserializeOwned>(&self) -> Result<T, ToolRefusal> {
        let given = Value::Object(self.given.clone());
        serde_path_to_error::deserialize(given).map_err(|error| {
            let why = error.inner().to_string();
            let missing =
                why.strip_prefix("missing field `").and_then(|rest| rest.split('`').next());
            if let Some(name) = missing {
                return ToolRefusal::input(name, format!("`{name}` is missing"))
                    .suggest(format!("Call {} again with {name}", self.tool.name()));
            }
            let name = error.path().to_string();
            let wanted = match why.as_str() {
                text if text.ends_with("expected a string") => "a text",
                object if object.ends_with("expected a map") => "an object",
                wanted => wanted,
            };
            wrong(&name, wanted, self.given.get(&name).unwrap_or(&Value::Null))
        })
    }

    /// The same call without `dry_run`. A text that may be long is not repeated.
    pub(super) fn for_real(&self) -> NextCall {
        NextCall::new(self.tool, &self.given).with_your(&["content"]).without("dry_run")
    }

    /// The same call without the id of a debate. A text that may be long is not repeated.
    pub(super) fn without_id(&self) -> NextCall {
        NextCall::new(self.tool, &self.given).with_your(&["content"]).without("debate_id")
    }

    /// Adds the next call to a refusal of this call.
    pub(super) fn lead_on(&self, refusal: ToolRefusal) -> ToolRefusal {
        let written = ["content", "title", "type", "summary", "role"];
        let wrong = refusal.field().filter(|field| written.contains(field));
        match wrong {
            Some(field)
                if *refusal.code() == Code::InvalidInput && self.tool != Tool::DebateList =>
            {
                // The same call. A text that may be long is not repeated.
                let mut yours = vec![field];
                if field != "content" && self.given.contains_key("content") {
                    yours.push("content");
                }
                let next = NextCall::new(self.tool, &self.given).with_your(&yours);
                refusal.next(&next)
            }
            _ => refusal.onward(&self.given),
        }
    }

    /// The role in which a caller of this scope calls, if the call names one.
    pub(super) fn role(&self, scope: Scope) -> Result<Option<Role>, ToolRefusal> {
        let text = match self.given.get("role") {
            None => return Ok(scope.role()),
            Some(Value::String(text)) => text,
            Some(other) => return Err(wrong("role", "a text", other)),
        };
        let given = text.parse::<Role>().map_err(|_| {
            let message = format!("`role` must be {}, not {text:?}", self.roles());
            ToolRefusal::input("role", message)
        })?;
        let Some(own) = scope.role() else { return Ok(Some(given)) };
        match policy::check(own, self.tool.command().name(), Some(given)) {
            Ok(()) => Ok(Some(given)),
            Err(denied) => Err(ToolRefusal::role(format!("{} {denied}", self.tool.name()))
                .suggest("Leave `role` out, or ask your user to set aw up for that role")),
        }
    }

    /// The roles of this tool.
    fn roles(&self) -> &'static str {
        match self.tool {
            Tool::DebateSubmit => "proposer or opponent",
            _ => "proposer, opponent or arbitrator",
        }
    }

    /// The role, which must be known.
    pub(super) fn own_role(&self, scope: Scope) -> Result<Role, ToolRefusal> {
        self.role(scope)?.ok_or_else(|| {
            ToolRefusal::input("role", format!("`role` is missing: {}", self.roles()))
                .suggest(format!("Call {} again with your role", self.tool.name()))
        })
    }
}

fn wrong(name: &str, wanted: &str, given: &Value) -> ToolRefusal {
    let shown: String = given.to_string().chars().take(80).collect();
    ToolRefusal::input(name, format!("`{name}` must be {wanted}, not {shown}"))
        .suggest("See the tool's inputSchema")
}
