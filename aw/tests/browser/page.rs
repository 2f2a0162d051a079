//! A tab: opens addresses, waits for text and elements, and reads them.
//!
//! It waits by looking again, up to a ceiling. [`super::input`] has mouse and keyboard,
//! [`super::emulation`] the screen and the network.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::devtools::DevTools;
use super::find::{Find, squeezed};
use super::page_log::{PageLog, Request};
use crate::world::CEILING;

/// A tab of a browser.
pub struct Page {
    tools: Arc<DevTools>,
    session: String,
    pub(super) seen: Arc<PageLog>,
}

impl Page {
    /// A new tab whose requests and complaints are recorded.
    pub(super) async fn open(tools: &Arc<DevTools>, context: &str) -> Self {
        let page = Self::open_unwatched(tools, context).await;
        for domain in ["Runtime", "Network", "Log", "Audits", "DOM", "Accessibility"] {
            page.call(&format!("{domain}.enable"), json!({})).await;
        }
        // Several tests use the browser at once, and each page must behave as if it had the focus.
        page.call("Emulation.setFocusEmulationEnabled", json!({"enabled": true})).await;
        page.width(1440).await;
        page
    }

    /// A new tab whose complaints are ignored.
    pub(super) async fn open_unwatched(tools: &Arc<DevTools>, context: &str) -> Self {
        let asked = json!({"url": "about:blank", "browserContextId": context, "newWindow": true});
        let target = tools.call(None, "Target.createTarget", asked).await["targetId"].take();
        let asked = json!({"targetId": target, "flatten": true});
        let session = tools.call(None, "Target.attachToTarget", asked).await["sessionId"].take();
        let session = session.as_str().expect("a session").to_owned();
        let page = Page { tools: tools.clone(), session, seen: Arc::default() };
        page.tools.listen(&page.session, page.seen.clone());
        page.call("Page.enable", json!({})).await;
        let tree = page.call("Page.getFrameTree", json!({})).await;
        page.seen.begin(tree["frameTree"]["frame"]["id"].as_str().expect("a frame"));
        page.call("Page.setLifecycleEventsEnabled", json!({"enabled": true})).await;
        page
    }

    /// Opens an address and waits until it is loaded.
    pub async fn goto(&self, url: &str) {
        if let Err(error) = self.try_goto(url).await {
            panic!("{url}: {error}");
        }
    }

    /// Opens an address, or returns the error of the browser.
    pub async fn try_goto(&self, url: &str) -> Result<(), String> {
        let gone = self.call("Page.navigate", json!({"url": url})).await;
        if let Some(error) = gone["errorText"].as_str() {
            return Err(error.to_owned());
        }
        // Without a loader the document stays.
        if let Some(document) = gone["loaderId"].as_str() {
            self.until(&format!("{url} is loaded"), async || {
                self.seen.loaded().as_deref() == Some(document)
            })
            .await;
        }
        Ok(())
    }

    pub async fn reload(&self) {
        self.turns_to_another("the page is loaded again", async || {
            self.call("Page.reload", json!({})).await;
        })
        .await;
    }

    /// Goes back in the history.
    pub async fn back(&self) {
        let history = self.call("Page.getNavigationHistory", json!({})).await;
        let current = history["currentIndex"].as_u64().expect("an index");
        let entry = &history["entries"][usize::try_from(current).unwrap() - 1];
        self.turns_to_another("the page is another", async || {
            self.call("Page.navigateToHistoryEntry", json!({"entryId": entry["id"]})).await;
        })
        .await;
    }

    /// Every address in the history of the tab.
    pub async fn addresses_so_far(&self) -> Vec<String> {
        let history = self.call("Page.getNavigationHistory", json!({})).await;
        let entries = history["entries"].as_array().expect("a list").iter();
        entries.map(|entry| entry["url"].as_str().expect("an address").to_owned()).collect()
    }

    /// Runs an action and waits until another document is loaded.
    pub(super) async fn turns_to_another(&self, what: &str, act: impl AsyncFnOnce()) {
        let before = self.seen.loaded();
        act().await;
        let after = async || self.seen.loaded().is_some_and(|now| Some(now) != before);
        self.until(what, after).await;
    }

    pub async fn url(&self) -> String {
        self.eval("location.href").await.as_str().expect("a text").to_owned()
    }

    pub async fn title(&self) -> String {
        self.eval("document.title").await.as_str().expect("a text").to_owned()
    }

