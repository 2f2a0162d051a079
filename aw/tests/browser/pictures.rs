//! Pictures of every page for those who look at them: `scripts/screenshots`.

use super::Browser;
use super::gallery::hang;
use super::process::target;
use super::sight::{Theme, WIDTHS};
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
        for theme in Theme::BOTH {
            page.prefers(theme, true).await;
            for width in WIDTHS {
                page.width(width).await;
                page.goto(&url).await;
                let file = format!("screenshots/{name}-{width}-{}.png", theme.name());
                page.whole_screenshot(&target().join(file)).await;
            }
        }
        // A page that says that something is missing is a 404, which the browser notes.
        page.complaints();
    }
}
