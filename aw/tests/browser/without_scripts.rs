//! Everything but the live updates works without JavaScript.

use super::cli_debate::CliServer;
use super::every_page::APPEAL;
use super::find::{button, css, field, link, role};
use crate::world::text;

#[tokio::test]
async fn a_person_without_scripts_reads_stops_rules_starts_and_deletes() {
    let Some((server, browser)) = CliServer::start().await else { return };
    server.file("plan.md", "# Plan\n\nThe server writes one file.\n");
    let made = server.machine.aw(&["docs", "create", "--summary", "The plan", "--file", "plan.md"]);
    let plan = text(&made.data()["document_id"]);
    server.file("plan.md", "# Plan\n\nThe server writes two files.\n");
    server.machine.aw(&["docs", "submit", &plan, "--summary", "Two", "--file", "plan.md"]).data();
    let debate = server.debate("Keep one SQLite file?", &format!("Yes: doc_id={plan} (v1)"));
    server.debate("Another", "Yes.");

    let page = browser.page().await;
    page.without_scripts().await;
    page.goto(&server.url()).await;
    assert_eq!(page.count(button("Copy")).await, 0, "buttons that need a script are hidden");
    assert_eq!(page.count(button("Notify me")).await, 0);
    page.type_into(role("searchbox", "Search titles"), "sqlite").await;
    page.follow(button("Show")).await;
    assert_eq!(page.count(link("Another")).await, 0);
    page.follow(link("Keep one SQLite file?")).await;

    // Reading a debate and a cited document.
    page.reads("waiting for the opponent").await;
    page.see_no(button("Copy link")).await;
    page.follow(css("#a-1 a[href^='/doc/']")).await;
    page.reads("The server writes one file.").await;
    page.follow(button("Compare")).await;
    page.back().await;
    page.pick(role("combobox", "From"), "v1").await;
    page.pick(role("combobox", "To"), "v2").await;
    page.follow(button("Compare")).await;
    page.see(css("main ins").number(0)).await;

    // Intervening.
    page.goto(&debate.url()).await;
    page.click(role("DisclosureTriangle", "Stop the agents")).await;
    page.type_into(field("Reason"), "Wrong thing.").await;
    page.follow(button("Stop them now")).await;
    page.reads("The agents are stopped.").await;

    // Ruling in own words, after a preview.
    page.type_into(field("Text of the ruling"), "Go **on**.").await;
    page.follow(button("Preview")).await;
    assert_eq!(page.text("#preview strong").await, "on");
    assert_eq!(page.value(field("Text of the ruling")).await, "Go **on**.");
    page.follow(button("Send ruling")).await;
    page.reads("Your ruling is argument #3.").await;

    // Ruling by an option.
    debate.arguments();
    debate.claims("proposer", "On we go.");
    debate.claims("opponent", "Where to?");
    debate.appeals(APPEAL);
    page.reload().await;
    page.follow(button("Send ruling")).await;
    page.reads("Choose an option or write what should be done.").await;
    page.click(role("radio", "Option B")).await;
    page.click(role("checkbox", "Close the debate with this ruling")).await;
    page.follow(button("Rule: Option B and close the debate")).await;
    assert!(text(&debate.newest()["content"]).contains("Import while it runs, slowly"));
    assert_eq!(debate.state(), "CLOSED");

    // Language, a new debate, deleting.
    page.follow(button("VI")).await;
    page.reads("đã đóng").await;
    page.follow(button("EN")).await;
    page.reads("closed").await;
    page.follow(link("New debate")).await;
    page.type_into(field("Title"), "Started by hand").await;
    page.type_into(field("Motion"), "A motion.").await;
    page.follow(button("Open the debate")).await;
    page.reads("The debate is open.").await;
    page.follow(link("Delete")).await;
    page.follow(button("Delete it")).await;
    page.reads("The debate is deleted.").await;
}

#[tokio::test]
async fn long_arguments_unfold_without_scripts() {
    let Some((server, browser)) = CliServer::start().await else { return };
    let debate = server.debate("Long", &"A paragraph of some length.\n\n".repeat(150));
    let page = browser.page().await;
    page.without_scripts().await;
    page.goto(&debate.url()).await;
    let height = || page.eval("document.querySelector('#a-1').offsetHeight");
    let folded = height().await.as_f64().unwrap();
    page.click(css("#a-1 label")).await;
    assert!(height().await.as_f64().unwrap() > folded * 1.5);
}