    /// The value of an expression or of its promise.
    pub async fn eval(&self, code: &str) -> Value {
        match self.try_eval(code).await {
            Ok(value) => value,
            Err(error) => panic!("{code}: {error}"),
        }
    }

    async fn try_eval(&self, code: &str) -> Result<Value, String> {
        let asked = json!({"expression": code, "returnByValue": true, "awaitPromise": true});
        value_in(self.ask("Runtime.evaluate", asked).await?)
    }

    /// Waits until an expression is true.
    pub async fn wait_for(&self, what: &str, code: &str) {
        self.until(what, async || self.try_eval(code).await.is_ok_and(|value| is_truthy(&value)))
            .await;
    }

    /// Waits until exactly one such element is visible.
    pub async fn see(&self, find: impl Into<Find>) {
        self.one(&find.into()).await;
    }

    /// Waits until no such element is visible.
    pub async fn see_no(&self, find: impl Into<Find>) {
        let find = find.into();
        self.until(
            &format!("no {find}"),
            async || matches!(self.visible(&find).await, Ok(found) if found.is_empty()),
        )
        .await;
    }

    /// The number of visible elements.
    pub async fn count(&self, find: impl Into<Find>) -> usize {
        let find = find.into();
        let mut count = 0;
        self.until(&format!("{find} can be counted"), async || match self.visible(&find).await {
            Ok(found) => {
                count = found.len();
                true
            }
            Err(_) => false,
        })
        .await;
        count
    }

    /// Waits until the page contains this text.
    pub async fn reads(&self, text: &str) {
        let code = format!(
            "document.body.innerText.replace(/\\s+/g, ' ').includes({})",
            json!(squeezed(text))
        );
        self.wait_for(&format!("the page says {text:?}"), &code).await;
    }

    /// The text of the page, with single spaces.
    pub async fn says(&self) -> String {
        squeezed(self.eval("document.body.innerText").await.as_str().unwrap_or_default())
    }

    /// The text of an element, with single spaces.
    pub async fn text(&self, find: impl Into<Find>) -> String {
        let said = self.on(&find.into(), "function() { return this.innerText }").await;
        squeezed(said.as_str().unwrap_or_default())
    }

    /// The value of a field.
    pub async fn value(&self, find: impl Into<Find>) -> String {
        let typed = self.on(&find.into(), "function() { return this.value }").await;
        typed.as_str().expect("a field").to_owned()
    }

    /// Calls a function on an element and returns its result.
    pub async fn on(&self, find: &Find, code: &str) -> Value {
        let asked = json!({
            "objectId": self.one(find).await, "functionDeclaration": code,
            "returnByValue": true, "awaitPromise": true,
        });
        match self.ask("Runtime.callFunctionOn", asked).await.and_then(value_in) {
            Ok(value) => value,
            Err(error) => panic!("{find}: {code}: {error}"),
        }
    }

    /// The role and name of the element with the focus, as a screen reader reads them.
    pub async fn focused(&self) -> (String, String) {
        loop {
            let asked = json!({"expression": "document.activeElement"});
            let active = self.call("Runtime.evaluate", asked).await["result"]["objectId"].take();
            let asked = json!({"objectId": active, "fetchRelatives": false});
            let tree = self.call("Accessibility.getPartialAXTree", asked).await;
            let said = |what: &str| tree["nodes"][0][what]["value"].as_str().unwrap_or_default();
            let asked = json!({"functionDeclaration": "function() { return this.isConnected; }",
                "objectId": active, "returnByValue": true});
            let there = self.call("Runtime.callFunctionOn", asked).await;
            // The page may have drawn the element anew, and moved the focus, between the questions.
            if there["result"]["value"] == true {
                return (said("role").to_owned(), squeezed(said("name")));
            }
        }
    }

    /// The role and name of each element, as a screen reader reads them.
    pub async fn read_out(&self) -> Vec<String> {
        let tree = self.call("Accessibility.getFullAXTree", json!({})).await;
        let mut lines = Vec::new();
        for node in tree["nodes"].as_array().into_iter().flatten() {
            let said = |what: &str| node[what]["value"].as_str().unwrap_or_default();
            if node["ignored"] != true && said("role") != "InlineTextBox" {
                lines.push(format!("{} {}", said("role"), squeezed(said("name"))));
            }
        }
        lines
    }

