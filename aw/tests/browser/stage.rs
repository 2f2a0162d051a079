//! The agents: real processes at the command line of a machine whose server also writes the pages.

use std::cell::RefCell;
use std::fs;

use serde_json::Value;

use super::Browser;
use crate::loops::machine::{Going, Machine};
use crate::world::{Answer, eventually, text};

/// A machine with a running server. Commands block the test, and the browser goes on meanwhile.
pub struct Stage {
    pub machine: Machine,
}

impl Stage {
    /// One with nothing on it, and a browser, if there is any on this machine. The browser is dropped
    /// first, so its pages do not see the server go.
    pub async fn set() -> Option<(Self, Browser)> {
        Self::on(Machine::fresh()).await
    }

    /// The same on this machine.
    pub async fn on(machine: Machine) -> Option<(Self, Browser)> {
        let browser = Browser::start().await?;
        machine.aw(&["server", "start"]).data();
        Some((Stage { machine }, browser))
    }

    pub fn url(&self) -> String {
        self.machine.url()
    }

    /// Returns when a page listens: until then it does not notice that its server goes.
    pub async fn is_watched(&self) {
        let health = format!("{}/health", self.url());
        eventually("a page listens", async || {
            let answer = Answer::to(reqwest::Client::new().get(&health)).await;
            answer.ok()["open_sockets"].as_u64() > Some(0)
        })
        .await;
    }

    /// A file in the folder where the agents work.
    pub fn file(&self, name: &str, words: &str) {
        fs::write(self.machine.path("work").join(name), words).unwrap();
    }

    /// A debate that waits for its opponent.
    pub fn debate(&self, title: &str, motion: &str) -> Debate<'_> {
        self.debate_with(title, motion, &[])
    }

    /// The same with more to say about it.
    pub fn debate_with(&self, title: &str, motion: &str, more: &[&str]) -> Debate<'_> {
        let line = ["debate", "create", "--title", title, "--type", "general_debate", "--content"];
        let created = self.machine.aw(&[&line[..], &[motion], more].concat()).data();
        let motion = text(&created["argument_id"]);
        let id = text(&created["debate_id"]);
        Debate { stage: self, id, last: RefCell::new(motion) }
    }
}

/// A debate, and those who hold it.
pub struct Debate<'a> {
    stage: &'a Stage,
    pub id: String,
    last: RefCell<String>,
}

impl Debate<'_> {
    pub fn url(&self) -> String {
        format!("{}/debate/{}", self.stage.url(), self.id)
    }

    /// A command about this debate.
    pub fn run(&self, command: &str, more: &[&str]) -> Value {
        let line = ["debate", command, "--debate-id", &self.id];
        self.stage.machine.aw(&[&line[..], more].concat()).data()
    }

    /// A CLAIM that answers the newest argument.
    pub fn claims(&self, role: &str, words: &str) {
        self.answers("submit", &["--role", role, "--content", words]);
    }

    /// An APPEAL about the newest argument.
    pub fn appeals(&self, words: &str) {
        self.answers("appeal", &["--content", words]);
    }

    /// A RESOLUTION.
    pub fn resolves(&self, words: &str) {
        self.answers("request-completion", &["--content", words]);
    }

    fn answers(&self, command: &str, more: &[&str]) {
        let last = self.last.borrow().clone();
        let written = self.run(command, &[&["--target-id", last.as_str()], more].concat());
        self.last.replace(text(&written["argument_id"]));
    }

    /// A RULING on whatever is pending. The next to speak answers it.
    pub fn rules(&self, words: &str) {
        let written = self.run("ruling", &["--content", words]);
        self.last.replace(text(&written["argument_id"]));
    }

    /// Somebody who waits for what comes after the newest argument.
    pub fn waits(&self, role: &str) -> Going {
        let last = self.last.borrow();
        let line = ["debate", "wait", "--debate-id", &self.id, "--role", role, "--argument-id"];
        self.stage.machine.start(&[&line[..], &[last.as_str()]].concat())
    }

    /// What was written, the motion first, and takes the newest as what is answered next.
    pub fn arguments(&self) -> Vec<Value> {
        let mut whole = self.stage.machine.get(&format!("/debates/{}?limit=500", self.id));
        let mut all = vec![whole["motion"].take()];
        all.append(whole["arguments"].as_array_mut().expect("a list"));
        let newest = all.iter().rev().find(|argument| argument["parked"] != true);
        self.last.replace(text(&newest.expect("a motion")["id"]));
        all
    }

    /// The types of what was written.
    pub fn types(&self) -> Vec<String> {
        self.arguments().iter().map(|argument| text(&argument["type"])).collect()
    }

    /// The newest argument.
    pub fn newest(&self) -> Value {
        self.arguments().pop().expect("there is a motion")
    }

    pub fn state(&self) -> String {
        let whole = self.stage.machine.get(&format!("/debates/{}?limit=1", self.id));
        text(&whole["debate"]["state"])
    }
}
