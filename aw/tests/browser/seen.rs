//! What a page has done since it was opened: requests, complaints, dialogs, documents.

use std::sync::Mutex;

use serde_json::{Value, json};

use super::devtools::Listener;

/// Takes note of everything that happens in a page.
#[derive(Default)]
pub struct Seen(Mutex<State>);

#[derive(Default)]
struct State {
    frame: String,
    document: String,
    loaded: String,
    requests: Vec<Request>,
    complaints: Vec<String>,
    accepts: bool,
}

/// Something that the page asked the network for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub method: String,
    pub url: String,
    pub headers: Value,
    /// Its status; 0 as long as there is no answer.
    pub status: u64,
    id: String,
    /// The browser itself has refused to send it.
    refused: bool,
}

impl Request {
    /// Scheme, host and port.
    pub fn origin(&self) -> &str {
        let end = self.url.match_indices('/').nth(2).map_or(self.url.len(), |(at, _)| at);
        &self.url[..end]
    }

    /// Whether it has left the browser.
    fn is_sent(&self) -> bool {
        let inside = ["data:", "blob:", "about:", "chrome-error:"];
        !self.refused && !inside.iter().any(|scheme| self.url.starts_with(scheme))
    }
}

impl Seen {
    /// The page's frame is this one; those inside it are its own affair.
    pub fn begin(&self, frame: &str) {
        self.0.lock().unwrap().frame = frame.to_owned();
    }

    /// The document that is shown, once it is loaded.
    pub fn loaded(&self) -> Option<String> {
        let state = self.0.lock().unwrap();
        (state.document == state.loaded).then(|| state.loaded.clone())
    }

    /// Every request over the network so far, WebSockets among them.
    pub fn requests(&self) -> Vec<Request> {
        let state = self.0.lock().unwrap();
        state.requests.iter().filter(|request| request.is_sent()).cloned().collect()
    }

    /// Forgets the requests so far.
    pub fn forget_requests(&self) {
        self.0.lock().unwrap().requests.clear();
    }

    /// Errors, violated policies and dialogs so far, and forgets them.
    pub fn take_complaints(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap().complaints)
    }

    /// From now on dialogs are answered with yes.
    pub fn accept_dialogs(&self) {
        self.0.lock().unwrap().accepts = true;
    }
}

impl Listener for Seen {
    fn hear(&self, event: &str, told: &Value) -> Option<(&'static str, Value)> {
        let mut state = self.0.lock().unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match event {
            "Page.frameNavigated" if told["frame"]["id"] == *state.frame => {
                state.document = text(&told["frame"]["loaderId"]);
                // It was loaded when it was put away.
                if told["type"] == "BackForwardCacheRestore" {
                    state.loaded = state.document.clone();
                }
            }
            "Page.lifecycleEvent" if told["frameId"] == *state.frame && told["name"] == "load" => {
                state.loaded = text(&told["loaderId"]);
            }
            "Network.requestWillBeSent" => {
                let id = text(&told["requestId"]);
                // Where it was sent on, the same request is made again to another place.
                if let Some(sent_on) = told["redirectResponse"]["status"].as_u64()
                    && let Some(first) = state.requests.iter_mut().rev().find(|r| r.id == id)
                {
                    first.status = sent_on;
                }
                state.requests.push(Request {
                    method: text(&told["request"]["method"]),
                    url: text(&told["request"]["url"]),
                    headers: told["request"]["headers"].clone(),
                    id,
                    status: 0,
                    refused: false,
                });
            }
            "Network.webSocketCreated" => state.requests.push(Request {
                method: "GET".to_owned(),
                url: text(&told["url"]),
                headers: Value::Null,
                id: text(&told["requestId"]),
                status: 0,
                refused: false,
            }),
            "Network.responseReceived" | "Network.webSocketHandshakeResponseReceived" => {
                let same = |request: &&mut Request| told["requestId"] == *request.id;
                if let Some(request) = state.requests.iter_mut().rev().find(same) {
                    request.status = told["response"]["status"].as_u64().unwrap_or_default();
                }
            }
            "Network.loadingFailed" if told["blockedReason"].is_string() => {
                let same = |request: &&mut Request| told["requestId"] == *request.id;
                if let Some(request) = state.requests.iter_mut().rev().find(same) {
                    request.refused = true;
                }
            }
            "Runtime.consoleAPICalled" if told["type"] == "error" || told["type"] == "assert" => {
                let said = told["args"].as_array().into_iter().flatten().map(|said| {
                    said["description"]
                        .as_str()
                        .map_or_else(|| said["value"].to_string(), str::to_owned)
                });
                let said = said.collect::<Vec<_>>().join(" ");
                state.complaints.push(format!("console: {said}"));
            }
            "Runtime.exceptionThrown" => {
                let thrown = &told["exceptionDetails"];
                let what = thrown["exception"]["description"].as_str().unwrap_or_default();
                state.complaints.push(format!("exception: {} {what}", text(&thrown["text"])));
            }
            "Log.entryAdded" if is_error(&told["entry"]) => {
                let entry = &told["entry"];
                let (source, what) = (text(&entry["source"]), text(&entry["text"]));
                state.complaints.push(format!("{source}: {what} {}", text(&entry["url"])));
            }
            "Audits.issueAdded" if told["issue"]["code"] == "ContentSecurityPolicyIssue" => {
                let details = &told["issue"]["details"]["contentSecurityPolicyIssueDetails"];
                state.complaints.push(format!("policy: {details}"));
            }
            "Page.javascriptDialogOpening" => {
                let (kind, what) = (text(&told["type"]), text(&told["message"]));
                state.complaints.push(format!("dialog: {kind} {what}"));
                return Some(("Page.handleJavaScriptDialog", json!({"accept": state.accepts})));
            }
            // A crashed page answers nothing any more.
            "Inspector.targetCrashed" => state.complaints.push("the page crashed".to_owned()),
            _ => {}
        }
        None
    }
}

/// Whether the browser logs a failure of the page. Newer versions add advice of their own, about what
/// they will do differently one day; a page cannot be faulted for that.
fn is_error(entry: &Value) -> bool {
    let advice = ["deprecation", "intervention", "recommendation", "violation"];
    entry["level"] == "error" && !advice.iter().any(|source| entry["source"] == *source)
}
