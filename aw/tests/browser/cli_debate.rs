//! Drives debates by the real command line, on a machine whose server serves the pages.

use std::cell::RefCell;
use std::fs;

use serde_json::{Value, json};

use super::Browser;
use crate::loops::machine::{Going, Machine};
use crate::world::{Answer, eventually, text};

/// A machine with a running server. Commands block the test, but not the browser.
pub struct CliServer {
    pub machine: Machine,
}

impl CliServer {
    /// A new server and a browser, if there is one. The browser is dropped first, so that its pages do
    /// not lose their server.
    pub async fn start() -> Option<(Self, Browser)> {
        Self::on(Machine::fresh()).await
    }

    /// A server on this machine, and a browser.
    pub async fn on(machine: Machine) -> Option<(Self, Browser)> {
        let browser = Browser::start().await?;
        machine.aw(&["server", "start"]).data();
        Some((CliServer { machine }, browser))
    }

    pub fn url(&self) -> String {
        self.machine.url()
    }

    /// Waits until a page has a socket. Until then a page does not notice a lost connection.
    pub async fn is_watched(&self) {
        let health = format!("{}/health", self.url());
        eventually("a page listens", async || {
            let answer = Answer::to(reqwest::Client::new().get(&health)).await;
            answer.ok()["open_sockets"].as_u64() > Some(0)
        })
        .await;
    }

    /// Writes a file into the folder of the agents.
    pub fn file(&self, name: &str, words: &str) {
        fs::write(self.machine.path("work").join(name), words).unwrap();
    }

    /// Opens a debate, which waits for its opponent.
    pub fn debate(&self, title: &str, motion: &str) -> CliDebate<'_> {
        self.debate_with(title, motion, &[])
    }

    /// Opens a debate with further arguments of the command.
    pub fn debate_with(&self, title: &str, motion: &str, more: &[&str]) -> CliDebate<'_> {
        let line = ["debate", "create", "--title", title, "--type", "general_debate", "--content"];
        let created = self.machine.aw(&[&line[..], &[motion], more].concat()).data();
        let motion = text(&created["argument_id"]);
        let id = text(&created["debate_id"]);
        CliDebate { server: self, id, last: RefCell::new(motion) }
    }
}

/// A debate, and the argument that the next one answers.
pub struct CliDebate<'a> {
    server: &'a CliServer,
    pub id: String,
    last: RefCell<String>,
}

impl CliDebate<'_> {
    pub fn url(&self) -> String {
        format!("{}/debate/{}", self.server.url(), self.id)
    }

    /// Runs a command on this debate.
    pub fn run(&self, command: &str, more: &[&str]) -> Value {
        let line = ["debate", command, "--debate-id", &self.id];
        self.server.machine.aw(&[&line[..], more].concat()).data()
    }

    /// Sets what a role works on, or clears it.
    pub async fn works(&self, role: &str, label: Option<&str>) {
        let url = format!("{}/debates/{}/presence", self.server.url(), self.id);
        let body = json!({"role": role, "label": label});
        Answer::to(reqwest::Client::new().put(url).json(&body)).await.ok();
    }

    /// Submits a CLAIM.
    pub fn claims(&self, role: &str, words: &str) {
        self.answers("submit", &["--role", role, "--content", words]);
    }

    /// Submits an APPEAL.
    pub fn appeals(&self, words: &str) {
        self.answers("appeal", &["--content", words]);
    }

    /// Submits a RESOLUTION.
    pub fn resolves(&self, words: &str) {
        self.answers("request-completion", &["--content", words]);
    }

    fn answers(&self, command: &str, more: &[&str]) {
        let last = self.last.borrow().clone();
        let written = self.run(command, &[&["--target-id", last.as_str()], more].concat());
        self.last.replace(text(&written["argument_id"]));
    }

    /// Submits a RULING.
    pub fn rules(&self, words: &str) {
        let written = self.run("ruling", &["--content", words]);
        self.last.replace(text(&written["argument_id"]));
    }

    /// Starts a wait for arguments after the newest one.
    pub fn waits(&self, role: &str) -> Going {
        let last = self.last.borrow();
        let line = ["debate", "wait", "--debate-id", &self.id, "--role", role, "--argument-id"];
        self.server.machine.start(&[&line[..], &[last.as_str()]].concat())
    }

    /// All arguments, the motion first. The next argument answers the newest of them.
    pub fn arguments(&self) -> Vec<Value> {
        let mut whole = self.server.machine.get(&format!("/debates/{}?limit=500", self.id));
        let mut all = vec![whole["motion"].take()];
        all.append(whole["arguments"].as_array_mut().expect("a list"));
        let newest = all.iter().rev().find(|argument| argument["parked"] != true);
        self.last.replace(text(&newest.expect("a motion")["id"]));
        all
    }

    /// The types of all arguments.
    pub fn types(&self) -> Vec<String> {
        self.arguments().iter().map(|argument| text(&argument["type"])).collect()
    }

    pub fn newest(&self) -> Value {
        self.arguments().pop().expect("there is a motion")
    }

    pub fn state(&self) -> String {
        let whole = self.server.machine.get(&format!("/debates/{}?limit=1", self.id));
        text(&whole["debate"]["state"])
    }
}
