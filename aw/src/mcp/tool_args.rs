//! What a tool was given, each argument read once and refused in words that name it.

use std::str::FromStr;

use aw_core::Role;
use rmcp::model::JsonObject;
use serde_json::{Map, Value};

use super::next_call::NextCall;
use super::refusal::Refusal;
use super::tools::{Scope, Tool};
use crate::policy;

/// The arguments of a call.
#[derive(Debug)]
pub(super) struct Arguments {
    tool: Tool,
    given: JsonObject,
}

impl Arguments {
    /// These, unless one of them is no argument of this tool.
    pub(super) fn of(tool: Tool, given: Option<JsonObject>) -> Result<Self, Refusal> {
        let mut given = given.unwrap_or_default();
        given.retain(|_, value| !value.is_null());
        let known = tool.arguments();
        match given.keys().find(|name| !known.contains(name)) {
            Some(stray) => {
                let message = format!("{} has no argument {stray:?}", tool.name());
                Err(Refusal::input(stray, message)
                    .suggest(format!("Its arguments are {}", known.join(", "))))
            }
            None => Ok(Arguments { tool, given }),
        }
    }

    /// A refusal of this call with the call that goes on from here.
    pub(super) fn lead_on(&self, refusal: Refusal) -> Refusal {
        let written = ["content", "title", "type", "summary", "role"];
        let wrong = refusal.field().filter(|field| written.contains(field));
        match wrong {
            Some(field) if refusal.code() == "INVALID_INPUT" && self.tool != Tool::DebateList => {
                // The same call. A text that may be long is not repeated.
                let mut yours = vec![field];
                if field != "content" && self.given.contains_key("content") {
                    yours.push("content");
                }
                let given = Value::Object(self.given.clone());
                let next = NextCall::new(self.tool, given).with_your(&yours);
                refusal.next(&next)
            }
            _ => refusal.onward(&self.given),
        }
    }

    /// A text that must be there.
    pub(super) fn text(&self, name: &str) -> Result<&str, Refusal> {
        self.optional(name)?.ok_or_else(|| {
            Refusal::input(name, format!("`{name}` is missing"))
                .suggest(format!("Call {} again with {name}", self.tool.name()))
        })
    }

    /// A text that may be left out; an empty one counts as left out.
    pub(super) fn optional(&self, name: &str) -> Result<Option<&str>, Refusal> {
        match self.given.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
            Some(other) => Err(wrong(name, "a text", other)),
        }
    }

    /// Yes or no; no when it is left out.
    pub(super) fn flag(&self, name: &str) -> Result<bool, Refusal> {
        match self.given.get(name) {
            None => Ok(false),
            Some(Value::Bool(yes)) => Ok(*yes),
            // Some models write every value as a text.
            Some(Value::String(text)) if text == "true" => Ok(true),
            Some(Value::String(text)) if text == "false" => Ok(false),
            Some(other) => Err(wrong(name, "true or false", other)),
        }
    }

    /// A number that may be left out.
    pub(super) fn number<T: FromStr>(&self, name: &str, what: &str) -> Result<Option<T>, Refusal> {
        let written = match self.given.get(name) {
            None => return Ok(None),
            Some(Value::Number(number)) => number.to_string(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => return Err(wrong(name, what, other)),
        };
        // A whole number is often written as 20.0.
        let whole = written.strip_suffix(".0").unwrap_or(&written);
        whole.parse().map(Some).map_err(|_| wrong(name, what, &self.given[name]))
    }

    /// A whole number that may be left out.
    pub(super) fn whole(&self, name: &str) -> Result<Option<u64>, Refusal> {
        self.number(name, "a whole number, 0 or more")
    }

    /// An object that may be left out.
    pub(super) fn object(&self, name: &str) -> Result<Option<&Map<String, Value>>, Refusal> {
        match self.given.get(name) {
            None => Ok(None),
            Some(Value::Object(object)) => Ok(Some(object)),
            Some(other) => Err(wrong(name, "an object", other)),
        }
    }

    /// The role in which somebody of this scope calls, if any was said.
    pub(super) fn role(&self, scope: Scope) -> Result<Option<Role>, Refusal> {
        let given = match self.optional("role")? {
            None => return Ok(scope.role()),
            Some(text) => text.parse::<Role>().map_err(|_| {
                let message =
                    format!("`role` must be proposer, opponent or arbitrator, not {text:?}");
                Refusal::input("role", message)
            })?,
        };
        let Some(own) = scope.role() else { return Ok(Some(given)) };
        match policy::check(own, self.tool.command().name(), Some(given)) {
            Ok(()) => Ok(Some(given)),
            Err(denied) => Err(Refusal::role(format!("{} {denied}", self.tool.name()))
                .suggest("Leave `role` out, or ask your user to set aw up for that role")),
        }
    }

    /// The role, where there must be one.
    pub(super) fn own_role(&self, scope: Scope) -> Result<Role, Refusal> {
        self.role(scope)?.ok_or_else(|| {
            Refusal::input("role", "`role` is missing: proposer, opponent or arbitrator")
                .suggest(format!("Call {} again with your role", self.tool.name()))
        })
    }
}

fn wrong(name: &str, wanted: &str, given: &Value) -> Refusal {
    let shown: String = given.to_string().chars().take(80).collect();
    Refusal::input(name, format!("`{name}` must be {wanted}, not {shown}"))
        .suggest("See the tool's inputSchema")
}
