//! What a role does next: one advice for those who type commands and for those who call tools.

use serde_json::Value;

/// A move that is open to a role, with what it refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// Wait for what comes after this argument.
    Wait(Option<&'a str>),
    /// Answer this argument with a CLAIM.
    Submit(&'a str),
    /// Put the dispute over this argument before the arbitrator.
    Appeal(&'a str),
    /// Ask to complete the debate after this argument.
    RequestCompletion(&'a str),
    /// Rule on this argument.
    Rule(&'a str),
    /// Rule on this argument and close the debate.
    RuleAndClose(&'a str),
}

/// What a role should do now, and what else it could.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice<'a> {
    /// Nothing once the debate is closed.
    pub next: Option<Step<'a>>,
    /// The other moves that are open.
    pub others: Vec<Step<'a>>,
}

impl<'a> Advice<'a> {
    /// What follows from the server's answer to a wait, as this role was given it.
    pub fn after(news: &'a Value) -> Self {
        // A RULING answers what is pending, which need not be the newest argument.
        let pending = news["pending_argument_id"].as_str().filter(|_| news["action"] == "rule");
        let target = pending.or(news["argument"]["id"].as_str()).unwrap_or_default();
        match news["action"].as_str().unwrap_or_default() {
            "respond" | "align_to_ruling" => {
                let open = news["available_actions"].as_array();
                let allows =
                    |name: &str| open.is_some_and(|open| open.iter().any(|word| word == name));
                let mut others = Vec::new();
                if allows("SUBMIT_APPEAL") {
                    others.push(Step::Appeal(target));
                }
                if allows("SUBMIT_RESOLUTION") {
                    others.push(Step::RequestCompletion(target));
                }
                Advice { next: Some(Step::Submit(target)), others }
            }
            "rule" => {
                let others = vec![Step::RuleAndClose(target)];
                Advice { next: Some(Step::Rule(target)), others }
            }
            "debate_closed" => Advice { next: None, others: Vec::new() },
            _ => {
                let after = news["next_argument_id_to_wait"].as_str();
                Advice { next: Some(Step::Wait(after)), others: Vec::new() }
            }
        }
    }
}

/// Who is awaited in this state of a debate; nobody has said when it is unknown.
pub fn awaited(state: Option<&str>) -> &'static str {
    match state {
        Some("AWAITING_OPPONENT") => "the opponent",
        Some("AWAITING_PROPOSER") => "the proposer",
        Some(_) => "the arbitrator",
        None => "the server",
    }
}
