//! The call to make next: the tool's twin of the command line's `next_command`.

use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::tools::Tool;
use crate::api::advice::{Advice, Step};

/// A call that goes on from here.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(super) struct NextCall {
    /// The tool.
    pub(super) tool: &'static str,
    /// Its arguments, ready to be passed on.
    #[schema(value_type = Object)]
    pub(super) arguments: Map<String, Value>,
    /// Arguments that are missing because only you can write them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub(super) you_write: Vec<String>,
}

/// Arguments of a wait that the next wait repeats or counts up.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WaitHabits {
    pub(super) deadline: Option<f64>,
    /// The number of the wait that follows a wait, so that no two calls in a row are equal: agent
    /// hosts stop an agent that repeats a call. None after any other call.
    pub(super) attempt: Option<u64>,
}

impl NextCall {
    /// A call of this tool with these arguments.
    pub(super) fn new(tool: Tool, arguments: Value) -> Self {
        let mut arguments = match arguments {
            Value::Object(arguments) => arguments,
            _ => Map::new(),
        };
        arguments.retain(|_, value| !value.is_null());
        NextCall { tool: tool.name(), arguments, you_write: Vec::new() }
    }

    /// With arguments that only the caller can write.
    pub(super) fn with_your(mut self, names: &[&str]) -> Self {
        for name in names {
            self.arguments.remove(*name);
            self.you_write.push((*name).to_owned());
        }
        self
    }

    /// The wait of this role for what comes after an argument.
    pub(super) fn wait(debate: &str, role: &str, after: Option<&str>, habits: WaitHabits) -> Self {
        let deadline = habits.deadline.map(|seconds| match seconds.fract() == 0.0 {
            true => json!(seconds as u64),
            false => json!(seconds),
        });
        let arguments = json!({
            "debate_id": debate,
            "role": role,
            "argument_id": after,
            "deadline": deadline,
            "attempt": habits.attempt,
        });
        NextCall::new(Tool::DebateWait, arguments)
    }

    /// The call that takes this step.
    fn of(step: Step<'_>, debate: &str, role: &str, habits: WaitHabits) -> Self {
        let (tool, target, more) = match step {
            Step::Wait(after) => return NextCall::wait(debate, role, after, habits),
            Step::Submit(target) => (Tool::DebateSubmit, target, ("role", json!(role))),
            Step::Appeal(target) => (Tool::DebateAppeal, target, ("close", Value::Null)),
            Step::RequestCompletion(target) => {
                (Tool::DebateRequestCompletion, target, ("close", Value::Null))
            }
            Step::Rule(target) => (Tool::DebateRuling, target, ("close", Value::Null)),
            Step::RuleAndClose(target) => (Tool::DebateRuling, target, ("close", json!(true))),
        };
        let (name, value) = more;
        let arguments = json!({"debate_id": debate, name: value, "target_id": target});
        NextCall::new(tool, arguments).with_your(&["content"])
    }

    /// In words of our own.
    pub(super) fn words(&self) -> String {
        let arguments = Value::Object(self.arguments.clone());
        match self.you_write.as_slice() {
            [] => format!("{} {arguments}", self.tool),
            more => format!("{} {arguments} and your {}", self.tool, more.join(", ")),
        }
    }
}

/// What a role should call now, and what else it could.
#[derive(Debug, Clone, Default)]
pub(super) struct NextCalls {
    pub(super) next: Option<NextCall>,
    pub(super) others: Vec<NextCall>,
}

impl NextCalls {
    /// What follows from the server's answer to a wait of this role.
    pub(super) fn after(news: &Value, debate: &str, role: &str, habits: WaitHabits) -> Self {
        let Advice { next, others } = Advice::after(news);
        let call = |step| NextCall::of(step, debate, role, habits);
        NextCalls { next: next.map(call), others: others.into_iter().map(call).collect() }
    }

    /// In words of our own, a line each.
    pub(super) fn words(&self) -> String {
        let mut words = match &self.next {
            Some(next) => format!("Next: {}", next.words()),
            None => "Next: nothing; tell your user how it ended.".to_owned(),
        };
        for other in &self.others {
            words.push_str(&format!("\nOr: {}", other.words()));
        }
        words
    }
}
