//! Tests of the rig itself on a small page: the other tests rely on what is proved here.

use std::fs;

use super::Browser;
use super::emulation::{ColorScheme, WIDTHS};
use super::find::{button, css, field, link, role};
use super::process::target;
use super::site::Site;

/// A policy as strict as ours.
const STRICT: &str = "default-src 'none'; img-src data:; script-src 'nonce-1'; style-src 'nonce-1'; connect-src 'self'; form-action 'self'; frame-src *";

const HOME: &str = r#"<!doctype html><html lang="en"><meta charset="utf-8"><title>Home</title>
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,">
<style nonce="1">
  .veil { position: fixed; inset: 0; background: #fff } .wide { width: 2000px }
  @media (prefers-color-scheme: dark) { body { background: #000; color: #fff } a { color: #9bf } }
</style>
<main><h1>The rig</h1>
<p hidden>nothing to see</p>
<label>Reason <textarea id="reason"></textarea></label>
<label><input type="checkbox" id="agree"> I agree</label>
<button id="halt" type="button">Stop <b>now</b></button>
<button type="button">Stop later</button>
<nav aria-label="Pages"><a href="/other">Other page</a></nav>
<ul id="log"></ul>
<form method="post" action="/other"><input type="hidden" name="sent" value="yes"><button>Send</button></form>
</main>
<script nonce="1">
  const say = text => { const li = document.createElement('li'); li.textContent = text; log.append(li) };
  halt.onclick = event => say('click ' + event.detail + ' ' + event.isTrusted);
  reason.onkeydown = event => { if (event.ctrlKey && event.key === 'Enter') say('sent ' + reason.value) };
</script>"#;

const OTHER: &str = r#"<!doctype html><html lang="en"><title>Other</title><link rel="icon" href="data:,"><main><h1>Another page</h1></main>"#;

async fn site() -> Site {
    Site::start(&[("/", STRICT, HOME), ("/other", STRICT, OTHER)]).await
}

#[tokio::test]
async fn clicks_and_keys_reach_the_page_and_its_text_is_read() {
    let Some(browser) = Browser::start().await else { return };
    let site = site().await;
    let page = browser.open(&site.url).await;
    assert_eq!(page.text("h1").await, "The rig");
    assert_eq!(page.count("p").await, 0, "hidden elements are not counted");
    page.see_no("p").await;

    // A click waits until nothing covers its target.
    page.eval("{ const veil = document.createElement('div'); veil.className = 'veil'; document.body.append(veil); setTimeout(() => veil.remove(), 100) }").await;
    page.click(button("stop now")).await;
    page.double_click(button("Stop now").within("main")).await;
    page.reads("click 1 true click 1 true click 2 true").await;
    assert_eq!(page.count(role("listitem", "")).await, 3);
    page.see(css("#log li").number(2)).await;

    page.type_into(field("Reason"), "Đủ rồi: enough, \"now\"!\nGo on").await;
    assert_eq!(page.value(field("Reason")).await, "Đủ rồi: enough, \"now\"!\nGo on");
    assert_eq!(page.focused().await, ("textbox".to_owned(), "Reason".to_owned()));
    page.press("Control+a").await;
    page.press("Delete").await;
    page.type_keys("no").await;
    page.press("Control+Enter").await;
    page.reads("sent no").await;
    page.press("Tab").await;
    page.press(" ").await;
    assert_eq!(page.eval("agree.checked").await, true);
    page.press("Shift+Tab").await;
    assert_eq!(page.focused().await.1, "Reason");
    assert!(page.read_out().await.contains(&"link Other page".to_owned()));
}

#[tokio::test]
async fn documents_and_requests_are_followed_and_contexts_are_separate() {
    let (Some(browser), Some(other)) = (Browser::start().await, Browser::start().await) else {
        return;
    };
    let site = site().await;
    let page = browser.open(&site.url).await;
    page.follow(link("Other page")).await;
    assert_eq!(page.url().await, format!("{}/other", site.url));
    page.reload().await;
    page.reads("Another page").await;
    page.back().await;
    page.follow(button("Send")).await;
    let sent = page.requests().into_iter().rfind(|request| request.method == "POST");
    assert_eq!(sent.expect("the form was sent").status, 200);
    page.asked_only(&site.url);
    page.forget_requests();
    assert_eq!(page.requests(), []);

    page.eval("{ document.cookie = 'who=me'; localStorage.who = 'me' }").await;
    let (tab, stranger) = (browser.open(&site.url).await, other.open(&site.url).await);
    assert_eq!(tab.eval("document.cookie + localStorage.who").await, "who=meme");
    assert_eq!(stranger.eval("document.cookie + localStorage.who").await, "undefined");
}

#[tokio::test]
async fn every_failure_in_a_page_is_a_complaint_and_fails_the_test() {
    let Some(browser) = Browser::start().await else { return };
    let site = site().await;
    let page = browser.open(&site.url).await;
    for (wrong, complaint) in [
        ("console.error('it', 7)", "console: \"it\" 7"),
        ("setTimeout(() => { throw new Error('thrown') })", "thrown"),
        ("void fetch('/missing')", "404"),
        (
            "document.body.append(Object.assign(new Image(), {src: 'http://elsewhere.test/x.png'}))",
            "policy",
        ),
        ("document.body.setAttribute('style', 'color: red')", "policy"),
        ("setTimeout(() => alert('hello'))", "dialog: alert hello"),
    ] {
        page.eval(&format!("{{ {wrong} }}")).await;
        let mut complaints = Vec::new();
        while !complaints.iter().any(|one: &String| one.contains(complaint)) {
            page.eval("new Promise(requestAnimationFrame)").await;
            complaints.extend(page.complaints());
        }
    }
    // No name but ours can be resolved.
    page.asked_only(&site.url);
    assert!(page.try_goto("http://example.com/").await.unwrap_err().contains("NAME_NOT_RESOLVED"));
    page.complaints();
    assert!(page.requests().iter().any(|request| request.origin() == "http://example.com"));
    page.goto(&site.elsewhere()).await;
    assert_eq!(page.text("h1").await, "The rig");

    page.eval("console.error('oh')").await;
    page.eval("0").await;
    let failed = std::thread::spawn(move || drop(browser)).join().unwrap_err();
    assert!(failed.downcast_ref::<String>().unwrap().contains("oh"));
}

#[tokio::test]
async fn screen_theme_language_and_headers_are_emulated() {
    let Some(browser) = Browser::start().await else { return };
    let site = site().await;
    let page = browser.page().await;
    page.speaks("vi").await;
    page.headers(serde_json::json!({"x-test": "7"})).await;
    page.goto(&site.url).await;
    assert_eq!(site.requests(), ["GET / vi 7"]);
    assert_eq!(page.eval("navigator.language").await, "vi");
    for (class, is_too_wide) in [("", false), ("wide", true)] {
        page.eval(&format!("document.querySelector('h1').className = '{class}'")).await;
        for width in WIDTHS {
            page.width(width).await;
            assert_eq!(page.is_too_wide().await, is_too_wide, "{width}");
        }
    }
    page.eval("document.querySelector('h1').style.height = '5000px'").await;
    page.wheel(400).await;
    page.wait_for("it has scrolled", "scrollY === 400").await;
    let mut pictures = Vec::new();
    for theme in ColorScheme::BOTH {
        page.prefers(theme, true).await;
        let dark = page.eval("matchMedia('(prefers-color-scheme: dark)').matches").await;
        assert_eq!(dark, theme == ColorScheme::Dark);
        let file = target().join(format!("tmp/rig-{}.png", theme.name()));
        page.whole_screenshot(&file).await;
        pictures.push(fs::read(&file).unwrap());
    }
    let number = |at: usize| u32::from_be_bytes(pictures[0][at..at + 4].try_into().unwrap());
    assert!(number(16) == 1440 && number(20) > 5000, "the picture has the whole page");
    assert!(pictures[0] != pictures[1], "dark looks different");
}

#[tokio::test]
async fn scripts_network_and_notifications_are_under_control() {
    let Some(browser) = Browser::start().await else { return };
    let site = site().await;
    let page = browser.page().await;
    page.keep_notifications().await;
    page.goto(&site.url).await;
    page.eval("void new Notification('too early')").await;
    assert_eq!(page.eval("Notification.requestPermission()").await, "granted");
    page.eval("void new Notification('Needs you', {body: 'An appeal', tag: 'x'})").await;
    let shown = page.notifications().await;
    assert_eq!((shown.len(), &shown[0]["body"]), (1, &"An appeal".into()));

    let fetched = "fetch('/other').then(answer => answer.ok, () => 'lost')";
    page.offline(true).await;
    assert_eq!(page.eval(fetched).await, "lost");
    page.offline(false).await;
    assert_eq!(page.eval(fetched).await, true);
    page.complaints();

    page.without_scripts().await;
    page.goto(&site.url).await;
    page.click(button("Stop now")).await;
    assert_eq!(page.count("#log li").await, 0);
    page.follow(button("Send")).await;
    page.reads("Another page").await;
}

#[tokio::test]
async fn axe_finds_a_missing_label_and_nothing_else() {
    let Some(browser) = Browser::start().await else { return };
    let site = site().await;
    let page = browser.open(&site.url).await;
    for theme in ColorScheme::BOTH {
        page.prefers(theme, false).await;
        page.is_accessible("the page of the rig").await;
    }
    page.eval("document.querySelector('label').replaceWith(reason)").await;
    let found = page.barriers().await;
    // Without axe-core nothing is found.
    assert!(found.is_empty() || found.len() == 1 && found[0].contains("label"), "{found:?}");
}
