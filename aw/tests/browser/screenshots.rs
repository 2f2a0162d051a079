//! Takes pictures of every page for `scripts/screenshots`.

use super::emulation::ColorScheme;
use super::every_page::{every_page, every_page_by_seat};
use super::find::css;
use super::process::target;
use super::{Browser, Page};
use crate::api::token_server::TokenServer;
use crate::world::World;

/// A phone, a small laptop, a laptop, and a screen with room for the list beside a debate.
const WIDTHS: [u32; 4] = [390, 1024, 1440, 1760];

/// The pages that are drawn in Vietnamese too.
const TRANSLATED: [&str; 5] =
    ["list", "new", "document", "debate-points-appealed", "debate-closed"];

#[tokio::test]
#[expect(clippy::print_stdout, reason = "who reads the log should know what was not done")]
async fn every_page_has_a_screenshot() {
    let Ok(wanted) = std::env::var("AW_SCREENSHOTS") else {
        println!("screenshots: skipped; scripts/screenshots takes them");
        return;
    };
    let Some(browser) = Browser::start().await else { return };
    let (world, empty) = (World::start().await, World::start().await);
    let mut pages = vec![("list-empty", empty.url.clone())];
    for state in every_page(&world).await {
        pages.push((state.name, format!("{}{}", world.url, state.path)));
    }
    let page = browser.page().await;
    pages.retain(|(name, _)| name.contains(&wanted));
    for (name, url) in pages {
        take(&page, name, &url).await;
        if TRANSLATED.contains(&name) {
            page.speaks("vi").await;
            take(&page, &format!("{name}-vi"), &url).await;
            page.speaks("en").await;
        }
    }
    let server = TokenServer::start().await;
    for state in every_page_by_seat(&server).await {
        if !state.name.contains(&wanted) {
            continue;
        }
        if let Some(token) = &state.token {
            let link = server.link(token, &state.path).await;
            page.goto(&format!("{}{link}", server.world.url)).await;
        }
        take(&page, state.name, &format!("{}{}", server.world.url, state.path)).await;
    }
}

/// Takes the pictures of one page: the whole page, and on a phone the sheet in which a person rules.
async fn take(page: &Page, name: &str, url: &str) {
    for theme in ColorScheme::BOTH {
        page.prefers(theme, true).await;
        for width in WIDTHS {
            page.width(width).await;
            page.goto(url).await;
            let picture = |part: &str| {
                target().join(format!("screenshots/{name}{part}-{width}-{}.png", theme.name()))
            };
            page.screenshot(&picture("-screen")).await;
            page.whole_screenshot(&picture("")).await;
            if width == 390 && page.count(css(".dock-bar")).await > 0 {
                page.click(css(".dock-bar")).await;
                page.screenshot(&picture("-sheet")).await;
            }
        }
    }
    // Pages with an error status are complaints of the browser.
    page.complaints();
}
