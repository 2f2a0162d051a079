//! The rig itself, proved on small pages of its own: what the other tests here rely on is so.

use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::Browser;
use super::find::{button, css, field, link, role};
use super::process::target;
use super::sight::{Theme, WIDTHS};
use super::site::Site;

/// As strict as ours.
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
async fn hands_click_type_and_press_and_eyes_read() {
    let Some(browser) = Browser::start().await else { return };
    let site = site().await;
    let page = browser.open(&site.url).await;
    assert_eq!(page.text("h1").await, "The rig");
    assert_eq!(page.title().await, "Home");
    assert_eq!(page.count("p").await, 0, "what is hidden is not seen");
    page.see_no("p").await;

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
    page.hover(link("Other")).await;
    assert_eq!(page.eval("document.querySelector('a').matches(':hover')").await, true);
    assert!(page.read_out().await.contains(&"link Other page".to_owned()));
}

#[tokio::test]
async fn a_click_waits_until_nothing_lies_over_its_target() {
    let Some(browser) = Browser::start().await else { return };
    let site = site().await;
    let page = browser.open(&site.url).await;
    page.eval(
        "{ const veil = document.createElement('div'); veil.className = 'veil'; document.body.append(veil);
           setTimeout(() => veil.remove(), 300) }",
    )
    .await;
    page.click("#halt").await;
    page.reads("click 1 true").await;
    assert_eq!(page.count(".veil").await, 0);
}

#[tokio::test]
async fn pages_are_gone_through_forth_and_back() {
    let Some(browser) = Browser::start().await else { return };
    let site = site().await;
    let page = browser.open(&site.url).await;
    page.follow(link("Other page")).await;
    assert_eq!(page.url().await, format!("{}/other", site.url));
    page.back().await;
    page.reads("The rig").await;
    page.forward().await;
    page.reads("Another page").await;
    page.reload().await;
    page.reads("Another page").await;
    page.back().await;
    page.follow(button("Send")).await;
    let requests = page.requests();
    let sent = requests.iter().rfind(|request| request.method == "POST").expect("a form was sent");
    assert_eq!(sent.status, 200);
    assert!(site.heard().iter().any(|heard| heard.ends_with("sent=yes")), "{:?}", site.heard());
    page.asked_only(&site.url);
    page.forget_requests();
    assert_eq!(page.requests(), []);
    let other = browser.open(&format!("{}/other", site.url)).await;
    assert_eq!(other.says().await, "Another page");
    let other_page = format!("{}/other", site.url);
    assert_eq!(browser.addresses().await, [other_page.clone(), other_page]);
}

#[tokio::test]
async fn browsers_share_nothing_and_tabs_of_one_share_their_cookies() {
    let (Some(one), Some(two)) = (Browser::start().await, Browser::start().await) else { return };
    let site = site().await;
    let (first, second) = (one.open(&site.url).await, one.open(&site.url).await);
    let stranger = two.open(&site.url).await;
    first.eval("{ document.cookie = 'who=me'; localStorage.who = 'me' }").await;
    assert_eq!(second.eval("document.cookie + localStorage.who").await, "who=meme");
    assert_eq!(stranger.eval("document.cookie + localStorage.who").await, "undefined");
}

#[tokio::test]
async fn nothing_that_goes_wrong_in_a_page_is_missed() {
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
        ("setTimeout(() => { document.title = confirm('sure?') })", "dialog: confirm sure?"),
    ] {
        page.eval(&format!("{{ {wrong} }}")).await;
        let mut heard = Vec::new();
        while !heard.iter().any(|heard: &String| heard.contains(complaint)) {
            page.eval("new Promise(requestAnimationFrame)").await;
            heard.extend(page.complaints());
        }
    }
    assert_eq!(page.title().await, "false");
    page.accept_dialogs();
    page.eval("setTimeout(() => { document.title = confirm('sure?') })").await;
    page.wait_for("the answer is yes", "document.title === 'true'").await;
    page.complaints();

    // Nothing of that reaches the network, and nothing could.
    page.asked_only(&site.url);
    assert!(page.try_goto("http://example.com/").await.unwrap_err().contains("NAME_NOT_RESOLVED"));
    page.complaints();
    assert!(page.requests().iter().any(|request| request.origin() == "http://example.com"));
    page.goto(&site.elsewhere()).await;
    assert_eq!(page.text("h1").await, "The rig");
}

#[tokio::test]
async fn a_complaint_that_nobody_expects_fails_the_test() {
    let Some(browser) = Browser::start().await else { return };
    let site = site().await;
    let page = browser.open(&site.url).await;
    page.eval("console.error('oh')").await;
    page.eval("0").await;
    let failed = std::thread::spawn(move || drop(browser)).join().unwrap_err();
    assert!(failed.downcast_ref::<String>().unwrap().contains("oh"));
}

