//! The connection is lost and comes back.

use serde_json::json;

use super::cli_debate::CliServer;
use super::every_page::APPEAL;
use super::find::{button, css, field, link, role};
use super::page::Page;
use super::relay::Relay;

const LOST: &str = "Connection lost.";
const TEXT: &str = "Text of the ruling";

/// Takes complaints about the network, and fails for any other.
fn only_the_network(page: &Page) {
    for complaint in page.complaints() {
        let expected = ["net::ERR_", "WebSocket connection"];
        assert!(expected.iter().any(|words| complaint.contains(words)), "{complaint}");
    }
}

#[tokio::test]
async fn a_page_reports_a_lost_connection_keeps_the_text_and_catches_up() {
    let Some((server, browser)) = CliServer::start().await else { return };
    let debate = server.debate("A shaky line", "It holds.");
    debate.claims("opponent", "It does not.");
    debate.appeals(APPEAL);
    let relay = Relay::to(&server.url());
    let page = browser.page().await;
    // Pauses between attempts are recorded and take no time.
    page.at_first(
        "window.pauses = [];
        const later = setTimeout;
        Math.random = () => 1;
        window.setTimeout = (work, pause, ...rest) => {
            if (pause >= 400) pauses.push(pause);
            return later(work, pause >= 400 ? 10 : pause, ...rest);
        };",
    )
    .await;
    page.goto(&debate.url().replace(&server.url(), &relay.url)).await;
    page.eval("window.here = 1").await;
    page.type_into(field(TEXT), "As long as it").await;

    server.is_watched().await;
    page.eval("pauses.length = 0").await;
    relay.cut();
    page.reads(LOST).await;
    page.type_keys(" takes").await;
    page.wait_for("it has tried several times", "pauses.includes(15000)").await;
    let pauses = page.eval("[...new Set(pauses)]").await;
    assert_eq!(pauses, json!([400, 800, 1600, 3200, 6400, 12800, 15000]));

    debate.rules("Somebody else has ruled.");
    debate.claims("proposer", "So I go on.");
    debate.claims("opponent", "So do I.");
    assert_eq!(page.count(role("article", "")).await, 3);
    relay.join();
    page.reads("So do I.").await;
    assert_eq!(page.count(role("article", "")).await, 6, "each argument once");
    page.reads("Somebody else has ruled already").await;
    assert_eq!(page.value(field("What you typed")).await, "As long as it takes");
    page.reads("waiting for the proposer").await;
    page.see_no(css("#connection")).await;
    let requests = page.requests();
    let mut sockets = requests.iter().rev().filter(|request| request.url.contains("after_seq"));
    let last = sockets.next().expect("the page follows the debate");
    assert!(last.url.contains("after_seq=3"), "it asks for new arguments only: {last:?}");
    assert_eq!(page.eval("window.here").await, 1, "the page was not reloaded");

    debate.claims("proposer", "And it is live again.");
    page.reads("And it is live again.").await;
    only_the_network(&page);
}

#[tokio::test]
async fn a_ruling_without_a_connection_is_kept_and_sent_when_it_is_back() {
    let Some((server, browser)) = CliServer::start().await else { return };
    let debate = server.debate("Not sent", "It holds.");
    debate.claims("opponent", "It does not.");
    debate.appeals(APPEAL);
    let relay = Relay::to(&server.url());
    let url = debate.url().replace(&server.url(), &relay.url);
    let page = browser.open(&url).await;
    page.type_into(field(TEXT), "Nobody reads this yet").await;
    server.is_watched().await;
    relay.cut();
    page.reads(LOST).await;
    const KEPT: &str = "Your ruling is kept and sent when the connection is back.";
    page.click(button("Send ruling")).await;
    page.reads(KEPT).await;
    // It can be taken back, changed, and sent again.
    page.click(button("Do not send")).await;
    page.see_no(button("Do not send")).await;
    page.type_into(field(TEXT), ", or now").await;
    page.press("Control+Enter").await;
    page.reads(KEPT).await;
    relay.join();
    page.reads("Your ruling is argument #4.").await;
    assert_eq!(debate.newest()["content"], "Nobody reads this yet, or now");
    assert_eq!(debate.types(), ["MOTION", "CLAIM", "APPEAL", "RULING"]);
    only_the_network(&page);
}

#[tokio::test]
async fn the_list_reconnects_to_a_restarted_server_and_catches_up() {
    let Some((server, browser)) = CliServer::start().await else { return };
    server.debate("Before", "Yes.");
    let page = browser.open(&server.url()).await;
    page.see(link("Before")).await;
    server.is_watched().await;
    server.machine.aw(&["server", "stop"]).data();
    page.reads(LOST).await;
    // The next command starts the server.
    let after = server.debate("After", "Yes.");
    page.see(link("After")).await;
    after.run("intervention", &[]);
    page.see(link("After").within(role("region", "Needs you"))).await;
    page.see_no(css("#connection")).await;
    only_the_network(&page);
}

#[tokio::test]
async fn a_page_that_was_asleep_reconnects_at_once() {
    let Some((server, browser)) = CliServer::start().await else { return };
    let debate = server.debate("Asleep", "Yes.");
    let page = browser.page().await;
    // The socket drops messages while it looks open; then the clock of the page jumps.
    page.at_first(
        "{
            const now = Date.now, Real = WebSocket;
            let slept = 0;
            Date.now = () => now.call(Date) + slept;
            window.sleep = () => { slept += 8 * 3600 * 1000; window.dead = false };
            window.WebSocket = class extends Real {
                set onmessage(heard) {
                    super.onmessage = message => {
                        if (window.dead) window.dropped = this.isDead = true;
                        if (!this.isDead) heard(message);
                    };
                }
            };
        }",
    )
    .await;
    page.goto(&debate.url()).await;
    page.reads("waiting for the opponent").await;
    page.eval("window.dead = true").await;
    debate.claims("opponent", "Said in the night.");
    page.wait_for("the socket drops it", "window.dropped").await;
    assert!(!page.says().await.contains("Said in the night."));
    page.eval("window.sleep()").await;
    page.reads("Said in the night.").await;
    page.reads("waiting for the proposer").await;
    assert_eq!(page.count(role("article", "")).await, 2, "each argument once");
}
