//! Checks the accessibility of a page with axe-core.

use std::fs;

use serde_json::{Value, json};

use super::page::{Page, value_in};
use super::process::tools;

impl Page {
    /// Asserts that axe-core finds no violation. Without axe-core it is skipped and says so.
    pub async fn is_accessible(&self, what: &str) {
        let found = self.barriers().await;
        assert!(found.is_empty(), "{what}, {}:\n{}", self.url().await, found.join("\n"));
    }

    /// The violations that axe-core finds: the rule and the elements.
    #[expect(clippy::print_stdout, reason = "who reads the log should know what was not done")]
    pub async fn barriers(&self) -> Vec<String> {
        let Ok(axe) = fs::read_to_string(tools().join("node_modules/axe-core/axe.min.js")) else {
            println!("browser: axe-core was skipped; scripts/browser fetches it");
            return Vec::new();
        };
        // An isolated world, in which the policy of the page does not hold.
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
