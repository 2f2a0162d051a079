//! People at the page: a real browser, driven as hands, eyes and screen readers would.
//!
//! [`Browser::start`] gives a test a browser of its own (a context of one shared process, with its
//! own cookies and storage), [`page::Page`] is a tab in it, [`find`] names what is on it. A test
//! fails when a page complains of anything that the test has not taken from [`page::Page::complaints`].
//!
//! `scripts/browser` fetches Chromium and axe-core. Without them these tests fail, unless they were left
//! out.

mod access;
mod attack;
mod axe;
mod connection;
mod devtools;
mod find;
mod gallery;
mod hands;
mod hostile;
mod keyboard;
mod list;
mod opening;
mod page;
mod papers;
mod payloads;
mod pictures;
mod plain;
mod process;
mod proof;
mod reading;
mod relay;
mod ruling;
mod seen;
mod sight;
mod signing_in;
mod site;
mod stage;
mod stopping;
mod taking_away;
mod trouble;

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::panicking;

use serde_json::{Value, json};

use devtools::DevTools;
use page::Page;
use seen::Seen;

use crate::world::missing;

/// A browser that was never used before.
pub struct Browser {
    tools: Arc<DevTools>,
    context: String,
    seen: Mutex<Vec<Arc<Seen>>>,
}

impl Browser {
    /// Starts a browser. None if these tests were left out.
    pub async fn start() -> Option<Self> {
        match process::process() {
            Ok(process) => {
                let tools = DevTools::connect(&process.address).await;
                let asked = json!({"disposeOnDetach": true});
                let made = tools.call(None, "Target.createBrowserContext", asked).await;
                let context = made["browserContextId"].as_str().expect("a context").to_owned();
                Some(Browser { tools, context, seen: Mutex::default() })
            }
            Err(why) => {
                missing("browser", why);
                None
            }
        }
    }

    /// A new tab.
    pub async fn page(&self) -> Page {
        let page = Page::open(&self.tools, &self.context).await;
        self.seen.lock().unwrap().push(page.seen.clone());
        page
    }

    /// A new tab for somebody who does harm, and may complain.
    pub async fn strangers_page(&self) -> Page {
        Page::open_unwatched(&self.tools, &self.context).await
    }

    /// A new tab that shows this address.
    pub async fn open(&self, url: &str) -> Page {
        let page = self.page().await;
        page.goto(url).await;
        page
    }

    /// What is downloaded goes into this folder.
    pub async fn downloads_into(&self, folder: &Path) {
        let asked = json!({
            "behavior": "allow", "browserContextId": self.context, "downloadPath": folder,
        });
        self.tools.call(None, "Browser.setDownloadBehavior", asked).await;
    }

    /// Its user lets this site read the clipboard.
    pub async fn allow_clipboard(&self, origin: &str) {
        let asked = json!({
            "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"],
            "browserContextId": self.context, "origin": origin,
        });
        self.tools.call(None, "Browser.grantPermissions", asked).await;
    }

    /// The address of every tab of this browser.
    pub async fn addresses(&self) -> Vec<String> {
        self.each_tab("url").await
    }

    /// Every tab of this browser, by its id.
    pub async fn tabs(&self) -> Vec<String> {
        self.each_tab("targetId").await
    }

    /// Closes every other tab.
    pub async fn keep_only(&self, tabs: &[String]) {
        for tab in self.tabs().await {
            if !tabs.contains(&tab) {
                // It may be closing already.
                let _ =
                    self.tools.try_call(None, "Target.closeTarget", json!({"targetId": tab})).await;
            }
        }
    }

    /// This field of each tab. Chromium also lists targets that are no tabs, such as parts of its own
    /// window (`browser_ui`, since version 156); newer versions may add more kinds.
    async fn each_tab(&self, field: &str) -> Vec<String> {
        let targets = self.tools.call(None, "Target.getTargets", json!({})).await;
        let targets = targets["targetInfos"].as_array().expect("a list of targets").iter();
        let tabs = targets.filter(|target| {
            target["type"] == "page" && target["browserContextId"] == *self.context
        });
        tabs.map(|tab| tab[field].as_str().expect("a text").to_owned()).collect()
    }

    /// Every cookie that it keeps, in the order of their hosts and names.
    pub async fn cookies(&self) -> Vec<String> {
        let asked = json!({"browserContextId": self.context});
        let mut kept = self.tools.call(None, "Storage.getCookies", asked).await;
        let Value::Array(kept) = kept["cookies"].take() else { return Vec::new() };
        let mut kept: Vec<String> = kept
            .iter()
            .map(|cookie| {
                let said = |what: &str| cookie[what].to_string();
                ["domain", "name", "value", "httpOnly", "sameSite"].map(said).join(" ")
            })
            .collect();
        kept.sort();
        kept
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !panicking() {
            for seen in self.seen.lock().unwrap().iter() {
                let complaints = seen.take_complaints();
                assert!(complaints.is_empty(), "the page complains: {complaints:#?}");
            }
        }
    }
}
