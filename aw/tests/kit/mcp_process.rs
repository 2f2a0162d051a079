//! A running `aw mcp`, with one message a line in and out.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::cli::aw::Aw;

/// A running `aw mcp`.
pub struct McpProcess {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    asked: u64,
}

impl McpProcess {
    /// Starts it, and greets it.
    pub fn begin(aw: &Aw, arguments: &[&str]) -> Self {
        Self::of(aw, "test", arguments)
    }

    /// The same by a host of this name.
    pub fn of(aw: &Aw, host: &str, arguments: &[&str]) -> Self {
        let mut command = aw.settled("aw");
        command.arg("mcp").args(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut process = McpProcess { child, stdin, stdout: BufReader::new(stdout), asked: 0 };
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": host, "version": "1"},
        });
        process.ask("initialize", &hello);
        process.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        process
    }

    fn say(&mut self, message: &Value) {
        writeln!(self.stdin, "{message}").unwrap();
        self.stdin.flush().unwrap();
    }

    /// What it answers.
    pub fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let mut line = String::new();
            assert_ne!(self.stdout.read_line(&mut line).unwrap(), 0, "it ended");
            let mut message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == id {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].take();
            }
        }
    }

    /// The names of the tools that it offers.
    pub fn tools(&mut self) -> Vec<String> {
        let list = self.ask("tools/list", &json!({}));
        let tools = list["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// What a tool answers, in its fields.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let mut answer = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        assert_ne!(answer["isError"], true, "{answer}");
        answer["structuredContent"].take()
    }
}

impl Drop for McpProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
