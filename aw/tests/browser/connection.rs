//! The connection is lost and comes back, and so does a laptop that was asleep.

use super::find::{button, css, field, link, role};
use super::gallery::APPEAL;
use super::page::Page;
use super::relay::Relay;
use super::stage::Stage;
use crate::world::eventually;

const LOST: &str = "Connection lost.";
const TEXT: &str = "Text of the ruling";

/// Takes what a browser says about a network that is not there, and nothing else.
fn only_the_network(page: &Page) {
    for complaint in page.complaints() {
        let expected = ["net::ERR_", "WebSocket connection"];
        assert!(expected.iter().any(|words| complaint.contains(words)), "{complaint}");
    }
}

#[tokio::test]
async fn a_lost_connection_is_told_what_is_typed_is_kept_and_what_was_missed_is_caught_up() {
    let Some((stage, browser)) = Stage::set().await else { return };
    let debate = stage.debate("A shaky line", "It holds.");
    debate.claims("opponent", "It does not.");
    debate.appeals(APPEAL);
    let relay = Relay::to(&stage.url());
    let page = browser.open(&debate.url().replace(&stage.url(), &relay.url)).await;
    page.eval("window.here = 1").await;
    page.type_into(field(TEXT), "As long as it").await;

    stage.is_watched().await;
    relay.cut();
    page.reads(LOST).await;
    page.type_keys(" takes").await;
    // It tries again after pauses that grow.
    eventually("it has tried a few times", async || relay.tries().len() >= 6).await;
    let tries = relay.tries();
    let pause = |from: usize| tries[from + 2].duration_since(tries[from]);
    assert!(pause(tries.len() - 3) > pause(0), "{tries:?}");
    assert!(tries.len() < 30, "it does not hammer: {tries:?}");

    // Meanwhile others go on.
    debate.rules("Somebody else has ruled.");
    debate.claims("proposer", "So I go on.");
    debate.claims("opponent", "So do I.");
    assert_eq!(page.count(role("article", "")).await, 3);
    relay.join();
    page.reads("Connected again").await;
    page.reads("So do I.").await;
    assert_eq!(page.count(role("article", "")).await, 6, "each once");
    page.reads("Somebody else has ruled already").await;
    assert_eq!(page.value(field("What you typed")).await, "As long as it takes");
    page.reads("waiting for the proposer").await;
    page.see_no(css("#connection")).await;
    // It has asked for what it had not seen, and for nothing again.
    let requests = page.requests();
    let mut sockets = requests.iter().rev().filter(|request| request.url.contains("after_seq"));
    let last = sockets.next().expect("it follows the debate");
    assert!(last.url.contains("after_seq=3"), "{last:?}");
    assert_eq!(page.eval("window.here").await, 1, "nothing was loaded again");

    debate.claims("proposer", "And it is live again.");
    page.reads("And it is live again.").await;
    only_the_network(&page);
}

#[tokio::test]
async fn a_ruling_sent_into_the_void_is_not_lost() {
    let Some((stage, browser)) = Stage::set().await else { return };
    let debate = stage.debate("Into the void", "It holds.");
    debate.claims("opponent", "It does not.");
    debate.appeals(APPEAL);
    let relay = Relay::to(&stage.url());
    let page = browser.open(&debate.url().replace(&stage.url(), &relay.url)).await;
    page.type_into(field(TEXT), "Nobody hears this yet").await;
    stage.is_watched().await;
    relay.cut();
    page.reads(LOST).await;
    page.click(button("Send ruling")).await;
    page.wait_for("the browser says that nobody answers", "location.protocol.startsWith('chrome')")
        .await;
    relay.join();
    page.goto(&debate.url().replace(&stage.url(), &relay.url)).await;
    // The page's script puts it back, once it runs.
    let kept = "[...document.querySelectorAll('textarea')].some(it => it.value === 'Nobody hears this yet')";
    page.wait_for("what was written is there again", kept).await;
    page.follow(button("Send ruling")).await;
    page.reads("Your ruling is argument #4.").await;
    assert_eq!(debate.types(), ["MOTION", "CLAIM", "APPEAL", "RULING"]);
    only_the_network(&page);
}

#[tokio::test]
async fn the_list_catches_up_and_a_server_that_was_started_anew_is_found_again() {
    let Some((stage, browser)) = Stage::set().await else { return };
    stage.debate("Before", "Yes.");
    let page = browser.open(&stage.url()).await;
    page.see(link("Before")).await;
    stage.is_watched().await;
    stage.machine.aw(&["server", "stop"]).data();
    page.reads(LOST).await;
    // Whoever needs the server starts it.
    let after = stage.debate("After", "Yes.");
    page.see(link("After")).await;
    after.run("intervention", &[]);
    page.see(link("After").within(role("region", "Needs you"))).await;
    page.see_no(css("#connection")).await;
    only_the_network(&page);
}

#[tokio::test]
async fn a_laptop_that_was_asleep_connects_anew_at_once() {
    let Some((stage, browser)) = Stage::set().await else { return };
    let debate = stage.debate("Asleep", "Yes.");
    let page = browser.page().await;
    // A night passes when the test says so; the socket looks open all the while and is dead.
    page.at_first(
        "{
            const now = Date.now, Real = WebSocket;
            let slept = 0;
            window.dead = false;
            Date.now = () => now.call(Date) + slept;
            window.sleep = () => { slept += 8 * 3600 * 1000; window.dead = false };
            window.WebSocket = class extends Real {
                set onmessage(heard) { super.onmessage = message => { if (!this.deaf && !window.dead) heard(message); else this.deaf = true } }
                get onmessage() { return super.onmessage }
            };
        }",
    )
    .await;
    page.goto(&debate.url()).await;
    page.reads("waiting for the opponent").await;
    page.eval("window.dead = true").await;
    debate.claims("opponent", "Said in the night.");
    page.eval("new Promise(done => setTimeout(done, 300))").await;
    assert!(!page.says().await.contains("Said in the night."));
    page.eval("window.sleep()").await;
    page.reads("Said in the night.").await;
    page.reads("waiting for the proposer").await;
    assert_eq!(page.count(role("article", "")).await, 2, "each once");
}
