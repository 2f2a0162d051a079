//! A client of our own over HTTP, which looks at every message and holds every answer of a tool
//! against the schema of that tool.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};

use crate::world::World;

/// The revisions of the protocol that clients in the wild speak.
pub const OLDER: &str = "2025-06-18";
pub const PREVIOUS: &str = "2025-11-25";
pub const CURRENT: &str = "2026-07-28";

/// Every tool.
pub const TOOLS: [&str; 16] = [
    "debate_create",
    "debate_get_context",
    "debate_submit",
    "debate_wait",
    "debate_appeal",
    "debate_request_completion",
    "debate_points",
    "debate_result",
    "debate_list",
    "debate_ruling",
    "debate_intervention",
    "docs_create",
    "docs_submit",
    "docs_get",
    "docs_list",
    "docs_diff",
];

/// A client of `/mcp` that speaks one revision.
pub struct Client<'a> {
    world: &'a World,
    path: String,
    revision: &'static str,
    session: Option<String>,
    listed: OnceLock<Vec<Value>>,
    next: AtomicU64,
}

impl<'a> Client<'a> {
    /// One of the current revision, as this role if one is named.
    pub fn of(world: &'a World, role: &str) -> Self {
        let path = if role.is_empty() { "/mcp".to_owned() } else { format!("/mcp?role={role}") };
        Client {
            world,
            path,
            revision: CURRENT,
            session: None,
            listed: OnceLock::new(),
            next: AtomicU64::new(1),
        }
    }

    /// The same in this revision.
    pub fn speaking(self, revision: &'static str) -> Self {
        Client { revision, ..self }
    }

    /// Shakes hands, as clients of the older revisions do first.
    pub async fn initialize(&mut self) -> Value {
        let params = json!({
            "protocolVersion": self.revision,
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        let message = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let request = self.world.request(Method::POST, &self.path).json(&message);
        let response = request.send().await.unwrap();
        let session = response.headers().get("mcp-session-id");
        self.session = session.map(|id| id.to_str().unwrap().to_owned());
        messages(response).await.pop().expect("there is an answer")
    }

    /// A message that is still to be sent, with what this revision wants around it.
    pub fn message(&self, id: u64, method: &str, mut params: Value) -> RequestBuilder {
        let mut request = self.world.request(Method::POST, &self.path);
        request = request.header("accept", "application/json, text/event-stream");
        request = request.header("mcp-protocol-version", self.revision);
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session);
        }
        if self.revision == CURRENT {
            request = request.header("mcp-method", method);
            let named = params["name"].as_str().or(params["uri"].as_str());
            if let Some(name) = named {
                request = request.header("mcp-name", name);
            }
            let around = "io.modelcontextprotocol";
            let meta = &mut params["_meta"];
            meta[format!("{around}/protocolVersion")] = self.revision.into();
            meta[format!("{around}/clientInfo")] = json!({"name": "test", "version": "1"});
            meta[format!("{around}/clientCapabilities")] = json!({});
        }
        let mut message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        if id > 0 {
            message["id"] = id.into();
        }
        request.json(&message)
    }

    /// Every message that answers this one, the answer itself last.
    pub async fn exchange(&self, method: &str, params: Value) -> Vec<Value> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let response = self.message(id, method, params).send().await.unwrap();
        let messages = messages(response).await;
        assert_eq!(messages.last().unwrap()["id"], id, "{messages:?}");
        messages
    }

    /// The result of a request.
    pub async fn ask(&self, method: &str, params: Value) -> Value {
        let mut answer = self.exchange(method, params).await.pop().unwrap();
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].take()
    }

    /// The error of a request.
    pub async fn refused(&self, method: &str, params: Value) -> Value {
        let mut answer = self.exchange(method, params).await.pop().unwrap();
        assert!(answer["error"].is_object(), "{method}: {answer}");
        answer["error"].take()
    }

    /// The tools that are offered.
    pub async fn tools(&self) -> &[Value] {
        if self.listed.get().is_none() {
            let mut result = self.ask("tools/list", json!({})).await;
            let Value::Array(tools) = result["tools"].take() else { panic!("{result}") };
            let _ = self.listed.set(tools);
        }
        self.listed.get().unwrap()
    }

    /// The result of a tool.
    pub async fn result(&self, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let result = self.ask("tools/call", params).await;
        self.checked(tool, result).await
    }

    /// A result that has both parts: fields and texts.
    pub async fn checked(&self, tool: &str, result: Value) -> Value {
        let structured = &result["structuredContent"];
        assert!(structured.is_object(), "{tool}: {result}");
        for block in result["content"].as_array().unwrap() {
            assert_eq!(block["type"], "text", "{tool}");
        }
        result
    }

    /// What a tool answers when it does what it was asked.
    pub async fn call(&self, tool: &str, arguments: Value) -> Value {
        let mut result = self.result(tool, arguments).await;
        assert_eq!(result["isError"], false, "{tool}: {result:#}");
        result["structuredContent"].take()
    }

    /// What a tool answers when it does not.
    pub async fn error(&self, tool: &str, arguments: Value) -> Value {
        let mut result = self.result(tool, arguments).await;
        assert_eq!(result["isError"], true, "{tool}: {result:#}");
        let said = result["content"][0]["text"].as_str().unwrap().to_owned();
        let error = result["structuredContent"]["error"].take();
        for part in ["code", "message", "suggestion"] {
            if let Some(part) = error[part].as_str() {
                assert!(said.contains(part), "{part:?} is not in the text {said:?}");
            }
        }
        error
    }

    /// A debate that waits for its opponent: its id and its motion's.
    pub async fn debate(&self, title: &str) -> (String, String) {
        let arguments = json!({"title": title, "type": "general_debate", "content": format!("Motion: {title}")});
        let made = self.call("debate_create", arguments).await;
        (crate::world::text(&made["debate_id"]), crate::world::text(&made["argument_id"]))
    }
}

/// The messages in an answer, whichever of the two forms it has.
pub async fn messages(response: Response) -> Vec<Value> {
    let kind = response.headers().get("content-type");
    let kind = kind.map_or(String::new(), |kind| kind.to_str().unwrap().to_owned());
    let body = response.text().await.expect("the answer arrives whole");
    if kind.starts_with("text/event-stream") {
        let data = body.lines().filter_map(|line| line.strip_prefix("data:"));
        let data = data.map(str::trim).filter(|data| !data.is_empty());
        return data.map(|data| serde_json::from_str(data).unwrap()).collect();
    }
    assert!(kind.starts_with("application/json"), "{kind}: {body}");
    vec![serde_json::from_str(&body).unwrap()]
}
