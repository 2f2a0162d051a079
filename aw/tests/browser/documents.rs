//! Documents: linked from arguments in the cited version, read and compared.

use serde_json::Value;

use super::cli_debate::CliServer;
use super::find::{button, css, link, role};
use super::page::Page;
use crate::world::text;

/// The position of the cells of the changed line: left and top of the old, left and top of the new.
async fn changed(page: &Page) -> [f64; 4] {
    let code = "['del', 'ins'].flatMap(tag => {
        const at = document.querySelector('main tr:has(mark) ' + tag).getBoundingClientRect();
        return [at.left, at.top];
    })";
    let at = page.eval(code).await;
    [0, 1, 2, 3].map(|number: usize| at[number].as_f64().expect("a number"))
}

#[tokio::test]
async fn a_document_is_read_in_the_cited_version_and_two_versions_are_compared() {
    let Some((server, browser)) = CliServer::start().await else { return };
    let body = |import: &str, more: &str| {
        let same: Vec<String> =
            (1..30).map(|n| format!("{n}. Step {n} stays as it is\n")).collect();
        format!("# Plan\n\nThe import {import} the server.\n\n{}{more}", same.concat())
    };
    let docs =
        |command: &[&str]| -> Value { server.machine.aw(&[&["docs"], command].concat()).data() };
    server.file("plan.md", &body("stops", ""));
    let made = docs(&["create", "--summary", "First draft", "--file", "plan.md", "--author", "An"]);
    let plan = text(&made["document_id"]);
    let cites = format!("As planned: doc_id={plan} (v1)");
    let debate = server.debate("May the import stop the server?", &cites);
    server.file("plan.md", &body("never stops", "\nMeasure it.\n"));
    docs(&["submit", &plan, "--summary", "It runs on", "--file", "plan.md"]);
    server.file("plan.md", &body("hardly ever stops", "\nMeasure it twice.\n"));
    docs(&["submit", &plan, "--summary", "Hardly ever", "--file", "plan.md"]);

    // The link in the argument leads to the cited version.
    let page = browser.open(&debate.url()).await;
    let listed = || link("Plan").within(role("region", "Documents"));
    page.see(listed()).await;
    let cited = css(&format!("#a-1 a[href*='{plan}?version=1']"));
    assert_eq!(page.text(&cited).await, "Plan", "it is called by its name");
    page.follow(listed()).await;
    page.reads("Version 1 of 3").await;
    page.reads("by An").await;
    page.reads("The import stops the server.").await;
    assert!(!page.says().await.contains("Measure it"));
    assert_eq!(page.text("h1").await, "Plan", "a document is called by its first heading");

    // It leads back to the debates that cite it.
    let citing = role("region", "Debates that cite it");
    assert!(page.text(&citing).await.contains("v1 · #1"));
    page.follow(link("May the import stop the server?").within(&citing)).await;
    assert!(page.url().await.contains(&format!("{}#a-1", debate.id)));
    page.follow(listed()).await;

    // Another version, without an author.
    page.follow(link("v2").within(role("navigation", "Versions"))).await;
    page.reads("The import never stops the server.").await;
    page.reads("Version 2 of 3").await;
    page.reads("author not given").await;
    page.follow(link("Raw")).await;
    page.reads("# Plan").await;

    // What changed between two versions, in the rendered text.
    page.pick(role("combobox", "From"), "v1").await;
    page.pick(role("combobox", "To"), "v3").await;
    page.follow(button("Compare")).await;
    let compared = page.url().await;
    assert!(compared.contains("from=1") && compared.contains("to=3"), "{compared}");
    page.reads("The import hardly ever stops the server.").await;
    let new = page
        .eval("[...document.querySelectorAll('main ins')].map(e => e.textContent.trim())")
        .await;
    assert_eq!(new, serde_json::json!(["hardly ever", "Measure it twice."]));
    assert!(!page.says().await.contains("Step 15"), "the unchanged list is folded");
    page.click(role("DisclosureTriangle", "unchanged")).await;
    page.reads("Step 15 stays as it is").await;

    // The same line by line, side by side.
    page.follow(link("Line by line")).await;
    page.reads("lines added").await;
    let marked = page.eval("[...document.querySelectorAll('main mark')].map(m => m.textContent.trim()).filter(Boolean)").await;
    assert_eq!(marked, serde_json::json!(["hardly ever"]), "the changed words are marked");
    let [old_left, old_top, new_left, new_top] = changed(&page).await;
    assert!(new_left > old_left + 200.0 && (new_top - old_top).abs() < 2.0, "side by side");

    // Unchanged lines are folded.
    assert!(!page.says().await.contains("Step 15"));
    page.click(role("DisclosureTriangle", "unchanged lines")).await;
    page.reads("Step 15 stays as it is").await;

    // On a phone the old line is above the new one.
    page.width(390).await;
    let [old_left, old_top, new_left, new_top] = changed(&page).await;
    assert!((new_left - old_left).abs() < 40.0 && new_top > old_top + 5.0, "inline");
    assert!(!page.is_too_wide().await);
    page.width(1440).await;

    // The address has both versions.
    let other = browser.open(&format!("{compared}&view=lines")).await;
    other.reads("The import hardly ever stops the server.").await;
    assert_eq!(other.value(role("combobox", "From")).await, "1");
    assert_eq!(other.value(role("combobox", "To")).await, "3");
    other.goto(&compared.replace("from=1", "from=3")).await;
    other.reads("These two versions are the same.").await;

    // A deleted document has no link.
    docs(&["delete", &plan, "--confirm"]);
    page.goto(&debate.url()).await;
    page.reads("deleted").await;
    assert_eq!(page.count(listed()).await, 0);
}
