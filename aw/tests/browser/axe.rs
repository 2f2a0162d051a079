//! Checks the accessibility of a page with axe-core.

use std::fs;

use serde_json::{Value, json};

use super::page::{Page, value_in};
use super::process::tools;

impl Page {
    /// Asserts that axe-core finds nothing wrong.
    pub async fn is_accessible(&self, what: &str) {
        let found = self.barriers().await;
        assert!(found.is_empty(), "{what}, {}:\n{}", self.url().await, found.join("\n"));
    }

    /// What axe-core finds wrong: the rule, and where.
    pub async fn barriers(&self) -> Vec<String> {
        let file = tools().join("node_modules/axe-core/axe.min.js");
        let axe = fs::read_to_string(file).expect("scripts/browser fetches axe-core");
        // A world of its own: the page sees nothing of it, and the page's policy does not bind it.
        let tree = self.call("Page.getFrameTree", json!({})).await;
        let asked = json!({"frameId": tree["frameTree"]["frame"]["id"], "worldName": "axe"});
        let world = self.call("Page.createIsolatedWorld", asked).await["executionContextId"].take();
        let code = format!(
            "{axe};
            axe.run(document, {{resultTypes: ['violations']}}).then(found => found.violations)"
        );
        let asked = json!({
            "expression": code, "contextId": world, "returnByValue": true, "awaitPromise": true,
        });
        let ran = self.call("Runtime.evaluate", asked).await;
        let found = value_in(ran).unwrap_or_else(|error| panic!("axe-core: {error}"));
        found.as_array().expect("a list").iter().map(described).collect()
    }
}

fn described(violation: &Value) -> String {
    let mut text = format!("{} ({}):", violation["id"], violation["help"]);
    for node in violation["nodes"].as_array().into_iter().flatten() {
        text += &format!("\n  {}\n    {}", node["target"], node["failureSummary"]);
    }
    text
}
