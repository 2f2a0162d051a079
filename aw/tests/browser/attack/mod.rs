//! The browser attack matrix: every technique of a page, from every vantage of an attacker, at every
//! endpoint. Nothing is read and nothing changes.
//!
//! [`endpoints`] come from the tables of seats. [`techniques`] are the functions of `attack.js`.
//! [`vantages`] are the pages of the attacker and the spellings of the server's address.
//! [`request_log`] records which attempts reached the server, so that none is counted that was never
//! sent, and [`server_state`] has everything that an attack could change. The attacker has every id
//! and even the CSRF tokens.

mod attacker_server;
mod endpoints;
mod matrix;
mod request_log;
mod server_state;
mod techniques;
mod vantages;
mod weakness;

use aw::settings::{Guard, Key, Limits};

use matrix::Matrix;
use request_log::RequestLog;
use techniques::{FromOwnPage, TECHNIQUES, Technique};
use vantages::Vantage;
use weakness::Weakness;

use super::Browser;
use crate::seats::forged_tokens::link_of;
use crate::seats::scene::{ADMINISTRATOR, SHARED};
use crate::world::World;

/// Texts of the debates and documents that no refusal contains.
pub const SECRETS: [&str; 3] = ["Keep one SQLite file?", "Motion, see", "cited here"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_web_site_reads_or_changes_anything_on_a_server_without_tokens() {
    let Some(browser) = Browser::start().await else { return };
    let (log, guard) = (RequestLog::default(), Guard::default());
    let world = World::behind(guard, Limits::default(), |router| log.before(router)).await;
    let page = browser.open(&format!("{}/new", world.url)).await;
    let matrix = Matrix::new(&world, &browser, &page, log).await;
    matrix.holds("without tokens", |_| true).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_web_site_reads_or_changes_anything_by_the_session_of_a_person() {
    let Some(browser) = Browser::start().await else { return };
    let log = RequestLog::default();
    let keys = vec![Key::of_administrator(ADMINISTRATOR), Key::shared(SHARED)];
    let guard = Guard { wants_token: true, keys, ..Guard::default() };
    let world = World::behind(guard, Limits::default(), |router| log.before(router)).await;
    let link = link_of(&world, ADMINISTRATOR).await;
    let page = browser.open(&format!("{}{link}", world.url)).await;
    page.goto(&format!("{}/new", world.url)).await;
    let matrix = Matrix::new(&world, &browser, &page, log).await;
    // Other vantages never get the cookies of 127.0.0.1.
    let chosen = |vantage: &Vantage| vantage.is_main() || vantage.is_rebound();
    matrix.holds("with a session", chosen).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_techniques_work_from_a_page_of_the_server() {
    let Some(browser) = Browser::start().await else { return };
    let (log, guard) = (RequestLog::default(), Guard::default());
    let world = World::behind(guard, Limits::default(), |router| log.before(router)).await;
    let page = browser.open(&format!("{}/new", world.url)).await;
    let matrix = Matrix::new(&world, &browser, &page, log).await;
    let run = matrix.run_from_own_page(|_| true).await;
    let mut wrong = Vec::new();
    for technique in TECHNIQUES {
        let own = || run.attempts.iter().filter(|attempt| attempt.technique.name == technique.name);
        let seen = || own().flat_map(|attempt| run.seen_by(attempt));
        let statuses =
            || own().flat_map(|attempt| run.requests_of(attempt)).map(|request| request.status);
        let is_let_in = |status: u16| !matches!(status, 400 | 401 | 403 | 405 | 415);
        let as_expected = match technique.own {
            FromOwnPage::Reads => {
                seen().any(|seen| SECRETS.iter().any(|secret| seen.contains(secret)))
            }
            FromOwnPage::Writes => statuses().any(is_let_in),
            FromOwnPage::Arrives => statuses().any(|status| matches!(status, 101 | 200)),
            FromOwnPage::Refused => statuses().count() > 0 && !statuses().any(is_let_in),
        };
        if !as_expected {
            let statuses: Vec<u16> = statuses().collect();
            wrong.push(format!("{}, not {:?}: {statuses:?}", technique.name, technique.own));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(run.changed.is_some(), "something was changed");
    assert_eq!(run.framed(), Vec::<String>::new(), "our pages are never in a frame");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_matrix_notices_each_missing_defence() {
    for weakness in
        [Weakness::Host, Weakness::Origin, Weakness::Site, Weakness::Cookies, Weakness::Frames]
    {
        let Some(browser) = Browser::start().await else { return };
        let (log, guard) = (RequestLog::default(), Guard::default());
        let before = |router| log.before(weakness.before(router));
        let world = World::behind(guard, Limits::default(), before).await;
        let page = browser.open(&format!("{}/new", world.url)).await;
        let matrix = Matrix::new(&world, &browser, &page, log.clone()).await;
        let lost = match weakness {
            Weakness::Host => {
                matrix.losses(Vantage::is_rebound, |technique| technique.name == "fetch").await
            }
            Weakness::Origin => {
                matrix
                    .losses(Vantage::is_another_port, |technique| technique.name == "socket")
                    .await
            }
            Weakness::Site => {
                matrix.losses(Vantage::is_foreign, |technique| technique.name == "image").await
            }
            Weakness::Cookies => {
                matrix.losses(Vantage::is_foreign, |technique| technique.name == "window").await
            }
            Weakness::Frames => matrix.run_from_own_page(Technique::frames).await.framed(),
        };
        assert!(!lost.is_empty(), "{weakness:?}: nothing was lost");
        // Closing the pages of the attack causes complaints.
        page.complaints();
    }
}
