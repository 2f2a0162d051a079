//! Takes pictures of every page for `scripts/screenshots`.

use super::emulation::{ColorScheme, WIDTHS};
use super::every_page::{every_page, every_page_by_seat};
use super::process::target;
use super::{Browser, Page};
use crate::api::token_server::TokenServer;
use crate::world::World;

#[tokio::test]
#[expect(clippy::print_stdout, reason = "who reads the log should know what was not done")]
async fn every_page_has_a_screenshot() {
    if std::env::var_os("AW_SCREENSHOTS").is_none() {
        println!("screenshots: skipped; scripts/screenshots takes them");
        return;
    }
    let Some(browser) = Browser::start().await else { return };
    let (world, empty) = (World::start().await, World::start().await);
    let mut pages = vec![("list-empty", empty.url.clone())];
    for state in every_page(&world).await {
        pages.push((state.name, format!("{}{}", world.url, state.path)));
    }
    let page = browser.page().await;
    for (name, url) in pages {
        take(&page, name, &url).await;
    }
    let server = TokenServer::start().await;
    for state in every_page_by_seat(&server).await {
        if let Some(token) = &state.token {
            let link = server.link(token, &state.path).await;
            page.goto(&format!("{}{link}", server.world.url)).await;
        }
        take(&page, state.name, &format!("{}{}", server.world.url, state.path)).await;
    }
}

/// Takes the pictures of one page.
async fn take(page: &Page, name: &str, url: &str) {
    for theme in ColorScheme::BOTH {
        page.prefers(theme, true).await;
        for width in WIDTHS {
            page.width(width).await;
            page.goto(url).await;
            let file = format!("screenshots/{name}-{width}-{}.png", theme.name());
            page.whole_screenshot(&target().join(file)).await;
        }
    }
    // Pages with an error status are complaints of the browser.
    page.complaints();
}
