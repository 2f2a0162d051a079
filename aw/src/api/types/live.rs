//! The events of a WebSocket.

use serde::{Deserialize, Serialize};

use super::super::error::Error;
use super::{
    Argument, Debate, DebateIdText, LastArgument, Points, Presence, SubmitIntervention,
    SubmitRuling,
};

/// An event that the server sends.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "event", content = "data", rename_all = "snake_case")]
pub enum ServerEvent {
    /// The first message of one debate's socket: where the debate stands.
    InitialState {
        /// The debate.
        debate: Debate,
        /// All arguments, or those after the requested seq.
        arguments: Vec<ArgumentEvent>,
        /// The presence of each role.
        presence: Presence,
        /// The points as they are now.
        #[serde(flatten)]
        points: Points,
    },
    /// One more argument.
    NewArgument {
        /// The debate as it is now.
        debate: Debate,
        /// The argument.
        argument: ArgumentEvent,
        /// The points as they are now.
        #[serde(flatten)]
        points: Points,
    },
    /// A role began or stopped waiting, or its label has changed.
    Presence {
        /// The debate.
        debate_id: DebateIdText,
        /// The presence of each role now.
        presence: Presence,
    },
    /// A debate was opened; only for sockets that follow all debates.
    DebateCreated(Box<DebateEvent>),
    /// A debate was changed; only for sockets that follow all debates.
    DebateUpdated(Box<DebateEvent>),
    /// The debate was deleted; a socket that follows only this one closes.
    DebateDeleted {
        /// The debate.
        debate_id: DebateIdText,
    },
    /// The server refused what the client sent.
    Error {
        /// Why.
        error: Box<Error>,
    },
}

/// An argument in an event.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ArgumentEvent {
    /// The argument.
    #[serde(flatten)]
    pub argument: Argument,
    /// The argument as the page shows it, for a socket that asked for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
}

/// A debate in an event for sockets that follow all debates.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DebateEvent {
    /// The debate as it is now.
    pub debate: Debate,
    /// The presence of each role.
    pub presence: Presence,
    /// Its newest argument.
    pub last_argument: LastArgument,
    /// How many of its points block completion; absent in a debate without points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocking: Option<u64>,
}

/// An event that a client sends.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "event", content = "data", rename_all = "snake_case")]
pub enum ClientEvent {
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
