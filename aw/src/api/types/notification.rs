//! A notification for people, in fields that Slack (`text`) and ntfy (`topic`, `title`, `message`,
//! `click`) read too.

use serde::Serialize;

use super::{OutcomeText, Stamp, StateText};

/// An event of a debate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Happening {
    /// It needs a RULING.
    NeedsArbitrator,
    /// It is closed.
    Closed,
}

/// News about a debate.
#[derive(Debug, Clone, Serialize)]
pub struct Notification {
    /// The event.
    pub event: Happening,
    /// The event in words.
    pub title: String,
    /// Which debate it is about, and how that ended.
    pub message: String,
    /// The page of the debate.
    pub click: String,
    /// The debate.
    pub debate_id: String,
    /// Its title.
    pub debate_title: String,
    /// Its state.
    pub debate_state: StateText,
    /// How it ended, if it is closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<OutcomeText>,
    /// The number of its newest argument. Together with `debate_id` it identifies the notification.
    pub argument_seq: u64,
    /// When that was written.
    pub at: Stamp,
}

impl Notification {
    /// The JSON that is sent, with a topic if the receiver is ntfy.
    pub fn json(&self, topic: Option<&str>) -> String {
        #[derive(Serialize)]
        struct Sent<'a> {
            #[serde(skip_serializing_if = "Option::is_none")]
            topic: Option<&'a str>,
            text: String,
            #[serde(flatten)]
            news: &'a Notification,
        }
        let text = format!("{}: {}\n{}", self.title, self.message, self.click);
        // Slack treats text between angle brackets as markup.
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        serde_json::json!(Sent { topic, text, news: self }).to_string()
    }
}
