//! The report on the page of a closed debate.

use serde_json::json;

use super::Browser;
use super::every_page::{LEFT_OPEN, PointDebate};
use super::find::{button, css, link, role};
use crate::world::World;

#[tokio::test]
async fn a_closed_debate_shows_its_report_first_in_both_languages() {
    let Some(browser) = Browser::start().await else { return };
    let world = World::start().await;
    let made = PointDebate::appealed(&world).await;
    let debate = &made.debate;
    let page = browser.open(&format!("{}/debate/{}", world.url, debate.id)).await;
    page.see(css("#dock")).await;
    assert_eq!(page.count(css("#report")).await, 0, "an open debate has no report");

    // It appears without a reload.
    debate.rule(json!({"content": LEFT_OPEN, "close": true})).await.created();
    page.reads("Closed by ruling on 1 January 2026 with P4 left open.").await;
    let tabs =
        "[...document.querySelectorAll('.top-region .tabs a')].map(one => one.innerText).join(' ')";
    assert_eq!(page.eval(tabs).await, "Report Arguments");
    let report = page.text(role("region", "Report")).await;
    for part in [
        "P1 critical A retry can charge twice settled in v2",
        "P2 major Refunds need the old rows dismissed",
        "P3 (minor) How long does a retry wait?: set aside",
        "P4 (major) Name the owner: left open",
        "P2: Arbitrator dismisses it #6",
        "Ruling of 1 January 2026 #6",
        "Quotes: 3 found, 1 outdated, 1 unchecked",
        &format!("Debated: {} v2 (4 points, 1 ruling, head ", debate.id),
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
    let current = "document.querySelector('.top-region .tabs [aria-current]').innerText";
    assert_eq!(page.eval(current).await, "Report");
    page.click(link("Arguments").within(css(".top-region .tabs"))).await;
    assert_eq!(page.eval(current).await, "Arguments");
    assert!(page.url().await.ends_with("#record"), "{}", page.url().await);
    for (format, words) in
        [("markdown", "# Charge retries"), ("madr", "status: proposed"), ("json", "left_open")]
    {
        let path = format!("/debates/{}/result?format={format}", debate.id);
        let code = format!("fetch('{path}').then(answer => answer.text())");
        let document = page.eval(&code).await;
        assert!(document.as_str().unwrap().contains(words), "{document}");
        assert_eq!(page.count(css(&format!("#report a[href='{path}']"))).await, 1, "{format}");
    }
    // An export is whole: each of its links leads to a place in it.
    let places = format!(
        "fetch('/debates/{}/export?format=html').then((answer) => answer.text()).then((html) => {{
            const whole = new DOMParser().parseFromString(html.replace(/<style>[^]*<.style>/, ''), 'text/html');
            const links = [...whole.querySelectorAll('a')].map((link) => link.getAttribute('href'));
            const leads = (href) => href.startsWith('#') && whole.getElementById(href.slice(1));
            return [links.some((href) => href.startsWith('#doc-')), links.filter((href) => !leads(href))];
        }})",
        debate.id
    );
    assert_eq!(page.eval(&places).await, json!([true, []]));
    page.follow(button("VI")).await;
    page.reads("Đóng bằng ruling ngày 1/1/2026, bỏ ngỏ P4.").await;
    page.reads("đã xong ở v2").await;

    let plain = browser.page().await;
    plain.without_scripts().await;
    plain.goto(&format!("{}/debate/{}", world.url, debate.id)).await;
    plain.see(css("#report")).await;
}
