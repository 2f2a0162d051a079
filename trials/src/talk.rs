//! A debate that a trial holds: its next argument, and the acknowledged ones.

use serde_json::{Value, json};
use uuid::Uuid;

/// An argument that was acknowledged, or read from a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedArgument {
    pub debate: String,
    pub seq: u64,
    pub id: String,
    pub content: String,
}

/// The next argument to send.
#[derive(Debug, Clone)]
pub struct Saying {
    pub path: String,
    pub body: Value,
    pub content: String,
    pub seq: u64,
    /// Whether it ends the debate.
    pub last: bool,
}

/// A debate whose two sides take turns until the proposer completes it.
#[derive(Debug)]
pub struct Talk {
    pub debate: String,
    /// The number of arguments at which it ends.
    length: u64,
    /// The least length of an argument in bytes.
    weight: usize,
    said: u64,
    newest: String,
}

impl Talk {
    /// A debate that ends with the proposer's first turn at or after `length`.
    pub fn new(length: u64, weight: usize) -> Self {
        Talk { debate: new_id(), length, weight, said: 0, newest: String::new() }
    }

    /// The same debate, seen from its other side.
    pub fn other_side(&self) -> Self {
        Talk { debate: self.debate.clone(), newest: String::new(), said: 0, ..*self }
    }

    /// The path of a side's wait for the next argument.
    pub fn wait(&self, role: &str) -> String {
        format!("/debates/{}/wait?role={role}&argument_id={}&wait=60", self.debate, self.newest)
    }

    /// Takes the answer to a wait, which must hold exactly the next arguments. Returns whether the debate
    /// goes on.
    #[track_caller]
    pub fn receive(&mut self, news: &Value) -> bool {
        assert_eq!(news["has_new_argument"], true, "{news}");
        assert_eq!(news["omitted"], 0, "{news}");
        for argument in news["arguments"].as_array().expect("arguments") {
            self.said += 1;
            assert_eq!(argument["seq"], self.said, "an argument came twice or is missing: {news}");
            self.newest = text(&argument["id"]);
        }
        assert_eq!(news["next_argument_id_to_wait"], self.newest.as_str(), "{news}");
        news["debate_state"] != "CLOSED"
    }

    /// The next argument. Each text is unique.
    pub fn next(&self) -> Saying {
        let (debate, seq) = (&self.debate, self.said + 1);
        let mut content = format!("Word {seq} in {debate}.");
        while content.len() < self.weight {
            content.push_str(" Much is said, and little of it matters.");
        }
        let last = seq % 2 == 1 && seq > 1 && seq >= self.length;
        let role = if seq.is_multiple_of(2) { "opponent" } else { "proposer" };
        let (path, mut body) = match (seq, last) {
            (1, _) => (
                "/debates".to_owned(),
                json!({
                    "debate_id": debate,
                    "title": format!("Will {debate} last?"),
                    "debate_type": "general_debate",
                    "motion_content": content,
                }),
            ),
            (_, true) => (format!("/debates/{debate}/resolution"), json!({"content": content})),
            _ => {
                let body = json!({"role": role, "content": content});
                (format!("/debates/{debate}/arguments"), body)
            }
        };
        if seq > 1 {
            body["target_id"] = self.newest.as_str().into();
        }
        body["client_request_id"] = new_id().into();
        Saying { path, body, content, seq, last }
    }

    /// Takes the acknowledgement of a sent argument.
    #[track_caller]
    pub fn acknowledge(&mut self, saying: &Saying, data: &Value) -> RecordedArgument {
        let argument = &data["argument"];
        assert_eq!(argument["seq"], saying.seq, "{}: {data}", self.debate);
        assert_eq!(argument["content"], saying.content.as_str());
        let id = text(&argument["id"]);
        (self.said, self.newest) = (saying.seq, id.clone());
        RecordedArgument {
            debate: self.debate.clone(),
            seq: saying.seq,
            id,
            content: saying.content.clone(),
        }
    }
}

pub fn new_id() -> String {
    Uuid::new_v4().to_string()
}

/// The text in a JSON value.
#[track_caller]
pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value}")).to_owned()
}
