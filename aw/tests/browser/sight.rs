//! How a page sees the world: the screen, its user's wishes, the network.

use serde_json::{Value, json};

use super::page::Page;

/// Light or dark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    Light,
    Dark,
}

impl Theme {
    pub const BOTH: [Theme; 2] = [Theme::Light, Theme::Dark];

    pub fn name(self) -> &'static str {
        match self {
            Theme::Light => "light",
            Theme::Dark => "dark",
        }
    }
}

/// A phone, a tablet and a laptop.
pub const WIDTHS: [u32; 3] = [390, 820, 1440];

impl Page {
    /// On a screen of this width; a narrow one is a phone's.
    pub async fn width(&self, width: u32) {
        self.screen(width, if width < 1000 { 1000 } else { 900 }).await;
    }

    /// On a screen of this size.
    pub(super) async fn screen(&self, width: u32, height: u32) {
        let asked = json!({
            "width": width, "height": height, "screenWidth": width, "screenHeight": height,
            "deviceScaleFactor": 1, "mobile": width < 600,
        });
        self.call("Emulation.setDeviceMetricsOverride", asked).await;
    }

    /// Whose system is set to this theme, and perhaps to little motion.
    pub async fn prefers(&self, theme: Theme, less_motion: bool) {
        let motion = if less_motion { "reduce" } else { "no-preference" };
        let features = json!([
            {"name": "prefers-color-scheme", "value": theme.name()},
            {"name": "prefers-reduced-motion", "value": motion},
        ]);
        self.call("Emulation.setEmulatedMedia", json!({"features": features})).await;
    }

    /// Whose browser asks for this language, such as `vi`.
    pub async fn speaks(&self, language: &str) {
        let agent = self.eval("navigator.userAgent").await;
        let asked = json!({"userAgent": agent, "acceptLanguage": language});
        self.call("Network.setUserAgentOverride", asked).await;
        self.call("Emulation.setLocaleOverride", json!({"locale": language})).await;
    }

    /// Without JavaScript, from the next document on.
    pub async fn without_scripts(&self) {
        self.call("Emulation.setScriptExecutionDisabled", json!({"value": true})).await;
    }

    /// Cuts the network off, or joins it again.
    pub async fn offline(&self, offline: bool) {
        let asked = json!({
            "offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1,
        });
        self.call("Network.emulateNetworkConditions", asked).await;
    }

    /// With these headers in every request.
    pub async fn headers(&self, headers: Value) {
        self.call("Network.setExtraHTTPHeaders", json!({"headers": headers})).await;
    }

    /// Requests to addresses like these fail; `*` stands for anything.
    pub async fn block(&self, patterns: &[&str]) {
        self.call("Network.setBlockedURLs", json!({"urls": patterns})).await;
    }

    /// Dialogs of the browser are answered with yes instead of no. They stay complaints.
    pub fn accept_dialogs(&self) {
        self.seen.accept_dialogs();
    }

    /// Runs this before anything else in every document from now on.
    pub async fn at_first(&self, code: &str) {
        self.call("Page.addScriptToEvaluateOnNewDocument", json!({"source": code})).await;
    }

    /// Keeps notifications instead of showing them. Its user allows them when asked.
    pub async fn keep_notifications(&self) {
        let code = "{
            const shown = [];
            let permission = 'default';
            window.Notification = class extends EventTarget {
                constructor(title, options = {}) {
                    super();
                    if (permission !== 'granted') return;
                    shown.push({title, ...options});
                    this.title = title;
                }
                close() {}
                static get permission() { return permission }
                static async requestPermission() { return permission = 'granted' }
                static shown = shown;
            };
        }";
        self.at_first(code).await;
    }

    /// The notifications so far.
    pub async fn notifications(&self) -> Vec<Value> {
        self.eval("Notification.shown").await.as_array().cloned().unwrap_or_default()
    }

    /// Whether there is something beside the screen to scroll to.
    pub async fn is_too_wide(&self) -> bool {
        // On a phone the page is made to fit by shrinking it, so the screen is asked, not the page.
        self.eval("document.scrollingElement.scrollWidth > screen.width").await == true
    }
}
