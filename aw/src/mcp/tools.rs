//! The tools: one for each move, named after the commands of `aw`, with the same policy.

use aw_core::Role;
use rmcp::model::{Tool as Listed, ToolAnnotations};

use super::results;
use crate::policy::{Command, Users};

/// A tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    DebateCreate,
    DebateGetContext,
    DebateSubmit,
    DebateWait,
    DebateAppeal,
    DebateRequestCompletion,
    DebatePoints,
    DebateResult,
    DebateList,
    DebateRuling,
    DebateIntervention,
    DocsCreate,
    DocsSubmit,
    DocsGet,
    DocsList,
    DocsDiff,
}

/// The tools that are listed and may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The tools of this role.
    Role(Role),
    /// Everything but the arbitrator's moves.
    Open,
    /// The tools that only read.
    Observer,
}

impl Scope {
    /// The role, if there is one.
    pub fn role(self) -> Option<Role> {
        match self {
            Scope::Role(role) => Some(role),
            Scope::Open | Scope::Observer => None,
        }
    }

    /// The tools that are offered.
    pub(super) fn tools(self) -> impl Iterator<Item = Tool> {
        Tool::ALL.into_iter().filter(move |tool| self.allows(*tool))
    }

    pub(super) fn allows(self, tool: Tool) -> bool {
        match (self, tool.command()) {
            (Scope::Role(role), command) => command.is_for(role),
            (Scope::Open, command) => match command.users() {
                Users::Everybody | Users::Debaters | Users::Proposer => true,
                Users::Arbitrator | Users::Person => false,
            },
            // A wait needs a role.
            (Scope::Observer, command) => {
                command.users() == Users::Everybody && tool != Tool::DebateWait
            }
        }
    }
}

impl Tool {
    pub(super) const ALL: [Tool; 16] = [
        Tool::DebateCreate,
        Tool::DebateGetContext,
        Tool::DebateSubmit,
        Tool::DebateWait,
        Tool::DebateAppeal,
        Tool::DebateRequestCompletion,
        Tool::DebatePoints,
        Tool::DebateResult,
        Tool::DebateList,
        Tool::DebateRuling,
        Tool::DebateIntervention,
        Tool::DocsCreate,
        Tool::DocsSubmit,
        Tool::DocsGet,
        Tool::DocsList,
        Tool::DocsDiff,
    ];

    pub(super) fn of(name: &str) -> Option<Tool> {
        Tool::ALL.into_iter().find(|tool| tool.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Tool::DebateCreate => "debate_create",
            Tool::DebateGetContext => "debate_get_context",
            Tool::DebateSubmit => "debate_submit",
            Tool::DebateWait => "debate_wait",
            Tool::DebateAppeal => "debate_appeal",
            Tool::DebateRequestCompletion => "debate_request_completion",
            Tool::DebatePoints => "debate_points",
            Tool::DebateResult => "debate_result",
            Tool::DebateList => "debate_list",
            Tool::DebateRuling => "debate_ruling",
            Tool::DebateIntervention => "debate_intervention",
            Tool::DocsCreate => "docs_create",
            Tool::DocsSubmit => "docs_submit",
            Tool::DocsGet => "docs_get",
            Tool::DocsList => "docs_list",
            Tool::DocsDiff => "docs_diff",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Tool::DebateCreate => "Open a debate",
            Tool::DebateGetContext => "Read a debate",
            Tool::DebateSubmit => "Submit a CLAIM",
            Tool::DebateWait => "Wait for your move",
            Tool::DebateAppeal => "Appeal to the arbitrator",
            Tool::DebateRequestCompletion => "Request completion",
            Tool::DebatePoints => "Read the points of a debate",
            Tool::DebateResult => "Read the report of a debate",
            Tool::DebateList => "List debates",
            Tool::DebateRuling => "Rule",
            Tool::DebateIntervention => "Intervene",
            Tool::DocsCreate => "Keep a new document",
            Tool::DocsSubmit => "Keep the next version of a document",
            Tool::DocsGet => "Read a document",
            Tool::DocsList => "List documents",
            Tool::DocsDiff => "Compare two versions of a document",
        }
    }

