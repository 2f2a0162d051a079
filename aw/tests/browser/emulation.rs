//! Emulates the screen, the preferences of a person, and the network.

use serde_json::{Value, json};

use super::page::Page;

/// The theme of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColorScheme {
    Light,
    Dark,
}

impl ColorScheme {
    pub const BOTH: [ColorScheme; 2] = [ColorScheme::Light, ColorScheme::Dark];

    pub fn name(self) -> &'static str {
        match self {
            ColorScheme::Light => "light",
            ColorScheme::Dark => "dark",
        }
    }
}

/// A phone, a tablet and a laptop.
pub const WIDTHS: [u32; 3] = [390, 820, 1440];

impl Page {
    /// Sets the width of the screen. A narrow screen is a phone.
    pub async fn width(&self, width: u32) {
        self.screen(width, if width < 1000 { 1000 } else { 900 }).await;
    }

    /// Sets the size of the screen.
    pub(super) async fn screen(&self, width: u32, height: u32) {
        let asked = json!({
            "width": width, "height": height, "screenWidth": width, "screenHeight": height,
            "deviceScaleFactor": 1, "mobile": width < 600,
        });
        self.call("Emulation.setDeviceMetricsOverride", asked).await;
    }

    /// Sets the theme of the system, and whether it reduces motion.
    pub async fn prefers(&self, theme: ColorScheme, less_motion: bool) {
        let motion = if less_motion { "reduce" } else { "no-preference" };
        let features = json!([
            {"name": "prefers-color-scheme", "value": theme.name()},
            {"name": "prefers-reduced-motion", "value": motion},
        ]);
        self.call("Emulation.setEmulatedMedia", json!({"features": features})).await;
    }

    /// Sets the language of the browser, such as `vi`.
    pub async fn speaks(&self, language: &str) {
        let agent = self.eval("navigator.userAgent").await;
        let asked = json!({"userAgent": agent, "acceptLanguage": language});
        self.call("Network.setUserAgentOverride", asked).await;
        self.call("Emulation.setLocaleOverride", json!({"locale": language})).await;
    }

    /// Turns JavaScript off, from the next document on.
    pub async fn without_scripts(&self) {
        self.call("Emulation.setScriptExecutionDisabled", json!({"value": true})).await;
    }

    /// Cuts or restores the network.
    pub async fn offline(&self, offline: bool) {
        let asked = json!({
            "offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1,
        });
        self.call("Network.emulateNetworkConditions", asked).await;
    }

    /// Adds these headers to every request.
    pub async fn headers(&self, headers: Value) {
        self.call("Network.setExtraHTTPHeaders", json!({"headers": headers})).await;
    }

    /// Runs this first in every document from now on.
    pub async fn at_first(&self, code: &str) {
        self.call("Page.addScriptToEvaluateOnNewDocument", json!({"source": code})).await;
    }

    /// Keeps notifications instead of showing them. The person allows them.
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

    /// Whether the page is wider than the screen.
    pub async fn is_too_wide(&self) -> bool {
        // A phone shrinks a page that is too wide, so innerWidth would be too large.
        self.eval("document.scrollingElement.scrollWidth > screen.width").await == true
    }
}