    /// Every request since [`Page::forget_requests`].
    pub fn requests(&self) -> Vec<Request> {
        self.seen.requests()
    }

    pub fn forget_requests(&self) {
        self.seen.forget_requests();
    }

    /// Asserts that the page sent requests to this origin only.
    #[track_caller]
    pub fn asked_only(&self, origin: &str) {
        let socket = origin.replacen("http", "ws", 1);
        for request in self.requests() {
            assert!([origin, &socket].contains(&request.origin()), "{request:?}");
        }
    }

    /// Returns and forgets the complaints: errors, policy violations and dialogs.
    pub fn complaints(&self) -> Vec<String> {
        self.seen.take_complaints()
    }

    /// Writes a picture of what is on the screen.
    pub async fn screenshot(&self, file: &Path) {
        let taken = self.call("Page.captureScreenshot", json!({"format": "png"})).await;
        let png = STANDARD.decode(taken["data"].as_str().expect("a picture")).expect("base64");
        fs::create_dir_all(file.parent().expect("a folder")).unwrap();
        fs::write(file, png).unwrap();
    }

    /// Writes a picture of the whole page.
    pub async fn whole_screenshot(&self, file: &Path) {
        let size = self.eval("[screen.width, screen.height]").await;
        let pixels = |size: &Value| u32::try_from(size.as_u64().expect("a size")).unwrap();
        let (width, height) = (pixels(&size[0]), pixels(&size[1]));
        // Arguments outside of the screen are not laid out, so the screen grows until it holds all.
        let mut tall = height;
        for _ in 0..10 {
            let code = "new Promise(requestAnimationFrame).then(() => Math.ceil(document.documentElement.getBoundingClientRect().height))";
            let needed = pixels(&self.eval(code).await).clamp(height, 16_000);
            if needed == tall {
                break;
            }
            tall = needed;
            self.screen(width, tall).await;
        }
        self.screenshot(file).await;
        self.screen(width, height).await;
    }

    /// Waits for exactly one visible element and returns its handle.
    pub(super) async fn one(&self, find: &Find) -> String {
        let began = Instant::now();
        loop {
            let found = self.visible(find).await;
            if let Ok([one]) = found.as_deref() {
                return one.clone();
            }
            if began.elapsed() > CEILING {
                panic!("{found:?} instead of one {find}; {}", self.looks().await);
            }
            sleep(Duration::from_millis(10)).await;
        }
    }

    async fn visible(&self, find: &Find) -> Result<Vec<String>, String> {
        let mut visible = Vec::new();
        for handle in self.all(find).await? {
            let asked = json!({
                "objectId": handle, "returnByValue": true,
                "functionDeclaration": "function() { return this.checkVisibility({visibilityProperty: true}) }",
            });
            if value_in(self.ask("Runtime.callFunctionOn", asked).await?)? == true {
                visible.push(handle);
            }
        }
        Ok(visible)
    }

    pub(super) async fn until(&self, what: &str, mut so: impl AsyncFnMut() -> bool) {
        let began = Instant::now();
        while !so().await {
            if began.elapsed() > CEILING {
                panic!("it never came to this: {what}; {}", self.looks().await);
            }
            sleep(Duration::from_millis(5)).await;
        }
    }

    /// The address and text of the page, for a failure message.
    async fn looks(&self) -> String {
        let code = "location.href + ' says: ' + document.body?.innerText.slice(0, 4000)";
        let said = self.try_eval(code).await.map_or_else(|error| error, |said| said.to_string());
        format!("{said}; it complains: {:?}", self.seen.take_complaints())
    }

    /// Sends a command and returns its answer or error.
    pub(super) async fn ask(&self, method: &str, given: Value) -> Result<Value, String> {
        self.tools.try_call(Some(&self.session), method, given).await
    }

    /// Sends a command that must succeed, and returns its answer.
    pub(super) async fn call(&self, method: &str, given: Value) -> Value {
        self.tools.call(Some(&self.session), method, given).await
    }
}

fn is_truthy(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false)) && *value != 0 && *value != ""
}

/// The value of an evaluation.
pub(super) fn value_in(mut answer: Value) -> Result<Value, String> {
    match answer.get("exceptionDetails") {
        Some(thrown) => {
            let what = thrown["exception"]["description"].as_str();
            Err(what.unwrap_or("something was thrown").to_owned())
        }
        None => Ok(answer["result"]["value"].take()),
    }
}
