//! The call to make next, as the command line has `next_command`.

use aw_core::Role;
use serde::Serialize;
use serde_json::{Map, Value};

use super::inputs::{
    DebateAppeal, DebateRequestCompletion, DebateResult, DebateRuling, DebateSubmit, DebateWait,
    Flag, Seconds, Whole,
};
use super::tools::Tool;
use crate::api::advice::{Advice, Step};

/// The call to make next.
#[derive(Debug, Clone, Serialize)]
pub(super) struct NextCall {
    /// The tool.
    pub(super) tool: &'static str,
    /// Its arguments, ready to be passed on.
    pub(super) arguments: Map<String, Value>,
    /// Arguments that are missing because only you can write them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) you_write: Vec<String>,
}

/// Arguments of a wait that the next wait repeats or counts up.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct NextWait {
    pub(super) deadline: Option<Seconds>,
    /// The number of the next wait, so that no two calls in a row are equal: agent hosts stop an
    /// agent that repeats a call. None if this call was no wait.
    pub(super) attempt: Option<Whole>,
    /// Whether the move that is made next waits, too.
    pub(super) moves_wait: bool,
}

/// The role that calls, and the debate that it calls about.
#[derive(Debug, Clone, Copy)]
pub(super) struct ToolSeat<'a> {
    pub(super) debate: &'a str,
    pub(super) role: Role,
}

impl NextCall {
    /// A call of this tool with these arguments.
    pub(super) fn new(tool: Tool, arguments: &impl Serialize) -> Self {
        let mut arguments = match serde_json::to_value(arguments) {
            Ok(Value::Object(arguments)) => arguments,
            Ok(_) | Err(_) => Map::new(),
        };
        arguments.retain(|_, value| !value.is_null());
        NextCall { tool: tool.name(), arguments, you_write: Vec::new() }
    }

    /// With arguments that only the caller can write.
    pub(super) fn with_your(mut self, names: &[&str]) -> Self {
        for name in names {
            self.arguments.shift_remove(*name);
            self.you_write.push((*name).to_owned());
        }
        self
    }

    /// Without an argument.
    pub(super) fn without(mut self, name: &str) -> Self {
        self.arguments.shift_remove(name);
        self
    }

    /// The wait of this role for what comes after an argument.
    pub(super) fn wait(seat: ToolSeat<'_>, after: Option<&str>, next_wait: NextWait) -> Self {
        let wait = DebateWait {
            debate_id: seat.debate.to_owned(),
            role: Some(seat.role.as_str().to_owned()),
            argument_id: after.map(str::to_owned),
            deadline: next_wait.deadline,
            attempt: next_wait.attempt,
        };
        NextCall::new(Tool::DebateWait, &wait)
    }

    /// The call that takes this step.
    pub(super) fn of(step: Step, seat: ToolSeat<'_>, next_wait: NextWait) -> Self {
        let debate_id = seat.debate.to_owned();
        let wait = next_wait.moves_wait.then_some(Flag(true));
        let call = match step {
            Step::Wait(after) => {
                let after = after.map(|after| after.0.to_string());
                return NextCall::wait(seat, after.as_deref(), next_wait);
            }
            Step::Submit(target) => {
                let (role, target_id) = (Some(seat.role.as_str().to_owned()), target.0.to_string());
                let call = DebateSubmit { debate_id, role, target_id, wait, ..Default::default() };
                NextCall::new(Tool::DebateSubmit, &call)
            }
            Step::Appeal(target) => {
                let target_id = target.0.to_string();
                let call = DebateAppeal { debate_id, target_id, wait, ..Default::default() };
                NextCall::new(Tool::DebateAppeal, &call)
            }
            Step::RequestCompletion(target) => {
                let target_id = target.0.to_string();
                let call =
                    DebateRequestCompletion { debate_id, target_id, wait, ..Default::default() };
                NextCall::new(Tool::DebateRequestCompletion, &call)
            }
            Step::Rule(target) | Step::RuleAndClose(target) => {
                let close = matches!(step, Step::RuleAndClose(_)).then_some(Flag(true));
                let target_id = Some(target.0.to_string());
                let call = DebateRuling { debate_id, target_id, close, wait, ..Default::default() };
                NextCall::new(Tool::DebateRuling, &call)
            }
            Step::Result => return NextCall::new(Tool::DebateResult, &DebateResult { debate_id }),
        };
        call.with_your(&["content"])
    }

    /// The call as text.
    pub(super) fn words(&self) -> String {
        let arguments = Value::Object(self.arguments.clone());
        match self.you_write.as_slice() {
            [] => format!("{} {arguments}", self.tool),
            more => format!("{} {arguments} and your {}", self.tool, more.join(", ")),
        }
    }
}

/// The call to make now, and others that could be made instead.
#[derive(Debug, Clone, Default)]
pub(super) struct NextCalls {
    pub(super) next: Option<NextCall>,
    pub(super) others: Vec<NextCall>,
}

impl NextCalls {
    /// The calls that follow this advice.
    pub(super) fn of(advice: Advice, seat: ToolSeat<'_>, next_wait: NextWait) -> Self {
        let Advice { next, others } = advice;
        let call = |step| NextCall::of(step, seat, next_wait);
        NextCalls { next: next.map(call), others: others.into_iter().map(call).collect() }
    }

    /// The calls as text, a line each.
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
