//! A person copies links and texts, exports a debate, and deletes it.

use std::fs;

use serde_json::Value;

use super::cli_debate::CliServer;
use super::find::{button, css, link, role};
use crate::world::{eventually, text};

#[tokio::test]
async fn links_texts_and_transcripts_are_copied_and_exported() {
    let Some((server, browser)) = CliServer::start().await else { return };
    server.file("plan.md", "# The plan\n\nIt has *one* step.\n");
    let plan = ["docs", "create", "--summary", "First draft", "--file", "plan.md"];
    let plan = text(&server.machine.aw(&plan).data()["document_id"]);
    let motion = format!("A *motion* with `code`. doc_id={plan} (v1)");
    let debate = server.debate("Take it <away>", &motion);
    debate.claims("opponent", "Says **who**?\n\n- [ ] nobody\n\n<script>alert(1)</script>");
    browser.allow_clipboard(&server.url()).await;
    let folder = tempfile::tempdir().unwrap();
    browser.downloads_into(folder.path()).await;
    let page = browser.open(&debate.url()).await;

    let clipboard = "navigator.clipboard.readText()";
    let claim = role("article", "Opponent CLAIM");
    page.click(button("Copy link").within(&claim)).await;
    page.see(button("Copied").within(&claim)).await;
    assert_eq!(page.eval(clipboard).await, format!("{}#a-2", debate.url()));
    page.click(button("Copy text").within(&claim)).await;
    page.wait_for(
        "the Markdown is copied",
        &format!("{clipboard}.then(text => text === {})", debate.newest()["content"]),
    )
    .await;
    page.see(button("Copy link").within(&claim)).await;

    for (name, end) in [("Markdown", "md"), ("HTML", "html"), ("JSON", "json")] {
        page.click(link(name).within(css("footer"))).await;
        let file = folder.path().join(format!("debate-{}.{end}", debate.id));
        eventually("it is downloaded", async || fs::metadata(&file).is_ok_and(|it| it.len() > 0))
            .await;
    }
    let file = |end: &str| folder.path().join(format!("debate-{}.{end}", debate.id));
    let markdown = fs::read_to_string(file("md")).unwrap();
    assert!(markdown.contains("Says **who**?"), "{markdown}");
    let whole: Value = serde_json::from_slice(&fs::read(file("json")).unwrap()).unwrap();
    assert!(whole.to_string().contains("Says **who**?"), "{whole}");
    // With the text of the document that it cites.
    assert!(markdown.contains("> It has *one* step."), "{markdown}");
    assert_eq!(whole["documents"][0]["content"], "# The plan\n\nIt has *one* step.\n");

    // The exported page shows the debate, loads nothing and runs nothing.
    let kept = browser.page().await;
    let address = format!("file://{}", file("html").display());
    kept.goto(&address).await;
    kept.reads("Take it <away>").await;
    kept.reads("Says who?").await;
    kept.reads("It has one step.").await;
    kept.reads("Document: The plan v1").await;
    assert!(markdown.contains(&format!("- Document: The plan v1, `{plan}`")), "{markdown}");
    assert_eq!(kept.text("#a-1 a.doc").await, "The plan");
    assert_eq!(kept.count("script").await, 0);
    assert_eq!(kept.eval("document.styleSheets.length").await, 1, "it carries its style");
    let requests = kept.requests();
    assert!(requests.iter().all(|request| request.url == address), "{requests:?}");
    kept.width(390).await;
    assert!(!kept.is_too_wide().await);
    assert_eq!(kept.complaints(), Vec::<String>::new());
}

#[tokio::test]
async fn the_page_asks_before_it_deletes_a_debate() {
    let Some((server, browser)) = CliServer::start().await else { return };
    let debate = server.debate("To be deleted", "A motion.");
    debate.claims("opponent", "A claim.");
    let waiting = debate.waits("opponent");
    let page = browser.open(&debate.url()).await;
    let watching = browser.open(&debate.url()).await;
    page.follow(link("Delete")).await;
    page.reads("Delete this debate?").await;
    page.reads("To be deleted").await;
    page.reads("Nobody will be able to read it (arguments: 2)").await;
    page.follow(link("Keep it")).await;
    page.reads("A claim.").await;
    page.follow(link("Delete")).await;
    page.follow(button("Delete it")).await;
    page.reads("The debate is deleted.").await;
    assert_eq!(page.count(link("To be deleted")).await, 0);
    // Open pages and waiting agents notice.
    watching.reads("This debate was deleted").await;
    watching.complaints();
    waiting.end().refused("DEBATE_NOT_FOUND", 2);
    page.goto(&debate.url()).await;
    page.reads("This debate was deleted").await;
    let complaints = page.complaints();
    assert!(complaints.iter().all(|complaint| complaint.contains("404")), "{complaints:?}");
}
