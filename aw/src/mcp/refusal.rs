//! Why a tool did not do what it was asked, and what to do next: the API's own errors, with
//! suggestions for those who call tools.

use rmcp::ErrorData;
use rmcp::model::ErrorCode;
use serde_json::{Map, Value, json};

use super::next_call::NextCall;
use super::tools::Tool;

/// A failure, as it is told to whoever called a tool.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// `code`, `message`, `suggestion` and whatever else belongs to the code.
    error: Map<String, Value>,
}

impl Refusal {
    /// A failure of this code.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        let mut error = Map::new();
        error.insert("code".to_owned(), code.into());
        error.insert("message".to_owned(), message.into().into());
        Refusal { error }
    }

    /// Something is wrong with this argument.
    pub(super) fn input(field: &str, message: impl Into<String>) -> Self {
        Self::new("INVALID_INPUT", message).with("field", field)
    }

    /// Not for this role.
    pub(super) fn role(message: impl Into<String>) -> Self {
        Self::new("FORBIDDEN", message).with("reason", "role")
    }

    /// Our fault.
    pub(super) fn fault(what: &str) -> Self {
        tracing::error!(fault = what, "a tool failed");
        Self::new("SERVER_ERROR", "something failed inside aw")
            .suggest("Make the same call once more; it is never written twice")
    }

    /// What answered is not what this version knows.
    pub(super) fn stranger(why: &str) -> Self {
        let message =
            format!("the server's answer is not one that this version of aw knows: {why}");
        Self::new("CONNECTION_ERROR", message)
            .suggest("Ask your user to run aw server restart, which makes both the same version")
    }

    /// What the API said, with a suggestion for those who call tools where its own is a command.
    pub fn of(error: Value) -> Self {
        let Value::Object(error) = error else {
            return Self::new("SERVER_ERROR", "the server said no");
        };
        let refusal = Refusal { error };
        let newest = refusal.text("suggestion").and_then(|line| line.rsplit_once("--version "));
        let suggestion = match refusal.code() {
            "DEBATE_NOT_FOUND" => "See which there are: debate_list".to_owned(),
            "ARGUMENT_NOT_FOUND" => "Take the id from debate_get_context or debate_wait".to_owned(),
            "DOCUMENT_NOT_FOUND" => "See which there are: docs_list".to_owned(),
            "VERSION_NOT_FOUND" => match newest {
                Some((_, newest)) => format!("docs_get with version {newest}, or without version"),
                None => "docs_get without version".to_owned(),
            },
            "ACTION_NOT_ALLOWED"
                if refusal.error.get("current_state") != Some(&"CLOSED".into()) =>
            {
                "Wait for your move: debate_wait".to_owned()
            }
            "INVALID_INPUT" => match refusal.text("field") {
                Some("debate_id") => "See which there are: debate_list".to_owned(),
                Some("body") => "See the tool's inputSchema".to_owned(),
                _ => return refusal,
            },
            _ => return refusal,
        };
        refusal.suggest(suggestion)
    }

    /// With what to do next.
    pub fn suggest(self, suggestion: impl Into<String>) -> Self {
        self.with("suggestion", suggestion.into())
    }

    /// With this, unless it is there already.
    pub(super) fn with_id(self, name: &str, id: &str) -> Self {
        if self.error.contains_key(name) { self } else { self.with(name, id) }
    }

    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.error.insert(name.to_owned(), value.into());
        self
    }

    /// With a name of the API's as the tool calls it.
    pub(super) fn calling(mut self, theirs: &str, ours: &str) -> Self {
        if self.text("field") == Some(theirs) {
            let message = self.message().replace(&format!("`{theirs}`"), &format!("`{ours}`"));
            self = self.with("field", ours).with("message", message);
        }
        self
    }

    /// With the call that goes on from here, unless one is there already.
    pub(super) fn next(self, next: &NextCall) -> Self {
        if self.error.contains_key("next") { self } else { self.with("next", json!(next)) }
    }

    /// With the call that goes on from here where the code and the ids are enough to know it: the
    /// last good step of a call with these arguments.
    pub(super) fn onward(self, given: &Map<String, Value>) -> Self {
        let id = |name: &str| given.get(name).filter(|id| id.is_string());
        let next = match (self.code(), self.text("field")) {
            ("DEBATE_NOT_FOUND", _)
            | ("INVALID_INPUT", Some("debate_id" | "state" | "type" | "search")) => {
                NextCall::new(Tool::DebateList, json!({}))
            }
            ("ARGUMENT_NOT_FOUND", _)
            | ("INVALID_INPUT", Some("argument_id" | "target_id" | "role")) => {
                let Some(debate) = id("debate_id") else { return self };
                NextCall::new(Tool::DebateGetContext, json!({"debate_id": debate}))
            }
            ("DOCUMENT_NOT_FOUND", _) | ("INVALID_INPUT", Some("document_id")) => {
                NextCall::new(Tool::DocsList, json!({}))
            }
            ("VERSION_NOT_FOUND", _) | ("INVALID_INPUT", Some("version" | "from" | "to")) => {
                let Some(document) = id("document_id") else { return self };
                NextCall::new(Tool::DocsGet, json!({"document_id": document}))
            }
            _ => return self,
        };
        self.next(&next)
    }

    /// The field that is wrong.
    pub(super) fn field(&self) -> Option<&str> {
        self.text("field")
    }

    /// With the same call once more, for later.
    pub(super) fn retry(self, retry: &NextCall) -> Self {
        self.with("retry", json!(retry))
    }

    /// The error's code.
    pub fn code(&self) -> &str {
        self.text("code").unwrap_or_default()
    }

    /// Whether the server could not be reached, or has no time now.
    pub(super) fn is_passing(&self) -> bool {
        matches!(self.code(), "CONNECTION_ERROR" | "SERVER_BUSY")
    }

    /// What happened, for people.
    pub(super) fn message(&self) -> &str {
        self.text("message").unwrap_or_default()
    }

    /// The error object, whole.
    pub(super) fn object(&self) -> Value {
        Value::Object(self.error.clone())
    }

    /// The same in words of our own.
    pub(super) fn words(&self) -> String {
        let mut words = format!("{}: {}", self.code(), self.message());
        if let Some(suggestion) = self.text("suggestion") {
            words.push_str(&format!("\nWhat to do: {suggestion}"));
        }
        if let Some(next) = self.error.get("next") {
            let tool = next["tool"].as_str().unwrap_or_default();
            words.push_str(&format!("\nNext: {tool} {}", next["arguments"]));
            let yours =
                next["you_write"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let yours: Vec<&str> = yours.collect();
            if !yours.is_empty() {
                words.push_str(&format!(" and your {}", yours.join(", ")));
            }
        }
        words
    }

    /// The same where there is no tool to answer: as an error of the protocol.
    pub(super) fn protocol_error(&self) -> ErrorData {
        let code = match self.code() {
            "DEBATE_NOT_FOUND" | "DOCUMENT_NOT_FOUND" | "VERSION_NOT_FOUND" | "ROUTE_NOT_FOUND" => {
                ErrorCode::RESOURCE_NOT_FOUND
            }
            "INVALID_INPUT" | "FORBIDDEN" => ErrorCode::INVALID_PARAMS,
            _ => ErrorCode::INTERNAL_ERROR,
        };
        ErrorData::new(code, self.words(), Some(self.object()))
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.error.get(name)?.as_str()
    }
}