    fn description(self) -> &'static str {
        match self {
            Tool::DebateCreate => {
                "Open a debate with its MOTION (proposer). Tell your user the url and the id"
            }
            Tool::DebateGetContext => {
                "Read a debate. With role, `next` says how to join or resume it"
            }
            Tool::DebateSubmit => {
                "Answer the other side with a CLAIM. With points, each objection and answer is a \
                 heading (`ledger.how`):\n\
                 ### NEW [major] Retries can charge twice\n\
                 ### P2 [rejected] Refunds do not read these rows\n\
                 ### VERDICT [agree]"
            }
            Tool::DebateWait => {
                "Wait for your move. On `timeout` call `next`. Leave a debate only when `action` is \
                 debate_closed or patience_left_s is 0"
            }
            Tool::DebateAppeal => {
                "Put a dispute before the arbitrator (proposer): both positions and the options. \
                 Tell your user the url"
            }
            Tool::DebateRequestCompletion => {
                "Ask to complete the debate (proposer): a RESOLUTION with what was settled, the final \
                 documents and what is left open"
            }
            Tool::DebatePoints => "Read the points of a debate, those that block first",
            Tool::DebateResult => "Report how a debate ended, for your user",
            Tool::DebateList => "List debates, the newest first",
            Tool::DebateRuling => {
                "Settle what is pending (arbitrator). With points, decide each in a heading:\n\
                 ### NEW [major] Retries can charge twice\n\
                 ### P2 [upheld] Refunds are possible for 90 days\n\
                 ### P3 [dismissed] The policy is a plan of its own"
            }
            Tool::DebateIntervention => {
                "Stop both agents (arbitrator). A debate_ruling must follow"
            }
            Tool::DocsCreate => {
                "Keep a long text as a document. Cite it as doc_id=<document_id> (v1)"
            }
            Tool::DocsSubmit => "Keep the next version of a document, whole",
            Tool::DocsGet => "Read a document, by default its newest version",
            Tool::DocsList => "List documents, the newest first",
            Tool::DocsDiff => "Compare two versions of a document, by default the newest two",
        }
    }

    fn annotations(self) -> ToolAnnotations {
        let (read_only, idempotent) = match self {
            Tool::DebateGetContext
            | Tool::DebateWait
            | Tool::DebatePoints
            | Tool::DebateResult
            | Tool::DebateList
            | Tool::DocsGet
            | Tool::DocsList
            | Tool::DocsDiff => (true, true),
            // The server recognises the same words to the same target and writes them once.
            Tool::DebateSubmit | Tool::DebateAppeal | Tool::DebateRequestCompletion => {
                (false, true)
            }
            // A text that equals the newest version is not stored again.
            Tool::DocsSubmit => (false, true),
            // Without an id of the caller's own each call writes again.
            Tool::DebateCreate
            | Tool::DebateRuling
            | Tool::DebateIntervention
            | Tool::DocsCreate => (false, false),
        };
        // Calls only add to the record, and change nothing outside it.
        ToolAnnotations::with_title(self.title())
            .read_only(read_only)
            .destructive(false)
            .idempotent(idempotent)
            .open_world(false)
    }

    /// The command that this tool stands for.
    pub(super) fn command(self) -> Command {
        Command::ALL
            .iter()
            .copied()
            .find(|command| command.name().replace([' ', '-'], "_") == self.name())
            .expect("every tool stands for a command")
    }

    /// The tool as it is listed for a caller of this scope.
    pub(super) fn listed(self, scope: Scope) -> Listed {
        Listed::new(self.name(), self.description(), results::object(self.input(scope)))
            .with_title(self.title())
            .with_annotations(self.annotations())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_a_command_of_the_policy_by_its_own_name() {
        for tool in Tool::ALL {
            assert_eq!(tool.command().name().replace([' ', '-'], "_"), tool.name());
            assert_eq!(Tool::of(tool.name()), Some(tool));
        }
    }
}
