//! What is said over a WebSocket.

use serde::{Deserialize, Serialize};

use super::{Argument, Debate, DebateIdText, Error, SubmitIntervention, SubmitRuling};

/// What the server tells a socket.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "event", content = "data", rename_all = "snake_case")]
pub enum Told {
    /// The first message: where the debate stands.
    InitialState {
        /// The debate.
        debate: Debate,
        /// All arguments, or those after the one that was named.
        arguments: Vec<Argument>,
    },
    /// One more argument.
    NewArgument {
        /// The debate as it is now.
        debate: Debate,
        /// The argument.
        argument: Argument,
    },
    /// The debate was deleted; the socket closes.
    DebateDeleted {
        /// The debate.
        debate_id: DebateIdText,
    },
    /// What the client sent was refused.
    Error {
        /// Why.
        error: Box<Error>,
    },
}

/// What a socket asks of the server.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "event", content = "data", rename_all = "snake_case")]
pub enum Asked {
    /// Stop the agents.
    SubmitIntervention {
        /// The debate.
        debate_id: String,
        /// The rest of it.
        #[serde(flatten)]
        intervention: SubmitIntervention,
    },
    /// Settle what is pending.
    SubmitRuling {
        /// The debate.
        debate_id: String,
        /// The rest of it.
        #[serde(flatten)]
        ruling: SubmitRuling,
    },
}
