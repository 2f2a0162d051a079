//! For everybody: axe-core over every page and state, and nothing beside a phone's screen.

use serde_json::json;

use super::find::{button, css, field, role};
use super::gallery::{APPEAL, hang, hang_by_seat};
use super::sight::{Theme, WIDTHS};
use super::{Browser, Page};
use crate::api::guarded_server::GuardedServer;
use crate::world::{World, text};

#[tokio::test]
async fn no_page_in_any_state_keeps_anybody_out() {
    let Some(browser) = Browser::start().await else { return };
    let (world, empty) = (World::start().await, World::start().await);
    let mut pages = vec![("list-empty", empty.url.clone())];
    for exhibit in hang(&world).await {
        pages.push((exhibit.name, format!("{}{}", world.url, exhibit.path)));
    }
    let page = browser.page().await;
    let mut found = Vec::new();
    for (name, url) in pages {
        page.goto(&url).await;
        // A page that says that something is missing is a 404, which the browser notes.
        page.complaints();
        for theme in Theme::BOTH {
            page.prefers(theme, true).await;
            for width in WIDTHS {
                page.width(width).await;
                if page.is_too_wide().await {
                    found.push(format!("{name} is wider than {width}"));
                }
            }
            for barrier in page.barriers().await {
                found.push(format!("{name}, {}: {barrier}", theme.name()));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[tokio::test]
async fn no_page_of_any_seat_keeps_anybody_out() {
    let Some(browser) = Browser::start().await else { return };
    let house = GuardedServer::open().await;
    let page = browser.page().await;
    for exhibit in hang_by_seat(&house).await {
        let path = match &exhibit.token {
            Some(token) => house.link(token, &exhibit.path).await,
            None => exhibit.path,
        };
        page.goto(&format!("{}{path}", house.world.url)).await;
        lets_everybody_in(&page, exhibit.name).await;
        // What a seat may not do is a 403, which the browser notes.
        page.complaints();
    }
    // As somebody sees it who follows the link with a browser that says nothing of itself.
    let other = browser.page().await;
    other.headers(json!({"Sec-Purpose": "prefetch"})).await;
    other.goto(&format!("{}{}", house.world.url, house.link("secret", "/").await)).await;
    other.see(button("Sign in")).await;
    lets_everybody_in(&other, "a link with a button").await;
}

/// Asserts that nobody is kept out of the page as it is now, in both themes.
async fn lets_everybody_in(page: &Page, what: &str) {
    for theme in Theme::BOTH {
        page.prefers(theme, true).await;
        page.is_accessible(&format!("{what}, {}", theme.name())).await;
    }
    for width in WIDTHS {
        page.width(width).await;
        assert!(!page.is_too_wide().await, "{what} is wider than {width}");
    }
}

#[tokio::test]
async fn no_state_that_somebody_brings_about_keeps_anybody_out() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let debate = world.debate("May the import stop the server?").await;
    let url = format!("{}/debate/{}", world.url, debate.id);
    let page = browser.open(&url).await;
    page.click(role("DisclosureTriangle", "Stop the agents")).await;
    page.click(role("DisclosureTriangle", "Bring this agent back").number(0)).await;
    lets_everybody_in(&page, "about to stop").await;

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
    lets_everybody_in(&page, "a choice and its preview").await;

    page.focus(field("Text of the ruling")).await;
    page.press("Control+a").await;
    page.type_keys(" ").await;
    page.eval("document.querySelectorAll('[name=choice]').forEach(one => { one.checked = false })")
        .await;
    page.follow(button("Send ruling")).await;
    page.reads("Choose an option").await;
    lets_everybody_in(&page, "a ruling that is refused").await;

    page.type_into(field("Text of the ruling"), "Too late").await;
    debate.rule(json!({"content": "Faster."})).await.created();
    page.reads("Somebody has ruled already").await;
    page.offline(true).await;
    page.reads("Connection lost.").await;
    lets_everybody_in(&page, "overtaken and offline").await;
    page.offline(false).await;
    page.reads("Connected again").await;
    page.complaints();

    page.goto(&format!("{}/new", world.url)).await;
    page.type_into(field("Title"), "No motion").await;
    page.follow(button("Open the debate")).await;
    page.see(role("alert", "")).await;
    lets_everybody_in(&page, "a debate that is refused").await;

    let lines: Vec<String> = (0..60).map(|number| format!("Line {number}\n")).collect();
    let body = json!({"summary": "One", "content": lines.concat()});
    let plan = text(&world.post("/documents", body).await.created()["document_id"]);
    let body = json!({"summary": "Two", "content": lines.concat() + "One more\n"});
    world.post(&format!("/documents/{plan}/versions"), body).await.created();
    page.goto(&format!("{}/doc/{plan}?from=1&to=2", world.url)).await;
    page.click(role("DisclosureTriangle", "unchanged lines")).await;
    page.reads("Line 30").await;
    lets_everybody_in(&page, "a comparison with its fold open").await;
}
