//! A person stops the agents, and sees what an agent was still writing.

use super::cli_debate::CliServer;
use super::find::{button, css, field, role};

#[tokio::test]
async fn a_stopped_agent_may_park_its_text_and_the_page_shows_it() {
    let Some((server, browser)) = CliServer::start().await else { return };
    let debate = server.debate("Rewrite it?", "In another language.");
    // The opponent has read the motion and is writing.
    assert_eq!(debate.run("wait", &["--role", "opponent"])["action"], "respond");
    let proposer = debate.waits("proposer");
    let page = browser.open(&debate.url()).await;
    page.reads("waiting for the opponent").await;
    page.reads("Proposer Proposer waiting").await;
    page.reads("Opponent Opponent has the floor").await;

    let stop = role("DisclosureTriangle", "Stop the agents");
    page.see_no(button("Stop them now")).await;
    page.click(&stop).await;
    page.reads("Both agents will wait for your ruling.").await;
    page.type_into(field("Reason (optional)"), "You argue about the wrong thing.").await;
    assert_eq!(debate.types(), ["MOTION"], "the page asks first");
    page.reload().await;
    let restored = "document.querySelector('#intervene textarea').value.startsWith('You argue')";
    page.wait_for("the reason is restored", restored).await;
    page.double_click(button("Stop them now")).await;
    page.reads("The agents are stopped. They wait for your ruling.").await;
    assert_eq!(debate.types(), ["MOTION", "INTERVENTION"], "a double click stops once");
    assert_eq!(proposer.end().data()["action"], "wait_for_ruling");
    page.reads("Your move for").await;
    page.see_no(&stop).await;
    let panel = role("region", "You have stopped the agents");
    assert!(page.text(&panel).await.contains("Opponent may still submit what it was writing"));

    let parked = debate_parks(&debate);
    let article = role("article", "Opponent CLAIM");
    page.see(&article).await;
    let shown = page.text(&article).await;
    assert!(shown.contains("parked") && shown.contains(parked), "{shown}");
    page.reads("Opponent submitted what it was writing: argument 3, parked.").await;
    let said = page.text(&panel).await;
    assert!(!said.contains("may still submit"), "{said}");

    let opponent = debate.waits("opponent");
    page.type_into(field("Text of the ruling"), "Argue about the import.").await;
    page.click(button("Send ruling")).await;
    page.reads("Your ruling is argument #4.").await;
    page.see_no(&panel).await;
    assert_eq!(opponent.end().data()["arguments"].as_array().unwrap().len(), 1);
    page.see(css("article.is-parked")).await;
}

/// The opponent submits what it wrote before the intervention.
fn debate_parks(debate: &super::cli_debate::CliDebate<'_>) -> &'static str {
    let motion = debate.arguments()[0]["id"].as_str().unwrap().to_owned();
    let words = "Written before I knew.";
    debate.run("submit", &["--role", "opponent", "--target-id", &motion, "--content", words]);
    words
}

#[tokio::test]
async fn an_intervention_that_comes_too_late_keeps_the_reason() {
    let Some((server, browser)) = CliServer::start().await else { return };
    let debate = server.debate("Closed meanwhile", "It closes.");
    let page = browser.page().await;
    page.at_first("window.WebSocket = class { close() {} }").await;
    page.goto(&debate.url()).await;
    page.click(role("DisclosureTriangle", "Stop the agents")).await;
    page.type_into(field("Reason"), "Too late").await;
    debate.run("intervention", &[]);
    debate.run("ruling", &["--content", "Enough.", "--close"]);
    page.follow(button("Stop them now")).await;
    page.reads("Not sent:").await;
    assert_eq!(page.value(field("What you typed")).await, "Too late");
    assert_eq!(debate.types(), ["MOTION", "INTERVENTION", "RULING"]);
    page.see_no(role("DisclosureTriangle", "Stop the agents")).await;
}
