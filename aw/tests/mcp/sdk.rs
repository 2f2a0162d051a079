//! The client of the official Python SDK: `client.py` in a process of its own, which takes an order a
//! line.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value, json};

use super::programs::Programs;
use crate::loops::machine::Machine;
use crate::world::CEILING;

/// Several clients, each with a name.
pub struct Sdk {
    child: Child,
    orders: ChildStdin,
    answers: Receiver<Value>,
    kept: BTreeMap<u64, Value>,
    number: u64,
}

/// A call that a client was ordered to make.
#[derive(Debug, Clone, Copy)]
pub struct Order(u64);

/// `aw` with these arguments, as a client starts it.
pub fn stdio(machine: &Machine, arguments: &[&str]) -> Value {
    let command: Command = machine.command(arguments);
    let set =
        command.get_envs().map(|(name, value)| (name.to_str(), value.and_then(|v| v.to_str())));
    let env: BTreeMap<_, _> = set.filter_map(|(name, value)| Some((name?, value?))).collect();
    let cwd = command.get_current_dir();
    json!({"stdio": {
        "command": command.get_program().to_str(), "args": arguments, "env": env, "cwd": cwd,
    }})
}

/// The server's own `/mcp`, with what follows it in the address.
pub fn http(machine: &Machine, query: &str) -> Value {
    json!({"url": format!("{}/mcp{query}", machine.url())})
}

impl Sdk {
    pub fn start(programs: &Programs) -> Self {
        let mut command = programs.python("client.py");
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("Python starts");
        let (orders, said) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (tell, answers) = channel();
        thread::spawn(move || {
            for line in BufReader::new(said).lines().map_while(Result::ok) {
                let answer = serde_json::from_str(&line).expect("a line is JSON");
                if tell.send(answer).is_err() {
                    return;
                }
            }
        });
        Sdk { child, orders, answers, kept: BTreeMap::new(), number: 0 }
    }

    /// A client of this name meets the server; what it learns of it.
    #[track_caller]
    pub fn open(&mut self, seat: &str, mut server: Value, revision: &str) -> Value {
        server["revision"] = json!(revision);
        let opened = self.order(seat, "open", server);
        let about = self.end(opened)["result"].take();
        assert_eq!(about["revision"], revision, "{about}");
        about
    }

    /// Something to do, which goes on meanwhile.
    pub fn order(&mut self, seat: &str, what: &str, mut more: Value) -> Order {
        self.number += 1;
        more["number"] = json!(self.number);
        more["seat"] = json!(seat);
        more["do"] = json!(what);
        writeln!(self.orders, "{more}").expect("the client listens");
        Order(self.number)
    }

    /// What came of it: a `result`, an `error` of the protocol, `cancelled`, or that it was
    /// `rejected` by the SDK.
    #[track_caller]
    pub fn end(&mut self, order: Order) -> Value {
        loop {
            if let Some(answer) = self.kept.remove(&order.0) {
                return answer;
            }
            let answer = self.answers.recv_timeout(CEILING).expect("the client answers");
            self.kept.insert(answer["number"].as_u64().unwrap(), answer);
        }
    }

    /// The result of something that takes no time.
    #[track_caller]
    pub fn ask(&mut self, seat: &str, what: &str, more: Value) -> Value {
        let order = self.order(seat, what, more);
        let mut answer = self.end(order);
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].take()
    }

    /// Calls a tool, and does not wait for what comes of it.
    pub fn begin(&mut self, seat: &str, tool: &str, arguments: &Value) -> Order {
        self.order(seat, "call", json!({"tool": tool, "arguments": arguments, "progress": true}))
    }

    /// The result of a tool, whole.
    #[track_caller]
    pub fn result(&mut self, order: Order) -> Value {
        let mut answer = self.end(order);
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        answer["result"].take()
    }

    /// The structured part of the result of a tool.
    #[expect(clippy::needless_pass_by_value, reason = "so that a test can write json! in place")]
    #[track_caller]
    pub fn call(&mut self, seat: &str, tool: &str, arguments: Value) -> Value {
        let order = self.begin(seat, tool, &arguments);
        self.result(order)["structuredContent"].take()
    }

    /// Why a tool was of no use: the error in its result, which its words must tell too.
    #[expect(clippy::needless_pass_by_value, reason = "so that a test can write json! in place")]
    #[track_caller]
    pub fn refused(&mut self, seat: &str, tool: &str, arguments: Value) -> Value {
        let order = self.begin(seat, tool, &arguments);
        let mut answer = self.end(order);
        let result = &mut answer["result"];
        assert_eq!(result["isError"], true, "{result}");
        let error = result["structuredContent"]["error"].take();
        let words = result["content"][0]["text"].as_str().unwrap_or_default();
        for part in ["code", "message", "suggestion"] {
            let is_said = error[part].as_str().is_some_and(|part| words.contains(part));
            assert!(is_said, "{part} of {error} is not in {words:?}");
        }
        error
    }

    /// Calls what an answer says to call next, with these words where they are wanted.
    pub fn follow(&mut self, seat: &str, answer: &Value, words: &str) -> Order {
        let next = &answer["next"];
        let mut arguments = next["arguments"].clone();
        if next["you_write"].as_array().is_some_and(|missing| !missing.is_empty()) {
            arguments["content"] = json!(words);
        }
        self.begin(seat, next["tool"].as_str().expect("a tool to call next"), &arguments)
    }

    /// What a client does is of no interest any more.
    pub fn cancel(&mut self, seat: &str) {
        self.order(seat, "cancel", json!({}));
    }
}

impl Drop for Sdk {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
