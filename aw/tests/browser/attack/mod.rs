//! The browser attack matrix: from everywhere an attacker can sit, by every means that a page has, at every
//! door. Nothing is read and nothing changes.
//!
//! [`doors`] are taken from the tables of seats, [`means`] are what `strike.js` can do, [`ways`] are where
//! its page is and how it spells the server's address. [`tap`] tells which of them reached the server, so
//! that none is counted that was never tried; [`ledger`] is everything that could have changed. The attacker
//! knows every id, and even the seals of forms.

mod doors;
mod lair;
mod ledger;
mod means;
mod siege;
mod tap;
mod ways;
mod weakness;

use aw::settings::{Guard, Key, Limits};

use means::{MEANS, Means, Own};
use siege::Siege;
use tap::Tap;
use ways::Way;
use weakness::Weakness;

use super::Browser;
use crate::seats::forged_tokens::link_of;
use crate::seats::scene::{ADMINISTRATOR, SHARED};
use crate::world::World;

/// What stands in every debate and its documents, and nowhere else.
pub const SECRETS: [&str; 3] = ["Keep one SQLite file?", "Motion, see", "cited here"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_web_site_reads_or_changes_anything_where_no_token_is_wanted() {
    let Some(browser) = Browser::start().await else { return };
    let (tap, guard) = (Tap::default(), Guard::default());
    let world = World::behind(guard, Limits::default(), |router| tap.before(router)).await;
    let page = browser.open(&format!("{}/new", world.url)).await;
    let siege = Siege::lay(&world, &browser, &page, tap).await;
    siege.holds("where no token is wanted", |_| true).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_web_site_reads_or_changes_anything_in_the_name_of_who_is_signed_in() {
    let Some(browser) = Browser::start().await else { return };
    let tap = Tap::default();
    let keys = vec![Key::of_administrator(ADMINISTRATOR), Key::shared(SHARED)];
    let guard = Guard { wants_token: true, keys, ..Guard::default() };
    let world = World::behind(guard, Limits::default(), |router| tap.before(router)).await;
    let link = link_of(&world, ADMINISTRATOR).await;
    let page = browser.open(&format!("{}{link}", world.url)).await;
    page.goto(&format!("{}/new", world.url)).await;
    let siege = Siege::lay(&world, &browser, &page, tap).await;
    // No other page is shown the cookies of 127.0.0.1, or could be.
    let chosen = |way: &Way| way.is_main() || way.is_rebound();
    siege.holds("in the name of who is signed in", chosen).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn by_the_same_means_a_page_of_the_servers_own_reads_and_changes() {
    let Some(browser) = Browser::start().await else { return };
    let (tap, guard) = (Tap::default(), Guard::default());
    let world = World::behind(guard, Limits::default(), |router| tap.before(router)).await;
    let page = browser.open(&format!("{}/new", world.url)).await;
    let siege = Siege::lay(&world, &browser, &page, tap).await;
    let raid = siege.raid_from_within(|_| true).await;
    let mut wrong = Vec::new();
    for means in MEANS {
        let own = || raid.cells.iter().filter(|cell| cell.means.name == means.name);
        let seen = || own().flat_map(|cell| raid.seen_by(cell));
        let statuses = || own().flat_map(|cell| raid.knocks_of(cell)).map(|knock| knock.status);
        let is_let_in = |status: u16| !matches!(status, 400 | 401 | 403 | 405 | 415);
        let as_expected = match means.own {
            Own::Reads => seen().any(|seen| SECRETS.iter().any(|secret| seen.contains(secret))),
            Own::Writes => statuses().any(is_let_in),
            Own::Arrives => statuses().any(|status| matches!(status, 101 | 200)),
            Own::Refused => statuses().count() > 0 && !statuses().any(is_let_in),
        };
        if !as_expected {
            let statuses: Vec<u16> = statuses().collect();
            wrong.push(format!("{}, not {:?}: {statuses:?}", means.name, means.own));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(raid.changed.is_some(), "something was changed");
    assert_eq!(
        raid.framed(),
        Vec::<String>::new(),
        "nobody puts our pages into a frame, not even we"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_server_without_one_of_its_defences_loses_is_noticed() {
    for weakness in
        [Weakness::Host, Weakness::Origin, Weakness::Site, Weakness::Cookies, Weakness::Frames]
    {
        let Some(browser) = Browser::start().await else { return };
        let (tap, guard) = (Tap::default(), Guard::default());
        let before = |router| tap.before(weakness.before(router));
        let world = World::behind(guard, Limits::default(), before).await;
        let page = browser.open(&format!("{}/new", world.url)).await;
        let siege = Siege::lay(&world, &browser, &page, tap.clone()).await;
        let lost = match weakness {
            Weakness::Host => siege.losses(Way::is_rebound, |means| means.name == "fetch").await,
            Weakness::Origin => {
                siege.losses(Way::is_another_port, |means| means.name == "socket").await
            }
            Weakness::Site => siege.losses(Way::is_foreign, |means| means.name == "image").await,
            Weakness::Cookies => {
                siege.losses(Way::is_foreign, |means| means.name == "window").await
            }
            Weakness::Frames => siege.raid_from_within(Means::frames).await.framed(),
        };
        assert!(!lost.is_empty(), "{weakness:?}: nothing was lost");
        // The pages of the attack are closed; ours is not to complain of that.
        page.complaints();
    }
}
