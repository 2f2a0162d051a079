//! A debate as it is held: what is said next, and what was acknowledged.

use serde_json::{Value, json};
use uuid::Uuid;

/// An argument that was acknowledged, or lies in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    pub debate: String,
    pub seq: u64,
    pub id: String,
    pub content: String,
}

/// What is said next.
#[derive(Debug, Clone)]
pub struct Saying {
    pub path: String,
    pub body: Value,
    pub content: String,
    pub seq: u64,
    /// Nothing can be said after it.
    pub last: bool,
}

/// One debate whose two sides take turns, until the proposer asks to complete it.
#[derive(Debug)]
pub struct Talk {
    pub debate: String,
    /// How many arguments it has before it ends.
    length: u64,
    /// How long each is, in bytes, at least.
    weight: usize,
    said: u64,
    newest: String,
}

impl Talk {
    /// A debate that ends with the first proposer's turn at or after `length`.
    pub fn new(length: u64, weight: usize) -> Self {
        Talk { debate: new_id(), length, weight, said: 0, newest: String::new() }
    }

    /// The same debate, seen from its other side.
    pub fn other_side(&self) -> Self {
        Talk { debate: self.debate.clone(), newest: String::new(), said: 0, ..*self }
    }

    /// Where a side waits for what the other says next.
    pub fn wait(&self, role: &str) -> String {
        format!("/debates/{}/wait?role={role}&argument_id={}&wait=60", self.debate, self.newest)
    }

    /// Takes what a wait has brought: exactly what comes next. Whether there is more to say.
    #[track_caller]
    pub fn told(&mut self, news: &Value) -> bool {
        assert_eq!(news["has_new_argument"], true, "{news}");
        assert_eq!(news["omitted"], 0, "{news}");
        for argument in news["arguments"].as_array().expect("arguments") {
            self.said += 1;
            assert_eq!(argument["seq"], self.said, "told twice, or one missed: {news}");
            self.newest = text(&argument["id"]);
        }
        assert_eq!(news["next_argument_id_to_wait"], self.newest.as_str(), "{news}");
        news["debate_state"] != "CLOSED"
    }

    /// What comes now. Each text is said once in the world.
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

    /// Takes the acknowledgement of what was said.
    #[track_caller]
    pub fn heard(&mut self, saying: &Saying, data: &Value) -> Kept {
        let argument = &data["argument"];
        assert_eq!(argument["seq"], saying.seq, "{}: {data}", self.debate);
        assert_eq!(argument["content"], saying.content.as_str());
        let id = text(&argument["id"]);
        (self.said, self.newest) = (saying.seq, id.clone());
        Kept { debate: self.debate.clone(), seq: saying.seq, id, content: saying.content.clone() }
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