#[tokio::test]
async fn the_screen_and_the_wishes_of_its_user_are_as_set() {
    let Some(browser) = Browser::start().await else { return };
    let site = site().await;
    let page = browser.page().await;
    page.speaks("vi").await;
    page.headers(serde_json::json!({"x-test": "7"})).await;
    page.goto(&site.url).await;
    assert!(site.heard().iter().any(|heard| heard.starts_with("GET / vi 7")), "{:?}", site.heard());
    assert_eq!(page.eval("navigator.language").await, "vi");
    for width in WIDTHS {
        page.width(width).await;
        assert_eq!(page.eval("innerWidth").await, width);
        assert!(!page.is_too_wide().await);
    }
    page.eval("document.querySelector('h1').className = 'wide'").await;
    for width in WIDTHS {
        page.width(width).await;
        assert!(page.is_too_wide().await, "{width}");
    }
    page.eval("document.querySelector('h1').style.height = '5000px'").await;
    page.wheel(400).await;
    page.wait_for("it has scrolled", "scrollY === 400").await;
    let mut pictures = Vec::new();
    for theme in Theme::BOTH {
        page.prefers(theme, true).await;
        let dark = page.eval("matchMedia('(prefers-color-scheme: dark)').matches").await;
        assert_eq!(dark, theme == Theme::Dark);
        let still = page.eval("matchMedia('(prefers-reduced-motion: reduce)').matches").await;
        assert_eq!(still, true);
        let file = target().join(format!("tmp/proof-{}.png", theme.name()));
        page.screenshot(&file).await;
        pictures.push(fs::read(&file).unwrap());
        page.whole_screenshot(&file).await;
        pictures.push(fs::read(&file).unwrap());
    }
    let size = |png: &[u8]| {
        let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
        (number(16), number(20))
    };
    assert_eq!(size(&pictures[0]), (1440, 900));
    assert!(size(&pictures[1]).0 == 1440 && size(&pictures[1]).1 > 5000);
    assert!(pictures[0] != pictures[2], "dark looks different");
}

#[tokio::test]
async fn scripts_can_be_off_and_a_page_is_still_read_and_used() {
    let Some(browser) = Browser::start().await else { return };
    let site = site().await;
    let page = browser.page().await;
    page.without_scripts().await;
    page.goto(&site.url).await;
    page.click(button("Stop now")).await;
    assert_eq!(page.count("#log li").await, 0);
    page.type_into(field("Reason"), "typed").await;
    assert_eq!(page.value(field("Reason")).await, "typed");
    page.follow(button("Send")).await;
    page.reads("Another page").await;
}

#[tokio::test]
async fn the_network_can_be_cut_and_requests_blocked() {
    let Some(browser) = Browser::start().await else { return };
    let site = site().await;
    let page = browser.open(&site.url).await;
    let fetched = "fetch('/other').then(answer => answer.ok, () => 'lost')";
    assert_eq!(page.eval(fetched).await, true);
    page.offline(true).await;
    assert_eq!(page.eval(fetched).await, "lost");
    assert_eq!(page.eval("navigator.onLine").await, false);
    page.offline(false).await;
    assert_eq!(page.eval(fetched).await, true);
    page.block(&["*/other"]).await;
    assert_eq!(page.eval(fetched).await, "lost");
    page.complaints();
}

#[tokio::test]
async fn notifications_are_kept_for_the_test() {
    let Some(browser) = Browser::start().await else { return };
    let site = site().await;
    let page = browser.page().await;
    page.keep_notifications().await;
    page.goto(&site.url).await;
    page.eval("void new Notification('too early')").await;
    assert_eq!(page.eval("Notification.requestPermission()").await, "granted");
    page.eval("void new Notification('Needs you', {body: 'An appeal', tag: 'x'})").await;
    let shown = page.notifications().await;
    assert_eq!(shown.len(), 1);
    assert_eq!(shown[0]["title"], "Needs you");
    assert_eq!(shown[0]["body"], "An appeal");
}

#[tokio::test]
async fn the_moment_in_which_something_is_on_the_screen_is_measured() {
    let Some(browser) = Browser::start().await else { return };
    let site = site().await;
    let page = browser.open(&site.url).await;
    page.watch("document.querySelector('#log li')").await;
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64() * 1_000.0;
    let before = now();
    page.eval("setTimeout(() => say('here'), 200)").await;
    let at = page.watched().await;
    assert!(at >= before + 199.0 && at <= now() + 1.0, "{before} {at} {}", now());
    let late = Duration::from_millis(200);
    assert!(at - before < 10.0 * late.as_secs_f64() * 1_000.0, "{before} {at}");
}

#[tokio::test]
async fn axe_finds_what_is_wrong_and_nothing_else() {
    let Some(browser) = Browser::start().await else { return };
    let site = site().await;
    let page = browser.open(&site.url).await;
    for theme in Theme::BOTH {
        page.prefers(theme, false).await;
        page.is_accessible("the rig's own page").await;
    }
    page.eval("document.querySelector('label').replaceWith(reason)").await;
    let found = page.barriers().await;
    // Without axe-core nothing is found.
    assert!(found.is_empty() || found.len() == 1 && found[0].contains("label"), "{found:?}");
}
