//! Pictures of every page for those who look at them: `scripts/screenshots`.

use super::gallery::{hang, hang_by_seat};
use super::process::target;
use super::sight::{Theme, WIDTHS};
use super::{Browser, Page};
use crate::api::guarded_server::GuardedServer;
use crate::world::World;

#[tokio::test]
#[expect(clippy::print_stdout, reason = "who reads the log should know what was not done")]
async fn every_page_has_its_picture_taken_when_asked() {
    if std::env::var_os("AW_SCREENSHOTS").is_none() {
        println!("pictures: skipped, because nobody asked; scripts/screenshots does");
        return;
    }
    let Some(browser) = Browser::start().await else { return };
    let (world, empty) = (World::start().await, World::start().await);
    let mut pages = vec![("list-empty", empty.url.clone())];
    for exhibit in hang(&world).await {
        pages.push((exhibit.name, format!("{}{}", world.url, exhibit.path)));
    }
    let page = browser.page().await;
    for (name, url) in pages {
        take(&page, name, &url).await;
    }
    let house = GuardedServer::open().await;
    for exhibit in hang_by_seat(&house).await {
        if let Some(token) = &exhibit.token {
            let link = house.link(token, &exhibit.path).await;
            page.goto(&format!("{}{link}", house.world.url)).await;
        }
        take(&page, exhibit.name, &format!("{}{}", house.world.url, exhibit.path)).await;
    }
}

/// The pictures of one page.
async fn take(page: &Page, name: &str, url: &str) {
    for theme in Theme::BOTH {
        page.prefers(theme, true).await;
        for width in WIDTHS {
            page.width(width).await;
            page.goto(url).await;
            let file = format!("screenshots/{name}-{width}-{}.png", theme.name());
            page.whole_screenshot(&target().join(file)).await;
        }
    }
    // A page that says that something is missing is a 404, which the browser notes.
    page.complaints();
}
