//! A person opens a debate, and two agents join it by the lines of the page.

use super::cli_debate::CliServer;
use super::find::{button, css, field, link, role};
use crate::world::text;

#[tokio::test]
async fn two_agents_join_a_new_debate_by_their_lines() {
    let Some((server, browser)) = CliServer::start().await else { return };
    let page = browser.open(&server.url()).await;
    page.follow(link("New debate").within(role("main", "")).number(0)).await;
    page.type_into(field("Title"), "Keep one SQLite file?").await;
    page.click(role("radio", "General")).await;
    page.type_into(field("Motion"), "We keep **one** file.").await;
    page.type_into(field("Plan as a document"), "# Plan\n\nOne file, one writer.").await;
    page.click(role("radio", "ask me first")).await;
    page.double_click(button("Open the debate")).await;
    page.reads("The debate is open. Paste one line into each of two agents:").await;
    assert_eq!(server.machine.get("/debates")["total"], 1, "a double click opens one");
    page.reads("Keep one SQLite file?").await;
    page.reads("We keep one file.").await;

    // The commands in the lines work as they are.
    let lines = page
        .eval("[...document.querySelectorAll('.paste-lines code')].map(code => code.textContent)")
        .await;
    let id = page.url().await.split("/debate/").nth(1).unwrap()[..36].to_owned();
    for (line, role) in lines.as_array().unwrap().iter().zip(["proposer", "opponent"]) {
        let line = text(line);
        assert!(line.contains(role) && line.contains(&id), "{line}");
        let command = line.split('`').nth(1).expect("a command");
        assert!(command.starts_with("aw agent show "), "{command}");
        let shown = server.machine.sh(command);
        assert_eq!(shown.code, Some(0), "{shown:?}");
        assert!(shown.out.to_lowercase().contains(&format!("you are the {role}")), "{shown:?}");
    }
    let opponent = server.machine.aw(&["debate", "wait", "--debate-id", &id, "--role", "opponent"]);
    let next = text(&opponent.answer()["metadata"]["next_command"]);
    server.file("YOUR_TEXT.md", "Two machines will fight over it.");
    server.machine.sh(&next).data();
    page.reads("Two machines will fight over it.").await;
    page.reads("waiting for the proposer").await;

    // The document and the chosen policy are stored.
    page.click(css("#a-1 a[href^='/doc/']")).await;
    page.see(css("#plan")).await;
    page.reads("One file, one writer.").await;
    let debate = server.machine.get(&format!("/debates/{id}"));
    assert_eq!(debate["debate"]["resolution_policy"], "arbitrator");
    assert_eq!(debate["debate"]["debate_type"], "general_debate");
}

#[tokio::test]
async fn the_line_of_a_run_is_composed_and_works_as_it_is() {
    let Some((server, browser)) = CliServer::start().await else { return };
    server.file("the plan.md", "# Plan\n\nOne file.\n");
    let page = browser.open(&format!("{}/new", server.url())).await;
    assert_eq!(page.text("#run-line").await, "aw debate run PLAN.md");
    page.type_into(field("File of the plan"), "the plan.md").await;
    page.type_into(field("What to look at"), "Ann's data; $(id)").await;
    page.type_into(role("combobox", "Opponent"), "nobody-has-this").await;
    page.wait_for(
        "the line is composed",
        "document.getElementById('run-line').textContent.includes('--opponent nobody-has-this')",
    )
    .await;
    let line = page.text("#run-line").await;
    let ran = server.machine.sh(&format!("{line} --check"));
    // The program is the only thing that this machine lacks.
    assert!(ran.out.contains("nobody-has-this"), "{line}: {ran:?}");

    // Drafts survive a change of language.
    page.type_into(field("Title"), "Kept").await;
    page.follow(button("VI")).await;
    let is_kept = "document.querySelector('[name=title]').value === 'Kept'";
    page.wait_for("the draft is back", is_kept).await;
    page.wait_for(
        "the line is back",
        "document.getElementById('run-line').textContent.includes('the plan.md')",
    )
    .await;
    page.follow(button("EN")).await;
    page.type_into(field("Motion"), "We keep one.").await;
    page.follow(button("Open the debate")).await;
    page.reads("The debate is open.").await;
    page.goto(&format!("{}/new", server.url())).await;
    assert_eq!(page.value(field("Title")).await, "", "the draft went with the debate");
}

#[tokio::test]
async fn a_refused_debate_says_why_and_keeps_the_text() {
    let Some((server, browser)) = CliServer::start().await else { return };
    let page = browser.open(&format!("{}/new", server.url())).await;
    page.type_into(field("Title"), "No motion").await;
    page.follow(button("Open the debate")).await;
    page.see(role("alert", "")).await;
    page.reads("Not sent:").await;
    assert_eq!(
        page.eval("document.activeElement.name").await,
        "content",
        "the focus is on the wrong field"
    );
    assert_eq!(page.value(field("Title")).await, "No motion");
    assert_eq!(server.machine.get("/debates")["total"], 0);
    page.type_into(field("Motion"), "Here it is.").await;
    page.follow(button("Open the debate")).await;
    page.reads("The debate is open.").await;
    assert_eq!(server.machine.get("/debates")["total"], 1);
}
