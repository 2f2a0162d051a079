//! axe-core on every page in every state, and no page wider than the screen of a phone.

use serde_json::json;

use super::emulation::{ColorScheme, WIDTHS};
use super::every_page::{APPEAL, PointDebate, every_page, every_page_by_seat};
use super::find::{button, css, field, link, role};
use super::{Browser, Page};
use crate::api::token_server::TokenServer;
use crate::world::{World, text};

#[tokio::test]
async fn every_page_in_every_state_is_accessible() {
    let Some(browser) = Browser::start().await else { return };
    let (world, empty) = (World::start().await, World::start().await);
    let mut pages = vec![("list-empty", empty.url.clone())];
    for state in every_page(&world).await {
        pages.push((state.name, format!("{}{}", world.url, state.path)));
    }
    let page = browser.page().await;
    for (name, url) in pages {
        page.goto(&url).await;
        // Pages with an error status are complaints of the browser.
        page.complaints();
        is_accessible(&page, name).await;
    }
}

#[tokio::test]
async fn every_page_of_every_seat_is_accessible() {
    let Some(browser) = Browser::start().await else { return };
    let server = TokenServer::start().await;
    let page = browser.page().await;
    for state in every_page_by_seat(&server).await {
        let path = match &state.token {
            Some(token) => server.link(token, &state.path).await,
            None => state.path,
        };
        page.goto(&format!("{}{path}", server.world.url)).await;
        is_accessible(&page, state.name).await;
        // Pages with an error status are complaints of the browser.
        page.complaints();
    }
    // A link opened by a browser that may only prefetch it.
    let other = browser.page().await;
    other.headers(json!({"Sec-Purpose": "prefetch"})).await;
    other.goto(&format!("{}{}", server.world.url, server.link("secret", "/").await)).await;
    other.see(button("Sign in")).await;
    is_accessible(&other, "a link with a button").await;
}

/// Asserts that the page is accessible now, in both themes.
async fn is_accessible(page: &Page, what: &str) {
    for theme in ColorScheme::BOTH {
        page.prefers(theme, true).await;
        page.is_accessible(&format!("{what}, {}", theme.name())).await;
    }
    for width in WIDTHS {
        page.width(width).await;
        assert!(!page.is_too_wide().await, "{what} is wider than {width}");
    }
}

#[tokio::test]
async fn every_state_that_a_person_causes_is_accessible() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let debate = world.debate("May the import stop the server?").await;
    let url = format!("{}/debate/{}", world.url, debate.id);
    let page = browser.open(&url).await;
    page.click(role("DisclosureTriangle", "Stop the agents")).await;
    is_accessible(&page, "about to stop").await;
    page.click(css("#agent-opponent summary")).await;
    page.reads("Bring this agent back").await;
    is_accessible(&page, "an agent that is away").await;

    let long = "A paragraph of some length.\n\n".repeat(150);
    let claim = debate.claim("opponent", &debate.motion, &long).await;
    page.see(css("#a-2")).await;
    page.click(css("#a-2 label")).await;
    page.eval("scrollTo(0, 0)").await;
    debate.ask("appeal", &text(&claim["argument"]["id"]), APPEAL).await.created();
    page.see(button("new").within(css("#debate"))).await;
    page.click(role("radio", "Option B")).await;
    page.click(button("Preview")).await;
    page.see(css("#preview .words")).await;
    is_accessible(&page, "a choice and its preview").await;

    page.focus(field("Text of the ruling")).await;
    page.press("Control+a").await;
    page.type_keys(" ").await;
    page.eval("document.querySelectorAll('[name=choice]').forEach(one => { one.checked = false })")
        .await;
    page.click(css("button[value=send]")).await;
    page.reads("Choose an option").await;
    is_accessible(&page, "a ruling that is refused").await;

    page.type_into(field("Text of the ruling"), "Too late").await;
    debate.rule(json!({"content": "Faster."})).await.created();
    page.reads("Somebody else has ruled already").await;
    page.offline(true).await;
    page.reads("Connection lost.").await;
    is_accessible(&page, "overtaken and offline").await;
    page.offline(false).await;
    page.reads("Connected again").await;
    page.complaints();

    let points = PointDebate::appealed(&world).await;
    page.goto(&format!("{}/debate/{}", world.url, points.debate.id)).await;
    page.click(role("DisclosureTriangle", "What both sides say")).await;
    page.click(role("radio", "Uphold")).await;
    is_accessible(&page, "points in the dock").await;
    page.click(link("P2 Refunds").within(css("#rail"))).await;
    page.see(css("#thread")).await;
    is_accessible(&page, "the turns of a point").await;
    page.press("?").await;
    page.see(role("dialog", "Keys")).await;
    is_accessible(&page, "the keys").await;
    page.press("Escape").await;
    page.type_into(field("Text of the ruling"), "### P9 [upheld] No.").await;
    page.click(button("Uphold P2")).await;
    page.see(css("#flaws")).await;
    is_accessible(&page, "a ruling with a flaw").await;

    page.goto(&format!("{}/new", world.url)).await;
    page.click(css(".point-settings summary")).await;
    page.type_into(field("Title"), "No motion").await;
    page.follow(button("Open the debate")).await;
    page.see(role("alert", "")).await;
    is_accessible(&page, "a debate that is refused").await;

    let lines: Vec<String> = (0..60).map(|number| format!("Line {number}\n")).collect();
    let body = json!({"summary": "One", "content": lines.concat()});
    let plan = text(&world.post("/documents", body).await.created()["document_id"]);
    let body = json!({"summary": "Two", "content": lines.concat() + "One more\n"});
    world.post(&format!("/documents/{plan}/versions"), body).await.created();
    page.goto(&format!("{}/doc/{plan}?from=1&to=2&view=lines", world.url)).await;
    page.click(role("DisclosureTriangle", "unchanged lines")).await;
    page.reads("Line 30").await;
    is_accessible(&page, "a comparison with its fold open").await;
}
