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
    /// Whether it keeps points.
    points: bool,
    said: u64,
    newest: String,
}

impl Talk {
    /// A debate that ends with the proposer's first turn at or after `length`.
    pub fn new(length: u64, weight: usize) -> Self {
        let (debate, newest) = (new_id(), String::new());
        Talk { debate, length, weight, points: false, said: 0, newest }
    }

    /// The same with points: the opponent raises one in each turn, the proposer rejects it, and the
    /// opponent gives it up. In its last turn the opponent agrees.
    pub fn with_points(length: u64, weight: usize) -> Self {
        assert!((5..=40).contains(&length), "a debate has at most 20 rounds");
        Talk { points: true, ..Talk::new(length, weight) }
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
        let last = self.ends_at(seq);
        if self.points && seq > 1 && !last {
            content.push_str(&self.statements(seq));
        }
        let role = if seq.is_multiple_of(2) { "opponent" } else { "proposer" };
        let (path, mut body) = match (seq, last) {
            (1, _) => {
                let mut body = json!({
                    "debate_id": debate,
                    "title": format!("Will {debate} last?"),
                    "debate_type": "general_debate",
                    "motion_content": content,
                });
                if self.points {
                    body["points"] = json!({"rounds": 20});
                }
                ("/debates".to_owned(), body)
            }
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

    /// Whether the proposer completes the debate with this argument.
    fn ends_at(&self, seq: u64) -> bool {
        seq % 2 == 1 && seq > 1 && seq >= self.length
    }

    /// What an argument says about points. The first CLAIM raises P1, the next P2.
    fn statements(&self, seq: u64) -> String {
        let round = seq / 2;
        if seq % 2 == 1 {
            return format!("\n### P{round} [rejected] It lasts.\n");
        }
        let given_up = match round {
            1 => String::new(),
            _ => format!("\n### P{} [resolved] Seen.", round - 1),
        };
        if self.ends_at(seq + 1) {
            return format!("{given_up}\n### VERDICT [agree]\n");
        }
        let debate = &self.debate;
        format!(
            "{given_up}\n### NEW [major] Word {seq}\n> Word 1 in {debate}.\nIt may be lost.\n\
             ### VERDICT [object]\n"
        )
    }

    /// Checks what the server has read in an argument. It answers the retry of a request with the same.
    #[track_caller]
    fn check_statements(&self, saying: &Saying, data: &Value) {
        let (round, is_opponents) = (saying.seq / 2, saying.seq.is_multiple_of(2));
        let mut expected = Vec::new();
        if self.points && saying.seq > 1 && !saying.last {
            match (is_opponents, round) {
                (false, _) => expected.push(json!([format!("P{round}"), "rejected", []])),
                (true, 1) => {}
                (true, _) => expected.push(json!([format!("P{}", round - 1), "withdrawn", []])),
            }
            if is_opponents && !self.ends_at(saying.seq + 1) {
                expected.push(json!([format!("P{round}"), "open", [["found", 1]]]));
            }
            if is_opponents {
                expected.push(json!([null, null, []]));
            }
        }
        let read = |statement: &Value| {
            let quotes = statement["quotes"].as_array().expect("quotes").iter();
            let quotes: Vec<Value> = quotes.map(|q| json!([q["check"], q["seq"]])).collect();
            json!([statement["point"], statement["state"], quotes])
        };
        let found: Vec<Value> =
            data["statements"].as_array().into_iter().flatten().map(read).collect();
        assert_eq!(found, expected, "{}: {data}", self.debate);
    }

    /// Takes the acknowledgement of a sent argument.
    #[track_caller]
    pub fn acknowledge(&mut self, saying: &Saying, data: &Value) -> RecordedArgument {
        let argument = &data["argument"];
        assert_eq!(argument["seq"], saying.seq, "{}: {data}", self.debate);
        assert_eq!(argument["content"], saying.content.as_str());
        self.check_statements(saying, data);
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
