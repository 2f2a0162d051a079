//! A person starts a debate, and two agents take it up by the lines they are given.

use super::find::{button, css, field, link, role};
use super::stage::Stage;
use crate::world::text;

#[tokio::test]
async fn a_debate_is_started_and_two_agents_take_it_up_by_their_lines() {
    let Some((stage, browser)) = Stage::set().await else { return };
    let page = browser.open(&stage.url()).await;
    page.follow(link("New debate").within(role("main", "")).number(0)).await;
    page.type_into(field("Title"), "Keep one SQLite file?").await;
    page.click(role("radio", "General")).await;
    page.type_into(field("Motion"), "We keep **one** file.").await;
    page.type_into(field("Plan as a document"), "# Plan\n\nOne file, one writer.").await;
    page.click(role("radio", "ask me first")).await;
    page.double_click(button("Open the debate")).await;
    page.reads("The debate is open. Paste one line into each of two agents:").await;
    assert_eq!(stage.machine.get("/debates")["total"], 1, "a double click opens one");
    page.reads("Keep one SQLite file?").await;
    page.reads("We keep one file.").await;

    // The lines name the debate; what they tell an agent to run works as it stands.
    let lines = page
        .eval("[...document.querySelectorAll('.paste-lines code')].map(code => code.textContent)")
        .await;
    let id = page.url().await.split("/debate/").nth(1).unwrap()[..36].to_owned();
    for (line, role) in lines.as_array().unwrap().iter().zip(["proposer", "opponent"]) {
        let line = text(line);
        assert!(line.contains(role) && line.contains(&id), "{line}");
        let command = line.split('`').nth(1).expect("a command");
        assert!(command.starts_with("aw agent show "), "{command}");
        let shown = stage.machine.sh(command);
        assert_eq!(shown.code, Some(0), "{shown:?}");
        assert!(shown.out.to_lowercase().contains(&format!("you are the {role}")), "{shown:?}");
    }
    let opponent = stage.machine.aw(&["debate", "wait", "--debate-id", &id, "--role", "opponent"]);
    let next = text(&opponent.answer()["metadata"]["next_command"]);
    stage.file("YOUR_TEXT.md", "Two machines will fight over it.");
    stage.machine.sh(&next).data();
    page.reads("Two machines will fight over it.").await;
    page.reads("waiting for the proposer").await;

    // The document is there, and the policy is the one chosen.
    page.follow(css("#a-1 a[href^='/doc/']")).await;
    page.reads("One file, one writer.").await;
    let debate = stage.machine.get(&format!("/debates/{id}"));
    assert_eq!(debate["debate"]["resolution_policy"], "arbitrator");
    assert_eq!(debate["debate"]["debate_type"], "general_debate");
}

#[tokio::test]
async fn a_debate_that_cannot_be_started_says_why_and_keeps_what_was_typed() {
    let Some((stage, browser)) = Stage::set().await else { return };
    let page = browser.open(&format!("{}/new", stage.url())).await;
    page.type_into(field("Title"), "No motion").await;
    page.follow(button("Open the debate")).await;
    page.see(role("alert", "")).await;
    page.reads("Not sent:").await;
    assert_eq!(page.value(field("Title")).await, "No motion");
    assert_eq!(stage.machine.get("/debates")["total"], 0);
    page.type_into(field("Motion"), "Here it is.").await;
    page.follow(button("Open the debate")).await;
    page.reads("The debate is open.").await;
    assert_eq!(stage.machine.get("/debates")["total"], 1);
}
