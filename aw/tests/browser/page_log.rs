//! Records the requests, complaints and documents of a page.

use std::sync::Mutex;

use serde_json::{Value, json};

use super::devtools::EventListener;

/// The record of one page.
#[derive(Default)]
pub struct PageLog(Mutex<PageEvents>);

#[derive(Default)]
struct PageEvents {
    frame: String,
    document: String,
    loaded: String,
    requests: Vec<Request>,
    complaints: Vec<String>,
}

/// A request of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub method: String,
    pub url: String,
    pub headers: Value,
    /// The status, 0 without an answer.
    pub status: u64,
    id: String,
    /// Whether the browser refused to send it.
    refused: bool,
}

impl Request {
    /// Scheme, host and port.
    pub fn origin(&self) -> &str {
        let end = self.url.match_indices('/').nth(2).map_or(self.url.len(), |(at, _)| at);
        &self.url[..end]
    }

    /// Whether it left the browser.
    fn is_sent(&self) -> bool {
        let inside = ["data:", "blob:", "about:", "chrome-error:"];
        !self.refused && !inside.iter().any(|scheme| self.url.starts_with(scheme))
    }
}

impl PageLog {
    /// Records the documents of this frame only.
    pub fn begin(&self, frame: &str) {
        self.0.lock().unwrap().frame = frame.to_owned();
    }

    /// The current document, if it is loaded.
    pub fn loaded(&self) -> Option<String> {
        let state = self.0.lock().unwrap();
        (state.document == state.loaded).then(|| state.loaded.clone())
    }

    /// Every request over the network so far, including WebSockets.
    pub fn requests(&self) -> Vec<Request> {
        let state = self.0.lock().unwrap();
        state.requests.iter().filter(|request| request.is_sent()).cloned().collect()
    }

    pub fn forget_requests(&self) {
        self.0.lock().unwrap().requests.clear();
    }

    /// Returns and forgets the errors, policy violations and dialogs so far.
    pub fn take_complaints(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap().complaints)
    }
}

impl EventListener for PageLog {
    fn hear(&self, event: &str, data: &Value) -> Option<(&'static str, Value)> {
        let mut state = self.0.lock().unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match event {
            "Page.frameNavigated" if data["frame"]["id"] == *state.frame => {
                state.document = text(&data["frame"]["loaderId"]);
                // It was loaded when it was cached.
                if data["type"] == "BackForwardCacheRestore" {
                    state.loaded = state.document.clone();
                }
            }
            "Page.lifecycleEvent" if data["frameId"] == *state.frame && data["name"] == "load" => {
                state.loaded = text(&data["loaderId"]);
            }
            "Network.requestWillBeSent" => {
                let id = text(&data["requestId"]);
                // A redirect has the same request id.
                if let Some(sent_on) = data["redirectResponse"]["status"].as_u64()
                    && let Some(first) = state.requests.iter_mut().rev().find(|r| r.id == id)
                {
                    first.status = sent_on;
                }
                state.requests.push(Request {
                    method: text(&data["request"]["method"]),
                    url: text(&data["request"]["url"]),
                    headers: data["request"]["headers"].clone(),
                    id,
                    status: 0,
                    refused: false,
                });
            }
            "Network.webSocketCreated" => state.requests.push(Request {
                method: "GET".to_owned(),
                url: text(&data["url"]),
                headers: Value::Null,
                id: text(&data["requestId"]),
                status: 0,
                refused: false,
            }),
            "Network.responseReceived" | "Network.webSocketHandshakeResponseReceived" => {
                let same = |request: &&mut Request| data["requestId"] == *request.id;
                if let Some(request) = state.requests.iter_mut().rev().find(same) {
                    request.status = data["response"]["status"].as_u64().unwrap_or_default();
                }
            }
            "Network.loadingFailed" if data["blockedReason"].is_string() => {
                let same = |request: &&mut Request| data["requestId"] == *request.id;
                if let Some(request) = state.requests.iter_mut().rev().find(same) {
                    request.refused = true;
                }
            }
            "Runtime.consoleAPICalled" if data["type"] == "error" || data["type"] == "assert" => {
                let said = data["args"].as_array().into_iter().flatten().map(|said| {
                    said["description"]
                        .as_str()
                        .map_or_else(|| said["value"].to_string(), str::to_owned)
                });
                let said = said.collect::<Vec<_>>().join(" ");
                state.complaints.push(format!("console: {said}"));
            }
            "Runtime.exceptionThrown" => {
                let thrown = &data["exceptionDetails"];
                let what = thrown["exception"]["description"].as_str().unwrap_or_default();
                state.complaints.push(format!("exception: {} {what}", text(&thrown["text"])));
            }
            "Log.entryAdded" if is_error(&data["entry"]) => {
                let entry = &data["entry"];
                let (source, what) = (text(&entry["source"]), text(&entry["text"]));
                state.complaints.push(format!("{source}: {what} {}", text(&entry["url"])));
            }
            "Audits.issueAdded" if data["issue"]["code"] == "ContentSecurityPolicyIssue" => {
                let details = &data["issue"]["details"]["contentSecurityPolicyIssueDetails"];
                state.complaints.push(format!("policy: {details}"));
            }
            "Page.javascriptDialogOpening" => {
                let (kind, what) = (text(&data["type"]), text(&data["message"]));
                state.complaints.push(format!("dialog: {kind} {what}"));
                return Some(("Page.handleJavaScriptDialog", json!({"accept": false})));
            }
            "Inspector.targetCrashed" => state.complaints.push("the page crashed".to_owned()),
            _ => {}
        }
        None
    }
}

/// Whether the browser logs an error of the page, not advice about future versions of the browser.
fn is_error(entry: &Value) -> bool {
    let advice = ["deprecation", "intervention", "recommendation", "violation"];
    entry["level"] == "error" && !advice.iter().any(|source| entry["source"] == *source)
}
