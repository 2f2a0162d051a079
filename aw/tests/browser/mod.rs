//! Tests of the pages in a real browser.
//!
//! [`Browser::start`] makes a context of one shared browser process, with its own cookies and storage.
//! [`page::Page`] is a tab, and [`find`] finds elements by role and name. A test fails if a page
//! complains, unless the test takes the complaint from [`page::Page::complaints`].
//!
//! `scripts/browser` fetches Chromium and axe-core. Without them these tests fail, unless they were left
//! out.

mod accessibility;
mod attack;
mod axe;
mod cli_debate;
mod connection;
mod debate_list;
mod desk;
mod devtools;
mod documents;
mod emulation;
mod errors;
pub mod every_page;
mod export;
mod find;
mod hostile;
mod input;
mod intervention;
mod keyboard;
mod new_debate;
mod page;
mod page_log;
mod payloads;
mod points;
mod process;
mod reading;
mod relay;
mod report;
mod rig;
mod ruling;
mod screenshots;
mod signing_in;
mod site;
mod without_scripts;

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::panicking;

use serde_json::{Value, json};

use devtools::DevTools;
use page::Page;
use page_log::PageLog;

use crate::world::missing;

/// A browser that was never used before.
pub struct Browser {
    tools: Arc<DevTools>,
    context: String,
    seen: Mutex<Vec<Arc<PageLog>>>,
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

    /// A new tab whose complaints are ignored.
    pub async fn unwatched_page(&self) -> Page {
        Page::open_unwatched(&self.tools, &self.context).await
    }

    /// A new tab with this address.
    pub async fn open(&self, url: &str) -> Page {
        let page = self.page().await;
        page.goto(url).await;
        page
    }

    /// Saves downloads in this folder.
    pub async fn downloads_into(&self, folder: &Path) {
        let asked = json!({
            "behavior": "allow", "browserContextId": self.context, "downloadPath": folder,
        });
        self.tools.call(None, "Browser.setDownloadBehavior", asked).await;
    }

    /// Allows this site to read the clipboard.
    pub async fn allow_clipboard(&self, origin: &str) {
        let asked = json!({
            "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"],
            "browserContextId": self.context, "origin": origin,
        });
        self.tools.call(None, "Browser.grantPermissions", asked).await;
    }

    /// The ids of all tabs. Chromium also lists targets that are no tabs, such as parts of its own
    /// window (`browser_ui`, since version 156).
    pub async fn tabs(&self) -> Vec<String> {
        let targets = self.tools.call(None, "Target.getTargets", json!({})).await;
        let targets = targets["targetInfos"].as_array().expect("a list of targets").iter();
        let tabs = targets.filter(|target| {
            target["type"] == "page" && target["browserContextId"] == *self.context
        });
        tabs.map(|tab| tab["targetId"].as_str().expect("a text").to_owned()).collect()
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

    /// Every cookie, sorted by host and name.
    pub async fn cookies(&self) -> Vec<String> {
        let asked = json!({"browserContextId": self.context});
        let mut kept = self.tools.call(None, "Storage.getCookies", asked).await;
        let Value::Array(kept) = kept["cookies"].take() else { return Vec::new() };
        let mut kept: Vec<String> = kept
            .iter()
            .map(|cookie| {
                let field = |name: &str| cookie[name].to_string();
                ["domain", "name", "value", "httpOnly", "sameSite"].map(field).join(" ")
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
